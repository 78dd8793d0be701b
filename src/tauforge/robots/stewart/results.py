"""What the methods of a platform return about its legs and joints."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.robots.summary import summarised


@summarised
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


@summarised
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
