"""What drawings say of bodies and joints: ellipsoids of inertia, telescoping legs, reactions; and dragging."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.robot_functions import MECHANISMS, tried
from support.tolerances import FORMULATIONS, PLACED, error_beside
from tauforge.pictures.animation_frames import outlines
from tauforge.robots.drawing import inertia_ellipsoid
from tauforge.robots.positions import body_of, condition

NAMES = list(tried())
WITH_MASSES = [name for name in NAMES if name not in ("dietmaier", "mathworks-hexapod", *MECHANISMS)]
URDF_LIKE = tf.SerialArm(
    joints=[
        tf.Joint(name=f"j{k}", before=[[1, 0, 0, 0.1], [0, 0, -1, 0.2], [0, 1, 0, 0.3], [0, 0, 0, 1]], mass=1.0 + k,
                 after=[[1, 0, 0, 0.2], [0, 1, 0, 0.1], [0, 0, 1, 0.1], [0, 0, 0, 1]], com=(0.1, 0.2, 0.3),
                 inertia=(0.1, 0.2, 0.25))
        for k in range(3)
    ]
)  # fmt: skip


def state(robot: Any) -> tuple[np.ndarray, ...]:
    position, velocity, acceleration = robot.random_states(1, seed=3)
    return position[0], velocity[0], acceleration[0]


def test_the_ellipsoid_has_the_bodys_inertia() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        axes, mass = np.linalg.qr(random.normal(size=(3, 3)))[0], random.uniform(1, 5)
        semi = np.sort(random.uniform(0.1, 1, 3))
        moments = mass / 5 * (semi @ semi - semi**2)
        body = inertia_ellipsoid("body", np.eye(4), mass, (1, 2, 3), axes @ np.diag(moments) @ axes.T)
        assert body is not None
        R, place = body.transform[:3, :3], body.transform[:3, 3]
        assert np.linalg.det(R) == pytest.approx(1)
        np.testing.assert_allclose(place, (1, 2, 3))
        again = mass / 5 * (body.semi_axes @ body.semi_axes - body.semi_axes**2)
        np.testing.assert_allclose(R @ np.diag(again) @ R.T, axes @ np.diag(moments) @ axes.T, atol=1e-12)


def test_a_body_without_mass_or_inertia_has_no_ellipsoid() -> None:
    assert inertia_ellipsoid("body", np.eye(4), 0.0, (0, 0, 0), np.eye(3)) is None
    assert inertia_ellipsoid("body", np.eye(4), 1.0, (0, 0, 0), np.zeros((3, 3))) is None


def test_ellipsoids_of_links_are_where_their_masses_are() -> None:
    """The potential energy is that of the masses at the ellipsoids' places."""
    arm = tf.load("panda")
    position = arm.random_states(4)[0]
    bodies = {body.name: body.transform[..., :3, 3] for body in arm.drawing(position).ellipsoids}
    masses = {joint.link_name: joint.mass for joint in arm.joints if joint.mass}
    potential = -sum(mass * bodies[name] @ np.array(arm.gravity) for name, mass in masses.items())
    np.testing.assert_allclose(potential, arm.energy(position, 0 * position)[1], rtol=1e-12)


def test_ellipsoids_of_legs_are_where_their_masses_are() -> None:
    rig = tf.load("motion-rig")
    position = rig.random_states(4)[0]
    bodies = {body.name: body.transform[..., :3, 3] for body in rig.drawing(position).ellipsoids}
    masses = {
        f"{part} part of leg {i + 1}": getattr(rig, f"{part}_mass")[i] for part in ("lower", "upper") for i in range(6)
    }
    masses["platform"] = rig.platform_mass
    potential = -sum(mass * bodies[name] @ np.array(rig.gravity) for name, mass in masses.items())
    np.testing.assert_allclose(potential, rig.energy(position, 0 * position)[1], rtol=1e-12)


