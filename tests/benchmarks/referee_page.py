"""Write what `bench_referee` measured as a page of the docs and a figure."""

import csv
from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

DOCS = Path(__file__).parents[2] / "docs"
PEERS = ["KS", "thinned KS", "R-hat", "pot_c", "means"]
OURS = {
    "holm": "**referee** (Holm)",
    "equal weights": "equal weights",
    "simes": "Simes",
    "cauchy": "Cauchy",
}
LAWS = {
    "beta": "Beta",
    "t3": "t, 3 degrees",
    "nig": "regression, 11",
    "bayes": "naive Bayes, 603",
    "ten": "mean and variance of 10 rows",
    "two modes": "two modes",
}
HEAD = """% Written by tests/benchmarks/bench_referee.py from referee.csv: change those.

# The referee, measured

How often [the referee](referee.md) calls correct draws wrong, and how often it finds what is wrong.
Rates are in percent, with their standard errors; the level is 1 %. A rate of 0.00 in n repetitions
is below 3 / n, at 95 % confidence. There are four chains of 1,000 draws unless a table says
otherwise, and ESS is the median effective number of draws of a location. Draws are exact copies of
a law, made autocorrelated, or NUTS's own. `python tests/benchmarks/bench_referee.py` measures all
of it, and writes this page. {download}`All rates <../tests/benchmarks/referee.csv>` as a table.

Holm's correction decides, with most of the level for shifts: means are reported first, and what
is wrong otherwise is mostly found by a wide margin. Holm with equal weights, Simes' and the
Cauchy combination of the same p values stand beside it. Simes gains next to nothing over equal
weights. The Cauchy combination finds a little more where draws are only just enough, but its
level rests on an approximation that holds for tiny levels. Nor does it say which quantity is
wrong, as Holm does at the same level for every one of them.
"""
FALSE = """
## Correct draws: false alarms, and how often the verdict is `agree`
"""
FOUND = """
## Wrong draws: how often they are found

Of a regression, the first of eleven scalars is wrong. At an effective number of 2,150, a shift of
0.1 standard deviations is 4.6 standard errors of the mean, which a single test of the mean at a
level of 1 % finds 98 times in 100. Of a normal law no test can do better. The shape of a skewed one
tells more of a shift than its mean does, and functions that are less autocorrelated than the mean
tell it with less noise: the test of shifts uses both.

`agree` states bounds of means, standard deviations and ends of 89 % intervals, at 95 % confidence
each. The last column says how often all three hold, over all repetitions whatever the verdict, for
what draws with that mistake converge to. A copied chain counts as found where it is named.
"""
BESIDE = """
## Beside other tests of the same draws

One Beta law (two for the missing mode, the regression for lost dependence). `KS` is a
Kolmogorov-Smirnov test that takes draws for independent; `thinned KS` the same of every k-th draw,
as many as are effective; `R-hat` asks whether it exceeds 1.01; `pot_c` is ArviZ's test of
uniformity; `means` compares the mean only, by its effective number of draws. A rate of alarms at
wrong draws is worth nothing where correct draws raise as many: such cells stand in brackets, where
correct draws of that kind raised an alarm in more than 3 %.
"""
COPIED = """
## Correct draws that tell less than their number

Draws that were resampled with replacement hold copies: by the weights of importance sampling, whose
proposal is 2.2 times too wide in one direction, or by a bootstrap. They count as one where they are
seen, which is said beside the verdict; without that 5 to 50 % of these right draws disagreed. Every
second of the antithetic chains is another one with its sign turned.
"""
SIZES = """
## Correct draws, few and many

The t law and its variance. Below 400 effective draws the verdict is `inconclusive` unless something
is significant, and of what has fewer than 50 nothing is; how often something is, the table says.
The others are of all p values, which are too small by then.
"""
POWER = """
## How many draws it takes

```{figure} referee-power.svg
:alt: Share of wrong draws that are found against the effective number of draws, one curve a mistake

One Beta law; independent draws (solid) and AR(0.9) (dashed).
```
"""
ADVICE = """
## Where a verdict is open

Correct draws, AR(0.9): the verdict in the end, where an open one is followed by as many draws as it
asked for. What disagrees at first stays so: two looks, each at a level of 1 %, call up to 2 % of
right draws wrong. (The pytest plugin spends one level over all its looks.)
"""
NUTS = """
## Draws of NUTS
"""


def write(results: Path) -> None:
    """Write ``referee-rates.md`` and ``referee-power.svg``.

    Parameters
    ----------
    results : path
        The file of results.
    """
    with results.open(newline="") as file:
        lines = list(csv.DictReader(file))
    text = HEAD
    text += FALSE + _ours(lines, ["peers", "right", "large"], right=True)
    text += COPIED + _ours(lines, ["copied"], right=True)
    text += SIZES + _sizes(lines)
    text += FOUND + _ours(lines, ["peers", "wrong", "holes"], right=False)
    text += BESIDE + _beside(lines)
    text += POWER + _needed(lines)
    text += ADVICE + _advice(lines)
    text += NUTS + _ours(lines, ["nuts"], right=True)
    (DOCS / "referee-rates.md").write_text(text)
    _figure(lines, DOCS / "referee-power.svg")


def _rows(
    lines: list[dict[str, str]], parts: Iterable[str]
) -> dict[tuple[str, str, str], dict[str, dict[str, str]]]:
    """Return lines by setting, kind and draws, and within these by who looks."""
    found: dict[tuple[str, str, str], dict[str, dict[str, str]]] = {}
    for part in parts:
        for line in lines:
            key = (line["setting"], line["kind"], line["draws"])
            if line["part"] == part and line["who"] not in found.get(key, {}):
                found.setdefault(key, {})[line["who"]] = line
    return found


