"""URDFs with branches, mimics, floating and planar joints and loops: mechanisms, against Pinocchio."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import tauforge as tf
from support.engines import configuration
from support.tolerances import CLOSED, OUTSIDE, PLACED, ROUNDING, SHORT_DIFFERENCES, error
from support.urdf_texts import TREE, VALID, changed
from tauforge.errors import ModelError, UnphysicalInertiaWarning

DATA = Path(__file__).parents[1] / "data" / "urdf"
STATES = 3
SLIDE_LIMIT = '<limit lower="0" upper="1"/>'
FULL_LIMIT = '<limit lower="0" upper="1" effort="9" velocity="1"/>'  # Pinocchio wants all
LINK = '<link name="{0}"><inertial><origin xyz="{1}"/><mass value="{2}"/><inertia ixx="0.01" ixy="0.001" ixz="0" '
LINK += 'iyy="0.02" iyz="0.002" izz="0.015"/></inertial></link>'
TURN = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="{4}" rpy="{5}"/>'
TURN += '<axis xyz="{6}"/>{7}</joint>'


def rates_by(mechanism: tf.Mechanism, model: Any) -> np.ndarray:
    """S: Pinocchio's rates of all joints, without mimics, by our independent ones."""
    joints = {joint.name: joint for joint in mechanism.joints if joint.letters}
    names = [coordinate.name for coordinate in mechanism.coordinates]

    def shares(name: str) -> dict[str, float]:
        mimic = joints[name].mimic
        if mimic is None:
            return {name: 1.0}
        return {leader: mimic[1] * share for leader, share in shares(mimic[0]).items()}

    S = np.zeros((model.nv, mechanism.n))
    for name in joints:
        for leader, share in shares(name).items():
            S[model.joints[model.getJointId(name)].idx_v, names.index(leader)] = share
    return S


def assert_agrees(text: str, mechanism: tf.Mechanism) -> None:
    """Forces, mass matrix and the frames of all links at random states."""
    model = pin.buildModelFromXML(text)
    data = model.createData()
    bare = mechanism.without_friction()
    S = rates_by(mechanism, model)
    draw = np.random.default_rng(mechanism.n)
    q, qd, qdd = draw.uniform(-1, 1, (3, STATES, mechanism.n))
    x = bare.configuration(q)
    tau, M, frames = bare.inverse_dynamics(x, qd, qdd), bare.mass_matrix(x), bare.body_frames(x)
    for k in range(STATES):
        where = configuration(model, dict(zip(bare.coordinate_names, x[k], strict=True)))
        assert error(tau[k], S.T @ pin.rnea(model, data, where, S @ qd[k], S @ qdd[k])) < OUTSIDE
        full = pin.crba(model, data, where)
        full = np.triu(full) + np.triu(full, 1).T
        assert error(M[k], S.T @ full @ S, core=2) < OUTSIDE
        pin.framesForwardKinematics(model, data, where)
        for frame, body in zip(frames[k], bare.bodies, strict=True):
            theirs = data.oMf[model.getFrameId(body.name, pin.FrameType.BODY)].homogeneous
            assert np.abs(frame - theirs).max() < PLACED, body.name


def mechanism_of(text: str, **options: Any) -> tf.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        warnings.filterwarnings("ignore", ".*unknown names are ignored")
        warnings.filterwarnings("ignore", ".*visuals are left out")
        robot = tf.loads(text, **options)
    assert isinstance(robot, tf.Mechanism)
    return robot


# ------------------------------------------------------------------------------------------- trees against Pinocchio


@pytest.mark.parametrize("name", ["rethink_baxter", "franka_panda_hand"])
def test_a_real_robot_with_branches_agrees_with_pinocchio(name: str) -> None:
    text = (DATA / f"{name}.urdf").read_text(encoding="utf-8")
    mechanism = mechanism_of(text)
    assert any(joint.mimic for joint in mechanism.joints)
    assert_agrees(text, mechanism)


def test_a_small_tree_agrees_with_pinocchio() -> None:
    """With a mimic, fixed links with mass and turned frames, a slanting axis, and a leader that comes first."""
    mechanism = mechanism_of(TREE)
    assert_agrees(TREE, mechanism)
    assert [coordinate.name for coordinate in mechanism.coordinates] == ["turn", "slide", "spin", "pan"]
    turn = next(joint for joint in mechanism.joints if joint.name == "turn")
    assert (turn.limits, turn.max_force, turn.max_speed) == (((-3.0, 2.5),), 40.0, 2.0)
    assert (turn.viscous, turn.coulomb, turn.actuated) == (0.3, (0.7, 0.7), True)


