"""The URDF reader against Pinocchio, and against files that are wrong, hostile or broken."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import tauforge as tf
from support.engines import configuration
from support.tolerances import OUTSIDE, error
from support.urdf_texts import TREE, VALID, changed
from tauforge.errors import ModelError, TauforgeWarning, UnphysicalInertiaWarning, UnsupportedFeatureError
from tauforge.robots.serial.serial_arm import SerialArm

DATA = Path(__file__).parents[1] / "data" / "urdf"
SOAK = int(os.environ.get("TAUFORGE_SOAK", "1"))  # multiplies random counts
SECONDS, BYTES = 1.0, 200e6  # for a hostile file of 1 MB
STATES = 5


class Reference:
    """The same robot in Pinocchio: joints that are not in the arm are locked, at 0 unless told."""

    def __init__(self, path: Path, arm: SerialArm, lock: Mapping[str, float]) -> None:
        # by its text: Pinocchio opens no path with letters beyond ASCII where the locale is not one of UTF-8
        whole = pin.buildModelFromXML(path.read_text(encoding="utf-8"))
        kept = [joint.name for joint in arm.joints]
        dropped = [whole.getJointId(name) for name in whole.names if name != "universe" and name not in kept]
        self.model = pin.buildReducedModel(whole, dropped, configuration(whole, lock))
        self.data = self.model.createData()
        self.kept = kept
        self.order = [self.model.joints[self.model.getJointId(name)].idx_v for name in kept]

    def velocity(self, values: np.ndarray) -> np.ndarray:
        vector = np.zeros(self.model.nv)
        vector[self.order] = values
        return vector

    def results(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tool: str) -> dict[str, np.ndarray]:
        model, data, order = self.model, self.data, self.order
        where = configuration(model, dict(zip(self.kept, q, strict=True)))
        tau = pin.rnea(model, data, where, self.velocity(qd), self.velocity(qdd))[order].copy()
        M = pin.crba(model, data, where)
        M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
        frame = model.getFrameId(tool, pin.FrameType.BODY)
        J = pin.computeFrameJacobian(model, data, where, frame, pin.LOCAL_WORLD_ALIGNED)
        J = J.reshape(6, model.nv)[:, order].copy()  # one column comes as a plain vector
        pin.framesForwardKinematics(model, data, where)
        return {"tau": tau, "M": M, "J": J, "T": data.oMf[frame].homogeneous.copy()}


def assert_agrees(path: Path, arm: SerialArm, tool: str, lock: Mapping[str, float] | None = None) -> None:
    reference = Reference(path, arm, lock or {})
    assert reference.model.nv == arm.n
    bare = arm.without_friction()
    draw = np.random.default_rng(arm.n)
    q, qd, qdd = draw.uniform(-2, 2, (3, STATES, arm.n))
    ours = {
        "tau": bare.inverse_dynamics(q, qd, qdd),
        "M": bare.mass_matrix(q),
        "J": bare.jacobian(q),
        "T": bare.forward_kinematics(q),
    }
    for k in range(STATES):
        for name, expected in reference.results(q[k], qd[k], qdd[k], tool).items():
            assert error(ours[name][k], expected, core=expected.ndim) < OUTSIDE, name


class Robot(NamedTuple):
    """A file, how to read it, and what must come out."""

    file: str
    kinds: str
    tool: str
    tip: str | None = None
    lock: Mapping[str, float] = {}


WRIST = {"wrist_1_joint": -2.0, "wrist_2_joint": 0.4, "wrist_3_joint": -1.0}
FINGERS = {"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02}
LEFT_FINGERS = {"l_gripper_l_finger_joint": 0.01, "l_gripper_r_finger_joint": -0.01}
ROBOTS = [
    Robot("ur_ur5", "RRRRRR", "wrist_3_link"),
    Robot("ur_ur5", "RRRRRR", "tool0", tip="tool0"),
    Robot("ur_ur5", "RRR", "forearm_link", tip="forearm_link", lock=WRIST),
    Robot("ur_ur10_limited", "RRRRRR", "ee_link", tip="ee_link"),
    Robot("franka_panda_hand", "RRRRRRR", "panda_hand_tcp", tip="panda_hand_tcp", lock=FINGERS),
    Robot("franka_panda_hand", "RRRRRRRP", "panda_leftfinger", lock={"panda_finger_joint2": 0.01}),
    Robot("kinova_j2s6s200", "RRRRRR", "j2s6s200_link_6"),
    Robot("kinova_j2s6s200", "RRRRR", "j2s6s200_end_effector", "j2s6s200_end_effector", {"j2s6s200_joint_4": 2.0}),
    Robot("ufactory_xarm7", "RRRRRRR", "link_eef"),
    Robot("kuka_lbr_iiwa14_bullet", "RRRRRRR", "lbr_iiwa_link_7"),
    Robot("rethink_sawyer", "RRRRRRR", "right_l6"),
    Robot("rethink_baxter", "RRRRRRR", "left_gripper", tip="left_gripper", lock=LEFT_FINGERS),
    Robot("therobotstudio_so101", "RRRRRR", "moving_jaw_so101_v1_link"),
    Robot("therobotstudio_so101", "RRRRR", "gripper_frame_link", tip="gripper_frame_link", lock={"gripper": 0.5}),
    Robot("abb_irb120_3_58", "RRRRRR", "tool0"),
    Robot("double_pendulum_continuous", "RR", "link2"),
]


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: f"{robot.file}-{robot.tool}")
def test_real_robot_agrees_with_pinocchio(robot: Robot) -> None:
    path = DATA / f"{robot.file}.urdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        warnings.filterwarnings("ignore", ".*unknown names are ignored: attribute 'D' of <dynamics>")  # of the panda
        arm = tf.load(path, tip=robot.tip, lock=robot.lock)
        assert arm.kinds == robot.kinds
        assert_agrees(path, arm, robot.tool, robot.lock)


# A tree with what real files have singly: odd axes, a slide, turned inertial frames, fixed bodies, a gripper, a camera
@pytest.mark.parametrize(
    ("tip", "lock", "kinds", "tool"),
    [
        ("flange", {"grip": 0.03}, "RPR", "flange"),
        ("finger", {"grip": 0.03}, "RPR", "finger"),
        (None, {"grip": 0.03, "pan": 0.0}, "RPR", "finger"),
        (None, {"grip": 0.0, "pan": 1.0, "spin": -2.5}, "RP", "finger"),
        ("finger", {"grip": -0.2, "slide": -0.2, "spin": 0.3}, "R", "finger"),
        ("c", {"grip": 0.01, "turn": 0.9}, "PR", "c"),
        ("eye", {}, "R", "eye"),
    ],
)
def test_tree_agrees_with_pinocchio(
    written: Any, tip: str | None, lock: dict[str, float], kinds: str, tool: str
) -> None:
    path = written(TREE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the eye has no mass, and so nothing to compare but its pose
        arm = tf.load(path, tip=tip, lock=lock)
    assert arm.kinds == kinds
    if tip == "eye":
        reference = Reference(path, arm, lock).results(np.ones(1), np.ones(1), np.ones(1), tool)
        np.testing.assert_allclose(arm.forward_kinematics([1.0]), reference["T"], atol=1e-14)
    else:
        assert_agrees(path, arm, tool, lock)


# ------------------------------------------------------------------------------------------------ mimics


@pytest.mark.parametrize(
    ("file", "tip", "given", "held"),
    [
        ("franka_panda_hand", "panda_hand_tcp", "panda_finger_joint1", {"panda_finger_joint2": 0.02}),
        ("rethink_baxter", "left_gripper", "l_gripper_l_finger_joint", {"l_gripper_r_finger_joint": -0.02}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*unknown names are ignored")
@pytest.mark.filterwarnings("ignore::tauforge.errors.UnphysicalInertiaWarning")
def test_locking_a_joint_locks_its_mimics(file: str, tip: str, given: str, held: dict[str, float]) -> None:
    path = DATA / f"{file}.urdf"
    arm = tf.load(path, tip=tip, lock={given: 0.02})
    assert arm.n == 7
    assert_agrees(path, arm, tip, {given: 0.02, **held})


def test_mimics_of_mimics_are_locked(written: Any) -> None:
    """grip = -0.5 slide + 0.01, and turn = 3 grip."""
    text = TREE.replace('<mimic joint="slide"/>', '<mimic joint="slide" multiplier="-0.5" offset="0.01"/>')
    text = text.replace('<dynamics damping="0.3" friction="0.7"/>', '<mimic joint="grip" multiplier="3"/>')
    path = written(text)
    arm = tf.load(path, tip="finger", lock={"slide": 0.2})
    assert arm.kinds == "R"
    assert_agrees(path, arm, "finger", {"slide": 0.2, "grip": -0.09, "turn": -0.27})
    with pytest.warns(TauforgeWarning, match="-0.09 m is outside of its limits, 0 to 0.04 m"):
        again = tf.load(path, tip="finger", lock={"turn": -0.27, "grip": 0.01 - 0.1, "slide": 0.2})  # rounded
    np.testing.assert_allclose(again.forward_kinematics([0.4]), arm.forward_kinematics([0.4]), atol=1e-14)


@pytest.mark.parametrize(
    ("mimic", "lock", "message"),
    [
        (
            "",
            {"slide": 0.2, "grip": 0.1},
            "lock: joint 'grip' cannot be at 0.1: it mimics 'slide', which holds it at 0.2. ",
        ),
        ('<mimic joint="grip" multiplier="2"/>', {"slide": 0.2}, "'slide' cannot be at 0.2: it mimics 'grip', which"),
        (
            '<mimic joint="slide" multiplier="-1"/>',
            {"slide": 0.2},
            "'slide' cannot be at 0.2: it mimics 'slide', which",
        ),
    ],
    ids=["explicit", "loop", "itself"],
)
def test_a_mimic_cannot_be_elsewhere(written: Any, mimic: str, lock: dict[str, float], message: str) -> None:
    text = TREE.replace('<limit upper="0.5" effort="9" velocity="1"/>', '<limit upper="0.5"/>' + mimic)
    with pytest.raises(ModelError) as caught:
        tf.load(written(text), lock=lock)
    assert message in str(caught.value)


def test_a_moving_mimic_is_refused_with_the_joint_to_hold() -> None:
    with pytest.raises(UnsupportedFeatureError) as caught, pytest.warns(UserWarning, match="unknown names are ignored"):
        tf.load(DATA / "franka_panda_hand.urdf", tip="panda_hand_tcp")
    assert "mimic joint 'panda_finger_joint2'. Hold the joint that leads, and its mimics are held too: " in str(
        caught.value
    )
    assert "lock={'panda_finger_joint1': 0.0}" in str(caught.value)


# ------------------------------------------------------------------------------------------------ what is kept


def test_everything_but_the_dynamics_is_kept(written: Any) -> None:
    arm = tf.load(written(TREE), tip="flange", lock={"grip": 0.03})
    turn, slide, spin = arm.joints
    assert (arm.name, arm.convention, arm.gravity) == ("tree", "general", (0.0, 0.0, -9.81))
    assert np.array_equal(arm.base, np.eye(4))
    assert [joint.name for joint in arm.joints] == ["turn", "slide", "spin"]
    assert (turn.limits, turn.max_force, turn.max_speed) == ((-3.0, 2.5), 40.0, 2.0)
    assert (turn.viscous, turn.coulomb, turn.gear_ratio) == (0.3, (0.7, 0.7), 1.0)
    assert (slide.limits, slide.max_force, slide.max_speed) == ((0.0, 0.5), 9.0, 1.0)
    assert (spin.limits, spin.max_force, spin.viscous, spin.coulomb) == (None, None, 0.0, (0.0, 0.0))
    assert turn.mass == pytest.approx(3.7)


# ------------------------------------------------------------------------------------------------ geometry


@pytest.mark.parametrize("axis", ["1 0 0", "-1 0 0", "0 3 0", "0 -1e-200 0", "0 0 1e90", "0 0 -1"])
def test_coordinate_axes_are_exact(written: Any, axis: str) -> None:
    arm = tf.load(written(changed('<axis xyz="0 0 1"/>', f'<axis xyz="{axis}"/>')))
    before, after = np.array(arm.joints[0].before), np.array(arm.joints[0].after)
    assert set(np.abs(before[:3, :3]).ravel()) == {0.0, 1.0}
    assert np.array_equal(before[:3, 2], np.sign(np.array(axis.split(), float)))
    assert np.array_equal(before[:3, :3] @ after[:3, :3], np.eye(3))


def test_quarter_turns_are_exact(written: Any) -> None:
    quarter = "1.5707963267948966 -1.5707963267948966 3.141592653589793"
    arm = tf.load(written(changed('rpy="0 0 0"', f'rpy="{quarter}"')))
    assert set(np.abs(np.array(arm.joints[0].before)[:3, :3]).ravel()) == {0.0, 1.0}


def test_the_tool_is_the_only_leaf_or_the_last_moving_link(written: Any) -> None:
    """With one leaf beyond the last joint there is no doubt; with two nothing is guessed, and tip= says which."""

    def leaf(name: str, x: float) -> str:
        return (
            f'<link name="{name}"/><joint name="to_{name}" type="fixed"><parent link="lower"/><child link="{name}"/>'
            f'<origin xyz="{x} 0 0"/></joint>'
        )

    one = VALID.replace("</robot>", leaf("camera", 0.25) + "</robot>")
    two = VALID.replace("</robot>", leaf("camera", 0.25) + leaf("gripper", 0.5) + "</robot>")
    here, there = (tf.load(written(text)).forward_kinematics(np.zeros(2)) for text in (VALID, one))
    assert np.allclose(np.linalg.inv(here) @ there, [[1, 0, 0, 0.25], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert np.array_equal(tf.load(written(two)).forward_kinematics(np.zeros(2)), here)
    chosen = tf.load(written(two), tip="gripper").forward_kinematics(np.zeros(2))
    assert np.allclose((np.linalg.inv(here) @ chosen)[:3, 3], [0.5, 0, 0])
    for text, tip, link, reason in (
        (one, None, "camera", "the only last link"),
        (two, None, "lower", "several links end the chain"),
        (two, "gripper", "gripper", "chosen by name"),
    ):
        (source,) = tf.load(written(text), tip=tip).sources
        assert (source.fields, source.source) == (("tool",), f"the frame of link '{link}' of the URDF")
        assert reason in source.note


def test_one_body_keeps_its_numbers(written: Any) -> None:
    joint = tf.load(written(VALID)).joints[1]
    assert (joint.mass, joint.com, np.diag(joint.inertia).tolist()) == (1.5, (0.0, 0.0, 0.0), [0.1, 0.1, 0.1])


def test_byte_order_mark_and_missing_effort_are_accepted(written: Any) -> None:
    joint = tf.load(written("\ufeff" + VALID)).joints[1]
    assert (joint.limits, joint.max_force, joint.max_speed) == ((0.0, 1.0), None, None)


def test_zero_effort_and_velocity_mean_not_known(written: Any) -> None:
    joint = tf.load(written(changed('effort="50" velocity="3"', 'effort="0" velocity="0"'))).joints[0]
    assert (joint.max_force, joint.max_speed) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<axis xyz="0 0 1"/>', '<axis xzy="0 0 1"/>', "axis: unknown attribute 'xzy'. Did you mean xyz?"),
        ('<axis xyz="0 0 1"/>', '<Axis xyz="0 0 1"/>', "joint: unknown tag 'Axis'. Did you mean axis?"),
        ('lower="-2"', 'lowr="-2"', "limit: unknown attribute 'lowr'"),
        (
            '<axis xyz="0 0 1"/>',
            '<axis xyz="0 0 1"/><origin quat_xyzw="0 0 0 1"/>',
            "quat_xyzw is not URDF",
        ),
    ],
)
def test_misspellings_are_not_passed_over(written: Any, old: str, new: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        tf.load(written(changed(old, new)))
    assert message in str(caught.value)


def test_the_documented_message_is_the_message(written: Any) -> None:
    page = Path(__file__).parents[2] / "docs" / "model-file.md"
    path = written(changed('lower="-2"', 'lowr="-2"'))
    with pytest.raises(ModelError) as caught:
        tf.load(path)
    assert str(caught.value).replace(f"{path.parent}{os.sep}", "    ") in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('effort="50"', 'effort="50" command_effort="40"', "attribute 'command_effort' of <limit> on line 22"),
        ('effort="50"', 'command_effort="40"', "attribute 'command_effort' of <limit> on line 22"),
        ('xyz="0 0 0.3"', 'xyz="0 0 0.3" xzy="0 0 1"', "'xzy' of <origin> on line 20 (did you mean xyz?)"),
        ('lower="-2"', 'lower="-2" D="7" k_p="1"', "attribute 'D' of <limit> on line 22, attribute 'k_p' of <limit>"),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><Axis/>', "tag 'Axis' of <joint> on line 17 (did you mean axis?)"),
        (
            'damping="0.1"',
            'damping="0.1" a="" b="" c="" d="" e="" f="" g=""',
            "'e' of <dynamics> on line 23 and 2 more",
        ),
    ],
)
def test_attributes_of_other_tools_warn(written: Any, old: str, new: str, message: str) -> None:
    with pytest.warns(UserWarning, match="unknown names are ignored") as caught:
        arm = tf.load(written(changed(old, new)))
    assert [message in str(warning.message) for warning in caught] == [True]
    assert arm.joints[1] == tf.load(written(VALID)).joints[1]


@pytest.mark.parametrize("tag", ["collision_checking", "collisions", "visuals", "hardware"])
def test_tags_of_other_tools_are_passed_over(written: Any, tag: str) -> None:
    text = changed('<link name="upper">', f'<link name="upper"><{tag}><origin xzy="1"/></{tag}>')
    assert tf.load(written(text)) == tf.load(written(VALID))


def test_a_real_file_with_quaternions_is_refused() -> None:
    """Plain URDF parsers drop its rotations without a word."""
    with pytest.raises(UnsupportedFeatureError, match="quat is not URDF"):
        tf.load(DATA / "doosan_robotiq140.urdf", tip="tcp")


def test_axis_by_default_is_x(written: Any) -> None:
    arm = tf.load(written(changed('    <axis xyz="0 0 1"/>\n', "")))
    assert np.array_equal(np.array(arm.joints[0].before)[:3, 2], (1, 0, 0))


# ------------------------------------------------------------------------------------------------ warnings


def test_arm_without_masses_warns_once(written: Any) -> None:
    path = written(re.sub(r"<inertial>.*?</inertial>", "", VALID, flags=re.DOTALL))
    with pytest.warns(UserWarning, match=r"robot\.urdf: no moving link has mass") as caught:
        tf.load(path)
    assert len(caught) == 1


def test_unphysical_inertia_warns_by_name(written: Any) -> None:
    path = written(changed('ixx="0.1"', 'ixx="0.9"'))
    with pytest.warns(UnphysicalInertiaWarning, match="two: link of shoulder: .* triangle inequality"):
        assert tf.load(path).n == 2


# ------------------------------------------------------------------------------------------------ texts


def test_a_text_is_read_as_its_file(written: Any) -> None:
    for text, options in ((VALID, {}), ("\ufeff" + VALID, {}), (TREE, {"tip": "flange", "lock": {"grip": 0.03}})):
        assert tf.loads(text, **options) == tf.load(written(text), **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed('"2.5"', '"nan"'), "<text>:7: mass value: expected a finite number, got 'nan'"),
        (VALID + "\udc80", "<text>:32: the text contains an unpaired surrogate"),
        ("<robot " + "x" * (4 << 20) + "/>", "<text>: the file is larger than 4 MiB"),
        ("puma560", "loads: expected the text of a model file, got 'puma560'. tauforge.load(name_or_path) reads files"),
        ("", "<text>: the file is empty"),
        (7, "loads: expected the text of a model file, got 7"),
    ],
    ids=["fault", "surrogate", "large", "name", "empty", "number"],
)
def test_a_bad_text_is_refused(text: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        tf.loads(text)
    assert message in str(caught.value)


TAKEN_FOR_A_TEXT = (
    "load: expected a catalogue name or a path, got a string of {} characters. tauforge.loads(text) reads"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VALID, TAKEN_FOR_A_TEXT),
        (" <robot/>", TAKEN_FOR_A_TEXT),
        ('format = "tauforge-arm-1"\n', TAKEN_FOR_A_TEXT),
        ("x" * 5000, "no robot named 'xxx"),
        ("x/" * 5000, "unknown suffix ''"),
        ("a\0.urdf", "no such file"),
        (
            "d/robot.urdf.xacro",
            "d/robot.urdf.xacro: the file is a template of xacro, which must be expanded first. "
            "Run `xacro robot.urdf.xacro > robot.urdf` and load robot.urdf",
        ),
        ("arm.xacro", "Run `xacro arm.xacro > arm.urdf` and load arm.urdf"),
    ],
    ids=["urdf", "short", "toml", "long-name", "long-path", "null", "xacro", "short xacro"],
)
def test_what_is_no_name_or_path_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        tf.load(text)
    assert message.format(len(text)) in str(caught.value)


# ------------------------------------------------------------------------------------------------ bad files


@pytest.mark.parametrize("options", [{"lock": [("j1", 1.0)]}, {"lock": "j1"}, {"tip": []}, {"tip": 3}])
def test_options_of_another_kind_are_refused(options: dict[str, Any]) -> None:
    (name,) = options
    what = "names of joints with their coordinates" if name == "lock" else "the name of a link"
    with pytest.raises(tf.ModelError, match=f"{name}: expected {what}, got "):
        tf.loads(VALID, **options)


def test_texts_from_elsewhere() -> None:
    """A literal that begins with a line's end, and bytes."""
    text = '<?xml version="1.0"?>\n' + VALID[VALID.index("<robot") :]
    assert tf.loads("\n  " + text) == tf.loads(text)
    with pytest.raises(tf.ModelError, match=r"Decode it first: text\.decode\(\)"):
        tf.loads(text.encode())
