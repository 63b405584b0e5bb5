r"""Inverse-Wishart matrices: draws, density, and the exact law of every single entry.

An entry off the diagonal is, in units of :math:`\sqrt{\Psi_{ii} \Psi_{jj}}`, a product of two
independent variables (Bartlett's decomposition of the 2 x 2 block),

.. math:: \Sigma_{ij} = \beta / G, \qquad G \sim \mathrm{Gamma}(a, \tfrac12), \quad
    \beta \sim t_{2a+1}\left(r, \tfrac{1 - r^2}{2a + 1}\right),

with :math:`a = (\nu - D + 1) / 2` and the correlation r of the scale matrix. Its probabilities are
integrals over log beta of positive, smooth functions with one high point and with singularities
only at :math:`\pm i \arccos r`. The trapezoidal rule converges exponentially on such functions
(Trefethen and Weideman, 2014) after a change of variable that spreads out both features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammaincc, multigammaln, stdtr

from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import inverse_gamma
from bayesmodels.numerics.special import log_gamma_kernel, log_gamma_ratio, lower_gamma
from bayesmodels.numerics.triangular import half_log_det, solve_lower

_STEP = 0.13  # of the trapezoidal rule; tests/numerics/test_wishart.py holds it against mpmath
_NEGLIGIBLE = 45.0  # exp(-45) is 1e-20
_BLOCK = 20_000  # integrals at once, which bounds the memory
_BISECTIONS = 60
_NEWTON = 100
_NARROW = 200.0  # from this a on, ln G varies less than a tenth
_CLOSE = 0.9  # correlation from which on beta given G varies faster than G
_FAR = 30.0  # widths: beyond it nothing is left
_FARTHEST = 700.0  # exp(700) is 1e304


def inverse_wishart_draws(
    df: ArrayLike, scale: ArrayLike, size: int, rng: np.random.Generator
) -> Array:
    """Draw symmetric positive definite matrices, by Bartlett's decomposition.

    Parameters
    ----------
    df : array_like of shape (...)
        Degrees of freedom, larger than D - 1.
    scale : array_like of shape (..., D, D)
        Positive definite scale matrices.
    size : int
        Number of draws.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (size, ..., D, D)

    Examples
    --------
    >>> import numpy as np
    >>> inverse_wishart_draws(5, np.eye(2), 3, np.random.default_rng(1)).shape
    (3, 2, 2)
    """
    half = inverse_wishart_roots(df, scale, size, rng)
    return symmetric(np.swapaxes(half, -1, -2) @ half)


def inverse_wishart_roots(
    df: ArrayLike, scale: ArrayLike, size: int, rng: np.random.Generator
) -> Array:
    """Draw roots H of matrices H' H, as `inverse_wishart_draws` does.

    With hardly more than D - 1 degrees of freedom, directions differ in size by so much that H' H
    is often singular to rounding: its Cholesky factor does not exist, but its root is at hand.
    """
    scale = np.asarray(scale, dtype=float)
    width = scale.shape[-1]
    shape = (size, *np.broadcast_shapes(np.shape(df), scale.shape[:-2]))
    # Wishart with the scale matrix inverted: L^-T T T' L^-1, with L the root of `scale`.
    halves = (np.asarray(df, dtype=float)[..., None] - np.arange(width)) / 2
    root = np.tril(rng.standard_normal((*shape, width, width)), -1)
    places = np.arange(width)
    root[..., places, places] = np.sqrt(2 * rng.standard_gamma(halves, (*shape, width)))
    return solve_lower(root, np.swapaxes(np.linalg.cholesky(scale), -1, -2))


def symmetric(matrix: Array) -> Array:
    """Return the average of a matrix and its transpose: products may differ in the last digit."""
    return (matrix + np.swapaxes(matrix, -1, -2)) / 2


def log_multigamma_ratio(x: ArrayLike, step: ArrayLike, width: int) -> Array:
    r"""Return :math:`\ln\Gamma_D(x + d) - \ln\Gamma_D(x)` without cancellation.

    Examples
    --------
    >>> float(log_multigamma_ratio(2.5, 1, 2).round(12))  # (2.5) (2.0)
    1.609437912434
    """
    halves = np.asarray(x, dtype=float)[..., None] - np.arange(width) / 2
    return log_gamma_ratio(halves, np.asarray(step, dtype=float)[..., None]).sum(-1)


def log_density(root: Array, df: ArrayLike, scale_root: Array) -> Array:
    r"""Return the log density of an inverse-Wishart law at :math:`\Sigma = A A^\top`.

    Parameters
    ----------
    root : ndarray of shape (..., D, D)
        Lower triangular root A of the matrix.
    df : array_like of shape (...)
        Degrees of freedom.
    scale_root : ndarray of shape (..., D, D)
        Lower triangular root of the scale matrix.

    Examples
    --------
    >>> import numpy as np
    >>> root = np.linalg.cholesky([[2.0, 0.5], [0.5, 1.0]])
    >>> float(log_density(root, 4, np.eye(2)).round(6))
    -6.03997
    """
    df, width = np.asarray(df, dtype=float), root.shape[-1]
    return (
        log_density_constant(df, scale_root)
        - (df + width + 1) * half_log_det(root)
        - 0.5 * (solve_lower(root, scale_root) ** 2).sum((-2, -1))
    )


def log_density_constant(df: ArrayLike, scale_root: Array) -> Array:
    """Return what `log_density` adds whatever the matrix."""
    df, width = np.asarray(df, dtype=float), scale_root.shape[-1]
    log_det = half_log_det(scale_root) - width / 2 * np.log(2)
    return df * log_det - multigammaln(df / 2, width)


class InverseWishartMarginals:
    """The law of every entry of an inverse-Wishart matrix, used like a frozen SciPy law.

    Moments that do not exist are NaN, those that diverge are infinite.

    Parameters
    ----------
    df : array_like of shape (batch...)
        Degrees of freedom, larger than D - 1.
    scale : array_like of shape (batch..., D, D)
        Positive definite scale matrices.

    Examples
    --------
    >>> import numpy as np
    >>> law = InverseWishartMarginals(6, [[2.0, 0.6], [0.6, 1.0]])
    >>> law.mean().round(6)
    array([[0.666667, 0.2     ],
           [0.2     , 0.333333]])
    >>> law.cdf(law.ppf(0.1)).round(6)
    array([[0.1, 0.1],
           [0.1, 0.1]])
    """

    def __init__(self, df: ArrayLike, scale: ArrayLike) -> None:
        df, scale = np.asarray(df, dtype=float), np.asarray(scale, dtype=float)
        width = scale.shape[-1]
        batch = np.broadcast_shapes(df.shape, scale.shape[:-2])
        self.shape = (*batch, width, width)
        scale = np.broadcast_to(scale, self.shape)
        self._scale, self._spare = scale, np.broadcast_to(df - width, batch)
        a = np.broadcast_to((df - width + 1) / 2, batch)
        spread = np.diagonal(scale, axis1=-2, axis2=-1)
        self._diagonal = inverse_gamma(a[..., None], scale=spread / 2)
        self._places = np.arange(width)
        # Each pair of variables once.
        self._rows, self._columns = np.tril_indices(width, -1)
        one, other = spread[..., self._rows], spread[..., self._columns]
        self._unit = np.sqrt(one) * np.sqrt(other)
        self._r = scale[..., self._rows, self._columns] / self._unit
        self._a = np.broadcast_to(a[..., None], self._r.shape)

    def mean(self) -> Array:
        """Return Psi / (nu - D - 1)."""
        return self._matrix(self._diagonal.mean(), self._unit * _moments(self._a, self._r)[0])

    def var(self) -> Array:
        """Return the variance of every entry."""
        return self._matrix(self._diagonal.var(), self._unit**2 * _moments(self._a, self._r)[1])

    def std(self) -> Array:
        """Return the standard deviation of every entry."""
        around = self._unit * np.sqrt(_moments(self._a, self._r)[1])
        return self._matrix(self._diagonal.std(), around)

    def stats(self, moments: str = "mv") -> Any:
        """Return mean (m), variance (v), skewness (s) and excess kurtosis (k), as asked for."""
        skew, kurtosis = _moments(self._a, self._r)[2:]
        found = {
            "m": self.mean(),
            "v": self.var(),
            "s": self._matrix(self._diagonal.stats("s"), skew),
            "k": self._matrix(self._diagonal.stats("k"), kurtosis),
        }
        result = tuple(found[letter] for letter in "mvsk" if letter in moments)
        return result[0] if len(result) == 1 else result

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of a value up to x."""
        return self._evaluate("cdf", x)

    def sf(self, x: ArrayLike) -> Array:
        """Return the probability of a value above x."""
        return self._evaluate("sf", x)

    def pdf(self, x: ArrayLike) -> Array:
        """Return the density."""
        return self._evaluate("pdf", x)

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density."""
        return self._evaluate("logpdf", x)

    def ppf(self, q: ArrayLike) -> Array:
        """Return the value below which lies the probability q."""
        return self._quantile(q, upper=False)

    def isf(self, q: ArrayLike) -> Array:
        """Return the value above which lies the probability q."""
        return self._quantile(q, upper=True)

    def entry(self, at: tuple[int, ...]) -> InverseWishartEntry:
        """Return the law of a single entry, at the cost of one.

        Examples
        --------
        >>> law = InverseWishartMarginals(6, [[2.0, 0.6], [0.6, 1.0]])
        >>> bool(np.isclose(law.entry((1, 0)).cdf(0.5), law.cdf(0.5)[1, 0]))
        True
        """
        *batch, row, column = at
        kept = sorted({row, column})
        scale = self._scale[(*batch, *np.ix_(kept, kept))]
        return InverseWishartEntry(self._spare[tuple(batch)] + len(kept), scale)

    def _matrix(self, diagonal: ArrayLike, pairs: Array) -> Array:
        diagonal, pairs = np.asarray(diagonal), np.asarray(pairs)
        result = np.empty((*diagonal.shape, diagonal.shape[-1]))
        result[..., self._places, self._places] = diagonal
        result[..., self._rows, self._columns] = pairs
        result[..., self._columns, self._rows] = pairs
        return result

    def _evaluate(self, kind: str, x: ArrayLike) -> Array:
        x = np.asarray(x, dtype=float)
        x = np.broadcast_to(x, np.broadcast_shapes(x.shape, self.shape))
        result = np.empty(x.shape)
        places = self._places
        result[..., places, places] = getattr(self._diagonal, kind)(x[..., places, places])
        lower, upper = x[..., self._rows, self._columns], x[..., self._columns, self._rows]
        one = self._pairs(kind, lower)
        result[..., self._rows, self._columns] = one
        same = np.array_equal(lower, upper, equal_nan=True)
        result[..., self._columns, self._rows] = one if same else self._pairs(kind, upper)
        return result

    def _pairs(self, kind: str, x: Array) -> Array:
        flat = np.broadcast_arrays(x / self._unit, self._a, self._r)
        density = kind in ("pdf", "logpdf")
        found = _integral("pdf" if density else kind, *(part.ravel() for part in flat))
        value = found.reshape(x.shape)
        if density:  # its logarithm, since far out it underflows
            value = value - np.log(self._unit)
            return value if kind == "logpdf" else np.exp(value)
        return np.exp(value)

    def _quantile(self, q: ArrayLike, *, upper: bool) -> Array:
        q = np.asarray(q, dtype=float)
        whole = np.broadcast_shapes(q.shape, self.shape)
        if q.ndim and any(length > 1 for length in q.shape[-2:]):
            msg = "q: levels must be the same for all entries of the matrix."
            raise ValueError(msg)
        level = np.broadcast_to(q, (*whole[:-2], 1, 1))[..., 0]
        diagonal = self._diagonal.isf(level) if upper else self._diagonal.ppf(level)
        flat = np.broadcast_arrays(level, self._a, self._r)
        pairs = _root(*(part.ravel() for part in flat), upper=upper).reshape(flat[0].shape)
        return self._matrix(diagonal, self._unit * pairs)


class InverseWishartEntry:
    """The law of the last entry in the first row of an inverse-Wishart matrix.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    scale : ndarray of shape (1, 1) or (2, 2)
        Scale matrix; the matrix of the other variables is integrated out.
    """

    def __init__(self, df: ArrayLike, scale: Array) -> None:
        self._law = InverseWishartMarginals(df, scale)

    def mean(self) -> Array:
        """Return the mean."""
        return self._law.mean()[0, -1]

    def std(self) -> Array:
        """Return the standard deviation."""
        return self._law.std()[0, -1]

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of a value up to x."""
        return self._law.cdf(np.asarray(x)[..., None, None])[..., 0, -1]

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density."""
        return self._law.logpdf(np.asarray(x)[..., None, None])[..., 0, -1]

    def ppf(self, q: ArrayLike) -> Array:
        """Return the value below which lies the probability q."""
        return self._law.ppf(np.asarray(q)[..., None, None])[..., 0, -1]

    def isf(self, q: ArrayLike) -> Array:
        """Return the value above which lies the probability q."""
        return self._law.isf(np.asarray(q)[..., None, None])[..., 0, -1]


def _moments(a: Array, r: Array) -> tuple[Array, Array, Array, Array]:
    """Return mean, variance, skewness and excess kurtosis of beta / G; summands of one sign."""
    df = 2 * a + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = 0.5 / (a - 1)  # of 1 / G, then its central moments
        second = centre**2 / (a - 2)
        third = 4 * second**1.5 * np.sqrt(a - 2) / (a - 3)
        fourth = 3 * second**2 * (a + 5) * (a - 2) / ((a - 3) * (a - 4))
        wide = (1 - r) * (1 + r) / (df - 2)  # variance of beta
        wider = 3 * wide**2 * (df - 2) / (df - 4)
        variance = (centre**2 + second) * wide + r**2 * second
        skew = 3 * r * (2 * centre * second + third) * wide + r**3 * third
        raw = (0.5**4) / ((a - 1) * (a - 2) * (a - 3) * (a - 4))
        mixed = centre**2 * second + 2 * centre * third + fourth
        kurtosis = raw * wider + 6 * r**2 * wide * mixed + r**4 * fourth
        return (
            np.where(a > 1, r * centre, np.nan),
            np.where(a > 2, variance, np.where(a > 1, np.inf, np.nan)),  # noqa: PLR2004 - moments
            np.where(a > 3, skew / variance**1.5, np.nan),  # noqa: PLR2004
            np.where(a > 4, kurtosis / variance**2 - 3, np.nan),  # noqa: PLR2004
        )


def _root(level: Array, a: Array, r: Array, *, upper: bool) -> Array:
    """Return quantiles: Newton's method on log probabilities, kept inside a shrinking bracket."""
    # The unknown t, x = unit sinh(t): logarithmic far out on both sides, linear around zero.
    unit = 0.5 / (a + 1)
    result = np.where((level >= 0) & (level <= 1), 0.0, np.nan)
    result[level == 0] = np.inf if upper else -np.inf
    result[level == 1] = -np.inf if upper else np.inf
    open_ = np.flatnonzero((level > 0) & (level < 1))
    # The side with the smaller probability, whose logarithm says where in the tail we are.
    middle = level <= 0.5  # noqa: PLR2004
    falling = middle if upper else ~middle
    target = np.log(np.maximum(np.where(middle, level, 1 - level), np.finfo(float).tiny))
    low, high = np.full(level.shape, -_FARTHEST), np.full(level.shape, _FARTHEST)
    t = np.arcsinh(r)
    for _ in range(_NEWTON):
        i = open_
        x = unit[i] * np.sinh(t[i])
        value = np.empty(len(i))
        for side, kind in ((falling[i], "sf"), (~falling[i], "cdf")):
            value[side] = _integral(kind, x[side], a[i][side], r[i][side])
        sign = np.where(falling[i], -1.0, 1.0)
        gap = sign * (value - target[i])  # rises with x
        low[i] = np.where(gap <= 0, t[i], low[i])
        high[i] = np.where(gap >= 0, t[i], high[i])
        density = _integral("pdf", x, a[i], r[i])
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            step = gap / (np.exp(density - value) * unit[i] * np.cosh(t[i]))
        after = t[i] - step
        outside = ~((low[i] < after) & (after < high[i]))
        after = np.where(outside, (low[i] + high[i]) / 2, after)
        moved = np.abs(after - t[i])
        t[i] = after
        result[i] = unit[i] * np.sinh(after)
        done = (moved <= 1e-9 * (1 + np.abs(after))) & ~outside  # the step's error is its square
        open_ = i[~(done | (gap == 0) | (high[i] - low[i] <= 1e-15 * np.abs(t[i])))]
        if not len(open_):
            break
    return np.where(np.abs(t) > _FARTHEST - 1, np.copysign(np.inf, t), result)


