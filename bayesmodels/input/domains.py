"""Whether values lie where they should: finite, 0 or 1, whole, probabilities, categories."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayesmodels.errors import DataError
from bayesmodels.input.containers import (
    NUMBERS,
    Argument,
    Values,
    first,
    listed,
    missing_message,
    places,
    shown,
    sum_of_squares,
    where,
)
from bayesmodels.numerics import Array
from bayesmodels.numerics.checks import not_binary, not_codes, not_finite, not_within

ROUNDING = 1e-8
"""What probabilities may miss a sum of one by."""

LARGEST_COUNT = 2**53
"""Beyond it float64 cannot tell neighbouring whole numbers apart."""

LARGEST_MEASUREMENT = 1e150
"""Beyond it sums of squares overflow."""

_CUT = 1000  # numbers that are not worth being looked at in blocks


def none(
    bad: Any,
    values: Any,
    argument: str,
    rule: str,
    hint: str = "",
    error: type[Exception] = DataError,
) -> None:
    """Raise an error for the first bad value, if any; it states the rule that values must keep."""
    if np.any(bad):
        at = first(np.asarray(bad))
        place = f" at position {at[0] if len(at) == 1 else at}" if at else ""
        raise error(f"{argument}: must {rule}; got {np.asarray(values)[at]:g}{place}.{hint}")


def refuse(block: Argument, at: tuple[int, ...], rule: str, hint: str = "") -> NoReturn:
    """Raise an error that states the rule for an argument, and the value that breaks it."""
    value = block.values[at]
    text = f"{value:g}" if isinstance(value, np.floating) else shown(value)
    raise DataError(
        f"{block.argument}: must {rule}; {where(at, block.columns)} holds {text}.{hint}"
    )


def numbers(block: Argument) -> Values:
    """Return the values, which are finite numbers."""
    values = block.values
    if values.dtype.kind not in "biuf":
        if values.size == 0 and values.dtype == object:
            return values.astype(float)
        raise DataError(_not_numbers(block))
    at = not_finite(values)
    if at is not None:
        missing = np.isnan(values)
        if missing.any():
            raise DataError(missing_message(block.argument, missing))
        refuse(block, at, "be finite")
    return values


def _not_numbers(block: Argument) -> str:
    """Return the complaint about values that are no numbers; it shows the first of them."""
    values = block.values
    message = f"{block.argument}: must hold numbers; got dtype {values.dtype}"
    if values.size:
        at = _no_number(values)
        message += f"; {where(at, block.columns)} holds {shown(values[at])}"
    return f"{message}. Convert the values first."


def _no_number(values: Values) -> tuple[int, ...]:
    """Return the index of the first value that reads as no number, else of the first non-number."""
    wrong = [not _reads_as_number(value) for value in values.flat]
    if not any(wrong):
        wrong = [not isinstance(value, NUMBERS) for value in values.flat]
    return first(np.reshape(wrong, values.shape))


def _reads_as_number(value: object) -> bool:
    try:
        return complex(value).imag == 0  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return False


def not_squarable(values: Array) -> bool:
    """Return whether some value is NaN, infinite, or so large that squares overflow."""
    return not_within(values, LARGEST_MEASUREMENT) is not None


def squarable(values: Array, argument: str) -> None:
    """Check that squares of the values do not overflow."""
    at = not_within(values, LARGEST_MEASUREMENT)
    if at is not None:
        rule = f"not exceed {LARGEST_MEASUREMENT:g} in size, since squares are taken"
        refuse(Argument(argument, values), at, rule, " Choose a larger unit.")


def finite(block: Argument) -> Array:
    """Return the values as finite float64."""
    return np.asarray(numbers(block), dtype=np.float64)


def measured_in_dtype(block: Argument) -> Values:
    """Return finite numbers in their own float or integer dtype; sums are taken in float64."""
    if block.values.dtype in (np.float16, np.float32) or block.values.dtype.kind in "iu":
        return numbers(block)
    return measured(block)


def measured(block: Argument) -> Array:
    """Return the values as finite float64 whose squares do not overflow."""
    # One quick look says that all is well; only if not, others say what is wrong.
    square = sum_of_squares(block.values) if block.square is None else block.square
    if square is not None and square < LARGEST_MEASUREMENT**2:
        return block.values
    result = finite(block)
    squarable(result, block.argument)
    return result


def positive(block: Argument) -> Array:
    """Return the values, which are positive numbers."""
    values = finite(block)
    none(values <= 0, values, block.argument, "be positive")
    return values


def fractions(block: Argument) -> Array:
    """Return the values, which are numbers from 0 to 1."""
    values = finite(block)
    hint = " Divide counts by their total."
    none((values < 0) | (values > 1), values, block.argument, "be probabilities, from 0 to 1", hint)
    return values


def probabilities(block: Argument) -> Array:
    """Return the values, which add up to one along the last axis; rounding is divided away."""
    values = fractions(block)
    if values.ndim == 0:
        raise DataError(
            f"{block.argument}: must hold one probability for each case; got {values:g}."
        )
    adding_up(values, block.argument)
    return values / values.sum(-1, keepdims=True)


def adding_up(values: Array, argument: str) -> None:
    """Check that values add up to one along the last axis."""
    total = np.asarray(values.sum(-1))
    bad = np.abs(total - 1) > ROUNDING
    if bad.any():
        raise DataError(
            f"{argument}: must add up to one along the last axis; got a sum of "
            f"{total[first(bad)]:g}. Divide by the sum."
        )


def binary(block: Argument) -> Values:
    """Return the values, which are 0 or 1."""
    values = block.values
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    # One look says that all is well; only if not, others say what is wrong.
    if values.dtype.kind in "iuf" and (
        ((values == 0) | (values == 1)).all() if values.size <= _CUT else not_binary(values) is None
    ):
        return values
    values = numbers(block)
    at = not_binary(values)
    if at is not None:
        hint = " For numbers of successes use BinomialCounts(successes, trials)."
        refuse(block, at, "hold only 0 and 1 (or booleans)", hint)
    return values


def counts(block: Argument) -> NDArray[np.int64]:
    """Return the values, which are whole numbers that float64 can tell apart."""
    return whole_numbers(block).astype(np.int64)


def whole_numbers(block: Argument) -> Values:
    """Return whole numbers from 0 to 2**53 in their own dtype."""
    # One look says that all is well; only if not, another says what is wrong.
    if block.values.dtype.kind in "iuf" and not_codes(block.values, LARGEST_COUNT + 1) is None:
        return block.values
    values = numbers(block)
    at = not_codes(values, LARGEST_COUNT + 1)
    if at is not None:
        hint = " Correct it; what is measured, not counted, wants a model of numbers."
        refuse(block, at, "hold whole numbers from 0 to 2**53", hint)
    return values


def codes(
    block: Argument,
    levels: tuple[Hashable, ...] | None,
    size: int,
    other: Hashable | None = None,
    what: str = "categories",
) -> NDArray[np.integer]:
    """Return category numbers; a label that is none of the levels counts as `other`, if given."""
    values = block.values
    if block.levels is not None and block.levels == levels:
        return values
    if levels is None:
        if values.dtype.kind not in "biuf" and values.size:
            rule = f"hold category numbers 0 to {size - 1}, since the model was given no categories"
            hint = " Name them: DirichletCategorical(alpha, categories=[...])."
            refuse(block, _no_number(values), rule, hint)
        numbered = whole_numbers(block)
        place = not_codes(numbered, size)
        # Small whole numbers stay small: there may be many of them.
        small = numbered.dtype.kind in "iu" and numbered.dtype != np.uint64
        result = numbered if small else numbered.astype(np.intp)
    else:
        result = _places(block, levels)
        if other is not None:
            result = np.where(result < 0, levels.index(other), result)
        unknown = result < 0
        place = first(unknown) if unknown.any() else None
    if place is not None:
        known = f"0 to {size - 1}" if levels is None else listed(levels)
        hint = f" Declare all {what} in the prior."
        refuse(block, place, f"hold only the model's {what} {known}", hint)
    return result


def _places(block: Argument, levels: tuple[Hashable, ...]) -> NDArray[np.integer]:
    """Return the place of each label among the levels; -1 of others."""
    values = block.values
    result = _places_of_numbers(values, levels)
    if result is not None:
        return result
    import pandas as pd

    missing = np.asarray(pd.isna(values))
    if missing.any():
        raise DataError(missing_message(block.argument, missing))
    result = places(values.ravel(), levels).reshape(values.shape)
    for at in zip(*np.nonzero(result < 0), strict=True) if values.dtype == object else ():
        if not isinstance(values[at], Hashable):  # not even "other"
            refuse(block, at, "hold labels of categories, such as text or numbers")
    return result


_MOST_PLACES = 2**16


def _places_of_numbers(values: Values, levels: tuple[Hashable, ...]) -> NDArray[np.integer] | None:
    """Return the places of whole numbers by a lookup table; None if they do not fit one."""
    if values.dtype.kind not in "iu" or not all(type(level) is int for level in levels):
        return None
    numbers = np.array(levels)
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    if numbers.dtype.kind != "i" or high - low >= _MOST_PLACES:
        return None
    # With a place at either end for what lies outside.
    table = np.full(high - low + 3, -1, dtype=np.min_scalar_type(-len(levels)))
    table[numbers - low + 1] = np.arange(len(numbers))
    if values.dtype.itemsize > 2:  # noqa: PLR2004 - bytes: smaller ones cannot overflow below
        range_ = np.iinfo(values.dtype)
        least, most = (min(max(at, range_.min), range_.max) for at in (low - 1, high + 1))
        values = np.clip(values, least, most)
    return table.take(values.astype(np.intp) - (low - 1), mode="clip")
