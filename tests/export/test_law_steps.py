"""One step of anybody's law in C: strictly compiled, against the law itself through a run."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.c_compiler import Library, compiled, needs_gcc, self_test
from support.strategies import random_arm
from tauforge.control import PD, ComputedTorque, Controller

AGREE = 1e-12  # RELIABILITY: C against kernels
ARM = random_arm(np.random.default_rng(0), "RP")
MOVE = tf.motion.JointMove([0, 0], [0.5, -0.2], 0.2)


class PID(PD):
    """Clipped, with an integral that knows it, and a push in time."""

    memory = ("integral",)
    period = 0.02

    def __init__(self, robot):
        super().__init__(robot, 30.0, 4.0)
        self.ki, self.limit, self.integral = 90.0, 1.5, np.zeros(robot.n)

    def asked(self, t, position, velocity, target):
        return super().force(t, position, velocity, target) + self.integral + np.sin(9 * t)

    def force(self, t, position, velocity, target):
        return np.clip(self.asked(t, position, velocity, target), -self.limit, self.limit)

    def update(self, t, position, velocity, target, force):
        left = force - self.asked(t, position, velocity, target)
        return {"integral": self.integral + self.period * (self.ki * (target.position - position) + 5.0 * left)}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("laws")
    laws = {"pid": PID(ARM), "torque": ComputedTorque(ARM)}
    return tf.export_c(ARM, folder, functions=[], prefix="arm", laws=laws, gains=["kp", "ki"])


@needs_gcc
def test_a_run_by_the_exported_step(made):
    target = compiled(made)
    assert made.functions == ("arm_pid", "arm_torque")
    self_test(made, target)
    library, law, integral = Library(made, target), PID(ARM), np.zeros((1, 2))
    run = tf.simulate(ARM, law, MOVE, control_period=0.02, step=0.02)
    for k, t in enumerate(run.time[:-1]):
        state = [run.position[k : k + 1], run.velocity[k : k + 1], *(x[None] for x in MOVE.sample(t))]
        gains = [law.kp.reshape(1, -1), np.array([[law.ki]])]
        force, integral = library("pid", [*state, np.array([[t]]), *gains, integral], [(2,), (2,)])
        assert np.abs(force - run.force[k]).max() < AGREE * 100  # a sum of ten steps
    assert np.abs(integral).max() > 0.1


def test_the_header_tells_what_to_keep(made):
    header = " ".join(made.header.read_text().replace("*", " ").split())
    for words in (
        "One step of the law PID: forces of the actuators.",
        "memory_integral[2]",
        "integral of the law's memory; at first: 0, 0",
        "next_integral[2]",
        "Keep the results next_... and give them to the next call, one period later.",
        "The period of the law is 0.02 s.",
        "gain_ki[1]",
        "ki of the law; its own: 90",
    ):
        assert words in header


class Branching(Controller):
    traceable = True

    def force(self, t, position, velocity, target):
        return position if t > 1 else velocity


class Silent(Branching):
    traceable = False


@pytest.mark.parametrize(
    ("laws", "gains", "kind", "match"),
    [
        (
            {"step": Branching()},
            (),
            tf.UnsupportedFeatureError,
            r"laws: step: test_law_steps.py:\d+ .*a branch on a value",
        ),
        (
            {"step": Silent()},
            (),
            tf.UnsupportedFeatureError,
            "expected a Controller that says traceable = True, got Silent",
        ),
        ({"mass_matrix": PID(ARM)}, (), tf.ModelError, "laws: 'mass_matrix' is a function already"),
        ({"pid": PID(ARM)}, ("kd",), tf.UnsupportedFeatureError, "gains: no law has a gain 'kd'"),
        ({"a law": PID(ARM)}, (), tf.UnsupportedFeatureError, "'a law' is no name of a function in C"),
    ],
)
def test_laws_that_are_refused(laws, gains, kind, match, tmp_path):
    with pytest.raises(kind, match=match):
        tf.export_c(ARM, tmp_path, functions=[], laws=laws, gains=gains)
