"""Bugs to plant in the sample project, and runs of its tests with them."""

import contextlib
import sys
import types
from pathlib import Path
from typing import NamedTuple

from tests.testing import running

PROJECT = Path(__file__).parent / "sample_project"
SOURCE = (PROJECT / "samplers.py").read_text(encoding="utf-8")


class Bug(NamedTuple):
    """A change that somebody could really make, and the tests that run what it changes."""

    right: str
    wrong: str
    tests: str

    def planted(self):
        assert SOURCE.count(self.right) == 1, self.right
        return SOURCE.replace(self.right, self.wrong)


BUGS = {
    "prior forgotten": Bug(
        "beta(alpha + heads, beta + tails", "beta(1 + heads, 1 + tails", "test_coin["
    ),
    "off by one": Bug("tails = len(flips) - heads", "tails = len(flips) - heads - 1", "test_coin["),
    "chains copied": Bug(
        "rng.beta(alpha + heads, beta + tails, (CHAINS, draws))",
        "np.tile(rng.beta(alpha + heads, beta + tails, draws), (CHAINS, 1))",
        "test_coin[",
    ),
    "parameter plugged in": Bug(
        '(flips, alpha, beta, draws, rng)["theta"]\n',
        '(flips, alpha, beta, draws, rng)["theta"].mean() * np.ones((CHAINS, draws))\n',
        "test_heads_in_new_flips[",
    ),
    "rate for scale": Bug("1 / (rate + np.sum(hours))", "rate + np.sum(hours)", "test_calls["),
    "exposure not used": Bug("np.sum(hours)", "len(hours)", "test_calls["),
    "one parameter a chain": Bug(
        "poisson(hour * lam)", "poisson(hour * lam[:, :1], lam.shape)", "test_calls_in_new_hours["
    ),
    "wrong axis": Bug("sum(axis=-1, keepdims", "sum(axis=0, keepdims", "test_die["),
    "half forgotten": Bug("(squares + between) / 2", "(squares + between)", "test_normal["),
    "prior mean not pooled": Bug("(squares + between) / 2", "squares / 2", "test_normal["),
    "variance for deviation": Bug(
        '"mu": rng.normal(m, np.sqrt(sigma2 / (kappa + n)))',
        '"mu": rng.normal(m, sigma2 / (kappa + n))',
        "test_normal[",
    ),
    "degree of freedom lost": Bug("shape + (n + 1) / 2", "shape + n / 2", "test_normal_by_gibbs["),
    "prior not in conditional": Bug(
        "(squares + kappa * (mu - mean) ** 2) / 2", "squares / 2", "test_normal_by_gibbs["
    ),
    "warm-up kept": Bug("warmup=20", "warmup=0", "test_normal_by_gibbs["),
    "degrees n - p": Bug(
        "gamma(shape + n / 2, size=(CHAINS, draws))\n    z",
        "gamma(shape + (n - columns) / 2, size=(CHAINS, draws))\n    z",
        "test_regression[",
    ),
    "factor not transposed": Bug("solve(factor.T, z", "solve(factor, z", "test_regression["),
    "noise plugged in": Bug(
        "np.sqrt(sigma2)[..., None]", "np.sqrt(sigma2.mean())", "test_regression["
    ),
    "Bartlett off by one": Bug("df + n - i,", "df + n - i - 1,", "test_vectors["),
    "Jacobian forgotten": Bug(" + jacobian\n", "\n", "test_coin_by_metropolis["),
    "proposals kept": Bug("kept[step] = x", "kept[step] = proposal", "test_coin_by_metropolis["),
    "density not moved": Bug(
        "x, density = np.where(accepted, proposal, x), np.where(accepted, proposed, density)",
        "x = np.where(accepted, proposal, x)",
        "test_coin_by_metropolis[",
    ),
    "flips not independent": Bug(
        "rng.random(12) < parameters", "np.repeat(rng.random(6), 2) < parameters", "test_flips_are"
    ),
}


def run(seed, bug=None, *options):
    """Run the sample project's tests, or with a bug those that it changes until one fails."""
    chosen = [] if bug is None else ["-x", "-k", bug.tests]
    with planted(bug):
        return running.run(PROJECT, f"--seed={seed}", *chosen, *options)


@contextlib.contextmanager
def planted(bug):
    """Let the project's module do what its changed text says."""
    module = sys.modules.setdefault("samplers", types.ModuleType("samplers"))
    exec(SOURCE if bug is None else bug.planted(), vars(module))  # noqa: S102 - our own text
    try:
        yield
    finally:
        exec(SOURCE, vars(module))  # noqa: S102 - as above
