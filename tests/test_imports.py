"""Imports run backwards along the data's way, and closed forms work without the heavy packages."""

import ast
import csv
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import bayesmodels

PACKAGE = Path(bayesmodels.__file__).parent
HOMES = {
    alias.name: node.module or ""
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text()).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
BUDGET = Path(__file__).with_name("budget.csv")
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

# Lowest first. A file may import from its own room and from lower ones.
ORDER = (
    ("errors",),
    ("numerics",),
    ("datasets", "input"),
    ("belief",),
    ("models",),
    ("decisions", "draws", "posteriors", "statistics", "store"),
    ("referee",),
    ("report", "results"),
    ("estimators", "plots", "scale", "testing"),
    ("command",),
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


parsed = cache(ast.parse)


@cache
def imports(source: str, package: str) -> list[tuple[int, str]]:
    """Return line and absolute name of all that a module of `package` imports, anywhere in it."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            above = parents[: len(parents) - node.level + 1] if node.level else []
            home = ".".join([*above, *filter(None, [node.module])])
            found += [(node.lineno, f"{home}.{alias.name}") for alias in node.names]
    return found


def layer(name: str) -> int:
    """Return the layer of a name in this package; one that is exported lives where it is defined.

    The package itself, imported as a whole, stands for everything.
    """
    first = name.removeprefix("bayesmodels").lstrip(".").split(".")[0]
    if first in ("", "*"):
        return EVERYTHING
    home = HOMES.get(first, "").split(".")[0] or first
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


def room(file: Path) -> str:
    """Return the room that a file is in; a file beside the rooms is one of its own."""
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def test_imports_run_backwards():
    forwards = []
    for file in modules():
        part = room(file)
        assert part in LAYER, f"{file}: {part} has no layer; give it a place in ORDER"
        package = ".".join(["bayesmodels", *file.relative_to(PACKAGE).parts[:-1]])
        forwards += [
            f"{file}:{found}" for found in offences(file.read_text("utf-8"), part, package)
        ]
    assert not forwards, "imports of a later layer:\n" + "\n".join(forwards)


def dotted(file: Path) -> str:
    """Return the name of a module; a folder's is that of its `__init__`."""
    place = file.relative_to(PACKAGE.parent).with_suffix("")
    return ".".join(place.parts[:-1] if place.name == "__init__" else place.parts)


def home(name: str, files: Collection[str]) -> str:
    """Return the file that an imported name is from: a public one's is where it is defined."""
    root, _, first = name.partition(".")
    name = f"{root}.{HOMES.get(first) or first}"
    while name not in files:
        name = name.rpartition(".")[0]
    return name


def circles(sources: Mapping[str, tuple[str, str]]) -> list[list[str]]:
    """Return groups of modules that import each other, given the package and text of each."""
    number = {name: i for i, name in enumerate(sources)}
    pairs = {
        (number[name], number[home(found, number)])
        for name, (package, source) in sources.items()
        for _, found in imports(source, package)
        if found.split(".")[0] == "bayesmodels" and found != "bayesmodels.__version__"
    }
    graph = np.zeros((len(number), len(number)))
    graph[tuple(np.transpose([pair for pair in pairs if pair[0] != pair[1]]))] = 1
    _, group = connected_components(graph, connection="strong")
    groups = [[name for name, i in number.items() if group[i] == g] for g in range(group.max() + 1)]
    return [each for each in groups if len(each) > 1]


def test_no_files_import_each_other():
    sources = {
        dotted(f): (".".join(["bayesmodels", *f.relative_to(PACKAGE).parts[:-1]]), f.read_text())
        for f in [PACKAGE / "__init__.py", *modules()]
    }
    assert not circles(sources)


def test_a_circle_is_seen():
    sources = {
        "bayesmodels": ("bayesmodels", ""),
        "bayesmodels.a": ("bayesmodels", "def late():\n    from bayesmodels import b"),
        "bayesmodels.b": ("bayesmodels", "import bayesmodels.c"),
        "bayesmodels.c": ("bayesmodels", "from bayesmodels.a import anything"),
        "bayesmodels.d": ("bayesmodels", "from bayesmodels.a import anything"),
    }
    assert circles(sources) == [["bayesmodels.a", "bayesmodels.b", "bayesmodels.c"]]


def test_few_files_stand_beside_the_rooms():
    assert len(list(PACKAGE.glob("*.py"))) <= 7


def test_imports_forwards_are_seen_and_others_allowed():
    for line in (
        "import bayesmodels",
        "import bayesmodels.report.html",
        "from bayesmodels import *",
        "from bayesmodels.command import cli",
        "from bayesmodels import validate",
        "from bayesmodels.draws import mcmc_draws",
        "from .. import report",
        "from ..referee import compare",
        "def late():\n    from bayesmodels import compare",
        "from bayesmodels import no_such_module",
    ):
        assert offences(line, "models", "bayesmodels.models"), line
    for line in (
        "import numpy",
        "from bayesmodels import __version__, input, numerics",
        "import bayesmodels.input.labels",
        "from bayesmodels import DataError, BetaBernoulli",
        "from bayesmodels.errors import PriorError",
        "from . import bernoulli",
        "from ..numerics import special",
    ):
        assert not offences(line, "models", "bayesmodels.models"), line


# --- the budget of lines --------------------------------------------------------------------------


def code_lines(source: str) -> int:
    """Return how many lines hold code, and not only a comment or a docstring."""
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            used.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(parsed(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            used.difference_update(range(first.lineno, first.end_lineno + 1))
    return len(used)


def test_no_room_outgrows_its_budget():
    lines = Counter()
    for file in PACKAGE.rglob("*.py"):
        lines[room(file) if file.parent != PACKAGE else "(root)"] += code_lines(file.read_text())
    budget = {name: int(most) for name, most in csv.reader(BUDGET.read_text().splitlines()[1:])}
    assert lines.keys() == budget.keys(), f"give each room a line of {BUDGET.name}"
    grown = {name: (n, budget[name]) for name, n in lines.items() if n > budget[name]}
    assert not grown, (
        f"rooms with more lines of code than their budget: {grown}. Take lines out; or edit the "
        f"number in tests/{BUDGET.name} and say why in CONTRIBUTING.md, under Budget."
    )


def test_lines_of_code_are_counted():
    assert code_lines('"""Of\ntwo."""\n# no\n\nx = """one\ntwo"""\n') == 2


def test_closed_forms_load_nothing_heavy():
    line = "import sys, bayesmodels; bayesmodels.BetaBernoulli(2, 2).mean()"
    code = f"{line}; print(*[m for m in {HEAVY} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert not run.stdout.strip()


def test_to_print_a_posterior_loads_neither_figures_nor_the_referee():
    code = "import sys, bayesmodels.report.integration; print(*sys.modules, sep='\\n')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stdout.splitlines()
    assert "bayesmodels.report.integration" in loaded
    assert not {"bayesmodels.referee", "matplotlib", "arviz_plots"} & {*loaded}


def test_public_names_resolve():
    for name in bayesmodels.__all__:
        assert getattr(bayesmodels, name) is not None
    assert {*bayesmodels.__all__} <= {*dir(bayesmodels)}


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bayesmodels.nothing  # noqa: B018 - reading it is the test


@pytest.mark.slow
def test_numba_is_loaded_for_operations_that_it_knows_and_also_for_those_from_a_pickle():
    made = """
import pickle, sys
import pymc as pm, pytensor.tensor as pt, bayesmodels as bm
with pm.Model() as model:
    pm.Poisson("visits", pm.Gamma("rate", 2.0, 1.0), observed=[3, 5, 4])
bm.exact(model).summary()
assert "numba" not in sys.modules
from bayesmodels.models.simplex_pymc import LogSimplex
print(pickle.dumps(LogSimplex()(pt.zeros(2))).hex())
"""
    evaluated = """
import pickle, sys, warnings
warnings.simplefilter("error", UserWarning)  # of an operation that Numba does not know
print(pickle.loads(bytes.fromhex(sys.argv[1])).eval(mode="NUMBA").sum())
"""
    found = ""
    for code in (made, evaluated):
        command = [sys.executable, "-c", code, found]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        found = run.stdout.strip()
    assert np.isclose(float(found), -3 * np.log(3))
