"""Naive Bayes: against scikit-learn, against brute force, and against all kinds of rows."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse, stats
from scipy.special import logsumexp
from sklearn.compose import make_column_selector
from sklearn.datasets import load_digits, load_iris
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

import bayesmodels as bm
from bayesmodels.models.classifiers.generative import ClassStatistic
from tests.asking import close, complaint

CLASSES = bm.DirichletCategorical([1, 2, 0.5], categories=["a", "b", "c"])
BITS = bm.BetaBernoulli(0.7, 1.5)
STAGES = bm.DirichletCategorical([1, 0.5, 2], categories=["I", "II", "III"])
NUMBERS = bm.NormalInverseGamma([1, -1], [0.5, 2], 2.5, [1, 3])
WORDS = bm.DirichletCategorical([0.5, 1, 0.1, 2], categories=["cat", "dog", "eel", "fox"])
MIXED = {
    "smoker": BITS,
    "stage": STAGES,
    "measured": (NUMBERS, ["age", "size"]),
    "words": (WORDS, bm.MultinomialCounts(["cat", "dog", "eel", "fox"])),
}
MISSING = {"smoker": [2, 5], "stage": [1, 2, 7], "age": [2, 4], "size": [2, 8, 9]}


def mixed_rows(n=12, seed=3):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "smoker": pd.Series(rng.integers(0, 2, n).astype(bool), dtype=object),
            "stage": pd.Series(rng.choice(["I", "II", "III"], n), dtype=object),
            "age": rng.normal(2, 3, n),
            "size": rng.normal(-1, 1, n),
        }
    )
    for column, rows in MISSING.items():
        table.loc[rows, column] = None
    counts = rng.poisson(1.0, (n, 4))
    table[["cat", "dog", "eel", "fox"]] = counts
    return table, rng.choice(["a", "b"], n)


TABLE, LABELS = mixed_rows()
MODEL = bm.NaiveBayes(CLASSES, MIXED)
POSTERIOR = MODEL.update((TABLE, LABELS))
DATA = MODEL.statistic((TABLE, LABELS))


# --- scikit-learn ---------------------------------------------------------------------------------

DIGITS, DIGIT = load_digits(return_X_y=True)
IRIS, SPECIES = load_iris(return_X_y=True)
QUARTILES = np.stack([np.searchsorted(np.quantile(x, [0.25, 0.5, 0.75]), x) for x in IRIS.T], 1)


def bag(n=60, words=40, classes=3, seed=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    shares = rng.dirichlet(np.full(words, 0.3), classes)
    return sparse.csr_array(rng.multinomial(rng.integers(0, 30, n), shares[y])), y


BAG, TOPIC = bag()
FAMILIES = [
    pytest.param(
        bm.BetaBernoulli(0.5, 0.5), BernoulliNB(alpha=0.5), DIGITS > 8, DIGIT, id="bits of digits"
    ),
    pytest.param(
        bm.DirichletCategorical([0.3] * 4),
        CategoricalNB(alpha=0.3, min_categories=4),
        QUARTILES,
        SPECIES,
        id="quartiles of irises",
    ),
    pytest.param(
        bm.DirichletCategorical([0.1] * 40), MultinomialNB(alpha=0.1), BAG, TOPIC, id="bag of words"
    ),
]


@pytest.mark.parametrize(("prior", "theirs", "X", "y"), FAMILIES)
@pytest.mark.parametrize("shares", ["estimated", "given"])
def test_plug_in_at_the_posterior_mean_is_scikit_learn(prior, theirs, X, y, shares):
    size = y.max() + 1
    model = bm.NaiveBayes(bm.DirichletCategorical([1] * size), prior)
    rows = bm.MultinomialCounts(X) if sparse.issparse(X) else X
    posterior = model.update((rows, y))
    known = posterior.mean()
    if shares == "estimated":  # theirs are not smoothed
        known |= {"pi": model.statistic((rows, y)).mle()["pi"]}
        theirs.set_params(class_prior=None) if hasattr(theirs, "class_prior") else None
    else:
        theirs.set_params(class_prior=known["pi"])
    theirs.fit(X, y)
    close(np.log(known["pi"]), theirs.class_log_prior_)
    logs = np.log(known["theta"])
    close(
        logs, np.stack(theirs.feature_log_prob_, 1) if logs.ndim == 3 else theirs.feature_log_prob_
    )
    close(posterior.class_probabilities(rows, parameters=known), theirs.predict_proba(X))
    assert_array_equal(posterior.most_probable_class(rows, known), theirs.predict(X))
    twice = {name: np.stack([value, value]) for name, value in known.items()}  # draws
    assert_array_equal(posterior.most_probable_class(rows, twice), [theirs.predict(X)] * 2)


def test_gaussian_mle_is_scikit_learn():
    model = bm.NaiveBayes(bm.DirichletCategorical([1, 1, 1]), bm.NormalInverseGamma(0, 1, 1, 1))
    mle = model.statistic((IRIS, SPECIES)).mle()
    theirs = GaussianNB(var_smoothing=0).fit(IRIS, SPECIES)
    close(mle["mu"], theirs.theta_)
    close(mle["sigma2"], theirs.var_)
    posterior = model.update((IRIS, SPECIES))
    assert_array_equal(mle["pi"], theirs.class_prior_)
    close(posterior.class_probabilities(IRIS, mle), theirs.predict_proba(IRIS))


def test_mode_is_the_map_of_the_books():
    """Murphy (2012), section 3.5.1: with Beta(2, 2) priors the mode is (N_jc + 1) / (N_c + 2)."""
    X, y = DIGITS[:, 20:30] > 8, DIGIT
    model = bm.NaiveBayes(bm.DirichletCategorical([2] * 10), bm.BetaBernoulli(2, 2))
    mode, n = model.update((X, y)).mode(), np.bincount(y)
    ones = np.stack([X[y == c].sum(0) for c in range(10)])
    close(mode["theta"], (ones + 1) / (n[:, None] + 2))
    close(mode["pi"], (n + 1) / (len(y) + 10))


# --- brute force ----------------------------------------------------------------------------------


def chain(model, posterior_data, row):
    """Log p(c, x | data) of one row by evidences with and without it."""
    without = model.log_evidence(posterior_data)
    labels = model.classes.coords["category"]
    return np.array(
        [model.log_evidence(posterior_data + model.statistic((row, [c]))) - without for c in labels]
    )


@pytest.mark.parametrize("row", range(len(TABLE)))
def test_class_probabilities_are_ratios_of_evidences(row):
    one = TABLE.iloc[[row]].reset_index(drop=True)
    joint = chain(MODEL, DATA, one)
    close(POSTERIOR.log_joint(TABLE)[row], joint, 1e-11)
    close(POSTERIOR.log_joint(one)[0], joint, 1e-11)
    close(POSTERIOR.class_probabilities(TABLE)[row], np.exp(joint - logsumexp(joint)), 1e-11)
    close(POSTERIOR.log_predictive(TABLE)[row], logsumexp(joint), 1e-11)
    best = POSTERIOR.most_probable_class(TABLE)[row]
    assert best == "abc"[joint.argmax()]


def by_hand(parameters, table):
    """Log p(c, x) of every row at known parameters, one factor at a time."""
    result = np.zeros((len(table), 3))
    for i, row in table.iterrows():
        for c in range(3):
            total = np.log(parameters["pi"][c])
            if row.smoker is not None:
                total += stats.bernoulli.logpmf(row.smoker, parameters["theta_smoker"][c])
            if row.stage is not None:
                theta = parameters["theta_stage"][c]
                total += np.log(theta[["I", "II", "III"].index(row.stage)])
            for j, column in enumerate(["age", "size"]):
                if not np.isnan(row[column]):
                    sd = np.sqrt(parameters["sigma2_measured"][c, j])
                    total += stats.norm.logpdf(row[column], parameters["mu_measured"][c, j], sd)
            counts = row[list(WORDS.categories)].to_numpy(int)
            law = stats.multinomial(counts.sum(), parameters["theta_words"][c])
            result[i, c] = total + law.logpmf(counts)
    return result


BALANCED = MODEL.statistic((TABLE, np.resize(["a", "b", "c"], len(TABLE))))

PEAKED = MIXED | {  # every part has a mode
    "smoker": bm.BetaBernoulli(1.7, 2.5),
    "stage": bm.DirichletCategorical([2, 1.5, 3], ["I", "II", "III"]),
    "words": (bm.DirichletCategorical([1.5, 2, 1.1, 3], WORDS.categories), MIXED["words"][1]),
}


@pytest.mark.parametrize("kind", ["mean", "mle", "mode"])
def test_plug_ins_are_products_of_densities(kind):
    posterior = MODEL.update(BALANCED)
    if kind == "mle":
        known = BALANCED.mle()
    elif kind == "mean":
        known = posterior.mean()
    else:
        posterior = bm.NaiveBayes(bm.DirichletCategorical([2, 2, 2], list("abc")), PEAKED)
        posterior = posterior.update(BALANCED)
        known = posterior.mode()
    with np.errstate(divide="ignore"):
        expected = by_hand(known, TABLE)
    close(posterior.log_joint(TABLE, known), expected, 1e-11)
    odds = expected - logsumexp(expected, axis=1, keepdims=True)
    close(posterior.class_probabilities(TABLE, known), np.exp(odds), 1e-11)


def test_draws_may_have_one_sample_axis_or_two():
    draws = POSTERIOR.sample(6, np.random.default_rng(1))
    flat = POSTERIOR.class_probabilities(TABLE, draws)
    assert flat.shape == (6, len(TABLE), 3)
    chains = {name: x.reshape(2, 3, *x.shape[1:]) for name, x in draws.items()}
    assert_array_equal(POSTERIOR.class_probabilities(TABLE, chains).reshape(flat.shape), flat)
    for s in range(6):
        expected = by_hand({name: x[s] for name, x in draws.items()}, TABLE)
        odds = expected - logsumexp(expected, axis=1, keepdims=True)
        close(flat[s], np.exp(odds), 1e-11)


def test_intervals_hold_the_plug_in_and_shrink():
    widths = []
    rows = TABLE[["smoker", "stage", "age", "size", *WORDS.categories]]
    posterior = MODEL
    for _ in range(3):
        for _ in range(4 if widths else 1):
            posterior = posterior.update(BALANCED)
        low, high = posterior.class_probability_interval(rows, rng=np.random.default_rng(2))
        assert low.shape == high.shape == (len(rows), 3)
        widths.append((high - low).mean())
    mean = posterior.class_probabilities(rows, posterior.mean())
    assert ((low <= mean) & (mean <= high)).mean() > 0.9
    assert widths[0] > widths[1] > widths[2]


def test_intervals_are_quantiles_over_seeded_draws():
    found = POSTERIOR.class_probability_interval(
        TABLE, 0.5, draws=200, rng=np.random.default_rng(7)
    )
    draws = POSTERIOR.sample(200, np.random.default_rng(7))
    each = POSTERIOR.class_probabilities(TABLE, draws)
    assert_array_equal(found, np.quantile(each, [0.25, 0.75], axis=0))
    message = complaint(POSTERIOR.class_probability_interval, TABLE, 1.0)
    assert message == "ci_prob: must be strictly between 0 and 1; got 1.0."


# --- before any data ------------------------------------------------------------------------------

SMALL = np.random.default_rng(0).integers(0, 2, (8, 2))
TARGET = np.array(list("aabbccab"))
PRIORS = [
    pytest.param(bm.BetaBernoulli(1, 1), SMALL, id="bits"),
    pytest.param(bm.BetaBernoulli(1, 1), SMALL[:, 0], id="a bit"),
    pytest.param(bm.BetaBernoulli([1, 3], 1), SMALL, id="bits with a prior each"),
    pytest.param(bm.DirichletCategorical([1, 2, 3]), SMALL + 1, id="categories"),
    pytest.param(bm.DirichletCategorical([1, 2, 3]), SMALL[:, 0], id="a category"),
    pytest.param(bm.DirichletCategorical([1, 2]), bm.MultinomialCounts(SMALL), id="words"),
    pytest.param(bm.NormalInverseGamma(0, 1, 2, 1), SMALL + 0.5, id="numbers"),
    pytest.param(bm.NormalInverseGamma(0, 1, 2, 1), SMALL[:, 0] + 0.5, id="a number"),
]


@pytest.mark.parametrize(("features", "X"), PRIORS)
def test_a_prior_predicts(features, X):
    """What was never told apart by data has the prior's probabilities; formerly an IndexError."""
    model = bm.NaiveBayes(CLASSES, features)
    shares = np.tile(CLASSES.mean()["theta"], (8, 1))
    close(model.class_probabilities(X), shares)
    close(model.class_probabilities(X, model.mean()), shares)
    joint = [model.log_evidence((_row(X, 3), [c])) for c in "abc"]
    close(model.log_joint(X)[3], joint, 1e-11)
    close(model.log_predictive(X)[3], logsumexp(joint), 1e-11)
    low, high = model.class_probability_interval(X, 0.5, rng=np.random.default_rng(1))
    assert (high - low > 0.01).all()  # each class has parameters of its own


