"""Draws against an exact law: every scalar, and how scalars hang together, in standard errors.

Each scalar is put through its own distribution function, and the result, which is uniform if the
draws are right, through functions whose exact mean and variance are known (`scores`). How several
scalars vary together is seen among exact draws (`joint`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr
from scipy.stats.distributions import rv_frozen

from bayesmodels.belief.protocol import Belief
from bayesmodels.belief.reading import levels, summary_or_intervals
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.convergence import convergence
from bayesmodels.numerics.empirical_law import EmpiricalLaw
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.bounds import PROB, Bounds, Known, bounds
from bayesmodels.referee.scalars import LawDraws, Scalars, law_draws
from bayesmodels.referee.tests import Test, frequencies, largest, score_tests
from bayesmodels.referee.tests.dependence import joint_tests
from bayesmodels.referee.tests.extremes import extreme_tests, outermost, tail_probabilities
from bayesmodels.referee.tests.shift import slopes

if TYPE_CHECKING:
    import pandas as pd


_KNOTS = 256
_DRAWN = 1024
_LEVELS = ndtr(np.linspace(-3.7, 3.7, 129))


def one_sample(
    law: Belief, draws: LawDraws, rng: np.random.Generator
) -> tuple[list[Test], pd.DataFrame, Bounds | None]:
    """Return all tests, the table, and bounds; None of these where there are only names."""
    every = draws.scalars
    x = np.array([x for *_, x in every])
    pieces: list[Callable[[], Any]] = [
        lambda: one_sample_tests(law, draws, rng),
        lambda: _sampled(x),  # which does not ask the law: that may not run twice at once
    ]
    result, columns = threads.gathered(lambda piece: piece(), pieces, x.size)
    return result, _table(law, every, columns, result), one_sample_bounds(law, every)


def one_sample_bounds(law: Belief, every: Scalars) -> Bounds | None:
    """Return how far means, deviations and intervals of scalars may be off."""
    scalars = [scalar for scalar in every if scalar[1] not in levels(law)]
    return bounds(np.array([x for *_, x in scalars]), _known(law, scalars)) if scalars else None


def one_sample_tests(
    law: Belief, draws: Any, rng: np.random.Generator, *, joint: bool = True
) -> list[Test]:
    """Return all tests: of nominal variables, other scalars, and their dependence."""
    draws = law_draws(law, draws)
    nominal, every = levels(law), draws.scalars
    result: list[Test] = []
    for name in nominal:
        mass = np.asarray(law.marginals()[name].mean())
        result += frequencies.judge(
            [(label, mass[at], x) for label, n, at, x in every if n == name]
        )
    labels: list[str] = []
    u: list[Array] = []
    rates: list[Array] = []
    extremes: list[Callable[[], list[Test]]] = []
    twins: dict[str, str] = {}
    for name, marginal in law.marginals().items():
        scalars = [(label, at, x) for label, n, at, x in every if n == name and name not in nominal]
        if not scalars:
            continue
        shape = np.shape(marginal.std())
        x: Any = np.moveaxis(np.array([x for _, _, x in scalars]), 0, -1)
        x = x.reshape(*x.shape[:-1], *shape)
        own: Any = uniform(marginal, x, rng)
        seen: dict[tuple[bytes, str], str] = {}
        mean, sd = np.broadcast_arrays(marginal.mean(), marginal.std())
        places: list[tuple[int, ...]] = []
        names: list[str] = []
        kept: list[Array] = []
        for label, at, values in scalars:
            first = seen.setdefault((values.tobytes(), f"{mean[at]} {sd[at]}"), label)
            if first != label:  # the other half of a symmetric matrix
                twins[label] = first
                continue
            names.append(label)
            places.append(at)
            kept.append(values)
        labels += names
        last = np.ascontiguousarray(np.moveaxis(own, (0, 1), (-2, -1)))
        u.append(np.array([last[at] for at in places]))
        rates.append(_slopes(marginal, x, own, places))
        each = np.array(kept)
        extremes.append(partial(_extremes, marginal, names, x, each, u[-1], places))
    if not labels:
        return result
    transforms = np.concatenate(u)
    if (unknown := np.isnan(transforms).any((1, 2))).any():
        raise DataError(
            f"law: the distribution function of {labels[int(unknown.argmax())]} must be a number "
            "at every draw; at some it is not. Check the law's parameters."
        )
    reference = getattr(law, "reference", np.inf)  # exact draws that stand for a law without form
    pieces: list[Callable[[], list[Test]]] = [
        lambda: joint_tests(law, draws, labels, transforms, rng) if joint else [],
        lambda: [test for judge in extremes for test in judge()],
        lambda: score_tests(labels, transforms, reference, np.concatenate(rates, axis=-1)),
    ]
    # Of the first, much is done by one thread.
    several, ends, single = threads.gathered(lambda piece: piece(), pieces, transforms.size)
    single = single + ends
    for label, first in twins.items():
        single += [replace(test, label=label) for test in single if test.label == first]
    return result + single + several


def _extremes(
    law: Any, names: list[str], x: Any, each: Array, u: Array, places: list[tuple[int, ...]]
) -> list[Test]:
    """Test the outermost draws, `each` and their transforms u of shape (scalar, chain, draw)."""
    flat, uniform = (v.reshape(len(places), -1) for v in (each, u))
    if isinstance(law, EmpiricalLaw):
        others = np.array([law.entry(at).sample for at in places])
        return extreme_tests(names, flat, uniform, *outermost(flat, others))
    with np.errstate(all="ignore"):
        below, above = (
            np.array([part[at] for at in places]) for part in tail_probabilities(law, x)
        )
    return extreme_tests(names, flat, uniform, below, above)


def _slopes(law: Any, x: Any, u: Any, places: list[tuple[int, ...]]) -> Array:
    """Return `slopes` of elements of a law, of shape (4, element); zero of what cannot be shifted.

    The law's own quantiles are quick where SciPy has them; of others, draws and their transforms
    are points of the distribution function.
    """
    if isinstance(law, EmpiricalLaw) or _is_discrete(law):
        return np.zeros((4, len(places)))
    if isinstance(law, rv_frozen):
        p = _LEVELS.reshape(-1, *np.ones(np.ndim(law.std()), dtype=int))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # SciPy's, of quantiles it cannot find
            x = np.concatenate(threads.gathered(law.ppf, np.array_split(p, 8), u.size))
        u = np.broadcast_to(p, x.shape)
    else:
        some = np.linspace(0, x.shape[0] * x.shape[1] - 1, _DRAWN).astype(int)
        x, u = (np.sort(v.reshape(-1, *v.shape[2:])[some], axis=0) for v in (x, u))
    return slopes(*(np.array([v[:, *at] for at in places]) for v in (x, u)))


def _is_discrete(law: Any) -> bool:
    return isinstance(getattr(law, "dist", None), stats.rv_discrete)


def uniform(law: Any, x: Array, rng: np.random.Generator) -> Array:
    """Return the probability-integral transform of draws, of shape (chain, draw, ...)."""
    if isinstance(law, EmpiricalLaw):
        return law.randomised(x, rng)
    if _is_discrete(law):
        # A random probability between those below x and up to x.
        below = np.asarray(law.cdf(x - 1))
        return below + rng.random(x.shape) * np.asarray(law.pmf(x))
    if isinstance(law, rv_frozen):  # SciPy's, which are fast
        return np.array(threads.gathered(law.cdf, x, x.size))
    # Others may need a quadrature a value: a few of the draws, and a monotone curve through them.
    flat = np.sort(x.reshape(-1, *x.shape[2:]), axis=0)
    some = flat[np.linspace(0, len(flat) - 1, min(_KNOTS, len(flat))).round().astype(int)]
    probability = np.asarray(law.cdf(some))
    result = np.empty_like(x)
    for at in np.ndindex(x.shape[2:]):
        knots, which = np.unique(some[(slice(None), *at)], return_index=True)
        known = probability[(which, *at)]
        with np.errstate(all="ignore"):  # of slopes that underflow, far out
            result[(..., *at)] = (
                PchipInterpolator(knots, known)(x[(..., *at)]) if len(knots) > 1 else known[0]
            )
    return result


def _table(
    law: Belief, every: Scalars, columns: dict[str, Array], found: list[Test]
) -> pd.DataFrame:
    """Return exact beside sampled values, one row a scalar.

    Columns are ``mean``, ``sd``, interval ends (exact), the same with the prefix ``sampled_``,
    ``ess_bulk``, ``ess_tail``, ``r_hat``, ``mcse_mean`` and ``z``, the largest discrepancy of the
    scalar in standard errors.
    """
    import pandas as pd

    worst, labels = largest(found), [label for label, *_ in every]
    z = np.array([worst[label] for label in labels])
    return summary_or_intervals(law, indicators=True).join(
        pd.DataFrame({**columns, "z": z}, index=labels)
    )


def _sampled(x: Array) -> dict[str, Array]:
    """Return the table's columns that draws (scalar, chain, draw) give without the law."""
    pieces = list(threads.blocks(x, least=1))
    each = threads.gathered(lambda piece: moments("sampled", x[piece]), pieces, x.size)
    error = threads.gathered(lambda piece: _error(x[piece]), pieces, x.size)
    return {
        **{name: np.concatenate([part[name] for part in each]) for name in each[0]},
        **convergence(x)._asdict(),
        "mcse_mean": np.concatenate(error),
    }


