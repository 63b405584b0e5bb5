"""Independent draws from a function that was integrated on a lattice, by rejection."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.numerics.lattice import Lattice

_MARGIN = 1.1  # above the largest ratio that was seen
_PILOT = 2000
_AT_ONCE = 2**18  # points


def draws(
    lattices: Sequence[Lattice], weights: Array, number: int, rng: np.random.Generator
) -> Array:
    """Return independent points x, of shape (number, d), from lattices and their points' weights.

    Proposed are points between those of the lattice, with a density that is linear from one to the
    next along each axis; they are accepted by the ratio of the function to it.
    """
    masses, start = [], 0
    for lattice in lattices:
        masses.append(weights[start : start + len(lattice)].sum())
        start += len(lattice)
    counts = rng.multinomial(number, np.array(masses) / np.sum(masses))
    pairs = zip(lattices, counts, strict=True)
    parts = [_from_one(lattice, int(n), rng) for lattice, n in pairs if n]
    return rng.permutation(np.concatenate(parts))


def _from_one(lattice: Lattice, number: int, rng: np.random.Generator) -> Array:
    cubic = (lattice.places % 2 == 0).all(-1)
    places, logs = lattice.places[cubic] // 2, lattice.logs[cubic]
    shift = np.nanmax(logs)
    heights = np.exp(np.where(np.isnan(logs), -np.inf, logs) - shift)
    low = places.min(0) - 1
    sizes = places.max(0) + 2 - low
    keys = np.ravel_multi_index((places - low).T, sizes)
    order = np.argsort(keys)
    keys, sorted_heights = keys[order], heights[order]
    d = places.shape[1]
    corners = np.stack(np.meshgrid(*[[0, 1]] * d, indexing="ij"), -1).reshape(-1, d)
    chance = heights / heights.sum()

    def proposed(n: int) -> tuple[Array, Array]:
        """Return points x, and the ratio of the function to the proposal's density."""
        at = places[rng.choice(len(places), n, p=chance)]
        u = at + rng.random((n, d)) - rng.random((n, d))
        base = np.floor(u).astype(np.int64)
        part = u - base
        proposal = np.zeros(n)
        for corner in corners:
            key = np.ravel_multi_index((base + corner - low).T, sizes, mode="clip")
            spot = np.searchsorted(keys, key).clip(max=len(keys) - 1)
            height = np.where(keys[spot] == key, sorted_heights[spot], 0.0)
            proposal += height * np.where(corner, part, 1 - part).prod(-1)
        x, log_jacobian = lattice.frame.points(u * lattice.step)
        values = lattice.f(x)[0] + log_jacobian - shift
        with np.errstate(over="ignore"):
            ratio = np.exp(np.where(np.isnan(values), -np.inf, values)) / proposal
        return x, ratio

    return accepted(proposed, number, rng)


def accepted(
    proposed: Callable[[int], tuple[Array, Array]], number: int, rng: np.random.Generator
) -> Array:
    """Return so many of proposed points, accepted by their ratios (von Neumann 1951)."""
    bound = _MARGIN * proposed(_PILOT)[1].max()
    while True:
        kept: list[Array] = []
        while sum(map(len, kept)) < number:
            left = number - sum(map(len, kept))
            x, ratio = proposed(min(int(1.2 * bound * left) + 10, _AT_ONCE))
            if ratio.max() > bound:
                break
            kept.append(x[rng.random(len(x)) * bound < ratio])
        else:
            return np.concatenate(kept)[:number]
        bound = _MARGIN * ratio.max()  # begin again
