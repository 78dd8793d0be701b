"""Motions: what a robot is asked to do, as functions of time."""

from tauforge.motion.poses import pose_rates, twists
from tauforge.motion.straight_line import StraightLine

__all__ = ["StraightLine", "pose_rates", "twists"]
