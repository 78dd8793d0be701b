"""The contract of a robot, on which motion, control, simulation, analysis, plots and the command line rely."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalars
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.evaluation.arguments import known_fields
from tauforge.evaluation.functions import FunctionTable
from tauforge.evaluation.unmodified import ours
from tauforge.evaluation.with_functions import WithFunctions, by_table
from tauforge.kernels.specification import Shape
from tauforge.robots.capabilities import Bounds, Designs, Dissipation, Sensors
from tauforge.robots.drawing import Drawing, Reaction
from tauforge.robots.formulations import Formulations, forces_by_rows
from tauforge.robots.loads import Payload
from tauforge.robots.positions import Loops, MovedBody, Positions
from tauforge.robots.records import Actuator, Coordinate, KnownException, Source
from tauforge.robots.state_space import PlainState, StateSpace
from tauforge.robots.summary import Summary, SummaryTable


@ours
class Robot(WithFunctions):
    """A robot, as motion, control, simulation, analysis, plots and the command line use it. SI units, radians.

    A kind of robot is a subclass. It must give 1 to 4; the rest has defaults that fit a robot whose velocities are the
    rates of its coordinates and whose actuators act on them one by one. Batches lead: (..., n).

    A robot does not change after it was made: its model, its kernels and the short ways to them are kept from the first
    call on, and a later change of an attribute is not seen. `replace` makes another robot.

    1. **Names**: `name`, `coordinates` and `actuators`, with units, limits and columns. `n` is the number of
       coordinates, which is that of the degrees of freedom, `gravity` (3,) the acceleration of free fall.
    2. **Functions**: `functions`, the table of formulas that are evaluated and compiled (`evaluation/functions.py`). It
       has "inverse_dynamics" and "forward_dynamics", each of position, velocity and acceleration or force, and "energy"
       of position and velocity. Every entry can be had by `kernel`; an entry beyond these, such as "mass_matrix", has a
       method of its name, too.
    3. **Model**: `varied_model(values)`, what the formulas take first, with the given fields (flat lists of scalars)
       instead of the robot's own; `varying_fields`, their names and core shapes; `own_values` of them.
       `identity` is a text that determines the model, or None: then every kernel is identified by its graph.
    4. **Drawing**: `drawing(position)`, the points, segments, frames and solids that pictures show. `reactions` are
       what its joints carry, with places to draw them; none by default.
    5. **Dynamics**: `inverse_dynamics`, `forward_dynamics`, their derivatives and `energy`. payload=, base_motion= and
       external_wrench= where physics allows. `formulations` are the names by which inverse dynamics can be computed,
       chosen by formulation=. Guarded functions take on_singular="nan", which makes singular rows NaN.
    6. **Positions**: `positions`, what positions are beside coordinates, and velocities beside their rates. A position
       (..., N) may have more numbers than velocities and accelerations (..., n): all joints of a mechanism with loops.
       `loops` are those that must be closed for that; None where coordinates determine the position.
       `random_states` are states to try things on, `random_arguments` those of any function.
    7. **Actuators' own coordinates**: `sensors`, what is measured at the actuators and where that puts the
       `moved_body`, which may be None; `holding_forces` keep the robot at rest.
       A robot with other than n actuators gives its own sensors, or takes no law that needs them.
    8. **Limits**: `bounds`, the limits of positions and motions, how far each is, and the same over any scalar.
    9. **State**: `state_space`, the robot's state as one vector for the integrators.
       `dissipation` is what in the robot itself takes energy, None where nothing does.
    10. **Changes**: `carrying(payload)`, `replace(**changes)`, `without_friction()`. `designs` is what a
        designer may choose, None where that is nothing.
    11. **Words**: `repr`, `summary()` for people, `data()` for machines, `issues()`; `kind` says what the robot
        is; its last word stands in sentences.

    Identities that tests check for every kind: forward_dynamics undoes inverse_dynamics; the energy changes by the
    power of actuators and friction; `kernel` equals the method; `varying` equals `replace`; `designs.fields` of
    the robot's own values are its own fields.
    """

    name: str
    gravity: Any = (0.0, 0.0, -9.81)
    known_exceptions: tuple[KnownException, ...] = ()
    sources: tuple[Source, ...] = ()
    kind: ClassVar[str] = "robot"

    # ------------------------------------------------------------------------------------------------ capabilities

    positions: computed_once[Positions] = computed_once(Positions)
    bounds: computed_once[Bounds] = computed_once(Bounds)
    sensors: computed_once[Sensors] = computed_once(Sensors)
    state_space: computed_once[StateSpace] = computed_once(PlainState)
    formulations: computed_once[Formulations] = computed_once(Formulations)

    @property
    def loops(self) -> Loops | None:
        """Loops that must be closed; None where coordinates determine the position."""
        return None

    @property
    def moved_body(self) -> MovedBody | None:
        """The body that the actuators move; None where none is told."""
        return None

    @property
    def dissipation(self) -> Dissipation | None:
        """Energy losses in the robot itself; None if there are none."""
        return None

    @property
    def designs(self) -> Designs | None:
        """Numbers that a designer may choose; None if there are none."""
        return None

    # ----------------------------------------------------------------------------------------------- 1, 2, 3, 4

    @property
    @abstractmethod
    def coordinates(self) -> tuple[Coordinate, ...]: ...

    @property
    @abstractmethod
    def actuators(self) -> tuple[Actuator, ...]: ...

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    @abstractmethod
    def functions(self) -> FunctionTable: ...

    @abstractmethod
    def varied_model(self, values: Mapping[str, Scalars]) -> Any:
        """The first argument of the formulas, with these fields, flat lists of scalars, instead of the robot's own."""

    @computed_once
    def model(self) -> Any:
        """The first argument of the formulas."""
        return self.varied_model({})

    @property
    def varying_fields(self) -> Mapping[str, Shape]:
        """Fields that may be arguments of a kernel, with the shape of one robot's share."""
        return {}

    def _check_varying(self, fields: tuple[str, ...]) -> None:
        """UnsupportedFeatureError where these fields cannot vary together."""

    def own_values(self, fields: Sequence[str]) -> dict[str, Array]:
        """The robot's own values of varying fields, (*core) each. Identity: `varied_model` of them is the model.

        UnsupportedFeatureError for a field that is none of `varying_fields`.
        """
        known = self.varying_fields
        return {field: np.reshape(getattr(self, field), known[field]) for field in known_fields(self, fields)}

    @property
    def identity(self) -> str | None:
        """A text that determines the model, given our sources."""
        return None

    @abstractmethod
    def drawing(self, position: ArrayLike) -> Drawing:
        """The points, segments and frames that pictures show, at positions (..., N)."""

    def reactions(self, position: Array, velocity: Array, acceleration: Array, **loads: Any) -> tuple[Reaction, ...]:
        """Forces and moments in the joints at states, with the loads of inverse dynamics; empty if unknown.

        Components that are not unique are NaN.
        """
        return ()

    # --------------------------------------------------------------------------------------------------- evaluation

    def check_function(self, function: str) -> None:
        """ModelError where the robot lacks what a function needs, such as masses."""

    def _check_loads(self, loads: Collection[str], options: Mapping[str, Any]) -> None:
        """UnsupportedFeatureError where these loads, such as "base_motion", cannot be had with these options."""

    def _check_options(self, function: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a function as its formula takes them; UnsupportedFeatureError for values it does not know."""
        return self.formulations.in_own_words(function, options)

    # ----------------------------------------------------------------------------------------------------- dynamics

    @by_table
    def inverse_dynamics(self, *state: Any, **loads: Any) -> Array:
        """Actuator forces (..., m) from position, velocity and acceleration, (..., n) each.

        Loads and options of the table's entry by keyword; on_singular="nan" where the entry has a guard.
        """

    @by_table
    def forward_dynamics(self, *state: Any, **loads: Any) -> Array:
        """Accelerations (..., n) from position, velocity (..., n) and actuator forces (..., m).

        Keywords as in `inverse_dynamics`.
        """

    @by_table
    def energy(self, *state: Any, **loads: Any) -> tuple[Array, Array]:
        """Kinetic and potential energy, J, each (...), from position and velocity."""

    @by_table
    def inverse_dynamics_derivatives(self, *state: Any, **loads: Any) -> tuple[Array, Array, Array]:
        """Derivatives of inverse_dynamics by position, velocity and acceleration, each (..., m, n)."""

    @by_table
    def forward_dynamics_derivatives(self, *state: Any, **loads: Any) -> tuple[Array, Array, Array]:
        """Derivatives of forward_dynamics by position, velocity (..., n, n) and force (..., n, m)."""

    # ---------------------------------------------------------------------------------------------------- positions

    def random_states(self, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
        """Positions (count, N) within the limits, velocities and accelerations of order one, (count, n) each.

        A coordinate without limits is between -pi and pi. One with a single limit is within a turn or 1 m of it.
        """
        random, shape = np.random.default_rng(seed), (count, self.n)
        low, high = np.transpose([c.usual_range for c in self.coordinates])
        return random.uniform(low, high, shape), random.normal(size=shape), random.normal(size=shape)

    def random_arguments(self, function: str, count: int, seed: int = 0) -> dict[str, Array]:
        """Arguments of a function of the table to try it on, by name, (count, numbers) each.

        States are those of `random_states`, forces those that they need, and other numbers are of order one.
        """
        random, states = np.random.default_rng(seed), self.random_states(count, seed)
        found: dict[str, Array] = {}
        for argument in self.functions[function].arguments:
            known = self._random_argument(function, argument.name, states)
            found[argument.name] = random.normal(size=(count, argument.numbers)) if known is None else known
        return found

    def _random_argument(self, function: str, argument: str, states: tuple[Array, Array, Array]) -> Array | None:
        """This argument for `random_arguments` at these states; None for numbers of order one."""
        names = [a.name for a in self.functions["inverse_dynamics"].arguments]
        if argument in names:
            return states[names.index(argument)]
        forward = function in ("forward_dynamics", "forward_dynamics_derivatives")
        if forward and argument == self.functions["forward_dynamics"].arguments[-1].name:
            return forces_by_rows(self, *states)
        return None

    # ---------------------------------------------------------------------------------------------------- actuators

    def holding_forces(self, position: Array) -> Array:
        """Actuator forces (..., m) that hold the robot at rest."""
        zero = np.zeros(self.n)
        return forces_by_rows(self, position, zero, zero)

    @property
    def max_forces(self) -> Array:
        """(m,) N m or N, infinite where there is no limit."""
        return np.array([actuator.max_force for actuator in self.actuators])

    # ------------------------------------------------------------------------------------------------------ changes

    def carrying(self, payload: Payload) -> Self:
        """The same robot with one payload fixed to it."""
        raise UnsupportedFeatureError(f"{self.name} cannot carry a payload", field="payload")

    def _fields_carrying(self, payload: Payload, fields: Mapping[str, Array]) -> dict[str, Array]:
        """The fields that a payload changes, (N, ...) each. Identity: those of `carrying`, row by row."""
        raise UnsupportedFeatureError(f"{self.name} cannot carry a payload", field="payload")

    def replace(self, **changes: Any) -> Self:
        """A changed copy."""
        raise UnsupportedFeatureError(f"{self.name} cannot be changed", field="replace")

    def without_friction(self) -> Self:
        """The same robot without friction."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The attributes that the robot was made from. Compiled code and capabilities are made again."""
        kind = type(self)
        return {
            name: value
            for name, value in list(vars(self).items())  # another thread may install a shortcut
            if name.isidentifier()
            and not isinstance(getattr(kind, name, None), computed_once)
            and not callable(getattr(kind, name, None))
        }

    # -------------------------------------------------------------------------------------------------------- words

    def _repr_html_(self) -> str:
        """The summary as tables, for notebooks."""
        return self.summary()._repr_html_()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.n} coordinates)"

    def summary(self) -> Summary:
        """The robot for people, as `tauforge show` prints it."""

        def limit(x: float) -> float | None:
            return x if np.isfinite(x) else None

        moving = tuple((c.name, c.unit, limit(c.lower), limit(c.upper), limit(c.max_speed)) for c in self.coordinates)
        acting = tuple((actuator.words, actuator.unit, limit(actuator.max_force)) for actuator in self.actuators)
        tables = [SummaryTable("Coordinates", ("", "unit", "from", "to", "speed"), moving, texts=2)]
        if acting:
            tables.append(SummaryTable("Actuators", ("", "unit", "force"), acting, texts=2))
        return Summary(f"{self.name}: {self.kind} with {self.n} coordinates", tuple(tables))

    def data(self) -> dict[str, Any]:
        """The robot for machines, as `tauforge show --json` writes it: its fields by name, in SI units and radians."""
        made: type = type(self)
        if dataclasses.is_dataclass(made):
            # without what is for pictures alone, which is not in `repr` either
            return {field.name: getattr(self, field.name) for field in dataclasses.fields(made) if field.repr}
        coordinates, actuators = ([x._asdict() for x in xs] for xs in (self.coordinates, self.actuators))
        return {"name": self.name, "gravity": self.gravity, "coordinates": coordinates, "actuators": actuators}

    def issues(self) -> list[str]:
        """Sentences about what is accepted but will fail later, such as missing masses."""
        return []


def check_robot(name: str, robot: object) -> Robot:
    """ModelError unless it is a robot."""
    if not isinstance(robot, Robot):
        raise ModelError(f"expected a robot such as a SerialArm or a StewartPlatform, got {robot!r}", field=name)
    return robot


def noun_of(robot: Robot) -> str:
    """The noun for the robot in sentences: the last word of its kind, such as "arm"."""
    return robot.kind.rpartition(" ")[2]
