"""The shipped data are those of their sources, and load as promised."""

import json
from importlib.resources import files
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest

from bayesmodels import datasets
from bayesmodels.errors import DataError

LONGLEY_CERTIFIED = Path(__file__).parent / "models" / "longley_certified.json"


def test_every_file_has_a_name_and_every_name_a_file():
    shipped = {f.name.removesuffix(".csv") for f in files(datasets).iterdir() if ".csv" in f.name}
    assert shipped == set(datasets.names())
    assert list(datasets.names()) == sorted(datasets.names())


@pytest.mark.parametrize("name", datasets.names())
def test_files_are_complete_and_described(name):
    frame = datasets.load(name)
    sources = (files(datasets) / "SOURCES.md").read_text(encoding="utf-8")
    section = sources.split(f"## {name}.csv: ")[1].split("\n## ")[0]
    assert section.startswith(f"{len(frame)} rows")
    assert "Source: " in section
    assert "Licence: " in section
    documented = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
    assert documented == list(frame.columns)
    assert not frame.isna().to_numpy().any()
    assert "\n" not in datasets.describe(name)


def test_load_returns_a_new_frame_each_time():
    frame = datasets.load("coin")
    frame["heads"] = 7
    assert set(datasets.load("coin")["heads"]) == {0, 1}


@pytest.mark.parametrize("verb", [datasets.load, datasets.describe])
def test_unknown_name_lists_the_known_ones(verb):
    with pytest.raises(DataError, match=r"aspirin, coin, .*, wine; got 'irises'"):
        verb("irises")


def test_coin_is_55_heads_of_100_shuffled():
    heads = datasets.load("coin")["heads"].to_numpy()
    assert heads.size == 100
    assert heads.sum() == 55
    assert set(heads) == {0, 1}
    assert 30 < np.count_nonzero(np.diff(heads)) < 70


def test_leukemia_has_the_published_totals():
    """Gehan (1965): 9 and 21 relapses in 359 and 182 weeks."""
    found = datasets.load("leukemia").groupby("arm")[["weeks", "relapsed"]].sum()
    assert found.loc["mercaptopurine"].tolist() == [359, 9]
    assert found.loc["placebo"].tolist() == [182, 21]


def test_aspirin_has_the_published_relative_risk():
    rate = datasets.load("aspirin").set_index("arm").eval("infarctions / participants")
    assert rate["aspirin"] / rate["placebo"] == pytest.approx(0.55, abs=0.005)


def test_party_is_anes96():
    from statsmodels.datasets import anes96

    source = anes96.load_pandas().data
    frame = datasets.load("party")
    assert frame["party"].cat.ordered
    np.testing.assert_array_equal(frame["party"].cat.codes, source["PID"])
    np.testing.assert_array_equal(frame["vote"] == "Dole", source["vote"])
    np.testing.assert_array_equal(frame["age"], source["age"])
    np.testing.assert_array_equal(frame["education"], source["educ"])


def test_diabetes_is_scikit_learns_unscaled():
    from sklearn.datasets import load_diabetes

    source = load_diabetes(as_frame=True, scaled=False).frame
    frame = datasets.load("diabetes")
    assert [*frame.columns[:-1], "target"] == list(source.columns)
    np.testing.assert_array_equal(frame, source)


def test_iris_is_scikit_learns():
    from sklearn.datasets import load_iris

    source, frame = load_iris(), datasets.load("iris")
    np.testing.assert_array_equal(frame.iloc[:, :-1], source.data)
    np.testing.assert_array_equal(frame["species"], source.target_names[source.target])


def test_wine_is_scikit_learns():
    from sklearn.datasets import load_wine

    source, frame = load_wine(), datasets.load("wine")
    np.testing.assert_array_equal(frame.iloc[:, :-1], source.data)
    np.testing.assert_array_equal(frame["cultivar"], np.array(list("ABC"))[source.target])


def test_longley_is_the_original():
    from statsmodels.datasets import longley

    np.testing.assert_array_equal(datasets.load("longley"), longley.load_pandas().data)


def test_longley_has_nists_certified_least_squares():
    certified = json.loads(LONGLEY_CERTIFIED.read_text(encoding="utf-8"))
    coefficients, errors, residual_sd, r_squared = _least_squares(datasets.load("longley"))
    assert certified["parameters"] == ["intercept", *datasets.load("longley").columns[1:]]
    assert _digits(coefficients, certified["coefficients"]) > 13.5
    assert _digits(errors, certified["standard_errors"]) > 13.5
    assert _digits([residual_sd], [certified["residual_sd"]]) > 13.5
    assert _digits([r_squared], [certified["r_squared"]]) > 13.5


def _least_squares(frame: pd.DataFrame):
    """Solve the normal equations with 50 digits."""
    with mpmath.workdps(50):
        y = mpmath.matrix(frame.iloc[:, 0].tolist())
        X = mpmath.matrix([[1, *row] for row in frame.iloc[:, 1:].to_numpy().tolist()])
        precision = X.T * X
        w = mpmath.lu_solve(precision, X.T * y)
        residual = y - X * w
        squares = mpmath.fdot(residual, residual)
        variance = squares / (X.rows - X.cols)
        inverse = precision**-1
        errors = [mpmath.sqrt(variance * inverse[j, j]) for j in range(X.cols)]
        mean = mpmath.fsum(y) / X.rows
        total = mpmath.fsum((v - mean) ** 2 for v in y)
        return list(w), errors, mpmath.sqrt(variance), 1 - squares / total


def _digits(found, certified):
    """Return the number of correct digits of the worst entry."""
    return min(
        float(-mpmath.log10(abs((f - c) / c) + mpmath.mpf(10) ** -16))
        for f, c in zip(found, certified, strict=True)
    )
