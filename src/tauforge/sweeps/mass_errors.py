"""Random errors of a robot's masses and inertias, which depend on a seed and on nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.robots.robot import Robot

ENDINGS = ("mass", "inertia")  # of the names of fields that are drawn
TENSOR = (3, 3)


@dataclass(frozen=True)
class MassErrors:
    """Masses and inertias times factors 1 + spread u, with u between -1 and 1, all drawn independently.

    A tensor of inertia has one factor, so that it stays one that a body can have.

    own: the robot's values, (*core) each, by the names of fields that may vary
    """

    own: Mapping[str, Array]

    def drawn(self, seeds: Array, spreads: Array) -> dict[str, Array]:
        """The fields (N, *core) for seeds (N,) and spreads (N,)."""
        shapes = {name: _bodies(value) for name, value in self.own.items()}
        numbers, places = np.unique(seeds, return_inverse=True)
        count = sum(math.prod(shape) for shape in shapes.values())
        units = np.stack([_units(int(seed), count) for seed in numbers])[places]
        found, first = {}, 0
        for name, value in self.own.items():
            last = first + math.prod(shapes[name])
            factors = 1 + spreads[:, None] * units[:, first:last]
            more = value.ndim - len(shapes[name])
            found[name] = value * factors.reshape(len(seeds), *shapes[name], *(1,) * more)
            first = last
        return found


def mass_errors_of(robot: Robot) -> MassErrors:
    """Errors of all masses and inertias of the robot that are not 0; ModelError where none can vary."""
    own: dict[str, Array] = {}
    for name in robot.varying_fields:
        if name.endswith(ENDINGS) and getattr(robot, name, ()) is not None:
            own |= {field: value for field, value in robot.own_values((name,)).items() if value.any()}
    if not own:
        raise ModelError(f"{robot.name} has no masses that can vary", field="robot")
    return MassErrors(own)


def _bodies(value: Array) -> tuple[int, ...]:
    """The shape of the factors of a field."""
    return value.shape[:-2] if value.shape[-2:] == TENSOR else value.shape


def _units(seed: int, count: int) -> Array:
    """Numbers between -1 and 1, the same for a seed on every machine."""
    return np.asarray(2 * np.random.Generator(np.random.PCG64(seed)).random(count) - 1)
