"""Logistic regression by Laplace's approximation as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bayesmodels.estimators import inputs, learning
from bayesmodels.input.parameters import count
from bayesmodels.models.logistic.regression import LogisticRegression
from bayesmodels.numerics import Array


@dataclass(eq=False, repr=False)
class LogisticClassifier(ClassifierMixin, BaseEstimator):
    r"""Logistic regression, averaged over Laplace's approximation to the posterior.

    .. math:: w \sim N(m, V), \qquad p(y = c \mid x, D) \approx
        \int p(y = c \mid x, w) \, N(w \mid w^*, H^{-1}) \, dw

    Parameters
    ----------
    fit_intercept : bool, default True
        Put a column of ones before the others.
    mean : float, default 0
        m, for all weights.
    scale : float or array_like of shape (n_features,), default 2.5
        Prior standard deviation of the weights but for the intercept.
    intercept_scale : float, default 10
        That of the intercept.
    draws : int, default 4000
        Draws of the weights that probabilities are averaged over, for three classes or more.
    random_state : int, RandomState or None, default None
        Source of these draws, which are the same for all rows and calls after one `fit`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes; the first is the one whose score is 0.
    prior_ : LogisticRegression
        Before the rows.
    belief_ : LaplaceApproximation
        After them; an approximation.
    log_evidence_ : float
        Laplace's approximation to :math:`\ln p(y \mid X)`.
    n_samples_seen_, n_features_in_ : int
        Numbers of rows and columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are text.

    Notes
    -----
    There is no `partial_fit`: a logistic regression has no statistic smaller than its rows. The
    defaults expect columns of about unit variance.

    References
    ----------
    Bishop (2006), *Pattern Recognition and Machine Learning*, sections 4.4 and 4.5.

    Examples
    --------
    >>> from bayesmodels.estimators import LogisticClassifier
    >>> model = LogisticClassifier().fit([[0.5], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1])
    >>> model.predict_proba([[2.5]]).round(3)
    array([[0.503, 0.497]])
    """

    _: KW_ONLY
    fit_intercept: bool = True
    mean: float = 0.0
    scale: ArrayLike = 2.5
    intercept_scale: float = 10.0
    draws: int = 4000
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their classes.

        Parameters
        ----------
        X : array_like or frame of shape (n, n_features)
            Rows of numbers.
        y : array_like of shape (n,)
            Classes, two or more.
        sample_weight : array_like of shape (n,), optional
            How often each row counts.
        """
        X = inputs.numbers(self, X, reset=True)
        y = inputs.classes_of_rows(self, X, y)
        self.n_samples_seen_ = len(y)
        X, y, weights = inputs.weighted(X, y, sample_weight)
        learning.learn_classes(self, y)
        data = inputs.data(X, y, weights, intercept=self.fit_intercept)
        self.prior_ = self._prior().met(data)
        self.belief_ = self.prior_.laplace(data)
        self._seed = check_random_state(self.random_state).randint(2**31 - 1)
        return self

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log probability of each class for each row, of shape (n, n_classes)."""
        check_is_fitted(self)
        X = inputs.numbers(self, X, reset=False)
        return self.belief_.log_class_probabilities(
            X, intercept=self.fit_intercept, draws=self.draws, rng=np.random.default_rng(self._seed)
        )

    predict_proba = learning.predict_proba
    predict = learning.predict
    to_datatree = learning.to_datatree

    @property
    def log_evidence_(self) -> float:
        """Laplace's approximation to the log probability of the classes."""
        check_is_fitted(self)
        return self.belief_.approximate_log_evidence

    def _prior(self) -> LogisticRegression:
        inputs.parameters(self, positive=("scale", "intercept_scale"), free=("mean",))
        count(self.draws, "draws", 1)
        sd = inputs.of_columns(self, "scale", self.intercept_scale)
        return LogisticRegression(self.mean, np.diag(sd**2), self.classes_.tolist())
