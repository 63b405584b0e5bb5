"""Posteriors of structured models by hand: over trees, by configurations, by statsmodels' filter.

Nothing here looks at a PyMC model. Normal models without a filter are `references.linear`.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from scipy import special
from statsmodels.tsa.statespace.kalman_smoother import KalmanSmoother

from tests.posteriors.references import Reference


@dataclass(frozen=True)
class Truth:
    """The log evidence, and by variable its mean: of a finite one, the probability of each level.

    A function of a row of draws may have an expectation too: `also`, by its name.
    """

    log_evidence: float
    mean: dict[str, Any] = field(default_factory=dict)


def told(reference):
    """Return a `references.Reference` as a `Truth`."""
    if not isinstance(reference, Reference):
        return reference
    finite = {
        name: parameters["probability"]
        for name, parameters in reference.parameters.items()
        if "probability" in parameters
    }
    return Truth(reference.log_evidence, {**reference.mean, **finite})


def along_tree(parent, first, moves, own):
    """Return log evidence and marginal probabilities of finite variables on a tree.

    Messages go up from the leaves to the roots, and down again: on a path, forward and back.

    Parameters
    ----------
    parent : array_like of int, shape (n,)
        Each smaller than its child; -1 of a root.
    first : ndarray of shape (levels,)
        Law of the roots.
    moves : ndarray of shape (levels, levels) or (n, levels, levels)
        Law of a variable given its parent.
    own : ndarray of shape (n, levels)
        What is seen of each, given its level.
    """
    parent, n = np.asarray(parent), len(own)
    moves = np.broadcast_to(moves, (n, *np.shape(moves)[-2:]))
    up, sent, total = np.array(own, dtype=float), np.ones(np.shape(own)), 0.0
    for i in range(n - 1, -1, -1):
        size = up[i].sum()
        up[i], total = up[i] / size, total + np.log(size)
        if parent[i] >= 0:
            sent[i] = moves[i] @ up[i]
            up[parent[i]] *= sent[i]
        else:
            total += np.log(first @ up[i])
    down = np.empty_like(up)
    for i, above in enumerate(parent):
        prior = first if above < 0 else (down[above] * _over(up[above], sent[i])) @ moves[i]
        down[i] = prior / prior.sum()
    law = up * down
    return total, law / law.sum(-1, keepdims=True)


def _over(a, b):
    """Divide; nothing by nothing is nothing."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def path(n):
    """Return the parents of variables that follow each other."""
    return np.arange(n) - 1


def configurations(variables):
    """Return all rows of levels of variables, given their shapes and numbers of levels."""
    sizes = [(int(np.prod(shape)), levels) for shape, levels in variables.values()]
    return np.array(list(product(*(range(n) for size, n in sizes for _ in range(size)))))


def added_up(variables, rows, logs, **given):
    """Return the truth from the log mass of each row of levels; `given` it, means of others."""
    logs = np.asarray(logs, dtype=float)
    total = special.logsumexp(logs)
    weights, found, at = np.exp(logs - total), {}, 0
    for name, (shape, levels) in variables.items():
        size = int(np.prod(shape))
        own = rows[:, at : at + size]
        each = np.stack([weights @ (own == k) for k in range(levels)], -1)
        found[name] = each.reshape(*shape, levels)
        at += size
    means = {name: np.tensordot(weights, np.asarray(x), 1) for name, x in given.items()}
    return Truth(float(total), {**found, **means})


def enumerated(variables, mass):
    """Return the truth from the log mass of all rows of levels at once."""
    rows = configurations(variables)
    return added_up(variables, rows, mass(rows))


def mixed(variables, logs, given):
    """Return the truth from the prior and, given it, a reference for each row of levels."""
    rows = configurations(variables)
    parts = [given(row) for row in rows]
    logs = [logs(row) + part.log_evidence for row, part in zip(rows, parts, strict=True)]
    means = {name: [part.mean[name] for part in parts] for name in parts[0].mean}
    return added_up(variables, rows, logs, **means)


def filtered(y, *, seen, noise, move, steps, start, spread):
    """Return log evidence and smoothed states, (n, states), of a linear model in time.

    Values that are not a number are missing.

    Parameters
    ----------
    y : ndarray of shape (n,) or (n, p)
    seen, move : ndarray of shape (p, states[, n]), (states, states)
    noise, steps : ndarray of shape (p, p), (states, states)
        Covariances.
    start, spread : ndarray of shape (states,), (states, states)
        Mean and covariance of the first state.
    """
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    model = KalmanSmoother(y.shape[1], len(move), tolerance=0)
    model.bind(y)
    model["design"], model["obs_cov"] = np.asarray(seen, float), np.asarray(noise, float)
    model["transition"], model["selection"] = np.asarray(move, float), np.eye(len(move))
    model["state_cov"] = np.asarray(steps, float)
    model.initialize_known(np.asarray(start, float), np.asarray(spread, float))
    found = model.smooth()
    return float(found.llf), found.smoothed_state.T
