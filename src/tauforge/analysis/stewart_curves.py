"""Curves of a Stewart platform's legs along a motion: forces and their parts, and rotations with and without spin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.charts.along_time import Curve, panels_along, times_of, with_difference
from tauforge.charts.figure import ChartPanel, Figure
from tauforge.charts.with_matplotlib import drawn
from tauforge.class_tools import with_field_docs
from tauforge.errors import UnsupportedFeatureError
from tauforge.formulations.stewart import EXACT, MASSLESS
from tauforge.robots.robot import check_robot
from tauforge.robots.summary import summarised
from tauforge.validation import check_known

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

SHOWN = (-1.5, 1.5)  # of fractions, which have poles
TITLES = {"force": "Leg forces", "fraction": "Fraction of dynamic forces", "parts": "Parts of the leg forces"}
TURNING = {"velocity": "angular velocity (rad/s)", "acceleration": "angular acceleration (rad/s²)"}


@summarised
@with_field_docs
class LegForceParts(NamedTuple):
    """Forces of the legs and what they consist of, N, (..., 6) each.

    total:    of the model
    massless: with massless legs and joints without friction (Dasgupta & Mruthyunjaya eq. 41)
    weight:   of the legs; this and the two below add up to total - massless
    inertia:  of the legs and drives
    friction: of the joints
    """

    total: Array
    massless: Array
    weight: Array
    inertia: Array
    friction: Array

    @property
    def difference(self) -> Array:
        """total - massless (eq. 42)."""
        return self.total - self.massless

    @property
    def fraction(self) -> Array:
        """difference / total, (..., 6). It is infinite where a leg has no force."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.difference / self.total

    def plot(self, time: ArrayLike, quantity: str = "force") -> Any:
        """A matplotlib figure with a panel for each leg, as Dasgupta & Mruthyunjaya's Figs 4 and 6 to 9 have them.

        time:     (k,) s, of the states along a motion, at which the parts are (k, 6)
        quantity: "force" for total, massless and difference; "fraction" for the dynamic fraction, cut at 1.5 and with
                  gaps where the total force changes its sign; "parts" for weight, inertia and friction
        """
        check_known(quantity, TITLES, f"unknown curves {quantity!r}", "quantity")
        t = times_of(time, self.total)
        if quantity == "force":
            panels = force_panels(t, self.total, self.massless)
        elif quantity == "parts":
            panels = part_panels(t, *self[2:])
        else:
            curve = broken(self.fraction, sign_changes(self.total), self.total)
            panels = fraction_panels(t, [("D / T", curve, "line")])
        return drawn(Figure(f"leg-{quantity}", TITLES[quantity], "", panels, columns=3))


def leg_force_parts(
    platform: StewartPlatform,
    pose: ArrayLike,
    twist: ArrayLike,
    acceleration: ArrayLike,
    *,
    external_wrench: ArrayLike | None = None,
    model: str = EXACT,
    corrections: Sequence[str] = (),
) -> LegForceParts:
    """Leg forces and their parts by the legs' own weight, inertia and friction (Dasgupta & Mruthyunjaya sec. 4.4).

    pose, twist, acceleration: (..., 6), and external_wrench as for `inverse_dynamics`
    model, corrections:        of the total
    """
    check_platform(platform)

    def forces(robot: StewartPlatform, *state: ArrayLike, massless: bool = False) -> Array:
        chosen: dict[str, Any] = {"model": MASSLESS} if massless else {"model": model, "corrections": corrections}
        return robot.inverse_dynamics(*state, external_wrench=external_wrench, **chosen)

    moving, rest = (pose, twist, acceleration), (pose, np.zeros(6), np.zeros(6))
    total, without = forces(platform, *moving), forces(platform, *moving, massless=True)
    weight = forces(platform, *rest) - forces(platform, *rest, massless=True)
    friction = total - forces(platform.without_friction(), *moving)
    return LegForceParts(total, without, weight, total - without - weight - friction, friction)


