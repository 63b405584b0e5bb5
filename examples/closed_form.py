"""A PyMC model of one's own: solved where it can be, and the reason where it can't."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
from pytensor.tensor import TensorVariable

import bayesmodels as bm

# How many cycles per minute does an octopus breathe at which temperature? Made-up measurements.
temperature = np.array([12.0, 14, 16, 18, 20, 22, 24])
breaths = np.array([13.1, 15.2, 18.8, 20.1, 23.9, 25.2, 28.4])


def breathing(noise: Callable[[], TensorVariable]) -> pm.Model:
    """Return a regression; `noise` makes the variance of the errors."""
    with pm.Model(coords={"weight": ["level", "slope"]}) as model:
        variance = noise()
        w = pm.Normal("w", 0, 10 * pm.math.sqrt(variance), dims="weight")
        expected = pm.Deterministic("expected", w[0] + w[1] * (temperature - 18))
        pm.Normal("breaths", expected, pm.math.sqrt(variance), observed=breaths)
    return model


model = breathing(lambda: pm.InverseGamma("variance", 3, 2))
posterior = bm.exact(model)
print(posterior.explain())
print(posterior.summary().round(3))
print(f"log evidence {posterior.log_evidence:.6f}, verified {posterior.verified}")

tree = bm.sample(model, 500, rng=1)
print(f"{tree.attrs['sampler']} draws of {', '.join(map(str, tree.posterior.data_vars))}")

low, middle, high = tree.posterior["expected"].quantile([0.055, 0.5, 0.945], ("chain", "draw"))
figure, axes = plt.subplots(figsize=(4.8, 3), layout="constrained")
axes.fill_between(temperature, low, high, color="C4", alpha=0.4, lw=0, label="89 %")
axes.plot(temperature, middle, label="expected")
axes.plot(temperature, breaths, "o", color="C5", label="measured")
axes.set(xlabel="temperature, °C", ylabel="breaths a minute")
axes.legend()
figure.savefig("closed_form.svg")

try:
    bm.exact(breathing(lambda: pm.LogNormal("variance", 0, 1)))
except bm.NotConjugate as error:
    print("not solved:", error.reason)
