"""Which terms are to blame where two joint densities differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.referee.alignment import Pair
from bayesmodels.referee.log_terms import Logs, Point, same_support, total
from bayesmodels.referee.programs import Side
from bayesmodels.referee.term_matching import Gap, Terms, gap, lumped, unmatched

Both = tuple[Mapping[str, Logs], Mapping[str, Logs]]

_EPS = float(np.finfo(float).eps)


def differing(
    pair: Pair, at: list[Point], found: Both, used: Array
) -> tuple[list[str], list[str]]:
    """Return in words the terms that differ, and what is known of how they do."""
    places = np.flatnonzero(used)
    first, second = ({n: _part(x, used) for n, x in terms.items()} for terms in found)
    left = unmatched(lumped(first, pair.sides[0].words), lumped(second, pair.sides[1].words))
    if not left:  # where both are possible, all is well
        return _support(pair.sides, found, ~used)
    inside = [at[i] for i in places]
    return _to_blame(left, pair.sides, inside, _jacobians(pair, inside, (first, second)))


def _part(logs: Logs, used: Array) -> Logs:
    return Logs(logs.value[used], logs.bound[used])


def _support(sides: tuple[Side, Side], found: Both, where: Array) -> tuple[list[str], list[str]]:
    """Return the terms that are possible in one program alone: of these the simplest."""
    apart = []
    for k in (0, 1):
        for name, logs in found[k].items():
            here = _part(logs, where)
            other = found[1 - k].get(name, Logs(0 * logs.value, 0 * logs.bound))
            if not same_support(here, _part(other, where)).all():
                apart.append((k, name))
    wide = {key: len(sides[key[0]].needs(key[1])) for key in apart}
    least = min(wide.values(), default=0)
    chosen = [key for key in apart if wide[key] == least]
    return _words(chosen, sides), ["Its support is not the same in both programs."]


def _to_blame(
    left: Terms, sides: tuple[Side, Side], at: list[Point], jacobians: Mapping[str, Logs]
) -> tuple[list[str], list[str]]:
    """Return in words the terms that differ, and what is known of how they do."""
    sums = [total((x for (s, _), x in left.items() if s == side), len(at)) for side in (0, 1)]
    for name, logs in jacobians.items():
        if _how(logs, sums) is not None:
            said = [
                f"The difference is the log Jacobian of {name.strip()}: one program lacks it, or "
                "counts it twice."
            ]
            # A law may have such a factor, too.
            if any(_by_hand(sides[s], n) for s, n in left):
                return [f"the Jacobian of {name.strip()}"], said
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
    found = [key for key in fits if len(wide[key]) == least] or chosen
    return _words(found, sides), [f"The difference depends on {', '.join(sorted(moving))}."]


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
        found = [side.run(points) for side in sides]
        own = [total((found[s][n] for s, n in left if s == k), len(points)) for k in (0, 1)]
        return gap(*own)

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


def _jacobians(pair: Pair, at: list[Point], found: Both) -> dict[str, Logs]:
    """Return log Jacobians that may have been forgotten: of the map, and of PyMC's transforms."""
    known = {
        name.removeprefix("Jacobian of "): terms[name]
        for side, terms in zip(pair.sides, found, strict=True)
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
