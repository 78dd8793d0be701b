"""Studies that have names, which `tauforge sweep` computes of a robot; the study of its designs among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pkgutil import resolve_name
from typing import NamedTuple

from tauforge.class_tools import with_field_docs
from tauforge.designs.evaluation import ANGLE, DISTANCE, STATE_COUNT, judge, states_around, variables
from tauforge.designs.measures import MEASURES, unit_of
from tauforge.errors import ModelError
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import METRE
from tauforge.sweeps.grid import Axis, with_units
from tauforge.sweeps.options import number_option
from tauforge.sweeps.study import BLOCK_POINTS, Result, Study

Builder = Callable[[Robot, Sequence[Axis], Mapping[str, float], Mapping[str, str]], Study]


@with_field_docs
class ReadyStudy(NamedTuple):
    """A study of the registry.

    builder: "module:function" that makes it from robot, axes, at and options, arguments as of `ready_study`
    words:   what it gives, in a line
    axes:    which axes it takes, in a line
    options: its options with what they mean
    """

    builder: str
    words: str
    axes: str
    options: Mapping[str, str]


MOTION_OPTIONS = {
    "motions": "CSV files of motions, separated by commas, as `tauforge sizing` reads them",
    "smooth": "Hz; smooths the files before they are differentiated",
    "end": "a number for every coordinate: where a move ends that begins at the position of `at`",
    "duration": "s, of that move; default 1",
}
COM = {"com": "x,y,z of the payload in m, in the frame of the tool or of the platform; default its origin"}

STUDIES: dict[str, ReadyStudy] = {  # by the name on the command line
    "workspace": ReadyStudy(
        "tauforge.sweeps.workspace:workspace_study",
        "the limit that stops the robot, its condition number and the largest force that holds it",
        "the robot's coordinates, payload (kg)",
        {
            "forces": "yes or no: whether forces beyond the actuators' limits stop it, too; default yes if it has such",
            "condition": "the largest condition number that does not stop it",
            "payload": "kg, a point mass at the origin of the tool or platform",
            "quantities": "some of limit, condition, force and force_share, with commas between",
        },
    ),
    "holding-forces": ReadyStudy(
        "tauforge.sweeps.workspace:holding_forces_study",
        "the largest force or torque that holds the robot at rest",
        "the robot's coordinates",
        {},
    ),
    "designs": ReadyStudy(
        "tauforge.sweeps.builtin_studies:designs_study",
        "condition number, stiffness, forces and limits of designs, each over the same states about home",
        "design parameters, coordinates of home, payload",
        {
            "states": "how many about home; 20",
            "distance": "m, how far they go to each side; 0.05",
            "angle": "rad, the same for angles; 5 degrees",
            "stiffness": "N/m or N m/rad, of every actuator; 1",
            "length": "m, the characteristic length, which makes moments forces; 1",
        },
    ),
    "sizing": ReadyStudy(
        "tauforge.sweeps.sizing:study",
        "force, speed and power that motions ask of each actuator, and whether limits hold",
        "speed, payload, motion",
        {**MOTION_OPTIONS, **COM},
    ),
    "tracking": ReadyStudy(
        "tauforge.sweeps.tracking:study",
        "errors and forces of computed torque when masses and inertias are not those of the model",
        "seed, spread, frequency, payload",
        {
            **MOTION_OPTIONS,
            **COM,
            "spread": "largest relative error of masses and inertias, where it is no axis; default 0.1",
            "frequency": "rad/s, of the controller, where it is no axis: kp is its square, kv twice it; default 10",
            "step": "s, of the integrator; default 0.001",
            "control_period": "s, from one question to the controller to the next; default the step",
            "coulomb_speed": "rad/s or m/s, over which Coulomb friction is smoothed; default 0.01",
        },
    ),
}


def ready_study(
    name: str,
    robot: Robot,
    axes: Sequence[Axis],
    *,
    at: Mapping[str, float] | None = None,
    options: Mapping[str, str] | None = None,
) -> Study:
    """A study of the registry for a robot.

    name:    one of `STUDIES`
    axes:    each named as the study says
    at:      rad or m, coordinates that are not axes; the others are where pictures show the robot
    options: of the study, as texts
    """
    if name not in STUDIES:
        raise ModelError(f"no study is called {name!r}", remedy=f"The studies are {', '.join(STUDIES)}")
    entry = STUDIES[name]
    if unknown := next((option for option in options or {} if option not in entry.options), None):
        known = ", ".join(entry.options)
        remedy = f"Its options are {known}" if known else "It has no options"
        raise ModelError(f"{name} has no option {unknown!r}", field="option", remedy=remedy)
    build: Builder = resolve_name(entry.builder)
    return build(robot, axes, at or {}, options or {})


def designs_study(robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], options: Mapping[str, str]) -> Study:
    """Designs of a robot, each judged over the same states about home."""
    checked = with_units(axes, variables(robot))
    if twice := next((axis.name for axis in checked if axis.name in at), None):
        raise ModelError(f"{twice} is an axis", field="at", remedy="Give it as an axis or at a value")
    count = options.get("states", str(STATE_COUNT))
    if not count.strip().isdecimal():
        raise ModelError(f"expected a whole number, got {count!r}", field="states")
    distance, angle = number_option(options, "distance", "m", DISTANCE), number_option(options, "angle", "rad", ANGLE)
    stiffness, length = number_option(options, "stiffness", "", 1.0), number_option(options, "length", "m", METRE)
    states = states_around(robot, int(count), distance=distance, angle=angle, at=at)
    asked = judge(robot, states=states, stiffness=stiffness, characteristic_length=length)
    names, home = [axis.name for axis in checked], zip(robot.coordinates, states.home.tolist(), strict=True)
    meanings = {name: f"{MEASURES[name].meaning} of {count} states" for name in asked.measures}
    results = tuple(Result(name, "float32", unit_of(robot, name), meaning) for name, meaning in meanings.items())
    more = {"robot": robot.name, "at": {c.name: x for c, x in home if c.name not in names}}
    block, title = max(1, BLOCK_POINTS // len(states.offsets)), f"Designs of {robot.name}"
    return Study("designs", checked, results, asked, title=title, attributes=more, block_points=block)
