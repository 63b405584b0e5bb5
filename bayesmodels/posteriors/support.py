"""Where the free variables of a PyMC model may lie, read off their distributions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.mixture import _BaseMixtureRV
from pymc.distributions.multivariate import WishartRV
from pymc.distributions.transforms import (
    Interval,
    LogExpM1,
    LogOddsTransform,
    LogTransform,
    SimplexTransform,
    _default_transform,
)
from pymc.distributions.truncated import TruncatedRV
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import Cast
from pytensor.tensor.random.op import RandomVariable
from scipy import stats

from bayesmodels.errors import NotConjugate
from bayesmodels.models.inverse_wishart_pymc import RootOfPrecision, Standardised
from bayesmodels.posteriors.density import compiled, frozen, in_double
from bayesmodels.posteriors.operations import core, operation, scalar

Kind = Literal["unit", "simplex", "positive", "real", "interval", "matrix", "finite"]

_WHOLE = ("int", "uint", "bool")
_COUNTABLE: dict[str, Any] = {
    "poisson": stats.poisson,
    "geometric": stats.geom,
    "negative_binomial": stats.nbinom,
}
TAIL = 1e-100
"""What is left out of the prior of a whole number that has no end."""
_LEFT = 1e-15  # probability that the last values that are added up may have
_GROWS = 1.1
_TRIALS = {"binomial": 0, "beta_binomial": 0, "hypergeometric": 2}
"""Which parameter is the number of trials."""
_FINITE = ("bernoulli", "categorical", "discrete_uniform", *_TRIALS)
_CHAIN = "DiscreteMC"  # pymc-extras' hidden chain, as PyMC prints it: states are columns of P
_MOST_KNOWN = 2**12  # configurations of finite variables that a range may depend on
_TRANSFORMED = {LogTransform: "positive", LogOddsTransform: "unit", SimplexTransform: "simplex"}
ENDS: dict[str, tuple[float, float]] = {
    "unit": (0.0, 1.0),
    "simplex": (0.0, 1.0),
    "positive": (0.0, np.inf),
    "real": (-np.inf, np.inf),
}


@dataclass(frozen=True)
class Support:
    """Where one free variable may lie.

    Kinds are, in order: between 0 and 1; positive numbers adding up to one along the last axis;
    positive numbers; all numbers; those between two other ends; positive definite matrices; a range
    of whole numbers, of which `lowest` is the first and `levels` their number. If it is `endless`
    there are more, of which the prior has less than `TAIL`.
    """

    name: str
    kind: Kind
    shape: tuple[int, ...]
    lowest: int = 0
    levels: int = 0
    endless: bool = False
    interval: tuple[float, float] = (-np.inf, np.inf)

    @property
    def ends(self) -> tuple[float, float]:
        """Between which numbers its elements lie."""
        return ENDS.get(self.kind, self.interval)

    @property
    def cut(self) -> str:
        """Up to where a whole number without an end is added up."""
        last = self.lowest + self.levels - 1
        return f"{self.name} is added up to {last}, as its prior has less than {TAIL:g} beyond"

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int))


def supports(model: pm.Model, *, all_known: bool = True) -> list[Support]:
    """Return the supports of free variables, in the model's order: of all, or those known."""
    found: dict[Any, Support] = {}
    for held, rv, shape in shaped(model):
        try:
            found[rv] = _support(held, rv, shape, found)
        except NotConjugate:
            if all_known:
                raise
    by_name = {s.name: s for s in found.values()}
    return [by_name[rv.name] for rv in model.free_RVs if rv.name in by_name]


def shaped(model: pm.Model) -> list[tuple[pm.Model, Any, tuple[int, ...]]]:
    """Return a model with frozen dims, and its free variables with their shapes."""
    held = frozen(model)
    shapes = [rv.type.shape for rv in held.free_RVs]
    if any(None in shape for shape in shapes):
        known = held.eval_rv_shapes()
        shapes = [known[rv.name] for rv in held.free_RVs]
    return [
        (held, rv, tuple(int(n) for n in shape))
        for rv, shape in zip(held.free_RVs, shapes, strict=True)
    ]


