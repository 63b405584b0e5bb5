"""What a report says in rows and columns, as strings: no HTML here.

Numbers are rounded to what their uncertainty carries: three digits of the standard deviation, two
of the Monte-Carlo error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.conditioning import DIGITS
from bayesmodels.belief.declaring import Names
from bayesmodels.belief.protocol import Conditioned
from bayesmodels.belief.reading import levels, places
from bayesmodels.models.classifiers.generative import ClassStatistic
from bayesmodels.numerics import Array
from bayesmodels.referee.label_invariants import InvariantLaw
from bayesmodels.referee.pit import name_of
from bayesmodels.referee.sequential import AGAIN
from bayesmodels.referee.verdict import Verdict
from bayesmodels.referee.verdict import significant as significant_tests
from bayesmodels.report.approximation import ApproximationReport
from bayesmodels.report.model_validation import ModelReport
from bayesmodels.report.rounding import decimals_of, powers, rounded, significant
from bayesmodels.report.validation import Report

if TYPE_CHECKING:
    import pandas as pd


MOST_ROWS = 40
_MOST_DECIMALS = 8  # of a probability


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    head : str
        Its heading.
    cells : tuple of str
        One string a row.
    group : str
        Heading shared with the neighbours of the same group; may be empty.
    numeric : bool
        Whether cells are numbers, to be aligned at the decimal point.
    """

    head: str
    cells: tuple[str, ...]
    group: str = ""
    numeric: bool = True

    @property
    def padding(self) -> tuple[str, ...]:
        """What each number lacks, behind it, for all to end at the same decimal.

        Examples
        --------
        >>> Column("x", ("1.25", "3", "0.5")).padding
        ('', '.00', '0')
        """
        if not self.numeric or any("e" in cell for cell in self.cells):
            return ("",) * len(self.cells)
        ends = ["".join(cell.partition(".")[1:]) for cell in self.cells]
        full = "." + "0" * (max(map(len, ends), default=1) - 1)
        return tuple(full[len(end) :] if any(ends) else "" for end in ends)


@dataclass(frozen=True)
class Table:
    """Columns of equal length; the first one names the rows.

    Attributes
    ----------
    caption : str
        What the table shows.
    columns : tuple of Column
        From left to right.
    note : str
        Sentences to stand below it; may be empty.
    marked : frozenset of int
        Rows to be pointed out.
    """

    caption: str
    columns: tuple[Column, ...]
    note: str = ""
    marked: frozenset[int] = frozenset()

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings above the headings, each with the number of columns it spans."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans


def parameters(report: Report) -> list[Table]:
    """Return the parameters of prior and posterior side by side, one table for each shape.

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    list of Table
        Rows are the places of a variable; columns come in pairs, prior and posterior.

    Examples
    --------
    For a coin, alpha goes from 1 to 56 and beta from 1 to 46::

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
    terms = getattr(report.posterior, "terms", None)
    if terms is None:
        return tables
    note = (
        f"The posterior is a mixture of {len(terms):,} such beliefs, one for each distinguishable "
        "way to allot the rows to the classes."
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

    Parameters
    ----------
    belief : Belief
        Any.

    Returns
    -------
    list of (Belief, Names)
        Names say what the variables of a part are called in the whole.
    """
    return belief.parts() if hasattr(belief, "parts") else [(belief, Names())]


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


def comparison(report: Report) -> Table:
    r"""Return exact beside sampled values, one row a scalar, each with its largest discrepancy.

    The discrepancy z is the difference of a sampled average from its exact value in Monte-Carlo
    standard errors,

    .. math:: z = (\bar f - E f) \sqrt{\mathrm{ESS}_f} / \mathrm{sd}(f).

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    Table
        Rows with a significant discrepancy are marked; of more than `MOST_ROWS` rows, those with
        the largest discrepancies are kept.
    """
    values = report.comparison.table
    if levels(report.posterior):
        return visits(values, report.comparison)
    table = moments(values, report.comparison)
    if not isinstance(report.comparison.law, InvariantLaw):
        return table
    note = (
        f"{table.note} Compared is what does not depend on the order of the classes: their "
        "probabilities by size (pi_sorted), log densities of some of the distinct rows "
        "(log_density), and the probability that one of them and the next share a class "
        "(same_class). These rows are numbered among themselves, in the order of their values, not "
        "as in the data. Exact values are those of "
        f"{report.comparison.law.reference:,} exact draws, whose noise is reckoned with."
    )
    return dataclasses.replace(table, note=note)


