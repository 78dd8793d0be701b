"""Inverse and forward dynamics of a mechanism by the natural orthogonal complement.

The tree's equations M v' + h = B u + J' lambda are multiplied by S' (`complement`): the forces lambda that close the
loops vanish. x holds the coordinates of all joints, loops closed; y are the independent rates.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.elimination import Elimination
from tauforge.algebra.inertias import rotated
from tauforge.algebra.linear import factored, nearest_solution, orthogonalised, smallest_solution, solved, sparse_dot
from tauforge.algebra.scalars import Scalar, Scalars, is_zero
from tauforge.algebra.vectors import ZERO, Vector, cross
from tauforge.formulations.bodies import NO_WRENCH, BodyParameters, Wrench
from tauforge.formulations.drives import friction_forces, reflected_inertia, rotor_forces
from tauforge.formulations.mechanism.complement import Complement, MovingComplement, sizes
from tauforge.formulations.mechanism.cuts import Posed, posed_at
from tauforge.formulations.mechanism.parameters import BodyInTree, MechanismParameters
from tauforge.formulations.mechanism.springs import spring_forces
from tauforge.formulations.trees.composite_inertia import mass_matrix_at
from tauforge.formulations.trees.frames import GROUND
from tauforge.formulations.trees.recursion import BaseState, inward, outward

CANCELLED_SHARE = 1e-8  # share of the forces at hand: what rounding leaves of them, and more
TINY = 1e-300  # keeps a share of nothing from being NaN


class ExternalLoads(NamedTuple):
    """Loads on a mechanism besides its actuators.

    wrench: on the tool, at its origin, base axes; None for none
    base:   motion of the base, gravity included
    """

    wrench: Wrench | None
    base: BaseState


def carrying(m: MechanismParameters, payload: BodyParameters) -> MechanismParameters:
    """The mechanism whose tool holds the payload, which is given in the tool's frame. Its frames are not regrouped."""
    k, place, _ = m.tool
    bodies = (*m.bodies, BodyInTree(m.tool, payload))
    if k == GROUND:  # a tool that is welded to the ground does not move
        return m._replace(bodies=bodies)
    R, p = place
    heavier = m.frames[k].carrying(payload.mass, R @ payload.com + p, rotated(payload.inertia, R))
    return m._replace(frames=(*m.frames[:k], heavier, *m.frames[k + 1 :]), bodies=bodies)


def tree_forces(
    m: MechanismParameters, posed: Posed, v: Scalars, acceleration: Scalars, on: ExternalLoads
) -> list[Scalar]:
    """Forces of all of the tree's rates, as if it had no loops: rigid bodies, springs, rotors and friction."""
    motions = outward(posed.frames, posed.places, v, acceleration, on.base)
    external: dict[int, Wrench] = {}  # at the joint frame and in its axes, by number of the frame
    given = [(place, Wrench(force, ZERO)) for place, force in spring_forces(m, posed, v)]
    for (k, place, _), w in [*given, *([] if on.wrench is None else [(m.tool, on.wrench)])]:
        if k != GROUND:
            force, moment = (posed.transported(x, GROUND, k) for x in w)
            before = external.get(k, NO_WRENCH)
            external[k] = Wrench(before.force + force, before.moment + moment + cross(place.translation, force))
    rigid = inward(posed.frames, motions, external)
    rotors, friction = rotor_forces(m.drives, acceleration), friction_forces(m.drives, v, m.coulomb_speed)
    return [a + b + c for a, b, c in zip(rigid, rotors, friction, strict=True)]


class ReducedSolution(NamedTuple):
    """Results, and reciprocals of the pivots that a doubt is made of: of the mass matrix and of the actuators'."""

    values: list[Scalar]
    complement: Complement
    inertia: Scalars = ()
    actuation: Scalars = ()


def generalised_forces(
    m: MechanismParameters, x: Scalars, yd: Scalars, ydd: Scalars, on: ExternalLoads, reduced: int = 0
) -> ReducedSolution:
    """Forces on the independent coordinates: what actuators there would have to give."""
    complement, forces = _moved(m, x, yd, ydd, on, reduced)
    values = complement.projected(forces)
    if complement.K is not None:
        values = complement.K.solved_transposed(values)
    return ReducedSolution(values, complement)


def inverse_dynamics(
    m: MechanismParameters, x: Scalars, yd: Scalars, ydd: Scalars, on: ExternalLoads, reduced: int = 0
) -> ReducedSolution:
    """Actuator forces u with S' B u = S' (M v' + h); the smallest ones where there are more actuators than needed."""
    return actuator_forces(*_moved(m, x, yd, ydd, on, reduced))


