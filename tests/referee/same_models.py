"""Pairs of programs that state one model, and pairs that differ by one slip, as data."""

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import stats

Y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
S = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
X = np.round(np.random.default_rng(1).normal(size=(8, 2)), 2)
GROUP = np.array([0, 0, 1, 1, 2, 2, 2, 0])
COUNTS = np.array([3, 0, 2, 5, 1, 4, 2, 2])
BITS = np.array([1, 0, 0, 1, 1, 0, 1, 1])
LABELS = np.array([0, 2, 1, 2, 2, 0])
COV = np.array([[2.0, 0.6], [0.6, 1.0]])
PLACES = Y[:6].reshape(3, 2) / 10
HALF_2PI = 0.5 * np.log(2 * np.pi)


def in_model(build):
    """Return a builder of a PyMC model, whose keywords are variants."""

    def made(**variants):
        with pm.Model() as model:
            build(**variants)
        return model

    return lambda **variants: partial(made, **variants)


@in_model
def schools(
    *,
    noncentred=False,
    tau="cauchy",
    scale=5.0,
    sd=5.0,
    f=None,
    y=Y,
    s=S,
    loop=False,
    z=1.0,
    shift=0.0,
):
    mu = pm.Normal("mu", 0, sd)
    tau = {
        "cauchy": lambda: pm.HalfCauchy("tau", scale),
        "normal": lambda: pm.HalfNormal("tau", scale),
        "truncated": lambda: pm.Truncated("tau", pm.Normal.dist(0, scale), lower=0),
        "flat": lambda: pm.HalfFlat("tau"),
        "symmetric": lambda: pm.Normal("tau", 0, scale),
        "student": lambda: pm.HalfStudentT("tau", 1, scale),
    }[tau]()
    if noncentred:
        raw = pm.Normal("z", 0, z, shape=8)
        f = f or (lambda mu, tau, raw: mu + tau * raw)
        theta = pm.Deterministic("theta", f(mu, tau, raw))
    else:
        theta = pm.Normal("theta", mu + shift, tau, shape=8)
    if loop:
        for i in range(8):
            pm.Normal(f"y_{i}", theta[i], s[i], observed=y[i])
    else:
        pm.Normal("y", theta, s, observed=y)


@in_model
def spread(form="sigma", a=2.0, b=3.0, power=None, y=Y, jacobian=1.0, mean=0.0):
    """State a normal law of known mean, with a gamma law of its precision, in any of its forms."""
    gamma = pm.Gamma.dist(a, b)
    if form == "tau":
        tau = pm.Gamma("tau", a, b)
    elif form == "variance":
        tau = 1 / pm.InverseGamma("variance", a, b)
    elif form == "sigma":
        sigma = pm.HalfFlat("sigma")
        tau = sigma ** (-2.0 if power is None else power)
        pm.Potential("prior", pm.logp(gamma, tau) + jacobian * (np.log(2) - 3 * pt.log(sigma)))
    elif form == "log":
        log_tau = pm.Flat("log_tau")
        tau = pm.Deterministic("tau", pt.exp(log_tau))
        pm.Potential("prior", pm.logp(gamma, tau) + jacobian * log_tau)
    pm.Normal("y", mean, tau=tau, observed=y / 10)


@in_model
def coin(form="plain", a=2.0, b=5.0, x=BITS, n=None, jacobian=1.0):
    if form in ("logit", "logit prior"):
        u = pm.Flat("u")
        theta = pm.Deterministic("theta", pm.math.invlogit(u))
        adjust = pt.log(theta) + pt.log1p(-theta)
        pm.Potential("prior", pm.logp(pm.Beta.dist(a, b), theta) + jacobian * adjust)
    elif form == "potential":
        theta = pm.Uniform("theta")
        pm.Potential("prior", pm.logp(pm.Beta.dist(a, b), theta))
    elif form == "moments":
        mean = a / (a + b)
        theta = pm.Beta("theta", mu=mean, sigma=np.sqrt(mean * (1 - mean) / (a + b + 1)))
    else:
        theta = pm.Beta("theta", a, b)
    if form == "binomial":
        pm.Binomial("x", len(x) if n is None else n, theta, observed=x.sum())
    elif form == "by hand":
        pm.Potential("rows", (x * pt.log(theta) + (1 - x) * pt.log1p(-theta)).sum())
    elif form == "logits":
        pm.Bernoulli("x", logit_p=pm.math.logit(theta), observed=x)
    else:
        pm.Bernoulli("x", theta, observed=x)


