"""Motions that papers try on robots of the catalogue, by the robot's name there."""

from __future__ import annotations

from collections.abc import Mapping

from tauforge.motion import Motion
from tauforge.robots.robot import Robot
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.stewart_paths import FAST, SINGULAR, SLOW

PRESETS: Mapping[str, Mapping[str, Motion]] = {
    "dasgupta1998": {
        "Dasgupta, path I (slow)": SLOW,
        "Dasgupta, path II (fast)": FAST,
        "Dasgupta, path III (singular)": SINGULAR,
    },
    "pedrammehr2012": {
        "Pedrammehr, path 2 (slow)": SLOW,
        "Pedrammehr, path 3 (fast)": FAST,
    },
}


def presets(robot: Robot) -> Mapping[str, Motion]:
    """What papers have a platform of this name do; empty where none does."""
    return PRESETS.get(robot.name, {}) if isinstance(robot, StewartPlatform) else {}
