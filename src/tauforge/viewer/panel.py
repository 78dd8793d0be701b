"""The controls: a panel of numbers, sliders, loads and checkboxes, and the handle that drags the tool or the platform.

They are made from the robot's contract alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import TauforgeError
from tauforge.robots.drawing import Drawing
from tauforge.robots.positions import body_name
from tauforge.robots.robot import Robot
from tauforge.viewer.evaluation import Evaluation, Reading, State
from tauforge.viewer.figure import quaternions, rotation
from tauforge.viewer.panel_text import heading_html, readings_html
from tauforge.viewer.scene import VisibleParts

if TYPE_CHECKING:
    from tauforge.viewer.session import Session


GROUPS = ("position", "velocity", "acceleration")
CHECKBOXES = (
    ("shapes", "Shapes", "Bodies and meshes of the robot's file"),
    ("forces", "Forces of actuators", "Arrows along or around the axes of the actuators"),
    ("reactions", "Reactions of joints", "Forces (dark) and moments (light) that the joints carry"),
    ("centres", "Centres of mass", ""),
    ("ellipsoids", "Ellipsoids of inertia", "Solid bodies with the same mass and inertia"),
    ("frames", "Frames", "x red, y green, z blue"),
    ("names", "Names of joints", "The mouse on a part shows its name, too, and a click keeps it"),
    ("handle", "Handle to drag", "It drags the tool or the platform by inverse kinematics"),
)
RANGE_STATES = 256  # random ones that tell where a robot without limits usually is
RANGE_WIDTH = 1.5  # of these states
FASTEST = {"rad": 3.0, "m": 1.0}  # rad/s and m/s without a limit
QUICKEST = {"rad": 10.0, "m": 10.0}  # rad/s^2 and m/s^2
SLIDER_STEPS = 1000
MOST_GRAVITY = 25.0  # m/s^2, a little more than Jupiter's
STANDARD_GRAVITY = 9.81
HANDLE_SCALE = 0.16  # of the robot's extent
LETS_GO = 0.6  # s without a message: the hand has let go, or its tab is gone


def from_user(act: Callable[[Any], None]) -> Callable[[Any], Any]:
    """A callback for viser's thread that passes on what a tab said, not what we set ourselves."""

    async def answer(event: Any) -> None:
        if event.client_id is not None:
            act(event.target.value)

    return answer


