"""Legs with spherical joints at both ends, proved by Pinocchio and by Lagrange's equations with the spins as unknowns.

Measured on 300 platforms: actuators and tip forces agree to 2e-14, accelerations to 1e-13; no spin rate is above
2e-12 rad/s^2.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import tauforge as tf
from conftest import SOAK
from support.spherical_witness import (
    lagrange,
    numbers,
    pinocchio_forward,
    pinocchio_inverse,
    random_spherical,
    random_state,
    tree,
    tree_state,
)
from support.stewart_witness import LEGS, kinematics_of, unit
from support.strategies import seeds
from support.tolerances import FORMULATIONS, error, solve_tolerance
from tauforge.analysis.stewart_forces import power_balance

NO_SPIN = np.zeros(LEGS)
SPIN_RATE = 1e-10  # rad/s^2, beside angular accelerations of 10: what rounding may leave of zero
POWER = 1e-12  # beside the sum of the powers' magnitudes
DASGUPTA = ("leg_spin", "moment_along_c", "parallel_axis_once")


def example(rng, speed=1.0):
    platform = random_spherical(rng)
    return platform, random_state(rng, platform, speed)


# ----------------------------------------------------------------------------------------------------------- witnesses


@given(seeds)
def test_pinocchio(rng):
    """Forces, tip forces and accelerations both ways, whatever the legs' rolls; and no leg starts to spin."""
    platform, state = example(rng)
    *motion, wrench = state
    made = tree(numbers(platform))
    at = tree_state(made, state, NO_SPIN, rng.uniform(-np.pi, np.pi, LEGS))
    found = pinocchio_inverse(made, at)
    F = platform.inverse_dynamics(*motion, external_wrench=wrench)
    assert error(F, found.actuators) < FORMULATIONS
    assert np.abs(found.spin_rates).max() < SPIN_RATE
    tips = platform.joint_reactions(*motion, external_wrench=wrench).spherical
    assert error(tips[:, :3], found.tips, core=2) < FORMULATIONS
    acceleration, spin_rates = pinocchio_forward(made, at, F)
    ours = platform.forward_dynamics(*motion[:2], F, external_wrench=wrench)
    assert error(ours, acceleration) < max(FORMULATIONS, solve_tolerance(platform.mass_matrix(motion[0])))
    assert np.abs(spin_rates).max() < SPIN_RATE


@settings(max_examples=10 * SOAK)
@given(seeds)
def test_lagrange_in_twelve_coordinates(rng):
    platform, state = example(rng)
    platform = platform.without_friction()
    found = lagrange(numbers(platform), state, NO_SPIN)
    F = platform.inverse_dynamics(*state[:3], external_wrench=state[3])
    assert error(F, found.actuators) < FORMULATIONS
    assert np.abs(found.spin_rates).max() < SPIN_RATE
    kinetic, _ = platform.energy(*state[:2])
    assert abs(kinetic - found.kinetic) < FORMULATIONS * kinetic


@given(seeds)
def test_reactions_by_newton_and_euler(rng):
    """Part by part, accelerations being derivatives of positions: the base joint gives a force and no moment."""
    platform, (pose, twist, acceleration, wrench) = example(rng)
    p = numbers(platform)
    m = kinematics_of(p, pose, twist, acceleration)
    found = platform.joint_reactions(pose, twist, acceleration, external_wrench=wrench)
    needed = p["mass"][:, None] * (m.second.centres - p["gravity"])
    lower, upper = needed[:LEGS], needed[LEGS : 2 * LEGS]
    tip = found.spherical[:, :3]
    assert error(found.prismatic[:, :3], upper - tip, core=2) < FORMULATIONS
    assert error(found.universal[:, :3], lower + upper - tip, core=2) < FORMULATIONS
    assert np.array_equal(found.spherical[:, 3:], np.zeros((LEGS, 3)))
    s, s_rate, s_second = (places.axes[:LEGS, :, 0] for places in (m.now, m.rate, m.second))
    rubbing = -p["friction"][0] * np.cross(s, s_rate)
    assert error(found.universal[:, 3:], rubbing, core=2) < FORMULATIONS
    across = p["inertia"][:LEGS, 1, 1][:, None]
    turning = across * np.cross(s, s_second) + np.cross(m.now.centres[:LEGS] - p["base_points"], lower)
    assert error(found.prismatic[:, 3:], rubbing - turning, core=2) < FORMULATIONS
    bare = platform.without_friction().joint_reactions(pose, twist, acceleration, external_wrench=wrench)
    assert np.array_equal(bare.universal[:, 3:], np.zeros((LEGS, 3)))


