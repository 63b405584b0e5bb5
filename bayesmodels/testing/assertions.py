"""Assertions about posteriors; an open verdict fails, so that no test passes for want of draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bayesmodels.testing.budget import FALSE_ALARMS, OPEN
from bayesmodels.testing.verdicts import entry, unsaid

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm

    from bayesmodels.belief.protocol import Belief, Judgement
    from bayesmodels.referee import Calibration, Verdict

LOOKS = 4
"""Sets of draws that are asked for, at most."""
_COLUMNS = r"(?<!mcse_)mean$|sd$|ess_bulk|r_hat|^(z|p|location|spread)$"  # 80 characters a line


def assert_posterior(
    law: Belief | pm.Model | Any,
    draws: Any | Callable[[int], Any],
    *,
    first: int = 1000,
    most: int = 100_000,
    level: float | None = None,
    **options: Any,
) -> Verdict:
    """Assert that draws come from a posterior.

    Parameters
    ----------
    law : Belief, pymc.Model, mapping of laws, xarray.DataTree or mapping of arrays
        The law as in `bayesmodels.compare`, which may be another set of draws; of a PyMC model its
        closed form, as `bayesmodels.exact` finds it, or else what `bayesmodels.integrate` makes.
    draws : xarray.DataTree, mapping of arrays, or callable
        Draws with the axes (chain, draw, ...); or a function from a number of draws a chain to new
        draws. It is called again, up to three times, where a verdict is open.
    first, most : int, default 1000 and 100,000
        Draws a chain that a function is asked for at first, and at most.
    level : float, optional
        Probability of a false alarm outside pytest, 0.01 if not given. In a run of pytest it is
        this assertion's part of the budget, or `level` if that is less.
    **options
        `tolerance`, `rows`, `var_names` and `rng` of `bayesmodels.compare`.

    Returns
    -------
    Verdict
        One that agrees.

    Raises
    ------
    AssertionError
        If the draws disagree, or are too few to tell; with the findings and the table.
    NotConjugate
        If a PyMC model has no closed form and can't be integrated.
    DataError
        As in `bayesmodels.compare`.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> posterior, rng = bm.BetaBernoulli(1, 1).update([1, 1, 1, 0]), np.random.default_rng(1)
    >>> bm.testing.assert_posterior(posterior, lambda n: {"theta": rng.beta(4, 2, (4, n))}).outcome
    'agree'
    >>> bm.testing.assert_posterior(posterior, {"theta": rng.beta(3, 1, (4, 1000))})
    Traceback (most recent call last):
    ...
    AssertionError: The draws do not come from the exact law: ...
    """
    __tracebackhide__ = True  # pytest shows the line that asserts
    from bayesmodels.belief.declaring import is_pymc
    from bayesmodels.input.parameters import count
    from bayesmodels.referee.sequential import until_decided
    from bayesmodels.referee.verdict import compare

    first, most = count(first, "first", 4), count(most, "most", 4)
    if is_pymc(law):
        from bayesmodels.input.parameters import randomness
        from bayesmodels.posteriors.ladder import solved

        law, _ = solved(law, randomness(options.get("rng")))
    level = _level(level)

    def judge(sampled: Any, share: float) -> Verdict:
        return compare(law, sampled, level=share, **options)

    if not callable(draws):
        result, asked = judge(draws, level), ""
    else:
        result, _, number = until_decided(draws, judge, first, level, looks=LOOKS, most=most)
        asked = f" The last draws were {number:,} a chain."
    return _passed(result, level, result.table.sort_values("z", key=abs, ascending=False), asked)


def assert_same(a: Any, b: Any, *, level: float | None = None, **options: Any) -> Any:
    """Assert that two programs state the same model; see `bayesmodels.same`.

    Parameters
    ----------
    a, b : pymc.Model or callable
        As in `bayesmodels.same`.
    level : float, optional
        As in `assert_posterior`.
    **options
        All others of `bayesmodels.same`.

    Returns
    -------
    Equivalence
        One that agrees.

    Raises
    ------
    AssertionError
        If the models differ, or could not be compared; with the findings.
    """
    __tracebackhide__ = True
    from bayesmodels.referee.equivalence import same

    level = _level(level)
    return _passed(same(a, b, level=level, **options), level)


def assert_calibrated(
    model: Any, *args: Any, level: float | None = None, **options: Any
) -> Calibration:
    """Assert that posteriors fit what their data were made of; see `bayesmodels.calibrate`.

    Parameters
    ----------
    model, *args
        As in `bayesmodels.calibrate`.
    level : float, optional
        As in `assert_posterior`.
    **options
        All others of `bayesmodels.calibrate`.

    Returns
    -------
    Calibration
        One that agrees.

    Raises
    ------
    AssertionError
        If ranks are not uniform; with the findings and the table.
    DataError, PriorError
        As in `bayesmodels.calibrate`.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> bm.testing.assert_calibrated(bm.BetaBernoulli(2, 3), np.zeros(20), rng=1).outcome
    'agree'
    """
    __tracebackhide__ = True
    from bayesmodels.referee.calibration import calibrate

    level = _level(level)
    result = calibrate(model, *args, level=level, **options)
    return _passed(result, level, result.table.sort_values("p"))


def _level(most: float | None) -> float:
    part = OPEN[-1].level() if OPEN else FALSE_ALARMS if most is None else most
    return part if most is None else min(part, most)


def _passed[Judged: Judgement](
    judged: Judged, level: float, table: pd.DataFrame | None = None, more: str = ""
) -> Judged:
    """Record a finding; return it if it agrees, else raise an `AssertionError` with its words."""
    __tracebackhide__ = True
    if OPEN:
        OPEN[-1].entries.append(entry(OPEN[-1].test, judged) | {"level": level})
    if judged.outcome == "agree":
        return judged
    from bayesmodels.report.page import MOST_FINDINGS as MOST

    further = unsaid(judged.sentences()[0], judged.findings)
    said = [judged.sentences()[0], *(f"- {finding}" for finding in further[:MOST])]
    if (left := len(further) - MOST) > 0:
        said.append(f"And {left:,} more findings.")
    if table is not None:
        said.append(table.head(MOST).filter(regex=_COLUMNS).to_string(float_format="%.3g"))
    raise AssertionError("\n".join([*said, f"The level was {level:.2g}.{more}"]))
