"""The tests of the referee: each in its own file, with all that a verdict needs to know of it.

A new test is a file with `KINDS` and a function that judges, and its name in the lists below. Tests
of single scalars, by their probability-integral transforms, share one form: ``judge(seen)``.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bayesmodels.numerics import Array, threads
from bayesmodels.referee.tests import (
    chains,
    class_probabilities,
    dependence,
    extremes,
    frequencies,
    polynomials,
    quartiles,
    shift,
    support,
    tail_visits,
)
from bayesmodels.referee.tests.kind import Kind, Row, Test

__all__ = ["KINDS", "Kind", "Row", "Test", "largest", "name_of", "score_tests", "sentence"]

OF_SCALARS = (polynomials, quartiles, shift, tail_visits, chains)
OTHERS = (dependence, extremes, support, frequencies, class_probabilities)
KINDS: dict[str, Kind] = {kind.name: kind for file in (*OF_SCALARS, *OTHERS) for kind in file.KINDS}
"""All kinds of tests by their names."""


def name_of(test: Test) -> str:
    """Say what a test looks at."""
    return KINDS[test.kind].words


def sentence(test: Test, row: Row | None) -> str:
    """Say what is wrong, of a scalar with its row of the table."""
    return KINDS[test.kind].sentence(test, row)


def largest(tests: Iterable[Test]) -> dict[str, float]:
    """Return the largest discrepancy of each scalar, in standard errors."""
    worst: dict[str, float] = {}
    for test in tests:
        worst[test.label] = max(worst.get(test.label, 0.0), test.z, key=abs)
    return worst


def score_tests(
    labels: list[str], u: Array, reference: float = np.inf, rates: Array | None = None
) -> list[Test]:
    """Return all tests of single scalars; see `Transforms`."""
    slope = np.zeros((4, len(labels))) if rates is None else rates

    def scores(part: slice) -> list[Test]:
        seen = polynomials.Transforms(labels[part], u[part], reference, slope[:, part])
        return [test for file in OF_SCALARS for test in file.judge(seen)]

    every = threads.gathered(scores, threads.blocks(u, least=1), u.size)
    return [test for block in every for test in block]
