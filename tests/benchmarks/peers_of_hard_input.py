"""What other packages make of hard input, and how much of our own table is green.

Every case of ``tests/hard`` is asked once; then some hard inputs are given to other packages as
well, whose answer is held against the same right number. Run as ``PYTHONPATH=. python
tests/benchmarks/peers_of_hard_input.py``; ``--write`` makes the page ``docs/hard-input.md`` and its
table. Peers that are not installed (conjugate-models, bayesml) are left blank.
"""

import argparse
import csv
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

import bayesmodels as bm
from tests.benchmarks.bench_peers import versions
from tests.hard import exactly
from tests.hard.case import Case, Refusal, error, flat
from tests.hard.table import CASES

PAGE = Path(__file__).parents[2] / "docs" / "hard-input.md"
PEERS = ("scikit-learn", "scipy", "conjugate-models", "bayesml")
PACKAGES = ("numpy", "scipy", "pandas", "polars", "pyarrow", *PEERS[:1], *PEERS[2:])
CONJUGATE, BAYESML = (find_spec(name) is not None for name in ("conjugate", "bayesml"))
Z = np.random.default_rng(20261122).normal(size=(12, 2))
CLASS = np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0])
CHAPTERS = {
    "counts": "Counts and pseudo-counts",
    "offsets": "Offsets",
    "scales": "Scales",
    "shapes": "Dependent columns, few rows",
    "containers": "Dtypes, layouts and containers",
    "names": "Names and labels",
    "many": "Many classes, levels and groups",
    "sources": "Sources",
    "missing": "Missing cells",
    "refused": "Rows and priors that must be refused",
}

HEAD = """% Written by tests/benchmarks/peers_of_hard_input.py: change that.

# Hard input

What becomes of input that numerical code often gets wrong, here and in other packages.

Measured on {date}: Python {python}, {packages}.

A table in `tests/hard` lists {cases} hard inputs. Each has the outcome that is required. It is
numbers, and how far an answer may be off; they are worked out in a hundred digits and more, from
the textbook formula or from the same rows given plainly. Or it is an error, with its class and
the argument it must name. There is no third outcome: no NaN, no silent wrong number, no error of
another package. Here are the results: {green} of {cases} have the outcome required. The tests run a
sample of 400, in which are all words of the hard inputs of each chapter, and every pair of a
chapter, a model and a question.

## The table

A line of {{download}}`the table <hard-input.csv>` holds what is hard, which models were asked
({models} in all), what is required, and how many answers are as required. Where numbers are
required, "off by" is the largest error of any answer: relative to the number, or for logarithms
below 1 absolute. Its chapters:

| hard input | cases | as required |
|---|---:|---:|
"""
PEERS_HEAD = """## Other packages

The same input, and the same question, as far as they answer it; blank where they don't. A number
is "right" where it is off by no more than is required of ours. Where the only right outcome is to
refuse, "accepted" says that a number came back. Offsets and scales are those of twelve normal
rows. `Ridge`, whose estimate is the posterior mean, stands in for a Bayesian regression;
the variances of `GaussianNB` and of the discriminants are held against maximum likelihood, as they
are estimated, by `GaussianNB` with `var_smoothing=0`.

"""
TAIL = """
## What is refused and why

- **Measurements above 1e150 in size.** Their squares, and sums of these, have no place in float64.
  What depends on squares (every variance) could not be right, so the error names the column and
  asks for a larger unit. At 1e150 itself, and at 1e-150, all answers are right. The *variance of a
  variance* goes with the fourth power, so `var()` of one says already at 1e80 that it is no
  float64; its standard deviation, in `summary()`, is right up to the end.
- **Lone surrogates** in names: no file of Unicode can hold them, so no report could.
- **Files that change the kind of a column**: Arrow would read dates, and digits in text, as
  numbers.

Far from zero a law's own mean is rounded to float64. At an offset of 1e12 its last place is 1.2e-4,
and predictive densities and class probabilities are right to that; evidence, standard deviations
and scales of normal laws, which keep the part that rounding took, are right to 1e-9. A regression
does not keep it: with a *target* at 1e12 all its answers are right to that last place.

To repeat: `PYTHONPATH=. python tests/benchmarks/peers_of_hard_input.py --write`, in an environment
that has conjugate-models and bayesml as well.
"""


