"""Files of wheels that the benchmarks read but that are not installed: downloaded once and kept in the cache folder."""

from __future__ import annotations

import fnmatch
import subprocess
import sys
import zipfile
from pathlib import Path

CACHE = Path(__file__).parent / "cache"


def unpacked(name: str, pattern: str) -> Path:
    """The folder with those files of the newest wheel of a project whose names match the pattern."""
    stem = name.replace("-", "_")
    wheels = sorted(CACHE.glob(f"{stem}-*.whl"))
    if not wheels:
        CACHE.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(CACHE), name]
        subprocess.run(command, check=True)
        wheels = sorted(CACHE.glob(f"{stem}-*.whl"))
    folder = CACHE / wheels[-1].stem
    if not folder.exists():
        with zipfile.ZipFile(wheels[-1]) as archive:
            archive.extractall(folder, fnmatch.filter(archive.namelist(), pattern))
    return folder
