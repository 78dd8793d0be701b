"""Lee's PUMA without our library: numbers of the catalogue's file, Pinocchio's dynamics, loops in numpy.

Nothing here calls tauforge, so that a fault of a formulation, of a control law or of the simulation shows.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

START, END = np.deg2rad([[-90.0, 180, 270, 180, 0, 0], [-135.0, 210, 180, 225, -60, 90]])
RAW = tomllib.loads((files("tauforge") / "formats/catalogue/puma560.toml").read_text())["joint"]
LIMITS = np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3])  # N m, Armstrong, Khatib & Burdick 1986


def number(value):
    """A number, or a text such as "-pi/2"."""
    return float(eval(value, {"pi": np.pi}, {})) if isinstance(value, str) else float(value)


def dh(joint):
    """What follows the turn about z: Trans(z, d) Trans(x, a) Rot(x, alpha)."""
    alpha = number(joint["alpha"])
    c, s = np.cos(alpha), np.sin(alpha)
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return R, np.array([number(joint["a"]), 0.0, number(joint["d"])])


def puma(rotors=False, load=None):
    """load: kg of a point mass 0.05 m along the last axis of the hand."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -9.8])
    parent, place = 0, pin.SE3.Identity()
    for joint in RAW:
        assert number(joint["theta"]) == 0
        parent = model.addJoint(parent, pin.JointModelRZ(), place, joint["name"])
        place = pin.SE3(*dh(joint))
        inertia = np.diag([number(x) for x in joint["inertia"]])
        body = pin.Inertia(number(joint["mass"]), np.array([number(x) for x in joint["com"]]), inertia)
        model.appendBodyToJoint(parent, body, place)
    if load is not None:
        point = pin.Inertia(load, np.array([0.0, 0.0, 0.05]), np.zeros((3, 3)))
        model.appendBodyToJoint(parent, point, place)
    drives = [number(joint["motor_inertia"]) * number(joint["gear_ratio"]) ** 2 for joint in RAW]
    model.armature = np.array(drives) if rotors else np.zeros(6)
    return model


class Arm:
    """Pinocchio's dynamics of one model."""

    def __init__(self, *args, **options):
        self.model = puma(*args, **options)
        self.data = self.model.createData()

    def torque(self, q, qd, qdd):
        return np.array(pin.rnea(self.model, self.data, q, qd, qdd))

    def acceleration(self, q, qd, tau):
        return np.array(pin.aba(self.model, self.data, q, qd, tau))

    def inertia(self, q):
        M = np.triu(pin.crba(self.model, self.data, q))
        return M + np.triu(M, 1).T


def quintic(t, duration, start=START, end=END):
    """Position, velocity and acceleration."""
    x = min(max(t / duration, 0.0), 1.0)
    s = x**3 * (10 - 15 * x + 6 * x**2)
    v = 30 * x**2 * (1 - x) ** 2 / duration
    a = 60 * x * (1 - x) * (1 - 2 * x) / duration**2
    way = end - start
    return start + s * way, v * way, a * way


