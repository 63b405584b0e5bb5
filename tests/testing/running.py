"""Runs of pytest with the plugin, in this process: imports are done once."""

import contextlib
import io

import pytest

PLUGIN = "bayesmodels.testing.plugin"
_OFF = (
    "cacheprovider",
    "unraisableexception",  # it collects garbage twice a run
    "zarr",  # it loads all of Zarr
)


class Run:
    """What came of a run of pytest: its exit code, what it printed, and what failed."""

    def __init__(self):
        self.code, self.printed = None, ""
        self.passed, self.wrong, self.broken = 0, [], []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            asserted = report.when == "call" and "AssertionError: " in report.longreprtext
            (self.wrong if asserted else self.broken).append(report.longreprtext)
        elif report.when == "call":
            self.passed += 1


def run(folder, *options):
    """Run the tests of a folder that has a pytest.ini."""
    off = [word for name in _OFF for word in ("-p", f"no:{name}")]
    found = Run()
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        arguments = ["-c", str(folder / "pytest.ini"), *off, "-p", PLUGIN, *options, str(folder)]
        found.code = pytest.main(arguments, plugins=[found])
    found.printed = out.getvalue()
    return found
