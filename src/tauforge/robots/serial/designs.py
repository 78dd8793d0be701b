"""The lengths that a designer of an arm chooses: those of its Denavit-Hartenberg table that are not zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Designs
from tauforge.robots.records import DesignParameter
from tauforge.robots.serial.varying import own_value

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm

LENGTHS = {"a": "length of the common normal", "d": "offset along the joint's axis"}


@ours
class ArmDesigns(Designs):
    """The lengths of the Denavit-Hartenberg table that are not zero, such as a2 and d4."""

    robot: SerialArm

    @computed_once
    def parameters(self) -> tuple[DesignParameter, ...]:
        """a1, d1, a2, ... of an arm with a table; zero belongs to the arm's structure and is not offered."""
        arm = self.robot
        if any(joint.dh is None for joint in arm.joints):
            return ()
        found = []
        for i in range(arm.n):
            for field, words in LENGTHS.items():
                if own := float(own_value(arm, field)[i]):
                    found.append(DesignParameter(f"{field}{i + 1}", "m", own, f"{words} of joint {i + 1}"))
        return tuple(found)

    def _fields(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The columns (..., n) of the table."""
        arm, found = self.robot, dict[str, Array]()
        for name, value in values.items():
            field, i = name[0], int(name[1:]) - 1
            column = found.get(field, own_value(arm, field))
            column = np.array(np.broadcast_to(column, (*np.broadcast_shapes(column.shape[:-1], value.shape), arm.n)))
            column[..., i] = value
            found[field] = column
        return found
