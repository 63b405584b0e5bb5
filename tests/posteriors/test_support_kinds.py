"""Only the files of supports know which kinds there are: elsewhere none is told by a name."""

import ast
from pathlib import Path

import numpy as np
import pymc as pm
import pytest

import bayesmodels
import bayesmodels as bm
from bayesmodels.posteriors.support import KINDS
from bayesmodels.posteriors.support.interval import INTERVAL
from bayesmodels.posteriors.support.kind import Support
from bayesmodels.posteriors.support.positive import POSITIVE
from bayesmodels.posteriors.support.unit import UNIT

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


@pytest.mark.parametrize(
    ("kind", "ends", "x"),
    [
        (UNIT, (0, 1), 0.2),
        (POSITIVE, (0, np.inf), 0.2),
        (INTERVAL, (2, 5), 4.0),
        (INTERVAL, (2, np.inf), 4.0),
        (INTERVAL, (-np.inf, 5), 4.0),
    ],
)
def test_a_way_between_ends_begins_at_the_value_and_comes_near_both(kind, ends, x):
    support = Support("x", kind, (1,), interval=ends)
    move = kind.way(support, np.array([x]), (0,), np.array([x]))
    there = [float(move(np.array([x]), (0,), t)[0]) for t in (-20.0, 0.0, 20.0)]
    assert there[1] == pytest.approx(x)
    for end, reached in zip(ends, sorted(there)[::2], strict=True):
        assert abs(reached) > 1e6 if np.isinf(end) else reached == pytest.approx(end, abs=1e-6)


def every_kind():
    """Variables of four supports with closed forms, and values next to and far outside of them."""
    with pm.Model() as model:
        share = pm.Beta("share", 2, 3)
        pm.Binomial("heads", 9, share, observed=4)
        rate = pm.Gamma("rate", 2, 1)
        pm.Poisson("calls", rate, observed=[3, 5])
        shares = pm.Dirichlet("shares", np.ones(3))
        pm.Multinomial("votes", 9, shares, observed=[2, 3, 4])
        state = pm.Categorical("state", [0.2, 0.8])
        pm.Normal("y", state, 1, observed=0.3)
    outside = {
        "share": [-1e-9, 1.5],
        "rate": [-1e-9, -3.0],
        "shares": [[0.5, 0.5, 0.1], [0.7, 0.5, -0.2]],
        "state": [-1, 2],
    }
    return bm.exact(model, rng=1), outside


def test_an_exact_posterior_has_no_density_outside_of_the_support():
    posterior, outside = every_kind()
    draws = posterior.sample(2, 1)
    assert np.isfinite(posterior.log_density(draws)).all()
    for name, values in outside.items():
        density = posterior.log_density(draws | {name: np.array(values)})
        np.testing.assert_array_equal(density, [-np.inf, -np.inf], err_msg=name)
