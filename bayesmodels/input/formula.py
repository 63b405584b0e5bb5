"""A formula such as ``mpg ~ wt + C(cyl)`` and a frame -> a design matrix with names, and a target.

Formulas are read by formulaic; their grammar is that of R and patsy. Columns of text, and those in
``C()``, are coded by indicators of their levels. The first level has none: it is the reference.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.containers import (
    first,
    listed,
    missing_entries,
    missing_message,
    where,
    wrapped,
)

_CODED = re.compile(r"C\((\w+)\)(?=\[)|(?<=\[)T\.")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")


def read(formula: str, columns: Sequence[Any]) -> Any:
    """Return a formula, with what stands left and right of its ``~``."""
    import formulaic

    there = {"__formulaic_variables_available__": list(columns)}
    try:
        both = formulaic.Formula(formula, _context=there)
    except (formulaic.errors.FormulaicError, SyntaxError) as error:
        raise DataError(f"formula: {_said(error)} Got {formula!r}.") from None
    sides = getattr(both, "lhs", None), getattr(both, "rhs", None)
    if not all(isinstance(side, formulaic.SimpleFormula) for side in sides) or len(both.lhs) != 1:
        raise DataError(
            "formula: must have one target, ~, and what explains it, such as 'y ~ x + C(group)'; "
            f"got {formula!r}."
        )
    return both


def names_in(part: Any, columns: Sequence[Any]) -> list[Any]:
    """Return which columns a formula, or a part of it, names, in the order of the columns."""
    text = str(getattr(part, "formula", part))
    return [
        name
        for name in columns
        if re.search(rf"(?<![\w.]){re.escape(str(name))}(?![\w.]|\s*\()", text)
    ]


def target_of(both: Any) -> str:
    """Return the name of a formula's target."""
    return str(both.lhs[0]).strip("`")


def references(coding: Any) -> dict[str, Any]:
    """Return the first level of each column that is coded, which has no indicator."""
    text = str(coding.formula)
    coded = sorted(coding.factor_contrasts.items(), key=lambda pair: text.find(str(pair[0])))
    return {
        _CODED.sub(lambda match: match[1] or "", f"{factor}[")[:-1]: state.levels[0]
        for factor, state in coded
    }


def from_formula(formula: str, frame: Any) -> tuple[Any, Any, Any]:
    """Return design matrix and target of a formula, and the coding of the matrix."""
    table = _table(frame)
    both = read(formula, table.columns)
    target = target_of(both)
    left = table[[target]] if target in table.columns else _coded(both.lhs, table)
    if left.shape[1] != 1:
        raise DataError(f"formula: its target must be one column; {target} is {listed([*left])}.")
    y = left.iloc[:, 0]
    if y.isna().any():
        raise DataError(missing_message(f"frame[{target!r}]", y.isna().to_numpy()))
    matrix = _coded(both.rhs, table)
    return _renamed(matrix), y.rename(target), matrix.model_spec


def coded(coding: Any, frame: Any) -> Any:
    """Return the design matrix of new rows by the coding of an earlier one."""
    return _renamed(_coded(coding, _table(frame)))


def _table(frame: Any) -> Any:
    import narwhals as nw

    native = wrapped(frame, "frame")
    if not isinstance(native, nw.DataFrame):
        raise DataError(f"frame: must be a frame with named columns; got {type(frame).__name__}.")
    return native.to_pandas()


def _coded(part: Any, table: Any) -> Any:
    """Return the design columns of a side of a formula; refuse missing cells."""
    import formulaic

    names = names_in(part, table.columns)
    for name in names:
        if (gone := table[name].isna().to_numpy()).any():
            raise DataError(missing_message(f"frame[{name!r}]", gone))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error", formulaic.errors.DataMismatchWarning)
            matrix = part.get_model_matrix(table[names], context={}, na_action="ignore")
    except formulaic.errors.DataMismatchWarning as error:
        new = re.sub(r".*(\{.*\}).*", r"\1", _said(error))
        raise DataError(f"frame: must hold levels that the design has; got {new}.") from None
    except formulaic.errors.FormulaicError as error:
        unknown = re.search(r"NameError: (?:name )?[`'](\w+)", str(error))
        what = f"there is no column {unknown[1]!r};" if unknown else _said(error)
        raise DataError(f"formula: {what} there are {listed(list(table))}.") from None
    for name, column in matrix.items():
        if (bad := missing_entries(column.to_numpy())) is not None:
            raise DataError(
                f"formula: {name} is not a number in {int(bad.sum())} of {len(bad)} rows, the "
                f"first is {where(first(bad))}. Leave these rows out, or write it in another way."
            )
    return matrix


def _renamed(matrix: Any) -> Any:
    """Return columns under shorter names: cyl[8], not C(cyl)[T.8]."""
    names = [_CODED.sub(lambda match: match[1] or "", name) for name in matrix.columns]
    matrix = matrix.astype(float)
    matrix.columns = ["intercept" if name == "Intercept" else name for name in names]
    return matrix


def _said(error: Any) -> str:
    """Return the first line of what formulaic says, as a sentence."""
    return _COLOURS.sub("", str(error)).strip().splitlines()[0].rstrip(".") + "."
