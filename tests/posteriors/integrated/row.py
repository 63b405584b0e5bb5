"""What a row of the table of integrated models is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytensor

from tests.posteriors.check import AS_WRITTEN
from tests.posteriors.entry import opened
from tests.posteriors.integrated.quadrature import integrated


@dataclass(frozen=True)
class Row:
    """A model as a user would write it, and its posterior by quadrature of a density by hand.

    Attributes
    ----------
    name : str
        Shown in the names of the tests.
    build : callable
        Makes the PyMC model afresh, with every number in double precision.
    scalars : dict
        What remains: by variable its line and its size (see `quadrature.integrated`).
    density : callable
        The log density of what remains and, with a block, its means and variances.
    options : dict
        As `quadrature.integrated` takes them.
    proper : bool
        Every prior is proper, so that there is a log evidence.
    """

    name: str
    build: Callable[[], Any]
    scalars: dict[str, Any]
    density: Callable[..., Any]
    options: dict[str, Any]
    proper: bool = True

    def reference(self):
        """Return the `quadrature.Figures`."""
        return integrated(self.scalars, self.density, **self.options)


def as_written(build):
    """Return what builds a model of which PyTensor keeps no number in single precision."""

    def built():
        with pytensor.config.change_flags(**AS_WRITTEN):
            return build()

    return built


def row(density, *, own=False, proper=True, rows=100, start=None, without=(), **scalars):
    """Put a function that fills a model beside the density of the scalars that remain.

    A scalar is given by its line, a vector by its line and its size. If `own`, the function returns
    a model that it made itself.
    """
    given = {
        name: line if isinstance(line, tuple) else (line, None) for name, line in scalars.items()
    }
    return lambda fill: Row(
        fill.__name__.replace("_", " "),
        as_written(fill if own else opened(fill)),
        given,
        density,
        {"rows": rows, "start": start, "without": without},
        proper,
    )
