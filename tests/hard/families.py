"""Every model with plain rows of whole numbers, and all that is read off what it learns of them.

Rows are float64 arrays in C order of whole numbers, so that any dtype and container can hold them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import bayesmodels as bm

RNG = np.random.default_rng(7)
N = 24
TARGET = np.tile([0, 1, 1, 0], N // 4)
BITS = RNG.integers(0, 2, (N, 2)).astype(float)
CODES = RNG.integers(0, 3, (N, 2)).astype(float)
COUNTS = RNG.integers(0, 100, (N, 3)).astype(float)
NUMBERS = RNG.integers(-127, 128, (N, 2)).astype(float)
Y = RNG.integers(-50, 50, N).astype(float)

CLASSES = bm.DirichletCategorical([1, 2])
NUMBER = bm.NormalInverseGamma(0, 1, 3, 100)
VECTOR = bm.NormalInverseWishart([0, 0], 1, 5, [[200, 50], [50, 100]])
TWO = bm.NormalInverseGamma([0, 0], 1, 3, 100)


@dataclass(frozen=True, eq=False)
class Family:
    """A model and rows for it.

    Attributes
    ----------
    name : str
        As the table calls it.
    kind : str
        What the rows hold: bits, codes, counts or numbers.
    prior : Belief
        Before the rows.
    rows : ndarray
        Plain ones.
    data : callable
        From rows in any container to data of the model.
    argument : str
        What complaints call the rows.
    missing : bool
        Whether a missing cell is integrated out.
    """

    name: str
    kind: str
    prior: Any
    rows: np.ndarray
    data: Callable[[Any], Any]
    argument: str = "x"
    missing: bool = False

    def read(self, rows: Any) -> dict[str, Any]:
        """Return numbers of every kind that the model has to say about rows."""
        return readings(self.prior, self.data(rows))


def as_it_is(rows):
    return rows


def with_target(rows):
    return rows, TARGET


def with_y(rows):
    return rows, Y


def words(rows):
    return bm.MultinomialCounts(rows)


def documents(rows):
    return bm.MultinomialCounts(rows), TARGET


def binomial(rows):
    return bm.BinomialCounts(rows, np.full(N, 100))


def readings(prior, data):
    """Return evidence, posterior means and variances, draws and predictions of its own rows."""
    rng = np.random.default_rng(3)
    if isinstance(prior, bm.LogisticRegression):
        law = prior.laplace(data)
        return {"mean": law.mean(), "var": law.var(), "draws": law.sample(3, rng)}
    after = prior.update(data)
    found = {"evidence": prior.log_evidence(data), "mean": after.mean(), "var": after.var()}
    found["draws"] = after.sample(3, rng)
    if isinstance(prior, (bm.NaiveBayes, bm.GaussianDiscriminant)):
        found["classes"] = after.class_probabilities(data[0])
    elif isinstance(prior, bm.NaiveBayesMixture):
        found["rows"] = after.log_predictive(data)
    elif isinstance(prior, bm.LinearRegression):
        found["rows"] = after.predictive(data[0]).mean()
    return found


def features(name, kind, prior, rows, data=with_target, *, missing=False):
    return Family(name, kind, prior, rows, data, "features", missing)


def families():
    yield Family("Beta–Bernoulli", "bits", bm.BetaBernoulli(2, 3), BITS[:, 0].copy(), as_it_is)
    yield Family(
        "Beta–binomial", "counts", bm.BetaBernoulli(2, 3), COUNTS[:, 0].copy(), binomial, "success"
    )
    three = bm.DirichletCategorical([1, 0.5, 2])
    yield Family("Dirichlet–categorical", "codes", three, CODES[:, 0].copy(), as_it_is)
    yield Family("Dirichlet–multinomial", "counts", three, COUNTS, words, "counts")
    yield Family("normal–inverse-gamma", "numbers", NUMBER, NUMBERS[:, 0].copy(), as_it_is)
    yield Family("normal–inverse-Wishart", "numbers", VECTOR, NUMBERS, as_it_is)
    line = bm.LinearRegression([0, 0], 0.5, 3, 10)
    yield features("linear regression", "numbers", line, NUMBERS, with_y)
    naive = {
        "bits": (bm.BetaBernoulli(1, 2), BITS),
        "categories": (three, CODES),
        "numbers": (NUMBER, NUMBERS),
    }
    for what, (belief, rows) in naive.items():
        kind = "codes" if what == "categories" else what
        prior = bm.NaiveBayes(CLASSES, belief)
        yield features(f"naive Bayes, {what}", kind, prior, rows, missing=True)
    yield features("naive Bayes, vectors", "numbers", bm.NaiveBayes(CLASSES, VECTOR), NUMBERS)
    yield Family(
        "naive Bayes, words", "counts", bm.NaiveBayes(CLASSES, three), COUNTS, documents, "counts"
    )
    kinds = {
        "full": (VECTOR, {}),
        "shared": (VECTOR, {}),
        "proportional": (VECTOR, {"ratio": 4}),
        "diagonal": (TWO, {}),
    }
    for kind, (belief, more) in kinds.items():
        prior = bm.GaussianDiscriminant(CLASSES, belief, kind, **more)
        missing = kind == "diagonal"
        yield features(f"discriminant, {kind}", "numbers", prior, NUMBERS, missing=missing)
    for what, (belief, rows) in naive.items():
        kind = "codes" if what == "categories" else what
        prior = bm.NaiveBayesMixture(CLASSES, belief)
        yield features(f"mixture, {what}", kind, prior, rows[:5].copy(), as_it_is, missing=True)
    yield features("logistic regression", "small", bm.LogisticRegression([0, 0], 4), BITS + CODES)
    concept = bm.ConceptLearning.from_table(
        [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375], [0.25, 0.5, 0.25]], [0.25, 0.25, 0.5]
    )
    yield Family("concept learning", "codes", concept, CODES[:, 0].copy(), as_it_is)


FAMILIES = list(families())
