r"""Location, spread, skew and tails: Legendre polynomials of the transforms, degree 1 to 4.

If draws x come from a law with distribution function F, u = F(x) is uniform, whatever the law. Then
each polynomial of u, shifted to the unit interval, has a known mean of zero and a known variance of
one, so that its average over draws, in standard errors, is :math:`z = \\sqrt{n} \\, \\bar f`, n the
effective number of draws of that very function (Neyman's smooth test, 1937; the degrees taken one
by one). Neither heavy tails nor units matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.bounds import PROB
from bayesmodels.referee.tests.kind import Kind, Row, Test, t_tests

# Change of the average of the first two polynomials when a normal law is shifted by one standard
# deviation, or widened by a part of it, for small shifts and parts.
PER_SHIFT = float(np.sqrt(3 / np.pi))
PER_SPREAD = float(np.sqrt(15) / np.pi)
UNITS = np.array([PER_SHIFT, PER_SPREAD, np.nan, np.nan])
"""What turns averages of the polynomials into effects."""
_HALF = 0.5
"""Part of an effect on ranks that a mean or a width must show to be spoken of in its place."""


def shift_in_table(test: Test, row: Row, size: str) -> str:
    """Say a location by the means, if these show it."""
    (mean, other), (_, sd) = (_sides(row, part) for part in ("mean", "sd"))
    if not _shows(gap := (mean - other) / sd, test.effect):
        return ""
    way = "high" if gap > 0 else "low"
    return f"{test.label} lies {abs(gap):.2g} standard deviations too {way} ({size})."


def _spread_in_table(test: Test, row: Row, size: str) -> str:
    """Say a spread by standard deviations or intervals, if these show it."""
    low, high = (_sides(row, part) for part in ("eti89_lb", "eti89_ub"))
    widths = (high[0] - low[0], high[1] - low[1])
    for what, (own, other), ways in (
        ("standard deviation", _sides(row, "sd"), ("large", "small")),
        (f"{100 * PROB:.0f} % interval", widths, ("wide", "narrow")),
    ):
        if _shows(part := own / other - 1, test.effect):
            way = ways[0] if part > 0 else ways[1]
            return f"the {what} of {test.label} is {100 * abs(part):.2g} % too {way} ({size})."
    return ""


def _sides(row: Row, part: str) -> tuple[float, float]:
    """Return a number of the draws, and that of the law or of the second set."""
    drawn, exact = ("sampled_", "") if "sampled_mean" in row else ("first_", "second_")
    return float(row[drawn + part]), float(row.get(exact + part, np.nan))


def _shows(seen: float, effect: float) -> bool:
    return bool(np.isfinite(seen) and seen * effect > 0 and abs(seen) >= _HALF * abs(effect))


LOCATION = Kind(
    "location", "location", "draws of {label} are too {way} ({size}).",
    weight=8, yields_to="shift", measures=True, in_table=shift_in_table,
)  # fmt: skip
SPREAD = Kind(
    "spread", "spread", "draws of {label} lie too {way} its median ({size}).",
    ("far from", "near"), weight=8, measures=True, in_table=_spread_in_table,
)  # fmt: skip
SKEW = Kind("skew", "skew", "{label} is skewed too far to the {way} ({size}).", ("right", "left"))
TAILS = Kind("tails", "tails", "the tails of {label} are too {way} ({size}).", ("heavy", "light"))
KINDS = (LOCATION, SPREAD, SKEW, TAILS)
"""Of the polynomials, in the order of their degrees."""


@dataclass(frozen=True)
class Transforms:
    """Transforms u of scalars, of shape (scalar, chain, draw), as tests of single scalars see them.

    `reference` independent draws stand for the law, whose noise counts too. `rates` are `slopes` of
    `shift`, NaN or zero of what cannot be shifted, such as a count.
    """

    labels: list[str]
    u: Array
    reference: float
    rates: Array

    @cached_property
    def moving(self) -> Array:
        """The polynomials along a new first axis."""
        return polynomials(self.u)

    @cached_property
    def effective(self) -> Any:
        """Effective draws of the polynomials, and the degrees of freedom of their averages."""
        return effective_draws(self.moving)


def polynomials(u: Array) -> Array:
    """Return the four polynomials along a new first axis, of mean zero and variance one."""
    t = 2 * np.asarray(u) - 1
    square = t * t
    return np.stack(
        [
            np.sqrt(3) * t,
            np.sqrt(5) / 2 * (3 * square - 1),
            np.sqrt(7) / 2 * t * (5 * square - 3),
            3 / 8 * ((35 * square - 30) * square + 3),
        ]
    )


def judge(seen: Transforms) -> list[Test]:
    """Return the tests of the four polynomials."""
    return averages(seen, seen.moving, seen.effective, KINDS, UNITS)


def averages(
    seen: Transforms, moving: Array, effective: Any, kinds: tuple[Kind, ...], units: Array
) -> list[Test]:
    """Return tests of averages of functions (function, scalar, chain, draw) of variance one."""
    number, freedom = effective
    means = moving.mean((-2, -1))
    z = means / np.sqrt(1 / number + 1 / seen.reference)
    columns = (x.T.ravel() for x in (z, number, freedom, means / units[:, None]))
    names = [label for label in seen.labels for _ in kinds]
    return t_tests(names, kinds * len(seen.labels), *columns)
