"""What is said of a test that is significant, in words of the table that stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmodels.referee.bounds import PROB
from bayesmodels.referee.copies import Copies
from bayesmodels.referee.pit import TAIL, Test, name_of

Row = dict[Any, Any]
"""A row of the table by the names of its columns."""

_HALF = 0.5
"""Part of an effect on ranks that a mean or a width must show to be spoken of in its place."""
_HIGH, _OFTEN = ("high", "low"), ("often", "seldom")
_SENTENCES: dict[str, tuple[str, tuple[str, str]]] = {
    "location": ("draws of {label} are too {way} ({size}).", _HIGH),
    "spread": ("draws of {label} lie too {way} its median ({size}).", ("far from", "near")),
    "skew": ("{label} is skewed too far to the {way} ({size}).", ("right", "left")),
    "tails": ("the tails of {label} are too {way} ({size}).", ("heavy", "light")),
    "low tail": ("the lowest {tail:g} % of {label} were visited too {way} ({size}).", _OFTEN),
    "high tail": ("the highest {tail:g} % of {label} were visited too {way} ({size}).", _OFTEN),
    "chain": ("chain {chain} of {label} stands apart from the other chains ({size}).", _HIGH),
    "correlation": ("the rank correlation of {label} is {effect:.2g} too {way} ({size}).", _HIGH),
    "probability": ("{label} was visited {size} too {way}.", _OFTEN),
    "class probability": ("the predicted class probability ({label}) is {size} too {way}.", _HIGH),
}
_BELOW = ("too {way} draws of {label} lie below its {name} ({size}).", ("many", "few"))
"""What is said of a test, with words for too much and for too little; the last, of quantiles."""


def sentence(test: Test, row: Row | None) -> str:
    """Say what is wrong, of a scalar with its row of the table."""
    if test.kind in ("support", "extreme"):
        be = "is" if test.draws == 1 else "are"
        how_many = f"{test.draws or 1:,} of {test.ess:,.0f} draws of {test.label} {be}"
        if test.kind == "support":
            return f"{how_many} impossible: the density there is zero."
        end = "lowest" if test.z < 0 else "highest"
        return f"{how_many} farther out than any should be, the {end} {test.effect:.6g}."
    size = f"{abs(test.z):.1f} standard errors"
    if row is not None and (said := _in_the_table(test, row, size)):
        return said
    text, (more, less) = _SENTENCES.get(test.kind, _BELOW)
    return text.format(
        label=test.label,
        name=name_of(test),
        way=more if test.z > 0 else less,
        size=size,
        effect=abs(test.effect),
        tail=100 * TAIL,
        chain=test.chain,
    )


def _in_the_table(test: Test, row: Row, size: str) -> str:
    """Say a location or a spread by means, deviations or intervals, if these show it."""
    drawn, exact = ("sampled_", "") if "sampled_mean" in row else ("first_", "second_")
    known = {
        part: (float(row[drawn + part]), float(row.get(exact + part, np.nan)))
        for part in ("mean", "sd", "eti89_lb", "eti89_ub")
    }
    mean, sd = known["mean"], known["sd"]
    if test.kind in ("location", "shift"):
        if _shows(gap := (mean[0] - mean[1]) / sd[1], test.effect):
            return (
                f"{test.label} lies {abs(gap):.2g} standard deviations too "
                f"{'high' if gap > 0 else 'low'} ({size})."
            )
        return ""
    if test.kind != "spread":
        return ""
    widths = [high - low for low, high in zip(known["eti89_lb"], known["eti89_ub"], strict=True)]
    for what, (own, other), ways in (
        ("standard deviation", sd, ("large", "small")),
        (f"{100 * PROB:.0f} % interval", widths, ("wide", "narrow")),
    ):
        if _shows(part := own / other - 1, test.effect):
            way = ways[0] if part > 0 else ways[1]
            return f"the {what} of {test.label} is {100 * abs(part):.2g} % too {way} ({size})."
    return ""


def _shows(seen: float, effect: float) -> bool:
    return bool(np.isfinite(seen) and seen * effect > 0 and abs(seen) >= _HALF * abs(effect))


def of_copies(found: Sequence[Copies]) -> str:
    """Say which chains of one set are the same draws."""
    pairs = [
        f"{c.first} and {c.second}" + (f" ({abs(c.shift)} rows apart)" if c.shift else "")
        for c in found
    ]
    return (
        f"chains {', '.join(pairs)} are the same draws, and count once. Give each chain a seed "
        "of its own."
    )


def of_resampled(whose: str, different: int, draws: int) -> str:
    """Say that draws are copies of each other."""
    return (
        f"{whose} {draws:,} draws {different:,} are different ones: copies, as resampling makes "
        "them, count as one."
    )


def of_sets(found: Sequence[Copies], chains: int) -> str:
    """Say which chains of two sets are the same draws."""
    one = found[0]
    if len({c.first for c in found}) == chains:
        return "both sets hold the same draws, which says nothing about either."
    return (
        f"chain {one.first} of the first set and chain {one.second} of the second are the same "
        "draws. Compare draws that were made apart."
    )


def divergences(draws: Any) -> int:
    """Return how many transitions diverged, where draws come with a sampler's statistics."""
    told = getattr(draws, "sample_stats", {})
    return int(np.sum(np.asarray(told["diverging"], dtype=bool))) if "diverging" in told else 0
