"""The MJCF reader against MuJoCo itself, and against files that are wrong or not supported."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import tauforge as tf
from support.mjcf_texts import FOUR_BAR, TREE, WELDED
from support.tolerances import CLOSED, OUTSIDE, PLACED, error, error_beside
from tauforge.errors import ModelError, TauforgeWarning, UnsupportedFeatureError

STATES = 4


def body_name(name: str) -> str:
    return "world" if name == "ground" else name


class Reference:
    """The same file in MuJoCo, at a position of ours; `B` takes our rates to MuJoCo's."""

    def __init__(self, text: str, mechanism: tf.Mechanism) -> None:
        self.model = mujoco.MjModel.from_xml_string(text.replace('<geom type="mesh" mesh="nowhere" group="3"/>', ""))
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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<weld", "<weld"),
        ('body2="coupler"', 'body2="coupler" relpose="-0.5 -0.1 0 1 0 0 0"'),
        ('body2="coupler"', 'body2="coupler" relpose="-0.2 0 0.2 1 0 0 0" anchor="0.3 0.1 0.2"'),
        ('body2="coupler"', 'body2="coupler" anchor="0.3 0.1 0.2"'),
        ('body1="stub" body2="coupler"', 'body1="coupler" body2="stub"'),
        ('pos="0.1 0.3 0"><joint name="pin"/>', 'pos="0.1 0.3 0" euler="0 0 25"><joint name="pin"/>'),
    ],
)
def test_a_weld_that_closes_a_loop_agrees_with_mujoco(old: str, new: str) -> None:
    """MuJoCo's own weld is closed at our positions, and its Jacobian gives the accelerations from rest."""
    assert old in WELDED
    text = WELDED.replace(old, new, 1)
    mechanism = tf.loads(text)
    assert isinstance(mechanism, tf.Mechanism)
    assert mechanism.n == 1
    reference = Reference(text, mechanism)
    model, data = reference.model, reference.data
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    draw = np.random.default_rng(5)
    x = mechanism.configuration(draw.uniform(-0.4, 0.4, (STATES, 1)))
    tau = draw.uniform(-2, 2, (STATES, 1))
    qdd = mechanism.forward_dynamics(x, np.zeros((STATES, 1)), tau)
    frames = mechanism.body_frames(x)
    joints = [model.joint(name).id for name in ("drive", "knee", "swing", "pin")]
    places = [mechanism.coordinate_names.index(name) for name in ("drive", "knee", "swing", "pin")]
    for k in range(STATES):
        data.qpos[model.jnt_qposadr[joints]] = x[k, places]
        M = reference.mass_matrix()
        assert (data.ne, data.nefc) == (6, 6)
        assert np.abs(data.efc_pos).max() < CLOSED
        S = np.linalg.svd(data.efc_J.reshape(6, model.nv))[2][-1:].T  # 3 of 6 rows: all axes are parallel
        free = np.zeros(model.nv)
        free[model.joint("drive").dofadr[0]] = tau[k, 0]
        expected = (S @ np.linalg.solve(S.T @ M @ S, S.T @ (free - data.qfrc_bias)))[model.joint("drive").dofadr[0]]
        assert error(qdd[k], [expected]) < OUTSIDE
        for b, body in enumerate(mechanism.bodies):
            own = data.body(body.name)
            assert np.abs(frames[k, b, :3, 3] - own.xpos).max() < PLACED
            assert np.abs(frames[k, b, :3, :3] - own.xmat.reshape(3, 3)).max() < PLACED


def test_a_weld_elsewhere_than_the_file_puts_the_bodies_is_refused() -> None:
    elsewhere = 'body2="coupler" relpose="-0.5 -0.1 0 1 0 0 0" anchor="0.3 0.1 0.2"'
    with pytest.raises(UnsupportedFeatureError, match=r"weld relpose: relpose differs by 0\.3 from where"):
        tf.loads(WELDED.replace('body2="coupler"', elsewhere))


# --------------------------------------------------------------------------------------------- equalities and springs


