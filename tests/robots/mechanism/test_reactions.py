"""Reactions of mechanisms that move by themselves, and in the joints' own axes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import tauforge as tf
from support import random_mechanisms
from support.mechanism_witness import Witness
from support.mechanisms import bar, bricard, five_bar, four_bars, governor, pendulum, six_rus
from support.random_mechanisms import random_masses, tilt
from support.tolerances import EPSILON, FORMULATIONS, OUTSIDE, error_beside

IN_PLANE = [0, 1, 5]  # forces in the plane and the moment across it, in the axes of a hinge


def driven_by(mechanism: tf.Mechanism, *actuated: str, **changes: Any) -> tf.Mechanism:
    joints = [dataclasses.replace(joint, actuated=joint.name in actuated) for joint in mechanism.joints]
    return mechanism.replace(joints=joints, **changes)


def home_turn(body: tf.Body) -> Any:
    return np.array([tuple(row) for row in body.home_frame.rotation.rows])


PASSIVE = {
    "pendulum": pendulum,
    "Bricard": bricard,
    "governor": lambda: governor(damping=4.0, stiffness=800.0),
    "one motor of two": lambda: driven_by(five_bar(), "left"),
    "6-RUS in its pose, one motor": lambda: driven_by(six_rus("platform"), "motor0"),
}


@pytest.mark.parametrize("name", PASSIVE)
def test_a_mechanism_with_too_few_actuators_has_the_reactions_of_its_own_motion(name: str) -> None:
    m = random_masses(np.random.default_rng(4), PASSIVE[name]())
    x, qd, _ = (values[0] for values in m.random_states(1, seed=2))
    tau = np.random.default_rng(3).normal(size=len(m.actuators))
    assert len(m.actuators) < m.n
    wanted = Witness(m, x, qd).forward(tau).wrenches
    qdd = m.forward_dynamics(x, qd, tau)
    for _ in range(2):  # by the method, and by the shorter way that it leaves behind
        found = m.joint_wrenches(x, qd, qdd)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        unique = np.isfinite(wanted)
        assert error_beside(found[unique], wanted[unique], wanted[unique]) <= OUTSIDE
        actuators, freedom = (f"{k} {noun}{'s' * (k != 1)}" for k, noun in ((len(tau), "actuator"), (m.n, "degree")))
        why = f"it has {actuators} for {freedom} of freedom, so its accelerations follow from the forces"
        with pytest.raises(tf.SingularityError, match=rf"{why}\. Pass those of forward_dynamics\(x, qd, tau\)$"):
            m.joint_wrenches(x, qd, qdd + 1.0)
    both = m.joint_wrenches([x, x], [qd, qd], np.stack([qdd, qdd + 1.0]), on_singular="nan")
    np.testing.assert_array_equal(both[0], m.joint_wrenches(np.array([x]), np.array([qd]), np.array([qdd]))[0])
    assert np.isnan(both[1]).all()


@pytest.mark.usefixtures("kernels_on")
def test_reactions_in_every_row_of_a_recording_turn_and_move_the_bodies() -> None:
    """Newton's and Euler's equations of the pendulum's bob and of both four-bar windows, from the outside."""
    for m, speed in ((pendulum(), 1.0), (four_bars(2), 1.0)):
        run = tf.simulate(m, initial=(m.home, [speed]), duration=0.2, step=1e-3)
        wrenches = m.joint_wrenches(run.position, run.velocity, run.acceleration, axes="world")
        places = m.body_frames(run.position)
        total = np.zeros((len(run.time), 2))
        for k, joint in enumerate(m.joints):
            if joint.parent == "ground":
                total += wrenches[:, k, :2]  # in the plane; across it they are open
        home = np.array([tuple(body.home_frame.translation) for body in m.bodies])
        coms = np.stack(
            [
                places[:, b, :3, :3] @ (np.array(body.com) - home[b]) + places[:, b, :3, 3]
                for b, body in enumerate(m.bodies)
            ]
        )
        masses = np.array([body.mass for body in m.bodies])
        centre = np.einsum("b,bki->ki", masses, coms)
        h = run.time[1]
        acceleration = np.empty((len(run.time) - 4, 2))  # fourth-order differences of the centre of mass
        acceleration[:] = (-centre[:-4] + 16 * centre[1:-3] - 30 * centre[2:-2] + 16 * centre[3:-1] - centre[4:])[
            :, :2
        ] / (12 * h * h)
        weight = masses.sum() * np.array(m.gravity[:2])
        assert error_beside(total[2:-2] + weight, acceleration, total) < 1e-7  # eps / h^2 of the differences


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_in_their_own_axes_joints_of_a_tilted_plane_keep_what_is_unique(name: str) -> None:
    flat = random_masses(np.random.default_rng(8), getattr(random_mechanisms, name)()).replace(gravity=(0, 0, 0))
    tilted = tilt(np.random.default_rng(2), flat).replace(gravity=(0, 0, 0))
    x, qd, qdd = flat.random_states(3, seed=5)
    assert np.isnan(tilted.joint_wrenches(x, qd, qdd)).all()
    level, own = flat.joint_wrenches(x, qd, qdd), tilted.joint_wrenches(x, qd, qdd, axes="joint")
    assert np.isfinite(own[..., IN_PLANE]).all()
    assert np.isnan(own[..., [2, 3, 4]]).all()
    wanted = np.hypot(level[..., 0], level[..., 1])  # axes within the plane are the library's choice
    assert error_beside(np.hypot(own[..., 0], own[..., 1]), wanted, wanted) <= OUTSIDE
    assert error_beside(own[..., 5], level[..., 5], level[..., 5]) <= OUTSIDE


