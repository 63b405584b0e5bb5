"""Draws that are exact where they can be, in PyMC's own layout."""

import logging
import os
import subprocess
import sys

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm


def line():
    """Return a regression with a missing row, a hidden category and every kind of axis."""
    rng = np.random.default_rng(1)
    rows = np.ma.masked_invalid([1.0, 2, 3, np.nan, 3])
    with pm.Model(coords={"weight": ["level", "slope"], "row": np.arange(5)}) as model:
        x = pm.Data("x", rng.normal(size=5), dims="row")
        s2 = pm.InverseGamma("s2", 3, 2)
        w = pm.Normal("w", 0, 2 * pm.math.sqrt(s2), dims="weight")
        mu = pm.Deterministic("mu", w[0] + w[1] * x, dims="row")
        pm.Deterministic("s", pm.math.sqrt(s2))
        share = pm.Dirichlet("share", [1.0, 2, 3], shape=(2, 3))
        pm.Multinomial("counts", [9, 9], share, observed=[[3, 3, 3], [1, 2, 6]])
        with pytest.warns(pm.exceptions.ImputationWarning):
            pm.Normal("y", mu, pm.math.sqrt(s2), observed=rows, dims="row")
    return model


def coin():
    with pm.Model() as model:
        theta = pm.Beta("theta", 2, 2)
        pm.Deterministic("odds", theta / (1 - theta))
        pm.Bernoulli("heads", theta, observed=[1, 0, 1, 1])
    return model


def no_form():
    """Return a model with more scalars than can be integrated."""
    with pm.Model() as model:
        theta = pm.TruncatedNormal("theta", 0.5, 0.2, lower=0, upper=1, shape=70)
        pm.Bernoulli("heads", theta.mean(), observed=[1, 0, 1, 1, 0])
    return model


@pytest.fixture(scope="module")
def tree():
    return bm.sample(coin(), 250, chains=2, rng=1)


def test_exact_draws_say_so(tree):
    assert tree.attrs["sampler"] == "exact"
    assert tree.attrs["verified"] == "analytically"
    assert tree.attrs["log_evidence"] == pytest.approx(np.log(2 / 35), abs=1e-12)
    assert tree.posterior.attrs["inference_library"] == "bayesmodels"
    assert dict(tree.posterior.sizes) == {"chain": 2, "draw": 250}
    assert set(tree.children) == {"posterior", "sample_stats", "observed_data"}


def test_exact_draws_have_density_and_deterministics(tree):
    theta = tree.posterior["theta"]
    np.testing.assert_allclose(tree.posterior["odds"], theta / (1 - theta), rtol=1e-12)
    density = bm.BetaBernoulli(5, 3).log_density({"theta": theta.to_numpy()})
    np.testing.assert_allclose(tree.sample_stats["lp"], density, rtol=1e-9)
    assert tree.observed_data["heads"].to_numpy().tolist() == [1, 0, 1, 1]
    assert bm.compare(bm.BetaBernoulli(5, 3), tree, level=1e-4).outcome != "disagree"


def test_the_same_seed_gives_the_same_draws(tree):
    again = bm.sample(coin(), 250, chains=2, rng=np.random.default_rng(1))
    assert again.posterior.to_dataset().equals(tree.posterior.to_dataset())


def test_variables_can_be_left_out():
    tree = bm.sample(coin(), 20, rng=1, var_names=["odds"])
    assert list(tree.posterior.data_vars) == ["odds"]


