"""What Angeles describes in sections 7.4 and 7.5, for an arm of anybody's."""

from __future__ import annotations

from tauforge_papers.systems import System

SETS = "formulations/serial/test_formulations.py"
FUNCTIONS = "robots/serial/test_functions.py"
MATRICES = "analysis/test_arm_matrices.py"
COUNTS = "analysis/test_complexity.py"
SYSTEMS = (
    System(
        "A1",
        "sec. 7.4.1, eqs 7.23-7.34, algorithm 7.4.1, Figs 7.2, 7.3",
        "outward recursions: angular velocity, acceleration and motion of the mass centre of every link",
        ("arm.link_motions",),
        f"{FUNCTIONS}::test_motions_of_links_are_derivatives_of_their_frames",
    ),
    System(
        "A2",
        "eqs 7.27, 7.35, 7.44, sec. 7.5",
        "base at rest or in motion; gravity as an acceleration of the base",
        ("arm.link_motions(base_motion=None)", "arm.inverse_dynamics(base_motion=None)", "tf.BaseMotion"),
        f"{FUNCTIONS}::test_a_moving_base_is_the_motion_of_the_link_it_stands_on",
    ),
    System(
        "A3",
        "secs 7.4.1, 7.4.2, Tables 7.1, 7.2",
        "operation counts row by row, revolute and prismatic apart",
        ("tf.analysis.line_costs(robot=None)",),
        "analysis/test_costs_by_line.py::test_prismatic_joints_and_zeros_are_counted_out",
    ),
    System(
        "A4",
        "sec. 7.4.2, eqs 7.38-7.40, algorithm 7.4.2",
        "inward recursions: torques and forces of the actuators",
        ('arm.inverse_dynamics(formulation="outward-inward")',),
        f"{SETS}::test_all_formulations_agree",
    ),
    System(
        "A5",
        "eqs 7.36, 7.37, Fig. 7.4",
        "wrench across each joint: constraint and active components",
        ("arm.joint_wrenches",),
        f"{SETS}::test_joint_wrenches_carry_the_torque_on_their_axis",
    ),
    System(
        "A6",
        "eqs 7.38a, b, Fig. 7.5",
        "external wrench on the end-effector",
        ("arm.inverse_dynamics(tip_wrench=None)",),
        f"{SETS}::test_tip_wrench_is_minus_jacobian_transpose",
    ),
    System(
        "A7",
        "sec. 7.4.2, eq. 7.48",
        "dissipative forces at the joints",
        ("tf.Joint(viscous=0.1, coulomb=0.2)", "arm.friction_forces"),
        f"{SETS}::test_friction",
    ),
    System(
        "A8",
        "eqs 7.41-7.43",
        "totals as functions of n",
        ('tf.analysis.general_cost(formulation="outward-inward")',),
        f"{COUNTS}::test_cost_is_a_polynomial_of_n",
    ),
    System(
        "A9",
        "sec. 7.4.2",
        "simplification for a particular arm",
        ("tf.operation_count", "tauforge complexity"),
        f"{COUNTS}::test_gravity_across_the_first_axis_costs_a_little",
    ),
    System(
        "A10",
        "Tables 7.3, 7.4",
        "comparison of algorithms for inverse dynamics",
        ("tauforge complexity --papers",),
        f"{COUNTS}::test_every_paper_is_beside_ours_with_a_reason",
    ),
    System(
        "A11",
        "sec. 7.5, eqs 7.45, 7.46",
        "mathematical model of state and inputs",
        ("arm.forward_dynamics", "tf.simulate", "tf.linearise"),
        "analysis/test_linearisation.py::test_an_arm",
    ),
    System(
        "A12",
        "sec. 7.5, eqs 7.47-7.49",
        "uncoupled Newton-Euler equations: M, W, t and the wrenches of gravity, stacked",
        (
            "tf.analysis.orthogonal_complement().M",
            "tf.analysis.orthogonal_complement().W",
            "tf.analysis.orthogonal_complement().t",
            "tf.analysis.orthogonal_complement().gravity_wrenches",
        ),
        f"{MATRICES}::test_the_complement_projects_the_uncoupled_equations",
    ),
    System(
        "A13",
        "eqs 7.50, 7.54-7.56",
        "constraint matrix, twist-shaping matrix and its rate",
        (
            "tf.analysis.orthogonal_complement().K",
            "tf.analysis.orthogonal_complement().T",
            "tf.analysis.orthogonal_complement().T_dot",
        ),
        f"{MATRICES}::test_twists_are_those_of_the_links",
    ),
    System(
        "A14",
        "eqs 7.51-7.53",
        "nonworking constraint wrenches and their multipliers",
        (
            "tf.analysis.orthogonal_complement().constraint_wrenches",
            "tf.analysis.orthogonal_complement().multipliers",
        ),
        f"{MATRICES}::test_constraint_wrenches_are_those_of_the_joints",
    ),
    System(
        "A15",
        "eq. 7.57",
        "equations of motion by the natural orthogonal complement",
        ('arm.inverse_dynamics(formulation="orthogonal-complement")',),
        f"{SETS}::test_all_formulations_agree",
    ),
    System(
        "A16",
        "eq. 7.58",
        "generalized inertia matrix",
        ("arm.mass_matrix",),
        f"{SETS}::test_mass_matrices_agree",
    ),
)
