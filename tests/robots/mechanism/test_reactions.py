"""Reactions of mechanisms that move by themselves, and in the joints' own axes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support import random_mechanisms
from support.mechanism_witness import Witness
from support.mechanisms import bricard, five_bar, four_bars, governor, pendulum, six_rus
from support.random_mechanisms import random_masses, tilt
from support.tolerances import FORMULATIONS, OUTSIDE, error_beside

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


def test_actuators_that_hinder_each_other_are_refused() -> None:
    """As many actuators as freedoms, which do not move it: reactions are not to be had by solving for them."""
    A, B = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    hinge = [tf.Hinge("one", "ground", "bar", at=A, actuated=True), tf.Hinge("two", "ground", "bar", at=A)]
    bars = [tf.Body("bar", 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1)), tf.Body("end", 1.0, B, (0.1, 0.1, 0.1))]
    joints = [*hinge, tf.Hinge("free", "bar", "end", at=B)]
    joints[1] = dataclasses.replace(joints[1], actuated=True)
    m = tf.Mechanism(bodies=bars, joints=joints, independent=("one", "free"))
    x = m.home
    with pytest.raises(tf.UnsupportedFeatureError, match="2 degrees of freedom and 2 actuators, which cannot give any"):
        m.joint_wrenches(x, [0.0, 0.0], [0.0, 0.0])
