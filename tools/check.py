"""`make check`: the tests that two minutes have room for, those of what has changed since main and all cheap files.

Tests of the changed files come first, then those of their folders, the quickest first, as far as there is room. What
has no room is named: `make test` runs it. Seconds of CPU are those of tests/seconds.json (`make times`).
`tools/check.py COMMIT` looks for changes since another commit; --list only names the files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
SECONDS = ROOT / "tests" / "seconds.json"
CHEAP_SECONDS = 1.0  # of CPU, of one file
ROOM_SECONDS = 90.0  # of CPU, of what has changed
UNKNOWN_SECONDS = 5.0
ROOTS = {"src/tauforge": "tests", "src/tauforge_papers": "tests/papers", "tests": "tests"}


def changed_files(since: str) -> list[str]:
    """Files that differ from where this branch left another commit, and those that git does not know yet."""
    base = git("merge-base", "HEAD", since)[0]
    return sorted({*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")})


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def beside(changed: Iterable[str], tests: Iterable[str]) -> tuple[set[str], set[str]]:
    """Files of tests that are about these files by name or by what they import, and the others of their folders."""
    own, folders, words = set(), set(), set()
    for path in map(PurePosixPath, changed):
        root = next((root for root in ROOTS if path.is_relative_to(root)), None)
        if root is None:  # pages, tools and settings
            folders.add("tests/project")
            own.add(f"tests/project/test_{path.stem}.py")
            continue
        folder = ROOTS[root] / path.parent.relative_to(root)
        if path.is_relative_to("tests/support"):
            words.add(f"support.{path.stem} ")
        elif path.parent != PurePosixPath(root):
            folders.add(str(folder))
        own.add(str(path if root == "tests" else folder / f"test_{path.stem}.py"))
    tests = set(tests)
    own |= {test for test in tests for word in words if word in (ROOT / test).read_text(encoding="utf-8")}
    near = {test for test in tests if str(PurePosixPath(test).parent) in folders}
    return own & tests, near - own


def chosen(changed: Iterable[str], seconds: dict[str, float]) -> tuple[list[str], list[str]]:
    """Files of tests to run, and those beside the changes that have no room."""
    own, near = beside(changed, seconds)
    left = sorted(file for file, cost in seconds.items() if cost <= CHEAP_SECONDS)
    taken, room, without_room = [], ROOM_SECONDS, []
    for files in (own, near):
        for file in sorted(files, key=lambda file: (seconds[file], file)):
            if seconds[file] <= room:
                taken.append(file)
                room -= seconds[file]
            else:
                without_room.append(file)
    return [*taken, *(file for file in left if file not in taken)], without_room


def known_seconds() -> dict[str, float]:
    """Seconds of all files of tests that exist."""
    measured = json.loads(SECONDS.read_text(encoding="utf-8"))
    files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
    return {file: measured.get(file, UNKNOWN_SECONDS) for file in files}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("since", nargs="?", default="main")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    if subprocess.run(["git", "rev-parse", "-q", "--verify", given.since], cwd=ROOT, capture_output=True).returncode:
        parser.error(f"git knows no commit {given.since!r} here; make check SINCE=COMMIT names another")
    seconds = known_seconds()
    files, without_room = chosen(changed_files(given.since), seconds)
    print(f"{len(files)} of {len(seconds)} files of tests, {sum(seconds[file] for file in files):.0f} s of CPU")
    if without_room:
        print("no room for", *(f"{file} ({seconds[file]:.0f} s)" for file in without_room), sep="\n  ")
    if given.list:
        print(*files, sep="\n")
        return 0
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder", *files]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
