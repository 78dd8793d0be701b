"""The workspace in the viewer, without a browser: its points are those of `tf.workspace`."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from tauforge.viewer.workspace_panel import legend_html

pytest.importorskip("viser")
pytestmark = pytest.mark.usefixtures("as_installed")


def test_a_platform_shows_where_its_ways_end():
    rig = tf.load("motion-rig")
    with tf.view(rig, port=0) as viewer:
        panel = viewer.session.workspace
        found = panel.show()
        exact = tf.workspace.surface(rig, rig.positions.default)
        np.testing.assert_array_equal(found.points, exact.places.reshape(-1, 3))
        assert panel.cloud.points.shape == found.points.shape
        assert "leg 1 is too long" in panel.legend.content
        panel.hide()
        assert panel.cloud is None
        viewer.session.change("position", 2, 3.0)
        with pytest.raises(tf.ModelError, match="the limits do not hold there"):
            panel.show()


def test_a_payload_counts():
    panda = tf.load("panda")
    with tf.view(panda, port=0) as viewer:
        panel = viewer.session.workspace
        free = panel.show()
        viewer.session.load(payload=12.0)
        heavy = panel.show()
        assert (free.points == heavy.points).all()
        assert (heavy.limits != "all limits hold").mean() > (free.limits != "all limits hold").mean()
        assert np.linalg.norm(heavy.points, axis=1).max() < 1.5  # m, longer than the arm


def test_a_robot_without_limits_has_no_such_tab():
    with tf.view(tf.load("planar-2r"), port=0) as viewer:
        assert viewer.session.workspace is None


def test_names_are_escaped():
    assert "<b>" not in legend_html({"<b>": "#000000"})
