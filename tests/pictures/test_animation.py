"""tf.animate: the page gets what the library computes, whatever names contain, and refuses what it cannot show."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from tauforge.pictures.animation_frames import MOST_FRAMES
from tauforge.robots.drawing import Drawing
from tauforge.simulation.recording import ARRAYS

SINGLE = 1e-6  # relative: the page has numbers of 32 bits
HOSTILE = "</script><b onclick='x'>&\u2028\"$title"


class Page(HTMLParser):
    """The scripts and the title of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: str | None = None
        self.texts: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = None

    def handle_data(self, data: str) -> None:
        if self.inside is not None:
            self.texts[self.inside] = self.texts.get(self.inside, "") + data


def shown(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the page's script reads: the data, and the arrays in it with a row for each frame."""
    data = json.loads(Page(path.read_text(encoding="utf-8")).texts["data"])
    arrays = {
        name: np.frombuffer(base64.b64decode(text), "<f4").reshape(data["count"], -1)
        for name, text in data["arrays"].items()
    }
    return data, arrays


def move(arm: tf.SerialArm, duration: float = 1.0) -> tf.motion.Motion:
    return tf.motion.JointMove(np.zeros(arm.n), np.linspace(0.3, 1.0, arm.n), duration=duration)


def heave() -> tf.motion.Motion:
    return tf.motion.PoseMotion(tf.motion.JointMove([0, 0, 0.9, 0, 0, 0], [0.1, 0, 1.1, 0, 0.1, 0.2], duration=0.5))


def recorded(arm: tf.SerialArm) -> tf.Recording:
    law = tf.control.ComputedTorque(arm, 100.0, 20.0)
    return tf.simulate(arm, law, move(arm, 0.3), control_period=0.01, step=0.01)


def swing() -> tf.motion.Motion:
    """Its coordinates are the two cranks', its positions those of five joints."""
    start = tf.load("five-bar").positions.coordinates(tf.load("five-bar").home)
    return tf.motion.JointMove(start, start + [0.3, -0.2], duration=0.4)


CASES = {
    "puma560": move(tf.load("puma560")),
    "scara": move(tf.load("scara")),
    "motion-rig": heave(),
    "five-bar": swing(),
}


@pytest.mark.parametrize("name", CASES)
def test_frames_are_the_robots_drawing_and_forces_its_inverse_dynamics(name: str, tmp_path: Path) -> None:
    robot, motion = tf.load(name), CASES[name]
    data, arrays = shown(tf.animate(robot, motion, tmp_path / "page.html", frames_per_second=20))
    assert data["count"] == round(20 * motion.duration) + 1
    assert (data["start"], data["duration"], data["thinned"]) == (0.0, motion.duration, False)
    for k in (0, 7, data["count"] - 1):
        sample = motion.sample(k / 20)
        position = robot.positions.at(np.stack([motion.sample(0.0).position, sample.position]))
        both = robot.drawing(position)  # outlines begin as in the first
        wanted = {
            "points": [point.place[1] for point in both.points],
            "segments": [[segment.start[1], segment.end[1]] for segment in both.segments],
            "frames": [frame.transform[1, :3].T for frame in both.frames],
            "actions": [[action.place[1], action.axis[1]] for action in both.actions],
            "force": robot.inverse_dynamics(position[1], *sample[1:]),
        }
        for what, values in wanted.items():
            np.testing.assert_allclose(arrays[what][k], np.ravel(values), rtol=SINGLE, atol=SINGLE, err_msg=what)
    assert [point["name"] for point in data["points"]] == [point.name for point in both.points]
    assert [one["part"] for one in data["segments"]] == [segment.part for segment in both.segments]
    assert [one["turns"] for one in data["actions"]] == [actuator.unit == "N m" for actuator in robot.actuators]


def test_what_the_page_says_of_actuators(tmp_path: Path) -> None:
    arm, motion = tf.load("scara"), CASES["scara"]
    data, arrays = shown(tf.animate(arm, motion, tmp_path / "page.html"))
    sizes = np.abs(arrays["force"]).max(axis=0)
    for k, (actuator, one) in enumerate(zip(data["actuators"], arm.actuators, strict=True)):
        assert (actuator["name"], actuator["unit"], actuator["limit"]) == (one.words, one.unit, None)
        assert actuator["largest"] == pytest.approx(sizes[k], rel=SINGLE)
        same = [size for size, other in zip(sizes, arm.actuators, strict=True) if other.unit == one.unit]
        assert actuator["scale"] == pytest.approx(max(same), rel=SINGLE)
    data, _ = shown(tf.animate(tf.load("motion-rig"), heave(), tmp_path / "page.html"))
    assert [actuator["limit"] for actuator in data["actuators"]] == [4000.0] * 6


def test_bodies_that_are_filled_are_those_with_closed_outlines(tmp_path: Path) -> None:
    data, arrays = shown(tf.animate(tf.load("motion-rig"), heave(), tmp_path / "page.html"))
    parts = [{data["segments"][k]["part"] for k in outline} for outline in data["outlines"]]
    assert parts == [{"base"}, {"platform"}]
    for outline in data["outlines"]:
        ends = arrays["segments"].reshape(data["count"], -1, 2, 3)[0][outline]
        np.testing.assert_array_equal(ends[:, 1], np.roll(ends[:, 0], -1, axis=0))
    data, _ = shown(tf.animate(tf.load("puma560"), CASES["puma560"], tmp_path / "page.html"))
    assert data["outlines"] == []


def test_up_is_against_gravity(tmp_path: Path) -> None:
    arm = tf.load("planar-2r")
    assert shown(tf.animate(arm, move(arm), tmp_path / "page.html"))[0]["up"] == pytest.approx([0, 1, 0])
    afloat = arm.replace(gravity=(0.0, 0.0, 0.0))
    assert shown(tf.animate(afloat, move(arm), tmp_path / "page.html"))[0]["up"] == [0, 0, 1]


@pytest.mark.parametrize("name", ["planar-2r", "five-bar"])
def test_a_recording_shows_its_own_forces_and_its_target(name: str, tmp_path: Path) -> None:
    arm: Any = tf.load(name)
    law, motion = tf.control.ComputedTorque(arm, 100.0, 20.0), swing() if name == "five-bar" else move(arm, 0.3)
    run = tf.simulate(arm, law, motion, control_period=0.01, step=0.01)
    data, arrays = shown(tf.animate(arm, run, tmp_path / "page.html", frames_per_second=100))
    assert data["count"] == len(run.time)
    np.testing.assert_allclose(arrays["force"], run.force, rtol=SINGLE, atol=1e-5)
    for name, positions in (("segments", run.position), ("target", arm.positions.at(run.target_position))):
        ends = [[s.start, s.end] for s in arm.drawing(positions[12]).segments]
        np.testing.assert_allclose(arrays[name][12], np.ravel(ends), atol=SINGLE)
    untold = replace(run, target_position=np.full_like(run.target_position, np.nan))
    assert "target" not in shown(tf.animate(arm, untold, tmp_path / "page.html"))[1]


def test_between_rows_of_a_recording_angles_go_the_short_way(tmp_path: Path) -> None:
    rig, nothing = tf.load("motion-rig"), np.zeros((2, 6))
    poses = np.array([[0, 0, 1, 0, 0, 3.1], [0, 0, 1, 0, 0, -3.1]])
    run = tf.Recording(np.array([5.0, 6.0]), poses, nothing, nothing, nothing, nothing * np.nan, nothing * np.nan)
    data, arrays = shown(tf.animate(rig, run, tmp_path / "page.html", frames_per_second=2))
    half = rig.drawing([0, 0, 1, 0, 0, np.pi])
    np.testing.assert_allclose(arrays["points"][1], np.ravel([point.place for point in half.points]), atol=SINGLE)
    assert (data["start"], data["duration"]) == (5.0, 1.0)


def test_one_row_of_a_rollout_is_shown_as_the_message_says(tmp_path: Path) -> None:
    arm = tf.load("planar-2r")
    rows, targets = np.zeros((5, 21, 2)), np.full((21, 2), np.nan)
    run = tf.Rollout(np.linspace(0, 0.2, 21), rows, rows, rows, targets)
    with pytest.raises(tf.ModelError, match="got a Rollout") as raised:
        tf.animate(arm, run, tmp_path / "page.html")
    code = re.search(r"tf\.Recording\(.*\)", raised.value.remedy or "")
    assert code
    row = eval(code[0], {"tf": tf, "run": run})
    assert shown(tf.animate(arm, row, tmp_path / "page.html"))[0]["count"] == 7


def test_long_motions_are_thinned(tmp_path: Path) -> None:
    arm = tf.load("planar-2r")
    data, arrays = shown(tf.animate(arm, move(arm, 200.0), tmp_path / "page.html"))
    assert (data["count"], data["thinned"]) == (MOST_FRAMES, True)
    assert len(arrays["force"]) == MOST_FRAMES
    data, _ = shown(tf.animate(arm, move(arm, (MOST_FRAMES - 1) / 30), tmp_path / "page.html"))
    assert (data["count"], data["thinned"]) == (MOST_FRAMES, False)


def test_the_page_is_small_and_asks_for_nothing(tmp_path: Path) -> None:
    arm = tf.load("puma560")
    path = tf.animate(arm, move(arm, 10.0), tmp_path / "page.html")
    assert path == tmp_path / "page.html"
    assert path.stat().st_size < 1_000_000
    page = Page(path.read_text(encoding="utf-8"))
    addresses = [one.get("src") or one.get("href") for _, one in page.tags if "src" in one or "href" in one]
    assert addresses == ["data:,"]


def test_names_may_contain_anything(tmp_path: Path) -> None:
    arm = tf.load("planar-2r")
    joints = [replace(joint, name=HOSTILE + str(k)) for k, joint in enumerate(arm.joints)]
    odd = arm.replace(name=HOSTILE, joints=joints)
    path = tf.animate(odd, move(odd), tmp_path / "page.html")
    page = Page(path.read_text(encoding="utf-8"))
    assert page.texts["title"] == page.texts["h1"] == HOSTILE
    assert "b" not in [tag for tag, _ in page.tags]
    data, _ = shown(path)
    assert data["robot"] == HOSTILE
    assert data["actuators"][1]["name"] == HOSTILE + "1"
    path = tf.animate(odd, move(odd), tmp_path / "page.html", title="half \ud800 & <i>")
    assert "<h1>half &#55296; &amp; &lt;i&gt;</h1>" in path.read_text(encoding="utf-8")


def test_where_a_motion_is_singular_there_are_no_forces(tmp_path: Path) -> None:
    rig = tf.load("motion-rig")
    turn = tf.motion.PoseMotion(tf.motion.JointMove([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, np.pi], duration=1.0))
    sample = turn.sample(np.linspace(0, 1, 3))
    singular = np.isnan(rig.inverse_dynamics(*sample, on_singular="nan"))
    _, arrays = shown(tf.animate(rig, turn, tmp_path / "page.html", frames_per_second=2))
    assert singular.any()
    assert not singular.all()
    np.testing.assert_array_equal(np.isnan(arrays["force"]), singular)


class TestErrors:
    """What is refused, by which words; and then no file is left."""

    def refused(self, error: type[Exception], match: str, robot: Any, what: Any, path: Path, **options: Any) -> None:
        with pytest.raises(error, match=match):
            tf.animate(robot, what, path, **options)
        assert not path.exists()

    def test_other_types(self, tmp_path: Path) -> None:
        arm, path = tf.load("planar-2r"), tmp_path / "page.html"
        self.refused(tf.ModelError, "robot: expected a robot", "puma560", move(arm), path)
        self.refused(tf.ModelError, "shown: expected a Motion or a Recording, got a ndarray", arm, np.zeros(3), path)
        self.refused(tf.ModelError, "title: expected a text or None, got 3", arm, move(arm), path, title=3)
        for rate in (0, -1, np.inf, "30", True):
            self.refused(tf.ShapeError, "frames_per_second", arm, move(arm), path, frames_per_second=rate)

    def test_motions_of_other_robots(self, tmp_path: Path) -> None:
        arm, path = tf.load("planar-2r"), tmp_path / "page.html"
        self.refused(tf.ShapeError, "expected 2 coordinates, as planar-2r has, got 4", arm, CASES["scara"], path)
        self.refused(tf.ModelError, "needs a motion of joint coordinates", arm, heave(), path)
        bare = move(tf.load("puma560"))
        self.refused(tf.ModelError, r"wrap it in motion\.PoseMotion", tf.load("motion-rig"), bare, path)

    def test_recordings_of_other_robots(self, tmp_path: Path) -> None:
        arm, path = tf.load("planar-2r"), tmp_path / "page.html"
        run = recorded(arm)
        words = r"shown: the recording is of planar-2r, not of scara\. Give that robot$"
        self.refused(tf.ModelError, words, tf.load("scara"), run, path)
        self.refused(tf.ModelError, "is of planar-2r, not of five-bar", tf.load("five-bar"), run, path)
        words = r"shown\.position: expected 31 rows of 4 coordinates, as scara has, got \(31, 2\)"
        self.refused(tf.ShapeError, words, tf.load("scara"), replace(run, robot=""), path)
        forceless = replace(run, force=run.force[:, :1])
        self.refused(tf.ShapeError, r"shown\.force: expected 31 rows of 2 actuators", arm, forceless, path)
        sliding = replace(run, units=("rad", "m"))
        self.refused(tf.ModelError, "of planar-2r does not fit planar-2r: it has m where", arm, sliding, path)
        renamed = replace(run, robot="", columns=("a", *run.columns[1:]))
        self.refused(tf.ModelError, "of another robot does not fit planar-2r: it has a where", arm, renamed, path)
        alike = arm.replace(name="planar-2r with a tool")
        words = r"shown: the recording is of planar-2r, not of planar-2r with a tool\. Give that robot"
        self.refused(tf.ModelError, words, alike, run, path)
        assert tf.animate(alike, replace(run, robot=alike.name), path) == path
        assert tf.animate(alike, replace(run, robot=""), path) == path  # as from a .csv file, which has no name

    def test_recordings_without_a_way(self, tmp_path: Path) -> None:
        arm, path = tf.load("planar-2r"), tmp_path / "page.html"
        run = recorded(arm)
        words = "expected finite positions at increasing times"
        lost = run.position.copy()
        lost[2, 1] = np.nan
        self.refused(tf.ShapeError, f"{words}, got q2 = nan in row 2", arm, replace(run, position=lost), path)
        back = run.time.copy()
        back[3] = back[2]
        late = f"{words}, got {back[2]:g} s after {back[2]:g} s in row 3"
        self.refused(tf.ShapeError, late, arm, replace(run, time=back), path)
        none = {name: getattr(run, name)[:0] for name in ("time", *ARRAYS)}
        self.refused(tf.ShapeError, f"{words}, got no rows", arm, replace(run, **none), path)

    def test_files(self, tmp_path: Path) -> None:
        arm = tf.load("planar-2r")
        words = r"unknown suffix .\.avi.\. Use \.html, \.gif or \.mp4"
        self.refused(tf.ModelError, words, arm, move(arm), tmp_path / "page.avi")
        self.refused(tf.ModelError, "its folder does not exist", arm, move(arm), tmp_path / "nowhere" / "page.html")

    def test_robots_without_a_drawing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tf.SerialArm, "drawing", lambda self, position: Drawing())
        arm = tf.load("planar-2r")
        self.refused(tf.UnsupportedFeatureError, "planar-2r has no drawing", arm, move(arm), tmp_path / "page.html")


