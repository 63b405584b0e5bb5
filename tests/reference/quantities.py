"""The grid: what is asked of every family, at which inputs, and how `bayesmodels` answers.

Inputs are doubles, or lists of them; the reference is evaluated at these very doubles.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import bayesmodels as bm
from tests.reference import exact_values as exact


@dataclass(frozen=True)
class Quantity:
    """One function of a family, with the two ways to evaluate it.

    Attributes
    ----------
    family, name : str
        Shown in the table.
    kind : "log", "moment" or "quantile"
        What is asked of its error.
    inputs : list of lists
        Arguments of both functions.
    ours, exact : callable
        Of these arguments, as floats and as mpmath's numbers.
    options : dict
        Keywords of `exact`.
    """

    family: str
    kind: str
    name: str
    inputs: list[list[Any]]
    ours: Callable[..., Any]
    exact: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self):
        return f"{self.family}, {self.name}"


def judged(family):
    """Return what makes quantities of a family: log densities, moments and quantiles."""
    return [partial(Quantity, family, kind) for kind in ("log", "moment", "quantile")]


def some(number, *axes, keep=lambda *_: True):
    """Return so many points of a product of axes, always the same ones."""
    points = [list(point) for point in product(*axes) if keep(*point)]
    return random.Random(1).sample(points, min(number, len(points)))  # noqa: S311 - a choice of cases


def vectors(seed, number, size, low, high, *, whole=False):
    """Return vectors with each order of magnitude as likely as any other."""
    rng = np.random.default_rng(seed)
    values = 10.0 ** rng.uniform(np.log10(low), np.log10(high), (number, size))
    if whole:
        values = np.floor(values)
        values[rng.uniform(size=values.shape) < 0.25] = 0
    return values.tolist()


CONCENTRATIONS = [1e-8, 1e-3, 0.5, 1.0, 3.0, 1e4, 1e12]
COUNTS = [0.0, 1.0, 7.0, 1e6, 1e9 + 1, 1e15]
TAILS = [1e-12, 1e-6, 0.01, 0.3, 0.5]
SHAPES = [0.01, 0.5, 1.0, 3.0, 50.0, 1e4, 1e8, 1e12]
SIZES = [1e-150, 1e-8, 1.0, 1e8, 1e150]

# --- Beta-Bernoulli -------------------------------------------------------------------------------


def _beta(alpha, beta):
    return bm.BetaBernoulli(alpha, beta)


def _theta(belief, verb, p):
    return np.ravel(getattr(belief.marginals()["theta"], verb)(p))[0]


def _representable(alpha, beta, p):
    """Lower quantiles that underflow, and upper ones whose distance from 1 rounds away, are out."""
    return -np.log10(p) / min(alpha, beta, 1) < 290


PROBABILITIES = [
    *some(80, CONCENTRATIONS, CONCENTRATIONS, [1e-300, 1e-12, 0.25, 0.5, 0.75, 1 - 1e-12]),
    [1e12, 1e12, 0.5 + 1e-6],
    [1e12, 3e12, 0.25 - 1e-6],
    [1e12, 1e4, 1 - 1e-8],
]

log, moment, quantile = judged("Beta–Bernoulli")
BETA = [
    log(
        "evidence of rows",
        some(80, CONCENTRATIONS, CONCENTRATIONS, COUNTS, COUNTS),
        lambda a, b, n1, n0: _beta(a, b).log_evidence(bm.statistics.BernoulliStatistic(n1, n0)),
        lambda a, b, n1, n0: exact.dirichlet_evidence([a, b], [n1, n0]),
    ),
    log(
        "evidence of counts",
        some(50, CONCENTRATIONS, CONCENTRATIONS, COUNTS, COUNTS),
        lambda a, b, n1, n0: _beta(a, b).log_evidence(bm.BinomialCounts(n1, n1 + n0)),
        lambda a, b, n1, n0: exact.dirichlet_mass([a, b], [n1, n0]),
    ),
    log(
        "log density",
        PROBABILITIES,
        lambda a, b, t: _beta(a, b).log_density({"theta": t}),
        exact.beta_density,
    ),
    log(
        "marginal log density",
        PROBABILITIES,
        lambda a, b, t: _theta(_beta(a, b), "logpdf", t),
        exact.beta_density,
    ),
    log(
        "predictive log mass",
        [
            *some(80, CONCENTRATIONS, CONCENTRATIONS, COUNTS, COUNTS),
            [1e12, 1e12, 5e8, 5e8],
            [1e12, 1e12, 1e9, 0.0],
        ],
        lambda a, b, n1, n0: _beta(a, b).predictive(int(n1 + n0)).logpmf(n1),
        lambda a, b, n1, n0: exact.dirichlet_mass([a, b], [n1, n0]),
    ),
    moment(
        "mean",
        some(30, CONCENTRATIONS, CONCENTRATIONS),
        lambda a, b: _beta(a, b).mean()["theta"],
        exact.beta_mean,
    ),
    moment(
        "sd",
        some(30, CONCENTRATIONS, CONCENTRATIONS),
        lambda a, b: np.sqrt(_beta(a, b).var()["theta"]),
        exact.beta_sd,
    ),
    quantile(
        "lower quantile",
        some(40, SHAPES, SHAPES, TAILS, keep=_representable),
        lambda a, b, p: _theta(_beta(a, b), "ppf", p),
        exact.beta_quantile,
        {"upper": False},
    ),
    quantile(
        "upper quantile",
        some(40, SHAPES, SHAPES, TAILS, keep=_representable),
        lambda a, b, p: _theta(_beta(a, b), "isf", p),
        exact.beta_quantile,
        {"upper": True},
    ),
]

# --- Dirichlet-categorical ------------------------------------------------------------------------

ALPHAS = [v for size in (2, 3, 6) for v in vectors(size, 15, size, 1e-8, 1e12)]
TABLES = [v for size in (2, 3, 6) for v in vectors(10 + size, 15, size, 1, 1e15, whole=True)]
POINTS = [v for size in (2, 3, 6) for v in vectors(20 + size, 15, size, 1e-12, 1)]
SIMPLEX = [(np.array(v) / np.sum(v)).tolist() for v in POINTS]


def _dirichlet(alpha):
    return bm.DirichletCategorical(alpha)


def _countable(table):
    return [min(n, float(2**50)) for n in table]


log, moment, _ = judged("Dirichlet–categorical")
DIRICHLET = [
    log(
        "evidence of rows",
        [[a, n] for a, n in zip(ALPHAS, TABLES, strict=True)],
        lambda a, n: _dirichlet(a).log_evidence(bm.statistics.CategoricalStatistic(n)),
        exact.dirichlet_evidence,
    ),
    log(
        "evidence of counts",
        [[a, _countable(n)] for a, n in zip(ALPHAS, TABLES, strict=True)],
        lambda a, n: _dirichlet(a).log_evidence(bm.MultinomialCounts([n])),
        exact.dirichlet_mass,
    ),
    log(
        "log density",
        [[a, t] for a, t in zip(ALPHAS, SIMPLEX, strict=True)],
        lambda a, t: _dirichlet(a).log_density({"theta": np.array(t)}),
        exact.dirichlet_density,
    ),
    log(
        "predictive log mass",
        [[a, _countable(n)] for a, n in zip(ALPHAS, TABLES, strict=True)],
        lambda a, n: _dirichlet(a).predictive(int(sum(n))).logpmf(n),
        exact.dirichlet_mass,
    ),
    moment(
        "mean",
        [[a] for a in ALPHAS],
        lambda a: _dirichlet(a).mean()["theta"][0],
        lambda a: exact.beta_mean(a[0], sum(a[1:])),
    ),
    moment(
        "sd",
        [[a] for a in ALPHAS],
        lambda a: np.sqrt(_dirichlet(a).var()["theta"][0]),
        lambda a: exact.beta_sd(a[0], sum(a[1:])),
    ),
]

# --- normal rows ----------------------------------------------------------------------------------

LOCATIONS = [0.0, -1e150, 1e-150, 3.0, 1e8, 1e12]
WEIGHTS = [1e-8, 0.5, 3.0, 1e12]
AWAY = [0.0, 1e-150, 0.1, -7.0, 1e8 + 3, 1e140]


def _nig(m, kappa, a, b):
    return bm.NormalInverseGamma(m, kappa, a, b)


def _law(belief, name, verb, *arguments):
    return np.ravel(getattr(belief.marginals()[name], verb)(*arguments))[0]


def _finite(a, b, p):
    return np.log10(b) - np.log10(p) / min(a, 1) < 290


OFFSET_ROWS = [
    [scale * x + offset for x in (0.1, -0.7, 2.3, 1.1)][:n]
    for scale, offset, n in product([1e-3, 1.0, 1e6], [0.0, 1e8, 1e12], [1, 2, 4])
] + [[s * x for x in (0.3, -1.0, 0.8)] for s in (1e-150, 1e-20, 1e140)]

log, moment, quantile = judged("normal–inverse-gamma")
NIG = [
    log(
        "evidence of a statistic",
        some(
            60,
            [0.0, 3.0, 1e8],
            WEIGHTS,
            [1e-8, 0.5, 3.0, 1e4, 1e12],
            SIZES,
            [0.0, 1.0, 7.0, 1e6, 1e15],
            [0.0, 3.5, 1e8],
            [0.0, 1e-8, 2.0, 1e12, 1e150],
        ),
        lambda m, k, a, b, n, x, s: _nig(m, k, a, b).log_evidence(
            bm.statistics.NormalStatistic(n, x, s)
        ),
        exact.nig_evidence,
    ),
    log(
        "evidence of rows",
        some(50, [0.0, 1e8], WEIGHTS, [1e-8, 0.5, 3.0, 1e4], SIZES, OFFSET_ROWS),
        lambda m, k, a, b, x: _nig(m, k, a, b).log_evidence(x),
        exact.nig_evidence_of_rows,
    ),
    log(
        "log density",
        [
            *some(80, [0.0, 3.0, 1e8], WEIGHTS, SHAPES, SIZES, [0.0, 2.5, 1e8 + 3], SIZES),
            [0.0, 1.0, 1e12, 1e12, 1e-6, 1 + 1e-6],
            [0.0, 1e12, 1e8, 1e8, 1e-6, 1 - 1e-4],
        ],
        lambda m, k, a, b, mu, v: _nig(m, k, a, b).log_density({"mu": mu, "sigma2": v}),
        exact.nig_density,
    ),
    log(
        "predictive log density",
        some(100, LOCATIONS, WEIGHTS, [1e-8, *SHAPES], SIZES, AWAY),
        lambda m, k, a, b, x: _nig(m, k, a, b).predictive().logpdf(x),
        exact.nig_predictive,
    ),
    log(
        "log_predictive",
        some(100, LOCATIONS, WEIGHTS, [1e-8, *SHAPES], SIZES, AWAY),
        lambda m, k, a, b, x: _nig([m], [k], [a], [b]).log_predictive(np.array([x]))[0, 0],
        exact.nig_predictive,
    ),
    log(
        "log density of sigma2",
        [*some(60, SHAPES, SIZES, SIZES), [1e12, 1e12, 1 + 1e-6], [1e8, 1e8, 1 - 1e-4]],
        lambda a, b, v: _law(_nig(0, 1, a, b), "sigma2", "logpdf", v),
        exact.inverse_gamma_density,
    ),
    moment(
        "mean of sigma2",
        some(20, [1 + 1e-8, 1.5, 3.0, 1e4, 1e12], SIZES),
        lambda a, b: _nig(0, 1, a, b).mean()["sigma2"],
        lambda a, b: b / (a - 1),
    ),
    moment(
        "sd of sigma2",
        some(25, [2 + 1e-8, 2.5, 3.0, 1e4, 1e12], SIZES),
        lambda a, b: _nig(0, 1, a, b).marginals()["sigma2"].std(),
        lambda a, b: b / ((a - 1) * exact.mp.sqrt(a - 2)),
    ),
    moment(
        "sd of mu",
        some(30, WEIGHTS, [1 + 1e-8, 1.5, 3.0, 1e4, 1e12], SIZES),
        lambda k, a, b: _nig(0, k, a, b).marginals()["mu"].std(),
        lambda k, a, b: exact.mp.sqrt(b / (k * (a - 1))),
    ),
    quantile(
        "upper quantile of mu",
        some(40, SHAPES, TAILS, keep=lambda a, p: -np.log10(p) / a < 280),
        lambda a, p: _law(_nig(0, 1, a, a), "mu", "isf", p),
        lambda a, p: exact.student_quantile(2 * a, p),
    ),
    quantile(
        "lower quantile of sigma2",
        some(40, SHAPES, SIZES, TAILS, keep=_finite),
        lambda a, b, p: _law(_nig(0, 1, a, b), "sigma2", "ppf", p),
        exact.inverse_gamma_quantile,
        {"upper": False},
    ),
    quantile(
        "upper quantile of sigma2",
        some(40, SHAPES, [1e-150, 1e-8, 1.0, 1e8], TAILS, keep=_finite),
        lambda a, b, p: _law(_nig(0, 1, a, b), "sigma2", "isf", p),
        exact.inverse_gamma_quantile,
        {"upper": True},
    ),
]

# --- vectors --------------------------------------------------------------------------------------


def _vectors_cases():
    """Priors with scale matrices of several sizes and correlations, and rows with offsets."""
    rng = np.random.default_rng(7)
    for width, kappa, extra, size, offset in some(
        45, [1, 2, 3], WEIGHTS, [0.01, 1.0, 7.5, 1e12], [1e-150, 1e-8, 1.0, 1e8, 1e140], [0, 1e6]
    ):
        root = np.tril(rng.normal(size=(width, width))) + 2 * np.eye(width)
        scale = root @ root.T * size
        unit = np.sqrt(size)
        rows = (rng.normal(size=(5, width)) + offset) * unit
        centre = (rng.normal(size=width) + offset) * unit
        df = width - 1 + extra
        yield [centre.tolist(), kappa, df, ((scale + scale.T) / 2).tolist()], rows.tolist()


VECTORS = list(_vectors_cases())


def _niw(m, kappa, df, scale):
    return bm.NormalInverseWishart(m, kappa, df, scale)


def _niw_of_many(m, kappa, df, scale):
    return bm.NormalInverseWishart([m], [kappa], [df], [scale])


def _near(prior, rows):
    """Return mu and Sigma at which to ask for the density."""
    spread = np.array(prior[3]) / (prior[2] + len(prior[0]) + 1)
    bent = spread * 1.25 + 0.5 * np.diag(np.diagonal(spread))
    return [*prior, rows[0], ((bent + bent.T) / 2).tolist()]


log, moment, quantile = judged("normal–inverse-Wishart")
NIW = [
    log(
        "evidence of rows",
        [[*prior, rows] for prior, rows in VECTORS],
        lambda m, k, v, s, rows: _niw(m, k, v, s).log_evidence(np.array(rows)),
        exact.niw_evidence,
    ),
    log(
        "log density",
        [_near(prior, rows) for prior, rows in VECTORS],
        lambda m, k, v, s, mu, sigma: _niw(m, k, v, s).log_density(
            {"mu": np.array(mu), "Sigma": np.array(sigma)}
        ),
        exact.niw_density,
    ),
    log(
        "predictive log density",
        [[*prior, rows[1]] for prior, rows in VECTORS],
        lambda m, k, v, s, x: _niw(m, k, v, s).predictive().logpdf(x),
        exact.niw_predictive,
    ),
    log(
        "log_predictive",
        [[*prior, rows[1]] for prior, rows in VECTORS],
        lambda m, k, v, s, x: _niw_of_many(m, k, v, s).log_predictive(np.array([x]))[0, 0],
        exact.niw_predictive,
    ),
    moment(
        "sd of an entry of Sigma",
        [
            [prior[2] + 3, prior[3], float(i), float(len(prior[0]) - 1)]
            for prior, _ in VECTORS
            for i in range(len(prior[0]))
            if prior[2] + 3 > len(prior[0]) + 3
        ],
        lambda v, s, i, j: _niw([0.0] * len(s), 1, v, s).marginals()["Sigma"].std()[int(i), int(j)],
        exact.niw_entry_sd,
    ),
    quantile(
        "upper quantile of mu",
        [
            [k, v, s, p]
            for ((_, k, v, s), _), p in zip(VECTORS, TAILS * 9, strict=True)
            if v - len(s) + 1 >= 1
        ],
        lambda k, v, s, p: _law(_niw([0.0] * len(s), k, v, s), "mu", "isf", p),
        lambda k, v, s, p: (
            exact.student_quantile(v - len(s) + 1, p)
            * exact.mp.sqrt(s[0][0] / (k * (v - len(s) + 1)))
        ),
    ),
]

# --- regression -----------------------------------------------------------------------------------


def _regression_cases():
    """Designs with columns of several sizes, intercepts and offsets, priors weak and strong."""
    rng = np.random.default_rng(8)
    for columns, size, offset, strength, a, b in some(
        45, [1, 2, 3], [1e-8, 1.0, 1e6], [0.0, 1e4], [1e-8, 1.0, 1e8], [0.5, 3.0, 1e6], [1e-8, 1.0]
    ):
        X = rng.normal(size=(6, columns)) * size + offset
        y = X @ rng.normal(size=columns) + size * rng.normal(size=6)
        m = rng.normal(size=columns)
        yield [m.tolist(), (strength * np.eye(columns)).tolist(), a, b], X.tolist(), y.tolist()


DESIGNS = list(_regression_cases())


def _regression(m, P, a, b):
    return bm.LinearRegression(m, np.array(P), a, b)


def _fitted(m, P, a, b, X, y):
    return _regression(m, P, a, b).update((np.array(X), np.array(y)))


log, moment, _ = judged("linear regression")
REGRESSION = [
    log(
        "evidence",
        [[*prior, X, y] for prior, X, y in DESIGNS],
        lambda m, P, a, b, X, y: _regression(m, P, a, b).log_evidence((np.array(X), np.array(y))),
        exact.regression_evidence,
    ),
    log(
        "log density of a prior",
        [[*prior, [w + 0.25 for w in prior[0]], prior[3] / prior[2]] for prior, _, _ in DESIGNS],
        lambda m, P, a, b, w, v: _regression(m, P, a, b).log_density(
            {"w": np.array(w), "sigma2": v}
        ),
        exact.regression_density,
    ),
    log(
        "predictive log density",
        [[*prior, X, y, X[0], y[0] + 0.5] for prior, X, y in DESIGNS],
        lambda m, P, a, b, X, y, row, at: _fitted(m, P, a, b, X, y).predictive([row]).logpdf(at)[0],
        exact.regression_predictive,
    ),
    moment(
        "mean of a coefficient",
        [[*prior, X, y, 0.0] for prior, X, y in DESIGNS],
        lambda m, P, a, b, X, y, j: _fitted(m, P, a, b, X, y).mean()["w"][int(j)],
        exact.regression_mean,
    ),
    moment(
        "sd of a coefficient",
        [[*prior, X, y, 0.0] for prior, X, y in DESIGNS],
        lambda m, P, a, b, X, y, j: _fitted(m, P, a, b, X, y).marginals()["w"].std()[int(j)],
        exact.regression_sd,
    ),
]

# --- compositions ---------------------------------------------------------------------------------


def _naive_bayes_cases():
    rng = np.random.default_rng(9)
    priors = some(30, [1e-8, 1.0, 1e12], [1e-8, 0.5, 1e12], WEIGHTS, [0.5, 1e4], [1e-8, 1e8])
    for (class_a, alpha, kappa, a, b), offset in zip(priors, [0.0, 1e8] * 15, strict=True):
        rows = [
            [float(bit), float(x) + offset]
            for bit, x in zip(rng.integers(0, 2, 6), rng.normal(size=6), strict=True)
        ]
        labels = rng.integers(0, 2, 6).astype(float).tolist()
        yield [[class_a, 2.0], [alpha, 1.0], [offset, kappa, a, b], rows, labels]


NAIVE_BAYES_CASES = list(_naive_bayes_cases())


def _naive_bayes(classes, alpha, nig):
    blocks = {"bit": bm.BetaBernoulli(*alpha), "number": bm.NormalInverseGamma(*nig)}
    return bm.NaiveBayes(bm.DirichletCategorical(classes), blocks)


def _frame(rows):
    import pandas as pd

    return pd.DataFrame(rows, columns=["bit", "number"])


def _joint(classes, alpha, nig, rows, labels, bit, number, c):
    after = _naive_bayes(classes, alpha, nig).update((_frame(rows), np.array(labels, dtype=int)))
    return after.log_joint(_frame([[bit, number]]))[0, int(c)]


log, *_ = judged("naive Bayes")
NAIVE_BAYES = [
    log(
        "evidence",
        NAIVE_BAYES_CASES,
        lambda c, a, g, rows, y: _naive_bayes(c, a, g).log_evidence(
            (_frame(rows), np.array(y, dtype=int))
        ),
        exact.naive_bayes_evidence,
    ),
    log(
        "log_joint",
        [
            [*case, float(i % 2), case[2][0] + 0.5, float(i // 2 % 2)]
            for i, case in enumerate(NAIVE_BAYES_CASES)
        ],
        _joint,
        exact.naive_bayes_joint,
    ),
]

CONCEPTS = [
    [prior, sizes, n]
    for prior in ([0.5, 0.25, 0.25], [1e-150, 1.0, 1e-12], [0.9, 0.1, 1e-300])
    for sizes in ([1.0, 2.0, 3.0], [10.0, 100.0, 1000.0], [999.0, 1000.0, 1.0])
    for n in (0.0, 1.0, 12.0, 2000.0)
]


def _concept(prior, sizes):
    hypotheses = {f"h{k}": range(int(size)) for k, size in enumerate(sizes)}
    names = list(hypotheses)
    return bm.ConceptLearning(hypotheses, dict(zip(names, prior, strict=True)))


log, *_ = judged("concept learning")
CONCEPT = [
    log(
        "evidence",
        CONCEPTS,
        lambda p, s, n: _concept(p, s).log_evidence([0] * int(n)),
        exact.concept_evidence,
    ),
    log(
        "log posterior mass",
        [[*case, float(h)] for case in CONCEPTS for h in range(3)],
        lambda p, s, n, h: _concept(p, s).update([0] * int(n)).log_density({"h": np.array(int(h))}),
        exact.concept_posterior,
    ),
]

QUANTITIES = [*BETA, *DIRICHLET, *NIG, *NIW, *REGRESSION, *NAIVE_BAYES, *CONCEPT]
