"""Which terms of two joint densities are to blame where these differ.

A term matches one of the other program, or a few match a few, if their sums differ by a constant:
a centred prior is that of the standardised variable and the log Jacobian; a Potential may be a
likelihood. What is left differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array
from bayesmodels.referee.alignment import Pair
from bayesmodels.referee.log_terms import Logs, Point, same_support, total
from bayesmodels.referee.programs import Side

_EPS = float(np.finfo(float).eps)
_MANY = 4  # likelihoods of one program that are kept apart
_MOST = 12  # terms of which all subsets are tried

Terms = dict[tuple[int, str], Logs]
"""Log terms by program and name."""

Both = tuple[Mapping[str, Logs], Mapping[str, Logs]]


@dataclass(frozen=True)
class Gap:
    """The difference of two log densities at some points, with its bounds.

    `off` is how far it is from a constant, over the bound: infinite where one program alone is
    possible; `varies` is the largest of it. `constant` is taken where the bound is tightest, and is
    NaN if there is no such point.
    """

    value: Array
    bound: Array
    constant: float
    tightest: float
    varies: float
    used: NDArray[np.bool_]
    off: Array

    @property
    def holds(self) -> bool:
        """Whether the difference is a constant, up to rounding."""
        return self.varies <= 1


def gap(first: Logs, second: Logs, *, one_sided: NDArray[np.bool_] | None = None) -> Gap:
    """Return the second minus the first; `one_sided` is where only one is possible, if known."""
    used = np.isfinite(first.value) & np.isfinite(second.value)
    value = np.where(used, second.value - np.where(used, first.value, 0), np.nan)
    bound = np.nan_to_num(first.bound + second.bound, nan=np.inf, posinf=np.inf)
    one_sided = ~(used | same_support(first, second)) if one_sided is None else one_sided
    infinite = np.where(one_sided, np.inf, 0.0)
    if not used.any():
        return Gap(value, bound, np.nan, np.nan, float(infinite.max(initial=0)), used, infinite)
    best = int(np.argmin(np.where(used, bound, np.inf)))
    constant, tightest = float(value[best]), float(bound[best])
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.nan_to_num(np.abs(value - constant) / (bound + tightest), nan=0.0) + infinite
    return Gap(value, bound, constant, tightest, float(off.max()), used, off)


def _unmatched(first: Mapping[str, Logs], second: Mapping[str, Logs]) -> Terms:
    """Return the terms that no terms of the other program are the same as."""
    left: Terms = {(0, n): logs for n, logs in first.items()}
    left |= {(1, n): logs for n, logs in second.items()}
    for name in first.keys() & second.keys():
        if _balanced([((0, name), first[name]), ((1, name), second[name])]):
            del left[0, name], left[1, name]
    size = 1
    while size <= min(len(left), _MOST):
        chosen = combinations(left.items(), size) if len(left) <= _MOST or size <= 2 else ()  # noqa: PLR2004
        result = next((keys for keys in chosen if _balanced(keys)), None)
        if result:
            for key, _ in result:
                del left[key]
        else:
            size += 1
    return left


def _balanced(chosen: Iterable[tuple[tuple[int, str], Logs]]) -> bool:
    """Whether the sums of both programs' terms differ by a constant."""
    chosen = list(chosen)
    number = len(chosen[0][1].value)
    return gap(*(total((x for (k, _), x in chosen if k == side), number) for side in (0, 1))).holds


def _lumped(terms: Mapping[str, Logs], words: Mapping[str, str]) -> dict[str, Logs]:
    """Return the same with likelihoods, if they are many, as one term under the first's name."""
    rows = [name for name in terms if words.get(name, "").startswith("the likelihood")]
    if len(rows) <= _MANY:
        return dict(terms)
    number = len(terms[rows[0]].value)
    lumped = total((terms[name] for name in rows), number)
    return {n: x for n, x in terms.items() if n not in rows} | {rows[0]: lumped}


def differing(
    pair: Pair, at: list[Point], logs: Both, used: NDArray[np.bool_]
) -> tuple[list[str], list[str]]:
    """Return in words the terms that differ, and what is known of how they do."""
    places = np.flatnonzero(used)
    first, second = ({n: _part(x, used) for n, x in terms.items()} for terms in logs)
    left = _unmatched(_lumped(first, pair.sides[0].words), _lumped(second, pair.sides[1].words))
    if not left:  # where both are possible, all is well
        return _support(pair.sides, logs, ~used)
    inside = [at[i] for i in places]
    return _to_blame(left, pair.sides, inside, _jacobians(pair, inside, (first, second)))


def _part(logs: Logs, used: NDArray[np.bool_]) -> Logs:
    return Logs(logs.value[used], logs.bound[used])


