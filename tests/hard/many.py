"""Very many classes, levels, groups and hypotheses; sources that change or are used up."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

import bayesmodels as bm
from tests.hard import exactly
from tests.hard.case import Case, Refusal
from tests.hard.families import BITS, NUMBERS, TARGET

K = 100_000
ROWS = np.array([0, K - 1, 7, 7, K - 1, 7])
LEVELS = [f"level {k}" for k in range(K)]


def log_ratio(rows, alpha, size):
    """Log evidence of rows of a Dirichlet law of `size` equal pseudo-counts."""
    counts = np.unique(rows, return_counts=True)[1]
    rest = [alpha] * len(counts) + [alpha * (size - len(counts))]
    return exactly.log_rows([*counts, 0], rest)


def levels():
    prior = bm.DirichletCategorical(np.full(K, 0.25))
    named = bm.DirichletCategorical(np.full(K, 0.25), categories=LEVELS)
    case = partial(Case, "many", "100,000 levels")
    exact = partial(log_ratio, ROWS, 0.25, K)
    for how, model, rows in (
        ("codes", prior, ROWS),
        ("names", named, [LEVELS[k] for k in ROWS]),
        ("a category", named, pd.Series([LEVELS[k] for k in ROWS], dtype="category")),
    ):
        yield case(
            "Dirichlet–categorical",
            f"log evidence, {how}",
            partial(model.log_evidence, rows),
            exact,
            1e-10,
        )
    yield case(
        "Dirichlet–categorical",
        "posterior mean and sd of a level",
        lambda: [
            prior.update(ROWS).mean()["theta"][7],
            prior.update(ROWS).marginals()["theta"].std()[7],
        ],
        lambda: [3.25 / 25006, np.sqrt(3.25 * (25006 - 3.25) / (25006**2 * 25007))],
        1e-12,
    )
    yield case(
        "Dirichlet–categorical",
        "draws add up to 1",
        lambda: prior.sample(3, np.random.default_rng(1))["theta"].sum(-1),
        lambda: np.ones(3),
        1e-12,
    )
    yield case(
        "Dirichlet–categorical",
        "an unknown level",
        partial(named.update, ["level x"]),
        Refusal(bm.DataError, "x: "),
    )
    yield case(
        "Dirichlet–categorical",
        "a level given twice",
        partial(bm.DirichletCategorical, np.ones(K), categories=[*LEVELS[:-1], LEVELS[0]]),
        Refusal(bm.DataError, "categories"),
    )
    yield case(
        "naive Bayes, categories",
        "log evidence",
        partial(
            bm.NaiveBayes(bm.DirichletCategorical([1, 1]), prior).log_evidence,
            (ROWS[:, None], [0, 1, 0, 1, 0, 1]),
        ),
        lambda: (
            log_ratio(ROWS[::2], 0.25, K)
            + log_ratio(ROWS[1::2], 0.25, K)
            + exactly.log_rows([3, 3], [1, 1])
        ),
        1e-10,
    )
    words = sparse.csr_array((np.ones(6, int), (np.arange(6), ROWS)), shape=(6, K))
    yield case(
        "naive Bayes, words",
        "log evidence",
        partial(
            bm.NaiveBayes(bm.DirichletCategorical([1, 1]), prior).log_evidence,
            (bm.MultinomialCounts(words), [0, 1, 0, 1, 0, 1]),
        ),
        lambda: (
            log_ratio(ROWS[::2], 0.25, K)
            + log_ratio(ROWS[1::2], 0.25, K)
            + exactly.log_rows([3, 3], [1, 1])
        ),
        1e-10,
    )


def classes():
    case = partial(Case, "many", "100,000 classes")
    many = bm.DirichletCategorical(np.full(K, 0.5))
    of_class = log_ratio(ROWS, 0.5, K)
    x = np.array([[0.0, 1], [1, 1], [1, 0], [1, 1], [0, 0], [1, 0]])
    priors = {
        "naive Bayes, bits": (bm.NaiveBayes(many, bm.BetaBernoulli(1, 2)), bits_by_class),
        "naive Bayes, numbers": (
            bm.NaiveBayes(many, bm.NormalInverseGamma(0, 1, 2, 1)),
            numbers_by_class,
        ),
        "discriminant, full": (
            bm.GaussianDiscriminant(many, bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))),
            vectors_by_class,
        ),
        "discriminant, shared": (
            bm.GaussianDiscriminant(
                many, bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)), "shared"
            ),
            tied_by_class,
        ),
    }
    for name, (prior, law) in priors.items():
        yield case(
            name,
            "log evidence",
            partial(prior.log_evidence, (x, ROWS)),
            lambda law=law: law(x) + of_class,
            1e-10,
            slow=name.startswith("discriminant"),
        )
        yield case(
            name,
            "class probabilities add up to 1",
            lambda prior=prior: prior.update((x, ROWS)).class_probabilities(x[:2]).sum(-1),
            lambda: np.ones(2),
            K * 2.0**-52,  # of a sum of so many
            slow=name != "naive Bayes, bits",
        )
    table = np.full((K, 2), 0.5)
    table[7] = [1.0, 0.0]
    hypotheses = partial(Case, "many", "100,000 hypotheses", "concept learning")
    yield hypotheses(
        "posterior of one",
        lambda: bm.ConceptLearning.from_table(table).update([0] * 20).mean()["h"][7],
        lambda: 1 / (1 + (K - 1) * 0.5**20),
        1e-10,
    )


def bits_by_class(x):
    total = 0
    for c in set(ROWS.tolist()):
        for column in x[c == ROWS].T:
            total += exactly.log_rows([int(column.sum()), int((1 - column).sum())], [1, 2])
    return total


def numbers_by_class(x):
    return sum(
        exactly.normal(column, (0, 1, 2, 1))["evidence"]
        for c in set(ROWS.tolist())
        for column in x[c == ROWS].T
    )


def vectors_by_class(x):
    prior = (np.zeros(2), 1, 4, np.eye(2))
    return sum(exactly.vectors(x[c == ROWS], prior)["evidence"] for c in set(ROWS.tolist()))


def tied_by_class(x):
    labels = np.unique(ROWS, return_inverse=True)[1]
    prior = (np.zeros(2), 1, 4, np.eye(2))
    return exactly.tied(x, labels, np.zeros(2), prior=prior, ratio=[1, 1, 1])[0]


def groups():
    rng = np.random.default_rng(1)
    by = np.concatenate([rng.permutation(K), rng.permutation(K)])
    successes, trials = rng.integers(0, 5, 2 * K), np.full(2 * K, 10)
    data = bm.Grouped(bm.BinomialCounts(successes, trials), by, groups=range(K))
    one = by == 7

    def exact():
        masses = [exactly.log_mass([k, 10 - k], [1, 1]) for k in successes[one][:1]]
        return masses[0] + exactly.log_mass(
            [successes[one][1], 10 - successes[one][1]],
            [1 + successes[one][0], 11 - successes[one][0]],
        )

    yield Case(
        "many",
        "100,000 groups of two rows",
        "Beta–binomial",
        "log evidence of one",
        lambda: bm.BetaBernoulli(1, 1).log_evidence(data)[7],
        exact,
        1e-10,
    )
    yield Case(
        "many",
        "100,000 groups of two rows",
        "normal–inverse-gamma",
        "log evidence of one",
        lambda: bm.NormalInverseGamma(0, 1, 2, 1).log_evidence(
            bm.Grouped(1.0 * successes, by, groups=range(K))
        )[7],
        lambda: exactly.normal(1.0 * successes[one], (0, 1, 2, 1))["evidence"],
        1e-10,
    )


def one_class():
    """All rows of one class, of the model's two; and a class that has none."""
    one = np.zeros(len(TARGET), int)
    two, number = bm.DirichletCategorical([1, 2]), bm.NormalInverseGamma(0, 1, 3, 100)
    case = partial(Case, "many", "rows of one class only")
    yield case(
        "naive Bayes, numbers",
        "log evidence",
        partial(bm.NaiveBayes(two, number).log_evidence, (NUMBERS, one)),
        lambda: (
            exactly.log_rows([24, 0], [1, 2])
            + sum(exactly.normal(column, (0, 1, 3, 100))["evidence"] for column in NUMBERS.T)
        ),
        1e-10,
    )
    yield case(
        "naive Bayes, bits",
        "log evidence",
        partial(bm.NaiveBayes(two, bm.BetaBernoulli(1, 2)).log_evidence, (BITS, one)),
        lambda: (
            exactly.log_rows([24, 0], [1, 2])
            + sum(exactly.log_rows([int(b.sum()), int((1 - b).sum())], [1, 2]) for b in BITS.T)
        ),
        1e-10,
    )
    vector = (np.zeros(2), 1, 5, 100 * np.eye(2))
    for kind in ("full", "shared"):
        yield case(
            f"discriminant, {kind}",
            "log evidence",
            partial(
                bm.GaussianDiscriminant(two, bm.NormalInverseWishart(*vector), kind).log_evidence,
                (NUMBERS, one),
            ),
            lambda: (
                exactly.log_rows([24, 0], [1, 2]) + exactly.vectors(NUMBERS, vector)["evidence"]
            ),
            1e-10,
        )
    logistic = bm.LogisticRegression([0, 0], 1)
    yield case(
        "logistic regression",
        "mle",
        partial(bm.LogisticRegression([0, 0, 0], 1).mle, bm.Design(NUMBERS, one, intercept=True)),
        Refusal(bm.SeparationError, "target"),
    )
    yield case(
        "logistic regression",
        "mode under a prior: gradient there",
        lambda: gradient(logistic.map((BITS, one)).w, BITS, one),
        lambda: np.zeros(2),
        1e-6,
    )
    yield Case(
        "many",
        "one class in all",
        "naive Bayes, numbers",
        "making it",
        partial(bm.DirichletCategorical, [1.0]),
        Refusal(bm.PriorError, "alpha"),
    )


