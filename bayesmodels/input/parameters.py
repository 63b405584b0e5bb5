"""Checks of parameters and settings, and of what is computed from checked ones."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from narwhals.dependencies import is_pandas_dataframe, is_pandas_series
from numpy.typing import NDArray

from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.containers import DROP_ROWS, first, listed, read, shown
from bayesmodels.input.domains import LARGEST_COUNT, LARGEST_MEASUREMENT, counts, finite, none
from bayesmodels.numerics import Array
from bayesmodels.numerics.triangular import EPS


def parameter(
    value: Any,
    argument: str,
    *,
    positive: bool = False,
    nonnegative: bool = False,
    most: float = LARGEST_MEASUREMENT,
) -> Array:
    """Check one parameter of a prior: finite numbers within their range; returned read-only.

    None is larger than `most`, so that squares, or sums of squares, stay finite.
    """
    try:
        result = finite(read(value, argument, bare=True))
    except DataError as error:
        raise PriorError(str(error).removesuffix(DROP_ROWS)) from None
    low = (result <= 0) if positive else (result < 0) & nonnegative
    sign = "be positive" if positive else "be zero or positive"
    none(low, result, argument, sign, error=PriorError)
    size = f"not exceed {most:g} in size, beyond which float64 overflows"
    none(np.abs(result) > most, result, argument, size, error=PriorError)
    result = result.copy()
    result.setflags(write=False)
    return result


def names_of(
    names: Sequence[Hashable] | None, argument: str, **parameters: Any
) -> Sequence[Hashable] | None:
    """Return the names along the last axis of parameters, which must not have different ones.

    They are the `names` passed as an `argument`, or else those of a pandas series or frame.
    """
    for name, value in parameters.items():
        if not (is_pandas_series(value) or is_pandas_dataframe(value)):
            continue
        axis = value.axes[-1]
        if type(axis).__name__ == "RangeIndex":
            continue
        result = tuple(axis.tolist())
        if names is None:
            names, argument = result, name
        elif result != tuple(names):
            raise PriorError(
                f"{name}: must have the labels of {argument} {listed(tuple(names))}, in this "
                f"order; got {listed(result)}. Reorder it, or drop its labels (.to_numpy())."
            )
    return names


def number_of_columns(names: Sequence[Hashable] | None, mean: Array, matrix: Array) -> int:
    """Return the number of coefficients, by their names or the shapes of mean and matrix."""
    if names is not None:
        return len(names)
    if mean.ndim:
        return mean.shape[-1]
    return matrix.shape[-1] if matrix.ndim else 1


def coords_of(coords: Any, **parameters: Any) -> Any:
    """Return coordinates of a batch: those given, or the labels of parameters that are series."""
    if coords:
        names_of(list(coords.values())[-1], "coords", **parameters)
        return coords
    result = names_of(None, "coords", **parameters)
    series = any(getattr(value, "ndim", 0) == 1 for value in parameters.values())
    return {"dim_0": result} if result is not None and series else coords


def broadcast(**parameters: Array) -> tuple[Array, ...]:
    """Broadcast parameters of a prior to one shape."""
    try:
        return np.broadcast_arrays(*parameters.values())
    except ValueError:
        shapes = " and ".join(str(value.shape) for value in parameters.values())
        raise PriorError(
            f"{', '.join(parameters)}: must have shapes that fit each other; got {shapes}. Give "
            "one number for all, or one for each member of the batch."
        ) from None


def totals(value: Any, argument: str, *, counted: bool = False) -> Array:
    """Check entries of a sufficient statistic: finite, not negative, and if `counted` countable."""
    result = finite(read(value, argument, bare=True))
    hint = " To take rows out, subtract their statistic: all - some."
    none(result < 0, result, argument, "not be negative", hint)
    if counted:
        _countable(result, argument)
    result = result.copy()
    result.setflags(write=False)
    return result


def _countable(total: Any, argument: str) -> None:
    rule = "be below 2**53, where one row more would make no difference"
    hint = " Keep these rows apart, or let each count as less: statistic.discounted(rho)."
    none(total >= LARGEST_COUNT, total, argument, rule, hint)


def build[V](kind: type[V], *fields: Any) -> V:
    """Return a belief or statistic with these fields, in order, checked for overflow alone.

    A `DataError` says that a number is so large that float64 overflows, or rows can't be counted.
    """
    value = object.__new__(kind)
    names = kind.__match_args__  # type: ignore[attr-defined]
    for name, field in zip(names, fields, strict=False):
        # What is added up of single numbers is no array.
        result = np.asarray(field) if isinstance(field, np.generic) else field
        counted = name in _COUNTED
        if isinstance(result, np.ndarray):
            fine = np.abs(result) <= (LARGEST_COUNT - 1 if counted else LARGEST_SQUARE)
            if not (fine.all() if result.ndim else fine):  # false of NaN
                if counted:
                    _countable(result, name)
                raise DataError(
                    f"{'mean' if name == 'location' else name}: is beyond what float64 can compute "
                    "with. Choose a larger unit, or fewer rows."
                )
            result.setflags(write=False)
        elif counted:
            _countable(result, name)
        object.__setattr__(value, name, result)
    return value


_COUNTED = ("ones", "zeros", "counts", "n")


def alike(one: Any, other: Any, kind: type) -> None:
    """Check that statistics are of one kind, with as many columns or categories."""
    if not isinstance(other, kind):
        raise DataError(
            "data: statistics that are merged or taken out must be of one model; got "
            f"{type(one).__name__} and {type(other).__name__}. Make both with model.statistic."
        )


def upper_triangular(factor: Array, shape: tuple[int, ...]) -> None:
    """Check that a factor has this shape and is upper triangular, its diagonal not negative."""
    fits = factor.shape == shape and not np.tril(factor, -1).any()
    if not fits or (np.diagonal(factor, axis1=-2, axis2=-1) < 0).any():
        raise DataError(
            f"factor: must be upper triangular of shape {shape}, its diagonal not negative; got "
            f"shape {factor.shape}. Take it of QR or Cholesky."
        )


def symmetric(matrix: Array, argument: str, error: type[Exception] = PriorError) -> None:
    """Check that matrices are symmetric, as far as rounding lets them be."""
    mirrored = np.swapaxes(matrix, -1, -2)
    if not np.allclose(matrix, mirrored, rtol=1e-12, atol=0):
        at = tuple(np.argwhere(~np.isclose(matrix, mirrored, rtol=1e-12, atol=0))[0].tolist())
        opposite = (*at[:-2], at[-1], at[-2])
        raise error(
            f"{argument}: must be a symmetric matrix; its entries {at} and {opposite} are "
            f"{matrix[at]:g} and {matrix[opposite]:g}. Symmetrise it: (M + M.T) / 2."
        )


def cholesky_factor(
    matrix: Array,
    argument: str,
    hint: str,
    *,
    least: float = 0.0,
    error: type[Exception] = PriorError,
) -> Array:
    """Return the lower factor of matrices that are symmetric and positive definite.

    A pivot of at most `least` of its variance counts as none.
    """
    symmetric(matrix, argument, error)
    definite = True
    try:
        root = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        definite = False
    if definite and least:
        pivots, variances = (np.diagonal(x, axis1=-2, axis2=-1) for x in (root, matrix))
        definite = bool((pivots**2 > least * variances).all())
    if definite:
        return root
    smallest = np.linalg.eigvalsh(matrix).min()
    raise error(
        f"{argument}: must be positive definite; its smallest eigenvalue is {smallest:.3g}.{hint}"
    )


def variable(values: Mapping[str, Any], name: str, argument: str = "parameters") -> Any:
    """Return a variable by its name."""
    if name not in values:
        raise DataError(f"{argument}: must hold {name!r}; has {list(values)}.")
    return values[name]


def left_over(difference: Any, size: Any, argument: str) -> Array:
    """Return what is left of a total less a part, which must not be negative.

    `size` is the size of both, whose rounding may have put the difference below zero.
    """
    result = np.asarray(difference, dtype=float)
    below = result < -_ROUNDINGS * EPS * np.asarray(size)
    if below.any():
        at = first(below)
        place = f" at position {at[0] if len(at) == 1 else at}" if at else ""
        raise DataError(
            f"{argument}: rows to be taken out must be among those that are there; "
            f"{result[at]:g} would be left{place}."
        )
    return np.maximum(result, 0.0)


_ROUNDINGS = 64
"""Of a sum of squares over any number of rows that are added up in pairs."""


def integers(value: Any, argument: str, least: int = 0) -> NDArray[np.int64]:
    """Check a whole number or an array of them, each at least `least`."""
    numbers = counts(read(value, argument, bare=True))
    none(numbers < least, numbers, argument, f"be at least {least}")
    return numbers


LARGEST_SQUARE = 1e305
"""Of scales and sums of squares: measurements have squares up to 1e300."""

_REAL = (int, float, np.integer, np.floating)


def _one(value: Any) -> Any:
    """Return a real number as it is or in an array of one entry; None for anything else."""
    number = value[()] if isinstance(value, np.ndarray) else value
    return number if isinstance(number, _REAL) else None


def count(value: Any, argument: str, least: int = 0) -> int:
    """Check one whole number, at least `least`."""
    number = _one(value)
    if number is None or number % 1 != 0 or number < least:
        raise DataError(
            f"{argument}: must be at least {least}, one whole number; got {shown(value)}."
        )
    return int(number)


def proportion(value: Any, argument: str) -> float:
    """Check one number strictly between 0 and 1."""
    number = _one(value)
    if number is None or not 0 < number < 1:
        raise DataError(f"{argument}: must be strictly between 0 and 1; got {shown(value)}.")
    return float(number)


def randomness(rng: Any) -> np.random.Generator:
    """Return a source of randomness: a generator as it is, one of a seed, or a fresh one."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise DataError(
            "rng: must be a numpy.random.Generator, a seed such as 1, or None for fresh "
            f"randomness; got {shown(rng)}."
        ) from None


def asked(draws: Any, rng: Any) -> tuple[int, np.random.Generator]:
    """Check a number of draws and a seed; return the number and a generator."""
    return count(draws, "draws", 1), randomness(rng)


def drawn(draws: Mapping[str, Any], name: str) -> NDArray[Any]:
    """Return the values of a variable among draws."""
    if name not in draws:
        raise DataError(f"draws: must have the variable {name!r}; has {list(draws)}.")
    return np.asarray(draws[name])


def positive(draws: Mapping[str, Any], name: str) -> tuple[Array, NDArray[np.bool_]]:
    """Return values of a positive variable, ones for negative values, and where those are."""
    values = drawn(draws, name)
    outside = np.asarray(values < 0)
    return np.where(outside, 1.0, values), outside
