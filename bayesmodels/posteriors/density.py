"""The joint log density of a PyMC model in natural space, with a bound on its rounding error."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import SimplexTransform
from pymc.logprob.utils import CheckParameterValue
from pymc.model.fgraph import ModelNamed, fgraph_from_model, model_from_fgraph
from pymc.model.transform.conditioning import remove_value_transforms
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.compile.ops import FromFunctionOp
from pytensor.compile.sharedvalue import SharedVariable, shared
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph, Op
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.basic import MergeOptimizer, graph_rewriter
from pytensor.graph.traversal import ancestors, graph_inputs, io_toposort
from pytensor.link.basic import PerformLinker
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import Cast, Clip, Identity, Second
from pytensor.scalar.math import Log1mexp, Softplus, TriGamma
from pytensor.tensor.basic import Alloc, AllocDiag, Join, MakeVector
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.shape import Shape
from pytensor.tensor.subtensor import AdvancedIncSubtensor, unflatten_index_variables
from pytensor.tensor.utils import import_func_from_string
from pytensor.tensor.variable import TensorVariable
from scipy.special import polygamma

from bayesmodels.errors import NotConjugate
from bayesmodels.models.operations_pymc import Operation
from bayesmodels.numerics import Array
from bayesmodels.numerics.triangular import cholesky, solve_lower
from bayesmodels.posteriors import few_bits
from bayesmodels.posteriors.operations import core, is_float
from bayesmodels.posteriors.rounding import SINGLE, dtype

EPS = float(np.finfo(float).eps)
_NARROW = (*SINGLE, "int8", "int16", "uint8", "uint16")


class _Filled(Op):
    """Spread the second input to the shape of both, as PyTensor's fill does number by number."""

    __props__ = ()
    view_map = {0: [1]}  # noqa: RUF012 - PyTensor's signature

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        """Evaluate in Python."""
        template, value = inputs
        spread = np.broadcast_to(value, np.broadcast_shapes(template.shape, value.shape))
        outputs[0][0] = spread.astype(node.outputs[0].type.dtype, copy=False)


class _Direct(Op):
    """A function of NumPy or SciPy, without looking again at shapes that are known."""

    __props__ = ("run",)

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run = run

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        """Evaluate in Python."""
        outputs[0][0] = np.asarray(self.run(*inputs), dtype=node.outputs[0].type.dtype)


class _Foreign(Op):
    """Somebody else's operation: where it fails, its error says which variables go through it."""

    __props__ = ("op", "names")

    def __init__(self, op: Op, names: tuple[str, ...]) -> None:
        self.op, self.names = op, names

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        """Evaluate in Python."""
        try:
            self.op.perform(node, inputs, outputs)
        except np.linalg.LinAlgError:
            raise  # of a matrix without an inverse: the density is zero there
        except Exception as error:
            raise NotConjugate(
                f"{_title(core(self.op))} fails at some values of {', '.join(self.names)}: "
                f"{_said(error)}."
            ) from error


def _named(node: Any) -> _Foreign:
    """Return an operation that knows which of the graph's inputs go through it."""
    names = {v.name: None for v in graph_inputs(node.inputs) if not isinstance(v, Constant)}
    return _Foreign(node.op, tuple(name for name in names if name))


def _is_foreign(op: Any) -> bool:
    """Whether an operation is evaluated by code that is neither PyTensor's nor of this package."""
    inner = core(op)
    ours = type(inner).__module__.startswith(("pytensor.", "bayesmodels."))
    known = isinstance(inner, CheckAndRaise | RandomVariable | HasInnerGraph)
    return not known and (not ours or isinstance(inner, FromFunctionOp))


