"""`make matrix`: the whole suite in every surrounding that a machine or a user may bring, and a table of how it went.

One configuration after the other, each with its output under build/matrix. Names choose some of them, and several that
are joined by + make one run: `tools/matrix.py width-128+shuffled clean`. What follows `--` goes to pytest.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tauforge.kernels.cpu.engine import VECTOR_BITS, host

ROOT = Path(__file__).parent.parent
OUTPUT = ROOT / "build" / "matrix"
NOBODY = 65534
SEED = 12
UNUSUAL = "with a blank, ü and ß"  # in the names of folders
HOSTILE = {
    "FORCE_COLOR": "1",
    "COLUMNS": "40",
    "TERM": "dumb",
    "MPLBACKEND": "TkAgg",
    "PYTHONHASHSEED": "random",
    "PYTHONWARNINGS": "default",
    "PYTHONUNBUFFERED": "1",
    "TAUFORGE_CACHE": "relative",
    "XDG_CACHE_HOME": "relative",
}


@dataclass(frozen=True)
class Configuration:
    """How one run differs from a plain one. why_not: says why this machine cannot have it, or nothing."""

    variables: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    kept: tuple[str, ...] | None = None  # of the caller's variables; None for all
    folder: str = ""  # of a copy of the checkout, where the run is in one
    as_nobody: bool = False
    why_not: Callable[[], str] = str


def narrower(bits: int) -> Configuration:
    return Configuration({VECTOR_BITS: str(bits)}, why_not=lambda: "" if bits <= _widest() else "not this processor")


def elsewhere(language: str) -> Configuration:
    variables = {"LC_ALL": language, "LANG": language, "TZ": "Pacific/Chatham"}
    return Configuration(variables, why_not=lambda: "" if _has(language) else f"no locale: localedef {language}")


CONFIGURATIONS = {
    "plain": Configuration(),
    "width-128": narrower(128),
    "width-256": narrower(256),
    "width-512": narrower(512),
    "kernels-off": Configuration({"TAUFORGE_KERNELS": "0"}),
    "one-thread": Configuration({"TAUFORGE_THREADS": "1"}),
    "shuffled": Configuration(options=("--random-order", f"--random-order-seed={SEED}")),
    "clean": Configuration(kept=("PATH",)),
    "C-locale": elsewhere("C"),
    "turkish": elsewhere("tr_TR.UTF-8"),
    "latin-1": elsewhere("de_DE.ISO-8859-1"),
    "hostile": Configuration(HOSTILE, folder=UNUSUAL),
    "nobody": Configuration(
        kept=("PATH",), folder="readable", as_nobody=True, why_not=lambda: "" if os.geteuid() == 0 else "needs root"
    ),
}


def combined(names: str) -> Configuration:
    """All of these at once: width-128+shuffled. KeyError for an unknown name."""
    parts = [CONFIGURATIONS[name] for name in names.split("+")]
    limited = [part.kept for part in parts if part.kept is not None]
    return Configuration(
        {name: value for part in parts for name, value in part.variables.items()},
        tuple(option for part in parts for option in part.options),
        min(limited, key=len, default=None),
        next((part.folder for part in parts if part.folder), ""),
        any(part.as_nobody for part in parts),
        lambda: next(filter(None, (part.why_not() for part in parts)), ""),
    )


def _widest() -> int:
    os.environ.pop(VECTOR_BITS, None)
    return host().vector_bits


def _has(language: str) -> bool:
    plain = re.compile(r"[^a-z0-9_.]")
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.lower().split()
    return plain.sub("", language.lower()) in {plain.sub("", name) for name in listed}


def run(name: str, chosen: Configuration, workers: str, more: Sequence[str]) -> tuple[str, ...]:
    """A row of the table."""
    if reason := chosen.why_not():
        return (name, "", "", "", "", reason)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tauforge-") as scratch:
        environment = {key: os.environ[key] for key in chosen.kept or os.environ if key in os.environ}
        environment |= chosen.variables
        python, where = Path(sys.executable), ROOT
        if chosen.folder:
            Path(scratch).chmod(0o755)
            where = Path(scratch) / chosen.folder / "tauforge"
            temporary = Path(scratch) / chosen.folder / "tmp"
            interpreter = Path(sys.executable).resolve()
            if chosen.as_nobody:
                interpreter = readable_python(Path(scratch) / "python")
                environment["LD_LIBRARY_PATH"] = str(interpreter.parent.parent / "lib")
            python = copied(where, interpreter)
            temporary.mkdir()
            temporary.chmod(0o1777)
            environment["TMPDIR"] = str(temporary)
        command = [
            python,
            "-m",
            "pytest",
            "-n",
            workers,
            "--dist",
            "loadfile",
            "-p",
            "no:cacheprovider",
            "-rfEs",
            *chosen.options,
            *more,
        ]
        log = OUTPUT / f"{name}.txt"
        started = time.monotonic()
        with log.open("w", encoding="utf-8") as file:
            done = subprocess.run(
                command,
                cwd=where,
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
                **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if chosen.as_nobody else {}),
            )
        seconds = time.monotonic() - started
    return (
        name,
        *counts(log.read_text(encoding="utf-8", errors="replace")),
        f"{seconds:.0f}",
        f"exit {done.returncode}",
    )


def counts(output: str) -> tuple[str, str, str]:
    """Passed, failed and skipped, from pytest's last line."""
    last = output.rstrip().rsplit("\n", 1)[-1]
    found = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|errors?|skipped)", last)}
    failed = sum(number for word, number in found.items() if word.startswith(("failed", "error")))
    return str(found.get("passed", 0)), str(failed), str(found.get("skipped", 0))


