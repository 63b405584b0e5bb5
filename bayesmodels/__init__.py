"""Classical Bayesian models, each as algebra and as PyMC, and a referee between the two.

>>> import bayesmodels as bm
>>> bm.BetaBernoulli(2, 2).update([1, 0, 0, 1, 0]).mean()["theta"].round(4)
np.float64(0.4444)

Public names are loaded on first use: closed forms work without importing PyMC, ArviZ or Matplotlib.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from bayesmodels.decisions.decision import decide as decide
    from bayesmodels.draws import exact_draws as exact_draws
    from bayesmodels.draws import mcmc_draws as mcmc_draws
    from bayesmodels.errors import DataError as DataError
    from bayesmodels.errors import ModeError as ModeError
    from bayesmodels.errors import NotConjugate as NotConjugate
    from bayesmodels.errors import NumericsWarning as NumericsWarning
    from bayesmodels.errors import PriorError as PriorError
    from bayesmodels.errors import SeparationError as SeparationError
    from bayesmodels.input.tables import read_table as read_table
    from bayesmodels.input.wrappers import BinomialCounts as BinomialCounts
    from bayesmodels.input.wrappers import Censored as Censored
    from bayesmodels.input.wrappers import Counts as Counts
    from bayesmodels.input.wrappers import Design as Design
    from bayesmodels.input.wrappers import Grouped as Grouped
    from bayesmodels.input.wrappers import MultinomialCounts as MultinomialCounts
    from bayesmodels.input.wrappers import Weighted as Weighted
    from bayesmodels.models.bernoulli import BetaBernoulli as BetaBernoulli
    from bayesmodels.models.categorical import (
        DirichletCategorical as DirichletCategorical,
    )
    from bayesmodels.models.classifiers.gaussian_discriminant import (
        GaussianDiscriminant as GaussianDiscriminant,
    )
    from bayesmodels.models.classifiers.naive_bayes import NaiveBayes as NaiveBayes
    from bayesmodels.models.classifiers.ranking import rank_features as rank_features
    from bayesmodels.models.gamma_exponential import GammaExponential as GammaExponential
    from bayesmodels.models.gamma_poisson import GammaPoisson as GammaPoisson
    from bayesmodels.models.hypotheses import ConceptLearning as ConceptLearning
    from bayesmodels.models.least_squares import least_squares_descent as least_squares_descent
    from bayesmodels.models.linear_regression import LinearRegression as LinearRegression
    from bayesmodels.models.logistic.regression import LogisticRegression as LogisticRegression
    from bayesmodels.models.mixture.label_switching import relabel as relabel
    from bayesmodels.models.mixture.naive_bayes_mixture import (
        NaiveBayesMixture as NaiveBayesMixture,
    )
    from bayesmodels.models.multivariate_normal import (
        NormalInverseWishart as NormalInverseWishart,
    )
    from bayesmodels.models.normal import NormalInverseGamma as NormalInverseGamma
    from bayesmodels.models.shared_covariance import (
        SharedNormalInverseWishart as SharedNormalInverseWishart,
    )
    from bayesmodels.posteriors.exact import exact as exact
    from bayesmodels.posteriors.integrate import integrate as integrate
    from bayesmodels.posteriors.sampling import sample as sample
    from bayesmodels.referee import bridge_sampling as bridge_sampling
    from bayesmodels.referee import calibrate as calibrate
    from bayesmodels.referee import check_identity as check_identity
    from bayesmodels.referee import compare as compare
    from bayesmodels.referee import diagnose as diagnose
    from bayesmodels.referee import same as same
    from bayesmodels.referee.leave_one_out import leave_one_out as leave_one_out
    from bayesmodels.referee.model_comparison import compare_evidence as compare_evidence
    from bayesmodels.report import validate as validate
    from bayesmodels.report import validate_draws as validate_draws
    from bayesmodels.store import load as load
    from bayesmodels.store import save as save

_HOMES = {
    "BetaBernoulli": "models.bernoulli",
    "BinomialCounts": "input.wrappers",
    "ConceptLearning": "models.hypotheses",
    "Censored": "input.wrappers",
    "Counts": "input.wrappers",
    "DataError": "errors",
    "Design": "input.wrappers",
    "DirichletCategorical": "models.categorical",
    "GammaExponential": "models.gamma_exponential",
    "GammaPoisson": "models.gamma_poisson",
    "GaussianDiscriminant": "models.classifiers.gaussian_discriminant",
    "Grouped": "input.wrappers",
    "LinearRegression": "models.linear_regression",
    "LogisticRegression": "models.logistic.regression",
    "ModeError": "errors",
    "MultinomialCounts": "input.wrappers",
    "NaiveBayes": "models.classifiers.naive_bayes",
    "NaiveBayesMixture": "models.mixture.naive_bayes_mixture",
    "NormalInverseGamma": "models.normal",
    "NormalInverseWishart": "models.multivariate_normal",
    "NotConjugate": "errors",
    "NumericsWarning": "errors",
    "PriorError": "errors",
    "SeparationError": "errors",
    "SharedNormalInverseWishart": "models.shared_covariance",
    "Weighted": "input.wrappers",
    "bridge_sampling": "referee",
    "check_identity": "referee",
    "calibrate": "referee",
    "compare": "referee",
    "compare_evidence": "referee.model_comparison",
    "datasets": "",
    "decisions": "",
    "decide": "decisions.decision",
    "diagnose": "referee",
    "estimators": "",
    "exact": "posteriors.exact",
    "integrate": "posteriors.integrate",
    "exact_draws": "draws",
    "leave_one_out": "referee",
    "least_squares_descent": "models.least_squares",
    "load": "store",
    "mcmc_draws": "draws",
    "rank_features": "models.classifiers.ranking",
    "read_table": "input.tables",
    "relabel": "models.mixture.label_switching",
    "sample": "posteriors.sampling",
    "same": "referee",
    "save": "store",
    "scale": "",
    "plots": "",
    "results": "",
    "statistics": "",
    "testing": "",
    "validate": "report",
    "validate_draws": "report",
}

# Names that went, and what to write now; for one release.
_GONE: dict[str, str] = {
    "check_joint": "check_identity(model.declare(data), model.joint(data), model, 0.0).",
    "compare_until_decided": "compare(law, sample), with a sampler in the place of draws.",
    "approximation_error": "compare(approximation, draws).table says how far it is off.",
    "mutual_information": "a method, posterior.mutual_information(parameters).",
    "logistic_coefficients": "a method, posterior.logistic_coefficients(parameters).",
    "bayes_risk": "a method, posterior.bayes_risk(parameters).",
    "boundary": "a method, posterior.boundary(parameters).",
    "BernoulliStatistic": "bm.statistics.BernoulliStatistic.",
    "CategoricalStatistic": "bm.statistics.CategoricalStatistic.",
    "EventStatistic": "bm.statistics.EventStatistic.",
    "HypothesisStatistic": "bm.statistics.HypothesisStatistic.",
    "MixtureStatistic": "bm.statistics.MixtureStatistic.",
    "MultivariateNormalStatistic": "bm.statistics.MultivariateNormalStatistic.",
    "NormalStatistic": "bm.statistics.NormalStatistic.",
    "RegressionStatistic": "bm.statistics.RegressionStatistic.",
    "SharedNormalStatistic": "bm.statistics.SharedNormalStatistic.",
    "Calibration": "bm.results.Calibration.",
    "Decision": "bm.results.Decision.",
    "EMResult": "bm.results.EMResult.",
    "ExactPosterior": "bm.results.ExactPosterior.",
    "IntegratedPosterior": "bm.results.IntegratedPosterior.",
    "LaplaceApproximation": "bm.results.LaplaceApproximation.",
    "PartialPosterior": "bm.results.PartialPosterior.",
    "plot_assurance": "bm.plots.plot_assurance.",
    "plot_boundary": "bm.plots.plot_boundary.",
    "plot_class_densities": "bm.plots.plot_class_densities.",
    "plot_class_profiles": "bm.plots.plot_class_profiles.",
    "plot_em_trace": "bm.plots.plot_em_trace.",
    "plot_feature_ranking": "bm.plots.plot_feature_ranking.",
    "plot_hypotheses": "bm.plots.plot_hypotheses.",
    "plot_membership": "bm.plots.plot_membership.",
    "assurance": "bm.decisions.assurance.",
    "stopping_rates": "bm.decisions.stopping_rates.",
    "prior_sensitivity": "arviz.psense_summary(bm.exact_draws(prior, data)).",
    "check_belief": "bm.testing.check_belief.",
    "check_evidence": "check_identity proves the evidence; bridge_sampling estimates it.",
    "ratio_posterior": "compare log_evidence over ratios, as docs/models/shared-covariance.md",
    "mutual_information_normal": "bm.rank_features(posterior) gives it for numbers.",
    "plot_co_clustering": "class_probabilities of the rows say which belong together.",
    "label_invariants": "it is a method now, model.label_invariants(draws, data).",
    "gibbs_draws": "NUTS on the marginal declaration, bm.mcmc_draws(model, data).",
    "numpyro_density": "give bm.same a function, as docs/same.md shows for NumPyro.",
}

# What an extra brings is offered if that is installed; asked for by name, it says what is missing.
_OFFERED = _HOMES if find_spec("sklearn") else _HOMES.keys() - {"estimators"}

__all__ = sorted(_OFFERED)  # noqa: PLE0605 - a list, of the names above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        went = f"; it went: {_GONE[name]}" if name in _GONE else ""
        raise AttributeError(f"module 'bayesmodels' has no attribute {name!r}{went}")
    home = _HOMES[name]
    if not home:
        return import_module(f"bayesmodels.{name}")
    return getattr(import_module(f"bayesmodels.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
