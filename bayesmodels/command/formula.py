"""A table and a formula -> the PyMC model that Bambi writes, and what was done on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.command.catalog import complete, levels_of, successes, whole_numbers
from bayesmodels.command.preparation import readable, reference, without_gaps
from bayesmodels.errors import DataError
from bayesmodels.input.containers import listed, meant, no_column

if TYPE_CHECKING:
    from bayesmodels.report.html import Report

_SAME = 2  # levels of a target that is yes or no
_RATIOS = {"logit": "odds ratio", "log": "ratio"}
_COUNTS = ("poisson", "negativebinomial")
_OF_LABELS = ("bernoulli", "categorical", "cumulative", "sratio")


def formula_model(
    frame: Any,
    formula: str,
    family: str,
    *,
    trials: str | None = None,
    success: str | None = None,
    drop_missing: bool = False,
) -> tuple[Any, list[str]]:
    """Return the model of a formula with Bambi's default priors, and sentences on what was done.

    Under a log or a logit its effects are there as rate and odds ratios, too.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows as they stand in a file.
    formula : str
        As Bambi takes it, such as ``"incidence ~ period + (1 | herd)"``.
    family : str
        One of Bambi's, such as ``"poisson"``.
    trials : str, optional
        Column with numbers of trials, where the target counts successes.
    success : str, optional
        The target's label that counts, where it is one of two.
    drop_missing : bool
        Leave out rows in which a cell that the formula uses is empty.
    """
    bambi = _bambi()
    from formulae.categorical import ENCODINGS

    target, tilde, rest = formula.partition("~")
    target = target.strip()
    if not tilde or not target:
        raise DataError(f"--formula: must be a target, ~ and terms, as 'y ~ x'; got {formula!r}.")
    names, groups = _names(formula)
    notes = [f"Formula: {formula}. Family: {family}. Priors: Bambi's defaults."]
    used = sorted((names | {*filter(None, [trials])}) & {*map(str, frame)})
    for option, wanted in (
        ("formula", sorted(names - {*ENCODINGS})),
        ("trials", [trials] if trials else []),
    ):
        if missing := [name for name in wanted if name not in used]:
            raise no_column(f"--{option}", missing[0], frame)
    own = target.strip("`")
    alone = own in used
    _check_target(family, trials, success, alone=alone)
    frame = readable(frame, used, groups | {own} if success else groups, formula)
    if drop_missing:
        frame = without_gaps(frame, used, notes)
    for name in used:
        complete(frame, name)
    if alone:
        _check_response(frame, own, family)
    if trials is not None:
        successes(frame, own, trials)
        target = f"p({target}, {trials})"
    elif family == "bernoulli" and alone:
        target, frame = _yes(frame, target, success, notes)
    try:
        with np.errstate(divide="ignore", invalid="ignore"):  # what is infinite is refused below
            model = bambi.Model(f"{target} ~{rest}", frame, family=family)
            model.build()
    except Exception as error:
        from bambi.defaults.families import BUILTIN_FAMILIES

        words = " ".join(str(error).split())
        near = "" if family in BUILTIN_FAMILIES else meant(family, BUILTIN_FAMILIES)
        said = f"--formula: Bambi takes no {formula!r} of {family!r}: {words}{near}"
        raise DataError(said) from error
    _check_finite(model, frame, used)
    result, terms = of_formula(model), _terms(model)
    _add_ratios(result, model, terms)
    return result, notes + reference(_references(terms))


def sampled_twice(
    model: Any,
    reason: str,
    *,
    source: str,
    rng: int,
    progress: Callable[[str], object],
    **size: int,
) -> Report:
    """Return a report of two runs of PyMC's sampler, as there is no posterior without one.

    Parameters
    ----------
    model : pymc.Model
        What both runs sample.
    reason : str
        Why there is neither a closed form nor an integral.
    source : str
        Where the model is from.
    rng : int
        Seed of both runs, which differ.
    progress : callable
        Told, in words, what is being done.
    **size : int
        Numbers of ``draws``, ``tune`` and ``chains`` of a run.
    """
    from bayesmodels.posteriors.posterior import sampled
    from bayesmodels.report import validate_draws

    generator, runs = np.random.default_rng(rng), []
    quiet: dict[str, Any] = {"progressbar": False, "quiet": True}
    names = "first run of PyMC's sampler", "second run"
    for name in names:
        progress(name)
        runs.append(sampled(model, rng=generator, **size, **quiet))
    said = f"{source} Sampled, for there is neither a closed form nor an integral: {reason}"
    return validate_draws(*runs, names=names, source=said, progress=progress)


def _check_target(family: str, trials: str | None, success: str | None, *, alone: bool) -> None:
    """Refuse options that don't fit the family, where the target is a column `alone`."""
    if family == "binomial" and trials is None and alone:
        raise DataError(
            "--trials: must name the column with numbers of trials of a binomial family; where "
            "the target is one of two labels, give --family bernoulli."
        )
    if success is not None and not (family == "bernoulli" and alone):
        raise DataError("--success: is about a target of two labels; give --family bernoulli.")
    if trials is not None and not (alone and "binomial" in family):
        raise DataError("--trials: is about a column of successes; give --family binomial.")


