"""Gamma-function ratios that stay accurate where the textbook differences cancel.

Evidences of conjugate models are differences of log gamma functions. Taken literally they lose
every digit for large counts: ``lnΓ(1e12 + 3) - lnΓ(1e12)`` is 82.9, the difference of two numbers
near 2.7e13. The functions here take the difference on paper first (Stirling's series, and the
saddle-point deviance of Loader, 2000, "Fast and accurate computation of binomial
probabilities"), so that what is added up in floating point is of the size of the result.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, gammainc, gammaincinv, gammaln

from bayesmodels.numerics import Array
from bayesmodels.numerics.law import increasing_root

HALF_LOG_2PI = 0.9189385332046727
_SERIES_FROM, _LEAST = 16.0, 1e-300
# Stirling's series for lnΓ, B_2k / (2k (2k - 1)): seven terms reach 1e-17 from x = 16 on.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
# (artanh(r) - r) / r^3 in powers of r^2, the highest first: enough for r up to 1/3.
_ARTANH = tuple(1 / k for k in range(27, 2, -2))


def numbers(x: ArrayLike) -> Array:
    """Return an array of doubles; complex numbers stay, so that a complex step differentiates."""
    array = np.asarray(x)
    return array if np.iscomplexobj(array) else array.astype(float, copy=False)


def stirling_remainder(x: ArrayLike) -> Array:
    r"""Return the remainder of Stirling's formula for the log gamma function, near 1 / (12 x).

    .. math:: s(x) = \ln\Gamma(x) - (x - 1/2)\ln x + x - \tfrac12\ln 2\pi, \qquad x > 0.
    """
    x = np.asarray(x, dtype=float)
    large = np.maximum(x, _SERIES_FROM)
    square = (1 / large) ** 2
    series = np.zeros_like(large)
    for coefficient in reversed(_STIRLING):
        series = series * square + coefficient
    small = np.minimum(x, _SERIES_FROM)
    # SciPy's log gamma is infinite for subnormal numbers, where it is -ln x.
    gamma = np.where(small < _LEAST, -np.log(small), gammaln(np.maximum(small, _LEAST)))
    direct = gamma - (small - 0.5) * np.log(small) + small - HALF_LOG_2PI
    return np.where(x >= _SERIES_FROM, series / large, direct)


def log1p_minus(x: ArrayLike) -> Array:
    r"""Return :math:`\ln(1 + x) - x` without cancellation near zero, for ``x > -1``."""
    x = numbers(x)
    near = np.abs(x) < 0.5  # noqa: PLR2004 - beyond it the plain difference loses nothing
    inside = np.where(near, x, 0.0)
    # ln(1 + x) = 2 artanh(r), r = x / (2 + x), hence ln(1 + x) - x = 2 (artanh(r) - r) - r x.
    ratio = inside / (2 + inside)
    square = ratio**2
    series = np.zeros_like(ratio)
    for coefficient in _ARTANH:
        series = series * square + coefficient
    with np.errstate(divide="ignore"):
        plain = np.log1p(np.where(near, 0.0, x)) - x
    return np.where(near, 2 * ratio * square * series - ratio * inside, plain)


def log_gamma_ratio(x: ArrayLike, step: ArrayLike) -> Array:
    r"""Return :math:`\ln\Gamma(x + d) - \ln\Gamma(x)` for ``x > 0`` and ``d >= 0``.

    The error stays near machine epsilon times the result, or times 1 where the result is smaller,
    for ``x`` from 1e-300 to 1e15.
    """
    x, step = np.asarray(x, dtype=float), np.asarray(step, dtype=float)
    x, step = np.broadcast_arrays(x, step)
    direct = gammaln(x + step) - gammaln(x)
    if not (x >= _SERIES_FROM).any():
        return np.where(step == 0, 0.0, direct)
    large = np.maximum(x, _SERIES_FROM)
    ratio = step / large
    # (x - 1/2) ln(1 + d/x) + d ln(x + d) - d + s(x + d) - s(x), and ln(1 + t) = t + (ln(1 + t) - t)
    stirling = (
        (large - 0.5) * log1p_minus(ratio)
        - 0.5 * ratio
        + step * np.log(large + step)
        + (stirling_remainder(large + step) - stirling_remainder(large))
    )
    return np.where(step == 0, 0.0, np.where(x >= _SERIES_FROM, stirling, direct))


def _log_rising_over_factorial(start: Array, count: Array) -> Array:
    """Half-log and remainder terms of ln[Γ(a + k) / (Γ(a) k!)]; its entropy is in the deviance."""
    positive = count > 0
    k = np.where(positive, count, 1.0)
    value = (
        0.5 * (np.log(start) - np.log(k) - np.log(start + k))
        - HALF_LOG_2PI
        + stirling_remainder(start + k)
        - stirling_remainder(start)
        - stirling_remainder(k)
    )
    return np.where(positive, value, 0.0)


def _deviances(row: Array, other: Array) -> Array:
    """Return the terms of a row's cells in a table's deviance from independence of `other` rows.

    What independence expects of the row's cells is formed relative to them, not by subtraction: a
    row of 1e100 beside counts of 10 would otherwise round to a deviance of 1e68.
    """
    total, other_total = row.sum(-1, keepdims=True), other.sum(-1, keepdims=True)
    positive = row > 0
    o = np.where(positive, row, 1.0)
    t = np.where(total > 0, total, 1.0)
    expected = (row + other) * (total / np.where(total > 0, total + other_total, 1.0))
    with np.errstate(over="ignore", invalid="ignore"):  # far apart, where the series is not used
        relative = (other / o - other_total / t) / (1 + other_total / t)
    near = np.abs(relative) < 0.5  # noqa: PLR2004 - the series' range
    series = -o * log1p_minus(np.where(near, relative, 0.0))
    logs = np.log(o) - np.log(o + other) + np.log(t + other_total) - np.log(t)
    return np.where(positive, np.where(near, series, o * logs + (expected - o)), expected)


def _rests(x: Array) -> Array:
    """Return ln n! - n ln n + n of each row's total, less that of its cells."""
    x = np.concatenate([x, x.sum(-1, keepdims=True)], -1)
    safe = np.where(x > 0, x, 1.0)
    each = np.where(x > 0, 0.5 * np.log(safe) + HALF_LOG_2PI + stirling_remainder(safe), 0.0)
    result: Array = each[..., -1] - each[..., :-1].sum(-1)
    return result


