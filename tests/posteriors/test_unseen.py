"""Missing data and predictions, which nothing depends on, drop out of integrals and are drawn."""

import numpy as np
import pymc as pm
import pytest
from pymc.distributions.transforms import ordered
from scipy import integrate, special, stats

import bayesmodels as bm
from bayesmodels.posteriors.unseen import unseen

pytestmark = pytest.mark.filterwarnings(
    "ignore:Data in:pymc.exceptions.ImputationWarning", "ignore:invalid value encountered in cast"
)
RNG = 20261128
GAP = np.nan
# Coal-mining disasters a year, 1851 to 1962, two of them unknown: PyMC's first tutorial.
COUNTS = """
4 5 4 0 1 4 3 4 0 6 3 3 4 0 2 6 3 3 5 4 5 3 1 4 4 1 5 5 3 4 2 5 2 2 3 4 2 1 3 nan 2 1 1 1 1 3 0 0
1 0 1 1 0 0 3 1 0 3 2 2 0 1 1 1 0 1 0 1 0 0 0 2 1 0 0 0 1 1 0 2 3 3 1 nan 2 1 1 1 1 2 4 2 0 0 1 4
0 0 0 1 0 0 0 0 0 1 0 0 1 0 1
"""
DISASTERS = np.array(COUNTS.split(), dtype=float)
YEARS = np.arange(1851, 1962)
HEIGHTS = np.array([1.2, -0.4, 0.8, 2.5, 0.3])


def built(declare):
    with pm.Model() as model:
        declare()
    return model


def coal_mining():
    switchpoint = pm.DiscreteUniform("switchpoint", lower=YEARS.min(), upper=YEARS.max())
    early, late = pm.Exponential("early_rate", 1.0), pm.Exponential("late_rate", 1.0)
    rate = pm.math.switch(switchpoint >= YEARS, early, late)
    pm.Poisson("disasters", rate, observed=DISASTERS)


def by_hand():
    """Return log evidences at each switchpoint, and shapes and rates of both Gamma laws there."""
    logs, laws = [], []
    for year in YEARS:
        total, each = -np.log(len(YEARS)), []
        for part in (year >= YEARS, year < YEARS):
            x = DISASTERS[part & ~np.isnan(DISASTERS)]
            total += special.gammaln(1 + x.sum()) - (1 + x.sum()) * np.log(1 + len(x))
            total -= special.gammaln(1 + x).sum()
            each.append((1 + x.sum(), 1.0 + len(x)))
        logs.append(total)
        laws.append(each)
    return np.array(logs), np.array(laws)


@pytest.fixture(scope="module")
def disasters():
    return bm.integrate(built(coal_mining), rng=RNG)


def test_pymcs_first_tutorial_is_solved(disasters):
    logs, laws = by_hand()
    share = np.exp(logs - special.logsumexp(logs))
    assert disasters.log_evidence == pytest.approx(special.logsumexp(logs), abs=1e-9)
    mean, var = disasters.mean(), disasters.var()
    assert disasters.marginals()["switchpoint"].mean() == pytest.approx(share, abs=1e-9)
    assert mean["switchpoint"] == pytest.approx(share @ YEARS, abs=1e-7)
    for k, name in enumerate(["early_rate", "late_rate"]):
        shape, rate = laws[:, k].T
        first, second = share @ (shape / rate), share @ (shape * (shape + 1) / rate**2)
        assert mean[name] == pytest.approx(first, abs=1e-9)
        assert var[name] == pytest.approx(second - first**2, abs=1e-9)
        law = disasters.marginals()[name]
        assert law.cdf(first) == pytest.approx(
            share @ stats.gamma.cdf(first, shape, scale=1 / rate), abs=1e-9
        )


def test_missing_counts_are_drawn_from_their_own_law(disasters):
    logs, laws = by_hand()
    share = np.exp(logs - special.logsumexp(logs))
    assert disasters.forward == ("disasters_unobserved",)
    assert "nothing depends on" in disasters.explain().lower()
    gaps = np.flatnonzero(np.isnan(DISASTERS))
    number = np.arange(40)
    draws = disasters.sample(4000, RNG)["disasters_unobserved"]
    for k, gap in enumerate(gaps):
        shape, rate = np.where((YEARS[gap] > YEARS)[:, None], laws[:, 1], laws[:, 0]).T
        mass = stats.nbinom.pmf(number[:, None], shape, rate / (1 + rate)) @ share
        mean = number @ mass
        sd = np.sqrt(number**2 @ mass - mean**2)
        for what, truth in (("mean", mean), ("sd", sd)):
            table = disasters.summary()
            assert (
                abs(table.loc[f"disasters_unobserved[{k}]", what] - truth)
                <= (disasters.errors[what]["disasters_unobserved"][k])
            )
        count = np.bincount(draws[:, k], minlength=40)[:6]
        assert count == pytest.approx(4000 * mass[:6], abs=4 * np.sqrt(4000 * 0.25))
    note = disasters.summary().loc["disasters_unobserved[0]", "note"]
    assert note == "from 20,000 draws"
    with pytest.raises(bm.NotConjugate, match="no law of it here"):
        disasters.marginals()["disasters_unobserved"].cdf(1.0)


