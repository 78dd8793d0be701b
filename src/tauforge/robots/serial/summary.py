"""A serial arm in words and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tauforge.robots.serial.joint import KIND_NAMES
from tauforge.robots.summary import INERTIAS, PRODUCTS, Rows, Summary, SummaryTable, Words, six_numbers

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm


def summary(arm: SerialArm) -> Summary:
    joints = f"{arm.n} joint{'s' * (arm.n > 1)}"
    frames = "" if arm.convention == "general" else f", {arm.convention} DH"
    mass = float(sum(joint.mass for joint in arm.joints))
    words = f"{arm.name}: serial arm of {joints}, {arm.kinds}{frames}, "
    return Summary((words, mass, " kg without its base"), tuple(_parts(arm)))


def _parts(arm: SerialArm) -> Iterator[SummaryTable | Words]:
    yield _axes(arm) if arm.convention == "general" else _dh(arm)
    if any(j.limits or j.max_speed or j.max_force for j in arm.joints):
        limits: Rows = tuple((j.name, *(j.limits or (None, None)), j.max_speed, j.max_force) for j in arm.joints)
        columns = ("joint", "from", "to", "speed", "force")
        yield SummaryTable("Limits: rad or m, and its rates; N m or N", columns, limits)
    bodies: Rows = tuple((j.name, j.mass, *j.com) for j in arm.joints)
    columns = ("link of", "mass [kg]", "x [m]", "y [m]", "z [m]")
    yield SummaryTable("Links: mass, and mass centre in the link's frame", columns, bodies)
    inertias: Rows = tuple((j.name, *six_numbers(j.inertia)) for j in arm.joints)
    yield SummaryTable(INERTIAS, ("link of", *PRODUCTS), inertias)
    if any(j.motor_inertia or j.viscous or any(j.coulomb) for j in arm.joints):
        drives: Rows = tuple((j.name, j.motor_inertia, j.gear_ratio, j.viscous, *j.coulomb) for j in arm.joints)
        header = ("drive of", "rotor", "gear ratio", "viscous", "Coulomb +", "-")
        title = "Drives, at the motor: rotor [kg m^2], viscous [N m s], Coulomb friction [N m]"
        yield SummaryTable(title, header, drives)
    if arm.dissipation.jumps:
        yield "Coulomb friction jumps at rest.\n"
    elif any(any(j.coulomb) for j in arm.joints):
        yield ("Coulomb friction smoothed over ", arm.coulomb_speed, " rad/s.\n")
    for name, frame in (("base: world <- base", arm.base), ("tool: last link <- tool", arm.tool)):
        if not np.array_equal(frame, np.eye(4)):
            yield SummaryTable(f"{name}, m", ("",) * 4, frame, texts=0)


def _dh(arm: SerialArm) -> SummaryTable:
    rows = tuple((joint.name, KIND_NAMES[joint.kind], *joint.dh) for joint in arm.joints if joint.dh is not None)
    header = ("joint", "kind", "alpha [rad]", "a [m]", "d [m]", "theta [rad]")
    return SummaryTable("Joints: Denavit-Hartenberg parameters", header, rows, texts=2)


def _axes(arm: SerialArm) -> SummaryTable:
    frames = arm.link_frames(np.zeros(arm.n))
    rows = []
    for i, joint in enumerate(arm.joints):
        here = frames[i] @ np.array(joint.before)
        rows.append((joint.name, KIND_NAMES[joint.kind], tuple(here[:3, 3].tolist()), tuple(here[:3, 2].tolist())))
    header = ("joint", "kind", "at [m]", "axis")
    return SummaryTable("Joints, all coordinates 0, world frame", header, tuple(rows), texts=2)
