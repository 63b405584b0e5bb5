"""Decisions against the same integrals in mpmath, closed forms of the literature, and draws."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.decisions.contrasts import Contrast
from bayesmodels.decisions.drawn import Drawn
from bayesmodels.decisions.independent import Independent
from bayesmodels.numerics import laws

mpmath.mp.dps = 20


# --- formulas -------------------------------------------------------------------------------------


def miller(a, b, c, d):
    """P(B > A), A ~ Beta(a, b), B ~ Beta(c, d), c whole: Miller, *Bayesian A/B Testing*, 2015.

    Sum over i < c of B(a + i, b + d) / ((d + i) B(1 + i, d) B(a, b)); neighbours have a ratio.
    """
    a, b, d = map(mpmath.mpf, (a, b, d))
    term = mpmath.beta(a, b + d) / (d * mpmath.beta(1, d) * mpmath.beta(a, b))
    total = mpmath.mpf(0)
    for i in range(c):
        total += term
        term *= (a + i) / (a + i + b + d) * (d + i) / (1 + i)
    return total


def stucchio(a, b, c, d):
    """E[max(B - A, 0)], what choosing A loses: Stucchio, *Bayesian A/B Testing at VWO*, 2015."""
    first = mpmath.mpf(c) / (c + d) * miller(a, b, c + 1, d)
    return first - mpmath.mpf(a) / (a + b) * miller(a + 1, b, c, d)


def rates(a, b, c, d):
    """P(B > A) of A ~ Gamma(a, rate b), B ~ Gamma(c, rate d): A b / (A b + B d) is a Beta(a, c)."""
    return mpmath.betainc(a, c, 0, mpmath.mpf(b) / (mpmath.mpf(b) + d), regularized=True)


def loss_of_rates(a, b, c, d):
    first = mpmath.mpf(c) / d * rates(a, b, c + 1, d)
    return first - mpmath.mpf(a) / b * rates(a + 1, b, c, d)


TWO = {
    "two arms": ("beta", (11, 91), (16, 86)),
    "nearly equal": ("beta", (50, 50), (50, 50.001)),
    "far apart": ("beta", (60, 40), (10, 90)),
    "flat against sharp": ("beta", (1, 1), (300, 700)),
    "concentrated": ("beta", (10_000, 90_000), (10_100, 89_900)),
    "concentrated near 0": ("beta", (1, 1e9), (3, 2e9)),
    "two rates": ("gamma", (30, 10), (44, 12)),
    "concentrated rates": ("gamma", (1000, 100), (1010, 100)),
    "no quantiles of SciPy's": ("beta", (1000, 1e9), (1010, 1e9)),
    "no event": ("gamma", (0.001, 3), (0.001, 5)),
}
KINDS = {
    "beta": (laws.beta, miller, stucchio),
    "gamma": (lambda a, rate: laws.gamma(a, scale=1 / rate), rates, loss_of_rates),
}


@pytest.mark.parametrize("name", TWO)
def test_two_groups_are_those_of_the_formulas(name):
    kind, one, other = TWO[name]
    law, probability, loss = KINDS[kind]
    joint = Independent([law(*one), law(*other)])
    best, off = joint.best(largest=True)
    lost, _ = joint.expected_loss(largest=True)
    assert off.max() < 1e-9
    assert abs(best[1] - float(probability(*one, *other))) < 1e-10
    assert abs(lost[0] - float(loss(*one, *other))) / law(*one).std() < 1e-10
    assert lost[1] - lost[0] == pytest.approx(law(*one).mean() - law(*other).mean(), abs=1e-12)


# --- more groups, by quadrature in mpmath ---------------------------------------------------------


def beta(a, b):
    a, b = mpmath.mpf(a), mpmath.mpf(b)
    return (
        lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b),
        lambda x: mpmath.betainc(a, b, 0, min(max(x, 0), 1), regularized=True),
    )


def gamma(a, rate):
    a, rate = mpmath.mpf(a), mpmath.mpf(rate)
    return (
        lambda x: rate**a * x ** (a - 1) * mpmath.exp(-rate * x) / mpmath.gamma(a),
        lambda x: mpmath.gammainc(a, 0, rate * max(x, 0), regularized=True),
    )


def student(df, loc, scale):
    df, loc, scale = map(mpmath.mpf, (df, loc, scale))
    constant = mpmath.gamma((df + 1) / 2) / mpmath.gamma(df / 2) / mpmath.sqrt(df * mpmath.pi)

    def cdf(x):
        z = (x - loc) / scale
        above = mpmath.betainc(df / 2, 0.5, 0, df / (df + z * z), regularized=True) / 2
        return above if z < 0 else 1 - above

    def pdf(x):
        z = (x - loc) / scale
        return constant * (1 + z * z / df) ** (-(df + 1) / 2) / scale

    return pdf, cdf


INF = mpmath.inf
CASES = {
    "three arms": (beta, laws.beta, [(11, 91), (16, 86), (12, 90)], [0, 0.1, 0.2, 0.4, 1]),
    "infinite at both ends": (beta, laws.beta, [(0.5, 0.5), (1.5, 2.5)], [0, 0.5, 1]),
    "two means": (student, laws.student_t, [(9, 0, 1), (15, 0.7, 0.5)], [-INF, 0, 1, INF]),
    "three means": (
        *(student, laws.student_t),
        *([(5, 0, 1), (5, 0.1, 1), (30, -0.5, 0.2)], [-INF, -1, 0, 1, INF]),
    ),
}


def of_case(name):
    of_mpmath, of_scipy, parameters, points = CASES[name]
    return [of_mpmath(*each) for each in parameters], [of_scipy(*p) for p in parameters], points


def others(cdfs, i, x):
    return mpmath.fprod(cdf(x) for j, cdf in enumerate(cdfs) if j != i)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.slow if "means" in n or "three" in n else ())
        for n in CASES
    ],
)
def test_more_groups_are_those_of_mpmath(name):
    exact, scipy_laws, points = of_case(name)
    pdfs, cdfs = zip(*exact, strict=True)
    joint = Independent(scipy_laws)
    best, off = joint.best(largest=True)
    loss, _ = joint.expected_loss(largest=True)
    assert off.max() < 1e-10
    # The last one follows from the others: probabilities add up to one.
    for i in range(len(exact) - 1):
        value = mpmath.quad(lambda x, i=i: pdfs[i](x) * others(cdfs, i, x), points)
        assert abs(best[i] - float(value)) < 1e-10
    i = int(np.argmin(loss))
    value = mpmath.quad(lambda x: cdfs[i](x) * (1 - others(cdfs, i, x)), points)
    assert abs(loss[i] - float(value)) < 1e-10
    # E[max - a] - E[max - b] = E[b] - E[a].
    means = np.array([law.mean() for law in scipy_laws])
    np.testing.assert_allclose(loss + means, (loss + means)[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_the_smallest_is_best_of_the_mirrored(name):
    _, scipy_laws, _ = of_case(name)
    joint = Independent(scipy_laws)
    least, _ = joint.best(largest=False)
    assert least.sum() == pytest.approx(1, abs=1e-10)
    if len(scipy_laws) == 2:
        np.testing.assert_allclose(least, joint.best(largest=True)[0][::-1], rtol=0, atol=1e-10)
        losses = [joint.expected_loss(largest=largest)[0] for largest in (True, False)]
        np.testing.assert_allclose(losses[0], losses[1][::-1], rtol=1e-9)
    order, off = joint.order()
    assert off.max() < 1e-10
    np.testing.assert_allclose(order + order.T + np.eye(len(order)), 1, rtol=0, atol=1e-10)


ARMS = (beta, laws.beta, (11, 91), (16, 86), [0, 0.1, 0.2, 0.4, 1])
MEANS = (student, laws.student_t, (9, 0, 1), (15, 0.7, 0.5), [-INF, 0, 1, INF])
RATES = (gamma, lambda a, b: laws.gamma(a, scale=1 / b), (30, 10), (44, 12), [0, 2, 3, 4, 6, INF])
CONTRASTS = [
    (ARMS, "difference", -0.03, lambda t, y: y + t),
    (ARMS, "ratio", 0.8, lambda t, y: y * t),
    (ARMS, "odds_ratio", 0.7, lambda t, y: t * y / (1 - y + t * y)),
    (RATES, "ratio", 0.9, lambda t, y: y * t),
    (MEANS, "difference", 0.25, lambda t, y: y + t),
]


@pytest.mark.parametrize(("pair", "kind", "t", "there"), CONTRASTS)
def test_contrasts_are_those_of_mpmath(pair, kind, t, there):
    of_mpmath, of_scipy, one, other, points = pair
    cdf, pdf = of_mpmath(*one)[1], of_mpmath(*other)[0]
    value = float(mpmath.quad(lambda y: pdf(y) * cdf(there(mpmath.mpf(t), y)), points))
    law = Contrast(kind, of_scipy(*one), of_scipy(*other))
    assert abs(law.cdf(t) - value) < 1e-10
    assert law.cdf(t) + law.sf(t) == pytest.approx(1, abs=1e-10)
    low, high = law.interval(0.9)
    assert law.cdf(low) == pytest.approx(0.05, abs=1e-10)
    assert law.sf(high) == pytest.approx(0.05, abs=1e-10)


@pytest.mark.parametrize(
    ("kind", "x", "y", "mean"),
    [
        ("difference", laws.beta(3, 5), laws.beta(4, 4), 3 / 8 - 1 / 2),
        ("ratio", laws.beta(3, 5), laws.beta(4, 4), 3 / 8 * 7 / 3),
        ("ratio", laws.gamma(3, scale=0.5), laws.gamma(4, scale=2), 1.5 / (3 * 2)),
        ("odds_ratio", laws.beta(3, 5), laws.beta(4, 4), 3 / 4 * 4 / 3),
        ("ratio", laws.beta(3, 5), laws.beta(1, 4), np.inf),
        ("odds_ratio", laws.beta(3, 1), laws.beta(4, 4), np.inf),
        ("ratio", stats.lognorm(0.5), laws.gamma(3, scale=1), np.exp(0.125) / 2),
        ("ratio", stats.halfnorm(), stats.halfnorm(), np.inf),  # a density above zero at zero
    ],
)
def test_means_of_contrasts(kind, x, y, mean):
    law = Contrast(kind, x, y)
    assert law.mean() == pytest.approx(mean, rel=1e-12)
    if kind != "difference" and np.isfinite(law.var()):

        def powers(v, k):
            return (v / (1 - v if kind == "odds_ratio" else 1)) ** k

        second = x.expect(lambda v: powers(v, 2)) * y.expect(lambda v: powers(v, -2))
        assert law.var() == pytest.approx(second - mean**2, rel=1e-6)


def test_a_mean_that_is_not_known_is_refused():
    with pytest.raises(bm.PriorError, match="infinite where its density at 0 is positive"):
        Contrast("ratio", stats.lognorm(1), stats.lognorm(1)).mean()


# --- published ------------------------------------------------------------------------------------


def test_the_probability_that_miller_publishes(arms):
    """Miller (2015), with flat priors on 10 of 100 and 15 of 100: the formulas of two groups."""
    found = bm.decide(arms)
    assert found.best["new"] == pytest.approx(float(miller(11, 91, 16, 86)), abs=1e-12)
    assert found.expected_loss["old"] == pytest.approx(float(stucchio(11, 91, 16, 86)), abs=1e-12)
    assert found.expected_loss["new"] == pytest.approx(float(stucchio(16, 86, 11, 91)), abs=1e-12)


def test_aspirin_and_heart_attacks_as_published():
    """Agresti (2007), *An Introduction to Categorical Data Analysis*, sections 2.2 and 2.3.

    189 of 11,034 physicians on placebo and 104 of 11,037 on aspirin had a heart attack: relative
    risk 1.82 (95 % interval 1.43 to 2.30), odds ratio 1.83 (1.44 to 2.33).
    """
    rows = bm.Grouped(bm.BinomialCounts([189, 104], [11_034, 11_037]), by=["placebo", "aspirin"])
    found = bm.decide(bm.BetaBernoulli(0.5, 0.5).update(rows), best="smallest")
    risk, odds = (f("placebo", "aspirin") for f in (found.ratio, found.odds_ratio))
    assert found.choice == "aspirin"
    np.testing.assert_allclose([risk.ppf(0.5), *risk.interval(0.95)], [1.82, 1.43, 2.30], atol=0.02)
    np.testing.assert_allclose([odds.ppf(0.5), *odds.interval(0.95)], [1.83, 1.44, 2.33], atol=0.02)


# --- every form of a posterior --------------------------------------------------------------------


@pytest.fixture
def arms():
    rows = bm.Grouped(bm.BinomialCounts([10, 15], [100, 100]), by=["old", "new"])
    return bm.BetaBernoulli(1, 1).update(rows)


def test_a_mapping_is_a_belief_of_groups(arms):
    each = {"new": bm.BetaBernoulli(16, 86), "old": stats.beta(11, 91)}
    pd.testing.assert_series_equal(bm.decide(each).best, bm.decide(arms).best)
    assert bm.decide(each).quantity == "theta"


def test_draws_agree_within_their_error(arms):
    draws = arms.to_datatree(draws=20_000, rng=1)
    drawn, exact = bm.decide(draws), bm.decide(arms)
    assert drawn.how == "draws"
    for name in ("best", "expected_loss"):
        z = (getattr(drawn, name) - getattr(exact, name)) / drawn.errors[name]
        assert z.abs().max() < 4
    wide = drawn.difference("new", "old")
    assert wide.cdf(0) == pytest.approx(exact.order.loc["old", "new"], abs=0.01)


def test_draws_that_tie_are_shared():
    """Counts of one law: a third of the draws of two tie, and each is best in half of all."""
    k = np.random.default_rng(1).integers(0, 3, (4, 5000, 3))
    for best in ("largest", "smallest"):
        found = bm.decide({"k": k[..., :2]}, best=best)
        assert ((found.best - 0.5).abs() < 4 * found.errors["best"]).all()
        assert found.best.sum() == pytest.approx(1, abs=1e-12)
        assert (
            f"In 33.5 % of the draws groups tie for the {best}, and share" in found.sentences()[-1]
        )
        # Of three, with two that are equal in every draw.
        twins = bm.decide({"k": k[..., [0, 0, 1]]}, best=best).best
        assert twins[0] == twins[1]
    # That one exceeds the other leaves out what ties.
    assert found.order.to_numpy().sum() == pytest.approx(2 / 3, abs=0.02)
    free = np.random.default_rng(1).normal(size=(4, 100, 2))
    assert not any("groups tie" in said for said in bm.decide({"x": free}).sentences())


def test_the_choice_is_the_least_expected_loss_however_uncertain():
    rng = np.random.default_rng(1)
    risky = np.where(rng.random((4, 2000)) < 0.02, -30, 1) + 0.1 * rng.normal(size=(4, 2000))
    sure = 0.01 * rng.normal(size=(4, 2000))
    found = bm.decide({"k": np.stack([risky, sure], -1)})
    assert found.choice == 0
    assert found.errors["expected_loss"].idxmin() == 1


def test_groups_that_depend_on_each_other_are_drawn():
    x = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [1.0, 2, 3, 5]})
    prior = bm.LinearRegression([0, 0], np.eye(2), 2, 1)
    posterior = prior.update(bm.Design(x, [1.0, 2, 3, 4]))
    found = bm.decide(posterior, rng=1)
    assert (found.how, found.quantity) == ("draws", "w")
    # Exact means stand in the table.
    table = found.table()
    np.testing.assert_array_equal(table["mean"], posterior.mean()["w"])
    np.testing.assert_array_equal(table["best"], found.best)
    np.testing.assert_array_equal(table["expected_loss"], found.expected_loss)
    assert "Monte-Carlo error" in found.sentences()[-1]


def regression():
    """Two groups of Student's sleep data, and by hand: t with n - 2 degrees of freedom."""
    y = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    z = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    group = np.repeat([0, 1], 10)
    X = pd.DataFrame({"first": 1.0 - group, "second": 1.0 * group})
    posterior = bm.LinearRegression.flat(["first", "second"]).update((X, [*y, *z]))
    return posterior, stats.ttest_ind(z, y)


