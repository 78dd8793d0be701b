"""Simulation: a robot under control, step by step."""

from tauforge.simulation.recording import Event, Recording
from tauforge.simulation.sensors import Sensors
from tauforge.simulation.simulate import simulate

__all__ = ["Event", "Recording", "Sensors", "simulate"]
