"""Sums of products of tables by elimination, against adding up all configurations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from bayesmodels.numerics.elimination import Elimination, Plan, TooWide


@st.composite
def problems(draw):
    """Return random tables of at most three of at most seven elements, some of them impossible."""
    number, levels = draw(st.integers(1, 7)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sets = {(i,) for i in range(number)}
    for _ in range(draw(st.integers(0, 10))):
        width = int(rng.integers(1, min(3, number) + 1))
        sets.add(tuple(sorted(rng.choice(number, width, replace=False).tolist())))
    widths = {len(one) for one in sets}
    scopes = {w: np.array(sorted(one for one in sets if len(one) == w)) for w in widths}
    tables = {w: rng.normal(size=(2, len(s), *[levels] * w)) for w, s in scopes.items()}
    if draw(st.booleans()):
        for table in tables.values():
            table[rng.random(table.shape) < 0.1] = -np.inf
    return number, levels, scopes, tables


def whole(number, levels, scopes, tables):
    """Return the log of the product at all configurations, (2, levels, ..., levels)."""
    logs = np.zeros((2, *[levels] * number))
    for w, scope in scopes.items():
        for row, table in zip(scope, np.moveaxis(tables[w], 1, 0), strict=True):
            shape = [levels if i in row else 1 for i in range(number)]
            logs = logs + table.reshape(2, *shape)
    return logs


def over_others(p, kept):
    return p.sum(tuple(1 + i for i in range(p.ndim - 1) if i not in kept))


@given(problems())
def test_totals_probabilities_and_maxima_are_those_of_all_configurations(problem):
    number, levels, scopes, tables = problem
    logs = whole(*problem)
    total = logsumexp(logs.reshape(2, -1), axis=1)
    found = Elimination(Plan(scopes, number, levels), tables)
    assert found.log_total == pytest.approx(total, abs=1e-12)
    if not np.isfinite(total).all():
        return
    p = np.exp(logs - total.reshape(2, *[1] * number))
    single, together = found.probabilities(), found.joint_probabilities()
    for i in range(number):
        assert single[:, i] == pytest.approx(over_others(p, {i}), abs=1e-12)
    for w, scope in scopes.items():
        for k, row in enumerate(scope):
            assert together[w][:, k] == pytest.approx(over_others(p, set(row)), abs=1e-12)
    best = Elimination(Plan(scopes, number, levels), tables, largest=True)
    for k, row in enumerate(best.most_probable()):
        assert logs[(k, *row)] == pytest.approx(logs[k].max(), abs=1e-12)
        assert found.log_probability(row) == pytest.approx(logs[(0, *row)] - total[0], abs=1e-12)


def test_draws_have_the_probabilities_and_never_are_impossible():
    scopes = {1: np.arange(4)[:, None], 2: np.array([[0, 1], [0, 2], [1, 3], [2, 3]])}
    rng = np.random.default_rng(3)
    tables = {w: rng.normal(size=(1, len(s), *[3] * w)) for w, s in scopes.items()}
    tables[2][0, 0, 1, 2] = -np.inf
    law = Elimination(Plan(scopes, 4, 3), tables)
    draws = law.sample(20_000, rng)
    assert not ((draws[:, 0] == 1) & (draws[:, 1] == 2)).any()
    for w, expected in law.joint_probabilities().items():
        for row, p in zip(scopes[w], expected[0], strict=True):
            seen = np.zeros_like(p)
            np.add.at(seen, tuple(draws[:, row].T), 1 / len(draws))
            assert (np.abs(seen - p) <= 5 * np.sqrt(p * (1 - p) / len(draws))).all()


@pytest.mark.parametrize(
    "shape", ["chain", "star", "ring", pytest.param("ladder", marks=pytest.mark.slow)]
)
def test_narrow_graphs_of_any_length_have_narrow_tables(shape):
    n = 2000
    a = np.arange(n - 1)
    pairs = {
        "chain": np.column_stack([a, a + 1]),
        "star": np.column_stack([0 * a, a + 1]),
        "ring": np.vstack([np.column_stack([a, a + 1]), [[0, n - 1]]]),
        "ladder": np.vstack(
            [np.column_stack([a[:-1], a[:-1] + 2]), np.column_stack([a[::2], a[::2] + 1])]
        ),
    }[shape]
    scopes = {1: np.arange(n)[:, None], 2: np.unique(pairs, axis=0)}
    plan = Plan(scopes, n, 2)
    widest = max(group.scope.shape[1] for groups in plan.rounds for group in groups)
    assert widest <= {"chain": 3, "star": 3, "ring": 3, "ladder": 5}[shape]
    tables = {w: np.zeros((1, len(s), *[2] * w)) for w, s in scopes.items()}
    assert Elimination(plan, tables).log_total[0] == pytest.approx(n * np.log(2), rel=1e-12)


def test_a_chain_of_many_levels_is_taken_apart_from_its_ends():
    n, levels = 60, 100
    a = np.arange(n - 1)
    scopes = {1: np.arange(n)[:, None], 2: np.column_stack([a, a + 1])}
    plan = Plan(scopes, n, levels)
    assert max(group.scope.shape[1] for groups in plan.rounds for group in groups) == 2
    rng = np.random.default_rng(5)
    tables = {w: rng.normal(size=(1, len(s), *[levels] * w)) for w, s in scopes.items()}
    ahead = tables[1][0, 0]
    for own, pair in zip(tables[1][0, 1:], tables[2][0], strict=True):
        ahead = logsumexp(ahead[:, None] + pair, axis=0) + own
    assert Elimination(plan, tables).log_total[0] == pytest.approx(logsumexp(ahead), rel=1e-12)


def test_what_all_depends_on_all_is_refused():
    a, b = np.triu_indices(40, 1)
    with pytest.raises(TooWide, match="elements have"):
        Plan({1: np.arange(40)[:, None], 2: np.column_stack([a, b])}, 40, 3)