def test_a_difference_of_weights_is_that_of_the_t_test():
    """With flat priors half the p-value of the t test is the probability of a difference below 0.

    Gelman et al., *Bayesian Data Analysis* (2013), section 14.2; the data are Student's (1908).
    """
    posterior, test = regression()
    found = bm.decide(posterior, rng=1)
    law = found.difference("second", "first")
    assert law.mean() == pytest.approx(1.58, rel=1e-12)
    assert law.cdf(0) == pytest.approx(test.pvalue / 2, rel=1e-9)
    assert law.interval(0.95) == pytest.approx(tuple(test.confidence_interval(0.95)), rel=1e-9)
    assert law.interval() == pytest.approx(law.law.interval(0.89))
    assert found.order.loc["first", "second"] == pytest.approx(test.pvalue / 2, rel=1e-9)
    assert found.errors["order"].to_numpy().max() < 1e-14
    assert found.order.to_numpy().trace() == 0
    # Draws say the same, within their error.
    z = (found.best["first"] - test.pvalue / 2) / found.errors["best"]["first"]
    assert abs(z) < 4


def test_a_difference_of_correlated_weights_is_that_of_their_draws():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3)) @ [[1, 0.9, 0.3], [0, 0.4, 0.2], [0, 0, 1]]
    linear = bm.LinearRegression(np.zeros(3), np.eye(3), 2, 1).update((X, X @ [1, 2, -1]))
    labels = np.where(X @ [1, 2, -1] + rng.logistic(size=30) > 0, "yes", "no")
    logistic = bm.LogisticRegression(np.zeros(3), np.eye(3), ["no", "yes"]).laplace((X, labels))
    for posterior in (linear, logistic):
        w = posterior.sample(200_000, rng)["w"]
        law = bm.decide(posterior, rng=1).difference(0, 1)
        assert law.mean() == pytest.approx(posterior.mean()["w"] @ [1, -1, 0], rel=1e-9)
        assert law.std() == pytest.approx((w[:, 0] - w[:, 1]).std(), rel=0.01)


