"""A PyMC model as text, with every number that a reader needs to write it again.

PyMC's own text leaves out what is no single number: it says ``Gamma(2, <constant>)`` of a rate of
0.37, which PyMC keeps as a scale of 1 / 0.37.
"""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import pymc as pm
from pymc.logprob.abstract import MeasurableOp
from pymc.printing import str_for_dist
from pytensor.compile.ops import ViewOp
from pytensor.graph.basic import Constant
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.printing import IgnorePrinter, Printer, pprint
from pytensor.scalar.basic import Reciprocal
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from bayesmodels.posteriors.density import compiled
from bayesmodels.report.rounding import significant

_FEW = 20  # numbers of an array that are all shown
_FIRST = 3  # of one with more
_LONGEST = 60  # variables and operations of an expression that is written out
_INVERSE = {("Gamma", "scale"): "beta", ("Exponential", "mu"): "lam"}


def declaration(model: pm.Model) -> str:
    """Return what a model declares, one variable a line.

    Laws have the names and values of their parameters, arrays that are long their first numbers and
    their shape; expressions are written out if they are short.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     rate = pm.Gamma("rate", 2, 0.37)
    ...     y = pm.Poisson("y", 2 * rate, observed=[3, 1])
    >>> print(declaration(model))
    rate ~ Gamma(alpha=2, beta=0.37)
       y ~ Poisson(mu=(2 * rate))
    """
    named = {*model.data_vars, *model.free_RVs, *model.observed_RVs, *model.deterministics}
    law = partial(_law, named=named)
    lines = [
        *((v.name, "=", f"Data({in_numbers(_value(v))})") for v in model.data_vars),
        *((v.name, "~", law(v)) for v in model.free_RVs),
        *((v.name, "=", _expression(v, named - {v})) for v in model.deterministics),
        *((v.name, "~", law(v)) for v in model.observed_RVs),
        *((v.name, "~", f"Potential({_expression(v, named - {v})})") for v in model.potentials),
    ]
    width = max((len(name) for name, _, _ in lines), default=0)
    return "\n".join(f"{name:>{width}} {sign} {text}" for name, sign, text in lines)


def in_numbers(values: Any) -> str:
    """Return numbers as text: all of a few, of many the first and the shape.

    Examples
    --------
    >>> in_numbers([0.1, 2.0]), in_numbers(1 / 3)
    ('[0.1, 2]', '0.333333')
    >>> in_numbers(np.arange(400.0).reshape(200, 2))
    '[0, 1, 2, …; 200 × 2]'
    """
    x = np.asarray(values)
    cells = [significant(float(v)) if x.dtype.kind in "iuf" else str(v) for v in x.flat[:_FEW]]
    if x.size == 1:
        return cells[0]
    if x.size > _FEW:
        return f"[{', '.join(cells[:_FIRST])}, …; {' × '.join(map(str, x.shape))}]"
    return _nested(np.reshape(np.array(cells, dtype=object), x.shape).tolist())


def _nested(cells: Any) -> str:
    return f"[{', '.join(map(_nested, cells))}]" if isinstance(cells, list) else str(cells)


def _value(variable: Any) -> Any:
    return variable.data if isinstance(variable, Constant) else variable.get_value()


def _law(rv: Any, named: set[Any]) -> str:
    """Return the law of a variable, with the names that PyMC's own log density has for it."""
    op = rv.owner.op
    if getattr(op, "signature", None) is None:  # parameters are not known as such
        return str(str_for_dist(rv, named_vars=named)).split(" ~ ", 1)[-1]
    printed = getattr(op, "_print_name", None)
    family = str(printed[0]) if printed else type(op).__name__
    parameters = list(op.dist_params(rv.owner))
    density = getattr(getattr(pm, family, None), "logp", None)
    names = [] if density is None else list(signature(density).parameters)[1:]
    if len(names) != len(parameters):
        return f"{family}({', '.join(_expression(x, named) for x in parameters)})"
    words = []
    for name, value in zip(names, parameters, strict=True):
        inverse = _INVERSE.get((family, name))
        op = getattr(value.owner, "op", None)
        reciprocal = isinstance(op, Elemwise) and isinstance(op.scalar_op, Reciprocal)
        given = value.owner.inputs[0] if inverse and reciprocal else value
        text = _expression(given, named)
        as_given = inverse and (given is not value or text == "1")  # which is its own inverse
        words.append(f"{inverse if as_given else name}={text}")
    return f"{family}({', '.join(words)})"


def _is_random(variable: Any) -> bool:
    return isinstance(getattr(variable.owner, "op", None), MeasurableOp)


def _expression(variable: Any, named: set[Any]) -> str:
    """Return what a variable is made of: numbers, if of nothing that has a name."""
    if variable not in named and _is_random(variable):  # such as a component of a mixture
        return _law(variable, named)
    above = list(ancestors([variable], blockers=named))
    used = [v for v in above if v in named]
    random = any(_is_random(v) for v in {*above} - named)
    if not used and not random:
        return in_numbers(compiled([], [variable])()[0])
    if random or len(above) > _LONGEST:
        return f"f({', '.join(dict.fromkeys(str(v.name) for v in used))})"
    leaves = {v: v.type(name=v.name) for v in used}
    return str(_PRINTER.process(clone_replace([variable], leaves)[0]))


class _Numbers(Printer):
    """Print constants as `in_numbers` does."""

    def process(self, var: Any, pstate: Any) -> str:
        del pstate
        return in_numbers(var.data)


_PRINTER: Any = pprint.clone()  # type: ignore[no-untyped-call]
_PRINTER.assign(lambda _, r: isinstance(r, Constant), _Numbers())
for _op in (DimShuffle, ViewOp):
    _PRINTER.assign(_op, IgnorePrinter())