@pytest.mark.parametrize(("features", "X"), PRIORS)
def test_a_prior_takes_parameters_of_the_posterior(features, X):
    """Codes of a single column were taken for counts: silently wrong probabilities."""
    model = bm.NaiveBayes(CLASSES, features)
    posterior = model.update((X, TARGET))
    known = posterior.mean()
    assert_array_equal(model.class_probabilities(X, known), posterior.class_probabilities(X, known))


def _row(X, i):
    if isinstance(X, bm.MultinomialCounts):
        return bm.MultinomialCounts(X.counts[[i]])
    return X[[i]]


def test_parameters_are_checked():
    known = POSTERIOR.mean()
    wrong = known | {"mu_measured": np.zeros((4, 2))}
    message = complaint(POSTERIOR.class_probabilities, TABLE, wrong)
    assert message == (
        "parameters: mu_measured must have the shape (3, 2) of its axes ('class', "
        "'feature_measured'); got (4, 2)."
    )
    del known["mu_measured"]
    message = complaint(POSTERIOR.class_probabilities, TABLE, known)
    assert message.startswith("parameters: must hold 'mu_measured'; has ['pi', 'theta_smoker', ")


def test_labels_of_any_kind_come_back_as_they_are():
    days = [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")]
    for labels in (days, [3, 4], [1, "u"], [("a", 1), ("b", 2)], ["x", 2.5], [True, "maybe"]):
        model = bm.NaiveBayes(bm.DirichletCategorical([1, 1], categories=labels), BITS)
        target = np.empty(4, dtype=object)
        target[:] = labels * 2
        X = [[1], [0], [1], [0]]
        best = model.update((X, target)).most_probable_class(X).tolist()
        assert best == labels * 2
        assert [type(label) for label in best] == [type(label) for label in labels * 2]


def test_no_rows_make_no_predictions():
    posterior = bm.NaiveBayes(CLASSES, BITS).update((SMALL, TARGET))
    assert posterior.class_probabilities(np.zeros((0, 2))).shape == (0, 3)
    assert posterior.log_predictive(np.zeros((0, 2))).shape == (0,)
    assert posterior.most_probable_class(np.zeros((0, 2))).shape == (0,)
    known = posterior.sample(5, np.random.default_rng(1))
    assert posterior.class_probabilities(np.zeros((0, 2)), known).shape == (5, 0, 3)


# --- missing cells --------------------------------------------------------------------------------


def same_predictions(one, two, rows, others):
    assert_array_equal(one.class_probabilities(rows), two.class_probabilities(others))
    known, without = one.mean(), two.mean()
    assert_array_equal(
        one.class_probabilities(rows, known), two.class_probabilities(others, without)
    )


@pytest.mark.parametrize("block", ["smoker", "stage", "measured"])
def test_a_block_of_missing_cells_is_no_block(block):
    """In training: the belief stays the prior's. In prediction: the factor is dropped."""
    empty = TABLE.copy()
    columns = ["age", "size"] if block == "measured" else [block]
    empty[columns] = None if block != "measured" else np.nan
    dropped = bm.NaiveBayes(CLASSES, {name: part for name, part in MIXED.items() if name != block})
    assert MODEL.log_evidence((empty, LABELS)) == dropped.log_evidence((TABLE, LABELS))
    after = MODEL.update((empty, LABELS))
    nothing = (TABLE.iloc[:0], [])
    assert after.blocks[block].belief == MODEL.update(nothing).blocks[block].belief
    same_predictions(after, dropped.update((TABLE, LABELS)), empty, TABLE)
    same_predictions(POSTERIOR, dropped.update((TABLE, LABELS)), empty, TABLE)


def test_training_with_missing_cells_is_training_on_the_others():
    """Each column is counted over the rows that have it."""
    found = POSTERIOR.blocks["measured"].belief
    for j, column in enumerate(["age", "size"]):
        for c, label in enumerate("ab"):
            x = TABLE[column][label == LABELS].dropna()
            prior = bm.NormalInverseGamma([1, -1][j], [0.5, 2][j], 2.5, [1, 3][j])
            alone = prior.update(x)
            close(found.location[c, j], alone.location)
            close(found.scale[c, j], alone.scale)
            assert found.kappa[c, j] == alone.kappa
            assert found.shape[c, j] == alone.shape
    seen = TABLE["stage"].notna().to_numpy()
    for c, label in enumerate("ab"):
        alone = STAGES.update(TABLE["stage"][seen & (label == LABELS)].tolist())
        assert_array_equal(POSTERIOR.blocks["stage"].belief.alpha[c], alone.alpha)


def test_a_row_without_any_cell_has_the_probabilities_of_the_classes():
    row = pd.DataFrame({"smoker": [None], "stage": [None], "age": [np.nan], "size": [np.nan]})
    row[list(WORDS.categories)] = 0
    close(POSTERIOR.class_probabilities(row)[0], POSTERIOR.classes.mean()["theta"])
    close(POSTERIOR.log_predictive(row), [0])
    known = POSTERIOR.sample(4, np.random.default_rng(1))
    close(POSTERIOR.class_probabilities(row, known)[:, 0], known["pi"])


GAPS = {
    "NaN": lambda x: np.array([np.nan if v is None else v for v in x], dtype=float),
    "None": list,
    "NA": lambda x: [pd.NA if v is None else v for v in x],
    "object": lambda x: np.array(x, dtype=object),
    "masked": lambda x: np.ma.array([v or 0 for v in x], mask=[v is None for v in x]),
    "pandas": lambda x: pd.Series(x, dtype=float),
    "pandas object": lambda x: pd.Series(x, dtype=object),
    "pandas nullable": lambda x: pd.Series(x, dtype="Int64"),
    "pandas boolean": lambda x: pd.Series(x).astype("Int64").astype("boolean"),
    "pandas on Arrow": lambda x: pd.Series(x, dtype="int64[pyarrow]"),
    "polars": lambda x: pl.Series(x, dtype=pl.Int64),
    "polars Boolean": lambda x: pl.Series(x).cast(pl.Boolean),
    "Arrow": lambda x: pa.array(x, type=pa.int64()),
    "Arrow chunks": lambda x: pa.chunked_array([x[:2], x[2:]], type=pa.int64()),
}
LABEL_GAPS = {
    "None": list,
    "NaN": lambda x: [np.nan if v is None else v for v in x],
    "NA": lambda x: [pd.NA if v is None else v for v in x],
    "masked": lambda x: np.ma.array([v or "" for v in x], mask=[v is None for v in x]),
    "pandas": lambda x: pd.Series(x, dtype="str"),
    "pandas object": lambda x: pd.Series(x, dtype=object),
    "pandas string": lambda x: pd.Series(x, dtype="string"),
    "pandas category": lambda x: pd.Series(x, dtype="category"),
    "polars": lambda x: pl.Series(x, dtype=pl.String),
    "polars Categorical": lambda x: pl.Series(x, dtype=pl.Categorical),
    "Arrow": lambda x: pa.array(x, type=pa.string()),
    "Arrow dictionary": lambda x: pa.array(x, type=pa.string()).dictionary_encode(),
}
GAP_ROWS = [1, None, 0, 1, 0, None, 1]
GAP_TARGET = list("aababca")


@pytest.mark.parametrize("container", GAPS)
@pytest.mark.parametrize(
    "belief", [BITS, bm.DirichletCategorical([1, 2]), bm.NormalInverseGamma(0, 1, 2, 1)], ids=repr
)
@pytest.mark.parametrize("whole", [False, True], ids=["some", "all"])
def test_missing_cells_in_any_container(container, belief, whole):
    model = bm.NaiveBayes(CLASSES, belief)
    values = [None] * len(GAP_ROWS) if whole else GAP_ROWS
    rows = GAPS[container](values)
    seen = [i for i, value in enumerate(values) if value is not None]
    after = model.update((rows, GAP_TARGET))
    expected = model.update(
        (np.array([values[i] for i in seen], dtype=int), [GAP_TARGET[i] for i in seen])
    )
    assert after.blocks[""].belief == expected.blocks[""].belief
    found = after.class_probabilities(rows)
    gap = [i for i, value in enumerate(values) if value is None]
    close(found[gap], np.tile(after.classes.mean()["theta"], (len(gap), 1)))
    if not whole:
        close(found[seen], after.class_probabilities([values[i] for i in seen]))


@pytest.mark.parametrize("container", LABEL_GAPS)
def test_missing_labels_of_features_in_any_container(container):
    model = bm.NaiveBayes(CLASSES, STAGES)
    values = ["I", None, "II", "III", "II", None, "I"]
    rows = LABEL_GAPS[container](values)
    after = model.update((rows, GAP_TARGET))
    expected = STAGES.update(
        bm.Grouped(
            [v for v in values if v],
            [y for v, y in zip(values, GAP_TARGET, strict=True) if v],
            groups=["a", "b", "c"],
        )
    )
    assert_array_equal(after.blocks[""].belief.alpha, expected.alpha)
    found = after.class_probabilities(rows)
    close(found[[1, 5]], np.tile(after.classes.mean()["theta"], (2, 1)))


def test_missing_cells_in_frames_of_any_library():
    columns = {"bit": GAP_ROWS, "number": [0.5, 1.0, None, 2.0, None, 3.0, -1.0]}
    frames = [
        pd.DataFrame(columns),
        pd.DataFrame(columns).convert_dtypes(),
        pl.DataFrame(columns),
        pa.table(columns),
        pa.record_batch(columns),
    ]
    model = bm.NaiveBayes(CLASSES, {"bit": BITS, "number": bm.NormalInverseGamma(0, 1, 2, 1)})
    first, *others = (model.update((frame, GAP_TARGET)) for frame in frames)
    assert all(other == first for other in others)
    for frame in frames:
        assert_array_equal(first.class_probabilities(frame), first.class_probabilities(frames[0]))


@pytest.mark.parametrize(
    "categories",
    [[True, False], [1, 2], [1.5, 2.5], [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")]],
    ids=repr,
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_categories_of_any_kind_may_be_missing(categories, frame):
    """Booleans beside a gap used to become the numbers 1.0 and 0.0, which are no category."""
    one, two = categories
    table = frame({"f": [one, None, two, two]})
    model = bm.NaiveBayes(CLASSES, {"f": bm.DirichletCategorical([1, 1], categories)})
    after = model.update((table, list("aaab")))
    assert_array_equal(after.blocks["f"].belief.alpha, [[2, 2], [1, 2], [1, 1]])
    close(after.class_probabilities(table)[1], after.classes.mean()["theta"])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_missing_cells_in_columns_of_several_kinds(frame):
    """NaN of a column of numbers was not seen to be missing beside a column of strings."""
    table = frame({"s": ["u", "v", "u", None], "g": [1, None, 2, 2]})
    levels = bm.DirichletCategorical([1] * 4, ["u", "v", 1, 2])
    after = bm.NaiveBayes(CLASSES, levels).update((table, list("aaaa")))
    expected = [[3, 2, 1, 1], [1, 1, 2, 3]]
    assert_array_equal(after.blocks[""].belief.alpha[0], expected)
    bits = frame({"s": [True, False, True, None], "g": [1.0, None, 0.0, 0.0]})
    after = bm.NaiveBayes(CLASSES, bm.BetaBernoulli(1, 1)).update((bits, list("aaaa")))
    assert_array_equal(after.blocks[""].belief.alpha[0], [3, 2])
    assert_array_equal(after.blocks[""].belief.beta[0], [2, 3])


def test_places_of_wrong_values_are_those_of_the_user():
    """With missing cells, rows used to be counted over the cells that are there."""
    model = bm.NaiveBayes(CLASSES, BITS)
    X = np.array([[1, np.nan], [0, 1], [1, 7.0]])
    message = "features: must hold only 0 and 1 (or booleans); row 2, column 1 holds 7."
    assert complaint(model.update, (X, list("abc"))).startswith(message)
    after = model.update((np.ones((3, 2)), list("abc")))
    assert complaint(after.class_probabilities, X).startswith(message)


def test_counts_have_no_missing_cells():
    model = bm.NaiveBayes(CLASSES, bm.DirichletCategorical([1, 1]))
    rows = bm.MultinomialCounts([[1, np.nan], [2, 3]])
    assert complaint(model.update, (rows, ["a", "b"])).startswith("counts: ")
    after = model.update((bm.MultinomialCounts([[1, 2], [2, 3]]), ["a", "b"]))
    assert complaint(after.class_probabilities, rows).startswith("counts: ")


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 11 + [-1], "weights: must not be negative; got -1 at position 11."),
        ([1.0] * 11 + [np.nan], "weights: missing values are not allowed; 1 of 12 are missing"),
        ([1.0] * 11 + [np.inf], "weights: "),
        ([1.0] * 11, "weights: must have as many rows as target; got 11 and 12."),
        (np.ones((12, 2)), "weights: must hold one number a row; got shape (12, 2)."),
    ],
)
def test_wrong_weights(weights, message):
    data = bm.Weighted((TABLE, LABELS), weights)
    assert complaint(MODEL.update, data).startswith(message)


def test_weighted_rows_are_declared_from_their_statistic():
    small = bm.NaiveBayes(CLASSES, BITS)
    data = bm.Weighted((SMALL, TARGET), np.ones(8))
    message = complaint(small.declare, data, "rows")
    assert message == (
        "data: weighted rows are declared from their statistic: likelihood='statistic'."
    )
    message = complaint(small.declare, small.statistic(data), "rows")
    assert message.startswith("data: a statistic has forgotten its rows")


# --- classes --------------------------------------------------------------------------------------


def test_classes_without_rows_keep_the_prior():
    assert POSTERIOR.classes.alpha[2] == CLASSES.alpha[2]  # no row has class c
    for name, block in POSTERIOR.blocks.items():
        belief, prior = block.belief, MODEL.blocks[name].belief
        for symbol, value in belief.parameters().items():
            assert_array_equal(value[2], prior.parameters()[symbol])
    assert (POSTERIOR.class_probabilities(TABLE)[:, 2] > 0).all()
    message = complaint(DATA.mle)
    assert message == (
        "features['smoker']: the maximum-likelihood estimate needs at least one row; got none."
    )


def test_a_class_seen_once_predicts():
    model = bm.NaiveBayes(CLASSES, bm.NormalInverseGamma(0, 1e-3, 1e-2, 1e-2))
    after = model.update(([[0.1], [3.0], [3.1]], ["a", "b", "b"]))
    found = after.class_probabilities([[0.1], [3.05]])
    assert found.argmax(1).tolist() == [0, 1]
    assert np.isfinite(found).all()


def test_levels_are_closed_unless_there_is_another():
    closed = bm.NaiveBayes(CLASSES, {"stage": STAGES}).update((TABLE, LABELS))
    table = pd.DataFrame({"stage": ["I", "IV"]})
    message = complaint(closed.class_probabilities, table)
    assert message == (
        "features['stage']: must hold only the model's categories ['I', 'II', 'III']; row 1 holds "
        "'IV'. Declare all categories in the prior."
    )
    levels = bm.DirichletCategorical([1, 0.5, 2, 0.25], ["I", "II", "III", "else"], other="else")
    opened = bm.NaiveBayes(CLASSES, {"stage": levels}).update((TABLE, LABELS))
    shares = opened.blocks["stage"].belief.mean()["theta"][:, 3]
    n = DATA.features["stage"].counts.sum(-1)
    close(shares, 0.25 / (3.75 + n))
    close(opened.log_joint(table)[1], np.log(opened.classes.mean()["theta"] * shares))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (["a", "d", "b"], "target: must hold only the model's categories ['a', 'b', 'c']; row 1"),
        (["a", None, "b"], "target: missing values are not allowed; 1 of 3 are missing"),
        (["a", np.nan, "b"], "target: missing values are not allowed; 1 of 3 are missing"),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), "target: missing values are not allowed"),
        (["a", "b"], "target: must have as many rows as features; got 2 and 3."),
        ([["a"], ["b"], ["c"]], "target: must hold one class a row; got shape (3, 1)."),
        ([0, 1, 2], "target: must hold only the model's categories ['a', 'b', 'c']; row 0 holds 0"),
    ],
)
def test_wrong_targets(target, message):
    model = bm.NaiveBayes(CLASSES, BITS)
    assert complaint(model.update, (SMALL[:3], target)).startswith(message)