def moments(values: pd.DataFrame, verdict: Verdict) -> Table:
    """Return means, spreads and intervals of scalars, exact beside sampled.

    Parameters
    ----------
    values : pandas.DataFrame
        Rows of the verdict's table.
    verdict : Verdict
        What was found of all of them.
    """
    values = worst_first(values)
    size = {name: values[name].to_numpy(dtype=float) for name in values.columns}
    digits = [decimals_of(sd, 3) for sd in size["sd"]]
    coarse = [decimals_of(error, 2) for error in size["mcse_mean"]]

    def column(head: str, name: str, group: str, decimals: Sequence[int] | int) -> Column:
        return numeric_column(head, size[name], group, decimals)

    exact, sampled = "89 % interval, exact", "89 % interval, sampled"
    worst = {test.label: test for test in sorted(verdict.tests, key=lambda t: abs(t.z))}
    columns = (
        Column("", tuple(map(str, values.index)), numeric=False),
        column("exact", "mean", "Mean", digits),
        column("sampled", "sampled_mean", "Mean", digits),
        column("exact", "sd", "Standard deviation", digits),
        column("sampled", "sampled_sd", "Standard deviation", digits),
        column("from", "eti89_lb", exact, digits),
        column("to", "eti89_ub", exact, digits),
        column("from", "sampled_eti89_lb", sampled, digits),
        column("to", "sampled_eti89_ub", sampled, digits),
        column("ESS bulk", "ess_bulk", "Draws", 0),
        column("R-hat", "r_hat", "Draws", 3),
        column("MCSE", "mcse_mean", "Draws", coarse),
        Column("z", tuple(map(signed, size["z"])), "Discrepancy"),
        Column(
            "of",
            tuple(name_of(worst[str(label)]) for label in values.index),
            "Discrepancy",
            numeric=False,
        ),
    )
    note = (
        "z is the largest discrepancy of the scalar, in Monte-Carlo standard errors, over location,"
        f" shift, spread, skew, tails, quartiles and chains. {arrows(verdict)}"
    )
    table = Table("Exact against sampled", columns, note, marked(values, verdict))
    return cut(table, "those with the largest |z|")


def visits(values: pd.DataFrame, verdict: Verdict) -> Table:
    """Return probabilities of the levels of finite variables, exact beside visited.

    Parameters
    ----------
    values : pandas.DataFrame
        Rows of the verdict's table.
    verdict : Verdict
        What was found of all of them.
    """
    values = worst_first(values)
    z = values["z"].to_numpy(dtype=float)
    digits = [
        min(_MOST_DECIMALS, decimals_of(float(error), 2) if error > 0 else 4)
        for error in values["mcse_mean"]
    ]

    def column(head: str, name: str, group: str, decimals: Sequence[int] | int) -> Column:
        return numeric_column(head, values[name].to_numpy(dtype=float), group, decimals)

    columns = (
        Column("", tuple(map(str, values.index)), numeric=False),
        column("exact", "mean", "Probability", digits),
        column("visited", "sampled_mean", "Probability", digits),
        column("MCSE", "mcse_mean", "Draws", digits),
        column("ESS bulk", "ess_bulk", "Draws", 0),
        column("R-hat", "r_hat", "Draws", 3),
        Column("z", tuple(map(signed, z)), "Discrepancy"),
    )
    note = (
        "z is the discrepancy in standard errors, from the binomial law of as many visits as there "
        f"are effective draws. {arrows(verdict)}"
    )
    table = Table("Exact against visited", columns, note, marked(values, verdict))
    return cut(table, "those with the largest |z|")


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


def numeric_column(head: str, values: Array, group: str, decimals: Sequence[int] | int) -> Column:
    """Return a column of numbers with so many decimals each."""
    each = [decimals] * len(values) if isinstance(decimals, int) else decimals
    return Column(head, tuple(rounded(x, n) for x, n in zip(values, each, strict=True)), group)


def predictions(report: Report) -> Table | None:
    """Return predicted class probabilities, exact beside sampled, one row a row and class.

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    Table or None
        None if the model predicts no classes, or no row was looked at.
    """
    values = report.comparison.predictions
    if values is None or values.empty:
        return None
    size = {name: values[name].to_numpy(dtype=float) for name in values.columns}
    digits = [min(_MOST_DECIMALS, decimals_of(error, 2)) for error in size["mcse"]]

    def column(head: str, name: str) -> Column:
        cells = (rounded(x, n) for x, n in zip(size[name], digits, strict=True))
        return Column(head, tuple(cells))

    columns = (
        Column("", tuple(map(str, values.index)), numeric=False),
        column("exact", "exact"),
        column("sampled", "sampled"),
        column("MCSE", "mcse"),
        Column("z", tuple(map(signed, size["z"]))),
    )
    note = (
        "No error is known, and nothing tested, where the average would rest on a few rare draws."
        if np.isnan(size["z"]).any()
        else ""
    )
    table = Table(
        "Class probabilities, exact against sampled",
        columns,
        note,
        marked(values, report.comparison),
    )
    return cut(table, "the least certain first")


