"""How often the referee raises a false alarm, and how often it finds what is wrong.

Draws are exact copies of a law, made autocorrelated by a Gaussian copula: independent, AR(0.1) to
AR(0.9) and antithetic AR(-0.8), four chains of 1000; or real draws of NUTS. Laws are

``beta``     a Beta law, one scalar
``t3``       a Student t law with 3 degrees of freedom, with its variance
``nig``      a regression's ten coefficients and variance
``ten``      mean and variance of ten rows
``bayes``    naive Bayes of 200 bits and three classes, 603 probabilities

Wrong draws: the first scalar shifted, widened, narrowed or without its upper tail; dependence lost;
one chain offset; one mode missing; a few draws far out or impossible, warm-up left in, some draws
from the prior, chains copied; a mean that has come apart from its variance. Of each mistake it is
told, too, how often the bounds that are stated of means, standard deviations and intervals hold for
what such draws converge to. Peers see the same draws: a Kolmogorov-Smirnov test of each
scalar, the same after thinning to the effective number of draws, R-hat, ArviZ's test of uniformity
(`pot_c`), and z scores of the means; each with Bonferroni's correction over the scalars.

Parts:

``right``, ``wrong``, ``peers``   false alarms, what is found, and the same beside peers
``holes``                         what functions of ranks alone do not find
``large``                         false alarms with 603 scalars
``power``                         what is found, by the number of draws
``advice``                        what following an open verdict's advice leads to
``sizes``                         false alarms with 2 to 8 chains of 200 to 100,000 draws in all
``nuts``                          false alarms on draws of nutpie and PyMC

Run as ``python tests/benchmarks/bench_referee.py [--part NAME ...] [--share X]``: everything takes
some hours on two cores. Results are added to ``referee.csv`` beside this file, and
``docs/referee-rates.md`` and ``docs/referee-power.svg`` are written anew from it. A repeated row
replaces the former one; ``--page`` only writes, and ``--share 0.1`` makes a tenth of the
repetitions, for a try. With ``--add`` new repetitions are added to those of the file, as many as
the row still lacks or the share says; of ``advice``, which has a median, they replace former ones.
``--ours`` leaves the peers alone, whose former rates are of the same draws and stay.
"""

import argparse
import csv
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import referee_page
from referee_laws import (
    CHAINS,
    COPIED,
    DRAWS,
    HOLES,
    MISTAKES,
    RHO,
    SETTINGS,
    nig_data,
    truth,
    walk,
)
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesmodels as bm
from bayesmodels.numerics.multiple_testing import holm
from bayesmodels.referee import copies, one_sample
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.referee.verdict import significant

LEVEL = 0.01
PEERS = ["KS", "thinned KS", "R-hat", "pot_c", "means"]
OURS = ["holm", "equal weights", "simes", "cauchy"]
KEYS = ("part", "setting", "kind", "draws", "chains")
RESULTS = Path(__file__).with_name("referee.csv")


class Row(NamedTuple):
    """What is measured together: a setting, a kind of chain, and who looks at it."""

    part: str
    setting: str
    kind: str
    repetitions: int
    draws: int = DRAWS
    chains: int = CHAINS
    peers: bool = False
    verdict: bool = False


