"""Complaints are named, and name the way out."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import bayesmodels as bm
from bayesmodels.estimators import (
    ConjugateRegressor,
    DiscriminantClassifier,
    LogisticClassifier,
    MixtureClusterer,
    NaiveBayesClassifier,
)

X = np.array([[0.1, 1.0], [1.2, 0.3], [0.4, 1.7], [1.9, 0.2]])
Y = ["a", "b", "a", "b"]
CLASSIFIERS = [NaiveBayesClassifier, DiscriminantClassifier, LogisticClassifier]
IN_PIECES = [NaiveBayesClassifier, DiscriminantClassifier]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_class(kind):
    with pytest.raises(bm.DataError, match=r"two classes or more, .* got one class, 'a'"):
        kind().fit(X, ["a"] * 4)
    with pytest.raises(bm.DataError, match="two classes or more"):
        kind().fit(X, Y, sample_weight=[1, 0, 1, 0])


@pytest.mark.parametrize("kind", IN_PIECES)
def test_classes_of_pieces(kind):
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        kind().partial_fit(X, Y)
    with pytest.raises(bm.DataError, match="two classes or more"):
        kind().partial_fit(X, ["a"] * 4, classes=["a"])
    model = kind().partial_fit(X, ["a"] * 4, classes=["a", "b"])  # one class at a time
    with pytest.raises(bm.DataError, match=r"only the classes \['a', 'b'\] .* got 'c'"):
        model.partial_fit(X, ["a", "b", "c", "a"])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, Y, classes=["a", "c"])
    assert model.n_samples_seen_ == 4
    model.partial_fit(X, Y)
    assert model.n_samples_seen_ == 8


@pytest.mark.parametrize("kind", IN_PIECES)
def test_a_first_piece_that_failed_is_forgotten(kind):
    model = kind()
    with pytest.raises(ValueError, match="inf"):
        model.partial_fit([[np.inf, 1.0]], ["a"], classes=["a", "b"])
    model.partial_fit(X, ["u", "v", "u", "v"], classes=["u", "v"])
    assert model.classes_.tolist() == ["u", "v"]


def test_a_new_category():
    table = pd.DataFrame({"town": ["u", "v", "u", "v"]})
    model = NaiveBayesClassifier().fit(table, Y)
    with pytest.raises(bm.DataError, match=r"only the model's categories .* 'w'. Declare all"):
        model.predict(pd.DataFrame({"town": ["w"]}))
    with pytest.raises(bm.DataError, match="only the model's categories"):
        model.partial_fit(pd.DataFrame({"town": ["w"]}), ["a"])


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (NaiveBayesClassifier(kappa=-1), "kappa: must be positive"),
        (NaiveBayesClassifier(class_alpha=0), "alpha: must be positive"),
        (DiscriminantClassifier("round"), "covariance: must be one of"),
        (DiscriminantClassifier("proportional"), "ratio: goes with"),
        (DiscriminantClassifier(df=0.5), "df"),
        (LogisticClassifier(scale=[1, 2, 3]), "scale: must be a number, or one for each of 2"),
    ],
)
def test_priors(model, match):
    with pytest.raises(bm.PriorError, match=match):
        model.fit(X, Y)


def test_priors_of_a_regression():
    with pytest.raises(bm.PriorError, match="precision: must be a number, or one for each of 2"):
        ConjugateRegressor(precision=[1, 2, 3]).fit(X, [1, 2, 3, 4])
    with pytest.raises(bm.PriorError, match="precision"):
        ConjugateRegressor(precision=-1).fit(X, [1, 2, 3, 4])


def test_predictions_of_a_regression():
    model = ConjugateRegressor().fit(X, [1.0, 2, 3, 4])
    with pytest.raises(bm.DataError, match="together with return_std"):
        model.predict(X, return_std=True, return_interval=True)
    with pytest.raises(bm.DataError, match=r"prob: must be strictly between 0 and 1; got 1.5"):
        model.predict(X, return_interval=True, ci_prob=1.5)
    few = ConjugateRegressor(
        fit_intercept=False,
        precision=0,
        shape=-1,
        scale=0,  # the reference prior
    ).fit([[1.0, 0], [0, 1], [1, 1]], [1.0, 2, 4])
    assert np.isfinite(few.predict(X)).all()  # one degree of freedom: a location, no mean
    with pytest.raises(bm.PriorError, match="1 degrees of freedom, and no variance"):
        few.predict(X, return_std=True)


def test_evidence_that_is_not_there():
    model = ConjugateRegressor(precision=0).fit(X, [1.0, 2, 3, 5])
    with pytest.raises(AttributeError, match="needs a proper belief, but w is flat"):
        _ = model.log_evidence_
    assert "log_evidence_" not in dir(model)
    assert "<div" in model._repr_html_()  # which looks at all attributes


def test_an_exact_posterior_that_is_not_there():
    rows = np.random.default_rng(1).normal(size=(40, 2))
    model = MixtureClusterer(2, random_state=0, starts=2).fit(rows)
    for name in ("belief_", "log_evidence_"):
        with pytest.raises(AttributeError, match="too many terms"):
            getattr(model, name)
        assert name not in dir(model)
    with pytest.raises(bm.DataError, match=r"Use em\(\) or bm.mcmc_draws"):
        model.to_datatree()
    again = model.fit(rows[:4])
    assert np.isfinite(again.log_evidence_)


@pytest.mark.parametrize("known", [[0, 1, 2, -1], [0.5, 0, 0, 0], [-2, 0, 0, 0], ["a"] * 4])
def test_known_components(known):
    with pytest.raises(bm.DataError, match="y: must hold known components, numbers from 0 to 1"):
        MixtureClusterer(2).fit(X, known)


def test_known_components_are_kept():
    known = [1, 0, -1, -1]
    model = MixtureClusterer(2, random_state=0).fit(X, known)
    assert model.labels_[:2].tolist() == [1, 0]
    weighted = MixtureClusterer(2, random_state=0).fit(X, known, sample_weight=[1, 1, 0, 2])
    assert weighted.labels_.shape == (4,)


def test_a_row_that_no_component_can_have():
    bits = np.array([[1, 1], [1, 1], [1, 0], [1, 0]], dtype=bool)
    model = MixtureClusterer(2, estimate="mle", random_state=0).fit(bits)
    with pytest.raises(bm.DataError, match=r"row 1 has probability 0 in every component. Smooth"):
        model.predict([[True, True], [False, True]])


@pytest.mark.parametrize("kind", [*CLASSIFIERS, ConjugateRegressor, MixtureClusterer])
def test_not_fitted(kind):
    model = kind()
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.to_datatree()
    assert not hasattr(model, "log_evidence_")


def test_without_scikit_learn():
    """Closed forms work, and the estimators say what is missing when they are asked for."""
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import bayesmodels as bm\n"
        "bm.BetaBernoulli(1, 1).update([1]).mean()\n"
        "assert 'estimators' not in bm.__all__ + dir(bm)\n"
        "bm.estimators"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode
    assert "needs scikit-learn, which is not installed: pip install" in run.stderr


TABLE = pd.DataFrame({"smoker": [True, False, True, False]})  # needs alpha alone
NUMBERS_THAT_ARE_WRONG = [
    *((NaiveBayesClassifier(**{name: -5}), X, name) for name in ("class_alpha", "alpha", "kappa")),
    *((NaiveBayesClassifier(**{name: -5}), TABLE, name) for name in ("kappa", "shape", "scale")),
    (NaiveBayesClassifier(mean=np.nan), TABLE, "mean"),
    *((MixtureClusterer(**{name: -5}), TABLE, name) for name in ("class_alpha", "shape")),
    (MixtureClusterer(alpha=-5), X, "alpha"),
    (MixtureClusterer(components=0), X, "components"),
    (DiscriminantClassifier(class_alpha=-5), X, "class_alpha"),
    (DiscriminantClassifier(df=-5), X, "df"),
    (LogisticClassifier(scale=-5), X, "scale"),
    (LogisticClassifier(intercept_scale=-5, fit_intercept=False), X, "intercept_scale"),
    (LogisticClassifier(draws=-5), X, "draws"),
    (ConjugateRegressor(intercept_precision=-5, fit_intercept=False), X, "intercept_precision"),
    (ConjugateRegressor(precision=["a", "b"]), X, "precision"),
]


@pytest.mark.parametrize(
    ("model", "rows", "name"), NUMBERS_THAT_ARE_WRONG, ids=lambda value: str(value)[:50]
)
def test_every_number_is_checked_even_if_no_column_needs_it(model, rows, name):
    target = np.arange(4.0) if isinstance(model, ConjugateRegressor) else Y
    target = None if isinstance(model, MixtureClusterer) else target
    with pytest.raises((bm.PriorError, bm.DataError), match=f"^{name}: must "):
        model.fit(rows, target)


DAYS = pd.date_range("2026-01-01", periods=4)
KINDS = [ConjugateRegressor, *CLASSIFIERS, lambda: MixtureClusterer(2)]
SPOILED = {
    "dates beside numbers": ({"a": [1.0, 2, 3, 4], "day": DAYS}, "'day'"),
    "dates alone": ({"day": DAYS, "to": DAYS}, "'day'|datetime64"),
    "dates of Python": ({"a": [1.0, 2, 3, 4], "day": DAYS.to_pydatetime()}, "'day'"),
    "spans": ({"a": [1.0, 2, 3, 4], "span": DAYS - DAYS[0]}, "'span'"),
    "periods": ({"a": [1.0, 2, 3, 4], "day": DAYS.to_period("D")}, "'day'"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spoiled", SPOILED)
def test_a_column_that_is_of_no_kind_is_named(kind, spoiled):
    columns, words = SPOILED[spoiled]
    with pytest.raises(bm.DataError, match=words):
        kind().fit(pd.DataFrame(columns), [0, 1, 0, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_dates_of_polars_and_numpy_are_no_numbers(kind):
    for table in (pl.DataFrame({"day": list(DAYS)}), DAYS.to_numpy()[:, None]):
        with pytest.raises(bm.DataError, match=r"'day'|datetime64"):
            kind().fit(table, [0, 1, 0, 1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["u", pd.NA, "v", "u"], dtype="string"),
        pd.Series(["u", None, "v", "u"], dtype="category"),
        pd.Series([0, None, 1, 1], dtype="Int64"),
        ["u", None, "v", "u"],
        pl.Series(["u", None, "v", "u"]),
    ],
)
def test_gaps_in_targets_are_named(kind, y):
    with pytest.raises(bm.DataError, match=r"y: missing values .* the first in row 1"):
        kind().fit(X, y)


@pytest.mark.parametrize("y", [DAYS, DAYS.to_numpy(), pd.Series(Y), pl.Series(DAYS)])
def test_a_regression_explains_numbers(y):
    with pytest.raises(bm.DataError, match="y: must hold numbers"):
        ConjugateRegressor().fit(X, y)
