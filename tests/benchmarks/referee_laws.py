"""Draws of known laws, right and wrong in known ways, for `bench_referee`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import signal, special, stats
from scipy.linalg import solve_triangular

import bayesmodels as bm
from bayesmodels.numerics.laws import MixtureLaw

CHAINS, DRAWS = 4, 1000
RHO = {
    "iid": 0.0,
    "AR(0.1)": 0.1,
    "AR(0.3)": 0.3,
    "AR(0.5)": 0.5,
    "AR(0.9)": 0.9,
    "AR(0.95)": 0.95,
    "AR(-0.8)": -0.8,
}


def walk(
    rng: np.random.Generator, rho: float, size: int, draws: int = DRAWS, chains: int = CHAINS
) -> np.ndarray:
    """Return standard normal chains of the shape (chain, draw, size)."""
    noise = rng.standard_normal((chains, draws + 200, size)) * np.sqrt(1 - rho**2)
    return signal.lfilter([1.0], [1.0, -rho], noise, axis=1)[:, 200:]


def resampled(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return draws with the weights of importance sampling: the first coordinate was too wide."""
    pool = rng.standard_normal((CHAINS * DRAWS, size))
    pool[:, 0] *= WIDE
    log_weights = (pool[:, 0] / WIDE) ** 2 / 2 - pool[:, 0] ** 2 / 2
    weights = np.exp(log_weights)
    return _chains(pool[rng.choice(len(pool), CHAINS * DRAWS, p=weights / weights.sum())])


def bootstrap(rng: np.random.Generator, size: int, number: int = CHAINS * DRAWS) -> np.ndarray:
    """Return draws with replacement from so many independent ones."""
    pool = rng.standard_normal((number, size))
    return _chains(pool[rng.integers(number, size=CHAINS * DRAWS)])


