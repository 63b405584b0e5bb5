"""The pages name what there is."""

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import bayesmodels as bm
from bayesmodels.command.cli import main
from docs.tools import blocks

DOCS = Path(__file__).parents[2] / "docs"
ENTRY = re.compile(r"^   ~?([\w.]+)$", re.MULTILINE)
FIGURE = re.compile(r"^\.\. plot::[^\n]*\n((?:   :[^\n]*\n)*)", re.MULTILINE)
WITH_CODE = sorted(
    page
    for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    if blocks.BLOCK.search(page.read_text(encoding="utf-8"))
)
IMAGE = re.compile(
    r"!\[(.*?)\]\((.*?)\)"
    r"|^[`:]{3,}\{(?:figure|image)\} (\S+)\n(?:(?!:alt:):.*\n)*(?::alt: (.*)\n)?",
    re.MULTILINE,
)  # description and file, or file and description
WITH_IMAGES = sorted(
    page
    for page in [*DOCS.glob("**/*.md"), DOCS.parent / "README.md"]
    if IMAGE.search(page.read_text(encoding="utf-8"))
)
PAGES = re.compile(r"```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)```", re.DOTALL)


PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_their_own_extra_brings_what_the_pages_import():
    assert "bayesmodels[sklearn]" in PROJECT["optional-dependencies"]["docs"]


def test_the_version_is_one():
    citation = (DOCS.parent / "CITATION.cff").read_text(encoding="utf-8")
    changes = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == bm.__version__
    assert re.search(r"^## (\S+)", changes, re.MULTILINE)[1] == bm.__version__
    assert PROJECT["version"] == bm.__version__


def test_the_readme_is_short_and_leads_to_what_is_there():
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert all(verb in text for verb in ("partial=True", "bm.integrate", "bm.calibrate", "bm.same"))
    addresses = re.findall(r"\]\(([^:)#]+)(?:#[^)]*)?\)", text)
    assert len(addresses) > 15
    assert [each for each in addresses if not (DOCS.parent / each).exists()] == []


@pytest.mark.parametrize("name", bm.__all__)
def test_every_public_name_is_in_the_reference(name):
    entries = ENTRY.findall((DOCS / "reference.md").read_text(encoding="utf-8"))
    module = getattr(getattr(bm, name), "__module__", "").removeprefix("bayesmodels.")
    functions = any(entry.startswith(f"{name}.") for entry in entries)  # of a public module
    assert name in entries or module in entries or functions


def test_every_page_is_in_a_list_of_contents():
    there = {p.relative_to(DOCS).with_suffix("").as_posix() for p in DOCS.rglob("*.md")}
    lists = [
        page
        for p in DOCS.glob("*.md")
        for found in PAGES.findall(p.read_text(encoding="utf-8"))
        for page in found.split()
    ]
    assert sorted(lists) == sorted(there - {"index"})


@pytest.mark.parametrize("name", [n for n in bm.__all__ if hasattr(getattr(bm, n), "declare")])
def test_every_model_has_a_page(name):
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("models/*.md")]
    assert any(f"{{py:class}}`bayesmodels.{name}`" in page for page in pages)


def test_every_figure_has_a_text():
    for page in DOCS.rglob("*.md"):
        for options in FIGURE.findall(page.read_text(encoding="utf-8")):
            assert ":nofigs:" in options or re.search(r":alt: \S", options), page


@pytest.mark.parametrize("page", WITH_IMAGES, ids=lambda page: page.stem)
def test_every_picture_is_there_small_and_described(page):
    for inline, shown, directive, described in IMAGE.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / (shown or directive)).stat().st_size < 200_000
        assert len(inline or described) > 20


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_every_block_of_code_prints_what_its_page_says(page):
    assert blocks.run(page)


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("print(3)", AssertionError, r"line 3: the page says\n2\n"),
        ("1 / 0", ZeroDivisionError, "division"),
        ("import warnings\nwarnings.warn('old')", UserWarning, "old"),
    ],
)
def test_a_page_that_says_what_is_not_so_is_refused(tmp_path, code, error, words):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n```python\n{code}\n```\n\n```text\n2\n```\n")
    with pytest.raises(error, match=words):
        blocks.run(page)
    page.write_text("```python\nx = 1\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n2\n```\n")
    assert blocks.run(page) == 2


@pytest.mark.slow
def test_the_page_on_other_samplers_shows_what_is_printed(tmp_path, monkeypatch, capsys):
    text = (DOCS / "check-another-sampler.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile("\n".join(blocks), "check-another-sampler.md", "exec"), {})  # noqa: S102 - as read
    assert capsys.readouterr().out == "disagree\n"
    assert (tmp_path / "both.html").stat().st_size > 50_000
    shown = re.search(r"```\n\$ bayesmodels (compare .*?)\n(.*?)```", text, re.DOTALL)
    result = CliRunner().invoke(main, shown[1].split(), env={"COLUMNS": "100"})
    assert result.exit_code == 1
    assert result.stdout.split() == shown[2].split()
