"""What the schematics of the papers on serial arms draw: frames, mass centres and wrenches of an arm at a state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge_papers.sketch import Arrows, Sketch

LINKS, CENTRES, FRAMES, BODY = "links", "mass centres", "frames", "link"
PUMA_POSE = (0.5, math.pi / 4, -math.pi, 0.0, 0.5, 0.0)  # rad, ours: the links cover each other little
RATES = (0.6, -0.8, 0.5, 0.7, -0.4, 0.3)  # rad/s, ours
ACCELERATIONS = (1.5, 2.0, -1.0, 1.0, 0.5, -0.5)  # rad/s^2, ours


class ArmScene(NamedTuple):
    """An arm at a state, world axes. Index i of origins and axes is frame i, that of the others link i; 0 is empty."""

    origins: Array  # (n + 1, 3) m
    axes: Array  # (n + 1, 3, 3), unit vectors in the columns
    centres: Array  # (n + 1, 3) m, mass centres
    forces: Array  # (n + 1, 3) N, of link i - 1 on link i, at origin i - 1
    moments: Array  # (n + 1, 3) N m


def arm_scene(
    arm: SerialArm,
    q: Sequence[float],
    qd: ArrayLike,
    qdd: ArrayLike,
    tip_wrench: ArrayLike | None = None,
) -> ArmScene:
    """tip_wrench: at the tool's origin, world axes."""
    frames = arm.link_frames(q)
    origins, axes = frames[:, :3, 3], frames[:, :3, :3]
    wrenches = arm.joint_wrenches(q, qd, qdd, tip_wrench=tip_wrench)
    coms = np.array([joint.com for joint in arm.joints])
    nothing = np.full((1, 3), np.nan)

    def of_links(found: Array) -> Array:
        return np.concatenate([nothing, found])

    return ArmScene(
        origins,
        axes,
        of_links(origins[1:] + np.einsum("ijk,ik->ij", axes[1:], coms)),
        of_links(np.einsum("ijk,ik->ij", axes[:-1], wrenches[:, :3])),
        of_links(np.einsum("ijk,ik->ij", axes[:-1], wrenches[:, 3:])),
    )


def draw_links(sketch: Sketch, place: ArmScene, first: int, last: int) -> None:
    """Each link as the straight line between the origins of its frames."""
    sketch.line(LINKS, *place.origins[first - 1 : last + 1], style="thick")


def outline(sketch: Sketch, place: ArmScene, link: int, body: tuple[ArrayLike, ArrayLike, float]) -> None:
    """A bar with round ends, as the observer sees it. body: its ends in the link's frame, and its radius."""
    start, end = (sketch.view(place.origins[link] + place.axes[link] @ np.asarray(point, float)) for point in body[:2])
    along = (end - start) / np.linalg.norm(end - start)
    turns = np.linspace(-math.pi / 2, math.pi / 2, 17)
    half = np.cos(turns)[:, None] * along + np.sin(turns)[:, None] * np.array([-along[1], along[0]])
    sketch.flat_area(BODY, np.concatenate([end + body[2] * half, start - body[2] * half]))


def free_body(sketch: Sketch, place: ArmScene, link: int, weight: Array, names: Sequence[str], size: float) -> str:
    """What its neighbours and gravity do to a link; returns the scales of the arrows, in words.

    names: of the force and the moment of the link below, minus those on the link above, and the weight, in the order
           force, force above, weight, moment, moment above
    size:  m, the length of the largest force
    """
    lower, upper, centre = place.origins[link - 1], place.origins[link], place.centres[link]
    forces = Arrows("forces", "N", (place.forces[link], -place.forces[link + 1]), size)
    weights = Arrows("weight", "N", (weight,), 0.6 * size)
    moments = Arrows("moments", "N m", (place.moments[link], -place.moments[link + 1]), 0.8 * size)
    sketch.line("between the origins", lower, upper, style="dashed")
    sketch.points("origins of the frames", lower, upper)
    sketch.points(CENTRES, centre)
    forces.draw(sketch, 0, lower, names[0])
    forces.draw(sketch, 1, upper, names[1])
    weights.draw(sketch, 0, centre, names[2])
    moments.draw(sketch, 0, lower, names[3])
    moments.draw(sketch, 1, upper, names[4])
    return (
        f"An arrow of 0.1 m stands for {forces.scale} of a force, {weights.scale} of the weight and {moments.scale} of "
        "a moment."
    )