# --- probabilities and densities of beta / G ------------------------------------------------------


def _integral(kind: str, x: Array, a: Array, r: Array) -> Array:
    """Return the log of ``cdf``, ``sf`` or ``pdf`` at x, for flat arrays of one length."""
    result = np.full(x.shape, np.nan)
    for start in range(0, len(x), _BLOCK):
        part = slice(start, start + _BLOCK)
        result[part] = _reflected(kind, x[part], a[part], r[part])
    return result


def _reflected(kind: str, x: Array, a: Array, r: Array) -> Array:
    """Left of zero look at -x, whose law has the correlation -r and the other tail."""
    result = np.full(x.shape, np.nan)
    left = x < 0
    if left.any():
        turned = {"cdf": "sf", "sf": "cdf", "pdf": "pdf"}[kind]
        result[left] = _reflected(turned, -x[left], a[left], -r[left])
    if kind == "pdf":
        result[x == 0] = (_log_t(np.zeros(1), a, r) + np.log(2 * a))[x == 0]
        result[np.isinf(x)] = -np.inf
    else:
        rising = kind == "cdf"
        with np.errstate(divide="ignore"):
            result[x == 0] = np.log(_negative(a, r if rising else -r))[x == 0]
        result[np.isinf(x) & (x > 0)] = 0.0 if rising else -np.inf
    right = (x > 0) & np.isfinite(x)
    if right.any():
        result[right] = _right_of_zero(kind, x[right], a[right], r[right])
    return result