def log_dirichlet_multinomial(counts: ArrayLike, alpha: ArrayLike) -> Array:
    r"""Return the log mass of counts whose probabilities are integrated over a Dirichlet law.

    .. math::
        \ln p(n \mid \alpha) = \ln\binom{N}{n_1 \dots n_K}
            + \ln B(\alpha + n) - \ln B(\alpha), \qquad N = \textstyle\sum_k n_k.

    With the table of rows :math:`\alpha, n` and K columns, this is minus the table's deviance from
    independence plus terms of logarithmic size, which is how it is computed: no term is larger
    than the result by more than a small factor, at any counts, whole or not.
    """
    both = np.stack(np.broadcast_arrays(counts, alpha)).astype(float)
    n, a = both
    total, mass = n.sum(-1), a.sum(-1)
    return np.where(
        total > 0,
        -_deviances(both, both[::-1]).sum((0, -1))
        + _log_rising_over_factorial(a, n).sum(-1)
        - _log_rising_over_factorial(mass, total),
        0.0,
    )


def log_multinomial_coefficient(counts: ArrayLike) -> Array:
    r"""Return :math:`\ln (N! / \prod_k n_k!)` over the last axis of `counts`."""
    counts = np.sort(np.asarray(counts, dtype=float), axis=-1)
    others, largest = counts[..., :-1], counts[..., -1]
    return log_gamma_ratio(largest + 1, others.sum(-1)) - gammaln(others + 1).sum(-1)


