"""The mechanisms of the catalogue: they close, they have the freedom they should, and their dynamics hold together."""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import tauforge as tf
from mechanism_library import andrews, delta_sizes, slider_crank
from mechanism_library.names import MODULES, built
from mechanism_library.shapes import CHOICE
from support.tolerances import FORMULATIONS, ROUNDING, error, error_beside, solve_tolerance

CLOSED = 1e-12  # of the mechanism's size
PLACES = 1e-12  # m or rad, of points that loops determine
FIVE_POINTS = 1e-8  # relative: the error of the difference quotient, h^4, and rounding over h
STATES = 12
COMPONENTS = ("force x", "force y", "force z", "moment x", "moment y", "moment z")


class Facts(NamedTuple):
    freedom: int
    redundant: int
    actuators: int


# By hand: freedom + 6 bodies' constraints = 6 bodies + redundant, see `test_counting`.
FACTS = {
    "3-rps": Facts(3, 0, 3),
    "andrews": Facts(1, 9, 1),  # three planar loops
    "bricard": Facts(1, 1, 0),
    "delta": Facts(3, 0, 3),
    "delta-parallelograms": Facts(3, 12, 3),  # three parallelograms, and the platform's turn is held three times over
    "five-bar": Facts(2, 3, 2),
    "flyball-governor": Facts(4, 0, 0),
    "four-bar": Facts(1, 3, 1),
    "gripper": Facts(1, 0, 1),
    "hexapod-6rus": Facts(6, 0, 6),
    "palletiser": Facts(4, 9, 4),
    "planar-3rrr": Facts(3, 6, 3),
    "slider-crank": Facts(1, 3, 1),
}
LETTERS = {"Hinge": 1, "Slider": 1, "Universal": 2, "Spherical": 3}
each = pytest.mark.parametrize("name", sorted(MODULES))


@cache
def mechanism(name: str) -> tf.Mechanism:
    robot = tf.load(name)
    assert isinstance(robot, tf.Mechanism)
    return robot


def coordinates(m: tf.Mechanism, count: int = STATES, seed: int = 0) -> np.ndarray:
    """Within the limits of the independent coordinates, or beside the home position."""
    home = m.positions.coordinates(m.home)
    low = np.array([c.lower if np.isfinite(c.lower) else q - 0.3 for c, q in zip(m.coordinates, home, strict=True)])
    high = np.array([c.upper if np.isfinite(c.upper) else q + 0.3 for c, q in zip(m.coordinates, home, strict=True)])
    return np.random.default_rng(seed).uniform(low, high, (count, m.n))


def rates(m: tf.Mechanism, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(STATES, m.n))


def size(m: tf.Mechanism) -> float:
    return float(np.ptp([joint.at for joint in m.joints], axis=0).max())


def test_names():
    assert sorted(MODULES) == sorted(FACTS)
    assert set(MODULES) < set(tf.catalogue())


@each
def test_files_are_those_of_the_library(name):
    """If not: python tools/mechanism_files.py. Sines of another machine may end in another digit."""
    file, library = mechanism(name), built(name)
    assert (file.name, file.tool, file.sources) == (name, library.tool, library.sources)
    for parts in ("bodies", "joints", "springs"):
        for one, other in zip(getattr(file, parts), getattr(library, parts), strict=True):
            assert type(one) is type(other)
            for field in dataclasses.fields(one):
                a, b = getattr(one, field.name), getattr(other, field.name)
                same = a == b if isinstance(b, str | bool) or b is None or field.name == "mimic" else None
                assert same if same is not None else np.allclose(a, b, rtol=0.0, atol=ROUNDING), (field.name, a, b)


@each
def test_named_and_closed_at_home(name):
    m = mechanism(name)
    assert m.name == name
    assert m.loop_gap(m.home) <= CLOSED * size(m)


@each
def test_freedom(name):
    m, facts = mechanism(name), FACTS[name]
    structure = m.structure
    assert structure.freedom == m.n == facts.freedom
    assert sum(len(rows) for _, rows in structure.redundant) == facts.redundant
    assert len(m.actuators) == facts.actuators
    assert bool(m.open_reactions) == bool(facts.redundant)


@each
def test_counting(name):
    """Grübler's count, with the redundant constraints put back: mimic joints are constraints, too."""
    m, facts = mechanism(name), FACTS[name]
    held = sum(6 - LETTERS[type(joint).__name__] for joint in m.joints) + sum(bool(j.mimic) for j in m.joints)
    assert facts.freedom == 6 * len(m.bodies) - held + facts.redundant