def actuator_forces(complement: Complement, forces: Scalars) -> ReducedSolution:
    """Those that give S' forces: the smallest of many, or the nearest where there are fewer than degrees of freedom.

    What the tree needs at an actuated rate its actuator gives at once, so only the rest is projected and solved for.
    """
    m = complement.m
    if m.actuated == complement.z:
        return ReducedSolution(complement.projected(forces), complement)
    if not m.actuated:
        return ReducedSolution([], complement)
    if len(m.actuated) > len(complement.z):
        factors = orthogonalised(complement.actuation())
        smallest = smallest_solution(factors, complement.projected(forces))
        return ReducedSolution(smallest, complement, actuation=factors.pivots)
    own = [forces[a] for a in m.actuated]
    rest = complement.projected([0.0 if j in m.actuated else force for j, force in enumerate(forces)])
    found, actuation = _given_by_actuators(complement, rest)
    return ReducedSolution([a + b for a, b in zip(own, found, strict=True)], complement, actuation=actuation)


def _given_by_actuators(complement: Complement, wanted: Scalars) -> tuple[list[Scalar], Scalars]:
    """u with S' B u = wanted, and the reciprocals of pivots."""
    m = complement.m
    if m.actuated == complement.y and complement.K is not None:  # B' S = K
        return complement.K.solved_transposed(wanted), ()
    A = complement.actuation()
    if len(m.actuated) == len(wanted):
        elimination = Elimination(A, len(wanted))
        return elimination.solved(wanted), elimination.pivots
    factors = orthogonalised(list(zip(*A, strict=True)))  # exact where the motion is one that the actuators can give
    return nearest_solution(factors, wanted), factors.pivots


def forces_left(m: MechanismParameters, x: Scalars, yd: Scalars, ydd: Scalars, on: ExternalLoads) -> Scalar:
    """The share of the forces for these accelerations that no actuator gives: about zero for a motion that can be.

    Lengths are taken as shares of the mechanism's size, so that forces and moments are of one kind.
    """
    m = m._replace(actuated=m.working)
    posed = posed_at(m, x)
    complement = Complement(m, posed, m.independent)
    v = complement.rates(yd)
    moving = MovingComplement(complement, v)
    forces = tree_forces(m, posed, v, moving.accelerations(ydd), on)
    still = complement.projected(tree_forces(m, posed, v, moving.without_acceleration, on))
    whole = complement.projected(forces)
    for a, force in zip(m.actuated, actuator_forces(complement, forces).values, strict=True):
        forces[a] = forces[a] - force
    scales = [m.scales[j] for j in complement.z]
    left = [scale * force for scale, force in zip(scales, complement.projected(forces), strict=True)]
    parts = [scale * part for scale, a, b in zip(scales, whole, still, strict=True) for part in (a - b, b)]
    return sizes(left) / (sizes(parts) + CANCELLED_SHARE * _loads_at_hand(m, v, on) + TINY)


def _loads_at_hand(m: MechanismParameters, v: Scalars, on: ExternalLoads) -> Scalar:
    """N m, how large forces are that may cancel: weights, springs, the wrench and what the rates bring."""
    masses = sizes([body.parameters.mass for body in m.bodies])
    squares = sum((rate * rate * (1.0 / (scale * scale)) for rate, scale in zip(v, m.scales, strict=True)), 0.0)
    total = masses * (sizes([*on.base.a]) * m.size + squares * (m.size * m.size))
    total = sum((spring.stiffness * (m.size * m.size) for spring in m.springs), total)
    if on.wrench is not None:
        total = total + sizes([*on.wrench.force]) * m.size + sizes([*on.wrench.moment])
    return total


def _moved(
    m: MechanismParameters, x: Scalars, yd: Scalars, ydd: Scalars, on: ExternalLoads, reduced: int
) -> tuple[Complement, list[Scalar]]:
    m, rates = m.reduced(reduced)
    posed = posed_at(m, x)
    complement = Complement(m, posed, rates)
    v = complement.rates(yd)
    return complement, tree_forces(m, posed, v, MovingComplement(complement, v).accelerations(ydd), on)


def forward_dynamics(
    m: MechanismParameters, x: Scalars, yd: Scalars, u: Scalars, on: ExternalLoads, reduced: int = 0
) -> ReducedSolution:
    """Independent accelerations: (S' M S) z'' = S' (B u - h - M c), c the tree's accelerations at z'' = 0."""
    return forward_dynamics_at(m, posed_at(m, x), yd, u, on, reduced)


