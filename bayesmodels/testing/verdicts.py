"""Verdicts as plain values: JSON with a published schema, and Markdown for a summary of CI."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesmodels.belief.protocol import Judgement

SCHEMA = Path(__file__).with_name("verdicts.schema.json")
"""What a file of verdicts looks like, as a JSON Schema."""
_MEASURED = ("level", "largest", "largest_z", "smallest_ess", "largest_r_hat")


def entry(name: str, judgement: Judgement) -> dict[str, Any]:
    """Return a finding as plain values; None where something was not measured, or is no number."""
    from bayesmodels.belief.protocol import Measured

    measured = judgement.measured() if isinstance(judgement, Measured) else {}
    known = {key: _plain(measured.get(key)) for key in _MEASURED}
    return {
        "test": name,
        "kind": type(judgement).__name__,
        "outcome": judgement.outcome,
        "sentence": judgement.sentences()[0],
        "findings": list(judgement.findings),
        **known,
    }


def _plain(value: Any) -> str | float | None:
    if value is None or isinstance(value, str):
        return value
    return float(value) if math.isfinite(value) else None


def unsaid(sentence: str, findings: Sequence[str]) -> list[str]:
    """Return the findings that the sentence does not contain: for most kinds, all but the first."""
    return [finding for finding in findings if finding not in sentence]


def to_json(entries: Sequence[dict[str, Any]], false_alarms: float | None) -> str:
    """Return verdicts as the schema has them."""
    from bayesmodels import __version__

    head = {"format": "bayesmodels verdicts", "schema": 1, "version": __version__}
    result = {**head, "false_alarms": false_alarms, "verdicts": list(entries)}
    return json.dumps(result, indent=1, allow_nan=False) + "\n"


def in_short(entries: Sequence[dict[str, Any]], false_alarms: float | None) -> str:
    """Say in words the numbers of outcomes and the budget."""
    each = Counter(result["outcome"] for result in entries)
    kinds = ", ".join(f"{number} {outcome}" for outcome, number in each.items()) or "none"
    said = f"{len(entries)} verdict{'' if len(entries) == 1 else 's'}: {kinds}."
    if false_alarms is None:
        return said
    return f"{said} Right ones are called wrong in at most {100 * false_alarms:g} % of runs."


def row(values: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return outcome, largest discrepancy, effective draws and level as text."""
    z, ess, level = values["largest_z"], values["smallest_ess"], values["level"]
    return (
        values["outcome"],
        "" if z is None else f"{abs(z):.1f}",
        "" if ess is None else f"{ess:,.0f}",
        "" if level is None else f"{level:.1e}",
    )


HEAD = ("verdict", "worst z", "ESS", "level")


def to_markdown(entries: Sequence[dict[str, Any]], false_alarms: float | None) -> str:
    """Return a table of verdicts, and all that was found where something is wrong or open."""
    lines = ["# Verdicts", "", in_short(entries, false_alarms), ""]
    if entries:
        lines += [f"| {' | '.join((*HEAD, 'of', 'test'))} |", f"|{'---|' * (len(HEAD) + 2)}"]
    for result in entries:
        cells = (*row(result), result["largest"] or "", f"`{result['test']}`")
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    for result in entries:
        if (outcome := result["outcome"]) != "agree":
            said, findings = result["sentence"], result["findings"]
            lines += ["", f"## {outcome}: `{result['test']}`", "", said, ""]
            lines += [f"- {finding}" for finding in unsaid(said, findings)]
    return "\n".join(lines).rstrip() + "\n"


WRITERS = {".json": to_json, ".md": to_markdown}
"""By the ending of a file."""


def write(
    entries: Sequence[dict[str, Any]], false_alarms: float | None, path: str | os.PathLike[str]
) -> None:
    """Write verdicts to a file, as its ending says, whole or not at all."""
    from bayesmodels.errors import DataError
    from bayesmodels.store.files import atomic_write

    if (ending := Path(path).suffix) not in WRITERS:
        raise DataError(f"path: must end in {' or '.join(WRITERS)}; got {str(path)!r}.")
    text = WRITERS[ending](entries, false_alarms)
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_verdicts(verdicts: Mapping[str, Judgement], path: str | os.PathLike[str]) -> None:
    """Write verdicts as JSON with a published schema, or as Markdown, without pytest.

    Parameters
    ----------
    verdicts : mapping of str to Verdict, Calibration or other findings
        By name, such as ``{"coin": bm.compare(law, draws)}``.
    path : path-like
        Ends in ``.json`` or ``.md``.

    Raises
    ------
    DataError
        If the path ends otherwise, or cannot be written to.

    Examples
    --------
    >>> import json, pathlib, tempfile, bayesmodels as bm
    >>> law = bm.BetaBernoulli(5, 19)
    >>> found = bm.compare(law, law.to_datatree(rng=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm.testing.write_verdicts({"coin": found}, f"{folder}/verdicts.json")
    ...     written = json.loads(pathlib.Path(folder, "verdicts.json").read_text())
    >>> written["verdicts"][0]["outcome"]
    'agree'
    """
    write([entry(name, result) for name, result in verdicts.items()], None, path)
