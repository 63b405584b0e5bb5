"""Compare classifiers that have four rows a class, by their log loss on new rows.

Each data set has two equally common classes and ten features in units of their own:

    unit_j = exp(z_j),  mean_cj = distance z_cj,  x_ij | class c = unit_j (mean_cj + z_ij),

with independent standard normal z. So features are normal and independent given the class, and
both classes have the same standard deviations. Nothing of this is told to a classifier, except
that features are normal. Its log loss is the mean of -ln p(class | x) over new rows, with the
probabilities that it predicts; exact zeros count as the smallest positive number,
2.2e-308, which adds 708 to the sum. A second column takes scikit-learn's `log_loss`, which counts
everything below 2.2e-16 as that, so that no row adds more than 36.

Run as ``python tests/benchmarks/bench_small_samples.py``; the numbers are in
``docs/small-samples.md``.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

import bayesmodels as bm

FEATURES = 10
NEW = 500  # rows a class
SMALLEST = np.finfo(float).tiny

Rows = tuple[np.ndarray, np.ndarray]
Classifier = Callable[[Rows, np.ndarray], np.ndarray]
"""From training rows and features of new rows to their class probabilities."""


def data_set(rng: np.random.Generator, rows: int, distance: float) -> tuple[Rows, Rows]:
    """Return training rows and new rows of one simulated problem."""
    units = np.exp(rng.standard_normal(FEATURES))
    means = distance * rng.standard_normal((2, FEATURES))

    def drawn(number: int) -> Rows:
        y = np.repeat([0, 1], number)
        return units * (means[y] + rng.standard_normal((len(y), FEATURES))), y

    return drawn(rows), drawn(NEW)


# --- classifiers ----------------------------------------------------------------------------------


def integrated(features: object, covariance: str = "") -> Classifier:
    """Return one of our classifiers, with its parameters integrated out."""
    prior = _prior(features, covariance)
    return lambda train, x: prior.update(train).class_probabilities(x)


def plugged_in(features: object, parameters: str) -> Classifier:
    """Return the same belief with its mean or mode in place of the integral."""
    prior = _prior(features, "")

    def predict(train: Rows, x: np.ndarray) -> np.ndarray:
        posterior = prior.update(train)
        return posterior.class_probabilities(x, getattr(posterior, parameters)())

    return predict


def standardised(classifier: Classifier) -> Classifier:
    """Give a classifier columns in units of the training rows' standard deviations."""

    def predict(train: Rows, x: np.ndarray) -> np.ndarray:
        middle, unit = train[0].mean(0), train[0].std(0, ddof=1)
        return classifier(((train[0] - middle) / unit, train[1]), (x - middle) / unit)

    return predict


def _prior(features: object, covariance: str) -> object:
    classes = bm.DirichletCategorical([1, 1])
    if covariance:
        return bm.GaussianDiscriminant(classes, features, covariance)
    return bm.NaiveBayes(classes, features)


def theirs(model: object) -> Classifier:
    """Return one of scikit-learn's classifiers."""
    return lambda train, x: model.fit(*train).predict_proba(x)


# Worth a hundredth of a row about a mean, and one row about a variance; the same for each feature.
WEAK = bm.NormalInverseGamma(mean=0, kappa=0.01, shape=0.5, scale=0.5)
# The smallest whole number of degrees of freedom at which the expected covariance exists.
WEAK_MATRIX = bm.NormalInverseWishart(
    np.zeros(FEATURES), kappa=0.01, df=FEATURES + 2, scale=np.eye(FEATURES)
)

NAIVE_BAYES = {
    "NaiveBayes, integrated": integrated(WEAK),
    "NaiveBayes, at the posterior mean": plugged_in(WEAK, "mean"),
    "NaiveBayes, at the posterior mode": plugged_in(WEAK, "mode"),
    "GaussianNB()": theirs(GaussianNB()),
    "GaussianNB(var_smoothing=0.1)": theirs(GaussianNB(var_smoothing=0.1)),
}
DISCRIMINANTS = {
    "GaussianDiscriminant, full": integrated(WEAK_MATRIX, "full"),
    "full, standardised columns": standardised(integrated(WEAK_MATRIX, "full")),
    "QDA()": theirs(QuadraticDiscriminantAnalysis()),
    "QDA(reg_param=0.5)": theirs(QuadraticDiscriminantAnalysis(reg_param=0.5)),
    'QDA(solver="eigen", shrinkage="auto")': theirs(
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto")
    ),
    'QDA(solver="eigen", shrinkage=0.5)': theirs(
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.5)
    ),
    "GaussianDiscriminant, shared": integrated(WEAK_MATRIX, "shared"),
    "shared, standardised columns": standardised(integrated(WEAK_MATRIX, "shared")),
    "LDA()": theirs(LinearDiscriminantAnalysis()),
    'LDA(solver="lsqr", shrinkage="auto")': theirs(
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    ),
}
OTHER_PRIORS = {
    "scale 0.05": bm.NormalInverseGamma(0, 0.01, 0.5, 0.05),
    "scale 0.5, as above": WEAK,
    "scale 5": bm.NormalInverseGamma(0, 0.01, 0.5, 5),
    "kappa 0.0001": bm.NormalInverseGamma(0, 0.0001, 0.5, 0.5),
    "kappa 1": bm.NormalInverseGamma(0, 1, 0.5, 0.5),
    "shape 0.05, scale 0.05": bm.NormalInverseGamma(0, 0.01, 0.05, 0.05),
    "shape 2, scale 2": bm.NormalInverseGamma(0, 0.01, 2, 2),
}


