"""
A controller in C
=================

Computed torque for a PUMA 560 is written as C99, compiled, and moves the simulated arm: once in double precision and
once in float, as a microcontroller would run it. The law in Python is the measure of both. The figure shows how far
their torques are from it, and that the arm does not notice.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

KP, KV = 400.0, 40.0
arm = tf.load("puma560").without_friction()
move = tf.motion.JointMove([0, 0.8, -2.0, 0, 0.3, 0], [0.8, 0.0, -1.2, 0.4, -0.2, 0.5], duration=1.0)
law = tf.control.ComputedTorque(arm, kp=KP, kv=KV)


class CompiledLaw:
    """One step of computed torque in a shared library; `simulate` calls it like any function of the state."""

    def __init__(self, folder, dtype):
        self.dtype, self.forces = np.dtype(dtype), np.empty(arm.n, dtype)
        made = tf.export_c(arm, folder, functions=["computed_torque"], prefix="puma", dtype=dtype)
        library = folder / "puma.so"
        subprocess.run(["gcc", "-std=c99", "-O2", "-shared", "-fPIC", made.source, "-o", library, "-lm"], check=True)
        self.step = ctypes.CDLL(str(library)).puma_computed_torque
        self.step.restype = None
        self.gains = [np.full(arm.n, gain, dtype) for gain in (KP, KV)]

    def __call__(self, t, position, velocity):
        arrays = [np.ascontiguousarray(x, self.dtype) for x in (position, velocity, *move.sample(t))]
        self.step(*(x.ctypes.data_as(ctypes.c_void_p) for x in (*arrays, *self.gains, self.forces)))
        return self.forces.astype(float)


def simulated(controller):
    return tf.simulate(arm, controller, move, control_period=0.005, duration=1.2)


# %%
# Each precision has a folder of its own for header, source, self-test and CMakeLists.txt.

runs = {"Python": simulated(law)}
if shutil.which("gcc"):
    for dtype in ("float64", "float32"):
        with tempfile.TemporaryDirectory() as name:
            runs[f"C, {dtype}"] = simulated(CompiledLaw(Path(name), dtype))
else:
    print("There is no gcc: only the law in Python is shown.")
for name, run in runs.items():
    apart = np.abs(run.force - runs["Python"].force).max()
    error = np.abs(run.position[-1] - move.sample(1.2).position).max()
    print(f"{name}: torques within {apart:.0e} N m of the law in Python, {error:.0e} rad from the target at the end")
    assert apart < (1e-9 if name != "C, float32" else 1e-2)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(runs["Python"].time, runs["Python"].force)
left.set_title("torques", loc="left")
left.set_ylabel("N m")
for name, run in runs.items():
    apart = np.abs(run.force - runs["Python"].force).max(axis=1)
    right.semilogy(run.time, np.maximum(apart, 1e-16), label=name)
right.set_title("largest difference from the law in Python", loc="left")
right.set_ylabel("N m")
right.legend(frameon=False)
for panel in (left, right):
    panel.set_xlabel("time (s)")
    panel.grid(alpha=0.3)
plt.show()
