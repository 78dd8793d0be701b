"""`tf.World`: copies of a robot that stay in memory and are stepped under forces that the caller chooses.

Environments for learning and samplers ask for one step at a time. All that a run prepares, such as the plan of the time
loop, is made once here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import Lock
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_numbers
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.arguments import check_values, in_rows
from tauforge.evaluation.array_libraries import choice_of, module_of
from tauforge.kernels.cuda import arrays
from tauforge.kernels.cuda.arrays import KERNEL_DTYPES, is_on_gpu
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.simulation import checks
from tauforge.simulation.integrators import FAR, ran_away
from tauforge.simulation.recording import MACHINE_CODE
from tauforge.simulation.rollout_task import rollout_task
from tauforge.simulation.stability import warn_of_stiffness
from tauforge.simulation.task import RolloutTask
from tauforge.simulation.world_rows import Found, rows_of
from tauforge.validation import shown

NO_START = f"at the reset it was beyond {FAR:g}, not finite, or without closed loops"
NOWHERE = nullcontext()


class World:
    """n copies of a robot. Each is a row, which is stepped under given forces and starts again when it is told to.

    robot:        what moves
    n:            rows
    step:         s, of the integrator, which is classical Runge-Kutta
    varying:      fields of the robot, an array with a leading n each, as in `rollout`
    payload:      what the robot holds, one or a batch of n
    force_limits: (m,) or (n, m) largest sizes of the actuator forces, or "robot" for the robot's own; None for no limit
    like:         an array of NumPy (the default), torch, JAX or CuPy: results are arrays of its library. If it is on a
                  GPU, all rows are there, in its precision

    Arrays of torch and JAX on the processor may also be given without `like`: the answer to a call is of their library.
    Every result has memory of its own. Steps are not differentiated, nor recorded by `jax.jit`
    (`differentiable_rollout` gives gradients). A thread that steps or resets a world waits for others that do.
    A row that runs away, beyond 1e9 rad, m or a rate, or that has no accelerations, is NaN until it is reset, and
    touches no other row.
    Identity: steps under forces are those of `rollout(forces=...)`, to the last bit.
    """

    def __init__(
        self,
        robot: Robot,
        n: int = 256,
        *,
        step: float = 2e-3,
        varying: Mapping[str, ArrayLike] | None = None,
        payload: Payload | None = None,
        force_limits: ArrayLike | str | None = None,
        like: Any = None,
    ) -> None:
        checks.check_robot("robot", robot)
        self.robot, self.n, self.like = robot, checks.whole_number("n", n), like
        initial = _start(robot, self.n, like)
        given: dict[str, Any] = {"varying": varying, "payload": payload, "force_limits": force_limits}
        task = rollout_task(robot, initial=initial, step=step, duration=step, control_period=step, **given)
        m, limits, dtype = len(robot.actuators), task.limits, task.position.dtype
        self._lock = Lock()
        self._count, self._begun = 0, np.zeros(self.n, int)  # steps: those made, and those made when a row was reset
        self._shapes, self._fields = [(self.n, m), (m,)], dict[str, Array]()
        self._xp: Any = arrays.cupy() if task.on_gpu else np
        self._place = _place_of(task, like)
        with self._place():
            whole = {name: (self.n, *robot.varying_fields[name]) for name in task.fields}
            fields = {k: self._xp.array(self._xp.broadcast_to(task.fields[k], whole[k]), dtype) for k in whole}
            self._task = task._replace(limits=None, fields=fields)
            self._rows, self._zero = rows_of(self._task), self._xp.zeros(m, dtype)
            self._limits = None if limits is None else [self._xp.asarray(x, dtype) for x in (-limits, limits)]
        if self._xp is np:
            self._fields = in_rows(robot, self._task.plant_fields, self.n)
            warn_of_stiffness(robot, task.position, task.schedule.step, fields=self._fields)
        self.reset()

    def __repr__(self) -> str:
        return f"World({self.robot.name}, n={self.n}, step={self._task.schedule.step:g})"

    def __reduce__(self) -> NoReturn:
        remedy = "Make another World, and reset it with this one's position and velocity"
        raise UnsupportedFeatureError("a World has memory that is not copied", field="copy", remedy=remedy)

    def step(self, forces: ArrayLike | None = None, *, steps: int = 1) -> tuple[Any, Any]:
        """Positions (n, N) and velocities (n, n) after steps under forces.

        forces: (n, m) or (m,) N m or N, held over all steps; None for none
        """
        count = checks.whole_number("steps", steps)
        with self._lock, self._place():
            found = self._rows.step(self._forces(forces), count)
            self._count += count
            return self._answer(found, forces)

    def reset(
        self,
        rows: ArrayLike | None = None,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        *,
        varying: Mapping[str, ArrayLike] | None = None,
    ) -> tuple[Any, Any]:
        """Positions (n, N) and velocities (n, n) of all rows, after some were given another state.

        rows:     their numbers (k,), or a mask (n,); None for all
        position: (k, N) or (N,); coordinates (k, n) or (n,) will do; None for the robot's default position
        velocity: (k, n) or (n,); None for rest
        varying:  other numbers of fields that the World was made with, (k, ...), or one for all these rows
        """
        chosen, robot = self._chosen(rows), self.robot
        q = robot.positions.default if position is None else self._state("position", position, len(chosen))
        qd = np.zeros(robot.n) if velocity is None else self._state("velocity", velocity, len(chosen))
        checks.check_by_name("varying", varying)
        with self._lock:
            self._vary(chosen, varying or {})
            return self._put(chosen, q, qd, position, velocity)

    def _put(self, chosen: Array, q: Array, qd: Array, *given: Any) -> tuple[Any, Any]:
        robot, space = self.robot, self.robot.state_space
        q, qd = (np.broadcast_to(x, (len(chosen), x.shape[-1])) for x in (robot.positions.at(q, on_failure="nan"), qd))
        with np.errstate(all="ignore"):
            y = np.array(space.pack(q, qd))
            lost = dict.fromkeys(np.flatnonzero(ran_away(y)).tolist(), NO_START)
            if self._xp is np:  # as in `rollout`
                lost |= space.start_refusals(q, qd, {name: x[chosen] for name, x in self._fields.items()})
        y[list(lost)] = np.nan
        self._begun[chosen] = self._count
        reasons = self.reasons
        if reasons is not None:
            for row in reasons.keys() & chosen.tolist() if reasons else ():
                del reasons[row]
            reasons.update((int(chosen[k]), why) for k, why in lost.items())
        with self._place():
            self._rows.put(chosen, y)
            return self._answer(self._rows.read(), *given)

    @property
    def position(self) -> Any:
        """(n, N) rad or m; of a platform poses; of a mechanism with loops all of its joints."""
        return self._now[0]

    @property
    def velocity(self) -> Any:
        """(n, n) rad/s or m/s; of a platform twists."""
        return self._now[1]

    @property
    def time(self) -> Array:
        """(n,) s since each row was reset, as an array of NumPy."""
        return self._task.schedule.step * (self._count - self._begun)

    @property
    def reasons(self) -> dict[int, str] | None:
        """Reasons for which rows are NaN, by their numbers; None on a GPU."""
        return None if self._rows.loop is None else self._rows.loop.reasons

    @property
    def stepped_by(self) -> str:
        """As in `Recording`."""
        return MACHINE_CODE if self._rows.loop is None else self._rows.loop.stepped_by

    @property
    def _now(self) -> tuple[Any, Any]:
        with self._place():
            return self._answer(self._rows.read())

    def _forces(self, given: Any) -> Any:
        """(n, m) or (m,), where the rows are, within the limits."""
        if given is None:
            return self._zero
        if self._xp is not np:
            force = arrays.on_device("forces", given)
            if force.dtype != self._zero.dtype:
                raise ShapeError("forces", expected=f"{self._zero.dtype} numbers", got=str(force.dtype))
        elif type(given) is np.ndarray and given.dtype == float:
            force = given
        else:
            if is_on_gpu(given):
                hint = "Make the World with like=, an array on that GPU"
                raise ShapeError("forces", expected="an array where the rows are", got="one on a GPU", hint=hint)
            force = checks.numbers(_here("forces", given))
        if force.shape not in self._shapes:
            rows, one = self._shapes
            got = str(force.shape) if force.ndim else shown(given)
            raise ShapeError("forces", expected=f"{rows} or {one} numbers", got=got)
        if self._limits is not None:
            least, most = self._limits
            force = self._xp.minimum(self._xp.maximum(force, least), most)
        return force

    def _chosen(self, rows: Any) -> Array:
        """(k,) row numbers."""
        if rows is None:
            return np.arange(self.n)
        try:
            found = real_numbers(_here("rows", rows), "biuf")
        except ValueError:
            found = np.array(np.nan)
        if found.dtype.kind == "b" and found.shape == (self.n,):
            return np.flatnonzero(found)
        found = np.atleast_1d(found.astype(int) if not found.size else found)
        if found.dtype.kind not in "iu" or found.ndim > 1 or ((found < 0) | (found >= self.n)).any():
            raise ShapeError(
                "rows", expected=f"row numbers from 0 to {self.n - 1}, or a mask ({self.n},)", got=shown(rows)
            )
        return found

    def _state(self, name: str, given: Any, rows: int) -> Array:
        """(rows, numbers) or (numbers,)"""
        sizes = checks.position_sizes(self.robot) if name == "position" else (self.robot.n,)
        found = checks.numbers(_here(name, given))
        if found.shape not in [shape for size in sizes for shape in ((rows, size), (size,))]:
            expected = " or ".join(f"({rows}, {size}), ({size},)" for size in sizes)
            raise ShapeError(name, expected=f"{expected} numbers", got=str(found.shape) if found.ndim else shown(given))
        return found

    def _vary(self, rows: Array, varying: Mapping[str, ArrayLike]) -> None:
        """Give rows other numbers of the robot."""
        fields, found = self._task.fields, check_values(self.robot, {k: _here(k, x) for k, x in varying.items()})
        for name, value in found.items():
            if name not in fields:
                remedy = f"Give varying={{{name!r}: ...}} when the World is made"
                raise UnsupportedFeatureError(f"{name!r} of this World does not vary", field="varying", remedy=remedy)
            core = self.robot.varying_fields[name]
            if value.shape not in (core, (len(rows), *core)):
                raise ShapeError(name, expected=f"{(len(rows), *core)} or {core} numbers", got=str(value.shape))
        if not found:
            return
        with self._place():
            for name, value in found.items():
                fields[name][self._xp.asarray(rows)] = self._xp.asarray(value, fields[name].dtype)
            self._rows.vary()
        if self._xp is np:
            self._fields = in_rows(self.robot, self._task.plant_fields, self.n)

    def _answer(self, found: Found, *given: Any) -> tuple[Any, Any]:
        """Arrays of the library of what was given, or else of `like`."""
        choice = choice_of((*given, self.like))
        if choice is not None and self._xp is not np:
            kept = isinstance(choice.first, type(found[0]))
            found = found if kept else [choice.library.namespace.from_dlpack(x) for x in found]
        elif choice is not None:
            found = [choice.library.array_like(x, choice.first) for x in found]
        position, velocity = found
        return position, velocity


def _place_of(task: RolloutTask, like: Any) -> Callable[[], AbstractContextManager[Any]]:
    """Makes contexts in which CuPy works on the GPU of `like`, and on the stream of its library if that names one."""
    choice = choice_of((like,))
    if choice is None or not task.on_gpu:
        return lambda: NOWHERE
    on_stream_of = getattr(choice.library, "on_stream_of", None)
    return (lambda: task.device) if on_stream_of is None else partial(on_stream_of, like)


def _start(robot: Robot, rows: int, like: Any) -> tuple[Any, Any]:
    """Default positions and rest, on the GPU of `like` if it is on one."""
    q, qd = np.tile(robot.positions.default, (rows, 1)), np.zeros((rows, robot.n))
    if like is not None and not isinstance(like, np.ndarray) and module_of(like) is None:
        raise ShapeError("like", expected="an array of NumPy, torch, JAX or CuPy", got=shown(like))
    if not is_on_gpu(like):
        return q, qd
    model = arrays.on_device("like", like)
    if str(model.dtype) not in KERNEL_DTYPES:
        raise ShapeError("like", expected="float64 or float32 numbers", got=str(model.dtype))
    with model.device:
        return arrays.cupy().asarray(q, model.dtype), arrays.cupy().asarray(qd, model.dtype)


def _here(name: str, value: Any) -> Any:
    """The value in the processor's memory, for NumPy."""
    if is_on_gpu(value):
        return arrays.on_device(name, value).get()
    choice = choice_of((value,))
    return value if choice is None else choice.library.values_of(value, "a World")
