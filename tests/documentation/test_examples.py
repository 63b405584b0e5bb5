"""Examples and the README's Python block run as they stand."""

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^python examples/(\S+)$", re.MULTILINE)
FIGURE = re.compile(  # with its text
    r"^\.\. plot:: \.\./examples/(\S+)\n   :include-source: false\n   :alt: \S", re.MULTILINE
)

SLOW = ("closed_form", "fitness", "generative_or_discriminative", "wine")
"""Which run when the pages are built, as all of them do, and are not run once more."""
EXAMPLES = [
    pytest.param(path, id=path.stem)
    for path in sorted((ROOT / "examples").glob("*.py"))
    if path.stem not in SLOW
]


@pytest.mark.parametrize("path", EXAMPLES)
def test_example_runs_and_leaves_a_figure(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))
    plt.close("all")
    assert capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == [f"{path.stem}.svg"]


def test_the_page_of_examples_shows_every_one():
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    names = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
    assert sorted(COMMAND.findall(page)) == names
    assert sorted(FIGURE.findall(page)) == names


@pytest.mark.slow
def test_readme_example_works_pasted(tmp_path, monkeypatch, capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- example -->\n```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(block[1], "README.md", "exec"), {})  # noqa: S102 - it is what readers will do
    assert "agree" in capsys.readouterr().out
    assert (tmp_path / "aspirin.html").stat().st_size > 10_000
