"""Truncated laws, and logs and logits: evidence, quantiles, draws, and what lies far out."""

from functools import cache
from itertools import pairwise

import numpy as np
import pymc as pm
import pytest
from scipy import stats
from scipy.integrate import quad

import bayesmodels as bm
from tests.posteriors import intervals
from tests.posteriors.compare import evidence_error
from tests.posteriors.entry import Entry, opened

TABLE = [entry for entry in vars(intervals).values() if isinstance(entry, Entry)]
SCALARS = [
    entry for entry in TABLE if entry.name not in ("means of three", "uniform mean beside a block")
]
QUICK = {"uniform mean", "truncated gamma rate", "uniform share on a part", "logistic logit"}
PROBS = np.array([1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999])


def rows(table):
    return pytest.mark.parametrize(
        "entry",
        [
            pytest.param(e, id=e.name, marks=() if e.name in QUICK else pytest.mark.slow)
            for e in table
        ],
    )


@cache
def solved(entry, seed=1):
    return bm.exact(entry.build(), rng=seed)


@rows(TABLE)
def test_the_log_evidence_has_ten_digits(entry):
    assert evidence_error(solved(entry), entry.reference()) <= 1e-10


@rows(SCALARS)
def test_quantiles_have_the_mass_of_the_reference_between_them(entry):
    posterior, reference = solved(entry), entry.reference()
    ((name, law),) = posterior.marginals().items()
    at = np.array([float(law.ppf(p)) for p in PROBS])
    masses = [
        quad(lambda x: np.exp(reference.log_density({name: x})), *ends, epsabs=0, epsrel=1e-11)[0]
        for ends in pairwise(at)
    ]
    # A quantile is as exact as floats are dense there.
    step = np.array([np.spacing(abs(x)) * np.exp(reference.log_density({name: x})) for x in at])
    error = np.abs(masses - np.diff(PROBS))
    assert (error <= 1e-10 * np.diff(PROBS) + step[:-1] + step[1:]).all()
    np.testing.assert_allclose([law.cdf(x) for x in at[1:]], PROBS[1:], rtol=1e-8)
    upper = [float(law.isf(p)) for p in PROBS]
    np.testing.assert_allclose([law.sf(x) for x in upper[1:]], PROBS[1:], rtol=1e-8)


@rows(SCALARS)
def test_exact_draws_have_uniform_ranks_and_stay_inside(entry):
    posterior = solved(entry)
    ((name, law),) = posterior.marginals().items()
    draws = posterior.sample(2000, 7)[name]
    assert stats.kstest(law.cdf(draws), "uniform").pvalue > 1e-4
    own = posterior.parameters()[name]
    assert (draws > own.get("lower", -np.inf)).all()
    assert (draws < own.get("upper", np.inf)).all()
    mean, sd = posterior.mean()[name], np.sqrt(posterior.var()[name])
    assert abs(draws.mean() - mean) < 5 * sd / np.sqrt(len(draws))


@pytest.mark.parametrize("away", [40.0, 300.0, 1e4])
def test_far_out_in_a_tail_the_law_is_exponential(away):
    """By Mills's ratio the log evidence is that of the nearer end, to a part of one in away²."""

    @opened
    def build():
        mu = pm.Uniform("mu", away, away + 5)
        pm.Normal("x", mu, 1, observed=[0.0])

    posterior = bm.exact(build(), rng=1)
    expected = stats.norm.logpdf(away) - np.log(5 * away) - np.log1p(away**-2)
    assert posterior.log_evidence == pytest.approx(expected, abs=3 * away**-4 + 1e-13 * away**2)
    assert posterior.mean()["mu"] - away == pytest.approx(1 / away, rel=3 * away**-2)
    assert np.sqrt(posterior.var()["mu"]) == pytest.approx(1 / away, rel=5 * away**-2)
    assert posterior.interval(0.5)["mu"][0] - away == pytest.approx(-np.log(0.75) / away, rel=1e-2)


def test_a_mode_inside_is_the_whole_laws_and_at_an_end_there_is_none():
    assert solved(intervals.uniform_mean).mode()["mu"] == pytest.approx(intervals.HEIGHTS.mean())
    assert solved(intervals.logistic_logit).mode()["logit"] == pytest.approx(np.log(8 / 14))
    for entry in (intervals.interval_of_a_mean_far_out, intervals.uniform_without_data):
        with pytest.raises(bm.ModeError, match="border"):
            solved(entry).mode()


SAID = {
    "uniform mean": "mu has a normal law with mean 173, sd 3.02372 for mu in (150, 200).",
    "uniform without data": "x has a uniform law for x in (2, 5).",
    "uniform deviation": "the square of sigma has an inverse Gamma law with shape",
    "means of three": "mu has a normal law for mu in (-1, 1).",
    "flat log deviation": "the square of exp(log_sd) has an inverse Gamma law with shape",
    "logistic logit": "the inverse logit of logit has a Beta law with alpha 8, beta 14.",
}


@rows(entry for entry in TABLE if entry.name in SAID)
def test_the_sentences_name_law_and_interval(entry):
    assert solved(entry).families == entry.reference().families
    assert SAID[entry.name] in solved(entry).explain()


