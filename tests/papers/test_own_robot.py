"""The papers' figures for a robot and a motion of anybody's: the curves are the library's numbers; what is refused."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.command_line import error_of, parsed, run, saved
from support.platforms import random_platform
from support.strategies import random_arm
from support.tolerances import FORMULATIONS, error
from tauforge.analysis import crossings, leg_force_parts
from tauforge.charts.figure import Figure
from tauforge.motion import CsvMotion
from tauforge.tables.robot_columns import TIME, columns_of
from tauforge_papers.dasgupta1998 import own_robot as dasgupta1998
from tauforge_papers.lee1982 import own_robot as lee1982
from tauforge_papers.own_robot import OWN
from tauforge_papers.pedrammehr2012 import own_robot as pedrammehr2012
from tauforge_papers.turney1980 import own_robot as turney1980

HOME = np.array([0, 0, 1.0, 0, 0, 0])
SEED = 3
START = 5.0  # s, the first time of the files
STROBED = 1e-9  # rad, m: rounding through fifty steps
TRUNCATED = 1e-7  # rad, m: Runge-Kutta's error in steps of 2 ms; measured 4e-9


def motion_of(folder: Path, robot: Any, motion: tf.motion.Motion, rows: int = 41) -> CsvMotion:
    t, own = np.linspace(0, motion.duration, rows), columns_of(robot)
    header = [TIME, *own.position, *own.velocity, *own.acceleration]
    return CsvMotion(saved(folder / "mine.csv", header, np.column_stack([START + t, *motion.sample(t)])), robot)


def curve(figures: tuple[Figure, ...], name: str, label: str) -> np.ndarray:
    """(k, n) of all panels."""
    (figure,) = (one for one in figures if one.name == name)
    return np.stack([line.y for panel in figure.panels for line in panel.lines if line.label == label], axis=-1)


@pytest.fixture(scope="module")
def platform() -> Any:
    return random_platform(np.random.default_rng(SEED))


@pytest.fixture(scope="module")
def swing(platform: Any, tmp_path_factory: pytest.TempPathFactory) -> CsvMotion:
    sine = tf.motion.Sine(HOME, [0.1, 0.08, 0.06, 0.1, 0.1, 0.05], 1.0, 0.5, 0.3)
    return motion_of(tmp_path_factory.mktemp("swing"), platform, tf.motion.PoseMotion(sine))


@pytest.fixture(scope="module")
def arm() -> Any:
    return random_arm(np.random.default_rng(SEED), "RPR", drives=True)


@pytest.fixture(scope="module")
def move(arm: Any, tmp_path_factory: pytest.TempPathFactory) -> CsvMotion:
    line = tf.motion.JointMove(np.zeros(3), [0.1, 0.04, -0.1], 0.1)
    return motion_of(tmp_path_factory.mktemp("move"), arm, line)


def test_dasguptas_figures(platform: Any, swing: CsvMotion) -> None:
    found = dasgupta1998.figures(platform, swing)
    paper, exact = (leg_force_parts(platform, *swing.samples, model=model) for model in ("dasgupta1998", "exact"))
    assert np.array_equal(curve(found, "leg-forces", "T, total"), paper.total)
    assert np.array_equal(curve(found, "leg-forces", "S, massless legs"), paper.massless)
    assert np.array_equal(curve(found, "leg-forces", "D, difference"), paper.difference)
    assert np.array_equal(curve(found, "parts-of-difference", "friction"), paper.friction)
    assert np.array_equal(curve(found, "errors", "paper's model less exact"), paper.total - exact.total)
    drawn = curve(found, "fractions", "exact model")
    kept = ~np.isnan(drawn)
    assert np.array_equal(drawn[kept], exact.fraction[kept])
    condition = curve(found, "condition-number", "condition number")[:, 0]
    assert error(condition, np.linalg.cond(platform.force_matrix(swing.samples.position))) < FORMULATIONS
    assert not any(panel.marks for figure in found for panel in figure.panels)
    assert np.array_equal(found[0].panels[0].lines[0].x, swing.times)


def test_a_singular_pose_on_the_way_is_marked_at_its_time(platform: Any, tmp_path: Path) -> None:
    turn = tf.motion.PoseMotion(tf.motion.JointMove(HOME, HOME + [0, 0, 0, 0, 0, np.pi], 1.0))
    path = motion_of(tmp_path, platform, turn, 200)
    wanted = [START + one.time for one in crossings(platform, lambda t: turn.sample(t).position, 0.0, 1.0)]
    assert wanted
    nearest = [int(np.abs(path.times - time).argmin()) for time in wanted]
    ours, theirs = dasgupta1998.figures(platform, path), pedrammehr2012.figures(platform, path)
    for figure in (ours[0], *ours[2:], *theirs[2:]):
        for panel in figure.panels:
            assert [time for time, _ in panel.marks] == pytest.approx(wanted, abs=1e-3)  # rows are 5 ms apart
    for drawn in (curve(ours, "leg-forces", "T, total"), curve(theirs, "pod-forces", "improved")):
        assert np.flatnonzero(np.isnan(drawn).all(axis=1)).tolist() == nearest  # no stroke joins the two sides
    assert ours[2].panels[0].log_y
    assert not np.isnan(curve(ours, "condition-number", "condition number")).any()
    limit = ours[0].panels[0].y_range
    assert limit is not None
    assert "det H = 0 at" in ours[0].caption
    assert "det H = 0 at" in theirs[2].caption


def test_pedrammehrs_figures(platform: Any, swing: CsvMotion) -> None:
    found = pedrammehr2012.figures(platform, swing)
    for name, field in (
        ("angular-velocities", "angular_velocities"),
        ("angular-accelerations", "angular_accelerations"),
    ):
        for label, spin in (("with spin", True), ("simplified, no spin", False)):
            vectors = getattr(platform.leg_motion(*swing.samples, spin=spin), field)
            assert error(curve(found, name, label), np.sqrt((vectors**2).sum(axis=-1))) < FORMULATIONS
    improved, simplified, exact = (
        platform.inverse_dynamics(*swing.samples, model=model) for model in ("pedrammehr2012", "dasgupta1998", "exact")
    )
    assert np.array_equal(curve(found, "pod-forces", "difference"), improved - simplified)
    assert np.array_equal(curve(found, "errors", "improved"), improved - exact)


def test_turneys_figures(arm: Any, move: CsvMotion) -> None:
    found = turney1980.figures(arm, move)
    bare, t = arm.without_friction(), np.linspace(0, move.duration, len(move.times))
    torque = bare.inverse_dynamics(*move.sample(t))
    groups = [curve(found, "torques", line.label) for line in found[0].panels[0].lines]
    assert np.array_equal(groups[-1], torque)
    assert error(np.sum(groups[:-1], axis=0), torque) < FORMULATIONS
    assert [panel.y_label for panel in found[0].panels] == ["torque (N m)", "force (N)", "torque (N m)"]
    fall = tf.simulate(bare, None, initial=(np.zeros(3), np.zeros(3)), duration=0.1, step=0.002)
    moved = [line.y for line in found[2].panels[0].lines]
    assert np.abs(np.transpose(moved) - fall.position).max() < STROBED
    falling, driven = (line.y.max() for line in found[2].panels[1].lines)
    assert falling < STROBED
    assert driven < TRUNCATED
    bars = {line.label: dict(zip(line.x, line.y, strict=True)) for line in found[3].panels[0].lines}
    assert bars["additions"]["newton-euler"] == tf.operation_count(arm, "newton-euler").additions


def test_lees_figures(arm: Any, move: CsvMotion) -> None:
    found = lee1982.figures(arm, move)
    bare = arm.without_friction()
    run = tf.simulate(bare, tf.control.ComputedTorque(bare), move, step=0.002, control_period=0.01)
    for name in ("newton-euler", "lagrange-euler"):
        errors = curve(found, "position-errors", name)
        assert np.abs(errors - run.error).max() < STROBED
        assert np.abs(errors).max() > 1e-6
    assert [len(panel.lines) for panel in found[0].panels] == [4, 2, 4]  # a converter's bit is one of angles


def test_the_command_writes_images_curves_and_a_page(arm: Any, move: CsvMotion, tmp_path: Path) -> None:
    arm.replace(name="arm <b>").save(tmp_path / "arm.toml")
    source = saved(tmp_path / "q.csv", [TIME, *columns_of(arm).position], np.column_stack([move.times, move.positions]))
    out = tmp_path / "out"
    asked = ("reproduce", "lee1982", "--robot", tmp_path / "arm.toml", "--motion", source, "--out", out)
    told = parsed(*asked)
    assert told["papers"] == ["lee1982"]
    assert told["derived"] == ["velocity", "acceleration"]
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "The claims of the papers are not judged here" in page
    assert "arm &lt;b&gt;" in page
    assert "<b>" not in page
    links = re.findall(r'(?:href|src)="((?:data|figures)/[^"]+)"', page)
    assert len(links) == 6  # the figure shown, as PNG and as SVG, and the curves of three joints
    assert all((out / link).stat().st_size > 500 for link in links)
    with (out / "data" / "lee1982-position-errors-2.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["time [s]", "newton-euler: position error [m]", "lagrange-euler: position error [m]"]
    assert len(rows) == 51
    (out / "mine.txt").write_text("kept")
    run(*asked)
    assert (out / "mine.txt").read_text() == "kept"


@pytest.mark.parametrize(
    ("arguments", "message", "remedy"),
    [
        (
            ["lee1982", "--robot", "RIG"],
            "lee1982 has figures of arms; motion-rig is no such robot",
            "Of platforms: das",
        ),
        (
            ["dasgupta1998", "--robot", "puma560"],
            "dasgupta1998 has figures of platforms; puma560",
            "turney1980, lee1982",
        ),
        (["turney1980", "--robot", "four-bar"], "turney1980 has figures of arms", "There are none of mechanisms"),
        (["angeles", "--robot", "puma560"], "angeles has no figures along a motion", "Of arms: turney1980, lee1982"),
        (["--robot", "RIG"], "no paper is named whose figures are to be drawn", "dasgupta1998, pedrammehr2012"),
        (["angles", "--robot", "RIG"], "no study is called 'angles'", "The studies are dasgupta1998"),
        (["dasgupta1998", "--robot", "RIG"], "--motion: the figures of motion-rig need a motion", ""),
        (["dasgupta1998", "--motion", "CSV"], "--motion: there is no --robot that it belongs to", ""),
        (["dasgupta1998", "--robot", "RIG", "--motion", "ARM"], "no column 'x [m]'", ""),
        (["dasgupta1998", "--robot", "mathworks-hexapod", "--motion", "CSV"], "masses", ""),
    ],
)
def test_what_is_refused(
    arguments: list[str], message: str, remedy: str, rig_csv: Path, arm_csv: Path, tmp_path: Path
) -> None:
    places = {"RIG": "motion-rig", "CSV": rig_csv, "ARM": arm_csv}
    text = " ".join(error_of("reproduce", *(places.get(a, a) for a in arguments), "--out", tmp_path / "out").split())
    assert message in text
    assert remedy in text
    assert not (tmp_path / "out").exists()


def test_motions_out_of_reach_are_told(tmp_path: Path) -> None:
    rows = np.zeros((6, 7))
    rows[:, 0] = np.arange(6)
    columns = [TIME, *columns_of(tf.load("motion-rig")).position]
    flat = saved(tmp_path / "flat.csv", columns, rows)
    asked = ("reproduce", "dasgupta1998", "--robot", "motion-rig", "--out", tmp_path / "out", "--motion")
    text = error_of(*asked, flat, code=1)
    assert f"cannot hold the platform (row 2 of {flat}, t = 0 s, condition number" in text
    assert "beyond its limit" in text  # of the stroke, as `inverse-dynamics` tells it
    assert not (tmp_path / "out").exists()


def test_a_report_of_the_papers_is_not_replaced(move: CsvMotion, arm: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "index.html").write_text('<meta name="generator" content="tauforge reproduce">')
    arm.save(tmp_path / "arm.toml")
    source = saved(tmp_path / "q.csv", [TIME, *columns_of(arm).position], np.column_stack([move.times, move.positions]))
    text = error_of("reproduce", "lee1982", "--robot", tmp_path / "arm.toml", "--motion", source, "--out", out)
    assert "is not replaced" in text


def test_every_study_of_a_motion_is_there() -> None:
    assert list(OWN) == ["dasgupta1998", "pedrammehr2012", "turney1980", "lee1982"]
