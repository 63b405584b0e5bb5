"""A report as one HTML file that needs no other, in a notebook, and as plain values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesmodels.belief import notebook
from bayesmodels.belief.intervals import renamed
from bayesmodels.belief.reading import summary_or_intervals
from bayesmodels.belief.values import fill
from bayesmodels.input.parameters import proportion
from bayesmodels.referee.verdict import Outcome
from bayesmodels.report import answer
from bayesmodels.report.answer import Confusion
from bayesmodels.report.fit import MARKS
from bayesmodels.report.page import FOLDED, MOST_FINDINGS, Page, Pairs, Part, Section
from bayesmodels.store.files import atomic_write

if TYPE_CHECKING:
    import pandas as pd

_UNSTATED = "Source of the data: not stated."


class Judged(NamedTuple):
    """A verdict, in words the most important first, further findings, and all as plain values.

    The table is what the verdict on draws rests on.
    """

    outcome: Outcome
    said: Sequence[str]
    further: Sequence[str]
    table: pd.DataFrame
    known: dict[str, Any]


@dataclass(frozen=True, repr=False, kw_only=True)
class Report:
    """What `validate` or `validate_draws` found: from prior and data to posterior, draws, verdict.

    What a kind of model, or draws alone, do not have is None.

    Attributes
    ----------
    title, source : str
        Name of what was validated, and where it comes from, in words; may be empty.
    settings, seconds, versions : dict
        Seed, draws and so on; wall time of each part; of Python and of the packages that matter.
    judge : callable
        Makes the verdict of a report.
    contents : callable
        Makes what one looks for first, as names and values, and the sections, of a report and the
        command line that makes it again, if any. Pictures take their time: they wait for a page.
    notes : str
        What else the reader should know, in words: paragraphs with an empty line between.
    prob : float
        Probability of the intervals in the answer and its pictures.
    prior, posterior : Belief, ExactPosterior, IntegratedPosterior or LaplaceApproximation
        Before and after the data; of a PyMC model of your own the posterior alone.
    reason : str
        Why a PyMC model has no closed form; empty if it has.
    data : object
        The data as given.
    log_evidence : float or None
        Log density of the data; None under an improper prior.
    identity : Identity
        Algebra against PyMC's joint density.
    diagnosis : Diagnosis
        Which term is to blame, where the identity fails.
    bridge, no_bridge : EvidenceEstimate, str
        The evidence by bridge sampling; or why there is none of a proper prior, in words.
    comparison : Verdict
        Draws of PyMC's sampler against the exact law; or one set of draws against another.
    fit : Fit
        Whether the rows look like rows of the model, which the verdict says nothing about.
    errors : pandas.DataFrame
        Laplace's approximation against the draws, in their standard deviations.
    newton, ascent : Trace
        Ways to the posterior's mode: Newton's method, and gradient ascent with step 1 / L.
    exact, sampled : xarray.DataTree
        Exact and MCMC draws with the same groups.
    first, second : xarray.DataTree
        The two sets of draws; `sample_stats` too, where there are any.
    names, variables, files : (str, str), tuple of str or None, (str, str) or None
        What the sets are called; what was compared, if it was chosen; the paths, if both are files.
    outcome : {"agree", "disagree", "inconclusive"}
        The verdict over all layers: identity first, then draws.
    said, further, table, known
        What the verdict says, further findings, what it rests on, and plain values.
    """

    title: str
    source: str
    settings: dict[str, Any]
    seconds: dict[str, float]
    versions: dict[str, str]
    judge: Callable[[Any], Judged]
    contents: Callable[[Any, str], tuple[Pairs, Sequence[Section]]]
    notes: str = ""
    prob: float = 0.89
    prior: Any = None
    posterior: Any = None
    reason: str = ""
    data: Any = None
    log_evidence: float | None = None
    identity: Any = None
    diagnosis: Any = None
    bridge: Any = None
    no_bridge: str = ""
    comparison: Any = None
    fit: Any = None
    errors: Any = None
    newton: Any = None
    ascent: Any = None
    exact: Any = None
    sampled: Any = None
    first: Any = None
    second: Any = None
    names: tuple[str, str] = ("", "")
    variables: tuple[str, ...] | None = None
    files: tuple[str, str] | None = None
    outcome: Outcome = field(init=False)
    said: Sequence[str] = field(init=False)
    further: Sequence[str] = field(init=False)
    table: pd.DataFrame = field(init=False)
    known: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        fill(self, **self.judge(self)._asdict())

    @cached_property
    def answer(self) -> Sequence[str]:
        """What the data said, in plain words; nothing, if that is not what was asked."""
        return answer.answered(self)

    @cached_property
    def confusion(self) -> Confusion | str | None:
        """How well a classifier's rows are classified by other rows, or why that is not known."""
        return answer.confusion(self)

    @property
    def to_blame(self) -> tuple[str, ...]:
        """What is to blame for a disagreement: terms of the formulas, the sampler, a mode."""
        return tuple(self.known.get("to_blame", ()))

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first: the verdict, then the fit."""
        fit = [] if self.fit is None else [self.fit.sentences()[0]]
        return [self.said[0], *fit, *self.said[1:]]

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values, for JSON."""
        return {
            "title": self.title,
            "source": self.source,
            "outcome": self.outcome,
            "answer": list(self.answer),
            **({} if self.fit is None else {"fit": self.fit.to_dict()}),
            **self.known,
            "table": self.known.get("table") or self.table.to_dict(orient="index"),
            "settings": self.settings,
            "versions": self.versions,
        }

    def page(self, command: str = "", *, brief: bool = False) -> Page:
        """Return what the report shows, and the command line that makes it again, if any."""
        glance, sections = self.contents(self, command)
        findings = [Part("findings", self.further, "Further findings:")] if self.further else []
        front = next((each.front for each in sections if each.front), None)
        sections = [each for each in sections if each.parts]
        reasons = Section("reasons", "Evidence for the verdict", [*self.said[1:], *findings])
        alone = self.comparison is None and bool(self.reason)  # there is nothing to agree with
        first = next((i for i, each in enumerate(sections) if each.name == "model"), 0)
        every = [*sections[:first], reasons, *sections[first:]]
        return Page(
            title=self.title,
            outcome=self.outcome,
            badge="integrated" if alone else self.outcome,
            source=self.source or " and ".join(filter(None, self.names)) or _UNSTATED,
            notes=[text for text in self.notes.split("\n\n") if text.strip()],
            answer=self.answer,
            front=front,
            verdict=self.said[0],
            fit=None if self.fit is None else (MARKS[self.fit.outcome], self.fit.sentences()[0]),
            beside=[each.summary for each in sections if each.summary],
            glance=glance,
            sections=every[: first + 1] if brief else every,
            version=self.versions["bayesmodels"],
        )

    @renamed
    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        notes: str | None = None,
        ci_prob: float | None = None,
        brief: bool = False,
    ) -> None:
        """Write one self-contained HTML file, whole or not at all.

        Parameters
        ----------
        path : path-like
            The file to write; its folder must exist.
        title, notes : str, optional
            What stands above: a title of your own, and paragraphs with empty lines between.
        ci_prob : float, optional
            Probability of the intervals in the answer and its pictures; 0.89 if not given.
        brief : bool, default False
            Write one page: the answer, the verdict, and evidence for both.

        Raises
        ------
        DataError
            If `ci_prob` is not strictly between 0 and 1.
        """
        write(styled(self, title=title, notes=notes, prob=ci_prob), path, brief=brief)

    def to_markdown(self, *, brief: bool = False) -> str:
        """Return the same sections as Markdown, for a pull request, Quarto or a notebook.

        Pictures are told in words. With `brief` it ends with what the verdict rests on.
        """
        return set_in_markdown(self.page(brief=brief))

    def _repr_html_(self) -> str:
        return notebook.judged(self.title, self.outcome, self.said, self.further, self.table)

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {self.outcome!r})"


