"""Mutants: what is changed and what is left alone, that a choice can be repeated, and what the list says."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import mutants
from mutant_places import PACKAGES, Mutant, chosen, mutants_of
from mutants import LIST, ROOT, WITNESS, Reach, pytest_run, verdict, witnessed

LOWEST_RATE = 0.9
FEWEST = 90  # of a hundred: a line that has changed takes its mutant along
SOURCE = '''"""A sum: 1 + 2."""
LIMIT = 1e-9

def share(values: list[float], most: float = 2.0) -> float:
    """Half + half: x[0]."""
    if len(values) < 2:
        raise ValueError(f"two or more, not {len(values) + 0}")
    if most < LIMIT:
        return -most
    return min(values[0] + sin(values[1]), most) / 2.0

class Thing:
    def __repr__(self) -> str:
        return "x" * (1 + 2)
'''
EXPECTED = {
    ("constant", "1e-9", "1.0000000000000002e-06"),
    ("guard", "len(values) < 2", "False"),
    ("comparison", "len(values) < 2", "len(values) <= 2"),
    ("guard", "most < LIMIT", "False"),
    ("comparison", "most < LIMIT", "most >= LIMIT"),
    ("sign", "-most", "(most)"),
    ("limit", "min(values[0] + sin(values[1]), most)", "(values[0] + sin(values[1]))"),
    ("sign", "values[0] + sin(values[1])", "values[0] - sin(values[1])"),
    ("term", "values[0] + sin(values[1])", "(values[0])"),
    ("index", "0", "1"),
    ("index", "1", "2"),
    ("sin/cos", "sin", "cos"),
    ("constant", "2.0", "4.0"),
}


def test_every_kind_of_change_is_found_and_no_text_is_touched():
    found = mutants_of("sum.py", SOURCE.encode())
    assert {(mutant.kind, mutant.was, mutant.new) for mutant in found} == EXPECTED
    assert len(found) == len(EXPECTED)
    for mutant in found:
        changed = mutant.applied(SOURCE.encode()).decode()
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
        assert mutant.text in SOURCE.splitlines()[mutant.line - 1]


def test_a_place_is_known_again_where_its_line_has_moved():
    before, after = (mutants_of("sum.py", text.encode()) for text in (SOURCE, "# a line more\n" + SOURCE))
    assert [mutant.key for mutant in before] == [mutant.key for mutant in after]
    assert len({mutant.key for mutant in before}) == len(before)


def test_a_choice_can_be_repeated_and_is_over_all_packages():
    first, second, other = (chosen(seed, 60, ROOT) for seed in (3, 3, 4))
    assert first == second
    assert first != other
    assert {Path(mutant.file).parts[2] for mutant in first} == set(PACKAGES)
    assert abs(len(first) - 60) <= 1


def test_witnesses_tell_what_is_reached_and_change_nothing(monkeypatch):
    """LIMIT is reached where it is used: the line that sets it runs when the module is imported, before any test."""
    found = mutants_of("sum.py", SOURCE.encode())
    constant = next(number for number, mutant in enumerate(found) if mutant.was == "1e-9")
    sine = next(number for number, mutant in enumerate(found) if mutant.was == "sin")
    reached: list[int] = []
    monkeypatch.setitem(sys.modules, "tauforge_witness", SimpleNamespace(hit=reached.append))
    space = {"sin": abs}
    exec(witnessed(SOURCE.encode(), [(number, found[number]) for number in (constant, sine)]), space)
    assert not reached
    assert space["share"]([3.0, 4.0], most=-1.0) == 1.0
    assert reached == [constant]
    assert space["share"]([3.0, 4.0], most=10.0) == 3.5
    assert reached == [constant, constant, sine]


def test_a_witness_leaves_a_file_after_so_many_seconds_of_the_processor(tmp_path, monkeypatch):
    """Not after so many that pass: on a busy machine most tests would not be reached."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    log = tmp_path / "log"
    (tmp_path / "tauforge_witness.py").write_text(WITNESS.format(log=str(log), limit=0.2), encoding="utf-8")
    works = "begun = time.process_time()\n    while time.process_time() < begun + 0.3: pass"
    for name, body in (("waits", "time.sleep(0.3)"), ("works", works)):
        text = f"import time\ndef test_first():\n    {body}\ndef test_last():\n    pass\n"
        (tmp_path / f"test_{name}.py").write_text(text, encoding="utf-8")
    options = ["-p", "tauforge_witness", "--rootdir=.", "test_waits.py", "test_works.py"]
    assert pytest_run(Path(sys.executable), tmp_path, options, 60.0)[0] == 0
    told = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [one for one, what in told if what == "cut"] == ["test_works.py"]
    ended = [one for one, what in told if isinstance(what, float)]
    assert ended == ["test_waits.py::test_first", "test_waits.py::test_last", "test_works.py::test_first"]


