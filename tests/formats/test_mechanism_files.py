"""Mechanisms as TOML, URDF and MJCF files: what is written reads back, and what is wrong is refused."""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import tauforge as tf
from support.mechanisms import bar, crank_rocker
from support.tolerances import CLOSED, FORMULATIONS, PLACED, error
from tauforge.errors import ModelError, TauforgeWarning, UnsupportedFeatureError
from tauforge.robots.mechanism.parts import MechanismJoint
from tauforge.robots.records import KnownException, Source
from tauforge.validation import rotation_from_rpy

ACROSS = (0.0, -1.0, 0.0)
A, B, C, D, E = (0.0, 0.0, 0.0), (-0.1, 0.28, 0.0), (0.12, 0.55, 0.0), (0.35, 0.28, 0.0), (0.25, 0.0, 0.0)


def body(name: str, com: tuple[float, ...], **more: object) -> tf.Body:
    inertia = ((0.02, 0.001, 0.002), (0.001, 0.03, -0.003), (0.002, -0.003, 0.025))
    return tf.Body(name, 1.3, com, inertia, **more)  # type: ignore[arg-type]


def five_bar() -> tf.Mechanism:
    return tf.Mechanism(
        bodies=(body("c1", B), body("r1", C, origin=B), body("c2", D), body("r2", C)),
        joints=(
            tf.Hinge("left", "ground", "c1", at=A, actuated=True, max_force=9.0, limits=(-1.0, 1.0)),
            tf.Hinge("e1", "c1", "r1", at=B, viscous=0.1),
            tf.Hinge("right", "ground", "c2", at=E, actuated=True, motor_inertia=0.01, home=0.3),
            tf.Hinge("e2", "c2", "r2", at=D),
            tf.Spherical("mid", "r1", "r2", at=C),
        ),
        springs=(tf.Spring("r1", C, "ground", (0.1, 0.1, 0.2), 30.0, 0.2, 1.5),),
        gravity=(0.1, -9.81, 0.2),
        name="five bar",
    )


def every_kind() -> tf.Mechanism:
    R = rotation_from_rpy(0.3, -0.5, 0.7)
    frame = [[*row, x] for row, x in zip(R.rows, (0.1, 0.2, 0.3), strict=True)] + [[0.0, 0.0, 0.0, 1.0]]
    slanting = (1.0, 2.0, -0.3)
    return tf.Mechanism(
        bodies=(
            body("a", (0.1, 0.2, 0.3), frame=frame),
            *(body(name, (0.1 * k, 0.3, 0.2)) for k, name in enumerate("bcdefg", 1)),
            tf.Body("h", origin=(1.0, 2.0, 3.0)),
        ),
        joints=(
            tf.Hinge(
                "j1",
                "ground",
                "a",
                (0.0, 0.1, 0.0),
                True,
                0.3,
                (-1.0, 2.0),
                0.1,
                (0.1, 0.2),
                1e-3,
                -50.0,
                axis=slanting,
            ),
            tf.Slider("j2", "a", "b", axis=(0.0, 1.0, 1.0), mimic=("j1", 2.0, 0.1), home=0.7, max_speed=3.0),
            tf.Planar("j3", "b", "c", axis=slanting, along=(1.0, 0.0, 0.2), limits=[(-1, 1), (-2, 2), (-3, 3)]),
            tf.Universal("j4", "c", "d", axes=(slanting, (3.0, -1.0, 0.4)), actuated=True, home=(0.1, 0.2)),
            tf.Cylinder("j5", "d", "e", axis=(1.0, 1.0, 1.0), max_force=4.0),
            tf.Spherical("j6", "e", "f", at=(1.0, 1.0, 1.5)),
            tf.Free("j7", "ground", "g"),
            tf.Weld("j8", "g", "h"),
        ),
        springs=(tf.Spring("a", (0.0, 0.0, 0.0), "ground", (0.0, 0.0, 1.0), 30.0, damping=0.3),),
        tool="f",
        coulomb_speed=0.01,
        name='odd "name"\n',
        known_exceptions=(KnownException("a", "as measured"),),
        sources=(Source(("mass",), "chosen by us", "for tests"),),
    )


