from . import analysis as analysis
from . import control as control
from . import designs as designs
from . import errors as errors
from . import motion as motion
from . import sweeps as sweeps
from . import workspace as workspace
from .analysis.complexity import operation_count
from .analysis.linearisation import Linearisation, linearise
from .errors import (
    ConvergenceError,
    DivergenceError,
    EnergyDriftWarning,
    ModelError,
    RoundedMotionWarning,
    SettingError,
    ShapeError,
    SingularityError,
    SingularityWarning,
    StiffFrictionWarning,
    SweepError,
    TauforgeError,
    UnphysicalInertiaWarning,
    UnstableLoopWarning,
    UnsupportedFeatureError,
)
from .export import export_c
from .export import symbolic as symbolic
from .formats.loading import catalogue, load, loads
from .formulations.serial import FORMULATIONS
from .formulations.stewart import STEWART_MODELS
from .kernels.cpu.threads import get_threads, set_threads
from .pictures import animate, plot
from .robots.loads import BaseMotion, Payload
from .robots.mechanism.mechanism import Mechanism
from .robots.mechanism.parts import Body, Cylinder, Free, Hinge, Planar, Slider, Spherical, Spring, Universal, Weld
from .robots.serial.joint import Joint
from .robots.serial.serial_arm import SerialArm
from .robots.stewart.stewart_platform import StewartPlatform
from .simulation import Recording, Rollout, RolloutGradient, Sensors, World, differentiable_rollout, rollout, simulate
from .viewer import Viewer, view

__version__: str

__all__ = [
    "FORMULATIONS",
    "STEWART_MODELS",
    "BaseMotion",
    "Body",
    "ConvergenceError",
    "Cylinder",
    "DivergenceError",
    "EnergyDriftWarning",
    "Free",
    "Hinge",
    "Joint",
    "Linearisation",
    "Mechanism",
    "ModelError",
    "Payload",
    "Planar",
    "Recording",
    "Rollout",
    "RolloutGradient",
    "RoundedMotionWarning",
    "Sensors",
    "SerialArm",
    "SettingError",
    "ShapeError",
    "SingularityError",
    "SingularityWarning",
    "Slider",
    "Spherical",
    "Spring",
    "StewartPlatform",
    "StiffFrictionWarning",
    "SweepError",
    "TauforgeError",
    "Universal",
    "UnphysicalInertiaWarning",
    "UnstableLoopWarning",
    "UnsupportedFeatureError",
    "Viewer",
    "Weld",
    "World",
    "analysis",
    "animate",
    "catalogue",
    "control",
    "designs",
    "differentiable_rollout",
    "errors",
    "export_c",
    "get_threads",
    "linearise",
    "load",
    "loads",
    "motion",
    "operation_count",
    "plot",
    "rollout",
    "set_threads",
    "simulate",
    "sweeps",
    "symbolic",
    "view",
    "workspace",
]
