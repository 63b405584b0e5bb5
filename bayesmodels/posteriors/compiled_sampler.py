"""One compiled sampler for the posteriors of many data sets.

To compile a PyMC model takes ten seconds and more, to sample a small one a tenth of a second.
Models that one belief declares of data sets of one shape are the same graph but for some constants.
Those that differ between a few of the models become shared variables, which keep their place in
compiled code while their values change.

A number that a model hides from its graph, inside the body of a Python function for instance, would
stay that of the first data set. Calibration, for which this is made, would then fail.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics.processes import all_or_nothing, same_rounding

if TYPE_CHECKING:
    import pymc as pm

_NAME = "constant_"
_TUNE = 500  # steps


@dataclass(frozen=True)
class Anatomy:
    """A PyMC model as a graph: its constants in the order in which they are met, and all the rest.

    The form has operations, what goes into each, and shapes.
    """

    graph: Any
    constants: list[Any]
    form: str

    @classmethod
    def of(cls, model: pm.Model) -> Anatomy:
        """Take a model apart."""
        from pymc.model.fgraph import fgraph_from_model
        from pytensor.graph.basic import Constant

        graph, _ = fgraph_from_model(model)
        nodes = graph.toposort()
        variables = dict.fromkeys(
            [*graph.inputs, *(x for node in nodes for x in (*node.inputs, *node.outputs))]
        )
        number = {x: k for k, x in enumerate(variables)}
        lines = [f"{node.op} {[number[x] for x in node.inputs]}" for node in nodes]
        lines.append(str([number[x] for x in graph.outputs]))
        constants = [x for x in variables if isinstance(x, Constant)]
        lines.append(str([x.type for x in constants]))
        # A transform shows where it lies in memory.
        form = re.sub(r" at 0x[0-9a-f]+", "", "\n".join(lines))
        return cls(graph, constants, form)

    def digest(self) -> str:
        """Return a digest of form and constants."""
        result = hashlib.sha256(self.form.encode())
        for constant in self.constants:
            value = np.asarray(constant.data)  # of None, bytes would say where it lies in memory
            result.update(value.tobytes() if value.dtype != object else str(value).encode())
        return result.hexdigest()

    def differing(self, other: Anatomy) -> set[int] | None:
        """Return numbers of the constants whose values differ; None if the forms differ."""
        if other.form != self.form:
            return None
        pairs = enumerate(zip(self.constants, other.constants, strict=True))
        return {k for k, (a, b) in pairs if not np.array_equal(a.data, b.data)}


class Sampler:
    """PyMC models that are alike, compiled once for nutpie; from a few it is seen what differs."""

    def __init__(self, models: Sequence[pm.Model]) -> None:
        self._model = models[0]
        self._first, *others = map(Anatomy.of, models)
        result = [self._first.differing(other) or set() for other in others]
        self._varying = sorted(set().union(*result))

    def compiled(self, model: pm.Model) -> tuple[Any, bool]:
        """Return a model, compiled, and whether that had to be done anew for it."""
        new = Anatomy.of(model)
        differing = self._first.differing(new)
        if differing is None or not differing <= set(self._varying):
            return _unchecked(model), True
        values = {f"{_NAME}{k}": new.constants[k].data for k in self._varying}
        return self._template.with_data(**values), False

    @cached_property
    def _template(self) -> Any:
        from pymc.model.fgraph import model_from_fgraph
        from pytensor.compile.sharedvalue import shared

        variable_of: Any = shared  # it has no types
        copy = Anatomy.of(self._model)
        for k in self._varying:
            constant = copy.constants[k]
            variable = variable_of(constant.data, name=f"{_NAME}{k}")
            copy.graph.replace(constant, variable, import_missing=True)
        return _unchecked(model_from_fgraph(copy.graph, mutate_fgraph=True))


def _unchecked(model: pm.Model) -> Any:
    model.check_bounds = False  # transforms keep a belief's parameters in range
    return for_nutpie(model)


def for_nutpie(model: pm.Model) -> Any:
    """Return a model compiled for nutpie, for `draws_of`."""
    import nutpie

    with same_rounding():
        return nutpie.compile_pymc_model(model)


def draws_of(compiled: Any, draws: int, seed: int) -> dict[str, NDArray[Any]]:
    """Return draws of one chain by the names of the variables, sample axis first."""
    import nutpie
    import pyarrow as pa

    with all_or_nothing():
        trace = nutpie.sample(
            compiled,
            draws=draws,
            tune=_TUNE,
            chains=1,
            cores=1,
            seed=seed,
            progress_bar=False,
            return_raw_trace=True,  # a DataTree takes longer to make than a small model to sample
        )
    ((chain, *_), _) = trace.get_arrow_trace()
    table = pa.record_batch(chain)
    result = {}
    for name in table.schema.names:
        column = table.column(name)
        while pa.types.is_nested(column.type):
            column = column.flatten()
        flat = column.to_numpy(zero_copy_only=False)
        rows = flat.reshape(table.num_rows, *compiled.shapes[name])
        result[name] = rows[-draws:]  # steps of tuning come before them
    return result
