"""Parameters of a rigid body, and the wrench that acts on it: plain tuples over any scalar."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import ZERO, Matrix, Vector


class BodyParameters(NamedTuple):
    mass: Scalar  # kg
    com: Vector  # m, from the origin of the body's frame, in its axes
    inertia: Matrix  # kg m^2, about the centre of mass, in the frame's axes


class Wrench(NamedTuple):
    """Force (N) and moment (N m) at one point, in one frame."""

    force: Vector
    moment: Vector


NO_WRENCH = Wrench(ZERO, ZERO)
