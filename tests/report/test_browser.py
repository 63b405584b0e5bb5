"""Reports as Debian's Chromium shows them."""

import csv
import io
import json
import re
from urllib.parse import unquote

import numpy as np
import pytest

import bayesmodels as bm
from tests.browser import chromium, emulate
from tests.report import samples
from tests.report.samples import DRAWS, HOSTILE, MARKUP, SAMPLES, page

pytestmark = [pytest.mark.slow, pytest.mark.browser]

DESKTOP, PHONE, PAPER = 1280, 390, 703  # pixels; A4 less its margins is 186 mm


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that opens a sample and says what was logged and asked for."""

    def show(name, width, media="screen", scheme="light"):
        path = tmp_path / f"{name}.html"
        path.write_text(page(name), "utf-8")
        emulate(browser, width, mobile=width == PHONE, media=media, scheme=scheme)
        for log in ("browser", "performance"):
            browser.get_log(log)  # forget the page before
        browser.get(path.as_uri())
        log = browser.get_log("performance")
        events = [json.loads(entry["message"])["message"] for entry in log]
        requests = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        # The browser's own start page, which may still load, is none of the report's.
        own = [each for each in requests if not each["documentURL"].startswith("chrome://")]
        asked = [request["request"]["url"] for request in own]
        return path.as_uri(), browser.get_log("browser"), asked

    return show


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        (name, (DESKTOP, PHONE)[number % 2], ("light", "dark")[number // 2 % 2])
        for number, name in enumerate([*SAMPLES, *DRAWS, "integrated"])
    ],
)
def test_a_page_fits_is_silent_accessible_and_loads_nothing(browser, show, name, width, scheme):
    from axe_selenium_python import Axe

    address, messages, asked = show(name, width, scheme=scheme)
    assert browser.execute_script("return innerWidth") == width
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    if width == DESKTOP:
        tables = "return [...document.querySelectorAll('.scroll')]"
        cut = browser.execute_script(f"{tables}.filter(s => s.scrollWidth > s.clientWidth)")
        assert [each.get_attribute("aria-label") for each in cut] == []
    assert messages == []
    assert address in asked
    assert not [url for url in asked if url != address and not url.startswith("data:")]
    broken = "return [...document.images].filter(i => !i.complete || !i.naturalWidth).length"
    assert browser.execute_script(broken) == 0
    axe = Axe(browser)
    axe.inject()
    violations = axe.run()["violations"]
    assert [(v["id"], [node["target"] for node in v["nodes"]][:3]) for v in violations] == []


INJECTED = [
    "hostile", "hostile_groups", "hostile_levels", "hostile_classes", "hypotheses", "two_sets",
    "hostile_variables",
]  # fmt: skip
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
TAGS = """
const tags = root => [...root.querySelectorAll('*')].map(e => e.localName);
const [own, text] = [tags(document), arguments[0]];
return [...new Set(own)].filter(tag => !text.includes(tag));
"""
ATTRIBUTES = """
const every = [...document.querySelectorAll('*')].flatMap(e => [...e.attributes]);
const bad = a => a.name.startsWith('on') || a.name === 'srcdoc' ||
    (a.name === 'href' && !/^(#|data:text[/]csv,)/.test(a.value)) ||
    (a.name === 'src' && !a.value.startsWith('data:image/svg+xml,'));
return every.filter(bad).map(a => a.name + '=' + a.value.slice(0, 80));
"""


def assert_nothing_ran(browser):
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        browser.switch_to.alert  # noqa: B018 - asking is the test
    assert "pwned" not in (browser.execute_script("return document.title") or "")


@pytest.fixture(scope="module", name="tags")
def _tags():
    """Return the tags of pages whose names are harmless."""
    harmless = (name for name in ("party", "flowers", "number_game", "same_sets", "regression"))
    found = {tag for name in harmless for tag in re.findall(r"<([a-z0-9]+)", page(name))}
    return sorted(found | {"html", "head", "body", "tbody"})


@pytest.mark.parametrize("guarded", [True, False], ids=["", "without the page's policy"])
@pytest.mark.parametrize("name", INJECTED)
def test_names_from_data_do_nothing(browser, tmp_path, tags, name, guarded):
    """Escaping is enough: without the policy, which forbids scripts, none runs either."""
    text, found = POLICY.subn("", page(name))
    assert found == 1
    path = tmp_path / "page.html"
    path.write_text(page(name) if guarded else text, "utf-8")
    browser.get(path.as_uri())
    assert_nothing_ran(browser)
    assert browser.execute_script(TAGS, tags) == []
    assert browser.execute_script(ATTRIBUTES) == []


@pytest.mark.parametrize("name", INJECTED)
def test_pictures_opened_alone_do_nothing(browser, tmp_path, name):
    for number, image in enumerate(re.findall(r'src="data:image/svg[+]xml,([^"]*)"', page(name))):
        path = tmp_path / f"{number}.svg"
        path.write_text(unquote(image), "utf-8")
        browser.get(path.as_uri())
        assert_nothing_ran(browser)
        script = "return document.querySelectorAll('script, foreignObject, a, iframe').length"
        assert browser.execute_script(script) == 0
    assert path.exists()


@pytest.mark.parametrize("name", INJECTED)
def test_tables_of_pictures_hold_no_formula(name):
    tables = re.findall(r'href="data:text/csv,([^"]*)"', page(name))
    assert tables
    for table in tables:
        cells = [cell for row in csv.reader(io.StringIO(unquote(table))) for cell in row]
        said = [cell for cell in cells if cell.startswith(tuple("=+-@\t\r"))]
        assert all(np.isfinite(float(cell)) for cell in said)


@pytest.mark.parametrize("of", ["belief", "verdict", "report"])
def test_notebooks_show_names_as_text(browser, tmp_path, of):
    coords = {"group": [*MARKUP, *HOSTILE]}
    belief = bm.BetaBernoulli(np.arange(1.0, 17), 2, coords=coords)
    html = {
        "belief": belief._repr_html_,
        "verdict": lambda: bm.compare(belief, belief.to_datatree(draws=100))._repr_html_(),
        "report": lambda: SAMPLES["hostile_levels"]()._repr_html_(),
    }[of]()
    path = tmp_path / "cell.html"
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8><title></title>{html}", "utf-8")
    browser.get(path.as_uri())
    assert_nothing_ran(browser)
    foreign = "return document.querySelectorAll('script, img, svg, iframe, a').length"
    assert browser.execute_script(foreign) == 0
    shown = browser.execute_script("return document.body.textContent")
    assert MARKUP[0] in shown


def test_a_page_that_does_not_escape_is_seen(browser, tmp_path):
    """The checks above see what they look for."""
    path = tmp_path / "page.html"
    script = "<script>document.title = 'pwned'</script><b onclick='1'>"
    path.write_text(f"<!DOCTYPE html><title></title>{script}", "utf-8")
    browser.get(path.as_uri())
    assert browser.execute_script(TAGS, ["html", "head", "body", "title"]) == ["script", "b"]
    assert browser.execute_script(ATTRIBUTES) == ["onclick=1"]
    with pytest.raises(AssertionError, match="pwned"):
        assert_nothing_ran(browser)


def test_equations_are_set(browser, show):
    show("regression", DESKTOP)
    heights = browser.execute_script(
        "return [...document.querySelectorAll('math')].map("
        "m => m instanceof MathMLElement ? m.getBoundingClientRect().height : 0)"
    )
    assert len(heights) >= 6
    assert min(heights) > 10
    assert max(heights) > 1.5 * min(heights), "fractions are higher than a line"


def test_wide_tables_scroll_within_themselves_on_a_phone(browser, show):
    show("party", PHONE)
    wide = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')]"
        ".filter(s => s.scrollWidth > s.clientWidth)"
        ".map(s => [s.tabIndex, getComputedStyle(s).overflowX])"
    )
    assert wide
    assert all(found == [0, "auto"] for found in wide)


@pytest.mark.parametrize("name", ["party", "regression", "aspirin"])
def test_paper_cuts_nothing_off(browser, show, name):
    show(name, PAPER, media="print", scheme="dark")
    right = browser.execute_script(
        "return Math.max(...[...document.querySelectorAll('table, math, img, pre, p')]"
        ".map(e => e.getBoundingClientRect().right))"
    )
    assert right <= PAPER
    colours = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    )
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_follows_the_reader_s_scheme(browser, show, scheme, dark):
    show("coin", DESKTOP, scheme=scheme)
    paper, image = browser.execute_script(
        "return [document.body, document.images[0]].map("
        "e => getComputedStyle(e).backgroundColor.match(/\\d+/g).map(Number))"
    )
    assert (sum(paper) < 150) == dark
    assert image == [255, 255, 255]  # which a filter turns dark
    shown = browser.execute_script("return getComputedStyle(document.images[0]).filter")
    assert ("invert" in shown) == dark


def test_the_contents_stay_in_sight(browser, show):
    show("coin", DESKTOP)
    top = "scrollTo(0, 900); return document.querySelector('.contents').getBoundingClientRect().top"
    assert browser.execute_script(top) == 0


def test_a_discriminant_is_no_scroll_without_end(browser, tmp_path):
    """At most 2 MB and 8,000 pixels."""
    from bayesmodels.command import catalog

    prior, data, source = catalog.example("discriminant-full", {})
    found = samples.report(prior, data, source=source, rows=data.features.iloc[:5])
    path = tmp_path / "page.html"
    found.to_html(path)
    assert path.stat().st_size < 2_000_000
    emulate(browser, DESKTOP, mobile=False, media="screen", scheme="light")
    browser.get(path.as_uri())
    assert browser.execute_script("return document.documentElement.scrollHeight") <= 8000
