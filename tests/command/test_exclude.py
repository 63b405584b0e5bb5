"""All columns but some."""

import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.command.preparation import prepared

FRAME = pd.DataFrame(
    {"x": [1.0, 2, 3, 4], "z": [3.0, 1, 2, 2], "site": [1, 1, 2, 2], "y": [2.0, 4, 6, 9]}
)


@pytest.mark.parametrize("name", ["linear-regression", "normal-inverse-wishart"])
def test_all_columns_but_the_excluded_ones_are_features(name):
    frame, columns, notes = prepared(name, FRAME, exclude=["z", "site"])
    assert not {"z", "site"} & set(frame)
    assert not {"z", "site"} & set(columns.features or ())
    assert notes[0] == "Left out as --exclude asks: ['z', 'site']."


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("linear-regression", {"exclude": ["w"]}, "there is no column 'w'; there are ['x'"),
        ("linear-regression", {"exclude": ["y"], "target": "y"}, "is used by another option"),
        ("linear-regression", {"exclude": ["z"], "features": ["x"]}, "leave --features"),
        ("linear-regression", {"exclude": ["z"], "formula": "y ~ x"}, "leave --features"),
        ("gamma-poisson", {"exclude": ["z"]}, "gamma-poisson has no use for it"),
    ],
)
def test_what_can_t_be_excluded_is_refused(name, options, words):
    with pytest.raises(bm.DataError, match="--exclude: ") as refused:
        prepared(name, FRAME, **options)
    assert words in str(refused.value)
