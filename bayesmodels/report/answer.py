"""What the data said, in plain words: which effects, which group, how well rows are classified."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import (
    Approximable,
    Classifier,
    LatentClasses,
    Linear,
    Regressing,
    Statistic,
)
from bayesmodels.belief.reading import (
    halves_of_symmetric,
    levels,
    places,
    shown,
    summary_or_intervals,
)
from bayesmodels.belief.rows import rows_at
from bayesmodels.decisions.decision import decide
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.data import paired, weighted
from bayesmodels.input.wrappers import Weighted
from bayesmodels.numerics import Array
from bayesmodels.report.features import Rows
from bayesmodels.report.rounding import decimals_of, rounded

_TINY = np.finfo(float).tiny  # width of an interval
_MISFIT = "As if the model were right, which these rows deny:"
_SHOWN = 6  # numbers that a paragraph goes through
_TIED = 1e-6  # between probabilities that are the same
_ONE_BY_ONE = 200  # rows; more are left out in ten parts
_FOLDS = 10
_MOST_ROWS = 100_000  # that are classified, each by others
_DRAWS, _ROWS = 1000, 5000  # of a variance explained


class Effect(NamedTuple):
    """A number with its interval; `scale` makes it the effect of one standard deviation.

    The mean is NaN where it does not exist, the scale None where no rows tell of it.
    """

    label: str
    mean: float
    low: float
    high: float
    scale: float | None = None

    @property
    def size(self) -> float:
        """The effect of one standard deviation of a column, in the target's."""
        return self.mean * (self.scale or np.nan)

    @property
    def ratio(self) -> Effect:
        """What odds are multiplied by, of an effect on their log."""
        numbers = np.exp([self.mean, self.low, self.high])
        return Effect(self.label, *map(float, numbers))

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        digits = decimals_of((self.high - self.low) / 4, 2)
        low, high = rounded(self.low, digits), rounded(self.high, digits)
        if np.isnan(self.mean):
            return f"{self.label} between {low} and {high}"
        return f"{self.label} {rounded(self.mean, digits)} ({low} to {high})"


class Confusion(NamedTuple):
    """How many rows of each class (rows) were taken for each class (columns), in words by whom."""

    labels: tuple[Any, ...]
    counts: NDArray[np.int64]
    by: str


def answered(report: Any) -> list[str]:
    """Say what the posterior is; nothing of draws alone."""
    if report.prior is None:
        return [] if report.posterior is None else _numbers(report.posterior, report.prob)
    misfit = report.fit is not None and report.fit.outcome == "does not fit"
    if isinstance(report.prior, Approximable):
        said = [*_weights(report), *_classified(report.confusion)]
    else:
        said = _of_belief(report)
    return [f"{_MISFIT} {said[0]}", *said[1:]] if misfit and said else said


def _of_belief(report: Any) -> list[str]:
    posterior: Any = report.posterior
    if isinstance(report.prior, Linear) and (said := _weights(report)):
        return [*said, *_explained(report)]
    if isinstance(posterior, Classifier) and not isinstance(posterior, LatentClasses):
        return _classified(report.confusion)
    if isinstance(posterior, LatentClasses) and posterior.exchangeable:
        sizes = report.comparison.table["mean"].filter(like="pi_sorted")
        each = ", ".join(rounded(float(share), 2) for share in sizes)
        return [f"Nothing tells the classes apart. Their probabilities by size: {each}."]
    if (name := grouped(posterior)) is not None:
        return _groups(posterior, name, report.prob)
    return _numbers(posterior, report.prob)


# --- effects --------------------------------------------------------------------------------------


def effects(posterior: Any, name: str, prob: float) -> list[Effect]:
    """Return the elements of a variable, each with its interval."""
    law = posterior.marginals()[name]
    low, high = law.ppf((1 - prob) / 2), law.isf((1 - prob) / 2)
    means = np.where(np.isfinite(law.mean()), law.mean(), np.nan)
    return [
        Effect(text, float(means[at]), float(np.asarray(low)[at]), float(np.asarray(high)[at]))
        for text, at in places(posterior, name, np.shape(low))
    ]