@pytest.mark.usefixtures("kernels_on")
def test_axes_of_joints_move_with_their_children() -> None:
    """Where all reactions are unique, both axes tell the same: turned by the child, z along the joint's axis."""
    m = random_masses(np.random.default_rng(4), six_rus())
    x, qd, qdd = (values[0] for values in m.random_states(1, seed=3))
    world, own = m.joint_wrenches(x, qd, qdd), m.joint_wrenches(x, qd, qdd, axes="joint")
    names = [body.name for body in m.bodies]
    frames = m.body_frames(x)
    for k, joint in enumerate(m.joints):
        b = names.index(joint.child)
        turned = frames[b, :3, :3] @ home_turn(m.bodies[b]).T
        axis = getattr(joint, "axes", (None, getattr(joint, "axis", (0.0, 0.0, 1.0))))[1]
        for three in (slice(0, 3), slice(3, 6)):
            a, b_ = world[k, three], own[k, three]
            assert abs(np.linalg.norm(a) - np.linalg.norm(b_)) <= FORMULATIONS * np.abs(world).max()
            assert abs(a @ turned @ axis - b_[2]) <= FORMULATIONS * np.abs(world).max(), joint.name
    with pytest.raises(tf.ShapeError, match="axes: expected 'world' or 'joint'"):
        m.joint_wrenches(x, qd, qdd, axes="body")
    kernel = m.kernel("joint_wrenches", axes="joint")
    assert error_beside(kernel(x, qd, qdd), own, own) <= FORMULATIONS


EXTRA_MOTORS = {
    "five-bar": lambda: driven_by(five_bar(), "left", "right", "e1"),
    "6-RUS": lambda: driven_by(six_rus("platform"), *(f"motor{k}" for k in range(6)), "elbow0"),
    "four-bars": lambda: driven_by(four_bars(2), *(joint.name for joint in four_bars(2).joints[:3])),
}


