"""Algebra against PyMC on hundreds of random priors and data sets: small rows, wild scales."""

from math import prod

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.belief.reading import levels

# Wild scales cost digits on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmodels.NumericsWarning")

CHECKS = 3  # in one test
TESTS = 8  # of each model
FEWER_TESTS = 2  # of models that take seconds to compile


def log_uniform(rng, low, high, shape=()):
    return 10 ** rng.uniform(np.log10(low), np.log10(high), shape)


def some(rng, *choices):
    return choices[rng.integers(len(choices))]


def in_groups(rng, rows, n):
    """Sometimes split the rows of one problem over up to three groups, one of them empty."""
    groups = ["a", "b", "c", "none"][: rng.integers(1, 5)]
    return bm.Grouped(rows, rng.choice(groups[:3], n), groups=groups)


def bernoulli(rng):
    """Bits, a table of bits, counts, or groups of either."""
    n, batch = int(rng.integers(0, 20)), some(rng, (), (), (3,))
    p = rng.beta(0.5, 0.5, batch)
    prior = bm.BetaBernoulli(*log_uniform(rng, 1e-3, 1e3, (2, *some(rng, (), batch))))
    rows = (rng.random((n, *batch)) < p).astype(some(rng, bool, np.int8, float))
    if rng.random() < 0.5:
        trials = np.floor(log_uniform(rng, 1, 1e3, (n, *batch))).astype(int)
        rows = bm.BinomialCounts(rng.binomial(trials, p), trials)
    single = batch == () and prior.alpha.shape == ()
    return prior, in_groups(rng, rows, n) if single and rng.random() < 0.5 else rows


def categorical(rng):
    """Category numbers, a table of them, counts, or groups of either."""
    n, size, batch = int(rng.integers(0, 20)), int(rng.integers(2, 6)), some(rng, (), (), (2,))
    theta = rng.dirichlet(np.full(size, 0.5), batch or None)
    prior = bm.DirichletCategorical(log_uniform(rng, 1e-3, 1e3, (*some(rng, (), batch), size)))
    if rng.random() < 0.5:
        trials = np.floor(log_uniform(rng, 1, 1e3, (n, *batch))).astype(int)
        rows = bm.MultinomialCounts(rng.multinomial(trials, theta))
    else:
        rows = (rng.random((n, *batch, 1)) > theta.cumsum(-1)[..., :-1]).sum(-1)
    single = batch == () and prior.alpha.ndim == 1
    return prior, in_groups(rng, rows, n) if single and rng.random() < 0.5 else rows


def regression(rng):
    """Any kind of prior, one target or three, columns and targets in any unit."""
    size, batch = int(rng.integers(1, 5)), some(rng, (), (), (3,))
    kind = some(rng, "diagonal", "full", "g", "flat", "half flat")
    n = int(rng.integers(size + 1 if kind in ("g", "flat", "half flat") else 0, 15))
    unit, noise = log_uniform(rng, 1e-3, 1e3, size), log_uniform(rng, 1e-3, 1e3)
    X = rng.normal(size=(n, size)) * unit
    y = X @ rng.normal(size=(size, *batch)) + noise * rng.normal(size=(n, *batch))
    shape, scale = log_uniform(rng, 1e-1, 1e2), log_uniform(rng, 1e-3, 1e3)
    mean, strength = rng.normal(size=size) * some(rng, 0, 1, 100), log_uniform(rng, 1e-3, 1e3, size)
    if kind == "g":
        return bm.LinearRegression.g_prior(X, log_uniform(rng, 1, 1e3), shape, scale), (X, y)
    if kind == "flat":
        return bm.LinearRegression.flat(size), (X, y)
    precision = np.diag(strength)
    if kind == "full":
        root = rng.normal(size=(size, size)) * np.sqrt(strength)
        precision = root.T @ root + np.diag(strength)
    if kind == "half flat":
        precision[0, 0] = 0
    return bm.LinearRegression(mean, precision, shape, scale), (X, y)


