"""A validated model as a report for people: tables, figures and one self-contained HTML file."""

from bayesmodels.report.draws_validation import validate_draws
from bayesmodels.report.reports import ApproximationReport, DrawsReport, ModelReport, Report
from bayesmodels.report.validation import validate

__all__ = [
    "ApproximationReport",
    "DrawsReport",
    "ModelReport",
    "Report",
    "validate",
    "validate_draws",
]
