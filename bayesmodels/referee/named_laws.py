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
from bayesmodels.numerics import Array
from bayesmodels.numerics.empirical_law import EmpiricalLaw


def are_laws(value: Any) -> bool:
    """Say whether this is a mapping from names to laws."""
    return (
        isinstance(value, Mapping)
        and len(value) > 0
        and all(isinstance(law, DistributionFunction) for law in value.values())
    )


@dataclass(frozen=True)
class NamedLaws:
    """Laws by name, each elementwise over its shape; how they hang together is not said."""

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


REFERENCE = 40_000
"""Exact draws that stand for a law without a closed form."""


class InvariantLaw(NamedLaws):
    """What a mixture's posterior says of quantities that no order of its classes changes.

    They have no closed law. Many exact draws stand for it, and their own noise is reckoned with:
    `n` of them against `ess` effective draws are as good as one law against 1 / (1 / ess + 1 / n).
    """

    reference = REFERENCE


def invariant_law(
    posterior: Any, draws: Any, data: Any, rng: np.random.Generator
) -> tuple[InvariantLaw, dict[str, Array]]:
    """Return the exact law of invariant quantities, and the same quantities of draws."""
    exact = posterior.label_invariants(posterior.sample(REFERENCE, rng), data)
    law = InvariantLaw({name: EmpiricalLaw(x) for name, x in exact.items()})
    return law, posterior.label_invariants(draws, data)
