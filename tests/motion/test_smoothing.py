"""Accelerations from rounded samples: what the digits allow, said honestly; ends that do not run away; smoothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import tauforge as tf
from support.command_line import error_of, parsed, run
from tauforge.analysis.stewart_sizing import size_actuators
from tauforge.motion import CsvMotion, Sampled
from tauforge.motion.derivatives import derivatives, noise_of, smoothing_spline
from tauforge.tables.robot_columns import columns_of
from tauforge.tables.table import quanta

HEADER = "time [s],x [m],y [m],z [m],theta_x [rad],theta_y [rad],theta_z [rad]"
FREQUENCY, PEAK, STEP = 10.0, 4.0, 1e-3  # Hz, m/s^2, s: the heave
W = 2 * np.pi * FREQUENCY
T = STEP * np.arange(1001)
HONEST = 2.0  # factor between the error that is told and the largest that is there
PHASES = [0.0, 0.7, 1.6, 2.9, 4.4, 5.7]


def heave(phase, t=T):
    """z, its rate and its acceleration."""
    swing = PEAK / W**2 * np.sin(W * t + phase)
    return 1 + swing, PEAK / W * np.cos(W * t + phase), -(W**2) * swing


def heave_file(path, phase, fmt="%.6f", header=HEADER, scale=1.0, t=T, time_format="%.6f"):
    rows = np.zeros((len(t), 7))
    rows[:, 0], rows[:, 3] = t, heave(phase, t)[0] * scale
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt=[time_format, *[fmt] * 6])
    return path


def forces_of_heave(phase):
    """What the exact motion needs."""
    z, rate, acceleration = heave(phase)
    state = np.zeros((3, len(T), 6))
    state[:, :, 2] = z, rate, acceleration
    return size_actuators(tf.load("motion-rig"), T, *state)


# ------------------------------------------------------------------------------------------------------------- digits


@pytest.mark.parametrize(
    ("fmt", "steps"),
    [
        ("%.3f", lambda x: np.full(x.shape, 1e-3)),
        ("%.6f", lambda x: np.full(x.shape, 1e-6)),
        ("%.6e", lambda x: 10.0 ** (np.floor(np.log10(np.abs(x))) - 6)),
    ],
)
def test_digits_show_the_steps(fmt, steps):
    x = np.array([float(fmt % value) for value in np.sin(np.linspace(0.05, 2.9, 700)) * 3])
    found = quanta(x[:, None])[:, 0]
    assert np.mean(np.isclose(found, steps(x), rtol=1e-9)) > 0.97  # the few largest may show no more than their size


def test_digits_of_few_different_numbers():
    level = np.where(np.arange(500) < 300, 1.0, np.round(0.9999 + 1e-4 * np.sin(np.arange(500)), 6))
    assert np.unique(quanta(level[:, None])).tolist() == [1e-6]  # a place that is held has its digits too
    assert quanta(np.arange(0.0, 50000, 1000)[:, None]).max() == 1.0  # whole numbers are whole, not thousands
    assert quanta(np.random.default_rng(0).normal(size=(100, 1))).max() < 1e-14


def test_what_rounding_does_to_the_spline():
    """The figures in the docstring of `derivatives`, from the spline's response to each sample."""
    n = 61
    t = np.arange(n) * 1.0
    response = make_interp_spline(t, np.eye(n), k=5)(t, 2)
    rms, most = np.sqrt((response**2).sum(axis=1)), np.abs(response).sum(axis=1) / 2
    assert rms[n // 2] == pytest.approx(4.80, abs=0.005)
    assert most[n // 2] == pytest.approx(5.0, abs=0.005)
    assert rms[0] / rms[n // 2] == pytest.approx(9, abs=0.5)
    t = 0.1 * np.arange(4001)
    x = np.random.default_rng(0).uniform(-0.005, 0.005, (4001, 1))  # noise such as rounding would be
    found = derivatives(t, x, np.full(x.shape, 1e-6), np.zeros(4001), None, 2).uncertain[1, 0]
    spread = 4.80 * 0.01 / np.sqrt(12) / 0.1**2
    # The ends are found from more samples. Inside, the largest of many stays below the bound, and not far below.
    assert 2.5 * spread < found < 5 * 0.01 / 0.1**2


# ------------------------------------------------------------------------------------------------- what is told of it


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("case", ["m", "mm", "scientific", "times"])
def test_the_error_that_is_told_is_the_error_that_is_there(tmp_path, phase, case):
    rig, t = tf.load("motion-rig"), T
    options = {}
    if case == "mm":
        options = {"header": HEADER.replace("z [m]", "z [mm]"), "scale": 1e3, "fmt": "%.3f"}
    elif case == "scientific":
        options = {"fmt": "%.6e"}
    elif case == "times":
        t = np.arange(700) / 700
        options = {"fmt": "%.12f", "t": t, "time_format": "%.5f"}
    path = heave_file(tmp_path / "m.csv", phase, **options)
    with pytest.warns(tf.RoundedMotionWarning) as told:
        motion = CsvMotion(path, rig)
    error = np.abs(motion.samples.acceleration[:, 2] - heave(phase, t)[2]).max()
    assert error / HONEST < motion.uncertain[2] < error * HONEST
    assert motion.coarse == ("z",)
    step = {"m": "1e-06 m", "mm": "0.001 mm", "times": "1e-12 m"}.get(case, "1e-06 m")
    if "1e-07 m" in str(told[0].message) and case == "scientific":  # where more than half are below 1 m
        step = "1e-07 m"
    largest = np.abs(motion.samples.acceleration[:, 2]).max()
    assert str(told[0].message) == (
        f"{path}: z is written in steps of {step}"
        + (" and the times in steps of 1e-05 s" if case == "times" else "")
        + f", so accelerations derived from it may be off by {motion.uncertain[2]:.2g} m/s^2 where the largest is "
        f"{largest:.2g} m/s^2. Give accelerations or more digits, or smooth the motion (smooth=, --smooth HZ)"
    )


def test_what_is_told_of_many_sines():
    """Ends included, whose accelerations come from polynomials: neither rounding nor their bending is left out."""
    rng, ratios, silent = np.random.default_rng(5), [], []
    for _ in range(300):
        count, period, digits = rng.choice([30, 100, 500]), rng.uniform(15, 100), int(rng.integers(2, 5))
        t, w = np.arange(count) * STEP, 2 * np.pi / (period * STEP)
        angle = w * t + rng.uniform(0, 2 * np.pi)
        x = np.round(np.sin(angle), digits)[:, None]
        found = derivatives(t, x, np.full(x.shape, 10.0**-digits), np.zeros(count), None, 2)
        error, told = np.abs(found.second[:, 0] / w**2 + np.sin(angle)).max(), found.uncertain[1, 0] / w**2
        if error > 0.05:
            ratios.append(told / error)
        if error > 0.1 and told < 0.05:
            silent.append((count, period, digits, told, error))
    assert not silent
    assert len(ratios) > 200
    assert np.mean((np.array(ratios) > 1 / HONEST) & (np.array(ratios) < HONEST)) > 0.95


def test_times_whose_roundings_go_in_waves_are_told_too(tmp_path):
    """Every 5.4995 ms in 4 decimals: the rounding of the times grows slowly over 200 samples, then jumps."""
    t, w = 5.4995e-3 * np.arange(2000), 30.0
    z = 1 + 0.01 * np.sin(w * t)
    rows = np.column_stack([t, 0 * t, 0 * t, z, 0 * t, 0 * t, 0 * t])
    np.savetxt(tmp_path / "m.csv", rows, delimiter=",", header=HEADER, comments="", fmt=["%.4f", *["%.9f"] * 6])
    with pytest.warns(tf.RoundedMotionWarning, match=r"and the times in steps of 0\.0001 s"):
        motion = CsvMotion(tmp_path / "m.csv", tf.load("motion-rig"))
    error = np.abs(motion.samples.acceleration[:, 2] + w**2 * (z - 1)).max()
    assert error / HONEST < motion.uncertain[2] < error * HONEST


def test_rates_with_few_digits_are_told_too(tmp_path):
    arm, t = tf.load("planar-2r"), STEP * np.arange(500)
    rows = np.column_stack([t, np.sin(3 * t), np.sin(2 * t), np.round(3 * np.cos(3 * t), 3), 2 * np.cos(2 * t)])
    np.savetxt(
        tmp_path / "m.csv",
        rows,
        delimiter=",",
        header="time [s],q1 [rad],q2 [rad],qd1 [rad/s],qd2 [rad/s]",
        comments="",
        fmt=["%.3f", "%.12f", "%.12f", "%.3f", "%.12f"],
    )
    with pytest.warns(tf.RoundedMotionWarning, match=r"qd1 is written in steps of 0\.001 rad/s, so accelerations"):
        motion = CsvMotion(tmp_path / "m.csv", arm)
    error = np.abs(motion.samples.acceleration + 9 * np.sin(3 * t)[:, None])[:, 0].max()
    assert error / HONEST < motion.uncertain[0] < error * HONEST
    assert motion.coarse == ("qd1",)


EVEN, UNEVEN = np.arange(0, 201) / 100, np.r_[0, 0.1, 0.2, 0.35, 0.4, 0.5, 0.6, 0.8]


@pytest.mark.parametrize(
    ("values", "times"),
    [
        (lambda t: t**2 / 2, EVEN),  # exact in its few digits
        (lambda t: t**2 / 2, UNEVEN),
        (lambda t: 3 * t, EVEN),
        (lambda t: 3 * t, UNEVEN),
        (lambda t: np.round(np.sin(3 * t), 12), EVEN),  # enough of them
        (lambda t: 0 * t + 0.25, UNEVEN),
    ],
)
def test_digits_that_suffice_are_not_spoken_of(tmp_path, values, times):
    rows = np.column_stack([times, values(times), values(times)])
    np.savetxt(
        tmp_path / "m.csv",
        rows,
        delimiter=",",
        header="time [s],q1 [rad],q2 [rad]",
        comments="",
        fmt=["%.2f", "%.12f", "%.12f"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CsvMotion(tmp_path / "m.csv", tf.load("planar-2r")).coarse == ()


@pytest.mark.parametrize("phase", PHASES)
def test_the_ends_are_no_worse_than_the_rest(tmp_path, phase):
    path = heave_file(tmp_path / "m.csv", phase)
    with pytest.warns(tf.RoundedMotionWarning):
        found = CsvMotion(path, tf.load("motion-rig")).samples.acceleration[:, 2]
    error = np.abs(found - heave(phase)[2])
    assert error[[0, -1]].max() < 0.2 * PEAK < error[20:-20].max()


def test_exact_ends_stay_those_of_the_spline():
    t = 0.02 * np.arange(101)
    x = np.sin(np.outer(t, [3.0, 5.0]))
    found = derivatives(t, x, quanta(x), np.zeros(101), None, 2)
    assert np.array_equal(found.second, make_interp_spline(t, x, k=5)(t, 2))


# ---------------------------------------------------------------------------------------------------------- smoothing


def swung(f, cutoff, t=T):
    """In-phase and quadrature parts that are left of sin(2 pi f t), far from the ends."""
    angle = 2 * np.pi * f * t
    left = smoothing_spline(t, np.sin(angle)[:, None], cutoff)(t)[:, 0]
    inner = slice(len(t) // 4, -len(t) // 4)
    parts = np.column_stack([np.sin(angle), np.cos(angle)])[inner]
    return np.linalg.lstsq(parts, left[inner], rcond=None)[0]


@pytest.mark.parametrize("f", [5.0, 10.0, 20.0, 30.0, 40.0, 60.0])
def test_the_response_is_as_stated(f):
    in_phase, quadrature = swung(f, 40.0)
    assert in_phase == pytest.approx(1 / (1 + (np.sqrt(2) - 1) * (f / 40.0) ** 8), abs=1e-3)
    assert abs(quadrature) < 1e-3  # no delay
    uneven = np.sort(np.random.default_rng(0).uniform(0, 1, 1001))
    assert swung(f, 40.0, uneven)[0] == pytest.approx(in_phase, abs=0.03)


def test_a_sine_at_the_cut_off_is_down_by_3_decibels():
    assert swung(40.0, 40.0)[0] == pytest.approx(np.sqrt(0.5), abs=1e-3)


def test_cubics_pass_unchanged():
    x = np.column_stack([T**3 - T + 2, 1000 + 0 * T])
    curve = smoothing_spline(T, x, 40.0)
    assert np.abs(curve(T) - x).max() < 1e-11
    assert np.abs(curve(T, 2) - np.column_stack([6 * T, 0 * T])).max() < 1e-6


@pytest.mark.parametrize("phase", PHASES)
def test_smoothing_finds_the_accelerations(tmp_path, phase):
    path = heave_file(tmp_path / "m.csv", phase)
    motion = CsvMotion(path, tf.load("motion-rig"), smooth=4.5 * FREQUENCY)  # and no warning
    z, rate, acceleration = heave(phase)
    error = np.abs(motion.samples.acceleration[:, 2] - acceleration)
    assert error[100:-100].max() < 0.01 * PEAK
    assert error.max() < 0.1 * PEAK
    # A rate next to 0 at the ends is taken as rest.
    assert np.abs(motion.samples.velocity[:, 2] - rate).max() < 0.05 * PEAK / W
    assert np.abs(motion.samples.position[:, 2] - z).max() < 1e-6
    assert motion.uncertain[2] < 0.02 * PEAK


@pytest.mark.parametrize("phase", PHASES)
def test_sizing_of_a_rounded_heave(tmp_path, phase):
    path = heave_file(tmp_path / "m.csv", phase)
    exact = np.abs(forces_of_heave(phase).peak_force.value).max()
    assert exact == pytest.approx(810, abs=1)
    smoothed = parsed("sizing", "motion-rig", path, "--smooth", "45")
    assert max(map(abs, smoothed["peak_force"]["value"])) == pytest.approx(exact, rel=0.03)
    rough = run("sizing", "motion-rig", path)
    assert "warning: " in rough.stderr
    assert "z is written in steps of 1e-06 m, so accelerations derived from it may be off by" in rough.stderr
    assert "jump from sample to sample" not in rough.stderr  # said once


def test_given_accelerations_are_used_as_they_are(tmp_path):
    rig = tf.load("motion-rig")
    rows = np.zeros((len(T), 19))
    rows[:, 0] = T
    rows[:, 3], rows[:, 9], rows[:, 15] = heave(0.7)
    names = [str(column) for group in columns_of(rig)[:3] for column in group]
    path = tmp_path / "m.csv"

    def write(columns):
        chosen = [0, *(k + 1 for k, name in enumerate(names) if name.split("_")[0][0] in columns)]
        header = ",".join(["time [s]", *(names[k - 1] for k in chosen[1:])])
        np.savetxt(path, rows[:, chosen], delimiter=",", header=header, comments="", fmt="%.6f")

    write("xyztvoa")
    motion = CsvMotion(path, rig)
    assert motion.derived == ()
    assert np.abs(motion.samples.acceleration[:, 2] - heave(0.7)[2]).max() < 1e-6  # six decimals of itself
    with pytest.raises(
        tf.ShapeError, match="smooth: expected None, because the file gives velocity and acceleration, got 40"
    ):
        CsvMotion(path, rig, smooth=40.0)
    write("xyzta")
    motion = CsvMotion(path, rig)
    assert motion.derived == ("velocity",)
    assert np.abs(motion.samples.acceleration[:, 2] - heave(0.7)[2]).max() < 1e-6
    assert not motion.uncertain.any()
    smoothed = CsvMotion(path, rig, smooth=45.0)
    assert np.abs(smoothed.samples.acceleration[:, 2] - heave(0.7)[2]).max() < 1e-6
    rate = heave(0.7)[1]
    assert np.abs(smoothed.samples.velocity[:, 2] - rate).max() < np.abs(motion.samples.velocity[:, 2] - rate).max()


def test_a_smoothed_start_from_rest_has_no_sign_that_friction_could_act_on(tmp_path):
    arm, t = tf.load("puma560"), np.linspace(0, 1, 501)
    move = tf.motion.JointMove(np.zeros(6), np.ones(6), 1.0).sample(t)
    names = ",".join(f"q{k} [rad]" for k in range(1, 7))
    np.savetxt(
        tmp_path / "m.csv",
        np.column_stack([t, move.position]),
        delimiter=",",
        header=f"time [s],{names}",
        comments="",
        fmt="%.6f",
    )
    motion = CsvMotion(tmp_path / "m.csv", arm, smooth=10.0)
    assert not motion.samples.velocity[[0, -1]].any()
    assert (motion.samples.velocity[20:-20] > 0).all()


def test_sampled_motions_are_smoothed_too():
    z, _, acceleration = heave(0.3)
    motion = Sampled(T, np.round(z, 6)[:, None], smooth=45.0)
    assert np.abs(motion.sample(T).acceleration[100:-100, 0] - acceleration[100:-100]).max() < 0.01 * PEAK
    with pytest.raises(tf.ShapeError, match="smooth: expected None, because velocities are given, got 45"):
        Sampled(T, z[:, None], 0 * z[:, None], smooth=45.0)


@pytest.mark.parametrize(
    ("frequency", "message"),
    [
        (500.0, "below 500 Hz, half the sampling rate, got 500 Hz"),
        (0.5, "a frequency of at least 1 Hz, one period in 1 s, and below 500 Hz, half the sampling rate, got 0.5 Hz"),
        (0.0, "expected a number > 0, got 0.0"),
        (-3.0, "expected a number > 0, got -3.0"),
        (np.nan, "expected a number > 0, got nan"),
        ("40", "expected a number > 0, got '40'"),
    ],
)
def test_frequencies_that_make_no_sense(frequency, message):
    with pytest.raises(tf.ShapeError) as caught:
        smoothing_spline(T, heave(0.0)[0][:, None], frequency)
    assert message in str(caught.value)
    assert str(caught.value).startswith("smooth: ")


@pytest.mark.parametrize("count", [6, 7, 12])
def test_few_samples_can_be_smoothed(count):
    """Between both bounds of the frequency: cubics pass unchanged, and a slow sine keeps its acceleration."""
    t = np.arange(count) * 0.1
    x = np.column_stack([1 + 2 * t - 3 * t**2 + 4 * t**3, np.sin(t)])
    for frequency in (1 / t[-1], 4.99):
        curve = smoothing_spline(t, x, frequency)
        assert np.abs(curve(t)[:, 0] - x[:, 0]).max() < 1e-11
        assert np.abs(curve(t, 2)[:, 0] - (24 * t - 6)).max() < 1e-7  # rounding times the square of a piece's inverse
        assert np.abs(curve(t, 2)[:, 1] + np.sin(t)).max() < 0.05  # its fourth derivative is smoothed away at the ends


# ------------------------------------------------------------------------------------------------------- command line


@pytest.mark.parametrize(
    "command",
    [
        ["inverse-dynamics", "motion-rig", "FILE"],
        ["sizing", "motion-rig", "FILE"],
        ["compare", "motion-rig", "--motion", "FILE"],
        ["simulate", "motion-rig", "--motion", "FILE", "--duration", "0.01"],
    ],
)
def test_every_command_that_reads_a_motion_can_smooth_it(tmp_path, command):
    path = heave_file(tmp_path / "m.csv", 0.7)
    given = [str(path) if word == "FILE" else word for word in command]
    done = run(*given, "--smooth", "45")
    assert (
        "no columns give velocity and acceleration; they are derived from a spline that smooths above 45 Hz"
        in done.stderr
    )
    assert "warning" not in done.stderr
    assert "warning" in run(*given).stderr
    assert "smooth: expected a frequency of at least 1 Hz" in error_of(*given, "--smooth", "0.5")


def test_there_must_be_something_to_smooth(arm_csv):
    move = "joint-move:0,0:1,1:1"
    assert "--smooth: only files are smoothed; a joint-move is smooth already" in error_of(
        "simulate", "planar-2r", "--motion", move, "--smooth", "9"
    )
    assert "--smooth: there is no --motion to smooth" in error_of("compare", "planar-2r", "--smooth", "9")
    assert "the file gives velocity and acceleration" in error_of(
        "inverse-dynamics", "puma560", arm_csv, "--smooth", "9"
    )


# -------------------------------------------------------------------------------------------------------------- noise


def noisy_heave(path, deviation, seed=0, fmt="%.9f"):
    rows = np.zeros((len(T), 7))
    rows[:, 0], rows[:, 3] = T, heave(0.7)[0] + np.random.default_rng(seed).normal(0, deviation, len(T))
    np.savetxt(path, rows, delimiter=",", header=HEADER, comments="", fmt=["%.6f", *[fmt] * 6])
    return path


@pytest.mark.parametrize("times", [T, T + 3e-4 * np.sin(37 * T / STEP)], ids=["even", "uneven"])
def test_noise_is_found(times):
    noise = np.random.default_rng(1).normal(0, 1e-6, (len(times), 1))
    assert noise_of(times, heave(0.3, times)[0][:, None] + noise)[0] == pytest.approx(1e-6, rel=0.15)  # 1,000 samples
    assert noise_of(times, 1.0 + times[:, None] ** 5)[0] < 1e-13


def test_smooth_motions_are_not_noise():
    for samples in (7, 10, 30):
        t = np.arange(1000) / samples
        assert noise_of(t, np.sin(2 * np.pi * t)[:, None])[0] == 0
    move = tf.motion.StraightLine([0, 0, 1, 0, 0, 0], [0.3, 0, 1, 0, 0, 0], 2.0, 0.2, 0.2)  # its acceleration has steps
    t = np.linspace(0, 2, 2001)
    assert noise_of(t, move.sample(t).position[:, :1])[0] < 1e-12


@pytest.mark.parametrize("deviation", [1e-7, 1e-6, 1e-5])
def test_noise_is_told_with_what_it_does(tmp_path, deviation):
    path = noisy_heave(tmp_path / "noisy.csv", deviation)
    with pytest.warns(
        tf.RoundedMotionWarning, match=r"z has noise of .* m, so accelerations derived from it may be off"
    ):
        motion = CsvMotion(path, tf.load("motion-rig"))
    wrong = np.abs(motion.samples.acceleration[:, 2] - heave(0.7)[2]).max()
    assert wrong / HONEST < motion.uncertain[2] < HONEST * wrong
    with warnings.catch_warnings(action="ignore", category=tf.RoundedMotionWarning):
        smoothed = CsvMotion(path, tf.load("motion-rig"), smooth=40.0)
    inner = slice(25, -25)  # a period of the cut-off from the ends, which smoothing itself moves
    wrong = np.abs(smoothed.samples.acceleration[inner, 2] - heave(0.7)[2][inner]).max()
    assert smoothed.uncertain[2] > wrong / HONEST


def test_sizing_of_a_noisy_heave_warns(tmp_path):
    path = noisy_heave(tmp_path / "noisy.csv", 1e-6)
    done = run("sizing", "motion-rig", str(path))
    assert "z has noise of 1e-06 m" in done.stderr
    assert "--smooth HZ" in done.stderr
