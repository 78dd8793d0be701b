"""The arms of the benchmark, and the same arm as the other libraries want it described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import tauforge as tf


def general_arm(n: int) -> tf.SerialArm:
    """n revolute joints, every number drawn: nothing to fold, so its cost per joint stands for any long arm."""
    rng = np.random.default_rng(n)
    return tf.SerialArm.from_dh(
        joints="R" * n,
        **{key: rng.uniform(-1, 1, n) for key in ("alpha", "a", "d")},
        mass=rng.uniform(1, 2, n),
        com=rng.uniform(-0.2, 0.2, (n, 3)),
        inertia=[np.diag(rng.uniform(1, 1.5, 3)) for _ in range(n)],
    )


def ur5() -> tf.SerialArm:
    """Kinematics of the UR5, by the DH parameters that its maker publishes; every joint may turn twice."""
    return tf.SerialArm.from_dh(
        joints="RRRRRR",
        alpha=[np.pi / 2, 0, 0, np.pi / 2, -np.pi / 2, 0],
        a=[0, -0.425, -0.39225, 0, 0, 0],
        d=[0.089159, 0, 0, 0.10915, 0.09465, 0.0823],
        limits=[(-2 * np.pi, 2 * np.pi)] * 6,
        name="ur5",
    )


class Body(NamedTuple):
    """A link in the axes of its moved joint: what every library can be given."""

    name: str
    revolute: bool
    rotation: np.ndarray  # of the joint in the one before, offset included
    position: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray  # about the centre of mass
    armature: float  # reflected rotor inertia


def bodies(arm: tf.SerialArm) -> Iterator[Body]:
    before = np.array(arm.base)
    for joint in arm.joints:
        offset = np.eye(4)
        if joint.kind == "R":
            offset[:3, :3] = Rotation.from_euler("z", joint.offset).as_matrix()
        else:
            offset[2, 3] = joint.offset
        place, after = before @ np.array(joint.before) @ offset, np.array(joint.after)
        turn = after[:3, :3]
        yield Body(
            name=joint.name,
            revolute=joint.kind == "R",
            rotation=place[:3, :3],
            position=place[:3, 3],
            mass=joint.mass,
            com=turn @ joint.com + after[:3, 3],
            inertia=turn @ np.array(joint.inertia) @ turn.T,
            armature=joint.motor_inertia * joint.gear_ratio**2,
        )
        before = after


def joint_numbers(arm: tf.SerialArm) -> np.ndarray:
    """39 numbers a joint, as pinocchio_core.cpp reads them."""
    same_axes = [*np.eye(3).ravel(), 0.0, 0.0, 0.0]
    rows = []
    for body in bodies(arm):
        place = [*body.rotation.ravel(), *body.position]
        rows.append([*place, *same_axes, body.mass, *body.com, *body.inertia.ravel(), body.armature, body.revolute])
    return np.array(rows, dtype=float)


def pinocchio_model(arm: tf.SerialArm) -> Any:
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(arm.gravity)
    parent, chain = 0, list(bodies(arm))
    for body in chain:
        kind = pin.JointModelRZ() if body.revolute else pin.JointModelPZ()
        parent = model.addJoint(parent, kind, pin.SE3(body.rotation, body.position), body.name)
        model.appendBodyToJoint(parent, pin.Inertia(body.mass, body.com, body.inertia), pin.SE3.Identity())
    model.armature = np.array([body.armature for body in chain])
    return model


def mujoco_model(arm: tf.SerialArm) -> Any:
    """Masses and inertias are written after compiling.

    MuJoCo's compiler refuses those of the PUMA: link 1 has a moment about its axis only, and those of link 3 break
    the triangle inequality. mj_inverse takes them as they are.
    """
    import mujoco

    def quaternion(rotation: np.ndarray) -> np.ndarray:
        return Rotation.from_matrix(rotation).as_quat(scalar_first=True)

    spec = mujoco.MjSpec()
    spec.option.gravity = arm.gravity
    parent, chain = spec.worldbody, list(bodies(arm))
    for body in chain:
        parent = parent.add_body(pos=body.position, quat=quaternion(body.rotation))
        parent.mass, parent.ipos, parent.explicitinertial = 1.0, [0.1, 0.2, 0.3], True
        parent.inertia, parent.iquat = [0.1, 0.11, 0.12], quaternion(Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix())
        kind = mujoco.mjtJoint.mjJNT_HINGE if body.revolute else mujoco.mjtJoint.mjJNT_SLIDE
        parent.add_joint(type=kind, axis=[0, 0, 1], armature=body.armature)
    model = spec.compile()
    for k, body in enumerate(chain, start=1):
        moments, axes = np.linalg.eigh(body.inertia)
        model.body_mass[k], model.body_ipos[k], model.body_inertia[k] = body.mass, body.com, moments
        model.body_iquat[k] = quaternion(axes * np.linalg.det(axes))
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def toolbox_robot(arm: tf.SerialArm) -> Any:
    """The arm as a roboticstoolbox-python 1.5 robot, given by standard Denavit-Hartenberg parameters."""
    import roboticstoolbox as rtb

    links = []
    for joint in arm.joints:
        row, kind = joint.dh, rtb.RevoluteDH if joint.kind == "R" else rtb.PrismaticDH
        position = {"d": row.d} if joint.kind == "R" else {"theta": row.theta}
        motor = {"Jm": joint.motor_inertia, "G": joint.gear_ratio}
        body = {"m": joint.mass, "r": joint.com, "I": np.array(joint.inertia)}
        links.append(kind(a=row.a, alpha=row.alpha, offset=joint.offset, **position, **body, **motor))
    return rtb.DHRobot(links, gravity=np.array(arm.gravity))


def urdf(arm: tf.SerialArm) -> str:
    """For ADAM; a URDF knows no rotors, whose part is added by the candidate."""

    def numbers(values: np.ndarray) -> str:
        return " ".join(repr(float(x)) for x in values)

    text, parent = '<robot name="arm"><link name="base"/>', "base"
    for k, body in enumerate(bodies(arm)):
        xx, xy, xz, _, yy, yz, _, _, zz = (repr(float(x)) for x in body.inertia.ravel())
        angles = Rotation.from_matrix(body.rotation).as_euler("xyz")
        text += (
            f'<joint name="joint{k}" type="{"continuous" if body.revolute else "prismatic"}">'
            f'<parent link="{parent}"/><child link="link{k}"/><axis xyz="0 0 1"/>'
            f'<origin xyz="{numbers(body.position)}" rpy="{numbers(angles)}"/></joint>'
            f'<link name="link{k}"><inertial><mass value="{body.mass!r}"/><origin xyz="{numbers(body.com)}"/>'
            f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>'
        )
        parent = f"link{k}"
    return text + "</robot>"
