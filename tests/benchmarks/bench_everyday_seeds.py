"""Whether weighted numbers are as exact as they say: everyday models, twenty seeds each.

Of each model of the everyday table that is weighted: how many seeds are refused, which part of the
gaps to the figures is within two standard errors (of log evidences, of means, of both), and how
often the gaps of the number that is worst off scatter its stated error. Gaps are in standard errors
of both, the figures' own too. Models that are integrated are compared once, as the tests do it.
Run as ``python -m tests.benchmarks.bench_everyday_seeds``; `--only` takes a
part of a name, `--part 1/2` every other model.
"""

import argparse
import time
import warnings

import numpy as np

import bayesmodels as bm
from tests.posteriors.everyday.make import kept
from tests.posteriors.everyday.models import MODELS
from tests.posteriors.test_everyday import LONG, SOLVED, is_right


def gaps(name: str, seed: int) -> np.ndarray | None:
    """Return the gaps of a log evidence and of means; none where it is refused."""
    one, figures = MODELS[name], kept()[name]
    try:
        found = bm.integrate(one.build(), tolerance=1e-3, rng=seed)
        mean = found.mean()
    except (bm.NotConjugate, bm.PriorError):  # of weights too unequal, or for a mean
        return None
    if found.rung != "weighted":
        is_right(name, found)
        return np.zeros(0)
    far = found.log_evidence - figures["log_evidence"]
    off = [far / np.hypot(found.errors["log_evidence"], figures["log_evidence_error"])]
    for key in [key for key in one.scalars if key in mean]:  # a field is in other coordinates
        wanted, own = (np.array(figures[word][key]) for word in ("mean", "mean_error"))
        off += list(np.ravel((mean[key] - wanted) / np.hypot(found.errors["mean"][key], own)))
    return np.array(off)


def main() -> None:
    """Print a line for each model, and what holds for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--part", default="1/1", help="which part of the models")
    given = parser.parse_args()
    part, of = map(int, given.part.split("/"))
    warnings.simplefilter("ignore")
    print(f"{'':52}{'refused':>8}{'within 2':>9}{'evidence':>9}{'worst':>7}{'scatter':>8}{'s':>6}")
    evidences, means, refused = [], [], 0
    names = [name for name in dict.fromkeys((*SOLVED, *LONG)) if given.only in name][part - 1 :: of]
    for name in names:
        begun = time.perf_counter()
        first = gaps(name, 1)
        if first is not None and not len(first):
            print(f"{name:52}  integrated, and right", flush=True)
            continue
        each = [first, *(gaps(name, seed) for seed in range(2, given.seeds + 1))]
        off = np.array([one for one in each if one is not None])
        number = given.seeds - len(off)
        refused += number
        seconds = (time.perf_counter() - begun) / given.seeds
        if not len(off):
            print(f"{name:52}{number:8d}", flush=True)
            continue
        evidences += list(off[:, 0])
        means += list(off[:, 1:].ravel())
        print(
            f"{name:52}{number:8d}{(abs(off) < 2).mean():9.3f}{(abs(off[:, 0]) < 2).mean():9.2f}"
            f"{abs(off).max():7.2f}{np.sqrt((off**2).mean(0).max()):8.2f}{seconds:6.1f}",
            flush=True,
        )
    for what, all_of in (("log evidences", evidences), ("means", means)):
        within = np.mean(np.abs(all_of) < 2)
        print(f"{len(all_of)} {what}: {within:.1%} within two standard errors", flush=True)
    print(f"{refused} of {given.seeds * len(names)} refused")


if __name__ == "__main__":
    main()
