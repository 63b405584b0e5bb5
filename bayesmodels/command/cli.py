"""The command line: arguments and printing only."""

from __future__ import annotations

import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click
import numpy as np
from click.core import ParameterSource

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from bayesmodels.report.was_read import Reading

AGREE, DISAGREE, BAD_INPUT, NO_CLOSED_FORM = 0, 1, 2, 3
_ESS = "ESS: effective number of draws"
_PROB = 0.89  # of intervals
_UNBOUNDED = 10**6  # columns of a pipe
_WITH_COVARIANCES = 60  # rows of a summary in which covariances stand, too
_MOST_SCALARS = 400  # rows of any summary
_MOST_FINDINGS = 10  # further ones
_MOST_COLUMNS = 12  # of a file, under a verdict
_DRAWN = {
    "exact": "in closed form",
    "partial": "in closed form in part, and sampled in part",
    "integrated": "by numerical integration",
    "mcmc": "sampled",
}


def _folder_of(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a file to be written in a folder that is not there."""
    if path and not path.parent.is_dir():
        _refuse(f"--{option.name}: there is no folder {str(path.parent)!r}.")
    return path


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _names(_ctx: click.Context, _option: click.Parameter, text: str | None) -> list[str] | None:
    """Return names that were given with commas between them."""
    return _split(text) if text else None


def _all_names(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> list[str]:
    """Return names that were given one by one, or with commas between them."""
    return [name for text in texts for name in _split(text)]


def _options(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return several options as one decorator, in the order in which help lists them."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


_FILE = click.Path(path_type=Path)
_OUTPUT: dict[str, Any] = {"type": _FILE, "callback": _folder_of, "help": "File to write."}
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
_check = click.option(
    "--check", is_flag=True, help="Only say what was read of the data, as what; fit nothing."
)
_seed = click.option(
    "--seed",
    "rng",
    default=1,
    show_default=True,
    type=click.IntRange(min=0),
    help="Seed of all random numbers.",
)
_sampler = _options(
    _seed,
    click.option(
        "--draws",
        default=1000,
        show_default=True,
        type=click.IntRange(min=8),
        help="Draws a chain.",
    ),
    click.option(
        "--chains",
        default=4,
        show_default=True,
        type=click.IntRange(min=2),
        help="Number of chains.",
    ),
)
_look = _options(
    click.option("--title", help="Title of the report."),
    click.option("--notes", help="What else stands at the head of the report."),
    click.option(
        "--ci-prob",
        "--prob",
        "prob",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help=f"Probability of the intervals.  [default: {_PROB}]",
    ),
    click.option("--brief", is_flag=True, help="One page: the answer, the verdict, and why."),
)
_columns = _options(
    click.option(
        "--target", help="Column to model, or columns, each a group.  [default: the last]"
    ),
    click.option(
        "--features",
        callback=_names,
        help="Columns that explain it, with commas.  [default: all others]",
    ),
)


_reading = _options(
    click.option(
        "--missing",
        multiple=True,
        metavar="[COLUMN=]TEXT",
        help="What stands for an empty cell, such as . or 9999. May be given several times.",
    ),
    click.option("--decimal", metavar="MARK", help="Mark before decimals: . or ,"),
    click.option("--thousands", metavar="MARK", help="Mark between thousands: , or ."),
    click.option("--separator", metavar="MARK", help="What stands between cells: ; or tab, say."),
    click.option("--encoding", help="Encoding of the text, such as shift_jis or cp1251."),
    click.option("--sheet", help="Name or number of the sheet of a spreadsheet."),
)
_READING = ("missing", "decimal", "thousands", "separator", "encoding", "sheet")


class _Command(click.Command):
    """A command that remembers how it was called, for a report to show, and ends with a code."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["command"] = shlex.join(["bayesmodels", str(ctx.info_name), *args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> NoReturn:
        way = "the same command goes on" if ctx.params.get("checkpoint") else "nothing was written"
        if "resume" in ctx.params:
            way = "the same command with --resume goes on"
        with _speaking_errors(way):
            outcome = super().invoke(ctx)
        sys.exit(AGREE if outcome in (None, "agree") else DISAGREE)


class _Group(click.Group):
    command_class = _Command


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bayesmodels")
def main() -> None:
    """Classical Bayesian models, each as algebra and as PyMC, and a referee between the two."""


@main.command()
@_json
def models(as_json: bool) -> None:
    """List the models, with the data set that shows each."""
    from bayesmodels.command.catalog import ENTRIES

    if as_json:
        keys = ("name", "title", "purpose", "datasets")
        rows = [{key: getattr(e, key) for key in keys} | {"prior": list(e.prior)} for e in ENTRIES]
        click.echo(json.dumps(rows))
        return
    listed = [(e.name, e.purpose, ", ".join(e.prior), ", ".join(e.datasets)) for e in ENTRIES]
    head = ("model", "answers", "prior", "data")
    _print_table(head, listed, prose=head[1:])


@main.command()
@click.argument("model")
@click.argument("file", required=False, type=_FILE)
@_columns
@click.option(
    "--exclude",
    multiple=True,
    callback=_all_names,
    metavar="COLUMN",
    help="Column that is no feature, if all others are. May be given several times.",
)
@click.option(
    "--by",
    multiple=True,
    callback=_all_names,
    metavar="COLUMN",
    help="Column of groups: one problem for each group. May be given several times.",
)
@click.option("--trials", help="Column with numbers of trials, if the target counts successes.")
@click.option("--exposure", help="Column with exposures, if the target counts events.")
@click.option("--observed", help="Column with 0 for waiting times that were cut short, else 1.")
@click.option("--event", metavar="LABEL", help="The label in --observed that ends the waiting.")
@click.option(
    "--freq",
    "--weights",
    metavar="COLUMN",
    help="Column with the number of rows that a row stands for.",
)
@click.option("--success", metavar="LABEL", help="The target's label that counts, such as yes.")
@click.option(
    "--formula",
    metavar="FORMULA",
    help="Target and features of a regression, such as 'mpg ~ wt + C(cyl)'.",
)
@click.option("--family", help="Of the model `formula`: one of Bambi's.  [default: gaussian]")
@click.option("--drop-missing", is_flag=True, help="Leave out rows with empty cells.")
@_reading
@click.option("--prior", multiple=True, metavar="KEY=VALUE", help="A parameter of the prior.")
@_check
@click.option("-o", "--output", **_OUTPUT | {"help": "File to write.  [default: MODEL.html]"})
@click.option(
    "--format",
    "kind",
    type=click.Choice(["html", "md"]),
    help="HTML, or Markdown for a pull request.  [default: as the file's name ends]",
)
@_sampler
@click.option(
    "--likelihood",
    type=click.Choice(["rows", "statistic"]),
    help="How PyMC's model holds the data; rows, up to 10,000 of them, if not given.",
)
@click.option("--decide", is_flag=True, help="Say which group is best, and what choosing it costs.")
@click.option(
    "--best",
    type=click.Choice(["largest", "smallest"]),
    help="With --decide: which value is good.  [default: largest]",
)
@click.option(
    "--rope",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="With --decide: differences that are too small to matter (the region of practical "
    "equivalence), such as -0.01 0.01.",
)
@click.option(
    "--acceptable-loss",
    type=click.FloatRange(0, min_open=True),
    help="With --decide: stop where the expected loss of the best choice is at most this.",
)
@click.option("--no-draws", is_flag=True, help="Sample nothing: the closed form, or the integral.")
@click.option("--strict", is_flag=True, help="End with 1 if the model does not fit, too.")
@_look
@_json
def report(
    model: str,
    file: Path | None,
    prior: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    check: bool,
    draws: int,
    rng: int,
    chains: int,
    likelihood: Literal["rows", "statistic"] | None,
    title: str | None,
    notes: str | None,
    prob: float | None,
    brief: bool,
    decide: bool,
    best: str | None,
    rope: tuple[float, float] | None,
    acceptable_loss: float | None,
    family: str | None,
    strict: bool,
    no_draws: bool,
    kind: str | None,
    **columns: Any,
) -> str:
    """Fit MODEL to FILE (.csv, .tsv, .xlsx, .parquet ...), check it, and write an HTML report.

    In regressions text is coded by indicators. The MODEL `formula` is Bambi's of --formula, solved
    without a sampler; where that can't be done it is sampled twice, and both runs are compared.
    Without FILE a data set that comes with the package is used. Ends with 0 if formula, declaration
    and draws agree, with 1 if not or if draws are too few, with 2 for bad input.
    """
    from bayesmodels.report.html import preceded, styled

    found: tuple[Any, Any, str, Reading | None]
    if model == "formula":
        others = {"prior": prior, "likelihood": likelihood, "decide": decide}
        found = _by_formula(file, family or "gaussian", others, columns)
    else:
        if family:
            _refuse("--family: is about `report formula`; leave it out.")
        found = _belief_and_data(model, file, _parameters(prior), columns)
    belief, data, source, reading = found
    if check:
        read = {} if reading is None else {"read": reading.to_dict()}
        if as_json:
            click.echo(json.dumps({"model": model, "source": source, **read}))
        else:
            _say(source, "")
            _print_reading(reading)
        return "agree"
    path = _file_to_write(output, model, kind)
    drawn = _number_of_draws(draws, without=no_draws)
    groups = columns["by"] or "," in (columns["target"] or "")
    how = {"rng": rng, "source": source, "draws": drawn, "tune": draws, "chains": chains}
    how |= {"ordered": False} if columns["freq"] else {}
    options = {"best": best, "rope": rope, "acceptable_loss": acceptable_loss}
    wanted = {part: value for part, value in options.items() if value is not None}
    if not decide:
        _refuse_unused(options, "is about a decision; add --decide.")
    if rope and not rope[0] < rope[1]:
        _refuse("--rope: must be LOW below HIGH, such as -0.01 0.01; got {:g} {:g}.".format(*rope))
    decision = _decision(belief, data, groups, rng=rng, **wanted) if decide else None
    with _steps(total=8) as step:
        result = _validated(model, belief, data, step, likelihood, how)
        if decision is not None:
            from bayesmodels.report.decisions import decision_section

            result = preceded(result, lambda document: decision_section(decision, document.prob))
        if reading is not None:
            result = preceded(result, lambda _: reading.section(), "data")
        result = styled(result, title=title or columns["formula"], notes=notes, prob=prob)
        step("writing the report")
        _write(result, path, brief=brief)
    if as_json:
        more = {} if decision is None else {"decision": decision.to_dict(result.prob)}
        more |= {} if reading is None else {"read": reading.to_dict()}
        click.echo(json.dumps({**result.to_dict(), **more, "file": str(path)}))
    else:
        _say(result.source, "", *result.answer, "")
        _print_numbers(result)
        _say(*([*decision.sentences(result.prob), ""] if decision else []), *result.sentences(), "")
        _print_reading(reading, most=_MOST_COLUMNS)
        click.echo(f"Report: {path}")
    return _ending(result, strict=strict)


def _file_to_write(output: Path | None, model: str, kind: str | None) -> Path:
    """Return the file of a report, whose name must end as its format does."""
    path = output or Path(f"{model}.{kind or 'html'}")
    if path.suffix not in ("", ".html", ".htm", ".md"):
        _refuse(f"--output: must end in .html or .md; got {path.name!r}. Browsers print PDF.")
    if kind and path.suffix != f".{kind}":
        _refuse(f"--format: {kind} is written to a file that ends in .{kind}; got {path.name!r}.")
    return path


def _number_of_draws(draws: int, *, without: bool) -> int:
    """Return how many draws are wanted, none of them `without`, and refuse what contradicts it."""
    if not without:
        return draws
    _refuse_unused(("draws", "chains"), "is about draws; leave it out, or --no-draws.")
    return 0


def _ending(result: Any, *, strict: bool) -> str:
    """Return the outcome by which a command ends: the verdict's or, if `strict`, the fit's."""
    misfit = strict and result.fit is not None and result.fit.outcome == "does not fit"
    return "does not fit" if misfit else str(result.outcome)


@main.command()
@click.argument("names", nargs=-1, metavar="[MODEL]...")
@_check
@_sampler
@_json
def validate(names: tuple[str, ...], rng: int, as_json: bool, check: bool, **size: int) -> str:
    """Check models on the data sets that come with the package.

    MODEL is a name from `bayesmodels models`, or `all` (the default). Ends with 0 only if all
    agree, with 1 if not, with 2 for bad input.
    """
    from bayesmodels.command import catalog, parallel

    every = [e.name for e in catalog.ENTRIES]
    chosen = every if not names or "all" in names else list(names)
    examples = [(name, data) for name in chosen for data in catalog.entry(name).datasets]
    if check:
        sources = {
            f"{name} ({data})": catalog.example(name, None, data)[2] for name, data in examples
        }
        click.echo(json.dumps(sources)) if as_json else _say(*map(": ".join, sources.items()))
        return "agree"
    result: list[tuple[str, ...]] = []
    with _steps(len(examples), lambda: _table(_CHECKED, result)) as step:
        rows = parallel.validate_examples(
            examples, seed=rng, progress=step, each=lambda row: result.append(_cells(row)), **size
        )
    if as_json:
        click.echo(json.dumps(rows))
    else:
        _print_table(_CHECKED, [_cells(row) for row in rows])
        _say(
            "worst: the largest discrepancy in standard errors (se), or how far an approximation "
            f"is off in standard deviations (sd); {_ESS}, the smallest."
        )
        for row in rows:
            if row["outcome"] != "agree":
                _say(f"{row['model']} ({row['dataset']}): {' '.join(row['sentences'])}")
    return next((row["outcome"] for row in rows if row["outcome"] != "agree"), "agree")


_CHECKED = ("model", "data", "verdict", "identity", "worst", "ESS")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a validated example in the columns `_CHECKED`."""
    identity = "holds" if row["identity_holds"] else "FAILS"
    texts = row["model"], row["dataset"], row["outcome"], identity
    return (*texts, _worst(row), f"{row['smallest_ess']:.0f}")


@main.command()
@click.argument("target", metavar="FILE.py:NAME")
@click.option("--html", **_OUTPUT | {"help": "Compare, and write a report here."})
@click.option(
    "--sample/--no-sample",
    default=None,
    help="Compare with draws of PyMC's sampler.  [default: only with --html]",
)
@_sampler
@_look
@_json
def exact(
    target: str,
    html: Path | None,
    sample: bool | None,
    rng: int,
    draws: int,
    chains: int,
    as_json: bool,
    title: str | None,
    notes: str | None,
    prob: float | None,
    brief: bool,
) -> str | None:
    """Solve the PyMC model NAME of a Python file: in closed form, or else by integration.

    The file is run, so give only files that you trust. NAME is a pymc.Model, or a function without
    arguments that returns one.

    Ends with 0 if it was solved (and draws that were compared agree with that), with 1 if draws do
    not agree or are too few, with 2 for bad input, with 3 if it has no closed form and can't be
    integrated.
    """
    from bayesmodels.errors import NotConjugate

    check = bool(html) if sample is None else sample
    if not html:
        _refuse_unused(("title", "notes", "brief"), "is about the report; add --html.")
    if not check:
        _refuse_unused(("draws", "chains"), "is about draws; add --sample or --html.")
    try:
        with _steps(total=7 if check else 2) as step:
            from bayesmodels.command.model_file import load_model
            from bayesmodels.posteriors.ladder import solved

            step("loading the model")
            model, result = load_model(target), None
            if check or html:
                from bayesmodels.report import validate
                from bayesmodels.report.html import styled

                size = {"draws": draws if check else 0, "tune": draws, "chains": chains}
                result = validate(model, rng=rng, source=target, progress=step, **size)
                result = styled(result, title=title, notes=notes, prob=prob)
                if html:
                    step("writing the report")
                    _write(result, html, brief=brief)
            else:
                step("closed form, or integration")
            generator = np.random.default_rng(rng)
            known = (result.posterior, result.reason) if result else solved(model, generator)
            posterior, why = known
    except NotConjugate as no:
        if as_json:
            refused = {"closed_form": False, "rung": None, "reason": no.reason}
            click.echo(json.dumps(refused))
        else:
            _say(f"No closed form was found: {no.reason}")
        sys.exit(NO_CLOSED_FORM)
    if as_json:
        report = {"report": result.to_dict()} if result else {}
        values = {**_as_values(posterior, why, prob or _PROB), **report, **_file(html)}
        click.echo(json.dumps(values))
    else:
        _print_posterior(posterior, why, prob or _PROB)
        _say(*([*result.answer, *result.sentences()] if result else ()))
        if html:
            click.echo(f"Report: {html}")
    return result.outcome if result else None


@main.command()
@click.argument("target", metavar="FILE.py:NAME")
@click.option(
    "--n", default=1000, show_default=True, type=click.IntRange(min=100), help="Simulations."
)
@click.option(
    "--around",
    type=click.Choice(["prior", "posterior"]),
    default="prior",
    show_default=True,
    help="Where parameters come from: the prior, or the posterior of the model's own data.",
)
@click.option(
    "--method",
    type=click.Choice(list(_DRAWN)),
    help="How posteriors are drawn from.  [default: the first that works]",
)
@click.option(
    "--cores", default=1, show_default=True, type=click.IntRange(min=1), help="Processes."
)
@_seed
@click.option("--level", default=0.01, show_default=True, help="Probability of a false alarm.")
@click.option(
    "--checkpoint",
    **_OUTPUT | {"help": "File (.json) that keeps finished simulations, to go on from."},
)
@_json
def calibrate(target: str, as_json: bool, **how: Any) -> str:
    """Check the PyMC model NAME of a Python file by simulation.

    Parameters and data are drawn from the model, again and again, and then the posterior of the
    data: ranks of the true parameters among draws of right posteriors are uniform.

    The file is run, so give only files that you trust. NAME is a pymc.Model, or a function without
    arguments that returns one.

    Ends with 0 if ranks are uniform, with 1 if not, with 2 for bad input.
    """
    with _steps(total=None) as step:
        from bayesmodels.command.model_file import load_model
        from bayesmodels.referee.calibration import calibrate as calibrated

        step("loading the model")
        model = load_model(target)
        step("looking for a closed form")
        result = calibrated(model, progress=step, **how)
    if as_json:
        table = result.table.to_dict(orient="index")
        keys = ("outcome", "findings", "level", "n", "draws", "short", "method")
        fields = {key: getattr(result, key) for key in keys}
        values = {
            **fields,
            "around": how["around"],
            "sentence": result.sentences()[0],
            "table": table,
        }
        click.echo(json.dumps(values))
        return result.outcome
    left, rows = len(result.table) - _MOST_SCALARS, []
    for label, row in result.table.sort_values("p", kind="stable").head(_MOST_SCALARS).iterrows():
        rows.append(
            (str(label), f"{row['location']:+.1f}", f"{row['spread']:+.1f}", f"{row['p']:.2g}")
        )
    _print_table(("quantity", "location", "spread", "p"), rows)
    if left > 0:
        _say(f"{left:,} more rows are not shown; --json has them all.")
    _say(
        "location, spread: in standard errors, above 0 where posteriors are too low or too narrow; "
        "p: the probability of as much if all is right.",
        "",
        f"Posteriors are {_DRAWN[result.method]}.",
        result.sentences()[0],
    )
    _say(*(f"- {finding}" for finding in result.findings[1 : 1 + _MOST_FINDINGS]))
    return result.outcome


@main.command()
@click.argument("first", type=_FILE)
@click.argument("second", type=_FILE)
@click.option(
    "--var-names", callback=_names, help="Variables to compare, with commas.  [default: all]"
)
@click.option(
    "--level",
    default=0.01,
    show_default=True,
    help="Probability of a false alarm, over everything tested.",
)
@click.option(
    "--tolerance",
    default=0.1,
    show_default=True,
    help="How many standard deviations draws that agree may differ by.",
)
@click.option("--html", **_OUTPUT | {"help": "Write a report here."})
@_look
@_json
def compare(
    first: Path,
    second: Path,
    var_names: list[str] | None,
    html: Path | None,
    as_json: bool,
    title: str | None,
    notes: str | None,
    prob: float | None,
    brief: bool,
    **limits: Any,
) -> str:
    """Compare two files of draws of one posterior, of any samplers or libraries.

    FIRST and SECOND are netCDF files or zarr folders with a group `posterior`, such as ArviZ writes
    draws of PyMC, Stan, NumPyro and others.

    Ends with 0 if they agree, with 1 if they do not or are too few, with 2 for bad input.
    """
    if not html:
        _refuse_unused(("title", "notes", "prob", "brief"), "is about the report; add --html.")
    with _steps(total=3 if html else 2) as step:
        from bayesmodels.report import validate_draws

        result = validate_draws(first, second, var_names=var_names, progress=step, **limits)
        if html:
            from bayesmodels.report.html import styled

            result = styled(result, title=title, notes=notes, prob=prob)
            step("writing the report")
            _write(result, html, brief=brief)
    if as_json:
        click.echo(json.dumps({**result.to_dict(), **_file(html)}, allow_nan=False))
    else:
        _print_compared(result.comparison.table)
        further = result.comparison.findings[1:]
        _say(*result.sentences(), *(f"- {finding}" for finding in further[:_MOST_FINDINGS]))
        if len(further) > _MOST_FINDINGS:
            _say(f"And {len(further) - _MOST_FINDINGS} more findings.")
        if html:
            click.echo(f"Report: {html}")
    return str(result.outcome)


def _file(html: Path | None) -> dict[str, str]:
    return {"file": str(html)} if html else {}


def _print_posterior(posterior: Any, reason: str, prob: float) -> None:
    """Print a closed form; or integrals, and why there is no closed form."""
    from bayesmodels.belief.protocol import Integrated
    from bayesmodels.errors import PriorError
    from bayesmodels.report.integration import errors_of, off
    from bayesmodels.report.rounding import rounded

    if not isinstance(posterior, Integrated):
        _say(posterior.explain(), "")
        _print_summary(posterior, prob)
        error, last = "", [f"Verified {posterior.verified}."]
    else:
        _say(f"Integrated numerically, for no closed form was found: {reason}")
        _say(posterior.explain(), "")
        _print_summary(posterior, prob, errors_of(posterior, prob).max(axis=1))
        error, last = f" ± {off(posterior.errors['log_evidence'])}", []
    try:
        _say(f"Log evidence: {rounded(posterior.log_evidence, 6)}{error}", *last)
    except PriorError as none:
        _say(f"Log evidence: none. {none}", *last)


def _print_summary(posterior: Any, prob: float, errors: Any = None) -> None:
    """Print means, standard deviations and intervals; where there are many no covariances.

    Beside them stands the largest error of each row, if errors are given.
    """
    from bayesmodels.belief.reading import halves_of_symmetric, shown, summary_or_intervals
    from bayesmodels.report.integration import off
    from bayesmodels.report.rounding import beside

    table = shown(posterior, summary_or_intervals(posterior, prob))
    upper, lower = halves_of_symmetric(posterior)
    table = table.drop(index=lower)  # the same numbers once more
    if long := len(table) > _WITH_COVARIANCES:
        table = table.drop(index=upper)
    rows = []
    for label, row in table.head(_MOST_SCALARS).iterrows():
        spread = float(row.get("sd", np.inf))
        if not np.isfinite(spread):
            spread = float(row.iloc[-1] - row.iloc[-2])
        worst = () if errors is None else (off(errors.get(label, np.nan)),)
        rows.append((str(label), *(beside(float(x), spread) for x in row), *worst))
    ends = (f"{100 * prob:g} % from", f"{100 * prob:g} % to")
    head = ("variable", *table.columns[:-2], *ends, *(() if errors is None else ("off by",)))
    _print_table(head, rows)
    if long and upper:
        _say(f"{len(upper):,} covariances are not shown; --json has them all.")
    if len(table) > _MOST_SCALARS:
        _say(f"{len(table) - _MOST_SCALARS:,} more rows are not shown; --json has them all.")


def _print_numbers(report: Any) -> None:
    """Print the summary of a posterior; where there is none, of the first set of draws."""
    from bayesmodels.report.rounding import beside
    from bayesmodels.report.tables import with_intervals

    if report.posterior is not None:
        _print_summary(report.posterior, report.prob)
        return
    table = with_intervals(report.comparison, report.prob)
    kind = f"first_eti{100 * report.prob:g}"
    columns = table[["first_mean", "first_sd", f"{kind}_lb", f"{kind}_ub"]].head(_MOST_SCALARS)
    rows = [
        (str(label), *(beside(float(x), float(row["first_sd"])) for x in row))
        for label, row in columns.iterrows()
    ]
    ends = (f"{100 * report.prob:g} % from", f"{100 * report.prob:g} % to")
    _print_table(("variable", "mean", "sd", *ends), rows)
    if len(table) > _MOST_SCALARS:
        _say(f"{len(table) - _MOST_SCALARS:,} more rows are not shown; --json has them all.")


def _print_compared(table: Any) -> None:
    """Print the first set of draws beside the second; of many scalars those farthest apart."""
    from bayesmodels.report.page import MOST_ROWS, worst_first
    from bayesmodels.report.rounding import decimals_of, rounded

    left, rows = len(table) - MOST_ROWS, []
    for label, row in worst_first(table).head(MOST_ROWS).iterrows():
        digits = decimals_of(max(row["first_sd"], row["second_sd"]), 3)
        names = dict.fromkeys(("first_mean", "second_mean", "first_sd", "second_sd"), digits)
        names |= {"ess_bulk": 0, "r_hat": 3, "z": 1}
        rows.append((str(label), *(rounded(row[name], n) for name, n in names.items())))
    head = ("variable", "mean, 1st", "mean, 2nd", "sd, 1st", "sd, 2nd", "ESS", "R-hat", "z")
    _print_table(head, rows)
    if left > 0:
        _say(f"{left:,} more rows are not shown; --json has them all.")
    _say(f"{_ESS}; R-hat: 1 where chains agree; z: largest discrepancy in standard errors.", "")


def _as_values(posterior: Any, reason: str, prob: float) -> dict[str, Any]:
    """Return a closed form or integrals as plain values for JSON."""
    from bayesmodels.belief.protocol import Integrated
    from bayesmodels.belief.reading import summary_or_intervals
    from bayesmodels.errors import PriorError
    from bayesmodels.report.integration import errors_of

    log_evidence = None
    with suppress(PriorError):  # an improper prior
        log_evidence = posterior.log_evidence
    result = {
        "closed_form": not reason,
        "rung": "exact",
        "explanation": posterior.explain(),
        "log_evidence": log_evidence,
        "summary": _rows(summary_or_intervals(posterior, prob)),
    }
    if not isinstance(posterior, Integrated):
        return result | {"verified": posterior.verified, "families": posterior.families}
    return result | {
        "rung": posterior.rung,
        "reason": reason,
        "log_evidence_error": float(posterior.errors["log_evidence"]),
        "errors": _rows(errors_of(posterior, prob)),
    }


def _rows(table: Any) -> dict[str, Any]:
    """Return a table as plain values by row; null for what is infinite or does not exist."""
    known: dict[str, Any] = table.astype(object).where(table.abs() < np.inf, None).to_dict("index")
    return known


def _decision(belief: Any, data: Any, by: Any, **how: Any) -> Any:
    """Return the decision between groups; called first, so that bad input fails at once."""
    from bayesmodels.belief.protocol import Conjugate
    from bayesmodels.decisions.decision import decide
    from bayesmodels.report.answer import grouped

    if not by or not isinstance(belief, Conjugate):
        _refuse("--decide: needs groups to choose between; give their column by --by.")
    posterior = belief.update(data)
    if grouped(posterior) is None:
        _refuse(
            "--decide: needs one number a group to compare, and this model has several. Use "
            "beta-bernoulli with --success, or normal-inverse-gamma."
        )
    return decide(posterior, **how)


def _worst(row: dict[str, Any]) -> str:
    """Return the largest discrepancy as text; of an approximation the largest error."""
    if row["largest_z"] is None:
        return f"off {row['largest_error']:.2f} sd"
    return f"{row['largest_z']:+.1f} se"


def _belief_and_data(
    model: str, file: Path | None, prior: dict[str, float], columns: dict[str, Any]
) -> tuple[Any, Any, str, Reading | None]:
    """Return belief, data, a sentence on their source, and how the file was read, if any."""
    from bayesmodels.command import catalog, preparation
    from bayesmodels.errors import DataError, PriorError
    from bayesmodels.report.was_read import Reading

    if "." in model:
        _refuse(f"MODEL: stands before FILE, as in report beta-bernoulli {model}.")
    if file is None:
        for part in filter(columns.get, columns):
            _refuse(f"--{part.replace('_', '-')}: is about columns of FILE; name one.")
        return *catalog.example(model, prior), None
    how = {part: columns.pop(part) for part in _READING}
    table = _read(file, **how)
    try:
        frame, chosen, done = preparation.prepared(model, table, **columns)
        belief, data = catalog.from_frame(model, frame, chosen, prior)
    except (DataError, PriorError) as error:  # which what was guessed may explain
        others = [name for name in table if repr(name) not in str(error)]
        others += table.attrs["read"]["unread"]
        about = [f"olumn {name!r}" for name in others]
        notes = [n for n in table.attrs["notes"] if not any(one in n for one in about)]
        _say(*map(preparation.as_options, notes), err=True)
        raise
    asked = columns["formula"] or catalog.question(model, frame, chosen)
    source = f"{asked}; {len(frame):,} rows of {file.name}. {catalog.prior_in_words(model, prior)}"
    reading = Reading(table.attrs["read"], table.attrs["notes"], done, preparation.as_options)
    return belief, data, source, reading


def _validated(
    name: str, model: Any, data: Any, progress: Any, likelihood: str | None, how: dict[str, Any]
) -> Any:
    """Return the report of a model; of a formula without a posterior, of two runs of a sampler."""
    from bayesmodels.command.formula import sampled_twice
    from bayesmodels.errors import NotConjugate
    from bayesmodels.report import validate

    try:
        return validate(model, data, likelihood=likelihood, progress=progress, **how)
    except NotConjugate as no:
        if name != "formula" or not how["draws"]:
            raise
        return sampled_twice(model, no.reason, progress=progress, **how)


def _by_formula(
    file: Path | None, family: str, others: dict[str, Any], columns: dict[str, Any]
) -> tuple[Any, None, str, Reading]:
    """Return the PyMC model of a formula, no data beside it, its source, and how it was read."""
    from bayesmodels.command import preparation
    from bayesmodels.command.formula import formula_model
    from bayesmodels.report.was_read import Reading

    kept = ("formula", "trials", "success", "drop_missing")
    for option, value in (others | columns).items():
        if value and option not in (*kept, *_READING):
            _refuse(f"--{option.replace('_', '-')}: `report formula` has no use for it.")
    if file is None or not columns["formula"]:
        _refuse("formula: needs FILE and --formula, such as 'incidence ~ period + (1 | herd)'.")
    table = _read(file, **{part: columns[part] for part in _READING})
    model, done = formula_model(table, family=family, **{part: columns[part] for part in kept})
    words = preparation.as_options
    reading = Reading(table.attrs["read"], table.attrs["notes"], done, words)
    return model, None, f"{file.name}. {done[0]}", reading


def _read(file: Path, **reading: Any) -> Any:
    """Return the table of a file.

    Why columns can't be used as numbers is an error, where they are used.
    """
    from bayesmodels.command.preparation import as_options
    from bayesmodels.errors import DataError
    from bayesmodels.input.tables import read_table

    try:
        table = read_table(file, **reading)
    except DataError as error:
        part, colon, reason = str(error).partition(":")
        named = {"file": "FILE", **{part: f"--{part}" for part in _READING}}.get(part, part)
        _refuse(as_options(f"{named}{colon}{reason}"))
    return table


def _print_reading(reading: Reading | None, most: int | None = None) -> None:
    """Print how a file was read, if any, and its columns, at most so many."""
    from bayesmodels.report.was_read import TITLE

    if reading is None:
        return
    _say(TITLE, *(f"{name}: {value}" for name, value in reading.facts()), "")
    columns = reading.columns().columns
    rows = list(zip(*(column.cells for column in columns), strict=True))
    _print_table(tuple(column.head for column in columns), rows[:most])
    if (left := len(rows[:most]) - len(rows)) < 0:
        more = "1 more column is" if left == -1 else f"{-left:,} more columns are"
        _say(f"{more} not shown; --check has them all.", "")


def _parameters(prior: tuple[str, ...]) -> dict[str, float]:
    result = {}
    for text in prior:
        key, equals, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = np.nan
        if not equals or not np.isfinite(number):
            _refuse(f"--prior: must be KEY=NUMBER, such as alpha=2; got {text!r}.")
        result[key.strip()] = number
    return result


def _write(document: Any, path: Path, *, brief: bool = False) -> None:
    """Write a report that shows the command."""
    from bayesmodels.report.html import write

    write(document, path, click.get_current_context().meta["command"], brief=brief)


def _refuse(message: str) -> NoReturn:
    _say(f"Error: {message}", err=True)
    sys.exit(BAD_INPUT)


def _refuse_unused(names: Iterable[str], why: str) -> None:
    """Refuse options on the command line that need another option."""
    ctx = click.get_current_context()
    for name in names:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            _refuse(f"--{name.replace('_', '-')}: {why}")


@contextmanager
def _speaking_errors(way: str) -> Iterator[None]:
    """Turn the package's own errors into one line and exit code 2, and warnings into one line.

    What Ctrl-C leaves behind is said by `way`.
    """
    from bayesmodels import errors

    def show(message: Any, category: type[Warning], *place: Any, **other: Any) -> None:
        if issubclass(category, errors.NumericsWarning):
            _say(f"Warning: {message}", err=True)
        else:
            usual(message, category, *place, **other)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", errors.NumericsWarning)
            usual, warnings.showwarning = warnings.showwarning, show
            yield
    except errors.NotConjugate as error:
        _say(f"Error: {error}", err=True)
        sys.exit(NO_CLOSED_FORM)
    except (
        errors.DataError, errors.PriorError, errors.ModeError, errors.SeparationError,
    ) as error:  # fmt: skip
        _refuse(str(error))
    except KeyboardInterrupt:
        click.echo(f"Stopped; {way}.", err=True)
        sys.exit(130)


@contextmanager
def _steps(
    total: int | None, table: Callable[[], Table] | None = None
) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on a terminal, above a table as it is by then, if there is one.

    ``step(words)`` begins the next step.
    """
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(bar_width=12), TimeElapsedColumn(), TextColumn("{task.description}"))
    bar, begun = Progress(*columns, console=console), -1
    task = bar.add_task("starting", total=total)

    def step(words: str) -> None:
        nonlocal begun
        begun += 1
        bar.update(task, description=words, completed=begun)

    def shown() -> Group:
        return Group(bar, table()) if table else Group(bar)

    live = Live(get_renderable=shown, console=console, transient=True)
    with live if console.is_terminal else nullcontext():
        yield step


