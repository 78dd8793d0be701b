"""SerialArm: a frozen, validated serial arm and its public methods."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.vectors import NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector
from tauforge.errors import ModelError, ShapeError, SingularityError, UnsupportedFeatureError
from tauforge.formulations.serial import DEFAULT_FORMULATION, FIXED_BASE_ONLY, FORMULATIONS
from tauforge.formulations.serial.frame_choice import cheapest_frames
from tauforge.formulations.serial.parameters import (
    ArmParameters,
    BodyParameters,
    DriveParameters,
    JointParameters,
)
from tauforge.robots import inverse_kinematics as ik
from tauforge.robots import numbers, physical
from tauforge.robots import serial_formulas as formulas
from tauforge.robots.evaluate import Evaluator, as_argument, batch_shape
from tauforge.robots.joint import CONVENTIONS, JOINT_FIELDS, Joint
from tauforge.robots.loads import BaseMotion, Payload
from tauforge.robots.numbers import IDENTITY_ROWS, Floats, Rows, to_transform
from tauforge.robots.serial_formulas import FUNCTIONS

if TYPE_CHECKING:
    from tauforge.kernels.kernel import Kernel

Array = NDArray[Any]
DH_FIELDS = ("alpha", "a", "d", "theta")
OPTIONAL = ("tip_wrench", "payload", "base_motion", "qd_ref")


class KnownException(NamedTuple):
    """A body whose unphysical inertia is as published: it loads without a warning."""

    body: str
    reason: str


class Source(NamedTuple):
    """Where numbers of a catalogue entry come from."""

    fields: tuple[str, ...]
    source: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class SerialArm:
    """A chain of revolute and prismatic joints from a base to a tool. SI units, radians.

    joints:        one `Joint` each, from the base outward
    base, tool:    4 x 4: world <- base, last link frame <- tool
    gravity:       (3,) m/s^2, acceleration of free fall, world axes
    coulomb_speed: rad/s or m/s; above 0 it smooths Coulomb friction to tanh(qd / coulomb_speed)
    convention:    "standard" or "modified" DH, or "general"
    """

    joints: tuple[Joint, ...]
    base: Rows = IDENTITY_ROWS
    tool: Rows = IDENTITY_ROWS
    gravity: Floats = (0.0, 0.0, -9.81)
    coulomb_speed: float = 0.0
    name: str = "arm"
    convention: str = "general"
    known_exceptions: tuple[KnownException, ...] = ()
    sources: tuple[Source, ...] = dataclasses.field(default=(), compare=False)

    def __post_init__(self) -> None:
        def put(field: str, value: Any) -> None:
            object.__setattr__(self, field, value)

        if isinstance(self.joints, Joint) or not all(isinstance(joint, Joint) for joint in self.joints):
            raise ModelError("expected a sequence of Joint", field="joints")
        if not self.joints:
            raise ModelError("an arm needs at least one joint", field="joints")
        if self.convention not in (*CONVENTIONS, "general"):
            raise ModelError(f"unknown convention {self.convention!r}", field="convention")
        if not isinstance(self.name, str):
            raise ModelError(f"expected a text, got {self.name!r}", field="name")
        named = [
            joint if joint.name else dataclasses.replace(joint, name=f"joint{i + 1}")
            for i, joint in enumerate(self.joints)
        ]
        if self.convention == "general":  # DH rows of an arm that is not described by them would not survive `save`
            named = [joint if joint.dh is None else dataclasses.replace(joint, dh=None) for joint in named]
        repeated = {joint.name for joint in named if [other.name for other in named].count(joint.name) > 1}
        if repeated:
            raise ModelError(f"joint names must differ, repeated: {', '.join(sorted(repeated))}", field="names")
        put("joints", tuple(named))
        put("base", numbers.transform(self.base, "base"))
        put("tool", numbers.transform(self.tool, "tool"))
        put("gravity", numbers.vector(self.gravity, "gravity"))
        put("coulomb_speed", numbers.non_negative(self.coulomb_speed, "coulomb_speed"))
        bodies = {self.body_name(i): joint.inertia for i, joint in enumerate(self.joints)}
        unknown = {exception.body for exception in self.known_exceptions} - set(bodies)
        if unknown:
            raise ModelError(f"no such body: {', '.join(sorted(unknown))}", field="known_exceptions")
        physical.warn_of_faults(self.name, bodies, {exception.body for exception in self.known_exceptions})

    # ------------------------------------------------------------------------------------------------ construction

    @classmethod
    def from_dh(
        cls,
        *,
        joints: str,
        alpha: ArrayLike,
        a: ArrayLike,
        d: ArrayLike,
        theta: ArrayLike | None = None,
        convention: str = "standard",
        names: Sequence[str] | None = None,
        base: ArrayLike | None = None,
        tool: ArrayLike | None = None,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        coulomb_speed: float = 0.0,
        name: str = "arm",
        **per_joint: Any,
    ) -> SerialArm:
        """An arm from Denavit-Hartenberg tables, one entry for each joint.

        joints: letters R and P, such as "RRPRRR". Further per-joint sequences: mass, com, inertia, viscous, coulomb,
        motor_inertia, gear_ratio, limits, max_speed, max_force.
        """
        if not isinstance(joints, str) or not joints:
            raise ModelError(f"expected letters such as 'RRPRRR', got {joints!r}", field="joints")
        n = len(joints)
        allowed = set(JOINT_FIELDS) - {"kind", "before", "after", "offset", "name", "dh"}
        if unknown := sorted(set(per_joint) - allowed):
            raise ModelError(
                f"unknown argument {unknown[0]!r}", field="from_dh", remedy=f"Known: {', '.join(sorted(allowed))}"
            )
        table = {"alpha": alpha, "a": a, "d": d, "theta": [0.0] * n if theta is None else theta}
        columns = {key: numbers.per_joint(value, n, key) for key, value in table.items()}
        columns |= {key: numbers.per_joint(value, n, key) for key, value in per_joint.items() if value is not None}
        labels = [f"joint{i + 1}" for i in range(n)] if names is None else numbers.per_joint(names, n, "names")
        rows = [
            Joint.from_dh(
                joints[i], convention=convention, name=labels[i], **{key: column[i] for key, column in columns.items()}
            )
            for i in range(n)
        ]
        return cls(
            joints=tuple(rows),
            base=numbers.transform(base, "base"),
            tool=numbers.transform(tool, "tool"),
            gravity=numbers.vector(gravity, "gravity"),
            coulomb_speed=coulomb_speed,
            name=name,
            convention=convention,
        )

    def replace(self, **changes: Any) -> SerialArm:
        """A changed copy: fields of the arm (gravity, tool, ...) or per-joint sequences (mass, com, viscous, ...)."""
        own = {field.name for field in dataclasses.fields(self)}
        per_joint = {key: changes.pop(key) for key in list(changes) if key not in own}
        joints = list(changes.pop("joints", self.joints))
        if unknown := sorted(set(per_joint) - set(JOINT_FIELDS) - set(DH_FIELDS)):
            raise ModelError(f"unknown field {unknown[0]!r}", field="replace")
        for key, value in per_joint.items():
            column = numbers.per_joint(value, len(joints), key)
            for i, (joint, entry) in enumerate(zip(joints, column, strict=True)):
                joints[i] = self._changed(joint, key, entry)
        return dataclasses.replace(self, joints=tuple(joints), **changes)

    def _changed(self, joint: Joint, key: str, value: Any) -> Joint:
        if key not in DH_FIELDS:
            change = {key: value}
            if key in ("kind", "before", "after", "offset"):
                change["dh"] = None
            return dataclasses.replace(joint, **change)
        if joint.dh is None:
            raise ModelError(f"{joint.name} has no DH parameters to change", field=key)
        rest = {name: getattr(joint, name) for name in JOINT_FIELDS}
        for name in ("before", "after", "offset", "dh"):
            del rest[name]
        return Joint.from_dh(**rest, **(joint.dh._asdict() | {key: value}), convention=self.convention)

    def without_friction(self) -> SerialArm:
        """The same arm with neither viscous nor Coulomb friction; rotors stay."""
        return self.replace(viscous=[0.0] * self.n, coulomb=[(0.0, 0.0)] * self.n)

    def without_rotors(self) -> SerialArm:
        """The same arm without motor inertias: rigid links alone, with their friction."""
        return self.replace(motor_inertia=[0.0] * self.n)

    def save(self, path: str | Path) -> None:
        """Write the arm as TOML; `tauforge.load` reads it back equal."""
        from tauforge.robots.readers.arm_toml import write  # a reader imports this module

        write(self, Path(path))

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: compiled code and other conveniences are made again."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    # ------------------------------------------------------------------------------------------------ description

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def kinds(self) -> str:
        """Joint letters, such as "RRPRRR"."""
        return "".join(joint.kind for joint in self.joints)

    def body_name(self, i: int) -> str:
        """The name that warnings and declared exceptions give to the link of joint i (from 0)."""
        return f"link of {self.joints[i].name}"

    @property
    def limits(self) -> Array:
        """(n, 2) lower and upper; infinite where there is none."""
        return np.array([joint.limits or (-np.inf, np.inf) for joint in self.joints])

    @cached_property
    def inertial_parameters(self) -> Array:
        """(10 n,) m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz for each link, about and in its own frame."""
        values = []
        for joint in self.joints:
            c = Vector(*joint.com)
            I = Matrix.of(joint.inertia) + point_mass_inertia(joint.mass, c)
            values += [joint.mass, *(c * joint.mass)]
            values += [I[a, b] for a, b in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
        result = np.array(values)
        result.flags.writeable = False
        return result

    @cached_property
    def model(self) -> formulas.ArmModel:
        """The arm as the formulations see it."""
        befores = tuple(to_transform(joint.before) for joint in self.joints)
        afters = tuple(to_transform(joint.after) for joint in self.joints)
        joints, bodies, drives = [], [], []
        for i, joint in enumerate(self.joints):
            # frame i of the formulations is link frame i carried on to the axis of the next joint
            onward = befores[i + 1] if i + 1 < self.n else NO_DISPLACEMENT
            joints.append(JointParameters(joint.kind == "R", joint.offset, afters[i].then(onward)))
            R, p = onward.inverse()
            bodies.append(BodyParameters(joint.mass, R @ Vector(*joint.com) + p, rotated(Matrix.of(joint.inertia), R)))
            plus, minus = joint.coulomb
            drives.append(DriveParameters(joint.viscous, plus, minus, joint.motor_inertia, joint.gear_ratio))
        parameters = ArmParameters(
            tuple(joints),
            tuple(bodies),
            Vector(*self.gravity),
            to_transform(self.base),
            befores[0],
            to_transform(self.tool),
        )
        return formulas.ArmModel(
            parameters,
            cheapest_frames(parameters),
            tuple(drives),
            self.coulomb_speed,
            befores,
            afters,
            tuple(self._reaction_point(after) for after in afters),
        )

    def _reaction_point(self, after: Transform) -> Vector | None:
        """Where joint wrenches are taken: always on the joint's axis."""
        match self.convention:
            case "standard":
                return None
            case "modified":
                return after.translation
            case _:
                return ZERO

    # ------------------------------------------------------------------------------------------------ evaluation

    def kernel(self, function: str, *, target: str = "cpu", dtype: str = "float64", **options: Any) -> Kernel:
        """The compiled function behind the method of this name: a generalized ufunc that takes `out=`.

        function: such as "inverse_dynamics"; options: formulation= for that one
        Identity: equals the method on arrays of this dtype. UnsupportedFeatureError where there is no kernel.
        """
        from tauforge.kernels.kernel import MAX_NODES

        if function not in FUNCTIONS:
            raise UnsupportedFeatureError(
                f"no function {function!r}", field="kernel", remedy=f"Use one of {', '.join(FUNCTIONS)}"
            )
        if target != "cpu":
            raise UnsupportedFeatureError(f"target {target!r}", field="kernel", remedy="Use cpu")
        if dtype not in ("float64", "float32"):
            raise UnsupportedFeatureError(f"dtype {dtype!r}", field="kernel", remedy="Use float64 or float32")
        made = self._kernel(function, options)
        if made is None:
            raise UnsupportedFeatureError(
                f"{function} has no kernel: more than {MAX_NODES} operations, or no executable memory",
                field="kernel",
                remedy="The method itself answers by the NumPy reference",
            )
        made.loaded(64 if dtype == "float64" else 32)
        return made

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.model, repr(self.model))

    def _kernel(self, method: str, options: dict[str, Any]) -> Kernel | None:
        """The kernel of a plain call: no loads."""
        function = FUNCTIONS[method]
        return self._evaluator.kernel(
            method,
            getattr(formulas, method),
            dict.fromkeys(function.arguments, self.n),
            function.results(self.n),
            **{**function.options, **options},
        )

    def _evaluate(self, method: str, arguments: dict[str, Any], **options: Any) -> tuple[Array, ...]:
        """The formula of this name over checked arguments, an array for each result."""
        function = FUNCTIONS[method]
        checked = self._checked(arguments)
        results = function.results(self.n)
        return self._evaluator(method, getattr(formulas, method), checked, results, **{**function.options, **options})

    def _evaluate_one(self, method: str, arguments: dict[str, Any], **options: Any) -> Array:
        """One result. Where that was a plain call, the next ones for a single state go to a builtin."""
        value = self._evaluate(method, arguments, **options)[0]
        plain = all(given is None for name, given in arguments.items() if name in OPTIONAL)
        if plain and {**FUNCTIONS[method].options, **options} == FUNCTIONS[method].options and method not in vars(self):
            bound = MethodType(getattr(type(self), method), self)
            kernel = self._kernel(method, {})
            vars(self)[method] = (None if kernel is None else kernel.builtin(bound)) or bound
        return value

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
        if name not in FORMULATIONS:
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

        Identity: inverse_dynamics(q, qd, result) = tau. SingularityError where the mass matrix has no inverse.
        """
        loads, tool_axes = self._loads(tip_wrench, payload, base_motion, wrench_frame)
        arguments = {"q": q, "qd": qd, "tau": tau, **loads}
        result = self._evaluate_one("forward_dynamics", arguments, tool_axes=tool_axes)
        self._refuse_singular(result, self._checked(arguments))
        return result

    def _refuse_singular(self, result: Array, arguments: dict[str, Array]) -> None:
        """Finite input and no finite answer: the mass matrix is singular."""
        if np.isfinite(result).all():
            return
        shape = batch_shape(arguments)
        finite = np.ones(shape, bool)
        for value in arguments.values():
            finite &= np.isfinite(value).all(axis=-1)
        rows = np.argwhere(finite & ~np.isfinite(result).all(axis=tuple(range(len(shape), result.ndim))))
        if len(rows):
            q = np.broadcast_to(arguments["q"], shape + (self.n,))[tuple(rows[0])]
            M = self.mass_matrix(q)
            condition = float(np.linalg.cond(M)) if np.isfinite(M).all() else np.inf
            raise SingularityError(
                f"{self.name}: the mass matrix has no inverse; a link without mass or inertia moves freely",
                pose=q.tolist(),
                condition_number=condition,
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
        self._refuse_singular(three[2], self._checked(arguments))
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

    def inverse_kinematics(self, pose: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """Joint coordinates (n,) within the limits that bring the tool to `pose`, (4, 4) world <- tool.

        guess: (n,) where to start; the answer found is one of several. ConvergenceError with the residual if none is.
        """
        target = numbers.array(numbers.transform(pose, "pose"), (4, 4), "pose")
        start = None if guess is None else as_argument("guess", guess, self.n, f"{self.name} has {self.n} joints")
        if start is not None and (start.ndim != 1 or not np.isfinite(start).all()):
            raise ShapeError("guess", expected=f"({self.n},) finite numbers", got=f"{guess!r}")
        lower, upper = self.limits.T
        return ik.solve(self.forward_kinematics, self.jacobian, target, start, lower, upper)