def test_pairs_and_designs_only():
    model = bm.NaiveBayes(CLASSES, BITS)
    assert complaint(model.update, SMALL).startswith("data: must be a bayesmodels.Design or a pair")
    design = bm.Design(SMALL, TARGET, intercept=True)
    assert complaint(model.update, design).startswith("intercept: a classifier has none")


# --- impossible values and missing modes ----------------------------------------------------------

NEVER = [
    pytest.param(BITS, [[1, 0]] * 8, [[1, 0], [0, 1]], "the value 0 of feature 0", id="zero"),
    pytest.param(BITS, [[0, 0]] * 8, [[0, 0], [0, 1]], "the value 1 of feature 1", id="one"),
    pytest.param(BITS, [0] * 8, [0, 1], "the value 1", id="one column"),
    pytest.param(
        {"sick": BITS, "old": BITS},
        pd.DataFrame({"sick": [1] * 8, "old": [0] * 8}),
        pd.DataFrame({"sick": [1, 1], "old": [0, 1]}),
        "the value 1 of feature 'old'",
        id="a named column",
    ),
    pytest.param(
        STAGES,
        pd.DataFrame({"s": ["I", "II"] * 4, "t": ["I", "III"] * 4}),
        pd.DataFrame({"s": ["I", "I"], "t": ["I", "II"]}),
        "the value 'II' of feature 't'",
        id="a category",
    ),
    pytest.param(
        WORDS,
        bm.MultinomialCounts([[1, 2, 0, 1]] * 8),
        bm.MultinomialCounts([[1, 0, 0, 0], [1, 0, 3, 0]]),
        "3 of category 'eel'",
        id="a word",
    ),
    pytest.param(
        WORDS,
        bm.MultinomialCounts(sparse.csr_array([[1, 2, 0, 1]] * 8)),
        bm.MultinomialCounts(sparse.csc_array([[1, 0, 0, 0], [1, 0, 3, 0]])),
        "3 of category 'eel'",
        id="a word in a sparse table",
    ),
]


