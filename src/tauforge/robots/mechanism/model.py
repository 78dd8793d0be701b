"""The parameters of a mechanism's formulas, with its masses in them: over any scalar, so that masses may vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.scalars import Scalar, is_number
from tauforge.algebra.vectors import Matrix, Vector
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.drives import DriveParameters
from tauforge.formulations.mechanism.parameters import BodyInTree, MechanismParameters
from tauforge.formulations.trees.economical_frames import COORDINATE_ERROR, regrouped, tidy
from tauforge.formulations.trees.frames import GROUND
from tauforge.kernels.specification import Shape
from tauforge.robots.mechanism.assembly import largest_coordinate

if TYPE_CHECKING:
    from tauforge.robots.mechanism.description import MechanismDescription

Scalars = Sequence[Scalar]
NO_DRIVE = DriveParameters(0.0, 0.0, 0.0, 0.0, 1.0)


def varying_fields(m: MechanismDescription) -> Mapping[str, Shape]:
    bodies = len(m.bodies)
    return {"mass": (bodies,), "com": (bodies, 3), "inertia": (bodies, 3, 3), "gravity": (3,)}


def model_of(
    m: MechanismDescription, bare: MechanismParameters, values: Mapping[str, Scalars] | None = None
) -> MechanismParameters:
    """bare: parameters without masses; values: fields, flat, instead of the mechanism's own.

    Centres of mass and inertias are given in the world and in the home position.
    """
    given = values or {}
    size = largest_coordinate(m.bodies, m.joints)
    frames, bodies = list(bare.frames), list(bare.bodies)
    for i, body in enumerate(m.bodies):
        mass = given["mass"][i] if "mass" in given else body.mass
        com = given["com"][3 * i : 3 * i + 3] if "com" in given else body.com
        rows = (
            [given["inertia"][9 * i + 3 * r : 9 * i + 3 * r + 3] for r in range(3)]
            if "inertia" in given
            else body.inertia
        )
        place, (axes, origin) = bodies[i].place, body.home_frame
        own = BodyParameters(mass, axes.T @ (Vector(*com) - origin), rotated(Matrix.of(rows), axes.T))
        bodies[i] = BodyInTree(place, own)
        k = place.joint_frame
        if k != GROUND:
            R, p = place.displacement
            c = R @ own.com + p
            if all(is_number(x) for x in c):
                c = tidy(c, size)
            frame = frames[k]
            frames[k] = frame._replace(
                mass=frame.mass + mass,
                first_moment=frame.first_moment + c * mass,
                inertia=frame.inertia + _without_rounding(rotated(own.inertia, R)) + point_mass_inertia(mass, c),
            )
    gravity = Vector(*given["gravity"]) if "gravity" in given else bare.gravity
    return bare._replace(frames=regrouped(frames), bodies=tuple(bodies), gravity=gravity)


def _without_rounding(I: Matrix) -> Matrix:
    """0 for products of inertia that the tensor's turn into the frame left; they are there only by rounding."""
    entries = [x for row in I.rows for x in row]
    if not all(is_number(x) for x in entries):
        return I
    most = 2 * COORDINATE_ERROR * max(abs(x) for x in entries)
    return Matrix.of([[0.0 if abs(x) <= most else x for x in row] for row in I.rows])
