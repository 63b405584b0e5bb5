"""Kill a writing process at random moments, and look whether the file is whole.

``python -m tests.kill_nine FOLDER KILLS`` forks a child for each kill, which writes one file again
and again, and sends it SIGKILL at a random moment. The file must hold what the child said to have
written last, or what it was about to write next, all of it. Writing in place is the control.
"""

import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import xarray as xr

import bayesmodels as bm
from bayesmodels.draws import save as save_draws
from bayesmodels.referee import checkpoint
from bayesmodels.scale.checkpoint import Checkpoint
from bayesmodels.scale.folding import Fold
from bayesmodels.store import loads
from bayesmodels.store.files import atomic_write

SIZE = 20_000  # numbers in a file


def page_text(number):
    return f"<!DOCTYPE html>{' '.join([str(number)] * SIZE)}</html>"


def write_page(path, number):
    with atomic_write(path) as part:
        part.write_text(page_text(number), encoding="utf-8")


def write_in_place(path, number):
    path.write_text(page_text(number), encoding="utf-8")


def write_shard(path, number):
    bm.save(bm.statistics.CategoricalStatistic(np.full(SIZE, float(number))), path)


def write_belief(path, number):
    bm.save(bm.BetaBernoulli(np.full(SIZE, float(number)), 1), path)


def write_draws(path, number):
    values = {"theta": (("chain", "draw"), np.full((2, SIZE), float(number)))}
    save_draws(xr.DataTree.from_dict({"posterior": xr.Dataset(values)}), path)


def write_simulations(path, number):
    checkpoint.store(path, {"seed": np.asarray(1)}, np.full((SIZE, 2), float(number)))


def write_pass(path, number):
    state = object.__new__(Checkpoint)
    state._path, state._of = path, {}
    part = bm.statistics.CategoricalStatistic(np.full(SIZE, float(number)))
    state.write(Fold([part]), (number, number), number)


def read_page(path):
    text = path.read_text("utf-8")
    if not (text.startswith("<!DOCTYPE html>") and text.endswith("</html>")):
        raise ValueError(path)
    return text.removeprefix("<!DOCTYPE html>").removesuffix("</html>").split()


def read_draws(path):
    with h5py.File(path) as file:
        return file["posterior/theta"][:].ravel()


KINDS = {
    "report.html": (write_page, read_page),
    "shard.json": (write_shard, lambda path: bm.load(path).counts),
    "belief.json": (write_belief, lambda path: bm.load(path).alpha),
    "draws.nc": (write_draws, read_draws),
    "simulations.json": (write_simulations, lambda path: checkpoint.load(path)["rows"].ravel()),
    "fit.pass": (
        write_pass, lambda path: loads(json.loads(path.read_text("utf-8"))["sums"][0]).counts,
    ),
}  # fmt: skip
CONTROL = {"in-place.html": (write_in_place, read_page)}


def written_by_the_dead(write, path, moment):
    """Let a child write until it is killed; return the last number that it finished."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        for number in itertools.count(1):
            write(path, number)
            os.write(theirs, b".")
    os.close(theirs)
    os.read(ours, 1)  # the first file is there
    begun = time.perf_counter()
    os.read(ours, 1)
    time.sleep(moment * 2 * (time.perf_counter() - begun))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    finished = 2
    while dots := os.read(ours, 65536):
        finished += len(dots)
    os.close(ours)
    return finished


def killed(kinds, kills, folder, rng):
    """Return how many files were whole, and how many kills came in the middle of writing."""
    good = amid = 0
    for kill in range(kills):
        name = list(kinds)[kill % len(kinds)]
        write, read = kinds[name]
        own = folder / f"{kill}"
        own.mkdir()
        last = written_by_the_dead(write, own / name, rng.random())
        amid += len(list(own.iterdir())) > 1
        try:
            found = np.asarray(read(own / name), dtype=float)
        except (OSError, ValueError):  # cut off
            continue
        good += bool(len(found) in (SIZE, 2 * SIZE) and found[0] in (last, last + 1))
        good -= bool((found != found[0]).any())
    return good, amid


def main(folder, kills):
    rng = np.random.default_rng(20261122)
    good, amid = killed(KINDS, kills, folder, rng)
    (control := folder / "control").mkdir()
    in_place, _ = killed(CONTROL, 40, control, rng)
    print(f"{good} of {kills} files whole, {amid} of them killed while they were written")  # noqa: T201
    found = {"whole": good, "killed": kills, "while writing": amid}
    print(json.dumps({**found, "whole, written in place": in_place}))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
