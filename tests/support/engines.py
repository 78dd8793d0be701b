"""The same arm in other people's engines: Pinocchio and MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

import tauforge as tf


def se3(T) -> pin.SE3:
    T = np.array(T)
    return pin.SE3(T[:3, :3], T[:3, 3])


def offset_transform(joint: tf.Joint) -> np.ndarray:
    """The joint's constant offset as a displacement."""
    T = np.eye(4)
    if joint.kind == "R":
        c, s = np.cos(joint.offset), np.sin(joint.offset)
        T[:2, :2] = [[c, -s], [s, c]]
    else:
        T[2, 3] = joint.offset
    return T


def configuration(model: Any, coordinates: Mapping[str, float]) -> np.ndarray:
    """Pinocchio's q, in which a continuous joint is a cosine and a sine."""
    q = pin.neutral(model)
    for name, value in coordinates.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if joint.nq == 2 else value
    return q


def pinocchio_model(arm: tf.SerialArm, *, moving_base: bool = False) -> pin.Model:
    """Joint by joint; the tool is the frame "tool", reflected rotor inertias are Pinocchio's armature.

    With a moving base the first joint is a free flyer whose frame is the arm's base frame.
    """
    model = pin.Model()
    model.gravity.linear = np.array(arm.gravity)
    parent, placement = 0, np.array(arm.base)
    if moving_base:
        parent = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        placement = np.eye(4)
    for joint in arm.joints:
        kind = pin.JointModelRZ() if joint.kind == "R" else pin.JointModelPZ()
        place = placement @ np.array(joint.before) @ offset_transform(joint)
        parent = model.addJoint(parent, kind, se3(place), joint.name)
        body = pin.Inertia(joint.mass, np.array(joint.com), np.array(joint.inertia))
        model.appendBodyToJoint(parent, body, se3(joint.after))
        placement = np.array(joint.after)
    model.addFrame(pin.Frame("tool", parent, 0, se3(placement @ np.array(arm.tool)), pin.FrameType.OP_FRAME))
    rotors = [joint.motor_inertia * joint.gear_ratio**2 for joint in arm.joints]
    model.armature = np.concatenate([np.zeros(6), rotors]) if moving_base else np.array(rotors)
    return model


def mujoco_model(arm: tf.SerialArm) -> mujoco.MjModel:
    def numbers(values) -> str:
        return " ".join(repr(float(x)) for x in values)

    def place(T) -> str:
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, np.array(T)[:3, :3].reshape(-1))
        return f'pos="{numbers(np.array(T)[:3, 3])}" quat="{numbers(quaternion)}"'

    opened, placement = "", np.array(arm.base)
    for joint in arm.joints:
        T = placement @ np.array(joint.before) @ offset_transform(joint)
        after = np.array(joint.after)
        com = after[:3, :3] @ joint.com + after[:3, 3]
        I = after[:3, :3] @ np.array(joint.inertia) @ after[:3, :3].T
        entries = numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        kind = "hinge" if joint.kind == "R" else "slide"
        rotor = joint.motor_inertia * joint.gear_ratio**2
        opened += f'<body {place(T)}><joint type="{kind}" axis="0 0 1" armature="{rotor!r}"/>'
        opened += f'<inertial pos="{numbers(com)}" mass="{joint.mass!r}" fullinertia="{entries}"/>'
        placement = after
    xml = (
        '<mujoco><compiler angle="radian" balanceinertia="false"/>'
        f'<option gravity="{numbers(arm.gravity)}"/><worldbody>{opened}{"</body>" * arm.n}</worldbody></mujoco>'
    )
    return mujoco.MjModel.from_xml_string(xml)
