"""
The least effort of a PUMA, by CasADi
=====================================

The inverse dynamics is a function of CasADi, so that IPOPT can choose the motion between two postures. It has exact
first and second derivatives. The motion with the least torque keeps the arm folded on its way: its effort is a fifth
below that of the usual quintic polynomial of the same duration.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

try:
    import casadi
except ImportError:
    raise SystemExit("This example needs CasADi: pip install '.[symbolic]' in the checkout") from None

arm = tf.load("puma560").without_friction()
start, end = np.array([0.0, -0.4, 0.2, 0.0, 0.3, 0.0]), np.array([1.2, 0.5, -0.6, 0.5, -0.4, 0.8])
duration, count = 1.0, 25
h = duration / (count - 1)
dynamics = tf.symbolic.casadi_function(arm, "inverse_dynamics")
print(dynamics)

# %%
# Unknown are the positions, velocities and accelerations at the knots. Between two knots the acceleration is a straight
# line, and the positions and velocities follow from it exactly.

problem = casadi.Opti()
q, qd, qdd = (problem.variable(6, count) for _ in range(3))
before, after = slice(0, count - 1), slice(1, count)
problem.subject_to(qd[:, after] == qd[:, before] + h / 2 * (qdd[:, before] + qdd[:, after]))
problem.subject_to(q[:, after] == q[:, before] + h * qd[:, before] + h**2 / 6 * (2 * qdd[:, before] + qdd[:, after]))
for knot, position in ((0, start), (count - 1, end)):
    problem.subject_to(q[:, knot] == position)
    problem.subject_to(qd[:, knot] == 0)
tau = dynamics.map(count)(q, qd, qdd)
weight = np.full(count, h)
weight[[0, -1]] /= 2
problem.minimize(casadi.sum2(casadi.sum1(tau**2) * weight[None]))

quintic = tf.motion.JointMove(start, end, duration).sample(np.linspace(0, duration, count))
for variable, guess in zip((q, qd, qdd), (quintic.position, quintic.velocity, quintic.acceleration), strict=True):
    problem.set_initial(variable, guess.T)
problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
solution = problem.solve()
best = [np.array(solution.value(variable)).T for variable in (q, qd, qdd)]

# %%
# The torques that IPOPT saw are those of our kernels.

torque = arm.inverse_dynamics(*best)
assert np.abs(torque - np.array(solution.value(tau)).T).max() < 1e-10 * np.abs(torque).max()
usual = arm.inverse_dynamics(quintic.position, quintic.velocity, quintic.acceleration)
efforts = [float((weight[:, None] * x**2).sum()) for x in (usual, torque)]
print(f"{solution.stats()['iter_count']} iterations of IPOPT")
print(f"effort {efforts[0]:.0f} N^2 m^2 s with the quintic, {efforts[1]:.0f} with the best motion")
assert solution.stats()["success"]
assert efforts[1] < 0.85 * efforts[0]
assert np.abs(best[0][-1] - end).max() < 1e-8

t = np.linspace(0, duration, count)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for joint in range(3):
    (line,) = left.plot(t, best[0][:, joint], label=arm.joints[joint].name)
    left.plot(t, quintic.position[:, joint], "--", color=line.get_color())
    right.plot(t, torque[:, joint], color=line.get_color())
    right.plot(t, usual[:, joint], "--", color=line.get_color())
left.set_ylabel("position (rad), quintic dashed")
right.set_ylabel("torque (N m), quintic dashed")
left.legend(frameon=False)
for panel in (left, right):
    panel.set_xlabel("time (s)")
    panel.grid(alpha=0.3)
plt.show()
