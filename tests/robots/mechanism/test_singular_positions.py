"""Near singular positions, results are accurate to their conditioning or refused: never a finite wrong number."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import tauforge as tf
from support.random_mechanisms import bar, four_bar, random_masses
from support.tolerances import EPSILON
from tauforge.robots.mechanism import functions

REFUSED = 1e12  # condition number
ROUNDED = 1e-9  # of shares of a motion
SHARE = 100  # eps kappa times this: what the few pivots of these mechanisms may lose
EXPONENTS = range(17)
SIZES = [(1.0, 1.0), (1e-6, 1.0), (1e6, 1.0), (1.0, 1e-9), (1.0, 1e9), (1e-3, 1e-6)]


def aligned_five_bar(size: float = 1.0, mass: float = 1.0, **more: Any) -> tf.Mechanism:
    """At home the rods are on one line: the cranks cannot hold the middle."""
    A, B, C, D, E = (tuple(size * x for x in p) for p in ((0, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 0), (2.5, 0, 0)))
    names = {"crank 1": (A, B), "rod 1": (B, C), "crank 2": (E, D), "rod 2": (D, C)}
    return tf.Mechanism(
        bodies=[bar(name, *ends, mass, 0.02 * size) for name, ends in names.items()],
        joints=[
            tf.Hinge("left", "ground", "crank 1", at=A, actuated=True),
            tf.Hinge("elbow 1", "crank 1", "rod 1", at=B),
            tf.Hinge("right", "ground", "crank 2", at=E, actuated=True),
            tf.Hinge("elbow 2", "crank 2", "rod 2", at=D),
            tf.Hinge("middle", "rod 1", "rod 2", at=C),
        ],
        **({"gravity": (0, -9.81, 0), "name": "five-bar"} | more),
    )


def near_alignment(m: tf.Mechanism, bend: float) -> Any:
    """A position whose rods are bent by an angle."""
    other = m.replace(independent=("left", "elbow 1"))
    return other.configuration([0.0, bend])


def exact(m: tf.Mechanism, name: str, *arguments: Any) -> Any:
    """The same formula in numbers of 60 digits."""
    with mpmath.workdps(60):
        formula = getattr(functions, name)
        found = formula(m.model, *[[mpmath.mpf(float(v)) for v in a] for a in arguments])
        results = found.results if isinstance(found, functions.Doubtful) else found
        return np.array([float(v) for v in results])


@pytest.mark.filterwarnings("ignore:.*few links are that long")  # sizes of 1e6 m are among them
@pytest.mark.parametrize(("size", "mass"), SIZES)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_accurate_or_refused(exponent, size, mass):
    m = aligned_five_bar(size, mass)
    x = near_alignment(m, -(10.0**-exponent) / 2)
    rng = np.random.default_rng(exponent)
    qd, qdd = rng.normal(size=(2, 2))
    tau = rng.normal(size=2) * mass * size**2
    condition = float(m.loop_condition(x))
    tau_found = m.inverse_dynamics(x, qd, qdd, on_singular="nan")
    if condition > REFUSED:
        assert np.isnan(tau_found).all()
        with pytest.raises(
            tf.SingularityError,
            match="left, right do not determine the motion here: the actuators lose control, and middle, elbow 1, "
            "elbow 2 can move while they stand still",
        ):
            m.inverse_dynamics(x, qd, qdd)
    else:
        reference = exact(m, "inverse_dynamics", x, qd, qdd)
        assert np.abs(tau_found - reference).max() <= SHARE * EPSILON * condition**2 * np.abs(reference).max()
    found = m.forward_dynamics(x, qd, tau, on_singular="nan")
    if np.isnan(found).any():
        assert np.isnan(found).all()
        assert condition**2 > 1e-2 * REFUSED
        with pytest.raises(tf.SingularityError, match="do not determine the motion here: the actuators lose control"):
            m.forward_dynamics(x, qd, tau)
    else:
        reference = exact(m, "forward_dynamics", x, qd, tau)
        M = m.mass_matrix(x)
        d = np.sqrt(np.diag(M))
        kappa = np.linalg.cond(M / np.outer(d, d))
        assert kappa < REFUSED
        assert np.abs(found - reference).max() <= SHARE * EPSILON * (kappa + condition**2) * np.abs(reference).max()


@pytest.mark.parametrize("exponent", [0, 4, 8, 13, 16])
@pytest.mark.parametrize("name", ["mass_matrix", "energy", "jacobian"])
def test_other_functions_are_guarded_too(name, exponent):
    m = aligned_five_bar()
    x = near_alignment(m, -(10.0**-exponent) / 2)
    arguments = (x, np.ones(2)) if name == "energy" else (x,)
    method = getattr(m, name)
    first = np.asarray(method(*arguments, on_singular="nan")[0])
    if m.loop_condition(x) > REFUSED:
        assert np.isnan(first).all()
        with pytest.raises(tf.SingularityError, match="do not determine the motion"):
            method(*arguments)
    else:
        assert np.isfinite(first).all()
        np.testing.assert_array_equal(first, np.asarray(method(*arguments)[0]))


def test_other_rows_of_a_batch_stay():
    m = aligned_five_bar()
    good = near_alignment(m, -0.5)
    x = np.stack([good, m.home, good])
    qd, qdd = np.ones((2, 3, 2))
    found = m.inverse_dynamics(x, qd, qdd, on_singular="nan")
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(found[[0, 2]], [m.inverse_dynamics(good, qd[0], qdd[0])] * 2)
    with pytest.raises(tf.SingularityError, match=r"row 1, condition number"):
        m.inverse_dynamics(x, qd, qdd)


def test_the_motion_of_a_five_bar_with_its_rods_in_line():
    """Both rods turn by the same angle, one to each side, so that the middle turns by twice that."""
    m = aligned_five_bar()
    shares = m.singular_motion(m.home)
    assert set(shares) == {"middle", "elbow 1", "elbow 2"}
    np.testing.assert_allclose([shares[name] for name in ("middle", "elbow 1", "elbow 2")], [1, 0.5, 0.5], rtol=ROUNDED)
    bent = m.singular_motion(near_alignment(m, -0.3))  # of a good position the one that comes nearest
    assert next(iter(bent)) == "middle"
    with pytest.raises(tf.ShapeError, match=r"x: expected \(5,\): one position, got \(2, 5\)"):
        m.singular_motion([m.home, m.home])


def test_without_loops_nothing_can_move_by_itself():
    upper, lower = bar("upper", (0, 0, 0), (1, 0, 0), 1.0), bar("lower", (1, 0, 0), (2, 0, 0), 1.0)
    joints = [tf.Hinge("shoulder", "ground", "upper"), tf.Hinge("elbow", "upper", "lower", at=(1, 0, 0))]
    arm = tf.Mechanism(bodies=[upper, lower], joints=joints)
    assert arm.singular_motion(arm.home) == {}


def hexapod(yaw: float) -> tf.Mechanism:
    """A 6-UPS whose platform is turned about the vertical: at a quarter turn it is singular (Fichter 1986)."""
    angles = np.radians([-10, 10, 110, 130, 230, 250])
    base = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])
    turned = np.radians([-50, 50, 70, 170, 190, 290]) + yaw
    top = np.column_stack([0.5 * np.cos(turned), 0.5 * np.sin(turned), np.ones(6)])
    bodies, joints = [tf.Body("platform", 2.0, com=(0, 0, 1), inertia=(0.1, 0.1, 0.2))], []
    for k, (foot, head) in enumerate(zip(base, top, strict=True), 1):
        way = (head - foot) / np.linalg.norm(head - foot)
        side = np.cross(way, (0, 0, 1.0)) / np.linalg.norm(np.cross(way, (0, 0, 1.0)))
        lower, upper = f"cylinder {k}", f"rod {k}"
        bodies += [bar(lower, foot, foot + 0.5 * way, 1.0), bar(upper, foot + 0.5 * way, head, 1.0)]
        axes = (tuple(side), tuple(np.cross(way, side)))
        joints += [
            tf.Universal(f"foot {k}", "ground", lower, at=tuple(foot), axes=axes),
            tf.Slider(f"leg {k}", lower, upper, at=tuple(foot), axis=tuple(way), actuated=True),
            tf.Spherical(f"ball {k}", upper, "platform", at=tuple(head)),
        ]
    return tf.Mechanism(bodies=bodies, joints=joints, name="6-UPS")


def test_the_platform_of_a_singular_hexapod_is_named():
    """Fichter's position: at a quarter turn the platform screws about its vertical axis while all legs stand still."""
    m = hexapod(np.pi / 2)
    shares = m.singular_motion(m.home)
    assert shares["platform"] > 0.1
    assert not {f"leg {k}" for k in range(1, 7)} & set(shares)
    assert hexapod(0.3).loop_condition(hexapod(0.3).home) < 100
    with pytest.raises(tf.SingularityError, match=r"lose control.* platform, .* can move while"):
        m.inverse_dynamics(m.home, np.zeros(6), np.zeros(6))


