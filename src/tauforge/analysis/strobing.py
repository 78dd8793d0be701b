"""The explicit model tau = M qdd + qd' C qd + G of any robot, from its inverse dynamics alone (strobing), and its cost.

Source: Turney, Mudge & Lee 1980, sections 3, 6 and 7.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalars
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import SingularityError, UnsupportedFeatureError
from tauforge.evaluation.arguments import as_argument
from tauforge.evaluation.functions import flat
from tauforge.formulations.serial import INVERSE_DYNAMICS, strobing
from tauforge.robots.robot import Robot, check_robot
from tauforge.robots.summary import summarised
from tauforge.tracing.counting import Operations, count
from tauforge.tracing.graph import trace
from tauforge.validation import counted, non_negative, whole

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm


@summarised
@with_field_docs
class ExplicitModel(NamedTuple):
    """tau_i = sum_j M_ij qdd_j + sum_jk C^i_jk qd_j qd_k + G_i at some positions, without friction.

    mass_matrix:           (..., n, n)    M, with the rotors
    coriolis_coefficients: (..., n, n, n) C^i_jk, symmetric in j and k
    gravity_forces:        (..., n)       G, with springs where the robot has some
    """

    mass_matrix: Array
    coriolis_coefficients: Array
    gravity_forces: Array

    def acceleration(self, velocity: ArrayLike, force: ArrayLike) -> Array:
        """qdd (..., n) of velocities and actuator forces, (..., n) each: M qdd = tau - qd' C qd - G.

        Identity: equals forward_dynamics of the robot without friction. SingularityError where M has no inverse.
        """
        n = self.gravity_forces.shape[-1]
        qd = as_argument("velocity", velocity, n, f"{n} velocities, one for each coordinate")
        tau = as_argument("force", force, n, f"{n} forces, one for each actuator")
        velocity_forces = np.einsum("...ijk,...j,...k->...i", self.coriolis_coefficients, qd, qd)
        free = tau - velocity_forces - self.gravity_forces
        try:
            return np.asarray(np.linalg.solve(self.mass_matrix, free[..., None])[..., 0])
        except np.linalg.LinAlgError:
            reason = "the mass matrix has no inverse; a link without mass or inertia moves freely"
            raise SingularityError(reason, pose=None, condition_number=np.nan) from None


def explicit_model(robot: Robot, position: ArrayLike, *, formulation: str | None = None) -> ExplicitModel:
    """M, every C^i_jk and G, column by column from inverse dynamics: n + n (n + 1) / 2 + 1 runs.

    position:    (..., n), or what else inverse dynamics of the robot takes
    formulation: one of `robot.formulations`; default that of a plain call
    Velocities, accelerations and forces are those of `inverse_dynamics`. Of an arm the results equal `mass_matrix`,
    `coriolis_coefficients` and `gravity_forces`. A platform has twists and leg forces: M is H^-1 times `mass_matrix`.
    """
    n, m = check_robot("robot", robot).n, len(robot.actuators)
    if m != n:
        got = f"{robot.name} has {counted(m, 'actuator')} for {counted(n, 'coordinate')}"
        problem = f"an explicit model needs an actuator for every coordinate; {got}"
        raise UnsupportedFeatureError(problem, field="robot", remedy="Use mass_matrix and bias_forces")
    bare = robot.without_friction()

    def forces(qd: Scalars, qdd: Scalars) -> Array:
        return np.asarray(bare.inverse_dynamics(position, qd, qdd, formulation=formulation))

    rest = [0.0] * n
    G = forces(rest, rest)

    def run(qd: Scalars, qdd: Scalars) -> list[Any]:
        return list(np.moveaxis(forces(qd, qdd) - G, -1, 0))

    terms = strobing.acceleration_terms(run, n), strobing.velocity_terms(run, n)
    M, C = (np.moveaxis(np.array(x), range(k), range(-k, 0)) for k, x in enumerate(terms, 2))
    return ExplicitModel(M, C, G)


@with_field_docs
class ExplicitModelCost(NamedTuple):
    """Operations of strobing an arm's rigid bodies, traced: what the runs have in common is counted once.

    mass_matrix:    of M
    explicit_model: of M, C^i_jk and G
    step:           of M and C + G, which a step of a simulation needs
    """

    mass_matrix: Operations
    explicit_model: Operations
    step: Operations


def explicit_model_cost(arm: SerialArm, formulation: str | None = None) -> ExplicitModelCost:
    """Cost of `explicit_model` of an arm with a formulation, by default the one of a plain call.

    Identity: grows with n^2 for M and with n^3 for C (`strobing_cost`).
    """
    if check_robot("arm", arm).formulations.general_arm is None:
        raise UnsupportedFeatureError(
            f"operations are counted of serial arms; {arm.name} is a {arm.kind}",
            field="arm",
            remedy="Use operation_count for one run of its inverse dynamics",
        )
    arm.formulations.check(chosen := arm.formulations.default if formulation is None else formulation)
    parameters, text = arm.model.parameters, INVERSE_DYNAMICS[chosen]

    def step(q: Scalars, qd: Scalars) -> list[Any]:
        return [strobing.mass_matrix(text, parameters, q), text(parameters, q, qd, [0.0] * arm.n)]

    def operations(function: Any, *names: str) -> Operations:
        return count(trace(lambda *state: flat(function(*state)), dict.fromkeys(names, arm.n)))

    return ExplicitModelCost(
        operations(partial(strobing.mass_matrix, text, parameters), "q"),
        operations(partial(strobing.explicit_model, text, parameters), "q"),
        operations(step, "q", "qd"),
    )


@with_field_docs
class StrobingCost(NamedTuple):
    """Operations of strobing n joints whose links at rest are skipped, by the forms of Turney, section 6.

    mass_matrix:             k n (n + 1) / 2 + d n (n + 1) / 2
    coefficients:            k n (n + 1) (2 n + 1) / 6 + d n^2 (n + 1) / 2: every pair of velocities loads n joints
    coefficients_as_printed: the same with d n (n + 1) / 2, too low by a factor of n in d
    """

    mass_matrix: float
    coefficients: float
    coefficients_as_printed: float


def strobing_cost(n: int, outward: float, inward: float) -> StrobingCost:
    """Cost of M and the C^i_jk of n joints, from the operations per link of an outward (k) and an inward pass (d)."""
    n = whole(n, "n")
    k, d = non_negative(outward, "outward"), non_negative(inward, "inward")
    pairs, squares = n * (n + 1) // 2, n * (n + 1) * (2 * n + 1) // 6
    return StrobingCost((k + d) * pairs, k * squares + d * n * pairs, k * squares + d * pairs)
