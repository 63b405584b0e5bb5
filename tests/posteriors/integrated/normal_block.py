"""Normal coefficients integrated out of a normal likelihood, for many hyperparameters at once."""

import contextlib

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
    L = _root(A)
    singular = ~np.isfinite(L).all((1, 2))
    L[singular] = np.nan
    A[singular] = np.eye(p)
    cov = np.linalg.inv(A)
    v = np.einsum("gij,gj->gi", cov, pull)
    # The least penalised sum of squares, which does not cancel where the noise is small
    rest = r - ((sd * v) @ X.T) / s
    logs = -(rest**2).sum(-1) / 2 - (v**2).sum(-1) / 2 - np.log(s).sum(-1)
    logs = logs - np.log(np.diagonal(L, axis1=1, axis2=2)).sum(-1) - len(y) * LOG_2PI / 2
    block = {}
    for name, matrix in dict(watch).items():
        C = np.asarray(matrix, dtype=float)
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
    L = _root(S)
    half = np.linalg.solve(L, r[..., None])[..., 0]
    logs = -(half**2).sum(-1) / 2 - np.log(np.diagonal(L, axis1=1, axis2=2)).sum(-1)
    logs = logs - len(y) * LOG_2PI / 2
    if cross is None:
        return logs
    back = np.linalg.solve(L, np.swapaxes(cross, 1, 2))
    return logs, (np.einsum("gni,gn->gi", back, half), prior - (back**2).sum(1))


def _root(S):
    """Return Cholesky factors; of a matrix that is singular up to rounding, not a number."""
    try:
        return np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        found = np.full_like(S, np.nan)
        for one, to in zip(S, found, strict=True):
            with contextlib.suppress(np.linalg.LinAlgError):
                to[:] = np.linalg.cholesky(one)
        return found


class Grouped:
    """y = W b + Z c[group] + e: coefficients c of each group, independent given their scales.

    Only matrices as small as the columns of Z and W are made for a point. Prior means of c are
    zero: their mean is a part of b.

    Parameters
    ----------
    group : ndarray of int, shape (n,)
    Z : ndarray of shape (n, q)
    W : ndarray of shape (n, r)
    y : ndarray of shape (n,)
    sd, mean : array_like of shape (r,)
        Prior sds and means of b.
    """

    def __init__(self, group, Z, W, y, sd, mean=0.0):
        rest = y - W @ np.broadcast_to(mean, W.shape[1])
        rows = [np.flatnonzero(group == g) for g in range(group.max() + 1)]
        self.ZZ, self.ZW, self.Zy = (
            np.stack([Z[i].T @ part[i] for i in rows]) for part in (Z, W, rest)
        )
        self.WW, self.Wy, self.yy = W.T @ W, W.T @ rest, rest @ rest
        self.n, self.mean, self.sd = len(y), mean, np.asarray(sd, dtype=float)
        every = np.column_stack([W, *((group == g)[:, None] * Z for g in range(len(rows)))])
        self.least = np.sum((rest - every @ np.linalg.lstsq(every, rest)[0]) ** 2)

    def at(self, spread, noise):
        """Return log densities, mean and covariance of b, and a function of the law of c.

        `spread` is (points, q), `noise` (points,).
        """
        q, s2 = spread.shape[1], noise[:, None, None, None] ** 2
        root = spread[:, None, :, None] * spread[:, None, None, :]
        A = np.eye(q) + root * self.ZZ / s2
        inner = root * np.linalg.inv(A)  # the covariance of c given b
        M = inner / s2
        gain = M @ self.ZW
        flat = np.einsum("gqr,ngqs->nrs", self.ZW, gain, optimize=True)
        precision = np.diag(self.sd**-2) + (self.WW - flat) / s2[:, 0]
        moved = np.einsum("ngqr,gq->nr", gain, self.Zy, optimize=True)
        pull = (self.Wy - moved) / s2[:, 0, 0]
        cov = np.linalg.inv(precision)
        b = np.einsum("nij,nj->ni", cov, pull)
        rest = self.yy - np.einsum("gi,ngij,gj->n", self.Zy, M, self.Zy, optimize=True)
        squares = rest / s2[:, 0, 0, 0] - (pull * b).sum(1)
        # Rounding must not make them less than without any prior
        logs = -np.maximum(squares, self.least / s2[:, 0, 0, 0]) / 2
        logs = logs - np.linalg.slogdet(precision)[1] / 2 - np.log(self.sd).sum()
        logs = logs - np.linalg.slogdet(A)[1].sum(1) / 2
        logs = logs - self.n * (np.log(noise) + LOG_2PI / 2)

        def effects(T=None, *, scaled=False):
            """Return mean and variance (points, groups, q) of T b + c, or of c / spread."""
            T = np.zeros(self.ZW.shape) if T is None else np.broadcast_to(T, self.ZW.shape)
            unit = spread[:, None, :] if scaled else 1.0
            slope = T - gain
            fixed = np.einsum("gqr,r->gq", T, np.broadcast_to(self.mean, len(self.sd)))
            middle = np.einsum("ngqr,nr->ngq", slope, b) + fixed
            middle = middle + np.einsum("ngij,gj->ngi", M, self.Zy)
            own = np.diagonal(inner, axis1=2, axis2=3)
            more = np.einsum("ngqr,nrs,ngqs->ngq", slope, cov, slope, optimize=True)
            return middle / unit, (own + more) / unit**2

        return logs, (b + self.mean, np.diagonal(cov, axis1=1, axis2=2)), effects


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