@pytest.mark.parametrize("robot", [*map(tf.load, WITH_MASSES), URDF_LIKE], ids=lambda robot: robot.name)
def test_reactions_hold_the_robot(robot: Any) -> None:
    """Along the axis of a joint the reaction is what the actuator gives, less friction and rotor."""
    position, velocity, acceleration = state(robot)
    reactions = robot.reactions(position, velocity, acceleration)
    drawing = robot.drawing(position)
    if robot.kind == "serial arm":
        plain = robot.without_friction()
        plain = plain.replace(joints=[tf.Joint(**{**vars(j), "motor_inertia": 0.0}) for j in plain.joints])
        forces = plain.inverse_dynamics(position, velocity, acceleration)
        for reaction, action, force in zip(reactions, drawing.actions, forces, strict=True):
            about = reaction.moment + np.cross(reaction.place - action.place, reaction.force)
            value = action.axis @ (about if action.turns else reaction.force)
            assert value == pytest.approx(force, abs=1e-9 * max(1.0, np.abs(forces).max()))
        return
    on_platform = [-r.force for r in reactions if r.name.startswith("platform joint")]
    assert len(reactions) == 18
    mass = robot.platform_mass
    centre = np.array(robot.platform_com) @ _rotation(drawing).T
    omega, alpha = velocity[3:], acceleration[3:]
    a = acceleration[:3] + np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre))
    np.testing.assert_allclose(sum(on_platform), mass * (a - np.array(robot.gravity)), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["3-rps", "delta"])
def test_reactions_hold_a_mechanism(name: str) -> None:
    """Along its axis an actuated joint carries the force of its actuator; nothing else about a hinge's axis."""
    robot: Any = tf.load(name)
    motion = state(robot)
    forces = robot.without_friction().inverse_dynamics(*motion)
    reactions = {reaction.name: reaction for reaction in robot.reactions(*motion)}
    for action, force in zip(robot.drawing(motion[0]).actions, forces, strict=True):
        reaction = reactions[action.name]
        about = reaction.moment + np.cross(reaction.place - action.place, reaction.force)
        value = action.axis @ (about if action.turns else reaction.force)
        assert error_beside(value, force, forces) <= FORMULATIONS


def _rotation(drawing: Any) -> np.ndarray:
    return np.asarray(next(frame.transform for frame in drawing.frames if frame.name == "platform")[:3, :3])


def test_the_reaction_between_the_parts_of_a_leg_is_about_its_own_place() -> None:
    rig = tf.load("motion-rig")
    motion = state(rig)
    found = rig.joint_reactions(*motion)
    slider = next(r for r in rig.reactions(*motion) if r.name == "slider 2")
    at_base = slider.moment + np.cross(slider.place - np.array(rig.base_points[1]), slider.force)
    np.testing.assert_allclose(at_base, found.prismatic[1, 3:], rtol=1e-10, atol=1e-10)


def test_legs_have_two_parts_and_links_have_one() -> None:
    rig = tf.load("motion-rig")
    legs = [s for s in rig.drawing(rig.positions.default).segments if s.part == "leg"]
    assert [leg.sleeve for leg in legs] == pytest.approx([0.6 * low for low, _ in rig.stroke])
    arm = tf.load("puma560")
    assert {segment.sleeve for segment in arm.drawing(arm.positions.default).segments} == {None}
    assert all(s.sleeve for s in tf.load("dietmaier").drawing([0, 0, 1, 0, 0, 0]).segments if s.part == "leg")


@pytest.mark.parametrize("name", NAMES)
def test_dragging_brings_the_moved_body_to_a_pose(name: str) -> None:
    robot = tf.load(name)
    start = np.array(robot.positions.default)
    target = robot.positions.at(robot.positions.coordinates(start) + 0.02 * np.cos(np.arange(robot.n)), start)
    wanted = _moved(robot, target)
    found = robot.moved_body.towards(wanted, start)
    np.testing.assert_allclose(_moved(robot, found), wanted, atol=1e-6)
    far = wanted.copy()
    far[:3, 3] += 100.0
    assert np.isfinite(robot.moved_body.towards(far, start)).all()
    assert robot.moved_body.condition(start) >= 1