@dataclass(frozen=True)
class Question:
    """A hard input given to ours and to other packages.

    Attributes
    ----------
    hard, asked : str
        What is hard about it, and what is asked.
    right : callable or str
        Returns the right numbers; or says why none is right.
    precision : float
        What an answer may be off by.
    ours : callable
        Our answer.
    theirs : dict
        Answers by package.
    """

    hard: str
    asked: str
    right: Callable[[], Any] | str
    precision: float
    ours: Callable[[], Any]
    theirs: dict[str, Callable[[], Any]] = field(default_factory=dict)

    def outcome(self, ask: Callable[[], Any] | None) -> str:
        """Say in words what came of it."""
        if ask is None:
            return ""
        try:
            found = ask()
        except Exception as wrong:  # noqa: BLE001 - whatever it is, the page shows it
            return f"`{type(wrong).__name__}`"
        if isinstance(self.right, str):
            return "accepted, NaN" if np.isnan(flat(found)).any() else "accepted"
        if np.isnan(flat(found)).any():
            return "NaN"
        off = error(found, self.right())
        return "right" if off <= self.precision else f"off by {off:.0e}".replace("e-0", "e-")

    @property
    def required(self) -> str:
        """Say what is required."""
        if isinstance(self.right, str):
            return f"an error: {self.right}"
        if self.precision == 0:
            return "exact"
        return f"right to {self.precision:.0e}".replace("e-0", "e-")


# --- questions ------------------------------------------------------------------------------------


def counts() -> Iterator[Question]:
    """Yield questions about counts."""
    n, k, a = 10**9, 5 * 10**8 + 123, 1e12
    theirs: dict[str, Callable[[], Any]] = {"scipy": lambda: stats.betabinom(n, a, a).logpmf(k)}
    if CONJUGATE:
        from conjugate.distributions import BetaBinomial

        theirs["conjugate-models"] = lambda: BetaBinomial(n=n, alpha=a, beta=a).dist.logpmf(k)
    yield Question(
        "1e9 trials under pseudo-counts of 1e12",
        "beta-binomial log mass",
        lambda: exactly.log_mass([k, n - k], [a, a]),
        1e-10,
        lambda: bm.BetaBernoulli(a, a).predictive(n).logpmf(k),
        theirs,
    )
    n2, k2 = 10**15, 5 * 10**14 + 1
    theirs = {"scipy": lambda: stats.betabinom(n2, 2, 2).logpmf(k2)}
    if CONJUGATE:
        theirs["conjugate-models"] = lambda: BetaBinomial(n=n2, alpha=2, beta=2).dist.logpmf(k2)
    yield Question(
        "1e15 trials",
        "beta-binomial log mass",
        lambda: exactly.log_mass([k2, n2 - k2], [2, 2]),
        1e-10,
        lambda: bm.BetaBernoulli(2, 2).log_evidence(bm.BinomialCounts(k2, n2)),
        theirs,
    )
    for tiny in (1e-10, 1e-310):
        alpha = np.full(3, tiny)
        theirs = {"scipy": lambda alpha=alpha: stats.dirichlet(alpha).rvs(100, 1).sum(-1)}
        if CONJUGATE:
            from conjugate.distributions import Dirichlet

            theirs["conjugate-models"] = lambda alpha=alpha: (
                Dirichlet(alpha=alpha).dist.rvs(100, random_state=1).sum(-1)
            )
        yield Question(
            f"Dirichlet draws, pseudo-counts of {tiny:g}",
            "sums of draws",
            lambda: np.ones(100),
            1e-12,
            lambda alpha=alpha: (
                bm.DirichletCategorical(alpha)
                .sample(100, np.random.default_rng(1))["theta"]
                .sum(-1)
            ),
            theirs,
        )


def conjugate_normal(x: np.ndarray, scale: float) -> Any:
    """Return the posterior of conjugate-models."""
    from conjugate.distributions import NormalInverseGamma
    from conjugate.models import normal

    prior = NormalInverseGamma(mu=0.0, nu=1.0, alpha=3.0, beta=scale)
    return normal(x_total=x.sum(), x2_total=(x**2).sum(), n=len(x), prior=prior)


def bayesml_normal(x: np.ndarray, scale: float) -> Any:
    """Return the posterior of BayesML."""
    from bayesml import normal

    model = normal.LearnModel(h0_m=0.0, h0_kappa=1.0, h0_alpha=3.0, h0_beta=scale)
    model.update_posterior(x)
    return model


