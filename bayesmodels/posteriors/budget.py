"""How long a search for a closed form may take: asked before longer work, and on the way.

Counted is what this thread computes: how busy the machine is otherwise does not change the answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from bayesmodels.errors import NotConjugate

SECONDS = 50.0
"""What a search may take if nothing else is said."""
_SOME = 3  # names that are listed


def first_of(names: Sequence[str]) -> str:
    """Return the first names of many."""
    return ", ".join(names[:_SOME]) + (", ..." if len(names) > _SOME else "")


class OutOfTime(NotConjugate):
    """A search that would take, or took, longer than it may."""


class Budget:
    """Seconds that a search for the law of some variables may compute, from now on."""

    def __init__(self, seconds: float, names: Sequence[str]) -> None:
        self._seconds, self._end = seconds, time.thread_time() + seconds
        self._names = first_of(names)
        self._each = np.inf

    @contextmanager
    def evaluation(self) -> Iterator[None]:
        """Measure an evaluation of the joint density and its slopes, if there is time for it."""
        self.check()
        start = time.thread_time()
        yield
        self._each = min(self._each, time.thread_time() - start)

    def check(self) -> None:
        """Refuse if no time is left."""
        if time.thread_time() > self._end:
            raise OutOfTime(
                f"the search for a closed form of {self._names} has not ended within "
                f"{self._seconds:g} s of computing; {self._more}"
            )

    def ask(self, evaluations: int, what: str) -> None:
        """Refuse if so many evaluations can't be done in the time that is left."""
        if np.isfinite(self._each) and time.thread_time() + evaluations * self._each > self._end:
            raise OutOfTime(
                f"{what} would take about {evaluations:,} evaluations of the joint density of "
                f"{1e3 * self._each:.2g} ms, and the search ends after {self._seconds:g} s; "
                f"{self._more}"
            )

    @property
    def _more(self) -> str:
        return "bm.exact(model, seconds=...) gives it more."


UNLIMITED = Budget(np.inf, ())
