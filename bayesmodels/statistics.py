"""What models make of rows: sufficient statistics, which `+` merges and `update` takes."""

from bayesmodels.models.bernoulli import BernoulliStatistic
from bayesmodels.models.categorical import CategoricalStatistic
from bayesmodels.models.hypotheses import HypothesisStatistic
from bayesmodels.models.linear_regression import RegressionStatistic
from bayesmodels.models.mixture.latent_rows import MixtureStatistic
from bayesmodels.models.multivariate_normal import MultivariateNormalStatistic
from bayesmodels.models.normal import NormalStatistic
from bayesmodels.models.rates import EventStatistic
from bayesmodels.models.shared_covariance import SharedNormalStatistic

__all__ = [
    "BernoulliStatistic",
    "CategoricalStatistic",
    "EventStatistic",
    "HypothesisStatistic",
    "MixtureStatistic",
    "MultivariateNormalStatistic",
    "NormalStatistic",
    "RegressionStatistic",
    "SharedNormalStatistic",
]
