"""Studies: what they may give, and the fingerprint of what they are."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pkgutil import resolve_name

import numpy as np
import pytest

import tauforge as tf
from support.sweep_studies import Encoded, axes_of, encoded
from tauforge.sweeps import Axis, Result, Study, ready_study
from tauforge.sweeps.fingerprint import FORMER_NAMES, described, differences, digest

X = (Axis("x", [0, 1]),)


def study(compute, *results):
    return Study("made-up", X, results, compute)


def block(points=2):
    return {"x": np.arange(points)}


@pytest.mark.parametrize(
    ("result", "fill"),
    [("float32", np.nan), ("float64", np.nan), ("uint8", 255), ("uint16", 65535), ("int8", -128)],
)
def test_fills(result, fill):
    np.testing.assert_equal(Result("y", result).fill, fill)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros(3), "y: expected (2,) of a block of 2 points, got (3,)"),
        (np.zeros((2, 1)), "y: expected (2,) of a block of 2 points, got (2, 1)"),
        (np.zeros(2), "y: expected numbers for uint8, got float64"),
        (np.array([0, 256]), "y: expected numbers that fit uint8, got 0 to 256"),
        (np.array([-1, 3]), "y: expected numbers that fit uint8, got -1 to 3"),
        (["a", "b"], "y: expected numbers for uint8, got <U1"),
    ],
)
def test_results_that_do_not_fit(given, message):
    with pytest.raises(tf.ShapeError) as caught:
        study(lambda _: {"y": given}, Result("y", "uint8")).computed(block())
    assert str(caught.value) == message


def test_a_missing_result():
    with pytest.raises(tf.ShapeError, match=r"compute: expected a result 'y', got z"):
        study(lambda _: {"z": 1}, Result("y")).computed(block())


def test_floats_are_rounded_and_may_overflow():
    (found,) = study(lambda _: {"y": np.array([1 / 3, 1e300])}, Result("y")).computed(block()).values()
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array([1 / 3, np.inf], dtype=np.float32))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Result("y", "complex128"), "result y: expected a dtype, got 'complex128'. Use uint8"),
        (lambda: Result("a/b"), "result: 'a/b' cannot name a result"),
        (lambda: Result("y", "uint8", codes={255: "lost"}), "result y: the fill 255 is also a code"),
        (lambda: study(block), "results: a study needs a result"),
        (lambda: study(block, Result("x")), "results: the name 'x' is taken. Name it otherwise"),
        (lambda: study(block, Result("blocks")), "results: the name 'blocks' is taken"),
        (lambda: study(block, Result("y", core={"x": 2})), "result y: the dimension 'x' is taken"),
        (lambda: study(block, Result("y", core={"k": 2}), Result("z", core={"k": 3})), "result z: the dimension 'k'"),
        (lambda: Study("s", X, (Result("y"),), block, {"mass": {1, 2}}), "fingerprint: JSON cannot hold it"),
        (lambda: Study("s", X, (Result("y"),), block, block_points=0), "block_points: expected 1 or more, got 0"),
    ],
)
def test_studies_that_cannot_be(make, message):
    with pytest.raises(tf.ModelError) as caught:
        make()
    assert str(caught.value).startswith(message)


@dataclass(frozen=True)
class Held:
    robot: tf.SerialArm
    load: float = 1.0


def test_a_fingerprint_names_what_differs():
    arm = tf.load("puma560")
    first = described(Held(arm))
    assert differences(first, described(Held(tf.load("puma560")))) == []
    assert differences(first, described(Held(arm, 2.0))) == ["load was 1.0 and is 2.0"]
    assert differences(first, described(Held(arm.replace(gravity=(0, 0, -1.6))))) == ["robot.gravity is another"]
    assert differences({"a": 1}, {"b": 1}) == ["a is missing now", "b is new"]


def test_where_a_robot_comes_from_is_no_difference():
    arm = tf.load("puma560")
    assert arm.sources
    assert described(Held(arm)) == described(Held(arm.replace(sources=())))


def shifted(offset):
    def compute(at):
        return {"y": at["x"] + offset}

    return compute


def test_functions_differ_by_code_and_by_what_they_enclose():
    assert described(shifted(1)) == described(shifted(1))
    assert described(shifted(1)) != described(shifted(2))
    assert described(lambda at: {"y": at["x"] * 2}) != described(lambda at: {"y": at["x"] * 3})


def test_different_values_have_different_digests():
    values = [None, 0, False, 0.0, -0.0, 1, "1", b"1", [1], [[1]], (), {}, {"a": 1}, {"a": 2}, {1: "a"}, {1, 2}]
    values += [np.zeros(2), np.zeros(2, np.float32), np.zeros((2, 1)), np.zeros((1, 2)), ["a", "b"], ["ab"], Encoded]
    values += [Encoded(("a",)), Encoded(("a",), 2)]
    assert len({digest(value) for value in values}) == len(values)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


def test_digests_are_the_same_in_every_process():
    code = (
        "import tauforge as tf; from tauforge.sweeps.fingerprint import digest\n"
        "print(digest({'a', 'b', 'c'}), digest(tf.load('box')))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {f"{digest({'a', 'b', 'c'})} {digest(tf.load('box'))}\n"}


def test_what_has_no_digest_needs_a_fingerprint():
    holder = [1]
    holder.append(holder)
    with pytest.raises(
        tf.ModelError, match=r"cannot be compared later: it contains itself. Give the study a fingerprint"
    ):
        study(Encoded(holder), Result("y"))
    with pytest.raises(tf.ModelError, match=r"cannot be compared later: a generator"):
        study(Encoded(k for k in ()), Result("y"))


def test_axes_are_part_of_a_grid_not_of_a_fingerprint():
    one, other = (Study("s", axes_of({"a": k}), encoded().results, Encoded(("a",))) for k in (2, 3))
    assert one.fingerprint == other.fingerprint


def test_unknown_names_of_ready_studies():
    arm, x = tf.load("puma560"), [Axis("joint1", [0.0])]
    with pytest.raises(tf.ModelError, match=r"no study is called 'holding'. The studies are .*holding-forces"):
        ready_study("holding", arm, x)
    with pytest.raises(tf.ModelError, match=r"axis x: unknown axis. The axes are joint1, joint2"):
        ready_study("holding-forces", arm, [Axis("x", [0.0])])
    with pytest.raises(tf.ModelError, match=r"option: holding-forces has no option 'mass'. It has no options"):
        ready_study("holding-forces", arm, x, options={"mass": "1"})
    with pytest.raises(tf.ModelError, match=r"at: no coordinate is called 'q9'. They are joint1, joint2"):
        ready_study("holding-forces", arm, x, at={"q9": 0.0})
    with pytest.raises(tf.ModelError, match=r"at: joint1 is an axis. Give it as an axis or at a value"):
        ready_study("holding-forces", arm, x, at={"joint1": 0.0})
    with pytest.raises(tf.ModelError, match=r"axis: two axes are the same coordinate. Give it once"):
        ready_study("holding-forces", arm, [*x, Axis("q1", [1.0])])


@pytest.mark.parametrize("name", ["puma560", "motion-rig"])
def test_holding_forces_are_those_of_the_robot(name):
    robot = tf.load(name)
    first, second = robot.coordinates[1].name, robot.coordinates[2].column
    asked = ready_study(
        "holding-forces",
        robot,
        [Axis(first, [0.1, 0.2]), Axis(second, robot.positions.default[2] + np.array([0.0, 0.1]))],
        at={robot.coordinates[0].name: 0.05},
    )
    position = np.array(robot.positions.default)
    position[:2] = 0.05, 0.2
    position[2] += 0.1
    given = {first: np.array([0.2]), second: position[2:3]}
    (found,) = asked.computed(given)["largest_force"]
    assert found == np.float32(np.abs(robot.holding_forces(position[None])).max())
    assert asked.axes[0].unit == robot.coordinates[1].unit


def test_renamed_classes_are_known_by_their_former_names():
    """Stores that were made before a class was renamed still open."""
    for now, then in FORMER_NAMES.items():
        (module, name), (old_module, old_name) = (full.rsplit(".", 1) for full in (now, then))
        former = type("Former", (), {"__module__": old_module, "__qualname__": old_name})
        assert digest(resolve_name(f"{module}:{name}")) == digest(former)