def _error(x: Array) -> Array:
    """Return standard errors of the means of draws (scalar, chain, draw)."""
    with np.errstate(all="ignore"):
        ess = effective_draws(x, most=float(np.log10(x[0].size))).number
        return np.where(np.ptp(x, axis=(1, 2)) > 0, x.std((1, 2), ddof=1) / np.sqrt(ess), 0.0)


def moments(which: str, x: Array) -> dict[str, Array]:
    """Return mean, standard deviation and interval of draws (scalar, chain, draw)."""
    with np.errstate(all="ignore"):
        low, high = np.quantile(x, [0.055, 0.945], axis=(1, 2))
        sd = x.std((1, 2), ddof=1)
        result = {"mean": x.mean((1, 2)), "sd": sd, "eti89_lb": low, "eti89_ub": high}
    return {f"{which}_{name}": value for name, value in result.items()}


def _known(law: Belief, every: Scalars) -> Known:
    """Return the law's means, standard deviations, kurtoses and interval ends of scalars."""
    rows, marginals = {}, law.marginals()
    for name in {name for _, name, _, _ in every}:
        marginal = marginals[name]
        with np.errstate(all="ignore"):
            sd = np.asarray(marginal.std())
            mean = np.where(np.isfinite(sd), marginal.mean(), np.nan)
            ends = [marginal.ppf(0.5 - PROB / 2), marginal.isf(0.5 - PROB / 2)]
            rows[name] = np.broadcast_arrays(mean, sd, marginal.stats("k"), *ends)
    values = np.array([[float(row[at]) for row in rows[name]] for _, name, at, _ in every])
    mean, sd, kurtosis, *ends = values.T
    return Known(mean, sd, kurtosis, np.array(ends), getattr(law, "reference", np.inf))
