"""A mechanism in MuJoCo, from the public description alone: a tree of its own joints, loops by equality constraints.

Joints of several freedoms are several joints of one body. Every frame has the world's axes in the home position. Loops
are closed by balls (connect), by hinges (connect at two points of the axis: one row of six is redundant) and by welds.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import tauforge as tf
from support.mechanism_witness import turned
from tauforge.robots.mechanism.parts import MechanismJoint

Array = NDArray[Any]
LEVER = 0.3  # m between the two points that close a hinge
SOFTNESS = tuple(1.001e-4 * k for k in range(1, 9))  # just above the least
NO_STIFFNESS = 1e-12  # of the largest
CLOSING = (tf.Spherical, tf.Hinge, tf.Weld)


def text_of(values: Any) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))


def single_joints(joint: MechanismJoint) -> list[tuple[str, Any]]:
    """MuJoCo's joints in order, with their axes."""
    match joint:
        case tf.Hinge():
            return [("hinge", joint.axis)]
        case tf.Slider():
            return [("slide", joint.axis)]
        case tf.Cylinder():
            return [("hinge", joint.axis), ("slide", joint.axis)]
        case tf.Universal():
            return [("hinge", axis) for axis in joint.axes]
        case tf.Planar():
            across = np.cross(joint.axis, joint.along)
            return [("slide", joint.along), ("slide", across), ("hinge", joint.axis)]
        case tf.Spherical():
            return [("ball", (0.0, 0.0, 1.0))]
        case tf.Weld():
            return []
    raise AssertionError(f"{joint.name}: MuJoCo has no such joint inside a tree")


