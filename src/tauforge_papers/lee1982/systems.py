"""What Lee, Chung, Mudge & Turney describe, for an arm of anybody's."""

from __future__ import annotations

from tauforge_papers.systems import System

SETS = "formulations/serial/test_formulations.py"
LAWS = "control/test_control.py"
CHOSEN_LAW = "control/test_computed_torque.py"
SYSTEMS = (
    System(
        "L1",
        "sec. 2, eqs 2.1-2.5, 2.11, 2.12, Fig. 1",
        "Denavit-Hartenberg frames and transforms, revolute and prismatic",
        ("tf.SerialArm.from_dh", "arm.link_frames"),
        "robots/serial/test_description.py::test_link_frames",
    ),
    System(
        "L2",
        "sec. 2, eqs 2.6-2.10, 2.13, 2.14, 2.18-2.22",
        "derivatives of rotations and displacements; inertia matrices of the links",
        ("tf.analysis.frame_derivatives", "tf.analysis.pseudo_inertias"),
        "analysis/test_arm_matrices.py::test_traces_of_frames_and_pseudo_inertias_are_the_mass_matrix",
    ),
    System(
        "L3",
        "sec. 3.1, eqs 3.1-3.6",
        "Lagrange-Euler formulation, energies",
        ('arm.inverse_dynamics(formulation="lagrange-euler")', "arm.energy"),
        f"{SETS}::test_all_formulations_agree",
    ),
    System(
        "L4",
        "sec. 3.1, eqs 3.7-3.10",
        "closed form of D, H and G",
        ("arm.mass_matrix", "arm.bias_forces", "arm.coriolis_matrix", "arm.gravity_forces"),
        f"{SETS}::test_mass_matrices_agree",
    ),
    System(
        "L5",
        "sec. 3.2, eqs 3.11-3.19",
        "Newton-Euler equations in base axes",
        ('arm.inverse_dynamics(formulation="newton-euler-base")',),
        f"{SETS}::test_all_formulations_agree",
    ),
    System(
        "L6",
        "sec. 3.2, eqs 3.20-3.27",
        "Newton-Euler equations in link axes",
        ('arm.inverse_dynamics(formulation="newton-euler")',),
        f"{SETS}::test_all_formulations_agree",
    ),
    System(
        "L7",
        "sec. 4",
        "resolved motion rate control by the inverse Jacobian",
        ("tf.control.ResolvedRate", "tf.Recording.tool_error"),
        f"{LAWS}::test_the_error_of_a_run_in_space_is_that_of_the_tool",
    ),
    System(
        "L8",
        "sec. 4",
        "CMAC: control functions from a table in memory",
        missing="not covered: the paper has one sentence about it",
    ),
    System(
        "L9",
        "sec. 4",
        "near-minimum-time control within torque limits",
        ("tf.control.NearMinimumTime",),
        "control/test_near_minimum_time.py::test_forces_reach_their_limits_and_the_robot_the_target",
    ),
    System(
        "L10",
        "sec. 4",
        "linearisation about a motion, and a linear feedback law from it",
        ("tf.linearise", "tf.analysis.linear_feedback", "tf.control.LinearFeedback"),
        "analysis/test_regulators.py::test_small_errors_follow_the_linearised_robot",
    ),
    System(
        "L11",
        "sec. 4, eq. 4.1",
        "computed torque with full gain matrices; the model may differ from the plant",
        ("tf.control.ComputedTorque(kp=100.0, kv=20.0)", "tf.simulate(plant=None)"),
        f"{LAWS}::test_full_gain_matrices_are_used_as_they_are",
    ),
    System(
        "L12",
        "sec. 4, eq. 4.4",
        "the law on a chosen formulation",
        ('tf.control.ComputedTorque(formulation="lagrange-euler")',),
        f"{CHOSEN_LAW}::test_lees_comparison_runs_on_any_arm",
    ),
    System(
        "L13",
        "sec. 4, eqs 4.2, 4.3",
        "error equation, and the three conditions on the gains",
        ("tf.control.ComputedTorque(check=True)",),
        f"{LAWS}::test_the_closed_loop_of_an_arm",
    ),
    System(
        "L14",
        "sec. 4, eqs 4.5-4.41",
        "derivation that both laws are the same",
        ('tauforge_papers.derivation.derivation_steps(paper="lee1982")',),
        "papers/test_derivation.py::test_every_step_of_anybodys_arm_agrees_as_mended",
    ),
    System(
        "L15",
        "sec. 5",
        "gains from a natural frequency",
        ("tf.control.gains",),
        f"{CHOSEN_LAW}::test_gains_are_those_of_a_damped_oscillator",
    ),
    System(
        "L16",
        "sec. 5, Tables 1, 2",
        "operation counts of the controllers, the law included",
        ("tf.operation_count",),
        f"{CHOSEN_LAW}::test_a_law_costs_its_inverse_dynamics_and_the_correction",
    ),
    System(
        "L17",
        "sec. 5",
        "processor time of a law from counts and instruction times",
        ("tf.operation_count().seconds",),
        f"{CHOSEN_LAW}::test_seconds_are_counts_by_times",
    ),
    System(
        "L18",
        "sec. 5",
        "time delay in the servo loop",
        ("tf.simulate(delay=0.003)", "tf.rollout(delay=0.003)"),
        "simulation/test_sensors.py::test_forces_are_late",
    ),
    System(
        "L19",
        "sec. 5, Fig. 2",
        "sampled controller and 12-bit converter",
        ("tf.simulate(control_period=0.01, sensors=None)", "tf.Sensors(bits=12)"),
        "simulation/test_sensors.py::test_each_row_has_sensors_of_its_own",
    ),
    System(
        "L20",
        "sec. 5, Figs 3-8",
        "worked example: move of a PUMA, position error of each joint",
        ("tauforge reproduce --robot --motion", "tf.motion.JointMove", "tf.Recording.error", "tf.Recording.plot"),
        "papers/test_own_robot.py::test_lees_figures",
    ),
    System(
        "L21",
        "sec. 5",
        "adaptive feedback gains",
        ("tf.control.AdaptiveGains",),
        "control/test_adaptive_gains.py::test_an_unknown_load_leaves_less_error",
    ),
    System(
        "L22",
        "sec. 5",
        "adaptive control for unknown loads",
        ("tf.control.AdaptiveComputedTorque",),
        f"{LAWS}::test_what_slotine_and_lis_law_learns",
    ),
    System(
        "L23",
        "sec. 5",
        "load that varies within a task cycle",
        ("tf.simulate(payload=None)",),
        "simulation/test_varying_payload.py::test_a_run_is_that_of_robots_that_carry_and_do_not",
    ),
)
