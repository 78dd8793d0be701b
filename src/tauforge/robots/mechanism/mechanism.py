"""Mechanism: the public methods of a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ShapeError
from tauforge.evaluation.arguments import as_argument
from tauforge.evaluation.condition import check_length
from tauforge.evaluation.unmodified import ours
from tauforge.evaluation.with_functions import by_table
from tauforge.robots.drawing import Drawing, Reaction
from tauforge.robots.loads import BaseMotion, Payload
from tauforge.robots.mechanism import positions
from tauforge.robots.mechanism import singular_positions as singular
from tauforge.robots.mechanism.capabilities import (
    ActuatorSensors,
    JointBounds,
    MechanismFormulations,
    MechanismFriction,
    ToolBody,
)
from tauforge.robots.mechanism.drawing import drawn, reactions
from tauforge.robots.mechanism.kinematics import MechanismKinematics
from tauforge.robots.mechanism.state_space import MechanismState
from tauforge.robots.mechanism.summary import issues, summary
from tauforge.robots.summary import Summary
from tauforge.validation import counted, freedoms


@ours
class Mechanism(MechanismKinematics):
    """Rigid bodies and joints as the machine is built, with branches and closed loops. SI units, radians.

    Everything is given in the world frame and in the assembled home position. The library draws the spanning tree, cuts
    the loops, counts the degrees of freedom and chooses coordinates: see `structure`.

    bodies:        `Body` each; "ground" is the base
    joints:        Hinge, Slider, Universal, Spherical, Cylinder, Planar, Free, Weld
    springs:       `Spring` each
    gravity:       (3,) m/s^2, acceleration of free fall
    independent:   names of the coordinates whose rates are given: joints, or a body whose pose takes their place.
                   Default the actuated joints, if they determine the motion
    tool:          name of the body that carries a payload and takes the external wrench; default the independent
                   body, or the last one
    cut:           names of the joints at which loops are cut; default chosen
    coulomb_speed: v, rad/s or m/s; above 0, Coulomb friction is (T+ + T-)/2 s + (T+ - T-)/2 s^2 with s = tanh(qd / v)
    visuals:       shapes that pictures show: `link` 0 for the ground, i for body i, in the body's frame

    A position x (..., N) holds the coordinates of all joints in the order of `joints`, loops closed, and after them the
    poses of the bodies that the structure lets float. Velocities and accelerations (..., f) are those of the
    independent coordinates; of a body's pose velocity and angular velocity.

    Dynamics expect closed loops, as `configuration` gives them: a gap costs about its own share of the mechanism's size
    in the result. A position whose loops are open by more than a thousandth of the size, or rad, is refused as singular
    positions are.
    """

    kind = "mechanism"

    # ------------------------------------------------------------------------------------------------------- dynamics

    @by_table
    def inverse_dynamics(
        self,
        x: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        formulation: str | None = None,
        on_singular: str = "raise",
    ) -> Array:
        """Actuator forces (..., m) that produce the accelerations.

        x:       (..., N), loops closed; qd, qdd: (..., f) rates of the independent coordinates
        external_wrench: (..., 6) N, N m   on the tool body, at its origin, world axes
        payload: held by the tool body, in its frame
        base_motion: of the ground
        formulation: "independent-rates", the only one
        on_singular: "raise", or "nan" for rows at singular positions
        Where there are more actuators than degrees of freedom the forces with the least sum of squares.

        Identity: forward_dynamics undoes it.
        """

    @by_table
    def forward_dynamics(
        self,
        x: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        on_singular: str = "raise",
    ) -> Array:
        """Accelerations (..., f) of the independent coordinates under actuator forces tau (..., m)."""

    @by_table
    def generalised_forces(
        self,
        x: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        on_singular: str = "raise",
    ) -> Array:
        """Forces (..., f) on the independent coordinates that produce the accelerations, as if each had an actuator.

        Identity: with an actuator on every independent coordinate and no other they are inverse_dynamics.
        """

    @by_table
    def mass_matrix(self, x: ArrayLike, *, payload: Payload | None = None, on_singular: str = "raise") -> Array:
        """M(x), (..., f, f), of the independent rates, with the reflected inertias of rotors.

        Identity: qd' M qd / 2 is the kinetic energy.
        """

    @by_table
    def energy(
        self, x: ArrayLike, qd: ArrayLike, *, payload: Payload | None = None, on_singular: str = "raise"
    ) -> tuple[Array, Array]:
        """Kinetic and potential energy, J, each (...). Potential energy is that of weights and springs."""

    @by_table
    def joint_wrenches(
        self,
        x: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external_wrench: ArrayLike | None = None,
        payload: Payload | None = None,
        base_motion: BaseMotion | None = None,
        axes: str = "world",
        on_singular: str = "raise",
    ) -> Array:
        """(..., joints, 6) force and moment that each joint exerts on its child, at the joint.

        axes: "world", or "joint": z along the joint's axis (of a universal joint the second), x and y fixed in the
              child; of balls and welds the world's axes at home, fixed in the child. There a planar mechanism that is
              tilted in the world keeps the reactions in its plane apart from those across it, which are open
        Components that redundant constraints leave open, or actuators that can work against each other, are NaN;
        `open_reactions` names them.
        A mechanism with fewer actuators than degrees of freedom has reactions for its own accelerations only, those of
        `forward_dynamics` or of a recording; others are refused as singular positions are.
        Identity: about its axis a hinge carries its actuator's torque less friction and rotor.
        """

    @property
    def open_reactions(self) -> dict[str, tuple[str, ...]]:
        """Components of the joints' wrenches, world axes, that are not unique: constraints are redundant, or actuators
        can work against each other.
        """
        names = ("force x", "force y", "force z", "moment x", "moment y", "moment z")
        return {
            joint.name: tuple(names[k] for k in sorted(reaction.unknown))
            for joint, reaction in zip(self.joints, self._analysis.parameters.joints, strict=True)
            if reaction.unknown
        }

    # ------------------------------------------------------------------------------------- actuators, limits, state

    moved_body = computed_once(ToolBody)
    bounds = computed_once(JointBounds)
    dissipation = computed_once(MechanismFriction)
    sensors = computed_once(ActuatorSensors)
    formulations = computed_once(MechanismFormulations)
    state_space = computed_once(MechanismState)

    def _check_options(self, function: str, options: Mapping[str, Any]) -> dict[str, Any]:
        chosen = super()._check_options(function, options)
        if (axes := chosen.get("axes", "world")) not in ("world", "joint"):
            raise ShapeError("axes", expected="'world' or 'joint'", got=repr(axes))
        return chosen

    # ---------------------------------------------------------------------------------------------------- singularity

    def condition_number(
        self, x: ArrayLike, body: str | None = None, characteristic_length: float | None = None
    ) -> Array:
        """Condition number (...) of the map from the actuators' rates to the twist of a body, loops closed.

        It is the ratio of the largest and smallest singular values, SI units.

        body:                  default the tool body; its twist is that of `jacobian`
        characteristic_length: m, multiplies angular velocities, so that all rows are velocities; None leaves them
        Freedoms that the body does not have at any position do not count: the platform of a Delta has the three of its
        velocity, a body of a planar mechanism three at the most. NaN for a body that cannot move.
        Where there are more actuators than degrees of freedom, their rates are those that fit together. Where they
        cannot give every acceleration, the rates of the independent coordinates take the place of theirs.
        Infinite where the actuators lose control of the mechanism, where the body loses a freedom, and where loops are
        open. `loop_condition` tells how near the first is, whatever a body does.

        Identity: for a Stewart platform described as a mechanism `StewartPlatform.condition_number`.
        """
        number = self._number_of(body)
        length = 1.0 if characteristic_length is None else check_length(characteristic_length)
        return self._at_finite(x, lambda rows: singular.actuator_condition_numbers(self, rows, number, length))

    def loop_condition(self, x: ArrayLike) -> Array:
        """(...) large near singular positions: the mechanism gains a freedom, or its actuators lose control. Infinite
        where loops are open. `singular_motion` tells which joints it is about.

        It is the largest condition number of the matrices that the loops' equations are solved by, lengths as shares of
        the mechanism's size. It says how many digits dynamics lose, and nothing about a tool: see `condition_number`.
        Without loops it is constant, and 1 without mimics.
        """

        def found(rows: Array) -> Array:
            worst = singular.faults(singular.conditions(self._analysis, rows), None).conditions
            return np.where(np.isnan(worst), np.inf, worst)

        return self._at_finite(x, found)

    def _at_finite(self, x: ArrayLike, function: Callable[[Array], Array]) -> Array:
        """(...) a function of positions (k, N) at positions (..., N); NaN where these are not finite."""
        given = as_argument("x", x, len(self.coordinate_names), "a position").astype(float)
        flat = given.reshape(-1, given.shape[-1])
        found, rows = np.full(len(flat), np.nan), np.isfinite(flat).all(axis=-1)
        if rows.any():
            found[rows] = function(flat[rows])
        return found.reshape(given.shape[:-1])

    def singular_motion(self, x: ArrayLike) -> dict[str, float]:
        """Joints that move in the motion for which a position (N,) is singular, the one that moves most first.

        At a singular position these joints can move while the independent coordinates stand still, or while the
        actuators do where these lose control. Elsewhere it is the motion that comes nearest to that, and
        `loop_condition` tells how near.
        returns: name of a joint, or of a body whose pose is in x -> its largest rate beside that of the first. Lengths
                 are shares of the mechanism's size. What stands still is left out; without loops all does
        """
        given = as_argument("x", x, len(self.coordinate_names), "a position").astype(float)
        if given.ndim != 1:
            raise ShapeError("x", expected=f"({len(self.coordinate_names)},): one position", got=str(given.shape))
        (kind,) = singular.faults(singular.conditions(self._analysis, given[None]), None).kinds
        if kind in ("open", "blocked"):
            raise singular.singular_position(self, given)
        return singular.singular_motion(self, given, kind)

    # ------------------------------------------------------------------------------------------------- states to try

    def random_states(self, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
        """Positions (count, N) around home within the limits and far from singular ones; rates of order one."""
        return positions.random_states(self, count, seed)

    def _random_argument(self, function: str, argument: str, states: tuple[Array, Array, Array]) -> Array | None:
        if (function, argument) == ("joint_wrenches", "qdd") and not self._analysis.controlled:
            return self.forward_dynamics(*states[:2], np.zeros((len(states[0]), len(self.actuators))))
        if argument in ("q", "near", "s", "v"):
            return positions.random_argument(self, argument, states)
        if argument == "tau" and len(self.actuators) < self.n:
            return None
        return super()._random_argument(function, argument, states)

    # ------------------------------------------------------------------------------------------- pictures and words

    def drawing(self, position: ArrayLike) -> Drawing:
        return drawn(self, position)

    def reactions(self, position: Array, velocity: Array, acceleration: Array, **loads: Any) -> tuple[Reaction, ...]:
        return reactions(self, position, velocity, acceleration, **loads)

    def summary(self) -> Summary:
        return summary(self)

    def issues(self) -> list[str]:
        return issues(self)

    def __repr__(self) -> str:
        bodies, joints = len(self.bodies), len(self.joints)
        parts = f"{counted(bodies, 'body', 'bodies')}, {counted(joints, 'joint')}"
        return f"Mechanism({self.name!r}, {parts}, {freedoms(self.n)})"
