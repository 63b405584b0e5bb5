"""Models whose integral is hard, and the truth about each: most are priors, whose integral is one.

What has no truth here has to be refused, in a sentence with one of the words that stand beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions.transforms import Interval, ordered
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from scipy import special, stats
from scipy.integrate import quad

from tests.posteriors.entry import opened

INF = np.inf


@dataclass(frozen=True)
class Truth:
    """Log evidence; means and deviations by name, NaN for those that do not exist; quantiles.

    No log evidence is for priors without an integral.
    """

    log_evidence: float | None = 0.0
    mean: Mapping[str, Any] = field(default_factory=dict)
    sd: Mapping[str, Any] = field(default_factory=dict)
    quartiles: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Hard:
    """A model, its truth if there is one, and the words of which a refusal has to say one.

    Without such words it must not be refused.
    """

    name: str
    build: Callable[[], Any]
    truth: Callable[[], Truth] | None
    refused: tuple[str, ...] = ()


HARD: list[Hard] = []


def hard(truth=None, *, refused=(), name=None, own=False):
    """Put a model beside its truth, or beside words of its refusal, and both in the table."""

    def add(fill):
        said = name or fill.__name__.replace("_", " ")
        HARD.append(Hard(said, fill if own else opened(fill), truth, tuple(refused)))
        return fill

    return add


NODES, WEIGHTS = np.polynomial.legendre.leggauss(30)


def along(log_density, ends, name="x"):
    """Return the truth about a density of one number, by Gauss and Legendre between ends.

    Each part is cut into twenty panels; infinite ones into panels that double their width.
    """
    inside = [e for e in ends if np.isfinite(e)]
    cuts = [np.linspace(a, b, 21) for a, b in pairwise(inside)] or [inside]
    doubling = 2.0 ** np.arange(-4, 60) * max(np.ptp(inside), 1.0) / 4
    if ends[0] == -INF:
        cuts.insert(0, inside[0] - doubling[::-1])
    if ends[-1] == INF:
        cuts.append(inside[-1] + doubling)
    edges = np.unique(np.concatenate(cuts))
    low, width = edges[:-1, None], np.diff(edges)[:, None]
    x = (low + width * (NODES + 1) / 2).ravel()
    with np.errstate(all="ignore"):
        logs = np.array([log_density(one) for one in x], dtype=float)
    logs = np.where(np.isnan(logs), -INF, logs) + np.log((width * WEIGHTS / 2).ravel())
    total = special.logsumexp(logs)
    share = np.exp(logs - total)
    mean = share @ x
    return Truth(total, {name: mean}, {name: np.sqrt(share @ (x - mean) ** 2)})


# --- funnels and bananas --------------------------------------------------------------------------


def funnel(number, law):
    v = pm.Normal("v", 0, 3)
    law("x", 0, pm.math.exp(v / 2), shape=number)


for number in (1, 2):
    wide = np.exp(9 / 4)
    for law, unit in ((pm.Normal, 1.0), (pm.Logistic, np.pi / np.sqrt(3))):
        shape = np.zeros(number)
        hard(
            partial(Truth, 0.0, {"v": 0, "x": shape}, {"v": 3, "x": shape + wide * unit}),
            refused=() if law is pm.Normal else ("v", "x"),
            name=f"funnel of {number + 1} scalars, {law.__name__}",
        )(partial(funnel, number, law))


@hard(partial(Truth, 0.0, {"x": 0, "y": 1}, {"x": 1, "y": np.sqrt(2 + (np.pi * 0.05) ** 2 / 3)}))
def banana():
    x = pm.Normal("x", 0, 1)
    pm.Logistic("y", x**2, 0.05)


@hard(
    partial(
        Truth,
        0.0,
        {"x": 0, "y": 0, "z": 1},
        {"x": 1, "z": np.sqrt(2 + (np.pi * 0.1) ** 2 / 3)},
    ),
    refused=("x", "y", "z"),
)
def banana_of_three():
    x = pm.Normal("x", 0, 1)
    pm.Logistic("y", x, 0.1)
    pm.Logistic("z", x**2, 0.1)


# --- islands --------------------------------------------------------------------------------------


def islands(d, share, distance, ratio):
    """Fill a model with two normal islands; the second one is narrower by a ratio."""
    weights, centres, sds = [1 - share, share], [0.0, distance], [1.0, 1 / ratio]
    if d == 1:
        pm.NormalMixture("x", w=weights, mu=centres, sigma=sds)
        return
    parts = [
        pm.MvNormal.dist(np.full(d, c), np.eye(d) * s**2) for c, s in zip(centres, sds, strict=True)
    ]
    pm.Mixture("x", w=weights, comp_dists=parts)


def of_islands(d, share, distance, ratio):
    mean = share * distance
    square = 1 - share + share * (distance**2 + ratio**-2)
    one = np.ones(d) if d > 1 else 1.0
    return Truth(0.0, {"x": mean * one}, {"x": np.sqrt(square - mean**2) * one})


for case in [
    (1, 0.5, 6, 1),
    (1, 0.5, 100, 1),
    (1, 0.5, 1e4, 1),
    (1, 0.01, 30, 1),
    (1, 1e-4, 30, 1),
    (1, 0.5, 30, 1000),
    (1, 0.01, 1e4, 1000),
    (2, 0.5, 8, 1),
    (2, 0.5, 1e3, 1),
    (2, 0.01, 20, 10),
    (2, 1e-4, 20, 1),
    (2, 0.5, 20, 1000),
    (3, 0.5, 8, 1),
    (3, 0.5, 1e3, 1),
    (3, 0.01, 20, 10),
    (3, 1e-4, 20, 1),
]:
    hard(
        partial(of_islands, *case),
        name="{}-d islands: share {:g}, {:g} apart, {:g} times as narrow".format(*case),
    )(partial(islands, *case))


def two_signs_truth():
    found = along(
        lambda a: stats.norm.logpdf(a) + stats.norm.logpdf(3, 0, np.sqrt(0.01 + a**2)),
        (-INF, -1, 0, 1, INF),
        "a",
    )
    return Truth(found.log_evidence, {"a": 0, "b": 0}, {"a": found.sd["a"], "b": found.sd["a"]})


@hard(two_signs_truth)
def two_signs():
    a = pm.Normal("a")
    b = pm.Normal("b")
    pm.Normal("y", a * b, 0.1, observed=3.0)


@hard(
    lambda: Truth(
        np.logaddexp(
            stats.norm.logpdf(2, 0, np.hypot(1, 1e-3)), stats.norm.logpdf(2, 0, np.hypot(1, 10))
        )
        - np.log(2)
    )
)
def spike_and_slab():
    x = pm.NormalMixture("x", w=[0.5, 0.5], mu=[0, 0], sigma=[1e-3, 10])
    pm.Normal("y", x, 1, observed=2.0)


@hard(
    lambda: Truth(
        np.logaddexp(stats.norm.logpdf(2), stats.norm.logpdf(2, 0, np.hypot(1, 3))) - np.log(2)
    )
)
def spike_and_slab_by_a_label():
    z = pm.Bernoulli("z", 0.5)
    b = pm.Normal("b", 0, 3)
    pm.Normal("y", z * b, 1, observed=2.0)


# --- boundaries -----------------------------------------------------------------------------------


def share(a, b):
    x = pm.Beta("x", a, b)
    pm.Potential("tilt", pm.math.log1p(x))  # nothing conjugate


for a, b in ((0.5, 0.5), (0.1, 2), (0.01, 0.01), (300, 0.2)):
    m = a / (a + b)
    s2 = a * b / (a + b) ** 2 / (a + b + 1)
    raw = [1, m, s2 + m**2]
    raw.append(raw[2] * (a + 2) / (a + b + 2))
    one, two = (raw[1] + raw[2]) / (1 + m), (raw[2] + raw[3]) / (1 + m)
    hard(
        partial(Truth, np.log1p(m), {"x": one}, {"x": np.sqrt(two - one**2)}),
        refused=() if (a, b) in ((0.5, 0.5), (0.1, 2)) else ("x",),
        name=f"spike at an end: Beta({a:g}, {b:g})",
    )(partial(share, a, b))


@hard(partial(Truth, 0.0, {"x": 0.02 / 3}, {"x": np.sqrt(0.02) / 3}))
def a_gamma_law_with_all_mass_at_zero():
    x = pm.Gamma("x", 0.02, 3)
    pm.Deterministic("twice", 2 * x)


@hard(
    lambda: along(
        lambda x: stats.norm.logpdf(x, 0, 5) + stats.norm.logpdf(-40, x, 1) + np.log(2),
        (0, 0.02, 0.2, 2, INF),
    )
)
def a_half_normal_mean_far_outside():
    x = pm.HalfNormal("x", 5)
    pm.Normal("y", x, 1, observed=-40.0)


# --- heavy tails ----------------------------------------------------------------------------------

NAN = np.nan


def heavy(law, *args):
    if "Student" in law:
        getattr(pm, law)("x", args[0], sigma=args[-1])
    else:
        getattr(pm, law)("x", *args)


for law, args, mean, sd, frozen in [
    ("Cauchy", (0, 1), NAN, NAN, stats.cauchy()),
    ("Cauchy", (1e3, 1e-3), NAN, NAN, stats.cauchy(1e3, 1e-3)),
    ("HalfCauchy", (2,), NAN, NAN, stats.halfcauchy(0, 2)),
    ("StudentT", (1.5, 0, 1), 0, NAN, stats.t(1.5)),
    ("StudentT", (2.5, 0, 1), 0, np.sqrt(5), stats.t(2.5)),
    ("HalfStudentT", (1.5, 1), quad(lambda t: 2 * t * stats.t.pdf(t, 1.5), 0, INF)[0], NAN, None),
    ("Pareto", (0.5, 1), NAN, NAN, stats.pareto(0.5)),
    ("LogNormal", (0, 3), np.exp(4.5), np.exp(4.5) * np.sqrt(np.expm1(9)), stats.lognorm(3)),
]:
    quartiles = {} if frozen is None else {"x": frozen.ppf([0.25, 0.75])}
    hard(
        partial(Truth, 0.0, {"x": mean}, {"x": sd}, quartiles),
        name=f"{law}({', '.join(map(str, args))})",
    )(partial(heavy, law, *args))


@hard(
    partial(
        Truth,
        0.0,
        {"x": NAN, "y": 0},
        {"x": NAN, "y": NAN},
        {"x": stats.cauchy.ppf([0.25, 0.75]), "y": stats.t.ppf([0.25, 0.75], 1.5)},
    ),
    refused=("x", "y"),
)
def two_heavy_tails():
    pm.Cauchy("x", 0, 1)
    pm.StudentT("y", 1.5)


# of two Cauchy laws at a distance 2a: f*f has density 2 / (pi (4 + 4 a^2))
@hard(
    lambda: Truth(np.log(2 / np.pi / (4 + 20.0**2)), {"x": 10.0}, {"x": np.sqrt(1 + 10.0**2)}),
    refused=("x",),
)
def a_cauchy_prior_against_a_cauchy_row():
    x = pm.Cauchy("x", 0, 1)
    pm.Cauchy("y", x, 1, observed=20.0)


# --- improper posteriors --------------------------------------------------------------------------


@hard(refused=("mu",))
def a_flat_number_without_data():
    pm.Flat("mu")


@hard(refused=("a", "b"))
def one_flat_number_of_two_without_data():
    pm.Cauchy("a", 0, 1)
    pm.Flat("b")


@hard(refused=("tau",))
def a_flat_scale_of_two_groups():
    tau = pm.HalfFlat("tau")
    mu = pm.Flat("mu")
    theta = pm.Normal("theta", mu, tau, shape=2)
    pm.Normal("y", theta, [1.0, 2.0], observed=[3.0, -1.0])


@hard(refused=("tau",))
def one_over_tau_of_a_hierarchy():
    tau = pm.HalfFlat("tau")
    theta = pm.Normal("theta", 0, tau, shape=5)
    pm.Normal("y", theta, 1.0, observed=[3.0, -1.0, 0.5, 2.0, 1.0])
    pm.Potential("one over tau", -pm.math.log(tau))


@hard(refused=("log tau",))
def a_flat_log_scale_of_a_hierarchy():
    log_tau = pm.Flat("log tau")
    theta = pm.Normal("theta", 0, pm.math.exp(log_tau), shape=5)
    pm.Normal("y", theta, 1.0, observed=[3.0, -1.0, 0.5, 2.0, 1.0])


@hard(refused=("x",))
def tails_that_have_just_no_integral():
    x = pm.Flat("x")
    pm.Potential("tail", -0.5 * pm.math.log1p(x**2))


@hard(refused=("x",))
def tails_that_have_no_integral_by_a_logarithm():
    x = pm.Flat("x")
    pm.Potential("tail", -0.5 * pm.math.log1p(x**2) - pm.math.log(2 + pm.math.log1p(x**2)))


def jeffreys_truth(*, own=True):
    y = np.array([3.0, -1.0, 0.5, 2.0, 1.0])
    s = ((y - y.mean()) ** 2).sum()
    # sigma^2 ~ InverseGamma((n - 1) / 2, s / 2), and mu has a Student t law with n - 1 degrees
    of_mu = stats.t(4, y.mean(), np.sqrt(s / 20))
    if own:
        mean = np.exp(special.gammaln(1.5) - special.gammaln(2)) * np.sqrt(s / 2)
        of_scale = {"sigma": mean}, {"sigma": np.sqrt(s / 2 - mean**2)}
    else:
        of_scale = (
            {"log sigma": (np.log(s / 2) - special.digamma(2)) / 2},
            {"log sigma": np.sqrt(special.polygamma(1, 2)) / 2},
        )
    return Truth(None, {"mu": of_mu.mean(), **of_scale[0]}, {"mu": of_mu.std(), **of_scale[1]})


@hard(jeffreys_truth)
def one_over_sigma_of_rows():
    mu = pm.Flat("mu")
    sigma = pm.HalfFlat("sigma")
    pm.Normal("y", mu, sigma, observed=[3.0, -1.0, 0.5, 2.0, 1.0])
    pm.Potential("one over sigma", -pm.math.log(sigma))


@hard(partial(jeffreys_truth, own=False))
def a_flat_log_scale_of_rows():
    mu = pm.Flat("mu")
    log_sigma = pm.Flat("log sigma")
    pm.Normal("y", mu, pm.math.exp(log_sigma), observed=[3.0, -1.0, 0.5, 2.0, 1.0])


def halfflat_truth():
    y, s = np.array([28.0, 8, -3, 7]), np.array([15.0, 10, 16, 11])

    def log_density(tau):
        v = tau**2 + s**2
        w = 1 / v
        m = (w * y).sum() / w.sum()
        return 0.5 * (np.log(w).sum() - np.log(w.sum()) - (w * (y - m) ** 2).sum()) - 1.5 * np.log(
            2 * np.pi
        )

    found = along(log_density, (0, 10, 100, INF), "tau")
    return Truth(None, found.mean, {"tau": NAN})


@hard(halfflat_truth, name="a flat scale of four groups")
def a_flat_scale_of_four_groups():
    tau = pm.HalfFlat("tau")
    mu = pm.Flat("mu")
    theta = pm.Normal("theta", mu, tau, shape=4)
    pm.Normal("y", theta, [15.0, 10, 16, 11], observed=[28.0, 8, -3, 7])


# --- plateaus, steps and kinks --------------------------------------------------------------------


@hard(partial(Truth, 0.0, {"x": 1e8}, {"x": 1 / np.sqrt(12)}))
def a_uniform_number_far_out():
    pm.Uniform("x", 1e8 - 0.5, 1e8 + 0.5)


def smooth_plateau(x):
    return -np.logaddexp(0, -(x + 5) / 0.05) - np.logaddexp(0, (x - 5) / 0.05) - x * 0


@hard(
    lambda: Truth(
        along(
            lambda x: smooth_plateau(x) + stats.norm.logpdf(x, 1, 100),
            (-INF, -6, -5, -4, 4, 5, 6, INF),
        ).log_evidence
    )
)
def a_plateau_with_steep_sides():
    x = pm.Normal("x", 1, 100)
    pm.Potential(
        "p",
        pm.math.log(pm.math.sigmoid((x + 5) / 0.05)) + pm.math.log(pm.math.sigmoid((5 - x) / 0.05)),
    )


def cut(low, high):
    x = pm.Normal("x", 0, 1)
    pm.Potential("inside", pm.math.switch((x > low) & (x < high), 0.0, -np.inf))


def of_cut(low, high):
    law = stats.truncnorm(low, high)
    mass = stats.norm.cdf(high) - stats.norm.cdf(low)
    return Truth(np.log(mass), {"x": law.mean()}, {"x": law.std()})


for low, high in ((-0.5, 0.7), (1.0, INF), (4.0, 4.1)):
    hard(partial(of_cut, low, high), refused=("x",), name=f"a normal law cut to ({low}, {high})")(
        partial(cut, low, high)
    )


@hard(
    lambda: Truth(np.logaddexp(np.log(0.5), np.log(0.5) - 1)),
    refused=("x",),
)
def a_step():
    x = pm.Normal("x", 0, 1)
    pm.Potential("step", pm.math.switch(x > 0, -1.0, 0.0))


@hard(
    lambda: Truth(
        special.logsumexp(
            [
                np.log(np.diff(stats.norm.cdf([k - 0.5, k + 0.5]))[0])
                + stats.norm.logpdf(0.7, k, 1)
                for k in range(-8, 9)
            ]
        )
    ),
    refused=("x",),
)
def rounded():
    x = pm.Normal("x", 0, 1)
    pm.Normal("y", pm.math.round(x, mode="half_to_even"), 1, observed=0.7)


@hard(lambda: Truth(np.log(np.pi / 4)), refused=("x",))
def a_disc_cut_out_of_a_square():
    x = pm.Uniform("x", -1, 1, shape=2)
    pm.Potential("disc", pm.math.switch((x**2).sum() < 1, 0.0, -np.inf))


@hard(lambda: Truth(np.log(0.5)), refused=("a", "b"))
def an_order_by_a_constraint():
    a = pm.StudentT("a", 5)
    b = pm.StudentT("b", 5)
    pm.Potential("order", pm.math.switch(a < b, 0.0, -np.inf))


@hard(
    lambda: along(
        lambda x: stats.laplace.logpdf(x) + stats.laplace.logpdf([0.5, 2.0, -3.1], x, 0.7).sum(),
        (-INF, -3.1, 0, 0.5, 2.0, INF),
    )
)
def kinks():
    x = pm.Laplace("x", 0, 1)
    pm.Laplace("y", x, 0.7, observed=[0.5, 2.0, -3.1])


@hard(
    partial(Truth, 0.0, {"x": 0, "y": 0}, {"x": np.sqrt(2), "y": 1e-3 * np.sqrt(2)}), refused=("x",)
)
def kinks_of_two():
    pm.Laplace("x", 0, 1)
    pm.Laplace("y", 0, 1e-3)


@hard(refused=("x",))
def not_a_number_in_a_region():
    x = pm.Uniform("x", -1, 2)
    pm.Potential("root", pm.math.sqrt(x))


@hard(lambda: along(lambda x: stats.norm.logpdf(x, 50, 1) + np.log(x), (30, 40, 50, 60, 70)))
def not_a_number_far_away():
    x = pm.Normal("x", 50, 1)
    pm.Potential("log", pm.math.log(x))


# --- blocks that are nearly singular; sizes -------------------------------------------------------

TIGHT = np.array([[1.0, 0.999999], [0.999999, 1.0]])


@hard(partial(Truth, 0.0, {"x": [1, -2]}, {"x": np.sqrt([5 / 3, 5 / 3])}))
def a_correlation_of_nearly_one():
    pm.MvStudentT("x", nu=5, mu=[1.0, -2.0], scale=TIGHT)


@hard(partial(Truth, 0.0, {"x": [1e8, 0]}, {"x": [100 * np.sqrt(5 / 3), 1e8 * np.sqrt(5 / 3)]}))
def scales_of_all_sizes():
    pm.StudentT("x", 5, mu=[1e8, 0], sigma=[100, 1e8], shape=2)


@hard(partial(Truth, 0.0, {"x": 0}, {"x": 1e-8 * np.sqrt(5 / 3)}))
def a_tiny_scale():
    pm.StudentT("x", 5, sigma=1e-8)


@hard(partial(Truth, 0.0, {"x": 0}, {"x": 1e8 * np.sqrt(5 / 3)}))
def a_huge_scale():
    pm.StudentT("x", 5, sigma=1e8)


def tiny_rows_truth():
    y = 1e-8 * np.array([1.0, 2, -1, 3])
    found = along(
        lambda t: (
            stats.norm.logpdf(y, 0, 1e-8 * np.exp(t)).sum()
            + stats.halfcauchy.logpdf(1e-8 * np.exp(t))
            + t
            + np.log(1e-8)
        ),
        (-30, -5, 0, 2, 5, 40),
    )
    return Truth(found.log_evidence)


@hard(tiny_rows_truth)
def rows_of_a_tiny_size():
    sigma = pm.HalfCauchy("sigma", 1)
    pm.Normal("y", 0, sigma, observed=1e-8 * np.array([1.0, 2, -1, 3]))


@hard(partial(Truth, 0.0, {"x": 0, "s": np.sqrt(2 / np.pi)}, {"x": 5**0.5 * 3**-0.5}))
def no_rows():
    x = pm.StudentT("x", 5)
    s = pm.HalfNormal("s", 1)
    pm.Normal("y", x, s, observed=np.zeros(0))


@hard(
    lambda: Truth(
        along(
            lambda t: (
                stats.halfcauchy.logpdf(np.exp(t))
                + t
                + stats.norm.logpdf(1.5, 0, np.hypot(1, np.exp(t)))
            ),
            (-60, -10, 0, 10, 60),
        ).log_evidence,
        sd={"s": NAN},  # its density falls like the third power
    )
)
def one_row():
    mu = pm.Normal("mu", 0, 1)
    s = pm.HalfCauchy("s", 1)
    pm.Normal("y", mu, s, observed=[1.5])


FAR = 1e8 + np.array([0.5, -1.0, 2.0, 0.25])


@hard(
    lambda: Truth(
        along(
            lambda z: stats.norm.logpdf(z, 0, 10) + stats.t.logpdf(FAR - 1e8, 3, z, 1).sum(),
            (-INF, -5, 0, 5, INF),
        ).log_evidence
    )
)
def rows_far_from_zero():
    mu = pm.Normal("mu", 1e8, 10)
    pm.StudentT("y", 3, mu=mu, sigma=1, observed=FAR)


@hard(
    lambda: Truth(
        along(
            lambda t: (
                stats.norm.logpdf(t)
                + special.xlogy(300_000, special.expit(t))
                + 700_000 * special.log_expit(-t)
            ),
            (-1.0, -0.87, -0.8473, -0.82, -0.7),
        ).log_evidence
        + special.gammaln(1_000_001)
        - special.gammaln(300_001)
        - special.gammaln(700_001)
    )
)
def a_million_throws():
    p = pm.LogitNormal("p", 0, 1)
    pm.Binomial("y", 1_000_000, p, observed=300_000)


def million_truth():
    n, mean, squares = 1e6, 3.0, 4e6

    def log_density(t):  # mu integrated under a normal prior of sd 10
        v = np.exp(2 * t)
        return (
            -n / 2 * np.log(2 * np.pi * v)
            - squares / 2 / v
            + 0.5 * np.log(2 * np.pi * v / n)
            + stats.norm.logpdf(mean, 0, np.sqrt(100 + v / n))
            + stats.halfcauchy.logpdf(np.exp(t))
            + t
        )

    c = np.log(2)
    return Truth(along(log_density, (c - 0.02, c - 0.003, c, c + 0.003, c + 0.02)).log_evidence)


@hard(million_truth)
def a_million_rows_by_their_sums():
    mu = pm.Normal("mu", 0, 10)
    s = pm.HalfCauchy("s", 1)
    n = 1e6
    pm.Potential(
        "rows",
        -n / 2 * pm.math.log(2 * np.pi)
        - n * pm.math.log(s)
        - (4e6 + n * (mu - 3.0) ** 2) / 2 / s**2,
    )


# --- operations without a gradient, finite variables, transforms ---------------------------------


class Bessel(Op):
    """The log of a modified Bessel function, without a gradient."""

    def make_node(self, x):
        return Apply(self, [pt.as_tensor_variable(x)], [pt.dscalar()])

    def perform(self, node, inputs, outputs):  # noqa: ARG002 - PyTensor's signature
        outputs[0][0] = np.asarray(np.log(special.ive(1.0, inputs[0])) + inputs[0])


@hard(
    lambda: along(
        lambda x: stats.expon.logpdf(x) + np.log(special.ive(1.0, x)) + x - 0.1 * x**2,
        (0, 1, 5, 20, 60),
    )
)
def a_black_box():
    x = pm.Exponential("x", 1)
    pm.Potential("box", Bessel()(x) - 0.1 * x**2)


@hard(
    lambda: Truth(
        special.logsumexp(
            [
                np.log(w)
                + along(
                    lambda x, k=k: (
                        stats.t.logpdf(x, 5) + stats.t.logpdf([1.0, 2.5], 3, x + k, 1).sum()
                    ),
                    (-INF, 0, INF),
                ).log_evidence
                for k, w in enumerate([0.2, 0.5, 0.3])
            ]
        )
    )
)
def a_category():
    k = pm.Categorical("k", [0.2, 0.5, 0.3])
    x = pm.StudentT("x", 5)
    pm.StudentT("y", 3, mu=x + k, sigma=1, observed=[1.0, 2.5])


@hard(
    lambda: Truth(
        along(
            lambda b: (
                stats.norm.logpdf(b)
                + sum(
                    np.logaddexp(
                        special.log_expit(b) + stats.norm.logpdf(y, 3),
                        special.log_expit(-b) + stats.norm.logpdf(y),
                    )
                    for y in (2.0, 0.1, 3.5, -1.0)
                )
            ),
            (-INF, -2, 0, 2, INF),
        ).log_evidence
    )
)
def labels():
    b = pm.Normal("b", 0, 1)
    z = pm.Bernoulli("z", pm.math.invlogit(b), shape=4)
    pm.Normal("x", 3 * z, 1, observed=[2.0, 0.1, 3.5, -1.0])


@hard(
    lambda: Truth(
        special.logsumexp(
            [
                along(
                    lambda t, k=k: (
                        stats.lognorm.logpdf(t, 1) + stats.poisson.logpmf([4, 6], t + k).sum()
                    ),
                    (0, 1, 5, 20, INF),
                ).log_evidence
                for k in range(1, 5)
            ]
        )
        - np.log(4)
    )
)
def a_whole_number_of_a_range():
    k = pm.DiscreteUniform("k", 1, 4)
    rate = pm.LogNormal("rate", 0, 1)
    pm.Poisson("y", rate + k, observed=[4, 6])


@hard(refused=("k",))
def a_count_without_end():
    k = pm.Poisson("k", pm.HalfNormal("rate", 3))
    pm.Normal("y", k, 1, observed=[4.0])


def _any_count():
    def given(k):
        return quad(lambda x: stats.t.pdf(x, 5) * stats.norm.pdf(4, x + k), -INF, INF)[0]

    return Truth(np.log(sum(stats.poisson.pmf(k, 3) * given(k) for k in range(60))))


@hard(_any_count)
def a_count_whose_prior_ends():
    k = pm.Poisson("k", 3)
    x = pm.StudentT("x", 5)
    pm.Normal("y", x + k, 1, observed=[4.0])


@hard(partial(Truth, np.log(stats.norm.cdf(3 / np.sqrt(2)))))
def numbers_in_order():
    pm.Normal("x", [0, 3], 1, transform=ordered)


@hard(partial(Truth, -np.log(6.0)))
def three_heavy_numbers_in_order():
    pm.StudentT("x", 7, mu=[-1e-9, 0, 1e-9], shape=3, transform=ordered)


def simplex_truth():
    p = np.array([2.0, 0.5, 1.5])
    e = p[0] / 4
    return Truth(np.log1p(e))


@hard(simplex_truth)
def a_simplex():
    p = pm.Dirichlet("p", [2, 0.5, 1.5])
    pm.Potential("tilt", pm.math.log1p(p[0]))


@hard(partial(Truth, 0.0, {}, {}))
def a_covariance():
    pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1))


@hard(
    lambda: Truth(
        along(
            lambda a: (
                stats.halfnorm.logpdf(a)
                + np.log(
                    quad(
                        lambda b: np.exp(stats.norm.logpdf(0.3, b, 0.2)),
                        0,
                        a,
                        epsrel=1e-13,
                        epsabs=0,
                    )[0]
                    / a
                )
            ),
            (0, 0.2, 0.5, 1, 3, 12),
            "a",
        ).log_evidence
    )
)
def ends_that_depend():
    a = pm.HalfNormal("a", 1)
    b = pm.Uniform("b", 0, a)
    pm.Normal("y", b, 0.2, observed=0.3)


@hard(lambda: Truth(np.log(stats.norm.cdf(1.0))))
def a_normal_law_above_zero_by_its_transform():
    pm.Normal("x", 1, 1, transform=Interval(0, None))


def single():
    with pytensor.config.change_flags(floatX="float32"), pm.Model() as model:
        x = pm.StudentT("x", 5)
        pm.StudentT("y", 3, mu=x, sigma=1, observed=np.array([1.0, 2.5], dtype="float32"))
    return model


hard(
    lambda: along(
        lambda x: stats.t.logpdf(x, 5) + stats.t.logpdf([1.0, 2.5], 3, x, 1).sum(),
        (-INF, 0, 2, INF),
    ),
    name="single precision",
    own=True,
)(single)


def missing_truth():
    return Truth(
        along(
            lambda x: stats.t.logpdf(x, 5) + stats.t.logpdf([1.0, 2.5], 5, x, 1).sum(),
            (-INF, 0, 2, INF),
        ).log_evidence
    )


@hard(missing_truth)
def rows_that_are_missing():
    x = pm.StudentT("x", 5)
    pm.StudentT("y", 5, mu=x, sigma=1, observed=np.ma.masked_invalid([1.0, np.nan, 2.5]))
