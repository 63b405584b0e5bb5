"""The report of two sets of draws: what it says, and its pictures."""

import json
import re

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayesmodels as bm
from bayesmodels.report import Report, draws_validation, figures, sections, tables
from tests.report.samples import DRAWS, HOSTILE


def draws(seed, size=400, chains=4):
    law = bm.NormalInverseGamma(0, 1, 3, 2)
    return law.to_datatree(draws=size, chains=chains, rng=np.random.default_rng(seed))


def test_draws_in_memory():
    found = bm.validate_draws(draws(1), draws(2).posterior, var_names=["mu"], level=0.05)
    assert isinstance(found, Report)
    assert repr(found) == f"Report('Two sets of draws', {found.outcome!r})"
    again = "report = bm.validate_draws(first, second, var_names=['mu'], level=0.05, tolerance=0.1)"
    assert sections.again(found) == again
    assert json.loads(json.dumps(found.to_dict()))["settings"] == {"level": 0.05, "tolerance": 0.1}


def test_files_are_named_in_the_call(tmp_path):
    path = tmp_path / "two words.nc"
    draws(1).to_netcdf(path, engine="h5netcdf")
    found = bm.validate_draws(path, str(path), var_names=["mu", "sigma2"])
    assert draws_validation.same(found.comparison)
    assert found.sentences()[0].startswith("Both sets hold the same draws")
    named = bm.validate_draws(path, path, names=("its first", "its second"))
    for report, names in ((found, (str(path), str(path))), (named, ("its first", "its second"))):
        call = sections.again(report).removeprefix("report = ")
        assert eval(call, {"bm": bm}).names == names  # noqa: S307 - of our own words


def test_the_table_has_both_sets_side_by_side():
    found = DRAWS["two_sets"]().comparison
    table = tables.moments(found.table, found)
    heads = [(column.group, column.head) for column in table.columns]
    assert ("Mean", "first") in heads
    assert ("89 % interval, second", "to") in heads
    labels = table.columns[0].cells
    assert labels[0] == f"mu[{HOSTILE[0]}]"
    assert labels[-1] == "still"
    cells = {column.head: column.cells for column in table.columns}
    assert set(cells["of"]) >= {"location"}
    assert len(table.marked) >= 1


def test_chains_that_are_stuck_are_plain_values_too():
    stuck = {"x": np.repeat(np.arange(4.0)[:, None], 100, axis=1)}
    for sets in ((stuck, stuck), (stuck, {"x": stuck["x"] + 1})):
        found = bm.validate_draws(*sets)
        assert found.outcome == "inconclusive"
        json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.slow
def test_what_there_is_to_know_of_both_sets():
    found = DRAWS["two_sets"]()
    facts = dict(draws_validation.sets(found))
    assert facts["First set"] == f"{HOSTILE[0]}: 4 chains of 400 draws, {HOSTILE[1]}"
    assert facts["Variables"] == "mu, k, still (6 scalars)"
    assert facts["Scalars that do not vary"].startswith("1,")
    glance = dict(found.page().glance)
    assert int(glance["divergences, first"]) > 0
    assert "divergences, second" not in glance


@pytest.mark.slow
def test_pictures_show_both_sets_and_leave_out_what_does_not_vary():
    found = {picture.name: picture for picture in draws_validation.pictures(DRAWS["two_sets"]())}
    assert list(found) == ["density", "ecdf", "rank-first", "trace-first", "rank-second",
                           "trace-second"]  # fmt: skip
    for picture in found.values():
        assert [panel.label for panel in picture.panels][-1] == "k"
        assert len(picture.panels) == 5
    off = re.findall(r"at most ([.\d]+) in size, (\w+)", found["ecdf"].panels[0].alt)
    assert off[0][1] in {"beyond", "within"}
    same = {p.name: p for p in draws_validation.pictures(DRAWS["same_sets"]())}
    assert "within" in same["ecdf"].panels[0].alt


def test_nothing_is_drawn_of_numbers_that_never_vary():
    still = xr.Dataset({"x": (("chain", "draw"), np.ones((4, 100)))})
    assert draws_validation.pictures(bm.validate_draws(still, still)) == []


@pytest.mark.parametrize(("own", "other"), [(60, 60), (50, 200), (200, 50)])
def test_draws_of_one_law_stay_within_the_band(own, other):
    rng = np.random.default_rng(1)
    bound, repetitions, outside = figures.simultaneous_bound(own, 0.1, other), 1000, 0
    for _ in range(repetitions):
        u = draws_validation.untied(rng.integers(0, 5, own + other)) / (own + other)
        steps, first = np.arange(own + 1) / own, np.sort(u[:own])
        outside += np.abs([steps[1:] - first, steps[:-1] - first]).max() > bound
    # At most 10 %, up to the luck of 1,000; and not so few that the band says nothing.
    assert stats.binom.ppf(1e-4, repetitions, 0.02) <= outside
    assert outside <= stats.binom.ppf(1 - 1e-4, repetitions, 0.1)
