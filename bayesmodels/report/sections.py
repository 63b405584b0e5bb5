"""Sections that every kind of report has: pictures, methods, and how it was made."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from bayesmodels.referee.sequential import AGAIN
from bayesmodels.referee.verdict import Verdict
from bayesmodels.report.canvas import Picture
from bayesmodels.report.excerpt import in_short
from bayesmodels.report.figures import MOST_SCALARS
from bayesmodels.report.html import Report
from bayesmodels.report.page import (
    Column,
    Pairs,
    Part,
    Section,
    Shown,
    Table,
    columns,
    cut,
    worst_first,
)

PYMC = (
    "Abril-Pla et al. (2023), PyMC: a modern, and comprehensive probabilistic programming "
    "framework in Python. PeerJ Computer Science 9, e1516."
)
RHAT = (
    "Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Rank-normalization, folding, and "
    "localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, "
    "667–718."
)
ARVIZ = (
    "Kumar, Carroll, Hartikainen and Martin (2019), ArviZ: a unified library for exploratory "
    "analysis of Bayesian models in Python. Journal of Open Source Software 4 (33), 1143."
)
HOLM = (
    "Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
    "Statistics 6, 65–70."
)
LAPLACE = (
    "Tierney and Kadane (1986), Accurate approximations for posterior moments and marginal "
    "densities. Journal of the American Statistical Association 81, 82–86."
)
KALLIOINEN = (
    "Kallioinen, Paananen, Bürkner and Vehtari (2024), Detecting and diagnosing prior and "
    "likelihood sensitivity with power-scaling. Statistics and Computing 34, 57."
)

MOST_SCALED = 200
"""With more scalars their sensitivity would take longer than all else."""

JUDGED, MEASURED = (PYMC, RHAT, ARVIZ, HOLM), (PYMC, RHAT, ARVIZ, LAPLACE)
"""What is cited where draws were compared with a closed form, or an approximation with draws."""

SIDES, IN_MEMORY = ("first", "second"), "draws in memory"
"""Of two sets of draws: which they are, and what one that is no file is called."""

type Methods = tuple[Sequence[str], Sequence[str]]
"""What was done, in sentences, and the works that they cite by number."""

_ARGUMENTS = {"draws a chain": "draws", "tuning steps a chain": "tune", "seed": "rng"}
_SAMPLERS = {"pymc": "PyMC"}  # others are called as they call themselves


def pictures(each: Sequence[Picture], scalars: int, worst: str = "|z|") -> Section:
    """Return all pictures, in which some of many scalars are drawn: those with the worst."""
    about = (
        "Every picture is an SVG file, which the browser’s menu saves; the numbers that it was "
        "drawn from are linked below it."
    )
    some = f"Shown are the {MOST_SCALARS} of {scalars} scalars with the largest {worst}."
    said = [about, some] if scalars > MOST_SCALARS else [about]
    return Section("pictures", "Pictures", [*said, Part("pictures", each)])


def data(facts: Pairs, first: Table | None = None, title: str = "Data") -> Section:
    """Return what the data are like, and the first rows, if there are rows."""
    return Section("data", title, [Part("facts", facts), *([first] if first else [])])


def evidence(log_evidence: float | None, facts: Pairs, *ways: Shown) -> Section:
    """Return what a comparison of densities found, and other ways to the evidence."""
    about = (
        "For the right posterior, PyMC’s joint log density minus the posterior’s log density is "
        "the same number at every point: the log evidence. Differences are stated in units of what "
        "rounding can explain; up to 1 they are explained."
    )
    none = (
        "There is no log evidence: the prior is improper, so that its constant factor, and the "
        "evidence’s with it, is arbitrary."
    )
    said = [about, none] if log_evidence is None else [about]
    return Section("evidence", "Evidence and identity", [*said, Part("facts", facts), *ways])


def sensitivity(draws: Any, kind: str) -> list[Section]:
    """Return how much scalars depend on prior and likelihood, as ArviZ estimates it from draws.

    `kind` says in words which draws they are. Nothing where they lack one of the two densities, or
    there are more scalars than matter.
    """
    from arviz_stats.psense import psense_summary

    posterior = draws["posterior"]
    scalars = sum(x.size for x in posterior.data_vars.values()) / posterior["draw"].size
    logs = [draws[group] for group in ("log_prior", "log_likelihood") if group in draws.children]
    if len(logs) < 2 or scalars / posterior["chain"].size > MOST_SCALED:  # noqa: PLR2004 - both
        return []
    if not all(np.isfinite(x).all() for each in logs for x in each.data_vars.values()):
        return []  # impossible draws have no weights
    log = logging.getLogger("arviz_stats.psense")  # it would say what the table says
    log.disabled = True
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # of a flat prior
            warnings.simplefilter("ignore")
            result = psense_summary(draws)
    except ValueError:  # the prior is the same at all draws
        return []
    finally:
        log.disabled = False
    shown = worst_first(result, "prior")
    numbers = columns(shown, ("", "prior", "Prior", 3), ("", "likelihood", "Likelihood", 3))
    said = Column("diagnosis", tuple(shown["diagnosis"]), numeric=False)
    about = (
        "How much the posterior of each scalar changes when the prior, or the likelihood, counts "
        f"for a little more or less (power-scaling): ArviZ’s psense_summary of {kind}. "
        "From 0.05 on it is worth a look. Where both are as large, prior and data may pull in "
        "different directions; where only the prior’s is, the prior decides."
    )
    matters = int((result["diagnosis"] != "✓").sum())
    summary = f"The prior matters to {matters:,} of {len(result):,} scalars: see Prior sensitivity."
    table = cut(Table("Sensitivity to prior and likelihood", (*numbers, said)), "the largest first")
    return [Section("sensitivity", "Prior sensitivity", [about, table], summary if matters else "")]


def methods(sentences: Sequence[str], cited: Sequence[str], scaled: Sequence[Any] = ()) -> Section:
    """Return what was done, to be pasted into a paper, and the works it refers to by number."""
    if scaled:
        said = (
            f"Sensitivity to the prior was computed with ArviZ by power-scaling [{len(cited) + 1}]."
        )
        sentences, cited = [*sentences, said], [*cited, KALLIOINEN]
    paragraph = " ".join(" ".join(sentences).split())
    return Section("methods", "Methods, in a paragraph", [paragraph, Part("works", cited)])


def cited(report: Report) -> Sequence[str]:
    """Return the works that are cited: those on draws, if there are any, too."""
    return JUDGED if report.sampled is not None else (PYMC,)


def sampling(report: Report) -> list[str]:
    """Say which sampler drew how much, if one did, where [2] and [3] are cited."""
    if report.sampled is None:
        return []
    posterior, settings = report.sampled["posterior"], report.settings
    versions = report.versions
    name = str(posterior.attrs.get("inference_library", "pymc"))
    sampler = f"{_SAMPLERS.get(name, name)} {versions.get(name, '')}".rstrip()
    said = (
        f"{settings['chains']} chains of {int(posterior.sizes['draw']):,} draws each, after "
        f"{settings['tuning steps a chain']:,} tuning steps each, were sampled with {sampler}; "
        "effective sample sizes and R-hat [2] were computed with ArviZ "
        f"{versions.get('arviz', '')} [3]."
    )
    return [said]


def judging(report: Report) -> list[str]:
    """Say how draws were compared with a closed form, if any were, where [4] is cited."""
    if report.comparison is None:
        return []
    law = "closed form" if report.comparison.kind == "exact" else "law by integration"
    said = (
        f"The draws were compared with the {law}, and chains with each other, by the "
        f"probability-integral transforms of {scalars(report.comparison)}, in Monte-Carlo standard "
        f"errors and with a family-wise error rate of {100 * float(report.settings['level']):g} % "
        f"(Holm [4]); the verdict was “{report.outcome}”."
    )
    return [said]


def scalars(verdict: Verdict) -> str:
    """Say by how many numbers draws were compared."""
    number = len(verdict.table)
    return "one scalar" if number == 1 else f"{number:,} scalars, and by joint quantities"


def call(function: str, given: Sequence[str], settings: Mapping[str, Any]) -> str:
    """Return the line of Python that makes the same report again, with the seed if one was given.

    Left out is the number of draws of a second run, which follows from the other settings.
    """
    named = [
        f"{_ARGUMENTS.get(key, key)}={value!r}"
        for key, value in settings.items()
        if value != "not given" and key != AGAIN
    ]
    return f"report = bm.{function}({', '.join([*given, *named])})"


def _of_the_reader(report: Report) -> tuple[str, ...]:
    """Return the names of what the call needs from the reader's own program."""
    if report.first is not None:
        return () if report.files else SIDES
    return ("model",) if report.prior is None else ("prior", "data")