def naive_bayes(rng):
    """One to three blocks of any family, some a table and some with missing cells."""
    n, size = int(rng.integers(0, 15)), int(rng.integers(2, 4))
    classes = bm.DirichletCategorical(log_uniform(rng, 1e-2, 1e2, size))
    kinds = rng.choice(["bits", "categories", "numbers", "words"], rng.integers(1, 4))
    blocks = {f"{kind}{i}": block_of_features(rng, kind, n) for i, kind in enumerate(kinds)}
    prior = bm.NaiveBayes(classes, {name: belief for name, (belief, _) in blocks.items()})
    rows = {name: x for name, (_, x) in blocks.items()}
    return prior, (rows, rng.integers(0, rng.integers(1, size + 1), n))


def block_of_features(rng, kind, n):
    """Return a prior, for all classes alike, and rows: of one column or of a table."""
    columns, gaps = some(rng, (), (2,)), some(rng, 0, 0, 0.4)
    batch, x = some(rng, (), columns), rng.random((n, *columns))
    if kind == "numbers":
        unit = log_uniform(rng, 1e-3, 1e3, columns)
        x = unit * (rng.normal(size=x.shape) + some(rng, 0, 0, 1e3))
        mean = np.broadcast_to(unit * rng.normal(size=columns), columns)
        mean = mean if batch == columns else float(np.mean(mean))
        shape, kappa = log_uniform(rng, 1e-1, 1e2, batch), log_uniform(rng, 1e-3, 1e3, batch)
        belief = bm.NormalInverseGamma(mean, kappa, shape, float(unit.max()) ** 2 * shape)
    elif kind == "bits":
        belief, x = bm.BetaBernoulli(*log_uniform(rng, 1e-2, 1e2, (2, *batch))), np.round(x)
    else:
        levels = int(rng.integers(2, 5))
        counted = kind == "words"
        shape = (levels,) if counted else (*batch, levels)
        belief = bm.DirichletCategorical(log_uniform(rng, 1e-2, 1e2, shape))
        if counted:
            trials = rng.integers(0, 30, n)
            return belief, bm.MultinomialCounts(
                rng.multinomial(trials, np.full(levels, 1 / levels))
            )
        x = np.floor(levels * x)
    x[rng.random(x.shape) < gaps] = np.nan
    return belief, x


def covariance(rng, width, shape=()):
    """Return matrices whose eigenvalues differ by a factor of up to a thousand."""
    turn = np.linalg.qr(rng.normal(size=(*shape, width, width)))[0]
    matrix = (turn * log_uniform(rng, 1e-3, 1, (*shape, 1, width))) @ np.swapaxes(turn, -1, -2)
    return (matrix + np.swapaxes(matrix, -1, -2)) / 2


def wishart_of(rng, unit, shape=(), family=bm.NormalInverseWishart, **settings):
    """Return a belief about columns of any unit, as many degrees of freedom or a hundred more."""
    width = len(unit)
    one = shape if family is bm.NormalInverseWishart else ()
    df = width - 1 + log_uniform(rng, 1, 1e2, one)  # with less, draws are singular to rounding
    mean = unit * rng.normal(size=(*shape, width)) * some(rng, 0, 1, 100)
    scale = covariance(rng, width, one) * np.outer(unit, unit) * np.asarray(df)[..., None, None]
    return family(mean, log_uniform(rng, 1e-3, 1e3, shape), df, scale, **settings)


def numbers_of(rng, unit, n):
    """Return rows whose columns are correlated, sometimes far from zero."""
    root = np.linalg.cholesky(covariance(rng, len(unit)))
    return unit * (rng.normal(size=(n, len(unit))) @ root.T + some(rng, 0, 0, 1e3))


def vectors(rng):
    """Rows of one problem, groups with one prior, or groups with a prior each."""
    n, width = int(rng.integers(0, 12)), int(rng.integers(1, 5))
    unit = log_uniform(rng, 1e-3, 1e3, width)
    rows, kind = numbers_of(rng, unit, n), some(rng, "one", "groups", "priors")
    if kind == "priors":
        groups = ["a", "b", "none"]
        prior = wishart_of(rng, unit, (3,), coords={"group": groups})
        return prior, bm.Grouped(rows, rng.choice(groups[:2], n), groups=groups)
    prior = wishart_of(rng, unit)
    return prior, in_groups(rng, rows, n) if kind == "groups" else rows


