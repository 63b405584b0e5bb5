"""The steps of EM: what is added up over rows, and what is made of the sums.

A pass over rows at given parameters ends in sums, which merge with ``+``; a step makes the next
parameters of them alone. So rows may be in memory, or be read again for every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from bayesmodels.belief.declaring import Names
from bayesmodels.errors import DataError, PriorError
from bayesmodels.models.mixture.latent_rows import (
    UNKNOWN,
    Cells,
    Discrete,
    LatentClassModel,
    MixtureStatistic,
    Numbers,
)
from bayesmodels.numerics import Array

Estimate = Literal["mle", "map"]

AT_ONCE = 8_000_000
"""Numbers that a pass spreads out at once, at most."""
_COLLAPSED = 1e-10  # part of a column's variance
_PART = np.finfo(float).eps


@dataclass(frozen=True)
class Point:
    """Parameters of several starts side by side.

    Attributes
    ----------
    pi : ndarray of shape (starts, class)
        Class probabilities.
    parameters : tuple of dict
        Of each block, its variables with the leading axes of starts and classes.
    """

    pi: Array
    parameters: tuple[dict[str, Array], ...]

    def take(self, at: NDArray[Any]) -> Point:
        """Return some of the starts."""
        return Point(
            self.pi[at], tuple({v: x[at] for v, x in own.items()} for own in self.parameters)
        )


@dataclass(frozen=True)
class Expected:
    """Sums over rows that are the classes' by parts; ``a + b`` merges disjoint sets of rows.

    Attributes
    ----------
    counts : ndarray of shape (starts, class)
        Rows in each class.
    blocks : tuple
        Of each block what its `gathered` returns.
    log_likelihood : ndarray of shape (starts,)
        Of the rows, at the parameters that the parts come from.
    sizes : ndarray of shape (starts,)
        Sum of the sizes of its terms, which bounds its rounding error.
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


@dataclass(frozen=True)
class Ends:
    """What rows say about the ends of several runs, the best first; ``a + b`` merges rows.

    Attributes
    ----------
    apart : ndarray of shape (runs, runs)
        Largest difference of a row's log density between two runs.
    counts : ndarray of shape (class,)
        Rows in each class of the best.
    entropy : float
        Of the classes given the rows, of the best.
    gaps : ndarray of shape (class, class)
        Largest difference of a row's log density between two classes of the best.
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


class LatentRows:
    """Rows in the form in which a pass needs them."""

    def __init__(self, model: LatentClassModel, s: MixtureStatistic) -> None:
        self.cells = [part for part, _ in model.cells_of(s)]
        self.weights = s.weights
        size = len(model.classes.alpha)
        self.allowed = np.ones((len(s.labels), 1, size), dtype=bool)
        known = s.labels != UNKNOWN
        self.allowed[known] = (np.arange(size) == s.labels[known, None])[:, None]
        self.some_known = bool(known.any())

    def random(self, starts: int, rng: np.random.Generator) -> Expected:
        """Return the sums at class probabilities of each row that are drawn uniformly."""
        shape = (len(self.weights), starts, self.allowed.shape[-1])
        parts = rng.standard_exponential(shape)
        parts /= parts.sum(-1, keepdims=True)
        if self.some_known:
            parts = np.where(self.allowed, parts, 0.0)
            parts /= parts.sum(-1, keepdims=True)
        return self._gathered(parts, np.zeros(parts.shape[:2]))

    def expected(self, at: Point) -> Expected:
        """Return the sums at given parameters."""
        joint = self.log_joint(at)
        top = joint.max(-1, keepdims=True)
        np.subtract(joint, top, out=joint)
        np.exp(joint, out=joint)
        total = joint.sum(-1, keepdims=True)
        joint /= total
        return self._gathered(joint, np.log(total[..., 0]) + top[..., 0])

    def log_joint(self, at: Point) -> Array:
        """Return the log density (n, starts, class) of each row and class."""
        with np.errstate(divide="ignore"):
            joint = np.log(at.pi)[None] + np.zeros((len(self.weights), 1, 1))
        for part, values in zip(self.cells, at.parameters, strict=True):
            joint += part.log_density(values)
        return np.where(self.allowed, joint, -np.inf) if self.some_known else joint

    def ends(self, at: Point) -> Ends:
        """Return how far runs and classes are apart, and how certain the best run's classes are."""
        joint = self.log_joint(at)
        top = joint.max(-1, keepdims=True)
        shares = np.exp(joint - top)
        total = shares.sum(-1, keepdims=True)
        rows = (np.log(total) + top)[self.weights > 0, :, 0]
        best = shares[:, 0] / total[:, 0]
        own = [{v: x[:1] for v, x in values.items()} for values in at.parameters]
        by_class = sum(
            (part.log_density(values)[:, 0] for part, values in zip(self.cells, own, strict=True)),
            start=np.zeros(best.shape),
        )
        return Ends(
            _largest_gaps(rows),
            self.weights @ best,
            -float(self.weights @ xlogy(best, best).sum(-1)),
            _largest_gaps(by_class),
        )

    def _gathered(self, parts: Array, rows: Array) -> Expected:
        parts *= self.weights[:, None, None]
        return Expected(
            parts.sum(0),
            tuple(part.gathered(parts) for part in self.cells),
            self.weights @ rows,
            self.weights @ np.abs(rows),
        )


