"""Angeles' recursions beside other ways to the same numbers: motions of the links, gravity, and a base that moves."""

from __future__ import annotations

import numpy as np

from tauforge.algebra.rotations import angular_acceleration, angular_velocity, rotation_of
from tauforge.algebra.vectors import NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector
from tauforge.analysis.comparison import random_states, relative_error
from tauforge.arrays import Array
from tauforge.formulations.bodies import MASSLESS_BODY
from tauforge.formulations.serial import INVERSE_DYNAMICS
from tauforge.formulations.serial.orthogonal_complement import geometry, motions, twist_blocks, twist_shaping_matrix
from tauforge.formulations.serial.outward_inward import MassCentre, outward
from tauforge.formulations.serial.parameters import ArmParameters, JointParameters, moving_base
from tauforge.formulations.trees.recursion import BaseState
from tauforge_papers.angeles.algorithm_counts import NAME
from tauforge_papers.angeles.prismatic import ORACLE
from tauforge_papers.random_arms import random_arm, random_kinds, reference
from tauforge_papers.report.study import Claim
from tauforge_papers.report.verdicts import Rule
from tauforge_papers.rules import true_or_not
from tauforge_papers.wording import ROUNDING, within

ARMS, STATES = 10, 5
QUANTITIES = ("omega_i", "omega'_i", "c_i", "c'_i", "c''_i")
# On a base that moves; few joints, since six more move the base.
CARRIED = ("RRR", "RPR", "PRR")
POSES = 20
CYCLE = Matrix.of(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))  # x to y, y to z, z to x


def equal(what: str) -> Rule:
    return true_or_not(
        f"It holds if {what}, within {ROUNDING:g} of the largest.",
        lambda errors, rounding: max(errors) < rounding,
        rounding=ROUNDING,
    )


def link_motions() -> Claim:
    """The outward recursions, each link in its own frame, beside T qd and T qdd + T' qd, all in frame 0."""
    random = np.random.default_rng(9)
    worst = dict.fromkeys(QUANTITIES, 0.0)
    for _ in range(ARMS):
        arm = random_arm(random, random_kinds(random))
        parameters = arm.model.parameters
        for q, qd, qdd in zip(*(values.tolist() for values in random_states(arm, STATES, arm.n)), strict=True):
            base = BaseState(*(Vector(*random.normal(size=3).tolist()) for _ in range(3)))
            g = geometry(parameters, q)
            found: dict[str, list[tuple[Vector, Vector]]] = {name: [] for name in QUANTITIES}
            for ours, other, R, c in zip(
                outward(parameters, q, qd, qdd, base, MassCentre(ZERO, ZERO)),
                motions(parameters, g, twist_blocks(parameters, g), qd, qdd, base),
                g.R,
                g.c,
                strict=True,
            ):
                assert ours.centre is not None
                pairs = (
                    (ours.omega, other.twist.angular),
                    (ours.omega_dot, other.rate.angular),
                    (ours.centre.c, c),
                    (ours.centre.c_dot, other.twist.linear),
                    (ours.c_ddot, other.rate.linear),
                )
                for name, (held, fixed) in zip(QUANTITIES, pairs, strict=True):
                    found[name].append((R @ held, fixed))
            for name, vectors in found.items():
                a, b = np.array([[list(v) for v in pair] for pair in vectors], float).swapaxes(0, 1)
                worst[name] = max(worst[name], relative_error(a.reshape(1, -1), b.reshape(1, -1)))
    return Claim(
        name="link-motions",
        where="eqs 7.25-7.34, algorithm 7.4.1",
        claim="The outward recursions, frame by frame, give the velocities and accelerations of all links; the "
        "expressions are invariant",
        printed="omega_i, omega'_i, c_i, c'_i, c''_i",
        measured=within(max(worst.values())),
        reason=f"{ARMS} random arms with revolute and prismatic joints on a moving base, {STATES} states each, with "
        "the prismatic branch mended; compared with t = T qd (eq. 7.54) and t' = T qdd + T' qd (eq. 7.56) in one "
        "fixed frame.",
        rule=equal("the vectors of the recursions, turned into one frame, are those of eqs 7.54 and 7.56"),
        evidence={"errors": list(worst.values())},
    )


