"""A decision in a report: its sentences and its table; and the curve of an assurance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesmodels.report import canvas
from bayesmodels.report.page import Section, Shown, Table, columns
from bayesmodels.report.rounding import decimals_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesmodels.decisions.decision import Decision

_PROBABILITIES = 4  # decimals
_ROPE = "ROPE: the region of practical equivalence, in which a difference is too small to matter."


def decision_section(decision: Decision, prob: float = 0.89) -> Section:
    """Return what was decided in words, the groups side by side, and each two of them."""
    values = decision.table(prob)
    low, high = values.columns[2:4]
    digits = [decimals_of(sd, 3) for sd in values["sd"]]
    losses = [decimals_of(max(loss, 1e-12), 3) for loss in values["expected_loss"]]
    names = {"mean": "mean", "sd": "sd", low: "from", high: "to"}
    shown: list[Any] = [(head, name, decision.quantity, digits) for name, head in names.items()]
    shown += [("best with probability", "best", "", _PROBABILITIES)]
    shown += [("expected loss", "expected_loss", "", losses)]
    order = decision.order
    order.columns = order.columns.map(str)
    pairs = [(str(label), str(label), "is larger than", _PROBABILITIES) for label in order]
    how = "numerical integration" if decision.how == "quadrature" else "averages over draws"
    note = f"From, to: the equal-tailed {100 * prob:g} % interval. Worked out by {how}."
    parts: list[Shown] = [
        " ".join(decision.sentences(prob)),
        Table("Groups", tuple(columns(values, *shown)), note),
        Table("Probability that one group is larger", tuple(columns(order, *pairs))),
    ]
    if decision.rope is not None:
        ends, where = "{:g} to {:g}".format(*decision.rope), ("below", "inside", "above")
        rope = [(name, name, f"the ROPE, {ends}", _PROBABILITIES) for name in where]
        caption = "Probability that a difference is too small to matter"
        parts.append(Table(caption, tuple(columns(decision.in_rope, *rope)), _ROPE))
    return Section("decision", "Decision", parts)


def plot_assurance(found: pd.DataFrame, figure: Figure | None = None) -> Axes:
    """Draw the probability of a decision over the number of rows, with twice its error.

    Parameters
    ----------
    found : pandas.DataFrame
        What `assurance` returned.
    figure : matplotlib Figure, optional
        An empty one to draw on; a new one by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesmodels as bm
    >>> found = bm.decisions.assurance(bm.BetaBernoulli(30, 70), bm.BetaBernoulli(1, 1), [20, 50],
    ...                      lambda posterior: posterior.marginals()["theta"].sf(0.2) > 0.95)
    >>> bm.plots.plot_assurance(found).get_ylabel()
    'probability of a decision'
    """
    axes: Any = (figure or canvas.shown((canvas.WIDE, 3.0))).subplots()
    rows, value, error = found.index.to_numpy(), found["probability"], found["error"]
    canvas.curves(axes, found[["probability"]], {"probability": {"marker": "o"}})
    if error.any():
        axes.fill_between(rows, value - 2 * error, value + 2 * error, color=canvas.SKY, alpha=0.3)
    axes.set(xlabel="rows in each group", ylabel="probability of a decision", ylim=(0, 1.02))
    return axes
