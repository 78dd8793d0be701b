"""Description of a mechanism: frozen, validated, with warnings of probable mistakes, and changed copies."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from tauforge import validation
from tauforge.algebra.vectors import Matrix, Vector
from tauforge.class_tools import computed_once
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.bodies import BodyParameters, body_of, heavier
from tauforge.plugins import save
from tauforge.robots import plausibility
from tauforge.robots.drawing import Visual, check_visuals
from tauforge.robots.loads import BODY_SHARES, Payload, one_payload
from tauforge.robots.mechanism.parts import Body, Free, MechanismJoint, Spring, check_part
from tauforge.robots.mechanism.structure import Analysis, Structure, analyse
from tauforge.robots.plausibility import (
    FARTHEST_TURN,
    LIMIT_SLACK,
    levels_to_the_caller,
    warn_of_coordinate,
    warn_of_far_masses,
)
from tauforge.robots.records import KnownException, Source
from tauforge.robots.robot import Robot
from tauforge.validation import Floats

SMALLEST_COULOMB_SPEED = 1e-9  # below, the slope of tanh at rest is beyond any drive's


@ours
@dataclass(frozen=True, kw_only=True)
class MechanismDescription(Robot):
    """Bodies and joints as the machine is built."""

    bodies: Sequence[Body]
    joints: Sequence[MechanismJoint]
    springs: Sequence[Spring] = ()
    gravity: Floats = (0.0, 0.0, -9.81)
    independent: str | Sequence[str] | None = None
    tool: str | None = None
    cut: Sequence[str] | None = None
    coulomb_speed: float = 0.0
    name: str = "mechanism"
    known_exceptions: tuple[KnownException, ...] = ()
    sources: tuple[Source, ...] = dataclasses.field(default=(), compare=False)
    visuals: tuple[Visual, ...] = dataclasses.field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        def put(field: str, value: Any) -> None:
            object.__setattr__(self, field, value)

        for field, kind in (("bodies", Body), ("joints", MechanismJoint), ("springs", Spring)):
            put(field, _tuple_of(getattr(self, field), kind, field))
        if not self.bodies or not self.joints:
            raise ModelError("a mechanism needs at least one body and one joint", field="bodies")
        validation.text(self.name, "name")
        put("gravity", validation.vector(self.gravity, "gravity"))
        put("coulomb_speed", validation.non_negative(self.coulomb_speed, "coulomb_speed"))
        if 0 < self.coulomb_speed < SMALLEST_COULOMB_SPEED:
            raise ModelError(
                f"expected 0 or at least {SMALLEST_COULOMB_SPEED:g}, got {self.coulomb_speed:g}", field="coulomb_speed"
            )
        names = [body.name for body in self.bodies]
        if self.tool is not None:
            check_part("body", self.tool, names, "tool")
        for field in ("independent", "cut"):
            value = getattr(self, field)
            if value is not None and not (field == "independent" and isinstance(value, str)):
                put(field, _tuple_of(value, str, field))
        put("visuals", check_visuals(self.visuals, len(self.bodies)))
        joints = [joint.name for joint in self.joints]
        for name in sorted(self.cut or ()):
            check_part("joint", name, joints, "cut")
        if not all(isinstance(exception, KnownException) for exception in self.known_exceptions):
            raise ModelError("expected a sequence of KnownException", field="known_exceptions")
        plausibility.warn_of_faults(
            self.name,
            {body.name: body.inertia for body in self.bodies},
            {exception.body for exception in self.known_exceptions},
        )
        warn_of_units(self.name, self.bodies, self.joints)
        self._analysis  # noqa: B018 - an impossible mechanism is refused when it is made

    @computed_once
    def _analysis(self) -> Analysis:
        return analyse(self)

    def __copy__(self) -> Self:
        """The copy is not analysed again: the evaluator and the formulas of steps hold copies."""
        found = object.__new__(type(self))
        vars(found).update(self.__getstate__(), _analysis=self._analysis)
        return found

    @property
    def structure(self) -> Structure:
        """The result of the analysis: tree, cuts, freedom and coordinates. Print it."""
        return self._analysis.structure

    @property
    def tool_body(self) -> str:
        """The body that carries a payload and takes the external wrench."""
        if self.tool is not None:
            return self.tool
        wanted = self.independent
        first = wanted if isinstance(wanted, str) else None
        names = [body.name for body in self.bodies]
        return first if first in names else names[-1]

    # ------------------------------------------------------------------------------------------------------- changes

    def replace(self, **changes: Any) -> Self:
        """A changed copy: any argument of Mechanism, or mass, com and inertia of all bodies, one after another."""
        bodies = list(changes.pop("bodies", self.bodies))
        for field, shape in BODY_SHARES.items():
            if field in changes:
                values = validation.array(changes.pop(field), (len(bodies), *shape), field)
                bodies = [
                    dataclasses.replace(body, **{field: value.tolist()})
                    for body, value in zip(bodies, values, strict=True)
                ]
        known = [field.name for field in dataclasses.fields(self)]
        if unknown := sorted(set(changes) - set(known)):
            remedy = validation.known_names(unknown[0], (*known, *BODY_SHARES))
            raise ModelError(f"{unknown[0]!r} cannot be replaced", field=unknown[0], remedy=remedy)
        return dataclasses.replace(self, bodies=tuple(bodies), **changes)

    def save(self, path: str | Path) -> None:
        """Write the mechanism as .toml, which `tauforge.load` reads back equal, or as .urdf or .xml (MJCF).

        Visuals are not written. A TauforgeWarning says what URDF and MJCF cannot hold.
        """
        save(self, Path(path))

    def without_friction(self) -> Self:
        joints = tuple(dataclasses.replace(joint, viscous=0.0, coulomb=(0.0, 0.0)) for joint in self.joints)
        springs = tuple(dataclasses.replace(spring, damping=0.0) for spring in self.springs)
        return self.replace(joints=joints, springs=springs)

    def carrying(self, payload: Payload) -> Self:
        """The mechanism whose tool body holds the payload, which is given in the body's frame."""
        held = body_of(np.asarray(one_payload(payload).numbers(), float).tolist())
        bodies, k = list(self.bodies), [body.name for body in self.bodies].index(self.tool_body)
        body = bodies[k]
        own = BodyParameters(body.mass, Vector(*body.com), Matrix.of(body.inertia))
        both = heavier(own, held, body.home_frame)
        inertia = tuple(tuple(row) for row in both.inertia.rows)
        bodies[k] = dataclasses.replace(body, mass=both.mass, com=tuple(both.com), inertia=inertia)
        return self.replace(bodies=bodies)