def check_platform(platform: StewartPlatform, remedy: str | None = None) -> StewartPlatform:
    """UnsupportedFeatureError unless the robot has the legs of a Stewart platform."""
    if "leg_motion" not in check_robot("platform", platform).functions:
        problem = f"expected a Stewart platform; {platform.name} is a {platform.kind}"
        raise UnsupportedFeatureError(problem, field="platform", remedy=remedy)
    return platform


def force_panels(time: Array, total: Array, massless: Array, **options: Any) -> tuple[ChartPanel, ...]:
    """T, S and D of the paper's figures, N, (k, 6). options: of the panels."""
    curves = with_difference(("T, total", total), ("S, massless legs", massless), "D, difference")
    return panels_along("leg", time, "leg force (N)", curves, **options)


def part_panels(time: Array, weight: Array, inertia: Array, friction: Array, **options: Any) -> tuple[ChartPanel, ...]:
    """The parts of D, N, (k, 6) each. options: of the panels."""
    curves: list[Curve] = [("weight", weight, "line"), ("inertia", inertia, "dashed"), ("friction", friction, "dotted")]
    return panels_along("leg", time, "part of D (N)", curves, **options)


def fraction_panels(time: Array, curves: Sequence[Curve]) -> tuple[ChartPanel, ...]:
    """Fractions, (k, 6), that are `broken`."""
    return panels_along("leg", time, "F_d / F", curves, y_range=SHOWN)


def sign_changes(total: Array) -> Array:
    """(k - 1, 6): whether the sign changes between one sample and the next."""
    return np.asarray(np.diff(np.sign(total), axis=0) != 0)


def broken(fraction: Array, at_poles: Array, total: Array) -> Array:
    """Without the sample nearest to each pole, (k - 1, 6), so that no stroke joins the two sides."""
    found = fraction.copy()
    for k, leg in np.argwhere(at_poles):
        found[k + int(abs(total[k + 1, leg]) < abs(total[k, leg])), leg] = np.nan
    return found


@summarised
@with_field_docs
class LegRotations(NamedTuple):
    """Sizes of the legs' angular velocities (rad/s) and accelerations (rad/s^2), (..., 6) each.

    velocities:         with the spin about the leg that a universal joint gives
    plain_velocities:   of legs that do not turn about themselves, as Dasgupta & Mruthyunjaya assume (eqs 6, 9)
    accelerations:      with the spin
    plain_accelerations: without
    """

    velocities: Array
    plain_velocities: Array
    accelerations: Array
    plain_accelerations: Array

    def plot(self, time: ArrayLike, quantity: str = "velocity") -> Any:
        """A matplotlib figure with a panel for each leg, as Pedrammehr et al.'s Figs 5 to 8: both, and the difference.

        time:     (k,) s, of the states along a motion, at which the sizes are (k, 6)
        quantity: "velocity" or "acceleration"
        """
        check_known(quantity, TURNING, f"unknown curves {quantity!r}", "quantity")
        pair = self[:2] if quantity == "velocity" else self[2:]
        panels = rotation_panels(times_of(time, pair[0]), quantity, *pair)
        return drawn(Figure(f"leg-angular-{quantity}", f"Angular {quantity} of the legs", "", panels, columns=3))


def rotation_panels(time: Array, quantity: str, full: Array, plain: Array, leg: str = "leg") -> tuple[ChartPanel, ...]:
    """full, plain: (k, 6), with and without spin; quantity: of `TURNING`."""
    curves = with_difference(("with spin", full), ("simplified, no spin", plain))
    return panels_along(leg, time, TURNING[quantity], curves)


def leg_rotations(
    platform: StewartPlatform, pose: ArrayLike, twist: ArrayLike, acceleration: ArrayLike
) -> LegRotations:
    """The speeds at which legs turn, with the spin of universal joints and without it (Pedrammehr et al. sec. 9).

    pose, twist, acceleration: (..., 6) as for `leg_motion`, whose angular velocities and accelerations have these sizes
    """
    check_platform(platform)
    found = []
    for name in ("angular_velocities", "angular_accelerations"):
        for spin in (True, False):
            moving = platform.leg_motion(pose, twist, acceleration, spin=spin)
            found.append(np.linalg.norm(getattr(moving, name), axis=-1))
    return LegRotations(*found)