@pytest.mark.parametrize("name", EXTRA_MOTORS)
def test_more_actuators_than_freedoms_leave_open_what_their_forces_change(name: str) -> None:
    """Other forces of the actuators give the same motion and other reactions: these are open, and no others."""
    m = random_masses(np.random.default_rng(6), EXTRA_MOTORS[name]())
    assert len(m.actuators) > m.n
    for x, qd, qdd in zip(*m.random_states(2, seed=3), strict=True):
        tau = m.inverse_dynamics(x, qd, qdd)
        idle = np.linalg.svd(slopes(m, x, qd))[2][m.n :]  # forces without any motion
        assert error_beside(idle @ tau, 0.0, tau) <= OUTSIDE  # so the actuators' are the least
        witness = Witness(m, x, qd)
        first, *others = (witness.forward(tau + more) for more in (0.0 * tau, *np.abs(tau).max() * idle))
        assert error_beside(first.qdd, qdd, qdd) <= OUTSIDE
        changes = np.abs([other.wrenches - first.wrenches for other in others]).max(axis=0)
        is_open = ~(changes <= 1e-8 * np.nanmax(np.abs(first.wrenches)))  # far above rounding, far below changes
        found = m.joint_wrenches(x, qd, qdd)
        np.testing.assert_array_equal(np.isnan(found), is_open)
        assert is_open.any()
        usual = first.wrenches[np.isfinite(first.wrenches)]
        assert error_beside(found[~is_open], first.wrenches[~is_open], usual) <= OUTSIDE


def slopes(m: tf.Mechanism, x: Any, qd: Any) -> Any:
    """(n, actuators) accelerations by forces."""
    still = m.forward_dynamics(x, qd, np.zeros(len(m.actuators)))
    return np.transpose([m.forward_dynamics(x, qd, force) - still for force in np.eye(len(m.actuators))])


def test_actuators_on_one_axis_leave_each_other_open_and_a_free_end_to_itself() -> None:
    """As many actuators as freedoms, which do not move one of them: reactions are those of its own motion."""
    A, B = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    bars = [
        tf.Body("bar", 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1)),
        tf.Body("end", 1.0, (1.2, 0.1, 0.0), (0.1, 0.1, 0.1)),
    ]
    joints = [
        tf.Hinge("one", "ground", "bar", at=A, actuated=True),
        tf.Hinge("two", "ground", "bar", at=A, actuated=True),
        tf.Hinge("free", "bar", "end", at=B),
    ]
    m = tf.Mechanism(bodies=bars, joints=joints, independent=("one", "free"), gravity=(0.0, -9.81, 0.0))
    x, qd, tau = m.home, np.array([0.3, -0.5]), np.array([1.0, 2.0])
    found = m.joint_wrenches(x, qd, m.forward_dynamics(x, qd, tau))
    wanted = Witness(m, x, qd).forward(tau).wrenches[2]
    assert error_beside(found[2], wanted, wanted) <= OUTSIDE
    assert np.isnan(found[:2]).any(axis=1).all()
    with pytest.raises(tf.SingularityError):
        m.joint_wrenches(x, qd, [0.0, 0.0])


def with_hanging_links(**changes: Any) -> tf.Mechanism:
    """A four-bar whose crank and rocker are both driven, and two links that hang from its coupler: three degrees of
    freedom, two actuators, which can work against each other.
    """
    A, B, C, D = (0.0, 0.0, 0.0), (0.0, 0.3, 0.0), (0.55, 0.45, 0.0), (0.6, 0.0, 0.0)
    P, Q = (0.65, 0.15, 0.0), (0.85, -0.05, 0.0)
    return tf.Mechanism(
        bodies=[
            bar("crank", A, B, 1.0),
            bar("coupler", B, C, 1.5),
            bar("rocker", D, C, 1.2),
            bar("link 1", C, P, 0.4),
            bar("link 2", P, Q, 0.3),
        ],
        joints=[
            tf.Hinge("crank", "ground", "crank", at=A, actuated=True),
            tf.Hinge("pin 1", "crank", "coupler", at=B),
            tf.Hinge("rocker", "ground", "rocker", at=D, actuated=True),
            tf.Hinge("pin 2", "coupler", "rocker", at=C),
            tf.Hinge("hook 1", "coupler", "link 1", at=C),
            tf.Hinge("hook 2", "link 1", "link 2", at=P),
        ],
        gravity=(0.0, -9.81, 0.0),
        **changes,
    )


