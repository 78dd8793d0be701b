"""Robots in a notebook: their summary as tables, with nothing in them that a page could run."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from tauforge.robots.summary import SummaryTable, sentence, texts_of


class Cells(HTMLParser):
    """The texts of the cells, and whether every element that was opened was closed."""

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        if tag != "img":
            self.open.append(tag)
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells[-1] += data


@pytest.mark.parametrize("name", tf.catalogue())
def test_the_cells_are_those_of_the_summary(name):
    robot = tf.load(name)
    parsed = Cells()
    parsed.feed(robot._repr_html_())
    assert not parsed.open
    tables = [part for part in robot.summary().parts if isinstance(part, SummaryTable)]
    assert parsed.cells == [text for part in tables for row in texts_of(part) for text in row]
    assert sentence(robot.summary().headline).partition(":")[0] in robot._repr_html_()


def test_names_cannot_be_markup():
    arm = tf.load("planar-2r").replace(name="<script>alert(1)</script>\x1b[2J")
    parsed = Cells()
    parsed.feed(arm._repr_html_())
    assert parsed.tags <= {"div", "p", "b", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert "\x1b" not in arm._repr_html_()


def test_robots_of_other_kinds():
    assert "<table>" in CartPendulum()._repr_html_()


def test_sizing_reports():
    """A table of the legs, and one of the limits, of which one is broken."""
    rig = tf.load("motion-rig")
    time = np.linspace(0.0, 1.0, 21)
    poses = np.tile(rig.positions.default, (21, 1))
    poses[:, 0] += 0.5 * time
    still = np.zeros((21, 6))
    found = tf.analysis.size_actuators(rig, time, poses, still, still)
    parsed = Cells()
    parsed.feed(found._repr_html_())
    assert not parsed.open
    legs = np.array(parsed.cells[:48]).reshape(6, 8)
    assert legs[:, 0].tolist() == list("123456")
    assert np.allclose(legs[:, 1].astype(float), found.peak_force.value, rtol=1e-3)  # four digits are printed
    states = [cell for cell in parsed.cells if cell in ("holds", "BROKEN")]
    assert states == ["holds" if margin.value >= 0 else "BROKEN" for margin in found.margins]
    assert "BROKEN" in states