def conjugate_at(x: np.ndarray, at: float) -> float:
    """Return its posterior scale, the prior's mean being `at`."""
    from conjugate.distributions import NormalInverseGamma
    from conjugate.models import normal

    prior = NormalInverseGamma(mu=at, nu=1.0, alpha=3.0, beta=2.0)
    return normal(x_total=x.sum(), x2_total=(x**2).sum(), n=len(x), prior=prior).beta


def bayesml_at(x: np.ndarray, at: float) -> Any:
    """Return its posterior, the prior's mean being `at`."""
    from bayesml import normal

    model = normal.LearnModel(h0_m=at, h0_kappa=1.0, h0_alpha=3.0, h0_beta=2.0)
    model.update_posterior(x)
    return model


def offsets() -> Iterator[Question]:
    """Yield questions about rows far from zero."""
    for offset in (0.0, 1e8, 1e12):
        x = offset + Z[:, 0]
        prior = (offset, 1.0, 3.0, 2.0)
        hard = (
            f"an offset of {offset:.0e}".replace("e+0", "e").replace("e+", "e")
            if offset
            else "no offset"
        )
        theirs: dict[str, Callable[[], Any]] = {}
        if CONJUGATE:
            theirs["conjugate-models"] = lambda x=x, offset=offset: conjugate_at(x, offset)
        if BAYESML:
            theirs["bayesml"] = lambda x=x, offset=offset: bayesml_at(x, offset).hn_beta
        yield Question(
            hard,
            "posterior scale of a variance",
            lambda x=x, prior=prior: exactly.normal(x, prior)["scale"],
            1e-9,
            lambda x=x, prior=prior: bm.NormalInverseGamma(*prior).update(x).scale,
            theirs,
        )
        theirs = {}
        if BAYESML:
            theirs["bayesml"] = lambda x=x, offset=offset: bayesml_at(
                x, offset
            ).calc_log_marginal_likelihood()
        yield Question(
            hard,
            "log evidence of normal rows",
            lambda x=x, prior=prior: exactly.normal(x, prior)["evidence"],
            1e-9,
            lambda x=x, prior=prior: bm.NormalInverseGamma(*prior).log_evidence(x),
            theirs,
        )
    for offset in (1e8, 1e12):
        X = offset + Z
        hard = f"an offset of {offset:.0e}".replace("e+0", "e").replace("e+", "e")
        yield from of_classes(hard, X, 1e-9)
        yield from of_line(f"{hard} of a column", offset)


def of_classes(hard: str, X: np.ndarray, precision: float) -> Iterator[Question]:
    """Yield what is estimated of each class."""
    two = bm.DirichletCategorical([1, 1])
    naive = bm.NaiveBayes(two, bm.NormalInverseGamma(0, 1, 1, 1))
    shared = bm.GaussianDiscriminant(
        two, bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)), "shared"
    )
    yield Question(
        hard,
        "variances of classes",
        lambda: variances(X),
        precision,
        lambda: naive.statistic((X, CLASS)).mle()["sigma2"],
        {"scikit-learn": lambda: GaussianNB(var_smoothing=0).fit(X, CLASS).var_},
    )
    yield Question(
        hard,
        "covariance within classes",
        lambda: within(X),
        precision,
        lambda: shared.statistic((X, CLASS)).mle()["Sigma"],
        {
            "scikit-learn": lambda: (
                LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True)
                .fit(X, CLASS)
                .covariance_
            )
        },
    )


@exactly.in_digits
def variances(X: np.ndarray) -> list[list[float]]:
    """Return maximum-likelihood variances by class and column, exactly."""
    return [
        [float(exactly.scatter(column[:, None])[0] / len(column)) for column in X[c == CLASS].T]
        for c in (0, 1)
    ]


@exactly.in_digits
def within(X: np.ndarray) -> list[list[float]]:
    """Return the maximum-likelihood covariance that classes share, exactly."""
    total = sum((exactly.scatter(X[c == CLASS]) for c in (0, 1)), exactly.matrix(np.zeros((2, 2))))
    return [[float(each / len(X)) for each in row] for row in total.tolist()]


