"""Mistakes that were found in five sets of notes, N0 to N4: printed form and right form.

docs/mistakes.md is made of this table.
"""

import math

import numpy as np
import pymc as pm
from scipy import stats

import bayesmodels as bm
from bayesmodels.models.classifiers.decision import boundary
from bayesmodels.models.classifiers.information import mutual_information
from tests.negative.material import COIN, ROWS, X, Y, bernoulli, coin, coin_in_pymc, line
from tests.negative.work import Slip, Work, hand_in, number

# --- E1, E8: naive Bayes with two features of 0 and 1 ---------------------------------------------

BITS = np.array([[1, 0], [0, 0], [0, 1], [1, 1], [1, 0], [1, 0], [0, 0]])
MAIL = ["spam", "spam", "ham", "ham", "spam", "spam", "ham"]
NAIVE = bm.NaiveBayes(bm.DirichletCategorical([1, 2], categories=["ham", "spam"]), COIN)
N_1 = np.array([BITS[[mail == kind for mail in MAIL]].sum(0) for kind in ("ham", "spam")])
N_0 = np.array([[3], [4]]) - N_1
PULL = float(COIN.beta - COIN.alpha)  # from the ones' pseudo-count to the zeros'


def in_classes(ones, zeros):
    """Hand in Beta(a, b) with what somebody adds to the prior's ones and zeros in each class."""
    right = NAIVE.update((BITS, MAIL))
    axes = {"class": ["ham", "spam"], "feature": [0, 1]}
    features = bm.BetaBernoulli(COIN.alpha + ones, COIN.beta + zeros, axes)
    return hand_in(NAIVE, (BITS, MAIL), posterior=bm.NaiveBayes(right.classes, features))


# --- E2: classes and a feature, counted -----------------------------------------------------------

N_C, ALPHA = np.array([4, 3, 5]), np.array([2, 3, 1.5])
CLASSES = bm.DirichletCategorical(ALPHA).update(bm.MultinomialCounts(N_C))
FEATURE = COIN.update(ROWS)

# --- E3: a likelihood of a regression with 6 rows and 2 weights -----------------------------------


def line_with_normaliser(log_normaliser):
    with pm.Model() as model:
        sigma2 = pm.InverseGamma("sigma2", 2.5, 1.5)
        w = pm.Normal("w", [1, -1], pm.math.sqrt(sigma2) / np.sqrt([2.0, 0.5]))
        square = ((Y - (X * w).sum(-1)) ** 2).sum()
        pm.Potential("y", log_normaliser(sigma2) - 0.5 * square / sigma2)
    return line(model=model)


def normaliser_as_printed(sigma2):
    weights = X.shape[1]
    return -weights / 2 * (math.log(2 * math.pi) + pm.math.log(pm.math.sqrt(sigma2)))


def normaliser(sigma2):
    return -len(Y) / 2 * pm.math.log(2 * math.pi * sigma2)


# --- E4: classes with covariances A and k A -------------------------------------------------------

K, SHARE = 4.0, np.array([0.3, 0.7])
MEANS = np.array([[1.0, -2.0], [0.5, 1.0]])
A = np.array([[2.0, 0.6], [0.6, 1.0]])
VOLUME = math.log(K)  # times D / 2, which is 1
POINT = np.array([1.5, -0.8])


def log_density_odds(x, means, covariances):
    """Return ln p(class 1 | x) - ln p(class 0 | x) from the two normal densities."""
    zero, one = (
        stats.multivariate_normal(m, S).logpdf(x) + math.log(p)
        for p, m, S in zip(SHARE, means, covariances, strict=True)
    )
    return one - zero


def scaled_odds(*, bent=True, volume=VOLUME, middle=None):
    """Return the same, term by term for A and k A."""
    P = np.linalg.inv(A)
    middle = P if middle is None else middle
    zero, one = MEANS
    curve = (1 - 1 / K) / 2 * POINT @ P @ POINT if bent else 0
    ends = one @ middle @ one / K - zero @ middle @ zero
    odds = math.log(SHARE[1] / SHARE[0]) - volume + curve + POINT @ P @ (one / K - zero) - ends / 2
    return Work(value=float(odds), book=float(log_density_odds(POINT, MEANS, [A, K * A])))