def log_split(first: ArrayLike, second: ArrayLike) -> Array:
    r"""Return the log probability that shuffled rows fall into two parts with just these counts.

    .. math:: \ln \left[ \binom{A}{a_1 \dots a_K} \binom{B}{b_1 \dots b_K} \middle/
        \binom{A + B}{a_1 + b_1 \dots a_K + b_K} \right]

    The multivariate hypergeometric law; computed as minus the deviance of the two-row table plus
    terms of logarithmic size, where the three coefficients would cancel.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    both = np.stack(np.broadcast_arrays(first, second))
    one, other, pooled = _rests(np.concatenate([both, both.sum(0, keepdims=True)]))
    return one + other - pooled - _deviances(both, both[::-1]).sum((0, -1))


def log_given_total(
    counts: ArrayLike,
    groups: NDArray[np.intp] | None = None,
    size: int = 1,
    weights: Array | None = None,
) -> Array:
    r"""Return the log probability of counted rows (n, ..., K) given only their total in each group.

    .. math:: \ln \left[ \prod_i \binom{n_i}{n_{i1} \dots n_{iK}}^{w_i} \middle/
        \binom{N}{N_1 \dots N_K} \right], \qquad N_k = \textstyle\sum_i w_i n_{ik}

    It does not depend on any parameter. Of shape (groups, ...).
    """
    counts = np.asarray(counts, dtype=float)
    if len(counts) == 1 and groups is None and weights is None:
        return np.zeros(counts.shape[:-1])
    groups = np.zeros(len(counts), dtype=np.intp) if groups is None else groups
    if weights is not None:
        kept = weights > 0
        counts, groups, weights = counts[kept], groups[kept], weights[kept]

    def added(rows: Array) -> Array:
        heavy = 1.0 if weights is None else weights.reshape(-1, *(1,) * (rows.ndim - 1))
        total = np.zeros((size, *rows.shape[1:]))
        np.add.at(total, groups, heavy * rows)
        return total

    total = added(counts)
    return added(_rests(counts) - _deviances(counts, total[groups] - counts).sum(-1)) - _rests(
        total
    )


def log_gamma_kernel(z: ArrayLike, a: ArrayLike) -> Array:
    r"""Return :math:`a \ln z - z - \ln\Gamma(a)` without the cancellation at large ``a``."""
    z, a = numbers(z), np.asarray(a, dtype=float)
    normaliser = 0.5 * np.log(a) - HALF_LOG_2PI - stirling_remainder(a)
    with np.errstate(over="ignore", divide="ignore"):
        ratio = z / a
        near = np.abs(ratio - 1) < 0.5  # noqa: PLR2004 - beyond it the plain difference loses nothing
        plain = a * (np.log(z) - np.log(a)) + (a - z)
    return np.where(near, a * log1p_minus(np.where(near, ratio - 1, 0.0)), plain) + normaliser


def lower_gamma(a: ArrayLike, x: ArrayLike) -> Array:
    r"""Return the regularised lower incomplete gamma function :math:`P(a, x)`.

    SciPy's, but for large ``a`` and more than four deviations below it, where SciPy's series is cut
    short (at ``a = 1e12`` and seven deviations it gives a hundredth of the value). There by Temme's
    uniform expansion, *The asymptotic expansion of the incomplete gamma functions* (1979).

    Examples
    --------
    >>> float(lower_gamma(1e12, 1e12 - 7034467.664).round(19))  # gammainc: 1.2e-14
    1e-12
    """
    a, x = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(x, dtype=float))
    far, logs = _far_below(a, x)
    return np.where(far, np.exp(logs), gammainc(a, x))


def log_lower_gamma(a: ArrayLike, x: ArrayLike) -> Array:
    r"""Return :math:`\ln P(a, x)`, however small."""
    a, x = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(x, dtype=float))
    far, logs = _far_below(a, x)
    with np.errstate(divide="ignore"):
        return np.where(far, logs, np.log(gammainc(a, x)))


def _far_below(a: Array, x: Array) -> tuple[NDArray[np.bool_], Array]:
    """Return where Temme's expansion is needed, and the log of the probability there."""
    far = (a > _TEMME_FROM) & (x > 0) & (x < a - 4 * np.sqrt(a))
    if not far.any():
        return far, np.zeros(far.shape)
    size = np.where(far, a, _TEMME_FROM)
    mu = np.where(far, (x - a) / size, -0.25)
    minus = log1p_minus(mu)  # -eta² / 2
    eta = -np.sqrt(-2 * minus)
    terms = 1 / mu - 1 / eta + (1 / eta**3 - 1 / mu**3 - 1 / mu**2 - 1 / (12 * mu)) / size
    half = 0.5 * erfcx(-eta * np.sqrt(size / 2)) - terms / np.sqrt(2 * np.pi * size)
    return far, size * minus + np.log(half)