@pytest.mark.parametrize(("features", "rows", "new", "value"), NEVER)
def test_a_value_that_no_class_had_is_named(features, rows, new, value):
    model = bm.NaiveBayes(CLASSES, features)
    mle = model.statistic((rows, list("abcabcab"))).mle()
    for belief in (model, model.update((rows, list("abcabcab")))):
        message = complaint(belief.class_probabilities, new, mle)
        assert message == (
            f"rows: row 1 has {value}, which has probability 0 in every class under these "
            "parameters. Smooth: use mean() or leave parameters out (their default integrates "
            "over the belief), or give a prior that allows for it."
        )
        assert np.isneginf(belief.log_joint(new, mle)[1]).all()
        assert belief.class_probabilities(new).sum(1) == pytest.approx(1)


def test_values_that_no_class_had_together():
    model = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), BITS)
    mle = model.statistic(([[1, 0], [0, 1]], [0, 1])).mle()
    message = complaint(model.class_probabilities, [[1, 0], [1, 1]], mle)
    assert message.startswith(
        "rows: row 1 has probability 0 in every class under these parameters,"
    )


def test_a_class_without_rows_is_impossible_at_the_mle():
    model = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 1, 1))
    known = model.update(([0.0, 1.0], [0, 1])).mean()
    known |= {"pi": np.array([1.0, 0.0]), "sigma2": np.ones(2)}
    assert model.class_probabilities([5.0, 0.1], known).tolist() == [[1, 0], [1, 0]]


