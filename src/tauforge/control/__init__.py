"""Control laws: from the desired and the measured state to actuator forces."""

from tauforge.control.adaptive_gains import AdaptiveGains
from tauforge.control.computed_torque import AdaptiveComputedTorque, ComputedTorque, LegSpaceComputedTorque, gains
from tauforge.control.controller import Controller
from tauforge.control.linear_feedback import LinearFeedback
from tauforge.control.near_minimum_time import NearMinimumTime
from tauforge.control.proportional import PD, FeedforwardPD, GravityPD
from tauforge.control.resolved_rate import ResolvedRate

__all__ = [
    "PD",
    "AdaptiveComputedTorque",
    "AdaptiveGains",
    "ComputedTorque",
    "Controller",
    "FeedforwardPD",
    "GravityPD",
    "LegSpaceComputedTorque",
    "LinearFeedback",
    "NearMinimumTime",
    "ResolvedRate",
    "gains",
]
