"""What a report says in rows and columns, as strings.

Numbers are rounded to what their uncertainty carries: three digits of the standard deviation, two
of the Monte-Carlo error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief.conditioning import DIGITS
from bayesmodels.belief.declaring import Names
from bayesmodels.belief.protocol import Conditioned, LatentClasses, Product
from bayesmodels.belief.reading import (
    halves_of_symmetric,
    levels,
    places,
    summary_or_intervals,
)
from bayesmodels.input.labels import of_place
from bayesmodels.numerics import Array
from bayesmodels.referee.bounds import PROB
from bayesmodels.referee.named_laws import InvariantLaw
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.referee.tests import name_of
from bayesmodels.referee.two_samples import pairs
from bayesmodels.referee.verdict import Verdict
from bayesmodels.referee.verdict import significant as significant_tests
from bayesmodels.report.html import Report
from bayesmodels.report.page import (
    Column,
    Decimals,
    Pairs,
    Table,
    columns,
    cut,
    labels,
    worst_first,
)
from bayesmodels.report.rounding import decimals_of, powers, rounded, signed, significant

if TYPE_CHECKING:
    import pandas as pd

_MOST_DECIMALS = 8  # of a probability
_WIDEST = 8  # columns of a matrix
_LARGEST_Z = "those with the largest |z|"


def parameters(report: Report) -> list[Table]:
    """Return the parameters of prior and posterior side by side, one table for each shape.

    Rows are the places of a variable; each parameter has a column for either.
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
        replace(table, columns=(table.columns[0], *table.columns[1::2]), note=note)
        for table in tables
    ]


def parts(belief: Any) -> list[tuple[Any, Names]]:
    """Return the beliefs that a belief is a product of, or itself; with their variables' names."""
    return belief.parts() if isinstance(belief, Product) else [(belief, Names())]


def _parameters(prior: Any, posterior: Any, names: Names) -> list[Table]:
    before, after = prior.parameters(), posterior.parameters()
    matrices, tables = _matrices(before, after, posterior, names), []
    after = {symbol: x for symbol, x in after.items() if symbol not in matrices}
    for shape in dict.fromkeys(map(np.shape, after.values())):
        variables, rows = _places(posterior, names, shape)
        result = [labels(rows)]
        for symbol in (symbol for symbol, x in after.items() if np.shape(x) == shape):
            cells = map(significant, np.broadcast_to(before[symbol], shape).flat)
            known = tuple("flat" if cell == "–" else cell for cell in cells)
            result.append(Column("prior", known, symbol))
            result.append(numbers("posterior", after[symbol], symbol))
        flat = any("flat" in column.cells for column in result)
        note = "Flat: the prior prefers no value of this coefficient to any other." if flat else ""
        tables.append(cut(Table(f"Parameters of {' and '.join(variables)}", tuple(result), note)))
    return tables + [table for each in matrices.values() for table in each]


def _matrices(before: Any, after: Any, posterior: Any, names: Names) -> dict[str, list[Table]]:
    """Return parameters that are covariances as matrices by symbol, each number of them once.

    Wider ones than a page are none of them.
    """
    labelled = {
        name: [*map(str, posterior.coords[axes[-1]])]
        for name, axes in posterior.dims.items()
        if len(axes) > 1 and posterior.coords[axes[-1]] == posterior.coords[axes[-2]]
    }
    result = {}
    for name, rows in labelled.items():
        axes = posterior.dims[name]
        shape = tuple(len(posterior.coords[axis]) for axis in axes)
        for symbol, x in after.items():
            square = np.shape(x) == shape and shape[-1] <= _WIDEST
            if square and np.array_equal(x, np.swapaxes(x, -1, -2)) and _positive(x):
                result[symbol] = [
                    _matrix(", ".join([f"{symbol} of {names(name)}", *inner, when]), rows, values)
                    for at in np.ndindex(*shape[:-2])
                    for inner in [
                        [str(posterior.coords[axis][i]) for axis, i in zip(axes, at, strict=False)]
                    ]
                    for when, values in (
                        ("prior", np.broadcast_to(before[symbol], shape)[at]),
                        ("posterior", x[at]),
                    )
                ]
    return result


def _positive(x: Array) -> bool:
    return bool((np.diagonal(x, axis1=-2, axis2=-1) > 0).all())


