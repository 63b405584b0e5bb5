"""Truncated laws, and logs and logits of variables of known families, each worked out by hand."""

import mpmath
import numpy as np
import pymc as pm
from mpmath import mpf
from scipy import special, stats

from tests.posteriors.coins import BITS
from tests.posteriors.entry import solved
from tests.posteriors.lines import HEIGHTS
from tests.posteriors.rates import CALLS, ERRORS, TIMES
from tests.posteriors.references import Reference, linear

DIGITS = 80  # far out in a tail moments cancel
INF = np.inf
ONES, ZEROS = int(np.sum(BITS)), int(np.sum(1 - BITS))
LEVELS = np.array([0.3, -0.2, 5.0])
LINE = np.c_[np.ones(4), np.arange(4.0)]
STEPS = np.array([0.2, 1.4, 1.9, 3.3])


# --- what is integrated: log kernels, and the logs of their integrals, means and variances -------


def normal(mean, sd):
    """Return kernel and moments of exp(-((x - mean) / sd)² / 2) between two ends."""

    def moments(low, high):
        a, b = ((mpf(end) - mpf(mean)) / mpf(sd) for end in (low, high))
        sign = 1 if a + b >= 0 else -1
        a, b = (a, b) if sign > 0 else (-b, -a)
        whole = (mpmath.erfc(a / mpmath.sqrt(2)) - mpmath.erfc(b / mpmath.sqrt(2))) / 2
        f, g = (mpmath.npdf(z) if abs(z) < mpmath.inf else mpf(0) for z in (a, b))
        shift = (f - g) / whole
        spread = 1 + ((a * f if f else 0) - (b * g if g else 0)) / whole - shift**2
        log = mpmath.log(whole * sd * mpmath.sqrt(2 * mpmath.pi))
        return log, mean + sign * sd * shift, mpf(sd) ** 2 * spread

    return lambda x: -(((x - mean) / sd) ** 2) / 2, moments


def _of_integrals(integral):
    whole, first, second = (integral(k) for k in range(3))
    return mpmath.log(whole), first / whole, second / whole - (first / whole) ** 2


def power(k, shape, rate):
    """Return the same of x^(k shape - 1) exp(-rate x^k)."""

    def moments(low, high):
        at = [mpmath.inf if end == 0 and k < 0 else rate * mpf(end) ** k for end in (low, high)]

        def integral(m):
            order = shape + mpf(m) / k
            return mpmath.gammainc(order, *sorted(at)) / mpf(rate) ** order / abs(k)

        return _of_integrals(integral)

    return lambda x: (k * shape - 1) * np.log(x) - rate * x**k, moments


def share(alpha, beta):
    """Return the same of x^(alpha - 1) (1 - x)^(beta - 1)."""

    def moments(low, high):
        return _of_integrals(lambda m: mpmath.betainc(alpha + m, beta, low, high))

    return lambda x: (alpha - 1) * np.log(x) + (beta - 1) * np.log1p(-x), moments


def log_power(k, shape, rate):
    """Return the same of the log of such a variable, on the whole line."""

    def moments(*_):
        log = mpmath.loggamma(shape) - shape * mpmath.log(rate) - mpmath.log(abs(k))
        mean, var = mpmath.digamma(shape) - mpmath.log(rate), mpmath.psi(1, shape)
        return log, mean / k, var / k**2

    return lambda x: k * shape * x - rate * np.exp(k * x), moments


def logit_share(alpha, beta):
    """Return the same of the logit of a share."""

    def moments(*_):
        log = mpmath.log(mpmath.beta(alpha, beta))
        mean = mpmath.digamma(alpha) - mpmath.digamma(beta)
        return log, mean, mpmath.psi(1, alpha) + mpmath.psi(1, beta)

    return lambda x: alpha * special.log_expit(x) + beta * special.log_expit(-x), moments


def cut(name, family, parameters, kernels, joint, ends=None, *, proper=True):
    """Return the posterior of independent elements, on the whole line or between two ends.

    There is one kernel an element; `joint` is the joint log density of an array of elements.
    """
    with mpmath.workdps(DIGITS):
        found = [moments(*(ends or (-INF, INF))) for _, moments in kernels]
    shape = np.shape(next(iter(parameters.values())))
    logs, mean, var = (np.array([float(m[i]) for m in found]).reshape(shape) for i in range(3))

    def kernel(x):
        return sum(float(k(v)) for (k, _), v in zip(kernels, np.ravel(x), strict=True))

    def draw(rng):
        x = mean + np.sqrt(var) * rng.normal(size=shape)
        return {name: x if ends is None else np.clip(x, *np.nextafter(ends, (INF, -INF)))}

    own = {key: np.asarray(value, dtype=float) for key, value in parameters.items()}
    if ends is not None:
        own |= {"lower": np.full(shape, ends[0]), "upper": np.full(shape, ends[1])}
    evidence = float(joint(mean) - kernel(mean) + logs.sum()) if proper else None
    return Reference(
        {name: family},
        {name: own},
        lambda point: kernel(point[name]) - logs.sum(),
        draw,
        evidence,
        {name: mean},
        {name: var},
    )


