"""What a report says in rows and columns, as strings.

Numbers are rounded to what their uncertainty carries: three digits of the standard deviation, two
of the Monte-Carlo error.
"""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief.conditioning import DIGITS
from bayesmodels.belief.declaring import Names
from bayesmodels.belief.protocol import Conditioned, LatentClasses, Product
from bayesmodels.belief.reading import levels, places
from bayesmodels.referee.evidence_check import OtherEvidence
from bayesmodels.referee.named_laws import InvariantLaw
from bayesmodels.referee.pit import name_of
from bayesmodels.referee.verdict import Verdict
from bayesmodels.referee.verdict import significant as significant_tests
from bayesmodels.report.page import MOST_ROWS, Column, Table, Validated, columns, cut
from bayesmodels.report.rounding import decimals_of, powers, rounded, significant

if TYPE_CHECKING:
    import pandas as pd

_MOST_DECIMALS = 8  # of a probability


def parameters(report: Validated) -> list[Table]:
    """Return the parameters of prior and posterior side by side, one table for each shape.

    Rows are the places of a variable; columns come in pairs. For a coin, alpha goes from 1 to 56
    and beta from 1 to 46::

                α                  β
                prior  posterior   prior  posterior
        theta       1         56       1         46
    """
    # The prior as it meets the data: with the groups or columns that these brought along.
    empty = report.prior.statistic(report.data).without_rows()
    before, after = parts(report.prior.update(empty)), parts(report.posterior)
    tables = [
        table
        for (prior, _), (posterior, names) in zip(before, after, strict=True)
        for table in _parameters(prior, posterior, names)
    ]
    if not isinstance(report.posterior, LatentClasses):
        return tables
    note = (
        f"The posterior is a mixture of {len(report.posterior.terms):,} such beliefs, one for each "
        "distinguishable way to allot the rows to the classes."
    )
    return [
        dataclasses.replace(
            table,
            columns=tuple(c for c in table.columns if c.head != "posterior"),
            note=note,
        )
        for table in tables
    ]


def parts(belief: Any) -> list[tuple[Any, Names]]:
    """Return the beliefs that a belief is a product of, with their names; or itself, alone.

    Names say what the variables of a part are called in the whole.
    """
    return belief.parts() if isinstance(belief, Product) else [(belief, Names())]


def _parameters(prior: Any, posterior: Any, names: Names) -> list[Table]:
    before, after = prior.parameters(), posterior.parameters()
    tables = []
    for shape in dict.fromkeys(map(np.shape, after.values())):
        variables, labels = _places(posterior, names, shape)
        columns = [Column("", labels, numeric=False)]
        for symbol, values in after.items():
            if np.shape(values) == shape:
                given = [significant(x) for x in np.broadcast_to(before[symbol], shape).flat]
                cells = ("flat" if cell == "–" else cell for cell in given)
                columns.append(Column("prior", tuple(cells), symbol))
                cells = (significant(x) for x in np.ravel(values))
                columns.append(Column("posterior", tuple(cells), symbol))
        flat = any("flat" in column.cells for column in columns)
        note = "Flat: the prior prefers no value of this coefficient to any other." if flat else ""
        caption = f"Parameters of {' and '.join(variables)}"
        tables.append(cut(Table(caption, tuple(columns), note)))
    return tables


def _places(belief: Any, names: Names, shape: tuple[int, ...]) -> tuple[list[str], tuple[str, ...]]:
    """Return which variables have parameters of this shape, and the labels of its places.

    A shape that is no variable's is that of parameters which all variables share, along the
    leading axes: such as one number of degrees of freedom a class.
    """
    extra = dict.fromkeys(levels(belief), 1)  # a nominal variable has a place for each level
    lengths = {name: len(labels) for name, labels in belief.coords.items()}
    fitting = [
        name
        for name, axes in belief.dims.items()
        if len(axes) + extra.get(name, 0) == len(shape)
        and all(lengths[axis] == size for axis, size in zip(axes, shape, strict=False))
    ]
    if fitting:
        found = places(belief, fitting[0], shape)
        own = len(fitting[0])
        return [*map(names, fitting)], tuple(names(fitting[0]) + text[own:] for text, _ in found)
    every = [*map(names, belief.dims)]
    axes = max(belief.dims.values(), key=len)[: len(shape)]
    inner = product(*(belief.coords[axis] for axis in axes))
    return every, tuple(", ".join(map(str, at)) or ", ".join(every) for at in inner)