def gradient(w, X, y):
    """Gradient of the log posterior under a standard normal prior."""
    p = 1 / (1 + np.exp(-X @ w))
    return X.T @ (y - p) - w


# --- sources --------------------------------------------------------------------------------------


def written(*columns):
    folder = Path(tempfile.mkdtemp())
    for place, column in enumerate(columns):
        pq.write_table(pa.table({"x": column}), folder / f"{place}.parquet")
    return folder / "*.parquet"


def sources():
    number = bm.NormalInverseGamma(0, 1, 2, 1)
    bit = bm.BetaBernoulli(1, 1)
    case = partial(Case, "sources")

    def read(model, source, **more):
        return lambda: bm.scale.statistic(model, source(), columns="x", **more)

    whole = pa.array([1, 2, 3])
    other = {
        "text": pa.array(["a", "b"]),
        "dates": pa.array([1, 2], pa.timestamp("ns")),
        "lists": pa.array([[1], [2]]),
        "null": pa.array([None, 1]),
    }
    for hard, column in other.items():
        yield case(
            f"two Parquet files, the first of whole numbers, the second with {hard}",
            "normal–inverse-gamma",
            "statistic",
            read(number, partial(written, whole, column)),
            Refusal(bm.DataError, "x" if hard == "null" else "source"),
        )
    fine = {
        "int32": pa.array([5, 6], pa.int32()),
        "int8": pa.array([5, 6], pa.int8()),
        "doubles that are whole": pa.array([5.0, 6.0]),
        "no row": pa.array([], pa.int64()),
        "a dictionary": pa.array([5, 6]).dictionary_encode(),
    }
    for hard, column in fine.items():
        rows = [1.0, 2, 3] + ([] if hard == "no row" else [5.0, 6])
        yield case(
            f"two Parquet files, the first of int64, the second of {hard}",
            "normal–inverse-gamma",
            "log evidence",
            lambda column=column: number.log_evidence(
                read(number, partial(written, whole, column))()
            ),
            lambda rows=rows: exactly.normal(rows, (0, 1, 2, 1))["evidence"],
            1e-12,
        )
    yield case(
        "a Parquet file that is cut off",
        "normal–inverse-gamma",
        "statistic",
        read(number, cut_off),
        Refusal(bm.DataError, "source"),
    )
    yield case(
        "no such file",
        "normal–inverse-gamma",
        "statistic",
        read(number, lambda: "/nowhere/*.parquet"),
        Refusal(bm.DataError, "source"),
    )
    for hard, source in {
        "a generator already consumed": lambda: used_up([pd.DataFrame({"x": [0, 1]})]),
        "an empty list of chunks": list,
    }.items():
        yield case(
            hard,
            "Beta–Bernoulli",
            "statistic",
            read(bit, source),
            Refusal(bm.DataError, "source"),
        )

    def chunks():
        return iter([pd.DataFrame({"x": NUMBERS[:, 0], "y": TARGET})])

    yield case(
        "an iterator, where rows are read more than once",
        "logistic regression",
        "map",
        lambda: bm.scale.map(bm.LogisticRegression([0], 1), chunks(), target="y"),
        Refusal(bm.DataError, "source"),
    )
    yield case(
        "a chunk of other columns",
        "linear regression",
        "statistic",
        lambda: bm.scale.statistic(
            bm.LinearRegression.flat(["a"]),
            [pd.DataFrame({"a": [1.0], "y": [1.0]}), pd.DataFrame({"b": [1.0], "y": [1.0]})],
            target="y",
        ),
        Refusal(bm.DataError, "chunk 1"),
    )
    yield case(
        "a chunk of another type",
        "Dirichlet–categorical",
        "statistic",
        lambda: bm.scale.statistic(
            bm.DirichletCategorical([1, 1, 1]),
            [pd.DataFrame({"x": [0, 1]}), pd.DataFrame({"x": ["0", "1"]})],
            columns="x",
        ),
        Refusal(bm.DataError, "chunk 1"),
    )


def used_up(chunks):
    found = (chunk for chunk in chunks)
    for _ in found:
        pass
    return found


def cut_off():
    path = written(pa.array(range(1000)))
    (file,) = path.parent.glob("*.parquet")
    file.write_bytes(file.read_bytes()[:-20])
    return file


def cases():
    yield from levels()
    yield from classes()
    yield from groups()
    yield from one_class()
    yield from sources()
