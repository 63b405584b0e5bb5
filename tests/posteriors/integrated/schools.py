"""Studies whose errors are known: the eight schools, and meta-analyses.

Eight schools: Rubin (1981), by Gelman et al., *Bayesian Data Analysis*, section 5.5. BCG vaccine
against tuberculosis: Colditz et al. (1994), JAMA 271, thirteen trials. Facts of published tables.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.normal_block import columns, indicators, linear
from tests.posteriors.integrated.quadrature import POSITIVE, REAL, above, between
from tests.posteriors.integrated.row import row

Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
NAMES = ["Choate", "Deerfield", "Andover", "Exeter", "Hotchkiss", "Lawrenceville", "Paul", "Mt H"]
EACH = np.eye(8)
DESIGN = np.column_stack([np.ones(8), EACH])

INFECTED = np.array([4, 6, 3, 62, 33, 180, 8, 505, 29, 17, 186, 5, 27])
WELL = np.array([119, 300, 228, 13536, 5036, 1361, 2537, 87886, 7470, 1699, 50448, 2493, 16886])
CONTROL = np.array([11, 29, 11, 248, 47, 372, 10, 499, 45, 65, 141, 3, 29])
CONTROL_WELL = np.array(
    [128, 274, 209, 12619, 5761, 1079, 619, 87892, 7232, 1600, 27197, 2338, 17825]
)
LATITUDE = np.array([44, 55, 42, 52, 13, 44, 19, 13, 27, 42, 18, 33, 33])
RATIO = np.log(INFECTED / (INFECTED + WELL) * (CONTROL + CONTROL_WELL) / CONTROL)
ERROR = np.sqrt(1 / INFECTED - 1 / (INFECTED + WELL) + 1 / CONTROL - 1 / (CONTROL + CONTROL_WELL))
FAR = (LATITUDE - LATITUDE.mean()) / 10
TRIALS = len(RATIO)


def schools(tau, *, level=5.0, mean=0.0, scaled=False):
    """Return the log marginal density of the effects given the scale of the schools."""
    n = len(tau)
    sd = columns(n, mu=level, theta=(tau, 8))
    known = np.broadcast_to(SIGMA, (n, 8))
    watch = {"mu": DESIGN[0] * 0 + np.eye(9)[0]}
    if not scaled:
        watch["theta"] = DESIGN
    shift = np.array([mean, *np.zeros(8)])
    which = {"z": np.arange(1, 9)} if scaled else {}
    return linear(DESIGN, Y, sd, known, mean=shift, watch=watch, scaled=which)


def with_prior(prior, **more):
    """Return the density of the scale under a prior."""

    def density(tau):
        logs, block = schools(tau, **more)
        return logs + prior(tau), block

    return density


@row(with_prior(lambda t: laws.half_cauchy(t, 5)), tau=POSITIVE)
def eight_schools_centred_half_cauchy():
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfCauchy("tau", 5)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("y", theta, SIGMA, observed=Y)


@row(with_prior(lambda t: laws.half_cauchy(t, 5), scaled=True), tau=POSITIVE)
def eight_schools_not_centred_half_cauchy():
    mu = pm.Normal("mu", mu=0, sigma=5)
    tau = pm.HalfCauchy("tau", beta=5)
    z = pm.Normal("z", mu=0, sigma=1, shape=8)
    theta = pm.Deterministic("theta", mu + tau * z)
    pm.Normal("y", mu=theta, sigma=SIGMA, observed=Y)


@row(with_prior(lambda t: laws.half_normal(t, 10), level=10.0), own=True, tau=POSITIVE)
def eight_schools_with_dims_half_normal():
    coords = {"school": NAMES}
    with pm.Model(coords=coords) as model:
        effects = pm.Data("effects", Y, dims="school")
        errors = pm.Data("errors", SIGMA, dims="school")
        mu = pm.Normal("mu", 0, 10)
        tau = pm.HalfNormal("tau", 10)
        theta = pm.Normal("theta", mu, tau, dims="school")
        pm.Normal("y", theta, errors, observed=effects, dims="school")
    return model


@row(
    with_prior(lambda t: -np.log(50) * np.ones_like(t), scaled=True, level=20.0),
    tau=between(0, 50),
)
def eight_schools_not_centred_uniform():
    mu = pm.Normal("mu", 0, 20)
    tau = pm.Uniform("tau", 0, 50)
    z = pm.Normal("z", shape=8)
    pm.Normal("y", mu + tau * z, SIGMA, observed=Y)


@row(with_prior(lambda t: laws.exponential(t, 0.1), level=10.0, mean=5.0), tau=POSITIVE)
def eight_schools_exponential():
    mu = pm.Normal("mu", 5, 10)
    tau = pm.Exponential("tau", 0.1)
    theta = pm.Normal("theta", mu, tau, shape=len(Y))
    pm.Normal("y", theta, SIGMA, observed=Y)


@row(with_prior(lambda t: laws.inverse_gamma(t, 2, 10)), tau=POSITIVE)
def eight_schools_inverse_gamma():
    mu = pm.Normal("mu", 0, 5)
    tau = pm.InverseGamma("tau", 2, 10)
    theta = pm.Normal("theta", mu, tau, size=8)
    pm.Normal("y", theta, SIGMA, observed=Y)


def _variance(tau2):
    logs, block = schools(np.sqrt(tau2))
    return logs + laws.inverse_gamma(tau2, 1, 20), block


@row(_variance, tau2=POSITIVE)
def eight_schools_with_a_prior_of_the_variance():
    mu = pm.Normal("mu", 0, 5)
    tau2 = pm.InverseGamma("tau2", alpha=1, beta=20)
    theta = pm.Normal("theta", mu, pt.sqrt(tau2), shape=8)
    pm.Normal("y", theta, SIGMA, observed=Y)


def _log_scale(log_tau):
    logs, block = schools(np.exp(log_tau), scaled=True)
    return logs + laws.normal(log_tau, 1.5, 1), block


@row(_log_scale, log_tau=REAL)
def eight_schools_with_the_log_of_the_scale():
    mu = pm.Normal("mu", 0, 5)
    log_tau = pm.Normal("log_tau", 1.5, 1)
    tau = pm.Deterministic("tau", pm.math.exp(log_tau))
    z = pm.Normal("z", 0, 1, shape=8)
    pm.Normal("y", mu + tau * z, SIGMA, observed=Y)


@row(with_prior(lambda t: laws.gamma(t, 2, 0.1), level=15.0), tau=POSITIVE)
def eight_schools_gamma():
    mu = pm.Normal("mu", 0, 15)
    tau = pm.Gamma("tau", alpha=2, beta=0.1)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("y", theta, pt.as_tensor(SIGMA), observed=Y)


def _loops(tau):
    logs, block = schools(tau)
    mean, var = block.pop("theta")
    block |= {f"theta_{j}": (mean[:, j], var[:, j]) for j in range(8)}
    return logs + laws.half_student(tau, 3, 8), block


@row(_loops, tau=POSITIVE)
def eight_schools_in_a_loop_half_student():
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfStudentT("tau", nu=3, sigma=8)
    for j, (effect, error) in enumerate(zip(Y, SIGMA, strict=True)):
        theta = pm.Normal(f"theta_{j}", mu, tau)
        pm.Normal(f"y_{j}", theta, error, observed=effect)


def _marginal(tau):
    logs, block = schools(tau, level=8.0)
    return logs + laws.log_normal(tau, 1, 1), {"mu": block["mu"]}


@row(_marginal, tau=POSITIVE)
def eight_schools_with_the_effects_integrated_by_the_user():
    mu = pm.Normal("mu", 0, 8)
    tau = pm.LogNormal("tau", 1, 1)
    pm.Normal("y", mu, pm.math.sqrt(tau**2 + SIGMA**2), observed=Y)


def _flat(tau):
    big = 1e5
    logs, block = schools(tau, level=big)
    return logs + np.log(big) + laws.LOG_2PI / 2 - np.log(40), block


@row(_flat, proper=False, tau=between(0, 40))
def eight_schools_with_a_flat_mean():
    mu = pm.Flat("mu")
    tau = pm.Uniform("tau", lower=0, upper=40)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("y", theta, SIGMA, observed=Y)


def _trials(tau):
    X = np.column_stack([np.ones(TRIALS), np.eye(TRIALS)])
    sd = columns(len(tau), mu=1.0, delta=(tau, TRIALS))
    known = np.broadcast_to(ERROR, (len(tau), TRIALS))
    watch = {"mu": np.eye(TRIALS + 1)[0], "delta": X}
    logs, block = linear(X, RATIO, sd, known, watch=watch)
    return logs + laws.half_cauchy(tau, 0.5), block


@row(_trials, tau=POSITIVE)
def meta_analysis_with_random_effects():
    mu = pm.Normal("mu", 0, 1)
    tau = pm.HalfCauchy("tau", 0.5)
    delta = pm.Normal("delta", mu, tau, shape=TRIALS)
    pm.Normal("log_ratio", delta, ERROR, observed=RATIO)


def _latitudes(tau):
    X = np.column_stack([np.ones(TRIALS), FAR, np.eye(TRIALS)])
    sd = columns(len(tau), a=(2.0, 1), b=(1.0, 1), z=(tau, TRIALS))
    known = np.broadcast_to(ERROR, (len(tau), TRIALS))
    unit = np.eye(TRIALS + 2)
    watch, scaled = {"a": unit[0], "b": unit[1]}, {"z": np.arange(2, TRIALS + 2)}
    logs, block = linear(X, RATIO, sd, known, watch=watch, scaled=scaled)
    return logs + laws.half_normal(tau, 0.5), block


@row(_latitudes, tau=POSITIVE)
def meta_regression_on_latitude():
    a = pm.Normal("a", 0, 2)
    b = pm.Normal("b", 0, 1)
    tau = pm.HalfNormal("tau", 0.5)
    z = pm.Normal("z", 0, 1, shape=TRIALS)
    line = pm.Deterministic("line", a + b * FAR)
    pm.Normal("log_ratio", line + tau * z, ERROR, observed=RATIO)


def _inflated(extra):
    known = ERROR * np.sqrt(1 + extra)[:, None]
    sd = np.full((len(extra), 1), 3.0)
    logs, block = linear(np.ones((TRIALS, 1)), RATIO, sd, known, watch={"mu": np.ones(1)})
    return logs + laws.exponential(extra, 0.3), block


@row(_inflated, extra=POSITIVE)
def meta_analysis_with_inflated_errors():
    mu = pm.Normal("mu", 0, 3)
    extra = pm.Exponential("extra", 0.3)
    pm.Normal("log_ratio", mu, ERROR * pm.math.sqrt(1 + extra), observed=RATIO)


DEATHS, TREATED = np.array([[3, 7], [2, 5]]), np.array([[39, 38], [44, 45]])


def _two_trials(_level, _gap, tau):
    # d = level ± tau gap: there is no funnel in these coordinates, whose Jacobian is 2 tau.
    d = np.stack([_level + tau * _gap, _level - tau * _gap], -1)
    eta = np.log(DEATHS[:, 0] / (TREATED[:, 0] - DEATHS[:, 0])) + d
    logs = laws.binomial_logit(DEATHS[:, 1], TREATED[:, 1], eta).sum(-1)
    # Given mu the mean of the two is N(mu, tau / √2), half of their difference N(0, tau / √2).
    logs = logs + laws.normal(_level, 0, np.sqrt(1 + tau**2 / 2)) + laws.normal(_gap, 0, 0.5**0.5)
    precision = 1 + 2 / tau**2
    mean = 2 * _level / tau**2 / precision
    logs = logs + laws.half_normal(tau, 1)
    return logs, {"mu": (mean, 1 / precision), "d": (d, 0 * d)}


@row(_two_trials, _level=REAL, _gap=REAL, tau=POSITIVE)
def two_small_trials_with_binomial_rows():
    mu = pm.Normal("mu", 0, 1)
    tau = pm.HalfNormal("tau", 1)
    d = pm.Normal("d", mu, tau, shape=2)
    base = np.log(DEATHS[:, 0] / (TREATED[:, 0] - DEATHS[:, 0]))
    pm.Binomial("deaths", n=TREATED[:, 1], logit_p=base + d, observed=DEATHS[:, 1])


def _two_groups(tau):
    rows = FAR > 0
    X = np.column_stack([indicators(rows.astype(int)), np.eye(TRIALS)])
    spread = np.where(rows, tau[:, 1:], tau[:, :1])
    sd = np.concatenate([np.full((len(tau), 2), 1.0), spread], 1)
    known = np.broadcast_to(ERROR, (len(tau), TRIALS))
    logs, block = linear(X, RATIO, sd, known, watch={"mu": np.eye(TRIALS + 2)[:2]})
    return logs + laws.half_normal(tau, 1).sum(-1), block


@row(_two_groups, tau=(POSITIVE, 2))
def meta_analysis_with_a_scale_for_each_of_two_groups():
    near_far = (FAR > 0).astype(int)
    mu = pm.Normal("mu", 0, 1, shape=2)
    tau = pm.HalfNormal("tau", 1, shape=2)
    spread = pm.math.sqrt(tau[near_far] ** 2 + ERROR**2)
    pm.Normal("log_ratio", mu[near_far], spread, observed=RATIO)


def _bounded(tau):
    logs, block = schools(tau, level=5.0)
    return logs + laws.half_normal(tau, 10) - np.log1p(-_below(1.0, 10.0)), block


def _below(x, sd):
    from scipy.stats import halfnorm

    return halfnorm.cdf(x, scale=sd)


@row(_bounded, tau=above(1.0))
def eight_schools_with_a_truncated_scale():
    mu = pm.Normal("mu", 0, 5)
    tau = pm.TruncatedNormal("tau", mu=0, sigma=10, lower=1)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("y", theta, SIGMA, observed=Y)
