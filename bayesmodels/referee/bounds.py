r"""How far means, standard deviations and intervals of draws may be from what they stand for.

Verdicts rest on functions of ranks, which a few draws cannot move. A reader looks at a table of
means and standard deviations, which they can. So bounds are stated of these themselves: the larger
end of a confidence interval of each difference, such that of one scalar all three hold in 95 of 100
cases (Bonferroni). The mean's standard error is that of
independent draws of the law, as many as are effective; that of the second moment takes the larger
fourth moment of law and draws. Ends of intervals are bounded by order statistics, for the number of
draws below a quantile is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bayesmodels.belief.values import stored
from bayesmodels.numerics import AnyFloat, Array, threads
from bayesmodels.numerics.ess import effective_draws

CONFIDENCE = 0.95
PROB = 0.89
"""Probability of the intervals, as in tables."""
_LEVELS = (0.5 - PROB / 2, 0.5 + PROB / 2)
_TIMES = float(stats.norm.isf((1 - CONFIDENCE) / 3))


@stored
@dataclass(frozen=True)
class Bounds:
    """The largest differences there may be over all scalars, at 95 % confidence for each scalar.

    Attributes
    ----------
    mean, interval : float
        Of means and of ends of 89 % intervals, in standard deviations; NaN if no law has one.
    sd : float
        Of standard deviations, as a part of themselves; NaN if no law has a fourth moment.
    scalars, heavy : int
        How many scalars there are, and how many of them have no fourth moment.
    """

    mean: AnyFloat
    sd: AnyFloat
    interval: AnyFloat
    scalars: int
    heavy: int

    def sentences(self) -> list[str]:
        """Say what is bounded."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say what is bounded."""
        if np.isnan(self.mean):
            return "tails are too heavy to bound means"
        but = f" (but for {self.heavy} of {self.scalars} scalars, whose tails are too heavy)"
        sd = f", standard deviations within {100 * self.sd:.2g} %{but if self.heavy else ''}"
        return (
            f"means are within {self.mean:.2g} standard deviations"
            f"{'' if np.isnan(self.sd) else sd} and ends of {100 * PROB:.0f} % intervals within "
            f"{self.interval:.2g} ({100 * CONFIDENCE:.0f} % confidence for each)"
        )


@dataclass(frozen=True)
class Known:
    """What is known of scalars beside which draws are laid: (scalar,), and ends (2, scalar).

    `kurtosis` is that in excess of a normal law's; NaN or infinite where a law has no such moment.
    `number` independent draws tell all this, of shape () or (scalar,), and their noise counts.
    """

    mean: Array
    sd: Array
    kurtosis: Array
    ends: Array
    number: Array | float = np.inf


def bounds(x: Array, law: Known) -> Bounds:
    """Return bounds for draws of shape (scalar, chain, draw)."""
    number = np.broadcast_to(law.number, law.mean.shape)

    def of_block(part: slice) -> Array:
        block = (
            law.mean[part],
            law.sd[part],
            law.kurtosis[part],
            law.ends[:, part],
            number[part],
        )
        return _each(x[part], Known(*block))

    parts = threads.gathered(of_block, threads.blocks(x, least=1), x.size)
    mean, sd, interval = np.concatenate(parts, axis=-1)
    one = np.isfinite(law.sd)
    two = one & np.isfinite(law.kurtosis)
    largest = _largest(mean, one), _largest(sd, two), _largest(interval, one)
    return Bounds(*largest, len(x), int((~two).sum()))


def _each(x: Array, law: Known) -> Array:
    """Return bounds of mean, standard deviation and interval of each scalar, (3, scalar)."""
    with np.errstate(all="ignore"):
        f = (x - law.mean[:, None, None]) / law.sd[:, None, None]
        mean, error = _average(f, np.ones(len(f)), law.number)
        square, of_square = _average((f - mean[:, None, None]) ** 2, law.kurtosis + 2, law.number)
        reach = np.maximum(square + _TIMES * of_square * np.array([[-1], [1]]), 0)
        sd = np.abs(np.sqrt(reach) - 1).max(0)
        return np.stack([np.abs(mean) + _TIMES * error, sd, _ends(f, law)])


def _largest(values: Array, known: NDArray[np.bool_]) -> float:
    """Return the largest of the known values, NaN if none is; what overflows is infinite."""
    return float(np.where(np.isnan(values), np.inf, values)[known].max()) if known.any() else np.nan


def _average(f: Array, variance: Array, number: Array | float) -> tuple[Array, Array]:
    """Return averages over draws and their standard errors; the larger of two variances counts."""
    ess = effective_draws(f).number
    spread = np.maximum(variance, f.var((-2, -1)))
    return f.mean((-2, -1)), np.sqrt(spread * (1 / ess + 1 / number))


def _ends(f: Array, law: Known) -> Array:
    """Return the largest distance of an interval's ends, f being in standard deviations."""
    flat = np.sort(f.reshape(len(f), -1), axis=-1)
    last = flat.shape[1] - 1
    exact = (law.ends - law.mean) / law.sd
    ess = effective_draws((f[None] <= exact[..., None, None]).astype(float)).number
    worst = np.zeros(len(f))
    for p, end, number in zip(_LEVELS, exact, ess, strict=True):
        error = _TIMES * np.sqrt(p * (1 - p) * (1 / number + 1 / law.number))
        for q in (p - error, p + error):
            at = np.clip(np.round(q * last), 0, last).astype(int)
            worst = np.maximum(worst, np.abs(flat[np.arange(len(f)), at] - end))
    return worst