def of_line(hard: str, offset: float) -> Iterator[Question]:
    """Yield a prediction of a regression on a constant and a column far from zero."""
    X, y = np.column_stack([np.ones(12), offset + Z[:, 0]]), Z[:, 1]
    prior = (np.zeros(2), np.eye(2), 2.0, 1.0)
    new = np.array([1.0, offset + 0.5])

    def right() -> Any:
        after = exactly.regression(X, y, prior)
        import mpmath

        with mpmath.workdps(exactly.DIGITS):
            return sum(exactly.number(v) * w for v, w in zip(new.tolist(), after["w"], strict=True))

    yield Question(
        hard,
        "prediction of a regression",
        right,
        1e-6,
        lambda: bm.LinearRegression(*prior).update((X, y)).predictive(new[None]).mean(),
        regressions(X, y, lambda w: w @ new),
    )


def regressions(X: np.ndarray, y: np.ndarray, of: Callable[[Any], Any]) -> dict[str, Any]:
    """Return what other packages say of the posterior mean of w under w ~ N(0, sigma2 I)."""
    theirs: dict[str, Callable[[], Any]] = {
        "scikit-learn": lambda: of(Ridge(alpha=1.0, fit_intercept=False).fit(X, y).coef_)
    }
    width = X.shape[1]
    if CONJUGATE:
        from conjugate.distributions import NormalInverseGamma
        from conjugate.models import linear_regression

        prior = NormalInverseGamma(
            mu=np.zeros(width), delta_inverse=np.eye(width), alpha=2.0, beta=1.0
        )
        theirs["conjugate-models"] = lambda: of(linear_regression(X=X, y=y, prior=prior).mu)
    if BAYESML:
        from bayesml import linearregression

        def bayesml() -> Any:
            model = linearregression.LearnModel(
                width, np.zeros(width), np.eye(width), h0_alpha=2.0, h0_beta=1.0
            )
            model.update_posterior(X, y)
            return of(model.hn_mu_vec)

        theirs["bayesml"] = bayesml
    return theirs


def scales() -> Iterator[Question]:
    """Yield questions about units, and about dtypes."""
    for size in (1e-150, 1e149):
        hard = f"numbers of size {size:.0e}".replace("e+0", "e").replace("e+", "e")
        yield from of_classes(hard, size * Z, 1e-9)
    small = np.rint(Z * 40).astype(np.int8)
    yield from of_classes("int8", small, 1e-9)
    yield from of_classes("float16 near its limits", (Z * 20_000).astype(np.float16), 1e-9)
    x = small[:, 0]
    theirs: dict[str, Callable[[], Any]] = {}
    if CONJUGATE:
        theirs["conjugate-models"] = lambda: conjugate_normal(x, 2.0).beta
    if BAYESML:
        theirs["bayesml"] = lambda: bayesml_normal(x, 2.0).hn_beta
    yield Question(
        "int8, whose squares do not fit",
        "posterior scale of a variance",
        lambda: exactly.normal(x.tolist(), (0.0, 1.0, 3.0, 2.0))["scale"],
        1e-9,
        lambda: bm.NormalInverseGamma(0, 1, 3, 2).update(x).scale,
        theirs,
    )
    wide = np.diag([1.0, 1e12])
    yield Question(
        "columns with standard deviations of 1 and 1e6",
        "log density of a vector",
        lambda: exactly.next_vector(
            [0.5, 1e6],
            {
                "mean": exactly.matrix([[0], [0]]),
                "kappa": 1,
                "df": 4,
                "scale": exactly.matrix(wide),
            },
        ),
        1e-9,
        lambda: bm.NormalInverseWishart([0, 0], 1, 4, wide).predictive().logpdf([0.5, 1e6]),
        {"scipy": lambda: stats.multivariate_t([0, 0], wide * 2 / 3, df=3).logpdf([0.5, 1e6])},
    )