def rk4(f, y, h):
    a = f(y)
    b = f(y + h / 2 * a)
    c = f(y + h / 2 * b)
    d = f(y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


def tracked(
    target,
    duration,
    arm,
    plant=None,
    kp=100.0,
    kv=20.0,
    period=0.01,
    delay=0,
    offset=0.0,
    limits=None,
    steps=5,
    law=None,
    state=None,
):
    """(k, 6) errors at the sampling instants under computed torque with held torques, and the state at the end.

    target: t -> position, velocity, acceleration; delay: steps after which the torques of a sample act; law: (q, qd,
    target) -> torque, in place of computed torque
    """
    plant = arm if plant is None else plant
    y = np.concatenate([target(0.0)[0] - offset, np.zeros(6)]) if state is None else state
    errors, tau = [], None
    h = period / steps

    def rates(y):
        return np.concatenate([y[6:], plant.acceleration(y[:6], y[6:], tau)])

    def computed(q, qd, wanted):
        p, v, a = wanted
        return arm.torque(q, qd, a + kv * (v - qd) + kp * (p - q))

    for k in range(round(duration / period) + 1):
        wanted = target(k * period)
        errors.append(wanted[0] - y[:6])
        if k == round(duration / period):
            break
        new = (law or computed)(y[:6], y[6:], wanted)
        new = new if limits is None else np.clip(new, -limits, limits)
        tau = new if tau is None else tau
        for i in range(steps):
            if i == delay:
                tau = new
            y = rk4(rates, y, h)
    return np.array(errors), y


def move_errors(duration, rotors=False, **options):
    arm = Arm(rotors)
    return tracked(lambda t: quintic(t, duration), duration, arm, **options)[0]


def base_frame_torques(q, qd, qdd):
    """Lee's 3.11-3.19, all vectors in the base frame."""
    g = np.array([0.0, 0.0, 9.8])
    R, omega, alpha, a = np.eye(3), np.zeros(3), np.zeros(3), g
    links = []
    for joint, q_i, v, w in zip(RAW, q, qd, qdd, strict=True):
        z = R[:, 2]
        alpha = alpha + np.cross(omega, v * z) + w * z  # 3.12
        omega = omega + v * z  # 3.11
        c, s = np.cos(q_i), np.sin(q_i)
        turn = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
        fixed, shift = dh(joint)
        r, R = turn @ shift, turn @ fixed
        r_bar = R @ np.array([number(x) for x in joint["com"]])
        inertia = R @ np.diag([number(x) for x in joint["inertia"]]) @ R.T
        a = np.cross(omega, np.cross(omega, r)) + np.cross(alpha, r) + a  # 3.13
        a_bar = np.cross(omega, np.cross(omega, r_bar)) + np.cross(alpha, r_bar) + a  # 3.14
        force = number(joint["mass"]) * a_bar  # 3.15
        moment = np.cross(omega, inertia @ omega) + inertia @ alpha  # 3.16
        links.append((z, r, r_bar, force, moment))
    f, n, tau = np.zeros(3), np.zeros(3), []
    for z, r, r_bar, force, moment in reversed(links):
        n = moment + np.cross(r_bar + r, force) + np.cross(r, f) + n  # 3.18
        f = force + f  # 3.17
        tau.append(z @ n)  # 3.19
    return np.array(tau[::-1])


def jacobian(q, h=1e-6):
    """(6, 6) of the hand, velocities above angular velocities, from differences of its frame."""
    model = puma()
    data = model.createData()
    hand = pin.SE3(*dh(RAW[-1]))

    def tool(q):
        pin.forwardKinematics(model, data, q)
        return data.oMi[6] * hand

    columns = []
    for e in np.eye(6):
        a, b = tool(q + h * e), tool(q - h * e)
        turn = pin.log3(a.rotation @ b.rotation.T)
        columns.append(np.concatenate([a.translation - b.translation, turn]) / (2 * h))
    return np.array(columns).T


def fastest_duration(rotors):
    """s: the phase plane by scipy, full speed from the start and full brake to the end, within LIMITS."""
    arm, way, none = Arm(rotors), END - START, np.zeros(6)

    def bounds(s, x):
        q = START + s * way
        g = arm.torque(q, none, none)
        b = arm.torque(q, way, none) - g
        ends = (np.array([-LIMITS, LIMITS]) - b * x - g) / (arm.inertia(q) @ way)
        return ends.min(axis=0).max(), ends.max(axis=0).min()

    options = {"rtol": 1e-6, "max_step": 0.005, "dense_output": True}
    up = solve_ivp(lambda s, x: [2 * bounds(s, x[0])[1]], (0, 1), [0.0], **options).sol
    down = solve_ivp(lambda r, x: [-2 * bounds(1 - r, x[0])[0]], (0, 1), [0.0], **options).sol
    s = np.linspace(0, 1, 20001)
    rate = np.sqrt(np.maximum(np.minimum(up(s)[0], down(1 - s)[0]), 1e-12))
    return (np.diff(s) / ((rate[1:] + rate[:-1]) / 2)).sum()
