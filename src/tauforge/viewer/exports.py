"""What a tab can save: a picture of the scene, the run as CSV, and what `tf.animate` writes."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tauforge.errors import ModelError, TauforgeError
from tauforge.pictures import animate
from tauforge.robots.robot import Robot
from tauforge.simulation.recording import Recording
from tauforge.tables.robot_columns import TIME, columns_of
from tauforge.tables.table import write_csv
from tauforge.viewer.playback import Clip
from tauforge.viewer.requests import Requests

PICTURE_SIDE = 1600  # pixels, at most
RENDER_SECONDS = 20.0
ANIMATIONS = ("html", "gif", "mp4")


def add_exports(server: Any, session: Requests, *, playing: bool) -> None:
    """A button for each kind of file; those of a run only where one is played."""
    kinds = ("png", "csv", *ANIMATIONS) if playing else ("png",)
    with server.gui.add_folder("Save as", expand_by_default=False):
        buttons = server.gui.add_button_group("", [kind.upper() for kind in kinds])

    def save(event: Any) -> None:  # in a thread of viser's pool: this may take a while
        kind = str(event.target.value).lower()
        if event.client is None or kind not in kinds:
            return
        note = event.client.add_notification("Save", f"writing {kind.upper()}", loading=True, with_close_button=False)
        try:
            content = picture(event.client) if kind == "png" else file_of(session, kind)
            event.client.send_file_download(f"{file_name(session.robot)}.{kind}", content, save_immediately=True)
        except (TauforgeError, OSError, RuntimeError) as error:  # a full disk, no answer in time, a tab that is gone
            event.client.add_notification("Not saved", str(error), color="red")
        finally:
            note.remove()

    buttons.on_click(save)


def file_of(session: Requests, kind: str) -> bytes:
    """The content of a file about what is played; ModelError where `tf.animate` cannot write it."""
    robot, clip, state = session.robot, session.clip, session.state
    assert clip is not None
    if kind == "csv":
        return csv_of(robot, clip)
    options: dict[str, Any] = {}
    loads = session.evaluation.loads_text(state)
    if loads and not clip.is_recorded:  # a recording has its own
        options = {"forces": session.evaluation.forces_along(state), "title": f"{robot.name}: {loads}"}
    with tempfile.TemporaryDirectory() as folder:
        return animate(robot, clip.shown, Path(folder) / f"run.{kind}", **options).read_bytes()


def csv_of(robot: Robot, clip: Clip) -> bytes:
    """The recording as it saves itself; a motion as a table of time, position, velocity, acceleration and force."""
    text = io.StringIO()
    if isinstance(clip.shown, Recording):
        clip.shown.write_csv(text)
        return text.getvalue().encode()
    own, frames = columns_of(robot), clip.frames
    coordinates = robot.positions.coordinates(frames.position)  # a mechanism's position has more numbers
    rows = np.column_stack([frames.times, coordinates, frames.velocity, frames.acceleration, frames.force])
    write_csv(text, [TIME, *own.position, *own.velocity, *own.acceleration, *own.force], rows)
    return text.getvalue().encode()


def picture(client: Any) -> bytes:
    """The scene as the tab sees it, PNG with a transparent background."""
    import imageio.v3 as imageio

    height, width = client.camera.image_height, client.camera.image_width
    if not height or not width:
        raise ModelError("the tab shows no picture to save")
    scale = min(1.0, PICTURE_SIDE / max(height, width))
    pixels = client.get_render(int(scale * height), int(scale * width), transport_format="png", timeout=RENDER_SECONDS)
    return bytes(imageio.imwrite("<bytes>", pixels, extension=".png"))


def file_name(robot: Robot) -> str:
    """The robot's name, with nothing that file systems refuse."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in robot.name) or "robot"
