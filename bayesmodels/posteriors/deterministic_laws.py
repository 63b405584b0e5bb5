"""What is known of a model's Deterministics, given the posterior of its free variables.

What is linear in normal elements is normal, and what is linear in one element has its law; of a sum
of independent elements mean and deviation are known. Exponentials of what is normal are lognormal.
All else is read off exact draws, but for moments that their tails may not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
from pytensor.configdefaults import config
from pytensor.graph.replace import clone_replace
from scipy.sparse import csr_array
from scipy.stats import lognorm

from bayesmodels.belief import intervals
from bayesmodels.belief.intervals import CiKind
from bayesmodels.belief.reading import missing
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import element
from bayesmodels.posteriors.conditional import batched
from bayesmodels.posteriors.density import frozen, in_double
from bayesmodels.posteriors.families import (
    ElementLaw,
    Factor,
    Gaussian,
    Independent,
    ScaledGaussian,
)

DRAWS = 20_000
_MOST, _MORE = 1000, 20  # elements that something may be linear in; rows beside theirs
_AT_ONCE = 500  # numbers that are looked at together
_RELIABLE = 0.7  # largest k-hat
_FAR = 1e8  # distances of quartiles from the median, where tails are looked at
_OFF = 1e-9  # of the spread: what is linear may be off by
ALL_DRAWN = f"from {DRAWS:,} draws"
ENDS_DRAWN = f"interval from {DRAWS:,} draws"
"""What is said of numbers that are read off draws, and where mean and deviation are not."""


@dataclass(frozen=True, eq=False)
class Known:
    """Means, deviations and interval ends of elements, and of each whence it is, if not exact."""

    mean: Array
    sd: Array
    low: Array
    high: Array
    notes: Array


def known(
    model: pm.Model,
    draws: dict[str, Any],
    ci: tuple[float, CiKind],
    x: Array | None = None,
    factors: Sequence[Factor] = (),
) -> dict[str, Known]:
    """Return what is known of each Deterministic, from exact draws of all free variables.

    With the elements `x` of the same draws, one a row, and the `factors` that are their laws, by
    these where there is a linear function.
    """
    values = _values(model, draws)
    return {name: of_draws(value, ci, x, factors) for name, value in values.items()}


def of_draws(
    value: Array, ci: tuple[float, CiKind], x: Array | None = None, factors: Sequence[Factor] = ()
) -> Known:
    """Return what is known of an array, from draws of it along a first axis, and as in `known`."""
    flat = value.reshape(len(value), -1)
    size = flat.shape[1]
    low, high = intervals.of_draws(flat, *ci)
    moments = Known(flat.mean(0), flat.std(0), low, high, np.full(size, ALL_DRAWN, dtype=object))
    if x is not None and size:
        _by_laws(moments, flat, x, factors, lambda law: intervals.ends(law, *ci))
    for k in np.flatnonzero(moments.notes == ALL_DRAWN):
        _without_heavy_tails(moments, int(k), flat[:, k])
    return Known(*(part.reshape(value.shape[1:]) for part in vars(moments).values()))


def _values(model: pm.Model, draws: dict[str, Any]) -> dict[str, Array]:
    """Return the Deterministics at draws, along a first axis."""
    model = frozen(model)
    free = {rv: rv.type(rv.name) for rv in model.free_RVs}
    seen: Any = {rv: model.rvs_to_values[rv] for rv in model.observed_RVs}
    with config.change_flags(floatX="float64", traceback__limit=0):
        expressions = clone_replace(list(model.deterministics), free | seen, rebuild_strict=False)
        run = batched(list(free.values()), in_double(expressions, {}))
    result = run(draws)
    number = len(next(iter(draws.values())))
    return {
        v.name: np.broadcast_to(y, (number, *y.shape[y.ndim - v.type.ndim :])).astype(float)
        for v, y in zip(model.deterministics, result, strict=True)
    }


_Ends = Callable[[Any], tuple[Array, Array]]


def _by_laws(moments: Known, y: Array, x: Array, factors: Sequence[Factor], ends: _Ends) -> None:
    """Write down what laws say of elements that are linear in some others, or whose logs are."""
    number = x.shape[1] + _MORE
    if number > min(len(x) // 2, _MOST):
        return
    centre, spread = x.mean(0), x.std(0)
    unit = np.where(spread > 0, spread, 1.0)
    design = np.concatenate([np.ones((len(x), 1)), (x - centre) / unit], 1)
    for of, write in ((np.asarray, _of_row), (np.log, _of_exponential)):
        left = np.flatnonzero(moments.notes == ALL_DRAWN)
        for at in range(0, len(left), _AT_ONCE):
            columns = left[at : at + _AT_ONCE]
            with np.errstate(divide="ignore", invalid="ignore"):
                values = of(y[:, columns])
                first = np.nan_to_num(values[:number], posinf=0.0, neginf=0.0)
                weights = np.linalg.lstsq(design[:number], first)[0]
                size = np.where((sd := values.std(0)) > 0, sd, 1.0)
                off = np.abs(design @ weights - values)
                # At all draws: a few do not see an end or a kink.
                linear = (off <= _OFF * (size + np.abs(values))).all(0)
            for i in np.flatnonzero(linear):
                row = np.where(np.abs(weights[1:, i]) > _OFF * size[i], weights[1:, i] / unit, 0.0)
                k = int(columns[i])
                write(moments, k, weights[0, i] - row @ centre, row, factors, ends)


def _of_row(
    moments: Known, k: int, constant: float, row: Array, factors: Sequence[Factor], ends: _Ends
) -> None:
    """Write down the law of a constant and a sum of elements, each with a factor."""
    moving = [f for f in factors if row[f.elements].any()]
    law, scale = _of_sum(row, moving)
    if law is not None:
        mean, sd = constant + scale * law.mean(), np.abs(scale) * law.std()
        low, high = (constant + scale * end for end in ends(law)[:: 1 if scale > 0 else -1])
        _write(moments, k, (mean, sd, low, high, ""))
    elif not moving:
        _write(moments, k, (constant, 0.0, constant, constant, ""))
    elif all(isinstance(f, Independent) and not f.family.adds_up for f in moving):
        parts = [(row[one.elements], one.law) for f in moving for one in f.laws()]
        mean = constant + sum(float(w @ law.mean()) for w, law in parts)
        sd = np.sqrt(sum(float(w**2 @ law.var()) for w, law in parts))
        _write(moments, k, (mean, sd, moments.low[k], moments.high[k], ENDS_DRAWN))


def _of_exponential(
    moments: Known, k: int, constant: float, row: Array, factors: Sequence[Factor], ends: _Ends
) -> None:
    """Write down the law of the exponential of a normal sum; or which moments another has not."""
    moving = [f for f in factors if row[f.elements].any()]
    if moving and all(isinstance(f, Gaussian) for f in moving):
        law, scale = _of_sum(row, moving)
        middle, sd = constant + scale * law.mean(), np.abs(scale) * law.std()
        mean = np.exp(middle + sd**2 / 2)
        low, high = ends(lognorm(sd, scale=np.exp(middle)))
        _write(moments, k, (mean, mean * np.sqrt(np.expm1(sd**2)), low, high, ""))
        return
    # A moment exists where the exponential of each element grows more slowly than its tail falls.
    for place in np.flatnonzero(row):
        law, scale = _of_sum(np.where(np.arange(len(row)) == place, row, 0.0), moving)
        far = law.ppf(0.5) + np.sign(scale) * _FAR * (law.ppf(0.75) - law.ppf(0.25))
        with np.errstate(all="ignore"):
            both = scale * far, law.logpdf(far)
        grows, falls = (float(np.ravel(x)[0]) for x in both)
        for power, numbers in ((1, moments.mean), (2, moments.sd)):
            if power * grows + falls > 0:
                numbers[k] = np.nan


def _of_sum(row: Array, moving: Sequence[Factor]) -> tuple[Any, float]:
    """Return the law of a sum of elements with factors, and a factor of it; none if not known."""
    places = np.flatnonzero(row)
    if len(places) == 1:
        laws = [one for f in moving for one in f.laws()]
        (one,) = [one for one in laws if places[0] in one.elements]
        at = int(np.flatnonzero(one.elements == places[0])[0])
        law = element(one.law, tuple(map(int, np.unravel_index(at, np.shape(one.law.std())))))
        return law, float(row[places[0]])
    normal = _normal(row, moving) if moving else None
    return (normal.law if normal else None), 1.0


def _without_heavy_tails(moments: Known, k: int, y: Array) -> None:
    """Set moments to NaN that draws can't estimate, by Pareto's k-hat of their tails.

    A mean needs k-hat below 0.7 (Vehtari, Simpson, Gelman, Yao and Gabry, 2024, *Pareto smoothed
    importance sampling*), a deviation as much of the squares, whose k is twice that.
    """
    from arviz_stats.base.array import array_stats

    heavy = np.inf
    if np.isfinite(y).all():
        try:
            heavy = array_stats.pareto_khat(y[None], r_eff=1.0, tail="both")
        except ValueError:  # all that is far out is one value: such a tail ends there
            return
    mean, sd = (
        x if heavy < _RELIABLE / power else np.nan
        for power, x in ((1, moments.mean[k]), (2, moments.sd[k]))
    )
    if gone := missing(mean, sd):
        _write(moments, k, (mean, sd, moments.low[k], moments.high[k], f"{ALL_DRAWN}; {gone}"))


def _write(moments: Known, k: int, numbers: tuple[Any, ...]) -> None:
    for column, number in zip(vars(moments).values(), numbers, strict=True):
        column[k] = number if isinstance(number, str) else float(np.ravel(number)[0])


def _normal(row: Array, laws: Sequence[Factor]) -> ElementLaw | None:
    """Return the law of a sum of jointly normal elements, or of those with one unknown scale."""
    one = np.zeros(1, dtype=int)
    if isinstance(laws[0], ScaledGaussian) and len(laws) == 1 and not row[laws[0].elements[-1]]:
        normal = laws[0].gaussian
        sums = normal.combined(one, csr_array(row[None, normal.elements]))
        scale = laws[0].elements[-1:]
        return ScaledGaussian(np.append(one, scale), sums, laws[0].gamma).laws()[0]
    if not all(isinstance(f, Gaussian) for f in laws):
        return None
    parts = [f.combined(one, csr_array(row[None, f.elements])) for f in laws]  # type: ignore[attr-defined]
    mean, var = (sum(part.location for part in parts), sum(1 / part.precision for part in parts))
    return Gaussian.independent(one, mean, 1 / var).laws()[0]