def forward_dynamics_at(
    m: MechanismParameters, posed: Posed, yd: Scalars, u: Scalars, on: ExternalLoads, reduced: int = 0
) -> ReducedSolution:
    m, rates = m.reduced(reduced)
    complement = Complement(m, posed, rates)
    v = complement.rates(yd)
    c = MovingComplement(complement, v).without_acceleration
    forces = tree_forces(m, posed, v, c, on)
    for a, force in zip(m.actuated, u, strict=True):
        forces[a] = forces[a] - force
    right = [-force for force in complement.projected(forces)]
    factors = factored(reduced_mass_matrix(complement))
    z = solved(factors, right)
    if complement.K is None:
        return ReducedSolution(z, complement, factors.D_inverse)
    y = [c[j] + sparse_dot([column[j] for column in complement.S], z) for j in m.independent]
    return ReducedSolution(y, complement, factors.D_inverse)


def reduced_mass_matrix(complement: Complement) -> list[list[Scalar]]:
    """S' M S, with M of all of the tree's rates and the reflected inertias of rotors."""
    M = mass_matrix_at(complement.posed.frames, complement.posed.places)
    for i, drive in enumerate(complement.m.drives):
        M[i][i] = M[i][i] + reflected_inertia(drive)
    if not complement.others:
        return [[M[i][j] for j in complement.z] for i in complement.z]
    if complement.through_levers and all(is_zero(M[i][j]) for i in complement.z for j in complement.others):
        return _mass_matrix_through_levers(complement, M)
    S = complement.S
    MS = [[sparse_dot(row, column) for row in M] for column in S]
    return _mirrored([[sparse_dot(column, MS[j]) for j in range(i + 1)] for i, column in enumerate(S)])


def _mirrored(lower: list[list[Scalar]]) -> list[list[Scalar]]:
    """The entries below the diagonal stand above it, too."""
    n = range(len(lower))
    return [[lower[max(i, j)][min(i, j)] for j in n] for i in n]


def _mass_matrix_through_levers(complement: Complement, M: list[list[Scalar]]) -> list[list[Scalar]]:
    """The body's own matrix, and T' Q T of every two levers: Q is what the legs oppose to their points' accelerations,
    T = [1, -arm x] makes a point's velocity of the body's.
    """
    total = [[M[i][j] for j in complement.z] for i in complement.z]
    levers, columns = complement.levers, complement.point_columns
    M_columns = [[[sparse_dot(row, column) for row in M] for column in own] for own in columns]
    for a, lever in enumerate(levers):
        for b in range(a + 1):
            Q = [[sparse_dot(x, y) for y in M_columns[b]] for x in columns[a]]
            if all(is_zero(x) for row in Q for x in row):
                continue
            block = _seen_by_rates(Q, lever.arm, levers[b].arm)
            for i, row in enumerate(block):
                for j, x in enumerate(row):
                    total[i][j] = total[i][j] + x
                    if a != b:
                        total[j][i] = total[j][i] + x
    return _mirrored(total)  # equal but for rounding


def _seen_by_rates(Q: list[list[Scalar]], arm: Vector, other: Vector) -> list[list[Scalar]]:
    """[1; arm x] Q [1; other x]'."""
    left = [list(column) for column in zip(*Q, strict=True)]
    left = [[*column, *cross(arm, Vector(*column))] for column in left]  # columns of [1; arm x] Q
    rows = [list(row) for row in zip(*left, strict=True)]
    return [[*row, *cross(other, Vector(*row))] for row in rows]


def mass_matrix(m: MechanismParameters, x: Scalars) -> tuple[list[list[Scalar]], Complement]:
    """M of the independent rates, f x f, symmetric.

    Identity: M ydd = generalised_forces(x, 0, ydd) without gravity and springs.
    """
    complement = Complement(m, posed_at(m, x), m.independent)
    return reduced_mass_matrix(complement), complement


def usual_sums(m: MechanismParameters, x: Scalars, controlled: bool, reduced: int = 0) -> list[Scalar]:
    """Sums of the reciprocals of pivots, for `DoubtScales`: of loops, rates, inertia and actuation.

    controlled: whether the actuators can give every acceleration
    """
    m, rates = m.reduced(reduced)
    complement = Complement(m, posed_at(m, x), rates)
    inertia = factored(reduced_mass_matrix(complement)).D_inverse
    actuation = actuator_forces(complement, [0.0] * m.n).actuation if controlled else ()
    return [*complement.sums(), sizes(inertia), sizes(actuation)]
