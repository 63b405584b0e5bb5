"""The examples in docstrings print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import bayesmodels

ROOT = Path(bayesmodels.__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(ROOT.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


SLOW = {
    "bayesmodels.referee.calibration",
    "bayesmodels.posteriors.partial",  # samples
    "bayesmodels.posteriors.integrate",
    "bayesmodels.referee.verdict",
    "bayesmodels.report.validation",  # draws report pages
}


@pytest.mark.parametrize(
    "name", [pytest.param(m, marks=[pytest.mark.slow] if m in SLOW else []) for m in MODULES]
)
def test_examples_of_a_module(name):
    tried = doctest.testmod(import_module(name), optionflags=FLAGS)
    assert tried.attempted
    assert tried.failed == 0
