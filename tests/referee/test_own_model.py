"""A conjugate model of a user's own, which has the verbs of a belief and no formula beside them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import gammaln

import bayesmodels as bm


@dataclass(frozen=True)
class Counted:
    """Number and sum of counts, and the sum of the logs of their factorials."""

    n: float
    total: float
    log_factorials: float

    def __add__(self, other):
        return Counted(
            self.n + other.n, self.total + other.total, self.log_factorials + other.log_factorials
        )

    def __sub__(self, other):
        return Counted(
            self.n - other.n, self.total - other.total, self.log_factorials - other.log_factorials
        )

    def discounted(self, rho):
        return Counted(rho * self.n, rho * self.total, rho * self.log_factorials)

    def without_rows(self):
        return Counted(0, 0, 0)

    def seen(self):
        return {"number of observations": self.n}


@dataclass(frozen=True)
class Rate:
    """Gamma belief about the rate of a Poisson law."""

    shape: float
    rate: float

    def statistic(self, data):
        if isinstance(data, Counted):
            return data
        x = np.asarray(data)
        return Counted(len(x), x.sum(), gammaln(x + 1).sum())

    def update(self, data):
        s = self.statistic(data)
        return Rate(self.shape + s.total, self.rate + s.n)

    def log_evidence(self, data):
        if not self.rate > 0:
            msg = "rate: must be positive; got 0."
            raise bm.PriorError(msg)
        s, after = self.statistic(data), self.update(data)
        before, behind = (gammaln(b.shape) - b.shape * np.log(b.rate) for b in (self, after))
        return behind - before - s.log_factorials

    def predictive(self):
        return stats.nbinom(self.shape, self.rate / (self.rate + 1))

    def observed(self, data):
        return {"x": (np.asarray(data), {"row": tuple(range(len(data)))})}


CALLS = np.array([3, 0, 5, 2, 2, 40])
RATE = Rate(2.0, 0.5)


def by_the_others(i):
    others = np.delete(CALLS, i)
    rate = 0.5 + len(others)
    return stats.nbinom(2 + others.sum(), rate / (rate + 1)).logpmf(CALLS[i])


def test_each_row_is_left_out_by_the_evidence():
    found = bm.leave_one_out(RATE, CALLS)
    wanted = [by_the_others(i) for i in range(len(CALLS))]
    np.testing.assert_allclose(found.log_density, wanted, rtol=1e-12)
    assert list(found.rows) == list(range(len(CALLS)))


def test_rows_keep_their_labels():
    found = bm.leave_one_out(RATE, pd.Series(CALLS, index=list("abcdef")))
    assert list(found.rows) == list("abcdef")


def test_a_row_without_which_nothing_is_known_is_named():
    with pytest.raises(bm.PriorError, match="without row 0 the posterior is improper"):
        bm.leave_one_out(Rate(0.5, 0.0), [3])
