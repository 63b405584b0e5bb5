"""What a test of the referee is, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtri, stdtr

from bayesmodels.belief.values import stored
from bayesmodels.errors import DataError
from bayesmodels.numerics import AnyFloat, Array

Row = dict[Any, Any]
"""A row of the verdict's table by the names of its columns."""
TINY = float(np.finfo(float).tiny)
"""The least p value, for which there is a normal quantile."""


@stored
@dataclass(frozen=True)
class Test:
    """One function of one scalar.

    Attributes
    ----------
    label : str
        The scalar, such as ``w[age]``.
    kind : str
        What the function sees, the name of a `Kind`: ``location``, ``spread``, ``skew``, ``tails``;
        ``shift``, what all of these say of one; ``q25``, ``q50``, ``q75``; ``low tail``,
        ``high tail``; ``chain``, that chains differ; ``extreme``, the draw that is farthest out;
        ``support``, that values of a variable are impossible; ``correlation`` of two scalars;
        ``probability`` of a nominal value; ``class probability`` of a row.
    z : float
        Discrepancy in Monte-Carlo standard errors; of tails and chains, the standard normal
        quantile that is as improbable.
    ess : float
        Effective number of draws for this function.
    p : float
        Two-sided probability of a larger discrepancy under correct draws.
    effect : float
        Discrepancy of a location or a shift in posterior standard deviations, of a spread as a part
        of it, of a correlation as its difference, of an extreme the draw itself; else NaN.
    chain : int or None
        The chain that is farthest from the others, where chains differ.
    draws : int or None
        How many draws are impossible, or as far out as no draw should be.
    """

    label: str
    kind: str
    z: AnyFloat
    ess: AnyFloat
    p: float
    effect: AnyFloat = float("nan")
    chain: int | None = None
    draws: int | None = None

    __test__ = False  # no test of pytest's

    @classmethod
    def _from_file(cls, **fields: Any) -> Self:
        """Return a test whose numbers are possible."""
        test = cls(**fields)
        if not (0 <= test.p <= 1 and test.ess >= 0) or np.isnan(test.z):
            raise DataError(
                f"p, ess, z: p must be between 0 and 1, ess not negative, z a number; got {test}."
            )
        for number in (test.chain, test.draws):
            if number is not None and (type(number) is not int or number < 0):
                raise DataError(f"chain, draws: must be whole numbers; got {number}.")
        return test


@dataclass(frozen=True)
class Kind:
    """A kind of test, and all that the verdict needs to know of it.

    Attributes
    ----------
    name : str
        As in `Test.kind`.
    words : str
        What a test of this kind looks at.
    says : str
        What is said of a significant test, with fields in braces; see `sentence`.
    ways : pair of str
        Words for too much and for too little.
    weight : float
        Its share of the level, among all tests.
    yields_to : str
        Another kind that says more of the same scalar: beside it the weight is 1, and the finding
        is not repeated.
    needs_ess : bool
        Whether a standard error must be known from enough effective draws of the scalar. Without,
        tests are judged by laws that hold for few effective draws, too.
    own_ess : bool
        Whether its own effective draws count alone, whatever those of location and spread are.
    measures : bool
        Whether its effect is bounded in a verdict of agreement.
    order : int
        The graver first.
    in_table : callable, optional
        From a test, its row of the table and the size in words to a sentence about numbers that
        stand there; empty if these do not show it.
    """

    name: str
    words: str
    says: str
    ways: tuple[str, str] = ("high", "low")
    weight: float = 1.0
    yields_to: str = ""
    needs_ess: bool = True
    own_ess: bool = False
    measures: bool = False
    order: int = 2
    in_table: Callable[[Test, Row, str], str] | None = None

    def sentence(self, test: Test, row: Row | None) -> str:
        """Say what is wrong, of a scalar with its row of the table."""
        size = f"{abs(test.z):.1f} standard errors"
        if row is not None and self.in_table and (said := self.in_table(test, row, size)):
            return said
        be = "is" if test.draws == 1 else "are"
        return self.says.format(
            label=test.label,
            words=self.words,
            way=self.ways[0] if test.z > 0 else self.ways[1],
            size=size,
            effect=abs(test.effect),
            value=test.effect,
            chain=test.chain,
            draws=f"{test.draws or 1:,} of {test.ess:,.0f} draws of {test.label} {be}",
        )


def two_sided(low: Any, high: Any) -> tuple[Array, Array]:
    """Return p and z of the smaller of two one-sided probabilities; z is positive if it is high."""
    p = np.clip(2 * np.minimum(low, high), TINY, 1.0)
    return p, ndtri(p / 2) * np.where(np.less(high, low), -1, 1) + 0.0  # not -0.0


def t_tests(
    labels: Sequence[str],
    kinds: Sequence[Kind],
    z: Array,
    ess: Array,
    freedom: Array,
    effect: Array,
) -> list[Test]:
    """Return tests of averages that follow a t law, of at least one degree of freedom."""
    p = 2 * stdtr(np.maximum(freedom, 1), -np.abs(z))
    columns = (np.asarray(values).tolist() for values in (z, ess, p, effect))
    names = (kind.name for kind in kinds)
    return [Test(*row) for row in zip(labels, names, *columns, strict=True)]
