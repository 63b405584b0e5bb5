"""Gaussian discriminant analysis as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesmodels.estimators import classifying, inputs, learning
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.gaussian_discriminant import Covariance, GaussianDiscriminant
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.models.normal import NormalInverseGamma
from bayesmodels.numerics import Array


class DiscriminantClassifier(ClassifierMixin, BaseEstimator):
    r"""Gaussian discriminant analysis, means and covariances integrated out.

    .. math:: p(y = c \mid x, D) \propto p(c \mid D) \, p(x \mid c, D)

    Parameters
    ----------
    covariance : {"full", "shared", "proportional", "diagonal"}
        What is assumed of the covariances of the classes; see `GaussianDiscriminant`.
    ratio : array_like, optional
        For ``"proportional"``: one a class, or for two classes that of the second to the first.
    class_alpha : float, default 1
        Pseudo-count of each class.
    mean, kappa : float, default 0 and 0.01
        Prior mean of every column, and the number of rows that it weighs as much as.
    df : float, optional
        Prior degrees of freedom of a covariance; by default the number of columns plus 2 (for
        ``"diagonal"`` 3, of each variance), so that `scale` is the variance that is expected.
    scale : float, default 1
        Scale matrix of a covariance: this multiple of the identity.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes.
    prior_, belief_ : GaussianDiscriminant
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
    The defaults expect columns of about unit variance, such as those of a ``StandardScaler``. A
    variance of ``"diagonal"`` has the inverse-gamma prior with shape df / 2 and scale / 2.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 4.2.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> from bayesmodels.estimators import DiscriminantClassifier
    >>> flowers = bm.datasets.load("iris")
    >>> X, y = flowers.drop(columns="species"), flowers["species"]
    >>> kinds = "full", "shared", "diagonal"
    >>> [round(DiscriminantClassifier(kind).fit(X, y).log_evidence_) for kind in kinds]
    [-351, -355, -447]
    """

    def __init__(
        self,
        covariance: Covariance = "full",
        *,
        ratio: ArrayLike | None = None,
        class_alpha: float = 1.0,
        mean: float = 0.0,
        kappa: float = 0.01,
        df: float | None = None,
        scale: float = 1.0,
    ) -> None:
        self.covariance = covariance
        self.ratio = ratio
        self.class_alpha = class_alpha
        self.mean = mean
        self.kappa = kappa
        self.df = df
        self.scale = scale

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their classes.

        Parameters
        ----------
        X : array_like or frame of shape (n, n_features)
            Rows of numbers.
        y : array_like of shape (n,)
            Classes.
        sample_weight : array_like of shape (n,), optional
            How often each row counts.
        """
        X = inputs.numbers(self, X, reset=True)
        y = inputs.classes_of_rows(self, X, y)
        n = len(y)
        X, y, weights = inputs.weighted(X, y, sample_weight)
        classifying.learn_classes(self, y)
        self._begin()
        return learning.learn(self, inputs.pairs(X, y, weights), rows=n)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows: in the end, as `fit` does from all of them.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array_like of shape (n_classes,), optional
            All classes; needed in the first call.
        """
        first = classifying.first_call(self, classes)
        X = inputs.numbers(self, X, reset=first)
        y = inputs.classes_of_rows(self, X, y)
        classifying.known_classes(self, y)
        n = len(y)
        X, y, weights = inputs.weighted(X, y, sample_weight)
        if first:
            self._begin()
        data = inputs.pairs(X, y, weights)
        return learning.learn(self, data, rows=n, more=not first)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return ln p(c, x | rows learnt from) of each row and class, of shape (n, n_classes)."""
        check_is_fitted(self)
        return np.asarray(self.belief_.log_joint(inputs.numbers(self, X, reset=False)))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log probability of each class for each row, of shape (n, n_classes)."""
        return np.asarray(log_softmax(self.predict_joint_log_proba(X), axis=1))

    predict_proba = classifying.predict_proba
    predict = classifying.predict
    log_evidence_ = property(learning.log_evidence)
    to_datatree = learning.to_datatree

    def _begin(self) -> None:
        """Make the prior, of as many columns as there are."""
        positive = ("class_alpha", "kappa", "scale", "df", "ratio")
        inputs.parameters(self, positive=positive, free=("mean",))
        width = self.n_features_in_
        classes = DirichletCategorical(
            np.full(len(self.classes_), self.class_alpha), self.classes_.tolist()
        )
        gaussian: Any
        if self.covariance == "diagonal":
            df = 3 if self.df is None else self.df
            gaussian = NormalInverseGamma(self.mean, self.kappa, df / 2, self.scale / 2)
        else:
            df = width + 2 if self.df is None else self.df
            scale = self.scale * np.eye(width)
            gaussian = NormalInverseWishart(np.full(width, self.mean), self.kappa, df, scale)
        self.prior_ = GaussianDiscriminant(classes, gaussian, self.covariance, self.ratio)
