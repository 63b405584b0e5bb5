"""The textbook's formulas in a hundred digits and more, of the numbers that float64 holds.

Written out from the definitions, without any of the package's care: there are digits to lose, at
least as many as the sizes of squares differ in.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any

import mpmath
import numpy as np
from mpmath import log, mpf, pi

from tests.reference import exact_values as textbook

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


def table(x: Any) -> list[list[mpmath.mpf]]:
    return [[number(each) for each in row] for row in np.asarray(x).tolist()]


def matrix(x: Any) -> mpmath.matrix:
    return mpmath.matrix(table(x))


# --- counts ---------------------------------------------------------------------------------------


@in_digits
def log_mass(counts: Any, alpha: Any) -> mpmath.mpf:
    """Log mass of counts: Dirichlet-multinomial, and beta-binomial for two."""
    return textbook.dirichlet_mass(numbers(alpha), numbers(counts))


@in_digits
def log_rows(counts: Any, alpha: Any) -> mpmath.mpf:
    """Log probability of rows in the order observed."""
    return textbook.dirichlet_evidence(numbers(alpha), numbers(counts))


@in_digits
def dirichlet(alpha: Any) -> list[mpmath.mpf]:
    """Means and standard deviations of the probabilities."""
    pairs = [(a, sum(numbers(alpha)) - a) for a in numbers(alpha)]
    return [of(*pair) for of in (textbook.beta_mean, textbook.beta_sd) for pair in pairs]


# --- normal laws ----------------------------------------------------------------------------------


@in_digits
def normal(x: Any, prior: tuple[Any, ...]) -> dict[str, Any]:
    """Normal-inverse-gamma: posterior, evidence, and standard deviation of the mean."""
    given = *numbers(prior), *(textbook.moments(numbers(x)) if len(x) else [mpf(0)] * 3)
    mean, kappa, shape, scale = textbook.nig_posterior(*given)
    return {
        "mean": mean,
        "kappa": kappa,
        "shape": shape,
        "scale": scale,
        "sd": mpmath.sqrt(scale / ((shape - 1) * kappa)) if shape > 1 else mpmath.inf,
        "evidence": textbook.nig_evidence(*given),
    }


@in_digits
def next_number(x: Any, after: dict[str, Any]) -> mpmath.mpf:
    """Log predictive density of a number."""
    return textbook.nig_predictive(
        after["mean"], after["kappa"], after["shape"], after["scale"], number(x)
    )


@in_digits
def vectors(x: Any, prior: tuple[Any, ...]) -> dict[str, Any]:
    """Normal-inverse-Wishart: posterior and evidence of rows x."""
    location, kappa, nu, scale = prior
    given = numbers(location), number(kappa), number(nu), table(scale), table(x)
    names = ("mean", "kappa", "df", "scale")
    after = dict(zip(names, textbook.niw_posterior(*given), strict=True))
    return after | {"evidence": textbook.niw_evidence(*given)}


@in_digits
def next_vector(x: Any, after: dict[str, Any]) -> mpmath.mpf:
    """Log predictive density of a vector."""
    return textbook.niw_predictive(
        after["mean"], after["kappa"], after["df"], after["scale"], numbers(x)
    )


# --- regression -----------------------------------------------------------------------------------


@in_digits
def regression(X: Any, y: Any, prior: tuple[Any, ...]) -> dict[str, Any]:
    """Posterior, standard deviations of the coefficients and evidence."""
    location, precision, a, b = prior
    given = numbers(location), table(precision), number(a), number(b), table(X), numbers(y)
    P, w, shape, scale = textbook.regression_posterior(*given)
    inverse = mpmath.inverse(P)
    return {
        "w": list(w),
        "sd": [mpmath.sqrt(scale / (shape - 1) * inverse[j, j]) for j in range(len(w))],
        "scale": scale,
        "shape": shape,
        "inverse": inverse,
        "evidence": textbook.regression_evidence(*given),
    }


@in_digits
def next_target(x: Any, y: Any, after: dict[str, Any]) -> mpmath.mpf:
    """Log predictive density of a target."""
    row = matrix([list(x)])
    at = sum(row[0, j] * w for j, w in enumerate(after["w"]))
    spread = after["scale"] / after["shape"] * (1 + (row * after["inverse"] * row.T)[0])
    return textbook.student_density(2 * after["shape"], at, spread, number(y))


@in_digits
def scatter(x: Any) -> mpmath.matrix:
    """Sum of the squares and products of rows around their mean."""
    rows = [mpmath.matrix(row) for row in table(x)]
    mean = sum(rows, mpmath.zeros(len(rows[0]), 1)) / len(rows)
    return sum(((r - mean) * (r - mean).T for r in rows), mpmath.zeros(len(mean), len(mean)))


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
        rows = X[labels == c]
        n, mean = len(rows), mpmath.matrix([sum(numbers(column)) / len(rows) for column in rows.T])
        after += (scatter(rows) + k * n / (k + n) * (mean - m) * (mean - m).T) / r
        means.append(((k * m + n * mean) / (k + n), k + n))
        evidence += half * width * (log(k / (k + n)) - n * log(r))
        total += n
    v = number(nu)
    evidence += (
        -half * total * width * log(pi)
        + textbook.log_multigamma((v + total) / 2, width)
        - textbook.log_multigamma(v / 2, width)
        + v / 2 * log(mpmath.det(psi))
        - (v + total) / 2 * log(mpmath.det(after))
    )
    logs = [
        next_vector(new, {"mean": at, "kappa": own, "df": v + total, "scale": after * r})
        for (at, own), r in zip(means, ratio, strict=True)
    ]
    return evidence, logs
