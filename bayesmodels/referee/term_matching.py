"""Which terms of two joint densities are the same, and which is to blame if the sums are not.

A term matches one of the other program, or a few match a few, if their sums differ by a constant:
a centred prior is that of the standardised variable and the log Jacobian; a Potential may be a
likelihood. What is left differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.referee.log_terms import Logs, same_support, total

_MANY = 4  # likelihoods of one program that are kept apart
_MOST = 12  # terms of which all subsets are tried

Terms = dict[tuple[int, str], Logs]
"""Log terms by program and name."""


@dataclass(frozen=True)
class Gap:
    """The difference of two log densities at some points, with its bounds.

    `varies` is how far it is from a constant, over the bound: infinite where one program alone is
    possible. `constant` is taken where the bound is tightest, and is NaN if there is no such point.
    """

    value: Array
    bound: Array
    constant: float
    tightest: float
    varies: float
    used: Array

    @property
    def holds(self) -> bool:
        """Whether the difference is a constant, up to rounding."""
        return self.varies <= 1


def gap(first: Logs, second: Logs) -> Gap:
    """Return the second minus the first."""
    used = np.isfinite(first.value) & np.isfinite(second.value)
    value = np.where(used, second.value - np.where(used, first.value, 0), np.nan)
    bound = first.bound + second.bound
    apart = not same_support(first, second)[~used].all()
    if not used.any():
        return Gap(value, bound, np.nan, np.nan, np.inf if apart else 0.0, used)
    best = int(np.argmin(np.where(used, bound, np.inf)))
    constant, tightest = float(value[best]), float(bound[best])
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(value - constant) / (bound + tightest)
    varies = float(np.nan_to_num(off[used], nan=0.0).max())
    return Gap(value, bound, constant, tightest, np.inf if apart else varies, used)


def unmatched(first: Mapping[str, Logs], second: Mapping[str, Logs]) -> Terms:
    """Return the terms that no terms of the other program are the same as."""
    left: Terms = {(0, n): logs for n, logs in first.items()}
    left |= {(1, n): logs for n, logs in second.items()}
    for name in first.keys() & second.keys():
        if _balanced([((0, name), first[name]), ((1, name), second[name])]):
            del left[0, name], left[1, name]
    size = 1
    while size <= min(len(left), _MOST):
        chosen = combinations(left.items(), size) if len(left) <= _MOST or size <= 2 else ()  # noqa: PLR2004
        found = next((keys for keys in chosen if _balanced(keys)), None)
        if found:
            for key, _ in found:
                del left[key]
        else:
            size += 1
    return left


def _balanced(chosen: Iterable[tuple[tuple[int, str], Logs]]) -> bool:
    """Whether the sums of both programs' terms differ by a constant."""
    chosen = list(chosen)
    number = len(chosen[0][1].value)
    return gap(*(total((x for (k, _), x in chosen if k == side), number) for side in (0, 1))).holds


def lumped(terms: Mapping[str, Logs], words: Mapping[str, str]) -> dict[str, Logs]:
    """Return the same with likelihoods, if they are many, as one term under the first's name."""
    rows = [name for name in terms if words.get(name, "").startswith("the likelihood")]
    if len(rows) <= _MANY:
        return dict(terms)
    number = len(terms[rows[0]].value)
    together = total((terms[name] for name in rows), number)
    return {n: x for n, x in terms.items() if n not in rows} | {rows[0]: together}
