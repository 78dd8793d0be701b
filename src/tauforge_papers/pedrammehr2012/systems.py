"""What Pedrammehr, Mahboubkhah & Khani 2012 describe, for a platform of anybody's."""

from __future__ import annotations

from tauforge_papers.systems import System

EXACT_LEGS = "formulations/stewart/test_exact.py"
LEG_MOTION = f"{EXACT_LEGS}::test_leg_motion_is_the_derivative_of_position"
MODELS = "robots/stewart/test_stewart_platform.py::test_models_and_corrections"
SYSTEMS = (
    System(
        "P1",
        "sec. 3, eqs 1-9, appendix 1",
        "inverse kinematics: lengths, speeds and accelerations of the pods",
        ("platform.inverse_kinematics", "platform.leg_motion"),
        LEG_MOTION,
    ),
    System(
        "P2",
        "secs 4, 6, eqs 10, 11, 26-30",
        "motion of the platform's joints; mass centres of both parts of a pod and their accelerations",
        ("platform.leg_motion().joint_accelerations", "platform.leg_bodies"),
        f"{EXACT_LEGS}::test_leg_bodies_are_those_of_positions_and_of_their_second_derivatives",
    ),
    System(
        "P3",
        "sec. 5, eqs 12, 15-17, 22-25, Fig. 2",
        "angular velocity and acceleration of a pod with the spin that its universal joint gives",
        (
            "platform.leg_motion().angular_velocities",
            "platform.leg_motion().angular_accelerations",
            "platform.leg_motion().spins",
            "platform.leg_motion().spin_rates",
        ),
        LEG_MOTION,
    ),
    System(
        "P4",
        "sec. 5, eqs 12-14, 18-21, 24",
        "components about the two axes of the universal joint",
        ("platform.leg_motion().universal_rates", "platform.leg_motion().universal_accelerations"),
        LEG_MOTION,
    ),
    System(
        "P5",
        "secs 5, 9",
        "simplified rotations, without spin",
        ("platform.leg_motion(spin=False)",),
        f"{EXACT_LEGS}::test_legs_that_do_not_turn_about_themselves_lose_the_spin_and_nothing_else",
    ),
    System(
        "P6",
        "secs 7, 8, eqs 31, 34-40, 45-47, 49, Figs 3, 4",
        "dynamics of pods and platform with the reaction moment along the normal of the joint's axes",
        ('platform.inverse_dynamics(model="pedrammehr2012")', "platform.joint_reactions"),
        MODELS,
    ),
    System(
        "P7",
        "eqs 32, 33, 50",
        "inertia tensors with parallel-axis terms, as printed and corrected",
        ('platform.inverse_dynamics(model="pedrammehr2012", corrections=("legs_once", "platform_once"))',),
        MODELS,
    ),
    System(
        "P8",
        "sec. 7, eqs 41-44, appendix 1",
        "closed form of the pod forces",
        ('platform.inverse_dynamics(model="pedrammehr2012-closed", corrections=())',),
        MODELS,
    ),
    System(
        "P9",
        "eqs 42, 43, 48, 51",
        "the closed form as matrices",
        ("tf.analysis.closed_form_terms",),
        "analysis/test_stewart_closed_form.py::test_the_matrices_give_the_forces_of_the_closed_form",
    ),
    System(
        "P10",
        "sec. 9, list of improvements",
        "each improvement apart, and models side by side along a motion",
        ("tf.analysis.assess", "tf.analysis.compare", "tauforge compare --motion"),
        "cli/test_robots.py::test_compare_models",
    ),
    System(
        "P11",
        "sec. 9, appendix 2",
        "worked example: manipulator, paths at constant velocity and with blends",
        (
            'tf.load("pedrammehr2012")',
            "tauforge reproduce --robot --motion",
            "tf.motion.StraightLine",
            "tf.motion.PoseMotion",
            "tf.motion.Sampled",
        ),
        "papers/test_own_robot.py::test_pedrammehrs_figures",
    ),
    System(
        "P12",
        "Figs 5-10",
        "figures along a path: rotations of six pods with and without spin, forces of two models, differences",
        (
            "tauforge reproduce --robot --motion",
            "tf.analysis.leg_rotations().plot",
            "tf.analysis.compare().plot",
        ),
        "papers/test_own_robot.py::test_pedrammehrs_figures",
    ),
    System(
        "P13",
        "sec. 9",
        "elapsed time of the algorithm along a path",
        ("tf.analysis.time_per_state(states=None)", "tauforge bench"),
        "analysis/test_timing.py::test_single_calls_and_batches_of_a_motion_are_measured",
    ),
)
