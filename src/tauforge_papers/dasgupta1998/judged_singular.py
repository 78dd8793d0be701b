"""What the paper says of singularities, condition numbers and path III."""

from __future__ import annotations

import numpy as np

from tauforge.analysis.stewart_curves import sign_changes
from tauforge.analysis.stewart_forces import singular_freedoms
from tauforge.robots.poses import transforms
from tauforge_papers.dasgupta1998.measured import ILL, Measured
from tauforge_papers.policy import SAME_ORDER, of_the_order
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged, true_in_parts, true_or_not
from tauforge_papers.wording import ROUNDING, within

POLE, NEAR_POLE = 5, 4  # powers of ten of forces in N, sec. 5.2
UNLIKE = 0.1  # one less the rank correlation of numbers that rise and fall together
SINGULAR = 1e-9  # least singular value of H beside the largest: more than the rounding of the time where det H = 0
UNHELD = 0.01  # of the weight and its moment: a part that is not rounding


CLEAR = true_in_parts(
    "Two parts: det H changes its sign once, and the forces rise to one peak there; and in the paper's own steps of "
    f"0.1 s the largest force is of the order of 10^{POLE} N, at most {SAME_ORDER:.2f} times more or less.",
    parts=lambda crossings, peaks, largest, same_order: [
        crossings == 1 and peaks == 1,
        of_the_order(largest, 10.0**POLE, same_order),
    ],
    same_order=SAME_ORDER,
)
SAME_PLACE = true_or_not(
    "It holds if in the paper's steps the condition number and the forces are highest at the same time (\"precisely at "
    'that location"), one step from the singularity at most.',
    holds=lambda force_time, condition_time, singular_time, step: (
        force_time == condition_time and abs(force_time - singular_time) <= step
    ),
)
NO_SUPPORT = true_or_not(
    "It holds if in the singular pose of path III at least one singular value of H is zero, within "
    f'{SINGULAR:g} of the largest ("gaining one or more degrees of freedom"), and whatever the leg forces are, more '
    f'than {100 * UNHELD:.0f} % of the weight of the platform and its moment is left over ("no system of leg forces").',
    holds=lambda singular_values, left_over, unheld, singular: (
        min(singular_values) < singular * max(singular_values) and left_over > unheld
    ),
    unheld=UNHELD,
    singular=SINGULAR,
)
NEAR = not_judged('The paper does not print the trajectories that it means ("other cases studied, but not reported").')
DIRECT = true_in_parts(
    f"Three parts, the paths of the paper. A part holds if along it the condition number and the largest leg force "
    f'have a rank correlation above {1 - UNLIKE:g} ("higher the condition number, higher are the actuator forces").',
    parts=lambda ranks, unlike: [x > 1 - unlike for x in ranks],
    unlike=UNLIKE,
)
LIMITS = true_in_parts(
    "Two parts: the least singular value of H in the singular pose of path III is below "
    f"{SINGULAR:g} of the largest; of a platform with three orthogonal pairs of legs, where H is isotropic, it is the "
    f"largest within {ROUNDING:g}.",
    parts=lambda singular, isotropic, zero, rounding: [singular < zero, abs(isotropic - 1) < rounding],
    zero=SINGULAR,
    rounding=ROUNDING,
)
RELIABLE = true_in_parts(
    "Six parts, the paths of the paper and three regions of random poses, our choice. A part holds if there the "
    "condition number orders the poses as the one with moments divided by the platform's radius does "
    f'("qualitative"): a rank correlation above {1 - UNLIKE:g}.',
    parts=lambda ranks, unlike: [x > 1 - unlike for x in ranks],
    unlike=UNLIKE,
)


def claims(m: Measured) -> tuple[Claim, ...]:
    return (*_path_three(m), *_conditions(m))