def test_a_variance_of_zero_is_named():
    model = bm.NaiveBayes(CLASSES, {"size": bm.NormalInverseGamma(0, 1, 1, 1)})
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 3.0, 4.0, 5.0]})
    mle = model.statistic((table, list("aabbcc"))).mle()
    message = complaint(model.class_probabilities, table, mle)
    assert message.startswith("features['size']: sigma2[b]: must be positive for a density; got a")


def test_a_mode_that_is_not_there_is_named():
    message = complaint(MODEL.update(BALANCED).mode, error=bm.ModeError)
    assert message.startswith("mode of theta_smoker: theta[c]: has no interior mode, since alpha")
    flat = bm.NaiveBayes(bm.DirichletCategorical([2, 2]), {"smoker": bm.BetaBernoulli(1, 1)})
    after = flat.update((pd.DataFrame({"smoker": [1, 0]}), [0, 1]))
    message = complaint(after.mode, error=bm.ModeError)
    assert message.startswith("mode of theta_smoker: theta[0]: has no interior mode")


# --- columns --------------------------------------------------------------------------------------

PATIENTS = pd.DataFrame(
    {
        "bmi": [20.5, 31.0, 25.5, 28.0, 22.0, 35.5, 30.0, 19.0],
        "smoker": [0, 1, 0, 1, 1, 1, 0, 0],
        "age": [31.0, 64.0, 40.0, 55.0, 29.0, 71.0, 60.0, 22.0],
        "stage": list("xyxyyxyx"),
    }
)
ILL = ["a", "b", "a", "b", "a", "c", "b", "a"]
NUMBER = bm.NormalInverseGamma(30, 0.1, 2, 50)


def one_selection(columns):
    return bm.NaiveBayes(CLASSES, {"numbers": (NUMBER, columns), "smoker": BITS})


SELECTIONS = {
    "list": ["bmi", "age"],
    "tuple": ("bmi", "age"),
    "index": pd.Index(["bmi", "age"]),
    "array": np.array(["bmi", "age"]),
    "selector": make_column_selector(dtype_include=np.float64),
    "function": lambda frame: [c for c in frame.columns if c in ("bmi", "age")],
}


