"""Gaussian models with known variances: every posterior is one normal block."""

import warnings
from dataclasses import replace

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from tests.posteriors.entry import axes, solved
from tests.posteriors.references import flat_linear, linear, normal, together

RNG = np.random.default_rng(20260503)
HEIGHTS = np.array([171.5, 166.0, 180.25, 175.0, 169.5, 190.0, 158.75])
POINTS = np.array([0.3, -1.1, 2.2, 0.9, 1.7, -0.4, 0.2, 1.5, 3.0, 0.6, -0.2, 1.1])
GROUP = np.array([0, 1, 2, 0, 0, 1, 2, 2, 3, 3, 1, 0])
SIDE = np.array([0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1])
X = RNG.normal(size=(15, 3)) * [1, 2, 0.5]
Y = X @ [1.0, -0.5, 2.0] + 0.7 + 0.5 * RNG.normal(size=15)
SPREAD = RNG.uniform(0.3, 2, 15)
SERIES = np.cumsum(RNG.normal(size=10)) + 0.3 * RNG.normal(size=10)
PLACES = np.sort(RNG.uniform(0, 5, 8))
VECTORS = RNG.normal(size=(9, 2)) @ [[1.5, 0.4], [0, 0.8]] + [1, -2]
COV = np.array([[2.0, 0.6], [0.6, 1.0]])
PRIOR_COV = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 1.0]])
ROWS_3_2 = np.stack([Y, Y[::-1] - X[:, 0]], axis=1)
INDICATOR = (GROUP[:, None] == np.arange(4)).astype(float)
OTHER = (SIDE[:, None] == np.arange(2)).astype(float)
KERNEL = np.exp(-0.5 * (PLACES[:, None] - PLACES) ** 2) + 1e-3 * np.eye(8)


def inverse(matrix):
    return np.linalg.inv(matrix)


def walk(number, first, step):
    """Return the covariance of a random walk from its variances."""
    places = np.arange(number)
    return first + step * np.minimum(places[:, None], places)


# --- one mean, or one for each group --------------------------------------------------------------


@solved(lambda: linear({"mu": ()}, ([170], [[100]]), np.ones((7, 1)), HEIGHTS, 64))
def a_mean():
    mu = pm.Normal("mu", 170, 10)
    pm.Normal("height", mu, 8, observed=HEIGHTS)


@solved(lambda: linear({"mu": ()}, ([170], [[100]]), np.ones((7, 1)), HEIGHTS, 64))
def a_mean_by_precisions():
    mu = pm.Normal("mu", mu=170, tau=0.01)
    pm.Normal("height", mu=mu, tau=1 / 64, observed=HEIGHTS)


@solved(lambda: linear({"z": ()}, ([0], [[1]]), np.full((7, 1), 10.0), HEIGHTS - 170, 64))
def a_mean_not_centred():
    z = pm.Normal("z")
    mu = pm.Deterministic("mu", 170 + 10 * z)
    pm.Normal("height", mu, 8, observed=HEIGHTS)


@solved(lambda: flat_linear({"mu": ()}, np.ones((7, 1)), HEIGHTS, 64))
def a_mean_under_a_flat_prior():
    mu = pm.Flat("mu")
    pm.Normal("height", mu, 8, observed=HEIGHTS)


@solved(lambda: normal("mu", (170, 10), 7 / 64, HEIGHTS.sum() / 64))
def a_mean_as_a_potential():
    mu = pm.Normal("mu", 170, 10)
    square = 7 * mu**2 - 2 * HEIGHTS.sum() * mu
    pm.Potential("likelihood", -square / (2 * 64))


@solved(lambda: linear({"mu": (4,)}, (np.zeros(4), 4 * np.eye(4)), INDICATOR, POINTS, 0.25))
def means_by_group():
    axes({"group": list("abcd")})
    mu = pm.Normal("mu", 0, 2, dims="group")
    pm.Normal("x", mu[GROUP], 0.5, observed=POINTS)
    pm.Deterministic("largest", mu.max())


