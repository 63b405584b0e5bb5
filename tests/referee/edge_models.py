"""Pairs of programs that differ in a support, a bound or a branch alone, as data."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from tests.referee.same_models import in_model

Y = np.round(np.random.default_rng(1).normal(2, 1.5, 12), 2)
COUNTS = np.array([3, 0, 2, 5, 1, 4])
BITS = np.array([1, 0, 0, 1, 1, 0, 1, 1])


def cut(law, *parameters, **ends):
    """Return a law between two ends."""
    return lambda name: pm.Truncated(name, law.dist(*parameters), **ends)


def plain(law, *parameters, **more):
    return lambda name: law(name, *parameters, **more)


def switched(condition, other=-np.inf):
    """Return a term that is other than nought where a condition holds."""
    return lambda v: pm.Potential("range", pt.switch(condition(v), other, 0.0).sum())


MU, S = plain(pm.Normal, 0, 3), plain(pm.HalfNormal, 2)
LAM, THETA = plain(pm.Gamma, 2.0, 1.0), plain(pm.Beta, 2.0, 5.0)
W, Z = plain(pm.Normal, 0, 2, shape=3), plain(pm.Normal, 0, 1, shape=4)
K, PI = plain(pm.DiscreteUniform, 0, 11), plain(pm.Dirichlet, np.ones(3))
TAU = plain(pm.HalfCauchy, 2)


@in_model
def normal(mu=MU, s=S, mean=lambda mu, _: mu, more=lambda _: None):
    mu, s = mu("mu"), s("s")
    pm.Normal("y", mean(mu, s), s, observed=Y)
    more({"mu": mu, "s": s})


@in_model
def count(lam=LAM, link=lambda lam: lam, more=lambda _: None):
    lam = lam("lam")
    pm.Poisson("n", link(lam), observed=COUNTS)
    more({"lam": lam})


@in_model
def coin(theta=THETA, link=lambda theta: theta, more=lambda _: None):
    theta = theta("theta")
    pm.Bernoulli("x", link(theta), observed=BITS)
    more({"theta": theta})


@in_model
def line(w=W, curve=lambda x: x, more=lambda _: None):
    w = w("w")
    pm.Normal("y", curve(np.arange(36.0).reshape(12, 3) / 36 @ w), 1, observed=Y)
    more({"w": w})


@in_model
def changed(k=K, more=lambda _: None):
    """State a change of a mean after row k."""
    k, mu = k("k"), pm.Normal("mu", 0, 3, shape=2)
    pm.Normal("y", pt.switch(np.arange(12) <= k, mu[0], mu[1]), 1, observed=Y)
    more({"k": k, "mu": mu})


@in_model
def shares(pi=PI, more=lambda _: None):
    pi = pi("pi")
    pm.Multinomial("x", 10, pi, observed=[3, 5, 2])
    more({"pi": pi})


@in_model
def effects(tau=TAU, z=Z, mean=lambda t, z: t * z):
    tau, z = tau("tau"), z("z")
    pm.Normal("y", pt.repeat(pm.Deterministic("theta", mean(tau, z)), 3), 1, observed=Y)


@in_model
def folded(f, mean=0.0):
    z = pm.Normal("z", mean)
    mu = pm.Deterministic("mu", f(z))
    pm.Normal("y", mu, 1, observed=Y)


@in_model
def single(law):
    pm.Normal("y", law("mu"), 1, observed=Y)


N, H = pm.Normal, pm.HalfNormal
PAIRS = {
    "upper 8": (normal(), normal(s=cut(N, 0, 2, lower=0, upper=8))),
    "upper 15": (normal(), normal(s=cut(N, 0, 2, lower=0, upper=15))),
    "upper 5": (normal(), normal(s=cut(N, 0, 2, lower=0, upper=5))),
    "lower 0.01": (normal(), normal(s=cut(N, 0, 2, lower=0.01))),
    "lower 0.1": (normal(), normal(s=cut(N, 0, 2, lower=0.1))),
    "lower 1e-6": (normal(), normal(s=cut(N, 0, 2, lower=1e-6))),
    "mu above -20": (normal(), normal(mu=cut(N, 0, 3, lower=-20))),
    "mu below 30": (normal(), normal(mu=cut(N, 0, 3, upper=30))),
    "mu within 50": (normal(), normal(mu=cut(N, 0, 3, lower=-50, upper=50))),
    "mu above -4": (normal(), normal(mu=cut(N, 0, 3, lower=-4))),
    "other mean beyond 6": (normal(), normal(mean=lambda mu, _: pt.switch(mu > 6, mu + 1, mu))),
    "other mean beyond 20": (normal(), normal(mean=lambda mu, _: pt.switch(mu > 20, 0, mu))),
    "mean clipped at 9": (normal(), normal(mean=lambda mu, _: pt.clip(mu, -9, 9))),
    "mean at most 12": (normal(), normal(mean=lambda mu, _: pt.minimum(mu, 12))),
    "between 6 and 6.1": (
        normal(),
        normal(mean=lambda mu, _: pt.switch((mu > 6) & (mu < 6.1), 0, mu)),
    ),
    "mu above 5 and s above 3": (
        normal(),
        normal(more=switched(lambda v: (v["mu"] > 5) & (v["s"] > 3), -1.0)),
    ),
    "no mu above 7": (normal(), normal(more=switched(lambda v: v["mu"] > 7))),
    "no mu beyond twelve s": (normal(), normal(more=switched(lambda v: v["mu"] > 12 * v["s"]))),
    "a log that ends": (
        normal(),
        normal(more=lambda v: pm.Potential("end", 0 * pt.log(9 - v["s"]))),
    ),
    "a root that ends": (
        normal(),
        normal(more=lambda v: pm.Potential("end", 0 * pt.sqrt(16 + v["mu"]))),
    ),
    "uniform, wider": (
        normal(s=plain(pm.Uniform, 0, 10)),
        normal(s=plain(pm.Uniform, 0, 11)),
    ),
    "uniform, from 0.02": (
        normal(s=plain(pm.Uniform, 0, 10)),
        normal(s=plain(pm.Uniform, 0.02, 10)),
    ),
    "exponential, upper 12": (
        normal(s=plain(pm.Exponential, 1)),
        normal(s=cut(pm.Exponential, 1, upper=12)),
    ),
    "Cauchy, upper 1000": (
        normal(s=plain(pm.HalfCauchy, 2)),
        normal(s=cut(pm.HalfCauchy, 2, upper=1000)),
    ),
    "rate below 9": (count(), count(lam=cut(pm.Gamma, 2.0, 1.0, upper=9))),
    "rate above 0.02": (count(), count(lam=cut(pm.Gamma, 2.0, 1.0, lower=0.02))),
    "rate at least 0.01": (count(), count(link=lambda lam: pt.maximum(lam, 0.01))),
    "rate rounded beyond 10": (
        count(),
        count(link=lambda lam: pt.switch(lam > 10, pt.floor(lam), lam)),
    ),
    "probability below 0.95": (coin(), coin(theta=cut(pm.Beta, 2.0, 5.0, upper=0.95))),
    "probability above 0.01": (coin(), coin(theta=cut(pm.Beta, 2.0, 5.0, lower=0.01))),
    "probability clipped": (coin(), coin(link=lambda theta: pt.clip(theta, 0.001, 0.999))),
    "a curve that ends at 10": (line(), line(curve=lambda x: pt.minimum(x, 10))),
    "one of w below 9": (line(), line(more=switched(lambda v: v["w"][1] > 9))),
    "a sum of w below 20": (line(), line(more=switched(lambda v: v["w"].sum() > 20))),
    "change before row 10": (changed(), changed(k=plain(pm.DiscreteUniform, 0, 10))),
    "change not in row 4": (changed(), changed(more=switched(lambda v: pt.eq(v["k"], 4)))),
    "no share above 0.97": (shares(), shares(more=switched(lambda v: v["pi"].max() > 0.97))),
    "spread below 50": (effects(), effects(tau=cut(pm.HalfCauchy, 2, upper=50))),
    "effects within 8": (effects(), effects(mean=lambda t, z: pt.clip(t * z, -8, 8))),
    "mean not one to one": (single(law=plain(N, 0, 3)), folded(f=lambda z: abs(3 * z))),
}
