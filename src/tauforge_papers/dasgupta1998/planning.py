"""The path planning that Dasgupta & Mruthyunjaya 1998 ask for in their conclusions: path III planned anew (sec. 6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.analysis.stewart_forces import crossings
from tauforge.arrays import Array
from tauforge.charts.along_time import TIME_LABEL
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.formats.loading import load
from tauforge.motion import JointMove, Motion, PoseMotion, WellConditionedPath
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.dasgupta1998.leg_forces import MODEL
from tauforge_papers.report.study import Claim
from tauforge_papers.report.verdicts import Rule
from tauforge_papers.rules import true_in_parts
from tauforge_papers.stewart_paths import SAMPLES, SINGULAR, SLOW

REGION = ((0.0, -0.1, 0.3, -0.5, -0.5, -0.5), (0.9, 1.9, 1.9, 0.5, 0.5, 0.5))  # around the three paths: our choice
DRAWN = 200  # pairs of random poses
ALONG = 401  # poses of a straight line at which the sign of det H is looked at
PLANNED = 2  # of the pairs whose straight line crosses a singularity
HIGHER = 0.01  # of a peak: within it peaks are taken to be the same
SHOWN = (1e3, 1e6)  # N: the straight path leaves the figure


class Case(NamedTuple):
    """Two poses on one side of the singular surface, and the paths between them.

    crossings:         how often the planned path passes a singular pose
    straight, planned: (k,) N, the largest leg force along the straight line and the planned path
    exact:             the ratios of means and of peaks by the exact model
    """

    name: str
    path: WellConditionedPath
    crossings: int
    straight: Array
    planned: Array
    exact: tuple[float, float]

    @property
    def mean_ratio(self) -> float:
        return float(self.planned.mean() / self.straight.mean())

    @property
    def peak_ratio(self) -> float:
        return float(self.planned.max() / self.straight.max())


def rule() -> Rule:
    words = (
        "It holds if between every two poses tried the planned path passes no singularity, and along it the largest "
        'leg force has a lower mean than along the straight line ("along the whole path") and a peak that is at most '
        '1 % higher ("higher the condition number, higher are the actuator forces. Hence"). It is mixed if that is so '
        "between some of them. Poses between which no path without a singularity exists are not counted against it. "
        "Path I is planned twice, the second time with moments divided by the platform's radius, since the reason "
        "names no unit."
    )

    def parts(crossings: list[float], mean_ratio: list[float], peak_ratio: list[float], higher: float) -> list[bool]:
        every = zip(crossings, mean_ratio, peak_ratio, strict=True)
        return [count == 0 and mean < 1 and peak <= 1 + higher for count, mean, peak in every]

    return true_in_parts(words, parts, higher=HIGHER)


def planning_avoids() -> tuple[Claim, Figure]:
    platform = load(MODEL)
    slow = _case(platform, "path I", SLOW.start, SLOW.end)
    kept = np.concatenate([SINGULAR.end[:3], SINGULAR.start[3:]])
    turned = _case(platform, "path III, orientation of the start kept", SINGULAR.start, kept)
    other = other_assembly(platform)
    legs = _case(platform, "path III, to the leg lengths of its end", SINGULAR.start, other)
    pairs, apart = random_pairs(platform)
    drawn = [_case(platform, f"random pair {k + 1}", *pair) for k, pair in enumerate(pairs)]
    radius = float(np.linalg.norm(platform.platform_points, axis=1).mean())
    scaled = _case(platform, f"path I, moments divided by {radius:.2f} m", SLOW.start, SLOW.end, radius)
    cases = (slow, turned, legs, *drawn, scaled)
    return _claim(platform, cases, other, apart), _figure(platform, turned, legs)


def other_assembly(platform: StewartPlatform) -> Array:
    """The pose (6,) with the leg lengths of path III's end that is nearest to it on the side of its start."""
    poses = platform.assembly_modes(platform.inverse_kinematics(SINGULAR.end)).poses
    same = poses[_side(platform, poses) == _side(platform, SINGULAR.start)]
    return np.asarray(same[np.linalg.norm(same - SINGULAR.end, axis=1).argmin()])


def random_pairs(platform: StewartPlatform) -> tuple[Array, int]:
    """(PLANNED, 2, 6) the first pairs on one side whose straight line crosses; how many of all are on two sides."""
    ends = np.random.default_rng(0).uniform(*REGION, (2, DRAWN, 6))
    shares = np.linspace(0.0, 1.0, ALONG)[:, None, None]
    sides = _side(platform, ends[0] + shares * (ends[1] - ends[0]))
    apart = sides[0] != sides[-1]
    crossing = ~apart & (sides != sides[0]).any(axis=0)
    return np.swapaxes(ends, 0, 1)[crossing][:PLANNED], int(apart.sum())