@given(seeds)
def test_motion_of_the_legs(rng):
    platform, (pose, twist, acceleration, _) = example(rng)
    m = kinematics_of(numbers(platform), pose, twist, acceleration)
    s, s_rate, s_second = (places.axes[:LEGS, :, 0] for places in (m.now, m.rate, m.second))
    ours = platform.leg_motion(pose, twist, acceleration)
    assert error(ours.lengths, m.now.lengths) < FORMULATIONS
    assert error(ours.rates, m.rate.lengths) < FORMULATIONS
    assert error(ours.accelerations, m.second.lengths) < FORMULATIONS
    assert error(ours.angular_velocities, np.cross(s, s_rate), core=2) < FORMULATIONS
    assert error(ours.angular_accelerations, np.cross(s, s_second), core=2) < FORMULATIONS
    assert not ours.spins.any()
    assert not ours.spin_rates.any()
    assert ours.universal_angles is None


# ---------------------------------------------------------------------------------------------- forms and identities


@given(seeds)
def test_forms_and_identities(rng):
    """Both exact forms and Dasgupta's equations; energy, power, and the closed form."""
    platform, (pose, twist, acceleration, wrench) = example(rng, speed=rng.choice([0.1, 1.0, 5.0]))
    state = (pose, twist, acceleration)
    F = platform.inverse_dynamics(*state, external_wrench=wrench)
    for model, corrections in (("exact-vectors", ()), ("dasgupta1998", ("parallel_axis_once",))):
        found = platform.inverse_dynamics(*state, external_wrench=wrench, model=model, corrections=corrections)
        assert error(found, F) < FORMULATIONS, model
    M = platform.mass_matrix(pose)
    assert np.array_equal(M, M.T)
    pushed = platform.force_matrix(pose) @ F + wrench
    eta = platform.bias_wrench(pose, twist)
    assert np.abs(pushed - M @ acceleration - eta).max() < FORMULATIONS * np.abs([*pushed, *eta, *F]).max()
    kinetic, _ = platform.energy(pose, twist)
    assert abs(kinetic - twist @ M @ twist / 2) < FORMULATIONS * kinetic
    powers = power_balance(platform, *state, F, wrench)
    assert abs(powers.imbalance) < POWER * sum(map(abs, powers))


@given(seeds)
def test_corrections_that_remain(rng):
    """W.s = 0 and no moment about the leg are right here: only eq. 16 is left to put right, and it is wrong."""
    platform, (pose, twist, acceleration, _) = example(rng)

    def forces(*corrections):
        return platform.inverse_dynamics(pose, twist, acceleration, model="dasgupta1998", corrections=corrections)

    assert np.array_equal(forces(*DASGUPTA[:2]), forces())
    assert np.array_equal(forces(*DASGUPTA), forces(DASGUPTA[2]))
    assert error(forces(), forces(DASGUPTA[2])) > 1e-3