# --- scores ---------------------------------------------------------------------------------------


@dataclass
class Scores:
    """What a classifier did, one number a data set.

    Attributes
    ----------
    losses : list of float
        Mean log losses of new rows.
    capped : list of float
        The same by scikit-learn's `log_loss`.
    hits : list of float
        Shares of new rows whose class was the most probable one.
    zeros : list of float
        Shares of new rows whose class had probability 0.
    messages : Counter
        Errors and warnings, and in how many data sets they came.
    """

    losses: list[float] = field(default_factory=list)
    capped: list[float] = field(default_factory=list)
    hits: list[float] = field(default_factory=list)
    zeros: list[float] = field(default_factory=list)
    messages: Counter[str] = field(default_factory=Counter)

    def add(self, probabilities: np.ndarray, y: np.ndarray) -> None:
        """Score the new rows of one data set."""
        own = probabilities[np.arange(len(y)), y]
        self.losses.append(float(-np.log(np.maximum(own, SMALLEST)).mean()))
        self.capped.append(float(log_loss(y, probabilities)))
        self.hits.append(float((probabilities.argmax(-1) == y).mean()))
        self.zeros.append(float((own == 0).mean()))

    @property
    def mean(self) -> float:
        """Mean log loss over the data sets."""
        return float(np.mean(self.losses))

    def line(self) -> str:
        """Return mean and its standard error, capped mean, median, accuracy and zeros."""
        if not self.losses:
            return "  no prediction"
        error = np.std(self.losses, ddof=1) / np.sqrt(len(self.losses))
        return (
            f"{self.mean:9.3f} ± {error:.3f}{np.mean(self.capped):9.3f}"
            f"{np.median(self.losses):9.3f}{np.mean(self.hits):9.3f}{np.mean(self.zeros):9.4f}"
        )


def scores(
    classifiers: dict[str, Classifier], *, sets: int, rows: int = 4, distance: float = 1, seed: int
) -> dict[str, Scores]:
    """Let every classifier learn from, and predict, the same data sets."""
    found = {name: Scores() for name in classifiers}
    rng = np.random.default_rng(seed)
    for _ in range(sets):
        train, (x, y) = data_set(rng, rows, distance)
        for name, classifier in classifiers.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    found[name].add(classifier(train, x), y)
                except np.linalg.LinAlgError as error:
                    found[name].messages[f"LinAlgError: {error}"] += 1
            found[name].messages.update({f"{w.category.__name__}: {w.message}" for w in caught})
    return found


def main() -> None:
    """Run all comparisons and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200, help="simulated data sets")
    parser.add_argument("--rows", type=int, default=4, help="rows a class")
    parser.add_argument("--seed", type=int, default=1)
    given = vars(parser.parse_args())
    print(f"{'':40}{'mean log loss':>17}{'capped':>9}{'median':>9}{'hits':>9}{'zeros':>9}")
    for title, classifiers in (("naive Bayes", NAIVE_BAYES), ("discriminants", DISCRIMINANTS)):
        print(title)
        for name, found in scores(classifiers, **given).items():
            print(f"  {name:38}{found.line()}")
            for message, times in found.messages.items():
                print(f"    {times} times {message}")
    print(f"\n{'integrated / GaussianNB()':40}{'ours':>9}{'theirs':>9}{'ratio':>9}")
    peer = {"GaussianNB()": theirs(GaussianNB())}
    ours = {name: integrated(prior) for name, prior in OTHER_PRIORS.items()}
    by_prior = scores({**ours, **peer}, **given)
    other = by_prior.pop("GaussianNB()").mean
    lines = [(name, found.mean, other) for name, found in by_prior.items()]
    for distance in (0.5, 2):
        pair = scores({"ours": integrated(WEAK), **peer}, distance=distance, **given)
        lines.append((f"distance {distance}", pair["ours"].mean, pair["GaussianNB()"].mean))
    for rows in (8, 16, 64):
        pair = scores({"ours": integrated(WEAK), **peer}, **{**given, "rows": rows})
        lines.append((f"{rows} rows a class", pair["ours"].mean, pair["GaussianNB()"].mean))
    for name, mine, their in lines:
        print(f"  {name:38}{mine:9.3f}{their:9.3f}{mine / their:9.3f}")


if __name__ == "__main__":
    main()
