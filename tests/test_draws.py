"""Exact and MCMC draws look the same, survive the disk, and are read by ArviZ unchanged."""

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from scipy import stats

import bayesmodels as bm
from bayesmodels import draws as drawing
from bayesmodels.belief import datatree
from bayesmodels.command import catalog

GROUPS = {
    "log_likelihood",
    "log_prior",
    "observed_data",
    "posterior",
    "posterior_predictive",
    "prior",
    "sample_stats",
}


def regression():
    rng = np.random.default_rng(1)
    index = list("abcdefghijklmnopqrst")
    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"], index=index)
    y = 1 + frame["a"] - frame["b"] + rng.normal(size=20)
    prior = bm.LinearRegression(0, 0.1, 2, 2, features=["intercept", "a", "b"])
    return prior, bm.Design(frame, y, intercept=True)


CASES = {
    "coin": lambda: (bm.BetaBernoulli(1, 1), [1, 0, 1, 1, 0]),
    "groups": lambda: (
        bm.BetaBernoulli(1, 1),
        bm.Grouped(bm.BinomialCounts([3, 4], [10, 12]), by=["old", "new"]),
    ),
    "words": lambda: (
        bm.DirichletCategorical([1, 1, 1], categories=["x", "y", "z"]),
        ["x", "x", "z"],
    ),
    "regression": regression,
}


@pytest.fixture(params=CASES, name="case")
def _case(request):
    return CASES[request.param]()


def exact(case, draws=40):
    return bm.exact_draws(*case, draws=draws, chains=2, rng=np.random.default_rng(1))


def test_all_groups_are_there_with_sample_axes_first(case):
    tree = exact(case)
    assert set(tree.children) == GROUPS
    for group in GROUPS - {"observed_data"}:
        for values in tree[group].data_vars.values():
            assert values.dims[:2] == ("chain", "draw")
            assert not values.isnull().any()  # noqa: PD003 - xarray's name
    (name,) = tree.observed_data.data_vars
    rows = tree.observed_data[name]
    assert tree.posterior_predictive[name].dims == ("chain", "draw", *rows.dims)
    assert tree.log_likelihood[name].dims[:3] == ("chain", "draw", "row")


def test_the_log_prior_is_that_of_the_prior_at_the_draws():
    prior, data = CASES["groups"]()
    tree = exact((prior, data))
    theta = tree.posterior["theta"].to_numpy()
    known = stats.beta(1, 1).logpdf(theta).sum(-1)
    np.testing.assert_allclose(tree.log_prior["joint"], known, atol=1e-12)
    prior = bm.BetaBernoulli(3, 2)
    tree = exact((prior, data))
    known = stats.beta(3, 2).logpdf(tree.posterior["theta"].to_numpy()).sum(-1)
    np.testing.assert_allclose(tree.log_prior["joint"], known, rtol=1e-12)


def test_a_path_must_say_what_it_is(tmp_path):
    tree = bm.BetaBernoulli(1, 1).to_datatree(draws=10)
    with pytest.raises(bm.DataError, match=r"\.nc .* or \.zarr"):
        drawing.save(tree, tmp_path / "draws.txt")
    with pytest.raises(bm.DataError, match="there is no file"):
        drawing.load(tmp_path / "none.nc")


def test_what_cannot_be_read_is_named(tmp_path):
    text, folder, cut = tmp_path / "draws.nc", tmp_path / "draws.zarr", tmp_path / "cut.nc"
    text.write_text("chain,draw\n")
    folder.mkdir()
    drawing.save(bm.BetaBernoulli(1, 1).to_datatree(draws=10), tmp_path / "whole.nc")
    cut.write_bytes((tmp_path / "whole.nc").read_bytes()[:3000])
    for path, kind in ((text, "netCDF-4"), (folder, "zarr"), (cut, "netCDF-4")):
        with pytest.raises(bm.DataError, match=rf"{path.name}' can't be read as {kind}: "):
            drawing.load(path)


def test_the_older_layout_of_files_is_read(tmp_path):
    """InferenceData wrote one dataset a group, and warm-up draws beside the others."""
    tree, path = exact(CASES["groups"]()), tmp_path / "old.netcdf"
    xr.Dataset().to_netcdf(path, engine="h5netcdf")
    for name, part in {**tree.children, "warmup_posterior": tree.posterior}.items():
        data = part.to_dataset()
        data = data.isel(draw=slice(9)) if name.startswith("warmup") else data
        data.to_netcdf(path, mode="a", group=name, engine="h5netcdf")
    assert set(drawing.load(path).children) == {*GROUPS, "warmup_posterior"}
    chosen = drawing.load(path, ["posterior", "no such group"])
    assert set(chosen.children) == {"posterior"}
    xr.testing.assert_equal(chosen.posterior.to_dataset(), tree.posterior.to_dataset())


def test_arviz_reads_exact_draws(case):
    tree = exact(case, draws=100)
    assert set(az.summary(tree, round_to="none").columns) >= {"mean", "sd", "ess_bulk"}
    assert set(az.ess(tree).data_vars) == set(tree.posterior.data_vars)


