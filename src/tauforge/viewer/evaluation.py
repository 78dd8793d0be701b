"""What the viewer says about a robot in one state: forces, sensors, limits, condition, energy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, SingularityError
from tauforge.robots.drawing import Reaction
from tauforge.robots.named_arguments import ON_SINGULAR
from tauforge.robots.parts import LimitedQuantity
from tauforge.robots.payload import Payload
from tauforge.robots.robot import Robot

DOWN = np.array([0.0, 0.0, -1.0])


class State(NamedTuple):
    """What the controls of the panel say.

    position:     (n,) and velocity, acceleration likewise
    payload:      kg, a point at the origin of the moved body
    gravity:      m/s^2, along the robot's own direction of gravity
    formulation:  by which forces are computed; None for the robot's own choice
    """

    position: Array
    velocity: Array
    acceleration: Array
    payload: float
    gravity: float
    formulation: str | None = None


class Reading(NamedTuple):
    """What follows from a state.

    forces:      (m,) N m or N; NaN where there is none
    difference:  (m,) of the formulation's forces from the default's, or None for the default itself
    sensors:     (m,) what the actuators' sensors measure
    limited:     the quantities that have limits, one value each
    condition:   large near a singularity; None where the robot has none
    energy:      kinetic and potential, J; None for a robot without masses
    problem:     why there are no forces; "" where there are
    """

    forces: Array
    difference: Array | None
    sensors: Array
    limited: list[LimitedQuantity]
    condition: float | None
    energy: tuple[float, float] | None
    problem: str = ""


class Evaluation:
    """A robot with any payload and any gravity along one direction.

    All formulations are linear in gravity. So the robot with and without it give the forces for any other, and no
    kernel has to be made while a slider moves.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        gravity = np.asarray(robot.gravity, float)
        self.gravity = float(np.linalg.norm(gravity))  # m/s^2
        self._heavy: Robot = robot
        self._weightless: Robot | None = None
        if "gravity" in robot.varying_fields and self.gravity:
            self._weightless = robot.replace(gravity=(0.0, 0.0, 0.0))
        elif "gravity" in robot.varying_fields:
            self._heavy, self._weightless = robot.replace(gravity=tuple(DOWN)), robot
        self._guarded = robot.functions["inverse_dynamics"].guard is not None
        optional = [argument.name for argument in robot.functions["inverse_dynamics"].optional]
        self.takes_payload = "payload" in optional
        self.problem = self._why_no_forces()

    @property
    def takes_gravity(self) -> bool:
        """Whether gravity can be changed."""
        return self._weightless is not None

    @property
    def formulations(self) -> tuple[str, ...]:
        """Those of the robot that take a payload."""
        return self.robot.formulations_taking(["payload"] if self.takes_payload else [])

    def start(self) -> State:
        """The robot at rest, as pictures show it."""
        zero = np.zeros(self.robot.n)
        return State(np.array(self.robot.pictured_position, float), zero, zero, 0.0, self.gravity)

    def read(self, state: State) -> Reading:
        robot = self.robot
        forces, problem = self._forces(state, None)
        chosen, difference = state.formulation, None
        if chosen is not None and chosen != robot.default_formulation and not problem:
            other, problem = self._forces(state, chosen)
            forces, difference = other, other - forces
        rows, rates = state.position[None], state.velocity[None]
        condition = robot.condition(rows)
        return Reading(
            forces,
            difference,
            np.asarray(robot.actuator_motion(rows, rates)[0])[0],
            robot.limited_quantities(rows, rates),
            None if condition is None else float(condition[0]),
            None if self.problem else self._energy(state),
            problem,
        )

    def reactions(self, state: State) -> tuple[Reaction, ...]:
        """What the joints carry; none where there are no forces."""
        if self.problem:
            return ()
        loads, scale = self._loads(state), self._scale(state)
        motion = state.position, state.velocity, state.acceleration
        try:
            heavy = self._heavy.reactions(*motion, **loads)
            if scale == 1.0 or self._weightless is None:
                return heavy
            free = self._weightless.reactions(*motion, **loads)
        except SingularityError:
            return ()
        return tuple(
            one._replace(
                force=other.force + scale * (one.force - other.force),
                moment=other.moment + scale * (one.moment - other.moment),
            )
            for one, other in zip(heavy, free, strict=True)
        )

    def _why_no_forces(self) -> str:
        try:
            self.robot.check_function("inverse_dynamics")
        except ModelError as error:
            return str(error)
        return ""

    def _scale(self, state: State) -> float:
        """By how much gravity is larger than that of the heavy robot."""
        return state.gravity / (self.gravity or 1.0)

    def _loads(self, state: State) -> dict[str, Any]:
        return {"payload": Payload(state.payload)} if self.takes_payload and state.payload else {}

    def _forces(self, state: State, formulation: str | None) -> tuple[Array, str]:
        """Forces (m,) and why there are none."""
        missing = np.full(len(self.robot.actuators), np.nan)
        if self.problem:
            return missing, self.problem
        options = self._loads(state)
        if self._guarded:
            options[ON_SINGULAR] = "nan"
        if formulation is not None and self.robot.formulation_argument is not None:
            options[self.robot.formulation_argument] = formulation
        forces = self._by_gravity(state, options)
        if not np.isfinite(forces).all():
            return missing, "singular: no forces of the actuators hold the robot here"
        return forces, ""

    def _by_gravity(self, state: State, options: dict[str, Any]) -> Array:
        motion, scale = (state.position, state.velocity, state.acceleration), self._scale(state)
        heavy = np.asarray(self._heavy.inverse_dynamics(*motion, **options))
        if scale == 1.0 or self._weightless is None:
            return heavy
        free = np.asarray(self._weightless.inverse_dynamics(*motion, **options))
        return np.asarray(free + scale * (heavy - free))

    def _energy(self, state: State) -> tuple[float, float]:
        """Kinetic and potential; the second is proportional to gravity."""
        kinetic, potential = self._heavy.energy(state.position, state.velocity, **self._loads(state))
        return float(kinetic), float(potential) * (self._scale(state) if self.takes_gravity else 1.0)