def test_a_joint_equality_couples_joints_and_the_motor_leads() -> None:
    coupled = '<equality><joint joint1="drive" joint2="swing" polycoef="0 0.5 0 0 0"/></equality>'
    text = FOUR_BAR.replace(FOUR_BAR[FOUR_BAR.index("<equality>") : FOUR_BAR.index("<actuator>")], coupled)
    mechanism = tf.loads(text)
    assert isinstance(mechanism, tf.Mechanism)
    joints = {joint.name: joint for joint in mechanism.joints}
    assert joints["swing"].mimic == ("drive", 2.0, 0.0)
    assert joints["drive"].mimic is None


def test_actuators_stand_in_the_order_of_the_file() -> None:
    inertial = '<inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.01 0.01"/>'
    bodies = "".join(f'<body><joint name="{name}" axis="0 1 0"/>{inertial}</body>' for name in "abcd")
    motors = "".join(f'<motor joint="{name}" ctrlrange="-{k} {k}"/>' for k, name in enumerate("dac", 1))
    m = tf.loads(f"<mujoco><worldbody>{bodies}</worldbody><actuator>{motors}</actuator></mujoco>")
    assert isinstance(m, tf.Mechanism)
    assert [actuator.name for actuator in m.actuators] == ["d", "a", "c"]
    assert m.max_forces.tolist() == [1.0, 2.0, 3.0]
    assert [joint.name for joint in m.joints] == ["d", "b", "a", "c"]  # others stay where they are


def test_sites_that_are_apart_are_brought_together() -> None:
    text = FOUR_BAR.replace(
        'fromto="0 0 0 0.5 0.1 0" size="0.01"/>', 'size="0.01 0.1"/><site name="a" pos="0.5 0.1 0"/>'
    )
    text = text.replace(
        'fromto="0 0 0 0.1 0.3 0" size="0.01"/>', 'size="0.01 0.1"/><site name="b" pos="0.1 0.28 0.0"/>'
    )
    text = text.replace('body1="coupler" body2="rocker" anchor="0.5 0.1 0"', 'site1="a" site2="b"')
    mechanism = tf.loads(text)
    assert isinstance(mechanism, tf.Mechanism)
    assert mechanism.loop_gap(mechanism.home) < CLOSED
    ends = [
        mechanism.forward_kinematics(mechanism.home, body) @ (*place, 1.0)
        for body, place in (("coupler", (0.5, 0.1, 0.0)), ("rocker", (0.1, 0.28, 0.0)))
    ]
    assert np.abs(ends[0] - ends[1]).max() < CLOSED


def test_a_spring_between_sites_agrees_with_mujoco() -> None:
    text = """<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><site name="s" pos="0.3 0.1 0.2"/>
      <body name="bar"><joint name="turn" axis="0 1 0.3"/><inertial pos="0 0 0.2" mass="1" diaginertia="0.1 0.1 0.1"/>
      <site name="t" pos="0.1 0 0.3"/></body></worldbody>
      <tendon><spatial stiffness="70" springlength="0.15" damping="3"><site site="s"/><site site="t"/></spatial>
      </tendon>
      </mujoco>"""
    mechanism = tf.loads(text)
    assert isinstance(mechanism, tf.Mechanism)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = 0.4, -0.7
    mujoco.mj_forward(model, data)
    ours = mechanism.forward_dynamics([0.4], [-0.7], [])
    assert error(ours, data.qacc) < OUTSIDE


# ------------------------------------------------------------------------------------------------------- bad files


