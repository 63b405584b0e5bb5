"""Fuzz for a while: ``python tests/fuzz/run.py --minutes 10`` prints cases tried and failures.

Every case is printed that ends in another library's error, in NaN or in silence; the run goes on.
"""

import argparse
import collections
import sys
import time
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.targets import TARGETS

SHARE = {"data": 0.45, "arguments": 0.2, "files": 0.15, "forged files": 0.2}


def fuzz(name, seconds, first):
    """Return how many cases were tried and the failures by their last line of code."""
    strategy, target = TARGETS[name]
    tried, failures, end = 0, collections.defaultdict(list), time.monotonic() + seconds
    number = first
    while time.monotonic() < end:

        @seed(number)
        @settings(
            max_examples=100,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def check(case):
            nonlocal tried
            if time.monotonic() > end:
                return
            tried += 1
            try:
                target(case)
            except Exception as error:  # noqa: BLE001 - to be shown
                last = traceback.extract_tb(error.__traceback__)[-1]
                key = f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}"
                if len(failures[key]) < 3:
                    text = "".join(traceback.format_exception(error)[-4:])
                    failures[key].append(f"{case!r}\n{text}")
                else:
                    failures[key].append("")

        check()
        number += 1
    return tried, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(TARGETS))
    given_ = parser.parse_args()
    warnings.simplefilter("ignore")
    total = wrong = 0
    for name in [given_.only] if given_.only else TARGETS:
        seconds = 60 * given_.minutes * (1 if given_.only else SHARE[name])
        tried, failures = fuzz(name, seconds, given_.seed)
        number = sum(map(len, failures.values()))
        total, wrong = total + tried, wrong + number
        print(f"{name}: {tried:,} cases in {seconds:.0f} s, {number} failures", flush=True)
        for key, cases in failures.items():
            print(
                f"  {len(cases)} × {key}\n    "
                + "\n".join(filter(None, cases)).replace("\n", "\n    ")
            )
    print(f"{total:,} cases, {wrong} failures")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
