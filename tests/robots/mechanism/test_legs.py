"""Legs in closed form: positions without a search, against geometry by hand, platforms, and Newton's method."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import tauforge as tf
from support import mechanisms
from support.as_mechanisms import platform_as_mechanism
from support.mechanisms import bar
from support.tolerances import ROUNDING, error, error_beside
from tauforge.robots.mechanism import positions

GAP = 1e-13  # of the size: a closed loop
SEARCHED = 1e-9  # Newton's method beside the closed form: both close to GAP, and positions are up to 1e4 as sensitive
STRIDES = 4  # of a search
DYADS = ["".join(kinds) for kinds in product("RP", repeat=3) if kinds != ("P", "P", "P")]
FIVE_BAR = mechanisms.five_bar()
LEGS = ("UPS", "SPU", "RUS", "RSU", "PUS", "PSU")


def searched(m: tf.Mechanism, q: Any, near: Any) -> Any:
    """By Newton's method, in short strides."""
    q = np.atleast_2d(q)
    return positions.followed(m, "closing_steps", q, np.broadcast_to(near, (len(q), len(near))), STRIDES)[0]


def dyad(kinds: str, seed: int) -> tf.Mechanism:
    """A crank, and two links after it that three joints of these kinds hold: all in a tilted plane."""
    rng = np.random.default_rng(seed)
    R = Rotation.random(random_state=seed).as_matrix()
    points = np.array([[0.0, 0.0], [0.3, 0.2], [0.5, 0.9], [1.2, 0.1]]) + rng.uniform(-0.1, 0.1, (4, 2))
    world = np.column_stack([points, np.zeros(4)]) @ R.T
    names = ["ground", "crank", "first", "second", "ground"]
    bodies = [bar(name, world[k], world[(k + 1) % 4], 1.0) for k, name in enumerate(names[1:4])]
    joints: list[Any] = [tf.Hinge("drive", "ground", "crank", at=world[0], axis=R[:, 2], actuated=True)]
    for k, kind in enumerate(kinds, 1):
        angle = rng.uniform(0.0, 2.0) + 1.3 * k
        along = R @ [math.cos(angle), math.sin(angle), 0.0]
        made = tf.Hinge if kind == "R" else tf.Slider
        joints.append(made(f"joint {k}", names[k], names[k + 1], at=world[k], axis=R[:, 2] if kind == "R" else along))
    return tf.Mechanism(bodies=bodies, joints=joints, name=f"dyad {kinds}")


@pytest.mark.parametrize("kinds", DYADS)
@pytest.mark.parametrize("seed", range(2))
def test_planar_dyads_have_a_closed_form(kinds: str, seed: int) -> None:
    m = dyad(kinds, seed)
    q = np.random.default_rng(seed).uniform(-0.2, 0.2, (20, 1))
    assert len(m.structure.in_closed_form) == 2
    x = m.configuration(q, on_failure="nan")
    reached = np.isfinite(x).all(axis=-1)
    assert reached.sum() >= 10
    assert (m.loop_gap(x[reached]) <= GAP).all()
    assert error(x[reached], searched(m, q[reached], m.home)) <= SEARCHED


def hexapod(kind: str, seed: int) -> tf.Mechanism:
    """A platform on six legs of a kind, drives first where the letters say so; points and axes as they come."""
    rng = np.random.default_rng(seed)
    origin = np.array([0.0, 0.0, 0.8])
    bodies = [tf.Body("platform", 5.0, tuple(origin), (0.2, 0.2, 0.3), origin=tuple(origin))]
    joints: list[Any] = []
    for i in range(6):
        angle = math.pi / 3 * i
        out = np.array([math.cos(angle), math.sin(angle), 0.0])
        base, tip = out * 0.6, origin + 0.3 * np.array([math.cos(angle + 0.7), math.sin(angle + 0.7), 0.0])
        base, tip = base + rng.uniform(-0.05, 0.05, 3), tip + rng.uniform(-0.05, 0.05, 3)
        middle = (base + tip) / 2 + 0.2 * out if kind[0] in "RP" else (base + tip) / 2
        lower, upper = f"lower {i}", f"upper {i}"
        bodies += [bar(lower, base, middle, 0.5), bar(upper, middle, tip, 0.4)]
        at = {0: base, 1: middle, 2: tip}
        between = {0: ("ground", lower), 1: (lower, upper), 2: (upper, "platform")}
        for k, letter in enumerate(kind):
            name, more = f"joint {i} {letter}", {"at": at[k]}
            chance = rng.normal(size=3)
            if letter in "RP":
                along = {"R": np.array([-out[1], out[0], 0.0]), "P": np.array([0.0, 0.0, 1.0])}[letter]
                along = tip - base if k == 1 else along + 0.2 * chance
                along = along / np.linalg.norm(along)
                drive = tf.Hinge if letter == "R" else tf.Slider
                joints.append(drive(name, *between[k], axis=along, actuated=True, **more))
            elif letter == "U":
                rod = (tip - base) / np.linalg.norm(tip - base)
                first = np.cross(rod, chance)
                first /= np.linalg.norm(first)
                second = math.cos(0.3) * np.cross(first, rod) + math.sin(0.3) * rod
                joints.append(tf.Universal(name, *between[k], axes=(first, second), **more))
            else:
                joints.append(tf.Spherical(name, *between[k], **more))
    return tf.Mechanism(bodies=bodies, joints=joints, independent="platform", name=f"6-{kind}")


