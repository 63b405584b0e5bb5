"""Normal models of unknown scale: normal-inverse-gamma, normal-gamma, Wishart posteriors."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

import bayesmodels as bm
from tests.posteriors.coins import KIND, counted
from tests.posteriors.entry import axes, solved
from tests.posteriors.lines import (
    GROUP,
    HEIGHTS,
    POINTS,
    PRIOR_COV,
    SERIES,
    SPREAD,
    VECTORS,
    X,
    Y,
    walk,
)
from tests.posteriors.references import (
    dirichlet,
    flat_linear_unknown_scale,
    linear_unknown_scale,
    normal_wishart,
    together,
)

ONE = np.ones((7, 1))
WITH_INTERCEPT = np.c_[np.ones(15), X]
PSI = np.array([[2.0, 0.3], [0.3, 1.0]])
MEASURED = np.random.default_rng(20260504).normal(size=(12, 2)) * [1, 5] + [0, 30]


# --- one mean and one scale -----------------------------------------------------------------------


def heights(scale, kind="InverseGamma"):
    """Return the posterior of mu and the scale, with kappa = 0.1 and v ~ InverseGamma(3, 200)."""
    return linear_unknown_scale({"mu": ()}, ([170], [[10]]), ONE, HEIGHTS, 1, scale, (3, 200), kind)


@solved(lambda: heights("sigma2"))
def mean_and_variance():
    sigma2 = pm.InverseGamma("sigma2", 3, 200)
    mu = pm.Normal("mu", 170, pm.math.sqrt(sigma2 / 0.1))
    pm.Normal("height", mu, pm.math.sqrt(sigma2), observed=HEIGHTS)


@solved(lambda: heights("tau", "Gamma"))
def mean_and_precision():
    tau = pm.Gamma("tau", 3, 200)
    mu = pm.Normal("mu", 170, tau=0.1 * tau)
    pm.Normal("height", mu, tau=tau, observed=HEIGHTS)


@solved(lambda: heights("tau", "Gamma"))
def mean_and_precision_by_deviations():
    tau = pm.Gamma("tau", 3, 200)
    sigma = pm.Deterministic("sigma", tau**-0.5)
    mu = pm.Normal("mu", mu=170, sigma=sigma * np.sqrt(10))
    pm.Normal("height", mu=mu, sigma=sigma, observed=HEIGHTS)


@solved(
    lambda: linear_unknown_scale({"mu": ()}, ([170], [[10]]), ONE, HEIGHTS, 1, "sigma2", (3, 200))
)
def mean_and_variance_as_a_potential():
    sigma2 = pm.InverseGamma("sigma2", 3, 200)
    mu = pm.Normal("mu", 170, tau=0.1 / sigma2)
    squares = ((HEIGHTS - HEIGHTS.mean()) ** 2).sum() + 7 * (HEIGHTS.mean() - mu) ** 2
    pm.Potential("rows", -3.5 * pt.log(2 * np.pi * sigma2) - squares / (2 * sigma2))


@solved(lambda: flat_linear_unknown_scale({"mu": ()}, ONE, HEIGHTS, 1, "sigma2", 1))
def mean_and_variance_under_jeffreys_prior():
    mu = pm.Flat("mu")
    sigma2 = pm.HalfFlat("sigma2")
    pm.Potential("jeffreys", -pm.math.log(sigma2))
    pm.Normal("height", mu, pm.math.sqrt(sigma2), observed=HEIGHTS)


@solved(
    lambda: flat_linear_unknown_scale(
        {"mu": ()}, ONE, HEIGHTS, 1, "sigma", 0.5, "SquareInverseGamma"
    )
)
def mean_and_deviation_under_a_flat_prior():
    mu = pm.Flat("mu")
    sigma = pm.HalfFlat("sigma")
    pm.Normal("height", mu, sigma, observed=HEIGHTS)


@solved(
    lambda: linear_unknown_scale(
        {"mu": ()}, ([0], [[4]]), np.ones((12, 1)), POINTS, 1, "tau", (2, 1), "Gamma", -POINTS.sum()
    )
)
def mean_and_precision_of_logs():
    tau = pm.Gamma("tau", 2, 1)
    mu = pm.Normal("mu", 0, tau=tau / 4)
    pm.LogNormal("x", mu=mu, tau=tau, observed=np.exp(POINTS))


# --- several groups -------------------------------------------------------------------------------


def group_of_points(k, names=("mu", "sigma2"), kind="InverseGamma"):
    mu, scale = names
    own = POINTS[k == GROUP]
    return linear_unknown_scale(
        {mu: ()}, ([0], [[2]]), np.ones((len(own), 1)), own, 1, scale, (2 + k, 1.5), kind
    )


def stacked(members):
    """Make one reference, with arrays, of references of the elements of the same variables."""
    members = list(members)
    first = members[0]
    own = [
        {
            name: {key: np.asarray(value[key])[None] for key in value}
            for name, value in member.parameters.items()
        }
        for member in members
    ]
    whole = together(members)
    return type(whole)(
        first.families,
        {
            name: {key: np.concatenate([one[name][key] for one in own]) for key in value}
            for name, value in first.parameters.items()
        },
        lambda point: sum(
            member.log_density({name: point[name][k] for name in first.families})
            for k, member in enumerate(members)
        ),
        lambda rng: _stack([member.draw(rng) for member in members]),
        whole.log_evidence,
        _stack([member.mean for member in members]),
        _stack([member.var for member in members]),
    )


def _stack(points):
    return {name: np.stack([point[name] for point in points]) for name in points[0]}


@solved(lambda: stacked(group_of_points(k) for k in range(4)))
def groups_with_a_scale_each():
    axes({"group": list("abcd")})
    sigma2 = pm.InverseGamma("sigma2", [2, 3, 4, 5], 1.5, dims="group")
    mu = pm.Normal("mu", 0, pm.math.sqrt(2 * sigma2), dims="group")
    pm.Normal("x", mu[GROUP], pm.math.sqrt(sigma2[GROUP]), observed=POINTS)


@solved(lambda: stacked(group_of_points(k, ("mu", "tau"), "Gamma") for k in range(4)))
def groups_with_a_precision_each():
    axes({"group": list("abcd")})
    tau = pm.Gamma("tau", np.arange(2, 6), 1.5, dims="group")
    mu = pm.Normal("mu", 0, tau=tau / 2, dims="group")
    pm.Normal("x", mu[GROUP], tau=tau[GROUP], observed=POINTS)


@solved(lambda: together(group_of_points(k, (f"mu_{k}", f"sigma2_{k}")) for k in range(4)))
def groups_in_a_loop_with_a_scale_each():
    for k in range(4):
        sigma2 = pm.InverseGamma(f"sigma2_{k}", 2 + k, 1.5)
        mu = pm.Normal(f"mu_{k}", 0, pm.math.sqrt(2 * sigma2))
        pm.Normal(f"x_{k}", mu, pm.math.sqrt(sigma2), observed=POINTS[k == GROUP])


@solved(
    lambda: linear_unknown_scale(
        {"mu": (4,)},
        (np.zeros(4), 2 * np.eye(4)),
        (GROUP[:, None] == np.arange(4)).astype(float),
        POINTS,
        1,
        "sigma2",
        (3, 2),
    )
)
def groups_with_one_scale():
    axes({"group": list("abcd")})
    sigma2 = pm.InverseGamma("sigma2", 3, 2)
    mu = pm.Normal("mu", 0, pm.math.sqrt(2 * sigma2), dims="group")
    pm.Normal("x", mu[GROUP], pm.math.sqrt(sigma2), observed=POINTS)


@solved(
    lambda: linear_unknown_scale(
        {"centre": (), "mu": (4,)},
        (np.zeros(5), np.full((5, 5), 5.0) + np.diag([0, *[0.5] * 4])),
        np.c_[np.zeros(12), (GROUP[:, None] == np.arange(4)).astype(float)],
        POINTS,
        1,
        "sigma2",
        (3, 2),
    )
)
def groups_about_a_centre_with_one_scale():
    sigma2 = pm.InverseGamma("sigma2", 3, 2)
    centre = pm.Normal("centre", 0, pm.math.sqrt(5 * sigma2))
    mu = pm.Normal("mu", centre, pm.math.sqrt(sigma2 / 2), shape=4)
    pm.Normal("x", mu[GROUP], pm.math.sqrt(sigma2), observed=POINTS)


def measured(c, j):
    own = MEASURED[c == KIND, j]
    return linear_unknown_scale(
        {"mu": ()},
        ([[0, 30][j]], [[10]]),
        np.ones((len(own), 1)),
        own,
        1,
        "sigma2",
        (3, [1, 20][j]),
    )


@solved(
    lambda: (
        dirichlet("pi", np.ones(3), counted(KIND, 3))
        + stacked(stacked(measured(c, j) for j in range(2)) for c in range(3))
    )
)
def naive_bayes_of_measurements():
    axes({"class": ["a", "b", "c"], "feature": ["u", "v"]})
    pi = pm.Dirichlet("pi", np.ones(3), dims="class")
    sigma2 = pm.InverseGamma("sigma2", 3, [1, 20], dims=("class", "feature"))
    mu = pm.Normal("mu", [0, 30], pm.math.sqrt(sigma2 / 0.1), dims=("class", "feature"))
    y = pm.Categorical("y", pi, observed=KIND)
    pm.Normal("x", mu[y], pm.math.sqrt(sigma2[y]), observed=MEASURED)


# --- regression -----------------------------------------------------------------------------------


def regression(scale="sigma2", kind="InverseGamma"):
    """Return the posterior of three weights, w | v ~ N(0, 4 v), v ~ InverseGamma(2, 1)."""
    return linear_unknown_scale(
        {"w": (3,)}, (np.zeros(3), 4 * np.eye(3)), X, Y, 1, scale, (2, 1), kind
    )


@solved(regression)
def regression_with_unknown_variance():
    axes({"feature": ["age", "dose", "size"]})
    sigma2 = pm.InverseGamma("sigma2", 2, 1)
    w = pm.Normal("w", 0, 2 * pm.math.sqrt(sigma2), dims="feature")
    pm.Normal("y", X @ w, pm.math.sqrt(sigma2), observed=Y)


@solved(lambda: regression("tau", "Gamma"))
def regression_with_unknown_precision():
    features = pm.Data("features", X)
    tau = pm.Gamma("tau", 2, 1)
    w = pm.Normal("w", 0, tau=tau / 4, shape=3)
    pm.Normal("y", (features * w).sum(axis=1), tau=tau, observed=Y)


@solved(
    lambda: linear_unknown_scale(
        {"intercept": (), "w": (3,)},
        ([1, 0, 0, 0], np.diag([100, 4, 4, 4])),
        WITH_INTERCEPT,
        Y,
        1,
        "sigma2",
        (2, 1),
    )
)
def regression_with_an_intercept_and_unknown_variance():
    sigma2 = pm.InverseGamma("sigma2", 2, 1)
    sigma = pm.math.sqrt(sigma2)
    intercept = pm.Normal("intercept", 1, 10 * sigma)
    w = pm.Normal("w", 0, 2 * sigma, shape=3)
    pm.Normal("y", intercept + pt.dot(X, w), sigma, observed=Y)


@solved(
    lambda: linear_unknown_scale(
        {f"w_{j}": () for j in range(4)},
        (np.zeros(4), np.diag([1.0, 2, 3, 4])),
        WITH_INTERCEPT,
        Y,
        1,
        "tau",
        (2, 1),
        "Gamma",
    )
)
def regression_by_scalars_with_unknown_precision():
    tau = pm.Gamma("tau", 2, 1)
    terms = [pm.Normal(f"w_{j}", 0, tau=tau / (j + 1)) * WITH_INTERCEPT[:, j] for j in range(4)]
    pm.Normal("y", pm.math.sum(pm.math.stack(terms), axis=0), tau=tau, observed=Y)


@solved(
    lambda: linear_unknown_scale(
        {"w": (3,)}, (np.zeros(3), 15 * np.linalg.inv(X.T @ X)), X, Y, 1, "sigma2", (2, 1)
    )
)
def regression_with_a_g_prior():
    unit = 15 * np.linalg.inv(X.T @ X)
    sigma2 = pm.InverseGamma("sigma2", 2, 1)
    w = pm.MvNormal("w", np.zeros(3), cov=sigma2 * unit)
    pm.Normal("y", X @ w, pm.math.sqrt(sigma2), observed=Y)


@solved(
    lambda: linear_unknown_scale(
        {"w": (3,)}, ([1, 0, -1], PRIOR_COV), X, Y, 1, "tau", (2, 1), "Gamma"
    )
)
def regression_with_a_full_prior_and_unknown_precision():
    tau = pm.Gamma("tau", 2, 1)
    w = pm.MvNormal("w", [1, 0, -1], tau=tau * np.linalg.inv(PRIOR_COV))
    pm.Normal("y", X @ w, tau=tau, observed=Y)


@solved(
    lambda: linear_unknown_scale(
        {"w": (3,)}, (np.zeros(3), 4 * np.eye(3)), X, Y, SPREAD**2, "sigma2", (2, 1)
    )
)
def weighted_regression_with_unknown_variance():
    sigma2 = pm.InverseGamma("sigma2", 2, 1)
    w = pm.Normal("w", 0, 2 * pm.math.sqrt(sigma2), shape=3)
    pm.Normal("y", X @ w, SPREAD * pm.math.sqrt(sigma2), observed=Y)


@solved(
    lambda: flat_linear_unknown_scale(
        {"w": (4,)}, WITH_INTERCEPT, Y, 1, "sigma", 0.5, "SquareInverseGamma"
    )
)
def regression_with_everything_flat():
    w = pm.Flat("w", shape=4)
    sigma = pm.HalfFlat("sigma")
    pm.Normal("y", WITH_INTERCEPT @ w, sigma, observed=Y)


@solved(
    lambda: flat_linear_unknown_scale({"a": (), "b": ()}, WITH_INTERCEPT[:, :2], Y, 1, "sigma2", 1)
)
def a_line_under_the_reference_prior():
    a = pm.Flat("a")
    b = pm.Flat("b")
    sigma2 = pm.HalfFlat("sigma2")
    pm.Potential("reference", pt.log(1 / sigma2))
    pm.Normal("y", a + b * X[:, 0], pt.sqrt(sigma2), observed=Y)


@solved(
    lambda: linear_unknown_scale(
        {"level": (10,)}, (np.zeros(10), walk(10, 9, 1)), np.eye(10), SERIES, 0.09, "sigma2", (2, 1)
    )
)
def a_random_walk_with_unknown_variance():
    sigma2 = pm.InverseGamma("sigma2", 2, 1)
    sigma = pm.math.sqrt(sigma2)
    level = pm.GaussianRandomWalk(
        "level", sigma=sigma, init_dist=pm.Normal.dist(0, 3 * sigma), steps=9
    )
    pm.Normal("x", level, 0.3 * sigma, observed=SERIES)


# --- covariance matrices --------------------------------------------------------------------------


@solved(
    lambda: normal_wishart(
        ("mu", "Sigma"), (np.array([0, 1]), 0.5, 4, PSI), VECTORS, "InverseWishart"
    ),
    own=True,
)
def vectors_as_this_project_declares_them():
    return bm.NormalInverseWishart([0, 1], 0.5, 4, PSI).declare(VECTORS)


@solved(
    lambda: stacked(
        normal_wishart(
            ("mu", "Sigma"), (np.array([0, 1]), 0.5, 4, PSI), VECTORS[rows], "InverseWishart"
        )
        for rows in ([0, 2, 3, 8], [1, 4, 5, 6, 7])
    ),
    own=True,
)
def groups_of_vectors_as_this_project_declares_them():
    groups = bm.Grouped(VECTORS, list("abaabbbba"), groups=["a", "b"])
    return bm.NormalInverseWishart([0, 1], 0.5, 4, PSI).declare(groups)


@solved(lambda: normal_wishart((None, "Lambda"), (np.array([1, -2]), 1, 4, PSI), VECTORS))
def a_precision_matrix_about_a_known_mean():
    precision = pm.Wishart("Lambda", nu=4, V=np.linalg.inv(PSI))
    pm.MvNormal("x", np.array([1, -2]), tau=precision, observed=VECTORS)


@solved(lambda: normal_wishart(("mu", "Lambda"), (np.array([0, 1]), 0.5, 4, PSI), VECTORS))
def a_mean_vector_and_a_precision_matrix():
    precision = pm.Wishart("Lambda", nu=4, V=np.linalg.inv(PSI))
    mu = pm.MvNormal("mu", np.array([0, 1]), tau=0.5 * precision)
    pm.MvNormal("x", mu, tau=precision, observed=VECTORS)
