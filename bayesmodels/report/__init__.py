"""A validated model as a report for people: tables, figures and one self-contained HTML file."""

from bayesmodels.report.approximation import ApproximationReport
from bayesmodels.report.belief_validation import Report
from bayesmodels.report.draws_validation import DrawsReport, validate_draws
from bayesmodels.report.model_validation import ModelReport
from bayesmodels.report.validation import validate

__all__ = [
    "ApproximationReport",
    "DrawsReport",
    "ModelReport",
    "Report",
    "validate",
    "validate_draws",
]
