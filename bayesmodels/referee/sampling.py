"""Draws against an exact law: means, spreads and quantiles in Monte-Carlo standard errors.

Each scalar is put through functions whose exact mean and variance under the law are known: the
value itself, its square about the mean, and indicators of lying below a quantile. The average over
the draws differs from the exact mean by noise of known size, ``sd(function) / sqrt(ESS)``, where
the effective sample size is that of this very function. Functions without a variance under the law
(heavy tails) are left out; the quantiles always remain.

Of a nominal variable, each value's probability is compared with the frequency of visits. Among n
effective draws a rare value is visited a few times or never, where no normal law holds: the tails
are those of the binomial law, continued to an effective number that is not whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import betainc, betaincc

from bayesmodels.errors import DataError
from bayesmodels.protocol import Belief, Law
from bayesmodels.reading import levels, numbers, places

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Test:
    """One function of one scalar.

    Attributes
    ----------
    label : str
        The scalar, such as ``w[age]``.
    kind : str
        ``mean``, ``sd``, ``probability``, or a quantile such as ``q05``.
    z : float
        Discrepancy in Monte-Carlo standard errors.
    ess : float
        Effective number of draws for this function.
    p : float
        Two-sided probability of a larger discrepancy under a Student-t law with `ess` degrees; of
        a frequency, under the binomial law of `ess` draws.
    """

    label: str
    kind: str
    z: float
    ess: float
    p: float


def scalar_draws(law: Belief, draws: Any) -> list[tuple[str, str, tuple[int, ...], Array]]:
    """Return label, variable, index and the (chain, draw) array of every scalar.

    Raises
    ------
    DataError
        If a variable is missing from the draws, has another shape, or holds NaN.
    """
    group = draws.posterior if hasattr(draws, "posterior") else draws
    given, shapes = {}, {}
    for name, marginal in law.marginals().items():
        if name not in group:
            msg = f"draws: must have the variable {name!r}; has {[str(v) for v in group]}."
            raise DataError(msg)
        shapes[name] = np.shape(marginal.std())
        shape = shapes[name][:-1] if name in levels(law) else shapes[name]
        values = np.asarray(group[name], dtype=float)
        if values.shape[2:] != shape:
            msg = (
                f"draws: {name!r} must have the axes (chain, draw) and then {shape}; got shape "
                f"{values.shape}."
            )
            raise DataError(msg)
        if not np.isfinite(values).all():
            bad = int((~np.isfinite(values)).sum())
            msg = f"draws: {name!r} holds {bad} values that are not finite."
            raise DataError(msg)
        given[name] = values
    result = []
    for name, values in numbers(law, given).items():
        places_last = np.moveaxis(values, (0, 1), (-2, -1))
        inner = places(law, name, shapes[name])
        result += [(label, name, at, places_last[at]) for label, at in inner]
    return result


def tests(law: Belief, draws: Any) -> list[Test]:
    """Return all tests of all scalars."""
    from arviz_stats.sampling_diagnostics import ess

    nominal = levels(law)
    reference = getattr(law, "reference", np.inf)  # exact draws that stand for a law without form
    marginals = {name: own for name, own in law.marginals().items() if name not in nominal}
    standard = {name: _standardised(marginal) for name, marginal in marginals.items()}
    cuts = {name: [marginal.ppf(q) for q in QUANTILES] for name, marginal in marginals.items()}
    every = scalar_draws(law, draws)
    found: list[Test] = []
    seen: dict[tuple[bytes, float, float], list[Test]] = {}
    for name in nominal:
        mass = np.asarray(law.mean()[name])
        found += _frequencies([(label, mass[at], x) for label, n, at, x in every if n == name])
    for label, name, at, x in every:
        if name in nominal:
            continue
        functions = []
        mean, sd, kurtosis = (part[at] for part in standard[name])
        same = (x.tobytes(), float(mean), float(sd))
        if same in seen:  # the other half of a symmetric matrix
            found += [replace(test, label=label) for test in seen[same]]
            continue
        seen[same] = []
        if np.isfinite(sd):
            functions.append(("mean", (x - mean) / sd, 0.0, 1.0))
            if np.isfinite(kurtosis):
                functions.append(("sd", ((x - mean) / sd) ** 2, 1.0, np.sqrt(kurtosis - 1)))
        for q, cut in zip(QUANTILES, cuts[name], strict=True):
            below = (x <= cut[at] if np.ndim(cut) else x <= cut).astype(float)
            functions.append((f"q{100 * q:02.0f}", below, q, np.sqrt(q * (1 - q))))
        for kind, values, expected, spread in functions:
            size = values.size
            number = 1.0 if np.ptp(values) == 0 else min(float(ess(values, method="mean")), size)
            z = float((values.mean() - expected) / (spread * np.sqrt(1 / number + 1 / reference)))
            seen[same].append(Test(label, kind, z, number, float(2 * stats.t.sf(abs(z), number))))
        found += seen[same]
    return found


def _frequencies(every: list[tuple[str, float, Array]]) -> list[Test]:
    """Test how often each value of a nominal variable was visited.

    Parameters
    ----------
    every : list of (str, float, ndarray of shape (chain, draw))
        Label, probability and indicator of each value.
    """
    from arviz_stats.sampling_diagnostics import ess

    known, variance = {}, {}
    for label, mass, x in every:
        if np.ptp(x) > 0 and mass * (1 - mass) > 0:
            known[label] = min(float(ess(x, method="mean")), x.size)
            variance[label] = mass * (1 - mass)
    # A few visits say little about their own effective size; what all visits say bounds it.
    noise = sum(variance[label] / known[label] for label in known)
    typical = sum(variance.values()) / noise if known else 1.0
    found = []
    for label, mass, x in every:
        sure = mass in (0, 1) and bool((x == mass).all())
        number = float(x.size) if sure else min(known.get(label, typical), typical)
        visits = float(x.mean()) * number
        few = 1.0 if visits >= number else float(betaincc(visits + 1, number - visits, mass))
        many = 1.0 if visits <= 0 else float(betainc(visits, number - visits + 1, mass))
        p = min(1.0, 2 * max(min(few, many), _TINY))
        z = float(stats.norm.isf(p / 2)) * (1 if many < few else -1) + 0.0  # not -0.0
        found.append(Test(label, "probability", z, number, p))
    return found


def table(law: Belief, draws: Any, found: list[Test] | None = None) -> pd.DataFrame:
    """Return exact beside sampled values, one row a scalar.

    Returns
    -------
    pandas.DataFrame
        Columns ``mean``, ``sd``, interval ends (exact), the same with the prefix ``sampled_``,
        ``ess_bulk``, ``ess_tail``, ``r_hat``, ``mcse_mean`` and ``z``, the largest discrepancy of
        the scalar in standard errors.
    """
    import pandas as pd
    from arviz_stats.sampling_diagnostics import mcse

    exact = law.summary()
    found = tests(law, draws) if found is None else found
    rows: dict[str, dict[str, float]] = {}
    twins: dict[bytes, dict[str, float]] = {}
    worst: dict[str, float] = {}
    for test in found:
        worst[test.label] = max(worst.get(test.label, 0.0), test.z, key=abs)
    for label, _, _, x in scalar_draws(law, draws):
        if (known := twins.get(x.tobytes())) is not None:  # as above
            rows[label] = {**known, "z": worst[label]}
            continue
        low, high = np.quantile(x, [0.055, 0.945])
        twins[x.tobytes()] = rows[label] = {
            "sampled_mean": x.mean(),
            "sampled_sd": x.std(ddof=1),
            "sampled_eti89_lb": low,
            "sampled_eti89_ub": high,
            **mixing(x),
            "mcse_mean": float(mcse(x)) if np.ptp(x) > 0 else 0.0,
            "z": worst[label],
        }
    return exact.join(pd.DataFrame.from_dict(rows, orient="index"))


def mixing(x: Array) -> dict[str, float]:
    """Return `ess_bulk`, `ess_tail` and `r_hat` of draws of the shape (chain, draw)."""
    from arviz_stats.sampling_diagnostics import ess, rhat

    return {
        "ess_bulk": float(ess(x)),
        "ess_tail": float(ess(x, method="tail", prob=(0.05, 0.95))),
        # Of a value never visited, or always, chains cannot say different things.
        "r_hat": float(rhat(x)) if np.ptp(x) > 0 else 1.0,
    }


def _standardised(law: Law) -> tuple[Array, Array, Array]:
    """Return mean, standard deviation and kurtosis (3 for a normal law), elementwise."""
    kurtosis = np.asarray(law.stats("k"), dtype=np.float64) + 3
    kurtosis = np.where(np.isnan(kurtosis), np.inf, kurtosis)
    mean, sd, fourth = np.broadcast_arrays(law.mean(), law.std(), kurtosis)
    return mean, sd, fourth
