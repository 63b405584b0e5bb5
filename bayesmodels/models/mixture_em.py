r"""EM for mixtures of naive Bayes: maximum likelihood and maximum a posteriori, from many starts.

.. math:: r_{ic} \propto \pi_c \prod_j p(x_{ij} \mid \theta_{jc}), \qquad
    \theta \leftarrow \arg\max \sum_{ic} r_{ic} \ln \pi_c p(x_i \mid \theta_c) \; [+ \ln p(\theta)]

By Jensen's inequality no step lowers the objective, which is checked at every step. All starts run
side by side over the distinct rows, so that a table of few patterns costs the same for any number
of rows.

Dempster, Laird and Rubin (1977); Murphy (2012), section 11.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from bayesmodels import data as checked
from bayesmodels.declaring import Names
from bayesmodels.errors import DataError, PriorError
from bayesmodels.models.latent_rows import UNKNOWN, Cells, Discrete, MixtureStatistic, Numbers
from bayesmodels.protocol import Array

if TYPE_CHECKING:
    import pandas as pd

    from bayesmodels.models.mixture import NaiveBayesMixture

Estimate = Literal["mle", "map"]

_AT_ONCE = 8_000_000  # numbers
_SAME = 1e-3  # log densities of rows of two optima that are called one
_EDGE = 1e-6  # probability that is called a border
_COLLAPSED = 1e-10  # part of a column's variance
_PART = np.finfo(float).eps


@dataclass(frozen=True)
class Optimum:
    """One local maximum.

    Attributes
    ----------
    objective : float
        Log likelihood, for MAP plus the log prior density.
    log_likelihood : float
        Natural logarithm, of all rows.
    parameters : dict
        By variable name, as in the PyMC model.
    found : int
        Number of starts that ended here.
    """

    objective: float
    log_likelihood: float
    parameters: dict[str, Array] = field(repr=False)
    found: int


@dataclass(frozen=True)
class EMResult:
    """What EM found.

    Attributes
    ----------
    estimate : {"mle", "map"}
        What was maximised.
    optima : tuple of Optimum
        All distinct local maxima, the best first.
    trace : ndarray of shape (steps,)
        Objective of the best start after each step.
    converged : int
        Number of starts that stopped by themselves.
    starts : int
        Number of starts, those that failed included.
    findings : tuple of str
        What an analyst should know of the best optimum, in sentences; empty if there is nothing.
    number_of_rows : float
        Each as often as it occurs.
    free_parameters : int
        Number of parameters less constraints.
    entropy : float
        Of the classes given the rows, summed over rows; 0 if every row is certain of its class.
    """

    estimate: Estimate
    optima: tuple[Optimum, ...]
    trace: Array = field(repr=False)
    converged: int
    starts: int
    findings: tuple[str, ...]
    number_of_rows: float
    free_parameters: int
    entropy: float
    _model: NaiveBayesMixture = field(repr=False)
    _statistic: MixtureStatistic = field(repr=False)

    @property
    def parameters(self) -> dict[str, Array]:
        """Parameters of the best optimum, by variable name."""
        return self.optima[0].parameters

    @property
    def log_likelihood(self) -> float:
        """Log likelihood of the best optimum."""
        return self.optima[0].log_likelihood

    @property
    def objective(self) -> float:
        """What was maximised, at the best optimum."""
        return self.optima[0].objective

    @property
    def aic(self) -> float:
        """Akaike's information criterion, 2 p - 2 ln L."""
        return 2 * self.free_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, p ln n - 2 ln L; smaller is better."""
        return self.free_parameters * float(np.log(self.number_of_rows)) - 2 * self.log_likelihood

    @property
    def relative_entropy(self) -> float:
        """1 less the entropy over its largest possible value: 1 if every class is certain."""
        classes = len(self._model.classes.alpha)
        return 1 - self.entropy / (self.number_of_rows * float(np.log(classes)))

    def responsibilities(self, rows: Any) -> Array:
        """Return the probability (n, class) of each class for new rows at the best optimum."""
        return self._model.responsibilities(rows, self.parameters)

    def standard_errors(self) -> dict[str, Array]:
        """Return standard errors from the observed information; see `observed_information`."""
        from bayesmodels.models.mixture_information import standard_errors

        return standard_errors(self._model, self._statistic, self.parameters)

    def table(self) -> pd.DataFrame:
        """Return the optima, one a row: objective, log likelihood and how often each was found."""
        import pandas as pd

        rows = [(o.objective, o.log_likelihood, o.found) for o in self.optima]
        return pd.DataFrame(rows, columns=["objective", "log_likelihood", "found"])


def em(
    self: NaiveBayesMixture,
    data: Any,
    *,
    estimate: Estimate = "mle",
    starts: int = 20,
    iterations: int = 5000,
    tolerance: float = 1e-10,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[str], object] = lambda _: None,
) -> EMResult:
    """Return maximum-likelihood or maximum a posteriori estimates from many random starts.

    Parameters
    ----------
    data : features, or pair (X, y) with missing entries in y, also Weighted; or a statistic
        Rows whose class is known count in their class alone.
    estimate : {"mle", "map"}
        Maximise the likelihood, or the likelihood times the prior density of the parameters.
    starts : int, default 20
        Number of random starts: each row's class probabilities are drawn uniformly.
    iterations : int, default 5000
        Steps at most.
    tolerance : float, default 1e-10
        A start stops when a step gains less than this much a row.
    rng : numpy.random.Generator or int, optional
        Source of the starts.
    progress : callable, optional
        Told, in words, how many starts still run.

    Returns
    -------
    EMResult
        With `parameters`, all distinct optima, `findings`, `aic`, `bic` and `standard_errors`.

    Raises
    ------
    DataError
        If there are no rows, or every start ran into a class of numbers without spread, where the
        likelihood has no bound.
    PriorError
        For MAP, if a pseudo-count is below 1: the density then has no bound on the border.
    ArithmeticError
        If a step lowers the objective by more than rounding can: an error of this program.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 11.4.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> rng = np.random.default_rng(1)
    >>> z = rng.integers(0, 2, 200)
    >>> bits = rng.random((200, 6)) < np.where(z, 0.9, 0.2)[:, None]
    >>> model = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    >>> found = model.em(bits, rng=1)
    >>> np.sort(found.parameters["theta"].mean(-1)).round(1)
    array([0.2, 0.9])
    """
    if estimate not in ("mle", "map"):
        msg = f"estimate: must be 'mle' or 'map'; got {estimate!r}."
        raise DataError(msg)
    if self.terms is not None:
        msg = "em: needs the prior, not an exact posterior; pass all rows to the prior."
        raise PriorError(msg)
    number, steps = (
        int(checked.whole(starts, "starts", 1)),
        int(checked.whole(iterations, "iterations", 1)),
    )
    if not tolerance > 0:
        msg = f"tolerance: must be positive; got {tolerance!r}."
        raise DataError(msg)
    s = self.statistic(data)
    if not s.number_of_rows > 0:
        msg = "data: EM needs at least one row; got none."
        raise DataError(msg)
    model = self.with_axes(s)
    work = _Work(model, s, estimate)
    rng = np.random.default_rng(rng)
    size = len(self.classes.alpha)
    together = max(1, _AT_ONCE // (len(s.labels) * size * max(1, work.width)))
    runs: list[_Run] = []
    for start in range(0, number, together):
        some = min(together, number - start)
        first = rng.standard_exponential((len(s.labels), some, size))
        progress(f"EM: starts {start + 1} to {start + some} of {number}")
        runs += work.run(first / first.sum(-1, keepdims=True), steps, tolerance * s.number_of_rows)
    usable = [run for run in runs if not run.collapsed]
    if not usable:
        msg = (
            f"data: in all {number} starts a class of numbers lost its spread, where the "
            "likelihood has no bound. Use estimate='map', whose prior keeps variances positive, or "
            "take fewer classes."
        )
        raise DataError(msg)
    usable.sort(key=lambda run: -run.objective)
    return work.result(usable, number)


@dataclass
class _Run:
    """Where one start ended."""

    parameters: dict[str, Array]
    pi: Array
    objective: float
    log_likelihood: float
    rows: Array
    trace: Array
    converged: bool
    collapsed: bool


class _Work:
    """Rows and priors in the form in which the steps need them."""

    def __init__(self, model: NaiveBayesMixture, s: MixtureStatistic, estimate: Estimate) -> None:
        self.model, self.s, self.estimate = model, s, estimate
        self.cells: list[tuple[Cells, Names]] = list(model.cells_of(s))
        self.width = max(
            (part.x.shape[1] for part, _ in self.cells if isinstance(part, Numbers)), default=1
        )
        self.w = s.weights[:, None, None]
        size = len(model.classes.alpha)
        self.allowed = np.ones((len(s.labels), 1, size), dtype=bool)
        known = s.labels != UNKNOWN
        self.allowed[known] = (np.arange(size) == s.labels[known, None])[:, None]
        self.some_known = bool(known.any())
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

    def maximise(self, parts: Array) -> tuple[Array, list[dict[str, Array]]]:
        """Return class probabilities (starts, class) and parameters for rows allotted by parts."""
        weighted = parts * self.w
        counts = weighted.sum(0)
        if self.estimate == "map":
            counts = counts + self.model.classes.alpha - 1
            found = [part.map_estimate(weighted) for part, _ in self.cells]
        else:
            found = [part.estimate(weighted) for part, _ in self.cells]
        return counts / counts.sum(-1, keepdims=True), found

    def allot(self, pi: Array, parameters: list[dict[str, Array]]) -> tuple[Array, Array, Array]:
        """Return parts (n, starts, class), log densities (n, starts), and the sum of sizes."""
        with np.errstate(divide="ignore"):
            joint = np.log(pi)[None] + np.zeros((len(self.s.labels), 1, 1))
        for (part, _), values in zip(self.cells, parameters, strict=True):
            joint += part.log_density(values)
        if self.some_known:
            joint = np.where(self.allowed, joint, -np.inf)
        top = joint.max(-1, keepdims=True)
        np.subtract(joint, top, out=joint)
        np.exp(joint, out=joint)
        total = joint.sum(-1, keepdims=True)
        joint /= total
        rows = np.log(total[..., 0]) + top[..., 0]
        return joint, rows, np.abs(rows)

    def log_prior(self, pi: Array, parameters: list[dict[str, Array]]) -> Array:
        """Return the log prior density of each start's parameters; 0 for maximum likelihood."""
        if self.estimate == "mle":
            return np.zeros(len(pi))
        classes = self.model.classes
        total = np.asarray(classes.log_density({"theta": pi}))
        for (part, _), values in zip(self.cells, parameters, strict=True):
            each = np.asarray(part.belief.log_density(values))
            total = total + each.reshape(len(pi), -1).sum(-1)
        return total

    def run(self, parts: Array, steps: int, least: float) -> list[_Run]:
        """Take EM steps from each start until none gains anything."""
        runs: list[_Run | None] = [None] * parts.shape[1]
        running = np.arange(parts.shape[1])
        if self.some_known:
            parts = np.where(self.allowed, parts, 0.0)
            parts /= parts.sum(-1, keepdims=True)
        traces: list[list[float]] = [[] for _ in runs]
        before = np.full(len(running), -np.inf)
        weights = self.s.weights
        for step in range(steps):
            pi, parameters = self.maximise(parts)
            collapsed = self._collapsed(parameters, len(running))
            if collapsed.any():  # a variance of 0 has no density; the start ends here
                parameters = self._mended(parameters, collapsed)
            parts, rows, sizes = self.allot(pi, parameters)
            likelihood = weights @ rows
            objective = likelihood + self.log_prior(pi, parameters)
            slack = 1000 * _PART * (weights @ sizes + self.s.number_of_rows + np.abs(objective))
            fell = (before - objective > slack) & ~collapsed
            if fell.any():
                at = int(fell.argmax())
                msg = (
                    f"EM lowered its objective from {before[at]!r} to {objective[at]!r} in step "
                    f"{step}, more than rounding can. Please report this with the data."
                )
                raise ArithmeticError(msg)
            for run, value in zip(running.tolist(), objective.tolist(), strict=True):
                traces[run].append(value)
            done = (objective - before < least) | collapsed | (step == steps - 1)
            for at in np.flatnonzero(done).tolist():
                place = int(running[at])
                runs[place] = _Run(
                    parameters={
                        names(v): x[at]
                        for (_, names), values in zip(self.cells, parameters, strict=True)
                        for v, x in values.items()
                    },
                    pi=pi[at],
                    objective=float(objective[at]),
                    log_likelihood=float(likelihood[at]),
                    rows=rows[:, at],
                    trace=np.array(traces[place]),
                    converged=bool(objective[at] - before[at] < least),
                    collapsed=bool(collapsed[at]),
                )
            running, before = running[~done], objective[~done]
            if not len(running):
                break
            parts = parts[:, ~done] if done.any() else parts
        return [run for run in runs if run is not None]

    def _collapsed(self, parameters: list[dict[str, Array]], starts: int) -> NDArray[np.bool_]:
        """Return which starts have a class without spread, for maximum likelihood."""
        found = np.zeros(starts, dtype=bool)
        for (part, _), values in zip(self.cells, parameters, strict=True):
            if isinstance(part, Numbers) and self.estimate == "mle":
                low = values["sigma2"] <= _COLLAPSED * self._spread(part)
                found |= low.reshape(starts, -1).any(-1)
        return found

    def _spread(self, part: Numbers) -> Array:
        weights = self.s.weights[:, None] * np.ones_like(part.x)
        weights = weights if part.here is None else weights * part.here
        spread = (weights * part.x**2).sum(0) / np.maximum(weights.sum(0), 1e-300)
        return np.asarray(spread.reshape(part.shape))

    def _mended(
        self, parameters: list[dict[str, Array]], collapsed: NDArray[np.bool_]
    ) -> list[dict[str, Array]]:
        mended = []
        for (part, _), values in zip(self.cells, parameters, strict=True):
            if isinstance(part, Numbers):
                shape = (-1, *(1,) * (values["sigma2"].ndim - 1))
                safe = np.where(collapsed.reshape(shape), 1.0, values["sigma2"])
                mended.append({**values, "sigma2": safe})
            else:
                mended.append(values)
        return mended

    def result(self, runs: list[_Run], starts: int) -> EMResult:
        """Put equal optima together and describe the best one."""
        weights = self.s.weights
        optima: list[tuple[_Run, int]] = []
        for run in runs:
            for i, (other, found) in enumerate(optima):
                if np.abs(run.rows - other.rows).max(where=weights > 0, initial=0) < _SAME:
                    optima[i] = other, found + 1
                    break
            else:
                optima.append((run, 1))
        best = runs[0]
        parts, _, _ = self.allot(best.pi[None], self._arrays(best))
        entropy = -float(weights @ xlogy(parts[:, 0], parts[:, 0]).sum(-1))
        classes, names = self.model.parts()[0]
        free = sum(int(np.prod(run_shape(part))) for part, _ in self.cells) + len(classes.alpha) - 1
        return EMResult(
            estimate=self.estimate,
            optima=tuple(
                Optimum(
                    run.objective,
                    run.log_likelihood,
                    {names("theta"): run.pi, **run.parameters},
                    found,
                )
                for run, found in optima
            ),
            trace=best.trace,
            converged=sum(run.converged for run in runs),
            starts=starts,
            findings=tuple(self._findings(best, parts[:, 0], len(runs), starts)),
            number_of_rows=self.s.number_of_rows,
            free_parameters=free,
            entropy=max(entropy, 0.0),
            _model=self.model,
            _statistic=self.s,
        )

    def _arrays(self, run: _Run) -> list[dict[str, Array]]:
        return [
            {v: run.parameters[names(v)][None] for v in part.belief.dims}
            for part, names in self.cells
        ]

    def _findings(self, best: _Run, parts: Array, usable: int, starts: int) -> list[str]:
        labels = self.model.classes.coords["category"]
        said = []
        if not best.converged:
            said.append("The best start had not converged; allow more iterations.")
        if usable < starts:
            said.append(
                f"{starts - usable} of {starts} starts ended where a class of numbers has no "
                "spread and the likelihood no bound; they are left out."
            )
        rows = self.s.weights @ parts
        empty = [c for c in range(len(labels)) if rows[c] < _EDGE * self.s.number_of_rows]
        said += [f"Class {labels[c]!r} is empty: fewer classes fit as well." for c in empty]
        by_class = sum(
            (
                part.log_density(values)[:, 0]
                for (part, _), values in zip(self.cells, self._arrays(best), strict=True)
            ),
            start=np.zeros(parts.shape),
        )
        for a in range(len(labels)):
            for b in range(a + 1, len(labels)):
                gap = np.abs(by_class[:, a] - by_class[:, b])
                if a not in empty and b not in empty and gap.max(initial=0) < _SAME:
                    said.append(
                        f"Classes {labels[a]!r} and {labels[b]!r} are the same: fewer fit as well."
                    )
        edges = []
        for part, names in self.cells:
            if isinstance(part, Discrete):
                levels = part.levels({v: best.parameters[names(v)] for v in part.belief.dims})
                at = np.argwhere(
                    (levels < _EDGE) & ~np.isin(np.arange(len(labels)), empty)[:, None]
                )
                edges += [_named_edge(part, names, int(c), int(place)) for c, place in at]
        if edges:
            some = ", ".join(edges[:5]) + (f" and {len(edges) - 5} more" if len(edges) > 5 else "")  # noqa: PLR2004
            said.append(
                f"On the border of what is possible: {some}. Standard errors there have no meaning."
            )
        return said


def run_shape(part: Cells) -> tuple[int, ...]:
    """Return the shape of a block's free parameters."""
    size = len(part.belief.coords["class"])
    if isinstance(part, Numbers):
        return (size, part.x.shape[1], 2)
    return (size, *part.shape[:-1], part.shape[-1] - 1)


def _named_edge(part: Discrete, names: Names, c: int, place: int) -> str:
    """Say which probability is 0."""
    *inner, level = np.unravel_index(place, part.shape)
    coords = list(part.belief.coords.items())
    axes = [labels[i] for (_, labels), i in zip(coords, (c, *inner), strict=False)]
    value = (1, 0)[level] if part.bits else coords[-1][1][level]
    return f"{names('theta')}[{', '.join(map(str, axes))}] of {value!r} is 0"
