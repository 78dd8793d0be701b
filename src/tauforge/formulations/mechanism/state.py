"""The state of a mechanism for integrators: its tree without angles, and the rates of the whole tree.

s holds the coordinates of the tree's hinges and sliders, three lengths and a quaternion of each free joint and a
quaternion of each ball, and after them the coordinates of the hinges that were cut. v are the rates of all joints of
the tree. Where s and v do not fit the loops, as between the steps of an integrator, the nearest rates that do are
taken. So nothing depends on which rates are called independent, and these may change from one evaluation to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.rotations import Quaternion, normalised, quaternion_rates, with_positive_w
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import ZERO, Vector
from tauforge.formulations.mechanism.complement import Complement, MovingComplement, sizes
from tauforge.formulations.mechanism.configuration import (
    JointState,
    joint_state,
    largest,
    newton,
    placed,
    relative_angular_velocity,
    tree_coordinates,
    turn_of_hinge,
    with_cut_coordinates,
    with_tree,
)
from tauforge.formulations.mechanism.cuts import Posed
from tauforge.formulations.mechanism.dynamics import ExternalLoads, forward_dynamics_at
from tauforge.formulations.mechanism.parameters import HINGE, Cut, MechanismParameters, Reduction
from tauforge.formulations.trees.frames import GROUND, LENGTHS
from tauforge.formulations.trees.recursion import twists

STATE_NUMBERS = {"R": 1, "P": 1, "B": 4, "F": 7}  # in s, of each kind of joint


class StateRates(NamedTuple):
    """s', v', how near a position is where the loops leave another freedom (about 1 where it is far, large where it is
    near), and how large the other rates are beside the independent ones.
    """

    s: list[Scalar]
    v: list[Scalar]
    nearness: Scalar
    spread: Scalar


class ClosedState(NamedTuple):
    """s and v that fit the loops, the largest gap that is left, m or rad, nearness and spread as above."""

    s: list[Scalar]
    v: list[Scalar]
    gap: Scalar
    nearness: Scalar
    spread: Scalar


def cut_hinges(m: MechanismParameters) -> dict[int, Cut]:
    """Those whose coordinates stand in s, by their places in x."""
    return {cut.reads: cut for cut in m.cuts if cut.kind == HINGE and cut.reads is not None}


def state_size(m: MechanismParameters) -> int:
    return sum(STATE_NUMBERS[frame.kind] for frame in m.frames) + len(cut_hinges(m))


def length_scales(m: MechanismParameters) -> list[float]:
    """One for each entry of s: the mechanism's size for lengths, 1 for all else."""
    kinds = [frame.kind for frame in m.frames]
    found = [m.size if k < LENGTHS[kind] else 1.0 for kind in kinds for k in range(STATE_NUMBERS[kind])]
    return found + [1.0] * len(cut_hinges(m))


def state_of(m: MechanismParameters, x: Scalars) -> list[Scalar]:
    """s at a position."""
    states = [joint_state(frame, [x[m.reads[k]] for k in frame.span]) for frame in m.frames]
    return with_one_sign(m, _packed(m, states, [x[k] for k in cut_hinges(m)]))


def with_one_sign(m: MechanismParameters, s: Scalars) -> list[Scalar]:
    """s with w >= 0 of every quaternion, so that gradients by s do not depend on how a position was reached."""
    found, end = list(s), 0
    for frame in m.frames:
        end += STATE_NUMBERS[frame.kind]
        if frame.turns_and_slides:
            found[end - 4 : end] = with_positive_w(Quaternion(*s[end - 4 : end]))
    return found


def position_of(m: MechanismParameters, s: Scalars, size: int) -> list[Scalar]:
    """x, of so many coordinates."""
    states, turns = _unpacked(m, s)
    x = with_tree(m, [0.0] * size, tree_coordinates(m, [_renewed(state) for state in states]))
    for k, turn in zip(cut_hinges(m), turns, strict=True):
        x[k] = turn
    return with_cut_coordinates(m, _posed(m, states), x)


def state_rates(m: MechanismParameters, s: Scalars, v: Scalars, u: Scalars, on: ExternalLoads) -> StateRates:
    """s' and v' under actuator forces u; the loops' nearest rates stand for v."""
    states, _ = _unpacked(m, s)
    posed = _posed(m, states)
    y = Complement(m, posed, m.independent).nearest(v)
    found = forward_dynamics_at(m, posed, y, u, on)
    complement = found.complement
    rates = complement.rates(y)
    accelerations = MovingComplement(complement, rates).accelerations(found.values)
    return StateRates(
        _rates_of_s(m, posed, states, rates), accelerations, _nearness(m, complement), complement.spread()
    )


