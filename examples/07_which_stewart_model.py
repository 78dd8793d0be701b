"""
Which model of the Stewart platform is right
============================================

Two papers give the inverse dynamics of the same machine, and they differ. The balance of power, which is independent of
both, shows that neither is right as printed.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf
from tauforge.analysis import power_balance

platform = tf.load("dasgupta1998")
ends = [0.1, 0, 0.4, 0, 0, -0.2], [0.3, 0, 0.6, 0, 0, 0.2]
path = tf.motion.StraightLine(*ends, 0.6, 0.8, 0.8, orientation="angles")  # the paper's path II
t = np.linspace(0, 0.6, 601)
state = path.sample(t)
exact = platform.inverse_dynamics(*state)

figure, axes = plt.subplots(3, 1, figsize=(7.5, 8), sharex=True, layout="constrained")
axes[0].plot(t, exact)
axes[0].set_ylabel("exact leg forces (N)")
for model in ("dasgupta1998", "pedrammehr2012", "exact"):
    forces = platform.inverse_dynamics(*state, model=model)
    error = np.abs(forces - exact).max(axis=1)
    missing = power_balance(platform, *state, forces).imbalance
    axes[1].plot(t, error, label=model)
    axes[2].plot(t, missing, label=model)
    print(f"{model}: {error.max():.1f} N off at worst, {np.abs(missing).max():.2g} W out of balance")
    assert (np.abs(missing).max() < 1e-9) == (model == "exact")

# %%
# Each wrong term has a switch. With all three of its wrong terms corrected, the older paper is exact.

mended = platform.inverse_dynamics(
    *state, model="dasgupta1998", corrections=("leg_spin", "moment_along_c", "parallel_axis_once")
)
assert np.allclose(mended, exact)

axes[1].set_ylabel("largest error of a leg (N)")
axes[2].set_ylabel("power out of balance (W)")
axes[2].set_xlabel("time (s)")
axes[1].legend(frameon=False)
for panel in axes:
    panel.grid(alpha=0.3)
plt.show()
