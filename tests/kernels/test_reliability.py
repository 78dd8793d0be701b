"""Kernels under the loads of a long life: near-singular arms, huge batches, repeats, shuffles, other engines.

Counts are small here; `make soak` multiplies them.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import textwrap

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import tauforge as tf
from conftest import SOAK
from support.engines import mujoco_model, pinocchio_model
from support.strategies import random_arm, random_state
from support.tolerances import EPSILON, OUTSIDE, error, error_beside, solve_tolerance
from tauforge.kernels.cpu.engine import VECTOR_BITS, host
from tauforge.settings import KERNELS

WIDTHS = [str(bits) for bits in (128, 256, 512) if bits <= host().vector_bits]
ACROSS_WIDTHS = 1e-12  # the same version on another vector width, or without kernels
SINGULAR = 1e15  # condition number above which forward dynamics refuses


pytestmark = pytest.mark.usefixtures("kernels_on")


@pytest.mark.fault(6)
@pytest.mark.parametrize("exponent", range(17))
def test_near_singular_mass_matrices(exponent):
    """Condition numbers from 1 to 1e16 and beyond: small backward errors, or a refusal."""
    rng = np.random.default_rng(exponent)
    for _ in range(2 * SOAK):
        arm = random_arm(rng, "RRR")
        scale = [1.0, 10.0 ** (-exponent / 2), 10.0**-exponent]
        lighter = {
            field: [s * np.array(getattr(joint, field)) for s, joint in zip(scale, arm.joints, strict=True)]
            for field in ("mass", "inertia")
        }
        arm = arm.replace(**lighter, gravity=(0, 0, 0))
        q = rng.normal(size=3)
        M = arm.mass_matrix(q)
        condition = np.linalg.cond(M)
        tau = M @ rng.normal(size=3)
        try:
            acceleration = arm.forward_dynamics(q, np.zeros(3), tau)
        except tf.SingularityError:
            assert condition > SINGULAR / 10  # M's last digits differ between the two routes to it
            continue
        backward = np.abs(M @ acceleration - tau).max() / (np.abs(M) @ np.abs(acceleration)).max()
        assert backward < 30 * 3 * EPSILON
        assert condition < 10 * SINGULAR or np.abs(acceleration).max() < 1e10


@pytest.mark.fault(7)
def test_huge_batches_in_bounded_memory():
    """Inputs that stand still, a float32 result: no more memory than the result and a little."""
    rows = 2_000_000 * SOAK
    code = f"""
    import resource, numpy as np, tauforge as tf
    arm = tf.load("planar-2r")
    state = [np.broadcast_to(np.float32(x), ({rows}, 2)) for x in ([0.3, 0.4], [1.0, 2.0], [3.0, 4.0])]
    arm.inverse_dynamics(*(x[:10] for x in state))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    got = arm.inverse_dynamics(*state)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    assert got.dtype == np.float32 and got.shape == ({rows}, 2)
    assert (got == got[0]).all()
    print(grown - got.nbytes)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64 * 2**20 + 0.3 * rows * 2  # the comparison of the result takes a byte an element