@in_model
def line(  # noqa: C901 - a family a branch
    form="vector", sd=2.0, scale=1.0, x=X, y=Y / 10, intercept=0.0, family="half", slip=None, w="w"
):
    w = pm.Normal(w, 0, sd, shape=2)
    sigma = {
        "half": lambda: pm.HalfNormal("sigma", scale),
        "exponential": lambda: pm.Exponential("sigma", 1 / scale),
        "rate": lambda: pm.Exponential("sigma", scale),
        "gamma": lambda: pm.Gamma("sigma", 1, 1 / scale),
        "lognormal": lambda: pm.LogNormal("sigma", 0, scale),
    }[family]()
    mean = intercept + x @ w
    if slip is not None:
        mean = slip(x, w, mean)
    if form == "loop":
        for i in range(len(y)):
            row = intercept + sum(x[i, j] * w[j] for j in range(2)) if slip is None else mean[i]
            pm.Normal(f"y_{i}", row, sigma, observed=y[i])
    elif form == "potential":
        z = (y - mean) / sigma
        pm.Potential("rows", (-0.5 * z**2 - pt.log(sigma) - HALF_2PI).sum())
    elif form == "no log sigma":
        pm.Potential("rows", (-0.5 * ((y - mean) / sigma) ** 2).sum())
    elif form == "matrix":
        pm.MvNormal("y", mean, cov=sigma**2 * pt.eye(len(y)), observed=y)
    elif form == "tau":
        pm.Normal("y", mean, tau=1 / sigma**2, observed=y)
    elif form == "sd as tau":
        pm.Normal("y", mean, tau=sigma, observed=y)
    elif form == "variance":
        pm.Normal("y", mean, sigma**2, observed=y)
    elif form == "student":
        pm.StudentT("y", 1e6, mu=mean, sigma=sigma, observed=y)
    else:
        pm.Normal("y", mean, sigma, observed=y)


@in_model
def groups(form="index", group=GROUP, sd=1.0, counts=COUNTS, offset=0.0, link="log"):
    alpha = pm.Normal("alpha", 0, sd, shape=3)
    eta = np.eye(3)[group] @ alpha if form == "dummies" else alpha[group]
    eta = eta + offset
    rate = pt.exp(eta) if link == "log" else pt.softplus(eta)
    if form == "loop":
        for i, k in enumerate(counts):
            pm.Poisson(f"n_{i}", pt.exp(alpha[int(group[i])] + offset), observed=k)
    elif form == "potential":
        pm.Potential("rows", (counts * eta - rate).sum())
    elif form == "negative binomial":
        pm.NegativeBinomial("n", mu=rate, alpha=1e8, observed=counts)
    else:
        pm.Poisson("n", rate, observed=counts)


