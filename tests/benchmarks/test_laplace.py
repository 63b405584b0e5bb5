"""What docs/logistic.md says of Laplace's approximation is found again with other draws."""

import numpy as np
import pytest

from tests.benchmarks import bench_laplace as bench

# Error, its Monte-Carlo standard error and the ratio of standard deviations, as on that page.
PRINTED = np.array(
    [[0.377, 0.009, 0.884], [-0.449, 0.009, 0.868], [-0.194, 0.008, 0.888], [-0.363, 0.008, 0.887]]
)


@pytest.mark.slow
def test_the_errors_of_the_smallest_set():
    table = bench.errors("spector", draws=1500, seed=2)
    error, mcse, ratio = PRINTED.T
    assert (np.abs(table["error"] - error) < 4 * np.hypot(table["mcse"], mcse)).all()
    # Of squares about half as many draws are effective: a deviation is known to 1 / sqrt(ess).
    sd_mcse = table["sd_ratio"] / np.sqrt(table["ess"])
    assert (np.abs(table["sd_ratio"] - ratio) < 4 * 1.5 * sd_mcse).all()
    assert (table["r_hat"] < 1.01).all()
