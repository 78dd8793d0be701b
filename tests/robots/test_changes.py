"""Changed copies of robots: what `carrying` takes, and names that were mistyped."""

import numpy as np
import pytest

import tauforge as tf

ARM, PLATFORM, MECHANISM = (tf.load(name) for name in ("puma560", "motion-rig", "five-bar"))
KINDS = pytest.mark.parametrize("robot", [ARM, PLATFORM, MECHANISM], ids=lambda robot: robot.name)


@KINDS
@pytest.mark.parametrize("given", [2.0, None, (1.0, (0, 0, 0))], ids=["a mass", "nothing", "a tuple"])
def test_carrying_takes_a_payload(robot, given):
    words = rf"payload: expected a tauforge\.Payload, got {type(given).__name__}\. Give tauforge\.Payload\(mass\)"
    with pytest.raises(tf.ShapeError, match=words):
        robot.carrying(given)


@KINDS
@pytest.mark.parametrize(
    "batch", [tf.Payload([1.0, 2.0]), tf.Payload(1.0, np.zeros((2, 3))), tf.Payload(1.0, inertia=np.zeros((2, 3, 3)))]
)
def test_carrying_takes_one_payload(robot, batch):
    with pytest.raises(tf.ModelError, match="payload: expected one payload, not a batch"):
        robot.carrying(batch)


@KINDS
def test_carrying_refuses_a_gap(robot):
    with pytest.raises(tf.ModelError, match=r"expected .*finite number.* got nan"):
        robot.carrying(tf.Payload(np.ma.array(1e6, mask=True)))


@pytest.mark.parametrize(
    ("change", "meant"),
    [
        (lambda: ARM.replace(mas=[1.0] * 6), "mass"),
        (lambda: ARM.replace(gravty=(0, 0, 0)), "gravity"),
        (lambda: PLATFORM.replace(platform_mas=1.0), "platform_mass"),
        (lambda: MECHANISM.replace(mas=[1.0] * 4), "mass"),
        (lambda: MECHANISM.replace(gravty=(0, 0, 0)), "gravity"),
        (lambda: PLATFORM.designs.redesign(base_radus=1.0), "base_radius"),
        (lambda: tf.designs.evaluate(PLATFORM, {"base_radus": 1.0}, ["condition"]), "base_radius"),
        (lambda: MECHANISM.inverse_dynamics_derivatives(MECHANISM.home, [0, 0], [0, 0], paylod=None), "payload"),
    ],
)
def test_mistyped_names_are_guessed(change, meant):
    with pytest.raises(tf.ModelError, match=rf"\. Did you mean {meant}\? (Known: |Use one of )"):
        change()
