"""Naive Bayes as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesmodels.estimators import classifying, inputs, learning
from bayesmodels.estimators.families import POSITIVE, Priors, blocks, families, rows
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.naive_bayes import NaiveBayes
from bayesmodels.numerics import Array


class NaiveBayesClassifier(ClassifierMixin, BaseEstimator):
    r"""Naive Bayes with a family for each column, all parameters integrated out.

    .. math:: p(y = c \mid x, D) \propto p(c \mid D) \prod_j p(x_j \mid c, D)

    Parameters
    ----------
    feature_families : str or mapping, optional
        ``"bernoulli"``, ``"categorical"``, ``"counts"`` or ``"gaussian"``, for all columns; or from
        a column's name (its number, in arrays) to one of these or to a belief about the column:
        `BetaBernoulli`, `DirichletCategorical` or `NormalInverseGamma`. Columns that are not named
        get a family by their dtype: booleans are Bernoulli, text and categories categorical,
        numbers Gaussian. Counts are never guessed; all columns of counts together are one bag of
        words, and may be sparse if there are no others.
    class_alpha : float, default 1
        Pseudo-count of each class.
    alpha : float, default 1
        Pseudo-count of each value of a Bernoulli or categorical column, and of each word.
    mean, kappa, shape, scale : float, default 0, 0.01, 1.5 and 0.5
        Normal–inverse-gamma prior of Gaussian columns, see `NormalInverseGamma`. The defaults
        expect columns of about unit variance, such as those of a ``StandardScaler``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes.
    feature_families_ : dict
        The family of each column.
    prior_, belief_ : NaiveBayes
        Before and after the rows.
    statistic_ : ClassStatistic
        Of all rows.
    log_evidence_ : float
        :math:`\ln p(X, y)`, all parameters integrated out over the prior.
    n_samples_seen_, n_features_in_ : int
        Numbers of rows and columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are text.

    Notes
    -----
    Missing cells are integrated out. A row of weight zero is as one that is not there. A category
    that a column had neither in its dtype nor in the first rows is a `DataError`, unless the
    column's belief has one for all ``other`` labels.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 3.5.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesmodels.estimators import NaiveBayesClassifier
    >>> table = pd.DataFrame(
    ...     {"smoker": [True, False, True, False], "age": [1.3, -0.2, -0.4, -1.2]}
    ... )
    >>> model = NaiveBayesClassifier().fit(table, ["ill", "well", "ill", "well"])
    >>> model.feature_families_
    {'smoker': 'bernoulli', 'age': 'gaussian'}
    >>> model.predict_proba(table).round(2)[0]
    array([0.97, 0.03])
    >>> round(model.log_evidence_, 3)
    -15.639
    """

    def __init__(
        self,
        feature_families: str | Mapping[Any, Any] | None = None,
        *,
        class_alpha: float = 1.0,
        alpha: float = 1.0,
        mean: float = 0.0,
        kappa: float = 0.01,
        shape: float = 1.5,
        scale: float = 0.5,
    ) -> None:
        self.feature_families = feature_families
        self.class_alpha = class_alpha
        self.alpha = alpha
        self.mean = mean
        self.kappa = kappa
        self.shape = shape
        self.scale = scale

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their classes.

        Parameters
        ----------
        X : array_like, sparse array or frame of shape (n, n_features)
            Rows; a missing cell is integrated out.
        y : array_like of shape (n,)
            Classes.
        sample_weight : array_like of shape (n,), optional
            How often each row counts.
        """
        X = inputs.table(self, X, reset=True, counts=self.feature_families == "counts")
        y = inputs.classes_of_rows(self, X, y)
        n = len(y)
        X, y, weights = inputs.weighted(X, y, sample_weight)
        classifying.learn_classes(self, y)
        self._begin(X)
        return learning.learn(self, inputs.pairs(self._rows(X), y, weights), rows=n)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows: in the end, as `fit` does from all of them.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. The first rows must have columns of the right dtypes and, unless the dtype
            lists them, all categories.
        classes : array_like of shape (n_classes,), optional
            All classes; needed in the first call.
        """
        first = classifying.first_call(self, classes)
        X = inputs.table(self, X, reset=first, counts=self.feature_families == "counts")
        y = inputs.classes_of_rows(self, X, y)
        classifying.known_classes(self, y)
        n = len(y)
        X, y, weights = inputs.weighted(X, y, sample_weight)
        if first:
            self._begin(X)
        data = inputs.pairs(self._rows(X), y, weights)
        return learning.learn(self, data, rows=n, more=not first)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return ln p(c, x | rows learnt from) of each row and class, of shape (n, n_classes)."""
        check_is_fitted(self)
        X = inputs.table(self, X, reset=False, counts=self.feature_families == "counts")
        return np.asarray(self.belief_.log_joint(self._rows(X)))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log probability of each class for each row, of shape (n, n_classes)."""
        return np.asarray(log_softmax(self.predict_joint_log_proba(X), axis=1))

    predict_proba = classifying.predict_proba
    predict = classifying.predict
    log_evidence_ = property(learning.log_evidence)
    to_datatree = learning.to_datatree

    def _begin(self, X: Any) -> None:
        """Make the prior, of the columns that there are."""
        names = inputs.columns(self)
        inputs.parameters(self, positive=POSITIVE, free=("mean",))
        self.feature_families_, self._beliefs = families(X, names, self.feature_families)
        priors = Priors(self.alpha, self.mean, self.kappa, self.shape, self.scale)
        classes = DirichletCategorical(
            np.full(len(self.classes_), self.class_alpha), self.classes_.tolist()
        )
        self.prior_ = NaiveBayes(classes, blocks(X, self.feature_families_, self._beliefs, priors))

    def _rows(self, X: Any) -> Any:
        return rows(X, self.feature_families_, self._beliefs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = self.feature_families == "counts"
        return tags
