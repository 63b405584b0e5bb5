"""Random models that have a closed form, and random models that nearly have one.

A model is made of one to three pieces with random hyperparameters, sizes, shapes and styles. Half
of the models have one thing wrong with them.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import Interval
from scipy import special, stats

from tests.posteriors.check import log_joint
from tests.posteriors.coins import log_binomials, log_multinomials
from tests.posteriors.compare import evidence_error, moment_error, parameter_error
from tests.posteriors.rates import log_factorials, log_normaliser, normal_base
from tests.posteriors.references import (
    beta,
    condition_exactly,
    dirichlet,
    finite,
    flat_linear,
    flat_linear_unknown_scale,
    gamma,
    generalised_inverse_gaussian,
    inverse_gamma,
    linear,
    linear_unknown_scale,
    normal_wishart,
    square_generalised_inverse_gaussian,
    square_inverse_gamma,
    together,
)

CONJUGATE, NOT_CONJUGATE = "conjugate", "not conjugate"


def size(rng, low=1e-2, high=1e3):
    """Return a positive number, uniform in its log."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def sizes(rng, shape, low=1e-2, high=1e3):
    return np.exp(rng.uniform(np.log(low), np.log(high), shape))


def pick(rng, *options):
    return options[rng.integers(len(options))]


def axes(rng, name, shape):
    """Return keywords that give a variable its shape, as dims or as a shape."""
    if shape and rng.random() < 0.5:
        dims = tuple(f"{name}_axis_{i}" for i in range(len(shape)))
        for dim, length in zip(dims, shape, strict=True):
            pm.modelcontext(None).add_coord(dim, [f"{dim}_{k}" for k in range(length)])
        return {"dims": dims}
    return {"shape": shape}


def but_for_one_cell(rng, value, shape, other):
    """Replace one element of a value."""
    if not shape:
        return other
    mask = np.zeros(shape, dtype=bool)
    mask[tuple(rng.integers(shape))] = True
    return value * (1 - mask) + other * mask


# --- pieces: each declares its variables and returns their posterior ------------------------------


def coin(rng, name, flaw):
    shape = pick(rng, (), (3,), (7,), (2, 3))
    theta, prior = share_prior(rng, name, shape, flaw)
    p = theta
    if flaw == "mistaken rows":
        p = 0.999 * theta + 1e-4
    elif flaw == "one cell":
        p = but_for_one_cell(rng, theta, shape, 0.98 * theta + 0.01)
    elif flaw == "clip":
        p = pm.math.clip(theta, 1e-6, 1 - 1e-6)
    truth = rng.uniform(0.05, 0.95, shape)
    style = pick(rng, tosses, bits, waits, failures, powers)
    if rng.random() < 0.25:
        zeros, ones, base = style(rng, f"{name}_x", 1 - p, truth)
    else:
        ones, zeros, base = style(rng, f"{name}_x", p, truth)
    return beta(name, prior, ones, zeros, base)


def share_prior(rng, name, shape, flaw):
    a, b = sizes(rng, shape), sizes(rng, shape)
    if flaw == "truncated prior":
        law = pm.LogNormal.dist(-1, a / (a + b), shape=shape)
        return pm.Truncated(name, law, lower=0.01, upper=0.98), (a, b)
    more = axes(rng, name, shape)
    if flaw == "other prior":
        return pm.LogitNormal(name, mu=rng.normal(), sigma=size(rng, 0.5, 2), **more), (a, b)
    if rng.random() < 0.2:
        return pm.Uniform(name, 0, 1, **more), (np.ones(shape), np.ones(shape))
    return pm.Beta(name, a, b, **more), (a, b)


def tosses(rng, x, p, truth):
    n = rng.integers(1, 10 ** rng.integers(1, 6), truth.shape)
    ones = rng.binomial(n, truth)
    pm.Binomial(x, n, p, observed=ones)
    return ones, n - ones, log_binomials(n, ones)


