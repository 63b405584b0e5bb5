"""PyMC models that are right, of all rungs, and wrong ones of four kinds, for calibration.

A case has the rung by which its posterior is drawn from, the model, and settings of `calibrate`.
"""

from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm

SCHOOLS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
X = np.random.default_rng(7).normal(size=(12, 2))
ROWS, GROUPS = 12, np.repeat(np.arange(4), 3)
SCORES, COUNTS = np.linspace(-1, 2, ROWS), np.array([3, 5, 4, 2, 6, 3, 1, 4, 2, 5, 3, 4])
BITS = COUNTS % 2
HALF = np.arange(ROWS) < ROWS / 2


@dataclass(frozen=True)
class Case:
    """One model; what is wrong with it is `kind`."""

    name: str
    rung: str
    model: Callable[[], pm.Model]
    settings: Callable[[], dict[str, Any]] = dict
    kind: str = "right"


SHARED: ContextVar[bool] = ContextVar("whether data are pm.Data", default=False)


@contextmanager
def data_shared():
    """Let models be written with `pm.Data`, whose dims have no length, in place of arrays."""
    before = SHARED.set(True)
    try:
        yield
    finally:
        SHARED.reset(before)


def data(name, values):
    """Return an array as the model has it; predictors, say."""
    dims = [f"{name}_{axis}" for axis in range(np.ndim(values))]
    return pm.Data(name, values, dims=dims) if SHARED.get() else np.asarray(values)


def seen(values):
    """Return what says that a variable is observed."""
    given = {"observed": data("seen", values)}
    return given | ({"dims": ["seen_0"]} if SHARED.get() else {})


def modelled(build):
    """Let a function that declares variables return a new model."""

    def made(*args, **kwargs):
        with pm.Model() as model:
            build(*args, **kwargs)
        return model

    return made


def halved(name, law, parameter, observed, dtype="float64"):
    """Observe rows of a law, whose density heeds the first half only."""
    pm.CustomDist(
        name,
        parameter,
        logp=lambda value, at: pm.math.switch(HALF, 1.0, 0.0) * pm.logp(law(at), value),
        dist=None,
        random=lambda at, rng=None, size=None: rng.normal(at, 1, size),
        dtype=dtype,
        **seen(observed),
    )


# --- closed forms ---------------------------------------------------------------------------------


@modelled
def coin(a=2, b=3):
    theta = pm.Beta("theta", a, b)
    pm.Bernoulli("y", theta, **seen(BITS))


@modelled
def half_coin():
    theta = pm.Beta("theta", 2, 3)
    halved("y", pm.Bernoulli.dist, theta, BITS, "int64")


@modelled
def visits(shape=2, rate=1):
    each = pm.Gamma("rate", shape, rate)
    pm.Poisson("y", each, **seen(COUNTS))


@modelled
def half_visits():
    each = pm.Gamma("rate", 2, 1)
    halved("y", pm.Poisson.dist, each, COUNTS, "int64")


@modelled
def overdispersed():
    each = pm.Gamma("rate", 2, 1)
    pm.NegativeBinomial("y", mu=each, alpha=2, **seen(COUNTS))


@modelled
def level(centre=0, sd=2, noise=1):
    mu = pm.Normal("mu", centre, sd)
    pm.Normal("y", mu, noise, **seen(SCORES))


@modelled
def half_level():
    mu = pm.Normal("mu", 0, 2)
    halved("y", lambda at: pm.Normal.dist(at, 1), mu, SCORES)


@modelled
def heavy_level():
    mu = pm.Normal("mu", 0, 2)
    pm.StudentT("y", 3, mu=mu, sigma=1, **seen(SCORES))


@modelled
def flat_level():
    mu = pm.Flat("mu")
    pm.Normal("y", mu, 1, **seen(SCORES))


@modelled
def unknown_variance():
    variance = pm.InverseGamma("variance", 3, 2)
    mu = pm.Normal("mu", 0, pm.math.sqrt(variance))
    pm.Normal("y", mu, pm.math.sqrt(variance), **seen(SCORES))


@modelled
def shares():
    pi = pm.Dirichlet("pi", [1, 2, 3])
    pm.Multinomial("y", 20, pi, **seen([4, 6, 10]))


@modelled
def line(noise=1):
    w = pm.Normal("w", 0, 2, shape=2)
    pm.Normal("y", data("x", X) @ w, noise, **seen(SCORES))


@modelled
def waiting():
    each = pm.Gamma("rate", 3, 2)
    pm.Exponential("y", each, **seen(COUNTS / 3))