@each
def test_closes_within_its_limits(name):
    m = mechanism(name)
    q = coordinates(m)
    x = m.configuration(q)
    assert m.loop_gap(x).max() <= CLOSED * size(m)
    assert np.array_equal(m.positions.coordinates(x), q)
    assert m.loop_condition(x).max() < 1e3


@each
def test_closes_at_the_ends_of_its_limits(name):
    m = mechanism(name)
    bounds = [(c.lower, c.upper) for c in m.coordinates]
    if not np.isfinite(bounds).all():
        assert not np.isfinite(bounds).any()
        return
    corners = np.stack(np.meshgrid(*bounds), axis=-1).reshape(-1, m.n)
    assert m.loop_gap(m.configuration(corners)).max() <= CLOSED * size(m)


@each
def test_forward_dynamics_undoes_inverse_dynamics(name):
    m = mechanism(name)
    x, qd, qdd = m.configuration(coordinates(m)), rates(m, 1), rates(m, 2)
    allowed = FORMULATIONS + solve_tolerance(m.mass_matrix(x))
    if len(m.actuators) == m.n:
        tau = m.inverse_dynamics(x, qd, qdd)
        assert error(tau, m.generalised_forces(x, qd, qdd)) <= FORMULATIONS
        freely = m.forward_dynamics(x, qd, np.zeros_like(tau))  # what rounding in tau is measured by
        assert error_beside(m.forward_dynamics(x, qd, tau), qdd, [*qdd, *freely]) <= allowed
        return
    with pytest.raises(tf.UnsupportedFeatureError, match=rf"{m.n} degrees? of freedom and 0 actuators"):
        m.inverse_dynamics(x, qd, qdd)
    left = m.generalised_forces(x, qd, m.forward_dynamics(x, qd, np.zeros((STATES, 0))))
    assert error_beside(left, 0.0, m.generalised_forces(x, qd, np.zeros_like(qd))) <= allowed


@each
def test_kinetic_energy_is_that_of_the_mass_matrix(name):
    m = mechanism(name)
    x, qd = m.configuration(coordinates(m)), rates(m, 1)
    M = m.mass_matrix(x)
    assert np.linalg.eigvalsh(M).min() > 0
    assert error(m.energy(x, qd)[0], np.einsum("ki,kij,kj->k", qd, M, qd) / 2, core=0) <= FORMULATIONS


@each
def test_energy_changes_by_the_power_of_the_forces(name):
    """Along q + qd t + qdd t^2 / 2, by differences over five points."""
    m = mechanism(name).without_friction()
    q, qd, qdd, h = coordinates(m), rates(m, 1), rates(m, 2), 2e-4
    x = m.configuration(q)

    def energy(t):
        return sum(m.energy(m.configuration(q + qd * t + qdd * t**2 / 2, near=x), qd + qdd * t))

    change = (energy(-2 * h) - 8 * energy(-h) + 8 * energy(h) - energy(2 * h)) / (12 * h)
    power = np.sum(m.generalised_forces(x, qd, qdd) * qd, axis=-1)
    assert error_beside(change, power, power) <= FIVE_POINTS


@each
def test_every_number_has_one_source(name):
    m = mechanism(name)
    used = {"at", "mass", "com", "inertia", "gravity"}
    kinds = (("axis", "axis"), ("axes", "axes"), ("limits", "limits"), ("mimic", "mimic"))
    used |= {word for joint in m.joints for field, word in kinds if getattr(joint, field, None) is not None}
    used |= {"home"} if any(np.any(joint.home) for joint in m.joints) else set()
    used |= {"spring"} if m.springs else set()
    given = [field for source in m.sources for field in source.fields]
    assert len(given) == len(set(given))
    assert set(given) == used
    assert all(source.source == CHOICE or len(source.source) > 30 for source in m.sources)


# ------------------------------------------------------------------------------------- what is known of each by itself


def test_andrews_starts_as_published():
    """The crank's acceleration, and the multipliers: the force in the joint of K2 and K3, of the published start."""
    m = mechanism("andrews")
    qd, tau = np.zeros(1), np.array([0.033])
    qdd = m.forward_dynamics(m.home, qd, tau)
    assert error(qdd, [14222.4439199541138705911625887]) <= FORMULATIONS
    names = [joint.name for joint in m.joints]
    force = m.joint_wrenches(m.home, qd, qdd)[names.index("E3"), :2]
    assert error(np.abs(force), [98.5668703962410896057654982170, 6.12268834425566265503114393122]) <= FORMULATIONS
    angles = dict(zip(m.coordinate_names, m.home, strict=True))
    assert angles["gamma"] == andrews.GAMMA


