"""The viewer at work: one state for all tabs, changed by them and by the clock, shown by one thread."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import TauforgeError
from tauforge.robots.drawing import Drawing
from tauforge.robots.positions import body_of
from tauforge.viewer import colours
from tauforge.viewer.evaluation import Evaluation, Loads, Reading, State, not_unique
from tauforge.viewer.figure import named_parts, parts_html
from tauforge.viewer.panel import Gizmo, Panel
from tauforge.viewer.panel_text import force_shares
from tauforge.viewer.playback import Clip, Clock
from tauforge.viewer.playback_panel import PlaybackPanel
from tauforge.viewer.scene import Scene, VisibleParts
from tauforge.viewer.surroundings import furnish, surroundings
from tauforge.viewer.workspace_panel import WorkspacePanel, has_workspace

FRAME_TIME = 1 / 30  # s, between two pictures of what is played
SLIDERS_FOLLOW = 0.2  # s, how often sliders and charts follow what is played
KEPT_TIMES = 1000
AS_RECORDED = "Forces as recorded. Energy and reactions are of the robot alone: a recording does not say its loads."


class Session:
    """One state for all tabs. Callbacks only note what is wanted; the thread takes the newest.

    So a flood of messages costs one answer.
    """

    def __init__(self, server: Any, evaluation: Evaluation, clips: Sequence[Clip]) -> None:
        self.server, self.evaluation, self.robot = server, evaluation, evaluation.robot
        self.answer_times: deque[float] = deque(maxlen=KEPT_TIMES)  # s, from a tab's message to the answer's queue
        self.updates = 0  # how often a state was shown
        self._lock, self._woken, self._closed = threading.Lock(), threading.Event(), False
        self._state, self._shown = evaluation.start(), VisibleParts()
        self._asked: list[float] = []
        self._sliders_late = self._clip_changed = self._charts_late = False
        self._charted: Loads | None = None  # the loads that the charts have
        self._charted_at = 0.0
        self._clip: Clip | None = None
        self._pulled_to: Array | None = None  # the newest pose of the handle
        self._wanted: Array | None = None  # coordinates (n,) of the sliders where the robot is not, or not yet
        self._refused: tuple[Array, str] | None = None  # coordinates that have no position, and why
        self.clock = Clock(0.0, 0.0)
        self._following = False  # the clip decides the state, not the sliders
        units = [actuator.unit for actuator in self.robot.actuators]
        self._scale = colours.ForceScale(units, evaluation.usual_forces())
        around = surroundings(self.robot)
        self.scene = Scene(server.scene, self.robot, around)
        furnish(server, surroundings(self.robot, _together([self.scene.shapes.extent, *(c.extent for c in clips[:1])])))
        self.gizmo = Gizmo(server.scene, self.robot, around.size, self)
        self.panel = Panel(server.gui, evaluation, [clip.frames.position for clip in clips], self)
        with self.panel.tabs.add_tab("Play"):
            self.playback = PlaybackPanel(server, self.robot, clips, self)
        self.workspace: WorkspacePanel | None = None
        if has_workspace(self.robot):
            with self.panel.tabs.add_tab("Workspace"):
                self.workspace = WorkspacePanel(server, self.robot, around.size, self)
        self._update()
        self._thread = threading.Thread(target=self._run, name="tauforge viewer", daemon=True)
        self._thread.start()
        if clips:
            self.choose(clips[0])
        self._warming = threading.Thread(target=self._warm_up, name="tauforge viewer kernels", daemon=True)
        self._warming.start()

    # ----------------------------------------------------------------------------------------- what tabs may ask for

    @property
    def state(self) -> State:
        """Newest state, with what the sliders last said."""
        self._follow_sliders()
        with self._lock:
            return self._state

    @property
    def clip(self) -> Clip | None:
        """The clip that is played; the forces of a motion are those with the chosen loads."""
        with self._lock:
            clip, state = self._clip, self._state
        return None if clip is None else self._with_loads(clip, state)

    def change(self, group: str, k: int, value: float) -> None:
        """Sets one coordinate, or one number of velocity or acceleration."""
        with self._changing():
            numbers = np.array(self._coordinates() if group == "position" else getattr(self._state, group))
            numbers[k] = value
            if group == "position":
                self._wanted = numbers
            else:
                changed: dict[str, Any] = {group: numbers}
                self._state = self._state._replace(**changed)
            self._live()

    def load(self, **changes: Any) -> None:
        """Sets payload, gravity or formulation."""
        with self._changing():
            self._state = self._state._replace(**changes)

    def reset_loads(self) -> None:
        """Restores the robot as it was given: no payload, its own gravity and formulation."""
        with self._changing():
            self._state = self.evaluation.unloaded(self._state)
            self._sliders_late = True

    def show(self, shown: VisibleParts) -> None:
        """Changes what is visible."""
        with self._changing():
            self._shown = shown

    def rest(self, home: bool = False) -> None:
        """Sets velocity and acceleration to 0; home: in the position of pictures."""
        with self._changing():
            start = self.evaluation.start()
            position = start.position if home else self._state.position
            self._wanted = None
            self._scale.forget()
            self._state = State(position, start.velocity, start.acceleration, *self._state.loads)
            self._live()
            self._sliders_late = True

    def drag(self, pose: Array) -> None:
        """Pulls the moved body towards a pose (4, 4)."""
        with self._changing():
            self._pulled_to = pose

    def let_go(self) -> None:
        """The hand has let go of the moved body."""
        self._wake()

    def choose(self, clip: Clip) -> None:
        """Chooses another clip, from its start."""
        with self._changing():
            before = self.clock
            self._clip, self.clock = clip, Clock(clip.start, clip.end)
            self.clock.speed, self.clock.begins_again = before.speed, before.begins_again
            self._following = self._clip_changed = self._sliders_late = True
            self._wanted = None
            self._scale.forget()

    def play(self, playing: bool) -> None:
        """Plays from where the clock is, or stops there."""
        with self._changing():
            if playing and self._clip is not None:
                self.clock.play()
                self._following, self._wanted = True, None
            else:
                self.clock.playing = False
            self._sliders_late = True

    def go(self, when: float) -> None:
        """Goes to a time of the clip, s."""
        with self._changing():
            self.clock.go(when)
            self._following = self._clip is not None
            self._wanted = None if self._following else self._wanted
            self._sliders_late = True

    def set_speed(self, speed: float) -> None:
        """Sets the speed of the clock, beside real time."""
        with self._lock:
            self.clock.speed = speed

    def _coordinates(self) -> Array:
        """Coordinates (n,) of the sliders."""
        return self.robot.positions.coordinates(self._state.position) if self._wanted is None else self._wanted

    def _live(self) -> None:
        """Lets the sliders decide again."""
        if self._following:
            self._scale.forget()
        self._following = self.clock.playing = False

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Holds the lock, and wakes the thread afterwards."""
        with self._lock:
            yield
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            self._asked.append(time.perf_counter())
        self._woken.set()

    def close(self) -> None:
        """Ends the thread. A second time it does nothing."""
        self._closed = True
        self._woken.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)
        self._warming.join(timeout=5.0)  # a compiler that runs while the program ends may crash

    # ----------------------------------------------------------------------------------------------------- the thread

    def _run(self) -> None:
        last = followed = due = time.perf_counter()
        ran = False  # the clock, since `last`
        while True:
            patience = SLIDERS_FOLLOW if self._charts_late else self.gizmo.patience
            self._woken.wait(due - time.perf_counter() if self.clock.playing else patience)
            if self._closed:
                return
            self._woken.clear()
            now = time.perf_counter()
            if now >= due:  # a late picture does not delay those after it
                due = max(due + FRAME_TIME, now)
            with self._lock:
                self.clock.advance(now - last if ran else 0.0)
                ended, ran = ran and not self.clock.playing, self.clock.playing
                self._sliders_late |= ended or (ran and now - followed > SLIDERS_FOLLOW)
                followed = now if self._sliders_late else followed
            last = now
            try:
                self._update()
            except Exception:  # whatever happens to one state, the next one must be shown
                self.panel.readings.content = f"<pre>{escape(traceback.format_exc(limit=1)[-300:])}</pre>"

    def _warm_up(self) -> None:
        """Compiles ahead: the first payload must not wait for the compiler."""
        with contextlib.suppress(TauforgeError):  # what goes wrong is said when somebody asks for it
            self.evaluation.warm_up(lambda: not self._closed)

    def _update(self) -> None:
        """Shows the newest state."""
        self._follow_handle()
        unreached = self._follow_sliders()
        with self._lock:
            clip, following, asked, late = self._clip, self._following, self._asked, self._sliders_late
            changed, shown, when = self._clip_changed, self._shown, self.clock.time
            self._asked, self._sliders_late, self._clip_changed = [], False, False
            frame = clip.frame_at(when) if following and clip is not None else None
            if frame is not None and clip is not None:
                motion = clip.frames.position, clip.frames.velocity, clip.frames.acceleration
                q, qd, qdd = (rows[frame] for rows in motion)
                self._state = State(q, qd, qdd, *self._state.loads)
            state, coordinates = self._state, self._coordinates()
        played = clip if frame is not None else None
        recorded = played is not None and played.is_recorded
        valid = self.evaluation.unloaded(state) if recorded else state
        reading = self.evaluation.read(valid)._replace(unreached=unreached)
        target = None
        if played is not None and frame is not None:
            if recorded:
                reading = reading._replace(forces=played.frames.force[frame], problem="", note=AS_RECORDED)
            if played.frames.target is not None:
                target = self.robot.drawing(played.frames.target[frame])
        drawing = self.robot.drawing(state.position)
        reactions = self.evaluation.reactions(valid) if shown.reactions else ()
        reading = reading._replace(note=f"{reading.note} {not_unique(reactions)}".strip())
        with self.server.atomic():
            self.scene.show(shown)
            self._show_forces(drawing, reading, target, reactions)
            self.gizmo.follow(drawing, shown.handle)
            if changed and clip is not None:
                self.scene.mark_path(clip.path, clip.singular)
            if clip is not None:
                self._show_charts(clip, state, when, changed)
            if late:
                self.panel.show_state(state, coordinates)
                self.playback.show_time(when, self.clock.playing)
        self.server.flush()
        done = time.perf_counter()
        self.updates += 1
        self.answer_times.extend(done - at for at in asked)

    def _follow_handle(self) -> None:
        """Solves inverse kinematics for the newest pose of the handle: slowly, so not in viser's thread."""
        with self._lock:
            pose, self._pulled_to = self._pulled_to, None
            near = self._state.position
        if pose is None:
            return
        try:
            position = np.asarray(body_of(self.robot).towards(pose, near), float)
        except TauforgeError:
            return  # the hand is somewhere the robot cannot follow
        if np.isfinite(position).all():
            with self._lock:
                self._state = self._state._replace(position=position)
                self._wanted = None
                self._live()
                self._sliders_late = True

    def _follow_sliders(self) -> str:
        """Takes the position that has the sliders' coordinates. Where there is none, the robot stays; returns why."""
        with self._lock:
            wanted, near = self._wanted, self._state.position
        if wanted is None:
            return ""
        if self._refused is None or self._refused[0] is not wanted:
            try:
                position = self.robot.positions.at(wanted, near)
            except TauforgeError as error:
                with self._lock:
                    self._refused = wanted, f"The robot stays where it was. {error.reason}"
            else:
                with self._lock:
                    if self._wanted is not None:  # else Home, a hand or a clip has put the robot elsewhere meanwhile
                        self._state = self._state._replace(position=position)
                        self._wanted = None if self._wanted is wanted else self._wanted
                return ""
        return self._refused[1]

    def _with_loads(self, clip: Clip, state: State) -> Clip:
        """A motion with the forces of the loads; a recording has its own."""
        return clip if clip.is_recorded else clip.with_forces(self.evaluation.forces_along(state))

    def _show_charts(self, clip: Clip, state: State, when: float, changed: bool) -> None:
        """Shows charts of a new clip, and now and then those of other loads: not at every step of a slider."""
        stale = changed or (not clip.is_recorded and self._charted != state.loads)
        now = time.perf_counter()
        self._charts_late = stale and not changed and now - self._charted_at < SLIDERS_FOLLOW
        if not stale or self._charts_late:
            return
        self._charted, self._charted_at = state.loads, now
        if changed:
            self.playback.show_clip(self._with_loads(clip, state))
        else:
            self.playback.show_forces(self._with_loads(clip, state), when)

    def _show_forces(
        self, drawing: Drawing, reading: Reading, target: Drawing | None, reactions: tuple[Any, ...]
    ) -> None:
        scales = self._scale.of(reading.forces)
        shares = force_shares(self.robot, reading.forces)
        rgb = colours.rgb_rows([colours.of_share(float(share)) for share in shares])
        self.scene.move(drawing, reading.forces / scales, rgb, target, reactions)
        self.panel.show_reading(reading, scales)
        self.panel.parts.content = parts_html(named_parts(drawing, self.scene.size), self.scene.size)


def _together(extents: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The smallest and the largest coordinates (3,) of several boxes."""
    lows, highs = zip(*extents, strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)
