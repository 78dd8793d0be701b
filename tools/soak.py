"""`make soak`: the tests of the faults the package must survive, at many times their usual counts, into a dated JSON.

A test says by `@pytest.mark.fault(row)` which row of the table of faults it belongs to.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "soak"
TIMES = "TAUFORGE_SOAK"


class Record:
    """A pytest plugin that keeps, for each row of the table, which tests ran, how long, and how they ended."""

    def __init__(self) -> None:
        self.rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
        self._row_of: dict[str, int] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            marker = item.get_closest_marker("fault")
            if marker:
                self._row_of[item.nodeid] = int(marker.args[0])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            row = self._row_of[report.nodeid]
            test = {"test": report.nodeid, "outcome": report.outcome, "seconds": round(report.duration, 2)}
            self.rows[row].append(test)


def main() -> int:
    times = os.environ.setdefault(TIMES, "50")
    import pytest

    record = Record()
    status = pytest.main(["-m", "fault", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[record])
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    now = datetime.now(UTC)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now.date()}.json"
    before = json.loads(path.read_text())["rows"] if path.exists() else {}
    rows = {
        str(row): {
            "passed": all(test["outcome"] == "passed" for test in tests),
            "seconds": round(sum(test["seconds"] for test in tests), 1),
            "commit": commit.stdout.strip(),
            "times": int(times),
            "tests": tests,
        }
        for row, tests in record.rows.items()
    }
    report = {
        "date": now.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        # rows that did not run now keep what they had earlier that day
        "rows": dict(sorted({**before, **rows}.items(), key=lambda item: int(item[0]))),
    }
    path.write_text(json.dumps(report, indent=1) + "\n")
    for row, result in rows.items():
        print(f"fault {row}: {'survived' if result['passed'] else 'NOT survived'}, {result['seconds']} s")
    print(path.relative_to(ROOT))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