def _said(error: BaseException) -> str:
    """Return what an error says, in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].rstrip('.')}" if lines else type(error).__name__


class _Added(Op):
    """Add numbers to chosen places along the last axes of an array: place by place."""

    __props__ = ("idx_list",)

    def __init__(self, idx_list: Any) -> None:
        self.idx_list = idx_list
        self._where: tuple[Any, ...] = (None, None, None)

    def _places(self, indices: list[Any], inner: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the places' shape and order, and which ones there are from where on."""
        before, shape, result = self._where
        if before is None or shape != inner or any(map(operator.is_not, before, indices)):
            index = unflatten_index_variables(indices, self.idx_list)
            numbers = np.arange(math.prod(inner)).reshape(inner)
            places = numbers[tuple(index[self.idx_list.count(slice(None)) :])]
            order = np.argsort(places, axis=None, kind="stable")
            result = places.shape, order, *np.unique(places.ravel()[order], return_index=True)
            self._where = indices, inner, result
        return tuple(result)

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:  # noqa: ARG002 - PyTensor's
        """Evaluate in Python."""
        x, y, *indices = inputs
        slices = self.idx_list.count(slice(None))
        front, inner = x.shape[:slices], x.shape[slices:]
        result = x.reshape(*front, -1).copy()
        shape, order, chosen, first = self._places(indices, inner)
        if order.size and result.size:
            flat = np.broadcast_to(y, (*front, *shape)).reshape(*front, -1)
            result[..., chosen] += np.add.reduceat(flat[..., order], first, axis=-1)
        outputs[0][0] = result.reshape(x.shape)


def _of_many(node: Any) -> Callable[..., Array] | None:
    """Return a function of many matrices for what PyTensor does one by one, if there is one."""
    op = core(node.op)
    if isinstance(op, Cholesky) and op.lower:
        return cholesky
    if isinstance(op, SolveTriangular) and not op.unit_diagonal:
        return partial(_substituted, op.lower, op.b_ndim)
    if isinstance(op, Join) and hasattr(op, "axis"):  # which was an input of older ones
        width = node.outputs[0].type.ndim - node.op.batch_ndim(node)
        return partial(_joined, op.axis - width, width)
    if _is_diagonal(op):
        return _diagonal
    if isinstance(op, Operation) and op.batched:
        return partial(_in_a_row, op.batched, node.op.batch_ndim(node))
    return None


def _in_a_row(run: Callable[..., Array], axes: int, *inputs: Array) -> Array:
    """Evaluate what takes one leading axis with several; those of inputs may be of length one."""
    lead = np.broadcast_shapes(*(x.shape[:axes] for x in inputs))
    wide = [
        x if x.shape[:axes] == (1,) * axes else np.broadcast_to(x, (*lead, *x.shape[axes:]))
        for x in inputs
    ]
    result = run(*(x.reshape(-1, *x.shape[axes:]) for x in wide))
    return result.reshape(*lead, *result.shape[1:])


def _joined(axis: int, width: int, *parts: Array) -> Array:
    """Join parts along an axis, counted from the last of `width`; those before these broadcast."""
    lead = np.broadcast_shapes(*(x.shape[:-width] for x in parts))
    wide = [np.broadcast_to(x, (*lead, *x.shape[-width:])) for x in parts]
    return np.concatenate(wide, axis)


def _substituted(lower: bool, dimensions: int, root: Array, right: Array) -> Array:  # noqa: FBT001 - both are fixed
    """Solve triangular systems; leading axes broadcast."""
    columns = right if dimensions > 1 else right[..., None]
    turn = slice(None, None, 1 if lower else -1)
    result = solve_lower(root[..., turn, turn], columns[..., turn, :])[..., turn, :]
    return result if dimensions > 1 else result[..., 0]


def _log1mexp(x: Array) -> Array:
    """Return log(1 - exp(x))."""
    return np.where(x < -np.log(2), np.log1p(-np.exp(x)), np.log(-np.expm1(x)))


