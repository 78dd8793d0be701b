"""Formulas of the kernels of a rollout: a step under control, a step with forces held, and their adjoints.

The source of the law itself is recorded: a `TraceableRobot` takes the place of its robot, which evaluates the formulas
of the table of functions over any scalars.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.algebra.scalars import Scalar, select
from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.control.law_arrays import elements, law_array
from tauforge.control.law_graph import TIME, Columns, LawGraph
from tauforge.control.traceable_robot import TraceableRobot
from tauforge.evaluation.unmodified import is_unmodified
from tauforge.kernels.specification import Shape, Specification
from tauforge.robots.formulations import WRENCH
from tauforge.robots.loads import PAYLOAD
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import ALONE, Judged, StateFormulas
from tauforge.simulation.disturbances import Disturbance, wrench_load
from tauforge.simulation.integrators import FAR, WEIGHTS, rk4
from tauforge.simulation.sensors import Sensing, pushed
from tauforge.tracing.graph import Graph, trace

Scalars = Sequence[Scalar]
Formula = Callable[..., list[Scalar]]
Shapes = dict[str, Shape]
FORCE, ADDED, AHEAD, LIMITS = "force", "added_force", "ahead", "limits"
NOISE, HISTORY, QUEUE = "noise", "sensor_history", "asked_before"
PUSH_TIME = "disturbance_time"
HUGE_SQUARE = 1e36  # a force beyond its root counts as not finite; float32 knows it and its reciprocal
_operations: dict[str | None, int] = {}  # of a step, by what it is traced from


class Given(NamedTuple):
    """Numbers that a step takes for each row besides the state.

    gains:  attributes of the law
    fields: of the plant, and "payload" for the ten numbers of what it holds
    forces: whether forces are added to those of the law
    limits: whether forces have limits
    sensing: what the law sees, if not the state
    delay:  control periods before a force acts
    pushed: whether a wrench is given for each stage
    """

    gains: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    forces: bool = False
    limits: bool = False
    sensing: Sensing | None = None
    delay: int = 0
    pushed: bool = False


class StepFormulas:
    """Specifications of one law (None: no forces but those given), plant and step. Their graphs are traced when needed.

    h:     s, of the integrator
    alone: whether the formulas must also serve states at which other methods are better
    state: the parts of the state
    """

    def __init__(
        self,
        controller: Controller | None,
        plant: Robot,
        given: Given,
        h: float,
        *,
        alone: bool = False,
        disturbance: Disturbance | None = None,
    ) -> None:
        self._plant, self.given, self.h = copy.copy(plant), given, h  # kernels must not keep a robot alive
        self._most = ALONE if alone else 1.0
        space = plant.state_space.formulas
        assert space is not None  # `why_not_compiled`
        # asked now, for a copy has forgotten all that was computed
        self.state: Shapes = {name: (numbers,) for name, numbers in space.parts.items()}
        self.forces_shape: Shape = (len(plant.actuators),)
        # a text that determines what is traced of this robot; None where our sources do not tell all of it
        own = plant.identity if is_unmodified(plant) else None
        self._push = None if disturbance is None else disturbance.graph(plant)
        self._origin = None if own is None else f"{h!r} {given} {alone} {type(plant).__qualname__} {own}"
        self._law = None if controller is None else LawGraph(controller, plant, given.gains)
        self._law_origin = self._origin and f"{self._origin} {self._law.origin if self._law else ''}"
        self.push: Shapes = {WRENCH: (6,)} if given.pushed else {}
        if self._push is not None:
            self._origin = self._origin and f"{self._origin} {self._push.origin}"
            self.push |= {PUSH_TIME: ()} if TIME in self._push.targets else {}
        # arguments of the specifications; those of the law are empty without one, and forces without actuators
        nothing: Shapes = {}
        self.targets = nothing if self._law is None else self._law.targets
        self.memory = nothing if self._law is None else dict(self._law.memory)
        self.noise: Shapes = nothing
        if self._law is not None and given.sensing is not None:
            self.noise = {NOISE: given.sensing.noise_scales.shape} if any(given.sensing.noise) else nothing
            count = math.prod(given.sensing.history_shape)
            self.memory |= {HISTORY: (count,)} if count else nothing
        if self._law is not None and given.delay:
            self.memory |= {QUEUE: (given.delay * len(plant.actuators),)}
        self.gains = nothing if self._law is None else self._law.gains
        self.fields = {name: field_shape(plant, name) for name in given.fields}
        self.limits: Shapes = {LIMITS: self.forces_shape} if given.limits else nothing
        self.answer_shape: Shape = ((2 if given.limits else 1) * len(plant.actuators),)
        self.forces: Shapes = {FORCE: self.forces_shape} if plant.actuators else nothing
        self.added: Shapes = {ADDED: self.forces_shape} if given.forces and plant.actuators else nothing
        self._position_and_velocity: Shapes = {"position": (plant.positions.size,), "velocity": (plant.n,)}

    # ---------------------------------------------------------------------------------------------- the specifications

    def controlled_step(self) -> Specification:
        """State, memory, targets, added forces, gains, fields, limits -> state, memory, forces as those of `law`."""
        arguments = self.state | self.memory | self.targets | self.noise | self.added
        arguments |= self.gains | self.fields | self.limits

        def formula(**given: Scalars) -> list[Scalar]:
            answer, memory = self._answered(given)
            return [*self._stepped(answer[: len(self._plant.actuators)], given), *memory, *answer]

        results = (*self.state.values(), *self.memory.values(), self.answer_shape)
        return self._specified("controlled_step", formula, arguments, results, law=True)

    def held_step(self) -> Specification:
        """State, forces, fields -> state."""
        arguments, results = self.state | self.forces | self.fields, tuple(self.state.values())
        return self._specified("held_step", lambda **x: self._stepped(x.get(FORCE, []), x), arguments, results)

    def law(self) -> Specification:
        """State, the rates of the stage before, how far these lead (s), memory, targets, added forces, gains, limits ->
        forces, memory.

        Where there are limits, the forces are followed by those that the law asks for.
        """
        arguments = self.state | self.slopes() | {AHEAD: ()} | self.memory | self.targets | self.noise | self.added
        arguments |= self.gains | self.limits

        def formula(**given: Scalars) -> list[Scalar]:
            answer, memory = self._answered(given | self._ahead(given))
            return [*answer, *memory]

        results = (self.answer_shape, *self.memory.values())
        return self._specified("law", formula, arguments, results, law=True)

    def stage(self) -> Specification:
        """State, the rates of the stage before, how far these lead (s), forces, fields, push -> rates of the state.

        NaN where they are not good, as after a step.
        """
        arguments = self.state | self.slopes() | {AHEAD: ()} | self.forces | self.fields | self.push

        def formula(**given: Scalars) -> list[Scalar]:
            model, loads = self._model(given)
            there, suspicions = self._ahead(given), list[Scalar]()
            if self._push is not None:
                seen = self._seen(there) | {TIME: given.get(PUSH_TIME, [0.0])}
                given[WRENCH], suspicions = self._push.forces(seen)
            if WRENCH in given:
                loads |= wrench_load(self._plant, given[WRENCH])
            found = self._space.rates(model, self._y(there), given.get(FORCE, []), loads)
            return self._tainted(found._replace(suspicions=(*found.suspicions, *suspicions)))

        return self._specified("stage", formula, arguments, tuple(self.state.values()))

    def end(self) -> Specification:
        """State and the rates of the four stages -> state after the step."""
        stages = [self.slopes(s) for s in range(len(WEIGHTS))]
        arguments: Shapes = {name: core for part in (self.state, *stages) for name, core in part.items()}

        def formula(**given: Scalars) -> list[Scalar]:
            found = iter([[x for name in slopes for x in given[name]] for slopes in stages])
            y = np.array(self._y(given), dtype=object)
            reached = rk4(lambda _, __: np.array(next(found), dtype=object), 0.0, y, self.h)
            return self._tainted(self._renewed(self._plant.model, list(reached)))

        return self._specified("end", formula, arguments, tuple(self.state.values()))

    def packed(self) -> Specification:
        """Position and velocity -> state."""
        return self._specified("packed", self._packed, self._position_and_velocity, tuple(self.state.values()))

    def unpacked(self) -> Specification:
        """State -> position and velocity."""
        return self._specified("unpacked", self._unpacked, self.state, tuple(self._position_and_velocity.values()))

    def slopes(self, stage: int | None = None) -> Shapes:
        """The rates of the state's parts, in a stage."""
        mark = "" if stage is None else str(stage + 1)
        return {f"{name}_rate{mark}_": core for name, core in self.state.items()}

    @property
    def operations(self) -> int:
        """About how many a step with forces held has: a kernel of very many takes seconds to compile."""
        known = _operations.get(self._origin)
        if known is None:
            known = len(WEIGHTS) * len(self.stage().graph.nodes) + len(self.end().graph.nodes)
            if self._origin is not None:
                _operations[self._origin] = known
        return known

    # ---------------------------------------------------------------------------------------------------- the formulas

    @property
    def _space(self) -> StateFormulas:
        found = self._plant.state_space.formulas
        assert found is not None  # `why_not_compiled`
        return found

    def _y(self, more: Columns) -> list[Scalar]:
        """The parts of the state, one after another."""
        return [x for name in self.state for x in more[name]]

    def _ahead(self, more: Columns) -> dict[str, Scalars]:
        """The parts of the state of a stage."""
        (ahead,) = more[AHEAD]
        pairs = zip(self.state, self.slopes(), strict=True)
        return {
            name: [x + ahead * rate for x, rate in zip(more[name], more[slope], strict=True)] for name, slope in pairs
        }

    def _packed(self, position: Scalars, velocity: Scalars) -> list[Scalar]:
        return self._space.packed(self._plant.model, position, velocity)

    def _unpacked(self, **given: Scalars) -> list[Scalar]:
        return [x for part in self._seen(given).values() for x in part]

    def _answered(self, more: Columns) -> tuple[list[Scalar], list[Scalar]]:
        """The answer of `law`, and the memory of the next instant.

        NaN at once where the law has no answer, also if what it asks for acts later: its own methods may know it.
        """
        if self._law is None:
            return self._limited(list(more.get(ADDED, [0.0] * self.forces_shape[0])), more), []
        position, rates, history = self._sensed(more)
        more, delay = {**more, "position": position.values, "velocity": rates}, self.given.delay
        queue = np.reshape(law_array(more.get(QUEUE, [])), (delay, *self.forces_shape))
        asked, suspicions = self._law.forces(more)
        known = pushed(law_array(asked), queue)
        wanted = elements(known[delay] + law_array(more[ADDED]) if ADDED in more else known[delay])
        answer = self._limited(wanted, more)
        memory, others = self._law.renewed(more, answer[: len(asked)])
        late = tuple(x * x / HUGE_SQUARE for x in asked) if delay else ()
        looked_at = (*position.suspicions, *suspicions, *others)
        judged = position._replace(values=answer, doubts=(*position.doubts, *late), suspicions=looked_at)
        return self._tainted(judged), [*memory, *history, *elements(known[:delay])]

    def _sensed(self, more: Columns) -> tuple[Judged, Scalars, list[Scalar]]:
        """Position and velocity that the law sees, and the sensors' history of the next instant."""
        seen, sensing = self._seen(more), self.given.sensing
        if sensing is None:
            return Judged([*seen["position"]]), seen["velocity"], []
        positions = TraceableRobot(self._plant).positions
        position, velocity = map(law_array, seen.values())
        noise, history = law_array(more.get(NOISE, [])), law_array(more.get(HISTORY, []))
        earlier, coordinates = history.reshape(sensing.history_shape), positions.coordinates(position)
        measured, rates, later = map(elements, sensing.read(positions, coordinates, velocity, noise, earlier))
        return self._space.at(self._plant.model, measured, seen["position"]), rates, later

    def _limited(self, wanted: list[Scalar], more: Columns) -> list[Scalar]:
        """The forces that the actuators give, followed by what is wanted where there are limits."""
        if not self.limits:
            return wanted
        pairs = list(zip(wanted, more[LIMITS], strict=True))
        below = [select(most, force, most, force) for force, most in pairs]  # what is NaN stays so
        force = [select(x, -most, -most, x) for x, (_, most) in zip(below, pairs, strict=True)]
        return [*force, *wanted]

    def _seen(self, more: Columns) -> dict[str, Scalars]:
        """Position and velocity."""
        y = self._y(more)
        return {"position": self._space.position(self._plant.model, y), "velocity": self._space.velocity(y)}

    def _model(self, more: Columns) -> tuple[Any, dict[str, Scalars]]:
        """The plant as formulas take it, and its loads."""
        varied = {name: more[name] for name in self.given.fields if name != PAYLOAD.name}
        loads = {PAYLOAD.name: more[PAYLOAD.name]} if PAYLOAD.name in self.given.fields else {}
        return (self._plant.varied_model(varied) if varied else self._plant.model), loads

    def _stepped(self, force: Scalars, more: Columns) -> list[Scalar]:
        """`integrators.rk4` over arrays of whatever scalars these are, and the state renewed; NaN where it is not good.

        The plant's own methods must take that step.
        """
        model, loads = self._model(more)
        space, doubts, preferences = self._space, list[Scalar](), list[Scalar]()

        def rates(_: float, y: Array) -> Array:
            found = space.rates(model, list(y), force, loads)
            doubts.extend(found.doubts)
            preferences.extend(found.preferences)
            return np.array(found.values, dtype=object)

        values, *last = self._renewed(model, list(rk4(rates, 0.0, np.array(self._y(more), dtype=object), self.h)))
        return self._tainted(Judged(values, (*doubts, *last[0]), (*preferences, *last[1])))

    def _renewed(self, model: Any, y: Scalars) -> Judged:
        """The state after a step; it is not good where the motion has run away."""
        found = self._space.renewed(model, y)
        return found._replace(doubts=(*found.doubts, *(x * x * (1 / FAR**2) for x in found.values)))

    def _tainted(self, found: Judged) -> list[Scalar]:
        """The values, NaN where they are not good."""
        taint: Scalar = 0.0
        suspicions = () if self._most == ALONE else found.suspicions
        for group, most in ((found.doubts, 1.0), (found.preferences, self._most), (suspicions, 1.0)):
            for number in group:
                taint = select(number, most, taint, math.nan)
        return [value + taint for value in found.values]

    def _specified(
        self, name: str, formula: Formula, arguments: Shapes, results_: tuple[Shape, ...], *, law: bool = False
    ) -> Specification:
        origin = self._law_origin if law else self._origin
        cores = tuple(arguments.items())
        return Specification(
            name, f"{name} of a rollout", lambda: traced(formula, arguments), cores, results_, origin, large=True
        )


def field_shape(plant: Robot, name: str) -> Shape:
    return PAYLOAD.core if name == PAYLOAD.name else plant.varying_fields[name]


def traced(formula: Formula, arguments: Shapes) -> Graph:
    counts = {name: math.prod(core) for name, core in arguments.items()}
    return trace(lambda *columns: formula(**dict(zip(arguments, columns, strict=True))), counts)
