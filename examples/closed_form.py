"""A PyMC model of one's own: solved where it can be, and the reason where it can't."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import pymc as pm
from pytensor.tensor import TensorVariable

import bayesmodels as bm

# How far diabetes had progressed a year later, by the body mass index of 442 patients.
patients = bm.datasets.load("diabetes").sort_values("bmi")
bmi, progression = patients["bmi"].to_numpy(), patients["progression"].to_numpy()


def progress(noise: Callable[[], TensorVariable]) -> pm.Model:
    """Return a regression; `noise` makes the variance of the errors."""
    with pm.Model(coords={"weight": ["level", "slope"]}) as model:
        variance = noise()
        w = pm.Normal("w", 0, 10 * pm.math.sqrt(variance), dims="weight")
        expected = pm.Deterministic("expected", w[0] + w[1] * (bmi - 26))
        pm.Normal("progression", expected, pm.math.sqrt(variance), observed=progression)
    return model


model = progress(lambda: pm.InverseGamma("variance", 3, 10_000))
posterior = bm.exact(model)
print(posterior.explain())
print(posterior.summary().round(3))
print(f"log evidence {posterior.log_evidence:.6f}, verified {posterior.verified}")

tree = bm.sample(model, 500, rng=1)
print(f"{tree.attrs['sampler']} draws of {', '.join(map(str, tree.posterior.data_vars))}")

low, middle, high = tree.posterior["expected"].quantile([0.055, 0.5, 0.945], ("chain", "draw"))
figure, axes = plt.subplots(figsize=(4.8, 3), layout="constrained")
axes.plot(bmi, progression, ".", color="C5", ms=3, label="patients")
axes.fill_between(bmi, low, high, color="C4", alpha=0.6, lw=0, label="89 %")
axes.plot(bmi, middle, label="expected")
axes.set(xlabel="body mass index, kg/m²", ylabel="progression")
axes.legend()
figure.savefig("closed_form.svg")

try:
    bm.exact(progress(lambda: pm.LogNormal("variance", 0, 1)))
except bm.NotConjugate as error:
    print("not solved:", error.reason)
