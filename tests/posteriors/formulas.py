"""Models as Bambi writes them: a formula, a family, and a small table."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd


def table(rows=30):
    """Return rows of every kind of response that a formula may have, and what they depend on."""
    rng = np.random.default_rng(20261127)
    g, h, x = np.arange(rows) % 6, np.arange(rows) // 5 % 5, rng.normal(size=rows)
    eta = 0.5 * x + 0.4 * rng.normal(size=6)[g] + 0.4 * rng.normal(size=5)[h]
    rate = np.exp(0.5 + 0.5 * eta)
    p = 1 / (1 + np.exp(-eta))
    return pd.DataFrame(
        {
            "x": x,
            "z": rng.normal(size=rows),
            "t": np.linspace(0, 3, rows),
            "g": [f"g{i}" for i in g],
            "h": [f"h{i}" for i in h],
            "arm": np.where(np.arange(rows) % 2, "new", "old"),
            "y": eta + rng.normal(size=rows) / 2,
            "positive": np.exp(eta + rng.normal(size=rows) / 4),
            "share": np.clip(p + rng.normal(size=rows) / 20, 0.02, 0.98),
            "yes": rng.binomial(1, p),
            "hits": rng.binomial(9, p),
            "n": np.full(rows, 9),
            "count": rng.poisson(rate),
            "some": rng.poisson(rate) * rng.binomial(1, 0.7, rows),
            "exposure": rng.uniform(1, 3, rows),
            "w": rng.uniform(0.5, 2, rows),
            "angle": np.mod(eta + np.pi, 2 * np.pi) - np.pi,
            "kind": rng.choice(["a", "b", "c"], rows),
            "grade": pd.Categorical(np.digitize(eta, [-0.5, 0.5]) + 1, ordered=True),
            "a": rng.multinomial(5, [0.5, 0.3, 0.2], rows)[:, 0],
            "end": rng.choice(["none", "right"], rows, p=[0.8, 0.2]),
        }
    )


@dataclass(frozen=True)
class Formula:
    """A formula, its family and whatever else `bambi.Model` is told."""

    name: str
    text: str
    family: str = "gaussian"
    more: dict[str, Any] = field(default_factory=dict)
    further: tuple[str, ...] = ()  # formulas of other parameters than the mean

    def build(self):
        """Return the PyMC model that Bambi builds."""
        import bambi

        text = bambi.Formula(self.text, *self.further) if self.further else self.text
        model = bambi.Model(text, table(), family=self.family, **self.more)
        model.build()
        return model.backend.model


FORMULAS = [
    Formula("a line", "y ~ x"),
    Formula("no intercept", "y ~ 0 + x"),
    Formula("an interaction", "y ~ x * arm"),
    Formula("levels", "y ~ 0 + h"),
    Formula("a power and a function", "y ~ x + I(x**2) + np.exp(z)"),
    Formula("standardised columns", "y ~ scale(x) + center(z)"),
    Formula("an offset", "y ~ x + offset(z)"),
    Formula("weighted rows", "weighted(y, w) ~ x"),
    Formula("a polynomial", "y ~ poly(t, 3)"),
    Formula("a spline", "y ~ bs(t, df=5)"),
    Formula("a process in a basis", "y ~ hsgp(t, m=5, c=1.5)"),
    Formula("a centred process in a basis", "y ~ hsgp(t, m=4, c=1.5, centered=True)"),
    Formula("groups", "y ~ x + (1|g)"),
    Formula("centred groups", "y ~ x + (1|g)", more={"noncentered": False}),
    Formula("slopes of groups", "y ~ x + (x|g)"),
    Formula("slopes of groups alone", "y ~ x + (0 + x|g)"),
    Formula("crossed groups", "y ~ x + (1|g) + (1|h)"),
    Formula("nested groups", "y ~ x + (1|h/arm)"),
    Formula("levels of groups", "y ~ arm + (arm|g)"),
    Formula("groups and a spline", "y ~ bs(t, df=4) + (1|g)"),
    Formula("heavy tails", "y ~ x", "t"),
    Formula("a quantile", "y ~ x", "asymmetriclaplace"),
    Formula("a spread that changes", "y ~ x", further=("sigma ~ x",)),
    Formula("a spread of groups", "y ~ x", further=("sigma ~ 1 + (1|h)",)),
    Formula("chances", "yes ~ x", "bernoulli"),
    Formula("chances of groups", "yes ~ x + (1|g)", "bernoulli"),
    Formula("chances by probit", "yes ~ x", "bernoulli", {"link": "probit"}),
    Formula("chances by cloglog", "yes ~ x", "bernoulli", {"link": "cloglog"}),
    Formula("trials", "p(hits, n) ~ x + arm", "binomial"),
    Formula("trials of groups that differ", "p(hits, n) ~ 1 + (1|g)", "beta_binomial"),
    Formula("counts", "count ~ x + offset(np.log(exposure))", "poisson"),
    Formula("counts of groups", "count ~ x + (1|g)", "poisson"),
    Formula("counts that spread", "count ~ x", "negativebinomial"),
    Formula("counts with many zeros", "some ~ x", "zero_inflated_poisson"),
    Formula("sizes", "positive ~ x", "gamma", {"link": "log"}),
    Formula("durations with some that go on", "censored(positive, end) ~ x", "exponential"),
    Formula("shares", "share ~ x", "beta"),
    Formula("directions", "angle ~ x", "vonmises"),
    Formula("kinds", "kind ~ x", "categorical"),
    Formula("grades", "grade ~ 0 + x", "cumulative"),
]
