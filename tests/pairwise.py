"""Of all combinations of settings so few that every two settings still meet."""

from itertools import combinations, product

import pytest


def pairwise(**settings):
    """Return a mark that parametrises a test by combinations in which each pair of values occurs.

    The full product finds what three settings do together; a mistake mostly takes one or two.
    """
    values = list(settings.values())
    every = [frozenset(enumerate(row)) for row in product(*(range(len(v)) for v in values))]
    pairs = {row: {frozenset(two) for two in combinations(row, 2)} for row in every}
    left, chosen = set().union(*pairs.values()), []
    while left:
        chosen.append(max(every, key=lambda row: len(pairs[row] & left)))
        left -= pairs[chosen[-1]]
    rows = [[values[k][i] for k, i in sorted(row)] for row in chosen]
    return pytest.mark.parametrize(list(settings), rows)
