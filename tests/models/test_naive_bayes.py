"""Naive Bayes: against scikit-learn, against brute force, and against all kinds of rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.special import logsumexp
from sklearn.datasets import load_digits, load_iris
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

import bayesmodels as bm

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


def complaint(function, *arguments, error=bm.DataError, **options):
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert message.endswith((".", "?"))
    return message


def close(ours, theirs, tolerance=1e-12):
    assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


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


def test_gaussian_mle_is_scikit_learn():
    model = bm.NaiveBayes(bm.DirichletCategorical([1, 1, 1]), bm.NormalInverseGamma(0, 1, 1, 1))
    mle = model.statistic((IRIS, SPECIES)).mle()
    theirs = GaussianNB(var_smoothing=0).fit(IRIS, SPECIES)
    close(mle["mu"], theirs.theta_)
    close(mle["sigma2"], theirs.var_)
    posterior = model.update((IRIS, SPECIES))
    close(posterior.class_probabilities(IRIS, mle), theirs.predict_proba(IRIS), 1e-11)


@pytest.mark.parametrize(
    ("prior", "theirs", "X", "y"),
    [
        pytest.param(bm.BetaBernoulli(1, 1), BernoulliNB(), DIGITS > 8, DIGIT, id="bits"),
        pytest.param(
            bm.DirichletCategorical([1] * 4),
            CategoricalNB(min_categories=4),
            QUARTILES,
            SPECIES,
            id="categories",
        ),
        pytest.param(bm.DirichletCategorical([1] * 40), MultinomialNB(), BAG, TOPIC, id="words"),
    ],
)
def test_laplace_smoothing_is_the_posterior_mean_under_priors_of_ones(prior, theirs, X, y):
    size = y.max() + 1
    rows = bm.MultinomialCounts(X) if sparse.issparse(X) else X
    posterior = bm.NaiveBayes(bm.DirichletCategorical([1] * size), prior).update((rows, y))
    n = np.bincount(y)
    close(posterior.mean()["pi"], (n + 1) / (len(y) + size))
    logs = np.log(posterior.mean()["theta"])
    found = theirs.fit(X, y).feature_log_prob_  # their default adds one
    close(logs, np.stack(found, 1) if logs.ndim == 3 else found)


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
    assert message == "prob: must be strictly between 0 and 1; got 1.0."


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
    for labels in ([1, "u"], [("a", 1), ("b", 2)], [None, "x"][1:] + [2.5], [True, "maybe"]):
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