def test_mimics_keep_factor_and_offset_by_way_of_others() -> None:
    text = TREE.replace('<mimic joint="slide"/>', '<mimic joint="spin" multiplier="-2" offset="0.1"/>')
    text = text.replace(
        '<child link="c"/><origin xyz="0.1 0 0.1"/>',
        '<child link="c"/><origin xyz="0.1 0 0.1"/><mimic joint="turn" multiplier="0.5" offset="0.2"/>',
    )
    mechanism = mechanism_of(text)
    q = np.array([0.3, 0.2, -0.4])
    assert [coordinate.name for coordinate in mechanism.coordinates] == ["turn", "slide", "pan"]
    x = dict(zip(mechanism.coordinate_names, mechanism.configuration(q), strict=True))
    assert x["spin"] == pytest.approx(0.5 * 0.3 + 0.2, abs=ROUNDING)
    assert x["grip"] == pytest.approx(-2 * x["spin"] + 0.1, abs=ROUNDING)
    assert_agrees(text, mechanism)


def test_a_chain_with_a_mimic_is_a_mechanism_also_by_its_tip() -> None:
    text = VALID.replace(SLIDE_LIMIT, FULL_LIMIT + '<mimic joint="shoulder"/>')
    assert_agrees(text, mechanism_of(text))
    mechanism = mechanism_of(text, tip="lower")
    assert (mechanism.n, mechanism.tool) == (1, "lower")
    assert_agrees(text, mechanism)


def test_lock_holds_joints_of_a_mechanism() -> None:
    held = mechanism_of(TREE, lock={"slide": 0.2})
    free = mechanism_of(TREE)
    q = np.array([0.3, -0.7, 1.1])
    x = free.configuration([0.3, 0.2, -0.7, 1.1])
    for link in ("b", "finger", "eye"):  # the finger mimics the slide and is held, too
        T = held.forward_kinematics(held.configuration(q), link)
        assert np.abs(T - free.forward_kinematics(x, link)).max() < PLACED
    assert [coordinate.name for coordinate in held.coordinates] == ["turn", "spin", "pan"]


def test_a_floating_base_agrees_with_pinocchio() -> None:
    floats = ("float", "floating", "world", "base", "0.1 0.2 0.3", "0.3 0.2 0.1", "0 0 1", "")
    free = '<link name="world"/>' + TURN.format(*floats)
    text = VALID.replace('<link name="base"/>', LINK.format("base", "0.01 0.02 0.03", "4") + free)
    text = text.replace(SLIDE_LIMIT, FULL_LIMIT)
    mechanism = mechanism_of(text)
    model = pin.buildModelFromXML(text)
    data = model.createData()
    assert (mechanism.n, model.nv, len(mechanism.actuators)) == (8, 8, 2)
    assert mechanism.home[:6] == pytest.approx([0.1, 0.2, 0.3, 0.3, 0.2, 0.1], abs=ROUNDING)
    x = mechanism.home + np.random.default_rng(4).uniform(-0.4, 0.4, 8)
    T = mechanism.forward_kinematics(x, "base")
    R = pin.rpy.rpyToMatrix(*x[3:6])
    assert np.abs(T[:3, :3] - R).max() < PLACED
    assert np.abs(T[:3, 3] - x[:3]).max() < PLACED
    origin = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.2, 0.1), np.array([0.1, 0.2, 0.3]))
    where = pin.neutral(model)
    where[:7] = pin.SE3ToXYZQUAT(origin.inverse() * pin.SE3(R, x[:3]))
    where[7:] = x[6:]
    full = pin.crba(model, data, where)
    full = np.triu(full) + np.triu(full, 1).T
    B = np.zeros((8, 8))  # Pinocchio's rates of a floating joint are in the link's axes
    B[:3, :3] = B[3:6, 3:6] = R.T
    B[6:, 6:] = np.eye(2)
    assert error(mechanism.mass_matrix(x), B.T @ full @ B, core=2) < OUTSIDE
    qd, tau = np.random.default_rng(5).normal(size=8), np.array([3.0, -4.0])
    v = B @ qd
    turning = np.concatenate([np.cross(v[3:6], v[:3]), np.zeros(5)])  # of the link's axes
    found = pin.aba(model, data, where, v, np.concatenate([np.zeros(6), tau]))
    assert error(mechanism.without_friction().forward_dynamics(x, qd, tau), B.T @ (found + turning)) < OUTSIDE


