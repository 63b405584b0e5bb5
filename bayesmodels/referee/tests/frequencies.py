"""How often each value of a nominal variable was visited, beside its probability.

Among n effective draws a rare value is visited a few times or never, where no normal law holds: the
tails are those of the binomial law, continued to an effective number that is not whole.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, betaincc

from bayesmodels.numerics import Array
from bayesmodels.referee.tests.kind import TINY, Kind, Test, two_sided

PROBABILITY = Kind(
    "probability", "frequency", "{label} was visited {size} too {way}.", ("often", "seldom"),
    weight=8, needs_ess=False,
)  # fmt: skip
KINDS = (PROBABILITY,)


def judge(every: list[tuple[str, float, Array]]) -> list[Test]:
    """Test how often each value was visited, of label, probability and indicator (chain, draw)."""
    from arviz_stats.sampling_diagnostics import ess

    known, variance = {}, {}
    for label, mass, x in every:
        if np.ptp(x) > 0 and mass * (1 - mass) > 0:
            known[label] = min(float(ess(x, method="mean")), x.size)
            variance[label] = mass * (1 - mass)
    # A few visits say little about their own effective size; what all visits say bounds it.
    noise = sum(variance[label] / known[label] for label in known)
    typical = sum(variance.values()) / noise if known else 1.0
    result = []
    for label, mass, x in every:
        sure = mass in (0, 1) and bool((x == mass).all())
        number = float(x.size) if sure else min(known.get(label, typical), typical)
        visits = float(x.mean()) * number
        p_low = 1.0 if visits >= number else float(betaincc(visits + 1, number - visits, mass))
        p_high = 1.0 if visits <= 0 else float(betainc(visits, number - visits + 1, mass))
        p, z = map(float, two_sided(max(p_low, TINY), max(p_high, TINY)))
        result.append(Test(label, PROBABILITY.name, z, number, p))
    return result
