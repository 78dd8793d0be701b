"""A mechanism in words and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tauforge.robots.mechanism.parts import MechanismJoint
from tauforge.robots.summary import INERTIAS, PRODUCTS, Rows, Summary, SummaryTable, Words, six_numbers

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism


def summary(m: Mechanism) -> Summary:
    f, loops = m.structure.freedom, len(m.structure.cut) + len(m.structure.through)
    words = f"{m.name}: mechanism of {_counted(len(m.bodies), 'body', 'bodies')} and "
    words += f"{_counted(len(m.joints), 'joint', 'joints')}, {_counted(f, 'degree', 'degrees')} of freedom, "
    words += f"{_counted(len(m.actuators), 'actuator', 'actuators')}, {_counted(loops, 'loop', 'loops')}, "
    return Summary((words, float(sum(body.mass for body in m.bodies)), " kg"), tuple(_parts(m)))


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _parts(m: Mechanism) -> Iterator[SummaryTable | Words]:
    joints: Rows = tuple((j.name, _kind(j), f"{j.parent} - {j.child}", j.at, _axis(j)) for j in m.joints)
    yield SummaryTable("Joints, home position, world frame", ("joint", "kind", "between", "at [m]", "axis"), joints, 3)
    yield f"independent: {', '.join(m.structure.independent)}\n"
    follows: Rows = tuple((j.name, *j.mimic) for j in m.joints if j.mimic is not None)
    if follows:
        yield SummaryTable("Joints that follow others", ("joint", "follows", "factor", "offset"), follows, 2)
    if m.structure.cut or m.structure.through:
        places = [*m.structure.cut, *(f"{joint} (through {body})" for joint, body in m.structure.through)]
        yield f"Loops are cut at {', '.join(places)}.\n"
    limits: Rows = tuple(
        (name, *(pair or (None, None)), joint.max_speed, joint.max_force)
        for joint in m.joints
        for name, pair in zip(joint.coordinate_names, _pairs(joint), strict=False)
        if joint.limits or joint.max_speed or joint.max_force
    )
    if limits:
        columns = ("coordinate", "from", "to", "speed", "force")
        yield SummaryTable("Limits: rad or m, and its rates; N m or N", columns, limits)
    bodies: Rows = tuple((b.name, b.mass, *b.com) for b in m.bodies)
    columns = ("body", "mass [kg]", "x [m]", "y [m]", "z [m]")
    yield SummaryTable("Bodies: mass, and mass centre, home position, world frame", columns, bodies)
    inertias: Rows = tuple((b.name, *six_numbers(b.inertia)) for b in m.bodies if any(map(any, b.inertia)))
    yield SummaryTable(INERTIAS, ("body", *PRODUCTS), inertias)
    drives: Rows = tuple((j.name, j.motor_inertia, j.gear_ratio, j.viscous, *j.coulomb) for j in m.joints if j.driven)
    if drives:
        header = ("drive of", "rotor", "gear ratio", "viscous", "Coulomb +", "-")
        title = "Drives, at the motor: rotor [kg m^2], viscous [N m s], Coulomb friction [N m]"
        yield SummaryTable(title, header, drives)
    springs: Rows = tuple((f"{s.body_a} - {s.body_b}", s.stiffness, s.length, s.damping) for s in m.springs)
    if springs:
        named = ("spring between", "stiffness [N/m]", "length [m]", "damping [N s/m]")
        yield SummaryTable("Springs", named, springs)


def _kind(joint: MechanismJoint) -> str:
    return type(joint).__name__.lower() + (", actuated" if joint.actuated else "")


def _axis(joint: MechanismJoint) -> tuple[float, ...] | None:
    axis: tuple[float, ...] | None = getattr(joint, "axis", None)
    return axis


def _pairs(joint: MechanismJoint) -> tuple[tuple[float, ...] | None, ...]:
    """Limits of each coordinate."""
    n = len(joint.letters)
    if joint.limits is None:
        return (None,) * n
    return tuple(joint.limits) if len(joint.limits) == n else tuple(joint.limits) * n