def test_a_planar_joint_slides_along_its_own_axes() -> None:
    text = changed('type="prismatic"', 'type="planar"').replace('<axis xyz="1 0 0"/>', '<axis xyz="0 0 1"/>')
    mechanism = mechanism_of(text)
    assert mechanism.coordinate_names[1:] == ("slide.along", "slide.across", "slide.angle")
    T = mechanism.forward_kinematics([0.0, 0.1, -0.2, 0.3], "lower")
    assert T[:3, 3] == pytest.approx([0.1, -0.2, 0.3], abs=ROUNDING)  # 0.3 m up is the shoulder
    assert T[:3, 0] == pytest.approx([np.cos(0.3), np.sin(0.3), 0], abs=ROUNDING)


def test_the_axes_of_a_planar_joint_do_not_jump_where_its_normal_passes_the_horizontal() -> None:
    """They are the joint's x and y, turned with its z to the normal by the shortest way."""
    text = changed('type="prismatic"', 'type="planar"').replace('<axis xyz="1 0 0"/>', '<axis xyz="0.6 0.8 {}"/>')
    moved = [
        mechanism_of(text.format(z)).forward_kinematics([0.0, 0.1, -0.2, 0.3], "lower") for z in (ROUNDING, -ROUNDING)
    ]
    assert np.abs(moved[0] - moved[1]).max() < 4 * ROUNDING  # the normal itself turns by 2


def test_links_that_are_held_keep_their_names_and_frames() -> None:
    mechanism = mechanism_of(TREE)
    names = {body.name for body in mechanism.bodies}
    assert names == {"world", "pedestal", "a", "box", "disc", "b", "c", "flange", "finger", "eye"}
    x = mechanism.configuration([0.1, 0.2, 0.3, 0.4])
    point = mechanism.forward_kinematics(x, "flange") @ [0.1, 0.2, 0.3, 1.0]
    home = mechanism.forward_kinematics(mechanism.home, "flange") @ [0.1, 0.2, 0.3, 1.0]
    J, h = mechanism.jacobian(x, "flange", point=home[:3]), 1e-6
    for k, step in enumerate(h * np.eye(4)):
        ends = [
            mechanism.forward_kinematics(mechanism.configuration([0.1, 0.2, 0.3, 0.4] + sign * step), "flange")
            @ [0.1, 0.2, 0.3, 1.0]
            for sign in (1, -1)
        ]
        assert np.abs((ends[0] - ends[1])[:3] / (2 * h) - J[:3, k]).max() < SHORT_DIFFERENCES
    assert np.isfinite(point).all()


def test_names_with_dots_are_taken() -> None:
    text = VALID.replace('"upper"', '"link_0.0"').replace('"lower"', '"link_0.1"').replace('"slide"', '"joint_0.0"')
    turn = TURN.format("joint_0", "continuous", "base", "more", "0 0 0", "0 0 0", "0 0 1", "")
    text = text.replace("</robot>", f'<link name="more"/>{turn}</robot>')
    mechanism = mechanism_of(text)
    assert [coordinate.name for coordinate in mechanism.coordinates] == ["shoulder", "joint_0.0", "joint_0"]
    assert mechanism.replace(independent=("shoulder", "joint_0.0", "joint_0")) == mechanism.replace(
        independent=mechanism.structure.independent
    )


# ------------------------------------------------------------------------------------------------------ bad mimics


