"""Parameters of a rigid body, and the wrench that acts on it: plain tuples over any scalar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import ZERO, ZERO_MATRIX, Matrix, Transform, Vector


class BodyParameters(NamedTuple):
    mass: Scalar  # kg
    com: Vector  # m, from the origin of the body's frame, in its axes
    inertia: Matrix  # kg m^2, about the centre of mass, in the frame's axes


MASSLESS_BODY = BodyParameters(0.0, ZERO, ZERO_MATRIX)


def body_of(numbers: Sequence[Scalar]) -> BodyParameters:
    """From mass, com, Ixx, Ixy, Ixz, Iyy, Iyz, Izz: the order in which payloads are given."""
    m, cx, cy, cz, xx, xy, xz, yy, yz, zz = numbers
    return BodyParameters(m, Vector(cx, cy, cz), Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))))


def body_with(body: BodyParameters, given: Mapping[str, Sequence[Scalar]]) -> BodyParameters:
    """The body with another "mass", "com" or "inertia", whichever are given, as flat lists."""
    mass, com, inertia = body
    if "mass" in given:
        (mass,) = given["mass"]
    if "com" in given:
        com = Vector(*given["com"])
    if "inertia" in given:  # symmetric: the upper triangle is read
        xx, xy, xz, _, yy, yz, _, _, zz = given["inertia"]
        inertia = Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return BodyParameters(mass, com, inertia)


def heavier(body: BodyParameters, payload: BodyParameters, place: Transform) -> BodyParameters:
    """Body and payload as one, in the body's frame; place: body's frame <- payload's."""
    com = place.rotation @ payload.com + place.translation
    mass = body.mass + payload.mass
    share = payload.mass / (mass + 1e-30)  # 1e-30 kg avoids 0/0 when both masses are 0; otherwise it is rounded away
    apart = com - body.com
    inertia = body.inertia + rotated(payload.inertia, place.rotation) + point_mass_inertia(body.mass * share, apart)
    return BodyParameters(mass, body.com + apart * share, inertia)


class Wrench(NamedTuple):
    """Force (N) and moment (N m) at one point, in one frame."""

    force: Vector
    moment: Vector


NO_WRENCH = Wrench(ZERO, ZERO)