def test_weights_of_a_batch_have_no_such_law():
    batch = bm.LinearRegression([[0, 0], [1, 1]], np.eye(2), 2, 1)
    assert batch.combination([1, -1]) is None
    assert bm.decide(batch, rng=1).difference("0, 0", "1, 1").mean() == pytest.approx(-1, abs=0.02)


def test_correlated_draws_have_larger_errors():
    rng = np.random.default_rng(1)
    free = rng.standard_normal((4, 1000, 2))
    walk = stats.zscore(np.cumsum(free, 1), axis=1)
    assert Drawn(walk).best(largest=True)[1][0] > 5 * Drawn(free).best(largest=True)[1][0]


@pytest.mark.slow
def test_posteriors_of_pymc_models():
    import pymc as pm

    with pm.Model(coords={"arm": ["old", "new"]}) as model:
        theta = pm.Beta("theta", 1, 1, dims="arm")
        pm.Binomial("k", 100, theta, observed=[10, 15], dims="arm")
        pm.Deterministic("odds", theta / (1 - theta), dims="arm")
    found = bm.decide(bm.exact(model))
    assert found.how == "quadrature"
    assert found.best["new"] == pytest.approx(float(miller(11, 91, 16, 86)), abs=1e-11)
    exact = bm.exact(model)
    with pytest.raises(
        bm.DataError, match=r"Decide by its draws: bm.decide\(posterior.to_datatree"
    ):
        bm.decide(exact, "odds")
    drawn = bm.decide(exact.to_datatree(draws=4000, rng=1), "odds")
    assert drawn.best["new"] == pytest.approx(found.best["new"], abs=0.02)
    with pm.Model(coords={"arm": ["old", "new"]}) as model:
        mu, tau = pm.Normal("mu", 0, 1), pm.HalfNormal("tau", 1)
        effect = pm.Normal("effect", mu, tau, dims="arm")
        pm.Normal("y", effect, 0.5, observed=[0.1, 0.9], dims="arm")
    found = bm.decide(bm.integrate(model, rng=1), rng=1)
    assert (found.how, found.quantity) == ("draws", "effect")
    assert 0.5 < found.best["new"] < 1


