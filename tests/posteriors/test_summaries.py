"""What summaries say of Deterministics, of moments that do not exist, and of where there is no law.

Laws of linear functions are worked out by hand, and all else is compared with more draws.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.distributions.transforms import ordered
from scipy import special, stats

import bayesmodels as bm
from bayesmodels.numerics import lattice_law

ENDS = ["eti89_lb", "eti89_ub"]
TAILS = [0.055, 0.945]


@pytest.mark.slow
def test_of_a_test_of_two_shares_the_lift_is_in_the_summary():
    with pm.Model() as model:
        old, new = pm.Beta("old", 1, 1), pm.Beta("new", 1, 1)
        pm.Binomial("sold", 20, old, observed=5)
        pm.Binomial("sold_new", 20, new, observed=9)
        pm.Deterministic("lift", new - old)
        pm.Deterministic("odds", new / (1 - new))
        pm.Deterministic("lost", 1 - 2 * old)
    table = bm.exact(model, rng=1).summary()
    assert list(table.index) == ["old", "new", "lift", "odds", "lost"]
    assert list(table["note"]) == [
        "",
        "",
        "interval from 20,000 draws",
        "from 20,000 draws",
        "",
    ]
    one, two = stats.beta(6, 16), stats.beta(10, 12)
    assert table.loc["lift", ["mean", "sd"]].to_list() == pytest.approx(
        [two.mean() - one.mean(), np.hypot(one.std(), two.std())], rel=1e-9
    )
    low, high = 1 - 2 * one.isf(0.055), 1 - 2 * one.ppf(0.055)
    assert table.loc["lost", ENDS].to_list() == pytest.approx([low, high], rel=1e-8)
    rng = np.random.default_rng(3)
    drawn = [x.rvs(400_000, random_state=rng) for x in (one, two)]
    differences = np.quantile(drawn[1] - drawn[0], TAILS)
    assert table.loc["lift", ENDS].to_list() == pytest.approx(differences, abs=0.01)
    odds = special.expit(np.log(table.loc["odds", ENDS].to_numpy(float)))
    assert odds == pytest.approx(two.ppf(TAILS), abs=0.01)


def test_of_a_ratio_without_a_mean_none_is_stated():
    with pm.Model() as model:
        one, two = pm.Normal("one", 1, 1), pm.Normal("two", 0, 1)
        pm.Normal("y", one + two, 1.0, observed=0.5)
        pm.Deterministic("ratio", one / two)
        pm.Deterministic("both", pt.exp(0.1 * one) + two)
    table = bm.exact(model, rng=1).summary()
    note = "from 20,000 draws"
    heavy = f"{note}; no mean and no standard deviation: tails too heavy"
    assert list(table["note"]) == ["", "", heavy, note]
    assert table.loc["ratio", ["mean", "sd"]].isna().all()
    assert table.loc["ratio", ENDS].notna().all()
    assert table.loc["both"].notna().all()


@pytest.mark.parametrize("known", [True, False], ids=["noise known", "noise unknown"])
def test_what_is_linear_in_normal_elements_has_their_law(known):
    x, y = np.array([0.0, 1, 2]), np.array([1.0, 2, 4])
    with pm.Model(coords={"row": ["p", "q", "r"]}) as model:
        var = 1.0 if known else pm.InverseGamma("var", 3, 2)
        first, slope = pm.Normal("first", 0, pt.sqrt(var)), pm.Normal("slope", 0, pt.sqrt(var))
        mean = pm.Deterministic("mean", first + slope * x, dims="row")
        pm.Normal("y", mean, pt.sqrt(var), observed=y)
        pm.Deterministic("three", pt.constant(3.0))
    table = bm.exact(model, rng=1).summary()
    assert "note" not in table
    design = np.column_stack([np.ones(3), x])
    precision = np.eye(2) + design.T @ design
    at = np.linalg.solve(precision, design.T @ y)
    spread = np.sqrt(np.diag(design @ np.linalg.solve(precision, design.T)))
    law = stats.norm(design @ at, spread)
    if not known:
        scale = np.sqrt((2 + (y @ y - at @ precision @ at) / 2) / 4.5)
        law = stats.t(9, design @ at, spread * scale)
    rows = table.loc[["mean[p]", "mean[q]", "mean[r]"]]
    assert rows["sd"].to_numpy() == pytest.approx(law.std(), rel=1e-8)
    assert pytest.approx(np.stack([law.ppf(q) for q in TAILS]), rel=1e-8) == rows[ENDS].to_numpy().T
    assert table.loc["three"].to_list() == pytest.approx([3.0, 0.0, 3.0, 3.0])


@pytest.mark.parametrize("prior", [2.6, 3.0])
def test_what_is_seldom_no_line_is_none(prior):
    """Each two-hundredth draw is beyond the kink; a few dozen did not see it."""
    with pm.Model() as model:
        level = pm.Normal("level", prior, 1)
        pm.Normal("y", level, 1.0, observed=1.0)
        pm.Deterministic("gain", pt.maximum(level, 0))
        pm.Deterministic("growth", pt.exp(pt.maximum(level, 0)))
    table = bm.exact(model, rng=1).summary(ci_prob=0.999)
    assert list(table["note"]) == ["", "from 20,000 draws", "from 20,000 draws"]
    assert table.loc[["gain", "growth"], "eti99.9_lb"].to_list() == [0.0, 1.0]


def test_exponentials_of_what_is_normal_are_lognormal():
    with pm.Model() as model:
        effect = pm.Normal("effect", 0.3, [0.5, 0.7], shape=2)
        pm.Normal("y", effect, 1.0, observed=[1.0, 2.0])
        pm.Deterministic("ratio", pt.exp(effect))
        pm.Deterministic("of both", 2 / pt.exp(effect[1] - effect[0]))
    table = bm.exact(model, rng=1).summary()
    assert "note" not in table
    precision = np.array([0.5, 0.7]) ** -2.0 + 1
    mean, var = (0.3 * (precision - 1) + [1, 2]) / precision, 1 / precision
    laws = {f"ratio[{i}]": stats.lognorm(var[i] ** 0.5, scale=np.exp(mean[i])) for i in (0, 1)}
    laws["of both"] = stats.lognorm(var.sum() ** 0.5, scale=2 * np.exp(mean[0] - mean[1]))
    for name, law in laws.items():
        wanted = [law.mean(), law.std(), *law.ppf(TAILS)]
        assert table.loc[name].to_list() == pytest.approx(wanted, rel=1e-8)


def test_exponentials_have_no_moments_where_tails_fall_more_slowly():
    """Draws do not tell: among 20,000 of a Student-t law none may be far enough out."""
    with pm.Model() as model:
        var = pm.InverseGamma("var", 20, 19)
        level = pm.Normal("level", 0, 0.3 * pt.sqrt(var))
        pm.Normal("y", level, pt.sqrt(var), observed=[0.5, 1.5])
        rate = pm.Gamma("rate", 3, 2)
        pm.Poisson("n", rate, observed=4)
        pm.Deterministic("of level", pt.exp(level))
        pm.Deterministic("slow", pt.exp(0.3 * rate))  # its own rate is 3
        pm.Deterministic("fast", pt.exp(3.1 * rate))
        pm.Deterministic("down", pt.exp(-3.1 * rate))
    table = bm.exact(model, rng=1).summary()
    none = table[["mean", "sd"]].isna()
    assert none.loc[["of level", "fast"]].all(axis=None)
    assert not none.loc[["level", "rate", "slow", "down"]].any(axis=None)
    assert table.loc["slow", "mean"] == pytest.approx((1 - 0.1) ** -7, rel=0.02)


@pytest.mark.slow
def test_numbers_in_an_order_have_intervals_from_draws():
    with pm.Model() as model:
        cuts = pm.Normal("cuts", 0, 2, shape=2, transform=ordered, initval=[-1, 1])
        pm.OrderedLogistic("y", 0.0, cutpoints=cuts, observed=[0, 1, 2, 1, 1, 0, 2, 2])
    posterior = bm.integrate(model, tolerance=1e-4, rng=1)
    table = posterior.summary()
    assert set(table.loc[["cuts[0]", "cuts[1]"], "note"]) == {"interval from 20,000 draws"}
    expected = np.quantile(posterior.sample(100_000, 2)["cuts"], TAILS, axis=0)
    for found, off, right in zip(
        posterior.interval()["cuts"], posterior.interval_errors()["cuts"], expected, strict=True
    ):
        assert np.abs(found - right).max() < off.max() < 0.2


@pytest.mark.slow
def test_one_variable_without_moments_leaves_the_others_theirs():
    with pm.Model() as model:
        pm.Cauchy("wild", 0, 1)
        level = pm.Normal("level", 0, 1)
        pm.Normal("y", level, 1, observed=[1.0, 2.0])
    table = bm.integrate(model, rng=1).summary()
    assert table.loc["level", ["mean", "sd"]].to_list() == pytest.approx([1, 3**-0.5])
    assert table.loc["wild", ["mean", "sd"]].isna().all()
    gone = "no mean and no standard deviation: tails too heavy"
    assert list(table["note"]) == [f"from 20,000 draws; {gone}", ""]
    assert bm.NormalInverseGamma(0, 1, 0.5, 1).summary().loc["mu", "note"].startswith("no mean")


def test_points_that_are_put_together_add_up_to_the_same():
    rng = np.random.default_rng(1)
    x, u, weights = rng.normal(size=40_000), rng.integers(0, 4, 40_000) / 2, rng.random(40_000)
    fewer, levels, own = lattice_law._gathered(x, u, weights, 0.3 / lattice_law._PARTS)
    assert len(fewer) < len(x) / 10
    for at in (-1.0, 0.2, 3.0):
        direct = weights @ np.sinc((at - x) / 0.3 + u)
        assert own @ np.sinc((at - fewer) / 0.3 + levels) == pytest.approx(direct, abs=4e-4)