def _support(
    model: pm.Model, rv: Any, shape: tuple[int, ...], known: Mapping[Any, Support]
) -> Support:
    op, name = rv.owner.op, rv.name
    if isinstance(op, _BaseMixtureRV):
        raise NotConjugate(
            f"{name} has a mixture as its prior with the components summed out; a closed form "
            "needs the component as a variable of its own."
        )
    not_whole(rv)
    if str(rv.dtype).startswith(_WHOLE):
        lowest, levels = _range(op, rv, name, known)
        return Support(name, "finite", shape, lowest, levels, getattr(op, "name", "") in _COUNTABLE)
    own = model.rvs_to_transforms.get(rv)
    if isinstance(op, WishartRV) or isinstance(own, RootOfPrecision):
        return Support(name, "matrix", shape)
    if isinstance(own, Standardised):
        return Support(name, "real", shape)
    transform = _default_transform(op, rv)
    # A transform of the user's own may cut off a part of the support.
    harmless = (type(transform), *((LogExpM1,) if isinstance(transform, LogTransform) else ()))
    restricts = isinstance(own, Interval) and _ends(own, rv) != _ends(transform, rv)
    if own is not None and (restricts or not isinstance(own, harmless)):
        raise NotConjugate(
            f"{name} has a transform of its own ({type(own).__name__}), which may restrict it to a "
            "part of its support; leave it out if it does not."
        )
    if isinstance(transform, SimplexTransform):
        return Support(name, "simplex", shape)
    low, high = _ends(transform, rv)
    while isinstance(op, TruncatedRV):  # the law that is truncated may have ends of its own
        op = op.base_rv_op
        rv = op.make_node(*rv.owner.inputs[:-2]).default_output()
        inner = _ends(_default_transform(op, rv), rv)
        low, high = max(low, inner[0]), min(high, inner[1])
    kind: Any = next((kind for kind in ENDS if ENDS[kind] == (low, high)), "interval")
    return Support(name, kind, shape, interval=(low, high))


def within(model: pm.Model, points: Mapping[str, Any]) -> dict[str, Any]:
    """Return, of variables with transforms of the user's own, whether these go where they are.

    As expressions of the values of all variables. An order, say, allows less than the law does.
    """
    free = {rv: rv.type.filter_variable(points[rv.name]) for rv in model.free_RVs}
    there = {
        rv.name: transform.forward(rv, *rv.owner.inputs)
        for rv, transform in model.rvs_to_transforms.items()
        if rv in free
        and transform is not None
        and type(transform) is not type(_default_transform(rv.owner.op, rv))
    }
    made = in_double(clone_replace(list(there.values()), free, rebuild_strict=False), {})
    inside: Any = [pt.all(pt.isfinite(z)) for z in made]  # type: ignore[no-untyped-call]
    return dict(zip(there, inside, strict=True))


def not_whole(rv: Any) -> None:
    """Refuse a whole number that PyMC keeps as a real one: its masses are no density on a line."""
    op = rv.owner.op
    inner = getattr(op.base_rv_op if isinstance(op, TruncatedRV) else None, "dtype", "float64")
    if str(inner).startswith(_WHOLE) and not str(rv.dtype).startswith(_WHOLE):
        raise NotConjugate(
            f"{rv.name} ({_title(op.base_rv_op)}, truncated) is a whole number that PyMC keeps as "
            "a real one: its masses are no density."
        )


def _ends(transform: Any, rv: Any) -> tuple[float, float]:
    """Return the ends of the interval that a transform maps onto the line."""
    for kind, place in _TRANSFORMED.items():
        if isinstance(transform, kind):
            return ENDS[place]
    if transform is None:
        return ENDS["real"]
    if not isinstance(transform, Interval):
        raise NotConjugate(
            f"{rv.name} lives on a space of its own ({_title(rv.owner.op)}), on which no family "
            "with a closed form is known here; known are intervals, simplexes, covariance matrices "
            "and finite ranges."
        )
    ends = []
    for end, none in zip(transform.args_fn(*rv.owner.inputs), ENDS["real"], strict=True):
        (values,) = ([none],) if end is None else _values([pt.as_tensor(end)], rv.name)
        if np.min(values) != np.max(values):
            raise NotConjugate(
                f"elements of {rv.name} lie between different ends: make them variables of their "
                "own."
            )
        ends.append(float(np.min(values)))
    return ends[0], ends[1]


