"""Nothing of this package asks a network, be it for data, fonts, versions or telemetry."""

import subprocess
import sys

import pytest

GUARD = """
import sys

def guard(event, details):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"):
        sys.exit(f"network: {event} {details}")

sys.addaudithook(guard)
"""
CLOSED_FORMS = """
import bayesmodels as bm, pymc as pm

table = bm.datasets.load("diabetes")
posterior = bm.LinearRegression.flat(1).update((table[["bmi"]], table["progression"]))
print(posterior.summary())
bm.save(posterior, "belief.json")
assert bm.load("belief.json") == posterior
with pm.Model() as model:
    pm.Poisson("y", pm.Gamma("rate", 2, 1), observed=[3, 1])
print(bm.exact(model).explain())
"""
REPORT = """
import bayesmodels as bm

report = bm.validate(bm.BetaBernoulli(1, 1), [1, 0, 1], rng=1)
report.to_html("report.html")
print(report.outcome)
"""
CALL = """
import urllib.request
urllib.request.urlopen("http://127.0.0.1:9/")
"""


def run(script, folder):
    return subprocess.run(
        [sys.executable, "-c", GUARD + script],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
    )


@pytest.mark.slow
@pytest.mark.parametrize("script", [CLOSED_FORMS, REPORT], ids=["closed forms", "report"])
def test_no_call_leaves_the_machine(tmp_path, script):
    ended = run(script, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_a_call_would_be_seen(tmp_path):
    ended = run(CALL, tmp_path)
    assert ended.returncode == 1
    assert "network: " in ended.stderr
