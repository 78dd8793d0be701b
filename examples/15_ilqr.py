"""
Swinging up by iLQR
===================

Two rods hang down, and only the shoulder has a motor. The iterative linear-quadratic regulator improves a motion again
and again: it linearises the dynamics along the motion, by one call of our derivatives for all steps, and solves a
linear-quadratic problem backwards in time. The result swings the rods up and stops them upright.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

arm = tf.load("planar-2r").without_friction()
h, steps = 0.01, 300
hanging, upright = np.array([-np.pi / 2, 0.0, 0.0, 0.0]), np.array([np.pi / 2, 0.0, 0.0, 0.0])
running, final, effort = np.diag([0.0, 0.0, 0.02, 0.02]), np.diag([2e3, 2e3, 1e2, 1e2]), 2e-3


def torques(u):
    return np.stack([u, np.zeros_like(u)], axis=-1)  # the elbow has no motor


def advance(x, u):
    """One step: the new velocity moves the rods, so that energy is kept well."""
    speed = x[2:] + h * arm.forward_dynamics(x[:2], x[2:], torques(u))
    return np.concatenate([x[:2] + h * speed, speed])


def rolled_out(u, x_old=None, gains=None, change=None, share=1.0):
    x, used = [hanging], []
    for k in range(steps):
        push = u[k]
        if gains is not None:
            push = push + share * change[k] + gains[k] @ (x[k] - x_old[k])
        used.append(push)
        x.append(advance(x[k], push))
    return np.array(x), np.array(used)


def cost(x, u):
    off = x[-1] - upright
    return 0.5 * (off @ final @ off + np.einsum("ki,ij,kj->", x[:-1], running, x[:-1]) + effort * (u**2).sum())


def slopes(x, u):
    """A (steps, 4, 4) and b (steps, 4) of all steps at once, by the exact derivatives of the forward dynamics."""
    by_q, by_qd, by_tau = arm.forward_dynamics_derivatives(x[:-1, :2], x[:-1, 2:], torques(u))
    A, b = np.tile(np.eye(4), (steps, 1, 1)), np.zeros((steps, 4))
    A[:, 2:, :2] += h * by_q
    A[:, 2:, 2:] += h * by_qd
    b[:, 2:] = h * by_tau[:, :, 0]
    A[:, :2] += h * A[:, 2:]
    b[:, :2] = h * b[:, 2:]
    return A, b


# %%
# A nudge checks the matrices.

u = 0.5 * np.sin(np.linspace(0, 12, steps))
x, _ = rolled_out(u)
A, b = slopes(x, u)
nudge = 1e-6 * np.array([1.0, -2.0, 0.5, 1.5])
ahead, behind = (advance(x[50] + s, u[50]) for s in (nudge, -nudge))
assert np.allclose(A[50] @ nudge, (ahead - behind) / 2, rtol=1e-6, atol=1e-12)


def backwards(x, u, caution):
    """The change of the pushes and the gains around the motion, from the end to the start."""
    A, b = slopes(x, u)
    change, gains = np.zeros(steps), np.zeros((steps, 4))
    value, curvature = final @ (x[-1] - upright), final
    for k in reversed(range(steps)):
        by_u = effort * u[k] + b[k] @ value
        by_uu = effort + b[k] @ curvature @ b[k] + caution
        by_ux = b[k] @ curvature @ A[k]
        change[k], gains[k] = -by_u / by_uu, -by_ux / by_uu
        closed = A[k] + np.outer(b[k], gains[k])
        value = running @ x[k] + effort * u[k] * gains[k] + closed.T @ (value + curvature @ b[k] * change[k])
        value = value + gains[k] * effort * change[k]
        curvature = running + effort * np.outer(gains[k], gains[k]) + closed.T @ curvature @ closed
    return change, gains


costs, caution = [cost(x, u)], 1e-3
for _ in range(150):
    change, gains = backwards(x, u, caution)
    for share in 0.6 ** np.arange(12):
        tried_x, tried_u = rolled_out(u, x, gains, change, share)
        if np.isfinite(tried_x).all() and cost(tried_x, tried_u) < costs[-1]:
            x, u, caution = tried_x, tried_u, max(caution / 3, 1e-9)
            costs.append(cost(x, u))
            break
    else:
        caution *= 10
        if caution > 1e6:
            break
        continue
    if costs[-2] - costs[-1] < 1e-4 * costs[-1]:
        break

off = np.abs(x[-1] - upright)
print(f"{len(costs) - 1} improvements: cost {costs[0]:.0f} to {costs[-1]:.2f}")
print(f"upright within {off[:2].max():.1e} rad and {off[2:].max():.1e} rad/s; at most {np.abs(u).max():.1f} N m")
assert off.max() < 0.05

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", width_ratios=(3, 2))
t = h * np.arange(steps + 1)
left.plot(t, x[:, 0], label="shoulder (rad)")
left.plot(t, x[:, 1], label="elbow (rad)")
left.plot(t[:-1], u / np.abs(u).max(), ":", label=f"push over {np.abs(u).max():.0f} N m")
left.axhline(np.pi / 2, color="0.6", linewidth=1)
left.set_xlabel("time (s)")
left.legend(frameon=False)
right.semilogy(costs)
right.set_xlabel("improvements")
right.set_ylabel("cost")
for panel in (left, right):
    panel.grid(alpha=0.3)
plt.show()
