"""Laws by name in the place of a belief: of predictions, or of anything whose law is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesmodels.belief import reading
from bayesmodels.belief.protocol import DistributionFunction, Law
from bayesmodels.input.labels import Coords


def are_laws(given: Any) -> bool:
    """Say whether this is a mapping from names to laws."""
    return (
        isinstance(given, Mapping)
        and len(given) > 0
        and all(isinstance(law, DistributionFunction) for law in given.values())
    )


@dataclass(frozen=True)
class NamedLaws:
    """Laws by name, each elementwise over its shape; how they hang together is not said.

    Attributes
    ----------
    laws : mapping
        From names to laws, such as frozen SciPy distributions.
    """

    laws: Mapping[str, Law]

    @cached_property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of every variable, as ArviZ calls them."""
        return {
            name: tuple(f"{name}_dim_{axis}" for axis in range(np.ndim(law.std())))
            for name, law in self.laws.items()
        }

    @cached_property
    def coords(self) -> Coords:
        """Numbers along every axis."""
        return {
            f"{name}_dim_{axis}": tuple(range(size))
            for name, law in self.laws.items()
            for axis, size in enumerate(np.shape(law.std()))
        }

    def marginals(self) -> dict[str, Law]:
        """Return the laws."""
        return dict(self.laws)

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
