"""
Pictures, films and pages
=========================

Three ways to show a robot come from the same drawing of it: a figure at one position, a film of a motion, and a page of
HTML that plays it in a browser. All of them show the forces of the actuators.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import tauforge as tf

arm, rig = tf.load("puma560-armstrong"), tf.load("motion-rig")
reach = tf.motion.JointMove([0, -1, 1, 0, 0, 0], [1.5, -0.3, -0.5, 1, 1, 1.5], duration=1.0)

with tempfile.TemporaryDirectory() as folder:  # give another path to keep the files
    film = tf.animate(arm, reach, Path(folder) / "reach.gif", frames_per_second=10, size=(480, 270))
    page = tf.animate(arm, reach, Path(folder) / "reach.html")
    print(f"film {film.stat().st_size / 1000:.0f} kB, page {page.stat().st_size / 1000:.0f} kB")
    with Image.open(film) as image:
        lasting = []
        for k in range(image.n_frames):
            image.seek(k)
            lasting.append(image.info["duration"])
        last = np.array(image.convert("RGB"))
assert sum(lasting) == 1000 * reach.duration  # ms: a film lasts as long as its motion

# %%
# A figure shows the robot at a position with the forces that hold it there, several positions from faint to strong, or
# the frames with their names.

figure = plt.figure(figsize=(11, 8), layout="constrained")
space = figure.add_subplot(2, 2, 1, projection="3d")
pose = [0, 0, 1.0, 0, 0.1, 0]
hold = rig.inverse_dynamics(pose, np.zeros(6), np.zeros(6))
tf.plot(rig, pose, forces=hold, frames=["platform"], axes=space)
space.set_title("forces that hold a hexapod", loc="left")
weight = 9.81 * rig.platform_mass
lifted = (rig.force_matrix(pose) @ hold)[2]
print(f"the legs lift {lifted:.0f} N, of which the platform alone is {weight:.0f} N")
assert lifted > weight

several = figure.add_subplot(2, 2, 2, projection="3d")
tf.plot(arm, reach.sample(np.linspace(0, 1, 5)).position, axes=several)
several.set_title("a motion", loc="left")

frames = figure.add_subplot(2, 2, 3)
tf.plot(rig, pose, schematic=True, axes=frames)
frames.set_title("frames and numbers of the legs", loc="left")

shown = figure.add_subplot(2, 2, 4)
shown.imshow(last)
shown.set_axis_off()
shown.set_title("the film's last frame", loc="left")
plt.show()
