"""Did aspirin lower the risk of a heart attack? Two groups, one line for both."""

import matplotlib.pyplot as plt
import numpy as np

import bayesmodels as bm

table = bm.datasets.load("aspirin")
counts = bm.BinomialCounts(table["infarctions"], table["participants"])
posterior = bm.BetaBernoulli(1, 1).update(bm.Grouped(counts, by=table["arm"]))
print(posterior.summary().round(5))

draws = posterior.sample(100_000, np.random.default_rng(1))["theta"]
aspirin, placebo = draws.T
print("P(risk is lower with aspirin):", (aspirin < placebo).mean())
print("risk ratio, 89 % interval:", np.quantile(aspirin / placebo, [0.055, 0.945]).round(2))

risk = np.linspace(0.006, 0.022, 400)
figure, axes = plt.subplots(figsize=(4.8, 3), layout="constrained")
axes.plot(risk, posterior.marginals()["theta"].pdf(risk[:, None]), label=table["arm"])
axes.set(xlabel="risk of a heart attack", ylabel="posterior density")
axes.legend()
figure.savefig("aspirin.svg")
