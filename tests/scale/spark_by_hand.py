"""The same statistics through Spark itself, in two worker processes, one of which is killed.

Not part of the test suite, since Spark is 490 MB and needs Java. Run by hand, with pyspark:
``python tests/scale/spark_by_hand.py``.
"""

import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

import bayesmodels as bm

N = 20_000


def main():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(3, 2, size=(N, 3)), columns=["x", "z", "y"])
    frame["kind"] = rng.choice(["a", "b"], N)
    line = bm.LinearRegression.flat(["x", "z"])
    bayes = bm.NaiveBayes(
        bm.DirichletCategorical([1, 1], ["a", "b"]), bm.NormalInverseGamma(0, 1, 1, 1)
    )
    session = (
        SparkSession.builder.master("local[2,3]")  # a task may fail three times
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
        .getOrCreate()
    )
    with tempfile.TemporaryDirectory() as folder:
        frame.to_parquet(f"{folder}/rows.parquet")
        rows = session.read.parquet(f"{folder}/rows.parquet").repartition(8)
        found = bm.scale.statistic(line, rows, target="y", columns=["x", "z"])
        close(found, line.statistic((frame[["x", "z"]], frame["y"])))
        both = bm.scale.statistic(bayes, rows, target="kind", columns=["x", "z"])
        assert both.classes.counts.sum() == N
        known = bayes.statistic((frame[["x", "z"]], frame["kind"]))
        (own,), (wanted,) = both.features.values(), known.features.values()
        np.testing.assert_allclose(own.mean, wanted.mean, rtol=1e-12)
        np.testing.assert_allclose(own.scatter, wanted.scatter, rtol=1e-11)

        died = Path(folder) / "died"

        def dies_once(table):
            if not died.exists():
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return bm.Design(table.select(["x", "z"]), table["y"])

        again = bm.scale.statistic(line, rows, columns=["x", "z", "y"], to_data=dies_once)
        assert died.exists()
        close(again, line.statistic((frame[["x", "z"]], frame["y"])))
    session.stop()
    print("Spark: the same statistics, also after a worker was killed")  # noqa: T201


def close(found, wanted):
    assert found.n == wanted.n
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-12)
    np.testing.assert_allclose(found.triangle(), wanted.triangle(), rtol=1e-11, atol=1e-10)


if __name__ == "__main__":
    main()
