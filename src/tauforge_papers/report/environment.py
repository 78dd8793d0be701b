"""What a report was made with: versions, processor, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from tauforge import __version__

PACKAGES = ("numpy", "scipy", "llvmlite", "matplotlib", "plotly")


def environment() -> list[tuple[str, str]]:
    """Names and values, for people."""
    system = f"{platform.system()} {platform.machine()}"
    rows = [("tauforge", __version__), *((name, version(name)) for name in PACKAGES)]
    rows += [("Python", f"{platform.python_implementation()} {platform.python_version()}")]
    rows += [("processor", f"{_processor()}, {os.cpu_count()} logical cores"), ("system", system)]
    commit = _commit()
    return rows if commit is None else [*rows, ("commit", commit)]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _commit() -> str | None:
    """The commit of the checkout that holds this file; None if the package is installed, even in another checkout."""
    here = Path(__file__).resolve()

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here.parent), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)
        commit, changed = git("rev-parse", "--short=12", "HEAD"), git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}, with uncommitted changes" if changed else commit
