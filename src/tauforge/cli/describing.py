"""A robot for people (`show`) and for machines (`show --json`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.text import Text

from tauforge.cli.output import item, number, table
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge.terminal import one_line

PAIRS = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))
UPRIGHT = (0.0, 0.0, -9.81)


def headline(robot: SerialArm | StewartPlatform) -> str:
    name = one_line(robot.name)
    if isinstance(robot, SerialArm):
        joints = f"{robot.n} joint{'s' * (robot.n > 1)}"
        frames = "" if robot.convention == "general" else f", {robot.convention} DH"
        mass = sum(joint.mass for joint in robot.joints)
        return f"{name}: serial arm of {joints}, {robot.kinds}{frames}, {number(mass)} kg without its base"
    if not robot.has_masses:
        return f"{name}: Stewart platform, geometry without masses"
    legs = sum((*(robot.lower_mass or ()), *(robot.upper_mass or ())))
    return f"{name}: Stewart platform, {number(robot.platform_mass or 0.0)} kg on legs of {number(legs)} kg together"


def data(robot: SerialArm | StewartPlatform, warnings: Sequence[str]) -> dict[str, Any]:
    """Every field of the robot, in SI units and radians."""
    import dataclasses

    fields = {field.name: getattr(robot, field.name) for field in dataclasses.fields(robot)}
    kind = "arm" if isinstance(robot, SerialArm) else "platform"
    units = {"length": "m", "angle": "rad", "mass": "kg", "inertia": "kg m^2", "force": "N", "torque": "N m"}
    return {"kind": kind, "units": units, **fields, "warnings": list(warnings)}


def shown(robot: SerialArm | StewartPlatform, warnings: Sequence[str]) -> Iterable[Any]:
    yield headline(robot)
    if tuple(robot.gravity) != UPRIGHT:
        yield f"gravity: {_list(robot.gravity)} m/s^2"
    yield ""
    yield from _arm(robot) if isinstance(robot, SerialArm) else _platform(robot)
    if warnings or robot.known_exceptions:
        yield Text("Beware", "bold")
        yield from (item(warning) for warning in warnings)
        yield from (item(f"{body}: {reason} (a known exception)") for body, reason in robot.known_exceptions)
        yield ""
    if robot.sources:
        yield Text("Sources", "bold")
    for source in robot.sources:
        yield item(f"{', '.join(source.fields)}: {source.source}", source.note)


# --------------------------------------------------------------------------------------------------------------- arms


def _arm(arm: SerialArm) -> Iterable[Any]:
    if arm.convention == "general":
        yield _axes_table(arm)
    else:
        rows = []
        for joint in arm.joints:
            if joint.dh is not None:
                alpha, a, d, theta = joint.dh
                rows.append((joint.name, _kind(joint), _angle(alpha), number(a), number(d), _angle(theta)))
        frames = ("joint", "kind", "alpha [rad]", "a [m]", "d [m]", "theta [rad]")
        yield table("Joints: Denavit-Hartenberg parameters", frames, rows, texts=2)
    if any(j.limits or j.max_speed or j.max_force for j in arm.joints):
        limits = [(j.name, *_limits(j)) for j in arm.joints]
        yield table("Limits: rad or m, and its rates; N m or N", ("joint", "from", "to", "speed", "force"), limits)
    bodies = [(j.name, number(j.mass), *map(number, j.com)) for j in arm.joints]
    yield table(
        "Links: mass, and mass centre in the link's frame", ("link of", "mass [kg]", "x [m]", "y [m]", "z [m]"), bodies
    )
    inertias = [(j.name, *_tensor(j.inertia)) for j in arm.joints]
    yield table("Inertias about the mass centre [kg m^2]", ("link of", *(p[0] for p in PAIRS)), inertias)
    if any(j.motor_inertia or j.viscous or any(j.coulomb) for j in arm.joints):
        drives = [(j.name, *map(number, (j.motor_inertia, j.gear_ratio, j.viscous, *j.coulomb))) for j in arm.joints]
        header = ("drive of", "rotor", "gear ratio", "viscous", "Coulomb +", "-")
        yield table("Drives, at the motor: rotor [kg m^2], viscous [N m s], Coulomb friction [N m]", header, drives)
    if any(any(j.coulomb) for j in arm.joints):
        smooth = f"smoothed over {number(arm.coulomb_speed)} rad/s" if arm.coulomb_speed else "jumps at rest"
        yield f"Coulomb friction {smooth}.\n"
    for name, frame in (("base", arm.base), ("tool", arm.tool)):
        if not np.array_equal(frame, np.eye(4)):
            yield table(
                f"{name}: {'world <- base' if name == 'base' else 'last link <- tool'}, m",
                ("",) * 4,
                [[number(x) for x in row] for row in frame],
                texts=0,
            )


def _axes_table(arm: SerialArm) -> Any:
    frames = arm.link_frames(np.zeros(arm.n))
    rows = []
    for i, joint in enumerate(arm.joints):
        here = frames[i] @ np.array(joint.before)
        rows.append((joint.name, _kind(joint), _list(here[:3, 3]), _list(here[:3, 2])))
    return table("Joints, all coordinates 0, world frame", ("joint", "kind", "at [m]", "axis"), rows, texts=2)


def _angle(value: float) -> str:
    """Quarter turns by their name."""
    quarters = {0.5: "pi/2", 1.0: "pi", -0.5: "-pi/2", -1.0: "-pi"}
    return quarters.get(value / np.pi, number(value))


def _kind(joint: Any) -> str:
    return "revolute" if joint.kind == "R" else "prismatic"


def _limits(joint: Any) -> list[str]:
    both = joint.limits or (None, None)
    return ["-" if x is None else number(x) for x in (*both, joint.max_speed, joint.max_force)]


def _tensor(inertia: Any) -> list[str]:
    return [number(inertia[i][j]) for _, i, j in PAIRS]


def _list(values: Iterable[float]) -> str:
    return ", ".join(number(float(x)) for x in values)


# ---------------------------------------------------------------------------------------------------------- platforms


def _platform(platform: StewartPlatform) -> Iterable[Any]:
    points = [(str(i + 1), *map(number, (*platform.base_points[i], *platform.platform_points[i]))) for i in range(6)]
    header = ("leg", "x", "y", "z", "x'", "y'", "z'")
    yield table("Joints [m]: x, y, z on the base, x', y', z' on the platform", header, points)
    if platform.has_masses:
        bodies: list[tuple[Any, ...]] = [
            ("platform", platform.platform_mass, platform.platform_com, platform.platform_inertia)
        ]
        for part in ("lower", "upper"):
            values = [getattr(platform, f"{part}_{field}") for field in ("mass", "com", "inertia")]
            alike = all(len(set(value)) == 1 for value in values)
            for i in range(1 if alike else 6):
                name = f"{part} part" if alike else f"{part} part, leg {i + 1}"
                bodies.append((name, *(value[i] for value in values)))
        rows = [(name, number(mass), *map(number, com)) for name, mass, com, _ in bodies]
        yield table(
            "Bodies: mass, and mass centre in the platform's or the leg's axes",
            ("body", "mass [kg]", "x [m]", "y [m]", "z [m]"),
            rows,
        )
        inertias = [(name, *_tensor(inertia)) for name, _, _, inertia in bodies]
        yield table("Inertias about the mass centre [kg m^2]", ("body", *(p[0] for p in PAIRS)), inertias)
    yield table("Limits and joints", ("what", "value"), list(_platform_numbers(platform)), texts=2)


def _platform_numbers(platform: StewartPlatform) -> Iterable[tuple[str, str]]:
    base, prismatic, top = map(number, platform.friction)
    yield "base joints", platform.base_joint
    stroke = platform.stroke
    if stroke is not None:
        yield "stroke [m]", _per_leg([f"{number(a)} to {number(b)}" for a, b in stroke])
    if platform.force_limit is not None:
        yield "force limit [N]", _per_leg(list(map(number, platform.force_limit)))
    if platform.cone_angles is not None:
        yield "joint cones, base and platform [rad]", _list(platform.cone_angles)
    if platform.leg_radius is not None:
        yield "leg radius [m]", number(platform.leg_radius)
    if any(platform.reflected_mass or ()):
        yield "reflected mass of the drives [kg]", _per_leg(list(map(number, platform.reflected_mass or ())))
    yield "friction of base joints [N m s]", base
    yield "friction of legs [N s/m]", prismatic
    yield "friction of platform joints [N m s]", top


def _per_leg(values: list[str]) -> str:
    return values[0] if len(set(values)) == 1 else "; ".join(values)
