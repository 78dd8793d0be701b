"""The study "sizing": against the report of one motion, against inverse dynamics, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.sweep_motions import move_of, move_options, write_motion
from tauforge.analysis import size_actuators
from tauforge.motion import CsvMotion
from tauforge.sweeps import Axis, open_dataset, ready_study, run
from tauforge.sweeps.options import MOVE_SAMPLES
from tauforge.sweeps.sizing import FORCE, HOLDS, POSITION, SINGULAR, SPEED

STORED = 2 * np.finfo(np.float32).eps  # relative: results are kept as float32
COM = (0.01, -0.02, 0.03)
ROBOTS = ("planar-2r", "puma560", "motion-rig", "five-bar", "delta")


def values(study, **coordinates):
    """The results at one point."""
    return {name: x[0] for name, x in study.computed({k: np.array([x]) for k, x in coordinates.items()}).items()}


@pytest.mark.parametrize("mass", [None, 30.0])
def test_speed_1_is_the_report_of_the_motion(tmp_path, mass):
    rig = tf.load("motion-rig")
    file = write_motion(tmp_path / "m.csv", rig, move_of(rig))
    motion = CsvMotion(file, rig)
    carrying = rig if mass is None else rig.carrying(tf.Payload(mass, COM))
    report = size_actuators(carrying, motion.times, *motion.samples)
    axes = [Axis("speed", [1.0, 2.0])] + ([] if mass is None else [Axis("payload", [mass])])
    study = ready_study("sizing", rig, axes, options={"motions": file, "com": ",".join(map(str, COM))})
    found = values(study, **({"speed": 1.0} if mass is None else {"speed": 1.0, "payload": mass}))
    np.testing.assert_allclose(found["peak_force"], np.abs(report.peak_force.value), rtol=STORED)
    np.testing.assert_allclose(found["rms_force"], report.rms_force, rtol=STORED)
    np.testing.assert_allclose(found["peak_speed"], np.abs(report.peak_speed.value), rtol=STORED)
    np.testing.assert_allclose(found["peak_power"], np.abs(report.peak_power.value), rtol=STORED)
    (margin,) = [margin for margin in report.margins if margin.limit == "force"]
    assert margin.value == pytest.approx(4000 * (1 - found["force_share"]), rel=1e-5)
    assert (found["limits"] == HOLDS) == report.within_limits


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("speed", [0.0, 0.5, 3.0])
def test_other_speeds_are_inverse_dynamics(name, speed):
    robot, mass = tf.load(name), 2.5
    study = ready_study("sizing", robot, [Axis("speed", [speed]), Axis("payload", [mass])], options=move_options(robot))
    found = values(study, speed=speed, payload=mass)
    motion = move_of(robot)
    times = np.linspace(0, motion.duration, MOVE_SAMPLES)
    q, qd, qdd = motion.sample(times)
    q = robot.positions.at(q)
    forces = robot.inverse_dynamics(q, speed * qd, speed**2 * qdd, payload=tf.Payload(mass))
    rates = robot.sensors.motion(q, speed * qd)[1]
    mean = np.trapezoid(forces**2, times, axis=0) / times[-1]
    scale = np.abs(forces).max()
    np.testing.assert_allclose(found["peak_force"], np.abs(forces).max(axis=0), rtol=STORED, atol=STORED * scale)
    np.testing.assert_allclose(found["rms_force"], np.sqrt(mean), rtol=STORED, atol=STORED * scale)
    np.testing.assert_allclose(found["peak_speed"], np.abs(rates).max(axis=0), rtol=STORED)
    power = np.abs(forces * rates).max(axis=0)
    np.testing.assert_allclose(found["peak_power"], power, rtol=STORED, atol=STORED * power.max())


def test_a_move_at_twice_the_speed_is_the_move_in_half_the_time():
    rig = tf.load("motion-rig")
    axes = [Axis("speed", [1.0, 2.0])]
    slow = ready_study("sizing", rig, axes, options=move_options(rig, duration="0.5"))
    fast = ready_study("sizing", rig, axes, options=move_options(rig, duration="0.25"))
    for name, value in values(slow, speed=2.0).items():
        np.testing.assert_allclose(value, values(fast, speed=1.0)[name], rtol=STORED)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.usefixtures("as_installed")
def test_the_bytes_do_not_depend_on_blocks_and_threads(tmp_path, name, monkeypatch):
    robot = tf.load(name)
    files = ",".join(
        write_motion(tmp_path / f"{k}.csv", robot, move_of(robot, duration=0.4 + 0.1 * k), 31 + 8 * k) for k in range(2)
    )
    axes = [Axis("motion", [1, 2]), Axis("speed", np.linspace(0.2, 3, 13)), Axis("payload", [0.0, 1.5, 4.0])]
    stored = []
    for points, states, threads in ((1000, 2**14, 1), (7, 2**14, 2), (1, 100, 1), (40, 31, 2)):
        monkeypatch.setattr("tauforge.sweeps.sizing.CALL_STATES", states)
        monkeypatch.setattr("tauforge.sweeps.sizing.BLOCK_STATES", points * 39)
        study = ready_study("sizing", robot, axes, options={"motions": files})
        assert study.block_points == points
        run(study, tmp_path / f"{points}.zarr", threads=threads)
        found = open_dataset(tmp_path / f"{points}.zarr").load()
        stored.append({name: found[name].values.tobytes() for name in found.data_vars})
    assert all(other == stored[0] for other in stored[1:])


def codes(robot, speeds, **options):
    study = ready_study("sizing", robot, [Axis("speed", speeds)], options=options)
    return study.computed({"speed": np.array(speeds)})["limits"].tolist()


def test_which_limit_is_broken():
    rig = tf.load("motion-rig")
    assert codes(rig, [0.5, 30.0], end="0.05,0,1.02,0,0,0") == [HOLDS, FORCE]
    assert codes(rig, [0.5, 30.0], end="0,0,2,0,0,0") == [POSITION] * 2
    assert codes(rig, [1.0], end="0,0,-1,0,0,0") == [SINGULAR]
    panda = tf.load("panda")
    assert np.isfinite([c.max_speed for c in panda.coordinates]).any()
    end = ",".join(str(x) for x in np.array(panda.positions.default) + 0.2)
    assert codes(panda, [1.0, 50.0], end=end) == [HOLDS, SPEED]


def test_the_motion_belongs_to_the_question(tmp_path):
    rig, axes = tf.load("motion-rig"), [Axis("speed", [1.0])]
    file = write_motion(tmp_path / "m.csv", rig, move_of(rig))
    run(ready_study("sizing", rig, axes, options={"motions": file}), tmp_path / "s.zarr")
    write_motion(file, rig, move_of(rig, duration=0.7))
    with pytest.raises(tf.ModelError, match=r"the store is of another sweep: asked.motions is another"):
        run(ready_study("sizing", rig, axes, options={"motions": file}), tmp_path / "s.zarr")


def test_the_store_names_motions_and_actuators(tmp_path):
    rig = tf.load("motion-rig")
    file = write_motion(tmp_path / "m.csv", rig, move_of(rig))
    run(ready_study("sizing", rig, [Axis("motion", [1])], options={"motions": file}), tmp_path / "s.zarr")
    found = open_dataset(tmp_path / "s.zarr")
    assert found.attrs["motions"] == {"1": file}
    assert found.attrs["actuator"][5] == "leg 6"
    assert found.peak_force.attrs["units"] == "N"
    assert found.peak_speed.attrs["units"] == "m/s"


def test_a_robot_without_force_limits_has_no_share_of_them():
    arm = tf.load("puma560")
    study = ready_study("sizing", arm, [Axis("speed", [1.0])], options=move_options(arm))
    assert [result.name for result in study.results] == [
        "peak_force",
        "rms_force",
        "peak_speed",
        "peak_power",
        "limits",
    ]


SPEEDS = [Axis("speed", [1.0])]
END = "0.05,0,1.02,0,0,0"


@pytest.mark.parametrize(
    ("axes", "options", "at", "message"),
    [
        ([Axis("x", [1.0])], {"end": END}, {}, "axis x: unknown axis. The axes are speed, payload, motion"),
        ([Axis("speed", [-1.0])], {"end": END}, {}, "axis speed: expected speeds >= 0, got -1"),
        ([Axis("payload", [-0.5])], {"end": END}, {}, "axis payload: expected masses >= 0, got -0.5"),
        ([Axis("motion", [2])], {"end": END}, {}, "axis motion: expected a whole number from 1 to 1, the number of a"),
        ([Axis("motion", [1.0])], {"end": END}, {}, "axis motion: expected a whole number from 1 to 1"),
        (SPEEDS, {}, {}, "option motions: there is no motion. Give motions=FILE.csv, or end=... of a move"),
        (SPEEDS, {"end": "1,2"}, {}, "option end: expected 6 numbers separated by commas, got 2"),
        (SPEEDS, {"end": "1kg,0,1,0,0,0"}, {}, "option end: expected a number in m, got '1kg'"),
        (SPEEDS, {"end": END, "duration": "0"}, {}, "option duration: expected a number above 0, got 0"),
        (SPEEDS, {"end": END, "smooth": "3"}, {}, "option smooth: only motions from files are smoothed"),
        (SPEEDS, {"end": END, "com": "1"}, {}, "option com: expected 3 numbers separated by commas, got 1"),
        (SPEEDS, {"end": END}, {"q": 1.0}, "at: no coordinate is called 'q'. They are x, y, z"),
        (SPEEDS, {"motions": "a.csv", "end": END}, {}, "option motions: `motions` cannot be combined with end"),
        (SPEEDS, {"motions": "a.csv"}, {"x": 0.1}, "option motions: `motions` cannot be combined with at"),
        (SPEEDS, {"motions": "a.csv,"}, {}, "option motions: a name is missing. Write motions=A.csv,B.csv"),
        (SPEEDS, {"motions": "a.csv,a.csv"}, {}, "option motions: a.csv is given twice. Give it once"),
        (SPEEDS, {"motions": "a.csv,b.csv"}, {}, "axis motion: 2 motions need an axis. Write motion=1,2, or give one"),
        (SPEEDS, {"motions": "none.csv"}, {}, "none.csv"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, axes, options, at, message):
    rig = tf.load("motion-rig")
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        write_motion(f"{name}.csv", rig, move_of(rig))
    with pytest.raises(tf.ModelError) as caught:
        ready_study("sizing", rig, axes, at=at, options=options)
    assert str(caught.value).startswith(message)


def test_a_robot_without_masses_is_refused():
    with pytest.raises(tf.ModelError, match=r"dietmaier has a geometry but no masses"):
        ready_study("sizing", tf.load("dietmaier"), SPEEDS, options={"end": END})


def test_a_move_whose_loops_do_not_close_is_refused():
    five_bar = tf.load("five-bar")
    with pytest.raises(tf.ModelError, match=r"move: the loops of five-bar do not close 0\.\d+ s after its start"):
        ready_study("sizing", five_bar, [Axis("speed", [1.0])], options={"end": "3.1,0.3"})
    study = ready_study("sizing", five_bar, [Axis("speed", [1.0])], options={"end": "2.4,0.7"})
    assert values(study, speed=1.0)["peak_force"].shape == (2,)
