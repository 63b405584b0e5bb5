"""How often the referee raises a false alarm, and how often it finds what is wrong.

Draws are exact copies of a law, made autocorrelated by a Gaussian copula: independent, AR(0.5),
AR(0.9) and antithetic AR(-0.8), four chains of 1000. Laws are

``beta``     a Beta law, one scalar
``t3``       a Student t law with 3 degrees of freedom, with its variance
``nig``      a regression's ten coefficients and variance
``bayes``    naive Bayes of 200 bits and three classes, 603 probabilities

Wrong draws: the first scalar shifted, widened, narrowed or without its upper tail; dependence lost;
one chain offset; one mode missing. Peers see the same draws: a Kolmogorov-Smirnov test of each
scalar, the same after thinning to the effective number of draws, R-hat, ArviZ's test of uniformity
(`pot_c`), and z scores of the means; each with Bonferroni's correction over the scalars.

``--advice`` follows the advice of verdicts that are open at first, and says how many then agree.

Run as ``python tests/benchmarks/bench_referee.py [--repetitions N] [--only WORD ...] [--peers]``.
Rates are in percent, with standard errors; ESS is the median of locations'.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import signal, special, stats
from scipy.linalg import solve_triangular

import bayesmodels as bm
from bayesmodels.laws import MixtureLaw
from bayesmodels.referee import sampling
from bayesmodels.referee.error_control import holm
from bayesmodels.referee.scalars import scalar_draws

CHAINS, DRAWS, LEVEL = 4, 1000, 0.01
RHO = {"iid": 0.0, "AR(0.5)": 0.5, "AR(0.9)": 0.9, "AR(-0.8)": -0.8}


def walk(rng: np.random.Generator, rho: float, size: int, draws: int = DRAWS) -> np.ndarray:
    """Return standard normal chains of the shape (chain, draw, size)."""
    noise = rng.standard_normal((CHAINS, draws + 200, size)) * np.sqrt(1 - rho**2)
    return signal.lfilter([1.0], [1.0, -rho], noise, axis=1)[:, 200:]


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


@cache
def nig() -> Any:
    """Return the posterior of ten correlated coefficients and a variance."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 10))
    X[:, 1] = -0.7 * X[:, 0] + np.sqrt(1 - 0.49) * X[:, 1]  # makes coefficients 0 and 1 correlated
    y = X @ rng.standard_normal(10) + rng.standard_normal(60)
    return bm.LinearRegression(np.zeros(10), 0.01 * np.eye(10), 2, 2).update((X, y))


def regression_draws(law: Any, z: np.ndarray) -> dict[str, np.ndarray]:
    """Turn normal numbers into draws of a regression."""
    variance = law.marginals()["sigma2"].ppf(special.ndtr(z[..., -1]))
    size = z.shape[-1] - 1
    noise = solve_triangular(law.precision_factor, z[..., :-1].reshape(-1, size).T).T
    w = law.mean()["w"] + np.sqrt(variance)[..., None] * noise.reshape(*variance.shape, size)
    return {"sigma2": variance, "w": w}


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
    for k in range(known.shape[1]):
        theta[..., k] = np.interp(z[..., k], grid, known[:, k])
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
    name = "w" if "w" in draws else "theta"
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


def judged(job: tuple[str, float, int, int, bool]) -> np.ndarray:
    """Return for some repetitions who raises an alarm: the referee, and its peers."""
    name, rho, seed, repetitions, peers = job
    setting, rng = SETTINGS[name], np.random.default_rng([seed, 20261122])
    rows = []
    for _ in range(repetitions):
        draws = setting.spoil(setting.make(walk(rng, rho, setting.size)))
        agrees = np.nan
        if name.startswith("right"):
            verdict = bm.compare(setting.law(), draws, level=LEVEL, rng=rng)
            found, agrees = list(verdict.tests), verdict.outcome == "agree"
        else:
            found = sampling.tests(setting.law(), draws, rng)
        p = np.array([test.p for test in found])
        alarms = [bool(holm(p, LEVEL)), simes(p) <= LEVEL, cauchy(p) <= LEVEL]
        alarms += others(setting.law(), draws) if peers else []
        ess = np.median([test.ess for test in found if test.kind == "location"])
        rows.append([ess, agrees, *alarms])
    return np.array(rows, dtype=float)


def advised(job: tuple[str, float, int, int]) -> np.ndarray:
    """Return whether a first verdict was open, its advice, and what following it led to."""
    name, rho, seed, repetitions = job
    setting, rng = SETTINGS[name], np.random.default_rng([seed, 20261123])
    rows = []
    for _ in range(repetitions):
        first = bm.compare(setting.law(), setting.make(walk(rng, rho, setting.size)), rng=rng)
        outcome, more = first.outcome, first.more or 1.0
        if outcome == "inconclusive":
            size = (setting.size, int(np.ceil(DRAWS * more)))
            outcome = bm.compare(
                setting.law(), setting.make(walk(rng, rho, *size)), rng=rng
            ).outcome
        open_at_first = first.outcome == "inconclusive"
        rows.append([open_at_first, more, outcome == "agree", outcome == "disagree"])
    return np.array(rows, dtype=float)


