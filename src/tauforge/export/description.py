"""Comments of exported files: the robot and its functions in words."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tauforge import __version__
from tauforge.evaluation.functions import Argument, Function
from tauforge.kernels.c99.function import Described
from tauforge.kernels.specification import Specification
from tauforge.robots.formulations import WRENCH
from tauforge.robots.loads import BASE_MOTION, PAYLOAD, Payload
from tauforge.robots.positions import body_name
from tauforge.robots.robot import Robot

if TYPE_CHECKING:
    from tauforge.export.functions import Extra

GUARDED = (
    "Near a singular state results are huge or not finite; the Python method refuses such states, this function does"
    " not."
)
RATE_SUFFIXES = ("", "/s", "/s^2")
STATE = ("position", "velocity", "acceleration")
# shapes in docstrings, such as (..., n): the lines of arguments and results tell the sizes
LENGTH = r"(?:\.\.\.|\d+(?: n)?|n\+1|[nmfk]|bodies|joints)"
SHAPE = re.compile(rf"(?:,? each|,)? ?(?<!\w)\({LENGTH}(?:, {LENGTH})*\)(?: each)?")


def about(robot: Robot, specifications: Sequence[Specification], left_out: Sequence[str]) -> list[str]:
    """Paragraphs at the top of the header."""
    forces = "; ".join(f"{k} {a.words} [{a.unit}]" for k, a in enumerate(robot.actuators))
    gravity = ", ".join(f"{x:g}" for x in robot.gravity)
    paragraphs = [
        f"{robot.name}: {robot.kind} with {robot.n} coordinates and {len(robot.actuators)} actuators.",
        f"tauforge {__version__}, robot {digest(robot, specifications)}.",
        f"SI units and radians. Gravity is the acceleration of free fall, ({gravity}) m/s^2. A wrench is a force and a"
        " moment.",
        *_positions(robot),
        f"Actuators: {forces}." if forces else "There are no actuators.",
    ]
    return paragraphs + [f"Left out: {reason}" for reason in left_out]


def _positions(robot: Robot) -> list[str]:
    """Meanings of the numbers of a position, a velocity and an acceleration."""
    entries, coordinates = (
        "; ".join(f"{k} {c.name} [{c.unit}]" for k, c in enumerate(known))
        for known in (robot.positions.entries, robot.coordinates)
    )
    poses = "poses of the moved body in the base frame: x, y, z and the angles of R = Rz Ry Rx"
    twists = "Velocities are twists (velocity of its origin, angular velocity), base axes."
    turns = "" if not robot.positions.turning else "; of the three angles of a ball, angular velocities"
    rates = f"Velocities and accelerations are those of the coordinates{turns}."
    if robot.positions.entries == robot.coordinates:
        meaning = f"{poses}. {twists}" if robot.positions.pose else f"the coordinates below. {rates}"
        return [f"Positions are {meaning}", f"Coordinates: {coordinates}."]
    return [
        f"A position has {robot.positions.size} entries: {entries}.",
        f"One position: {', '.join(repr(float(x) + 0.0) for x in robot.positions.default)}.",
        f"Coordinates, from which the other entries follow: {coordinates}.",
        f"Coordinates are {poses}. {twists}" if robot.positions.pose else rates,
    ]


def digest(robot: Robot, specifications: Sequence[Specification]) -> str:
    """Equal for equal robots: of the parameters, or of the graphs where a robot has no text that determines it."""
    text = robot.identity
    if text is None:
        text = " ".join(repr(specification.graph) for specification in specifications)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def described(robot: Robot, name: str, extra: Extra) -> Described:
    function = robot.functions[name]
    meanings = [f"{_meaning(robot, argument)}{_units(robot, argument.name)}" for argument in function.arguments]
    return Described(
        _summary(robot, name, function),
        [*meanings, *_extra_meanings(robot, function, extra)],
        [(result, _units(robot, result).strip(" []")) for result in function.result_names(name)],
        () if function.guard is None else (GUARDED,),
    )


def described_step(robot: Robot, extra: Extra) -> Described:
    """Computed torque."""
    unit = _units(robot, robot.functions["inverse_dynamics"].arguments[0].name)
    meanings = [f"measured position{unit}", "measured velocity"]
    meanings += [f"target position{unit}", "target velocity", "target acceleration"]
    meanings += ["gains of the position's errors, 1/s^2", "gains of the velocity's errors, 1/s"]
    meanings += _extra_meanings(robot, robot.functions["inverse_dynamics"], extra)
    forces = robot.functions["inverse_dynamics"].result_names("force")[0]
    note = "Errors of angles that a full turn leaves unchanged go the short way round."
    wraps = any(coordinate.wraps for coordinate in robot.coordinates)
    return Described(
        "One step of computed torque: forces for the acceleration qdd_d + Kv (qd_d - qd) + Kp (q_d - q) of the"
        " coordinates.",
        meanings,
        [(forces, _units(robot, forces).strip(" []"))],
        (note,) if wraps else (),
    )


def _extra_meanings(robot: Robot, function: Function, extra: Extra) -> list[str]:
    own = robot.own_values(extra.varying)
    fields = [
        f"{field.replace('_', ' ')} of the robot, SI units; its own: {', '.join(f'{x:.9g}' for x in value.flat)}"
        for field, value in own.items()
    ]
    return [_load(robot, function.argument(load)) for load in extra.loads] + fields


def _load(robot: Robot, argument: Argument) -> str:
    """A payload, a motion of the base or a wrench in words; zeros are none of it."""
    axes = "base" if robot.positions.pose else "world"
    if argument == PAYLOAD:
        numbers = (inspect.getdoc(Payload.numbers) or "").splitlines()[0].partition(": ")[2].rstrip(".")
        return (
            f"{numbers} of a held body, in the frame of the {body_name(robot)}, inertia about its com; not the order of"
            " inertial_parameters; zeros: nothing"
        )
    if argument == BASE_MOTION:
        return f"of the base, {argument.meaning}, {axes} axes; zeros: at rest"
    if WRENCH in (argument.name, argument.also):
        return f"{argument.meaning}, that the environment exerts, {axes} axes"
    return _meaning(robot, argument)


def _summary(robot: Robot, name: str, function: Function) -> str:
    """The first paragraph of the method's documentation, or of the formula's; of that first where the two differ."""
    sources = (getattr(type(robot), name, None), function.formula)
    for source in sources if function.quick else reversed(sources):
        words = inspect.getdoc(source)
        if words:
            return _without_shapes(" ".join(words.split("\n\n")[0].split()))
    return name.replace("_", " ").capitalize() + "."


def _without_shapes(words: str) -> str:
    plain = SHAPE.sub("", words).replace(":.", ".").lstrip(" ,:")
    return plain[:1].upper() + plain[1:] if words.startswith("(") else plain


def _meaning(robot: Robot, argument: Argument) -> str:
    """In words; those of the state where the table tells only how many numbers there are."""
    words = argument.meaning.format(name=robot.name)
    state = [known.name for known in robot.functions["inverse_dynamics"].arguments]
    if words == argument.meaning:
        return words
    return STATE[state.index(argument.name)] if argument.name in state else f"{words}, a number for each"


def _units(robot: Robot, argument: str) -> str:
    """Such as " [rad]", of the arguments and results that every robot has."""
    entry = robot.functions["inverse_dynamics"]
    for place, known in enumerate(entry.arguments):
        if known.name == argument and not place and robot.positions.entries != robot.coordinates:
            return ", with all its entries"
        if known.name == argument:
            return _listed([f"{c.unit}{RATE_SUFFIXES[place]}" for c in robot.coordinates])
    if argument in (entry.result_names("")[0], robot.functions["forward_dynamics"].arguments[-1].name):
        return _listed([actuator.unit for actuator in robot.actuators])
    return ""


def _listed(units: Sequence[str]) -> str:
    return f" [{units[0] if len(set(units)) == 1 else ', '.join(units)}]"
