"""scikit-learn's own checks, without any that is expected to fail."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_do_not_raise_errors_in_init_or_set_params,
    check_global_output_transform_pandas,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    estimator_checks_generator,
)

from bayesmodels.estimators import (
    ConjugateRegressor,
    DiscriminantClassifier,
    LogisticClassifier,
    MixtureClusterer,
    NaiveBayesClassifier,
)

ESTIMATORS = [
    NaiveBayesClassifier(),
    DiscriminantClassifier(),
    ConjugateRegressor(),
    LogisticClassifier(draws=500),
    # The checks hand the classes of three or four blobs to clusterers as y. Ours look at it: they
    # are components that are known, so that there must be as many.
    MixtureClusterer(4, starts=3),
]


def name_of(check):
    return check.func.__name__ if isinstance(check, partial) else check.__name__


def every_check():
    for estimator in ESTIMATORS:
        for each, check in estimator_checks_generator(estimator):
            # This one skips itself unless SciPy was loaded with a setting, as below.
            if name_of(check) != "check_array_api_input":
                yield pytest.param(each, check, id=f"{each!r}-{name_of(check)}")


@pytest.mark.parametrize(("estimator", "check"), list(every_check()))
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
def test_scikit_learns_checks_of_array_api():
    code = (
        "import test_checks as t\n"
        "for e in t.ESTIMATORS:\n"
        "    for each, check in t.estimator_checks_generator(e):\n"
        "        if t.name_of(check) == 'check_array_api_input':\n"
        "            check(each)\n"
        "            print('checked')\n"
    )
    setting = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": str(Path(__file__).parent)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=setting, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["checked"] * len(ESTIMATORS)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize(
    "check",
    [check_dataframe_column_names_consistency, check_do_not_raise_errors_in_init_or_set_params],
)
def test_names_of_columns(estimator, check):
    check(type(estimator).__name__, estimator)


# The checks mix frames and arrays on purpose.
@pytest.mark.filterwarnings("ignore:X has feature names, but")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    "check",
    [
        check_set_output_transform,
        check_set_output_transform_pandas,
        check_set_output_transform_polars,
        check_global_output_transform_pandas,
        check_transformer_get_feature_names_out,
        check_transformer_get_feature_names_out_pandas,
    ],
)
def test_columns_of_responsibilities(check):
    check("MixtureClusterer", MixtureClusterer(4, starts=3))
