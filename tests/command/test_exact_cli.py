"""`bayesmodels exact`: a model from a file, solved, compared, or refused."""

import json
import re
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import beta, betabinom, norm, poisson

from bayesmodels.command import cli
from bayesmodels.posteriors import posterior, sampling
from bayesmodels.posteriors.exact import exact

FILE = """
import pymc as pm

import neighbour

print("printed by the file")
with pm.Model() as model:
    theta = pm.Beta("theta", 2, 2)
    pm.Binomial("heads", neighbour.TRIALS, theta, observed=7)

with pm.Model() as flat:
    mu = pm.Flat("mu")
    pm.Normal("y", mu, 1, observed=0.5)

def made(successes=7):
    return model

def heavy():
    with pm.Model() as found:
        v = pm.InverseGamma("v", 0.4, 1)
        pm.Normal("mu", 0, pm.math.sqrt(v))
    return found

def many():
    with pm.Model() as found:
        pm.Normal("x", shape=410)
    return found

def no_form():
    with pm.Model() as found:
        pm.Poisson("y", pm.math.exp(pm.Normal("w")), observed=3)
    return found

def no_evidence():
    with pm.Model() as found:
        pm.StudentT("y", 4, mu=pm.Flat("w"), sigma=1, observed=3)
    return found

def too_many():
    with pm.Model() as found:
        pm.Poisson("y", pm.math.exp(pm.Normal("w", shape=61).sum()), observed=[3, 1, 4, 1, 5])
    return found

def needs(trials):
    return model

def breaks():
    raise RuntimeError("two\\nlines")

number = 3

if __name__ == "__main__":
    raise SystemExit("run as a script")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "trial.py").write_text(FILE)
    (tmp_path / "neighbour.py").write_text("TRIALS = 10\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "stops.py").write_text("raise SystemExit(4)\n")
    (tmp_path / "syntax.py").write_text("def\n")
    (tmp_path / "trial.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "neighbour", raising=False)
    return tmp_path


def run(*args, width=100):
    return CliRunner().invoke(cli.main, ["exact", *args], env={"COLUMNS": str(width)})


@pytest.fixture
def stand_in(monkeypatch):
    """Let exact draws stand in for MCMC; those of another model if they are to be wrong."""

    def choose(shift=0.0):
        def sampled(model, draws, rng, *, chains, **_):
            tree = sampling.independent_tree(exact(model, rng=rng), draws, chains, rng)
            tree["posterior"] = tree.posterior.to_dataset() * (1 - shift)
            return tree

        monkeypatch.setattr(posterior, "sampled", sampled)

    return choose


@pytest.mark.parametrize("name", ["model", "made"])
def test_a_model_is_solved(name):
    result = run(f"trial.py:{name}")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "theta has a Beta law with alpha 9, beta 5." in text
    law = beta(9, 5)
    row = (law.mean(), law.std(), law.ppf(0.055), law.ppf(0.945))
    assert " ".join(["theta", *(f"{x:.4f}" for x in row)]) in text
    assert "Verified analytically." in text
    assert f"Log evidence: {betabinom(10, 2, 2).logpmf(7):.6f}".replace("-", "−") in text
    assert "printed by the file" not in result.stdout
    assert "printed by the file" in result.stderr


def test_as_json():
    found = json.loads(run("trial.py:model", "--json").stdout)
    assert (found["closed_form"], found["rung"]) == (True, "exact")
    assert found["families"] == {"theta": "Beta"}
    assert found["summary"]["theta"]["mean"] == pytest.approx(9 / 14)
    assert "report" not in found
    assert json.loads(run("trial.py:flat", "--json").stdout)["log_evidence"] is None


def poisson_given_log_rate():
    """Return mass, mean, deviation and interval of the log rate by a fine sum."""
    w = np.linspace(-9, 6, 300_001)
    density = norm.pdf(w) * poisson.pmf(3, np.exp(w)) * (w[1] - w[0])
    mass = density.sum()
    mean = density @ w / mass
    ends = np.interp([0.055, 0.945], (density.cumsum() - density / 2) / mass, w)
    return np.log(mass), (mean, np.sqrt(density @ (w - mean) ** 2 / mass), *ends)


@pytest.mark.parametrize("width", [80, ""])
def test_without_a_closed_form_it_is_integrated_and_errors_stand_beside(width):
    result = run("trial.py:no_form", width=width)
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert text.startswith("Integrated numerically, for no closed form was found: ")
    assert "w (1 scalar) integrated on a lattice of" in text
    log_evidence, row = poisson_given_log_rate()
    assert "off by" in text
    shown = " ".join(["w", *(f"{x:.4g}" for x in row)]).replace("-", "−")
    assert re.search(shown + r" \de−\d\d", text)
    known = f"Log evidence: {log_evidence:.6f} ± ".replace("-", "−")
    assert re.search(known + r"\de−\d\d", text)
    assert max(map(len, result.stdout.splitlines()[3:])) <= 80


def test_what_was_integrated_as_json():
    found = json.loads(run("trial.py:no_form", "--json").stdout)
    assert (found["closed_form"], found["rung"]) == (False, "integrated")
    log_evidence, (mean, *_) = poisson_given_log_rate()
    assert found["log_evidence"] == pytest.approx(log_evidence, abs=1e-6)
    assert 0 < found["log_evidence_error"] < 1e-6
    assert found["summary"]["w"]["mean"] == pytest.approx(mean, abs=1e-6)
    assert found["errors"]["w"].keys() == found["summary"]["w"].keys()
    assert "w" in found["reason"]
    flat = json.loads(run("trial.py:no_evidence", "--json").stdout)
    assert (flat["rung"], flat["log_evidence"]) == ("integrated", None)


def test_what_can_not_be_solved_ends_with_3_and_the_reason():
    result = run("trial.py:too_many")
    assert result.exit_code == 3
    assert result.stdout.startswith("No closed form was found: ")
    assert "It can't be integrated either: 61 scalars remain (w (61))" in result.stdout
    found = json.loads(run("trial.py:too_many", "--json").stdout)
    assert (found["closed_form"], found["rung"]) == (False, None)
    assert found["reason"] in result.stdout


def test_what_there_is_not_is_said():
    assert "none. log_evidence: the prior of mu is improper" in run("trial.py:flat").stdout
    heavy = run("trial.py:heavy").stdout
    rows = [line.split() for line in heavy.splitlines() if line.startswith(("v  ", "mu  "))]
    assert [row[:3] for row in rows] == [["v", "∞", "∞"], ["mu", "–", "–"]]
    summary = json.loads(run("trial.py:heavy", "--json").stdout)["summary"]
    assert summary["v"]["mean"] is summary["mu"]["sd"] is None
    assert "10 more rows are not shown" in run("trial.py:many").stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["trial.py"], "must be a file and a name"),
        (["trial.py:"], "must be a file and a name"),
        (["missing.py:model"], "there is no file 'missing.py'"),
        (["trial.txt:model"], "must end in .py"),
        (["trial.py:modle"], "has no 'modle'; models in it: model, flat"),
        (["trial.py:number"], "must be a pymc.Model; it is a int"),
        (["trial.py:needs"], "it needs trials"),
        (["trial.py:breaks"], "calling 'trial.py:breaks' raised RuntimeError: two lines"),
        (
            ["broken.py:model"],
            "running 'broken.py' raised ZeroDivisionError: division by zero (line 1)",
        ),
        (["stops.py:model"], "running 'stops.py' raised SystemExit: 4"),
        (["syntax.py:model"], "SyntaxError"),
        (["trial.py:model", "--html", "/no/such/folder/x.html"], "there is no folder"),
        (["trial.py:model", "--draws", "1"], "--draws"),
        (["trial.py:model", "--draws", "100"], "--draws: is about draws; add --sample or --html."),
        (["trial.py:model", "--title", "T"], "--title: is about the report; add --html."),
        (["trial.py:model", "--sample", "--brief"], "--brief: is about the report; add --html."),
    ],
)
def test_bad_input_ends_with_2_and_one_line_that_says_what(args, words):
    result = run(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


@pytest.mark.slow
def test_the_report_is_written(folder, stand_in):
    stand_in()
    result = run("trial.py:model", "--html", "out.html", "--draws", "400", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["report"]["outcome"] == "agree"
    assert found["file"] == "out.html"
    assert "trial.py:model" in (folder / "out.html").read_text("utf-8")


@pytest.mark.slow
def test_draws_that_disagree_or_are_too_few_end_with_1(folder, stand_in):
    stand_in(shift=0.2)
    result = run("trial.py:model", "--sample", "--draws", "400")
    assert result.exit_code == 1
    assert "PyMC's draws do not come from it" in result.stdout
    stand_in()
    assert run("trial.py:model", "--sample", "--draws", "8").exit_code == 1
    assert not list(folder.glob("*.html"))


@pytest.mark.slow
def test_on_the_whole_way(folder):
    result = run("trial.py:model", "--html", "out.html")
    assert result.exit_code == 0, result.output
    assert "PyMC's draws agree with it" in result.stdout
    assert "Report: out.html" in result.stdout
    assert (folder / "out.html").stat().st_size > 50_000
