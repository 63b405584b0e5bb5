"""Finite variables that depend on each other are summed out one after the other."""

from itertools import product

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from scipy import special, stats
from scipy.special import logsumexp

import bayesmodels as bm
from tests.posteriors.check import MODE, log_joint
from tests.posteriors.structured.hand import along_tree, path

RNG = 20261124
MOVES = np.array([[0.9, 0.08, 0.02], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]])
MEANS = np.array([-1.0, 0.0, 2.0])


def rows(n, seed=1):
    rng = np.random.default_rng(seed)
    state = [0]
    for _ in range(n - 1):
        state.append(rng.choice(3, p=MOVES[state[-1]]))
    return rng.normal(MEANS[state], 1.0)


def uniform(name, levels, shape):
    """Declare finite variables whose prior is one in all: what follows says the rest."""
    pm.Potential(f"{name} level", pt.constant(float(np.prod(shape) * np.log(levels))))
    return pm.Categorical(name, np.full(levels, 1 / levels), shape=shape)


def chain(y, moves=MOVES, means=MEANS, sd=1.0):
    """Declare a hidden Markov chain that begins anywhere."""
    n = len(y)
    state = uniform("state", 3, n)
    pm.Potential("first", pt.constant(-np.log(3.0)))
    pm.Potential("moves", pt.log(pt.as_tensor(moves))[state[:-1], state[1:]].sum())
    pm.Normal("y", pt.as_tensor(means)[state], sd, observed=y)


def smoothed(y, moves, means, sd=1.0):
    """Return log evidence and smoothed probabilities, forward and back."""
    own = stats.norm.pdf(y[:, None], means, sd)
    return along_tree(path(len(y)), np.full(3, 1 / 3), moves, own)


def built(declare, *given):
    with pm.Model() as model:
        declare(*given)
    return model