# --- normal means ---------------------------------------------------------------------------------


def about(y, sd, ends, log_prior, prior=(0.0, INF, 0.0), name="mu"):
    """Return the posterior of the mean of normal rows of known deviation.

    A prior is what normal law its slope is that of, and how fast it falls off beside that.
    """
    precision = np.size(y) / sd**2 + prior[1] ** -2
    mean = (np.sum(y) / sd**2 + prior[0] / prior[1] ** 2 - prior[2]) / precision
    own = {"mean": mean, "sd": precision**-0.5}

    def joint(mu):
        return stats.norm.logpdf(y, mu, sd).sum() + log_prior(mu)

    return cut(name, "TruncatedNormal", own, [normal(mean, precision**-0.5)], joint, ends)


def flat(low, high):
    return lambda _: -np.log(high - low)


@solved(lambda: about(HEIGHTS, 8.0, (150, 200), flat(150, 200)))
def uniform_mean():
    mu = pm.Uniform("mu", 150, 200)
    pm.Normal("x", mu, 8, observed=HEIGHTS)


@solved(lambda: about(HEIGHTS, 8.0, (0, INF), stats.halfnorm(scale=200).logpdf, (0, 200, 0)))
def half_normal_mean():
    mu = pm.HalfNormal("mu", 200)
    pm.Normal("x", mu, 8, observed=HEIGHTS)


@solved(lambda: about(ERRORS, 1.0, (0, INF), stats.expon(scale=2).logpdf, (0, INF, 0.5)))
def exponential_mean():
    mu = pm.Exponential("mu", 0.5)
    pm.Normal("x", mu, 1, observed=ERRORS)


@solved(
    lambda: about(
        *(HEIGHTS, 8.0, (0, INF), stats.truncnorm(-17, INF, 170, 10).logpdf, (170, 10, 0))
    )
)
def truncated_normal_mean():
    mu = pm.TruncatedNormal("mu", 170, 10, lower=0)
    pm.Normal("x", mu, 8, observed=HEIGHTS)


@solved(
    lambda: about(
        *(ERRORS, 1.0, (-INF, -0.5), stats.truncnorm(-INF, -1, 0.5, 1).logpdf, (0.5, 1, 0))
    )
)
def mean_below_an_upper_end():
    mu = pm.Truncated("mu", pm.Normal.dist(0.5, 1), upper=-0.5)
    pm.Normal("x", mu, 1, observed=ERRORS)


@solved(lambda: about([0.2], 0.1, (4, 6), flat(4, 6)))
def interval_of_a_mean_far_out():
    mu = pm.Uniform("mu", 4, 6)
    pm.Normal("x", mu, 0.1, observed=[0.2])


@solved(lambda: about([3.0, 2.0], 1.0, (0.999, 1.001), flat(0.999, 1.001)))
def narrow_interval_of_a_mean():
    mu = pm.Uniform("mu", 0.999, 1.001)
    pm.Normal("x", mu, 1, observed=[3.0, 2.0])


@solved(lambda: about(HEIGHTS, 0.1, (-1e4, 1e4), flat(-1e4, 1e4)))
def wide_interval_of_a_mean():
    mu = pm.Uniform("mu", -1e4, 1e4)
    pm.Normal("x", mu, 0.1, observed=HEIGHTS)


@solved(
    lambda: cut(
        *("mu", "TruncatedNormal", {"mean": LEVELS, "sd": np.ones(3)}),
        [normal(level, 1.0) for level in LEVELS],
        lambda mu: stats.norm.logpdf(LEVELS, mu, 1).sum() - 3 * np.log(2),
        (-1, 1),
    )
)
def means_of_three():
    mu = pm.Uniform("mu", -1, 1, shape=3)
    pm.Normal("x", mu, 1, observed=LEVELS)


def _beside():
    block = linear({"w": (2,)}, (np.zeros(2), np.eye(2)), LINE, STEPS, 0.25)
    return about([0.3, 0.2], 1.0, (-1, 1), flat(-1, 1)) + block