@pytest.mark.parametrize("kind", LEGS)
def test_legs_of_a_platform_have_a_closed_form(kind: str) -> None:
    m, rng = hexapod(kind, 1), np.random.default_rng(2)
    assert len(m.structure.in_closed_form) == 18
    q = m.positions.coordinates(m.home) + rng.uniform(-0.02, 0.02, (20, 6))
    x = m.configuration(q, on_failure="nan")
    reached = np.isfinite(x).all(axis=-1)
    assert reached.sum() >= 10
    assert (m.loop_gap(x[reached]) <= GAP).all()
    assert error(m.positions.coordinates(x[reached]), q[reached]) == 0.0
    assert error(x[reached], searched(m, q[reached], m.home)) <= SEARCHED


def test_six_ups_has_the_lengths_of_the_platform() -> None:
    platform = tf.load("dasgupta1998").without_friction()
    home = np.array([0.2, 0.0, 0.5])
    m = platform_as_mechanism(platform, home)
    rng = np.random.default_rng(3)
    poses = np.concatenate([home, np.zeros(3)]) + rng.uniform(-0.15, 0.15, (50, 6))
    x = m.configuration(poses)
    legs = [m.coordinate_names.index(f"leg{i}") for i in range(6)]
    lengths = platform.leg_motion(poses).lengths
    at_home = platform.leg_motion(np.concatenate([home, np.zeros(3)])).lengths
    assert error_beside(x[:, legs], lengths - at_home, lengths) <= ROUNDING


@settings(max_examples=100, deadline=None)
@given(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9))
@example(-0.875, 0.75)
def test_five_bar_by_circles(left: float, right: float) -> None:
    """The rods' common point lies on two circles about the ends of the cranks: the upper meeting point."""
    m = FIVE_BAR
    A, B, C, D, E = (np.array(p, float) for p in ((0, 0), (-0.1, 0.28), (0.12, 0.55), (0.35, 0.28), (0.25, 0)))

    def turned(angle: float, v: Any) -> Any:
        c, s = math.cos(angle), math.sin(angle)
        return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])

    P, Q = A + turned(left, B - A), E + turned(right, D - E)
    r, s = np.linalg.norm(C - B), np.linalg.norm(C - D)
    d = Q - P
    along = (d @ d + r**2 - s**2) / (2 * (d @ d))
    height = r**2 / (d @ d) - along**2
    x = m.configuration([left, right], on_failure="nan")
    if height < -1e-9:
        assert np.isnan(x).all()
    elif height > 1e-6:
        meeting = P + along * d + math.sqrt(height) * np.array([-d[1], d[0]])
        frame = m.forward_kinematics(x, "r1")
        local = np.linalg.solve(m.forward_kinematics(m.home, "r1"), [*C, 0.0, 1.0])
        # flat triangles lose digits in the height, narrow ones in the direction of their short base
        condition = max(math.sqrt(height), 1 / math.sqrt(height))
        assert error((frame @ local)[:2], meeting) <= ROUNDING * condition


def test_a_leg_stays_assembled_as_it_is_nearby() -> None:
    m = FIVE_BAR
    other = m.home + [0.0, 2.0, 0.0, -2.0, 0.0]
    down = searched(m, [0.0, 0.0], other)[0]
    assert m.loop_gap(down) <= GAP
    assert abs(down[1]) > 1.0
    x = m.configuration([[0.1, -0.1], [0.0, 0.0]], near=down)
    assert error(x[1], down) <= SEARCHED
    assert error(x[0], searched(m, [0.1, -0.1], down)[0]) <= SEARCHED


@pytest.mark.parametrize("turns", [3, -2])
def test_turns_are_counted(turns: int) -> None:
    """The crank of a crank-rocker turns fully, so the coupler turns back on it; the rocker comes back."""
    m = mechanisms.crank_rocker()
    x = m.configuration([2 * math.pi * turns])
    full = dict(zip(m.coordinate_names, x / (2 * math.pi), strict=True))
    assert error([full[name] for name in ("crank", "coupler", "rocker")], [turns, -turns, 0]) <= ROUNDING


def test_out_of_reach() -> None:
    m = hexapod("RUS", 1)
    far = m.positions.coordinates(m.home) + [0, 0, 5.0, 0, 0, 0]
    with pytest.raises(
        tf.ConvergenceError,
        match=r"6-RUS: the loops do not close at \[0, 0, 5.8, 0, 0, 0\]: the bodies between joint 0 R and joint 0 S "
        r"cannot meet there\. If the machine can be assembled in another way, pass a position of that assembly as near",
    ):
        m.configuration(far)
    both = m.configuration([m.positions.coordinates(m.home), far], on_failure="nan")
    assert error(both[0], m.home) <= ROUNDING
    assert np.isnan(both[1]).all()


def test_what_has_no_closed_form_is_searched() -> None:
    for m in (mechanisms.bricard(), mechanisms.six_rus(), mechanisms.delta()):
        assert m.structure.in_closed_form == ()
        assert "in closed form" not in str(m.structure)
    assert set(FIVE_BAR.structure.in_closed_form) < {"e1", "e2", "mid"}
    assert "in closed form: e" in str(FIVE_BAR.structure)


def test_followers_are_found_in_closed_form() -> None:
    m = tf.load("gripper")
    assert len(m.structure.in_closed_form) == 3
    x = m.configuration([[0.1], [0.3]])
    assert (m.loop_gap(x) == 0.0).all()
