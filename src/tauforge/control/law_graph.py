"""A law as graphs: forces, and what its memory becomes, recorded from anybody's class over scalars.

A law of exactly our own classes is recorded when its graph is needed; its class and numbers identify it. Any other is
recorded now, twice, and its forces compared with those of its graph at a state: `NoKernelError` says where and why it
cannot be recorded. Its graph identifies it.
"""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from tauforge.algebra.scalars import FoldingScalar, Scalar, is_number
from tauforge.class_tools import computed_once
from tauforge.control import law_watch
from tauforge.control.controller import Controller, memory_of, parameters, set_attributes
from tauforge.control.law_arrays import elements, law_array
from tauforge.control.traceable_robot import TraceableRobot, kernel_stands_for
from tauforge.errors import TauforgeError
from tauforge.evaluation.unmodified import is_unmodified, plain_class
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.specification import Shape
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot
from tauforge.tracing.graph import Graph, UntraceableError, trace

Scalars = Sequence[Scalar]
Columns = Mapping[str, Scalars]
TARGETS = ("target", "target_rate", "target_acceleration")
TIME, FORCE = "time", "force"
AGREEMENT = 1e-7  # of forces with those of the graph at one state, relative
SOME_TIME = 0.3  # s, of that state


def gain_argument(name: str) -> str:
    """Name of a gain in kernels: the plant may have a field of the same name."""
    return f"gain_{name}"


def memory_argument(name: str) -> str:
    return f"memory_{name}"


