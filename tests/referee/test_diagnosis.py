"""Where the identity fails, the right term is named; of right models none is.

Each planted slip of the identity names its term too: tests/negative.
"""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.referee.diagnosis import Diagnosis, differing_terms
from bayesmodels.report.html import render
from tests.contract.cases import CASES
from tests.report import samples

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(8, 2)), RNG.normal(size=8)
BITS = RNG.integers(0, 2, (8, 3))
MAIL = (BITS, list("aabbabab"))
COIN, TOSSES = bm.BetaBernoulli(2, 5), np.array([1, 0, 0, 1, 0])
NORMAL = bm.NormalInverseGamma(1, 0.5, 3, 2)
LINE = bm.LinearRegression([1, -1], np.diag([0.1, 4]), 3, 2)
FLAT = bm.LinearRegression.flat(2)
NAMES, SKEWED = (bm.DirichletCategorical(a, categories=["a", "b"]) for a in ([1, 2], [2, 1]))
NAIVE = bm.NaiveBayes(NAMES, COIN)
IMPROPER = "the prior, which is improper"
ONLY_A_STATISTIC = "the likelihood, whose rows the belief does not have one by one"


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


def differing(model, prior, data):
    return differing_terms(model, prior, data, 10, np.random.default_rng(4))


def diagnosis(model, prior, data, posterior=None, log_evidence=None):
    posterior = prior.update(data) if posterior is None else posterior
    found = bm.check_identity(model, posterior, prior, log_evidence, rng=np.random.default_rng(2))
    assert not found.holds
    return bm.diagnose(model, prior, data, identity=found, rng=3)


def blamed(prior, data, posterior, log_evidence=None, likelihood="rows"):
    """Return what is said of a posterior beside the prior's own declaration."""
    declared = prior.declare(data, likelihood)
    return diagnosis(declared, prior, data, posterior, log_evidence).sentences()[0]


@pytest.mark.parametrize(
    ("prior", "data", "declared", "rows", "terms"),
    [
        (COIN, TOSSES, bm.BetaBernoulli(5, 2), TOSSES, ["the prior of theta"]),
        (COIN, TOSSES, bm.BetaBernoulli(2 + 1e-9, 5), TOSSES, ["the prior of theta"]),
        (COIN, TOSSES, COIN, 1 - TOSSES, ["the likelihood of x"]),
        (
            COIN,
            TOSSES,
            bm.BetaBernoulli(5, 2),
            1 - TOSSES,
            ["the prior of theta", "the likelihood of x"],
        ),
        (NORMAL, Y, bm.NormalInverseGamma(1, 0.5, 4, 2), Y, ["the prior of sigma2"]),
        (NORMAL, Y, bm.NormalInverseGamma(1, 0.6, 3, 2), Y, ["the prior of mu"]),
        (LINE, (X, Y), LINE, (X, 2 * Y), ["the likelihood of y"]),
        (FLAT, (X, Y), FLAT, (X, 2 * Y), ["the likelihood of y"]),
        slow(
            NAIVE, MAIL, bm.NaiveBayes(NAMES, bm.BetaBernoulli(2, 4)), MAIL, ["the prior of theta"]
        ),
        slow(NAIVE, MAIL, bm.NaiveBayes(SKEWED, COIN), MAIL, ["the prior of pi"]),
        # As many rows of each class as before, so that the classes' likelihood is the same.
        slow(NAIVE, MAIL, NAIVE, (BITS, MAIL[1][::-1]), ["the likelihood of x"]),
    ],
)
@pytest.mark.parametrize("likelihood", ["rows", slow("statistic")])
def test_another_prior_or_other_rows_declared(prior, data, declared, rows, terms, likelihood):
    found, unknown = differing(declared.declare(rows, likelihood), prior, data)
    assert found == terms
    assert bool(unknown) == (prior is FLAT or terms == ["the prior of mu"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "likelihood"),
    [
        pytest.param(case, ("statistic", "rows")[number % 2], id=case.id)
        for number, case in enumerate(CASES)
    ],
)
def test_of_a_right_model_nothing_differs(case, likelihood):
    terms, unknown = differing(case.prior.declare(case.data, likelihood), case.prior, case.data)
    assert terms == []
    assert unknown == ([IMPROPER] if case.warm_up else [])


def test_an_identity_that_holds_has_nothing_to_blame():
    model = COIN.declare(TOSSES)
    found = bm.check_identity(model, COIN.update(TOSSES), COIN, rng=np.random.default_rng(2))
    nothing = bm.diagnose(model, COIN, TOSSES, identity=found)
    assert nothing == Diagnosis(())
    assert nothing.sentences()[0] == "Nothing is to blame."


def test_one_call_compares_by_itself():
    wrong = bm.BetaBernoulli(5, 2).declare(TOSSES)
    assert bm.diagnose(wrong, COIN, TOSSES, rng=1).terms == ("the prior of theta",)
    assert bm.diagnose(FLAT.declare((X, Y)), FLAT, (X, Y), rng=1) == Diagnosis(())


def test_a_discrepancy_of_slopes_alone_is_not_placed():
    model = COIN.declare(TOSSES)
    found = bm.check_identity(model, COIN.update(TOSSES), COIN, rng=np.random.default_rng(2))
    said = bm.diagnose(model, COIN, TOSSES, identity=replace(found, slope=2.0)).sentences()[0]
    assert said == (
        "No term could be named. Not compared: slopes, which differ while all values agree."
    )


