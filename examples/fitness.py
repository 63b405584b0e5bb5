"""Are there two kinds of men in a fitness club? A mixture with every class unknown."""

import matplotlib.pyplot as plt

import bayesmodels as bm

rows = bm.datasets.load("fitness")
print(rows.astype(int).value_counts().head(4))


def mixture(classes: int) -> bm.NaiveBayesMixture:
    """Return the prior of so many classes."""
    probabilities = bm.DirichletCategorical([2] * classes)
    return bm.NaiveBayesMixture(probabilities, bm.BetaBernoulli(2, 2))


# How many classes? The exact evidence counts all 2^20 ways to give classes to the rows. One class
# is the model whose features are independent.
alone = float(bm.BetaBernoulli(2, 2).log_evidence(rows).sum())
print(f"log evidence: one class {alone:.2f}, two {float(mixture(2).log_evidence(rows)):.2f}")

# For more rows or classes: EM from many starts, and BIC.
for k in (2, 3):
    found = mixture(k).em(rows, rng=1)
    print(f"{k} classes: BIC {found.bic:.1f}, {len(found.optima)} optima", *found.findings)

# Classes of draws change places. In one order they can be read.
draws = bm.mcmc_draws(mixture(2), rows, rng=1)
in_order = bm.relabel(mixture(2), draws, rows)
print(in_order.sentences()[0])
mean = in_order.draws.posterior.dataset.mean(("chain", "draw"))
print(mean["theta"].to_numpy().round(2))

figure, axes = plt.subplots(figsize=(4.4, 2.2), layout="constrained")
bm.plots.plot_class_profiles(mixture(2).update(rows), mean, axes)
figure.savefig("fitness.svg")