_NUMBER_BY_NUMBER: dict[Any, Op] = {
    Second: _Filled(),
    Cast: _Direct(np.array),
    Clip: _Direct(np.clip),
    Identity: _Direct(np.array),
    Log1mexp: _Direct(_log1mexp),
    Softplus: _Direct(partial(np.logaddexp, 0.0)),
    TriGamma: _Direct(partial(polygamma, 1)),
}
"""What stands in the place of what PyTensor evaluates so in Python."""


def _light(node: Any, fixed: bool) -> Op:  # noqa: FBT001 - for a mode each
    """Return an operation of the same numbers without PyTensor's checks and bookkeeping.

    Shapes are looked at again, but where they are known or `fixed`.
    """
    op = node.op
    if isinstance(op, AdvancedIncSubtensor) and dtype(node.outputs[0]) == "float64":
        slices = op.idx_list.count(slice(None))
        other = op.inplace or op.set_instead_of_inc or op.ignore_duplicates
        last = not any(isinstance(i, slice) for i in op.idx_list[slices:])
        return _Added(op.idx_list) if last and not other else op
    batch = isinstance(op, Blockwise) and op.batch_ndim(node)
    if batched := _of_many(node) if batch or _is_diagonal(core(op)) else None:
        return _Direct(batched)
    if not isinstance(op, Elemwise) or op.inplace_pattern:
        return op
    if type(op.scalar_op) in _NUMBER_BY_NUMBER:
        return _NUMBER_BY_NUMBER[type(op.scalar_op)]
    name, inputs, outputs = op.nfunc_spec or ("", 0, 0)
    known = fixed or all(None not in v.type.shape for v in node.inputs)
    several = inputs == 2 < len(node.inputs)  # noqa: PLR2004 - a sum or a product
    run: Any = import_func_from_string(name) if inputs else None
    floats = [is_float(v) for v in (node.inputs[0], node.outputs[0])]
    # Of whole numbers NumPy has to be told the result's type.
    mixed = isinstance(run, np.ufunc) and floats == [False, True]
    if mixed or not known or outputs != 1 or not (several or inputs == len(node.inputs)):
        return op
    return _Direct((lambda *values: reduce(run, values)) if several else run)


def _diagonal(x: Array) -> Array:
    """Return matrices with some numbers along their diagonals."""
    return np.where(np.eye(x.shape[-1], dtype=bool), x[..., None], 0.0)


def _is_graph(op: Any) -> bool:
    """Whether an operation is a graph of its own, for which there is no function here."""
    return isinstance(op, OpFromGraph) and not _is_diagonal(op)


def _is_diagonal(op: Any) -> bool:
    """Whether an operation makes one matrix with some numbers along its diagonal."""
    one = isinstance(op, AllocDiag) and len(op.fgraph.inputs[0].type.shape) == 1
    return one and op.offset == 0


def _write_out(graph: Any) -> None:
    """Replace operations that are graphs by what is in them: PyTensor compiles these in C."""
    while nodes := [n for n in graph.apply_nodes if _is_graph(core(n.op))]:
        for node in nodes:
            inner = core(node.op).fgraph
            inputs = node.inputs
            if isinstance(node.op, Blockwise):
                inputs = [v.type() for v in inner.inputs]
            outputs = inner.bind(dict(zip(inner.inputs, inputs, strict=True)))
            if isinstance(node.op, Blockwise):
                outputs = vectorize_graph(outputs, dict(zip(inputs, node.inputs, strict=True)))
            for v in ancestors(outputs, blockers=node.inputs):
                v.tag.trace = []  # which rewriting would double again and again
            graph.replace_all(zip(node.outputs, outputs, strict=True), import_missing=True)


def _lighten(graph: Any, *, fixed: bool = False) -> None:
    """Change operations where they stand: the graph is the function's own copy."""
    _write_out(graph)
    for node in graph.apply_nodes:
        node.op = _named(node) if _is_foreign(node.op) else _light(node, fixed)


