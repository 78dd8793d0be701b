"""Simulation: a robot under control, step by step."""

from tauforge.simulation.events import Event
from tauforge.simulation.recording import Recording
from tauforge.simulation.rollout_gradients import RolloutGradient, differentiable_rollout
from tauforge.simulation.rollout_result import Rollout
from tauforge.simulation.rollouts import rollout
from tauforge.simulation.sensors import Sensors
from tauforge.simulation.simulate import simulate
from tauforge.simulation.world import World

__all__ = [
    "Event",
    "Recording",
    "Rollout",
    "RolloutGradient",
    "Sensors",
    "World",
    "differentiable_rollout",
    "rollout",
    "simulate",
]
