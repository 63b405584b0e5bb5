"""Some rows of any container, in a container of the same kind."""

import numpy as np

import bayesmodels as bm
from bayesmodels.belief.rows import rows_at


def test_rows_in_any_container():
    table = np.array([[0, 1], [1, 1], [0, 0]])
    counts = bm.MultinomialCounts(table)
    assert rows_at({"x": table}, [2, 2])["x"].tolist() == [[0, 0], [0, 0]]
    assert rows_at(counts, [1]).counts.tolist() == [[1, 1]]
    assert rows_at(table.tolist(), [0]) == [[0, 1]]
