"""`robots`, `show`, `check`, `compare`, `complexity`: what they say of a robot is what the library says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from support.command_line import error_of, parsed, run
from support.urdf_texts import TREE
from tauforge.analysis.comparison import assess, compare, random_states
from tauforge.analysis.complexity import general_cost, operation_count
from tauforge.cli import output
from tauforge.motion import CsvMotion
from tauforge.robots.stewart.limits import SLIGHT_VIOLATION, fitting_pose
from tauforge_papers.published_comparison import count_comparisons, step_comparison
from tauforge_papers.published_counts import BREAKDOWNS

CATALOGUE = Path(tf.__file__).parent / "formats" / "catalogue"


def test_robots_lists_the_catalogue_with_its_sources():
    found = {entry["name"]: entry for entry in parsed("robots")["robots"]}
    assert sorted(found) == tf.catalogue()
    for name, entry in found.items():
        robot = tf.load(name)
        other = "mechanism" if isinstance(robot, tf.Mechanism) else "platform"
        assert entry["kind"] == (f"arm, {robot.kinds}" if isinstance(robot, tf.SerialArm) else other)
        assert entry["sources"] == list(dict.fromkeys(source.source for source in robot.sources))
    text = run("robots").stdout
    assert all(name in text for name in found)


@pytest.mark.parametrize("name", tf.catalogue())
def test_show(name):
    robot, found = tf.load(name), parsed("show", name)
    text = run("show", name).stdout
    assert found["name"] == robot.name
    if isinstance(robot, tf.SerialArm):
        assert [joint["mass"] for joint in found["joints"]] == [joint.mass for joint in robot.joints]
        assert all(joint.name in text for joint in robot.joints)
    elif isinstance(robot, tf.Mechanism):
        assert [body["mass"] for body in found["bodies"]] == [body.mass for body in robot.bodies]
        assert all(joint.name in text for joint in robot.joints)
    else:
        assert found["base_points"] == [list(point) for point in robot.base_points]
    assert all(exception.reason in text for exception in robot.known_exceptions)
    assert all(source.source in text for source in robot.sources)
    assert ("[kg m^2]" in text) == (not isinstance(robot, tf.StewartPlatform) or robot.has_masses)


def test_show_says_what_is_odd(tmp_path):
    odd = tf.load("planar-2r").replace
    with pytest.warns(tf.UnphysicalInertiaWarning):
        odd(inertia=[(0.1, 0.1, 0.5)] * 2).save(tmp_path / "odd.toml")
    assert "violate the triangle inequality" in run("show", tmp_path / "odd.toml").stdout
    assert len(parsed("show", tmp_path / "odd.toml")["warnings"]) == 2
    run("check", tmp_path / "odd.toml")
    found = parsed("check", tmp_path / "odd.toml", "--strict", code=1)
    assert not found["good"]
    assert len(found["warnings"]) == 2
    with pytest.warns(tf.UnphysicalInertiaWarning):
        again = tf.load(tmp_path / "odd.toml")
    assert again.n == 2


def test_show_names_the_link_of_the_tool(tmp_path):
    path = tmp_path / "tree.urdf"
    path.write_text(TREE)
    text = run("show", path, "--lock", "slide=0", "--lock", "pan=0").stdout
    assert "tool: the frame of link 'finger' of the URDF" in text
    assert "the only last link of the chain; tip chooses another" in text
    assert "link 'flange'" in run("show", path, "--lock", "slide=0", "--tip", "flange").stdout


def test_show_draws_general_joints():
    frame = np.eye(4)
    frame[:3, 3] = 0.1, 0.2, 0.3
    arm = tf.SerialArm(joints=(tf.Joint(before=frame, mass=1.0, name="hip"),))
    from tauforge.cli.show import shown

    lines = output.console()
    with lines.capture() as caught:
        for part in shown(arm, []):
            lines.print(part)
    assert "0.1, 0.2, 0.3" in caught.get()


@pytest.mark.parametrize("name", tf.catalogue())
def test_the_catalogue_is_good(name):
    found = parsed("check", CATALOGUE / f"{name}.toml")
    assert found["good"]
    assert found["problems"] == []
    assert not [warning for warning in found["warnings"] if "stroke" in warning or "limits" in warning]


TRAVEL = "stroke is the range of a leg's length between its joints, not of its travel"


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"stroke": (0.0, 0.5)}, f"stroke: the shortest leg has length 0; {TRAVEL}"),
        ({"stroke": (0.0, 0.75)}, f"stroke: the shortest leg has length 0; {TRAVEL}"),
        ({"stroke": (0.05, 0.5)}, f"no pose was found that keeps all limits; {TRAVEL}"),
        ({"stroke": [(0.95, 1.45)] * 5 + [(3.0, 3.5)]}, f"no pose was found that keeps all limits; {TRAVEL}"),
        ({"stroke": None, "leg_radius": 2.0}, "no pose was found that keeps all limits"),
        ({"stroke": (0.6, 0.9)}, None),
        ({"stroke": None, "cone_angles": None, "leg_radius": None}, None),
    ],
    ids=["travel", "long-travel", "nearly-travel", "one-leg", "thick-legs", "short", "none"],
)
def test_limits_that_no_pose_keeps(tmp_path, changes, warning):
    tf.load("motion-rig").replace(**changes).save(tmp_path / "rig.toml")
    found = parsed("check", tmp_path / "rig.toml")
    assert found["good"]
    assert found["warnings"] == ([] if warning is None else [warning])
    run("check", tmp_path / "rig.toml", "--strict", code=0 if warning is None else 1)


@pytest.mark.parametrize("seed", range(5))
def test_a_pose_within_narrow_limits_is_found(seed):
    """Strokes of a few millimetres about the lengths of a random pose."""
    rig, rng = tf.load("motion-rig"), np.random.default_rng(seed)
    pose = np.array([0, 0, 1, 0, 0, 0]) + rng.uniform(-1, 1, 6) * [0.05, 0.05, 0.04, 0.06, 0.06, 0.06]
    assert rig.within_limits(pose).hold
    lengths = rig.inverse_kinematics(pose)
    narrow = rig.replace(stroke=np.stack([lengths - 0.003 * rng.random(6), lengths + 0.003 * rng.random(6)], axis=1))
    found = fitting_pose(narrow)
    assert found is not None
    limits = narrow.within_limits(found)
    assert limits.stroke.min() > -SLIGHT_VIOLATION * 2  # beside legs of less than 2 m
    assert min(limits.base_cone.min(), limits.platform_cone.min()) > -SLIGHT_VIOLATION


BAD_ARM = """
format = "tauforge-arm-1"
name = "bad"
convention = "standard"
gravity = [0.0, -9.81]

