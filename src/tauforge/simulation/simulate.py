"""`tf.simulate`: a robot under control, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.control.controller import Controller, Robot, coordinate_count
from tauforge.errors import ModelError, ShapeError
from tauforge.motion.motion import Motion, MotionSample, positive
from tauforge.robots.serial_arm import SerialArm
from tauforge.simulation import integrators
from tauforge.simulation.recording import Event, Recording
from tauforge.simulation.sensors import Sensors
from tauforge.simulation.state import ArmState, PlatformState, state_space

Array = NDArray[Any]
Law = Controller | Callable[[float, Array, Array], ArrayLike] | None
POSE = ("x", "y", "z", "theta_x", "theta_y", "theta_z")
WHOLE = 1e-9  # how far from a whole number of steps a period or a duration may be


def simulate(
    robot: Robot,
    controller: Law = None,
    motion: Motion | None = None,
    *,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    method: str = "rk4",
    control_period: float | None = None,
    plant: Robot | None = None,
    disturbance: Callable[[float], ArrayLike] | None = None,
    sensors: Sensors | None = None,
    force_limits: ArrayLike | str | None = None,
) -> Recording:
    """The motion of a robot under a controller, from `initial` or from where the motion starts.

    controller:     a Controller, a callable (t, position, velocity) -> forces, or None for no forces
    motion:         what the controller is to follow; the duration is the motion's unless given
    initial:        (position, velocity), joint coordinates or pose and twist
    step:           s, between two rows of the recording, and of the fixed-step methods
    method:         "rk4", "dormand-prince" (SciPy's DOP853 within every step) or "symplectic" (arms without control)
    control_period: s, a whole number of steps: the controller is asked that often and its forces are held in between;
                    None asks it whenever the integrator does
    plant:          the robot that really moves, where it differs from `robot`
    disturbance:    t -> (6,) wrench on the tool (world axes) or on the platform (base axes)
    sensors:        what the controller sees
    force_limits:   (n,) largest sizes of the actuator forces, or "robot" for the robot's own; None for no limit

    Coulomb friction must be smoothed: replace(coulomb_speed=0.01), say. Limits of the coordinates never alter the
    motion; crossing one is an event of the recording.
    """
    real = robot if plant is None else plant
    check_friction(real)
    n = coordinate_count(real)
    space = state_space(real)
    in_space = isinstance(controller, Controller) and controller.task_space
    if isinstance(controller, Controller) and controller.period not in (None, control_period):
        raise ModelError(
            f"the controller learns every {controller.period} s and is asked every {control_period} s",
            field="control_period",
            remedy="Make both the same",
        )
    if motion is not None and motion.of_poses == (isinstance(real, SerialArm) and not in_space):
        kind = "joint coordinates, not poses" if motion.of_poses else "poses with twists: wrap it in motion.PoseMotion"
        raise ModelError(f"{real.name} needs a motion of {kind}", field="motion")
    if in_space and initial is None:
        raise ModelError("a motion of the tool does not say where the joints start", field="initial")
    position, velocity = _initial(initial, motion, n)
    span = _duration(duration, motion)
    h = positive("step", step)
    steps = whole_steps("duration", span, h)
    hold = 0 if control_period is None else whole_steps("control_period", positive("control_period", control_period), h)
    if method not in integrators.METHODS:
        raise ShapeError("method", expected=f"one of {', '.join(integrators.METHODS)}", got=repr(method))
    limits = _force_limits(real, force_limits, n)
    loop = _Loop(space, controller, motion, sensors, disturbance, limits, n)
    y = space.pack(position, velocity)
    columns = {name: np.empty((steps + 1, n)) for name in ("position", "velocity", "acceleration", "force")}
    times = h * np.arange(steps + 1)
    symplectic = integrators.Symplectic(real) if method == "symplectic" else None
    advance = integrators.rk4 if method == "rk4" else integrators.dormand_prince
    held: Array | None = None
    for k, t in enumerate(times):
        if hold and k % hold == 0:
            held = loop.force(t, y)
        force = loop.force(t, y) if held is None else held
        here, rate = space.position(y), space.velocity(y)
        wrench = loop.wrench(t)
        columns["position"][k], columns["velocity"][k], columns["force"][k] = here, rate, force
        columns["acceleration"][k] = space.acceleration(here, rate, force, wrench)
        if k == steps:
            break
        if symplectic is not None:
            y = symplectic.step(y, force, h)
        else:
            y = space.renewed(advance(loop.rates(held), t, y, h))
        if not np.isfinite(y).all():
            raise ModelError(
                f"the motion ran away at t = {t + h:.6g} s", field="simulate", remedy="Take a shorter step"
            )
    return _recording(real, motion, times, columns, loop)


class _Loop:
    """The controller, its sensors and the world around, asked at any time."""

    def __init__(
        self,
        space: ArmState | PlatformState,
        controller: Law,
        motion: Motion | None,
        sensors: Sensors | None,
        disturbance: Callable[[float], ArrayLike] | None,
        limits: Array | None,
        n: int,
    ) -> None:
        self.space, self.controller, self.motion, self.sensors = space, controller, motion, sensors
        self.disturbance, self.limits, self.n = disturbance, limits, n
        self.saturated: list[Event] = []
        if isinstance(controller, Controller):
            controller.reset()
            if motion is None:
                raise ModelError("a controller needs a motion to follow", field="motion")
        if sensors is not None:
            sensors.reset()

    def force(self, t: float, y: Array) -> Array:
        position, velocity = np.array(self.space.position(y)), np.array(self.space.velocity(y))
        if self.sensors is not None:
            position, velocity = self.sensors.read(position, velocity)
        if self.controller is None:
            return np.zeros(self.n)
        if isinstance(self.controller, Controller):
            target = self._target(t)
            wanted = self.controller.force(t, position, velocity, target)
        else:
            wanted = np.asarray(self.controller(t, position, velocity), float)
            if wanted.shape != (self.n,):
                raise ShapeError("controller", expected=f"{self.n} forces", got=f"shape {wanted.shape}")
        if self.limits is None:
            return wanted
        given = np.clip(wanted, -self.limits, self.limits)
        over = np.flatnonzero(given != wanted)
        if len(over):
            self.saturated.append(Event(float(t), "force limit", ", ".join(str(k + 1) for k in over)))
        return given

    def _target(self, t: float) -> MotionSample:
        assert self.motion is not None
        return self.motion.sample(t)

    def wrench(self, t: float) -> Array | None:
        if self.disturbance is None:
            return None
        wrench = np.asarray(self.disturbance(t), float)
        if wrench.shape != (6,):
            raise ShapeError("disturbance", expected="(6,), a force and a moment", got=f"shape {wrench.shape}")
        return wrench

    def rates(self, held: Array | None) -> integrators.Rates:
        space = self.space

        def rates(t: float, y: Array) -> Array:
            force = self.force(t, y) if held is None else held
            acceleration = space.acceleration(space.position(y), space.velocity(y), force, self.wrench(t))
            return space.rates(y, acceleration)

        return rates


def check_friction(robot: Robot) -> None:
    if isinstance(robot, SerialArm) and not robot.coulomb_speed and any(any(j.coulomb) for j in robot.joints):
        raise ModelError(
            f"{robot.name} has Coulomb friction, which jumps at rest: no integrator gets past it",
            field="coulomb_speed",
            remedy="Smooth it to tanh(qd / v), for example by replace(coulomb_speed=0.01)",
        )


def _initial(initial: tuple[ArrayLike, ArrayLike] | None, motion: Motion | None, n: int) -> tuple[Array, Array]:
    if initial is None:
        if motion is None:
            raise ModelError(
                "where does it start?", field="initial", remedy="Give initial=(position, velocity) or motion="
            )
        start = motion.sample(0.0)
        given: tuple[ArrayLike, ArrayLike] = (start.position, start.velocity)
    else:
        given = initial
    values = []
    for name, value in zip(("initial position", "initial velocity"), given, strict=True):
        array = np.array(value, float)
        if array.shape != (n,) or not np.isfinite(array).all():
            raise ShapeError(name, expected=f"{n} finite numbers", got=f"{value!r}")
        values.append(array)
    return values[0], values[1]


def _duration(duration: float | None, motion: Motion | None) -> float:
    if duration is not None:
        return positive("duration", duration)
    if motion is None:
        raise ModelError("how long?", field="duration", remedy="Give duration= or motion=")
    return motion.duration


def whole_steps(name: str, length: float, step: float) -> int:
    count = round(length / step)
    if count < 1 or abs(length / step - count) > WHOLE * count:
        raise ShapeError(name, expected=f"a whole number of steps of {step:g} s", got=f"{length:g} s")
    return count


def _force_limits(robot: Robot, given: ArrayLike | str | None, n: int) -> Array | None:
    if given is None:
        return None
    if isinstance(given, str):
        if given != "robot":
            raise ShapeError("force_limits", expected=f"{n} numbers, 'robot' or None", got=repr(given))
        own = [j.max_force for j in robot.joints] if isinstance(robot, SerialArm) else (robot.force_limit or [None] * n)
        return np.array([np.inf if x is None else x for x in own])
    limits = np.broadcast_to(np.asarray(given, float), (n,))
    if not (limits > 0).all():
        raise ShapeError("force_limits", expected="numbers > 0", got=f"{given!r}")
    return limits


def _recording(robot: Robot, motion: Motion | None, times: Array, columns: dict[str, Array], loop: _Loop) -> Recording:
    if motion is None:
        target_position = target_velocity = np.full_like(columns["position"], np.nan)
    else:
        target_position, target_velocity, _ = motion.sample(times)
    if isinstance(loop.controller, Controller) and loop.controller.task_space:  # of the tool, not of the joints
        target_position = target_velocity = np.full_like(columns["position"], np.nan)
    arm = isinstance(robot, SerialArm)
    names = tuple(j.name for j in robot.joints) if isinstance(robot, SerialArm) else POSE
    forces = names if arm else tuple(f"leg{i + 1}" for i in range(6))
    turns = [j.kind == "R" for j in robot.joints] if isinstance(robot, SerialArm) else [False] * 3 + [True] * 3
    units = tuple("rad" if turn else "m" for turn in turns)
    force_units = tuple("N m" if turn else "N" for turn in turns) if arm else ("N",) * 6
    events = [*loop.saturated, *_crossings(robot, times, columns)]
    return Recording(
        times,
        columns["position"],
        columns["velocity"],
        columns["acceleration"],
        columns["force"],
        np.array(target_position),
        np.array(target_velocity),
        names,
        forces,
        units,
        force_units,
        robot.name,
        tuple(sorted(events)),
    )


def _crossings(robot: Robot, times: Array, columns: dict[str, Array]) -> list[Event]:
    """When a coordinate, a leg or a speed first leaves its limits, each time it does."""
    margins: dict[str, Array] = {}
    if isinstance(robot, SerialArm):
        lower, upper = robot.limits.T
        inside = np.minimum(columns["position"] - lower, upper - columns["position"])
        margins |= {f"limit of {j.name}": inside[:, i] for i, j in enumerate(robot.joints)}
        for i, joint in enumerate(robot.joints):
            if joint.max_speed is not None:
                margins[f"speed of {joint.name}"] = joint.max_speed - np.abs(columns["velocity"][:, i])
    else:
        found = robot.within_limits(columns["position"])
        for name, margin in (
            ("stroke", found.stroke),
            ("base cone", found.base_cone),
            ("platform cone", found.platform_cone),
        ):
            if margin is not None:
                margins |= {f"{name} of leg {i + 1}": margin[:, i] for i in range(6)}
        if found.clearance is not None:
            margins["clearance of legs"] = found.clearance
    events = []
    for which, margin in margins.items():
        out = margin < 0
        entered = np.flatnonzero(out & ~np.concatenate([[False], out[:-1]]))
        events += [Event(float(times[k]), "limit", which) for k in entered]
    return events
