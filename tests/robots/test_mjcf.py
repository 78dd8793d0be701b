"""The MJCF reader against MuJoCo itself, and against files that are wrong or not supported."""

from __future__ import annotations

import mujoco
import numpy as np

import tauforge as tf
from support.mjcf_texts import FOUR_BAR, TREE
from support.tolerances import OUTSIDE, PLACED, error, error_beside

STATES = 4


def body_name(name: str) -> str:
    return "world" if name == "ground" else name


class Reference:
    """The same file in MuJoCo, at a position of ours; `B` takes our rates to MuJoCo's."""

    def __init__(self, text: str, mechanism: tf.Mechanism) -> None:
        self.model = mujoco.MjModel.from_xml_string(text.replace('<geom type="mesh" mesh="nowhere"/>', ""))
        self.data = mujoco.MjData(self.model)
        self.mechanism = mechanism

    def put(self, x: np.ndarray) -> np.ndarray:
        """Sets MuJoCo's position, and gives B for rates of all joints in the order of the mechanism's joints."""
        mechanism, model = self.mechanism, self.model
        frames = dict(zip((body.name for body in mechanism.bodies), mechanism.body_frames(x), strict=True))
        home = dict(zip((body.name for body in mechanism.bodies), mechanism.body_frames(mechanism.home), strict=True))
        for table in (frames, home):
            table["ground"] = np.eye(4)
        columns = sum(len(joint.letters) for joint in mechanism.joints)
        B = np.zeros((model.nv, columns))
        first = 0
        for joint in mechanism.joints:
            span = slice(first, first + len(joint.letters))
            first += len(joint.letters)
            if not joint.letters:
                continue
            k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
            if k < 0:  # without a name in the file: that of the drone's rotor
                (k,) = (j for j in range(model.njnt) if not model.joint(j).name)
            at, dof = model.jnt_qposadr[k], model.jnt_dofadr[k]
            R, parent = frames[joint.child][:3, :3], frames[joint.parent][:3, :3] @ home[joint.parent][:3, :3].T
            if len(joint.letters) == 1:
                self.data.qpos[at] = x[span][0]
                B[dof, span] = 1.0
            elif len(joint.letters) == 3:
                start = home[joint.parent][:3, :3].T @ home[joint.child][:3, :3]
                turn = (frames[joint.parent][:3, :3] @ start).T @ R
                mujoco.mju_mat2Quat(self.data.qpos[at : at + 4], turn.reshape(-1))
                B[dof : dof + 3, span] = R.T @ parent
            else:
                self.data.qpos[at : at + 3] = frames[joint.child][:3, 3]
                mujoco.mju_mat2Quat(self.data.qpos[at + 3 : at + 7], R.reshape(-1))
                B[dof : dof + 3, first - 6 : first - 3] = np.eye(3)
                B[dof + 3 : dof + 6, first - 3 : first] = R.T
        return B

    def mass_matrix(self) -> np.ndarray:
        """Row by row: it is symmetric."""
        mujoco.mj_forward(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        for k, row in enumerate(np.eye(self.model.nv)):
            mujoco.mj_mulM(self.model, self.data, M[k], row)
        return M

    def forces(self, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """What the joints' forces must be, friction included, constraints left out."""
        self.data.qvel[:], self.data.qacc[:] = velocity, acceleration
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        mujoco.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse)


def test_a_tree_agrees_with_mujoco() -> None:
    mechanism = tf.loads(TREE)
    assert isinstance(mechanism, tf.Mechanism)
    reference = Reference(TREE, mechanism)
    assert mechanism.n == reference.model.nv
    draw = np.random.default_rng(3)
    x = mechanism.home + draw.uniform(-0.6, 0.6, (STATES, len(mechanism.home)))
    qd = draw.uniform(-2, 2, (STATES, mechanism.n))
    tau = draw.uniform(-2, 2, (STATES, len(mechanism.actuators)))
    assert [c.name for c in mechanism.coordinates] == list(mechanism.coordinate_names)
    M = mechanism.mass_matrix(x)
    qdd = mechanism.forward_dynamics(x, qd, tau)
    actuated = [mechanism.coordinate_names.index(actuator.name) for actuator in mechanism.actuators]
    frames = mechanism.body_frames(x)
    for k in range(STATES):
        B = reference.put(x[k])
        expected = reference.mass_matrix()
        assert error(M[k], B.T @ expected @ B, core=2) < OUTSIDE
        forces = B.T @ reference.forces(B @ qd[k], B @ qdd[k])
        needed = np.zeros(mechanism.n)
        needed[actuated] = tau[k]
        assert error_beside(forces, needed, expected @ (B @ qdd[k])) < OUTSIDE
        for b, body in enumerate(mechanism.bodies):
            number = mujoco.mj_name2id(reference.model, mujoco.mjtObj.mjOBJ_BODY, body.name)
            if number > 0:
                assert np.abs(frames[k, b, :3, 3] - reference.data.xpos[number]).max() < PLACED
                assert np.abs(frames[k, b, :3, :3] - reference.data.xmat[number].reshape(3, 3)).max() < PLACED


def test_a_tree_has_the_limits_actuators_and_gravity_of_its_file() -> None:
    mechanism = tf.loads(TREE)
    assert isinstance(mechanism, tf.Mechanism)
    joints = {joint.name: joint for joint in mechanism.joints}
    assert joints["pan"].limits == ((np.radians(-90), np.radians(120)),)
    assert joints["pan"].home == (np.radians(15),)
    assert joints["lift"].limits == ((-0.1, 0.3),)
    assert joints["bend"].limits is None
    assert [actuator.name for actuator in mechanism.actuators] == ["pan", "lift", "bend"]
    assert mechanism.max_forces.tolist() == [30.0, 3.0, 3.0]  # of control or force, through the gear
    assert mechanism.gravity == (0.3, -0.2, -9.7)
    assert joints["tool on hand"].letters == ""


def test_a_closed_loop_moves_as_the_tree_of_mujoco_on_its_constraint() -> None:
    """Rates that keep the loop closed, from MuJoCo's own Jacobians of the two points, project its mass matrix."""
    mechanism = tf.loads(FOUR_BAR)
    assert isinstance(mechanism, tf.Mechanism)
    assert (mechanism.n, mechanism.structure.cut) == (1, ("end",))
    model = mujoco.MjModel.from_xml_string(FOUR_BAR)
    data = mujoco.MjData(model)
    x = mechanism.configuration(np.linspace(-0.4, 0.4, STATES)[:, None])
    M = mechanism.mass_matrix(x)
    tau = mechanism.inverse_dynamics(x, np.zeros((STATES, 1)), np.zeros((STATES, 1)))
    for k in range(STATES):
        data.qpos[:] = x[k, :3]
        mujoco.mj_forward(model, data)
        full = np.zeros((3, 3))
        for i, row in enumerate(np.eye(3)):
            mujoco.mj_mulM(model, data, full[i], row)
        rows = []
        for name, local in (("coupler", (0.5, 0.1, 0.0)), ("rocker", (0.1, 0.3, 0.0))):
            b = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
            J = np.zeros((3, 3))
            point = data.xmat[b].reshape(3, 3) @ local + data.xpos[b]
            mujoco.mj_jac(model, data, J, None, point, b)
            rows.append(J)
        S = np.linalg.svd(rows[0] - rows[1])[2][2]
        S = S / S[0]  # by the rate of the drive
        assert error(M[k], [[S @ full @ S]], core=2) < OUTSIDE
        assert error(tau[k], [S @ data.qfrc_bias]) < OUTSIDE
