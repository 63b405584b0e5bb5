"""PyMC models made of beliefs, each of which adds its own part under the names that it is told."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayesmodels.belief.protocol import Conjugate, Declarable, Likelihood, Statistic
from bayesmodels.errors import DataError
from bayesmodels.input.data import Split, sparse, weighted
from bayesmodels.input.labels import Coords
from bayesmodels.input.wrappers import PER_ROW, Design, Grouped, MultinomialCounts

if TYPE_CHECKING:
    import pymc as pm


def is_pymc(model: Any) -> bool:
    """Say whether this is a PyMC model, without loading PyMC to find out that it is not."""
    pymc = sys.modules.get("pymc")
    return pymc is not None and isinstance(model, pymc.Model)


@dataclass(frozen=True)
class Names:
    """What a belief's variables and axes are called in the model that it is a part of.

    New names by own names; a name that is not there stays as it is.

    Examples
    --------
    >>> names = Names({"theta": "pi"}, {"category": "class"})
    >>> names("theta"), names("x"), names.axes(["category", "row"])
    ('pi', 'x', ('class', 'row'))
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    axis_names: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, variable: str) -> str:
        """Return the new name of a variable."""
        return self.variables.get(variable, variable)

    def axes(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Return the new names of axes."""
        return tuple(self.axis_names.get(axis, axis) for axis in axes)

    def coords(self, coords: Coords) -> Coords:
        """Return labels of axes under their new names."""
        return dict(zip(self.axes(coords), coords.values(), strict=True))

    def labelled(self, coords: Coords) -> tuple[str, ...]:
        """Add labelled axes to the current PyMC model; return their new names."""
        import pymc as pm

        model = cast("pm.Model", pm.modelcontext(None))
        new = self.coords(coords)
        for axis, labels in new.items():
            if axis not in model.coords:
                model.add_coord(axis, labels)
        return tuple(new)


MOST_ROWS = 10_000
"""Of more rows a PyMC model holds the statistic, unless it is told otherwise."""


def declare(self: Declarable, data: Any, likelihood: Likelihood | None = None) -> pm.Model:
    """Return prior and likelihood as a PyMC model.

    Parameters
    ----------
    data : rows or statistic
        As in `statistic`.
    likelihood : {"rows", "statistic"}, optional
        Observe every row, or hold only the sufficient statistic: the same density at a cost that
        does not grow with the number of rows. By default rows, up to 10,000 of them, and the
        statistic of more, of weighted rows, of sparse counts and of what is a statistic already.

    Returns
    -------
    pymc.Model
        Its free variables, their dims and coords are those of the belief; rows are observed under
        the names of `observed`, a statistic under none.

    Raises
    ------
    DataError
        If rows are asked for that the data do not have: they are a statistic, or weighted.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.BetaBernoulli(2, 2).declare([1, 0, 0])["theta"].name
    'theta'
    """
    import pymc as pm

    with pm.Model() as model:
        self.add_to_model(data, likelihood or likelihood_of(self, data), Names())
    return model


def check_declarable(data: Any, likelihood: str) -> None:
    """Check that a PyMC model with this likelihood can be declared from these data."""
    if likelihood not in ("rows", "statistic"):
        raise DataError(f"likelihood: must be 'rows' or 'statistic'; got {likelihood!r}.")
    if likelihood == "rows" and isinstance(data, Statistic):
        raise DataError(
            "data: a statistic has forgotten its rows; pass the rows, or declare the model with "
            "likelihood='statistic'."
        )
    if likelihood == "rows" and weighted(data):
        raise DataError(
            "data: weighted rows are declared from their statistic: likelihood='statistic'."
        )


def prior_and_statistic(belief: Any, data: Any, likelihood: str) -> tuple[Any, Any]:
    """Return the prior with the data's axes, and their statistic; refuse what can't be declared."""
    check_declarable(data, likelihood)
    s = belief.statistic(data)
    return belief.update(s.without_rows()), s


def likelihood_of(model: Any, data: Any) -> Likelihood:
    """Return how data are declared unless one says how: by their rows, or by their statistic.

    A model without a statistic has rows only.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> coin = bm.BetaBernoulli(1, 1)
    >>> likelihood_of(coin, np.zeros(10_000)), likelihood_of(coin, np.zeros(10_001))
    ('rows', 'statistic')
    """
    if not isinstance(model, Conjugate):
        return "rows"
    if isinstance(data, Statistic) or weighted(data) or _sparse(data):
        return "statistic"
    try:
        return "statistic" if number_of_rows(data) > MOST_ROWS else "rows"
    except (TypeError, IndexError):  # no rows, for which the model has its own words
        return "rows"


def number_of_rows(data: Any) -> int:
    """Return how many rows there are."""
    if isinstance(data, MultinomialCounts) and np.ndim(data.counts) == 1:
        return 1
    if isinstance(data, Split):
        return number_of_rows(data.rows)
    if isinstance(data, Design):
        return number_of_rows(data.target)
    if (names := PER_ROW.get(type(data))) is not None:
        return number_of_rows(getattr(data, names[0]))
    if isinstance(data, tuple) and len(data) == 2:  # noqa: PLR2004 - X and y
        return number_of_rows(data[1])
    return int(data.shape[0]) if sparse(data) else len(data)


def _sparse(data: Any) -> bool:
    """Return whether some rows are a sparse table, whose dense form may not fit into memory."""
    if isinstance(data, (Grouped, Split)):
        return _sparse(data.rows)
    if isinstance(data, MultinomialCounts):
        return sparse(data.counts)
    if isinstance(data, Design):
        return _sparse(data.features)
    if isinstance(data, tuple):
        return any(map(_sparse, data))
    if isinstance(data, Mapping):
        return any(map(_sparse, data.values()))
    return sparse(data)
