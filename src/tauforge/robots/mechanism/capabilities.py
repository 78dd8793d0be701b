"""Capabilities of a mechanism beside its dynamics: positions, loops, limits, friction, sensors, the tool body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Bounds, Fields, JointFriction, Sensors
from tauforge.robots.formulations import Formulations
from tauforge.robots.mechanism.parts import POSE_LABELS
from tauforge.robots.mechanism.positions import CLOSED_GAP, tool_towards
from tauforge.robots.mechanism.singular_positions import freedoms_of
from tauforge.robots.poses import pose_of, pose_rates, twists
from tauforge.robots.positions import Loops, MovedBody, Positions
from tauforge.robots.records import Coordinate, Dampers, LimitedQuantity, Sensor
from tauforge.validation import counted, freedoms

if TYPE_CHECKING:
    from tauforge.robots.mechanism.kinematics import MechanismKinematics
    from tauforge.robots.mechanism.mechanism import Mechanism


@ours
class MechanismPositions(Positions):
    """Positions hold the coordinates of all joints, loops closed; `Positions.coordinates` are the independent ones."""

    robot: MechanismKinematics

    @property
    def default(self) -> Array:
        """The home position."""
        return self.robot.home

    @computed_once
    def entries(self) -> tuple[Coordinate, ...]:
        """One for each coordinate of each joint, and of the poses of floating bodies.

        Independent ones have the columns q1, qd1 ..., the others x and their number.
        """
        m, analysis = self.robot, self.robot._analysis
        independent = {analysis.assembly.reads[k]: i for i, k in enumerate(analysis.parameters.independent, 1)}
        found: list[Coordinate] = []

        def add(name: str, turns: bool, limits: tuple[float, float], speed: float, wraps: bool) -> None:
            i, place = independent.get(len(found)), len(found) + 1
            columns = (f"q{i}", f"qd{i}", f"qdd{i}") if i else (f"x{place}", f"xd{place}", f"xdd{place}")
            found.append(Coordinate(name, "rad" if turns else "m", *columns, *limits, speed, wraps))

        for joint in m.joints:
            pairs = joint.limits or ((-np.inf, np.inf),)
            speed = np.inf if joint.max_speed is None else joint.max_speed
            for k, (name, letter) in enumerate(zip(joint.coordinate_names, joint.letters, strict=False)):
                add(name, letter == "R", pairs[k] if len(pairs) > 1 else pairs[0], speed, False)
        for body in m.structure.floating:
            for k, label in enumerate(POSE_LABELS):
                add(f"{body}.{label}", k >= 3, (-np.inf, np.inf), np.inf, k >= 3)
        for span in self._angles():
            for k in span:
                found[k] = found[k]._replace(wraps=True)
        return tuple(found)

    def _angles(self) -> list[tuple[int, ...]]:
        """Places in x of the three angles of every ball and free joint, of cut balls too."""
        p = self.robot._analysis.parameters
        found = [tuple(p.reads[k] for k in frame.span[-3:]) for frame in p.frames if frame.turns_and_slides]
        cut = [cut.reads for cut in p.cuts if cut.kind == "point" and cut.reads is not None]
        return found + [(first, first + 1, first + 2) for first in cut]

    @computed_once
    def pose(self) -> Sequence[int]:
        """Places of the independent coordinates where they are the pose of a body."""
        names = [name.rpartition(".") for name in self.robot.structure.independent]
        posed = [label for _, _, label in names] == list(POSE_LABELS) and len({body for body, _, _ in names}) == 1
        return range(len(POSE_LABELS) if posed else 0)

    @computed_once
    def turning(self) -> list[list[int]]:
        """Places among the independent coordinates of angles whose rates are angular velocities, joint by joint."""
        places = self.robot.independent_places
        groups = [[places.index(k) for k in three if k in places] for three in self._angles()]
        return [group for group in groups if group]

    def coordinates(self, position: Array) -> Array:
        """The independent coordinates (..., f) of positions (..., N); coordinates stay as they are."""
        return position if position.shape[-1] != self.size else position[..., self.robot.independent_places]

    def at(self, coordinates: Array, near: Array | None = None, *, on_failure: str = "raise") -> Array:
        """`configuration` of independent coordinates (..., f); positions (..., N) whose loops are closed stay."""
        m = self.robot
        if coordinates.shape[-1] != self.size or m.n == self.size:
            return m.configuration(coordinates, near, on_failure=on_failure)
        if (m.loop_gap(coordinates) <= CLOSED_GAP * m._analysis.size).all():
            return coordinates
        return m.configuration(self.coordinates(coordinates), coordinates, on_failure=on_failure)

    def slopes(self, position: Array) -> Array:
        """Derivatives of positions by the independent coordinates, with loops closed."""
        changes = self.robot._evaluator("closed_changes", {"x": position[..., None, :], "dq": np.eye(self.robot.n)})[0]
        return np.swapaxes(changes, -1, -2)

    def error(self, target: Array, position: Array) -> Array:
        """The error of the independent coordinates. target: these, or a whole position"""
        return super().error(self.coordinates(target), self.coordinates(position))

    def rates(self, position: Array, velocity: Array, acceleration: Array | None = None) -> tuple[Array, Array]:
        """Rates of the independent coordinates. position: x, or these alone"""
        second = np.zeros_like(velocity) if acceleration is None else acceleration
        m, groups = self.robot, self.turning
        if not groups:
            return velocity, second
        if all(len(group) == 3 for group in groups):
            return _by_threes(pose_rates, groups, self.coordinates(position), velocity, second)
        x = self.at(position)
        first = m._evaluator("coordinate_rates", {"x": x, "qd": velocity})[0]
        both = m._evaluator("coordinate_accelerations", {"x": x, "qd": velocity, "qdd": second})[0]
        return first[..., m.independent_places], both[..., m.independent_places]

    def from_rates(self, position: Array, rates: Array, second_rates: Array) -> tuple[Array, Array]:
        groups = self.turning
        if not groups:
            return rates, second_rates
        if all(len(group) == 3 for group in groups):
            return _by_threes(twists, groups, self.coordinates(position), rates, second_rates)
        x = self.at(position)
        E = self._matrix(x)
        velocity = np.linalg.solve(E, rates[..., None])[..., 0]
        still = self.rates(x, velocity)[1]
        return velocity, np.linalg.solve(E, (second_rates - still)[..., None])[..., 0]

    def rate_derivatives(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        """Derivatives of the rates by the independent coordinates, with loops closed, and by the velocities."""
        if not self.turning:
            return super().rate_derivatives(position, velocity)
        x = self.at(position)
        by_position = self.robot._evaluator("rate_slopes", {"x": x, "qd": velocity})[0]
        return by_position, np.array(np.broadcast_to(self._matrix(x), by_position.shape))

    def _matrix(self, x: Array) -> Array:
        """(..., f, f) rates of the independent coordinates by the velocities."""
        found = self.robot._evaluator("coordinate_rates", {"x": x[..., None, :], "qd": np.eye(self.robot.n)})[0]
        return np.swapaxes(found[..., self.robot.independent_places], -1, -2)


@ours
class ClosedLoops(Loops):
    """The loops of a mechanism, cut to a tree."""

    robot: Any

    def condition(self, position: Array) -> Array:
        found: Array = self.robot.loop_condition(position)
        return found


def _by_threes(
    rule: Callable[[Array, Array, Array], tuple[Array, Array]],
    groups: list[list[int]],
    coordinates: Array,
    first: Array,
    second: Array,
) -> tuple[Array, Array]:
    """Applies a rule for poses to each three angles."""
    found = np.array(first), np.array(second)
    for group in groups:
        own = [
            np.concatenate([np.zeros_like(x[..., :3]), x[..., group]], axis=-1) for x in (coordinates, first, second)
        ]
        for result, values in zip(found, rule(*own), strict=True):
            result[..., group] = values[..., 3:]
    return found


@ours
class JointBounds(Bounds):
    """Limits of all joints, dependent ones too."""

    robot: Mechanism

    def quantities(self, position: Array, velocity: Array) -> list[LimitedQuantity]:
        """The quantities of every robot, and the speeds of dependent joints."""
        m, found = self.robot, super().quantities(position, velocity)
        others = [
            k
            for k, c in enumerate(m.positions.entries)
            if np.isfinite(c.max_speed) and k not in m.independent_places and not c.wraps
        ]
        if others:
            rates = m._evaluator("coordinate_rates", {"x": position, "qd": velocity})[0]
            found += [_speed(m.positions.entries[k], rates[..., k]) for k in others]
        return found


def _speed(entry: Coordinate, rate: Array) -> LimitedQuantity:
    phrase = f"{entry.name} {'turns' if entry.turns else 'slides'} at"
    most = entry.max_speed
    return LimitedQuantity(f"speed of {entry.name}", np.abs(rate), -most, most, f"{entry.unit}/s", lambda _: phrase)


@ours
class MechanismFriction(JointFriction):
    """Friction of the joints, and dampers beside springs."""

    @property
    def takes_energy(self) -> bool:
        return super().takes_energy or any(spring.damping for spring in self.robot.springs)

    def dampers(self, fields: Fields) -> Dampers | None:
        """Dampers of the independent coordinates, at the joint's side of the gear."""
        if not self.robot.coulomb_speed:
            return None
        p = self.robot._analysis.parameters
        drives = [p.drives[k] for k in p.independent]
        ratio = np.abs([float(drive.gear_ratio) for drive in drives])
        coulomb = [max(float(drive.coulomb_plus), float(drive.coulomb_minus)) for drive in drives]
        viscous = [float(drive.viscous) for drive in drives]
        return Dampers((ratio * coulomb)[None], (ratio**2 * viscous)[None], self.robot.coulomb_speed)


