"""Ways to reduce a mechanism's equations: the same outcome, and only as many operations as the geometry needs."""

import pickle

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import ROUNDING
from tauforge.algebra.elimination import elimination_work
from tauforge.evaluation import evaluator
from tauforge.kernels.cpu import kernel

ROUNDS = 1e3 * ROUNDING  # solves with matrices whose condition numbers are a few hundred


def hexapod(independent=None):
    """Six cranks on a circle, rods with universal joints and balls, a free platform; no two legs are alike."""
    rng = np.random.default_rng(7)
    bodies = [tf.Body("platform", 3.0, (0.01, 0.02, 0.52), (0.04, 0.05, 0.08), origin=(0, 0, 0.5))]
    joints = []
    for i in range(6):
        theta, phi = np.radians(60 * i + rng.uniform(-15, 15, 2)) + (0.0, (-1) ** i * 0.3)
        out, side = np.array([np.cos(theta), np.sin(theta), 0]), np.array([-np.sin(theta), np.cos(theta), 0])
        base, tip = 0.3 * out, np.array([0.2 * np.cos(phi), 0.2 * np.sin(phi), 0.5])
        elbow = base + 0.15 * (np.cos(0.3) * out + np.sin(0.3) * np.array([0, 0, 1]))
        across = np.cross(side, tip - elbow)
        full = rng.normal(size=(2, 3, 3))
        tensors = [(1e-3 * (np.trace(a @ a.T) * np.eye(3) - a @ a.T)).tolist() for a in full]
        bodies.append(tf.Body(f"crank{i}", 0.6, tuple((base + elbow) / 2 + rng.normal(size=3) / 100), tensors[0]))
        bodies.append(tf.Body(f"rod{i}", 0.4, tuple((elbow + tip) / 2 + rng.normal(size=3) / 100), tensors[1]))
        joints.append(tf.Hinge(f"m{i}", "ground", f"crank{i}", at=tuple(base), axis=tuple(side), actuated=True))
        axes = (tuple(side), tuple(across))
        joints.append(tf.Universal(f"e{i}", f"crank{i}", f"rod{i}", at=tuple(elbow), axes=axes))
        joints.append(tf.Spherical(f"b{i}", f"rod{i}", "platform", at=tuple(tip)))
    return tf.Mechanism(bodies=bodies, joints=joints, independent=independent, gravity=(0.3, -0.2, -9.81))


def states(m, count=5, seed=3):
    rng = np.random.default_rng(seed)
    x = m.configuration(m.positions.coordinates(m.home) + rng.uniform(-0.03, 0.03, (count, m.n)))
    return x, *rng.normal(size=(2, count, m.n))


def close(found, expected, tolerance=ROUNDS):
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


pytestmark = pytest.mark.usefixtures("kernels_on")


@pytest.mark.parametrize("independent", [None, "platform"])
def test_every_reduction_gives_the_same(independent):
    """Entry by entry and through the points of the floating platform."""
    m = hexapod(independent)
    x, qd, qdd = states(m)
    ways = range(len(m.model.reductions))
    assert len({m.model.reductions[k].rates for k in ways}) == (2 if independent is None else 1)
    tau = [m._evaluator("inverse_dynamics", {"x": x, "qd": qd, "qdd": qdd}, reduced=k)[0] for k in ways]
    for other in tau[1:]:
        close(other, tau[0])
    for k in ways:
        close(m._evaluator("forward_dynamics", {"x": x, "qd": qd, "tau": tau[0]}, reduced=k)[0], qdd)


def test_rates_of_joints_and_of_the_platform_tell_of_one_motion():
    """Power of the motors is power on the platform, though one is reduced by cranks and the other by the pose."""
    by_motors, by_pose = hexapod(), hexapod("platform")
    x, twist, acceleration = states(by_pose)
    tau = by_pose.inverse_dynamics(x, twist, acceleration)
    rates = np.stack([by_pose.jacobian(x, f"crank{i}")[:, 3:] @ twist[..., None] for i in range(6)], 1)[..., 0]
    axes = np.array([joint.axis for joint in by_motors.joints if isinstance(joint, tf.Hinge)])
    qd = np.einsum("kij,ij->ki", rates, axes)
    kinetic = by_motors.energy(x, qd)[0]
    close(kinetic, by_pose.energy(x, twist)[0])
    M = by_pose.mass_matrix(x)
    close(np.einsum("ki,kij,kj->k", twist, M, twist) / 2, kinetic)
    force = by_pose._answer("generalised_forces", {"x": x, "qd": twist, "qdd": acceleration})
    found = force[0] if isinstance(force, tuple) else force
    close(np.einsum("ki,ki->k", found, twist), np.einsum("ki,ki->k", tau, qd))


