"""Derivatives of platforms that are too large for one kernel, put together from smaller kernels.

Legs with universal joints take more operations than are compiled at once. The forces or the accelerations come first,
then the slopes of the legs, which both kinds of derivatives share, then the platform's equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tauforge.arrays import Array

if TYPE_CHECKING:
    from tauforge.robots.evaluate import Evaluator

State = Mapping[str, Array]


def inverse_dynamics_derivatives(evaluator: Evaluator, state: State) -> tuple[Array, ...]:
    (forces,) = evaluator("inverse_dynamics", state)
    moved = {name: state[name] for name in ("pose", "twist", "acceleration")}
    return _from_legs(evaluator, "force_slopes", moved, forces, state)


def forward_dynamics_derivatives(evaluator: Evaluator, state: State) -> tuple[Array, ...]:
    (acceleration,) = evaluator("forward_dynamics", state)
    moved = {"pose": state["pose"], "twist": state["twist"], "acceleration": acceleration}
    return _from_legs(evaluator, "acceleration_slopes", moved, state["leg_forces"], state)


def _from_legs(evaluator: Evaluator, name: str, moved: State, forces: Array, state: State) -> tuple[Array, ...]:
    (legs,) = evaluator("leg_slopes", {**moved, "leg_forces": forces})
    loads = {key: value for key, value in state.items() if key == "payload"}
    return evaluator(name, {**moved, "legs": legs.reshape(*legs.shape[:-2], -1), **loads})
