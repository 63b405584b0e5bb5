"""Draws as scalars, labelled as ArviZ does."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesmodels.belief.protocol import Belief
from bayesmodels.belief.reading import group_of, levels, numbers, places
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array


def scalar_draws(law: Belief, draws: Any) -> list[tuple[str, str, tuple[int, ...], Array]]:
    """Return label, variable, index and the (chain, draw) array of every scalar.

    A variable that is missing, has another shape or holds NaN is refused.
    """
    group = group_of(draws)
    given, shapes = {}, {}
    for name, marginal in law.marginals().items():
        if name not in group:
            raise DataError(
                f"draws: must have the variable {name!r}; has {[str(v) for v in group]}."
            )
        shapes[name] = np.shape(marginal.std())
        shape = shapes[name][:-1] if name in levels(law) else shapes[name]
        values = np.asarray(group[name], dtype=float)
        if values.shape[2:] != shape:
            raise DataError(
                f"draws: {name!r} must have the axes (chain, draw) and then {shape}; got shape "
                f"{values.shape}."
            )
        if not np.isfinite(values).all():
            bad = int((~np.isfinite(values)).sum())
            raise DataError(f"draws: {name!r} holds {bad} values that are not finite.")
        given[name] = values
    result = []
    for name, values in numbers(law, given).items():
        places_last = np.moveaxis(values, (0, 1), (-2, -1))
        inner = places(law, name, shapes[name])
        result += [(label, name, at, places_last[at]) for label, at in inner]
    return result


def read_draws(law: Belief, draws: Any) -> dict[str, Array]:
    """Stand-in until the one reading of draws arrives."""
    scalar_draws(law, draws)
    group = group_of(draws)
    return {name: np.asarray(group[name]) for name in law.marginals()}
