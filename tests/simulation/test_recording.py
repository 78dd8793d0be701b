"""What a simulation leaves: files, xarray, figures, thinned rows."""

from __future__ import annotations

import base64
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from support.tolerances import ROUNDING, error
from tauforge.simulation import Recording
from tauforge.simulation.events import Event
from tauforge.simulation.recording import ARRAYS

pytestmark = pytest.mark.usefixtures("as_installed")


ARM = random_arm(np.random.default_rng(3), "RPRR")
START = (np.array([0.3, -0.2, 0.5, 0.1]), np.array([0.5, 0.1, -0.4, 0.3]))


def test_a_recording_is_short_to_print():
    arm = tf.load("planar-2r")
    run = tf.simulate(arm, initial=([0.1, 0.2], [0.0, 0.0]), duration=0.01)
    assert repr(run) == "Recording('planar-2r', 11 rows, 0.01 s, 0 events)"
    one = replace(run.with_event(Event(0.0, "stopped", "x")), robot="")
    assert str(one) == "Recording(11 rows, 0.01 s, 1 event)"


def test_recordings_survive_files(tmp_path):
    arm = tf.load("planar-2r").replace(limits=[(-0.01, 3.0), None])
    motion = tf.motion.JointMove([0, 0], [0.2, -0.1], 0.1)
    recording = tf.simulate(arm, tf.control.ComputedTorque(arm), motion, step=0.01)
    recording.save(tmp_path / "run.npz")
    assert Recording.load(tmp_path / "run.npz") == recording
    recording.save(tmp_path / "run.csv")
    read = Recording.load(tmp_path / "run.csv")
    assert replace(read, names=recording.names, force_names=recording.names, robot=recording.robot) == recording
    rig = tf.load("motion-rig")
    hold = (np.array([0, 0, 1.0, 0.1, 0, 0]), np.zeros(6))
    hung = tf.simulate(rig, lambda *_: np.full(6, 400.0), initial=hold, duration=0.01)
    hung.save(tmp_path / "run.csv")
    read = Recording.load(tmp_path / "run.csv")
    assert replace(read, force_names=hung.force_names, robot=hung.robot, events=hung.events) == hung
    recording.save(tmp_path / "run.csv")
    back = tf.motion.Sampled.from_csv(tmp_path / "run.csv", ["q1", "q2"])
    assert np.array_equal(back.sample(recording.time).position[0], recording.position[0])
    assert np.abs(back.sample(recording.time).position - recording.position).max() < 1e-15
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.csv", "run.npz"]
    with pytest.raises(tf.ModelError, match=r"unknown suffix '.txt'.*npz or .csv"):
        recording.save(tmp_path / "run.txt")
    with pytest.raises(tf.ModelError, match="cannot be written"):
        recording.save(tmp_path / "nowhere" / "run.npz")
    whole = (tmp_path / "run.npz").read_bytes()
    for damaged in (b"nothing", b"", whole[: len(whole) // 2], whole[:300] + b"\x00" * 40 + whole[340:]):
        (tmp_path / "bad.npz").write_bytes(damaged)
        with pytest.raises(tf.ModelError, match="not a valid recording"):
            Recording.load(tmp_path / "bad.npz")


def test_recordings_as_xarray():
    arm = tf.load("planar-2r").replace(limits=[(-0.01, 0.05), None])
    recording = tf.simulate(
        arm, tf.control.ComputedTorque(arm), tf.motion.JointMove([0, 0], [0.2, -0.1], 0.1), step=0.01
    )
    data = recording.to_xarray()
    assert np.array_equal(data.position.sel(coordinate="joint2"), recording.position[:, 1])
    assert np.array_equal(data.force.sel(actuator="joint1", time=0.05), recording.force[5, 0])
    assert data.velocity.attrs["units"] == ["rad/s", "rad/s"]
    assert data.attrs["robot"] == "planar-2r"
    assert "limit of joint1" in data.attrs["events"][0]


def drawn(figure):
    """Label and legend of each panel."""
    return {axes.get_ylabel(): [text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes}


def made_up(n, **texts):
    rows = np.ones((3, n)) * np.arange(1, n + 1)
    return Recording(np.arange(3.0), *[rows] * 6, **{name: tuple(value) for name, value in texts.items()})


def test_recordings_are_drawn(tmp_path):
    arm = tf.load("planar-2r")
    recording = tf.simulate(arm, tf.control.ComputedTorque(arm), tf.motion.JointMove([0, 0], [0.2, -0.1], 0.1))
    figure = recording.plot(["position", "error", "force"])
    names = ["joint1", "joint2"]
    assert drawn(figure) == {"position, rad": names, "error, rad": names, "force, N m": names}
    assert not figure.legends
    assert figure.axes[-1].get_xlabel() == "time, s"
    assert recording.plot(["velocity"]).axes[0].get_ylabel() == "velocity, rad/s"
    assert all(len(axes.lines) == 2 for axes in figure.axes)
    assert np.array_equal(figure.axes[2].lines[1].get_ydata(), recording.force[:, 1])
    figure.savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000


def test_no_panel_mixes_units_or_names():
    platform = made_up(
        6,
        names=["x", "y", "z", "theta_x", "theta_y", "theta_z"],
        units=["m"] * 3 + ["rad"] * 3,
        force_names=[f"leg{k}" for k in range(1, 7)],
        force_units=["N"] * 6,
    )
    places, angles = ["x", "y", "z"], ["theta_x", "theta_y", "theta_z"]
    assert drawn(platform.plot()) == {
        "position, m": places,
        "position, rad": angles,
        "error, m": places,
        "error, rad": angles,
        "force, N": [f"leg{k}" for k in range(1, 7)],
    }
    names = ["shoulder", "quill", "wrist"]
    sliding = made_up(3, names=names, force_names=names, units=["rad", "m", "rad"], force_units=["N m", "N", "N m"])
    figure = sliding.plot(["acceleration", "force"])
    assert drawn(figure) == {
        "acceleration, rad/s^2": ["shoulder", "wrist"],
        "acceleration, m/s^2": ["quill"],
        "force, N m": ["shoulder", "wrist"],
        "force, N": ["quill"],
    }
    shown = {axes.get_ylabel(): [line.get_ydata()[0] for line in axes.lines] for axes in figure.axes}
    assert shown["force, N m"] == [1, 3]
    assert shown["force, N"] == [2]


def test_names_are_drawn_as_they_are(tmp_path):
    odd = made_up(2, names=["_left", "$x"], force_names=["_left", "$x"], units=["rad"] * 2, force_units=["N m"] * 2)
    figure = replace(odd, robot="$1_{").plot(["position"])
    assert drawn(figure) == {"position, rad": ["_left", "$x"]}
    figure.savefig(tmp_path / "odd.png")
    assert drawn(made_up(2).plot(["force"])) == {"force": ["1", "2"]}  # neither names nor units


def test_thinned_recordings():
    whole = tf.simulate(ARM, initial=START, duration=0.7)  # longer than what is looked at together
    thin = tf.simulate(ARM, initial=START, duration=0.7, record_every=7)
    assert np.array_equal(thin.time, whole.time[::7])
    for name in ("position", "velocity", "acceleration", "force"):
        assert np.array_equal(getattr(thin, name), getattr(whole, name)[::7])
    with pytest.raises(tf.ShapeError, match="record_every: expected a whole number >= 1, got True"):
        tf.simulate(ARM, initial=START, duration=0.1, record_every=True)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("time [s],a [m]\n0,1\n1,x\n", "row 3, column a: expected a number, got 'x'"),
        ("time [s],a [m]\n0,1\n0,2\n", "row 3, column time: times must increase"),
        ("time [s],b [m]\n0,1\n1,2\n", "row 1: there is no column 'a'.*The columns are: time, b"),
        ("time [s],a [m]\n0,1\n", "at least two rows"),
    ],
)
def test_bad_files_of_motions(tmp_path, text, match):
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(tf.ModelError, match=match):
        tf.motion.Sampled.from_csv(path, ["a"])


def test_two_rows_are_a_straight_line(tmp_path):
    path = tmp_path / "motion.csv"
    path.write_text("time [s],a [m]\n1,2\n3,6\n")
    motion = tf.motion.Sampled.from_csv(path, ["a"])
    sample = motion.sample([0.0, 0.5, 2.0])
    assert motion.duration == 2.0
    assert error(sample.position, [[2.0], [3.0], [6.0]]) < ROUNDING
    assert error(sample.velocity, [[2.0]] * 3) < ROUNDING


def test_a_notebook_shows_the_plot(monkeypatch):
    pytest.importorskip("matplotlib")
    run = tf.simulate(ARM, initial=START, duration=0.02, step=0.01)
    picture = run._repr_png_()
    assert picture is not None
    assert picture.startswith(b"\x89PNG\r\n")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run._repr_png_() is None


class Markup(HTMLParser):
    """Tags with their attributes, texts of cells, and whether all is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.tags = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "img":
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells[-1] += data


def test_a_notebook_shows_tables_and_the_plot(monkeypatch):
    pytest.importorskip("matplotlib")
    run = tf.simulate(ARM, initial=START, duration=0.2, step=0.01).with_event(Event(0.05, "left its limit", "joint1"))
    page = Markup(run._repr_html_())
    assert not page.open
    assert page.cells[:2] == [run.names[0], run.units[0]]
    assert float(page.cells[2]) == pytest.approx(run.position[:, 0].min(), rel=1e-3)
    peak = np.abs(run.force[:, 0]).argmax()
    row = page.cells[4 * len(run.names) :]
    assert row[0] == run.force_names[0]
    assert float(row[2]) == pytest.approx(run.force[peak, 0], rel=1e-3, abs=1e-12)
    assert page.cells[-3:] == ["left its limit", "joint1", "0.05"]
    (picture,) = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    assert base64.b64decode(picture.removeprefix("data:image/png;base64,")) == run._repr_png_()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "img" not in {tag for tag, _ in Markup(run._repr_html_()).tags}


def test_repeated_events_are_shown_with_their_count():
    run = tf.simulate(ARM, initial=START, duration=0.2, step=0.01).with_event(Event(0.05, "limit", "joint1", 7, 0.12))
    assert run.summary().parts[-1].header == ("what", "which", "at [s]", "times", "last at [s]")
    assert run.summary().parts[-1].rows == (("limit", "joint1", 0.05, 7, 0.12),)
    both = run.with_event(Event(0.1, "limit", "joint2"))
    assert both.summary().parts[-1].rows[1] == ("limit", "joint2", 0.1, 1, None)
    assert "7" in str(both.summary())
    pytest.importorskip("xarray")
    assert both.to_xarray().attrs["events"] == ["0.05 limit: joint1, 7 times until 0.12 s", "0.1 limit: joint2"]


def test_a_notebook_shows_the_largest_errors():
    move = tf.motion.JointMove([0.0] * ARM.n, [0.5] * ARM.n, duration=0.2)
    run = tf.simulate(ARM, tf.control.PD(ARM, 10.0, 1.0), move, step=0.01)
    table = run.summary().parts[0]
    assert table.header[-1] == "largest error"
    np.testing.assert_allclose([row[-1] for row in table.rows], np.abs(run.error).max(axis=0))


def test_names_in_a_recording_cannot_be_markup():
    run = replace(tf.simulate(ARM, initial=START, duration=0.02, step=0.01), robot="<script>alert(1)</script>")
    many = run
    for k in range(12):
        many = many.with_event(Event(float(k), "<img src=x onerror=y>", "\x1b[2J"))
    text = many._repr_html_()
    known = {"div", "p", "b", "table", "caption", "thead", "tbody", "tr", "th", "td", "img"}
    assert {tag for tag, _ in Markup(text).tags} <= known
    assert "onerror" not in {name for _, attributes in Markup(text).tags for name in attributes}
    assert "\x1b" not in text
    assert "And 2 more events." in text
    nameless = tf.Recording(*(getattr(run, name) for name in ("time", *ARRAYS)))
    assert nameless._repr_html_().startswith("<div><p><b>Recording: 0.02 s in 3 rows</b>")
