"""Commands as they look on terminals of 80 and 160 columns and through a pipe.

``python -m tests.command.screens`` writes tests/command/screens anew; look at the difference before
it is committed. Exact draws stand in for PyMC's sampler. Digits that hang on draws or on rounding,
which are all below the table of a report and all of a comparison or an integral, are shown as #.
"""

import os
import re
import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pandas as pd
from click.testing import CliRunner

import bayesmodels as bm
from bayesmodels import report
from bayesmodels.command import cli, parallel
from bayesmodels.draws import save
from bayesmodels.referee import calibration
from bayesmodels.report import belief_validation
from bayesmodels.report.was_read import TITLE

FOLDER = Path(__file__).parent / "screens"
# A terminal that knows no colours; a pipe has no width.
WIDTHS = {"80 columns": "80", "160 columns": "160", "a pipe": ""}
COMMANDS = {
    "models": "models",
    "coins": "report beta-bernoulli coins.csv",
    "classes": "report discriminant-full classes.csv",
    "classes-shared": "report discriminant-shared classes.csv",
    "classes-naive": "report naive-bayes classes.csv",
    "forty": "report linear-regression forty.csv",
    "long": "report linear-regression long.csv",
    "long-categories": "report dirichlet-categorical categories.csv",
    "wide": "report normal-inverse-wishart wide.csv",
    "check": "report naive-bayes eggs.csv --target species --drop-missing --check",
    "check-formula": "report linear-regression eggs.csv --formula 'days ~ C(species)' --check",
    "check-examples": "validate all --check",
    "validate": "validate all",
    "exact": "exact visits.py:model",
    "integrated": "exact visits.py:log_rate",
    "status-codes": "report gamma-exponential melanoma.csv --target time --observed status "
    "--event 1 --by ulcer --no-draws",
    "wide-table": "report beta-bernoulli research_funding.csv --target awards_women,awards_men "
    "--trials applications_women,applications_men --decide --no-draws",
    "spelled-gaps": "report linear-regression survey.csv --formula 'Height ~ `Wr.Hnd` + Sex' "
    "--missing . --drop-missing --check",
    "long-levels": "report linear-regression breaches.csv --formula "
    "'log(Individuals_Affected) ~ Type_of_Breach' --no-draws",
    "frequencies": "report dirichlet-categorical housing.csv --target Sat --by Infl --freq Freq "
    "--no-draws",
    "compare": "compare first.nc second.nc",
    "calibrate": "calibrate visits.py:model --n 100",
}
PUBLIC = ("breaches.csv", "housing.csv", "melanoma.csv", "research_funding.csv", "survey.csv")
LONG = (
    "the measured length of the bill in millimetres (left)",
    "the_measured_depth_of_the_bill_in_millimetres_without_a_space",
    "Körpergewicht in Gramm nach der Fütterung",
)
EGGS = """\
 ; species; length ;days;name;laid
1;eider;7,55;25;"Nest A, at the end of the long pier, behind the lighthouse";yes
2;eider;7,8;26;B;no
3;gull;;27;C;yes
4;gull;7,1;27;D;yes
5;eider;7,7;25;B;No
6;gull;7,25;28;C;no
"""
MODEL = """\
import pymc as pm

with pm.Model() as model:
    rate = pm.Gamma("visits of a patient in the year after the operation", 2, 1)
    pm.Poisson("visits", rate, observed=[3, 5, 4])

with pm.Model() as log_rate:
    log = pm.Normal("logarithm of the visits of a patient in the year after the operation")
    pm.Poisson("visits", pm.math.exp(log), observed=[3, 5, 4])
"""


def tables():
    """Return tables as users have them, by name."""
    rng = np.random.default_rng(3)
    species = np.repeat(["adelie", "chinstrap", "gentoo"], 20)
    scale = np.array([1, 10, 100, 0.001, 10_000])
    five = rng.normal(size=(60, 5)) * scale + [40, 50, 2e5, 0.5, 216_200]
    forty = rng.normal(size=(100, 40)).round(3)
    three = rng.normal(size=(60, 3)).round(3)
    return {
        "coins": pd.DataFrame({"heads": [1, 0, 1, 1, 0, 1, 1, 0, 1, 1]}),
        "classes": pd.DataFrame(
            five + np.repeat(np.arange(3), 20)[:, None] * scale,
            columns=["bill", "flipper", "mass", "ratio", "area"],
        )
        .round(6)
        .assign(species=species),
        "forty": pd.DataFrame(forty, columns=[f"x{i}" for i in range(40)]).assign(
            y=(forty.sum(1) + rng.normal(size=100)).round(3)
        ),
        "long": pd.DataFrame(three, columns=LONG).assign(
            **{"number of eggs laid within the season": (three.sum(1) + 5).round(1)}
        ),
        "categories": pd.DataFrame({"name": [LONG[i % 3] for i in range(10)]}),
        "wide": pd.DataFrame(
            {
                "population": (rng.normal(size=60) * 1e13 + 1.2345678901e14).round(),
                "tiny": (rng.normal(size=60) * 1e-7).round(12),
                "income": (rng.normal(size=60) * 216_200).round(2),
            }
        ),
    }


