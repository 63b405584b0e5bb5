"""Draws of a mixture against its exact posterior, by quantities that no order of classes changes.

These have no closed law. Many exact draws stand for it, and their own noise is reckoned with: `n`
of them against `ess` effective draws are as good as one law against 1 / (1 / ess + 1 / n).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.numerics.empirical_law import EmpiricalLaw
from bayesmodels.referee.named_laws import NamedLaws

REFERENCE = 40_000
"""Exact draws that stand for the law."""


class InvariantLaw(NamedLaws):
    """What a posterior says of quantities that do not depend on the order of the classes."""

    reference = REFERENCE


def invariant_law(
    posterior: Any, draws: Any, data: Any, rng: np.random.Generator
) -> tuple[InvariantLaw, dict[str, Array]]:
    """Return the exact law of invariant quantities, and the same quantities of draws."""
    exact = posterior.label_invariants(posterior.sample(REFERENCE, rng), data)
    law = InvariantLaw({name: EmpiricalLaw(x) for name, x in exact.items()})
    return law, posterior.label_invariants(draws, data)
