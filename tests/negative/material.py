"""What slips are made with: a coin, a regression, vectors in one class or two, and hypotheses."""

import numpy as np
import pymc as pm

import bayesmodels as bm
from bayesmodels.models import inverse_wishart_pymc as declared
from tests.negative.work import hand_in

# --- a coin: Beta(2, 5), three ones among twenty --------------------------------------------------

COIN, ROWS = bm.BetaBernoulli(2, 5), np.array([1, 1, 1] + [0] * 17)
TOSSES = bm.BinomialCounts(3, 20)


def coin(rows=ROWS, **mistaken):
    return hand_in(COIN, rows, **mistaken)


def coin_in_pymc(log_mass, support=None):
    """Declare the coin's prior with any log mass of a row, theta kept where `support` holds."""
    with pm.Model() as model:
        theta = pm.Beta("theta", 2, 5)
        if support is not None:
            pm.Potential("support", pm.math.switch(support(theta), 0.0, -np.inf))
        pm.Potential("rows", pm.math.sum(log_mass(ROWS, theta)))
    return model


def bernoulli(x, theta):
    return pm.math.log(theta**x * (1 - theta) ** (1 - x))


# --- a regression with everything about it asymmetric ---------------------------------------------

X = np.array([[1, 0.2], [1, 1.9], [1, -0.7], [1, 3.1], [1, 2.2], [1, -1.5]])
Y = np.array([1.3, 4.8, -0.4, 6.9, 5.6, -2.3])
PRECISION = np.array([2.0, 0.5])
LINE = bm.LinearRegression([1, -1], np.diag(PRECISION), shape=2.5, scale=1.5)


def line(**mistaken):
    return hand_in(LINE, (X, Y), **mistaken)


# --- vectors, of one class or of two --------------------------------------------------------------

VECTORS = np.array([[2.0, 0.1], [3.5, -1.2], [-1.0, 2.0], [4.0, 1.0], [0.5, 0.6], [1.5, -2.0]])
KINDS = ["a", "b", "b", "a", "b", "b"]
SCALE = np.array([[2.0, 0.5], [0.5, 1.0]])
VECTOR = bm.NormalInverseWishart([1, -1], 0.3, 4.5, SCALE)
CLASSES = bm.DirichletCategorical([1, 2], categories=["a", "b"])
FULL, SHARED = (bm.GaussianDiscriminant(CLASSES, VECTOR, kind) for kind in ("full", "shared"))


def vector(**mistaken):
    return hand_in(VECTOR, VECTORS, **mistaken)


def vector_after(**changes):
    """Return the posterior, some of its parameters changed."""
    right = VECTOR.update(VECTORS)
    own = {"mean": right.location, "kappa": right.kappa, "df": right.df, "scale": right.scale}
    return bm.NormalInverseWishart(**(own | changes))


def vector_in_pymc(df=4.5, kappa=0.3, prior=None, **covariance):
    """Declare the vectors with PyMC's own normal law; `covariance` is its ``tau``, perhaps."""
    with pm.Model(coords={"feature": range(2), "other": range(2)}) as model:
        Sigma = declared.inverse_wishart("Sigma", np.array(df), SCALE, SCALE, ("feature", "other"))
        both = (Sigma + Sigma.T) / 2
        if prior is not None:
            pm.Potential("prior", prior(both))
        mu = pm.MvNormal("mu", [1, -1], cov=both / kappa)
        law = {name: choose(both) for name, choose in covariance.items()} or {"cov": both}
        pm.MvNormal("x", mu, **law, observed=VECTORS)
    return model


def vector_declared(**mistaken):
    return vector(model=vector_in_pymc(**mistaken))


def lkj(Sigma):
    """Turn the prior of the correlation towards 0, as an LKJ law does."""
    return pm.math.log(1 - Sigma[0, 1] ** 2 / (Sigma[0, 0] * Sigma[1, 1]))


def discriminant(prior, **mistaken):
    return hand_in(prior, (VECTORS, KINDS), **mistaken)


def pooled():
    """Return a posterior with a covariance for each class, each of them learned from all rows."""
    one, each = SHARED.update((VECTORS, KINDS)), FULL.update((VECTORS, KINDS))
    both = one.gaussian
    gaussian = bm.NormalInverseWishart(
        both.location, both.kappa, both.df, both.scale, coords={"class": ["a", "b"]}
    )
    return bm.GaussianDiscriminant(each.classes, gaussian)


# --- four examples of a concept -------------------------------------------------------------------

GAME, EXAMPLES = bm.ConceptLearning.number_game(), np.array([16, 8, 2, 64])


def concept(**mistaken):
    return hand_in(GAME, EXAMPLES, **mistaken)


def concept_in_pymc(log_likelihood):
    """Declare the number game with any log likelihood of the examples under each hypothesis."""
    with pm.Model() as model:
        h = pm.Categorical("h", p=GAME.mean()["h"])
        pm.Potential("rows", pm.math.stack(list(log_likelihood))[h])
    return model


def metropolised_gibbs(p, draws, rng, *, rescaled):
    """Propose another value in proportion to p; accept with (1 - p_now) / (1 - p_new) at most.

    With `rescaled` the new probability is taken after those of the other values were made to add
    up to one, as in PyMC 6.4's CategoricalGibbsMetropolis(proposal="proportional").
    """
    now, path = int(p.argmax()), np.empty(draws, dtype=int)
    for i in range(draws):
        others = np.where(np.arange(len(p)) == now, 0, p)
        others = others / others.sum()
        new = rng.choice(len(p), p=others)
        if rng.random() < (1 - p[now]) / (1 - (others if rescaled else p)[new]):
            now = new
        path[i] = now
    return path


def visits(*, rescaled):
    """Return draws of the hypothesis from four such chains."""
    p, rng = GAME.update(EXAMPLES).mean()["h"], np.random.default_rng(2)
    return {"h": np.array([metropolised_gibbs(p, 1000, rng, rescaled=rescaled) for _ in range(4)])}
