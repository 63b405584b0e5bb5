"""The steps of EM: what is added up over rows, and what is made of the sums.

A pass over rows at given parameters ends in sums, which merge with ``+``; a step makes the next
parameters of them alone. So rows may be in memory, or be read again for every step. Parameters are
those of several starts side by side: by variable name, with an axis of starts in front.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
from scipy.special import xlogy

from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.parameters import variable as member
from bayesmodels.models.mixture.latent_rows import LatentClassModel, MixtureStatistic, shares
from bayesmodels.numerics import Array

Estimate = Literal["mle", "map"]
Point = dict[str, Array]
"""Parameters by variable name, with an axis of starts in front."""

_COLLAPSED = 1e-10  # part of a column's variance
_SUM = 1e-9  # what probabilities may miss of 1


def taken(point: Point, at: Any) -> Point:
    """Return the parameters of the starts at these places."""
    return {name: x[at] for name, x in point.items()}


@dataclass(frozen=True)
class Expected:
    """Sums over rows weighted by class probabilities; ``a + b`` merges disjoint sets of rows.

    Of each start: rows in each class, the statistic of each block, the log likelihood of the rows
    at the parameters that the parts come from, and the sum of the sizes of its terms, which bounds
    its rounding error. Numbers are counted from the `origins`, so that an offset costs no digits.
    """

    counts: Array
    blocks: tuple[Any, ...]
    origins: tuple[Any, ...]
    log_likelihood: Array
    sizes: Array

    def __add__(self, other: Expected) -> Expected:
        return Expected(
            self.counts + other.counts,
            tuple(a + b for a, b in zip(self.blocks, other.blocks, strict=True)),
            self.origins,
            self.log_likelihood + other.log_likelihood,
            self.sizes + other.sizes,
        )


def _sums(
    model: LatentClassModel, s: MixtureStatistic, parts: Array, logs: Array, at: Point | None
) -> Expected:
    """Return the sums of rows weighted by class probabilities `parts` (starts, class, n)."""
    weights = np.ascontiguousarray(parts) * s.weights
    starts, blocks, origins = {"start": tuple(range(len(weights)))}, [], []
    for belief, names, x in model.features_of(s):
        origins.append(at[names("mu")][0, 0] if at and "mu" in belief.dims else None)
        near = x if origins[-1] is None else x - origins[-1]
        blocks.append(belief.weighted_statistic(near, weights, {**starts, **belief.coords}))
    sizes = np.abs(logs) @ s.weights
    return Expected(weights.sum(-1), tuple(blocks), tuple(origins), logs @ s.weights, sizes)


def expected(model: LatentClassModel, s: MixtureStatistic, at: Point) -> Expected:
    """Return the sums weighted by class probabilities at given parameters."""
    s = _counting(s)
    parts, logs = shares(model.log_joint_of(s, at))
    return _sums(model, s, parts.swapaxes(-1, -2), logs, at)


def random(
    model: LatentClassModel, s: MixtureStatistic, starts: int, rng: np.random.Generator
) -> Expected:
    """Return the sums weighted by class probabilities that are drawn uniformly for each row."""
    allowed = model.allowed(s)
    parts = rng.standard_exponential((len(allowed), starts, allowed.shape[1]))
    parts *= allowed[:, None]
    parts /= parts.sum(-1, keepdims=True)
    logs = np.zeros((starts, len(allowed)))
    return _sums(model, s, np.moveaxis(parts, 0, -1), logs, None)


def _counting(s: MixtureStatistic) -> MixtureStatistic:
    """Return the rows that have a weight: others may be impossible."""
    return s if s.weights.all() else s.take(np.flatnonzero(s.weights))


@dataclass(frozen=True)
class Ends:
    """Sums over rows at the ends of several runs, the best first; ``a + b`` merges rows.

    `distances` holds the largest difference of a row's log density between every two runs, `gaps`
    between two classes of the best run. `counts` are that run's rows in each class, `entropy` that
    of the classes given the rows.
    """

    distances: Array
    counts: Array
    entropy: float
    gaps: Array

    def __add__(self, other: Ends) -> Ends:
        return Ends(
            np.maximum(self.distances, other.distances),
            self.counts + other.counts,
            self.entropy + other.entropy,
            np.maximum(self.gaps, other.gaps),
        )


def ends(model: LatentClassModel, s: MixtureStatistic, at: Point) -> Ends:
    """Return the distances of runs and of classes, and the counts and entropy of the best run."""
    s = _counting(s)
    parts, logs = shares(model.log_joint_of(s, at))
    best = parts[0]
    return Ends(
        _largest_gaps(logs.T),
        s.weights @ best,
        -float(s.weights @ xlogy(best, best).sum(-1)),
        _largest_gaps(model.log_densities(s, taken(at, slice(1)))[0]),
    )


def _largest_gaps(columns: Array) -> Array:
    """Return the largest absolute difference in a row between every two columns."""
    with np.errstate(invalid="ignore"):  # of what is impossible in both
        return np.stack(
            [
                np.abs(np.where(columns == x, 0.0, columns - x)).max(0, initial=0.0)
                for x in columns.T[:, :, None]
            ]
        )


@dataclass
class Run:
    """Where one start ended: `starts` says for how many starts it stands.

    It may have stopped by itself (`converged`), or where a class lost its spread (`collapsed`).
    """

    end: Point
    objective: float
    log_likelihood: float
    trace: Array
    converged: bool
    collapsed: bool
    starts: int = 1


class Steps:
    """The steps of a model that has met the axes of its rows."""

    def __init__(self, model: LatentClassModel, estimate: Estimate) -> None:
        self.model, self.features, self.estimate = model, model.parts()[1:], estimate
        self.with_prior = estimate == "map"
        for belief, names in model.parts() if self.with_prior else ():
            least = belief.least_pseudo_count
            if least < 1:
                raise PriorError(
                    f"{names(next(iter(belief.dims)))}: MAP needs pseudo-counts of at least 1, or "
                    f"the density has no bound on the border; got {least:g}. Use larger ones, or "
                    "estimate='mle'."
                )

    @property
    def free_parameters(self) -> int:
        """Number of parameters less constraints: probabilities of categories add up to 1."""
        return sum(
            prod(len(belief.coords[axis]) - (axis == "category") for axis in axes)
            for belief, _ in self.model.parts()
            for axes in belief.dims.values()
        )

    def numbers_a_row(self, starts: int) -> int:
        """Count the numbers that a pass over the data computes for each row."""
        cells = (prod(map(len, belief.coords.values())) for belief, _ in self.features)
        return max(starts * len(self.model.classes.alpha), *cells)

    def maximised(self, sums: Expected) -> Point:
        """Return the parameters that fit the sums best."""
        counts = sums.counts
        if self.with_prior:
            counts = counts + self.model.classes.alpha - 1
        result = {"pi": counts / counts.sum(-1, keepdims=True)}
        blocks = zip(self.features, sums.blocks, sums.origins, strict=True)
        for (belief, names), s, origin in blocks:
            near = s if origin is None else s.moved(origin)
            best = belief.maximum(near, prior=self.with_prior)
            result |= {names(variable): x for variable, x in best.items()}
        return result

    def log_prior(self, at: Point) -> Array:
        """Return the log prior density of each start's parameters; 0 for maximum likelihood."""
        return self.model.log_density(at) if self.with_prior else np.zeros(len(at["pi"]))

    def climb(
        self, sums: Expected, pass_at: Callable[[Point], Expected], steps: int, tolerance: float
    ) -> list[Run]:
        """Take steps from the sums of each start until none gains `tolerance` a row.

        `pass_at` returns the sums over all rows at given parameters.
        """
        number = float(sums.counts[0].sum())
        spreads = {
            names("sigma2"): _spread(s)
            for (belief, names), s in zip(self.features, sums.blocks, strict=True)
            if "sigma2" in belief.dims and not self.with_prior
        }
        running = np.arange(len(sums.counts))
        runs: dict[int, Run] = {}
        traces: list[list[float]] = [[] for _ in running]
        before = np.full(len(running), -np.inf)
        at = self.maximised(sums)
        for step in range(steps):
            collapsed = np.zeros(len(running), dtype=bool)
            for name, spread in spreads.items():
                low = at[name] <= _COLLAPSED * spread
                collapsed |= low.reshape(len(running), -1).any(-1)
            for name in spreads if collapsed.any() else ():
                # A variance of 0 has no density; the start ends here.
                shape = (-1, *(1,) * (at[name].ndim - 1))
                at[name] = np.where(collapsed.reshape(shape), 1.0, at[name])
            sums = pass_at(at)
            objective = sums.log_likelihood + self.log_prior(at)
            slack = 1000 * np.finfo(float).eps * (sums.sizes + number + np.abs(objective))
            _check_rise(before, objective, np.where(collapsed, np.inf, slack), step)
            converged = objective - before < tolerance * number
            done = converged | collapsed | (step == steps - 1)
            for i, run in enumerate(running.tolist()):
                traces[run].append(float(objective[i]))
                if done[i]:
                    runs[run] = Run(
                        end=taken(at, [i]),
                        objective=float(objective[i]),
                        log_likelihood=float(sums.log_likelihood[i]),
                        trace=np.array(traces[run]),
                        converged=bool(converged[i]),
                        collapsed=bool(collapsed[i]),
                    )
            if done.all():
                break
            running, before = running[~done], objective[~done]
            at = taken(self.maximised(sums), ~done)
        return [runs[run] for run in sorted(runs)]

    def read(self, parameters: Mapping[str, Any]) -> Point:
        """Check parameters by variable name, maybe with an axis of starts in front."""
        result = {"pi": _value(parameters, "pi", "theta", (len(self.model.classes.alpha),))}
        if (np.abs(result["pi"].sum(-1) - 1) > _SUM).any():
            raise DataError(f"start: pi must add up to 1; got {result['pi'].sum(-1).max():g}.")
        for belief, names in self.features:
            for v, axes in belief.dims.items():
                shape = tuple(len(belief.coords[axis]) for axis in axes)
                result[names(v)] = _value(parameters, names(v), v, shape)
        starts = {len(x) for x in result.values()}
        if len(starts) > 1:
            raise DataError(
                f"start: variables must have equally many starts; got {sorted(starts)}."
            )
        return result


