"""Warnings about a motion that asks more of a robot than its limits allow; the results are still given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tauforge.cli.output import number, seconds, warn

if TYPE_CHECKING:
    from tauforge.motion.csv_motion import CsvMotion

ROUNDING = 1e-9  # relative to the limit: a motion that ends on it, converted from another unit, is not beyond it


def warn_of_forces(robot: Any, peaks: Sequence[float]) -> None:
    """One warning for each actuator that is asked for more than it can give."""
    from tauforge.robots.serial.serial_arm import SerialArm

    if isinstance(robot, SerialArm):
        limits = [(joint.name, joint.max_force, "N m" if joint.kind == "R" else "N") for joint in robot.joints]
    else:
        limits = [(f"leg {k}", limit, "N") for k, limit in enumerate(robot.force_limit or (), 1)]
    for (name, limit, unit), peak in zip(limits, peaks, strict=False):
        if limit is not None and abs(peak) > limit:
            warn(f"{name} needs {number(abs(peak))} {unit}, more than its limit of {number(limit)} {unit}")


def warn_of_motion(robot: Any, motion: CsvMotion) -> None:
    """One warning for each joint or leg that goes further or faster than it can: how far, and when first."""
    from tauforge.robots.serial.serial_arm import SerialArm

    if isinstance(robot, SerialArm):
        _warn_of_joints(robot, motion)
    else:
        _warn_of_legs(robot, motion)


def _warn_of_joints(arm: Any, motion: CsvMotion) -> None:
    for k, joint in enumerate(arm.joints):
        unit, moves = ("rad", "turns") if joint.kind == "R" else ("m", "slides")
        if joint.limits is not None:
            _warn_outside(f"{joint.name} {moves} to", motion.samples.position[:, k], joint.limits, unit, motion.times)
        if joint.max_speed is not None:
            speed, limits = abs(motion.samples.velocity[:, k]), (0.0, joint.max_speed)
            _warn_outside(f"{joint.name} {moves} at", speed, limits, f"{unit}/s", motion.times)


def _warn_of_legs(platform: Any, motion: CsvMotion) -> None:
    pose, times = motion.samples.position, motion.times
    margins = platform.within_limits(pose)
    if platform.stroke is not None:
        lengths = platform.inverse_kinematics(pose).T
        for leg, (length, stroke) in enumerate(zip(lengths, platform.stroke, strict=True), 1):
            _warn_outside(f"leg {leg} has the length", length, stroke, "m", times)
    if platform.cone_angles is not None:
        cones = zip(("base", "platform"), platform.cone_angles, (margins.base_cone, margins.platform_cone), strict=True)
        for joint, widest, cone in cones:
            for leg, margin in enumerate(cone.T, 1):
                name = f"the {joint} joint of leg {leg} tilts by"
                _warn_outside(name, widest - margin, (0.0, widest), "rad", times)
    if margins.clearance is not None and margins.clearance.min() < 0:
        deepest, first = margins.clearance.argmin(), (margins.clearance < 0).argmax()
        one, other = margins.nearest_legs[deepest]
        overlap = f"{number(-margins.clearance[deepest])} m"
        warn(f"legs {one} and {other} overlap by {overlap}; legs first touch at {seconds(times[first])} s")


def _warn_outside(what: str, values: Any, limits: Sequence[float], unit: str, times: Any) -> None:
    """values: (k,) over the times; a warning for each end of the limits that they pass."""
    for limit, beyond in ((limits[0], limits[0] - values), (limits[1], values - limits[1])):
        outside = beyond > ROUNDING * max(abs(limits[0]), abs(limits[1]))
        if outside.any():
            furthest = beyond.argmax()
            warn(
                f"{what} {number(values[furthest])} {unit}, {number(beyond[furthest])} {unit} beyond its limit of "
                f"{number(limit)} {unit}; first beyond it at {seconds(times[outside.argmax()])} s"
            )
