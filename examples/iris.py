"""Fisher's irises: which covariances the species have, and where two of them part."""

import matplotlib.pyplot as plt
import numpy as np

import bayesmodels as bm

flowers = bm.datasets.load("iris")
data = bm.Design.from_frame(flowers, "species")
classes = bm.DirichletCategorical([1, 1, 1], categories=sorted(set(flowers["species"])))

# Centimetres: means about these, variances about 1. Of the matrix's law, the variances alone have
# the law below it, so that the three models differ in nothing but the covariances.
means = [6, 3, 4, 1]
matrix = bm.NormalInverseWishart(means, kappa=0.01, df=6, scale=np.eye(4))
variances = bm.NormalInverseGamma(means, kappa=0.01, shape=1.5, scale=0.5)
priors = {
    "full": bm.GaussianDiscriminant(classes, matrix),
    "shared": bm.GaussianDiscriminant(classes, matrix, covariance="shared"),
    "diagonal": bm.GaussianDiscriminant(classes, variances, covariance="diagonal"),
}
print(bm.compare_evidence(priors, data).iloc[:, :3].round(2))

flower = [[6.0, 2.5, 4.9, 1.6]]
for name, prior in priors.items():
    posterior = prior.update(data)
    probability = posterior.class_probabilities(flower)[0]
    print(f"{name:>8}: P(virginica) {probability[2]:.3f}, P(versicolor) {probability[1]:.3f}")

# Where versicolor and virginica are equally probable, with the posterior mean for the parameters.
two = ["versicolor", "virginica"]
for name in ("full", "shared"):
    posterior = priors[name].update(data)
    line = posterior.boundary(posterior.mean(), between=two)
    risk = posterior.bayes_risk(posterior.mean(), rng=1).value  # of all three
    odds = line.log_odds(flower)[0]
    print(f"{name:>8}: linear {line.linear}, log odds of virginica {odds:.2f}, risk {risk:.3f}")

# All over the petals alone, the sepals integrated out.
figure, panels = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for axes, (name, prior) in zip(panels, priors.items(), strict=True):
    posterior, rng = prior.update(data), np.random.default_rng(1)
    pair = ["petal_length", "petal_width"]
    bm.plots.plot_boundary(posterior, pair, data, points=50, draws=100, rng=rng, axes=axes)
    axes.set_title(name, pad=24)
figure.savefig("iris.svg")
