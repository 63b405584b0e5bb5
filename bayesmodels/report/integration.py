"""A posterior by numerical integration: its numbers, and how far off each may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.protocol import Integrated
from bayesmodels.belief.reading import places, summary_or_intervals
from bayesmodels.report.page import Column, Pairs, Table, cut, labels
from bayesmodels.report.rounding import beside, powers, rounded

if TYPE_CHECKING:
    import pandas as pd

_HEADS = {"mean": "mean", "sd": "sd", "eti89_lb": "89 %, from", "eti89_ub": "89 %, to"}


def errors_of(posterior: Integrated) -> pd.DataFrame:
    """Return how far off each number of the summary may be, in its place."""
    import pandas as pd

    table = summary_or_intervals(posterior)
    ends, known = posterior.interval_errors(), posterior.errors
    rows = {}
    for name in posterior.dims:
        of = {
            "mean": known["mean"][name],
            "sd": known["sd"][name],
            "eti89_lb": ends[name][0],
            "eti89_ub": ends[name][1],
        }
        each = [np.asarray(of[column], dtype=float) for column in table.columns]
        for text, at in places(posterior, name, np.shape(each[0])):
            rows[text] = [float(x[at]) for x in each]
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(table.columns))


def numbers(posterior: Integrated) -> Table:
    """Return means, deviations and intervals, each beside how far off it may be."""
    values, errors = summary_or_intervals(posterior), errors_of(posterior)
    spreads = values["sd"] if "sd" in values else values["eti89_ub"] - values["eti89_lb"]
    found = [labels(values.index)]
    for name in values.columns:
        cells = tuple(map(beside, values[name], spreads))
        found.append(Column("value", cells, _HEADS[name]))
        found.append(Column("± at most", tuple(map(off, errors[name])), _HEADS[name]))
    note = (
        "How far off a number may be is worked out from how it changed with the last refinements "
        "of the lattice, from what is beyond it, and from rounding."
    )
    return cut(Table("Numbers and their errors", tuple(found), note))


def off(error: float) -> str:
    """Say how far off something may be, to one digit; a dash where that is not known."""
    return powers(error, 0) if np.isfinite(error) else "–"


def evidence(posterior: Any, log_evidence: float | None) -> Pairs:
    """Return the log evidence and its error, and what it was worked out from."""
    known: list[tuple[str, str]] = []
    if log_evidence is not None:
        known = [
            ("Log evidence", rounded(log_evidence, 9)),
            ("It is off by at most", off(posterior.errors["log_evidence"])),
        ]
    return [
        *known,
        ("Integrated in closed form", ", ".join(posterior.integrated) or "nothing"),
        ("On a lattice", ", ".join(posterior.remaining) or "nothing"),
        ("Points of the lattice", f"{posterior.points:,}"),
        ("Tolerance asked for", powers(posterior.tolerance, 0)),
    ]
