"""Takes the pictures of animations in docs/pictures.md, by the system's Chromium, into docs/images."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import tauforge as tf

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIZE = {"width": 1180, "height": 700}
SHARE = 0.36  # of the way
COARSE = 5  # of 255, the step between two shades


def arm() -> tuple[Any, Any]:
    """Under PD control, which lags behind its target."""
    robot = tf.load("puma560-armstrong").without_friction()
    move = tf.motion.JointMove([0, -1, 1, 0, 0, 0], [1.5, -0.3, 0.3, 1, 1, 1.5], duration=1.2)
    law = tf.control.GravityPD(robot, 150.0, 20.0)
    return robot, tf.simulate(robot, law, move, control_period=0.005)


def platform() -> tuple[Any, Any]:
    robot = tf.load("motion-rig")
    start, end = [-0.15, -0.1, 0.95, 0, -0.1, 0], [0.2, 0.1, 1.1, 0.1, 0.15, 0.2]
    line = tf.motion.StraightLine(start, end, duration=0.8, max_speed=0.8, max_rate=0.7)
    return robot, line


def mechanism() -> tuple[Any, Any]:
    robot = tf.load("delta")
    return robot, tf.motion.JointMove([-0.25, 0.1, 0.5], [0.7, 0.3, 0.0], duration=0.5)


def shrink(path: Path) -> None:
    """By coarser colours. A palette would be smaller, but the colours of two curves may become one."""
    with Image.open(path) as picture:
        plain = picture.convert("RGB").point([COARSE * round(part / COARSE) for part in range(256)] * 3)
    plain.save(path, optimize=True)


def main() -> None:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for name, make in (("arm", arm), ("platform", platform), ("mechanism", mechanism)):
            robot, shown = make()
            address = tf.animate(robot, shown, Path(folder) / f"{name}.html").as_uri()
            page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
            page.goto(address)
            slider = page.locator("input[type=range]")
            last = float(slider.get_attribute("max") or 1)
            slider.fill(str(np.round(SHARE * last)))
            page.wait_for_timeout(300)
            slider.blur()
            path = IMAGES / f"animation-{name}.png"
            page.screenshot(path=path)
            shrink(path)
            print(f"{path.name}: {path.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main()
