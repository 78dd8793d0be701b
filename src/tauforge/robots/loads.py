"""Loads that calls may give: a body that the robot holds, and the motion of the base it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.vectors import Matrix, Transform, Vector
from tauforge.arrays import Array
from tauforge.class_tools import computed_once, with_field_docs
from tauforge.errors import ModelError, ShapeError
from tauforge.evaluation.array_libraries import common_arrays, joined, library_of
from tauforge.evaluation.functions import Argument
from tauforge.formulations.bodies import BodyParameters, heavier
from tauforge.robots.plausibility import warn_of_far_masses, warn_of_faults
from tauforge.validation import SYMMETRY_TOLERANCE, broadcast_shape, real_array, real_vectors, rows

BODY_SHARES: dict[str, tuple[int, ...]] = {"mass": (), "com": (3,), "inertia": (3, 3)}  # of one body
CENTRE = (0.0, 0.0, 0.0)  # of mass, of a payload for which nothing is said
NO_OFFSET, NO_INERTIA = np.zeros(3), np.zeros((3, 3))
NO_OFFSET.flags.writeable = NO_INERTIA.flags.writeable = False
SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class Payload:
    """A body held by an arm's tool or by a platform: an argument of a call, not a change of the robot.

    mass:    (...,)      kg
    com:     (..., 3)    m, in the tool frame, or in the platform's
    inertia: (..., 3, 3) kg m^2, about its centre of mass, in the same axes; (3,) principal moments; default none
    Leading dimensions are a payload per batch row. A payload does not change after it was made. Arrays of JAX and torch
    stay what they are, so that results can be differentiated by them; their shapes are checked, their values are not.
    """

    mass: Array
    com: Array
    inertia: Array

    def __init__(self, mass: ArrayLike, com: ArrayLike = CENTRE, inertia: ArrayLike | None = None) -> None:
        if library_of((mass, com, inertia)) is not None:
            vars(self).update(_of_library(mass, com, np.zeros((3, 3)) if inertia is None else inertia))
            return
        masses = real_array("payload mass", mass)
        negative = masses < 0
        if negative.any() and np.isfinite(masses[negative]).any():  # what is not finite spoils its row, as in states
            raise ShapeError("payload mass", expected="numbers >= 0", got=f"{masses[np.isfinite(masses)].min()}")
        centres = NO_OFFSET if com is CENTRE else real_vectors("payload com", com)
        tensor = NO_INERTIA if inertia is None else _tensor(inertia)
        masses.flags.writeable = centres.flags.writeable = False
        vars(self).update(mass=masses, com=centres, inertia=tensor)
        if com is not CENTRE:
            far = float(np.abs(centres).max(initial=0.0))
            warn_of_far_masses("payload", {"body": far}, "the frame that it is given in")
        if com is not CENTRE or inertia is not None:
            broadcast_shape("payload", {"mass": masses, "com": centres[..., 0], "inertia": tensor[..., 0, 0]})

    def numbers(self) -> Array:
        """(..., 10): mass, com, Ixx, Ixy, Ixz, Iyy, Iyz, Izz.

        The inertia is about the centre of mass. An arm's `inertial_parameters` have another order, with Iyy before Ixz,
        m c instead of c, and the inertia about the frame's origin.
        """
        return self._numbers

    @computed_once
    def _numbers(self) -> Array:
        parts = [self.mass[..., None], self.com]
        parts += [self.inertia[..., a, b][..., None] for a, b in SYMMETRIC]
        numbers: Array = joined(*common_arrays(parts))
        return numbers

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a payload does not change: {name} cannot be assigned. Make another Payload")

    def __repr__(self) -> str:
        return f"Payload(mass={self.mass!r}, com={self.com!r}, inertia={self.inertia!r})"


def one_payload(given: object) -> Payload:
    """The payload that a robot is to carry; an error unless it is a single Payload."""
    if not isinstance(given, Payload):
        raise ShapeError(
            "payload",
            expected="a tauforge.Payload",
            got=type(given).__name__,
            hint="Give tauforge.Payload(mass), with com and inertia if they matter",
        )
    if given.numbers().ndim != 1:
        raise ModelError("expected one payload, not a batch", field="payload")
    return given


def _tensor(inertia: ArrayLike) -> Array:
    """(..., 3, 3), symmetric, with a warning for each that no body can have."""
    tensor = _full(np, real_array("payload inertia", inertia))
    other = np.swapaxes(tensor, -1, -2)
    if (np.abs(tensor - other).max() > SYMMETRY_TOLERANCE * np.abs(tensor).max()).any():
        raise ShapeError("payload inertia", expected="a symmetric tensor", got=f"{tensor.tolist()}")
    tensor = np.asarray((tensor + other) / 2)
    tensor.flags.writeable = False
    for row in tensor.reshape(-1, 3, 3):
        if np.isfinite(row).all():
            warn_of_faults("payload", {"body": rows(row)}, ())
    return tensor


def _of_library(mass: Any, com: Any, inertia: Any) -> dict[str, Any]:
    """The parts as arrays of the library that one of them belongs to, with their shapes checked."""
    namespace, (masses, centres, tensor) = common_arrays((mass, com, inertia))
    if tuple(centres.shape[-1:]) != (3,):
        raise ShapeError("payload com", expected="(..., 3)", got=str(tuple(centres.shape)))
    tensor = _full(namespace, tensor)
    broadcast_shape("payload", {"mass": masses, "com": centres[..., 0], "inertia": tensor[..., 0, 0]})
    return {"mass": masses, "com": centres, "inertia": (tensor + tensor.swapaxes(-1, -2)) / 2}


def _full(namespace: Any, inertia: Any) -> Any:
    """(..., 3, 3), also of principal moments (3,)."""
    tensor = namespace.diag(inertia) if tuple(inertia.shape) == (3,) else inertia
    if tuple(tensor.shape[-2:]) != (3, 3):
        raise ShapeError("payload inertia", expected="(3,) or (..., 3, 3)", got=str(tuple(tensor.shape)))
    return tensor


PAYLOAD = Argument("payload", (10,), "mass, com and inertia", Payload)  # of every robot that can carry something


def body_of_arrays(mass: Array, com: Array, inertia: Array) -> BodyParameters:
    """A body whose scalars are arrays (...). mass: (...,), com: (..., 3), inertia: (..., 3, 3)."""
    rows = [[inertia[..., i, j] for j in range(3)] for i in range(3)]
    return BodyParameters(mass, Vector(*np.moveaxis(com, -1, 0)), Matrix.of(rows))


def with_payload(
    fields: Mapping[str, Array], place: int, payload: Payload, displacement: Transform
) -> dict[str, Array]:
    """Masses, centres and inertias (N, bodies, ...) of which one body holds payloads.

    fields:       those of all bodies without payloads, (..., bodies, *share)
    displacement: body frame <- frame that the payload is given in
    """
    own = {field: np.take(value, place, axis=-1 - len(BODY_SHARES[field])) for field, value in fields.items()}
    held = body_of_arrays(payload.mass, payload.com, payload.inertia)
    both = heavier(body_of_arrays(**own), held, displacement)
    merged = {"mass": both.mass, "com": list(both.com), "inertia": [list(row) for row in both.inertia.rows]}
    shape = np.broadcast_shapes(*(np.shape(x) for x in (both.mass, *both.com)), np.shape(both.inertia[0, 0]))
    result = {}
    for field, value in fields.items():
        share = BODY_SHARES[field]
        first = value.ndim - len(share) - 1
        leading = np.broadcast_shapes(shape, value.shape[:first])
        result[field] = np.array(np.broadcast_to(value, (*leading, *value.shape[first:])))
        for index in np.ndindex(*share):
            component: Any = merged[field]
            for k in index:
                component = component[k]
            result[field][(..., place, *index)] = component
    return result


@with_field_docs
class BaseMotion(NamedTuple):
    """Motion of the base frame, each (..., 3): world axes for an arm, base axes for a platform.

    A platform's base axes are the world's axes at the instant; its gravity is given in them too.

    angular_velocity:     rad/s, of the base frame
    angular_acceleration: rad/s^2, of the base frame
    linear_acceleration:  m/s^2, of the base frame's origin
    """

    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_acceleration: ArrayLike = (0.0, 0.0, 0.0)
    linear_acceleration: ArrayLike = (0.0, 0.0, 0.0)

    def numbers(self) -> Array:
        """(..., 9)."""
        namespace, parts = common_arrays(self)
        for k, (name, part) in enumerate(zip(self._fields, parts, strict=True)):
            if namespace is np:
                parts[k] = real_vectors(f"base_motion.{name}", part)
            elif tuple(part.shape[-1:]) != (3,):
                raise ShapeError(f"base_motion.{name}", expected="(..., 3)", got=str(tuple(part.shape)))
        broadcast_shape("base_motion", {name: part[..., 0] for name, part in zip(self._fields, parts, strict=True)})
        numbers: Array = joined(namespace, parts)
        return numbers


BASE_MOTION = Argument("base_motion", (9,), "angular velocity and acceleration, linear acceleration", BaseMotion)