@pytest.mark.parametrize("columns", SELECTIONS.values(), ids=SELECTIONS)
def test_columns_by_any_selection(columns):
    model = one_selection(columns)
    data = PATIENTS, ILL
    expected = one_selection(["bmi", "age"]).update(data)
    after = model.update(data)
    assert after == expected
    assert after.blocks["numbers"].columns == ("bmi", "age")
    found = expected.class_probabilities(PATIENTS)
    assert_array_equal(after.class_probabilities(PATIENTS), found)
    assert_array_equal(
        model.class_probabilities(PATIENTS, expected.mean()),
        expected.class_probabilities(PATIENTS, expected.mean()),
    )
    shuffled = PATIENTS[["stage", "age", "smoker", "bmi"]].assign(extra=1.5)
    assert_array_equal(after.class_probabilities(shuffled), found)
    assert_array_equal(after.class_probabilities(pl.DataFrame(shuffled.to_dict("list"))), found)
    assert pickle.loads(pickle.dumps(after)) == after  # noqa: S301 - our own
    message = complaint(after.class_probabilities, PATIENTS.drop(columns="age"))
    assert message == (
        "features['numbers']: has no column 'age'; its columns are ['bmi', 'smoker', 'stage']."
    )


def test_a_single_column_by_name():
    one = bm.NaiveBayes(CLASSES, {"weight": (NUMBER, "bmi")}).update((PATIENTS, ILL))
    two = bm.NaiveBayes(CLASSES, {"bmi": NUMBER}).update((PATIENTS, ILL))
    assert one.blocks["weight"].belief == two.blocks["bmi"].belief
    assert one.dims["mu_weight"] == ("class",)
    lone = bm.NaiveBayes(CLASSES, {"weight": (NUMBER, lambda _: "bmi")})
    assert lone.class_probabilities(PATIENTS, one.mean()).shape == (8, 3)
    listed = bm.NaiveBayes(CLASSES, {"weight": (NUMBER, ["bmi"])}).update((PATIENTS, ILL))
    assert listed.dims["mu_weight"] == ("class", "feature_weight")
    assert_array_equal(listed.class_probabilities(PATIENTS), one.class_probabilities(PATIENTS))
    series = bm.NaiveBayes(CLASSES, NUMBER).update((PATIENTS["bmi"], ILL))
    assert_array_equal(
        series.class_probabilities(PATIENTS["bmi"]), one.class_probabilities(PATIENTS)
    )
    assert complaint(series.class_probabilities, PATIENTS[["bmi"]]) == (
        "features: must be one column, a series or an array of one axis, as in the data before; "
        "got rows of shape (1,)."
    )


def test_a_whole_frame_is_found_again_by_its_names():
    model = bm.NaiveBayes(CLASSES, NUMBER)
    after = model.update((PATIENTS[["bmi", "age"]], ILL))
    found = after.class_probabilities(PATIENTS[["bmi", "age"]])
    assert_array_equal(after.class_probabilities(PATIENTS), found)
    assert_array_equal(after.class_probabilities(PATIENTS[["age", "smoker", "bmi"]]), found)
    message = complaint(after.class_probabilities, PATIENTS[["bmi", "smoker"]])
    assert message.startswith("features: has no column 'age'")
    numbered = PATIENTS[["bmi", "age"]].set_axis([0, 1], axis=1)
    after = model.update((numbered, ILL))
    assert_array_equal(after.class_probabilities(numbered[[1, 0]]), found)


def test_columns_of_an_array_by_number():
    X = PATIENTS[["bmi", "smoker", "age"]].to_numpy()
    named = one_selection(["bmi", "age"]).update((PATIENTS, ILL)).class_probabilities(PATIENTS)
    pairs = {"numbers": (NUMBER, [0, 2]), "smoker": (BITS, 1)}
    after = bm.NaiveBayes(CLASSES, pairs).update((X, ILL))
    assert_array_equal(after.class_probabilities(X), named)
    wide = np.column_stack([X, np.ones(8)])
    assert_array_equal(after.class_probabilities(wide.tolist()), named)
    keys = bm.NaiveBayes(CLASSES, {0: NUMBER, 2: NUMBER, 1: BITS}).update((X, ILL))
    assert_array_equal(keys.most_probable_class(X), after.most_probable_class(X))
    message = complaint(after.class_probabilities, X[:, :2])
    assert message == (
        "features['numbers']: there is no column 2 in features of shape (8, 2). Give a frame with "
        "named columns, or column numbers."
    )
    for number in (-1, "bmi", 1.0):
        model = bm.NaiveBayes(CLASSES, {"x": (NUMBER, number)})
        message = complaint(model.update, (X, ILL))
        assert message.startswith(f"features['x']: there is no column {number!r} in features of")


def test_counted_columns():
    words = {"fox": [1, 0, 2, 0, 1, 3, 0, 0], "dog": [0, 2, 0, 1, 0, 0, 1, 4]}
    table = PATIENTS.assign(**words)
    belief = bm.DirichletCategorical([1, 1], ["dog", "fox"])
    model = bm.NaiveBayes(
        CLASSES, {"words": (belief, bm.MultinomialCounts(["dog", "fox"])), "smoker": BITS}
    )
    after = model.update((table, ILL))
    blocks = {
        "words": bm.MultinomialCounts(table[["dog", "fox"]]),
        "smoker": table["smoker"],
        "more": 0,
    }
    assert model.update((blocks, ILL)).blocks["words"].belief == after.blocks["words"].belief
    assert_array_equal(after.class_probabilities(blocks), after.class_probabilities(table))
    assert_array_equal(
        after.class_probabilities(table[["fox", "smoker", "dog"]]), after.class_probabilities(table)
    )
    cells = blocks | {"words": bm.MultinomialCounts(sparse.coo_array(table[["dog", "fox"]]))}
    assert_array_equal(after.class_probabilities(cells), after.class_probabilities(table))
    swapped = blocks | {"words": bm.MultinomialCounts(table[["fox", "dog"]])}
    message = complaint(after.class_probabilities, swapped)
    assert message.startswith("counts: columns must be the model's categories in the model's order")
    selected = {"words": (belief, bm.MultinomialCounts(make_column_selector("o")))}
    message = complaint(bm.NaiveBayes, CLASSES, selected, error=bm.PriorError)
    assert message.startswith("features['words']: columns that are counts must be listed")


def test_blocks_of_arrays():
    X = PATIENTS[["bmi", "age"]].to_numpy()
    table = one_selection(["bmi", "age"]).update((PATIENTS, ILL))
    model = bm.NaiveBayes(CLASSES, {"numbers": NUMBER, "smoker": BITS})
    blocks = {"numbers": X, "smoker": PATIENTS["smoker"].to_numpy()}
    after = model.update((blocks, ILL))
    assert_array_equal(after.class_probabilities(blocks), table.class_probabilities(PATIENTS))
    message = complaint(after.class_probabilities, {"numbers": X})
    assert message == "features: must have the block 'smoker'; has ['numbers']."
    assert complaint(model.update, ({"numbers": X}, ILL)) == message


