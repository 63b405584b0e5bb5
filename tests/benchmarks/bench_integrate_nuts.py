"""NUTS and slips against what was integrated: python -m tests.benchmarks.bench_integrate_nuts.

Of each model are shown the seconds of `bm.integrate` and of NUTS with compiling (2 chains; as many
draws as the verdict needs), the referee's verdict on NUTS and its largest discrepancy, and the
verdicts on draws of three slips, with the way by which these were drawn.
"""

import sys
import time
import warnings
from collections import Counter

import numpy as np

import bayesmodels as bm
from tests.posteriors.integrated.sampled import NAMES, SLIPS, from_nuts
from tests.posteriors.integrated.table import ROWS

SEED = 20261124


def one(name):
    """Return the line of one model, and the verdicts."""
    build, rng = ROWS[name].build, np.random.default_rng(SEED)
    start = time.perf_counter()
    law = bm.integrate(build(), rng=rng)
    integrated = time.perf_counter() - start
    start = time.perf_counter()
    verdict, number = from_nuts(build, law, rng)
    sampled = time.perf_counter() - start
    found, ways = {"NUTS": verdict.outcome}, []
    for slip, make in SLIPS.items():
        tree = make(build, law, rng)
        ways.append(tree.attrs.get("sampler", "moved"))
        found[slip] = bm.compare(law, tree, level=1e-3, tolerance=0.2).outcome
    shown = "  ".join(f"{found[slip]:12}" for slip in SLIPS)
    line = (
        f"{name:54}{integrated:6.1f}{sampled:7.1f}{number:7}  {verdict.outcome:12}"
        f"{abs(verdict.largest.z):5.1f}  {shown}  {', '.join(ways)}"
    )
    if verdict.outcome != "agree":
        line += f"\n    {verdict.findings[0]}"
    return line, found


def main(names):
    """Print a line for every model, and how many verdicts of each kind there were."""
    warnings.simplefilter("ignore")
    total = Counter()
    heads = "  ".join(f"{slip:12}" for slip in SLIPS)
    print(f"{'':54}{'bm':>6}{'NUTS':>7}{'draws':>7}  {'NUTS':12}{'z':>5}  {heads}  slips by")
    for name in names or NAMES:
        try:
            line, found = one(name)
        except bm.NotConjugate as no:
            line, found = f"{name:54}  refused: {no}", {"bm": "refused"}
        print(line, flush=True)
        total.update(found.items())
    for (what, outcome), number in sorted(total.items()):
        print(f"{what}: {outcome} {number} times")


if __name__ == "__main__":
    main(sys.argv[1:])
