"""The one table of priors and data over which the contract is tested.

A case knows how to take some of its rows, in any order, in the container that the case is about,
and the log probability that a belief gives to one next row, by its predictive law. Everything else
is asked of the belief itself, so that the tests need not know which model they are testing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import bayesmodels as bm

Rows = Sequence[int]


@dataclass(frozen=True)
class Case:
    """A prior and data that it can be updated with.

    Attributes
    ----------
    id : str
        Shown in the names of the tests.
    prior : Belief
        May be improper.
    rows : int
        Number of rows.
    take : callable
        From numbers of rows to data that hold these rows, in this order.
    next_row : callable
        From a belief and data of one row to the log predictive density of that row.
    members : callable, optional
        For a batch: the separate problems, as pairs of prior and data.
    warm_up : int
        Number of leading rows after which the belief is proper; 0 for a proper prior.
    offset : float
        How far from zero rows are, in units of their deviation. Means are doubles.
    """

    id: str
    prior: Any
    rows: int
    take: Callable[[Rows], Any]
    next_row: Callable[[Any, Any], float]
    members: Callable[[], list[tuple[Any, Any]]] | None = None
    warm_up: int = 0
    offset: float = 0

    @property
    def rounding(self):
        """What updates in another order may change: twelve digits, or all that an offset leaves."""
        return max(1e-12, 4e-16 * self.offset)

    @property
    def data(self):
        """All rows."""
        return self.take(range(self.rows))

    @property
    def start(self):
        """The prior, or the first proper belief after it."""
        return self.prior.update(self.take(range(self.warm_up)))

    @property
    def rest(self):
        """The rows that `start` has not seen."""
        return self.take(range(self.warm_up, self.rows))

    @property
    def log_evidence(self):
        """Log evidence of all rows; None under an improper prior."""
        return None if self.warm_up else float(np.sum(self.prior.log_evidence(self.data)))


# --- Bernoulli and binomial -----------------------------------------------------------------------

BITS = np.array([1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0])
GROUPS = np.array(list("abbacaabbcab"))
SUCCESSES, TRIALS = np.array([3, 0, 8, 2, 5]), np.array([20, 1, 9, 2, 30])
ARMS = np.array(["new", "old", "new", "old", "old"])
TABLE = pd.DataFrame(
    {"old": [1, 0, 0, 1, 0, 0], "new": [1, 1, 0, 1, 1, 1], "none": [0, 0, 0, 0, 0, 1]},
    index=["ann", "bob", "cy", "dee", "eve", "fay"],
)


def next_bit(belief, row):
    return belief.predictive().logpmf(np.asarray(row)).sum()


def next_count(belief, row):
    return belief.predictive(row.trials).logpmf(row.successes).sum()


def next_bit_in_group(belief, row):
    group = belief.coords["group"].index(row.by[0])
    return belief.predictive().logpmf(row.rows[0])[group]


def next_count_in_group(belief, row):
    group = belief.coords["group"].index(row.by[0])
    return belief.predictive(row.rows.trials).logpmf(row.rows.successes)[group]


BERNOULLI = [
    Case("bits", bm.BetaBernoulli(2, 2), 12, lambda i: BITS[list(i)].tolist(), next_bit),
    Case(
        "binomial counts",
        bm.BetaBernoulli(0.5, 3.5),
        5,
        lambda i: bm.BinomialCounts(SUCCESSES[list(i)], TRIALS[list(i)]),
        next_count,
    ),
    Case(
        "bits in groups",
        bm.BetaBernoulli(1, 2),
        12,
        lambda i: bm.Grouped(BITS[list(i)] == 1, GROUPS[list(i)], groups=["a", "b", "c", "none"]),
        next_bit_in_group,
        lambda: [(bm.BetaBernoulli(1, 2), BITS[g == GROUPS]) for g in ["a", "b", "c", "none"]],
    ),
    Case(
        "counts in groups with a prior each",
        bm.BetaBernoulli([1, 30], [2, 0.1], coords={"group": ["new", "old"]}),
        5,
        lambda i: bm.Grouped(
            bm.BinomialCounts(SUCCESSES[list(i)], TRIALS[list(i)]),
            ARMS[list(i)],
            groups=["new", "old"],
        ),
        next_count_in_group,
        lambda: [
            (
                bm.BetaBernoulli(*prior),
                bm.BinomialCounts(SUCCESSES[arm == ARMS], TRIALS[arm == ARMS]),
            )
            for arm, prior in {"new": (1, 2), "old": (30, 0.1)}.items()
        ],
    ),
    Case(
        "a frame of bits",
        bm.BetaBernoulli(1, 1),
        6,
        lambda i: TABLE.iloc[list(i)],
        next_bit,
        lambda: [(bm.BetaBernoulli(1, 1), TABLE[name]) for name in TABLE],
    ),
    Case(
        "a matrix of bits with extreme priors",
        bm.BetaBernoulli([0.01, 1e6, 3], [0.02, 1e4, 1e-3]),
        6,
        lambda i: TABLE.to_numpy(dtype=np.uint8)[list(i)],
        next_bit,
        lambda: [
            (bm.BetaBernoulli(a, b), TABLE[name])
            for name, a, b in zip(TABLE, [0.01, 1e6, 3], [0.02, 1e4, 1e-3], strict=True)
        ],
    ),
]

# --- categorical and multinomial ------------------------------------------------------------------

CODES = np.array([0, 2, 2, 1, 2, 0, 2, 2, 3, 2])
SIZES = ["S", "M", "L"]
WORDS = np.array(["L", "S", "L", "L", "M", "L", "S", "M", "L"])
SHOPS = np.array([2, 1, 2, 1, 1, 2, 2, 1, 1])
COUNTS = np.array([[5, 0, 2], [1, 1, 1], [0, 0, 4], [10, 3, 0]])
PAIRS = np.array([[0, 1], [0, 0], [1, 1], [2, 1], [0, 0], [0, 1], [1, 0]])


def next_category(belief, row):
    probability = belief.predictive().mean()
    codes = np.asarray(row)[0]
    return np.log(np.take_along_axis(probability, codes[..., None], -1)).sum()


def next_word(belief, row):
    return next_category(belief, np.array([belief.categories.index(row[0])]))


def next_table(belief, row):
    counts = np.asarray(row.counts)
    return belief.predictive(counts.sum(-1)).logpmf(counts).sum()


def next_word_in_group(belief, row):
    group = belief.coords["group"].index(row.by[0])
    return np.log(belief.mean()["theta"][group, belief.categories.index(row.rows[0])])


CATEGORICAL = [
    Case(
        "category numbers",
        bm.DirichletCategorical([1, 0.5, 2, 0.1]),
        10,
        lambda i: CODES[list(i)].astype(np.int8),
        next_category,
    ),
    Case(
        "labels",
        bm.DirichletCategorical([1, 1, 1], categories=SIZES),
        9,
        lambda i: pl.Series(WORDS[list(i)].tolist(), dtype=pl.String),
        next_word,
    ),
    Case(
        "multinomial counts",
        bm.DirichletCategorical([0.3, 4, 1e3], categories=SIZES),
        4,
        lambda i: bm.MultinomialCounts(pd.DataFrame(COUNTS[list(i)], columns=SIZES)),
        next_table,
    ),
    Case(
        "labels in groups",
        bm.DirichletCategorical([1, 2, 3], categories=SIZES),
        9,
        lambda i: bm.Grouped(WORDS[list(i)], SHOPS[list(i)], groups=[1, 2]),
        next_word_in_group,
        lambda: [
            (bm.DirichletCategorical([1, 2, 3], categories=SIZES), WORDS[shop == SHOPS])
            for shop in (1, 2)
        ],
    ),
    Case(
        "two columns of category numbers",
        bm.DirichletCategorical([[1, 1, 1], [0.5, 2, 9]], coords={"feature": ["u", "v"]}),
        7,
        lambda i: pa.table({"u": PAIRS[list(i), 0], "v": PAIRS[list(i), 1]}),
        lambda belief, row: next_category(belief, np.column_stack([row["u"], row["v"]])),
        lambda: [
            (bm.DirichletCategorical([1, 1, 1]), PAIRS[:, 0]),
            (bm.DirichletCategorical([0.5, 2, 9]), PAIRS[:, 1]),
        ],
    ),
]

# --- linear regression ----------------------------------------------------------------------------

_RNG = np.random.default_rng(20260101)
X = _RNG.normal(size=(9, 2)) * [1, 30]
Y = X @ [2.0, -0.1] + 0.5 * _RNG.normal(size=9)
TARGETS = np.column_stack([Y, 100 - Y, Y**2])
MATRIX = np.array([[2.0, 0.7], [0.7, 0.5]])
FRAME = pd.DataFrame(X, columns=["age", "dose"]).assign(outcome=50 + Y)


def design(i):
    return X[list(i)], Y[list(i)]


def next_target(belief, row):
    features, target = row
    return belief.predictive(features).logpdf(target).sum()


def next_target_in_frame(belief, row):
    return belief.predictive(row.features, intercept=True).logpdf(row.target).sum()


REGRESSION = [
    Case(
        "regression with a diagonal prior",
        bm.LinearRegression([1, 0], np.diag([0.1, 4]), 2, 1),
        9,
        design,
        next_target,
    ),
    Case(
        "regression with a full prior",
        bm.LinearRegression([1, -1], MATRIX, 1.5, 0.2),
        9,
        design,
        next_target,
    ),
    Case(
        "regression with a g-prior",
        bm.LinearRegression.g_prior(X, g=9, shape=3, scale=2),
        9,
        design,
        next_target,
    ),
    Case(
        "regression with a flat prior",
        bm.LinearRegression.flat(2),
        9,
        design,
        next_target,
        warm_up=4,
    ),
    Case(
        "regression with a half flat prior",
        bm.LinearRegression([0, 3], np.diag([0, 2]), 1, 1),
        9,
        design,
        next_target,
        warm_up=2,
    ),
    Case(
        "regression on a frame",
        bm.LinearRegression([50, 0, 0], 0.01, 2, 1, features=["intercept", "age", "dose"]),
        9,
        lambda i: bm.Design.from_frame(FRAME.iloc[list(i)], "outcome", intercept=True),
        next_target_in_frame,
    ),
    Case(
        "regressions of three targets",
        bm.LinearRegression([[0, 0], [1, 1], [2, 2]], 0.1, [1, 2, 3], 1),
        9,
        lambda i: (X[list(i)], TARGETS[list(i)]),
        next_target,
        lambda: [
            (bm.LinearRegression([k, k], 0.1, k + 1, 1), (X, TARGETS[:, k])) for k in range(3)
        ],
    ),
]

# --- rates of events ------------------------------------------------------------------------------

EVENTS = np.array([3, 0, 5, 2, 7, 1, 0, 4])
EXPOSURES = np.array([1.0, 0.5, 2.0, 1.0, 3.5, 0.25, 1.0, 2.0])
SITES = np.array(list("nsnnssnn"))
DAYS = pd.DataFrame({"calls": EVENTS, "visits": EVENTS[::-1] * 100})


TIMES = np.array([6.0, 0.25, 13, 9, 40, 2.5, 7, 10])
ENDED = np.array([1, 1, 0, 1, 0, 1, 1, 0])


def next_waiting(belief, row):
    law = belief.predictive()
    return law.logpdf(row.times) if row.observed[0] else law.logsf(row.times)


def next_events(belief, row):
    exposure = row.exposure if isinstance(row, bm.Counts) else 1
    return belief.predictive(exposure).logpmf(getattr(row, "values", row)).sum()


def next_events_in_group(belief, row):
    group = belief.coords["group"].index(row.by[0])
    return belief.predictive(row.rows.exposure).logpmf(row.rows.values)[group]


RATES = [
    Case("events", bm.GammaPoisson(2, 0.5), 8, lambda i: EVENTS[list(i)], next_events),
    Case(
        "events with exposures",
        bm.GammaPoisson(0.3, 0.1),
        8,
        lambda i: bm.Counts(EVENTS[list(i)], EXPOSURES[list(i)]),
        next_events,
    ),
    Case(
        "events in groups",
        bm.GammaPoisson(2, 1),
        8,
        lambda i: bm.Grouped(
            bm.Counts(EVENTS[list(i)], EXPOSURES[list(i)]), SITES[list(i)], groups=["n", "s", "-"]
        ),
        next_events_in_group,
        lambda: [
            (bm.GammaPoisson(2, 1), bm.Counts(EVENTS[site == SITES], EXPOSURES[site == SITES]))
            for site in "ns-"
        ],
    ),
    Case(
        "two columns of events",
        bm.GammaPoisson([1, 50], [1, 0.2]),
        8,
        lambda i: DAYS.iloc[list(i)],
        lambda belief, row: belief.predictive().logpmf(row.to_numpy()).sum(),
        lambda: [
            (bm.GammaPoisson(1, 1), DAYS["calls"]),
            (bm.GammaPoisson(50, 0.2), DAYS["visits"]),
        ],
    ),
    Case(
        "waiting times",
        bm.GammaExponential(2, 5),
        8,
        lambda i: TIMES[list(i)],
        lambda belief, row: belief.predictive().logpdf(row).sum(),
    ),
    Case(
        "waiting times that were cut short",
        bm.GammaExponential(0.4, 3),
        8,
        lambda i: bm.Censored(TIMES[list(i)], ENDED[list(i)]),
        next_waiting,
    ),
    Case(
        "waiting times in groups",
        bm.GammaExponential(2, 1),
        8,
        lambda i: bm.Grouped(
            bm.Censored(TIMES[list(i)], ENDED[list(i)]), SITES[list(i)], groups=["n", "s", "-"]
        ),
        lambda belief, row: next_waiting(belief, row.rows)[belief.coords["group"].index(row.by[0])],
        lambda: [
            (bm.GammaExponential(2, 1), bm.Censored(TIMES[site == SITES], ENDED[site == SITES]))
            for site in "ns-"
        ],
    ),
]

# --- normal ---------------------------------------------------------------------------------------

HEIGHTS = np.array([171.5, 166.0, 180.25, 175.0, 169.5, 190.0, 158.75])
SEXES = np.array(list("fmfmmfm"))
PRIOR = bm.NormalInverseGamma(mean=170, kappa=0.1, shape=3, scale=200)


def next_number(belief, row):
    return belief.predictive().logpdf(np.asarray(row)).sum()


def next_number_in_group(belief, row):
    group = belief.coords["group"].index(row.by[0])
    return belief.predictive().logpdf(row.rows[0])[group]


NORMAL = [
    Case("measurements", PRIOR, 7, lambda i: HEIGHTS[list(i)], next_number),
    Case(
        "measurements far from zero",
        bm.NormalInverseGamma(1e6, 2, 3, 4),
        7,
        lambda i: 1e6 + HEIGHTS[list(i)] - 170,
        next_number,
        offset=1e6,
    ),
    Case(
        "measurements in groups",
        PRIOR,
        7,
        lambda i: bm.Grouped(HEIGHTS[list(i)], SEXES[list(i)], groups=["f", "m", "none"]),
        next_number_in_group,
        lambda: [(PRIOR, HEIGHTS[sex == SEXES]) for sex in ["f", "m", "none"]],
    ),
    Case(
        "a frame of measurements",
        bm.NormalInverseGamma([0, 1, 2], [1, 2, 3], [2, 3, 4], [1, 10, 100]),
        9,
        lambda i: FRAME.iloc[list(i)],
        next_number,
        lambda: [
            (bm.NormalInverseGamma(k, k + 1, k + 2, 10**k), FRAME[name])
            for k, name in enumerate(FRAME)
        ],
    ),
]

# --- naive Bayes ----------------------------------------------------------------------------------

LABELS = np.array(["ham", "spam", "ham", "spam", "spam", "ham"])
CLASSES = bm.DirichletCategorical([1, 2], categories=["ham", "spam"])
ABSENT = bm.DirichletCategorical([1, 1, 0.5], categories=["ham", "spam", "eggs"])
DOCUMENTS = np.array([[2, 0, 1], [0, 5, 0], [1, 1, 1], [0, 3, 2], [0, 0, 0], [7, 0, 0]])
PATIENTS = pd.DataFrame(
    {
        "smoker": [True, False, None, True, False, True],
        "stage": ["I", None, "II", "II", "I", "III"],
        "age": [61.0, 35.0, 58.0, np.nan, 44.0, 70.0],
        "size": [2.5, 0.1, np.nan, 1.5, 3.0, 1.0],
    }
)
MIXED = {
    "smoker": bm.BetaBernoulli(1, 3),
    "stage": bm.DirichletCategorical([1, 0.5, 2], categories=["I", "II", "III"]),
    "measured": (bm.NormalInverseGamma([50, 1], [0.1, 1], 3, [100, 2]), ["age", "size"]),
}


def next_classified(belief, row):
    features, target = row
    joint = belief.log_joint(features)
    return joint[0, belief.classes.categories.index(target[0])]


NAIVE_BAYES = [
    Case(
        "naive Bayes of bits",
        bm.NaiveBayes(CLASSES, bm.BetaBernoulli(1, 2)),
        6,
        lambda i: (TABLE.iloc[list(i)].reset_index(drop=True), LABELS[list(i)]),
        next_classified,
    ),
    Case(
        "naive Bayes with a class that has no rows",
        bm.NaiveBayes(ABSENT, bm.NormalInverseGamma(0, 1, 3, [1, 2])),
        6,
        lambda i: (X[list(i)], LABELS[list(i)]),
        next_classified,
    ),
    Case(
        "naive Bayes of mixed features with missing cells",
        bm.NaiveBayes(CLASSES, MIXED),
        6,
        lambda i: (PATIENTS.iloc[list(i)].reset_index(drop=True), LABELS[list(i)]),
        next_classified,
    ),
    Case(
        "a bag of words",
        bm.NaiveBayes(CLASSES, bm.DirichletCategorical([1, 0.5, 2], categories=SIZES)),
        6,
        lambda i: (bm.MultinomialCounts(DOCUMENTS[list(i)]), LABELS[list(i)]),
        next_classified,
    ),
]

# --- normal vectors -------------------------------------------------------------------------------

VECTORS = _RNG.normal(size=(8, 2)) @ [[2.0, 0.0], [1.5, 0.7]] + [3, -1]
KINDS = np.array(list("abbacabb"))
VECTOR_PRIOR = bm.NormalInverseWishart([0, 0], 0.5, 12, [[2, 0.5], [0.5, 1]])
TIED = bm.SharedNormalInverseWishart(np.zeros((3, 2)), [0.5, 1, 2], 12, [[2, 0.5], [0.5, 1]])
RATIOS = bm.SharedNormalInverseWishart(
    np.ones((3, 2)), 1, 6.5, [[3, 1], [1, 1]], ratio=[1, 4, 0.25], features=["u", "v"]
)


def by_kind(i):
    return bm.Grouped(VECTORS[list(i)], KINDS[list(i)], groups=["a", "b", "c"])


def next_vector(belief, row):
    return belief.predictive().logpdf(row[0])


def next_vector_of_kind(belief, row):
    kind = next(iter(belief.coords.values())).index(row.by[0])
    return belief.log_predictive(np.asarray(row.rows))[0, kind]


VECTORS_OF_NUMBERS = [
    Case("vectors", VECTOR_PRIOR, 8, lambda i: VECTORS[list(i)], next_vector),
    Case(
        "vectors far from zero",
        bm.NormalInverseWishart([1e6, -1e6], 2, 6.5, [[2, -0.5], [-0.5, 1]]),
        8,
        lambda i: VECTORS[list(i)] + [1e6, -1e6],
        next_vector,
        offset=1e6,
    ),
    Case(
        "vectors in groups",
        VECTOR_PRIOR,
        8,
        lambda i: bm.Grouped(VECTORS[list(i)], KINDS[list(i)], groups=["a", "b", "c", "none"]),
        next_vector_of_kind,
        lambda: [(VECTOR_PRIOR, VECTORS[kind == KINDS]) for kind in ["a", "b", "c", "none"]],
    ),
    Case("vectors with one covariance", TIED, 8, by_kind, next_vector_of_kind),
    Case(
        "vectors with proportional covariances",
        RATIOS,
        8,
        lambda i: bm.Grouped(
            pd.DataFrame(VECTORS[list(i)], columns=["u", "v"]),
            KINDS[list(i)],
            groups=["a", "b", "c"],
        ),
        next_vector_of_kind,
    ),
]

# --- Gaussian discriminants -----------------------------------------------------------------------


def spam(i):
    return X[list(i)], LABELS[list(i)]


NORMAL_VECTOR = bm.NormalInverseWishart([0, 0], 0.5, 12, [[2, 0.5], [0.5, 100]])

DISCRIMINANTS = [
    Case(
        "a discriminant with full covariances",
        bm.GaussianDiscriminant(ABSENT, NORMAL_VECTOR),
        6,
        spam,
        next_classified,
    ),
    Case(
        "a discriminant with one covariance",
        bm.GaussianDiscriminant(CLASSES, NORMAL_VECTOR, "shared"),
        6,
        spam,
        next_classified,
    ),
    Case(
        "a discriminant with proportional covariances",
        bm.GaussianDiscriminant(CLASSES, NORMAL_VECTOR, "proportional", ratio=3),
        6,
        spam,
        next_classified,
    ),
    Case(
        "a discriminant with diagonal covariances",
        bm.GaussianDiscriminant(CLASSES, bm.NormalInverseGamma([0, 0], 1, 6, [1, 9]), "diagonal"),
        6,
        spam,
        next_classified,
    ),
]

# --- finitely many hypotheses ---------------------------------------------------------------------

WEATHER = pd.DataFrame(
    {"sun": [0.7, 0.1, 0.0], "rain": [0.2, 0.5, 1.0], "snow": [0.1, 0.4, 0.0]},
    index=["summer", "winter", "flood"],
)
SKIES = ["sun", "snow", "rain", "sun", "rain"]
EXAMPLES = [2, 8, "not 5", 2]


def next_outcome(belief, row):
    return belief.predictive().logpmf(next(iter(row)))


CONCEPTS = [
    Case(
        "the number game",
        bm.ConceptLearning.number_game([0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.4, 0.05, 0.05]),
        2,
        lambda i: np.array([16, 64])[list(i)],
        next_outcome,
    ),
    Case(
        "a concept with negative examples",
        bm.ConceptLearning(
            {"even": {2, 4, 6, 8}, "powers": {2, 4, 8}, "large": lambda x: x > 4, "all": range(9)},
            {"all": 0.1, "even": 0.4, "powers": 0.3, "large": 0.2},
            items=range(9),
            sampling="weak",
        ),
        4,
        lambda i: [EXAMPLES[k] for k in i],
        next_outcome,
    ),
    Case(
        "a table of outcomes",
        bm.ConceptLearning.from_table(WEATHER, [0.5, 0.5, 0]),
        5,
        lambda i: pl.Series([SKIES[k] for k in i], dtype=pl.String),
        next_outcome,
    ),
]

# --- mixtures: classes that are not known, or not all of them -------------------------------------

SOME_LABELS = np.array([None if i % 2 else label for i, label in enumerate(LABELS)], dtype=object)


def next_unclassified(belief, data):
    return belief.log_predictive(data).sum()


def next_half_classified(belief, data):
    rows, (label,) = data
    joint = belief.log_joint(rows)[0]
    if label is None:
        return np.logaddexp.reduce(joint)
    return joint[belief.coords["class"].index(label)]


MIXTURES = [
    Case(
        "a mixture of bits",
        bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(1, 2)),
        6,
        lambda i: TABLE.iloc[list(i)].reset_index(drop=True),
        next_unclassified,
    ),
    Case(
        "a mixture of mixed features with missing cells and half of the classes",
        bm.NaiveBayesMixture(CLASSES, MIXED),
        6,
        lambda i: (PATIENTS.iloc[list(i)].reset_index(drop=True), SOME_LABELS[list(i)]),
        next_half_classified,
    ),
    Case(
        "a mixture of bags of words",
        bm.NaiveBayesMixture(CLASSES, bm.DirichletCategorical([1, 0.5, 2], categories=SIZES)),
        5,
        lambda i: bm.MultinomialCounts(DOCUMENTS[list(i)]),
        next_unclassified,
    ),
]

FAMILIES = [
    BERNOULLI,
    CATEGORICAL,
    REGRESSION,
    NORMAL,
    RATES,
    NAIVE_BAYES,
    VECTORS_OF_NUMBERS,
    DISCRIMINANTS,
    CONCEPTS,
    MIXTURES,
]
CASES = [case for family in FAMILIES for case in family]