def test_blocks_have_the_same_rows():
    """A block of one row used to be spread over all rows of the others."""
    model = bm.NaiveBayes(CLASSES, {"b": BITS, "n": NUMBER, "w": bm.DirichletCategorical([1, 1])})
    frames = {
        "b": pd.Series([0, 1, 1]),
        "n": pd.DataFrame([[1.0, 2.0]] * 3),
        "w": bm.MultinomialCounts(pd.DataFrame([[1, 0]] * 3)),
    }
    after = model.update((frames, ["a", "b", "c"]))
    one = frames | {"n": frames["n"].iloc[:1]}
    message = "features['n']: must have as many rows as features['b']; got 1 and 3."
    assert complaint(after.class_probabilities, one) == message
    one = frames | {"w": bm.MultinomialCounts([[1, 0]])}
    message = "counts: must have as many rows as features['b']; got 1 and 3."
    assert complaint(after.class_probabilities, one) == message
    assert complaint(model.update, (one, list("abc"))).startswith("counts: must have as many rows")
    for name in ("n", "w"):
        moved = (
            frames["n"].set_axis([2, 1, 0])
            if name == "n"
            else bm.MultinomialCounts(frames["w"].counts.set_axis([2, 1, 0]))
        )
        wrong = frames | {name: moved}
        message = complaint(after.class_probabilities, wrong)
        assert "must have the index of features['b'], row for row" in message
        message = complaint(model.update, (wrong, pd.Series(list("abc"))))
        assert "must have the index of target, row for row" in message


@pytest.mark.parametrize(
    ("belief", "X"),
    [
        pytest.param(BITS, SMALL, id="bits"),
        pytest.param(bm.DirichletCategorical([1, 1]), SMALL, id="categories"),
        pytest.param(NUMBER, SMALL, id="numbers"),
    ],
)
def test_wrong_numbers_of_columns(belief, X):
    after = bm.NaiveBayes(CLASSES, belief).update((X, TARGET))
    for wrong in (X[:, :1], np.ones((4, 3), dtype=int), X[0], np.ones((2, 2, 2), dtype=int)):
        message = complaint(after.class_probabilities, wrong)
        assert message == (
            f"features: must have 2 column(s), one a feature; got rows of shape {wrong.shape[1:]}."
        )
    with pytest.raises(bm.DataError):
        after.update((X[:, :1], TARGET))


def test_counts_and_categories_are_not_mixed_up():
    """A belief about a table of categories used to take counts for category numbers."""
    belief = bm.DirichletCategorical([1, 1])
    codes = bm.NaiveBayes(CLASSES, belief).update((SMALL, TARGET))
    counts = bm.MultinomialCounts(SMALL)
    message = "features: its belief is not about counts; got MultinomialCounts."
    assert complaint(codes.class_probabilities, counts) == message
    bits = bm.NaiveBayes(CLASSES, BITS).update((SMALL, TARGET))
    assert complaint(bits.class_probabilities, counts) == message
    words = bm.NaiveBayes(CLASSES, belief).update((counts, TARGET))
    message = complaint(words.class_probabilities, SMALL)
    assert message.startswith("features: must be one column, a series or an array of one axis")
    message = complaint(words.class_probabilities, bm.MultinomialCounts(np.ones((2, 3), dtype=int)))
    assert message.startswith("counts: must have one column for each of the model's 2 categories")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({}, "features: must hold at least one block; got none."),
        ({"x": 3}, "features['x']: must be a belief about features, such as BetaBernoulli, "),
        ({"x": (BITS, bm.MultinomialCounts(["a", "b"]))}, "features['x']: counts need a Dirichlet"),
        ({1: BITS, "1": BITS}, "features: names of blocks must differ from each other; '1' is"),
    ],
)
def test_wrong_features(features, message):
    found = complaint(bm.NaiveBayes, CLASSES, features, error=bm.PriorError)
    assert found.startswith(message)


def test_priors_of_their_own_for_the_classes():
    """With the classes in another order they used to be mixed up."""
    each = bm.BetaBernoulli([1, 2, 3], 1, coords={"class": ["a", "b", "c"]})
    model = bm.NaiveBayes(CLASSES, {"x": each})
    table = pd.DataFrame({"x": [1, 0]})
    shares = CLASSES.mean()["theta"] * each.mean()["theta"]
    close(model.class_probabilities(table)[0], shares / shares.sum())
    assert_array_equal(model.update((table, ["a", "c"])).blocks["x"].belief.alpha, [2, 2, 3])
    wrong = [
        bm.BetaBernoulli([1, 2, 3], 1, coords={"class": ["b", "a", "c"]}),
        bm.BetaBernoulli([1, 2], 1, coords={"class": ["a", "b"]}),
        bm.BetaBernoulli(np.ones((2, 3)), 1, coords={"feature": [0, 1], "class": ["a", "b", "c"]}),
    ]
    for belief in wrong:
        message = complaint(bm.NaiveBayes, CLASSES, {"x": belief}, error=bm.PriorError)
        assert message.startswith(
            "features['x']: the axis 'class' of its belief must be the first one and list the "
            "classes ['a', 'b', 'c'] in this order; got the axes {"
        )


@pytest.mark.parametrize("classes", [BITS, bm.DirichletCategorical([[1, 1], [2, 2]]), [1, 1]])
def test_wrong_classes(classes):
    found = complaint(bm.NaiveBayes, classes, BITS, error=bm.PriorError)
    assert found.startswith("classes: must be one DirichletCategorical belief")


def test_a_feature_may_be_called_y():
    table = pd.DataFrame({"x": [1, 0, 1], "y": [0, 1, 1]})
    model = bm.NaiveBayes(CLASSES, {"x": BITS, "y": BITS})
    assert set(model.dims) == {"pi", "theta_x", "theta_y"}
    assert len(model.observed((table, list("abc")))) == 3
    assert len(model.declare((table, list("abc")), "statistic").potentials) == 3


# --- sparse counts --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "coo_array", "lil_array", "csr_matrix"])
def test_sparse_counts_are_dense_counts(kind):
    model = bm.NaiveBayes(bm.DirichletCategorical([1] * 3), bm.DirichletCategorical([0.2] * 40))
    table = getattr(sparse, kind)(BAG)
    cells, dense = bm.MultinomialCounts(table), bm.MultinomialCounts(BAG.toarray())
    one, two = model.update((cells, TOPIC)), model.update((dense, TOPIC))
    assert one == two
    close(model.log_evidence((cells, TOPIC)), model.log_evidence((dense, TOPIC)))
    close(one.class_probabilities(cells), one.class_probabilities(dense))
    close(one.class_probabilities(cells, one.mean()), one.class_probabilities(dense, one.mean()))
    w = np.linspace(0, 2, len(TOPIC))
    both = [model.log_evidence(bm.Weighted((rows, TOPIC), w)) for rows in (cells, dense)]
    close(*both)


def test_entries_given_twice_add_up():
    twice = sparse.coo_array(([1, 2, 4], ([0, 0, 1], [1, 1, 0])), shape=(2, 3))
    model = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.DirichletCategorical([1, 1, 1]))
    dense = [[0, 3, 0], [4, 0, 0]]
    one = model.log_evidence((bm.MultinomialCounts(twice), [0, 1]))
    close(one, model.log_evidence((bm.MultinomialCounts(dense), [0, 1])))


