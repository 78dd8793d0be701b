"""Draws the picture with which README.md begins: an arm, a hexapod and a Delta robot that hold themselves up."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

import tauforge as tf

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "robots.png"
ROBOTS = ("panda", "motion-rig", "delta")


def main() -> None:
    figure = Figure(figsize=(14.0, 4.6))
    figure.subplots_adjust(left=0.02, right=0.94, bottom=0.1, top=0.92)
    for place, name in enumerate(ROBOTS, 1):
        axes = figure.add_subplot(1, len(ROBOTS), place, projection="3d", computed_zorder=False)
        axes.view_init(elev=20.0, azim=-58.0)
        axes.set_title(f'tf.plot(tf.load("{name}"), forces=...)', family="monospace", fontsize=10)
        robot = tf.load(name)
        position = robot.positions.default
        tf.plot(robot, position, forces=robot.holding_forces(position), frames=[robot.moved_body.name], axes=axes)
    figure.savefig(PICTURE, dpi=100, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
