"""Conjugate linear regression as a scikit-learn regressor."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _is_fitted, check_is_fitted

from bayesmodels.belief.intervals import renamed
from bayesmodels.errors import DataError, PriorError
from bayesmodels.estimators import inputs, learning
from bayesmodels.input.parameters import proportion
from bayesmodels.models.linear_regression import LinearRegression


@dataclass(eq=False, repr=False)
class ConjugateRegressor(RegressorMixin, BaseEstimator):
    r"""Linear regression with unknown noise variance, all parameters integrated out.

    .. math:: y \mid x, w, \sigma^2 \sim N(x^\top w, \sigma^2), \quad
        w \mid \sigma^2 \sim N(m, \sigma^2 P^{-1}), \quad
        \sigma^2 \sim \mathrm{InverseGamma}(a, b)

    Parameters
    ----------
    fit_intercept : bool, default True
        Put a column of ones before the others.
    mean : float or array_like, default 0
        m, for all coefficients or one each, the intercept first.
    precision : float or array_like of shape (n_features,), default 1
        Diagonal of P but for the intercept, in units of 1 / sigma2; 0 is flat.
    intercept_precision : float, default 0.01
        That of the intercept.
    shape, scale : float, default 1.5 and 0.5
        a and b, the inverse-gamma prior of sigma2.

    Attributes
    ----------
    prior_, belief_ : LinearRegression
        Before and after the rows.
    statistic_ : RegressionStatistic
        Of all rows.
    log_evidence_ : float
        :math:`\ln p(y \mid X)`, all parameters integrated out over the prior; not there if that
        is improper.
    n_samples_seen_, n_features_in_ : int
        Numbers of rows and columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are text.

    Notes
    -----
    The defaults expect columns and targets of about unit variance.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 7.6.3.

    Examples
    --------
    >>> from bayesmodels.estimators import ConjugateRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 8.0]
    >>> model = ConjugateRegressor(precision=0.1).fit(X, y)
    >>> model.predict([[4.0]]).round(2)
    array([9.89])
    >>> mean, ends = model.predict([[4.0]], return_interval=True, ci_prob=0.9)
    >>> ends.round(2)
    array([[ 8.37, 11.41]])
    """

    _: KW_ONLY
    fit_intercept: bool = True
    mean: ArrayLike = 0.0
    precision: ArrayLike = 1.0
    intercept_precision: float = 0.01
    shape: float = 1.5
    scale: float = 0.5

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their targets.

        Parameters
        ----------
        X : array_like or frame of shape (n, n_features)
            Rows of numbers.
        y : array_like of shape (n,)
            Targets.
        sample_weight : array_like of shape (n,), optional
            How often each row counts.
        """
        return self._learn(X, y, sample_weight, first=True)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from some more rows: in the end, as `fit` does from all of them.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        return self._learn(X, y, sample_weight, first=not _is_fitted(self, "statistic_"))

    @renamed
    def predict(
        self,
        X: Any,
        return_std: bool = False,  # noqa: FBT001, FBT002 - as in scikit-learn
        return_interval: bool = False,  # noqa: FBT001, FBT002 - likewise
        ci_prob: float = 0.89,
    ) -> Any:
        """Return the mean of each row's Student-t law, which is the location of it.

        Parameters
        ----------
        X : array_like or frame of shape (n, n_features)
            New rows.
        return_std : bool, default False
            Return its standard deviation, too.
        return_interval : bool, default False
            Return an interval that holds the new target with probability `ci_prob`, too.
        ci_prob : float, default 0.89
            Probability of the equal-tailed interval.

        Returns
        -------
        ndarray of shape (n,), or pair of it and the standard deviations or intervals
            Standard deviations have the shape (n,), intervals (n, 2).

        Raises
        ------
        DataError
            If both are asked for, or `ci_prob` is no probability.
        PriorError
            If the law of new rows has no variance: too few rows under a flat prior.
        """
        check_is_fitted(self)
        if return_std and return_interval:
            raise DataError(
                "return_interval: must not be asked for together with return_std; call twice."
            )
        X = inputs.numbers(self, X, reset=False)
        law = self.belief_.predictive(X, intercept=self.fit_intercept)
        mean = np.asarray(law.median())  # which has no need of two degrees of freedom
        if return_std:
            if not self.belief_.shape > 1:
                raise PriorError(
                    f"return_std: the law of new rows has {2 * float(self.belief_.shape):g} "
                    "degrees of freedom, and no variance; it needs more than 2. Ask for intervals."
                )
            return mean, np.asarray(law.std())
        if return_interval:
            ci_prob = proportion(ci_prob, "ci_prob")
            ends = [law.ppf((1 - ci_prob) / 2), law.isf((1 - ci_prob) / 2)]
            return mean, np.stack(ends, axis=-1)
        return mean

    log_evidence_ = property(learning.log_evidence)
    to_datatree = learning.to_datatree

    def _learn(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> Self:
        X = inputs.numbers(self, X, reset=first)
        y = inputs.targets_of_rows(self, X, y)
        n = len(y)
        X, y, weights = inputs.weighted(X, y, sample_weight)
        if first:
            self.prior_ = self._prior()
        data = inputs.data(X, y, weights, intercept=self.fit_intercept)
        return learning.learn(self, data, rows=n, more=not first)

    def _prior(self) -> LinearRegression:
        nonnegative = ("precision", "intercept_precision", "scale")
        inputs.parameters(self, nonnegative=nonnegative, free=("mean", "shape"))
        diagonal = inputs.of_columns(self, "precision", self.intercept_precision)
        return LinearRegression(self.mean, np.diag(diagonal), self.shape, self.scale)
