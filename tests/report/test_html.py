import dataclasses
import inspect
import io
import re
import xml.etree.ElementTree as ET
from copy import copy
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels import report
from bayesmodels.belief import values
from bayesmodels.belief.notebook import mathml
from bayesmodels.command import catalog
from bayesmodels.report import belief_validation, html, tables
from bayesmodels.report.html import render
from tests.report import samples
from tests.report.samples import HOSTILE, KINDS, SAMPLES, contents, page

VOID = {"meta", "img", "link", "br", "hr", "input"}


class Page(HTMLParser):
    """Tags with their attributes, text, and headings, of a page whose tags must balance."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def words(self):
        return " ".join("".join(self.text).split()).replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def without_pictures(monkeypatch):
    """Render only words: pictures take half a second."""
    monkeypatch.setattr(belief_validation, "pictures", lambda _: [])


# Figures take seconds; the slow suite writes every page.
QUICK = ("coin", "statistic")


@pytest.fixture(
    scope="module",  # all tests of a page stand together, and one process makes it
    params=[s if s in QUICK else pytest.param(s, marks=pytest.mark.slow) for s in KINDS],
)
def name(request):
    return request.param


def test_a_page_is_complete(name):
    found = Page(page(name))
    assert page(name).startswith("<!DOCTYPE html>")
    assert found.all("html") == [{"lang": "en"}]
    assert len(found.all("title")) == 1
    metas = found.all("meta")
    assert {"charset": "utf-8"} in metas
    assert any(m.get("name") == "viewport" and "width=device-width" in m["content"] for m in metas)
    policy = next(m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_nothing_is_loaded_and_nothing_runs(name):
    found = Page(page(name))
    assert not {"script", "link", "iframe", "object", "embed"} & {tag for tag, _ in found.tags}
    for tag, attrs in found.tags:
        for key, value in attrs.items():
            assert not key.startswith("on"), (tag, key)
            if key == "src":
                assert value.startswith("data:image/svg+xml,"), (tag, value[:80])
            if key == "href":
                assert value.startswith(("data:text/csv,", "#")), (tag, value[:80])
    styles = re.sub(r'"data:[^"]*"', "", page(name))
    assert "url(" not in styles
    assert "@import" not in styles


def test_every_image_says_what_is_seen(name):
    images = Page(page(name)).all("img")
    assert images
    for image in images:
        assert re.search(r"\d.*\.$", image["alt"], re.DOTALL), "numbers, in sentences"
        root = ET.fromstring(unquote(image["src"].partition(",")[2]))  # noqa: S314 - drawn here
        assert root.tag.endswith("svg")
        assert root.findall(".//{*}text"), "text stays text, in the script of its names"
        assert not root.findall(".//{*}script") + root.findall(".//{*}foreignObject")


def test_headings_are_nested_and_named_once(name):
    levels = [int(tag[1]) for tag, _ in Page(page(name)).tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    ids = re.findall(r' id="([^"]*)"', page(name))
    assert len(ids) == len(set(ids))
    labels = set(re.findall(r'aria-labelledby="([^"]*)"', page(name)))
    assert labels <= set(ids)


def test_every_table_scrolls_within_its_own_region(name):
    found = Page(page(name))
    regions = [attrs for attrs in found.all("div") if attrs.get("role") == "region"]
    equations = [attrs for attrs in found.all("dl") if attrs.get("class") == "equations"]
    assert len(regions) == len(found.all("table")) + len(equations)
    assert all(attrs["tabindex"] == "0" and attrs["aria-label"] for attrs in regions)
    assert len(found.all("caption")) == len(found.all("table"))
    assert all(attrs.get("scope") for attrs in found.all("th"))


def test_the_answer_comes_first_then_the_verdict_then_evidence(name):
    report, words = KINDS[name](), Page(page(name)).words
    said = [*report.answer, *report.sentences()]
    places = [words.index(" ".join(text.split())) for text in said]
    assert places == sorted(places)
    assert places[-1] < words.rindex("Pictures")
    assert report.outcome.capitalize() in words


def test_a_page_stays_small(name):
    assert len(page(name)) < 2_000_000


@pytest.mark.slow
def test_a_regression_is_smaller_yet():
    prior, data, source = catalog.example("linear-regression", {})
    report = samples.report(prior, data, source=source, settings={"draws a chain": 1000})
    assert len(render(report).encode()) < 1_200_000


def test_the_contents_lead_to_every_section(name):
    found = Page(page(name))
    links = [attrs["href"] for attrs in found.all("a") if attrs["href"].startswith("#")]
    sections = [f"#{attrs['id']}" for attrs in found.all("h2")]
    above = 2 if KINDS[name]().answer else 1  # answer and verdict
    assert links == sections[above:]


def test_the_numbers_behind_every_picture_are_there(name):
    found = Page(page(name))
    files = [attrs for attrs in found.all("a") if attrs["href"].startswith("data:")]
    assert len(files) == len(found.all("img"))
    assert len({attrs["download"] for attrs in files}) == len(files)
    for attrs in files:
        table = pd.read_csv(io.StringIO(unquote(attrs["href"].partition(",")[2])), index_col=0)
        assert table.index.name
        assert table.size
        assert all(pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes)


def test_the_methods_can_be_pasted_into_a_paper(name):
    report, words = KINDS[name](), Page(page(name)).words
    (methods,) = (each for each in contents(name).sections if each.name == "methods")
    paragraph, works = methods.parts
    assert paragraph in words
    assert all(work in words for work in works.content)
    for number in range(1, len(works.content) + 1):
        assert f"[{number}]" in paragraph
    assert name == "courses" or f"“{report.outcome}”" in paragraph
    if name in SAMPLES:
        assert report.title in paragraph


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["hostile", "hostile_groups"])
def test_names_from_data_are_text(sample):
    found = Page(page(sample))
    for text in HOSTILE[:5]:
        assert " ".join(text.split()) in found.words
    assert not [attrs for attrs in found.all("img") if attrs["src"] == "x"]
    assert "{{ 7 * 7 }}" in found.words
    assert any(HOSTILE[0] in attrs["alt"] for attrs in found.all("img"))
    assert any(HOSTILE[2] in attrs["alt"] for attrs in found.all("img"))


@pytest.mark.slow
def test_findings_beyond_the_first_are_listed():
    words = Page(page("disagreeing")).words
    report = SAMPLES["disagreeing"]()
    for finding in report.comparison.findings[1 : 1 + html.MOST_FINDINGS]:
        assert finding[1:] in words
    many = samples.report(
        bm.DirichletCategorical([1] * 20),
        list(range(20)) * 9,
        wrong=bm.DirichletCategorical(range(1, 21)),
    )
    left = len(many.comparison.findings) - 1 - html.MOST_FINDINGS
    assert f"And {left} more." in Page(html.render(many)).words


@pytest.mark.usefixtures("without_pictures")
def test_a_formula_that_is_wrong_makes_a_disagreement():
    report = samples.report(bm.BetaBernoulli(1, 1), [1, 0, 1], constancy=4e6)
    words = Page(html.render(report)).words
    assert "Disagree The algebra and the PyMC model do not describe the same posterior." in words
    assert "too large" in words


@pytest.mark.slow
def test_why_there_is_no_evidence():
    assert "There is no log evidence: the prior is improper" in Page(page("flat")).words
    assert "There is no log evidence" not in Page(page("coin")).words


@pytest.mark.usefixtures("without_pictures")
def test_ways_to_the_evidence_stand_side_by_side():
    sample = SAMPLES["coin"]()
    table = tables.ways(sample)
    assert [c.cells[-1] for c in table.columns] == [
        "bridge sampling",
        f"{sample.log_evidence + 0.01:.4f}".replace("-", "−"),
        "0.0040",
        "0.0100",
        "+2.5",
    ]
    assert sample.to_dict()["log_evidence_by_bridge_error"] == 0.004
    none = dataclasses.replace(sample, bridge=None, no_bridge="There is none: for a reason.")
    assert "for a reason" in render(none)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [("coin", "less than one"), ("regression", "about 3"), ("half_known", "not estimated, since")],
)
def test_digits_lost_are_stated(name, words):
    sample = SAMPLES[name]()
    facts = dict(tables.digits(sample.posterior, sample.prior.statistic(sample.data)))
    assert facts["Digits lost of 16, by estimate"].startswith(words)
    assert "Digits lost of 16" in page(name)


def test_columns_as_good_as_collinear_are_said():
    sample = SAMPLES["flat"]()
    close = np.array([[1.0, 1 - 1e-17], [0, 1e-17]])
    factor = sample.posterior.factor.copy()
    factor[:2, :2] = close
    belief = copy(sample.posterior)
    values.fill(belief, factor=factor)
    (fact,) = tables.digits(belief, sample.prior.statistic(sample.data))
    assert fact[1].startswith("all of them")


@pytest.mark.usefixtures("without_pictures")
def test_a_source_that_is_not_stated():
    report = samples.report(bm.BetaBernoulli(1, 1), [1], source="")
    assert "Source of the data: not stated." in Page(html.render(report)).words


def script(text):
    """Return what the page offers to paste."""
    (found,) = re.findall(r"<pre><code>(import bayesmodels.*?)</code></pre>", text, re.DOTALL)
    return unescape(found)


@pytest.mark.slow
def test_how_to_make_it_again(monkeypatch, tmp_path):
    """What the page shows runs when it is pasted below prior and data."""
    made = SAMPLES["vectors"]()
    assert "\n" in repr(made.prior)
    text = script(html.render(made))
    assert "# prior = NormalInverseWishart(" in text
    given = []

    def validate(*of, **settings):
        inspect.signature(report.validate).bind(*of, **settings)
        given.append((of, settings))
        return made

    monkeypatch.setattr(bm, "validate", validate)
    monkeypatch.chdir(tmp_path)
    exec(text, {"prior": made.prior, "data": made.data})  # noqa: S102 - as a reader would
    wanted = {"draws": 400, "tune": 400, "chains": 4, "likelihood": "rows", "level": 0.01, "rng": 1}
    assert given == [((made.prior, made.data), wanted)]
    assert (tmp_path / "report.html").exists()


@pytest.mark.usefixtures("without_pictures")
def test_a_command_stands_in_the_place_of_calls_in_python():
    text = html.render(SAMPLES["coin"](), "bayesmodels report beta-bernoulli 'two <words>.csv'")
    assert "<code>bayesmodels report beta-bernoulli &#39;two &lt;words&gt;.csv&#39;</code>" in text
    assert "import bayesmodels" not in text


@pytest.mark.slow
def test_scalars_left_out_of_the_pictures_are_counted():
    assert "the 8 of 60 scalars with the largest |z|" in Page(page("wide")).words


@pytest.mark.parametrize(
    "model", [bm.BetaBernoulli, bm.DirichletCategorical, bm.LinearRegression, bm.NormalInverseGamma]
)
def test_equations_are_set_as_words_and_signs(model):
    for _, latex in model.equations:
        text = str(mathml(latex))
        assert Page(text).open == []
        assert "~" not in text
        assert "0007E" not in text
        assert "\\" not in text
        for word in re.findall(r"\\mathrm\{(\w+)\}", latex):
            assert f">{word}<" in text


@pytest.mark.usefixtures("without_pictures")
def test_a_report_is_written_as_utf_8(tmp_path):
    path = tmp_path / "report.html"
    SAMPLES["coin"]().to_html(path)
    assert "Beta–Bernoulli" in path.read_text("utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.usefixtures("without_pictures")
def test_a_file_name_that_is_no_text_does_no_harm(tmp_path):
    report = samples.report(bm.BetaBernoulli(1, 1), [1], source="caf\udce9.csv")  # from Latin-1
    report.to_html(tmp_path / "report.html")
    assert "caf&#56553;.csv" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("stage", ["drawing", "writing"])
def test_a_failure_leaves_the_old_file_alone(tmp_path, monkeypatch, stage):
    path = tmp_path / "report.html"
    path.write_text("old")

    def half(file, text, **_):
        file.write_bytes(text.encode()[:1000])
        msg = "disk full"
        raise OSError(msg)

    def nothing(_):
        msg = "no ink"
        raise OSError(msg)

    if stage == "drawing":
        monkeypatch.setattr(belief_validation, "pictures", nothing)
    else:
        monkeypatch.setattr(belief_validation, "pictures", lambda _: [])
        monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises((OSError, bm.DataError), match=r"no ink|disk full"):
        SAMPLES["coin"]().to_html(path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
