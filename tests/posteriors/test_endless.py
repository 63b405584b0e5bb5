"""Whole numbers without an end are added up as far as their prior leaves anything."""

import re

import numpy as np
import pymc as pm
import pytest
from scipy import special, stats

import bayesmodels as bm

RNG = 20261126
EVERY = np.arange(4000)


def poisson():
    n = pm.Poisson("n", 20)
    pm.Binomial("seen", n, 0.3, observed=5)


def negative_binomial():
    n = pm.NegativeBinomial("n", mu=20, alpha=2)
    pm.Binomial("seen", n, 0.3, observed=5)


def geometric():
    n = pm.Geometric("n", 0.2)
    pm.Normal("y", n, 1.0, observed=4.2)


SEEN = stats.binom.logpmf(5, EVERY, 0.3)
MODELS = {
    poisson: stats.poisson.logpmf(EVERY, 20) + SEEN,
    negative_binomial: stats.nbinom.logpmf(EVERY, 2, 2 / 22) + SEEN,
    geometric: stats.geom.logpmf(EVERY, 0.2) + stats.norm.logpdf(4.2, EVERY),
}


def built(declare):
    with pm.Model() as model:
        declare()
    return model


@pytest.mark.parametrize("verb", [bm.exact, pytest.param(bm.integrate, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "declare", [poisson, pytest.param(negative_binomial, marks=pytest.mark.slow), geometric]
)
def test_evidence_and_probabilities_are_those_of_the_whole_sum(declare, verb):
    posterior = verb(built(declare), rng=RNG)
    total = special.logsumexp(MODELS[declare])
    assert posterior.log_evidence == pytest.approx(total, rel=1e-12)
    found = posterior.marginals()["n"].mean()
    first = posterior.levels["n"][0] if verb is bm.integrate else int(declare is geometric)
    expected = np.exp(MODELS[declare] - total)[first:]
    assert found == pytest.approx(expected[: len(found)], abs=1e-12)
    assert expected[len(found) :].sum() < 1e-80
    assert re.search(
        r"n is added up to \d+, as its prior has less than 1e-100", posterior.explain()
    )


def test_what_was_not_seen_is_a_poisson_number_of_its_own():
    posterior = bm.exact(built(poisson), rng=RNG)
    assert posterior.log_evidence == pytest.approx(stats.poisson.logpmf(5, 6))
    found = posterior.marginals()["n"].mean()
    assert found == pytest.approx(stats.poisson.pmf(np.arange(len(found)) - 5, 14), abs=1e-13)


COUNTS = [[1, 2, 0], [4, 3, 3], [0, 1, 2], [2, 0, 0]]


def sites():
    p = pm.Beta("p", 2, 2)
    n = pm.Poisson("n", 5, shape=4)
    pm.Binomial("seen", n[:, None], p, observed=COUNTS)


@pytest.mark.slow
def test_numbers_at_several_sites_of_unknown_detection_are_summed_out():
    n = np.arange(150)

    def log_density(x):
        p = special.expit(x[:, 0])
        rows = stats.binom.logpmf(np.array(COUNTS)[:, :, None], n, p[:, None, None, None]).sum(2)
        each = special.logsumexp(rows + stats.poisson.logpmf(n, 5), -1).sum(-1)
        return each + stats.beta.logpdf(p, 2, 2) + np.log(p * (1 - p))

    x = np.linspace(-12, 12, 4001)
    expected = special.logsumexp(log_density(x[:, None])) + np.log(x[1] - x[0])
    posterior = bm.integrate(built(sites), rng=RNG)
    assert posterior.log_evidence == pytest.approx(expected, abs=1e-8)
    assert "n is added up to" in posterior.explain()


def test_what_is_read_off_is_the_number_itself():
    for verb in (bm.exact, bm.integrate):
        posterior = verb(built(poisson), rng=RNG)
        law = stats.poisson(14)  # of those that were not seen, beside five
        assert posterior.mean()["n"] == pytest.approx(19, abs=1e-10)
        assert posterior.var()["n"] == pytest.approx(14, abs=1e-9)
        for prob in (0.5, 0.89, 0.999):
            tail = (1 - prob) / 2
            assert posterior.interval(prob)["n"] == (5 + law.ppf(tail), 5 + law.isf(tail))
        table = posterior.summary()
        assert table.index.tolist() == ["n"]
        assert table.loc["n"].tolist() == pytest.approx([19, 14**0.5, 13, 25])
    assert posterior.errors["mean"]["n"] < 1e-9
    assert posterior.errors["sd"]["n"] < 1e-9
    assert posterior.interval_errors()["n"] == (0, 0)


def test_labels_stay_probabilities():
    def both():
        group = pm.Categorical("group", [0.2, 0.3, 0.5])
        sick = pm.Bernoulli("sick", 0.4, shape=2)
        pm.Normal("y", group + sick, 1, observed=[1.0, 2.0])

    weights = {}
    for g, a, b in np.ndindex(3, 2, 2):
        prior = [0.2, 0.3, 0.5][g] * np.prod([0.4 if x else 0.6 for x in (a, b)])
        weights[g, a, b] = prior * stats.norm.pdf([1 - g - a, 2 - g - b]).prod()
    total = sum(weights.values())
    shares = [sum(w for at, w in weights.items() if at[0] == g) / total for g in range(3)]
    expected = [sum(w * at[k] for at, w in weights.items()) / total for k in (1, 2)]
    posterior = bm.exact(built(both), rng=RNG)
    assert posterior.mean()["group"] == pytest.approx(shares, abs=1e-12)
    assert posterior.mean()["sick"] == pytest.approx(expected, abs=1e-12)
    assert posterior.summary().index.tolist() == [
        *("group[0]", "group[1]", "group[2]", "sick[0]", "sick[1]")
    ]
    draws = posterior.to_datatree(500, rng=RNG)
    assert bm.compare(posterior, draws).outcome == "agree"


def far():
    n = pm.Poisson("n", 1)
    pm.Normal("y", n, 1e-3, observed=300.0)


@pytest.mark.parametrize("verb", [bm.exact, bm.integrate])
def test_data_that_the_prior_all_but_excludes_are_refused(verb):
    with pytest.raises(bm.NotConjugate, match="its posterior has not ended"):
        verb(built(far), rng=RNG)


def unknown():
    rate = pm.Gamma("rate", 2, 1)
    n = pm.Poisson("n", rate)
    pm.Binomial("seen", n, 0.5, observed=3)


def test_how_many_values_matter_must_be_known():
    with pytest.raises(bm.NotConjugate, match=r"n .* that has infinitely many"):
        bm.exact(built(unknown), rng=RNG)


def vast():
    n = pm.Geometric("n", 1e-9)
    scale = pm.HalfNormal("scale", 1)
    pm.Normal("y", n * 1e-9, scale, observed=1.0)


@pytest.mark.parametrize("verb", [bm.exact, bm.integrate])
def test_more_values_than_can_be_listed_are_refused(verb):
    with pytest.raises(bm.NotConjugate, match=r"2\.4\de\+11 configurations"):
        verb(built(vast), rng=RNG)
