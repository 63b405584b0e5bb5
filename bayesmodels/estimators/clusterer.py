"""A mixture of naive Bayes, fitted by EM, as a scikit-learn clusterer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from bayesmodels.errors import DataError
from bayesmodels.estimators import inputs, learning
from bayesmodels.estimators.families import FamiliesMixin
from bayesmodels.input.parameters import count
from bayesmodels.input.wrappers import Weighted
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.mixture.em_steps import Estimate
from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import xarray as xr


@dataclass(eq=False, repr=False)
class MixtureClusterer(
    FamiliesMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    r"""Mixture of naive Bayes, fitted by EM from many starts; some components may be known.

    .. math:: p(x \mid \pi, \theta) = \sum_c \pi_c \prod_j p(x_j \mid \theta_{jc})

    Parameters
    ----------
    components : int, default 2
        Number of components.
    feature_families : str or mapping, optional
        As in `NaiveBayesClassifier`.
    estimate : {"map", "mle"}
        What EM maximises; see `NaiveBayesMixture.em`.
    starts : int, default 20
        Number of random starts.
    class_alpha, alpha : float, default 2
        Pseudo-counts of each component, and of each value of a Bernoulli or categorical column and
        of each word. The mode of a posterior adds one less than these to the counts.
    mean, kappa, shape, scale : float, default 0, 0.01, 1.5 and 0.5
        Normal–inverse-gamma prior of Gaussian columns, as in `NaiveBayesClassifier`.
    budget : int, default 10000
        Number of terms beyond which there is no exact posterior, see `NaiveBayesMixture`.
    random_state : int, RandomState or None, default None
        Source of the starts.

    Attributes
    ----------
    em_ : EMResult
        All optima that were found, findings in words, AIC and BIC.
    labels_ : ndarray of shape (n,)
        Component of each row that was learnt from.
    feature_families_ : dict
        The family of each column.
    prior_ : NaiveBayesMixture
        Before the rows.
    belief_ : NaiveBayesMixture
        The exact posterior; not there if it has more terms than the budget allows.
    statistic_ : MixtureStatistic
        The distinct rows, and how often each occurs.
    log_evidence_ : float
        :math:`\ln p(X)`, exact; not there if the posterior is not. Else there is ``em_.bic``.
    n_samples_seen_, n_features_in_ : int
        Numbers of rows and columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are text.

    Notes
    -----
    Predictions are those of the best optimum of EM. There is no `partial_fit`: a mixture has no
    statistic smaller than its distinct rows. The order of components of which no row is known has
    no meaning.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, sections 11.2 to 11.4.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmodels.estimators import MixtureClusterer
    >>> bits = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 1], [0, 0, 0], [0, 0, 1], [0, 0, 0]], bool)
    >>> known = [1, -1, -1, 0, -1, -1]
    >>> model = MixtureClusterer(random_state=1).fit(bits, known)
    >>> model.labels_
    array([1, 1, 1, 0, 0, 0])
    >>> round(model.log_evidence_, 3)
    -14.191
    """

    components: int = 2
    _: KW_ONLY
    feature_families: str | Mapping[Any, Any] | None = None
    estimate: Estimate = "map"
    starts: int = 20
    class_alpha: float = 2.0
    alpha: float = 2.0
    mean: float = 0.0
    kappa: float = 0.01
    shape: float = 1.5
    scale: float = 0.5
    budget: int = 10_000
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array_like, sparse array or frame of shape (n, n_features)
            Rows; a missing cell is integrated out.
        y : array_like of shape (n,), optional
            Component of each row, a number from 0; -1 where it is not known.
        sample_weight : array_like of shape (n,), optional
            How often each row counts.
        """
        count(self.components, "components", 1)
        all_rows = self._read(X, reset=True)
        components = self._known(X, y)
        X, known, weights = inputs.weighted(all_rows, components, sample_weight)
        features = self._features(X)  # which checks the parameters, those of the classes too
        classes = DirichletCategorical(np.full(self.components, self.class_alpha))
        self.prior_ = NaiveBayesMixture(classes, features, budget=self.budget)
        data = self._rows(X) if known is None else (self._rows(X), known)
        self.statistic_ = self.prior_.statistic(
            data if weights is None else Weighted(data, weights)
        )
        self.em_ = self.prior_.em(
            self.statistic_,
            estimate=self.estimate,
            starts=self.starts,
            rng=check_random_state(self.random_state).randint(2**31 - 1),
        )
        self.labels_ = self._log_joint(all_rows).argmax(axis=1)
        if components is not None:
            self.labels_ = np.where(np.isnan(components), self.labels_, components).astype(np.int64)
        self.n_samples_seen_ = len(self.labels_)
        self._solve()
        return self

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log probability of each component for each row."""
        return np.asarray(log_softmax(self._joint_of(X), axis=1))

    predict_proba = learning.predict_proba

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable component of each row; of equally probable ones the first."""
        return np.asarray(self.predict_log_proba(X).argmax(axis=1))

    def transform(self, X: Any) -> Array:
        """Return the probability of each component for each row, as new columns."""
        return self.predict_proba(X)

    def score_samples(self, X: Any) -> Array:
        """Return the log density of each row at the best optimum."""
        return np.asarray(logsumexp(self._joint_of(X), axis=1))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows at the best optimum; y is not looked at."""
        del y
        return float(self.score_samples(X).mean())

    @property
    def belief_(self) -> NaiveBayesMixture:
        """The exact posterior, a finite mixture of beliefs."""
        self._require_solution()
        return self._belief

    @property
    def log_evidence_(self) -> float:
        """Exact log density of the rows, with all parameters integrated out over the prior."""
        self._require_solution()
        return self._log_evidence

    def to_datatree(
        self, draws: int = 1000, chains: int = 4, rng: np.random.Generator | int | None = None
    ) -> xr.DataTree:
        """Return independent draws of the exact posterior as a DataTree for ArviZ.

        Parameters
        ----------
        draws, chains : int
            Numbers of draws in a chain, and of chains.
        rng : numpy.random.Generator or int, optional
            Source of randomness, or a seed; fresh if not given.

        Raises
        ------
        DataError
            If there is no exact posterior within the budget; then there is
            ``bm.mcmc_draws(model.prior_, rows)``.
        """
        check_is_fitted(self)
        if self._refusal:
            raise DataError(self._refusal)
        return self._belief.to_datatree(draws, chains, rng)

    def _solve(self) -> None:
        """Find the exact posterior, if it is within the budget."""
        self._refusal = ""
        try:
            self._belief = self.prior_.update(self.statistic_)
            self._log_evidence = float(self.prior_.log_evidence(self.statistic_))
        except DataError as error:
            self._refusal = str(error)

    def _require_solution(self) -> None:
        check_is_fitted(self)
        if self._refusal:  # an attribute that is not there: `dir` asks for each of them
            raise AttributeError(self._refusal)

    @property
    def _n_features_out(self) -> int:
        return len(self.prior_.classes.alpha)

    def _joint_of(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._log_joint(self._read(X, reset=False))

    def _log_joint(self, X: Any) -> Array:
        joint = self.prior_.log_joint(self._rows(X), self.em_.parameters)
        never = np.isneginf(joint.max(axis=1))
        if never.any():
            raise DataError(
                f"X: row {int(never.argmax())} has probability 0 in every component. Smooth: "
                "estimate='map' with alpha above 1."
            )
        return np.asarray(joint)

    def _known(self, X: Any, y: Any) -> Array | None:
        """Return the components of rows, NaN where they are not known."""
        if y is None:
            return None
        result = inputs.targets(self, X, y)
        if result.dtype == object:
            check_classification_targets(result)
        integral = result.dtype.kind in "biuf" and (result == np.floor(result)).all()
        if not integral or (result < -1).any() or (result >= self.components).any():
            raise DataError(
                f"y: must hold known components, numbers from 0 to {self.components - 1}, and -1 "
                f"where a component is not known; got {np.unique(result)[:10].tolist()}."
            )
        return np.where(result < 0, np.nan, result.astype(float))
