"""Time sampling with a conjugate block integrated out against sampling of the whole model.

Investment of 11 American firms in 20 years (Grunfeld's panel, as in statsmodels): a regression of
log investment on log value and log capital whose three coefficients vary by firm around common
means, with unknown scales; written centred and not centred. What counts are effective draws a
second: the smallest bulk ESS over all scalars, by the time of sampling alone (for the partial
posterior with the exact draws of the rest), and with the time of compiling and of
`bm.exact(model, partial=True)` as well. Both are sampled by `pm.sample` with its defaults, in turn
in one process; the first run of each (cold) fills Numba's cache. The whole model is also sampled
with small steps, since with the usual ones its chains get stuck where a scale is small. At last the
posteriors are compared, also across the two ways of writing: means and quantiles in Monte-Carlo
standard errors.
Run as ``python tests/benchmarks/bench_partial.py``.
"""

import argparse
import time
from typing import Any

import numpy as np
import pymc as pm
from arviz_stats.sampling_diagnostics import ess, rhat
from scipy import stats

import bayesmodels as bm

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def investment(*, centred: bool) -> Any:
    """Return a model of Grunfeld's panel."""
    import statsmodels.api as sm

    table = sm.datasets.grunfeld.load_pandas().data
    firms = sorted(table["firm"].unique())
    firm = np.array([firms.index(name) for name in table["firm"]])
    logs = np.log(table[["value", "capital"]].to_numpy())
    x = (logs - logs.mean(0)) / logs.std(0)
    y = np.log(table["invest"].to_numpy())
    coords = {"firm": firms, "part": ["level", "value", "capital"]}
    with pm.Model(coords=coords) as model:
        mean = pm.Normal("mean", 0, 5, dims="part")
        spread = pm.HalfNormal("spread", 1, dims="part")
        noise = pm.Exponential("noise", 1)
        if centred:
            b = pm.Normal("b", mean, spread, dims=("firm", "part"))
        else:
            z = pm.Normal("z", dims=("firm", "part"))
            b = pm.Deterministic("b", mean + spread * z, dims=("firm", "part"))
        average = b[firm, 0] + (b[firm, 1:] * x).sum(-1)
        pm.Normal("y", average, noise, observed=y)
    return model


def scalars(tree: Any) -> dict[str, Any]:
    """Return the draws of every scalar, with the axes (chain, draw)."""
    found = {}
    for name in tree.posterior:
        values = np.moveaxis(tree.posterior[name].to_numpy(), (0, 1), (-2, -1))
        for at in np.ndindex(values.shape[:-2]):
            found[f"{name}{list(at) if at else ''}"] = values[at]
    return found


def smallest(tree: Any, names: Any) -> tuple[float, str, float]:
    """Return the smallest bulk ESS, whose it is, and the largest R-hat."""
    draws = {name: x for name, x in scalars(tree).items() if name.split("[")[0] in names}
    sizes = {name: float(ess(x, method="bulk")) for name, x in draws.items()}
    least = min(sizes, key=lambda name: sizes[name])
    return sizes[least], least, max(float(rhat(x)) for x in draws.values())


def discrepancy(one: Any, other: Any) -> tuple[float, float]:
    """Return the largest discrepancy in Monte-Carlo standard errors, and its 1 % critical value."""
    worst, number = 0.0, 0
    here, there = scalars(one), scalars(other)
    for name in here.keys() & there.keys():
        x, y = here[name], there[name]
        cuts = np.quantile(np.concatenate([x, y]), QUANTILES)
        pairs = [(x, y), *(((x < c).astype(float), (y < c).astype(float)) for c in cuts)]
        for a, b in pairs:
            error = np.var(a) / ess(a, method="mean") + np.var(b) / ess(b, method="mean")
            worst = max(worst, abs(float(a.mean() - b.mean())) / float(np.sqrt(error)))
            number += 1
    return worst, float(stats.norm.isf(0.005 / number))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="draws a chain, of four")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(
        f"{'':40}{'total s':>9}{'sampling s':>12}{'least ESS':>11}{'ESS/s':>8}"
        f"{'with compiling':>16}{'divergent':>11}{'R-hat':>8}"
    )
    runs: dict[str, dict[str, Any]] = {
        "whole": {},
        "whole, small steps": {"target_accept": 0.99},
        "partial": {},
    }
    every: dict[str, Any] = {}
    for centred in (True, False):
        kind = "centred" if centred else "not centred"
        speeds = {}
        for run, more in runs.items():
            for number in range(2):
                model = investment(centred=centred)
                names = {rv.name for rv in model.free_RVs} | {"b"}
                options = {"chains": 4, "progressbar": False, "random_seed": given.seed, **more}
                exact, begin = 0.0, time.perf_counter()
                if run == "partial":
                    part = bm.exact(model, partial=True, rng=given.seed)
                    tree = pm.sample(given.draws, model=part.model, **options)
                    middle = time.perf_counter()
                    tree = part.completed(tree, given.seed)
                    exact = time.perf_counter() - middle
                else:
                    tree = pm.sample(given.draws, model=model, **options)
                total = time.perf_counter() - begin
                sampling = tree.posterior.attrs["sampling_time"] + exact
                least, whose, mixed = smallest(tree, names)
                title = f"{kind}, {run}{' (cold)' if number == 0 else ''}"
                print(
                    f"{title:40}{total:9.1f}{sampling:12.2f}{least:11.0f}{least / sampling:8.1f}"
                    f"{least / total:16.1f}{int(tree.sample_stats.diverging.sum()):11d}"
                    f"{mixed:8.3f}  {whose}",
                    flush=True,
                )
            every[f"{kind}, {run}"] = tree
            speeds[run] = (least / sampling, least / total)
        for run in ("whole", "whole, small steps"):
            one, all_in = (b / a for a, b in zip(speeds[run], speeds["partial"], strict=True))
            worst, bar = discrepancy(every[f"{kind}, partial"], every[f"{kind}, {run}"])
            print(
                f"{kind}, partial against {run}: {one:.1f} times as many effective draws a second "
                f"of sampling (bar 3), {all_in:.1f} times with compiling; largest discrepancy "
                f"{worst:.2f} standard errors (1 % of all tests: {bar:.2f})",
                flush=True,
            )
    worst, bar = discrepancy(every["centred, partial"], every["not centred, whole"])
    print(
        f"centred, partial against not centred, whole: largest discrepancy {worst:.2f} standard "
        f"errors (1 % of all tests: {bar:.2f})"
    )


if __name__ == "__main__":
    main()