@pytest.mark.slow
def test_without_a_closed_form_pymc_samples_and_the_reason_is_logged(monkeypatch, caplog):
    given = {}

    def pm_sample(draws, **options):
        given.update(options, draws=draws)
        return pm.to_inference_data(
            prior={"theta": np.zeros((3, 70))}, model=options["model"]
        ).assign({"posterior": bm.BetaBernoulli(1, 1).to_datatree(draws)["posterior"]})

    monkeypatch.setattr(pm, "sample", pm_sample)
    with caplog.at_level(logging.INFO, "bayesmodels"):
        tree = bm.sample(no_form(), 10, tune=20, chains=3, rng=1, target_accept=0.9)
    assert given["draws"] == 10
    assert (given["tune"], given["chains"], given["target_accept"]) == (20, 3, 0.9)
    assert isinstance(given["random_seed"], int)
    assert tree.attrs["sampler"] == "pymc"
    assert "theta" in tree.attrs["reason"]
    assert [record.levelno for record in caplog.records] == [logging.INFO]
    assert tree.attrs["reason"] in caplog.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"random_seed": 1}, "random_seed: can't be given; give `rng`"),
        ({"return_inferencedata": False}, "a DataTree is always returned"),
        ({"draws": 0}, "draws"),
        ({"chains": 1.5}, "chains"),
    ],
)
def test_bad_arguments(options, words):
    with pytest.raises(bm.DataError, match=words):
        bm.sample(None, **options)


def test_what_is_no_model():
    with pytest.raises(bm.DataError, match="must be a PyMC or Bambi model"):
        bm.sample("model.py")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # PyMC's, of few draws
def test_the_tree_is_laid_out_as_pymcs_own():
    model = line()
    ours = bm.sample(model, 25, chains=2, rng=1)
    settings = {"tune": 100, "chains": 2, "cores": 1, "random_seed": 1, "progressbar": False}
    with model:
        theirs = pm.sample(25, step=pm.Metropolis(), **settings)
    assert set(ours.children) == set(theirs.children)
    assert set(ours.posterior.data_vars) == set(theirs.posterior.data_vars)
    for name, values in theirs.posterior.data_vars.items():
        own = ours.posterior[name]
        assert (own.dims, own.dtype) == (values.dims, values.dtype), name
        assert set(own.coords) == set(values.coords)
        for axis, labels in values.coords.items():
            assert own[axis].to_numpy().tolist() == labels.to_numpy().tolist()
    for group in ("observed_data", "constant_data"):
        assert ours[group].to_dataset().equals(theirs[group].to_dataset())
    # Rows that were observed stay what they are, and the missing one is the variable's.
    seen = ours.posterior["y"].to_numpy()
    assert (seen[..., [0, 1, 2, 4]] == [1, 2, 3, 3]).all()
    np.testing.assert_array_equal(seen[..., 3:4], ours.posterior["y_unobserved"])


@pytest.mark.slow
def test_a_model_without_a_closed_form_on_the_whole_way():
    tree = bm.sample(
        no_form(), 400, tune=400, rng=1, progressbar=False, compute_convergence_checks=False
    )
    assert tree.attrs["sampler"] == tree.posterior.attrs["inference_library"] != "exact"
    assert 0.4 < float(tree.posterior["theta"].mean()) < 0.6


@pytest.mark.slow
def test_a_seed_gives_the_same_draws_with_an_empty_and_with_a_warm_cache(tmp_path):
    """With fast-math, sums were rounded as the cache of compiled functions had it."""
    program = """if True:
        import hashlib, numpy as np, pymc as pm, bayesmodels as bm
        rows = np.random.default_rng(3).normal(2, 1, 50)
        with pm.Model() as model:
            each = pm.Normal("each", shape=60)
            pm.StudentT("y", 4, mu=each.sum(), sigma=1, observed=rows)
        tree = bm.sample(model, 100, tune=100, chains=2, rng=1, progressbar=False)
        for name, values in tree.posterior.data_vars.items():
            print(name, hashlib.sha256(values.to_numpy().tobytes()).hexdigest())
    """
    environment = {**os.environ, "PYTENSOR_FLAGS": f"base_compiledir={tmp_path}"}
    empty, warm = (
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for _ in range(2)
    )
    assert len(empty.splitlines()) == 1
    assert empty == warm