def _path_three(m: Measured) -> tuple[Claim, ...]:
    path, F, exact = m.papers_steps
    true = np.abs(exact).max(axis=1)
    along, fine = np.abs(F).max(axis=1), np.abs(m.forces["III"].T).max(axis=1)
    condition = m.platform.condition_number(path.states.position)
    crossings = int(sign_changes(np.linalg.det(m.platform.force_matrix(path.states.position))[:, None]).sum())
    peaks, true_peaks = (int(((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:])).sum()) for x in (along, true))
    force_time, true_time, condition_time = (float(path.t[x.argmax()]) for x in (along, true, condition))
    values, freedom, left_over = _unsupported(m)
    return (
        Claim(
            name="singular-force",
            where="sec. 5.2, Fig. 9",
            claim="Path III shows a clear singularity where suddenly the forces are very high, of the order of 10^5 N",
            printed="10^5 N",
            measured=f"one peak, {along.max():.1e} N at t = {force_time:.1f} s in the paper's steps of 0.1 s",
            exact=f"{true.max():.1e} N at t = {true_time:.1f} s",
            reason=f"det H = 0 at t = {m.singular_time:.7f} s, so that the forces have a pole there and their peak is "
            f"whatever the time step makes it: {fine.max():.1e} N at t = {m.paths['III'].t[fine.argmax()]:.2f} s with "
            "steps of 0.01 s. In the paper's steps it is nearest to 10^6.",
            rule=CLEAR,
            evidence={"crossings": float(crossings), "peaks": float(peaks), "largest": float(along.max())},
            true={"peaks": float(true_peaks), "largest": float(true.max())},
        ),
        Claim(
            name="condition-predicts",
            where="sec. 5.2, Fig. 10",
            claim="The condition number rises sharply precisely at that location of the trajectory",
            printed="same location",
            measured=f"highest at t = {condition_time:.1f} s in the paper's steps, {condition.max():.1e}; lowest on "
            f"this path {condition.min():.0f}",
            exact=f"the largest force at t = {true_time:.1f} s",
            reason=f"With steps of 0.01 s it reaches {m.conditions['III'].max():.1e} at t = "
            f"{m.paths['III'].t[m.conditions['III'].argmax()]:.2f} s.",
            rule=SAME_PLACE,
            evidence={
                "force_time": force_time,
                "condition_time": condition_time,
                "singular_time": m.singular_time,
                "step": float(path.t[1] - path.t[0]),
            },
            true={"force_time": true_time},
        ),
        Claim(
            name="no-support",
            where="sec. 4.2, sec. 5.2",
            claim="In a singular configuration the manipulator gains one or more degrees of freedom, and no leg forces "
            "support the platform against the forces on it",
            printed="one or more degrees of freedom; no leg forces",
            measured=f"{int(sum(x < SINGULAR * max(values) for x in values))} degree of freedom at t = "
            f"{m.singular_time:.4f} s of path III; at best {100 * left_over:.0f} % of the weight and its moment are "
            "left over",
            reason="The part left over is that of the vector of three forces (N) and three moments (N m). With all "
            "lengths kept, to first order, the platform can move by "
            + ", ".join(f"{x:.2f}" for x in freedom[:3])
            + " m while it turns by "
            + ", ".join(f"{x:.2f}" for x in freedom[3:])
            + " rad.",
            rule=NO_SUPPORT,
            evidence={"singular_values": values, "left_over": left_over},
        ),
    )


def _unsupported(m: Measured) -> tuple[list[float], list[float], float]:
    """In the singular pose of path III: singular values of H, the twist that moves no leg, what no legs can hold.

    The twist is of length 1. The last is the part of the platform's weight and its moment that no leg forces balance.
    """
    pose = m.lines["III"].sample(np.array([m.singular_time])).position[0]
    weight = m.mass * np.array(m.platform.gravity)
    centre = transforms(pose)[..., :3, :3] @ np.array(m.platform.platform_com)
    wrench = np.concatenate([weight, np.cross(centre, weight)])
    found = singular_freedoms(m.platform, pose, wrench, tolerance=SINGULAR)
    left_over = np.linalg.norm(found.uncarried) / np.linalg.norm(wrench)
    return found.values.tolist(), found.twists[0].tolist(), float(left_over)


