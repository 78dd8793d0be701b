"""The study "designs": what families of robots are worth, each judged over the same states about home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tauforge.designs.evaluation import ANGLE, COUNT, DISTANCE, judge, states_around, variables
from tauforge.designs.measures import MEASURES, unit_of
from tauforge.errors import ModelError
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import METRE
from tauforge.sweeps.grid import Axis, with_units
from tauforge.sweeps.study import BLOCK_POINTS, Result, Study


def study(robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], options: Mapping[str, str]) -> Study:
    checked = with_units(axes, variables(robot))
    if twice := next((axis.name for axis in checked if axis.name in at), None):
        raise ModelError(f"{twice} is an axis", field="at", remedy="Give it as an axis or at a value")
    count = options.get("states", str(COUNT))
    if not count.strip().isdecimal():
        raise ModelError(f"expected a whole number, got {count!r}", field="states")
    states = states_around(
        robot,
        int(count),
        distance=_number(options, "distance", "m", DISTANCE),
        angle=_number(options, "angle", "rad", ANGLE),
        at=at,
    )
    asked = judge(
        robot,
        states=states,
        stiffness=_number(options, "stiffness", "", 1.0),
        characteristic_length=_number(options, "length", "m", METRE),
    )
    home = dict(zip([c.name for c in robot.coordinates], states.home.tolist(), strict=True))
    return Study(
        name="designs",
        axes=checked,
        results=tuple(
            Result(name, "float32", unit_of(robot, name), f"{MEASURES[name].meaning} of {count} states")
            for name in asked.measures
        ),
        compute=asked,
        title=f"Designs of {robot.name}",
        attributes={
            "robot": robot.name,
            "at": {name: x for name, x in home.items() if name not in [axis.name for axis in checked]},
        },
        block_points=max(1, BLOCK_POINTS // len(states.offsets)),
    )


def _number(options: Mapping[str, str], name: str, unit: str, default: float) -> float:
    """An option as a number, which may carry a unit like the values of an axis."""
    if name not in options:
        return default
    (found,) = with_units([Axis.from_text(f"{name}={options[name]}")], {name: unit})
    if len(found) != 1:
        raise ModelError(f"expected one number, got {options[name]!r}", field=name)
    return float(found.values[0])
