"""Counts up to 1e15, and pseudo-counts from next to nothing to 1e12."""

from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import numpy as np

import bayesmodels as bm
from tests.hard import exactly
from tests.hard.case import Case, Refusal

COINS = {
    "1e15 trials": ((2, 2), (5 * 10**14 + 1, 10**15)),
    "1e15 trials, no success": ((1, 1), (0, 10**15)),
    "1e15 trials, all successes": ((0.5, 0.5), (10**15, 10**15)),
    "1e9 trials under 1e12 pseudo-counts": ((1e12, 1e12), (5 * 10**8 + 123, 10**9)),
    "10 trials under 1e12 pseudo-counts": ((1e12, 3e11), (3, 10)),
    "1e15 trials under 1e-8 pseudo-counts": ((1e-8, 1e-8), (1, 10**15)),
    "pseudo-counts of 1e-8 and 1e12": ((1e-8, 1e12), (2, 7)),
    "pseudo-counts of 1e12 and 1e-8": ((1e12, 1e-8), (2, 7)),
    "one success under 1e-300 pseudo-counts": ((1e-300, 1e-300), (1, 2)),
    "a subnormal pseudo-count": ((5e-324, 1.0), (1, 3)),
}

TABLES = {
    "1e15 draws": ([1, 0.5, 2, 4], [10**15 - 3, 1, 0, 2]),
    "1e9 draws under 1e12 pseudo-counts": ([1e12, 1e12, 5e11], [4 * 10**8, 3 * 10**8, 3 * 10**8]),
    "pseudo-counts from 1e-8 to 1e12": ([1e-8, 1e12, 1e-8, 1], [3, 2, 0, 1]),
    "1e15 draws under 1e-8 pseudo-counts": ([1e-8] * 3, [10**15, 0, 1]),
}


def coins():
    for hard, ((a, b), (k, n)) in COINS.items():
        prior, data = bm.BetaBernoulli(a, b), bm.BinomialCounts(k, n)
        after = [Fraction(a) + k, Fraction(b) + n - k]
        case = partial(Case, "counts", hard, "Beta–Bernoulli")
        yield case(
            "log evidence",
            partial(prior.log_evidence, data),
            partial(exactly.log_mass, [k, n - k], [a, b]),
            1e-10,
            absolute=True,
        )
        yield case(
            "predictive log mass",
            partial(prior.predictive(n).logpmf, k),
            partial(exactly.log_mass, [k, n - k], [a, b]),
            1e-10,
            absolute=True,
        )
        yield case(
            "posterior mean and sd",
            partial(mean_and_sd, prior, data),
            partial(of_dirichlet, after, 1),
            1e-12,
        )


def mean_and_sd(prior, data):
    after = prior.update(data)
    (law,) = after.marginals().values()
    return [after.mean(), law.std()]


def of_dirichlet(alpha, places):
    found = exactly.dirichlet(alpha)
    size = len(found) // 2
    return [found[:places], found[size : size + places]]


def tables():
    for hard, (alpha, counts) in TABLES.items():
        prior, data = bm.DirichletCategorical(alpha), bm.MultinomialCounts(counts)
        after = [Fraction(a) + n for a, n in zip(alpha, counts, strict=True)]
        case = partial(Case, "counts", hard, "Dirichlet–categorical")
        yield case(
            "log evidence",
            partial(prior.log_evidence, data),
            partial(exactly.log_mass, counts, alpha),
            1e-10,
            absolute=True,
        )
        yield case(
            "predictive log mass",
            partial(prior.predictive(sum(counts)).logpmf, counts),
            partial(exactly.log_mass, counts, alpha),
            1e-10,
            absolute=True,
        )
        yield case(
            "posterior mean and sd",
            partial(mean_and_sd, prior, data),
            partial(of_dirichlet, after, len(after)),
            1e-12,
        )


GRID = (1e-8, 1e-3, 1, 1e6, 1e12)


def grid():
    """Every pair of pseudo-counts, each with few, many and unequal trials."""
    for a, b in product(GRID, GRID):
        pairs = [(0, 1), (3, 7), (10**9, 2 * 10**9), (10**15 - 1, 10**15)]
        yield Case(
            "counts",
            f"1 to 1e15 trials under pseudo-counts of {a:g} and {b:g}",
            "Beta–Bernoulli",
            "log evidence",
            partial(evidences, a, b, pairs),
            partial(exact_evidences, a, b, pairs),
            1e-10,
            absolute=True,
        )


def evidences(a, b, pairs):
    prior = bm.BetaBernoulli(a, b)
    return [prior.log_evidence(bm.BinomialCounts(k, n)) for k, n in pairs]


def exact_evidences(a, b, pairs):
    return [exactly.log_mass([k, n - k], [a, b]) for k, n in pairs]