WRITTEN_OUT: Any = graph_rewriter(_write_out)  # type: ignore[no-untyped-call]
LIGHTER: Any = graph_rewriter(_lighten)  # type: ignore[no-untyped-call]
LIGHTEST: Any = graph_rewriter(lambda graph: _lighten(graph, fixed=True))  # type: ignore[no-untyped-call]

# The graph runs as written, in Python: compiled in milliseconds, and what is bounded is what runs.
PYTHON_MODE = Mode(linker="py", optimizer=LIGHTER)


def compiled(inputs: Sequence[Any], outputs: Sequence[Any], mode: Any = PYTHON_MODE) -> Any:
    """Return a function of a graph's inputs, not all of which need be used.

    What is not finite is an answer: the caller looks at it.
    """
    with _compiling(outputs):
        run: Any = function(list(inputs), list(outputs), mode=mode, on_unused_input="ignore")
    return np.errstate(all="ignore")(run)


class OneAThread:
    """A compiled function of which each thread has its own."""

    def __init__(self, run: Any) -> None:
        self._run = run.__wrapped__
        self._idle = [self._run]

    def __call__(self, *inputs: Any) -> list[Any]:
        """Evaluate by a function that no other thread has meanwhile."""
        try:
            run = self._idle.pop()
        except IndexError:
            run = self._run.copy()
        try:
            return list(run(*inputs))
        finally:
            self._idle.append(run)


def in_halves[Result](
    run: Callable[[slice], Result], rows: slice, errors: tuple[type[Exception], ...]
) -> list[tuple[int, Result | None]]:
    """Run for rows that are cut in halves where that fails; return sizes and results of the parts.

    Of a single row that fails there is None.
    """
    number = rows.stop - rows.start
    try:
        return [(number, run(rows))]
    except errors:
        if number == 1:
            return [(1, None)]
    middle = rows.start + number // 2
    halves = slice(rows.start, middle), slice(middle, rows.stop)
    return [part for half in halves for part in in_halves(run, half, errors)]


@contextmanager
def _compiling(outputs: Sequence[Any]) -> Iterator[None]:
    """Let compilation in the context be for Python, of variables without creation traces.

    Rewriting joins these traces; they double again and again, up to gigabytes.
    """
    traced = [v for v in ancestors(outputs) if getattr(v.tag, "trace", None)]
    traces = [v.tag.trace for v in traced]
    try:
        for v in traced:
            v.tag.trace = []
        with config.change_flags(cxx=""):  # or the steps of a loop would be compiled in C
            yield
    finally:
        for v, trace in zip(traced, traces, strict=True):
            v.tag.trace = trace


class Program:
    """A graph that is compiled once, in Python and as written, with several groups of outputs.

    A call works out one group, and nothing that this group does not need.
    """

    def __init__(self, inputs: Sequence[Any], groups: Mapping[str, Sequence[Any]]) -> None:
        outputs = [v for group in groups.values() for v in group]
        shares = [v for v in graph_inputs(outputs) if isinstance(v, SharedVariable)]
        with _compiling(outputs):
            graph: Any = FunctionGraph([*inputs, *shares], outputs, clone=True)
            LIGHTER.rewrite(graph)
            self._given: list[Any] = [[None] for _ in inputs]
            storage: Any = [*self._given, *(v.container.storage for v in shares)]
            linker: Any = PerformLinker(allow_gc=False).accept(graph)
            run, *_, thunks, order = linker.make_all(storage)
        cells, at = run.storage_map, 0
        self._groups: dict[str, tuple[list[Any], list[Any]]] = {}
        for name, group in groups.items():
            results = graph.outputs[at : at + len(group)]
            at += len(group)
            needed = {v.owner for v in ancestors(results)}
            steps = [run for run, node in zip(thunks, order, strict=True) if node in needed]
            self._groups[name] = steps, [cells[v] for v in results]

    def __call__(self, group: str, inputs: Sequence[Any]) -> list[Any]:
        """Return the outputs of a group; what is not finite is an answer."""
        steps, result = self._groups[group]
        for cell, value in zip(self._given, inputs, strict=True):
            cell[0] = value
        with np.errstate(all="ignore"):
            for run in steps:
                run()
        return [np.array(cell[0]) for cell in result]


