"""A robot that moves on a page of HTML, with the forces of its actuators."""

from __future__ import annotations

import os
from pathlib import Path

from tauforge.errors import ModelError
from tauforge.files import written_whole
from tauforge.motion.motion import Motion
from tauforge.pictures.animation_data import animation_data
from tauforge.pictures.animation_frames import animation_frames
from tauforge.pictures.animation_page import animation_page
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import check_robot
from tauforge.simulation.recording import Recording

SUFFIX = ".html"


def animate(
    robot: Robot,
    shown: Motion | Recording,
    path: str | os.PathLike[str],
    *,
    frames_per_second: float = 30.0,
    title: str | None = None,
) -> Path:
    """Writes a page that plays the robot's motion and shows the force of every actuator; returns its path.

    The page is one file that works without a network. It plays, pauses and scrubs; the picture turns and zooms.

    shown:             a motion, whose forces are those of `inverse_dynamics` (none at a singular pose), or a recording
                       with forces of its own, whose target is drawn faintly
    path:              the file to write, .html; one that exists is replaced
    frames_per_second: how finely the motion is sampled. A page has at most 3,000 frames, then fewer per second.
    title:             the heading of the page; by default the robot's name

    ModelError for another suffix, a folder that does not exist, or a recording of another robot; ShapeError for a
    motion with another number of coordinates; UnsupportedFeatureError for a robot whose drawing is empty.
    """
    check_robot("robot", robot)
    target = Path(path)
    if target.suffix.lower() != SUFFIX:
        raise ModelError(f"unknown suffix {target.suffix!r}", file=target, remedy=f"Use {SUFFIX}")
    if title is not None and not isinstance(title, str):
        raise ModelError(f"expected a text or None, got {title!r}", field="title")
    frames = animation_frames(robot, shown, frames_per_second)
    text = animation_page(animation_data(robot, frames), robot.name if title is None else title)
    with written_whole(target) as file:
        file.write(text.encode("utf-8", errors="xmlcharrefreplace"))
    return target