EVERY, NEAR = ["iid", "AR(0.3)", "AR(0.5)", "AR(0.9)", "AR(-0.8)"], ["iid", "AR(0.3)"]
BETA, NIG = ([f"{mistake}: {law}" for mistake in MISTAKES] for law in ("beta", "nig"))
NARROW = {("shifted by 0.1 sd: beta", kind): 10_000 for kind in ("AR(0.3)", "AR(0.9)")}
"""Where what is asked for is near, or a peer: more repetitions."""
SIZES = [("iid", 2000), ("AR(0.9)", 32000)]
SHAPES = [
    (2, 100, 1000),
    (8, 25, 1000),
    (4, 250, 1000),
    (2, 2000, 1000),
    (8, 500, 1000),
    (4, 25000, 200),
]
ROWS = [
    *(
        Row("peers", "right: beta", kind, 2000, peers=True, verdict=True)
        for kind in ("iid", "AR(0.1)", *EVERY[1:])
    ),
    *(
        Row("peers", setting, kind, NARROW.get((setting, kind), 2000), peers=True)
        for setting, kind in product(BETA, ["iid", "AR(0.1)", "AR(0.3)", "AR(0.9)"])
    ),
    *(
        Row("peers", "one mode missing: two modes", kind, 2000, peers=True)
        for kind in ("iid", "AR(0.3)", "AR(0.9)")
    ),
    Row("advice", "right: beta", "AR(0.9)", 2000),
    Row("advice", "right: nig", "AR(0.9)", 2000),
    *(
        Row("right", f"right: {law}", kind, 2000, verdict=kind in NEAR)
        for law, kind in product(("t3", "nig"), EVERY)
    ),
    *(
        Row("copied", f"right: {law}", kind, 1000, verdict=True)
        for law, kind in product(("beta", "nig"), COPIED)
    ),
    *(Row("wrong", "dependence lost: nig", kind, 2000) for kind in ("AR(0.3)", "AR(0.9)")),
    *(
        Row("wrong", setting, kind, 2000)
        for setting, kind in product(NIG, ["iid", "AR(0.1)", "AR(0.3)"])
    ),
    Row("peers", "dependence lost: nig", "iid", 2000, peers=True),
    *(Row("holes", setting, kind, 2000) for setting, kind in product(HOLES, NEAR)),
    *(
        Row("large", "right: bayes", kind, 2000)
        for kind in ("iid", "AR(0.5)", "AR(0.9)", "AR(-0.8)")
    ),
    *(
        Row("power", setting, kind, 300, draws=longest // 2**halvings)
        for setting, (kind, longest), halvings in product(BETA, SIZES, range(5))
    ),
    *(
        Row("sizes", "right: t3", kind, number, draws=draws, chains=chains)
        for kind in ("iid", "AR(0.5)", "AR(0.95)")
        for chains, draws, number in SHAPES
    ),
    *(
        Row("nuts", f"right: {law}", sampler, 200)
        for sampler, law in product(("nutpie", "pymc"), ("beta", "nig"))
    ),
]
"""Everything that is measured."""


def measured(job: tuple[Row, int, range]) -> list[list[float]]:
    """Return ESS, whether the verdict agrees, and who raises an alarm, for some repetitions."""
    row, seed, repetitions = job
    if row.part == "advice":
        return [advised(row, np.random.default_rng([seed, k, 1123])) for k in repetitions]
    return [once(row, np.random.default_rng([seed, k, 1122])) for k in repetitions]


def once(row: Row, rng: np.random.Generator) -> list[float]:
    """Make draws and judge them."""
    setting = SETTINGS[row.setting]
    if row.part == "nuts":
        draws = from_nuts(row, int(rng.integers(2**31)))
    else:
        if row.kind in COPIED:
            z = COPIED[row.kind](rng, setting.size)
        else:
            z = walk(rng, RHO[row.kind], setting.size, row.draws, row.chains)
        draws = setting.spoil(setting.make(z))
    agrees = np.nan
    if row.verdict or row.part == "nuts":
        verdict = bm.compare(setting.law(), draws, level=LEVEL, rng=rng)
        found, agrees = list(verdict.tests), verdict.outcome == "agree"
    else:
        found = one_sample.one_sample_tests(setting.law(), draws, rng)
    held = np.nan
    if row.part not in ("power", "nuts") and not row.setting.startswith("right"):
        held = holds(row, draws)
    p = np.array([test.p for test in found])
    named = bool(copies.copies(draws)) if row.part == "holes" else False
    alarms = [bool(significant(found, LEVEL)) or named, bool(holm(p, LEVEL))]
    alarms += [simes(p) <= LEVEL, cauchy(p) <= LEVEL]
    others = peers(setting.law(), draws) if row.peers else [np.nan] * len(PEERS)
    ess = np.median([test.ess for test in found if test.kind == "location"])
    return [float(ess), float(agrees), held, *alarms, *others]


def holds(row: Row, draws: Any) -> bool:
    """Return whether the bounds that would be stated hold for what such draws converge to."""
    law = SETTINGS[row.setting].law()
    stated = one_sample.one_sample_bounds(law, scalar_draws(law, draws))
    mean, sd, interval = truth(row.setting, RHO[row.kind])
    return bool(stated.mean >= mean and not stated.sd < sd and stated.interval >= interval)


def advised(row: Row, rng: np.random.Generator) -> list[float]:
    """Return ESS, whether a first verdict was open, what it advised, and the next one."""
    setting = SETTINGS[row.setting]
    draws = setting.make(walk(rng, RHO[row.kind], setting.size))
    first = bm.compare(setting.law(), draws, rng=rng)
    outcome, more = first.outcome, first.more or 1.0
    if outcome == "inconclusive":
        longer = walk(rng, RHO[row.kind], setting.size, int(np.ceil(DRAWS * more)))
        outcome = bm.compare(setting.law(), setting.make(longer), rng=rng).outcome
    ess = np.median([test.ess for test in first.tests if test.kind == "location"])
    opened = first.outcome == "inconclusive"
    return [float(ess), more, opened, outcome == "agree", outcome == "disagree"]


@cache
def compiled(name: str, sampler: str) -> Any:
    """Return a declared model, compiled once in this process where nutpie allows it."""
    prior, data = (bm.BetaBernoulli(1, 1), [1] * 4 + [0] * 18) if name == "beta" else nig_data()
    model = prior.declare(data)
    if sampler == "pymc":
        return model
    import nutpie

    return nutpie.compile_pymc_model(model)


def from_nuts(row: Row, seed: int) -> Any:
    """Return draws of a real sampler."""
    model = compiled(row.setting.split(": ")[1], row.kind)
    if row.kind == "nutpie":
        import nutpie

        return nutpie.sample(
            model,
            adaptation="low_rank",  # as `mcmc_draws` has it
            draws=DRAWS,
            tune=1000,
            chains=CHAINS,
            seed=seed,
            cores=1,
            progress_bar=False,
        )
    import pymc as pm

    with model:
        return pm.sample(
            draws=DRAWS,
            tune=1000,
            chains=CHAINS,
            cores=1,
            nuts_sampler="pymc",
            random_seed=seed,
            progressbar=False,
            quiet=True,
            compute_convergence_checks=False,
        )


def simes(p: np.ndarray) -> float:
    """Return Simes' combined p value (1986)."""
    return float(np.min(len(p) * np.sort(p) / np.arange(1, len(p) + 1)))


def cauchy(p: np.ndarray) -> float:
    """Return the Cauchy combination's p value (Liu and Xie 2020)."""
    return float(stats.cauchy.sf(np.mean(1 / np.tan(np.pi * np.clip(p, 1e-300, 0.99)))))


def peers(law: Any, draws: Any) -> list[bool]:
    """Return which peers raise an alarm."""
    from arviz_stats.base import array_stats
    from arviz_stats.sampling_diagnostics import ess, rhat

    every = scalar_draws(law, draws)
    share = LEVEL / len(every)
    plain = thinned = apart = uniform = means = False
    marginals = law.marginals()
    for _, name, at, x in every:
        mean, sd = (
            np.broadcast_to(v, np.shape(marginals[name].std()))[at]
            for v in (marginals[name].mean(), marginals[name].std())
        )
        full = np.zeros((*x.shape, *np.shape(marginals[name].std())))
        full[(..., *at)] = x
        u = np.asarray(marginals[name].cdf(full))[(..., *at)]
        number = min(float(ess(x, method="mean")), x.size)
        step = max(1, int(np.ceil(x.size / number)))
        plain |= stats.kstest(u.ravel(), "uniform").pvalue < share
        thinned |= stats.kstest(u[:, ::step].ravel(), "uniform").pvalue < share
        apart |= float(rhat(x)) > 1.01
        uniform |= float(array_stats.uniformity_test(u.ravel())[0]) < share
        means |= 2 * stats.norm.sf(abs(x.mean() - mean) / (sd / np.sqrt(number))) < share
    return [plain, thinned, apart, uniform, means]


def recorded(row: Row, values: np.ndarray, seconds: float) -> list[dict[str, Any]]:
    """Return one line a rate, as the file holds them."""
    known = {"part": row.part, "setting": row.setting, "kind": row.kind, "draws": row.draws}
    known |= {
        "chains": row.chains,
        "repetitions": len(values),
        "ess": round(float(np.median(values[:, 0]))),
    }
    if row.part == "advice":
        heads = ["times as many", "open at first", "then agree", "then disagree"]
    else:
        heads = ["agree", "bounds hold", *OURS, *PEERS]
    lines = []
    for who, column in zip(heads, values[:, 1:].T, strict=True):
        if not np.isnan(column).any():
            rate = float(np.median(column) if who == "times as many" else column.mean())
            lines.append({**known, "who": who, "rate": round(rate, 5)})
    said = ", ".join(f"{line['who']} {100 * line['rate']:.2f}" for line in lines)
    print(
        f"{row.setting:32s} {row.kind:8s} {row.chains} x {row.draws:<6d} {known['ess']:6d}  {said}",
        end="",
    )
    print(f"  ({seconds:.0f} s)", flush=True)
    return lines


def former() -> list[dict[str, Any]]:
    """Return the lines of the file of results."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def of_row(row: Row) -> dict[str, dict[str, Any]]:
    """Return the lines that the file has of a row, by who looked; none if the referee did not."""
    same = {line["who"]: line for line in former() if is_of(line, row._asdict())}
    return same if "holm" in same else {}


def is_of(line: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether a line of the file is of the same row as another one."""
    return all(line[k] == str(other[k]) for k in KEYS)


def pooled(lines: list[dict[str, Any]], before: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rates of all repetitions, of the file and new ones."""
    for line in lines:
        old = before[line["who"]]
        n, m = int(old["repetitions"]), line["repetitions"]
        line["rate"] = round((n * float(old["rate"]) + m * line["rate"]) / (n + m), 5)
        line["repetitions"] = n + m
    return lines


def kept(lines: list[dict[str, Any]]) -> None:
    """Add lines to the file of results, in the order of `ROWS`; former ones of the same row go."""
    fields = list(lines[0])
    old = [line for line in former() if not is_of(line, lines[0])]
    order = {tuple(str(row._asdict()[k]) for k in KEYS): i for i, row in enumerate(ROWS)}
    every = sorted(
        [*old, *lines],
        key=lambda line: order.get(tuple(str(line[k]) for k in KEYS), len(order)),
    )
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)


def main() -> None:
    """Measure, keep the results, and write the page."""
    parts = sorted({row.part for row in ROWS})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="*", default=parts, choices=parts)
    parser.add_argument("--only", default="", help="a word of the rows wanted")
    parser.add_argument("--share", type=float, default=1.0, help="of the repetitions")
    parser.add_argument("--add", action="store_true", help="to the repetitions of the file")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--ours", action="store_true", help="no peers; keep their former rates")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    if not given.page:
        with ProcessPoolExecutor(given.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
            for row in ROWS:
                if row.part not in given.part or given.only not in f"{row.setting} {row.kind}":
                    continue
                before = of_row(row) if given.add else {}
                old = of_row(row) if given.ours and row.peers else {}
                row = row._replace(peers=row.peers and not given.ours)  # noqa: PLW2901
                done = int(before["holm"]["repetitions"]) if before else 0
                number = min(max(2, round(row.repetitions * given.share)), row.repetitions - done)
                if number <= 0:
                    continue
                seeds = 20 if number + done >= 40 else number
                each = range(done // seeds, (done + number) // seeds)
                jobs = [(row, seed, each) for seed in range(seeds)]
                start = time.perf_counter()
                values = np.array([v for some in pool.map(measured, jobs) for v in some], float)
                lines = recorded(row, values, time.perf_counter() - start)
                lines = pooled(lines, before) if before else lines
                kept([*lines, *(line for who, line in old.items() if who in PEERS)])
    referee_page.write(RESULTS)


if __name__ == "__main__":
    main()
