"""
What is in the gripper? Gradients in torch
==========================================

A PUMA moves something unknown and measures its joint torques, with noise. Torch differentiates the inverse dynamics by
the mass, the centre and the inertia of the payload, and a quasi-Newton method finds them. The parameters are chosen so
that every guess on the way is a possible body: the mass is an exponential, the inertia a product L L'.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

try:
    import torch
except ImportError:
    raise SystemExit("This example needs torch: pip install '.[torch]' in the checkout") from None

arm = tf.load("puma560").without_friction()
held = tf.Payload(2.3, (0.04, -0.02, 0.15), [[0.020, 0.002, 0.0], [0.002, 0.026, 0.001], [0.0, 0.001, 0.012]])

t = np.linspace(0.0, 4.0, 400)[:, None]
rate, size = np.array([3.1, 2.3, 3.7, 4.9, 4.3, 6.1]), np.array([0.7, 0.5, 0.6, 0.9, 0.9, 1.2])
q, qd, qdd = size * np.sin(rate * t), size * rate * np.cos(rate * t), -size * rate**2 * np.sin(rate * t)
noise = np.array([0.3, 0.3, 0.2, 0.03, 0.03, 0.03])  # N m, standard deviation of each joint
measured = arm.inverse_dynamics(q, qd, qdd, payload=held)
measured = measured + noise * np.random.default_rng(1).normal(size=measured.shape)

# %%
# States and measurements are tensors. Only the payload has gradients: one kernel gives the torques, another their
# derivatives by the ten numbers of the payload.

state = [torch.tensor(x) for x in (q, qd, qdd)]
torques, spread = torch.tensor(measured), torch.tensor(noise)
mass_log = torch.zeros((), dtype=torch.float64, requires_grad=True)
com = torch.zeros(3, dtype=torch.float64, requires_grad=True)
factor = (0.1 * torch.eye(3, dtype=torch.float64)).requires_grad_()


def payload():
    lower = torch.tril(factor)
    return tf.Payload(torch.exp(mass_log), com, lower @ lower.T)


def loss():
    residual = (arm.inverse_dynamics(*state, payload=payload()) - torques) / spread
    return (residual**2).mean()


search = torch.optim.LBFGS([mass_log, com, factor], max_iter=60, history_size=20, line_search_fn="strong_wolfe")
losses, masses = [], []


def closure():
    search.zero_grad()
    value = loss()
    value.backward()
    losses.append(value.item())
    masses.append(torch.exp(mass_log).item())
    return value


search.step(closure)
guess = payload()
found = tf.Payload(*(part.detach().numpy() for part in (guess.mass, guess.com, guess.inertia)))
print(f"mass {float(found.mass):.3f} kg (is {float(held.mass)}), after {len(losses)} gradients")
print("centre", found.com.round(4), "m, is", held.com)
print("inertia", np.diag(found.inertia).round(4), "kg m^2 on the diagonal, is", np.diag(held.inertia))

# %%
# What is left of the error is the noise: the mean square is about 1 in units of its variance.

assert losses[-1] < 1.1
assert abs(float(found.mass) - float(held.mass)) < 0.02
assert np.abs(found.com - held.com).max() < 0.005
assert np.linalg.eigvalsh(found.inertia).min() > 0

explained = arm.inverse_dynamics(q, qd, qdd, payload=found)
empty = arm.inverse_dynamics(q, qd, qdd)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", width_ratios=(2, 3))
left.semilogy(losses, label="mean square error over the noise")
left.semilogy(np.abs(np.array(masses) - float(held.mass)), "--", label="error of the mass (kg)")
left.set_xlabel("gradients")
left.legend(frameon=False)
right.plot(t, measured[:, 2], ".", markersize=2, color="0.6", label="measured")
right.plot(t, empty[:, 2], ":", label="with an empty gripper")
right.plot(t, explained[:, 2], label="with the payload found")
right.set_xlabel("time (s)")
right.set_ylabel("torque of joint 3 (N m)")
right.legend(frameon=False)
for panel in (left, right):
    panel.grid(alpha=0.3)
plt.show()