def write_files(folder):
    """Write what the commands read."""
    for name, frame in tables().items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    for name in PUBLIC:
        shutil.copy(Path(__file__).parent / "tables" / name, folder)
    (folder / "eggs.csv").write_text(EGGS, encoding="utf-8")
    (folder / "visits.py").write_text(MODEL, encoding="utf-8")
    law = bm.NormalInverseGamma([1e5, 1e-5, 3.0], 1, 9, [1e8, 1e-12, 2.0], coords={"part": LONG})
    for seed, name in enumerate(("first", "second")):
        save(law.to_datatree(draws=1500, rng=np.random.default_rng(seed)), folder / f"{name}.nc")


def examples(asked, **_):
    """Return what `parallel.validate_examples` would, of verdicts of every kind."""
    outcomes = ["agree", "inconclusive", "disagree"]
    return [
        {
            "model": model,
            "dataset": dataset,
            "outcome": outcomes[i % 3],
            "sentences": ["The draws are too few to judge, or have not mixed: 12345 of 123456."],
            "identity_holds": i % 3 < 2,
            "largest_z": None if model == "logistic-regression" else -1.25 * i,
            "largest_error": 0.237,
            "smallest_ess": 123.4 * i,
        }
        for i, (model, dataset) in enumerate(asked)
    ]


class Once:
    """Stands in for a function that gives the same each time: called once."""

    def __init__(self, function):
        self._function, self._found = function, []

    def __call__(self, *given, **settings):
        if not self._found:
            self._found.append(self._function(*given, **settings))
        return self._found[0]


class Validate:
    """Stands in for `validate`: with exact draws, once for each command, and no HTML."""

    def __init__(self):
        self._real, self._found = report.validate, {}

    def __call__(self, prior, data, *, source, **settings):
        if source not in self._found:
            with patch.object(belief_validation, "mcmc_draws", self._draws):
                found = self._real(prior, data, source=source, **settings)
            self._found[source] = found
        return self._found[source]

    def _draws(self, prior, data, *, rng, draws, chains, **_):
        return bm.exact_draws(prior, data, draws=draws, chains=chains, rng=rng)


def screens(name):
    """Run a command in the current folder; return what it prints, by the kind of screen."""
    found = {}
    terminal = {"FORCE_COLOR": "1", "TERM": "dumb", "LINES": "50"}
    with (
        patch.object(report, "validate", Validate()),
        patch.object(cli, "_write", lambda *_, **__: None),
        patch.object(parallel, "validate_examples", examples),
        patch.object(calibration, "calibrate", Once(calibration.calibrate)),
    ):
        for kind, width in WIDTHS.items():
            environment = {"COLUMNS": width, **terminal} if width else {"COLUMNS": None}
            result = CliRunner().invoke(cli.main, shlex.split(COMMANDS[name]), env=environment)
            assert result.exit_code == (name == "validate"), result.output
            found[kind] = result.stdout
    return found


def golden(name, found):
    """Return the text that is kept of a command's screens."""
    parts = [f"$ bayesmodels {COMMANDS[name]}\n"]
    for kind, text in found.items():
        lines = [line.rstrip() for line in text.splitlines()]
        if name in ("compare", "integrated"):
            lines = [re.sub(r"\d", "#", re.sub(r"[\d,]+ points", "# points", x)) for x in lines]
        elif COMMANDS[name].startswith(("report", "exact")) and "--check" not in COMMANDS[name]:
            end = lines.index(TITLE) if TITLE in lines else len(lines)
            below = max((i for i, line in enumerate(lines[: end - 1]) if not line), default=0)
            lines[below:end] = [re.sub(r"\d", "#", line) for line in lines[below:end]]
            lines = [re.sub(r"\(\de-\d\d\)", "(#e-##)", line) for line in lines]
        parts.append("\n".join([f"{f' {kind} ':=^60}", "", *lines, ""]))
    return "\n".join(parts)


def main():
    """Write all screens."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files(Path(folder))
        for name in COMMANDS:
            FOLDER.joinpath(f"{name}.txt").write_text(golden(name, screens(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
