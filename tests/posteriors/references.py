"""Posteriors by textbook formulas, in NumPy, SciPy and mpmath: what a closed form has to be.

Everything here is written down from the parameters of the prior and the sums of the data; nothing
looks at a PyMC model. ``test_references.py`` holds each against the density of its model.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import mpmath
import numpy as np
from scipy import linalg, special, stats

LOG_2PI = float(np.log(2 * np.pi))

TINY, EPS = np.finfo(float).tiny, np.finfo(float).eps

mpmath.mp.dps = 40
# Elementwise, with forty digits: counts of 1e9 have log gamma functions of 2e10 that cancel.
log = np.frompyfunc(lambda x: mpmath.log(mpmath.mpf(float(x))), 1, 1)
log_gamma = np.frompyfunc(lambda x: mpmath.loggamma(mpmath.mpf(float(x))), 1, 1)
number = np.frompyfunc(lambda x: mpmath.mpf(float(x)), 1, 1)


def log_beta(a, b):
    """Return the log of the beta function, of numbers made by `number`."""
    return log_gamma(a) + log_gamma(b) - log_gamma(number(a) + number(b))


@dataclass(frozen=True)
class Reference:
    """A posterior over some variables.

    Attributes
    ----------
    families : dict
        Name of the family by variable.
    parameters : dict
        Arrays of the variable's shape by parameter by variable; none for a mixture.
    log_density : callable
        From a point (arrays by variable) to the joint log density there.
    draw : callable
        From a random generator to a point.
    log_evidence : float, optional
        None under an improper prior.
    mean, var : dict
        By variable, where they are finite and have a formula.
    """

    families: dict[str, str]
    parameters: dict[str, dict[str, Any]]
    log_density: Callable[[dict[str, Any]], float]
    draw: Callable[[np.random.Generator], dict[str, Any]]
    log_evidence: float | None = None
    mean: dict[str, Any] = field(default_factory=dict)
    var: dict[str, Any] = field(default_factory=dict)

    def __add__(self, other):
        """Two parts that are independent given the data; their evidences multiply."""
        both = (self.log_evidence, other.log_evidence)
        return Reference(
            self.families | other.families,
            self.parameters | other.parameters,
            lambda point: self.log_density(point) + other.log_density(point),
            lambda rng: self.draw(rng) | other.draw(rng),
            None if None in both else sum(both),
            self.mean | other.mean,
            self.var | other.var,
        )


def together(references):
    """Return independent parts as one."""
    first, *others = references
    for other in others:
        first = first + other
    return first


# --- variables whose elements are independent -----------------------------------------------------


def _elements(name, family, parameters, law, log_evidence, moments=None):
    parameters = {key: np.asarray(value, dtype=float) for key, value in parameters.items()}
    parameters = dict(zip(parameters, np.broadcast_arrays(*parameters.values()), strict=True))
    shape = next(iter(parameters.values())).shape
    mean, var = (law.mean(), law.var()) if moments is None else moments
    return Reference(
        {name: family},
        {name: parameters},
        lambda point: float(np.sum(law.logpdf(point[name]))),
        lambda rng: {name: np.asarray(law.rvs(size=shape, random_state=rng))},
        None if log_evidence is None else float(log_evidence),
        {} if mean is None else {name: mean},
        {} if var is None else {name: var},
    )


def beta(name, prior, ones, zeros, base=0.0):
    """Beta prior; likelihood theta^ones (1 - theta)^zeros times exp(base)."""
    a, b = np.broadcast_arrays(*(np.asarray(p, dtype=float) for p in prior))
    after = a + ones, b + zeros
    evidence = np.sum(log_beta(*after) - log_beta(a, b)) + base
    parameters = {"alpha": after[0], "beta": after[1]}
    found = _elements(name, "Beta", parameters, stats.beta(*after), evidence)
    # A draw may round to 0 or 1, where the density is nothing to compare with.
    return replace(found, draw=lambda rng: {name: np.clip(found.draw(rng)[name], TINY, 1 - EPS)})


def gamma(name, prior, shape, rate, base=0.0):
    """Gamma prior; likelihood x^shape exp(-rate x) times exp(base). Prior None: flat, no evidence.

    Without a prior the density is 1, a Gamma of shape 1 and rate 0.
    """
    a, b = (1.0, 0.0) if prior is None else prior
    after = np.asarray(a + shape, dtype=float), np.asarray(b + rate, dtype=float)
    evidence = None if prior is None else _gamma_evidence((a, b), after) + base
    law = stats.gamma(after[0], scale=1 / after[1])
    return _elements(name, "Gamma", {"shape": after[0], "rate": after[1]}, law, evidence)


def _gamma_evidence(prior, after):
    (a, b), (a_n, b_n) = prior, after
    terms = log_gamma(a_n) - log_gamma(a) + number(a) * log(b) - number(a_n) * log(b_n)
    return np.sum(terms)


def inverse_gamma(name, prior, shape, scale, base=0.0):
    """Inverse gamma prior; likelihood x^-shape exp(-scale / x) times exp(base)."""
    a, b = prior
    after = np.asarray(a + shape, dtype=float), np.asarray(b + scale, dtype=float)
    law = stats.invgamma(after[0], scale=after[1])
    parameters = {"shape": after[0], "scale": after[1]}
    # A mean or variance of a heavy tail is infinite: nothing to compare with.
    mean = law.mean() if np.all(after[0] > 1) else None
    var = law.var() if np.all(after[0] > 2) else None
    evidence = _gamma_evidence(prior, after) + base
    return _elements(name, "InverseGamma", parameters, law, evidence, (mean, var))


class InverseGaussianFamily:
    """The generalised inverse Gaussian law: x^(order - 1) exp(-(a x + b / x) / 2), normalised."""

    def __init__(self, order, a, b):
        self.order, self.a, self.b = (np.asarray(p, dtype=float) for p in (order, a, b))

    def log_normaliser(self):
        """Return the log of the integral of the density without its constant, elementwise."""

        def one(order, a, b):
            with mpmath.workdps(40):
                bessel = mpmath.besselk(order, mpmath.sqrt(mpmath.mpf(a) * mpmath.mpf(b)))
                power = mpmath.mpf(order) / 2 * mpmath.log(mpmath.mpf(b) / mpmath.mpf(a))
                return float(mpmath.log(2 * bessel) + power)

        return np.vectorize(one)(self.order, self.a, self.b)

    def _moment(self, power):
        up = InverseGaussianFamily(self.order + power, self.a, self.b)
        return np.exp(up.log_normaliser() - self.log_normaliser())

    def mean(self):
        return self._moment(1)

    def var(self):
        return self._moment(2) - self._moment(1) ** 2

    def logpdf(self, x):
        kernel = (self.order - 1) * np.log(x) - (self.a * x + self.b / x) / 2
        return kernel - self.log_normaliser()

    def rvs(self, size, random_state):
        width = np.sqrt(self.a * self.b)
        law = stats.geninvgauss(self.order, width)
        return law.rvs(size=size, random_state=random_state) * np.sqrt(self.b / self.a)


def generalised_inverse_gaussian(name, order, a, b, log_evidence):
    law = InverseGaussianFamily(order, a, b)
    family = "GeneralizedInverseGaussian"
    return _elements(name, family, {"order": order, "a": a, "b": b}, law, log_evidence)


class RootOf:
    """The law of a positive variable whose square has a law."""

    def __init__(self, law):
        self.law = law

    def logpdf(self, x):
        return self.law.logpdf(x**2) + np.log(2 * x)

    def rvs(self, size, random_state):
        return np.sqrt(self.law.rvs(size=size, random_state=random_state))


def square_inverse_gamma(name, shape, scale, log_evidence=None):
    law = RootOf(stats.invgamma(shape, scale=scale))
    parameters = {"shape": shape, "scale": scale}
    return _elements(name, "SquareInverseGamma", parameters, law, log_evidence, (None, None))


def square_gamma(name, shape, rate, log_evidence=None):
    law = RootOf(stats.gamma(shape, scale=1 / np.asarray(rate)))
    parameters = {"shape": shape, "rate": rate}
    return _elements(name, "SquareGamma", parameters, law, log_evidence, (None, None))


def square_generalised_inverse_gaussian(name, order, a, b, log_evidence=None):
    law = RootOf(InverseGaussianFamily(order, a, b))
    parameters = {"order": order, "a": a, "b": b}
    family = "SquareGeneralizedInverseGaussian"
    return _elements(name, family, parameters, law, log_evidence, (None, None))


def normal(name, prior, precision, pull, base=0.0):
    """Update a normal prior (mean, sd) by exp(pull x - precision x^2 / 2) times exp(base)."""
    m, s = (np.asarray(p, dtype=float) for p in prior)
    k = 1 / s**2
    k_n = k + precision
    mean = (k * m + pull) / k_n
    # Completing the square about the prior mean keeps the digits when it is far from zero.
    shift = pull - precision * m
    terms = (np.log(k) - np.log(k_n) + shift**2 / k_n) / 2 + pull * m - precision * m**2 / 2
    law = stats.norm(mean, 1 / np.sqrt(k_n))
    parameters = {"mean": mean, "sd": 1 / np.sqrt(k_n)}
    return _elements(name, "Normal", parameters, law, np.sum(terms) + base)


# --- the simplex ----------------------------------------------------------------------------------


def dirichlet(name, alpha, counts, base=0.0):
    """Dirichlet prior; likelihood prod theta^counts times exp(base). Leading axes are a batch."""
    alpha, counts = np.broadcast_arrays(np.asarray(alpha, dtype=float), counts)
    after = alpha + counts
    total = after.sum(-1, keepdims=True)
    constant = _log_dirichlet_constant(after)

    def log_density(point):
        return float(special.xlogy(after - 1, point[name]).sum() - constant)

    def draw(rng):
        gammas = rng.gamma(after)
        return {name: gammas / gammas.sum(-1, keepdims=True)}

    mean = after / total
    return Reference(
        {name: "Dirichlet"},
        {name: {"alpha": after}},
        log_density,
        draw,
        float(constant - _log_dirichlet_constant(alpha) + base),
        {name: mean},
        {name: mean * (1 - mean) / (total + 1)},
    )


def _log_dirichlet_constant(alpha):
    return np.sum(log_gamma(alpha)) - np.sum(log_gamma(number(alpha).sum(-1)))


# --- Gaussian blocks ------------------------------------------------------------------------------


def _split(vector, shapes):
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    parts = np.split(vector, np.cumsum(sizes)[:-1])
    return {
        name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }


def _flat(point, shapes):
    return np.concatenate([np.ravel(point[name]) for name in shapes])


def _log_normal(deviation, cov):
    root = linalg.cholesky(np.atleast_2d(cov), lower=True)
    z = linalg.solve_triangular(root, deviation, lower=True)
    return float(-0.5 * (z @ z + len(z) * LOG_2PI) - np.log(np.diag(root)).sum())


def condition(cov, design, rest, noise):
    """Update a normal block by what it has not explained.

    The update is written with the gain, as Kalman wrote it, so that no matrix of precisions
    appears; the covariance is in Joseph's form, which stays positive definite.

    Parameters
    ----------
    cov : ndarray of shape (D, D)
        Prior covariance.
    design : ndarray of shape (n, D)
        Linear map.
    rest : ndarray of shape (n,)
        Observations minus what the prior mean expects.
    noise : ndarray of shape (n, n)
        Covariance of the noise.

    Returns
    -------
    tuple
        Shift of the mean, covariance, log of the root of the determinant of the observations'
        covariance, and the squared Mahalanobis length of `rest` in it.
    """
    innovation = design @ cov @ design.T + noise
    gain = linalg.solve(innovation, design @ cov, assume_a="pos").T
    left = np.eye(len(cov)) - gain @ design
    after = left @ cov @ left.T + gain @ noise @ gain.T
    root = linalg.cholesky(innovation, lower=True)
    z = linalg.solve_triangular(root, rest, lower=True)
    return gain @ rest, after, np.log(np.diag(root)).sum(), z @ z


def condition_exactly(cov, design, rest, noise):
    """As `condition`, with forty digits, for columns that differ much in size or hardly at all."""
    cov, design, noise = (mpmath.matrix(m.tolist()) for m in (cov, design, noise))
    rest = mpmath.matrix([float(r) for r in rest])
    innovation = design * cov * design.T + noise
    gain = cov * design.T * mpmath.inverse(innovation)
    after = cov - gain * design * cov
    root = mpmath.cholesky(innovation)
    log_root = sum(mpmath.log(root[i, i]) for i in range(root.rows))
    square = (rest.T * mpmath.cholesky_solve(innovation, rest))[0]
    width = cov.rows
    shift = np.array([float(v) for v in gain * rest])
    return shift, np.array(after.tolist(), dtype=float).reshape(width, width), log_root, square


def gaussian(shapes, mean, cov, log_evidence=None, shift=0.0):
    """Return a jointly normal block of several variables, stacked in the order of `shapes`.

    Its mean is `mean` + `shift`: apart they keep digits that their sum may not have.
    """
    root = linalg.cholesky(np.atleast_2d(cov), lower=True)
    means, sds = _split(mean + shift, shapes), _split(np.sqrt(np.diag(cov)), shapes)
    return Reference(
        dict.fromkeys(shapes, "Normal"),
        {name: {"mean": means[name], "sd": sds[name]} for name in shapes},
        lambda point: _log_normal(_flat(point, shapes) - mean - shift, cov),
        lambda rng: _split(mean + (shift + root @ rng.normal(size=len(mean))), shapes),
        None if log_evidence is None else float(log_evidence),
        means,
        {name: sd**2 for name, sd in sds.items()},
    )


def linear(shapes, prior, design, y, noise, base=0.0, update=condition):
    """Update a normal prior of a block by y = design block + normal noise.

    Parameters
    ----------
    shapes : dict
        Shape by variable, in the order of the columns of `design`.
    prior : pair of ndarray
        Mean of shape (D,) and covariance of shape (D, D).
    design : ndarray of shape (n, D)
        Linear map.
    y : ndarray of shape (n,)
        Observations.
    noise : float or ndarray of shape (n,) or (n, n)
        Variance, variances or covariance.
    base : float, default 0
        Added to the log evidence.
    update : callable, default `condition`
        Or `condition_exactly`.
    """
    mean, cov = np.asarray(prior[0], dtype=float), np.asarray(prior[1], dtype=float)
    shift, after, log_root, square = update(
        cov, design, y - design @ mean, _covariance(noise, len(y))
    )
    evidence = base - len(y) / 2 * LOG_2PI - log_root - square / 2
    return gaussian(shapes, mean, after, evidence, shift)


def _covariance(noise, size):
    noise = np.asarray(noise, dtype=float)
    return noise if noise.ndim == 2 else np.diag(np.broadcast_to(noise, size))


def flat_linear(shapes, design, y, noise):
    """As `linear` under a flat prior: generalised least squares, and no evidence."""
    root = linalg.cholesky(_covariance(noise, len(y)), lower=True)
    q, r = linalg.qr(linalg.solve_triangular(root, design, lower=True), mode="economic")
    half = linalg.solve_triangular(r, np.eye(design.shape[1]))
    mean = half @ (q.T @ linalg.solve_triangular(root, y, lower=True))
    return gaussian(shapes, mean, half @ half.T)


# --- normal blocks with an unknown scale ----------------------------------------------------------

# By the family of the scale's variable: its value from the variance, and back, and log Jacobian
# d variance / d value.
SCALES = {
    "InverseGamma": (lambda v: v, lambda v: v, lambda v: 0 * v),
    "Gamma": (lambda v: 1 / v, lambda t: 1 / t, lambda t: -2 * np.log(t)),
    "SquareInverseGamma": (np.sqrt, np.square, lambda s: np.log(2 * s)),
}


def normal_inverse_gamma(
    shapes, mean, unit, scale, shape, rate, kind="InverseGamma", shift=0.0, **more
):
    """Block w | v ~ Normal(mean, v * unit), v ~ InverseGamma(shape, rate).

    Parameters
    ----------
    shapes : dict
        Shape by variable of the block.
    mean, unit : ndarray of shape (D,), (D, D)
        Posterior location, and covariance in units of the variance v.
    scale : str
        Name of the variable of the scale.
    shape, rate : float
        Of v.
    kind : {"InverseGamma", "Gamma", "SquareInverseGamma"}
        Whether that variable is the variance, the precision, or the standard deviation.
    shift : ndarray of shape (D,)
        Part of the location, as in `gaussian`.
    **more
        log_evidence.
    """
    to_value, to_variance, log_jacobian = SCALES[kind]
    root = linalg.cholesky(unit, lower=True)
    law = stats.invgamma(shape, scale=rate)
    means = _split(mean + shift, shapes)
    widths = _split(np.sqrt(rate / shape * np.diag(unit)), shapes)

    def log_density(point):
        value = point[scale]
        variance = to_variance(value)
        given = _log_normal(_flat(point, shapes) - mean - shift, variance * unit)
        return float(given + law.logpdf(variance) + log_jacobian(value))

    def draw(rng):
        variance = law.rvs(random_state=rng)
        w = mean + (shift + np.sqrt(variance) * (root @ rng.normal(size=len(mean))))
        return {**_split(w, shapes), scale: to_value(np.asarray(variance))}

    second = "rate" if kind == "Gamma" else "scale"
    df = 2 * shape
    of_scale = {scale: rate / (shape - 1)} if kind == "InverseGamma" and shape > 1 else {}
    return Reference(
        {**dict.fromkeys(shapes, "StudentT"), scale: kind},
        {
            **{
                name: {"df": np.full(shapes[name], df), "mean": means[name], "scale": widths[name]}
                for name in shapes
            },
            scale: {"shape": np.asarray(shape), second: np.asarray(rate)},
        },
        log_density,
        draw,
        mean=(means if df > 1 else {}) | of_scale,
        var={name: df / (df - 2) * w**2 for name, w in widths.items()} if df > 2 else {},
        **more,
    )


def linear_unknown_scale(
    shapes, prior, design, y, noise, scale, ab, kind="InverseGamma", base=0.0, update=condition
):
    """As `linear`, all covariances in units of v ~ InverseGamma(*ab), or 1 / v ~ Gamma(*ab)."""
    mean, cov = np.asarray(prior[0], dtype=float), np.asarray(prior[1], dtype=float)
    shift, unit, log_root, square = update(
        cov, design, y - design @ mean, _covariance(noise, len(y))
    )
    a, b = ab
    n, square = len(y), float(square)
    shape, rate = a + n / 2, b + square / 2
    # The multivariate Student-t density of y with 2 a degrees of freedom.
    evidence = (
        log_gamma(shape)
        - log_gamma(a)
        - n / 2 * np.log(2 * np.pi * b)
        - log_root
        - shape * np.log1p(square / (2 * b))
    )
    more = {"shift": shift, "log_evidence": float(evidence + base)}
    return normal_inverse_gamma(shapes, mean, unit, scale, shape, rate, kind, **more)


def flat_linear_unknown_scale(shapes, design, y, noise, scale, power, kind="InverseGamma"):
    """As `linear_unknown_scale` with flat w and density v^-power of the variance: no evidence."""
    root = linalg.cholesky(_covariance(noise, len(y)), lower=True)
    q, r = linalg.qr(linalg.solve_triangular(root, design, lower=True), mode="economic")
    half = linalg.solve_triangular(r, np.eye(design.shape[1]))
    white = linalg.solve_triangular(root, y, lower=True)
    mean = half @ (q.T @ white)
    left = white - q @ (q.T @ white)
    shape = (len(y) - design.shape[1]) / 2 + power - 1
    return normal_inverse_gamma(shapes, mean, half @ half.T, scale, shape, left @ left / 2, kind)


# --- normal vectors with an unknown covariance ----------------------------------------------------


def normal_wishart(names, prior, rows, kind="Wishart"):
    """Vectors with mean mu ~ Normal(m, Sigma / kappa) and Sigma ~ InverseWishart(df, psi).

    Parameters
    ----------
    names : pair of str
        Of the mean (None: it is known to be m) and of the matrix.
    prior : tuple
        m, kappa, df, psi. The precision is Wishart(df, psi^-1).
    rows : ndarray of shape (n, D)
        Data.
    kind : {"Wishart", "InverseWishart"}
        Whether the matrix is the precision or the covariance.
    """
    mu, matrix = names
    m, kappa, df, psi = prior
    n, width = rows.shape
    centre = rows.mean(0)
    scatter = (rows - centre).T @ (rows - centre)
    if mu is None:
        psi_n = psi + (rows - m).T @ (rows - m)
        ratio = 0.0
    else:
        psi_n = psi + scatter + kappa * n / (kappa + n) * np.outer(centre - m, centre - m)
        ratio = width / 2 * np.log(kappa / (kappa + n))
    df_n = df + n
    evidence = (
        -n * width / 2 * np.log(np.pi)
        + special.multigammaln(df_n / 2, width)
        - special.multigammaln(df / 2, width)
        + df / 2 * np.linalg.slogdet(psi)[1]
        - df_n / 2 * np.linalg.slogdet(psi_n)[1]
        + ratio
    )
    covariances = stats.invwishart(df_n, psi_n)
    precisions = stats.wishart(df_n, np.linalg.inv(psi_n))
    kappa_n, m_n = kappa + n, (kappa * m + n * centre) / (kappa + n)
    is_precision = kind == "Wishart"

    def log_density(point):
        value = point[matrix]
        cov = np.linalg.inv(value) if is_precision else value
        total = (precisions if is_precision else covariances).logpdf(value)
        return float(total + (0 if mu is None else _log_normal(point[mu] - m_n, cov / kappa_n)))

    def draw(rng):
        value = (precisions if is_precision else covariances).rvs(random_state=rng)
        cov = np.linalg.inv(value) if is_precision else value
        return {matrix: value} | ({} if mu is None else {mu: _normal(rng, m_n, cov / kappa_n)})

    df_t = df_n - width + 1
    student = {
        "df": np.full(width, df_t),
        "mean": m_n,
        "scale": np.sqrt(np.diag(psi_n) / (kappa_n * df_t)),
    }
    own = {
        "df": np.full((width, width), float(df_n)),
        "scale": np.linalg.inv(psi_n) if is_precision else psi_n,
    }
    return Reference(
        {matrix: kind} | ({} if mu is None else {mu: "StudentT"}),
        {matrix: own} | ({} if mu is None else {mu: student}),
        log_density,
        draw,
        float(evidence),
        {matrix: df_n * own["scale"] if is_precision else psi_n / (df_n - width - 1)}
        | ({} if mu is None else {mu: m_n}),
    )


def _normal(rng, mean, cov):
    return mean + linalg.cholesky(cov, lower=True) @ rng.normal(size=len(mean))


# --- finite discrete variables --------------------------------------------------------------------


def finite(levels, terms, given=None, shapes=None):
    """Discrete variables by enumeration, with a continuous part under each of their states.

    Parameters
    ----------
    levels : dict
        All values that each discrete variable may have, in increasing order.
    terms : list of (dict, float)
        States, as arrays by variable, with the log of prior times likelihood of the discrete part.
    given : list of Reference, optional
        One for each term: the continuous variables given that state, with their evidence.
    shapes : dict, optional
        Shape by discrete variable; scalars if it is not there.
    """
    shapes = dict.fromkeys(levels, ()) | (shapes or {})
    logs = np.array([log for _, log in terms])
    if given is not None:
        logs = logs + [reference.log_evidence for reference in given]
    log_evidence = special.logsumexp(logs)
    weights = np.exp(logs - log_evidence)
    keys = [_key(state, levels) for state, _ in terms]
    place = {key: number for number, key in enumerate(keys)}
    probability = {
        name: sum(
            w * (np.asarray(state[name])[..., None] == np.asarray(values))
            for w, (state, _) in zip(weights, terms, strict=True)
        )
        for name, values in levels.items()
    }

    def log_density(point):
        number = place.get(_key(point, levels))
        if number is None or not np.isfinite(logs[number]):
            return -np.inf
        rest = 0.0 if given is None else given[number].log_density(point)
        return float(logs[number] - log_evidence + rest)

    def draw(rng):
        number = rng.choice(len(terms), p=weights / weights.sum())
        state = {name: np.asarray(terms[number][0][name]).reshape(shapes[name]) for name in levels}
        return state | ({} if given is None else given[number].draw(rng))

    continuous = {} if given is None else given[0].families
    mean, var = _mixed_moments(weights, given) if given else ({}, {})
    return Reference(
        dict.fromkeys(levels, "Categorical") | dict.fromkeys(continuous, "Mixture"),
        {name: {"probability": np.asarray(p, dtype=float)} for name, p in probability.items()}
        | {name: {} for name in continuous},
        log_density,
        draw,
        float(log_evidence),
        mean,
        var,
    )


def _key(state, levels):
    return tuple(int(v) for name in levels for v in np.ravel(state[name]))


def _mixed_moments(weights, given):
    """Return means and variances of a mixture from those of its components."""
    mean, var = {}, {}
    for name in given[0].mean:
        means = np.array([reference.mean[name] for reference in given])
        mean[name] = np.tensordot(weights, means, 1)
        if all(name in reference.var for reference in given):
            within = np.array([reference.var[name] for reference in given])
            var[name] = np.tensordot(weights, within + (means - mean[name]) ** 2, 1)
    return mean, var