def comparison(report: Validated) -> Table:
    r"""Return exact beside sampled values, one row a scalar, each with its largest discrepancy.

    The discrepancy z is the difference of a sampled average from its exact value in Monte-Carlo
    standard errors,

    .. math:: z = (\bar f - E f) \sqrt{\mathrm{ESS}_f} / \mathrm{sd}(f).

    Rows with a significant discrepancy are marked; of more than `MOST_ROWS` rows, those with the
    largest discrepancies are kept.
    """
    verdict = report.comparison
    if levels(report.posterior):
        return visits(verdict.table, verdict)
    table = moments(verdict.table, verdict)
    if not isinstance(verdict.law, InvariantLaw):
        return table
    note = (
        f"{table.note} Compared is what does not depend on the order of the classes: their "
        "probabilities by size (pi_sorted), log densities of some of the distinct rows "
        "(log_density), and the probability that one of them and the next share a class "
        "(same_class). These rows are numbered among themselves, in the order of their values, not "
        "as in the data. Exact values are those of "
        f"{verdict.law.reference:,} exact draws, whose noise is reckoned with."
    )
    return dataclasses.replace(table, note=note)


def moments(values: pd.DataFrame, verdict: Verdict) -> Table:
    """Return means, spreads and intervals of some rows of a verdict, exact beside sampled."""
    values = worst_first(values)
    digits = [decimals_of(sd, 3) for sd in values["sd"].to_numpy(dtype=float)]
    coarse = [decimals_of(error, 2) for error in values["mcse_mean"].to_numpy(dtype=float)]
    exact, sampled = "89 % interval, exact", "89 % interval, sampled"
    found = columns(
        values,
        ("exact", "mean", "Mean", digits),
        ("sampled", "sampled_mean", "Mean", digits),
        ("exact", "sd", "Standard deviation", digits),
        ("sampled", "sampled_sd", "Standard deviation", digits),
        ("from", "eti89_lb", exact, digits),
        ("to", "eti89_ub", exact, digits),
        ("from", "sampled_eti89_lb", sampled, digits),
        ("to", "sampled_eti89_ub", sampled, digits),
        ("ESS bulk", "ess_bulk", "Draws", 0),
        ("R-hat", "r_hat", "Draws", 3),
        ("MCSE", "mcse_mean", "Draws", coarse),
    )
    note = (
        "z is the largest discrepancy of the scalar, in Monte-Carlo standard errors, over location,"
        " shift, spread, skew, tails, quartiles and chains."
    )
    return _compared("Exact against sampled", found, values, verdict, note)


def sides(values: pd.DataFrame, verdict: Verdict) -> Table:
    """Return means, spreads and intervals of scalars, of one set of draws beside another."""
    values = worst_first(values)
    spread = np.fmax(values["first_sd"], values["second_sd"])
    digits, both = [decimals_of(sd, 3) for sd in spread], ("first", "second")
    ends = (("from", "lb"), ("to", "ub"))
    found = columns(
        values,
        *((side, f"{side}_mean", "Mean", digits) for side in both),
        *((side, f"{side}_sd", "Standard deviation", digits) for side in both),
        *(
            (head, f"{side}_eti89_{end}", f"89 % interval, {side}", digits)
            for side in both
            for head, end in ends
        ),
        ("ESS bulk", "ess_bulk", "Draws", 0),
        ("R-hat", "r_hat", "Draws", 3),
    )
    note = (
        "z is the largest discrepancy of the scalar, in Monte-Carlo standard errors of both sets, "
        "over location, spread, skew, tails, quartiles and chains."
    )
    table = _compared("First set against second", found, values, verdict, note)
    more = " Effective draws are those of the set that has fewer, R-hat is the larger of both."
    return dataclasses.replace(table, note=table.note + more)


