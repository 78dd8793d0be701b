"""
Balancing by exact derivatives
==============================

Near a state an arm is a linear system whose matrices are exact derivatives of its dynamics. Two rods at rest are
unstable when they stand upright. A linear-quadratic regulator made from A and B balances the nonlinear arm with a motor
at the shoulder alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_continuous_are

import tauforge as tf

arm = tf.load("planar-2r")
upright = np.array([np.pi / 2, 0.0])
rest = np.zeros(2)
A, B = tf.linearise(arm, upright, rest, rest)
poles = np.linalg.eigvals(A)
print("open-loop poles:", np.sort(poles.real).round(3), "1/s")

# %%
# The derivatives are those of the forward dynamics; a difference quotient agrees within its own accuracy.

h = 1e-6
above, below = (arm.forward_dynamics(upright + [shift, 0], rest, rest) for shift in (h, -h))
nudged = (above - below) / (2 * h)
assert np.allclose(A[2:, 0], nudged, rtol=1e-6)
assert poles.real.max() > 0

# %%
# The elbow has no motor: only the first column of B is used.

b = B[:, :1]
Q, R = np.diag([10.0, 10.0, 1.0, 1.0]), np.eye(1) * 0.05
P = solve_continuous_are(A, b, Q, R)
K = np.linalg.solve(R, b.T @ P)
closed = np.linalg.eigvals(A - b @ K)
assert closed.real.max() < 0


def balance(t, position, velocity):
    push = -K @ np.concatenate([position - upright, velocity])
    return np.array([push[0], 0.0])


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", width_ratios=(3, 2))
for tilt in (0.02, 0.05, 0.08):
    run = tf.simulate(arm, balance, initial=(upright + [tilt, -tilt], rest), duration=4.0, step=0.002)
    (line,) = left.plot(run.time, run.position[:, 0] - upright[0], label=f"{tilt} rad")
    left.plot(run.time, run.position[:, 1], "--", color=line.get_color())
    off = np.abs(run.position[-1] - upright).max()
    print(f"tilted by {tilt} rad: at most {np.abs(run.force).max():.1f} N m, {off:.1e} rad off after 4 s")
    assert off < 0.05 * tilt
left.set_xlabel("time (s)")
left.set_ylabel("from upright: shoulder, elbow dashed (rad)")
left.legend(frameon=False, title="tilted at the start by")
right.axvline(0, color="0.6", linewidth=1)
right.plot(poles.real, poles.imag, "x", markersize=9, label="no motor")
right.plot(closed.real, closed.imag, "o", label="balanced")
right.set_xlabel("real part (1/s)")
right.set_ylabel("imaginary part (1/s)")
right.legend(frameon=False)
for panel in (left, right):
    panel.grid(alpha=0.3)
plt.show()