def crane() -> tf.Mechanism:
    """A boom and a stick, a cylinder each. Coordinates of cylinders are their lengths, so that home is not at 0."""
    bodies = [bar("boom", A, (2.0, 0.0, 1.5), 300.0), bar("stick", (2.0, 0.0, 1.5), (3.0, 0.0, 0.2), 120.0)]
    joints: list[MechanismJoint] = [
        tf.Hinge("boom pin", "ground", "boom", at=A, axis=ACROSS, viscous=3.0),
        tf.Hinge("stick pin", "boom", "stick", at=(2.0, 0.0, 1.5), axis=ACROSS, home=0.2, viscous=2.0),
    ]
    for name, inner, foot, outer, eye in (
        ("boom", "ground", (0.8, 0.0, -0.1), "boom", (1.0, 0.0, 0.9)),
        ("stick", "boom", (1.0, 0.0, 1.0), "stick", (2.1, 0.0, 1.9)),
    ):
        along = np.array(eye) - foot
        length, middle = float(np.linalg.norm(along)), tuple(np.array(foot) + 0.5 * along)
        bodies += [bar(f"{name} barrel", foot, middle, 20.0), bar(f"{name} rod", middle, eye, 10.0)]
        joints += [
            tf.Hinge(f"{name} foot", inner, f"{name} barrel", at=foot, axis=ACROSS),
            tf.Slider(
                f"{name} cylinder",
                f"{name} barrel",
                f"{name} rod",
                at=middle,
                axis=tuple(along),
                home=length,
                limits=(0.8 * length, 1.3 * length),
                actuated=True,
                max_force=8e4,
            ),
            tf.Hinge(f"{name} eye", f"{name} rod", outer, at=eye, axis=ACROSS),
        ]
    return tf.Mechanism(name="crane", bodies=bodies, joints=joints)


# ------------------------------------------------------------------------------------------------------------ TOML


@pytest.mark.parametrize("make", [five_bar, every_kind])
def test_a_saved_mechanism_loads_equal(make: object, tmp_path: Path) -> None:
    mechanism = make()  # type: ignore[operator]
    path = tmp_path / "m.toml"
    mechanism.save(path)
    again = tf.load(path)
    assert again == mechanism
    assert again.sources == mechanism.sources
    assert again.known_exceptions == mechanism.known_exceptions
    again.save(tmp_path / "n.toml")
    assert (tmp_path / "n.toml").read_bytes() == path.read_bytes()


def test_choices_are_kept(tmp_path: Path) -> None:
    mechanism = five_bar().replace(independent=("e1", "left"), cut=("mid",), tool="r1")
    mechanism.save(tmp_path / "m.toml")
    assert tf.load(tmp_path / "m.toml") == mechanism


TEXT = """
format = "tauforge-mechanism-1"
name = "lever"
[[body]]
name = "bar"
mass = 1.0
com = [0.1, 0.0, 0.0]
inertia = [0.01, 0.01, 0.01]
[[body]]
name = "rod"
mass = 1.0
com = [0.2, 0.3, 0.0]
inertia = [0.01, 0.01, 0.01]
[[joint]]
name = "turn"
kind = "hinge"
parent = "ground"
child = "bar"
axis = [0.0, 0.0, 1.0]
actuated = true
limits = ["-pi/2", 2.0]
[[joint]]
name = "knee"
kind = "hinge"
parent = "bar"
child = "rod"
at = [0.2, 0.0, 0.0]
[[joint]]
name = "slide"
kind = "slider"
parent = "rod"
child = "shoe"
at = [0.2, 0.5, 0.0]
axis = [0.0, 1.0, 0.0]
[[body]]
name = "shoe"
mass = 0.1
com = [0.2, 0.5, 0.0]
inertia = [0.01, 0.01, 0.01]
[[spring]]
body_a = "bar"
point_a = [0.1, 0.0, 0.0]
body_b = "ground"
point_b = [0.1, 0.5, 0.0]
stiffness = 10.0
"""


