"""Textbook formulas in a hundred digits and more, of the numbers that float64 holds.

Written out from the definitions, without any of the package's care: there are digits to lose, at
least as many as the sizes of squares differ in.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any

import mpmath
import numpy as np
from mpmath import log, loggamma, mpf, pi

DIGITS = 100


def in_digits(function: Callable[..., Any]) -> Callable[..., Any]:
    """Evaluate with enough digits."""

    @wraps(function)
    def evaluated(*arguments: Any, **named: Any) -> Any:
        with mpmath.workdps(DIGITS + 4 * orders([*arguments, *named.values()])):
            return function(*arguments, **named)

    return evaluated


def orders(given: Any) -> int:
    """Return the largest order of magnitude, up or down, of numbers of data and of priors."""
    if isinstance(given, (list, tuple)):
        return max(map(orders, given), default=0)
    if isinstance(given, (dict, mpmath.mpf)):  # found with enough digits before
        return 0
    sizes = np.abs(np.asarray(given, dtype=float))
    return int(np.abs(np.log10(sizes[sizes > 1e-200])).max(initial=0))


def number(x: Any) -> mpmath.mpf:
    """Return a number as it is stored: every float is a fraction."""
    if isinstance(x, mpmath.mpf):
        return x
    exact = Fraction(int(x) if isinstance(x, (int, np.integer)) else x)
    return mpf(exact.numerator) / exact.denominator


def numbers(x: Any) -> list[mpmath.mpf]:
    return [number(each) for each in np.ravel(np.asarray(x, dtype=object))]


# --- counts ---------------------------------------------------------------------------------------


def log_beta(alpha: Any) -> mpmath.mpf:
    return sum(loggamma(a) for a in alpha) - loggamma(sum(alpha))


@in_digits
def log_mass(counts: Any, alpha: Any) -> mpmath.mpf:
    """Log mass of counts: Dirichlet-multinomial, and beta-binomial for two."""
    n, a = numbers(counts), numbers(alpha)
    ways = loggamma(sum(n) + 1) - sum(loggamma(k + 1) for k in n)
    return ways + log_beta([x + k for x, k in zip(a, n, strict=True)]) - log_beta(a)


@in_digits
def log_rows(counts: Any, alpha: Any) -> mpmath.mpf:
    """Log probability of rows in the order observed."""
    n, a = numbers(counts), numbers(alpha)
    return log_beta([x + k for x, k in zip(a, n, strict=True)]) - log_beta(a)


@in_digits
def dirichlet(alpha: Any) -> list[mpmath.mpf]:
    """Means and standard deviations of the probabilities."""
    a = numbers(alpha)
    total = sum(a)
    variances = [x * (total - x) / (total**2 * (total + 1)) for x in a]
    return [x / total for x in a] + [mpmath.sqrt(v) for v in variances]


# --- normal laws ----------------------------------------------------------------------------------


@in_digits
def student(x: Any, df: Any, location: Any, spread: Any) -> mpmath.mpf:
    """Log density of Student's t law with a squared scale."""
    x, df, location, spread = (number(each) for each in (x, df, location, spread))
    return (
        loggamma((df + 1) / 2)
        - loggamma(df / 2)
        - log(df * pi * spread) / 2
        - (df + 1) / 2 * log(1 + (x - location) ** 2 / (df * spread))
    )


@in_digits
def normal(x: Any, prior: tuple[Any, ...]) -> dict[str, Any]:
    """Normal-inverse-gamma: posterior, evidence, and standard deviation of the mean."""
    x, (m, kappa, a, b) = numbers(x), numbers(prior)
    n = len(x)
    mean = sum(x) / n if n else mpf(0)
    scatter = sum((each - mean) ** 2 for each in x)
    after = kappa + n
    shape, scale = a + mpf(n) / 2, b + scatter / 2 + kappa * n * (mean - m) ** 2 / (2 * after)
    return {
        "mean": (kappa * m + n * mean) / after,
        "kappa": after,
        "shape": shape,
        "scale": scale,
        "sd": mpmath.sqrt(scale / ((shape - 1) * after)) if shape > 1 else mpmath.inf,
        "evidence": loggamma(shape)
        - loggamma(a)
        + a * log(b)
        - shape * log(scale)
        + log(kappa / after) / 2
        - mpf(n) / 2 * log(2 * pi),
    }


def next_number(x: Any, after: dict[str, Any]) -> mpmath.mpf:
    """Log predictive density of a number."""
    with mpmath.workdps(DIGITS):
        spread = after["scale"] * (after["kappa"] + 1) / (after["shape"] * after["kappa"])
        return student(x, 2 * after["shape"], after["mean"], spread)


def matrix(x: Any) -> mpmath.matrix:
    return mpmath.matrix([[number(each) for each in row] for row in np.asarray(x).tolist()])


def log_multigamma(a: mpmath.mpf, size: int) -> mpmath.mpf:
    return mpf(size * (size - 1)) / 4 * log(pi) + sum(loggamma(a - mpf(j) / 2) for j in range(size))