def weights(report: Any) -> list[Effect]:
    """Return the weights of columns, the largest effects of a standard deviation first.

    Without rows, whose deviations they are, the weights farthest from zero in their own spread. The
    column of ones has no effect.
    """
    prior: Any = report.prior
    posterior: Any = report.posterior
    name = next(iter(posterior.dims))
    each = effects(posterior, name, report.prob)
    if isinstance(prior, Approximable) and report.sampled is not None:
        each = _drawn(each, report.sampled["posterior"][name].to_numpy(), report.prob)
    each = [e._replace(label=_of_column(e.label)) for e in each]
    if not isinstance(report.data, Statistic) and not weighted(report.data):
        X, y = prior.design(report.data)
        spread = X.std(0)
        if isinstance(prior, Regressing):
            spread = spread / np.where(y.std(0) > 0, y.std(0), np.nan)[..., None]
        sizes = np.broadcast_to(spread, np.shape(posterior.marginals()[name].mean())).ravel()
        each = [e._replace(scale=float(s)) for e, s in zip(each, sizes, strict=True) if s > 0]
        return sorted(each, key=lambda e: -abs(e.size))
    each = [e for e in each if e.label != "intercept"]
    return sorted(each, key=lambda e: -abs(e.low + e.high) / max(e.high - e.low, _TINY))