class Panel:
    """Panel with numbers above and tabs below. What somebody changes in the browser goes to the session."""

    def __init__(self, gui: Any, evaluation: Evaluation, visited: Sequence[Array], session: Session) -> None:
        self.robot, self._session = evaluation.robot, session
        start = evaluation.start()
        forces = evaluation.read(start).forces
        gui.add_html(heading_html(self.robot))
        self.readings, self.parts = gui.add_html(""), gui.add_html("")
        self.tabs = gui.add_tab_group()
        with self.tabs.add_tab("Move"):
            self._build_motion(gui, start, visited)
        with self.tabs.add_tab("Loads"):
            self._build_loads(gui, evaluation, payload_range(forces))
        with self.tabs.add_tab("Show"):
            self._build_shown(gui)

    def show_reading(self, reading: Reading, scales: Array) -> None:
        self.readings.content = readings_html(self.robot, reading, scales)

    def show_state(self, state: State, coordinates: Array) -> None:
        """Moves the sliders to a state that did not come from them, those of the position to coordinates (n,)."""
        for group in GROUPS:
            values = coordinates if group == "position" else getattr(state, group)
            for slider, limits, value in zip(self.sliders[group], self.ranges[group], values, strict=True):
                slider.value = limits.stepped(float(value))
        if self.payload is not None:
            self.payload.value = self._masses.stepped(state.payload)
        if self.gravity is not None:
            self.gravity.value = self._gravities.stepped(state.gravity)
        if self.formulation is not None:
            self.formulation.value = state.formulation or self.robot.formulations.default

    # ------------------------------------------------------------------------------------------------------- making

    def _build_motion(self, gui: Any, start: State, visited: Sequence[Array]) -> None:
        robot = self.robot
        self.ranges = {
            "position": position_ranges(robot, visited),
            "velocity": velocity_ranges(robot),
            "acceleration": acceleration_ranges(robot),
        }
        self.sliders: dict[str, list[Any]] = {}
        labels = {
            "position": [f"{c.name} ({c.unit})" for c in robot.coordinates],
            "velocity": [f"{c.velocity_column} ({c.unit}/s)" for c in robot.coordinates],
            "acceleration": [f"{c.acceleration_column} ({c.unit}/s²)" for c in robot.coordinates],
        }
        start = start._replace(position=robot.positions.coordinates(start.position))
        for group in GROUPS:
            rows = enumerate(zip(labels[group], self.ranges[group], getattr(start, group), strict=True))
            with gui.add_folder(group.capitalize(), expand_by_default=group == "position"):
                self.sliders[group] = [
                    _slider(gui, label, limits, float(value), partial(self._session.change, group, k))
                    for k, (label, limits, value) in rows
                ]
        buttons = gui.add_button_group("", ("At rest", "Home"))
        buttons.on_click(from_user(lambda name: self._session.rest(home=name == "Home")))

    def _build_loads(self, gui: Any, evaluation: Evaluation, masses: Range) -> None:
        self.payload = self.gravity = self.formulation = None
        self._masses, self._gravities = masses, gravity_range(evaluation.gravity)
        if evaluation.problem:
            return
        load = self._session.load
        if evaluation.takes_payload:
            self.payload = _slider(gui, "Payload (kg)", masses, 0.0, lambda mass: load(payload=mass))
        if evaluation.takes_gravity:
            own = evaluation.gravity
            self.gravity = _slider(gui, "Gravity (m/s²)", self._gravities, own, lambda size: load(gravity=size))
        if len(names := evaluation.formulations) > 1:
            default = self.robot.formulations.default
            hint = "Others show how far they are from the default"
            self.formulation = gui.add_dropdown("Formulation", names, initial_value=default, hint=hint)
            self.formulation.on_update(from_user(lambda name: load(formulation=name)))
        gui.add_button("Reset loads").on_click(from_user(lambda _: self._session.reset_loads()))

    def _build_shown(self, gui: Any) -> None:
        start = VisibleParts()
        self.checkboxes = {
            name: gui.add_checkbox(label, getattr(start, name), hint=hint or None)
            for name, label, hint in CHECKBOXES
            if name != "shapes" or len(self._session.scene.shapes)
        }
        for box in self.checkboxes.values():
            box.on_update(from_user(lambda _: self._session.show(self.shown())))

    def shown(self) -> VisibleParts:
        return VisibleParts(**{name: bool(box.value) for name, box in self.checkboxes.items()})


class Range(NamedTuple):
    """lower, upper and step of a slider."""

    lower: float
    upper: float
    step: float

    def within(self, value: float) -> float:
        return min(max(value, self.lower), self.upper)

    def stepped(self, value: float) -> float:
        """The slider's place for a value: a whole number of steps, so that it has few digits."""
        return self.within(round(value, -math.floor(math.log10(self.step) + 0.5)))


def _slider(gui: Any, label: str, limits: Range, value: float, act: Callable[[float], None]) -> Any:
    """A slider that acts with what a user wants, within its limits."""
    slider = gui.add_slider(label, limits.lower, limits.upper, limits.step, limits.stepped(value))
    slider.on_update(from_user(lambda wanted: act(limits.within(wanted))))
    return slider


def range_of(lower: float, upper: float) -> Range:
    """Range with a decimal step, at least a thousand of them."""
    width = upper - lower if upper > lower else 1.0
    digits = -math.floor(math.log10(width / SLIDER_STEPS))
    return Range(round(lower, digits), round(lower + width, digits), 10.0**-digits)