def again(report: Report) -> str:
    """Return the call that makes the same report again."""
    arguments = [*_of_the_reader(report), *map(repr, report.files or ())]
    if report.first is None:
        return call("validate", arguments, report.settings)
    if report.variables is not None:
        arguments.append(f"var_names={list(report.variables)!r}")
    if report.names != (report.files or (IN_MEMORY, IN_MEMORY)):
        arguments.append(f"names={report.names!r}")
    return call("validate_draws", arguments, report.settings)


def provenance(report: Report, command: str) -> Section:
    """Return how the report was made, and how to make it again: by a command line, or in Python.

    The call in Python needs what the reader has in a program: prior and data, a PyMC model, or two
    sets of draws that are in no file.
    """
    arguments = _of_the_reader(report)
    what = "" if report.first is None else ", the two sets of draws,"
    prior = "" if report.prior is None else f"prior = {in_short(report.prior)}"
    seed = report.settings.get("seed")
    note = (
        "There is nothing random in it: the same draws always get the same verdict."
        if seed is None
        else "No seed was given: another run differs by its Monte-Carlo errors."
        if seed == "not given"
        else "With the same versions, this seed and the same kind of processor, another run draws "
        "the same numbers."
    )
    names = Markup(" and ").join(Markup("<code>{}</code>").format(name) for name in arguments)
    yours = Markup(", with {}{} of your own program").format(names, what) if arguments else ""
    lines = ["import bayesmodels as bm", "", *(f"# {line}" for line in prior.splitlines())]
    program = "\n".join([*lines, again(report), 'report.to_html("report.html")'])
    facts = [
        Part("facts", [_capital(*pair) for pair in report.settings.items()], "Settings"),
        Part("facts", [_capital(k, f"{v:.3f} s") for k, v in report.seconds.items()], "Wall time"),
        Part("facts", list(report.versions.items()), "Versions"),
    ]
    how = "On the command line, in the same folder:" if command else "In Python{}:"
    return Section(
        "made",
        "How this report was made",
        [
            Part("made", facts),
            Part("heading", "To make it again"),
            Markup(how).format(yours),  # noqa: S704 - our own words
            Part("code", command or program),
            Part("note", note),
        ],
    )


def _capital(name: str, value: Any) -> tuple[str, Any]:
    return name[:1].upper() + name[1:], value
