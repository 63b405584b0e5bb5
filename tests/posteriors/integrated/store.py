"""Work out again the figures that take long, and keep them beside this file.

Run as ``python -m tests.posteriors.integrated.store`` (about an hour): every row of the table is
integrated, and those that take more than three seconds are kept in ``figures.json``. Names on the
command line are the rows to work out; the others are kept as they are.
"""

import json
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

from tests.posteriors.integrated.quadrature import Figures

FILE = Path(__file__).with_name("figures.json")
LONG = 3.0  # seconds


@cache
def kept():
    """Return the figures that are kept, by name of the row."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: Figures(
            one["log_evidence"],
            {key: np.array(value) for key, value in one["mean"].items()},
            {key: np.array(value) for key, value in one["sd"].items()},
            one["error"],
            tuple(one["levels"]),
        )
        for name, one in found.items()
    }


def main(names):
    from tests.posteriors.integrated.table import ROWS

    found = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name in names or ROWS:
        begin = time.perf_counter()
        one = ROWS[name].reference()
        seconds = time.perf_counter() - begin
        text = f"{name:62}{seconds:8.1f} s{one.log_evidence:20.10f}{one.error:9.0e}\n"
        sys.stdout.write(text)
        sys.stdout.flush()
        if seconds > LONG or names:
            found[name] = {
                "log_evidence": one.log_evidence,
                "mean": {key: np.asarray(value).tolist() for key, value in one.mean.items()},
                "sd": {key: np.asarray(value).tolist() for key, value in one.sd.items()},
                "error": one.error,
                "levels": one.levels,
            }
            FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