@pytest.mark.fault(7)
def test_chunks_equal_the_whole_bitwise():
    rng = np.random.default_rng(1)
    arm = random_arm(rng, "RPRR", drives=True)
    state = random_state(rng, 4, 40_000)
    whole = arm.inverse_dynamics(*state)
    cuts = [0, 1, 8, 1000, 17_001, 33_333, 40_000]
    parts = [arm.inverse_dynamics(*(x[a:b] for x in state)) for a, b in itertools.pairwise(cuts)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert arm.inverse_dynamics(*(x[:0] for x in state)).shape == (0, 4)


@pytest.mark.fault(24)
@pytest.mark.parametrize("method", ["inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives"])
def test_vector_widths_and_the_reference_agree(monkeypatch, method):
    rng = np.random.default_rng(2)
    for _ in range(SOAK):
        arm = random_arm(rng, "RRPR", drives=True)
        state = random_state(rng, 4, 50)
        results = []
        for kernels, width in [*(("1", width) for width in WIDTHS), ("0", WIDTHS[0])]:
            monkeypatch.setenv(KERNELS, kernels)
            monkeypatch.setenv(VECTOR_BITS, width)
            found = getattr(arm.replace(), method)(*state)
            results.append(found if isinstance(found, tuple) else (found,))
        # what is solved with M may differ by its conditioning
        M = arm.mass_matrix(state[0])
        bound = max(ACROSS_WIDTHS, solve_tolerance(M)) if method == "forward_dynamics" else ACROSS_WIDTHS
        for other in results[1:]:
            for a, b in zip(results[0], other, strict=True):
                assert error(b, a, core=a.ndim - 1) < bound


@pytest.mark.fault(24)
def test_a_controlled_simulation_keeps_its_digits(monkeypatch):
    """What docs/speed.md promises: rounding dies out under a stable law, though the forces are held between samples."""
    move = tf.motion.JointMove([0.1, -0.4], [1.2, 0.9], duration=0.5)
    runs = []
    for kernels, width in [*(("1", width) for width in WIDTHS), ("0", WIDTHS[0])]:
        monkeypatch.setenv(KERNELS, kernels)
        monkeypatch.setenv(VECTOR_BITS, width)
        arm = tf.load("planar-2r").replace()
        law = tf.control.ComputedTorque(arm)
        plant = arm.carrying(tf.Payload(1.0, com=(0.02, 0.0, 0.03)))
        run = tf.simulate(arm, law, move, plant=plant, step=2e-3, control_period=0.01)
        runs.append(np.hstack([run.position, run.velocity, run.force]))
    assert np.abs(runs[0]).max() > 1
    for other in runs[1:]:
        assert error(other.T, runs[0].T) < ACROSS_WIDTHS


@pytest.mark.fault(25)
def test_the_same_digits_every_time():
    rng = np.random.default_rng(3)
    arm = random_arm(rng, "RPRRR", drives=True)
    state = random_state(rng, 5, 70_000)
    first = arm.inverse_dynamics(*state)
    order = rng.permutation(len(first))
    try:
        for threads in (1, 2, 5):
            tf.set_threads(threads)
            for _ in range(2 * SOAK):
                assert np.array_equal(arm.inverse_dynamics(*state), first)
            assert np.array_equal(arm.inverse_dynamics(*(x[order] for x in state)), first[order])
    finally:
        tf.set_threads(None)


@pytest.mark.fault(26)
@pytest.mark.parametrize("name", ["puma560", "stanford", "panda", "random"])
def test_independent_truth(name):
    """States of whole robots against Pinocchio and MuJoCo; inverse dynamics undoes forward dynamics."""
    rng = np.random.default_rng(4)
    arm = (random_arm(rng, "RPRRPRR", drives=True) if name == "random" else tf.load(name)).without_friction()
    count = 500 * SOAK
    q, qd, qdd = random_state(rng, arm.n, count)
    tau = arm.inverse_dynamics(q, qd, qdd)
    model = pinocchio_model(arm)
    data = model.createData()
    theirs = np.array([pin.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)])
    assert error_beside(tau, theirs, theirs) < OUTSIDE
    M = arm.mass_matrix(q)
    back = arm.forward_dynamics(q, qd, tau)
    conditions = np.linalg.cond(M)
    size = np.abs(tau).max(-1) + np.abs(arm.bias_forces(q, qd)).max(-1)
    residual = np.abs(np.einsum("kij,kj->ki", M, back - qdd)).max(-1) / size
    assert (residual < 30 * arm.n * EPSILON * conditions).all()
    if name == "puma560":  # its first link has one moment of inertia only: not a body to MuJoCo
        return
    spec = mujoco_model(arm)
    state = mujoco.MjData(spec)
    for k in range(0, count, 10):
        state.qpos, state.qvel, state.qacc = q[k], qd[k], qdd[k]
        mujoco.mj_inverse(spec, state)
        assert error(tau[k], state.qfrc_inverse) < OUTSIDE
