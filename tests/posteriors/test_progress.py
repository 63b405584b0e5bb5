"""The progress bar of an integral: in a terminal only, and gone at the end, Ctrl-C included."""

import io
import os
import pty
import select
import signal
import subprocess
import sys
import time

import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.posteriors.batch_density import BatchDensity

SHOWN, ERASED = "\x1b[?25h", "\x1b[2K"  # the cursor, the line


class Terminal(io.StringIO):
    """Text that is written to a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def model():
    with pm.Model() as model:
        pm.Poisson("k", pm.LogNormal("rate"), observed=[3, 1, 4])
    return model


def opened(monkeypatch):
    """Return a terminal that standard error goes to, from now on."""
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


@pytest.mark.slow
def test_a_terminal_shows_points_and_numbers_stay(model, monkeypatch):
    terminal = opened(monkeypatch)
    posterior = bm.integrate(model, progress=True, rng=1)
    text = terminal.getvalue()
    assert "points, at most" in text
    assert text.endswith(ERASED)
    quiet = bm.integrate(model, rng=1)
    assert posterior.log_evidence == quiet.log_evidence
    assert posterior.points == quiet.points


def test_nothing_is_written_where_nobody_sees_it(model, capfd):
    bm.integrate(model, progress=True, rng=1)
    assert capfd.readouterr() == ("", "")


def test_ctrl_c_leaves_no_bar_behind(model, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    terminal = opened(monkeypatch)
    monkeypatch.setattr(BatchDensity, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bm.integrate(model, progress=True, rng=1)
    assert SHOWN in terminal.getvalue()
    assert terminal.getvalue().endswith(ERASED)


ENDLESS = """
import numpy as np, pymc as pm, bayesmodels as bm
with pm.Model() as model:
    w = pm.Normal("w", shape=4)
    X = np.random.default_rng(1).normal(size=(400, 4))
    pm.Bernoulli("y", logit_p=X @ w, observed=[0, 1] * 200)
bm.integrate(model, progress=True, tolerance=1e-4, rng=1)
"""


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_it_at_once():
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", ENDLESS]
    env = {**os.environ, "TERM": "xterm", "PYTHON_COLORS": "0"}
    with subprocess.Popen(command, stderr=theirs, stdout=theirs, env=env) as run:
        os.close(theirs)
        text, asked = "", None
        while select.select([ours], [], [], 120)[0]:
            try:
                text += os.read(ours, 4096).decode(errors="replace")
            except OSError:  # nobody writes any more
                break
            if asked is None and "points, at most" in text:
                asked = time.monotonic()
                run.send_signal(signal.SIGINT)
        assert run.wait(60) != 0
        took = time.monotonic() - asked
    os.close(ours)
    assert took < 30, took
    said = text.rpartition(SHOWN)[2]
    assert "points, at most" not in said
    assert said.rstrip().endswith("KeyboardInterrupt")
