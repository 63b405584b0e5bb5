"""Every model of the table is integrated: its figures are those by quadrature, its errors hold."""

import numpy as np
import pytest
from scipy import stats

import bayesmodels as bm
from tests.posteriors.integrated.judge import gaps
from tests.posteriors.integrated.quadrature import (
    POSITIVE,
    REAL,
    UNIT,
    difference,
    integrated,
    real,
)
from tests.posteriors.integrated.store import kept
from tests.posteriors.integrated.table import ROWS, figures

RNG = 20261124
MADE_AGAIN = ("the nile as a walk plus noise", "meta analysis with a scale for each of two groups")


def left(name):
    """Return how many scalars the quadrature of a row is over."""
    return sum(size or 1 for _, size in ROWS[name].scalars.values())


OPEN = {"local linear trend"}
"""Either right, or refused: convergence is slow in three dimensions."""
SHORT = {
    "two small trials with binomial rows",
    "lasso of two weights",
}
"""Points end before errors are 1e-6: of a plateau, and of kinks."""
REFUSED = {"hits of eighteen players": "has not settled"}
"""Not integrated yet: sizes so huge that rounding leaves no digits."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_figures_are_those_by_quadrature_and_stated_errors_hold(name, record_property, request):
    if name not in OPEN:
        request.getfixturevalue("slow_clock")
    reference = figures(name)
    assert reference.error <= 1e-9
    if name in REFUSED:
        with pytest.raises(bm.NotConjugate, match=REFUSED[name]):
            bm.integrate(ROWS[name].build(), rng=RNG, seconds=8.0)
        return
    try:
        found = bm.integrate(ROWS[name].build(), rng=RNG, seconds=8.0 if name in OPEN else 50.0)
        every = gaps(found, reference, proper=ROWS[name].proper)
    except (bm.NotConjugate, bm.PriorError):
        if name not in OPEN:
            raise
        return
    for variable in ROWS[name].options["without"]:  # whose deviation does not exist
        assert np.isnan(found.marginals()[variable].std()).all()
        assert np.isnan(found.errors["sd"][variable]).all()
    worst = max(every, key=lambda gap: gap.true)
    shown = [name, left(name), found.points, worst.figure, float(worst.true), float(worst.stated)]
    record_property("integrated", shown)
    assert not [gap for gap in every if not gap.tolerable and name not in SHORT | OPEN]
    assert not [gap for gap in every if not gap.honest]


def test_the_table_is_long_enough_and_quadrature_knows_its_error():
    assert set(ROWS) >= OPEN | SHORT | set(REFUSED)
    assert len(ROWS) - len(OPEN) - len(SHORT) - len(REFUSED) >= 120
    assert set(kept()) <= set(ROWS)
    assert all(one.error <= 1e-9 for one in kept().values())


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE_AGAIN)
def test_figures_that_are_kept_can_be_made_again(name):
    assert difference(ROWS[name].reference(), kept()[name]) < 1e-8


# --- the quadrature, against closed forms ---------------------------------------------------------


def test_one_scalar_on_each_line():
    def gamma(x):
        return stats.gamma.logpdf(x, 2.5, scale=0.7) + 3

    found = integrated({"x": (POSITIVE, None)}, gamma)
    assert found.log_evidence == pytest.approx(3, abs=1e-10)
    assert found.mean["x"] == pytest.approx(2.5 * 0.7, rel=1e-10)
    assert found.sd["x"] == pytest.approx(np.sqrt(2.5) * 0.7, rel=1e-10)
    found = integrated({"p": (UNIT, None)}, lambda p: stats.beta.logpdf(p, 0.6, 4))
    assert found.log_evidence == pytest.approx(0, abs=1e-9)
    assert found.sd["p"] == pytest.approx(stats.beta.std(0.6, 4), rel=1e-9)


def test_kinks_and_heavy_tails():
    found = integrated({"x": (real(0.0), None)}, lambda x: stats.laplace.logpdf(x, 0, 2))
    assert found.log_evidence == pytest.approx(0, abs=1e-10)
    assert found.sd["x"] == pytest.approx(np.sqrt(8), rel=1e-10)
    found = integrated({"x": (POSITIVE, None)}, stats.halfcauchy.logpdf, without=("x",))
    assert found.log_evidence == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("d", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_correlated_normal_vectors_and_a_block(d):
    cov = 0.5 * np.eye(d) + 0.5
    law = stats.multivariate_normal(np.arange(d), cov)

    def density(x):
        block = {"y": (x.sum(1), np.full(len(x), 2.0))}
        return law.logpdf(x) - 1, block

    found = integrated({"x": (REAL, d)}, density, rows=d)
    assert found.error <= 1e-9
    assert found.log_evidence == pytest.approx(-1, abs=1e-9)
    assert found.mean["x"] == pytest.approx(np.arange(d), abs=1e-9)
    assert found.sd["x"] == pytest.approx(np.ones(d), rel=1e-9)
    assert found.sd["y"] == pytest.approx(np.sqrt(cov.sum() + 2), rel=1e-9)


def test_an_improper_posterior_is_not_boxed():
    with pytest.raises(ValueError, match="proper"):
        integrated({"x": (REAL, None)}, lambda x: -np.log1p(np.abs(x) ** 0.5))


def test_a_coordinate_that_the_model_does_not_have_is_not_shown():
    found = integrated(
        {"_x": (REAL, None)}, lambda _x: (stats.norm.logpdf(_x), {"y": (_x, 0 * _x)})
    )
    assert set(found.mean) == set(found.sd) == {"y"}
