"""Many designs, each judged over the same states, in blocks that bound the memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_number
from tauforge.designs.measures import MEASURES, check_measures, judges_forces, measures_of
from tauforge.errors import ModelError, ShapeError
from tauforge.robots.capabilities import design_parameters
from tauforge.robots.loads import PAYLOAD, Payload
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import METRE, at_positions
from tauforge.robots.summary import summarised
from tauforge.validation import broadcast_shape, check_known, real, real_array, whole

BLOCK_PAIRS = 2**17  # pairs of a design and a state: 30 MB
HELD = "payload"  # the parameter that is the mass of what the robot holds
STATE_COUNT = 20
DISTANCE = 0.05  # m
ANGLE = np.deg2rad(5)


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges designs of a robot.

    robot:    whose design parameters vary
    measures: names of `MEASURES`
    states:   at which every design is judged
    stiffness: N/m or N m/rad, of every actuator
    length:   m, the characteristic length of condition number and stiffness
    """

    robot: Robot
    measures: tuple[str, ...]
    states: States
    stiffness: float = 1.0
    length: float = METRE

    def __call__(self, designs: Mapping[str, Array]) -> dict[str, Array]:
        """Measures (N,) by name, of designs whose parameters have values (N,)."""
        count = len(next(iter(designs.values())))
        step = max(1, BLOCK_PAIRS // len(self.states.offsets))
        found: dict[str, Array] = {name: np.empty(count) for name in self.measures}
        for start in range(0, count, step):
            part = slice(start, min(start + step, count))
            for name, values in self._block({key: x[part] for key, x in designs.items()}).items():
                found[name][part] = values
        return found

    def _block(self, designs: Mapping[str, Array]) -> dict[str, Array]:
        own, places = set(design_parameters(self.robot)), places_of(self.robot)
        chosen = {key: x for key, x in designs.items() if key in own}
        wanted = list(dict.fromkeys(MEASURES[name].quantity for name in self.measures))
        # Designs are the inner dimension: measures over the states are then sums and extremes of whole rows.
        around = self.states.coordinates({places[key]: x for key, x in designs.items() if key not in (*own, HELD)})
        held = Payload(designs[HELD]) if HELD in designs else None
        more: dict[str, Any] = {"fields": self.robot.designs.fields(chosen)} if self.robot.designs else {}
        more |= {"forces": "limit" in wanted and judges_forces(self.robot), "characteristic_length": self.length}
        positions = self.robot.positions.at(around, on_failure="nan")
        found = at_positions(self.robot, wanted, positions, payload=held, **more)
        if "stiffness" in found:
            found["stiffness"] = self.stiffness * found["stiffness"]
        return {name: MEASURES[name].of(found[MEASURES[name].quantity]) for name in self.measures}


def variables(robot: Robot) -> dict[str, str]:
    """Variables of a study of designs with units: design parameters, coordinates of home, mass of a payload."""
    found = {name: parameter.unit for name, parameter in design_parameters(robot).items()}
    for coordinate in robot.coordinates:
        found.setdefault(coordinate.name, coordinate.unit)
    if PAYLOAD in robot.functions["inverse_dynamics"].optional:
        found[HELD] = "kg"
    return found


def judge(
    robot: Robot,
    measures: Sequence[str] | None = None,
    *,
    states: States | int | None = None,
    stiffness: float = 1.0,
    characteristic_length: float = METRE,
) -> Judge:
    """A judge of a robot's designs, after a check of what was asked. Arguments as of `evaluate`."""
    if not 0 < real_number(stiffness) < np.inf:
        raise ModelError(f"expected a number > 0, got {stiffness!r}", field="stiffness")
    names = measures_of(robot) if measures is None else check_measures(robot, measures)
    around = states if isinstance(states, States) else states_around(robot, STATE_COUNT if states is None else states)
    return Judge(robot, names, around, stiffness, characteristic_length)


def evaluate(
    robot: Robot,
    designs: Mapping[str, ArrayLike],
    measures: Sequence[str] | None = None,
    *,
    states: States | int | None = None,
    stiffness: float = 1.0,
    characteristic_length: float = METRE,
) -> dict[str, Array]:
    """Evaluates measures (N,) of N designs, by name: the worst or the mean over the states.

    designs:   values (N,) or one for all: of the robot's `designs.parameters`, of coordinates of home, such as the
               height "z" of a platform, and "payload", kg, a point mass at the origin of the moved body's frame
    measures:  names of `MEASURES`; default all that the robot has
    states:    at which every design is judged, or how many; default `states_around(robot)`
    stiffness: N/m, or N m/rad for joints that turn, of every actuator
    characteristic_length: m, makes moments forces in "condition" and "stiffness"

    Identity: those of `robot.designs.redesign` one by one. A design may be beyond what `replace` accepts, such as
    joints that coincide; it is computed all the same. Measures of a design are NaN where loops do not close at
    one of its states, and that state is not within limits. The memory does not grow with N but for what is
    given and returned.
    """
    known, columns = variables(robot), {}
    for name, values in designs.items():
        check_variable(known, name)
        columns[name] = real_array(name, values)
        if not np.isfinite(columns[name]).all():
            raise ModelError("expected finite numbers", field=name)
    shape = broadcast_shape("designs", columns)
    if not columns or len(shape) > 1:
        raise ShapeError("designs", expected="parameters with values (N,)", got=f"shape {shape}")
    asked = judge(robot, measures, states=states, stiffness=stiffness, characteristic_length=characteristic_length)
    found = asked({name: np.broadcast_to(values, shape or (1,)) for name, values in columns.items()})
    return found if shape else {name: values[0] for name, values in found.items()}


def check_variable(known: Mapping[str, str], name: str) -> None:
    check_known(name, known, f"{name!r} is no design parameter", "parameter")


@summarised
@dataclass(frozen=True, eq=False, repr=False)
class States:
    """Coordinates about a home.

    home:    (n,) rad and m
    offsets: (S, n) rad and m, added to home
    """

    home: Array
    offsets: Array

    def coordinates(self, moved: Mapping[int, Array]) -> Array:
        """Coordinates (S, N, n). moved: values (N,) of coordinates of home by their places; N is 1 for none."""
        count = max((len(values) for values in moved.values()), default=1)
        home = np.tile(self.home, (count, 1))
        for place, values in moved.items():
            home[:, place] = values
        return home + self.offsets[:, None]


def states_around(
    robot: Robot,
    count: int = STATE_COUNT,
    *,
    distance: float = DISTANCE,
    angle: float = ANGLE,
    at: Mapping[str, float] | None = None,
) -> States:
    """States spread evenly over a box about home; the first is home itself.

    count:    how many
    distance: m, how far coordinates that are lengths go to each side
    angle:    rad, the same for angles
    at:       rad or m, coordinates of home by name; the others are where pictures show the robot

    They are Roberts' additive recurrence: frac(1/2 + k / phi^j) along coordinate j = 1 ... n, with phi the root of
    phi^(n + 1) = phi + 1. It has low discrepancy and, unlike random numbers, is the same on every machine.
    """
    count = whole(count, "states")
    for name, value in (("distance", distance), ("angle", angle)):
        if not 0 <= real_number(value) < np.inf:
            raise ModelError(f"expected a number >= 0, got {value!r}", field=name)
    home = home_at(robot, at or {})
    phi = 2.0
    for _ in range(64):  # a contraction by more than 2 in every step
        phi = (1 + phi) ** (1 / (robot.n + 1))
    steps = phi ** -np.arange(1.0, robot.n + 1)
    shares = np.remainder(0.5 + np.outer(np.arange(count), steps), 1.0)
    reach = np.array([angle if coordinate.turns else distance for coordinate in robot.coordinates])
    return States(home, reach * (2 * shares - 1))


def home_at(robot: Robot, at: Mapping[str, float]) -> Array:
    """Coordinates (n,) at which pictures show the robot, but for those given by name, rad or m."""
    home, places = np.array(robot.positions.coordinates(robot.positions.default), dtype=float), places_of(robot)
    for name, value in at.items():
        if name not in places:
            names = ", ".join(coordinate.name for coordinate in robot.coordinates)
            raise ModelError(f"no coordinate is called {name!r}", field="at", remedy=f"They are {names}")
        home[places[name]] = real(value, name)
    return home


def places_of(robot: Robot) -> dict[str, int]:
    """Places of the coordinates among all, by their names and by their columns in files."""
    columns = {coordinate.column: k for k, coordinate in enumerate(robot.coordinates)}
    return columns | {coordinate.name: k for k, coordinate in enumerate(robot.coordinates)}
