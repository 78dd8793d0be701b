"""Evaluates a robot in one state for the viewer: forces, sensors, limits, condition and energy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, SingularityError, TauforgeError
from tauforge.evaluation.arguments import ON_SINGULAR
from tauforge.pictures.animation_frames import Forces
from tauforge.robots.drawing import Reaction
from tauforge.robots.formulations import FORMULATION
from tauforge.robots.loads import PAYLOAD, Payload
from tauforge.robots.positions import condition as body_condition
from tauforge.robots.records import LimitedQuantity
from tauforge.robots.robot import Robot
from tauforge.units import number
from tauforge.viewer.colours import SINGULAR_CONDITION

USUAL_STATES = 16  # random ones that tell how large forces usually are
JOINTS_NAMED = 3  # of those whose reactions are not unique
Loads = tuple[float, float, str | None]
DOWN = np.array([0.0, 0.0, -1.0])


class State(NamedTuple):
    """State that the controls of the panel give.

    position:     (N,); velocity and acceleration (n,)
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

    @property
    def motion(self) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration."""
        return self[:3]

    @property
    def loads(self) -> Loads:
        """Payload, gravity and formulation."""
        return self.payload, self.gravity, self.formulation


class Reading(NamedTuple):
    """Numbers that follow from a state.

    forces:      (m,) N m or N; NaN where there is none
    difference:  (m,) of the formulation's forces from the default's, or None for the default itself
    sensors:     (m,) what the actuators' sensors measure
    limited:     the quantities that have limits, one value each
    condition:   large near a singularity; None where the robot has none
    energy:      kinetic and potential, J; None for a robot without masses
    problem:     why there are no forces; "" where there are
    note:        what else a reader must know about the numbers
    unreached:   why the robot is not where the sliders are; "" where it is
    """

    forces: Array
    difference: Array | None
    sensors: Array
    limited: list[LimitedQuantity]
    condition: float | None
    energy: tuple[float, float] | None
    problem: str = ""
    note: str = ""
    unreached: str = ""


class Evaluation:
    """A robot with any payload and any gravity along one direction.

    All formulations are linear in gravity. So the robot with and without it give the forces for any other, and no
    kernel has to be made while a slider moves.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.gravity = float(np.linalg.norm(np.asarray(robot.gravity, float)))  # m/s^2
        self._heavy: Robot = robot
        self._weightless: Robot | None = None
        if "gravity" in robot.varying_fields and self.gravity:
            self._weightless = robot.replace(gravity=(0.0, 0.0, 0.0))
        elif "gravity" in robot.varying_fields:
            self._heavy, self._weightless = robot.replace(gravity=tuple(DOWN)), robot
        self._guarded = robot.functions["inverse_dynamics"].guard is not None
        self.takes_payload = PAYLOAD in robot.functions["inverse_dynamics"].optional
        self.problem = self._why_never("inverse_dynamics")
        self._has_energy = not self._why_never("energy")

    @property
    def takes_gravity(self) -> bool:
        """True if gravity can be changed."""
        return self._weightless is not None

    @property
    def formulations(self) -> tuple[str, ...]:
        """Formulations of the robot that take a payload."""
        return self.robot.formulations.taking(["payload"] if self.takes_payload else [])

    def start(self) -> State:
        """The robot at rest, as pictures show it."""
        zero = np.zeros(self.robot.n)
        return State(np.array(self.robot.positions.default, float), zero, zero, 0.0, self.gravity)

    def usual_forces(self) -> Array:
        """Largest forces (m,) N m or N of a few random states; 0 where there are none."""
        try:
            motion = self.robot.random_states(USUAL_STATES)
        except TauforgeError:  # a robot that hardly stands anywhere
            return np.zeros(len(self.robot.actuators))
        forces = self._forces(State(*motion, 0.0, self.gravity), None)
        return np.asarray(np.nan_to_num(np.abs(forces), posinf=0.0).max(axis=0))

    def unloaded(self, state: State) -> State:
        """The same motion of the robot as it was given: without a payload, with its own gravity, by its own choice."""
        return state._replace(payload=0.0, gravity=self.gravity, formulation=None)

    def loads_text(self, state: State) -> str:
        """Words for the loads of a state beside those of the robot as it was given; "" for none."""
        texts = []
        if self._loads(state):
            texts.append(f"payload {number(state.payload)} kg")
        if self._scale(state) != self._scale(self.unloaded(state)):
            texts.append(f"gravity {number(state.gravity)} m/s²")
        if self._is_other(state.formulation):
            texts.append(str(state.formulation))
        return ", ".join(texts)

    def read(self, state: State) -> Reading:
        """Computes all that the panel shows."""
        robot = self.robot
        rows, rates = state.position[None], state.velocity[None]
        conditions = body_condition(robot, rows)
        condition = None if conditions is None else float(conditions[0])
        forces, difference = self._forces(state, None), None
        if self._is_other(state.formulation):
            other = self._forces(state, state.formulation)
            forces, difference = other, other - forces
        problem = self.problem or ("" if np.isfinite(forces).all() else self._why_no_forces(state))
        return Reading(
            np.full_like(forces, np.nan) if problem else forces,
            None if problem else difference,
            np.asarray(robot.sensors.motion(rows, rates)[0])[0],
            robot.bounds.quantities(rows, rates),
            condition,
            self._energy(state) if self._has_energy else None,
            problem,
        )

    def forces_along(self, state: State) -> Forces:
        """The forces of motions with the loads of a state; rows without an answer are NaN.

        Identity: those of `read`, row by row.
        """
        return lambda q, qd, qdd: self._forces(State(q, qd, qdd, *state.loads), state.formulation)

    def warm_up(self, is_wanted: Callable[[], bool]) -> None:
        """Makes the kernels that the first payload, the first other gravity and both need.

        is_wanted: asked between them
        """
        start = self.start()
        mass = 1.0 if self.takes_payload else 0.0
        for payload, gravity in ((mass, self.gravity), (0.0, self.gravity + 1.0), (mass, self.gravity + 1.0)):
            if is_wanted():
                self.read(start._replace(payload=payload, gravity=gravity))

    def reactions(self, state: State) -> tuple[Reaction, ...]:
        """Reactions of the joints; none where there are no forces."""
        if self.problem:
            return ()
        loads, scale = self._loads(state), self._scale(state)
        try:
            heavy = self._heavy.reactions(*state.motion, **loads)
            if scale == 1.0 or self._weightless is None:
                return heavy
            free = self._weightless.reactions(*state.motion, **loads)
        except SingularityError:
            return ()
        return tuple(
            one._replace(
                force=other.force + scale * (one.force - other.force),
                moment=other.moment + scale * (one.moment - other.moment),
            )
            for one, other in zip(heavy, free, strict=True)
        )

    def _why_never(self, function: str) -> str:
        try:
            self.robot.check_function(function)
        except ModelError as error:
            return str(error)
        return ""

    def _why_no_forces(self, state: State) -> str:
        if not np.isfinite(np.concatenate(state.motion)).all():
            return "no forces: the position, velocity or acceleration is not finite"
        condition = told_condition(self.robot, state.position)
        if self._guarded and condition is not None and condition >= SINGULAR_CONDITION:
            try:
                self.robot.inverse_dynamics(*state.motion)
            except SingularityError as error:
                return f"singular: {error.reason.removeprefix(f'{self.robot.name}: ')}"
        return "no forces: what was computed is not finite, though the pose is not singular"

    def _is_other(self, formulation: str | None) -> bool:
        """True for another formulation than the robot's own choice."""
        return formulation is not None and formulation != self.robot.formulations.default

    def _scale(self, state: State) -> float:
        """Ratio by which gravity is larger than that of the heavy robot."""
        return state.gravity / (self.gravity or 1.0)

    def _loads(self, state: State) -> dict[str, Any]:
        return {"payload": Payload(state.payload)} if self.takes_payload and state.payload else {}

    def _forces(self, state: State, formulation: str | None) -> Array:
        """Forces (..., m); NaN where there are none."""
        if self.problem:
            return np.full((*state.position.shape[:-1], len(self.robot.actuators)), np.nan)
        options = self._loads(state)
        if self._guarded:
            options[ON_SINGULAR] = "nan"
        if formulation is not None:
            options[FORMULATION] = formulation
        return self._by_gravity(state, lambda robot: np.asarray(robot.inverse_dynamics(*state.motion, **options)))

    def _by_gravity(self, state: State, of: Callable[[Robot], Array]) -> Array:
        """Numbers that are linear in gravity. of: those of a robot"""
        heavy, scale = of(self._heavy), self._scale(state)
        if scale == 1.0 or self._weightless is None:
            return heavy
        free = of(self._weightless)
        return np.asarray(free + scale * (heavy - free))

    def _energy(self, state: State) -> tuple[float, float]:
        """Kinetic and potential; NaN at a singular position. Energy of springs does not grow with gravity."""
        options = self._loads(state)
        if self.robot.functions["energy"].guard is not None:
            options[ON_SINGULAR] = "nan"
        motion = state.position, state.velocity
        kinetic, potential = self._by_gravity(state, lambda robot: np.array(robot.energy(*motion, **options)))
        return float(kinetic), float(potential)


def not_unique(reactions: Sequence[Reaction]) -> str:
    """Says whose reactions have components that are not unique; "" where all are."""
    names = [one.name for one in reactions if not np.isfinite([one.force, one.moment]).all()]
    if not names:
        return ""
    more = f" and {len(names) - JOINTS_NAMED} more joints" if len(names) > JOINTS_NAMED else ""
    named = ", ".join(names[:JOINTS_NAMED])
    return f"Redundant constraints leave components of the reactions of {named}{more} open: these are not drawn."


def told_condition(robot: Robot, position: Array) -> Array | None:
    """Numbers (...) that tell singular positions; None where there are none.

    With loops their condition, for there are forces where a tool loses a freedom; without loops the condition number.
    """
    return body_condition(robot, position) if robot.loops is None else robot.loops.condition(position)