class LawGraph:
    """A law over any scalars.

    shape:      of what `force` gives, by default one number for each actuator
    gains:      shapes of the parameters that are arguments
    memory:     shapes of what it remembers, by the names of arguments
    targets:    shapes of what is prescribed at an instant: the target, and the time if the law looks at it
    origin:     a text that determines the law
    """

    def __init__(self, law: Controller, plant: Robot, gains: Sequence[str] = (), *, shape: Shape | None = None) -> None:
        self._name, self._place, self._plant = type(law).__name__, law_watch.place_of_method(law.force), plant
        self._given, self._own = law, parameters(law)
        self._start = memory_of(self._law) if law.memory else {}
        self.gains = {gain_argument(name): self._own[name].shape for name in gains}
        self.memory = {memory_argument(name): value.shape for name, value in self._start.items()}
        self._held = {gain_argument(k): k for k in gains} | {memory_argument(k): k for k in self._start}
        self._forces_shape = (len(plant.actuators),) if shape is None else shape
        self._shapes: dict[str, Shape] = {
            "position": (plant.positions.size,),
            "velocity": (plant.n,),
            **dict.fromkeys(TARGETS, (6 if law.task_space else plant.n,)),
            TIME: (),
            **self.gains,
            **self.memory,
        }
        known, prescribed = self._origin(law, gains), list(TARGETS)
        if known is None:
            try:
                graphs = self._recorded()
            except NoKernelError:
                law.reset()  # what it keeps in globals and classes has seen the calls
                raise
            vars(self).update(zip(("forces_graph", "memory_graph"), graphs, strict=True))
            if any(node.name == f"{TIME}0" for graph in graphs for node in graph.nodes):
                prescribed.append(TIME)
            known = f"graph {hashlib.sha256(repr(graphs).encode()).hexdigest()}"
        self.origin, self.targets = known, {name: self._shapes[name] for name in prescribed}
        del self._plant

    def _origin(self, law: Controller, gains: Sequence[str]) -> str | None:
        """Class, numbers and model of a law of exactly our own; None for others."""
        ours, model = plain_class(law), getattr(law, "robot", None)
        words = {name: value for name, value in vars(law).items() if type(value) in (str, type(None))}
        if ours is None or self._start or not is_unmodified(model) or vars(law).keys() != {*self._own, *words, "robot"}:
            return None
        if not {float, np.ndarray, type(model)}.issuperset(type(vars(law)[name]) for name in vars(law).keys() - words):
            return None
        if model is None or model.identity is None:
            return None
        constants = {name: value.tolist() for name, value in self._own.items() if name not in gains}
        model_text = f"{type(model).__qualname__} {model.identity}"
        return f"{ours.__module__}.{ours.__qualname__} {constants} {words} {model_text}"

    # ------------------------------------------------------------------------------------------------ over any scalars

    def forces(self, given: Columns) -> tuple[list[Scalar], list[Scalar]]:
        """The forces, and suspicions of the law's robot: where one is not below 1, its own methods know better."""
        found = self.forces_graph.evaluate(named(given))
        return found[: self._forces_shape[0]], found[self._forces_shape[0] :]

    def renewed(self, given: Columns, force: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """The memory after an instant at which the actuators gave these forces, and suspicions as of `forces`."""
        count = sum(map(math.prod, self.memory.values()))
        found = self.memory_graph.evaluate(named({**given, FORCE: force}))
        return found[:count], found[count:]

    @computed_once
    def forces_graph(self) -> Graph:
        return self._traced("force")

    @computed_once
    def memory_graph(self) -> Graph:
        return self._traced("update")

    # ----------------------------------------------------------------------------------------------------- recording

    @computed_once
    def _law(self) -> Any:
        """The law with stand-ins for its robots, and nothing that it shares with the user's."""
        stand_ins = dict[int, TraceableRobot]()
        for robot in robots_of(self._given):
            if not kernel_stands_for(robot, "inverse_dynamics"):
                raise NoKernelError(f"{robot.name} has methods of its own, which {self._name} may call")
            stand_ins[id(robot)] = TraceableRobot(copy.copy(robot))  # kernels must not keep a robot alive
        self._robots = [*stand_ins.values()]
        return self._copied(stand_ins)

    def _copied(self, robots: Mapping[int, Any]) -> Any:
        """robots: in the copy, by the `id` of those of the law"""
        try:
            copied = copy.deepcopy(self._given, dict(robots))
        except Exception as error:
            raise NoKernelError(f"{self._place}: {self._name} cannot be copied: {error}") from None
        if copied is self._given:
            raise NoKernelError(f"{self._place}: a copy of {self._name} is the law itself")
        return copied

    def _recorded(self) -> tuple[Graph, Graph]:
        """Both graphs, recorded twice and compared with each other and with the law."""
        watches, found = [], []
        with law_watch.random_numbers_kept():
            before = law_watch.attributes(self._law, self._held.values())
            for _ in range(2):
                with law_watch.CallWatch() as watch:
                    found.append((self._traced("force"), self._traced("update")))
                if watch.deed is not None:
                    raise NoKernelError(watch.deed)
                watches.append(watch)
            after = law_watch.attributes(self._law, self._held.values())
        problem = watches[0].problem(watches[1], before, after)
        if problem is None and repr(found[0]) != repr(found[1]):  # NaN is not equal to itself
            problem = f"{self._place}: two calls with the same arguments give different forces"
        problem = problem or self._disagreement(*found[0])
        if problem is not None:
            raise NoKernelError(problem)
        return found[0]

    def formula(self, method: str = FORCE) -> tuple[Callable[..., list[Scalar]], dict[str, int]]:
        """`force` or `update` over columns of scalars, and how many these are, by names."""
        shapes = self._shapes | ({FORCE: self._forces_shape} if method == "update" else {})

        def formula(*columns: list[Scalar]) -> list[Scalar]:
            given = zip(shapes.items(), columns, strict=True)
            columns_ = {name: law_array(x).reshape(shape) for (name, shape), x in given}
            return self._asked(self._law, method, columns_)

        return formula, {name: math.prod(shape) for name, shape in shapes.items()}

    def _traced(self, method: str) -> Graph:
        """The graph of `force` or `update`. NoKernelError with the line where it cannot be recorded."""
        if method == "update" and not self.memory:
            return Graph((), ())
        try:
            return trace(*self.formula(method))
        except Exception as error:
            where = law_watch.place_of(error.__traceback__) or self._place
            kind = "" if isinstance(error, NoKernelError | UntraceableError) else f"{type(error).__name__}: "
            raise NoKernelError(f"{where}: {kind}{error}") from error

    def _asked(self, law: Controller, method: str, given: Mapping[str, Any]) -> list[Scalar]:
        """The forces, or what the memory becomes, one number after another."""
        given = {name: value.copy() for name, value in given.items()}  # which the law may change
        for robot in self._robots:
            robot.suspicions.clear()
        held = {name: given[argument] for argument, name in self._held.items()}
        before = {name: value.copy() for name, value in held.items()}
        set_attributes(law, held)
        target = MotionSample(*(given[name] for name in TARGETS))
        state = given[TIME], given["position"], given["velocity"], target
        if method == FORCE:
            found: Mapping[str, Any] = {FORCE: law.force(*state)}
            shapes = {FORCE: self._forces_shape}
        else:
            found = law.update(*state, given[FORCE])
            shapes = {name: value.shape for name, value in self._start.items()}
        for name, value in held.items():
            same = map(is_, value.flat, before[name].flat) if value.dtype == object else value.flat == before[name].flat
            if getattr(law, name) is not value or not all(same):
                raise NoKernelError(f"{name} is changed by {method}; the new memory is what update returns")
        answer = [x for name, shape in shapes.items() for x in numbers_of(found[name], shape, method)]
        return answer + [x for robot in self._robots for x in robot.suspicions]

    def _disagreement(self, *graphs: Graph) -> str | None:
        """Reason if the law, with its own robots, does not give numbers what it gives scalars that record."""
        law = self._copied({id(robot): robot for robot in robots_of(self._given)})
        random = np.random.default_rng(0)
        given: dict[str, Any] = {name: random.uniform(-1, 1, shape) for name, shape in self._shapes.items()}
        given |= {argument: self._own[name] for argument, name in self._held.items() if name in self._own}
        try:
            given["position"], given["velocity"], _ = (x[0] for x in self._plant.random_states(1))
        except TauforgeError as error:
            return f"there is no state at which to compare what was recorded: {error.reason}"
        given[TIME], given[FORCE] = np.float64(SOME_TIME), random.uniform(-1, 1, self._forces_shape)
        columns = {name: [*np.ravel(value)] for name, value in given.items()}
        for method, graph in zip((FORCE, "update"), graphs, strict=True):
            if graph.outputs:
                with np.errstate(all="ignore"):
                    wanted = np.array(graph.evaluate(named(columns)), float)
                    try:
                        found = np.array(self._asked(law, method, given), float)
                    except Exception as error:
                        return f"{law_watch.place_of(error.__traceback__) or self._place}: {error}"
                wanted, suspicions = np.split(wanted, [len(found)])
                allowed = AGREEMENT * np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
                if (suspicions < 1).all() and not np.allclose(found, wanted, AGREEMENT, allowed, equal_nan=True):
                    return f"{self._place}: {method} gives numbers another answer than scalars that are recorded"
        return None


def robots_of(law: Controller) -> list[Robot]:
    """Those among the attributes of a law, and of the laws that it is made of."""
    inner = [robot for x in vars(law).values() if isinstance(x, Controller) for robot in robots_of(x)]
    return [x for x in vars(law).values() if isinstance(x, Robot)] + inner


def numbers_of(answer: Any, shape: Shape, method: str) -> list[Scalar]:
    """The elements of an answer of this shape."""
    found = elements(answer)
    if np.shape(answer) != shape or not all(is_number(x) or isinstance(x, FoldingScalar) for x in found):
        raise NoKernelError(f"{method} gives elements {np.shape(answer)}; expected numbers {shape}")
    return [float(x) if is_number(x) else x for x in found]


def named(given: Columns) -> dict[str, Scalar]:
    """The elements of arguments by the names of the graph's inputs."""
    return {f"{name}{k}": x for name, scalars in given.items() for k, x in enumerate(scalars)}
