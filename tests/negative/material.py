"""What slips are made with: a coin and a regression."""

import numpy as np
import pymc as pm

import bayesmodels as bm
from tests.negative.work import hand_in

# --- a coin: Beta(2, 5), three ones among twenty --------------------------------------------------

COIN, ROWS = bm.BetaBernoulli(2, 5), np.array([1, 1, 1] + [0] * 17)
TOSSES = bm.BinomialCounts(3, 20)


def coin(rows=ROWS, **mistaken):
    return hand_in(COIN, rows, **mistaken)


def coin_in_pymc(log_mass, support=None):
    """Declare the coin's prior with any log mass of a row, theta kept where `support` holds."""
    with pm.Model() as model:
        theta = pm.Beta("theta", 2, 5)
        if support is not None:
            pm.Potential("support", pm.math.switch(support(theta), 0.0, -np.inf))
        pm.Potential("rows", pm.math.sum(log_mass(ROWS, theta)))
    return model


def bernoulli(x, theta):
    return pm.math.log(theta**x * (1 - theta) ** (1 - x))


# --- a regression with everything about it asymmetric ---------------------------------------------

X = np.array([[1, 0.2], [1, 1.9], [1, -0.7], [1, 3.1], [1, 2.2], [1, -1.5]])
Y = np.array([1.3, 4.8, -0.4, 6.9, 5.6, -2.3])
PRECISION = np.array([2.0, 0.5])
LINE = bm.LinearRegression([1, -1], np.diag(PRECISION), shape=2.5, scale=1.5)


def line(**mistaken):
    return hand_in(LINE, (X, Y), **mistaken)
