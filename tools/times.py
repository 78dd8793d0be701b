"""`make times`: seconds of CPU that every file of tests takes, with what it starts, into tests/seconds.json.

`make test` begins with the longest files, `make check` takes the cheap ones. One test after the other, half an hour.
Arguments go to pytest: `tools/times.py tests/cli` renews the seconds of a part.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SECONDS = ROOT / "tests" / "seconds.json"


class Clock:
    """A pytest plugin that adds up the seconds by file: of its import, its fixtures and its tests."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
        before = spent()
        report = yield
        if isinstance(collector, pytest.Module):
            self.seconds[collector.nodeid] += spent() - before
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        before = spent()
        done = yield
        self.seconds[item.nodeid.partition("::")[0]] += spent() - before
        return done


def spent() -> float:
    """Seconds of CPU of this process and of its children that have ended."""
    return sum(os.times()[:4])


def main() -> int:
    """Runs the tests and writes their seconds; files that are gone are dropped."""
    clock = Clock()
    status = pytest.main(["-p", "no:cacheprovider", *sys.argv[1:]], plugins=[clock])
    known = json.loads(SECONDS.read_text(encoding="utf-8")) if SECONDS.exists() else {}
    known |= {file: round(seconds, 1) for file, seconds in clock.seconds.items()}
    kept = {file: seconds for file, seconds in sorted(known.items()) if (ROOT / file).exists()}
    SECONDS.write_text(json.dumps(kept, indent=0) + "\n", encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
