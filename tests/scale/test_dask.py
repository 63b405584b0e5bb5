"""Dask collections: the same statistic, nothing counted twice when a worker dies."""

import os
import signal
import time

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayesmodels as bm
from bayesmodels.scale.sources import chunks
from tests.scale.line import ASKED, LINE, close, line_of

RNG = np.random.default_rng(4)
N = 4000
FRAME = pd.DataFrame(RNG.normal(3, 2, size=(N, 3)), columns=["x", "z", "y"])
WANTED = line_of(FRAME)


def test_a_frame_an_array_and_a_bag():
    close(bm.scale.statistic(LINE, dd.from_pandas(FRAME, npartitions=7), **ASKED), WANTED)
    rows = da.from_array(FRAME.to_numpy(), chunks=(900, 2))
    both = bm.scale.statistic(
        bm.LinearRegression.flat(2), rows, to_data=lambda part: (part[:, :2], part[:, 2])
    )
    close(both, WANTED)
    bits = RNG.integers(0, 2, N).tolist()
    coin = bm.scale.statistic(bm.BetaBernoulli(1, 1), db.from_sequence(bits, npartitions=5))
    assert (coin.ones, coin.zeros) == (sum(bits), N - sum(bits))


def test_empty_partitions_are_left_out_and_an_empty_frame_is_refused():
    frame = dd.from_pandas(FRAME, npartitions=5)
    some = frame[frame["x"] > 3]
    close(bm.scale.statistic(LINE, some, **ASKED), line_of(FRAME[FRAME["x"] > 3]))
    with pytest.raises(bm.DataError, match="at least one row"):
        bm.scale.statistic(LINE, frame[frame["x"] > 1e9], **ASKED)


def test_dask_keeps_its_own_account(tmp_path):
    with pytest.raises(bm.DataError, match="its own account"):
        bm.scale.statistic(
            LINE, dd.from_pandas(FRAME, npartitions=2), checkpoint=tmp_path / "c.json", **ASKED
        )


def slow_part(number):
    """Return some rows, after a while."""
    time.sleep(0.25)
    return FRAME.iloc[number::20]


@pytest.mark.slow
@pytest.mark.parametrize("dies", [False, True], ids=["all live", "one worker dies"])
def test_two_worker_processes_give_the_same_even_if_one_dies(dies):
    import threading

    from dask.distributed import Client, LocalCluster

    frame = dd.from_map(slow_part, range(20), meta=FRAME.iloc[:0])
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        killer = threading.Timer(1.5, os.kill, (next(iter(pids.values())), signal.SIGKILL))
        if dies:
            killer.start()
        found = bm.scale.statistic(LINE, frame, **ASKED)
        killer.cancel()
        after = client.run(os.getpid)
    close(found, WANTED)
    assert (set(after.values()) != set(pids.values())) == dies


def test_a_lazy_frame_that_only_narwhals_knows_is_fetched_as_a_table():
    """As Spark's, which `spark_by_hand.py` reads."""
    lazy = dd.from_pandas(FRAME, npartitions=3)
    found = [chunk.rows for chunk in chunks(lazy, ["x", "y"], 1500, None)]
    assert {type(table) for table in found} == {pa.Table}
    assert max(map(len, found)) <= 1500
    together = pa.concat_tables(found).to_pandas()
    pd.testing.assert_frame_equal(together, FRAME[["x", "y"]])
    with pytest.raises(bm.DataError, match="no column 'w'"):
        list(chunks(lazy, ["w"], 1500, None))
