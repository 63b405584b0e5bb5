"""Examples and the README's Python block run as they stand."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


SLOW = ("closed_form", "generative_or_discriminative")
EXAMPLES = [
    pytest.param(
        path,
        id=path.stem,
        marks=pytest.mark.slow if path.stem in SLOW else (),
    )
    for path in sorted((ROOT / "examples").glob("*.py"))
]


@pytest.mark.parametrize("path", EXAMPLES)
def test_example_runs(path, capsys):
    runpy.run_path(str(path))
    assert capsys.readouterr().out


@pytest.mark.slow
def test_readme_example_works_pasted(tmp_path, monkeypatch, capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- example -->\n```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(block[1], "README.md", "exec"), {})  # noqa: S102 - it is what readers will do
    assert "agree" in capsys.readouterr().out
    assert (tmp_path / "aspirin.html").stat().st_size > 10_000