def _rate(line: dict[str, str] | None) -> str:
    if line is None:
        return ""
    rate, number = float(line["rate"]), int(line["repetitions"])
    return f"{100 * rate:.2f} ± {100 * sqrt(rate * (1 - rate) / number):.2f}"


def _ours_or_equal(who: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return the line of the referee, or, where it was not measured with weights, without."""
    return who.get("holm") or who["equal weights"]


def _names(setting: str) -> tuple[str, str]:
    what, law = setting.split(": ")
    return what, LAWS[law]


def _table(head: list[str], rows: Iterable[list[Any]]) -> str:
    out = ["", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    out += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join([*out, ""])


def _ours(lines: list[dict[str, str]], parts: list[str], *, right: bool) -> str:
    rows = []
    for (setting, kind, _), who in _rows(lines, parts).items():
        if setting.startswith("right") != right:
            continue
        what, law = _names(setting)
        holm = _ours_or_equal(who)
        row = [*([] if right else [what]), law, kind, holm["ess"], holm["repetitions"]]
        row += [_rate(who.get(name)) for name in OURS]
        rows.append([*row, _rate(who.get("agree" if right else "bounds hold"))])
    head = ["law", "draws", "ESS", "repetitions", *OURS.values()]
    return _table([*head, "`agree`"] if right else ["mistake", *head, "bounds hold"], rows)


def _sizes(lines: list[dict[str, str]]) -> str:
    rows = [
        [
            kind,
            f"{_ours_or_equal(who)['chains']} × {int(draws):,}",
            *(_ours_or_equal(who)[name] for name in ("ess", "repetitions")),
            *(_rate(who.get(name)) for name in OURS),
        ]
        for (_, kind, draws), who in _rows(lines, ["sizes"]).items()
    ]
    head = ["draws", "chains × draws", "ESS", "repetitions", *OURS.values()]
    return _table(head, rows)


def _beside(lines: list[dict[str, str]]) -> str:
    every = _rows(lines, ["peers"])
    alarms = {
        (kind, name): float(who[name]["rate"])
        for (setting, kind, _), who in every.items()
        if setting == "right: beta"
        for name in PEERS
    }
    rows = []
    for (setting, kind, _), who in every.items():
        if "KS" not in who:
            continue
        what = setting.split(": ")[0] if not setting.startswith("right") else "none: false alarms"
        cells = []
        for name in PEERS:
            empty = alarms.get((kind, name), 0.0) > 0.03 and not setting.startswith("right")
            cells.append(f"({_rate(who[name])})" if empty else _rate(who[name]))
        rows.append([what, kind, _rate(who.get("holm")), *cells])
    return _table(["mistake", "draws", "**referee**", *PEERS], rows)


def _needed(lines: list[dict[str, str]]) -> str:
    """Return, for each mistake, the least number of draws measured that finds it."""
    rows = []
    every = _rows(lines, ["power"])
    for setting in dict.fromkeys(setting for setting, _, _ in every):
        for kind in ("iid", "AR(0.9)"):
            known = sorted(
                (int(draws), _ours_or_equal(who))
                for (s, k, draws), who in every.items()
                if s == setting and k == kind
            )
            row = [_names(setting)[0], kind]
            for aim in (0.5, 0.95, 0.99):
                enough = [f"{4 * n:,}" for n, line in known if float(line["rate"]) >= aim]
                row.append(enough[0] if enough else "more")
            rows.append(row)
    head = ["mistake", "draws", "found half of the times with", "95 %", "99 %"]
    return "\nThe least of the measured numbers of draws, in all chains:\n" + _table(head, rows)


def _advice(lines: list[dict[str, str]]) -> str:
    rows = []
    for (setting, kind, _), who in _rows(lines, ["advice"]).items():
        more = who["times as many"]
        rates = [_rate(who[name]) for name in ("open at first", "then agree", "then disagree")]
        first, *then = rates
        row = [_names(setting)[1], kind, more["ess"], more["repetitions"], first]
        rows.append([*row, f"{float(more['rate']):.1f}", *then])
    head = ["law", "draws", "ESS", "repetitions", "open at first", "times as many (median)"]
    return _table([*head, "`agree` in the end", "`disagree` in the end"], rows)


def _figure(lines: list[dict[str, str]], path: Path) -> None:
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    every = _rows(lines, ["power"])
    # Offset chains lower the effective number themselves; that of correct chains counts.
    sizes = {
        (kind, draws): int(_ours_or_equal(who)["ess"])
        for (setting, kind, draws), who in every.items()
        if setting.startswith("shifted")
    }
    for number, setting in enumerate(dict.fromkeys(setting for setting, _, _ in every)):
        for kind, style in (("iid", "-"), ("AR(0.9)", "--")):
            points = sorted(
                (sizes[kind, draws], 100 * float(_ours_or_equal(who)["rate"]))
                for (s, k, draws), who in every.items()
                if s == setting and k == kind
            )
            label = _names(setting)[0] if kind == "iid" else None
            axes.plot(
                *zip(*points, strict=True), style, color=f"C{number}", marker=".", label=label
            )
    axes.set(xscale="log", xlabel="effective draws", ylabel="found, in percent", ylim=(-3, 103))
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.set_xticks([500, 1000, 2000, 4000, 8000], ["500", "1,000", "2,000", "4,000", "8,000"])
    axes.minorticks_off()
    axes.legend(fontsize=8)
    with mpl.rc_context({"svg.hashsalt": "bayesmodels"}):
        figure.savefig(path, metadata={"Date": None})