def _table(
    head: tuple[str, ...], rows: Sequence[tuple[str, ...]], prose: Sequence[str] = ()
) -> Table:
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, collapse_padding=True)
    for i, name in enumerate(head):
        widest = 0 if name in prose else max(cell_len(row[i]) for row in (head, *rows))
        table.add_column(name, no_wrap=name not in prose, min_width=widest)
    for row in rows:
        table.add_row(*map(Text, row))  # plain: w[age] is a label, no markup
    return table


def _print_table(
    head: tuple[str, ...], rows: Sequence[tuple[str, ...]], prose: Sequence[str] = ()
) -> None:
    """Print a table, or one block a row if it is too wide: only columns of prose are wrapped."""
    from rich.columns import Columns
    from rich.measure import Measurement
    from rich.padding import Padding
    from rich.text import Text

    console, table = _console(), _table(head, rows, prose)
    needed = Measurement.get(console, console.options.update_width(_UNBOUNDED), table).minimum
    if needed <= console.width:
        console.print(table)
    else:
        for first, *others in rows:
            click.echo(first)
            cells = [Text(f"{name}: {cell}") for name, cell in zip(head[1:], others, strict=True)]
            console.print(Padding(Columns(cells, padding=(0, 3)), (0, 0, 0, 2)))
    click.echo()


def _say(*sentences: str, err: bool = False) -> None:
    """Print sentences, each on a line of its own, on a terminal in lines that end between words."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=err)
    for sentence in sentences:
        console.print(Text(sentence), soft_wrap=not console.is_terminal)


def _console() -> Console:
    """Return where tables go: as wide as the terminal, or COLUMNS, say; a pipe has no width."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=_UNBOUNDED)
