"""Base class of controllers, and checks of robots and gains that laws share."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MethodType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_numbers
from tauforge.errors import ModelError, TauforgeError
from tauforge.evaluation.unmodified import ours
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot
from tauforge.validation import counted

GAIN_ROUNDING = 1e-12  # of gain matrices, relative to the largest entry: what rounding leaves of symmetry and of zeros


class Feedback(NamedTuple):
    """Answer of a law to errors e of the position: -kp e - kv e'.

    kp, kv:    (n, n) 1/s^2 and 1/s, in accelerations; or (m, m), in forces of the actuators by their own coordinates
    of_forces: whether the latter
    """

    kp: Array
    kv: Array
    of_forces: bool = False


@ours
class Controller(ABC):
    """Actuator forces from time, measured position and velocity, and the motion's sample at that time.

    Positions and velocities are joint coordinates and their rates for an arm, poses and twists for a platform, and in
    general what the robot's dynamics take: one state (n,), or one for each of many robots (..., n). The sample's
    positions are coordinates; those of a mechanism with loops are fewer than the entries of a position.
    """

    robot: Robot  # the law's model; a law without one need not have it
    task_space = False  # whether the target is a pose of the robot's tool
    period: float | None = None  # s, between two calls, for laws that keep a memory
    # whether `force` and `update` are arithmetic on their arguments, attributes and what methods of the robot return
    traceable = False
    memory: tuple[str, ...] = ()  # attributes that `update` renews; they begin with the values that the law has

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "compiles" in vars(cls):
            problem = f"the attribute compiles of {cls.__name__} is called traceable now"
            raise ModelError(problem, field="compiles", remedy="Write traceable = True")

    @abstractmethod
    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        """(..., m) N m or N, one for each actuator."""

    def update(
        self, t: float, position: Array, velocity: Array, target: MotionSample, force: Array
    ) -> Mapping[str, ArrayLike]:
        """The memory by name after an instant at which the actuators give these forces (..., m)."""
        return {}

    def feedback(self) -> Feedback | None:
        """The law about its target, for the warning about loops that are sampled too slowly; None if not known."""
        return None

    def reset(self) -> None:  # noqa: B027 - most controllers have nothing to forget
        """Forget what was learnt; called when a simulation starts."""


def parameters(law: Controller) -> dict[str, Array]:
    """Numbers and arrays of floats among the attributes, which `rollout` takes as `gains`."""
    found = {k: np.asarray(v) for k, v in vars(law).items() if isinstance(v, float | np.ndarray)}
    return {k: x for k, x in found.items() if x.dtype == np.float64 and k not in (*law.memory, "period")}


def memory_of(law: Controller) -> dict[str, Array]:
    """The memory of a law when a run begins, by name. ModelError where that is no array of finite numbers."""
    found = {}
    for name in law.memory:
        try:
            value = real_numbers(getattr(law, name, np.nan), "biuf").astype(float)
        except ValueError:
            value = np.full((), np.nan)
        if not np.isfinite(value).all():
            problem = f"{type(law).__name__} remembers {name!r}, and has no attribute of that name with finite numbers"
            raise ModelError(problem, field="memory", remedy="Set it in __init__ to what it is when a run begins")
        found[name] = value
    return found


class RunningLaw:
    """A law in a run, with what it remembers; the user's own law is left as it is.

    rows: (), or (N,) for a memory of each of N rows
    """

    def __init__(self, law: Controller, rows: tuple[int, ...] = ()) -> None:
        start = memory_of(law)
        self._shapes = {name: (*rows, *value.shape) for name, value in start.items()}
        own = {name: np.broadcast_to(x, self._shapes[name]).copy() for name, x in start.items()}
        self._law = with_attributes(law, own) if own else law

    def force(self, t: float, position: Array, velocity: Array, target: MotionSample) -> Array:
        """The law gets copies, which it may change: neither the state nor what `remember` gets is changed by it."""
        copied = position.copy(), velocity.copy(), MotionSample(*(x.copy() for x in target))
        return np.asarray(self._law.force(t, *copied), float)

    @property
    def memory(self) -> list[Array]:
        return [getattr(self._law, name) for name in self._shapes]

    def recall(self, memory: Sequence[Array]) -> None:
        """Go on with another memory."""
        pairs = zip(self._shapes.items(), memory, strict=True)
        set_attributes(self._law, {name: value.reshape(shape) for (name, shape), value in pairs})

    def remember(self, t: float, position: Array, velocity: Array, target: MotionSample, force: Array) -> None:
        """Take the memory of the next instant. ModelError where `update` gives another one than the law has."""
        if not self._shapes:
            return
        renewed = self._law.update(t, position, velocity, target, force)
        try:
            found = {k: np.broadcast_to(np.array(renewed[k], float), shape) for k, shape in self._shapes.items()}
        except (KeyError, TypeError, ValueError) as error:
            problem = f"update of {type(self._law).__name__} must return arrays of the shapes {self._shapes}: {error!r}"
            raise ModelError(problem, field="memory") from None
        set_attributes(self._law, found)


def with_attributes(law: Controller, values: Mapping[str, Any]) -> Controller:
    """A copy with other attributes; methods set on the law are its own."""
    copied = copy.copy(law)
    for name, method in list(vars(copied).items()):
        if isinstance(method, MethodType) and method.__self__ is law:
            vars(copied)[name] = MethodType(method.__func__, copied)
    set_attributes(copied, values)
    return copied


def set_attributes(law: Controller, values: Mapping[str, Any]) -> None:
    """Also where the attributes are slots or properties, or the law is frozen."""
    for name, value in values.items():
        object.__setattr__(law, name, value)


def check_has(law: object, robot: Robot, there: bool, called: str) -> None:
    """ModelError where a robot lacks what a law needs. called: what messages call it"""
    if not there:
        problem = f"{type(law).__name__} needs a robot with {called}; {robot.kind} {robot.name} has none"
        raise ModelError(problem, field="robot")


def check_actuated(law: object, robot: Robot) -> None:
    """ModelError where a law that asks for any acceleration has too few actuators, or a robot without masses."""
    n, m = robot.n, len(robot.actuators)
    if m < n:
        got = f"{robot.name} has {m} for {n} coordinates"
        problem = f"{type(law).__name__} needs an actuator for every coordinate; {got}"
        raise ModelError(problem, field="robot", remedy="Use a law of your own")
    check_inverse_dynamics(law, robot)


def check_inverse_dynamics(law: object, robot: Robot, remedy: str = "Use a law of your own") -> None:
    """ModelError where a robot's own inverse dynamics lacks masses or actuators."""
    try:
        robot.check_function("inverse_dynamics")
    except TauforgeError as error:
        problem = f"{type(law).__name__} needs inverse dynamics; {error.reason}"
        raise ModelError(problem, field="robot", remedy=remedy) from None


