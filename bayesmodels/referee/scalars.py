"""Draws as a law speaks of them, read once; and as scalars, labelled as ArviZ does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from bayesmodels.belief.protocol import Readable
from bayesmodels.belief.reading import numbers, places
from bayesmodels.input.draws import LEAST_DRAWS, read
from bayesmodels.numerics import Array

Scalars = list[tuple[str, str, tuple[int, ...], Array]]
"""Label, variable, index and the (chain, draw) array of every scalar."""

LEAST_CHAINS = 2
"""Chains, without which nobody can say whether they have mixed."""


class LawDraws(dict[str, Array]):
    """Draws of a law's variables, whose axes (chain, draw, ...) and labels are in its order."""

    def __init__(self, law: Any, arrays: Mapping[str, Array]) -> None:
        super().__init__(arrays)
        self.law = law

    @cached_property
    def scalars(self) -> Scalars:
        """Every scalar; of a finite variable, the indicator of each of its values."""
        result: Scalars = []
        for name, values in numbers(self.law, self).items():
            last = np.ascontiguousarray(np.moveaxis(values, (0, 1), (-2, -1)))
            every = places(self.law, name, last.shape[:-2])
            result += [(label, name, at, last[at]) for label, at in every]
        return result


def law_draws(law: Any, draws: Any, *, chains: int = 1, length: int = LEAST_DRAWS) -> LawDraws:
    """Read draws of a law's variables, unless they are read already.

    A variable that is missing, has other axes or labels, or holds what is no finite number is
    refused; so are fewer chains, or draws in each.
    """
    if isinstance(draws, LawDraws) and draws.law is law:
        return draws
    return LawDraws(law, read(draws, law.dims, law.coords, chains=chains, length=length))


def scalar_draws(law: Readable, draws: Any) -> Scalars:
    """Return the scalars of draws; see `law_draws`."""
    return law_draws(law, draws).scalars
