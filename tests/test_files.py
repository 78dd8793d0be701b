"""Files that are replaced whole: who can read them, before and after."""

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
