"""A posterior by numerical integration: its numbers, and how far off each may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.protocol import Integrated
from bayesmodels.belief.reading import places, shown, summary_or_intervals
from bayesmodels.report.page import Column, Pairs, Table, cut, labels
from bayesmodels.report.rounding import beside, powers, rounded

if TYPE_CHECKING:
    import pandas as pd


def errors_of(posterior: Integrated, prob: float = 0.89) -> pd.DataFrame:
    """Return how far off each number of the summary may be, in its place; not of Deterministics."""
    import pandas as pd

    table = summary_or_intervals(posterior, prob)
    ends, known = posterior.interval_errors(prob), posterior.errors
    moments = [part for part in ("mean", "sd") if part in table]
    rows = {}
    for name in posterior.dims:
        of = [*(known[part][name] for part in moments), *ends[name]]
        each = [np.asarray(x, dtype=float) for x in of]
        for text, at in places(posterior, name, np.shape(each[0])):
            rows[text] = [float(x[at]) for x in each]
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(table.columns))


def numbers(posterior: Integrated, prob: float = 0.89) -> Table:
    """Return means, deviations and intervals, each beside how far off it may be."""
    values = shown(posterior, summary_or_intervals(posterior, prob))
    errors = errors_of(posterior, prob).reindex(values.index)  # of Deterministics none are known
    *moments, low, high = values.columns
    spreads = values[high] - values[low]
    spreads = values["sd"].fillna(spreads) if "sd" in moments else spreads
    result = [labels(values.index)]
    ends = [f"{100 * prob:g} %, {end}" for end in ("from", "to")]
    for name, head in zip(values.columns, [*moments, *ends], strict=True):
        result.append(Column("value", tuple(map(beside, values[name], spreads)), head))
        result.append(Column(f"± {posterior.error_kind}", tuple(map(off, errors[name])), head))
    return cut(Table("Numbers and their errors", tuple(result), posterior.errors_from))


def off(error: float) -> str:
    """Say how far off something may be, to one digit; a dash where that is not known."""
    return powers(error, 0) if np.isfinite(error) else "–"


def evidence(posterior: Any, log_evidence: float | None) -> Pairs:
    """Return the log evidence and its error, and what it was worked out from."""
    known: list[tuple[str, str]] = []
    if log_evidence is not None:
        known = [
            ("Log evidence", rounded(log_evidence, 9)),
            (f"± {posterior.error_kind}", off(posterior.errors["log_evidence"])),
        ]
    return [
        *known,
        ("Integrated in closed form", ", ".join(posterior.integrated) or "nothing"),
        ("Integrated numerically", ", ".join(posterior.remaining) or "nothing"),
        ("Points", f"{posterior.points:,}"),
        ("Tolerance asked for", powers(posterior.tolerance, 0)),
    ]
