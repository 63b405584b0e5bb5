"""200 pairs of groups against mpmath, from shapes of 1e-3 to 1e9; `make_decisions` writes them."""

import json

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.decisions.independent import Independent
from bayesmodels.numerics import laws
from tests.reference.make_decisions import FILE, answers, pairs

LINES = [json.loads(line) for line in FILE.read_text().splitlines()]
FAMILIES = {
    "beta": laws.beta,
    "gamma": lambda a, rate: laws.gamma(a, scale=1 / rate),
    "student": laws.student_t,
}


def laws_of(family, pair):
    """Return the laws of a pair, or of many: two parameters or three, each a number or an array."""
    return [FAMILIES[family](*each) for each in pair]


def test_the_file_holds_200_pairs_of_which_few_are_refused():
    wanted = [
        (family, np.float64(pair).tolist()) for family, pair in pairs(np.random.default_rng(41))
    ]
    for line, (family, pair) in zip(LINES, wanted, strict=True):
        assert line["family"] == family
        np.testing.assert_allclose(line["laws"], pair, rtol=1e-13)
    assert sum(bool(line["refused"]) for line in LINES) == 2


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("what", ["best", "expected_loss"])
def test_pairs_are_right(family, what):
    own = [line for line in LINES if line["family"] == family and what not in line["refused"]]
    joint = Independent(laws_of(family, np.moveaxis([line["laws"] for line in own], 0, -1)))
    found, off = getattr(joint, what)(largest=True)
    if what == "best":
        second = np.array([line["second"] for line in own])
        np.testing.assert_allclose(found, [1 - second, second], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.sum(0), 1, rtol=0, atol=1e-9)
    else:
        losses = np.transpose([line["losses"] for line in own])
        least = 1e-12 * losses.max(0)  # of which mpmath's sums have no digits either
        assert (np.abs(found - losses) <= 1e-8 * np.maximum(losses, least)).all()
    assert (off <= 1e-6 * found.max(0)).all()


def test_what_is_refused_says_why():
    for line in LINES:
        for what in line["refused"]:
            with pytest.raises(bm.PriorError, match=f"{what}: .*Update the belief"):
                getattr(Independent(laws_of(line["family"], line["laws"])), what)(largest=True)


@pytest.mark.slow
@pytest.mark.parametrize("place", [1, 40, 85, 199])
def test_the_file_is_what_mpmath_says(place):
    line = LINES[place]
    second, losses = answers(line["family"], line["laws"])
    assert second == pytest.approx(line["second"], abs=1e-12)
    assert losses == pytest.approx(line["losses"], rel=1e-10)
