"""Pictures of beliefs, mixtures, concepts and decisions, on Matplotlib's axes."""

from bayesmodels.report.classes import plot_boundary, plot_class_densities, plot_feature_ranking
from bayesmodels.report.concept import plot_hypotheses, plot_membership
from bayesmodels.report.decisions import plot_assurance
from bayesmodels.report.mixtures import plot_class_profiles, plot_em_trace

__all__ = [
    "plot_assurance",
    "plot_boundary",
    "plot_class_densities",
    "plot_class_profiles",
    "plot_em_trace",
    "plot_feature_ranking",
    "plot_hypotheses",
    "plot_membership",
]
