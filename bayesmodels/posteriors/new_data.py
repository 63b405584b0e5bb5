"""A PyMC model whose data change, again and again, while all that was compiled for it stays.

Observed values become shared variables, which every compiled function looks up anew: simulators,
log densities, closed forms, and samplers. So thousands of simulated data sets cost one compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pymc.distributions import custom
from pymc.distributions.distribution import _support_point
from pymc.distributions.shape_utils import _change_dist_size
from pymc.logprob.abstract import _logcdf, _logprob
from pymc.model.fgraph import (
    ModelDeterministic,
    ModelObservedRV,
    model_from_fgraph,
)
from pymc.pytensorf import collect_default_updates, reseed_rngs
from pymc.pytensorf import compile as forward_function
from pytensor import tensor
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors, walk
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.shape import Shape, Shape_i

from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.conditional import LIGHT_MODE, batched
from bayesmodels.posteriors.density import (
    add,
    changing,
    frozen,
    graph_of,
    keep_initial_values,
    named_terms,
)
from bayesmodels.posteriors.support import listed

pt: Any = tensor  # its functions have no types

Values = dict[str, NDArray[Any]]
_WEIGHT = "weight of new data"
_TRIED = 30  # draws of each variable, to see which fails
NARROWER = (
    "Give it a narrower prior, or draw parameters from the posterior of the data that the model "
    "holds, around='posterior'."
)
"""What can be done if parameters or data can't be drawn from a prior."""
_BY_CLASS: Any = (_logprob, _logcdf, _support_point, _change_dist_size)


class NewData:
    """A copy of a model, without its Deterministics, for which data can be exchanged.

    With `beside`, the model keeps the data that it has; new ones are observed beside them, as
    many times as `weight` says: once, or not at all.
    """

    def __init__(self, model: pm.Model, *, beside: bool = False) -> None:
        held = frozen(model)
        graph = graph_of(held)
        self._shared: dict[str, Any] = {}
        self.weight = changing(1.0, _WEIGHT) if beside else None
        for number, out in reversed(list(enumerate(graph.outputs))):
            if isinstance(out.owner.op, ModelDeterministic):
                graph.remove_output(number)
        for out in graph.outputs:
            if isinstance(out.owner.op, ModelObservedRV):
                name = out.owner.op.name
                new = changing(_known(name, held.rvs_to_values[held[name]]), f"new {name}")
                self._shared[name] = new
                if not beside:  # where they are observed: what else is made of them stays
                    graph.change_node_input(out.owner, 1, new, import_missing=True)
        self.model = model_from_fgraph(graph, mutate_fgraph=True)
        self.model.check_bounds = model.check_bounds
        self.names = [rv.name for rv in model.free_RVs]
        keep_initial_values(model, self.model, self.names)
        self._likelihood = list(self._shared)
        if beside:
            self._likelihood = self._observed_again()
        self.observed = {name: v.get_value() for name, v in self._shared.items()}

    def _observed_again(self) -> list[str]:
        """Add the log density of new data, as potentials; return their names."""
        again = {self.model[name]: new for name, new in self._shared.items()}
        terms: Any = [pm.logp(rv, new) for rv, new in again.items()]
        terms = graph_replace(terms, again, strict=False)
        named = {f"new {name}": term for name, term in zip(self._shared, terms, strict=True)}
        with self.model:
            for name, term in named.items():
                pm.Potential(name, self.weight * term)
        return list(named)

    def hold(self, data: Mapping[str, NDArray[Any]], weight: float = 1.0) -> None:
        """Let these be the data from now on."""
        for name, value in data.items():
            self._shared[name].set_value(value)
        if self.weight is not None:
            self.weight.set_value(np.array(weight))

    def held(self, sampler: Any) -> Any:
        """Return what `for_nutpie` compiled, with the data that are held."""
        every = [*self._shared.values(), *([] if self.weight is None else [self.weight])]
        return sampler.with_data(**{v.name: v.get_value() for v in every})

    def checked(self, data: Any) -> Values:
        """Return simulated data by name, of the shapes and types of those that were observed."""
        names = list(self.observed)
        if not isinstance(data, Mapping):
            if len(names) > 1:
                raise DataError(f"simulate: must return a mapping with {names}.")
            data = {names[0]: data}
        result = {}
        for name, old in self.observed.items():
            if name not in data:
                raise DataError(f"simulate: must return {names}; {name!r} is not there.")
            new = np.asarray(data[name])
            if new.shape != old.shape or new.dtype.kind not in "biuf":
                raise DataError(
                    f"simulate: its {name!r} must be numbers of shape {old.shape}, as observed; "
                    f"got {new.dtype} of shape {new.shape}."
                )
            result[name] = new.astype(old.dtype)
            if not np.array_equal(result[name], new) and old.dtype.kind != "f":
                raise DataError(f"simulate: its {name!r} must be whole numbers, as observed.")
            if not np.isfinite(new).all():
                raise DataError(f"simulate: its {name!r} must be finite numbers.")
        return result

    def log_densities(self) -> Callable[[Mapping[str, Any]], tuple[Array, Array]]:
        """Return a function from draws to joint log densities and log likelihoods of new data."""
        try:
            points, terms = named_terms(self.model)
        except NotConjugate as error:
            raise DataError(f"model: {error.reason}") from error
        with config.change_flags(floatX="float64", traceback__limit=0):
            likelihood_terms = [terms[name].sum() for name in self._likelihood]
            both = [add([term.sum() for term in terms.values()]), add(likelihood_terms)]
            run = batched(points, both)

        def densities(draws: Mapping[str, Any]) -> tuple[Array, Array]:
            number = len(draws[points[0].name])
            with np.errstate(all="ignore"):  # -inf is an answer
                # Of a density that depends on no variable there is one value for all draws.
                total, likelihood = (np.broadcast_to(x, number) for x in run(draws))
            return total, likelihood

        return densities


