"""Which test gives each outcome of a rule by physics: another robot, another path, another count or a wrong term."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from support import angeles_verdicts, dasgupta_verdicts, lee_verdicts, pedrammehr_verdicts, turney_verdicts

STUDIES = {
    "angeles": angeles_verdicts,
    "dasgupta1998": dasgupta_verdicts,
    "lee1982": lee_verdicts,
    "pedrammehr2012": pedrammehr_verdicts,
    "turney1980": turney_verdicts,
}
BY_PHYSICS = {  # paper -> claims of rules -> tests, or tables of them, that together give each outcome
    "angeles": {
        "transformation": ["test_two_planar_turns_and_a_full_matrix"],
        "products": ["test_products_of_vectors_in_a_plane_and_along_any_axis"],
        "outward-count prismatic-count table-7-4-from-7-3": ["test_rows_of_the_chapter_and_of_our_code"],
        "table-7-2-sum": ["test_rows_add_up_or_one_is_lost"],
        "inward-count whole-count": [
            "test_counts_of_the_inward_recursions_as_printed_and_mended_and_of_the_outward_ones"
        ],
        "walker-and-orin": ["test_walker_and_orin_beside_others"],
        "gravity-cost": ["test_gravity_in_recursions_and_in_energies"],
        "prismatic-is-cheaper": ["test_slides_beside_hinges_that_are_parallel"],
        "tailored": ["test_arms_that_are_tailored_and_one_with_nothing_aligned"],
        "link-motions gravity moving-base": ["test_recursions_and_the_other_way_with_a_wrong_term"],
        "prismatic-joints": ["test_slides_as_printed"],
        "free-point": ["test_a_point_that_is_moved_and_not_moved_back"],
        "orthogonal-complement nullity generalized-inertia no-work range joint-wrenches euler-lagrange "
        "state-equation": [
            "WRONG",
            "test_the_complement_as_it_is",
        ],
        "inward-turn prismatic-branch prismatic-moment": ["test_a_line_of_a_recursion_as_printed"],
    },
    "dasgupta1998": {
        "all-effects general": ["test_a_model_is_judged_as_published_and_mended"],
        "elimination moment-along-leg parallel-axis": ["test_an_equation_is_judged_by_the_forces_with_it"],
        "leg-lengths leg-centres no-spin reaction-moment": ["test_legs_that_do_not_turn_about_themselves"],
        "reaction-forces": ["test_reactions_with_and_without_the_weight_of_the_legs"],
        "massless-legs": ["test_massless_legs"],
        "realistic": ["test_inertias_of_boxes_are_realistic"],
        "ratio parallel-time": ["test_the_printed_flops_of_six_and_of_seven_joints"],
        "reactions-cost": ["test_reactions_beside_the_model_and_beside_that_with_massless_legs"],
        "forward-kinematics": ["test_forward_kinematics_with_and_without_the_terms_of_the_velocity"],
        "trajectory moderate smooth well-conditioned legs-share inertia-or-weight crossing light-platform speed-raises "
        "steep-changes usual-share share-increases": ["FORCES"],
        "singular-force": ["test_a_clear_singularity"],
        "condition-predicts": ["test_the_condition_number_is_highest_where_the_forces_are"],
        "no-support": ["test_what_a_singular_pose_cannot_carry_and_a_regular_one_can"],
        "direct-relation": ["test_higher_condition_numbers_mean_higher_forces"],
        "condition-limits": ["test_limits_of_the_condition_number"],
        "qualitative-measure": ["test_whether_the_condition_number_orders_poses_as_that_without_dimensions"],
        "spherical-legs": ["test_spherical_legs_light_symmetric_and_universal"],
        "planning-avoids": ["test_a_planned_path_and_the_straight_line_itself"],
    },
    "lee1982": {
        "identities derivation derivation-slips energies": ["test_steps_as_printed_and_mended"],
        "derivatives": ["test_notation_with_wrong_terms"],
        "base-axes": ["test_base_axes_with_a_wrong_term"],
        "same-law": ["test_formulations_with_and_without_gravity_are_equivalent_or_not"],
        "second-moments": ["test_second_moments_of_links_in_principal_axes_and_in_others"],
        "error-dies-out joints-apart": ["test_errors_die_out_with_the_right_model_and_joints_stay_apart"],
        "d-non-singular": ["test_a_last_link_without_mass_makes_d_singular"],
        "compensation": ["test_what_a_law_compensates"],
        "stability gains-by-criterion": ["test_gains_that_keep_and_break_the_conditions"],
        "ten-hertz": ["test_a_natural_frequency"],
        "resolved-rate": ["test_drawbacks_of_the_inverse_jacobian"],
        "other-papers": ["test_operations_of_other_papers"],
        "table-1-adds-up table-2-adds-up": ["test_rows_add_up_or_one_is_lost"],
        "about-100": [
            "test_about_a_hundred_times",
            "test_about_a_hundred_times_for_multiplications_of_five_joints",
        ],
        "extremely-inefficient": ["test_extremely_inefficient"],
        "three-milliseconds real-time": ["test_a_set_point_on_the_papers_computer"],
        "missing-mass": ["test_a_line_of_a_recursion_as_printed"],
    },
    "pedrammehr2012": {
        "lengths spin acceleration-by-components": ["test_rates_with_and_without_the_spin"],
        "not-full-rank": ["test_the_third_equation_makes_the_system_regular"],
        "spin-rate vector-equations parallel-axes": ["test_an_equation_is_judged_by_the_forces_with_it"],
        "consistent-pods other-pods perpendicular-pods": ["test_pods_that_agree_and_pods_that_do_not"],
        "no-spin-no-difference": ["test_a_pod_that_does_not_turn_about_itself_and_one_that_does"],
        "all-effects": ["test_a_model_is_judged_as_published_and_mended"],
        "previous-models": ["test_what_previous_models_leave_out"],
        "moment-along-c": ["test_a_moment_along_the_normal_of_the_joint_and_along_the_pod"],
        "no-moment-along-the-pod": ["test_a_moment_has_no_part_along_a_pod_that_lies_along_the_fixed_axis"],
        "closed-form": ["test_a_closed_form_with_all_terms_with_all_but_one_and_without"],
        "accuracy-path-2 accuracy-path-3": ["test_a_model_is_more_accurate_than_another"],
        "similar-trends": ["test_similar_trends_and_other_amplitudes"],
        "significant-differences": ["test_differences_that_show_which_model_is_wrong"],
        "significantly-improved": ["test_errors_fall_significantly"],
        "path-1": ["test_a_path_of_the_printed_velocity"],
    },
    "turney1980": {
        "identities derivatives inertial-matrix": ["test_notation_with_wrong_terms"],
        "spin-matrix": ["test_a_factor_of_the_spin_matrices"],
        "derivation derivation-slips velocities": ["test_steps_as_printed_and_mended"],
        "base-axes": ["test_base_axes_with_a_wrong_term"],
        "slopes-of-the-energy symmetry kinetic-energy potential-energy base-acceleration": [
            "test_energies_with_other_states_and_wrong_terms"
        ],
        "equivalence": ["test_formulations_with_and_without_gravity_are_equivalent_or_not"],
        "angular-acceleration misprint-k misprint-5-2-axial misprint-5-2-last misprint-strobing": [
            "test_a_line_of_a_recursion_as_printed"
        ],
        "wrist-forces": ["test_a_force_at_the_hand_that_is_felt_in_part"],
        "table-2-sum table-3-sum table-4-sum table-5-sum": ["test_rows_add_up_or_one_is_lost"],
        "table-3-rows table-4-rows": ["test_rows_of_terms_as_printed_and_as_counted"],
        "appendix-second-derivatives appendix-kinetic-term appendix-kinetic-terms": [
            "test_formulas_of_the_appendix_and_their_parts"
        ],
        "appendix-total": ["test_totals_of_the_appendix_and_sums_of_its_parts"],
        "q-products": ["test_products_with_q_and_with_a_full_matrix"],
        "orders form-mass-matrix form-coriolis form-simulation lagrange-as-set-forth": [
            "test_forms_in_the_number_of_joints"
        ],
        "recursion-most-efficient": ["test_formulations_of_one_joint_and_of_six"],
        "modified-cheaper": ["test_the_modified_set_and_sets_in_its_place"],
        "table-5-schedule": ["test_stages_with_forces_beside_and_ahead_of_moments"],
        "parallelism": ["test_steps_by_rows_and_by_operations"],
        "effort-explicit effort-mass-matrix effort-simulation": ["test_the_effort_of_strobing"],
        "strobed-simulation": ["test_strobing_with_and_without_gravity_in_the_run_at_the_given_speeds"],
        "runge-kutta": ["test_the_order_of_runge_kutta_and_of_euler"],
        "no-pivoting": ["test_elimination_of_a_matrix_that_is_not_positive"],
        "insignificant-terms": ["test_terms_of_a_fast_pendulum_and_of_a_slow_arm"],
    },
}
WITHOUT: dict[tuple[str, str], str] = {}  # claims of rules with an outcome that no physics gives -> the reason


@cache
def texts():
    """Name -> text of every test and table of the files about rules."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("test_rules_*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                decorators = [ast.get_source_segment(source, one) for one in node.decorator_list]
                found[node.name] = "\n".join([*decorators, ast.get_source_segment(source, node)])
            elif isinstance(node, ast.Assign):
                found[node.targets[0].id] = ast.get_source_segment(source, node)
    return found


@pytest.mark.parametrize("paper", STUDIES)
def test_physics_gives_each_outcome_of_each_rule_or_there_is_a_reason(paper):
    """Outcomes of a claim: its verdict and those of its other evidence, as the test of its study finds."""
    study, tests, written = STUDIES[paper], BY_PHYSICS[paper], texts()
    listed = [name for names in tests for name in names.split()]
    reasons = [name for of, name in WITHOUT if of == paper]
    assert sorted(listed + reasons) == sorted(study.OTHERS)
    for names, given in tests.items():
        text = "".join(written[one] for one in given)
        for name in names.split():
            outcomes = {study.VERDICTS[name], *study.OTHERS[name]}
            assert {outcome for outcome in outcomes if f'"{outcome}"' in text} == outcomes, name