@pytest.mark.parametrize(
    ("mimic", "says"),
    [
        ('<mimic joint="shoulder1"/>', ("no joint named 'shoulder1'", "'shoulder'")),
        ('<mimic joint="slide"/>', ("mimic each other in a circle", "'slide'")),
        ('<mimic joint="shoulder" multiplier="nan"/>', ("mimic multiplier", "finite")),
    ],
)
def test_a_bad_mimic_is_refused(mimic: str, says: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as caught:
        tf.loads(changed('<limit lower="0" upper="1"/>', f'<limit lower="0" upper="1"/>{mimic}'))
    for part in ("<text>:", *says):
        assert part in str(caught.value)


def test_a_mimic_of_a_fixed_joint_stands_still() -> None:
    text = TREE.replace('<mimic joint="slide"/>', '<mimic joint="bolt" offset="0.03"/>')
    mechanism = mechanism_of(text)
    assert "grip" not in mechanism.coordinate_names
    T = mechanism.forward_kinematics(mechanism.home, "finger")
    flange = mechanism.forward_kinematics(mechanism.home, "flange")
    assert T[:3, 3] == pytest.approx(flange[:3, :3] @ [0, 0.03, 0.1] + flange[:3, 3], abs=ROUNDING)


def test_a_moving_link_called_ground_is_refused() -> None:
    with pytest.raises(ModelError, match="'ground' is the base"):
        tf.loads(TREE.replace('"finger"', '"ground"'))


# ----------------------------------------------------------------------------------------------------------- loops

FIVE_BAR = "<robot name='five bar'><link name='base'/>"
BARS = (("a1", "base", "0 0 0"), ("a2", "a1", "0 0.3 0"), ("b1", "base", "0.2 0 0"), ("b2", "b1", "0 0.3 0"))
for _name, _parent, _at in BARS:
    FIVE_BAR += LINK.format(_name, "0 0.15 0", "1.0")
    FIVE_BAR += TURN.format(f"j{_name}", "continuous", _parent, _name, _at, "0 0 0", "0 0 1", "")
FIVE_BAR += "</robot>"


def test_a_loop_that_is_closed_at_zero_needs_no_search() -> None:
    mechanism = mechanism_of(FIVE_BAR, loops=[tf.Hinge("mid", "a2", "b2", at=(0.1, 0.6, 0.0))])
    assert (mechanism.n, mechanism.structure.freedom) == (2, 2)
    assert mechanism.loop_gap(mechanism.home) < ROUNDING
    assert not mechanism.home.any()


@pytest.mark.parametrize("home", [None, {"ja1": 0.5, "ja2": -1.0, "jb1": -0.5, "jb2": 1.0}])
def test_two_points_are_brought_together(home: dict[str, float] | None) -> None:
    """The tips of the two arms are 0.2 m apart at zero."""
    loop = tf.Hinge("mid", "a2", "b2", at=(0.0, 0.6, 0.0)), (0.2, 0.6, 0.0)
    mechanism = mechanism_of(FIVE_BAR, loops=[loop], home=home)
    assert mechanism.loop_gap(mechanism.home) < CLOSED
    x = dict(zip(mechanism.coordinate_names, mechanism.home, strict=True))
    bare = mechanism_of(FIVE_BAR)
    y = [x[name] for name in bare.coordinate_names]
    for link in ("a1", "a2", "b1", "b2"):  # coordinates are still the URDF's
        ours = mechanism.forward_kinematics(mechanism.home, link)
        assert np.abs(ours - bare.forward_kinematics(y, link)).max() < PLACED
    tips = [bare.forward_kinematics(y, link) @ [0, 0.3, 0, 1] for link in ("a2", "b2")]
    assert np.abs(tips[0] - tips[1]).max() < CLOSED


@pytest.mark.parametrize(
    ("loops", "home", "says"),
    [
        ([tf.Spherical("c", "a2", "b9", at=(0, 0, 0))], None, "there is no body 'b9'"),
        ([("a2", "b2")], None, "loops[1]: expected a joint, or (joint, point of its child)"),
        ("mid", None, "loops: expected a sequence of joints"),
        ([tf.Slider("c", "a2", "b2", at=(0, 0, 0))], {"ja1": 0.1}, "a Slider can only close a loop where it is"),
        ([(tf.Spherical("c", "a2", "b2"), (0, 9, 0))], {"ja1": 0.1}, "the loop at c stays open by"),
        ([], {"nothing": 0.1}, "home: there is no joint named 'nothing'"),
        ([], {"ja1": float("nan")}, "home['ja1']"),
        ([], 3, "home: expected names of joints"),
    ],
)
def test_bad_loops_are_refused(loops: Any, home: Any, says: str) -> None:
    with pytest.raises(ModelError) as caught:
        tf.loads(FIVE_BAR, loops=loops, home=home)
    assert says in str(caught.value)


def test_loops_and_home_are_for_urdf_alone() -> None:
    with pytest.raises(ModelError, match="loops applies to URDF files only"):
        tf.load("puma560", loops=[])  # type: ignore[call-overload]
