"""Objects of an arm behind the contract's capabilities: friction, sensors, designs, formulations and the tool."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalars
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.evaluation.condition import by_singular_values, check_length
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.serial import DEFAULT_FORMULATION, FIXED_BASE_ONLY, FORMULATIONS, INVERSE_DYNAMICS
from tauforge.robots.capabilities import Designs, Fields, JointFriction, Sensors
from tauforge.robots.formulations import CountedFormula, Formulations
from tauforge.robots.poses import pose_of
from tauforge.robots.positions import MovedBody
from tauforge.robots.records import Dampers, DesignParameter
from tauforge.robots.serial import formulas, inverse_kinematics
from tauforge.robots.serial.model import ArmModel, own_value

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm

DESIGN_LENGTHS = {"a": "length of the common normal", "d": "offset along the joint's axis"}


@ours
class ArmFriction(JointFriction):
    """At the motors: the joints feel viscous G^2 and coulomb |G|."""

    def dampers(self, fields: Fields) -> Dampers | None:
        arm = self.robot
        if not arm.coulomb_speed:
            return None

        def number(field: str) -> Array:
            return fields.get(field, np.array([getattr(joint, field) for joint in arm.joints])[None])

        ratio = np.abs(number("gear_ratio"))
        return Dampers(ratio * number("coulomb").max(axis=-1), ratio**2 * number("viscous"), arm.coulomb_speed)


@ours
class JointSensors(Sensors):
    """The joints themselves."""

    robot: SerialArm

    def poses(self, measured: Array, guess: ArrayLike | None = None) -> Array:
        self.check_guess(guess)
        return pose_of(self.robot.forward_kinematics(measured))


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
            for field, words in DESIGN_LENGTHS.items():
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


@ours
class ArmFormulations(Formulations):
    """Those of `tauforge.FORMULATIONS`."""

    robot: SerialArm
    names = FORMULATIONS
    default = DEFAULT_FORMULATION

    def taking(self, loads: Collection[str]) -> tuple[str, ...]:
        return tuple(name for name in FORMULATIONS if "base_motion" not in loads or name not in FIXED_BASE_ONLY)

    @property
    def general_arm(self) -> int:
        return self.robot.n

    def counted(self, name: str | None = None, **options: Any) -> CountedFormula:
        """Rigid bodies only: papers count neither friction nor rotors."""
        chosen = self.default if name is None else name
        self.check(chosen)
        self.check_counted(options)
        arm = self.robot.model.parameters
        return CountedFormula(partial(INVERSE_DYNAMICS[chosen], arm), dict.fromkeys(("q", "qd", "qdd"), self.robot.n))


@ours
class Tool(MovedBody):
    """The tool, which the Jacobian is about."""

    robot: SerialArm
    name = "tool"

    def frames(self, position: Array) -> Array:
        return self.robot.forward_kinematics(position)

    def towards(self, pose: Array, near: Array) -> Array:
        return inverse_kinematics.towards(self.robot, pose, near)

    def jacobian(self, position: Array) -> Array:
        return self.robot.jacobian(position)

    def condition(self, position: Array, characteristic_length: float | None = None) -> Array:
        if characteristic_length is None:
            return self.robot.condition_number(position)
        scale = np.repeat([1.0, check_length(characteristic_length)], 3)
        return by_singular_values(self.jacobian(position) * scale[:, None])

    def velocity_matrix(self, model: ArmModel, position: Scalars) -> Sequence[Scalars]:
        return formulas.jacobian(model, position)
