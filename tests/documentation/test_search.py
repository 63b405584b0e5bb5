"""A reader who searches the built pages for a public name is led to where it is documented."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

import bayesmodels as bm
from bayesmodels import estimators, scale
from tests.browser import chromium

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


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Build the pages, unless CI did."""
    if there := os.environ.get("BAYESMODELS_PAGES"):
        return Path(there)
    built = tmp_path_factory.mktemp("pages")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(DOCS), str(built)]
    subprocess.run(command, check=True)
    return built


@pytest.fixture(scope="module")
def search(pages, tmp_path_factory):
    """Return a function that types words into the search page and returns what is listed."""
    from selenium.webdriver.support.wait import WebDriverWait

    with chromium(tmp_path_factory.mktemp("chromium")) as browser:

        def find(words):
            browser.get(f"{(pages / 'search.html').as_uri()}?q={quote(words)}")
            WebDriverWait(browser, 60, 0.05).until(lambda b: b.execute_script(FINISHED))
            return [Path(address).name for address in browser.execute_script(FOUND)]

        yield find


def test_a_public_name_finds_its_documentation(pages, search):
    reference = (pages / "reference.html").read_text(encoding="utf-8")
    missed = {}
    for name in NAMES:
        ids = {f"bayesmodels.{name}", f"module-bayesmodels.{name}", f"bayesmodels.errors.{name}"}
        found = search(name)[:LOOKED_AT]
        if not any(f"reference.html#{i}" in found and f'id="{i}"' in reference for i in ids):
            missed[name] = found
    assert missed == {}


def test_a_name_that_is_not_there_finds_nothing(search):
    assert search("xylophonist") == []
