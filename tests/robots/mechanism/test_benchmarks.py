"""The benchmarks of IFToMM's library, A01 to A05, in motion: published values, closed forms, invariants, closed loops.

Source: Gonzalez, Dopico, Lugris & Cuadrado 2006, A benchmarking system for MBS simulation software, Multibody System
Dynamics 16. The end of A03 is published with digits (Test Set for IVP Solvers). A01 and A02 have closed forms. A04
and A05 are published as figures only: they are compared with equations in few coordinates, written down apart from the
package and integrated apart, and what is conserved is checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj, ellipk, ellipkinc

import tauforge as tf
from conftest import SOAK
from support import andrews_witness, bricard_witness, governor_witness
from support.mechanisms import ANDREWS_TORQUE, andrews, bricard, four_bars, governor, pendulum
from support.tolerances import INTEGRATED, INTEGRATED_LONG

pytestmark = pytest.mark.usefixtures("kernels_on")  # the reference takes minutes for thousands of steps
GAP = 1e-12  # of the mechanism's size, at every recorded step
TEN_DIGITS = 1e-10  # mixed error: of 1 rad plus the angle, as the test set counts digits
BRICARD_ENERGY = 1e-9  # J over 10 s
ADAPTIVE = "dormand-prince"
SPUN = 0.1 if SOAK == 1 else 10.0  # s of the stiff governor, which takes 2 s for each second; the benchmark has 10


def worst_gap(mechanism: tf.Mechanism, run: tf.Recording) -> float:
    """The worst of all recorded steps, as a share of the mechanism's size."""
    return float(mechanism.loop_gap(run.position).max() / mechanism._analysis.size)


def total_energy(mechanism: tf.Mechanism, run: tf.Recording) -> Any:
    return np.add(*mechanism.energy(run.position, run.velocity))


def test_a01_a_pendulum_from_the_horizontal_is_jacobis_sine() -> None:
    arm = pendulum()
    run = tf.simulate(arm, initial=(arm.home, [0.0]), duration=10.0, step=0.01, method=ADAPTIVE)
    modulus = 0.5  # sin(amplitude / 2)^2
    sn = ellipj(np.sqrt(9.81) * run.time + ellipk(modulus), modulus)[0]
    swing = 2 * np.arcsin(np.sqrt(modulus) * sn)  # from the vertical, where it is a quarter turn at first
    assert np.abs((run.position[:, 0] + np.pi / 2) - swing).max() < INTEGRATED_LONG
    assert np.ptp(total_energy(arm, run)) < INTEGRATED_LONG


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    ("windows", "pushed"), [(2, 1.0), (2, 1.3)] + [(10, 1.0), (20, 1.0), (25, 1.3), (40, 1.0)] * (SOAK > 1)
)
def test_a02_four_bars_go_through_positions_with_more_freedom(windows: int, pushed: float) -> None:
    """All cranks stay parallel: a pendulum over the top. Lying, the windows have a freedom more each for an instant.

    pushed: rad/s at the top, 1 in the benchmark; others come nearer to such positions at their recorded steps
    """
    bars = four_bars(windows)
    run = tf.simulate(bars, initial=(bars.home, [-pushed]), duration=10.0, step=0.01, method=ADAPTIVE)
    # (cranks / 3 + couplers) th'' = (cranks / 2 + couplers) g sin th, th from the top: th'^2 = p^2 + 2 w2 (1 - cos th)
    w2 = ((windows + 1) / 2 + windows) * 9.81 / ((windows + 1) / 3 + windows)
    # with half the angle from the bottom, a: a' = sqrt(b) sqrt(1 - k sin(a)^2) / 2, b = p^2 + 4 w2, k = 4 w2 / b
    b = pushed**2 + 4.0 * w2
    k = 4.0 * w2 / b
    a = ellipj(np.sqrt(b) / 2 * run.time - ellipkinc(np.pi / 2, k), k)[3]
    turned = 2 * a + np.pi
    assert np.abs(-run.position[:, 0] - turned).max() < INTEGRATED_LONG * turned.max()
    assert turned[-1] > 10 * np.pi  # through ten such positions
    assert worst_gap(bars, run) < GAP
    energy = total_energy(bars, run)
    assert np.ptp(energy) < INTEGRATED_LONG * energy[0]


