"""SerialArm: the public methods of a serial arm."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError, SingularityError, UnsupportedFeatureError
from tauforge.formulations.serial import DEFAULT_FORMULATION, FIXED_BASE_ONLY, FORMULATIONS
from tauforge.robots.computed_once import computed_once
from tauforge.robots.evaluate import Evaluator, as_argument, checked_request, finite_rows, loaded
from tauforge.robots.own_classes import method_is_as_written, recorded
from tauforge.robots.payload import BaseMotion, Payload
from tauforge.robots.quick_call import install
from tauforge.robots.serial import functions as formulas
from tauforge.robots.serial import inverse_kinematics as ik
from tauforge.robots.serial import large_arms
from tauforge.robots.serial import varying as families
from tauforge.robots.serial.description import ArmDescription
from tauforge.robots.serial.functions import FUNCTIONS
from tauforge.robots.serial.model import arm_model

if TYPE_CHECKING:
    from tauforge.kernels.cpu.kernel import Kernel

CAN_BE_SINGULAR = ("forward_dynamics", "forward_dynamics_derivatives")
OPTIONAL = ("tip_wrench", "payload", "base_motion", "qd_ref")
SUSPICIOUS = 1e10  # an acceleration (or its slope) that large, or none, has the mass matrix looked at
SINGULAR = 1e15  # condition number of a mass matrix without an inverse in double precision


@recorded
class SerialArm(ArmDescription):
    """A chain of revolute and prismatic joints from a base to a tool. SI units, radians.

    joints:        one `Joint` each, from the base outward
    base, tool:    4 x 4: world <- base, last link frame <- tool
    gravity:       (3,) m/s^2, acceleration of free fall, world axes
    coulomb_speed: rad/s or m/s; above 0 it smooths Coulomb friction to tanh(qd / coulomb_speed)
    convention:    "standard" or "modified" DH, or "general"
    """

    def kernel(
        self,
        function: str,
        *,
        target: str = "cpu",
        dtype: str = "float64",
        varying: Sequence[str] = (),
        **options: Any,
    ) -> Kernel:
        """The compiled function behind the method of this name: called like a generalized ufunc, it takes `out=`.

        function: such as "inverse_dynamics"; options: formulation= for that one
        varying:  fields of the arm that become arguments after the state, an array each: "mass" (..., n), "com"
                  (..., n, 3), "inertia" (..., n, 3, 3), "offset", "viscous", "coulomb" (..., n, 2), "motor_inertia",
                  "gear_ratio", "gravity" (..., 3), and "alpha", "a", "d", "theta" of an arm with DH parameters
        Identity: equals the method on arrays of this dtype, of `replace`d arms if fields vary; it does not look for
        singular mass matrices. `.ufunc` is NumPy's object itself. UnsupportedFeatureError where there is no kernel.
        """
        bits = checked_request(function, FUNCTIONS, target, dtype, options)
        fields = families.named(varying)
        families.check(self, fields)
        if options.get("formulation", DEFAULT_FORMULATION) not in FORMULATIONS:
            raise UnsupportedFeatureError(
                f"unknown formulation {options['formulation']!r}",
                field="formulation",
                remedy=f"Use one of {', '.join(FORMULATIONS)}",
            )
        return loaded(self._kernel(function, options, fields), function, bits)

    @computed_once
    def _evaluator(self) -> Evaluator:
        numbers = self.as_numbers  # kernels may outlive the arm and must not keep it alive
        return Evaluator(cache(lambda: arm_model(numbers)), repr(numbers), dict.fromkeys(CAN_BE_SINGULAR, SUSPICIOUS))

    def _kernel(self, method: str, options: dict[str, Any], varying: tuple[str, ...] = ()) -> Kernel | None:
        """The kernel of a plain call: no loads."""
        function = FUNCTIONS[method]
        formula = getattr(formulas, method)
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(function.arguments, (self.n,))
        shapes |= {field: families.core_shape(field, self.n) for field in varying}
        defaults = dict(function.options)
        if varying:
            formula = families.formula_of(copy.copy(self), formula, varying)  # kernels must not refer to the arm itself
            defaults |= families.without_choices(defaults)
        return self._evaluator.kernel(
            method,
            formula,
            shapes,
            function.results(self.n),
            **{**defaults, **options},
        )

    def _evaluate(self, method: str, arguments: dict[str, Any], **options: Any) -> tuple[Array, ...]:
        """The formula of this name over checked arguments, an array for each result.

        After the first plain call, one without loads and options, the next ones find shorter ways (`_install`).
        """
        function = FUNCTIONS[method]
        results = function.results(self.n)
        checked = self._checked(arguments)
        options = {**function.options, **options}
        if method in large_arms.IN_PARTS:
            outs = large_arms.derivatives(self._evaluator, self.n, method, checked)
        else:
            outs = self._evaluator(method, getattr(formulas, method), checked, results, **options)
        if method not in vars(self) and len(checked) == len(function.arguments) and options == function.options:
            self._install(method)
        return outs

    def _install(self, method: str) -> None:
        """From now on a call finds, before the method: a builtin for small arrays, then the kernel for plain ones.

        Each hands on what it does not take, the last to the method itself.
        """
        if not method_is_as_written(type(self), method):
            return  # somebody's own version
        kernel = self._kernel(method, {})
        if kernel is not None:
            install(self, method, kernel, watched=method in CAN_BE_SINGULAR)

    def _evaluate_one(self, method: str, arguments: dict[str, Any], **options: Any) -> Array:
        return self._evaluate(method, arguments, **options)[0]

    def _checked(self, arguments: dict[str, Any]) -> dict[str, Array]:
        """Arrays of the right core size; absent optional arguments are left out."""
        sizes = {"tip_wrench": (6, "force and moment at the tool origin")}
        checked = {}
        for name, value in arguments.items():
            if value is None and name in OPTIONAL:
                continue
            if name == "payload":
                if not isinstance(value, Payload):
                    raise ShapeError(name, expected="a tauforge.Payload", got=type(value).__name__)
                checked[name] = value.numbers()
            elif name == "base_motion":
                if not isinstance(value, BaseMotion):
                    raise ShapeError(name, expected="a tauforge.BaseMotion", got=type(value).__name__)
                checked[name] = value.numbers()
            else:
                size, meaning = sizes.get(name, (self.n, f"{self.name} has {self.n} joints"))
                checked[name] = as_argument(name, value, size, meaning)
        return checked

    def _loads(
        self, tip_wrench: ArrayLike | None, payload: Payload | None, base_motion: BaseMotion | None, wrench_frame: str
    ) -> tuple[dict[str, Any], bool]:
        if wrench_frame not in ("world", "tool"):
            raise ShapeError("wrench_frame", expected="'world' or 'tool'", got=repr(wrench_frame))
        return {"tip_wrench": tip_wrench, "payload": payload, "base_motion": base_motion}, wrench_frame == "tool"

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        tip_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        formulation: str | None = None,
        wrench_frame: str = "world",
    ) -> Array:
        """Actuator forces that produce the accelerations.

        tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - J(q)' w_tip, M with the reflected rotor inertias

        q, qd, qdd:  (..., n)  rad or m and its rates
        tip_wrench:  (..., 6)  N, N m   force and moment the environment exerts on the last link, at the tool origin,
                     world axes, or tool axes for wrench_frame="tool"
        payload:     a Payload held by the tool
        base_motion: a BaseMotion of the base
        formulation: one of tauforge.FORMULATIONS; default "joint-frames"
        returns:     (..., n)  N m or N

        Identity: with qd = qdd = 0 equals gravity_forces(q).
        """
        name = formulation or DEFAULT_FORMULATION
        if not isinstance(name, str) or name not in FORMULATIONS:
            raise UnsupportedFeatureError(
                f"unknown formulation {formulation!r}",
                field="formulation",
                remedy=f"Use one of {', '.join(FORMULATIONS)}",
            )
        if base_motion is not None and name in FIXED_BASE_ONLY:
            raise UnsupportedFeatureError(
                f"{name} does not take a moving base", field="base_motion", remedy="Use a recursive formulation"
            )
        loads, tool_axes = self._loads(tip_wrench, payload, base_motion, wrench_frame)
        arguments = {"q": q, "qd": qd, "qdd": qdd, **loads}
        return self._evaluate_one("inverse_dynamics", arguments, formulation=name, tool_axes=tool_axes)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        tip_wrench: ArrayLike | None = None,
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
        loads, tool_axes = self._loads(tip_wrench, payload, base_motion, wrench_frame)
        arguments = {"q": q, "qd": qd, "tau": tau, **loads}
        result = self._evaluate_one("forward_dynamics", arguments, tool_axes=tool_axes)
        self._refuse_singular(result, arguments)
        return result

    def _refuse_singular(self, result: Array, arguments: dict[str, Any], core: int = 1) -> None:
        """Rows whose answer is huge or none at all are looked into: is the mass matrix singular there?

        Rows with an argument that is not finite are left out: they are NaN for that reason.
        core: number of core dimensions of the result.
        """
        if np.vdot(result, result) < SUSPICIOUS**2:  # the sum of squares: one pass, and no entry is larger
            return
        suspicious = ~(np.abs(result) < SUSPICIOUS).all(axis=tuple(range(-core, 0)))
        suspicious &= finite_rows(self._checked(arguments))
        q, payload, batch = arguments["q"], arguments["payload"], suspicious.shape
        poses = np.broadcast_to(np.asarray(q, float), (*batch, self.n))[suspicious]
        if payload is None:
            matrices = self.mass_matrix(poses)
        else:
            matrices = np.broadcast_to(self.mass_matrix(q, payload=payload), (*batch, self.n, self.n))[suspicious]
        finite = np.isfinite(matrices).all(axis=(-1, -2))
        conditions = np.linalg.cond(matrices[finite])
        if (conditions > SINGULAR).any():
            first = int(np.argmax(conditions > SINGULAR))
            raise SingularityError(
                f"{self.name}: the mass matrix has no inverse; a link without mass or inertia moves freely",
                pose=poses[finite][first].tolist(),
                condition_number=float(conditions[first]),
            )

    def mass_matrix(self, q: ArrayLike, *, payload: Payload | None = None) -> Array:
        """M(q), (..., n, n), with the reflected rotor inertias on the diagonal.

        Identity: M qdd = inverse_dynamics(q, 0, qdd) - inverse_dynamics(q, 0, 0).
        """
        return self._evaluate_one("mass_matrix", {"q": q, "payload": payload})

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, *, payload: Payload | None = None) -> Array:
        """Christoffel's C(q, qd), (..., n, n).

        Identities: C qd = bias_forces - gravity_forces; dM/dt - 2C is skew.
        """
        return self._evaluate_one("coriolis_matrix", {"q": q, "qd": qd, "payload": payload})

    def gravity_forces(self, q: ArrayLike, *, payload: Payload | None = None) -> Array:
        """g(q), (..., n): what holds the arm up at rest.

        Identity: the derivative of the potential energy.
        """
        return self._evaluate_one("gravity_forces", {"q": q, "payload": payload})

    def bias_forces(self, q: ArrayLike, qd: ArrayLike, *, payload: Payload | None = None) -> Array:
        """C(q, qd) qd + g(q), (..., n), without friction."""
        return self._evaluate_one("bias_forces", {"q": q, "qd": qd, "payload": payload})

    def friction_forces(self, qd: ArrayLike) -> Array:
        """(..., n): B G^2 qd + |G| T_plus for qd > 0, - |G| T_minus for qd < 0, 0 at rest."""
        return self._evaluate_one("friction_forces", {"qd": qd})

    def joint_wrenches(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        tip_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        wrench_frame: str = "world",
    ) -> Array:
        """Force and moment across every joint, (..., n, 6): what link i-1 exerts on link i (the base on link 1).

        Link frame i-1 axes, at the origin of frame i-1 (standard DH), of frame i (modified DH), or of the moved joint
        (general joints; in a URDF that is the origin of the child link).
        Identity: the component along the joint's axis equals tau less friction and rotor terms.
        """
        loads, tool_axes = self._loads(tip_wrench, payload, base_motion, wrench_frame)
        arguments = {"q": q, "qd": qd, "qdd": qdd, **loads}
        return self._evaluate_one("joint_wrenches", arguments, tool_axes=tool_axes)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, payload: Payload | None = None
    ) -> tuple[Array, Array, Array]:
        """dtau/dq, dtau/dqd, dtau/dqdd, each (..., n, n), friction included.

        Identity: the last is mass_matrix(q).
        """
        arguments = {"q": q, "qd": qd, "qdd": qdd, "payload": payload}
        three = self._evaluate("inverse_dynamics_derivatives", arguments)
        return three[0], three[1], three[2]

    def forward_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, payload: Payload | None = None
    ) -> tuple[Array, Array, Array]:
        """dqdd/dq, dqdd/dqd, dqdd/dtau, each (..., n, n), friction included.

        Identity: the last is the inverse of mass_matrix(q).
        """
        arguments = {"q": q, "qd": qd, "tau": tau, "payload": payload}
        three = self._evaluate("forward_dynamics_derivatives", arguments)
        self._refuse_singular(three[2], arguments, core=2)
        return three[0], three[1], three[2]

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qd_ref: ArrayLike | None = None) -> Array:
        """Y, (..., n, 10 n): Y @ inertial_parameters = M qdd + C(q, qd) qd_ref + g without friction and rotors.

        qd_ref: (..., n), default qd; with Christoffel's C, as adaptive control needs.
        """
        arguments = {"q": q, "qd": qd, "qdd": qdd, "qd_ref": qd_ref}
        return self._evaluate_one("regressor", arguments)

    def forward_kinematics(self, q: ArrayLike) -> Array:
        """(..., 4, 4) world <- tool."""
        return self._evaluate_one("forward_kinematics", {"q": q})

    def link_frames(self, q: ArrayLike) -> Array:
        """(..., n+1, 4, 4) world <- link frame: the base frame, then one for each link, in the arm's convention."""
        return self._evaluate_one("link_frames", {"q": q})

    def jacobian(self, q: ArrayLike) -> Array:
        """(..., 6, n), linear rows first: velocity of the tool origin and angular velocity, world axes."""
        return self._evaluate_one("jacobian", {"q": q})

    def energy(self, q: ArrayLike, qd: ArrayLike, *, payload: Payload | None = None) -> tuple[Array, Array]:
        """Kinetic (rotors included) and potential energy (from the world origin), J, each (...).

        Identity: d(kinetic + potential)/dt = qd . (tau - friction).
        """
        kinetic, potential = self._evaluate("energy", {"q": q, "qd": qd, "payload": payload})
        return kinetic, potential

    def inverse_kinematics(
        self,
        pose: ArrayLike,
        guess: ArrayLike | None = None,
        *,
        mask: ArrayLike | None = None,
        tolerance: float = ik.TOLERANCE,
        on_failure: str = "raise",
    ) -> Array:
        """Joint coordinates (..., n) within the limits that bring the tool to `pose`, by damped least squares.

        pose:       (..., 4, 4) world <- tool
        guess:      (..., n) where to start. The answer is one of several, usually one near the guess; without a guess,
                    and where it does not lead to the pose, random starts are made. They are the same in every call.
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

    @computed_once
    def _joint_ranges(self) -> ik.JointRanges:
        return ik.joint_ranges(self)
