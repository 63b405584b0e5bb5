"""The pictures of a report that only classifiers have: features by class, and the boundary."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesmodels.belief.protocol import Classifier, Statistic
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.classes import (
    curve,
    draw_feature,
    levels_shown,
    name_classes,
    plot_boundary,
)
from bayesmodels.report.features import Feature, Rows, features_of
from bayesmodels.report.page import Validated
from bayesmodels.report.rounding import decimals_of, rounded

MOST_PANELS = 8
_IN_WORDS = 6  # classes that an alternative text goes through
_SIZE = (3.6, 2.9)  # inches, with the names of the classes


def learnt(report: Validated) -> list[Picture]:
    """Draw what a classifier has learnt: features by class and, of two numbers, the boundary."""
    belief = report.posterior
    if not isinstance(belief, Classifier):
        return []
    rows = None if isinstance(report.data, Statistic) else Rows(belief, report.data)
    every = features_of(belief)
    found = [_features(belief, every, rows)]
    if len(every) == 2 and all(f.law is not None for f in every):  # noqa: PLR2004 - a plane
        found.append(_boundary(belief, every, None if rows is None else report.data))
    return found


@canvas.style()
def _features(belief: Any, every: list[Feature], rows: Rows | None) -> Picture:
    shown = every[:MOST_PANELS]
    about = (
        "What is predicted of a new row of each class, with all parameters integrated out: "
        "densities of numbers, probabilities of all else."
    )
    caption = [about]
    if rows is not None:
        caption.append("Behind densities (as ticks, if few) and as dots on bars: the rows.")
    if any(len(f.levels) > len(levels_shown(f)) for f in shown if f.law is None):
        caption.append("Of many categories, those are shown that differ most between classes.")
    if len(every) > len(shown):
        caption.append(f"{len(every) - len(shown):,} more features are not shown.")
    return Picture(
        "features",
        "Features by class",
        tuple(_feature(belief, feature, rows) for feature in shown),
        " ".join(caption),
    )


def _feature(belief: Any, feature: Feature, rows: Rows | None) -> Panel:
    axes, data = canvas.axes_of(_SIZE), curve(feature, "0").to_dataset(name="x")
    drawn = canvas.collection(
        axes, data, {"color": ["class"]}, color=canvas.colours(len(data["class"]))
    )
    draw_feature(drawn, "x", feature, rows)
    name_classes(axes, belief, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    labels = [str(label) for label in belief.classes.coords["category"]]
    each = "; ".join(
        f"{label}: {_in_words(feature, c)}" for c, label in enumerate(labels[:_IN_WORDS])
    )
    more = f"; and {len(labels) - _IN_WORDS} more classes" if len(labels) > _IN_WORDS else ""
    return canvas.panel(
        feature.label, axes, f"Predicted {feature.label} in each class. {each}{more}."
    )


def _in_words(feature: Feature, c: int) -> str:
    if feature.law is None:
        mass = np.asarray(feature.mass)[c]
        return ", ".join(f"{feature.levels[k]} {mass[k]:.3f}" for k in levels_shown(feature))
    ends = [np.atleast_1d(feature.law.ppf(q))[c] for q in (0.055, 0.5, 0.945)]
    places = decimals_of(float(ends[2] - ends[0]), 3)
    low, middle, high = (rounded(float(x), places) for x in ends)
    return f"median {middle}, 89 % between {low} and {high}"


@canvas.style()
def _boundary(belief: Any, pair: list[Feature], data: Any) -> Picture:
    axes = canvas.axes_of((canvas.WIDE, 4.2))
    labels = [feature.label for feature in pair]
    # A seed of its own: the same report has the same pictures.
    plot_boundary(belief, labels, data, rng=np.random.default_rng(1), axes=axes)
    axes.set_xlabel("first feature")
    axes.set_ylabel("second feature")
    (low, high), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    sides = [
        f"{label} from {rounded(a, decimals_of(b - a, 3))} to {rounded(b, decimals_of(b - a, 3))}"
        for label, a, b in zip(labels, (low, bottom), (high, top), strict=True)
    ]
    alt = f"Regions of the classes: across, {sides[0]}; upwards, {sides[1]}."
    panel = canvas.panel(" × ".join(labels), axes, alt)
    return Picture(
        "boundary",
        "Regions of the classes",
        (panel,),
        "Colours mix the classes by their probabilities. Black: where two classes are equally, and "
        "most, probable. Dashed: the band in which another class may be the most probable one, "
        "since parameters are uncertain (for two classes: where the 89 % interval of the class "
        "probability contains one half).",
        wide=True,
    )
