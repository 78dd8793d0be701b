"""SerialArm: the public methods of a serial arm."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.arguments import known_fields
from tauforge.evaluation.array_libraries import library_of, on_processor
from tauforge.evaluation.condition import by_singular_values
from tauforge.evaluation.functions import FunctionTable
from tauforge.evaluation.unmodified import ours
from tauforge.evaluation.with_functions import by_table, quick
from tauforge.formulations.serial import DEFAULT_FORMULATION, FIXED_BASE_ONLY
from tauforge.robots.loads import BaseMotion, Payload
from tauforge.robots.records import Actuator, Coordinate
from tauforge.robots.serial import inverse_kinematics as ik
from tauforge.robots.serial import model as numbers
from tauforge.robots.serial.capabilities import ArmDesigns, ArmFormulations, ArmFriction, JointSensors, Tool
from tauforge.robots.serial.description import ArmDescription
from tauforge.robots.serial.drawing import drawn, reactions
from tauforge.robots.serial.functions import SINGULAR_MASS, LinkMotions, function_table
from tauforge.robots.serial.summary import summary

STATES_TRIED = 20  # random states at which the mass matrix is looked at


def or_infinite(limit: float | None) -> float:
    return np.inf if limit is None else limit


@ours
class SerialArm(ArmDescription):
    __doc__ = ArmDescription.__doc__

    kind = "serial arm"

    @computed_once
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The joints."""
        found = []
        for i, joint in enumerate(self.joints, 1):
            lower, upper = joint.limits or (-np.inf, np.inf)
            unit, speed = "rad" if joint.kind == "R" else "m", or_infinite(joint.max_speed)
            found.append(Coordinate(joint.name, unit, f"q{i}", f"qd{i}", f"qdd{i}", lower, upper, speed))
        return tuple(found)

    @computed_once
    def actuators(self) -> tuple[Actuator, ...]:
        """One for each joint."""
        return tuple(
            Actuator(joint.name, "N m" if joint.kind == "R" else "N", f"tau{i}", or_infinite(joint.max_force))
            for i, joint in enumerate(self.joints, 1)
        )

    @property
    def functions(self) -> FunctionTable:
        return function_table(self.n)

    @computed_once
    def identity(self) -> str:
        return repr(self._numbers)

    def own_values(self, fields: Sequence[str]) -> dict[str, Array]:
        return {field: numbers.own_value(self, field) for field in known_fields(self, fields)}

    varying_fields = property(numbers.varying_fields)
    varied_model = numbers.varied_model
    _check_varying = numbers.check_varying
    _fields_carrying = numbers.fields_carrying

    @computed_once
    def designs(self) -> ArmDesigns | None:
        """Lengths of the Denavit-Hartenberg table; None without one."""
        found = ArmDesigns(self)
        return found if found.parameters else None

    dissipation = computed_once(ArmFriction)
    moved_body = computed_once(Tool)
    sensors = computed_once(JointSensors)
    formulations = computed_once(ArmFormulations)

    def _check_loads(self, loads: Collection[str], options: Mapping[str, Any]) -> None:
        name = options.get("formulation", DEFAULT_FORMULATION)
        if "base_motion" in loads and name in FIXED_BASE_ONLY:
            remedy = f"Use one of {', '.join(self.formulations.taking(loads))}"
            raise UnsupportedFeatureError(f"{name} does not take a moving base", field="base_motion", remedy=remedy)

    def _check_options(self, function: str, options: Mapping[str, Any]) -> dict[str, Any]:
        chosen = super()._check_options(function, options)
        if (frame := chosen.pop("wrench_frame", None)) is not None:
            if frame not in ("world", "tool"):
                raise ShapeError("wrench_frame", expected="'world' or 'tool'", got=repr(frame))
            chosen["tool_axes"] = frame == "tool"
        return chosen

    def holding_forces(self, position: Array) -> Array:
        return self.gravity_forces(position)

    drawing = drawn
    reactions = reactions
    summary = summary

    def issues(self) -> list[str]:
        q = self.random_states(STATES_TRIED)[0]
        lost = (np.linalg.cond(self.mass_matrix(q)) > SINGULAR_MASS).any()
        issue = "the mass matrix has no inverse: a link without mass or inertia moves freely; it cannot be simulated"
        return [issue] if lost else []

    @by_table
    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        tip_wrench: ArrayLike | None = None,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        formulation: str | None = None,
        wrench_frame: str = "world",
    ) -> Array:
        """Actuator forces that produce the accelerations.

        tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - J(q)' w_tip, M with the reflected rotor inertias

        q, qd, qdd:  (..., n)  rad or m and its rates
        tip_wrench:  (..., 6)  N, N m   force and moment the environment exerts on the last link, at the tool origin,
                     world axes, or tool axes for wrench_frame="tool"; external_wrench= is another spelling
        payload:     a Payload held by the tool
        base_motion: a BaseMotion of the base
        formulation: one of tauforge.FORMULATIONS; default "joint-frames"
        returns:     (..., n)  N m or N

        Identity: with qd = qdd = 0 equals gravity_forces(q).
        """

    @by_table
    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        tip_wrench: ArrayLike | None = None,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        wrench_frame: str = "world",
    ) -> Array:
        """Accelerations that the actuator forces produce; arguments as in `inverse_dynamics`.

        tau:     (..., n)  N m or N
        returns: (..., n)  rad/s^2 or m/s^2

        Identity: inverse_dynamics(q, qd, result) = tau. SingularityError where an acceleration is above 1e10 (or none)
        because the mass matrix has no inverse.
        """

    @by_table
    def mass_matrix(self, q: ArrayLike, *, payload: Payload | None = None) -> Array:
        """M(q), (..., n, n), with the reflected rotor inertias on the diagonal.

        Identity: M qdd = inverse_dynamics(q, 0, qdd) - inverse_dynamics(q, 0, 0).
        """

    @by_table
    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, *, payload: Payload | None = None) -> Array:
        """Christoffel's C(q, qd), (..., n, n).

        Identities: C qd = bias_forces - gravity_forces; dM/dt - 2C is skew.
        """

    @by_table
    def coriolis_coefficients(self, q: ArrayLike, *, payload: Payload | None = None) -> Array:
        """C^i_jk(q), (..., n, n, n): the symmetric matrices C^i of the Coriolis and centrifugal forces qd' C^i qd.

        Identities: coriolis_matrix(q, qd)_ij = sum_k C^i_jk qd_k; C^i_jk + C^j_ik = dM_ij/dq_k.
        Source: Turney, Mudge & Lee 1980, after eq. 2.11.
        """

    @by_table
    def gravity_forces(self, q: ArrayLike, *, payload: Payload | None = None) -> Array:
        """g(q), (..., n): what holds the arm up at rest.

        Identity: the derivative of the potential energy.
        """

    @by_table
    def bias_forces(self, q: ArrayLike, qd: ArrayLike, *, payload: Payload | None = None) -> Array:
        """C(q, qd) qd + g(q), (..., n), without friction."""

    @by_table
    def friction_forces(self, qd: ArrayLike) -> Array:
        """(..., n): B G^2 qd + |G| T_plus for qd > 0, - |G| T_minus for qd < 0, 0 at rest."""

    @by_table
    def joint_wrenches(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        tip_wrench: ArrayLike | None = None,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        wrench_frame: str = "world",
    ) -> Array:
        """Force and moment across every joint, (..., n, 6): what link i-1 exerts on link i (the base on link 1).

        Link frame i-1 axes, at the origin of frame i-1 (standard DH), of frame i (modified DH), or of the moved joint
        (general joints; in a URDF that is the origin of the child link).
        Identity: the component along the joint's axis equals tau less friction and rotor terms.
        """

    def link_motions(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, base_motion: BaseMotion | None = None
    ) -> LinkMotions:
        """Velocities and accelerations of every link and of its mass centre, world axes.

        base_motion: a BaseMotion of the base, whose origin has no velocity at the instant; add one to `velocities`
        Identity: those of `link_frames` and of the mass centres, differentiated by time.
        Source: Angeles, section 7.4.1, eqs 7.25-7.34.
        """
        given = {"q": q, "qd": qd, "qdd": qdd, "base_motion": base_motion}
        return LinkMotions._make(self._answer("link_motions", given))

    @by_table
    def inverse_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, payload: Payload | None = None
    ) -> tuple[Array, Array, Array]:
        """dtau/dq, dtau/dqd, dtau/dqdd, each (..., n, n), friction included.

        Identity: the last is mass_matrix(q).
        """

    @by_table
    def forward_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, payload: Payload | None = None
    ) -> tuple[Array, Array, Array]:
        """dqdd/dq, dqdd/dqd, dqdd/dtau, each (..., n, n), friction included.

        Identity: the last is the inverse of mass_matrix(q).
        """

    @by_table
    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qd_ref: ArrayLike | None = None) -> Array:
        """Y, (..., n, 10 n): Y @ inertial_parameters = M qdd + C(q, qd) qd_ref + g without friction and rotors.

        qd_ref: (..., n), default qd; with Christoffel's C, as adaptive control needs.
        """

    @by_table
    def forward_kinematics(self, q: ArrayLike) -> Array:
        """(..., 4, 4) world <- tool."""

    @by_table
    def link_frames(self, q: ArrayLike) -> Array:
        """(..., n+1, 4, 4) world <- link frame: the base frame, then one for each link, in the arm's convention."""

    @by_table
    def jacobian(self, q: ArrayLike) -> Array:
        """(..., 6, n), linear rows first: velocity of the tool origin and angular velocity, world axes."""

    @quick
    def condition_number(self, q: ArrayLike) -> Array:
        """Condition number of the Jacobian, (...): the ratio of its largest and smallest singular values, SI units.

        It is infinite where the arm is singular.
        """
        if library_of((q,)) is not None:  # traced programs cannot look at rows in doubt again
            return by_singular_values(self.jacobian(q))
        return self._answer("condition_number", {"q": q})[0]

    @by_table
    def energy(self, q: ArrayLike, qd: ArrayLike, *, payload: Payload | None = None) -> tuple[Array, Array]:
        """Kinetic (rotors included) and potential energy (from the world origin), J, each (...).

        Identity: d(kinetic + potential)/dt = qd . (tau - friction).
        """

    @on_processor
    def inverse_kinematics(
        self,
        pose: ArrayLike,
        guess: ArrayLike | None = None,
        *,
        mask: ArrayLike | None = None,
        tolerance: float = ik.POSE_TOLERANCE,
        on_failure: str = "raise",
    ) -> Array:
        """Joint coordinates (..., n) within the limits that bring the tool to `pose`, by damped least squares.

        pose:       (..., 4, 4) world <- tool
        guess:      (..., n) where to start. The answer is one of several, usually one near the guess; without a guess,
                    and where it does not lead to the pose, random starts are made. They are the same in every call.
                    Nothing tells when the answer is far from the guess. About one in a thousand guesses that are 0.1
                    rad off in every joint leads more than 1 rad away: compare them where a jump does harm
        mask:       six of True and False (or 1 and 0): which directions count, translation along and rotation about x,
                    y and z, world axes. Default all. The rotation that is missing, R_pose R', is a vector (axis times
                    angle) of which only the components with True must vanish: (1, 1, 1, 1, 1, 0) leaves a turn about
                    the vertical free.
        tolerance:  of the norm of what is missing in these directions, m and rad together
        on_failure: "raise" ConvergenceError, with the residual of the first row that is not reached, or "nan" for rows
                    of NaN
        returns:    float64, whatever the pose is. Revolute joints come within half a turn of the guess, or of the
                    middle of their limits (0 without), as far as the limits allow it.

        Identity: forward_kinematics(result) = pose. A row has the same answer alone and in any batch. A row that is not
        finite in pose or guess is NaN.
        """
        return ik.solve(self, pose, guess, mask, tolerance, on_failure)

    _joint_ranges = computed_once(ik.joint_ranges)