def test_actuators_that_fight_leave_reactions_open_and_the_others_stay() -> None:
    m, rng = with_hanging_links(), np.random.default_rng(0)
    x, qd, _ = m.random_states(20, seed=3)
    tau = rng.normal(size=(20, 2))
    found = m.joint_wrenches(x, qd, m.forward_dynamics(x, qd, tau))
    in_plane = found[..., [0, 1, 5]]
    inside, hanging = in_plane[:, :4], in_plane[:, 4:]
    assert np.isnan(inside[:, :, :2]).all()
    assert set(m.open_reactions["pin 1"]) >= {"force x", "force y"}
    for k in range(20):
        wanted = Witness(m, x[k], qd[k]).forward(tau[k]).wrenches[4:, [0, 1, 5]]
        assert error_beside(hanging[k], wanted, wanted) <= OUTSIDE


@pytest.mark.filterwarnings("ignore:.*few links are that long")  # as if lengths were in millimetres
def test_which_reactions_are_open_does_not_depend_on_the_unit_of_length() -> None:
    """A hinge and a slider, driven both: least squares would add N and N m."""
    plain = tf.load("slider-crank")
    m = driven_by(plain, *(joint.name for joint in plain.joints if joint.parent == "ground"))
    assert len(m.actuators) > m.n

    def longer(part: Any, *places: str, **more: Any) -> Any:
        return dataclasses.replace(part, **{p: tuple(1e3 * np.array(getattr(part, p))) for p in places}, **more)

    in_mm = m.replace(
        bodies=[longer(body, "com", "origin", inertia=1e6 * np.array(body.inertia)) for body in m.bodies],
        joints=[
            longer(
                joint, "at", home=(1e3 if joint.letters == "P" else 1.0) * float(np.ravel(joint.home)[0]), limits=None
            )
            for joint in m.joints
        ],
        gravity=tuple(1e3 * np.array(m.gravity)),
    )
    assert m.open_reactions
    assert in_mm.open_reactions == m.open_reactions
    x, qd, qdd = m.random_states(5, seed=1)
    slides = [entry.unit == "m" for entry in m.positions.entries]
    found = m.joint_wrenches(x, qd, qdd)
    unit = np.where([c.unit == "m" for c in m.coordinates], 1e3, 1.0)
    other = in_mm.joint_wrenches(x * np.where(slides, 1e3, 1.0), unit * qd, unit * qdd)
    scaled = other / np.array([1e3] * 3 + [1e6] * 3)
    unique = np.isfinite(found)
    np.testing.assert_array_equal(np.isfinite(other), unique)
    usual = m.inverse_dynamics(x, qd, qdd)  # N and N m; what is unique here is zero, about the axes of passive pins
    assert error_beside(scaled[unique], found[unique], usual) <= OUTSIDE


def test_forces_of_three_motors_near_where_they_lose_control() -> None:
    """Two of the motors drive one crank. With one in their place the forces are solved by elimination."""
    two = five_bar(independent=("e1", "e2"))
    three = two.replace(joints=(*two.joints, tf.Hinge("again", "ground", "c1", at=(0, 0, 0), actuated=True)))
    assert (len(three.actuators), three.n) == (3, 2)
    spread = np.array([1.0, -1.0])
    reach = brentq(lambda s: np.isfinite(five_bar().configuration(s * spread, on_failure="nan")).all() - 0.5, 0.1, 1.5)
    qd, qdd, worst = np.array([0.5, 0.3]), np.array([1.0, -2.0]), 0.0
    for share in (1e-2, 1e-5, 1e-8, 1e-11):
        x = five_bar().configuration((1.0 - share) * reach * spread)
        left, right = wanted = two.inverse_dynamics(x, qd, qdd)
        found = three.inverse_dynamics(np.append(x, x[0]), qd, qdd)
        worst = float(two.loop_condition(x))
        bound = max(OUTSIDE, 30 * 5 * EPSILON * worst)
        assert error_beside(found, np.array([left / 2, right, left / 2]), wanted) <= bound
    assert worst > 1e4