@modelled
def hypotheses():
    which = pm.Categorical("which", [0.2, 0.3, 0.5])
    pm.Normal("y", pm.math.stack([-1.0, 0.0, 1.5])[which], 2, **seen(SCORES))


# --- in part --------------------------------------------------------------------------------------


@modelled
def schools(*, centred=True, spread=5, law=pm.HalfCauchy):
    mu = pm.Normal("mu", 0, 5)
    tau = law("tau", spread)
    if centred:
        theta = pm.Normal("theta", mu, tau, shape=8)
    else:
        theta = pm.Deterministic("theta", mu + tau * pm.Normal("z", shape=8))
    pm.Normal("y", theta, data("errors", ERRORS), **seen(SCHOOLS))


@modelled
def half_schools():
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfNormal("tau", 10)
    theta = pm.Normal("theta", mu, tau, shape=8)
    errors = np.where(np.arange(8) < 4, ERRORS, 1e4)
    pm.Normal("y", theta, data("errors", errors), **seen(SCHOOLS))


@modelled
def unknown_noise():
    mu, noise = pm.Normal("mu", 0, 2), pm.HalfNormal("noise", 2)
    pm.Normal("y", mu, noise, **seen(SCORES))


@modelled
def noisy_line():
    w, noise = pm.Normal("w", 0, 2, shape=2), pm.HalfNormal("noise", 2)
    pm.Normal("y", data("x", X) @ w, noise, **seen(SCORES))


@modelled
def rates():
    shape = pm.Exponential("shape", 0.5)
    each = pm.Gamma("rate", shape + 1, 1, shape=4)
    pm.Poisson("y", each[data("group", GROUPS)], **seen(COUNTS))


@modelled
def batting():
    size = pm.Gamma("size", 3, 0.5)
    theta = pm.Beta("theta", 0.3 * size + 0.5, 0.7 * size + 0.5, shape=4)
    pm.Binomial("y", 10, theta, **seen([2, 4, 1, 6]))


@modelled
def slipped_noise():
    """Declare a law whose density forgets a part of the normaliser that its draws have."""
    mu, noise = pm.Normal("mu", 0, 2), pm.HalfNormal("noise", 2)
    pm.CustomDist(
        "y",
        mu,
        noise,
        logp=lambda value, mu, noise: -(((value - mu) / noise) ** 2) / 2 - pm.math.log(noise) / 2,
        random=lambda mu, noise, rng=None, size=None: rng.normal(mu, noise, size),
        **seen(SCORES),
    )


# --- integrated, or sampled -----------------------------------------------------------------------


@modelled
def logistic(centre=0):
    w = pm.Normal("w", centre, 1.5, shape=2)
    pm.Bernoulli("y", logit_p=pm.math.dot(data("x", X), w), **seen(BITS))


@modelled
def slope_of_either_sign():
    which, size = pm.Bernoulli("which", 0.4), pm.LogNormal("size", 0, 0.5)
    pm.Normal("y", pm.math.stack([-1.0, 1.0])[which] * size * data("x", X[:, 0]), 1, **seen(SCORES))


@modelled
def half_logistic():
    w = pm.Normal("w", 0, 1.5, shape=2)
    halved(
        "y", lambda at: pm.Bernoulli.dist(logit_p=at), pm.math.dot(data("x", X), w), BITS, "int64"
    )


@modelled
def probit():
    w = pm.Normal("w", 0, 1.5, shape=2)
    pm.Bernoulli("y", pm.math.invprobit(3 * pm.math.dot(data("x", X), w)), **seen(BITS))


@modelled
def log_link():
    w = pm.Normal("w", 0, 0.7, shape=2)
    pm.Poisson("y", pm.math.exp(1 + pm.math.dot(data("x", X), w)), **seen(COUNTS))


@modelled
def robust_line():
    w, noise = pm.Normal("w", 0, 2, shape=2), pm.HalfNormal("noise", 2)
    pm.StudentT("y", 4, mu=data("x", X) @ w, sigma=noise, **seen(SCORES))


@modelled
def decay():
    start, speed = pm.LogNormal("start", 0, 0.5), pm.LogNormal("speed", 0, 0.5)
    times = np.linspace(0.1, 3, ROWS)
    pm.Normal("y", start * pm.math.exp(-speed * data("times", times)), 0.2, **seen(SCORES))


