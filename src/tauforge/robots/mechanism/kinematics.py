"""Mechanisms without dynamics: coordinates and their names, positions with closed loops, frames of bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalars
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.arguments import as_argument, known_fields
from tauforge.evaluation.functions import FunctionTable
from tauforge.evaluation.unmodified import ours
from tauforge.evaluation.with_functions import by_table
from tauforge.formulations.mechanism.parameters import DoubtScales, MechanismParameters
from tauforge.kernels.specification import Shape
from tauforge.robots.loads import BODY_SHARES, Payload, with_payload
from tauforge.robots.mechanism import functions as own_functions
from tauforge.robots.mechanism import guards, positions
from tauforge.robots.mechanism.capabilities import ClosedLoops, MechanismPositions
from tauforge.robots.mechanism.description import MechanismDescription
from tauforge.robots.mechanism.model import model_of
from tauforge.robots.mechanism.parts import POSE_LABELS, check_part
from tauforge.robots.records import Actuator, Coordinate
from tauforge.validation import counted, freedoms, from_transform


@ours
class MechanismKinematics(MechanismDescription):
    """A mechanism without its dynamics: names, model and table of functions, positions, kinematics."""

    # ------------------------------------------------------------------------------------------- names, model, table

    @property
    def home(self) -> Array:
        """(N,) the position in which the mechanism was described."""
        return self._analysis.assembly.home.copy()

    @computed_once
    def coordinate_names(self) -> tuple[str, ...]:
        """(N,) names of the entries of a position."""
        names = [name for joint in self.joints for name in joint.coordinate_names[: len(joint.letters)]]
        return (*names, *(f"{body}.{label}" for body in self.structure.floating for label in POSE_LABELS))

    @computed_once
    def independent_places(self) -> list[int]:
        """Places of the independent coordinates in x."""
        analysis = self._analysis
        return [analysis.assembly.reads[k] for k in analysis.parameters.independent]

    @computed_once
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The independent coordinates."""
        return tuple(self.positions.entries[k] for k in self.independent_places)

    @computed_once
    def actuators(self) -> tuple[Actuator, ...]:
        """One for each coordinate of an actuated joint."""
        found: list[Actuator] = []
        for joint in self.joints:
            if joint.actuated:
                limit = np.inf if joint.max_force is None else joint.max_force
                for name, letter in zip(joint.coordinate_names, joint.letters, strict=True):
                    unit = "N m" if letter == "R" else "N"
                    found.append(Actuator(name, unit, f"tau{len(found) + 1}", limit))
        return tuple(found)

    @computed_once
    def functions(self) -> FunctionTable:
        return own_functions.table(self._analysis.parameters, len(self.coordinate_names))

    @computed_once
    def _doubt_scales(self) -> tuple[DoubtScales, ...]:
        return guards.doubt_scales(self)

    @computed_once
    def identity(self) -> str:
        """The description, and what was chosen from samples, where the rounding of a machine may decide."""
        given = self.bodies, self.joints, self.springs, self.gravity, self.independent, self.tool, self.cut
        p = self._analysis.parameters
        ways = [(way.rates, way.axes, sorted(way.zeros), sorted(way.zeros_at_home)) for way in p.reductions]
        return repr((*given, self.coulomb_speed, p.independent, ways, p.legs))

    @computed_once
    def model(self) -> MechanismParameters:
        return self.varied_model({})

    @property
    def varying_fields(self) -> Mapping[str, Shape]:
        """The fields "mass", "com" (3,) and "inertia" (3, 3) for every body, and "gravity" (3,)."""
        bodies = len(self.bodies)
        return {"mass": (bodies,), "com": (bodies, 3), "inertia": (bodies, 3, 3), "gravity": (3,)}

    def own_values(self, fields: Sequence[str]) -> dict[str, Array]:
        own = {
            "mass": [body.mass for body in self.bodies],
            "com": [body.com for body in self.bodies],
            "inertia": [body.inertia for body in self.bodies],
            "gravity": self.gravity,
        }
        return {field: np.array(own[field], float) for field in known_fields(self, fields)}

    def varied_model(self, values: Mapping[str, Scalars]) -> MechanismParameters:
        return model_of(self, self._analysis.parameters, values)._replace(doubts=self._doubt_scales)

    def _fields_carrying(self, payload: Payload, fields: Mapping[str, Array]) -> dict[str, Array]:
        own = {**self.own_values(tuple(BODY_SHARES)), **{k: x for k, x in fields.items() if k in BODY_SHARES}}
        place = self._number_of(None)
        return with_payload(own, place, payload, self.bodies[place].home_frame)

    def check_function(self, function: str) -> None:
        m, f = len(self.actuators), self.n
        needs_all = ("inverse_dynamics", "inverse_dynamics_slope", "inverse_dynamics_derivatives")
        if function in needs_all and not self._analysis.controlled:
            raise UnsupportedFeatureError(
                f"{self.name} has {freedoms(f)} and {counted(m, 'actuator')}, which cannot give every acceleration",
                field=function,
                remedy="Use forward_dynamics, or generalised_forces for the forces on all independent coordinates",
            )

    # ------------------------------------------------------------------------------------------------------ positions

    def configuration(self, q: ArrayLike, near: ArrayLike | None = None, *, on_failure: str = "raise") -> Array:
        """Positions x (..., N) from the independent coordinates: all loops are closed.

        q:          (..., f); near: (N,) or (..., N), default `home`. It decides which way the mechanism is assembled
        on_failure: "raise" ConvergenceError, or "nan" for rows whose loops do not close
        Where all other joints follow in closed form (`structure.in_closed_form`), as those of UPS, RUS and PUS legs and
        of planar dyads do, no search is made: every leg stays assembled as it is at `near`. Other loops are closed by
        Newton's method. It follows a long way from `near` in strides of a quarter radian (or of the size), so that the
        mechanism stays assembled as it is; where loops do not close at its end, in shorter ones. A way that leads
        through positions out of reach may end in another assembly; ways of thousands of radians are not followed.
        Identity: the independent entries of the result are q, and `loop_gap` is below 1e-12 of the mechanism's size.
        """
        return positions.configuration(self, q, near, on_failure)

    positions = computed_once(MechanismPositions)

    @computed_once
    def loops(self) -> ClosedLoops | None:
        """The loops; None for a mechanism without, also where joints follow others by mimics."""
        return ClosedLoops(self) if self._analysis.parameters.cuts else None

    @by_table
    def loop_gap(self, x: ArrayLike) -> Array:
        """(...) gap of the loop that is open most, m or rad."""

    # ----------------------------------------------------------------------------------------------------- kinematics

    @by_table
    def body_frames(self, x: ArrayLike) -> Array:
        """(..., bodies, 4, 4) world <- frame of each body."""

    def forward_kinematics(self, x: ArrayLike, body: str | None = None) -> Array:
        """(..., 4, 4) world <- frame of a body, default the tool's."""
        return self._answer("body_frames", {"x": x})[0][..., self._number_of(body), :, :]

    def jacobian(
        self, x: ArrayLike, body: str | None = None, point: ArrayLike | None = None, *, on_singular: str = "raise"
    ) -> Array:
        """(..., 6, f) velocity of a point of a body and its angular velocity, by the independent rates, world axes.

        point: (..., 3) m, world frame, home position; default the origin of the body's frame
        """
        k = self._number_of(body)
        J = self._answer("body_jacobians", {"x": x}, on_singular)[0][..., k, :, :]
        if point is None:
            return J
        at = as_argument("point", point, 3, "a point of the body")
        home = np.array(from_transform(self.bodies[k].home_frame))
        own = (at - home[:3, 3]) @ home[:3, :3]
        arm = np.einsum("...ij,...j->...i", self.forward_kinematics(x, body)[..., :3, :3], own)
        linear = J[..., :3, :] + np.cross(J[..., 3:, :], arm[..., None], axis=-2)
        return np.concatenate([linear, np.broadcast_to(J[..., 3:, :], linear.shape)], axis=-2)

    def _number_of(self, body: str | None) -> int:
        name = self.tool_body if body is None else body
        names = [other.name for other in self.bodies]
        check_part("body", name, names, "body")
        return names.index(name)
