"""`tf.differentiable_rollout`: gradients through thousands of simulations, by sweeping back over their steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import with_arguments_of, with_field_docs
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.evaluator import kernels_allowed
from tauforge.kernels.cuda import arrays
from tauforge.kernels.specification import Shape
from tauforge.robots.loads import PAYLOAD
from tauforge.robots.summary import summarised
from tauforge.simulation.checks import numbers
from tauforge.simulation.gpu_rollouts import GpuReversePass
from tauforge.simulation.processor_gradients import ProcessorReversePass, ReversePass
from tauforge.simulation.rollout_task import RolloutTask, RowGradients, rollout_task
from tauforge.simulation.rollouts import Rollout, at_the_ends, rollout_of, with_reasons
from tauforge.simulation.stability import warn_of_stiffness


@summarised
@with_field_docs
class RolloutGradient(NamedTuple):
    """The gradient of a number by everything that a rollout was given, each of the shape it was given in.

    position: (N, n) or (n,), by the initial positions
    velocity: likewise
    gains:    by the arrays of `gains`
    varying:  by the arrays of `varying`
    payload:  (N, 10) or (10,), by `Payload.numbers()`; None without a payload
    forces:   (N, periods, m) or (periods, m); None without forces
    """

    position: Array
    velocity: Array
    gains: dict[str, Array]
    varying: dict[str, Array]
    payload: Array | None
    forces: Array | None


PullBack = Callable[..., RolloutGradient]
LEFT = "the motion ran away, or came near a singular position, beyond which it has no gradients"


@with_arguments_of(rollout_task)
def differentiable_rollout(*given: Any, **options: Any) -> tuple[Rollout, PullBack]:
    """A rollout, and the function that pulls gradients back through it.

    The arguments are those of `rollout`. The law must be one that can be traced and has no memory, or None, and the
    robot one whose steps are compiled. The second result is called with the gradients of some number, such as a cost,
    by the rollout's arrays: pull_back(position=..., velocity=..., force=...), each of the shape of that array, 0 if
    left out. It returns a RolloutGradient by the initial states and by every array among varying, payload, gains and
    forces that was given.

    What rows share, such as gains (n, n), gets the sum over the rows. Rows that ran away have NaN gradients, and no
    part in such sums. States are kept at intervals and computed again in between where they would take too much memory.
    With initial states on a GPU everything stays there.
    Identity: the gradients equal differences of rollouts, and those of the same steps in JAX.
    """
    task = rollout_task(*given, **options)
    plant, controller, initial = task.plant, task.controller, options.get("initial")
    why = task.why_not_compiled or (None if task.on_gpu or kernels_allowed() else "kernels are switched off")
    if why is None and task.memory:
        why = f"{type(task.controller).__name__} has a memory, through which there are no gradients"
    if why is not None:
        raise UnsupportedFeatureError(f"gradients need compiled steps: {why}", field="rollout")
    if task.may_refuse and task.on_gpu:
        problem = f"gradients through rollouts of {plant.name} run on the processor only"
        remedy = "Give the initial states as NumPy arrays"
        raise UnsupportedFeatureError(problem, field="rollout", remedy=remedy)
    if initial is not None and np.shape(initial[0])[-1] != plant.n:
        entries = np.shape(initial[0])[-1]
        problem = (
            f"gradients are by the {plant.n} coordinates of {plant.name}, and the initial positions have {entries}"
        )
        raise UnsupportedFeatureError(f"{problem} entries", field="initial", remedy="Give the coordinates alone")
    if controller is not None:
        controller.reset()
    way_back: ReversePass = GpuReversePass(task) if task.on_gpu else ProcessorReversePass(task)
    runs = rollout_of(task, *way_back.records)
    finite, shape = runs.finite, runs.position.shape[:2]  # asked now: the user may change the arrays
    if not task.on_gpu:
        runs = with_reasons(runs, dict.fromkeys(range(task.rows), LEFT) if task.may_refuse else {})
        positions, fields = at_the_ends(task, runs.position)
        warn_of_stiffness(plant, positions, task.schedule.step, fields=fields)
    shapes: list[Shape] = [(plant.n,)] * 2 if initial is None else [tuple(np.shape(x)) for x in initial]

    def pull_back(
        position: ArrayLike | None = None, velocity: ArrayLike | None = None, force: ArrayLike | None = None
    ) -> RolloutGradient:
        widths = (plant.positions.size, plant.n, len(plant.actuators))
        given = zip(("position", "velocity", "force"), (position, velocity, force), widths, strict=True)
        with task.device:
            bars = way_back.swept([_bar(task, name, x, (*shape, width)) for name, x, width in given])
            return _gradient(task, bars, shapes, finite)

    return runs, pull_back


def _bar(task: RolloutTask, name: str, given: Any, shape: Shape) -> Any | None:
    """The gradient by an array of the rollout, of its shape and type."""
    if given is None:
        return None
    array = arrays.on_device(name, given) if task.on_gpu else numbers(given)
    if array.shape != shape:
        raise ShapeError(name, expected=f"{shape}, as of the rollout", got=str(array.shape))
    if array.dtype.kind not in "biuf":
        raise ShapeError(name, expected="real numbers", got=f"{array.dtype} values")
    return array.astype(task.position.dtype, copy=False)


def _gradient(task: RolloutTask, bars: RowGradients, initial: list[Shape], finite: Any) -> RolloutGradient:
    """Each of the shape that was given: what rows share gets the sum over the rows that did not run away."""

    def of_shape(rows: Any, shape: Shape) -> Any:
        if math.prod(shape) == math.prod(rows.shape):
            return rows.reshape(shape)
        return rows[finite].sum(axis=0).reshape(shape)

    plant = {name: of_shape(bars.plant[name], x.shape) for name, x in task.plant_numbers.items()}
    held = plant.pop(PAYLOAD.name, None)
    return RolloutGradient(
        of_shape(bars.position, initial[0]),
        of_shape(bars.velocity, initial[1]),
        {name: of_shape(bars.gains[name], x.shape) for name, x in task.gains.items()},
        plant,
        held,
        None if task.forces is None else of_shape(bars.forces, task.forces.shape),
    )