def _right_of_zero(kind: str, x: Array, a: Array, r: Array) -> Array:
    narrow = (a > _NARROW) & (np.abs(r) < _CLOSE) & (kind != "pdf")
    result = np.empty(x.shape)
    for some, function in ((narrow, _over_gamma), (~narrow, _by_beta)):
        if some.any():
            result[some] = function(kind, x[some], a[some], r[some])
    return result


def _over_gamma(kind: str, x: Array, a: Array, r: Array) -> Array:
    """Return the log probability as an average over u = ln G instead, whose law is narrow.

    Both conditional probabilities are then smooth on a scale no finer than about the width of the
    integrand itself; a high point and its width are all that the nodes need.
    """
    df, sign = 2 * a + 1, 1.0 if kind == "cdf" else -1.0
    spread = np.sqrt((1 - r) * (1 + r) / df)

    low, high = np.full(x.shape, -750.0), np.full(x.shape, 750.0)
    for _ in range(_BISECTIONS):
        u = (low + high) / 2
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            t = sign * (x * np.exp(u) - r) / spread
            pull = sign * x * np.exp(u) / spread * np.exp(_log_ratio(t, df))
            pull = np.where(stdtr(df, t) > 0, pull, sign * np.inf)  # towards where it is possible
            rises = a - np.exp(u) / 2 + pull > 0
        low, high = np.where(rises, u, low), np.where(rises, high, u)
    bend = np.exp(u) / 2 + (x * np.exp(u) / spread) ** 2 / (1 + t**2 / df)
    width = (1 / np.sqrt(bend))[:, None]
    reach = np.arcsinh(_FAR)
    y = np.arange(-reach, reach + _STEP / 2, _STEP / 2)
    nodes = u[:, None] + width * np.sinh(y)
    with np.errstate(divide="ignore"):
        t = sign * (x[:, None] * np.exp(nodes) - r[:, None]) / spread[:, None]
        logs = np.log(stdtr(df[:, None], t))
    logs = logs + log_gamma_kernel(np.exp(nodes) / 2, a[:, None])
    top = logs.max(1, keepdims=True)
    return top[:, 0] + np.log((np.exp(logs - top) * np.cosh(y) * width).sum(1) * _STEP / 2)


