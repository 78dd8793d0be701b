"""Smoothed Coulomb friction at rest: the speed that is promised is kept, or a warning says which one is."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.strategies import random_arm
from tauforge.control import PD, ComputedTorque
from tauforge.simulation.stability import BEARABLE

PUMA = tf.load("puma560").replace(gravity=(0, 0, 0))
STILL = tf.motion.JointMove(np.zeros(6), np.zeros(6), 0.05)
pytestmark = pytest.mark.usefixtures("kernels_on")

SLIDE = 1.01  # creeping speeds are approached, and rounding may pass them


def told(run):
    """What run() gives, and the one warning's text, or none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run()
    assert [warning.category for warning in caught] in ([], [tf.StiffFrictionWarning])
    assert all(warning.filename == __file__ for warning in caught)
    return result, str(caught[0].message) if caught else None


def number(pattern, text):
    return float(re.search(pattern + r"([-+.\de]+)", text)[1])


def resting(arm, h, q=None, torques=0.0, steps=100):
    """A run that starts nearly at rest."""
    start = (np.zeros(arm.n) if q is None else q, np.full(arm.n, 0.1 * arm.coulomb_speed))
    held = np.broadcast_to(torques, (arm.n,))
    return told(lambda: tf.simulate(arm, lambda *_: held, initial=start, duration=steps * h, step=h))


def test_a_stiff_arm_is_warned_of():
    """The speed that is really reached is far above coulomb_speed and below what the warning promises."""
    run, text = resting(PUMA.replace(coulomb_speed=1e-6), 1e-3)
    assert re.match(
        r"the friction of puma560 is too stiff for steps of 0\.001 s: at rest joint\d may move at up to ", text
    )
    promised = number("may move at up to ", text)
    assert 1e-3 < np.abs(run.velocity).max() < promised < 0.02


def test_what_the_warning_advises_helps():
    arm = PUMA.replace(coulomb_speed=1e-4)
    _, text = resting(arm, 1e-3)
    for other, h in (
        (arm, number("a step of at most ", text)),
        (arm.replace(coulomb_speed=number("speed=", text.split("Use")[1])), 1e-3),
    ):
        run, quiet = resting(other, h)
        assert quiet is None
        assert np.abs(run.velocity).max() < other.coulomb_speed


@pytest.mark.parametrize("seed", range(4))
def test_promises_are_kept(seed):
    """Random arms, steps, coulomb speeds and loads that the friction holds: every joint creeps, or stays within what
    the warning says. Both happen.
    """
    rng = np.random.default_rng(seed)
    said = []
    for _ in range(6 * SOAK):
        kinds = "".join(rng.choice(["R", "P"], rng.integers(1, 4)))
        arm = random_arm(rng, kinds, drives=True).replace(gravity=(0, 0, 0))
        arm = arm.replace(coulomb=rng.uniform(0.2, 1, (arm.n, 2)) * 10 ** rng.uniform(-1, 1))
        q, h, load = rng.normal(size=arm.n), 10 ** rng.uniform(-4, -2), rng.choice([0.0, 0.5, 0.75, 0.95])
        least, most = np.array([np.sort(j.coulomb) * abs(j.gear_ratio) for j in arm.joints]).T
        rate = np.linalg.eigvals(np.linalg.solve(arm.mass_matrix(q), np.diag(most))).real.max()
        arm = arm.replace(coulomb_speed=h * rate / rng.choice([0.5, 2.3, 3.5, 20, 1e4]))
        run, text = resting(arm, h, q, load * least * rng.choice([-1, 1], arm.n))
        creeping = arm.coulomb_speed * max(np.arctanh(load), 1.0 if load < 0.76 else 0.0)
        promised = creeping if text is None else creeping + number("may move at up to ", text)
        assert np.abs(run.velocity).max() < SLIDE * promised
        said.append(text is not None)
    assert 0 < sum(said) < len(said)


