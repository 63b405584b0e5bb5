"""Rows of features in blocks, each row with its class, as the parts of a classifier read them.

A block is what one belief is about: a column, some columns of one kind, or a table of counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from bayesmodels.belief.protocol import Draws, FeatureFamily
from bayesmodels.belief.values import short, stored
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input.containers import (
    Argument,
    present,
    read,
    read_codes,
    same_rows,
    shown,
    wrapped,
)
from bayesmodels.input.data import Split
from bayesmodels.input.labels import Coords, same
from bayesmodels.input.wrappers import MultinomialCounts, Weighted
from bayesmodels.models.categorical import DirichletCategorical

Select = Callable[[Any], Sequence[Hashable]]
_EVENT = ("category", "other_feature")


@stored
@dataclass(frozen=True)
class Block:
    """Features of one kind.

    The leading axis of `belief` is ``class`` once it has met data. `columns` are a label (the block
    then has no axis of features), a tuple of labels, a function of the frame that returns some, or
    None for all there are; `counted` says whether they are counts of categories, one multinomial
    observation a row.
    """

    belief: Any
    columns: Hashable = None
    counted: bool = False

    def of(self, belief: Any) -> Block:
        """Return the block with another belief, its columns fixed if this one has data."""
        return replace(self, belief=belief, columns=columns_known(belief, self.columns))

    def check(self, coords: Coords, classes: DirichletCategorical) -> None:
        """Refuse a statistic whose labels `coords` are of other classes or columns."""
        same(classes.coords["category"], next(iter(coords.values())), "classes")
        if not isinstance(self.columns, tuple):
            return
        if (names := coords.get("feature", self.columns)) != self.columns:
            raise DataError(
                f"data: must be a statistic of the columns {list(self.columns)}, which the model "
                f"lists; got one of {list(names)}. Make it with a model that lists the same."
            )

    def __repr__(self) -> str:
        """Show what a user writes for a block."""
        if self.columns is None:
            return repr(self.belief)
        columns = short(self.columns)
        if self.counted:
            columns = f"MultinomialCounts({columns})"
        return f"({self.belief!r}, {columns})"


def impossible(belief: Any, parameters: Draws, x: Any, block: str) -> str | None:
    """Say in words which value of a row `x` of `Classified.cells` no class can have; else None."""

    def never(single: Any) -> bool:
        return bool(np.isneginf(belief.log_plug_in(parameters, single).max(-1)).any())

    coded = isinstance(belief, DirichletCategorical)
    levels = belief.coords["category"] if coded else ()
    if coded and belief.counts_categories(x):
        row = csr_array(x)
        for place, count in zip(row.indices, row.data, strict=True):
            if count and never(csr_array(([count], ([0], [place])), row.shape)):
                return f"{count:g} of category {levels[place]!r}"
        return None
    features = belief.coords.get("feature", (block,) if block else ())
    gap = -1 if coded else np.nan
    for at in range(x.size):
        single = np.full(x.size, gap, dtype=np.result_type(x.dtype, type(gap)))
        value = single[at] = x.flat[at]
        if never(single.reshape(x.shape)):
            named = f" of feature {features[at]!r}" if features else ""
            return f"the value {shown(levels[value] if coded else value)}{named}"
    return None


def block_of(value: Any, name: Hashable) -> Block:
    """Return the block of a belief, or of a pair of a belief and its columns."""
    default = None if name == "" else name
    belief, columns = value if isinstance(value, tuple) else (value, default)
    counted = isinstance(columns, MultinomialCounts)
    columns = columns.counts if isinstance(columns, MultinomialCounts) else columns
    if not isinstance(belief, FeatureFamily):
        raise PriorError(
            f"features[{name!r}]: must be a belief about features, such as BetaBernoulli, "
            f"DirichletCategorical or NormalInverseGamma; got {type(belief).__name__}."
        )
    if not isinstance(columns, Hashable):  # a list, an index or an array
        columns = tuple(columns.tolist() if isinstance(columns, np.ndarray) else columns)
    if counted:
        belief = _of_counts(belief, columns, f"features[{name!r}]")
    return Block(belief, columns, counted)


def _of_counts(belief: FeatureFamily, columns: Any, argument: str) -> DirichletCategorical:
    """Return a belief about counts, whose categories are the columns unless they have names."""
    if not isinstance(belief, DirichletCategorical):
        raise PriorError(f"{argument}: counts need a DirichletCategorical belief.")
    if callable(columns):
        raise PriorError(
            f"{argument}: columns that are counts must be listed, in the order of the categories; "
            "got a function, which need not keep to an order."
        )
    if not isinstance(columns, tuple) or belief.categories is not None:
        return belief
    size = belief.alpha.shape[-1]
    if len(columns) != size:
        raise PriorError(
            f"{argument}: must list {size} columns, one for each alpha; got {len(columns)}."
        )
    return DirichletCategorical(belief.alpha, columns, belief.coords)


def features_argument(blocks: Mapping[str, Block]) -> dict[str, Any]:
    """Return blocks as the argument `features` of a classifier, as a user writes it."""
    return {
        name: (each.belief, MultinomialCounts(each.columns) if each.counted else each.columns)
        for name, each in blocks.items()
    }


def of_classes(block: Block, name: str, classes: DirichletCategorical) -> Block:
    """Return the block; its belief may have an axis ``class`` only if that lists these classes."""
    coords, wanted = block.belief.coords, classes.coords["category"]
    if "class" in coords and (next(iter(coords)) != "class" or coords["class"] != wanted):
        raise PriorError(
            f"{argument(name)}: the axis 'class' of its belief must be the first one and list the "
            f"classes {list(wanted)} in this order; got the axes {dict(coords)}."
        )
    return block


class Classified:
    """Rows of features in blocks, with their classes and weights where they are for training.

    `data` are a Design, a pair (X, y) or either of them Weighted; or, if the rows are `new`, the
    features alone, of rows whose class is to be predicted.
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
        self._first: Argument | None = None
        self._tables: dict[str, tuple[Argument, Any]] = {}
        self._axis: Coords = {"class": classes.coords["category"]}
        if new:
            self._features = data
            return
        weights = None
        if isinstance(data, Weighted):
            data, weights = data.rows, data.weights
        design = checked.paired(data)
        if design.intercept:
            raise DataError("intercept: a classifier has none; leave intercept=False.")
        self._features = design.features
        coded = read_codes(design.target, "target", classes.categories)
        self._target = self._first = coded or read(design.target, "target")
        if self._target.values.ndim != 1:
            raise DataError(
                f"target: must hold one class a row; got shape {self._target.values.shape}."
            )
        self._codes = classes.read(self._target).astype(np.intp, copy=False)
        if weights is not None:
            heavy = read(weights, "weights")
            self._weights = checked.checked_weights(heavy, self.same_rows(heavy))

    @property
    def target(self) -> Any:
        """The classes of the rows, as the belief about classes reads them."""
        if self._weights is None:
            return self._target
        return Weighted(self._target, self._weights)

    def rows_of_cells(self, name: str) -> Any:
        """Return the row number of each present cell of a block with missing cells."""
        values = self.cells(name)
        there = values >= 0 if values.dtype.kind == "i" else ~np.isnan(values)
        return np.nonzero(there)[0]

    def rows(self, name: str) -> tuple[Split, bool]:
        """Return a block's rows by class, or its present cells if some are missing; and which."""
        result, rows = self._read(name)
        if result.missing is None:
            return Split(rows, self._codes, self._axis, self._weights), False
        belief = self._blocks[name].belief
        if "Sigma" in belief.dims:
            raise DataError(
                f"{argument(name)}: missing cells cannot be integrated out of the update of a "
                "covariance matrix in closed form. Drop these rows, or use NormalInverseGamma "
                "features (a diagonal covariance)."
            )
        if not result.missing.all():
            belief.read(_filled(result))  # complains of places in the user's own rows
        here = np.nonzero(~result.missing)
        codes, axes = self._codes[here[0]], self._axis
        if result.values.ndim > 1:
            columns = result.columns or tuple(range(result.values.shape[1]))
            codes, axes = codes * len(columns) + here[1], {**axes, "feature": columns}
        cells = Argument(result.argument, present(result))
        weights = None if self._weights is None else self._weights[here[0]]
        return Split(cells, codes, axes, weights), True

    def cells(self, name: str) -> Any:
        """Return checked values of a block's rows; missing ones are NaN, or -1 for a category."""
        belief, (table, rows) = self.belief(name), self._read(name)
        coded = isinstance(belief, DirichletCategorical)
        if isinstance(rows, MultinomialCounts):
            if not coded or belief.alpha.ndim != 2:  # noqa: PLR2004 - class and category
                raise DataError(
                    f"{argument(name)}: its belief is not about counts; got MultinomialCounts."
                )
            return belief.read(rows)
        inner = [len(labels) for axis, labels in belief.coords.items() if axis not in _EVENT][1:]
        shape = table.values.shape[1:]
        if list(shape) != inner:
            wanted = (
                f"have {inner[0]} column(s), one a feature"
                if inner
                else "be one column, a series or an array of one axis, as in the data before"
            )
            raise DataError(f"{table.argument}: must {wanted}; got rows of shape {shape}.")
        if table.missing is None:
            return belief.read(table)
        gap, kind = (-1, np.intp) if coded else (np.nan, np.float64)
        if table.missing.all():
            return np.full(table.values.shape, gap, kind)
        result = belief.read(_filled(table)).astype(kind)
        result[table.missing] = gap
        return result

    def belief(self, name: str) -> Any:
        """Return a block's belief with the axis ``class``, which a prior lacks before any data."""
        belief = self._blocks[name].belief
        if "class" in belief.coords:
            return belief
        result, rows = self._read(name)
        if isinstance(rows, MultinomialCounts) and "category" in belief.coords:
            empty = np.zeros((0, belief.alpha.shape[-1]), dtype=int)
            none: Any = MultinomialCounts(Argument("counts", empty, result.columns))
        else:
            values = result.values[:0]
            empty = np.zeros(values.shape) if values.dtype == object else values
            none = Argument(result.argument, empty, result.columns)
        return belief.update(Split(none, np.zeros(0, dtype=np.intp), self._axis))

    def _read(self, name: str) -> tuple[Argument, Any]:
        """Read and cache a block's rows; return their table, and what the belief reads."""
        if name in self._tables:
            return self._tables[name]
        selected = rows = self._selected(name)
        if not isinstance(selected, MultinomialCounts):
            levels = getattr(self._blocks[name].belief, "categories", None)
            coded = read_codes(selected, argument(name), levels)
            result = coded or read(selected, argument(name), missing=True)
            result = rows = _labelled(result, self._blocks[name])
        elif checked.sparse(selected.counts):
            result = Argument("counts", selected.counts)
        else:
            result = read(selected.counts, "counts", vector_row=True)
            rows = MultinomialCounts(result)
        self.same_rows(result)
        self._tables[name] = result, rows
        return result, rows

    def same_rows(self, other: Argument) -> Argument:
        """Check that an argument has as many rows as the first; return the first, for messages."""
        self._first = other if self._first is None else same_rows(self._first, other)
        return self._first

    def _selected(self, name: str) -> Any:
        """Select the rows of a block, in the container that the user chose."""
        block, features = self._blocks[name], self._features
        if isinstance(features, Mapping):
            for key, rows in features.items():
                if str(key) == name:
                    return rows
            raise DataError(f"features: must have the block {name!r}; has {list(features)}.")
        if isinstance(features, MultinomialCounts):
            return features
        rows = _select(features, block, name)
        return MultinomialCounts(rows) if block.counted else rows


