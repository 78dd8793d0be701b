"""What Turney, Mudge & Lee 1980 describe, for an arm of anybody's."""

from __future__ import annotations

from tauforge_papers.systems import System

SETS = "formulations/serial/test_formulations.py"
AGREE = f"{SETS}::test_all_formulations_agree"
STROBING = "analysis/test_strobing.py"
SYSTEMS = (
    System(
        "T1",
        "sec. 1, eqs 1.1-1.4, 1.10, 1.13-1.17, Figs 1, 2",
        "Denavit-Hartenberg frames, rotations, chained transforms",
        ("tf.SerialArm.from_dh", "arm.link_frames"),
        "robots/serial/test_description.py::test_link_frames",
    ),
    System(
        "T2",
        "sec. 1, eqs 1.5-1.9, 1.11, 1.12, 1.18, 1.19, 1.24-1.28, Fig. 3",
        "derivatives of the frames; pseudo-inertias of the links",
        ("tf.analysis.frame_derivatives", "tf.analysis.pseudo_inertias"),
        "analysis/test_arm_matrices.py::test_derivatives_of_frames",
    ),
    System(
        "T3",
        "sec. 2, eqs 2.1-2.10, appendix",
        "Lagrange set: energies and torques",
        ('arm.inverse_dynamics(formulation="lagrange-euler")', "arm.energy"),
        AGREE,
    ),
    System(
        "T4",
        "sec. 2, eq. 2.11",
        "explicit form of M, C and G",
        ("arm.mass_matrix", "arm.coriolis_matrix", "arm.bias_forces", "arm.gravity_forces"),
        f"{SETS}::test_coriolis_matrix_is_christoffels",
    ),
    System(
        "T5",
        "sec. 2, after eq. 2.11",
        "the symmetric matrices C^i",
        ("arm.coriolis_coefficients",),
        "robots/serial/test_functions.py::test_coriolis_coefficients_are_lagranges",
    ),
    System(
        "T6",
        "sec. 3, eqs 3.1-3.13",
        "Newton-Euler set in base axes",
        ('arm.inverse_dynamics(formulation="newton-euler-base")',),
        AGREE,
    ),
    System(
        "T7",
        "sec. 3, eqs 3.14-3.21, Fig. 4",
        "Newton-Euler set in link axes, wrenches between links, gravity as an acceleration of the base",
        ('arm.inverse_dynamics(formulation="newton-euler")', "arm.joint_wrenches"),
        f"{SETS}::test_joint_wrenches_balance_every_link",
    ),
    System(
        "T8",
        "sec. 3, after eq. 3.21",
        "wrench at the hand",
        ('arm.inverse_dynamics(tip_wrench=None, wrench_frame="tool")',),
        f"{SETS}::test_tip_wrench_is_minus_jacobian_transpose",
    ),
    System(
        "T9",
        "sec. 3, after eq. 3.21",
        "arm that adjusts to what its wrist feels",
        ("tf.control.ComputedTorque(wrench=None)", "tf.simulate(disturbance=None)"),
        "control/test_measured_wrench.py::test_a_wrench_that_is_measured_leaves_no_error",
    ),
    System(
        "T10",
        "secs 3, 7, 8",
        "strobing: M, every C^i and G from any inverse dynamics",
        ('tf.analysis.explicit_model(formulation="newton-euler")',),
        f"{STROBING}::test_strobing_finds_the_matrices_of_an_arm",
    ),
    System(
        "T11",
        "secs 0, 4, 8",
        "the formulations compared in numbers",
        ("tf.analysis.compare", "tauforge compare"),
        AGREE,
    ),
    System(
        "T12",
        "sec. 4, eqs 4.1-4.34",
        "step-by-step expansion of Newton-Euler into Lagrange",
        ("tauforge_papers.derivation.derivation_steps",),
        "papers/test_derivation.py::test_every_step_of_anybodys_arm_agrees_as_mended",
    ),
    System(
        "T13",
        "sec. 5, eqs 5.1, 5.2",
        "modified Newton-Euler set",
        ('arm.inverse_dynamics(formulation="modified-newton-euler")',),
        AGREE,
    ),
    System(
        "T14",
        "sec. 6, Table 1",
        "cost of the sets as functions of n",
        ("tf.analysis.general_cost", "tf.operation_count", "tauforge complexity --papers"),
        "analysis/test_complexity.py::test_cost_is_a_polynomial_of_n",
    ),
    System(
        "T15",
        "sec. 6, Tables 2-4, appendix",
        "operations term by term",
        ("tf.analysis.line_costs(robot=None)",),
        "analysis/test_costs_by_line.py::test_lines_of_an_arm_add_up",
    ),
    System(
        "T16",
        "sec. 6, Table 5",
        "schedule of simultaneous steps",
        ('tf.analysis.schedule(processors=None, work="lines")', "tf.analysis.scheduled"),
        "analysis/test_schedules.py::test_a_schedule_is_sound",
    ),
    System(
        "T17",
        "secs 3, 6",
        "deleting insignificant terms",
        ("tf.analysis.term_contributions().shares", "tf.analysis.term_contributions().force"),
        "analysis/test_force_terms.py::test_terms_add_up_to_inverse_dynamics",
    ),
    System(
        "T18",
        "secs 6, 7",
        "cost of strobing",
        ("tf.analysis.explicit_model_cost", "tf.analysis.strobing_cost"),
        f"{STROBING}::test_an_arms_own_cost_has_these_orders",
    ),
    System(
        "T19",
        "sec. 7",
        "accelerations by strobing",
        ("tf.analysis.explicit_model().acceleration",),
        f"{STROBING}::test_its_accelerations_are_those_of_forward_dynamics",
    ),
    System(
        "T20",
        "sec. 7",
        "simulation from forces and a start by four-point Runge-Kutta",
        ('tf.simulate(method="rk4")', "tf.rollout(forces=None)"),
        "simulation/test_simulation.py::test_orders_of_the_integrators",
    ),
    System(
        "T21",
        "sec. 7",
        "step from the largest possible change of angle and velocity",
        ("tf.analysis.suggested_step",),
        "analysis/test_step_size.py::test_no_row_of_a_run_changes_by_more",
    ),
)