@solved(
    lambda: together(
        linear(
            {f"mu_{k}": ()},
            ([k], [[4]]),
            np.ones(((k == GROUP).sum(), 1)),
            POINTS[k == GROUP],
            (1 + k) ** 2,
        )
        for k in range(4)
    )
)
def means_in_a_loop():
    for k in range(4):
        mu = pm.Normal(f"mu_{k}", k, 2)
        pm.Normal(f"x_{k}", mu, 1 + k, observed=POINTS[k == GROUP])


@solved(
    lambda: linear(
        {"centre": (), "mu": (4,)},
        (
            np.zeros(5),
            np.block(
                [
                    [9 * np.ones((1, 1)), 9 * np.ones((1, 4))],
                    [9 * np.ones((4, 1)), 9 * np.ones((4, 4)) + 0.49 * np.eye(4)],
                ]
            ),
        ),
        np.c_[np.zeros(12), INDICATOR],
        POINTS,
        0.25,
    )
)
def means_about_a_centre():
    centre = pm.Normal("centre", 0, 3)
    mu = pm.Normal("mu", centre, 0.7, shape=4)
    pm.Normal("x", mu[GROUP], 0.5, observed=POINTS)


@solved(
    lambda: linear(
        {"centre": (), "z": (4,)},
        (np.zeros(5), np.diag([9, 1, 1, 1, 1])),
        np.c_[np.ones(12), 0.7 * INDICATOR],
        POINTS,
        0.25,
    )
)
def means_about_a_centre_not_centred():
    axes({"group": list("abcd")})
    centre = pm.Normal("centre", 0, 3)
    z = pm.Normal("z", dims="group")
    mu = pm.Deterministic("mu", centre + 0.7 * z, dims="group")
    pm.Normal("x", mu[GROUP], 0.5, observed=POINTS)


# Eight schools with the spread of the schools known (Rubin 1981).
EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@solved(
    lambda: linear(
        {"mu": (), "theta": (8,)},
        (np.full(9, 2.0), 100 + np.diag(np.r_[0, np.full(8, 36.0)])),
        np.eye(9)[1:],
        EFFECTS,
        ERRORS**2,
    )
)
def eight_schools_of_known_spread():
    axes({"school": list("ABCDEFGH")})
    mu = pm.Normal("mu", 2, 10)
    theta = pm.Normal("theta", mu, 6, dims="school")
    pm.Normal("effect", theta, ERRORS, observed=EFFECTS, dims="school")


@solved(
    lambda: linear(
        {"a": (), "b": ()},
        ([1, -1], np.diag([4, 9])),
        np.array([[1.0, -1.0]] * 3),
        np.array([0.3, 0.5, 0.1]),
        0.01,
    )
)
def two_means_seen_by_their_difference():
    a = pm.Normal("a", 1, 2)
    b = pm.Normal("b", -1, 3)
    pm.Normal("difference", a - b, 0.1, observed=[0.3, 0.5, 0.1])


