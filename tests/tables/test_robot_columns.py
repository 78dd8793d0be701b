"""Recordings of robots whose columns have names of their own, or some of an arm's or a platform's, as .csv files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from tauforge.robots.records import Actuator, Coordinate
from tauforge.simulation import Recording
from tauforge.tables.robot_columns import PLATFORM_COLUMNS

AXES = ((1, "rad"), (2, "m"))


def cart_with(positions, velocities, accelerations, forces):
    class Cart(CartPendulum):
        coordinates = tuple(
            Coordinate(name, *names)
            for name, *names in zip(("cart", "rod"), ("m", "rad"), positions, velocities, accelerations, strict=True)
        )
        actuators = tuple(
            Actuator(name, unit, column)
            for name, unit, column in zip(("motor", "hinge"), ("N", "N m"), forces, strict=True)
        )

    return Cart()


@pytest.mark.parametrize(
    "columns",
    [
        ("q1 q2", "qd1 qd2", "qdd1 qdd2", "u1 u2"),  # an arm's, forces apart
        ("q1 q2", "qd1 qd2", "qdd1 qdd2", "tau1 tau2"),  # an arm's
        ("q1 q2", "v1 v2", "a1 a2", "tau1 tau2"),
        ("q1 s", "qd1 sd", "qdd1 sdd", "tau1 tau2"),  # an arm's with one joint, and more
        ("q0 q1", "qd0 qd1", "qdd0 qdd1", "tau0 tau1"),  # counted from 0
        ("x y", "v_x v_y", "a_x a_y", "f1 f2"),  # some of a platform's
    ],
)
def test_a_recording_of_a_cart_is_read_again(tmp_path, columns):
    cart = cart_with(*(names.split() for names in columns))
    law = tf.control.ComputedTorque(cart)
    run = tf.simulate(cart, law, tf.motion.JointMove([0.0, 0.0], [0.3, 0.8], 0.1), step=0.01)
    run.save(tmp_path / "run.csv")
    read = Recording.load(tmp_path / "run.csv")
    assert replace(read, names=run.names, force_names=run.force_names, robot=run.robot) == run


def recorded(tmp_path, header, rows=2):
    numbers = np.arange(1.0, rows * len(header) + 1).reshape(rows, -1)
    lines = [",".join(header), *(",".join(map(str, row)) for row in numbers)]
    (tmp_path / "run.csv").write_text("\n".join(lines) + "\n")
    return Recording.load(tmp_path / "run.csv"), dict(zip(header, numbers.T, strict=True))


def test_more_forces_than_legs(tmp_path):
    """Eight cables on a body whose pose has the columns of a platform."""
    state = [str(column) for group in PLATFORM_COLUMNS[:3] for column in group]
    read, numbers = recorded(tmp_path, ["time [s]", *state, *(f"t{i} [N]" for i in range(1, 9))])
    assert np.array_equal(read.force, np.stack([numbers[f"t{i} [N]"] for i in range(1, 9)], axis=-1))
    assert np.array_equal(read.velocity[:, 5], numbers["omega_z [rad/s]"])


def test_an_arms_columns_in_any_order_and_beside_others(tmp_path):
    header = ["time [s]", "tau2 [N]", "tau1 [N m]", "q2 [m]", "q1 [rad]", "room [m]"]
    header += [f"{name}{i} [{unit}{rate}]" for name, rate in (("qd", "/s"), ("qdd", "/s^2")) for i, unit in AXES]
    read, numbers = recorded(tmp_path, header)
    assert np.array_equal(read.position, np.stack([numbers["q1 [rad]"], numbers["q2 [m]"]], axis=-1))
    assert np.array_equal(read.force, np.stack([numbers["tau1 [N m]"], numbers["tau2 [N]"]], axis=-1))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("time [s],q1 [m],qd1 [m/s],qdd1 [m/s^2]", r"there is no column 'tau1 \[N\]'"),
        ("time [s],q1 [rad],qd1 [rad/s],tau1 [N m]", r"there is no column 'qdd1 \[rad/s\^2\]'"),
        ("time [s],q1 [m],qd1 [rad/s],qdd1 [m/s^2],tau1 [N]", "does not measure this column"),
        ("time [s],temperature", r"there is no column 'q1 \[rad\]'"),
        ("time [s],x [m],phi [rad],w [rad/s],v [m/s],a [m/s^2],b [rad/s^2]", "in their units, got 2, 2, 2"),
    ],
)
def test_files_that_lack_something(tmp_path, header, message):
    with pytest.raises(tf.ModelError, match=message):
        recorded(tmp_path, header.split(","))
