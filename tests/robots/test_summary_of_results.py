"""Results at a prompt, by `print` and in a notebook: short tables with the numbers that matter, never dumped arrays."""

from __future__ import annotations

import inspect
import pydoc
import re
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from tauforge import analysis, designs, workspace
from tauforge.analysis.arm_identifiability import RANK_TOLERANCE
from tauforge.robots.summary import MOST_ROWS, array_cell, some_of
from tauforge.units import number

ROOT = Path(__file__).parents[2]
PARTS = ("", "analysis.", "control.", "designs.", "motion.", "sweeps.", "symbolic.", "workspace.")
PAPERS = ("tauforge_papers.published_comparison.", "tauforge_papers.derivation.")
MODULES = ("", *(f"tauforge.{part}" for part in PARTS), *PAPERS)
WIDEST, LONGEST = 130, 50  # characters of a line, lines
RIG, ARM, TWO = tf.load("motion-rig"), tf.load("puma560"), tf.load("planar-2r")
TIMES = np.linspace(0.0, 1.0, 101)
SWAY = tf.motion.PoseMotion(tf.motion.Sine([0, 0, 1, 0, 0, 0], [0.05, 0, 0.03, 0, 0.05, 0.1], 1.0, duration=1.0))
STATES = SWAY.sample(TIMES)


def documented():
    """The classes of the reference."""
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("api-*.md")))
    for name in re.findall(r"autoclass:: (\S+)", pages):
        found = [pydoc.locate(f"{module}{name}") for module in MODULES]
        yield next(place for place in found if place is not None)


def front():
    bounds = {"base_radius": (0.6, 1.2), "platform_radius": (0.3, 0.9), "z": (0.8, 1.2)}
    few = designs.states_around(RIG, 4)
    rng = np.random.default_rng(1)
    values, judged = rng.random((70, 3)), rng.random((70, 2))
    units = ("m", "m", "m")
    return designs.Front(
        RIG, few, tuple(bounds), units, values, ("condition", "force"), ("", "N"), (False, False), judged, judged, 90, 0
    )


