r"""Draws against draws, of two samplers or two libraries.

Each scalar is replaced by its rank among the draws of both, which takes the place of a distribution
function; the functions of it are those of `scores`. Under one law their averages over the two sets
differ by noise only,

.. math:: z = \frac{\bar f_1 - \bar f_2}{s \sqrt{1 / n_1 + 1 / n_2}},

with s the standard deviation of f over all draws and n the effective sample sizes of f. How scalars
hang together is compared by rank correlations and in random directions, as in `joint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.draws import LEAST_DRAWS, axes_of, read, variables
from bayesmodels.input.labels import of_place
from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.convergence import convergence, ranks
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.bounds import PROB, Bounds, Known, bounds
from bayesmodels.referee.copies import copies_between, in_order, of_sets, without_copies
from bayesmodels.referee.one_sample import moments
from bayesmodels.referee.scalars import LEAST_CHAINS
from bayesmodels.referee.tests import Test, largest, polynomials, quartiles
from bayesmodels.referee.tests.chains import chain_tests
from bayesmodels.referee.tests.dependence import (
    CORRELATION,
    FEW,
    chosen_pairs,
    names_of,
    products,
    signed_sums,
)
from bayesmodels.referee.tests.extremes import extreme_tests, outermost
from bayesmodels.referee.tests.kind import Kind, t_tests
from bayesmodels.referee.tests.polynomials import LOCATION

if TYPE_CHECKING:
    import pandas as pd

Pair = tuple[str, Array, Array]

_FAR_PART = 0.1
"""Part of the way to the outermost draw, from which on draws count as far out."""
ENOUGH = 400.0
"""Effective draws of one set beside which another that does not move is out of place."""


def pairs(
    first: Any, second: Any, var_names: Sequence[str] | None = None, *, chains: int = 1
) -> list[Pair]:
    """Return label and both (chain, draw) arrays of every scalar of the variables in both sets.

    Where axes of the second set have the names and labels of the first, in whatever order, scalars
    are matched by these; else by their places.
    """
    names, _ = in_both(first, second, var_names)
    of_first = variables(first)
    axes = {name: axes_of(name, of_first[name]) for name in names}
    dims = {name: own for name, (own, _) in axes.items()}
    coords = {axis: labels for _, own in axes.values() for axis, labels in own.items()}
    least = {"chains": chains, "length": LEAST_DRAWS}
    one, other = (
        read(draws, dims, coords, where=f" of the {which} set", **least)
        for draws, which in ((first, "first"), (second, "second"))
    )
    result: list[Pair] = []
    for name in names:
        for at in np.ndindex(one[name].shape[2:]):
            labels = [coords[axis][i] for axis, i in zip(dims[name], at, strict=True)]
            label = f"{name}[{of_place(labels)}]" if at else name
            x, y = (np.ascontiguousarray(side[name][:, :, *at]) for side in (one, other))
            result.append((label, x, y))
    return result


def in_both(
    first: Any, second: Any, var_names: Sequence[str] | None
) -> tuple[list[str], tuple[str, ...]]:
    """Return the variables to be compared, and those that only one of the two sets has."""
    here = list(variables(first, "law, which is no exact one"))
    there = list(variables(second))
    names = [n for n in here if n in there] if var_names is None else list(var_names)
    if not names and var_names is not None:
        raise DataError("var_names: must name at least one variable; got [].")
    for name in names:
        if name not in here or name not in there:
            raise DataError(
                f"var_names: {name!r} must be in both sets of draws; they have {here}, {there}."
            )
    if not names:
        raise DataError(
            "law, draws: two sets of draws must have a variable in common, under one name; they "
            f"have {here}, {there}."
        )
    unshared = (
        []
        if var_names is not None
        else [
            f"{name} of the {which} set"
            for names_here, names_there, which in ((here, there, "first"), (there, here, "second"))
            for name in names_here
            if name not in names_there
        ]
    )
    return names, tuple(unshared)


def two_samples(
    first: Any, second: Any, var_names: Sequence[str] | None, rng: np.random.Generator
) -> tuple[list[Test], pd.DataFrame, Bounds, str, str]:
    """Return all tests, the table, bounds, and what is said of chains and draws that are copies."""
    every = pairs(first, second, var_names, chains=LEAST_CHAINS)
    said, resampled, sets = [], [], []
    for k, which in enumerate(("first", "second")):
        scalars = {label: both[k] for label, *both in every}
        scalars, copied = without_copies(scalars, _by_variable(scalars))
        said += [f"of the {which} set, {copied}"] if copied else []
        sets.append(scalars)
    if shared := list(copies_between(*map(_by_variable, sets))):
        said.insert(0, of_sets(shared, len(next(iter(sets[0].values())))))
    for k, which in enumerate(("first", "second")):
        sets[k], copied = in_order(sets[k], rng, f"Of the {which} set's")
        resampled += [copied] if copied else []
    every = [(label, sets[0][label], sets[1][label]) for label, *_ in every]
    result = two_sample_tests(every, rng)
    return (
        result,
        two_sample_table(every, result),
        _bounds(every),
        " ".join(said),
        " ".join(resampled),
    )


def _by_variable(scalars: dict[str, Array]) -> dict[str, Array]:
    """Return scalars of one variable side by side, (chain, draw, scalar)."""
    result: dict[str, list[Array]] = {}
    for label, x in scalars.items():
        result.setdefault(label.partition("[")[0], []).append(x)
    return {name: np.stack(each, axis=-1) for name, each in result.items()}


def two_sample_tests(every: list[Pair], rng: np.random.Generator) -> list[Test]:
    """Return the marginal and joint tests of all scalars; equal scalars are tested once."""
    first = {(x.tobytes(), y.tobytes()): (label, x, y) for label, x, y in reversed(every)}
    once = [pair for pair in every if first[pair[1].tobytes(), pair[2].tobytes()][0] == pair[0]]
    varied = [(label, x, y) for label, x, y in once if np.ptp([x.min(), x.max(), y.min(), y.max()])]
    result = [
        Test(label, LOCATION.name, 0.0, float(min(x.size, y.size)), 1.0, 0.0)
        for label, x, y in once
        if not np.ptp([x.min(), x.max(), y.min(), y.max()])
    ]
    work = sum(x.size + y.size for _, x, y in varied)
    each = threads.gathered(_of_scalar, varied, work)
    result += [test for tests_of_one, _ in each for test in tests_of_one]
    if len(varied) > 1:
        u, v = (np.array(side) for side in zip(*(pair for _, pair in each), strict=True))
        result += _joint_tests([label for label, *_ in varied], u, v, rng)
    return result


def _of_scalar(pair: Pair) -> tuple[list[Test], tuple[Array, Array]]:
    """Return the tests of one scalar, and its ranks in both sets."""
    label, x, y = pair
    u, v = _ranked(x, y)
    both = [polynomials.polynomials(side) for side in (u, v)]
    result = _between(label, polynomials.KINDS, polynomials.UNITS, *both)
    sides = [quartiles.indicators(side) for side in (u, v)]
    result += _between(label, quartiles.KINDS, quartiles.UNITS, *sides)
    result += _outermost(label, x, y)
    for moving in (side[:2] for side in both):
        spread = moving.std((-2, -1), keepdims=True)
        varies = np.where(spread > 0, spread, 1.0)
        result += chain_tests([label], (moving / varies)[:, None])
    return result, (u, v)


def _outermost(label: str, x: Array, y: Array) -> list[Test]:
    """Test the outermost draws of either set beside the other; findings name the set's draws.

    Where one set does not move, all of it far from the other, no rank tells how far.
    """
    result: list[Test] = []
    for tested, other in ((x, y), (y, x)):
        flat, others = tested.reshape(1, -1), other.reshape(1, -1)
        below, above = outermost(flat, others)
        disjoint = flat.max() < others.min() or flat.min() > others.max()
        if disjoint and _still(tested) and not _still(other) and _number(other) >= ENOUGH:
            below, above = (np.where(part < 1, 0.0, 1.0) for part in (below, above))
        out = np.abs(flat - np.median(others))
        far = ((flat < others.min()) | (flat > others.max())) & (out >= _FAR_PART * out.max())
        result += extreme_tests([label], flat, np.where(far, 0.0, 0.5), below, above)
    return result


def _still(x: Array) -> bool:
    """Say whether no chain moves."""
    return bool((np.ptp(x, axis=-1) == 0).all())


def _number(x: Array) -> float:
    return float(effective_draws(x[None]).number[0])


def _bounds(every: list[Pair]) -> Bounds:
    """Return bounds of the first set, the second standing for the law, with its own noise."""
    x, y = (np.array(side) for side in zip(*(pair[1:] for pair in every), strict=True))
    flat = y.reshape(len(y), -1)
    with np.errstate(all="ignore"):
        mean, sd = flat.mean(1), flat.std(1)
        kurtosis = ((flat - mean[:, None]) ** 4).mean(1) / sd**4 - 3
        ends = np.quantile(flat, [0.5 - PROB / 2, 0.5 + PROB / 2], axis=1)
        number = effective_draws(flat.reshape(y.shape)).number
    return bounds(x, Known(mean, np.where(sd > 0, sd, np.nan), kurtosis, ends, number))


def _ranked(x: Array, y: Array) -> tuple[Array, Array]:
    """Return ranks among the draws of both, between zero and one."""
    every = (ranks(np.concatenate([x.ravel(), y.ravel()])) - 0.5) / (x.size + y.size)
    return every[: x.size].reshape(x.shape), every[x.size :].reshape(y.shape)


def _joint_tests(labels: list[str], u: Array, v: Array, rng: np.random.Generator) -> list[Test]:
    """Compare rank correlations, and sums with random signs; u and v are (scalar, chain, draw)."""
    result: list[Test] = []
    flat = [part.reshape(len(part), -1) for part in (u, v)]
    if len(pairs := chosen_pairs(*flat)):
        sides = products(u, pairs), products(v, pairs)
        kinds, ones = [CORRELATION] * len(pairs), np.ones(len(pairs))
        result += _compared(names_of(labels, pairs), kinds, ones, *sides)
    if len(labels) > FEW:
        for number, (along, too) in enumerate(signed_sums(rng, u, v)):
            f, g = (polynomials.polynomials(part)[:2] for part in _ranked(along, too))
            label = f"random direction {number}"
            result += _between(label, polynomials.KINDS[:2], polynomials.UNITS[:2], f, g)
    return result


def _between(label: str, kinds: Sequence[Kind], unit: Array, f: Array, g: Array) -> list[Test]:
    return _compared([label] * len(kinds), kinds, unit, f, g)


def _compared(
    labels: Sequence[str], kinds: Sequence[Kind], unit: Array, f: Array, g: Array
) -> list[Test]:
    """Compare averages of functions, of shape (function, chain, draw)."""
    pooled = np.concatenate([part.reshape(len(part), -1) for part in (f, g)], axis=1)
    spread = np.where(np.ptp(pooled, axis=1) > 0, pooled.std(1), 0.0)
    (one, freedom), (other, freedom_too) = effective_draws(f), effective_draws(g)
    gap = f.mean((-2, -1)) - g.mean((-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = gap / (spread * np.sqrt(1 / one + 1 / other))
    least = np.minimum(one, other), np.minimum(freedom, freedom_too)
    result = t_tests(labels, kinds, z, *least, gap / unit)
    # Nothing below a quantile, of values that are often the same, is no test.
    return [test for test, varies in zip(result, spread > 0, strict=True) if varies]


def two_sample_table(every: list[Pair], tests: list[Test]) -> pd.DataFrame:
    """Return both sets side by side, one row a scalar.

    Columns are ``mean``, ``sd``, ``eti89_lb`` and ``eti89_ub`` with the prefixes ``first_`` and
    ``second_``; ``ess_bulk``, ``ess_tail`` (the smaller of both), ``r_hat`` (the larger) and ``z``,
    the largest discrepancy of the scalar in standard errors.
    """
    import pandas as pd

    worst = largest(tests)
    x, y = (np.array(side) for side in zip(*(pair[1:] for pair in every), strict=True))
    one, other = convergence(x), convergence(y)
    columns = {
        **moments("first", x),
        **moments("second", y),
        "ess_bulk": np.minimum(one.ess_bulk, other.ess_bulk),
        "ess_tail": np.minimum(one.ess_tail, other.ess_tail),
        "r_hat": np.maximum(one.r_hat, other.r_hat),
    }
    twins: dict[tuple[bytes, bytes], float] = {}
    for label, *both in every:  # what is the same as another scalar was tested once
        key = (both[0].tobytes(), both[1].tobytes())
        worst[label] = twins.setdefault(key, worst.get(label, 0.0))
    columns["z"] = np.array([worst[label] for label, *_ in every])
    return pd.DataFrame(columns, index=[label for label, *_ in every])
