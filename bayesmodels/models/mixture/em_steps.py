"""The steps of EM: what is added up over rows, and what is made of the sums.

A pass over rows at given parameters ends in sums, which merge with ``+``; a step makes the next
parameters of them alone. So rows may be in memory, or be read again for every step. Parameters are
those of several starts side by side: by variable name, with an axis of starts in front.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import xlogy

from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.parameters import variable as member
from bayesmodels.models.mixture.latent_rows import (
    Discrete,
    Events,
    LatentClassModel,
    LatentRows,
    MixtureStatistic,
    Moments,
    Numbers,
    shares,
)
from bayesmodels.numerics import Array

Estimate = Literal["mle", "map"]
Point = dict[str, Array]
"""Parameters by variable name, with an axis of starts in front."""

_COLLAPSED = 1e-10  # part of a column's variance
_SUM = 1e-9  # what probabilities may miss of 1


def taken(point: Point, at: Any) -> Point:
    """Return some of the starts."""
    return {name: x[at] for name, x in point.items()}


@dataclass(frozen=True)
class Expected:
    """Sums over rows that are the classes' by parts; ``a + b`` merges disjoint sets of rows.

    Of each start: rows in each class, what each block's `gathered` returns, the log likelihood of
    the rows at the parameters that the parts come from, and the sum of the sizes of its terms,
    which bounds its rounding error.
    """

    counts: Array
    blocks: tuple[Any, ...]
    log_likelihood: Array
    sizes: Array

    def __add__(self, other: Expected) -> Expected:
        return Expected(
            self.counts + other.counts,
            tuple(a + b for a, b in zip(self.blocks, other.blocks, strict=True)),
            self.log_likelihood + other.log_likelihood,
            self.sizes + other.sizes,
        )


def _gathered(rows: LatentRows, parts: Array, logs: Array, at: Point | None) -> Expected:
    parts *= rows.weights[:, None, None]
    blocks = []
    for part, names in rows.cells:
        known = None if at is None else {v: at[names(v)] for v in part.belief.dims}
        blocks.append(part.gathered(parts, known))
    return Expected(
        parts.sum(0),
        tuple(blocks),
        rows.weights @ logs,
        rows.weights @ np.abs(logs),
    )


def expected(rows: LatentRows, at: Point) -> Expected:
    """Return the sums at given parameters."""
    return _gathered(rows, *shares(rows.log_joint(at)), at)


def random(rows: LatentRows, starts: int, rng: np.random.Generator) -> Expected:
    """Return the sums at class probabilities of each row that are drawn uniformly."""
    n, classes = rows.allowed.shape
    parts = rng.standard_exponential((n, starts, classes))
    parts /= parts.sum(-1, keepdims=True)
    if not rows.allowed.all():
        parts *= rows.allowed[:, None]
        parts /= parts.sum(-1, keepdims=True)
    return _gathered(rows, parts, np.zeros((n, starts)), None)


@dataclass(frozen=True)
class Ends:
    """What rows say about the ends of several runs, the best first; ``a + b`` merges rows.

    `apart` is the largest difference of a row's log density between every two runs, `gaps` between
    two classes of the best run; of that are also the rows in each class, and the entropy of the
    classes given the rows.
    """

    apart: Array
    counts: Array
    entropy: float
    gaps: Array

    def __add__(self, other: Ends) -> Ends:
        return Ends(
            np.maximum(self.apart, other.apart),
            self.counts + other.counts,
            self.entropy + other.entropy,
            np.maximum(self.gaps, other.gaps),
        )


def ends(rows: LatentRows, at: Point) -> Ends:
    """Return how far runs and classes are apart, and how certain the best run's classes are."""
    parts, logs = shares(rows.log_joint(at))
    best = parts[:, 0]
    return Ends(
        _largest_gaps(logs[rows.weights > 0]),
        rows.weights @ best,
        -float(rows.weights @ xlogy(best, best).sum(-1)),
        _largest_gaps(rows.log_densities(taken(at, slice(1)))[:, 0]),
    )


