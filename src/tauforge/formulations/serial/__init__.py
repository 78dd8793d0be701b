"""Formulations of the dynamics of serial arms.

`INVERSE_DYNAMICS` maps the public names to the seven independent inverse dynamics. All have the signature
(arm, q, qd, qdd, tip, base) except Lagrange-Euler, which takes no moving base.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tauforge.formulations.serial import (
    joint_frames,
    lagrange_euler,
    modified_newton_euler,
    newton_euler,
    newton_euler_base,
    orthogonal_complement,
    outward_inward,
)

INVERSE_DYNAMICS: dict[str, Callable[..., list[Any]]] = {
    "lagrange-euler": lagrange_euler.inverse_dynamics,
    "newton-euler": newton_euler.inverse_dynamics,
    "newton-euler-base": newton_euler_base.inverse_dynamics,
    "modified-newton-euler": modified_newton_euler.inverse_dynamics,
    "outward-inward": outward_inward.inverse_dynamics,
    "orthogonal-complement": orthogonal_complement.inverse_dynamics,
    "joint-frames": joint_frames.inverse_dynamics,
}
FORMULATIONS: tuple[str, ...] = tuple(INVERSE_DYNAMICS)
DEFAULT_FORMULATION = "joint-frames"
FIXED_BASE_ONLY = frozenset({"lagrange-euler"})
