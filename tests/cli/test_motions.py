"""`inverse-dynamics`, `forward-kinematics`, `simulate`, `sizing`: files in, the library's numbers out."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

import tauforge as tf
from support.command_line import error_of, parsed, run, saved
from support.tolerances import ROUNDING
from tauforge.analysis.stewart_sizing import size_actuators
from tauforge.motion import CsvMotion
from tauforge.tables.reading import read_csv
from tauforge.tables.robot_columns import TIME, columns_of, sensor_columns

LENGTHS = sensor_columns(tf.load("motion-rig"))

EXACT = 1e-14  # relative: the same function called twice, with the same arrays


@pytest.mark.parametrize("formulation", [None, "lagrange-euler"])
def test_inverse_dynamics_of_an_arm(tmp_path, arm_csv, formulation):
    arm = tf.load("puma560")
    choice = [] if formulation is None else ["--formulation", formulation]
    out = tmp_path / "forces.csv"
    found = parsed("inverse-dynamics", "puma560", arm_csv, "-o", out, *choice, "--payload", "2,0,0,0.05")
    state = CsvMotion(arm_csv, arm).samples
    payload = tf.Payload(2.0, com=(0, 0, 0.05))
    forces = arm.carrying(payload).inverse_dynamics(*state, formulation=formulation)
    apart = np.abs(forces - arm.inverse_dynamics(*state, payload=payload, formulation=formulation))
    assert apart.max() < ROUNDING * np.abs(forces).max()
    written = read_csv(out)
    assert np.array_equal(written.take(columns_of(arm).force), forces)
    assert np.array_equal(written.take_times(TIME), CsvMotion(arm_csv, arm).times)
    assert [row["peak"] for row in found["forces"]] == [
        forces[row, k] for k, row in enumerate(np.abs(forces).argmax(0))
    ]
    rms = np.sqrt(np.mean((forces[1:] ** 2 + forces[:-1] ** 2) / 2, axis=0))  # trapezoids of one width
    assert [row["rms"] for row in found["forces"]] == pytest.approx(rms.tolist(), rel=1e-12)
    assert found["derived"] == []
    assert found["states"] == 51


def test_inverse_dynamics_of_a_platform(tmp_path, rig_csv):
    rig, out = tf.load("motion-rig"), tmp_path / "forces.csv"
    done = run(
        "inverse-dynamics", "motion-rig", rig_csv, "-o", out, "--model", "dasgupta1998", "--wrench", "0,0,-1kN,0,0,0"
    )
    assert "no columns give velocity and acceleration; they are derived from a spline" in done.stderr
    state = CsvMotion(rig_csv, rig).samples
    forces = rig.inverse_dynamics(*state, model="dasgupta1998", external_wrench=[0, 0, -1000, 0, 0, 0])
    assert np.array_equal(read_csv(out).take(columns_of(rig).force), forces)
    run("inverse-dynamics", "motion-rig", rig_csv, "-o", out, "--payload", "50,0,0,0.2")
    heavier = rig.replace(
        platform_mass=285.0,
        platform_com=tuple((235 * np.array(rig.platform_com) + 50 * np.array([0, 0, 0.2])) / 285),
        platform_inertia=np.array(rig.platform_inertia) + 235 * 50 / 285 * 0.18**2 * np.diag([1, 1, 0]),
    )
    wanted = heavier.inverse_dynamics(*state)
    assert np.abs(read_csv(out).take(columns_of(rig).force) - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_dash_writes_to_stdout(arm_csv):
    done = run("inverse-dynamics", "puma560", arm_csv, "-o", "-")
    rows = list(csv.reader(done.stdout.splitlines()))
    assert rows[0][:2] == ["time [s]", "tau1 [N m]"]
    assert len(rows) == 52


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["puma560", "ARM", "-o", "ARM"], "arm.csv is an input file; give another name"),
        (["puma560", "ARM", "-o", "none/forces.csv"], "the folder none does not exist"),
        (["puma560", "ARM", "-o", "forces.xls"], "expected a name that ends in .csv, got 'forces.xls'"),
        (["puma560", "ARM", "-o", "-", "--json"], "- and --json both write to stdout"),
        (
            ["puma560", "ARM", "--formulation", "hamilton"],
            "unknown formulation 'hamilton'\n  Use one of lagrange-euler",
        ),
        (["puma560", "ARM", "--model", "exact"], "unknown formulation 'exact'\n  Use one of lagrange-euler"),
        (["motion-rig", "ARM", "--formulation", "newton-euler"], "unknown model 'newton-euler'\n  Use one of exact"),
        (["motion-rig", "ARM"], "arm.csv: row 1: there is no column 'x [m]'"),
        (["puma560", "ARM", "--payload", "1,2"], "expected a mass, or a mass and three coordinates, got 2 numbers"),
        (
            ["puma560", "ARM", "--payload", "heavy"],
            "a number in kg, or one with its unit (kg, g), got 'heavy'",
        ),
        (["puma560", "ARM", "--payload", "2rad"], "(kg, g), got '2rad'"),
        (["puma560", "ARM", "--payload", "2kg,1deg,0,0"], "in m, or one with its unit (m, cm, mm, um, in), got '1deg'"),
        (["puma560", "ARM", "--wrench", "1kN,0,0,0,5mm,0"], "(N m, kN m, N mm), got '5mm'"),
        (["puma560", "ARM", "--payload", "-1"], "payload mass: expected numbers >= 0"),
        (["puma560", "ARM", "--wrench", "1,2"], "expected 6 numbers separated by commas, got 2"),
        (["puma560", "none.csv"], "none.csv: no such file"),
    ],
)
def test_bad_use_of_inverse_dynamics(arm_csv, arguments, message):
    given = [str(arm_csv) if argument == "ARM" else argument for argument in arguments]
    assert message in error_of("inverse-dynamics", *given)


def test_actuators_that_are_asked_for_too_much(tmp_path, arm_csv, rig_csv):
    tf.load("puma560").replace(max_force=[5.0, None, 1000.0, None, None, None]).save(tmp_path / "weak.toml")
    found = run("inverse-dynamics", tmp_path / "weak.toml", arm_csv).stderr
    peak = np.abs(tf.load("puma560").inverse_dynamics(*CsvMotion(arm_csv, tf.load("puma560")).samples)).max(axis=0)[0]
    assert found == f"warning: joint1 needs {peak:.4g} N m, more than its limit of 5 N m\n"
    lifted = run("inverse-dynamics", "motion-rig", rig_csv, "--wrench", "0,0,30kN,0,0,0").stderr  # the legs pull
    assert "leg 1 needs" in lifted
    heavy = run("inverse-dynamics", "motion-rig", rig_csv, "--payload", "2000").stderr
    assert "warning: leg 3 needs" in heavy
    assert "more than its limit of 4000 N" in heavy


def test_nothing_is_overwritten_when_there_is_no_answer(tmp_path, rig_csv):
    out = tmp_path / "forces.csv"
    out.write_text("precious")
    error_of("inverse-dynamics", "mathworks-hexapod", rig_csv, "-o", out)  # it has no masses
    assert out.read_text() == "precious"


def test_a_singular_pose_is_a_failed_check(tmp_path):
    rows = np.zeros((6, 7))
    rows[:, 0] = np.arange(6)
    flat = saved(tmp_path / "flat.csv", [TIME, *columns_of(tf.load("motion-rig")).position], rows)
    text = error_of("inverse-dynamics", "motion-rig", flat, code=1)
    assert f"cannot hold the platform (row 2 of {flat}, t = 0 s, condition number" in text
    assert f"(row 2 of {flat}, t = 0 s, " in error_of("sizing", "motion-rig", flat, code=1)
    assert f"(row 2 of {flat}, t = 0 s, " in error_of("compare", "motion-rig", "--motion", flat, code=1)


def test_a_singular_pose_further_on_is_told_by_its_row_and_its_time(tmp_path):
    rows = np.zeros((8, 13)) + np.r_[0, 0, 0, 1, np.zeros(9)]
    rows[:, 0] = 0.25 * np.arange(8)
    rows[5, 3] = 0  # m, flat: no leg can lift the platform
    columns = columns_of(tf.load("motion-rig"))
    given = [TIME, *columns.position, *columns.velocity, *columns.acceleration]
    rows = np.hstack([rows, np.zeros((8, len(given) - rows.shape[1]))])
    text = error_of("inverse-dynamics", "motion-rig", saved(tmp_path / "dip.csv", given, rows), code=1)
    assert f"cannot hold the platform (row 7 of {tmp_path / 'dip.csv'}, t = 1.25 s, condition number" in text


def test_forward_kinematics_of_an_arm(tmp_path, arm_csv):
    arm, out = tf.load("puma560"), tmp_path / "poses.csv"
    found = parsed("forward-kinematics", "puma560", arm_csv, "-o", out)
    T = arm.forward_kinematics(CsvMotion(arm_csv, arm).samples.position)
    written = read_csv(out).take(columns_of(tf.load("motion-rig")).position)
    assert np.array_equal(written[:, :3], T[:, :3, 3])
    assert np.allclose(np.cos(written[:, 4]) * np.cos(written[:, 5]), T[:, 0, 0], rtol=0, atol=1e-15)
    assert found["last"] == pytest.approx(written[-1].tolist(), rel=EXACT)
    assert "time" in read_csv(out).names


def test_forward_kinematics_of_a_platform_follows_the_legs(tmp_path, rig_csv):
    rig, out = tf.load("motion-rig"), tmp_path / "poses.csv"
    pose = CsvMotion(rig_csv, rig).samples.position
    legs = saved(tmp_path / "legs.csv", LENGTHS, rig.inverse_kinematics(pose))
    run("forward-kinematics", "motion-rig", legs, "-o", out, "--guess", "0,0,1000mm,0,0,0deg")
    assert np.abs(read_csv(out).take(columns_of(rig).position) - pose).max() < 1e-9
    assert "time" not in read_csv(out).names
    assert "puma560 is an arm; what its sensors measure needs no guess" in error_of(
        "forward-kinematics", "puma560", legs, "--guess", "0,0,0,0,0,0"
    )


def test_legs_that_cannot_be_so_long_are_told_by_their_row(tmp_path):
    legs = tmp_path / "legs.csv"
    good = ",".join(["1.13"] * 6)
    header = ",".join(map(str, LENGTHS))
    legs.write_text(f"{header}\n{good}\n\n{good[:-4]}3.0\n")
    text = error_of("forward-kinematics", "motion-rig", legs, code=1)
    start = "error: motion-rig: no pose with these leg lengths was found near the previous one"
    assert text.startswith(f"{start} in row 4 of {legs} (residual ")
    assert "\n  Either no pose has these lengths, or the step is too large." in text


def test_legs_with_times_are_told_by_their_time_too(tmp_path):
    legs = tmp_path / "legs.csv"
    good = ",".join(["1.13"] * 6)
    legs.write_text(f"{TIME},{','.join(map(str, LENGTHS))}\n0,{good}\n0.5,{good[:-4]}3.0\n")
    assert f" in row 3 of {legs}, t = 0.5 s (residual " in error_of("forward-kinematics", "motion-rig", legs, code=1)


def test_a_singular_pose_on_the_way_is_told_by_its_row(tmp_path):
    rig = tf.load("motion-rig")
    pose = np.zeros((32, 6)) + [0, 0, 1.0, 0, 0, 0]
    pose[:, 5] = np.deg2rad(np.r_[np.linspace(60, 89, 30), 89.6, 89.7])  # about 90 degrees the legs lose the platform
    legs = saved(tmp_path / "legs.csv", LENGTHS, rig.inverse_kinematics(pose))
    start = f"0,0,1,0,0,{pose[0, 5]}"
    with pytest.warns(tf.SingularityWarning) as caught:
        rig.track(rig.inverse_kinematics(pose), pose[0])
    row = caught[0].message.row
    told = run("forward-kinematics", "motion-rig", legs, "--guess", start).stderr
    assert f"near a singularity in row {row + 2} of {legs}. The poses after it" in told


def test_files_that_cannot_be_written_are_told_before_any_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dd.csv").mkdir()
    move = ("simulate", "planar-2r", "--motion", "joint-move:0,0:1,1:0.01")
    for option, name, message in (
        ("-o", "dd.csv", "--output: dd.csv is a folder; give a file"),
        ("-o", "d.csv/", "--output: d.csv/ is a folder; give a file"),
        ("-o", "x" * 300 + ".csv", "cannot be written: File name too long"),
        ("--plot", "none/b.png", "--plot: the folder none does not exist"),
        ("--plot", "b.gif", "--plot: expected a name that ends in .png"),
        ("--plot", "-", "--plot: expected a name that ends in .png"),
        ("--animation", "b.png", "--animation: expected a name that ends in .html or .gif or .mp4"),
        ("--animation", "none/b.gif", "--animation: the folder none does not exist"),
    ):
        other = ("--plot", "b.png") if option == "-o" else ("-o", "b.csv")
        assert message in error_of(*move, option, name, *other)
    assert [path.name for path in tmp_path.iterdir()] == ["dd.csv"]


def test_an_output_that_is_a_link_to_itself_is_replaced(tmp_path):
    table = tmp_path / "own.csv"
    table.symlink_to(table)
    run("simulate", "planar-2r", "--motion", "joint-move:0,0:1,1:0.01", "-o", table)
    assert not table.is_symlink()
    assert table.read_text(encoding="utf-8")


def test_simulate_animates_the_run(tmp_path, monkeypatch):
    arguments = ("simulate", "planar-2r", "--motion", "joint-move:0,0:0.2,-0.1:0.1", "--step", "0.01")
    page, film = tmp_path / "run.html", tmp_path / "run.gif"
    assert f"written to {page}" in run(*arguments, "--animation", page).stdout
    assert "planar-2r" in page.read_text(encoding="utf-8")
    assert parsed(*arguments, "--animation", film)["animation"] == str(film)
    assert film.read_bytes().startswith(b"GIF89a")
    monkeypatch.setenv("PATH", str(tmp_path))
    film = tmp_path / "run.mp4"
    assert "needs the program ffmpeg" in error_of(*arguments, "--animation", film, "-o", tmp_path / "run.csv")
    assert not (tmp_path / "run.csv").exists()  # told before any work


def test_a_simulation_that_runs_away_says_when():
    move = ("simulate", "planar-2r", "--motion", "joint-move:0,0:1,1:1", "--controller", "pd")
    text = error_of(*move, "--kp=1e6", "--kv=1e5", code=1)  # more than the steps of the integrator bear
    assert re.match(
        r"error: the simulation ends at t = 0\.00\d s: the (motion ran away|controller returned non-finite f)", text
    )
    assert "recording" not in text
    assert "residual" not in text
    assert "kp: the gain increases some errors" in error_of(*move, "--kp=-1", "--kv=1")


def test_joints_that_jump_by_a_turn_are_told(tmp_path):
    t = np.linspace(0, 1, 21)
    q = np.column_stack([3.0 + t, t])
    wrapped = np.remainder(q + np.pi, 2 * np.pi) - np.pi
    columns = [TIME, *columns_of(tf.load("planar-2r")).position]
    found = [
        run("inverse-dynamics", "planar-2r", saved(tmp_path / f"{name}.csv", columns, np.column_stack([t, values])))
        for name, values in (("wrapped", wrapped), ("whole", q))
    ]
    assert "jumps by a full turn between rows were removed from q1\n" in found[0].stderr
    assert "jumps" not in found[1].stderr
    assert found[0].stdout == found[1].stdout


def test_simulate_equals_the_library(tmp_path):
    out = tmp_path / "run.csv"
    move = "joint-move:0,0:90deg,-0.5:0.1"
    found = parsed("simulate", "planar-2r", "--motion", move, "--control-period", 0.01, "--payload", "1", "-o", out)
    arm = tf.load("planar-2r")
    motion = tf.motion.JointMove([0, 0], [np.pi / 2, -0.5], 0.1)
    law = tf.control.ComputedTorque(arm)
    wanted = tf.simulate(arm, law, motion, control_period=0.01, plant=arm.carrying(tf.Payload(1.0)))
    assert np.array_equal(read_csv(out).take(columns_of(arm).position), wanted.position)
    assert found["coordinates"][0]["final_error"] == wanted.error[-1, 0]
    assert found["duration"] == wanted.time[-1]
    again = CsvMotion(out, arm)  # a recording is a motion
    assert np.array_equal(again.samples.acceleration, wanted.acceleration)
    run(
        "simulate",
        "planar-2r",
        "--motion",
        out,
        "--controller",
        "gravity-pd",
        "--kp",
        "100",
        "--kv",
        "20,10",
        "--duration",
        0.02,
    )


def test_simulate_takes_a_motion_of_any_duration():
    move = "joint-move:0,0:90deg,-0.5:0.0705"
    assert parsed("simulate", "planar-2r", "--motion", move)["duration"] == pytest.approx(0.071, rel=EXACT)
    found = parsed("simulate", "planar-2r", "--motion", move, "--control-period", 0.002)
    assert found["duration"] == pytest.approx(0.072, rel=EXACT)


def test_simulate_passes_limits_and_method_on(tmp_path):
    limited = tf.load("planar-2r").replace(max_force=[0.5, None])
    limited.save(tmp_path / "weak.toml")
    motion, out = tf.motion.JointMove([0, 0], [0.2, -0.1], 0.1), tmp_path / "run.csv"
    arguments = ("simulate", tmp_path / "weak.toml", "--motion", "joint-move:0,0:0.2,-0.1:0.1", "-o", out)
    for option, choice in ((["--force-limits"], {"force_limits": "robot"}), (["--method", "dormand-prince"], {})):
        found = parsed(*arguments, "--step", "0.02", *option)
        method = found["method"]
        wanted = tf.simulate(limited, tf.control.ComputedTorque(limited), motion, step=0.02, method=method, **choice)
        assert np.array_equal(read_csv(out).take(columns_of(limited).position), wanted.position)
        rms = np.sqrt((wanted.error**2).mean(axis=0))
        assert [row["rms_error"] for row in found["coordinates"]] == pytest.approx(rms.tolist(), rel=EXACT)
    plain = tf.simulate(limited, tf.control.ComputedTorque(limited), motion, step=0.02)
    assert not np.array_equal(plain.position, wanted.position)  # by the other method


def test_simulate_writes_npz_and_draws(tmp_path):
    move = "pose-move:0,0,1,0,0,0:2mm,0,1,0,0.1deg,0:0.02"
    run("simulate", "motion-rig", "--motion", move, "-o", tmp_path / "run.npz", "--plot", tmp_path / "run.png")
    recording = tf.Recording.load(tmp_path / "run.npz")
    assert recording.names[3:] == ("theta_x", "theta_y", "theta_z")
    assert np.abs(recording.error).max() < 1e-6
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    run("simulate", "motion-rig", "--motion", move, "--plot", tmp_path / "run.svg")
    drawn = (tmp_path / "run.svg").read_text()
    for words in ("position, m", "position, rad", "error, m", "error, rad", "force, N", "leg6", "theta_z", "time, s"):
        assert f"<!-- {words} -->" in drawn
    rows = run("simulate", "motion-rig", "--motion", move, "-o", "-").stdout.splitlines()
    assert len(rows) == 22
    assert rows[0].startswith("time [s],x [m],")


def test_simulate_without_control_falls_and_smooths_friction():
    done = run("simulate", "planar-2r", "--motion", "joint-move:0,0:0,0:0.05", "--controller", "none")
    assert "planar-2r without control: 0.05 s in steps of 0.001 s" in done.stdout
    assert "at the end" in done.stdout
    arm = "joint-move:0,0,0,0,0,0:0,0,0,0,0,0:0.002"
    assert "smoothed over 0.01 rad/s" in run("simulate", "puma560", "--motion", arm).stderr
    assert "smoothed" not in run("simulate", "puma560", "--motion", arm, "--coulomb-speed", "0.1").stderr


def test_limits_are_told_as_events():
    found = parsed("simulate", "puma560", "--motion", "joint-move:0,0,0,0,0,2:0,0,0,0,0,8:0.05", "--step", "0.01")
    assert any(event["which"] == "limit of joint6" for event in found["events"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["planar-2r", "--motion", "slowly"], "expected a .csv file, joint-move:... or pose-move:..., got 'slowly'"),
        (["planar-2r", "--motion", "joint-move:0,0:1,1"], "expected joint-move:FROM:TO:SECONDS[:PROFILE]"),
        (["planar-2r", "--motion", "joint-move:0:1:1"], "expected 2 numbers separated by commas, got 1"),
        (["planar-2r", "--motion", "joint-move:0,0:1,1:1:bumpy"], "profile: expected one of cubic, quintic"),
        (["planar-2r", "--motion", "pose-move:0,0:1,1:1"], "pose-move gives poses; planar-2r needs joint-move"),
        (
            ["motion-rig", "--motion", "joint-move:0,0:1,1:1"],
            "joint-move gives joint coordinates; motion-rig needs pose-move",
        ),
        (
            ["planar-2r", "--motion", "MOVE", "--controller", "magic"],
            "expected one of computed-torque, pd, gravity-pd, none",
        ),
        (
            ["planar-2r", "--motion", "joint-move:0,0:90mm,-0.5:0.2"],
            "or one with its unit (rad, mrad, deg, rev)",
        ),
        (["planar-2r", "--motion", "joint-move:0,0:1,1:0.2rad"], "(s, ms, us, min), got '0.2rad'"),
        (["planar-2r", "--motion", "MOVE", "--kp", "1deg"], "expected a number without a unit, got '1deg'"),
        (["planar-2r", "--motion", "MOVE", "--force-limits"], "planar-2r has no force limits"),
        (
            ["planar-2r", "--motion", "MOVE", "--controller", "pd"],
            "pd needs this gain, and no default suits all robots",
        ),
        (["planar-2r", "--motion", "MOVE", "--controller", "none", "--kp", "1"], "--controller none takes no gains"),
        (["planar-2r", "--motion", "MOVE", "--kp", "1,2,3"], "kp: expected a number, 2 numbers or a matrix (2, 2)"),
        (["planar-2r", "--motion", "MOVE", "--method", "euler"], "expected one of rk4, dormand-prince, symplectic"),
        (
            ["planar-2r", "--motion", "MOVE", "--step", "0.3", "--control-period", "0.4"],
            "control_period: expected a whole number of steps of 0.3 s, got 0.4 s",
        ),
        (["planar-2r", "--motion", "MOVE", "--step", "-1"], "step: expected a number > 0"),
        (["planar-2r", "--motion", "MOVE", "-o", "run.xls"], "expected a name that ends in .csv or .npz"),
        (["planar-2r", "--motion", "MOVE", "--plot", "run.gif"], "expected a name that ends in .png or .svg or .pdf"),
        (["motion-rig", "--motion", "MOVE", "--coulomb-speed", "1"], "motion-rig has no Coulomb friction to smooth"),
    ],
)
def test_bad_use_of_simulate(arguments, message):
    given = ["joint-move:0,0:1,1:1" if argument == "MOVE" else argument for argument in arguments]
    assert message in error_of("simulate", *given)


def test_a_motion_is_never_overwritten(arm_csv):
    assert "is an input file" in error_of("simulate", "puma560", "--motion", arm_csv, "-o", arm_csv)


def test_sizing_equals_the_library(rig_csv):
    rig, found = tf.load("motion-rig"), parsed("sizing", "motion-rig", rig_csv)
    motion = CsvMotion(rig_csv, rig)
    wanted = size_actuators(rig, motion.times, *motion.samples)
    assert found["peak_force"]["value"] == wanted.peak_force.value.tolist()
    assert found["rms_force"] == wanted.rms_force.tolist()
    assert found["reactions"]["spherical force"]["time"] == wanted.reactions["spherical force"].time.tolist()
    assert [margin["value"] for margin in found["margins"]] == [margin.value for margin in wanted.margins]
    assert found["condition_number"]["value"] == wanted.condition[0]
    assert found["within_limits"]


def test_sizing_carries_a_wrench(rig_csv):
    rig, found = tf.load("motion-rig"), parsed("sizing", "motion-rig", rig_csv, "--wrench", "0,0,-1kN,0,0,20")
    motion = CsvMotion(rig_csv, rig)
    wanted = size_actuators(rig, motion.times, *motion.samples, external_wrench=[0, 0, -1000, 0, 0, 20])
    assert found["peak_force"]["value"] == wanted.peak_force.value.tolist()


def test_sizing_for_people(rig_csv):
    text = run("sizing", "motion-rig", rig_csv).stdout
    for piece in ("peak [N]", "RMS [N]", "stroke [m]", "peak power [W]", "spherical force", "clearance of legs", " *"):
        assert piece in text
    assert "far from singular" in text
    assert "BROKEN" not in text
    hard = run("sizing", "motion-rig", rig_csv, "--payload", "2000", "--check", code=1).stdout
    assert "BROKEN" in hard
    assert "no limits to compare with" in run("sizing", "dasgupta1998", rig_csv, code=0).stdout


def test_at_rest_no_leg_is_marked_for_its_power(tmp_path):
    rows = np.zeros((50, 7)) + [0, 0.1, 0.02, 1.03, 0.1, 0.05, 0.3]
    rows[:, 0] = np.linspace(0, 1, 50)
    rest = saved(tmp_path / "rest.csv", [TIME, *columns_of(tf.load("motion-rig")).position], rows)
    forces, powers = run("sizing", "motion-rig", rest).stdout.split("Speeds and powers")
    assert forces.count(" *") == 1
    assert powers.split("Loads")[0].count(" *") == 0
    assert [row["time_of_peak"] for row in parsed("inverse-dynamics", "motion-rig", rest)["forces"]] == [0.0] * 6


def test_sizing_is_for_platforms(arm_csv):
    assert "sizing needs a robot with legs; puma560 is an arm" in error_of("sizing", "puma560", arm_csv)
