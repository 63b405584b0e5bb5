"""Log densities of priors and rows as the textbooks print them, for arrays of any shape."""

import numpy as np
from scipy.special import betaln, gammaln, log_ndtr, xlog1py, xlogy

LOG_2PI = float(np.log(2 * np.pi))


def normal(x, mean=0.0, sd=1.0):
    return -(((x - mean) / sd) ** 2) / 2 - np.log(sd) - LOG_2PI / 2


def log_normal(x, mean, sd):
    return normal(np.log(x), mean, sd) - np.log(x)


def student(x, df, mean=0.0, scale=1.0):
    z = (x - mean) / scale
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - np.log(df * np.pi) / 2 - np.log(scale)
    return constant - (df + 1) / 2 * np.log1p(z**2 / df)


def cauchy(x, mean=0.0, scale=1.0):
    return -np.log(np.pi * scale) - np.log1p(((x - mean) / scale) ** 2)


def laplace(x, scale):
    return -np.abs(x) / scale - np.log(2 * scale)


def half_normal(x, sd):
    return normal(x, 0.0, sd) + np.log(2)


def half_cauchy(x, scale):
    return cauchy(x, 0.0, scale) + np.log(2)


def half_student(x, df, scale):
    return student(x, df, 0.0, scale) + np.log(2)


def exponential(x, rate):
    return np.log(rate) - rate * x


def gamma(x, shape, rate):
    return shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x


def inverse_gamma(x, shape, scale):
    return shape * np.log(scale) - gammaln(shape) - (shape + 1) * np.log(x) - scale / x


def weibull(x, shape, scale):
    z = x / scale
    return np.log(shape / scale) + (shape - 1) * np.log(z) - z**shape


def beta(x, a, b):
    return xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)


def poisson(k, rate):
    return xlogy(k, rate) - rate - gammaln(k + 1)


def rising(x, k):
    """Return the log of x (x + 1) … (x + k - 1), to full digits however large x is."""
    return sum(np.where(i < k, np.log(x + i), 0.0) for i in range(int(np.max(k))))


def negative_binomial(k, mean, size):
    logs = rising(size, k) - gammaln(k + 1) - size * np.log1p(mean / size)
    return logs + k * (np.log(mean) - np.log(size + mean))


def choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def binomial(k, n, p):
    return choose(n, k) + xlogy(k, p) + xlog1py(n - k, -p)


def binomial_logit(k, n, eta):
    return choose(n, k) - k * np.logaddexp(0, -eta) - (n - k) * np.logaddexp(0, eta)


def binomial_probit(k, n, eta):
    return choose(n, k) + k * log_ndtr(eta) + (n - k) * log_ndtr(-eta)


def beta_binomial(k, n, a, b):
    return choose(n, k) + rising(a, k) + rising(b, n - k) - rising(a + b, n)


def gamma_poisson(k, exposure, shape, rate):
    """Return the log probability of a count, its rate a Gamma variable times the exposure."""
    logs = rising(shape, k) - gammaln(k + 1) - shape * np.log1p(exposure / rate)
    return logs + k * (np.log(exposure) - np.log(rate + exposure))
