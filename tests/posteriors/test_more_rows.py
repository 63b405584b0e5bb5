"""New rows for a posterior: that of all data at once, and the evidence of the new given the old."""

import numpy as np
import pymc as pm
import pytest
from scipy import integrate, special, stats

import bayesmodels as bm

RNG = np.random.default_rng(20261128)
X = RNG.normal(size=(9, 2))
Y = X @ [1.0, -0.5] + RNG.normal(size=9)


def opened(fill, *rows):
    with pm.Model() as model:
        fill(*rows)
    return model


def coin(heads):
    pm.Bernoulli("y", pm.Beta("theta", 2, 1), observed=pm.Data("heads", heads))


def line(x, y):
    s2 = pm.InverseGamma("s2", 2, 1)
    w = pm.Normal("w", 0, pm.math.sqrt(s2), shape=2)
    pm.Normal("out", pm.Data("x", x) @ w, pm.math.sqrt(s2), observed=pm.Data("y", y))


def counts(n, exposure):
    rate = pm.LogNormal("rate", 0, 1)
    pm.Poisson("k", rate * pm.Data("exposure", exposure), observed=pm.Data("n", n))


def test_a_coin_is_tossed_again_and_again():
    posterior = bm.exact(opened(coin, [1, 0, 1]), rng=1)
    assert posterior.log_evidence_given_before == posterior.log_evidence
    seen = [1, 0, 1]
    for more in ([1], [0, 0], [1, 1, 0, 1]):
        posterior = posterior.update({"heads": more}, rng=1)
        a, b = 2 + sum(seen), 1 + len(seen) - sum(seen)
        seen += more
        wanted = special.betaln(2 + sum(seen), 1 + len(seen) - sum(seen)) - special.betaln(a, b)
        assert posterior.log_evidence_given_before == pytest.approx(wanted, abs=1e-12)
    at_once = bm.exact(opened(coin, seen), rng=2)
    assert posterior.log_evidence == pytest.approx(at_once.log_evidence, abs=1e-12)
    assert posterior.parameters()["theta"] == pytest.approx(at_once.parameters()["theta"])


def test_a_regression_meets_new_rows():
    before = bm.exact(opened(line, X[:6], Y[:6]), rng=1)
    after = before.update({"x": X[6:], "y": Y[6:]}, rng=1)
    at_once = bm.exact(opened(line, X, Y), rng=2)
    assert after.log_evidence == pytest.approx(at_once.log_evidence, abs=1e-11)
    for name, values in at_once.mean().items():
        np.testing.assert_allclose(after.mean()[name], values, rtol=1e-10)
    belief = bm.LinearRegression(0, np.eye(2), 2, 1)
    given = belief.update((X[:6], Y[:6])).log_evidence((X[6:], Y[6:]))
    assert after.log_evidence_given_before == pytest.approx(given, abs=1e-11)


@pytest.mark.slow
def test_a_rate_without_a_closed_form_is_updated():
    n, exposure = np.array([3, 1, 4, 0, 2]), np.array([1.0, 2.0, 1.0, 0.5, 1.0])

    def evidence(rows):
        def density(log_rate):
            rate = np.exp(log_rate) * exposure[rows]
            return np.exp(stats.norm.logpdf(log_rate) + stats.poisson.logpmf(n[rows], rate).sum())

        return np.log(integrate.quad(density, -8, 8, epsabs=0, epsrel=1e-12, points=[0, 1])[0])

    before = bm.integrate(opened(counts, n[:3], exposure[:3]), rng=1)
    after = before.update({"n": n[3:], "exposure": exposure[3:]}, rng=2)
    at_once = bm.integrate(opened(counts, n, exposure), rng=3)
    assert type(after) is type(before)
    assert after.log_evidence == pytest.approx(at_once.log_evidence, abs=2e-6)
    assert after.mean()["rate"] == pytest.approx(at_once.mean()["rate"], abs=1e-5)
    wanted = evidence(slice(None)) - evidence(slice(3))
    off = after.before[1] + after.log_evidence_error
    assert after.log_evidence_given_before == pytest.approx(wanted, abs=max(off, 1e-10))


def test_under_an_improper_prior_new_rows_have_an_evidence_given_the_old():
    def fill():
        pm.Normal("y", pm.Flat("mu"), 1, observed=pm.Data("data", Y))

    posterior = bm.exact(opened(fill), rng=1)
    with pytest.raises(bm.PriorError, match="improper"):
        assert posterior.log_evidence_given_before
    after = posterior.update({"data": [0.3]})
    wanted = stats.norm(Y.mean(), np.sqrt(1 + 1 / 9)).logpdf(0.3)
    assert after.log_evidence_given_before == pytest.approx(wanted, abs=1e-12)


