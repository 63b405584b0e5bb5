"""Clinton or Dole? Naive Bayes on a category and two numbers, some of which are missing."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayesmodels as bm

table = bm.datasets.load("party")
X, y = table.drop(columns="vote"), table["vote"]
X["age"] = X["age"].where(X.index % 7 != 0)  # as if every seventh had not told their age
X["party"] = X["party"].where(X.index % 5 != 0)  # and every fifth not how they identify

parties = list(table["party"].cat.categories)
prior = bm.NaiveBayes(
    bm.DirichletCategorical([1, 1], categories=["Clinton", "Dole"]),
    {
        "party": bm.DirichletCategorical([1] * len(parties), categories=parties),
        "age": bm.NormalInverseGamma(mean=45, kappa=0.1, shape=1, scale=200),
        "education": bm.NormalInverseGamma(mean=4, kappa=0.1, shape=1, scale=2),
    },
)
posterior = prior.update((X, y))

voters = pd.DataFrame(
    {"party": ["Independent", "Weak Republican", None], "age": [50, None, 30], "education": 4}
)
low, high = posterior.class_probability_interval(voters, rng=np.random.default_rng(1))
voters["P(Dole)"] = posterior.class_probabilities(voters)[:, 1]
voters["from"], voters["to"] = low[:, 1], high[:, 1]  # 89 %, since parameters are uncertain
print(voters.round(3))
ranking = bm.rank_features(posterior, rng=np.random.default_rng(1))
print(ranking[["mutual_information", "lower", "upper"]].round(4))  # in nats

bm.plots.plot_feature_ranking(ranking)
plt.savefig("party.svg")