@modelled
def many_slopes():
    w = pm.Normal("w", 0, 1.5, shape=61)
    pm.Bernoulli("y", logit_p=pm.math.dot(data("x", X[:, np.arange(61) % 2]), w), **seen(BITS))


# --- simulators of one's own ----------------------------------------------------------------------


def sticky(parameters, rng):
    return np.repeat(rng.random(ROWS // 3) < parameters["theta"], 3).astype(int)


def capped(parameters, rng):
    return np.minimum(rng.poisson(parameters["rate"], ROWS), 2)


def together(parameters, rng):
    shocks = rng.standard_normal(4)[GROUPS]  # rows of a group share their noise
    return X @ parameters["w"] + shocks


def surer(parameters, rng):
    return parameters["theta"] + ERRORS / 2 * rng.standard_normal(8)


def with_zeros(parameters, rng):
    there = rng.random(ROWS) < 0.8
    return there * rng.poisson(np.exp(1 + X @ parameters["w"]))


def given(**settings):
    """Return settings; of models as simulators, what makes them."""
    return lambda: {k: v() if k == "true" else v for k, v in settings.items()}


def truly(model, *args, **kwargs):
    """Simulate by another model."""
    return lambda: {"simulate": model(*args, **kwargs)}


POSTERIOR = given(around="posterior")
RIGHT = [
    Case("coin", "exact", coin),
    Case("visits, around the posterior", "exact", visits, POSTERIOR),
    Case("level", "exact", level),
    Case("flat prior, around the posterior", "exact", flat_level, POSTERIOR),
    Case("unknown variance", "exact", unknown_variance),
    Case("shares", "exact", shares),
    Case("line", "exact", line, given(simulate=lambda p, rng: X @ p["w"] + rng.normal(size=ROWS))),
    Case("waiting times", "exact", waiting),
    Case("hypotheses", "exact", hypotheses),
    Case("eight schools", "partial", schools),
    Case("eight schools, not centred", "partial", lambda: schools(centred=False)),
    Case("eight schools, around the posterior", "partial", schools, POSTERIOR),
    Case("unknown noise", "partial", unknown_noise),
    Case("line, unknown noise", "partial", noisy_line),
    Case("rates", "partial", rates),
    Case("batting", "partial", batting),
    Case("logistic regression", "integrated", logistic),
    Case("Poisson regression, around the posterior", "integrated", log_link, POSTERIOR),
    Case("robust line", "mcmc", robust_line, given(method="mcmc")),
    Case("slope of either sign", "integrated", slope_of_either_sign, given(method="integrated")),
]
WRONG = [
    Case("normal for Student-t", "exact", level, truly(heavy_level), "likelihood"),
    Case("Poisson for negative binomial", "exact", visits, truly(overdispersed), "likelihood"),
    Case("variance for deviation", "exact", lambda: line(2), truly(line, 2**0.5), "likelihood"),
    Case("logit for probit", "integrated", logistic, truly(probit), "likelihood"),
    Case("a normaliser forgotten", "partial", slipped_noise, dict, "likelihood"),
    Case("sd 2 for 1", "exact", level, truly(level, sd=1), "prior"),
    Case("rate for scale", "exact", lambda: visits(2, 0.5), truly(visits, 2, 2), "prior"),
    Case("a and b exchanged", "exact", coin, truly(coin, 3, 2), "prior"),
    Case(
        "wide for narrow tau",
        "partial",
        lambda: schools(law=pm.HalfNormal, spread=10),
        truly(schools, law=pm.HalfNormal, spread=2),
        "prior",
    ),
    Case("centre 0 for 0.5", "integrated", logistic, truly(logistic, 0.5), "prior"),
    Case("half of a level", "exact", half_level, truly(level), "half data"),
    Case("half of the visits", "exact", half_visits, truly(visits), "half data"),
    Case("half of the tosses", "exact", half_coin, truly(coin), "half data"),
    Case(
        "half of the schools",
        "partial",
        half_schools,
        truly(schools, law=pm.HalfNormal, spread=10),
        "half data",
    ),
    Case("half of the answers", "integrated", half_logistic, truly(logistic), "half data"),
    Case("tosses that stick", "exact", coin, given(simulate=sticky), "simulator"),
    Case("counts capped", "exact", visits, given(simulate=capped), "simulator"),
    Case("rows that hang together", "exact", line, given(simulate=together), "simulator"),
    Case("errors halved", "partial", schools, given(simulate=surer), "simulator"),
    Case(
        "zeros too many", "mcmc", log_link, given(simulate=with_zeros, method="mcmc"), "simulator"
    ),
]
