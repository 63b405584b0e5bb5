"""The regression that every source of rows is read for, and when two statistics of it are one."""

import numpy as np

import bayesmodels as bm

LINE = bm.LinearRegression.flat(["x", "z"])
ASKED = {"target": "y", "columns": ["x", "z"]}


def line_of(frame):
    """Return the statistic of all rows of a frame, read at once."""
    return LINE.statistic((frame[["x", "z"]], frame["y"]))


def close(found, wanted):
    assert found.n == wanted.n
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-12)
    np.testing.assert_allclose(found.triangle(), wanted.triangle(), rtol=1e-11, atol=1e-10)
