r"""Random models of a normal block given one or two scales, and their evidence by quadrature.

Of all of them the data are normal given the scales s, with covariance
:math:`C + \sum_k s_k^2 A_k`; the scales are integrated over by Gauss and Legendre's rule on panels
of their logarithms.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pymc as pm
from scipy import ndimage, special, stats

HIGH, LOW = 40.0, -36.0  # ends of log scales
DROPPED = 36.0  # of the log density, below its top: panels that are left out
_PRIORS = {
    "HalfNormal": lambda _, b: ({"sigma": b}, stats.halfnorm(0, b).logpdf),
    "HalfCauchy": lambda _, b: ({"beta": b}, stats.halfcauchy(0, b).logpdf),
    "Exponential": lambda _, b: ({"lam": b}, stats.expon(0, 1 / b).logpdf),
    "Gamma": lambda a, b: ({"alpha": a, "beta": b}, stats.gamma(a, 0, 1 / b).logpdf),
    "InverseGamma": lambda a, b: ({"alpha": a, "beta": b}, stats.invgamma(a, 0, b).logpdf),
    "LogNormal": lambda a, b: (
        {"mu": np.log(b), "sigma": a / 3},
        stats.lognorm(a / 3, 0, b).logpdf,
    ),
    "Uniform": lambda _, b: ({"lower": 0, "upper": 2 * b}, stats.uniform(0, 2 * b).logpdf),
    "HalfStudentT": lambda a, b: (
        {"nu": 2 * a, "sigma": b},
        lambda x: np.log(2) + stats.t(2 * a, 0, b).logpdf(x),
    ),
}
"""Parameters by name, and the log density, of a prior with two numbers."""


@dataclass(frozen=True)
class Plan:
    """What a model is: its kind, priors of the scales, sizes, and a seed of its data."""

    kind: str
    priors: tuple[tuple[str, float, float], ...]
    rows: int
    size: int
    spread: float
    seed: int
    LAWS: ClassVar = tuple(_PRIORS)

    def rng(self):
        """Return the source of the data."""
        return np.random.default_rng([20261124, self.seed])

    def design(self):
        """Return columns for the block, and the means and deviations of its elements.

        A deviation of None is the second scale.
        """
        rng, n, p = self.rng(), self.rows, self.size
        if self.kind == "mean":
            return np.ones((n, 1)), np.array([1.0]), [2.0]
        if self.kind == "weights":
            return rng.normal(size=(n, p)), np.zeros(p), [None if len(self.priors) > 1 else 1.5] * p
        if self.kind == "intercepts":
            columns = np.c_[np.ones(n), np.eye(p)[np.arange(n) % p]]
            return columns, np.zeros(p + 1), [3.0] + [None if len(self.priors) > 1 else 1.0] * p
        steps = np.tri(n)[:, 1:]  # a random walk that starts at a normal level
        return (
            np.c_[np.ones(n), steps],
            np.zeros(n),
            [4.0] + [None if len(self.priors) > 1 else 0.5] * (n - 1),
        )

    def data(self):
        """Return the rows."""
        columns, means, sds = self.design()
        rng = self.rng()
        rng.normal(size=1000)
        block = means + [self.spread if sd is None else sd for sd in sds] * rng.normal(
            size=len(means)
        )
        return columns @ block + self.spread * rng.normal(size=self.rows)

    def model(self):
        """Return it in PyMC."""
        columns, means, sds = self.design()
        fixed = [i for i, sd in enumerate(sds) if sd is not None]
        free = [i for i, sd in enumerate(sds) if sd is None]
        with pm.Model() as model:
            scales = [
                getattr(pm, law)(f"s{k}", **_PRIORS[law](a, b)[0])
                for k, (law, a, b) in enumerate(self.priors)
            ]
            level = 0.0
            if fixed:
                known = np.array([sds[i] for i in fixed])
                block = pm.Normal("known", means[fixed], known, shape=len(fixed))
                level = columns[:, fixed] @ block
            if free:
                block = pm.Normal("free", 0, scales[1], shape=len(free))
                level = level + columns[:, free] @ block
            pm.Normal("y", level, scales[0], observed=self.data())
        return model

    def log_evidence(self):
        """Return the log evidence, to about 1e-10."""
        columns, means, sds = self.design()
        y = self.data()
        fixed = np.array([0.0 if sd is None else sd for sd in sds])
        free = np.array([sd is None for sd in sds])
        C = (columns * fixed**2) @ columns.T
        A = columns[:, free] @ columns[:, free].T
        gap = y - columns @ means
        logs = [_PRIORS[law](a, b)[1] for law, a, b in self.priors]

        def density(*z):  # in log scales, with the Jacobian
            s = [np.exp(one) for one in z]
            V = C + s[0][:, None, None] ** 2 * np.eye(len(y))
            if len(s) > 1:
                V = V + s[1][:, None, None] ** 2 * A
            root, sound = _root(V)
            x = np.linalg.solve(root, np.broadcast_to(gap[:, None], (len(V), len(y), 1)))[..., 0]
            half = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1)
            found = -len(y) / 2 * np.log(2 * np.pi) - half - (x**2).sum(1) / 2
            with np.errstate(divide="ignore"):
                found = found + sum(
                    log(one) + np.log(one) for log, one in zip(logs, s, strict=True)
                )
            return np.where(sound, found, -np.inf)

        axes = [self._axis(law, b) for law, _, b in self.priors]
        return _integral(density, axes)

    def _axis(self, law, b):
        high = np.log(2 * b) if law == "Uniform" else HIGH
        return np.arange(high, LOW, -1.0)[::-1]


def _integral(density, axes):
    """Return the log integral, of finer panels until it has settled."""
    previous = -np.inf
    for nodes in (8, 12, 16, 24, 32):
        found = _once(density, axes, nodes)
        if abs(found - previous) < 1e-10:
            return found
        previous = found
    raise AssertionError("the reference has not settled")


def _once(density, axes, nodes):
    x, w = np.polynomial.legendre.leggauss(nodes)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    corners = density(*grid.reshape(-1, len(axes)).T).reshape(grid.shape[:-1])
    for axis in range(len(axes)):  # of each panel the highest corner, over its neighbours too
        last = corners.shape[axis] - 1
        corners = np.maximum(np.delete(corners, 0, axis), np.delete(corners, last, axis))
    tops = ndimage.maximum_filter(corners, 3)
    cells = np.argwhere(tops > tops.max() - DROPPED)
    local = np.stack(np.meshgrid(*[x] * len(axes), indexing="ij"), -1).reshape(-1, len(axes))
    weights = np.log(np.stack(np.meshgrid(*[w] * len(axes), indexing="ij"), -1).prod(-1)).ravel()
    total = -np.inf
    for part in np.array_split(cells, max(1, len(cells) * len(local) // 40_000)):
        low = np.stack([a[c] for a, c in zip(axes, part.T, strict=True)], -1)
        width = np.stack([a[c + 1] - a[c] for a, c in zip(axes, part.T, strict=True)], -1)
        points = low[:, None] + width[:, None] * (local + 1) / 2
        logs = density(*points.reshape(-1, len(axes)).T).reshape(len(part), -1)
        logs = logs + weights + np.log(width / 2).sum(-1)[:, None]
        total = np.logaddexp(total, special.logsumexp(logs))
    return total


def _root(covariances):
    """Return Cholesky factors, and which are sound: others have scales of no mass."""
    try:
        return np.linalg.cholesky(covariances), True
    except np.linalg.LinAlgError:
        sizes = np.linalg.eigvalsh(covariances)
        sound = sizes[:, 0] > 1e-14 * sizes[:, -1]
        one = np.eye(covariances.shape[-1])
        return np.linalg.cholesky(np.where(sound[:, None, None], covariances, one)), sound


def plans(number):
    """Draw that many; NumPy draws the same ones wherever it is asked."""
    rng = np.random.default_rng(20261125)
    return [_plan(rng, seed) for seed in range(number)]


def _plan(rng, seed):
    kind = ["mean", "weights", "intercepts", "walk"][rng.integers(4)]
    scales = 1 if kind == "mean" else rng.integers(1, 3)
    priors = tuple(
        (
            sorted(_PRIORS)[rng.integers(len(_PRIORS))],
            float(rng.choice([1.0, 1.5, 2.0, 3.0, 5.0])),
            float(rng.choice([0.3, 0.5, 1.0, 2.0, 5.0])),
        )
        for _ in range(scales)
    )
    rows, size = int(rng.integers(3, 13)), int(rng.integers(2, 5))
    return Plan(kind, priors, rows, size, float(rng.choice([0.2, 1.0, 3.0])), seed)