def position_ranges(robot: Robot, visited: Sequence[Array]) -> list[Range]:
    """The limits of the coordinates; without them a turn, or where random states and motions bring the robot.

    visited: (k, N) positions each, that must be within
    """
    home = robot.positions.coordinates(np.asarray(robot.positions.default, float))
    try:
        tried = home + RANGE_WIDTH * (robot.positions.coordinates(robot.random_states(RANGE_STATES)[0]) - home)
    except TauforgeError:  # a robot that hardly stands anywhere
        tried = home + np.array([[-0.5], [0.5]])
    rows, seen = np.concatenate([tried, home[None]]), [robot.positions.coordinates(np.asarray(v)) for v in visited]
    found = []
    for k, coordinate in enumerate(robot.coordinates):
        inside = np.concatenate([home[None, k], *(v[:, k] for v in seen)])
        low, high = rows[:, k].min(), rows[:, k].max()
        if coordinate.turns:  # a pose is hardly anywhere with a half turn, a crank is
            whole = k not in robot.positions.pose
            low, high = (-math.pi, math.pi) if whole else (max(low, -math.pi), min(high, math.pi))
        lower = coordinate.lower if math.isfinite(coordinate.lower) else low
        upper = coordinate.upper if math.isfinite(coordinate.upper) else high
        found.append(range_of(float(min(lower, inside.min())), float(max(upper, inside.max()))))
    return found


def velocity_ranges(robot: Robot) -> list[Range]:
    speeds = [c.max_speed if math.isfinite(c.max_speed) else FASTEST[c.unit] for c in robot.coordinates]
    return [range_of(-speed, speed) for speed in speeds]


def acceleration_ranges(robot: Robot) -> list[Range]:
    return [range_of(-QUICKEST[c.unit], QUICKEST[c.unit]) for c in robot.coordinates]


def payload_range(forces: Array) -> Range:
    """Range up to a mass whose weight is about the largest of the holding forces, as 1, 2 or 5 times a power of ten."""
    largest = float(np.nan_to_num(np.abs(forces)).max(initial=0.0)) / STANDARD_GRAVITY
    if not largest > 0:
        return range_of(0.0, 10.0)
    power = 10.0 ** math.floor(math.log10(largest))
    return range_of(0.0, next(power * m for m in (1, 2, 5, 10) if power * m >= largest))


def gravity_range(gravity: float) -> Range:
    return range_of(0.0, max(MOST_GRAVITY, gravity))


class Gizmo:
    """Handle that follows the moved body; while somebody drags it, the body follows the handle."""

    def __init__(self, scene: Any, robot: Robot, size: float, session: Session) -> None:
        self._name, self._session = body_name(robot), session
        self._dragged_at: float | None = None
        self._controls: Any = None
        drawing = robot.drawing(np.asarray(robot.positions.default, float))
        if robot.moved_body is None or self._pose(drawing) is None:
            return
        scale = HANDLE_SCALE * size
        self._controls = scene.add_transform_controls("/gizmo", scale=scale, depth_test=False, opacity=0.6)
        self._controls.on_update(self._moved)
        self.follow(drawing, visible=True)

    @property
    def patience(self) -> float | None:
        """Time until it must be looked at again, s; None for never."""
        return None if self._dragged_at is None else LETS_GO

    def follow(self, drawing: Drawing, visible: bool) -> None:
        """Moves the handle to the moved body, unless it is being dragged."""
        if self._controls is None:
            return
        self._controls.visible = visible
        if self._dragged_at is not None and time.perf_counter() - self._dragged_at < LETS_GO:
            return
        self._dragged_at = None
        if (pose := self._pose(drawing)) is not None:
            self._controls.position, self._controls.wxyz = pose[:3, 3], quaternions(pose[:3, :3])

    async def _moved(self, event: Any) -> None:
        if event.phase == "end":
            self._dragged_at = -np.inf
            self._session.let_go()
        elif event.phase == "update":
            self._dragged_at = time.perf_counter()
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = rotation(np.asarray(event.target.wxyz, float)), event.target.position
            self._session.drag(pose)

    def _pose(self, drawing: Drawing) -> Array | None:
        """(4, 4) world <- moved body."""
        return next((frame.transform for frame in drawing.frames if frame.name == self._name), None)
