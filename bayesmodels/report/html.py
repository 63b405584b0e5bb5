"""A report as one HTML file that needs no other, in a notebook, and as plain values."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesmodels.belief import notebook
from bayesmodels.report.page import MOST_FINDINGS, Judged, Reported
from bayesmodels.store.files import atomic_write


def to_html(self: Reported, path: str | os.PathLike[str]) -> None:
    """Write one self-contained HTML file, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file to write; its folder must exist.
    """
    write(self, path)


def in_notebook(self: Judged) -> str:
    """Show what was judged, why, and the table it rests on; for ``_repr_html_``."""
    found = self.comparison
    said, further = self.sentences(), found.findings[1:]
    return notebook.judged(self.title, self.outcome, said, further, found.table)


def called(self: Reported) -> str:
    """Return class, title and outcome; for ``__repr__``."""
    return f"{type(self).__name__}({self.title!r}, {self.outcome!r})"


def as_values(report: Judged, **found: Any) -> dict[str, Any]:
    """Return what every report on draws found as plain values, and what this one found."""
    verdict = report.comparison
    return {
        "title": report.title,
        "source": report.source,
        "outcome": report.outcome,
        "sentences": [*report.sentences(), *verdict.findings],
        **found,
        "largest_z": verdict.largest.z,
        "smallest_ess": min(test.ess for test in verdict.tests),
        "largest_r_hat": float(verdict.table["r_hat"].max()),
        "table": verdict.table.to_dict(orient="index"),
        "settings": report.settings,
        "versions": report.versions,
    }


def write(report: Reported, path: str | os.PathLike[str], command: str = "") -> None:
    """Write a report as HTML, whole or not at all.

    The command line that makes it again stands in it; calls in Python if there is none.
    """
    text = render(report, command)
    with atomic_write(path) as part:
        # A file's name may be bytes that are no text, which Python keeps as half characters.
        part.write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")


def render(report: Reported, command: str = "") -> str:
    """Return the text of the file that `write` writes, images included."""
    environment = Environment(
        loader=PackageLoader("bayesmodels", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "data_uri": data_uri,
        "mathml": notebook.mathml,
        "sentence": lambda text: text[:1].upper() + text[1:],
        "unbroken": lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%"),
    }
    return environment.get_template("report.html.jinja").render(
        report=report,
        page=report.page(command),
        now=datetime.now().astimezone(),
        most=MOST_FINDINGS,
    )


def data_uri(data: bytes, kind: str) -> Markup:
    """Return a file of text in UTF-8 as an address that holds all of it, to stand in double quotes.

    Examples
    --------
    >>> data_uri(b'<svg width="1"/>', "image/svg+xml")
    Markup("data:image/svg+xml,%3Csvg width='1'/%3E")
    """
    # Blanks and most signs may stand as they are, which is shorter than base64.
    text = data.decode()
    if kind.startswith("image") and "'" not in text:  # either quote may be an attribute's
        text = text.replace('"', "'")
    return Markup(f"data:{kind}," + quote(text, safe=" /:;,=()!*@$+?-._~'"))  # noqa: S704 - quoted