@pytest.mark.fault(1)
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("mass = 0.1", "mass = -0.1", "body[3].mass: expected a number >= 0, got -0.1. Write for example mass = 2.5"),
        ("mass = 0.1", "mass = nan", "body[3].mass: expected a finite number"),
        ("mass = 0.1", "weight = 0.1", "body[3]: unknown key 'weight'"),
        ('kind = "slider"', 'kind = "screw"', "joint[3].kind: unknown kind 'screw'"),
        ('kind = "slider"', 'kind = "spherical"', "joint[3].axis: a spherical joint has no axis"),
        ("axis = [0.0, 1.0, 0.0]", "axis = [0.0, 0.0, 0.0]", "joint[3].axis: expected an axis of a length other than"),
        ('child = "shoe"', 'child = "shoo"', "joint[3].child: there is no body 'shoo'"),
        ('name = "knee"', 'name = "turn"', "two joints are called 'turn'"),
        ("actuated = true", "actuated = 1", "joint[1].actuated: expected True or False, got 1"),
        ('limits = ["-pi/2", 2.0]', 'limits = ["-pi/x", 2.0]', "joint[1].limits: expected radians"),
        ("limits = [", "mimic = { joint = 'knee', facter = 2.0 }\nlimits = [", "mimic: unknown key 'facter'"),
        ("stiffness = 10.0", "stiffness = -10.0", "stiffness: expected a number >= 0"),
        ("stiffness = 10.0", "", "spring[1].stiffness: the key is missing"),
        ('name = "lever"', 'name = "lever"\ntool = "hand"', "tool: there is no body 'hand'"),
        (
            'name = "lever"',
            'name = "lever"\nindependent = ["turn", "neck"]',
            "independent: there is no coordinate 'neck'",
        ),
        ('[[body]]\nname = "bar"', '[start]\nneck = 1.0\n[[body]]\nname = "bar"', "start: unknown key 'neck'"),
    ],
)
def test_a_bad_file_is_refused_by_its_field(old: str, new: str, says: str) -> None:
    assert old in TEXT
    assert isinstance(tf.loads(TEXT), tf.Mechanism)
    with pytest.raises(ModelError) as caught:
        tf.loads(TEXT.replace(old, new, 1))
    assert says in str(caught.value)


def test_a_loop_in_toml_is_closed_from_its_start() -> None:
    loop = '[[joint]]\nname = "pin"\nkind = "hinge"\nparent = "shoe"\nchild = "ground"\nat = [0.2, 0.5, 0.0]\n'
    loop += "child_at = [0.5, 0.2, 0.0]\n"
    start = TEXT.replace("[[body]]", "[start]\nturn = 0.2\nknee = -0.9\n[[body]]", 1)
    mechanism = tf.loads(start + loop)
    assert isinstance(mechanism, tf.Mechanism)
    assert mechanism.structure.freedom == 1
    assert mechanism.loop_gap(mechanism.home) < CLOSED
    tree = tf.loads(TEXT)
    assert isinstance(tree, tf.Mechanism)
    places = dict(zip(mechanism.coordinate_names, mechanism.home, strict=True))
    pin = tree.forward_kinematics([places[name] for name in tree.coordinate_names], "shoe")[:3, 3]
    assert np.abs(pin - [0.5, 0.2, 0.0]).max() < CLOSED
    with pytest.raises(ModelError, match=r"the loop at pin stays open by .* \(m or rad\)"):
        tf.loads(start + loop.replace("0.5, 0.2, 0.0", "0.5, 0.2, 5.0"))


@pytest.mark.fault(4)
def test_a_file_with_too_many_parts_is_refused() -> None:
    many = TEXT + "".join(f'[[body]]\nname = "b{k}"\n' for k in range(300))
    with pytest.raises(ModelError, match=re.escape("there are 303 tables [[body]]; at most 256 are accepted")):
        tf.loads(many)


# ---------------------------------------------------------------------------------------------------- URDF and MJCF