@solved(
    lambda: linear(
        {"mu": (), "rows_unobserved": (2,)},
        (np.zeros(3), [[9, 9, 9], [9, 9.25, 9], [9, 9, 9.25]]),
        np.c_[np.ones(10), np.zeros((10, 2))],
        POINTS[2:],
        0.25,
    )
)
def a_mean_with_two_missing_rows():
    rows = np.r_[np.nan, np.nan, POINTS[2:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mu = pm.Normal("mu", 0, 3)
        pm.Normal("rows", mu, 0.5, observed=rows)


@solved(
    lambda: linear(
        {"mu": (2, 3)},
        (np.tile([0.0, 1.0, 2.0], 2), np.eye(6) * 2.25),
        np.eye(6),
        np.arange(6) / 2,
        np.tile([1.0, 4.0, 9.0], 2),
    )
)
def a_matrix_of_means():
    axes({"row": ["u", "v"], "column": [1, 2, 3]})
    mu = pm.Normal("mu", [0, 1, 2], 1.5, dims=("row", "column"))
    pm.Normal("x", mu, [1, 2, 3], observed=np.arange(6).reshape(2, 3) / 2)


@solved(lambda: linear({"mu": ()}, ([1], [[0.25]]), np.ones((12, 1)), POINTS, 1, -POINTS.sum()))
def a_mean_of_logs():
    mu = pm.Normal("mu", 1, 0.5)
    pm.LogNormal("x", mu, 1, observed=np.exp(POINTS))


@solved(
    lambda: linear(
        {"a": (), "b": (2,)},
        ([1, 2, 1], [[4, 4, 8], [4, 13, 8], [8, 8, 17]]),
        np.zeros((0, 3)),
        np.zeros(0),
        1,
    )
)
def a_prior_alone():
    a = pm.Normal("a", 1, 2)
    pm.Normal("b", [a + 1, 2 * a - 1], [3, 1])


# --- regression -----------------------------------------------------------------------------------


@solved(lambda: linear({"w": (3,)}, (np.zeros(3), 4 * np.eye(3)), X, Y, 0.25))
def regression_by_a_product():
    axes({"feature": ["age", "dose", "size"]})
    w = pm.Normal("w", 0, 2, dims="feature")
    pm.Normal("y", X @ w, 0.5, observed=Y)


@solved(lambda: linear({"w": (3,)}, (np.zeros(3), 4 * np.eye(3)), X, Y, 0.25))
def regression_by_a_sum_of_products():
    features = pm.Data("features", X)
    target = pm.Data("target", Y)
    w = pm.Normal("w", sigma=2, shape=3)
    pm.Normal("y", (features * w).sum(-1), 0.5, observed=target)


@solved(
    lambda: linear(
        {"intercept": (), "w": (3,)},
        ([1, 0, 0, 0], np.diag([25, 4, 4, 4])),
        np.c_[np.ones(15), X],
        Y,
        SPREAD**2,
    )
)
def regression_with_an_intercept_and_weights_of_rows():
    intercept = pm.Normal("intercept", 1, 5)
    w = pm.Normal("w", 0, 2, size=3)
    mu = pm.Deterministic("mu", intercept + pm.math.dot(X, w))
    pm.Normal("y", mu, sigma=SPREAD, observed=Y)


@solved(
    lambda: linear(
        {"a": (), "b": (), "c": (), "d": ()},
        ([0, 0, 1, 0], np.diag([9, 1, 4, 2])),
        np.c_[np.ones(15), X],
        Y,
        0.25,
    )
)
def regression_by_four_scalars():
    a = pm.Normal("a", 0, 3)
    b = pm.Normal("b", 0, 1)
    c = pm.Normal("c", 1, 2)
    d = pm.Normal("d", 0, tau=0.5)
    mu = a
    for slope, column in zip((b, c, d), X.T, strict=True):
        mu += slope * column
    pm.Normal("y", mu, 0.5, observed=Y)


@solved(lambda: linear({"w": (3,)}, ([1, 0, -1], PRIOR_COV), X, Y, 0.25))
def regression_with_a_full_prior():
    w = pm.MvNormal("w", [1, 0, -1], cov=PRIOR_COV)
    pm.Normal("y", X @ w, 0.5, observed=Y)


@solved(
    lambda: linear(
        {"w": (3,)},
        ([1, 0, -1], PRIOR_COV),
        X,
        Y,
        0.1 + 0.25 * np.eye(15),
    )
)
def regression_with_correlated_rows():
    w = pm.MvNormal("w", np.array([1, 0, -1]), chol=np.linalg.cholesky(PRIOR_COV))
    pm.MvNormal("y", pt.dot(X, w), cov=0.25 * np.eye(15) + 0.1, observed=Y)


@solved(lambda: flat_linear({"w": (3,)}, X, Y, 0.25))
def regression_under_a_flat_prior():
    w = pm.Flat("w", shape=3)
    pm.Normal("y", X @ w, 0.5, observed=Y)


@solved(
    lambda: linear(
        {"w": (3, 2)},
        (np.zeros(6), 4 * np.eye(6)),
        np.kron(X, np.eye(2)),
        ROWS_3_2.ravel(),
        np.tile([0.25, 1.0], 15),
    )
)
def regression_of_two_targets():
    axes({"feature": [1, 2, 3], "target": ["u", "v"]})
    w = pm.Normal("w", 0, 2, dims=("feature", "target"))
    pm.Normal("y", X @ w, [0.5, 1], observed=ROWS_3_2)


@solved(
    lambda: linear(
        {"slope": (4,), "level": (4,)},
        (np.zeros(8), np.eye(8)),
        np.c_[INDICATOR * X[:12, :1], INDICATOR],
        Y[:12],
        0.25,
    )
)
def a_line_for_each_group():
    axes({"group": range(4)})
    slope = pm.Normal("slope", 0, 1, dims="group")
    level = pm.Normal("level", 0, 1, dims="group")
    pm.Normal("y", level[GROUP] + slope[GROUP] * X[:12, 0], 0.5, observed=Y[:12])


@solved(
    lambda: linear(
        {"mean": (), "row": (4,), "column": (2,)},
        (np.zeros(7), np.diag([100, *[4] * 4, *[1] * 2])),
        np.c_[np.ones(12), INDICATOR, OTHER],
        POINTS,
        0.36,
    )
)
def crossed_effects():
    axes({"line": list("abcd"), "side": ["l", "r"]})
    mean = pm.Normal("mean", 0, 10)
    row = pm.Normal("row", 0, 2, dims="line")
    column = pm.Normal("column", 0, 1, dims="side")
    pm.Normal("x", mean + row[GROUP] + column[SIDE], 0.6, observed=POINTS)


@solved(
    lambda: linear(
        {"level": (), "rho": ()},
        ([0, 0.5], np.diag([1, 0.04])),
        np.c_[np.ones(9), SERIES[:-1]],
        SERIES[1:],
        1,
    )
)
def autoregression():
    level = pm.Normal("level", 0, 1)
    rho = pm.Normal("rho", 0.5, 0.2)
    pm.Normal("x", level + rho * SERIES[:-1], 1, observed=SERIES[1:])


@solved(
    lambda: linear(
        {"c": (4,)},
        (np.zeros(4), np.diag([4, 1, 0.25, 0.0625])),
        np.vander(PLACES / 5, 4, increasing=True),
        Y[:8],
        0.25,
    )
)
def a_polynomial():
    c = pm.Normal("c", 0, [2, 1, 0.5, 0.25])
    mu = sum(c[k] * (PLACES / 5) ** k for k in range(4))
    pm.Normal("y", mu, 0.5, observed=Y[:8])


# --- vectors --------------------------------------------------------------------------------------


def vectors():
    """Return the posterior of the mean of `VECTORS`."""
    return linear(
        {"mu": (2,)},
        ([0, 1], 9 * np.eye(2)),
        np.tile(np.eye(2), (9, 1)),
        VECTORS.ravel(),
        np.kron(np.eye(9), COV),
    )


@solved(vectors)
def a_mean_vector_by_covariance():
    mu = pm.Normal("mu", [0, 1], 3)
    pm.MvNormal("x", mu, cov=COV, observed=VECTORS)


@solved(vectors)
def a_mean_vector_by_precision():
    mu = pm.MvNormal("mu", np.array([0.0, 1.0]), tau=np.eye(2) / 9)
    pm.MvNormal("x", mu, tau=inverse(COV), observed=VECTORS)


@solved(vectors)
def a_mean_vector_by_root():
    axes({"feature": ["u", "v"]})
    mu = pm.MvNormal("mu", [0, 1], cov=9 * np.eye(2), dims="feature")
    pm.MvNormal("x", mu, chol=np.linalg.cholesky(COV), observed=VECTORS)


@solved(
    lambda: linear(
        {"mu": (3, 2)},
        (np.zeros(6), np.kron(np.eye(3), 4 * COV)),
        np.kron(np.eye(3)[[0, 1, 2, 0, 1, 1, 2, 0, 0]], np.eye(2)),
        VECTORS.ravel(),
        np.kron(np.eye(9), COV),
    )
)
def mean_vectors_by_kind():
    kind = np.array([0, 1, 2, 0, 1, 1, 2, 0, 0])
    axes({"kind": list("abc"), "feature": ["u", "v"]})
    mu = pm.MvNormal("mu", np.zeros(2), cov=4 * COV, dims=("kind", "feature"))
    pm.MvNormal("x", mu[kind], cov=COV, observed=VECTORS)


# --- series and surfaces --------------------------------------------------------------------------


@solved(lambda: linear({"level": (10,)}, (np.zeros(10), walk(10, 9, 1)), np.eye(10), SERIES, 0.09))
def a_random_walk():
    axes({"time": range(10)})
    level = pm.GaussianRandomWalk(
        "level", mu=0, sigma=1, init_dist=pm.Normal.dist(0, 3), dims="time"
    )
    pm.Normal("x", level, 0.3, observed=SERIES)


@solved(
    lambda: linear(
        {f"level_{t}": () for t in range(10)},
        (np.zeros(10), walk(10, 9, 1)),
        np.eye(10),
        SERIES,
        0.09,
    )
)
def a_state_space_in_a_loop():
    level = pm.Normal("level_0", 0, 3)
    pm.Normal("x_0", level, 0.3, observed=SERIES[0])
    for t in range(1, 10):
        level = pm.Normal(f"level_{t}", level, 1)
        pm.Normal(f"x_{t}", level, 0.3, observed=SERIES[t])


@solved(
    lambda: linear(
        {"first": (), "step": (9,)},
        (np.zeros(10), np.diag([9, *[1] * 9])),
        np.tri(10),
        SERIES,
        0.09,
    )
)
def a_random_walk_by_its_steps():
    first = pm.Normal("first", 0, 3)
    step = pm.Normal("step", 0, 1, shape=9)
    level = pm.Deterministic("level", first + pt.concatenate([[0.0], pt.cumsum(step)]))
    pm.Normal("x", level, 0.3, observed=SERIES)


@solved(lambda: linear({"f": (8,)}, (np.zeros(8), KERNEL), np.eye(8), Y[:8], 0.04))
def a_gaussian_process():
    f = pm.MvNormal("f", np.zeros(8), cov=KERNEL)
    pm.Normal("y", f, 0.2, observed=Y[:8])


@solved(
    lambda: linear(
        {"f_rotated_": (8,)},
        (np.zeros(8), np.eye(8)),
        np.linalg.cholesky(KERNEL),
        Y[:8],
        0.04,
    )
)
def a_gaussian_process_rotated():
    process = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, ls=1))
    f = process.prior("f", X=PLACES[:, None], jitter=1e-3)
    pm.Normal("y", f, 0.2, observed=Y[:8])