def test_andrews_start_fits_one_printing_of_its_data():
    """The three other ways to the common point, with the signs of the test set; x_B > 0 misses it by far."""
    m = mechanism("andrews")
    at = {joint.name: np.array(joint.at) for joint in m.joints}
    for other, point, length in (("gamma", "E3", andrews.SS), ("Phi", "E4", andrews.E), ("Omega", "E6", andrews.ZF)):
        assert abs(np.linalg.norm(at[point] - at[other]) - length) <= ROUNDING * length
    other_printing = at["gamma"] * [-1.0, 1.0, 1.0]
    assert abs(np.linalg.norm(at["E3"] - other_printing) - andrews.SS) > 0.01


def test_the_deltas_carry_their_platform_level_to_the_same_place():
    six, built_so = mechanism("delta"), mechanism("delta-parallelograms")
    q = coordinates(six, seed=3)
    poses = [m.forward_kinematics(m.configuration(q)) for m in (six, built_so)]
    assert np.abs(poses[0] - poses[1]).max() <= PLACES
    assert np.abs(poses[0][:, :3, :3] - np.eye(3)).max() <= PLACES


def test_rods_of_the_delta_keep_their_length():
    m = mechanism("delta")
    x = m.configuration(coordinates(m, seed=3))
    points = {point.name: point.place for point in m.drawing(x).points}
    lengths = np.linalg.norm(points["ball 2b"] - points["elbow 2b"], axis=-1)
    assert np.abs(lengths - delta_sizes.ROD).max() <= PLACES


def test_flange_of_the_palletiser_stays_level():
    m = mechanism("palletiser")
    T = m.forward_kinematics(m.configuration(coordinates(m, seed=4)))
    assert np.abs(T[:, :3, 2] - [0.0, 0.0, 1.0]).max() <= PLACES
    assert np.ptp(T[:, 2, 3]) > 0.3


def test_fingers_of_the_gripper_stay_parallel_and_opposite():
    m = mechanism("gripper")
    x = m.configuration(coordinates(m, seed=5))
    left, right = (m.forward_kinematics(x, f"{side} finger") for side in ("left", "right"))
    for T in (left, right):
        assert np.abs(T[:, :3, :3] - np.eye(3)).max() <= PLACES
    assert np.abs(left[:, 0, 3] + right[:, 0, 3]).max() <= PLACES
    assert np.abs(left[:, 2, 3] - right[:, 2, 3]).max() <= PLACES


def test_balls_of_the_3rps_stay_in_the_planes_of_their_legs():
    m = mechanism("3-rps")
    points = {p.name: p.place for p in m.drawing(m.configuration(coordinates(m, seed=6))).points}
    for k in (1, 2, 3):
        angle = 2 * math.pi * (k - 1) / 3
        assert np.abs(points[f"ball {k}"] @ [-math.sin(angle), math.cos(angle), 0.0]).max() <= PLACES


def test_piston_of_the_slider_crank():
    m = mechanism("slider-crank")
    theta = m.positions.coordinates(m.home) + np.linspace(0.0, 2 * math.pi, 25)[:, None]
    x = [m.home]
    for angle in theta[1:]:
        x.append(m.configuration(angle, near=x[-1]))
    r, length = slider_crank.CRANK, slider_crank.ROD
    wanted = r * np.cos(theta) + np.sqrt(length**2 - (r * np.sin(theta)) ** 2)
    assert np.abs(np.array(x)[:, list(m.coordinate_names).index("cylinder")] - wanted[:, 0]).max() <= PLACES


def test_flyball_governor_starts_with_slack_springs():
    """The slider falls freely at first, and the balls fly out as two pendulums on a shaft that turns."""
    m = mechanism("flyball-governor")
    omega = 2 * math.pi
    qdd = m.forward_dynamics(m.home, [omega, 0.0, 0.0, 0.0], np.zeros(0))
    names = list(m.structure.independent)
    assert error(qdd[names.index("sleeve")], -9.81, core=0) <= FORMULATIONS
    rod = next(body for body in m.bodies if body.name == "first rod")
    reach = np.subtract(rod.com, rod.origin)
    across = rod.inertia[1][1] + rod.mass * reach @ reach
    # moments about the y axis through the pivot: centrifugal force with the lever below it, weight with that beside it
    products = rod.inertia[0][2] - rod.mass * rod.com[0] * reach[2]
    moment = -(omega**2) * products + rod.mass * 9.81 * reach[0]
    assert error(qdd[names.index("first pivot")], moment / across, core=0) <= FORMULATIONS
    assert abs(qdd[names.index("second pivot")] + qdd[names.index("first pivot")]) <= ROUNDING * abs(moment / across)


