"""Files are written whole or not at all."""

import errno
import fcntl
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import bayesmodels as bm
from bayesmodels.draws import save as save_draws
from bayesmodels.store import files
from bayesmodels.store.files import atomic_write
from tests.report import samples


def test_an_error_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_half():
        with atomic_write(path) as part:
            part.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_and_folders_replace_the_old_ones(tmp_path):
    with atomic_write(tmp_path / "a.txt") as part:
        part.write_text("new")
    for content in ("one", "two"):
        with atomic_write(tmp_path / "b") as part:
            part.mkdir()
            (part / content).write_text(content)
    assert (tmp_path / "a.txt").read_text() == "new"
    assert [p.name for p in (tmp_path / "b").iterdir()] == ["two"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b"]


def test_what_is_flushed_may_be_written_to(tmp_path, monkeypatch):
    """Windows flushes no file that was opened to be read, and opens no folder."""
    flushed = []

    def fsync(number):
        writable = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        folder = stat.S_ISDIR(os.fstat(number).st_mode)
        assert writable != folder
        flushed.append(folder)

    monkeypatch.setattr(os, "fsync", fsync)
    with atomic_write(tmp_path / "a.txt") as part:
        part.write_text("new")
    with atomic_write(tmp_path / "b") as part:
        part.mkdir()
        (part / "c").write_text("new")
    assert flushed == [False, True] * 2


# --- full and forbidden disks ---------------------------------------------------------------------

LAW = bm.BetaBernoulli(5, 19)
WRITE = {
    "belief.json": lambda path: bm.save(LAW, path),
    "draws.nc": lambda path: save_draws(LAW.to_datatree(draws=10), path),
    "report.html": lambda path: samples.SAMPLES["coin"]().to_html(path),
}
WORDS = {
    errno.ENOSPC: "the disk is full. Make room",
    errno.EDQUOT: "the disk is full. Make room",
    errno.EROFS: "may not be written to. Give another",
    errno.EACCES: "may not be written to. Give another",
    errno.EIO: "Input/output error",
}


def failing(number):
    def fail(*_args, **_kwargs):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", WORDS)
@pytest.mark.parametrize(
    "place", [(files.os, "fsync"), (files.tempfile, "mkdtemp"), (Path, "replace")]
)
def test_a_disk_that_fails_is_named_and_the_old_file_stays(place, number, tmp_path, monkeypatch):
    path = tmp_path / "belief.json"
    path.write_text("old")
    monkeypatch.setattr(*place, failing(number))
    with pytest.raises(bm.DataError, match=WORDS[number]) as caught:
        WRITE["belief.json"](path)
    assert str(caught.value).startswith(f"{path}: cannot be written: ")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


LIMITED = """
import resource, signal, sys
from pathlib import Path
from tests.store.test_files import WRITE
path = Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing fails as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    WRITE[path.name](path)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_draws_that_the_disk_has_no_room_for_are_not_begun(tmp_path, monkeypatch):
    path = tmp_path / "draws.nc"
    path.write_text("old")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    with pytest.raises(bm.DataError, match=r"draws\.nc: cannot be written: the disk is full"):
        WRITE["draws.nc"](path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["belief.json", "report.html"])
def test_a_disk_that_gets_full_while_it_is_written_to(name, tmp_path):
    path = tmp_path / name
    path.write_text("old")
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert run.stdout.startswith(f"DataError {path}: cannot be written: "), run.stderr
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(bm.DataError, match=r"a\.json: cannot be written: there is no folder"):
        bm.save(LAW, tmp_path / "nowhere" / "a.json")


def test_the_longest_name_has_room(tmp_path):
    path = tmp_path / ("a" * 250 + ".json")
    bm.save(LAW, path)
    assert bm.load(path) == LAW


# --- kill -9 --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_kill_9_leaves_the_old_file_or_the_new_one(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "tests.kill_nine", str(tmp_path), "200"],
        capture_output=True, text=True, timeout=900, check=False, env={**os.environ, **ALONE},
    )  # fmt: skip
    print(run.stdout)  # noqa: T201 - the numbers behind the test
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["whole"] == found["killed"] == 200
    assert found["while writing"] >= 50, "most kills must not hit a pause"
    assert found["whole, written in place"] < 40, "the check must see what is cut off"


ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # forking wants a single thread
