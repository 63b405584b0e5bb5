"""The Longley data under a flat prior: NIST's certified coefficients from a Bayesian posterior."""

import matplotlib.pyplot as plt
import numpy as np

import bayesmodels as bm

frame = bm.datasets.load("longley")
data = bm.Design.from_frame(frame, target="employed", intercept=True)
prior = bm.LinearRegression.flat(["intercept", *frame.columns.drop("employed")])
posterior = prior.update(data)
for name, w in zip(posterior.features, posterior.mean()["w"], strict=True):
    print(f"{name:>13} {w: .12g}")
print("residual standard deviation:", np.sqrt(posterior.scale / posterior.shape))

# Yesterday's posterior is today's prior: eight years first, the other eight later.
first, later = (
    bm.Design.from_frame(part, "employed", intercept=True) for part in (frame[:8], frame[8:])
)
again = prior.update(first).update(later)
change = np.abs(again.mean()["w"] / posterior.mean()["w"] - 1).max()
print(f"largest relative change when updated in two steps: {change:.0e}")

# What the model expects of each year, if that year came again.
years = frame["year"]
law = posterior.predictive(frame.drop(columns="employed"), intercept=True)
low, high = law.interval(0.89)
figure, axes = plt.subplots(figsize=(4.8, 3), layout="constrained")
axes.errorbar(years, law.mean(), [law.mean() - low, high - law.mean()], fmt="none", label="89 %")
axes.plot(years, frame["employed"], "o", color="C5", ms=4, label="employed")
axes.set(xlabel="year", ylabel="thousands")
axes.legend()
figure.savefig("longley.svg")