def agree(a: tf.Mechanism, b: tf.Mechanism, *, from_home: bool = False) -> None:
    """Frames of all bodies and, where the coordinates are the same, mass matrices; loops are closed.

    from_home: whether coordinates of b are 0 in the home position of a
    """
    q = a.positions.coordinates(a.home) + np.random.default_rng(1).uniform(-0.1, 0.1, (3, a.n))
    x = a.configuration(q)
    y = x - a.home if from_home else x
    y = np.stack([y[:, a.coordinate_names.index(name)] for name in b.coordinate_names], axis=-1)
    names = [body.name for body in b.bodies]
    picked = b.body_frames(y)[:, [names.index(body.name) for body in a.bodies]]
    assert np.abs(a.body_frames(x) - picked).max() < PLACED
    if [c.name for c in a.coordinates] == [c.name for c in b.coordinates]:
        assert error(a.mass_matrix(x), b.mass_matrix(y), core=2) < FORMULATIONS


def test_mjcf_holds_loops_and_springs(tmp_path: Path) -> None:
    mechanism, path = five_bar(), tmp_path / "m.xml"
    mechanism.save(path)
    again = tf.load(path)
    assert isinstance(again, tf.Mechanism)
    agree(mechanism, again)
    assert again.springs == mechanism.springs
    assert again.gravity == mechanism.gravity
    assert again.max_forces.tolist() == mechanism.max_forces.tolist()
    assert mujoco.MjModel.from_xml_path(str(path)).neq == 1
    q = mechanism.positions.coordinates(mechanism.home)
    state = mechanism.configuration(q + 0.05), [0.3, -0.2], [0.1, 0.4]
    assert error(again.inverse_dynamics(*state), mechanism.inverse_dynamics(*state)) < FORMULATIONS


def test_mjcf_has_every_kind_of_joint(tmp_path: Path) -> None:
    mechanism, path = every_kind(), tmp_path / "m.xml"
    with pytest.warns(
        TauforgeWarning, match="MJCF does not hold: Coulomb friction .*j1.*coulomb_speed.*limits of speed"
    ):
        mechanism.save(path)
    again = tf.load(path)
    assert isinstance(again, tf.Mechanism)
    agree(mechanism, again)


def test_urdf_holds_the_tree_and_says_what_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "m.urdf"
    with pytest.warns(TauforgeWarning) as caught:
        five_bar().save(path)
    (told,) = [str(warning.message) for warning in caught]
    for part in (
        "the loops at mid",
        "home positions (right; coordinates of the file, and their limits, are counted from the home position",
        "loops=[...]",
        "1 spring",
        "no actuators (e1, e2",
        "inertias of rotors",
        "gravity",
    ):
        assert part in told
    again = tf.load(path)
    assert isinstance(again, tf.Mechanism)
    agree(five_bar(), again, from_home=True)
    with pytest.warns(TauforgeWarning, match=r"ball joints \(j6"):
        every_kind().save(path)
    tree = tf.load(path)
    assert isinstance(tree, tf.Mechanism)
    agree(every_kind(), tree)


def test_a_urdf_with_the_joints_that_were_cut_is_the_same_machine(tmp_path: Path) -> None:
    mechanism, path = crane(), tmp_path / "m.urdf"
    cut = [joint for joint in mechanism.joints if joint.name in mechanism.structure.cut]
    assert len(cut) == 2
    with pytest.warns(TauforgeWarning, match=r"home positions \(stick pin, boom cylinder, stick cylinder; "):
        mechanism.save(path)
    drives = [actuator.name for actuator in mechanism.actuators]
    again = tf.load(path, loops=cut, actuated=drives, tool=mechanism.tool_body)
    assert isinstance(again, tf.Mechanism)
    assert [actuator.name for actuator in again.actuators] == drives == ["boom cylinder", "stick cylinder"]
    assert again.max_forces.tolist() == [8e4, 8e4]
    home = mechanism.positions.coordinates(mechanism.home)
    assert again.positions.coordinates(again.home).tolist() == [0.0, 0.0]
    limits = [(c.lower, c.upper) for c in mechanism.coordinates]
    assert np.allclose([(c.lower, c.upper) for c in again.coordinates], np.array(limits) - home[:, None], atol=PLACED)
    for way in (0.0, 0.1):
        x, y = mechanism.configuration(home + way), again.configuration(home * 0 + way)
        for body in mechanism.bodies:
            places = [m.forward_kinematics(at, body.name) for m, at in ((mechanism, x), (again, y))]
            assert np.abs(places[0] - places[1]).max() < PLACED
        rates = [0.3, -0.2], [0.1, 0.4]
        assert error(again.inverse_dynamics(y, *rates), mechanism.inverse_dynamics(x, *rates)) < FORMULATIONS


