"""How quickly the viewer answers: `python viewer.py` drives its page in Chromium and prints what it measured.

Answer: from a tab's message to the queue of what is sent back. Shown: from the key on a slider to the new number on the
page, with what viser waits before it sends (50 ms at most) and before it answers (17 ms). Sent and seen: states a
second while a motion is played, by the server and on the page. Without a GPU the browser draws by software and takes
most of the processor for it; --pixels 0.25 has it draw a sixteenth of them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import tauforge as tf

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.browser import chromium

ROBOTS = ("puma560", "motion-rig")
KEYS = 60
PLAYED = 4.0  # s
SIZE = {"width": 1000, "height": 700}
WATCH = """() => {
  const watched = document.querySelector("[data-key=force-0]").closest("table").parentElement.parentElement;
  window.pressed = null; window.shown = []; window.frames = [];
  new MutationObserver(() => {
    const now = performance.now();
    window.frames.push(now);
    if (window.pressed !== null) { window.shown.push(now - window.pressed); window.pressed = null; }
  }).observe(watched, {childList: true, subtree: true, characterData: true});
  addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
}"""


def opened(browser: Any, viewer: tf.Viewer, pixels: float) -> Any:
    page = browser.new_page(viewport=SIZE, device_scale_factor=pixels)
    page.goto(viewer.url)
    page.wait_for_selector("[data-key=force-0]", timeout=60_000)
    page.wait_for_timeout(2000)
    return page


def measured(browser: Any, name: str, tabs: int, pixels: float) -> dict[str, Any]:
    robot = tf.load(name)
    start = np.asarray(robot.positions.default)
    move: tf.motion.Motion = tf.motion.JointMove(start, start + 0.1, duration=PLAYED / 2)
    if robot.positions.pose:
        move = tf.motion.PoseMotion(move)
    with tf.view(robot, move, port=0) as viewer:
        pages = [opened(browser, viewer, pixels) for _ in range(tabs)]
        page, session = pages[0], viewer.session
        page.bring_to_front()
        page.evaluate(WATCH)
        thumb = page.get_by_role("slider").nth(1)
        thumb.focus()
        session.answer_times.clear()
        for k in range(KEYS):
            thumb.press("ArrowLeft" if k % 20 < 10 else "ArrowRight")
            page.wait_for_timeout(80)
        page.wait_for_timeout(500)
        shown, answers = page.evaluate("window.shown"), list(session.answer_times)
        page.evaluate("window.frames = []")
        before, start_time = session.updates, time.perf_counter()
        session.play(True)
        page.wait_for_timeout(1000 * PLAYED)
        session.play(False)
        sent = (session.updates - before) / (time.perf_counter() - start_time)
        times = page.evaluate("window.frames")
        for one in pages:  # a tab that is left open draws on, and slows down what is measured next
            one.close()
    return {
        "robot": name,
        "tabs": tabs,
        "answer_ms": _middle([1e3 * t for t in answers]),
        "shown_ms": _middle(shown),
        "sent_per_second": round(sent, 1),
        "seen_per_second": round(1e3 * (len(times) - 1) / (times[-1] - times[0]), 1) if len(times) > 1 else 0.0,
    }


def _middle(values: list[float]) -> dict[str, float]:
    """Median and the value that 95 % are below."""
    if not values:
        return {"median": float("nan"), "95 %": float("nan")}
    return {"median": round(statistics.median(values), 2), "95 %": round(float(np.percentile(values, 95)), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tabs", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--pixels", type=float, default=1.0, help="of the browser, to each of the page's")
    arguments = parser.parse_args()
    with chromium() as browser:
        for name in ROBOTS:
            for tabs in arguments.tabs:
                print(json.dumps(measured(browser, name, tabs, arguments.pixels)), flush=True)


if __name__ == "__main__":
    main()
