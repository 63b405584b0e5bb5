"""Models with rows of their own kind, and with rows that they do not fit: 200, unless said."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pymc as pm

import bayesmodels as bm

Rng = np.random.Generator
ROWS = 200
POISSON, WAITS = bm.GammaPoisson(1, 1), bm.GammaExponential(1, 1)
SHARE, NORMAL = bm.BetaBernoulli(1, 1), bm.NormalInverseGamma(0, 1, 1, 1)
VECTOR = bm.NormalInverseWishart(np.zeros(3), 1, 5, np.eye(3))
LINE = bm.LinearRegression.flat(4)
LOGIT = bm.LogisticRegression(np.zeros(4), 5)
ABC = tuple("abc")


class Case(NamedTuple):
    """A model, how its rows are drawn, and a grouping that it leaves out, if any."""

    model: Any
    data: Callable[[Rng], Any]
    by: Any = None


def groups(number: int, n: int = ROWS) -> np.ndarray:
    return np.arange(n) % number


def columns(rng: Rng, n: int = ROWS, p: int = 3) -> np.ndarray:
    return rng.normal(size=(n, p))


def line(X: np.ndarray, noise: np.ndarray) -> bm.Design:
    return bm.Design(X, X @ np.array([1.0, 2, -1]) + noise, intercept=True)


def logit(X: np.ndarray, score: np.ndarray, rng: Rng) -> bm.Design:
    return bm.Design(X, (rng.random(len(X)) < 1 / (1 + np.exp(-score))).astype(int), intercept=True)


def walk(rng: Rng, rho: float, n: int = ROWS) -> np.ndarray:
    """Return an autoregression with standard deviation one."""
    x = np.empty(n)
    x[0] = rng.normal()
    for k in range(1, n):
        x[k] = rho * x[k - 1] + np.sqrt(1 - rho**2) * rng.normal()
    return x


def sticky(rng: Rng, values: int, stay: float, n: int = ROWS) -> np.ndarray:
    x = rng.integers(0, values, n)
    for k in range(1, n):
        x[k] = x[k - 1] if rng.random() < stay else x[k]
    return x


def bayes(features: Any) -> bm.NaiveBayes:
    return bm.NaiveBayes(bm.DirichletCategorical(np.ones(3), ABC), features)


def three_classes(rng: Rng, noise: Callable[[tuple[int, int]], np.ndarray]) -> Any:
    codes = rng.integers(0, 3, ROWS)
    x = pd.DataFrame(
        2.0 * codes[:, None] * [1, -1, 0.5] + noise((ROWS, 3)), columns=["u", "v", "w"]
    )
    return x, np.array(ABC)[codes]


def numbers_of_classes(rng: Rng, rho: float = 0.0, shuffled: float = 0.0) -> Any:
    shape = rho * np.ones((3, 3)) + (1 - rho) * np.eye(3)
    x, y = three_classes(rng, lambda s: rng.multivariate_normal(np.zeros(3), shape, s[0]))
    other = rng.random(ROWS) < shuffled
    y[other] = rng.permutation(y[other])
    return x, y


def bits_of_classes(rng: Rng, same: float = 0.0) -> Any:
    x, y = three_classes(rng, lambda s: rng.normal(size=s))
    bits = (x > 1).astype(int)
    bits["v"] = np.where(rng.random(ROWS) < same, bits["u"], rng.integers(0, 2, ROWS))
    return bits, y


def binomial(rng: Rng, share: Any, trials: int, n: int = ROWS) -> bm.BinomialCounts:
    return bm.BinomialCounts(rng.binomial(trials, share, n), np.full(n, trials))


def spread_share(rng: Rng, ratio: float, trials: int, n: int = ROWS) -> np.ndarray:
    """Return shares around 0.3, by which counts vary so many times as much as binomial ones."""
    total = (trials - 1) / (ratio - 1) - 1
    return rng.beta(0.3 * total, 0.7 * total, n)


def exposures(rng: Rng) -> bm.Counts:
    exposure = rng.gamma(2, 1, ROWS) + 0.1
    return bm.Counts(rng.poisson(3 * exposure), exposure)


def multinomial(rng: Rng, shares: Any) -> bm.MultinomialCounts:
    return bm.MultinomialCounts(rng.multinomial(20, shares, ROWS))


def overdispersed(rng: Rng, mean: float, ratio: float, n: int = ROWS) -> np.ndarray:
    return rng.negative_binomial(mean / (ratio - 1), 1 / ratio, n)


def with_one(x: np.ndarray, value: float) -> np.ndarray:
    x = np.array(x, dtype=float)
    x[len(x) // 2] = value
    return x


RIGHT: dict[str, Case] = {
    "counts": Case(POISSON, lambda rng: rng.poisson(3, ROWS)),
    "rare counts": Case(POISSON, lambda rng: rng.poisson(0.1, ROWS)),
    "large counts": Case(POISSON, lambda rng: rng.poisson(100, 50)),
    "ten counts": Case(POISSON, lambda rng: rng.poisson(3, 10)),
    "counts with exposures": Case(POISSON, exposures),
    "counts in groups": Case(
        POISSON, lambda rng: bm.Grouped(rng.poisson(1 + 3 * groups(4)), by=groups(4))
    ),
    "counts beside groups": Case(POISSON, lambda rng: rng.poisson(3, ROWS), groups(4)),
    "successes": Case(SHARE, lambda rng: binomial(rng, 0.3, 20)),
    "successes of two": Case(SHARE, lambda rng: binomial(rng, 0.1, 2)),
    "successes in groups": Case(
        SHARE, lambda rng: bm.Grouped(binomial(rng, 0.2 + 0.1 * groups(4), 20), by=groups(4))
    ),
    "ones and zeros": Case(SHARE, lambda rng: (rng.random(ROWS) < 0.3).astype(int)),
    "ones in groups": Case(
        SHARE,
        lambda rng: bm.Grouped((rng.random(ROWS) < 0.2 + 0.1 * groups(4)) * 1, by=groups(4)),
    ),
    "waits": Case(WAITS, lambda rng: rng.exponential(3, ROWS)),
    "twelve waits": Case(WAITS, lambda rng: rng.exponential(3, 12)),
    "waits in groups": Case(
        WAITS, lambda rng: bm.Grouped(rng.exponential(1 + groups(4)), by=groups(4))
    ),
    "numbers": Case(NORMAL, lambda rng: rng.normal(3, 2, ROWS)),
    "eight numbers": Case(NORMAL, lambda rng: rng.normal(3, 2, 8)),
    "numbers in groups": Case(
        NORMAL, lambda rng: bm.Grouped(rng.normal(groups(5), 1.0 + groups(5)), by=groups(5))
    ),
    "four columns": Case(NORMAL, lambda rng: rng.normal(3, 2, (ROWS, 4))),
    "vectors": Case(VECTOR, columns),
    "vectors in groups": Case(
        VECTOR, lambda rng: bm.Grouped(columns(rng) + groups(4)[:, None], by=groups(4))
    ),
    "categories": Case(bm.DirichletCategorical(np.ones(4)), lambda rng: rng.integers(0, 4, ROWS)),
    "tables": Case(
        bm.DirichletCategorical(np.ones(3)), lambda rng: multinomial(rng, [0.2, 0.3, 0.5])
    ),
    "line": Case(LINE, lambda rng: line(columns(rng), rng.normal(size=ROWS))),
    "line of ten columns": Case(
        bm.LinearRegression.flat(11),
        lambda rng: bm.Design(columns(rng, 30, 10), rng.normal(size=30), intercept=True),
    ),
    "line of indicators": Case(
        LINE,
        lambda rng: line(np.eye(4)[groups(4)][:, 1:], rng.normal(size=ROWS)),
    ),
    "logit": Case(LOGIT, lambda rng: logit(X := columns(rng), X @ np.array([1.0, 0.5, -1]), rng)),
    "weak logit of sixty": Case(
        LOGIT, lambda rng: logit(X := columns(rng, 60), 0.3 * X[:, 0], rng)
    ),
    "numbers of classes": Case(
        bayes(bm.NormalInverseGamma(np.zeros(3), 1, 1, 1)), numbers_of_classes
    ),
    "bits of classes": Case(bayes(bm.BetaBernoulli(np.ones(3), 1)), bits_of_classes),
    "discriminant": Case(
        bm.GaussianDiscriminant(
            bm.DirichletCategorical(np.ones(3), ABC),
            bm.NormalInverseWishart(np.zeros(3), 1, 5, np.eye(3)),
        ),
        lambda rng: numbers_of_classes(rng, 0.5),
    ),
}

WRONG: dict[str, Case] = {
    "counts vary 1.5 times as much": Case(POISSON, lambda rng: overdispersed(rng, 3, 1.5)),
    "large counts vary 1.5 times as much": Case(POISSON, lambda rng: overdispersed(rng, 100, 1.5)),
    "successes vary 1.5 times as much": Case(
        SHARE, lambda rng: binomial(rng, spread_share(rng, 1.5, 20), 20)
    ),
    "tables vary 1.5 times as much": Case(
        bm.DirichletCategorical(np.ones(3)),
        lambda rng: multinomial(rng, rng.dirichlet(np.array([0.2, 0.3, 0.5]) * 37, ROWS)),
    ),
    "twice as many zeros as the law has": Case(
        POISSON, lambda rng: rng.poisson(2.47, ROWS) * (rng.random(ROWS) > 0.393)
    ),
    "one large count": Case(POISSON, lambda rng: with_one(rng.poisson(3, ROWS), 16)),
    "counts of two groups": Case(POISSON, lambda rng: rng.poisson(2 + 2 * groups(2)), groups(2)),
    "counts that follow each other": Case(
        POISSON, lambda rng: rng.poisson(np.exp(1 + 0.5 * walk(rng, 0.8)))
    ),
    "ones of two groups": Case(
        SHARE, lambda rng: (rng.random(ROWS) < 0.2 + 0.3 * groups(2)) * 1, groups(2)
    ),
    "sticky ones": Case(SHARE, lambda rng: sticky(rng, 2, 0.4)),
    "sticky categories": Case(bm.DirichletCategorical(np.ones(4)), lambda rng: sticky(rng, 4, 0.3)),
    "waits of a Weibull law": Case(WAITS, lambda rng: rng.weibull(1.4, ROWS)),
    "waits that wear off": Case(WAITS, lambda rng: rng.weibull(0.7, ROWS)),
    "waits of two groups": Case(WAITS, lambda rng: rng.exponential(1 + groups(2)), groups(2)),
    "heavy tails": Case(NORMAL, lambda rng: rng.standard_t(3, ROWS)),
    "light tails": Case(NORMAL, lambda rng: rng.random(ROWS)),
    "skewed numbers": Case(NORMAL, lambda rng: rng.gamma(4, 1, ROWS)),
    "one outlier": Case(NORMAL, lambda rng: with_one(rng.normal(size=ROWS), 6)),
    "numbers of two modes": Case(NORMAL, lambda rng: rng.normal(4 * groups(2))),
    "numbers of two groups": Case(NORMAL, lambda rng: rng.normal(0.7 * groups(2)), groups(2)),
    "numbers that follow each other": Case(NORMAL, lambda rng: walk(rng, 0.4)),
    "vectors with heavy tails": Case(VECTOR, lambda rng: rng.standard_t(4, (ROWS, 3))),
    "a bent line": Case(
        LINE,
        lambda rng: line(X := columns(rng), 0.4 * X[:, 0] ** 2 + rng.normal(size=ROWS)),
    ),
    "a line that spreads": Case(
        LINE,
        lambda rng: line(X := columns(rng), np.exp(0.4 * X[:, 1]) * rng.normal(size=ROWS)),
    ),
    "a line with heavy tails": Case(LINE, lambda rng: line(columns(rng), rng.standard_t(3, ROWS))),
    "a line with one outlier": Case(
        LINE, lambda rng: line(columns(rng), with_one(rng.normal(size=ROWS), 6))
    ),
    "a line whose rows follow each other": Case(
        LINE, lambda rng: line(columns(rng), walk(rng, 0.4))
    ),
    "a bent logit": Case(
        LOGIT, lambda rng: logit(X := columns(rng), X[:, 0] + X[:, 0] ** 2 - 1, rng)
    ),
    "features that depend on each other": Case(
        bayes(bm.NormalInverseGamma(np.zeros(3), 1, 1, 1)),
        lambda rng: numbers_of_classes(rng, 0.4),
    ),
    "bits that depend on each other": Case(
        bayes(bm.BetaBernoulli(np.ones(3), 1)),
        lambda rng: bits_of_classes(rng, 0.7),
    ),
    "labels shuffled in a tenth": Case(
        bayes(bm.NormalInverseGamma(np.zeros(3), 1, 1, 1)),
        lambda rng: numbers_of_classes(rng, shuffled=0.1),
    ),
}


def pymc_model(rng: Rng, family: str, *, grouped: bool) -> pm.Model:
    """Return a model of 200 rows, made by itself at middling parameters."""
    x, by = rng.normal(size=ROWS), groups(10)
    score = 1 + 0.3 * x + 0.5 * rng.normal(size=10)[by] * grouped
    with pm.Model() as model:
        eta = pm.Normal("a", 0, 2) + pm.Normal("b", 0, 2) * x
        if grouped:
            eta = eta + pm.Normal("u", 0, pm.HalfNormal("s", 1), shape=10)[by]
        if family == "counts":
            pm.Poisson("y", pm.math.exp(eta), observed=rng.poisson(np.exp(score)))
        elif family == "bits":
            y = (rng.random(ROWS) < 1 / (1 + np.exp(-score))).astype(int)
            pm.Bernoulli("y", logit_p=eta, observed=y)
        else:
            pm.Normal("y", eta, pm.HalfNormal("sd", 2), observed=score + rng.normal(size=ROWS))
    return model


PYMC = {
    "a line of PyMC's": lambda rng: pymc_model(rng, "numbers", grouped=False),
    "counts of PyMC's": lambda rng: pymc_model(rng, "counts", grouped=False),
    "bits of PyMC's": lambda rng: pymc_model(rng, "bits", grouped=False),
    "a line of PyMC's with groups": lambda rng: pymc_model(rng, "numbers", grouped=True),
    "counts of PyMC's with groups": lambda rng: pymc_model(rng, "counts", grouped=True),
}