def _side(platform: StewartPlatform, poses: Array) -> Array:
    return np.asarray(np.sign(np.linalg.det(platform.force_matrix(poses))))


def _case(
    platform: StewartPlatform, name: str, start: Array, end: Array, characteristic_length: float | None = None
) -> Case:
    line = PoseMotion(JointMove(start, end, SINGULAR.duration))  # the planned path has the same time law
    path = WellConditionedPath(platform, start, end, SINGULAR.duration, characteristic_length=characteristic_length)
    passed = crossings(platform, lambda t: path.sample(t).position, 0.0, path.duration)
    exact_straight, exact_planned = (_forces(platform, motion, "exact") for motion in (line, path))
    exact = float(exact_planned.mean() / exact_straight.mean()), float(exact_planned.max() / exact_straight.max())
    return Case(name, path, len(passed), _forces(platform, line), _forces(platform, path), exact)


def _times() -> Array:
    return np.linspace(0.0, SINGULAR.duration, SAMPLES)


def _forces(platform: StewartPlatform, motion: Motion, model: str = MODEL) -> Array:
    """(k,) N, the largest leg force at each time."""
    return np.asarray(np.abs(platform.inverse_dynamics(*motion.sample(_times()), model=model)).max(axis=1))


def _change(ratio: float) -> str:
    return f"{100 * abs(1 - ratio):.2g} % {'lower' if ratio < 1 else 'higher'}"


def _kilonewtons(force: float) -> str:
    return f"{force / 1000:.1f} kN"


def _claim(platform: StewartPlatform, cases: tuple[Case, ...], other: Array, apart: int) -> Claim:
    slow, turned, legs, *drawn, scaled = cases
    before, after = np.linalg.det(platform.force_matrix([SINGULAR.start, SINGULAR.end]))
    away = np.linalg.norm(other[:3] - SINGULAR.end[:3])
    return Claim(
        name="planning-avoids",
        where="sec. 6",
        claim="A path-planning scheme that minimises the condition number along the whole path is important, because a "
        "higher condition number means higher actuator forces",
        printed="no number",
        measured=f"mean of the largest leg force against the straight line: {_change(slow.mean_ratio)} on path I; from "
        f"the start of path III {_change(turned.mean_ratio)} to its end with the orientation of the start, "
        f"{_change(legs.mean_ratio)} to a pose with the leg lengths of its end; "
        f"means of {' and '.join(_kilonewtons(case.planned.mean()) for case in drawn)} between {len(drawn)} random "
        "pairs of poses whose straight lines pass singularities",
        exact=", ".join(_change(case.exact[0]) for case in (slow, turned, legs)),
        reason=f"No path can replace path III: det H is {before:.1e} at its start and {after:.1e} at its end, so "
        f"every path between them passes a singular pose. Among {DRAWN} random pairs of poses, {apart} have det H of "
        "opposite signs too. The two ends that we chose instead are on the side of the start; the pose with the leg "
        f"lengths of the printed end is {away:.2f} m from it. On both paths the peak is the force at an end pose, "
        f"{_kilonewtons(turned.planned.max())} and {_kilonewtons(legs.planned.max())}, which no path between the "
        f"ends can lower. A lower condition number need not lower the forces: {scaled.name}, the mean is "
        f"{_change(scaled.mean_ratio)}. The claim that higher condition numbers mean higher forces is judged above.",
        rule=rule(),
        evidence={
            "crossings": [float(case.crossings) for case in cases],
            "mean_ratio": [case.mean_ratio for case in cases],
            "peak_ratio": [case.peak_ratio for case in cases],
        },
        true={
            "mean_ratio": [case.exact[0] for case in cases],
            "peak_ratio": [case.exact[1] for case in cases],
        },
    )


def _figure(platform: StewartPlatform, turned: Case, legs: Case) -> Figure:
    motions: dict[str, Motion] = {"path III as printed": SINGULAR, turned.name: turned.path, legs.name: legs.path}
    forces = [Line(name, _times(), _forces(platform, motion)) for name, motion in motions.items()]
    conditions = [
        Line(name, _times(), platform.condition_number(motion.sample(_times()).position))
        for name, motion in motions.items()
    ]
    caption = (
        "Path III as printed crosses a singularity, and so does every path between its two end poses. From the same "
        "start to the same position in the orientation of the start, and to a pose with the leg lengths of the printed "
        f"end, the planned paths do not. Forces by the paper's model, cut at {SHOWN[1]:.0e} N."
    )
    panels = (
        ChartPanel("", TIME_LABEL, "largest leg force (N)", tuple(forces), log_y=True, y_range=SHOWN),
        ChartPanel("", TIME_LABEL, "condition number of H", tuple(conditions), log_y=True),
    )
    return Figure("planned-path-iii", "Path III planned anew", caption, panels, columns=2)
