"""The pages name what there is."""

import re
import sys
from pathlib import Path

import pytest

import bayesmodels as bm

DOCS = Path(__file__).parents[1] / "docs"
ENTRY = re.compile(r"^\.\. auto\w+:: bayesmodels\.(\S+)$", re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_CODE = sorted(
    page
    for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
    if BLOCK.search(page.read_text(encoding="utf-8"))
)
PAGES = re.compile(r"```\{toctree\}\n:maxdepth: 1\n\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("name", bm.__all__)
def test_every_public_name_is_in_the_reference(name):
    entries = ENTRY.findall((DOCS / "reference.md").read_text(encoding="utf-8"))
    module = getattr(getattr(bm, name), "__module__", "").removeprefix("bayesmodels.")
    functions = any(entry.startswith(f"{name}.") for entry in entries)  # of a public module
    assert name in entries or module in entries or functions


def test_every_page_is_in_the_index():
    index = PAGES.search((DOCS / "index.md").read_text(encoding="utf-8"))
    assert sorted(index[1].split()) == sorted({p.stem for p in DOCS.glob("*.md")} - {"index"})


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_every_block_of_code_runs_in_the_order_of_its_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(page)])
    text, names = page.read_text(encoding="utf-8"), {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        above = text[: block.start(1)].count("\n")  # so that a traceback names the page's line
        exec(compile("\n" * above + block[1], page, "exec"), names)  # noqa: S102 - our own pages
