"""Labels that come as codes, and whole numbers, find their categories without being spelt out."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayesmodels as bm
from bayesmodels.input.containers import Argument
from bayesmodels.input.domains import codes

RNG = np.random.default_rng(10)
LABELS = np.array(["low", "mid", "high"], dtype=object)
Z = RNG.integers(0, 3, 50)
X = RNG.normal(size=50)
MODEL = bm.NaiveBayes(
    bm.DirichletCategorical([1, 1, 1], ["high", "low", "mid"]),
    {"size": (bm.DirichletCategorical([1, 1, 1], ["mid", "low", "high"]), "size")},
)
FRAME = pd.DataFrame({"size": LABELS[Z]})
WANTED = MODEL.statistic((FRAME, LABELS[Z[::-1]]))


def coded(z, labels=LABELS):
    return pa.DictionaryArray.from_arrays(pa.array(z), pa.array(labels))


def two_chunks(z):
    """Return a column whose chunks have different dictionaries."""
    other = coded(2 - z[20:], LABELS[::-1])
    return pa.chunked_array([coded(z[:20]), other])


def categories(z):
    return pd.Series(pd.Categorical.from_codes(z, LABELS))


@pytest.mark.parametrize("column", [coded, two_chunks, categories])
def test_categories_are_the_labels_they_stand_for(column):
    table = (pd.DataFrame if column is categories else pa.table)({"size": column(Z)})
    assert MODEL.statistic((table, column(Z[::-1]))) == WANTED
    new = MODEL.update(WANTED)
    np.testing.assert_array_equal(new.log_joint(table), new.log_joint(FRAME))


def test_missing_and_unknown_labels_are_named():
    gap = coded(Z).to_pylist()
    gap[7] = None
    gaps = pa.array(gap).dictionary_encode()
    found = MODEL.statistic((pa.table({"size": gaps}), LABELS[Z]))
    known = MODEL.statistic((pd.DataFrame({"size": gap}), LABELS[Z]))
    assert found == known
    with pytest.raises(bm.DataError, match="target: missing values"):
        MODEL.statistic((FRAME, gaps))
    strange = coded(np.where(np.arange(50) == 31, 3, Z), np.array([*LABELS, "tiny"], object))
    with pytest.raises(bm.DataError, match="row 31 holds 'tiny'"):
        MODEL.statistic((FRAME, strange))
    numbers = bm.NaiveBayes(bm.DirichletCategorical([1, 1, 1]), bm.BetaBernoulli(1, 1))
    with pytest.raises(bm.DataError, match=f"row 0 holds '{LABELS[Z[0]]}'"):
        numbers.statistic((np.zeros((50, 1)), coded(Z)))


@pytest.mark.parametrize("kind", "bhilqBHILQ")
@pytest.mark.parametrize("levels", [(0, 1, 2), (5, -3, 4), (100, 7), (-(10**9), 5)])
def test_whole_numbers_are_looked_up_as_labels_are(kind, levels):
    kind = np.dtype(kind)
    within = [x for x in levels if np.iinfo(kind).min <= x <= np.iinfo(kind).max]
    values = np.array(within * 2, dtype=kind)
    assert codes(Argument("x", values), levels, len(levels)).tolist() == [
        levels.index(x) for x in within * 2
    ]
    ends = np.iinfo(kind)
    for x in {x + d for x in (*levels, 127, ends.min, ends.max) for d in (-1, 0, 1)} - {*levels}:
        if ends.min <= x <= ends.max:
            with pytest.raises(bm.DataError, match=rf"holds {x}\."):
                codes(Argument("x", np.array([*within, x], dtype=kind)), levels, len(levels))