@pytest.mark.fault(1)
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('mass="2.5"', 'mass="-2.5"', "inertial mass: expected a mass >= 0, got -2.5"),
        ('mass="2.5"', 'mass="nan"', "inertial mass: expected a finite number, got 'nan'"),
        ('diaginertia="0.03 0.04 0.05"', "", "inertial: diaginertia or fullinertia is missing"),
        ('axis="1 2 3"', 'axis="0 0 0"', "joint axis: the axis is zero"),
        ('range="-90 120"', 'range="120 -90"', "pan.limits: the lower limit"),
        ('name="bend"', 'name="pan"', "joint name: there is a second joint named 'pan'"),
        ('name="hand"', 'name="elbow"', "body name: there is a second body named 'elbow'"),
        ('class="lighter"/>\n            <in', 'class="heavy"/>\n            <in', "no default class 'heavy'"),
        ('type="ball"', 'type="universal"', "unknown joint type 'universal'"),
        ('joint="pan" gear', 'joint="pam" gear', "actuator joint: there is no joint named 'pam'"),
        ('ref="15"', 'reff="15"', "joint: unknown attribute 'reff'. Did you mean ref?"),
        ('angle="degree"', 'angle="grad"', "compiler angle: expected degree or radian, got 'grad'"),
        ('quat="1 0.2 0.3 -0.1"', 'quat="0 0 0 0"', "inertial quat: the quaternion is zero"),
        ("<body name=", '<joint name="x"/><body name=', "<joint> cannot stand in the worldbody"),
    ],
)
def test_a_bad_file_is_refused(old: str, new: str, says: str) -> None:
    assert old in TREE
    with pytest.raises(ModelError) as caught:
        tf.loads(TREE.replace(old, new, 1))
    assert says in str(caught.value)
    assert "<text>" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('range="-90 120"', 'stiffness="3"', "stiffness of joints is not supported"),
        ("<worldbody>", "<extension/><worldbody>", "<extension> is not supported"),
        ('<site name="grip"', '<composite/><site name="grip"', "<composite> in a body is not supported"),
        ('<geom type="ellipsoid" size="0.03 0.04 0.1" mass="0.3"/>', '<geom type="mesh" mesh="a"/>', "type 'mesh'"),
        ('<geom type="ellipsoid"', '<geom shellinertia="true" type="ellipsoid"', "shellinertia is not supported"),
        ('angle="degree"', 'angle="degree" coordinate="global"', "only local coordinates"),
        ('gravity="0.3', 'density="1.2" gravity="0.3', "forces of the medium (density)"),
        ('joint="bend"', 'tendon="t"', "only actuators that act on a joint are supported"),
        ('joint="bend"', 'joint="wrist"', "actuators of a Spherical are not supported"),
        ("<actuator>", '<tendon><fixed stiffness="2"><joint joint="pan"/></fixed></tendon><actuator>', "two sites"),
        ("<actuator>", '<equality><flex flex="a"/></equality><actuator>', "equality <flex> is not supported"),
        ('name="drone"', 'name="drone" mocap="true"', "mocap bodies"),
        ('name="drone"', 'name="drone" gravcomp="1"', "gravcomp"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(old: str, new: str, says: str) -> None:
    assert old in TREE
    with pytest.raises(UnsupportedFeatureError) as caught:
        tf.loads(TREE.replace(old, new, 1))
    assert says in str(caught.value)
    assert caught.value.line is not None


def test_laws_of_servos_are_left_out_with_a_warning() -> None:
    with pytest.warns(TauforgeWarning, match="left out: the law of <position> on joint 'bend', line"):
        mechanism = tf.loads(TREE.replace('<motor name="m3" joint="bend"/>', '<position joint="bend" kp="3"/>'))
    assert len(mechanism.actuators) == 3


@pytest.mark.parametrize("option", [{"tip": "hand"}, {"lock": {}}, {"loops": []}, {"home": {}}])
def test_options_of_urdf_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="applies to URDF files only"):
        tf.loads(TREE, **option)


@pytest.mark.fault(2)
def test_mutants_give_a_robot_or_a_model_error(tmp_path: Path) -> None:
    draw = np.random.default_rng(8)
    text, robots = np.frombuffer(TREE.encode(), np.uint8), 0
    for _ in range(150):
        mutant = text.copy()
        places = draw.integers(len(mutant), size=2)
        mutant[places] = draw.choice(text, 2)
        path = tmp_path / "robot.xml"
        path.write_bytes(mutant.tobytes())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = read_or_refuse(path)
        if isinstance(result, tf.Mechanism):
            robots += 1
            assert np.isfinite(result.home).all()
        else:
            assert "robot.xml" in str(result)
    assert 0 < robots < 150  # both outcomes were met


def read_or_refuse(path: Path) -> Any:
    try:
        return tf.load(path)
    except ModelError as refusal:
        return refusal