def _range(op: Any, rv: Any, name: str, known: Mapping[Any, Support]) -> tuple[int, int]:
    """Return the lowest value of a whole number, and how many there are."""
    if isinstance(op, TruncatedRV):
        return _cut(op, rv, name, known)
    kind = getattr(op, "name", "") or ""
    if not isinstance(op, RandomVariable) or isinstance(op, SymbolicRandomVariable):
        kind = ""
    chain = _title(op) == _CHAIN
    if not chain and kind not in {*_FINITE, *_COUNTABLE}:
        raise NotConjugate(f"{name} ({_title(op)}) is a whole number that has no known range.")
    parameters = list(rv.owner.inputs if chain else op.dist_params(rv.owner))
    if kind in _COUNTABLE:
        return _most(op, parameters, name, known)
    if chain or kind == "categorical":
        return 0, _last(parameters[0], name)
    if kind in _TRIALS:
        (trials,) = _values([parameters[_TRIALS[kind]]], name, known)
        return 0, int(trials.max()) + 1
    if kind == "discrete_uniform":
        first, last = _values(parameters, name, known)
        return int(first.min()), int(last.max() - first.min()) + 1
    return 0, 2


def _last(parameter: Any, name: str) -> int:
    """Return the length of a parameter's last axis."""
    known = parameter.type.shape[-1]
    return int(_values([parameter.shape[-1]], name)[0] if known is None else known)


def _most(
    op: Any, parameters: list[Any], name: str, known: Mapping[Any, Support]
) -> tuple[int, int]:
    """Return the same of a number without an end: of those values that hold nearly all of it."""
    try:
        law = _COUNTABLE[op.name](*_values(parameters, name, known))
    except NotConjugate as error:
        raise NotConjugate(
            f"{name} ({_title(op)}) is a whole number that has infinitely many values, and how "
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
    if inner.name not in _COUNTABLE:
        first, levels = _range(inner, inner.make_node(*inputs).default_output(), name, known)
        low, high = first, first + levels - 1
    ends = _values([lower, upper], name, known)
    low, high = max(low, np.ceil(ends[0].min())), min(high, np.floor(ends[1].max()))
    if not high < np.inf:
        raise NotConjugate(f"{name} is truncated from below alone: it has infinitely many values.")
    return int(low), int(high - low) + 1


def _values(expressions: list[Any], name: str, known: Mapping[Any, Support] | None = None) -> Any:
    """Return what expressions are worth: at all values of finite variables, along a first axis."""
    above = set(ancestors(expressions, blockers=list(known or {})))
    given = {rv: s for rv, s in (known or {}).items() if rv in above}
    ops = [v.owner.op for v in above if v.owner is not None and v not in given]
    # Where numbers are only moved, no element depends on two of a variable.
    together = all(v in given or v.owner is None or _moves(v.owner.op) for v in above)
    many = np.prod([float(s.levels) ** (together or s.size) for s in given.values()])
    if (
        any(isinstance(op, RandomVariable | SymbolicRandomVariable) for op in ops)
        or any(s.kind != "finite" for s in given.values())
        or many > _MOST_KNOWN
    ):
        raise NotConjugate(f"the range of {name} depends on other variables.")
    run = compiled(list(given), expressions)
    each = []
    for rv, s in given.items():
        rows = np.array(list(product(range(s.levels), repeat=1 if together else s.size)))
        levels = np.broadcast_to(rows, (len(rows), s.size)).reshape(-1, *s.shape)
        each.append(list((s.lowest + levels).astype(rv.dtype)))
    return [np.stack(x) for x in zip(*(run(*point) for point in product(*each)), strict=True)]


def _moves(op: Any) -> bool:
    """Whether an operation only moves numbers."""
    known = operation(op)
    return scalar(op) is Cast or (known is not None and known.moves and core(op) is op)


def _title(op: Any) -> str:
    printed = getattr(op, "_print_name", None)
    return str(printed[0]) if printed else type(op).__name__


def listed(names: Iterable[str]) -> str:
    """Return names in words: with commas, and an "and" before the last one."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
