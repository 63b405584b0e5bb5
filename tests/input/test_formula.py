"""A formula and a frame make a design matrix whose columns have short names."""

import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm

CARS = pd.DataFrame(
    {
        "mpg": [21.0, 22.8, 18.7, 24.4, 14.3, 19.2],
        "wt": [2.62, 2.32, 3.44, 3.19, 3.57, 3.44],
        "cyl": [6, 4, 8, 4, 8, 6],
        "made": ["JP", "JP", "US", "DE", "US", "DE"],
        "rear axle": [3.9, 3.85, 3.15, 3.69, 3.21, 3.92],
        "h.p": [110, 93, 175, 62, 245, 123],
    }
)


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("mpg ~ wt + C(cyl)", ["intercept", "wt", "cyl[6]", "cyl[8]"]),
        ("mpg ~ made", ["intercept", "made[JP]", "made[US]"]),
        ("mpg ~ 0 + C(cyl)", ["cyl[4]", "cyl[6]", "cyl[8]"]),
        ("mpg ~ wt * made", ["intercept", "wt", "made[JP]", "made[US]", "wt:made[JP]",
                             "wt:made[US]"]),
        ("mpg ~ `rear axle` + h.p", ["intercept", "rear axle", "h.p"]),
        ("log(mpg) ~ np.log(wt) + I(wt**2)", ["intercept", "np.log(wt)", "I(wt ** 2)"]),
        ("mpg ~ 1", ["intercept"]),
    ],
)  # fmt: skip
def test_columns_are_named_after_terms_and_levels(formula, names):
    design = bm.Design.from_formula(formula, CARS)
    assert list(design.features) == names
    assert design.target.name == formula.split(" ~ ")[0]


def test_least_squares_by_a_formula():
    design = bm.Design.from_formula("mpg ~ wt + C(cyl)", CARS)
    X = np.column_stack([np.ones(6), CARS["wt"], CARS["cyl"] == 6, CARS["cyl"] == 8])
    wanted = np.linalg.lstsq(X.astype(float), CARS["mpg"])[0]
    found = bm.LinearRegression.flat(list(design.features)).update(design)
    np.testing.assert_allclose(found.mean()["w"], wanted, rtol=1e-9)
    assert found.coords["feature"] == ("intercept", "wt", "cyl[6]", "cyl[8]")


def test_new_rows_are_coded_and_scaled_like_the_old_ones():
    design = bm.Design.from_formula("mpg ~ scale(wt) + made", CARS)
    again = design.features_of(CARS[2:3])
    pd.testing.assert_frame_equal(again, design.features[2:3])


def test_frames_of_polars_and_arrow_are_read_alike():
    pl = pytest.importorskip("polars")
    wanted = bm.Design.from_formula("mpg ~ wt + made", CARS)
    for frame in (pl.from_pandas(CARS), pl.from_pandas(CARS).to_arrow()):
        found = bm.Design.from_formula("mpg ~ wt + made", frame)
        np.testing.assert_array_equal(found.features, wanted.features)


def test_text_may_be_a_target_of_classes():
    design = bm.Design.from_formula("made ~ wt", CARS)
    assert design.target.tolist() == CARS["made"].tolist()


GAPS = CARS.assign(made=[None, *CARS["made"][1:]])


@pytest.mark.parametrize(
    ("formula", "frame", "words"),
    [
        ("mpg ~ weight", CARS, r"formula: there is no column 'weight'; there are \['mpg', 'wt'"),
        ("weight ~ mpg", CARS, "formula: there is no column 'weight'"),
        ("mpg", CARS, "formula: must have one target, ~, and what explains it"),
        ("~ wt", CARS, "formula: must have one target"),
        ("mpg + wt ~ cyl", CARS, "formula: must have one target"),
        ("C(made) ~ wt", CARS, "formula: its target must be one column"),
        ("mpg ~ wt +", CARS, r"formula: Operator `\+` has .* Got 'mpg ~ wt \+'\.$"),
        ("mpg ~ log(wt - 3)", CARS, r"log\(wt - 3\) is not a number in 2 of 6 rows, .* row 0"),
        ("mpg ~ wt + made", GAPS, r"frame\['made'\]: missing values are not allowed; 1 of 6"),
        ("mpg ~ wt", CARS["mpg"], "frame: must be a frame with named columns; got Series"),
        ("mpg ~ wt", {"mpg": [1]}, "frame: must be a frame with named columns; got dict"),
    ],
)
def test_what_is_wrong_is_said(formula, frame, words):
    with pytest.raises(bm.DataError, match=words):
        bm.Design.from_formula(formula, frame)


def test_a_gap_in_a_column_that_is_not_used_does_no_harm():
    assert len(bm.Design.from_formula("mpg ~ wt", GAPS).target) == 6


def test_a_level_that_was_not_there_is_refused():
    design = bm.Design.from_formula("mpg ~ C(cyl)", CARS)
    with pytest.raises(bm.DataError, match=r"must hold levels that the design has; got .*5"):
        design.features_of(pd.DataFrame({"cyl": [5]}))
    with pytest.raises(bm.DataError, match=r"needs a design from a formula"):
        bm.Design(CARS[["wt"]], CARS["mpg"]).features_of(CARS)
