"""Rules on control and simulation: other arms, other laws and wrong terms give each outcome that a rule names."""

from __future__ import annotations

import numpy as np

import tauforge as tf
from support.wrong_terms import verdict
from tauforge.formulations.bodies import MASSLESS_BODY
from tauforge.formulations.serial import lagrange_euler
from tauforge.simulation.integrators import rk4
from tauforge_papers import published_counts as published
from tauforge_papers.lee1982 import control, cost, error_equation, resolved_rate
from tauforge_papers.misprints import as_printed
from tauforge_papers.random_arms import random_arm
from tauforge_papers.turney1980 import hand, significance, simulated, simulation

ARM = random_arm(np.random.default_rng(4), "RR")
WEIGHTLESS = ARM.replace(gravity=(0.0, 0.0, 0.0))
OFFSET = 0.1  # rad


def move(duration, n=2, size=0.5):
    return tf.motion.JointMove(np.zeros(n), size * np.cos(np.arange(n)), duration)


def run(law, plant, motion, start, duration, step):
    """Times and errors (k, rows, n), rad, of runs from rest at `start` (rows, n), side by side."""
    n, times = plant.n, step * np.arange(round(duration / step) + 1)

    def rates(t, y):
        torque = law(y[:, :n], y[:, n:], motion.sample(t))
        return np.hstack([y[:, n:], plant.forward_dynamics(y[:, :n], y[:, n:], torque)])

    states = [np.hstack([start, np.zeros_like(start)])]
    for t in times[:-1]:
        states.append(rk4(rates, t, states[-1], step))
    return times, motion.sample(times).position[:, None] - np.array(states)[..., :n]


def pulled(q, qd, target):
    """The acceleration that the law asks for."""
    return target.acceleration + control.KV * (target.velocity - qd) + control.KP * (target.position - q)


def test_errors_die_out_with_the_right_model_and_joints_stay_apart():
    def law(q, qd, target):
        return ARM.inverse_dynamics(q, qd, pulled(q, qd, target))

    offsets, rate = OFFSET * np.array([[1.0, 1.0], [1.0, 0.0]]), np.sqrt(control.KP)
    for plant, duration, expected in ((ARM, 1.5, "holds"), (WEIGHTLESS, 0.2, "does not hold")):
        time, error = run(law, plant, move(1.0), -offsets, duration, 0.01)
        solution = OFFSET * (1 + rate * time) * np.exp(-rate * time)
        difference = np.abs(error[:, 0] - solution[:, None]).max() / OFFSET
        left = np.abs(error[-1, 0]).max() / OFFSET
        assert error_equation.DIES_OUT.decide(difference=difference, left=left) == expected
        assert error_equation.ALONE.decide(others=np.abs(error[:, 1, 1]).max() / OFFSET) == expected


def test_a_last_link_without_mass_makes_d_singular():
    parameters = ARM.model.parameters
    massless = parameters._replace(bodies=(parameters.bodies[0], MASSLESS_BODY))
    for one, expected in ((parameters, "holds"), (massless, "does not hold")):
        moments = np.linalg.eigvalsh(np.array(lagrange_euler.mass_matrix(one, [0.3, 0.4]), float))
        assert error_equation.NON_SINGULAR.decide(smallest=moments[0] / moments[-1]) == expected


def errors_without(arm):
    """rad: the largest error of a move where the law leaves out nothing, and each group of terms."""
    coupling, velocity, gravity = (
        np.array([[name == group] for name in error_equation.GROUPS]) for group in error_equation.GROUPS[1:]
    )

    def law(q, qd, target):
        wanted, M = pulled(q, qd, target), arm.mass_matrix(q)
        torque = arm.inverse_dynamics(q, np.where(velocity, 0.0, qd), wanted) - gravity * arm.gravity_forces(q)
        own = np.diagonal(M, axis1=1, axis2=2) * wanted
        return torque - coupling * (np.einsum("kij,kj->ki", M, wanted) - own)

    start = np.zeros((len(error_equation.GROUPS), arm.n))
    _, error = run(law, arm, move(0.5, arm.n), start, 0.5, 0.025)
    return np.abs(error).max(axis=(0, 2)).tolist()


def test_what_a_law_compensates():
    """Without gravity there is none to compensate; a single joint then has no other terms, either."""
    single = random_arm(np.random.default_rng(4), "R").replace(gravity=(0.0, 0.0, 0.0))
    for arm, expected in ((ARM, "holds"), (WEIGHTLESS, "mixed"), (single, "does not hold")):
        whole, *without = errors_without(arm)
        assert error_equation.COMPENSATES.decide(whole=whole, without=without) == expected


