r"""Whether a model fits its rows, which no comparison of formulas and draws can tell.

A posterior may be computed without a fault and yet be wrong, since its model is. The rows are
compared with rows that have the same sufficient statistic. Their law is known if the model is
right, whatever its parameters and its prior are, so that the level of these tests holds for any
number of rows; a posterior predictive check, which uses the rows twice, is too kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.belief.declaring import is_pymc, number_of_rows
from bayesmodels.belief.protocol import Approximable, GivenStatistic, Readable, Statistic
from bayesmodels.errors import DataError
from bayesmodels.input.containers import read
from bayesmodels.input.parameters import proportion, randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.misfits import ORDER, RUNS, Check, Column, found
from bayesmodels.numerics.multiple_testing import holm

if TYPE_CHECKING:
    import pandas as pd


_TOO_FEW = "there are too few rows."
_ONLY_ORDER = "only the order of these rows could tell, and a table of frequencies has none."
_SAME_STATISTIC = (
    "rows of the model with the same sufficient statistic, whatever its parameters are"
)
_MOVED = "rows that the model predicts, moved as its posterior would move had it learnt from them"


@dataclass(frozen=True, repr=False, eq=False)
class Fit:
    """What checks of a model's fit found.

    Attributes
    ----------
    outcome : {"fits", "does not fit", "not checked"}
        Whether rows stand out among rows of the model.
    findings : sequence of str
        What is wrong, the gravest first; or why nothing was checked.
    table : pandas.DataFrame
        A row for each check: what it is of the rows, its median and 98 % interval in rows of the
        model, how probable it is to be as far off, `p`, and whether it is too far, `off`.
    level : float
        Probability that a model that is right is said not to fit, over all checks.
    against : str
        Which rows these were compared with, in words.
    """

    outcome: Literal["fits", "does not fit", "not checked"]
    findings: Sequence[str]
    table: pd.DataFrame
    level: float
    against: str = ""

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say in one sentence whether the model fits."""
        if self.outcome == "not checked":
            return f"Whether the model fits was not checked: {self.findings[0]}"
        if self.outcome == "fits":
            *others, last = dict.fromkeys(name for _, name in self.table.index)
            names = f"{', '.join(others)} and {last}" if others else last
            return f"No misfit was found in {names}."
        more = len(self.findings) - 1
        also = f" ({more} more found)" if more else ""
        return f"The model does not fit: {self.findings[0]}{also}."

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values, for JSON."""
        checks = self.table.reset_index().to_dict(orient="records")
        return {
            "outcome": self.outcome,
            "sentence": self._sentence(),
            "findings": list(self.findings),
            "checks": checks,
        }

    def __repr__(self) -> str:
        return f"Fit({self.outcome!r}, {len(self.table)} checks)"


def check_fit(
    model: Any,
    data: Any = None,
    *,
    by: Any = None,
    ordered: bool = True,
    level: float = 0.01,
    rng: np.random.Generator | int | None = None,
) -> Fit:
    r"""Return whether rows look like rows of a model: agreement is not fit.

    With the rows' sufficient statistic s(x), checks T compare

    .. math:: T(x) \quad\text{with}\quad T(x'), \qquad x' \sim p(x' \mid s(x') = s(x)),

    a law without parameters, and so without prior. Of a logistic regression rows are drawn at the
    mode, of a PyMC model by its posterior, and moved as the fit moves with them, to first order.

    Parameters
    ----------
    model : Belief, LogisticRegression or pymc.Model
        Before or after the data; or a PyMC model, which holds its own.
    data : rows
        As in the model's `update`, not weighted. Of a PyMC model, draws of its posterior, if there
        are some already: a DataTree, as `sample` returns it.
    by : array_like of length n, optional
        Groups that the model leaves out, such as days or sites: are rows of a group alike?
    ordered : bool, default True
        Whether the order of the rows may mean something, such as time; not that of a table of
        frequencies, whose equal rows stand together.
    level : float, default 0.01
        Probability that a model that is right is said not to fit, over all checks (Holm).
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    Fit
        With `outcome`, `sentences()`, `findings` and `table`. Data given as a statistic, waiting
        times cut short, and models whose rows can't be drawn given their statistic are "not
        checked", and the findings say why.

    Raises
    ------
    DataError
        If `model` is no model of this package, `by` has another length, or `level` is no
        probability.

    References
    ----------
    Lehmann and Romano (2005), *Testing Statistical Hypotheses*, section 4.3; Robins, van der Vaart
    and Ventura (2000), *Asymptotic distribution of p values in composite null models*; Gelman et
    al. (2013), *Bayesian Data Analysis*, section 6.3.

    Examples
    --------
    Counts that vary too much for a Poisson law:

    >>> import bayesmodels as bm
    >>> counts = [0, 7, 1, 12, 0, 0, 3, 15, 0, 2, 9, 0, 0, 6, 1]
    >>> fit = bm.check_fit(bm.GammaPoisson(1, 1), counts, rng=1)
    >>> fit.outcome
    'does not fit'
    >>> fit.findings[0].split(", ")[0]
    'counts vary 6.7 times as much as a Poisson law says'
    """
    proportion(level, "level")
    model, generator = of_formula(model), randomness(rng)
    if isinstance(data, Statistic):
        return _unchecked("the data were given as a statistic, whose rows are gone.", level)
    try:
        columns = _columns(model, data, generator)
    except _NotChecked as why:
        return _unchecked(str(why), level)
    if not ordered:
        columns = [c for column in columns if (c := _without_order(column)).checks]
        if not columns:
            return _unchecked(_ONLY_ORDER, level)
    columns = columns if by is None else [_with_groups(column, by) for column in columns]
    moved = is_pymc(model) or isinstance(model, Approximable)
    against = _MOVED if moved else _SAME_STATISTIC
    return _judged([one for column in columns for one in found(column, generator)], level, against)


class _NotChecked(Exception):  # noqa: N818 - said in other words to the user
    """Why nothing is checked."""


def _columns(model: Any, data: Any, rng: np.random.Generator) -> list[Column]:
    """Return what is looked at of rows; refuse what is no model."""
    if is_pymc(model):
        from bayesmodels.posteriors.rows_alike import columns
        from bayesmodels.posteriors.sampling import sample

        drawn = sample(model, rng=rng) if data is None else data
        make = partial(columns, model, drawn["posterior"].to_dataset(), rng)
    elif isinstance(model, type) or not isinstance(model, Readable | GivenStatistic):
        kind = model.__name__ if isinstance(model, type) else type(model).__name__
        raise DataError(
            "model: must be a model of this package, such as bm.GammaPoisson(1, 1), or a PyMC "
            f"model; got {kind}."
        )
    elif data is None:
        raise DataError(
            "data: must be given, unless the model is a PyMC model, which holds its own."
        )
    elif not isinstance(model, GivenStatistic):
        raise _NotChecked(f"there are no checks of {type(model).__name__} yet.")
    elif _without_rows(data):
        raise _NotChecked(_TOO_FEW)
    else:
        make = partial(model.given_statistic, data)
    try:
        return list(make())
    except DataError as error:
        raise _NotChecked(str(error)) from None


def _without_order(column: Column) -> Column:
    kept = tuple(check for check in column.checks if check not in (ORDER, RUNS))
    return replace(column, checks=kept)


def _without_rows(data: Any) -> bool:
    """Return whether there are none, of what has a length."""
    try:
        return number_of_rows(data) == 0
    except TypeError:  # a single row, or weighted ones
        return False


def _with_groups(column: Column, by: Any) -> Column:
    """Return a column with one more check: whether rows of a group are alike."""
    labels = read(by, "by").values
    if labels.shape != column.x.shape[:1]:
        raise DataError(
            f"by: must have one label a row; got shape {labels.shape} and {len(column.x)} rows."
        )
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    members = (codes == np.arange(codes.max(initial=0) + 1)[:, None]).astype(float)

    def between(own: Column, x: Array) -> Array:
        r = own.gaps(x)
        sums = members @ (r if own.x.ndim > 1 else r[..., None])
        return np.asarray((sums**2 / members.sum(1)[:, None]).sum((-2, -1)))

    check = Check(
        "groups",
        between,
        "rows of a group are alike, and the model knows nothing of the groups; model them",
        share=1.0,
    )
    return replace(column, checks=(*column.checks, check))


def _judged(each: Sequence[Any], level: float, against: str) -> Fit:
    import pandas as pd

    if not each:
        return _unchecked(_TOO_FEW, level)
    rows = [(one.column, one.check.name) for one in each]
    table = pd.DataFrame(
        [[one.seen, one.median, one.low, one.high, one.p] for one in each],
        index=pd.MultiIndex.from_tuples(rows, names=["column", "check"]),
        columns=["rows", "median", "low", "high", "p"],
    )
    off = holm(table["p"], level, [one.check.weight for one in each])
    table["off"] = np.isin(np.arange(len(each)), off)
    findings = [f"{each[k].column}: {each[k].words}".removeprefix(": ") for k in off]
    return Fit("does not fit" if off else "fits", findings, table, level, against)


def _unchecked(why: str, level: float) -> Fit:
    import pandas as pd

    index = pd.MultiIndex.from_arrays([[], []], names=["column", "check"])
    columns = ["rows", "median", "low", "high", "p", "off"]
    empty = pd.DataFrame(index=index, columns=columns, dtype=float)
    return Fit("not checked", [why], empty, level)
