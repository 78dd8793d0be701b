"""`make mutants`: small faults in copies of the source, and whether a test sees each of them.

The list of mutants and its verdicts are in tools/mutants.json; `--seed` chooses another list over the packages, in
proportion to the places where a change is possible (tools/mutant_places.py). Everything happens in copies of the
checkout. The tests run once, with a witness at every place, which says what tests reach it; these run again on the
mutant, the nearest and fastest first, until one fails. Work that was interrupted goes on where it stopped: what is
known is under build/mutants. A survivor needs a test, or a reason in the list for why nobody can see the change.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.util import cache_from_source
from itertools import groupby
from pathlib import Path

from matrix import ROOT, copied
from mutant_places import Mutant, chosen, mutants_of

LIST = ROOT / "tools" / "mutants.json"
OUTPUT = ROOT / "build" / "mutants"
UNUSED = re.compile(r"tests/(gpu|project|papers/report|pictures|charts)/|_page|mouse|_looks|_gpu|gpu_")
WIDE = re.compile(r"tests/(cli|papers)/")  # slow: only for what the others let live
FILE_SECONDS = (8.0, 120.0)  # of CPU, of one file of tests at first, and for what lives after that
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
MOST_TESTS = 500  # for one mutant, and of so many files: their import takes time, too
MOST_FILES = 8
MOST_SECONDS = 3600.0
WITNESS = """
import json, os
import pytest
LOG, LIMIT, seen, spent = {log!r}, {limit}, set(), {{}}
def note(*what):
    with open(LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\\n")
def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if (number, test) not in seen:
        seen.add((number, test))
        note(test, number)
def pytest_runtest_setup(item):
    file = item.nodeid.partition("::")[0]
    if spent.get(file, 0.0) > LIMIT:
        note(file, "cut")
        pytest.skip("enough of this file")
@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    file, before = item.nodeid.partition("::")[0], sum(os.times()[:4])
    done = yield
    spent[file] = spent.get(file, 0.0) + sum(os.times()[:4]) - before
    return done
def pytest_runtest_logreport(report):
    if report.when == "call" and report.outcome == "passed":
        note(report.nodeid, report.duration)
"""

# A failure is enough: nobody reads the smallest example that fails.
NO_SHRINKING = """
from hypothesis import Phase
settings.register_profile("mutants", settings.default, phases=[Phase.explicit, Phase.generate])
settings.load_profile("mutants")
"""


def witnessed(source: bytes, numbered: Iterable[tuple[int, Mutant]]) -> bytes:
    """A file that says of each of its mutants when its place is reached, and is the same otherwise."""
    spans = [(start, end, number) for number, mutant in numbered for start, end in mutant.reached]
    for start, end, number in sorted(spans, reverse=True):
        hit = f'(__import__("tauforge_witness").hit({number}) or '.encode()
        source = source[:start] + hit + source[start:end] + b")" + source[end:]
    return source


def pytest_run(python: Path, where: Path, options: Sequence[str], limit: float) -> tuple[int, str]:
    """Exit status and output of pytest in a copy; 124 if it took longer than the limit."""
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", f"--basetemp={where / 'made'}", *options]
    output = where / "output.txt"
    with output.open("w", encoding="utf-8") as file:
        running = subprocess.Popen(
            command,
            cwd=where,
            # no test needs a plugin, and they load slowly; a killer must be there in the next run
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TAUFORGE_TURN": "0"},
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = running.wait(limit)
        except subprocess.TimeoutExpired:
            status = 124
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)  # what a test has started, too
                running.wait()
    return status, output.read_text(encoding="utf-8", errors="replace")


class Reach:
    """What tests reach each mutant and how long they take, known from one run of each file of tests."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        digest = sha256("".join(f"{mutant.key}{mutant.start}" for mutant in mutants).encode()).hexdigest()[:8]
        self.mutants, self.log = mutants, OUTPUT / f"reach-{digest}.jsonl"
        self.seconds: dict[str, float] = {}
        self.tests: dict[int, set[str]] = defaultdict(set)

    def find(self, scratch: Path, late: bool, only: Sequence[str] = ()) -> None:
        """Runs files of tests, the first seconds of each or, if late, all of it, where it was not done yet.

        only: late files to run instead of all
        """
        self._read()
        files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
        files = [file for file in files if not UNUSED.search(file)]
        digests = {file: f"{sha256((ROOT / file).read_bytes()).hexdigest()} {late}" for file in files}
        wanted = [file for file in files if digests[file] not in self._done and late is self._late(file)]
        wanted = [file for file in wanted if not (late and only) or file in only]
        if not wanted:
            return
        where = scratch / f"witnessed {late}"
        python = copied(where, Path(sys.executable).resolve())
        for file in {mutant.file for mutant in self.mutants}:
            own = [(number, mutant) for number, mutant in enumerate(self.mutants) if mutant.file == file]
            (where / file).write_bytes(witnessed((ROOT / file).read_bytes(), own))
        (where / "src" / "tauforge_witness.py").write_text(
            WITNESS.format(log=str(self.log), limit=FILE_SECONDS[late]), encoding="utf-8"
        )
        for folder, group in groupby(wanted, key=lambda file: Path(file).parent):
            several = list(group)
            print(f"tests of {folder}: {len(several)} files", flush=True)
            status, _ = pytest_run(python, where, ["-p", "tauforge_witness", *several], MOST_SECONDS)
            with self.log.open("a", encoding="utf-8") as log:
                log.writelines(json.dumps([file, digests[file]]) + "\n" for file in several if status in (0, 1))
        self._read()

    def _late(self, file: str) -> bool:
        return bool(WIDE.match(file)) or file in self._cut

    def _read(self) -> None:
        self._done, self._cut = set[str](), set[str]()
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        for name, told in map(json.loads, lines):
            if told == "cut":
                self._cut.add(name)
            elif isinstance(told, str):
                self._done.add(told)
            elif isinstance(told, float):
                self.seconds[name] = told
            elif name:
                self.tests[told].add(name)

    def tests_for(self, number: int, budget: float) -> list[str]:
        """Tests to run for a mutant: in files with names like its own first, the fastest first, of so many seconds."""
        own = _words(self.mutants[number].file)
        known = sorted(
            (-len(own & _words(test.partition("::")[0])), self.seconds[test], test) for test in self._known(number)
        )
        taken: list[str] = []
        files: set[str] = set()
        for _, seconds, test in known:
            file = test.partition("::")[0]
            if file not in files and len(files) == MOST_FILES:
                continue
            budget -= seconds
            if taken and (budget < 0 or len(taken) == MOST_TESTS):
                break
            files.add(file)
            taken.append(test)
        return taken

    def _known(self, number: int) -> set[str]:
        return self.tests[number] & self.seconds.keys()


def _words(path: str) -> set[str]:
    return set(re.findall(r"[a-z]+", path)) - {"tests", "test", "src", "tauforge", "py"}


def verdict(mutant: Mutant, tests: Sequence[str], reach: Reach, python: Path, where: Path) -> str:
    """The test that fails on a mutant, or nothing: it survives."""
    if not tests:
        return ""
    path = where / mutant.file
    source = path.read_bytes()
    try:
        path.write_bytes(mutant.applied(source))
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
        limit = 120 + 10 * sum(reach.seconds[test] for test in tests)
        status, output = pytest_run(python, where, ["-x", "-rfE", *tests], limit)
    finally:
        path.write_bytes(source)
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
    named = FAILED.search(output) if status else None
    words = {0: "", 124: "does not end"}
    return named[1] if named else words.get(status, f"pytest ends with {status}")


def listed() -> tuple[list[Mutant], dict[str, str]]:
    """The mutants of the list that the sources still have, and reasons for survivors by their keys."""
    rows = json.loads(LIST.read_text(encoding="utf-8"))["mutants"]
    sources = {row["file"]: ROOT / row["file"] for row in rows}
    known = {m.key: m for file, path in sources.items() if path.exists() for m in mutants_of(file, path.read_bytes())}
    for row in rows:
        if row["key"] not in known:
            print(f"no longer in the sources: {row['key']}")
    return [known[row["key"]] for row in rows if row["key"] in known], {
        row["key"]: row["reason"] for row in rows if "reason" in row
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="choose another list by this seed")
    parser.add_argument("--count", type=int, default=100, help="mutants of another list, default 100")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests for a mutant, default 60")
    parser.add_argument("--late", nargs="*", default=(), help="slow files of tests for survivors, default all")
    parser.add_argument("--show", action="store_true", help="print the mutants and run nothing")
    given = parser.parse_args()
    mutants, reasons = listed() if given.seed is None else (chosen(given.seed, given.count, ROOT), {})
    if given.show:
        for mutant in mutants:
            print(f"{mutant.file}:{mutant.line} {mutant.kind}: {mutant.was} -> {mutant.new}")
        return 0
    os.nice(10)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    known_at = OUTPUT / "killed.json"
    killed: dict[str, str] = json.loads(known_at.read_text(encoding="utf-8")) if known_at.exists() else {}
    with tempfile.TemporaryDirectory(prefix="tauforge-") as scratch:
        reach = Reach(mutants)
        where = Path(scratch) / "mutated"
        python = copied(where, Path(sys.executable).resolve())
        with (where / "tests" / "conftest.py").open("a", encoding="utf-8") as file:
            file.write(NO_SHRINKING)
        tried: dict[str, set[str]] = defaultdict(set)
        for late in (False, True):
            reach.find(Path(scratch), late, given.late)
            for number, mutant in enumerate(mutants):
                if mutant.key in killed:
                    continue
                reach.tests[number] -= tried[mutant.key]
                tests = reach.tests_for(number, given.budget)
                tried[mutant.key].update(tests)
                by = verdict(mutant, tests, reach, python, where)
                print(f"{number} {mutant.key} {by or 'SURVIVES'}", flush=True)
                if by:
                    killed[mutant.key] = by
                    known_at.write_text(json.dumps(killed, indent=0), encoding="utf-8")
        # A test that fails on the source as it is kills nothing.
        killers = sorted({killed[m.key] for m in mutants if killed.get(m.key) in reach.seconds})
        _, output = pytest_run(python, where, ["-rfE", *killers], MOST_SECONDS)
        failing = set(FAILED.findall(output))
        for key in [key for key, by in killed.items() if by in failing]:
            print(f"no verdict: {killed.pop(key)} fails without the mutant, too: {key}")
        known_at.write_text(json.dumps(killed, indent=0), encoding="utf-8")
    return tell(mutants, killed, reasons)


def tell(mutants: Sequence[Mutant], killed: dict[str, str], reasons: dict[str, str]) -> int:
    """Writes the list with its verdicts and prints the rate; 1 where a survivor has no reason."""
    rows = []
    for mutant in mutants:
        told = {"killed by": killed[mutant.key]} if mutant.key in killed else {"reason": reasons.get(mutant.key, "")}
        rows.append(mutant.row | told)
    count = sum(mutant.key in killed for mutant in mutants)
    text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    LIST.write_text(f'{{"killed": {count}, "of": {len(rows)}, "mutants": [\n{text}\n]}}\n', encoding="utf-8")
    print(f"{count} of {len(rows)} mutants killed ({100 * count / len(rows):.0f} %)")
    return int(any(row.get("reason") == "" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
