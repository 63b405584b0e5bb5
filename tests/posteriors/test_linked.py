"""Chains and trees of elements integrated out: random walks, autoregressions, groups in groups.

References are forward filters on fine grids, and quadratures of densities written by hand.
"""

import numpy as np
import pymc as pm
import pytest
from scipy import integrate, stats
from scipy.special import gammaln, logsumexp

import bayesmodels as bm
from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.posteriors import linked_marginal
from bayesmodels.posteriors.budget import UNLIMITED
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.integrate import block, integrands
from bayesmodels.posteriors.linked_marginal import SETTLED
from bayesmodels.posteriors.partial import eliminated

pytestmark = pytest.mark.usefixtures("slow_clock")


def returns(number, phi=0.97, sigma=0.2, mu=-1.0, seed=1):
    rng = np.random.default_rng(seed)
    h = np.empty(number)
    h[0] = mu + sigma / np.sqrt(1 - phi**2) * rng.standard_normal()
    for t in range(1, number):
        h[t] = mu + phi * (h[t - 1] - mu) + sigma * rng.standard_normal()
    return np.exp(h / 2) * rng.standard_normal(number)


def volatility(y):
    """Return stochastic volatility: an autoregression of log variances."""
    with pm.Model() as model:
        mu, phi = pm.Normal("mu", 0, 2), pm.Beta("phi", 20, 1.5)
        sigma = pm.HalfNormal("sigma", 0.5)
        start = pm.Normal.dist(mu, sigma / pm.math.sqrt(1 - phi**2))
        h = pm.AR(
            "h", [mu * (1 - phi), phi], sigma, constant=True, init_dist=start, steps=len(y) - 1
        )
        pm.Normal("y", 0, pm.math.exp(h / 2), observed=y)
    return model


def filtered(logs, phi, sigma, mu=0.0, first=None, nodes=400):
    """Return the log likelihood of an autoregression and its smoothed means, on equal nodes.

    `logs` gives the log likelihoods of all rows (rows, nodes) at nodes.
    """
    sd = sigma / np.sqrt(1 - phi**2) if first is None else first
    x = np.linspace(mu - 9 * sd, mu + 9 * sd, nodes)
    step = x[1] - x[0]
    move = stats.norm.logpdf(x, mu + phi * (x[:, None] - mu), sigma) + np.log(step)
    each = logs(x)
    ahead = [stats.norm.logpdf(x, mu, sd) + np.log(step) + each[0]]
    for row in each[1:]:
        ahead.append(logsumexp(ahead[-1][:, None] + move, axis=0) + row)
    back = [np.zeros(nodes)]
    for row in each[:0:-1]:
        back.append(logsumexp(move + row + back[-1], axis=1))
    total = logsumexp(ahead[-1])
    weight = np.exp(np.array(ahead) + back[::-1] - total)
    mean = weight @ x
    return total, mean, np.sqrt(weight @ x**2 - mean**2)


def part_of(model):
    return eliminated(Conditionals(model, UNLIMITED), np.random.default_rng(1), linked=True)


@pytest.mark.parametrize(("phi", "sigma"), [(0.97, 0.2), (0.9, 0.5), (0.995, 0.1), (0.5, 1.5)])
def test_volatility_is_smoothed_as_a_filter_on_a_fine_grid_does(phi, sigma):
    y = returns(60, phi, sigma)
    part = part_of(volatility(y))
    assert part.integrated == ("h",)
    rest = {"mu": np.array([-0.8]), "phi": np.array([phi]), "sigma": np.array([sigma])}
    total, mean, sd = filtered(
        lambda x: stats.norm.logpdf(y[:, None], 0, np.exp(x / 2)), phi, sigma, -0.8
    )
    assert part._marginal.fitted(rest, 1).total[0] == pytest.approx(total, abs=2 * SETTLED)
    law = part.laws(rest)[0]["h"]
    assert np.abs(law.mean()[0] - mean).max() < 1e-5 * sd.min()
    assert law.std()[0] == pytest.approx(sd, rel=1e-5)