def bits(rng, x, p, truth):
    rows = (rng.random((rng.integers(1, 40), *truth.shape)) < truth).astype(int)
    pm.Bernoulli(x, p, observed=rows)
    return rows.sum(0), (1 - rows).sum(0), 0.0


def waits(rng, x, p, truth):
    rows = rng.geometric(truth, (rng.integers(1, 9), *truth.shape))
    pm.Geometric(x, p, observed=rows)
    return np.full(truth.shape, len(rows)), (rows - 1).sum(0), 0.0


def failures(rng, x, p, truth):
    n = int(rng.integers(1, 6))
    rows = rng.negative_binomial(n, truth, (rng.integers(1, 9), *truth.shape))
    pm.NegativeBinomial(x, n=n, p=p, observed=rows)
    return np.full(truth.shape, n * len(rows)), rows.sum(0), log_binomials(rows + n - 1, rows)


def powers(rng, x, p, truth):
    ones, zeros = rng.integers(1, 50, truth.shape), rng.integers(1, 50, truth.shape)
    pm.Potential(x, (ones * pt.log(p) + zeros * pt.log1p(-p)).sum())
    return ones, zeros, 0.0


def shares(rng, name, flaw):
    width, batch = int(rng.integers(2, 7)), pick(rng, (), (3,), (2, 2))
    alpha = sizes(rng, (*batch, width), 0.05, 300)
    theta = pm.Dirichlet(name, alpha, **axes(rng, name, (*batch, width)))
    p = theta
    if flaw == "mistaken rows":
        p = 0.99 * theta + 0.01 / width
    style = pick(rng, "counts", "rows", "potential")
    base = 0.0
    if style == "counts":
        n = rng.integers(1, 10 ** rng.integers(1, 5), batch)
        x = rng.multinomial(n, np.full(width, 1 / width))
        base = log_multinomials(x)
        pm.Multinomial(f"{name}_x", n=n, p=p, observed=x)
    elif style == "rows":
        codes = rng.integers(0, width, (rng.integers(1, 30), *batch))
        x = (codes[..., None] == np.arange(width)).sum(0)
        pm.Categorical(f"{name}_x", p=p, observed=codes)
    else:
        x = rng.integers(1, 20, (*batch, width))
        pm.Potential(f"{name}_x", (x * pm.math.log(p)).sum())
    return dirichlet(name, alpha, x, base)


def rate_prior(rng, name, shape, flaw):
    """Declare a rate; return it and shape and rate of its Gamma prior, None if it is flat."""
    a, b = sizes(rng, shape, 0.05, 300), sizes(rng, shape)
    if flaw == "truncated prior":
        law = pm.LogNormal.dist(0, 0.5 + 1 / a, shape=shape)
        return pm.Truncated(name, law, lower=None, upper=float(np.max(50 * a / b))), (a, b)
    more = axes(rng, name, shape)
    if flaw == "other prior":
        declared = pick(
            rng,
            lambda: pm.LogNormal(name, 0, size(rng, 0.5, 2), **more),
            lambda: pm.HalfCauchy(name, size(rng, 0.1, 10), **more),
            lambda: pm.Weibull(name, 1.5, size(rng, 0.1, 10), **more),
        )
        return declared(), (a, b)
    declared = pick(
        rng,
        lambda: (pm.Gamma(name, a, b, **more), (a, b)),
        lambda: (pm.Gamma(name, mu=a / b, sigma=np.sqrt(a) / b, **more), (a, b)),
        lambda: (pm.Exponential(name, b, **more), (np.ones(shape), b)),
        lambda: (pm.ChiSquared(name, 2 * a, **more), (a, np.full(shape, 0.5))),
        lambda: (pm.HalfFlat(name, **more), None),
    )
    return declared()


