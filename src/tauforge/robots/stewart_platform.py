"""StewartPlatform: the public methods of a Stewart platform."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.errors import ModelError, ShapeError, SingularityError, UnsupportedFeatureError
from tauforge.formulations.stewart.lumping import lumped
from tauforge.robots import platform_limits as limits
from tauforge.robots import pose_search as search
from tauforge.robots import stewart_formulas as formulas
from tauforge.robots.condition import condition_numbers
from tauforge.robots.direct import install
from tauforge.robots.evaluate import Evaluator, as_argument, check_options, no_kernel, precision
from tauforge.robots.platform_description import Array, PlatformDescription
from tauforge.robots.stewart_formulas import EXACT, FUNCTIONS, MODELS, PlatformModel

if TYPE_CHECKING:
    from tauforge.kernels.kernel import Kernel

STEWART_MODELS = (EXACT, *MODELS)
SINGULAR = 1e12  # condition number of H above which there is no answer
SINGULAR_MASS = 1e15
TRAPPED = ("inverse_dynamics", "forward_dynamics")  # no number where a matrix may be singular
NO_NUMBER = 1e300  # sizes of results that are not below it have the kernel's caller look again
GEOMETRY = ("force_matrix", "inverse_kinematics", "leg_motion", "twist_of", "acceleration_of", "tracked_pose", "refine")
DIRECT = (  # methods whose arguments and results are the kernel's own
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias_wrench",
    "force_matrix",
    "inverse_kinematics",
    "energy",
)
OPTIONAL = ("external_wrench",)
MEANINGS = {
    "pose": "x, y, z, theta_x, theta_y, theta_z",
    "twist": "velocity and angular velocity",
    "acceleration": "acceleration and angular acceleration",
    "external_wrench": "force and moment at the platform's origin",
}


class LegMotions(NamedTuple):
    """Of every leg, each (..., 6) or (..., 6, 3); vectors in base axes."""

    lengths: Array  # m
    rates: Array  # m/s
    accelerations: Array  # m/s^2
    spins: Array  # rad/s, about the leg itself
    spin_rates: Array  # rad/s^2
    angular_velocities: Array
    angular_accelerations: Array
    directions: Array  # unit vectors, base to platform
    universal_angles: Array  # (..., 6, 2) rad: about the fixed axis, from the base's z; and out of the plane across it
    spherical_angles: Array  # (..., 6) rad, between the leg and the platform joint's axis (default the platform's z)


class JointReactions(NamedTuple):
    """Force and moment at every joint, each (..., 6 legs, 6), base axes."""

    universal: Array  # of the base on the lower part, at the base joint
    prismatic: Array  # of the lower part on the upper part, about the base joint; actuator and friction included
    spherical: Array  # of the platform on the leg, at the platform joint


class StewartPlatform(PlatformDescription):
    __doc__ = PlatformDescription.__doc__

    def kernel(self, function: str, *, target: str = "cpu", dtype: str = "float64", **options: Any) -> Kernel:
        """The compiled function behind the method of this name: a generalized ufunc that takes `out=`.

        options: such as which="dasgupta1998" for inverse_dynamics
        """
        if function not in FUNCTIONS:
            raise UnsupportedFeatureError(
                f"no function {function!r}", field="kernel", remedy=f"Use one of {', '.join(FUNCTIONS)}"
            )
        if target != "cpu":
            raise UnsupportedFeatureError(f"target {target!r}", field="kernel", remedy="Use cpu")
        bits = precision(dtype)
        check_options(function, options, FUNCTIONS[function].options)
        if function == "inverse_dynamics":
            self._check_model(options.get("which", EXACT), options.get("corrections", "").split())
        self._need_masses(function)
        made = self._kernel(function, {"trapped": False, **options} if function in TRAPPED else options)
        if made is None:
            raise no_kernel(function)
        made.loaded(bits)
        return made

    @cached_property
    def _evaluator(self) -> Evaluator:
        parameters = self.parameters  # kernels live for ever and must not keep the platform alive
        return Evaluator(
            cache(lambda: PlatformModel(parameters, lumped(parameters))),
            repr(parameters),
            dict.fromkeys(TRAPPED, NO_NUMBER),
        )

    def _kernel(self, method: str, options: dict[str, Any]) -> Kernel | None:
        function = FUNCTIONS[method]
        shapes: dict[str, tuple[int, ...]] = {name: (size,) for name, size in function.arguments.items()}
        chosen = {**function.options, **options}
        return self._evaluator.kernel(method, getattr(formulas, method), shapes, function.results, **chosen)

    def _evaluate(self, method: str, arguments: dict[str, Any], **options: Any) -> tuple[Array, ...]:
        self._need_masses(method)
        function = FUNCTIONS[method]
        checked = {}
        for name, value in arguments.items():
            if value is None and name in OPTIONAL:
                continue
            size = function.arguments.get(name, 6)
            checked[name] = as_argument(name, value, size, MEANINGS.get(name, "one for each leg"))
        chosen = {**function.options, **options}
        outs = self._evaluator(method, getattr(formulas, method), checked, function.results, **chosen)
        if method not in vars(self) and len(checked) == len(function.arguments) and chosen == function.options:
            self._install(method)
        return outs

    def _install(self, method: str) -> None:
        """The next plain calls go straight to machine code; what it does not take comes back to the method."""
        if method not in DIRECT or getattr(type(self), method) is not getattr(StewartPlatform, method):
            return
        kernel = self._kernel(method, {})
        if kernel is not None:
            install(self, method, kernel, watched=method in TRAPPED)

    def _need_masses(self, method: str) -> None:
        if not self.has_masses and method not in GEOMETRY:
            raise ModelError(
                f"{self.name} has a geometry but no masses",
                field=method,
                remedy="Give lower_mass, upper_mass, platform_mass and so on",
            )

    def _wrench_axes(self, wrench_frame: str) -> bool:
        if wrench_frame not in ("base", "platform"):
            raise ShapeError("wrench_frame", expected="'base' or 'platform'", got=repr(wrench_frame))
        return wrench_frame == "platform"

    # ---------------------------------------------------------------------------------------------------- kinematics

    def inverse_kinematics(self, pose: ArrayLike) -> Array:
        """Leg lengths (..., 6), m. pose: (..., 6) x, y, z, theta_x, theta_y, theta_z with R = Rz Ry Rx."""
        return self._evaluate("inverse_kinematics", {"pose": pose})[0]

    def leg_motion(
        self, pose: ArrayLike, twist: ArrayLike | None = None, acceleration: ArrayLike | None = None
    ) -> LegMotions:
        """How every leg and joint moves. twist: (..., 6) v, omega; acceleration: (..., 6) v', omega'; base frame.

        Identity: rates are the time derivatives of the lengths, accelerations those of the rates.
        """
        zero = np.zeros(6)
        arguments = {
            "pose": pose,
            "twist": zero if twist is None else twist,
            "acceleration": zero if acceleration is None else acceleration,
        }
        outs = self._evaluate("leg_motion", arguments)
        about = limits.universal_angles(self, outs[7])
        across = limits.spherical_angles(self, np.asarray(pose, float), outs[7])
        return LegMotions._make((*outs, about.astype(outs[0].dtype), across.astype(outs[0].dtype)))

    def force_matrix(self, pose: ArrayLike) -> Array:
        """H, (..., 6, 6): column i is the wrench that a unit force of leg i, extending it, gives to the platform."""
        return self._evaluate("force_matrix", {"pose": pose})[0]

    def condition_number(self, pose: ArrayLike, characteristic_length: float | None = None) -> Array:
        """Of H, (...): the ratio of its largest and smallest singular values (Dasgupta sec. 4.2).

        characteristic_length: m, divides the moments, so that all rows are forces; None leaves them as the paper does
        """
        H = np.array(self.force_matrix(pose))
        if characteristic_length is not None:
            number = isinstance(characteristic_length, int | float | np.number)
            if not number or not 0 < characteristic_length < np.inf:
                raise ShapeError("characteristic_length", expected="a number > 0", got=repr(characteristic_length))
            H[..., 3:, :] /= characteristic_length
        return condition_numbers(H)

    def forward_kinematics(self, lengths: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """The pose (..., 6) with these leg lengths that Newton's method reaches from the guess.

        lengths: (..., 6) m; guess: (..., 6) pose, default above the base with no turn
        Identity: inverse_kinematics(result) = lengths. ConvergenceError, with the largest residual, where none is
        reached; a platform has up to 40 poses (`assembly_modes`).
        """
        start = search.default_guess(self, lengths) if guess is None else guess
        return search.forward_kinematics(self, lengths, start)

    def track(self, lengths: ArrayLike, guess: ArrayLike) -> Array:
        """Poses (k, 6) along a motion of the legs, lengths (k, 6), each found from the one before.

        guess: (6,) pose near the first. SingularityWarning where the branch is about to be lost.
        """
        return search.track(self, lengths, guess)

    def forward_rates(
        self, pose: ArrayLike, rates: ArrayLike, accelerations: ArrayLike | None = None
    ) -> Array | tuple[Array, Array]:
        """The twist (..., 6) from the legs' speeds; and the acceleration (..., 6) if theirs are given too.

        Identity: undoes leg_motion.
        """
        twist = self._evaluate("twist_of", {"pose": pose, "rates": rates})[0]
        if accelerations is None:
            return twist
        arguments = {"pose": pose, "twist": twist, "accelerations": accelerations}
        return twist, self._evaluate("acceleration_of", arguments)[0]

    def assembly_modes(self, lengths: ArrayLike, *, starts: int = 6000, seed: int = 0) -> search.AssemblyModes:
        """All real poses with these leg lengths (6,), by Newton's method from many starts.

        The answer says how many starts were made since the last new pose was met: the more, the surer it is complete.
        """
        return search.assembly_modes(self, lengths, starts, seed)

    def within_limits(self, pose: ArrayLike) -> limits.Limits:
        """Which limits hold, with margins; a limit that was not given is None."""
        return limits.within_limits(self, pose)

    # ------------------------------------------------------------------------------------------------------ dynamics

    def inverse_dynamics(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        model: str = EXACT,
        corrections: Sequence[str] = (),
        on_singular: str = "raise",
        wrench_frame: str = "base",
    ) -> Array:
        """Actuator forces (..., 6), N, positive where they extend the legs.

        pose, twist, acceleration: (..., 6), see `inverse_kinematics` and `leg_motion`
        external_wrench: (..., 6) N, N m on the platform at its origin, base axes, or wrench_frame="platform"
        model:           one of tauforge.STEWART_MODELS
        corrections:     names of a paper's wrong terms to put right, such as ("leg_spin",) for dasgupta1998
        on_singular:     "raise" SingularityError where the condition number of H is above 1e12, or "nan" for such rows

        Identity: force_matrix F + external_wrench = mass_matrix acceleration + bias_wrench.
        """
        self._check_model(model, corrections)
        if on_singular not in ("raise", "nan"):
            raise ShapeError("on_singular", expected="'raise' or 'nan'", got=repr(on_singular))
        arguments = {"pose": pose, "twist": twist, "acceleration": acceleration, "external_wrench": external_wrench}
        options: dict[str, Any] = {"which": model, "corrections": " ".join(sorted(set(corrections)))}
        options["platform_axes"] = self._wrench_axes(wrench_frame)
        (forces,) = self._evaluate("inverse_dynamics", arguments, **options, trapped=True)
        if np.isfinite(forces).all():
            return forces
        (forces,) = self._evaluate("inverse_dynamics", arguments, **options, trapped=False)
        return self._without_singular(forces, arguments, on_singular)

    def _check_model(self, model: str, corrections: Sequence[str]) -> None:
        if model not in STEWART_MODELS:
            raise UnsupportedFeatureError(
                f"unknown model {model!r}", field="model", remedy=f"Use one of {', '.join(STEWART_MODELS)}"
            )
        known = MODELS[model].corrections if model in MODELS else ()
        if isinstance(corrections, str) or not set(corrections) <= set(known):
            raise UnsupportedFeatureError(
                f"{model} has no corrections {corrections!r}",
                field="corrections",
                remedy=f"A sequence of names among {', '.join(known) or 'none: it is exact'}",
            )

    def _without_singular(self, forces: Array, arguments: dict[str, Any], on_singular: str) -> Array:
        """Rows at which H is singular, or a leg has no answer, raise or become NaN; large forces near them stay."""
        poses, usable = _usable(arguments, forces)
        conditions = condition_numbers(self.force_matrix(poses))
        conditions = np.where(np.isfinite(conditions) & np.isfinite(forces).all(axis=-1), conditions, np.inf)
        singular = usable & (conditions > SINGULAR)
        if not singular.any():
            return forces
        if on_singular == "raise":
            raise _no_answer(f"{self.name}: the legs cannot hold the platform", singular, poses, conditions)
        return np.where(singular[..., None], np.array(np.nan, forces.dtype), forces)

    def forward_dynamics(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        leg_forces: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        wrench_frame: str = "base",
    ) -> Array:
        """Accelerations (..., 6), v' and omega', that the leg forces (..., 6) produce; other arguments as above.

        Identity: inverse_dynamics(pose, twist, result) = leg_forces.
        """
        arguments = {"pose": pose, "twist": twist, "leg_forces": leg_forces, "external_wrench": external_wrench}
        axes = self._wrench_axes(wrench_frame)
        (result,) = self._evaluate("forward_dynamics", arguments, platform_axes=axes, trapped=True)
        if np.isfinite(result).all():
            return result
        (result,) = self._evaluate("forward_dynamics", arguments, platform_axes=axes, trapped=False)
        poses, usable = _usable(arguments, result)
        conditions = condition_numbers(self.mass_matrix(poses))
        conditions = np.where(np.isnan(conditions), np.inf, conditions)
        singular = usable & ((conditions > SINGULAR_MASS) | ~np.isfinite(result).all(axis=-1))
        if singular.any():
            raise _no_answer(f"{self.name}: the mass matrix has no inverse", singular, poses, conditions)
        return result

    def mass_matrix(self, pose: ArrayLike) -> Array:
        """M, (..., 6, 6), in the platform's coordinates, legs and reflected masses included; exactly symmetric."""
        return self._evaluate("mass_matrix", {"pose": pose})[0]

    def bias_wrench(self, pose: ArrayLike, twist: ArrayLike) -> Array:
        """eta, (..., 6): velocity terms, gravity and friction, at the platform's origin."""
        return self._evaluate("bias_wrench", {"pose": pose, "twist": twist})[0]

    def energy(self, pose: ArrayLike, twist: ArrayLike) -> tuple[Array, Array]:
        """Kinetic and potential energy (from the base frame's origin), J, each (...).

        Identity: their sum changes by the power of the actuators, the friction and the external wrench.
        """
        kinetic, potential = self._evaluate("energy", {"pose": pose, "twist": twist})
        return kinetic, potential

    def joint_reactions(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        wrench_frame: str = "base",
    ) -> JointReactions:
        """Force and moment at every joint of every leg, each (..., 6, 6), N and N m, base axes; see `JointReactions`.

        Identity: along the leg the prismatic force is the actuator's less friction and reflected inertia.
        """
        arguments = {"pose": pose, "twist": twist, "acceleration": acceleration, "external_wrench": external_wrench}
        outs = self._evaluate("joint_reactions", arguments, platform_axes=self._wrench_axes(wrench_frame))
        return JointReactions(*outs)


def _usable(arguments: dict[str, Any], result: Array) -> tuple[Array, Array]:
    """Poses of the result's rows, 0 where they are not finite, and the rows all of whose arguments are finite."""
    batch = result.shape[:-1]
    given = {name: np.asarray(value, float) for name, value in arguments.items() if value is not None}
    given = {name: np.broadcast_to(value, (*batch, 6)) for name, value in given.items()}
    usable = np.all([np.isfinite(value).all(axis=-1) for value in given.values()], axis=0)
    finite = np.isfinite(given["pose"]).all(axis=-1, keepdims=True)
    return np.where(finite, given["pose"], 0.0), np.asarray(usable)


def _no_answer(text: str, singular: Array, poses: Array, conditions: Array) -> SingularityError:
    """Names the first of these rows."""
    first = tuple(np.argwhere(singular)[0])
    where = f" in row {', '.join(map(str, first))}" if first else ""
    return SingularityError(text + where, pose=poses[first].tolist(), condition_number=float(conditions[first]))
