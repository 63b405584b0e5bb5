"""Draws against an exact law: every scalar, and how scalars hang together, in standard errors.

Each scalar is put through its own distribution function, and the result, which is uniform if the
draws are right, through functions whose exact mean and variance are known (`scores`). How several
scalars vary together is seen among exact draws (`joint`).

Of a nominal variable, each value's probability is compared with the frequency of visits. Among n
effective draws a rare value is visited a few times or never, where no normal law holds: the tails
are those of the binomial law, continued to an effective number that is not whole.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from scipy.interpolate import PchipInterpolator
from scipy.special import betainc, betaincc, ndtr
from scipy.stats.distributions import rv_frozen

from bayesmodels.belief.protocol import Belief
from bayesmodels.belief.reading import levels, summary_or_intervals
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.empirical_law import EmpiricalLaw
from bayesmodels.referee.dependence import joint_tests
from bayesmodels.referee.pit import Test, largest, score_tests, slopes
from bayesmodels.referee.scalars import scalar_draws

if TYPE_CHECKING:
    import pandas as pd


_TINY = float(np.finfo(float).tiny)
_KNOTS = 256
_DRAWN = 1024
_LEVELS = ndtr(np.linspace(-3.7, 3.7, 129))


def one_sample_tests(
    law: Belief, draws: Any, rng: np.random.Generator, *, joint: bool = True
) -> list[Test]:
    """Return all tests: of nominal variables, of other scalars, and of scalars together."""
    nominal = levels(law)
    every = scalar_draws(law, draws)
    found: list[Test] = []
    for name in nominal:
        mass = np.asarray(law.mean()[name])
        found += _frequencies([(label, mass[at], x) for label, n, at, x in every if n == name])
    labels: list[str] = []
    u: list[Any] = []
    rates: list[Array] = []
    twins: dict[str, str] = {}
    for name, marginal in law.marginals().items():
        own = [(label, at, x) for label, n, at, x in every if n == name and name not in nominal]
        if not own:
            continue
        shape = np.shape(marginal.std())
        x: Any = np.moveaxis(np.array([x for _, _, x in own]), 0, -1)
        x = x.reshape(*x.shape[:-1], *shape)
        uniform: Any = _uniform(marginal, x, rng)
        seen: dict[tuple[bytes, str], str] = {}
        mean, sd = np.broadcast_arrays(marginal.mean(), marginal.std())
        places: list[tuple[int, ...]] = []
        for label, at, values in own:
            first = seen.setdefault((values.tobytes(), f"{mean[at]} {sd[at]}"), label)
            if first != label:  # the other half of a symmetric matrix
                twins[label] = first
                continue
            labels.append(label)
            places.append(at)
        u += [uniform[..., *at] for at in places]
        rates.append(_slopes(marginal, x, uniform, places))
    if not labels:
        return found
    transforms = np.array(u)
    if (unknown := np.isnan(transforms).any((1, 2))).any():
        raise DataError(
            f"law: the distribution function of {labels[int(unknown.argmax())]} must be a number "
            "at every draw; at some it is not. Check the law's parameters."
        )
    reference = getattr(law, "reference", np.inf)  # exact draws that stand for a law without form
    alone = score_tests(labels, transforms, reference, np.concatenate(rates, axis=-1))
    for label, first in twins.items():
        alone += [replace(test, label=label) for test in alone if test.label == first]
    together = joint_tests(law, draws, labels, transforms, rng) if joint else []
    return found + alone + together


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
            x = np.asarray(law.ppf(p))
        u = np.broadcast_to(p, x.shape)
    else:
        some = np.linspace(0, x.shape[0] * x.shape[1] - 1, _DRAWN).astype(int)
        x, u = (np.sort(v.reshape(-1, *v.shape[2:])[some], axis=0) for v in (x, u))
    return slopes(*(np.array([v[:, *at] for at in places]) for v in (x, u)))


def _is_discrete(law: Any) -> bool:
    return isinstance(getattr(law, "dist", None), stats.rv_discrete)


def _uniform(law: Any, x: Array, rng: np.random.Generator) -> Array:
    """Return the probability-integral transform of draws, of shape (chain, draw, ...)."""
    if isinstance(law, EmpiricalLaw):
        return law.randomised(x, rng)
    if _is_discrete(law):
        # A random probability between those below x and up to x.
        below = np.asarray(law.cdf(x - 1))
        return below + rng.random(x.shape) * np.asarray(law.pmf(x))
    if isinstance(law, rv_frozen):  # SciPy's, which are fast
        return np.asarray(law.cdf(x))
    # Others may need a quadrature a value: a few of the draws, and a monotone curve through them.
    flat = np.sort(x.reshape(-1, *x.shape[2:]), axis=0)
    some = flat[np.linspace(0, len(flat) - 1, min(_KNOTS, len(flat))).round().astype(int)]
    probability = np.asarray(law.cdf(some))
    result = np.empty_like(x)
    for at in np.ndindex(x.shape[2:]):
        knots, which = np.unique(some[(slice(None), *at)], return_index=True)
        known = probability[(which, *at)]
        result[(..., *at)] = (
            PchipInterpolator(knots, known)(x[(..., *at)]) if len(knots) > 1 else known[0]
        )
    return result


def _frequencies(every: list[tuple[str, float, Array]]) -> list[Test]:
    """Test how often each value was visited, of label, probability and indicator (chain, draw)."""
    from arviz_stats.sampling_diagnostics import ess

    known, variance = {}, {}
    for label, mass, x in every:
        if np.ptp(x) > 0 and mass * (1 - mass) > 0:
            known[label] = min(float(ess(x, method="mean")), x.size)
            variance[label] = mass * (1 - mass)
    # A few visits say little about their own effective size; what all visits say bounds it.
    noise = sum(variance[label] / known[label] for label in known)
    typical = sum(variance.values()) / noise if known else 1.0
    found = []
    for label, mass, x in every:
        sure = mass in (0, 1) and bool((x == mass).all())
        number = float(x.size) if sure else min(known.get(label, typical), typical)
        visits = float(x.mean()) * number
        few = 1.0 if visits >= number else float(betaincc(visits + 1, number - visits, mass))
        many = 1.0 if visits <= 0 else float(betainc(visits, number - visits + 1, mass))
        p = min(1.0, 2 * max(min(few, many), _TINY))
        z = float(stats.norm.isf(p / 2)) * (1 if many < few else -1) + 0.0  # not -0.0
        found.append(Test(label, "probability", z, number, p))
    return found


def one_sample_table(law: Belief, draws: Any, found: list[Test]) -> pd.DataFrame:
    """Return exact beside sampled values, one row a scalar.

    Columns are ``mean``, ``sd``, interval ends (exact), the same with the prefix ``sampled_``,
    ``ess_bulk``, ``ess_tail``, ``r_hat``, ``mcse_mean`` and ``z``, the largest discrepancy of the
    scalar in standard errors.
    """
    import pandas as pd
    from arviz_stats.sampling_diagnostics import mcse

    exact = summary_or_intervals(law)
    rows: dict[str, dict[str, float]] = {}
    twins: dict[bytes, dict[str, float]] = {}
    worst = largest(found)
    for label, _, _, x in scalar_draws(law, draws):
        if (known := twins.get(x.tobytes())) is not None:  # as above
            rows[label] = {**known, "z": worst[label]}
            continue
        twins[x.tobytes()] = rows[label] = {
            **moments("sampled", x),
            **mixing(x),
            "mcse_mean": float(mcse(x)) if np.ptp(x) > 0 else 0.0,
            "z": worst[label],
        }
    return exact.join(pd.DataFrame.from_dict(rows, orient="index"))


def moments(which: str, x: Array) -> dict[str, float]:
    """Return mean, standard deviation and interval of draws, named after them."""
    low, high = np.quantile(x, [0.055, 0.945])
    found = {"mean": x.mean(), "sd": x.std(ddof=1), "eti89_lb": low, "eti89_ub": high}
    return {f"{which}_{name}": value for name, value in found.items()}


def mixing(x: Array) -> dict[str, float]:
    """Return `ess_bulk`, `ess_tail` and `r_hat` of draws of the shape (chain, draw)."""
    from arviz_stats.sampling_diagnostics import ess

    return {
        "ess_bulk": float(ess(x)),
        "ess_tail": float(ess(x, method="tail", prob=(0.05, 0.95))),
        "r_hat": r_hat(x),
    }


def r_hat(x: Array) -> float:
    """Return R-hat of draws of the shape (chain, draw); NaN of one chain."""
    from arviz_stats.sampling_diagnostics import rhat

    if np.ptp(x) == 0:  # of a value never visited, or always, chains cannot say different things
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(rhat(x))
        # Two equally frequent values are as far from their median as each other: R-hat of spreads,
        # which is a part of the usual one, is zero by zero.
        return float(rhat(x, method="split")) if np.isnan(found) and len(x) > 1 else found