def test_mimics_of_a_urdf_are_counted_from_home_where_there_are_loops(tmp_path: Path) -> None:
    turned = tf.Hinge("wheel", "ground", "w", at=(1.0, 0.0, 0.0), mimic=("right", -2.0, 0.1), home=-0.5)
    mechanism = five_bar()
    mechanism = mechanism.replace(bodies=(*mechanism.bodies, body("w", E)), joints=(*mechanism.joints, turned))
    with pytest.warns(TauforgeWarning, match=r"home positions \(right, wheel; "):
        mechanism.save(tmp_path / "m.urdf")
    again = tf.load(tmp_path / "m.urdf", loops=[mechanism.joints[4]])
    assert isinstance(again, tf.Mechanism)
    (wheel,) = [joint for joint in again.joints if joint.name == "wheel"]
    assert wheel.mimic == ("right", -2.0, 0.0)


def test_a_urdf_without_limits_has_none_that_other_tools_take_as_no_motion(tmp_path: Path) -> None:
    slider = tf.Slider("slide", "ground", "a", axis=(1.0, 0.0, 0.0), actuated=True, max_force=3.0)
    hinge = tf.Hinge("turn", "a", "b", limits=(-1.0, 2.0), actuated=True)
    free = tf.Hinge("spin", "b", "c", actuated=True)
    fast = tf.Hinge("fast", "c", "d", actuated=True, max_speed=2.0)
    tree = tf.Mechanism(bodies=[body(name, B) for name in "abcd"], joints=[slider, hinge, free, fast])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.save(tmp_path / "m.urdf")
    limits = re.findall("<limit .*", (tmp_path / "m.urdf").read_text())
    assert limits == [
        '<limit lower="-1000000000.0" upper="1000000000.0" effort="3.0" velocity="1000000000.0"/>',
        '<limit lower="-1.0" upper="2.0" effort="1000000000.0" velocity="1000000000.0"/>',
        '<limit effort="1000000000.0" velocity="2.0"/>',
    ]
    again = tf.load(tmp_path / "m.urdf", actuated=["slide", "turn", "spin", "fast"])
    assert isinstance(again, tf.Mechanism)
    for joint in tree.joints:
        (read,) = [other for other in again.joints if other.name == joint.name]
        assert (read.limits, read.max_force, read.max_speed) == (joint.limits, joint.max_force, joint.max_speed)


def test_mjcf_keeps_the_order_of_actuators(tmp_path: Path) -> None:
    mechanism, path = crane(), tmp_path / "m.xml"
    with pytest.warns(TauforgeWarning, match=r"which body is the tool; tauforge\.load\(path, tool='stick rod'\)"):
        mechanism.save(path)
    slides = re.findall('name="([a-z]+ cylinder)"', path.read_text())
    assert slides == ["stick cylinder", "boom cylinder"]  # bodies hang in each other, and the stick is in the boom
    again = tf.load(path, tool="stick rod")
    assert isinstance(again, tf.Mechanism)
    assert [actuator.name for actuator in again.actuators] == ["boom cylinder", "stick cylinder"]
    assert [c.name for c in again.coordinates] == ["boom cylinder", "stick cylinder"]
    home, rates = mechanism.positions.coordinates(mechanism.home), ([0.3, -0.2], [0.1, 0.4])
    forces = [m.inverse_dynamics(m.configuration(home + 0.1), *rates) for m in (mechanism, again)]
    assert error(forces[1], forces[0]) < FORMULATIONS


