"""The three kernels of a step called from Python, one after another: what the native time loop must equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.kernels.backends import backend_of
from tauforge.simulation.compiled_loop import CompiledLoop
from tauforge.simulation.task import RolloutTask


def kernels_called_from_python(task: RolloutTask) -> tuple[list[Any], Any]:
    """The parts of the state and the forces at each control instant, (N, k, ...)."""
    formulas, compile_ = task.formulas(), backend_of("cpu").compile
    asked = task.plant.actuators and (task.controller is not None or task.forces is not None)
    law = compile_(formulas.law(), "float64") if asked else None
    stage, end = compile_(formulas.stage(), "float64"), compile_(formulas.end(), "float64")
    space = task.plant.state_space
    state: Any = np.split(
        space.pack(task.position, task.velocity), np.cumsum([size for (size,) in formulas.state.values()])[:-1], axis=1
    )
    still, memory = [np.zeros(part.shape[-1]) for part in state], task.memory
    states, forces, h, schedule = [], [], formulas.h, task.schedule
    for k in range(schedule.periods + 1):
        target, added = task.target(k), task.added(k)
        given = [*(target or ()), schedule.period * k][: len(formulas.targets)]
        given += [*([] if added is None else [added]), *task.gains.values()]
        held, force = [], np.zeros((task.rows, 0))
        if task.plant.actuators:
            force = np.zeros((task.rows, len(task.plant.actuators)))
            if law is not None:
                found = law(*state, *still, 0.0, *memory, *given)
                force, *memory = found if memory else [found]
            held = [force]
        states.append(state)
        forces.append(force)
        for _ in range(schedule.substeps):
            slopes, rates = still, []
            for ahead in (0.0, h / 2, h / 2, h):
                slopes = stage(*state, *slopes, ahead, *held, *task.plant_numbers.values())
                rates += slopes
            state = end(*state, *rates)
    return [np.stack(part, axis=1) for part in zip(*states, strict=True)], np.stack(forces, axis=1)


def assert_equal_to_the_last_bit(task: RolloutTask) -> None:
    loop, kept = CompiledLoop(task, task.formulas()), task.schedule.kept
    parts, forces = kernels_called_from_python(task)
    assert all(np.isfinite(x).all() for x in (*parts, forces))
    expected = [*loop.read([part[:, kept] for part in parts]), forces[:, kept]]
    for mine, theirs in zip(loop.records(kept, lambda _: None), expected, strict=True):
        assert np.array_equal(mine, theirs)
