"""A palletising arm: one parallelogram drives its forearm, two more keep the gripper's flange level."""

from __future__ import annotations

import numpy as np

from mechanism_library.shapes import ALONG_Y, MASSES, UP, bar, block, by_choice, disc, triple
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, Hinge

SOURCES = (
    by_choice(
        ("at", "axis", "limits"),
        "Upper arm 1.0 m, forearm 1.1 m, lever 0.35 m; the arrangement of common four-axis palletisers.",
    ),
    by_choice((*MASSES, "gravity"), "Uniform bars, blocks and a disc, 243 kg in all."),
)
SHOULDER, ELBOW, WRIST = np.array([0.25, 0.0, 0.7]), np.array([0.25, 0.0, 1.7]), np.array([1.35, 0.0, 1.7])
LEVER = np.array([-0.35, 0.0, 0.0])  # from the shoulder, and of the forearm behind the elbow
COLUMN = np.array([-0.15, 0.0, 0.2])  # from the shoulder, where the levelling rod begins
ABOVE = np.array([0.0, 0.0, 0.2])  # of the elbow and of the wrist, where the second levelling rod is
REACH = 0.4  # rad, of shoulder and lever, to either side


def mechanism() -> Mechanism:
    joints = [
        _hinge("base", "ground", "column", (0.0, 0.0, 0.0), axis=UP, actuated=True, limits=(-3.0, 3.0)),
        _hinge("shoulder", "column", "upper arm", SHOULDER, actuated=True, limits=(-REACH, REACH)),
        _hinge("lever axle", "column", "lever", SHOULDER, actuated=True, limits=(-REACH, REACH)),
        _hinge("elbow", "upper arm", "forearm", ELBOW),
        _hinge("lever pin", "lever", "drive rod", SHOULDER + LEVER),
        _hinge("forearm pin", "drive rod", "forearm", ELBOW + LEVER),
        _hinge("levelling plate", "upper arm", "plate", ELBOW),
        _hinge("lower pin 1", "column", "lower levelling rod", SHOULDER + COLUMN),
        _hinge("lower pin 2", "lower levelling rod", "plate", ELBOW + COLUMN),
        _hinge("upper pin 1", "plate", "upper levelling rod", ELBOW + ABOVE),
        _hinge("upper pin 2", "upper levelling rod", "wrist", WRIST + ABOVE),
        _hinge("wrist pin", "forearm", "wrist", WRIST),
        _hinge("swivel", "wrist", "flange", WRIST - ABOVE / 2, axis=UP, actuated=True, limits=(-3.0, 3.0)),
    ]
    return Mechanism(name="palletiser", bodies=_bodies(), joints=joints, tool="flange", sources=SOURCES)


def _bodies() -> list[Body]:
    return [
        block("column", (0.0, 0.0, 0.35), 120.0, (0.4, 0.4, 0.7)),
        bar("upper arm", SHOULDER, ELBOW, 45.0, 0.08),
        bar("lever", SHOULDER, SHOULDER + LEVER, 8.0, 0.04),
        bar("drive rod", SHOULDER + LEVER, ELBOW + LEVER, 9.0, 0.025),
        bar("forearm", ELBOW + LEVER, WRIST, 40.0, 0.07),
        block("plate", ELBOW + (COLUMN + ABOVE) / 2, 3.0, (0.15, 0.02, 0.2)),
        bar("lower levelling rod", SHOULDER + COLUMN, ELBOW + COLUMN, 3.0, 0.015),
        bar("upper levelling rod", ELBOW + ABOVE, WRIST + ABOVE, 3.0, 0.015),
        block("wrist", WRIST + ABOVE / 4, 8.0, (0.12, 0.12, 0.3)),
        disc("flange", WRIST - ABOVE / 2, 4.0, 0.1, 0.03),
    ]


def _hinge(
    name: str,
    parent: str,
    child: str,
    at: np.ndarray | tuple[float, ...],
    axis: tuple[float, float, float] = ALONG_Y,
    actuated: bool = False,
    limits: tuple[float, float] | None = None,
) -> Hinge:
    return Hinge(name, parent, child, at=triple(at), axis=axis, actuated=actuated, limits=limits)