def test_a03_andrews_mechanism_ends_where_it_is_published_to() -> None:
    mechanism = andrews()
    run = tf.simulate(
        mechanism,
        lambda t, position, velocity: [ANDREWS_TORQUE],
        initial=(mechanism.home, [0.0]),
        duration=0.03,
        step=1e-3,
        control_period=0.03,
        method=ADAPTIVE,
    )
    end = dict(zip(run.names, run.position[-1], strict=True))
    published = {
        "K1": 0.1581077119629904e2,
        "K2": -0.1575637105984298e2,
        "K3": 0.4082224013073101e-1,
        "K4": -0.5347301163226948,
        "K5": 0.5244099658805304,
        "K6": 0.5347301163226948,
        "K7": 0.1048080741042263e1,
    }
    for name, value in published.items():
        assert abs(end[name] - value) < TEN_DIGITS * (1.0 + abs(value)), name
    # The eleventh digit is ours: the equations with multipliers, integrated apart, end in the same place.
    witness = andrews_witness.end_angles(0.03)
    ours = np.array([end[f"K{i}"] for i in range(1, 8)])
    assert np.abs(ours - witness).max() < 1e-2 * INTEGRATED * np.abs(witness).max()
    assert worst_gap(mechanism, run) < GAP
    work = ANDREWS_TORQUE * (run.position[:, 0] - run.position[0, 0])
    energy = total_energy(mechanism, run)
    assert np.abs(energy - energy[0] - work).max() < INTEGRATED * work.max()


@pytest.mark.parametrize(("method", "step"), [("rk4", 2e-3), (ADAPTIVE, 1e-2)])
def test_a04_bricards_mechanism_keeps_its_energy_and_its_symmetry(method: str, step: float) -> None:
    """It starts as a cube's edges, where every third hinge is parallel: these turn alike for ever.

    To the end of the benchmark every row is that of one equation in one angle.
    """
    mechanism = bricard()
    run = tf.simulate(mechanism, initial=(mechanism.home, [0.0]), duration=10.0, step=step, method=method)
    assert np.ptp(total_energy(mechanism, run)) < BRICARD_ENERGY
    assert worst_gap(mechanism, run) < GAP
    assert np.abs(run.position[:, [2, 4]] - run.position[:, [0]]).max() < INTEGRATED_LONG
    angle = bricard_witness.angles(run.time)
    assert np.abs(angle).max() > 3.0  # it moves
    assert np.abs(run.position[:, 0] - angle).max() < INTEGRATED_LONG * np.abs(angle).max()
    assert np.abs(run.position[:, 1] - bricard_witness.other_angle(angle)).max() < INTEGRATED_LONG * np.abs(angle).max()


def test_a04_bricards_mechanism_goes_round_though_no_hinge_determines_it() -> None:
    mechanism = bricard()
    fast = tf.simulate(mechanism, initial=(mechanism.home, [8.0]), duration=2.0, step=1e-3)
    energy = total_energy(mechanism, fast)
    assert np.ptp(energy) < 1e-8 * mechanism.energy(fast.position, fast.velocity)[0].max()
    assert worst_gap(mechanism, fast) < GAP
    changes = [event for event in fast.events if event.what == "coordinates changed"]
    assert changes
    assert changes[0].which != "hinge1"
    assert changes[1].which == "hinge1"
    # at the dead centre of the first hinge its rate is zero, and the mechanism moves on
    k = int(np.searchsorted(fast.time, changes[0].time))
    assert np.diff(np.sign(fast.velocity[k : k + 60, 0])).any()
    assert np.isfinite(fast.acceleration).all()


def governor_error(run: tf.Recording, spin: float, stiffness: float, damping: float) -> float:
    """The largest error of shaft, slider and right arm at the end, beside the largest of them."""
    wanted = governor_witness.end(float(run.time[-1]), spin, stiffness, damping) - governor_witness.START
    return float(np.abs(run.position[-1, :3] - wanted).max() / np.abs(wanted).max())


@pytest.mark.fault(22)
def test_a05_the_governor_keeps_its_angular_momentum_and_loses_what_its_dampers_take() -> None:
    spin = 2 * np.pi
    stiff = governor()
    run = tf.simulate(stiff, initial=(stiff.home, [spin, 0.0, 0.0, 0.0]), duration=SPUN, step=1e-3, method=ADAPTIVE)
    momentum = np.einsum("kj,kj->k", stiff.mass_matrix(run.position)[:, 0], run.velocity)
    assert np.abs(momentum / momentum[0] - 1).max() < INTEGRATED
    energy = total_energy(stiff, run)
    assert (np.diff(energy) < INTEGRATED).all()
    assert energy[0] - energy[-1] > 1e-4
    assert np.abs(run.position[:, 2] + run.position[:, 3]).max() < INTEGRATED  # both arms alike

    assert governor_error(run, spin, 8e5, 4e4) < INTEGRATED

    conservative = governor(damping=0.0, stiffness=8e3)
    free = tf.simulate(
        conservative, initial=(conservative.home, [spin, 0.0, 0.0, 0.0]), duration=1.0, step=1e-2, method=ADAPTIVE
    )
    assert governor_error(free, spin, 8e3, 0.0) < INTEGRATED
    energy = total_energy(conservative, free)
    assert np.ptp(energy) < INTEGRATED * conservative.energy(free.position, free.velocity)[0].max()
