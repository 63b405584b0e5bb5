"""Series in time: walks with noise, autoregressions, change points.

The Nile at Aswan 1871 to 1970 and numbers of sunspots: as in statsmodels, in the public domain.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import statsmodels.api as sm
from scipy.special import logsumexp

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.normal_block import columns, covariance, linear
from tests.posteriors.integrated.quadrature import POSITIVE, between
from tests.posteriors.integrated.row import row

NILE = sm.datasets.nile.load_pandas().data["volume"].to_numpy()
SPOTS = np.sqrt(sm.datasets.sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()[-61:])
N = len(NILE)


def filtered(y, level, start_sd, q, r, phi=1.0):
    """Return the log density of a walk, or of order one, plus noise, and the smoothed states."""
    points = len(q)
    m, P = np.full(points, float(level)), np.broadcast_to(start_sd, points) ** 2.0
    logs, means, variances = np.zeros(points), [], []
    for i, value in enumerate(y):
        if i:
            m, P = phi * m, phi**2 * P + q**2
        S = P + r**2
        logs = logs + laws.normal(value, m, np.sqrt(S))
        m, P = m + P / S * (value - m), P * r**2 / S
        means.append(m)
        variances.append(P)
    for i in range(len(y) - 2, -1, -1):
        ahead = phi**2 * variances[i] + q**2
        gain = phi * variances[i] / ahead
        mean = means[i] + gain * (means[i + 1] - phi * means[i])
        variances[i] = variances[i] + gain**2 * (variances[i + 1] - ahead)
        means[i] = mean
    return logs, (np.stack(means, -1), np.stack(variances, -1))


def _walk(walk, noise):
    logs, block = filtered(NILE, 1000, 500, walk, noise)
    return logs + laws.half_normal(walk, 100) + laws.half_normal(noise, 200), {"level": block}


@row(_walk, walk=POSITIVE, noise=POSITIVE)
def the_nile_as_a_walk_plus_noise():
    walk = pm.HalfNormal("walk", 100)
    noise = pm.HalfNormal("noise", 200)
    start = pm.Normal.dist(1000, 500)
    level = pm.GaussianRandomWalk("level", mu=0, sigma=walk, init_dist=start, shape=N)
    pm.Normal("flow", level, noise, observed=NILE)


FEW = NILE[:40] / 100


SUMS = np.tri(25)[:, 1:]


def _steps(walk, noise):
    w, s = walk[:, None, None], noise[:, None, None]
    S = 25.0 + w**2 * (SUMS @ SUMS.T) + s**2 * np.eye(25)
    cross = np.concatenate([np.full((len(w), 1, 25), 25.0), w * SUMS.T], 1)
    prior = np.concatenate([np.full((len(w), 1), 25.0), np.ones((len(w), 24))], 1)
    logs, (mean, var) = covariance(FEW[:25], S, mean=10, cross=cross, prior=prior)
    block = {"start": (10 + mean[:, 0], var[:, 0]), "z": (mean[:, 1:], var[:, 1:])}
    return logs + laws.exponential(walk, 1) + laws.exponential(noise, 0.5), block


@row(_steps, rows=2000, walk=POSITIVE, noise=POSITIVE)
def the_nile_as_a_sum_of_steps():
    walk = pm.Exponential("walk", 1)
    noise = pm.Exponential("noise", 0.5)
    start = pm.Normal("start", 10, 5)
    z = pm.Normal("z", 0, 1, shape=24)
    level = pt.concatenate([start[None], start + pt.cumsum(walk * z)])
    pm.Normal("flow", level, noise, observed=FEW[:25])


def _looped(walk, noise):
    logs, (mean, var) = filtered(FEW[:12], 10, 5, walk, noise)
    block = {f"level_{i}": (mean[:, i], var[:, i]) for i in range(12)}
    return logs + laws.inverse_gamma(walk, 2, 1) + laws.inverse_gamma(noise, 2, 1), block


@row(_looped, walk=POSITIVE, noise=POSITIVE)
def a_walk_written_as_a_loop():
    walk = pm.InverseGamma("walk", 2, 1)
    noise = pm.InverseGamma("noise", 2, 1)
    level = pm.Normal("level_0", 10, 5)
    for i in range(12):
        if i:
            level = pm.Normal(f"level_{i}", level, walk)
        pm.Normal(f"flow_{i}", level, noise, observed=FEW[i])


def _ratio(ratio, noise):
    logs, block = filtered(FEW, 10, 5, ratio * noise, noise)
    return logs + laws.half_normal(ratio, 1) + laws.half_cauchy(noise, 1), {"level": block}


@row(_ratio, ratio=POSITIVE, noise=POSITIVE)
def the_nile_by_signal_to_noise():
    ratio = pm.HalfNormal("ratio", 1)
    noise = pm.HalfCauchy("noise", 1)
    level = pm.GaussianRandomWalk(
        "level", sigma=ratio * noise, init_dist=pm.Normal.dist(10, 5), steps=39
    )
    pm.Normal("flow", level, noise, observed=FEW)


RAMPS = np.array([[max(i - j, 0) for j in range(1, 25)] for i in range(25)], dtype=float)
AHEAD = np.arange(25.0)


def _trend(level_sd, slope_sd, noise):
    # Level and slope at each time, as sums of their steps
    scales = [x[:, None, None] ** 2 for x in (level_sd, slope_sd, noise)]
    S = scales[0] * (SUMS @ SUMS.T) + scales[1] * (RAMPS @ RAMPS.T) + scales[2] * np.eye(25)
    S = S + 25 + np.outer(AHEAD, AHEAD)
    points = len(noise)
    cross = np.broadcast_to(np.stack([np.full(25, 25.0), AHEAD]), (points, 2, 25))
    prior = np.broadcast_to([25.0, 1.0], (points, 2))
    logs, (mean, var) = covariance(FEW[:25], S, mean=10, cross=cross, prior=prior)
    block = {"a": (10 + mean[:, 0], var[:, 0]), "b": (mean[:, 1], var[:, 1])}
    prior = laws.half_normal(level_sd, 1) + laws.half_normal(slope_sd, 0.3)
    return logs + prior + laws.half_normal(noise, 2), block


@row(_trend, rows=1500, level_sd=POSITIVE, slope_sd=POSITIVE, noise=POSITIVE)
def local_linear_trend():
    level_sd = pm.HalfNormal("level_sd", 1)
    slope_sd = pm.HalfNormal("slope_sd", 0.3)
    noise = pm.HalfNormal("noise", 2)
    a, b = pm.Normal("a", 10, 5), pm.Normal("b", 0, 1)
    u = pm.Normal("u", 0, 1, shape=24)
    v = pm.Normal("v", 0, 1, shape=24)
    slope = pt.concatenate([b[None], b + slope_sd * pt.cumsum(v)])
    rise = pt.cumsum(slope[:-1] + level_sd * u)
    level = pt.concatenate([a[None], a + rise])
    pm.Normal("flow", level, noise, observed=FEW[:25])


def lagged(y, p):
    return np.column_stack([np.ones(len(y) - p), *(y[p - k - 1 : -k - 1] for k in range(p))])


def autoregression(p, prior, name="rho"):
    """Return the density of the scale of an autoregression given its first values."""
    unit = np.eye(p + 1)

    def density(sigma):
        sd = columns(len(sigma), c=5.0, rho=(0.5 if p > 1 else 1.0, p))
        watch = {"c": unit[0], name: unit[1:] if p > 1 else unit[1]}
        logs, block = linear(lagged(SPOTS, p), SPOTS[p:], sd, sigma, watch=watch)
        return logs + prior(sigma), block

    return density


@row(autoregression(1, lambda s: laws.half_normal(s, 3)), sigma=POSITIVE)
def autoregression_of_order_one():
    c = pm.Normal("c", 0, 5)
    rho = pm.Normal("rho", 0, 1)
    sigma = pm.HalfNormal("sigma", 3)
    pm.Normal("y", c + rho * SPOTS[:-1], sigma, observed=SPOTS[1:])


@row(autoregression(2, lambda s: laws.half_cauchy(s, 2)), sigma=POSITIVE)
def autoregression_of_order_two():
    c = pm.Normal("c", 0, 5)
    rho = pm.Normal("rho", 0, 0.5, shape=2)
    sigma = pm.HalfCauchy("sigma", 2)
    mu = c + rho[0] * SPOTS[1:-1] + rho[1] * SPOTS[:-2]
    pm.Normal("y", mu, sigma, observed=SPOTS[2:])


@row(autoregression(3, lambda s: laws.exponential(s, 1)), sigma=POSITIVE)
def autoregression_of_order_three():
    c = pm.Normal("c", 0, 5)
    rho = pm.Normal("rho", 0, 0.5, shape=3)
    sigma = pm.Exponential("sigma", 1)
    mu = c + sum(rho[k] * SPOTS[2 - k : len(SPOTS) - k - 1] for k in range(3))
    pm.Normal("y", mu, sigma, observed=SPOTS[3:])


def _with_start(sigma):
    unit = np.eye(3)
    sd = columns(len(sigma), coef=(1.0, 3))
    logs, block = linear(lagged(SPOTS, 2), SPOTS[2:], sd, sigma, watch={"coef": unit})
    start = laws.normal(SPOTS[:2], 5, 5).sum()
    return logs + start + laws.half_normal(sigma, 3), block


@row(_with_start, sigma=POSITIVE)
def autoregression_by_pm_ar():
    coef = pm.Normal("coef", 0, 1, shape=3)
    sigma = pm.HalfNormal("sigma", 3)
    first = pm.Normal.dist(5, 5)
    pm.AR("y", coef, sigma, constant=True, init_dist=first, observed=SPOTS)


def _stationary(phi, sigma):
    # Whitened rows: mu (1 - phi) and, at the start, mu sqrt(1 - phi²), all of sd sigma
    root = np.sqrt(1 - phi**2)
    x = np.concatenate([root[:, None], np.repeat((1 - phi)[:, None], len(SPOTS) - 1, 1)], 1)
    y = np.concatenate([(root * SPOTS[0])[:, None], SPOTS[1:] - phi[:, None] * SPOTS[:-1]], 1)
    precision = 1 / 25 + (x**2).sum(1) / sigma**2
    pull = 5 / 25 + (x * y).sum(1) / sigma**2
    logs = pull**2 / precision / 2 - ((y / sigma[:, None]) ** 2).sum(1) / 2 - 0.5
    logs = logs - len(SPOTS) * (np.log(sigma) + laws.LOG_2PI / 2) + np.log(root)
    logs = logs - np.log(5) - np.log(precision) / 2
    return logs - np.log(2) + laws.half_normal(sigma, 3), {"mu": (pull / precision, 1 / precision)}


@row(_stationary, phi=between(-1, 1), sigma=POSITIVE)
def stationary_autoregression_about_a_mean():
    mu = pm.Normal("mu", 5, 5)
    phi = pm.Uniform("phi", -1, 1)
    sigma = pm.HalfNormal("sigma", 3)
    pm.Normal("first", mu, sigma / pm.math.sqrt(1 - phi**2), observed=SPOTS[0])
    pm.Normal("rest", mu + phi * (SPOTS[:-1] - mu), sigma, observed=SPOTS[1:])


SHORT = FEW[:30] - 10


def _latent(phi, _total, _odds):
    # The variance of a row, and the odds of the process in it: s and noise in polar coordinates.
    noise = _total / np.sqrt(1 + _odds)
    own = noise * np.sqrt(_odds)
    s = own * np.sqrt(1 - phi**2)
    logs, block = filtered(SHORT, 0, own, s, noise, phi)
    prior = laws.beta(phi, 2, 2) + laws.half_normal(s, 2) + laws.half_normal(noise, 2)
    slope = np.log(_total / 2) + (np.log1p(-(phi**2)) - np.log(_odds)) / 2 - np.log1p(_odds)
    return logs + prior + slope, {"x": block, "s": (s, 0 * s), "noise": (noise, 0 * s)}


@row(_latent, rows=60, phi=between(0, 1), _total=POSITIVE, _odds=POSITIVE)
def latent_autoregression_with_noise():
    phi = pm.Beta("phi", 2, 2)
    s = pm.HalfNormal("s", 2)
    noise = pm.HalfNormal("noise", 2)
    start = pm.Normal.dist(0, s / pt.sqrt(1 - phi**2))
    x = pm.AR("x", phi[None], s, init_dist=start, shape=30)
    pm.Normal("flow", x, noise, observed=SHORT)


TIME = (np.arange(N) - 49.5) / 50


def _straight(sigma):
    X = np.column_stack([np.ones(N), TIME])
    sd = columns(len(sigma), a=5.0, b=5.0)
    shift = np.array([10.0, 0.0])
    logs, block = linear(X, NILE / 100, sd, sigma, mean=shift, watch={"line": np.eye(2)})
    return logs + laws.half_student(sigma, 3, 2.5), block


@row(_straight, sigma=POSITIVE)
def a_straight_trend_of_the_nile():
    line = pm.Normal("line", [10, 0], 5, shape=2)
    sigma = pm.HalfStudentT("sigma", 3, 2.5)
    pm.Normal("flow", line[0] + line[1] * TIME, sigma, observed=NILE / 100)


WAVES = np.column_stack(
    [np.ones(61), *(f(2 * np.pi * np.arange(61) / 11) for f in (np.sin, np.cos))]
)


def _waves(size, sigma):
    sd = columns(len(sigma), level=10.0, wave=(size, 2))
    watch = {"level": np.eye(3)[0], "wave": np.eye(3)[1:]}
    logs, block = linear(WAVES, SPOTS, sd, sigma, watch=watch)
    return logs + laws.gamma(size, 2, 1) + laws.gamma(sigma, 2, 1), block


@row(_waves, size=POSITIVE, sigma=POSITIVE)
def sunspots_as_a_wave_of_eleven_years():
    size, sigma = pm.Gamma("size", 2, 1), pm.Gamma("sigma", 2, 1)
    level = pm.Normal("level", 0, 10)
    wave = pm.Normal("wave", 0, size, shape=2)
    pm.Normal("spots", level + WAVES[:, 1:] @ wave, sigma, observed=SPOTS)


def _change(sigma):
    years, y, s2 = np.arange(10, 60), NILE / 100 - 10, sigma[:, None] ** 2
    before = np.cumsum(y)[years - 1]
    sums = np.stack([before, y.sum() - before])
    counts = np.stack([years, N - years])
    precision = 1 / 9 + counts[:, None] / s2
    mean = sums[:, None] / s2 / precision
    logs = (mean**2 * precision / 2 - np.log(precision) / 2).sum(0) - np.log(9 * len(years))
    logs = logs - (y @ y) / (2 * s2) - N * (np.log(s2) + laws.LOG_2PI) / 2
    total = logsumexp(logs, 1)
    share = np.exp(logs - total[:, None])
    m = (share * mean).sum(2).T
    second = (share * (mean**2 + 1 / precision)).sum(2).T
    year = (share * years).sum(1)
    block = {"m": (10 + m, second - m**2), "year": (year, (share * years**2).sum(1) - year**2)}
    return total + laws.half_normal(sigma, 3), block


@row(_change, sigma=POSITIVE)
def a_change_of_the_nile_at_an_unknown_year():
    year = pm.DiscreteUniform("year", 10, 59)
    m = pm.Normal("m", 10, 3, shape=2)
    sigma = pm.HalfNormal("sigma", 3)
    mean = pm.math.switch(np.arange(N) >= year, m[1], m[0])
    pm.Normal("flow", mean, sigma, observed=NILE / 100)


def _drift(sigma):
    steps = np.diff(np.log(NILE[::4]))
    logs, block = linear(
        np.ones((len(steps), 1)), steps, np.full((len(sigma), 1), 0.1), sigma,
        watch={"drift": np.ones(1)},
    )  # fmt: skip
    return logs + laws.normal(np.log(NILE[0]), 7, 1) + laws.exponential(sigma, 4), block


@row(_drift, sigma=POSITIVE)
def a_walk_with_drift_that_is_seen():
    drift = pm.Normal("drift", 0, 0.1)
    sigma = pm.Exponential("sigma", 4)
    start = pm.Normal.dist(7, 1)
    pm.GaussianRandomWalk("log_flow", drift, sigma, init_dist=start, observed=np.log(NILE[::4]))


def _moving_average(theta, sigma):
    n = 40
    lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    S = (lag == 0) * (1 + theta[:, None, None] ** 2) + (lag == 1) * theta[:, None, None]
    S = S * sigma[:, None, None] ** 2 + 25
    prior = np.full((len(theta), 1), 25.0)
    logs, block = covariance(
        SPOTS[:n], S, mean=5, cross=np.full((len(theta), 1, n), 25.0), prior=prior
    )
    return logs + laws.half_normal(sigma, 3) - np.log(2), {
        "mu": (5 + block[0][:, 0], block[1][:, 0])
    }


@row(_moving_average, rows=5000, theta=between(-1, 1), sigma=POSITIVE)
def moving_average_by_its_covariance():
    theta = pm.Uniform("theta", -1, 1)
    sigma = pm.HalfNormal("sigma", 3)
    mu = pm.Normal("mu", 5, 5)
    near = np.eye(40, k=1) + np.eye(40, k=-1)
    S = sigma**2 * ((1 + theta**2) * np.eye(40) + theta * near)
    pm.MvNormal("y", mu * np.ones(40), cov=S, observed=SPOTS[:40])
