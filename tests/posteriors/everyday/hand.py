"""Posteriors of a few scalars by hand: a log density in NumPy, and its integral by weights.

No density here looks at a PyMC model or at the package. Effects of groups are integrated out by the
trapezoidal rule; what remains, by importance sampling from a Student-t law that is fitted again and
again, with as many scrambled Sobol points as it takes. Errors are standard errors over scramblings.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special, stats
from scipy.stats import qmc

from tests.posteriors.entry import opened

REAL, POSITIVE, UNIT = "real", "positive", "unit"
STATED = {
    "integrated": 2.0,
    "weighted": 1.96 * float(stats.t.isf(1e-5, 15) / stats.t.isf(0.025, 15)),
}
"""Times the stated error: twice what is at most; of 16 scramblings, what 2 of 100,000 exceed."""
NODES = np.linspace(-8.0, 8.0, 161)
FEW = NODES[::2]
_LOG_WEIGHTS = stats.norm.logpdf(NODES) + np.log(NODES[1] - NODES[0])
_AT_ONCE = 2_000_000  # numbers


@dataclass(frozen=True)
class Everyday:
    """A model as a user would write it, and the log density of its scalars by hand.

    Attributes
    ----------
    name : str
        Shown in the names of the tests.
    build : callable
        Makes the PyMC model afresh.
    density : callable
        From values by variable, a first axis for points, to log densities.
    scalars : dict
        By variable its line and its size.
    width : int
        About how many numbers the density works out at once, for a point.
    scramblings : int
        Logarithm of the number of points of each of them, to the base of two.
    df : float
        Degrees of freedom of their law: fewer where tails of the density are heavy.
    """

    name: str
    build: Callable[[], Any]
    density: Callable[..., Any]
    scalars: dict[str, tuple[str, int | None]]
    width: int
    scramblings: int
    df: float = 8.0

    @property
    def size(self) -> int:
        """How many scalars there are."""
        return sum(size or 1 for _, size in self.scalars.values())

    def values(self, z):
        """Return values by variable at unconstrained points (n, d), and log Jacobians."""
        result, slope, at = {}, np.zeros(len(z)), 0
        for name, (line, size) in self.scalars.items():
            x = z[:, at] if size is None else z[:, at : at + size]
            at += size or 1
            if line == POSITIVE:
                slope += x if size is None else x.sum(1)
                x = np.exp(x)
            elif line == UNIT:
                log_slope = -np.logaddexp(0, x) - np.logaddexp(0, -x)
                slope += log_slope if size is None else log_slope.sum(1)
                x = special.expit(x)
            result[name] = x
        return result, slope

    def __call__(self, z):
        """Return the log density at unconstrained points."""
        pieces = np.array_split(z, 1 + len(z) * self.width // _AT_ONCE)
        return np.concatenate([self._some(piece) for piece in pieces])

    def _some(self, z):
        with np.errstate(all="ignore"):
            values, slope = self.values(z)
            result = self.density(**values) + slope
        return np.where(np.isfinite(result), result, -np.inf)

    def reference(self, seed=20261128):
        """Return figures: log evidence and means with standard errors, and the effective share."""
        rng = np.random.default_rng(seed)
        centre, cov = self._laplace()
        for _ in range(6):
            z, logs = self._drawn(centre, cov, min(13, self.scramblings + 2), rng)
            logs -= logs.max()
            w = np.exp(logs)
            while w.sum() ** 2 / (w**2).sum() < 20 * self.size:  # temper
                logs /= 1.5
                w = np.exp(logs)
            w /= w.sum()
            centre = w @ z
            cov = (z - centre).T @ (w[:, None] * (z - centre))
        rows, share = [], []
        for _ in range(32):
            z, logs = self._drawn(centre, cov, self.scramblings, rng)
            top = logs.max()
            w = np.exp(logs - top)
            share.append(w.sum() ** 2 / (w**2).sum() / len(w))
            values, _ = self.values(z)
            flat = np.column_stack([x.reshape(len(z), -1) for x in values.values()])
            rows.append((top + np.log(w.mean()), w @ flat / w.sum()))
        logs = np.array([log for log, _ in rows])
        mass = np.exp(logs - logs.max())
        means = np.array([mean for _, mean in rows])
        mean = mass @ means / mass.sum()
        off = (mass[:, None] * (means - mean) / mass.mean()).std(0, ddof=1) / np.sqrt(len(rows))
        return {
            "log_evidence": float(logs.max() + np.log(mass.mean())),
            "log_evidence_error": float(mass.std(ddof=1) / mass.mean() / np.sqrt(len(rows))),
            "mean": self._by_name(mean),
            "mean_error": self._by_name(off),
            "effective_share": float(np.mean(share)),
        }

    def _by_name(self, flat):
        result, at = {}, 0
        for name, (_, size) in self.scalars.items():
            x = flat[at] if size is None else flat[at : at + size]
            result[name], at = x.tolist(), at + (size or 1)
        return result

    def _drawn(self, centre, cov, power, rng):
        d, df = len(centre), self.df
        u = qmc.Sobol(d + 1, rng=rng).random_base2(power)
        u = np.clip(u, 1e-12, 1 - 1e-12)
        t = stats.norm.ppf(u[:, :d]) * np.sqrt(df / stats.chi2.ppf(u[:, d:], df))
        root = np.linalg.cholesky(cov)
        law = special.gammaln((df + d) / 2) - special.gammaln(df / 2) - d / 2 * np.log(df * np.pi)
        law = law - (df + d) / 2 * np.log1p((t**2).sum(1) / df) - np.log(np.diag(root)).sum()
        z = centre + t @ root.T
        return z, self(z) - law

    def _laplace(self):
        """Return mode and inverse curvature, from several starts."""
        d, step = self.size, 1e-3

        def slope(x):
            moves = step * np.eye(d)
            each = self(np.concatenate([x + moves, x - moves]))
            return -(each[:d] - each[d:]) / (2 * step)

        def depth(x):
            value = -self(x[None])[0]
            return value if np.isfinite(value) else 1e10

        rng = np.random.default_rng(1)
        starts = [np.zeros(d), *(rng.normal(size=(4, d)))]
        every = [optimize.minimize(depth, x, jac=slope, method="BFGS") for x in starts]
        best = min(every, key=lambda found: found.fun).x
        curvature = np.array([slope(best + m) - slope(best - m) for m in 1e-2 * np.eye(d)]) / 2e-2
        values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
        return best, vectors / np.maximum(values, 0.05) @ vectors.T


def normal(x, mean=0.0, sd=1.0):
    """Return normal log densities, added up along what is no axis of points."""
    result = -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
    return result.reshape(len(result), -1).sum(1)


def half_normal(x, sd=1.0):
    """Return the same of half-normal laws of scalars."""
    return normal(x, 0.0, sd) + np.log(2)


def gamma(x, shape, rate):
    """Return log densities of Gamma laws of scalars."""
    return stats.gamma.logpdf(x, shape, scale=1 / rate)


def with_effects(log_likelihood):
    """Integrate a standard normal effect u out of a log likelihood of shape (points, groups, u).

    At all of NODES, or at a FEW of them.
    """
    every = (len(NODES) - 1) // (log_likelihood.shape[-1] - 1)
    log_weights = _LOG_WEIGHTS[::every] + np.log(every)
    return special.logsumexp(log_likelihood + log_weights, axis=-1).sum(-1)


def binomial(eta, successes, trials):
    """Return binomial log masses, given logits."""
    coefficient = special.gammaln(trials + 1) - special.gammaln(successes + 1)
    coefficient = coefficient - special.gammaln(trials - successes + 1)
    return coefficient + successes * eta - trials * np.logaddexp(0, eta)


def poisson(log_rate, counts):
    """Return Poisson log masses."""
    return counts * log_rate - np.exp(log_rate) - special.gammaln(counts + 1)


def everyday(density, *, width=200, scramblings=13, df=8.0, **scalars):
    """Put a function that fills a PyMC model beside a density by hand."""

    def entry(fill):
        lines = {n: x if isinstance(x, tuple) else (x, None) for n, x in scalars.items()}
        name = fill.__name__.replace("_", " ")
        return Everyday(name, opened(fill), density, lines, width, scramblings, df)

    return entry
