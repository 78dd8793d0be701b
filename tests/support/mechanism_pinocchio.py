"""A mechanism in Pinocchio, from the public description alone: a spanning tree of its own, loops by rigid constraints.

Joints of several freedoms are chains of joints about or along one axis. Every frame has the world's axes in the home
position. Where a loop is closed the child is split in two: a share of its mass hangs from the loop's joint, and both
parts are welded together by six rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import tauforge as tf
from support.mechanism_witness import turned
from tauforge.robots.mechanism.parts import MechanismJoint

Array = NDArray[Any]
SHARE = 0.25  # of a body's mass that hangs from a loop's joint
PROXIMAL = {"accuracy": 1e-15, "mu": 1e-6, "max_iter": 200}  # redundant constraints need several steps


def shifted(p: Any) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array(p, float))


def split(joint: MechanismJoint) -> str:
    """The body that is split where a loop is closed by a weld: one with mass."""
    return joint.parent if joint.child == "ground" else joint.child


class Passed(NamedTuple):
    """A joint of the mechanism in Pinocchio's model: its joints in order, and whether the child is inside."""

    joint: MechanismJoint
    ids: list[int]
    inverted: bool


class PinocchioMechanism:
    """welded: close loops at balls by welds too. Three rows of a point are right at rest alone: their drift is not."""

    def __init__(self, m: tf.Mechanism, *, welded: bool = True) -> None:
        assert not m.structure.floating
        self.welded = welded
        self.m = m
        self.model = pin.Model()
        self.model.gravity.linear = np.array(m.gravity)
        self.origins = {"ground": np.zeros(3)} | {body.name: np.array(body.origin) for body in m.bodies}
        self.on = {"ground": (0, np.zeros(3))}  # joint and its origin at home
        self.passed: dict[str, Passed] = {}
        self.armature: list[float] = []
        reached, left = {"ground"}, list(m.joints)
        self.outward: dict[str, list[MechanismJoint]] = {name: [] for name in self.origins}
        while outward := [j for j in left if (j.parent in reached) != (j.child in reached)]:
            joint = outward[0]
            inner, outer = (joint.child, joint.parent) if joint.child in reached else (joint.parent, joint.child)
            self.outward[inner].append(joint)
            reached.add(outer)
            left.remove(joint)
        copies = [split(joint) for joint in left if self._by_weld(joint)]
        self.copies: dict[str, tuple[int, Array]] = {}
        self.closing = left
        self._grow("ground")
        self.constraints = [self._closed(joint) for joint in left]
        for body in m.bodies:
            self._put(self.on[body.name], body, 1.0 - SHARE * copies.count(body.name))
        self.model.armature = np.array(self.armature)
        self.data = self.model.createData()
        self.constraint_data = [c.createData() for c in self.constraints]

    def _by_weld(self, joint: MechanismJoint) -> bool:
        return self.welded or not isinstance(joint, tf.Spherical)

    def _grow(self, inner: str) -> None:
        """Depth first: constraintDynamics is wrong where the joints of a subtree are not numbered one after another."""
        for joint in self.closing:
            if self._by_weld(joint) and inner in (joint.parent, joint.child) and inner != split(joint):
                self.copies[joint.name] = self._add(joint, inner, joint.child == inner)
        for joint in self.outward[inner]:
            inverted = joint.child == inner
            outer = joint.parent if inverted else joint.child
            self.on[outer] = self._add(joint, inner, inverted)
            self._grow(outer)

    def _put(self, place: tuple[int, Array], body: tf.Body, share: float) -> None:
        k, origin = place
        inertia = pin.Inertia(body.mass * share, np.array(body.com) - origin, np.array(body.inertia) * share)
        self.model.appendBodyToJoint(k, inertia, pin.SE3.Identity())

    def _add(self, joint: MechanismJoint, inner: str, inverted: bool) -> tuple[int, Array]:
        k, origin = self.on[inner]
        at, sign = np.array(joint.at), -1.0 if inverted else 1.0
        kinds: list[tuple[Any, Array]]
        turning, sliding = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
        match joint:
            case tf.Hinge():
                kinds = [(turning(sign * np.array(joint.axis)), at)]
            case tf.Slider():
                kinds = [(sliding(sign * np.array(joint.axis)), at)]
            case tf.Cylinder():
                kinds = [(kind(sign * np.array(joint.axis)), at) for kind in (turning, sliding)]
            case tf.Universal():
                kinds = [(turning(sign * np.array(axis)), at) for axis in joint.axes]
            case tf.Planar():
                axes = [np.array(joint.along), np.cross(joint.axis, joint.along)]
                kinds = [(sliding(sign * axis), at) for axis in axes] + [(turning(sign * np.array(joint.axis)), at)]
            case tf.Spherical():
                kinds = [(pin.JointModelSpherical(), at)]
            case tf.Free():
                assert not inverted
                kinds = [(pin.JointModelFreeFlyer(), self.origins[inner])]
            case _:
                kinds = []
        ids = []
        for i, (kind, point) in enumerate(kinds[::-1] if inverted else kinds):
            k = self.model.addJoint(k, kind, shifted(point - origin), f"{joint.name}.{i}")
            self.armature += [joint.motor_inertia * joint.gear_ratio**2] * kind.nv
            origin = self.origins[joint.child] if isinstance(joint, tf.Free) else point
            ids.append(k)
        self.passed[joint.name] = Passed(joint, ids[::-1] if inverted else ids, inverted)
        return k, origin

    def _closed(self, joint: MechanismJoint) -> pin.RigidConstraintModel:
        if self._by_weld(joint):
            k, origin = self.copies[joint.name]
            body = next(body for body in self.m.bodies if body.name == split(joint))
            self._put((k, origin), body, SHARE)
            kind, point, other = pin.ContactType.CONTACT_6D, origin, self.on[body.name]
        else:
            (k, origin), other = self.on[joint.parent], self.on[joint.child]
            kind, point = pin.ContactType.CONTACT_3D, np.array(joint.at)
        first, second = shifted(point - origin), shifted(point - other[1])
        return pin.RigidConstraintModel(kind, self.model, k, first, other[0], second, pin.ReferenceFrame.LOCAL)

    # -------------------------------------------------------------------------------------------------------- states

    def configuration(self, x: Array) -> Array:
        q = pin.neutral(self.model)
        first = 0
        for joint in self.m.joints:
            own = x[first : first + len(joint.letters)]
            first += len(joint.letters)
            if joint.name not in self.passed:
                continue
            _, ids, inverted = self.passed[joint.name]
            if isinstance(joint, tf.Spherical | tf.Free):
                R = turned(own[-3:])
                quaternion = pin.Quaternion(R.T if inverted else R).coeffs()
                place = self.model.joints[ids[0]]
                q[place.idx_q : place.idx_q + place.nq] = np.concatenate([own[:-3], quaternion])
            else:
                for k, value in zip(ids, own - np.array(joint.home), strict=True):
                    q[self.model.joints[k].idx_q] = value
        return q

    def rows(self, x: Array) -> dict[str, Array]:
        """For each coordinate of the mechanism the row by which its rate follows from Pinocchio's v."""
        found, first = {}, 0
        for joint in self.m.joints:
            own = x[first : first + len(joint.letters)]
            first += len(joint.letters)
            if joint.name not in self.passed:
                continue
            _, ids, inverted = self.passed[joint.name]
            if isinstance(joint, tf.Spherical | tf.Free):
                at, R = self.model.joints[ids[0]].idx_v, turned(own[-3:])
                for i, name in enumerate(joint.coordinate_names):
                    row = np.zeros(self.model.nv)
                    block = 3 * (i // 3)
                    row[at + block : at + block + 3] = -np.eye(3)[i % 3] if inverted else R[i % 3]
                    found[name] = row
            else:
                for k, name in zip(ids, joint.coordinate_names, strict=True):
                    found[name] = np.eye(self.model.nv)[self.model.joints[k].idx_v]
        return found

    def velocity(self, x: Array, qd: Array) -> Array:
        """v with which all constraints hold and the independent rates are qd."""
        rows, q = self.rows(x), self.configuration(x)
        picked = np.array([rows[name] for name in self.m.structure.independent])
        ties = [
            rows[j.name] - j.mimic[1] * rows[j.mimic[0]] for j in self.m.joints if j.mimic and j.name in self.passed
        ]
        matrix, right = np.vstack([picked, *ties]), np.concatenate([qd, np.zeros(len(ties))])
        if self.constraints:
            pin.computeJointJacobians(self.model, self.data, q)
            J = pin.getConstraintsJacobian(self.model, self.data, self.constraints, self.constraint_data)
            matrix, right = np.vstack([matrix, J]), np.concatenate([right, np.zeros(len(J))])
        v = np.linalg.lstsq(matrix, right, rcond=None)[0]
        assert np.abs(matrix @ v - right).max() < 1e-9 * max(1.0, np.abs(v).max())
        return v

    def forces(self, x: Array, v: Array, tau: Array, external_wrench: Array | None = None) -> Array:
        """Pinocchio's tau: actuators less friction, and the wrench on the tool body."""
        rows = self.rows(x)
        total = np.zeros(self.model.nv)
        for name, force in zip(self.m.structure.actuated, tau, strict=True):
            total += rows[name] * force
        for joint in self.m.joints:
            for name in joint.coordinate_names if joint.name in self.passed else ():
                rate = float(rows[name] @ v)
                plus, minus = joint.coulomb
                G = abs(joint.gear_ratio)
                coulomb = plus if rate > 0 else -minus if rate < 0 else 0.0
                total -= rows[name] * (joint.viscous * G * G * rate + G * coulomb)
        if external_wrench is not None:
            k, origin = self.on[self.m.tool_body]
            q = self.configuration(x)
            frame = self.model.addFrame(
                pin.Frame("tool", k, 0, shifted(self.origins[self.m.tool_body] - origin), pin.FrameType.OP_FRAME)
            )
            data = self.model.createData()
            J = pin.computeFrameJacobian(self.model, data, q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            total += J.T @ external_wrench
        return total

    # ------------------------------------------------------------------------------------------------------ dynamics

    def forward(self, x: Array, qd: Array, tau: Array, external_wrench: Array | None = None) -> Array:
        """Accelerations of all of Pinocchio's rates."""
        q, v = self.configuration(x), self.velocity(x, qd)
        force = self.forces(x, v, tau, external_wrench)
        if not self.constraints:
            return pin.aba(self.model, self.model.createData(), q, v, force)
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)
        settings = pin.ProximalSettings(PROXIMAL["accuracy"], PROXIMAL["mu"], int(PROXIMAL["max_iter"]))
        return np.array(
            pin.constraintDynamics(self.model, self.data, q, v, force, self.constraints, self.constraint_data, settings)
        )

    def independent(self, x: Array, rates: Array) -> Array:
        rows = self.rows(x)
        return np.array([rows[name] @ rates for name in self.m.structure.independent])

    def accelerations(self, x: Array, qd: Array, tau: Array, external_wrench: Array | None = None) -> Array:
        """Those of the independent coordinates. A free joint moves in its parent's axes, Pinocchio's in its own."""
        rates, v = self.forward(x, qd, tau, external_wrench), self.velocity(x, qd)
        for joint, ids, _ in self.passed.values():
            if isinstance(joint, tf.Free):
                at = self.model.joints[ids[0]].idx_v
                rates[at : at + 3] += np.cross(v[at + 3 : at + 6], v[at : at + 3])
        return self.independent(x, rates)

    def wrenches(self, x: Array, qd: Array, tau: Array) -> tuple[Array, float]:
        """(joints, 6) on the child at the joint, world axes; and by how much the equations are not met."""
        a = self.forward(x, qd, tau)
        q, v = self.configuration(x), self.velocity(x, qd)
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, q)
        external = pin.StdVec_Force([pin.Force.Zero() for _ in range(self.model.njoints)])
        found = {}
        for joint, c, own in zip(self.closing, self.constraints, self.constraint_data, strict=True):
            on_first = data.oMi[c.joint1_id].act(c.joint1_placement).act(own.contact_force)
            external[c.joint1_id] += data.oMi[c.joint1_id].actInv(on_first)
            external[c.joint2_id] -= data.oMi[c.joint2_id].actInv(on_first)
            if not self._by_weld(joint):
                found[joint.name] = -on_first
        force = pin.rnea(self.model, data, q, v, a, external) + self.model.armature * a
        wanted = self.forces(x, v, tau)
        residual = float(np.abs(force - wanted).max() / np.abs(force).max())
        result = np.empty((len(self.m.joints), 6))
        for i, joint in enumerate(self.m.joints):
            if joint.name not in found:
                _, ids, inverted = self.passed[joint.name]
                last = ids[0] if inverted else ids[-1]
                w = data.oMi[last].act(data.f[last])
                found[joint.name] = -w if inverted else w
            w = found[joint.name]
            k, origin = self.on[joint.child]
            point = data.oMi[k].act(np.array(joint.at) - origin)
            result[i] = np.concatenate([w.linear, w.angular - np.cross(point, w.linear)])
        return result, residual