@solved(
    lambda: linear(
        {"true": (12,)},
        (np.full(12, 0.5), np.eye(12)),
        np.r_[np.eye(12), 2 * np.eye(12)],
        np.r_[POINTS, POINTS[::-1]],
        np.repeat([0.25, 1], 12),
    )
)
def two_instruments():
    true = pm.Normal("true", 0.5, 1, shape=12)
    pm.Normal("one", true, 0.5, observed=POINTS)
    pm.Normal("other", 2 * true, 1, observed=POINTS[::-1])


def chain():
    precision = 3 * np.eye(6) - np.eye(6, k=1) - np.eye(6, k=-1)
    prior = np.zeros(6), inverse(precision)
    proper = linear({"field": (6,)}, prior, np.eye(6), POINTS[:6], 0.5)
    return replace(proper, log_evidence=None)


@solved(chain)
def a_chain_of_neighbours():
    field = pm.Flat("field", shape=6)
    bonds = ((field[1:] - field[:-1]) ** 2).sum()
    ends = field[0] ** 2 + field[-1] ** 2
    pm.Potential("bonds", -0.5 * (bonds + ends + (field**2).sum()))
    pm.Normal("x", field, np.sqrt(0.5), observed=POINTS[:6])


@solved(
    lambda: linear(
        {"w": (6,)},
        (np.zeros(6), np.kron(COV, PRIOR_COV)),
        np.kron(np.eye(2)[[0, 1, 1, 0]], np.eye(3)),
        X[:4].ravel(),
        0.25,
    )
)
def a_matrix_as_a_long_vector():
    w = pm.MvNormal("w", np.zeros(6), cov=np.kron(COV, PRIOR_COV))
    W = pm.Deterministic("W", w.reshape((2, 3)))
    pm.Normal("x", W[[0, 1, 1, 0]], 0.5, observed=X[:4])
