"""What functions and methods return: for annotations, `isinstance` and reading."""

from bayesmodels.decisions.decision import Decision
from bayesmodels.models.logistic.laplace import LaplaceApproximation
from bayesmodels.models.mixture.em import EMResult
from bayesmodels.posteriors.integrated import IntegratedPosterior
from bayesmodels.posteriors.partial import PartialPosterior
from bayesmodels.posteriors.posterior import ExactPosterior
from bayesmodels.referee import Calibration

__all__ = [
    "Calibration",
    "Decision",
    "EMResult",
    "ExactPosterior",
    "IntegratedPosterior",
    "LaplaceApproximation",
    "PartialPosterior",
]
