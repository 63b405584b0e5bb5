"""Write the pictures of reports that the pages show: ``python -m docs.tools.screenshots``.

Needs Chromium, and what ``pip install -e '.[test]'`` installs.
"""

import io
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

import bayesmodels as bm
from bayesmodels.command import catalog
from tests.browser import chromium, emulate

DOCS = Path(__file__).parents[1]
WIDTH, HEIGHT, COLOURS = 1100, 1000, 64  # of a picture; with so few colours it is a third as large


def aspirin():
    """Two groups, and everything agrees: the README's example."""
    table = bm.datasets.load("aspirin")
    counts = bm.BinomialCounts(table["infarctions"], table["participants"])
    rows = bm.Grouped(counts, by=table["arm"])
    source = bm.datasets.describe("aspirin")
    return bm.validate(bm.BetaBernoulli(alpha=1, beta=1), rows, rng=1, source=source)


def regression():
    """Ten measurements of 442 patients: the README's first command."""
    prior, data, source = catalog.example("linear-regression")
    return bm.validate(prior, data, rng=1, source=source)


def disagreeing():
    """Draws of a faulty sampler beside exact ones: the page on other samplers."""
    text = (DOCS / "check-another-sampler.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    exec(compile(code, "check-another-sampler.md", "exec"), {})  # noqa: S102 - our own page
    return bm.validate_draws("metropolis.nc", "exact.nc")


PICTURES = {
    "report.png": (aspirin, "", "light"),
    "report-regression.png": (regression, "#pictures", "dark"),
    "report-disagreeing.png": (disagreeing, "", "light"),
}


def main():
    """Write each report, open it at a place, and save what its reader sees there."""
    with TemporaryDirectory() as folder, chromium(Path(folder, "profile")) as browser:
        os.chdir(folder)
        for name, (report, place, scheme) in PICTURES.items():
            path = Path(folder, name).with_suffix(".html")
            report().to_html(path)
            emulate(browser, WIDTH, HEIGHT, scheme=scheme)
            browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
            browser.get(path.as_uri() + place)
            seen = Image.open(io.BytesIO(browser.get_screenshot_as_png()))
            seen.convert("RGB").quantize(COLOURS).save(DOCS / name, optimize=True)


if __name__ == "__main__":
    main()