def test_a_chain_of_which_all_scalars_are_known_has_laws():
    y = returns(100, 0.9, 0.5)
    with pm.Model() as model:
        start = pm.Normal.dist(0, 0.5 / np.sqrt(1 - 0.9**2))
        h = pm.AR("h", [0.0, 0.9], 0.5, constant=True, init_dist=start, steps=99)
        pm.Normal("y", 0, pm.math.exp(h / 2), observed=y)
    posterior = bm.integrate(model, rng=1)
    total, mean, sd = filtered(lambda x: stats.norm.logpdf(y[:, None], 0, np.exp(x / 2)), 0.9, 0.5)
    assert posterior.remaining == ()
    assert posterior.log_evidence == pytest.approx(total, abs=2 * SETTLED)
    assert np.abs(posterior.mean()["h"] - mean).max() < 1e-5 * sd.min()


def test_steps_that_are_next_to_nothing_cost_no_more():
    """No grid tells neighbours apart that differ by a millionth; all are one number then."""
    y = returns(40)
    part = part_of(volatility(y))
    rest = {"mu": np.array([-0.8]), "phi": np.array([0.999999]), "sigma": np.array([1e-6])}
    sd = 1e-6 / np.sqrt(1 - 0.999999**2)
    x = -0.8 + sd * np.linspace(-8, 8, 200)
    logs = stats.norm.logpdf(y[:, None], 0, np.exp(x / 2)).sum(0) + stats.norm.logpdf(x, -0.8, sd)
    expected = logsumexp(logs) + np.log(x[1] - x[0])
    assert part._marginal.fitted(rest, 1).total[0] == pytest.approx(expected, abs=1e-6)


def test_draws_move_together():
    """Steps and levels of 4,000 draws have the means and variances that the filter tells."""
    y, phi, sigma, n = returns(30, 0.9, 0.5), 0.9, 0.5, 4000
    part = part_of(volatility(y))
    one = {"mu": -0.8, "phi": phi, "sigma": sigma}
    h = part.draw({name: np.full(n, x) for name, x in one.items()}, rng=2)["h"]

    def logs(x):
        return stats.norm.logpdf(y[:, None], 0, np.exp(x / 2))

    _, mean, sd = filtered(logs, phi, sigma, -0.8)
    assert (np.abs(h.mean(0) - mean) < 5 * sd / np.sqrt(n)).all()
    assert h.std(0) == pytest.approx(sd, rel=5 / np.sqrt(n))
    # The mean square of a step is that of the law by importance from two neighbours' densities.
    x = np.linspace(-8, 6, 300)
    move = stats.norm.logpdf(x, -0.8 + phi * (x[:, None] + 0.8), sigma)
    each = logs(x)
    ahead = stats.norm.logpdf(x, -0.8, sigma / np.sqrt(1 - phi**2)) + each[0]
    for row in each[1:15]:
        ahead = logsumexp(ahead[:, None] + move, axis=0) + row
    back = np.zeros(len(x))
    for row in each[:15:-1]:
        back = logsumexp(move + row + back, axis=1)
    both = ahead[:, None] + move + each[15] + back
    both = np.exp(both - logsumexp(both))
    steps = (h[:, 15] - h[:, 14]) ** 2
    expected = (both * (x - x[:, None]) ** 2).sum()
    assert abs(steps.mean() - expected) < 4 * steps.std() / np.sqrt(n)


def test_counts_whose_log_rate_walks():
    """One scalar remains, and its posterior is that of the filter, by quadrature."""
    rng = np.random.default_rng(4)
    y = rng.poisson(np.exp(1 + np.cumsum(rng.normal(0, 0.3, 25))))
    with pm.Model() as model:
        step = pm.HalfNormal("step", 0.5)
        start = pm.Normal.dist(1, 1)
        level = pm.GaussianRandomWalk("level", sigma=step, init_dist=start, steps=len(y) - 1)
        pm.Poisson("y", pm.math.exp(level), observed=y)
    x = np.linspace(-7, 9, 500)
    rate = y[:, None] * x - np.exp(x) - gammaln(y + 1)[:, None]

    def density(log_step):
        move = stats.norm.logpdf(x, x[:, None], np.exp(log_step)) + np.log(x[1] - x[0])
        ahead = stats.norm.logpdf(x, 1, 1) + np.log(x[1] - x[0]) + rate[0]
        for row in rate[1:]:
            ahead = logsumexp(ahead[:, None] + move, axis=0) + row
        prior = stats.halfnorm.logpdf(np.exp(log_step), scale=0.5) + log_step
        return logsumexp(ahead) + prior

    # Steps below the grid's are next to nothing beside the prior's mass there.
    t = np.linspace(np.log(0.03), 2, 160)
    logs = np.array([density(each) for each in t])
    posterior = bm.integrate(model, rng=1)
    assert posterior.rung == "integrated"
    grid = np.array(posterior.marginals()["step"].pdf(np.exp(t))) * np.exp(t)
    # Both densities are the same where the reference is.
    expected = np.exp(logs - posterior.log_evidence)
    assert grid == pytest.approx(expected, abs=1e-4 * expected.max())


