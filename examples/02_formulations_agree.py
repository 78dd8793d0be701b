"""
Seven formulations, one answer
==============================

Seven formulations of the same dynamics, six of them published, agree to rounding on any arm. This finds misprints: with
one index as printed, the error is not 1e-15 but a quarter of the torque.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf
from tauforge.analysis import compare, random_states, row_errors
from tauforge_papers.turney1980.errata import MISPRINTS

found = {}
for name in ("puma560", "stanford", "panda"):  # revolute; with a prismatic joint; modified DH with seven joints
    arm = tf.load(name).without_friction()
    q, qd, qdd = random_states(arm, 1000)
    torques = compare(arm, q, qd, qdd).torques
    middle = np.median(list(torques.values()), axis=0)
    found[name] = {way: row_errors(tau, middle) for way, tau in torques.items()}
    print(f"{name}: at most {max(error.max() for error in found[name].values()):.1e} of the largest torque apart")
    assert max(error.max() for error in found[name].values()) < 1e-11

# %%
# Each misprint below is our own code with one line as it is printed, run on random arms. Misprints that may come from
# the machine that read the report are left out.

runnable = [misprint for misprint in MISPRINTS if misprint.trial is not None and not misprint.reading]
costs = {f"{misprint.where}:\n{misprint.what}": misprint.trial().printed for misprint in runnable}
for name, error in costs.items():
    print(f"{name.replace(chr(10), ' ')}: wrong by {error:.2f} of the largest torque")
assert min(costs.values()) > 1e-3

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
ways = list(tf.FORMULATIONS)
for k, (name, errors) in enumerate(found.items()):
    sizes = [np.maximum(errors[way], 1e-17) for way in ways]
    places = np.arange(len(ways)) + 0.25 * (k - 1)
    left.plot([np.percentile(size, 99) for size in sizes], places, "o", label=name)
left.set_yticks(range(len(ways)), ways)
left.set_xscale("log")
left.set_xlim(1e-17, 1e-12)
left.set_xlabel("apart from the median, 99 % of states")
left.set_title("mended", loc="left")
left.legend(frameon=False)
right.barh(list(costs), list(costs.values()), color="tab:red")
right.set_xlabel("median error, of the largest torque")
right.set_title("as printed in 1980", loc="left")
for axes in (left, right):
    axes.grid(alpha=0.3, axis="x")
    axes.invert_yaxis()
plt.show()
