"""Run the blocks of code on a page, and compare what they print with what the page says.

Sphinx does so for every page that it reads, so that a page whose code fails is not built.
"""

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import matplotlib as mpl
import matplotlib.pyplot as plt

_PLOT = r"\{eval-rst\}\n\.\. plot::(?:\n   :[^\n]*)*\n"  # Matplotlib's directive and its options
BLOCK = re.compile(
    rf"^```(?:python|{_PLOT})\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
"""Code, and what the page says that it prints."""


def run(page: Path) -> int:
    """Run the blocks of a page, one after the other, in an empty folder.

    Parameters
    ----------
    page : Path
        Markdown.

    Returns
    -------
    int
        How many there are.

    Raises
    ------
    AssertionError
        If a block prints something else than the page says. Errors and warnings of the code come
        through as they are.
    """
    text, names = page.read_text(encoding="utf-8"), {"__name__": "__main__"}
    found = list(BLOCK.finditer(text))
    with _alone(page):
        for block in found:
            line = text[: block.start(1)].count("\n")  # so that a traceback names the page's line
            with redirect_stdout(StringIO()) as out:
                code = compile("\n" * line + dedent(block[1]), page, "exec")
                exec(code, names)  # noqa: S102 - our own pages
            printed = out.getvalue()
            if block[2] is not None and printed.split() != block[2].split():
                msg = f"{page.name}, line {line}: the page says\n{block[2]}\nand this is printed\n"
                raise AssertionError(msg + printed)
    return len(found)


@contextmanager
def _alone(page: Path) -> Iterator[None]:
    """Work in an empty folder, as a script that was called so, with nothing left behind."""
    before = sys.argv
    sys.argv = [str(page)]
    try:
        with (
            TemporaryDirectory() as folder,
            chdir(folder),
            mpl.rc_context(),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error")
            yield
    finally:
        sys.argv = before
        plt.close("all")
