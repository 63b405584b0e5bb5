"""Statistics of many parts, merged in pairs of about equal size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bayesmodels.belief.protocol import Statistic
from bayesmodels.errors import DataError
from bayesmodels.store import load


class Fold:
    """A sum in which only sums of equally many parts are added, like carries of a binary counter.

    Of n parts log2 n sums are kept, and each part takes part in as many additions, so that rounding
    grows with log2 n and not with n.
    """

    def __init__(self, sums: Sequence[Any] = ()) -> None:
        self.sums: list[Any] = list(sums)  # of 1, 2, 4, ... parts; None where there is none

    def add(self, part: Any) -> None:
        """Add a statistic."""
        for place, known in enumerate(self.sums):
            if known is None:
                self.sums[place] = part
                return
            part, self.sums[place] = known + part, None
        self.sums.append(part)

    def total(self) -> Any:
        """Return the sum of all parts; None if there was none."""
        total = None
        for part in self.sums:
            if part is not None:
                total = part if total is None else part + total
        return total


def fold(parts: Iterable[Any]) -> Any:
    """Return the sum of statistics; None if there is none.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> fold(bm.statistics.BernoulliStatistic(1, k) for k in range(5))
    BernoulliStatistic(ones=5, zeros=10)
    """
    result = Fold()
    for part in parts:
        result.add(part)
    return result.total()


def merge(paths: Sequence[str | os.PathLike[str]]) -> Any:
    """Return the statistic of all rows whose parts were saved in files, in any order.

    Parameters
    ----------
    paths : sequence of path-like
        Files of `save`. They are only read.

    Returns
    -------
    Statistic

    Raises
    ------
    DataError
        If there is no file, one is given twice, or files cannot be read or do not fit the first:
        all of these are named, and nothing is merged.

    Examples
    --------
    >>> import tempfile, bayesmodels as bm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm.save(bm.statistics.BernoulliStatistic(3, 1), f"{folder}/a.json")
    ...     bm.save(bm.statistics.BernoulliStatistic(2, 5), f"{folder}/b.json")
    ...     bm.scale.merge([f"{folder}/a.json", f"{folder}/b.json"])
    BernoulliStatistic(ones=5, zeros=6)
    """
    if not paths:
        raise DataError("paths: must name at least one file; got none.")
    seen: set[Path] = set()
    for path in paths:
        if (real := Path(path).resolve()) in seen:
            raise DataError(
                f"paths: {str(path)!r} is given twice; its rows would be counted twice."
            )
        seen.add(real)
    complaints: list[str] = []
    result = Fold()
    first: Any = None
    for path in paths:
        try:
            part = load(path)
            _check_fit(part if first is None else first, part, path)
            first = part if first is None else first
        except DataError as error:
            complaints.append(str(error))
            continue
        result.add(part)
    if complaints:
        raise DataError(
            f"{len(complaints)} of {len(paths)} files cannot be merged. " + " ".join(complaints)
        )
    return result.total()


def _check_fit(first: Any, part: Any, path: str | os.PathLike[str]) -> None:
    """Refuse a statistic of another model, before it meets a sum of others."""
    if not isinstance(part, Statistic):
        raise DataError(f"{path}: holds a {type(part).__name__}, which is no statistic.")
    if type(part) is not type(first):
        raise DataError(
            f"{path}: holds a {type(part).__name__}, the files before it a {type(first).__name__}."
        )
    try:
        first.without_rows() + part.without_rows()
    except DataError as error:
        raise DataError(f"{path}: does not fit the files before it: {error}") from None