def on_draws(report: Report, outcome: Outcome, said: Sequence[str], **values: Any) -> Judged:
    """Return a verdict that ends with one on draws, if any, and what was found beside it."""
    verdict = report.comparison
    if verdict is None:
        table = summary_or_intervals(report.posterior, report.prob)
        return Judged(outcome, said, [], table, {"sentences": list(said), **values})
    measured = verdict.measured()
    known = {
        "sentences": [*said, *verdict.findings],
        **values,
        **{key: measured[key] for key in ("largest_z", "smallest_ess", "largest_r_hat")},
    }
    # The first finding is part of the verdict's sentence.
    return Judged(outcome, said, verdict.findings[1:], verdict.table, known)


def preceded(report: Report, section: Callable[[Report], Section], by: str = "") -> Report:
    """Return the same report with one more section, before one of some name or all others."""

    def contents(own: Report, command: str) -> tuple[Pairs, Sequence[Section]]:
        glance, sections = report.contents(own, command)
        at = next((i for i, each in enumerate(sections) if each.name == by), 0)
        return glance, [*sections[:at], section(own), *sections[at:]]

    return replace(report, contents=contents)


def styled(
    report: Report,
    *,
    title: str | None = None,
    notes: str | None = None,
    prob: float | None = None,
) -> Report:
    """Return a report with a title, notes and a width of intervals of one's own."""
    changes: dict[str, Any] = {"title": title, "notes": notes, "prob": prob}
    changed = {key: value for key, value in changes.items() if value is not None}
    if prob is not None:
        proportion(prob, "ci_prob")
    return replace(report, **changed) if changed else report


