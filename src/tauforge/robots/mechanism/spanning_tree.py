"""Spanning tree of a mechanism, and the cuts that open its loops.

Free joints, and joints with actuators, friction, rotors or a leader, stay in the tree. Ball joints are cut first, for
a cut ball has three rows and its three coordinates vanish. Then hinges are cut, far from the ground. A joint that can
be neither is kept, and its loop is cut through a body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tauforge.errors import ModelError
from tauforge.robots.mechanism.parts import GROUND_NAME, Body, Free, MechanismJoint, Spherical, check_part

FREE, KEPT, HINGES, BALLS = range(4)


class Branch(NamedTuple):
    """A joint of the tree: it leads from a body inside to one outside.

    joint:   number of the joint; None for a free joint that was added so that a body floats
    copy_of: where a loop is cut through the body outside, the branch ends in a copy without mass
    """

    joint: int | None
    inner: str
    outer: str
    copy_of: str | None = None


class SpanningTree(NamedTuple):
    """Branches from the ground outward, and the numbers of the joints that were cut."""

    branches: tuple[Branch, ...]
    cut: tuple[int, ...]
    floating: tuple[str, ...]  # bodies with an added free joint


def spanning_tree(
    bodies: Sequence[Body], joints: Sequence[MechanismJoint], floating: Sequence[str], cut: Sequence[str] | None
) -> SpanningTree:
    """The tree. floating: bodies whose pose is to be a coordinate; cut: names of joints to cut, None to choose"""
    check_connected(bodies, joints)
    for joint in joints:
        if joint.name in (cut or ()) and stays(joints, joint):
            problem = "a joint with an actuator, friction, a rotor or a mimic cannot be cut"
            raise ModelError(problem, field=joint.name, remedy="Cut another")
    floats = tuple(dict.fromkeys((*floating, *(() if cut is not None else platforms(bodies, joints)))))
    distance = distances(bodies, joints)

    def rank(k: int) -> tuple[int, int, int, int]:
        joint = joints[k]
        if isinstance(joint, Free):
            return (FREE, 0, 0, k)
        if cut is not None:
            kept = joint.name not in cut
            return (KEPT if kept else HINGES, 0, 0, k)
        free_to_cut = joint.may_be_cut and not stays(joints, joint)
        order = KEPT if not free_to_cut else BALLS if isinstance(joint, Spherical) else HINGES
        ends = sorted((distance[joint.parent], distance[joint.child]))
        return (order, ends[1], ends[0], k)

    groups = {name: name for name in (GROUND_NAME, *(body.name for body in bodies))}

    def group(name: str) -> str:
        while groups[name] != name:
            name = groups[name]
        return name

    for name in floats:
        groups[group(name)] = group(GROUND_NAME)
    chosen, cuts, through = [], [], []
    for k in sorted(range(len(joints)), key=rank):
        a, b = group(joints[k].parent), group(joints[k].child)
        if a != b:
            groups[b] = a
            chosen.append(k)
        elif rank(k)[0] == FREE:
            problem = f"{joints[k].parent} and {joints[k].child} have a place beside each other without it"
            raise ModelError(problem, field=joints[k].name, remedy="Leave out the Free joint, which constrains nothing")
        elif rank(k)[0] == KEPT or not joints[k].may_be_cut:
            through.append(k)
        else:
            cuts.append(k)
    return SpanningTree(_outward(joints, chosen, through, floats, distance), tuple(sorted(cuts)), floats)


def stays(joints: Sequence[MechanismJoint], joint: MechanismJoint) -> bool:
    """True for a joint that cannot be cut: it has an actuator, friction or a rotor, or follows or leads another."""
    leads = any(other.mimic is not None and other.mimic[0] == joint.name for other in joints)
    return joint.actuated or joint.driven or joint.mimic is not None or leads


def platforms(bodies: Sequence[Body], joints: Sequence[MechanismJoint]) -> list[str]:
    """Bodies that hang from at least three ball joints and from nothing else: they float."""
    joined = {body.name: [joint for joint in joints if body.name in (joint.parent, joint.child)] for body in bodies}
    return [name for name, own in joined.items() if len(own) >= 3 and all(isinstance(j, Spherical) for j in own)]


def distances(bodies: Sequence[Body], joints: Sequence[MechanismJoint]) -> dict[str, int]:
    """Joints between the ground and each body, on the shortest way."""
    beside: dict[str, list[str]] = {}
    for joint in joints:
        beside.setdefault(joint.parent, []).append(joint.child)
        beside.setdefault(joint.child, []).append(joint.parent)
    found = {GROUND_NAME: 0}
    left = [GROUND_NAME]
    for here in left:  # grows while it is read
        for there in beside.get(here, ()):
            if there not in found:
                found[there] = found[here] + 1
                left.append(there)
    return found


def check_connected(bodies: Sequence[Body], joints: Sequence[MechanismJoint]) -> None:
    names = [body.name for body in bodies]
    for what, given in (("body", names), ("joint", [joint.name for joint in joints])):
        repeated = sorted(name for name, count in Counter(given).items() if count > 1)
        if repeated:
            raise ModelError(f"two {'bodies' if what == 'body' else 'joints'} are called {repeated[0]!r}", field=what)
    for joint in joints:
        for field in ("parent", "child"):
            check_part("body", getattr(joint, field), (GROUND_NAME, *names), f"{joint.name}.{field}")
    reached = distances(bodies, joints)
    lonely = [name for name in names if name not in reached]
    if lonely:
        problem = f"{', '.join(lonely)} {'is' if len(lonely) == 1 else 'are'} not connected to the ground"
        raise ModelError(problem, field="joints", remedy="Join them, or give a body that moves freely a Free joint")


def _outward(
    joints: Sequence[MechanismJoint],
    chosen: Sequence[int],
    through: Sequence[int],
    floats: Sequence[str],
    distance: dict[str, int],
) -> tuple[Branch, ...]:
    """The branches in an order in which each begins where an earlier one ended."""
    branches = [Branch(None, GROUND_NAME, name) for name in floats]
    reached, left = {GROUND_NAME, *floats}, list(chosen)
    while left:
        for k in sorted(left):
            joint = joints[k]
            ends = [name for name in (joint.parent, joint.child) if name in reached]
            if ends:
                inner = ends[0]
                outer = joint.child if inner == joint.parent else joint.parent
                if isinstance(joint, Free) and inner == joint.child:
                    problem = f"the free body has to be the child, and {inner} is nearer to the ground than {outer}"
                    raise ModelError(problem, field=joint.name, remedy="Exchange parent and child")
                branches.append(Branch(k, inner, outer))
                reached.add(outer)
                left.remove(k)
                break
    for k in through:
        inner, outer = sorted((joints[k].parent, joints[k].child), key=lambda name: distance[name])
        branches.append(Branch(k, inner, f"{outer}, cut at {joints[k].name}", outer))
    return tuple(branches)
