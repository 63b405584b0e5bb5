"""A validated model as a report for people: tables, figures and one self-contained HTML file."""

from bayesmodels.report.approximation import ApproximationReport
from bayesmodels.report.model_validation import ModelReport
from bayesmodels.report.validation import Report, validate

__all__ = ["ApproximationReport", "ModelReport", "Report", "validate"]