def _compared(
    caption: str, found: list[Column], values: pd.DataFrame, verdict: Verdict, note: str
) -> Table:
    """Return a table whose last columns are the largest discrepancy of each row, and what of."""
    worst = {test.label: name_of(test) for test in sorted(verdict.tests, key=lambda t: abs(t.z))}
    # A scalar that is the same as another in both sets was tested under the other's name.
    names = tuple(worst.get(str(label), "as another") for label in values.index)
    found = [*found, _discrepancies(values), Column("of", names, "Discrepancy", numeric=False)]
    note = f"{note} {arrows(verdict)}"
    return cut(
        Table(caption, tuple(found), note, marked(values, verdict)), "those with the largest |z|"
    )


def visits(values: pd.DataFrame, verdict: Verdict) -> Table:
    """Return probabilities of the levels of finite variables, exact beside visited."""
    values = worst_first(values)
    digits = [
        min(_MOST_DECIMALS, decimals_of(float(error), 2) if error > 0 else 4)
        for error in values["mcse_mean"]
    ]
    found = columns(
        values,
        ("exact", "mean", "Probability", digits),
        ("visited", "sampled_mean", "Probability", digits),
        ("MCSE", "mcse_mean", "Draws", digits),
        ("ESS bulk", "ess_bulk", "Draws", 0),
        ("R-hat", "r_hat", "Draws", 3),
    )
    note = (
        "z is the discrepancy in standard errors, from the binomial law of as many visits as there "
        f"are effective draws. {arrows(verdict)}"
    )
    found.append(_discrepancies(values))
    table = Table("Exact against visited", tuple(found), note, marked(values, verdict))
    return cut(table, "those with the largest |z|")


def _discrepancies(values: pd.DataFrame, group: str = "Discrepancy") -> Column:
    cells = tuple(map(signed, values["z"].to_numpy(dtype=float)))
    return Column("z", cells, group, judged=True)


def marked(values: pd.DataFrame, verdict: Verdict) -> frozenset[int]:
    """Return which rows have a discrepancy that is significant among all of the verdict."""
    wrong = {test.label for test in significant_tests(verdict.tests, verdict.level)}
    return frozenset(np.flatnonzero([label in wrong for label in values.index]).tolist())


def arrows(verdict: Verdict) -> str:
    """Say how many comparisons there were, and what is marked of them."""
    table, tests = verdict.table, verdict.tests
    together = sum(
        test.label not in table.index and test.kind != "class probability" for test in tests
    )
    said = f"An arrow marks what is significant among all {len(tests):,} comparisons"
    said += f" at a family-wise level of {verdict.level:g} (Holm)."
    if together:
        said += f" {together:,} of them are about how scalars vary together."
    return said


def worst_first(values: pd.DataFrame) -> pd.DataFrame:
    """Put rows with large discrepancies first if some rows have to be left out."""
    if len(values) <= MOST_ROWS:
        return values
    return values.iloc[np.argsort(-np.abs(values["z"].to_numpy(dtype=float)), kind="stable")]


def predictions(verdict: Verdict) -> Table | None:
    """Return predicted class probabilities, exact beside sampled, one row a row and class.

    None if the model predicts no classes, or no row was looked at.
    """
    values = verdict.predictions
    if values is None or values.empty:
        return None
    digits = [min(_MOST_DECIMALS, decimals_of(float(error), 2)) for error in values["mcse"]]
    found = columns(
        values,
        ("exact", "exact", "", digits),
        ("sampled", "sampled", "", digits),
        ("MCSE", "mcse", "", digits),
    )
    note = (
        "No error is known, and nothing tested, where the average would rest on a few rare draws."
        if values["z"].isna().any()
        else ""
    )
    caption = "Class probabilities, exact against sampled"
    found.append(_discrepancies(values, ""))
    table = Table(caption, tuple(found), note, marked(values, verdict), alone=True)
    return cut(table, "the least certain first")


def glance(log_evidence: float | None, verdict: Verdict, sampled: Any) -> list[tuple[str, str]]:
    """Return the few numbers that one looks for first."""
    exact = "none" if log_evidence is None else rounded(log_evidence, 3)
    return [("log evidence", exact), *discrepancies(verdict), *divergences(sampled)]


def discrepancies(verdict: Verdict) -> list[tuple[str, str]]:
    """Return the worst that a verdict found."""
    worst = ("largest discrepancy, s.e.", rounded(abs(verdict.largest.z), 1))
    return [worst, *mixed(verdict.table, "ess_bulk")]