@given(seeds)
def test_legs_without_axial_inertia_do_not_ask_which_joint(rng):
    """A universal joint spins the leg, which costs nothing where the leg is a thin rod."""
    platform, (pose, twist, acceleration, _) = example(rng)
    rod = {f"{part}_inertia": np.array(getattr(platform, f"{part}_inertia")) for part in ("lower", "upper")}
    for tensors in rod.values():
        tensors[:, 0, 0] = 0.0
    thin = platform.without_friction().replace(**rod)
    s = thin.leg_motion(pose).directions
    axes = (
        unit(np.cross(s, rng.normal(size=(LEGS, 3)))) + rng.uniform(0.3, 0.8, (LEGS, 1)) * s
    )  # neither along nor across
    universal = thin.replace(base_joint="universal", universal_axes=axes)
    state = (pose, twist, acceleration)
    assert np.abs(universal.leg_motion(*state).spins).max() > 1e-3
    for method, arguments in {"inverse_dynamics": state, "mass_matrix": state[:1], "bias_wrench": state[:2]}.items():
        ours, theirs = (getattr(p, method)(*arguments) for p in (thin, universal))
        assert error(ours, theirs, core=ours.ndim) < FORMULATIONS, method
    assert error(thin.energy(pose, twist), universal.energy(pose, twist)) < FORMULATIONS
    thick = universal.replace(lower_inertia=platform.lower_inertia, upper_inertia=platform.upper_inertia)
    assert error(thick.inverse_dynamics(*state), thin.inverse_dynamics(*state)) > 1e-6


def test_no_direction_is_special():
    """Where a universal joint would have its fixed axis along the leg there is an answer, the same in both forms."""
    rig = tf.load("motion-rig")
    pose, rest = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    twist, acceleration = np.random.default_rng(0).normal(size=(2, 6))
    s = rig.leg_motion(pose).directions
    stuck = rig.replace(universal_axes=s)
    with pytest.raises(tf.SingularityError, match="lies along the fixed axis"):
        stuck.inverse_dynamics(pose, rest, rest)
    on_axis = {"lower_com": (0.3, 0, 0), "upper_com": (-0.3, 0, 0), "friction": (0.1, 20.0, 0.0)}
    slender = {"lower_inertia": (0.01, 0.2, 0.2), "upper_inertia": (0.01, 0.2, 0.2)}
    free = stuck.replace(base_joint="spherical", **on_axis, **slender)
    exact, vectors = (free.inverse_dynamics(pose, twist, acceleration, model=m) for m in ("exact", "exact-vectors"))
    assert error(vectors, exact) < FORMULATIONS
    assert np.isfinite(free.energy(pose, twist)).all()
    assert np.isfinite(free.joint_reactions(pose, twist, acceleration).prismatic).all()


@pytest.mark.parametrize("turn", [0.0, np.pi / 2, np.pi], ids=["up", "level", "down"])
def test_legs_that_hang_or_lie(turn):
    """A box turned with everything on it: legs along z, across it, and along -z have the same forces."""
    box = tf.load("box")
    symmetric = {"lower_com": (0.4, 0, 0), "upper_com": (-0.4, 0, 0), "friction": (0.1, 0.2, 0.0)}
    box = box.replace(base_joint="spherical", lower_inertia=(0.1, 0.2, 0.2), upper_inertia=(0.1, 0.2, 0.2), **symmetric)
    R = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
    turned = box.replace(base_points=np.array(box.base_points) @ R.T, gravity=R @ box.gravity)
    rng = np.random.default_rng(3)
    x, (v, omega, a, alpha) = 0.1 * rng.normal(size=3), rng.normal(size=(4, 3))
    for model in ("exact", "exact-vectors"):
        here = box.inverse_dynamics([*x, 0, 0, 0], [*v, *omega], [*a, *alpha], model=model)
        there = turned.inverse_dynamics(
            [*(R @ x), 0, turn, 0], [*(R @ v), *(R @ omega)], [*(R @ a), *(R @ alpha)], model=model
        )
        assert error(there, here) < FORMULATIONS


# -------------------------------------------------------------------------------------------- why the rest is refused