def write(
    report: Report, path: str | os.PathLike[str], command: str = "", *, brief: bool = False
) -> None:
    """Write a report as HTML, or as Markdown to a path that ends in .md, whole or not at all.

    The command line that makes it again stands in it; calls in Python if there is none.
    """
    if Path(os.fspath(path)).suffix == ".md":
        text = set_in_markdown(report.page(command, brief=brief))
    else:
        text = render(report, command, brief=brief)
    with atomic_write(path) as part:
        # A file's name may be bytes that are no text, which Python keeps as half characters.
        part.write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")


def render(report: Report, command: str = "", *, brief: bool = False) -> str:
    """Return the text of the file that `write` writes, images included."""
    return set_in_html(report.page(command, brief=brief))


def _environment(*, autoescape: bool) -> Environment:
    environment = Environment(
        loader=PackageLoader("bayesmodels", "report"),
        autoescape=autoescape,  # noqa: S701 - off where there is no HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    return environment


def set_in_markdown(page: Page) -> str:
    """Return a page as Markdown, in which no character of the data is markup."""
    environment = _environment(autoescape=False)
    environment.filters |= {"plain": _plain, "cell": lambda x: _plain(x).replace("|", "\\|")}
    text = environment.get_template("report.md.jinja").render(page=page)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _plain(text: Any) -> str:
    """Return text on one line, with escapes for what Markdown or HTML would take for markup."""
    words = text.striptags() if isinstance(text, Markup) else str(text)
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", " ".join(words.split()))


def set_in_html(page: Page) -> str:
    """Return a page as text, images included."""
    environment = _environment(autoescape=True)
    environment.filters |= {
        "data_uri": data_uri,
        "mathml": notebook.mathml,
        "unbroken": lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%"),
    }
    template = environment.get_template("report.html.jinja")
    now = datetime.now().astimezone()
    return template.render(page=page, now=now, most=MOST_FINDINGS, folded=FOLDED)


def data_uri(data: bytes, kind: str) -> Markup:
    """Return a file of text in UTF-8 as an address that holds all of it, to stand in double quotes.

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