class MujocoMechanism:
    """The tree grows along the joints in their order, from parents to children; what is left closes loops."""

    def __init__(self, m: tf.Mechanism) -> None:
        self.m = m
        reached, self.tree = {"ground"}, []
        while grown := [j for j in m.joints if j.parent in reached and j.child not in reached]:
            self.tree.append(grown[0])
            reached.add(grown[0].child)
        assert len(reached) == len(m.bodies) + 1
        self.closing = [joint for joint in m.joints if joint not in self.tree]
        assert all(isinstance(joint, CLOSING) for joint in self.closing)
        self.model = mujoco.MjModel.from_xml_string(self._file())
        self.data = mujoco.MjData(self.model)

    def _file(self) -> str:
        bodies, equalities = self._grown("ground", np.zeros(3)), "".join(map(self._closed, self.closing))
        return (
            f'<mujoco><compiler angle="radian" balanceinertia="false"/><option gravity="{text_of(self.m.gravity)}" '
            f'solver="Newton" tolerance="0" iterations="50"/><worldbody>{bodies}</worldbody>'
            f"<equality>{equalities}</equality></mujoco>"
        )

    def _grown(self, inner: str, origin: Array) -> str:
        found = ""
        for joint in self.tree:
            if joint.parent != inner:
                continue
            body, at = next(b for b in self.m.bodies if b.name == joint.child), np.array(joint.at)
            I = np.array(body.inertia)
            six = text_of([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
            found += f'<body name="{body.name}" pos="{text_of(at - origin)}">'
            for k, (kind, axis) in enumerate(single_joints(joint)):
                armature = joint.motor_inertia * joint.gear_ratio**2
                found += (
                    f'<joint name="{joint.name}.{k}" type="{kind}" axis="{text_of(axis)}" armature="{armature!r}"/>'
                )
            com = text_of(np.array(body.com) - at)
            found += f'<inertial pos="{com}" mass="{body.mass!r}" fullinertia="{six}"/>'
            found += self._grown(body.name, at) + "</body>"
        return found

    def _closed(self, joint: MechanismJoint) -> str:
        names = ["world" if name == "ground" else name for name in (joint.parent, joint.child)]
        bodies = f'body1="{names[0]}" body2="{names[1]}"'
        if isinstance(joint, tf.Weld):
            return f"<weld {bodies}/>"  # as they stand at home
        first = next((np.array(j.at) for j in self.tree if j.child == joint.parent), np.zeros(3))
        points = [np.array(joint.at)]
        if isinstance(joint, tf.Hinge):
            points = [points[0] + sign * LEVER / 2 * np.array(joint.axis) for sign in (-1.0, 1.0)]
        return "".join(f'<connect {bodies} anchor="{text_of(point - first)}"/>' for point in points)

    # -------------------------------------------------------------------------------------------------------- states

    def put(self, x: Array, rates: Array) -> Array:
        """Sets position and velocity, and gives the rows (N, nv) by which the tree's rates follow from MuJoCo's.

        rates: of all joints, angular velocities of balls in the parent's axes
        """
        rows, first = np.zeros((len(rates), self.model.nv)), 0
        for joint in self.m.joints:
            span = slice(first, first + len(joint.letters))
            first = span.stop
            if joint not in self.tree or not joint.letters:
                continue
            own = self.model.joint(f"{joint.name}.0")
            at, dof = int(own.qposadr[0]), int(own.dofadr[0])
            if isinstance(joint, tf.Spherical):
                R = turned(x[span])
                mujoco.mju_mat2Quat(self.data.qpos[at : at + 4], R.reshape(-1))
                rows[span, dof : dof + 3] = R
            else:
                self.data.qpos[at : at + len(joint.letters)] = x[span] - np.array(joint.home)
                rows[span, dof : dof + len(joint.letters)] = np.eye(len(joint.letters))
        self.data.qvel[:] = rows.T @ rates
        return rows

    def accelerations(self, x: Array, rates: Array, tau: Array) -> tuple[Array, Array]:
        """Accelerations of the tree's coordinates under MuJoCo's own constraints, made rigid; and which they are.

        A constraint has the softness R / A = (1 - d) / d of its impedance d, which MuJoCo keeps above 1e-4. The
        accelerations are an analytic function of it, so that a few softnesses tell the rigid value, at zero, as long as
        they are small beside the stiffness of the constraints (`untold`).
        """
        rows = self.put(x, rates)
        places = [self.m.coordinate_names.index(name) for name in self.m.structure.actuated]
        self.data.qfrc_applied[:] = rows[places].T @ tau
        found = np.zeros(len(rows))
        for soft in SOFTNESS:
            self.model.eq_solimp[:, :2] = 1 / (1 + soft)
            mujoco.mj_forward(self.model, self.data)
            weight = np.prod([-other / (soft - other) for other in SOFTNESS if other != soft])
            found += weight * (rows @ self.data.qacc)
        return found, np.abs(rows).max(axis=1) > 0

    def untold(self) -> float:
        """The share of a constraint's acceleration that `accelerations` may miss, at the state it was called with.

        A constraint force answers to softness s as 1 / (stiffness + s), with the eigenvalues of A = J M^-1 J', scaled
        by MuJoCo's R for s = 1, as stiffnesses. A polynomial through values at s_1, s_2, ... misses the product of
        s_k / (stiffness + s_k) of that at s = 0. Redundant rows have no stiffness, no force and no share.
        """
        nv, rows = self.model.nv, self.data.nefc
        J = self.data.efc_J.reshape(rows, nv)
        M = np.zeros((nv, nv))
        for column, unit in zip(M, np.eye(nv), strict=True):
            mujoco.mj_mulM(self.model, self.data, column, unit)
        scale = np.sqrt(SOFTNESS[-1] / self.data.efc_R)
        stiffness = np.linalg.eigvalsh(scale[:, None] * (J @ np.linalg.solve(M, J.T)) * scale)
        least = stiffness[stiffness > NO_STIFFNESS * stiffness[-1]][0]
        return float(np.prod([soft / (least + soft) for soft in SOFTNESS]))

    def tree_forces(self, x: Array, rates: Array, accelerations: Array) -> Array:
        """M v' + bias of the tree alone, at these rates and accelerations of all joints."""
        rows = self.put(x, rates)
        mujoco.mj_forward(self.model, self.data)
        force = np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, self.data, force, rows.T @ accelerations)
        return np.asarray(rows @ (force + self.data.qfrc_bias))