class TestForcesOfAMotion:
    def test_they_can_be_given(self, tmp_path: Path) -> None:
        arm = tf.load("planar-2r")
        load = tf.Payload(3.0)
        path = tf.animate(
            arm,
            move(arm),
            tmp_path / "loaded.html",
            forces=lambda q, qd, qdd: arm.inverse_dynamics(q, qd, qdd, payload=load),
        )
        data, arrays = shown(path)
        times = np.linspace(0.0, 1.0, data["count"])
        expected = arm.inverse_dynamics(*move(arm).sample(times), payload=load)
        np.testing.assert_allclose(arrays["force"], expected, rtol=0, atol=SINGLE * np.abs(expected).max())

    def test_they_need_a_row_for_every_instant(self, tmp_path: Path) -> None:
        arm = tf.load("planar-2r")
        with pytest.raises(tf.ShapeError, match=r"forces: expected \(31, 2\), a row for every instant, got \(2,\)"):
            tf.animate(arm, move(arm), tmp_path / "odd.html", forces=lambda q, qd, qdd: np.zeros(2))

    def test_a_recording_has_its_own(self, tmp_path: Path) -> None:
        arm = tf.load("planar-2r")
        run = tf.simulate(arm, None, duration=0.1, initial=([0, 0], [0, 0]))
        with pytest.raises(tf.ModelError, match="forces: a recording has forces of its own"):
            tf.animate(arm, run, tmp_path / "run.html", forces=arm.inverse_dynamics)
