"""The study "tracking": against single simulations, over the spread of the masses, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tauforge as tf
from support.sweep_motions import move_of, move_options, write_motion
from tauforge.sweeps import Axis, open_dataset, ready_study, run
from tauforge.sweeps.tracking import mass_errors_of

TIMES = {"step": "2ms", "control_period": "4ms"}
STEP, PERIOD = 0.002, 0.004
STORED = 2 * np.finfo(np.float32).eps  # relative: results are kept as float32
SAME_RUN = 1e-9  # of kernels that keep masses as arguments or as constants, over a hundred steps
ROBOTS = ("planar-2r", "puma560", "motion-rig")
pytestmark = pytest.mark.usefixtures("as_installed")  # without kernels every row is a simulation of its own


def tracked(robot):
    return robot.dissipation.smoothed(0.01) if robot.dissipation.jumps else robot


def study_of(name, *axes, **options):
    robot = tf.load(name)
    return ready_study("tracking", robot, axes, options=move_options(robot, **TIMES, **options))


def simulated(robot, plant, frequency=10.0):
    """Largest and rms errors and largest forces of one simulation."""
    law = tf.control.ComputedTorque(robot, frequency**2, 2 * frequency)
    found = tf.simulate(robot, law, move_of(robot), plant=plant, step=STEP, control_period=PERIOD, record_every=1)
    error = robot.positions.error(found.target_position, found.position)
    mean = np.trapezoid(error**2, found.time, axis=0) / found.time[-1]
    return np.abs(error).max(axis=0), np.sqrt(mean), np.abs(found.force).max(axis=0)


def agree(found, wanted):
    names = ("largest_error", "rms_error", "largest_force")
    for name, value in zip(names, wanted, strict=True):
        np.testing.assert_allclose(found[name][0], value, rtol=STORED, atol=SAME_RUN * max(1.0, np.abs(value).max()))


@pytest.mark.parametrize("name", ["planar-2r", "motion-rig"])
def test_no_spread_is_the_plain_simulation(name):
    robot = tracked(tf.load(name))
    found = study_of(name, Axis("seed", [0, 3]), spread="0").computed({"seed": np.array([3])})
    agree(found, simulated(robot, robot))


@pytest.mark.parametrize("name", ROBOTS)
def test_a_seed_is_the_simulation_of_a_changed_robot(name):
    robot = tracked(tf.load(name))
    axes = (Axis("seed", [0, 7]), Axis("spread", [0.0, 0.3]), Axis("frequency", [5.0, 12.0]))
    found = study_of(name, *axes).computed({"seed": np.array([7]), "spread": [0.3], "frequency": np.array([12.0])})
    drawn = mass_errors_of(robot).drawn(np.array([7]), np.array([0.3]))
    plant = robot.replace(**{field: value[0] for field, value in drawn.items()})
    agree(found, simulated(robot, plant, 12.0))


def test_a_payload_is_carried_by_the_plant_alone():
    arm = tracked(tf.load("puma560"))
    study = study_of("puma560", Axis("payload", [0.0, 2.0]), spread="0", com="0,0,0.1")
    found = study.computed({"payload": np.array([2.0])})
    agree(found, simulated(arm, arm.carrying(tf.Payload(2.0, (0, 0, 0.1)))))


def test_the_reference_gives_the_same(monkeypatch):
    frequencies = Axis("frequency", [5.0, 12.0])
    found = study_of("planar-2r", frequencies).computed({"frequency": frequencies.values})
    monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    wanted = study_of("planar-2r", frequencies)
    assert not wanted.compute.gains_in_rows
    for name, value in wanted.computed({"frequency": frequencies.values}).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5)


def test_files_are_followed_like_moves(tmp_path):
    arm = tf.load("planar-2r")
    file = write_motion(tmp_path / "m.csv", arm, move_of(arm), 201)
    axis = Axis("seed", [0, 1])
    options = {"motions": file, **TIMES}
    found = ready_study("tracking", arm, [axis], options=options).computed({"seed": axis.values})
    wanted = study_of("planar-2r", axis).computed({"seed": axis.values})
    np.testing.assert_allclose(found["largest_error"], wanted["largest_error"], rtol=1e-3)


@pytest.mark.parametrize("name", ["planar-2r", "motion-rig"])
def test_errors_grow_with_the_spread(name):
    """Exact masses leave the errors of holding forces between control instants; all others add to them."""
    seeds, spreads = np.arange(20), np.array([0.0, 0.1, 0.2, 0.4, 0.8])
    study = study_of(name, Axis("spread", spreads), Axis("seed", seeds), frequency="20")
    found = study.computed({"spread": np.repeat(spreads, 20), "seed": np.tile(seeds, 5)})
    typical = found["rms_error"].reshape(5, 20, -1).mean(axis=1).max(axis=-1)
    assert (np.diff(typical) > 0).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_the_bytes_do_not_depend_on_blocks_and_threads(tmp_path, name, monkeypatch):
    stored = []
    for run_bytes, threads in ((2**26, 1), (2**17, 2), (1, 1)):
        monkeypatch.setattr("tauforge.sweeps.tracking.BLOCK_BYTES", run_bytes)
        axes = Axis("frequency", [8.0, 15.0]), Axis("seed", [0, 5, 6, 9]), Axis("payload", [0.0, 1.0])
        store = tmp_path / f"{run_bytes}.zarr"
        blocks = run(study_of(name, *axes, duration="0.2"), store, threads=threads).blocks
        found = open_dataset(store).load()
        stored.append({name: found[name].values.tobytes() for name in found.data_vars})
    assert blocks == 16
    assert all(other == stored[0] for other in stored[1:])


def test_a_copy_in_another_process_goes_on(tmp_path):
    seeds = Axis("seed", [0, 5])
    run(pickle.loads(pickle.dumps(study_of("planar-2r", seeds))), tmp_path / "s.zarr")
    assert run(study_of("planar-2r", seeds), tmp_path / "s.zarr").computed == 0
    with pytest.raises(tf.ModelError, match=r"another sweep: asked.targets is another"):
        run(study_of("planar-2r", seeds, duration="0.4"), tmp_path / "s.zarr")


def test_draws_depend_on_the_seed_alone():
    errors = mass_errors_of(tf.load("puma560"))
    together = errors.drawn(np.array([4, 2, 4]), np.array([0.1, 0.1, 0.2]))
    alone = errors.drawn(np.array([4]), np.array([0.1]))
    for name, value in together.items():
        np.testing.assert_array_equal(value[0], alone[name][0])
        own = errors.own[name]
        np.testing.assert_allclose(value[2] - own, 2 * (value[0] - own), atol=1e-15 * np.abs(own).max())
        assert (value[1] != value[0])[own != 0].all()


def test_factors_are_within_the_spread_and_tensors_keep_their_shape():
    rig = tf.load("motion-rig")
    errors = mass_errors_of(rig)
    drawn = errors.drawn(np.arange(200), np.full(200, 0.25))
    factors = drawn["lower_mass"] / errors.own["lower_mass"]
    assert 0.75 <= factors.min() < 0.76
    assert 1.24 < factors.max() <= 1.25
    ratio = drawn["platform_inertia"][:, [0, 1, 2], [0, 1, 2]] / np.diag(errors.own["platform_inertia"])
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape), rtol=1e-15)


SEEDS = (Axis("seed", [0]),)


@pytest.mark.parametrize(
    ("axes", "options", "message"),
    [
        ((Axis("x", [1.0]),), {}, "axis x: unknown axis. The axes are seed, spread, frequency, payload"),
        ((Axis("seed", [0.5]),), {}, "axis seed: expected whole numbers >= 0, got 0.5"),
        ((Axis("seed", [-1]),), {}, "axis seed: expected whole numbers >= 0, got -1"),
        ((Axis("spread", [0.5, 1.0]),), {}, "axis spread: expected numbers from 0 to below 1, got 1"),
        ((Axis("frequency", [0.0]),), {}, "axis frequency: expected numbers above 0, got 0"),
        ((Axis("payload", [-1.0]),), {}, "axis payload: expected masses >= 0, got -1"),
        ((Axis("spread", [0.1]),), {"spread": "0.2"}, "option spread: spread is an axis. Give it as an axis or as an"),
        (SEEDS, {"spread": "1.5"}, "option spread: expected a number from 0 to below 1, got 1.5"),
        (SEEDS, {"frequency": "-2"}, "option frequency: expected a number above 0, got -2"),
        (SEEDS, {"frequency": "3m"}, "option frequency: expected a number in rad/s, got '3m'"),
        (SEEDS, {"step": "3ms"}, "control_period: expected a whole number of steps of 0.003 s, got 0.004 s"),
        (SEEDS, {"gain": "3"}, "option: tracking has no option 'gain'. Its options are motions, smooth, end"),
        (SEEDS, {"coulomb_speed": "0"}, "option coulomb_speed: expected a number above 0, got 0"),
    ],
)
def test_what_is_refused(axes, options, message):
    robot = tf.load("planar-2r")
    with pytest.raises(tf.TauforgeError) as caught:
        ready_study("tracking", robot, axes, options=move_options(robot, **{**TIMES, **options}))
    assert str(caught.value).startswith(message)


def test_two_motions_are_refused(tmp_path):
    arm = tf.load("planar-2r")
    files = ",".join(write_motion(tmp_path / f"{k}.csv", arm, move_of(arm)) for k in range(2))
    with pytest.raises(tf.ModelError, match=r"option motions: expected one motion, got 2"):
        ready_study("tracking", arm, SEEDS, options={"motions": files})
