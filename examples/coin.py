"""Buffon had a coin thrown 4,040 times, and 2,048 were heads: prior, posterior, what comes next."""

import matplotlib.pyplot as plt
import numpy as np

import bayesmodels as bm

throws = bm.BinomialCounts(2048, 4040)  # Essai d'arithmétique morale, 1777
prior = bm.BetaBernoulli(alpha=1, beta=1)
posterior = prior.update(throws)
print(posterior.summary().round(4))
print("log evidence:", prior.log_evidence(throws).round(3))
print("P(heads are likelier):", posterior.marginals()["theta"].sf(0.5).round(3))
print("P(at least 6 heads in 10):", posterior.predictive(trials=10).sf(5).round(3))

theta = np.linspace(0.47, 0.56, 401)
low, high = posterior.interval(0.89)["theta"]
figure, axes = plt.subplots(figsize=(4.8, 3), layout="constrained")
axes.axvspan(low, high, color="C4", alpha=0.3, lw=0, label="89 %")
axes.plot(theta, posterior.marginals()["theta"].pdf(theta), label="after 4,040 throws")
axes.plot(theta, prior.marginals()["theta"].pdf(theta), "--", label="before")
axes.axvline(0.5, color="C5", lw=1, label="fair")
axes.set(xlabel="probability of heads", ylabel="density")
axes.legend(loc="upper right")
figure.savefig("coin.svg")
