"""A clock that ends no search; and in the summary what tests found: errors, reasons, counts."""

import time
from collections import Counter
from types import SimpleNamespace

import pytest

SLOWER = 6  # than here another machine may be, or a busy one


@pytest.fixture
def slow_clock(monkeypatch):
    """Let searches end by what they count: a budget may refuse, and is no matter of these tests."""
    clock = SimpleNamespace(
        process_time=lambda: time.process_time() / SLOWER,
        thread_time=lambda: time.thread_time() / SLOWER,
    )
    for module in ("numerics.lattice_integral", "posteriors.budget"):
        monkeypatch.setattr(f"bayesmodels.{module}.time", clock)


def pytest_terminal_summary(terminalreporter):
    """Print what tests recorded with record_property."""
    reports = (r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, []))
    recorded = [pair for report in reports for pair in report.user_properties]

    def table(name, title):
        rows = [value for key, value in recorded if key == name]
        if rows:
            terminalreporter.section(title)
        return rows

    for name, parameters, evidence, verified in table(
        "closed form", "closed forms: relative error of parameters, absolute one of log evidence"
    ):
        terminalreporter.write_line(f"{name:52}  {parameters:.0e}  {evidence:.0e}  {verified}")
    for name, reason in table("refused", "no closed form: the reasons"):
        terminalreporter.write_line(f"{name}: {reason}")
    for name, found in table("extreme", "at the extremes: errors, or the reason"):
        terminalreporter.write_line(f"{name}: {found}")
    for name, left, points, figure, true, stated in table(
        "integrated",
        "integrated: scalars left, points, the worst figure, its true and stated error",
    ):
        terminalreporter.write_line(
            f"{name:58}{left:3}{points:8}  {figure:24}  {true:.0e}  {stated:.0e}"
        )
    for name, kind, verb, seconds, found, reference, gap, off in table(
        "structured",
        "structured: seconds, log evidence, by hand, their difference, the worst of all means",
    ):
        terminalreporter.write_line(
            f"{name:58}{kind:9}{verb:10}{seconds:5.1f} s {found:14.6f}{reference:14.6f}"
            f"  {gap:.0e}  {off:.0e}"
        )
    for name, verb, seconds, reason in table("denied", "structured and refused: seconds, reason"):
        terminalreporter.write_line(f"{name:58}{verb:10}{seconds:5.1f} s  {reason}")
    _fuzzed(terminalreporter, table("fuzz", "random models"))


def _fuzzed(terminalreporter, rows):
    total = Counter()
    for counts, complaints in rows:
        total.update(counts)
        for complaint in complaints:
            terminalreporter.write_line(complaint)
    for what, number in sorted(total.items()):
        terminalreporter.write_line(f"{number:4}  {what}")
