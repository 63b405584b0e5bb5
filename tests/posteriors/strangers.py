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


# --- neighbours, sums to zero, random walks -------------------------------------------------------


def lattice(side):
    """Return the adjacency matrix of a square grid."""
    line = np.eye(side, k=1) + np.eye(side, k=-1)
    return np.kron(line, np.eye(side)) + np.kron(np.eye(side), line)


@stranger
def conditional_autoregression_of_numbers():
    tau = pm.Gamma("tau", 2, 2)
    phi = pm.CAR("phi", mu=np.zeros(49), tau=tau, alpha=0.9, W=lattice(7))
    pm.Normal("y", phi, 0.5, observed=RNG.normal(size=49))


@stranger
def intrinsic_autoregression_of_numbers():
    sigma = pm.HalfNormal("sigma", 1)
    phi = pm.ICAR("phi", W=lattice(7).astype(int))
    pm.Normal("y", sigma * phi, 0.5, observed=RNG.normal(size=49))


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


def in_python(itypes, otypes):
    """Wrap a function by PyTensor's old name for it, which most models have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return as_op(itypes=itypes, otypes=otypes)


@in_python([pt.lscalar], [pt.dvector])
def rates_by_year(year):
    """Return the rates before and after."""
    return np.where(np.arange(40) < year, 3.0, 1.0)


@stranger
def function_in_python_of_a_finite_variable_beside_a_rate():
    year, rate = pm.DiscreteUniform("year", 0, 39), pm.Gamma("rate", 2, 1)
    pm.Poisson("y", rate * rates_by_year(year), observed=RNG.poisson(2, 40))


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
def simulated_predators():
    def simulate(rng, a, size=None):  # noqa: ARG001 - PyMC's signature
        return rng.poisson(np.exp(a), size=(20, 2)).astype(float)

    a = pm.Normal("a", 0, 1)
    level = pm.Normal("level", 0, 1)
    pm.Normal("z", level, 1, observed=[0.3, 0.2])
    pm.Simulator("s", simulate, params=(a,), epsilon=10, observed=np.ones((20, 2)))


@stranger
def custom_prior_by_its_density():
    mu = pm.CustomDist("mu", 0.0, logp=lambda value, m: -((value - m) ** 2) / 2)
    pm.Normal("y", mu, 1, observed=WAVES)


@stranger
def custom_distribution_without_a_density():
    def random(mu, rng=None, size=None):
        return rng.normal(mu, size=size)

    mu = pm.Normal("mu", 0, 1)
    pm.CustomDist("y", mu, random=random, observed=WAVES)


# --- parts of the data ----------------------------------------------------------------------------

ROWS, LABELS = RNG.normal(size=(2000, 3)), RNG.normal(size=2000)


@stranger
def regression_in_minibatches_of_known_noise():
    x, y = pm.Minibatch(ROWS, LABELS, batch_size=64)
    w = pm.Normal("w", 0, 1, shape=3)
    pm.Normal("y", x @ w, 1.0, observed=y, total_size=2000)


@stranger
def rows_scaled_up_to_a_total_size():
    w = pm.Normal("w", 0, 1, shape=3)
    noise = pm.HalfNormal("noise", 1)
    pm.Normal("y", ROWS[:64] @ w, noise, observed=LABELS[:64], total_size=2000)


# --- indicators -----------------------------------------------------------------------------------


@stranger
def indicator_as_an_index_of_scales_with_one_for_all():
    s = pm.InverseGamma("s", 3, 2, shape=2)
    o = pm.Bernoulli("o", 0.3)
    pm.Normal("y", 0, pt.sqrt(s[o]), observed=WAVES[:8])


@stranger
def capture_and_recapture_with_hundreds_of_indicators():
    seen = RNG.binomial(1, 0.3, (300, 5))
    seen[150:] = 0
    psi, p = pm.Beta("psi", 1, 1), pm.Beta("p", 1, 1)
    z = pm.Bernoulli("z", psi, shape=300)
    pm.Binomial("y", 5, p * z, observed=seen.sum(1))


@stranger
def few_topics():
    docs, topics, words, length = 6, 2, 12, 20
    w = RNG.integers(0, words, (docs, length))
    theta = pm.Dirichlet("theta", np.ones(topics), shape=(docs, topics))
    phi = pm.Dirichlet("phi", np.ones(words), shape=(topics, words))
    z = pm.Categorical("z", theta[:, None, :], shape=(docs, length))
    pm.Categorical("w", phi[z], observed=w)


@stranger
def change_point():
    counts = np.r_[RNG.poisson(3, 60), RNG.poisson(1, 51)]
    t = pm.DiscreteUniform("t", 0, 110)
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    pm.Poisson("y", pm.math.switch(np.arange(111) < t, early, late), observed=counts)


# --- many parameters ------------------------------------------------------------------------------


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
def regularised_horseshoe_logistic_regression():
    n, p = 200, 100
    X = RNG.normal(size=(n, p))
    tau, c2 = pm.HalfStudentT("tau", 2, 0.1), pm.InverseGamma("c2", 1, 1)
    lam = pm.HalfStudentT("lam", 5, shape=p)
    z, level = pm.Normal("z", 0, 1, shape=p), pm.Normal("level", 0, 2)
    w = z * tau * lam * pt.sqrt(c2 / (c2 + tau**2 * lam**2))
    pm.Bernoulli("y", logit_p=level + X @ w, observed=RNG.integers(0, 2, n))


# --- laws of other kinds --------------------------------------------------------------------------


@stranger
def hurdle():
    psi, rate = pm.Beta("psi", 1, 1), pm.Gamma("rate", 2, 1)
    pm.HurdlePoisson("y", psi=psi, mu=rate, observed=RNG.poisson(1, 100))


@stranger
def dirichlet_process_by_breaking_sticks():
    alpha = pm.Gamma("alpha", 1, 1)
    w = pm.StickBreakingWeights("w", alpha, K=19)
    mu, tau = pm.Normal("mu", 0, 5, shape=20), pm.Gamma("tau", 1, 1, shape=20)
    pm.NormalMixture("y", w, mu, tau=tau, observed=RNG.normal(size=300))


@stranger
def normal_of_a_kronecker_product():
    sd = pm.HalfNormal("sd", 1)
    K = [sd * (np.eye(4) + 0.5), np.eye(3) + 0.2]
    pm.KroneckerNormal("y", mu=np.zeros(12), covs=K, sigma=0.3, observed=RNG.normal(size=12))


@stranger
def long_loop_written_out():
    rho, sigma = pm.Normal("rho", 0, 0.5), pm.HalfNormal("sigma", 1)
    mean, total = pt.zeros(()), []
    for t in range(200):
        mean = rho * mean + 0.1 * WAVES[t % 100]
        total.append(mean)
    pm.Normal("y", pt.stack(total), sigma, observed=np.resize(WAVES, 200))


STRANGERS = [one for one in list(vars().values()) if isinstance(one, Stranger)]