# --- the rest of a decision -----------------------------------------------------------------------


def test_the_runner_up_is_the_one_that_costs_least_after_the_choice():
    arms = {"c": bm.BetaBernoulli(1, 9), "a": bm.BetaBernoulli(9, 1), "b": bm.BetaBernoulli(8, 2)}
    found = bm.decide(arms)
    said = found.sentences()
    assert said[1].startswith("a minus b is 0.1 (")
    a, b = found.expected_loss[["a", "b"]]
    assert said[2] == f"The expected loss of choosing a is {a:.3g}; of choosing b it is {b:.3g}."


def test_labels_with_commas_stand_in_quotes():
    rows = bm.Grouped([1, 1, 0, 0], by=["A, new", "A, new", "A, old", "A, old"])
    said = bm.decide(bm.BetaBernoulli(1, 1).update(rows)).sentences()
    assert said[1].startswith("“A, new” minus “A, old” is 0.5 (")


def test_rope_stop_and_words(arms):
    found = bm.decide(arms, rope=0.01, acceptable_loss=0.005)
    law = found.difference("new", "old")
    row = found.in_rope.loc["new - old"]
    assert row["inside"] == pytest.approx(law.cdf(0.01) - law.cdf(-0.01), abs=1e-12)
    assert row.sum() == pytest.approx(1)
    assert (found.choice, found.stop) == ("new", True)
    assert found.sentences()[-1].startswith("Stop: the expected loss of choosing new is at most")
    assert "(the region of practical equivalence, ROPE), with probability" in found.sentences()[3]
    assert "(95 % interval" in found.sentences(0.95)[1]
    assert [*found.table(0.95)][2:4] == ["eti95_lb", "eti95_ub"]
    assert not bm.decide(arms, acceptable_loss=0.003).stop
    assert bm.decide(arms).stop is None
    least = bm.decide(arms, best="smallest")
    assert (least.choice, least.best["old"]) == ("old", pytest.approx(found.best["new"]))
    assert found.to_dict()["table"]["new"]["best"] == found.best["new"]
    assert "by quadrature" in repr(found)