def _matrix(caption: str, names: list[str], values: Array) -> Table:
    """Return a symmetric matrix, without the half above its diagonal."""
    heads = [
        Column(name, ("",) * j + tuple(significant(float(x), 4) for x in values[j:, j]))
        for j, name in enumerate(names)
    ]
    return Table(caption, (labels(names), *heads))


def numbers(head: str, values: Any, group: str = "") -> Column:
    """Return a column of parameters."""
    return Column(head, tuple(significant(float(x)) for x in np.ravel(values)), group)


def _places(belief: Any, names: Names, shape: tuple[int, ...]) -> tuple[list[str], list[str]]:
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
        first = fitting[0]
        result = places(belief, first, shape)
        return [*map(names, fitting)], [names(first) + text[len(first) :] for text, _ in result]
    every = [*map(names, belief.dims)]
    axes = max(belief.dims.values(), key=len)[: len(shape)]
    inner = product(*(belief.coords[axis] for axis in axes))
    return every, [of_place(at) or ", ".join(every) for at in inner]


def comparison(verdict: Verdict, prob: float = PROB) -> list[Table]:
    r"""Return exact beside sampled values, one row a scalar, each with its largest discrepancy.

    The discrepancy z is the difference of a sampled average from its exact value in Monte-Carlo
    standard errors,

    .. math:: z = (\bar f - E f) \sqrt{\mathrm{ESS}_f} / \mathrm{sd}(f).

    Of finite variables, which have a table of their own, visits are compared, of others moments.
    Rows with a significant discrepancy are marked; of more than `MOST_ROWS` rows, those with the
    largest discrepancies are kept.
    """
    every, other = with_intervals(verdict, prob), continuous(verdict)
    finite = ~every.index.isin(other)
    result = [moments(every[~finite], verdict, prob)] if len(other) else []
    if finite.any():
        result.append(visits(every[finite], verdict))
    if isinstance(verdict.law, InvariantLaw):
        note = (
            f"{result[0].note} Compared is what does not depend on the order of the classes: their "
            "probabilities by size (pi_sorted), log densities of some of the distinct rows "
            "(log_density), and the probability that one of them and the next share a class "
            "(same_class). These rows are numbered among themselves, in the order of their values, "
            "not as in the data. Exact values are those of "
            f"{verdict.law.reference:,} exact draws, whose noise is reckoned with."
        )
        result = [replace(result[0], note=note)]
    return result


def continuous(verdict: Verdict) -> pd.Index[Any]:
    """Return the labels of scalars of variables that are not finite, whose levels are counted."""
    counted = [test.label for test in verdict.tests if test.kind == "probability"]
    return verdict.table.index.difference(counted, sort=False)


