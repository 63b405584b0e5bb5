"""The built pages in Chromium: they fit, are accessible, and lead to every public name."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from filelock import FileLock

import bayesmodels as bm
from bayesmodels import estimators, scale
from tests.browser import chromium, emulate

pytestmark = [pytest.mark.slow, pytest.mark.browser]

DOCS = Path(__file__).parents[2] / "docs"
NAMES = [
    *bm.__all__,
    *(f"estimators.{name}" for name in estimators.__all__),
    *(f"scale.{name}" for name in scale.__all__),
]
LOOKED_AT = 5  # results, from the best
FINISHED = "return document.querySelector('.search-summary')?.textContent"
FOUND = "return [...document.querySelectorAll('#search-results li > a')].map(a => a.href)"
LINK = re.compile(r'href="([^"#?:]+\.html)(?:#[^"]*)?"')
DESKTOP, PHONE = 1280, 390  # pixels
WIDE = """
const wide = e => e.getBoundingClientRect().right > arguments[0];
return [...document.querySelectorAll('article *')].filter(wide).map(e => e.outerHTML.slice(0, 80));
"""


@pytest.fixture(scope="session")
def pages(tmp_path_factory, worker_id):
    """Build the pages once for all workers, unless CI did."""
    if there := os.environ.get("BAYESMODELS_PAGES"):
        return Path(there)
    base = tmp_path_factory.getbasetemp()
    built = (base if worker_id == "master" else base.parent) / "pages"
    with FileLock(f"{built}.lock"):
        if not built.exists():
            command = [sys.executable, "-m", "sphinx", "-q", "-W", str(DOCS), str(built)]
            subprocess.run(command, check=True)
    return built


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def search(pages, browser):
    """Return a function that types words into the search page and returns what is listed."""
    from selenium.webdriver.support.wait import WebDriverWait

    def find(words):
        browser.get(f"{(pages / 'search.html').as_uri()}?q={quote(words)}")
        WebDriverWait(browser, 60, 0.05).until(lambda b: b.execute_script(FINISHED))
        addresses = browser.execute_script(FOUND)
        return [address.removeprefix(f"{pages.as_uri()}/") for address in addresses]

    return find


def identifiers(name):
    """Return where the documentation of a name may begin."""
    return f"bayesmodels.{name}", f"module-bayesmodels.{name}", f"bayesmodels.errors.{name}"


def links(page):
    """Return the pages that a page links to."""
    addresses = LINK.findall(page.read_text(encoding="utf-8"))
    return {(page.parent / address).resolve() for address in addresses}


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_pages_fit_and_are_accessible(pages, browser, width):
    """Pages written by hand are looked at in one width each; of generated ones every twelfth."""
    from axe_selenium_python import Axe

    found = {}
    browser.set_script_timeout(300)  # the machine may be busy
    emulate(browser, width, mobile=width == PHONE)
    every = sorted(pages.rglob("*.html"))
    made = [page for page in every if page.parent.name == "reference"]
    by_hand = [page for page in every if page not in made]
    assert min(len(made), 2 * len(by_hand)) > 90
    judged = {*by_hand[width == PHONE :: 2], *made[width == PHONE :: 24]}
    for page in sorted(judged):
        browser.get(page.as_uri())
        axe = Axe(browser)
        axe.inject()
        result = axe.run(options="{preload: false, resultTypes: ['violations']}")
        wrong = [(v["id"], v["nodes"][0]["target"]) for v in result["violations"]]
        if browser.execute_script("return document.documentElement.scrollWidth") > width:
            wrong.append(("too wide", browser.execute_script(WIDE, width)[:3]))
        if wrong:
            found[page.relative_to(pages).as_posix()] = wrong
    assert found == {}


def test_a_public_name_is_two_clicks_from_home(pages):
    home = pages / "index.html"
    reached = {page for first in links(home) for page in links(first) | {first}}
    text = "".join(page.read_text(encoding="utf-8") for page in reached if page.exists())
    known = set(re.findall(r'id="([^"]+)"', text))
    assert [name for name in NAMES if known.isdisjoint(identifiers(name))] == []


def test_a_public_name_finds_its_documentation(pages, search):
    missed = {}
    for name in NAMES:
        found = [address.partition("#") for address in search(name)[:LOOKED_AT]]
        known = {f'id="{place}"' for place in identifiers(name)}
        if not any(
            place in ("", *identifiers(name))  # the page of the name, or where it begins there
            and any(each in (pages / page).read_text("utf-8") for each in known)
            for page, _, place in found
        ):
            missed[name] = found
    assert missed == {}


def test_a_name_that_is_not_there_finds_nothing(search):
    assert search("xylophonist") == []
