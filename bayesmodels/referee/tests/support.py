"""Impossible draws: where the law's own density is zero, one is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array, threads
from bayesmodels.referee.tests.kind import TINY, Kind, Test

SUPPORT = Kind(
    "support", "support", "{draws} impossible: the density there is zero.",
    needs_ess=False, order=1,
)  # fmt: skip
KINDS = (SUPPORT,)


def log_densities(law: Any, draws: dict[str, Array], axes: int) -> Array:
    """Return joint log densities over leading axes of draws; of separate problems, of all together.

    It is -inf where there is none, such as at a matrix that is not positive definite.
    """
    sizes = next(iter(draws.values())).shape[:axes]
    flat = {name: x.reshape(-1, *x.shape[axes:]) for name, x in draws.items()}

    def of_piece(piece: slice) -> Array:
        values = {name: x[piece] for name, x in flat.items()}
        with np.errstate(all="ignore"):
            try:
                value = np.asarray(law.log_density(values))
            except (np.linalg.LinAlgError, DataError):
                number = len(next(iter(values.values())))
                if number == 1:
                    return np.array([-np.inf])
                start = piece.start
                return np.concatenate(
                    [of_piece(slice(start + k, start + k + 1)) for k in range(number)]
                )
            return value.reshape(len(value), -1).sum(-1)

    largest = max(flat.values(), key=np.size)
    # One after the other: compiled graphs of PyTensor must not run on two threads at once.
    value = np.concatenate([of_piece(piece) for piece in threads.blocks(largest)]).reshape(sizes)
    return np.where(np.isnan(value), -np.inf, value)


def support_tests(
    law: Any, draws: dict[str, Array], seen: Array, rng: np.random.Generator
) -> list[Test]:
    """Return a test of each variable that has impossible values, where `seen` densities are zero.

    If the density stays zero beside exact draws of all others, the variable alone is to blame.
    """
    impossible = seen == -np.inf
    number = int(impossible.sum())
    if not number:
        return []
    exact = law.sample(number, rng)
    result = {}
    for name, x in draws.items():
        densities = log_densities(law, {**exact, name: x[impossible]}, 1)
        if count := int((densities == -np.inf).sum()):
            result[name] = count
    result = result or {" and ".join(draws): number}
    z = float(stats.norm.isf(TINY / 2))
    return [
        Test(name, SUPPORT.name, -z, float(seen.size), TINY, draws=count)
        for name, count in result.items()
    ]
