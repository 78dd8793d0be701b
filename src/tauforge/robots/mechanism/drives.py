"""Friction in a mechanism, and what the sensors of its actuators measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Fields, JointFriction, Sensors
from tauforge.robots.poses import pose_of
from tauforge.robots.records import Dampers, Sensor
from tauforge.validation import counted, freedoms

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism


@ours
class MechanismFriction(JointFriction):
    """Friction of the joints, and dampers beside springs."""

    @property
    def takes_energy(self) -> bool:
        return super().takes_energy or any(spring.damping for spring in self.robot.springs)

    def dampers(self, fields: Fields) -> Dampers | None:
        """Those of the independent coordinates, at the joint's side of its gear."""
        if not self.robot.coulomb_speed:
            return None
        p = self.robot._analysis.parameters
        drives = [p.drives[k] for k in p.independent]
        ratio = np.abs([float(drive.gear_ratio) for drive in drives])
        coulomb = [max(float(drive.coulomb_plus), float(drive.coulomb_minus)) for drive in drives]
        viscous = [float(drive.viscous) for drive in drives]
        return Dampers((ratio * coulomb)[None], (ratio**2 * viscous)[None], self.robot.coulomb_speed)


@ours
class ActuatorSensors(Sensors):
    """The actuated coordinates."""

    robot: Mechanism

    @property
    def quantities(self) -> tuple[Sensor, ...]:
        p, entries = self.robot._analysis.parameters, self.robot.positions.entries
        return tuple(Sensor(entries[p.reads[k]].column, entries[p.reads[k]].unit) for k in p.actuated)

    def motion(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        """position: (..., N), or the independent coordinates"""
        m, p = self.robot, self.robot._analysis.parameters
        if p.actuated == p.independent:
            return m.positions.coordinates(position), velocity
        x = m.positions.at(position)
        places = [p.reads[k] for k in p.actuated]
        rates = m._evaluator("coordinate_rates", {"x": x, "qd": velocity})[0]
        return x[..., places], rates[..., places]

    def poses(self, measured: Array, guess: ArrayLike | None = None) -> Array:
        """Loops closed row after row, the first from home."""
        self.check_guess(guess)
        m = self.robot
        if measured.shape[-1] != m.n:
            raise UnsupportedFeatureError(
                f"{m.name} has {freedoms(m.n)}, and {counted(measured.shape[-1], 'sensor')}", field="sensors"
            )
        found, x = [], m.home
        for row in measured:
            x = m.configuration(row, x)
            found.append(x)
        return pose_of(m.forward_kinematics(np.reshape(found, (-1, len(x)))))