def _known(name: str, value: Any) -> NDArray[Any]:
    """Return observed values."""
    if any(isinstance(v.type, RandomType) for v in ancestors([value])):
        raise DataError(f"model: the data of {name} are themselves random; declare all rows.")
    return np.array(value.eval())


def made_of_data(model: pm.Model) -> list[tuple[str, str, str]]:
    """Return observed variables, their shared data, and where else in the model these are used.

    Shapes do not count: they stay when numbers change.
    """
    values = {rv: model.rvs_to_values[rv] for rv in model.observed_RVs}
    every = {*model.data_vars, *(v for v in ancestors(values.values()) if _is_data(v))}
    result = []
    for rv, value in values.items():
        inputs = every & set(ancestors([value]))
        places = {v.name: [v] for v in (*model.basic_RVs, *model.potentials)}
        places |= {v.name: [v, x] for v, x in values.items() if v is not rv}
        for name, variables in places.items() if inputs else ():
            also = inputs & set(walk(variables, _inputs_but_shapes, bfs=False))
            result += [(str(rv.name), str(v.name), str(name)) for v in also]
    return result


def _is_data(v: Any) -> bool:
    return isinstance(v, SharedVariable) and not isinstance(v.type, RandomType)


def _inputs_but_shapes(v: Any) -> Any:
    shape = v.owner is None or isinstance(v.owner.op, Shape | Shape_i)
    return None if shape else v.owner.inputs


def laws_of_ones_own(model: pm.Model) -> list[tuple[Any, type, Any]]:
    """Return what PyMC looks up by the class of each `CustomDist`, and no pickle of it has."""
    kinds = {type(v.owner.op) for v in ancestors(model.basic_RVs) if v.owner is not None}
    known = [(of, kind) for of in _BY_CLASS for kind in kinds if kind in of.registry]
    return [(of, k, of.registry[k]) for of, k in known if k.__name__ not in vars(custom)]


FAILS: Any = (ArithmeticError, ValueError, TypeError, np.linalg.LinAlgError)
"""What samplers raise at parameters that they cannot draw with, such as a shape of 1e-3."""


def drawn(variables: Sequence[Any], number: int, rng: np.random.Generator) -> list[list[Any]]:
    """Return draws of some variables, one list a draw: fewer than `number` where some fail.

    None if there is a law without a sampler among them, such as a flat one.
    """
    result: list[list[Any]] = []
    with config.change_flags(floatX="float64", traceback__limit=0), np.errstate(all="ignore"):
        seed = int(rng.integers(2**31))
        run: Any = forward_function([], list(variables), mode=LIGHT_MODE, random_seed=seed)
        rngs: Any = list(collect_default_updates(list(variables)))
        for _ in range(number):
            try:
                result.append(run())
            except NotImplementedError:
                return []
            except FAILS:
                reseed_rngs(rngs, int(rng.integers(2**31)))
    return result


class Forward:
    """Draws some variables of a model from their laws, given others, compiled once."""

    def __init__(self, model: pm.Model, wanted: Sequence[str], given: Sequence[str] = ()) -> None:
        outputs, self._inputs = [model[n] for n in wanted], [model[n] for n in given]
        self._outputs = outputs
        self._wanted, self._given = list(wanted), list(given)
        self._rngs: Any = list(collect_default_updates(outputs, inputs=self._inputs))
        self._run: Any = forward_function(
            self._inputs, outputs, mode=LIGHT_MODE, on_unused_input="ignore"
        )
        for variable, cell in self._run.vm.storage_map.items():
            if isinstance(variable, Constant) and isinstance(cell[0], np.ndarray):
                cell[0] = cell[0].copy()  # SciPy's laws refuse what other graphs lock

    def __call__(self, rng: np.random.Generator, given: Mapping[str, Any] | None = None) -> Values:
        """Return one draw by name."""
        reseed_rngs(self._rngs, int(rng.integers(2**63)))
        values = [np.array((given or {})[name]) for name in self._given]  # its own, to write on
        try:
            with np.errstate(all="ignore"):  # what is drawn is looked at by the caller
                result = self._run(*values)
        except FAILS as error:
            raise DataError(
                f"model: it allows parameters at which {listed(self._failing(rng))} can't be drawn "
                f"({str(error).splitlines()[0]}). {NARROWER}"
            ) from error
        return dict(zip(self._wanted, map(np.asarray, result), strict=True))

    def _failing(self, rng: np.random.Generator) -> list[str]:
        """Return the first variable of which not all draws succeed, and what it is made of."""
        named = dict(zip(self._wanted, self._outputs, strict=True))
        for output in () if self._given else self._outputs:
            if len(drawn([output], _TRIED, rng)) < _TRIED:
                above = set(ancestors([output]))
                return [name for name, v in named.items() if v in above]
        return self._wanted
