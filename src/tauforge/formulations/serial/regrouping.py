"""Joint frames and base parameters: the same motion from fewer parameters.

Joint frame i moves with link i and has its z axis on the axis of joint i. A mass on an axis may be counted with either
link that shares the axis. Regrouping moves each link's mass, its first moment along z and its second moment along z
inward to the link before (Khalil & Kleinfinger 1987, Gautier & Khalil 1990), and finally into the base, where they have
no effect. This leaves 7 parameters for each link (1 for the first): h_x, h_y and an inertia with I_zz = I_xx + I_yy.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.inertias import moved, point_mass_inertia, rotated
from tauforge.algebra.scalars import Scalar, is_number, is_zero
from tauforge.algebra.vectors import NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.serial.parameters import ArmParameters, JointParameters

ROUNDING = 1e-15  # rounding error of an exact zero after regrouping, relative to the terms that cancelled


class JointFrame(NamedTuple):
    """One link in its joint frame: the place of the joint on the link before, and the body about the joint."""

    revolute: bool
    offset: Scalar
    before: Transform  # joint frame i-1 <- joint frame i at q + offset = 0
    mass: Scalar
    first_moment: Vector  # m c, about the joint frame's origin and in its axes
    inertia: Matrix  # about the origin
    flat: bool = False  # I_zz = I_xx + I_yy, all mass in the x-y plane: so is every link after regrouping

    @property
    def joint(self) -> JointParameters:
        return JointParameters(self.revolute, self.offset, NO_DISPLACEMENT)


class Chain(NamedTuple):
    """The links in their joint frames, and the last frame of the arm, seen from the last joint frame."""

    frames: tuple[JointFrame, ...]
    last: Transform  # joint frame n <- frame n


def in_joint_frames(arm: ArmParameters) -> Chain:
    """The arm's bodies in their joint frames, not regrouped."""
    frames: list[JointFrame] = []
    before = NO_DISPLACEMENT
    for joint, body in zip(arm.joints, arm.bodies, strict=True):
        R, p = joint.constant
        c = R @ body.com + p
        I = rotated(body.inertia, R) + point_mass_inertia(body.mass, c)
        frames.append(JointFrame(joint.revolute, joint.offset, before, body.mass, c * body.mass, I))
        before = joint.constant
    return Chain(tuple(frames), before)


def regrouped(chain: Chain) -> Chain:
    """The same motion from fewer parameters: what lies on a joint's axis is moved to the link before.

    A prismatic joint does not turn its link, so its whole tensor moves inward, and its mass and first moment stay.
    Identity: inverse dynamics and mass matrix are those of `chain`.
    """
    result = list(chain.frames)
    for i in reversed(range(len(result))):
        frame = result[i]
        mass, h, I = frame.mass, frame.first_moment, frame.inertia
        if frame.revolute:
            line, flat = axis_second_moment(h, I)
            given = mass, Vector(0.0, 0.0, h.z), Matrix.diagonal(line, line, 0.0)
            mass, h = 0.0, Vector(h.x, h.y, 0.0)
        else:
            given, flat = (0.0, ZERO, I), False
        result[i] = frame._replace(mass=mass, first_moment=h, inertia=rounded(I - given[2], I), flat=flat)
        if i > 0:
            R, p = frame.before
            inner = result[i - 1]
            h_in, I_in = moved(given[0], R @ given[1], rotated(given[2], R), p)
            result[i - 1] = inner._replace(
                mass=inner.mass + given[0],
                first_moment=inner.first_moment + h_in,
                inertia=rounded(inner.inertia + I_in, inner.inertia, I_in),
            )
    return Chain(tuple(result), chain.last)


def carrying(chain: Chain, payload: BodyParameters, tool: Transform) -> Chain:
    """The chain whose last link holds the payload too, which is given in the tool frame. It is not regrouped.

    Regrouping would make parameters of every link depend on the payload. Here only ten of the last link do.
    Identity: moves as the chain of the arm whose last body is both as one (`parameters.with_payload`).
    """
    R, p = chain.last
    place = Transform(R.times(tool.rotation), R @ tool.translation + p)
    c = place.rotation @ payload.com + place.translation
    I = rotated(payload.inertia, place.rotation) + point_mass_inertia(payload.mass, c)
    last = chain.frames[-1]
    both = last._replace(
        mass=last.mass + payload.mass,
        first_moment=last.first_moment + c * payload.mass,
        inertia=last.inertia + I,
        flat=False,
    )
    return Chain((*chain.frames[:-1], both), chain.last)


def axis_second_moment(h: Vector, I: Matrix) -> tuple[Scalar, bool]:
    """integral z^2 dm, to be moved inward, and whether that makes the link flat.

    Any amount may be moved. For a diagonal tensor another amount than the true one may leave fewer terms.
    """
    on_axis = (I[0, 0] + I[1, 1] - I[2, 2]) * 0.5
    bare = all(is_zero(x) for x in (h.x, h.y, I[0, 1], I[0, 2], I[1, 2]))
    if not (bare and all(is_number(I[k, k]) for k in range(3))):
        return on_axis, True

    def terms(line: float) -> int:
        J = rounded(I - Matrix.diagonal(line, line, 0.0), I)
        if line == on_axis:
            return 2 * (not is_zero(J[0, 0])) + 2 * (not is_zero(J[1, 1]))
        pairs = ((J[0, 0], nearly(J[2, 2] - J[1, 1], J)), (J[1, 1], nearly(J[0, 0] - J[2, 2], J)))
        present = [(not is_zero(a), not is_zero(b)) for a, b in pairs]
        return sum(a + b + (a and b) for a, b in present)

    best = min((on_axis, I[0, 0], I[1, 1], I[0, 0] - I[2, 2], I[1, 1] - I[2, 2]), key=terms)
    return best, best == on_axis


def nearly(x: Scalar, cancelled: Matrix) -> Scalar:
    """x, or 0 where x is only the rounding error of a cancellation among terms as large as those of `cancelled`."""
    entries = [entry for row in cancelled.rows for entry in row if is_number(entry)]
    return 0.0 if is_number(x) and abs(x) <= ROUNDING * max(map(abs, entries), default=0.0) else x


def rounded(M: Matrix, *terms: Matrix) -> Matrix:
    """M with 0 for what rounding left of its terms."""
    largest = max(terms, key=lambda term: max((abs(x) for row in term.rows for x in row if is_number(x)), default=0.0))
    return Matrix.of([[nearly(x, largest) for x in row] for row in M.rows])