def boundary_odds():
    odds = boundary(SHARE, MEANS, [A, K * A]).log_odds(POINT)
    return Work(value=float(odds), book=float(log_density_odds(POINT, MEANS, [A, K * A])))


# --- E9: two features of 0 and 1 in three classes -------------------------------------------------

PRIOR, THETA = np.array([0.2, 0.3, 0.5]), np.array([0.9, 0.4, 0.1])


def information_by_counting():
    """Return the mutual information, by its definition, from the table of class and feature."""
    joint = PRIOR[:, None] * np.column_stack([THETA, 1 - THETA])
    alone = joint.sum(1, keepdims=True) * joint.sum(0)
    return sum(p * math.log(p / q) for p, q in zip(joint.flat, alone.flat, strict=True))


def information_as_printed():
    mixed = PRIOR @ THETA
    ones = THETA * PRIOR * np.log(THETA / mixed)
    zeros = (1 - THETA) * PRIOR * (1 - THETA) / (1 - mixed)
    return (ones + zeros).sum()


# --- E10: the number game -------------------------------------------------------------------------

GAME = bm.ConceptLearning.number_game()
AFTER_16 = GAME.update([16])
SIZES = (GAME.log_table > -np.inf).sum(1)


def belongs(number, *, power=0):
    """Add up posterior weights, over sizes to a power, of the hypotheses that hold a number."""
    holding = GAME.log_table[:, GAME.items.index(number)] > -np.inf
    p = (1 / SIZES) / (1 / SIZES).sum()  # equal priors, and one example from the concept
    printed = (p * holding / SIZES**power).sum()
    return Work(value=float(printed), book=float(AFTER_16.membership(number)))


def weighted(total):
    """Hand in weights of the hypotheses that add up to `total`, and what they say of a number."""
    weights = AFTER_16.mean()["h"] * total
    belief = bm.ConceptLearning.number_game(weights)
    return Work(value=float(belief.membership(32)), book=float(AFTER_16.membership(32)))


# --- E11: two normal classes, the features' variances shared --------------------------------------

VARIANCES = np.array([0.5, 3.0])


def shared_variance_odds(*, sign=1, variances=VARIANCES):
    zero, one = MEANS
    terms = (sign * 2 * (one - zero) * POINT - (one**2 - zero**2)) / (2 * variances)
    odds = terms.sum() + math.log(SHARE[1] / SHARE[0])
    book = log_density_odds(POINT, MEANS, [np.diag(VARIANCES)] * 2)
    return Work(value=float(odds), book=float(book))


# --- E5, E12, E14: the coin's likelihood ----------------------------------------------------------


def probability(x, theta):
    return theta**x * (1 - theta) ** (1 - x)


def unpowered(x, theta):
    return pm.math.log(theta**x * (1 - theta**x))


def log_of_log(x, theta):
    """Return ln(-ln P): the log of a product of logs, which is positive for an even number."""
    return pm.math.log(-bernoulli(x, theta))


def tossed(log_mass, support=None):
    return lambda: coin(model=coin_in_pymc(log_mass, support))


THREE_IN_TWENTY = COIN.statistic(ROWS).mle()["theta"]
GREATEST = stats.bernoulli(THREE_IN_TWENTY).logpmf(ROWS).sum()

# --- numbers --------------------------------------------------------------------------------------

NOTES = bm.BetaBernoulli(2, 2).update(bm.BinomialCounts(3, 20))  # Beta(5, 19)
EVEN = bm.BetaBernoulli(1, 1).update(bm.BinomialCounts(55, 100))


def semidefinite(corner):
    """Ask for a density of normal classes with this covariance."""
    boundary(SHARE, MEANS, [[corner, 1], [1, 1]])
    return Work()


