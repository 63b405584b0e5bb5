"""Where programs compare: the edges of supports, branches and clips, found on ways across them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array
from bayesmodels.referee.log_terms import Point

_MOST = 4  # edges of one comparison of many numbers that are looked for on one way
_HALVINGS = 40
_BESIDE = 1e-5
_SMOOTH = ("ViewOp", "LogAddExp", "LogSumExp")  # beside those that are known
_FROM = {"Log": 0, "Log2": 0, "Log10": 0, "Log1p": -1, "Sqrt": 0, "Pow": 0}
"""From where on functions of real numbers are defined: powers, where they are not whole."""

Way = Callable[[float], Point]


def _least(node: Any) -> float | None:
    """Return from where on an operation is defined, if it is not everywhere."""
    from bayesmodels.posteriors.operations import scalar

    name = getattr(scalar(node.op), "__name__", "")
    integer = name == "Pow" and _is_integer(node.inputs[1])
    return None if integer else _FROM.get(name)


def _is_integer(power: Any) -> bool:
    """Whether a power is a whole number that is written down."""
    while power.owner is not None and len(power.owner.inputs) == 1:  # axes are added, or it is cast
        (power,) = power.owner.inputs
    value = getattr(power, "data", None)
    return value is not None and bool((np.round(value) == value).all())


class Edges:
    """What the graphs of terms compare, and whose answers change at edges.

    `opaque` are operations of which nothing is known: what they compare inside is not seen.
    """

    def __init__(self, inputs: Sequence[Any], terms: Sequence[Any]) -> None:
        from pytensor.graph.traversal import io_toposort
        from pytensor.tensor.shape import Shape, Shape_i

        from bayesmodels.posteriors.operations import EVERYTHING, operation, title

        self._inputs, reached = list(inputs), {*inputs}
        asked: dict[Any, None] = {}
        opaque: dict[str, None] = {}
        for node in io_toposort(self._inputs, list(terms)):
            if isinstance(node.op, Shape | Shape_i) or not reached & {*node.inputs}:
                continue
            reached.update(node.outputs)
            known = operation(node.op)
            if known is None and title(node.op) not in _SMOOTH:
                opaque[title(node.op)] = None
            elif known is not None:
                asked |= dict.fromkeys(known.questions(node, [EVERYTHING] * len(node.inputs)))
            if (least := _least(node)) is not None:
                x: Any = node.inputs[0]
                asked[x > least] = None
        self.opaque, self._questions = tuple(opaque), list(asked)
        self._run = self._compiled() if asked else None
        self._owner = np.zeros(0, dtype=int)

    def _compiled(self) -> Any:
        from pytensor.configdefaults import config
        from pytensor.graph.replace import vectorize_graph

        from bayesmodels.posteriors.density import compiled, plain

        with config.change_flags(floatX="float64", traceback__limit=0):
            batches = [p.type.clone(shape=(None, *p.type.shape))(p.name) for p in self._inputs]
            same: Any = dict(zip(self._inputs, batches, strict=True))
            return compiled(batches, vectorize_graph(plain(self._questions), same))

    def answers(self, points: Sequence[Point]) -> NDArray[Any]:
        """Return the answers to all comparisons, one row a point."""
        if self._run is None or not points:
            return np.zeros((len(points), 0))
        at = [np.array([p[v.name] for p in points], dtype=v.dtype) for v in self._inputs]
        try:
            result = self._run(*at)
        except (IndexError, ValueError, AssertionError, np.linalg.LinAlgError):
            if len(points) == 1:
                return np.full((1, 0), np.nan)
            half = len(points) // 2
            rows = [*self.answers(points[:half]), *self.answers(points[half:])]
            width = max(map(len, rows))
            return np.array([row if len(row) == width else np.full(width, np.nan) for row in rows])
        parts = [np.reshape(x, (len(points), -1)).astype(float) for x in result]
        self._owner = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        return np.concatenate(parts, 1)

    def places(self, ways: Sequence[Way], grids: Sequence[Array]) -> list[tuple[Array, Array]]:
        """Return edges of each way; and its grid, both sides of the edges, and between them."""
        starts = np.concatenate([[0], np.cumsum([len(grid) for grid in grids])]).astype(int)
        at = [way(t) for way, grid in zip(ways, grids, strict=True) for t in grid]
        known = self.answers(at)
        steps = []
        for k, grid in enumerate(grids):
            rows = known[starts[k] : starts[k + 1]]
            crossed, which = np.nonzero((rows[1:] != rows[:-1]) & np.isfinite(rows[1:] + rows[:-1]))
            # Rows of data that change sides in one step are many edges, of which some are taken.
            for question in np.unique(self._owner[which]):
                crossings = np.flatnonzero(self._owner[which] == question)
                chosen = crossings[np.unique(np.linspace(0, len(crossings) - 1, _MOST).astype(int))]
                steps += [(k, grid[crossed[i]], grid[crossed[i] + 1], which[i]) for i in chosen]
        low, high = (np.array([s[k] for s in steps], dtype=float) for k in (1, 2))
        column = np.array([s[3] for s in steps], dtype=int)
        across = [ways[s[0]] for s in steps]

        def asked(t: Array) -> Array:
            result = self.answers([way(x) for way, x in zip(across, t, strict=True)])
            return np.asarray(result[np.arange(len(t)), column])

        before = asked(low) if steps else low
        for _ in range(_HALVINGS if steps else 0):
            middle = 0.5 * (low + high)
            same = asked(middle) == before
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        result = []
        for k, grid in enumerate(grids):
            edges = np.unique([t for s, t in zip(steps, low, strict=True) if s[0] == k])
            margin = _BESIDE * (1 + np.abs(edges))
            between = 0.5 * (edges[1:] + edges[:-1])
            places = np.unique([*grid, *(edges - margin), *(edges + margin), *between])
            result.append((edges, places))
        return result
