"""Summary of a mechanism in words and tables, and issues with it that show up later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tauforge.robots.mechanism.description import outside
from tauforge.robots.mechanism.structure import Structure
from tauforge.robots.summary import INERTIAS, PRODUCTS, Cell, Rows, Span, Summary, SummaryTable, Words, six_numbers
from tauforge.validation import counted, freedoms

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism
    from tauforge.robots.mechanism.parts import MechanismJoint


def summary(m: Mechanism) -> Summary:
    mass = float(sum(body.mass for body in m.bodies))
    words = f"{m.name}: mechanism of {counted(len(m.bodies), 'body', 'bodies')} and {counted(len(m.joints), 'joint')}, "
    words += f"{freedoms(m.n)}, {counted(len(m.actuators), 'actuator')}, "
    return Summary((words, mass, " kg without its ground"), tuple(_parts(m)))


def _parts(m: Mechanism) -> Iterator[SummaryTable | Words]:
    yield " ".join(structure_sentences(m.structure)) + "\n"
    joints: Rows = tuple(
        (j.name, type(j).__name__.lower(), f"{j.parent} - {j.child}", tuple(j.at), _axes(j), _drive(j))
        for j in m.joints
    )
    header = ("joint", "kind", "between", "at [m]", "axis", "drive")
    yield SummaryTable("Joints: home position, world frame", header, joints, texts=3)
    limited = tuple(j for j in m.joints if j.limits or j.max_speed or j.max_force)
    if limited:
        limits: Rows = tuple((j.name, _limits(j), j.max_speed, j.max_force) for j in limited)
        yield SummaryTable("Limits: rad or m, and its rates; N m or N", ("joint", "range", "speed", "force"), limits)
    bodies: Rows = tuple((body.name, body.mass, *body.com) for body in m.bodies)
    columns = ("body", "mass [kg]", "x [m]", "y [m]", "z [m]")
    yield SummaryTable("Bodies: mass, and mass centre in the home position, world frame", columns, bodies)
    inertias: Rows = tuple((body.name, *six_numbers(body.inertia)) for body in m.bodies)
    yield SummaryTable(f"{INERTIAS}, world axes", ("body", *PRODUCTS), inertias)
    if m.springs:
        springs: Rows = tuple(
            (f"{s.body_a} - {s.body_b}", s.point_a, s.point_b, s.stiffness, s.length, s.damping) for s in m.springs
        )
        header = ("spring", "from [m]", "to [m]", "N/m", "length [m]", "N s/m")
        yield SummaryTable("Springs: home position, world frame", header, springs)
    driven = tuple(j for j in m.joints if j.driven)
    if driven:
        drives: Rows = tuple((j.name, j.motor_inertia, j.gear_ratio, j.viscous, *j.coulomb) for j in driven)
        header = ("drive of", "rotor", "gear ratio", "viscous", "Coulomb +", "-")
        title = "Drives, at the motor: rotor [kg m^2], viscous [N m s], Coulomb friction [N m]"
        yield SummaryTable(title, header, drives)


def structure_sentences(s: Structure) -> list[str]:
    """The structure in plain words."""
    at = [*s.cut, *(f"{joint} (through {body})" for joint, body in s.through)]
    loops = f"{counted(len(at), 'loop')}, cut at {', '.join(at)}."
    found = [loops if at else "The bodies form a tree: there are no loops."]
    redundant = sum(len(rows) for _, rows in s.redundant)
    if redundant:
        which = ", ".join(dict.fromkeys(joint for joint, _ in s.redundant))
        verb = "is" if redundant == 1 else "are"
        found.append(
            f"{counted(redundant, 'constraint')} {verb} redundant, at {which}: they leave some reactions open."
        )
    if s.floating:
        found.append(f"The pose of {', '.join(s.floating)} follows the joints' coordinates in x.")
    found.append(f"Independent: {', '.join(s.independent)}.")
    return found


def issues(m: Mechanism) -> list[str]:
    found = []
    f, actuators = m.n, len(m.actuators)
    if actuators < f:
        found.append(
            f"{freedoms(f)} and {counted(actuators, 'actuator')}: it has forward dynamics, and "
            "generalised_forces instead of inverse dynamics"
        )
    if m.open_reactions:
        found.append(f"redundant constraints leave reactions open at {', '.join(m.open_reactions)}")
    light = [body.name for body in m.bodies if not body.mass]
    if light:
        found.append(f"no mass: {', '.join(light)}")
    found += [f"home is outside of the limits: {text}" for text in outside(m.joints)]
    return found


def _axes(joint: MechanismJoint) -> Cell:
    axes = getattr(joint, "axes", None)
    rows = [getattr(joint, "axis", None)] if axes is None else axes
    if rows[0] is None:
        return None
    return "; ".join(", ".join(f"{x:.4g}" for x in np.asarray(row) + 0.0) for row in rows)


def _drive(joint: MechanismJoint) -> Cell:
    if joint.mimic is not None:
        leader, factor, offset = joint.mimic
        return f"{factor:g} x {leader}" + (f" + {offset:g}" if offset else "")
    return "motor" if joint.actuated else None


def _limits(joint: MechanismJoint) -> Cell:
    if joint.limits is None:
        return None
    pairs: Sequence[Sequence[float]] = joint.limits
    return Span(*pairs[0]) if len(pairs) == 1 else "; ".join(f"{a:g} to {b:g}" for a, b in pairs)