PRINTED = [
    Slip(
        "no zeros in a class's Bernoulli posterior",
        "identity",
        lambda: in_classes(N_1, N_1 - N_1),
        lambda: in_classes(N_1, N_0),
        id="E1",
        note="N1",
        printed=r"$\mathrm{Beta}(N_{jc} + \beta_0,\ N_{jc} - N_{jc} + \beta_1)$",
        correct=r"$\mathrm{Beta}(N_{jc} + \beta_0,\ N_c - N_{jc} + \beta_1)$",
        term="the update",
    ),
    Slip(
        "the mean of the class probabilities called MAP",
        "book value",
        number(((N_C + ALPHA) / (N_C + ALPHA).sum())[0], CLASSES.mode()["theta"][0]),
        number(((N_C + ALPHA - 1) / ((N_C + ALPHA).sum() - 3))[0], CLASSES.mode()["theta"][0]),
        id="E2",
        note="N1",
        printed=r"MAP of $\pi_c$: $\frac{N_c + \alpha_c}{N + \alpha_0}$",
        correct=r"$\frac{N_c + \alpha_c - 1}{N + \alpha_0 - C}$; the printed one is the mean",
    ),
    Slip(
        "the mean of a class's Bernoulli parameter called MAP",
        "book value",
        number((3 + 2) / (20 + 2 + 5), FEATURE.mode()["theta"]),
        number((3 + 2 - 1) / (20 + 2 + 5 - 2), FEATURE.mode()["theta"]),
        id="E2",
        note="N1",
        printed=r"MAP of $\theta_{jc}$: $\frac{N_{jc} + \beta_0}{N_c + \beta_0 + \beta_1}$",
        correct=r"$\frac{N_{jc} + \beta_0 - 1}{N_c + \beta_0 + \beta_1 - 2}$; the printed one is "
        "the mean",
    ),
    Slip(
        "a likelihood normalised over weights, not rows",
        "identity",
        lambda: line_with_normaliser(normaliser_as_printed),
        lambda: line_with_normaliser(normaliser),
        id="E3",
        note="N1",
        printed=r"$(2\pi)^{-D/2} \sigma^{-D/2}$ before the exponential, for $D$ weights",
        correct=r"$(2\pi\sigma^2)^{-N/2}$, for $N$ rows",
        term="the likelihood of y",
    ),
    Slip(
        "a straight boundary between covariances A and kA",
        "book value",
        lambda: scaled_odds(bent=False),
        boundary_odds,
        id="E4",
        note="N1",
        printed=r"$\Sigma_1 = k \Sigma_0$ has a linear boundary",
        correct=r"$\frac12 (1 - \frac1k) x^\top \Sigma_0^{-1} x$ remains unless $k = 1$",
    ),
    Slip(
        "the volume of kA against A",
        "book value",
        lambda: scaled_odds(volume=math.log(K) / (2 * K)),
        boundary_odds,
        id="E4",
        note="N1",
        printed=r"$\frac{\ln k}{2k}$ in the constant of the log odds",
        correct=r"$\frac D2 \ln k$",
    ),
    Slip(
        "a covariance for its inverse in the log odds",
        "book value",
        lambda: scaled_odds(middle=A),
        boundary_odds,
        id="E4",
        note="N1",
        printed=r"$\mu^\top \Sigma_0 \mu$",
        correct=r"$\mu^\top \Sigma_0^{-1} \mu$",
    ),
    Slip(
        "probabilities added up where logs should be",
        "identity",
        tossed(probability),
        tossed(bernoulli),
        id="E5",
        note="N1",
        printed=r"log likelihood $\sum P(x_{ij} \mid y_i)$",
        correct=r"$\sum \ln P(x_{ij} \mid y_i)$",
        term="the likelihood of x",
    ),
    Slip(
        "posterior variance with N cubed",
        "book value",
        number((55 + 45) / 100**3, EVEN.var()["theta"], within=0.05),
        number(55 * 45 / 100**3, EVEN.var()["theta"], within=0.05),
        id="E6",
        note="N4",
        printed=r"posterior variance about $(N_1 + N_0) / N^3$",
        correct=r"$N_1 N_0 / N^3$",
    ),
    Slip(
        "plug-in MAP of 4 in 23",
        "book value",
        number(4 / 23, NOTES.mode()["theta"]),
        number(4 / 22, NOTES.mode()["theta"]),
        id="E7",
        note="N4",
        printed="MAP of Beta(2, 2) after 3 heads and 17 tails: 4/23",
        correct="4/22",
    ),
    Slip(
        "ten trials have ten outcomes",
        "book value",
        number(NOTES.predictive(10).pmf(range(10)).sum(), 1),
        number(NOTES.predictive(10).pmf(range(11)).sum(), 1),
        id="E7",
        note="N4",
        printed="heads in ten tosses: from 0 to 9",
        correct="from 0 to 10",
    ),
    Slip(
        "ones and zeros exchanged in a class's posterior",
        "identity",
        lambda: in_classes(N_0 + PULL, N_1 - PULL),
        lambda: in_classes(N_1, N_0),
        id="E8",
        note="N4",
        printed=r"$\mathrm{Beta}(N_c - N_{jc} + \beta_0,\ N_{jc} + \beta_1)$, where Beta's first "
        "parameter counts ones",
        correct=r"$\mathrm{Beta}(N_{jc} + \beta_1,\ N_c - N_{jc} + \beta_0)$",
        term="the update",
    ),
    Slip(
        "mutual information without its second logarithm",
        "book value",
        lambda: Work(value=information_as_printed(), book=information_by_counting()),
        lambda: Work(
            value=float(mutual_information(PRIOR, THETA[:, None])[0]),
            book=information_by_counting(),
        ),
        id="E9",
        note="N4",
        printed=r"$(1 - \theta_{jc}) \pi_c \frac{1 - \theta_{jc}}{1 - \theta_j}$",
        correct=r"$(1 - \theta_{jc}) \pi_c \ln \frac{1 - \theta_{jc}}{1 - \theta_j}$",
    ),
    Slip(
        "membership of a concept over its size",
        "book value",
        lambda: belongs(32, power=1),
        lambda: belongs(32),
        id="E10",
        note="N4",
        printed=r"$p(\tilde x \in C \mid D) = \sum_h \frac{1}{\lvert h \rvert} "
        r"1[\tilde x \in h]\, p(h \mid D)$",
        correct=r"$\sum_h 1[\tilde x \in h]\, p(h \mid D)$",
    ),
    Slip(
        "weights of hypotheses that add up to 2.06",
        "data",
        lambda: weighted(2.06),
        lambda: weighted(1),
        id="E10",
        note="N4",
        printed=r"$\sum_h p(h \mid D) = 2.06$",
        correct=r"$\sum_h p(h \mid D) = 1$",
    ),
    Slip(
        "the sign of x in the log odds of equal variances",
        "book value",
        lambda: shared_variance_odds(sign=-1),
        shared_variance_odds,
        id="E11",
        note="N2",
        printed=r"$-2 (\mu_2 - \mu_1) x$ in the log odds of class 2",
        correct=r"$+2 (\mu_2 - \mu_1) x$",
    ),
    Slip(
        "one variance for all features in the log odds",
        "book value",
        lambda: shared_variance_odds(variances=VARIANCES[0]),
        shared_variance_odds,
        id="E11",
        note="N2",
        printed=r"one $\sigma$ before the sum over features",
        correct=r"$1 / (2 \sigma_i^2)$ inside it",
    ),
    Slip(
        "mass of a zero without its power",
        "identity",
        tossed(unpowered),
        tossed(bernoulli),
        id="E12",
        note="N2",
        printed=r"$p(y \mid x) = \mu^y (1 - \mu^y)$",
        correct=r"$\mu^y (1 - \mu)^{1 - y}$",
        term="the likelihood of x",
    ),
    Slip(
        "a likelihood that multiplies logs",
        "identity",
        tossed(log_of_log),
        tossed(bernoulli),
        id="E12",
        note="N2",
        printed=r"likelihood $\prod \ln P$",
        correct=r"$\prod P$",
        term="the likelihood of x",
    ),
    Slip(
        "a semidefinite covariance",
        "data",
        lambda: semidefinite(1),
        lambda: semidefinite(2),
        id="E13",
        note="N0",
        printed=r"normal density for a positive semidefinite $\Sigma$",
        correct="positive definite",
    ),
    Slip(
        "theta is 0 or 1",
        "identity",
        tossed(bernoulli, lambda theta: pm.math.eq(theta, 0) | pm.math.eq(theta, 1)),
        tossed(bernoulli, lambda theta: pm.math.ge(theta, 0) & pm.math.le(theta, 1)),
        id="E14",
        note="N3",
        printed=r"$\theta \in \{0, 1\}$",
        correct=r"$\theta \in [0, 1]$",
        term="the term support",
    ),
    Slip(
        "the greatest log likelihood called its place",
        "book value",
        number(GREATEST, THREE_IN_TWENTY),
        number(3 / 20, THREE_IN_TWENTY),
        id="E14",
        note="N3",
        printed=r"$\hat\theta = \max_\theta \ell(\theta)$",
        correct=r"$\hat\theta = \mathrm{arg}\,\max_\theta \ell(\theta)$",
    ),
]
