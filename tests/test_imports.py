"""Imports run backwards along the data's way, and closed forms work without the heavy packages."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayesmodels

PACKAGE = Path(bayesmodels.__file__).parent

# Earliest first. A module may import from its own layer and from earlier ones; a new one needs a
# place here.
ORDER = (
    ("errors",),
    (
        "factors",
        "files",
        "labels",
        "loops",
        "processes",
        "separation",
        "sheets",
        "special",
        "threads",
        "untrusted",
        "values",
    ),
    ("classwise", "containers", "crossproducts", "descent", "laws"),
    ("domains",),
    ("wishart",),
    ("data", "datasets"),
    ("protocol",),
    ("declaring", "discounting", "reading"),
    ("notebook",),
    ("models",),
    ("conjugacy",),
    ("conditioning", "decision", "draws", "evidence", "information", "power_scaling", "ranking"),
    ("gibbs", "label_switching", "pair", "sampling", "sensitivity"),
    ("referee",),
    ("report",),
    ("stored",),
    ("scale", "estimators"),
    ("catalog",),
    ("jobs", "loading", "shards"),
    ("cli",),
    ("__main__",),
)
LAYER = {module: number for number, modules in enumerate(ORDER) for module in modules}
EVERYTHING = len(ORDER) - 1

HEAVY = (
    "arviz",
    "arviz_base",
    "arviz_plots",
    "arviz_stats",
    "matplotlib",
    "pymc",
    "pytensor",
    "sklearn",
)


def imports(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Yield line and absolute name of all that a module of `package` imports, anywhere in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            above = parents[: len(parents) - node.level + 1] if node.level else []
            home = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                yield node.lineno, f"{home}.{alias.name}"


def layer(name: str) -> int:
    """Return the layer of a name in this package; one that is exported lives where it is defined.

    The package itself, imported as a whole, stands for everything.
    """
    first = name.removeprefix("bayesmodels").lstrip(".").split(".")[0]
    if first in ("", "*"):
        return EVERYTHING
    home = bayesmodels._HOMES.get(first, "").split(".")[0] or first
    return 0 if home == "__version__" else LAYER.get(home, EVERYTHING)


def offences(source: str, part: str, package: str) -> list[str]:
    """Return `line: name` of every import that runs forwards."""
    return [
        f"{line}: {name}"
        for line, name in imports(source, package)
        if name.split(".")[0] == "bayesmodels" and layer(name) > LAYER[part]
    ]


def modules() -> list[Path]:
    return [f for f in sorted(PACKAGE.rglob("*.py")) if f != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("file", modules(), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_run_backwards(file):
    place = file.relative_to(PACKAGE).with_suffix("")
    part = place.parts[0]
    assert part in LAYER, f"{file}: {part} has no layer; give it a place in ORDER"
    package = ".".join(["bayesmodels", *place.parts[:-1]])
    forwards = [f"{file}:{found}" for found in offences(file.read_text("utf-8"), part, package)]
    assert not forwards, "imports of a later layer:\n" + "\n".join(forwards)


@pytest.mark.parametrize(
    "line",
    [
        "import bayesmodels",
        "import bayesmodels.report.html",
        "from bayesmodels import *",
        "from bayesmodels import cli",
        "from bayesmodels import validate",
        "from bayesmodels.draws import mcmc_draws",
        "from .. import report",
        "from ..referee import compare",
        "def late():\n    from bayesmodels import compare",
        "from bayesmodels import no_such_module",
    ],
)
def test_an_import_forwards_is_seen(line):
    assert offences(line, "models", "bayesmodels.models")


@pytest.mark.parametrize(
    "line",
    [
        "import numpy",
        "from bayesmodels import __version__, data, labels",
        "import bayesmodels.labels",
        "from bayesmodels import DataError, BetaBernoulli",
        "from bayesmodels.errors import PriorError",
        "from . import beta_bernoulli",
        "from .. import special",
    ],
)
def test_an_import_backwards_is_allowed(line):
    assert not offences(line, "models", "bayesmodels.models")


@pytest.mark.parametrize(
    "line", ["import bayesmodels", "import bayesmodels; bayesmodels.BetaBernoulli(2, 2).mean()"]
)
def test_closed_forms_load_nothing_heavy(line):
    code = f"{line}; import sys; print(*[m for m in {HEAVY} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert not run.stdout.strip()


@pytest.mark.parametrize("name", bayesmodels.__all__)
def test_public_names_resolve(name):
    assert getattr(bayesmodels, name) is not None
    assert name in dir(bayesmodels)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bayesmodels.nothing  # noqa: B018 - reading it is the test