[[joint]]
kind = "R"
alpha = 0.0
a = 1.0
d = 0.0
theta = 0.0
mass = -1.0
com = [0.0, 0.0, 0.0]
inertia = [0.1, 0.1]

[[joint]]
kind = "X"
alpha = 0.0
a = 1.0
d = 0.0
theta = 0.0
com = [0.0, 0.0, "a"]
inertia = [0.1, 0.1, 0.1]
colour = "red"
"""


def test_check_finds_every_problem(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(BAD_ARM)
    found = parsed("check", path, code=1)["problems"]
    for piece in (
        "gravity: expected 3 numbers",
        "joint[1].mass: expected a number >= 0, got -1.0",
        "joint[1].inertia: expected 3 numbers",
        "joint[2].kind: unknown joint letter 'X'",
        "joint[2].mass",
        "joint[2].com: expected a number, got 'a'",
        "joint[2]: unknown key 'colour'",
    ):
        assert sum(piece in problem for problem in found) == 1, (piece, found)
    assert len(found) == 7
    text = run("check", path, code=1).stdout
    assert text.startswith(f"{path}: 7 problems\n1. ")


@pytest.mark.parametrize(
    ("text", "count", "piece"),
    [
        (
            'format = "tauforge-platform-1"\nname = "p"\nbase_points = 2\nplatform_points = 3\nstroke = [2, 1]\n',
            3,
            "stroke",
        ),
        ("not toml", 1, "not valid TOML"),
        ('format = "other"\n', 1, "unknown format"),
        ("", 1, "the file is empty"),
    ],
)
def test_check_of_other_bad_files(tmp_path, text, count, piece):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    found = parsed("check", path, code=1)["problems"]
    assert len(found) == count
    assert any(piece in problem for problem in found)


def test_check_of_a_urdf(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text("<robot name='r'><link name='a'/></robot>")
    assert len(parsed("check", path, code=1)["problems"]) == 1


def test_check_warns_of_what_cannot_be_simulated(tmp_path):
    tf.load("planar-2r").replace(mass=[1.0, 0.0], inertia=[(0.1, 0.1, 0.1), (0, 0, 0)]).save(tmp_path / "light.toml")
    assert "mass matrix has no inverse" in parsed("check", tmp_path / "light.toml")["warnings"][0]
    assert "no masses" in parsed("check", CATALOGUE / "dietmaier.toml")["warnings"][0]


def test_compare_formulations(arm_csv):
    arm = tf.load("puma560")
    found = parsed("compare", "puma560", "--states", 50, "--seed", 3)
    wanted = compare(arm, *random_states(arm, 50, 3))
    assert found["disagreement"] == wanted.disagreement
    assert found["largest"] < 1e-12
    assert "largest disagreement" in run("compare", "--states", 20).stdout  # the PUMA
    along = parsed("compare", "puma560", "--motion", arm_csv)
    assert along["disagreement"] == compare(arm, *CsvMotion(arm_csv, arm).samples).disagreement


def test_compare_models(rig_csv):
    rig = tf.load("motion-rig")
    found = parsed("compare", "motion-rig", "--states", 20)
    wanted = assess(rig, *rig.random_states(20))
    assert [model["largest_error"] for model in found["models"]] == [v.largest.tolist() for v in wanted]
    rows = run("compare", "motion-rig", "--states", 20).stdout
    for verdict in wanted:
        (row,) = (line for line in rows.splitlines() if line.startswith(f"{verdict.simplification.name} "))
        assert row.split()[-2] == output.number(verdict.worst)
        assert output.number(verdict.worst) != output.number(verdict.rms.max())
    text = run("compare", "motion-rig", "--motion", rig_csv).stdout
    assert "no leg spin" in text
    assert "error [N]" in text


@pytest.mark.parametrize("name", ["puma560", "planar-2r", "dasgupta1998"])
def test_complexity(name):
    robot, found = tf.load(name), parsed("complexity", name)["operations"]
    assert list(found) == list(tf.FORMULATIONS if isinstance(robot, tf.SerialArm) else tf.STEWART_MODELS)
    for formulation, cost in found.items():
        wanted = operation_count(robot, formulation)
        assert (cost["multiplications"], cost["additions"]) == wanted[:2]
    assert all(formulation in run("complexity", name).stdout for formulation in found)


def test_complexity_beside_the_papers():
    text = run("complexity", "puma560", "--papers").stdout
    for piece in ("174 / 141", "375 / 307", "459 / 390", "Do the papers' tables add up?", "74 n / 56 n"):
        assert piece in text
    arm = tf.load("puma560")
    for name in tf.FORMULATIONS:  # what is traced and what is written stand apart in the table
        (row,) = (line for line in text.split("The general arm")[0].splitlines() if line.startswith(f"{name} "))
        assert tuple(map(int, row.split()[5::2][:2])) == operation_count(arm, name).as_written[:2]
        (row,) = (line for line in text.split("The general arm")[1].splitlines() if line.startswith(f"{name} "))
        for cost in (general_cost(name), general_cost(name, as_written=True)):
            assert " / ".join(map(str, cost)) in row
    for entry in count_comparisons(6):
        three = [" / ".join(map(str, pair)) for pair in (entry.printed, entry.as_written, entry.traced)]
        assert re.search(r" +".join(map(re.escape, [entry.formulation, *three])), text)
    found = parsed("complexity", "puma560", "--papers")["papers"]
    assert found["counts"] == output.plain(list(count_comparisons(6)))
    assert found["steps"] == output.plain(step_comparison(6))
    agree = [entry["sum"] == entry["printed"] for entry in found["tables"]]
    assert agree == [breakdown.adds_up() for breakdown in BREAKDOWNS]
    assert not all(agree)
    assert "papers" not in parsed("complexity", "puma560")


def test_complexity_of_a_platform_as_written():
    rig, text = tf.load("dasgupta1998"), run("complexity", "dasgupta1998").stdout
    for name in tf.STEWART_MODELS:
        (row,) = (line for line in text.splitlines() if line.startswith(f"{name} "))
        cost = operation_count(rig, name)
        written = cost.as_written
        total = written.multiplications + written.additions + written.divisions + written.roots
        assert [int(cell) for cell in row.split()[-2:]] == [cost.flops, total]
        assert total > cost.flops


def test_there_is_nothing_to_count_without_masses():
    assert "dietmaier has a geometry but no masses" in error_of("complexity", "dietmaier")


def test_show_draws_the_robot_or_its_frames(tmp_path):
    picture, frames = tmp_path / "rig.png", tmp_path / "frames.svg"
    run("show", "motion-rig", "--picture", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    run("show", "motion-rig", "--picture", frames, "--schematic")
    drawn = frames.read_text(encoding="utf-8")
    assert "<!-- platform -->" in drawn
    assert "<!-- x (m) -->" not in drawn  # the axes of the picture in space
    assert "--schematic: it needs a file: give --picture FILE" in error_of("show", "motion-rig", "--schematic")
    assert "ends in .png, .svg, .pdf, got 'a.gif'" in error_of("show", "motion-rig", "--picture", "a.gif")