def antithetic(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return two chains, and two that are these with the other sign."""
    half = rng.standard_normal((CHAINS // 2, DRAWS, size))
    return np.concatenate([half, -half])


def _chains(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(CHAINS, DRAWS, -1)


WIDE = 2.2
COPIED = {
    "resampled by weights": resampled,
    "bootstrap of 4,000": bootstrap,
    "bootstrap of 1,000": partial(bootstrap, number=1000),
    "antithetic pairs of chains": antithetic,
}
"""Right draws that tell less than their number, by their kind."""


@cache
def beta() -> Any:
    """Return the law of one probability."""
    return bm.BetaBernoulli(5, 19)


def beta_draws(z: np.ndarray) -> dict[str, np.ndarray]:
    """Turn normal numbers into draws of it."""
    return {"theta": beta().marginals()["theta"].ppf(special.ndtr(z[..., 0]))}


@cache
def t3() -> Any:
    """Return a law whose marginal is Student's t with 3 degrees of freedom."""
    return bm.LinearRegression(0, 1, 1.5, 1)


def nig_data() -> tuple[Any, Any]:
    """Return a prior of ten coefficients and a variance, and rows of which two are correlated."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 10))
    X[:, 1] = -0.7 * X[:, 0] + np.sqrt(1 - 0.49) * X[:, 1]
    y = X @ rng.standard_normal(10) + rng.standard_normal(60)
    return bm.LinearRegression(np.zeros(10), 0.01 * np.eye(10), 2, 2), (X, y)


@cache
def nig() -> Any:
    """Return the posterior of it."""
    prior, data = nig_data()
    return prior.update(data)


def regression_draws(law: Any, z: np.ndarray) -> dict[str, np.ndarray]:
    """Turn normal numbers into draws of a regression."""
    variance = law.marginals()["sigma2"].ppf(special.ndtr(z[..., -1]))
    size = z.shape[-1] - 1
    noise = solve_triangular(law.precision_factor, z[..., :-1].reshape(-1, size).T).T
    w = law.mean()["w"] + np.sqrt(variance)[..., None] * noise.reshape(*variance.shape, size)
    return {"sigma2": variance, "w": w}


@cache
def ten() -> Any:
    """Return the posterior of mean and variance, which ten rows tell."""
    rows = np.random.default_rng(3).normal(447, 3.2, 10)
    return bm.NormalInverseGamma(440, 0.01, 2, 10).update(rows)


def ten_draws(z: np.ndarray) -> dict[str, np.ndarray]:
    """Turn normal numbers into draws of it."""
    law = ten()
    variance = law.marginals()["sigma2"].ppf(special.ndtr(z[..., 1]))
    return {"mu": law.location + np.sqrt(variance / law.kappa) * z[..., 0], "sigma2": variance}


@cache
def bayes() -> Any:
    """Return the posterior of naive Bayes."""
    rng = np.random.default_rng(2)
    label = rng.integers(0, 3, 300)
    bits = rng.random((300, 200)) < rng.random((3, 200))[label]
    prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1, 1]), bm.BetaBernoulli(1, 1))
    return prior.update((bits.astype(int), label))


@cache
def bayes_tables() -> tuple[np.ndarray, np.ndarray]:
    """Return quantiles of every probability of the naive Bayes model at many normal scores."""
    z = np.linspace(-5.5, 5.5, 2000)
    law = bayes().marginals()["theta"]
    return z, law.ppf(special.ndtr(z)[:, None, None]).reshape(len(z), -1)


def bayes_draws(z: np.ndarray) -> dict[str, np.ndarray]:
    """Turn normal numbers into draws of it; quantiles are read off a fine table."""
    grid, known = bayes_tables()
    theta = np.empty((*z.shape[:2], known.shape[1]))
    steps = np.diff(known, axis=0)
    for k in range(known.shape[1]):
        at = (np.clip(z[..., k], grid[0], grid[-1]) - grid[0]) / (grid[1] - grid[0])
        low = np.minimum(at.astype(int), len(steps) - 1)
        theta[..., k] = known[low, k] + (at - low) * steps[low, k]
    shape = np.shape(bayes().mean()["pi"])
    gamma = stats.gamma(bayes().classes.alpha).ppf(special.ndtr(z[..., known.shape[1] :]))
    pi = gamma / gamma.sum(-1, keepdims=True)
    return {
        "pi": pi.reshape(*z.shape[:2], *shape),
        "theta": theta.reshape(*z.shape[:2], *np.shape(bayes().mean()["theta"])),
    }


@dataclass(frozen=True)
class Setting:
    """A law and a way to make draws of it, right or wrong."""

    law: Callable[[], Any]
    size: int
    make: Callable[[np.ndarray], dict[str, np.ndarray]]
    spoil: Callable[[dict[str, np.ndarray]], Any] = dict


def first(draws: dict[str, np.ndarray]) -> tuple[str, np.ndarray]:
    """Return the variable that is spoilt, and its first scalar."""
    name = next(name for name in ("w", "theta", "mu") if name in draws)
    x = draws[name]
    return name, (x if x.ndim == 2 else x[..., 0])


@dataclass(frozen=True)
class Scalar:
    """Draws of one scalar, with its exact mean, standard deviation and upper 2.5 % point."""

    x: np.ndarray
    mean: float
    sd: float
    high: float


def changed(
    change: Callable[[Scalar], np.ndarray], law: Callable[[], Any]
) -> Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]:
    """Return a way to spoil the first scalar."""

    def spoil(draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        name, x = first(draws)
        own = law().marginals()[name]
        exact = (float(np.ravel(v)[0]) for v in (own.mean(), own.std(), own.ppf(0.975)))
        value = change(Scalar(x, *exact))
        if draws[name].ndim == 2:
            return {**draws, name: value}
        result = draws[name].copy()
        result[..., 0] = value
        return {**draws, name: result}

    return spoil


def shifted(own: Scalar) -> np.ndarray:
    """Return draws a tenth of a standard deviation too high."""
    return own.x + 0.1 * own.sd


def wide(own: Scalar) -> np.ndarray:
    """Return draws a tenth too wide."""
    return own.mean + 1.1 * (own.x - own.mean)


def narrow(own: Scalar) -> np.ndarray:
    """Return draws a tenth too narrow."""
    return own.mean + 0.9 * (own.x - own.mean)


def cut(own: Scalar) -> np.ndarray:
    """Return draws that stay where they were instead of visiting the upper 2.5 %."""
    fine = own.x <= own.high
    fine[:, 0] = True
    last = np.maximum.accumulate(np.where(fine, np.arange(own.x.shape[1]), 0), axis=1)
    return np.take_along_axis(np.minimum(own.x, own.high), last, axis=1)


def offset(own: Scalar) -> np.ndarray:
    """Return draws of which one chain is half a standard deviation too high."""
    result = own.x.copy()
    result[1] += 0.5 * own.sd
    return result


def unrelated(draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Let the first coefficient come from another run, which has nothing to do with the others."""
    w = draws["w"].copy()
    w[..., 0] = np.roll(w[..., 0], 1, axis=0)
    return {**draws, "w": w}


def far(own: Scalar) -> np.ndarray:
    """Return draws of which eight are a thousand standard deviations off."""
    result = own.x.copy()
    result[:, [100, 600]] = own.mean - 1000 * own.sd
    return result


def impossible(own: Scalar) -> np.ndarray:
    """Return draws of which one is negative."""
    result = own.x.copy()
    result[2, 700] = -0.5
    return result


def warming(own: Scalar) -> np.ndarray:
    """Return draws of which the first thirty come down from 0.9."""
    share = np.exp(-np.arange(own.x.shape[1]) / 8) * (np.arange(own.x.shape[1]) < 30)
    return own.x + share * (0.9 - own.x)


def beside(prior: tuple[float, float]) -> Callable[[Scalar], np.ndarray]:
    """Return a way to take every hundredth draw from another Beta law."""

    def some(own: Scalar) -> np.ndarray:
        result = own.x.copy()
        u = stats.beta(5, 19).cdf(np.roll(own.x[:, ::100], 1, axis=0))
        result[:, ::100] = stats.beta(*prior).ppf(u)
        return result

    return some


def repeated(own: Scalar) -> np.ndarray:
    """Return draws of which the last chain reads the first one's numbers from the next on."""
    result = own.x.copy()
    result[3, :-1] = result[0, 1:]
    return result


def apart(draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Let the mean come from another run than the variance."""
    return {**draws, "mu": np.roll(draws["mu"], 1, axis=0)}


class TwoModes:
    """A probability that is either low or high."""

    def __init__(self) -> None:
        self.dims: dict[str, tuple[str, ...]] = {"theta": ()}
        self.coords: dict[str, tuple[int, ...]] = {}
        parts = stats.beta(np.array([4.0, 16.0]), np.array([16.0, 4.0]))
        self.law = MixtureLaw(np.array([0.5, 0.5]), parts)

    def marginals(self) -> dict[str, Any]:
        """Return the law."""
        return {"theta": self.law}

    def mean(self) -> dict[str, Any]:
        """Return the mean."""
        return {"theta": self.law.mean()}


@cache
def two_modes() -> Any:
    """Return the law."""
    return TwoModes()


def one_mode(z: np.ndarray) -> dict[str, np.ndarray]:
    """Turn normal numbers into draws of the lower mode only."""
    return {"theta": stats.beta(4, 16).ppf(special.ndtr(z[..., 0]))}


@cache
def truth(name: str, rho: float) -> tuple[float, float, float]:
    """Return how far off mean, deviation and 89 % interval of the spoilt scalar are in the end."""
    setting, rng = SETTINGS[name], np.random.default_rng(4)
    number = 200 if rho < 0.9 else 1000
    drawn = [setting.spoil(setting.make(walk(rng, rho, setting.size))) for _ in range(number)]
    variable, _ = first(drawn[0])
    own = setting.law().marginals()[variable]
    mean, sd, low, high = (
        float(np.ravel(v)[0]) for v in (own.mean(), own.std(), own.ppf(0.055), own.isf(0.055))
    )
    x = np.concatenate([first(draws)[1].ravel() for draws in drawn])
    ends = np.quantile(x, [0.055, 0.945]) - [low, high]
    return abs(x.mean() - mean) / sd, abs(x.std() / sd - 1), float(np.abs(ends).max()) / sd


LAWS = {
    "beta": (beta, 1, beta_draws),
    "t3": (t3, 2, lambda z: regression_draws(t3(), z)),
    "nig": (nig, 11, lambda z: regression_draws(nig(), z)),
    "bayes": (bayes, 603, bayes_draws),
}
MISTAKES = {
    "shifted by 0.1 sd": shifted,
    "10 % too wide": wide,
    "10 % too narrow": narrow,
    "2.5 % of a tail cut off": cut,
    "one chain offset by 0.5 sd": offset,
}
SETTINGS: dict[str, Setting] = {
    f"right: {name}": Setting(law, size, make) for name, (law, size, make) in LAWS.items()
}
for name, (law, size, make) in LAWS.items():
    if name in ("beta", "nig"):
        SETTINGS |= {
            f"{mistake}: {name}": Setting(law, size, make, changed(change, law))
            for mistake, change in MISTAKES.items()
        }
SETTINGS["dependence lost: nig"] = Setting(*LAWS["nig"], unrelated)
SETTINGS["one mode missing: two modes"] = Setting(two_modes, 1, one_mode)
HOLES = {
    "8 draws far out: beta": ("beta", changed(far, beta)),
    "one draw impossible: beta": ("beta", changed(impossible, beta)),
    "warm-up left in: beta": ("beta", changed(warming, beta)),
    "1 % from a flat prior: beta": ("beta", changed(beside((1, 1)), beta)),
    "1 % from a near prior: beta": ("beta", changed(beside((3, 7)), beta)),
    "one chain copied: beta": ("beta", changed(repeated, beta)),
    "mean apart from its variance: ten": ("ten", apart),
}
LAWS["ten"] = (ten, 2, ten_draws)
SETTINGS |= {name: Setting(*LAWS[law], spoil) for name, (law, spoil) in HOLES.items()}
