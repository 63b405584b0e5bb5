r"""Who may raise how many false alarms: every test its part, each of its assertions a part of that.

A run of n tests has one budget :math:`\varepsilon`. Each test has the share
:math:`\varepsilon / \max(n, 1000)`, its j-th assertion :math:`1 / (j (j + 1))` of that, which adds
up to the share however many there are. By Bonferroni, the probability that any right assertion of
the run is called wrong is at most :math:`\varepsilon`, in any order, on any number of workers,
whatever depends on what. Up to 1,000 tests a share depends on nothing else, so that a test that
runs alone has the verdict that it has among others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FALSE_ALARMS = 0.01
"""Probability that a whole run of right tests fails; outside pytest, that one assertion does."""
FEWEST = 1000
"""Tests that the budget is shared among, if there are fewer."""


@dataclass
class Account:
    """The share of false alarms of one test, and its findings."""

    test: str
    share: float
    assertions: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list)

    def level(self) -> float:
        """Return the level of the next assertion.

        >>> account = Account("test_coin", share=1.0)
        >>> [round(account.level(), 3) for _ in range(3)]
        [0.5, 0.167, 0.083]
        """
        self.assertions += 1
        return self.share / (self.assertions * (self.assertions + 1))

    def take(self) -> list[dict[str, Any]]:
        """Return the findings since the last call."""
        result, self.entries = self.entries, []
        return result


OPEN: list[Account] = []
"""Accounts of the tests that are running, the innermost last: a test may run pytest itself."""
