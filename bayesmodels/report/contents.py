"""The one way from parts to a report: its verdict, and its sections in their one order.

A kind of report (`belief_validation`, `approximation`, `model_validation`, `draws_validation`) is a
file with the same functions of a report: `judge` its verdict; `glance`, what one looks for first;
`described`, sections of model, parameters, comparison and evidence; `pictures` of so many
`scalars`; `data_of`; and `methods`, sentences with the works they cite. All other sections are
shown where the report has what they need.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

from bayesmodels.belief.reading import levels
from bayesmodels.report import effects, fit, sections
from bayesmodels.report.html import Report
from bayesmodels.report.left_out import left_out
from bayesmodels.report.page import Pairs, Section
from bayesmodels.report.run import Run


def report(kind: ModuleType, run: Run, **parts: Any) -> Report:
    """Return the report of a run: its parts, with verdict and sections of its kind."""
    return Report(judge=kind.judge, contents=partial(contents, kind), **parts, **run.stated())


def contents(kind: ModuleType, report: Report, command: str) -> tuple[Pairs, list[Section]]:
    """Return what one looks for first, and all sections, in their order."""
    sampled = report.prior is not None and report.exact is not None and report.sampled is not None
    rows = left_out(report) if sampled else None
    scaled, (sentences, cited) = _sensitivity(report), kind.methods(report)
    drawn = [*kind.pictures(report), *(rows.pictures if rows else ())]
    worst = "|z|" if report.errors is None else "error"
    return kind.glance(report), [
        *effects.sections(report),
        *fit.section(report.fit),
        *kind.described(report),
        *([rows] if rows else []),
        *scaled,
        sections.pictures(drawn, kind.scalars(report), worst),
        kind.data_of(report),
        sections.methods(sentences, cited, scaled),
        sections.provenance(report, command),
    ]


def _sensitivity(report: Report) -> list[Section]:
    """Return how much the prior matters; nothing without one, or of finite variables."""
    if report.prior is None or levels(report.posterior):
        return []
    if report.exact is None:
        return sections.sensitivity(report.sampled, "the sampler’s draws")
    return sections.sensitivity(report.exact, "the exact draws")
