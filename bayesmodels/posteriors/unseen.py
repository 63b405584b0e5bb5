"""Variables that nothing else depends on, such as cells that PyMC imputes, and predictions.

Given the others their densities add up to one, so that they drop out of the joint density; they are
drawn from their own laws. So are those that can have one value alone (`DiracDelta`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions.custom import CustomDistRV
from pymc.distributions.distribution import DiracDeltaRV
from pymc.logprob.utils import CheckParameterValue
from pymc.model.fgraph import ModelDeterministic, model_potential
from pytensor import tensor
from pytensor.configdefaults import config
from pytensor.graph.traversal import ancestors
from pytensor.scalar import basic
from pytensor.tensor.random.op import RandomVariable

from bayesmodels.posteriors.density import graph_of, model_of, named_terms
from bayesmodels.posteriors.support import supports

pt: Any = tensor  # its functions have no types

_VECTORS = ("multivariate_normal", "dirichlet", "multinomial")
_NOT_ONE = ("flat", "half_flat", "interpolated", "polyagamma")  # nor known well enough
_CONJUGATE = (
    *("normal", "halfnormal", "truncated_normal", "gamma", "exponential", "invgamma", "beta"),
    *("uniform", "multivariate_normal", "dirichlet", "wald"),
)
"""Continuous laws that are their own closed form, given the rest."""
_PARTLY = (
    *(basic.Log, basic.Log1p, basic.Log2, basic.Log10, basic.Sqrt, basic.Pow),
    *(basic.ArcSin, basic.ArcCos, basic.ArcCosh, basic.ArcTanh),
)
"""Operations that are no number for some real inputs."""
_FEW = 2**10  # configurations that are added up


def unseen(model: pm.Model) -> list[str]:
    """Return free variables that nothing depends on, and that have no closed form of their own.

    These are whole numbers without a known range, those with many configurations, and continuous
    variables of other laws. None, if nothing else was left. And those that have one value.
    """
    order, model = [str(rv.name) for rv in model.free_RVs], _with_values(model)
    known = {s.name: s for s in supports(model, all_known=False)}
    gone: list[Any] = []
    while more := [rv for rv in _childless(model, gone) if _adds_up(model, rv, rv.name in known)]:
        gone += more
    finite = [known[rv.name] for rv in gone if rv.name in known and known[rv.name].finite]
    few = np.prod([float(s.levels) ** s.size for s in finite]) <= _FEW
    kept = {s.name for s in finite} if few else set()
    kept |= {rv.name for rv in gone if rv.owner.op.name in _CONJUGATE}
    if not model.observed_RVs:  # of a prior alone, what is integrated has moments that are known
        kept |= {rv.name for rv in gone if rv.dtype.startswith("float")}
    if len(gone) > len(kept):  # a condition of what is gone can't be about what is gone
        points, terms = named_terms(model)
        conditions = [c for rv in gone for c in _conditions(points, terms[rv.name])]
        kept |= {p.name for p in points if p in set(ancestors(conditions))}
    above = set(ancestors(x for n in kept for x in model[n].owner.inputs))
    kept |= {rv.name for rv in gone if rv in above}
    left = {rv.name for rv in model.free_RVs if rv not in gone or rv.name in kept}
    left = left or {rv.name for rv in model.free_RVs}
    return [name for name in order if name not in left] if left else []


def _with_values(model: pm.Model) -> pm.Model:
    """Return a model with the values of variables that can have one alone in their places."""
    while certain := [rv.name for rv in model.free_RVs if isinstance(rv.owner.op, DiracDeltaRV)]:
        graph = graph_of(model)
        out = next(out for out in graph.outputs if out.owner.op.name == certain[0])
        value, shape = out.owner.inputs[0].owner.inputs[-1], out.type.shape
        value = value if value.type.shape == shape else pt.alloc(value, *shape)
        kept = [v for v in graph.outputs if v is not out]
        smaller = model_of(graph, kept, {out: pt.cast(value, out.type.dtype)})
        smaller.check_bounds = model.check_bounds
        model = smaller
    return model


def _childless(model: pm.Model, gone: Sequence[Any]) -> list[Any]:
    """Return free variables that nothing but what is gone depends on."""
    rest = [rv for rv in model.basic_RVs if rv not in gone]
    used = [x for rv in rest for x in rv.owner.inputs]
    above = set(ancestors([*used, *model.potentials, *model.rvs_to_values.values()]))
    return [rv for rv in rest if rv in model.free_RVs and rv not in above]


def _adds_up(model: pm.Model, rv: Any, known: bool) -> bool:  # noqa: FBT001 - of one caller
    """Whether a variable's density is known to add up to one, whatever the others are."""
    op = rv.owner.op
    if not isinstance(op, RandomVariable) or isinstance(op, CustomDistRV):
        return False
    if not type(op).__module__.startswith(("pymc.", "pytensor.")) or op.name in _NOT_ONE:
        return False
    above = ancestors(op.dist_params(rv.owner), blockers=model.free_RVs)
    inner = [getattr(v.owner.op, "scalar_op", None) for v in above if v.owner]
    if any(isinstance(each, _PARTLY) for each in inner):
        return False  # where a parameter is no number, the density is none either
    whole = not str(rv.dtype).startswith("float")
    proper = known or (whole and model.rvs_to_transforms.get(rv) is None)
    return proper and (op.ndim_supp == 0 or op.name in _VECTORS)


def without(model: pm.Model, names: Sequence[str]) -> pm.Model:
    """Return a model without some variables that nothing depends on.

    What PyMC checks of their parameters stays, as a potential that is zero.
    """
    if not names:
        return model
    model = _with_values(model)
    names = [name for name in names if name in model.named_vars]
    graph = graph_of(model)
    by_name = {str(out.owner.op.name): out for out in graph.outputs}
    dropped = {by_name[name] for name in names}
    kept = [
        out
        for out in graph.outputs
        if out not in dropped
        and not (isinstance(out.owner.op, ModelDeterministic) and dropped & set(ancestors([out])))
    ]
    points, terms = named_terms(model)
    with config.change_flags(floatX="float64", traceback__limit=0):
        checks = [pt.all(c) for name in names for c in _conditions(points, terms[name])]
        possible = pt.switch(pt.all(checks), 0.0, -np.inf) if checks else None
    if possible is not None:
        kept.append(model_potential(possible, "parameters_of_" + "_".join(names)))
    result = model_of(graph, kept, {p: pt.cast(by_name[p.name], p.dtype) for p in points})
    result.check_bounds = model.check_bounds
    return result


def _conditions(points: Sequence[Any], term: Any) -> list[Any]:
    """Return what must hold of the parameters of a term, where it depends on other variables."""
    nodes = {v.owner for v in ancestors([term]) if v.owner is not None}
    checks = [n.inputs[1:] for n in nodes if isinstance(n.op, CheckParameterValue)]
    every = [condition for each in checks for condition in each]
    return [c for c in dict.fromkeys(every) if set(points) & set(ancestors([c]))]