@solved(_beside)
def uniform_mean_beside_a_block():
    mu = pm.Uniform("mu", -1, 1)
    w = pm.Normal("w", 0, 1, shape=2)
    pm.Normal("x", mu, 1, observed=[0.3, 0.2])
    pm.Normal("y", LINE @ w, 0.5, observed=STEPS)


# --- rates, shares, scales ------------------------------------------------------------------------


def events(ends, log_prior, shape=1.0, rate=0.0):
    """Return the posterior of a rate of `CALLS`, under a prior with a Gamma law's slope."""
    own = {"shape": shape + CALLS.sum(), "rate": rate + len(CALLS)}

    def joint(x):
        return stats.poisson.logpmf(CALLS, x).sum() + log_prior(x)

    return cut("rate", "TruncatedGamma", own, [power(1, *own.values())], joint, ends)


@solved(lambda: events((0, 10), flat(0, 10)))
def uniform_rate():
    rate = pm.Uniform("rate", 0, 10)
    pm.Poisson("x", rate, observed=CALLS)


@solved(lambda: events((0, 1), flat(0, 1)))
def uniform_rate_below_one():
    rate = pm.Uniform("rate", 0, 1)
    pm.Poisson("x", rate, observed=CALLS)


GAMMA = stats.gamma(2, scale=2)


@solved(lambda: events((0, 2), lambda x: GAMMA.logpdf(x) - GAMMA.logcdf(2), 2, 0.5))
def truncated_gamma_rate():
    rate = pm.Truncated("rate", pm.Gamma.dist(2, 0.5), upper=2)
    pm.Poisson("x", rate, observed=CALLS)


@solved(lambda: events((9, INF), lambda x: GAMMA.logpdf(x) - GAMMA.logsf(9), 2, 0.5))
def rate_far_above_the_data():
    rate = pm.Truncated("rate", pm.Gamma.dist(2, 0.5), lower=9)
    pm.Poisson("x", rate, observed=CALLS)


@solved(
    lambda: cut(
        *("rate", "TruncatedGamma", {"shape": 1.0 + len(TIMES), "rate": TIMES.sum()}),
        [power(1, 1 + len(TIMES), TIMES.sum())],
        lambda x: stats.expon.logpdf(TIMES, scale=1 / x).sum() - np.log(2),
        (0.5, 2.5),
    )
)
def uniform_rate_of_waiting():
    rate = pm.Uniform("rate", 0.5, 2.5)
    pm.Exponential("x", rate, observed=TIMES)


def tosses(ends, log_prior, alpha=1.0, beta=1.0):
    """Return the posterior of a share of `BITS`, under a prior with a Beta law's slope."""
    own = {"alpha": alpha + ONES, "beta": beta + ZEROS}

    def joint(theta):
        return stats.bernoulli.logpmf(BITS, theta).sum() + log_prior(theta)

    return cut("theta", "TruncatedBeta", own, [share(*own.values())], joint, ends)


@solved(lambda: tosses((0.2, 0.8), flat(0.2, 0.8)))
def uniform_share_on_a_part():
    theta = pm.Uniform("theta", 0.2, 0.8)
    pm.Bernoulli("x", theta, observed=BITS)


@solved(lambda: tosses((0.98, 0.99), flat(0.98, 0.99)))
def share_far_above_the_data():
    theta = pm.Uniform("theta", 0.98, 0.99)
    pm.Bernoulli("x", theta, observed=BITS)


BETA = stats.beta(2, 2)
INSIDE = np.log(BETA.cdf(0.9) - BETA.cdf(0.1))


@solved(lambda: tosses((0.1, 0.9), lambda x: BETA.logpdf(x) - INSIDE, 2, 2))
def truncated_beta_share():
    theta = pm.Truncated("theta", pm.Beta.dist(2, 2), lower=0.1, upper=0.9)
    pm.Bernoulli("x", theta, observed=BITS)


def spread(name, k, ends):
    """Return the posterior of a deviation (k = -2) or variance (k = -1) under a uniform prior."""
    own = {"shape": (len(ERRORS) + 2 / k) / 2, "scale": np.sum(ERRORS**2) / 2}
    family = "TruncatedSquareInverseGamma" if k == -2 else "TruncatedInverseGamma"

    def joint(x):
        sd = x if k == -2 else np.sqrt(x)
        return stats.norm.logpdf(ERRORS, 0, sd).sum() + flat(*ends)(x)

    return cut(name, family, own, [power(k, *own.values())], joint, ends)


@solved(lambda: spread("sigma", -2, (0, 50)))
def uniform_deviation():
    sigma = pm.Uniform("sigma", 0, 50)
    pm.Normal("x", 0, sigma, observed=ERRORS)