def argument(name: str) -> str:
    """Return the name of a block in error messages."""
    return f"features[{name!r}]" if name else "features"


def _filled(block: Argument) -> Argument:
    """Return the block with its first present value in place of missing ones."""
    here = present(block)
    filled = np.full(block.values.shape, here[0], dtype=here.dtype)
    filled[~cast("Any", block.missing)] = here
    return Argument(block.argument, filled, block.columns, block.index)


def _select(features: Any, block: Block, name: str) -> Any:
    """Select columns by name from a frame, or by number from an array."""
    import narwhals as nw

    wanted = columns_known(block.belief, block.columns)
    frame = None if isinstance(features, (np.ndarray, list)) else wrapped(features, "features")
    if not isinstance(frame, nw.DataFrame):
        return features if wanted is None else _by_number(features, wanted, name)
    if wanted is None and "class" in block.belief.coords:  # the columns that it has met
        seen = block.belief.coords.get("feature", ())
        known = all(column in frame.columns or isinstance(column, str) for column in seen)
        wanted = tuple(seen) if seen and known else None
    if wanted is None:
        return features
    if callable(wanted):
        chosen = wanted(features)
        wanted = chosen if isinstance(chosen, str) else tuple(chosen)
    names = wanted if isinstance(wanted, tuple) else (wanted,)
    for column in names:
        if column not in frame.columns:
            raise DataError(
                f"{argument(name)}: has no column {column!r}; its columns are {frame.columns}."
            )
    places = [frame.columns.index(column) for column in names]
    chosen = frame[:, places] if isinstance(wanted, tuple) else frame[:, places[0]]
    return chosen.to_native()