def test_what_is_left_is_the_update():
    assert blamed(COIN, TOSSES, COIN.update(TOSSES[1:])) == "To blame: the update."
    wrong = COIN.log_evidence(TOSSES) + 1
    assert blamed(COIN, TOSSES, COIN.update(TOSSES), wrong) == "To blame: the log evidence."


@pytest.mark.parametrize(
    ("prior", "data", "wrong", "unknown"),
    [
        (FLAT, (X, Y), FLAT.update((X, 2 * Y)), IMPROPER),
        (COIN, COIN.statistic(TOSSES), COIN.update(TOSSES[1:]), ONLY_A_STATISTIC),
        (COIN, bm.Weighted(TOSSES, np.full(5, 0.5)), COIN.update(TOSSES), ONLY_A_STATISTIC),
    ],
)
def test_what_is_left_may_be_what_could_not_be_compared(prior, data, wrong, unknown):
    found = blamed(prior, data, wrong, likelihood="statistic")
    assert found == f"To blame: the update, unless it is what could not be compared: {unknown}."


@pytest.mark.slow
def test_what_depends_on_a_wrong_prior_is_not_judged():
    declared = bm.NormalInverseGamma(1, 0.6, 4, 2).declare(Y)
    sentence = diagnosis(declared, NORMAL, Y).sentences()[0]
    assert sentence == (
        "To blame: the prior of mu. Not compared: the prior of sigma2, on which that of mu depends."
    )


@pytest.mark.parametrize(
    ("log_prior", "terms"),
    [
        (lambda t: pm.math.log(30 * t * (1 - t) ** 4), []),
        (lambda t: pm.math.log(t * (1 - t) ** 4), ["the prior's normalising constant"]),
        (lambda t: pm.math.log(20 * t**3 * (1 - t)), ["the prior of theta"]),
    ],
)
def test_a_prior_written_as_a_potential(log_prior, terms):
    with pm.Model() as model:
        theta = pm.Uniform("theta")
        pm.Potential("any name", log_prior(theta))
        pm.Bernoulli("x", theta, observed=TOSSES)
    assert differing(model, COIN, TOSSES) == (terms, [])


@pytest.mark.parametrize(
    ("nu", "rate", "wrong"), [(6, 2, None), (5, 2, "mu"), (6, 3, "sigma2"), (5, 3, "sigma2")]
)
def test_a_prior_factored_the_other_way_round(nu, rate, wrong):
    """The variance's law depends on the mean, where the belief has the mean's on the variance."""
    with pm.Model() as model:
        mu = pm.StudentT("mu", nu=nu, mu=1, sigma=np.sqrt(2 / (3 * 0.5)))
        sigma2 = pm.InverseGamma("sigma2", 3.5, rate + 0.5 * (mu - 1) ** 2 / 2)
        pm.Normal("x", mu, pm.math.sqrt(sigma2), observed=Y)
    terms, unknown = differing(model, NORMAL, Y)
    assert terms == ([] if wrong is None else [f"the prior of {wrong}"])
    assert bool(unknown) == (wrong == "sigma2")


def test_a_term_that_only_the_model_has():
    with pm.Model() as model:
        theta = pm.Beta("theta", 2, 5)
        pm.Bernoulli("x", theta, observed=TOSSES)
        pm.Bernoulli("again", theta, observed=TOSSES[:2])
    assert differing(model, COIN, TOSSES) == (["the term again"], [])


# --- in the report --------------------------------------------------------------------------------


def test_a_report_blames_the_sampler_where_the_identity_holds():
    report = samples.SAMPLES["disagreeing"]()
    assert report.to_blame == ("the sampler",)
    assert report.sentences()[0].endswith("draws do not: the sampler is to blame.")
    assert report.to_dict()["to_blame"] == ["the sampler"]
    assert samples.SAMPLES["coin"]().to_blame == ()


def test_a_report_names_the_term():
    right = samples.SAMPLES["coin"]()
    report = replace(
        right,
        identity=replace(right.identity, constancy=1e9),
        diagnosis=Diagnosis(("the prior of theta",)),
    )
    assert report.sentences()[1] == "To blame: the prior of theta."
    assert report.to_dict()["to_blame"] == ["the prior of theta"]


class _Slipped(bm.BetaBernoulli):
    """A coin whose declaration exchanges the parameters of the prior."""

    def declare(self, data, likelihood="rows"):
        return bm.BetaBernoulli(self.beta, self.alpha).declare(data, likelihood)


@pytest.mark.slow
def test_validate_names_the_term():
    report = bm.validate(_Slipped(2, 5), TOSSES, rng=1)
    assert report.outcome == "disagree"
    assert report.to_blame == ("the prior of theta",)
    assert "To blame: the prior of theta." in render(report)


@pytest.mark.parametrize("columns", [2, 3])
def test_axes_in_another_order_are_named(columns):
    X = np.tile([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 0]], 1)[:, :columns]
    y = np.array([0, 1, 0, 1])
    prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    coords = {"feature": range(columns), "class": range(2)}
    posterior = prior.update((X, y))
    with pm.Model(coords=coords) as model:
        pi = pm.Dirichlet("pi", np.ones(2), dims="class")
        theta = pm.Beta("theta", 1, 1, dims=("feature", "class"))
        pm.Categorical("y", p=pi, observed=y)
        pm.Bernoulli("x", p=theta.T[y], observed=X)
    words = r"model: theta must have the belief's axes \('class', 'feature'\).* in this order"
    with pytest.raises(bm.DataError, match=words):
        bm.check_identity(model, posterior, prior)
    with pytest.raises(bm.DataError, match=words):
        bm.diagnose(model, prior, (X, y))
