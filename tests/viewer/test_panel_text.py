"""The numbers of the panel as text, without a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import tauforge as tf
from tauforge.units import number
from tauforge.viewer import colours
from tauforge.viewer.colours import ForceScale, condition_colour, condition_words
from tauforge.viewer.evaluation import Evaluation, Reading
from tauforge.viewer.panel_text import force_shares, heading_html, readings_html

HOSTILE = "</td><script>alert(1)</script>&'\""


class Cells(HTMLParser):
    """Texts by their data-key, and all tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.tags: list[str] = []
        self._key: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._key = dict(attrs).get("data-key")

    def handle_data(self, data: str) -> None:
        if self._key:
            self.found.setdefault(self._key, data)
            self._key = None


def reading_of(robot: tf.SerialArm | tf.StewartPlatform) -> Reading:
    evaluation = Evaluation(robot)
    return evaluation.read(evaluation.start())


@pytest.mark.parametrize("name", ["planar-2r", "puma560", "motion-rig", "dasgupta1998"])
def test_the_numbers_are_the_readings(name: str) -> None:
    robot = tf.load(name)
    reading = reading_of(robot)
    found = Cells(readings_html(robot, reading, np.ones(len(robot.actuators)))).found
    for k, actuator in enumerate(robot.actuators):
        text, unit = found[f"force-{k}"].split(" ", 1)
        assert float(text) == pytest.approx(reading.forces[k], rel=1e-4, abs=1e-11)
        assert unit == actuator.unit
    assert reading.energy is not None
    assert found["potential"] == f"{number(reading.energy[1], 5)} J"
    assert reading.condition is not None
    assert found["condition"] == number(reading.condition, 5)
    legs = [key for key in found if key.startswith("sensor")]
    assert len(legs) == (6 if robot.positions.pose else 0)  # an arm's sensors are its sliders


def test_names_may_contain_anything() -> None:
    arm = tf.load("panda")
    joints = [replace(joint, name=f"{HOSTILE}{k}") for k, joint in enumerate(arm.joints)]
    odd = arm.replace(name=HOSTILE, joints=joints)
    reading = reading_of(odd)._replace(problem=HOSTILE)
    page = Cells(readings_html(odd, reading, np.ones(odd.n)) + heading_html(odd))
    assert "script" not in page.tags


def test_differences_are_shown_and_rounding_is_not() -> None:
    platform = tf.load("dasgupta1998")
    reading = reading_of(platform)._replace(difference=np.array([1e-13, 2.5, -3, 0, 0, 0]))
    found = Cells(readings_html(platform, reading, np.full(6, 400.0))).found
    assert [found[f"difference-{k}"] for k in range(3)] == ["0 N", "2.5 N", "-3 N"]


def test_a_robot_without_forces_says_why() -> None:
    platform = tf.load("mathworks-hexapod")
    text = readings_html(platform, reading_of(platform), np.ones(6))
    assert re.search("data-problem.*no masses", text)
    assert Cells(text).found["force-0"] == "- N"


def test_colours_tell_the_share_of_a_limit() -> None:
    assert colours.of_share(0.5) == colours.LOW
    assert colours.of_share(0.9) == colours.NEAR
    assert colours.of_share(1.1) == colours.OVER
    assert colours.of_share(float("nan")) == colours.UNLIMITED
    rig = tf.load("motion-rig")
    np.testing.assert_allclose(force_shares(rig, rig.max_forces / 2), 0.5)
    assert np.isnan(force_shares(tf.load("puma560"), np.ones(6))).all()


def test_the_condition_turns_red_near_a_singularity() -> None:
    assert [condition_colour(c) for c in (2.0, 500.0, 5e3, np.inf, np.nan)] == [
        colours.LOW,
        colours.NEAR,
        colours.OVER,
        colours.OVER,
        colours.OVER,
    ]


@pytest.mark.parametrize("name", ["puma560", "motion-rig"])
@pytest.mark.parametrize(
    ("condition", "words"),
    [(2.0, ""), (999.0, ""), (1e3, "near a singularity"), (1e12, "singular"), (np.inf, "singular")],
)
def test_only_a_singular_pose_is_called_singular(name: str, condition: float, words: str) -> None:
    assert condition_words(condition) == words
    robot = tf.load(name)
    text = readings_html(robot, reading_of(robot)._replace(condition=condition), np.ones(6))
    assert re.findall(f'color:{colours.OVER}" title="[^"]*">([^<]*)<', text) == ([words] if words else [])
    assert Cells(text).found["condition"] == number(condition, 5)


def test_notes_are_shown() -> None:
    rig = tf.load("motion-rig")
    assert "data-note" not in readings_html(rig, reading_of(rig), np.ones(6))
    text = readings_html(rig, reading_of(rig)._replace(note="as <recorded>"), np.ones(6))
    assert re.search("data-note[^>]*>as &lt;recorded&gt;<", text)


def test_units_may_contain_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = tf.load("motion-rig")
    odd = tuple(sensor._replace(unit=HOSTILE) for sensor in rig.sensors.quantities)
    reading = reading_of(rig)
    monkeypatch.setattr(type(rig.sensors), "quantities", odd)
    page = Cells(readings_html(rig, reading, np.ones(6)))
    assert "script" not in page.tags
    assert HOSTILE in page.found["sensor-0"]


def test_the_limits_shown_are_the_nearest() -> None:
    arm = tf.load("puma560")
    evaluation = Evaluation(arm)
    start = evaluation.start()
    position = start.position.copy()
    position[4] = arm.coordinates[4].upper + 0.01
    text = readings_html(arm, evaluation.read(start._replace(position=position)), np.ones(6))
    assert text.index("limit of joint5") < text.index("limit of joint1")
    assert colours.OVER in text


def test_a_bar_is_full_at_the_largest_force_so_far_or_a_hundredth_of_a_usual_one():
    """By unit: two motors share one scale, a cylinder without a usual force has its own."""
    scale = ForceScale(["N m", "N m", "N"], np.array([50.0, 200.0, 0.0]))
    assert scale.of(np.array([1e-12, 0.0, 0.0])).tolist() == [2.0, 2.0, 1.0]  # rounding beside 200 N m is nothing
    assert scale.of(np.array([-30.0, 5.0, 7.0])).tolist() == [30.0, 30.0, 7.0]
    assert scale.of(np.array([np.inf, np.nan, 0.0])).tolist() == [30.0, 30.0, 7.0]
    scale.forget()
    assert scale.of(np.zeros(3)).tolist() == [2.0, 2.0, 1.0]
