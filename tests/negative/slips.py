"""The one table of planted slips: the work of somebody who made one mistake.

Each slip names the layer that has to object, and the right version of the same work, which has to
pass. The mistakes that were found in print, E1 to E14, are in `printed`.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pymc as pm
from scipy.special import betaln

import bayesmodels as bm
from tests.negative.material import (
    COIN,
    EXAMPLES,
    FULL,
    GAME,
    LINE,
    PRECISION,
    ROWS,
    SHARED,
    TOSSES,
    VECTOR,
    VECTORS,
    X,
    Y,
    bernoulli,
    coin,
    coin_in_pymc,
    concept,
    concept_in_pymc,
    discriminant,
    line,
    lkj,
    pooled,
    vector,
    vector_after,
    vector_declared,
    visits,
)
from tests.negative.printed import PRINTED
from tests.negative.work import Slip, Work, hand_in

# --- work with and without a mistake --------------------------------------------------------------

ARMS = bm.Grouped([1, 0, 0, 1, 1, 1], by=["new", "old", "old", "new", "new", "old"])


CALLS = bm.GammaPoisson(3, 5)
WAITING = bm.GammaExponential(2, 9)
REMISSIONS = bm.Censored([6, 7, 10], observed=[1, 1, 0])
HOURS = bm.Counts([3, 0, 5, 2], exposure=[1, 0.5, 2, 1.5])


def swapped(belief):
    return bm.BetaBernoulli(belief.alpha[::-1], belief.beta[::-1], belief.coords)


FLAT = bm.LinearRegression.flat(2)


def line_after(shape=None, scale=None):
    """Return the posterior with another inverse-gamma law."""
    right = LINE.update((X, Y))
    return bm.LinearRegression(
        right.mode()["w"],
        right.precision,
        right.shape if shape is None else shape,
        right.scale if scale is None else scale,
    )


def line_in_pymc(noise, spread, precision=PRECISION):
    """Declare the regression with any noise and any spread of w as functions of sigma2."""
    with pm.Model() as model:
        sigma2 = pm.InverseGamma("sigma2", 2.5, 1.5)
        w = pm.Normal("w", [1, -1], spread(sigma2) / np.sqrt(precision))
        pm.Normal("y", (X * w).sum(-1), noise(sigma2), observed=Y)
    return model


def line_declared(noise=pm.math.sqrt, spread=pm.math.sqrt, precision=PRECISION):
    return line(model=line_in_pymc(noise, spread, precision))


def flat(**mistaken):
    right = Work(FLAT.declare((X, Y)), FLAT, (X, Y), FLAT.update((X, Y)))
    return replace(right, **mistaken)


def flat_after(shape):
    right = FLAT.update((X, Y))
    return bm.LinearRegression(right.mode()["w"], right.precision, shape, right.scale)


def residual_sum(w):
    return float(((Y - X @ w) ** 2).sum())


def scatter_of(rows):
    return np.cov(rows.T, bias=True) * len(rows)


def pull():
    gap, n = VECTORS.mean(0) - VECTOR.location, len(VECTORS)
    return VECTOR.kappa * n / (VECTOR.kappa + n) * np.outer(gap, gap)


# --- draws ----------------------------------------------------------------------------------------

LAW = LINE.update((X, Y))


def sampled(**changes):
    """Return a thousand exact draws in each of four chains, some variables changed."""
    draws = LAW.to_datatree(rng=np.random.default_rng(4)).posterior
    changed = {name: change(draws[name].to_numpy().copy()) for name, change in changes.items()}
    return Work(law=LAW, draws=dict(draws.data_vars) | changed)


def stuck(x):
    """Stop the last chain at the mean of all: pooled means stay as they are."""
    x[-1] = x[:-1].mean((0, 1))
    return x


def offset(w):
    """Put one chain half a standard deviation too high."""
    w[2] += 0.5 * w.std((0, 1))
    return w


def unrelated(w):
    """Let one coefficient come from the next chain."""
    w[..., 0] = np.roll(w[..., 0], 1, axis=0)
    return w


def without_tail(w):
    """Repeat a draw where its successor would be in the upper tail."""
    flat = w[..., 0].reshape(-1)
    high = np.quantile(flat, 0.975)
    for i in np.flatnonzero(flat > high):
        flat[i] = flat[i - 1] if flat[i - 1] <= high else flat.mean()
    w[..., 0] = flat.reshape(w.shape[:2])
    return w


def one_seed():
    """Draw every variable by the same random numbers, as conjugate-models 0.14 does."""
    levels = np.random.default_rng(7).random((4, 1000))
    laws = LAW.marginals()
    return {"sigma2": laws["sigma2"].ppf(levels), "w": laws["w"].ppf(levels[..., None])}


def narrow(w):
    mean = LAW.mean()["w"]
    return mean + 0.9 * (w - mean)


def shifted(w):
    return w + 0.3 * np.sqrt(LAW.var()["w"])


# --- numbers of the book --------------------------------------------------------------------------


def predictive_variance(*, parameters):
    """Return the variance at a new row, with or without what is not known of the coefficients."""
    x = np.array([1, 10.0])
    V = np.linalg.inv(LAW.precision)
    a, b = float(LAW.shape), float(LAW.scale)
    right = b / (a - 1) * (1 + x @ V @ x)
    given = LAW.predictive([x]).var()[0] if parameters else b / (a - 1)
    return Work(value=float(given), book=float(right))


COLOURS = bm.DirichletCategorical([1, 2, 3], categories=["red", "green", "blue"])
DIE = bm.DirichletCategorical([1, 2, 3])


def read(model, data):
    """Hand in nothing but data, to be read."""
    model.statistic(data)
    return Work()


ONCE = GAME.log_table[:, EXAMPLES - 1].min(1)  # -inf where an example is not in the concept

PLANTED = [
    # algebra
    Slip(
        "alpha and beta swapped",
        "identity",
        lambda: coin(posterior=bm.BetaBernoulli(22, 5)),
        coin,
        term="the update",
    ),
    Slip(
        "zeros counted as all rows",
        "identity",
        lambda: coin(posterior=bm.BetaBernoulli(2 + 3, 5 + 20)),
        coin,
        term="the update",
    ),
    Slip(
        "one row counted twice",
        "identity",
        lambda: coin(posterior=COIN.update(ROWS).update(ROWS[:1])),
        coin,
        term="the update",
    ),
    Slip(
        "rows counted in place of exposures",
        "identity",
        lambda: hand_in(CALLS, HOURS, posterior=bm.GammaPoisson(3 + 10, 5 + 4)),
        lambda: hand_in(CALLS, HOURS),
        term="the update",
    ),
    Slip(
        "the scale of a rate taken for its rate",
        "identity",
        lambda: hand_in(CALLS, HOURS, posterior=bm.GammaPoisson(3 + 10, 1 / (1 / 5 + 5))),
        lambda: hand_in(CALLS, HOURS),
        term="the update",
    ),
    Slip(
        "waiting that was cut short counted as ended",
        "identity",
        lambda: hand_in(WAITING, REMISSIONS, posterior=bm.GammaExponential(2 + 3, 9 + 23)),
        lambda: hand_in(WAITING, REMISSIONS),
        term="the update",
    ),
    Slip(
        "waiting that was cut short left out",
        "identity",
        lambda: hand_in(WAITING, REMISSIONS, posterior=bm.GammaExponential(2 + 2, 9 + 13)),
        lambda: hand_in(WAITING, REMISSIONS),
        term="the update",
    ),
    Slip(
        "groups swapped",
        "identity",
        lambda: hand_in(COIN, ARMS, posterior=swapped(COIN.update(ARMS))),
        lambda: hand_in(COIN, ARMS),
        term="the update",
    ),
    Slip(
        "evidence without the prior's normaliser",
        "identity",
        lambda: coin(log_evidence=betaln(5, 22)),
        lambda: coin(log_evidence=betaln(5, 22) - betaln(2, 5)),
        term="the log evidence",
    ),
    Slip(
        "evidence of rows with a binomial coefficient",
        "identity",
        lambda: coin(log_evidence=float(COIN.log_evidence(TOSSES))),
        lambda: coin(TOSSES),
        term="the log evidence",
    ),
    Slip(
        "evidence that is not a number",
        "identity",
        lambda: coin(log_evidence=np.nan),
        coin,
        term="the log evidence",
    ),
    Slip(
        "ones added up in 8 bits",
        "identity",
        lambda: coin(
            np.ones(300, dtype=np.int8),
            posterior=bm.BetaBernoulli(2 + np.ones(300).astype(np.int8).sum(dtype=np.uint8), 5),
        ),
        lambda: coin(np.ones(300, dtype=np.int8)),
        term="the update",
    ),
    Slip(
        "rate for scale in the inverse gamma",
        "identity",
        lambda: line(posterior=line_after(scale=1 / LAW.scale)),
        lambda: line(posterior=line_after()),
        term="the update",
    ),
    Slip(
        "shape grows by n, not n / 2",
        "identity",
        lambda: line(posterior=line_after(shape=LINE.shape + len(Y))),
        lambda: line(posterior=line_after(shape=LINE.shape + len(Y) / 2)),
        term="the update",
    ),
    Slip(
        "n for n - p degrees of freedom",
        "identity",
        lambda: flat(posterior=flat_after(shape=len(Y) / 2)),
        lambda: flat(posterior=flat_after(shape=(len(Y) - 2) / 2)),
        term="the update",
    ),
    Slip(
        "no one half in b_N",
        "identity",
        lambda: line(posterior=line_after(scale=LINE.scale + 2 * (LAW.scale - LINE.scale))),
        line,
        term="the update",
    ),
    Slip(
        "b_N without the pull of the prior",
        "identity",
        lambda: line(posterior=line_after(scale=LINE.scale + residual_sum(LAW.mode()["w"]) / 2)),
        line,
        term="the update",
    ),
    # declarations
    Slip(
        "variance for sd in the noise",
        "identity",
        lambda: line_declared(noise=lambda sigma2: sigma2),
        line_declared,
        term="the likelihood of y",
    ),
    Slip(
        "sigma2 forgotten in the prior of w",
        "identity",
        lambda: line_declared(spread=lambda _: 1.0),
        line_declared,
        term="the prior of w",
    ),
    Slip(
        "precision taken for a covariance",
        "identity",
        lambda: line_declared(precision=1 / PRECISION),
        line_declared,
        term="the prior of w",
    ),
    Slip(
        "theta kept above one tenth",
        "identity",
        lambda: coin(model=coin_in_pymc(bernoulli, support=lambda theta: theta > 0.1)),
        lambda: coin(model=coin_in_pymc(bernoulli, support=lambda theta: theta > 0)),
        term="the term support",
    ),
    # vectors
    Slip(
        "df grows by N - 1",
        "identity",
        lambda: vector(posterior=vector_after(df=VECTOR.df + len(VECTORS) - 1)),
        lambda: vector(posterior=vector_after(df=VECTOR.df + len(VECTORS))),
        term="the update",
    ),
    Slip(
        "Psi_N without the pull of the prior mean",
        "identity",
        lambda: vector(posterior=vector_after(scale=VECTOR.scale + scatter_of(VECTORS))),
        lambda: vector(posterior=vector_after(scale=VECTOR.scale + scatter_of(VECTORS) + pull())),
        term="the update",
    ),
    Slip(
        "precision matrix taken for the covariance",
        "identity",
        lambda: vector_declared(tau=lambda Sigma: Sigma),
        lambda: vector_declared(cov=lambda Sigma: Sigma),
        slow=True,
        term="the likelihood of x",
    ),
    Slip(
        "one degree of freedom more in the declaration",
        "identity",
        lambda: vector_declared(df=5.5),
        lambda: vector_declared(df=4.5),
        slow=True,
        term="the prior of Sigma",
    ),
    Slip(
        "an LKJ prior on top of the inverse-Wishart one",
        "identity",
        lambda: vector_declared(prior=lkj),
        vector_declared,
        slow=True,
        term="the term prior",
    ),
    Slip(
        "kappa left out of the covariance of mu",
        "identity",
        lambda: vector_declared(kappa=1),
        lambda: vector_declared(kappa=0.3),
        slow=True,
        term="the prior of mu",
    ),
    Slip(
        "one covariance learned, one a class declared",
        "identity",
        lambda: discriminant(FULL, posterior=pooled()),
        lambda: discriminant(FULL),
        slow=True,
        term="the update",
    ),
    Slip(
        "evidence of one covariance, one a class declared",
        "identity",
        lambda: discriminant(FULL, log_evidence=discriminant(SHARED).log_evidence),
        lambda: discriminant(SHARED),
        term="the log evidence",
    ),
    Slip(
        "the size of a concept, once for all its examples",
        "identity",
        lambda: concept(model=concept_in_pymc(ONCE)),
        lambda: concept(model=concept_in_pymc(len(EXAMPLES) * ONCE)),
        term="the likelihood of x",
    ),
    Slip(
        "a concept that is impossible in one of the two",
        "identity",
        lambda: concept(model=concept_in_pymc(len(EXAMPLES) * GAME.log_table.max(1))),
        lambda: concept(model=concept_in_pymc(len(EXAMPLES) * ONCE)),
        term="the likelihood of x",
    ),
    # data
    Slip(
        "counts passed as labels",
        "data",
        lambda: read(DIE, [5, 0, 2]),
        lambda: read(DIE, bm.MultinomialCounts([5, 0, 2])),
    ),
    Slip(
        "labels passed as counts",
        "data",
        lambda: read(COLOURS, bm.MultinomialCounts(["red", "red", "blue"])),
        lambda: read(COLOURS, ["red", "red", "blue"]),
    ),
    Slip(
        "counts in the order of another table",
        "data",
        lambda: read(COLOURS, bm.MultinomialCounts(pd.Series({"blue": 1, "green": 2, "red": 3}))),
        lambda: read(COLOURS, bm.MultinomialCounts(pd.Series({"red": 3, "green": 2, "blue": 1}))),
    ),
    Slip(
        "categories counted from one",
        "data",
        lambda: read(DIE, [1, 2, 3]),
        lambda: read(DIE, [0, 1, 2]),
    ),
    Slip(
        "NaN counted as a failure",
        "data",
        lambda: read(COIN, [1.0, np.nan, 0.0]),
        lambda: read(COIN, [1.0, 0.0]),
    ),
    Slip(
        "more successes than trials",
        "data",
        lambda: read(COIN, bm.BinomialCounts([20], [3])),
        lambda: read(COIN, bm.BinomialCounts([3], [20])),
    ),
    Slip(
        "targets sorted, rows not",
        "data",
        lambda: read(LINE, (pd.DataFrame(X), pd.Series(Y).sort_values())),
        lambda: read(LINE, (pd.DataFrame(X), pd.Series(Y))),
    ),
    Slip(
        "a semidefinite precision",
        "data",
        lambda: read(bm.LinearRegression([0, 0], [[1, 1], [1, 1]], 1, 1), (X, Y)),
        lambda: read(bm.LinearRegression([0, 0], [[2, 1], [1, 1]], 1, 1), (X, Y)),
    ),
    # draws
    Slip("draws a tenth too narrow", "sampling", lambda: sampled(w=narrow), sampled),
    Slip("draws shifted by 0.3 sd", "sampling", lambda: sampled(w=shifted), sampled),
    Slip("one chain stuck at the mean", "sampling", lambda: sampled(w=stuck), sampled),
    Slip(
        "one random number for all coefficients",
        "sampling",
        lambda: Work(law=LAW, draws=one_seed()),
        sampled,
    ),
    Slip("dependence between coefficients lost", "sampling", lambda: sampled(w=unrelated), sampled),
    Slip("one chain offset by half a deviation", "sampling", lambda: sampled(w=offset), sampled),
    Slip("a tail of 2.5 % never visited", "sampling", lambda: sampled(w=without_tail), sampled),
    Slip("draws of sigma, not sigma2", "sampling", lambda: sampled(sigma2=np.sqrt), sampled),
    Slip(
        "acceptance by rescaled probabilities",
        "sampling",
        lambda: Work(law=GAME.update(EXAMPLES), draws=visits(rescaled=True)),
        lambda: Work(law=GAME.update(EXAMPLES), draws=visits(rescaled=False)),
    ),
    Slip(
        "normal draws for Student-t ones",
        "sampling",
        lambda: Work(law=FLAT.update((X, Y)), draws=plug_in_draws()),
        lambda: Work(
            law=FLAT.update((X, Y)),
            draws=FLAT.update((X, Y)).to_datatree(rng=np.random.default_rng(5)),
        ),
    ),
    # numbers
    Slip(
        "prediction that knows its parameters",
        "book value",
        lambda: predictive_variance(parameters=False),
        lambda: predictive_variance(parameters=True),
    ),
]
SLIPS = [*PLANTED, *PRINTED]


def plug_in_draws():
    """Return normal draws of w, with sigma2 put at its estimate in their spread."""
    law = FLAT.update((X, Y))
    draws = law.to_datatree(rng=np.random.default_rng(5)).posterior
    noise = np.random.default_rng(6).standard_normal((4, 1000, 2))
    chol = np.linalg.cholesky(np.linalg.inv(law.precision) * law.scale / law.shape)
    return {"sigma2": draws["sigma2"], "w": law.mean()["w"] + noise @ chol.T}
