"""Prior and likelihood that count for a little more or less: the exact change beside ArviZ's."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from arviz_stats.psense import psense

from bayesmodels.errors import DataError, PriorError
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.referee.sensitivity import CONFLICT, STRONG, diagnoses, prior_sensitivity
from bayesmodels.report.page import (
    MOST_ROWS,
    Column,
    Section,
    Shown,
    Table,
    columns,
    worst_first,
)
from bayesmodels.report.reports import Report
from bayesmodels.report.tables import once

MOST_SCALARS = 2000
"""With more of them the section would take minutes."""

_COMPONENTS = ["prior", "likelihood"]
_SAME = 1e-10  # of log densities: what rounding alone may leave of a constant


@dataclass(frozen=True)
class Sensitivity:
    """What a report says of the dependence on prior and likelihood.

    The table has one row a scalar, if there is one; `exact` if there is a closed form, not ArviZ's
    estimates alone. The note says why something is not there, the summary of how many scalars it
    matters; `largest` is the largest sensitivity to the prior.
    """

    table: Table | None
    exact: bool
    note: str
    largest: float
    summary: str = ""

    def sentence(self) -> str:
        """Say it in a sentence of the methods, where [5] is cited."""
        how = "in closed form" if self.exact else "with ArviZ, from the draws,"
        return (
            f"Sensitivity to the prior was computed {how} by power-scaling [5]; it was at most "
            f"{self.largest:.2g}."
        )

    def section(self) -> Section:
        """Return what there is to say."""
        about = (
            "How much the posterior of each scalar changes when the prior, or the likelihood, "
            "counts for a little more or less (is raised to the powers 0.99 and 1.01). Shift: by "
            "how many posterior standard deviations the median moves when the weight of the prior "
            "doubles. A sensitivity of 0.05, from which on it is worth a look, is that of a normal "
            "posterior that shifts by about 0.2 standard deviations. Where both sensitivities are "
            "as large and the shift is 0.5 or more, prior and data pull in different directions; "
            "where only the prior’s is, the prior decides."
        )
        estimated = "psense: ArviZ’s estimate from the sampler’s draws by importance sampling."
        said = f"Exact: in closed form. {estimated}" if self.exact else estimated
        rest: list[Shown] = [] if self.table is None else [said, self.table]
        parts = [about, *filter(None, [self.note]), *rest]
        return Section("sensitivity", "Prior sensitivity", parts, self.summary)


def sensitivity(report: Report) -> Sensitivity | None:
    """Return how much scalars depend on prior and likelihood, exact and as ArviZ estimates it.

    None for mixtures, whose classes have no order, and of finite hypotheses.
    """
    scalars = len(report.comparison.table)
    if scalars > MOST_SCALARS:
        note = f"It is left out, since there are {scalars:,} scalars; prior_sensitivity says it."
        return Sensitivity(None, exact=True, note=note, largest=np.nan)
    draws = report.sampled["posterior"].sizes
    try:
        found = prior_sensitivity(report.prior, report.data, draws=draws["chain"] * draws["draw"])
    except DataError:
        return None
    except PriorError as error:
        return Sensitivity(None, exact=True, note=f"There is none: {error}", largest=np.nan)
    found = once(found, report.posterior)
    shown = worst_first(found, "prior").head(MOST_ROWS)
    values = {f"exact {each}": shown[each] for each in _COMPONENTS}
    why = _not_estimated(report.sampled)
    note = f"ArviZ’s estimate is left out: {why}." if why else ""
    if report.log_evidence is None:
        note += " An improper prior has no diagnosis: its power says nothing of what it knows."
    if not why:
        near, note = _psense(report.posterior, report.sampled, list(shown.index))
        values |= {f"psense {each}": near[each] for each in _COMPONENTS}
    return _found(found, shown.assign(**values), ["exact"] if why else ["exact", "psense"], note)


def estimated(law: Any, sampled: Any, labels: list[str]) -> Sensitivity | None:
    """Return ArviZ's estimates alone, of some scalars of a law that has no closed form."""
    if _not_estimated(sampled):
        return None
    near, note = _psense(law, sampled, labels[:MOST_SCALARS])
    shown = worst_first(near, "prior").head(MOST_ROWS)
    values = {f"psense {each}": shown[each] for each in _COMPONENTS}
    note = f"Powers of this prior have no posterior in closed form. {note}".strip()
    return _found(near, shown.assign(**values), ["psense"], note)


