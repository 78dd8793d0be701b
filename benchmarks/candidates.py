"""The candidates: every library's own way to evaluate a batch of states of the same arm, None where not installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from arms import mujoco_model, pinocchio_model, toolbox_robot, urdf
from widths import NARROW, has_wider, narrow

import tauforge as tf

LOOP = 1_024  # states for the candidates that loop in Python
SKIPPED: dict[str, str] = {}  # name of a candidate -> why it does not take part


class Candidate(NamedTuple):
    """prepare(*arguments) lays a batch out as the library likes it and returns the call to be timed."""

    name: str
    prepare: Callable[..., Callable[[], Any]]
    most: int | None = None  # states, where more would only take longer


def skip(name: str, reason: str) -> None:
    if name not in SKIPPED:
        SKIPPED[name] = reason
        print(f"{name} is left out: {reason}", flush=True)


def missing(name: str, *modules: str) -> bool:
    absent = [module for module in modules if importlib.util.find_spec(module) is None]
    if absent:
        skip(name, f"{' and '.join(absent)} not installed")
    return bool(absent)


def tauforge_method(arm: tf.SerialArm, function: str = "inverse_dynamics") -> Candidate:
    """As a user calls it: the public method, which allocates its results."""

    def prepare(*arguments: np.ndarray) -> Callable[[], Any]:
        getattr(arm, function)(*arguments)  # the first call puts a shorter way in the method's place
        return partial(getattr(arm, function), *arguments)

    return Candidate("tauforge", prepare)


def narrow_method(arm: tf.SerialArm, function: str = "inverse_dynamics") -> Candidate | None:
    """The same with narrower vectors; None where the processor has no wider ones."""
    if not has_wider():
        return None
    own = tauforge_method(arm.replace(), function)

    def prepare(*arguments: np.ndarray) -> Callable[[], Any]:
        with narrow():
            return own.prepare(*arguments)

    return Candidate(NARROW, prepare)


def pinocchio_loop(arm: tf.SerialArm, most: int | None = LOOP) -> Candidate | None:
    """Pinocchio's Python binding, state by state."""
    if missing("Pinocchio in a Python loop", "pinocchio"):
        return None
    import pinocchio as pin

    model = pinocchio_model(arm)
    data = model.createData()

    def prepare(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Callable[[], Any]:
        out = np.empty_like(q)

        def call() -> np.ndarray:
            for k in range(len(q)):
                out[k] = pin.rnea(model, data, q[k], qd[k], qdd[k])
            return out

        return call

    return Candidate("Pinocchio in a Python loop", prepare, most)


def pinocchio_parallel(arm: tf.SerialArm) -> Candidate | None:
    """Pinocchio's own call for a batch, on one thread; its matrices have a state in every column."""
    name = "Pinocchio rneaInParallel"
    if missing(name, "pinocchio"):
        return None
    import pinocchio as pin

    if not hasattr(pin, "rneaInParallel"):
        return skip(name, "this Pinocchio is built without OpenMP")
    pool = pin.ModelPool(pinocchio_model(arm), 1)

    def prepare(*arguments: np.ndarray) -> Callable[[], Any]:
        out = np.empty_like(arguments[0])
        columns = [a.T for a in (*arguments, out)]

        def call() -> np.ndarray:
            pin.rneaInParallel(1, pool, *columns)
            return out

        return call

    return Candidate(name, prepare)


def mujoco_loop(arm: tf.SerialArm) -> Candidate | None:
    """mj_inverse, state by state: MuJoCo has no call for a batch."""
    if missing("MuJoCo in a Python loop", "mujoco"):
        return None
    import mujoco

    model = mujoco_model(arm)
    data = mujoco.MjData(model)
    place = (data.qpos, data.qvel, data.qacc)

    def prepare(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Callable[[], Any]:
        out = np.empty_like(q)
        position, velocity, acceleration = place

        def call() -> np.ndarray:
            for k in range(len(q)):
                position[:], velocity[:], acceleration[:] = q[k], qd[k], qdd[k]
                mujoco.mj_inverse(model, data)
                out[k] = data.qfrc_inverse
            return out

        return call

    return Candidate("MuJoCo in a Python loop", prepare, LOOP)


def jax_call(torque: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    """Compiled by XLA; the arrays are JAX's own before the clock starts."""
    import jax

    compiled = jax.jit(torque)

    def prepare(*arguments: np.ndarray) -> Callable[[], Any]:
        arrays = [jax.numpy.asarray(a) for a in arguments]
        return lambda: compiled(*arrays).block_until_ready()

    return prepare


def prepare_jax() -> Any:
    """On the processor and in double precision, as the others."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    return jax


def jax_formula(arm: tf.SerialArm) -> Candidate | None:
    """tauforge's own formula over JAX arrays."""
    if missing("JAX", "jax"):
        return None
    jax = prepare_jax()
    from tauforge.algebra.scalars import ArrayScalar
    from tauforge.robots.serial.formulas import inverse_dynamics

    def torque(*state: Any) -> Any:
        columns = ([ArrayScalar(x[:, k]) for k in range(arm.n)] for x in state)
        return jax.numpy.stack([t.value for t in inverse_dynamics(arm.model, *columns)], axis=-1)

    return Candidate("JAX", jax_call(torque))


def toolbox(arm: tf.SerialArm) -> Candidate | None:
    """The Robotics Toolbox's compiled recursion, which takes a whole trajectory."""
    if missing("Robotics Toolbox", "roboticstoolbox"):
        return None
    robot = toolbox_robot(arm)
    return Candidate("Robotics Toolbox", lambda *arguments: partial(robot.rne, *arguments), LOOP)


def adam(arm: tf.SerialArm) -> Candidate | None:
    """ADAM over JAX; it has no inverse dynamics in one call: mass matrix times acceleration, and bias forces."""
    if missing("ADAM", "adam", "jax"):
        return None
    jax = prepare_jax()
    from adam.jax import KinDynComputations

    robot = KinDynComputations(
        urdf(arm), [f"joint{k}" for k in range(arm.n)], gravity=np.array([*arm.gravity, 0.0, 0.0, 0.0])
    )
    rotors = np.array([joint.motor_inertia * joint.gear_ratio**2 for joint in arm.joints])

    def torque(q: Any, qd: Any, qdd: Any) -> Any:
        place = jax.numpy.broadcast_to(jax.numpy.eye(4), (len(q), 4, 4))  # of the base, which ADAM lets float
        inertial = robot.mass_matrix(place, q)[:, 6:, 6:] @ qdd[..., None]
        bias = robot.bias_force(place, q, jax.numpy.zeros((len(q), 6)), qd)[:, 6:]
        return inertial[..., 0] + rotors * qdd + bias

    return Candidate("ADAM", jax_call(torque), LOOP // 4)