def shapes() -> Iterator[Question]:
    """Yield questions about columns and classes."""
    z = Z[:6, 0]
    tables = {
        "a duplicated column": np.column_stack([z, z]),
        "five columns, two rows": np.random.default_rng(3).normal(size=(2, 5)),
        "no row": np.zeros((0, 2)),
    }
    for hard, X in tables.items():
        y = Z[: len(X), 1]
        prior = (np.zeros(X.shape[1]), np.eye(X.shape[1]), 2.0, 1.0)
        yield Question(
            hard,
            "posterior mean of coefficients",
            lambda X=X, y=y, prior=prior: exactly.regression(X, y, prior)["w"],
            1e-9,
            lambda X=X, y=y, prior=prior: bm.LinearRegression(*prior).update((X, y)).mean()["w"],
            regressions(X, y, lambda w: w),
        )
    two = bm.DirichletCategorical([1, 1])
    full = bm.GaussianDiscriminant(two, bm.NormalInverseWishart(np.zeros(9), 1, 11, np.eye(9)))
    wide = np.random.default_rng(4).normal(size=(12, 9))
    new = np.zeros((1, 9))
    yield Question(
        "nine columns, six rows a class",
        "class probabilities add up to 1",
        lambda: 1.0,
        1e-9,
        lambda: full.update((wide, CLASS)).class_probabilities(new).sum(),
        {
            "scikit-learn": lambda: (
                QuadraticDiscriminantAnalysis().fit(wide, CLASS).predict_proba(new).sum()
            )
        },
    )
    one = np.zeros(12, int)
    yield Question(
        "rows of one class only",
        "logistic regression: class probabilities add up to 1",
        lambda: 1.0,
        1e-9,
        lambda: bm.LogisticRegression([0, 0], 1).laplace((Z, one)).class_probabilities(Z[:1]).sum(),
        {
            "scikit-learn": lambda: LogisticRegression().fit(Z, one).predict_proba(Z[:1]).sum(),
        },
    )
    codes = np.array([[0], [1], [0], [1]])
    level = bm.NaiveBayes(two, bm.DirichletCategorical([1, 1, 1]))
    yield Question(
        "a level that no row had",
        "class probability of such a row",
        lambda: 0.5,
        1e-9,
        lambda: level.update((codes, [0, 0, 1, 1])).class_probabilities([[2]])[0, 0],
        {
            "scikit-learn": lambda: (
                CategoricalNB().fit(codes, [0, 0, 1, 1]).predict_proba([[2]])[0, 0]
            )
        },
    )
    entries = np.array([100, 100, 1, 1], dtype=np.int8)
    table = sparse.csr_array((entries, np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2))
    words = bm.NaiveBayes(two, two)
    yield Question(
        "sparse int8 with duplicates that add up beyond it",
        "counts of words by class",
        lambda: [[200, 0], [0, 2]],
        0.0,
        lambda: words.statistic((bm.MultinomialCounts(table), [0, 1])).features[""].counts,
        {"scikit-learn": lambda: MultinomialNB().fit(table.copy(), [0, 1]).feature_count_},
    )


def refused() -> Iterator[Question]:
    """Yield input that no number is right for."""
    two, coin = bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1)
    bits = np.array([[0.0], [2.0], [1.0], [0.0]])
    labels = [0, 1, 1, 0]
    yield Question(
        "a 2 among zeros and ones",
        "naive Bayes of bits",
        "it is neither",
        0.0,
        lambda: bm.NaiveBayes(two, coin).update((bits, labels)).class_probabilities(bits),
        {"scikit-learn": lambda: BernoulliNB().fit(bits, labels).predict_proba(bits)},
    )
    gap = np.array([1.0, np.nan, 3.0])
    theirs: dict[str, Callable[[], Any]] = {}
    if CONJUGATE:
        theirs["conjugate-models"] = lambda: conjugate_normal(gap, 2.0).beta
    if BAYESML:
        theirs["bayesml"] = lambda: bayesml_normal(gap, 2.0).hn_beta
    yield Question(
        "NaN among numbers",
        "posterior scale of a variance",
        "a row is missing",
        0.0,
        lambda: bm.NormalInverseGamma(0, 1, 3, 2).update(gap).scale,
        theirs,
    )
    theirs = {}
    bad: dict[str, Callable[[], Any]] = {}
    if CONJUGATE:
        from conjugate.distributions import Beta
        from conjugate.models import binomial_beta

        theirs["conjugate-models"] = lambda: (
            binomial_beta(n=3, x=5, prior=Beta(alpha=1, beta=1)).alpha
        )
        bad["conjugate-models"] = lambda: (
            binomial_beta(n=3, x=1, prior=Beta(alpha=-1, beta=1)).alpha
        )
    if BAYESML:
        from bayesml import bernoulli

        bad["bayesml"] = lambda: bernoulli.LearnModel(h0_alpha=-1.0, h0_beta=1.0).hn_alpha
    yield Question(
        "five successes in three trials",
        "posterior of a probability",
        "there are too many",
        0.0,
        lambda: coin.update(bm.BinomialCounts(5, 3)).alpha,
        theirs,
    )
    yield Question(
        "a prior of -1 pseudo-counts",
        "posterior of a probability",
        "there is no such prior",
        0.0,
        lambda: bm.BetaBernoulli(-1, 1).alpha,
        bad,
    )


