"""A coin that fell on heads 55 times in 100: prior, posterior, and what comes next."""

import matplotlib.pyplot as plt
import numpy as np

import bayesmodels as bm

rows = bm.datasets.load("coin")["heads"]
prior = bm.BetaBernoulli(alpha=1, beta=1)
posterior = prior.update(rows)
print(posterior.summary().round(3))
print("log evidence:", prior.log_evidence(rows).round(3))
print("P(at least 6 heads in 10):", posterior.predictive(trials=10).sf(5).round(3))

theta = np.linspace(0, 1, 401)
low, high = posterior.interval(0.89)["theta"]
figure, axes = plt.subplots(figsize=(4.8, 3), layout="constrained")
axes.axvspan(low, high, color="C4", alpha=0.3, lw=0, label="89 %")
axes.plot(theta, posterior.marginals()["theta"].pdf(theta), label="after 100 throws")
axes.plot(theta, prior.marginals()["theta"].pdf(theta), "--", label="before")
axes.set(xlabel="probability of heads", ylabel="density")
axes.legend()
figure.savefig("coin.svg")
