"""Draws the pictures of docs/workspace.md into docs/images."""

from __future__ import annotations

from pathlib import Path

import tauforge as tf

IMAGES = Path(__file__).parent.parent / "docs" / "images"
DOTS_PER_INCH = 90


def main() -> None:
    rig, arm = tf.load("motion-rig"), tf.load("panda")
    figures = {
        "reach": tf.workspace.reach(rig).plot(),
        "limits": tf.workspace.map(rig, "limit", {"x": (-0.7, 0.7, 281), "z": (0.7, 1.45, 151)}).plot(),
        "surface": tf.workspace.surface(rig).plot(),
        "polar": tf.workspace.polar(rig, ("x", "z")).plot(),
        "capacity": tf.workspace.map(
            arm, "capacity", {"joint2": (-1.76, 1.76, 177), "joint4": (-3.07, -0.07, 151)}
        ).plot(),
    }
    for name, figure in figures.items():
        figure.savefig(IMAGES / f"workspace-{name}.png", dpi=DOTS_PER_INCH)


if __name__ == "__main__":
    main()
