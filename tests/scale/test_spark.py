"""What Spark's workers do with a partition; `spark_by_hand.py` does it with Spark itself.

Spark is not among the packages of the tests: it is 490 MB, needs Java, and takes a minute to start.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayesmodels as bm
from bayesmodels.scale.clusters import from_spark, of_batches
from tests.scale.line import ASKED, LINE, close, line_of

RNG = np.random.default_rng(8)
N = 1000
FRAME = pd.DataFrame(RNG.normal(3, 2, size=(N, 3)), columns=["x", "z", "y"])


class Row(tuple):
    __slots__ = ()


class SparkFrame:
    """As much of a Spark frame as is used: partitions of Arrow batches."""

    __module__ = "pyspark.sql"

    def __init__(self, partitions):
        self.partitions = partitions

    def select(self, *names):
        return SparkFrame([[b.select(list(names)) for b in part] for part in self.partitions])

    def mapInArrow(self, function, schema):  # noqa: N802 - Spark's name
        assert schema == "statistic string, complaint string"
        self.partitions = [list(function(iter(part))) for part in self.partitions]
        return self

    def collect(self):
        return [Row(r.values()) for part in self.partitions for b in part for r in b.to_pylist()]


def spark(frame=FRAME, partitions=3, rows=150):
    parts = [frame.iloc[k::partitions] for k in range(partitions)]
    return SparkFrame(
        [pa.Table.from_pandas(part, preserve_index=False).to_batches(rows) for part in parts]
    )


def test_partitions_make_the_statistic_of_all_rows():
    close(bm.scale.statistic(LINE, spark(), **ASKED), line_of(FRAME))


def test_what_comes_back_is_text_and_nothing_for_no_rows():
    batch = pa.RecordBatch.from_pydict({"bit": [1, 0, 1]})

    def of_data(data, _number):
        return bm.BetaBernoulli(1, 1).statistic(data)

    def prepare(table):
        return table["bit"]

    (found,) = of_batches(of_data, prepare, [batch, batch[:0], batch])
    assert found["complaint"].to_pylist() == [None]
    (text,) = found["statistic"].to_pylist()
    assert '"kind":"BernoulliStatistic"' in text
    assert not list(of_batches(of_data, prepare, [batch[:0]]))
    empty = SparkFrame([[batch[:0]], []])
    assert from_spark(of_data, empty, None, prepare) is None
    with pytest.raises(bm.DataError, match="at least one row"):
        bm.scale.statistic(bm.BetaBernoulli(1, 1), SparkFrame([[]]), columns="bit")


def test_complaints_come_back_by_name(tmp_path):
    bad = FRAME.assign(z=FRAME["z"].mask(np.arange(N) == 604))
    with pytest.raises(bm.DataError, match=r"partition of the Spark frame, after 150 .*features"):
        bm.scale.statistic(LINE, spark(bad), **ASKED)
    with pytest.raises(bm.DataError, match="Spark keeps its own account"):
        bm.scale.statistic(LINE, spark(), target="y", checkpoint=tmp_path / "c.json")
    mixture = bm.NaiveBayesMixture(
        bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 1, 1)
    )
    with pytest.raises(bm.DataError, match="has no form as a file"):
        bm.scale.statistic(mixture, spark(), columns=["z"])
    with pytest.raises(bm.DataError, match="Write the rows as Parquet, or use Dask"):
        bm.scale.em(mixture, spark(), columns=["z"])
    with pytest.raises(bm.DataError, match="Write the rows as Parquet, or use Dask"):
        bm.scale.mle(bm.LogisticRegression([0], 1), spark(), columns=["z"], target="y")
