"""Which test gives each outcome of a rule by physics: another robot, another path, another count or a wrong term."""

from __future__ import annotations

import inspect

import pytest

from papers import test_rules_by_counts as counts
from papers import test_rules_by_physics as forces
from papers import test_rules_by_wrong_terms as models
from papers import test_rules_of_angeles as angeles
from papers import test_rules_of_derivations as derivations
from papers import test_rules_of_platforms as platforms
from papers import test_rules_of_runs as runs
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
        "transformation": [angeles.test_two_planar_turns_and_a_full_matrix],
        "products": [angeles.test_products_of_vectors_in_a_plane_and_along_any_axis],
        "outward-count prismatic-count table-7-4-from-7-3": [angeles.test_rows_of_the_chapter_and_of_our_code],
        "table-7-2-sum": [counts.test_rows_add_up_or_one_is_lost],
        "inward-count whole-count": [
            angeles.test_counts_of_the_inward_recursions_as_printed_and_mended_and_of_the_outward_ones
        ],
        "walker-and-orin": [angeles.test_walker_and_orin_beside_others],
        "gravity-cost": [angeles.test_gravity_in_recursions_and_in_energies],
        "prismatic-is-cheaper": [angeles.test_slides_beside_hinges_that_are_parallel],
        "tailored": [angeles.test_arms_that_are_tailored_and_one_with_nothing_aligned],
        "link-motions gravity moving-base": [angeles.test_recursions_and_the_other_way_with_a_wrong_term],
        "prismatic-joints": [angeles.test_slides_as_printed],
        "free-point": [angeles.test_a_point_that_is_moved_and_not_moved_back],
        "orthogonal-complement nullity generalized-inertia no-work range joint-wrenches": [
            angeles.WRONG,
            angeles.test_the_complement_as_it_is,
        ],
        "euler-lagrange state-equation": [
            angeles.WRONG,
            angeles.test_the_complement_as_it_is,
        ],
        "inward-turn prismatic-branch prismatic-moment": [models.test_a_line_of_a_recursion_as_printed],
    },
    "dasgupta1998": {
        "all-effects general": [models.test_a_model_is_judged_as_published_and_mended],
        "elimination moment-along-leg parallel-axis": [models.test_an_equation_is_judged_by_the_forces_with_it],
        "leg-lengths leg-centres no-spin reaction-moment": [forces.test_legs_that_do_not_turn_about_themselves],
        "reaction-forces": [platforms.test_reactions_with_and_without_the_weight_of_the_legs],
        "massless-legs": [forces.test_massless_legs],
        "realistic": [forces.test_inertias_of_boxes_are_realistic],
        "ratio parallel-time": [counts.test_the_printed_flops_of_six_and_of_seven_joints],
        "reactions-cost": [platforms.test_reactions_beside_the_model_and_beside_that_with_massless_legs],
        "forward-kinematics": [counts.test_forward_kinematics_with_and_without_the_terms_of_the_velocity],
        " ".join(forces.FORCES): [forces.FORCES],
        "singular-force": [forces.test_a_clear_singularity],
        "condition-predicts": [forces.test_the_condition_number_is_highest_where_the_forces_are],
        "no-support": [forces.test_what_a_singular_pose_cannot_carry_and_a_regular_one_can],
        "direct-relation": [forces.test_higher_condition_numbers_mean_higher_forces],
        "condition-limits": [forces.test_limits_of_the_condition_number],
        "qualitative-measure": [forces.test_whether_the_condition_number_orders_poses_as_that_without_dimensions],
        "spherical-legs": [platforms.test_spherical_legs_light_symmetric_and_universal],
        "planning-avoids": [platforms.test_a_planned_path_and_the_straight_line_itself],
    },
    "lee1982": {
        "identities derivation derivation-slips energies": [derivations.test_steps_as_printed_and_mended],
        "derivatives": [derivations.test_notation_with_wrong_terms],
        "base-axes": [derivations.test_base_axes_with_a_wrong_term],
        "same-law": [derivations.test_formulations_with_and_without_gravity_are_equivalent_or_not],
        "second-moments": [derivations.test_second_moments_of_links_in_principal_axes_and_in_others],
        "error-dies-out joints-apart": [runs.test_errors_die_out_with_the_right_model_and_joints_stay_apart],
        "d-non-singular": [runs.test_a_last_link_without_mass_makes_d_singular],
        "compensation": [runs.test_what_a_law_compensates],
        "stability gains-by-criterion": [models.test_gains_that_keep_and_break_the_conditions],
        "ten-hertz": [models.test_a_natural_frequency],
        "resolved-rate": [runs.test_drawbacks_of_the_inverse_jacobian],
        "other-papers": [runs.test_operations_of_other_papers],
        "table-1-adds-up table-2-adds-up": [counts.test_rows_add_up_or_one_is_lost],
        "about-100": [
            counts.test_about_a_hundred_times,
            counts.test_about_a_hundred_times_for_multiplications_of_five_joints,
        ],
        "extremely-inefficient": [counts.test_extremely_inefficient],
        "three-milliseconds real-time": [counts.test_a_set_point_on_the_papers_computer],
        "missing-mass": [models.test_a_line_of_a_recursion_as_printed],
    },
    "pedrammehr2012": {
        "lengths spin acceleration-by-components": [platforms.test_rates_with_and_without_the_spin],
        "not-full-rank": [models.test_the_third_equation_makes_the_system_regular],
        "spin-rate vector-equations parallel-axes": [models.test_an_equation_is_judged_by_the_forces_with_it],
        "consistent-pods other-pods perpendicular-pods": [models.test_pods_that_agree_and_pods_that_do_not],
        "no-spin-no-difference": [platforms.test_a_pod_that_does_not_turn_about_itself_and_one_that_does],
        "all-effects": [models.test_a_model_is_judged_as_published_and_mended],
        "previous-models": [platforms.test_what_previous_models_leave_out],
        "moment-along-c": [platforms.test_a_moment_along_the_normal_of_the_joint_and_along_the_pod],
        "no-moment-along-the-pod": [platforms.test_a_moment_has_no_part_along_a_pod_that_lies_along_the_fixed_axis],
        "closed-form": [models.test_a_closed_form_with_all_terms_with_all_but_one_and_without],
        "accuracy-path-2 accuracy-path-3": [models.test_a_model_is_more_accurate_than_another],
        "similar-trends": [models.test_similar_trends_and_other_amplitudes],
        "significant-differences": [platforms.test_differences_that_show_which_model_is_wrong],
        "significantly-improved": [models.test_errors_fall_significantly],
        "path-1": [platforms.test_a_path_of_the_printed_velocity],
    },
    "turney1980": {
        "identities derivatives inertial-matrix": [derivations.test_notation_with_wrong_terms],
        "spin-matrix": [derivations.test_a_factor_of_the_spin_matrices],
        "derivation derivation-slips velocities": [derivations.test_steps_as_printed_and_mended],
        "base-axes": [derivations.test_base_axes_with_a_wrong_term],
        "slopes-of-the-energy symmetry kinetic-energy potential-energy base-acceleration": [
            derivations.test_energies_with_other_states_and_wrong_terms
        ],
        "equivalence": [derivations.test_formulations_with_and_without_gravity_are_equivalent_or_not],
        "angular-acceleration misprint-k misprint-5-2-axial misprint-5-2-last misprint-strobing": [
            models.test_a_line_of_a_recursion_as_printed
        ],
        "wrist-forces": [runs.test_a_force_at_the_hand_that_is_felt_in_part],
        "table-2-sum table-3-sum table-4-sum table-5-sum": [counts.test_rows_add_up_or_one_is_lost],
        "table-3-rows table-4-rows": [counts.test_rows_of_terms_as_printed_and_as_counted],
        "appendix-second-derivatives appendix-kinetic-term appendix-kinetic-terms": [
            counts.test_formulas_of_the_appendix_and_their_parts
        ],
        "appendix-total": [counts.test_totals_of_the_appendix_and_sums_of_its_parts],
        "q-products": [counts.test_products_with_q_and_with_a_full_matrix],
        "orders form-mass-matrix form-coriolis form-simulation lagrange-as-set-forth": [
            counts.test_forms_in_the_number_of_joints
        ],
        "recursion-most-efficient": [counts.test_formulations_of_one_joint_and_of_six],
        "modified-cheaper": [counts.test_the_modified_set_in_principal_axes_and_in_others],
        "table-5-schedule": [counts.test_stages_with_forces_beside_and_ahead_of_moments],
        "parallelism": [counts.test_steps_by_rows_and_by_operations],
        "effort-explicit effort-mass-matrix effort-simulation": [counts.test_the_effort_of_strobing],
        "strobed-simulation": [runs.test_strobing_with_and_without_gravity_in_the_run_at_the_given_speeds],
        "runge-kutta": [runs.test_the_order_of_runge_kutta_and_of_euler],
        "no-pivoting": [runs.test_elimination_of_a_matrix_that_is_not_positive],
        "insignificant-terms": [runs.test_terms_of_a_fast_pendulum_and_of_a_slow_arm],
    },
}
WITHOUT: dict[tuple[str, str], str] = {}  # claims of rules with an outcome that no physics gives -> the reason


def text_of(test):
    return repr(test) if isinstance(test, dict) else inspect.getsource(test)


@pytest.mark.parametrize("paper", STUDIES)
def test_physics_gives_each_outcome_of_each_rule_or_there_is_a_reason(paper):
    """Outcomes of a claim: its verdict and those of its other evidence, as the test of its study finds."""
    study, tests = STUDIES[paper], BY_PHYSICS[paper]
    listed = [name for names in tests for name in names.split()]
    reasons = [name for of, name in WITHOUT if of == paper]
    assert sorted(listed + reasons) == sorted(study.OTHERS)
    for names, given in tests.items():
        text = "".join(map(text_of, given))
        for name in names.split():
            outcomes = {study.VERDICTS[name], *study.OTHERS[name]}
            assert {outcome for outcome in outcomes if f'"{outcome}"' in text.replace("'", '"')} == outcomes, name