def rate(rng, name, flaw):
    shape = pick(rng, (), (4,), (2, 3))
    value, prior = rate_prior(rng, name, shape, flaw)
    if flaw == "power":
        value = value**1.01
    if flaw == "one cell":
        value = but_for_one_cell(rng, value, shape, value + 0.01)
    rows = int(rng.integers(1, 15))
    whole = (rows, *shape)
    x, base = sizes(rng, whole, 0.1, 10), 0.0
    number, total, x_name = np.full(shape, float(rows)), x.sum(0), f"{name}_x"
    style = pick(
        rng, "poisson", "exponential", "mean", "gamma", "weibull", "pareto", "tau", "sigma", "wald"
    )
    if style == "poisson":
        exposure = x
        counts = 1 + rng.poisson(size(rng, 0.1, 100), whole)
        number, total = counts.sum(0), exposure.sum(0)
        base = (counts * np.log(exposure)).sum() - log_factorials(counts)
        pm.Poisson(x_name, value * exposure, observed=counts)
    elif style == "exponential":
        pm.Exponential(x_name, value, observed=x)
    elif style == "mean":
        pm.Exponential(x_name, scale=1 / value, observed=x)
    elif style == "gamma":
        k = float(rng.integers(1, 9)) / 2
        number = number * k
        base = (k - 1) * np.log(x).sum() - x.size * special.gammaln(k)
        pm.Gamma(x_name, alpha=k, beta=value, observed=x)
    elif style == "weibull":
        k = pick(rng, 0.5, 1.5, 2, 3)
        total = (x**k).sum(0)
        base = x.size * np.log(k) + (k - 1) * np.log(x).sum()
        pm.Weibull(x_name, k, value ** (-1 / k), observed=x)
    elif style == "pareto":
        x = 1 + x
        total, base = np.log(x).sum(0), -np.log(x).sum()
        pm.Pareto(x_name, alpha=value, m=1, observed=x)
    elif style == "wald":
        mu = size(rng, 0.5, 5)
        number, total = number / 2, ((x - mu) ** 2 / (2 * mu**2 * x)).sum(0)
        base = normal_base(x.size) - 1.5 * np.log(x).sum()
        pm.Wald(x_name, mu=mu, lam=value, observed=x)
    else:
        mu = rng.normal()
        x = rng.normal(size=whole) * size(rng)
        number, total = number / 2, ((x - mu) ** 2).sum(0) / 2
        base = normal_base(x.size)
        spread = {"tau": value} if style == "tau" else {"sigma": value**-0.5}
        pm.Normal(x_name, mu, **spread, observed=x)
    return gamma(name, prior, number, total, base)


def scale(rng, name, flaw):
    rows, a, b = int(rng.integers(2, 15)), size(rng, 0.1, 100), size(rng)
    x = rng.normal(size=rows) * size(rng)
    if flaw == "other prior":
        pm.Normal(f"{name}_x", 0, pt.sqrt(pm.LogNormal(name, 0, 1)), observed=x)
        return inverse_gamma(name, (a, b), rows / 2, (x**2).sum() / 2)
    style = pick(rng, *SCALES)
    return style(rng, name, (a, b), x, 1.01 if flaw == "power" else 1)


def variance(rng, name, prior, x, power):  # noqa: ARG001 - as the others
    v = pm.InverseGamma(name, *prior)
    pm.Normal(f"{name}_x", 0, pm.math.sqrt(v) ** power, observed=x)
    return inverse_gamma(name, prior, len(x) / 2, (x**2).sum() / 2, normal_base(len(x)))


def mean_of_times(rng, name, prior, x, power):  # noqa: ARG001
    pm.Exponential(f"{name}_x", scale=pm.InverseGamma(name, *prior) ** power, observed=np.abs(x))
    return inverse_gamma(name, prior, len(x), np.abs(x).sum())


def size_of_errors(rng, name, prior, x, power):  # noqa: ARG001
    pm.Laplace(f"{name}_x", 0, pm.InverseGamma(name, *prior) ** power, observed=x)
    return inverse_gamma(name, prior, len(x), np.abs(x).sum(), -len(x) * np.log(2))