def lower_gamma_inverse(a: ArrayLike, p: ArrayLike) -> Array:
    """Return x with ``lower_gamma(a, x) == p``."""
    a, p = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(p, dtype=float))
    x = np.array(gammaincinv(a, p))
    rough = (a > _TEMME_FROM) & (p > 0) & (p < _FOUR_DEVIATIONS)
    if not rough.any():
        return x
    a, log_p = a[rough], np.log(p[rough])

    def short(x: Array) -> tuple[Array, Array]:  # of ln P, which is concave
        log = log_lower_gamma(a, x)
        return log - log_p, np.exp(log_gamma_kernel(x, a) - log) / x

    x[rough] = increasing_root(short, 0 * a, a, x[rough])
    return x


_TEMME_FROM = 1e5
_FOUR_DEVIATIONS = 1e-4  # and a bit: below it SciPy's inverse inherits the error


def log_dirichlet_density(gaps: ArrayLike, log_theta: ArrayLike, alpha: ArrayLike) -> Array:
    r"""Return the log density of a Dirichlet law without the cancellation at large ``alpha``.

    .. math:: \sum_k (\alpha_k - 1) \ln \theta_k - \ln B(\alpha) = \sum_k \left[ \alpha_k
        (\ln(1 + r_k) - r_k) - \ln \theta_k \right] + \sum_k g_k + \dots, \qquad
        r_k = g_k / \alpha_k

    A deviance, which is never positive, and terms of logarithmic size, by Stirling's formula. Gaps
    are :math:`g_k = \theta_k \sum_j \alpha_j - \alpha_k`; see `laws.gaps_of_shares`.
    """
    gaps, logs, alpha = np.broadcast_arrays(*(numbers(part) for part in (gaps, log_theta, alpha)))
    total = alpha.sum(-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        relative = gaps / alpha
        near = np.abs(relative) < 0.5  # noqa: PLR2004 - beyond it the plain difference loses nothing
        deviance = alpha * log1p_minus(np.where(near, relative, 0.0)) - logs
        # alpha - 1 first, so that 0 ln 0 is 0
        plain = times_logs(alpha - 1, logs) - alpha * (np.log(alpha) - np.log(total)) - gaps
    of_cells = 0.5 * np.log(alpha) - HALF_LOG_2PI - stirling_remainder(alpha)
    of_total = 0.5 * np.log(total) - HALF_LOG_2PI - stirling_remainder(total)
    cells = np.where(near, deviance, plain) + of_cells
    return cells.sum(-1) - of_total[..., 0] + gaps.sum(-1)


def times_logs(factor: Array, logs: Array) -> Array:
    """Return the product, in which 0 times the logarithm of 0 is 0.

    What `xlogy` does, for logarithms that many factors share.
    """
    if np.isfinite(logs).all():
        return factor * logs
    with np.errstate(invalid="ignore"):
        return np.where((factor == 0) & np.isinf(logs), 0.0, factor * logs)