def _title(op: Any) -> str:
    """Return an operation's name as its author knows it."""
    return str(getattr(op, "name", None) or type(op).__name__)


def simplexes(model: pm.Model) -> frozenset[str]:
    """Return the free variables whose last axis adds up to one."""
    return frozenset(
        rv.name
        for rv, transform in model.rvs_to_transforms.items()
        if isinstance(transform, SimplexTransform)
    )


def named_terms(model: pm.Model) -> tuple[list[Any], dict[str, Any]]:
    """Return inputs and log terms of a model's joint density, untransformed and in double.

    Each term is under the name of its variable or potential.
    """
    with without_initial_values(model), warnings.catch_warnings():
        # It warns of old objects of Gaussian processes; nothing of them is used again.
        warnings.simplefilter("ignore", UserWarning)
        natural = frozen(remove_value_transforms(written_in_double(model)))
    named = [*natural.free_RVs, *natural.observed_RVs, *natural.potentials]
    terms = _terms(natural, named)
    for v, term in zip(named, terms, strict=True):
        made_by = [u.owner for u in ancestors([term]) if u.owner]
        drawn = [n.op for n in made_by if any(isinstance(u.type, RandomType) for u in n.inputs)]
        if drawn:
            raise NotConjugate(
                f"the density of {v.name} is itself random ({_title(drawn[0])}), as that of a "
                "minibatch or a simulator is: declare all rows, and a law with a density."
            )
    few_bits.require_enough(model)
    few_bits.require_enough_in(dict(zip([v.name for v in named], terms, strict=True)))
    points = []
    for value in natural.value_vars:
        point = _double(value)
        point.name = natural.values_to_rvs[value].name  # PyMC's own may keep half a suffix
        points.append(point)
    inputs = {old: new for old, new in zip(natural.value_vars, points, strict=True) if old != new}
    done = merged(in_double(terms, inputs))
    return points, {v.name: t for v, t in zip(named, done, strict=True)}


def deterministics(model: pm.Model, points: list[Any]) -> dict[str, Any]:
    """Return a model's Deterministics as expressions of the inputs of `named_terms`, by name."""
    by_name = {point.name: point for point in points}
    free = {rv: rv.type.filter_variable(by_name[rv.name]) for rv in model.free_RVs}
    expressions = clone_replace(list(model.deterministics), free, rebuild_strict=False)
    return {
        v.name: expression
        for v, expression in zip(model.deterministics, in_double(expressions, {}), strict=True)
    }


_NO_DENSITY = (NotImplementedError, RuntimeError)
"""What PyMC raises of a law that has no density, and of one whose density it cannot derive."""


def _terms(model: pm.Model, named: list[Any]) -> list[Any]:
    """Return the log terms of variables and potentials, or say of which PyMC has none."""
    try:
        return list(model.logp(named, jacobian=False, sum=False))
    except ValueError as error:
        raise _misfit(model, error) from error
    except _NO_DENSITY:
        for v, value in model.rvs_to_values.items():
            try:
                pm.logp(v, value, warn_rvs=False)
            except _NO_DENSITY as error:
                raise NotConjugate(
                    f"PyMC has no log density of {v.name}: give its distribution one (logp)."
                ) from error
        raise


def _misfit(model: pm.Model, error: ValueError) -> NotConjugate:
    """Say of which variable the shapes do not fit, so that PyMC has no density of the model."""
    name = ", ".join(v.name for v in model.free_RVs)
    for v in model.basic_RVs:
        try:
            compiled([], [v])()
        except ValueError:
            name = v.name
            break
    dims = model.named_vars_to_dims.get(name, ())
    long = ", ".join(f"{dim} ({model.dim_lengths[dim].eval()})" for dim in dims)
    along = f", which has the dims {long}" if long else ""
    return NotConjugate(
        f"PyMC has no density of {name}{along}, as shapes do not fit each other "
        f"({_said(error)}): variables that share a dim must be equally long."
    )


