"""Models set up from a frame, with the priors that the command line gives them."""

import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.command import catalog
from bayesmodels.command.catalog import Columns, from_frame

RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "height": RNG.normal(170, 10, 40),
        "weight": RNG.normal(70, 8, 40),
        "smokes": RNG.random(40) < 0.3,
        "eyes": RNG.choice(["blue", "brown"], 40),
        "group": RNG.choice(["a", "b"], 40),
    }
)
EXAMPLES = [(e.name, data) for e in catalog.ENTRIES for data in e.datasets]


@pytest.mark.parametrize(("name", "dataset"), EXAMPLES)
def test_every_example_can_be_worked_out(name, dataset):
    prior, data, source = catalog.example(name, dataset=dataset)
    if hasattr(prior, "log_evidence"):
        assert np.isfinite(prior.log_evidence(data)).all()
    else:
        assert np.isfinite(prior.laplace(data).approximate_log_evidence)
    assert source


def test_the_kind_of_a_column_decides_on_its_belief():
    prior, data = from_frame("naive-bayes", FRAME, Columns(), {})
    kinds = {name: type(block.belief) for name, block in prior.blocks.items()}
    assert kinds == {
        "bits": bm.BetaBernoulli,
        "numbers": bm.NormalInverseGamma,
        "eyes": bm.DirichletCategorical,
    }
    posterior = prior.update(data)
    assert posterior.coords["feature_numbers"] == ("height", "weight")
    assert posterior.coords["category_eyes"] == ("blue", "brown")


def test_the_prior_of_numbers_has_the_columns_own_mean_and_variance():
    numbers = FRAME[["height", "weight", "group"]]
    prior, _ = from_frame("normal-inverse-wishart", numbers, Columns(by="group"), {})
    np.testing.assert_allclose(prior.mean()["mu"], numbers[["height", "weight"]].mean())
    variance = numbers[["height", "weight"]].var(ddof=0)
    np.testing.assert_allclose(prior.mean()["Sigma"], np.diag(variance))
    single, _ = from_frame("normal-inverse-gamma", numbers, Columns("weight"), {"shape": 5.0})
    rows = 2 * 5  # each as far from the mean as a standard deviation
    assert single.scale / single.shape == pytest.approx(variance["weight"])
    assert 2 * single.shape == rows


def test_the_prior_of_groups_has_their_own_means_and_variances_as_from_a_row_each():
    prior, data = from_frame("normal-inverse-gamma", FRAME, Columns("weight", by="group"), {})
    for k, label in enumerate(data.groups):
        own = FRAME.loc[FRAME["group"] == label, "weight"]
        one = bm.NormalInverseGamma(own.mean(), 1, 0.5, own.var(ddof=0) / 2).update(own)
        of = prior.update(data)
        assert of.mean()["mu"][k] == pytest.approx(one.mean()["mu"])
        assert of.scale[k] == pytest.approx(one.scale)
        assert of.shape[k] == 0.5 + len(own) / 2


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_units_do_not_change_class_probabilities(covariance):
    """The unit-information prior scales with the columns."""
    numbers = FRAME[["height", "weight", "group"]]
    name = f"discriminant-{covariance}"
    prior, data = from_frame(name, numbers, Columns(), {"alpha": 2.0})
    inches = numbers.assign(height=numbers["height"] / 2.54)
    other, moved = from_frame(name, inches, Columns(), {"alpha": 2.0})
    np.testing.assert_allclose(
        other.update(moved).class_probabilities(inches[["height", "weight"]]),
        prior.update(data).class_probabilities(numbers[["height", "weight"]]),
        rtol=1e-10,
    )


def test_units_and_offsets_do_not_change_a_logistic_regression():
    numbers = FRAME[["height", "weight", "group"]]
    prior, data = from_frame("logistic-regression", numbers, Columns(), {"scale": 1.0})
    feet = numbers.assign(height=numbers["height"] / 30.48 - 5)
    other, moved = from_frame("logistic-regression", feet, Columns(), {"scale": 1.0})
    np.testing.assert_allclose(
        other.laplace(moved).class_probabilities(feet[["height", "weight"]], intercept=True),
        prior.laplace(data).class_probabilities(numbers[["height", "weight"]], intercept=True),
        rtol=1e-9,
    )
    with pytest.raises(bm.DataError, match="by: logistic-regression has no use for it"):
        from_frame("logistic-regression", FRAME, Columns(by="group"), {})


