"""Time `bayesmodels --help` against importing NumPy and SciPy's special functions.

Whole processes run in turn, so that a busy machine slows both; what counts is the median of the
ratios of neighbours. Run as ``python tests/benchmarks/bench_startup.py``. With ``--exact`` the
least processor time of `bayesmodels exact` of a small model is compared with importing PyMC;
PYTHONPATH tells which checkout runs.
"""

import argparse
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from statistics import median

HELP = [str(Path(sysconfig.get_path("scripts")) / "bayesmodels"), "--help"]
PYMC = [sys.executable, "-c", "import pymc"]
MODEL = """
import pymc as pm
with pm.Model() as model:
    rate = pm.Gamma("rate", 2, 1)
    pm.Poisson("visits", rate, observed=[3, 5, 4])
"""
IMPORTS = [sys.executable, "-c", "import numpy, scipy.special"]


def seconds(command: list[str]) -> float:
    """Return the wall time of one process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def work(command: list[str]) -> float:
    """Return the processor time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def exact(pairs: int) -> None:
    """Print the least processor times of `bayesmodels exact` and of importing PyMC."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.py"
        path.write_text(MODEL, encoding="utf-8")
        command = [sys.executable, "-m", "bayesmodels", "exact", f"{path}:model"]
        runs = [(work(command), work(PYMC)) for _ in range(pairs)]
    ours, theirs = map(min, zip(*runs, strict=True))
    print(f"bayesmodels exact {ours:.2f} s, import pymc {theirs:.2f} s, ratio {ours / theirs:.2f}")


def main() -> None:
    """Run the pairs and print both medians and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15, help="pairs of runs, at least 11")
    parser.add_argument("--exact", action="store_true", help="time `bayesmodels exact` instead")
    given = parser.parse_args()
    pairs = given.pairs
    if given.exact:
        exact(pairs)
        return
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
