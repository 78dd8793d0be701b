"""`make check` and `make times`: what is run for a change, and that the seconds are those of today's files."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

import check
from check import CHEAP_SECONDS, ROOM_SECONDS, beside, chosen
from times import SECONDS, Clock

STALE = 0.1  # the share of files whose seconds may be unknown, or that may be gone
TESTS = {
    "tests/motion/test_turn.py": 3.0,
    "tests/motion/test_line.py": 2.0,
    "tests/robots/test_arm.py": ROOM_SECONDS - 1.0,
    "tests/robots/serial/test_energy.py": 2.0,
    "tests/papers/report/test_page.py": 4.0,
    "tests/project/test_docs.py": 60.0,
    "tests/test_units.py": CHEAP_SECONDS,
}


@pytest.mark.parametrize(
    ("changed", "own", "near"),
    [
        ("src/tauforge/motion/turn.py", {"tests/motion/test_turn.py"}, {"tests/motion/test_line.py"}),
        ("src/tauforge/robots/serial/arm.py", set(), {"tests/robots/serial/test_energy.py"}),
        ("src/tauforge/units.py", {"tests/test_units.py"}, set()),
        ("src/tauforge_papers/report/page.py", {"tests/papers/report/test_page.py"}, set()),
        ("tests/motion/test_line.py", {"tests/motion/test_line.py"}, {"tests/motion/test_turn.py"}),
        ("docs/speed.md", set(), {"tests/project/test_docs.py"}),
    ],
)
def test_a_change_leads_to_its_tests(changed, own, near):
    assert beside([changed], TESTS) == (own, near)


def test_support_leads_to_the_tests_that_import_it(tmp_path, monkeypatch):
    monkeypatch.setattr(check, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_units.py").write_text("from support.shells import shell\n")
    (tmp_path / "tests" / "test_text.py").write_text("from support.shells_and_more import shell\n")
    tests = ["tests/test_text.py", "tests/test_units.py"]
    assert beside(["tests/support/shells.py"], tests) == ({"tests/test_units.py"}, set())


def test_tests_of_the_change_come_first_and_cheap_ones_always():
    files, without_room = chosen(["src/tauforge/motion/turn.py", "tests/robots/test_arm.py"], TESTS)
    assert files == ["tests/motion/test_turn.py", "tests/motion/test_line.py", "tests/test_units.py"]
    assert without_room == ["tests/robots/test_arm.py"]


def test_seconds_are_added_up_by_file(monkeypatch):
    times = iter([0.0, 1.5, 2.0, 2.25])
    monkeypatch.setattr("times.spent", lambda: next(times))
    clock = Clock()
    for _ in range(2):
        around = clock.pytest_runtest_protocol(SimpleNamespace(nodeid="tests/test_units.py::test_all"))
        next(around)
        with pytest.raises(StopIteration):
            around.send(True)
    assert clock.seconds == {"tests/test_units.py": 1.75}


def test_the_measured_files_are_those_of_today():
    """`make times` renews them."""
    measured, today = set(json.loads(SECONDS.read_text(encoding="utf-8"))), set(check.known_seconds())
    assert len(measured ^ today) <= STALE * len(today), f"gone: {measured - today}, not measured: {today - measured}"