def gravity() -> Claim:
    """T' w^G of the weights (7.49) beside the recursions at rest on a base that accelerates upward (7.44)."""
    random = np.random.default_rng(10)
    errors = []
    for _ in range(ARMS):
        arm = random_arm(random, random_kinds(random))
        g = random.normal(0, 5, 3)
        parameters, still = arm.model.parameters._replace(gravity=Vector(*g.tolist())), np.zeros((STATES, arm.n))
        q = random_states(arm, STATES, arm.n)[0]
        ours = reference(INVERSE_DYNAMICS[NAME], parameters, q, still, still)
        weights = np.concatenate([[0, 0, 0, *(joint.mass * g)] for joint in arm.joints])
        held = np.array([-np.transpose(twist_shaping_matrix(parameters, row)) @ weights for row in q.tolist()])
        errors.append(relative_error(ours, held))
    return Claim(
        name="gravity",
        where="eqs 7.44, 7.49",
        claim="Gravity can be included by declaring that the base accelerates by -g",
        printed="c''_0 = -g",
        measured=within(max(errors)),
        reason=f"{ARMS} random arms at rest in {STATES} poses each, g in any direction: the recursions "
        "compared with the weights of eq. 7.49, projected by T.",
        rule=equal("the forces of the recursions at rest are those that hold the weights of eq. 7.49"),
        evidence={"errors": errors},
    )


def on_six_joints(arm: ArmParameters) -> ArmParameters:
    """The arm on a base without mass that three slides along x, y, z and three turns about z, y, x move."""
    ahead, back = Transform(CYCLE, ZERO), Transform(CYCLE.T, ZERO)
    places = (ahead, ahead, NO_DISPLACEMENT, back, back, back.then(arm.mount))
    joints = [JointParameters(i >= 3, 0.0, place) for i, place in enumerate(places)]
    return arm._replace(
        joints=(*joints, *arm.joints), bodies=(*[MASSLESS_BODY] * 6, *arm.bodies), base=NO_DISPLACEMENT, mount=ahead
    )


def base_motion(position: Array, rate: Array, second: Array) -> tuple[Transform, tuple[Vector, Vector, Vector]]:
    """Pose of the base, and its omega, alpha and acceleration in world axes, from the six joints that move it."""
    theta, rates, accelerations = (Vector(*part[:2:-1].tolist()) for part in (position, rate, second))
    pose = Transform(rotation_of(theta), Vector(*position[:3].tolist()))
    omega, alpha = angular_velocity(theta, rates), angular_acceleration(theta, rates, accelerations)
    return pose, (omega, alpha, Vector(*second[:3].tolist()))


def on_a_moving_base() -> Claim:
    """Both formulations with omega_0, omega'_0 and c''_0 given, beside Lagrange's equations of a longer arm."""
    random = np.random.default_rng(11)
    errors = []
    for kinds in CARRIED:
        parameters = random_arm(random, kinds).model.parameters
        q, qd, qdd = random.normal(size=(3, POSES, 6 + len(kinds)))
        exact = reference(INVERSE_DYNAMICS[ORACLE], on_six_joints(parameters), q, qd, qdd)[:, 6:]
        for name in (NAME, "orthogonal-complement"):
            forces = []
            for state in zip(q, qd, qdd, strict=True):
                pose, motion = base_motion(*(row[:6] for row in state))
                arm = parameters._replace(base=pose)
                rows = (row[6:].tolist() for row in state)
                forces.append(INVERSE_DYNAMICS[name](arm, *rows, base=moving_base(arm, *motion)))
            errors.append(relative_error(exact, np.array(forces)))
    return Claim(
        name="moving-base",
        where="eqs 7.25, 7.34f, section 7.5",
        claim="The base need not be an inertial frame: omega_0, omega'_0 and c''_0 are those of the base link",
        printed="the base link 0 need not be an inertial frame",
        measured=within(max(errors)),
        reason=f"{len(CARRIED)} random arms, {POSES} states each, by the recursions and by the orthogonal complement, "
        "compared with Lagrange's equations of an arm whose first six joints move the base. Where the motion of the "
        "base is given, the wrench upon it need not be known; section 7.5.2, on bases whose motion is not given, is "
        "not in our text of the chapter.",
        rule=equal("the forces on a base in motion are those of Lagrange's equations of the longer arm"),
        evidence={"errors": errors},
    )
