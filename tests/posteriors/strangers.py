"""Models as other people write them, which no closed form was meant for, and many parts of it.

Each must end, soon, in a closed form or in a reason: whatever operations it holds that have no
derivative or no log density, and however large it is. The sizes are those of real data.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.compile.ops import as_op
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.fft import rfft
from scipy import stats

from tests.posteriors.entry import axes, opened

RNG = np.random.default_rng(20261123)


@dataclass(frozen=True)
class Stranger:
    """A model as a user would write it.

    Attributes
    ----------
    name : str
        Shown in the names of the tests.
    build : callable
        Makes the PyMC model afresh.
    """

    name: str
    build: Callable[[], Any]


def stranger(fill):
    """Put a name beside a function that fills a model."""
    return Stranger(fill.__name__.replace("_", " "), opened(fill))


# --- Gaussian processes ---------------------------------------------------------------------------

TIMES = np.linspace(0, 10, 100)[:, None]
WAVES = np.sin(TIMES[:, 0]) + 0.3 * RNG.normal(size=100)


@stranger
def gaussian_process_in_a_basis():
    scale = pm.InverseGamma("scale", 5, 5)
    height = pm.HalfNormal("height", 1)
    gp = pm.gp.HSGP(m=[25], c=1.5, cov_func=height**2 * pm.gp.cov.ExpQuad(1, ls=scale))
    f = gp.prior("f", X=TIMES)
    noise = pm.HalfNormal("noise", 1)
    pm.Normal("y", f, noise, observed=WAVES)


@stranger
def gaussian_process_in_a_centred_basis():
    scale = pm.InverseGamma("scale", 5, 5)
    height = pm.HalfNormal("height", 1)
    cov = height**2 * pm.gp.cov.Matern52(1, ls=scale)
    gp = pm.gp.HSGP(m=[20], L=[12.0], cov_func=cov, parametrization="centered")
    f = gp.prior("f", X=TIMES)
    pm.Normal("y", f, 0.3, observed=WAVES)


@stranger
def counts_over_a_basis_of_a_gaussian_process():
    counts = RNG.poisson(np.exp(WAVES))
    gp = pm.gp.HSGP(m=[20], c=1.5, cov_func=pm.gp.cov.ExpQuad(1, ls=1.5))
    pm.Poisson("y", pm.math.exp(gp.prior("f", X=TIMES)), observed=counts)


@stranger
def periodic_gaussian_process_in_a_basis():
    scale = pm.InverseGamma("scale", 5, 5)
    gp = pm.gp.HSGPPeriodic(
        m=20, scale=pm.HalfNormal("height", 1), cov_func=pm.gp.cov.Periodic(1, 3.0, ls=scale)
    )
    f = gp.prior("f", X=TIMES)
    pm.Normal("y", f, pm.HalfNormal("noise", 1), observed=WAVES)


@stranger
def gaussian_process_on_a_grid():
    a, b = np.linspace(0, 1, 8)[:, None], np.linspace(0, 1, 6)[:, None]
    ls = pm.InverseGamma("ls", 5, 5, shape=2)
    covs = [pm.gp.cov.ExpQuad(1, ls=ls[i]) for i in range(2)]
    gp = pm.gp.MarginalKron(cov_funcs=covs)
    gp.marginal_likelihood("y", Xs=[a, b], y=RNG.normal(size=48), sigma=0.3)


@stranger
def latent_gaussian_process_on_a_grid():
    a, b = np.linspace(0, 1, 8)[:, None], np.linspace(0, 1, 6)[:, None]
    ls = pm.InverseGamma("ls", 5, 5)
    gp = pm.gp.LatentKron(cov_funcs=[pm.gp.cov.ExpQuad(1, ls=ls), pm.gp.cov.ExpQuad(1, ls=0.3)])
    f = gp.prior("f", Xs=[a, b])
    pm.Normal("y", f, 0.3, observed=RNG.normal(size=48))


@stranger
def marginal_gaussian_process():
    ls, noise = pm.Gamma("ls", 2, 1), pm.HalfNormal("noise", 1)
    gp = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, ls=ls))
    gp.marginal_likelihood("y", X=TIMES, y=WAVES, sigma=noise)


@stranger
def sparse_gaussian_process():
    ls, noise = pm.Gamma("ls", 2, 1), pm.HalfNormal("noise", 1)
    gp = pm.gp.MarginalApprox(cov_func=pm.gp.cov.Matern32(1, ls=ls), approx="FITC")
    gp.marginal_likelihood("y", X=TIMES, Xu=TIMES[::10], y=WAVES, sigma=noise)


@stranger
def process_of_student_t():
    gp = pm.gp.TP(scale_func=pm.gp.cov.ExpQuad(1, ls=pm.Gamma("ls", 2, 1)), nu=4)
    pm.Normal("y", gp.prior("f", X=TIMES[::4]), 0.3, observed=WAVES[::4])


@stranger
def long_gaussian_process():
    x = np.linspace(0, 10, 400)[:, None]
    gp = pm.gp.Latent(cov_func=pm.gp.cov.Matern52(1, ls=pm.Gamma("ls", 2, 1)))
    f = gp.prior("f", X=x)
    pm.Normal("y", f, pm.HalfNormal("noise", 1), observed=np.sin(x[:, 0]))


@stranger
def long_gaussian_process_of_shares():
    x = np.linspace(0, 10, 400)[:, None]
    gp = pm.gp.Latent(cov_func=pm.gp.cov.Matern52(1, ls=pm.Gamma("ls", 2, 1)))
    f = gp.prior("f", X=x)
    pm.Bernoulli("y", logit_p=f, observed=(np.sin(x[:, 0]) > 0).astype(int))


@stranger
def long_gaussian_process_of_known_scale():
    x = np.linspace(0, 10, 1000)[:, None]
    gp = pm.gp.Latent(cov_func=pm.gp.cov.Matern12(1, ls=1.0))
    f = gp.prior("f", X=x, reparameterize=False)
    pm.Normal("y", f, 0.3, observed=np.sin(x[:, 0]))


# --- neighbours, sums to zero, random walks -------------------------------------------------------


def lattice(side):
    """Return the adjacency matrix of a square grid."""
    line = np.eye(side, k=1) + np.eye(side, k=-1)
    return np.kron(line, np.eye(side)) + np.kron(np.eye(side), line)


@stranger
def conditional_autoregression():
    counts = RNG.poisson(5, 49)
    alpha = pm.Beta("alpha", 1, 1)
    tau = pm.Gamma("tau", 2, 2)
    phi = pm.CAR("phi", mu=np.zeros(49), tau=tau, alpha=alpha, W=lattice(7))
    pm.Poisson("y", pm.math.exp(1.5 + phi), observed=counts)


@stranger
def conditional_autoregression_of_numbers():
    tau = pm.Gamma("tau", 2, 2)
    phi = pm.CAR("phi", mu=np.zeros(49), tau=tau, alpha=0.9, W=lattice(7))
    pm.Normal("y", phi, 0.5, observed=RNG.normal(size=49))


@stranger
def conditional_autoregression_of_many_places():
    tau, level = pm.Gamma("tau", 2, 2), pm.Normal("level", 0, 2)
    alpha = pm.Beta("alpha", 1, 1)
    phi = pm.CAR("phi", mu=np.zeros(400), tau=tau, alpha=alpha, W=lattice(20))
    pm.Normal("y", level + phi, pm.HalfNormal("noise", 1), observed=RNG.normal(size=400))


@stranger
def intrinsic_autoregression():
    counts = RNG.poisson(5, 49)
    level, sigma = pm.Normal("level", 0, 2), pm.HalfNormal("sigma", 1)
    phi = pm.ICAR("phi", W=lattice(7).astype(int))
    pm.Poisson("y", pm.math.exp(level + sigma * phi), observed=counts)


@stranger
def intrinsic_autoregression_of_numbers():
    sigma = pm.HalfNormal("sigma", 1)
    phi = pm.ICAR("phi", W=lattice(7).astype(int))
    pm.Normal("y", sigma * phi, 0.5, observed=RNG.normal(size=49))


GROUP = np.repeat(np.arange(12), 10)
SCORES = RNG.normal(size=12)[GROUP] + RNG.normal(size=120)


@stranger
def effects_that_sum_to_zero():
    axes({"group": range(12)})
    level = pm.Normal("level", 0, 5)
    spread, noise = pm.HalfNormal("spread", 1), pm.HalfNormal("noise", 1)
    effect = pm.ZeroSumNormal("effect", spread, dims="group")
    pm.Normal("y", level + effect[GROUP], noise, observed=SCORES)


@stranger
def effects_that_sum_to_zero_with_known_scales():
    effect = pm.ZeroSumNormal("effect", 1.5, shape=12)
    pm.Normal("y", effect[GROUP], 1.0, observed=SCORES)


@stranger
def interactions_that_sum_to_zero():
    other = RNG.integers(0, 4, 120)
    axes({"group": range(12), "kind": range(4)})
    level, noise = pm.Normal("level", 0, 5), pm.HalfNormal("noise", 1)
    a = pm.ZeroSumNormal("a", 1.0, dims="group")
    both = pm.ZeroSumNormal("both", 0.5, n_zerosum_axes=2, dims=("group", "kind"))
    pm.Normal("y", level + a[GROUP] + both[GROUP, other], noise, observed=SCORES)


@stranger
def election_with_sums_to_zero():
    votes = RNG.multinomial(1000, [0.4, 0.3, 0.2, 0.1], size=30)
    axes({"party": range(4), "poll": range(30)})
    base = pm.ZeroSumNormal("base", 1.0, dims="party")
    house = pm.ZeroSumNormal("house", 0.2, n_zerosum_axes=2, dims=("poll", "party"))
    p = pm.math.softmax(base + house, axis=-1)
    pm.Multinomial("votes", 1000, p, observed=votes)


@stranger
def level_that_walks():
    step, noise = pm.HalfNormal("step", 1), pm.HalfNormal("noise", 1)
    level = pm.GaussianRandomWalk("level", sigma=step, init_dist=pm.Normal.dist(0, 5), shape=100)
    pm.Normal("y", level, noise, observed=WAVES)


@stranger
def volatility_that_walks():
    step = pm.Exponential("step", 10)
    nu = pm.Exponential("nu", 0.1)
    v = pm.GaussianRandomWalk("v", sigma=step, init_dist=pm.Normal.dist(0, 1), shape=300)
    pm.StudentT("r", nu=nu, lam=pm.math.exp(-2 * v), observed=RNG.normal(size=300))


@stranger
def autoregression_of_a_hidden_level():
    rho = pm.Normal("rho", 0, 0.5, shape=3)
    sigma = pm.HalfNormal("sigma", 1)
    level = pm.AR("level", rho, sigma, init_dist=pm.Normal.dist(0, 1), constant=True, shape=100)
    pm.Normal("y", level, 0.3, observed=WAVES)


@stranger
def autoregression_of_what_was_observed():
    rho = pm.Normal("rho", 0, 0.5, shape=2)
    pm.AR("y", rho, pm.HalfNormal("sigma", 1), init_dist=pm.Normal.dist(0, 1), observed=WAVES)


@stranger
def vectors_that_walk():
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.Exponential.dist(1.0))
    walk = pm.MvGaussianRandomWalk(
        "walk",
        mu=np.zeros(3),
        chol=chol,
        init_dist=pm.MvNormal.dist(np.zeros(3), np.eye(3)),
        shape=(40, 3),
    )
    pm.Normal("y", walk, 0.5, observed=RNG.normal(size=(40, 3)).cumsum(0))


@stranger
def garch():
    omega = pm.HalfNormal("omega", 1)
    alpha, beta = pm.Beta("alpha", 1, 1), pm.Beta("beta", 1, 1)
    pm.GARCH11("y", omega, alpha, beta, initial_vol=1.0, observed=RNG.normal(size=100))


@stranger
def euler_maruyama():
    lam = pm.Normal("lam", 0, 1)
    x = pm.EulerMaruyama(
        "x",
        0.1,
        lambda x, lam: (-lam * x, 0.5),
        (lam,),
        init_dist=pm.Normal.dist(0, 1),
        shape=100,
    )
    pm.Normal("y", x, 0.3, observed=WAVES)


@stranger
def structural_time_series():
    n = 60
    sigmas = pm.HalfNormal("sigmas", 1, shape=3)
    steps = pm.Normal("steps", 0, 1, shape=n)
    slopes = pm.Normal("slopes", 0, 1, shape=n)
    slope = pt.cumsum(sigmas[1] * slopes)
    level = pt.cumsum(sigmas[0] * steps + slope)
    season = pm.ZeroSumNormal("season", 1.0, shape=12)
    pm.Normal("y", level + season[np.arange(n) % 12], sigmas[2], observed=WAVES[:n])


@stranger
def structural_time_series_by_scan():
    def step(e, level, trend, rho):
        trend = rho * trend + e[1]
        return level + trend + e[0], trend

    rho = pm.Beta("rho", 2, 2)
    errors = pm.Normal("errors", 0, 1, shape=(50, 2))
    level, _ = pytensor.scan(
        step,
        sequences=[errors],
        outputs_info=[pt.zeros(()), pt.zeros(())],
        non_sequences=[rho],
        return_updates=False,
    )
    pm.Normal("y", level, pm.HalfNormal("noise", 1), observed=WAVES[:50])


@stranger
def structural_time_series_with_a_missing_past():
    def step(e, level):
        return level + e

    first = pm.Normal("first", 0, 5)
    errors = pm.Normal("errors", 0, 1, shape=40)
    unused = pm.Normal("unused", 0, 1)
    level = pytensor.scan(step, sequences=[errors], outputs_info=[first], return_updates=False)
    pm.Deterministic("twice", 2 * unused)
    pm.Normal("y", level, pm.HalfNormal("noise", 1), observed=WAVES[:40])


@stranger
def hierarchical_vector_autoregression():
    countries, n, k, lags = 3, 30, 2, 2
    data = RNG.normal(size=(countries, n, k)).cumsum(1)
    axes({"lag": range(lags), "to": range(k), "from": range(k)})
    rho = pm.Beta("rho", 2, 2)
    mean = pm.Normal("mean", 0, 0.1, dims=("to", "lag", "from"))
    spread = pm.InverseGamma("spread", 3, 0.5)
    shared, _, _ = pm.LKJCholeskyCov("shared", n=k, eta=1, sd_dist=pm.Exponential.dist(1))
    for c in range(countries):
        z = pm.Normal(f"z_{c}", 0, 1, dims=("to", "lag", "from"))
        weights = mean + spread * z
        own, _, _ = pm.LKJCholeskyCov(f"own_{c}", n=k, eta=1, sd_dist=pm.Exponential.dist(1))
        level = pm.Normal(f"level_{c}", 0, 1, dims="to")
        parts = [
            pm.math.sum(
                [
                    pm.math.sum(weights[j, i] * data[c, lags - i - 1 : n - i - 1], axis=-1)
                    for i in range(lags)
                ],
                axis=0,
            )
            for j in range(k)
        ]
        centre = level + pt.stack(parts, axis=-1)
        pm.MvNormal(f"y_{c}", centre, chol=rho * shared + (1 - rho) * own, observed=data[c, lags:])


@stranger
def hierarchical_vector_autoregression_with_correlations():
    countries, n, k = 3, 30, 2
    data = RNG.normal(size=(countries, n, k)).cumsum(1)
    axes({"equation": range(k), "country": range(countries)})
    mean = pm.Normal("mean", 0, 1, dims="equation")
    spread = pm.HalfNormal("spread", 1)
    w = pm.Normal("w", mean, spread, shape=(countries, k))
    omega = pm.LKJCorr("omega", n=k, eta=2)
    sd = pm.HalfNormal("sd", 1, shape=k)
    cov = pt.diag(sd) @ omega @ pt.diag(sd)
    for c in range(countries):
        pm.MvNormal(f"y_{c}", w[c] * data[c, :-1], cov=cov, observed=data[c, 1:])


# --- operations that PyTensor cannot differentiate, and laws without a density --------------------


class BlackBox(Op):
    """A line through rows, from other people's code."""

    itypes = [pt.dvector]  # noqa: RUF012 - PyTensor's signature
    otypes = [pt.dvector]  # noqa: RUF012 - PyTensor's signature

    def perform(self, node, inputs, outputs):  # noqa: ARG002 - PyTensor's signature
        """Evaluate."""
        (theta,) = inputs
        outputs[0][0] = theta[0] + theta[1] * TIMES[:, 0]


