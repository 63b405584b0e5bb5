"""Normal coefficients integrated out of a normal likelihood, for many hyperparameters at once."""

import numpy as np

LOG_2PI = float(np.log(2 * np.pi))


def linear(X, y, sd, noise, *, mean=0.0, watch=(), scaled=()):
    """Return the log marginal density of y = X b + e, and the law of b given y.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,)
    sd : ndarray of shape (points, p)
        Prior sds of independent coefficients.
    noise : ndarray of shape (points,) or (points, n)
        Sd of e.
    mean : array_like of shape (p,) or (points, p), optional
        Prior means of the coefficients.
    watch : dict, optional
        By variable a matrix C, of which C b is wanted.
    scaled : dict, optional
        By variable the numbers of the coefficients of which (b - mean) / sd is wanted.

    Returns
    -------
    logs : ndarray of shape (points,)
    block : dict
        Means and variances by variable.
    """
    points, p = sd.shape
    m = np.broadcast_to(mean, (points, p))
    s = np.broadcast_to(noise[:, None] if noise.ndim == 1 else noise, (points, len(y)))
    r = (y - m @ X.T) / s
    if noise.ndim == 1:
        gram = (X.T @ X) / noise[:, None, None] ** 2
    else:
        gram = np.einsum("gn,ni,nj->gij", s**-2, X, X, optimize=True)
    # With v = (b - mean) / sd: a standard normal prior, and the precision A of v given y.
    A = np.eye(p) + sd[:, :, None] * gram * sd[:, None, :]
    pull = sd * ((r / s) @ X)
    L = np.linalg.cholesky(A)
    half = np.linalg.solve(L, pull[..., None])[..., 0]
    logs = (half**2).sum(-1) / 2 - np.log(np.diagonal(L, axis1=1, axis2=2)).sum(-1)
    logs = logs - (r**2).sum(-1) / 2 - np.log(s).sum(-1) - len(y) * LOG_2PI / 2
    cov = np.linalg.inv(A)
    v = np.einsum("gij,gj->gi", cov, pull)
    block = {}
    for name, C in dict(watch).items():
        C = np.asarray(C, dtype=float)
        wide = np.broadcast_to(C, (points, *C.shape)) * sd.reshape(points, *[1] * (C.ndim - 1), p)
        var = np.einsum("g...i,gij,g...j->g...", wide, cov, wide, optimize=True)
        block[name] = np.einsum("...i,gi->g...", C, m) + np.einsum("g...i,gi->g...", wide, v), var
    for name, which in dict(scaled).items():
        block[name] = v[:, which], np.diagonal(cov, axis1=1, axis2=2)[:, which]
    return logs, block


def covariance(y, S, *, mean=0.0, cross=None, prior=None):
    """Return the log density of y ~ N(mean, S), and the law of a latent vector given y.

    Parameters
    ----------
    y : ndarray of shape (n,)
    S : ndarray of shape (points, n, n)
    mean : array_like of shape (n,) or (points, n), optional
    cross : ndarray of shape (points, k, n), optional
        Covariances of k latent variables of mean zero with y.
    prior : ndarray of shape (points, k), optional
        Their variances.
    """
    r = np.broadcast_to(y - mean, (len(S), len(y)))
    L = np.linalg.cholesky(S)
    half = np.linalg.solve(L, r[..., None])[..., 0]
    logs = -(half**2).sum(-1) / 2 - np.log(np.diagonal(L, axis1=1, axis2=2)).sum(-1)
    logs = logs - len(y) * LOG_2PI / 2
    if cross is None:
        return logs
    back = np.linalg.solve(L, np.swapaxes(cross, 1, 2))
    return logs, (np.einsum("gni,gn->gi", back, half), prior - (back**2).sum(1))


def columns(points, **parts):
    """Return prior sds of all coefficients side by side: scalars, arrays of points, or of counts.

    Each part is a number, an array (points,), or a pair of either and how often it is repeated.
    """
    found = []
    for part in parts.values():
        value, count = part if isinstance(part, tuple) else (part, 1)
        found.append(np.broadcast_to(np.reshape(value, (-1, 1)), (points, count)))
    return np.concatenate(found, 1)


def indicators(group):
    """Return the columns that say which group each row is of."""
    return (np.asarray(group)[:, None] == np.arange(np.max(group) + 1)).astype(float)
