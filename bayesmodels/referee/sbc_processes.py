"""Chunks of simulations, in this process or in several."""

from __future__ import annotations

import pickle
from collections.abc import Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from bayesmodels.belief.declaring import is_pymc
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.processes import side_by_side
from bayesmodels.referee.sbc import Setup, Simulations, Simulator

_KEPT: list[Simulations] = []
"""What a process keeps from one chunk to the next."""


def simulator_of(setup: Setup) -> Simulations:
    """Return what ranks the quantities of a belief, or of a PyMC model."""
    if not is_pymc(setup.model):
        return Simulator(setup)
    from bayesmodels.referee.sbc_models import ModelSimulator

    return ModelSimulator(setup)


def results(
    setup: Setup, simulator: Simulations, chunks: Sequence[list[int]], cores: int
) -> Generator[tuple[list[int], tuple[Array, int]]]:
    """Yield chunks with what `ranks` of the simulator returns, in any order."""
    if cores == 1 or len(chunks) <= 1:
        for chunk in chunks:
            yield chunk, simulator.ranks(chunk)
        return
    import cloudpickle  # what PyMC sends models with: functions of scripts and closures, too

    laws: list[tuple[Any, type, Any]] = []
    if is_pymc(setup.model):
        from bayesmodels.posteriors.new_data import laws_of_ones_own

        laws = [
            law for m in (setup.model, setup.simulate) if is_pymc(m) for law in laws_of_ones_own(m)
        ]
    try:
        packed = cloudpickle.dumps((setup, laws))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise DataError(
            f"cores: model, design and simulate must be such that other processes can get them "
            f"({error}). Use cores=1."
        ) from None
    try:
        yield from side_by_side(_ranks, chunks, min(cores, len(chunks)), _begin, (packed,))
    except BrokenProcessPool:
        raise DataError(
            "cores: other processes could not start. In a script put the call below "
            "`if __name__ == '__main__':`, or use cores=1."
        ) from None


def _begin(packed: bytes) -> None:
    """Prepare this process for `_ranks`."""
    setup, laws = pickle.loads(packed)  # noqa: S301 - what the parent has packed
    for by_class, kind, function in laws:
        by_class.register(kind)(function)
    _KEPT[:] = [simulator_of(setup)]


def _ranks(numbers: Sequence[int]) -> tuple[Array, int]:
    return _KEPT[0].ranks(numbers)