class BlackBoxLikelihood(Op):
    """A log likelihood from other people's code."""

    def make_node(self, theta):
        """Return the node."""
        return Apply(self, [pt.as_tensor(theta)], [pt.dscalar()])

    def perform(self, node, inputs, outputs):  # noqa: ARG002 - PyTensor's signature
        """Evaluate."""
        (theta,) = inputs
        outputs[0][0] = np.array(stats.norm.logpdf(WAVES, theta[0], 1 + theta[1] ** 2).sum())


class BlackBoxWithGradient(BlackBoxLikelihood):
    """The same with a gradient of its own."""

    def pullback(self, inputs, outputs, cotangents):  # noqa: ARG002 - PyTensor's signature
        """Return the gradient."""
        return [cotangents[0] * BlackBoxSlope()(*inputs)]


class BlackBoxSlope(Op):
    """The gradient of the log likelihood."""

    def make_node(self, theta):
        """Return the node."""
        return Apply(self, [pt.as_tensor(theta)], [pt.dvector()])

    def perform(self, node, inputs, outputs):  # noqa: ARG002 - PyTensor's signature
        """Evaluate."""
        (theta,) = inputs
        var = (1 + theta[1] ** 2) ** 2
        rest = WAVES - theta[0]
        by_sd = (rest**2 / var - 1).sum() / np.sqrt(var)
        outputs[0][0] = np.array([rest.sum() / var, by_sd * 2 * theta[1]])


