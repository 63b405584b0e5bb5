"""Classical Bayesian models, each as algebra and as PyMC, and a referee between the two.

>>> import bayesmodels as bm
>>> bm.BetaBernoulli(2, 2).update([1, 0, 0, 1, 0]).mean()["theta"].round(4)
np.float64(0.4444)

Public names are loaded on first use: closed forms work without importing PyMC, ArviZ or Matplotlib.
"""

from importlib.util import find_spec
from typing import Any

import lazy_loader

__version__ = "0.2.0"

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

_load, _, _names = lazy_loader.attach_stub(__name__, __file__)
# What an extra brings is offered if that is installed; asked for by name, it says what is missing.
__all__ = [name for name in _names if name != "estimators" or find_spec("sklearn")]


def __getattr__(name: str) -> Any:
    if name not in _names:
        went = f"; it went: {_GONE[name]}" if name in _GONE else ""
        raise AttributeError(f"module 'bayesmodels' has no attribute {name!r}{went}")
    return _load(name)


def __dir__() -> list[str]:
    return sorted(__all__)
