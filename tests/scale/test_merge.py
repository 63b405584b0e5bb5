"""Shards of the same rows give the same statistic, whatever their order; misfits are named."""

import json

import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.scale.folding import Fold, fold
from tests.scale.line import line_of

RNG = np.random.default_rng(2)
FRAME = pd.DataFrame(RNG.normal(1e4, 1, size=(5000, 3)), columns=["x", "z", "y"])


@pytest.mark.slow
def test_a_thousand_shuffled_shards_are_the_batch(tmp_path):
    """Rows lie 1e4 standard deviations from zero: sums of squares would lose eight digits."""
    parts = np.array_split(np.arange(len(FRAME)), 1000)
    paths = []
    for number, rows in enumerate(parts):
        paths.append(tmp_path / f"{number}.json")
        bm.save(line_of(FRAME.iloc[rows]), paths[-1])
    merged = bm.scale.merge([paths[k] for k in RNG.permutation(1000)])
    batch = line_of(FRAME)
    assert merged.n == batch.n
    np.testing.assert_allclose(merged.mean, batch.mean, rtol=1e-12)
    np.testing.assert_allclose(merged.factor, batch.factor, rtol=1e-12, atol=1e-12 * 5000**0.5)
    assert merged.features == batch.features


def test_nothing_is_merged_if_a_shard_is_bad_and_all_bad_ones_are_named(tmp_path):
    paths = [tmp_path / f"{name}.json" for name in ("good", "cut", "newer", "other", "columns")]
    for path in paths:
        bm.save(line_of(FRAME[:10]), path)
    paths[1].write_bytes(paths[1].read_bytes()[:50])
    header = json.loads(paths[2].read_text())
    paths[2].write_text(json.dumps(header | {"schema": 99}))
    bm.save(bm.statistics.BernoulliStatistic(1, 2), paths[3])
    named = FRAME.rename(columns={"x": "height"})[:10]
    bm.save(
        bm.LinearRegression.flat(["height", "z"]).statistic((named[["height", "z"]], named["y"])),
        paths[4],
    )
    before = [path.read_bytes() for path in paths]
    with pytest.raises(bm.DataError, match="4 of 5 files cannot be merged") as caught:
        bm.scale.merge(paths)
    for name in ("cut.json", "newer.json", "other.json", "columns.json"):
        assert name in str(caught.value)
    assert "good.json" not in str(caught.value)
    assert [path.read_bytes() for path in paths] == before


def test_the_same_file_twice_would_count_its_rows_twice(tmp_path):
    path = tmp_path / "a.json"
    bm.save(bm.statistics.BernoulliStatistic(1, 2), path)
    with pytest.raises(bm.DataError, match="counted twice"):
        bm.scale.merge([path, tmp_path / "." / "a.json"])
    with pytest.raises(bm.DataError, match="at least one file"):
        bm.scale.merge([])


@pytest.mark.parametrize("number", [0, 1, 2, 7, 64, 100])
def test_a_fold_adds_every_part_once_and_equals_meet(number):
    depth = {}

    class Part:
        def __init__(self, size, steps):
            self.size, self.steps = size, steps

        def __add__(self, other):
            return Part(self.size + other.size, max(self.steps, other.steps) + 1)

    total = fold(Part(1, 0) for _ in range(number))
    depth[number] = total
    if not number:
        assert total is None
        return
    assert total.size == number
    assert total.steps <= np.ceil(np.log2(number))


def test_a_fold_can_be_taken_up_again():
    one = Fold()
    for k in range(11):
        one.add(bm.statistics.BernoulliStatistic(k, 1))
    other = Fold(one.sums)
    other.add(bm.statistics.BernoulliStatistic(11, 1))
    assert other.total().ones == 66
    assert other.total().zeros == 12