def _support(
    sides: tuple[Side, Side], logs_of: Both, where: NDArray[np.bool_]
) -> tuple[list[str], list[str]]:
    """Return the terms that are possible in one program only: those of the fewest variables."""
    differing_terms, nothing = [], total((), int(where.sum()))
    for k in (0, 1):
        for name, logs in logs_of[k].items():
            here = _part(logs, where)
            other = _part(logs_of[1 - k][name], where) if name in logs_of[1 - k] else nothing
            if not same_support(here, other).all():
                differing_terms.append((k, name))
    wide = {key: len(sides[key[0]].needs(key[1])) for key in differing_terms}
    least = min(wide.values(), default=0)
    chosen = [key for key in differing_terms if wide[key] == least]
    return _words(chosen, sides), ["Its support is not the same in both programs."]


def _to_blame(
    left: Terms, sides: tuple[Side, Side], at: list[Point], jacobians: Mapping[str, Logs]
) -> tuple[list[str], list[str]]:
    """Return in words the terms that differ, and what is known of how they do."""
    sums = [total((x for (s, _), x in left.items() if s == side), len(at)) for side in (0, 1)]
    for label, logs in jacobians.items():
        if _how(logs, sums) is not None:
            name = label.strip()
            said = [f"The difference is {name}'s log Jacobian, lacking or counted twice in one."]
            # A law may have such a factor, too.
            if any(_by_hand(sides[s], n) for s, n in left):
                return [f"the Jacobian of {name}"], said
            return _words(_named(left, sides), sides), said
    chosen = _named(left, sides)
    if len(chosen) == 1 or min(sum(s == side for s, _ in left) for side in (0, 1)) > 1:
        return _words(chosen, sides), []
    # All terms of one program stand against one number of the other.
    for key in chosen:
        factor = -1.0 if key[0] else 1.0
        if (how := _how(Logs(factor * left[key].value, left[key].bound), sums)) is not None:
            words = _words([key], sides)
            return words, [f"The {('second', 'first')[key[0]]} program {how} {words[0]}."]
    moving = _moving(left, sides, at)
    wide = {key: sides[key[0]].needs(key[1]) for key in chosen}
    fits = [key for key in chosen if moving and moving <= wide[key]]
    least = min((len(wide[key]) for key in fits), default=0)
    result = [key for key in fits if len(wide[key]) == least] or chosen
    return _words(result, sides), [f"The difference depends on {', '.join(sorted(moving))}."]


def _how(part: Logs, sums: list[Logs]) -> str | None:
    """Say whether the second sum lacks a part or has it once more, if that is all."""
    with np.errstate(invalid="ignore"):
        if gap(sums[0], sums[1] + part).holds:
            return "lacks"
        back = Logs(np.where(np.isfinite(part.value), -part.value, -np.inf), part.bound)
        return "has once more" if gap(sums[0], sums[1] + back).holds else None


def _moving(left: Terms, sides: tuple[Side, Side], at: list[Point]) -> set[str]:
    """Return the variables that the difference depends on, varied one by one."""

    def difference(points: list[Point]) -> Gap:
        result = [side.run(points) for side in sides]
        sums = [total((result[s][n] for s, n in left if s == k), len(points)) for k in (0, 1)]
        return gap(*sums)

    here, moving = difference(at), set()
    for v in at[0]:
        there = difference([p | {v: q[v]} for p, q in zip(at, at[1:] + at[:1], strict=True)])
        used = here.used & there.used
        if (np.abs(there.value - here.value) > here.bound + there.bound)[used].any():
            moving.add(v)
    return moving


def _by_hand(side: Side, name: str) -> bool:
    """Whether a term is not a law's: a Potential, a function's number or a log Jacobian."""
    return name in side.jacobians or side.words.get(name, "the term").startswith("the term")


def _named(left: Terms, sides: tuple[Side, Side]) -> list[tuple[int, str]]:
    """Return the terms to be named: laws of the first program, if both have terms left."""
    laws = [[(s, n) for s, n in left if s == k and not _by_hand(sides[s], n)] for k in (0, 1)]
    if len({s for s, _ in left}) > 1 and any(laws):
        return laws[0] or laws[1]
    return [(s, n) for s, n in left if n not in sides[s].jacobians] or list(left)


def _words(keys: Iterable[tuple[int, str]], sides: tuple[Side, Side]) -> list[str]:
    return [sides[s].words.get(n, f"the term {n}") for s, n in keys]


def _jacobians(pair: Pair, at: list[Point], terms_of: Both) -> dict[str, Logs]:
    """Return log Jacobians that may have been forgotten: of the map, and of PyMC's transforms."""
    known = {
        name.removeprefix("Jacobian of "): terms[name]
        for side, terms in zip(pair.sides, terms_of, strict=True)
        for name in side.jacobians
    }
    for name in pair.source.inputs:
        x = np.array([np.ravel(point[name]) for point in at], dtype=float)
        with np.errstate(all="ignore"):
            for logs in (np.log(x), np.log(x) + np.log1p(-x)):
                value = np.where(np.isfinite(logs), logs, -np.inf).sum(1)
                size = np.where(np.isfinite(logs), np.abs(logs), 0).sum(1)
                if np.isfinite(value).any():
                    key = name if name not in known else f"{name} "
                    known[key] = Logs(value, 16 * _EPS * (1 + size))
    return known
