"""Whether the model fits, which is another question than whether its posterior is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesmodels.report.page import Column, Part, Section, Table, cut
from bayesmodels.report.rounding import decimals_of, rounded

if TYPE_CHECKING:
    from bayesmodels.referee.fit import Fit
    from bayesmodels.referee.verdict import Outcome

MARKS: dict[str, Outcome] = {
    "fits": "agree",
    "does not fit": "disagree",
    "not checked": "inconclusive",
}
"""How an outcome is coloured: as the verdict that is as good or bad."""


def section(fit: Fit | None) -> list[Section]:
    """Return what was checked of the rows; nothing where nothing was."""
    if fit is None or not len(fit.table):
        return []
    table, several = fit.table, len(set(fit.table.index.get_level_values("column"))) > 1
    names = [f"{column}: {check}" if several and column else check for column, check in table.index]
    decimals = [decimals_of(float(gap) / 4, 2) for gap in table["high"] - table["low"]]

    def numbers(head: str, name: str, group: str = "", *, judged: bool = False) -> Column:
        pairs = zip(table[name], decimals, strict=True)
        return Column(head, tuple(rounded(float(x), d) for x, d in pairs), group, judged=judged)

    about = (
        "A posterior can be computed without a fault from a model that is wrong. So these rows are "
        f"compared with {fit.against}."
    )
    p = tuple("< 0.001" if x < 0.001 else f"{x:.3f}" for x in table["p"])  # noqa: PLR2004
    of = "In rows of the model, 98 %"
    shown = (
        Column("", tuple(names), numeric=False),
        numbers("these rows", "rows", judged=True),
        numbers("median", "median", of),
        numbers("from", "low", of),
        numbers("to", "high", of),
        Column("p", p, numeric=False),
    )
    marked = frozenset(np.flatnonzero(table["off"].to_numpy()).tolist())
    note = (
        f"Over all checks, a model that is right is said not to fit with a probability of at most "
        f"{100 * fit.level:g} % (Holm)."
    )
    said = Part("findings", fit.findings) if fit.findings else fit.sentences()[0]
    checks = cut(Table("Checks of the model’s fit", shown, note, marked))
    return [Section("fit", "Does the model fit?", [about, said, checks])]
