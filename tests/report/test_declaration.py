"""A PyMC model as text: nothing that a reader needs to write it again is left out."""

import numpy as np
import pymc as pm
import pytest

from bayesmodels.report.declaration import declaration


def text(build):
    with pm.Model(coords={"g": list("ab")}) as model:
        build()
    return declaration(model)


def test_parameters_stand_as_they_were_given():
    """A Gamma's rate, which PyMC keeps as a scale; and a precision, which it keeps as a spread."""

    def build():
        pm.Gamma("a", 2, 0.37)
        pm.Gamma("o", 2, 1)
        pm.Gamma("b", alpha=2, beta=[0.5, 0.37], dims="g")
        pm.Exponential("e", 3.0)
        pm.Exponential("s", scale=3.0)
        pm.Normal("n", 0, tau=4)
        pm.HalfFlat("h")

    assert text(build).splitlines() == [
        "a ~ Gamma(alpha=2, beta=0.37)",
        "o ~ Gamma(alpha=2, beta=1)",
        "b ~ Gamma(alpha=2, beta=[0.5, 0.37])",
        "e ~ Exponential(lam=3)",
        "s ~ Exponential(mu=3)",
        "n ~ Normal(mu=0, sigma=0.5)",
        "h ~ HalfFlat()",
    ]


def test_arrays_are_shown_and_long_ones_by_their_first_numbers_and_shape():
    def build():
        pm.Dirichlet("p", np.ones(3))
        pm.MvNormal("v", np.zeros(2), [[2, 0.5], [0.5, 1]])
        pm.Normal("many", np.arange(100.0).reshape(25, 4), 1)

    assert text(build).splitlines() == [
        "   p ~ Dirichlet(a=[1, 1, 1])",
        "   v ~ MultivariateNormal([0, 0], [[2, 0.5], [0.5, 1]])",
        "many ~ Normal(mu=[0, 1, 2, …; 25 × 4], sigma=1)",
    ]


def test_expressions_are_written_out_with_their_numbers():
    def build():
        x = pm.Data("x", [0.5, 1.5])
        b = pm.Normal("b", 0, 1)
        pm.Deterministic("twice", 2 * b + 3)
        pm.Normal("y", x * b + 0.25, pm.math.exp(b / 4), observed=[1.0, 2.0])
        pm.Potential("pull", -0.5 * b**2)

    assert text(build).splitlines() == [
        "    x = Data([0.5, 1.5])",
        "    b ~ Normal(mu=0, sigma=1)",
        "twice = ((2 * b) + 3)",
        "    y ~ Normal(mu=((x * b) + 0.25), sigma=Exp((b / 4)))",
        " pull ~ Potential((−0.5 * (b ** 2)))",
    ]


def test_long_expressions_say_what_they_are_made_of():
    def build():
        a, b = pm.Normal("a", 0, 1), pm.Normal("b", 0, 1)
        total = a
        for k in range(40):
            total = total + k * b
        pm.Normal("y", total, 1, observed=1.0)

    line = text(build).splitlines()[-1].strip()
    assert line in {"y ~ Normal(mu=f(a, b), sigma=1)", "y ~ Normal(mu=f(b, a), sigma=1)"}


@pytest.mark.parametrize(
    ("build", "line"),
    [
        (
            lambda: pm.Mixture("m", [0.3, 0.7], pm.Normal.dist([0, 1], 1.5)),
            "m ~ Mixture([0.3, 0.7], Normal(mu=[0, 1], sigma=1.5))",
        ),
        (
            lambda: pm.Censored("c", pm.Normal.dist(0.25, 1), lower=None, upper=2.0),
            "c ~ Censored(Normal(mu=0.25, sigma=1), −∞, 2)",
        ),
    ],
)
def test_laws_made_of_laws(build, line):
    assert text(build) == line