def check_actuator_motion(law: object, robot: Robot) -> None:
    """ModelError where a robot has no actuators, or does not give the motion of each."""
    m = len(robot.actuators)
    check_has(law, robot, m > 0, "an actuator")
    if m == robot.n:
        return  # by default actuators move as the coordinates do; others are tried at a state
    position, velocity, _ = (x[0] for x in robot.random_states(1))
    given = [np.shape(x) for x in robot.sensors.motion(position, velocity)]
    if given != [(m,), (m,)]:
        got = f"sensors.motion of {robot.name} gives shapes {given[0]} and {given[1]} for {counted(m, 'actuator')}"
        problem = f"{type(law).__name__} needs position and velocity of every actuator; {got}"
        remedy = "Give it `sensors` of its actuators, or use a law of your own"
        raise ModelError(problem, field="robot", remedy=remedy)


def times(K: Array, errors: Array) -> Array:
    """K e for every row of errors (..., n)."""
    return np.asanyarray(errors @ K.T)


def gain_matrix(name: str, gain: ArrayLike, n: int) -> Array:
    """(n, n) from a number, n numbers or a matrix."""
    try:
        K = real_numbers(gain).astype(float)  # a copy: later changes of the caller's array would not be checked
    except ValueError:
        K = np.full((), np.nan)
    if K.shape == ():
        K = np.eye(n) * K
    elif K.shape == (n,):
        K = np.diag(K)
    if K.shape != (n, n) or not np.isfinite(K).all():
        raise ModelError(f"expected a number, {n} numbers or a matrix ({n}, {n}), got {gain!r}", field=name)
    return K


def pulling_matrix(name: str, gain: ArrayLike, n: int) -> Array:
    """The same; ModelError where e' K e is negative for an error e, which such a feedback increases."""
    K = gain_matrix(name, gain, n)
    smallest = np.linalg.eigvalsh(K + K.T).min() / 2
    if smallest < -GAIN_ROUNDING * np.abs(K).max(initial=0.0):
        fault = f"e' K e must not be negative, and is {smallest:.4g} for an e of length 1"
        raise ModelError(f"the gain increases some errors: {fault}", field=name, remedy="Reverse its sign")
    return K
