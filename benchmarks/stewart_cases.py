"""The Stewart platform beside Pinocchio's constrained dynamics of the same mechanism, called from Python."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from candidates import missing
from cases import difference, measured
from measure import Task
from widths import NARROW, has_wider, narrow

import tauforge as tf

STATES = 16_384
LOOP = 200  # states that Pinocchio is asked for in one turn
PINOCCHIO = "Pinocchio constraintDynamics"
EQUAL = 1e-9  # its loop closures are held by a proximal solver
REQUIRED = {"inverse_dynamics": 180, "forward_dynamics": 150}
LIMITS = {"inverse_kinematics": 15, "forward_kinematics": 150, "condition_number": 1000}  # ns


DIETMAIER_LENGTHS = (1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071)  # m, with 40 real poses


class Mechanism:
    """A 6-UPS platform as Pinocchio has it: a free platform, six legs of three joints, six points held together."""

    def __init__(self, platform: tf.StewartPlatform) -> None:
        import pinocchio as pin

        self.pin, self.platform = pin, platform
        self.model = pin.Model()
        self.model.gravity.linear = np.array(platform.gravity)
        top = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
        body = (platform.platform_mass, platform.platform_com, platform.platform_inertia)
        self._add_body(top, *body)
        self.frames, ends = [], []
        for i, (b, k) in enumerate(zip(platform.base_points, np.array(platform.universal_axes), strict=True)):
            side = np.cross(k, np.eye(3)[np.abs(k).argmin()])
            side /= np.linalg.norm(side)
            axes = np.column_stack([side, np.cross(k, side), k])  # leg along x, moving axis y, fixed axis z
            first = self.model.addJoint(0, pin.JointModelRZ(), pin.SE3(axes, np.array(b)), f"k{i}")
            second = self.model.addJoint(first, pin.JointModelRY(), pin.SE3.Identity(), f"v{i}")
            sliding = self.model.addJoint(second, pin.JointModelPX(), pin.SE3.Identity(), f"L{i}")
            self._add_body(second, platform.lower_mass[i], platform.lower_com[i], platform.lower_inertia[i])
            self._add_body(sliding, platform.upper_mass[i], platform.upper_com[i], platform.upper_inertia[i])
            self.frames.append(axes)
            ends.append(sliding)
        self.data = self.model.createData()
        self.constraints = pin.StdVec_RigidConstraintModel()
        for end, point in zip(ends, platform.platform_points, strict=True):
            place = pin.SE3(np.eye(3), np.array(point))
            kind = pin.ContactType.CONTACT_3D
            self.constraints.append(
                pin.RigidConstraintModel(
                    kind, self.model, end, pin.SE3.Identity(), top, place, pin.ReferenceFrame.LOCAL
                )
            )
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for constraint in self.constraints:
            self.constraint_data.append(constraint.createData())
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def _add_body(self, joint: int, mass: float, com: Any, inertia: Any) -> None:
        pin = self.pin
        self.model.appendBodyToJoint(joint, pin.Inertia(mass, np.array(com), np.array(inertia)), pin.SE3.Identity())

    def state(self, pose: np.ndarray, twist: np.ndarray, forces: np.ndarray) -> tuple[np.ndarray, ...]:
        """Configuration, velocity and joint forces of all 24 coordinates."""
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_euler("xyz", pose[3:])
        R = turn.as_matrix()
        legs = self.platform.leg_motion(pose, twist)
        q, v, tau = [*pose[:3], *turn.as_quat()], [*(R.T @ twist[:3]), *(R.T @ twist[3:])], [0.0] * 6
        for i, (axes, force) in enumerate(zip(self.frames, forces, strict=True)):
            s = axes.T @ legs.directions[i]
            about_k, tilt = np.arctan2(s[1], s[0]), -np.arcsin(s[2])
            W = axes.T @ legs.angular_velocities[i]
            moving = np.array([-np.sin(about_k), np.cos(about_k), 0.0])
            q += [about_k, tilt, legs.lengths[i]]
            v += [W[2], W @ moving, legs.rates[i]]
            tau += [0.0, 0.0, force]
        return np.array(q), np.array(v), np.array(tau)

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        models, data = self.constraints, self.constraint_data
        return self.pin.constraintDynamics(self.model, self.data, q, v, tau, models, data, self.settings)

    def spatial(self, pose: np.ndarray, twist: np.ndarray, joint: np.ndarray) -> np.ndarray:
        """v' and omega' in base axes from the free joint's acceleration, which is in the platform's axes."""
        from scipy.spatial.transform import Rotation

        R = Rotation.from_euler("xyz", pose[3:]).as_matrix()
        return np.r_[R @ joint[:3] + np.cross(twist[3:], twist[:3]), R @ joint[3:6]]


def random_motion(count: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    pose = np.array([0.2, 0.0, 0.5, 0.0, 0.0, 0.0]) + rng.uniform(-0.1, 0.1, (count, 6))
    return pose, rng.normal(size=(count, 6)), 3 * rng.normal(size=(count, 6))


def pinocchio_task(
    platform: tf.StewartPlatform, pose: np.ndarray, twist: np.ndarray, forces: np.ndarray
) -> Task | None:
    """Forward dynamics of some states, checked against ours first; there is no inverse dynamics to compare with."""
    if missing(PINOCCHIO, "pinocchio"):
        return None
    mechanism = Mechanism(platform)
    states = [mechanism.state(*row) for row in zip(pose[:LOOP], twist[:LOOP], forces[:LOOP], strict=True)]
    theirs = [
        mechanism.spatial(p, t, mechanism.accelerations(*state))
        for p, t, state in zip(pose[:LOOP], twist[:LOOP], states, strict=True)
    ]
    error = difference(np.array(theirs), platform.forward_dynamics(pose[:LOOP], twist[:LOOP], forces[:LOOP]))
    if not error < EQUAL:
        raise ValueError(f"{PINOCCHIO} differs by {error:.1e}: nothing is timed")

    def loop() -> None:
        for state in states:
            mechanism.accelerations(*state)

    return Task(PINOCCHIO, loop, LOOP)


def platform_cases(seconds: float) -> list[dict[str, Any]]:
    """Dasgupta's robot, without friction where Pinocchio is beside it (it knows none here)."""
    platform = tf.load("dasgupta1998")
    bare = platform.without_friction()
    pose, twist, acceleration = random_motion(STATES)
    forces = bare.inverse_dynamics(pose, twist, acceleration)
    other = pinocchio_task(bare, pose, twist, forces)
    rng = np.random.default_rng(1)
    near = pose + rng.uniform(-1, 1, pose.shape) * ([0.006] * 3 + [0.01] * 3)  # a centimetre and a degree
    lengths = platform.inverse_kinematics(pose)
    H = platform.force_matrix(pose)
    arguments: dict[str, tuple[np.ndarray, ...]] = {
        "inverse_dynamics": (pose, twist, acceleration),
        "forward_dynamics": (pose, twist, forces),
        "inverse_kinematics": (pose,),
        "forward_kinematics": (lengths, near),
        "condition_number": (pose,),
    }
    rows = []
    for function, given in arguments.items():
        getattr(platform, function)(*given)  # from the second call on the method is the kernel
        tasks = [Task("tauforge", partial(getattr(platform, function), *given), STATES)]
        if has_wider() and function != "condition_number":  # whose kernel is one for all robots
            twin = platform.replace()
            with narrow():
                getattr(twin, function)(*given)
            tasks.append(Task(NARROW, partial(getattr(twin, function), *given), STATES))
        if function in REQUIRED and other is not None:
            tasks.append(other)
        if function == "condition_number":
            tasks.append(Task("numpy.linalg.cond", partial(np.linalg.cond, H), STATES))
        row = measured(f"platform: {function}", STATES, REQUIRED.get(function), tasks, seconds)
        row["limit_ns"] = LIMITS.get(function)
        rows.append(row)
    return rows


def assembly_modes(seeds: int = 100) -> dict[str, Any]:
    """Dietmaier's platform: how many of its 40 poses are found, and how long one search takes, for many seeds."""
    platform = tf.load("dietmaier")
    platform.assembly_modes(DIETMAIER_LENGTHS)
    counts, seconds = [], []
    for seed in range(seeds):
        start = time.perf_counter()
        counts.append(len(platform.assembly_modes(DIETMAIER_LENGTHS, seed=seed).poses))
        seconds.append(time.perf_counter() - start)
    ms = {"median": float(np.median(seconds)) * 1e3, "most": max(seconds) * 1e3}
    found = sorted(set(counts))
    print(
        f"assembly modes: {found} of 40 for {seeds} seeds, {ms['median']:.1f} ms, at most {ms['most']:.1f}", flush=True
    )
    return {"seeds": seeds, "found": found, "ms": ms}