def _drawn(each: Sequence[Effect], draws: Array, prob: float) -> list[Effect]:
    """Return the same effects by draws (chain, draw, ...): an approximation may be off."""
    flat = draws.reshape(-1, len(each))
    low, high = np.quantile(flat, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    numbers = zip(each, flat.mean(0), low, high, strict=True)
    return [Effect(e.label, *map(float, others)) for e, *others in numbers]


def plain(label: str) -> str:
    """Return the label of a scalar without its variable's symbol; of a mere number with it.

    Examples
    --------
    >>> plain("theta[aspirin]"), plain("theta[10:30]"), plain("sigma2"), plain("mu[0]")
    ('aspirin', '10:30', 'sigma2', 'mu[0]')
    """
    inner = _inner(label)
    return label if not inner or inner.isdigit() else inner


def of_group(label: str) -> str:
    """Return the label of a group's scalar as the group's; of a mere number as such.

    Examples
    --------
    >>> of_group("theta[aspirin]"), of_group("mu[4]")
    ('aspirin', 'group 4')
    """
    inner = _inner(label)
    return f"group {inner}" if inner.isdigit() else plain(label)


def in_words(posterior: Any, name: str) -> str:
    """Return what a variable of a belief is called, or its symbol."""
    words: dict[str, str] = getattr(posterior, "words", {})
    return words.get(name, name)


def _inner(label: str) -> str:
    return label.partition("[")[2].removesuffix("]")


def start(posterior: Any, name: str) -> str:
    """Return the same at the start of a sentence."""
    words = in_words(posterior, name)
    return words if words == name else words.capitalize()


def _worded(posterior: Any, label: str) -> str:
    """Return the label of a scalar in words, with a colon before the level that it is of.

    Examples
    --------
    >>> [_worded(None, x) for x in ("odds ratio of trt[drug]", "C(period)[2]", "w[0, 1]")]
    ['odds ratio of trt: drug', 'C(period): level 2', 'w[0, 1]']
    """
    name, inner = label.partition("[")[0], _inner(label)
    index = re.fullmatch(r"[\d, ]*", inner) and not name.endswith(")")
    words = in_words(posterior, name)
    level = f"level {inner}" if inner.isdigit() else inner
    return label.replace(name, words, 1) if index else f"{words}: {level}"


def _of_column(label: str) -> str:
    """Return the label of a weight by its column, an indicator as text and level.

    Examples
    --------
    >>> _of_column("w[Type[Midsize]]"), _of_column("w[x:Type[Van]]"), _of_column("w[age]")
    ('Type: Midsize', 'x:Type[Van]', 'age')
    """
    return re.sub(r"^([^:\[\]]+)\[([^\[\]]+)\]$", r"\1: \2", plain(label))


def _weights(report: Any) -> list[str]:
    each, prob, prior = weights(report), _percent(report.prob), report.prior
    clear, unclear = [e for e in each if e.clear], [e for e in each if not e.clear]
    if not clear:
        of = "one column" if len(each) == 1 else f"{len(each):,} columns"
        return [f"No {prob} interval of the effects of {of} leaves out zero."] if each else []
    if isinstance(prior, Regressing):
        what = f"{_target(report)} changes by"
    else:
        clear, (first, second, *more) = [e.ratio for e in clear], map(str, prior.classes)
        name = f"{_target(report)} = {second}" if re.fullmatch(r"[\d.]+", second) else second
        of = f"a class against {first}" if more else name
        what = f"the odds of {of} are multiplied by"
    said = [f"For one more unit of a column {what} ({prob} intervals): {_listed(clear)}."]
    names = _listed([e.label for e in unclear])
    return [*said, f"Not told from zero: {names}."] if unclear else said


def _target(report: Any) -> str:
    """Return what the target is called, if it has a name."""
    data = report.data.rows if isinstance(report.data, Weighted) else report.data
    name = getattr(getattr(data, "target", None), "name", None)
    return "the target" if name is None else str(name)


def _explained(report: Any) -> list[str]:
    """Say which share of the target's variance the columns explain, one share a target."""
    if isinstance(report.data, Statistic) or weighted(report.data):
        return []
    result = explained(report)
    low, middle, high = np.quantile(result, [(1 - report.prob) / 2, 0.5, (1 + report.prob) / 2], 0)
    if np.ndim(middle):
        return []
    interval = f"{_percent(report.prob)} interval {low:.2f} to {high:.2f}"
    share = f"{100 * middle:.0f} % of the target’s variance (R² {middle:.2f}, {interval})"
    return [f"The columns explain {share}."]


def explained(report: Any) -> Array:
    r"""Return draws of the share of the target's variance that the columns explain.

    .. math:: R^2 = \frac{\mathrm{var}_i(x_i^T w)}{\mathrm{var}_i(x_i^T w) + \sigma^2}

    of at most 5,000 rows, spread over all of them.

    References
    ----------
    Gelman, Goodrich, Gabry and Vehtari (2019), R-squared for Bayesian regression models. The
    American Statistician 73, 307–309.
    """
    X, _ = report.prior.design(report.data)
    draws = report.posterior.sample(_DRAWS, np.random.default_rng(0))
    law = report.posterior.plug_in(draws, X[:: -(-len(X) // _ROWS)])
    fitted = law.mean().var(0)
    return np.asarray(fitted / (fitted + law.var().mean(0)))


# --- groups ---------------------------------------------------------------------------------------


def grouped(posterior: Any) -> str | None:
    """Return the first variable that has one element a group, if there is one."""
    finite = levels(posterior)
    every = posterior.dims.items()
    return next((n for n, axes in every if axes == ("group",) and n not in finite), None)


def _groups(posterior: Any, name: str, prob: float) -> list[str]:
    each = [e._replace(label=of_group(e.label)) for e in effects(posterior, name, prob)]
    order = sorted(range(len(each)), key=lambda k: -(each[k].low + each[k].high))
    shown = [each[k] for k in order]
    by = f"{start(posterior, name)} by group, the largest first ({_percent(prob)} intervals)"
    said = [f"{by}: {_listed(shown)}."]
    if len(each) == 1:
        return said
    try:
        largest = decide(posterior, name).best
    except PriorError:  # piled up at an end, where nothing can be said
        return said
    first = [e.label for e, p in zip(each, largest, strict=True) if p > largest.max() - _TIED]
    probability = _probability(largest.max())
    if len(first) == 1:
        return [*said, f"{first[0]} is the largest with a probability of {probability}."]
    names = f"{', '.join(first[:-1])} and {first[-1]}"
    return [*said, f"{names} are equally probable to be the largest: {probability} each."]


# --- classes --------------------------------------------------------------------------------------


def confusion(report: Any) -> Confusion | str | None:
    """Classify rows of a classifier by the others; say why where that can't be done."""
    if isinstance(report.prior, Approximable):
        return _confusion_of_logistic(report)
    if not isinstance(report.prior, Classifier) or isinstance(report.prior, LatentClasses):
        return None
    prior: Any = report.prior
    if isinstance(report.data, Statistic) or weighted(report.data):
        return "How well rows are classified is not known: the rows themselves were not given."
    codes = Rows(report.posterior, report.data).codes
    return _confused(
        prior.classes.coords["category"],
        codes,
        report.data,
        lambda rest, rows: prior.update(rest).class_probabilities(rows.features),
    )


def _confusion_of_logistic(report: Any) -> Confusion | str | None:
    """Classify rows of a logistic regression by the others."""
    prior = report.prior
    counts = prior.labelled(report.data).counts
    if weighted(report.data) or (counts.sum(1) != 1).any():
        return None

    def probabilities(rest: Any, rows: Any) -> Array:
        near = prior.laplace(rest)
        return near.class_probabilities(rows.features, intercept=rows.intercept, rng=0)

    return _confused(prior.classes, counts.argmax(1), report.data, probabilities)


def _confused(
    labels: Sequence[Any],
    codes: NDArray[Any],
    data: Any,
    probabilities: Callable[[Any, Any], Array],
) -> Confusion | str | None:
    design = paired(data)
    number = number_of_rows(design)
    if not 1 < number <= _MOST_ROWS:
        return None
    folds = number if number <= _ONE_BY_ONE else _FOLDS
    taken, every = np.zeros(number, dtype=np.intp), np.arange(number)
    try:
        for k in range(folds):
            fold = every % folds == k
            rest, rows = rows_at(design, every[~fold]), rows_at(design, every[fold])
            taken[fold] = probabilities(rest, rows).argmax(-1)
    except (DataError, PriorError) as error:
        return f"How well rows are classified is not known: {error}"
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (codes, taken), 1)
    by = "all other rows" if folds == number else "the rows of nine other tenths"
    return Confusion(tuple(labels), counts, by)


def _classified(result: Confusion | str | None) -> list[str]:
    if result is None or isinstance(result, str):
        return [result] if result else []
    counts, total = result.counts, int(result.counts.sum())
    right, often = int(counts.trace()), int(counts.sum(1).max())
    shares = f"{100 * right / total:.0f} %", f"{100 * often / total:.0f} %"
    rows = f"Of {total:,} rows, each classified by {result.by}, {right:,} ({shares[0]})"
    guess = f"guessing the most frequent class is right of {often:,} ({shares[1]})"
    said = [f"{rows} get the class that they have; {guess}."]
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    if wrong.any():
        c, d = np.unravel_index(wrong.argmax(), wrong.shape)
        labels = result.labels[c], result.labels[d]
        of = f"{wrong[c, d]:,} of {counts[c].sum():,} rows"
        said.append(f"Most often confused: {labels[0]} taken for {labels[1]}, {of}.")
    return said


# --- all else -------------------------------------------------------------------------------------


def by_variable(posterior: Any, prob: float) -> dict[str, list[Effect]]:
    """Return the numbers that a reader is shown, by the variable or Deterministic they are of."""
    table = shown(posterior, summary_or_intervals(posterior, prob))
    means = table["mean"] if "mean" in table else np.full(len(table), np.nan)
    each = map(Effect, table.index, means, *table[table.columns[-2:]].to_numpy().T)
    result: dict[str, list[Effect]] = {}
    for effect in each:
        result.setdefault(effect.label.partition("[")[0], []).append(effect)
    return result


def _numbers(posterior: Any, prob: float) -> list[str]:
    """Go through the first numbers of a posterior, and the most probable values.

    Not covariances; of one variable with many elements the largest first, of others both ends. What
    is there as a ratio, too, is that.
    """
    finite, said = levels(posterior), []
    symmetric = {text for half in halves_of_symmetric(posterior) for text in half}
    every = {
        name: [e for e in each if e.label not in symmetric]
        for name, each in by_variable(posterior, prob).items()
        if name not in finite
    }
    of = f"({_percent(prob)} intervals)"
    alone = [name for name in every if name in posterior.dims]
    if len(alone) == 1 and len(every[alone[0]]) > 1:
        each = sorted(every.pop(alone[0]), key=lambda e: -(e.low + e.high))
        plainly = _listed([e._replace(label=plain(e.label)) for e in each])
        axes = posterior.dims[alone[0]]
        by = f" by {' and '.join(axes)}" if "group" in axes else ""
        said.append(f"{start(posterior, alone[0])}{by}, the largest first {of}: {plainly}.")
    ratios = {name.partition("ratio of ")[2] for name in every}
    every = {name: each for name, each in every.items() if name not in ratios}
    order = sorted(every, key=lambda name: name in posterior.dims)  # Deterministics first
    groups = [n for n in order if len(every[n]) > _SHOWN or f"{n}_offset" in posterior.dims]
    if few := [e for name in order if name not in groups for e in every[name]]:
        named = [e._replace(label=_worded(posterior, e.label)) for e in few]
        said.append(f"With {_percent(prob)} intervals: {_listed(named)}.")
    for name in groups:
        each = sorted(every[name], key=lambda e: e.low + e.high)
        least, most = (f"{e._replace(label='')} of {_inner(e.label)}" for e in (each[0], each[-1]))
        said.append(f"{name} goes from{least} to{most}.")
    for name in list(finite)[:_SHOWN]:
        mass = np.asarray(posterior.marginals()[name].mean())
        if mass.ndim == 1:
            likely = np.argsort(-mass, kind="stable")[:3]
            words = ", ".join(f"{finite[name][k]} ({_probability(mass[k])})" for k in likely)
            said.append(f"Most probable values of {name}: {words}.")
    return said


def _listed(each: Sequence[Any]) -> str:
    texts = [str(one) for one in each[:_SHOWN]]
    mark = "; " if any(", " in text for text in texts) else ", "
    return mark.join(texts) + _more(each)


def _more(each: Sequence[Any]) -> str:
    left = len(each) - _SHOWN
    return f" and {left:,} more" if left > 0 else ""


def _probability(p: float) -> str:
    return "more than 0.999" if p > 0.9995 else rounded(float(p), 3)  # noqa: PLR2004


def _percent(prob: float) -> str:
    return f"{100 * prob:g} %"