def test_a_mutant_dies_by_the_test_that_fails_and_the_source_is_restored(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # faster
    (tmp_path / "sum.py").write_text("def total(a, b):\n    return max(a + b, 0)\n", encoding="utf-8")
    tests = "from sum import total\ndef test_of_one():\n    assert total(1, 0) == 1\ndef test_of_two():\n"
    (tmp_path / "test_sum.py").write_text(tests + "    assert total(1, 2) == 3\n", encoding="utf-8")
    names = ["test_sum.py::test_of_one", "test_sum.py::test_of_two"]
    source = (tmp_path / "sum.py").read_bytes()
    by_kind = {mutant.kind: mutant for mutant in mutants_of("sum.py", source)}
    reach = Reach(list(by_kind.values()))
    reach.seconds = dict.fromkeys(names, 0.1)

    def judged(mutant: Mutant) -> str:
        return verdict(mutant, names, reach, Path(sys.executable), tmp_path)

    assert judged(by_kind["sign"]) == names[1]
    assert judged(by_kind["limit"]) == ""
    assert (tmp_path / "sum.py").read_bytes() == source


def test_nearest_and_fastest_tests_come_first_within_the_budget():
    reach = Reach(mutants_of("src/tauforge/motion/end_sum.py", SOURCE.encode()))
    reach.seconds = {
        "tests/motion/test_sum.py::a": 3.0,
        "tests/motion/test_sum.py::b": 1.0,
        "tests/motion/test_turn.py::c": 0.2,
        "tests/robots/test_arm.py::d": 0.1,
        "tests/robots/test_arm.py::e": 90.0,
    }
    expected = [
        f"tests/{name}" for name in ("motion/test_sum.py::b", "motion/test_sum.py::a", "motion/test_turn.py::c")
    ]
    reach.tests[0] = {*reach.seconds, "tests/motion/test_sum.py::fails_anyway"}
    assert reach.tests_for(0, 60.0) == [*expected, "tests/robots/test_arm.py::d"]
    assert reach.tests_for(0, 2.0) == expected[:1]
    assert reach.tests_for(1, 60.0) == []


def test_the_list_has_a_reason_for_every_survivor_and_the_rate_is_high():
    told = json.loads(LIST.read_text(encoding="utf-8"))
    rows = told["mutants"]
    survivors = [row for row in rows if "killed by" not in row]
    assert not [row["key"] for row in survivors if not row["reason"]]
    assert (told["of"], told["killed"]) == (len(rows), len(rows) - len(survivors))
    assert told["of"] >= FEWEST
    assert told["killed"] >= LOWEST_RATE * told["of"]
    assert all(row["file"].split("/")[2] in PACKAGES for row in rows)


def test_verdicts_are_written_with_the_reasons_of_before(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(mutants, "LIST", tmp_path / "mutants.json")
    made = mutants_of("sum.py", SOURCE.encode())[:3]
    killed = {made[0].key: "tests/test_sum.py::test"}
    assert mutants.tell(made, killed, {made[1].key: "nobody sees it"}) == 1  # the third has no reason
    told = json.loads((tmp_path / "mutants.json").read_text(encoding="utf-8"))
    assert (told["killed"], told["of"]) == (1, 3)
    assert [row.get("reason") for row in told["mutants"]] == [None, "nobody sees it", ""]
    assert "1 of 3 mutants killed (33 %)" in capsys.readouterr().out