def with_intervals(
    verdict: Verdict, prob: float, var_names: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return a verdict's table, with intervals of another probability than 89 %, too."""
    table, tails = verdict.table, ((1 - prob) / 2, (1 + prob) / 2)
    if prob == PROB:
        return table
    if verdict.exact:
        table = table.join(summary_or_intervals(verdict.law, prob, indicators=True).iloc[:, -2:])
        every = scalar_draws(verdict.law, verdict.draws)
        drawn = {"sampled": {label: x for label, *_, x in every}}
    else:
        both = pairs(verdict.law, verdict.draws, var_names)
        drawn = {"first": {s[0]: s[1] for s in both}, "second": {s[0]: s[2] for s in both}}
    for name, draws in drawn.items():
        ends = np.array([np.quantile(draws[label], tails) for label in table.index])
        for bound, end in zip(("lb", "ub"), ends.T, strict=True):
            table = table.assign(**{f"{name}_eti{100 * prob:g}_{bound}": end})
    return table


def moments(values: pd.DataFrame, verdict: Verdict, prob: float = PROB) -> Table:
    """Return means, spreads and intervals of some rows of a verdict, and how draws have mixed.

    Exact ones stand beside sampled ones, or those of one set of draws beside another's. The last
    columns are the largest discrepancy of each row, and what of.
    """
    exact = verdict.exact
    worst = {test.label: name_of(test) for test in sorted(verdict.tests, key=lambda t: abs(t.z))}
    values = worst_first(once(values, verdict.law) if exact else values)
    of = {"first": "first_", "second": "second_"}
    if exact:
        of = {verdict.kind: "", "sampled": "sampled_"}
    percent = f"{100 * prob:g}"
    spread = values["sd"] if exact else np.fmax(values["first_sd"], values["second_sd"])
    places = places_of(spread, 3)
    result = columns(
        values,
        *((head, f"{prefix}mean", "Mean", places) for head, prefix in of.items()),
        *((head, f"{prefix}sd", "Standard deviation", places) for head, prefix in of.items()),
        *(
            (end, f"{prefix}eti{percent}_{bound}", f"{percent} % interval, {head}", places)
            for head, prefix in of.items()
            for end, bound in (("from", "lb"), ("to", "ub"))
        ),
        *MIXED,
        *([("MCSE", "mcse_mean", "Draws", places_of(values["mcse_mean"], 2))] if exact else []),
    )
    # A scalar that is the same as another in both sets was tested under the other's name.
    names = tuple(worst.get(str(label), "as another") for label in values.index)
    result += [_discrepancies(values), Column("of", names, "Discrepancy", numeric=False)]
    both, shift = ("", "location, shift") if exact else (" of both sets", "location")
    note = (
        f"z is the largest discrepancy of the scalar, in Monte-Carlo standard errors{both}, over "
        f"{shift}, spread, skew, tails, quartiles, outermost draws and chains. {arrows(verdict)}"
    )
    caption = "First set against second"
    if exact:
        caption = f"{verdict.kind.capitalize()} against sampled"
    table = cut(Table(caption, tuple(result), note, marked(values, verdict)), _LARGEST_Z)
    more = " Effective draws are those of the set that has fewer, R-hat is the larger of both."
    return table if exact else replace(table, note=table.note + more)


def once(values: pd.DataFrame, law: Any) -> pd.DataFrame:
    """Leave out the lower halves of symmetric matrices, which are the same numbers once more."""
    if isinstance(law, InvariantLaw):
        return values
    return values.drop(index=halves_of_symmetric(law)[1], errors="ignore")


def places_of(errors: Any, number: int) -> list[int]:
    """Return how many decimals show so many digits of each."""
    return [decimals_of(float(error), number) for error in errors]


MIXED: tuple[tuple[str, str, str, Decimals], ...] = (
    ("ESS bulk", "ess_bulk", "Draws", 0),
    ("R-hat", "r_hat", "Draws", 3),
)


def visits(values: pd.DataFrame, verdict: Verdict) -> Table:
    """Return probabilities of the levels of finite variables, exact beside visited."""
    values = worst_first(values)
    places = [
        min(_MOST_DECIMALS, decimals_of(float(error), 2) if error > 0 else 4)
        for error in values["mcse_mean"]
    ]
    result = columns(
        values,
        (verdict.kind, "mean", "Probability", places),
        ("visited", "sampled_mean", "Probability", places),
        ("MCSE", "mcse_mean", "Draws", places),
        *MIXED,
    )
    note = (
        "z is the discrepancy in standard errors, from the binomial law of as many visits as there "
        f"are effective draws. {arrows(verdict)}"
    )
    result.append(_discrepancies(values))
    caption = f"{verdict.kind.capitalize()} against visited"
    table = Table(caption, tuple(result), note, marked(values, verdict))
    return cut(table, _LARGEST_Z)


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


def predictions(verdict: Verdict) -> Table | None:
    """Return predicted class probabilities, exact beside sampled, one row a row and class.

    None if the model predicts no classes, or no row was looked at.
    """
    values = verdict.predictions
    if values is None or values.empty:
        return None
    places = [min(_MOST_DECIMALS, number) for number in places_of(values["mcse"], 2)]
    heads = {"exact": "exact", "sampled": "sampled", "MCSE": "mcse"}
    result = columns(values, *((head, name, "", places) for head, name in heads.items()))
    note = (
        "No error is known, and nothing tested, where the average would rest on a few rare draws."
        if values["z"].isna().any()
        else ""
    )
    caption = "Class probabilities, exact against sampled"
    result.append(_discrepancies(values, ""))
    table = Table(caption, tuple(result), note, marked(values, verdict))
    return cut(table, "the least certain first")


def glance(report: Report) -> Pairs:
    """Return the few numbers that one looks for first."""
    exact = "none" if report.log_evidence is None else rounded(report.log_evidence, 3)
    known = [("log evidence", exact)]
    if report.comparison is None:
        return known
    return [*known, *discrepancies(report.comparison), *divergences(report.sampled)]


def scalars(report: Report) -> int:
    """Return how many scalars could be drawn."""
    return 0 if report.comparison is None else len(continuous(report.comparison))


def discrepancies(verdict: Verdict) -> Pairs:
    """Return the worst that a verdict found."""
    worst = ("largest discrepancy, s.e.", rounded(abs(verdict.largest.z), 1))
    return [worst, *mixed(verdict.table["ess_bulk"], verdict.table["r_hat"])]


def mixed(ess: pd.Series[float], r_hat: pd.Series[float]) -> Pairs:
    """Return how good the draws of the worst scalars are."""
    return [
        ("fewest effective draws", rounded(float(ess.min()), 0)),
        ("largest R-hat", rounded(float(r_hat.max()), 3)),
    ]


def divergences(sampled: Any, name: str = "divergences") -> Pairs:
    """Count the draws that diverged, if the sampler tells."""
    result = diverging(sampled)
    return [] if result is None else [(name, str(int(result.sum())))]


def diverging(sampled: Any) -> NDArray[np.bool_] | None:
    """Return which draws diverged, of shape (chain, draw), if the sampler tells."""
    if "sample_stats" not in sampled.children or "diverging" not in sampled["sample_stats"]:
        return None
    result = sampled["sample_stats"]["diverging"]
    if set(result.dims) != {"chain", "draw"}:
        return None
    return np.asarray(result.transpose("chain", "draw"), dtype=bool)


def evidence(report: Report) -> Pairs:
    """Return what the identity of algebra and PyMC density found."""
    result = report.identity
    facts = [("Points compared", str(result.points))]
    if report.log_evidence is not None:
        facts.append(("Log evidence, algebra", rounded(report.log_evidence, 9)))
        facts.append(("Log evidence, from densities", rounded(result.constant, 9)))
        statistic = report.prior.statistic(report.data)
        coefficients = float(np.sum(getattr(statistic, "log_coefficient", 0.0)))
        if coefficients:  # counts forget the order of their rows, which the equations know
            facts.append(("Of this, coefficients of counts", rounded(coefficients, 9)))
    facts.append(("Rounding bound of the constant", powers(result.bound, 1)))
    if result.evidence is not None:
        facts.append(("Difference of the two", share(result.evidence)))
    facts.append(("Variation between points", share(result.constancy)))
    if not levels(report.posterior):  # names have no slopes
        facts.append(("Difference of slopes", share(result.slope)))
    return facts


def digits(posterior: Any, statistic: Any = None) -> Pairs:
    """Say how many digits are lost between the data and the posterior, by estimate."""
    if not isinstance(posterior, Conditioned):
        return []
    lost = posterior.digits_lost(statistic)
    if lost is None:
        said = "not estimated, since the posterior is a mixture of many"
    elif not lost < DIGITS:
        said = "all of them: columns are as good as collinear. Leave some out."
    else:
        said = f"about {np.ceil(lost):.0f}" if lost else "less than one"
    return [(f"Digits lost of {DIGITS:.0f}, by estimate", said)]


def ways(report: Report) -> Table | None:
    """Return the ways to the evidence, one row each; None if there is no evidence."""
    stated, bridge = report.log_evidence, report.bridge
    if stated is None:
        return None
    rows = [("closed form", rounded(stated, 6), "", "", "")]
    if bridge is not None:
        result, error, off = bridge.log_evidence, bridge.error, bridge.log_evidence - stated
        if error:
            places = decimals_of(error, 2)
            size = rounded(error, places), rounded(off, places), signed(off / error)
            rows.append(("bridge sampling", rounded(result, places), *size))
        else:
            name = "sum over all values in PyMC"
            rows.append((name, rounded(result, 6), "", powers(off, 1), ""))
    heads = "", "log evidence", "standard error", "difference", "in standard errors"
    each = zip(heads, zip(*rows, strict=True), strict=True)
    found_in = tuple(Column(head, cells, numeric=bool(head)) for head, cells in each)
    return Table("Ways to the log evidence", found_in, report.no_bridge)


def share(ratio: float) -> str:
    """Say how large a difference is in units of what rounding can explain."""
    return f"{significant(ratio, 2)} times its bound" + (": too large" if ratio > 1 else "")
