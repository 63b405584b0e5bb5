"""Choosing a model by its evidence, with scikit-learn's searches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from bayesmodels.errors import DataError


class AllRows:
    """A ``cv`` with one split, in which all rows are learnt from and all are scored.

    Evidence needs no rows held out: it is what the model said of each row before it had seen it,
    given those before it.

    See Also
    --------
    log_evidence_scorer : the ``scoring`` that goes with it.

    Examples
    --------
    >>> from bayesmodels.estimators import AllRows
    >>> [(learnt.tolist(), scored.tolist()) for learnt, scored in AllRows().split([7, 8, 9])]
    [([0, 1, 2], [0, 1, 2])]
    """

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the numbers of all rows, twice."""
        del y, groups
        everything = np.arange(_num_samples(X))
        yield everything, everything

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1."""
        del X, y, groups
        return 1

    def __repr__(self) -> str:
        return "AllRows()"


def log_evidence_scorer(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    r"""Return the log evidence of the rows that an estimator of this package was fitted to.

    .. math:: \ln p(D \mid \text{prior}) = \sum_i \ln p(x_i \mid x_1, \ldots, x_{i-1})

    Parameters
    ----------
    estimator : estimator or Pipeline
        Fitted; of a pipeline, the last step counts.
    X, y, sample_weight : array_like
        The rows it was fitted to, all of them. Weights are in the evidence already.

    Returns
    -------
    float
        Natural logarithm. Differences between two priors of one model are log Bayes factors.

    Raises
    ------
    DataError
        If the estimator has no evidence, as under an improper prior, or more or fewer rows are to
        be scored than it has seen. (Two equal halves are not told apart.)

    Notes
    -----
    Evidences can be compared if they are of the same data. The generative models' are densities of
    X and y: in a search that changes the columns before them, they have different units. Those of
    `ConjugateRegressor` and `LogisticClassifier` are of y given X, where the columns may differ.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> from sklearn.model_selection import GridSearchCV
    >>> from bayesmodels.estimators import AllRows, DiscriminantClassifier, log_evidence_scorer
    >>> flowers = bm.datasets.load("iris")
    >>> search = GridSearchCV(
    ...     DiscriminantClassifier(),
    ...     {"covariance": ["full", "shared", "diagonal"]},
    ...     scoring=log_evidence_scorer,
    ...     cv=AllRows(),
    ...     error_score="raise",
    ... )
    >>> search.fit(flowers.drop(columns="species"), flowers["species"]).best_params_
    {'covariance': 'full'}
    """
    del y, sample_weight
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if "log_evidence_" not in dir(type(last)):
        raise DataError(
            f"estimator: must be one of bayesmodels.estimators, or a pipeline that ends in one; "
            f"got {type(last).__name__}, which has no log_evidence_."
        )
    rows = _num_samples(X)
    if rows != last.n_samples_seen_:
        raise DataError(
            f"cv: evidence is of all rows that a model was fitted to, {last.n_samples_seen_}; got "
            f"{rows} rows to be scored. Use cv=AllRows()."
        )
    try:
        return float(last.log_evidence_)
    except AttributeError as error:
        raise DataError(str(error)) from error