def test_without_a_free_variable_new_rows_have_their_density():
    model = opened(lambda: pm.Normal("y", 0, 1, observed=pm.Data("data", Y)))
    after = bm.exact(model).update({"data": [0.3, 1.0]})
    wanted = stats.norm.logpdf([0.3, 1.0]).sum()
    assert after.log_evidence_given_before == pytest.approx(wanted, abs=1e-12)


def test_the_data_are_those_of_the_posterior_whatever_the_model_has_now():
    model = opened(coin, [1, 0, 1])
    posterior = bm.exact(model)
    pm.set_data({"heads": [0] * 20}, model)
    after = posterior.update({"heads": [1]})
    assert after.model["heads"].get_value().tolist() == [1, 0, 1, 1]
    assert model["heads"].get_value().tolist() == [0] * 20


def test_rows_are_along_the_dim_that_all_have_and_keep_their_labels():
    def fill():
        x = pm.Data("x", X[:6].T, dims=("feature", "row"))
        y = pm.Data("y", Y[:6], dims="row")
        pm.Normal("out", pm.Normal("w", dims="feature") @ x, 1, observed=y, dims="row")

    def posterior(rows):
        with pm.Model(coords={"feature": ["a", "b"], "row": rows}) as model:
            fill()
        return bm.exact(model)

    new = {"x": X[6:].T, "y": Y[6:]}
    after = posterior(list("uvwxyz")).update(new, coords={"row": list("abc")})
    assert after.model.coords["row"] == tuple("uvwxyzabc")
    assert posterior(range(6)).update(new).model.coords["row"] == tuple(range(9))
    with pytest.raises(bm.DataError, match=r"coords: must have the labels of 3 new rows along"):
        posterior(list("uvwxyz")).update(new)
    with pytest.raises(bm.DataError, match="new_data: must have new rows of x, too"):
        posterior(range(6)).update({"y": Y[6:]})


def autoregression(y):
    pm.AR("y", [0.0, 0.5], sigma=1, init_dist=pm.Normal.dist(), observed=pm.Data("data", y))


def process(y):
    x = pm.Data("x", np.arange(len(y))[:, None] * 1.0)
    prior = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, 2.0))
    prior.marginal_likelihood("y", X=x, y=pm.Data("data", y), sigma=1.0)


def centred(y):
    x = pm.Data("x", np.arange(len(y)) * 1.0)
    pm.Normal("y", pm.Normal("b") * (x - x.mean()), 1, observed=pm.Data("data", y))


def scaled(y):
    data = pm.Data("data", y)
    pm.Normal("y", pm.Normal("b", 0, data.std()), 1, observed=data)


def an_effect_each(y):
    data = pm.Data("data", y)
    pm.Normal("y", pm.Normal("b", shape=data.shape[0]), 1, observed=data)


def of_groups(y):
    group = pm.Data("group", np.arange(len(y)) % 3)
    pm.Normal("y", pm.Normal("b", shape=3)[group], 1, observed=pm.Data("data", y))


def unseen(y):
    pm.Data("data", y)
    pm.Normal("y", pm.Normal("b"), 1, observed=y)


TIMES = {"x": [[9.0], [10.0]]}


@pytest.mark.parametrize(
    ("fill", "more", "said"),
    [
        (autoregression, {}, "rows of y are not independent given"),
        (process, TIMES, "rows of y are not independent given"),
        (centred, {"x": [9.0, 10.0]}, "rows of y are not independent given"),
        (centred, {}, "new rows of data do not fit the rest of the model .* give new rows of each"),
        (scaled, {}, "the prior of b depends on data"),
        (an_effect_each, {}, "b has an element for each row"),
        (of_groups, {"group": [0, 3]}, "new rows of .* do not fit the rest of the model"),
        (of_groups, {"group": [0.5, 1]}, "'group' must be finite whole numbers"),
        (of_groups, {"group": [0]}, "must have equally many new rows of each"),
        (of_groups, {"group": [[0, 1]]}, r"'group' must have new rows along axis 0 .* \(9,\)"),
        (of_groups, {"which": [0, 1]}, r"mapping from names of the model's pm.Data, \['group', "),
        (of_groups, {"data": [0, np.nan]}, "'data' must be finite numbers"),
        (unseen, {}, "nothing that the model observes is made of data"),
    ],
)
def test_what_are_no_rows_is_refused(fill, more, said):
    posterior = bm.exact(opened(fill, Y), rng=1)
    with pytest.raises(bm.DataError, match=said):
        posterior.update({"data": [0.1, 0.2], **more}, rng=1)


def test_new_groups_among_known_ones_are_rows():
    after = bm.exact(opened(of_groups, Y), rng=1).update({"data": [0.1, 0.2], "group": [2, 2]})
    parameters = after.parameters()["b"]
    wanted = np.array([Y[0::3].sum() / 4, Y[1::3].sum() / 4, (Y[2::3].sum() + 0.3) / 6])
    np.testing.assert_allclose(parameters["mean"], wanted, rtol=1e-12)
