"""Gaussian discriminant analysis as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesmodels.estimators import inputs, learning
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.gaussian_discriminant import Covariance, GaussianDiscriminant
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.models.normal import NormalInverseGamma


@dataclass(eq=False, repr=False)
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

    covariance: Covariance = "full"
    _: KW_ONLY
    ratio: ArrayLike | None = None
    class_alpha: float = 1.0
    mean: float = 0.0
    kappa: float = 0.01
    df: float | None = None
    scale: float = 1.0

    fit = learning.fit
    partial_fit = learning.partial_fit
    predict_joint_log_proba = learning.predict_joint_log_proba
    predict_log_proba = learning.predict_log_proba
    predict_proba = learning.predict_proba
    predict = learning.predict
    log_evidence_ = property(learning.log_evidence)
    to_datatree = learning.to_datatree
    _read = inputs.numbers

    def _rows(self, X: Any) -> Any:
        return X

    def _prior(self, X: Any) -> GaussianDiscriminant:
        positive = ("class_alpha", "kappa", "scale", "df", "ratio")
        inputs.parameters(self, positive=positive, free=("mean",))
        width, labels = X.shape[1], self.classes_.tolist()
        gaussian: Any
        if self.covariance == "diagonal":
            df = 3 if self.df is None else self.df
            gaussian = NormalInverseGamma(self.mean, self.kappa, df / 2, self.scale / 2)
        else:
            df = width + 2 if self.df is None else self.df
            scale = self.scale * np.eye(width)
            gaussian = NormalInverseWishart(np.full(width, self.mean), self.kappa, df, scale)
        classes = DirichletCategorical(np.full(len(labels), self.class_alpha), labels)
        return GaussianDiscriminant(classes, gaussian, self.covariance, self.ratio)
