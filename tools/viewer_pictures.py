"""Takes the pictures of the viewer in docs/viewer.md, by the system's Chromium, into docs/images."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tauforge as tf

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from support.browser import chromium  # noqa: E402

WIDTH = 1100  # pixels
PATIENCE_MS = 60_000


def taken(browser: Any, viewer: tf.Viewer, tab: str, name: str, height: int) -> None:
    """The page with one of its tabs open, without the browser's remark on drawing by software."""
    page = browser.new_page(viewport={"width": WIDTH, "height": height})
    page.goto(viewer.url)
    page.wait_for_selector("[data-key=force-0]", timeout=PATIENCE_MS)
    page.get_by_role("tab", name=tab).click()
    page.wait_for_timeout(3000)
    for close in page.locator(".mantine-Notification-closeButton").all():
        close.click()
    page.wait_for_timeout(3000)
    path = ROOT / "docs" / "images" / name
    page.screenshot(path=path)
    page.close()
    shrink(path)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


def shrink(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as picture:
        plain = picture.convert("RGB")
    plain.save(path, optimize=True)


def arm_viewer() -> tf.Viewer:
    arm = tf.load("puma560-armstrong")
    viewer = tf.view(arm, port=0)
    for k, angle in enumerate((0.5, -1.1, 2.4, 0.3, 0.7, 0.0)):
        viewer.session.change("position", k, angle)
    assert viewer.session.state.position[2] == 2.4  # asked for its state, the robot follows its coordinates
    viewer.session.rest()  # the sliders follow, too
    viewer.session.change("acceleration", 0, 4.0)
    return viewer


def platform_viewer() -> tf.Viewer:
    rig = tf.load("motion-rig")
    move = tf.motion.PoseMotion(
        tf.motion.JointMove([-0.1, 0, 0.95, 0, -0.1, -0.1], [0.15, 0.05, 1.15, 0.05, 0.12, 0.2], duration=2.0)
    )
    law = tf.control.ComputedTorque(rig, 30.0, 11.0)
    begin = np.array([-0.16, 0.05, 0.9, 0.05, 0.0, -0.15])
    run = tf.simulate(rig, law, move, initial=(begin, np.zeros(6)), control_period=0.005, step=0.005)
    viewer = tf.view(rig, {"computed torque": run}, port=0)
    viewer.session.go(0.25)
    return viewer


def main() -> None:
    with chromium() as browser:
        with arm_viewer() as viewer:
            taken(browser, viewer, "Move", "viewer-arm.png", height=720)
        with platform_viewer() as viewer:
            taken(browser, viewer, "Play", "viewer-platform.png", height=900)


if __name__ == "__main__":
    main()
