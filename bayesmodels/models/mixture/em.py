r"""EM for mixtures of naive Bayes: maximum likelihood and maximum a posteriori, from many starts.

.. math:: r_{ic} \propto \pi_c \prod_j p(x_{ij} \mid \theta_{jc}), \qquad
    \theta \leftarrow \arg\max \sum_{ic} r_{ic} \ln \pi_c p(x_i \mid \theta_c) \; [+ \ln p(\theta)]

By Jensen's inequality no step lowers the objective, which is checked at every step. All starts run
side by side over the distinct rows, so that a table of few patterns costs the same for any number
of rows.

Dempster, Laird and Rubin (1977); Murphy (2012), section 11.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.errors import DataError, PriorError, warn
from bayesmodels.input import data as checked
from bayesmodels.input.labels import of_place
from bayesmodels.models.mixture.em_steps import (
    Ends,
    Estimate,
    Expected,
    Point,
    Run,
    Steps,
    ends,
    expected,
    random,
    taken,
)
from bayesmodels.models.mixture.latent_rows import LatentClassModel, MixtureStatistic, slices
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd


_SAME = 1e-3  # log densities of rows of two optima that are called one
_EDGE = 1e-6  # probability that is called a border
_UNFINISHED = "The best start had not converged; allow more iterations."


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
    _model: LatentClassModel = field(repr=False)
    _statistic: MixtureStatistic | None = field(repr=False)

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

    def table(self) -> pd.DataFrame:
        """Return the optima, one a row: objective, log likelihood and how often each was found."""
        import pandas as pd

        rows = [(o.objective, o.log_likelihood, o.found) for o in self.optima]
        return pd.DataFrame(rows, columns=["objective", "log_likelihood", "found"])


def em(
    self: LatentClassModel,
    data: Any,
    *,
    estimate: Estimate = "mle",
    starts: int = 20,
    start: Mapping[str, Any] | None = None,
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
    start : mapping, optional
        Parameters to begin from in place of random starts, such as those of another result;
        several starts with an axis in front.
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
        With `parameters`, all distinct optima, `findings`, `aic` and `bic`.

    Raises
    ------
    DataError
        If there are no rows, or every start ran into a class of numbers without spread, where the
        likelihood has no bound.
    PriorError
        For MAP, if a pseudo-count is below 1: the density then has no bound on the border.
    ArithmeticError
        If a step lowers the objective by more than rounding can: an error of this program.

    Warns
    -----
    NumericsWarning
        If the best start had not converged after all `iterations`.

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
    >>> result = model.em(bits, rng=1)
    >>> np.sort(result.parameters["theta"].mean(-1)).round(1)
    array([0.2, 0.9])
    """
    number, steps = check_settings(self, estimate, starts, iterations, tolerance)
    rng = checked.randomness(rng)
    s = self.statistic(data)
    if not s.number_of_rows > 0:
        raise DataError("data: EM needs at least one row; got none.")
    model = self.with_axes(s)
    work = Steps(model, estimate)

    def over(of_rows: Callable[..., Any], starts: int, *arguments: Any) -> Any:
        every = slices(s, work.numbers_a_row(starts))
        return reduce(add, (of_rows(model, rows, *arguments) for rows in every))

    def pass_at(at: Point) -> Expected:
        return over(expected, len(at["pi"]), at)

    if start is not None:
        first = pass_at(work.read(start))
        number = len(first.counts)
    else:
        progress(f"EM: {number} starts")
        first = over(random, number, number, rng)
    usable = best_first(work.climb(first, pass_at, steps, tolerance))
    point = side_by_side([run.end for run in usable])
    return result(work, usable, over(ends, len(usable), point), number, s)


def check_settings(
    model: LatentClassModel, estimate: str, starts: Any, iterations: Any, tolerance: float
) -> tuple[int, int]:
    """Check what EM is asked for; return the number of starts and of steps."""
    if estimate not in ("mle", "map"):
        raise DataError(f"estimate: must be 'mle' or 'map'; got {estimate!r}.")
    if model.terms is not None:
        raise PriorError("em: needs the prior, not an exact posterior; pass all rows to the prior.")
    if not tolerance > 0:
        raise DataError(f"tolerance: must be positive; got {tolerance!r}.")
    return checked.count(starts, "starts", 1), checked.count(iterations, "iterations", 1)


