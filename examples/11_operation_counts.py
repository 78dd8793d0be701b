"""
What the formulations cost
==========================

The source of a formulation counts its own operations: it runs on counting scalars, or is recorded as a graph in which
nothing is done twice. So the papers' tables can be compared with the code that runs.
"""

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf
from tauforge.analysis import general_cost, general_operation_count
from tauforge_papers.published_counts import ANGELES_7_4

puma = tf.load("puma560")
for name in tf.FORMULATIONS:
    count = tf.operation_count(puma, name)
    multiplications, additions = general_cost(name)
    print(f"{name}: {count.multiplications} / {count.additions} on a PUMA; {multiplications} / {additions} in general")

# %%
# The recursions cost a fixed number of operations per joint; Lagrange's equations grow with the cube of n.

sizes = np.arange(4, 10)
totals = {name: np.array([sum(general_operation_count(int(n), name)[:2]) for n in sizes]) for name in tf.FORMULATIONS}
third = {name: np.abs(np.diff(total, 3)).max() for name, total in totals.items()}
assert third["lagrange-euler"] > 0
assert all(third[name] == 0 for name in tf.FORMULATIONS if name != "lagrange-euler")

best = min(sum(map(int, counts)) for counts in ANGELES_7_4.values())
ours = sum(general_operation_count(6)[:2])
print(f"general 6R: the best of Angeles' table has {best} operations, joint-frames {ours}")
assert ours < best

figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
for name, total in totals.items():
    axes.semilogy(sizes, total, "o-", label=name)
axes.semilogy([6], [best], "k*", markersize=11, label="best of Angeles' Table 7.4")
axes.set_xlabel("revolute joints")
axes.set_ylabel("multiplications and additions, general arm")
axes.set_xticks(sizes)
axes.grid(alpha=0.3, which="both")
axes.legend(frameon=False, ncols=2, fontsize="small")
plt.show()
