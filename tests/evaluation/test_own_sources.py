"""Whatever is put in place of our code, in whichever way, no kernel of the code before answers for it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

PATCHES = {
    "nothing": "",
    "a function": (
        "from tauforge.formulations import drives\ndrives.friction_forces = lambda drives, qd, speed: mine(None, qd)"
    ),
    "a wrapper": (
        "import functools\nfrom tauforge.robots.serial import functions\n"
        "functions.friction_forces = functools.wraps(functions.friction_forces)(mine)"
    ),
    "its code": ("from tauforge.robots.serial import functions\nfunctions.friction_forces.__code__ = mine.__code__"),
    "an entry of a table": (
        "from tauforge.formulations.serial import FORMULATIONS, newton_euler\n"
        "FORMULATIONS['newton-euler'] = lambda *a: [x + 1000.0 for x in newton_euler.inverse_dynamics(*a)]"
    ),
    "the model of a platform": (
        "from tauforge.robots.stewart.functions import MODELS\n"
        "old = MODELS['massless-legs']\n"
        "new = lambda *a: [x + 1000.0 for x in old.inverse_dynamics(*a)]\n"
        "MODELS['massless-legs'] = old._replace(inverse_dynamics=new)"
    ),
}
ASKED = """
import numpy as np
import tauforge as tf

def mine(model, qd):
    return [1000.0 for _ in qd]

{patch}
arm, platform = tf.load("planar-2r"), tf.load("box")
found = [
    arm.inverse_dynamics(*np.full((3, 2), 0.3)),
    arm.inverse_dynamics(*np.full((3, 2), 0.3), formulation="newton-euler"),
    platform.inverse_dynamics([0, 0, 1, 0, 0, 0], np.zeros(6), np.ones(6), model="massless-legs"),
]
print(*(float(x[0]) for x in found))
"""


def asked(patch: str, folder: object, switch: str) -> np.ndarray:
    done = subprocess.run(
        [sys.executable, "-c", ASKED.format(patch=patch)],
        env={**os.environ, "TAUFORGE_KERNELS": switch, "TAUFORGE_CACHE": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return np.array([float(x) for x in done.stdout.split()])


@pytest.mark.parametrize("patch", PATCHES)
def test_the_cache_answers_only_for_our_own_code(patch, tmp_path):
    """With the cache of an unpatched process, every answer is that of the reference with the patch."""
    folder = tmp_path / "cache"
    plain = asked("", folder, "1")
    reference = asked(PATCHES[patch], folder, "0")
    got = asked(PATCHES[patch], folder, "1")
    assert np.abs(got - reference).max() < 1e-9 * np.abs(reference).max()
    assert (np.abs(reference - plain).max() > 100) == (patch != "nothing")
