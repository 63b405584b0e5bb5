"""A validated model as a report for people: tables, figures and one self-contained HTML file."""

from bayesmodels.report.validation import Report, validate

__all__ = ["Report", "validate"]
