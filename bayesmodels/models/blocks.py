"""Rows of features in blocks, each row with its class, as the parts of a classifier read them.

A block is what one belief is about: a column, some columns of one kind, or a table of counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels import data as checked
from bayesmodels.containers import Block as ReadBlock
from bayesmodels.containers import present, read, wrapped
from bayesmodels.data import MultinomialCounts, Split, Weighted
from bayesmodels.errors import DataError, PriorError
from bayesmodels.labels import Coords
from bayesmodels.models.dirichlet_categorical import DirichletCategorical
from bayesmodels.protocol import Draws

Select = Callable[[Any], Sequence[Hashable]]
_EVENT = ("category", "other_feature")


@dataclass(frozen=True)
class Block:
    """Features of one kind.

    Attributes
    ----------
    belief : Belief
        About the block's parameters; its leading axis is ``class`` once it has met data.
    columns : label, tuple of labels, callable, or None
        Which columns: one (the block then has no axis of features), some, those that a function of
        the frame returns, or all there are.
    counted : bool
        Whether the columns are counts of categories, one multinomial observation a row.
    """

    belief: Any
    columns: Any = None
    counted: bool = False

    def impossible(self, parameters: Draws, x: Any) -> tuple[Hashable | None, Any] | None:
        """Return label and value of the first feature of a row that no class can have, or None."""
        dense = x.toarray() if checked.sparse(x) else x
        counts = self.belief.counts_categories(x) if self._categorical else False
        gap = 0 if counts else -1 if dense.dtype.kind in "iu" and self._categorical else np.nan
        axis = "category" if counts else "feature"
        names = self.belief.coords.get(axis, (None,))
        for at, name in enumerate(names):
            alone = np.full(dense.shape, gap, dtype=np.result_type(dense.dtype, type(gap)))
            alone[..., at] = dense[..., at]
            if names == (None,):
                alone = dense
            logs = self.belief.log_plug_in(parameters, alone)
            if np.isneginf(logs.max(-1)).any():
                value = dense[..., at].item() if names != (None,) else dense.item()
                if self._categorical and not counts:
                    value = self.belief.coords["category"][int(value)]
                return name, value
        return None

    @property
    def _categorical(self) -> bool:
        return isinstance(self.belief, DirichletCategorical)


def block_of(value: Any, name: str) -> Block:
    """Read what a user wrote for a block: a belief, or a belief with its columns."""
    belief, columns = value if isinstance(value, tuple) else (value, name or None)
    counted = isinstance(columns, MultinomialCounts)
    columns = columns.counts if isinstance(columns, MultinomialCounts) else columns
    if not hasattr(belief, "log_plug_in"):
        msg = (
            f"features[{name!r}]: must be a belief about features, such as BetaBernoulli, "
            f"DirichletCategorical or NormalInverseGamma; got {type(belief).__name__}."
        )
        raise PriorError(msg)
    if isinstance(columns, list):
        columns = tuple(columns)
    if counted and not isinstance(belief, DirichletCategorical):
        msg = f"features[{name!r}]: counts need a DirichletCategorical belief."
        raise PriorError(msg)
    return Block(belief, columns, counted)


class Classified:
    """Rows of features in blocks, with their classes and weights where they are for training.

    Parameters
    ----------
    classes : DirichletCategorical
        Whose categories are the classes.
    blocks : mapping
        The blocks by name.
    data : Design, pair (X, y) or Weighted pair; or the features alone
        What a user gave.
    new : bool
        Whether `data` are features alone, of rows whose class is to be predicted.
    """

    def __init__(
        self,
        classes: DirichletCategorical,
        blocks: Mapping[str, Block],
        data: Any,
        *,
        new: bool = False,
    ) -> None:
        self._blocks, self._weights = blocks, None
        self._axis: Coords = {"class": classes.coords["category"]}
        if new:
            self._features = data
            return
        weights = None
        if isinstance(data, Weighted):
            data, weights = data.rows, data.weights
        design = checked.paired(data)
        if design.intercept:
            msg = "intercept: a classifier has none; leave intercept=False."
            raise DataError(msg)
        self._features = design.features
        self._target = read(design.target, "target")
        if self._target.values.ndim != 1:
            msg = f"target: must hold one class a row; got shape {self._target.values.shape}."
            raise DataError(msg)
        self._codes = classes.read(self._target)
        if weights is not None:
            self._weights = checked.checked_weights(weights, self._target)

    @property
    def target(self) -> Any:
        """The classes of the rows, as the belief about classes reads them."""
        if self._weights is None:
            return self._target
        return Weighted(self._target, self._weights)

    def rows(self, name: str) -> tuple[Split, bool]:
        """Return the rows of a block by class; and whether they are cells, some being missing."""
        block, given = self._blocks[name], self._given(name)
        if isinstance(given, MultinomialCounts):
            return Split(given, self._codes, self._axis, self._weights), False
        found = read(given, _argument(name), missing=True)
        checked.same_rows(self._target, found)
        if found.missing is None:
            return Split(found, self._codes, self._axis, self._weights), False
        self._allow_missing(block, name)
        here = np.nonzero(~found.missing)
        codes, axes = self._codes[here[0]], self._axis
        if found.values.ndim > 1:
            columns = found.columns or tuple(range(found.values.shape[1]))
            codes, axes = codes * len(columns) + here[1], {**axes, "feature": columns}
        cells = ReadBlock(found.argument, present(found))
        weights = None if self._weights is None else self._weights[here[0]]
        return Split(cells, codes, axes, weights), True

    def cells(self, name: str) -> Any:
        """Return checked values of a block's rows; missing ones are NaN, or -1 for a category."""
        belief, given = self.belief(name), self._given(name)
        if isinstance(given, MultinomialCounts):
            return belief.read(given)
        found = read(given, _argument(name), missing=True)
        self._check_width(belief, found)
        if found.missing is None:
            return belief.read(found)
        here = belief.read(ReadBlock(found.argument, present(found)))
        coded = isinstance(belief, DirichletCategorical)
        result: NDArray[Any] = np.full(found.values.shape, -1 if coded else np.nan)
        result[~found.missing] = here
        return result.astype(np.intp) if coded else result

    def belief(self, name: str) -> Any:
        """Return a block's belief with the axis ``class``, which a prior lacks before any data."""
        belief = self._blocks[name].belief
        if "class" in belief.coords:
            return belief
        given = self._given(name)
        none = np.zeros(0, dtype=np.intp)
        if isinstance(given, MultinomialCounts):
            given = MultinomialCounts(np.zeros((0, belief.alpha.shape[-1]), dtype=int))
        else:
            found = read(given, _argument(name), missing=True)
            given = ReadBlock(found.argument, found.values[:0], found.columns)
            if found.values.dtype == object:
                given = ReadBlock(found.argument, np.zeros(given.values.shape), found.columns)
        return belief.update(Split(given, none, self._axis))

    def _given(self, name: str) -> Any:
        """Select the rows of a block, in the container that the user chose."""
        block, features = self._blocks[name], self._features
        if isinstance(features, Mapping):
            if name not in features:
                msg = f"features: must have the block {name!r}; has {list(features)}."
                raise DataError(msg)
            return features[name]
        if isinstance(features, MultinomialCounts):
            return features
        rows = _select(features, block, name)
        return MultinomialCounts(rows) if block.counted else rows

    def _check_width(self, belief: Any, found: ReadBlock) -> None:
        inner = [len(labels) for axis, labels in belief.coords.items() if axis not in _EVENT][1:]
        if list(found.values.shape[1:]) != inner:
            msg = (
                f"{found.argument}: must have {inner[0] if inner else 1} column(s), one a feature; "
                f"got rows of shape {found.values.shape[1:]}."
            )
            raise DataError(msg)

    def _allow_missing(self, block: Block, name: str) -> None:
        if hasattr(block.belief, "df"):
            msg = (
                f"{_argument(name)}: missing cells cannot be integrated out of the update of a "
                "covariance matrix in closed form. Drop these rows, or use NormalInverseGamma "
                "features (a diagonal covariance)."
            )
            raise DataError(msg)


