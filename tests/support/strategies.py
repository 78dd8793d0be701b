"""Random arms and states for the tests: full inertias, off-axis mass centres, tilted gravity, mixed joints.

Degenerate bodies hide missing physics, so nothing here is diagonal, aligned or zero unless a test asks for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import tauforge as tf

Array = NDArray[Any]


def random_rotation(rng: np.random.Generator) -> Array:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def random_transform(rng: np.random.Generator, size: float = 0.5) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = random_rotation(rng), rng.uniform(-size, size, 3)
    return T


def random_inertia(rng: np.random.Generator, size: float = 0.1) -> Array:
    """Inertia of a real body: the second moments are positive definite, so the triangle inequality holds."""
    A = rng.normal(size=(3, 3))
    J = size * (A @ A.T + 0.1 * np.eye(3))
    return np.trace(J) * np.eye(3) - J


def random_drive(rng: np.random.Generator, n: int) -> dict[str, Any]:
    return {
        "viscous": rng.uniform(0, 0.1, n).tolist(),
        "coulomb": rng.uniform(0, 0.5, (n, 2)).tolist(),
        "motor_inertia": rng.uniform(0, 1e-3, n).tolist(),
        "gear_ratio": (rng.uniform(5, 20, n) * rng.choice([-1, 1], n)).tolist(),
    }


def random_arm(
    rng: np.random.Generator, kinds: str, convention: str = "standard", *, drives: bool = False
) -> tf.SerialArm:
    """An arm with the given joint letters; convention "general" has a random displacement on both sides of a joint."""
    n = len(kinds)
    bodies: dict[str, Any] = {
        "mass": rng.uniform(0.5, 5, n).tolist(),
        "com": rng.uniform(-0.2, 0.2, (n, 3)).tolist(),
        "inertia": [random_inertia(rng).tolist() for _ in range(n)],
    }
    if drives:
        bodies |= random_drive(rng, n)
    whole: dict[str, Any] = {
        "base": random_transform(rng),
        "tool": random_transform(rng),
        "gravity": rng.uniform(-9, 9, 3).tolist(),
        "name": f"random {kinds}",
    }
    if convention == "general":
        joints = [
            tf.Joint(
                kind=kinds[i],
                before=random_transform(rng),
                after=random_transform(rng),
                offset=rng.normal(),
                **{key: column[i] for key, column in bodies.items()},
            )
            for i in range(n)
        ]
        return tf.SerialArm(joints=tuple(joints), **whole)
    table = {"alpha": rng.uniform(-np.pi, np.pi, n), "theta": rng.uniform(-np.pi, np.pi, n)}
    table |= {"a": rng.uniform(-0.5, 0.5, n), "d": rng.uniform(-0.5, 0.5, n)}
    return tf.SerialArm.from_dh(joints=kinds, convention=convention, **table, **bodies, **whole)


def structured_arm(rng: np.random.Generator, kinds: str, convention: str = "standard") -> tf.SerialArm:
    """What real arms are made of and random numbers never hit: special angles, zeros, small and massless links."""
    n = len(kinds)
    near = 10.0 ** rng.uniform(-16, -2)
    angles = [0.0, np.pi / 2, -np.pi / 2, np.pi, -np.pi, near, np.pi - near, np.pi / 2 + near]
    scale = rng.choice([1.0, 0.1, 0.01], n)
    mass = rng.choice([0.0, 1.0, 3.0], n) * scale**3
    inertias = [random_inertia(rng) * m * s**2 for m, s in zip(mass, scale, strict=True)]
    return tf.SerialArm.from_dh(
        joints=kinds,
        convention=convention,
        alpha=rng.choice(angles, n),
        theta=rng.choice(angles, n),
        a=rng.choice([0.0, 0.4, 1.0], n),
        d=rng.choice([0.0, 0.3, 1.0], n),
        mass=mass,
        com=[rng.choice([0.0, 1.0], 3) * s * 0.2 for s in scale],
        inertia=inertias,
        gravity=rng.choice([-9.81, 0.0], 3),
    )


def random_state(rng: np.random.Generator, n: int, count: int | None = None) -> tuple[Array, Array, Array]:
    shape = (n,) if count is None else (count, n)
    return rng.uniform(-np.pi, np.pi, shape), rng.normal(size=shape), rng.normal(size=shape)


def random_payload(rng: np.random.Generator) -> tf.Payload:
    return tf.Payload(rng.uniform(0.5, 5), rng.uniform(-0.2, 0.2, 3), random_inertia(rng))


def random_base_motion(rng: np.random.Generator) -> tf.BaseMotion:
    return tf.BaseMotion(*rng.normal(size=(3, 3)))


seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
kinds = st.text("RP", min_size=1, max_size=12)
conventions = st.sampled_from(["standard", "modified", "general"])