def test_arviz_computes_loo_from_the_rows_log_likelihood():
    rng = np.random.default_rng(1)  # of 4,000 draws the estimate has a standard error of 0.03
    tree = bm.exact_draws(bm.BetaBernoulli(1, 1), [1, 0] * 20, draws=20_000, rng=rng)
    # Exact: each row's predictive given the others, Beta(1 + 19, 1 + 20) or the mirror image.
    theta = tree.posterior["theta"].to_numpy().ravel()
    # Importance weights of a one and of a zero, 20 rows each; smoothed weights vary no more.
    weights = 1 / theta / (1 / theta).mean() + 1 / (1 - theta) / (1 / (1 - theta)).mean()
    error = 20 * weights.std() / np.sqrt(theta.size)
    assert error < 0.03
    assert az.loo(tree).elpd == pytest.approx(40 * np.log(20 / 41), abs=4 * error)


def test_a_statistic_has_no_rows_and_the_tree_says_so():
    prior = bm.BetaBernoulli(1, 1)
    tree = bm.exact_draws(prior, prior.statistic([1, 0]), draws=10)
    assert set(tree.children) == {"log_prior", "posterior", "prior", "sample_stats"}
    assert "statistic" in tree.attrs["omitted"]


def test_an_improper_prior_has_no_draws_and_the_tree_says_so():
    _, data = regression()
    tree = bm.exact_draws(bm.LinearRegression.flat(["intercept", "a", "b"]), data, draws=10)
    assert not {"prior", "log_prior"} & set(tree.children)
    assert "flat" in tree.attrs["omitted"]


def test_too_many_rows_times_draws_are_left_out(monkeypatch):
    monkeypatch.setattr(datatree, "LARGEST_GROUP", 100)
    tree = bm.exact_draws(bm.BetaBernoulli(1, 1), [1, 0, 1], draws=50)
    assert "posterior_predictive" not in tree.children
    assert "3 rows times 200 draws" in tree.attrs["omitted"]


@pytest.mark.slow
def test_mcmc_draws_have_the_same_shape_as_exact_ones(case):
    prior, data = case
    sampled = bm.mcmc_draws(
        prior, data, draws=100, tune=200, chains=2, rng=np.random.default_rng(1)
    )
    same = exact(case, draws=100)
    assert set(sampled.children) == GROUPS
    for group in GROUPS - {"sample_stats"}:
        assert sampled[group].sizes == same[group].sizes
        assert set(sampled[group].data_vars) == set(same[group].data_vars)
        for dim in same[group].dims:
            np.testing.assert_array_equal(sampled[group][dim], same[group][dim])


class StoppedError(Exception):
    """Nothing was sampled."""


@pytest.mark.parametrize(("name", "checked"), [("naive-bayes", False), ("concept-learning", True)])
def test_parameters_that_a_transform_keeps_in_range_are_not_checked(name, checked, monkeypatch):
    seen = []

    def stop(**_):
        seen.append(pm.modelcontext(None).check_bounds)
        raise StoppedError

    monkeypatch.setattr(pm, "sample", stop)
    prior, data, _ = catalog.example(name)
    with pytest.raises(StoppedError):
        bm.mcmc_draws(prior, data)
    assert seen == [checked]


def test_draws_that_round_to_the_border_have_their_true_likelihood():
    draws = {"theta": np.array([0.0, 1.0, 0.5])}
    found = bm.BetaBernoulli(1, 1).log_likelihood(draws, [1, 0])["x"]
    np.testing.assert_array_equal(found[:2], [[-np.inf, 0], [0, -np.inf]])


@pytest.mark.slow
def test_where_no_chain_can_start_another_prior_helps():
    waits = bm.Censored([400.0, 1500.0, 2000.0], observed=[1, 0, 0])
    size = {"draws": 50, "tune": 50, "chains": 2, "rng": 1}
    with pytest.raises(bm.PriorError, match=r"^prior: PyMC's sampler has no point to start from"):
        bm.mcmc_draws(bm.GammaExponential(1, 1), waits, **size)
    found = bm.mcmc_draws(bm.GammaExponential(1, 400), waits, **size)
    assert 0 < found.posterior["lam"].mean() < 0.01


def test_labels_that_read_the_same_would_hide_each_other():
    with pytest.raises(bm.DataError, match="'1' is given twice"):
        bm.DirichletCategorical([1, 1], categories=[1, "1"])


def test_a_tree_with_data_has_what_arviz_asks_for_of_rows():
    prior, rows = bm.GammaPoisson(1, 1), [3, 1, 4, 2, 0, 5, 3]
    tree = prior.update(rows).to_datatree(rng=1, data=rows)
    assert {"observed_data", "posterior_predictive", "log_likelihood"} <= set(tree.children)
    by_draws = az.loo(tree)
    exact = bm.leave_one_out(prior, rows)
    assert by_draws.elpd == pytest.approx(exact.elpd, abs=0.1)
    gone = prior.update(rows).to_datatree(rng=1, data=prior.statistic(rows))
    assert list(gone.children) == ["posterior"]
    assert "whose rows are gone" in gone.attrs["omitted"]


@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_every_posterior_draws_its_marginals_with_arviz(kind):
    with pm.Model() as model:
        pm.Poisson("x", pm.math.exp(pm.Normal("level", 0, 2)), observed=[3, 5, 4])
    for posterior, names in (
        (bm.BetaBernoulli([5, 3], 19), ["theta"]),
        (bm.NormalInverseGamma(0, 1, 3, 2), ["mu", "sigma2"]),
        (bm.integrate(model, rng=1), ["level"]),
        (bm.LogisticRegression([0, 0], 2).laplace(([[1.0, 2], [0, 1], [1, 0]], [0, 1, 1])), ["w"]),
    ):
        pictures = posterior.plot(ci_kind=kind, backend="none")
        assert sorted(pictures.viz["dist"].data_vars) == names
