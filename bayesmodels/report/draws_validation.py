"""Two sets of draws, of any samplers or libraries, and the referee's verdict on them."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels import __version__
from bayesmodels.belief import notebook
from bayesmodels.draws import load
from bayesmodels.errors import DataError
from bayesmodels.referee import Verdict, compare
from bayesmodels.referee.verdict import TOLERANCE, Outcome

if TYPE_CHECKING:
    import xarray as xr

_GROUPS = ("posterior", "sample_stats")  # of which the page tells
_PACKAGES = ("numpy", "scipy", "arviz", "xarray")


@dataclass(frozen=True)
class DrawsReport:
    """What `validate_draws` found.

    Attributes
    ----------
    names : (str, str)
        What the two sets are called: paths, if they were files.
    comparison : Verdict
        The first set against the second.
    first, second : xarray.DataTree
        The draws; `sample_stats` too, where there are any.
    variables : tuple of str or None
        Those that were compared, if they were chosen.
    files : bool
        Whether both sets were files.
    source : str
        Where the draws come from, in words; may be empty.
    settings, seconds, versions : dict
        As in `Report`.
    """

    names: tuple[str, str]
    comparison: Verdict
    first: xr.DataTree
    second: xr.DataTree
    variables: tuple[str, ...] | None
    files: bool
    source: str
    settings: dict[str, Any]
    seconds: dict[str, float]
    versions: dict[str, str]

    @property
    def title(self) -> str:
        """For the head of a page."""
        return "Two sets of draws"

    @property
    def outcome(self) -> Outcome:
        """The verdict on the draws."""
        return self.comparison.outcome

    @property
    def same(self) -> bool:
        """Whether the two sets are the same draws, such as one file given twice."""
        table = self.comparison.table
        parts = ("mean", "sd", "eti89_lb", "eti89_ub")
        return all((table[f"first_{part}"] == table[f"second_{part}"]).all() for part in parts)

    def sentences(self) -> list[str]:
        """Say the verdict in words, the most important first."""
        head = {
            "agree": "Either set of draws can stand for the other.",
            "disagree": "A sampler is wrong, or the two models are not the same.",
            "inconclusive": "The draws are too few to judge, or have not mixed.",
        }
        if self.same:
            head["agree"] = "Both sets hold the same draws, which says nothing about either."
        first, second = self.names
        said = f"First set: {first}; second set: {second}. Findings speak of the first."
        return [head[self.outcome], self.comparison.sentence(), said]

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML file, whole or not at all.

        Parameters
        ----------
        path : path-like
            The file to write; its folder must exist.
        """
        from bayesmodels.report.html import write

        write(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values, for JSON; None for what is no finite number."""
        found = self.comparison
        table = found.table.astype(object).where(np.isfinite(found.table), None)
        return {
            "title": self.title,
            "source": self.source,
            "first": self.names[0],
            "second": self.names[1],
            "outcome": self.outcome,
            "sentences": [*self.sentences(), *found.findings],
            "largest_z": found.largest.z,
            "smallest_ess": min(test.ess for test in found.tests),
            "largest_r_hat": _known(float(found.table["r_hat"].max())),
            "bound": _known(found.bound),
            "more": None if found.more is None else _known(found.more),
            "variables": None if self.variables is None else list(self.variables),
            "table": table.to_dict(orient="index"),
            "settings": self.settings,
            "versions": self.versions,
        }

    def _repr_html_(self) -> str:
        said, further = self.sentences(), self.comparison.findings[1:]
        return notebook.judged(self.title, self.outcome, said, further, self.comparison.table)

    def __repr__(self) -> str:
        return f"DrawsReport({self.names[0]!r}, {self.names[1]!r}, {self.outcome!r})"


def validate_draws(
    first: Any,
    second: Any,
    *,
    var_names: Sequence[str] | None = None,
    level: float = 0.01,
    tolerance: float = TOLERANCE,
    names: tuple[str, str] | None = None,
    source: str = "",
    progress: Callable[[str], object] = lambda _: None,
) -> DrawsReport:
    """Compare two sets of draws of one posterior, of any samplers or libraries, as a report.

    What is compared, and how, is `bayesmodels.compare`'s; ``bayesmodels compare`` is the same on
    the command line.

    Parameters
    ----------
    first, second : path-like, xarray.DataTree, xarray.Dataset or mapping
        Files of draws (netCDF-4 or zarr; DataTree or the older InferenceData), or draws in memory:
        a group ``posterior``, or variables with the axes (chain, draw, ...).
    var_names : sequence of str, optional
        The variables to be compared; if not given, both sets must have the same.
    level : float, default 0.01
        Probability of ``disagree`` if both sets come from one law.
    tolerance : float, default 0.1
        To agree, all locations must be within so many standard deviations of each other, and all
        spreads within that part of each other, at 95 % confidence each.
    names : (str, str), optional
        What the sets are called; of files, their paths.
    source : str, optional
        Where the draws come from; stands in the report.
    progress : callable, optional
        Told, in words, what is being done.

    Returns
    -------
    DrawsReport
        With `outcome`, `sentences`, `to_html` and `comparison`, the verdict.

    Raises
    ------
    DataError
        If a file is missing, can't be read or holds no draws of a posterior, or as `compare` does.

    See Also
    --------
    bayesmodels.compare : the verdict alone, also on draws against an exact law.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> law = bm.BetaBernoulli(5, 19)
    >>> one, other = (law.to_datatree(rng=np.random.default_rng(seed)) for seed in (1, 2))
    >>> report = bm.validate_draws(one, other)
    >>> report.outcome
    'agree'
    >>> report.sentences()[0]
    'Either set of draws can stand for the other.'
    """
    seconds = {}
    begun = time.perf_counter()
    progress("reading draws")
    paths = [isinstance(given, str | os.PathLike) for given in (first, second)]
    sides = [
        _read(given, which) if path else given
        for given, which, path in zip((first, second), ("first", "second"), paths, strict=True)
    ]
    seconds["reading"] = time.perf_counter() - begun
    begun = time.perf_counter()
    progress("comparing draws")
    found = compare(*sides, level=level, tolerance=tolerance, var_names=var_names)
    seconds["comparison"] = time.perf_counter() - begun
    called = names or (
        str(first) if paths[0] else "draws in memory",
        str(second) if paths[1] else "draws in memory",
    )
    versions = {"bayesmodels": __version__, "python": platform.python_version()}
    return DrawsReport(
        names=(called[0], called[1]),
        comparison=found,
        first=_tree(sides[0]),
        second=_tree(sides[1]),
        variables=None if var_names is None else tuple(var_names),
        files=all(paths),
        source=source,
        settings={"level": level, "tolerance": tolerance},
        seconds=seconds,
        versions=versions | {name: version(name) for name in _PACKAGES},
    )


def _read(path: str | os.PathLike[str], which: str) -> xr.DataTree:
    """Return draws of a file, and what the sampler tells of them."""
    import xarray as xr

    tree = load(path, _GROUPS)
    if "posterior" in tree.children:
        return tree
    root = tree.to_dataset()
    if {"chain", "draw"} <= set(root.dims):  # a dataset that was saved as such
        return xr.DataTree.from_dict({"posterior": root})
    groups = ", ".join(map(str, load(path).children)) or "none"
    msg = (
        f"{which}: {str(path)!r} must have a group posterior, or variables with the axes chain and "
        f"draw; its groups: {groups}."
    )
    raise DataError(msg)


def _tree(given: Any) -> xr.DataTree:
    """Return draws in any form as a tree."""
    import xarray as xr
    from arviz_base import convert_to_dataset

    if isinstance(given, xr.DataTree) and "posterior" in given.children:
        return given
    return xr.DataTree.from_dict({"posterior": convert_to_dataset(given)})


def _known(x: float) -> float | None:
    return x if np.isfinite(x) else None