def test_groups_in_groups():
    """Classes in schools: a tree, whose mean and schools meet as well; two scales remain."""
    school = np.repeat(np.arange(3), 2)
    right, of = np.array([3, 7, 5, 9, 1, 2]), np.array([10, 10, 9, 12, 8, 10])
    with pm.Model() as model:
        between = pm.HalfNormal("between", 1)
        mean = pm.Normal("mean", 0, 1.5)
        level = pm.Normal("level", mean, between, shape=3)
        room = pm.Normal("room", level[school], 0.5, shape=6)
        pm.Binomial("right", of, logit_p=room, observed=right)
    part = part_of(model)
    assert set(part.integrated) == {"mean", "level", "room"}
    x = np.linspace(-9, 9, 721)
    h = np.log(x[1] - x[0])
    choose = gammaln(of + 1) - gammaln(right + 1) - gammaln(of - right + 1)
    likelihood = choose[:, None] + right[:, None] * x - of[:, None] * np.logaddexp(0, x)

    def log_marginal(scale):
        near = stats.norm.logpdf(x[:, None], x, 0.5) + h
        told = logsumexp(likelihood[:, :, None] + near, axis=1)
        schools = told.reshape(3, 2, -1).sum(1)
        move = stats.norm.logpdf(x[:, None], x, scale) + h
        return logsumexp(
            logsumexp(schools[:, :, None] + move, axis=1).sum(0) + stats.norm.logpdf(x, 0, 1.5) + h
        )

    scales = np.array([0.2, 1.0, 2.5])
    total = part._marginal.fitted({"between": scales}, 3).total
    assert total == pytest.approx([log_marginal(s) for s in scales], abs=1e-6)
    evidence, _ = integrate.quad(
        lambda s: np.exp(log_marginal(s) + 12) * stats.halfnorm.pdf(s), 0.03, 6, limit=60
    )
    low = part._marginal.fitted({"between": np.array([0.015])}, 1).total[0]
    evidence += np.exp(low + 12) * stats.halfnorm.cdf(0.03)
    posterior = bm.integrate(model, rng=1)
    assert posterior.log_evidence == pytest.approx(np.log(evidence) - 12, abs=1e-4)


def summed(moves, own, x):
    """Return the log sum over a chain on equal nodes, and the smoothed means and deviations."""
    step = np.log(x[1] - x[0])
    ahead, back = [own[0] + step], [np.zeros(len(x))]
    for row in own[1:]:
        ahead.append(logsumexp(ahead[-1][:, None] + moves, axis=0) + row + step)
    for row in own[:0:-1]:
        back.append(logsumexp(moves + row + back[-1] + step, axis=1))
    total = logsumexp(ahead[-1])
    weight = np.exp(np.array(ahead) + back[::-1] - total)
    mean = weight @ x
    return total, mean, np.sqrt((weight * (x - mean[:, None]) ** 2).sum(1))


def is_as_summed(part, rest, name, total, mean, sd):
    """Whether log integral, laws and 200 draws are those of a sum on equal nodes."""
    fit = part._marginal.fitted({key: np.array([x]) for key, x in rest.items()}, 1)
    assert fit.on_nodes.all()
    assert fit.total[0] == pytest.approx(total, abs=SETTLED)
    rows = {key: np.full(200, x) for key, x in rest.items()}
    law = part._marginal.law(
        name, **part.conditional({key: x[:1] for key, x in rows.items()})[name]
    )
    assert law.mean()[0] == pytest.approx(mean, abs=1e-6)
    assert law.std()[0] == pytest.approx(sd, rel=1e-6)
    x = part.draw(rows, rng=3)[name]
    assert (np.abs(x.mean(0) - mean) < 4.5 * sd / np.sqrt(len(x))).all()
    uniform = law.cdf(x)
    assert min(stats.kstest(u, "uniform").pvalue for u in uniform.T) > 1e-4