@pytest.mark.parametrize(
    ("belief", "name"),
    [
        (bm.BetaBernoulli([11, 16], [91, 86]), "theta"),
        (bm.GammaPoisson([3, 4], [5, 6]), "lam"),
        (bm.GammaExponential([3, 4], [5, 6]), "lam"),
        (bm.NormalInverseGamma([0, 0.1], [4, 5], [2.5, 3], [2, 2]), "mu"),
    ],
)
def test_value_of_a_batch_is_what_simulation_finds(belief, name):
    n, size, rng = 20, 20_000, np.random.default_rng(1)
    rows = belief.plug_in(belief.sample(size, rng)).rvs(size=(n, size, 2), random_state=rng)
    later = belief.update(rows).mean()[name]
    now = int(belief.mean()[name].argmax())
    gain = later.max(-1) - later[:, now]  # the same on average, with less noise
    error = gain.std() / np.sqrt(size)
    assert abs(bm.decide(belief, name).value_of(n) - gain.mean()) < 4 * error


def test_a_batch_without_end_is_worth_the_expected_loss():
    found = bm.decide(bm.BetaBernoulli([11, 16], [91, 86]))
    values = [found.value_of(n) for n in (1, 10, 100, 1000, 10_000)]
    assert (np.diff(values) >= 0).all()
    assert values[-1] == pytest.approx(found.expected_loss.min(), rel=0.02)