def _check_response(frame: Any, name: str, family: str) -> None:
    """Refuse a column that is no response of a family: labels, numbers that are no counts."""
    if family in _OF_LABELS:
        return
    if frame[name].dtype.kind not in "iufb":
        raise DataError(
            f"column {name!r}: holds labels, of which --family {family} is not. Give --family "
            "bernoulli and --success for one label that counts, --family categorical for several."
        )
    if "poisson" in family or "binomial" in family:
        whole_numbers(frame, name, " For numbers that are no counts give --family gaussian.")
    elif frame[name].nunique() == 1:
        raise DataError(
            f"column {name!r}: holds a single value, which tells nothing; name another target."
        )


def _terms(model: Any) -> dict[str, Any]:
    """Return the terms of a formula, without effects of groups."""
    parent = model.family.likelihood.parent
    known: dict[str, Any] = model.backend.distributional_components[parent].component.common_terms
    return known


def _check_finite(model: Any, frame: Any, used: Sequence[str]) -> None:
    """Refuse terms that are infinite in some rows, such as the log of zero."""
    parts = [one.component for one in model.backend.distributional_components.values()]
    terms = {
        n: t.data for one in parts for n, t in {**one.common_terms, **one.offset_terms}.items()
    }
    terms[model.response_term.name] = model.response_term.data
    for name, data in terms.items():
        bad = ~np.isfinite(np.asarray(data, dtype=float).reshape(len(frame), -1)).all(1)
        if not bad.any():
            continue
        row = frame.iloc[int(bad.argmax())]
        zeros = [f"{column}=0" for column in used if column in name and row[column] == 0]
        way = (
            f"leave out rows with 0 by --missing {quote(zeros[0])} --drop-missing"
            if zeros
            else "choose other terms"
        )
        raise DataError(
            f"--formula: {name!r} must be a finite number; in row {int(row.name) + 1} below the "
            f"heading it is not. Correct the file, or {way}."
        )


def _references(terms: dict[str, Any]) -> dict[str, str]:
    """Return the level of each term that has no effect of its own: with it others are compared."""
    coded = {n: t.term.components[0] for n, t in terms.items() if t.term.kind == "categoric"}
    return {
        name: str(level)
        for name, one in coded.items()
        for level, row in zip(one.levels, one.contrast_matrix.matrix, strict=True)
        if not row.any()
    }


def _add_ratios(result: Any, model: Any, terms: dict[str, Any]) -> None:
    """Let effects stand as ratios, too, where the link is a log or a logit."""
    import pymc as pm

    what = _RATIOS.get(model.family.link[model.family.likelihood.parent].name)
    if what is None:
        return
    if what == "ratio" and any(kind in model.family.name for kind in _COUNTS):
        what = "rate ratio"
    with result:
        for term in terms.values():
            name = term.alias or term.name
            dims = result.named_vars_to_dims.get(name)
            pm.Deterministic(f"{what} of {name}", pm.math.exp(result[name]), dims=dims)


def _bambi() -> Any:
    try:
        import bambi
    except ImportError as error:
        raise DataError(
            "formula: Bambi makes the model, and is not installed; "
            "pip install 'bayesmodels[bambi]' brings it."
        ) from error
    return bambi


def _names(formula: str) -> tuple[set[str], set[str]]:
    """Return the columns that a formula names, and those that are groups."""
    from formulae import model_description

    try:
        terms = model_description(formula)
    except Exception as error:
        raise DataError(f"--formula: {error} It is {formula!r}.") from error
    groups = [term.factor.var_names for term in terms.terms if hasattr(term, "factor")]
    return set(terms.var_names) - {""}, set().union(*groups)


def _yes(frame: Any, target: str, success: str | None, notes: list[str]) -> tuple[str, Any]:
    """Return the response of labels, of which one counts as 1, and a frame that has it."""
    own = target.strip("`")
    levels = [str(level) for level in levels_of(frame[own])]
    if {*levels} <= {"0", "1"} and success is None:
        return target, frame
    if len(levels) < _SAME or success not in levels:
        raise DataError(
            f"--success: must say which label in column {target!r} counts; it holds "
            f"{listed(levels)}, and --success is {success!r}. Give --success {levels[-1]}."
        )
    text = frame[own].astype(str)  # Bambi compares with text: no number is equal to that
    if len(levels) > _SAME:
        text = text.where(text == success, f"not {success}")
        notes.append(f"{success!r} in column {own!r} is 1, all other labels are 0.")
    return f"{target}[{success!r}]", frame.assign(**{own: text})