def no_gradient(points: list[Any], result: Any) -> str:
    """Say which operation has no derivative, and what one can do."""
    names = ", ".join(str(v.name) for v in ancestors([result]) if v in set(points))
    op = result.owner.op
    title = getattr(op, "scalar_op", op)
    return (
        f"PyTensor has no derivative of {_title(title)}, which {names} goes through, and laws are "
        "read off slopes: write it in PyTensor's own operations, or give it a gradient."
    )


@contextmanager
def without_initial_values(model: pm.Model) -> Iterator[None]:
    """Let a model forget where its sampler should start: PyMC does not copy models that know it."""
    known = dict(model.rvs_to_initial_values)
    for rv in known:
        model.rvs_to_initial_values[rv] = None
    try:
        yield
    finally:
        model.rvs_to_initial_values.update(known)


def keep_initial_values(model: pm.Model, copy: pm.Model, names: Sequence[str]) -> None:
    """Let a copy of a model start where the model does, as far as that is known."""
    for rv, start in model.rvs_to_initial_values.items():
        known = not isinstance(start, TensorVariable) or isinstance(start, Constant)
        if known and rv.name in names:
            copy.rvs_to_initial_values[copy[rv.name]] = start


def frozen(model: pm.Model) -> pm.Model:
    """Return a model whose data, dims and other shared variables are the numbers that they hold.

    Itself, if there are none. Data have no names there; what is `changing` stays shared.
    """
    named = [*model.data_vars, *model.dim_lengths.values()]
    if not model.data_vars and not any(
        _may_change(v) for v in graph_inputs([*_outputs(model), *named])
    ):
        return model
    with without_initial_values(model), warnings.catch_warnings():
        # It warns of old objects of Gaussian processes; nothing of them is used again.
        warnings.simplefilter("ignore", UserWarning)
        graph, _ = fgraph_from_model(model)
    outputs = [v for v in graph.outputs if not isinstance(v.owner.op, ModelNamed)]
    held = filter(_may_change, (*graph.inputs, *graph._dim_lengths.values()))  # noqa: SLF001 - PyMC's
    known: dict[Any, Any] = {v: pt.constant(v.get_value(), name=v.name) for v in held}
    try:
        outputs = _with_shapes(outputs, known)
    except ValueError as error:
        raise _misfit(model, error) from error
    result = model_of(graph, outputs, known)
    keep_initial_values(model, result, [rv.name for rv in model.free_RVs])
    return result


def _with_shapes(outputs: Sequence[Any], known: Mapping[Any, Any]) -> list[Any]:
    """Return expressions with other variables, and shapes that are then known as numbers."""
    new = dict(known)
    for node in io_toposort([], list(outputs)):
        inputs = [new.get(v, v) for v in node.inputs]
        (first, *_), (out, *_) = inputs or [None], node.outputs
        if isinstance(node.op, Shape) and None not in first.type.shape:
            new[out] = pt.constant(first.type.shape, dtype="int64", ndim=1)
        elif inputs != list(node.inputs):
            results = node.clone_with_new_inputs(inputs, strict=False).outputs
            if dtype(out) == "int64" and all(isinstance(v, Constant) for v in inputs):
                results = [out.type.make_constant(x) for x in compiled([], results)()]
            new.update(zip(node.outputs, results, strict=True))
    return [new.get(v, v) for v in outputs]


def changing(value: Any, name: str) -> Any:
    """Return a shared variable that stays one in what is made of its model."""
    variable: Any = shared(np.asarray(value), name=name, shape=np.shape(value))  # type: ignore[no-untyped-call]
    variable.tag.changing = True
    return variable


