"""tauforge: the dynamics of manipulators, by formulations that check each other.

import tauforge as tf
arm = tf.load("puma560")
tau = arm.inverse_dynamics(q, qd, qdd)
"""

from tauforge import control, motion
from tauforge.analysis.complexity import operation_count
from tauforge.analysis.linearisation import Linearisation, linearise
from tauforge.errors import (
    ConvergenceError,
    DivergenceError,
    EnergyDriftWarning,
    ModelError,
    ShapeError,
    SingularityError,
    SingularityWarning,
    TauforgeError,
    UnphysicalInertiaWarning,
    UnsupportedFeatureError,
)
from tauforge.formulations.serial import FORMULATIONS as _FORMULATIONS
from tauforge.kernels.threads import get_threads, set_threads
from tauforge.robots.joint import Joint
from tauforge.robots.load import catalogue, load
from tauforge.robots.loads import BaseMotion, Payload
from tauforge.robots.serial_arm import SerialArm
from tauforge.robots.stewart_platform import STEWART_MODELS, StewartPlatform
from tauforge.simulation import Recording, Rollout, Sensors, rollout, simulate

FORMULATIONS = tuple(_FORMULATIONS)

__version__ = "0.1.0"

__all__ = [
    "FORMULATIONS",
    "STEWART_MODELS",
    "BaseMotion",
    "ConvergenceError",
    "DivergenceError",
    "EnergyDriftWarning",
    "Joint",
    "Linearisation",
    "ModelError",
    "Payload",
    "Recording",
    "Rollout",
    "Sensors",
    "SerialArm",
    "ShapeError",
    "SingularityError",
    "SingularityWarning",
    "StewartPlatform",
    "TauforgeError",
    "UnphysicalInertiaWarning",
    "UnsupportedFeatureError",
    "catalogue",
    "control",
    "get_threads",
    "linearise",
    "load",
    "motion",
    "operation_count",
    "rollout",
    "set_threads",
    "simulate",
]