def _labelled(table: Argument, block: Block) -> Argument:
    """Return rows whose columns have the labels that the block lists; others are refused."""
    listed = block.columns
    if not isinstance(listed, tuple):
        return table
    if table.values.shape[1:] != (len(listed),):
        raise DataError(
            f"{table.argument}: must have the {len(listed)} columns that the block lists; got rows "
            f"of shape {table.values.shape[1:]}."
        )
    if table.columns is None:
        return replace(table, columns=listed)
    if tuple(table.columns) != listed:
        raise DataError(
            f"{table.argument}: must have the columns that the block lists, {list(listed)}, in "
            f"this order; got {list(table.columns)}. Select them: frame[{list(listed)}]."
        )
    return table


def _by_number(features: Any, columns: Any, name: str) -> Any:
    block = read(features, "features", missing=True)
    values = block.values
    numbers = columns if isinstance(columns, tuple) else (columns,)
    width = values.shape[1] if values.ndim > 1 else 0
    for number in numbers:
        if not isinstance(number, (int, np.integer)) or not 0 <= number < width:
            raise DataError(
                f"{argument(name)}: there is no column {number!r} in features of shape "
                f"{values.shape}. Give a frame with named columns, or column numbers."
            )
    chosen = values[:, list(columns) if isinstance(columns, tuple) else columns]
    if block.index is None:
        return chosen
    return replace(read(chosen, argument(name), missing=True), index=block.index)


def columns_known(belief: Any, columns: Any) -> Any:
    """Return the columns of a block; for a function, those it selected in the data so far."""
    if callable(columns) and "class" in belief.coords:
        return tuple(belief.coords["feature"])
    return columns