# ------------------------------------------------------------------------------------------------- pictures and words


@each
def test_drawn_bodies_are_rigid(name):
    """Every drawn line keeps its length but those of sliding legs and springs; every joint and actuator is drawn."""
    m = mechanism(name)
    drawing = m.drawing(m.configuration(coordinates(m, seed=7)))
    for segment in drawing.segments:
        lengths = np.linalg.norm(segment.end - segment.start, axis=-1) + np.zeros(STATES)
        assert lengths.min() > 0
        if segment.part not in ("leg", "spring"):
            assert np.ptp(lengths) <= PLACES, segment.name
    joints = [point.name for point in drawing.points if point.part == "joint"]
    assert joints == [joint.name for joint in m.joints]
    assert [action.name for action in drawing.actions] == [actuator.name for actuator in m.actuators]
    named = {frame.name: frame.transform for frame in drawing.frames}
    assert m.moved_body.name in named


@each
def test_joints_and_bodies_have_names_of_their_own(name):
    m = mechanism(name)
    assert not {joint.name for joint in m.joints} & {body.name for body in m.bodies}


def test_a_body_with_the_name_of_a_joint_is_told_apart():
    """In a mechanism of one's own: in the text of its structure, and in pictures, where labels are found by name."""
    m = mechanism("four-bar")
    first, *others = m.joints
    m = m.replace(joints=[dataclasses.replace(first, name=first.child), *others])
    assert f"  ground - {first.child} - body {first.child}\n" in str(m.structure)
    drawing = m.drawing(m.home)
    assert [point.name for point in drawing.points if point.part == "joint"] == [joint.name for joint in m.joints]
    assert [action.name for action in drawing.actions] == [first.child]
    for parts in (drawing.segments, drawing.ellipsoids, [p for p in drawing.points if p.part == "centre of mass"]):
        assert f"body {first.child}" in {part.name for part in parts}
        assert first.child not in {part.name for part in parts}


@each
def test_every_body_is_drawn_or_sits_at_one_point(name):
    m = mechanism(name)
    drawn = {segment.name for segment in m.drawing(m.home).segments}
    left = {body.name for body in m.bodies} - drawn
    hidden = {"3-rps": {f"piston {k}" for k in (1, 2, 3)}, "slider-crank": {"piston"}, "palletiser": {"flange"}}
    assert left == hidden.get(name, set())


@each
def test_summary_tells_freedom_and_redundancy(name):
    m, facts = mechanism(name), FACTS[name]
    summary = m.summary()
    head, said = str(summary.headline), str(summary.parts[0])
    assert f"{facts.freedom} degree{'s' * (facts.freedom > 1)} of freedom" in head
    assert f"{facts.redundant} constraint" in said if facts.redundant else "redundant" not in said
    assert all(joint in said for joint in m.structure.independent)
    assert repr(m).startswith(f"Mechanism({name!r}, {len(m.bodies)} bodies")
    worried = " ".join(m.issues())
    assert ("generalised_forces" in worried) == (facts.actuators < facts.freedom)
    assert ("reactions open" in worried) == bool(facts.redundant)


@each
def test_reactions_are_those_that_are_unique(name):
    m = mechanism(name)
    zero = np.zeros(m.n)
    found = {reaction.name: reaction for reaction in m.reactions(m.home, zero, zero)}
    if len(m.actuators) < m.n:
        assert not found
        return
    assert set(found) == {joint.name for joint in m.joints}
    for joint, reaction in found.items():
        is_open = [component in m.open_reactions.get(joint, ()) for component in COMPONENTS]
        assert np.isnan([*reaction.force, *reaction.moment]).tolist() == is_open
    if name == "hexapod-6rus":  # cranks, rods and platform stand on their motors
        weight = 9.81 * sum(body.mass for body in m.bodies)
        lifted = sum(found[f"motor {k}"].force for k in range(1, 7))
        assert error(lifted, [0.0, 0.0, weight]) <= FORMULATIONS
