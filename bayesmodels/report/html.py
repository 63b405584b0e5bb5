"""A report as one HTML file that needs no network, no script and no other file."""

from __future__ import annotations

import os
import re
from datetime import datetime
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesmodels.belief.notebook import mathml
from bayesmodels.belief.reading import levels
from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture
from bayesmodels.report import approximation_page as page
from bayesmodels.report import draws_page, figures, model_page, tables
from bayesmodels.report.approximation import ApproximationReport
from bayesmodels.report.draws_validation import DrawsReport
from bayesmodels.report.excerpt import excerpt, in_short
from bayesmodels.report.left_out import left_out
from bayesmodels.report.methods import methods
from bayesmodels.report.model_validation import ModelReport
from bayesmodels.report.sensitivity import sensitivity
from bayesmodels.report.validation import Report
from bayesmodels.store.files import whole

AnyReport = Report | ApproximationReport | ModelReport | DrawsReport

MOST_FINDINGS = 10


def write(report: AnyReport, path: str | os.PathLike[str], command: str = "") -> None:
    """Write a report as HTML, whole or not at all.

    Parameters
    ----------
    report : Report, ApproximationReport, ModelReport or DrawsReport
        What `validate` or `validate_draws` found.
    path : path-like
        The file to write; its folder must exist.
    command : str, optional
        The command line that makes the report again; calls in Python are shown if there is none.
    """
    text = render(report, command)
    with whole(path) as part:
        # A file's name may be bytes that are no text, which Python keeps as half characters.
        part.write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")


def render(report: AnyReport, command: str = "") -> str:
    """Return a report as the text of an HTML file.

    Parameters
    ----------
    report : Report, ApproximationReport, ModelReport or DrawsReport
        What `validate` or `validate_draws` found.
    command : str, optional
        As in `write`.

    Returns
    -------
    str
        The whole page, images included.
    """
    return contents(_page(report, command))


def _page(report: AnyReport, command: str) -> str:
    environment = Environment(
        loader=PackageLoader("bayesmodels", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data_uri"] = data_uri
    environment.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    environment.filters["unbroken"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    scaled = sensitivity(report) if isinstance(report, Report | ApproximationReport) else None
    environment.globals |= {"sensitivity": scaled, "ways": None, "command": command}
    environment.globals["paragraph"], environment.globals["cited"] = methods(report, scaled)
    if isinstance(report, DrawsReport):
        further = report.comparison.findings[1:]
        return environment.get_template("draws.html.jinja").render(
            report=report,
            now=datetime.now().astimezone(),
            sentences=report.sentences(),
            findings=further[:MOST_FINDINGS],
            findings_left=max(0, len(further) - MOST_FINDINGS),
            glance=draws_page.glance(report),
            comparison=draws_page.comparison(report),
            pictures=draws_page.pictures(report),
            scalars=len(draws_page.moving(report)),
            most_scalars=figures.MOST_SCALARS,
            facts=draws_page.sets(report),
            left_out=None,
            first_rows=None,
            reproduction=draws_page.reproduction(report),
        )
    if isinstance(report, ModelReport):
        from bayesmodels.report.declaration import declaration

        of_draws = report.comparison.findings[1:]
        return environment.get_template("model.html.jinja").render(
            report=report,
            now=datetime.now().astimezone(),
            sentences=report.sentences(),
            findings=of_draws[:MOST_FINDINGS],
            findings_left=max(0, len(of_draws) - MOST_FINDINGS),
            glance=tables.glance(report),
            declared=declaration(report.posterior.model),
            parameters=model_page.laws(report),
            comparison=model_page.comparison(report),
            predictions=None,
            left_out=None,
            evidence=model_page.evidence(report),
            pictures=model_page.pictures(report),
            scalars=model_page.continuous(report),
            most_scalars=figures.MOST_SCALARS,
            facts=model_page.observed(report) + tables.digits(report),
            first_rows=None,
            reproduction=tables.reproduction(report),
        )
    facts, first_rows = excerpt(report)
    facts += tables.digits(report)
    if isinstance(report, ApproximationReport):
        return environment.get_template("approximation.html.jinja").render(
            report=report,
            prior=commented(f"prior = {in_short(report.prior)}"),
            now=datetime.now().astimezone(),
            sentences=report.sentences(),
            findings=report.findings(),
            findings_left=0,
            glance=page.glance(report),
            equations=[(name, mathml(latex)) for name, latex in type(report.prior).equations],
            parameters=page.parameters(report),
            comparison=page.comparison(report),
            left_out=None,
            evidence=page.evidence(report),
            pictures=page.pictures(report),
            scalars=len(report.errors),
            most_scalars=figures.MOST_SCALARS,
            facts=facts,
            first_rows=first_rows,
            reproduction=tables.reproduction(report),
        )
    findings = report.comparison.findings[1:]  # the first one is part of the verdict's sentences
    rows = left_out(report)
    pictures = figures.pictures(report)
    if rows is not None and rows.picture is not None:
        pictures.append(rows.picture)
    return environment.get_template("report.html.jinja").render(
        report=report,
        prior=commented(f"prior = {in_short(report.prior)}"),
        now=datetime.now().astimezone(),
        sentences=report.sentences(),
        findings=findings[:MOST_FINDINGS],
        findings_left=max(0, len(findings) - MOST_FINDINGS),
        glance=tables.glance(report),
        equations=[(name, mathml(latex)) for name, latex in type(report.prior).equations],  # type: ignore[attr-defined]
        parameters=tables.parameters(report),
        comparison=tables.comparison(report),
        predictions=tables.predictions(report),
        evidence=tables.evidence(report),
        ways=tables.ways(report),
        exact_bridge=isinstance(report.prior, NaiveBayesMixture),
        left_out=rows,
        pictures=pictures,
        scalars=0 if levels(report.posterior) else len(report.comparison.table),
        most_scalars=figures.MOST_SCALARS,
        facts=facts,
        first_rows=first_rows,
        reproduction=tables.reproduction(report),
    )


def commented(text: str) -> str:
    r"""Return lines as comments of Python.

    Examples
    --------
    >>> print(commented("first\nsecond"))
    # first
    # second
    """
    return "\n".join(f"# {line}" for line in text.splitlines())


def data_uri(data: bytes, kind: str) -> Markup:
    """Return a file as an address that holds all of it.

    Parameters
    ----------
    data : bytes
        Text in UTF-8.
    kind : str
        Its media type.

    Returns
    -------
    Markup
        For an attribute in double quotes.

    Examples
    --------
    >>> data_uri(b'<svg width="1"/>', "image/svg+xml")
    Markup("data:image/svg+xml,%3Csvg width='1'/%3E")
    """
    # Blanks and most signs may stand as they are, which is shorter than base64.
    text = data.decode()
    if kind.startswith("image") and "'" not in text:  # either quote may be an attribute's
        text = text.replace('"', "'")
    return Markup(f"data:{kind}," + quote(text, safe=" /:;,=()!*@$+?-._~'"))  # noqa: S704 - quoted


def contents(page: str) -> str:
    """Return a page with links to its sections in the place that is kept for them.

    Parameters
    ----------
    page : str
        With headings ``<h2 id="...">``, written by the templates.

    Returns
    -------
    str
        The same page.
    """
    heads = re.findall(r'<h2 id="([a-z-]+)">([^<]+)</h2>', page)
    links = "".join(f'<li><a href="#{name}">{title}</a></li>\n' for name, title in heads)
    return page.replace("<!-- contents -->", links)