def test_derivatives_of_large_mechanisms_come_in_parts(monkeypatch):
    m = hexapod("platform")
    x, qd, qdd = states(m)
    tau = m.inverse_dynamics(x, qd, qdd)
    expected = {}
    with monkeypatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "0")
        expected["inverse_dynamics_derivatives"] = m.inverse_dynamics_derivatives(x, qd, qdd)
        expected["forward_dynamics_derivatives"] = m.forward_dynamics_derivatives(x, qd, tau)
    twin = m.replace(name="twin")
    with pytest.raises(tf.UnsupportedFeatureError, match="operations"):
        twin.kernel("inverse_dynamics_derivatives")
    monkeypatch.setattr(evaluator, "reference", None)  # not the reference
    for name, last in (("inverse_dynamics_derivatives", qdd), ("forward_dynamics_derivatives", tau)):
        for found, wanted in zip(getattr(twin, name)(x, qd, last), expected[name], strict=True):
            close(found, wanted)


STRAIGHT, HERE = np.eye(3), np.zeros(3)


def comb(teeth, turn=STRAIGHT, shift=HERE):
    """A chain with a side branch at every body."""

    def at(*p):
        return tuple(turn @ np.array(p, float) + shift)

    bodies, joints = [], []
    for i in range(teeth):
        for name, parent, p in (
            (f"b{i}", f"b{i - 1}" if i else "ground", (0.3 * i, 0, 0)),
            (f"t{i}", f"b{i}", (0.3 * i, 0.1, 0)),
        ):
            bodies.append(
                tf.Body(name, 1.0, at(p[0] + 0.1, p[1], 0), (turn @ np.diag([0.1, 0.2, 0.25]) @ turn.T).tolist())
            )
            joints.append(tf.Hinge(name, parent, name, at=at(*p), axis=tuple(turn[:, 2]), actuated=True))
    return tf.Mechanism(bodies=bodies, joints=joints, gravity=tuple(turn @ [0, -9.81, 0]))


def test_rounding_of_world_coordinates_leaves_no_entries():
    """Displacements, first moments and tensors in joint frames are zero, or large beside rounding."""
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    plain, moved = comb(3), comb(3, rotation, np.array([5.0, -3.0, 2.0]))
    q, qd, qdd = np.random.default_rng(6).normal(size=(3, 4, plain.n))
    close(moved.inverse_dynamics(q, qd, qdd), plain.inverse_dynamics(q, qd, qdd))
    for frame in moved.model.frames:
        tensor = [x for row in frame.inertia.rows for x in row]
        entries = np.array([*frame.before.translation, *frame.first_moment, *tensor], float)
        assert not ((entries != 0) & (np.abs(entries) < ROUNDING)).any()


def test_trees_beyond_the_usual_limit_are_compiled(monkeypatch):
    tree = comb(4)
    q, qd, qdd = np.random.default_rng(6).normal(size=(3, 4, tree.n))
    monkeypatch.setattr(kernel, "MAX_NODES", 100)
    tau = tree.kernel("inverse_dynamics")(q, qd, qdd)
    close(tree.kernel("forward_dynamics")(q, qd, tau), qdd)
    monkeypatch.setattr(kernel, "MAX_LARGE", 100)
    with pytest.raises(tf.UnsupportedFeatureError, match="operations"):
        comb(5).kernel("forward_dynamics")


def test_triangular_patterns_need_less_work():
    full = [[True] * 3 for _ in range(3)]
    triangular = [[j <= i for j in range(3)] for i in range(3)]
    assert elimination_work(triangular, 3) < elimination_work(full, 3)


def test_what_samples_decided_is_part_of_the_identity():
    """Kernels are kept by it: on a machine that rounds differently the same description may be reduced otherwise."""
    one, other = tf.load("five-bar"), tf.load("five-bar")
    assert pickle.loads(pickle.dumps(one)).identity == one.identity == other.identity
    parameters = one._analysis.parameters
    first, *rest = parameters.reductions
    for changes in (
        {"independent": parameters.independent[::-1]},
        {"reductions": (first._replace(zeros=frozenset()), *rest)},
        {"legs": parameters.legs[::-1]},
    ):
        other = tf.load("five-bar")
        vars(other)["_analysis"] = one._analysis._replace(parameters=parameters._replace(**changes))
        assert other.identity != one.identity, changes
