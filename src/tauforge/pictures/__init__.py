"""Robots as pictures, from their drawings."""

from tauforge.pictures.plot import plot

__all__ = ["plot"]
