"""Results in a notebook: text, tables and figure, as Jupyter asks for them, with and without matplotlib."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from tauforge.charts.notebook import PICTURE, TABLES, TEXT

PNG = b"\x89PNG\r\n\x1a\n"


def sizing() -> tf.analysis.Sizing:
    rig = tf.load("motion-rig")
    start = np.asarray(rig.positions.default)
    move = tf.motion.PoseMotion(tf.motion.JointMove(start, start + 0.05, duration=1.0))
    time = np.linspace(0.0, 1.0, 21)
    return tf.analysis.size_actuators(rig, time, *move.sample(time))


def recording() -> tf.Recording:
    return tf.simulate(tf.load("planar-2r"), initial=([0.1, 0.2], [0.0, 0.0]), duration=0.05, step=0.01)


@pytest.fixture(params=[recording, sizing], scope="module")
def result(request: pytest.FixtureRequest) -> Any:
    return request.param()


def embedded(page: str) -> str:
    """The PNG in base64 that the HTML shows."""
    before, found, after = page.partition(f'src="data:{PICTURE};base64,')
    assert before
    assert found
    return after.partition('"')[0]


def test_text_tables_and_figure(result: Any) -> None:
    pytest.importorskip("matplotlib")
    bundle = result._repr_mimebundle_()
    assert set(bundle) == {TEXT, TABLES, PICTURE}
    assert bundle[TEXT] == repr(result.summary())
    assert bundle[TABLES].startswith(result.summary()._repr_html_())
    assert base64.b64decode(bundle[PICTURE], validate=True).startswith(PNG)
    assert embedded(bundle[TABLES]) == bundle[PICTURE]
    assert json.loads(json.dumps(bundle)) == bundle  # as a kernel sends it


@pytest.mark.parametrize(
    ("include", "exclude", "kept"),
    [
        ({TEXT}, None, {TEXT}),
        ([TABLES, "image/jpeg"], None, {TABLES}),
        (None, {PICTURE}, {TEXT, TABLES}),
        ({TEXT, PICTURE}, {TEXT}, {PICTURE}),
        ({"image/jpeg"}, None, set()),
        ((), (), {TEXT, TABLES, PICTURE}),
    ],
)
def test_only_what_is_wanted(result: Any, include: Any, exclude: Any, kept: set[str]) -> None:
    pytest.importorskip("matplotlib")
    assert set(result._repr_mimebundle_(include=include, exclude=exclude)) == kept


def test_nothing_is_drawn_for_text_alone(result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(result), "plot", lambda self: pytest.fail("drawn"))
    assert set(result._repr_mimebundle_(include={TEXT})) == {TEXT}


def test_a_picture_alone_needs_no_summary(result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(type(result), "summary", lambda self: pytest.fail("summarised"))
    assert set(result._repr_mimebundle_(include={PICTURE})) == {PICTURE}


def test_tables_alone_without_matplotlib(result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    summary = result.summary()
    assert result._repr_mimebundle_() == {TEXT: repr(summary), TABLES: summary._repr_html_()}
    assert result._repr_html_() == summary._repr_html_()
    assert result._repr_png_() is None
    with pytest.raises(tf.ModelError, match=r"plots need matplotlib. Run pip install .*\[plots\]"):
        result.plot()


def test_ipython_shows_it(result: Any) -> None:
    """IPython's own formatter takes our bundle, and asks no other method for the same types."""
    pytest.importorskip("matplotlib")
    formatters = pytest.importorskip("IPython.core.formatters")
    data, _ = formatters.DisplayFormatter().format(result)
    assert data == result._repr_mimebundle_()


def test_the_figure_of_a_sizing_report() -> None:
    """The curves are the report's, the limits the platform's."""
    pytest.importorskip("matplotlib")
    found, rig = sizing(), tf.load("motion-rig")
    forces, largest, lengths, speeds = found.plot().axes
    for axes, values in ((forces, found.forces), (lengths, found.lengths), (speeds, found.speeds)):
        np.testing.assert_array_equal([line.get_ydata() for line in axes.lines[:6]], values.T)
        np.testing.assert_array_equal(axes.lines[0].get_xdata(), found.time)
    heights = [bar.get_height() for bars in largest.containers for bar in bars]
    np.testing.assert_array_equal(heights, [*np.abs(found.peak_force.value), *found.rms_force])
    np.testing.assert_array_equal(largest.lines[0].get_ydata(), rig.max_forces)
    assert sorted(line.get_ydata()[0] for line in lengths.lines[6:]) == sorted(set(np.ravel(rig.stroke)))
    limits = {line.get_color() for line in (*largest.lines, *lengths.lines[6:])}
    assert len(limits) == 1
    assert not limits & {line.get_color() for line in forces.lines}


def test_a_sizing_report_without_limits() -> None:
    pytest.importorskip("matplotlib")
    found = replace(sizing(), force_limits=np.full(6, np.inf), stroke=None)
    _, largest, lengths, _ = found.plot().axes
    assert not largest.lines
    assert len(lengths.lines) == 6
    assert PICTURE in found._repr_mimebundle_()