def variance_with_a_gamma_prior(rng, name, prior, x, power):  # noqa: ARG001
    a, b = prior
    v = pm.Gamma(name, a, b)
    pm.Normal(f"{name}_x", 0, pm.math.sqrt(v) ** power, observed=x)
    order, squares = a - len(x) / 2, float((x**2).sum())
    evidence = normal_base(len(x)) + a * np.log(b) - special.gammaln(a)
    evidence += log_normaliser(order, 2 * b, squares)
    return generalised_inverse_gaussian(name, order, 2 * b, squares, evidence)


def rate_with_an_inverse_gamma_prior(rng, name, prior, x, power):
    a, b = prior
    counts = rng.poisson(size(rng, 0.1, 50), len(x)) + 1
    pm.Poisson(f"{name}_x", pm.InverseGamma(name, a, b) ** power, observed=counts)
    order = counts.sum() - a
    evidence = a * np.log(b) - special.gammaln(a) - log_factorials(counts)
    evidence += log_normaliser(order, 2 * len(x), 2 * b)
    return generalised_inverse_gaussian(name, order, 2 * len(x), 2 * b, evidence)


def half_normal_deviation(rng, name, prior, x, power):  # noqa: ARG001
    _, b = prior
    pm.Normal(f"{name}_x", 0, pm.HalfNormal(name, b) ** power, observed=x)
    order, squares = (1 - len(x)) / 2, float((x**2).sum())
    evidence = normal_base(len(x) + 1) - np.log(b) + log_normaliser(order, 1 / b**2, squares)
    return square_generalised_inverse_gaussian(name, order, 1 / b**2, squares, evidence)


def flat_deviation(rng, name, prior, x, power):  # noqa: ARG001
    v = pm.HalfFlat(name)
    pm.Normal(f"{name}_x", 0, v**power, observed=x)
    if power != 1:  # the power alone would only make another member of a family of powers
        pm.Potential(f"{name}_slope", -v)
    return square_inverse_gamma(name, (len(x) - 1) / 2, (x**2).sum() / 2)


SCALES = (
    variance,
    mean_of_times,
    size_of_errors,
    variance_with_a_gamma_prior,
    rate_with_an_inverse_gamma_prior,
    half_normal_deviation,
    flat_deviation,
)


def split(rng, name, width):
    """Return shapes of one vector, or of scalars, or of both."""
    style = pick(rng, "vector", "scalars", "both")
    if style == "vector":
        return {name: (width,)}
    if style == "scalars" or width == 1:
        return {f"{name}_{j}": () for j in range(width)}
    return {f"{name}_0": (), f"{name}_1": (width - 1,)}


def joined(variables):
    """Stack variables as one vector."""
    return pt.concatenate([pt.atleast_1d(variable) for variable in variables])


@dataclass(frozen=True)
class Weights:
    """Declared weights w = offset + design b, and the prior of the variables' stacked values b."""

    w: Any
    shapes: dict[str, tuple[int, ...]]
    offset: Any
    design: Any
    mean: Any
    cov: Any


def separate(rng, name, mean, spread):
    shapes, parts = split(rng, name, len(mean)), []
    for at, (own, shape) in enumerate(shapes.items()):
        m, s = (mean[at], spread[at]) if shape == () else (mean[at:], spread[at:])
        given = {"sigma": s} if rng.random() < 0.5 else {"tau": 1 / s**2}
        parts.append(pm.Normal(own, m, **given, shape=shape))
    w = parts[0] if list(shapes.values()) == [mean.shape] else joined(parts)
    return Weights(w, shapes, np.zeros(len(mean)), np.eye(len(mean)), mean, np.diag(spread**2))


def correlated(rng, name, mean, spread):
    width = len(mean)
    root = spread[:, None] * (np.tril(rng.normal(size=(width, width))) + 2 * np.eye(width))
    cov = root @ root.T
    given = {"cov": cov} if rng.random() < 0.5 else {"chol": np.linalg.cholesky(cov)}
    w = pm.MvNormal(name, mean, **given)
    return Weights(w, {name: (width,)}, np.zeros(width), np.eye(width), mean, cov)


