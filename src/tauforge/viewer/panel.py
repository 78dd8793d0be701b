"""The panel: numbers, sliders, loads and what is shown. It is made from the robot's contract alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tauforge.arrays import Array
from tauforge.viewer.evaluation import Evaluation, Reading, State
from tauforge.viewer.panel_text import heading_html, readings_html
from tauforge.viewer.ranges import (
    Range,
    acceleration_ranges,
    gravity_range,
    payload_range,
    position_ranges,
    velocity_ranges,
)
from tauforge.viewer.requests import Requests
from tauforge.viewer.scene import Shown

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


def from_user(act: Callable[[Any], None]) -> Callable[[Any], Any]:
    """A callback for viser's thread that passes on what a tab said, not what we set ourselves."""

    async def answer(event: Any) -> None:
        if event.client_id is not None:
            act(event.target.value)

    return answer


class Panel:
    """Numbers above, tabs below. What somebody changes in a tab of the browser goes to the session."""

    def __init__(self, gui: Any, evaluation: Evaluation, visited: Sequence[Array], session: Requests) -> None:
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
            self.formulation.value = state.formulation or self.robot.default_formulation

    # ------------------------------------------------------------------------------------------------------- making

    def _build_motion(self, gui: Any, start: State, visited: Sequence[Array]) -> None:
        robot = self.robot
        self.ranges = {
            "position": position_ranges(robot, visited),
            "velocity": velocity_ranges(robot),
            "acceleration": acceleration_ranges(robot),
        }
        self.sliders: dict[str, list[Any]] = {}
        columns = {
            "position": [(c.name, c.unit) for c in robot.coordinates],
            "velocity": [(c.velocity_column, f"{c.unit}/s") for c in robot.coordinates],
            "acceleration": [(c.acceleration_column, f"{c.unit}/s²") for c in robot.coordinates],
        }
        values = {
            "position": robot.positions.coordinates(start.position),
            "velocity": start.velocity,
            "acceleration": start.acceleration,
        }
        for group in GROUPS:
            with gui.add_folder(group.capitalize(), expand_by_default=group == "position"):
                self.sliders[group] = [
                    self._slider(gui, f"{name} ({unit})", self.ranges[group][k], float(values[group][k]))
                    for k, (name, unit) in enumerate(columns[group])
                ]
            for k, slider in enumerate(self.sliders[group]):
                slider.on_update(from_user(self._moved(group, k)))
        buttons = gui.add_button_group("", ("At rest", "Home"))
        buttons.on_click(from_user(lambda name: self._session.rest(home=name == "Home")))

    def _moved(self, group: str, k: int) -> Callable[[float], None]:
        def act(value: float) -> None:
            self._session.change(group, k, self.ranges[group][k].within(value))

        return act

    def _slider(self, gui: Any, label: str, limits: Range, value: float) -> Any:
        return gui.add_slider(label, limits.lower, limits.upper, limits.step, limits.stepped(value))

    def _build_loads(self, gui: Any, evaluation: Evaluation, masses: Range) -> None:
        self.payload = self.gravity = self.formulation = None
        self._masses, self._gravities = masses, gravity_range(evaluation.gravity)
        if evaluation.problem:
            return
        if evaluation.takes_payload:
            self.payload = self._slider(gui, "Payload (kg)", masses, 0.0)
            self.payload.on_update(from_user(self._loaded("payload", masses)))
        if evaluation.takes_gravity:
            self.gravity = self._slider(gui, "Gravity (m/s²)", self._gravities, evaluation.gravity)
            self.gravity.on_update(from_user(self._loaded("gravity", self._gravities)))
        names = evaluation.formulations
        if len(names) > 1:
            default = self.robot.default_formulation
            self.formulation = gui.add_dropdown(
                "Formulation", names, initial_value=default, hint="Others show how far they are from the default"
            )
            self.formulation.on_update(from_user(lambda name: self._session.load(formulation=name)))
        gui.add_button("Reset loads").on_click(from_user(lambda _: self._session.reset_loads()))

    def _loaded(self, name: str, limits: Range) -> Callable[[float], None]:
        def act(value: float) -> None:
            self._session.load(**{name: limits.within(value)})

        return act

    def _build_shown(self, gui: Any) -> None:
        start = Shown()
        self.checkboxes = {
            name: gui.add_checkbox(label, getattr(start, name), hint=hint or None)
            for name, label, hint in CHECKBOXES
            if name != "shapes" or self._session.has_shapes
        }
        for box in self.checkboxes.values():
            box.on_update(from_user(lambda _: self._session.show(self.shown())))

    def shown(self) -> Shown:
        return Shown(**{name: bool(box.value) for name, box in self.checkboxes.items()})
