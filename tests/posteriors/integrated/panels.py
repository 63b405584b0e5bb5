"""Coefficients that vary by group.

Dyestuff: Davies (1947), six batches of five, printed by Box and Tiao (1973), section 5.1.2.
Investment of eleven firms in twenty years (Grunfeld 1950): as in statsmodels, in the public domain.
Houses and counties are made with a seed, in the shape of Gelman and Hill's radon.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import statsmodels.api as sm

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.normal_block import LOG_2PI, Grouped, columns, indicators, linear
from tests.posteriors.integrated.quadrature import POSITIVE, between
from tests.posteriors.integrated.row import row

DYE = np.array(
    [
        [1545, 1440, 1440, 1520, 1580],
        [1540, 1555, 1490, 1560, 1495],
        [1595, 1550, 1605, 1510, 1560],
        [1445, 1440, 1595, 1465, 1545],
        [1595, 1630, 1515, 1635, 1625],
        [1520, 1455, 1450, 1480, 1445],
    ],
    dtype=float,
)
BATCH = np.repeat(np.arange(6), 5)
BATCHES = np.column_stack([np.ones(30), indicators(BATCH)])

RNG = np.random.default_rng(20261124)
COUNTY = np.sort(RNG.integers(0, 24, 150))
COUNTY[:24] = np.arange(24)
FLOOR = RNG.binomial(1, 0.2, 150).astype(float)
URANIUM = RNG.normal(0, 0.4, 24)
RADON = np.round(
    1.4 + RNG.normal(0, 0.35, 24)[COUNTY] + 0.7 * URANIUM[COUNTY] - 0.65 * FLOOR
    + RNG.normal(0, 0.75, 150),
    2,
)  # fmt: skip
SOIL = URANIUM[COUNTY]
ONES = np.ones(150)


def _firms():
    table = sm.datasets.grunfeld.load_pandas().data
    firms = sorted(table["firm"].unique())
    firm = np.array([firms.index(name) for name in table["firm"]])
    value = np.log(table["value"].to_numpy())
    year = (table["year"].to_numpy() - 1935).astype(int)
    return firms, firm, value - value.mean(), year, np.log(table["invest"].to_numpy())


FIRMS, FIRM, VALUE, YEAR, INVEST = _firms()
IN_FIRM, IN_YEAR = indicators(FIRM), indicators(YEAR)


def dye(spread, noise, *, level=100.0, scaled=False):
    sd = columns(len(spread), mu=level, z=(spread, 6))
    mean = np.array([1500.0, *np.zeros(6)])
    C = np.column_stack([np.ones(6), np.eye(6)])
    watch = {"mu": np.eye(7)[0]} | ({} if scaled else {"batch": C})
    which = {"z": np.arange(1, 7)} if scaled else {}
    return linear(BATCHES, DYE.ravel(), sd, noise, mean=mean, watch=watch, scaled=which)


def _dye(spread, noise):
    logs, block = dye(spread, noise)
    return logs + laws.half_normal(spread, 50) + laws.half_normal(noise, 50), block


@row(_dye, spread=POSITIVE, noise=POSITIVE)
def batches_of_dyestuff():
    mu = pm.Normal("mu", 1500, 100)
    spread = pm.HalfNormal("spread", 50)
    noise = pm.HalfNormal("noise", 50)
    batch = pm.Normal("batch", mu, spread, shape=6)
    pm.Normal("y", batch[:, None], noise, observed=DYE)


def _dye_cauchy(spread, noise):
    logs, block = dye(spread, noise, scaled=True)
    return logs + laws.half_cauchy(spread, 25) + laws.exponential(noise, 0.02), block


@row(_dye_cauchy, spread=POSITIVE, noise=POSITIVE)
def batches_of_dyestuff_not_centred():
    mu = pm.Normal("mu", 1500, 100)
    spread = pm.HalfCauchy("spread", 25)
    noise = pm.Exponential("noise", 0.02)
    z = pm.Normal("z", 0, 1, shape=6)
    batch = mu + spread * z
    pm.Normal("y", batch[BATCH], noise, observed=DYE.ravel())


def _dye_variances(between_batches, within):
    logs, block = dye(np.sqrt(between_batches), np.sqrt(within))
    logs = logs + laws.inverse_gamma(between_batches, 2, 1500)
    return logs + laws.inverse_gamma(within, 2, 2500), block


@row(_dye_variances, between_batches=POSITIVE, within=POSITIVE)
def components_of_variance():
    between_batches = pm.InverseGamma("between_batches", 2, 1500)
    within = pm.InverseGamma("within", 2, 2500)
    mu = pm.Normal("mu", 1500, 100)
    batch = pm.Normal("batch", mu, pt.sqrt(between_batches), shape=6)
    for j in range(6):
        pm.Normal(f"y_{j}", batch[j], pt.sqrt(within), observed=DYE[j])


def _share(share, total):
    logs, block = dye(np.sqrt(share) * total, np.sqrt(1 - share) * total)
    return logs + laws.beta(share, 2, 2) + laws.half_normal(total, 100), block


@row(_share, share=between(0, 1), total=POSITIVE)
def share_of_variance_between_batches():
    share = pm.Beta("share", 2, 2)
    total = pm.HalfNormal("total", 100)
    mu = pm.Normal("mu", 1500, 100)
    batch = pm.Normal("batch", mu, pt.sqrt(share) * total, shape=6)
    pm.Normal("y", batch[BATCH], pt.sqrt(1 - share) * total, observed=DYE.ravel())


COUNTIES = Grouped(COUNTY, ONES[:, None], np.column_stack([ONES, FLOOR]), RADON, [10, 10])


def _intercepts(sigma_a, sigma):
    logs, (b, var), effects = COUNTIES.at(sigma_a[:, None], sigma)
    mean, spread = effects([1.0, 0.0])
    block = {"mu_a": (b[:, 0], var[:, 0]), "b": (b[:, 1], var[:, 1])}
    block["a"] = mean[..., 0], spread[..., 0]
    return logs + laws.half_normal(sigma_a, 1) + laws.half_normal(sigma, 1), block


@row(_intercepts, own=True, sigma_a=POSITIVE, sigma=POSITIVE)
def varying_intercepts_of_counties():
    with pm.Model(coords={"county": [f"c{i}" for i in range(24)]}) as model:
        floor, county = pm.Data("floor", FLOOR), pm.Data("county_of", COUNTY)
        mu_a = pm.Normal("mu_a", 0.0, 10.0)
        sigma_a = pm.HalfNormal("sigma_a", 1.0)
        a = pm.Normal("a", mu_a, sigma_a, dims="county")
        b = pm.Normal("b", 0.0, 10.0)
        sigma = pm.HalfNormal("sigma", 1.0)
        pm.Normal("y", a[county] + b * floor, sigma, observed=RADON)
    return model


SOILS = Grouped(COUNTY, ONES[:, None], np.column_stack([ONES, SOIL, FLOOR]), RADON, np.ones(3))


def _predictor(sigma_a, sigma):
    logs, (b, var), effects = SOILS.at(sigma_a[:, None], sigma)
    mean, spread = effects(scaled=True)
    block = {"g": (b[:, :2], var[:, :2]), "b": (b[:, 2], var[:, 2])}
    block["z"] = mean[..., 0], spread[..., 0]
    return logs + laws.exponential(sigma_a, 1) + laws.exponential(sigma, 1), block


@row(_predictor, sigma_a=POSITIVE, sigma=POSITIVE)
def county_predictor_not_centred():
    g = pm.Normal("g", 0, 1, shape=2)
    b = pm.Normal("b", 0, 1)
    sigma_a = pm.Exponential("sigma_a", 1)
    sigma = pm.Exponential("sigma", 1)
    z = pm.Normal("z", 0, 1, shape=24)
    a = pm.Deterministic("a", g[0] + g[1] * URANIUM + sigma_a * z)
    pm.Normal("y", a[COUNTY] + b * FLOOR, sigma, observed=RADON)


def _firm_intercepts(s, noise):
    design = np.column_stack([VALUE, IN_FIRM])
    sd = columns(len(s), slope=2.0, firm=(s, 11))
    mean = np.array([0.0, *np.full(11, 4.0)])
    watch = {"slope": np.eye(12)[0], "level": np.eye(12)[1:]}
    logs, block = linear(design, INVEST, sd, noise, mean=mean, watch=watch)
    return logs + laws.half_cauchy(s, 1) + laws.half_cauchy(noise, 1), block


@row(_firm_intercepts, s=POSITIVE, noise=POSITIVE)
def varying_intercepts_of_firms():
    s, noise = pm.HalfCauchy("s", 1), pm.HalfCauchy("noise", 1)
    slope = pm.Normal("slope", 0, 2)
    level = pm.Normal("level", 4, s, shape=len(FIRMS))
    pm.Normal("invest", level[FIRM] + slope * VALUE, noise, observed=INVEST)


LINES = np.column_stack([np.ones(220), VALUE])
SLOPES = Grouped(FIRM, LINES, LINES, INVEST, [3, 3])


def _firm_slopes(spread, noise):
    logs, mean, effects = SLOPES.at(spread, noise)
    logs = logs + laws.half_normal(spread, 1).sum(1) + laws.exponential(noise, 1)
    return logs, {"mean": mean, "b": effects(np.eye(2))}


@row(_firm_slopes, own=True, rows=400, spread=(POSITIVE, 2), noise=POSITIVE)
def varying_intercepts_and_slopes_of_firms():
    with pm.Model(coords={"firm": FIRMS, "part": ["level", "slope"]}) as model:
        mean = pm.Normal("mean", 0, 3, dims="part")
        spread = pm.HalfNormal("spread", 1, dims="part")
        noise = pm.Exponential("noise", 1)
        b = pm.Normal("b", mean, spread, dims=("firm", "part"))
        pm.Normal("invest", b[FIRM, 0] + b[FIRM, 1] * VALUE, noise, observed=INVEST)
    return model


def _crossed(s_firm, s_year, noise):
    design = np.column_stack([np.ones(220), VALUE, IN_FIRM, IN_YEAR])
    sd = columns(len(noise), mu=5.0, slope=2.0, firm=(s_firm, 11), year=(s_year, 20))
    watch = {"mu": np.eye(33)[0], "slope": np.eye(33)[1], "firm": np.eye(33)[2:13]}
    logs, block = linear(design, INVEST, sd, noise, watch=watch)
    prior = sum(laws.half_normal(x, 1) for x in (s_firm, s_year, noise))
    return logs + prior, block


@row(_crossed, rows=2500, s_firm=POSITIVE, s_year=POSITIVE, noise=POSITIVE)
def firms_and_years_crossed():
    s_firm = pm.HalfNormal("s_firm", 1)
    s_year = pm.HalfNormal("s_year", 1)
    noise = pm.HalfNormal("noise", 1)
    mu = pm.Normal("mu", 0, 5)
    slope = pm.Normal("slope", 0, 2)
    firm = pm.Normal("firm", 0, s_firm, shape=11)
    year = pm.Normal("year", 0, s_year, shape=20)
    pm.Normal("invest", mu + slope * VALUE + firm[FIRM] + year[YEAR], noise, observed=INVEST)


CLASS = np.arange(18)
SCHOOL = np.repeat(np.arange(6), 3)
PUPILS = np.repeat(CLASS, 4)
MARKS = np.round(
    50 + RNG.normal(0, 5, 6)[SCHOOL][PUPILS] + RNG.normal(0, 3, 18)[PUPILS] + RNG.normal(0, 4, 72),
    1,
)


def _nested(school_sd, class_sd, pupil_sd):
    design = np.column_stack([np.ones(72), indicators(SCHOOL[PUPILS]), indicators(PUPILS)])
    sd = columns(len(pupil_sd), mu=20.0, s=(school_sd, 6), c=(class_sd, 18))
    unit = np.eye(25)
    mean = 50 * unit[0]
    school = unit[1:7] + unit[0]
    watch = {"mu": unit[0], "school": school, "room": school[SCHOOL] + unit[7:]}
    logs, block = linear(design, MARKS, sd, pupil_sd, mean=mean, watch=watch)
    prior = sum(laws.half_normal(x, 10) for x in (school_sd, class_sd, pupil_sd))
    return logs + prior, block


@row(_nested, rows=1500, school_sd=POSITIVE, class_sd=POSITIVE, pupil_sd=POSITIVE)
def classes_within_schools():
    school_sd = pm.HalfNormal("school_sd", 10)
    class_sd = pm.HalfNormal("class_sd", 10)
    pupil_sd = pm.HalfNormal("pupil_sd", 10)
    mu = pm.Normal("mu", 50, 20)
    school = pm.Normal("school", mu, school_sd, shape=6)
    room = pm.Normal("room", school[SCHOOL], class_sd, shape=18)
    pm.Normal("mark", room[PUPILS], pupil_sd, observed=MARKS)


PAIRS = np.round(RNG.multivariate_normal([1, -1], [[1.0, 0.5], [0.5, 0.8]], 15), 2)
ERROR = 0.4


def _pairs(s, rho):
    # Rows are N(m, S + ERROR² I) with m ~ N(0, 4 I): the mean of the rows is sufficient for m.
    n = len(PAIRS)
    a, b = s[:, 0] ** 2 + ERROR**2, s[:, 1] ** 2 + ERROR**2
    c = rho * s[:, 0] * s[:, 1]
    middle = PAIRS.mean(0)
    off = PAIRS - middle
    xx, yy, xy = (off[:, 0] ** 2).sum(), (off[:, 1] ** 2).sum(), off.prod(1).sum()
    det = a * b - c**2
    logs = -(b * xx + a * yy - 2 * c * xy) / (2 * det) - (n - 1) / 2 * np.log(det)
    logs = logs - (n - 1) * LOG_2PI - np.log(n)
    # The mean of the rows: N(0, 4 I + (S + ERROR² I) / n)
    a2, b2, c2 = a / n + 4, b / n + 4, c / n
    det2 = a2 * b2 - c2**2
    u = (b2 * middle[0] - c2 * middle[1]) / det2
    v = (a2 * middle[1] - c2 * middle[0]) / det2
    logs = logs - (middle[0] * u + middle[1] * v) / 2 - np.log(det2) / 2 - LOG_2PI
    mean = 4 * np.stack([u, v], -1)
    var = 4 - 16 * np.stack([b2 / det2, a2 / det2], -1)
    return logs + laws.half_normal(s, 2).sum(1) - np.log(2), {"m": (mean, var)}


@row(_pairs, s=(POSITIVE, 2), rho=between(-1, 1))
def correlated_effects_of_pairs():
    m = pm.Normal("m", 0, 2, shape=2)
    s = pm.HalfNormal("s", 2, shape=2)
    rho = pm.Uniform("rho", -1, 1)
    S = pt.stack([[s[0] ** 2, rho * s[0] * s[1]], [rho * s[0] * s[1], s[1] ** 2]])
    effect = pm.MvNormal("effect", m, cov=S, shape=(len(PAIRS), 2))
    pm.Normal("pair", effect, ERROR, observed=PAIRS)


def _players(tau):
    design = np.column_stack([np.ones(18), np.eye(18)])
    sd = columns(len(tau), mu=2.0, theta=(tau, 18))
    watch = {"mu": np.eye(19)[0], "theta": design}
    logs, block = linear(
        design, ARCSINE, sd, np.ones(len(tau)), mean=-3 * np.eye(19)[0], watch=watch
    )
    return logs + laws.half_normal(tau, 1), block


# Efron and Morris (1975): hits of 18 players in 45 times at bat, on the arcsine scale.
HITS = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7])
ARCSINE = np.sqrt(45) * np.arcsin(2 * HITS / 45 - 1)


@row(_players, tau=POSITIVE)
def batting_averages_of_eighteen_players():
    mu = pm.Normal("mu", -3, 2)
    tau = pm.HalfNormal("tau", 1)
    theta = pm.Normal("theta", mu, tau, shape=18)
    pm.Normal("y", theta, 1, observed=np.sqrt(45) * np.arcsin(2 * HITS / 45 - 1))
