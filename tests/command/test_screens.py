"""What commands print on terminals of 80 and 160 columns and through a pipe."""

import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from bayesmodels.command import catalog, cli
from bayesmodels.command.model_file import load_model
from bayesmodels.posteriors.ladder import solved
from bayesmodels.report.rounding import beside
from tests.command import screens
from tests.command.screens import COMMANDS

SAID = {"classes": "30 covariances are not shown; --json has them all."}  # digits that golden hides
FOUND: dict[str, dict[str, str]] = {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("screens")
    screens.write_files(made)
    return made


@pytest.fixture
def printed(folder, monkeypatch):
    """Run a command once, and return its screens."""
    monkeypatch.chdir(folder)

    def run(name):
        if name not in FOUND:
            FOUND[name] = screens.screens(name)
        return FOUND[name]

    return run


def some(names):
    """Let the slow suite have what takes seconds and looks like the others."""
    slow = {"wide", "calibrate", "forty", "long", "integrated"}
    slow |= {"classes", "classes-shared", "classes-naive"}
    return [pytest.param(n, marks=[pytest.mark.slow] if n in slow else []) for n in names]


@pytest.mark.parametrize("name", some(COMMANDS))
def test_screens_are_as_they_were(printed, name):
    """If they should change: ``python -m tests.command.screens``, and look at the difference."""
    kept = screens.FOLDER.joinpath(f"{name}.txt").read_text(encoding="utf-8")
    assert screens.golden(name, printed(name)) == kept
    assert all(SAID.get(name, "") in screen for screen in printed(name).values())
    if COMMANDS[name].startswith(("report", "exact")) and "--check" not in COMMANDS[name]:
        no_number_and_no_heading_is_broken(name, printed(name))
        means_and_weights_stand_before_variances(printed(name))


def posterior(name):
    """Return what a command's summary is about."""
    verb, model, *options = shlex.split(COMMANDS[name])
    if verb == "exact":
        return solved(load_model(model), np.random.default_rng(1))[0]
    asked = cli.report.make_context(verb, [model, *options]).params
    columns = ("by", "freq", "success", "event", "formula", "drop_missing", "exclude", "target",
               "features", "trials", "exposure", "observed", *cli._READING)  # fmt: skip
    chosen = {part: asked[part] for part in columns}
    prior, data, *_ = cli._belief_and_data(model, asked["file"], {}, chosen)
    return prior.update(data)


def no_number_and_no_heading_is_broken(name, text):
    """Check that each scalar's numbers, written as they are read, stand whole and in one order."""
    table = posterior(name).summary()
    heads = ["mean", "sd", "89 % from", "89 % to"]
    upper, lower = halves(table.index)
    shown = table.drop(index=lower)
    shown = shown if len(shown) <= 60 else shown.drop(index=upper)
    for kind, screen in text.items():
        lines = screen.splitlines()
        for label, row in shown.iterrows():
            cells = [beside(x, row["sd"]) for x in row]
            each = ([x[: len(label)], *x[len(label) :].split()] for x in lines)
            if [label, *cells] in [x[: 1 + len(cells)] for x in each]:  # errors may follow
                continue
            at = lines.index(label)  # turned on its side
            pairs = [f"{head}: {cell}" for head, cell in zip(heads, cells, strict=True)]
            assert re.split(" {3,}", lines[at + 1].strip())[: len(pairs)] == pairs, kind
        if kind != "a pipe":
            assert max(map(len, lines)) <= int(kind.split()[0])
            assert "…" not in screen


def halves(labels):
    """Return labels of covariances, those above diagonals and the same once more below."""
    upper, lower = [], []
    for label in labels:
        *_, row, column = ["", "", *label.partition("[")[2].removesuffix("]").split(", ")]
        if label.startswith("Sigma") and row != column:
            twin = f"{label.removesuffix(f'{row}, {column}]')}{column}, {row}]"
            (lower if twin in upper else upper).append(label)
    return upper, lower


def means_and_weights_stand_before_variances(text):
    for screen in text.values():
        names = re.findall(r"^(pi|mu|w|sigma2|Sigma)\b", screen, re.MULTILINE)
        first = [names.index(name) for name in dict.fromkeys(names)]
        spreads = [i for i, name in enumerate(names) if name.lower().startswith("sigma")]
        assert not spreads or min(spreads) == max(first)


def test_of_a_verdict_on_each_model_no_cell_is_broken(printed):
    for screen in printed("validate").values():
        rows = [re.split(" {2,}", line.strip()) for line in screen.splitlines()]
        assert rows[0] == ["model", "data", "verdict", "identity", "worst", "ESS"]
        asked = [(e.name, data) for e in catalog.ENTRIES for data in e.datasets]
        assert [tuple(row[:2]) for row in rows[2 : 2 + len(asked)]] == asked
        assert {row[2] for row in rows[2 : 2 + len(asked)]} == {"agree", "inconclusive", "disagree"}


def test_only_covariances_are_left_out_and_that_is_said():
    classes, forty = (
        screens.FOLDER.joinpath(f"{name}.txt").read_text(encoding="utf-8")
        for name in ("classes", "forty")
    )
    for name in ("adelie", "chinstrap", "gentoo"):
        assert all(
            classes.count(f"mu[{name}, {x}] ") == 3 for x in ("bill", "flipper", "mass", "area")
        )
    assert "not shown" not in forty.replace("more columns are not shown", "")


def test_a_number_has_the_digits_of_its_spread():
    """A mean of 200,012 known to 24 is no 200,000, and what rounding leaves of zero is zero."""
    assert beside(200012.34, 23.9) == "200012.3"
    assert beside(0.39451, 0.2) == "0.3945"
    assert beside(2.5, np.inf) == beside(2.5, 0.0) == "2.5"
    assert beside(2.8e-16, 77.0) == beside(-1e-300, 1e300) == "0"
    assert beside(1e-10, 77.0) == "1.000e−10"


@pytest.mark.slow
def test_a_real_terminal_of_80_columns_is_used_to_its_end_and_no_farther():
    pty, termios, fcntl = (pytest.importorskip(name) for name in ("pty", "termios", "fcntl"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, np.array([40, 80, 0, 0], np.uint16).tobytes())
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    command = [sys.executable, "-m", "bayesmodels", "models"]
    with subprocess.Popen(
        command, stdout=theirs, env={**environment, "NO_COLOR": "1", "TERM": "xterm"}
    ) as running:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # Linux says so where the other end is closed
            pass
    os.close(ours)
    assert running.returncode == 0
    plain = re.sub(r"\x1b\[\d*m", "", text.decode())  # headings are bold
    lines = plain.replace("\r", "").splitlines()
    assert max(map(len, lines)) == 80
    words = set(" ".join(lines).split())
    assert all({e.name, *e.purpose.split()} <= words for e in catalog.ENTRIES), "no word is broken"
