"""tauforge: the dynamics of manipulators, by formulations that check each other.

import tauforge as tf
arm = tf.load("puma560")
tau = arm.inverse_dynamics(q, qd, qdd)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from tauforge import control, motion
    from tauforge.analysis.complexity import operation_count
    from tauforge.analysis.linearisation import Linearisation, linearise
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

_HOMES = {
    "tauforge.analysis.complexity": "operation_count",
    "tauforge.analysis.linearisation": "Linearisation linearise",
    "tauforge.formulations.serial": "FORMULATIONS",
    "tauforge.kernels.threads": "get_threads set_threads",
    "tauforge.robots.joint": "Joint",
    "tauforge.robots.load": "catalogue load",
    "tauforge.robots.loads": "BaseMotion Payload",
    "tauforge.robots.serial_arm": "SerialArm",
    "tauforge.robots.stewart_platform": "STEWART_MODELS StewartPlatform",
    "tauforge.simulation": "Recording Rollout Sensors rollout simulate",
}


def _fetched(name: str) -> Any:
    """A public name, when it is first used: the command line answers before NumPy is loaded."""
    if name in ("control", "motion"):
        return import_module(f"tauforge.{name}")
    home = next((module for module, names in _HOMES.items() if name in names.split()), None)
    if home is None:
        raise AttributeError(f"module 'tauforge' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value = tuple(value) if name == "FORMULATIONS" else value
    return value


if not TYPE_CHECKING:  # type checkers know the names above, and no others
    __getattr__ = _fetched


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