def test_without_the_gaps_everything_is_the_same():
    def with_gaps():
        rate = pm.Gamma("rate", 2, 1)
        pm.Poisson("calls", rate, observed=[3, GAP, 1, GAP, 4])

    def without_gaps():
        rate = pm.Gamma("rate", 2, 1)
        pm.Poisson("calls", rate, observed=[3, 1, 4])

    one, other = bm.integrate(built(with_gaps), rng=RNG), bm.exact(built(without_gaps), rng=RNG)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-10)
    assert one.mean()["rate"] == pytest.approx(other.mean()["rate"], abs=1e-10)
    assert one.interval()["rate"] == pytest.approx(other.interval()["rate"], abs=1e-8)
    values = {name: x[:3] for name, x in one.sample(3, RNG).items()}
    shape, rate = 2 + 8, 1 + 3
    expected = stats.gamma.logpdf(values["rate"], shape, scale=1 / rate)
    expected = expected + stats.poisson.logpmf(
        values["calls_unobserved"], values["rate"][:, None]
    ).sum(1)
    assert one.log_density(values) == pytest.approx(expected, abs=1e-9)


def test_a_prediction_of_another_law_and_what_follows_from_it():
    def heights():
        mu = pm.Normal("mu", 0, 2)
        pm.Normal("y", mu, 1, observed=HEIGHTS)
        new = pm.StudentT("new", nu=6, mu=mu, sigma=0.5)
        pm.Logistic("newer", new, 1)

    posterior = bm.integrate(built(heights), rng=RNG)
    precision = 1 / 4 + len(HEIGHTS)
    assert posterior.forward == ("new", "newer")
    assert posterior.mean()["mu"] == pytest.approx(HEIGHTS.sum() / precision, abs=1e-10)
    truth = HEIGHTS.sum() / precision, np.sqrt(1 / precision + 0.25 * 6 / 4)
    assert abs(posterior.mean()["new"] - truth[0]) <= posterior.errors["mean"]["new"]
    sd = np.sqrt(posterior.var()["new"])
    assert abs(sd - truth[1]) <= posterior.errors["sd"]["new"]
    sd = np.sqrt(posterior.var()["newer"])
    assert abs(sd - np.sqrt(truth[1] ** 2 + np.pi**2 / 3)) <= posterior.errors["sd"]["newer"]


def test_gaps_under_a_heavy_tail_cost_no_dimension():
    x = np.array([0.1, GAP, 0.7, 2.0, GAP, GAP, GAP, GAP])

    def heavy():
        mu = pm.Normal("mu", 0, 2)
        pm.StudentT("y", nu=4, mu=mu, sigma=1, observed=x)

    def density(mu):
        seen = x[~np.isnan(x)]
        return stats.norm.pdf(mu, 0, 2) * stats.t.pdf(seen - mu, 4).prod()

    mass = integrate.quad(density, -20, 20, epsabs=0, epsrel=1e-12, limit=200)[0]
    posterior = bm.integrate(built(heavy), rng=RNG)
    assert posterior.log_evidence == pytest.approx(np.log(mass), abs=1e-7)
    rows = posterior.leave_one_out(rng=RNG)
    assert len(rows) == 3
    mean = integrate.quad(lambda mu: mu * density(mu), -20, 20, epsabs=0, epsrel=1e-12, limit=200)
    assert posterior.mean()["mu"] == pytest.approx(mean[0] / mass, abs=1e-6)


def test_moments_that_do_not_exist_are_not_read_off_draws():
    def cauchy():
        mu = pm.Normal("mu", 0, 2)
        pm.Normal("y", mu, 1, observed=HEIGHTS)
        pm.Cauchy("new", mu, 1)

    posterior = bm.integrate(built(cauchy), rng=RNG)
    assert "no mean" in posterior.summary().loc["new", "note"]
    with pytest.raises(bm.PriorError, match="new: its mean does not exist"):
        posterior.mean()


