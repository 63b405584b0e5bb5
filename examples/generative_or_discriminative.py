"""Is it better to learn p(x, y) or p(y | x)? Learning curves on three real data sets.

Naive Bayes with normal features and logistic regression can have the same decision rules. Ng and
Jordan (2002) showed that the generative one needs fewer rows to come near the best that it can do,
and that the discriminative one can do better in the end. Averages over random splits into rows to
learn from and rows to predict; the same rows for both.
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import bayesmodels as bm

SPLITS = 20
SIZES = (10, 20, 40, 80, 160)
Predict = Callable[[np.ndarray], np.ndarray]
SETS = {"breast cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}


def generative(X: np.ndarray, y: np.ndarray, classes: int) -> Predict:
    """Naive Bayes, its parameters integrated out."""
    normal = bm.NormalInverseGamma(np.zeros(X.shape[1]), 0.01, 1, 0.5)
    model = bm.NaiveBayes(bm.DirichletCategorical(np.ones(classes)), normal).update((X, y))
    return model.class_probabilities


def discriminative(X: np.ndarray, y: np.ndarray, classes: int) -> Predict:
    """Logistic regression at its mode; few rows are often separated, which a prior allows for."""
    model = bm.LogisticRegression(np.zeros(X.shape[1] + 1), 10, classes=range(classes))
    weights = model.map(bm.Design(X, y, intercept=True)).parameters
    return lambda rows: model.class_probabilities(rows, weights, intercept=True)


def split(y: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows to learn from, at least two of each class; the others are to be predicted."""
    order = rng.permutation(len(y))
    first = [row for c in np.unique(y) for row in order[y[order] == c][:2]]
    learn = np.array(first + [row for row in order if row not in first][: size - len(first)])
    return learn, np.setdiff1d(order, learn)


def curve(X: np.ndarray, y: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return error rates and log losses of both, each row of shape (split,)."""
    found = []
    for _ in range(SPLITS):
        learn, rest = split(y, size, rng)
        mean, sd = X[learn].mean(0), X[learn].std(0)
        Z = (X - mean) / np.where(sd > 0, sd, 1)
        for fit in (generative, discriminative):
            p = fit(Z[learn], y[learn], y.max() + 1)(Z[rest])
            own = np.maximum(p[np.arange(len(rest)), y[rest]], 1e-300)
            found += [(p.argmax(1) != y[rest]).mean(), -np.log(own).mean()]
    return np.array(found).reshape(SPLITS, 4).T


print(f"{'':21} {'error rate':^21}   {'log loss':^21}   generative")
print(
    f"{'':13} {'rows':>5}  {'generative':>11} {'logistic':>10}   "
    f"{'generative':>10} {'logistic':>10}   errs"
)
figure, panels = plt.subplots(1, 3, figsize=(7.2, 2.6), sharey=True, layout="constrained")
for (name, load), axes in zip(SETS.items(), panels, strict=True):
    axes.set(title=name, xlabel="rows", xscale="log")
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(2002)
    rates = []
    for size in SIZES:
        if size > 0.6 * len(y):
            break
        wrong, loss, wrong_too, loss_too = curve(X, y, size, rng)
        rates.append((size, wrong.mean(), wrong_too.mean()))
        gap = wrong - wrong_too
        error = gap.std(ddof=1) / np.sqrt(SPLITS)
        words = "less" if gap.mean() < -2 * error else "more" if gap.mean() > 2 * error else "alike"
        first = "" if len(rates) > 1 else name
        print(
            f"{first:13} {size:5}   {wrong.mean():10.3f} {wrong_too.mean():10.3f}   "
            f"{loss.mean():10.3f} {loss_too.mean():10.3f}   {words}"
        )
    sizes, *both = np.transpose(rates)
    for rate, style, label in zip(both, "os", ("generative", "logistic"), strict=True):
        axes.plot(sizes, rate, f"{style}-", ms=4, label=label)
    axes.set_xticks(sizes, [f"{size:.0f}" for size in sizes], minor=False)
    axes.minorticks_off()
panels[0].set_ylabel("error rate")
panels[0].legend()
figure.savefig("generative_or_discriminative.svg")
