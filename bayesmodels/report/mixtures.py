"""Mixtures in pictures: how EM went, what the classes are like, which rows belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesmodels.errors import DataError
from bayesmodels.models.mixture.label_switching import relabel
from bayesmodels.numerics import Array
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Picture, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesmodels.models.mixture.em import EMResult
    from bayesmodels.report.html import Report


MOST_FEATURES = 40
"""Lines of a picture of profiles."""


def plot_em_trace(result: EMResult, axes: Axes | None = None) -> Axes:
    """Draw how far the objective was from its end after each step of the best start of EM.

    Parameters
    ----------
    result : EMResult
        From `NaiveBayesMixture.em`.
    axes : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes
        On a logarithmic scale, where EM's steps end as a straight line.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> model = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    >>> found = model.em([[1, 1], [1, 0], [0, 0], [0, 0]], rng=1)
    >>> bm.plots.plot_em_trace(found).get_xlabel()
    'step'
    """
    axes = canvas.axes_of((canvas.WIDE, 2.6)) if axes is None else axes
    canvas.curves(axes, _steps(result))
    axes.set_yscale("log")
    axes.set_ylabel("below the end, in nats")
    return axes


def _steps(result: EMResult) -> pd.DataFrame:
    gap = result.trace[-1] - result.trace[:-1]
    steps = pd.Index(np.arange(1, len(result.trace)), name="step")
    return pd.DataFrame({"below the end": gap}, steps)[gap > 0]


def plot_class_profiles(model: Any, parameters: Any, axes: Axes | None = None) -> Axes:
    """Draw what each class of a mixture expects of every feature.

    Parameters
    ----------
    model : NaiveBayesMixture
        That has met its data.
    parameters : mapping
        One value of every variable: of EM, or means of relabelled draws.
    axes : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes
        A line for each probability of a level (of bits that of 1), a column for each class; numbers
        as how far the class's mean is from the mean over classes, in its standard deviations.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> model = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    >>> bits = [[1, 1], [1, 0], [0, 0], [0, 0]]
    >>> axes = bm.plots.plot_class_profiles(model.update(bits), model.em(bits, rng=1).parameters)
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['0', '1']
    """
    table, colour = _profiles(model, parameters)
    table = table[:MOST_FEATURES]
    axes = canvas.axes_of((canvas.WIDE, 1 + 0.26 * len(table))) if axes is None else axes
    pi = np.asarray(parameters["pi"])
    heads = [f"{printable((str(k),))}\n{100 * p:.0f} %" for k, p in zip(table, pi, strict=True)]
    canvas.grid(axes, colour[:MOST_FEATURES], table, heads)
    return axes


@canvas.style()
def mixtures(report: Report) -> list[Picture]:
    """Draw what a mixture has learnt, and say what the order of its classes does to its draws.

    Profiles of the classes from relabelled draws, and EM.
    """
    prior: Any = report.prior
    model, result = report.posterior, relabel(prior, report.sampled, report.data)
    means = {
        str(name): x.mean(("chain", "draw")).to_numpy()
        for name, x in result.draws["posterior"].data_vars.items()
    }
    table, _ = _profiles(model, means)
    pictures = [
        canvas.picture(
            "profiles",
            "Classes",
            plot_class_profiles(model, means),
            table[:MOST_FEATURES],
            "What each class expects: probabilities, and means of numbers. Means of PyMC's draws "
            f"in one order of the classes: {result.rule}. {result.sentences()[0]}",
            "Profiles of the classes: "
            + "; ".join(f"{name}: {', '.join(texts)}" for name, *texts in table.itertuples())
            + ".",
        )
    ]
    return [*pictures, *_em_picture(prior, report.data)]


def _em_picture(prior: Any, data: Any) -> list[Picture]:
    try:
        # A seed of its own: the same report has the same pictures.
        result = prior.em(data, rng=np.random.default_rng(1))
    except DataError:  # a likelihood without a bound has no maximum to show
        return []
    best = result.optima[0]
    said = (
        f"EM for maximum likelihood from {result.starts} random starts: log likelihood "
        f"{best.log_likelihood:.3f}, reached by {best.found} of them, by the best one after "
        f"{len(result.trace)} steps; different optima: {len(result.optima)}. BIC {result.bic:.1f}."
    )
    caption = " ".join([said, *result.findings])
    return [canvas.picture("em", "EM", plot_em_trace(result), _steps(result), caption, said)]


def _profiles(model: Any, parameters: Any) -> tuple[pd.DataFrame, Array]:
    """Return numbers as text, a row a feature and a column a class, and colours from 0 to 1."""
    labels, cells, colours = list[str](), list[list[str]](), list[Array]()
    for (belief, names), block in zip(model.parts()[1:], model.blocks, strict=True):
        coords = [each for axis, each in belief.coords.items() if axis != "class"]
        name = next(iter(belief.dims)) if "theta" in belief.dims else "mu"
        value = np.asarray(parameters[names(name)], dtype=float)
        colour = value
        if name == "mu":
            spread = np.sqrt(np.asarray(parameters[names("sigma2")], dtype=float))
            colour = np.clip(0.5 + (value - value.mean(0)) / (4 * spread), 0, 1)
        for at in np.ndindex(value.shape[1:]):
            inner = [str(each[i]) for each, i in zip(coords, at, strict=True)]
            whole = " ".join([*([block] if block else []), *inner])
            texts = [
                f"{x:.3g}" if name == "mu" else f"{x:.2f}" for x in np.moveaxis(value, 0, -1)[at]
            ]
            labels.append(printable((whole,)))
            cells.append(texts)
            colours.append(np.moveaxis(colour, 0, -1)[at])
    classes = list(map(str, model.coords["class"]))
    table = pd.DataFrame(cells, pd.Index(labels, name="feature"), classes)
    return table, np.array(colours)
