"""Uses tauforge as `pip install tauforge` leaves it, without extras: run by the Python of such an environment.

What needs an extra names it; everything else works.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np

import tauforge as tf

EXTRAS = ("matplotlib", "plotly", "jax", "torch", "casadi", "sympy", "viser", "zarr", "pymoo", "pytest")


def main() -> None:
    """Raises an AssertionError where something is not as promised."""
    there = [name for name in EXTRAS if importlib.util.find_spec(name)]
    assert not there, f"this environment has extras: {there}"
    assert not Path(tf.__file__).is_relative_to(Path(__file__).parents[1] / "src"), "this is the checkout"
    command = Path(sys.executable).with_name("tauforge")
    shown = subprocess.run([command, "show", "puma560"], capture_output=True, text=True, check=True).stdout
    assert "puma560" in shown
    arm = tf.load("puma560").without_friction()
    rest = np.zeros(arm.n)
    run = tf.simulate(arm, tf.control.ComputedTorque(arm), tf.motion.JointMove(rest, rest + 0.1, 0.1))
    assert np.abs(run.position[-1] - 0.1).max() < 1e-3
    refused = ""
    try:
        tf.plot(arm, rest)
    except tf.errors.TauforgeError as error:
        refused = str(error)
    assert "[plots]" in refused, refused
    print(f"tauforge {tf.__version__} without extras: import, show, a simulation, and an error that names the extra")


if __name__ == "__main__":
    main()
