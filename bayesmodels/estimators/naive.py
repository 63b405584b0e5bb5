"""Naive Bayes as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesmodels.estimators import learning
from bayesmodels.estimators.families import FamiliesMixin
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.naive_bayes import NaiveBayes


@dataclass(eq=False, repr=False)
class NaiveBayesClassifier(FamiliesMixin, ClassifierMixin, BaseEstimator):
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

    feature_families: str | Mapping[Any, Any] | None = None
    _: KW_ONLY
    class_alpha: float = 1.0
    alpha: float = 1.0
    mean: float = 0.0
    kappa: float = 0.01
    shape: float = 1.5
    scale: float = 0.5

    fit = learning.fit
    partial_fit = learning.partial_fit
    predict_joint_log_proba = learning.predict_joint_log_proba
    predict_log_proba = learning.predict_log_proba
    predict_proba = learning.predict_proba
    predict = learning.predict
    log_evidence_ = property(learning.log_evidence)
    to_datatree = learning.to_datatree

    def _prior(self, X: Any) -> NaiveBayes:
        features = self._features(X)
        labels = self.classes_.tolist()
        return NaiveBayes(
            DirichletCategorical(np.full(len(labels), self.class_alpha), labels), features
        )