def test_parameters_of_the_prior_are_used():
    prior, _ = from_frame("discriminant-full", FRAME[["height", "weight", "group"]],
                          Columns(), {"df": 9.0, "kappa": 0.5, "alpha": 3.0})  # fmt: skip
    assert prior.gaussian.df == 9
    assert prior.gaussian.kappa == 0.5
    assert prior.classes.alpha.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("name", "frame", "columns", "words"),
    [
        (
            "discriminant-full",
            FRAME,
            Columns(),
            "column 'eyes': must hold numbers; row 1 below the heading",
        ),
        (
            "naive-bayes",
            FRAME.assign(height=1.0),
            Columns(),
            "column 'height': holds a single value",
        ),
        (
            "naive-bayes",
            FRAME,
            Columns(by="eyes"),
            "--by: naive-bayes has no use for it; leave it out.$",
        ),
        ("normal-inverse-gamma", FRAME, Columns(), "column 'group': must hold numbers"),
        ("normal-inverse-wishart", FRAME, Columns("height"), "--target: normal-inverse-wishart"),
        (
            "discriminant-shared",
            FRAME,
            Columns(features=["no"]),
            "--features: there is no column 'no'; there are",
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused(name, frame, columns, words):
    with pytest.raises(bm.DataError, match=words):
        from_frame(name, frame, columns, {})


# --- one rule for the prior of columns of numbers ------------------------------------------------


def test_without_a_prior_a_regression_knows_as_much_as_from_one_row():
    """Centred columns have independent weights: each of mean zero, as known as from one row."""
    frame = FRAME[["height", "weight"]]
    prior, data = from_frame("linear-regression", frame, Columns("weight"), {})
    x, y = frame["height"], frame["weight"]
    row = np.array([1.0, x.mean()])
    information = np.outer(row, row) + np.diag([0.0, x.var(ddof=0)])
    np.testing.assert_allclose(prior.precision, information)
    np.testing.assert_allclose(prior.mode()["w"], [y.mean(), 0.0], atol=1e-9)
    assert prior.shape == 0.5
    assert prior.scale == pytest.approx(y.var(ddof=0) / 2)
    assert np.isfinite(prior.log_evidence(data))


def test_units_and_offsets_do_not_change_a_linear_regression():
    frame = FRAME[["height", "weight"]]
    prior, data = from_frame("linear-regression", frame, Columns("weight"), {})
    other = frame.assign(height=frame["height"] / 2.54 - 1e6, weight=1000 * frame["weight"])
    moved, there = from_frame("linear-regression", other, Columns("weight"), {})
    wanted = prior.update(data).mean()["w"][1]
    assert moved.update(there).mean()["w"][1] / 2540 == pytest.approx(wanted, rel=1e-6)


def test_a_built_in_table_has_the_prior_that_the_same_table_in_a_file_has():
    for entry in catalog.ENTRIES:
        if entry.example_prior:  # then the source says so
            assert all(f"{k} = {v:g}" in catalog.example(entry.name)[2]
                       for k, v in entry.example_prior.items())  # fmt: skip
            continue
        shown, _, _ = catalog.example(entry.name)
        frame = bm.datasets.load(entry.datasets[0])
        given, _ = from_frame(entry.name, frame, entry.columns, {})
        assert repr(shown) == repr(given)


def test_what_is_given_replaces_that_parameter_alone():
    frame = FRAME[["height", "weight"]]
    prior, _ = from_frame("linear-regression", frame, Columns("weight"), {"precision": 4.0})
    np.testing.assert_allclose(prior.precision, 4 * np.eye(2))
    np.testing.assert_allclose(prior.mode()["w"], [frame["weight"].mean(), 0.0], atol=1e-9)


def test_the_prior_is_said_in_words():
    words = catalog.prior_in_words
    assert words("dirichlet-categorical", {}) == "Prior: alpha = 1."
    assert words("linear-regression", {}).startswith("Prior: the unit-information prior, as much")
    given = words("linear-regression", {"precision": 4})
    assert given.endswith("; precision = 4, shape = 0.5.")
    assert words("concept-learning", {}) == "Prior: all hypotheses are equally probable."