# --- draws: finite, inside, adding up -------------------------------------------------------------


def sums_of_draws(belief):
    """Return sums of the simplex's points, and 1 where all of them are inside."""
    (theta,) = belief.sample(1000, np.random.default_rng(1)).values()
    inside = np.isfinite(theta).all() and (theta >= 0).all() and (theta <= 1).all()
    return [theta.sum(-1), float(inside)]


def totals_of_draws(belief):
    counts = belief.predictive(100).rvs(200, np.random.default_rng(1))
    return [counts.sum(-1), float((counts >= 0).all())]


def draws_inside(belief):
    theta = belief.sample(1000, np.random.default_rng(1))["theta"]
    return float(np.isfinite(theta).all() and (theta >= 0).all() and (theta <= 1).all())


def corners(belief):
    """Return how often each corner is drawn, beyond chance: 0 if as often as it should be."""
    (theta,) = belief.sample(4000, np.random.default_rng(1)).values()
    p = belief.alpha / belief.alpha.sum()
    z = (theta.mean(0) - p) / np.sqrt(p * (1 - p) / 4000)
    return (np.abs(z) < 5).astype(float)


def draws():
    for alpha in (1e-8, 1e-10, 1e-300, 1e-310, 5e-324, 1e12):
        belief = bm.DirichletCategorical([alpha, alpha, 2 * alpha])
        case = partial(Case, "counts", f"draws under pseudo-counts of {alpha:g}")
        yield case(
            "Dirichlet–categorical",
            "finite, add up to 1",
            partial(sums_of_draws, belief),
            lambda: [np.ones(1000), 1.0],
            1e-15,
        )
        yield case(
            "Dirichlet–multinomial",
            "add up to the trials",
            partial(totals_of_draws, belief),
            lambda: [np.full(200, 100), 1.0],
        )
        yield case(
            "Beta–Bernoulli",
            "finite, from 0 to 1",
            partial(draws_inside, bm.BetaBernoulli(alpha, alpha)),
            lambda: 1.0,
        )
        yield case(
            "Dirichlet–categorical",
            "each corner as often as its mean",
            partial(corners, belief),
            lambda: np.ones(3),
        )
    uneven = bm.DirichletCategorical([1e-310, 1e12, 1])
    yield Case(
        "counts",
        "draws under pseudo-counts of 1e-310 and 1e12",
        "Dirichlet–categorical",
        "finite, add up to 1",
        partial(sums_of_draws, uneven),
        lambda: [np.ones(1000), 1.0],
        1e-15,
    )


def naive():
    """Give a classifier the statistic of more rows than there can be."""
    classes = bm.DirichletCategorical([1, 1])
    prior = bm.NaiveBayes(classes, bm.BetaBernoulli(1, 1))
    counts, ones = [10**15, 3], [[4 * 10**14], [1]]
    zeros = [[6 * 10**14], [2]]
    statistic = prior.statistic((np.zeros((0, 1)), np.zeros(0, int)))
    statistic = type(statistic)(
        bm.statistics.CategoricalStatistic(counts),
        {"": bm.statistics.BernoulliStatistic(ones, zeros, coords=statistic.features[""].coords)},
    )

    def exact():
        parts = [
            exactly.log_rows(counts, [1, 1]),
            *(
                exactly.log_rows([one, zero], [1, 1])
                for (one,), (zero,) in zip(ones, zeros, strict=True)
            ),
        ]
        return sum(parts)

    yield Case(
        "counts",
        "1e15 rows of one class, 3 of the other",
        "naive Bayes, bits",
        "log evidence",
        partial(prior.log_evidence, statistic),
        exact,
        1e-10,
        absolute=True,
    )


def many_trials():
    """Refuse what SciPy would add up term by term, in gigabytes and minutes."""
    law = bm.BetaBernoulli(2, 3).predictive(10**9)
    asked = {"cdf": 4 * 10**8, "sf": 4 * 10**8, "ppf": 0.5, "isf": 0.5}
    for verb, at in asked.items():
        yield Case(
            "counts",
            "probabilities of up to 4e8 of 1e9 trials",
            "Beta–Bernoulli",
            f"predictive {verb}",
            partial(getattr(law, verb), at),
            Refusal(bm.DataError, "cdf"),
        )
    yield Case(
        "counts",
        "probabilities of up to 2 of 1e9 trials",
        "Beta–Bernoulli",
        "predictive cdf",
        partial(law.cdf, 2),
        lambda: sum(mpmath.exp(exactly.log_mass([k, 10**9 - k], [2, 3])) for k in range(3)),
        1e-10,
    )


