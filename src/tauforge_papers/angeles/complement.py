"""The natural orthogonal complement: K, T, the constraint wrenches, and the equations of motion that are left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.algebra.vectors import IDENTITY, Vector, cross
from tauforge.analysis.comparison import random_states, relative_error
from tauforge.arrays import Array
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.serial import lagrange_euler
from tauforge.formulations.serial.orthogonal_complement import (
    constraint_matrix,
    constraint_wrenches,
    generalized_inertia,
    geometry,
    inverse_dynamics,
    twist_shaping_matrix,
)
from tauforge.formulations.serial.outward_inward import inward, outward
from tauforge.formulations.serial.parameters import ArmParameters, base_at_rest
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge_papers.random_arms import random_arm, random_kinds
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import not_judged, true_in_parts, true_or_not
from tauforge_papers.wording import ROUNDING, within

ARMS, POSES = 25, 4
WHERE = f"{ARMS} random arms with revolute and prismatic joints, {POSES} states each."


class Measured(NamedTuple):
    """Measures of one arm, each the largest over its states."""

    arm: SerialArm
    residual: float  # of K T, over the largest entries of both
    nullities: list[int]  # of K, less n
    inertia: float  # T' M T beside Lagrange's matrix
    smallest: float  # eigenvalue of it, over the largest
    work: float  # power of the recursions' constraint wrenches, over the sum of the magnitudes of its parts
    outside: float  # of w^C outside the range of K', over the largest component
    joints: float  # K' lambda joint by joint beside f_i and n_i of the inward recursions
    forces: float  # eq. 7.57 solved for w^A beside Lagrange's equations
    accelerations: float  # eq. 7.57 solved for theta'', put into Lagrange's equations


def stacked(wrenches: list[Wrench]) -> Array:
    """(6 n,): moment and force of every link, as twists are ordered."""
    return np.array([[*w.moment, *w.force] for w in wrenches], float).reshape(-1)


def joint_constraints(arm: ArmParameters, q: list[float], qd: list[float], qdd: list[float]) -> list[Wrench]:
    """f_i and n_i of the inward recursions without the actuator's component, at C_i, in frame-0 axes."""
    g = geometry(arm, q)
    found = []
    wrenches = inward(arm, q, outward(arm, q, qd, qdd, base_at_rest(arm)), NO_WRENCH)
    for joint, (force, moment), R, o, c in zip(arm.joints, wrenches, [IDENTITY, *g.R], g.o, g.c, strict=False):
        f, n = (
            R @ Vector(w.x, w.y, 0.0 if actuated else w.z)
            for w, actuated in ((force, not joint.revolute), (moment, joint.revolute))
        )
        found.append(Wrench(f, n + cross(o - c, f)))
    return found


def on_links(arm: ArmParameters, q: list[float], of_joints: list[Wrench]) -> list[Wrench]:
    """What both its joints exert on every link, at its mass centre: its own joint's wrench less the next one's."""
    c, result = geometry(arm, q).c, list(of_joints)
    for i, (force, moment) in enumerate(of_joints[1:]):
        own = result[i]
        result[i] = Wrench(own.force - force, own.moment - moment - cross(c[i + 1] - c[i], force))
    return result


def measured(arm: SerialArm) -> Measured:
    parameters, found = arm.model.parameters, []
    for q, qd, qdd in zip(*(values.tolist() for values in random_states(arm, POSES, seed=arm.n)), strict=True):
        texts = (constraint_matrix, twist_shaping_matrix, generalized_inertia, lagrange_euler.mass_matrix)
        K, T, I, other = (np.array(f(parameters, q), float) for f in texts)
        w = stacked(constraint_wrenches(parameters, q, qd, qdd))
        of_joints = joint_constraints(parameters, q, qd, qdd)
        parts = T * stacked(on_links(parameters, q, of_joints))[:, None]
        multipliers, *_ = np.linalg.lstsq(K.T, w)
        by_joint = np.concatenate([K[s, s].T @ multipliers[s] for s in (slice(6 * i, 6 * i + 6) for i in range(arm.n))])
        ours, exact = (
            np.array(f(parameters, q, qd, qdd), float) for f in (inverse_dynamics, lagrange_euler.inverse_dynamics)
        )
        tau = np.linspace(1, 2, arm.n) * np.abs(exact).max()
        rest = np.array(inverse_dynamics(parameters, q, qd, [0.0] * arm.n), float)
        accelerations = np.linalg.solve(I, tau - rest)
        again = np.array(lagrange_euler.inverse_dynamics(parameters, q, qd, accelerations.tolist()), float)
        eigenvalues = np.linalg.eigvalsh(I)
        found.append(
            (
                float(np.abs(K @ T).max() / (np.abs(K).max() * np.abs(T).max())),
                relative_error(I.reshape(1, -1), other.reshape(1, -1)),
                -float(eigenvalues[0] / eigenvalues[-1]),
                float((np.abs(parts.sum(axis=0)) / np.abs(parts).sum(axis=0)).max()),
                float(np.abs(K.T @ multipliers - w).max() / np.abs(w).max()),
                relative_error(by_joint, stacked(of_joints)),
                relative_error(ours, exact),
                float(np.abs(again - tau).max() / (np.abs(I) @ np.abs(accelerations)).max()),
                6 * arm.n - int(np.linalg.matrix_rank(K)) - arm.n,
            )
        )
    residual, inertia, smallest, *errors, _ = (max(column) for column in zip(*found, strict=True))
    return Measured(arm, residual, [row[-1] for row in found], inertia, -smallest, *errors)


