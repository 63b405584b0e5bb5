"""The command line as a person or a script meets it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from html import unescape

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bayesmodels.command import catalog, cli, parallel
from bayesmodels.report import belief_validation, html


def run(*args, width=100, **environment):
    return CliRunner().invoke(cli.main, args, env={"COLUMNS": str(width), **environment})


@pytest.fixture
def quick(monkeypatch):
    """Let exact draws stand in for MCMC, so that a command takes no compilation."""

    def draws_without_mcmc(prior, data, *, rng, draws, chains, **_):
        from bayesmodels import exact_draws

        return exact_draws(prior, data, draws=draws, chains=chains, rng=rng)

    monkeypatch.setattr(belief_validation, "mcmc_draws", draws_without_mcmc)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=30),
            "<b>z</b>": rng.normal(size=30),
            "arm": np.repeat(["new", "old"], 15),
            "won": rng.integers(0, 2, 30),
            "y": rng.normal(size=30),
        }
    )
    frame.to_csv(tmp_path / "table.csv", index=False)
    frame.to_parquet(tmp_path / "table.parquet")
    return tmp_path


def test_help_and_version_name_the_commands():
    text = run("--help").output
    assert all(command in text for command in ("models", "report", "validate"))
    assert run("--version").exit_code == 0


@pytest.mark.parametrize("width", [30, 40, 80, 120])
def test_models_fit_the_terminal(width):
    text = run("models", width=width).output
    assert all(entry.name in text.replace("\n", "") for entry in catalog.ENTRIES)
    assert max(map(len, text.splitlines())) <= width


def test_models_as_json():
    rows = json.loads(run("models", "--json").output)
    assert [row["name"] for row in rows] == [entry.name for entry in catalog.ENTRIES]


@pytest.mark.usefixtures("quick")
def test_report_of_the_shipped_data(tmp_path):
    out = tmp_path / "out.html"
    result = run("report", "beta-bernoulli", "-o", str(out))
    assert result.exit_code == 0, result.output
    assert re.search(r"theta +0\.549 +0\.04903 +0\.4701 ", result.output), "the posterior's summary"
    assert str(out) in result.output
    page = out.read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    named = "Prior: alpha = 1, beta = 1."
    assert named in result.output, "the prior, in the terminal"
    assert named in page, "the prior, in the report"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "args",
    [
        ("beta-bernoulli", "table.csv", "--target", "won"),
        pytest.param(
            ("beta-bernoulli", "table.parquet", "--target", "won", "--by", "arm"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("dirichlet-categorical", "table.csv", "--target", "arm", "--prior", "alpha=0.5"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("linear-regression", "table.csv", "--target", "y", "--features", "x,<b>z</b>"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("linear-regression", "table.csv", "--target", "y", "--features", "x",
             "--prior", "precision=1", "--prior", "shape=2", "--prior", "scale=2"),
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_report_of_ones_own_file(table, args):
    model, name, *rest = args
    out = table / "out.html"
    result = run("report", model, str(table / name), *rest, "-o", str(out), "--json",
                 "--draws", "200")  # fmt: skip
    found = json.loads(result.stdout)
    assert result.exit_code == (found["outcome"] != "agree")
    assert found["file"] == str(out)
    assert found["identity_holds"]
    assert "<b>z</b>" not in out.read_text(encoding="utf-8")


@pytest.mark.usefixtures("quick")
@pytest.mark.slow
@pytest.mark.parametrize("model", ["linear-regression", "logistic-regression"])
def test_an_intercept_alone(table, model):
    (table / "one.csv").write_text("y\n1\n0\n1\n1\n")
    result = run("report", model, str(table / "one.csv"), "-o", str(table / "out.html"))
    assert re.search(r"w\[.*intercept\] ", result.output), result.output
    assert "0 of" not in result.output


def test_names_may_have_blanks_after_their_commas():
    chosen = ["--features", "x, <b>z</b>, arm", "--target", "y"]
    asked = cli.report.make_context("report", ["linear-regression", "t.csv", *chosen]).params
    assert asked["features"] == ["x", "<b>z</b>", "arm"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("report", "no-such-model"), "model: must be one of"),
        (("report", "beta-bernoulli", "missing.csv"), "there is no file"),
        (("report", "beta-bernoulli", "table.doc"), "must end in .csv, .tsv, .txt, .dat, .xlsx"),
        (("report", "beta-bernoulli", "{table}", "--target", "nope"), "no column 'nope'"),
        (("report", "beta-bernoulli", "{table}", "--target", "y"), "must hold only 0 and 1"),
        (("report", "beta-bernoulli", "{table}", "--target", "won", "--features", "x"),
         "has no use for it"),
        (("report", "beta-bernoulli", "--success", "yes"), "--success: is about columns of FILE"),
        (("report", "beta-bernoulli", "--prior", "alpha"), "must be KEY=NUMBER"),
        (("report", "beta-bernoulli", "--prior", "alpha=-1"), "alpha: must be positive"),
        (("report", "beta-bernoulli", "--prior", "gamma=1"), "has the parameters"),
        (("report", "beta-bernoulli", "-o", "/no/such/folder/x.html"), "there is no folder"),
        (("report", "beta-bernoulli", "--seed", "-1"), "Invalid value for '--seed': -1"),
        (("validate", "no-such-model"), "model: must be one of"),
        (("validate", "--draws", "1"), "--draws"),
    ],
)  # fmt: skip
def test_bad_input_ends_with_2_and_one_line_that_says_what(table, args, words):
    args = [arg.format(table=table / "table.csv") for arg in args]
    result = run(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("quick")
def test_a_failing_report_leaves_the_old_file(tmp_path, monkeypatch):
    out = tmp_path / "out.html"
    out.write_text("old")

    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(html, "write", fail)
    result = run("report", "beta-bernoulli", "-o", str(out), "--draws", "200")
    assert result.exit_code == 130
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (("agree", "agree"), 0),
        (("agree", "disagree"), 1),
        (("inconclusive", "agree"), 1),
    ],
)
def test_validate_ends_with_0_only_if_all_agree(monkeypatch, outcomes, code):
    def rows(examples, **_):
        return [
            {
                "model": name,
                "dataset": dataset,
                "outcome": outcome,
                "sentences": ["In words."],
                "identity_holds": True,
                "largest_z": 1.0,
                "smallest_ess": 900.0,
                "largest_r_hat": 1.0,
                "seconds": 1.0,
            }
            for (name, dataset), outcome in zip(examples, outcomes, strict=True)
        ]

    monkeypatch.setattr(parallel, "validate_examples", rows)
    result = run("validate", "beta-bernoulli", "linear-regression")
    assert result.exit_code == code
    assert ("In words." in result.output) == (code == 1)
    assert json.loads(run("validate", "beta-bernoulli", "linear-regression", "--json").stdout)


def test_a_terminal_shows_rows_as_they_come_and_a_pipe_only_the_table_at_the_end(monkeypatch):
    def rows(examples, *, each, **_):
        found = [
            {
                "model": name,
                "dataset": dataset,
                "outcome": "agree",
                "identity_holds": True,
                "largest_z": 1.0,
                "smallest_ess": 900.0,
            }
            for name, dataset in examples
        ]
        each(found[-1])
        return found

    monkeypatch.setattr(parallel, "validate_examples", rows)
    names = "beta-bernoulli", "linear-regression"
    live = run("validate", *names, FORCE_COLOR="1", TERM="xterm")
    assert "linear-regression" in live.stderr
    assert "beta-bernoulli" not in live.stderr
    piped = run("validate", *names)
    assert not piped.stderr
    assert "beta-bernoulli" in piped.stdout


def test_of_an_approximation_the_error_is_shown(monkeypatch):
    row = {
        "model": "logistic-regression",
        "dataset": "party",
        "outcome": "agree",
        "sentences": [],
        "identity_holds": True,
        "largest_z": None,
        "largest_error": 0.237,
        "smallest_ess": 900.0,
        "largest_r_hat": 1.0,
        "seconds": 1.0,
    }
    monkeypatch.setattr(parallel, "validate_examples", lambda *_, **__: [row])
    result = run("validate", "logistic-regression")
    assert result.exit_code == 0
    assert "off 0.24 sd" in " ".join(result.output.split())


@pytest.mark.slow
def test_validate_in_a_real_process():
    """A few, with whole numbers, gradients and labels; identities of all are in the contract."""
    names = ["concept-learning", "logistic-regression", "naive-bayes-mixture"]
    command = [sys.executable, "-m", "bayesmodels", "validate", *names, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [row["outcome"] for row in json.loads(done.stdout)] == ["agree"] * len(names)


@pytest.mark.slow
def test_ctrl_c_ends_everything_with_one_line(tmp_path):
    command = [sys.executable, "-m", "bayesmodels", "validate", "all"]
    running = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        cwd=tmp_path,
    )  # fmt: skip
    time.sleep(15)  # by then the workers are at work, on a slow machine, too
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=90)
    assert running.returncode == 130
    assert err.strip() == "Stopped; nothing was written."
    assert out == ""
    assert _gone(running.pid, seconds=60)


def _gone(group, seconds):
    """Return whether all processes of a group end within some seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_the_command_that_a_report_shows_makes_the_same_report(table, monkeypatch):
    """Pasted into a terminal, quotes and all, it says the same of the same rows."""
    monkeypatch.chdir(table)
    (table / "table.csv").rename("two words.csv")
    given = ("report", "beta-bernoulli", "two words.csv", "--target", "won", "--draws", "200")
    run(*given, "--prior", "alpha=2.5", "--seed", "7", "-o", "out.html")
    first = (table / "out.html").read_text("utf-8")
    (told,) = re.findall(r"<code>(bayesmodels .*?)</code>", first)
    name, *words = shlex.split(unescape(told))
    assert name == "bayesmodels"
    assert words[:7] == list(given)
    (table / "out.html").unlink()
    run(*words)
    again = (table / "out.html").read_text("utf-8")
    timed = re.compile(r"<bdi>[0-9.]+ s</bdi>")
    assert timed.sub("", again) == timed.sub("", first)
