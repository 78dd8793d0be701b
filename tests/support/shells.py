"""A platform with strokes alone: at one orientation every leg keeps the origin in a spherical shell, in closed form."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.platforms import ring


def stroke_platform(stroke=(0.95, 1.45), **changes):
    """Joints in three pairs, so that turns by 120 degrees leave it unchanged; no masses."""
    return tf.StewartPlatform(
        base_points=ring(0.9, 12), platform_points=ring(0.65, 48), stroke=stroke, name="shells", **changes
    )


def centres(platform, angles):
    """(6, 3) the centres of the shells, b - R p."""
    R = Rotation.from_euler("xyz", angles).as_matrix()
    return np.array(platform.base_points) - np.array(platform.platform_points) @ R.T


def inside(platform, places, angles):
    """Whether places (..., 3) are inside all shells."""
    lengths = np.linalg.norm(places[..., None, :] - centres(platform, angles), axis=-1)
    low, high = np.array(platform.stroke).T
    return ((lengths >= low) & (lengths <= high)).all(axis=-1)


def first_ends(platform, home, directions):
    """(k,) where straight lines from home in unit directions (k, 3) leave the shells first."""
    offset = home[:3] - centres(platform, home[3:])  # (6, 3)
    low, high = np.array(platform.stroke).T
    b = directions @ offset.T  # (k, 6); |offset + s d|^2 = r^2 is s^2 + 2 b s + c = 0
    square = (offset**2).sum(axis=1)
    longest = -b + np.sqrt(b**2 - square + high**2)
    root = b**2 - square + low**2
    shortest = np.where((root >= 0) & (b < 0), -b - np.sqrt(np.maximum(root, 0.0)), np.inf)
    return np.minimum(longest, shortest).min(axis=1)


def sphere(count):
    """Directions (k, 3) and weights (k,) to integrate over the sphere: Gauss-Legendre in height, even in longitude."""
    height, weight = np.polynomial.legendre.leggauss(count)
    longitude = (np.arange(2 * count) + 0.5) * np.pi / count
    z, turn = np.meshgrid(height, longitude, indexing="ij")
    r = np.sqrt(1 - z**2)
    directions = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=-1).reshape(-1, 3)
    return directions, np.repeat(weight * np.pi / count, 2 * count)


def seen_volume(platform, home, count=150):
    """m^3 that straight lines from home reach."""
    directions, weights = sphere(count)
    return float((weights * first_ends(platform, home, directions) ** 3).sum() / 3)
