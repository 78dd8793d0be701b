"""Mechanisms as TOML, URDF and MJCF files: what is written reads back, and what is wrong is refused."""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import tauforge as tf
from support.tolerances import CLOSED, FORMULATIONS, PLACED, error
from tauforge.errors import ModelError, TauforgeWarning, UnsupportedFeatureError
from tauforge.robots.provenance import KnownException, Source
from tauforge.robots.validation import rotation_from_rpy

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


def agree(a: tf.Mechanism, b: tf.Mechanism) -> None:
    """Frames of all bodies and, where the coordinates are the same, mass matrices; loops are closed."""
    q = a.coordinates_at(a.home) + np.random.default_rng(1).uniform(-0.1, 0.1, (3, a.n))
    x = a.configuration(q)
    y = np.stack([x[:, a.coordinate_names.index(name)] for name in b.coordinate_names], axis=-1)
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
    q = mechanism.coordinates_at(mechanism.home)
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
        "loops=[...]",
        "1 spring",
        "no actuators (e1, e2",
        "inertias of rotors",
        "gravity",
    ):
        assert part in told
    again = tf.load(path)
    assert isinstance(again, tf.Mechanism)
    agree(five_bar(), again)
    closed = tf.load(path, loops=[tf.Spherical("mid", "r1", "r2", at=C)], home={"right": 0.3})
    assert closed.n == 2  # a URDF's home is where its coordinates are 0; the file keeps them
    with pytest.warns(TauforgeWarning, match=r"ball joints \(j6"):
        every_kind().save(path)
    tree = tf.load(path)
    assert isinstance(tree, tf.Mechanism)
    agree(every_kind(), tree)


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
    assert error(again.inverse_dynamics(again.position_at(q), qd, qdd), arm.inverse_dynamics(q, qd, qdd)) < FORMULATIONS
    T = again.forward_kinematics(again.position_at(q))  # type: ignore[attr-defined]
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
