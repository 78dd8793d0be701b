"""A law of a user's own that can be traced, and its runs beside those that ask the law itself."""

from __future__ import annotations

import inspect
import os

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm
from tauforge.control import Controller

SAME = 1e-12  # the same steps by another order of operations
ARM = random_arm(np.random.default_rng(0), "RP")
MOVE = tf.motion.JointMove([0, 0], [0.5, -0.2], 0.1)
START = (np.array([[0.1, 0.0], [-0.1, 0.05], [0.02, -0.03]]), np.zeros(2))
TIMES = {"step": 0.01, "control_period": 0.02}


def rollout(law, arm=ARM, **options):
    return tf.rollout(arm, law, MOVE, initial=START, **TIMES, **options)


def simulated(law, k):
    """Without kernels `simulate` asks the law itself at every instant, so it is the oracle."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "off")
        return tf.simulate(ARM, law, MOVE, initial=(START[0][k], START[1]), **TIMES)


def assert_is_simulated(law, by, **options):
    got = rollout(law, **options)
    assert got.stepped_by.startswith(by)
    for k in range(len(START[0])):
        one = simulated(law, k)
        assert np.abs(got.position[k] - one.position[::2]).max() < SAME
        assert np.abs(got.force[k] - one.force[::2]).max() < SAME * (1 + np.abs(one.force).max())
    return got


class Base(Controller):
    """A law that can be traced; the others go wrong in one line."""

    traceable = True

    def force(self, t, position, velocity, target):
        return 20.0 * (target.position - position) - 2.0 * velocity + self.more(t, position, velocity)

    def more(self, t, position, velocity):
        return 0.0 * position


def marked_line(law):
    lines, first = inspect.getsourcelines(law)
    return first + next(k for k, line in enumerate(lines) if line.rstrip().endswith("# here"))


def assert_runs_step_by_step(kind, reason):
    """With the line that is marked."""
    got = assert_is_simulated(kind(), "methods: ")
    file = os.path.basename(inspect.getfile(kind))
    assert f"{file}:{marked_line(kind)} `" in got.stepped_by
    assert reason in got.stepped_by