def _log_ratio(t: Array, df: Array) -> Array:
    """Return the log of a Student-t law's density over its distribution function."""
    density = (
        log_gamma_ratio(df / 2, 0.5) - 0.5 * np.log(np.pi * df) - (df + 1) / 2 * np.log1p(t**2 / df)
    )
    return density - np.log(stdtr(df, t))


def _by_beta(kind: str, x: Array, a: Array, r: Array) -> Array:
    logs = _over_beta(kind, x, a, r)
    if kind == "pdf":
        return logs
    inside, whole = np.exp(logs), _negative(a, -r)
    # More than half: then the other side of x has the feature that the nodes should be dense at.
    large = inside > whole / 2
    if large.any():
        other = "sf" if kind == "cdf" else "cdf"
        rest = np.exp(_over_beta(other, x[large], a[large], r[large]))
        logs[large] = np.log(whole[large] - rest)
    if kind == "sf":
        return logs
    with np.errstate(divide="ignore"):
        return np.minimum(np.logaddexp(logs, np.log(_negative(a, r))), 0.0)


def _negative(a: Array, r: Array) -> Array:
    """Return the probability that beta is negative."""
    square = (1 - r) * (1 + r)
    far = 0.5 * betainc(a + 0.5, 0.5, square)
    return np.where(r > 0, far, 0.5 + 0.5 * betainc(0.5, a + 0.5, r**2))


