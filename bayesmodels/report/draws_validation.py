"""Two sets of draws, of any samplers or libraries, and the referee's verdict on them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from bayesmodels.draws import load
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.referee import compare
from bayesmodels.referee.two_samples import Pair, in_both, pairs
from bayesmodels.report import canvas, figures, sections, tables
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.figures import Scalar
from bayesmodels.report.html import Judged, Report, on_draws
from bayesmodels.report.page import Pairs, Section
from bayesmodels.report.run import Run
from bayesmodels.report.sections import IN_MEMORY, SIDES

_GROUPS = ("posterior", "sample_stats")  # of which the page tells


def described(report: Report) -> list[Section]:
    """Return the comparison."""
    values = tables.with_intervals(report.comparison, report.prob, report.variables)
    table = tables.moments(values, report.comparison, report.prob)
    return [Section("comparison", "First and second set", [table])]


def glance(report: Report) -> Pairs:
    """Return what one looks for first."""
    return [
        *tables.discrepancies(report.comparison),
        *tables.divergences(report.first, "divergences, first"),
        *tables.divergences(report.second, "divergences, second"),
    ]


def data_of(report: Report) -> Section:
    """Return what the sets of draws are like."""
    return sections.data(sets(report), title="Draws")


def methods(report: Report) -> sections.Methods:
    """Return what was done, in sentences, and the works cited."""
    result = report.comparison
    sizes = (tree["posterior"].sizes for tree in (report.first, report.second))
    first, second = (f"{n['chain']} chains of {n['draw']:,} draws" for n in sizes)
    said = (
        f"Two sets of draws ({first}; {second}) were compared with bayesmodels "
        f"{report.versions['bayesmodels']}, by ranks of {sections.scalars(result)}, in "
        "Monte-Carlo standard errors and with a family-wise error rate of "
        f"{100 * result.level:g} % (Holm [3]); the verdict was “{report.outcome}”. Effective "
        "sample sizes and R-hat [1] were computed with ArviZ "
        f"{report.versions.get('arviz', '')} [2]."
    )
    return [said], (sections.RHAT, sections.ARVIZ, sections.HOLM)


def scalars(report: Report) -> int:
    """Return how many scalars could be drawn."""
    return len(moving(report))


def judge(report: Report) -> Judged:
    """Judge whether either set can stand for the other."""
    result, (first, second) = report.comparison, report.names
    head = {
        "agree": "Either set of draws can stand for the other.",
        "disagree": "A sampler is wrong, or the two models are not the same.",
        "inconclusive": "The draws are too few to judge, or have not mixed.",
    }[result.outcome]
    if same(result):
        head = "Both sets hold the same draws, which says nothing about either."
    also = f"First set: {first}; second set: {second}. Findings speak of the first."
    table = result.table.astype(object).where(np.isfinite(result.table), None)
    judged = on_draws(
        report,
        result.outcome,
        [head, result.sentences()[0], also],
        first=first,
        second=second,
        bound=_finite(result.bound),
        more=None if result.more is None else _finite(result.more),
        variables=None if report.variables is None else list(report.variables),
        left_out=list(result.left_out),
        table=table.to_dict(orient="index"),
    )
    judged.known["largest_r_hat"] = _finite(judged.known["largest_r_hat"])
    return judged


def same(verdict: Any) -> bool:
    """Return whether two sets are the same draws, such as one file given twice."""
    parts = ("mean", "sd", "eti89_lb", "eti89_ub")
    table = verdict.table
    return all((table[f"first_{part}"] == table[f"second_{part}"]).all() for part in parts)


def _finite(x: float) -> float | None:
    return x if np.isfinite(x) else None


def sets(report: Report) -> list[tuple[str, str]]:
    """Say of both sets where they come from and how large they are."""
    facts = []
    for side, name, tree in zip(SIDES, report.names, (report.first, report.second), strict=True):
        data = tree["posterior"]
        said = {**tree.attrs, **data.attrs}
        words = [f"{data.sizes['chain']:,} chains of {data.sizes['draw']:,} draws"]
        for key in ("inference_library", "creation_library"):
            if key in said:
                words.append(f"{said[key]} {said.get(f'{key}_version', '')}".strip())
                break
        facts.append((f"{side.capitalize()} set", f"{name}: {', '.join(words)}"))
    result, every = report.comparison, len(report.comparison.table)
    chosen, _ = in_both(result.law, result.draws, report.variables)
    facts.append(("Variables", f"{', '.join(chosen)} ({every:,} scalars)"))
    if result.left_out:
        facts.append(("Not compared", ", ".join(result.left_out)))
    if still := every - len(moving(report)):
        facts.append(("Scalars that do not vary", f"{still:,}, which are not drawn"))
    return facts


def moving(report: Report) -> list[Pair]:
    """Return the scalars that vary in both sets, those with the largest discrepancies first."""
    result = report.comparison
    z = result.table["z"].abs()
    every = [
        s for s in pairs(result.law, result.draws, report.variables) if min(map(np.ptp, s[1:])) > 0
    ]
    return sorted(every, key=lambda s: -z[s[0]]) if len(every) > figures.MOST_SCALARS else every


@canvas.style()
def pictures(report: Report) -> list[Picture]:
    """Draw densities and distribution functions of both sets, and ranks and traces of each."""
    shown, level = moving(report)[: figures.MOST_SCALARS], float(report.settings["level"])
    if not shown:
        return []
    result = [
        Picture(
            "density",
            "Both sets of draws",
            tuple(map(_density, shown)),
            "Filled: histogram of the first set. Line: histogram of the second, which the first "
            "should follow.",
        ),
        Picture(
            "ecdf",
            "Difference of distribution functions",
            tuple(_distribution_function(scalar, level / len(shown)) for scalar in shown),
            "Empirical distribution function of the first set minus that of both together, of "
            "draws thinned until they are nearly independent. If both sets come from one law, all "
            "lines stay within the shaded bands with a probability of about "
            f"{100 * (1 - level):g} %.",
        ),
    ]
    names, *sides = zip(*shown, strict=True)
    for side, tree, draws in zip(SIDES, (report.first, report.second), sides, strict=True):
        ranked = figures.ranks(list(map(Scalar, names, map(untied, draws))), level)
        traced = figures.traces(list(map(Scalar, names, draws)), tree)
        for picture in (ranked, traced):
            title = f"{picture.title}, {side} set"
            result.append(picture._replace(name=f"{picture.name}-{side}", title=title))
    return result


def untied(x: Array) -> Array:
    """Return the ranks of draws among themselves; equal draws come in random order.

    Of values that are often the same, such as whole numbers, mean ranks are not evenly spread.

    Examples
    --------
    >>> import numpy as np
    >>> untied(np.array([[3.0, 1.0, 2.0]]))
    array([[3., 1., 2.]])
    """
    order = np.random.default_rng(1).permutation(x.size)
    ranks = np.empty(x.size)
    ranks[order] = stats.rankdata(np.ravel(x)[order], "ordinal")
    return ranks.reshape(x.shape)


def _density(pair: Pair) -> Panel:
    label, first, second = pair
    both = np.concatenate([first.ravel(), second.ravel()])
    low, high = np.quantile(both, [figures.EDGE, 1 - figures.EDGE])
    if low == high:  # nearly all draws are the same
        low, high = both.min(), both.max()
    table, axes = figures.heights(low, high, first=first, second=second), canvas.axes_of()
    canvas.histogram(axes, table, figures.LINES)
    alt = (
        f"Histograms of {first.size:,} draws of {label} in the first set and of {second.size:,} in "
        f"the second. {figures.moments(both.std(), First=first, Second=second)}."
    )
    return canvas.panel(label, axes, table, alt)


def _distribution_function(pair: Pair, level: float) -> Panel:
    label, *both = pair
    own, other = (figures.thinned(x).ravel() for x in both)
    among = untied(np.concatenate([own, other])) / (own.size + other.size)
    return figures.difference(
        label,
        {"difference": among[: own.size]},
        figures.simultaneous_bound(own.size, level, other.size),
        "distribution function of both sets",
        f"Distribution function of {label} in the first set minus that of both sets, over "
        f"{own.size:,} and {other.size:,} thinned draws",
    )


def validated(first: Any, second: Any, var_names: Sequence[str] | None, run: Run) -> dict[str, Any]:
    """Read two sets of draws, and compare them; return parts of a report."""
    paths = [given if isinstance(given, str | os.PathLike) else None for given in (first, second)]
    sides = run.timed(
        "reading",
        "reading draws",
        lambda: [
            given if path is None else _read(path, which)
            for given, which, path in zip((first, second), SIDES, paths, strict=True)
        ],
    )
    words = "comparing draws"
    result = run.timed("comparison", words, compare, *sides, **run.settings, var_names=var_names)
    called = tuple(IN_MEMORY if path is None else str(path) for path in paths)
    return {
        "title": "Two sets of draws",
        "names": called,
        "comparison": result,
        "first": _tree(sides[0]),
        "second": _tree(sides[1]),
        "variables": None if var_names is None else tuple(var_names),
        "files": None if None in paths else called,
    }


def _read(path: str | os.PathLike[str], which: str) -> xr.DataTree:
    """Return draws of a file, and what the sampler tells of them."""
    tree = load(path, _GROUPS)
    if "posterior" in tree.children:
        return tree
    root = tree.to_dataset()
    if {"chain", "draw"} <= set(root.dims):  # a dataset that was saved as such
        return xr.DataTree.from_dict({"posterior": root})
    groups = ", ".join(map(str, load(path).children)) or "none"
    raise DataError(
        f"{which}: {str(path)!r} must have a group posterior, or variables with the axes chain and "
        f"draw; its groups: {groups}."
    )


def _tree(given: Any) -> xr.DataTree:
    """Return draws in any form as a tree."""
    from arviz_base import convert_to_dataset

    if isinstance(given, xr.DataTree) and "posterior" in given.children:
        return given
    return xr.DataTree.from_dict({"posterior": convert_to_dataset(given)})