@in_model
def waiting(form="alpha beta", sd=2.0, y=Y[Y > 0]):
    """State a gamma law, by its mean and standard deviation or by shape and rate."""
    if form == "mu sigma":
        mu, sigma = pm.LogNormal("mu", 1, 1), pm.HalfNormal("sigma", sd)
        pm.Gamma("y", mu=mu, sigma=sigma, observed=y)
        return
    if form in ("alpha beta", "wrong rate", "no jacobian"):
        alpha, beta = pm.HalfFlat("alpha"), pm.HalfFlat("beta")
        power = 1.0 if form == "wrong rate" else 0.5
        mu, sigma = alpha / beta, alpha**power / beta
        both = pm.logp(pm.LogNormal.dist(1, 1), mu) + pm.logp(pm.HalfNormal.dist(sd), sigma)
        # |d(mu, sigma) / d(alpha, beta)| = sqrt(alpha) / (2 beta^3)
        adjust = 0.5 * pt.log(alpha) - 3 * pt.log(beta) - np.log(2)
        pm.Potential("prior", both + (0.0 if form == "no jacobian" else adjust))
        pm.Gamma("y", alpha, beta, observed=y)


@in_model
def pieces(form="categorical", a=(1.0, 2.0, 3.0), x=LABELS):
    pi = pm.Dirichlet("pi", np.array(a))
    if form == "multinomial":
        pm.Multinomial("x", len(x), pi, observed=np.bincount(x, minlength=3))
    elif form == "potential":
        pm.Potential("rows", pt.log(pi[x]).sum())
    else:
        pm.Categorical("x", pi, observed=x)


@in_model
def softmax(*, a=(1.0, 2.0, 3.0), x=LABELS, jacobian=True):
    """State the same in log ratios to the last."""
    u = pm.Flat("u", shape=2)
    pi = pm.Deterministic("pi", pt.special.softmax(pt.concatenate([u, [0.0]])))
    prior = pm.logp(pm.Dirichlet.dist(np.array(a)), pi)
    pm.Potential("prior", prior + (pt.log(pi).sum() if jacobian else 0.0))
    pm.Categorical("x", pi, observed=x)


@in_model
def plane(form="cov", cov=COV, mean=(1.0, -1.0), y=PLACES):
    root = np.linalg.cholesky(cov)
    if form == "cov":
        mu = pm.MvNormal("mu", np.array(mean), cov=cov)
    elif form == "root":
        mu = pm.MvNormal("mu", np.array(mean), chol=root)
    elif form == "precision":
        mu = pm.MvNormal("mu", np.array(mean), tau=np.linalg.inv(cov))
    elif form == "chain":
        first = pm.Normal("first", mean[0], root[0, 0])
        slope = cov[0, 1] / cov[0, 0]
        second = pm.Normal("second", mean[1] + slope * (first - mean[0]), root[1, 1])
        mu = pm.Deterministic("mu", pt.stack([first, second]))
    elif form in ("white", "white transposed"):
        z = pm.Normal("z", shape=2)
        root = root if form == "white" else root.T
        mu = pm.Deterministic("mu", np.array(mean) + root @ z)
    pm.Normal("y", mu, 1, observed=y)


@in_model
def walk(form="walk", scale=0.5, y=Y / 10, start=1.0, lag=1):
    if form == "walk":
        x = pm.GaussianRandomWalk("x", 0, scale, init_dist=pm.Normal.dist(0, start), shape=8)
    elif form == "steps":
        step = pm.Normal("step", 0, np.array([start, *[scale] * 7]), shape=8)
        x = pm.Deterministic("x", pt.cumsum(step))
    elif form == "potential":
        x = pm.Normal("x", 0, np.array([start, *[1e9] * 7]), shape=8)
        constant = 7 * (np.log(1e9) + HALF_2PI)
        pm.Potential(
            "steps", pm.logp(pm.Normal.dist(0, scale), x[lag:] - x[:-lag]).sum() + constant
        )
    pm.Normal("y", x, 1, observed=y)


@in_model
def two_humps(form="mixture", w=0.3, gap=2.0, sd=1.0, y=Y / 10):
    mu = pm.Normal("mu", 0, 2)
    parts = [pm.Normal.dist(mu, sd), pm.Normal.dist(mu + gap, sd)]
    if form == "mixture":
        pm.Mixture("y", [w, 1 - w], parts, observed=y)
    elif form == "potential":
        logs = [np.log(w) + pm.logp(parts[0], y), np.log(1 - w) + pm.logp(parts[1], y)]
        pm.Potential("rows", pt.logaddexp(*logs).sum())
    elif form == "no log":
        logs = [w + pm.logp(parts[0], y), 1 - w + pm.logp(parts[1], y)]
        pm.Potential("rows", pt.logaddexp(*logs).sum())