def _largest_gaps(columns: Array) -> Array:
    """Return the largest absolute difference in a row between every two columns."""
    return np.stack([np.abs(columns - one[:, None]).max(0, initial=0.0) for one in columns.T])


@dataclass
class Run:
    """Where one start ended: `found` says for how many starts it stands.

    It may have stopped by itself (`converged`), or where a class lost its spread (`collapsed`).
    """

    end: Point
    objective: float
    log_likelihood: float
    trace: Array
    converged: bool
    collapsed: bool
    found: int = 1


class Steps:
    """Priors in the form in which the steps need them; `s` are some of the rows."""

    def __init__(self, model: LatentClassModel, s: MixtureStatistic, estimate: Estimate) -> None:
        self.model, self.cells, self.estimate = model, list(model.cells_of(s)), estimate
        self.with_prior = estimate == "map"
        pseudo = {"pi": model.classes.alpha} | {
            names("theta"): part.pseudo_counts()
            for part, names in self.cells
            if isinstance(part, Discrete)
        }
        pseudo |= {names("lam"): p.belief.shape for p, names in self.cells if isinstance(p, Events)}
        for name, alpha in pseudo.items():
            if self.with_prior and (alpha < 1).any():
                raise PriorError(
                    f"{name}: MAP needs pseudo-counts of at least 1, or the density has no bound "
                    f"on the border; got {alpha.min():g}. Use larger ones, or estimate='mle'."
                )

    @property
    def numbers_a_row(self) -> int:
        """How many numbers a pass makes of a row and a start."""
        widths = (part.x.shape[1] for part, _ in self.cells if isinstance(part, Numbers))
        return len(self.model.classes.alpha) * max(1, max(widths, default=1))

    def maximised(self, sums: Expected) -> Point:
        """Return the parameters that fit the sums best."""
        counts = sums.counts
        if self.with_prior:
            counts = counts + self.model.classes.alpha - 1
        found = {"pi": counts / counts.sum(-1, keepdims=True)}
        for (part, names), own in zip(self.cells, sums.blocks, strict=True):
            best = part.estimate(own, prior=self.with_prior)
            found |= {names(variable): x for variable, x in best.items()}
        return found

    def log_prior(self, at: Point) -> Array:
        """Return the log prior density of each start's parameters; 0 for maximum likelihood."""
        if not self.with_prior:
            return np.zeros(len(at["pi"]))
        total = np.asarray(self.model.classes.log_density({"theta": at["pi"]}))
        for part, names in self.cells:
            own = {v: at[names(v)] for v in part.belief.dims}
            total = total + part.belief.log_density(own).reshape(len(total), -1).sum(-1)
        return total

    def climb(
        self, sums: Expected, pass_at: Callable[[Point], Expected], steps: int, tolerance: float
    ) -> list[Run]:
        """Take steps from the sums of each start until none gains `tolerance` a row.

        `pass_at` returns the sums over all rows at given parameters.
        """
        number = float(sums.counts[0].sum())
        spreads = {
            names("sigma2"): _spread(own).reshape(part.shape[:-1])
            for (part, names), own in zip(self.cells, sums.blocks, strict=True)
            if isinstance(part, Numbers) and not self.with_prior
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
        found = {"pi": _value(parameters, "pi", "theta", (len(self.model.classes.alpha),))}
        if (np.abs(found["pi"].sum(-1) - 1) > _SUM).any():
            raise DataError(f"start: pi must add up to 1; got {found['pi'].sum(-1).max():g}.")
        for part, names in self.cells:
            coords = part.belief.coords
            for v, axes in part.belief.dims.items():
                shape = tuple(len(coords[axis]) for axis in axes)
                found[names(v)] = _value(parameters, names(v), v, shape)
        starts = {len(x) for x in found.values()}
        if len(starts) > 1:
            raise DataError(
                f"start: variables must have equally many starts; got {sorted(starts)}."
            )
        return found


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


def _spread(sums: Moments) -> Array:
    """Return the variance of each column of numbers over all classes."""
    n, mean, scatter = sums.n[0], sums.mean[0], sums.scatter[0]
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
