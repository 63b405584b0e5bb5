"""A PyMC model over the variables that remain once a conjugate block has been integrated out."""

from __future__ import annotations

from typing import Any

import pymc as pm
import pytensor.tensor as pt
from pymc.model.fgraph import (
    ModelFreeRV,
    ModelObservedRV,
    model_free_rv,
    model_potential,
)
from pytensor.graph.traversal import ancestors

from bayesmodels.posteriors.density import graph_of, model_of
from bayesmodels.posteriors.support.kind import Support


def priors(model: pm.Model) -> dict[str, set[str]]:
    """Return, for each free variable, those that its prior depends on."""
    graph = graph_of(model)
    known = {out: _name(out) for out in graph.outputs if isinstance(out.owner.op, ModelFreeRV)}
    return {
        name: {known[v] for v in _parents(out, graph) if v in known} for out, name in known.items()
    }


def replaceable(support: Support | None) -> bool:
    """Whether the prior of a variable can be moved into a potential, leaving a flat one."""
    return support is not None and support.kind.flat is not None


def remaining_model(model: pm.Model, marginal: Any, supports: dict[str, Support]) -> pm.Model:
    """Return the model without the block, whose log marginal density is added as a potential.

    Of a remaining variable whose prior depends on the block, the prior is in the potential, and a
    flat one takes its place. Data and dims are frozen, since the potential holds the data.
    """
    graph = graph_of(model)
    by_name = {_name(out): out for out in graph.outputs}
    integrated = {by_name[name] for name in marginal.probes}
    kept, level = [], {}
    for name, out in by_name.items():
        if out in integrated:
            continue
        if not integrated & set(_parents(out, graph)):
            kept.append(out)
        elif isinstance(out.owner.op, ModelFreeRV):
            kept.append(out)
            level[out] = _levelled(out, supports[name])
    name = "_".join(["marginal", *marginal.probes])
    outputs = [*kept, model_potential(marginal.expression(), name)]
    of_points = {p: level.get(by_name[p.name], by_name[p.name]) for p in marginal.remaining}
    points = {p: pt.cast(out, p.dtype) for p, out in of_points.items()}
    result = model_of(graph, outputs, level | points)
    result.check_bounds = model.check_bounds
    return result


def _name(out: Any) -> str:
    return str(out.owner.op.name)


def _parents(out: Any, graph: Any) -> list[Any]:
    """Return the random variables that a variable of the model directly depends on."""
    random = [v for v in graph.outputs if isinstance(v.owner.op, ModelFreeRV | ModelObservedRV)]
    above = set(ancestors(out.owner.inputs[:1], blockers=random))
    return [v for v in random if v in above]


def _levelled(out: Any, support: Support) -> Any:
    """Return a variable of the same name, value, transform and dims with a flat prior."""
    op, (_, value) = out.owner.op, out.owner.inputs
    law: Any = support.kind.flat and support.kind.flat(shape=support.shape)
    law.name = op.name
    return model_free_rv(law, value, op.transform, op.name, *op.dims)