@stranger
def black_box_without_gradient():
    theta = pm.Normal("theta", 0, 1, shape=2)
    pm.Normal("y", BlackBox()(theta), 0.5, observed=WAVES)


@stranger
def black_box_likelihood_without_gradient():
    theta = pm.Normal("theta", 0, 1, shape=2)
    pm.Potential("likelihood", BlackBoxLikelihood()(theta))


@stranger
def black_box_likelihood_with_gradient():
    m, c = pm.Uniform("m", -10, 10), pm.Uniform("c", -10, 10)
    pm.Potential("likelihood", BlackBoxWithGradient()(pt.stack([m, c])))


@stranger
def black_box_likelihood_with_gradient_and_normal_priors():
    theta = pm.Normal("theta", 0, 1, shape=2)
    other = pm.Normal("other", theta[0], 1)
    pm.Potential("likelihood", BlackBoxWithGradient()(theta))
    pm.Normal("y", other, 1, observed=0.3)


@stranger
def black_box_beside_a_conjugate_part():
    theta = pm.Normal("theta", 0, 1, shape=2)
    level, noise = pm.Normal("level", 0, 3), pm.HalfNormal("noise", 1)
    pm.Potential("likelihood", BlackBoxLikelihood()(theta))
    pm.Normal("y", level, noise, observed=WAVES)


