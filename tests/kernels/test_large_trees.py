"""Trees of very many joints: their dynamics are compiled, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.random_mechanisms import random_body, random_joint
from support.tolerances import OUTSIDE, error

JOINTS, LIMB = 101, 5


@pytest.mark.usefixtures("kernels_on")
def test_forward_dynamics_of_a_hundred_joints_is_a_kernel() -> None:
    """A trunk with twenty limbs of five hinges, axes in any direction."""
    rng = np.random.default_rng(0)
    names = [f"body{k}" for k in range(JOINTS)]
    inner = ["ground", *(names[0] if k % LIMB == 0 else names[k] for k in range(JOINTS - 1))]
    joints: list[Any] = [
        random_joint(rng, tf.Hinge, f"joint{k}", inner[k], names[k], actuated=True) for k in range(JOINTS)
    ]
    tree = tf.Mechanism(bodies=[random_body(rng, name) for name in names], joints=joints)
    x, qd, tau = rng.uniform(-1.0, 1.0, (3, 9, JOINTS))
    kernel = tree.kernel("forward_dynamics")
    assert kernel.results == ((JOINTS,),)
    qdd = tree.forward_dynamics(x, qd, tau)
    assert type(vars(tree)["forward_dynamics"]).__name__ == "builtin_function_or_method"
    assert error(tree.inverse_dynamics(x, qd, qdd), tau) < OUTSIDE