def test_bodies_that_mujoco_refuses_are_named(tmp_path: Path) -> None:
    """A bar along an axis, a slanting one and a body without mass. One that carries enough by a weld is taken."""
    thin, path = (0.01, 0.01, 0.0), tmp_path / "m.xml"
    slanting = ((0.005, -0.005, 0.0), (-0.005, 0.005, 0.0), (0.0, 0.0, 0.01))
    own: dict[str, Any] = {"a": (1.0, A, thin), "b": (1.0, A, slanting), "c": (0.0, A), "d": (0.0, A)}
    bodies = {name: tf.Body(name, *values) for name, values in own.items()} | {"e": body("e", A)}
    hung = [tf.Hinge(f"j{name}", "ground", name, axis=ACROSS) for name in "abcd"]
    every = tf.Mechanism(bodies=list(bodies.values()), joints=[*hung, tf.Weld("w", "d", "e")])
    with pytest.warns(
        TauforgeWarning, match=r"m\.xml: MuJoCo refuses bodies .* inertia of 0: a, b, c\. Give them some"
    ):
        every.save(path)
    for name in "abc":
        alone = tf.Mechanism(bodies=[bodies[name]], joints=[hung["abc".index(name)]])
        with pytest.warns(TauforgeWarning, match=f"inertia of 0: {name}"):
            alone.save(path)
        with pytest.raises(ValueError, match=r"mass and inertia of moving bodies|inertia must have positive eigen"):
            mujoco.MjModel.from_xml_path(str(path))
    carried = tf.Mechanism(bodies=[bodies["d"], bodies["e"]], joints=[hung[3], tf.Weld("w", "d", "e")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        carried.save(path)
    assert mujoco.MjModel.from_xml_path(str(path)).nv == 1


@pytest.mark.parametrize("name", ["panda", "scara", "stanford"])
@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_arms_are_written_too(name: str, suffix: str, tmp_path: Path) -> None:
    arm = tf.load(name).without_friction().replace(motor_inertia=[0.0] * tf.load(name).n)
    path = tmp_path / f"arm.{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm.save(path)
        again = tf.load(path)
    q, qd, qdd = arm.random_states(3)
    assert (
        error(again.inverse_dynamics(again.positions.at(q), qd, qdd), arm.inverse_dynamics(q, qd, qdd)) < FORMULATIONS
    )
    T = again.forward_kinematics(again.positions.at(q))  # type: ignore[attr-defined]
    assert np.abs(T - arm.forward_kinematics(q)).max() < PLACED  # type: ignore[attr-defined]


def test_what_a_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    loop = tf.Slider("mid", "r1", "r2", at=C, axis=(0.0, 1.0, 0.0))
    mechanism = five_bar()
    driven = [dataclasses.replace(joint, viscous=0.1) for joint in mechanism.joints[:-1]]  # so that none of them is cut
    mechanism = mechanism.replace(joints=(*driven, loop), springs=())
    with pytest.raises(
        UnsupportedFeatureError, match=r"m\.xml: mid: MJCF closes loops at balls, hinges and welds, not at"
    ):
        mechanism.save(tmp_path / "m.xml")
    assert not (tmp_path / "m.xml").exists()
    with pytest.raises(ModelError, match=r"unknown suffix '\.yaml'.*\.toml, \.urdf or \.xml"):
        mechanism.save(tmp_path / "m.yaml")
    with pytest.raises(ModelError, match="a character that no XML file can hold"):
        mechanism.replace(name="a\x01b").save(tmp_path / "m.urdf")


def test_mjcf_has_no_motor_for_a_joint_that_closes_a_loop(tmp_path: Path) -> None:
    """All joints of the loop are driven, so it is cut through a body at one of them."""
    m = crank_rocker()
    driven = m.replace(joints=[dataclasses.replace(joint, actuated=True) for joint in m.joints])
    assert driven.structure.through
    with pytest.raises(UnsupportedFeatureError, match="MJCF has no motor for a joint that closes a loop"):
        driven.save(tmp_path / "m.xml")
    assert not (tmp_path / "m.xml").exists()
