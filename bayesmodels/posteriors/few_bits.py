"""Whole constants that PyTensor keeps in few bits: in eight of them 64 + 64 is -128.

PyMC's density is then another one than the user wrote: infinite, or finite and wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
import pymc as pm
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.scalar.basic import Abs, Add, Cast, Mul, Neg, Pow, Sqr, Sub
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.rounding import dtype

_WRITTEN: dict[Any, tuple[Any, str]] = {
    Add: (np.add, "{} + {}"),
    Sub: (np.subtract, "{} - {}"),
    Mul: (np.multiply, "{} * {}"),
    Pow: (np.power, "{}**{}"),
    Sqr: (np.square, "{}**2"),
    Neg: (np.negative, "-({})"),
    Abs: (np.abs, "abs({})"),
    Cast: (np.positive, "{}"),
}
"""What is worked out of whole numbers, and how that is written."""


class FewBits(NotConjugate):
    """The density is not the one that was written."""


def require_enough(model: pm.Model) -> None:
    """Refuse a model where a result of whole constants has more bits than PyTensor gives it."""
    require_enough_in({v.name: v for v in (*model.basic_RVs, *model.potentials)})


def require_enough_in(named: Mapping[str, Any]) -> None:
    """Refuse the same of expressions, by the names of variables: their log densities, say."""
    known: dict[Any, Array] = {}
    for node in io_toposort([], list(named.values())):
        op: Any = node.op  # PyTensor's have no types
        out, values = node.outputs[0], [_exact(v, known) for v in node.inputs]
        kind = type(op.scalar_op) if isinstance(op, Elemwise) else None  # a sum has one, too
        if any(x is None for x in values) or dtype(out)[:3] not in ("int", "uin"):
            continue
        if isinstance(op, DimShuffle):
            cell: Any = [[None]]
            op.perform(node, values, cell)  # type: ignore[no-untyped-call]
            known[out] = cell[0][0]
        elif kind in _WRITTEN:
            run, written = _WRITTEN[kind]
            with np.errstate(all="ignore"):
                exact = np.asarray(run(*values) if run.nin == 1 else reduce(run, values))
            room = np.iinfo(dtype(out))
            outside = (exact < room.min) | (exact > room.max)
            if kind is not Cast and outside.any():
                name = next(name for name, v in named.items() if out in set(ancestors([v])))
                parts = [f"{x[outside][0]:.0f}" for x in np.broadcast_arrays(*values)]
                wrapped = np.int64(exact[outside][0]).astype(dtype(out))
                raise FewBits(
                    f"the density of {name} is not what was written: PyTensor keeps whole numbers "
                    f"as small as {parts[0]} in {room.bits} bits, where "
                    f"{reduce(written.format, parts) if parts[1:] else written.format(*parts)} "
                    f"overflows to {wrapped}.",
                    f"Write {parts[0]}.0 for {parts[0]}",
                )
            known[out] = exact


def _exact(v: Any, known: Mapping[Any, Array]) -> Any:
    """Return what is made of whole constants alone; None of all else."""
    if isinstance(v, Constant) and dtype(v)[:3] in ("int", "uin"):
        return np.asarray(v.data, dtype=np.float64)
    return known.get(v)