def _found(every: pd.DataFrame, shown: pd.DataFrame, kinds: list[str], note: str) -> Sensitivity:
    """Return what is said of scalars, of which some are shown, with numbers of each kind."""
    prior, likelihood = (
        [(kind, f"{kind} {each}", each.capitalize(), 3) for kind in kinds] for each in _COMPONENTS
    )
    found = columns(shown, *prior, ("shift, s.d.", "shift", "Prior", 2), *likelihood)
    if shown["diagnosis"].any():
        found.append(Column("diagnosis", tuple(shown["diagnosis"]), numeric=False))
    left = f"{len(shown)} of {len(every):,} rows are shown, those that depend most on the prior."
    left = left if len(every) > len(shown) else ""
    table = Table("Sensitivity to prior and likelihood", tuple(found), left)
    largest = float(every["prior"].max())
    return Sensitivity(table, "exact" in kinds, note, largest, summary=_summary(every))


def _summary(found: pd.DataFrame) -> str:
    """Say of how many scalars the prior matters; empty if of none."""
    said = []
    if len(apart := found[found["diagnosis"] == CONFLICT]):
        shift = apart["shift"].abs()
        said.append(
            f"Prior and data pull {len(apart):,} of {len(found):,} scalars in different directions:"
            f" if the prior counted twice, {shift.idxmax()} would shift by about "
            f"{shift.max():.1f} posterior standard deviations."
        )
    if strong := int((found["diagnosis"] == STRONG).sum()):
        said.append(f"The prior decides {strong:,} of {len(found):,} scalars more than the data.")
    return " ".join([*said, "See Prior sensitivity."]) if said else ""


def _not_estimated(sampled: Any) -> str:
    """Say why ArviZ has no estimate; empty if it has."""
    if "log_prior" not in sampled.children:
        return "the prior is improper, so that its log density has no constant"
    if "log_likelihood" not in sampled.children:
        return "the draws have no log likelihood of the rows"
    for group in ("log_prior", "log_likelihood"):
        if not all(np.isfinite(each).all() for each in sampled[group].data_vars.values()):
            return "some draws are impossible, which importance sampling cannot weigh"
    return ""


def _psense(law: Any, sampled: Any, labels: list[str]) -> tuple[pd.DataFrame, str]:
    """Return ArviZ's sensitivities of some scalars, one row each, and what fails.

    Where all draws have the same prior density there are no weights to smooth; the number is NaN.
    """
    draws = {label: x for label, _, _, x in scalar_draws(law, sampled)}
    axes = ("chain", "draw")
    groups = {"posterior": xr.Dataset({str(i): (axes, draws[x]) for i, x in enumerate(labels)})}
    for group in ("log_prior", "log_likelihood"):
        values = [np.asarray(x) for x in sampled[group].data_vars.values()]
        total: Any = sum(x.reshape(*x.shape[:2], -1).sum(-1) for x in values)
        if np.ptp(total) < _SAME:
            total = np.full_like(total, total.flat[0])
        groups[group] = xr.Dataset({"total": (axes, total)})
    tree = xr.DataTree.from_dict(groups)
    table, note = pd.DataFrame(index=labels), ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # of chains that do not move
        warnings.simplefilter("ignore")
        for each in _COMPONENTS:
            try:
                found = psense(tree, group=each)
                table[each] = [float(found[str(i)]) for i in range(len(labels))]
            except ValueError as error:
                table[each] = np.nan
                note = f"ArviZ’s estimate for the {each} fails: {error}."
    # The derivative of a mean is a covariance with the log density.
    log_prior = np.ravel(groups["log_prior"]["total"])
    every = np.array([np.ravel(draws[label]) for label in labels])
    slope = (every - every.mean(1, keepdims=True)) @ (log_prior - log_prior.mean()) / every.shape[1]
    table["shift"] = np.log(2) * slope / np.maximum(every.std(1), np.finfo(float).tiny)
    table["diagnosis"] = list(diagnoses(table))
    return table, note