def complement() -> tuple[list[Claim], Table]:
    random = np.random.default_rng(7)
    found = [measured(random_arm(random, random_kinds(random))) for _ in range(ARMS)]
    rows = [
        (
            "".join(joint.kind for joint in one.arm.joints),
            one.arm.n,
            one.residual,
            one.arm.n + max(one.nullities),
            one.smallest,
            one.work,
            one.outside,
            one.joints,
        )
        for one in found
    ]
    table = Table(
        "complement",
        "K, T and the constraint wrenches of random arms",
        f"The largest of {POSES} states of an arm; of the eigenvalues the smallest.",
        (
            "joints",
            "n",
            "K T over the largest entries (-)",
            "nullity of K",
            "smallest eigenvalue of I over the largest (-)",
            "power of w^C over the sum of its parts (-)",
            "w^C outside the range of K' (-)",
            "constraint wrenches of the joints, beside the recursions (-)",
        ),
        tuple(rows),
    )
    return [*of_matrices(found), *of_wrenches(found), *of_equations(found)], table


def of_matrices(found: list[Measured]) -> list[Claim]:
    residuals = [one.residual for one in found]
    nullities = [float(extra) for one in found for extra in one.nullities]
    return [
        Claim(
            name="orthogonal-complement",
            where="eqs 7.50, 7.55a, 7.55b",
            claim="K t = 0 for t = T theta', and K T = 0: T is an orthogonal complement of K",
            printed="0",
            measured=f"{within(max(residuals))} of the largest entries",
            reason=f"K and T are written out for both kinds of joints, since section 7.5.1 is not in our text. {WHERE}",
            rule=true_or_not(
                f"It holds if no entry of K T exceeds {ROUNDING:g} of the product of the largest entries of both.",
                lambda residuals, rounding: max(residuals) < rounding,
                rounding=ROUNDING,
            ),
            evidence={"residuals": residuals},
        ),
        Claim(
            name="nullity",
            where="section 7.5, after eq. 7.50",
            claim="The nullity of K, 6n x 6n, is exactly n, the degree of freedom",
            printed="n",
            measured=f"n in {nullities.count(0)} of {len(nullities)} poses",
            reason=f"6 n less the numerical rank of K. {WHERE}",
            rule=true_or_not(
                'It holds if the nullity is n in every pose ("exactly equal to n").', lambda extra: not any(extra)
            ),
            evidence={"extra": nullities},
        ),
        Claim(
            name="generalized-inertia",
            where="eq. 7.58",
            claim="T' M T is the generalized inertia matrix, and it is positive definite",
            printed="I = T' M T, positive definite",
            measured=f"{within(max(one.inertia for one in found))} of Lagrange's matrix; smallest eigenvalue at "
            f"least {min(one.smallest for one in found):.1e} of the largest",
            reason=WHERE,
            rule=true_in_parts(
                f"Two statements: the matrix is that of Lagrange's equations, within {ROUNDING:g} of its largest "
                f"entry, and every eigenvalue exceeds {ROUNDING:g} of the largest.",
                lambda errors, eigenvalues, rounding: [max(errors) < rounding, min(eigenvalues) > rounding],
                rounding=ROUNDING,
            ),
            evidence={
                "errors": [one.inertia for one in found],
                "eigenvalues": [one.smallest for one in found],
            },
        ),
    ]


