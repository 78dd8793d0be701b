"""Files that are replaced whole or not at all, and who can read them before and after."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tauforge.errors import ModelError
from tauforge.files import written_whole


@pytest.mark.parametrize(("mask", "fresh"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_file_is_never_more_open_than_the_one_it_replaces(tmp_path: Path, mask: int, fresh: int) -> None:
    before = os.umask(mask)
    try:
        for old, new in ((None, fresh), (0o600, 0o600), (0o640, 0o640), (0o666, 0o666)):
            path = tmp_path / "private.txt"
            path.unlink(missing_ok=True)
            if old is not None:
                path.write_text("old")
                path.chmod(old)
            with written_whole(path) as file:
                meanwhile = os.fstat(file.fileno()).st_mode & 0o777
                file.write(b"secret")
            assert path.stat().st_mode & 0o777 == new
            assert meanwhile & ~new == 0
    finally:
        os.umask(before)


def test_pipes_and_devices_are_not_replaced(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe.csv", tmp_path / "link.csv"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(ModelError, match=r"is not a regular file\. Give the name of a file"), written_whole(path):
            pass
    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [link, pipe]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), written_whole(path) as file:
        file.write(b"half" * (1 // 0))
    assert path.read_text() == "old"

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match="cannot be written: No space left on device"), written_whole(path) as file:
        file.write(b"half")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.txt"]
    with written_whole(path) as file:
        file.write(b"new")
    assert path.read_text() == "new"


def test_links_are_written_through_and_modes_kept(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o400)
    link.symlink_to(real)
    with written_whole(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o400


def test_places_where_no_file_can_be(tmp_path):
    for path, message in (
        (tmp_path / "none" / "a", "its folder does not exist. Make .*none first"),
        (tmp_path, "the path is a folder"),
        (tmp_path / ("x" * 300), "File name too long"),
    ):
        with pytest.raises(ModelError, match=f"cannot be written: {message}"), written_whole(path):
            pass