def _largest_gaps(columns: Array) -> Array:
    """Return the largest absolute difference in a row between every two columns."""
    return np.stack(
        [np.abs(columns - one[:, None]).max(0, initial=0.0) for one in columns.T], axis=0
    )


@dataclass
class Run:
    """Where one start ended.

    Attributes
    ----------
    end : Point
        Of a single start.
    objective, log_likelihood : float
        There.
    trace : ndarray
        Objective after each step.
    converged, collapsed : bool
        Whether it stopped by itself; whether a class lost its spread.
    found : int
        Number of starts for which this one stands.
    """

    end: Point
    objective: float
    log_likelihood: float
    trace: Array
    converged: bool
    collapsed: bool
    found: int = 1


class Steps:
    """Priors in the form in which the steps need them; `cells` are those of some rows."""

    def __init__(
        self, model: LatentClassModel, cells: Sequence[tuple[Cells, Names]], estimate: Estimate
    ) -> None:
        self.model, self.cells, self.estimate = model, cells, estimate
        if estimate == "map":
            self._check_priors()

    def _check_priors(self) -> None:
        for part, names in [(None, None), *self.cells]:
            pseudo = (
                self.model.classes.alpha
                if part is None
                else part.pseudo_counts()
                if isinstance(part, Discrete)
                else np.ones(1)
            )
            if (pseudo < 1).any():
                name = "pi" if names is None else names("theta")
                msg = (
                    f"{name}: MAP needs pseudo-counts of at least 1, or the density has no bound "
                    f"on the border; got {pseudo.min():g}. Use larger ones, or estimate='mle'."
                )
                raise PriorError(msg)

    def maximised(self, sums: Expected) -> Point:
        """Return the parameters that fit the sums best."""
        counts = sums.counts
        if self.estimate == "map":
            counts = counts + self.model.classes.alpha - 1
        found = [
            part.map_estimate(own) if self.estimate == "map" else part.estimate(own)
            for (part, _), own in zip(self.cells, sums.blocks, strict=True)
        ]
        return Point(counts / counts.sum(-1, keepdims=True), tuple(found))

    def log_prior(self, at: Point) -> Array:
        """Return the log prior density of each start's parameters; 0 for maximum likelihood."""
        if self.estimate == "mle":
            return np.zeros(len(at.pi))
        total = np.asarray(self.model.classes.log_density({"theta": at.pi}))
        for (part, _), values in zip(self.cells, at.parameters, strict=True):
            each = np.asarray(part.belief.log_density(values))
            total = total + each.reshape(len(at.pi), -1).sum(-1)
        return total

    def climb(
        self,
        sums: Expected,
        expected: Callable[[Point], Expected],
        steps: int,
        tolerance: float,
    ) -> list[Run]:
        """Take steps from each start until none gains `tolerance` a row.

        Parameters
        ----------
        sums : Expected
            Of the starts.
        expected : callable
            The sums over all rows at given parameters: one pass.
        steps : int
            At most.
        tolerance : float
            Gain in the objective a row.
        """
        number = float(sums.counts[0].sum())
        spreads = [_spread(own) for own in sums.blocks]
        runs: list[Run | None] = [None] * len(sums.counts)
        running = np.arange(len(runs))
        traces: list[list[float]] = [[] for _ in runs]
        before = np.full(len(running), -np.inf)
        at = self.maximised(sums)
        for step in range(steps):
            collapsed = self._collapsed(at, spreads)
            if collapsed.any():  # a variance of 0 has no density; the start ends here
                at = self._mended(at, collapsed)
            sums = expected(at)
            objective = sums.log_likelihood + self.log_prior(at)
            slack = 1000 * _PART * (sums.sizes + number + np.abs(objective))
            _check_rise(before, objective, slack, collapsed, step)
            for run, value in zip(running.tolist(), objective.tolist(), strict=True):
                traces[run].append(value)
            converged = objective - before < tolerance * number
            done = converged | collapsed | (step == steps - 1)
            for i in np.flatnonzero(done).tolist():
                place = int(running[i])
                runs[place] = Run(
                    end=at.take(np.array([i])),
                    objective=float(objective[i]),
                    log_likelihood=float(sums.log_likelihood[i]),
                    trace=np.array(traces[place]),
                    converged=bool(converged[i]),
                    collapsed=bool(collapsed[i]),
                )
            if done.all():
                break
            running, before = running[~done], objective[~done]
            at = self.maximised(sums).take(~done)
        return [run for run in runs if run is not None]

    def _collapsed(self, at: Point, spreads: Sequence[Any]) -> NDArray[np.bool_]:
        """Return which starts have a class without spread, for maximum likelihood."""
        found = np.zeros(len(at.pi), dtype=bool)
        for (part, _), values, spread in zip(self.cells, at.parameters, spreads, strict=True):
            if isinstance(part, Numbers) and self.estimate == "mle":
                low = values["sigma2"] <= _COLLAPSED * spread
                found |= low.reshape(len(at.pi), -1).any(-1)
        return found

    def _mended(self, at: Point, collapsed: NDArray[np.bool_]) -> Point:
        mended = []
        for (part, _), values in zip(self.cells, at.parameters, strict=True):
            if isinstance(part, Numbers):
                shape = (-1, *(1,) * (values["sigma2"].ndim - 1))
                safe = np.where(collapsed.reshape(shape), 1.0, values["sigma2"])
                mended.append({**values, "sigma2": safe})
            else:
                mended.append(values)
        return Point(at.pi, tuple(mended))

    def named(self, at: Point) -> dict[str, Array]:
        """Return the parameters of a single start by variable name."""
        (_, names) = self.model.parts()[0]
        found = {names("theta"): at.pi[0]}
        for (_, own), values in zip(self.cells, at.parameters, strict=True):
            found |= {own(v): x[0] for v, x in values.items()}
        return found

    def read(self, parameters: Mapping[str, Any]) -> Point:
        """Check parameters by variable name, maybe with an axis of starts in front.

        Raises
        ------
        DataError
            If a variable is not there, has another shape, or a value that it cannot have.
        """
        classes, names = self.model.parts()[0]
        size = len(classes.alpha)
        pi = _value(parameters, names("theta"), (size,))
        if (np.abs(pi.sum(-1) - 1) > _SUM).any():
            msg = f"start: {names('theta')} must add up to 1; got {pi.sum(-1).max():g}."
            raise DataError(msg)
        found = []
        for part, own in self.cells:
            shapes = {
                v: tuple(len(part.belief.coords[axis]) for axis in axes)
                for v, axes in part.belief.dims.items()
            }
            found.append({v: _value(parameters, own(v), shapes[v]) for v in shapes})
        starts = {len(x) for x in (pi, *(x for values in found for x in values.values()))}
        if len(starts) > 1:
            msg = f"start: variables must have equally many starts; got {sorted(starts)}."
            raise DataError(msg)
        return Point(pi, tuple(found))


