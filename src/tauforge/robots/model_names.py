"""The names of what inverse dynamics can be computed by, arms and platforms."""

from tauforge.formulations import serial
from tauforge.robots.stewart import formulations

FORMULATIONS: tuple[str, ...] = tuple(serial.FORMULATIONS)
STEWART_MODELS: tuple[str, ...] = formulations.STEWART_MODELS
