"""Every planted slip is rejected, by the layer that should; the table stands in the summary."""

import numpy as np
import pytest

import bayesmodels as bm
from tests.negative.printed import PRINTED
from tests.negative.slips import LAW, SLIPS
from tests.negative.work import judge

# Each identity compiles a model: the fast suite takes every fifth of those of single numbers.
QUICK = [slip for slip in SLIPS if not slip.slow]
COMPILED = [slip.label for slip in QUICK if slip.layer == "identity"]
FAST = {slip.label for slip in QUICK} - {*COMPILED} | {*COMPILED[::5]}
BY_NAME = pytest.mark.parametrize(
    "slip",
    [
        pytest.param(
            slip,
            id=slip.label.replace(" ", "-"),
            marks=() if slip.label in FAST else pytest.mark.slow,
        )
        for slip in SLIPS
    ],
)


@BY_NAME
def test_the_layer_that_should_object_does(slip, record_property):
    layer, evidence = judge(slip.wrong)
    record_property("slip", [slip.label, str(layer), evidence])
    assert layer == slip.layer, evidence
    if layer == "identity":
        assert evidence.startswith(f"{slip.term}: ")


@pytest.mark.slow
@BY_NAME
def test_the_same_work_without_the_slip_passes(slip):
    assert judge(slip.right) == (None, "")


def test_all_layers_and_enough_slips_are_in_the_table():
    assert {slip.layer for slip in SLIPS} == {"data", "identity", "sampling", "book value"}
    assert len({slip.name for slip in SLIPS}) == len(SLIPS) >= 16
    assert all(bool(slip.term) == (slip.layer == "identity") for slip in SLIPS)


def test_every_printed_mistake_is_tested():
    assert {slip.id for slip in PRINTED} == {f"E{number}" for number in range(1, 15)}
    assert all(slip.note and slip.printed and slip.correct for slip in PRINTED)


def test_what_the_layers_cannot_see():
    """A discrepancy smaller than a standard error of the draws, 1/63 of a deviation, passes."""
    draws = LAW.to_datatree(rng=np.random.default_rng(7)).posterior.to_dataset()
    moved = draws.assign(w=draws["w"] + 0.01 * LAW.marginals()["w"].std())
    assert bm.compare(LAW, moved).outcome == "agree"
