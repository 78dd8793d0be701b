"""Moving pictures of robots: pages that play a motion or a recording."""

from tauforge.pictures.animation import animate

__all__ = ["animate"]
