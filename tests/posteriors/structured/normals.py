"""Jointly normal models: crossed effects, splines, processes, levels in time, trees, maps.

Their references are dense: the covariance of the rows, and its Cholesky factor; or Kalman's filter
as in statsmodels.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import interpolate, linalg

from tests.posteriors.entry import solved
from tests.posteriors.integrated.normal_block import indicators
from tests.posteriors.references import linear, linear_unknown_scale
from tests.posteriors.structured.hand import Truth, filtered, told

RNG = np.random.default_rng(20261201)


def diagonal(*parts):
    """Return a covariance of independent coefficients, given their numbers and sds."""
    return np.diag(np.concatenate([np.full(n, sd**2.0) for n, sd in parts]))


def centred(cov):
    return np.zeros(len(cov)), cov


def walk(n, start, step):
    """Return the covariance of a walk."""
    time = np.arange(n)
    return start**2 + step**2 * np.minimum(time[:, None], time)


# --- effects --------------------------------------------------------------------------------------

STUDENT, ITEM = (x.ravel() for x in np.mgrid[:20, :15])
SCORES = RNG.normal(size=20)[STUDENT] + RNG.normal(size=15)[ITEM] + RNG.normal(size=300)


def _crossed():
    X = np.hstack([np.ones((300, 1)), indicators(STUDENT), indicators(ITEM)])
    shapes = {"mean": (), "student": (20,), "item": (15,)}
    return linear(shapes, centred(diagonal((1, 5), (20, 1), (15, 0.7))), X, SCORES, 1.0)


@solved(_crossed)
def students_and_items():
    mean = pm.Normal("mean", 0, 5)
    student = pm.Normal("student", 0, 1, shape=20)
    item = pm.Normal("item", 0, 0.7, shape=15)
    pm.Normal("y", mean + student[STUDENT] + item[ITEM], 1, observed=SCORES)


def summing_to_zero(n):
    """Return a basis of effects that sum to zero."""
    return linalg.orth(np.eye(n) - 1 / n)


def _zero_sums():
    form, item = 0.8 * summing_to_zero(5), 0.7 * summing_to_zero(15)
    X = np.hstack([5 * np.ones((300, 1)), indicators(STUDENT % 5) @ form, indicators(ITEM) @ item])
    found = linear({"z": (19,)}, centred(np.eye(19)), X, SCORES, 1.0)
    z = found.mean["z"]
    mean = {"mean": 5 * z[0], "form": form @ z[1:5], "item": item @ z[5:]}
    return Truth(found.log_evidence, mean)


@solved(_zero_sums)
def forms_and_items_that_sum_to_zero():
    mean = pm.Normal("mean", 0, 5)
    form = pm.ZeroSumNormal("form", sigma=0.8, shape=5)
    item = pm.ZeroSumNormal("item", sigma=0.7, shape=15)
    pm.Normal("y", mean + form[STUDENT % 5] + item[ITEM], 1, observed=SCORES)


def _interaction():
    both = 0.5 * np.kron(summing_to_zero(5), summing_to_zero(15))
    X = indicators(STUDENT % 5 * 15 + ITEM) @ both
    found = linear({"z": (56,)}, centred(np.eye(56)), X, SCORES, 1.0)
    return Truth(found.log_evidence, {"both": (both @ found.mean["z"]).reshape(5, 15)})


@solved(_interaction)
def an_interaction_that_sums_to_zero_both_ways():
    both = pm.ZeroSumNormal("both", sigma=0.5, shape=(5, 15), n_zerosum_axes=2)
    pm.Normal("y", both[STUDENT % 5, ITEM], 1, observed=SCORES)


def _crossed_scaled():
    X = np.hstack([indicators(STUDENT), indicators(ITEM)])
    prior = centred(diagonal((20, 1), (15, 0.7)))
    shapes = {"student": (20,), "item": (15,)}
    return linear_unknown_scale(shapes, prior, X, SCORES, 1.0, "square", (3, 2))


@solved(_crossed_scaled)
def students_and_items_with_one_unknown_variance():
    square = pm.InverseGamma("square", 3, 2)
    sd = pm.math.sqrt(square)
    student = pm.Normal("student", 0, sd, shape=20)
    item = pm.Normal("item", 0, 0.7 * sd, shape=15)
    pm.Normal("y", student[STUDENT] + item[ITEM], sd, observed=SCORES)


PUPIL = np.arange(180)
CLASS = PUPIL // 10
SCHOOL = np.arange(18) // 6


def _nested():
    # effects of classes include those of their schools
    own = np.kron(np.eye(3), np.ones((6, 6)))
    cov = np.zeros((22, 22))
    cov[0, :] = cov[:, 0] = 25.0
    cov[1:4, 1:4] = 25 + np.eye(3)
    cov[4:, 4:] = 25 + own + 0.25 * np.eye(18)
    cov[1:4, 4:] = 25 + np.kron(np.eye(3), np.ones((1, 6)))
    cov[4:, 1:4] = cov[1:4, 4:].T
    X = np.hstack([np.zeros((180, 4)), indicators(CLASS)])
    shapes = {"mean": (), "school": (3,), "class_": (18,)}
    return linear(shapes, centred(cov), X, SCORES[:180], 1.0)


@solved(_nested)
def pupils_in_classes_in_schools():
    mean = pm.Normal("mean", 0, 5)
    school = pm.Normal("school", mean, 1, shape=3)
    class_ = pm.Normal("class_", school[SCHOOL], 0.5, shape=18)
    pm.Normal("y", class_[CLASS], 1, observed=SCORES[:180])


A, B, C = (x.ravel() for x in np.mgrid[:6, :5, :4])
HARVEST = RNG.normal(10, 2, 120)


def _three_ways():
    X = np.hstack([np.ones((120, 1)), indicators(A), indicators(B), indicators(C)])
    X = np.hstack([X, indicators(5 * A + B)])
    cov = diagonal((1, 5), (6, 1), (5, 1), (4, 2), (30, 0.5))
    mean = np.array([10.0, *np.zeros(45)])
    shapes = {"mean": (), "variety": (6,), "field": (5,), "year": (4,), "both": (6, 5)}
    return linear(shapes, (mean, cov), X, HARVEST, 2.25)


@solved(_three_ways)
def varieties_fields_and_years_with_interactions():
    mean = pm.Normal("mean", 10, 5)
    variety, field = pm.Normal("variety", 0, 1, shape=6), pm.Normal("field", 0, 1, shape=5)
    year, both = pm.Normal("year", 0, 2, shape=4), pm.Normal("both", 0, 0.5, shape=(6, 5))
    expected = mean + variety[A] + field[B] + year[C] + both[A, B]
    pm.Normal("y", expected, 1.5, observed=HARVEST)


DOSE = np.tile(np.linspace(-1, 1, 6), 12)
PERSON = np.repeat(np.arange(12), 6)
LOADED = np.array([[1.0, 0.3], [0.3, 0.5]])


def _slopes():
    X = np.hstack([indicators(PERSON) * x[:, None] for x in (np.ones(72), DOSE)])
    X = X.reshape(72, 2, 12).transpose(0, 2, 1).reshape(72, 24)
    return linear({"b": (12, 2)}, centred(np.kron(np.eye(12), LOADED)), X, SCORES[:72], 0.64)


@solved(_slopes)
def lines_of_twelve_people_with_a_known_covariance():
    b = pm.MvNormal("b", np.zeros(2), cov=LOADED, shape=(12, 2))
    pm.Normal("y", b[PERSON, 0] + b[PERSON, 1] * DOSE, 0.8, observed=SCORES[:72])


# --- splines and processes ------------------------------------------------------------------------

PLACE = np.linspace(0, 1, 90)
WAVE = np.sin(6 * PLACE) + RNG.normal(0, 0.3, 90)
HATS = np.maximum(0, 1 - np.abs(PLACE[:, None] * 15 - np.arange(16)))


@solved(lambda: linear({"w": (16,)}, centred(walk(16, 3, 0.5)), HATS, WAVE, 0.09))
def a_linear_spline_with_weights_that_walk():
    first = pm.Normal.dist(0, 3)
    w = pm.GaussianRandomWalk("w", sigma=0.5, init_dist=first, steps=15)
    pm.Normal("y", HATS @ w, 0.3, observed=WAVE)


KNOTS = np.concatenate([np.zeros(3), np.linspace(0, 1, 10), np.ones(3)])
CUBIC = interpolate.BSpline.design_matrix(PLACE, KNOTS, 3).toarray()


def _penalised():
    bends = np.diff(np.eye(12), 2, axis=0)
    X = np.vstack([CUBIC, bends])
    noise = np.concatenate([np.full(90, 0.09), np.full(10, 0.25)])
    y = np.concatenate([WAVE, np.zeros(10)])
    return linear({"w": (12,)}, centred(diagonal((12, 10))), X, y, noise)


@solved(_penalised)
def a_cubic_spline_with_penalised_bends():
    w = pm.Normal("w", 0, 10, shape=12)
    bend = w[2:] - 2 * w[1:-1] + w[:-2]
    pm.Potential("smooth", pm.logp(pm.Normal.dist(0, 0.5), bend).sum())
    pm.Normal("y", pm.math.dot(CUBIC, w), 0.3, observed=WAVE)


def _additive():
    X = np.hstack([HATS, HATS[::-1] ** 2])
    cov = linalg.block_diag(walk(16, 3, 0.5), walk(16, 1, 0.2))
    return linear({"u": (16,), "v": (16,)}, centred(cov), X, WAVE, 0.09)


@solved(_additive)
def two_splines_that_are_added():
    u, v = (
        pm.GaussianRandomWalk(name, sigma=step, init_dist=pm.Normal.dist(0, sd), steps=15)
        for name, sd, step in (("u", 3, 0.5), ("v", 1, 0.2))
    )
    pm.Normal("y", HATS @ u + HATS[::-1] ** 2 @ v, 0.3, observed=WAVE)


GRID = np.arange(40.0)
GAP = np.abs(GRID[:, None] - GRID)
SEEN = np.sin(GRID / 4) + RNG.normal(0, 0.5, 40)
JITTER = 1e-6


def matern(gap, length):
    r = np.sqrt(3) * gap / length
    return (1 + r) * np.exp(-r)


@solved(
    lambda: linear(
        {"f": (40,)}, centred(4 * matern(GAP, 5) + JITTER * np.eye(40)), np.eye(40), SEEN, 0.25
    ),
)
def a_matern_process_on_a_grid():
    cov = 4 * pm.gp.cov.Matern32(1, ls=5)
    f = pm.gp.Latent(cov_func=cov).prior("f", X=GRID[:, None], reparameterize=False)
    pm.Normal("y", f, 0.5, observed=SEEN)


def _rotated():
    root = linalg.cholesky(np.exp(-((GAP / 3) ** 2) / 2) + JITTER * np.eye(40), lower=True)
    return linear({"f_rotated_": (40,)}, centred(np.eye(40)), root, SEEN, 0.25)


@solved(_rotated)
def a_smooth_process_that_is_not_centred():
    cov = pm.gp.cov.ExpQuad(1, ls=3)
    f = pm.gp.Latent(cov_func=cov).prior("f", X=GRID[:, None])
    pm.Normal("y", f, 0.5, observed=SEEN)


def _marginal():
    X = np.column_stack([GRID, np.ones(40)])
    cov = matern(GAP, 5) + (0.25 + JITTER) * np.eye(40)
    return linear({"slope": (), "level": ()}, centred(diagonal((1, 1), (1, 5))), X, SEEN, cov)


@solved(_marginal)
def a_process_about_a_line_by_its_marginal_law():
    slope, level = pm.Normal("slope", 0, 1), pm.Normal("level", 0, 5)
    mean = pm.gp.mean.Linear(coeffs=slope, intercept=level)
    gp = pm.gp.Marginal(mean_func=mean, cov_func=pm.gp.cov.Matern32(1, ls=5))
    gp.marginal_likelihood("y", X=GRID[:, None], y=SEEN, sigma=0.5)


OU = np.exp(-GAP[:25, :25] / 3)


@solved(lambda: linear({"f": (25,)}, centred(OU), np.eye(25)[::2], SEEN[:25:2], 0.04))
def a_process_by_its_covariance_at_places_between():
    f = pm.MvNormal("f", np.zeros(25), cov=OU)
    pm.Normal("y", f[::2], 0.2, observed=SEEN[:25:2])


@solved(
    lambda: linear({"f": (25,)}, centred(OU), np.eye(25), SEEN[:25], 0.5 * OU + 0.1 * np.eye(25)),
)
def a_process_with_noise_that_is_correlated():
    f = pm.MvNormal("f", np.zeros(25), cov=OU)
    pm.MvNormal("y", f, cov=0.5 * OU + 0.1 * np.eye(25), observed=SEEN[:25])


def _hilbert():
    L, m, length = 30.0, 12, 4.0
    x = (GRID - 19.5)[:, None]
    root = np.pi * np.arange(1, m + 1) / (2 * L)
    phi = np.sin(root * (x + L)) / np.sqrt(L)
    power = np.sqrt(2 * np.pi) * length * np.exp(-((length * root) ** 2) / 2)
    return linear({"f_hsgp_coeffs": (m,)}, centred(np.eye(m)), phi * np.sqrt(power), SEEN, 0.25)


@solved(_hilbert)
def a_process_by_hilbert_s_basis():
    gp = pm.gp.HSGP(m=[12], L=[30.0], cov_func=pm.gp.cov.ExpQuad(1, ls=4.0))
    f = gp.prior("f", X=(GRID - 19.5)[:, None])
    pm.Normal("y", f, 0.5, observed=SEEN)


def _sum():
    one = np.exp(-2 * np.sin(np.pi * GAP / 12) ** 2) + JITTER * np.eye(40)
    other = 0.25 * matern(GAP, 20) + JITTER * np.eye(40)
    X = np.hstack([np.eye(40), np.eye(40)])
    shapes = {"season": (40,), "trend": (40,)}
    return linear(shapes, centred(linalg.block_diag(one, other)), X, SEEN, 0.25)


@solved(_sum)
def a_season_and_a_trend_as_processes():
    X = GRID[:, None]
    year = pm.gp.cov.Periodic(1, period=12, ls=0.5)
    season = pm.gp.Latent(cov_func=year).prior("season", X=X, reparameterize=False)
    slow = 0.25 * pm.gp.cov.Matern32(1, ls=20)
    trend = pm.gp.Latent(cov_func=slow).prior("trend", X=X, reparameterize=False)
    pm.Normal("y", season + trend, 0.5, observed=SEEN)


SIDE = np.exp(-np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))) / 2)
TALL = np.exp(-np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))))
PLATE = RNG.normal(size=30)


@solved(
    lambda: linear({"f": (30,)}, centred(np.kron(SIDE, TALL)), np.eye(30), PLATE, 0.25),
)
def a_process_on_a_plate_by_kronecker():
    f = pm.KroneckerNormal("f", np.zeros(30), covs=[SIDE, TALL])
    pm.Normal("y", f, 0.5, observed=PLATE)


@solved(
    lambda: linear({"f": (6, 5)}, centred(np.kron(SIDE, TALL)), np.eye(30), PLATE, 0.25),
)
def a_matrix_of_normal_numbers():
    f = pm.MatrixNormal("f", np.zeros((6, 5)), rowcov=SIDE, colcov=TALL)
    pm.Normal("y", f, 0.5, observed=PLATE.reshape(6, 5))


# --- in time --------------------------------------------------------------------------------------

FLOW = np.cumsum(RNG.normal(0, 0.5, 150)) + RNG.normal(size=150)
HOLES = np.where(np.arange(150) % 7 == 0, np.nan, FLOW)
ONE = np.eye(1)


def _level(y, **more):
    return filtered(
        y, seen=ONE, noise=ONE, move=ONE, steps=0.25 * ONE, start=[0], spread=100 * ONE, **more
    )


def _local():
    total, states = _level(FLOW)
    return Truth(total, {"level": states[:, 0]})


@solved(_local)
def a_local_level():
    first = pm.Normal.dist(0, 10)
    level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=first, steps=149)
    pm.Normal("y", level, 1, observed=FLOW)


def _holes():
    total, states = _level(HOLES)
    level = states[:, 0]
    return Truth(total, {"level": level, "y_unobserved": level[np.isnan(HOLES)]})


@solved(_holes)
def a_local_level_of_which_rows_are_missing():
    first = pm.Normal.dist(0, 10)
    level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=first, steps=149)
    pm.Normal("y", level, 1, observed=HOLES)


def _listed():
    total, states = _level(FLOW[:25])
    return Truth(total, {f"level_{i}": x[0] for i, x in enumerate(states)})


@solved(_listed)
def a_local_level_as_a_list_of_variables():
    level = pm.Normal("level_0", 0, 10)
    for i in range(25):
        if i:
            level = pm.Normal(f"level_{i}", level, 0.5)
        pm.Normal(f"y_{i}", level, 1, observed=FLOW[i])


def _trend():
    total, states = filtered(
        FLOW[:80],
        seen=[[1.0, 0.0]],
        noise=ONE,
        move=[[1.0, 1.0], [0.0, 1.0]],
        steps=np.diag([0.09, 0.01]),
        start=[0, 0],
        spread=np.diag([100.0, 1.0]),
    )
    return Truth(total, {"level": states[:, 0], "slope": states[:, 1]})


@solved(_trend)
def a_local_linear_trend():
    first = pm.Normal.dist(0, 1)
    slope = pm.GaussianRandomWalk("slope", sigma=0.1, init_dist=first, steps=79)
    level = pm.Normal("level", 0, 10, shape=80)
    # the law of the steps, in place of that of independent levels
    own = pm.logp(pm.Normal.dist(0, 10), level[1:]).sum()
    steps = pm.logp(pm.Normal.dist(level[:-1] + slope[:-1], 0.3), level[1:]).sum()
    pm.Potential("steps", steps - own)
    pm.Normal("y", level, 1, observed=FLOW[:80])


QUARTERS = FLOW[:60] + np.tile([2.0, -1.0, 0.5, -1.5], 15)


def _seasonal():
    move = np.zeros((4, 4))
    move[0, 0], move[1, 1:], move[2, 1], move[3, 2] = 1, -1, 1, 1
    total, states = filtered(
        QUARTERS[2:],
        seen=[[1.0, 1.0, 0.0, 0.0]],
        noise=ONE,
        move=move,
        steps=np.diag([0.25, 0.04, 0, 0]),
        start=np.zeros(4),
        spread=np.diag([100.0, 9.0, 9.0, 9.0]),
    )
    season = np.concatenate([states[0, [3, 2]], states[:, 1]])
    return Truth(total, {"level": states[:, 0], "season": season})


@solved(_seasonal)
def a_level_and_a_season_that_changes():
    first = pm.Normal.dist(0, 10)
    level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=first, steps=57)
    season = pm.AR(
        "season", [-1, -1, -1], sigma=0.2, init_dist=pm.Normal.dist(0, 3, shape=3), steps=57
    )
    pm.Normal("y", level + season[2:], 1, observed=QUARTERS[2:])


def _ar():
    total, states = filtered(
        FLOW[1:],
        seen=[[1.0, 0.0]],
        noise=ONE,
        move=[[1.2, -0.4], [1.0, 0.0]],
        steps=np.diag([0.25, 0.0]),
        start=[0, 0],
        spread=100 * np.eye(2),
    )
    return Truth(total, {"x": np.concatenate([states[:1, 1], states[:, 0]])})


@solved(_ar)
def an_autoregression_of_order_two_with_noise():
    x = pm.AR("x", [1.2, -0.4], sigma=0.5, init_dist=pm.Normal.dist(0, 10, shape=2), steps=148)
    pm.Normal("y", x[1:], 1, observed=FLOW[1:])


DRIVER = RNG.normal(size=60)


def _coefficients():
    total, states = filtered(
        FLOW[:60],
        seen=np.stack([np.ones(60), DRIVER])[None],
        noise=ONE,
        move=np.eye(2),
        steps=np.diag([0.25, 0.01]),
        start=[0, 0],
        spread=np.diag([100.0, 1.0]),
    )
    return Truth(total, {"level": states[:, 0], "slope": states[:, 1]})


@solved(_coefficients)
def a_regression_whose_coefficients_walk():
    level, slope = (
        pm.GaussianRandomWalk(name, sigma=step, init_dist=pm.Normal.dist(0, sd), steps=59)
        for name, sd, step in (("level", 10, 0.5), ("slope", 1, 0.1))
    )
    pm.Normal("y", level + slope * DRIVER, 1, observed=FLOW[:60])


TURN = np.array([[0.9, 0.2], [-0.3, 0.8]])
PUSH = np.array([[0.3, 0.1], [0.1, 0.2]])
BOTH = RNG.normal(size=(30, 2))


def _vector():
    total, states = filtered(
        BOTH,
        seen=np.eye(2),
        noise=0.25 * np.eye(2),
        move=TURN,
        steps=PUSH,
        start=[0, 0],
        spread=4 * np.eye(2),
    )
    return Truth(total, {"x": states})


@solved(_vector)
def a_vector_autoregression_with_noise():
    x = pm.MvNormal("x", np.zeros(2), cov=4 * np.eye(2), shape=(30, 2))
    own = pm.logp(pm.MvNormal.dist(np.zeros(2), cov=4 * np.eye(2)), x[1:]).sum()
    ahead = pm.MvNormal.dist(pm.math.dot(x[:-1], TURN.T), cov=PUSH)
    pm.Potential("steps", pm.logp(ahead, x[1:]).sum() - own)
    pm.Normal("y", x, 0.5, observed=BOTH)


def _walks():
    total, states = filtered(
        BOTH,
        seen=np.eye(2),
        noise=0.25 * np.eye(2),
        move=np.eye(2),
        steps=PUSH,
        start=[0, 0],
        spread=4 * np.eye(2),
    )
    return Truth(total, {"x": states})


@solved(_walks)
def two_walks_whose_steps_are_correlated():
    first = pm.MvNormal.dist(np.zeros(2), cov=4 * np.eye(2))
    x = pm.MvGaussianRandomWalk("x", mu=np.zeros(2), cov=PUSH, init_dist=first, steps=29)
    pm.Normal("y", x, 0.5, observed=BOTH)


def _sde():
    # Euler and Maruyama: x + 0.1 (1 - 0.5 x) + sqrt(0.1) 0.4 z
    total, states = filtered(
        FLOW[:50] - 2,
        seen=ONE,
        noise=0.25 * ONE,
        move=0.95 * ONE,
        steps=0.016 * ONE,
        start=[-2],
        spread=ONE,
    )
    return Truth(total, {"x": 2 + states[:, 0]})


@solved(_sde)
def a_linear_stochastic_differential_equation():
    def moves(x, pull):
        return 1 - pull * x, 0.4

    first = pm.Normal.dist(0, 1)
    x = pm.EulerMaruyama("x", dt=0.1, sde_fn=moves, sde_pars=(0.5,), init_dist=first, steps=49)
    pm.Normal("y", x, 0.5, observed=FLOW[:50])


LAGGED = np.column_stack(
    [np.eye(30) + 0.5 * np.eye(30, k=-1) + 0.3 * np.eye(30, k=-2), DRIVER[:30]]
)


@solved(
    lambda: linear(
        {"x": (30,), "b": ()}, centred(diagonal((30, 1), (1, 2))), LAGGED, FLOW[:30], 0.25
    ),
)
def a_regression_on_lagged_states():
    x, b = pm.Normal("x", 0, 1, shape=30), pm.Normal("b", 0, 2)
    before = pt.concatenate([pt.zeros(1), x[:-1]])
    earlier = pt.concatenate([pt.zeros(2), x[:-2]])
    pm.Normal("y", x + 0.5 * before + 0.3 * earlier + b * DRIVER[:30], 0.5, observed=FLOW[:30])


# --- trees, maps and measurements -----------------------------------------------------------------

ABOVE = np.array([-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])
BRANCH = np.array([4, 1, 2, 0.5, 1, 0.3, 0.7, 1, 1, 0.6, 0.4, 1.2, 0.9, 0.3, 0.5])
TIPS = RNG.normal(size=8) * 2


def shared():
    """Return the covariance of all nodes: the branches that two have in common."""
    lines = np.zeros((15, 15))
    for i in range(15):
        lines[i] = lines[ABOVE[i]] if i else 0
        lines[i, i] = 1
    return lines * BRANCH @ lines.T


@solved(lambda: _named_nodes(linear({"x": (15,)}, centred(shared()), np.eye(15)[7:], TIPS, 0.01)))
def brownian_motion_on_a_phylogeny():
    x = [pm.Normal("x_0", 0, 2)]
    for i in range(1, 15):
        x.append(pm.Normal(f"x_{i}", x[ABOVE[i]], np.sqrt(BRANCH[i])))
    for i in range(7, 15):
        pm.Normal(f"tip {i}", x[i], 0.1, observed=TIPS[i - 7])


def _named_nodes(reference):
    return Truth(reference.log_evidence, {f"x_{i}": m for i, m in enumerate(reference.mean["x"])})


def _contrasts():
    tips = shared()[7:, 7:] - 4
    X = np.column_stack([np.ones(8), SEEN[:8]])
    shapes = {"root": (), "slope": ()}
    return linear(shapes, centred(diagonal((1, 2), (1, 1))), X, TIPS, tips)


@solved(_contrasts)
def a_regression_over_species_that_are_related():
    root, slope = pm.Normal("root", 0, 2), pm.Normal("slope", 0, 1)
    cov = shared()[7:, 7:] - 4
    pm.MvNormal("y", root + slope * SEEN[:8], cov=cov, observed=TIPS)


SQUARE = np.arange(64).reshape(8, 8)
NEAR = np.zeros((64, 64), dtype=int)
for _one, _other in ((SQUARE[1:], SQUARE[:-1]), (SQUARE[:, 1:], SQUARE[:, :-1])):
    NEAR[_one.ravel(), _other.ravel()] = NEAR[_other.ravel(), _one.ravel()] = 1
COUNTY = RNG.normal(size=64)


def _car():
    precision = np.diag(NEAR.sum(1)) - 0.9 * NEAR
    prior = np.zeros(64), np.linalg.inv(precision)
    part = linear({"phi": (64,)}, prior, np.eye(64), COUNTY, 0.49)
    # PyMC leaves constants of its density out
    left_out = np.log(NEAR.sum(1)).sum() / 2 - 32 * np.log(2 * np.pi)
    return Truth(part.log_evidence - left_out, part.mean)


@solved(_car)
def a_map_of_conditional_autoregressions():
    phi = pm.CAR("phi", mu=np.zeros(64), W=NEAR, alpha=0.9, tau=1.0)
    pm.Normal("y", phi, 0.7, observed=COUNTY)


def _icar():
    # PyMC's law: pairs without a constant, and a sum of sd 0.001 n
    pairs = np.argwhere(np.triu(NEAR))
    D = np.eye(64)[pairs[:, 0]] - np.eye(64)[pairs[:, 1]]
    precision = D.T @ D + np.ones((64, 64)) / 0.064**2
    cov = np.linalg.inv(precision)
    root = np.linalg.slogdet(cov)[1] / 2 + 32 * np.log(2 * np.pi)
    part = linear({"phi": (64,)}, centred(cov), np.eye(64), COUNTY, 0.49)
    constant = -np.log(0.064) - np.log(2 * np.pi) / 2
    return Truth(part.log_evidence + root + constant, part.mean)


@solved(_icar)
def a_map_of_intrinsic_autoregressions():
    phi = pm.ICAR("phi", W=NEAR)
    pm.Normal("y", phi, 0.7, observed=COUNTY)


def _grid():
    pairs = np.argwhere(np.triu(NEAR))
    D = np.eye(64)[pairs[:, 0]] - np.eye(64)[pairs[:, 1]]
    X = np.vstack([np.eye(64), D])
    noise = np.concatenate([np.full(64, 0.49), np.full(len(D), 0.25)])
    y = np.concatenate([COUNTY, np.zeros(len(D))])
    return linear({"f": (8, 8)}, centred(diagonal((64, 3))), X, y, noise)


@solved(_grid)
def a_picture_that_is_smoothed():
    f = pm.Normal("f", 0, 3, shape=(8, 8))
    law = pm.Normal.dist(0, 0.5)
    pm.Potential("down", pm.logp(law, f[1:] - f[:-1]).sum())
    pm.Potential("across", pm.logp(law, f[:, 1:] - f[:, :-1]).sum())
    pm.Normal("y", f, 0.7, observed=COUNTY.reshape(8, 8))


def _ring():
    D = np.eye(24) - np.roll(np.eye(24), 1, axis=1)
    X, y = np.vstack([np.eye(24), D]), np.concatenate([SEEN[:24], np.zeros(24)])
    noise = np.concatenate([np.full(24, 0.25), np.full(24, 0.04)])
    return linear({"hour": (24,)}, centred(diagonal((24, 5))), X, y, noise)


@solved(_ring)
def hours_of_a_day_on_a_ring():
    hour = pm.Normal("hour", 0, 5, shape=24)
    steps = hour - pt.roll(hour, -1)
    pm.Potential("smooth", pm.logp(pm.Normal.dist(0, 0.2), steps).sum())
    pm.Normal("y", hour, 0.5, observed=SEEN[:24])


def _chain():
    # truth, reference standard, instrument, five readings each
    cov = np.array([[9.0, 9.0, 9.0], [9.0, 9.25, 9.25], [9.0, 9.25, 10.25]])
    X = np.zeros((10, 3))
    X[:5, 1], X[5:, 2] = 1, 1
    return linear({"mass": (), "standard": (), "scale": ()}, centred(cov), X, SEEN[:10], 0.25)


@solved(_chain)
def a_chain_of_measurements():
    mass = pm.Normal("mass", 0, 3)
    standard = pm.Normal("standard", mass, 0.5)
    scale = pm.Normal("scale", standard, 1)
    pm.Normal("first", standard, 0.5, observed=SEEN[:5])
    pm.Normal("second", scale, 0.5, observed=SEEN[5:10])


LOADINGS = RNG.normal(size=(6, 2))
TRAITS = RNG.normal(size=(15, 6))


def _factors():
    X = np.kron(np.eye(15), LOADINGS)
    return linear({"factor": (15, 2)}, centred(np.eye(30)), X, TRAITS.ravel(), 0.5)


@solved(_factors)
def factors_with_known_loadings():
    factor = pm.Normal("factor", 0, 1, shape=(15, 2))
    pm.Normal("y", factor @ LOADINGS.T, np.sqrt(0.5), observed=TRAITS)


HALF = np.where(RNG.random((15, 6)) < 0.2, np.nan, TRAITS)


def _some():
    seen = ~np.isnan(HALF.ravel())
    X = np.kron(np.eye(15), LOADINGS)
    part = told(linear({"factor": (15, 2)}, centred(np.eye(30)), X[seen], HALF.ravel()[seen], 0.5))
    lost = X[~seen] @ part.mean["factor"].ravel()
    return Truth(part.log_evidence, {**part.mean, "y_unobserved": lost})


@solved(_some)
def factors_of_rows_with_missing_numbers():
    factor = pm.Normal("factor", 0, 1, shape=(15, 2))
    pm.Normal("y", factor @ LOADINGS.T, np.sqrt(0.5), observed=HALF)


SURVEYS = RNG.integers(0, 6, 40)
POLLS = RNG.normal(0.5, 0.05, 40)
WEEK = np.sort(RNG.integers(0, 20, 40))


def _polls():
    X = np.hstack([indicators(WEEK) @ np.eye(WEEK.max() + 1, 20), indicators(SURVEYS)])
    cov = linalg.block_diag(walk(20, 0.1, 0.01), 0.0004 * np.eye(6))
    mean = np.concatenate([np.full(20, 0.5), np.zeros(6)])
    return linear({"share": (20,), "house": (6,)}, (mean, cov), X, POLLS, 0.0009)


@solved(_polls)
def polls_of_six_houses_week_by_week():
    first = pm.Normal.dist(0.5, 0.1)
    share = pm.GaussianRandomWalk("share", sigma=0.01, init_dist=first, steps=19)
    house = pm.Normal("house", 0, 0.02, shape=6)
    pm.Normal("poll", share[WEEK] + house[SURVEYS], 0.03, observed=POLLS)