def test_a_walk_whose_steps_are_not_normal_is_refused():
    with pm.Model() as model:
        scale = pm.HalfNormal("scale", 1)
        walk = pm.Normal("walk", 0, 5, shape=20)
        pm.Potential(
            "steps", pm.logp(pm.StudentT.dist(nu=3, mu=0, sigma=scale), walk[1:] - walk[:-1]).sum()
        )
        pm.Poisson("y", pm.math.exp(walk / 5), observed=np.arange(20) % 3)
    with pytest.raises(NotConjugate, match="walk are not jointly normal before the data"):
        part_of(model)


@pytest.mark.slow
def test_a_level_with_outliers_has_several_tops():
    y = np.array([0.0, 0.2, 4.0, 4.3, -0.1, 0.3, 0.0, 5.0])
    with pm.Model() as model:
        step = pm.LogNormal("step", 0, 0.1)
        level = pm.GaussianRandomWalk("level", sigma=step, init_dist=pm.Normal.dist(), steps=7)
        pm.StudentT("y", nu=1.5, mu=level, sigma=0.3, observed=y)
    x = np.linspace(-8, 12, 1201)
    own = stats.t.logpdf(y[:, None], 1.5, x, 0.3)
    own[0] += stats.norm.logpdf(x)
    total, mean, sd = summed(stats.norm.logpdf(x - x[:, None], 0, 1.0), own, x)
    is_as_summed(part_of(model), {"step": 1.0}, "level", total, mean, sd)


def heavy_noise(unit):
    """Return a level that walks under Student-t noise, in some unit."""
    rng = np.random.default_rng(0)
    y = 5 + np.cumsum(rng.normal(0, 0.3, 50)) + 0.5 * rng.standard_t(4, 50)
    with pm.Model() as model:
        step, noise = pm.HalfNormal("step", unit), pm.HalfNormal("noise", unit)
        start = pm.Normal.dist(0, 1000 * unit)
        level = pm.GaussianRandomWalk("level", sigma=step, init_dist=start, steps=49)
        pm.StudentT("y", nu=4, mu=level, sigma=noise, observed=unit * y)
    return model


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
def test_units_of_the_data_do_not_matter(unit):
    totals = []
    for u in (1.0, unit):
        rest = {"step": np.array([0.3 * u]), "noise": np.array([0.5 * u])}
        totals.append(part_of(heavy_noise(u))._marginal.fitted(rest, 1).total[0] + 50 * np.log(u))
    assert totals[1] == pytest.approx(totals[0], abs=1e-9)


def test_rows_that_are_not_known_are_refused():
    part = part_of(heavy_noise(1.0))
    rest = {"step": np.array([0.3, np.inf]), "noise": np.array([0.5, 0.5])}
    with pytest.raises(DataError, match=r"at 1 of 2 draws \(the first is number 1\)"):
        part.draw(rest, rng=1)
    values, known = part.drawn(rest, rng=1)
    assert known.tolist() == [True, False]
    assert np.isfinite(values["level"][0]).all()


def test_laws_that_do_not_fit_into_memory_are_refused_and_draws_are_not(monkeypatch):
    found = bm.integrate(volatility(returns(12)), tolerance=1e-3, rng=1)
    monkeypatch.setattr(linked_marginal, "_HELD", 1_000)
    with pytest.raises(NotConjugate, match=r"12 elements given .* do not fit into memory"):
        found.mean()
    assert np.isfinite(found.sample(10, rng=1)["h"]).all()