def test_angles_go_on_where_they_were() -> None:
    rig = tf.load("motion-rig")
    near = np.array([0, 0, 1.0, 0, 0, 3.1])
    found = rig.moved_body.towards(_moved(rig, near + [0, 0, 0, 0, 0, 0.1]), near)
    np.testing.assert_allclose(found, near + [0, 0, 0, 0, 0, 0.1], atol=1e-12)


def test_a_platform_goes_as_far_as_its_limits_allow() -> None:
    rig = tf.load("motion-rig")
    start = np.array(rig.positions.default)
    found = rig.moved_body.towards(_moved(rig, start + [0, 0, 5.0, 0, 0, 0]), start)
    assert rig.within_limits(found)
    assert 0.05 < found[2] - start[2] < 1.0
    beyond = start + [0, 0, 3.0, 0, 0, 0]
    np.testing.assert_allclose(rig.moved_body.towards(_moved(rig, start), beyond), start, atol=1e-12)


def test_other_robots_cannot_be_dragged() -> None:
    cart = CartPendulum()
    with pytest.raises(tf.UnsupportedFeatureError, match="cart has no inverse kinematics"):
        body_of(cart)
    assert cart.reactions(np.zeros(2), np.zeros(2), np.zeros(2)) == ()
    assert condition(cart, np.zeros(2)) is None


def _moved(robot: Any, position: np.ndarray) -> np.ndarray:
    frames = robot.drawing(position).frames
    return np.asarray(next(frame.transform for frame in frames if frame.name == robot.moved_body.name))


def away(place: np.ndarray, segments: list[Any]) -> float:
    """The distance from a point to the nearest of the lines."""
    found = []
    for segment in segments:
        way = segment.end - segment.start
        share = np.clip((place - segment.start) @ way / (way @ way), 0.0, 1.0)
        found.append(float(np.linalg.norm(place - segment.start - share * way)))
    return min(found)


def with_inner_pins() -> tf.Mechanism:
    """A plate and the ground, each with a pin inside the outline of its other pins, and a rod on every pin."""
    corners, inner = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.4, 0.9, 0.0)], (0.45, 0.3, 0.0)
    pins = {
        "a": corners[1],
        "b": corners[2],
        "c": inner,
        "d": (-0.5, 0.0, 0.0),
        "e": (0.5, -0.5, 0.0),
        "f": (0.1, -0.1, 0.0),
    }
    bodies = [tf.Body("plate", mass=2.0, com=inner, inertia=(0.1, 0.1, 0.2))]
    joints = [tf.Hinge("pivot", "ground", "plate", at=corners[0])]
    for name, at in pins.items():
        end = (at[0], at[1] - 0.2, 0.0)
        bodies.append(tf.Body(f"rod {name}", mass=0.5, com=end, inertia=(0.01, 0.01, 0.01)))
        joints.append(tf.Hinge(name, "plate" if name in "abc" else "ground", f"rod {name}", at=at))
    return tf.Mechanism(name="pins", bodies=bodies, joints=joints)


def test_every_pin_is_on_a_line_of_its_bodies() -> None:
    m = with_inner_pins()
    for position in np.random.default_rng(2).normal(size=(3, len(m.joints))):
        drawing = m.drawing(position)
        places = {point.name: point.place for point in drawing.points if point.part == "joint"}
        for joint in m.joints:
            for body in (joint.parent, joint.child):
                lines = [segment for segment in drawing.segments if segment.name == body]
                assert away(places[joint.name], lines) < PLACED, (joint.name, body)


def test_what_holds_an_inner_pin_is_not_part_of_the_outline() -> None:
    drawing = with_inner_pins().drawing(np.zeros(7))
    rings = [{drawing.segments[k].name for k in ring} for ring in outlines(drawing.segments)]
    assert rings == [{"plate"}, {"ground"}]
    assert [len(ring) for ring in outlines(drawing.segments)] == [3, 3]
    assert sum(segment.name == "plate" for segment in drawing.segments) == 4
