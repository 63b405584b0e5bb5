"""scikit-learn's own checks, without any that is expected to fail."""

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
    parametrize_with_checks,
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
    DiscriminantClassifier("shared"),
    DiscriminantClassifier("diagonal"),
    ConjugateRegressor(),
    ConjugateRegressor(fit_intercept=False),
    LogisticClassifier(draws=500),
    # The checks hand the classes of three or four blobs to clusterers as y. Ours look at it: they
    # are components that are known, so that there must be as many.
    MixtureClusterer(4, starts=3),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


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