@pytest.mark.parametrize("bad", [-1, 0.5, np.nan])
def test_wrong_sparse_counts(bad):
    model = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.DirichletCategorical([1, 1, 1]))
    rows = bm.MultinomialCounts(sparse.csr_array([[0, 3, 0], [4, 0, bad]]))
    assert complaint(model.update, (rows, [0, 1])).startswith("counts: ")
    message = complaint(model.update, (sparse.csr_array([[0, 1]]), [0]))
    assert "csr_array" in message


def refuse(*_, **__):
    msg = "a sparse table was made dense"
    raise AssertionError(msg)


@pytest.mark.slow
def test_sparse_counts_stay_sparse(monkeypatch):
    rng = np.random.default_rng(1)
    n, words = 2_000, 50_000
    table = sparse.random_array((n, words), density=1e-3, rng=rng, format="csr")
    table.data = np.ceil(3 * table.data)
    y = rng.integers(0, 2, n)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        for method in ("toarray", "todense", "__array__"):
            monkeypatch.setattr(kind, method, refuse, raising=False)
    model = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.DirichletCategorical([0.01] * words))
    rows = bm.MultinomialCounts(table)
    tracemalloc.start()
    after = model.update((rows, y))
    model.log_evidence((rows, y))
    found = after.class_probabilities(rows)
    after.class_probabilities(rows, after.mean())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (n, 2)
    assert peak < 100e6  # dense, it would be 800 MB
    mle = model.statistic((rows, y)).mle()
    unseen = np.flatnonzero(mle["theta"].sum(0) == 0)[0]
    new = sparse.csr_array(([1.0], ([0], [unseen])), shape=(1, words))
    message = complaint(after.class_probabilities, bm.MultinomialCounts(new), mle)
    assert message.startswith(f"rows: row 0 has 1 of category {unseen}, which has probability 0")


# --- statistics -----------------------------------------------------------------------------------


def test_statistics_of_other_blocks_do_not_merge():
    other = bm.NaiveBayes(CLASSES, {"smoker": BITS}).statistic((TABLE, LABELS))
    assert complaint(lambda: DATA + other) == (
        "data: statistics must have the same blocks of features; got ['smoker', 'stage', "
        "'measured', 'words'] and ['smoker']."
    )
    swapped = ClassStatistic(DATA.classes, dict(reversed(DATA.features.items())))
    assert complaint(lambda: DATA + swapped).startswith(
        "data: statistics must have the same blocks"
    )
    assert complaint(MODEL.update, other).startswith("data: a statistic of the blocks ['smoker']")
    assert complaint(MODEL.log_evidence, other).startswith("data: a statistic of the blocks")


@pytest.mark.slow
def test_representations_are_short():
    assert repr(bm.NaiveBayes(bm.DirichletCategorical([1, 1]), {"smoker": (BITS, "s")})) == (
        "NaiveBayes(classes=DirichletCategorical(alpha=[1, 1]), "
        "blocks={'smoker': (BetaBernoulli(alpha=0.7, beta=1.5), 's')})"
    )
    names = [f"word {i}" for i in range(5_000)]
    model = bm.NaiveBayes(
        bm.DirichletCategorical([1, 1]), bm.DirichletCategorical([1] * 5_000, categories=names)
    )
    after = model.update((bm.MultinomialCounts(np.ones((2, 5_000), dtype=int)), [0, 1]))
    for value in (model, after, model.statistic((bm.MultinomialCounts(np.ones((1, 5_000))), [0]))):
        assert len(repr(value)) < 1_000
    bits = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), BITS)
    table = pd.DataFrame(np.ones((2, 5_000)), columns=names)
    assert len(repr(bits.update((table, [0, 1])))) < 1_000
    selected = bm.NaiveBayes(bits.classes, {"x": (BITS, lambda frame: list(frame.columns))})
    assert len(repr(selected.update((table, [0, 1])))) < 1_000


# --- anything -------------------------------------------------------------------------------------


@st.composite
def problems(draw):
    """Features of one family, some cells missing, of any size and any offset."""
    seed, n, width = draw(st.integers(0, 2**32)), draw(st.integers(1, 12)), draw(st.integers(1, 4))
    size = draw(st.integers(2, 5))
    rng = np.random.default_rng(seed)
    weight = 10.0 ** draw(st.integers(-8, 8))
    classes = bm.DirichletCategorical(np.full(size, 10.0 ** draw(st.integers(-8, 8))))
    kind = draw(st.sampled_from(["bits", "categories", "words", "numbers"]))
    y = rng.integers(0, size, n)
    if kind == "words":
        scale = 10.0 ** draw(st.integers(0, 9))
        X = np.floor(scale * rng.random((n, width + 1)) * rng.integers(0, 2, (n, width + 1)))
        return bm.NaiveBayes(classes, bm.DirichletCategorical(np.full(width + 1, weight))), X, y
    if kind == "numbers":
        offset, spread = draw(st.sampled_from([0, 1e8, -1e8])), 10.0 ** draw(st.integers(-3, 3))
        X = offset + spread * rng.normal(size=(n, width))
        a, b = 10.0 ** draw(st.integers(-3, 3)), 10.0 ** draw(st.integers(-6, 6))
        features = bm.NormalInverseGamma(0, np.clip(weight, 1e-6, 1e6), a, b)
    else:
        X = rng.integers(0, 2, (n, width)).astype(float)
        features = bm.BetaBernoulli(weight, 1)
        if kind == "categories":
            features = bm.DirichletCategorical([weight, 1, 1 / weight])
    X[rng.random(X.shape) < draw(st.sampled_from([0, 0.3]))] = np.nan
    return bm.NaiveBayes(classes, features), X, y


def counted(model, X):
    belief = model.blocks[""].belief
    words = (
        isinstance(belief, bm.DirichletCategorical)
        and len(belief.categories or belief.alpha) == X.shape[1]
    )
    return bm.MultinomialCounts(X) if words and not np.isnan(X).any() else X


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(problem=problems(), seed=st.integers(0, 2**32))
def test_probabilities_are_probabilities_in_any_order(problem, seed):
    model, X, y = problem
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    after = model.update((counted(model, X), y))
    rows = counted(model, X)
    joint = after.log_joint(rows)
    assert np.isfinite(joint).all()
    found = after.class_probabilities(rows)
    assert ((found >= 0) & (found <= 1)).all()
    close(found.sum(-1), np.ones(len(X)))
    shuffled = model.update((counted(model, X[order]), y[order]))
    moved = counted(model, X[order])
    close(shuffled.class_probabilities(moved), found[order], 1e-6)
    assert_array_equal(after.class_probabilities(moved), found[order])
    close(model.log_evidence((rows, y)), model.log_evidence((moved, y[order])), 1e-9)
    assert np.isfinite(model.log_evidence((rows, y)))
    assert np.isfinite(after.log_predictive(rows)).all()
