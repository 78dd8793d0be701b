"""Accelerations are right, or refused: bodies without mass, hinges in line, positions at the end of the reach."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.long_numbers import exactly
from support.mechanism_witness import Witness
from support.random_mechanisms import bar, four_bar, random_body, unit
from support.strategies import random_inertia
from support.tolerances import EPSILON
from tauforge.robots.mechanism import functions, guards
from tauforge.robots.mechanism.parts import MechanismJoint

WRONG = 1e-4  # of accelerations: ten times what is refused, which is an estimate
NO_INERTIA = 1e-14  # smallest eigenvalue of a mass matrix beside the largest that is none
NO_MASS = "moves? neither mass nor inertia here"


def dense_mass_matrix(m: tf.Mechanism, x: Any) -> Any:
    """M of the witness: kinetic energies of unit rates and of their sums."""
    unit_rates = np.eye(m.n)

    def energy(qd: Any) -> float:
        return float(Witness(m, x, qd).energy()[0])

    own = [energy(qd) for qd in unit_rates]
    return np.array(
        [[energy(a + b) - own[i] - own[j] for j, b in enumerate(unit_rates)] for i, a in enumerate(unit_rates)]
    )


def right_or_refused(m: tf.Mechanism, x: Any, rng: np.random.Generator) -> bool:
    """Whether there is an answer; an answer is right."""
    qd, tau = rng.normal(size=m.n), rng.normal(size=len(m.actuators))
    found = m.forward_dynamics(x, qd, tau, on_singular="nan")
    M = dense_mass_matrix(m, x)
    values = np.linalg.eigvalsh(M)
    if not np.isfinite(found).all():
        assert np.isnan(found).all()
        with pytest.raises(tf.SingularityError, match=m.name):
            m.forward_dynamics(x, qd, tau)
        return False
    assert values[0] > NO_INERTIA * values[-1]
    wanted = exactly(functions.forward_dynamics, m.model, x, qd, tau)
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    condition = values[-1] / values[0] + float(m.loop_condition(x)) ** 2
    assert error <= min(WRONG, 30 * m.n * EPSILON * condition)
    return True


# ------------------------------------------------------------------------------------------------- bodies without mass


def rod_between_balls(radius: float, ball: str) -> tf.Mechanism:
    """Crank, rod and rocker in space: the rod may spin about its own line, where it has an inertia of radius^2 / 2."""
    A, B, C, D = (0, 0, 0), (0.1, 0.3, 0.05), (0.5, 0.4, 0.3), (0.6, 0, 0.1)
    bodies = [bar("crank", A, B, 1.0), bar("rod", B, C, 1.0, radius), bar("rocker", D, C, 1.0)]
    joints: list[MechanismJoint] = [
        tf.Hinge("motor", "ground", "crank", at=A, axis=(0.1, 0.2, 1), actuated=True),
        tf.Hinge("foot", "ground", "rocker", at=D, axis=(0.3, -0.1, 1)),
    ]
    for name, parent, child, at in (("inner", "crank", "rod", B), ("outer", "rod", "rocker", C)):
        if ball == "ball":
            joints.append(tf.Spherical(name, parent, child, at=at))
        else:
            joints += hinges_for_a_ball(name, parent, child, at, np.eye(3))
            bodies += [tf.Body(f"{name} 1", 0.0), tf.Body(f"{name} 2", 0.0)]
    return tf.Mechanism(name="rod", bodies=bodies, joints=joints, gravity=(0, -9.81, 0))


def hinges_for_a_ball(name: str, parent: str, child: str, at: Any, axes: Any) -> list[MechanismJoint]:
    """Three hinges through one point; the bodies between them are called as the ball, with 1 and 2."""
    chain = (parent, f"{name} 1", f"{name} 2", child)
    return [tf.Hinge(f"{name} {k}", chain[k], chain[k + 1], at=at, axis=axes[k]) for k in range(3)]


@pytest.mark.parametrize("ball", ["ball", "hinges"])
@pytest.mark.parametrize("radius", [0.02, 1e-4, 1e-6, 1e-7, 0.0])
def test_a_rod_that_spins_without_inertia_is_refused(radius, ball):
    """Everywhere its inertia about its line is what rounding leaves of the others."""
    m, rng = rod_between_balls(radius, ball), np.random.default_rng(0)
    for step in (0.0, 0.1):
        x = m.configuration(m.positions.coordinates(m.home) + step)
        assert right_or_refused(m, x, rng) == (radius >= 1e-4)
        if radius < 1e-4:
            with pytest.raises(tf.SingularityError, match=f"the motion of inner.* {NO_MASS}.*Give .* mass and inertia"):
                m.forward_dynamics(x, np.ones(2), [0.0])


def test_a_spin_whose_inertia_is_rounding_is_refused_without_loops():
    way = np.array([0.3, 0.2, 0.9])
    pin = tf.Hinge("pin", "ground", "rod", axis=tuple(way), actuated=True)
    m = tf.Mechanism(name="pin", bodies=[bar("rod", (0, 0, 0), way, 1.0, 0.0)], joints=[pin])
    with pytest.raises(tf.SingularityError, match=NO_MASS):
        m.forward_dynamics(m.home, [0.0], [1.0])


def with_three_hinges(rng: np.random.Generator, apart: float) -> tf.Mechanism:
    """A loop, and a heavy body that hangs on three hinges through one point, on the ground or on a body of the loop.

    apart: rad between the first and the last of the hinges, which have massless bodies between them
    """
    loop = four_bar() if rng.random() < 0.5 else rod_between_balls(0.02, "ball")
    first, across = unit(rng.normal(size=3)), unit(rng.normal(size=3))
    second = unit(np.cross(first, across))
    last = np.cos(apart) * first + np.sin(apart) * np.cross(first, second)
    at, parent = rng.uniform(-0.5, 0.5, 3).tolist(), str(rng.choice(["ground", *(b.name for b in loop.bodies)]))
    own = hinges_for_a_ball("hip", parent, "leg", at, np.array([first, second, last]).tolist())
    leg = random_body(rng, "leg")
    bodies = [*loop.bodies, tf.Body("hip 1", 0.0), tf.Body("hip 2", 0.0), leg]
    return loop.replace(name="walker", bodies=bodies, joints=[*loop.joints, *own], independent=None)


@pytest.mark.parametrize("apart", [0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_hinges_in_line_beside_a_loop(seed, apart):
    """At home the outer of three hinges are nearly in line, and so they are after turns about these two."""
    rng = np.random.default_rng(seed)
    m = with_three_hinges(rng, apart)
    places = [m.structure.independent.index(f"hip {k}") for k in (0, 2)]
    q = m.positions.coordinates(m.home)
    q[places] += rng.uniform(-1, 1, 2)
    answered = right_or_refused(m, m.configuration(q), rng)
    if apart <= 1e-7 or apart >= 1e-3:
        assert answered == (apart >= 1e-3)
    if apart == 0.0:
        with pytest.raises(tf.SingularityError, match=f"the motion of hip 0, hip 2 {NO_MASS}"):
            m.forward_dynamics(m.home, np.zeros(m.n), np.zeros(len(m.actuators)))


@pytest.mark.parametrize("apart", [0.0, 1e-7, 1e-6, 3e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_motions_start_where_forward_dynamics_answers(seed, apart):
    """The first row has the outer of three hinges nearly in line, the second has not."""
    rng = np.random.default_rng(seed)
    m = with_three_hinges(rng, apart)
    q = np.tile(m.positions.coordinates(m.home), (2, 1))
    q[1, m.structure.independent.index("hip 1")] += 0.8
    x, qd = m.configuration(q), rng.normal(size=(2, m.n))
    answered = np.isfinite(m.forward_dynamics(x, qd, np.zeros(len(m.actuators)), on_singular="nan")).all(axis=-1)
    assert answered[1]
    assert apart == 1e-5 or answered[0] == (apart == 1e-3)  # near 1e-5 some answer
    short = {"duration": 1e-9, "step": 1e-9}  # s: accelerations are up to 1e10 rad/s^2
    runs = tf.rollout(m, initial=(x, qd), control_period=1e-9, **short)
    assert runs.finite.tolist() == answered.tolist()
    for row, start in enumerate(zip(x, qd, strict=True)):
        if answered[row]:
            tf.simulate(m, initial=start, **short)
            continue
        with pytest.raises(tf.SingularityError, match=NO_MASS) as caught:
            tf.simulate(m, initial=start, **short)
        assert runs.reasons == {row: caught.value.reason}


def gimbal() -> tf.Mechanism:
    bodies = [tf.Body("outer", 0.0), tf.Body("inner", 0.0), tf.Body("rotor", 2.0, (0.3, 0.2, 0.5), (0.02, 0.03, 0.04))]
    ends = ("ground", "outer", "inner", "rotor")
    joints = [tf.Hinge(f"axis {k}", ends[k], ends[k + 1], axis=axis) for k, axis in enumerate(np.eye(3)[::-1].tolist())]
    return tf.Mechanism(name="gimbal", bodies=bodies, joints=joints)


@pytest.mark.usefixtures("kernels_on")
def test_a_rollout_starts_by_the_inertias_of_its_rows():
    m = gimbal()
    inertias = np.array([m.own_values(["inertia"])["inertia"]] * 2)
    inertias[1, :2] = 0.01 * np.eye(3)
    initial = ([0.2, np.pi / 2, 0.1], [1.0, 1.0, 1.0])
    runs = tf.rollout(m, initial=initial, duration=0.01, control_period=0.01, varying={"inertia": inertias})
    assert runs.finite.tolist() == [False, True]


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_simulation_does_not_start_where_forward_dynamics_refuses(rate):
    m = gimbal()
    x, qd, reasons = np.array([0.2, np.pi / 2, 0.1]), np.full(3, rate), []
    for start in (lambda: m.forward_dynamics(x, qd, []), lambda: tf.simulate(m, initial=(x, qd), duration=0.01)):
        with pytest.raises(tf.SingularityError, match=f"gimbal: the motion of axis 0, axis 2 {NO_MASS}") as caught:
            start()
        reasons.append(str(caught.value).partition(" (condition number")[0])
    assert reasons[0] == reasons[1]
    tf.simulate(m, initial=(x - [0, 0.3, 0], qd), duration=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_a_simulation_does_not_start_at_home_with_hinges_in_line(seed):
    """There their axes are in line but for rounding of the geometry, and a pivot of 1e-33 is the same in every run."""
    rng, rod = np.random.default_rng(seed), rod_between_balls(0.02, "hinges")
    first, across = unit(rng.normal(size=3)), unit(rng.normal(size=3))
    axes = dict(zip(("outer 0", "outer 1", "outer 2"), (first, np.cross(first, across), first), strict=True))
    joints = [dataclasses.replace(one, axis=axes.get(one.name, one.axis)) for one in rod.joints]
    m = rod.replace(joints=joints, independent=None)
    for start in (
        lambda: m.forward_dynamics(m.home, 0.1 * np.ones(m.n), [0.0]),
        lambda: tf.simulate(m, initial=(m.home, 0.1 * np.ones(m.n)), duration=0.01),
    ):
        with pytest.raises(tf.SingularityError, match=NO_MASS):
            start()


def leg_with_loops(rng: np.random.Generator, light: float) -> tf.Mechanism:
    """A thigh on two struts whose ends are balls of three hinges with light bodies between them, inertias light^2."""
    hip, knee = np.zeros(3), np.array([0.05, 0.02, -0.4])
    bodies = [bar("thigh", hip, knee, 5.0), tf.Body("shank", 3.0, (0.05, 0.0, -0.6), random_inertia(rng))]
    joints: list[MechanismJoint] = [
        *hinges_for_a_ball("hip", "ground", "thigh", hip.tolist(), np.eye(3)),
        tf.Hinge("knee", "thigh", "shank", at=knee.tolist(), axis=(0, 1, 0), actuated=True),
    ]
    for name, side in (("left", 0.1), ("right", -0.1)):
        low, high = np.array([0.06, side, -0.25]), np.array([0.1, 1.3 * side, 0.05])
        middle = (low + high) / 2
        bodies += [bar(f"{name} tube", high, middle, 0.4), bar(f"{name} rod", middle, low, 0.3)]
        joints += [
            *hinges_for_a_ball(f"{name} top", "ground", f"{name} tube", high.tolist(), rng.permutation(np.eye(3))),
            tf.Slider(name, f"{name} tube", f"{name} rod", at=middle.tolist(), axis=low - high, actuated=True),
            *hinges_for_a_ball(f"{name} foot", f"{name} rod", "thigh", low.tolist(), rng.permutation(np.eye(3))),
        ]
    between = sorted({end for joint in joints for end in (joint.parent, joint.child)} - {"ground"})
    known = {body.name for body in bodies}
    bodies += [tf.Body(name, light, inertia=(light**2,) * 3) for name in between if name not in known]
    return tf.Mechanism(name="leg", bodies=bodies, joints=joints)


@pytest.mark.parametrize("light", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize("seed", range(2))
def test_a_leg_with_loops_whose_balls_are_hinges(seed, light):
    rng = np.random.default_rng(seed)
    m = leg_with_loops(rng, light)
    home, answered = m.positions.coordinates(m.home), []
    for spread in (0.0, 0.1):
        x = m.configuration(home + spread * rng.uniform(-1, 1, m.n), on_failure="nan")
        if np.isfinite(x).all():
            answered.append(right_or_refused(m, x, rng))
    assert any(answered)  # not all is refused


# --------------------------------------------------------------------------------------------------- end of the reach

WAY = np.array([1.0, -1.0])  # of the motors, to where the rods are in line
BACK = 10.0 ** -np.arange(3, 14)


def end_of_reach(m: tf.Mechanism, way: Any) -> tuple[Any, float]:
    """How far the coordinates get in a direction until the loops do not close, by halving; and a position there."""
    home, x, far, step = m.positions.coordinates(m.home), m.home, 0.0, 0.1
    while step > 1e-15:
        there = m.configuration(home + (far + step) * way, x, on_failure="nan")
        if np.isfinite(there).all():
            far, x = far + step, there
        else:
            step /= 2
    return x, far


@pytest.mark.parametrize("way", [WAY, np.array([1.0, -0.6])], ids=["both", "one more"])
def test_accelerations_at_the_end_of_the_reach(way):
    """Where the rods are nearly in line, the mass matrix of the motors has conditions of 1e11 and more."""
    m, rng = tf.load("five-bar"), np.random.default_rng(1)
    home, answered = m.positions.coordinates(m.home), []
    near, far = end_of_reach(m, way)
    for back in BACK:
        x = m.configuration(home + (far - back) * way, near)
        qd, tau = rng.normal(size=m.n), rng.normal(size=len(m.actuators))
        found = m.forward_dynamics(x, qd, tau, on_singular="nan")
        answered.append(bool(np.isfinite(found).all()))
        if answered[-1]:
            wanted = exactly(functions.forward_dynamics, m.model, x, qd, tau)
            assert np.abs(found - wanted).max() <= guards.MOST_LOST * np.abs(wanted).max()
    assert answered[0]
    assert not answered[-1]


def test_a_balance_of_loads_is_no_loss():
    """Near the end of its reach a five-bar that its motors hold still has accelerations that are all rounding."""
    m = tf.load("five-bar")
    x, _ = end_of_reach(m, WAY)
    x = m.configuration(m.positions.coordinates(x) - 1e-7 * WAY, x)
    assert 1e3 < m.loop_condition(x) < 1e5
    tau = m.inverse_dynamics(x, [0, 0], [0, 0])
    strongest = np.abs(m.forward_dynamics(x, [0, 0], 0 * tau)).max()
    assert np.abs(m.forward_dynamics(x, [0, 0], tau)).max() <= 1e-6 * strongest


def test_single_precision_is_right_or_refused():
    m, rng = tf.load("five-bar"), np.random.default_rng(0)
    near, far = end_of_reach(m, WAY)
    home, answered = m.positions.coordinates(m.home), []
    for back in 10.0 ** -np.arange(0.5, 8):
        x = m.configuration(home + (far - back) * WAY, near).astype(np.float32)
        qd, tau = rng.normal(size=(2, 2)).astype(np.float32)
        found = m.forward_dynamics(x, qd, tau, on_singular="nan")
        answered.append(bool(np.isfinite(found).all()))
        if answered[-1]:
            wanted = exactly(functions.forward_dynamics, m.model, x, qd, tau)
            assert np.abs(found - wanted).max() <= 3 * guards.MOST_LOST_SINGLE * np.abs(wanted).max()
    assert answered[0]
    assert not answered[-1]
