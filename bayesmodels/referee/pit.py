r"""Tests of scalars through their probability-integral transforms.

If draws x come from a law with distribution function F, u = F(x) is uniform, whatever the law. Then
each function of u below has a known mean of zero and a known variance of one, so that its average
over draws, in standard errors, is :math:`z = \sqrt{n} \, \bar f`, n the effective number of draws
of that very function. Neither heavy tails nor units matter.

- Legendre polynomials of degree 1 to 4, shifted to the unit interval: location, spread, skew, tails
  (Neyman's smooth test, 1937; the degrees taken one by one).
- Their combination that a small shift of all draws moves by most standard errors: each degree by
  how fast its mean changes with a shift, over its own variance. The law's distribution function
  tells the first, so that of a skewed law less noise is left than of its mean: of a Beta(5, 19), a
  shift takes a sixth fewer draws, and fewer still where draws are autocorrelated, since higher
  degrees are less so. Of a law with a sharp edge this would be all about visits of that edge, which
  come in clusters: higher degrees have at most one and a half times the variance of the first.
- Indicators of lying below the quartiles.
- Visits of the two tails. These come in clusters when draws are autocorrelated, and few are
  expected: a standard error says little. The number of clusters is about a Poisson's, their sizes
  are at most about geometric. Hence too few visits are judged by a Poisson law, too many by a Gamma
  law of the same mean and variance, whose tail is heavier than that of such clusters. Visits say
  little about their own effective number; it counts as no larger than that of the spread.
- Chains against each other: sums of squares of chains' averages of the first two polynomials about
  their common average, by autocorrelation within chains alone. A chain that is stuck apart from the
  others lowers everybody's effective number, and hides from all other tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy.special import fdtrc, gammaincc, ndtri, stdtr

from bayesmodels.belief.values import stored
from bayesmodels.errors import DataError
from bayesmodels.numerics import AnyFloat, Array, threads
from bayesmodels.numerics.ess import effective_draws

Kind = Literal[
    "location", "shift", "spread", "skew", "tails", "q25", "q50", "q75", "low tail", "high tail",
    "chain", "extreme", "support", "correlation", "probability", "class probability",
]  # fmt: skip

KINDS: tuple[Kind, ...] = ("location", "spread", "skew", "tails", "q25", "q50", "q75")
"""The functions of `functions`, in their order."""
_QUARTILES = np.array([0.25, 0.5, 0.75])
TAIL = 0.025
"""Probability of either tail whose visits are counted."""

# Change of the average of the first two polynomials when a normal law is shifted by one standard
# deviation, or widened by a part of it, for small shifts and parts.
PER_SHIFT = float(np.sqrt(3 / np.pi))
PER_SPREAD = float(np.sqrt(15) / np.pi)
PER = np.array([PER_SHIFT, PER_SPREAD, *np.full(5, np.nan)])
"""What turns averages of the functions into effects."""
LEAST_IN_CHAIN = 20.0
"""Effective draws in each chain below which its autocorrelation is not known well enough to tell
chains apart: at 8 x 25 draws of AR(0.95) 6 % were told apart at a level of 0.1 %."""
_HIGHER = 1.5  # variance that higher degrees may have, in that of the first, in a test of a shift
TINY = float(np.finfo(float).tiny)
"""The least p value, for which there is a normal quantile."""


@stored
@dataclass(frozen=True)
class Test:
    """One function of one scalar.

    Attributes
    ----------
    label : str
        The scalar, such as ``w[age]``.
    kind : str
        What the function sees: ``location``, ``spread``, ``skew``, ``tails``; ``shift``, what all
        of these say of one; ``q25``, ``q50``, ``q75``; ``low tail``, ``high tail``; ``chain``, that
        chains differ; ``extreme``, the draw that is farthest out; ``support``, that values of a
        variable are impossible; ``correlation`` of two scalars; ``probability`` of a nominal
        value; ``class probability`` of a row.
    z : float
        Discrepancy in Monte-Carlo standard errors; of tails and chains, the standard normal
        quantile that is as improbable.
    ess : float
        Effective number of draws for this function.
    p : float
        Two-sided probability of a larger discrepancy under correct draws.
    effect : float
        Discrepancy of a location or a shift in posterior standard deviations, of a spread as a part
        of it, of a correlation as its difference, of an extreme the draw itself; else NaN.
    chain : int or None
        The chain that is farthest from the others, where chains differ.
    draws : int or None
        How many draws are impossible, or as far out as no draw should be.
    """

    label: str
    kind: Kind
    z: AnyFloat
    ess: AnyFloat
    p: float
    effect: AnyFloat = float("nan")
    chain: int | None = None
    draws: int | None = None

    __test__ = False  # no test of pytest's

    @classmethod
    def _from_file(cls, **fields: Any) -> Self:
        """Return a test whose numbers are possible."""
        made = cls(**fields)
        if not (0 <= made.p <= 1 and made.ess >= 0) or np.isnan(made.z):
            raise DataError(
                f"p, ess, z: p must be between 0 and 1, ess not negative, z a number; got {made}."
            )
        for number in (made.chain, made.draws):
            if number is not None and (type(number) is not int or number < 0):
                raise DataError(f"chain, draws: must be whole numbers; got {number}.")
        return made


_WORDS = {
    "q25": "25 % quantile",
    "q50": "median",
    "q75": "75 % quantile",
    "low tail": "lower tail",
    "high tail": "upper tail",
    "chain": "difference of chains",
    "correlation": "rank correlation",
    "class probability": "probability",
    "probability": "frequency",
}


def name_of(test: Test) -> str:
    """Say what a test looks at."""
    return _WORDS.get(test.kind, test.kind)


def largest(found: Iterable[Test]) -> dict[str, float]:
    """Return the largest discrepancy of each scalar, in standard errors."""
    worst: dict[str, float] = {}
    for test in found:
        worst[test.label] = max(worst.get(test.label, 0.0), test.z, key=abs)
    return worst


def polynomials(u: Array) -> Array:
    """Return the four polynomials along a new first axis, of mean zero and variance one."""
    t = 2 * np.asarray(u) - 1
    square = t * t
    return np.stack(
        [
            np.sqrt(3) * t,
            np.sqrt(5) / 2 * (3 * square - 1),
            np.sqrt(7) / 2 * t * (5 * square - 3),
            3 / 8 * ((35 * square - 30) * square + 3),
        ]
    )


def functions(u: Array) -> Array:
    """Return all functions but those of tails along a new first axis, of variance one."""
    q = _QUARTILES.reshape(-1, *np.ones(np.ndim(u), dtype=int))
    return np.concatenate([polynomials(u), ((u <= q) - q) / np.sqrt(q * (1 - q))])


def slopes(x: Array, u: Array) -> Array:
    r"""Return how fast the means of the polynomials rise as all draws are shifted, (4, scalar).

    Shifted by :math:`h`, the mean of :math:`f(F(x))` rises by :math:`h \int F'(x) \, df(F(x))`; the
    integral is a sum over gaps between quantiles x and their probabilities u, (scalar, point).
    """
    gaps = np.diff(x)
    with np.errstate(over="ignore", invalid="ignore"):  # of gaps too small; told by the result
        density = np.divide(np.diff(u), gaps, out=np.zeros_like(gaps), where=gaps > 0)
        rates: Array = (density * np.diff(polynomials(u))).sum(-1)
    return rates


def score_tests(
    labels: list[str], u: Array, reference: float = np.inf, rates: Array | None = None
) -> list[Test]:
    """Return all tests of scalars with transforms u of shape (scalar, chain, draw).

    `reference` independent draws stand for the law, whose noise counts too. `rates` are `slopes`,
    NaN or zero of what cannot be shifted, such as a count.
    """
    slope = np.zeros((4, len(labels))) if rates is None else rates

    def scores(part: slice) -> list[Test]:
        return _scores(labels[part], u[part], reference, slope[:, part])

    every = threads.gathered(scores, threads.blocks(u, least=1), u.size)
    return [test for some in every for test in some]


def tests(
    labels: Sequence[str],
    kinds: Sequence[Kind],
    z: Array,
    ess: Array,
    freedom: Array,
    effect: Array,
) -> list[Test]:
    """Return tests of averages that follow a t law, of at least one degree of freedom."""
    p = 2 * stdtr(np.maximum(freedom, 1), -np.abs(z))
    columns = (np.asarray(values).tolist() for values in (z, ess, p, effect))
    return [Test(*row) for row in zip(labels, kinds, *columns, strict=True)]


def _scores(labels: list[str], u: Array, reference: float, rates: Array) -> list[Test]:
    moving = functions(u)
    number, freedom = effective_draws(moving)
    means = moving.mean((-2, -1))
    z = means / np.sqrt(1 / number + 1 / reference)
    columns = (x.T.ravel() for x in (z, number, freedom, means / PER[:, None]))
    names = [label for label in labels for _ in KINDS]
    found = tests(names, KINDS * len(labels), *columns)
    found += _shifts(labels, moving[:4], number[0], reference, rates)
    found += _tails(labels, u, number[1], reference)
    return found + chain_tests(labels, moving[:2])


def _shifts(
    labels: list[str], moving: Array, number: Array, reference: float, rates: Array
) -> list[Test]:
    """Test the combination of polynomials that a shift moves by most standard errors."""
    can = np.flatnonzero(np.isfinite(rates).all(0) & (rates[0] > 0))
    if not can.size:
        return []
    rates = rates[:, can] / rates[0, can]  # a shift of one moves the first polynomial by one
    weights = rates / _noise(number[can], moving[0, 0].size, reference)
    weights /= weights[0]
    higher = (weights[1:] ** 2).sum(0)
    weights[1:] *= np.sqrt(_HIGHER / np.maximum(higher, _HIGHER))
    weights /= np.sqrt((weights**2).sum(0))
    combined = np.einsum("ks,kscd->scd", weights, moving[:, can])
    ess, freedom = effective_draws(combined)
    means = combined.mean((-2, -1))
    z = means / np.sqrt(1 / ess + 1 / reference)
    effect = means / (weights * rates).sum(0) / PER_SHIFT
    return tests([labels[i] for i in can], ["shift"] * len(can), z, ess, freedom, effect)


def _noise(number: Array, draws: int, reference: float) -> Array:
    """Return about the variances of the polynomials' means, from the first one's effective number.

    As of a Gaussian chain: what has an autocorrelation of r in the first degree has about r to the
    power k in degree k. Effective numbers of their own would be noisier weights, and those that
    come out too large would count most.
    """
    share = np.minimum(number / draws, 1.0)
    memory = ((1 - share) / (1 + share)) ** np.arange(1, 5)[:, None]
    return (1 + memory) / (1 - memory) / draws + 1 / reference


def _tails(labels: list[str], u: Array, number: Array, reference: float) -> list[Test]:
    """Judge visits of both tails; a tail that was never visited has no effective number itself."""
    visits = np.stack([u <= TAIL, u >= 1 - TAIL]).astype(float)
    seen = np.ptp(visits, axis=(-2, -1)) > 0
    own = np.where(seen, effective_draws(visits).number, np.inf)
    number = np.minimum(own, number)
    number = 1 / (1 / number + 1 / reference)
    expected = number * TAIL / (1 - TAIL)  # visits of so many clusters have the right variance
    ratio = visits.mean((-2, -1)) / TAIL
    few = gammaincc(expected * ratio + 1, expected)
    many = np.where(ratio > 0, gammaincc(expected, expected * ratio), 1.0)
    p = np.clip(2 * np.minimum(few, many), TINY, 1.0)
    z = ndtri(p / 2) * np.where(many < few, -1, 1) + 0.0
    kinds: tuple[Kind, Kind] = ("low tail", "high tail")
    return [
        Test(label, kind, float(z[k, i]), float(number[k, i]), float(p[k, i]))
        for i, label in enumerate(labels)
        for k, kind in enumerate(kinds)
    ]


def chain_tests(labels: list[str], moving: Array) -> list[Test]:
    """Test whether chains differ by more than their own autocorrelation explains.

    Of functions of variance one, (function, scalar, chain, draw). With fewer than 20 effective
    draws in each chain, nothing is found.
    """
    chains = moving.shape[-2]
    if chains == 1:
        return []
    number, freedom = effective_draws(moving, between=False)
    means = moving.mean(-1)
    apart = means - means.mean(-1, keepdims=True)
    within = number / chains
    size = within * (apart**2).sum(-1) / (chains - 1)
    p = np.maximum(fdtrc(chains - 1, np.maximum(freedom, 1), size), TINY)
    p = np.where(within >= LEAST_IN_CHAIN, p, 1.0)
    best = p.argmin(0)[None]  # of location and spread
    one = np.arange(len(labels))
    chance = np.minimum(1.0, len(moving) * np.take_along_axis(p, best, 0)[0])
    ess = np.take_along_axis(number, best, 0)[0]
    gaps = apart[best[0], one]
    chain = np.abs(gaps).argmax(-1)
    unit = np.array([PER_SHIFT, PER_SPREAD])[best[0]]
    effect = gaps[one, chain] * chains / (chains - 1) / unit
    z = ndtri(chance / 2) * np.where(effect > 0, -1, 1) + 0.0
    columns = (values.tolist() for values in (z, ess, chance, effect, chain))
    return [Test(label, "chain", *row) for label, *row in zip(labels, *columns, strict=True)]