@in_model
def one_scale(form="half", scale=2.0, y=Y / 10, nu=3.0):
    if form == "half":
        s = pm.HalfNormal("s", scale)
    elif form == "truncated":
        s = pm.TruncatedNormal("s", 0, scale, lower=0)
    elif form == "folded":
        s = pm.Deterministic("s", pt.abs(pm.Normal("raw", 0, scale)))
    elif form == "any sign":
        s = pm.Normal("s", 0, scale)
    elif form == "uniform":
        s = pm.Uniform("s", 0, scale)
    elif form == "uniform by hand":
        s = pm.HalfFlat("s")
        pm.Potential("range", pt.switch(s < scale, 0.0, -np.inf))
    elif form == "half student":
        s = pm.HalfStudentT("s", nu, scale)
    elif form == "truncated student":
        s = pm.Truncated("s", pm.StudentT.dist(nu, mu=0, sigma=scale), lower=0)
    elif form == "unbounded potential":
        s = pm.HalfFlat("s")
        pm.Potential("prior", -0.5 * (s / scale) ** 2)
    pm.Normal("y", 0, s, observed=y)


@in_model
def table(*, sd=1.0, y=X[:4], turned=False, swapped=False):
    row = pm.Normal("row", 0, sd, shape=4)
    column = pm.Normal("column", 0, 1, shape=2)
    mean = row[:, None] + column[None, :]
    if turned:
        mean = (row.reshape((2, 2)).T.ravel())[:, None] + column[None, :]
    if swapped:
        mean = row[:, None] + column[None, ::-1]
    pm.Normal("y", mean, 1, observed=y)


def line_function(*, scale=1.0, sd=2.0, sign=1.0, terms=True):
    """Return a plain function, as of SciPy."""

    def density(v):
        w, sigma = v["w"], v["sigma"]
        parts = {
            "w": stats.norm(0, sd).logpdf(w).sum(),
            "sigma": stats.halfnorm(scale=scale).logpdf(sigma),
            "y": stats.norm(sign * X @ w, np.abs(sigma)).logpdf(Y / 10).sum(),
        }
        return parts if terms else sum(parts.values())

    return lambda: density


def coin_function(jacobian=1.0, a=2.0):
    """Return a log density of the logit, as Stan's."""

    def density(v):
        u = float(v["x"][0])
        theta = 1 / (1 + np.exp(-u))
        adjust = -np.logaddexp(0, -u) - np.logaddexp(0, u)
        rows = BITS.sum() * np.log(theta) + (1 - BITS).sum() * -np.logaddexp(0, u)
        return float(stats.beta(a, 5).logpdf(theta) + rows + jacobian * adjust)

    return lambda: density


