"""Ranges of whole numbers, whose ends may follow from other finite variables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.truncated import TruncatedRV
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import Cast
from pytensor.tensor.random.op import RandomVariable
from scipy import stats

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.density import compiled
from bayesmodels.posteriors.operations import core, operation, scalar
from bayesmodels.posteriors.support.kind import TAIL, Kind, Move, Support, with_element

COUNTABLE: dict[str, Any] = {
    "poisson": stats.poisson,
    "geometric": stats.geom,
    "negative_binomial": stats.nbinom,
}
_LEFT = 1e-15  # probability that the last values that are added up may have
_GROWS = 1.1
_TRIALS = {"binomial": 0, "beta_binomial": 0, "hypergeometric": 2, "multinomial": 0}
"""Which parameter is the number of trials."""
_FINITE = ("bernoulli", "categorical", "discrete_uniform", *_TRIALS)
_CHAIN = "DiscreteMC"  # pymc-extras' hidden chain, as PyMC prints it: states are columns of P
_MOST_KNOWN = 2**12  # configurations of finite variables that a range may depend on
_ALL = 12  # levels that are all looked at


def _way(_: Support, __: Any, ___: tuple[int, ...], ____: Array) -> Move:
    return lambda x, e, t: with_element(x, e, round(t))


def _places(s: Support, _: int) -> Array:
    """Return whole numbers over those that there are, and beyond."""
    last = s.lowest + s.levels - 1
    places = np.unique(np.round(np.geomspace(1, s.levels, _ALL)).astype(int))
    grid = s.lowest - 1 + (np.arange(s.levels + 2) if s.levels <= _ALL else places)
    return np.union1d(grid, [s.lowest - 1, last, last + 1]).astype(float)


FINITE = Kind(
    ends=None,
    somewhere=lambda z, *_: z,
    shift=lambda x, *_: x,
    far=lambda x, *_: x,
    whole=True,
    way=_way,
    places=_places,
)


def whole_range(op: Any, rv: Any, name: str, known: Mapping[Any, Support]) -> tuple[int, int]:
    """Return the lowest value of a whole number, and how many there are."""
    if isinstance(op, TruncatedRV):
        return _cut(op, rv, name, known)
    kind = getattr(op, "name", "") or ""
    if not isinstance(op, RandomVariable) or isinstance(op, SymbolicRandomVariable):
        kind = ""
    chain = title(op) == _CHAIN
    if not chain and kind not in {*_FINITE, *COUNTABLE}:
        raise NotConjugate(f"{name} ({title(op)}) is a whole number that has no known range.")
    parameters = list(rv.owner.inputs if chain else op.dist_params(rv.owner))
    if kind in COUNTABLE:
        return _most(op, parameters, name, known)
    if chain or kind == "categorical":
        return 0, _last(parameters[0], name)
    if kind in _TRIALS:
        (trials,) = values_of([parameters[_TRIALS[kind]]], name, known)
        return 0, int(trials.max()) + 1
    if kind == "discrete_uniform":
        first, last = values_of(parameters, name, known)
        return int(first.min()), int(last.max() - first.min()) + 1
    return 0, 2


def names_only(op: Any) -> bool:
    """Whether the values of a law are names, not numbers."""
    return getattr(op, "name", "") == "categorical" or title(op) == _CHAIN


def _last(parameter: Any, name: str) -> int:
    """Return the length of a parameter's last axis."""
    known = parameter.type.shape[-1]
    return int(values_of([parameter.shape[-1]], name)[0] if known is None else known)


def _most(
    op: Any, parameters: list[Any], name: str, known: Mapping[Any, Support]
) -> tuple[int, int]:
    """Return the same of a number without an end: of those values that hold nearly all of it."""
    try:
        law = COUNTABLE[op.name](*values_of(parameters, name, known))
    except NotConjugate as error:
        raise NotConjugate(
            f"{name} ({title(op)}) is a whole number that has infinitely many values, and how "
            "many of them matter depends on other variables."
        ) from error
    last, lowest = 1, int(op.name == "geometric")
    while (law.sf(last) > TAIL).any():
        last = math.ceil(_GROWS * last)
    return lowest, last + 1 - lowest


def added_up_far_enough(s: Support, probabilities: NDArray[Any]) -> None:
    """Refuse a whole number without an end whose last tenth has some probability.

    `probabilities` are those of its levels, on the last axis.
    """
    last = probabilities[..., -(s.levels // 10) - 1 :].sum(-1).max()
    if s.endless and not last < _LEFT:
        raise NotConjugate(
            f"{s.cut}, but there its posterior has not ended: the data are about values that the "
            "prior all but excludes."
        )


def _cut(op: Any, rv: Any, name: str, known: Mapping[Any, Support]) -> tuple[int, int]:
    """Return the same of a law that is truncated, which may have ends of its own."""
    *inputs, lower, upper = rv.owner.inputs
    inner = op.base_rv_op
    low, high = 0.0, np.inf
    if inner.name not in COUNTABLE:
        first, levels = whole_range(inner, inner.make_node(*inputs).default_output(), name, known)
        low, high = first, first + levels - 1
    ends = values_of([lower, upper], name, known)
    low, high = max(low, np.ceil(ends[0].min())), min(high, np.floor(ends[1].max()))
    if not high < np.inf:
        raise NotConjugate(f"{name} is truncated from below alone: it has infinitely many values.")
    return int(low), int(high - low) + 1


def values_of(expressions: list[Any], name: str, known: Mapping[Any, Support] | None = None) -> Any:
    """Return what expressions are worth: at all values of finite variables, along a first axis."""
    above = set(ancestors(expressions, blockers=list(known or {})))
    finite = {rv: s for rv, s in (known or {}).items() if rv in above}
    ops = [v.owner.op for v in above if v.owner is not None and v not in finite]
    # Where numbers are only moved, no element depends on two of a variable.
    jointly = all(v in finite or v.owner is None or _moves(v.owner.op) for v in above)
    configurations = np.prod([float(s.levels) ** (jointly or s.size) for s in finite.values()])
    if (
        any(isinstance(op, RandomVariable | SymbolicRandomVariable) for op in ops)
        or any(not s.finite for s in finite.values())
        or configurations > _MOST_KNOWN
    ):
        raise NotConjugate(f"the range of {name} depends on other variables.")
    run = compiled(list(finite), expressions)
    each = []
    for rv, s in finite.items():
        rows = np.array(list(product(range(s.levels), repeat=1 if jointly else s.size)))
        levels = np.broadcast_to(rows, (len(rows), s.size)).reshape(-1, *s.shape)
        each.append(list((s.lowest + levels).astype(rv.dtype)))
    return [np.stack(x) for x in zip(*(run(*point) for point in product(*each)), strict=True)]


def _moves(op: Any) -> bool:
    """Whether an operation only moves numbers."""
    known = operation(op)
    return scalar(op) is Cast or (known is not None and known.moves and core(op) is op)


def title(op: Any) -> str:
    """Return what a law is called."""
    printed = getattr(op, "_print_name", None)
    return str(printed[0]) if printed else type(op).__name__