def test_elements_that_meet_none_beside_a_walk():
    with pm.Model() as model:
        step = pm.HalfNormal("step", 1)
        start = pm.Normal.dist(0, 1)
        walk = pm.GaussianRandomWalk("walk", sigma=step, init_dist=start, steps=9)
        alone = pm.Normal("alone", 0, step, shape=3)
        pm.Poisson("y", pm.math.exp(walk), observed=np.arange(10) % 4)
        pm.Poisson("z", pm.math.exp(alone), observed=[1, 2, 30])
    n = 4000
    draws = part_of(model).draw({"step": np.full(n, 0.5)}, rng=1)["alone"][:, 2]
    x = np.linspace(-4, 6, 2001)
    p = np.exp(stats.norm.logpdf(x, 0, 0.5) + 30 * x - np.exp(x) - 60)
    mean = p @ x / p.sum()
    assert abs(draws.mean() - mean) < 4 * draws.std() / np.sqrt(n)


def test_thousands_of_groups_below_a_few():
    n, number = 5000, 50
    group, rng = np.arange(n) % number, np.random.default_rng(0)
    y = rng.poisson(1, n)
    with pm.Model() as model:
        scale = pm.HalfNormal("scale", 1)
        mean = pm.Normal("mean", 0, 1, shape=number)
        level = pm.Normal("level", mean[group], scale, shape=n)
        pm.Poisson("y", pm.math.exp(level), observed=y)
    total = part_of(model)._marginal.fitted({"scale": np.array([0.5])}, 1).total[0]
    x = np.linspace(-6, 6, 481)
    h = np.log(x[1] - x[0])
    near = stats.norm.logpdf(x[:, None], x, 0.5) + h
    told = {
        k: logsumexp((k * x - np.exp(x) - gammaln(k + 1))[:, None] + near, axis=0)
        for k in np.unique(y)
    }
    expected = sum(
        logsumexp(sum(told[k] for k in y[group == j]) + stats.norm.logpdf(x) + h)
        for j in range(number)
    )
    assert total == pytest.approx(expected, abs=1e-5)


def test_nothing_is_drawn_for_more_scalars_than_are_integrated():
    """Draws of thousands of steps, some for each, filled the memory."""
    rng = np.random.default_rng(1)
    jobs = integrands(block(volatility(returns(100)), 60.0, rng), rng)
    assert (
        [len(job.starts) > 1 for job in jobs] == [bool(job.ways) for job in jobs] == [True, False]
    )


@pytest.mark.slow
def test_the_volatility_of_a_thousand_returns():
    y = returns(1000)
    with pm.Model() as model:
        step = pm.Exponential("step", 10)
        start = pm.Normal.dist(0, 10)
        h = pm.GaussianRandomWalk("h", sigma=step, init_dist=start, steps=len(y) - 1)
        pm.Normal("y", 0, pm.math.exp(h), observed=y)
    posterior = bm.integrate(model, rng=1)
    assert posterior.rung == "integrated"
    assert posterior.errors["log_evidence"] < 1e-6
    mean = float(posterior.mean()["step"])
    assert mean == pytest.approx(0.08, abs=0.05)
    x = np.linspace(-4.5, 2.5, 900)
    part = part_of(model)
    law = part.laws({"step": np.array([mean])})[0]["h"]
    width = np.log(x[1] - x[0])
    move = stats.norm.logpdf(x, x[:, None], mean) + width
    each = stats.norm.logpdf(y[:, None], 0, np.exp(x))
    ahead = [stats.norm.logpdf(x, 0, 10) + width + each[0]]
    linear = np.exp(move)
    for row in each[1:]:
        top = ahead[-1].max()
        with np.errstate(divide="ignore"):
            ahead.append(np.log(np.exp(ahead[-1] - top) @ linear) + top + row)
    back = [np.zeros(len(x))]
    for row in each[:0:-1]:
        top = (row + back[-1]).max()
        with np.errstate(divide="ignore"):
            back.append(np.log(linear @ np.exp(row + back[-1] - top)) + top)
    total = logsumexp(ahead[-1])
    fitted = part._marginal.fitted({"step": np.array([mean])}, 1).total[0]
    assert fitted == pytest.approx(total, abs=1e-6)
    weight = np.exp(np.array(ahead) + back[::-1] - total)
    smoothed = weight @ x
    sd = np.sqrt(weight @ x**2 - smoothed**2)
    assert np.abs(law.mean()[0] - smoothed).max() < 1e-4 * sd.min()
