"""What Pedrammehr, Mahboubkhah & Khani 2012 say about the motion of the pods, beside what we measured."""

from __future__ import annotations

from tauforge_papers.pedrammehr2012.measured import Measured
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged, true_in_parts, true_or_not
from tauforge_papers.stewart_rules import EQUATION
from tauforge_papers.wording import ROUNDING, within

CLOSE = 0.05  # beside the largest magnitude of the pod: curves that nearly coincide in a figure of it
VELOCITY_PODS, ACCELERATION_PODS = (1, 2, 6), (3,)  # which the paper finds consistent on path 1

DERIVATIVES = true_or_not(
    "It holds if every rate that the equations give is the derivative of the positions or rates it is said to be the "
    f"derivative of, within {ROUNDING:g} of the largest, along path 3 and at random fast states of a random platform.",
    holds=lambda errors, rounding: max(errors) < rounding,
    rounding=ROUNDING,
)
NOT_FULL_RANK = true_or_not(
    "It holds if the least singular value of the 3 x 3 matrix by which eq. 10 has omega_l, and eq. 11 alpha_l, is "
    f'below {ROUNDING:g} of the largest, for every pod along path 3 ("not full rank").',
    holds=lambda least, rounding: least < rounding,
    rounding=ROUNDING,
)
CONSISTENT = true_in_parts(
    "A pod is one part. Its part is true if the two curves differ by less than 5 % of the pod's largest value (\"great "
    'extent of consistency").',
    parts=lambda velocities, accelerations, close: [x < close for x in (*velocities, *accelerations)],
    close=CLOSE,
)
OTHER_PODS = true_in_parts(
    "A pod is one part, of the velocity or of the acceleration, which the paper does not find consistent. Its part is "
    'true if the two curves differ by 5 % of the pod\'s largest value at least ("differences in other pods").',
    parts=lambda velocities, accelerations, close: [x >= close for x in (*velocities, *accelerations)],
    close=CLOSE,
)
PERPENDICULAR = true_in_parts(
    "A pod is one part. Its part is true if the component along the pod stays below 5 % of the pod's largest value "
    '("perpendicular to the direction of the pod": within 3 degrees).',
    parts=lambda velocities, accelerations, close: [x < close for x in (*velocities, *accelerations)],
    close=CLOSE,
)
IDENTICAL = true_or_not(
    "It holds if, in every pod that does not turn about itself on a path, the angular velocities and accelerations of "
    f'both models differ by less than {ROUNDING:g} of the largest ("identical").',
    holds=lambda differences, rounding: max(differences) < rounding,
    rounding=ROUNDING,
)
LOW = not_judged(
    'The paper gives no measure of "low precision", so that the cost of leaving out the spin alone is shown without a '
    "verdict."
)


def claims(m: Measured) -> tuple[Claim, ...]:
    return (*_equations(m), *_curves(m))


