"""Files are written whole or not at all."""

import pytest

from bayesmodels.files import whole


def test_an_error_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_half():
        with whole(path) as part:
            part.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_and_folders_replace_the_old_ones(tmp_path):
    with whole(tmp_path / "a.txt") as part:
        part.write_text("new")
    for content in ("one", "two"):
        with whole(tmp_path / "b") as part:
            part.mkdir()
            (part / content).write_text(content)
    assert (tmp_path / "a.txt").read_text() == "new"
    assert [p.name for p in (tmp_path / "b").iterdir()] == ["two"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b"]