def _conditions(m: Measured) -> tuple[Claim, ...]:
    threshold = 10.0 ** (NEAR_POLE - 0.5)
    singular, isotropic = m.limits_of_condition
    pairs = {"path III": (m.conditions["III"], np.abs(m.forces["III"].T).max(axis=1))}
    pairs |= {name: (poses.condition, poses.force) for name, poses in m.random_poses.items()}
    high = {name: force[(c >= ILL[0]) & (c <= ILL[1])] for name, (c, force) in pairs.items()}
    shares = {name: float((force >= threshold).mean()) for name, force in high.items()}
    ranks, scaled = m.ranks, m.ranks_of_scaled
    on_paths = [ranks[path.name] for path in m.paths.values()]
    quotients = [poses.condition / poses.scaled for poses in m.random_poses.values()]
    quotients += [
        m.conditions[name] / m.platform.condition_number(path.states.position, m.radius)
        for name, path in m.paths.items()
    ]
    return (
        Claim(
            name="near-singular",
            where="sec. 4.2, sec. 5.2",
            claim="Near a singularity, at condition numbers of the order of 10² or 10³, the forces are of the order of "
            "10^4 N or more",
            printed="10^4 N",
            measured="; ".join(
                f"{name}: median {np.median(force):.0f} N, and {100 * shares[name]:.0f} % of the poses need at least "
                "10^3.5 N"
                for name, force in high.items()
            ),
            reason="Poses at rest, except on path III. It is true near path III and false near path I: H is "
            "ill-conditioned for some loads, and the weight need not be one of them.",
            rule=NEAR,
        ),
        Claim(
            name="direct-relation",
            where="sec. 6",
            claim="There is a direct relation: the higher the condition number, the higher the actuator forces",
            printed="direct relation",
            measured="rank correlation " + ", ".join(f"{ranks[p.name]:.4g} along {p.name}" for p in m.paths.values()),
            exact=", ".join(f"{m.exact_ranks[p.name]:.4g}" for p in m.paths.values()),
            reason="It is true near the singularity of path III. It is false away from singularities: on paths I and "
            f"II the condition number stays between {m.conditions['I'].min():.0f} and {m.conditions['I'].max():.0f} "
            "and the forces fall while it rises. Over random poses the outcome depends on the region: "
            + ", ".join(f"{ranks[name]:.2f} {name}" for name in m.random_poses)
            + " (our choice of regions, no part of the verdict).",
            rule=DIRECT,
            evidence={"ranks": on_paths},
            true={"ranks": [m.exact_ranks[path.name] for path in m.paths.values()]},
        ),
        Claim(
            name="condition-limits",
            where="sec. 4.2",
            claim="The condition number is infinite where H is singular, and unity where the transformation is "
            "isotropic, the best configuration",
            printed="infinite; unity",
            measured=f"least over largest singular value: {within(singular, SINGULAR)} in the singular pose of path "
            f"III; {isotropic:.3f} where isotropic",
            reason="The isotropic platform has two parallel legs along each axis, at 1 m on both sides of the centre: "
            "H H' = 2 E.",
            rule=LIMITS,
            evidence={"singular": singular, "isotropic": isotropic},
        ),
        Claim(
            name="qualitative-measure",
            where="sec. 4.2",
            claim="Although H mixes forces and moments, its condition number is a reliable qualitative measure of the "
            "conditioning",
            printed="reliable, qualitative",
            measured="rank correlation with the number without dimensions "
            + ", ".join(f"{x:.2f} ({name})" for name, x in scaled.items()),
            reason=f"Moments divided by the platform's mean radius, {m.radius:.2f} m. The number is "
            f"{min(x.min() for x in quotients):.2f} to {max(x.max() for x in quotients):.2f} times that without "
            "dimensions.",
            rule=RELIABLE,
            evidence={"ranks": list(scaled.values())},
        ),
    )
