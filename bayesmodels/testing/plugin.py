"""The plugin of pytest: shares out the budget, and prints and writes the verdicts at the end.

It is loaded at every start of pytest, and does nothing before an assertion of `bayesmodels.testing`
is made.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from bayesmodels.testing import verdicts
from bayesmodels.testing.budget import FALSE_ALARMS, FEWEST, OPEN, Account

_BUDGET, _FILES = "--bayesmodels-false-alarms", "--bayesmodels-verdicts"
_ACCOUNT = pytest.StashKey[Account]()
_TRAVELS = (
    "bayesmodels_verdicts"  # on reports of pytest, which go from xdist's workers to the first
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options and settings."""
    group = parser.getgroup("bayesmodels", "statistical tests (bayesmodels.testing)")
    group.addoption(
        _BUDGET,
        type=float,
        metavar="P",
        help="Probability that a run of right statistical tests fails (default: 0.01, or the "
        "setting false_alarms).",
    )
    group.addoption(
        _FILES,
        action="append",
        default=[],
        metavar="FILE",
        help="Write all verdicts here (.json or .md). May be given twice.",
    )
    parser.addini("false_alarms", "Probability that a run of right statistical tests fails.")


def pytest_configure(config: pytest.Config) -> None:
    """Check the options before any test runs."""
    option = config.getoption(_BUDGET)
    stated = option if option is not None else config.getini("false_alarms") or FALSE_ALARMS
    try:
        budget = float(stated)
    except ValueError:
        budget = 0.0
    if not 0 < budget < 1:
        raise pytest.UsageError(f"false_alarms: must be between 0 and 1; got {stated!r}.")
    if "workerinput" in vars(config):  # one of xdist's workers, whose reports go to the first
        config.pluginmanager.register(_Run(budget, []), "bayesmodels verdicts")
        return
    files = [Path(config.invocation_params.dir, file) for file in config.getoption(_FILES)]
    for file in files:
        if file.suffix not in verdicts.WRITERS or not file.parent.is_dir():
            raise pytest.UsageError(
                f"{_FILES}: must end in .json or .md, in a folder that exists; got '{file}'."
            )
    config.pluginmanager.register(_Run(budget, files), "bayesmodels verdicts")


class _Run:
    """One run of a test suite, or the part of it that one worker does."""

    def __init__(self, budget: float, files: list[Path]) -> None:
        self.budget = budget
        self.files = files
        self.share = budget / FEWEST
        self.entries: list[dict[str, Any]] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.share = self.budget / max(len(session.items), FEWEST)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        item.stash[_ACCOUNT] = Account(item.nodeid, self.share)
        OPEN.append(item.stash[_ACCOUNT])
        try:
            return (yield)
        finally:
            OPEN.pop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if result := item.stash[_ACCOUNT].take():
            setattr(report, _TRAVELS, result)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.entries += vars(report).get(_TRAVELS, [])

    def pytest_sessionfinish(self) -> None:
        for file in self.files:
            verdicts.write(self.entries, self.budget, file)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.entries or terminalreporter.verbosity < 0:
            return
        terminalreporter.write_sep("=", "verdicts")
        layout = "{:12}  {:>7}  {:>9}  {:>7}  {}"
        terminalreporter.write_line(layout.format(*verdicts.HEAD, "test"))
        for result in self.entries:
            colour = {"agree": "green", "disagree": "red"}.get(result["outcome"], "yellow")
            line = layout.format(*verdicts.row(result), result["test"])
            terminalreporter.write_line(line, **{colour: True})
        terminalreporter.write_line(verdicts.in_short(self.entries, self.budget))