def about_a_centre(rng, name, mean, spread):  # noqa: ARG001 - as the others
    width, own = len(mean), f"{name}_centre"
    centre = pm.Normal(own, mean[0], spread[0])
    w = pm.Normal(name, centre, spread)
    cov = spread[0] ** 2 + np.diag([0, *spread**2])
    design = np.eye(width + 1)[1:]
    shapes = {own: (), name: (width,)}
    return Weights(w, shapes, np.zeros(width), design, np.full(width + 1, mean[0]), cov)


def not_centred(rng, name, mean, spread):  # noqa: ARG001
    width = len(mean)
    w = mean + spread * pm.Normal(f"{name}_z", shape=width)
    shapes = {f"{name}_z": (width,)}
    return Weights(w, shapes, mean, np.diag(spread), np.zeros(width), np.eye(width))


def walking(rng, name, mean, spread):  # noqa: ARG001
    width = len(mean)
    steps = [pm.Normal(f"{name}_0", mean[0], spread[0])]
    for j in range(1, width):
        steps.append(pm.Normal(f"{name}_{j}", steps[-1], spread[j]))
    sums = np.tri(width)
    cov = sums @ np.diag(spread**2) @ sums.T
    shapes = {f"{name}_{j}": () for j in range(width)}
    start = np.full(width, mean[0])
    return Weights(pm.math.stack(steps), shapes, np.zeros(width), np.eye(width), start, cov)


def of_another_kind(rng, name, mean, spread, flaw):
    """Declare weights with a prior that is not normal, or not on all numbers."""
    if flaw == "interval":
        bounds = Interval(float((mean - 3 * spread).min()), float((mean + 9 * spread).max()))
        w = pm.Normal(name, mean, spread, transform=bounds)
    elif rng.random() < 0.5:
        w = pm.Laplace(name, mean, spread)
    else:
        w = pm.StudentT(name, nu=20, mu=mean, sigma=spread)
    width = len(mean)
    return Weights(w, {name: (width,)}, 0 * mean, np.eye(width), mean, np.diag(spread**2))


def line(rng, name, flaw):
    width, rows = int(rng.integers(2, 6)), int(rng.integers(1, 13))
    X = rng.normal(size=(rows, width)) * sizes(rng, width, 0.1, 10)
    mean, spread = rng.normal(size=width) * size(rng), sizes(rng, width, 0.05, 50)
    noise = sizes(rng, rows, 0.1, 10)
    y = X @ (mean + spread * rng.normal(size=width)) + noise * rng.normal(size=rows)
    if flaw is None and rows > width and rng.random() < 0.3:
        shapes = split(rng, name, width)
        w = joined(pm.Flat(own, shape=shape) for own, shape in shapes.items())
        pm.Normal(f"{name}_y", X @ w, noise, observed=y)
        return flat_linear(shapes, X, y, noise**2)
    if flaw in ("other prior", "interval"):
        prior = of_another_kind(rng, name, mean, spread, flaw)
    else:
        style = pick(rng, separate, correlated, about_a_centre, not_centred, walking)
        prior = style(rng, name, mean, spread)
    mu = X @ prior.w if rng.random() < 0.5 else (X * prior.w).sum(-1)
    if flaw == "product":
        mu = mu + 0.01 * prior.w[0] * prior.w[1]
    observe(f"{name}_y", mu, noise, y, flaw)
    return linear(
        prior.shapes,
        (prior.mean, prior.cov),
        X @ prior.design,
        y - X @ prior.offset,
        noise**2,
        update=condition_exactly,
    )


def observe(name, mu, noise, y, flaw):
    if flaw == "heavy tail":
        pm.StudentT(name, nu=30, mu=mu, sigma=noise, observed=y)
    elif flaw == "one cell":
        pm.Normal(name, mu[1:], noise[1:], observed=y[1:])
        pm.Logistic(f"{name}_odd", mu[0], noise[0], observed=y[0])
    else:
        pm.Normal(name, mu, noise, observed=y)


