"""StewartPlatform: the public methods of a Stewart platform."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.rotations import quaternion_of
from tauforge.algebra.vectors import Vector
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ModelError, ShapeError
from tauforge.evaluation.arguments import as_argument, finite_rows
from tauforge.evaluation.array_libraries import arithmetic_of, library_of, on_processor
from tauforge.evaluation.condition import by_singular_values, check_length
from tauforge.evaluation.functions import FunctionTable
from tauforge.evaluation.unmodified import ours
from tauforge.evaluation.with_functions import by_table, quick
from tauforge.formulations.stewart import EXACT
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.capabilities import Bounds, Dissipation
from tauforge.robots.loads import PAYLOAD, BaseMotion, Payload
from tauforge.robots.records import Actuator, Coordinate
from tauforge.robots.stewart import capabilities
from tauforge.robots.stewart import limits as pose_limits
from tauforge.robots.stewart import model as numbers
from tauforge.robots.stewart import pose_search as search
from tauforge.robots.stewart.description import PlatformDescription
from tauforge.robots.stewart.designs import PlatformDesigns
from tauforge.robots.stewart.drawing import drawn, reactions, sleeves
from tauforge.robots.stewart.functions import JointReactions, LegBodies, LegMotions, function_table
from tauforge.robots.stewart.state_space import PoseState
from tauforge.robots.stewart.summary import summary

COORDINATES = tuple(
    Coordinate(f"{angle}{axis}", unit, f"{angle}{axis}", f"{rate}_{axis}", f"{second}_{axis}", wraps=unit == "rad")
    for angle, unit, rate, second in (("", "m", "v", "a"), ("theta_", "rad", "omega", "alpha"))
    for axis in "xyz"
)


@ours
class StewartPlatform(PlatformDescription):
    __doc__ = PlatformDescription.__doc__

    kind = "Stewart platform"

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The six numbers of the pose; velocities are twists."""
        return COORDINATES

    positions = computed_once(capabilities.PoseCoordinates)
    moved_body = computed_once(capabilities.MovedPlatform)

    @computed_once
    def actuators(self) -> tuple[Actuator, ...]:
        """One for each leg."""
        limits = self.force_limit or (np.inf,) * LEGS
        return tuple(Actuator(f"leg{i}", "N", f"f{i}", limit, f"leg {i}") for i, limit in enumerate(limits, 1))

    @computed_once
    def functions(self) -> FunctionTable:
        return function_table(len(pose_limits.named(self)), pose_limits.told(self))

    @computed_once
    def identity(self) -> str:
        return f"{self.parameters!r} {self.axes_are_default} {self.model.limits!r} {self.model.platform_axes!r}"

    varying_fields = property(numbers.varying_fields)
    varied_model = numbers.varied_model
    _check_varying = numbers.check_varying
    _fields_carrying = numbers.fields_carrying
    designs = computed_once(PlatformDesigns)
    bounds = computed_once(pose_limits.PoseBounds)
    sensors = computed_once(capabilities.LegSensors)
    formulations = computed_once(capabilities.PlatformFormulations)
    state_space = computed_once(PoseState)

    @computed_once
    def dissipation(self) -> Dissipation | None:
        """Friction of the legs' joints, if there is any."""
        return Dissipation(self) if any(self.friction) else None

    def check_function(self, function: str) -> None:
        entry = self.functions.get(function)
        # what depends on masses takes a payload, but for the legs' own
        if entry is None or PAYLOAD in entry.optional or function == "leg_bodies":
            self._check_masses(function)

    def _check_loads(self, loads: Collection[str], options: Mapping[str, Any]) -> None:
        if "base_motion" in loads:
            capabilities.check_moving_base(self, options.get("model", EXACT))

    def _check_options(self, function: str, options: Mapping[str, Any]) -> dict[str, Any]:
        chosen = super()._check_options(function, options)
        if (frame := chosen.pop("wrench_frame", None)) is not None:
            if frame not in ("base", "platform"):
                raise ShapeError("wrench_frame", expected="'base' or 'platform'", got=repr(frame))
            chosen["platform_axes"] = frame == "platform"
        if function == "inverse_dynamics":
            names = capabilities.corrections(chosen.get("model", EXACT), chosen.get("corrections", ()))
            chosen["corrections"] = " ".join(sorted(set(names)))
        return chosen

    random_states = capabilities.random_states

    def _random_argument(self, function: str, argument: str, states: tuple[Array, Array, Array]) -> Array | None:
        pose = states[0]
        match argument:
            case "lengths":
                return self.inverse_kinematics(pose)
            case "guess":  # as far from the pose as a machine moves between two calls
                return pose + 1e-2 * np.sin(np.arange(pose.size).reshape(pose.shape))
            case "state":
                turns = quaternion_of(Vector(*np.moveaxis(pose[:, 3:], -1, 0)))
                return np.column_stack([pose[:, :3], *turns])
        return super()._random_argument(function, argument, states)

    drawing = drawn
    sleeves = computed_once(sleeves)
    reactions = reactions
    summary = summary

    def issues(self) -> list[str]:
        masses = [] if self.has_masses else ["the file gives no masses: kinematics is available, dynamics is not"]
        return masses + pose_limits.issues_of_limits(self)

    # ---------------------------------------------------------------------------------------------------- kinematics

    @by_table
    def inverse_kinematics(self, pose: ArrayLike) -> Array:
        """Leg lengths (..., 6), m. pose: (..., 6) x, y, z, theta_x, theta_y, theta_z with R = Rz Ry Rx."""

    def leg_motion(
        self,
        pose: ArrayLike,
        twist: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        *,
        spin: bool = True,
    ) -> LegMotions:
        """Motion of every leg and joint. twist: (..., 6) v, omega; acceleration: (..., 6) v', omega'; base frame.

        spin: False for legs that do not turn about themselves, as Dasgupta & Mruthyunjaya assume (eqs 6, 9). Universal
              joints make them turn: that assumption is an error of the angular velocities and accelerations

        Identity: rates are the time derivatives of the lengths, accelerations those of the rates. Angular velocities
        are those of the legs' axes.
        """
        if not isinstance(spin, bool):
            raise ShapeError("spin", expected="True or False", got=repr(spin))
        found = LegMotions._make(self._answer("leg_motion", self._moving(pose, twist, acceleration), spin=spin))
        if self.universal_axes is not None:
            return found
        return found._replace(universal_angles=None, universal_rates=None, universal_accelerations=None)

    def leg_bodies(
        self, pose: ArrayLike, twist: ArrayLike | None = None, acceleration: ArrayLike | None = None
    ) -> LegBodies:
        """Axes, mass centres, accelerations and inertias of both parts of every leg (Dasgupta & Mruthyunjaya sec. 2.2,
        Pedrammehr et al. eqs 26-30), at states as for `leg_motion`. ModelError for a platform without masses.

        Identity: accelerations are the second time derivatives of the centres.
        """
        return LegBodies._make(self._answer("leg_bodies", self._moving(pose, twist, acceleration)))

    def _moving(self, pose: ArrayLike, twist: ArrayLike | None, acceleration: ArrayLike | None) -> dict[str, ArrayLike]:
        """Arguments of functions, at rest where no motion is given."""
        zero = arithmetic_of(pose).constant(np.zeros(6))
        rates = {"twist": twist, "acceleration": acceleration}
        return {"pose": pose} | {name: zero if x is None else x for name, x in rates.items()}

    @by_table
    def force_matrix(self, pose: ArrayLike) -> Array:
        """H, (..., 6, 6): column i is the wrench that a unit force of leg i, extending it, gives to the platform."""

    @quick
    def condition_number(self, pose: ArrayLike, characteristic_length: float | None = None) -> Array:
        """Condition number of H, (...): the ratio of its largest and smallest singular values (Dasgupta sec. 4.2).

        characteristic_length: m, divides the moments, so that all rows are forces; None leaves them as the paper does
        """
        scale, arguments = np.ones((6, 1)), {"pose": pose}
        if characteristic_length is not None:
            length = check_length(characteristic_length)
            scale[3:] /= length
            own = np.float32 if getattr(pose, "dtype", None) == np.float32 else np.float64
            arguments["characteristic_length"] = np.array([length], own)
        if library_of((pose,)) is not None:  # traced programs cannot look at rows in doubt again
            H = self.force_matrix(pose)
            return by_singular_values(H * arithmetic_of(H).constant(scale))
        return self._answer("condition_number", arguments)[0]

    forward_kinematics = on_processor(search.forward_kinematics)
    track = on_processor(search.track)
    assembly_modes = on_processor(search.assembly_modes)
    within_limits = on_processor(pose_limits.within_limits)

    def forward_rates(
        self, pose: ArrayLike, rates: ArrayLike, accelerations: ArrayLike | None = None
    ) -> Array | tuple[Array, Array]:
        """The twist (..., 6) from the legs' speeds; and the acceleration (..., 6) if theirs are given too.

        Identity: undoes leg_motion. SingularityError where the condition number of H is above 1e12.
        """
        twist = self._answer("twist_of", {"pose": pose, "rates": rates})[0]
        if accelerations is None:
            return twist
        arguments = {"pose": pose, "twist": twist, "accelerations": accelerations}
        (acceleration,) = self._answer("acceleration_of", arguments)
        if library_of((acceleration,)) is not None:
            return twist, acceleration
        sound = finite_rows({"accelerations": as_argument("accelerations", accelerations, 6, "one for each leg")})
        return np.where(sound[..., None], twist, np.array(np.nan, twist.dtype)), acceleration

    @quick
    def limit_margins(self, pose: ArrayLike) -> Array:
        """Margins (..., k) of `bounds.limits`, in their order: m or rad, positive where they hold.

        Identity: the smallest of those of a leg are the margins of `within_limits`.
        """
        if not self.bounds.limits:
            return Bounds.margins(self.bounds, pose)
        return self._answer("limit_margins", {"pose": pose})[0]

    @quick
    def nearest_limits(self, pose: ArrayLike) -> Array:
        """Numbers of `within_limits` in one array (..., k), for loops that have no time for more.

        It has, for the limits that the platform has: 6 margins of the strokes, 6 and 6 of the cones; the clearance and
        the numbers of its two legs; and last a number that is at least 0 where all hold.
        """
        if not self.bounds.limits:
            raise ModelError(f"{self.name} has no limits of its pose", field="limits", remedy="Give it a stroke")
        return self._answer("nearest_limits", {"pose": pose})[0]

    # ------------------------------------------------------------------------------------------------------ dynamics

    @by_table
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
        formulation: str | None = None,
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
        model:           one of tauforge.STEWART_MODELS; of `models` where the base joints are spherical.
                         formulation= is another spelling
        corrections:     names of a paper's wrong terms to put right, such as ("leg_spin",) for dasgupta1998
        on_singular:     "raise" SingularityError where the condition number of H is above 1e12, or "nan" for such rows

        Identity: force_matrix F + external_wrench = mass_matrix acceleration + bias_wrench.
        """

    @property
    def models(self) -> tuple[str, ...]:
        """Those of tauforge.STEWART_MODELS that fit the base joints: Pedrammehr's are of universal joints only."""
        return self.formulations.names

    @by_table
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

    @by_table
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

        The pose is taken by its coordinates x, y, z, theta_x, theta_y, theta_z; the twist holds still as they change.
        on_singular: as in `inverse_dynamics`

        Identity: the last is force_matrix^-1 mass_matrix.
        """

    @by_table
    def forward_dynamics_derivatives(
        self, pose: ArrayLike, twist: ArrayLike, leg_forces: ArrayLike, *, payload: Payload | None = None
    ) -> tuple[Array, Array, Array]:
        """da/dpose, da/dtwist, da/dF of the accelerations, each (..., 6, 6), friction included; otherwise as above.

        Identity: the last is mass_matrix^-1 force_matrix.
        """

    @by_table
    def mass_matrix(self, pose: ArrayLike, *, payload: Payload | None = None) -> Array:
        """M, (..., 6, 6), in the platform's coordinates, legs and reflected masses included; exactly symmetric."""

    @by_table
    def bias_wrench(self, pose: ArrayLike, twist: ArrayLike, *, payload: Payload | None = None) -> Array:
        """eta, (..., 6): velocity terms, gravity and friction, at the platform's origin."""

    @by_table
    def energy(self, pose: ArrayLike, twist: ArrayLike, *, payload: Payload | None = None) -> tuple[Array, Array]:
        """Kinetic and potential energy (from the base frame's origin), J, each (...).

        Identity: their sum changes by the power of the actuators, the friction and the external wrench.
        """

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
        loads = {"external_wrench": external_wrench, "payload": payload, "base_motion": base_motion}
        state = {"pose": pose, "twist": twist, "acceleration": acceleration}
        more = {"on_singular": on_singular, "wrench_frame": wrench_frame}
        arguments, chosen, options = self._sorted("joint_reactions", {**state, **loads, **more})
        return JointReactions(*self._answer("joint_reactions", arguments, chosen, **options))