def _may_change(v: Any) -> bool:
    """Whether a variable holds numbers of the user's that are not those of the graph."""
    numbers = isinstance(v, SharedVariable) and not isinstance(v.type, RandomType)
    return numbers and not getattr(v.tag, "changing", False)


def _outputs(model: pm.Model) -> list[Any]:
    """Return all that a model is made of."""
    return [
        *model.basic_RVs,
        *model.potentials,
        *model.deterministics,
        *model.rvs_to_values.values(),
    ]


def model_of(graph: Any, outputs: Any, replacements: Mapping[Any, Any]) -> pm.Model:
    """Return the model of other outputs than a model's graph has, with variables replaced."""
    new_graph: Any = FunctionGraph(outputs=list(outputs), clone=False)
    there = [(old, new) for old, new in replacements.items() if old in new_graph.variables]
    new_graph.replace_all(there, import_missing=True)
    new_graph._coords = graph._coords  # noqa: SLF001 - PyMC's own
    lengths = graph._dim_lengths.items()  # noqa: SLF001 - as above
    new_graph._dim_lengths = {dim: replacements.get(v, v) for dim, v in lengths}  # noqa: SLF001
    return model_from_fgraph(new_graph, mutate_fgraph=True)


def graph_of(model: pm.Model) -> Any:
    """Return a copy of a model as a graph, with frozen data and dims, without initial values.

    What depends on a variable's shape alone does not depend on the variable.
    """
    with without_initial_values(model), warnings.catch_warnings():
        # It warns of old objects of Gaussian processes; nothing of them is used again.
        warnings.simplefilter("ignore", UserWarning)
        graph = fgraph_from_model(frozen(model))[0]
    for node in list(graph.apply_nodes):
        if isinstance(node.op, Shape) and None not in node.inputs[0].type.shape:
            shape = pt.constant(node.inputs[0].type.shape, dtype="int64", ndim=1)
            graph.replace(node.outputs[0], shape, import_missing=True)
    return graph


def written_in_double(model: pm.Model) -> pm.Model:
    """Return a model whose constants are double before PyMC works anything out of them."""
    with without_initial_values(model):
        graph, _ = fgraph_from_model(model)
    outputs = in_double(graph.outputs, {})
    if outputs == list(graph.outputs):
        return model
    result = model_of(graph, outputs, {})
    keep_initial_values(model, result, [rv.name for rv in model.free_RVs])
    return result


def _double(point: Any) -> Any:
    """Return an input of double precision in place of one of single precision."""
    if dtype(point) not in SINGLE:
        return point
    return point.type.clone(dtype="float64")(point.name)


def in_double(outputs: list[Any], inputs: dict[Any, Any]) -> list[Any]:
    """Return outputs in which numbers are double: PyTensor keeps 1e6 in single, 3 in 8 bits.

    Only where they are numbers: a shape or an index must stay a whole number.
    """
    known = dict(inputs)
    for node in io_toposort(list(inputs), outputs):
        given = [known.get(v, v) for v in node.inputs]
        if isinstance(node.op, CAReduce) and given[0].type.ndim == 0:
            # PyMC's CAR adds up a single number along an axis that it does not have.
            wide = dtype(given[0]) == "float64"
            known[node.outputs[0]] = given[0] if wide else pt.cast(given[0], dtype(node.outputs[0]))
            continue
        if any(dtype(v) in SINGLE for v in node.outputs):
            elementwise = isinstance(node.op, Elemwise | MakeVector)
            numbers = len(given) if elementwise else int(isinstance(node.op, (DimShuffle, Alloc)))
            given[:numbers] = [_wide(v) for v in given[:numbers]]
        shape = node.outputs[0].type.shape if isinstance(node.op, Alloc) else ()
        if shape and None not in shape:  # or each copy would work it out again from all before it
            given[1:] = [pt.constant(length, dtype="int64") for length in shape]
        core = getattr(node.op, "core_op", node.op)  # that of a Blockwise
        if isinstance(core, HasInnerGraph):  # whose types are those that it was made with
            given = [
                pt.cast(new, dtype(old)) if dtype(new) != dtype(old) else new
                for new, old in zip(given, node.inputs, strict=True)
            ]
        if isinstance(node.op, MakeVector) and dtype(node.outputs[0]) in SINGLE:
            vector = MakeVector("float64")  # type: ignore[no-untyped-call]
            known[node.outputs[0]] = vector(*given)
        elif given != list(node.inputs):
            results = node.clone_with_new_inputs(given, strict=False).outputs
            known.update(zip(node.outputs, results, strict=True))
    return [known.get(v, v) for v in outputs]


