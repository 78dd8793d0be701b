"""URDFs with loops, tools and actuators chosen on top of them: in a TOML file and as arguments of `load`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.cpu_time import quickest
from support.five_bar_texts import FIVE_BAR, LINK, ON_URDF, TURN, written
from support.tolerances import FORMULATIONS, PLACED, error
from tauforge.errors import ModelError

START = {"ja1": 0.5, "ja2": -1.0, "jb1": -0.5, "jb2": 1.0}
LOOP = tf.Hinge("end", "a2", "b2", at=(0.0, 0.6, 0.0)), (0.2, 0.6, 0.0)


def loaded(path: Path, **options: Any) -> tf.Mechanism:
    robot = tf.load(path, **options)
    assert isinstance(robot, tf.Mechanism)
    return robot


def test_a_toml_file_closes_loops_on_top_of_a_urdf(tmp_path: Path) -> None:
    ours = loaded(written(tmp_path))
    theirs = loaded(tmp_path / "five.urdf", loops=[LOOP], home=START, actuated=["ja1", "jb1"], tool="a2")
    assert ours == theirs.replace(gravity=(0.0, -9.81, 0.0))
    assert ours.structure.actuated == ("ja1", "jb1")
    assert ours.name == "five bar"
    assert [(source.fields, source.source) for source in ours.sources] == [
        (("bodies", "joints"), "five.urdf"),
        (("tool",), "link 'a2' of the URDF"),
        (("end",), "drawing 12"),
    ]


def test_what_a_file_on_a_urdf_gives_is_saved_whole(tmp_path: Path) -> None:
    ours = loaded(written(tmp_path))
    (tmp_path / "far").mkdir()
    ours.save(tmp_path / "far" / "whole.toml")
    again = loaded(tmp_path / "far" / "whole.toml")
    assert again == ours
    assert again.sources == ours.sources


def test_the_urdf_may_lie_below_the_file_and_its_joints_be_locked(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    written(tmp_path / "parts")
    path = written(tmp_path, ON_URDF.replace("five.urdf", "./parts/../parts/five.urdf"))
    (tmp_path / "five.urdf").unlink()
    assert loaded(path).n == 2
    held = ON_URDF.replace('["ja1", "jb1"]', '["jb1"]').replace("[start]\nja1 = 0.5", '[lock]\nja1 = "pi/8"\n[start]')
    assert loaded(written(tmp_path, held)).n == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"five.urdf"', '"six.urdf"', "five.toml: urdf: there is no file 'six.urdf' beside it"),
        ('"five.urdf"', "3", "five.toml: urdf: expected a string in quotes, got 3"),
        ('"five.urdf"', '"five.toml"', "five.toml:2: not well-formed XML"),
        ('urdf = "five.urdf"', "", "actuated: it is only for files on top of a URDF"),
        ('parent = "a2"', 'parent = "c"', "five.toml: joint[1].parent: there is no body 'c'"),
        ("[0.2, 0.6, 0.0]", "[9.2, 0.6, 0.0]", "the loop at end stays open by "),
        ("ja1 = 0.5", "jx = 0.5", "five.toml: start: unknown key 'jx'. Known: ja1, jb1, ja2, jb2"),
        ('"jb1"]', '"jb9"]', "five.toml: actuated: there is no joint named 'jb9'. Did you mean 'jb2'? Known: 'ja1', "),
        ('"jb1"]', '"bolt"]', "actuated: joint 'bolt' follows another or does not move"),
        ('tool = "a2"', 'tool = "hand"', "five.toml: tool: the URDF has no link 'hand'"),
        ("[[joint]]", '[[body]]\nname = "c"\n[[joint]]', "five.toml: body[1]: bodies are those of the URDF"),
        ('name = "end"', 'name = "ja1"', "two joints are called 'ja1'"),
    ],
)
def test_a_bad_file_on_a_urdf_is_refused(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert old in ON_URDF
    with pytest.raises(ModelError) as caught:
        tf.load(written(tmp_path, ON_URDF.replace(old, new, 1)))
    assert says in str(caught.value)


@pytest.mark.fault(3)
@pytest.mark.parametrize("name", ["../five.urdf", "/five.urdf", "file:five.urdf", "http://host/five.urdf", "link.urdf"])
def test_no_file_outside_the_folder_is_opened(name: str, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    written(tmp_path)
    os.symlink(tmp_path / "five.urdf", inner / "link.urdf")
    path = inner / "five.toml"
    path.write_text(ON_URDF.replace("five.urdf", name))
    with pytest.raises(ModelError, match=r"five\.toml: urdf: .*(leads|link) out|not a relative path|is an address"):
        tf.load(path)


def test_a_text_has_no_folder() -> None:
    with pytest.raises(ModelError, match=r"urdf: a text has no folder in which 'five.urdf' could be"):
        tf.loads(ON_URDF)


def test_a_loop_that_is_closed_stays_closed_while_another_is(tmp_path: Path) -> None:
    """A third arm is pinned where it is; the first two are brought together."""
    third = LINK.format("c1") + TURN.format("jc1", "continuous", "a1", "c1", "0 0.1 0")
    (tmp_path / "six.urdf").write_text(FIVE_BAR.replace("</robot>", third + "</robot>"))
    pinned = tf.Hinge("pin", "c1", "a2", at=(0.0, 0.4, 0.0))
    six = loaded(tmp_path / "six.urdf", loops=[pinned, LOOP], home=START)
    assert six.loop_gap(six.home) < 1e-12
    described = {"bodies": six.bodies, "joints": six.joints}
    assert tf.Mechanism(**described).loop_gap(six.home) < 1e-12
    assert [joint.name for joint in six.joints][-2:] == ["pin", "end"]


# ----------------------------------------------------------------------------------------- tools, and links by name


def test_tool_keeps_all_branches(tmp_path: Path) -> None:
    written(tmp_path)
    tree = loaded(tmp_path / "five.urdf", tool="b1")
    assert (tree.n, tree.tool_body) == (4, "b1")
    assert tree.sources[0].note == "chosen by name"
    q = np.random.default_rng(0).uniform(-1, 1, 4)
    x = tree.configuration(q)
    assert error(tree.forward_kinematics(x).ravel(), tree.forward_kinematics(x, "b1").ravel()) < FORMULATIONS


def test_tool_of_a_chain_is_an_arm_where_it_is_at_the_end() -> None:
    chain = FIVE_BAR.replace(
        'type="continuous"><parent link="base"/><child link="b1"', 'type="fixed"><parent link="base"/><child link="b1"'
    )
    chain = chain.replace('type="continuous"><parent link="b1"', 'type="fixed"><parent link="b1"')
    arm = tf.loads(chain, tool="flange")
    assert isinstance(arm, tf.SerialArm)
    q = np.array([0.3, -0.7])
    middle = tf.loads(chain, tool="a1")
    assert isinstance(middle, tf.Mechanism)
    assert np.abs(middle.forward_kinematics(q, "flange") - arm.forward_kinematics(q)).max() < PLACED


def test_every_link_has_a_frame_and_a_jacobian(tmp_path: Path) -> None:
    """The Jacobian against differences of frames."""
    written(tmp_path)
    tree = loaded(tmp_path / "five.urdf")
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-1, 1, (2, tree.n))
    h = 1e-6  # central differences err by h^2 / 6 of the third derivative and by rounding / h: 1e-10 together
    for link in ("a1", "a2", "b1", "b2", "flange"):
        before, after = (tree.forward_kinematics(tree.configuration(q + s * h * qd), link) for s in (-1, 1))
        twist = tree.jacobian(tree.configuration(q), link) @ qd
        assert np.abs(twist[:3] - (after - before)[:3, 3] / (2 * h)).max() < 1e-9, link
        turn = ((after - before) / (2 * h) @ np.linalg.inv((after + before) / 2))[:3, :3]
        assert np.abs(twist[3:] - [turn[2, 1], turn[0, 2], turn[1, 0]]).max() < 1e-9, link


def test_actuators_stand_in_the_order_in_which_they_are_named() -> None:
    named = tf.loads(FIVE_BAR, actuated=["jb1", "ja1"])
    assert isinstance(named, tf.Mechanism)
    assert [actuator.name for actuator in named.actuators] == ["jb1", "ja1"]
    assert [joint.name for joint in named.joints] == ["base on ground", "jb1", "ja2", "bolt", "ja1", "jb2"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"tool": "hand"}, "tool: there is no link named 'hand'"),
        ({"tool": 3}, "tool: expected the name of a link, got 3"),
        ({"tool": "a2", "tip": "a2"}, "tool: tip and tool are both given"),
        ({"actuated": "ja1"}, "actuated: expected a sequence of names of joints, got 'ja1'"),
        ({"actuated": ["j"]}, "<text>: actuated: there is no joint named 'j'. Known: 'ja1', 'ja2', 'jb1', 'jb2'"),
        ({"tool": "a11"}, "<text>: tool: there is no link named 'a11'. Did you mean 'a1'? Known: 'base', 'a1', 'b1', "),
        ({"home": {"j": 0.1}}, "<text>: home: there is no joint named 'j'. Known: 'ja1', 'jb1', 'ja2', 'jb2'"),
        ({"home": {"j_a1": 0.1}}, "<text>: home: there is no joint named 'j_a1'. Did you mean 'ja1'? Known: 'ja1', "),
        ({"lock": {"jaa1": 0.1}}, "<text>: lock: there is no joint named 'jaa1'. Did you mean 'ja1'? Known: 'ja1', "),
    ],
)
def test_bad_choices_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ModelError) as caught:
        tf.loads(FIVE_BAR, **options)
    assert says in str(caught.value)


def test_tool_of_a_catalogue_robot_is_replaced() -> None:
    with pytest.raises(ModelError, match=r"tool applies to URDF and MJCF files only, .* chosen by replace\(tool="):
        tf.load("five-bar", tool="left rod")  # type: ignore[call-overload]


# ------------------------------------------------------------------------------------------------------ large trees


def large_tree(joints: int, mimics: int) -> str:
    """A comb: every tenth joint goes on with the back, the others with a tooth."""
    text = '<robot name="comb"><link name="l0"/>'
    for k in range(1, joints + 1):
        follows = f'<mimic joint="j{k - 1}"/>' if k % 10 == 5 and k < 10 * mimics else ""
        turn = TURN.format(f"j{k}", "continuous", f"l{max(k - 10, 0) if k % 10 == 0 else k - 1}", f"l{k}", "0.1 0.02 0")
        text += LINK.format(f"l{k}") + turn.replace("<axis", follows + "<axis").replace("0 0 1", f"{k % 3} 1 {k % 2}")
    return text + "</robot>"


@pytest.mark.fault(2)
@pytest.mark.parametrize("mimics", [0, 10])
def test_a_tree_of_499_joints_loads_in_a_second(mimics: int) -> None:
    tf.loads(large_tree(12, 1))  # modules that are imported with the first file are not its cost
    text = large_tree(499, mimics)
    seconds, tree = quickest(lambda: tf.loads(text), 1.0)
    assert seconds < 1.0
    assert tree.n == 499 - mimics
