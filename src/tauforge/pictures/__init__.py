"""Robots as pictures: in space at a position, and pages that play a motion or a recording."""

from tauforge.pictures.animation import animate
from tauforge.pictures.plot import plot

__all__ = ["animate", "plot"]