def test_one_law_for_each_value_of_a_finite_variable():
    @opened
    def build():
        shift = pm.Bernoulli("shift", 0.5)
        mu = pm.Uniform("mu", -1, 1)
        pm.Normal("x", mu + shift, 1, observed=[0.3, 0.2])

    posterior = bm.exact(build(), rng=1)

    def integral(power, state):
        def joint(m):
            return m**power * stats.norm.pdf([0.3, 0.2], m + state, 1).prod() / 4

        return quad(joint, -1, 1, epsrel=1e-13)[0]

    parts = [[integral(power, state) for power in (0, 1)] for state in (0, 1)]
    whole, first = np.sum(parts, 0)
    assert posterior.log_evidence == pytest.approx(np.log(whole), abs=1e-12)
    assert posterior.mean()["mu"] == pytest.approx(first / whole, abs=1e-12)
    assert posterior.mean()["shift"] == pytest.approx(parts[1][0] / whole, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ends", "lengths"),
    [((0, 50), (7,)), ((0.5, np.inf), (7,)), ((-3, 3), (3, 4))],
    ids=["positive", "one-sided", "two blocks"],
)
def test_partial_keeps_a_scale_on_an_interval_and_its_transform(ends, lengths):
    @opened
    def build():
        level = pm.Normal("level", 0, 10)
        other = pm.TruncatedNormal("other", 1, 2, lower=ends[0], upper=ends[1])
        pm.Normal("x", level, pm.math.exp(other / 10), observed=np.arange(sum(lengths)))

    model = build()
    partial = bm.exact(model, partial=True, rng=1)
    assert (partial.integrated, partial.remaining) == (("level",), ("other",))
    (left,) = partial.model.free_RVs
    own = type(model.rvs_to_transforms[model["other"]])
    assert isinstance(partial.model.rvs_to_transforms[left], own)
    mean = partial.conditional({"other": 1.0})["level"]["mean"]
    precision = sum(lengths) * np.exp(-0.2)
    total = np.exp(-0.2) * np.arange(sum(lengths)).sum()
    assert mean == pytest.approx(total / (precision + 0.01), rel=1e-10)


@pytest.mark.slow
def test_a_truncated_law_given_the_rest_is_not_integrated_out():
    @opened
    def build():
        mu, sigma = pm.HalfNormal("mu", 5), pm.HalfNormal("sigma", 5)
        pm.Normal("x", mu, sigma, observed=[1.0, 2.0, 0.5])

    with pytest.raises(bm.NotConjugate, match="mu"):
        bm.exact(build(), partial=True, rng=1)


@pytest.mark.slow
def test_sample_and_compare_take_it_like_any_other():
    model = intervals.truncated_gamma_rate.build()
    with model:
        pm.Deterministic("wait", 1 / model["rate"])
    tree = bm.sample(model, 500, chains=2, rng=1)
    assert tree.attrs["sampler"] == "exact"
    np.testing.assert_allclose(tree.posterior["wait"], 1 / tree.posterior["rate"])
    posterior = bm.exact(model, rng=1)
    right = bm.sample(model, 500, rng=2)
    assert bm.compare(posterior, right, level=1e-4).outcome != "disagree"
    wrong = bm.sample(intervals.uniform_rate_below_one.build(), 500, rng=2)
    assert bm.compare(posterior, wrong).outcome == "disagree"


@pytest.mark.parametrize(
    ("trials", "ones"),
    [(1, 0), *(pytest.param(*each, marks=pytest.mark.slow) for each in [(2, 2), (3, 1)])],
)
def test_a_logit_known_from_few_tosses_is_not_mistaken_for_constrained(trials, ones):
    """Far out the model's own 1 - theta is zero, and its log minus infinity."""

    @opened
    def build():
        logit = pm.Flat("logit")
        theta = pm.math.invlogit(logit)
        pm.Potential("jacobian", pm.math.log(theta) + pm.math.log1p(-theta))
        pm.Binomial("x", trials, theta, observed=ones)

    for seed in range(5):
        found = bm.exact(build(), rng=seed).parameters()["logit"]
        assert (found["alpha"], found["beta"]) == pytest.approx((1 + ones, 1 + trials - ones))


def test_an_interval_too_narrow_for_its_law_is_refused():
    @opened
    def build():
        mu = pm.Uniform("mu", 100, 100 + 1e-11)
        pm.Normal("x", mu, 1, observed=[0.2])

    with pytest.raises(bm.NotConjugate, match="mu lies in so narrow an interval"):
        bm.exact(build(), rng=1)


def test_quantiles_of_several_probabilities_at_once():
    """Of an array of laws, too, as a frozen SciPy law does it: not those of the first alone."""
    with pm.Model() as model:
        share = pm.Uniform("share", 0.2, 0.6, shape=2)
        pm.Binomial("k", 10, share, observed=[3, 5])
    law = bm.exact(model, rng=1).marginals()["share"]
    q = np.array([0.1, 0.5, 0.9])
    for quantiles, tail in ((law.ppf, law.cdf), (law.isf, law.sf)):
        together = quantiles(q[:, None])
        np.testing.assert_array_equal(together, [quantiles(p) for p in q])
        np.testing.assert_allclose(tail(together), np.broadcast_to(q[:, None], (3, 2)))
