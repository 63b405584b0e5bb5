"""A page as one HTML file that needs no network, no script and no other file."""

from __future__ import annotations

import os
from datetime import datetime
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesmodels.belief.notebook import mathml
from bayesmodels.report.page import MOST_FINDINGS, Part, Reported
from bayesmodels.store.files import atomic_write


def to_html(self: Reported, path: str | os.PathLike[str]) -> None:
    """Write one self-contained HTML file, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file to write; its folder must exist.
    """
    write(self, path)


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
        "kind": kind,
        "mathml": mathml,
        "sentence": lambda text: text[:1].upper() + text[1:],
        "unbroken": lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%"),
    }
    return environment.get_template("report.html.jinja").render(
        report=report,
        page=report.page(command),
        now=datetime.now().astimezone(),
        most=MOST_FINDINGS,
    )


def kind(part: Part) -> str:
    """Return what a part of a section is called in the template."""
    return type(part).__name__.lower()


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