def shared_covariance(rng):
    """Up to four groups, the last one empty, with any ratios of their covariances."""
    n, width, size = (int(rng.integers(low, 5)) for low in (0, 1, 1))
    n, unit = 3 * n, log_uniform(rng, 1e-3, 1e3, width)
    ratio = some(rng, 1, log_uniform(rng, 1e-3, 1e3, size))
    settings = {"family": bm.SharedNormalInverseWishart, "ratio": ratio}
    prior = wishart_of(rng, unit, (size,), **settings)
    groups = np.arange(size)
    by = rng.choice(groups[: max(1, size - 1)], n)
    return prior, bm.Grouped(numbers_of(rng, unit, n), by, groups=groups.tolist())


def discriminant(rng):
    """Each kind of covariance; classes may have no rows, or fewer than columns."""
    n, width, size = int(rng.integers(0, 15)), int(rng.integers(1, 5)), int(rng.integers(2, 4))
    unit = log_uniform(rng, 1e-3, 1e3, width)
    kind = some(rng, "full", "shared", "proportional", "diagonal")
    classes = bm.DirichletCategorical(log_uniform(rng, 1e-2, 1e2, size))
    if kind == "diagonal":
        mean, shape = unit * rng.normal(size=width), log_uniform(rng, 1e-1, 1e2, width)
        kappa = log_uniform(rng, 1e-3, 1e3)
        features = bm.NormalInverseGamma(mean, kappa, shape, unit**2 * shape)
    else:
        features = wishart_of(rng, unit)
    ratio = log_uniform(rng, 1e-3, 1e3, size) if kind == "proportional" else None
    prior = bm.GaussianDiscriminant(classes, features, kind, ratio)
    return prior, (numbers_of(rng, unit, n), rng.integers(0, rng.integers(1, size + 1), n))


def hypotheses(rng):
    """Tables, some of their hypotheses impossible beforehand and some by the rows."""
    size, outcomes = int(rng.integers(2, 12)), int(rng.integers(1, 8))
    table = rng.dirichlet(np.full(outcomes, some(rng, 0.1, 1, 10)), size)
    table[:, rng.random(outcomes) < some(rng, 0, 0.3)] = 0
    table[:, 0] += 1e-3
    table[0] = 1 / outcomes  # allows any rows
    p = rng.dirichlet(np.full(size, some(rng, 0.1, 1, 10))) * (rng.random(size) < 0.8)
    p[0] += 1e-3
    table /= table.sum(1, keepdims=True)
    prior = bm.ConceptLearning.from_table(table, p / p.sum())
    n = int(np.floor(log_uniform(rng, 1, 1e3))) - 1
    return prior, rng.integers(0, outcomes, n)


MODELS = {
    f.__name__: f
    for f in (
        bernoulli,
        categorical,
        regression,
        naive_bayes,
        vectors,
        shared_covariance,
        discriminant,
        hypotheses,
    )
}


MANY = (bernoulli, categorical, regression)  # compiled in a second or less
NUMBERED = [
    (model, number)
    for model, f in MODELS.items()
    for number in range(TESTS if f in MANY else FEWER_TESTS)
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "number"), NUMBERED)
def test_identity_on_random_priors_and_data(model, number, record_property):
    worst = 0.0, []
    for check in range(CHECKS):
        seed = [list(MODELS).index(model), number, check]
        rng = np.random.default_rng(seed)
        prior, data = MODELS[model](rng)
        posterior = prior.update(data)
        try:
            log_evidence = float(np.sum(prior.log_evidence(data)))
        except bm.PriorError:  # the prior is improper
            log_evidence = None
        declared = prior.declare(data, some(rng, "rows", "statistic"))
        found = bm.check_identity(declared, posterior, prior, log_evidence, rng=rng)
        ratio = max(found.constancy, found.slope, found.evidence or 0.0)
        worst = max(worst, (ratio, seed))
        assert found.holds, f"seed {seed}: {found}"
        points = prod(map(len, levels(prior).values())) if levels(prior) else 20
        assert found.points == points, f"seed {seed}: {found.points} points"
    record_property("worst identity", [model, CHECKS, *worst])