def _value(
    parameters: Mapping[str, Any], name: str, variable: str, shape: tuple[int, ...]
) -> Array:
    x = np.asarray(member(parameters, name, "start"), dtype=float)
    x = x[None] if x.ndim == len(shape) else x
    if x.shape[1:] != shape or x.ndim != len(shape) + 1:
        raise DataError(
            f"start: {name} must have shape {shape}, or starts before it; got {x.shape}."
        )
    outside = {"theta": (x < 0) | (x > 1), "sigma2": x <= 0, "lam": x < 0}
    bad = ~np.isfinite(x) | outside.get(variable, False)
    if bad.any():
        raise DataError(f"start: {name} holds {x[bad][0]:g}, which it cannot be.")
    return x


def _spread(s: Any) -> Array:
    """Return the variance of each column of numbers over all classes."""
    n, mean, scatter = s.n[0], s.mean[0], s.scatter[0]
    total = np.maximum(n.sum(0), np.finfo(float).tiny)
    gap = mean - (n * mean).sum(0) / total
    return np.asarray((scatter + n * gap**2).sum(0) / total)


def _check_rise(before: Array, objective: Array, slack: Array, step: int) -> None:
    fell = before - objective > slack
    if fell.any():
        at = int(fell.argmax())
        raise ArithmeticError(
            f"EM lowered its objective from {before[at]!r} to {objective[at]!r} in step {step}, "
            "more than rounding can. Please report this with the data."
        )