def copied(folder: Path, interpreter: Path) -> Path:
    """The checkout at another place, with an environment that borrows what is installed here; its interpreter."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    libraries = folder / ".venv" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    programs = folder / ".venv" / "bin"
    libraries.mkdir(parents=True)
    programs.mkdir()
    settings = f"home = {interpreter.parent}\ninclude-system-site-packages = false\n"  # Python's default is true
    (folder / ".venv" / "pyvenv.cfg").write_text(settings, encoding="utf-8")
    (programs / "python").symlink_to(interpreter)
    (programs / "tauforge").write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m tauforge "$@"\n', encoding="utf-8")
    (programs / "tauforge").chmod(0o755)
    own = next(path for path in sys.path if path.endswith("site-packages"))
    source = str(folder / "src")
    # Python reads this file in the encoding of the locale, which may be ASCII.
    borrowed = f"import sys, site; sys.path.append({source!a}); site.addsitedir({own!a})\n"
    (libraries / "borrowed.pth").write_text(borrowed, encoding="utf-8")
    return programs / "python"


def readable_python(folder: Path) -> Path:
    """A copy of this interpreter without its packages: the one in use may lie in a home that others cannot enter."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    base = Path(sys.base_prefix)
    unneeded = shutil.ignore_patterns("site-packages", "test", "tests", "config-*", "__pycache__", "idlelib")
    shutil.copytree(base / "lib" / version, folder / "lib" / version, ignore=unneeded)
    for library in (base / "lib").glob("libpython*.so*"):
        shutil.copy(library, folder / "lib")
    (folder / "bin").mkdir()
    return Path(shutil.copy(base / "bin" / version, folder / "bin"))


def main() -> int:
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CONFIGURATIONS)}; default all")
    parser.add_argument("-n", default="2", dest="workers", help="processes of pytest, default 2")
    chosen = parser.parse_args(given[:cut])
    try:
        configurations = {name: combined(name) for name in chosen.names or CONFIGURATIONS}
    except KeyError as unknown:
        parser.error(f"no configuration {unknown}; known: {', '.join(CONFIGURATIONS)}")
    rows = []
    for name, configuration in configurations.items():
        rows.append(run(name, configuration, chosen.workers, given[cut + 1 :]))
        print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    print("| configuration | passed | failed | skipped | seconds | |\n|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    return int(any(row[-1].startswith("exit") and row[-1] != "exit 0" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