def _tuple_of(value: Any, kind: type, field: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ModelError(f"expected a sequence of {kind.__name__}, got {validation.shown(value)}", field=field)
    for item in value:
        if not isinstance(item, kind):
            raise ModelError(f"expected a sequence of {kind.__name__}, got {validation.shown(item)} in it", field=field)
    return tuple(value)


def warn_of_units(robot: str, bodies: Sequence[Body], joints: Sequence[MechanismJoint]) -> None:
    """Warnings about limits, homes and centres of mass that look like degrees or millimetres."""
    _warn_of_degrees(robot, joints)
    for joint in joints:
        for name, letter, x, limits in _at_home(joint) if joint.mimic is None else ():  # else it follows
            warn_of_coordinate(f"{robot}: {name}.home", x, letter == "R", limits)
    ends: dict[str, list[tuple[float, ...]]] = {body.name: [] for body in bodies}
    for joint in joints:
        for body in (joint.parent, joint.child) if not isinstance(joint, Free) else ():
            ends.get(body, []).append(joint.at)
    warn_of_far_masses(
        robot,
        {
            body.name: min(math.dist(body.com, at) for at in ends[body.name] or [tuple(body.home_frame[1])])
            for body in bodies
            if body.mass
        },
        "its joints",
    )


def _warn_of_degrees(robot: str, joints: Sequence[MechanismJoint]) -> None:
    """A warning for each joint with an angle whose limits are beyond two turns."""
    for joint in joints:
        for letter, (lower, upper) in zip(joint.letters, joint.limits or (), strict=bool(joint.limits)):
            if letter == "R" and max(abs(lower), abs(upper)) > FARTHEST_TURN:
                text = f"{robot}: {joint.name}.limits: {lower:g} to {upper:g} rad is beyond two turns"
                told = TauforgeWarning(text, remedy="If these are degrees, give radians: numpy.radians(limits)")
                warnings.warn(told, stacklevel=levels_to_the_caller())
                break


def _at_home(joint: MechanismJoint) -> Iterator[tuple[str, str, float, tuple[float, float] | None]]:
    """Name, letter, value in the home position and limits of each coordinate."""
    home = joint.home if isinstance(joint.home, tuple) else (joint.home,)
    limits = joint.limits or (None,) * len(joint.letters)
    yield from zip(joint.coordinate_names, joint.letters, home, limits, strict=False)  # a weld has a name


def outside(joints: Sequence[MechanismJoint]) -> Iterator[str]:
    """Coordinates that are outside of their limits in the home position, in words."""
    for joint in joints:
        for name, _, x, limits in _at_home(joint):
            if limits is not None and not limits[0] - LIMIT_SLACK <= x <= limits[1] + LIMIT_SLACK:
                yield f"{name} is {x:g}, and its limits are {limits[0]:g} to {limits[1]:g}"
