r"""Draws against draws, of two samplers or two libraries.

Each scalar's value, its square about the mean of all draws, and indicators of lying below quantiles
of all draws are averaged over either set. Under one law the two averages differ by noise only,

.. math:: z = \frac{\bar f_1 - \bar f_2}{s \sqrt{1 / n_1 + 1 / n_2}},

with s the standard deviation of f over all draws and n the effective sample sizes of f.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bayesmodels.errors import DataError
from bayesmodels.referee.sampling import QUANTILES, Test, mixing

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Pair = tuple[str, Array, Array]


def pairs(first: Any, second: Any, var_names: Sequence[str] | None = None) -> list[Pair]:
    """Return label and both (chain, draw) arrays of every scalar.

    Raises
    ------
    DataError
        If the two have different variables or shapes, or hold values that are not finite numbers.
    """
    from arviz_base import xarray_sel_iter
    from arviz_base.labels import BaseLabeller

    one, other = _dataset(first), _dataset(second)
    here, there = ([str(name) for name in data.data_vars] for data in (one, other))
    if var_names is None and set(here) != set(there):
        msg = (
            "draws: two sets of draws must have the same variables; the first alone has "
            f"{[n for n in here if n not in there]}, the second alone "
            f"{[n for n in there if n not in here]}. Name those to be compared in var_names."
        )
        raise DataError(msg)
    names = here if var_names is None else list(var_names)
    for name in names:
        if name not in here or name not in there:
            msg = f"var_names: {name!r} must be in both sets of draws; they have {here}, {there}."
            raise DataError(msg)
        for data in (one, other):
            if data[name].dtype.kind not in "biuf" or not np.isfinite(data[name]).all():
                msg = f"draws: {name!r} must hold finite numbers; got {data[name].dtype}."
                raise DataError(msg)
        shapes = [_draws_last(data[name]).shape[:-2] for data in (one, other)]
        if shapes[0] != shapes[1]:
            msg = f"draws: {name!r} must have one shape in both sets; got {shapes[0]}, {shapes[1]}."
            raise DataError(msg)
    found: list[Pair] = []
    for name in names:
        values = [_draws_last(data[name]) for data in (one, other)]
        places = xarray_sel_iter(one[[name]], skip_dims={"chain", "draw"})
        labels = [BaseLabeller().make_label_flat(*place) for place in places]
        for label, at in zip(labels, np.ndindex(values[0].shape[:-2]), strict=True):
            found.append((label, values[0][at], values[1][at]))
    return found


def tests(every: list[Pair]) -> list[Test]:
    """Return all tests of all scalars; of scalars that are the same everywhere, once."""
    from arviz_stats.sampling_diagnostics import ess

    found, seen = [], set()
    for label, x, y in every:
        if (same := (x.tobytes(), y.tobytes())) in seen:
            continue
        seen.add(same)
        both = np.concatenate([x.ravel(), y.ravel()])
        middle, sd = both.mean(), both.std()
        cuts = np.quantile(both, QUANTILES)
        functions = [("mean", (x - middle), (y - middle))]
        functions += [("sd", (x - middle) ** 2, (y - middle) ** 2)]
        functions += [
            (f"q{100 * q:02.0f}", (x <= cut).astype(float), (y <= cut).astype(float))
            for q, cut in zip(QUANTILES, cuts, strict=True)
        ]
        for kind, f, g in functions if sd > 0 else functions[:1]:
            spread = np.concatenate([f.ravel(), g.ravel()]).std()
            numbers = [
                min(float(ess(v, method="mean")), v.size) if np.ptp(v) > 0 else 1.0 for v in (f, g)
            ]
            if spread == 0:  # a number that never varies, or nothing below a quantile
                if kind == "mean":
                    found.append(Test(label, kind, 0.0, float(min(x.size, y.size)), 1.0))
                continue
            z = float((f.mean() - g.mean()) / (spread * np.sqrt(sum(1 / n for n in numbers))))
            p = float(2 * stats.t.sf(abs(z), min(numbers)))
            found.append(Test(label, kind, z, min(numbers), p))
    return found


def table(every: list[Pair], found: list[Test]) -> pd.DataFrame:
    """Return both sets side by side, one row a scalar.

    Returns
    -------
    pandas.DataFrame
        Columns ``mean``, ``sd``, ``eti89_lb`` and ``eti89_ub`` with the prefixes ``first_`` and
        ``second_``; ``ess_bulk``, ``ess_tail`` (the smaller of both), ``r_hat`` (the larger) and
        ``z``, the largest discrepancy of the scalar in standard errors.
    """
    import pandas as pd

    worst: dict[str, float] = {}
    for test in found:
        worst[test.label] = max(worst.get(test.label, 0.0), test.z, key=abs)
    rows: dict[str, dict[str, float]] = {}
    twins: dict[tuple[bytes, bytes], dict[str, float]] = {}
    for label, x, y in every:
        key = (x.tobytes(), y.tobytes())
        if label not in worst:  # the same as another scalar, tested once
            rows[label] = twins[key]
            continue
        row = twins[key] = rows[label] = {}
        for prefix, v in (("first", x), ("second", y)):
            low, high = np.quantile(v, [0.055, 0.945])
            row |= {f"{prefix}_mean": v.mean(), f"{prefix}_sd": v.std(ddof=1)}
            row |= {f"{prefix}_eti89_lb": low, f"{prefix}_eti89_ub": high}
        one, other = mixing(x), mixing(y)
        row |= {name: min(one[name], other[name]) for name in ("ess_bulk", "ess_tail")}
        row["r_hat"] = max(one["r_hat"], other["r_hat"])
        row["z"] = worst[label]
    return pd.DataFrame.from_dict(rows, orient="index")


def _dataset(given: Any) -> Any:
    """Return draws in any form as a dataset."""
    from arviz_base import convert_to_dataset

    if not (hasattr(given, "data_vars") or isinstance(given, Mapping)):
        msg = (
            "law, draws: must be an exact law, or draws as a DataTree, Dataset or mapping of "
            f"arrays with the axes (chain, draw, ...); got {type(given).__name__}."
        )
        raise DataError(msg)
    try:
        data = convert_to_dataset(given)
    except ValueError as error:
        msg = (
            "draws: must be arrays with the axes (chain, draw, ...), or a tree with a group "
            f"posterior; ArviZ says: {str(error).splitlines()[0]}"
        )
        raise DataError(msg) from error
    for name, values in data.data_vars.items():
        if not {"chain", "draw"} <= set(values.dims):
            msg = f"draws: {name!r} must have the axes chain and draw; got {values.dims}."
            raise DataError(msg)
    return data


def _draws_last(values: Any) -> Array:
    inner = [axis for axis in values.dims if axis not in ("chain", "draw")]
    return np.asarray(values.transpose(*inner, "chain", "draw"), dtype=float)
