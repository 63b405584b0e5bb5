"""Each row predicted by all others: the exact density beside what draws make of it."""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr
from arviz_stats.loo import loo
from scipy.sparse import csr_array

from bayesmodels.errors import DataError, PriorError
from bayesmodels.models.classifiers.features import Classified
from bayesmodels.numerics import Array
from bayesmodels.referee.leave_one_out import LeaveOneOut, leave_one_out
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Picture
from bayesmodels.report.html import Report
from bayesmodels.report.page import Part, Section, Shown
from bayesmodels.report.rounding import decimals_of, rounded

TRUSTED = 0.7
"""Estimates of rows with a larger k-hat are not to be trusted."""


def left_out(report: Report) -> Section | None:
    """Compare exact leave-one-out densities with ArviZ's estimates from the sampler's draws.

    None where there are no rows, or no closed form without one of them. Without estimates, of which
    a note says why, there is no picture of their differences from the exact densities.
    """
    groups = report.exact.children
    if "observed_data" in groups and 0 in groups["observed_data"].sizes.values():
        return None
    try:
        result = leave_one_out(report.prior, report.data)
    except DataError:  # a statistic, weighted rows, a mixture
        return None
    except PriorError as error:
        return _section([], f"There is none: {error}")
    logs = result.log_density
    exact = LeaveOneOut(logs.reshape(len(logs), -1).sum(1), result.rows)
    facts = [("Exact elpd", _with_error(exact.elpd, exact.se))]
    if why := _not_estimated(report):
        return _section(facts, f"ArviZ’s estimate is left out: {why}.")
    rows = xr.Dataset({"rows": (("chain", "draw", "row"), whole_rows(report))})
    posterior = report.sampled["posterior"].to_dataset()
    tree = xr.DataTree.from_dict({"posterior": posterior, "log_likelihood": rows})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of large k-hats, which the report states
            near = loo(tree, var_name="rows", pointwise=True)
    except ValueError as error:  # such as weights that are all the same
        return _section(facts, f"ArviZ’s estimate is left out, since it fails: {error}.")
    return _compared(exact, near, facts)


def _section(facts: list[tuple[str, str]], note: str, *pictures: Picture) -> Section:
    about = (
        "The log predictive density of every row by all others, added up over the rows (elpd). "
        "Exact: from the closed form without the row. PSIS-LOO: ArviZ’s estimate from the "
        "sampler’s draws by importance sampling, which is not to be trusted where its k̂ "
        f"exceeds {TRUSTED}."
    )
    shown: list[Shown] = [about, *filter(None, [note]), *([Part("facts", facts)] if facts else [])]
    return Section("rows", "Rows left out", shown, pictures=pictures)


def _with_error(elpd: float, se: float) -> str:
    places = decimals_of(se, 3)
    return f"{rounded(elpd, places)} ± {rounded(se, places)}"


def _not_estimated(report: Report) -> str:
    """Say why there is no estimate from draws; empty if there is."""
    if "observed_data" not in report.sampled.children:
        return "the rows are a sparse table, which is not written out"
    if "log_likelihood" not in report.sampled.children:
        return "there are too many rows to keep the log likelihood of each under every draw"
    every = report.sampled["log_likelihood"].data_vars.values()
    if not all(np.isfinite(each).all() for each in every):
        return "some draws make rows impossible, which importance sampling cannot weigh"
    return ""


def whole_rows(report: Report) -> Array:
    """Add up log likelihoods over all that belongs to one row: of shape (chain, draw, row)."""
    total, prior = cast("Any", 0.0), cast("Any", report.prior)
    every = report.sampled["log_likelihood"]
    for each in every.data_vars.values():
        logs, axis = np.asarray(each), str(each.dims[2])
        if axis.startswith("cell"):
            block = axis.removeprefix("cell").removeprefix("_")
            classified = Classified(prior.classes, prior.blocks, report.data)
            rows, number = classified.rows_of_cells(block), every.sizes["row"]
            shape, pointers = (len(rows), number), np.arange(len(rows) + 1)
            add = csr_array((np.ones(len(rows)), rows, pointers), shape)
            logs = (logs.reshape(-1, len(rows)) @ add).reshape(*logs.shape[:2], number)
        total = total + logs.reshape(*logs.shape[:3], -1).sum(-1)
    return np.asarray(total)


@canvas.style()
def _compared(exact: LeaveOneOut, near: Any, facts: list[tuple[str, str]]) -> Section:
    k = np.ravel(near.pareto_k)
    gap = np.ravel(near.elpd_i) - exact.log_density
    worst, bad = int(np.abs(gap).argmax()), int((k > TRUSTED).sum())
    size = decimals_of(max(float(np.abs(gap).max()), 1e-12), 2)
    difference = f"{rounded(float(gap[worst]), size)} (row {exact.rows[worst]})"
    facts = [
        *facts,
        ("PSIS-LOO, from draws", _with_error(float(near.elpd), float(near.se))),
        (f"Rows with k̂ above {TRUSTED}", f"{bad:,} of {len(k):,}"),
        ("Largest k̂", rounded(float(k.max()), 2)),
        ("Largest difference of a row", difference),
    ]
    axes = canvas.axes_of()
    axes.axhline(0, color=canvas.INK, lw=0.8)
    axes.axvline(TRUSTED, color=canvas.ORANGE, lw=1, ls="--")
    rows = pd.Index(list(exact.rows), name="row")
    table = pd.DataFrame({"k-hat of the row": k, "PSIS-LOO minus exact": gap}, rows)
    canvas.points(axes, table)
    alt = (
        f"Estimated minus exact log density of {len(k):,} rows, each predicted by the others, over "
        f"their k-hat from {rounded(float(k.min()), 2)} to {rounded(float(k.max()), 2)}; number "
        f"above {TRUSTED}: {bad:,}. Differences go from {rounded(float(gap.min()), size)} to "
        f"{rounded(float(gap.max()), size)}."
    )
    caption = (
        "A dot a row: what importance sampling from the draws makes of its log density by all "
        "other rows, minus the exact one. Dots should lie near the line; right of the dashed one, "
        f"at {TRUSTED}, estimates are not to be trusted."
    )
    panels = (canvas.panel("", axes, table, alt),)
    return _section(facts, "", Picture("left-out", "Rows left out", panels, caption))
