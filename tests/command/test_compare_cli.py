"""`bayesmodels compare`: two files of draws, of any libraries."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import bayesmodels as bm
from bayesmodels.command import cli
from bayesmodels.draws import save

LAW = bm.DirichletCategorical([3, 4, 5], categories=["<b>x</b>", "new", "[/b]"])


def draws(seed, law=LAW, size=1000):
    return law.to_datatree(draws=size, rng=np.random.default_rng(seed))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write files as libraries do: trees, the older InferenceData, and a dataset as such."""
    with contextlib.chdir(tmp_path_factory.mktemp("draws")):
        write_files()
        return Path.cwd()


@pytest.fixture(autouse=True)
def folder(files, monkeypatch):
    monkeypatch.chdir(files)
    return files


def write_files():
    save(draws(1), "one.nc")
    save(draws(2, size=900), "other.zarr")
    save(draws(3, bm.DirichletCategorical([5, 4, 3], LAW.categories)), "wrong.nc")
    save(draws(4, size=40), "few.nc")
    save(LAW.to_datatree(chains=1), "single.nc")
    # InferenceData: no variables at the root, one dataset a group; Stan counts chains from one.
    xr.Dataset().to_netcdf("older.nc", engine="h5netcdf")
    posterior = draws(5).posterior.to_dataset().assign_coords(chain=[1, 2, 3, 4])
    posterior.assign_attrs(inference_library="cmdstanpy").to_netcdf(
        "older.nc", mode="a", group="posterior", engine="h5netcdf"
    )
    draws(6).posterior.to_dataset().to_netcdf("dataset.nc", engine="h5netcdf")
    xr.DataTree.from_dict({"prior": posterior}).to_netcdf("prior.nc", engine="h5netcdf")
    save(bm.BetaBernoulli(1, 1).to_datatree(draws=50), "theta.nc")
    save(xr.DataTree.from_dict({"posterior": posterior.rename(theta="p")}), "renamed.nc")
    Path("text.nc").write_text("chain,draw,theta\n")


def run(*args, width=100):
    return CliRunner().invoke(cli.main, ["compare", *args], env={"COLUMNS": str(width)})


@pytest.mark.parametrize("second", ["other.zarr", "older.nc", "dataset.nc"])
def test_files_of_one_law_agree_whatever_wrote_them(second):
    result = run("one.nc", second)
    assert result.exit_code == 0, result.output
    assert "Either set of draws can stand for the other." in result.stdout
    assert f"First set: one.nc; second set: {second}. Findings speak of the first." in result.stdout
    for label in ("theta[<b>x</b>]", "theta[new]", "theta[[/b]]"):
        assert label in result.stdout


@pytest.mark.parametrize(
    ("second", "words"),
    [("wrong.nc", "do not come from one law: too many draws of theta["), ("few.nc", "Draw about")],
)
def test_files_that_disagree_or_are_too_short_end_with_1(second, words):
    result = run("one.nc", second)
    assert result.exit_code == 1
    assert words in result.stdout


@pytest.mark.slow
def test_a_report_looks_as_asked():
    options = ["--html", "look.html", "--title", "Two samplers", "--notes", "Run on Monday."]
    result = run("one.nc", "other.zarr", *options, "--prob", "0.5", "--brief")
    assert result.exit_code == 0, result.output
    brief = Path("look.html").read_text()
    assert "Two samplers</h1>" in brief
    assert "Run on Monday." in brief
    assert "50 % interval" not in brief
    run("one.nc", "other.zarr", "--html", "whole.html", "--prob", "0.5")
    assert "50 % interval, first" in Path("whole.html").read_text()


def test_one_file_twice_is_said():
    result = run("one.nc", "one.nc")
    assert result.exit_code == 1
    assert "Both sets hold the same draws, which says nothing about either." in result.stdout