def _equations(m: Measured) -> tuple[Claim, ...]:
    k = m.kinematics
    lengths = m.kinematic_error("length_rate", "length_acceleration")
    velocities = m.kinematic_error("velocity_by_components", "velocity_by_parts")
    by_components = m.kinematic_error("acceleration_by_components", "acceleration_along_u")
    (by_parts,) = m.kinematic_error("acceleration_by_parts")
    error, largest = k.spin_rate_as_printed
    slow, fast = m.spin_rate_costs
    without, turning = k.velocity_without_spin
    second, least = m.rank_values
    return (
        Claim(
            name="lengths",
            where="sec. 3, eqs 1-9",
            claim="Eqs 1-9 give the lengths of the pods, their rates and their accelerations",
            printed="l' (m/s), l'' (m/s²)",
            measured=f"{within(max(lengths))} of the largest value",
            reason="Compared with derivatives of the length by dual numbers. Eq. 9 uses omega_l, whose spin drops out.",
            rule=DERIVATIVES,
            evidence={"errors": lengths},
        ),
        Claim(
            name="not-full-rank",
            where="sec. 5, eqs 10, 11",
            claim="The 3 x 3 systems of eqs 10 and 11 for omega_l and alpha_l are not of full rank",
            printed="not full rank",
            measured=f"rank 2: least singular value {within(least)} of the largest, the second at least "
            f"{second:.2f} of it",
            reason="Both unknowns stand in a cross product with l n, which says nothing of their part along n. The "
            "universal joint gives the third equation.",
            rule=NOT_FULL_RANK,
            evidence={"least": least},
        ),
        Claim(
            name="spin",
            where="sec. 5, eqs 10-17",
            claim="The universal joint lets a pod rotate about its axis, and eqs 12-17 give its exact angular velocity",
            printed="exact, rad/s",
            measured=f"both forms {within(max(velocities))} of the largest value; without the spin wrong by "
            f"{without:.3f} of {turning:.3f} rad/s on path 3",
            reason="One form has components along the joint's axes (12-14), the other parts across and along the pod "
            "(15-17). Both were compared with the rotation of the pod's own axes, differentiated from positions alone.",
            rule=DERIVATIVES,
            evidence={"errors": velocities},
        ),
        Claim(
            name="acceleration-by-components",
            where="sec. 5, eqs 11, 18-24",
            claim="Eqs 18-21 give the angular acceleration of a pod by its components along the joint's axes, of which "
            "eq. 24 gives the first again",
            printed="exact, rad/s²",
            measured=f"{within(max(by_components))} of the largest value",
            reason="Compared with the derivative of the angular velocity. Eq. 21 is read with the vector c after "
            "omega_u omega_v, which our text lacks and without which a number would stand before a cross product. The "
            f"form by parts (22-25) gives the same {within(by_parts)} once eq. 25 is corrected.",
            rule=DERIVATIVES,
            evidence={"errors": by_components},
            equations=dict.fromkeys(("18", "19", "20", "21", "24"), max(by_components)),
        ),
        Claim(
            name="spin-rate",
            where="sec. 5, eqs 24, 25",
            claim="The rate of the spin is (alpha_n.u)(u.n) / (1 - (u.n)²) - omega_u omega_v",
            printed="alpha_t, rad/s²",
            measured=f"off by up to {error:.2f} of {largest:.2f} rad/s² on path 3; forces wrong by {slow:.4f} N on "
            f"path 2, {fast:.2f} N on path 3",
            reason="Eqs 18, 22 and 24 give the last term + omega_u omega_v / (c.n). It equals the printed one where "
            "the pod is normal to the joint's fixed axis, c.n = -1 with v along u x n; with v the other way the "
            "printed sign is wrong too. Eq. 43 repeats the printed term.",
            rule=EQUATION,
            evidence={"errors": [slow, fast], "peak": m.costs.peaks[1]},
        ),
    )