def of_wrenches(found: list[Measured]) -> list[Claim]:
    work, outside, joints = ([getattr(one, name) for one in found] for name in ("work", "outside", "joints"))
    return [
        Claim(
            name="no-work",
            where="eq. 7.51",
            claim="The nonworking constraint wrench w^C develops no power for any possible motion",
            printed="0",
            measured=f"{within(max(work))} of the sum of the powers of its parts",
            reason="w^C from f_i and n_i of the inward recursions without the actuators' components; a unit speed of "
            f"each joint in turn. {WHERE}",
            rule=true_or_not(
                f'It holds if for a unit speed of each joint ("any possible motion") the power is below {ROUNDING:g} '
                "of the sum of the magnitudes of its parts.",
                lambda work, rounding: max(work) < rounding,
                rounding=ROUNDING,
            ),
            evidence={"work": work},
        ),
        Claim(
            name="range",
            where="eqs 7.52, 7.53",
            claim="w^C lies in the range of K': w^C = K' lambda",
            printed="w^C = K' lambda",
            measured=f"{within(max(outside))} of its largest component",
            reason="w^C is what eq. 7.48 leaves when the actuators' wrenches are taken away, and lambda is of "
            f"least squares. {WHERE}",
            rule=true_or_not(
                f"It holds if what K' lambda leaves of w^C is below {ROUNDING:g} of its largest component.",
                lambda outside, rounding: max(outside) < rounding,
                rounding=ROUNDING,
            ),
            evidence={"outside": outside},
        ),
        Claim(
            name="joint-wrenches",
            where="eqs 7.36, 7.37, 7.39, 7.40",
            claim="A joint's wrench is the actuator's along its axis, and the constraint's five other components",
            printed="tau_i is the third component of n_i (revolute) or of f_i (prismatic)",
            measured=f"K' lambda of each joint is the rest of f_i and n_i, {within(max(joints))}",
            reason=f"f_i and n_i of the inward recursions, at O_i, without their third component. {WHERE}",
            rule=true_or_not(
                "It holds if f_i and n_i of the recursions without the actuator's component are the constraint "
                f"wrenches of the joints by eq. 7.53, within {ROUNDING:g} of the largest component.",
                lambda joints, rounding: max(joints) < rounding,
                rounding=ROUNDING,
            ),
            evidence={"joints": joints},
        ),
    ]


def of_equations(found: list[Measured]) -> list[Claim]:
    forces, residuals = [one.forces for one in found], [one.accelerations for one in found]
    return [
        Claim(
            name="euler-lagrange",
            where="eqs 7.47, 7.48, 7.56, 7.57",
            claim="Multiplied by T' the uncoupled Newton-Euler equations are the Euler-Lagrange equations, free of w^C",
            printed="eq. 7.57",
            measured=within(max(forces)),
            reason=f"Solved for the actuators' forces, compared with Lagrange's equations from energies. {WHERE}",
            rule=true_or_not(
                "It holds if the actuators' forces of eq. 7.57 are those of Lagrange's equations, within "
                f"{ROUNDING:g} of the largest.",
                lambda errors, rounding: max(errors) < rounding,
                rounding=ROUNDING,
            ),
            evidence={"errors": forces},
        ),
        Claim(
            name="state-equation",
            where="eqs 7.45, 7.46, 7.57",
            claim="Eq. 7.57 is the mathematical model x' = f(x, u), with the state x of theta and theta'",
            printed="x' = f(x, u)",
            measured=f"{within(max(residuals))} of the inertia forces",
            reason="Accelerations from eq. 7.57 for given forces, put into Lagrange's equations: what is left beside "
            f"the given forces. {WHERE}",
            rule=true_or_not(
                "It holds if eq. 7.57 can be solved for theta'' in every state and the result fulfils Lagrange's "
                f"equations, within {ROUNDING:g} of the inertia forces.",
                lambda errors, rounding: max(errors) < rounding,
                rounding=ROUNDING,
            ),
            evidence={"errors": residuals},
        ),
        Claim(
            name="no-model",
            where="section 7.5",
            claim="The Newton-Euler recursions cannot be used to set up the differential equations directly",
            printed="not directly",
            measured="n + 1 runs of a recursion give I and the other terms",
            reason="The recursions give forces for accelerations. Run with unit accelerations they give the columns of "
            "I, as Turney, Mudge and Lee's strobing does.",
            rule=not_judged('It depends on what "directly" means.'),
        ),
        Claim(
            name="dissipation",
            where="section 7.4.2",
            claim="Dissipative forces can be readily incorporated, since they depend on joint variables and rates only",
            printed="readily incorporated",
            measured="none of the recursions changes when viscous and dry friction are added",
            reason="Our arms add friction of the joints to the forces of the rigid bodies.",
            rule=not_judged("The chapter leaves the model of friction to section 7.8, which we do not have."),
        ),
    ]
