"""Independent draws from a function that was integrated on a lattice, by rejection."""

from __future__ import annotations

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.numerics.lattice import Lattice
from bayesmodels.numerics.lattice_integral import Integral

_MARGIN = 1.1  # above the largest ratio that was seen
_PILOT = 2000


def draws(integral: Integral, number: int, rng: np.random.Generator) -> Array:
    """Return independent points x, of shape (number, d).

    Proposed are points between those of the lattice, with a density that is linear from one to the
    next along each axis; they are accepted by the ratio of the function to it (von Neumann 1951).
    """
    masses, start = [], 0
    for lattice in integral.lattices:
        masses.append(integral.weights[start : start + len(lattice)].sum())
        start += len(lattice)
    counts = rng.multinomial(number, np.array(masses) / np.sum(masses))
    pairs = zip(integral.lattices, counts, strict=True)
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

    bound = _MARGIN * proposed(_PILOT)[1].max()
    while True:
        kept: list[Array] = []
        while sum(map(len, kept)) < number:
            x, ratio = proposed(int(1.2 * bound * (number - sum(map(len, kept)))) + 10)
            if ratio.max() > bound:
                break
            kept.append(x[rng.random(len(x)) * bound < ratio])
        else:
            return np.concatenate(kept)[:number]
        bound = _MARGIN * ratio.max()  # begin again
