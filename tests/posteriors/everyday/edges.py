"""Everyday models with kinks, limits and jumps: change points, data that say where numbers end.

All data are made by a seed of this file; see `table`.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.everyday.hand import (
    POSITIVE,
    REAL,
    UNIT,
    everyday,
    gamma,
    half_normal,
    normal,
    poisson,
)
from tests.posteriors.everyday.series import filtered

RNG = np.random.default_rng(20261203)

# --- kinks ----------------------------------------------------------------------------------------

YEARS = np.linspace(0, 10, 40)
SALES = 2.0 + 0.5 * YEARS - 0.9 * np.maximum(YEARS - 6.2, 0) + 0.4 * RNG.normal(size=40)


def stick_density(w, knot, sigma):
    bent = np.maximum(YEARS - 10 * knot[:, None], 0)
    mean = w[:, :1] + w[:, 1:2] * YEARS + w[:, 2:] * bent
    prior = normal(w, 0, 2) + stats.beta.logpdf(knot, 2, 2) + half_normal(sigma)
    return prior + normal(SALES - mean, 0, sigma[:, None])


@everyday(stick_density, w=(REAL, 3), knot=UNIT, sigma=POSITIVE, width=100)
def broken_stick():
    w, knot = pm.Normal("w", 0, 2, shape=3), pm.Beta("knot", 2, 2)
    sigma = pm.HalfNormal("sigma", 1)
    mean = w[0] + w[1] * YEARS + w[2] * pt.maximum(YEARS - 10 * knot, 0)
    pm.Normal("y", mean, sigma, observed=SALES)


# How much of each of twelve years lies before a change of rates.
ACCIDENTS = RNG.poisson([6, 6, 6, 6, 6, 4, 2, 2, 2, 2, 2, 2])


def change_density(w, tau):
    before = np.clip(12 * tau[:, None] - np.arange(12), 0, 1)
    rate = np.exp(w[:, :1]) * before + np.exp(w[:, 1:]) * (1 - before)
    return normal(w, 1, 1) + poisson(np.log(rate), ACCIDENTS).sum(1)


@everyday(change_density, w=(REAL, 2), tau=UNIT, width=50)
def change_of_rates_within_a_year():
    w, tau = pm.Normal("w", 1, 1, shape=2), pm.Uniform("tau", 0, 1)
    before = pt.clip(12 * tau - np.arange(12), 0, 1)
    rate = pt.exp(w[0]) * before + pt.exp(w[1]) * (1 - before)
    pm.Poisson("y", rate, observed=ACCIDENTS)


RNG.uniform(size=28)  # what follows stays as the figures have it

GUESSES = RNG.triangular(0, 0.3, 1, size=30)


def triangle_density(low, high, mode):
    # On a line that is known to be longer than what was seen: ends, and where it is highest.
    a, b = -low[:, None], 1 + high[:, None]
    c = a + mode[:, None] * (b - a)
    up, down = (GUESSES - a) / (c - a), (b - GUESSES) / (b - c)
    each = np.log(2 / (b - a)) + np.log(np.where(c > GUESSES, up, down))
    prior = gamma(low, 2, 10) + gamma(high, 2, 10) + stats.beta.logpdf(mode, 2, 2)
    return prior + each.sum(1)


@everyday(triangle_density, low=POSITIVE, high=POSITIVE, mode=UNIT, width=60)
def guesses_of_a_triangle():
    low, high = pm.Gamma("low", 2, 10), pm.Gamma("high", 2, 10)
    a, b = -low, 1 + high
    c = a + pm.Beta("mode", 2, 2) * (b - a)
    pm.Triangular("y", lower=a, upper=b, c=c, observed=GUESSES)


BLOCK = np.repeat(np.arange(6), 5)
YIELDS = 0.8 * RNG.normal(size=6)[BLOCK] + RNG.laplace(0, 0.5, size=30)


def blocks_density(mean, tau, b):
    at = mean[:, None, None] + tau[:, None, None] * FINE
    each = stats.laplace.logpdf(YIELDS[:, None], at, b[:, None, None])
    inner = each.reshape(len(mean), 6, 5, -1).sum(2) + stats.norm.logpdf(FINE)
    inner = special.logsumexp(inner, axis=-1).sum(1) + 6 * np.log(FINE[1] - FINE[0])
    return normal(mean) + half_normal(tau) + half_normal(b) + inner


FINE = np.linspace(-6, 6, 481)  # the kinks of the likelihood lie between its points


@everyday(blocks_density, mean=REAL, tau=POSITIVE, b=POSITIVE, width=15000, scramblings=9)
def blocks_with_laplace_noise():
    mean, tau, b = pm.Normal("mean"), pm.HalfNormal("tau", 1), pm.HalfNormal("b", 1)
    block = pm.Normal("block", shape=6)
    pm.Laplace("y", mean + tau * block[BLOCK], b, observed=YIELDS)


LIGHT = RNG.uniform(0, 4, size=40)
GROWTH = np.minimum(0.5 + 1.2 * LIGHT, 3.2) + 0.3 * RNG.normal(size=40)


def plateau_density(base, slope, top, sigma):
    mean = np.minimum(base[:, None] + slope[:, None] * LIGHT, top[:, None])
    prior = normal(base) + gamma(slope, 2, 1) + normal(top, 3, 1) + half_normal(sigma)
    return prior + normal(GROWTH - mean, 0, sigma[:, None])


@everyday(plateau_density, base=REAL, slope=POSITIVE, top=REAL, sigma=POSITIVE, width=60)
def growth_up_to_a_plateau():
    base, slope = pm.Normal("base"), pm.Gamma("slope", 2, 1)
    top, sigma = pm.Normal("top", 3, 1), pm.HalfNormal("sigma", 1)
    pm.Normal("y", pt.minimum(base + slope * LIGHT, top), sigma, observed=GROWTH)


def _thresholds(n):
    y = np.zeros(n)
    for t in range(1, n):
        kept = 0.8 if y[t - 1] > 0.2 else -0.4
        y[t] = kept * y[t - 1] + 0.5 * RNG.normal()
    return y


LYNX = _thresholds(60)


def threshold_density(kept, limit, sigma):
    before = LYNX[:-1]
    each = np.where(before > limit[:, None], kept[:, :1], kept[:, 1:])
    prior = normal(kept) + normal(limit, 0, 0.5) + half_normal(sigma)
    return prior + normal(LYNX[1:] - each * before, 0, sigma[:, None])


@everyday(threshold_density, kept=(REAL, 2), limit=REAL, sigma=POSITIVE, width=80, scramblings=14)
def autoregression_with_a_threshold():
    kept, limit = pm.Normal("kept", shape=2), pm.Normal("limit", 0, 0.5)
    sigma, before = pm.HalfNormal("sigma", 1), LYNX[:-1]
    each = pt.switch(before > limit, kept[0], kept[1])
    pm.Normal("y", each * before, sigma, observed=LYNX[1:])


JUMPS = np.repeat([0.0, 2.0, 1.0], 5) + 0.3 * RNG.normal(size=15)
STATES = np.linspace(-6, 8, 400)


def jumps_density(scale, sigma):
    gap = abs(STATES - STATES[:, None]) / scale[:, None, None]
    # So that steps to all places of a grid without ends add up to one.
    moves = np.exp(-gap) * np.tanh((STATES[1] - STATES[0]) / (2 * scale))[:, None, None]
    first = stats.norm.logpdf(STATES) + np.log(STATES[1] - STATES[0])
    own = (stats.norm.logpdf(y, STATES, sigma[:, None]) for y in JUMPS)
    first = np.broadcast_to(first, (1, 400))
    return gamma(scale, 4, 10) + gamma(sigma, 6, 20) + filtered(first, moves, own)


@everyday(jumps_density, scale=POSITIVE, sigma=POSITIVE, width=160000, scramblings=8)
def steps_of_a_walk_that_are_seldom_large():
    scale, sigma = pm.Gamma("scale", 4, 10), pm.Gamma("sigma", 6, 20)
    first = pm.Normal("first")
    step = pm.Laplace("step", 0, scale, shape=14)
    walk = pt.concatenate([first[None], first + pt.cumsum(step)])
    pm.Normal("y", walk, sigma, observed=JUMPS)


# --- limits ---------------------------------------------------------------------------------------

X = RNG.uniform(-1, 1, size=25)
WITHIN = 1.0 + 0.8 * X + RNG.uniform(-0.6, 0.6, size=25)


def within_density(w, half):
    gap = abs(WITHIN - w[:, :1] - w[:, 1:] * X).max(1)
    inside = np.where(gap <= half, -25 * np.log(2 * half), -np.inf)
    return normal(w, 0, 2) + gamma(half, 2, 2) + inside


@everyday(within_density, w=(REAL, 2), half=POSITIVE, width=60, scramblings=15)
def line_within_uniform_limits():
    w, half = pm.Normal("w", 0, 2, shape=2), pm.Gamma("half", 2, 2)
    mean = w[0] + w[1] * X
    pm.Uniform("y", mean - half, mean + half, observed=WITHIN)


WAITED = 2.0 + np.exp(0.3 + 0.5 * X + 0.6 * RNG.normal(size=25))


def shifted_density(w, sigma, share):
    start = share * WAITED.min()
    late = np.log(WAITED - start[:, None])
    each = normal(late - w[:, :1] - w[:, 1:] * X, 0, sigma[:, None]) - late.sum(1)
    return normal(w, 0, 2) + half_normal(sigma) + each


@everyday(shifted_density, w=(REAL, 2), sigma=POSITIVE, share=UNIT, width=60)
def lognormal_waits_after_a_start():
    w, sigma = pm.Normal("w", 0, 2, shape=2), pm.HalfNormal("sigma", 1)
    start = pm.Uniform("share", 0, 1) * WAITED.min()
    mean = w[0] + w[1] * X
    late = np.asarray(WAITED) - start
    pm.Potential("y", (pm.logp(pm.LogNormal.dist(mean, sigma), late)).sum())


BLENDS = RNG.normal([0.8, 0.5], 0.5, size=(12, 2))


def disc_density(w):
    inside = np.where((w**2).sum(1) < 1, -np.log(np.pi), -np.inf)
    gap = BLENDS - w[:, None]
    return inside + normal(gap, 0, 0.5)


@everyday(disc_density, w=(REAL, 2), width=60, scramblings=14)
def mean_within_a_disc():
    w = pm.Uniform("w", -1, 1, shape=2)
    pm.Potential("inside", pt.switch((w**2).sum() < 1, np.log(4 / np.pi), -np.inf))
    pm.Normal("y", w, 0.5, observed=BLENDS)


TASTES = RNG.normal([0.2, 0.4, 0.9, -0.1], 0.6, size=(10, 4))


def box_density(w, sigma):
    inside = np.where((abs(w) < 1).all(1), -4 * np.log(2), -np.inf)
    inside = np.where(w[:, 0] < w[:, 1], inside, -np.inf)
    return inside + half_normal(sigma) + normal(TASTES - w[:, None], 0, sigma[:, None, None])


@everyday(box_density, w=(REAL, 4), sigma=POSITIVE, width=80, scramblings=14)
def means_in_a_box_and_in_order():
    w, sigma = pm.Uniform("w", -1, 1, shape=4), pm.HalfNormal("sigma", 1)
    pm.Potential("order", pt.switch(w[0] < w[1], 0.0, -np.inf))
    pm.Normal("y", w, sigma, observed=TASTES)


MANY = RNG.poisson(np.maximum(5.0 - 1.2 * np.arange(8.0), 0.3))


def floor_density(base, slope, floor):
    rate = np.maximum(base[:, None] - slope[:, None] * np.arange(8.0), floor[:, None])
    prior = gamma(base, 4, 1) + gamma(slope, 2, 2) + gamma(floor, 2, 4)
    return prior + stats.poisson.logpmf(MANY, rate).sum(1)


@everyday(floor_density, base=POSITIVE, slope=POSITIVE, floor=POSITIVE, width=60)
def counts_that_fall_to_a_floor():
    base, slope = pm.Gamma("base", 4, 1), pm.Gamma("slope", 2, 2)
    floor = pm.Gamma("floor", 2, 4)
    pm.Poisson("y", pt.maximum(base - slope * np.arange(8.0), floor), observed=MANY)


EDGES = {
    one.name: one
    for one in (
        broken_stick, change_of_rates_within_a_year,
        guesses_of_a_triangle, blocks_with_laplace_noise, growth_up_to_a_plateau,
        autoregression_with_a_threshold, steps_of_a_walk_that_are_seldom_large,
        line_within_uniform_limits, lognormal_waits_after_a_start, mean_within_a_disc,
        means_in_a_box_and_in_order,
        counts_that_fall_to_a_floor,
    )
}  # fmt: skip