@solved(lambda: spread("sigma2", -1, (0.1, 3)))
def uniform_variance():
    sigma2 = pm.Uniform("sigma2", 0.1, 3)
    pm.Normal("x", 0, pm.math.sqrt(sigma2), observed=ERRORS)


def _nothing():
    ends = {"lower": np.float64(2), "upper": np.float64(5)}
    return Reference(
        {"x": "Uniform"},
        {"x": ends},
        lambda _: -np.log(3),
        lambda rng: {"x": rng.uniform(2, 5)},
        0.0,
        {"x": np.float64(3.5)},
        {"x": np.float64(0.75)},
    )


@solved(_nothing)
def uniform_without_data():
    pm.Uniform("x", 2, 5)


# --- logs and logits ------------------------------------------------------------------------------


@solved(
    lambda: cut(
        *("log_rate", "LogGamma", {"shape": CALLS.sum(), "rate": len(CALLS)}),
        [log_power(1, int(CALLS.sum()), len(CALLS))],
        lambda x: stats.poisson.logpmf(CALLS, np.exp(x)).sum(),
        proper=False,
    )
)
def flat_log_rate():
    log_rate = pm.Flat("log_rate")
    pm.Poisson("x", pm.math.exp(log_rate), observed=CALLS)


@solved(
    lambda: cut(
        *("log_rate", "LogGamma", {"shape": 1 + CALLS.sum(), "rate": len(CALLS)}),
        [log_power(1, 1 + int(CALLS.sum()), len(CALLS))],
        lambda x: x + stats.poisson.logpmf(CALLS, np.exp(x)).sum(),
        proper=False,
    )
)
def log_of_a_flat_rate():
    log_rate = pm.Flat("log_rate")
    pm.Potential("jacobian", 1.0 * log_rate)
    pm.Poisson("x", pm.math.exp(log_rate), observed=CALLS)


@solved(
    lambda: cut(
        *("log_scale", "LogInverseGamma", {"shape": 1.0 + len(TIMES), "scale": 1 + TIMES.sum()}),
        [log_power(-1, 1 + len(TIMES), 1 + TIMES.sum())],
        lambda x: stats.gumbel_r.logpdf(x) + stats.expon.logpdf(TIMES, scale=np.exp(x)).sum(),
    )
)
def gumbel_log_of_a_scale():
    log_scale = pm.Gumbel("log_scale", 0, 1)
    pm.Exponential("x", scale=pm.math.exp(log_scale), observed=TIMES)


@solved(
    lambda: cut(
        *("log_sd", "LogSquareInverseGamma"),
        {"shape": len(ERRORS) / 2, "scale": np.sum(ERRORS**2) / 2},
        [log_power(-2, len(ERRORS) / 2, np.sum(ERRORS**2) / 2)],
        lambda x: stats.norm.logpdf(ERRORS, 0, np.exp(x)).sum(),
        proper=False,
    )
)
def flat_log_deviation():
    log_sd = pm.Flat("log_sd")
    pm.Normal("x", 0, pm.math.exp(log_sd), observed=ERRORS)


@solved(
    lambda: cut(
        *("logit", "LogitBeta", {"alpha": 8.0, "beta": 14.0}, [logit_share(8, 14)]),
        lambda x: np.log(stats.binom.pmf(7, 20, special.expit(x))) + np.log(stats.logistic.pdf(x)),
        proper=False,
    )
)
def flat_logit_with_its_jacobian():
    logit = pm.Flat("logit")
    theta = pm.math.invlogit(logit)
    pm.Potential("jacobian", pm.math.log(theta) + pm.math.log1p(-theta))
    pm.Binomial("x", 20, theta, observed=7)


@solved(
    lambda: cut(
        *("logit", "LogitBeta", {"alpha": 8.0, "beta": 14.0}, [logit_share(8, 14)]),
        lambda x: stats.binom.logpmf(7, 20, special.expit(x)) + stats.logistic.logpdf(x),
    )
)
def logistic_logit():
    logit = pm.Logistic("logit", 0, 1)
    pm.Binomial("x", 20, logit_p=logit, observed=7)


@solved(
    lambda: cut(
        *("logit", "LogitBeta", {"alpha": 100_001.0, "beta": 1.0}, [logit_share(100_001, 1)]),
        lambda x: 100_000 * special.log_expit(x) + stats.logistic.logpdf(x),
    )
)
def logit_of_a_share_of_nearly_one():
    logit = pm.Logistic("logit", 0, 1)
    pm.Bernoulli("x", logit_p=logit, observed=np.ones(100_000))
