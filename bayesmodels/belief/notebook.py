"""How beliefs and findings look in a notebook: small pieces of HTML that need nothing else.

Colours are the notebook's own, light or dark. Names that came with the data are escaped: pieces are
`Markup`, whose `format` and `join` escape whatever is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan, prod
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayesmodels.belief.protocol import Readable
from bayesmodels.belief.reading import levels, summary_or_intervals
from bayesmodels.errors import PriorError

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20
"""Rows of a table; more are counted."""
_MOST_FINDINGS = 5
_MOST_SCALARS = 10_000  # whose intervals take no time that one notices
_COLOURS = {"agree": "#2a9d74", "disagree": "#d1495b", "inconclusive": "#b58900"}
_SPACE = '<mspace width="0.17em"/>'  # TeX's thin space, which it sets around a named function

_FRAME = Markup(
    '<div class="bayesmodels" style="border-left: .25em solid {colour}; padding-left: .8em; '
    'max-width: 60em; overflow-x: auto">{parts}</div>'
)


def belief(self: Any) -> str:
    """Show a belief or an approximation: its title, equations and summary; for ``_repr_html_``.

    Improper beliefs, which have no summary, say why.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> page = bm.BetaBernoulli(5, 19)._repr_html_()
    >>> "Beta–Bernoulli" in page, "<math" in page, "0.2083" in page
    (True, True, True)
    """
    rows = [
        Markup('<div style="opacity: .75">{}</div><div>{}</div>').format(name, mathml(latex))
        for name, latex in type(self).equations
    ]
    equations = Markup(
        '<div style="display: grid; grid-template-columns: max-content 1fr; gap: .3em 1.5em; '
        'align-items: center; justify-items: start; margin: .5em 0">{}</div>'
    ).format(Markup().join(rows))
    return frame(self.title, equations, summary(self))


def summary(self: Readable) -> Markup:
    """Return means, standard deviations and intervals as a table, or say why there are none."""
    sizes = {name: [len(self.coords[axis]) for axis in axes] for name, axes in self.dims.items()}
    number = sum(prod(size) * len(levels(self).get(name, ".")) for name, size in sizes.items())
    if number > _MOST_SCALARS:
        return paragraph(f"{number:,} numbers; summary() has them all.")
    try:
        return table(summary_or_intervals(self))
    except PriorError as error:
        return paragraph(f"No summary: {error}")


def judged(
    title: str, outcome: str, sentences: Sequence[str], findings: Sequence[str], values: Any
) -> str:
    """Show the outcome, in sentences, with the first few findings and the table that it rests on.

    The table's intervals are left out for want of room; of many rows those are shown whose
    discrepancies ``z`` are the largest, if they have such.
    """
    said = [paragraph(text) for text in sentences]
    if findings:
        lines = list(findings[:_MOST_FINDINGS])
        if len(findings) > _MOST_FINDINGS:
            lines.append(f"and {len(findings) - _MOST_FINDINGS} more.")
        items = (Markup("<li>{}</li>").format(text) for text in lines)
        said.append(Markup("<ul>{}</ul>").format(Markup().join(items)))
    values = values[[name for name in values if not str(name).endswith(("_lb", "_ub"))]]
    if "z" in values and len(values) > MOST_ROWS:
        order = values["z"].abs().sort_values(ascending=False, kind="stable").index
        shown = table(values.loc[order], "those with the largest |z|")
    else:
        shown = table(values)
    sign = {"agree": "✓", "disagree": "✕", "inconclusive": "?"}[outcome]
    return frame(f"{title}: {sign} {outcome}", *said, shown, colour=_COLOURS[outcome])


def frame(title: str, *parts: Markup, colour: str = "#888888") -> str:
    """Return pieces of HTML in one frame with a title."""
    head = Markup('<div style="font-weight: bold; font-size: 1.1em">{}</div>').format(title)
    return str(_FRAME.format(colour=colour, parts=Markup().join([head, *parts])))


def paragraph(text: str) -> Markup:
    """Return a sentence or two."""
    return Markup('<p style="margin: .4em 0">{}</p>').format(text)


def table(values: pd.DataFrame, which: str = "the first") -> Markup:
    """Return rows of numbers; of more than `MOST_ROWS` the head, which are called `which`."""
    cell = Markup('<td style="text-align: right">{}</td>')
    head = Markup().join(Markup("<th><bdi>{}</bdi></th>").format(name) for name in values.columns)
    rows = [
        Markup('<tr><th style="text-align: left"><bdi>{}</bdi></th>{}</tr>').format(
            label, Markup().join(cell.format(_short(x)) for x in row)
        )
        for label, *row in values.head(MOST_ROWS).itertuples(name=None)
    ]
    shown = Markup("<table><thead><tr><th></th>{}</tr></thead><tbody>{}</tbody></table>").format(
        head, Markup().join(rows)
    )
    left = len(values) - MOST_ROWS
    if left <= 0:
        return shown
    words = f"{MOST_ROWS} of {len(values):,} rows are shown, {which}; {left:,} are not shown."
    return shown + paragraph(words)


def mathml(latex: str) -> Markup:
    r"""Return one of a model's `equations` as MathML, which browsers set without help.

    Examples
    --------
    >>> "<mtext>Beta</mtext>" in mathml(r"x \sim \mathrm{Beta}(2, 2)")
    True
    """
    from latex2mathml.converter import convert

    # The converter takes words letter by letter, a tilde and Gamma for variables, ln for a letter.
    text = convert(re.sub(r"\\mathrm\{(\w\w+)\}", r"\\text{\1}", latex), display="block")
    text = text.replace("<mi>&#x0007E;</mi>", "<mo>∼</mo>")
    text = text.replace("<mi>&#x00393;</mi>", '<mi mathvariant="normal">Γ</mi>')
    text = text.replace("<mi>ln</mi>", f"{_SPACE}<mi>ln</mi>{_SPACE}")
    return Markup(text.replace(f"<mrow>{_SPACE}", "<mrow>"))  # noqa: S704 - trusted


def _short(x: Any) -> str:
    """Return four digits of a number, a dash if it does not exist; anything else as it is."""
    if isinstance(x, float):
        return "–" if isnan(x) else f"{x:.4g}".replace("-", "−")
    return str(x)
