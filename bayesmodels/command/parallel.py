"""Validation of several models side by side, one process for each core."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from bayesmodels.command import catalog
from bayesmodels.numerics.processes import side_by_side
from bayesmodels.report import validate


def validate_examples(
    examples: Sequence[tuple[str, str]],
    *,
    seed: int,
    draws: int,
    chains: int,
    progress: Callable[[str], object] = lambda _: None,
    each: Callable[[dict[str, Any]], object] = lambda _: None,
) -> list[dict[str, Any]]:
    """Validate models of the catalogue, each on a data set; return what each report says.

    Most of the time goes into compiling, on one core; models therefore run side by side, all with
    the same seed. `progress` is told, in words, what is being waited for, and `each` what a report
    says as soon as it is there.
    """
    workers = min(len(examples), os.cpu_count() or 1)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    progress(_checking(examples))
    check = partial(_one, seed=seed, draws=draws, chains=chains)
    with closing(side_by_side(check, examples, workers)) as results:
        for example, row in results:
            rows[example] = row
            each(row)
            left = [e for e in examples if e not in rows]
            progress(_checking(left) if left else "done")
    return [rows[e] for e in examples]


def _checking(examples: Sequence[tuple[str, str]]) -> str:
    return f"checking {', '.join(f'{name} ({data})' for name, data in examples)}"


def _one(example: tuple[str, str], *, seed: int, draws: int, chains: int) -> dict[str, Any]:
    start = time.perf_counter()
    name, dataset = example
    belief, data, source = catalog.example(name, dataset=dataset)
    report = validate(belief, data, draws=draws, tune=draws, chains=chains, rng=seed, source=source)
    about = {"model": name, "dataset": dataset}
    return {**about, **report.to_dict(), "seconds": time.perf_counter() - start}