def mixed(values: pd.DataFrame, ess: str) -> list[tuple[str, str]]:
    """Return how good the draws of the worst scalars are."""
    return [
        ("fewest effective draws", rounded(float(values[ess].min()), 0)),
        ("largest R-hat", rounded(float(values["r_hat"].max()), 3)),
    ]


def divergences(sampled: Any, name: str = "divergences") -> list[tuple[str, str]]:
    """Count the draws that diverged, if the sampler tells."""
    found = diverging(sampled)
    return [] if found is None else [(name, str(int(found.sum())))]


def diverging(sampled: Any) -> NDArray[np.bool_] | None:
    """Return which draws diverged, of shape (chain, draw), if the sampler tells."""
    if "sample_stats" not in sampled.children or "diverging" not in sampled["sample_stats"]:
        return None
    found = sampled["sample_stats"]["diverging"]
    if set(found.dims) != {"chain", "draw"}:
        return None
    return np.asarray(found.transpose("chain", "draw"), dtype=bool)


def evidence(report: Validated) -> list[tuple[str, str]]:
    """Return what the identity of algebra and PyMC density found."""
    found = report.identity
    facts = [("Points compared", str(found.points))]
    if report.log_evidence is not None:
        facts.append(("Log evidence, algebra", rounded(report.log_evidence, 9)))
        facts.append(("Log evidence, from densities", rounded(found.constant, 9)))
        statistic = report.prior.statistic(report.data)
        coefficients = float(np.sum(getattr(statistic, "log_coefficient", 0.0)))
        if coefficients:  # counts forget the order of their rows, which the equations know
            facts.append(("Of this, coefficients of counts", rounded(coefficients, 9)))
    facts.append(("Rounding bound of the constant", powers(found.bound, 1)))
    if found.evidence is not None:
        facts.append(("Difference of the two", share(found.evidence)))
    facts.append(("Variation between points", share(found.constancy)))
    if not levels(report.posterior):  # names have no slopes
        facts.append(("Difference of slopes", share(found.slope)))
    return facts


def digits(posterior: Any, statistic: Any = None) -> list[tuple[str, str]]:
    """Say how many digits are lost between the data and the posterior, by estimate."""
    if not isinstance(posterior, Conditioned):
        return []
    lost = posterior.digits_lost(statistic)
    if lost is None:
        said = "not estimated, since the posterior is a mixture of many"
    elif not lost < DIGITS:
        said = "all of them: columns are as good as collinear. Leave some out."
    elif lost == 0:
        said = "less than one"
    else:
        said = f"about {np.ceil(lost):.0f}"
    return [(f"Digits lost of {DIGITS:.0f}, by estimate", said)]


def ways(log_evidence: float | None, other: OtherEvidence | None) -> Table | None:
    """Return the ways to the evidence, one row each; None if there is no evidence."""
    if log_evidence is None or other is None:
        return None
    rows = [("closed form", rounded(log_evidence, 6), "", "", "")]
    if other.chain is not None:
        gap = powers(other.chain - log_evidence, 1)
        rows.append(("chain of one-step predictions", rounded(other.chain, 6), "", gap, ""))
    if other.estimate is not None:
        found, error = other.estimate.log_evidence, other.estimate.error
        off = found - log_evidence
        if error:
            places = decimals_of(error, 2)
            size = rounded(error, places), rounded(off, places), signed(off / error)
            rows.append(("bridge sampling", rounded(found, places), *size))
        else:
            name = "sum over all values in PyMC"
            rows.append((name, rounded(found, 6), "", powers(off, 1), ""))
    heads = "", "log evidence", "standard error", "difference", "in standard errors"
    each = tuple(
        Column(head, cells, numeric=bool(head))
        for head, cells in zip(heads, zip(*rows, strict=True), strict=True)
    )
    return Table("Ways to the log evidence", each, " ".join(other.notes), alone=True)


def signed(z: float) -> str:
    """Return a discrepancy with its sign; a dash where there is none."""
    return "–" if np.isnan(z) else f"{z:+.1f}".replace("-", "−")


def share(ratio: float) -> str:
    """Say how large a difference is in units of what rounding can explain."""
    return f"{significant(ratio, 2)} times its bound" + (": too large" if ratio > 1 else "")
