"""The table of an arm's functions: formulas with their arguments, guards, and smaller kernels of large arms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.algebra.condition import SURE
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.evaluation.arguments import batch_shape, finite_rows
from tauforge.evaluation.condition import by_singular_values
from tauforge.evaluation.functions import Argument, Function, FunctionTable, Guard, Verdict
from tauforge.formulations.serial import DEFAULT_FORMULATION
from tauforge.robots.loads import BASE_MOTION, PAYLOAD
from tauforge.robots.serial import formulas
from tauforge.robots.summary import summarised

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator
    from tauforge.robots.robot import Robot

SUSPICIOUS_ACCELERATION = 1e10  # accelerations (or slopes of them) that large have the mass matrix looked at
SINGULAR_MASS = 1e15  # condition number of a mass matrix without an inverse in double precision
State = Mapping[str, Array]
FORWARD_OR_REVERSE = {"reverse": (False, True)}  # whichever is cheaper for the arm
WORLD_AXES = {"tool_axes": False}
CHOSEN = {"formulation": DEFAULT_FORMULATION, **WORLD_AXES}
TIP_WRENCH = Argument("tip_wrench", (6,), "force and moment at the tool origin", also="external_wrench")
ARM_LOADS, HELD = (TIP_WRENCH, PAYLOAD, BASE_MOTION), (PAYLOAD,)


@summarised
@with_field_docs
class LinkMotions(NamedTuple):
    """Motion of each link and of its mass centre; world axes.

    angular_velocities:    (..., n, 3) rad/s, omega of the link
    angular_accelerations: (..., n, 3) rad/s^2, omega'
    centres:               (..., n, 3) m, c, from the world origin to the mass centre
    velocities:            (..., n, 3) m/s, c'
    accelerations:         (..., n, 3) m/s^2, c'', without gravity
    """

    angular_velocities: Array
    angular_accelerations: Array
    centres: Array
    velocities: Array
    accelerations: Array


@cache
def function_table(n: int) -> FunctionTable:
    """The functions of an arm with n joints."""

    def joints(*names: str) -> tuple[Argument, ...]:
        return tuple(Argument(name, (n,), f"{{name}} has {n} joints") for name in names)

    q, state, acceleration, force = joints("q"), joints("q", "qd"), joints("q", "qd", "qdd"), joints("q", "qd", "tau")
    each, square, f = ((n,),), ((n, n),), formulas
    guard = Guard(SUSPICIOUS_ACCELERATION, judge_mass_matrix)
    internal = partial(Function, quick=False, public=False)
    slope = joints("q", "qd", "qdd", "dq", "dqd")
    task = (
        Argument("target", (12,), "row by row"),
        *joints("q"),
        Argument("asked", (6,), "directions of the task"),
        *joints("lower", "upper"),
        Argument("length", (1,), "the arm's size"),
    )
    return {
        "inverse_dynamics": Function(f.inverse_dynamics, acceleration, each, ARM_LOADS, CHOSEN, names=("tau",)),
        "forward_dynamics": Function(f.forward_dynamics, force, each, ARM_LOADS, WORLD_AXES, guard, names=("qdd",)),
        "mass_matrix": Function(f.mass_matrix, q, square, HELD),
        "coriolis_matrix": Function(f.coriolis_matrix, state, square, HELD),
        "coriolis_coefficients": Function(f.coriolis_coefficients, q, ((n, n, n),), HELD),
        "gravity_forces": Function(f.gravity_forces, q, each, HELD),
        "bias_forces": Function(f.bias_forces, state, each, HELD),
        "friction_forces": Function(f.friction_forces, joints("qd"), each),
        "joint_wrenches": Function(f.joint_wrenches, acceleration, ((n, 6),), ARM_LOADS, WORLD_AXES),
        "link_motions": Function(
            f.link_motions, acceleration, ((n, 3),) * 5, (BASE_MOTION,), quick=False, names=LinkMotions._fields
        ),
        "inverse_dynamics_derivatives": Function(
            f.inverse_dynamics_derivatives,
            acceleration,
            square * 3,
            HELD,
            FORWARD_OR_REVERSE,
            in_parts=inverse_derivatives_in_parts,
            names=("dtau_dq", "dtau_dqd", "dtau_dqdd"),
        ),
        "forward_dynamics_derivatives": Function(
            f.forward_dynamics_derivatives,
            force,
            square * 3,
            HELD,
            FORWARD_OR_REVERSE,
            guard,
            forward_derivatives_in_parts,
            names=("dqdd_dq", "dqdd_dqd", "dqdd_dtau"),
        ),
        "regressor": Function(f.regressor, acceleration, ((n, 10 * n),), joints("qd_ref")),
        "forward_kinematics": Function(f.forward_kinematics, q, ((4, 4),)),
        "link_frames": Function(f.link_frames, q, ((n + 1, 4, 4),)),
        "jacobian": Function(f.jacobian, q, ((6, n),)),
        "condition_number": Function(f.condition_number, q, ((),), guard=Guard(SURE, mend=better_condition_numbers)),
        "energy": Function(f.energy, state, ((), ()), HELD, names=("kinetic", "potential")),
        "inverse_dynamics_slope": internal(f.inverse_dynamics_slope, slope, each, HELD),
        "solution": internal(f.solution, (Argument("matrix", (n * n,), "row by row"), *joints("right")), each),
        "inverse_kinematics_steps": internal(f.inverse_kinematics_steps, task, ((n,), ())),
    }


def better_condition_numbers(arm: Robot, arguments: Mapping[str, Array]) -> tuple[Array, ...]:
    return (by_singular_values(arm._evaluator("jacobian", arguments)[0]),)


def judge_mass_matrix(
    arm: Robot, arguments: Mapping[str, Array], results: tuple[Array, ...], options: Mapping[str, Any]
) -> Verdict:
    """Refuses rows whose mass matrix has no inverse; large accelerations alone are no reason."""
    q = arguments["q"].astype(float)
    own = {name: arguments[name] for name in ("q", "payload") if name in arguments}
    matrices = np.asarray(arm._evaluator("mass_matrix", {**own, "q": q})[0], float)
    finite = np.isfinite(matrices).all(axis=(-1, -2))
    conditions = np.full(len(q), np.nan)
    conditions[finite] = np.linalg.cond(matrices[finite])
    reason = "the mass matrix has no inverse; a link without mass or inertia moves freely"
    return Verdict(conditions > SINGULAR_MASS, [reason] * len(q), q, conditions)


# Derivatives of arms that are too large for one kernel are put together from smaller kernels. Inverse dynamics is
# differentiated in one direction after another, so that the kernel does not grow with the square of the number of
# joints. Those of forward dynamics follow from them: dqdd/dx = - M^-1 dtau/dx at the qdd that tau produces.


def inverse_derivatives_in_parts(evaluator: Evaluator, state: State) -> tuple[Array, ...]:
    n = state["q"].shape[-1]
    # directions come before the batch, so that the kernel's inner loop is over the batch
    batch = (1,) * len(batch_shape(state))
    directions = np.eye(2 * n, dtype=state["q"].dtype).reshape(2 * n, *batch, 2 * n)
    moved = {name: state[name] for name in ("q", "qd", "qdd")} | {"dq": directions[..., :n], "dqd": directions[..., n:]}
    loads = {name: value for name, value in state.items() if name == "payload"}
    (slopes,) = evaluator("inverse_dynamics_slope", moved | loads)
    (M,) = evaluator("mass_matrix", {"q": state["q"]} | loads)
    sound = finite_rows(state)[..., None, None]
    return *as_columns(slopes, 2), np.where(sound, M, np.array(np.nan, slopes.dtype))


def forward_derivatives_in_parts(evaluator: Evaluator, state: State) -> tuple[Array, ...]:
    n = state["q"].shape[-1]
    (qdd,) = evaluator("forward_dynamics", state)
    accelerated = {("qdd" if name == "tau" else name): qdd if name == "tau" else x for name, x in state.items()}
    by_q, by_qd, M = evaluator("inverse_dynamics_derivatives", accelerated)
    unit = np.broadcast_to(np.eye(n, dtype=M.dtype), M.shape)
    rights = np.concatenate([np.moveaxis(x, -1, 0) for x in (-by_q, -by_qd, unit)])
    (solutions,) = evaluator("solution", {"matrix": M.reshape(*M.shape[:-2], n * n), "right": rights})
    by_q, by_qd, inverse = as_columns(solutions, 3)
    return by_q, by_qd, (inverse + np.swapaxes(inverse, -1, -2)) / 2


def as_columns(vectors: Array, count: int) -> list[Array]:
    """So many matrices (..., n, n) whose columns are the vectors (count n, ..., n), one after another."""
    return [np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in np.split(vectors, count)]
