"""JSON files that 0.2.0 saved load, and say the same when they are saved again."""

import json
from pathlib import Path

import pytest

import bayesmodels as bm
from bayesmodels.store import dumps
from bayesmodels.store.forms import kinds

FILES = sorted((Path(__file__).parent / "saved_by_0_2_0").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_that_0_2_0_saved_loads_and_is_saved_as_it_was(path):
    assert dumps(bm.load(path)) == path.read_text("utf-8").rstrip("\n")


def test_no_kind_is_left_out():
    headers = [json.loads(path.read_text("utf-8")) for path in FILES]
    found = {header[header["format"].split()[1]]["kind"] for header in headers}
    assert found >= set(kinds("belief", "statistic", "verdict"))
