"""Count verdicts of `bm.same` over seeds: on pairs that are one model, and on pairs that are not.

Run as ``python tests/benchmarks/bench_same.py [--seeds 20] [equal edges slips]``.
"""

import argparse
import time
import warnings
from collections import Counter

import numpy as np

from bayesmodels.referee.alignment import aligned
from bayesmodels.referee.equivalence import judge
from tests.referee.edge_models import PAIRS
from tests.referee.same_models import SAME, SLIPS, TWIN_SLIPS, TWINS


def rows(table):
    return {row.id: (row.a, row.b, row.how) for row in table}


TABLES = {
    "equal": rows([*SAME, *TWINS]),
    "edges": {name: (*pair, {}) for name, pair in PAIRS.items()},
    "slips": rows([*SLIPS, *TWIN_SLIPS]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", RuntimeWarning)  # of numbers that overflow
    for table in given.tables:
        total, start = Counter(), time.process_time()
        for name, (a, b, how) in TABLES[table].items():
            pair = aligned(a(), b(), how.get("rename", {}), how.get("transform", {}))
            found = Counter(
                judge(pair, 20, np.random.default_rng(seed)).outcome for seed in range(given.seeds)
            )
            total += found
            print(f"{name:32}", dict(found), flush=True)
        seconds = time.process_time() - start
        print(
            f"{table}: {len(TABLES[table])} pairs,", dict(total), f"{seconds:.0f} s\n", flush=True
        )


if __name__ == "__main__":
    main()
