"""The URDF reader against Pinocchio, and against files that are wrong, hostile or broken."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest

from tauforge.errors import ModelError, UnphysicalInertiaWarning, UnsupportedFeatureError
from tauforge.robots.readers.urdf import read_urdf
from tauforge.robots.serial_arm import SerialArm
from tolerances import OUTSIDE, error

DATA = Path(__file__).parent / "data" / "urdf"
SOAK = int(os.environ.get("TAUFORGE_SOAK", "1"))  # multiplies random counts
SECONDS, BYTES = 1.0, 200e6  # for a hostile file of 1 MB
STATES = 5


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Writes a text as robot.urdf and gives its path."""

    def write(text: str | bytes, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# ------------------------------------------------------------------------------------------------ against Pinocchio


class Reference:
    """The same robot in Pinocchio: joints that are not in the arm are locked, at 0 unless told."""

    def __init__(self, path: Path, arm: SerialArm, lock: Mapping[str, float]) -> None:
        whole = pin.buildModelFromUrdf(str(path))
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


def configuration(model: Any, coordinates: Mapping[str, float]) -> np.ndarray:
    """Pinocchio's q, in which a continuous joint is a cosine and a sine."""
    q = pin.neutral(model)
    for name, value in coordinates.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if joint.nq == 2 else value
    return q


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
FINGERS = {"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.03}
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
        arm = read_urdf(path, tip=robot.tip, lock=robot.lock)
        assert arm.kinds == robot.kinds
        assert_agrees(path, arm, robot.tool, robot.lock)


# A tree with what real files have singly: odd axes, a slide, turned inertial frames, fixed bodies, a gripper, a camera
TREE = """<robot name="tree">
  <link name="world"/>
  <link name="pedestal"><inertial><mass value="100"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="floor" type="fixed"><parent link="world"/><child link="pedestal"/>
    <origin xyz="0.1 -0.2 0.3" rpy="0.2 0.1 -0.7"/></joint>
  <link name="a"><inertial><origin xyz="0.1 0.02 -0.05" rpy="0.3 -1.2 0.8"/><mass value="3"/>
    <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.05"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="pedestal"/><child link="a"/>
    <origin xyz="0 0.1 0.4" rpy="1.5707963267948966 0 -0.4"/><axis xyz="1 -2 3"/>
    <limit lower="-3" upper="2.5" effort="40" velocity="2"/><dynamics damping="0.3" friction="0.7"/></joint>
  <link name="box"><inertial><origin xyz="0 0.3 0.1" rpy="1 2 3"/><mass value="0.7"/>
    <inertia ixx="0.01" ixy="0.001" ixz="0.002" iyy="0.02" iyz="0" izz="0.015"/></inertial></link>
  <joint name="bolt" type="fixed"><parent link="a"/><child link="box"/><origin xyz="0.3 0 0" rpy="0 0.5 0"/></joint>
  <link name="disc"><inertial><origin xyz="0 0 0" rpy="0.4 0 0"/><mass value="0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.02"/></inertial></link>
  <joint name="glue" type="fixed"><parent link="box"/><child link="disc"/><origin rpy="0.1 0.2 0.3"/>
    <mimic joint="turn"/></joint>
  <link name="b"><inertial><origin xyz="0.02 0 0.1"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0" ixz="0.001" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="box"/><child link="b"/>
    <origin xyz="0.2 0.1 0" rpy="0.1 0.2 0.3"/><axis xyz="-0.6 0 -0.8"/>
    <limit upper="0.5" effort="9" velocity="1"/></joint>
  <link name="c"/>
  <joint name="spin" type="continuous"><parent link="b"/><child link="c"/><origin xyz="0.1 0 0.1"/></joint>
  <link name="flange"><inertial><origin xyz="0 0.05 0"/><mass value="0.4"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="plate" type="fixed"><parent link="c"/><child link="flange"/><origin xyz="0 0 0.2" rpy="3 0 1"/></joint>
  <link name="finger"><inertial><origin xyz="0 0 0.04"/><mass value="0.1"/>
    <inertia ixx="0.0001" ixy="0" ixz="0" iyy="0.0001" iyz="0" izz="0.0001"/></inertial></link>
  <joint name="grip" type="prismatic"><parent link="flange"/><child link="finger"/><origin xyz="0 0 0.1"/>
    <axis xyz="0 2 0"/><limit lower="0" upper="0.04" effort="9" velocity="1"/><mimic joint="slide"/></joint>
  <link name="eye"/>
  <joint name="pan" type="continuous"><parent link="pedestal"/><child link="eye"/><axis xyz="0 0 1"/></joint>
</robot>
"""


@pytest.mark.parametrize(
    ("tip", "lock", "kinds", "tool"),
    [
        ("flange", {"grip": 0.03}, "RPR", "flange"),
        ("finger", {"grip": 0.03}, "RPR", "finger"),
        (None, {"grip": 0.03, "pan": 0.0}, "RPR", "finger"),
        (None, {"grip": 0.0, "pan": 1.0, "spin": -2.5}, "RP", "finger"),
        ("finger", {"grip": 0.01, "slide": -0.2, "spin": 0.3}, "R", "finger"),
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
        arm = read_urdf(path, tip=tip, lock=lock)
    assert arm.kinds == kinds
    if tip == "eye":
        reference = Reference(path, arm, lock).results(np.ones(1), np.ones(1), np.ones(1), tool)
        np.testing.assert_allclose(arm.forward_kinematics([1.0]), reference["T"], atol=1e-14)
    else:
        assert_agrees(path, arm, tool, lock)


def test_everything_but_the_dynamics_is_kept(written: Any) -> None:
    arm = read_urdf(written(TREE), tip="flange", lock={"grip": 0.03})
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

VALID = """<?xml version="1.0"?>
<robot name="two">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0 0.3"/>
      <mass value="2.5"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/>
    </inertial>
  </link>
  <link name="lower">
    <inertial>
      <mass value="1.5"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="upper"/>
    <child link="lower"/>
    <axis xyz="1 0 0"/>
    <limit lower="0" upper="1"/>
  </joint>
</robot>
"""


def changed(old: str, new: str) -> str:
    assert VALID.count(old) >= 1, old
    return VALID.replace(old, new, 1)


@pytest.mark.parametrize("axis", ["1 0 0", "-1 0 0", "0 3 0", "0 -1e-200 0", "0 0 1e90", "0 0 -1"])
def test_coordinate_axes_are_exact(written: Any, axis: str) -> None:
    arm = read_urdf(written(changed('<axis xyz="0 0 1"/>', f'<axis xyz="{axis}"/>')))
    before, after = np.array(arm.joints[0].before), np.array(arm.joints[0].after)
    assert set(np.abs(before[:3, :3]).ravel()) == {0.0, 1.0}
    assert np.array_equal(before[:3, 2], np.sign(np.array(axis.split(), float)))
    assert np.array_equal(before[:3, :3] @ after[:3, :3], np.eye(3))


def test_quarter_turns_are_exact(written: Any) -> None:
    quarter = "1.5707963267948966 -1.5707963267948966 3.141592653589793"
    arm = read_urdf(written(changed('rpy="0 0 0"', f'rpy="{quarter}"')))
    assert set(np.abs(np.array(arm.joints[0].before)[:3, :3]).ravel()) == {0.0, 1.0}


def test_one_body_keeps_its_numbers(written: Any) -> None:
    joint = read_urdf(written(VALID)).joints[1]
    assert (joint.mass, joint.com, np.diag(joint.inertia).tolist()) == (1.5, (0.0, 0.0, 0.0), [0.1, 0.1, 0.1])


def test_byte_order_mark_and_missing_effort_are_accepted(written: Any) -> None:
    joint = read_urdf(written("\ufeff" + VALID)).joints[1]
    assert (joint.limits, joint.max_force, joint.max_speed) == ((0.0, 1.0), None, None)


def test_zero_effort_and_velocity_mean_not_known(written: Any) -> None:
    joint = read_urdf(written(changed('effort="50" velocity="3"', 'effort="0" velocity="0"'))).joints[0]
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
        read_urdf(written(changed(old, new)))
    assert message in str(caught.value)


def test_a_real_file_with_quaternions_is_refused() -> None:
    """Plain URDF parsers drop its rotations without a word."""
    with pytest.raises(UnsupportedFeatureError, match="quat is not URDF"):
        read_urdf(DATA / "doosan_robotiq140.urdf", tip="tcp")


def test_axis_by_default_is_x(written: Any) -> None:
    arm = read_urdf(written(changed('    <axis xyz="0 0 1"/>\n', "")))
    assert np.array_equal(np.array(arm.joints[0].before)[:3, 2], (1, 0, 0))


# ------------------------------------------------------------------------------------------------ warnings


def test_arm_without_masses_warns_once(written: Any) -> None:
    path = written(re.sub(r"<inertial>.*?</inertial>", "", VALID, flags=re.DOTALL))
    with pytest.warns(UserWarning, match=r"robot\.urdf: no moving link has mass") as caught:
        read_urdf(path)
    assert len(caught) == 1


def test_unphysical_inertia_warns_by_name(written: Any) -> None:
    path = written(changed('ixx="0.1"', 'ixx="0.9"'))
    with pytest.warns(UnphysicalInertiaWarning, match="two: link of shoulder: .* triangle inequality"):
        assert read_urdf(path).n == 2


# ------------------------------------------------------------------------------------------------ bad files


class Bad(NamedTuple):
    """One change of VALID, the line that must be named and what must be said."""

    name: str
    old: str
    new: str
    line: int
    says: tuple[str, ...]
    error: type[ModelError] = ModelError


JOINT = '<joint name="more" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'
END = "</robot>"
FREE = '<link name="end"/>'
NUMBER = ("mass value", "expected a finite number")
BAD = [
    Bad("mass-nan", '"2.5"', '"nan"', 7, (*NUMBER, "'nan'")),
    Bad("mass-inf", '"2.5"', '"inf"', 7, NUMBER),
    Bad("mass-unit", '"2.5"', '"2.5kg"', 7, (*NUMBER, "'2.5kg'")),
    Bad("mass-comma", '"2.5"', '"2,5"', 7, (*NUMBER, "decimal point")),
    Bad("mass-underscore", '"2.5"', '"1_000"', 7, NUMBER),
    Bad("mass-hexadecimal", '"2.5"', '"0x10"', 7, NUMBER),
    Bad("mass-xacro", '"2.5"', '"${mass}"', 7, (*NUMBER, "xacro")),
    Bad("mass-overflow", '"2.5"', '"1e400"', 7, NUMBER),
    Bad("mass-other-digits", '"2.5"', '"\u0662"', 7, NUMBER),
    Bad("mass-absurd", '"2.5"', '"1e101"', 7, ("mass value", "at most 1e+100")),
    Bad("mass-negative", '"2.5"', '"-2.5"', 7, ("mass value", ">= 0", "-2.5")),
    Bad("mass-empty", '"2.5"', '""', 7, ("mass value", "empty")),
    Bad("mass-two-numbers", '"2.5"', '"2 5"', 7, ("mass value", "expected 1 number")),
    Bad("mass-no-value", '<mass value="2.5"/>', "<mass/>", 7, ("mass value", "missing")),
    Bad("mass-missing", '<mass value="2.5"/>', "", 5, ("<inertial> has no <mass>",)),
    Bad("inertia-missing", "<inertia ixx", "<other ixx", 5, ("<inertial> has no <inertia>",)),
    Bad("inertia-five", 'iyz="0" ', "", 8, ("inertia iyz", "missing")),
    Bad("inertia-nan", 'izz="0.15"', 'izz="NaN"', 8, ("inertia izz", "finite")),
    Bad("inertial-twice", "</inertial>", "</inertial><inertial/>", 9, ("second <inertial>",)),
    Bad("xyz-two", 'xyz="0 0 0.1"', 'xyz="0 0"', 6, ("origin xyz", "3 numbers", "'0 0'")),
    Bad("xyz-commas", 'xyz="0 0 0.1"', 'xyz="0,0,0.1"', 6, ("origin xyz", "3 numbers")),
    Bad("xyz-four", 'xyz="0 0 0.3"', 'xyz="0 0 0.3 1"', 20, ("origin xyz", "3 numbers")),
    Bad("rpy-text", 'rpy="0 0 0"', 'rpy="0 0 pi"', 20, ("origin rpy", "'pi'")),
    Bad("rpy-infinite", 'rpy="0 0 0"', 'rpy="0 0 -1e999"', 20, ("origin rpy", "finite")),
    Bad("axis-zero", 'xyz="0 0 1"', 'xyz="0 0 -0.0"', 21, ("axis xyz", "zero", "0 0 1")),
    Bad("axis-one-number", 'xyz="0 0 1"', 'xyz="1"', 21, ("axis xyz", "3 numbers")),
    Bad("axis-no-xyz", '<axis xyz="0 0 1"/>', "<axis/>", 21, ("axis xyz", "missing")),
    Bad("limit-missing", '<limit lower="0" upper="1"/>', "", 25, ("limit", "prismatic joint needs a <limit>")),
    Bad("limit-crossed", 'lower="-2"', 'lower="3"', 22, ("limit", "lower limit 3.0 above upper limit 2.0")),
    Bad("limit-text", 'upper="2"', 'upper="2rad"', 22, ("limit upper", "finite")),
    Bad("limit-nan", 'lower="-2"', 'lower="nan"', 22, ("limit lower", "finite")),
    Bad("effort-negative", 'effort="50"', 'effort="-50"', 22, ("limit effort", ">= 0")),
    Bad("velocity-nan", 'velocity="3"', 'velocity="nan"', 22, ("limit velocity", "finite")),
    Bad("damping-negative", 'damping="0.1"', 'damping="-0.1"', 23, ("dynamics damping", ">= 0")),
    Bad("friction-text", 'friction="0.2"', 'friction="low"', 23, ("dynamics friction", "finite")),
    Bad("joint-no-name", 'name="slide" ', "", 25, ("joint name", "missing")),
    Bad("joint-no-type", ' type="prismatic"', "", 25, ("joint type", "missing")),
    Bad("joint-no-parent", '<parent link="upper"/>', "", 25, ("<joint> has no <parent>",)),
    Bad("joint-no-child", '<child link="lower"/>', "", 25, ("<joint> has no <child>",)),
    Bad("parent-no-link", '<parent link="upper"/>', "<parent/>", 26, ("parent link", "missing")),
    Bad("parent-unknown", '<parent link="upper"/>', '<parent link="uper"/>', 26, ("'uper'", "'slide' parent")),
    Bad("child-unknown", '<child link="lower"/>', '<child link="x"/>', 27, ("no link named 'x'", "'slide' child")),
    Bad("joint-twice", 'name="slide"', 'name="shoulder"', 25, ("second joint", "'shoulder'", "line 17")),
    Bad("link-twice", 'name="lower"', 'name="upper"', 11, ("second link", "'upper'", "line 4")),
    Bad("link-no-name", '<link name="base"/>', "<link/>", 3, ("link name", "missing")),
    Bad("two-parents", END, JOINT.format("fixed", "base", "lower", "") + END, 31, ("two parents", "'more'")),
    Bad("two-roots", END, FREE + END, 31, ("several root links", "'base', 'end'")),
    Bad("loop", '<parent link="base"/>', '<parent link="lower"/>', 17, ("loop", "'upper', 'lower'")),
    Bad("loop-everywhere", END, JOINT.format("fixed", "lower", "base", "") + END, 31, ("loop", "'base'")),
    Bad("self-loop", '<parent link="upper"/>', '<parent link="lower"/>', 25, ("loop", "'lower'")),
    Bad("no-robot", VALID, "\n<arm/>", 2, ("'robot'", "'arm'")),
    Bad("robot-no-name", '<robot name="two">', "<robot>", 2, ("robot name", "missing")),
    Bad("mistyped-end", END, "</robt>", 31, ("not well-formed", "mismatched tag")),
    Bad("cut-short", '<joint name="slide"', "<!--", 25, ("not well-formed",)),
    Bad("unknown-entity", '"2.5"', '"&mass;"', 7, ("not well-formed", "undefined entity")),
    Bad("not-utf-8", '"upper"', '"\udcff"', 4, ("UTF-8",)),
    Bad("xacro", "<link", "<xacro:include/><link", 3, ("xacro:include", "Expand"), UnsupportedFeatureError),
    Bad("type-unknown", '"revolute"', '"hinge"', 17, ("shoulder", "'hinge'", "revolute"), UnsupportedFeatureError),
    Bad("type-floating", '"prismatic"', '"floating"', 25, ("floating", "'slide'"), UnsupportedFeatureError),
    Bad("type-planar", '"prismatic"', '"planar"', 25, ("planar", "'slide'"), UnsupportedFeatureError),
    Bad(
        "mimic",
        '<limit lower="0" upper="1"/>',
        '<limit lower="0" upper="1"/><mimic joint="shoulder"/>',
        25,
        ("mimic", "'slide'", "lock={'slide': 0.0}"),
        UnsupportedFeatureError,
    ),
    Bad(
        "branch",
        END,
        FREE + JOINT.format("continuous", "upper", "end", "") + END,
        25,
        ("'slide', 'more'", "tip=", "lock="),
        UnsupportedFeatureError,
    ),
]


@pytest.mark.fault(1)
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_bad_file_is_refused_by_file_line_and_reason(written: Any, bad: Bad) -> None:
    text = changed(bad.old, bad.new).encode("utf-8", "surrogateescape")
    with pytest.raises(ModelError) as caught:
        read_urdf(written(text, "bad.urdf"))
    message = str(caught.value)
    assert type(caught.value) is bad.error
    for part in (f"bad.urdf:{bad.line}: ", *bad.says):
        assert part in message


def test_robot_without_links_or_joints(written: Any) -> None:
    with pytest.raises(ModelError, match=r"robot\.urdf:1: the robot has no link"):
        read_urdf(written('<robot name="r"/>'))
    with pytest.raises(ModelError, match=r"robot\.urdf:1: the robot has no joint"):
        read_urdf(written('<robot name="r"><link name="a"/></robot>'))
    fixed = '<robot name="r"><link name="base"/><link name="end"/>' + JOINT.format("fixed", "base", "end", "") + END
    with pytest.raises(ModelError, match=r"robot\.urdf:1: there is no moving joint"):
        read_urdf(written(fixed))


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.urdf: cannot be read: No such file"):
        read_urdf(tmp_path / "nowhere.urdf")
    with pytest.raises(ModelError, match="not a regular file"):
        read_urdf(tmp_path)


# ------------------------------------------------------------------------------------------------ tip and lock


@pytest.mark.parametrize(
    ("tip", "lock", "expected", "says"),
    [
        ("flang", {}, ModelError, ("tip: ", "no link named 'flang'", "'flange'")),
        ("zzz", {}, ModelError, ("no link named 'zzz'", "'world'")),
        ("pedestal", {"grip": 0}, ModelError, ("tip: ", "no moving joint between 'world' and 'pedestal'")),
        (None, {"grap": 0.0}, ModelError, ("lock: ", "no joint named 'grap'", "'grip'")),
        (None, {"bolt": 0.0}, ModelError, ("lock: ", "'bolt' is fixed")),
        (None, {"grip": float("nan")}, ModelError, ("lock['grip']", "finite")),
        (None, {"grip": "0"}, ModelError, ("lock['grip']", "number")),
        (None, {"grip": -1e200}, ModelError, ("lock['grip']", "at most 1e+100")),
        (None, {}, UnsupportedFeatureError, ("mimic joint 'grip'", "lock={'grip': 0.0}")),
        (None, {"grip": 0.0}, UnsupportedFeatureError, ("'turn', 'pan'", "tip=", "lock=")),
        ("flange", {}, UnsupportedFeatureError, ("mimic joint 'grip'",)),
        ("b", {"grip": 0.0}, UnsupportedFeatureError, ("branch off: 'spin'", "lock={'spin': 0.0}", "tip=")),
    ],
)
def test_tip_and_lock_are_checked(
    written: Any, tip: str | None, lock: dict[str, Any], expected: type[ModelError], says: tuple[str, ...]
) -> None:
    with pytest.raises(ModelError) as caught:
        read_urdf(written(TREE), tip=tip, lock=lock)
    assert type(caught.value) is expected
    for part in ("robot.urdf:", *says):
        assert part in str(caught.value)


def test_joint_that_one_number_cannot_lock(written: Any) -> None:
    with pytest.raises(UnsupportedFeatureError, match="floating joint cannot be locked"):
        read_urdf(written(changed('"prismatic"', '"floating"')), lock={"slide": 0.0})


# ------------------------------------------------------------------------------------------------ hostile files


def chain_of(n: int, kind: str, name: str = "j") -> str:
    """n joints in a row, the first of them revolute."""
    limit = '<limit lower="0" upper="1"/>'
    mass = (
        '<inertial><origin rpy="1 2 3"/><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    joints = [
        f'<link name="{name}{i + 1}">{mass}</link><joint name="{name}{i}" type="{"revolute" if i == 0 else kind}">'
        f'<parent link="{name}{i}"/><child link="{name}{i + 1}"/><origin rpy="3 2 1"/>{limit}</joint>'
        for i in range(n)
    ]
    return f'<robot name="r"><link name="{name}0"/>{"".join(joints)}</robot>'


def laughs() -> str:
    entities = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
    return f'<!DOCTYPE robot [<!ENTITY l0 "ha">{entities}]><robot name="&l9;"/>'


MEGABYTE = 10**6
HOSTILE = {
    "billion-laughs": (laughs(), "DOCTYPE"),
    "external-entity": ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>', "DOCTYPE"),
    "external-dtd": ('<!DOCTYPE robot SYSTEM "http://localhost/robot.dtd"><robot name="r"/>', "DOCTYPE"),
    "parameter-entity": ('<!DOCTYPE r [<!ENTITY % x SYSTEM "x.dtd"> %x;]><robot name="r"/>', "DOCTYPE"),
    "unclosed-doctype": ("<!DOCTYPE r [" + "<!ENTITY a 'b'>" * 60_000, "DOCTYPE"),
    "unknown-encoding": ('<?xml version="1.0" encoding="zlib_codec"?><robot/>', "no link"),
    "deep": ("<a>" * 100_000 + "</a>" * 100_000, "nested"),
    "deep-in-robot": ('<robot name="r">' + "<link>" * 100_000, "nested"),
    "many-elements": ('<robot name="r">' + "<a/>" * 250_000 + END, "elements"),
    "many-attributes": ("<robot " + " ".join(f'a{i}=""' for i in range(100_000)) + "/>", "no link"),
    "long-attribute": (f'<robot name="{"x" * MEGABYTE}"/>', "no link"),
    "long-tag": (f"<{'x' * MEGABYTE}/>", "root element"),
    "long-comment": (f"<robot><!--{'-x' * (MEGABYTE // 2)}--></robot>", "no link"),
    "long-text": (f'<robot name="r">{"&amp;" * (MEGABYTE // 5)}</robot>', "no link"),
    "long-number": (changed('"2.5"', f'"{"1" * MEGABYTE}"'), "mass value"),
    "long-bad-number": (changed('"2.5"', f'"{"1" * MEGABYTE}x"'), "mass value"),
    "long-fraction": (changed('"2.5"', f'"0.{"0" * MEGABYTE}1"'), "mass value"),
    "many-numbers": (changed('xyz="0 0 0.1"', f'xyz="{"0 " * (MEGABYTE // 2)}"'), "3 numbers"),
    "many-links": ("<robot>" + "".join(f'<link name="{i}"/>' for i in range(40_000)) + END, "more than 500 links"),
    "long-names": (chain_of(400, "fixed", "n" * 400), None),
    "long-fixed-chain": (chain_of(499, "fixed"), None),
    "long-moving-chain": (chain_of(499, "revolute"), None),
    "over-the-cap": ("<robot>" + "<a></a>" * 700_000, "larger than 4 MiB"),
    "bytes": ("\x00\x01" * (MEGABYTE // 2), "not well-formed"),
    "nothing": ("", "not well-formed"),
}


def read_or_refuse(path: Path) -> SerialArm | ModelError:
    try:
        return read_urdf(path)
    except ModelError as refusal:
        return refusal


@pytest.mark.fault(2)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_cheap(written: Any, name: str) -> None:
    text, says = HOSTILE[name]
    path = written(text)
    start = time.process_time()  # of this process: other jobs on the machine do not count
    result = read_or_refuse(path)
    assert time.process_time() - start < SECONDS
    tracemalloc.start()  # sees the parser's memory too, and is slow: hence apart from the timing
    try:
        read_or_refuse(path)
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()
    if says is None:
        assert isinstance(result, SerialArm)
    else:
        assert isinstance(result, ModelError)
        assert says in str(result)
        assert "robot.urdf" in str(result)
        assert len(str(result)) < 2_000 + len(str(path))


VALUES = [b"nan", b"-", b"1e999", b"1e308", b"-1e99", b"1e99", b"1e-320", b"0", b"-0.0", b" ", b"9" * 20, b"-5"]
VALUES += [b"0 0 1e99", b"1e-9 0 -1", b"1e99 1e99 1e-200", b"upper", b"base", b"fixed", b"revolute", b"planar", b"&lt;"]
WORDS = [b"<", b">", b"<!--", b"]]>", b"</link>", b"<mimic/>", b"<a>", b"&#0;", b"\xff", b"\xc2\xa0", b"\x00", b'"']
WORDS += VALUES


def mutant(valid: bytes, draw: random.Random) -> bytes:
    """One to three random changes, of bytes or of attributes: most files stay XML, and many a URDF."""
    data = bytearray(valid)
    for _ in range(draw.randint(1, 3)):
        at, length = draw.randrange(len(data)), draw.randint(1, 40)
        values = [match.span() for match in re.finditer(rb'(?<==")[^"]*', data)]
        match draw.randrange(8):
            case 0:
                data[at] ^= 1 << draw.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length]
            case 3:
                data[at : at + draw.randrange(4)] = draw.choice(WORDS)
            case 4 if values:
                start, end = draw.choice(values)
                data[start:end] = data[slice(*draw.choice(values))]
            case _ if values:
                start, end = draw.choice(values)
                data[start:end] = draw.choice(VALUES)
    return bytes(data)


ONE_CHAIN = re.sub("<mimic[^>]*>", "", TREE).replace('"pan" type="continuous"', '"pan" type="fixed"')


@pytest.mark.fault(2)
@pytest.mark.parametrize("valid", [VALID, ONE_CHAIN], ids=["two", "tree"])
def test_mutants_give_an_arm_or_a_model_error(written: Any, valid: str) -> None:
    draw = random.Random(20)
    arms = 0
    for _ in range(1000 * SOAK):
        path = written(mutant(valid.encode(), draw))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UnphysicalInertiaWarning)
            warnings.filterwarnings("ignore", ".*no moving link has mass", UserWarning)
            result = read_or_refuse(path)
        if isinstance(result, SerialArm):
            arms += 1
            numbers = [result.tool, *(joint.before for joint in result.joints), result.inertial_parameters]
            assert all(np.isfinite(number).all() for number in numbers)
        else:
            assert "robot.urdf" in str(result)
    assert 0 < arms < 1000 * SOAK  # both outcomes were met


# ------------------------------------------------------------------------------------------------ nothing else opened

WATCHER = """
import json, sys
from pathlib import Path
from tauforge.robots.readers.urdf import read_urdf

events = []
watched = ("open", "socket", "os.", "subprocess", "urllib", "shutil", "pathlib", "glob", "ctypes", "import")
def watch(event, arguments):
    if event.startswith(watched):
        events.append([event, str(arguments[0]) if arguments else ""])
sys.addaudithook(watch)
arm = read_urdf(Path(sys.argv[1]))
found = list(events)
print(json.dumps([arm.n, found]))
"""
MESHES = ["../../secret.stl", "/etc/hostname", "file:///etc/hostname", "http://127.0.0.1:9/a.stl", "inside/link.stl"]
MESHES += ["package://two/../../secret.stl", "\\\\host\\share\\a.stl"]


@pytest.mark.fault(3)
def test_meshes_are_never_opened(written: Any, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link.stl").symlink_to("/etc/hostname")
    shapes = "".join(
        f'<{tag}><geometry><mesh filename="{mesh}"/></geometry>'
        f'<material><texture filename="{mesh}"/></material></{tag}>'
        for mesh in MESHES
        for tag in ("visual", "collision")
    )
    path = written(changed('<link name="base"/>', f'<link name="base">{shapes}</link>'))
    done = subprocess.run([sys.executable, "-c", WATCHER, str(path)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [2, [["open", str(path)]]]
