"""The entries of a mechanism's positions, its independent coordinates among them, and their rates.

Rates of hinges and sliders are those of their coordinates. Where angles of a ball or of a floating body are
independent, rates are angular velocities: the functions here turn one into the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.formulations.trees.frames import FREEDOMS
from tauforge.robots.mechanism.structure import POSE_LABELS
from tauforge.robots.parts import Coordinate
from tauforge.robots.poses import pose_rates, twists

if TYPE_CHECKING:
    from tauforge.robots.mechanism.placed import PlacedMechanism


def entries(m: PlacedMechanism) -> tuple[Coordinate, ...]:
    """One for each entry of x. Independent ones have the columns q1, qd1 ..., the others x and their number."""
    made = m._made
    independent = {made.assembly.reads[k]: i for i, k in enumerate(made.parameters.independent, 1)}
    found: list[Coordinate] = []

    def add(name: str, turns: bool, limits: tuple[float, float], speed: float, wraps: bool) -> None:
        i, place = independent.get(len(found)), len(found) + 1
        columns = (f"q{i}", f"qd{i}", f"qdd{i}") if i else (f"x{place}", f"xd{place}", f"xdd{place}")
        found.append(Coordinate(name, "rad" if turns else "m", *columns, *limits, speed, wraps))

    for joint in m.joints:
        pairs = joint.limits or ((-np.inf, np.inf),)
        speed = np.inf if joint.max_speed is None else joint.max_speed
        for k, (name, letter) in enumerate(zip(joint.coordinate_names, joint.letters, strict=False)):
            add(name, letter == "R", pairs[k] if len(pairs) > 1 else pairs[0], speed, False)
    for body in m.structure.floating:
        for k, label in enumerate(POSE_LABELS):
            add(f"{body}.{label}", k >= 3, (-np.inf, np.inf), np.inf, k >= 3)
    for span in angle_entries(m):
        for k in span:
            found[k] = found[k]._replace(wraps=True)
    return tuple(found)


def angle_entries(m: PlacedMechanism) -> list[tuple[int, ...]]:
    """Places in x of the three angles of every ball and free joint, of cut balls too."""
    p = m._made.parameters
    found = [
        tuple(p.reads[frame.at + FREEDOMS[frame.kind] - 3 : frame.at + FREEDOMS[frame.kind]])
        for frame in p.frames
        if frame.turns_and_slides
    ]
    cut = [cut.reads for cut in p.cuts if cut.kind == "point" and cut.reads is not None]
    return found + [(first, first + 1, first + 2) for first in cut]


def turning(m: PlacedMechanism) -> list[list[int]]:
    """Places of the angles of each ball and free joint among the independent coordinates."""
    places = m.independent_places
    groups = [[places.index(k) for k in three if k in places] for three in angle_entries(m)]
    return [group for group in groups if group]


def rates(m: PlacedMechanism, position: Array, velocity: Array, acceleration: Array | None) -> tuple[Array, Array]:
    """First and second time derivatives of the independent coordinates.

    position: x, or the independent coordinates alone
    """
    second = np.zeros_like(velocity) if acceleration is None else acceleration
    groups = m.turning
    if not groups:
        return velocity, second
    if all(len(group) == 3 for group in groups):
        return _by_threes(pose_rates, groups, m.coordinates_at(position), velocity, second)
    x = m.position_at(position)
    first = m._evaluator("coordinate_rates", {"x": x, "qd": velocity})[0]
    both = m._evaluator("coordinate_accelerations", {"x": x, "qd": velocity, "qdd": second})[0]
    return first[..., m.independent_places], both[..., m.independent_places]


def from_rates(m: PlacedMechanism, position: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Undoes `rates`."""
    groups = m.turning
    if not groups:
        return first, second
    if all(len(group) == 3 for group in groups):
        return _by_threes(twists, groups, m.coordinates_at(position), first, second)
    x = m.position_at(position)
    E = rate_matrix(m, x)
    velocity = np.linalg.solve(E, first[..., None])[..., 0]
    still = rates(m, x, velocity, None)[1]
    return velocity, np.linalg.solve(E, (second - still)[..., None])[..., 0]


def rate_matrix(m: PlacedMechanism, x: Array) -> Array:
    """(..., f, f) rates of the independent coordinates by the velocities."""
    found = m._evaluator("coordinate_rates", {"x": x[..., None, :], "qd": np.eye(m.n)})[0]
    return np.swapaxes(found[..., m.independent_places], -1, -2)


def rate_derivatives(m: PlacedMechanism, x: Array, velocity: Array) -> tuple[Array, Array]:
    """Derivatives of the first rates by the independent coordinates, with loops closed, and by the velocities."""
    by_position = m._evaluator("rate_slopes", {"x": x, "qd": velocity})[0]
    return by_position, np.array(np.broadcast_to(rate_matrix(m, x), by_position.shape))


def _by_threes(
    rule: Callable[[Array, Array, Array], tuple[Array, Array]],
    groups: list[list[int]],
    coordinates: Array,
    first: Array,
    second: Array,
) -> tuple[Array, Array]:
    """A rule for poses, for each three angles."""
    found = np.array(first), np.array(second)
    for group in groups:
        own = [
            np.concatenate([np.zeros_like(x[..., :3]), x[..., group]], axis=-1) for x in (coordinates, first, second)
        ]
        for result, values in zip(found, rule(*own), strict=True):
            result[..., group] = values[..., 3:]
    return found