def test_as_json():
    result = run("one.nc", "other.zarr", "--level", "0.05", "--tolerance", "0.2", "--json")
    found = json.loads(result.stdout)
    assert found["outcome"] == "agree"
    assert (found["first"], found["second"]) == ("one.nc", "other.zarr")
    assert found["settings"] == {"level": 0.05, "tolerance": 0.2}
    assert found["table"]["theta[new]"]["first_mean"] == pytest.approx(1 / 3, abs=0.02)
    assert "file" not in found


def test_what_one_file_alone_has_is_left_out_and_said():
    posterior = draws(1).posterior.to_dataset()
    with_tau = posterior.assign(tau=posterior["theta"].sum("category"))
    save(xr.DataTree.from_dict({"posterior": with_tau}), "more.nc")
    found = json.loads(run("more.nc", "other.zarr", "--json").stdout)
    assert found["outcome"] == "agree"
    assert found["left_out"] == ["tau of the first set"]
    assert "Not compared: tau of the first set." in found["sentences"][1]
    assert json.loads(run("one.nc", "other.zarr", "--json").stdout)["left_out"] == []


def test_labels_are_matched_in_any_order_and_foreign_ones_refused():
    posterior = draws(2).posterior.to_dataset()
    for name, given in (
        ("turned.nc", posterior.isel(category=[2, 0, 1]).transpose()),
        ("foreign.nc", posterior.assign_coords(category=["a", "b", "c"])),
    ):
        save(xr.DataTree.from_dict({"posterior": given}), name)
    assert json.loads(run("one.nc", "turned.nc", "--json").stdout)["outcome"] == "agree"
    assert "the axis 'category', in any order; got 'a', 'b'" in run("one.nc", "foreign.nc").stderr


def test_variables_are_chosen():
    two = bm.NormalInverseGamma(0, 1, 3, 2)
    save(draws(1, two), "two.nc")
    save(draws(2, two), "again.nc")
    result = run("two.nc", "again.nc", "--var-names", "mu", "--json")
    assert list(json.loads(result.stdout)["table"]) == ["mu"]
    assert "sigma2" in run("two.nc", "again.nc").stdout
    assert "sigma2" not in run("two.nc", "again.nc", "--var-names", "mu").stdout


def test_of_many_scalars_the_farthest_apart_are_printed():
    wide = bm.DirichletCategorical(np.ones(50))
    save(draws(1, wide), "a.nc")
    save(draws(2, wide), "b.nc")
    assert "10 more rows are not shown" in run("a.nc", "b.nc").stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["none.nc", "one.nc"], "there is no file 'none.nc'"),
        (["one.nc", "text.nc"], "'text.nc' can't be read as netCDF-4"),
        (["one.nc", "."], "'.' can't be read as zarr"),
        (["one.nc", "prior.nc"], "second: 'prior.nc' must have a group posterior"),
        (["prior.nc", "one.nc"], "its groups: prior."),
        (["one.nc", "single.nc"], "must have at least 2 chains"),
        (["one.nc", "renamed.nc"], "must have a variable in common"),
        (
            ["one.nc", "theta.nc"],
            "'theta' of the second set must have the axes (chain, draw) and then (3)",
        ),
        (["one.nc", "other.zarr", "--var-names", "theta,w"], "'w' must be in both sets"),
        (["one.nc", "other.zarr", "--level", "1"], "level: must be strictly between"),
        (["one.nc", "other.zarr", "--tolerance", "-1"], "tolerance: must be positive"),
        (["one.nc", "other.zarr", "--html", "/no/such/folder/x.html"], "there is no folder"),
        (["one.nc", "other.zarr", "--prob", "0.5"], "--prob: is about the report; add --html."),
        (["one.nc"], "Missing argument 'SECOND'"),
    ],
)
def test_bad_input_ends_with_2_and_one_line_that_says_what(args, words):
    result = run(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


@pytest.mark.slow
def test_the_report_is_written(folder):
    result = run("one.nc", "other.zarr", "--html", "out.html", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["file"] == "out.html"
    text = (folder / "out.html").read_text("utf-8")
    again = "bayesmodels compare one.nc other.zarr --html out.html --json"
    assert again in text
