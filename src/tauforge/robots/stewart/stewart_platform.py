"""StewartPlatform: the public methods of a Stewart platform."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError, SingularityError, UnsupportedFeatureError
from tauforge.field_docs import with_field_docs
from tauforge.formulations.stewart.lumping import lumped
from tauforge.formulations.stewart.universal_coordinates import ALONG_AXIS
from tauforge.robots.computed_once import computed_once
from tauforge.robots.condition import condition_numbers
from tauforge.robots.evaluate import Evaluator, as_argument, checked_request, finite_rows, loaded
from tauforge.robots.own_classes import method_is_as_written, recorded
from tauforge.robots.payload import BaseMotion, Payload
from tauforge.robots.quick_call import install
from tauforge.robots.serial import varying as families
from tauforge.robots.stewart import functions as formulas
from tauforge.robots.stewart import large_derivatives, limits
from tauforge.robots.stewart import pose_search as search
from tauforge.robots.stewart import varying as families_of_platforms
from tauforge.robots.stewart.description import PlatformDescription
from tauforge.robots.stewart.functions import EXACT, FIXED_BASE_ONLY, FUNCTIONS, MASSLESS, MODELS, PlatformModel
from tauforge.robots.stewart.spherical_legs import SPHERICAL, UNIVERSAL

if TYPE_CHECKING:
    from tauforge.kernels.cpu.kernel import Kernel

STEWART_MODELS = (EXACT, *MODELS)
SINGULAR = 1e12  # condition number of H above which there is no answer
SINGULAR_MASS = 1e15
LARGE = 1e6  # of twists beside the legs' speeds: the condition number is looked at
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
OPTIONAL = ("external_wrench", "payload", "base_motion")
SIZES = {"payload": 10, "base_motion": 9}  # numbers of optional arguments; six of the others
MEANINGS = {
    "pose": "x, y, z, theta_x, theta_y, theta_z",
    "twist": "velocity and angular velocity",
    "acceleration": "acceleration and angular acceleration",
    "external_wrench": "force and moment at the platform's origin",
    "payload": "mass, mass centre and inertia",
    "base_motion": "angular velocity, angular acceleration and linear acceleration",
}


@with_field_docs
class LegMotions(NamedTuple):
    """How each of the six legs moves; vectors in base axes.

    lengths:               (..., 6) m, between the joints of a leg
    rates:                 (..., 6) m/s, of the lengths
    accelerations:         (..., 6) m/s^2, of the lengths
    spins:                 (..., 6) rad/s, of the leg about itself; 0 between two spherical joints
    spin_rates:            (..., 6) rad/s^2, of the leg about itself
    angular_velocities:    (..., 6, 3) rad/s, of the leg
    angular_accelerations: (..., 6, 3) rad/s^2, of the leg
    directions:            (..., 6, 3) unit vectors from the base joint to the platform joint
    universal_angles:      (..., 6, 2) rad, about the fixed axis, from the base's z; and out of the plane across it;
                           None where the base joints are spherical, which have no axis
    spherical_angles:      (..., 6) rad, between the leg and the platform joint's axis (default the platform's z)
    """

    lengths: Array
    rates: Array
    accelerations: Array
    spins: Array
    spin_rates: Array
    angular_velocities: Array
    angular_accelerations: Array
    directions: Array
    universal_angles: Array | None
    spherical_angles: Array


@with_field_docs
class JointReactions(NamedTuple):
    """What one body exerts on the next at every joint: force (N) and moment (N m), each (..., 6 legs, 6), base axes.

    universal: of the base on the lower part of the leg, at the base joint; if that is spherical, its only moment is
               friction
    prismatic: of the lower part on the upper part of the leg, about the base joint; actuator and friction included
    spherical: of the platform on the upper part of the leg, at the platform joint
    """

    universal: Array
    prismatic: Array
    spherical: Array


@recorded
class StewartPlatform(PlatformDescription):
    __doc__ = PlatformDescription.__doc__

    def kernel(
        self,
        function: str,
        *,
        target: str = "cpu",
        dtype: str = "float64",
        varying: Sequence[str] = (),
        **options: Any,
    ) -> Kernel:
        """The compiled function behind the method of this name: a generalized ufunc that takes `out=`.

        options: such as which="dasgupta1998" for inverse_dynamics
        varying: fields of the platform that become arguments after the state, an array each, such as "platform_mass"
                 (...,), "lower_inertia" (..., 6, 3, 3), "gravity" (..., 3). Universal axes that are the default of the
                 base points follow varying ones; "universal_axes" (..., 6, 3) may vary themselves
        Identity: equals the method of platforms changed by `replace`; it does not look for singular poses.
        """
        bits = checked_request(function, FUNCTIONS, target, dtype, options)
        fields = families.named(varying)
        families_of_platforms.check(self, fields)
        if function == "inverse_dynamics":
            given = options.get("corrections", "")
            names = self._checked_model(options.get("which", EXACT), given.split() if isinstance(given, str) else given)
            options = {**options, "corrections": " ".join(sorted(set(names)))}
        self._need_masses(function)
        made = self._kernel(function, {"trapped": False, **options} if function in TRAPPED else options, fields)
        return loaded(made, function, bits)

    @computed_once
    def _evaluator(self) -> Evaluator:
        parameters = self.parameters  # kernels may outlive the platform and must not keep it alive
        return Evaluator(
            cache(lambda: PlatformModel(parameters, lumped(parameters))),
            repr(parameters),
            dict.fromkeys(TRAPPED, NO_NUMBER),
        )

    def _kernel(self, method: str, options: dict[str, Any], varying: tuple[str, ...] = ()) -> Kernel | None:
        function, formula = FUNCTIONS[method], getattr(formulas, method)
        shapes: dict[str, tuple[int, ...]] = {name: (size,) for name, size in function.arguments.items()}
        shapes |= {field: families_of_platforms.SHAPES[field] for field in varying}
        if varying:
            follow = self.axes_are_default
            formula = families_of_platforms.formula_of(self.parameters, formula, varying, axes_follow=follow)
        chosen = {**function.options, **options}
        return self._evaluator.kernel(method, formula, shapes, function.results, **chosen)

    def _evaluate(self, method: str, arguments: dict[str, Any], **options: Any) -> tuple[Array, ...]:
        self._need_masses(method)
        function = FUNCTIONS[method]
        checked = {}
        for name, value in arguments.items():
            if value is None and name in OPTIONAL:
                continue
            size = function.arguments.get(name, SIZES.get(name, 6))
            checked[name] = as_argument(name, value, size, MEANINGS.get(name, "one for each leg"))
        chosen = {**function.options, **options}
        if method in large_derivatives.IN_PARTS:
            outs = large_derivatives.derivatives(self._evaluator, self.parameters.friction, method, checked)
        else:
            outs = self._evaluator(method, getattr(formulas, method), checked, function.results, **chosen)
        if method not in vars(self) and len(checked) == len(function.arguments) and chosen == function.options:
            self._install(method)
        return outs

    def _install(self, method: str) -> None:
        """The next plain calls go straight to machine code; what it does not take comes back to the method."""
        if method not in DIRECT or not method_is_as_written(type(self), method):
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

    def _loads(self, payload: Payload | None, base_motion: BaseMotion | None = None) -> dict[str, Array]:
        """The numbers of what was given."""
        loads = {}
        if payload is not None:
            if not isinstance(payload, Payload):
                raise ShapeError("payload", expected="a tauforge.Payload", got=type(payload).__name__)
            loads["payload"] = payload.numbers()
        if base_motion is not None:
            if not isinstance(base_motion, BaseMotion):
                raise ShapeError("base_motion", expected="a tauforge.BaseMotion", got=type(base_motion).__name__)
            loads["base_motion"] = base_motion.numbers()
            if self.base_joint == SPHERICAL and self.friction[0] != 0 and loads["base_motion"][..., :3].any():
                raise UnsupportedFeatureError(
                    f"on a base that turns, the friction of spherical base joints, {self.friction[0]:g} N m s, would "
                    "turn a leg about itself, and nothing holds its spin",
                    field="base_motion",
                    remedy='Give 0 as the first coefficient of friction, or use base_joint = "universal"',
                )
        return loads

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
        axes = self.universal_axes
        about = None if axes is None else limits.universal_angles(axes, outs[7]).astype(outs[0].dtype)
        across = limits.spherical_angles(self, np.asarray(pose, float), outs[7])
        return LegMotions._make((*outs, about, across.astype(outs[0].dtype)))

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

    def forward_kinematics(
        self, lengths: ArrayLike, guess: ArrayLike | None = None, *, on_failure: str = "raise"
    ) -> Array:
        """The pose (..., 6) with these leg lengths that Newton's method reaches from the guess.

        lengths:    (..., 6) m; guess: (..., 6) pose, default above the base with no turn
        on_failure: "raise" ConvergenceError, with the residual (m) of the first row where none is reached, and
                    ShapeError where a length is negative; or "nan" for such rows
        Identity: inverse_kinematics(result) = lengths. A platform has up to 40 such poses (`assembly_modes`).
        """
        if on_failure not in ("raise", "nan"):
            raise ShapeError("on_failure", expected="'raise' or 'nan'", got=repr(on_failure))
        start = search.default_guess(self, lengths) if guess is None else guess
        return search.forward_kinematics(self, lengths, start, on_failure)

    def track(self, lengths: ArrayLike, guess: ArrayLike) -> Array:
        """Poses (k, 6) along a motion of the legs, lengths (k, 6), each found from the one before.

        guess: (6,) pose near the first. SingularityWarning where the branch is about to be lost.
        """
        return search.track(self, lengths, guess)

    def forward_rates(
        self, pose: ArrayLike, rates: ArrayLike, accelerations: ArrayLike | None = None
    ) -> Array | tuple[Array, Array]:
        """The twist (..., 6) from the legs' speeds; and the acceleration (..., 6) if theirs are given too.

        Identity: undoes leg_motion. SingularityError where the condition number of H is above 1e12.
        """
        twist = self._evaluate("twist_of", {"pose": pose, "rates": rates})[0]
        size = np.abs(np.asarray(rates, float)).max(axis=-1, keepdims=True, initial=0.0)
        rows = np.asarray(~(np.abs(twist) <= LARGE * size).all(axis=-1))
        if rows.any():
            given = _rows({"pose": pose, "rates": rates}, rows)
            self._without_singular(twist[rows], given, rows, "raise", legs_turn=False)
        if accelerations is None:
            return twist
        arguments = {"pose": pose, "twist": twist, "accelerations": accelerations}
        (acceleration,) = self._evaluate("acceleration_of", arguments)
        sound = finite_rows({"accelerations": as_argument("accelerations", accelerations, 6, "one for each leg")})
        return np.where(sound[..., None], twist, np.array(np.nan, twist.dtype)), acceleration

    def assembly_modes(self, lengths: ArrayLike, *, starts: int = 6000, seed: int = 0) -> search.AssemblyModes:
        """All real poses with these leg lengths (6,), by Newton's method from many starts.

        The answer says how many starts were made since the last new pose was met: the more, the surer it is complete.
        """
        return search.assembly_modes(self, lengths, starts, seed)

    def within_limits(self, pose: ArrayLike, forces: ArrayLike | None = None) -> limits.Limits:
        """Which limits hold, with margins; a limit that was not given is None.

        forces: (..., 6) N of the legs, if those are to be judged too
        """
        return limits.within_limits(self, pose, forces)

    # ------------------------------------------------------------------------------------------------------ dynamics

    def inverse_dynamics(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        model: str = EXACT,
        corrections: Sequence[str] = (),
        on_singular: str = "raise",
        wrench_frame: str = "base",
    ) -> Array:
        """Actuator forces (..., 6), N, positive where they extend the legs.

        pose, twist, acceleration: (..., 6), see `inverse_kinematics` and `leg_motion`; relative to the base
        external_wrench: (..., 6) N, N m on the platform at its origin, base axes, or wrench_frame="platform"
        payload:         a Payload held by the platform, in the platform's frame
        base_motion:     a BaseMotion of the base, in base axes, which are the world's axes at the instant; gravity is
                         given in them too. Friction and reflected masses act on motion relative to the base. The
                         papers' models need a base at rest. Legs between spherical joints have no absolute spin
        model:           one of tauforge.STEWART_MODELS; of `models` where the base joints are spherical
        corrections:     names of a paper's wrong terms to put right, such as ("leg_spin",) for dasgupta1998
        on_singular:     "raise" SingularityError where the condition number of H is above 1e12, or "nan" for such rows

        Identity: force_matrix F + external_wrench = mass_matrix acceleration + bias_wrench.
        """
        names = self._checked_model(model, corrections)
        if on_singular not in ("raise", "nan"):
            raise ShapeError("on_singular", expected="'raise' or 'nan'", got=repr(on_singular))
        if base_motion is not None and model in FIXED_BASE_ONLY:
            raise UnsupportedFeatureError(
                f"{model} does not take a moving base",
                field="base_motion",
                remedy=f"Use one of {', '.join(name for name in self.models if name not in FIXED_BASE_ONLY)}",
            )
        arguments = {"pose": pose, "twist": twist, "acceleration": acceleration, "external_wrench": external_wrench}
        arguments |= self._loads(payload, base_motion)
        options: dict[str, Any] = {"which": model, "corrections": " ".join(sorted(set(names)))}
        options["platform_axes"] = self._wrench_axes(wrench_frame)
        (forces,) = self._evaluate("inverse_dynamics", arguments, **options, trapped=True)
        rows = np.asarray(~np.isfinite(forces).all(axis=-1))
        if not rows.any():
            return forces
        again = _rows(arguments, rows)
        (closer,) = self._evaluate("inverse_dynamics", again, **options, trapped=False)
        forces = np.array(forces)
        forces[rows] = self._without_singular(closer, again, rows, on_singular, legs_turn=model != MASSLESS)
        return forces

    @property
    def models(self) -> tuple[str, ...]:
        """Those of tauforge.STEWART_MODELS that fit the base joints: Pedrammehr's are of universal joints only."""
        if self.base_joint == UNIVERSAL:
            return STEWART_MODELS
        return tuple(name for name in STEWART_MODELS if name not in MODELS or not MODELS[name].universal_only)

    def _checked_model(self, model: str, corrections: Any) -> tuple[str, ...]:
        """The names of the corrections, if the model has them."""
        if model not in STEWART_MODELS:
            raise UnsupportedFeatureError(
                f"unknown model {model!r}", field="model", remedy=f"Use one of {', '.join(STEWART_MODELS)}"
            )
        if model not in self.models:
            raise UnsupportedFeatureError(
                f"{model} has the equations of universal joints at the base; {self.name} has {self.base_joint} ones",
                field="model",
                remedy=f"Use one of {', '.join(self.models)}",
            )
        known = MODELS[model].corrections if model in MODELS else ()
        iterable = isinstance(corrections, Iterable) and not isinstance(corrections, str)
        names = tuple(corrections) if iterable else None
        if names is None or not set(names) <= set(known):
            raise UnsupportedFeatureError(
                f"{model} has no corrections {corrections if names is None else names!r}",
                field="corrections",
                remedy=f"A sequence of names among {', '.join(known) or 'none: it is exact'}",
            )
        return names

    def _without_singular(
        self, result: Array, arguments: dict[str, Array], rows: Array, on_singular: str, *, legs_turn: bool = True
    ) -> Array:
        """Rows (k, ...) at which the legs have no answer raise or become NaN; large answers near them stay.

        rows: which of the batch they are, for the message; legs_turn: a leg along its joint's axis has none
        """
        finite = finite_rows(arguments)
        poses = np.where(np.isfinite(arguments["pose"]).all(axis=-1, keepdims=True), arguments["pose"], 0.0).astype(
            float
        )
        H = self.force_matrix(poses)
        conditions = condition_numbers(H)
        sines = np.ones(H.shape[:-1])
        if legs_turn and self.universal_axes is not None:
            axes = np.array(self.universal_axes)
            sines = np.linalg.norm(np.cross(axes, np.swapaxes(H[..., :3, :], -1, -2)), axis=-1)
        along = sines < ALONG_AXIS
        lost = np.isnan(conditions) | (conditions > SINGULAR)
        spoilt = ~np.isfinite(result).reshape(len(result), -1).all(axis=-1)
        singular = finite & (lost | along.any(axis=-1) | spoilt)
        if on_singular == "raise" and singular.any():
            first = int(np.argmax(singular))
            text = "the legs cannot hold the platform"
            if along[first].any() and not lost[first]:
                text = f"leg {int(np.argmin(sines[first])) + 1} lies along the fixed axis of its universal joint"
            condition = np.inf if np.isnan(conditions[first]) else conditions[first]
            raise _no_answer(f"{self.name}: {text}", rows, first, poses[first], condition)
        shape = (-1,) + (1,) * (result.ndim - 1)
        return np.where(singular.reshape(shape), np.array(np.nan, result.dtype), result)

    def forward_dynamics(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        leg_forces: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        wrench_frame: str = "base",
    ) -> Array:
        """Accelerations (..., 6), v' and omega', that the leg forces (..., 6) produce; other arguments as above.

        Identity: inverse_dynamics(pose, twist, result) = leg_forces.
        """
        arguments = {"pose": pose, "twist": twist, "leg_forces": leg_forces, "external_wrench": external_wrench}
        arguments |= self._loads(payload, base_motion)
        axes = self._wrench_axes(wrench_frame)
        (result,) = self._evaluate("forward_dynamics", arguments, platform_axes=axes, trapped=True)
        rows = np.asarray(~np.isfinite(result).all(axis=-1))
        if not rows.any():
            return result
        again = _rows(arguments, rows)
        (closer,) = self._evaluate("forward_dynamics", again, platform_axes=axes, trapped=False)
        finite = finite_rows(again)
        poses = np.where(np.isfinite(again["pose"]).all(axis=-1, keepdims=True), again["pose"], 0.0).astype(float)
        heavy = {name: value for name, value in again.items() if name == "payload"}
        conditions = condition_numbers(self._evaluate("mass_matrix", {"pose": poses, **heavy})[0])
        conditions = np.where(np.isnan(conditions), np.inf, conditions)
        singular = finite & ((conditions > SINGULAR_MASS) | ~np.isfinite(closer).all(axis=-1))
        if singular.any():
            first = int(np.argmax(singular))
            text = f"{self.name}: the mass matrix has no inverse"
            raise _no_answer(text, rows, first, poses[first], conditions[first])
        result = np.array(result)
        result[rows] = closer
        return result

    def inverse_dynamics_derivatives(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        payload: Payload | None = None,
        on_singular: str = "raise",
    ) -> tuple[Array, Array, Array]:
        """dF/dpose, dF/dtwist, dF/dacceleration, each (..., 6, 6), friction included; column k is by the k-th number.

        The pose is taken by its six numbers x, y, z, theta_x, theta_y, theta_z; the twist holds still as they change.
        on_singular: as in `inverse_dynamics`

        Identity: the last is force_matrix^-1 mass_matrix.
        """
        forces = self.inverse_dynamics(pose, twist, acceleration, payload=payload, on_singular=on_singular)
        arguments = {"pose": pose, "twist": twist, "acceleration": acceleration, **self._loads(payload)}
        three = _without_rows(self._evaluate("inverse_dynamics_derivatives", arguments), forces)
        return three[0], three[1], three[2]

    def forward_dynamics_derivatives(
        self, pose: ArrayLike, twist: ArrayLike, leg_forces: ArrayLike, *, payload: Payload | None = None
    ) -> tuple[Array, Array, Array]:
        """da/dpose, da/dtwist, da/dF of the accelerations, each (..., 6, 6), friction included; otherwise as above.

        Identity: the last is mass_matrix^-1 force_matrix.
        """
        self.forward_dynamics(pose, twist, leg_forces, payload=payload)  # says where the mass matrix has no inverse
        arguments = {"pose": pose, "twist": twist, "leg_forces": leg_forces, **self._loads(payload)}
        three = self._evaluate("forward_dynamics_derivatives", arguments)
        return three[0], three[1], three[2]

    def mass_matrix(self, pose: ArrayLike, *, payload: Payload | None = None) -> Array:
        """M, (..., 6, 6), in the platform's coordinates, legs and reflected masses included; exactly symmetric."""
        return self._evaluate("mass_matrix", {"pose": pose, **self._loads(payload)})[0]

    def bias_wrench(self, pose: ArrayLike, twist: ArrayLike, *, payload: Payload | None = None) -> Array:
        """eta, (..., 6): velocity terms, gravity and friction, at the platform's origin."""
        return self._evaluate("bias_wrench", {"pose": pose, "twist": twist, **self._loads(payload)})[0]

    def energy(self, pose: ArrayLike, twist: ArrayLike, *, payload: Payload | None = None) -> tuple[Array, Array]:
        """Kinetic and potential energy (from the base frame's origin), J, each (...).

        Identity: their sum changes by the power of the actuators, the friction and the external wrench.
        """
        kinetic, potential = self._evaluate("energy", {"pose": pose, "twist": twist, **self._loads(payload)})
        return kinetic, potential

    def joint_reactions(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        on_singular: str = "raise",
        wrench_frame: str = "base",
    ) -> JointReactions:
        """Force and moment at every joint of every leg, each (..., 6, 6), N and N m, base axes; see `JointReactions`.

        payload, base_motion, on_singular: as in `inverse_dynamics`

        Identity: along the leg the prismatic force is the actuator's less friction and reflected inertia.
        """
        arguments = {"pose": pose, "twist": twist, "acceleration": acceleration, "external_wrench": external_wrench}
        arguments |= self._loads(payload, base_motion)
        self._need_masses("joint_reactions")
        forces = self.inverse_dynamics(
            pose,
            twist,
            acceleration,
            external_wrench=external_wrench,
            payload=payload,
            base_motion=base_motion,
            on_singular=on_singular,
            wrench_frame=wrench_frame,
        )
        outs = self._evaluate("joint_reactions", arguments, platform_axes=self._wrench_axes(wrench_frame))
        return JointReactions(*_without_rows(outs, forces))


def _without_rows(outs: tuple[Array, ...], forces: Array) -> tuple[Array, ...]:
    """Results (..., 6, 6), NaN in rows in which the legs have no forces."""
    answered = np.asarray(np.isfinite(forces).all(axis=-1))
    if answered.all():
        return outs
    return tuple(np.where(answered[..., None, None], out, np.array(np.nan, out.dtype)) for out in outs)


def _rows(arguments: dict[str, Any], rows: Array) -> dict[str, Array]:
    """These rows of the batch (...) of every argument, (k, 6), or (k, 10) of a payload and so on."""
    given = {n: as_argument(n, value, SIZES.get(n, 6), "") for n, value in arguments.items() if value is not None}
    return {name: np.broadcast_to(value, (*rows.shape, value.shape[-1]))[rows] for name, value in given.items()}


def _no_answer(text: str, rows: Array, first: int, pose: Array, condition: float) -> SingularityError:
    """Names the row of the batch that is the first-th of these rows."""
    index = tuple(np.argwhere(rows)[first])
    where = f" in row {', '.join(map(str, index))}" if index else ""
    return SingularityError(text + where, pose=pose.tolist(), condition_number=float(condition))
