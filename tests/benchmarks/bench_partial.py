"""Time sampling with a conjugate block integrated out against sampling of the whole model.

Two real panels, both as in statsmodels: investment of 11 American firms in 20 years (Grunfeld), a
regression of log investment on log value and log capital; and births per woman in 210 countries
and regions over 52 years (World Bank), a regression of their log on time and its square. The three
coefficients vary by firm or country around common means, with unknown scales; written centred and
not centred. What counts are effective draws a second: the smallest bulk ESS over all scalars, by
the time of sampling alone (for the partial posterior with the exact draws of the rest), and with
the time of compiling and of `bm.exact(model, partial=True)` as well. Both are sampled by
`pm.sample` with its defaults, in turn in one process; the first run of each (cold) fills Numba's
cache. The referee then compares the posteriors, for which whole and partial are sampled once more,
with many draws (and, of the firms, the whole with small steps: with the usual ones its chains get
stuck where a scale is small).
Run as ``python tests/benchmarks/bench_partial.py`` (about half an hour).
"""

import argparse
import time
from typing import Any

import numpy as np
import pymc as pm
from arviz_stats.sampling_diagnostics import ess, rhat

import bayesmodels as bm

PANELS = ("firms", "countries")
MOST_COMPARED = 5000  # draws a chain
LONG: dict[str, dict[str, Any]] = {
    "firms": {"draws": 4000, "target_accept": 0.99},
    "countries": {"draws": 20_000},
}


def firms() -> tuple[Any, Any, Any]:
    """Return numbers of groups, columns, and log investment of Grunfeld's panel."""
    import statsmodels.api as sm

    table = sm.datasets.grunfeld.load_pandas().data
    firms = sorted(table["firm"].unique())
    firm = np.array([firms.index(name) for name in table["firm"]])
    logs = np.log(table[["value", "capital"]].to_numpy())
    x = (logs - logs.mean(0)) / logs.std(0)
    y = np.log(table["invest"].to_numpy())
    return firm, x, y


def countries() -> tuple[Any, Any, Any]:
    """Return numbers of groups, columns, and log births per woman."""
    import statsmodels.api as sm

    table = sm.datasets.fertility.load_pandas().data
    years = [name for name in table.columns if name.isdigit()]
    rates = table[years].dropna(how="all").to_numpy()
    country, column = np.nonzero(np.isfinite(rates))
    time = np.array(years, dtype=float)[column]
    time = (time - time.mean()) / time.std()
    return country, np.stack([time, time**2 - 1], -1), np.log(rates[country, column])


def model_of(panel: str, *, centred: bool) -> Any:
    """Return a regression with coefficients that vary by group."""
    group, x, y = {"firms": firms, "countries": countries}[panel]()
    coords = {"group": range(group.max() + 1), "part": range(3)}
    with pm.Model(coords=coords) as model:
        mean = pm.Normal("mean", 0, 5, dims="part")
        spread = pm.HalfNormal("spread", 1, dims="part")
        noise = pm.Exponential("noise", 1)
        if centred:
            b = pm.Normal("b", mean, spread, dims=("group", "part"))
        else:
            z = pm.Normal("z", dims=("group", "part"))
            b = pm.Deterministic("b", mean + spread * z, dims=("group", "part"))
        average = b[group, 0] + (b[group, 1:] * x).sum(-1)
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


def sampled(panel: str, *, centred: bool, partial: bool, seed: int, draws: int, **more: Any) -> Any:
    """Return draws, seconds of sampling and in all."""
    model = model_of(panel, centred=centred)
    options = {"chains": 4, "progressbar": False, "random_seed": seed, **more}
    exact, begin = 0.0, time.perf_counter()
    if partial:
        part = bm.exact(model, partial=True, rng=seed)
        tree = pm.sample(draws, model=part.model, **options)
        middle = time.perf_counter()
        tree = part.completed(tree, seed)
        exact = time.perf_counter() - middle
    else:
        tree = pm.sample(draws, model=model, **options)
    total = time.perf_counter() - begin
    return tree, tree.posterior.attrs["sampling_time"] + exact, total


def compared(one: Any, other: Any) -> str:
    """Return what the referee says about the variables that both have."""
    thin = max(1, other.posterior.sizes["draw"] // MOST_COMPARED)
    there = other.posterior.isel(draw=slice(None, None, thin))
    names = [name for name in one.posterior if name in there]
    verdict = bm.compare(one.posterior.to_dataset(), there.to_dataset(), var_names=names)
    return f"{verdict.outcome} ({verdict.sentences()[0]})"


def main() -> None:
    """Print a table for each panel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="draws a chain, of four")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--panels", nargs="+", choices=PANELS, default=PANELS)
    given = parser.parse_args()
    for panel in given.panels:
        print(
            f"\n{panel:40}{'total s':>9}{'sampling s':>12}{'least ESS':>11}{'ESS/s':>8}"
            f"{'with compiling':>16}{'divergent':>11}{'R-hat':>8}"
        )
        every: dict[tuple[bool, bool], Any] = {}
        speeds: dict[tuple[bool, bool], tuple[float, float]] = {}
        for centred in (True, False):
            for partial in (False, True):
                for run in ("cold", ""):
                    tree, sampling, total = sampled(
                        panel, centred=centred, partial=partial, seed=given.seed, draws=given.draws
                    )
                    names = {"mean", "spread", "noise", "z", "b"} & set(tree.posterior)
                    least, whose, mixed = smallest(tree, names)
                    title = f"{'' if centred else 'not '}centred, "
                    title += f"{'partial' if partial else 'whole'} {run}"
                    print(
                        f"{title:40}{total:9.1f}{sampling:12.2f}{least:11.0f}"
                        f"{least / sampling:8.1f}{least / total:16.1f}"
                        f"{int(tree.sample_stats.diverging.sum()):11d}{mixed:8.3f}  {whose}",
                        flush=True,
                    )
                every[centred, partial] = tree
                speeds[centred, partial] = (least / sampling, least / total)
            one, all_in = (
                b / a for a, b in zip(speeds[centred, False], speeds[centred, True], strict=True)
            )
            print(
                f"partial against whole: {one:.1f} times as many effective draws a second of "
                f"sampling (bar 3), {all_in:.1f} times with compiling",
                flush=True,
            )
        best = max(speeds, key=lambda key: speeds[key][0] if not key[1] else 0.0)
        ratio = max(speeds[c, True][0] for c in (True, False)) / speeds[best][0]
        print(f"the better partial against the better whole: {ratio:.1f} times")
        long, *_ = sampled(panel, centred=True, partial=False, seed=given.seed + 1, **LONG[panel])
        print(f"whole, centred, many draws: {smallest(long, {'mean', 'spread', 'noise', 'b'})}")
        many, *_ = sampled(
            panel, centred=True, partial=True, seed=given.seed + 2, draws=4 * given.draws
        )
        print(
            f"partial, many draws, against those of the whole: {compared(many, long)}", flush=True
        )
        for (centred, partial), tree in every.items():
            title = f"{'' if centred else 'not '}centred, {'partial' if partial else 'whole'}"
            print(f"{title}, against many draws of the whole: {compared(tree, long)}", flush=True)


if __name__ == "__main__":
    main()
