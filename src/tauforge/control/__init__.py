"""Control laws: from the desired and the measured state to actuator forces."""

from tauforge.control.computed_torque import AdaptiveComputedTorque, ComputedTorque, LegSpaceComputedTorque, gains
from tauforge.control.controller import Controller
from tauforge.control.linear_feedback import LinearFeedback
from tauforge.control.proportional import PD, FeedforwardPD, GravityPD
from tauforge.control.resolved_rate import ResolvedRate

__all__ = [
    "PD",
    "AdaptiveComputedTorque",
    "ComputedTorque",
    "Controller",
    "FeedforwardPD",
    "GravityPD",
    "LegSpaceComputedTorque",
    "LinearFeedback",
    "ResolvedRate",
    "gains",
]