def line_with_scale(rng, name, flaw):
    width, rows = int(rng.integers(1, 5)), int(rng.integers(2, 13))
    flat = flaw is None and rng.random() < 0.15
    rows = rows + width if flat else rows
    X = rng.normal(size=(rows, width)) * sizes(rng, width, 0.1, 10)
    mean, spread = rng.normal(size=width) * size(rng, 1e-2, 30), sizes(rng, width, 0.1, 30)
    weight = sizes(rng, rows, 0.3, 3)
    a, b = size(rng, 0.5, 50), size(rng)
    y = X @ (mean + spread * rng.normal(size=width)) + rng.normal(size=rows) * size(rng)
    shapes = split(rng, name, width)
    own, y_name = f"{name}_scale", f"{name}_y"
    if flat:
        sigma = pm.HalfFlat(own)
        w = joined(pm.Flat(part, shape=shape) for part, shape in shapes.items())
        pm.Normal(y_name, X @ w, sigma * weight, observed=y)
        return flat_linear_unknown_scale(shapes, X, y, weight**2, own, 0.5, "SquareInverseGamma")
    kind = pick(rng, "InverseGamma", "Gamma")
    if flaw == "other prior":
        scatter = pm.LogNormal(own, 0, 1)
    elif kind == "InverseGamma":
        scatter = pm.InverseGamma(own, a, b)
    else:
        scatter = 1 / pm.Gamma(own, a, b)
    power = {"power": pick(rng, 0.25, 0.45, 0.51, 1), "independent": 0}.get(flaw, 0.5)
    parts = []
    for at, (part, shape) in enumerate(shapes.items()):
        m, s = (mean[at], spread[at]) if shape == () else (mean[at:], spread[at:])
        unit = scatter**power
        parts.append(
            pm.Normal(part, m, s * unit, shape=shape)
            if rng.random() < 0.5
            else pm.Normal(part, m, tau=1 / (s**2 * unit**2), shape=shape)
        )
    pm.Normal(y_name, X @ joined(parts), pm.math.sqrt(scatter) * weight, observed=y)
    prior = mean, np.diag(spread**2)
    return linear_unknown_scale(
        shapes, prior, X, y, weight**2, own, (a, b), kind, update=condition_exactly
    )


def vectors(rng, name, flaw):
    rows = rng.normal(size=(rng.integers(1, 10), 2)) * sizes(rng, 2, 0.1, 10)
    m, kappa, df = rng.normal(size=2), size(rng, 0.05, 20), int(rng.integers(2, 30))
    psi = np.array([[2.0, 0.3], [0.3, 1.0]]) * size(rng)
    names = (f"{name}_mu", f"{name}_Lambda")
    precision = pm.Wishart(names[1], nu=df, V=np.linalg.inv(psi))
    tau = np.eye(2) if flaw == "independent" else kappa * precision
    mu = pm.MvNormal(names[0], m, tau=tau)
    pm.MvNormal(f"{name}_x", mu, tau=precision, observed=rows)
    return normal_wishart(names, (m, kappa, df, psi), rows)


def change(rng, name, flaw):  # noqa: ARG001 - what may be wrong with it is added from outside
    x = rng.poisson(size(rng, 0.5, 20), rng.integers(3, 9))
    time, priors = np.arange(len(x)), [(size(rng, 0.1, 50), size(rng, 0.1, 50)) for _ in range(2)]
    early, late = f"{name}_early", f"{name}_late"
    at = pm.DiscreteUniform(name, 1, len(x))
    first, second = pm.Gamma(early, *priors[0]), pm.Gamma(late, *priors[1])
    pm.Poisson(f"{name}_x", pm.math.switch(at > time, first, second), observed=x)

    def given(c):
        return gamma(early, priors[0], x[:c].sum(), c, -log_factorials(x[:c])) + gamma(
            late, priors[1], x[c:].sum(), len(x) - c, -log_factorials(x[c:])
        )

    places = range(1, len(x) + 1)
    terms = [({name: c}, -np.log(len(x))) for c in places]
    return finite({name: places}, terms, [given(c) for c in places])


