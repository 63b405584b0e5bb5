"""The page of licences lists every package that an installation brings."""

import re
import tomllib
from pathlib import Path

import pytest

from docs.tools import licences

SHOWN = licences.PAGE.read_text(encoding="utf-8")
PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_requirement_is_listed():
    extras = PROJECT["optional-dependencies"]
    asked = PROJECT["dependencies"] + extras["dask"] + extras["sklearn"] + extras["tables"]
    names = {re.match(r"[\w-]+", line)[0] for line in asked}
    listed = {line.split(" | ")[0].removeprefix("| ").lower() for line in SHOWN.splitlines()}
    assert len(names) > 15
    assert names <= listed


def test_no_licence_asks_for_more_than_credit():
    lines = [line for line in SHOWN.splitlines() if line.startswith("| ")]
    assert len(lines) > 50
    assert not [line for line in lines if re.search(r"GPL|General Public|not stated", line)]


@pytest.mark.slow
def test_the_page_is_what_the_metadata_say():
    """With the versions of .ci/constraints.txt, which other steps of CI install."""
    assert licences.page() == SHOWN