def _curves(m: Measured) -> tuple[Claim, ...]:
    velocity, acceleration = m.rotations["1"]
    differences = {
        "velocities": [float(velocity.apart[pod - 1]) for pod in VELOCITY_PODS],
        "accelerations": [float(acceleration.apart[pod - 1]) for pod in ACCELERATION_PODS],
    }
    along = {
        "velocities": [float(velocity.beside(velocity.along)[pod - 1]) for pod in VELOCITY_PODS],
        "accelerations": [float(acceleration.beside(acceleration.along)[pod - 1]) for pod in ACCELERATION_PODS],
    }
    others = {
        "velocities": [float(velocity.apart[pod - 1]) for pod in _others(VELOCITY_PODS)],
        "accelerations": [float(acceleration.apart[pod - 1]) for pod in _others(ACCELERATION_PODS)],
    }
    whole = [float(m.rotations["1 whole"][0].apart[pod - 1]) for pod in VELOCITY_PODS]
    whole += [float(m.rotations["1 whole"][1].apart[pod - 1]) for pod in ACCELERATION_PODS]
    by_parts = float(acceleration.across_apart[ACCELERATION_PODS[0] - 1])
    still = [(name, pod) for name in ("1", "2", "3") for pod in range(6) if _is_still(m, name, pod)]
    same = [float(rotation.apart[pod]) for name, pod in still for rotation in m.rotations[name]]
    where = ", ".join(f"pod {pod + 1} on path {name}" for name, pod in still)
    slow, fast = m.costs.of("no leg spin")
    return (
        Claim(
            name="consistent-pods",
            where="sec. 9, Figs 5 and 6",
            claim="On path 1 both models agree to a great extent in the angular velocity of pods 1, 2 and 6 and in the "
            "angular acceleration of pod 3",
            printed="great extent of consistency (-)",
            measured=f"velocities differ by {_percents(differences['velocities'])} in pods 1, 2 and 6; accelerations "
            f"by {_percents(differences['accelerations'])} in pod 3",
            reason="Differences of magnitudes, over the largest of the pod. The simplified acceleration is that of "
            "Dasgupta 1998; if it is the part of alpha_l across the pod (eq. 23), pod 3 differs by "
            f"{100 * by_parts:.1f} %. At 0.5/6 m/s the numbers are {_percents(whole)}. In pod 4, which the paper does "
            "not name, both agree exactly: its fixed axis, taken from Dasgupta 1998 since this paper lists none, lies "
            "along the motion.",
            rule=CONSISTENT,
            evidence=differences,
        ),
        Claim(
            name="other-pods",
            where="sec. 9, Figs 5 and 6",
            claim="The differences in the other pods present the contribution of the components along the pods",
            printed="differences in other pods (-)",
            measured=f"velocities differ by {_percents(others['velocities'])} in pods {_named(VELOCITY_PODS)}; "
            f"accelerations by {_percents(others['accelerations'])} in pods {_named(ACCELERATION_PODS)}",
            reason="Magnitudes, beside the largest of the pod, on path 1. The velocity of pod 5 is beside the "
            f"threshold of {100 * CLOSE:.0f} %: at {100 * others['velocities'][2]:.1f} % it counts as no difference. "
            "That pod 4 shows no difference follows from the axes of Dasgupta 1998. Since the paper does not name it "
            "beside pods 1, 2 and 6, its own axes, which it does not list, may have been others.",
            rule=OTHER_PODS,
            evidence=others,
        ),
        Claim(
            name="perpendicular-pods",
            where="sec. 9, Figs 5 and 6",
            claim="Therefore the angular velocities or accelerations of those pods are perpendicular to the pods",
            printed="perpendicular (-)",
            measured=f"the component along the pod is up to {_percents(along['velocities'])} of the velocity in pods "
            f"1, 2 and 6, {_percents(along['accelerations'])} of the acceleration in pod 3",
            reason="A component of 15 % along the pod changes the magnitude by only 1 %, so curves of magnitudes do "
            "not show it.",
            rule=PERPENDICULAR,
            evidence=along,
        ),
        Claim(
            name="no-spin-no-difference",
            where="sec. 9, Figs 5-8",
            claim="Both models give the same angular velocity and acceleration of a pod that does not rotate about its "
            "axis",
            printed="identical",
            measured=f"{within(max(same))} of the largest value in {where}",
            reason="Without spin omega_l is omega_n, and eqs 22-25 become those of Dasgupta 1998.",
            rule=IDENTICAL,
            evidence={"differences": same},
        ),
        Claim(
            name="low-precision",
            where="sec. 9",
            claim="To neglect the rotation of the pods about their axes leads to a low precision of the formulation",
            printed="low precision",
            measured=f"forces wrong by up to {slow:.2f} N of {m.costs.peaks[0]:.0f} N on path 2, {fast:.1f} N of "
            f"{m.costs.peaks[1]:.0f} N on path 3",
            reason="Everything else is exact. The spin itself is up to "
            f"{100 * m.rotations['3'][0].beside(m.rotations['3'][0].along).max():.0f} % of a pod's angular velocity.",
            rule=LOW,
        ),
    )


def _others(pods: tuple[int, ...]) -> list[int]:
    return [pod for pod in range(1, 7) if pod not in pods]


def _named(pods: tuple[int, ...]) -> str:
    """The pods that are not these."""
    *most, last = map(str, _others(pods))
    return f"{', '.join(most)} and {last}"


def _is_still(m: Measured, name: str, pod: int) -> bool:
    return all(rotation.beside(rotation.along)[pod] < ROUNDING for rotation in m.rotations[name])


def _percents(shares: list[float]) -> str:
    return ", ".join(f"{100 * share:.1f}" for share in shares) + " %"
