"""What leaves an answer right, but to few digits or not finished, is one kind of warning."""

import warnings

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.command import cli

X = np.linspace(-1, 1, 30)
Y = np.sin(3 * X)
BITS = np.random.default_rng(1).integers(0, 2, (60, 4))


def near(gap, offset=0.0):
    return np.column_stack([X**0, offset + X, offset + X + gap * np.cos(9 * X)])


def mixture():
    return bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))


def two_columns(gap):
    return np.column_stack([X, X + gap * np.cos(9 * X)])


def vectors(gap):
    prior = bm.NormalInverseWishart([0, 0], 1, 4, 1e-20 * np.eye(2))
    return prior.update(two_columns(gap))


CASES = {
    "columns nearly alike": (
        lambda: bm.LinearRegression.flat(["one", "a", "b"]).update((near(1e-10), Y)),
        r"\['b'\] are so nearly combinations .* about 11 of 16 digits",
    ),
    "one problem of a batch": (
        lambda: bm.LinearRegression.flat(3).update(
            (np.stack([near(1.0), near(1e-10)], axis=1), np.stack([Y, Y], axis=1))
        ),
        r"\[2\] are so nearly",
    ),
    "normal vectors": (lambda: vectors(1e-5), "share of .*e-1[01] of its variance"),
    "EM with too few steps": (
        lambda: mixture().em(BITS, starts=2, iterations=1, rng=1),
        "allow more iterations",
    ),
    "EM over chunks": (
        lambda: bm.scale.em(mixture(), [BITS[:30], BITS[30:]], starts=2, iterations=1, rng=1),
        "allow more iterations",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_at_whose_line(case):
    do, words = CASES[case]
    with pytest.warns(bm.NumericsWarning, match=words) as seen:
        do()
    assert {warning.filename for warning in seen} == {__file__}


@pytest.mark.parametrize(
    "data",
    [
        (near(1e-4), Y),
        (near(1e-4, offset=1e4), Y),
        (near(1.0, offset=1e8), Y),
        (near(1.0) * [1e-120, 1e120, 1], Y),
    ],
    ids=["close", "close and moved", "moved far", "scales"],
)
def test_what_costs_few_digits_is_not_said(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bm.LinearRegression.flat(3).update(data)


def test_covariances_that_cost_few_digits_are_not_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors(1e-2)


def test_what_has_no_digit_is_an_error_where_it_is_asked_for():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior = bm.LinearRegression.flat(3).update((near(0.0), Y))
    with pytest.raises(bm.PriorError, match="flat in the direction of"):
        posterior.marginals()


def test_a_command_says_it_in_one_line(capsys):
    with cli._speaking_errors(""):
        vectors(1e-5)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("Warning: scale: a column is")


def test_a_command_leaves_other_warnings_alone():
    with pytest.warns(UserWarning, match="something else"), cli._speaking_errors(""):
        warnings.warn("something else", stacklevel=1)