def beyond():
    """Compute moments of huge pseudo-counts, and refuse what float64 can't hold."""
    for alpha in (1e103, 1e149):
        belief = bm.BetaBernoulli(alpha, 3 * alpha)
        yield Case(
            "counts",
            f"pseudo-counts of {alpha:g}",
            "Beta–Bernoulli",
            "mean and sd",
            lambda belief=belief: [belief.mean(), belief.marginals()["theta"].std()],
            partial(of_dirichlet, [Fraction(alpha), Fraction(3 * alpha)], 1),
            1e-12,
        )
        three = bm.DirichletCategorical([alpha] * 3)
        yield Case(
            "counts",
            f"pseudo-counts of {alpha:g}",
            "Dirichlet–categorical",
            "mean and sd",
            lambda three=three: [three.mean(), three.marginals()["theta"].std()],
            partial(of_dirichlet, [Fraction(alpha)] * 3, 3),
            1e-12,
        )
    too_large = {
        ("Beta–Bernoulli", "alpha"): partial(bm.BetaBernoulli, 1e155, 1e155),
        ("Beta–Bernoulli", "beta"): partial(bm.BetaBernoulli, 1, 1e308),
        ("Dirichlet–categorical", "alpha"): partial(bm.DirichletCategorical, [1e308, 1e308]),
        ("normal–inverse-gamma", "mean"): partial(bm.NormalInverseGamma, 1e155, 1, 1, 1),
        ("normal–inverse-gamma", "kappa"): partial(bm.NormalInverseGamma, 0, 1e308, 1, 1),
        ("normal–inverse-gamma", "shape"): partial(bm.NormalInverseGamma, 0, 1, 1e155, 1),
        ("normal–inverse-gamma", "scale"): partial(bm.NormalInverseGamma, 0, 1, 1, 1e308),
        ("normal–inverse-Wishart", "df"): partial(
            bm.NormalInverseWishart, [0, 0], 1, 1e50, np.eye(2)
        ),
        ("normal–inverse-Wishart", "scale"): partial(
            bm.NormalInverseWishart, [0, 0], 1, 4, 1e308 * np.eye(2)
        ),
        ("linear regression", "mean"): partial(bm.LinearRegression, [1e155, 0], 1, 1, 1),
        ("linear regression", "scale"): partial(bm.LinearRegression, [0, 0], 1, 1, 1e308),
    }
    for (model, argument), make in too_large.items():
        refused = Refusal(bm.PriorError, f"{argument}: must not exceed")
        hard = f"{argument} beyond what float64 holds"
        yield Case("counts", hard, model, "making it", make, refused)
    coin, dice = bm.statistics.BernoulliStatistic(1, 2), bm.statistics.CategoricalStatistic([1, 2])
    line = bm.statistics.RegressionStatistic(1, [0, 0], np.eye(2))
    others = (
        dice,
        bm.statistics.NormalStatistic(2, 0, 1),
        line,
        bm.statistics.HypothesisStatistic([0, -1]),
        None,
        1,
    )
    unlike = [(coin, other) for other in others]
    unlike += [(other, coin) for other in others[:-2]]
    unlike += [(dice, bm.statistics.CategoricalStatistic([1, 2, 3]))]
    unlike += [(line, bm.statistics.RegressionStatistic(1, [0, 0, 0], np.eye(3)))]
    for number, (first, second) in enumerate(unlike):
        for verb in ("__add__", "__sub__"):
            kinds = f"{type(first).__name__} and {type(second).__name__}, {number}"
            refused = Refusal(bm.DataError, ": ")
            merge = partial(getattr(first, verb), second)
            yield Case("counts", f"statistics of two models: {kinds}", "", verb, merge, refused)
    many, one = 2**53 - 1, 1
    sums = {
        ("Beta–Bernoulli", "ones"): lambda n: bm.statistics.BernoulliStatistic(n, 0),
        ("Dirichlet–categorical", "counts"): lambda n: bm.statistics.CategoricalStatistic([0, n]),
        ("normal–inverse-gamma", "n"): lambda n: bm.statistics.NormalStatistic(n, 0, 1),
        ("normal–inverse-Wishart", "n"): lambda n: bm.statistics.MultivariateNormalStatistic(
            n, [0, 0], np.eye(2)
        ),
        ("linear regression", "n"): lambda n: bm.statistics.RegressionStatistic(
            n, [0, 0], np.eye(2)
        ),
    }
    for (model, argument), make in sums.items():
        yield Case(
            "counts",
            "2**53 - 1 rows and one more",
            model,
            "merging statistics",
            lambda make=make: make(many) + make(one),
            Refusal(bm.DataError, f"{argument}: must be below 2**53"),
        )


def cases():
    yield from beyond()
    yield from many_trials()
    yield from coins()
    yield from tables()
    yield from grid()
    yield from draws()
    yield from naive()