def labels(rng, name, flaw):  # noqa: ARG001
    length, (a, b) = int(rng.integers(1, 5)), sizes(rng, 2, 0.1, 30)
    x = rng.normal(size=length) * 3
    mean, spread, noise = rng.normal(size=2), sizes(rng, 2, 0.2, 10), size(rng, 0.3, 3)
    share, mu, z = f"{name}_share", f"{name}_mu", f"{name}_z"
    p = pm.Beta(share, a, b)
    means = pm.Normal(mu, mean, spread)
    label = pm.Bernoulli(z, p, shape=length)
    pm.Normal(f"{name}_x", means[label], noise, observed=x)

    def given(state):
        chosen = (state[:, None] == np.arange(2)).astype(float)
        prior = mean, np.diag(spread**2)
        return beta(share, (a, b), state.sum(), length - state.sum()) + linear(
            {mu: (2,)}, prior, chosen, x, noise**2
        )

    states = [np.array(s) for s in product((0, 1), repeat=length)]
    return finite(
        {z: (0, 1)}, [({z: s}, 0.0) for s in states], [given(s) for s in states], {z: (length,)}
    )


def hypotheses(rng, name, flaw):  # noqa: ARG001
    number = int(rng.integers(2, 9))
    prior, chance = rng.dirichlet(np.ones(number)), rng.uniform(0.02, 0.98, number)
    n = int(rng.integers(1, 30))
    x = int(rng.binomial(n, 0.5))
    h = pm.Categorical(name, prior)
    pm.Binomial(f"{name}_x", n, pt.as_tensor(chance)[h], observed=x)
    masses = np.log(prior) + stats.binom(n, chance).logpmf(x)
    return finite({name: range(number)}, [({name: k}, masses[k]) for k in range(number)])


# What each piece can be made of wrongly, and how often it is taken.
PIECES = {
    coin: (3, ("truncated prior", "other prior", "mistaken rows", "one cell", "clip")),
    shares: (2, ("mistaken rows",)),
    rate: (3, ("truncated prior", "other prior", "power", "one cell")),
    scale: (2, ("other prior", "power")),
    line: (3, ("other prior", "interval", "product", "heavy tail", "one cell")),
    line_with_scale: (3, ("other prior", "power", "independent")),
    vectors: (0.3, ("independent",)),
    change: (0.7, ()),
    labels: (0.7, ()),
    hypotheses: (0.5, ()),
}


@dataclass(frozen=True)
class Place:
    """One element of a variable, where a small term is added.

    Attributes
    ----------
    x, u : TensorVariable
        The element, and the same in units of its posterior.
    eps : float
        How small the term is.
    c : float
        A value of u inside the posterior.
    far : float
        A value of x outside of it, but possible.
    """

    x: Any
    u: Any
    eps: float
    c: float
    far: float


# None of them is of any family.
TERMS = {
    "wave": lambda at: at.eps * pm.math.sin(2 * at.u + at.c),
    "bump": lambda at: at.eps * pm.math.exp(-((at.u - at.c) ** 2)),
    "bend": lambda at: at.eps * pm.math.log1pexp(at.u - at.c),
    "fourth power": lambda at: -at.eps * (at.u - at.c) ** 4,
    "kink": lambda at: -at.eps * pm.math.abs(at.u - at.c),
    "step": lambda at: pm.math.switch(at.u > at.c, at.eps, 0.0),
    "stairs": lambda at: at.eps * pm.math.floor(3 * at.u + at.c),
    "fence": lambda at: pm.math.switch(at.x > at.far, -np.inf, 0.0),
}


@dataclass(frozen=True)
class Plan:
    """What a random model is made of; the same seed makes the same model again."""

    seed: int
    pieces: tuple[Any, ...]
    flaw: str | None  # of the first piece, or one of TERMS

    @property
    def status(self):
        return CONJUGATE if self.flaw is None else NOT_CONJUGATE

    def __str__(self):
        return f"{' + '.join(piece.__name__ for piece in self.pieces)}: {self.flaw or 'nothing'}"

    def build(self):
        """Return the model and, if nothing is wrong with it, its posterior."""
        rng = np.random.default_rng(self.seed)
        with pm.Model() as model:
            parts = [
                piece(rng, "abc"[k], self.flaw if k == 0 and self.flaw not in TERMS else None)
                for k, piece in enumerate(self.pieces)
            ]
            if self.flaw in TERMS:
                pm.Potential("term", TERMS[self.flaw](some_place(rng, model, parts[0])))
        return model, together(parts)


