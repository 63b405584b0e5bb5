"""Reports as Debian's Chromium shows them."""

import json

import pytest

from tests.browser import chromium, emulate
from tests.report.samples import DRAWS, SAMPLES, page

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
        asked = [request["request"]["url"] for request in requests]
        return path.as_uri(), browser.get_log("browser"), asked

    return show


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("name", [*SAMPLES, *DRAWS])
def test_a_page_fits_is_silent_accessible_and_loads_nothing(browser, show, name, width, scheme):
    from axe_selenium_python import Axe

    address, messages, asked = show(name, width, scheme=scheme)
    assert browser.execute_script("return innerWidth") == width
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert messages == []
    assert address in asked
    assert not [url for url in asked if url != address and not url.startswith("data:")]
    broken = "return [...document.images].filter(i => !i.complete || !i.naturalWidth).length"
    assert browser.execute_script(broken) == 0
    axe = Axe(browser)
    axe.inject()
    violations = axe.run()["violations"]
    assert [(v["id"], [node["target"] for node in v["nodes"]][:3]) for v in violations] == []


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("name", ["hostile", "hostile_groups", "two_sets"])
def test_names_from_data_do_nothing(browser, show, name, width):
    from selenium.common.exceptions import NoAlertPresentException

    show(name, width)
    assert "pwned" not in browser.title
    with pytest.raises(NoAlertPresentException):
        browser.switch_to.alert  # noqa: B018 - asking is the test
    foreign = "return document.querySelectorAll('script, img:not([src^=\"data:\"])').length"
    assert browser.execute_script(foreign) == 0


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
    assert image == [255, 255, 255]