def test_rollouts_look_at_their_end_too():
    """Stretched out, the forearm turns more easily against the upper arm: friction that is soft at first is stiff."""
    bent, straight = np.array([0.0, np.pi]), np.zeros(2)
    arm, step = tf.load("planar-2r").replace(gravity=(0, 0, 0), coulomb=np.ones((2, 2))), 1e-3
    soft, stiff = (np.linalg.eigvalsh(np.linalg.inv(arm.mass_matrix(q))).max() for q in (bent, straight))
    assert soft < stiff / 2
    arm = arm.replace(coulomb_speed=step * np.sqrt(soft * stiff) / BEARABLE)
    for end, says in ((bent, False), (straight, True)):
        move = tf.motion.JointMove(bent, end, 0.5)
        runs, text = told(lambda: tf.rollout(arm, PD(arm, 100.0, 20.0), move, step=step, control_period=step))  # noqa: B023
        assert np.abs(runs.position[0, -1] - end).max() < 0.3
        assert (text is not None) is says


def test_rollouts_warn_alike():
    """Also where the friction of one row alone is too large."""
    law, options = PD(PUMA, 0.0, 0.0), {"step": 1e-3, "control_period": 0.01}
    stiff, soft = PUMA.replace(coulomb_speed=1e-6), PUMA.replace(coulomb_speed=0.01)
    _, text = told(lambda: tf.rollout(stiff, law, STILL, **options))
    assert text == resting(stiff, 1e-3)[1]
    own = np.array([joint.coulomb for joint in PUMA.joints])
    rows = own * np.array([1.0, 1.0, 50.0, 1.0])[:, None, None]
    assert told(lambda: tf.rollout(soft, law, STILL, varying={"coulomb": rows[:2]}, **options))[1] is None
    _, text = told(lambda: tf.rollout(soft, law, STILL, varying={"coulomb": rows}, **options))
    assert text == resting(soft.replace(coulomb=rows[2]), 1e-3)[1]


def test_friction_that_the_law_takes_away():
    """Continuous computed torque cancels it, held forces do not."""
    arm = PUMA.replace(coulomb_speed=1e-4)
    law = ComputedTorque(arm)
    run, text = told(lambda: tf.simulate(arm, law, STILL))
    assert text is None
    assert np.abs(run.velocity).max() < arm.coulomb_speed
    assert "too stiff" in told(lambda: tf.simulate(arm, law, STILL, control_period=1e-3))[1]


def test_friction_that_the_laws_model_lacks():
    """What computed torque leaves over is a damper like any other: of a plant with twice the friction, once it."""
    arm = PUMA.replace(coulomb_speed=1e-4)
    law, start = ComputedTorque(arm), (np.zeros(6), np.full(6, 1e-5))
    own = np.array([joint.coulomb for joint in arm.joints])

    def followed(share, h):
        plant = arm.replace(coulomb=share * own)
        return told(lambda: tf.simulate(arm, law, STILL, plant=plant, initial=start, step=h))

    run, text = followed(2.0, 1e-3)
    assert arm.coulomb_speed < np.abs(run.velocity).max() < number("may move at up to ", text)
    enough = number("a step of at most ", text)
    assert enough == number("a step of at most ", resting(arm, 1e-3)[1])
    run, text = followed(2.0, STILL.duration / np.ceil(STILL.duration / enough))
    assert text is None
    assert np.abs(run.velocity).max() < arm.coulomb_speed
    assert followed(0.5, 1e-3)[1] is None  # too much is taken away, which shorter steps do not mend


def test_who_is_not_warned():
    """Steps that follow the friction, friction of a user's own, and arms without any."""

    class Own(tf.SerialArm):
        def forward_dynamics(self, q, qd, tau, **loads):
            return -np.asarray(qd)

    stiff = PUMA.replace(coulomb_speed=1e-4)
    start = (np.zeros(6), np.full(6, 1e-5))
    run, text = told(lambda: tf.simulate(stiff, initial=start, duration=0.01, method="dormand-prince"))
    assert text is None
    assert np.abs(run.velocity).max() < 1.01e-5
    assert resting(Own(**stiff.__getstate__()), 1e-3)[1] is None
    assert resting(stiff.without_friction(), 1e-3)[1] is None