def dead_centre(driven: str, **more: Any) -> tf.Mechanism:
    """A four-bar at home in the position in which crank and coupler are on one line."""
    A, B, C, D = (0, 0, 0), (0.25, 0, 0), (1, 0, 0), (1, -0.75, 0)
    return tf.Mechanism(
        bodies=[bar("crank", A, B, 0.5), bar("coupler", B, C, 1.0), bar("rocker", D, C, 0.8)],
        joints=[
            tf.Hinge("crank", "ground", "crank", at=A, actuated=driven == "crank"),
            tf.Hinge("pin 1", "crank", "coupler", at=B),
            tf.Hinge("rocker", "ground", "rocker", at=D, actuated=driven == "rocker"),
            tf.Hinge("pin 2", "rocker", "coupler", at=C),
        ],
        **({"gravity": (0, -9.81, 0), "name": "four-bar"} | more),
    )


def test_dead_centre_driven_by_the_rocker():
    m = dead_centre("rocker")
    with pytest.raises(
        tf.SingularityError,
        match="rocker does not determine the motion here: the actuators lose control, and pin 1, crank",
    ):
        m.inverse_dynamics(m.home, [1.0], [0.0])
    by_crank = dead_centre("rocker", independent=("crank",))
    lost = "the actuators lose control here: pin 1, crank can move while rocker stands still"
    with pytest.raises(tf.SingularityError, match=lost):
        by_crank.inverse_dynamics(by_crank.home, [1.0], [0.0])
    assert np.isfinite(by_crank.forward_dynamics(by_crank.home, [1.0], [0.5])).all()  # free to move, by the crank
    driven = dead_centre("crank")
    np.testing.assert_allclose(
        by_crank.generalised_forces(m.home, [1.0], [2.0]), driven.inverse_dynamics(m.home, [1.0], [2.0]), rtol=1e-13
    )


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_near_dead_centre(exponent):
    m = dead_centre("rocker", independent=("crank",))
    x = m.configuration([10.0**-exponent])
    found = m.inverse_dynamics(x, [1.0], [2.0], on_singular="nan")
    condition = float(m.loop_condition(x))
    if condition > REFUSED:
        assert np.isnan(found).all()
    else:
        reference = exact(m, "inverse_dynamics", x, [1.0], [2.0])
        assert np.abs(found - reference).max() <= SHARE * EPSILON * condition * np.abs(reference).max()


