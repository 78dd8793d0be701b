"""`view`: a robot live in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauforge.cli import interrupts
from tauforge.cli.inputs import load_robot, read_motion
from tauforge.cli.options import File, Lock, Robot, Smooth, Tip, setting, switch
from tauforge.cli.output import bad, note, warn
from tauforge.errors import one_line

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot as AnyRobot
    from tauforge.simulation.recording import Recording
    from tauforge.viewer.viewer import Viewer


def view(
    robot: Robot,
    motion: Annotated[File, setting("FILE.csv", "A motion to play, with the forces that it needs.")] = None,
    recording: Annotated[File, setting("FILE.npz", "A run to play, as simulate writes it; .csv, too.")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="To listen on; 0 for any free one. Default the first free from 8080 on."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            help="Default 127.0.0.1. Another address lets other machines in; the url then has a secret token."
        ),
    ] = None,
    no_open: Annotated[bool, switch("--no-open", "Do not open a browser.")] = False,
    smooth: Smooth = None,
    tip: Tip = None,
    lock: Lock = None,
) -> None:
    """A robot live in the browser: move it, load it, play motions and runs, and see its forces. Ctrl-C ends it."""
    from tauforge.viewer.viewer import view as start

    if smooth is not None and motion is None:
        raise bad("--smooth", "there is no --motion to smooth")
    mine = load_robot(robot, tip, lock)
    shown: dict[str, Any] = {}
    if recording is not None:
        shown[recording.name] = _recording(recording, mine)
    if motion is not None:
        shown[motion.name] = read_motion(motion, mine, smooth)
    where: dict[str, Any] = {} if host is None else {"host": host}
    with start(mine, shown, port=port, **where) as viewer:
        try:
            _tell(mine.name, viewer, not no_open)
            viewer.wait()
        except KeyboardInterrupt:
            interrupts.end()  # that is how this command ends; a second Ctrl-C must not cut its cleaning up short


def _recording(path: Path, robot: AnyRobot) -> Recording:
    """Reads a file. A recording that does not fit the robot is refused by the words of this command."""
    from tauforge.errors import ModelError, ShapeError
    from tauforge.simulation.recording import Recording, check_recording

    found = Recording.load(path)
    try:
        check_recording(robot, found, "--recording")
    except (ModelError, ShapeError) as error:  # its remedy is for programs
        raise bad("--recording", f"{path}: {error.reason}") from None
    return found


def _tell(name: str, viewer: Viewer, open_browser: bool) -> None:
    """Prints the address of the robot, who can reach it, and how to end."""
    from tauforge.viewer.viewer import opened

    if viewer.server.token is not None:
        warn(
            f"other machines can reach {viewer.server.host}: whoever has the url below sees and moves the robot, and "
            "what is sent is not encrypted"
        )
    note("Ctrl-C ends it")
    print(one_line(f"{name} is at {viewer.url}"), flush=True)  # a pipe must not keep it back
    if open_browser and not opened(viewer.url):
        note("no browser could be opened; open the url yourself")
