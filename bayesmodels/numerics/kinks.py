"""Whether a function bends or jumps, so that lattices converge slowly."""

from __future__ import annotations

import numpy as np

from bayesmodels.numerics.lattice import Frame, Function

_LINES, _POINTS, _REACH = 12, 97, 4.0  # through the middle; of each; deviations
_AWAY, _SHARPER, _DEPTH = 4, 20.0, 12.0  # spacings; times what is there; below the top
_PART = 0.03  # of the tolerance, which a bend reaches in second differences if it matters


def bends(f: Function, frame: Frame, tolerance: float, rng: np.random.Generator) -> bool:
    """Return whether a function bends or jumps on lines through its middle.

    Its second differences over two spacings are four times those over one. Next to a bend they are
    not, much less so than some spacings away. Bends too small for the tolerance do not count.
    """
    ways = rng.standard_normal((_LINES, 1, len(frame.centre)))
    ways /= np.linalg.norm(ways, axis=-1, keepdims=True)
    u = np.linspace(-_REACH, _REACH, _POINTS)[:, None] * ways
    x, log_slope = frame.points(u.reshape(-1, u.shape[-1]))
    logs = (f(x)[0] + log_slope).reshape(_LINES, _POINTS)
    logs = np.where(np.isnan(logs), -np.inf, logs)
    high = logs > logs.max() - _DEPTH
    edge = (high[:, 1:] & (logs[:, :-1] == -np.inf)) | (high[:, :-1] & (logs[:, 1:] == -np.inf))
    with np.errstate(invalid="ignore"):  # minus infinity is at an edge, or far down
        over = [logs[:, : -2 * by] + logs[:, 2 * by :] - 2 * logs[:, by:-by] for by in (1, 2)]
        left = np.abs(over[1] / 4 - over[0][:, 1:-1])
        away = np.maximum(left[:, : -2 * _AWAY], left[:, 2 * _AWAY :])
        bent = left[:, _AWAY:-_AWAY] > _SHARPER * away + _PART * tolerance
    return bool(edge.any() or (bent & high[:, 2 + _AWAY : -2 - _AWAY]).any())