def test_change_point_gains_a_freedom():
    """All bars of a parallelogram on one line: it may go on as a parallelogram or as its opposite."""
    A, B, C, D = (0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0)
    m = tf.Mechanism(
        bodies=[bar("crank", A, B, 0.5), bar("coupler", B, C, 1.0), bar("rocker", D, C, 0.8)],
        joints=[
            tf.Hinge("crank", "ground", "crank", at=A, actuated=True),
            tf.Hinge("pin 1", "crank", "coupler", at=B),
            tf.Hinge("rocker", "ground", "rocker", at=D),
            tf.Hinge("pin 2", "rocker", "coupler", at=C),
        ],
    )
    assert m.structure.freedom == 1
    for call in (m.inverse_dynamics, m.forward_dynamics, m.joint_wrenches):
        with pytest.raises(
            tf.SingularityError,
            match="the mechanism gains a freedom here: rocker, pin 1, pin 2 can move while crank stands still",
        ):
            call(m.home, [1.0], [0.0])
    shares = m.singular_motion(m.home)
    assert list(shares) == ["rocker", "pin 1", "pin 2"]
    np.testing.assert_allclose(list(shares.values()), [1.0, 0.5, 0.5], rtol=ROUNDED)  # cranks 1, base and coupler 2


def test_a_body_without_mass_at_a_free_end():
    arm = tf.Mechanism(
        bodies=[bar("upper", (0, 0, 0), (1, 0, 0), 1.0), tf.Body("lower")],
        joints=[
            tf.Hinge("shoulder", "ground", "upper", axis=(0, 1, 0), actuated=True),
            tf.Hinge("elbow", "upper", "lower", at=(1, 0, 0), axis=(0, 1, 0), actuated=True),
        ],
        name="arm",
    )
    x, rates = np.zeros(2), np.ones(2)
    assert arm.inverse_dynamics(x, rates, rates)[1] == 0
    message = r"the motion of elbow moves neither mass nor inertia here .*Give lower mass and inertia"
    with pytest.raises(tf.SingularityError, match=message):
        arm.forward_dynamics(x, rates, rates)
    with pytest.raises(tf.SingularityError, match=message):
        tf.simulate(arm, initial=(x, rates), duration=0.1)
    assert np.isnan(arm.forward_dynamics(x, rates, rates, on_singular="nan")).all()
    held = tf.Payload(1.0, (0.3, 0, 0), (0.1, 0.1, 0.1))
    tau = arm.inverse_dynamics(x, rates, rates, payload=held)
    np.testing.assert_allclose(arm.forward_dynamics(x, rates, tau, payload=held), rates, rtol=1e-12)