def questions() -> Iterator[Question]:
    """Yield all of them."""
    for chapter in (counts, offsets, scales, shapes, refused):
        yield from chapter()


# --- our own table --------------------------------------------------------------------------------


def asked(case: Case) -> tuple[bool, float]:
    """Return whether a case has the required outcome, and the error of a number."""
    if isinstance(case.required, Refusal):
        try:
            case.ours()
        except case.required.kind as refusal:
            return case.required.argument in str(refusal), 0.0
        except Exception:  # noqa: BLE001 - of another class: not what is required
            return False, 0.0
        return False, 0.0
    try:
        off = error(case.ours(), case.required(), absolute=case.absolute)
    except Exception:  # noqa: BLE001 - an error where a number is required
        return False, float("nan")
    return off <= case.precision, off


def kind(case: Case) -> tuple[str, bool]:
    """Return what puts cases on one line."""
    return case.hard, isinstance(case.required, Refusal)


def chapters(found: list[tuple[Case, bool, float]]) -> Iterator[str]:
    """Yield the page's table, a line for each chapter."""
    for group, title in CHAPTERS.items():
        own = [ok for case, ok, _ in found if case.group == group]
        yield f"| {title} | {len(own):,} | {sum(own):,} |"


def rows(found: list[tuple[Case, bool, float]]) -> Iterator[list[str]]:
    """Yield the whole table, a row for each hard input and outcome."""
    yield ["chapter", "hard input", "models", "required", "ours"]
    for group, title in CHAPTERS.items():
        own = [row for row in found if row[0].group == group]
        for key in dict.fromkeys(kind(case) for case, _, _ in own):
            some = [row for row in own if kind(row[0]) == key]
            models = list(dict.fromkeys(case.model for case, _, _ in some))
            named = ", ".join(models) if len(models) <= 3 else f"{len(models)} models"
            wrong = sum(not ok for _, ok, _ in some)
            worst = max(off for _, _, off in some)
            ours = f"{len(some)} of {len(some)}" if not wrong else f"{wrong} wrong"
            if not isinstance(some[0][0].required, Refusal):
                ours += f", off by {worst:.0e}".replace("e-0", "e-") if worst else ", exact"
            required = ", ".join(dict.fromkeys(str(case) for case, _, _ in some))
            yield [title, key[0], named, required.replace(", right", ""), ours]


def main() -> None:
    """Print what came of every case and question; write the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--peers-only", action="store_true", help="leave our own table out")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table = ["| hard input | asked | required | ours | " + " | ".join(PEERS) + " |"]
    table.append("|---" * (4 + len(PEERS)) + "|")
    for question in questions():
        theirs = [question.outcome(question.theirs.get(peer)) for peer in PEERS]
        ours = question.outcome(question.ours)
        cells = [question.hard, question.asked, question.required, ours, *theirs]
        table.append("| " + " | ".join(cells) + " |")
        print(table[-1], flush=True)
    if given.peers_only:
        return
    start = time.perf_counter()
    found = [(case, *asked(case)) for case in CASES]
    green = sum(ok for _, ok, _ in found)
    print(f"{green} of {len(found)} cases as required, {time.perf_counter() - start:.0f} s")
    for case, ok, off in found:
        if not ok:
            print(f"  WRONG {case.id}: off by {off}")
    if not given.write:
        return
    head = HEAD.format(
        date=datetime.now().astimezone().date().isoformat(),
        python=platform.python_version(),
        packages=", ".join(versions(PACKAGES)),
        cases=f"{len(found):,}",
        green=f"{green:,}",
        models=len({case.model for case in CASES}),
    )
    page = [head + "\n".join([*chapters(found), ""]), PEERS_HEAD + "\n".join(table), TAIL]
    PAGE.write_text("\n".join(page), encoding="utf-8")
    with PAGE.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows(found))


if __name__ == "__main__":
    main()