def rates_of_motion(m: MechanismParameters, s: Scalars, v: Scalars, qdd: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """s' and v' where the independent accelerations are known."""
    states, _ = _unpacked(m, s)
    posed = _posed(m, states)
    complement = Complement(m, posed, m.independent)
    rates = complement.rates(complement.nearest(v))
    return _rates_of_s(m, posed, states, rates), MovingComplement(complement, rates).accelerations(qdd)


def rates_of_tree(m: MechanismParameters, s: Scalars, v: Scalars) -> list[Scalar]:
    """s' for rates that are taken as they are."""
    states, _ = _unpacked(m, s)
    return _rates_of_s(m, _posed(m, states), states, v)


def _nearness(m: MechanismParameters, complement: Complement) -> Scalar:
    return 0.0 if complement.elimination is None else m.doubts[0].loops * sizes(complement.elimination.pivots)


def closed_state(m: MechanismParameters, s: Scalars, v: Scalars, steps: int) -> ClosedState:
    """After some steps of Newton's method: the nearest state, so that the choice of coordinates does not matter."""
    states, turns = _unpacked(m, s)
    states, posed, gaps = newton(m, [_renewed(state) for state in states], steps, shortest=True)
    complement = Complement(m, posed, m.independent)
    rates = complement.rates(complement.nearest(v))
    turns = [turn_of_hinge(posed, cut, turn) for cut, turn in zip(cut_hinges(m).values(), turns, strict=True)]
    found = _packed(m, states, turns)
    return ClosedState(found, rates, largest(gaps), _nearness(m, complement), complement.spread())


def _posed(m: MechanismParameters, states: Sequence[JointState]) -> Posed:
    """Quaternions need not have length one: between the steps of an integrator they do not."""
    return Posed(m.frames, [placed(frame, _renewed(state)) for frame, state in zip(m.frames, states, strict=True)])


def _packed(m: MechanismParameters, states: Sequence[JointState], turns: Scalars) -> list[Scalar]:
    found: list[Scalar] = []
    for frame, state in zip(m.frames, states, strict=True):
        if state.orientation is None:
            found.append(state.own)
        else:
            found += [*(state.travel if frame.kind == "F" else ()), *state.orientation]
    return [*found, *turns]


def _unpacked(m: MechanismParameters, s: Scalars) -> tuple[list[JointState], list[Scalar]]:
    """States of the joints, and coordinates of the hinges that were cut."""
    states, first = [], 0
    for frame in m.frames:
        own = s[first : first + STATE_NUMBERS[frame.kind]]
        first += len(own)
        if frame.turns_and_slides:
            travel = Vector(*own[:3]) if frame.kind == "F" else ZERO
            states.append(JointState(0.0, travel, Quaternion(*own[-4:])))
        else:
            states.append(JointState(own[0], ZERO, None))
    return states, list(s[first:])


def _renewed(state: JointState) -> JointState:
    return state if state.orientation is None else state._replace(orientation=normalised(state.orientation))


def _rates_of_s(m: MechanismParameters, posed: Posed, states: Sequence[JointState], v: Scalars) -> list[Scalar]:
    found: list[Scalar] = []
    for frame, state in zip(m.frames, states, strict=True):
        own = [v[k] for k in frame.span]
        if state.orientation is None:
            found.append(own[0])
        else:
            turning = quaternion_rates(state.orientation, Vector(*own[-3:]))
            found += [*(own[:3] if frame.kind == "F" else ()), *turning]
    hinges = cut_hinges(m)
    if hinges:
        moving = twists(posed.frames, posed.places, v)
        found += [relative_angular_velocity(posed, cut, moving).z for cut in hinges.values()]
    return found


def usual_reduction(m: MechanismParameters) -> int:
    """The way by which states are computed where it is good: through the rates of a floating body, which cost least, or
    through the independent ones. The axes are those in which most is zero only as assembled at home.
    """
    floating = [set(frame.span) for frame in m.frames if frame.kind == "F" and frame.parent == GROUND]
    through = [r.rates for r in m.reductions if any(set(r.rates) <= rates for rates in floating)]
    wanted = through[0] if through else m.reductions[0].rates
    own = [k for k, reduction in enumerate(m.reductions) if reduction.rates == wanted]
    return max(own, key=lambda k: len(m.reductions[k].zeros_at_home))


def usual_rates(m: MechanismParameters) -> tuple[int, ...]:
    return m.reductions[usual_reduction(m)].rates


def by_rates(m: MechanismParameters, by: str) -> MechanismParameters:
    """With other independent rates: their numbers, as text; "" for the usual ones.

    With the usual ones the mechanism is presumed to be assembled as at home. So it stays where other assemblies begin,
    at positions such as those of a parallelogram whose bars are in line.
    """
    usual = usual_reduction(m)
    (kept, rates), presumed = m.reduced(usual), m.reductions[usual].zeros_at_home
    if by:
        kept, rates, presumed = m, tuple(map(int, by.split())), frozenset()
    zeros = kept.zeros | presumed
    own = Reduction(rates, tuple(cut.axes for cut in kept.cuts), zeros)
    return kept._replace(independent=rates, reductions=(own,), zeros=zeros, presumed=presumed)
