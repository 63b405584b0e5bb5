"""Evidence for the answer: intervals in a forest plot, fitted against observed, who is confused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesmodels.belief.protocol import Linear, Regressing, Statistic
from bayesmodels.belief.reading import levels
from bayesmodels.input.data import weighted
from bayesmodels.report import answer, canvas
from bayesmodels.report.answer import Confusion, Effect
from bayesmodels.report.canvas import Picture
from bayesmodels.report.page import MOST_ROWS, Column, Part, Section, Shown, Table, cut, labels
from bayesmodels.report.rounding import decimals_of, rounded

if TYPE_CHECKING:
    from bayesmodels.report.html import Report

_MOST_CLASSES = 12  # columns of a table that fits a page
_DOTS = 1000
_SEVERAL = 3  # elements of a variable that is drawn by itself
_IN_WORDS = 12


@canvas.style()
def sections(report: Report) -> list[Section]:
    """Return a section with what the answer rests on; none if there is nothing more to see."""
    if report.posterior is None:
        return []
    linear, confusion = isinstance(report.prior, Linear), report.confusion
    if linear:
        title, each = "Effects", answer.weights(report)
    elif confusion is None:
        title, each = "Intervals", _elements(report.posterior, report.prob)
    else:
        title, each = "Classification", []
    shown: list[Shown] = []
    if isinstance(confusion, Confusion) and len(confusion.labels) <= _MOST_CLASSES:
        shown.append(confused(confusion))
    if linear and each:
        shown.append(table(each, report.prob))
    fit = fitted(report) if isinstance(report.prior, Regressing) else []
    others = _caterpillars(report) if report.prior is None else []
    by = None if linear else answer.grouped(report.posterior)
    of = "" if by is None else f"{answer.start(report.posterior, by)} by group"
    drawn = [*forest(each, report.prob, of), *others, *fit]
    if drawn[1:]:
        shown.append(Part("pictures", drawn[1:]))
    front = drawn[0] if drawn else None
    return [Section("effects", title, shown, front=front)] if shown or front else []


def _elements(posterior: Any, prob: float) -> list[Effect]:
    """Return the elements of what differs between groups, or of the only variable."""
    names = [name for name in posterior.dims if name not in levels(posterior)]
    name = answer.grouped(posterior) or (names[0] if len(names) == 1 else None)
    if name is None:
        return []
    each = answer.effects(posterior, name, prob)
    return [effect._replace(label=answer.of_group(effect.label)) for effect in each]


def _caterpillars(report: Report) -> list[Picture]:
    """Draw the elements of each variable that has several, by size; not those of the only one."""
    every = answer.by_variable(report.posterior, report.prob)
    names = [name for name in every if name not in levels(report.posterior)]
    pictures: list[Picture] = []
    for name in names if len(names) > 1 else ():
        each = [e._replace(label=answer.plain(e.label)) for e in every[name]]
        if len(each) >= _SEVERAL and not any(", " in e.label for e in each):
            each.sort(key=lambda e: -(e.low + e.high))
            pictures += forest(each, report.prob, f"{name}, by size", len(pictures) + 1)
    return pictures


def table(each: Sequence[Effect], prob: float) -> Table:
    """Return effects with their intervals, and their size in standard deviations, if known."""
    digits = [decimals_of((e.high - e.low) / 4, 3) for e in each]
    columns = [labels(e.label for e in each)]
    for head, values in (
        ("mean", [e.mean for e in each]),
        ("from", [e.low for e in each]),
        ("to", [e.high for e in each]),
    ):
        group = "" if head == "mean" else f"{100 * prob:g} % interval"
        columns.append(Column(head, tuple(map(rounded, values, digits)), group))
    if each[0].scale is not None:
        sizes = tuple(rounded(e.size, 3) for e in each)
        columns.append(Column("of one standard deviation", sizes, "Effect"))
    return cut(Table("Effects, the largest first", tuple(columns)))


def forest(each: Sequence[Effect], prob: float, of: str = "", number: int = 0) -> list[Picture]:
    """Draw intervals of two or more, of weights those of one standard deviation of a column.

    Each says what it is `of`; where there are several, they have numbers.
    """
    if len(each) < 2:  # noqa: PLR2004 - nothing to compare
        return []
    shown = each[:MOST_ROWS]
    scales = np.array([1.0 if e.scale is None else e.scale for e in shown])
    low, mean, high = (scales * [getattr(e, k) for e in shown] for k in ("low", "mean", "high"))
    names = pd.Index([e.label for e in shown], name="of")
    table = pd.DataFrame({"low": low, "mean": mean, "high": high}, names)
    many = len(shown) > _IN_WORDS
    axes = canvas.axes_of((canvas.WIDE, 0.7 + (0.14 if many else 0.25) * max(2, len(shown))))
    if low.min() < 0 < high.max():
        axes.axvline(0, color=canvas.INK, lw=0.8, ls="--")
    canvas.intervals(axes, table)
    if many:
        axes.tick_params(axis="y", labelsize=6)
    one = shown[0].scale is not None
    axes.set_xlabel("effect of one standard deviation of the column" if one else "value")
    words = "; ".join(map(str, shown[:_IN_WORDS]))
    more = f"; and {len(each) - _IN_WORDS} more" if len(each) > _IN_WORDS else ""
    caption = f"Dots: posterior means. Lines: {100 * prob:g} % intervals."
    if len(each) > len(shown):
        caption += f" {len(each) - len(shown):,} more are not shown."
    alt = f"Means with {100 * prob:g} % intervals: {words}{more}."
    name, title = f"forest-{number}" if number else "forest", of or "Forest plot"
    return [canvas.picture(name, title, axes, table, caption, alt)]


def fitted(report: Any) -> list[Picture]:
    """Draw what was observed over what is fitted; nothing without rows, or of many targets."""
    if isinstance(report.data, Statistic) or weighted(report.data):
        return []
    X, y = report.prior.design(report.data)
    if y.ndim > 1:
        return []
    # A variance of which no mean exists does not move the fit.
    known = {k: np.where(np.isfinite(v), v, 1) for k, v in report.posterior.mean().items()}
    mean = report.posterior.plug_in(known, X).mean()
    some = slice(None, None, -(-len(y) // _DOTS))
    r2 = float(np.median(answer.explained(report)))
    axes = canvas.axes_of()
    axes.axline((float(y[0]), float(y[0])), slope=1, color=canvas.INK, lw=0.8, ls="--")
    table = pd.DataFrame({"fitted": mean, "observed": y}).rename_axis("row")[some]
    canvas.points(axes, table)
    digits = decimals_of(float(y.std()), 3)
    alt = (
        f"Observed over fitted values of {len(y):,} rows, observed from "
        f"{rounded(float(y.min()), digits)} to {rounded(float(y.max()), digits)}, fitted from "
        f"{rounded(float(mean.min()), digits)} to {rounded(float(mean.max()), digits)}; "
        f"R² is {r2:.2f}."
    )
    caption = f"A dot a row; on the dashed line both are the same. R² is {r2:.2f}."
    if len(y) > _DOTS:
        caption += " Every k-th row is shown."
    panels = (canvas.panel("", axes, table, alt),)
    return [Picture("fitted", "Fitted against observed", panels, caption)]


def confused(confusion: Confusion) -> Table:
    """Return how many rows of each class were taken for each class."""
    names = list(map(str, confusion.labels))
    columns = [labels(names)]
    for name, counts in zip(names, confusion.counts.T, strict=True):
        columns.append(Column(name, tuple(f"{n:,}" for n in counts), "taken for"))
    right = confusion.counts.diagonal() / np.maximum(1, confusion.counts.sum(1))
    columns.append(Column("right", tuple(f"{100 * x:.0f} %" for x in right)))
    return Table(
        "Confusion matrix",
        tuple(columns),
        f"Rows are the classes that rows have, each classified by {confusion.by}.",
    )
