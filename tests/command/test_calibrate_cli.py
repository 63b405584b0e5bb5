"""`bayesmodels calibrate`: a model from a file, checked by simulation, or refused."""

import json

import pytest
from click.testing import CliRunner

import bayesmodels as bm
from bayesmodels.command import cli
from bayesmodels.referee import calibration

FILE = """
import pymc as pm

with pm.Model() as model:
    rate = pm.Gamma("rate", 2, 1)
    pm.Poisson("visits", rate, observed=[3, 5, 4])

def wrong():
    # Data are drawn twice as wide as the density says.
    with pm.Model() as found:
        mu = pm.Normal("mu")
        pm.CustomDist(
            "y", mu,
            logp=lambda value, mu: -(value - mu) ** 2 / 2,
            random=lambda mu, rng=None, size=None: rng.normal(mu, 2, size),
            observed=[1.0, 2.0],
        )
    return found

with pm.Model() as flat:
    mu = pm.Flat("mu")
    pm.Normal("y", mu, observed=0.5)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "trial.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args):
    return CliRunner().invoke(cli.main, ["calibrate", *args], env={"COLUMNS": "100"})


@pytest.mark.slow
def test_a_right_model_ends_with_0_and_goes_on_from_its_checkpoint(folder):
    found = run("trial.py:model", "--n", "100", "--checkpoint", "done.json")
    assert found.exit_code == 0
    assert "Posteriors are in closed form." in found.stdout
    assert (folder / "done.json").exists()
    again = run("trial.py:model", "--n", "100", "--checkpoint", "done.json", "--json")
    values = json.loads(again.stdout)
    assert (values["outcome"], values["method"], values["around"]) == ("agree", "exact", "prior")
    assert list(values["table"]) == ["rate", "log density", "log likelihood"]


def test_a_wrong_model_ends_with_1_and_is_told_worst_first():
    found = run("trial.py:wrong", "--n", "100")
    assert found.exit_code == 1
    first = found.stdout.splitlines()[2].split()[0]
    assert first in found.stdout.split("made of: ")[1]
    assert "The closed form is verified" in " ".join(found.stdout.split())


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["trial.py:flat"], "improper"),
        (["trial.py:nothing"], "models in it: model, flat"),
        (["trial.py:model", "--checkpoint", "no/done.json"], "no folder"),
        (["trial.py:model", "--checkpoint", "done.csv"], "end in .json"),
        (["trial.py:model", "--n", "10"], "10 is not in the range"),
    ],
)
def test_bad_input_ends_with_2(args, words):
    found = run(*args)
    assert found.exit_code == 2
    assert words in " ".join(found.stderr.split())


@pytest.mark.slow
def test_what_no_prior_gives_may_be_asked_around_the_posterior():
    assert run("trial.py:flat", "--around", "posterior", "--n", "100").exit_code == 0


@pytest.mark.parametrize(
    ("error", "code"),
    [(bm.NotConjugate("mu: none"), 3), (bm.ModeError("none"), 2), (bm.SeparationError("x"), 2)],
)
def test_every_error_of_the_package_is_one_message(error, code, monkeypatch):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(calibration, "calibrate", refuse)
    found = run("trial.py:model", "--around", "posterior")
    assert (found.exit_code, found.stderr) == (code, f"Error: {error}\n")