def simes(p: np.ndarray) -> float:
    """Return Simes' combined p value (1986)."""
    return float(np.min(len(p) * np.sort(p) / np.arange(1, len(p) + 1)))


def cauchy(p: np.ndarray) -> float:
    """Return the Cauchy combination's p value (Liu and Xie 2020)."""
    return float(stats.cauchy.sf(np.mean(1 / np.tan(np.pi * np.clip(p, 1e-300, 0.99)))))


def others(law: Any, draws: Any) -> list[bool]:
    """Return which peers raise an alarm."""
    from arviz_stats.sampling_diagnostics import ess, rhat

    every = scalar_draws(law, draws)
    share = LEVEL / len(every)
    plain = thinned = apart = uniform = means = False
    marginals = law.marginals()
    for _, name, at, x in every:
        u = np.asarray(marginals[name].cdf(x if not at else _filled(x, at, marginals[name])))
        u = u if not at else u[(..., *at)]
        number = min(float(ess(x, method="mean")), x.size)
        step = max(1, int(np.ceil(x.size / number)))
        plain |= stats.kstest(u.ravel(), "uniform").pvalue < share
        thinned |= stats.kstest(u[:, ::step].ravel(), "uniform").pvalue < share
        apart |= float(rhat(x)) > 1.01
        uniform |= pot_c(u.ravel()) < share
        mean, sd = (
            np.broadcast_to(v, np.shape(marginals[name].std()))[at]
            for v in (marginals[name].mean(), marginals[name].std())
        )
        z = (x.mean() - mean) / (sd / np.sqrt(number))
        means |= 2 * stats.norm.sf(abs(z)) < share
    return [plain, thinned, apart, uniform, means]


def _filled(x: np.ndarray, at: tuple[int, ...], law: Any) -> np.ndarray:
    full = np.zeros((*x.shape, *np.shape(law.std())))
    full[(..., *at)] = x
    return full


def pot_c(u: np.ndarray) -> float:
    """Return the p value of ArviZ's test of uniformity."""
    from arviz_stats.base import array_stats

    return float(array_stats.uniformity_test(u)[0])


def in_percent(values: np.ndarray) -> str:
    """Return rates with their standard errors."""
    rates = values.mean(0)
    errors = np.sqrt(rates * (1 - rates) / len(values))
    return "".join(f"{100 * r:8.2f} ± {100 * e:4.2f}" for r, e in zip(rates, errors, strict=True))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--only", nargs="*", default=[], help="words of the rows wanted")
    parser.add_argument("--rho", nargs="*", default=list(RHO), choices=list(RHO))
    parser.add_argument("--peers", action="store_true", help="with other tests of the same draws")
    parser.add_argument("--advice", action="store_true", help="follow the advice of open verdicts")
    given = parser.parse_args()
    names = [name for name in SETTINGS if all(word in name for word in given.only)]
    share = min(20, given.repetitions)
    each = -(-given.repetitions // share)
    with ProcessPoolExecutor(2) as pool:
        if given.advice:
            print(
                f"{'':42s} {'draws':9s} {'open at first':>15s} {'advice':>7s} {'then agree':>15s}"
            )
            for name in [name for name in names if name.startswith("right")]:
                for kind in given.rho:
                    jobs = [(name, RHO[kind], seed, each) for seed in range(share)]
                    rows = np.concatenate(list(pool.map(advised, jobs)))
                    first, more, agree, _ = rows.T
                    row = f"{in_percent(first[:, None])} {np.median(more):6.1f}x "
                    print(f"{name:42s} {kind:9s} {row}{in_percent(agree[:, None])}", flush=True)
            return
        heads = ["agree", "holm", "simes", "cauchy"]
        heads += ["KS", "thinned", "R-hat", "pot_c", "means"] if given.peers else []
        print(f"{'':42s} {'draws':9s} {'ESS':>6s} " + "".join(f"{head:>15s}" for head in heads))
        for name in names:
            for kind in given.rho:
                start = time.perf_counter()
                jobs = [(name, RHO[kind], seed, each, given.peers) for seed in range(share)]
                rows = np.concatenate(list(pool.map(judged, jobs)))
                took = time.perf_counter() - start
                row = f"{np.median(rows[:, 0]):6.0f} {in_percent(rows[:, 1:])} {took:6.0f} s"
                print(f"{name:42s} {kind:9s} {row}", flush=True)


if __name__ == "__main__":
    main()
