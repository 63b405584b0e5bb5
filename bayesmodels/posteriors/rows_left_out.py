r"""The predictive density of each observed number by all others, on the lattice of a posterior.

.. math:: \ln p(y_i \mid y_{-i}) = \ln p(y) - \ln p(y_{-i}),

where the density of the data without one number is the integral of the joint density over that
number's own, with the conjugate block integrated out anew. Source: Gelfand and Dey (1994),
*Bayesian model choice: asymptotics and exact calculations*, Journal of the Royal Statistical
Society B 56, section 3.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
from pytensor import tensor
from pytensor.graph.replace import graph_replace

from bayesmodels.errors import DataError
from bayesmodels.input.labels import of_place
from bayesmodels.numerics import Array
from bayesmodels.numerics.lattice_integral import Integral
from bayesmodels.numerics.product import Product
from bayesmodels.numerics.weights import Weighted
from bayesmodels.posteriors.batch_density import BatchDensity
from bayesmodels.posteriors.budget import Budget
from bayesmodels.posteriors.conditional import LIGHT_MODE, Conditionals
from bayesmodels.posteriors.density import changing
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.new_data import NewData
from bayesmodels.posteriors.partial import partial_posterior
from bayesmodels.posteriors.reading import labelled_axes

pt: Any = tensor  # its functions have no types

_CLOSE = 1e-6  # of the log evidence: a lattice that is fine enough
_SOME = 0.3  # of each row that may be left out while it is seen what depends on what


def rows_left_out(
    model: pm.Model,
    result: Integral | Product | Weighted,
    seconds: float,
    rng: np.random.Generator,
    *,
    block: bool,
    sizes: Mapping[str, int],
) -> tuple[list[str], Array, Array]:
    """Return labels of observed numbers, their log predictive densities, and errors of these.

    Points of the result have coordinates of variables in the order of `sizes`, which says how many.
    """
    copy, out = _with_indicators(model)
    names = [str(rv.name) for rv in model.free_RVs]
    for some in out.values():  # or what is orthogonal with all rows would be taken for independent
        some.set_value(rng.uniform(0, _SOME, some.get_value().shape))
    budget = Budget(seconds, names)
    with budget.in_time():
        part = partial_posterior(Conditionals(copy, budget), rng) if block else None
        natural = part.density if part else ModelDensity(copy)
    density = BatchDensity(natural)
    if density.sizes != sizes:
        raise DataError(
            "leave_one_out: without a row other variables are integrated out in closed form; "
            "integrate again without each row."
        )
    # In a copy of a model variables may stand in another order.
    every = np.split(np.arange(density.size), np.cumsum([*sizes.values()]))[:-1]
    columns = dict(zip(sizes, every, strict=True))
    own = np.concatenate([np.zeros(0, dtype=int), *(columns[name] for name in density.names)])
    for some in out.values():
        some.set_value(0 * some.get_value())
    fine, coarse = result.sublattices(_CLOSE)
    points = result.points_at(fine)[:, own]
    start = density(points)[0]
    rows = [(name, at) for name, own in out.items() for at in np.ndindex(own.get_value().shape)]
    logs, errors = np.empty(len(rows)), np.empty(len(rows))
    end = time.process_time() + seconds
    for number, (name, at) in enumerate(rows):
        begun = time.process_time()
        indicator = np.zeros_like(out[name].get_value())
        indicator[at] = 1.0
        out[name].set_value(indicator)
        change = density(points)[0] - start
        out[name].set_value(0 * indicator)
        ratio, errors[number] = result.log_ratio(fine, coarse, change)
        logs[number] = -ratio
        each = time.process_time() - begun
        if number == 0 and each * len(rows) > end - begun:
            raise DataError(
                f"leave_one_out: {len(rows):,} observed numbers take about {each * len(rows):.0f} "
                f"s, and may take {seconds:g}; seconds=... gives it more."
            )
    if np.isnan(logs).any():
        name, at = rows[int(np.isnan(logs).argmax())]
        raise DataError(
            f"leave_one_out: without {_label(model, name, at)} rounding leaves no digits of the "
            "density at some point of the lattice. Keep scales away from zero by their prior."
        )
    return [_label(model, name, at) for name, at in rows], logs, errors


def _with_indicators(model: pm.Model) -> tuple[pm.Model, dict[str, Any]]:
    """Return a copy of a model, and what says by a one which observed number is left out."""
    copy = NewData(model).model
    values = {rv: copy.rvs_to_values[rv] for rv in copy.observed_RVs}
    terms: Any = [pm.logp(rv, value) for rv, value in values.items()]
    terms = graph_replace(terms, values, strict=False)
    result = {}
    with copy:
        for rv, term in zip(values, terms, strict=True):
            shape = pm.draw(rv, random_seed=0, mode=LIGHT_MODE).shape[: term.ndim]
            result[rv.name] = changing(np.zeros(shape), f"{rv.name} left out")
            pm.Potential(f"without {rv.name}", -pt.sum(result[rv.name] * term))
    return copy, result


def _label(model: pm.Model, name: str, at: tuple[int, ...]) -> str:
    axes = labelled_axes(model, name, tuple(i + 1 for i in at))
    inner = of_place(labels[i] for i, (_, labels) in zip(at, axes, strict=True))
    return f"{name}[{inner}]" if at else name