_SUM = 1e-9  # what probabilities may miss of 1


def _value(parameters: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    if name not in parameters:
        msg = f"start: must hold {name!r}; has {list(parameters)}."
        raise DataError(msg)
    x = np.asarray(parameters[name], dtype=float)
    x = x[None] if x.ndim == len(shape) else x
    if x.shape[1:] != shape or x.ndim != len(shape) + 1:
        msg = f"start: {name} must have shape {shape}, or starts before it; got {x.shape}."
        raise DataError(msg)
    probability = not name.startswith(("mu", "sigma2"))
    bad = ~np.isfinite(x) | ((x < 0) | (x > 1) if probability else False)
    if name.startswith("sigma2"):
        bad |= ~(x > 0)
    if bad.any():
        msg = f"start: {name} holds {x[bad][0]:g}, which it cannot be."
        raise DataError(msg)
    return x


def _spread(gathered: Any) -> Any:
    """Return the variance of each column of numbers over all classes; None for other blocks."""
    if isinstance(gathered, np.ndarray):
        return None
    n, mean, scatter = (x[0] for x in (gathered.n, gathered.mean, gathered.scatter))
    total = np.maximum(n.sum(0), np.finfo(float).tiny)
    gap = mean - (n * mean).sum(0) / total
    return (scatter + n * gap**2).sum(0) / total


def _check_rise(
    before: Array, objective: Array, slack: Array, collapsed: NDArray[np.bool_], step: int
) -> None:
    fell = (before - objective > slack) & ~collapsed
    if fell.any():
        at = int(fell.argmax())
        msg = (
            f"EM lowered its objective from {before[at]!r} to {objective[at]!r} in step {step}, "
            "more than rounding can. Please report this with the data."
        )
        raise ArithmeticError(msg)