def some_place(rng, model, reference):
    """Choose an element of a variable, with a scale from draws of its posterior."""
    name = pick(
        rng,
        *(
            name
            for name, family in reference.families.items()
            if family not in ("Categorical", "Wishart", "InverseWishart")
        ),
    )
    draws = np.array([np.asarray(reference.draw(rng)[name]) for _ in range(60)])
    element = tuple(int(rng.integers(length)) for length in draws.shape[1:])
    own = np.sort(draws[(slice(None), *element)])
    middle, width = own[30], max(own[54] - own[6], 1e-12 * abs(own[30]))
    c = (own[rng.integers(15, 45)] - middle) / width
    shares = ("Beta", "Dirichlet")
    share = reference.families[name] in shares or (own[0] > 0 and own[-1] < 1)
    far = (1 + own[-1]) / 2 if share else own[-1] + rng.uniform(1, 3) * width
    x = model[name][element]
    return Place(x, (x - middle) / width, 10 ** rng.uniform(-5, -1), c, far)


def random_plan(rng):
    """Choose pieces and what is wrong, if anything."""
    weights = np.array([weight for weight, _ in PIECES.values()])
    number = pick(rng, 1, 1, 2, 2, 3)
    chosen = rng.choice(len(PIECES), number, p=weights / weights.sum())
    pieces = tuple(list(PIECES)[k] for k in chosen)
    flaw = None
    if rng.random() < 0.5:
        own = PIECES[pieces[0]][1]
        flaw = pick(rng, *own) if own and rng.random() < 0.5 else pick(rng, *TERMS)
        if pieces[0] is hypotheses:
            flaw = None
    return Plan(int(rng.integers(2**62)), pieces, flaw)


def random_model(rng):
    """Return a random model, whether it has a closed form, and what judges one.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of everything.

    Returns
    -------
    tuple
        The PyMC model; "conjugate" or "not conjugate"; a function from an `ExactPosterior` to
        "right", or what is wrong with it.
    """
    plan = random_plan(rng)
    model, reference = plan.build()

    def judge(posterior):
        if plan.status == NOT_CONJUGATE:
            return f"accepted: {posterior!r}"
        return compared(posterior, plan, reference)

    return model, plan.status, judge


def compared(posterior, plan, reference):
    """Compare with the formulas, and with the model's own density at exact draws."""
    # Beside finite variables an independent part may be given as a mixture of equal components.
    plain = [name for name, family in posterior.families.items() if family == "Mixture"]
    coarse = replace(reference, families=reference.families | dict.fromkeys(plain, "Mixture"))
    found = parameter_error(posterior, coarse)
    if found > 1e-8:
        return f"parameters off by {found:.1e}: {posterior!r}"
    found = moment_error(posterior, reference)
    if found > 1e-7:
        return f"moments off by {found:.1e}"
    if reference.log_evidence is not None:
        found = evidence_error(posterior, reference)
        if found > 1e-8 + 1e-12 * abs(reference.log_evidence):
            return f"log evidence off by {found:.1e}"
    joint = log_joint(lambda: plan.build()[0])
    draws = posterior.sample(4, np.random.default_rng(plan.seed))
    own = np.array([joint({name: draw[k] for name, draw in draws.items()}) for k in range(4)])
    inside = np.isfinite(own)  # a draw may round to a border
    gaps = own[inside] - posterior.log_density(draws)[inside]
    spread = np.ptp(gaps) if len(gaps) else 0.0
    if spread > 1e-7 + 1e-11 * np.abs(own).max():
        return f"density differs by {spread:.1e}"
    return "right"