@pytest.mark.parametrize("n", [2, 7, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_hidden_markov_chain_is_that_of_forward_and_backward(n):
    y = rows(n)
    posterior = bm.exact(built(chain, y), rng=RNG)
    total, probabilities = smoothed(y, MOVES, MEANS)
    assert posterior.log_evidence == pytest.approx(total, rel=1e-10)
    assert posterior.verified == "analytically"
    found = posterior.parameters()["state"]["probability"]
    assert found == pytest.approx(probabilities, abs=1e-10)
    draws = posterior.sample(200, rng=RNG)["state"]
    assert not ((draws[:, :-1] == 2) & (draws[:, 1:] == 0)).any()  # as that has no probability
    gap = np.abs((draws == 1).mean(0) - probabilities[:, 1])
    assert (gap <= 5 * np.sqrt(probabilities[:, 1] / len(draws)) + 1e-9).all()


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_the_most_probable_states_are_those_of_viterbi():
    y = rows(60)
    logs, own = np.log(MOVES), stats.norm.logpdf(y[:, None], MEANS, 1.0)
    best, ways = own[0], []
    for one in own[1:]:
        ways.append((best[:, None] + logs).argmax(0))
        best = (best[:, None] + logs).max(0) + one
    path = [int(best.argmax())]
    for way in ways[::-1]:
        path.append(int(way[path[-1]]))
    assert bm.exact(built(chain, y), rng=RNG).mode()["state"].tolist() == path[::-1]


# --- other graphs, each against adding up all configurations --------------------------------------


def triples():
    """Declare a chain in which three follow each other, of unequal ranges."""
    x = [pm.DiscreteUniform(f"x{i}", 1, 2 + i % 3) for i in range(7)]
    for i in range(5):
        pm.Potential(f"three {i}", -0.3 * (x[i] - x[i + 1] + x[i + 2]) ** 2 + 0.1 * x[i] * x[i + 2])


def binomials():
    """Declare unknown numbers of trials that follow each other."""
    x = pm.Binomial("x0", 4, 0.4)
    for i in range(1, 4):
        x = pm.Binomial(f"x{i}", 4, 0.1 + 0.2 * x)
        pm.Poisson(f"y{i}", 0.5 + x, observed=i)


@pytest.mark.slow
@pytest.mark.parametrize("declare", [triples, binomials])
def test_other_graphs_are_as_if_all_configurations_were_added_up(declare):
    model = built(declare)
    posterior = bm.exact(model, rng=RNG)
    evaluate, levels = log_joint(lambda: model), posterior.levels
    shapes = {rv.name: tuple(rv.type.shape) for rv in model.free_RVs}
    sizes = [int(np.prod(shapes[name])) for name in levels]
    every = [own for own, size in zip(levels.values(), sizes, strict=True) for _ in range(size)]
    logs, points = [], list(product(*every))
    for row in points:
        parts = np.split(np.array(row), np.cumsum(sizes)[:-1])
        point = {n: p.reshape(shapes[n]) for n, p in zip(levels, parts, strict=True)}
        logs.append(evaluate(point))
    total = logsumexp(logs)
    assert posterior.log_evidence == pytest.approx(total, abs=1e-10)
    weights, points = np.exp(np.array(logs) - total), np.array(points)
    start = 0
    for name, size in zip(levels, sizes, strict=True):
        own = points[:, start : start + size]
        p = np.stack([weights @ (own == value) for value in levels[name]], -1)
        found = posterior.parameters()[name]["probability"].reshape(size, -1)
        assert found == pytest.approx(p, abs=1e-10)
        start += size


# --- refused --------------------------------------------------------------------------------------


def all_with_all(n, levels):
    x = uniform("x", levels, n)
    w = np.random.default_rng(2).normal(size=(n, n))
    pairs = [w[i, j] * pt.eq(x[i], x[j]) for i in range(n) for j in range(i)]
    pm.Potential("pairs", pt.stack(pairs).sum())


def mixed_up():
    pm.Potential("whole", -((uniform("x", 2, 40).sum() - 20.0) ** 2))


@pytest.mark.parametrize(
    ("declare", "given", "said"),
    [(all_with_all, (12, 5), "depend on each other"), (mixed_up, (), "have up to 40 elements")],
)
def test_what_hangs_together_too_much_is_refused(declare, given, said):
    with pytest.raises(bm.NotConjugate, match=said):
        bm.exact(built(declare, *given), rng=RNG)
    with pytest.raises(bm.NotConjugate, match="configurations"):
        bm.integrate(built(declare, *given), rng=RNG)


def test_a_chain_that_can_not_have_been_is_refused():
    def never():
        chain(rows(5))
        pm.Potential("never", pt.constant(-np.inf))

    with pytest.raises(bm.NotConjugate):
        bm.exact(built(never), rng=RNG)


# --- beside continuous variables ------------------------------------------------------------------


def unknown(y):
    """Declare a chain whose moves, means and noise are unknown."""
    moves = pm.Dirichlet("rates", np.ones((3, 3)) + 4 * np.eye(3))
    means = pm.Normal("means", MEANS, 2.0, shape=3)
    chain(y, moves, means, pm.HalfNormal("sd", 2.0))


@pytest.mark.slow
def test_a_chain_is_summed_out_of_a_model_with_continuous_variables():
    y = rows(30)
    partial = bm.exact(built(unknown, y), partial=True, rng=RNG)
    assert partial.integrated == ("state",)
    assert set(partial.remaining) == {"rates", "means", "sd"}
    evaluate, rng = log_joint(lambda: partial.model), np.random.default_rng(4)
    for _ in range(4):
        moves = rng.dirichlet(np.ones(3) * 3, size=3)
        means, sd = rng.normal(size=3), rng.gamma(2.0)
        prior = stats.norm.logpdf(means, MEANS, 2.0).sum() + stats.halfnorm.logpdf(sd, scale=2)
        prior += sum(
            stats.dirichlet.logpdf(row, 1 + 4 * own)
            for row, own in zip(moves, np.eye(3), strict=True)
        )
        total, probabilities = smoothed(y, moves, means, sd)
        rest = {"rates": moves, "means": means, "sd": sd}
        assert evaluate(rest) == pytest.approx(prior + total, abs=1e-8)
        found = partial.conditional(rest)["state"]["probability"]
        assert found == pytest.approx(probabilities, abs=1e-10)
        many = {name: np.repeat(np.asarray(x)[None], 400, 0) for name, x in rest.items()}
        gap = np.abs((partial.draw(many, rng)["state"] == 1).mean(0) - probabilities[:, 1])
        assert (gap <= 5 * np.sqrt(probabilities[:, 1] / 400) + 1e-9).all()


def test_finite_variables_that_depend_on_each_other_too_much_remain():
    def declare():
        mean = pm.Normal("mean", 0.0, 1.0)
        pm.Normal("y", mean, 1.0, observed=[0.3, 1.1])
        mixed_up()

    partial = bm.exact(built(declare), partial=True, rng=RNG)
    assert (partial.integrated, partial.remaining) == (("mean",), ("x",))


@pytest.mark.slow
def test_its_slopes_are_differences():
    partial = bm.exact(built(unknown, rows(12)), partial=True, rng=RNG)
    with pytensor.config.change_flags(cxx=""):
        value, slope = partial.model.compile_logp(mode=MODE), partial.model.compile_dlogp(mode=MODE)
    start = partial.model.initial_point()
    start = {name: x + 0.1 * np.arange(x.size).reshape(x.shape) for name, x in start.items()}
    flat = np.concatenate([np.ravel(start[v.name]) for v in partial.model.value_vars])

    def at(x):
        parts = np.split(x, np.cumsum([start[v.name].size for v in partial.model.value_vars])[:-1])
        pairs = zip(partial.model.value_vars, parts, strict=True)
        return value({v.name: p.reshape(start[v.name].shape) for v, p in pairs})

    h = 1e-6
    steps = [(at(flat + h * e) - at(flat - h * e)) / (2 * h) for e in np.eye(len(flat))]
    assert slope(start) == pytest.approx(steps, abs=1e-6)


def switching(n):
    """Declare counts at one of two rates; one unknown number says how it changes."""
    stay = pm.Beta("stay", 9.0, 1.0)
    state = pm.Bernoulli("state", 0.5, shape=n)
    same = pt.eq(state[1:], state[:-1])
    pm.Potential("moves", pt.where(same, pt.log(stay), pt.log1p(-stay)).sum())
    y = np.concatenate([np.arange(n // 2) % 3 + 2, np.arange(n - n // 2) % 4 + 6])
    pm.Poisson("y", pt.switch(state, 8.0, 3.0), observed=y)


@pytest.mark.slow
def test_what_remains_is_integrated_on_a_lattice():
    def written(stay):
        moves = np.stack([np.stack([stay, 1 - stay], -1), np.stack([1 - stay, stay], -1)], -2)
        y = np.concatenate([np.arange(20) % 3 + 2, np.arange(20) % 4 + 6])
        own = stats.poisson.pmf(y[:, None], [3.0, 8.0]) / 2
        p = np.broadcast_to(own[0], (len(stay), 2))
        for one in own[1:]:
            p = np.einsum("gi,gij->gj", p, moves) * one
        return p.sum(-1) * stats.beta.pdf(stay, 9, 1)

    at, weights = np.polynomial.legendre.leggauss(200)
    stay = (at + 1) / 2
    density = weights / 2 * written(stay)
    found = bm.integrate(built(switching, 40), rng=RNG)
    assert found.log_evidence == pytest.approx(np.log(density.sum()), abs=1e-6)
    mean = density @ stay / density.sum()
    assert found.mean()["stay"] == pytest.approx(mean, abs=1e-6)
    assert found.integrated == ("state",)
    assert found.mean()["state"].shape == (40,)
    assert found.marginals()["state"].mean().sum(-1) == pytest.approx(1, abs=1e-12)
    draws = found.sample(2000, rng=RNG)["state"]
    p = found.mean()["state"]
    assert (np.abs(draws.mean(0) - p) <= 5 * np.sqrt(p * (1 - p) / 2000) + 1e-9).all()


@pytest.mark.slow
def test_nuts_on_what_remains_agrees_with_what_was_integrated():
    model = built(switching, 12)
    tree = bm.exact(model, partial=True, rng=RNG).sample(
        500, tune=300, chains=2, rng=RNG, progressbar=False
    )
    law = bm.integrate(model, rng=RNG)
    # Rare states take more draws to agree; wrong ones are seen.
    assert bm.compare(law, tree).outcome != "disagree"
    tree.posterior["state"] = 1 - tree.posterior["state"]
    assert bm.compare(law, tree).outcome == "disagree"


COUNTS = np.array([1, 3, 2, 2, 9, 7, 11, 8, 8, 10, 7, 3, 2, 4, 1])


def two_changes(rates=None):
    """Declare counts whose rates, unknown, change at two times that may come in any order."""
    n = len(COUNTS)
    one, other = (pm.DiscreteUniform(name, 0, n - 1) for name in ("one", "other"))
    rate = pm.Gamma("rate", 2.0, 0.5, shape=3) if rates is None else rates
    t = np.arange(n)
    number = pt.gt(t, pt.minimum(one, other)) + 1 * pt.gt(t, pt.maximum(one, other))
    pm.Poisson("y", rate[number], observed=COUNTS)


@pytest.mark.slow
def test_two_changes_of_unknown_rates_are_added_up_with_the_rates_given_them():
    n, sums = len(COUNTS), np.concatenate([[0], np.cumsum(COUNTS)])
    logs, means = np.empty((n, n)), np.empty((n, n, 3))
    for one, other in np.ndindex(n, n):
        cuts = np.array([0, min(one, other) + 1, max(one, other) + 1, n])
        shape, time = 2 + np.diff(sums[cuts]), 0.5 + np.diff(cuts)
        own = special.gammaln(shape) - shape * np.log(time) + 2 * np.log(0.5)
        logs[one, other], means[one, other] = own.sum(), shape / time
    logs -= 2 * np.log(n) + special.gammaln(COUNTS + 1.0).sum()
    weights = special.softmax(logs)
    found = bm.integrate(built(two_changes), rng=RNG)
    assert found.integrated == ("rate",)
    assert repr(found) == "IntegratedPosterior(closed form: rate; added up: one, other)"
    assert found.log_evidence == pytest.approx(special.logsumexp(logs), abs=1e-10)
    assert found.marginals()["one"].mean() == pytest.approx(weights.sum(1), abs=1e-10)
    assert found.mean()["one"] == pytest.approx(weights.sum(1) @ np.arange(n), abs=1e-9)
    assert found.mean()["rate"] == pytest.approx(np.einsum("ij,ijk->k", weights, means), rel=1e-10)
    given = found.predictive(10, 1, rng=RNG)
    assert given["posterior_predictive"]["y"].shape == (1, 10, n)


@pytest.mark.slow
def test_one_pair_of_changes_with_a_law_of_its_own_is_seen_among_many():
    def declare():
        two_changes()
        model = pm.modelcontext(None)
        both = pt.eq(model["one"], 3) * pt.eq(model["other"], 11)
        pm.Potential("rare", -1.0 * both * model["rate"][0] ** 2)

    with pytest.raises(bm.NotConjugate):
        bm.exact(built(declare), partial=True, rng=RNG)