def test_a_spinning_leg_is_a_gyroscope():
    """Its spin stays, and the forces of the platform change with it: by I_s spin s' about the base joint."""
    platform, state = example(np.random.default_rng(3))
    platform = platform.without_friction()
    p, spins = numbers(platform), np.linspace(2.0, 12.0, LEGS)
    made = tree(p)
    still, spinning = (
        pinocchio_inverse(made, tree_state(made, state, spin, np.zeros(LEGS))) for spin in (NO_SPIN, spins)
    )
    assert np.abs(spinning.spin_rates).max() < SPIN_RATE
    assert error(lagrange(p, state, spins).actuators, spinning.actuators) < FORMULATIONS
    change = spinning.actuators - still.actuators
    assert np.abs(change).max() > 20.0  # N; measured 48 N beside forces of 946 N
    legs, H = platform.leg_motion(*state[:3]), platform.force_matrix(state[0])
    axial = (p["inertia"][:LEGS] + p["inertia"][LEGS : 2 * LEGS])[:, 0, 0]
    s = legs.directions
    moments = (axial * spins)[:, None] * np.cross(legs.angular_velocities, s)
    K = np.cross(moments, s) / legs.lengths[:, None]
    q = s * legs.lengths[:, None] + p["base_points"] - state[0][:3]
    needed = np.concatenate([K.sum(axis=0), np.cross(q, K).sum(axis=0)])
    assert error(change, np.linalg.solve(H, needed)) < 1e-10  # a difference of forces twenty times as large


@pytest.mark.parametrize(
    ("what", "spin_rate", "force"), [("mass centre", 0.1, 1e-4), ("moments", 5e-3, 0.0), ("products", 0.1, 1e-4)]
)
def test_an_unsymmetric_leg_starts_to_spin(what, spin_rate, force):
    """One centimetre off the axis, or a tenth of a moment: it spins, and how much depends on its roll.

    spin_rate: rad/s^2, at least; force: N, what ignoring it costs at once. Unequal moments alone cost nothing before
    the leg has some spin.
    """
    platform, state = example(np.random.default_rng(4))
    platform = platform.without_friction()
    p = numbers(platform)
    com, inertia = p["com"].copy(), p["inertia"].copy()
    if what == "mass centre":
        com[:LEGS, 1] += 0.01
    elif what == "moments":
        inertia[:LEGS, 2, 2] *= 1.1
    else:
        inertia[:LEGS, 0, 1] = inertia[:LEGS, 1, 0] = 0.1 * inertia[:LEGS, 0, 0]
    p = {**p, "com": com, "inertia": inertia}
    made, rates = tree(p), []
    for roll in (0.0, 1.0):
        at = tree_state(made, state, NO_SPIN, np.full(LEGS, roll))
        free, held = pinocchio_inverse(made, at), pinocchio_inverse(made, at, spin_free=False)
        assert np.abs(free.actuators - held.actuators).max() >= force
        rates.append(free.spin_rates)
        if roll == 0:
            found = lagrange(p, state, NO_SPIN)
            assert error(found.actuators, free.actuators) < FORMULATIONS
            assert error(found.spin_rates, free.spin_rates) < FORMULATIONS
    assert np.abs(rates).max() > spin_rate
    assert np.abs(rates[1] - rates[0]).max() > spin_rate


def test_friction_of_the_platform_joints_spins_a_leg():
    platform, state = example(np.random.default_rng(5))
    c_s = 0.1  # N m s
    for friction, least, most in ((0.0, 0.0, SPIN_RATE), (c_s, 0.02, np.inf)):
        p = numbers(platform, friction=np.array([1.0, 2.0, friction]))
        made = tree(p)
        rates = np.abs(pinocchio_inverse(made, tree_state(made, state, NO_SPIN, np.zeros(LEGS))).spin_rates)
        assert least <= rates.max() < most
    axial = (p["inertia"][:LEGS] + p["inertia"][LEGS : 2 * LEGS])[:, 0, 0]
    along = np.abs(platform.leg_motion(state[0]).directions @ state[1][3:])
    assert error(rates, c_s * along / axial) < FORMULATIONS