BAD = [
    (lambda _: bm.decide(bm.BetaBernoulli(1, 1)), "posterior: must be of at least two groups"),
    (lambda b: bm.decide(b, "mu"), r"quantity: must be one of \['theta'\]; got 'mu'"),
    (lambda b: bm.decide(b, best="max"), "best: must be 'largest' or 'smallest'; got 'max'"),
    (lambda b: bm.decide(b, rope=-1), "rope: must be a positive number, or two in order"),
    (lambda b: bm.decide(b, acceptable_loss=0), "acceptable_loss: must be positive; got 0"),
    (lambda b: bm.decide(b).difference("new", "x"), "difference: must be of two of .*; got 'x'"),
    (lambda b: bm.decide(b).ratio("new", "new"), "ratio: must be of two different groups"),
    (lambda b: bm.decide(b).in_rope, r"rope: must be given to decide\(\), such as rope=0.01"),
    (lambda b: bm.decide(b).value_of(0), "n: must be at least 1"),
    (lambda _: bm.decide({"a": stats.norm(), "b": 3}), r"posterior\['b'\]: must be a belief"),
    (lambda b: bm.decide({"a": stats.norm(), "b": b}), "must be about one number; got the shape"),
    (lambda _: bm.decide({"a": stats.norm(), "b": stats.poisson(2)}), "must have a density"),
    (
        lambda _: bm.decide({"a": bm.BetaBernoulli(1, 2), "b": bm.GammaPoisson(3, 4)}),
        "posterior: must be about one quantity; 'a' is about theta, 'b' about lam",
    ),
    (
        lambda _: bm.decide({"a": bm.BetaBernoulli(1, 2), "b": bm.GammaPoisson(3, 4)}, "theta"),
        r"quantity: must be one of \['lam'\] in posterior\['b'\]; got 'theta'",
    ),
    (
        lambda _: bm.decide({"k": np.arange(40).reshape(2, 10, 2) % 3}).ratio(0, 1),
        "ratio: must be of a denominator that is never 0; it is in 7 of 20 draws",
    ),
    (
        lambda _: bm.decide({"a": stats.norm(), "b": stats.norm()}).value_of(5),
        "value_of: must be asked of conjugate beliefs",
    ),
    (
        lambda _: bm.decide({"a": stats.norm(), "b": stats.norm()}).ratio("a", "b"),
        "ratio: the quantities must be positive; here one may be",
    ),
    (
        lambda _: bm.decide(bm.GammaPoisson([3, 4], [5, 6])).odds_ratio(0, 1),
        "odds_ratio: the quantities must be probabilities",
    ),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_what_can_not_be_decided_is_said(arms, call, words):
    with pytest.raises(bm.DataError, match=words):
        call(arms)


def test_laws_of_what_can_be_compared_are_compared():
    share, rate = bm.BetaBernoulli(1, 2).marginals(), bm.GammaPoisson(3, 4).marginals()
    assert bm.decide({"a": share["theta"], "b": rate["lam"]}, "share").quantity == "share"


def test_a_ratio_below_all_numbers_is_refused():
    """Half of a Gamma(0.001) law is below the least number, and so is nothing known of a ratio."""
    law = Contrast("ratio", laws.gamma(0.001), laws.gamma(0.001))
    with pytest.raises(bm.PriorError, match="the second quantity is below 2"):
        law.cdf(1.0)


def test_tails_without_a_mean_have_a_best():
    """Two Cauchy laws a and b apart: their difference is one again, of twice the scale."""
    found = bm.decide({"a": stats.cauchy(), "b": stats.cauchy(1)})
    assert found.best["b"] == pytest.approx(stats.cauchy(1, 2).sf(0), abs=1e-10)
    with pytest.raises(bm.PriorError, match="some mean is not finite"):
        _ = found.expected_loss


@pytest.mark.parametrize("df", [1.0001, 1.05, 1.2])
def test_tails_with_hardly_a_mean_have_a_loss(df):
    """Beside what is all but known to be 0 half of E|X| is lost, either way; by its formula."""
    loss = Independent([laws.student_t(df), laws.student_t(df, 0, 1e-9)]).expected_loss(
        largest=True
    )
    constant = mpmath.gamma((df + 1) / 2) / mpmath.gamma(df / 2) * mpmath.sqrt(df / mpmath.pi)
    assert loss[0].tolist() == pytest.approx([float(constant / (df - 1))] * 2, rel=1e-6)
    if df < 1.001:
        with pytest.raises(bm.PriorError, match="expected_loss: some of its integral lies where"):
            Independent([laws.student_t(1 + 1e-12)] * 2).expected_loss(largest=True)


def test_a_loss_that_does_not_exist_is_no_number():
    found = bm.decide(bm.NormalInverseGamma([0, 1], 1, 0.5, 1), "mu")
    assert found.best.sum() == pytest.approx(1)
    with pytest.raises(bm.PriorError, match="expected_loss: some mean is not finite"):
        _ = found.expected_loss
    assert "best" in repr(found)
    assert "expected_loss" not in repr(found)