@ours
class ActuatorSensors(Sensors):
    """Sensors of the actuated coordinates."""

    robot: Mechanism

    @property
    def quantities(self) -> tuple[Sensor, ...]:
        p, entries = self.robot._analysis.parameters, self.robot.positions.entries
        return tuple(Sensor(entries[p.reads[k]].column, entries[p.reads[k]].unit) for k in p.actuated)

    def motion(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        """Coordinates and rates that the sensors measure. position: (..., N), or the independent coordinates"""
        m, p = self.robot, self.robot._analysis.parameters
        if p.actuated == p.independent:
            return m.positions.coordinates(position), velocity
        x = m.positions.at(position)
        places = [p.reads[k] for k in p.actuated]
        rates = m._evaluator("coordinate_rates", {"x": x, "qd": velocity})[0]
        return x[..., places], rates[..., places]

    def poses(self, measured: Array, guess: ArrayLike | None = None) -> Array:
        """Poses of the tool body from measured coordinates: loops are closed row after row, the first from home."""
        self.check_guess(guess)
        m = self.robot
        if measured.shape[-1] != m.n:
            raise UnsupportedFeatureError(
                f"{m.name} has {freedoms(m.n)}, and {counted(measured.shape[-1], 'sensor')}", field="sensors"
            )
        found, x = [], m.home
        for row in measured:
            x = m.configuration(row, x)
            found.append(x)
        return pose_of(m.forward_kinematics(np.reshape(found, (-1, len(x)))))


@ours
class ToolBody(MovedBody):
    """The body that carries a payload and takes the external wrench."""

    robot: Mechanism

    @property
    def name(self) -> str:
        return self.robot.tool_body

    def frames(self, position: Array) -> Array:
        return self.robot.forward_kinematics(position)

    def towards(self, pose: Array, near: Array) -> Array:
        """The position (N,) nearest to the pose, loops closed; place counts more than orientation."""
        return tool_towards(self.robot, np.asarray(pose, float), np.asarray(near, float))

    def jacobian(self, position: Array) -> Array:
        return self.robot.jacobian(position)

    def condition(self, position: Array, characteristic_length: float | None = None) -> Array | None:
        """Condition number of the actuator map; None where the body cannot move."""
        moves = freedoms_of(self.robot, self.robot._number_of(None))
        return self.robot.condition_number(position, None, characteristic_length) if moves else None


@ours
class MechanismFormulations(Formulations):
    """Equations of the spanning tree, reduced to the rates of the independent coordinates."""

    names = ("independent-rates",)
