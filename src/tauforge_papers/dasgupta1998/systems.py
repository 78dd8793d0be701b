"""What Dasgupta & Mruthyunjaya 1998 describe, for a platform of anybody's."""

from __future__ import annotations

from tauforge_papers.systems import System

EXACT_LEGS = "formulations/stewart/test_exact.py"
FORCES = "analysis/test_stewart_forces.py"
PARTS = "analysis/test_stewart_curves.py::test_parts_of_leg_forces_are_those_of_platforms_that_lack_the_others"
OPERATIONS = "analysis/test_stewart_operations.py::test_parts_add_up_to_the_whole"
SYSTEMS = (
    System(
        "D1",
        "sec. 1, Figs 1, 2, appendix",
        "general 6-UPS platform: any joint points, fixed axes and masses, each leg its own data",
        ("tf.StewartPlatform", "platform.save", "tf.load"),
        "robots/stewart/test_stewart_platform.py::test_a_leg_counts_by_its_own_data",
    ),
    System(
        "D2",
        "secs 1, 2.1",
        "spherical joints at both ends of the legs (6-SPS)",
        ('tf.StewartPlatform(base_joint="spherical")',),
        "formulations/stewart/test_spherical_legs.py::test_lagrange_in_twelve_coordinates",
    ),
    System(
        "D3",
        "sec. 2.1, eqs 1-5, 7, 8",
        "inverse kinematics of a leg: length, direction, speed and acceleration of sliding",
        ("platform.inverse_kinematics", "platform.leg_motion().rates", "platform.leg_motion().accelerations"),
        f"{EXACT_LEGS}::test_leg_motion_is_the_derivative_of_position",
    ),
    System(
        "D4",
        "sec. 2.1, eqs 6, 9",
        "angular velocity and acceleration of a leg that does not turn about itself",
        ("platform.leg_motion(spin=False).angular_velocities", "platform.leg_motion(spin=False).angular_accelerations"),
        f"{EXACT_LEGS}::test_legs_that_do_not_turn_about_themselves_lose_the_spin_and_nothing_else",
    ),
    System(
        "D5",
        "sec. 2.2, eqs 10-16",
        "axes of a leg, mass centres of both parts, their accelerations and inertias",
        ("platform.leg_bodies",),
        f"{EXACT_LEGS}::test_leg_bodies_are_those_of_positions_and_of_their_second_derivatives",
    ),
    System(
        "D6",
        "secs 2.3, 3.1, 3.2, eqs 17-24, 30-37",
        "elimination to six linear equations; actuator forces",
        ('platform.inverse_dynamics(model="dasgupta1998", corrections=())', "platform.force_matrix"),
        "robots/stewart/test_stewart_platform.py::test_models_and_corrections",
    ),
    System(
        "D7",
        "sec. 3.3, eqs 17, 21, 25-29",
        "constraint forces and moments at universal, prismatic and spherical joints",
        ("platform.joint_reactions", "tf.analysis.size_actuators"),
        f"{EXACT_LEGS}::test_newton_euler_over_13_bodies",
    ),
    System(
        "D8",
        "secs 1, 2.3, 3.2, 5",
        "external force and moment in platform axes; viscous friction at the three joints of a leg",
        (
            'platform.inverse_dynamics(external_wrench=None, wrench_frame="platform")',
            "tf.StewartPlatform(friction=(0.1, 0.2, 0.3))",
        ),
        "robots/stewart/test_stewart_platform.py::test_wrench_frame",
    ),
    System(
        "D9",
        "sec. 4.2, eq. 36",
        "condition number of H; singular poses along a path",
        ("platform.condition_number", "tf.analysis.crossings", "tf.analysis.best_characteristic_length"),
        "robots/stewart/test_limits.py::test_condition_number",
    ),
    System(
        "D10",
        "secs 4.2, 5.2",
        "freedoms that a singular pose gives, the free twist, the load that no leg forces carry",
        ("tf.analysis.singular_freedoms",),
        f"{FORCES}::test_a_singular_pose_frees_a_twist_and_leaves_a_part_of_the_load",
    ),
    System(
        "D11",
        "secs 4.1, 4.3, eqs 38-40, Fig. 3",
        "straight line with parabolic blends; orientation by roll, pitch and yaw",
        ('tf.motion.StraightLine(orientation="angles")', "tf.motion.twists", "tf.motion.pose_rates"),
        "motion/test_motion.py::test_velocities_and_accelerations_are_derivatives",
    ),
    System(
        "D12",
        "sec. 4.3",
        "planning in joint space: forward kinematics of position, velocity and acceleration",
        ("platform.forward_kinematics", "platform.track", "platform.forward_rates"),
        "robots/stewart/test_pose_search.py::test_forward_rates_undo_leg_motion",
    ),
    System(
        "D13",
        "sec. 4.4, eqs 41, 42",
        "forces with massless legs and smooth joints; the difference from the whole",
        ("tf.analysis.leg_force_parts().massless", "tf.analysis.leg_force_parts().difference"),
        PARTS,
    ),
    System(
        "D14",
        "secs 4.4, 5.1",
        "dynamic fraction of each leg; the difference parted into weight, inertia and friction",
        ("tf.analysis.leg_force_parts().fraction", "tf.analysis.leg_force_parts().inertia"),
        PARTS,
    ),
    System(
        "D15",
        "secs 4.5, 6",
        "operation count of the whole method, and beside a serial arm's",
        ("tf.operation_count", "tauforge complexity"),
        "analysis/test_stewart_operations.py::test_legs_on_a_circle_whose_axes_lie_in_a_plane_cost_less",
    ),
    System(
        "D16",
        "sec. 4.5",
        "operation count by part: leg, platform, final system",
        ("tf.analysis.operation_parts",),
        OPERATIONS,
    ),
    System(
        "D17",
        "secs 4.5, 6",
        "parallel execution: six legs and the platform side by side, then the final system",
        ("tf.analysis.operation_parts().parallel",),
        OPERATIONS,
    ),
    System(
        "D18",
        "sec. 5, appendix",
        "worked example: test manipulator, paths I to III, other masses and speeds",
        ('tf.load("dasgupta1998")', "platform.replace", "tauforge reproduce --robot --motion"),
        "papers/test_own_robot.py::test_dasguptas_figures",
    ),
    System(
        "D19",
        "Figs 4-10",
        "figures along a path: forces of six legs, dynamic fractions, condition number",
        ("tauforge reproduce --robot --motion", "tf.analysis.leg_force_parts().plot", "platform.condition_number"),
        "papers/test_own_robot.py::test_dasguptas_figures",
    ),
    System(
        "D20",
        "sec. 6",
        "path that keeps the condition number small all along",
        ("tf.motion.WellConditionedPath",),
        "motion/test_well_conditioned.py::test_never_worse_than_the_straight_line",
    ),
    System(
        "D21",
        "sec. 6",
        "closed-form dynamic equations for simulation and control",
        (
            "platform.mass_matrix",
            "platform.bias_wrench",
            "platform.forward_dynamics",
            "tf.control.ComputedTorque",
            "tf.linearise",
        ),
        "formulations/stewart/test_closed_form.py::test_the_closed_form",
    ),
)
