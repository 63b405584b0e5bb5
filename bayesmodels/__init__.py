"""Classical Bayesian models, each as algebra and as PyMC, and a referee between the two.

>>> import bayesmodels as bm
>>> bm.BetaBernoulli(2, 2).update([1, 0, 0, 1, 0]).mean()["theta"].round(4)
np.float64(0.4444)

Public names are loaded on first use: closed forms work without importing PyMC, ArviZ or Matplotlib.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bayesmodels.conjugacy.partial import PartialPosterior as PartialPosterior
    from bayesmodels.conjugacy.posterior import ExactPosterior as ExactPosterior
    from bayesmodels.conjugacy.solve import exact as exact
    from bayesmodels.data import BinomialCounts as BinomialCounts
    from bayesmodels.data import Design as Design
    from bayesmodels.data import Grouped as Grouped
    from bayesmodels.data import MultinomialCounts as MultinomialCounts
    from bayesmodels.data import Weighted as Weighted
    from bayesmodels.decision import bayes_risk as bayes_risk
    from bayesmodels.decision import boundary as boundary
    from bayesmodels.draws import exact_draws as exact_draws
    from bayesmodels.draws import mcmc_draws as mcmc_draws
    from bayesmodels.errors import DataError as DataError
    from bayesmodels.errors import ModeError as ModeError
    from bayesmodels.errors import NotConjugate as NotConjugate
    from bayesmodels.errors import NumericsWarning as NumericsWarning
    from bayesmodels.errors import PriorError as PriorError
    from bayesmodels.errors import SeparationError as SeparationError
    from bayesmodels.evidence import compare_evidence as compare_evidence
    from bayesmodels.gibbs import gibbs_draws as gibbs_draws
    from bayesmodels.information import mutual_information as mutual_information
    from bayesmodels.information import mutual_information_normal as mutual_information_normal
    from bayesmodels.label_switching import label_invariants as label_invariants
    from bayesmodels.label_switching import relabel as relabel
    from bayesmodels.models.beta_bernoulli import BernoulliStatistic as BernoulliStatistic
    from bayesmodels.models.beta_bernoulli import BetaBernoulli as BetaBernoulli
    from bayesmodels.models.concept import ConceptLearning as ConceptLearning
    from bayesmodels.models.concept import HypothesisStatistic as HypothesisStatistic
    from bayesmodels.models.dirichlet_categorical import (
        CategoricalStatistic as CategoricalStatistic,
    )
    from bayesmodels.models.dirichlet_categorical import (
        DirichletCategorical as DirichletCategorical,
    )
    from bayesmodels.models.discriminant import GaussianDiscriminant as GaussianDiscriminant
    from bayesmodels.models.laplace import LaplaceApproximation as LaplaceApproximation
    from bayesmodels.models.latent_rows import MixtureStatistic as MixtureStatistic
    from bayesmodels.models.least_squares import least_squares_descent as least_squares_descent
    from bayesmodels.models.linear_regression import LinearRegression as LinearRegression
    from bayesmodels.models.linear_regression import RegressionStatistic as RegressionStatistic
    from bayesmodels.models.logistic_regression import LogisticRegression as LogisticRegression
    from bayesmodels.models.mixture import NaiveBayesMixture as NaiveBayesMixture
    from bayesmodels.models.mixture_em import EMResult as EMResult
    from bayesmodels.models.naive_bayes import NaiveBayes as NaiveBayes
    from bayesmodels.models.normal_inverse_gamma import NormalInverseGamma as NormalInverseGamma
    from bayesmodels.models.normal_inverse_gamma import NormalStatistic as NormalStatistic
    from bayesmodels.models.normal_inverse_wishart import (
        MultivariateNormalStatistic as MultivariateNormalStatistic,
    )
    from bayesmodels.models.normal_inverse_wishart import (
        NormalInverseWishart as NormalInverseWishart,
    )
    from bayesmodels.models.shared_covariance import (
        SharedNormalInverseWishart as SharedNormalInverseWishart,
    )
    from bayesmodels.models.shared_covariance import (
        SharedNormalStatistic as SharedNormalStatistic,
    )
    from bayesmodels.models.unknown_ratio import ratio_posterior as ratio_posterior
    from bayesmodels.pair import logistic_coefficients as logistic_coefficients
    from bayesmodels.ranking import rank_features as rank_features
    from bayesmodels.referee import Calibration as Calibration
    from bayesmodels.referee import approximation_error as approximation_error
    from bayesmodels.referee import bridge_sampling as bridge_sampling
    from bayesmodels.referee import calibrate as calibrate
    from bayesmodels.referee import check_evidence as check_evidence
    from bayesmodels.referee import check_identity as check_identity
    from bayesmodels.referee import check_joint as check_joint
    from bayesmodels.referee import compare as compare
    from bayesmodels.referee import compare_until_decided as compare_until_decided
    from bayesmodels.referee import diagnose as diagnose
    from bayesmodels.referee import leave_one_out as leave_one_out
    from bayesmodels.report import validate as validate
    from bayesmodels.report import validate_draws as validate_draws
    from bayesmodels.report.classes import plot_boundary as plot_boundary
    from bayesmodels.report.classes import plot_class_densities as plot_class_densities
    from bayesmodels.report.classes import plot_feature_ranking as plot_feature_ranking
    from bayesmodels.report.concept import plot_hypotheses as plot_hypotheses
    from bayesmodels.report.concept import plot_membership as plot_membership
    from bayesmodels.report.mixtures import plot_class_profiles as plot_class_profiles
    from bayesmodels.report.mixtures import plot_co_clustering as plot_co_clustering
    from bayesmodels.report.mixtures import plot_em_trace as plot_em_trace
    from bayesmodels.sampling import sample as sample
    from bayesmodels.sensitivity import prior_sensitivity as prior_sensitivity
    from bayesmodels.stored import load as load
    from bayesmodels.stored import save as save

_HOMES = {
    "BernoulliStatistic": "models.beta_bernoulli",
    "BetaBernoulli": "models.beta_bernoulli",
    "BinomialCounts": "data",
    "CategoricalStatistic": "models.dirichlet_categorical",
    "ConceptLearning": "models.concept",
    "DataError": "errors",
    "Design": "data",
    "DirichletCategorical": "models.dirichlet_categorical",
    "EMResult": "models.mixture_em",
    "ExactPosterior": "conjugacy.posterior",
    "GaussianDiscriminant": "models.discriminant",
    "Grouped": "data",
    "HypothesisStatistic": "models.concept",
    "LaplaceApproximation": "models.laplace",
    "LinearRegression": "models.linear_regression",
    "LogisticRegression": "models.logistic_regression",
    "MixtureStatistic": "models.latent_rows",
    "ModeError": "errors",
    "MultinomialCounts": "data",
    "MultivariateNormalStatistic": "models.normal_inverse_wishart",
    "NaiveBayes": "models.naive_bayes",
    "NaiveBayesMixture": "models.mixture",
    "NormalInverseGamma": "models.normal_inverse_gamma",
    "NormalInverseWishart": "models.normal_inverse_wishart",
    "NormalStatistic": "models.normal_inverse_gamma",
    "NotConjugate": "errors",
    "NumericsWarning": "errors",
    "PartialPosterior": "conjugacy.partial",
    "PriorError": "errors",
    "RegressionStatistic": "models.linear_regression",
    "SeparationError": "errors",
    "SharedNormalInverseWishart": "models.shared_covariance",
    "SharedNormalStatistic": "models.shared_covariance",
    "Weighted": "data",
    "approximation_error": "referee",
    "bayes_risk": "decision",
    "boundary": "decision",
    "bridge_sampling": "referee",
    "check_evidence": "referee",
    "check_identity": "referee",
    "check_joint": "referee",
    "Calibration": "referee",
    "calibrate": "referee",
    "compare": "referee",
    "compare_evidence": "evidence",
    "compare_until_decided": "referee",
    "datasets": "",
    "diagnose": "referee",
    "estimators": "",
    "exact": "conjugacy.solve",
    "exact_draws": "draws",
    "gibbs_draws": "gibbs",
    "label_invariants": "label_switching",
    "leave_one_out": "referee",
    "least_squares_descent": "models.least_squares",
    "load": "stored",
    "logistic_coefficients": "pair",
    "mcmc_draws": "draws",
    "mutual_information": "information",
    "mutual_information_normal": "information",
    "plot_boundary": "report.classes",
    "plot_class_densities": "report.classes",
    "plot_class_profiles": "report.mixtures",
    "plot_co_clustering": "report.mixtures",
    "plot_em_trace": "report.mixtures",
    "plot_feature_ranking": "report.classes",
    "plot_hypotheses": "report.concept",
    "plot_membership": "report.concept",
    "prior_sensitivity": "sensitivity",
    "rank_features": "ranking",
    "ratio_posterior": "models.unknown_ratio",
    "relabel": "label_switching",
    "sample": "sampling",
    "save": "stored",
    "scale": "",
    "validate": "report",
    "validate_draws": "report",
}

# What an extra brings is offered if that is installed; asked for by name, it says what is missing.
_OFFERED = _HOMES if find_spec("sklearn") else _HOMES.keys() - {"estimators"}

__all__ = sorted(_OFFERED)  # noqa: PLE0605 - a list, of the names above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'bayesmodels' has no attribute {name!r}"
        raise AttributeError(msg)
    home = _HOMES[name]
    if not home:
        return import_module(f"bayesmodels.{name}")
    return getattr(import_module(f"bayesmodels.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