def test_many_configurations_of_missing_cells_drop_out():
    def cells():
        p = pm.Beta("p", 2, 3)
        pm.Binomial("y", 30, p, observed=[7, GAP, 11, GAP, GAP, GAP])

    posterior = bm.integrate(built(cells), rng=RNG)
    law = stats.beta(2 + 18, 3 + 42)
    assert posterior.mean()["p"] == pytest.approx(law.mean(), abs=1e-10)
    assert posterior.forward == ("y_unobserved",)
    expected = special.betaln(20, 45) - special.betaln(2, 3)
    expected += np.log(special.comb(30, 7) * special.comb(30, 11))
    assert posterior.log_evidence == pytest.approx(expected, abs=1e-9)


def test_what_pymc_checks_of_a_gap_is_not_forgotten():
    def limited():
        mu = pm.Normal("mu", 0.5, 1)
        pm.Normal("y", mu, 1, observed=0.2)
        pm.Poisson("new", mu)

    # The density is zero where the rate would be negative: 0.85 of the mass would be wrong.
    mean, sd = 0.35, np.sqrt(0.5)
    log_mass = stats.norm.logpdf(0.2, 0.5, np.sqrt(2)) + stats.norm.logsf(0, mean, sd)
    posterior = bm.integrate(built(limited), rng=RNG)
    assert posterior.log_evidence == pytest.approx(log_mass, abs=1e-8)


def test_a_condition_on_what_would_be_gone_keeps_it():
    def trials():
        rate = pm.Gamma("rate", 2, 1)
        pm.Poisson("calls", rate, observed=[3, 1, 4])
        n = pm.Poisson("n", rate)  # the number of trials must not be negative
        pm.Binomial("k", n, 0.5)

    with pytest.raises(bm.NotConjugate, match="n "):
        bm.integrate(built(trials), rng=RNG)


def test_a_variable_with_one_value_is_that_value():
    def certain():
        centre = pm.DiracDelta("centre", 2.0)
        mu = pm.Normal("mu", centre, 1)
        twice = pm.DiracDelta("twice", 2 * mu, shape=2)
        number = pm.DiracDelta("number", 3)
        pm.StudentT("y", nu=4, mu=twice.sum() / 4, sigma=number / 3, observed=HEIGHTS)

    def density(mu):
        return stats.norm.pdf(mu, 2) * stats.t.pdf(HEIGHTS - mu, 4).prod()

    mass, first = (
        integrate.quad(lambda mu, k=k: mu**k * density(mu), -20, 20, epsabs=0, epsrel=1e-12)[0]
        for k in (0, 1)
    )
    posterior = bm.integrate(built(certain), rng=RNG)
    assert posterior.log_evidence == pytest.approx(np.log(mass), abs=1e-7)
    assert posterior.forward == ("centre", "twice", "number")
    mean = posterior.mean()
    assert mean["mu"] == pytest.approx(first / mass, abs=1e-6)
    assert (mean["centre"], mean["number"]) == (2, 3)
    assert (np.abs(mean["twice"] - 2 * first / mass) <= posterior.errors["mean"]["twice"]).all()
    draws = posterior.sample(5, RNG)
    assert draws["twice"] == pytest.approx(2 * draws["mu"][:, None] + np.zeros(2))
    assert posterior.var()["centre"] == 0
    assert posterior.interval()["number"] == (3, 3)


def test_a_model_of_values_alone_has_nothing_to_integrate():
    model = built(lambda: pm.Normal("y", pm.DiracDelta("mu", 2.0), 1, observed=HEIGHTS))
    assert unseen(model) == []
    with pytest.raises(bm.NotConjugate, match="mu"):
        bm.integrate(model, rng=RNG)


def test_what_is_not_known_to_add_up_stays():
    def half():
        mu = pm.Normal("mu")
        pm.Normal("y", mu, 1, observed=HEIGHTS)
        pm.CustomDist("own", mu, logp=lambda value, mu: -abs(value - mu))
        pm.Flat("flat")
        pm.StudentT("ordered", nu=4, mu=mu, sigma=1, shape=2, transform=ordered)
        tilted = pm.StudentT("tilted", nu=4, mu=mu, sigma=1)
        pm.Potential("tilt", 2 * tilted)
        pm.Normal("conjugate", mu, 1)
        above = pm.StudentT("above", nu=4, mu=mu, sigma=1)
        pm.Normal("below", above, 1)

    assert unseen(built(half)) == []


def test_a_model_without_data_is_its_prior():
    assert unseen(built(lambda: pm.StudentT("x", nu=4))) == []


def test_a_prediction_whose_mean_is_no_number_somewhere_is_not_forgotten():
    """Of a negative mu there is no prediction, so that its posterior has none of it."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 1)
        pm.Normal("y", mu, 1, observed=[-0.5])
        pm.StudentT("new", 5, mu=pm.math.log(mu), sigma=1)
    assert unseen(model) == []
