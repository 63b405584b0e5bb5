"""Ends of supports that are not the priors' own: where the graph shows that the density is zero.

A log term that is a switch to minus infinity is a number only where its condition holds. So of data
from 0 to t, only a t of at least their largest is possible; and coordinates can begin there.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions.transforms import Interval
from pymc.logprob.utils import CheckParameterValue
from pymc.util import get_transformed_name
from pytensor import tensor
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors
from pytensor.scalar import basic
from pytensor.tensor.basic import Alloc, MakeVector, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import CAReduce, DimShuffle

from bayesmodels.posteriors.density import add, compiled, without_initial_values
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.operations import core, is_float, scalar
from bayesmodels.posteriors.support import supports
from bayesmodels.posteriors.support.interval import INTERVAL
from bayesmodels.posteriors.support.kind import LINE
from bayesmodels.posteriors.support.positive import POSITIVE
from bayesmodels.posteriors.support.real import REAL
from bayesmodels.posteriors.support.unit import UNIT

pt: Any = tensor  # its functions have no types

Ends = dict[str, tuple[float, float]]
_CUT = (UNIT, POSITIVE, REAL, INTERVAL)
_SAME = (DimShuffle, Alloc, ScalarFromTensor, TensorFromScalar)
"""Operations whose first input has all numbers of the output."""


def edges(density: ModelDensity) -> Ends:
    """Return between which numbers scalars must lie, where that is less than their own supports."""
    own = {s.name: s for s in supports(density.model, all_known=False) if s.kind in _CUT}
    result = {}
    for name, ends in _ends(density.points, list(density.named.values())).items():
        if name in own:
            low, high = max(ends[0], own[name].ends[0]), min(ends[1], own[name].ends[1])
            if own[name].ends != (low, high) and low < high:
                result[name] = (low, high)
    return result


def _ends(points: Sequence[Any], terms: Sequence[Any]) -> Ends:
    """Return between which numbers scalars must lie for the terms not to be minus infinity."""
    result: Ends = {}
    scalars = {p for p in points if is_float(p) and p.type.ndim == 0}
    with config.change_flags(floatX="float64", traceback__limit=0):
        every = [_at_least_zero(c) for c in _conditions(terms)]
        start: Any = {p: (p, pt.constant(1.0), pt.constant(0.0)) for p in scalars}
        alone = [v for v in every if v is not None and set(points) & set(ancestors([v])) <= scalars]
        linear = [_linear(v, dict(start), set(points)) for v in alone]
        known = [each for each in linear if each and each[0] is not None]
        values = compiled([], [x for each in known for x in each[1:]])() if known else []
    for (point, *_), factor, offset in zip(known, values[::2], values[1::2], strict=True):
        with np.errstate(all="ignore"):
            limits = 0.0 - np.asarray(offset, dtype=float) / factor
        if not limits.size or not np.isfinite(limits).all():
            continue
        low, high = result.get(point.name, LINE)
        if (factor > 0).all():
            low = max(low, float(limits.max()))
        elif (factor < 0).all():
            high = min(high, float(limits.min()))
        result[point.name] = low, high
    return result


def cut(model: pm.Model, ends: Ends) -> pm.Model:
    """Return a model whose coordinates of some scalars have no place beyond such ends."""
    if not ends:
        return model
    with without_initial_values(model):
        result = model.copy()
    for name, each in ends.items():
        rv, transform = result[name], Interval(*[x if np.isfinite(x) else None for x in each])
        result.rvs_to_transforms[rv] = transform
        result.rvs_to_values[rv].name = get_transformed_name(name, transform)
    return result


def _conditions(terms: Sequence[Any]) -> Iterator[Any]:
    """Go through conditions that must hold, in all their elements, where terms are numbers."""
    left, conditions, seen = list(terms), list[Any](), set[Any]()
    while left:
        v = left.pop()
        if v.owner is None or v in seen:
            continue
        seen.add(v)
        inputs, kind = v.owner.inputs, scalar(v.owner.op)
        if isinstance(v.owner.op, CheckParameterValue):
            left.append(inputs[0])
            conditions += inputs[1:]
        elif kind is basic.Switch:
            cut_off = _is_minus_infinity(inputs[2])
            conditions += inputs[:1] * cut_off
            left += inputs[1:2] * cut_off
        elif kind is basic.Second:
            left.append(inputs[1])
        else:
            left += _all_numbers(v, basic.Add) or inputs[:1] * (kind is basic.Sub)
    while conditions:
        v = conditions.pop()
        parts = _all_numbers(v, basic.AND)
        conditions += parts
        if not parts:
            yield v


def _all_numbers(v: Any, joins: type) -> list[Any]:
    """Return what all numbers of an expression are made of: one by one, or by an operation."""
    if v.owner is None:
        return []
    if scalar(v.owner.op) is joins or isinstance(v.owner.op, MakeVector):
        return list(v.owner.inputs)
    same = scalar(v.owner.op) is basic.Cast or isinstance(core(v.owner.op), _SAME)
    return list(v.owner.inputs[:1]) if same else []


def _is_minus_infinity(v: Any) -> bool:
    while below := _all_numbers(v, basic.Cast):
        v = below[0]
    return isinstance(v, Constant) and bool(np.all(np.asarray(v.data) == -np.inf))


def _at_least_zero(condition: Any) -> Any:
    """Return what is at least zero where a comparison holds; None if it is another condition."""
    kind = scalar(condition.owner.op) if condition.owner is not None else None
    if kind in (basic.GE, basic.GT):
        return condition.owner.inputs[0] - condition.owner.inputs[1]
    if kind in (basic.LE, basic.LT):
        return condition.owner.inputs[1] - condition.owner.inputs[0]
    return None


def _linear(v: Any, known: dict[Any, Any], points: set[Any]) -> Any:
    """Return a linear function as scalar, factor and offset; no scalar if it is none of any."""
    if v not in known:
        known[v] = _found(v, known, points)
    return known[v]


def _found(v: Any, known: dict[Any, Any], points: set[Any]) -> Any:
    above = set(ancestors([v]))
    if not above & points:
        may_change = any(isinstance(x, SharedVariable) for x in above)
        return None if may_change else (None, pt.constant(0.0), v)
    inputs: list[Any] = v.owner.inputs if v.owner is not None else []
    parts: list[Any] = [_linear(x, known, points) for x in inputs]
    moving = {part[0] for part in parts if part} - {None}
    if None in parts or len(moving) != 1:
        return None
    pair = _combined(v, [part[1:] for part in parts], [part[0] is None for part in parts])
    return pair and (*moving, *pair)


def _combined(v: Any, parts: list[Any], fixed: list[bool]) -> Any:
    """Return factor and offset of an expression from those of its inputs; None if not linear."""
    op, kind = v.owner.op, scalar(v.owner.op)
    if isinstance(core(op), DimShuffle):
        return [op(x) if x.type.ndim else x for x in parts[0]]
    if isinstance(op, CAReduce):
        return None
    if kind is basic.Add:
        return [add(list(each)) for each in zip(*parts, strict=True)]
    if kind in (basic.Sub, basic.Neg):
        one, other = parts if kind is basic.Sub else ((0.0, 0.0), *parts)
        return [x - y for x, y in zip(one, other, strict=True)]
    if kind is basic.Mul and sum(fixed) == len(parts) - 1:
        by = [offset for (_, offset), constant in zip(parts, fixed, strict=True) if constant]
        return [x * reduce(operator.mul, by) for x in parts[fixed.index(False)]]
    same = kind is basic.Cast and is_float(v) and is_float(v.owner.inputs[0])
    return parts[0] if same else None
