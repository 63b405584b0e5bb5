"""Separated classes are found and named, overlapping ones are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesmodels as bm
from bayesmodels.numerics.separation import find_separation

MODEL = bm.LogisticRegression([0, 0, 0], 1, features=["intercept", "age", "dose"])
SEEDS = st.integers(0, 2**32 - 1)


def wrong_side(direction, X, y):
    """Return how far rows lie on the right side of a direction; negative ones are on the wrong."""
    return np.where(y, 1, -1) * (X @ direction)


def rows(rng, n, width, *, whole):
    X = rng.integers(-3, 4, (n, width)) if whole else rng.standard_normal((n, width))
    return np.column_stack([np.ones(n), X.astype(float)])


@given(SEEDS, st.integers(1, 4), st.booleans(), st.integers(-300, 149))
@settings(max_examples=8, deadline=None)
def test_what_a_plane_separates_is_found(seed, width, whole, power):
    rng = np.random.default_rng(seed)
    X, w = rows(rng, 30, width, whole=whole), rng.integers(-3, 4, width + 1)
    score = X @ w
    y = score > 0
    if not score.any() or y.all() or not y.any():
        return
    complete = not (score == 0).any()
    found = find_separation(X, np.stack([~y, y], -1), (0,))
    assert found is not None
    side = wrong_side(found.direction[0], X, y)
    assert side.min() > -1e-8
    assert side.max() > 1e-8
    assert found.complete >= complete  # zeros on the plane may be apart from another plane
    # The unit of the columns does not matter, nor does the model's own way of saying it.
    model = bm.LogisticRegression(np.zeros(width + 1), 1)
    scaled = X * 10.0**power
    with pytest.raises(bm.SeparationError, match="separate the classes"):
        model.mle((scaled, y))
    assert np.isfinite(model.map((X, y)).w).all()


@given(SEEDS, st.integers(1, 4), st.booleans())
@settings(max_examples=12, deadline=None)
def test_rows_seen_with_both_classes_overlap(seed, width, whole):
    rng = np.random.default_rng(seed)
    X = rows(rng, 20, width, whole=whole)
    y = rng.random(20) < 0.5
    twice, both = np.concatenate([X, X]), np.concatenate([y, ~y])
    assert find_separation(twice, np.stack([~both, both], -1)) is None


@given(SEEDS, st.integers(1, 3))
@settings(max_examples=12, deadline=None)
def test_linear_programming_and_newton_agree(seed, width):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(width + 3, 14))
    X, y = rows(rng, n, width, whole=True), rng.random(n) < 0.5
    if np.linalg.matrix_rank(X) <= width:
        return
    model = bm.LogisticRegression(np.zeros(width + 1), 1)
    if find_separation(X, np.stack([~y, y], -1)) is None:
        found = model.mle((X, y))
        p = model.class_probabilities(X, found.parameters)[:, 1]
        # A gradient of zero: residuals are weights, all positive, that balance the rows.
        assert np.abs(X.T @ (y - p)).max() < 1e-9
    else:
        with pytest.raises(bm.SeparationError):
            model.mle((X, y))


@given(SEEDS, st.integers(3, 4))
@settings(max_examples=6, deadline=None)
def test_more_than_two_classes(seed, classes):
    rng = np.random.default_rng(seed)
    X = rows(rng, 40, 2, whole=False)
    w = np.concatenate([np.zeros((1, 3)), rng.standard_normal((classes - 1, 3))])
    y = (X @ w.T).argmax(-1)
    if len(set(y)) < classes:
        return
    model = bm.LogisticRegression(np.zeros(3), 4, classes=range(classes))
    with pytest.raises(bm.SeparationError, match="completely"):
        model.mle((X, y))
    assert np.isfinite(model.map((X, y)).w).all()
    mixed = np.concatenate([y, (y + 1) % classes, (y + 2) % classes, (y + 3) % classes])
    assert model.separation((np.tile(X, (4, 1)), mixed)) == ""


def test_a_part_of_the_classes_may_be_separated():
    # Class 2 lies apart from 0 and 1, which overlap: no maximum either, though not completely.
    x = np.array([0.0, 1, 2, 0, 1, 2, 8, 9])
    model = bm.LogisticRegression([0, 0], 4, classes=range(3))
    data = bm.Design(x[:, None], [0, 1, 0, 1, 0, 1, 2, 2], intercept=True)
    with pytest.raises(bm.SeparationError, match=r"columns \[1\].*quasi-completely"):
        model.mle(data)


def frame(age, dose):
    import pandas as pd

    return pd.DataFrame({"age": age, "dose": dose})


@pytest.mark.parametrize(
    ("age", "dose", "words"),
    [
        ([1, 2, 3, 4, 5, 6], [1, 3, 1, 2, 1, 2], r"\['age'\] separate the classes completely"),
        ([1, 2, 3, 3, 5, 6], [1, 3, 1, 2, 1, 2], "separate the classes"),
        ([1, 2, 3, 3, 5, 6], [1, 3, 1, 1, 1, 2], r"\['age'\] separate the classes quasi-compl"),
        ([2, 1, 3, 2, 3, 4], [1, 2, 2, 3, 3, 4], "separate the classes"),
        ([2, 1, 5, 1, 2, 5], [2, 1, 5, 2, 3, 6], r"\['age', 'dose'\] separate the classes compl"),
    ],
)
def test_the_message_names_the_columns(age, dose, words):
    data = bm.Design(frame(age, dose), [0, 0, 0, 1, 1, 1], intercept=True)
    with pytest.raises(bm.SeparationError, match=words) as error:
        MODEL.mle(data)
    assert "Use a prior (map, laplace)" in str(error.value)
    assert str(error.value) == "target: " + MODEL.separation(data)
    assert np.isfinite(MODEL.map(data).w).all()


def test_a_class_without_rows_is_said_to_be_one():
    with pytest.raises(bm.SeparationError, match="no row has the class 1"):
        bm.LogisticRegression(0, 1).mle(([[1.0], [1.0]], [0, 0]))


def test_counts_of_both_classes_at_a_row_overlap():
    model = bm.LogisticRegression([0, 0], 1)
    data = bm.Design([[1.0], [2.0]], bm.BinomialCounts([1, 3], [4, 4]), intercept=True)
    assert model.separation(data) == ""
    apart = bm.Design([[1.0], [2.0]], bm.BinomialCounts([0, 3], [4, 4]), intercept=True)
    assert "quasi-completely" in model.separation(apart)


def test_a_weight_of_zero_takes_a_row_away():
    X, y = [[1.0, 1], [1, 2], [1, 3], [1, 4]], [0, 1, 0, 1]
    model = bm.LogisticRegression([0, 0], 1)
    assert model.separation((X, y)) == ""
    assert "[1]" in model.separation(bm.Weighted((X, y), [1, 0, 1, 1]))


def test_far_apart_and_near_together():
    # Two rows on the wrong side by a millionth of the range make a maximum: far out, but there.
    x = np.concatenate([np.linspace(-1, 0, 50), np.linspace(0, 1, 50)])
    y = np.arange(100) >= 50
    x[49], x[50] = 5e-7, -5e-7
    model = bm.LogisticRegression([0, 0], 1)
    data = bm.Design(x[:, None], y, intercept=True)
    assert model.separation(data) == ""
    found = model.mle(data)
    assert found.trace.converged
    assert found.w[1] > 100