def best_first(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that did not collapse, the best first; refuse if there is none."""
    usable = sorted((run for run in runs if not run.collapsed), key=lambda run: -run.objective)
    if not usable:
        raise DataError(
            f"data: in all {len(runs)} starts a class of numbers lost its spread, where the "
            "likelihood has no bound. Use estimate='map', whose prior keeps variances positive, or "
            "take fewer classes."
        )
    return usable


def side_by_side(points: Sequence[Point]) -> Point:
    """Return the parameters of several starts along one leading axis."""
    return {name: np.concatenate([point[name] for point in points]) for name in points[0]}


def result(
    work: Steps, runs: Sequence[Run], totals: Ends, starts: int, s: MixtureStatistic | None
) -> EMResult:
    """Put equal optima together and describe the best one.

    `runs` are the best first, none of them collapsed; `totals` are sums over all rows at their
    ends; `starts` counts those that collapsed as well; `s` are the rows, if they are kept.
    """
    optima: dict[int, int] = {}
    for i, run in enumerate(runs):
        same = next((k for k in optima if totals.distances[i, k] < _SAME), i)
        optima[same] = optima.get(same, 0) + run.starts
    best = runs[0]
    if not best.converged:
        warn(f"EM: {_UNFINISHED}")
    usable = sum(run.starts for run in runs)
    return EMResult(
        estimate=work.estimate,
        optima=tuple(
            Optimum(runs[k].objective, runs[k].log_likelihood, taken(runs[k].end, 0), times)
            for k, times in optima.items()
        ),
        trace=best.trace,
        converged=sum(run.starts for run in runs if run.converged),
        starts=starts,
        findings=tuple(_findings(work, best, totals, usable, starts)),
        number_of_rows=float(totals.counts.sum()),
        free_parameters=work.free_parameters,
        entropy=max(totals.entropy, 0.0),
        _model=work.model,
        _statistic=s,
    )


def _findings(work: Steps, best: Run, totals: Ends, usable: int, starts: int) -> list[str]:
    labels = work.model.classes.coords["category"]
    said = []
    if not best.converged:
        said.append(_UNFINISHED)
    if usable < starts:
        said.append(
            f"{starts - usable} of {starts} starts ended where a class of numbers has no "
            "spread and the likelihood no bound; they are left out."
        )
    number = totals.counts.sum()
    empty = [c for c in range(len(labels)) if totals.counts[c] < _EDGE * number]
    said += [f"Class {labels[c]!r} is empty: fewer classes fit as well." for c in empty]
    said += [
        f"Classes {labels[a]!r} and {labels[b]!r} are the same: fewer fit as well."
        for a in range(len(labels))
        for b in range(a + 1, len(labels))
        if a not in empty and b not in empty and totals.gaps[a, b] < _SAME
    ]
    edges = [
        edge
        for belief, names in work.features
        for v in belief.dims
        for edge in _edges(belief, v, names(v), best.end[names(v)][0], empty)
    ]
    if edges:
        shown = ", ".join(edges[:5]) + (f" and {len(edges) - 5} more" if len(edges) > 5 else "")  # noqa: PLR2004
        said.append(
            f"On the border of what is possible: {shown}. Standard errors there have no meaning."
        )
    return said


def _edges(belief: Any, variable: str, name: str, x: Array, empty: Sequence[int]) -> Iterator[str]:
    """Say which probabilities or rates of classes that are not empty are 0."""
    axes = list(belief.coords.values())
    low, levels = x == 0, None
    if "category" in belief.coords:
        low, levels = x < _EDGE, axes.pop()
    elif variable == "theta":
        low, levels = np.stack([x, 1 - x], axis=-1) < _EDGE, (1, 0)
    low[list(empty)] = False
    for at in np.argwhere(low).tolist() if variable != "mu" else ():
        called = f"{name}[{of_place([labels[i] for labels, i in zip(axes, at, strict=False)])}]"
        yield f"{called} is 0" if levels is None else f"{called} of {levels[at[-1]]!r} is 0"
