"""What the report of two sets of draws says in rows and columns, and its pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import arviz_plots as azp
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bayesmodels.numerics import Array
from bayesmodels.referee.pit import name_of
from bayesmodels.referee.two_samples import pairs
from bayesmodels.report import canvas, figures, tables
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.draws_validation import DrawsReport
from bayesmodels.report.figures import Scalar
from bayesmodels.report.rounding import decimals_of, rounded
from bayesmodels.report.tables import Column, Table

SIDES = ("first", "second")


@dataclass(frozen=True)
class Both:
    """A number that was sampled twice: its label, and draws of shape (chain, draw)."""

    label: str
    first: Array
    second: Array


def comparison(report: DrawsReport) -> Table:
    """Return the first set beside the second, one row a scalar, each with its largest discrepancy.

    Parameters
    ----------
    report : DrawsReport
        What `validate_draws` found.
    """
    values, tests = tables.worst_first(report.comparison.table), report.comparison.tests
    size = {name: values[name].to_numpy(dtype=float) for name in values.columns}
    digits = [decimals_of(sd, 3) for sd in np.fmax(size["first_sd"], size["second_sd"])]
    columns = [Column("", tuple(map(str, values.index)), numeric=False)]
    for head, name in (("Mean", "mean"), ("Standard deviation", "sd")):
        columns += [
            tables.numeric_column(side, size[f"{side}_{name}"], head, digits) for side in SIDES
        ]
    for side in SIDES:
        group, ends = f"89 % interval, {side}", (("from", "lb"), ("to", "ub"))
        columns += [
            tables.numeric_column(head, size[f"{side}_eti89_{end}"], group, digits)
            for head, end in ends
        ]
    worst = {test.label: test for test in sorted(tests, key=lambda t: abs(t.z))}
    # A scalar that is the same as another in both sets was tested under the other's name.
    names = [name_of(worst[str(n)]) if str(n) in worst else "as another" for n in values.index]
    columns += [
        tables.numeric_column("ESS bulk", size["ess_bulk"], "Draws", 0),
        tables.numeric_column("R-hat", size["r_hat"], "Draws", 3),
        Column("z", tuple(map(tables.signed, size["z"])), "Discrepancy"),
        Column("of", tuple(names), "Discrepancy", numeric=False),
    ]
    note = (
        "z is the largest discrepancy of the scalar, in Monte-Carlo standard errors of both sets, "
        "over location, spread, skew, tails, quartiles and chains. "
        f"{tables.arrows(report.comparison)} Effective draws are those of the set that has fewer, "
        "R-hat is the larger of both."
    )
    marked = tables.marked(values, report.comparison)
    table = Table("First set against second", tuple(columns), note, marked)
    return tables.cut(table, "those with the largest |z|")


def glance(report: DrawsReport) -> list[tuple[str, str]]:
    """Return the few numbers that one looks for first."""
    found = report.comparison
    facts = [
        ("largest discrepancy, s.e.", rounded(abs(found.largest.z), 1)),
        ("fewest effective draws", rounded(float(found.table["ess_bulk"].min()), 0)),
        ("largest R-hat", rounded(float(found.table["r_hat"].max()), 3)),
    ]
    for side, tree in zip(SIDES, (report.first, report.second), strict=True):
        if (diverging := _diverging(tree)) is not None:
            facts.append((f"divergences, {side}", str(int(diverging.sum()))))
    return facts


def sets(report: DrawsReport) -> list[tuple[str, str]]:
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
    chosen = report.variables or tuple(map(str, report.first["posterior"].data_vars))
    every = len(report.comparison.table)
    facts.append(("Variables", f"{', '.join(chosen)} ({every:,} scalars)"))
    if still := every - len(moving(report)):
        facts.append(("Scalars that do not vary", f"{still:,}, which are not drawn"))
    return facts


def reproduction(report: DrawsReport) -> str:
    """Return the call that makes the same report again."""
    given = ", ".join(map(repr, report.names)) if report.files else "first, second"
    chosen = [] if report.variables is None else [f"var_names={list(report.variables)!r}"]
    settings = [f"{name}={value!r}" for name, value in report.settings.items()]
    return f"report = bm.validate_draws({', '.join([given, *chosen, *settings])})"


def moving(report: DrawsReport) -> list[Both]:
    """Return the scalars that vary in both sets, those with the largest discrepancies first."""
    found = report.comparison
    z = found.table["z"].abs()
    every = [Both(*pair) for pair in pairs(found.law, found.draws, report.variables)]
    every = [s for s in every if np.ptp(s.first) > 0 and np.ptp(s.second) > 0]
    return sorted(every, key=lambda s: -z[s.label]) if len(every) > figures.MOST_SCALARS else every


@canvas.style()
def pictures(report: DrawsReport) -> list[Picture]:
    """Draw densities and distribution functions of both sets, and ranks and traces of each.

    Parameters
    ----------
    report : DrawsReport
        What `validate_draws` found.
    """
    shown, level = moving(report)[: figures.MOST_SCALARS], float(report.settings["level"])
    if not shown:
        return []
    found = [
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
    for side, tree in zip(SIDES, (report.first, report.second), strict=True):
        own = [(scalar.label, getattr(scalar, side)) for scalar in shown]
        ranked = figures.ranks([Scalar(n, None, untied(x)) for n, x in own], level)
        traced = figures.traces([Scalar(n, None, x) for n, x in own], _told(tree))
        for picture in (ranked, traced):
            title = f"{picture.title}, {side} set"
            found.append(replace(picture, name=f"{picture.name}-{side}", title=title))
    return found


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


def simultaneous_bound(own: int, other: int, probability: float) -> float:
    r"""Return how far one of two empirical distribution functions may be from that of both.

    With :math:`H = (m F_m + n G_n) / (m + n)`, :math:`F_m - H = (F_m - G_n) \, n / (m + n)`, and
    under one law

    .. math:: P\left(\sup_x |F_m(x) - G_n(x)| > \epsilon\right)
        \le e \cdot e^{-2 \epsilon^2 m n / (m + n)} .

    Parameters
    ----------
    own, other : int
        Numbers m and n of independent draws.
    probability : float
        Of going beyond the bound somewhere.

    References
    ----------
    Wei and Dudley (2012), *Two-sample Dvoretzky-Kiefer-Wolfowitz inequalities*; proven for equal
    numbers, where the factor can be 2 from 458 draws on.

    Examples
    --------
    >>> round(simultaneous_bound(1000, 1000, 0.01), 4)
    0.0374
    """
    apart = np.sqrt((1 - np.log(probability)) * (own + other) / (2 * own * other))
    return float(apart * other / (own + other))


def _density(scalar: Both) -> Panel:
    both = np.concatenate([scalar.first.ravel(), scalar.second.ravel()])
    low, high = np.quantile(both, [figures.EDGE, 1 - figures.EDGE])
    if low == high:  # nearly all draws are the same
        low, high = both.min(), both.max()
    bins, axes = np.linspace(low, high, figures.BINS + 1), canvas.axes_of()
    data = figures.dataset(scalar.first)
    azp.plot_dist(
        figures.tree_of(posterior=data),
        kind="hist",
        plot_collection=canvas.collection(axes, data),
        stats={"dist": {"bins": bins}},
        visuals=figures.FACE_ONLY,
    )
    first, second = (np.histogram(x, bins, density=True)[0] for x in (scalar.first, scalar.second))
    axes.stairs(second, bins, color=canvas.ORANGE, lw=1.4)
    axes.set_ylim(0, 1.08 * max(first.max(), second.max()))
    axes.set_xlim(low, high)
    axes.locator_params(axis="x", nbins=5)
    digits = decimals_of(both.std(), 3)
    said = [
        f"{side}: mean {rounded(x.mean(), digits)}, standard deviation {rounded(x.std(), digits)}"
        for side, x in (("First", scalar.first), ("Second", scalar.second))
    ]
    alt = (
        f"Histograms of {scalar.first.size:,} draws of {scalar.label} in the first set and of "
        f"{scalar.second.size:,} in the second. {'. '.join(said)}."
    )
    return canvas.panel(scalar.label, axes, alt)


def _distribution_function(scalar: Both, level: float) -> Panel:
    own, other = (np.ravel(figures.thinned(x)["x"]) for x in (scalar.first, scalar.second))
    among = untied(np.concatenate([own, other])) / (own.size + other.size)
    return figures.differences(
        scalar.label,
        figures.dataset(among[None, : own.size]),
        simultaneous_bound(own.size, other.size, level),
        level,
        "distribution function of both sets",
        f"Distribution function of {scalar.label} in the first set minus that of both sets, over "
        f"{own.size:,} and {other.size:,} thinned draws",
    )


def _diverging(tree: Any) -> NDArray[np.bool_] | None:
    """Return which draws diverged, of shape (chain, draw), if the sampler tells."""
    if "sample_stats" not in tree.children or "diverging" not in tree["sample_stats"]:
        return None
    found = tree["sample_stats"]["diverging"]
    if set(found.dims) != {"chain", "draw"}:
        return None
    return np.asarray(found.transpose("chain", "draw"), dtype=bool)


def _told(tree: Any) -> Any:
    """Return what traces are marked with, chains and draws numbered as theirs are."""
    diverging, size = _diverging(tree), tree["posterior"].sizes
    if diverging is None or diverging.shape != (size["chain"], size["draw"]):
        return figures.tree_of()
    marks = figures.dataset(diverging).rename(x="diverging")
    return figures.tree_of(sample_stats=marks)