@in_digits
def vectors(x: Any, prior: tuple[Any, ...]) -> dict[str, Any]:
    """Normal-inverse-Wishart: posterior and evidence of rows x."""
    location, kappa, nu, scale = prior
    width = len(location)
    m, psi = matrix([[each] for each in location]), matrix(scale)
    kappa, nu = number(kappa), number(nu)
    rows = [matrix([[each] for each in row]) for row in np.asarray(x).tolist()]
    n = len(rows)
    mean = sum(rows, mpmath.zeros(width, 1)) / max(n, 1)
    scatter = sum(((r - mean) * (r - mean).T for r in rows), mpmath.zeros(width, width))
    after = psi + scatter + kappa * n / (kappa + n) * (mean - m) * (mean - m).T
    half = mpf(1) / 2
    return {
        "mean": (kappa * m + n * mean) / (kappa + n),
        "kappa": kappa + n,
        "df": nu + n,
        "scale": after,
        "evidence": -half * n * width * log(pi)
        + log_multigamma((nu + n) / 2, width)
        - log_multigamma(nu / 2, width)
        + nu / 2 * log(mpmath.det(psi))
        - (nu + n) / 2 * log(mpmath.det(after))
        + half * width * log(kappa / (kappa + n)),
    }


@in_digits
def next_vector(x: Any, after: dict[str, Any]) -> mpmath.mpf:
    """Log predictive density of a vector."""
    gap = matrix([[each] for each in x]) - after["mean"]
    width = len(gap)
    df = after["df"] - width + 1
    spread = after["scale"] * (after["kappa"] + 1) / (after["kappa"] * df)
    square = (gap.T * mpmath.lu_solve(spread, gap))[0]
    return (
        loggamma((df + width) / 2)
        - loggamma(df / 2)
        - mpf(width) / 2 * log(df * pi)
        - log(mpmath.det(spread)) / 2
        - (df + width) / 2 * log(1 + square / df)
    )


# --- regression -----------------------------------------------------------------------------------


@in_digits
def regression(X: Any, y: Any, prior: tuple[Any, ...]) -> dict[str, Any]:
    """Posterior, standard deviations of the coefficients and evidence."""
    location, precision, a, b = prior
    n = mpf(len(X))
    if not len(X):
        X, y = np.zeros((1, len(location))), [0.0]  # adds nothing
    X, y = matrix(X), matrix([[each] for each in y])
    m, P = matrix([[each] for each in location]), matrix(precision)
    a, b = number(a), number(b)
    after = P + X.T * X
    w = mpmath.lu_solve(after, P * m + X.T * y)
    gap, rest = w - m, y - X * w
    shape, scale = a + n / 2, b + ((rest.T * rest)[0] + (gap.T * P * gap)[0]) / 2
    inverse = mpmath.inverse(after)
    return {
        "w": list(w),
        "sd": [mpmath.sqrt(scale / (shape - 1) * inverse[j, j]) for j in range(len(w))],
        "scale": scale,
        "shape": shape,
        "inverse": inverse,
        "evidence": -n / 2 * log(2 * pi)
        + (log(mpmath.det(P)) - log(mpmath.det(after))) / 2
        + a * log(b)
        - shape * log(scale)
        + loggamma(shape)
        - loggamma(a),
    }


@in_digits
def next_target(x: Any, y: Any, after: dict[str, Any]) -> mpmath.mpf:
    """Log predictive density of a target."""
    row = matrix([list(x)])
    at = sum(row[0, j] * w for j, w in enumerate(after["w"]))
    spread = after["scale"] / after["shape"] * (1 + (row * after["inverse"] * row.T)[0])
    return student(y, 2 * after["shape"], at, spread)


# --- classes that share a covariance --------------------------------------------------------------


@in_digits
def tied(
    X: Any, labels: Any, new: Any, *, prior: tuple[Any, ...], ratio: list[int]
) -> tuple[mpmath.mpf, list[mpmath.mpf]]:
    """Evidence of rows of classes with covariances r_c Sigma, and log densities of a new row.

    Rows of class c divided by the root of r_c have the covariance Sigma; each is then a step of
    normal-inverse-Wishart with its class's own mean.
    """
    location, kappa, nu, scale = prior
    width, k, half = len(location), number(kappa), mpf(1) / 2
    m = matrix([[each] for each in location])
    psi, total, evidence = matrix(scale), 0, mpf(0)
    after, means = psi.copy(), []
    for c, r in enumerate(ratio):
        rows = [matrix([[each] for each in row]) for row in X[labels == c].tolist()]
        n = len(rows)
        mean = sum(rows, mpmath.zeros(width, 1)) / n
        scatter = sum(((x - mean) * (x - mean).T for x in rows), mpmath.zeros(width, width))
        after += (scatter + k * n / (k + n) * (mean - m) * (mean - m).T) / r
        means.append(((k * m + n * mean) / (k + n), k + n))
        evidence += half * width * (log(k / (k + n)) - n * log(r))
        total += n
    v = number(nu)
    evidence += (
        -half * total * width * log(pi)
        + log_multigamma((v + total) / 2, width)
        - log_multigamma(v / 2, width)
        + v / 2 * log(mpmath.det(psi))
        - (v + total) / 2 * log(mpmath.det(after))
    )
    logs = [
        next_vector(new, {"mean": at, "kappa": own, "df": v + total, "scale": after * r})
        for (at, own), r in zip(means, ratio, strict=True)
    ]
    return evidence, logs