def _log_t(beta: Array, a: Array, r: Array) -> Array:
    """Return the log density of beta."""
    square = (1 - r) * (1 + r)
    return (
        log_gamma_ratio(a + 0.5, 0.5)
        - 0.5 * np.log(np.pi * square)
        - (a + 1) * np.log1p((beta - r) ** 2 / square)
    )


def _over_beta(kind: str, x: Array, a: Array, r: Array) -> Array:
    """Return the log of the integral over positive beta, at x > 0."""
    v, weight = _nodes(kind, x, a, r)
    x, a, r = x[:, None], a[:, None], r[:, None]
    beta = np.exp(v)
    z = beta / (2 * x)
    logs = _log_t(beta, a, r) + v
    with np.errstate(divide="ignore"):
        if kind == "pdf":
            logs = logs + log_gamma_kernel(z, a) - np.log(x)
        else:
            logs = logs + np.log((lower_gamma if kind == "sf" else gammaincc)(a, z))
    top = logs.max(1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return top[:, 0] + np.log((weight * np.exp(logs - top)).sum(1))


def _nodes(kind: str, x: Array, a: Array, r: Array) -> tuple[Array, Array]:
    """Return nodes and weights of the trapezoidal rule in y.

    y(v) = asinh((v - 0) / angle) + asinh((v - peak) / width) stretches the singularities' distance
    and the high point's width to about 1; its inverse solves a quadratic equation.
    """
    angle = np.arccos(np.clip(r, -1, 1))
    peak, width = _peak(kind, x, a, r, angle)
    rate = 1.0 if kind == "cdf" else 0.0
    left = np.minimum(peak, 0) - 2 - _NEGLIGIBLE / np.where(rate, rate, a + 1)
    right = np.maximum(peak, 0) + 2 + _NEGLIGIBLE / (a + 1)
    ends = [np.arcsinh(v / angle) + np.arcsinh((v - peak) / width) for v in (left, right)]
    number = int(np.ceil((ends[1] - ends[0]).max() / _STEP)) + 1
    y = ends[0][:, None] + _STEP * np.arange(number)
    peak, width, angle = peak[:, None], width[:, None], angle[:, None]
    product = angle * width
    sine, cosine = np.sinh(y), np.cosh(y)
    lead = 1 / angle**2 + 1 / width**2 + 2 * cosine / product
    middle = peak * (1 / width**2 + cosine / product)
    v = (middle + sine * np.sqrt(lead + (peak / product) ** 2)) / lead
    density = 1 / np.hypot(v, angle) + 1 / np.hypot(v - peak, width)
    # Integrals of one call have the number of nodes of the widest; the others' surplus is idle.
    last = right[:, None]
    return np.minimum(v, last), np.where(v <= last, _STEP / density, 0.0)


def _peak(kind: str, x: Array, a: Array, r: Array, angle: Array) -> tuple[Array, Array]:
    """Return about where the integrand is highest, and how wide it is there.

    Its log slope is (a + 1) (1 - beta²) / (beta² - 2 r beta + 1) minus a pull to the left, which is
    z = beta / 2x for the density and saturates at a for probabilities.
    """
    low, high = np.full(x.shape, -750.0), np.zeros(x.shape)
    for _ in range(_BISECTIONS):
        v = (low + high) / 2
        beta = np.exp(v)
        with np.errstate(over="ignore"):
            pull = beta / (2 * x)
        if kind != "pdf":
            pull = np.minimum(pull, a) if kind == "sf" else np.maximum(pull, a)
        rises = (a + 1) * (1 - beta**2) > pull * (beta**2 - 2 * r * beta + 1)
        low, high = np.where(rises, v, low), np.where(rises, high, v)
    beta = np.exp(v)
    gap = 4 * np.sinh(v / 2) ** 2 + 2 * (1 - r)  # 2 cosh v - 2 r
    with np.errstate(over="ignore"):
        bend = (a + 1) * np.abs(4 - 4 * r * np.cosh(v)) / gap**2
        pull = np.minimum(beta / (2 * x), a + 1)
    return v, 1 / np.sqrt(bend + pull + 1 / (angle**2 + v**2))
