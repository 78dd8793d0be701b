"""By what an arm's inverse dynamics can be computed."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from tauforge.evaluation.unmodified import ours
from tauforge.formulations.serial import DEFAULT_FORMULATION, FIXED_BASE_ONLY, INVERSE_DYNAMICS
from tauforge.robots.formulations import CountedFormula, Formulations

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm


FORMULATIONS: tuple[str, ...] = tuple(INVERSE_DYNAMICS)


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
        arm = self.robot.model.parameters
        return CountedFormula(partial(INVERSE_DYNAMICS[chosen], arm), dict.fromkeys(("q", "qd", "qdd"), self.robot.n))