RESULTS = {
    "sizing": lambda: analysis.size_actuators(RIG, TIMES, *STATES),
    "front": front,
    "base parameters": lambda: analysis.base_parameters(ARM),
    "comparison": lambda: analysis.compare(ARM, *analysis.random_states(ARM, 50)),
    "simplifications": lambda: analysis.assess(RIG, *STATES)[0],
    "worst forces": lambda: analysis.worst_leg_forces(RIG, STATES.position),
    "linearisation": lambda: tf.linearise(TWO, np.zeros(2), np.zeros(2), np.zeros(2)),
    "power": lambda: analysis.power_balance(RIG, *STATES, RIG.inverse_dynamics(*STATES)),
    "states": lambda: designs.states_around(RIG, 8),
    "legs": lambda: RIG.leg_motion(*STATES),
    "reactions": lambda: RIG.joint_reactions(*STATES),
    "limits": lambda: RIG.within_limits(STATES.position),
    "modes": lambda: RIG.assembly_modes(RIG.inverse_kinematics([0, 0, 1, 0, 0, 0]), starts=40),
    "sample": lambda: STATES,
    "summary": ARM.summary,
    "polar": lambda: workspace.polar(RIG),
    "explanation": lambda: workspace.explain(RIG, [0, 0, 1, 0, 0, 0]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_tables_of_a_page(name):
    result = RESULTS[name]()
    shown = repr(result)
    assert str(result) == shown
    assert "array(" not in shown
    assert "\n" in shown or isinstance(result, analysis.SimplificationErrors)
    lines = shown.splitlines()
    assert len(lines) <= LONGEST
    assert max(map(len, lines)) <= WIDEST
    if "\n" in shown:
        html = result._repr_html_()
        assert "<table>" in html
        assert "array(" not in html


def test_every_documented_result_has_a_text_of_its_own():
    """What NamedTuple and dataclass make dumps arrays."""
    small = {"Peak", "Crossing", "HoldingForce", "Axis"}  # a few numbers, on a line; an axis is no result
    seen = []
    for kind in documented():
        types = [of for base in kind.__mro__ for of in vars(base).get("__annotations__", {}).values()]
        arrays = any(re.search(r"\bArray\b", str(of)) for of in types)
        made = inspect.getmodule(kind.__repr__)
        if arrays and kind.__name__ not in small:
            seen.append(kind.__name__)
            assert made is not None, kind
            assert made.__name__.startswith("tauforge."), kind
            assert not hasattr(kind.__repr__, "__wrapped__"), kind
    assert {"Sizing", "Front", "BaseParameters", "LegMotions", "Map", "Recording", "Rollout"} <= set(seen)


def test_a_sizing_prints_its_tables():
    sizing = RESULTS["sizing"]()
    shown = str(sizing)
    assert shown == str(sizing.summary()) == repr(sizing.summary())
    assert shown.startswith("Sizing: All limits hold\n")
    for leg, force in enumerate(sizing.peak_force.value):
        (row,) = re.findall(rf"^{leg + 1} +(.*)$", shown, flags=re.MULTILINE)
        assert row.split()[0] == number(force)


def test_a_front_prints_some_designs_with_both_ends():
    found = front()
    shown = str(found).splitlines()
    assert shown[0] == "motion-rig: 70 of 90 designs are surpassed by no other; 70 are within limits"
    rows = [line.split() for line in shown if re.match(r"\d", line)]
    assert len(rows) == MOST_ROWS
    assert [rows[0][0], rows[-1][0]] == ["0", "69"]
    for row in rows:
        i = int(row[0])
        assert row[1:] == [number(x) for x in (*found.designs[i], *found.objectives[i])]


def test_base_parameters_print_their_combinations():
    """What is printed is what the matrix has, to the digits that are shown."""
    base = analysis.base_parameters(TWO)
    shown = str(base)
    assert f"{base.size} base parameters" in shown
    for name, column, row in zip(base.names, base.columns, base.combination, strict=True):
        (line,) = (line for line in shown.splitlines() if line.startswith(f"{name} "))
        terms = re.findall(r"([+-]?) ?([\d.e-]* ?)pi\[(\d+)\]", line)
        assert terms[0][2] == str(column)
        got = np.zeros_like(row)
        for sign, factor, k in terms:
            got[int(k)] = float(f"{sign}{factor.strip() or 1}")
        np.testing.assert_allclose(got, row, rtol=1e-3, atol=RANK_TOLERANCE)


def test_a_comparison_prints_the_disagreements():
    found = RESULTS["comparison"]()
    for name, disagreement in found.disagreement.items():
        assert re.search(rf"^{name} +{re.escape(number(disagreement))}$", str(found), flags=re.MULTILINE)


def test_arrays_are_told_by_values_or_range():
    assert array_cell(None) == ("-", "-")
    assert array_cell(np.array([1.0, 2.0])) == ("(2,)", "1, 2")
    assert array_cell(np.arange(7.0)) == ("(7,)", "0 to 6")
    assert array_cell(np.array([*np.arange(7.0), np.nan])) == ("(8,)", "0 to 6; 1 not finite")
    assert array_cell(np.full(9, np.nan)) == ("(9,)", "9 not finite")
    assert array_cell(np.arange(9) > 2) == ("(9,)", "6 true, 3 false")
    assert array_cell(np.zeros((0, 6))) == ("(0, 6)", "-")
    assert array_cell(0.25) == ("()", "0.25")


def test_entries_of_a_dict_have_rows():
    gradient = tf.RolloutGradient(np.zeros((9, 2)), np.zeros((9, 2)), {"kp": np.array([1.0, 2.0])}, {}, None, None)
    assert re.search(r"^gains\['kp'\] +\(2,\) +1, 2$", repr(gradient), flags=re.MULTILINE)
    assert "varying" not in repr(gradient)


def test_arrays_of_other_libraries_are_told_by_their_shape():
    """A tracer of JAX has no values, and those of torch may be on a GPU."""

    class Tracer:
        shape = (3, 6)

        def __array__(self, *_):
            raise TypeError("no values")

    assert array_cell(Tracer()) == ("(3, 6)", "Tracer")
    assert "Tracer" in repr(tf.motion.MotionSample(Tracer(), Tracer(), Tracer()))


def test_some_rows_are_the_first_the_last_and_between():
    assert some_of(3, 20) == [0, 1, 2]
    assert some_of(0, 20) == []
    assert some_of(100, 4) == [0, 33, 66, 99]
