"""How long a search for a closed form may take: asked before longer work, and on the way.

What is too much work is counted in evaluations and in numbers that each works out, which are the
same everywhere. The clock ends a search, and chooses nothing: how quick or busy the machine is may
refuse an answer, and does not change it. It counts what this thread computes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics.lattice_integral import SPEED

SECONDS = 50.0
"""What a search may take if nothing else is said."""
_SOME = 3  # names that are listed


def first_of(names: Sequence[str]) -> str:
    """Return the first names of many."""
    return ", ".join(names[:_SOME]) + (", ..." if len(names) > _SOME else "")


class NotInTime(NotConjugate):
    """What a faster machine may answer: no finding about a model, from which nothing follows."""


class _Over(Exception):  # noqa: N818 - said in other words to the user
    """No time is left; no `NotConjugate`, which some of the search takes for a finding."""


class Budget:
    """Seconds that a search for the law of some variables may compute, from now on."""

    def __init__(self, seconds: float, names: Sequence[str]) -> None:
        self._seconds, self._end = seconds, time.thread_time() + seconds
        self._names = first_of(names)

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Refuse what has not ended when no time is left."""
        try:
            yield
        except _Over:
            raise NotInTime(
                f"the search for a closed form of {self._names} has not ended within "
                f"{self._seconds:g} s of computing; {self._more}"
            ) from None

    def check(self) -> None:
        """End the search if no time is left."""
        if time.thread_time() > self._end:
            raise _Over

    def ask(self, evaluations: int, cost: int, what: str) -> None:
        """Refuse so many evaluations that work out so many numbers each, if these are too many."""
        seconds = evaluations * cost / SPEED
        if seconds > self._seconds:
            raise NotConjugate(
                f"{what} would take about {evaluations:,} evaluations of the joint density, which "
                f"count as {seconds:.2g} s, and the search ends after {self._seconds:g} s; "
                f"{self._more}"
            )

    @property
    def _more(self) -> str:
        return "bm.exact(model, seconds=...) gives it more."


UNLIMITED = Budget(float("inf"), ())
