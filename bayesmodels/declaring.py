"""PyMC models made of beliefs, each of which adds its own part under the names that it is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from bayesmodels.labels import Coords
from bayesmodels.protocol import Declarable, Likelihood

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class Names:
    """What a belief's variables and axes are called in the model that it is a part of.

    Parameters
    ----------
    variables, axes : mapping, optional
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
        """Let the current PyMC model know labelled axes; return their new names."""
        import pymc as pm

        model = cast("pm.Model", pm.modelcontext(None))
        new = self.coords(coords)
        for axis, labels in new.items():
            if axis not in model.coords:
                model.add_coord(axis, labels)
        return tuple(new)


def declare(self: Declarable, data: Any, likelihood: Likelihood = "rows") -> pm.Model:
    """Return prior and likelihood as a PyMC model.

    Parameters
    ----------
    data : rows or statistic
        As in `statistic`. A statistic needs ``likelihood="statistic"``.
    likelihood : {"rows", "statistic"}
        Observe every row, or only the sufficient statistic: the same density at a cost that does
        not grow with the number of rows.

    Returns
    -------
    pymc.Model
        Its free variables, their dims and coords are those of the belief; the rows are observed
        under the names of `observed`.

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
        self.add_to_model(data, likelihood, Names())
    return model
