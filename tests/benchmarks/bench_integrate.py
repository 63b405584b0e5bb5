"""Integrate every model of the table, each in a process of its own, and print what came out.

The models are those of `tests/posteriors/integrated`, their figures are by quadrature of
densities written by hand. Columns: scalars that remain, lattice points, seconds of `bm.integrate`
with compiling (imports not counted), the log evidence, its true and its stated error, and the worst
true error of a mean and of an sd, in sds, with what was stated for it. A star marks an error above
1e-6, two stars one above twice the stated one.

With ``--against-sampling`` each model is also sampled by `pm.sample` (4 chains of 1,000), in a
fresh process too, and the ratio of wall times is printed. Models with discrete variables are timed
with the steps that PyMC chooses. Caches of compiled code are empty when it starts; what other
models have compiled before is there, as on any machine, and what the first one takes is said.
Run as ``python -m tests.benchmarks.bench_integrate`` (about 20 minutes, sampling an hour more).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import Any

LIMIT = 600.0  # seconds for one process


def integrated(name: str) -> dict[str, Any]:
    """Return the figures of one model."""
    import bayesmodels as bm
    from tests.posteriors.integrated.judge import gaps
    from tests.posteriors.integrated.table import ROWS, figures

    model, integrate = ROWS[name].build(), bm.integrate  # which imports it
    begin = time.perf_counter()
    found = integrate(model, rng=1)
    seconds = time.perf_counter() - begin
    every = gaps(found, figures(name), proper=ROWS[name].proper)

    def worst(kind: str) -> list[float]:
        some = [gap for gap in every if gap.figure.startswith(kind)]
        gap = max(some, key=lambda gap: gap.true, default=None)
        return [gap.true, gap.stated] if gap else [float("nan")] * 2

    return {
        "left": list(found.remaining),
        "points": int(found.points),
        "seconds": seconds,
        "log evidence": float(found.log_evidence) if ROWS[name].proper else float("nan"),
        "evidence": worst("log evidence"),
        "mean": worst("mean"),
        "sd": worst("sd"),
        "far": [f"{g.figure} {g.true:.0e}" for g in every if not g.tolerable],
        "dishonest": [f"{g.figure} {g.true:.0e} {g.stated:.0e}" for g in every if not g.honest],
    }


def sampled(name: str) -> dict[str, Any]:
    """Return the seconds that PyMC's sampler takes with compiling."""
    import pymc as pm

    from tests.posteriors.integrated.table import ROWS

    model = ROWS[name].build()
    begin = time.perf_counter()
    pm.sample(1000, chains=4, model=model, progressbar=False, random_seed=1)
    return {"seconds": time.perf_counter() - begin}


KINDS = {"integrated": integrated, "sampled": sampled}


def apart(kind: str, name: str, cache: str) -> dict[str, Any]:
    """Return what a fresh process finds, or why it found nothing."""
    flags = ",".join(filter(None, [os.environ.get("PYTENSOR_FLAGS"), f"base_compiledir={cache}"]))
    environment = os.environ | {"PYTENSOR_FLAGS": flags, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-m", "tests.benchmarks.bench_integrate", "--one", kind, name]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=LIMIT, env=environment
        )
    except subprocess.TimeoutExpired:
        return {"refused": f"not done in {LIMIT:.0f} s"}
    last = (done.stdout.strip().splitlines() or ["{}"])[-1]
    if done.returncode or not last.startswith("{"):
        return {"refused": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(last)


def line(name: str, found: dict[str, Any]) -> str:
    """Return a row of the table."""
    if "refused" in found:
        return f"{name:58} {found['refused']}"
    pairs = " ".join(f"{true:8.0e}{stated:8.0e}" for true, stated in map(found.get, PAIRS))
    stars = "**" if found["dishonest"] else "*" if found["far"] else ""
    more = "; ".join((found["dishonest"] or found["far"])[:3])
    return (
        f"{name:58}{len(found['left']):3d}{found['points']:8d}{found['seconds']:7.1f}"
        f"{found['log evidence']:16.8f} {pairs} {stars:2} {more}"
    )


PAIRS = ("evidence", "mean", "sd")


def main() -> None:
    """Print the table and, if asked, the ratios of wall time."""
    from tests.posteriors.integrated.table import ROWS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="rows; all by default")
    parser.add_argument("--against-sampling", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        table(given.names or list(ROWS), cache, against_sampling=given.against_sampling)


def table(names: list[str], cache: str, *, against_sampling: bool) -> None:
    """Print a line for each model."""
    kinds = ("integrated", "sampled") if against_sampling else ("integrated",)
    first = [
        f"{apart(kind, names[0], cache).get('seconds', LIMIT):.1f} s ({kind})" for kind in kinds
    ]
    print(f"The first model of a machine: {', '.join(first)}")
    print(
        f"{'model':58}{'d':>3}{'points':>8}{'s':>7}{'log evidence':>16} "
        f"{'evidence':>16} {'worst mean':>16} {'worst sd':>16}   (true, stated)"
    )
    seconds, ratios, refused = [], [], 0
    for name in names:
        found = apart("integrated", name, cache)
        text = line(name, found)
        if "refused" in found:
            refused += 1
        else:
            seconds.append(found["seconds"])
            if against_sampling:
                other = apart("sampled", name, cache)
                if "refused" in other:
                    text += f" sampling: {other['refused']}"
                else:
                    ratios.append(found["seconds"] / other["seconds"])
                    text += f" sampling {other['seconds']:.1f} s, ratio {ratios[-1]:.2f}"
        print(text, flush=True)
    if seconds:
        times = f"median {median(seconds):.1f}, most {max(seconds):.1f}"
        print(f"\n{len(seconds)} integrated, {refused} not; seconds: {times}")
    if ratios:
        print(f"against pm.sample (4 x 1,000): median ratio of wall times {median(ratios):.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(KINDS[sys.argv[2]](sys.argv[3])))
    else:
        main()
