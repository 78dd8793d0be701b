"""`workspace`: what it prints is what `tf.workspace` finds, and bad input is refused before any work starts."""

from __future__ import annotations

import pytest

import tauforge as tf
from support.command_line import error_of, parsed, run

pytestmark = pytest.mark.usefixtures("as_installed")


def test_default_is_home_reach_and_volume():
    found = parsed("workspace", "motion-rig")
    rig = tf.load("motion-rig")
    assert list(found) == ["robot", "home", "explain", "reach", "volume"]
    assert found["explain"]["holds"] is True
    ends = tf.workspace.reach(rig).ends
    assert [end["distance"] for end in found["reach"]["ends"]] == [end.distance for end in ends]
    assert found["volume"]["volume"] == tf.workspace.volume(rig).volume
    text = run("workspace", "motion-rig").stdout
    assert all(end.words in text for end in ends)


def test_a_robot_without_a_volume_shows_the_rest():
    why = "gripper moves its tool with 1 freedom, on a curve: it has no volume. Use reach or map."
    found = parsed("workspace", "gripper")
    assert found["volume"] == {"missing": why}
    assert found["explain"]["holds"] is True
    assert len(found["reach"]["ends"]) == 2
    assert why in " ".join(run("workspace", "gripper").stdout.split())
    assert "it has no volume" in error_of("workspace", "gripper", "--volume")


def test_coordinates_without_a_position_are_an_answer():
    found = parsed("workspace", "five-bar", "--explain", "--at", "3.1,0")
    assert found["explain"]["holds"] is False
    assert found["explain"]["exceeded"][0]["name"] == "the loops do not close"
    assert found["explain"]["exceeded"][0]["margin"] is None


def test_explain_with_units():
    found = parsed("workspace", "motion-rig", "--explain", "--at", "300mm,0,1.3,0,0.2,0")
    exceeded = tf.workspace.explain(tf.load("motion-rig"), [0.3, 0, 1.3, 0, 0.2, 0]).exceeded
    assert [finding["name"] for finding in found["explain"]["exceeded"]] == [finding.name for finding in exceeded]


def test_payload_is_compared_with_nothing():
    found = parsed("workspace", "motion-rig", "--volume", "--payload", "900", "--points", "16")
    cases = found["volume"]["cases"]
    assert list(cases) == ["nothing held", "900 kg"]
    assert cases["900 kg"]["volume"] < cases["nothing held"]["volume"]


def test_map_and_pictures(tmp_path):
    axes = ("--axis", "x=-0.5:0.5:11", "--axis", "z=0.8:1.4:7")
    found = parsed("workspace", "motion-rig", "--map", "limit", *axes, "--picture", tmp_path / "map.png")
    values = tf.workspace.map(tf.load("motion-rig"), "limit", {"x": (-0.5, 0.5, 11), "z": (0.8, 1.4, 7)}).values
    assert found["map"]["values"] == values.tolist()
    for options in (("--reach",), ("--polar", "x,z"), ("--surface",)):
        run("workspace", "motion-rig", *options, "--picture", tmp_path / f"{options[0][2:]}.png")
    assert len(list(tmp_path.glob("*.png"))) == 4


def test_an_arm():
    found = parsed("workspace", "puma560", "--reach")
    assert found["reach"]["ends"][0]["limit"] == "joint1 is above its range"


def test_directions_of_the_tool(tmp_path):
    tf.load("planar-2r").replace(limits=[(-1.0, 1.0)] * 2).save(tmp_path / "arm.toml")
    found = parsed("workspace", tmp_path / "arm.toml", "--tool")
    assert found["reach"]["ends"][0]["direction"] == "tool along x"


def test_kinds_forces_and_condition():
    options = ("--volume", "--points", "16")
    alone = parsed("workspace", "motion-rig", *options, "--limit", "stroke", "--no-forces")["volume"]
    assert alone["judged"] == "stroke"
    steep = parsed("workspace", "motion-rig", *options, "--largest-condition", "3.4")["volume"]
    assert steep["volume"] < alone["volume"]
    turned = parsed("workspace", "motion-rig", *options, "--orientation", "0,0,30deg")["volume"]
    assert turned["volume"] < alone["volume"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--map", "limit"), "it needs axes: give --axis NAME=FROM:TO:POINTS"),
        (("--axis", "x=0:1:3"), "it belongs to a map: give --map QUANTITY"),
        (("--map", "speed", "--axis", "x=0:1:3"), "unknown quantity 'speed'"),
        (("--map", "limit", "--axis", "w=0:1:3"), "expected a coordinate among x, y, z, theta_x, theta_y, theta_z"),
        (("--map", "limit", "--axis", "x=0:1"), "expected NAME=FROM:TO:POINTS, got 'x=0:1'"),
        (("--map", "limit", "--axis", "x=0:1:0"), "expected a whole number of points, at least 1, got '0'"),
        (("--map", "limit", "--axis", "x=1:0:3"), "expected a lower bound below the upper one, got 1 to 0"),
        (("--map", "limit", "--axis", "x=0:1:3", "--axis", "x=0:1:3"), "x is given twice"),
        (("--at", "0,0,1"), "expected 6 numbers separated by commas, got 3"),
        (("--at", "0,0,nan,0,0,0"), "expected a number in m"),
        (("--reach", "--at", "0,0,3,0,0,0"), "the limits do not hold there"),
        (("--reach", "--orientation", "0,0,0"), "it belongs to the volume: give --volume"),
        (("--volume", "--points", "0"), "expected a whole number of at least 4"),
        (("--volume", "--picture", "out.png"), "there is nothing to draw"),
        (("--reach", "--picture", "out.txt"), "expected a file name that ends in .png, .svg, .pdf"),
        (("--polar", "x"), "expected two directions separated by a comma"),
        (("--polar", "x,about x"), "two axes with the same unit"),
        (("--limit", "strokes"), "no limits of the kind 'strokes'"),
        (("--largest-condition", "0.5"), "largest_condition: expected at least 1"),
    ],
)
def test_bad_input(options, message):
    assert message in " ".join(error_of("workspace", "motion-rig", *options).split())


def test_a_robot_without_limits():
    assert "box has no limits, so nothing ends its workspace" in error_of("workspace", "box")
