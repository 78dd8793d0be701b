"""Motions: the desired coordinates of a robot as functions of time."""

from tauforge.motion.csv_motion import CsvMotion
from tauforge.motion.excitations import Chirp, Circle, Sine
from tauforge.motion.motion import Motion, MotionSample, PoseMotion
from tauforge.motion.straight_line import StraightLine
from tauforge.motion.tool_motion import ToolMotion
from tauforge.motion.waypoints import PROFILES, JointMove, Sampled, Waypoints
from tauforge.motion.well_conditioned import WellConditionedPath
from tauforge.robots.poses import pose_rates, twists

__all__ = [
    "PROFILES",
    "Chirp",
    "Circle",
    "CsvMotion",
    "JointMove",
    "Motion",
    "MotionSample",
    "PoseMotion",
    "Sampled",
    "Sine",
    "StraightLine",
    "ToolMotion",
    "Waypoints",
    "WellConditionedPath",
    "pose_rates",
    "twists",
]
