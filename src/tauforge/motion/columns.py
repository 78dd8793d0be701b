"""The names of columns in CSV files: one convention for motions that are read and results that are written.

time [s], and of an arm with n joints
    q1 [rad] ... qn      coordinates, prismatic ones in m
    qd1 [rad/s] ...      rates
    qdd1 [rad/s^2] ...   accelerations
    tau1 [N m] ...       actuator forces, prismatic ones in N
of a platform
    x, y, z [m], theta_x, theta_y, theta_z [rad]                          pose
    v_x, v_y, v_z [m/s], omega_x, omega_y, omega_z [rad/s]                twist
    a_x, a_y, a_z [m/s^2], alpha_x, alpha_y, alpha_z [rad/s^2]            acceleration
    l1 [m] ... l6, f1 [N] ... f6                                          leg lengths and forces
A mechanism has an arm's columns for its independent coordinates and actuators; recordings have x2 ... for other entries
of its positions, numbered by their place.
Desired quantities have the same names with the prefix `target_`. A file that is read may name the columns of an arm
after its joints: `shoulder [deg]`, `shoulder_velocity [deg/s]`, `shoulder_acceleration [deg/s^2]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.motion.csv_table import Column
from tauforge.robots.robot import Robot

TIME = Column("time", "s")
AXES = ("x", "y", "z")
POSE = tuple(Column(*c) for c in zip((*AXES, *(f"theta_{a}" for a in AXES)), ["m"] * 3 + ["rad"] * 3, strict=True))
ENDINGS = ("", "_velocity", "_acceleration")  # of columns that are named after a joint


class Columns(NamedTuple):
    """Columns of a robot's coordinates, their rates and its actuator forces."""

    position: tuple[Column, ...]
    velocity: tuple[Column, ...]
    acceleration: tuple[Column, ...]
    force: tuple[Column, ...]

    @property
    def target_position(self) -> tuple[Column, ...]:
        return tuple(column._replace(name=f"target_{column.name}") for column in self.position)

    @property
    def target_velocity(self) -> tuple[Column, ...]:
        return tuple(column._replace(name=f"target_{column.name}") for column in self.velocity)


def arm_columns(units: Sequence[str]) -> Columns:
    """units: of the joints' coordinates, rad or m."""

    def numbered(letters: str, per: str) -> tuple[Column, ...]:
        return tuple(Column(f"{letters}{i}", unit + per) for i, unit in enumerate(units, 1))

    forces = tuple(Column(f"tau{i}", "N m" if unit == "rad" else "N") for i, unit in enumerate(units, 1))
    return Columns(numbered("q", ""), numbered("qd", "/s"), numbered("qdd", "/s^2"), forces)


def _vector(linear: str, angular: str, per: str) -> tuple[Column, ...]:
    first = (Column(f"{linear}_{axis}", f"m{per}") for axis in AXES)
    return (*first, *(Column(f"{angular}_{axis}", f"rad{per}") for axis in AXES))


PLATFORM = Columns(
    POSE,
    _vector("v", "omega", "/s"),
    _vector("a", "alpha", "/s^2"),
    tuple(Column(f"f{i}", "N") for i in range(1, 7)),
)


def joint_names(robot: Robot) -> dict[str, str]:
    """What columns may be called after an arm's joints, and our names of them: shoulder is q2, shoulder_velocity qd2.

    A name that could mean two columns is none of them. Poses have no other names: twists are not the rates of their
    numbers.
    """
    if robot.positions_are_poses:
        return {}
    columns = columns_of(robot)
    ours = {TIME.name, *(column.name for group in columns for column in group)}
    ours |= {column.name for column in (*columns.target_position, *columns.target_velocity)}
    pairs = [
        (coordinate.name + ending, column.name)
        for ending, group in zip(ENDINGS, columns[:3], strict=True)
        for coordinate, column in zip(robot.coordinates, group, strict=True)
    ]
    names = [name for name, _ in pairs]
    return {name: column for name, column in pairs if name not in ours and names.count(name) == 1}


def columns_of(robot: Robot) -> Columns:
    """The robot's own."""
    coordinates = robot.coordinates
    return Columns(
        tuple(Column(c.column, c.unit) for c in coordinates),
        tuple(Column(c.velocity_column, f"{c.unit}/s") for c in coordinates),
        tuple(Column(c.acceleration_column, f"{c.unit}/s^2") for c in coordinates),
        tuple(Column(actuator.column, actuator.unit) for actuator in robot.actuators),
    )


def state_columns(robot: Robot) -> Columns:
    """The same with a column for every entry of a position, of which a mechanism has more than coordinates."""
    return columns_of(robot)._replace(position=tuple(Column(c.column, c.unit) for c in robot.positions.entries))


def sensor_columns(robot: Robot) -> tuple[Column, ...]:
    """What its actuators' sensors measure."""
    return tuple(Column(sensor.column, sensor.unit) for sensor in robot.sensors)
