"""The order of a mechanism's actuators, which is that of its joints."""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.robots.mechanism.parts import MechanismJoint


def in_order(joints: Sequence[MechanismJoint], names: Sequence[str]) -> list[MechanismJoint]:
    """The joints, those that are named in the order of their names: they change places among themselves."""
    by_name = {joint.name: joint for joint in joints}
    named = iter(dict.fromkeys(names))
    chosen = set(names)
    return [by_name[next(named)] if joint.name in chosen else joint for joint in joints]
