"""Write decisions.jsonl: ``python -m tests.reference.make_decisions``, in about ten minutes.

One line a pair of independent quantities: their laws, how probable it is that the second is the
larger, what is lost by choosing each, and which of both a decision refuses to say. Densities are
mpmath's, in the logit, the logarithm or the inverse hyperbolic sine of the quantity; integrals are
those of the polynomials that go through them, on panels that are halved until these fit.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path

import mpmath as mp
import numpy as np
from numpy.polynomial import legendre

FILE = Path(__file__).with_name("decisions.jsonl")
NODES, WEIGHTS = legendre.leggauss(24)
TO_SERIES = np.linalg.inv(legendre.legvander(NODES, 23))
UP_TO = legendre.legval(NODES, legendre.legint(np.eye(24), lbnd=-1)).T @ TO_SERIES
LEAST_DF = np.log10(1.05)
mp.mp.dps = 40


def beta(a, b):
    """Return the log density of the logit, where it is largest and how wide, and its ends."""
    a, b = mp.mpf(a), mp.mpf(b)
    constant = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)

    def density(t):
        return -a * mp.log1p(mp.exp(-t)) - b * mp.log1p(mp.exp(t)) - constant

    width = mp.sqrt(1 / a + 1 / b)
    mode = mp.log(a / b)
    return density, mode, width, (mode - 40 * width - 100 / a, mode + 40 * width + 100 / b)


def gamma(a, rate):
    """Return the same of the logarithm."""
    a, rate = mp.mpf(a), mp.mpf(rate)
    constant = a * mp.log(rate) - mp.loggamma(a)
    mode, width = mp.log(a / rate), 1 / mp.sqrt(a)
    end = mp.log((a + 40 * mp.sqrt(a) + 300) / rate)
    return (
        lambda t: a * t - rate * mp.exp(t) + constant,
        mode,
        width,
        (mode - 40 * width - 100 / a, end),
    )


def student(df, loc, scale):
    """Return the same of the inverse hyperbolic sine."""
    df, loc, scale = map(mp.mpf, (df, loc, scale))
    constant = mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(df * mp.pi) / 2

    def density(t):
        z = (mp.sinh(t) - loc) / scale
        return constant - mp.log(scale) - (df + 1) / 2 * mp.log1p(z * z / df) + mp.log(mp.cosh(t))

    mode = mp.asinh(loc)
    far = min(690, mp.asinh(abs(loc) + 60 * scale * max(1, mp.sqrt(df) / 40)) + 45 / (df - 1))
    return density, mode, scale / mp.sqrt(1 + loc**2), (-far, far)


FAMILIES = {
    "beta": (beta, lambda t: np.exp(-np.abs(t)) / (1 + np.exp(-np.abs(t))) ** 2),
    "gamma": (gamma, np.exp),
    "student": (student, np.cosh),
}


def panels(each, slope):
    """Return nodes, half widths, both densities and the slope of x on panels that resolve them."""
    low = min(float(law[3][0]) for law in each)
    high = max(float(law[3][1]) for law in each)
    ends = {low, high, 0.0} if low < 0 < high else {low, high}
    for _, mode, width, _ in each:
        steps = float(width) * 2.0 ** np.arange(-1, 80)
        ends |= {float(mode), *(float(mode) - steps), *(float(mode) + steps)}
    ends |= {sign * 2.0**k for k in range(-1, 10) for sign in (-1, 1)}
    todo, done = [*pairwise(sorted(end for end in ends if low <= end <= high))], []
    while todo:
        start, stop = todo.pop()
        half = (stop - start) / 2
        t = start + half * (1 + NODES)
        exactly = [mp.mpf(start) + half * (1 + mp.mpf(u)) for u in NODES]
        logs = [[float(law[0](one)) for one in exactly] for law in each]
        values = np.array([*np.exp(logs), slope(t)])
        top = values.max(1)
        series = values @ TO_SERIES.T
        rough = np.abs(series[:, -2:]).max(1) > 1e-13 * top
        rough &= (top > 1e-60) & (half > 1e-14 * abs(start))
        if rough.any():
            todo += [(start, start + half), (start + half, stop)]
        else:
            done.append((start, half, values))
    return sorted(done, key=lambda panel: panel[0])


def answers(family, pair):
    """Return P(second > first), and what is lost by choosing the first, and the second."""
    of, slope = FAMILIES[family]
    every = panels([of(*law) for law in pair], slope)
    half = np.array([panel[1] for panel in every])
    values = np.moveaxis(np.array([panel[2] for panel in every]), 1, 0)
    f, dx = values[:2], values[2]
    mass = f @ WEIGHTS * half
    inside = (f @ UP_TO.T) * half[:, None]
    below = inside + (np.cumsum(mass, 1) - mass)[..., None]
    above = (mass[..., None] - inside) + (np.cumsum(mass[:, ::-1], 1)[:, ::-1] - mass)[..., None]
    # Where what is left of a panel is rounded away, there is next to nothing.
    below, above = np.clip(below, 0, 1), np.clip(above, 0, 1)
    if np.abs(mass.sum(1) - 1).max() > 1e-11:
        raise ArithmeticError(f"{family} {pair}: densities add up to {mass.sum(1)}")

    def integral(values):
        return float((values @ WEIGHTS) @ half)

    best = integral(f[1] * below[0]), integral(f[0] * below[1])
    if abs(sum(best) - 1) > 1e-11:
        raise ArithmeticError(f"{family} {pair}: probabilities add up to {sum(best)}")
    return best[0], [integral(below[0] * above[1] * dx), integral(below[1] * above[0] * dx)]


def pairs(rng):
    """Return 200 pairs: wholly at random, near each other, and weak priors with counts."""

    def some(low, high):
        return 10 ** rng.uniform(low, high)

    def count():
        return 0 if rng.random() < 0.3 else int(some(0, 9))

    for kind in range(80):
        if kind % 3 == 0:
            yield "beta", [[some(-3, 9), some(-3, 9)] for _ in range(2)]
        elif kind % 3 == 1:
            a, b = some(-3, 9), some(-3, 9)
            more, moved = some(-1, 1), rng.normal() * np.sqrt(1 / a + 1 / b)
            yield "beta", [[a, b], [a * more * np.exp(moved / 2), b * more * np.exp(-moved / 2)]]
        else:
            prior = [rng.choice([0.001, 0.01, 0.5, 1.0]) for _ in range(2)]
            yield "beta", [[prior[0] + count(), prior[1] + count()] for _ in range(2)]
    for kind in range(60):
        a, rate = some(-3, 9), some(-3, 9)
        if kind % 2:
            yield "gamma", [[a, rate], [some(-3, 9), some(-3, 9)]]
        else:
            more, moved = some(-1, 1), 1 + rng.normal() / np.sqrt(a + 1)
            yield "gamma", [[a, rate], [a * more * abs(moved), rate * more]]
    for _ in range(60):
        df = [1.05 + some(-2, 0) if rng.random() < 0.3 else some(LEAST_DF, 6) for _ in range(2)]
        yield "student", [[each, rng.normal(), some(-2, 1.5)] for each in df]


def main():
    from bayesmodels.decisions.independent import Independent
    from bayesmodels.errors import PriorError
    from tests.reference.test_decisions import laws_of

    lines = []
    for family, drawn in pairs(np.random.default_rng(41)):
        pair = [[float(x) for x in each] for each in drawn]
        best, losses = answers(family, pair)
        joint, refused = Independent(laws_of(family, pair)), []
        for what in ("best", "expected_loss"):
            try:
                getattr(joint, what)(largest=True)
            except PriorError:
                refused.append(what)
        line = {"family": family, "laws": pair, "second": best, "losses": losses}
        lines.append(json.dumps(line | {"refused": refused}))
        sys.stdout.write(f"{len(lines)} {lines[-1]}\n")
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
