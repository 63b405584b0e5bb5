"""The pages name what there is."""

import re
from pathlib import Path

import pytest

import bayesmodels as bm

DOCS = Path(__file__).parents[1] / "docs"
ENTRY = re.compile(r"^\.\. auto\w+:: bayesmodels\.(\S+)$", re.MULTILINE)
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
