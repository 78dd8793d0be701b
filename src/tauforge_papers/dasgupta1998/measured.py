"""What the study of Dasgupta & Mruthyunjaya 1998 measures, before it is drawn or judged."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tauforge.analysis.complexity import OperationCount, general_operation_count, operation_count
from tauforge.analysis.stewart_curves import LegForceParts, leg_force_parts
from tauforge.analysis.stewart_forces import crossings
from tauforge.arrays import Array
from tauforge.control import ComputedTorque
from tauforge.formats.loading import load
from tauforge.formulations.stewart import dasgupta1998
from tauforge.motion import MotionSample, StraightLine, pose_rates
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge.validation import Rows
from tauforge_papers.dasgupta1998.kinematics import Along, ConstraintErrors, LegErrors, constraint_errors, leg_errors
from tauforge_papers.dasgupta1998.leg_forces import (
    MODEL,
    Forces,
    RandomPoses,
    Steps,
    forces,
    rank_correlation,
    steps,
)
from tauforge_papers.dasgupta1998.operations import Extra, JointSpace, Part, joint_space, parts, reactions_extra
from tauforge_papers.stewart_legs import apart, legs, vectors
from tauforge_papers.stewart_misprints import error_under_load, on_platforms
from tauforge_papers.stewart_paths import FAST, SINGULAR, SLOW, Path, constant_velocity, sampled
from tauforge_papers.stewart_tables import AssumptionCosts, assumption_costs

LIGHT = 4.0  # kg: a platform as heavy as one leg
ILL = (1e2, 1e3)  # condition numbers that the paper calls high
K_1 = np.array([-0.8141, 0.2714, 0.0])  # as printed
ASIDE = np.array([0.01, -0.01, 0.01, 0.02, -0.02, 0.02])  # m and rad, of states off the path
NO_MASS = {"mass": 0.0, "inertia": np.zeros((3, 3))}  # of the parts of a leg
CORRECTIONS = dasgupta1998.DasguptaCorrections._fields
POSES = 20_000
PAPERS_SAMPLES = 61  # of path III: every 0.1 s
REGIONS = {  # of random poses: lowest and highest x, y, z, theta_x, theta_y, theta_z. Our choice
    "around the three paths": ((0.0, -0.1, 0.3, -0.5, -0.5, -0.5), (0.9, 1.9, 1.9, 0.5, 0.5, 0.5)),
    "around path I": ((0.0, -0.1, 0.3, -0.1, -0.1, -0.3), (0.4, 0.1, 0.7, 0.1, 0.1, 0.3)),
    "around path III": ((0.3, 1.3, 1.1, 0.0, 0.1, -0.1), (0.9, 1.9, 1.9, 0.4, 0.5, 0.1)),
}
WHOLE = "around the three paths"


def isotropic_matrix() -> Array:
    """H of a platform with two legs along each axis, at 1 m on both sides of its centre."""
    directions = np.repeat(np.eye(3), 2, axis=0)
    points = np.roll(directions, 1, axis=1) * np.array([[1.0], [-1.0]] * 3)
    platform = StewartPlatform(base_points=points - directions, platform_points=points)
    return np.asarray(platform.force_matrix(np.zeros(6)))


class Measured:
    """Each number once, when it is first asked for."""

    def __init__(
        self,
        light: float = LIGHT,
        platform: StewartPlatform | None = None,
        slow: StraightLine = SLOW,
        fast: StraightLine = FAST,
        singular: StraightLine = SINGULAR,
    ) -> None:
        """light: mass (kg) of the platform that the paper calls as light as a leg.

        platform, slow, fast, singular: in the place of the paper's, and of its paths I, II and III
        """
        self.platform = load("dasgupta1998") if platform is None else platform
        self.lines = {"I": slow, "II": fast, "III": singular}
        self.light_mass = light
        self.mass = float(self.platform.parameters.body.mass)
        self.light = self.platform.replace(platform_mass=light)
        self.paths = {name: sampled(f"path {name}", line) for name, line in self.lines.items()}
        self.radius = float(np.linalg.norm(self.platform.platform_points, axis=1).mean())

    @cached_property
    def forces(self) -> dict[str, Forces]:
        return {name: forces(self.platform, path) for name, path in self.paths.items()}

    @cached_property
    def light_forces(self) -> dict[str, Forces]:
        return {name: forces(self.light, self.paths[name]) for name in ("I", "II")}

    @cached_property
    def conditions(self) -> dict[str, Array]:
        return {name: self.platform.condition_number(path.states.position) for name, path in self.paths.items()}

    @cached_property
    def singular_time(self) -> float:
        line = self.lines["III"]
        (only,) = crossings(self.platform, lambda t: line.sample(t).position, 0.0, line.duration)
        return only.time

    @cached_property
    def parts(self) -> dict[str, dict[str, LegForceParts]]:
        """By path and model."""
        return {
            name: {
                model: leg_force_parts(self.platform, *self.paths[name].states, model=model)
                for model in (MODEL, "exact")
            }
            for name in ("I", "II")
        }

    @cached_property
    def steps(self) -> dict[str, Steps]:
        return {name: steps(self.platform, self.lines[name]) for name in ("I", "II")}

    @cached_property
    def exact_steps(self) -> dict[str, Steps]:
        return {name: steps(self.platform, self.lines[name], "exact") for name in ("I", "II")}

    @cached_property
    def papers_steps(self) -> tuple[Path, Array, Array]:
        """Path III every 0.1 s, as the paper samples it, and its leg forces (k, 6), N, by its model and exactly."""
        path = sampled("path III", self.lines["III"], PAPERS_SAMPLES)
        return path, path.forces(self.platform, MODEL), path.forces(self.platform)

    @cached_property
    def random_poses(self) -> dict[str, RandomPoses]:
        """By region."""
        found, rest = {}, np.zeros(6)
        for name, region in REGIONS.items():
            pose = np.random.default_rng(0).uniform(*region, (POSES, 6))
            force = np.abs(self.platform.inverse_dynamics(pose, rest, rest, model=MODEL)).max(axis=1)
            condition, scaled = (self.platform.condition_number(pose, length) for length in (1.0, self.radius))
            found[name] = RandomPoses(condition, scaled, force)
        return found

    @cached_property
    def limits_of_condition(self) -> tuple[float, float]:
        """Least over largest singular value of H: in the singular pose of path III, and of an isotropic platform."""
        pose = self.lines["III"].sample(np.array([self.singular_time])).position[0]
        values = [np.linalg.svd(H, compute_uv=False) for H in (self.platform.force_matrix(pose), isotropic_matrix())]
        singular, isotropic = (float(x[-1] / x[0]) for x in values)
        return singular, isotropic

    @cached_property
    def ranks(self) -> dict[str, float]:
        """Rank correlation of the condition number and the largest leg force, by path and by region."""
        along = {
            path.name: (self.conditions[name], np.abs(self.forces[name].T).max(axis=1))
            for name, path in self.paths.items()
        }
        pairs = along | {name: (poses.condition, poses.force) for name, poses in self.random_poses.items()}
        return {name: rank_correlation(*pair) for name, pair in pairs.items()}

    @cached_property
    def exact_ranks(self) -> dict[str, float]:
        """Rank correlation of the condition number and the largest exact leg force, by path."""
        return {
            path.name: rank_correlation(self.conditions[name], np.abs(self.forces[name].exact).max(axis=1))
            for name, path in self.paths.items()
        }

    @cached_property
    def ranks_of_scaled(self) -> dict[str, float]:
        """The same of the condition number and that with moments divided by the platform's radius."""
        along = {
            path.name: (self.conditions[name], self.platform.condition_number(path.states.position, self.radius))
            for name, path in self.paths.items()
        }
        pairs = along | {name: (poses.condition, poses.scaled) for name, poses in self.random_poses.items()}
        return {name: rank_correlation(*pair) for name, pair in pairs.items()}

    @cached_property
    def axis_readings(self) -> dict[str, dict[str, tuple[float, float]]]:
        """N, by reading of k_1 and model: how far forces differ from ours on paths I and II."""
        axes = np.array(self.platform.universal_axes)
        lost = float(np.sqrt(1.0 - K_1 @ K_1))
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for sign in (1.0, -1.0):
            other = self.platform.replace(universal_axes=np.concatenate([[[*K_1[:2], sign * lost]], axes[1:]]))
            costs = {
                model: [
                    float(np.abs(path.forces(other, model) - path.forces(self.platform, model)).max())
                    for path in (self.paths["I"], self.paths["II"])
                ]
                for model in (MODEL, "exact")
            }
            found[f"{sign * lost:+.3f}"] = {model: (slow, fast) for model, (slow, fast) in costs.items()}
        return found

    @cached_property
    def first_pod(self) -> dict[str, float]:
        """By third component of k_1: how far the angular velocity of leg 1 without spin is from the true one.

        Difference of the magnitudes beside the largest, along path 1 of Pedrammehr 2012 on its robot.
        """
        robot, path = load("pedrammehr2012"), constant_velocity("path 1", 0.08, 6.0)
        found = {}
        for third in (0.0, *map(float, self.axis_readings)):
            axes = np.concatenate([[[*K_1[:2], third]], np.array(robot.universal_axes)[1:]])
            other = robot.replace(universal_axes=axes)
            full, plain = (
                np.linalg.norm(vectors([legs(other, path.states, spin=spin)[0].W]), axis=-1) for spin in (True, False)
            )
            found[f"{third:+.3f}" if third else "0"] = float(np.abs(full - plain).max() / full.max())
        return found

    @cached_property
    def leg_errors(self) -> LegErrors:
        return leg_errors(Along(self.platform, self.lines["II"]))

    @cached_property
    def constraint_errors(self) -> ConstraintErrors:
        return constraint_errors(Along(self.platform, self.lines["II"]))

    @cached_property
    def closed_form(self) -> tuple[float, float]:
        """Path II: how far accelerations are from those that were asked for, by simulation and by control.

        Simulation: forward dynamics of the forces of inverse dynamics. Control: computed torque at states off the path
        must give the accelerations of e'' + 20 e' + 100 e = 0; beside the largest acceleration.
        """
        pose, twist, acceleration = self.paths["II"].states
        forces = self.paths["II"].forces(self.platform)
        back = self.platform.forward_dynamics(pose, twist, forces)
        law = ComputedTorque(self.platform)
        off, slower = pose + ASIDE, 0.9 * twist
        target = pose_rates(pose, twist, acceleration)
        rates = pose_rates(off, slower)[0]
        wanted = target[1] + 20.0 * (target[0] - rates) + 100.0 * (pose - off)
        rows = zip(off, slower, *self.paths["II"].states, strict=True)
        pushed = np.stack([law.force(0.0, at, moving, MotionSample(*aim)) for at, moving, *aim in rows])
        got = pose_rates(off, slower, self.platform.forward_dynamics(off, slower, pushed))[1]
        return apart(back, acceleration), apart(got, wanted)

    @cached_property
    def forward(self) -> tuple[float, float, float]:
        """Path II: errors of pose, twist and acceleration from the legs' lengths, rates and accelerations."""
        pose, twist, acceleration = self.paths["II"].states
        leg = self.platform.leg_motion(pose, twist, acceleration)
        found = self.platform.forward_kinematics(leg.lengths, guess=pose + ASIDE)
        rows = np.swapaxes(self.platform.force_matrix(found), -1, -2)
        speed = np.linalg.solve(rows, leg.rates[..., None])[..., 0]
        rest = self.platform.leg_motion(found, speed, np.zeros_like(speed)).accelerations
        back = np.linalg.solve(rows, (leg.accelerations - rest)[..., None])[..., 0]
        return apart(found, pose), apart(speed, twist), apart(back, acceleration)

    @cached_property
    def on_random_platforms(self) -> tuple[float, float]:
        """Error of the forces beside the largest: median as published, and largest with the three corrections."""
        published, mended = (
            on_platforms(dasgupta1998, robot=MODEL, corrections=chosen)()
            for chosen in (dasgupta1998.DASGUPTA_AS_PUBLISHED, dasgupta1998.DasguptaCorrections(True, True, True))
        )
        return published.printed, mended.mended

    @cached_property
    def massless(self) -> float:
        """Path II: error of eq. 41 beside the exact model of a platform whose legs weigh nothing."""
        nothing = {f"{part}_{kind}": value for part in ("lower", "upper") for kind, value in NO_MASS.items()}
        bare = self.platform.without_friction().replace(**nothing)
        path = self.paths["II"]
        return apart(path.forces(self.platform, "massless-legs"), path.forces(bare))

    @cached_property
    def mended(self) -> list[float]:
        """N, paths I and II: largest error of the model with the three corrections."""
        return [
            float(np.abs(self.paths[name].forces(self.platform, MODEL, CORRECTIONS) - self.forces[name].exact).max())
            for name in ("I", "II")
        ]

    @cached_property
    def under_load(self) -> float:
        """Error of the model with the three corrections beside the largest force, under external forces and moments."""
        return error_under_load(dasgupta1998, corrections=dasgupta1998.DasguptaCorrections(True, True, True))

    @cached_property
    def operations_by_part(self) -> tuple[Part, Part, Part]:
        return parts(self.platform.without_friction())

    @cached_property
    def reactions_extra(self) -> Extra:
        return reactions_extra(self.platform.without_friction().parameters)

    @cached_property
    def joint_space(self) -> JointSpace:
        return joint_space(
            self.platform.without_friction().parameters, sampled("path I", self.lines["I"], PAPERS_SAMPLES)
        )

    def shares_by_mass(self, name: str, masses: Array) -> Array:
        """Median |D / T| over legs and times for each platform mass (kg).

        D does not depend on the platform and S is linear in its mass, so two masses give all others.
        """
        heavy, light = self.forces[name], self.light_forces[name]
        slope = (heavy.S - light.S) / (self.mass - self.light_mass)
        totals = (heavy.D + light.S + (m - self.light_mass) * slope for m in masses)
        return np.array([np.median(np.abs(heavy.D / total)) for total in totals])

    @cached_property
    def inertias(self) -> dict[str, Rows]:
        """About the mass centres, kg m^2: of a leg's parts and of the platform."""
        p = self.platform.parameters
        bodies = {"I_d0": p.legs[0].lower, "I_u0": p.legs[0].upper, "I_p": p.body}
        return {name: tuple(tuple(row) for row in body.inertia.rows) for name, body in bodies.items()}

    @cached_property
    def costs(self) -> AssumptionCosts:
        return assumption_costs(self.platform, [self.paths["I"], self.paths["II"]])

    @cached_property
    def operations(self) -> dict[str, OperationCount]:
        """Without friction, as the paper counts; and a general serial arm of six revolute joints."""
        smooth = self.platform.without_friction()
        return {
            MODEL: operation_count(smooth, MODEL),
            "exact": operation_count(smooth, "exact"),
            "newton-euler": general_operation_count(6, "newton-euler"),
            "joint-frames": general_operation_count(6, "joint-frames"),
        }
