"""The same statistics through Spark itself.

Not part of the test suite, since Spark is 490 MB and needs Java. Run by hand, with pyspark:
``python -m tests.scale.spark_by_hand``.
"""

import tempfile

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

import bayesmodels as bm
from tests.scale.line import ASKED, LINE, close, line_of

N = 20_000


def main():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(3, 2, size=(N, 3)), columns=["x", "z", "y"])
    session = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    with tempfile.TemporaryDirectory() as folder:
        frame.to_parquet(f"{folder}/rows.parquet")
        rows = session.read.parquet(f"{folder}/rows.parquet").repartition(8)
        close(bm.scale.statistic(LINE, rows, rows=1000, **ASKED), line_of(frame))
    session.stop()
    print("Spark: the same statistics")  # noqa: T201


if __name__ == "__main__":
    main()
