"""Only the files of supports know which kinds there are: elsewhere none is told by a name."""

import ast
from pathlib import Path

import pytest

import bayesmodels
from bayesmodels.posteriors.support import KINDS

ROOT = Path(bayesmodels.__file__).parent
NAMES = {"unit", "positive", "interval", "simplex", "matrix", "real", "circle", "finite"}
FILES = [
    path
    for room in ("numerics", "posteriors", "referee")
    for path in sorted((ROOT / room).rglob("*.py"))
    if path.parent.name != "support"
]


def compared_with_names(source):
    """Return lines that compare something with the name of a kind, or look it up in a table."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare():
                parts = [node.left, *node.comparators]
            case ast.Dict():
                parts = [key for key in node.keys if key is not None]
            case ast.MatchValue():
                parts = [node.value]
            case ast.Call(func=ast.Attribute(attr="isin")):
                parts = node.args
            case _:
                continue
        told = {n.value for part in parts for n in ast.walk(part) if isinstance(n, ast.Constant)}
        if NAMES & {value for value in told if isinstance(value, str)}:
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize(
    "source",
    [
        'x = kind == "unit"',
        'y = kind in ("real", "positive")',
        'z = {"simplex": 1}[kind]',
        'np.isin(kinds, ("matrix", "real"))',
        'match kind:\n    case "interval":\n        pass',
    ],
)
def test_a_switch_on_names_is_found(source):
    assert compared_with_names(source)


def test_no_file_switches_on_the_name_of_a_kind():
    told = {str(path): compared_with_names(path.read_text()) for path in FILES}
    assert {path: lines for path, lines in told.items() if lines} == {}


def test_every_kind_is_a_file_of_its_own():
    room = ROOT / "posteriors" / "support"
    files = {path.stem for path in room.glob("*.py")} - {"__init__", "kind"}
    assert len(files) == len(KINDS)
