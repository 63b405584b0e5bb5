"""Time `bayesmodels --help` against importing NumPy and SciPy's special functions.

Whole processes run in turn, so that a busy machine slows both; what counts is the median of the
ratios of neighbours. Run as ``python tests/benchmarks/bench_startup.py``.
"""

import argparse
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from statistics import median

HELP = [str(Path(sysconfig.get_path("scripts")) / "bayesmodels"), "--help"]
IMPORTS = [sys.executable, "-c", "import numpy, scipy.special"]


def seconds(command: list[str]) -> float:
    """Return the wall time of one process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Run the pairs and print both medians and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15, help="pairs of runs, at least 11")
    pairs = parser.parse_args().pairs
    if pairs < 11:
        parser.error(f"--pairs: must be at least 11; got {pairs}")
    seconds(HELP)
    seconds(IMPORTS)
    runs = [(seconds(HELP), seconds(IMPORTS)) for _ in range(pairs)]
    ratios = sorted(ours / theirs for ours, theirs in runs)
    print(f"bayesmodels --help           {median(ours for ours, _ in runs):.3f} s")
    print(f"import numpy, scipy.special  {median(theirs for _, theirs in runs):.3f} s")
    print(f"median ratio of {pairs} pairs     {median(ratios):.2f} (all {ratios[0]:.2f}", end="")
    print(f" to {ratios[-1]:.2f}; the target is at most 1.50)")


if __name__ == "__main__":
    main()
