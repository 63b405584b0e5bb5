"""What was read of a file, for its owner to compare: in the terminal, and in the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesmodels.report.page import Column, Pairs, Part, Section, Table, cut

if TYPE_CHECKING:
    from bayesmodels.input.tables import WasRead

TITLE = "What was read"
_KINDS = {
    "number": "of numbers",
    "label": "of labels",
    "truth value": "of truth values",
    "date": "of dates",
    "empty": "empty",
}
_LONGEST = 30  # characters of a cell


class Reading(NamedTuple):
    """A file as it was read, what was noted of it, and what was done with it for the model.

    Arguments that sentences name are put in the reader's `words`.
    """

    read: WasRead
    noted: Sequence[str]
    done: Sequence[str]
    words: Callable[[str], str] = str

    def facts(self) -> Pairs:
        """Return names and values: how much was read, what was left out, what was recoded."""
        kinds = list(self.read["columns"].values())
        each = [f"{kinds.count(k):,} {words}" for k, words in _KINDS.items() if k in kinds]
        total = f"{len(kinds):,}: " if len(each) > 1 else ""
        left_out = [f"{what}, which {why}." for what, why in self.read["left_out"]]
        told = {*self.read["recoded"], *(f"Left out: {sentence}" for sentence in left_out)}
        return [
            ("File", self.read["file"]),
            ("Rows below the heading", f"{self.read['rows']:,}"),
            ("Columns", total + ", ".join(each)),
            *(("Left out", sentence) for sentence in left_out),
            *(("Recoded", self.words(sentence)) for sentence in self.read["recoded"]),
            *(("Noted", self.words(text)) for text in self.noted if text not in told),
            *(("Done for the model", sentence) for sentence in self.done),
        ]

    def columns(self) -> Table:
        """Return each column with its kind, and its cell in the first row as it stands there."""
        kinds = self.read["columns"]
        first = [self.read["first_row"].get(name, "") for name in kinds]
        return Table(
            "Columns",
            (
                Column("column", tuple(kinds), numeric=False),
                Column("read as", tuple(kinds.values()), numeric=False),
                Column("in the first row", tuple(map(_short, first)), numeric=False),
            ),
        )

    def section(self) -> Section:
        """Return the section of a report."""
        return Section("read", TITLE, [Part("facts", self.facts()), cut(self.columns())])

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain values, for JSON."""
        kept = {key: value for key, value in self.read.items() if key != "written"}
        said = {"recoded": self.read["recoded"], "noted": self.noted, "done": self.done}
        return kept | {part: [*map(self.words, texts)] for part, texts in said.items()}


def _short(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else f"{cell[: _LONGEST - 3]}..."
