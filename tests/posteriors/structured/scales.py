"""Structured models of which one or two scalars are unknown, integrated: the rest is summed out."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import stats
from scipy.special import logsumexp

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.normal_block import columns, covariance, indicators, linear
from tests.posteriors.integrated.quadrature import POSITIVE, REAL, UNIT
from tests.posteriors.integrated.row import row
from tests.posteriors.structured import chains, changes, counts, mixtures, normals, trees
from tests.posteriors.structured.hand import along_tree, path


def of_finite(logs):
    """Return log totals, and mean and variance of a bit, from log masses (points, ..., 2)."""
    total = logsumexp(logs, -1)
    share = np.exp(logs[..., 1] - total)
    return total, (share, share * (1 - share))


def chain_at(first, moves, own, parent=None):
    """Return log evidence and law of the bits of a chain, one point of scalars after the other."""
    parent = path(own.shape[1]) if parent is None else parent
    pairs = zip(moves, own, strict=True)
    found = [along_tree(parent, first, move, one) for move, one in pairs]
    share = np.array([law[:, 1] for _, law in found])
    return np.array([total for total, _ in found]), (share, share * (1 - share))


SIGNAL = chains.SIGNAL[:40]


def _noise(noise):
    own = stats.norm.pdf(SIGNAL[:, None], chains.LEVELS, noise[:, None, None])
    moves = np.broadcast_to(chains.MOVES, (len(noise), 2, 2))
    logs, block = chain_at(chains.HALF, moves, own)
    return logs + laws.half_normal(noise, 2), {"state": block}


@row(_noise, rows=80, noise=POSITIVE)
def a_chain_of_unknown_noise():
    noise = pm.HalfNormal("noise", 2)
    state = pm.Bernoulli("state", 0.5, shape=40)
    chains.moved(state, chains.MOVES, 2)
    pm.Normal("y", pt.constant(chains.LEVELS)[state], noise, observed=SIGNAL)


def _stay(stay):
    moves = np.stack([np.stack([stay, 1 - stay], -1), np.stack([1 - stay, stay], -1)], -2)
    own = stats.poisson.pmf(chains.QUAKES[:40, None], [2.0, 7.0])
    logs, block = chain_at(chains.HALF, moves, np.broadcast_to(own, (len(stay), 40, 2)))
    return logs + laws.beta(stay, 8, 2), {"state": block}


@row(_stay, rows=80, stay=UNIT)
def a_chain_that_stays_with_an_unknown_probability():
    stay = pm.Beta("stay", 8, 2)
    state = pm.Bernoulli("state", 0.5, shape=40)
    same = pt.eq(state[1:], state[:-1])
    pm.Potential("moves", pt.log(2 * pt.switch(same, stay, 1 - stay)).sum())
    pm.Poisson("y", pt.switch(state, 7.0, 2.0), observed=chains.QUAKES[:40])


def _divided(stay):
    moves = np.stack([np.stack([stay, 1 - stay], -1), np.stack([1 - stay, stay], -1)], -2)
    own = stats.norm.pdf(trees.NOISE[:31, None], [-1, 1], 1.5)
    every = np.broadcast_to(own, (len(stay), 31, 2))
    logs, block = chain_at(chains.HALF, moves, every, trees.heap(31))
    return logs + laws.beta(stay, 4, 1), {"cell": block}


@row(_divided, rows=62, stay=UNIT)
def a_lineage_of_cells_that_change_with_an_unknown_probability():
    stay = pm.Beta("stay", 4, 1)
    cell = pm.Bernoulli("cell", 0.5, shape=31)
    same = pt.eq(cell[1:], cell[trees.heap(31)[1:]])
    pm.Potential("divisions", pt.log(2 * pt.switch(same, stay, 1 - stay)).sum())
    pm.Normal("dye", 2 * cell - 1, 1.5, observed=trees.NOISE[:31])


MANY = mixtures.MANY[:60]


def _share(w):
    logs = np.stack([np.log1p(-w), np.log(w)], -1)[:, None] + laws.normal(MANY[:, None], [0, 3], 1)
    total, block = of_finite(logs)
    return total.sum(1), {"label": block}


@row(_share, rows=120, w=UNIT)
def labels_of_sixty_rows_with_an_unknown_share():
    w = pm.Beta("w", 1, 1)
    label = pm.Bernoulli("label", w, shape=60)
    pm.Normal("y", 3 * label, 1, observed=MANY)


def _means(mean):
    logs = np.log(0.5) + laws.normal(MANY[:30, None], mean[:, None, :], 1.0)
    total, block = of_finite(logs)
    return total.sum(1) + laws.normal(mean, [-1.5, 3], 0.5).sum(1), {"label": block}


@row(_means, rows=60, mean=(REAL, 2))
def labels_of_thirty_rows_with_two_unknown_means():
    mean = pm.Normal("mean", [-1.5, 3], 0.5, shape=2)
    label = pm.Bernoulli("label", 0.5, shape=30)
    pm.Normal("y", mean[label], 1, observed=MANY[:30])


def _visits(p):
    n = np.arange(31)
    seen = counts.VISITS[:6, :, None]
    with np.errstate(all="ignore"):
        each = np.where(n >= seen, laws.choose(n, seen), -np.inf).sum(1)
        ones, tries = counts.VISITS[:6].sum(1)[:, None], 3 * n
        logs = each + ones * np.log(p)[:, None, None]
        logs = logs + np.maximum(tries - ones, 0) * np.log1p(-p)[:, None, None] - np.log(31)
    total = logsumexp(logs, -1)
    share = np.exp(logs - total[..., None])
    mean = share @ n
    return total.sum(1) + laws.beta(p, 3, 3), {"n": (mean, share @ n**2 - mean**2)}


@row(_visits, rows=600, p=UNIT)
def numbers_at_six_sites_with_an_unknown_chance_of_being_seen():
    p = pm.Beta("p", 3, 3)
    n = pm.DiscreteUniform("n", 0, 30, shape=6)
    pm.Binomial("seen", n[:, None], p, observed=counts.VISITS[:6])


def _sites(rate):
    n = np.arange(31)
    seen = stats.binom.logpmf(counts.VISITS[:6, :, None], n, 0.5).sum(1)
    prior = stats.poisson.logpmf(n, rate[:, None]) - stats.poisson.logcdf(30, rate[:, None])
    logs = prior[:, None] + seen
    total = logsumexp(logs, -1)
    share = np.exp(logs - total[..., None])
    mean = share @ n
    return total.sum(1) + laws.gamma(rate, 4, 0.5), {"n": (mean, share @ n**2 - mean**2)}


@row(_sites, rows=600, rate=POSITIVE)
def numbers_at_six_sites_about_an_unknown_rate_none_above_thirty():
    rate = pm.Gamma("rate", 4, 0.5)
    n = pm.Truncated("n", pm.Poisson.dist(rate), upper=30, shape=6)
    pm.Binomial("seen", n[:, None], 0.5, observed=counts.VISITS[:6])


BEHIND = changes.TWO[20:50]


def _background(background):
    rows = np.array([(a, b) for a in range(30) for b in range(30)])
    now = changes.segment(np.arange(30), *rows.T)
    rate = np.array([3.0, 9.0, 2.0])[now] + background[:, None, None]
    logs = laws.poisson(BEHIND, rate).sum(-1) - 2 * np.log(30)
    total = logsumexp(logs, -1)
    share = np.exp(logs - total[:, None])
    mean = share @ rows
    block = {
        name: (mean[:, i], share @ rows[:, i] ** 2 - mean[:, i] ** 2)
        for i, name in enumerate(("one", "two"))
    }
    return total + laws.exponential(background, 2), block


@row(_background, rows=30_000, background=POSITIVE)
def two_changes_over_an_unknown_background():
    background = pm.Exponential("background", 2)
    one, two = (pm.DiscreteUniform(name, 0, 29) for name in ("one", "two"))
    t = np.arange(30)
    now = 1 * pt.ge(t, pt.minimum(one, two)) + 1 * pt.ge(t, pt.maximum(one, two))
    rate = pt.constant(np.array([3.0, 9.0, 2.0]))[now] + background
    pm.Poisson("y", rate, observed=BEHIND)


def by_configurations(rows, prior, y, given):
    """Return log density and moments of a block and of finite elements, by a normal law a row.

    `given` has, for a row, the design and the sds of coefficients and of the noise.
    """

    def density(**scalars):
        logs, means, variances = [], [], []
        for one, weight in zip(rows, prior, strict=True):
            X, sd, noise = given(one, **scalars)
            log, block = linear(X, y, sd, noise, watch={"b": np.eye(X.shape[1])})
            logs.append(log + weight)
            means.append(block["b"][0])
            variances.append(block["b"][1])
        logs, means, variances = (np.stack(x, 1) for x in (logs, means, variances))
        total = logsumexp(logs, 1)
        share = np.exp(logs - total[:, None])
        mean = np.einsum("nk,nkp->np", share, means)
        second = np.einsum("nk,nkp->np", share, variances + means**2)
        shown = share @ rows
        return total, (mean, second - mean**2), (shown, share @ rows**2 - shown**2)

    return density


PIECES = np.concatenate([normals.SEEN[:4], normals.SEEN[14:19]])
TIMES = np.array([(a, b) for a in range(9) for b in range(9)])


def _pieces(noise):
    def given(one, noise):
        X = np.eye(3)[changes.segment(np.arange(9), *one)]
        return X, columns(len(noise), mean=(2.0, 3)), noise

    every = by_configurations(TIMES, np.full(81, -2 * np.log(9)), PIECES, given)
    logs, mean, change = every(noise=noise)
    return logs + laws.half_normal(noise, 1), {"mean": mean, "change": change}


@row(_pieces, rows=5000, noise=POSITIVE)
def two_changes_of_unknown_means_with_unknown_noise():
    noise = pm.HalfNormal("noise", 1)
    change = pm.DiscreteUniform("change", 0, 8, shape=2)
    mean = pm.Normal("mean", 0, 2, shape=3)
    pm.Normal("y", mean[pt.ge(np.arange(9)[:, None], change).sum(1)], noise, observed=PIECES)


WILD = mixtures.WILD[:7]
EITHER = np.array([[i >> k & 1 for k in range(7)] for i in range(128)])


def _outliers(noise):
    X = np.column_stack([np.ones(7), np.arange(7) - 3.0])

    def given(one, noise):
        return X, columns(len(noise), level=2.0, slope=1.0), noise[:, None] * np.where(one, 10, 1)

    prior = np.log(np.where(EITHER, 0.1, 0.9)).sum(1)
    logs, (mean, var), outlier = by_configurations(EITHER, prior, WILD, given)(noise=noise)
    block = {"level": (mean[:, 0], var[:, 0]), "slope": (mean[:, 1], var[:, 1])}
    return logs + laws.half_normal(noise, 1), {**block, "outlier": outlier}


@row(_outliers, rows=5000, noise=POSITIVE)
def a_line_among_outliers_with_unknown_noise():
    noise = pm.HalfNormal("noise", 1)
    outlier = pm.Bernoulli("outlier", 0.1, shape=7)
    level, slope = pm.Normal("level", 0, 2), pm.Normal("slope", 0, 1)
    sd = noise * pt.switch(outlier, 10.0, 1.0)
    pm.Normal("y", level + slope * (np.arange(7) - 3.0), sd, observed=WILD)


# --- normal systems -------------------------------------------------------------------------------


def _motion(rate):
    tips = normals.shared()
    square = rate[:, None, None] ** 2
    own = square * (tips - 4) + 4.0
    S = own[:, 7:, 7:] + 0.01 * np.eye(8)
    prior = np.diagonal(own, axis1=1, axis2=2)
    logs, (mean, var) = covariance(normals.TIPS, S, cross=own[:, :, 7:], prior=prior)
    return logs + laws.half_normal(rate, 1), {f"x_{i}": (mean[:, i], var[:, i]) for i in range(15)}


@row(_motion, rows=300, rate=POSITIVE)
def brownian_motion_of_an_unknown_rate():
    rate = pm.HalfNormal("rate", 1)
    x = [pm.Normal("x_0", 0, 2)]
    for i in range(1, 15):
        x.append(pm.Normal(f"x_{i}", x[normals.ABOVE[i]], rate * np.sqrt(normals.BRANCH[i])))
    for i in range(7, 15):
        pm.Normal(f"tip {i}", x[i], 0.1, observed=normals.TIPS[i - 7])


HOLES = normals.HOLES[:40]
KNOWN = ~np.isnan(HOLES)


def _holes(step):
    time = np.arange(40)
    own = 100 + step[:, None, None] ** 2 * np.minimum(time[:, None], time)
    S = own[:, KNOWN][:, :, KNOWN] + np.eye(KNOWN.sum())
    prior = np.diagonal(own, axis1=1, axis2=2)
    logs, (mean, var) = covariance(HOLES[KNOWN], S, cross=own[:, :, KNOWN], prior=prior)
    block = {"level": (mean, var), "y_unobserved": (mean[:, ~KNOWN], 1 + var[:, ~KNOWN])}
    return logs + laws.half_normal(step, 1), block


@row(_holes, rows=2000, step=POSITIVE)
def a_local_level_of_unknown_steps_with_missing_rows():
    step = pm.HalfNormal("step", 1)
    first = pm.Normal.dist(0, 10)
    level = pm.GaussianRandomWalk("level", sigma=step, init_dist=first, steps=39)
    pm.Normal("y", level, 1, observed=HOLES)


def _spline(step, noise):
    # Weights as sums of a first one and of steps
    X = normals.HATS @ np.tri(16)
    sd = np.column_stack([np.full(len(step), 3.0), np.repeat(step[:, None], 15, 1)])
    logs, block = linear(X, normals.WAVE, sd, noise, watch={"w": np.tri(16)})
    return logs + laws.half_normal(step, 1) + laws.half_normal(noise, 1), block


@row(_spline, rows=2000, step=POSITIVE, noise=POSITIVE)
def a_linear_spline_of_unknown_smoothness_and_noise():
    step, noise = pm.HalfNormal("step", 1), pm.HalfNormal("noise", 1)
    first = pm.Normal.dist(0, 3)
    w = pm.GaussianRandomWalk("w", sigma=step, init_dist=first, steps=15)
    pm.Normal("y", normals.HATS @ w, noise, observed=normals.WAVE)


FIVE, FOUR = (x.ravel() for x in np.mgrid[:6, :5])
MARKS = normals.SCORES[:30]


def _crossed(student_sd, item_sd):
    X = np.hstack([indicators(FIVE), indicators(FOUR)])
    points = len(student_sd)
    sd = columns(points, student=(student_sd, 6), item=(item_sd, 5))
    watch = {"student": np.eye(11)[:6], "item": np.eye(11)[6:]}
    logs, block = linear(X, MARKS, sd, np.ones(points), watch=watch)
    return logs + laws.exponential(student_sd, 1) + laws.exponential(item_sd, 1), block


@row(_crossed, rows=1500, student_sd=POSITIVE, item_sd=POSITIVE)
def students_and_items_of_unknown_scales():
    student_sd, item_sd = pm.Exponential("student_sd", 1), pm.Exponential("item_sd", 1)
    student = pm.Normal("student", 0, student_sd, shape=6)
    item = pm.Normal("item", 0, item_sd, shape=5)
    pm.Normal("y", student[FIVE] + item[FOUR], 1, observed=MARKS)


def _process(size, noise):
    own = size[:, None, None] ** 2 * normals.matern(normals.GAP[:20, :20], 5)
    S = own + noise[:, None, None] ** 2 * np.eye(20)
    own = own + 1e-6 * np.eye(20)
    prior = np.diagonal(own, axis1=1, axis2=2)
    S = S + 1e-6 * np.eye(20)
    logs, block = covariance(normals.SEEN[:20], S, cross=own, prior=prior)
    return logs + laws.half_normal(size, 2) + laws.half_normal(noise, 1), {"f": block}


@row(_process, rows=2000, size=POSITIVE, noise=POSITIVE)
def a_process_on_a_grid_of_unknown_size_and_noise():
    size, noise = pm.HalfNormal("size", 2), pm.HalfNormal("noise", 1)
    cov = size**2 * pm.gp.cov.Matern32(1, ls=5)
    X = normals.GRID[:20, None]
    f = pm.gp.Latent(cov_func=cov).prior("f", X=X, reparameterize=False)
    pm.Normal("y", f, noise, observed=normals.SEEN[:20])


NEAR = normals.NEAR[:25, :25]


def _map(tau):
    Q = np.diag(NEAR.sum(1)) - 0.9 * NEAR
    own = np.linalg.inv(Q) / tau[:, None, None]
    S = own + 0.49 * np.eye(25)
    prior = np.diagonal(own, axis1=1, axis2=2)
    logs, block = covariance(normals.COUNTY[:25], S, cross=own, prior=prior)
    left_out = np.log(NEAR.sum(1)).sum() / 2 - 12.5 * np.log(2 * np.pi)  # see a map in normals
    return logs - left_out + laws.gamma(tau, 2, 1), {"phi": block}


@row(_map, rows=1300, tau=POSITIVE)
def a_map_of_unknown_precision():
    tau = pm.Gamma("tau", 2, 1)
    phi = pm.CAR("phi", mu=np.zeros(25), W=NEAR, alpha=0.9, tau=tau)
    pm.Normal("y", phi, 0.7, observed=normals.COUNTY[:25])


def _persistent(phi):
    gap = normals.GAP[:20, :20]
    own = phi[:, None, None] ** gap / (1 - phi[:, None, None] ** 2)
    S = own + 0.25 * np.eye(20)
    prior = np.diagonal(own, axis1=1, axis2=2)
    logs, block = covariance(normals.SEEN[:20], S, cross=own, prior=prior)
    return logs + laws.beta(phi, 2, 2), {"x": block}


@row(_persistent, rows=1000, phi=UNIT)
def a_latent_autoregression_of_unknown_persistence():
    phi = pm.Beta("phi", 2, 2)
    first = pm.Normal.dist(0, 1 / pt.sqrt(1 - phi**2))
    x = pm.AR("x", phi[None], sigma=1, init_dist=first, steps=19)
    pm.Normal("y", x, 0.5, observed=normals.SEEN[:20])
