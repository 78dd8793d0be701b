"""
Your own arm: by hand, as a file, from URDF
===========================================

Two links in a vertical plane are described three times: by Denavit-Hartenberg rows, by a model file and by URDF. All
three give the same torques, which textbooks have in closed form.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tauforge as tf

l1, l2, m1, m2, g = 0.5, 0.35, 3.0, 1.8, 9.81
arm = tf.SerialArm.from_dh(
    joints="RR",
    alpha=[0, 0],
    a=[l1, l2],
    d=[0, 0],
    mass=[m1, m2],
    com=[(-l1 / 2, 0, 0), (-l2 / 2, 0, 0)],  # in the frame at the far end of each link
    inertia=[(0, m1 * l1**2 / 12, m1 * l1**2 / 12), (0, m2 * l2**2 / 12, m2 * l2**2 / 12)],
    gravity=(0, -g, 0),
    names=["shoulder", "elbow"],
)

# %%
# A URDF puts each frame at the joint, so the centre of mass is at plus half the length.

LINK = """<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{m}"/>
<inertia ixx="0" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>"""
urdf = "\n".join(
    [
        '<robot name="two links"><link name="base"/>',
        LINK.format(name="upper", x=l1 / 2, m=m1, i=m1 * l1**2 / 12),
        LINK.format(name="lower", x=l2 / 2, m=m2, i=m2 * l2**2 / 12),
        JOINT.format(name="shoulder", parent="base", child="upper", x=0),
        JOINT.format(name="elbow", parent="upper", child="lower", x=l1),
        "</robot>",
    ]
)
with tempfile.TemporaryDirectory() as folder:
    arm.save(Path(folder) / "two-links.toml")
    saved = tf.load(Path(folder) / "two-links.toml")
    (Path(folder) / "two-links.urdf").write_text(urdf)
    from_urdf = tf.load(Path(folder) / "two-links.urdf").replace(gravity=(0, -g, 0))

q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
tau = arm.inverse_dynamics(q, qd, qdd)
assert np.array_equal(saved.inverse_dynamics(q, qd, qdd), tau)
assert np.allclose(from_urdf.inverse_dynamics(q, qd, qdd), tau)

# %%
# Textbooks print the elbow's torque for slender rods.

along, across = l1 * np.cos(q[:, 1]), l1 * np.sin(q[:, 1])
elbow = m2 * l2**2 / 3 * qdd.sum(axis=1) + m2 * l2 / 2 * (along * qdd[:, 0] + across * qd[:, 0] ** 2)
elbow += m2 * g * l2 / 2 * np.cos(q.sum(axis=1))
assert np.allclose(elbow, tau[:, 1])
print(f"three descriptions and the textbook agree to {np.abs(elbow - tau[:, 1]).max():.0e} N m")

# %%
# The figure shows the torque that holds the arm against gravity at every position, and the arm in some of them.

angles = np.linspace(-np.pi, np.pi, 181)
grid = np.stack(np.meshgrid(angles, angles, indexing="ij"), axis=-1)  # (181, 181, 2): any leading shape will do
hold = arm.gravity_forces(grid)[..., 0]
assert np.isclose(np.abs(hold).max(), g * (m1 * l1 / 2 + m2 * (l1 + l2 / 2)), rtol=1e-3)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
picture = left.pcolormesh(angles, angles, hold.T, cmap="RdBu_r", shading="auto")
figure.colorbar(picture, ax=left, label="torque at the shoulder (N m)")
left.set_xlabel("shoulder (rad)")
left.set_ylabel("elbow (rad)")
left.set_title("what holds it up", loc="left")
for shoulder, elbow_angle in ((0, 0), (0.9, -1.4), (2.2, 1.1), (-1.2, 0.8)):
    places = arm.link_frames([shoulder, elbow_angle])[:, :2, 3]
    holding = arm.gravity_forces([shoulder, elbow_angle])[0]
    right.plot(*places.T, "o-", linewidth=3, label=f"({shoulder}, {elbow_angle}) rad: {holding:.1f} N m")
    left.plot(shoulder, elbow_angle, "ko", markersize=4)
right.set_aspect("equal")
right.grid(alpha=0.3)
right.set_xlabel("x (m)")
right.set_ylabel("y (m)")
right.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1))
plt.show()