@pytest.mark.parametrize("open_by", [5e-3, 0.3])
def test_open_loops_are_refused(open_by):
    m = four_bar()
    x = m.configuration([0.2])
    x[2] += open_by
    for call in (m.inverse_dynamics, m.forward_dynamics, m.joint_wrenches, m.generalised_forces):
        message = r"does not close the loops \(open by .* of the mechanism's size, or rad\)\. Make positions by config"
        with pytest.raises(tf.SingularityError, match=message) as caught:
            call(x, [1.0], [0.0])
        assert "condition number" not in str(caught.value)
        assert np.isnan(call(x, [1.0], [0.0], on_singular="nan")).all()
    with pytest.raises(tf.SingularityError, match=r"or rad\) in row 1\. Make positions"):
        m.mass_matrix([m.home, x])
    assert m.loop_condition(x) == np.inf
    with pytest.raises(tf.SingularityError, match="does not close the loops"):
        m.singular_motion(x)


def test_nearly_closed_loops_cost_as_much_as_they_are_open():
    m = random_masses(np.random.default_rng(4), four_bar())
    x = m.configuration([0.2])
    right = m.inverse_dynamics(x, [1.0], [1.0])
    for open_by in (1e-6, 1e-9):
        y = x.copy()
        y[2] += open_by
        assert abs(m.inverse_dynamics(y, [1.0], [1.0]) - right).max() <= 30 * open_by * abs(right).max()


@pytest.mark.usefixtures("kernels_on")
def test_single_precision_is_refused_where_it_has_no_digits_left():
    """Judged by its own limit; positions that are not looked at closely have 30 n eps kappa(M), as everywhere."""
    m, tau = aligned_five_bar(), np.array([1.0, -2.0], np.float32)
    rest, refused = np.zeros(2, np.float32), []
    for bend in (0.2, 1e-2, 1e-4, 1e-5):
        x = near_alignment(m, bend).astype(np.float32)
        found = m.forward_dynamics(x, rest, tau, on_singular="nan")
        in_double = m.forward_dynamics(x.astype(float), rest.astype(float), tau.astype(float))
        assert found.dtype == np.float32
        assert np.isfinite(in_double).all()
        refused.append(bool(np.isnan(found).all()))
    assert refused == [False, False, True, True]
