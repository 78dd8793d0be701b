"""A robot that moves, with the forces of its actuators: on a page of HTML that needs nothing else, or as a film."""

from __future__ import annotations

import html
import json
import os
import shutil
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

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
PAGE_SCRIPTS = ("data", "camera", "shapes", "scene", "chart", "panel", "player")  # each needs only those before it


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
        if size is not None:
            raise ShapeError("size", expected="None, for a page fills its window", got=repr(size))
        data = animation_data(robot, animation_frames(robot, shown, Pace(frames_per_second), forces))
        page = animation_page(data, heading).encode("utf-8", errors="xmlcharrefreplace")
    else:
        most = MOST_GIF_FRAMES if suffix == GIF else MOST_FRAMES
        film_size = _film_size(size, suffix)
        frames = animation_frames(robot, shown, Pace(frames_per_second, most, film=True), forces)
        if suffix == GIF and frames_per_second > FASTEST_GIF:
            expected, hint = f"at most {FASTEST_GIF} in a GIF", f"An {MP4} file can have more"
            raise ShapeError("frames_per_second", expected=expected, got=repr(frames_per_second), hint=hint)
        if not frames.duration:
            raise ShapeError("shown", expected="a motion that lasts", got="a single instant")
        film = Film(robot, frames, film_size, heading)
    try:
        with written_whole(target) as file:
            if suffix == PAGE:
                file.write(page)
            else:
                (write_gif if suffix == GIF else write_mp4)(film, file)
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
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Template(_read("page.html")).substitute(
        title=html.escape(title),
        style=_read("page.css"),
        data=text.replace("<", "\\u003c"),  # it cannot end the script element that it stands in
        script="\n".join(_read(f"{name}.js") for name in PAGE_SCRIPTS),
    )


def _read(name: str) -> str:
    return (files("tauforge.pictures") / "page" / name).read_text(encoding="utf-8")