def _wide(v: Any) -> Any:
    """Return a constant or a small whole number in double precision."""
    if isinstance(v, Constant) and dtype(v) in _NARROW:
        return pt.constant(np.asarray(v.data, dtype=np.float64), name=v.name)
    return pt.cast(v, "float64") if dtype(v) in _NARROW and dtype(v) not in SINGLE else v


def merged(outputs: Sequence[Any]) -> list[Any]:
    """Return expressions in which nothing is worked out twice."""
    inputs = [v for v in graph_inputs(outputs) if not isinstance(v, Constant)]
    graph: Any = FunctionGraph(inputs, list(outputs), clone=True)
    MergeOptimizer().rewrite(graph)  # type: ignore[no-untyped-call]
    known = dict(zip(graph.inputs, inputs, strict=True))
    return list(clone_replace(graph.outputs, known, rebuild_strict=False))


def folded(outputs: list[Any], inputs: list[Any]) -> list[Any]:
    """Work out once whatever depends neither on the inputs nor on shared variables."""
    moving = {*inputs, *(v for v in ancestors(outputs) if isinstance(v, SharedVariable))}
    fixed = []
    for node in io_toposort(inputs, outputs):
        if any(v in moving for v in node.inputs):
            moving.update(node.outputs)
            fixed += [v for v in node.inputs if v.owner is not None and v not in moving]
    fixed = list(dict.fromkeys(fixed))
    values = compiled([], fixed)() if fixed else []
    known: dict[Any, Any] = {v: v.type.make_constant(x) for v, x in zip(fixed, values, strict=True)}
    return list(clone_replace(outputs, known, rebuild_strict=False))


def plain(outputs: list[Any]) -> list[Any]:
    """Return outputs that are zero densities, not errors, where a parameter is out of range.

    And write as numbers the shapes that are known, which would else be those of each point.
    """
    known: dict[Any, Any] = {}
    for node in io_toposort([], outputs):
        inputs = [known.get(v, v) for v in node.inputs]
        if isinstance(node.op, CheckParameterValue):
            value, *conditions = inputs
            holds = pt.all([pt.all(condition) for condition in conditions])  # type: ignore[no-untyped-call]
            known[node.outputs[0]] = pt.switch(holds, value, -np.inf)
        elif isinstance(node.op, Shape) and None not in inputs[0].type.shape:
            known[node.outputs[0]] = pt.constant(inputs[0].type.shape, dtype="int64", ndim=1)
        elif isinstance(node.op, Alloc) and None not in node.outputs[0].type.shape:
            # Whose shape, with a row for each point, is worked out from all that comes before.
            template = pt.constant(np.zeros(node.outputs[0].type.shape, node.outputs[0].type.dtype))
            known[node.outputs[0]] = pt.second(template, inputs[0])
        elif inputs != list(node.inputs):
            results = node.clone_with_new_inputs(inputs, strict=False).outputs
            known.update(zip(node.outputs, results, strict=True))
    return [known.get(v, v) for v in outputs]


def add(parts: list[Any]) -> Any:
    """Add up a few expressions, two at a time: Python's elementwise add takes 32 at most."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