def terms_of(model):
    """Return the log density of a NumPyro model as a function, as docs/same.md has it."""
    import jax
    from numpyro import validation_enabled
    from numpyro.infer.util import compute_log_probs

    def density(values):
        with jax.enable_x64(new_val=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values out of support, whose density is zero
            try:
                with validation_enabled():
                    return compute_log_probs(model, (), {}, values)[0]
            except ValueError:  # of a parameter: impossible
                with validation_enabled(is_validate=False):
                    return dict.fromkeys(compute_log_probs(model, (), {}, values)[0], -np.inf)

    return density


def twin(name, **variants):  # noqa: C901 - a model a branch
    """Return a builder of a NumPyro model's density."""

    def made():  # noqa: C901 - a model a branch
        import numpyro
        import numpyro.distributions as dist

        sample = numpyro.sample
        v = variants

        def schools():
            mu, tau = sample("mu", dist.Normal(0, 5)), sample("tau", dist.HalfCauchy(5))
            theta = sample("theta", dist.Normal(mu, tau * v.get("power", 1)).expand([8]))
            sample("y", dist.Normal(theta, S), obs=v.get("y", Y))

        def noncentred():
            mu, tau = sample("mu", dist.Normal(0, 5)), sample("tau", dist.HalfCauchy(5))
            z = sample("z", dist.Normal(0, 1).expand([8]))
            sample("y", dist.Normal(mu + tau * z, S), obs=Y)

        def coin():
            theta = sample("theta", dist.Beta(v.get("a", 2.0), 5.0))
            with numpyro.plate("rows", len(BITS)):
                sample("x", dist.Bernoulli(theta), obs=BITS)

        def line():
            w = sample("w", dist.Normal(0, v.get("sd", 2.0)).expand([2]).to_event(1))
            sigma = sample("sigma", dist.HalfNormal(1))
            sample("y", dist.Normal(X[:, :: v.get("step", 1)] @ w, sigma), obs=Y / 10)

        def groups():
            alpha = sample("alpha", dist.Normal(0, 1).expand([3]))
            sample("n", dist.Poisson(np.exp(1) ** alpha[GROUP]), obs=COUNTS)

        def pieces():
            pi = sample("pi", dist.Dirichlet(np.array([1.0, 2.0, 3.0])))
            sample("x", dist.Categorical(pi), obs=v.get("x", LABELS))

        def spread():
            tau = sample("tau", dist.Gamma(2.0, v.get("b", 3.0)))
            sample("y", dist.Normal(0, tau**-0.5), obs=Y / 10)

        def plane():
            mu = sample("mu", dist.MultivariateNormal(np.array([1.0, -1.0]), COV))
            sample("y", dist.Normal(mu, 1), obs=Y[:6].reshape(3, 2) / 10)

        def scale():
            s = sample("s", dist.TruncatedNormal(0, 2, low=0))
            sample("y", dist.Normal(0, s), obs=Y / 10)

        def waiting():
            mu, sigma = sample("mu", dist.LogNormal(1, 1)), sample("sigma", dist.HalfNormal(2))
            sample("y", dist.Gamma((mu / sigma) ** 2, mu / sigma**2), obs=Y[Y > 0])

        return terms_of(locals()[name])

    return made


@dataclass(frozen=True)
class Row:
    """Two builders, how to bring them together, and the terms that differ."""

    id: str
    a: Any
    b: Any
    terms: tuple[str, ...] = ()
    how: dict[str, Any] = field(default_factory=dict)
    constant: str = "0"


def prior(*names):
    return tuple(f"the prior of {name}" for name in names)


def likelihood(*names):
    return tuple(f"the likelihood of {name}" for name in names)


TO_SIGMA = {"transform": {"tau": lambda v: v["sigma"] ** -2}}
TO_VARIANCE = {"transform": {"variance": lambda v: 1 / v["tau"]}}
TO_SHAPE = {
    "transform": {
        "mu": lambda v: v["alpha"] / v["beta"],
        "sigma": lambda v: pt.sqrt(v["alpha"]) / v["beta"],
    }
}
TO_LOGIT = {"transform": {"x": lambda v: pt.log(v["theta"] / (1 - v["theta"])).reshape((1,))}}

SAME = [
    Row("centred, not", schools(), schools(noncentred=True)),
    Row("not, centred", schools(noncentred=True), schools()),
    Row("mirrored", schools(), schools(noncentred=True, f=lambda m, t, z: m - t * z)),
    Row("half-normal, truncated", schools(tau="normal"), schools(tau="truncated")),
    Row("Cauchy, Student", schools(), schools(tau="student")),
    Row("schools in a loop", schools(), schools(loop=True, noncentred=True)),
    Row("half, truncated", one_scale(), one_scale(form="truncated")),
    Row("half, folded", one_scale(), one_scale(form="folded")),
    Row("half, any sign", one_scale(), one_scale(form="any sign"), constant="-log 2"),
    Row("Student truncated", one_scale(form="half student"), one_scale(form="truncated student")),
    Row(
        "uniform by hand",
        one_scale(form="uniform"),
        one_scale(form="uniform by hand"),
        constant="log 2",
    ),
    Row("tau, sigma", spread(form="tau"), spread(), how=TO_SIGMA),
    Row("tau, variance", spread(form="tau"), spread(form="variance"), how=TO_VARIANCE),
    Row("tau, log tau", spread(form="tau"), spread(form="log")),
    Row("logit", coin(), coin(form="logit")),
    Row("Beta as Potential", coin(), coin(form="potential")),
    Row("Beta by moments", coin(), coin(form="moments")),
    Row("rows as Potential", coin(), coin(form="by hand")),
    Row("logits", coin(), coin(form="logits")),
    Row("Binomial", coin(), coin(form="binomial"), constant="log 56"),
    Row("line in a loop", line(), line(form="loop")),
    Row("line as Potential", line(), line(form="potential")),
    Row("line as matrix", line(), line(form="matrix")),
    Row("line by tau", line(), line(form="tau")),
    Row("exponential, gamma", line(family="exponential"), line(family="gamma")),
    Row("renamed", line(), line(w="beta"), how={"rename": {"beta": "w"}}),
    Row("index, dummies", groups(), groups(form="dummies")),
    Row("counts in a loop", groups(), groups(form="loop")),
    Row("counts as Potential", groups(), groups(form="potential"), constant="11.8367"),
    Row("mu and sigma, alpha and beta", waiting(form="mu sigma"), waiting(), how=TO_SHAPE),
    Row("Multinomial", pieces(), pieces(form="multinomial"), constant="log 60"),
    Row("simplex as Potential", pieces(), pieces(form="potential")),
    Row("softmax", pieces(), softmax()),
    Row("covariance, root", plane(), plane(form="root")),
    Row("covariance, precision", plane(), plane(form="precision")),
    Row("joint, chain", plane(), plane(form="chain")),
    Row("whitened", plane(), plane(form="white")),
    Row("walk, steps", walk(), walk(form="steps")),
    Row("mixture as Potential", two_humps(), two_humps(form="potential")),
    Row("function of terms", line(), line_function()),
    Row("function of one number", line(), line_function(terms=False)),
    Row("function of the logit", coin(), coin_function(), how=TO_LOGIT),
]

TWINS = [
    Row("NumPyro schools", schools(), twin("schools")),
    Row("NumPyro not centred", schools(noncentred=True), twin("noncentred")),
    Row("NumPyro coin", coin(), twin("coin")),
    Row("NumPyro line", line(), twin("line")),
    Row("NumPyro groups", groups(), twin("groups")),
    Row("NumPyro pieces", pieces(), twin("pieces")),
    Row("NumPyro spread", spread(form="tau"), twin("spread")),
    Row("NumPyro plane", plane(), twin("plane")),
    Row("NumPyro scale", one_scale(), twin("scale")),
    Row("NumPyro waiting", waiting(form="mu sigma"), twin("waiting")),
]

TWIN_SLIPS = [
    Row("NumPyro's y", schools(), twin("schools", y=Y[::-1]), likelihood("y")),
    Row("NumPyro's tau", schools(), twin("schools", power=2), prior("theta")),
    Row("NumPyro's a", coin(), twin("coin", a=2.5), prior("theta")),
    Row("NumPyro's sd", line(), twin("line", sd=4.0), prior("w")),
    Row("NumPyro's columns", line(), twin("line", step=-1), likelihood("y")),
    Row("NumPyro's rate", spread(form="tau"), twin("spread", b=1 / 3), prior("tau")),
]

SLIPS = [
    # a convention
    Row("variance as sd", line(), line(form="variance"), likelihood("y")),
    Row("sd as precision", line(), line(form="sd as tau"), likelihood("y")),
    Row(
        "rate as scale",
        line(family="exponential", scale=2.0),
        line(family="rate", scale=2.0),
        prior("sigma"),
    ),
    Row("Gamma rate", spread(form="tau"), spread(form="tau", b=1 / 3), prior("tau")),
    Row("Beta turned", coin(), coin(a=5.0, b=2.0), prior("theta")),
    Row("probability of failure", coin(), coin(x=1 - BITS), likelihood("x")),
    Row("link", groups(), groups(link="softplus"), likelihood("n")),
    Row("covariance as root", plane(), plane(form="root", cov=COV @ COV), prior("mu")),
    Row("root transposed", plane(), plane(form="white transposed"), prior("mu")),
    Row(
        "precision as covariance",
        plane(),
        plane(form="precision", cov=np.linalg.inv(COV)),
        prior("mu"),
    ),
    Row("weights unlogged", two_humps(), two_humps(form="no log"), likelihood("y")),
    # an index
    Row("groups by one off", groups(), groups(group=(GROUP + 1) % 3), likelihood("n")),
    Row(
        "one group wrong",
        groups(),
        groups(group=np.array([0, 0, 1, 1, 2, 2, 1, 0])),
        likelihood("n"),
    ),
    Row("columns exchanged", line(), line(x=X[:, ::-1]), likelihood("y")),
    Row(
        "first coefficient twice",
        line(),
        line(slip=lambda x, w, _m: x[:, 0] * w[0] + x[:, 1] * w[0]),
        likelihood("y"),
    ),
    Row(
        "school in another's place", schools(), schools(y=Y[[1, 0, *range(2, 8)]]), likelihood("y")
    ),
    Row("errors in another order", schools(), schools(noncentred=True, s=S[::-1]), likelihood("y")),
    Row(
        "loop with one row wrong",
        line(),
        line(form="loop", y=Y[[0, 1, 2, 3, 4, 5, 6, 6]] / 10),
        likelihood("y"),
    ),
    Row("labels exchanged", pieces(), pieces(x=2 - LABELS), likelihood("x")),
    Row("weights exchanged", two_humps(), two_humps(w=0.7), likelihood("y")),
    # a constant of the prior
    Row("scale of tau", schools(), schools(scale=2.5), prior("tau")),
    Row("scale of tau, not centred", schools(), schools(noncentred=True, scale=2.5), prior("tau")),
    Row("sd of mu", schools(), schools(noncentred=True, sd=10.0), prior("mu")),
    Row("law of tau", schools(), schools(noncentred=True, tau="normal"), prior("tau")),
    Row("tau flat", schools(), schools(tau="flat"), prior("tau")),
    Row("sd of w", line(), line(sd=2.5), prior("w")),
    Row("scale of sigma", line(), line(form="loop", scale=1.5), prior("sigma")),
    Row("law of sigma", line(), line(form="potential", family="lognormal"), prior("sigma")),
    Row("one millionth", coin(), coin(a=2.000001), prior("theta")),
    Row("shape", spread(form="tau"), spread(form="tau", a=2.5), prior("tau")),
    Row("a of Dirichlet", pieces(), pieces(a=(1.0, 2.0, 2.5)), prior("pi")),
    Row("Dirichlet turned", pieces(), softmax(a=(3.0, 2.0, 1.0)), prior("pi")),
    Row("sd of alpha", groups(), groups(form="potential", sd=1.5), prior("alpha")),
    Row(
        "degrees of freedom",
        one_scale(form="half student"),
        one_scale(form="truncated student", nu=4.0),
        prior("s"),
    ),
    Row("range", one_scale(form="uniform"), one_scale(form="uniform", scale=4.0), prior("s")),
    Row("start of a walk", walk(), walk(start=2.0), prior("x")),
    Row("steps of a walk", walk(), walk(form="steps", scale=0.6), prior("x")),
    Row(
        "correlation", plane(), plane(form="chain", cov=np.array([[2, 0.5], [0.5, 1]])), prior("mu")
    ),
    Row("scale of z", schools(), schools(noncentred=True, z=1.1), prior("theta")),
    Row("sd of a half law", one_scale(), one_scale(form="folded", scale=2.2), prior("s")),
    # a Jacobian
    Row("of the logit", coin(), coin(form="logit", jacobian=0.0), ("the Jacobian of theta",)),
    Row(
        "of the log", spread(form="tau"), spread(form="log", jacobian=0.0), ("the Jacobian of tau",)
    ),
    Row("of sigma", spread(form="tau"), spread(jacobian=0.0), ("the Jacobian of tau",), TO_SIGMA),
    Row(
        "of the log, twice",
        spread(form="tau"),
        spread(form="log", jacobian=2.0),
        ("the Jacobian of tau",),
    ),
    Row("of the logit, turned", coin(), coin(form="logit", jacobian=-1.0), prior("theta")),
    Row(
        "of alpha and beta",
        waiting(form="mu sigma"),
        waiting(form="no jacobian"),
        ("the Jacobian of mu and sigma",),
        TO_SHAPE,
    ),
    Row("of softmax", pieces(), softmax(jacobian=False), ("the Jacobian of pi",)),
    Row("of Stan's logit", coin(), coin_function(jacobian=0.0), ("the Jacobian of x",), TO_LOGIT),
    Row("in sigma alone", line(), line(form="no log sigma"), likelihood("y")),
    # a sign
    Row("slope", line(), line(slip=lambda _x, _w, m: -m), likelihood("y")),
    Row(
        "one coefficient",
        line(),
        line(slip=lambda x, w, _m: x[:, 0] * w[0] - x[:, 1] * w[1]),
        likelihood("y"),
    ),
    Row("mean of mu", plane(), plane(mean=(1.0, 1.0)), prior("mu")),
    Row("data", schools(), schools(noncentred=True, y=-Y), likelihood("y")),
    Row("offset", groups(offset=0.5), groups(offset=-0.5), likelihood("n")),
    Row("gap", two_humps(), two_humps(gap=-2.0), likelihood("y")),
    Row("function's slope", line(), line_function(sign=-1.0), likelihood("y")),
    # off by one
    Row("a row too few", line(), line(x=X[1:], y=Y[1:] / 10), likelihood("y")),
    Row("rows against each other", line(), line(y=np.roll(Y, 1) / 10), likelihood("y")),
    Row("trials", coin(form="binomial"), coin(form="binomial", n=9), likelihood("x")),
    Row("counts plus one", groups(), groups(counts=COUNTS + 1), likelihood("n")),
    Row("lag", walk(form="potential"), walk(form="potential", lag=2), ("the term steps",)),
    Row("intercept", line(), line(intercept=1.0), likelihood("y")),
    Row("mean of theta", schools(), schools(shift=1.0), prior("theta")),
    # an axis, a power
    Row("reshaped by columns", table(), table(turned=True), likelihood("y")),
    Row("column turned", table(), table(swapped=True), likelihood("y")),
    Row("data turned", plane(), plane(y=Y[:6].reshape(2, 3).T / 10), likelihood("y")),
    Row(
        "tau squared",
        schools(),
        schools(noncentred=True, f=lambda m, t, z: m + t**2 * z),
        prior("theta"),
    ),
    Row(
        "mu forgotten",
        schools(),
        schools(noncentred=True, f=lambda _m, t, z: t * z),
        prior("theta"),
    ),
    # one number of a function
    Row("function's scale", line(), line_function(scale=1.5, terms=False), prior("sigma")),
    Row("function's sd", line(), line_function(sd=2.5, terms=False), prior("w")),
    Row("function's sign", line(), line_function(sign=-1.0, terms=False), likelihood("y")),
]
