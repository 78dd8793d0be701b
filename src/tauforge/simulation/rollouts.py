"""`tf.rollout`: thousands of simulations at once, so that a Monte Carlo study is one call.

A law that is arithmetic on the robot's dynamics (computed torque and the proportional ones), the dynamics and the
integrator are traced into kernels that call one another (`CompiledLoop`) where the robot has formulas of its state.
Rows that such a kernel refuses are stepped by the robot's own methods (`MethodLoop`). Otherwise the law, and then the
kernel of the dynamics, are called for all rows at once between steps of the same Runge-Kutta. A robot with a method
accelerations or forward_dynamics of its own is called row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.arguments import in_rows
from tauforge.motion.motion import Motion
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.simulation.compiled_loop import CompiledLoop, compiled_loop
from tauforge.simulation.disturbances import WrenchFunction
from tauforge.simulation.gpu_rollouts import gpu_records
from tauforge.simulation.integrators import FAR, RAN_AWAY, ran_away
from tauforge.simulation.method_loop import MethodLoop
from tauforge.simulation.recording import MACHINE_CODE
from tauforge.simulation.rollout_result import Rollout
from tauforge.simulation.rollout_task import ONE_BY_ONE, rollout_task
from tauforge.simulation.sensors import Sensors
from tauforge.simulation.stability import warn_of_stiffness
from tauforge.simulation.task import RolloutTask

Fields = Mapping[str, Array]
Report = Callable[[float], None]


def rollout(
    robot: Robot,
    controller: Controller | None = None,
    motion: Motion | None = None,
    *,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    control_period: float,
    plant: Robot | None = None,
    varying: Mapping[str, ArrayLike] | None = None,
    payload: Payload | None = None,
    gains: Mapping[str, ArrayLike] | None = None,
    forces: ArrayLike | None = None,
    force_limits: ArrayLike | str | None = None,
    sensors: Sensors | None = None,
    delay: float = 0.0,
    disturbance: WrenchFunction | None = None,
    record_every: int = 1,
    progress: bool | Report = False,
) -> Rollout:
    """One simulation for each row of the initial states, varying numbers, payloads, gains and forces.

    controller:     None for no forces but `forces`
    motion:         what the controller is to follow
    initial:        (positions, velocities), each (N, n) or (n,); default the motion's start. Positions of a mechanism
                    with loops are its independent coordinates, or all entries of a position
    duration:       s; default the motion's, or that of `forces`. The run ends with the first control period that ends
                    then or later. A motion that is over rests at its end
    step:           s, of the integrator
    control_period: s, a whole number of steps, required: the controller is asked that often and its forces are held in
                    between. `simulate` asks it continuously unless given a control period
    plant:          the robot that really moves, default `robot`
    varying:        fields of the plant, an array with a leading N each, as in its `kernel`: {"mass": (N, n)}
    payload:        what the plant really holds, one or a batch of N; the controller does not know of it
    gains:          of the controller instead of its own, numbers and arrays of floats among its attributes, with a
                    leading N each: {"kp": (N, n, n)}, or one for all rows; they are not checked for stability
    forces:         (N, periods, m) or (periods, m), N m or N: in every control period added to those of the controller
    force_limits:   (m,) or (N, m) largest sizes of the actuator forces, 0 for an actuator that gives none, or "robot"
                    for the plant's own; default none
    sensors:        what the controller sees; the noise of row k is that of `simulate` with the seed + k
    delay:          s, a whole number of control periods, after which the forces that the controller asks for act; no
                    forces act before. `forces` are not delayed
    disturbance:    as in `simulate`, (6,) or (N, 6). A function of the state is given those of all rows, (N, n)
    record_every:   keeps one control instant in so many; the last is always kept
    progress:       True for a bar on the terminal, or a callable given the share done, from 0 to 1

    Laws that can be traced run compiled. Other laws, and robots with a method accelerations or forward_dynamics of
    their own, are asked by their own methods; `stepped_by` of the result says so, with the line that cannot be traced.
    Rows that come near a singular position are left to the methods of law and robot, too, as long as these find a way.
    A row for which the law has no answer is NaN from then on.
    Rows that start where a motion moves neither mass nor inertia are NaN; `simulate` does not start there.
    Where `initial` are CuPy arrays, all rows run on their GPU in their precision, and the rows of the result are CuPy
    arrays; for laws that can be traced only. The forces must be on that GPU, too.
    StiffFrictionWarning and UnstableLoopWarning as in `simulate`; the latter for the law's own gains and the plant's
    own numbers.
    Identity: every row equals `simulate` with method="rk4" and the same control period.
    """
    given = {name: value for name, value in locals().items() if name != "progress"}
    task = rollout_task(**given)
    if controller is not None:
        controller.reset()
    if task.on_gpu:
        return rollout_of(task, *gpu_records(task, task.schedule.every))
    with _reporting(progress) as report:
        loop = loop_of(task)
        without_start(task, loop.reasons)
        with np.errstate(all="ignore"):
            found = loop.records(task.schedule.kept, report)
            without_lost(*found)
    positions, fields = at_the_ends(task, found[0])
    warn_of_stiffness(task.plant, positions, task.schedule.step, fields=fields)
    return with_reasons(rollout_of(task, *found, loop.stepped_by), loop.reasons)


def without_start(task: RolloutTask, reasons: dict[int, str]) -> None:
    """Rows at whose start the plant has no accelerations become NaN; adds the reasons."""
    fields = in_rows(task.plant, task.plant_fields, task.rows)
    refused = task.plant.state_space.start_refusals(task.position, task.velocity, fields)
    reasons.update(refused)
    task.position[list(refused)] = np.nan


def with_reasons(runs: Rollout, known: Mapping[int, str]) -> Rollout:
    """known: those of rows that have no state any more"""
    lost = np.flatnonzero(~runs.finite).tolist()
    return replace(runs, reasons={row: known.get(row, RAN_AWAY) for row in lost})


def rollout_of(task: RolloutTask, position: Any, velocity: Any, force: Any, stepped_by: str = MACHINE_CODE) -> Rollout:
    """force: with limits followed by those wanted"""
    times = task.schedule.period * np.array(task.schedule.kept)
    plant, clipped = task.plant, None
    if task.limits is not None:
        m = len(plant.actuators)
        force, wanted = force[..., :m].copy(), force[..., m:]
        clipped = abs(force) < abs(wanted)
    places = None
    if plant.positions.entries != plant.coordinates:
        places = plant.positions.coordinates(np.arange(plant.positions.size))
    target_position, target_velocity = task.targets()
    return Rollout(
        times,
        position,
        velocity,
        force,
        target_position,
        places,
        clipped,
        target_velocity,
        wrenches(task, times, position, velocity),
        task,
        stepped_by=stepped_by,
    )


def wrenches(task: RolloutTask, times: Array, position: Any, velocity: Any) -> Array | None:
    """The disturbance (k, 6) or (N, k, 6) at the recorded instants."""
    if task.disturbance is None:
        return None
    found = [task.disturbance.at(t, position[:, k], velocity[:, k]) for k, t in enumerate(times.tolist())]
    shape = np.broadcast_shapes(*(wrench.shape for wrench in found))
    return np.stack([np.broadcast_to(wrench, shape) for wrench in found], axis=-2)


def at_the_ends(task: RolloutTask, position: Array) -> tuple[Array, Fields]:
    """The first and the last of the recorded positions (N, k, n), and the plant's fields there."""
    fields = in_rows(task.plant, task.plant_fields, task.rows)
    ends = {name: np.concatenate([value] * 2) for name, value in fields.items()}
    return np.concatenate([position[:, 0], position[:, -1]]), ends


def without_lost(position: Array, velocity: Array, force: Array) -> None:
    """Sets rows (N, k, n) to NaN from the instant at which they have run away."""
    if all(x.min() >= -FAR and x.max() <= FAR for x in (position, velocity)):
        return  # most often, and this is quicker
    lost = np.logical_or.accumulate(ran_away(position) | ran_away(velocity), axis=1)
    for x in (position, velocity, force):
        x[lost] = np.nan


def loop_of(task: RolloutTask) -> CompiledLoop | MethodLoop:
    """The fastest loop that gives the right answer."""
    found = compiled_loop(task, lambda: MethodLoop(task))
    if isinstance(found, CompiledLoop):
        return found
    if task.gains:
        raise UnsupportedFeatureError(f"gains need compiled steps: {found}", field="gains", remedy=ONE_BY_ONE)
    return MethodLoop(task, found)


@contextmanager
def _reporting(progress: bool | Report) -> Iterator[Report]:
    """The given callable, or one that draws a progress bar on the terminal."""
    if not progress or callable(progress):
        yield progress or (lambda _: None)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("rollout", total=1.0)
        yield lambda share: bar.update(task, completed=share)
