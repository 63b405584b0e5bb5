"""Holm's procedure: what it rejects, and how seldom wrongly, with and without weights."""

import numpy as np
import pytest

from bayesmodels.numerics.multiple_testing import holm


def by_hand(p, level, weights):
    """Reject one after the other, as Holm's paper has it."""
    left, rejected = list(range(len(p))), []
    while left:
        best = min(left, key=lambda i: p[i] / weights[i])
        if p[best] > level * weights[best] / sum(weights[i] for i in left):
            break
        rejected.append(best)
        left.remove(best)
    return rejected


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_procedure_step_by_step(weighted):
    rng = np.random.default_rng(3)
    for _ in range(200):
        p = rng.beta(0.2, 1, rng.integers(1, 9))
        weights = rng.choice([1.0, 4.0, 8.0], len(p)) if weighted else np.ones(len(p))
        given = weights if weighted else None
        assert holm(p, 0.05, given) == by_hand(p, 0.05, weights)


def test_weights_move_the_level_to_what_matters_more():
    assert holm([0.006, 0.5], 0.01) == []
    assert holm([0.006, 0.5], 0.01, [4, 1]) == [0]
    assert holm([0.5, 0.004], 0.01, [4, 1]) == []
    assert holm([1e-9, 0.009], 0.01, [4, 1]) == [0, 1]  # the first frees its share
    assert holm([], 0.01) == []


@pytest.mark.parametrize("weights", [None, [8, 4, 1, 1, 1]])
def test_the_level_holds_under_dependence(weights):
    from scipy import special

    rng = np.random.default_rng(4)
    shared = rng.standard_normal((20_000, 1))
    z = np.sqrt(0.5) * (shared + rng.standard_normal((20_000, 5)))
    alarms = sum(bool(holm(p, 0.05, weights)) for p in 2 * special.ndtr(-np.abs(z)))
    assert alarms <= 0.05 * len(z) + 3.1 * np.sqrt(0.05 * 0.95 * len(z))
    assert alarms > 0.02 * len(z)  # and it is used