def test_drawbacks_of_the_inverse_jacobian():
    """At the end of the move the arm is not singular; a quarter of the elimination of one joint is no load."""
    singular = {}
    for name, q in (("start", control.START), ("end", control.END)):
        found = np.linalg.svd(control.puma().jacobian(q), compute_uv=False)
        singular[name] = found[-1] / found[0]
    law = published.LEE_2.total

    def share(operations):
        return sum(operations) / float(law.multiplications(6) + law.additions(6))

    decide = resolved_rate.DRAWBACKS.decide
    assert decide(share=share(resolved_rate.operations()), singular=singular["start"]) == "holds"
    assert decide(share=share(resolved_rate.operations()), singular=singular["end"]) == "mixed"
    assert decide(share=share(resolved_rate.inverse_operations(3)), singular=singular["end"]) == "does not hold"


def test_operations_of_other_papers():
    """Of Newton-Euler alone they are slightly different, of Lagrange-Euler alone they are not."""
    claim = cost.other_papers()
    lagrange, newton = claim.evidence["ratios"][:2], claim.evidence["ratios"][2:]
    found = [verdict(claim, ratios=ratios) for ratios in (newton, newton + lagrange, lagrange)]
    assert found == ["holds", "mixed", "does not hold"]


def test_a_force_at_the_hand_that_is_felt_in_part():
    def named(*changes):
        names = as_printed(hand, *changes)
        names.update(puma=lambda rotors: ARM, move=move, DURATION=0.5, STATES=2, STEP=0.02)
        return names

    right, wrong = named(), named(("formulation=FORMULATION) - work", "formulation=FORMULATION) + work"))
    felt, half, unfelt = (right["strayed"](False, hand.WRENCH, x * hand.WRENCH, None) for x in (1.0, 0.5, 0.0))
    balances = [one["balance"](False) for one in (right, wrong)]
    decide = hand.ADJUSTS.decide
    assert decide(balance=balances[0], felt=[felt], unfelt=[unfelt]) == "holds"
    assert decide(balance=balances[0], felt=[half], unfelt=[unfelt]) == "mixed"
    assert decide(balance=balances[1], felt=[half], unfelt=[unfelt]) == "does not hold"


def test_strobing_with_and_without_gravity_in_the_run_at_the_given_speeds():
    q, qd, tau = np.random.default_rng(1).normal(size=(3, 2))
    exact = ARM.forward_dynamics(q, qd, tau)
    without = ("bias = self.arm.inverse_dynamics", "bias = self.weightless.inverse_dynamics")
    for changes, expected in (((), "holds"), ((without,), "does not hold")):
        names = as_printed(simulation, *changes)
        error = np.abs(names["StrobedArm"](ARM).acceleration(q, qd, tau) - exact).max() / np.abs(exact).max()
        apart = names["simulated"](ARM, move(0.04), 0.04).apart.max()
        assert simulated.SAME.decide(accelerations=error, angles=apart) == expected


def test_the_order_of_runge_kutta_and_of_euler():
    def rates(t, y):
        return np.array([y[1], -np.sin(y[0])])

    def order(method, steps=(0.1, 0.05, 0.025)):
        def end(method, step):
            y = np.array([1.0, 0.0])
            for _ in range(round(1 / step)):
                y = method(rates, 0.0, y, step)
            return y

        exact = end(rk4, 0.005)
        return np.polyfit(np.log(steps), np.log([np.abs(end(method, step) - exact).max() for step in steps]), 1)[0]

    found = [
        simulated.FOURTH_ORDER.decide(order=order(method))
        for method in (rk4, lambda rates, t, y, h: y + h * rates(t, y))
    ]
    assert found == ["holds", "does not hold"]


def test_elimination_of_a_matrix_that_is_not_positive():
    """More rotor inertia taken away than the smallest eigenvalue allows."""
    arm, random = random_arm(np.random.default_rng(4), "RRRR"), np.random.default_rng(6)
    right, tau = arm.mass_matrix(random.normal(size=(20, 4))), random.normal(size=(20, 4))
    less = right - 1.5 * np.linalg.eigvalsh(right)[:, :1, None] * np.eye(4)
    for M, expected in ((right, "holds"), (less, "does not hold")):
        plain = [simulated.eliminated(*row) for row in zip(M, tau, strict=True)]
        solutions = (np.array(plain), np.linalg.solve(M, tau[..., None])[..., 0])
        residuals = [np.abs(np.einsum("kij,kj->ki", M, x) - tau).max() for x in solutions]
        poses = simulated.Poses(0.0, np.linalg.eigvalsh(M).min(), 1.0, *residuals)
        assert simulated.no_pivoting(poses, poses).verdict == expected


def test_terms_of_a_fast_pendulum_and_of_a_slow_arm():
    def found(kinds, duration):
        arm = random_arm(np.random.default_rng(4), kinds)
        names = as_printed(significance)
        names.update(puma=lambda rotors: arm, move=lambda lasting: move(lasting, arm.n, 2.0), SAMPLES=11)
        return significance.DELETABLE.decide(shares=list(names["shares"](False, duration).values()))

    assert (found("RR", 3.0), found("R", 0.3)) == ("holds", "does not hold")
