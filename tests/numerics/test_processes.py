"""Ctrl-C while a sampler works: a clear message, no draws that pass for all, no process left."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from bayesmodels.numerics.processes import all_or_nothing


@pytest.fixture(autouse=True)
def usual_handler():
    """Other tests' packages may leave handlers of their own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def sampler(stumbles=None):
    """Take Ctrl-C for a wish for fewer draws, as samplers do; some then find none to return."""
    try:
        ctrl_c()
        time.sleep(5)
    except KeyboardInterrupt:
        return "fewer draws"
    except BaseException:
        if stumbles:
            raise stumbles from None
        raise
    return "all draws"


def stopped(**asked):
    with all_or_nothing():
        return sampler(**asked)


@pytest.mark.parametrize("stumbles", [None, ValueError("no draws to concatenate")])
def test_ctrl_c_ends_a_sampler_that_would_go_on(stumbles):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match="no draws were kept"):
        stopped(stumbles=stumbles)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_a_callback_whose_errors_are_ignored_comes_again():
    """LLVM calls Python back while it compiles."""
    seen = []

    def compiler():
        ctypes.CFUNCTYPE(None)(ctrl_c)()
        seen.append("went on")
        for _ in range(1000):  # as samplers wait
            time.sleep(0.02)
        seen.append("all draws")

    with pytest.raises(KeyboardInterrupt, match="no draws were kept"), all_or_nothing():
        compiler()
    assert seen == ["went on"]
    assert sys.unraisablehook.__module__ != all_or_nothing.__module__


def test_a_handler_of_ones_own_is_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with all_or_nothing():
            ctrl_c()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1]


def failing():
    with all_or_nothing():
        msg = "of its own"
        raise ValueError(msg)


def test_errors_without_ctrl_c_come_through():
    with pytest.raises(ValueError, match="of its own"):
        failing()


def test_handlers_of_others_that_interrupt_are_heard():
    def other(number, frame):
        del number, frame
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, other)
    try:
        with pytest.raises(KeyboardInterrupt, match="no draws were kept"):
            stopped()
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_never_hear_it():
    said = []

    def work():
        with all_or_nothing():
            said.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == [before]


SCRIPT = """
import multiprocessing, sys
import pymc as pm
import bayesmodels as bm
from bayesmodels.draws import mcmc_draws

def coin():
    return mcmc_draws(bm.BetaBernoulli(1, 1), [1, 0, 1], draws=5_000_000, rng=1)

def own():
    with pm.Model() as model:
        x = pm.StudentT("x", 3, shape=80)  # more, with heavy steps, than are integrated
        pm.Potential("near", -2 * pm.math.log1p(pm.math.sqr(x[1:] - x[:-1])).sum())
    return bm.sample(model, 5_000_000, rng=1, progressbar=False, nuts_sampler=sys.argv[2], cores=2)

if __name__ == "__main__":
    plain = pm.sample
    def sample(*args, **kwargs):
        print("sampling", flush=True)
        return plain(*args, **kwargs)
    pm.sample = sample
    try:
        {"coin": coin, "own": own}[sys.argv[1]]()
        print("returned")
    except KeyboardInterrupt as stop:
        print("stopped:", stop)
    print("children:", len(multiprocessing.active_children()), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "seconds"),
    [(["coin"], 12), (["own", "nutpie"], 0.5), (["own", "nutpie"], 12), (["own", "pymc"], 12)],
)
def test_ctrl_c_in_mcmc(tmp_path, model, seconds):
    """While the model is compiled, and while chains run."""
    script = tmp_path / "stopped.py"
    script.write_text(SCRIPT)
    run = subprocess.Popen(
        [sys.executable, str(script), *model],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    late = threading.Timer(300, run.kill)  # if it never samples
    late.start()
    try:
        assert "sampling\n" in iter(run.stdout.readline, "")
        time.sleep(seconds)
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        printed, _ = run.communicate(timeout=120)
    finally:
        late.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
    assert "returned" not in printed
    assert "stopped: Stopped while sampling; no draws were kept." in printed
    assert "children: 0" in printed
    assert not left_of(run.pid)


def left_of(session):
    """Return which processes of a session still are, zombies included."""
    command = [shutil.which("ps"), "-A", "-o", "sess=,pid=,stat=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split()[0] == str(session)]