@stranger
def black_box_of_a_custom_distribution():
    def logp(value, theta):
        return BlackBoxLikelihood()(theta) + 0 * value.sum()

    theta = pm.Normal("theta", 0, 1, shape=2)
    pm.CustomDist("y", theta, logp=logp, observed=WAVES)


def in_python(itypes, otypes):
    """Wrap a function by PyTensor's old name for it, which most models have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return as_op(itypes=itypes, otypes=otypes)


@in_python([pt.dscalar], [pt.dscalar])
def wrapped(x):
    """Return something that is worked out in Python."""
    return np.array(2 * x + 1)


@in_python([pt.lscalar], [pt.dvector])
def rates_by_year(year):
    """Return the rates before and after."""
    return np.where(np.arange(40) < year, 3.0, 1.0)


@stranger
def function_in_python():
    w = pm.Normal("w", 0, 1)
    pm.Normal("y", wrapped(w), 1, observed=[1.0, 2.0])


@stranger
def function_in_python_of_a_finite_variable():
    year = pm.DiscreteUniform("year", 0, 39)
    pm.Poisson("y", rates_by_year(year), observed=RNG.poisson(2, 40))


@stranger
def function_in_python_of_a_finite_variable_beside_a_rate():
    year, rate = pm.DiscreteUniform("year", 0, 39), pm.Gamma("rate", 2, 1)
    pm.Poisson("y", rate * rates_by_year(year), observed=RNG.poisson(2, 40))


@stranger
def function_wrapped_of_several_parts():
    def of(a, b):
        return np.array(a * b)

    a, b = pm.HalfNormal("a", 1), pm.HalfNormal("b", 1)
    op = pytensor.wrap_py(itypes=[pt.dscalar, pt.dscalar], otypes=[pt.dscalar])(of)
    pm.Normal("y", op(a, b), 1, observed=[1.0, 2.0])


@stranger
def differential_equation():
    def fall(y, _, p):
        return [2.0 * p[1] - p[0] * y[0]]

    times = np.arange(0, 10, 1.0)
    ode = pm.ode.DifferentialEquation(func=fall, times=times, n_states=1, n_theta=2, t0=0)
    gamma, g = pm.HalfCauchy("gamma", 1), pm.HalfNormal("g", 2)
    curve = ode(y0=[0.0], theta=[gamma, g])
    pm.Normal("y", curve, pm.HalfNormal("noise", 1), observed=RNG.normal(3, 1, (10, 1)))


@stranger
def differential_equation_of_an_epidemic():
    def sir(y, _, p):
        return [-p[0] * y[0] * y[1], p[0] * y[0] * y[1] - p[1] * y[1]]

    times = np.arange(0.25, 5, 0.25)
    ode = pm.ode.DifferentialEquation(func=sir, times=times, n_states=2, n_theta=2, t0=0)
    sigma = pm.HalfCauchy("sigma", 1, shape=2)
    r0 = pm.TruncatedNormal("r0", 2, 3, lower=1)
    lam = pm.LogNormal("lam", np.log(2), 0.5)
    curve = ode(y0=[0.99, 0.01], theta=[lam * r0, lam])
    pm.LogNormal(
        "y",
        pm.math.log(pm.math.clip(curve, 1e-6, 1)),
        sigma,
        observed=RNG.uniform(0.1, 1, (19, 2)),
    )


@stranger
def simulated_data():
    def simulate(rng, a, b, size=None):  # noqa: ARG001 - PyMC's signature
        return rng.normal(a, b, size=100)

    a, b = pm.Normal("a", 0, 5), pm.HalfNormal("b", 1)
    pm.Simulator("s", simulate, params=(a, b), sum_stat="sort", epsilon=1, observed=WAVES)


@stranger
def simulated_predators():
    def simulate(rng, a, size=None):  # noqa: ARG001 - PyMC's signature
        return rng.poisson(np.exp(a), size=(20, 2)).astype(float)

    a = pm.Normal("a", 0, 1)
    level = pm.Normal("level", 0, 1)
    pm.Normal("z", level, 1, observed=[0.3, 0.2])
    pm.Simulator("s", simulate, params=(a,), epsilon=10, observed=np.ones((20, 2)))


@stranger
def custom_distribution_by_its_density():
    def logp(value, mu):
        return -((value - mu) ** 4)

    mu = pm.Normal("mu", 0, 1)
    pm.CustomDist("y", mu, logp=logp, observed=WAVES)


@stranger
def custom_prior_by_its_density():
    mu = pm.CustomDist("mu", 0.0, logp=lambda value, m: -((value - m) ** 2) / 2)
    pm.Normal("y", mu, 1, observed=WAVES)


@stranger
def custom_distribution_by_its_draws():
    def dist(mu, sigma, size):
        return pm.Normal.dist(mu, sigma, size=size) ** 3

    mu = pm.Normal("mu", 0, 1)
    pm.CustomDist("y", mu, 1.0, dist=dist, observed=WAVES)


@stranger
def custom_distribution_without_a_density():
    def random(mu, rng=None, size=None):
        return rng.normal(mu, size=size)

    mu = pm.Normal("mu", 0, 1)
    pm.CustomDist("y", mu, random=random, observed=WAVES)


@stranger
def custom_prior_without_a_density():
    def random(mu, rng=None, size=None):
        return rng.normal(mu, size=size)

    mu = pm.CustomDist("mu", 0.0, random=random)
    noise = pm.HalfNormal("noise", 1)
    pm.Normal("y", mu, noise, observed=WAVES)


@stranger
def custom_distribution_whose_density_cannot_be_derived():
    def dist(mu, size):  # noqa: ARG001 - PyMC's signature
        return pt.sort(pm.Normal.dist(mu, 1.0, size=100)).cumsum() + pm.Normal.dist(0, 1, size=100)

    mu = pm.Normal("mu", 0, 1)
    pm.CustomDist("y", mu, dist=dist, observed=WAVES)


# --- parts of the data ----------------------------------------------------------------------------

ROWS, LABELS = RNG.normal(size=(2000, 3)), RNG.normal(size=2000)


@stranger
def regression_in_minibatches():
    x, y = pm.Minibatch(ROWS, LABELS, batch_size=64)
    w = pm.Normal("w", 0, 1, shape=3)
    pm.Normal("y", x @ w, pm.HalfNormal("noise", 1), observed=y, total_size=2000)


@stranger
def regression_in_minibatches_of_known_noise():
    x, y = pm.Minibatch(ROWS, LABELS, batch_size=64)
    w = pm.Normal("w", 0, 1, shape=3)
    pm.Normal("y", x @ w, 1.0, observed=y, total_size=2000)


@stranger
def regression_with_a_minibatch_of_columns():
    x = pm.Minibatch(ROWS, batch_size=64)
    w = pm.Normal("w", 0, 1, shape=3)
    pm.Potential("data", -0.5 * ((x @ w) ** 2).sum())


@stranger
def rows_scaled_up_to_a_total_size():
    w = pm.Normal("w", 0, 1, shape=3)
    noise = pm.HalfNormal("noise", 1)
    pm.Normal("y", ROWS[:64] @ w, noise, observed=LABELS[:64], total_size=2000)


# --- indicators -----------------------------------------------------------------------------------


@stranger
def indicator_as_an_index_of_scales():
    s = pm.HalfNormal("s", [1.0, 10.0], shape=2)
    o = pm.Bernoulli("o", 0.1, shape=8)
    mu = pm.Normal("mu", 0, 5)
    pm.Normal("y", mu, s[o], observed=WAVES[:8])


@stranger
def indicator_as_an_index_of_known_scales():
    o = pm.Bernoulli("o", 0.1, shape=8)
    mu = pm.Normal("mu", 0, 5)
    pm.Normal("y", mu, pt.as_tensor([1.0, 10.0])[o], observed=WAVES[:8])


@stranger
def indicator_as_an_index_of_scales_with_one_for_all():
    s = pm.InverseGamma("s", 3, 2, shape=2)
    o = pm.Bernoulli("o", 0.3)
    pm.Normal("y", 0, pt.sqrt(s[o]), observed=WAVES[:8])


@stranger
def outliers_by_an_indicator_a_row():
    x, y = RNG.normal(size=200), RNG.normal(size=200)
    a, b = pm.Normal("a", 0, 5), pm.Normal("b", 0, 5)
    sigma = pm.HalfNormal("sigma", 1)
    out = pm.Bernoulli("out", 0.1, shape=200)
    pm.Normal("y", a + b * x, pm.math.switch(out, 10.0, sigma), observed=y)


@stranger
def variables_that_are_chosen():
    inside = pm.Bernoulli("inside", 0.5, shape=20)
    w = pm.Normal("w", 0, 1, shape=20)
    pm.Normal("y", RNG.normal(size=(100, 20)) @ (w * inside), 1, observed=RNG.normal(size=100))


@stranger
def unknown_total_of_many_rows():
    n = pm.DiscreteUniform("n", 10, 2000)
    p = pm.Beta("p", 2, 2)
    pm.Binomial("y", n, p, observed=RNG.binomial(500, 0.02, 5000))


@stranger
def unknown_totals_with_many_rows():
    p = pm.Beta("p", 2, 2)
    n = pm.Poisson("n", 20, shape=500)
    pm.Binomial("y", n, p, observed=RNG.binomial(20, 0.3, 500))


@stranger
def unknown_totals_of_a_range_with_many_rows():
    p = pm.Beta("p", 2, 2)
    n = pm.DiscreteUniform("n", 0, 60, shape=250)
    pm.Binomial("y", n, p, observed=np.minimum(RNG.binomial(20, 0.3, 250), 20))


@stranger
def unknown_totals_at_sites_visited_several_times():
    counts = RNG.binomial(8, 0.5, (40, 5))
    p, rate = pm.Beta("p", 1, 1), pm.Gamma("rate", 2, 0.1)
    n = pm.Poisson("n", rate, shape=40)
    pm.Binomial("y", n[:, None], p, observed=counts)


@stranger
def capture_and_recapture_with_hundreds_of_indicators():
    seen = RNG.binomial(1, 0.3, (300, 5))
    seen[150:] = 0
    psi, p = pm.Beta("psi", 1, 1), pm.Beta("p", 1, 1)
    z = pm.Bernoulli("z", psi, shape=300)
    pm.Binomial("y", 5, p * z, observed=seen.sum(1))


@stranger
def capture_and_recapture_with_some_hundred_indicators_more():
    seen = RNG.binomial(1, 0.3, (600, 5))
    seen[300:] = 0
    psi, p = pm.Beta("psi", 1, 1), pm.Beta("p", 1, 1, shape=5)
    z = pm.Bernoulli("z", psi, shape=600)
    pm.Bernoulli("y", z[:, None] * p, observed=seen)


@stranger
def occupancy_of_sites():
    seen = RNG.binomial(1, 0.3, (100, 4))
    psi, p = pm.Beta("psi", 1, 1), pm.Beta("p", 1, 1)
    z = pm.Bernoulli("z", psi, shape=100)
    pm.Bernoulli("y", p * z[:, None], observed=seen)


@stranger
def topics():
    docs, topics, words, length = 20, 4, 50, 30
    w = RNG.integers(0, words, (docs, length))
    theta = pm.Dirichlet("theta", np.ones(topics), shape=(docs, topics))
    phi = pm.Dirichlet("phi", np.ones(words), shape=(topics, words))
    z = pm.Categorical("z", theta[:, None, :], shape=(docs, length))
    pm.Categorical("w", phi[z], observed=w)


@stranger
def few_topics():
    docs, topics, words, length = 6, 2, 12, 20
    w = RNG.integers(0, words, (docs, length))
    theta = pm.Dirichlet("theta", np.ones(topics), shape=(docs, topics))
    phi = pm.Dirichlet("phi", np.ones(words), shape=(topics, words))
    z = pm.Categorical("z", theta[:, None, :], shape=(docs, length))
    pm.Categorical("w", phi[z], observed=w)


@stranger
def topics_by_document():
    docs, topics, words = 15, 3, 40
    lengths = RNG.integers(15, 25, docs)
    phi = pm.Dirichlet("phi", np.ones(words), shape=(topics, words))
    theta = pm.Dirichlet("theta", np.ones(topics), shape=(docs, topics))
    for d, length in enumerate(lengths.tolist()):
        z = pm.Categorical(f"z_{d}", theta[d], shape=length)
        pm.Categorical(f"w_{d}", phi[z], observed=RNG.integers(0, words, length))


@stranger
def topics_summed_out():
    docs, topics, words, length = 20, 4, 50, 30
    w = RNG.integers(0, words, (docs, length))
    theta = pm.Dirichlet("theta", np.ones(topics), shape=(docs, topics))
    phi = pm.Dirichlet("phi", np.ones(words), shape=(topics, words))
    pm.Categorical("w", (theta @ phi)[:, None, :], observed=w)


@stranger
def mixture_with_labels():
    w = pm.Dirichlet("w", np.ones(3))
    mu, sigma = pm.Normal("mu", 0, 5, shape=3), pm.HalfNormal("sigma", 1, shape=3)
    z = pm.Categorical("z", w, shape=250)
    pm.Normal("y", mu[z], sigma[z], observed=RNG.normal(size=250))


@stranger
def hidden_markov_chain():
    P = pm.Dirichlet("P", np.ones((2, 2)))
    mu = pm.Normal("mu", [-1, 1], 1, shape=2)
    z = [pm.Categorical("z_0", [0.5, 0.5])]
    for t in range(1, 30):
        z.append(pm.Categorical(f"z_{t}", P[z[-1]]))
    pm.Normal("y", mu[pt.stack(z)], 1, observed=WAVES[:30])


@stranger
def change_point():
    counts = np.r_[RNG.poisson(3, 60), RNG.poisson(1, 51)]
    t = pm.DiscreteUniform("t", 0, 110)
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    pm.Poisson("y", pm.math.switch(np.arange(111) < t, early, late), observed=counts)


# --- many parameters ------------------------------------------------------------------------------


@stranger
def hierarchical_logistic_regression():
    n, groups, k = 3000, 60, 4
    g, x = RNG.integers(0, groups, n), RNG.normal(size=(n, k))
    axes({"group": range(groups), "part": range(k)})
    mean, spread = pm.Normal("mean", 0, 1, dims="part"), pm.HalfNormal("spread", 1, dims="part")
    w = pm.Normal("w", mean, spread, dims=("group", "part"))
    pm.Bernoulli("y", logit_p=(w[g] * x).sum(-1), observed=RNG.integers(0, 2, n))


@stranger
def hierarchical_logistic_regression_by_shares():
    n, groups = 10000, 50
    g, x = RNG.integers(0, groups, n), 30 * RNG.normal(size=n)
    mu, sigma = pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 10)
    a = pm.Normal("a", mu, sigma, shape=groups)
    b = pm.Normal("b", 0, 10, shape=groups)
    p = pm.Deterministic("p", pm.math.sigmoid(a[g] + b[g] * x))
    pm.Bernoulli("y", p, observed=RNG.integers(0, 2, n))


@stranger
def elections_by_state_and_group():
    n = 5000
    sizes = {"state": 51, "age": 4, "edu": 5, "age_edu": 20, "region": 5}
    at = {name: RNG.integers(0, size, n) for name, size in sizes.items()}
    level = pm.Normal("level", 0, 5)
    eta = level
    for name, size in sizes.items():
        sigma = pm.HalfCauchy(f"sigma_{name}", 5)
        effect = pm.Normal(f"effect_{name}", 0, sigma, shape=size)
        eta = eta + effect[at[name]]
    pm.Bernoulli("y", p=pm.math.sigmoid(eta), observed=RNG.integers(0, 2, n))


@stranger
def hierarchical_logistic_regression_with_correlations():
    n, groups = 2000, 40
    g, x = RNG.integers(0, groups, n), RNG.normal(size=n)
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1.0))
    mean = pm.Normal("mean", 0, 2, shape=2)
    z = pm.Normal("z", 0, 1, shape=(2, groups))
    w = pm.Deterministic("w", pt.dot(chol, z).T)
    eta = mean[0] + w[g, 0] + (mean[1] + w[g, 1]) * x
    pm.Bernoulli("y", logit_p=eta, observed=RNG.integers(0, 2, n))


@stranger
def items_and_persons():
    persons, items = 200, 30
    skill, ease = pm.Normal("skill", 0, 1, shape=persons), pm.Normal("ease", 0, 2, shape=items)
    slope = pm.LogNormal("slope", 0, 0.5, shape=items)
    pm.Bernoulli(
        "y",
        logit_p=slope * (skill[:, None] - ease),
        observed=RNG.integers(0, 2, (persons, items)),
    )


@stranger
def regularised_horseshoe_logistic_regression():
    n, p = 200, 100
    X = RNG.normal(size=(n, p))
    tau, c2 = pm.HalfStudentT("tau", 2, 0.1), pm.InverseGamma("c2", 1, 1)
    lam = pm.HalfStudentT("lam", 5, shape=p)
    z, level = pm.Normal("z", 0, 1, shape=p), pm.Normal("level", 0, 2)
    w = z * tau * lam * pt.sqrt(c2 / (c2 + tau**2 * lam**2))
    pm.Bernoulli("y", logit_p=level + X @ w, observed=RNG.integers(0, 2, n))


@stranger
def regularised_horseshoe_logistic_regression_with_many_columns():
    n, p = 100, 2000
    X = RNG.normal(size=(n, p))
    tau, c2 = pm.HalfStudentT("tau", 2, 0.1), pm.InverseGamma("c2", 1, 1)
    lam = pm.HalfStudentT("lam", 5, shape=p)
    z, level = pm.Normal("z", 0, 1, shape=p), pm.Normal("level", 0, 2)
    w = z * tau * lam * pt.sqrt(c2 / (c2 + tau**2 * lam**2))
    pm.Bernoulli("y", logit_p=level + X @ w, observed=RNG.integers(0, 2, n))


@stranger
def horseshoe_regression():
    n, p = 200, 100
    X = RNG.normal(size=(n, p))
    tau, lam = pm.HalfCauchy("tau", 0.1), pm.HalfCauchy("lam", 1, shape=p)
    w = pm.Normal("w", 0, tau * lam, shape=p)
    pm.Normal("y", X @ w, pm.HalfNormal("noise", 1), observed=RNG.normal(size=n))


@stranger
def structural_equations():
    n = 200
    y = RNG.normal(size=(n, 8))
    ksi = pm.Normal("ksi", 0, 1, shape=(n, 2))
    load = pm.Normal("load", 1, 1, shape=(8,))
    path = pm.Normal("path", 0, 1)
    sd, disturbance = pm.HalfNormal("sd", 1, shape=8), pm.HalfNormal("disturbance", 1)
    eta = pm.Normal("eta", path * ksi[:, 0], disturbance, shape=n)
    factor = pt.stack([ksi[:, 0]] * 3 + [ksi[:, 1]] * 2 + [eta] * 3, axis=-1)
    pm.Normal("y", factor * load, sd, observed=y)


@stranger
def structural_equations_with_correlated_factors():
    n = 250
    idx = np.repeat(np.arange(3), 3)
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.Exponential.dist(1.0))
    factors = pm.MvNormal("factors", np.zeros(3), chol=chol, shape=(n, 3))
    load = pm.Normal("load", 1, 0.5, shape=9)
    level, sd = pm.Normal("level", 0, 5, shape=9), pm.HalfNormal("sd", 1, shape=9)
    pm.Normal("y", level + factors[:, idx] * load, sd, observed=RNG.normal(size=(n, 9)))


@stranger
def principal_components():
    n, d, k = 250, 10, 2
    w, z = pm.Normal("w", 0, 1, shape=(d, k)), pm.Normal("z", 0, 1, shape=(k, n))
    pm.Normal("y", w @ z, pm.HalfNormal("noise", 1), observed=RNG.normal(size=(d, n)))


@stranger
def principal_components_of_many_rows():
    n, d, k = 1000, 12, 3
    w, z = pm.Normal("w", 0, 1, shape=(d, k)), pm.Normal("z", 0, 1, shape=(n, k))
    pm.Normal("y", z @ w.T, pm.HalfNormal("noise", 1), observed=RNG.normal(size=(n, d)))


@stranger
def matrix_factorisation():
    users, films, k = 100, 60, 5
    u, f = RNG.integers(0, users, 2000), RNG.integers(0, films, 2000)
    a, b = pm.Normal("a", 0, 1, shape=(users, k)), pm.Normal("b", 0, 1, shape=(films, k))
    pm.Normal("y", (a[u] * b[f]).sum(-1), pm.HalfNormal("noise", 1), observed=RNG.normal(size=2000))


@stranger
def rolling_regression():
    n = 500
    x = RNG.normal(size=n).cumsum()
    sa, sb = pm.Exponential("sa", 50), pm.Exponential("sb", 50)
    a = pm.GaussianRandomWalk("a", sigma=sa, init_dist=pm.Normal.dist(0, 1), shape=n)
    b = pm.GaussianRandomWalk("b", sigma=sb, init_dist=pm.Normal.dist(0, 1), shape=n)
    pm.Normal("y", a + b * x, pm.HalfNormal("noise", 1), observed=RNG.normal(size=n))


@stranger
def rolling_regression_of_known_scales():
    n = 1500
    x = RNG.normal(size=n).cumsum()
    a = pm.GaussianRandomWalk("a", sigma=0.1, init_dist=pm.Normal.dist(0, 1), shape=n)
    b = pm.GaussianRandomWalk("b", sigma=0.1, init_dist=pm.Normal.dist(0, 1), shape=n)
    pm.Normal("y", a + b * x, 1.0, observed=RNG.normal(size=n))


@stranger
def regression_with_many_coefficients():
    n, p = 3000, 2000
    w = pm.Normal("w", 0, 1, shape=p)
    pm.Normal("y", RNG.normal(size=(n, p)) @ w, 1.0, observed=RNG.normal(size=n))


@stranger
def neural_network():
    x = RNG.normal(size=(200, 2))
    a, b = pm.Normal("a", 0, 1, shape=(2, 20)), pm.Normal("b", 0, 1, shape=(20, 20))
    c = pm.Normal("c", 0, 1, shape=20)
    hidden = pm.math.tanh(pm.math.tanh(x @ a) @ b)
    pm.Bernoulli("y", logit_p=hidden @ c, observed=RNG.integers(0, 2, 200))


# --- laws of other kinds --------------------------------------------------------------------------


@stranger
def ordered_categories():
    w = pm.Normal("w", 0, 1, shape=3)
    cuts = pm.Normal(
        "cuts",
        0,
        2,
        shape=4,
        transform=pm.distributions.transforms.ordered,
        initval=np.arange(4.0),
    )
    pm.OrderedLogistic("y", eta=ROWS[:200] @ w, cutpoints=cuts, observed=RNG.integers(0, 5, 200))


@stranger
def ordered_probit():
    w = pm.Normal("w", 0, 1, shape=3)
    pm.OrderedProbit(
        "y",
        eta=ROWS[:200] @ w,
        cutpoints=np.array([-1.0, 0, 1]),
        observed=RNG.integers(0, 4, 200),
    )


@stranger
def counts_with_zeros_by_a_regression():
    w, psi = pm.Normal("w", 0, 1, shape=3), pm.Beta("psi", 1, 1)
    alpha = pm.Exponential("alpha", 1)
    pm.ZeroInflatedNegativeBinomial(
        "y", psi=psi, mu=pm.math.exp(ROWS[:200] @ w), alpha=alpha, observed=RNG.poisson(1, 200)
    )


@stranger
def hurdle():
    psi, rate = pm.Beta("psi", 1, 1), pm.Gamma("rate", 2, 1)
    pm.HurdlePoisson("y", psi=psi, mu=rate, observed=RNG.poisson(1, 100))


@stranger
def censored_lengths():
    mu, sd = pm.Normal("mu", 0, 2), pm.HalfNormal("sd", 1)
    pm.Censored("y", pm.Normal.dist(mu, sd), lower=None, upper=1.0, observed=np.minimum(WAVES, 1.0))


@stranger
def truncated_lengths():
    mu, sd = pm.Normal("mu", 0, 2), pm.HalfNormal("sd", 1)
    pm.Truncated("y", pm.Normal.dist(mu, sd), upper=1.0, observed=WAVES[WAVES < 1])


@stranger
def missing_rows():
    y = np.where(np.arange(100) % 7 == 0, np.nan, WAVES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mu, sd = pm.Normal("mu", 0, 2), pm.HalfNormal("sd", 1)
        pm.Normal("y", mu, sd, observed=np.ma.masked_invalid(y))


@stranger
def dirichlet_process_by_breaking_sticks():
    alpha = pm.Gamma("alpha", 1, 1)
    w = pm.StickBreakingWeights("w", alpha, K=19)
    mu, tau = pm.Normal("mu", 0, 5, shape=20), pm.Gamma("tau", 1, 1, shape=20)
    pm.NormalMixture("y", w, mu, tau=tau, observed=RNG.normal(size=300))


@stranger
def dirichlet_process_by_hand():
    alpha = pm.Gamma("alpha", 1, 1)
    b = pm.Beta("b", 1, alpha, shape=20)
    w = b * pt.concatenate([[1.0], pt.extra_ops.cumprod(1 - b)[:-1]])
    mu = pm.Normal("mu", 0, 5, shape=20)
    pm.NormalMixture("y", w / w.sum(), mu, sigma=1.0, observed=RNG.normal(size=300))


@stranger
def covariance_with_correlations_of_their_own():
    chol, _, _ = pm.LKJCholeskyCov("chol", n=4, eta=2, sd_dist=pm.HalfNormal.dist(1.0))
    mu = pm.Normal("mu", 0, 2, shape=4)
    pm.MvNormal("y", mu, chol=chol, observed=RNG.normal(size=(100, 4)))


@stranger
def precision_of_vectors():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        P = pm.Wishart("P", nu=6, V=np.eye(3))
        mu = pm.Normal("mu", 0, 2, shape=3)
        pm.MvNormal("y", mu, tau=P, observed=RNG.normal(size=(50, 3)))


@stranger
def matrices_of_numbers():
    mu = pm.MatrixNormal("mu", mu=np.zeros((4, 3)), rowcov=np.eye(4), colcov=np.eye(3))
    pm.Normal("y", mu, pm.HalfNormal("noise", 1), observed=RNG.normal(size=(4, 3)))


@stranger
def normal_of_a_kronecker_product():
    sd = pm.HalfNormal("sd", 1)
    K = [sd * (np.eye(4) + 0.5), np.eye(3) + 0.2]
    pm.KroneckerNormal("y", mu=np.zeros(12), covs=K, sigma=0.3, observed=RNG.normal(size=12))


@stranger
def latent_normal_of_a_kronecker_product():
    K = [np.eye(4) + 0.5, np.eye(3) + 0.2]
    f = pm.KroneckerNormal("f", mu=np.zeros(12), covs=K, sigma=0.3)
    pm.Normal("y", f, pm.HalfNormal("noise", 1), observed=RNG.normal(size=12))


@stranger
def angles():
    mu, kappa = pm.VonMises("mu", 0, 1), pm.Gamma("kappa", 2, 1)
    pm.VonMises("y", mu, kappa, observed=RNG.vonmises(0, 1, 50))


@stranger
def survival_by_intervals():
    base, w = pm.Gamma("base", 0.01, 0.01, shape=20), pm.Normal("w", 0, 2)
    rate = pt.outer(pt.exp(w * (np.arange(44) % 2)), base)
    pm.Poisson("y", 3.0 * rate, observed=RNG.poisson(0.1, (44, 20)))


@stranger
def interpolated_prior():
    grid = np.linspace(-4, 4, 50)
    mu = pm.Interpolated("mu", grid, stats.norm.pdf(grid))
    pm.Normal("y", mu, pm.HalfNormal("sd", 1), observed=WAVES)


@stranger
def polynomials_over_a_scan():
    def step(t, x, w):
        return x + w * t

    w = pm.Normal("w", 0, 1)
    noise = pm.HalfNormal("noise", 1)
    xs = pytensor.scan(
        step,
        sequences=[pt.arange(30.0)],
        outputs_info=[pt.zeros(())],
        non_sequences=[w],
        return_updates=False,
    )
    pm.Normal("y", xs, noise, observed=WAVES[:30])


@stranger
def long_loop_written_out():
    rho, sigma = pm.Normal("rho", 0, 0.5), pm.HalfNormal("sigma", 1)
    mean, total = pt.zeros(()), []
    for t in range(200):
        mean = rho * mean + 0.1 * WAVES[t % 100]
        total.append(mean)
    pm.Normal("y", pt.stack(total), sigma, observed=np.resize(WAVES, 200))


@stranger
def many_variables_of_one_number():
    level, spread = pm.Normal("level", 0, 5), pm.HalfNormal("spread", 1)
    for g in range(80):
        own = pm.Normal(f"own_{g}", level, spread)
        pm.Normal(f"y_{g}", own, 1.0, observed=RNG.normal(size=5))


@stranger
def fourier_transform():
    w = pm.Normal("w", 0, 1, shape=8)
    power = rfft(w[None, :])
    pm.Normal("y", (power**2).sum(-1), 1.0, observed=np.ones((1, 5)))


@stranger
def sorted_levels():
    mu = pm.Normal("mu", 0, 5, shape=3)
    pm.Normal("y", pt.sort(mu)[np.arange(99) % 3], 1.0, observed=WAVES[:99])


@stranger
def position_of_the_largest():
    mu = pm.Normal("mu", 0, 5, shape=3)
    pm.Normal("y", pt.argmax(mu).astype("float64"), 1.0, observed=WAVES[:5])


@stranger
def rounded_index():
    u = pm.Uniform("u", 0, 1)
    at = pt.floor(u * 3).astype("int64")
    pm.Normal("y", pt.as_tensor([0.0, 1.0, 2.0])[at], 1.0, observed=WAVES[:5])


@stranger
def data_that_change():
    x = pm.Data("x", ROWS[:50])
    y = pm.Data("y_data", LABELS[:50])
    w = pm.Normal("w", 0, 1, shape=3)
    pm.Normal("y", x @ w, pm.HalfNormal("noise", 1), observed=y, shape=x.shape[0])


@stranger
def penalty_by_a_comparison():
    a, b = pm.Normal("a", 0, 1), pm.Normal("b", 0, 1)
    pm.Potential("order", pm.math.switch(a < b, 0.0, -np.inf))
    pm.Normal("y", a + b, 1.0, observed=[0.3])


STRANGERS = [one for one in list(vars().values()) if isinstance(one, Stranger)]