def _argument(name: str) -> str:
    return f"features[{name!r}]" if name else "features"


def _select(features: Any, block: Block, name: str) -> Any:
    """Select columns by name from a frame, or by number from an array."""
    import narwhals as nw

    wanted = columns_known(block.belief, block.columns)
    frame = None if isinstance(features, (np.ndarray, list)) else wrapped(features, "features")
    if not isinstance(frame, nw.DataFrame):
        return features if wanted is None else _by_number(features, wanted, name)
    if wanted is None and "class" in block.belief.coords:  # the columns that it has met
        met = block.belief.coords.get("feature", (0,))
        wanted = met if all(isinstance(column, str) for column in met) else None
    if wanted is None:
        return features
    if callable(wanted):
        wanted = tuple(wanted(features))
    names = wanted if isinstance(wanted, tuple) else (wanted,)
    for column in names:
        if column not in frame.columns:
            msg = f"{_argument(name)}: has no column {column!r}; its columns are {frame.columns}."
            raise DataError(msg)
    places = [frame.columns.index(column) for column in names]
    chosen = frame[:, places] if isinstance(wanted, tuple) else frame[:, places[0]]
    return chosen.to_native()


def _by_number(features: Any, columns: Any, name: str) -> Any:
    values = read(features, "features", missing=True).values
    numbers = columns if isinstance(columns, tuple) else (columns,)
    width = values.shape[1] if values.ndim > 1 else 0
    for number in numbers:
        if not isinstance(number, (int, np.integer)) or not 0 <= number < width:
            msg = (
                f"{_argument(name)}: there is no column {number!r} in features of shape "
                f"{values.shape}. Give a frame with named columns, or column numbers."
            )
            raise DataError(msg)
    return values[:, list(columns) if isinstance(columns, tuple) else columns]


def columns_known(belief: Any, columns: Any) -> Any:
    """Return the columns that a function selected, once the belief has met them."""
    if callable(columns) and "class" in belief.coords:
        return tuple(belief.coords["feature"])
    return columns
