"""A robot that moves, with the forces of its actuators: on a page of HTML that needs nothing else, or as a film."""

from __future__ import annotations

import html
import json
import os
import shutil
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, BinaryIO

from tauforge.errors import ModelError, ShapeError
from tauforge.files import written_whole
from tauforge.motion.motion import Motion
from tauforge.pictures.animation_frames import MOST_FRAMES, Forces, Pace, animation_data, animation_frames
from tauforge.pictures.film import FFMPEG, Film, write_gif, write_mp4
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import check_robot
from tauforge.simulation.recording import Recording

PAGE, GIF, MP4 = SUFFIXES = (".html", ".gif", ".mp4")
FILM_SIZE = (960, 540)
SMALLEST, LARGEST = 120, 4096  # pixels
FASTEST_GIF = 50  # frames a second: browsers slow down what lasts less than two hundredths of a second
MOST_GIF_FRAMES = 600  # all are in memory until the file is written
PAGE_SCRIPTS = (
    "data",
    "camera",
    "shapes",
    "scene",
    "chart",
    "panel",
    "player",
)  # in the order in which they need each other


def animate(
    robot: Robot,
    shown: Motion | Recording,
    path: str | os.PathLike[str],
    *,
    frames_per_second: float = 30.0,
    size: tuple[int, int] | None = None,
    title: str | None = None,
    forces: Forces | None = None,
) -> Path:
    """Writes a page or a film of the robot's motion with the force of every actuator; returns its path.

    The page is one file that works without a network. It plays, pauses and scrubs; the picture turns and zooms. A film
    plays as long as the motion lasts, and a GIF begins again. A GIF needs matplotlib, an MP4 the program ffmpeg too.

    shown:             a motion, whose forces are those of `inverse_dynamics` (none at a singular pose), or a recording
                       with forces of its own, whose target is drawn faintly
    path:              the file to write, .html, .gif or .mp4; one that exists is replaced
    frames_per_second: how finely the motion is sampled, at most 50 in a GIF. A page or an MP4 has at most 3,000 frames,
                       a GIF 600; longer motions have fewer per second.
    size:              (width, height) of a film, pixels, even numbers for MP4; default (960, 540). A page fills its
                       window.
    title:             the heading; by default the robot's name
    forces:            those of a motion, such as with a payload: a function of position, velocity and acceleration,
                       (k, n) each, that returns (k, m) N m or N; by default `inverse_dynamics`

    ModelError for another suffix, a folder that does not exist, a recording of another robot, or where ffmpeg is
    missing; ShapeError for a motion with another number of coordinates, or a size or rate that the file cannot have;
    UnsupportedFeatureError for a robot whose drawing is empty.
    """
    check_robot("robot", robot)
    target = Path(path)
    suffix = checked_suffix(target)
    if title is not None and not isinstance(title, str):
        raise ModelError(f"expected a text or None, got {title!r}", field="title")
    heading = robot.name if title is None else title
    if suffix == PAGE:
        write = _page(robot, shown, frames_per_second, size, heading, forces)
    else:
        write = _film(robot, shown, frames_per_second, _film_size(size, suffix), heading, forces, gif=suffix == GIF)
    try:
        with written_whole(target) as file:
            write(file)
    except ModelError as error:
        raise error.located(target) from None
    return target


def checked_suffix(path: Path) -> str:
    """In lower case; ModelError where no such file can be written, or not on this machine."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        known = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise ModelError(f"unknown suffix {path.suffix!r}", file=path, remedy=f"Use {known}")
    if suffix == MP4 and shutil.which(FFMPEG) is None:
        problem = f"an MP4 needs the program {FFMPEG}, which is not on the PATH"
        raise ModelError(problem, file=path, remedy=f"Install {FFMPEG}, or write a {GIF} or {PAGE} file")
    return suffix


def _page(
    robot: Robot, shown: object, rate: float, size: object, title: str, forces: Forces | None
) -> Callable[[BinaryIO], object]:
    if size is not None:
        raise ShapeError("size", expected="None, for a page fills its window", got=repr(size))
    text = animation_page(animation_data(robot, animation_frames(robot, shown, Pace(rate), forces)), title)
    return lambda file: file.write(text.encode("utf-8", errors="xmlcharrefreplace"))


def _film(
    robot: Robot,
    shown: object,
    rate: float,
    size: tuple[int, int],
    title: str,
    forces: Forces | None,
    *,
    gif: bool,
) -> Callable[[BinaryIO], None]:
    """Checks, and makes ready to draw; frames are drawn while the file is written."""
    frames = animation_frames(robot, shown, Pace(rate, MOST_GIF_FRAMES if gif else MOST_FRAMES, film=True), forces)
    if gif and rate > FASTEST_GIF:
        hint = f"An {MP4} file can have more"
        raise ShapeError("frames_per_second", expected=f"at most {FASTEST_GIF} in a GIF", got=repr(rate), hint=hint)
    if not frames.duration:
        raise ShapeError("shown", expected="a motion that lasts", got="a single instant")
    film = Film(robot, frames, size, title)
    return lambda file: write_gif(film, file) if gif else write_mp4(film, file)


def _film_size(given: object, suffix: str) -> tuple[int, int]:
    if given is None:
        return FILM_SIZE
    step = 2 if suffix == MP4 else 1
    try:
        width, height = (side.__index__() for side in given)  # type: ignore[attr-defined]
    except (TypeError, ValueError, AttributeError):
        width = height = 0
    if not all(SMALLEST <= side <= LARGEST and side % step == 0 for side in (width, height)):
        kind = "even whole numbers" if step == 2 else "whole numbers"
        expected = f"(width, height) in pixels, {kind} from {SMALLEST} to {LARGEST}"
        raise ShapeError("size", expected=expected, got=repr(given))
    return width, height


def animation_page(data: Mapping[str, Any], title: str) -> str:
    """The whole text. Title and names may contain anything."""
    return Template(_read("page.html")).substitute(
        title=html.escape(title),
        style=_read("page.css"),
        data=_script_text(data),
        script="\n".join(_read(f"{name}.js") for name in PAGE_SCRIPTS),
    )


def _script_text(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _read(name: str) -> str:
    return (files("tauforge.pictures") / "page" / name).read_text(encoding="utf-8")