def glance(report: Report | ModelReport) -> list[tuple[str, str]]:
    """Return the few numbers that one looks for first.

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    list of (str, str)
        Names and values.
    """
    table, largest = report.comparison.table, report.comparison.largest
    exact = report.log_evidence
    facts = [
        ("log evidence", "none" if exact is None else rounded(exact, 3)),
        ("largest discrepancy, s.e.", rounded(abs(largest.z), 1)),
        ("fewest effective draws", rounded(float(table["ess_bulk"].min()), 0)),
        ("largest R-hat", rounded(float(table["r_hat"].max()), 3)),
    ]
    statistics = report.sampled["sample_stats"]
    if "diverging" in statistics:
        diverging = np.asarray(statistics["diverging"])
        facts.append(("divergences", str(int(diverging.sum()))))
    return facts


def evidence(report: Report) -> list[tuple[str, str]]:
    """Return what the identity of algebra and PyMC density found.

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    list of (str, str)
        Names and values.
    """
    found = report.identity
    facts = [("Points compared", str(found.points))]
    if report.log_evidence is not None:
        facts.append(("Log evidence, algebra", rounded(report.log_evidence, 9)))
        facts.append(("Log evidence, from densities", rounded(found.constant, 9)))
        statistic = report.prior.statistic(report.data)
        coefficients = _coefficients(statistic)
        if coefficients:  # counts forget the order of their rows, which the equations know
            facts.append(("Of this, coefficients of counts", rounded(coefficients, 9)))
    facts.append(("Rounding bound of the constant", powers(found.bound, 1)))
    if found.evidence is not None:
        facts.append(("Difference of the two", share(found.evidence)))
    facts.append(("Variation between points", share(found.constancy)))
    if not levels(report.posterior):  # names have no slopes
        facts.append(("Difference of slopes", share(found.slope)))
    return facts


def digits(report: Report | ApproximationReport | ModelReport) -> list[tuple[str, str]]:
    """Say how many digits are lost between the data and the posterior, by estimate.

    Parameters
    ----------
    report : Report, ApproximationReport or ModelReport
        What `validate` found.

    Returns
    -------
    list of (str, str)
        One fact.
    """
    posterior: Any = report.posterior
    if not isinstance(posterior, Conditioned):
        return []
    statistic = report.prior.statistic(report.data) if isinstance(report, Report) else None
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


def ways(report: Report) -> Table | None:
    """Return the ways to the evidence, one row each.

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    Table or None
        None if there is no evidence.
    """
    log_evidence, other = report.log_evidence, report.other_evidence
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
    columns = tuple(
        Column(head, cells, numeric=bool(head))
        for head, cells in zip(heads, zip(*rows, strict=True), strict=True)
    )
    return Table("Ways to the log evidence", columns, " ".join(other.notes))


def reproduction(report: Report | ApproximationReport | ModelReport) -> str:
    """Return the call that makes the same report again.

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    str
        A line of Python, with the seed if one was given.
    """
    names = {"draws a chain": "draws", "tuning steps a chain": "tune", "seed": "rng"}
    settings = ", ".join(
        f"{names.get(key, key)}={value!r}"
        for key, value in report.settings.items()
        if value != "not given" and key != AGAIN  # which follows from the others
    )
    given = "model" if isinstance(report, ModelReport) else "prior, data"
    return f"report = bm.validate({given}, {settings})"


def _coefficients(statistic: Any) -> float:
    """Return the log coefficients of counts in a statistic, or in all parts of it."""
    if isinstance(statistic, ClassStatistic):
        return sum(map(_coefficients, (statistic.classes, *statistic.features.values())))
    return float(np.sum(getattr(statistic, "log_coefficient", 0.0)))


def signed(z: float) -> str:
    """Return a discrepancy with its sign; a dash where there is none."""
    return "–" if np.isnan(z) else f"{z:+.1f}".replace("-", "−")


def share(ratio: float) -> str:
    """Say how large a difference is in units of what rounding can explain."""
    return f"{significant(ratio, 2)} times its bound" + (": too large" if ratio > 1 else "")


def cut(table: Table, which: str = "the first") -> Table:
    """Leave out rows beyond `MOST_ROWS`, and say so.

    Parameters
    ----------
    table : Table
        With any number of rows.
    which : str
        Rows that are kept, in words.
    """
    rows = len(table.columns[0].cells)
    if rows <= MOST_ROWS:
        return table
    columns = tuple(
        dataclasses.replace(column, cells=column.cells[:MOST_ROWS]) for column in table.columns
    )
    note = f"{MOST_ROWS} of {rows:,} rows are shown, {which}; {rows - MOST_ROWS:,} are not shown. "
    marked = frozenset(row for row in table.marked if row < MOST_ROWS)
    note = (note + table.note).strip()
    return dataclasses.replace(table, columns=columns, note=note, marked=marked)
