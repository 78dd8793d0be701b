"""Dasgupta & Mruthyunjaya 1998, sec. 4.5: what the method costs, counted again part by part and by MATLAB's rule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import tauforge as tf
from support import dasgupta_witness as paper
from support.study_checks import DATA, ROBOT, named, numbers, printed, table
from tauforge.analysis import operation_parts
from tauforge_papers.dasgupta1998 import judged_cost, tables
from tauforge_papers.dasgupta1998.measured import Measured

MODEL = "dasgupta1998"


class Costs(NamedTuple):
    """What the study says of computation."""

    claims: tuple
    tables: tuple


@pytest.fixture(scope="module")
def costs():
    measured = Measured()
    return Costs(judged_cost.claims(measured), tables.tables(measured))


def test_operations_by_part(costs):
    """The parts of every leg add up to the whole; by MATLAB's rule the same equations come near the printed counts."""
    smooth = ROBOT.without_friction()
    whole = tf.operation_count(smooth, MODEL)
    claim = named(costs, "flops-by-part")
    rows = table(costs, "operations-by-part").rows
    printed(claim.measured, *(row[2] for row in rows[:3]))
    printed(claim.reason, *(row[3] for row in rows[:3]))
    assert rows[3][1] == 6 * 694 + 273 + 452 == 4889
    legs = operation_parts(smooth).legs
    assert sum(leg.as_written.flops for leg in legs) + rows[1][2] + rows[2][2] == whole.as_written.flops
    shared = sum(leg.flops for leg in legs) + rows[1][3] + rows[2][3]
    assert whole.flops <= shared < 1.01 * whole.flops  # a few products of omega are the same in all legs
    assert rows[0][2:] == max((leg.as_written.flops, leg.flops) for leg in legs)
    assert rows[4][2:] == (whole.as_written.flops, whole.flops)
    for count, printed_count in zip(paper.matlab_flops(), (694, 273, 452), strict=True):
        assert 0.8 * printed_count < count < printed_count


def test_ratio_and_parallel_time(costs):
    ours = tf.operation_count(ROBOT.without_friction(), MODEL)
    printed(named(costs, "ratio").measured, 4889 / (132 * 6 + 111 * 6 - 4), ours.flops)
    claim = named(costs, "parallel-time")
    printed(claim.printed, 694 + 452, 1454)
    leg, final, both, serial = numbers(claim.measured)
    assert leg + final == both < serial
    chain = sum(ours.critical_path)
    printed(claim.reason, chain)
    rows = {row[0]: row[5] for row in table(costs, "operations").rows}
    assert rows["dasgupta1998"] == ours.flops


def test_reactions_and_joint_space_cost(costs):
    claim = named(costs, "reactions-cost")
    extra, alone, percent = numbers(claim.measured)
    assert alone == tf.operation_count(ROBOT.without_friction(), "exact-vectors").flops
    assert percent == pytest.approx(100 * extra / alone, abs=0.06)
    assert 0 < extra < 18 * 6 * 2  # two operations for each component of each reaction are plenty
    joint, cartesian = numbers(named(costs, "joint-space").measured)
    steps, step, *linear = numbers(named(costs, "joint-space").reason)
    assert joint == pytest.approx(cartesian + steps * step + sum(linear), rel=0.02)
    assert newton_steps() == pytest.approx(steps, abs=0.06)


def newton_steps():
    """Mean number of Newton steps on path I from the pose 0.1 s before, on squared lengths, by NumPy."""
    b, p = (np.array(DATA["manipulator"][x]) for x in ("b", "p"))
    taken, pose = 0, paper.along("I", 0.0)[0]
    for k in range(1, 61):
        target = paper.along("I", k / 10)[0]
        lengths = np.linalg.norm(p @ paper.rotation(target[3:]).T + target[:3] - b, axis=1)
        X, R = pose[:3], paper.rotation(pose[3:])
        while True:
            q = p @ R.T
            S = q + X - b
            if np.linalg.norm(np.linalg.norm(S, axis=1) - lengths) < 1e-12 * np.linalg.norm(lengths):
                break
            x = np.linalg.solve(np.hstack([S, np.cross(q, S)]), (lengths**2 - (S**2).sum(axis=1)) / 2)
            X, R = X + x[:3], rodrigues(x[3:]) @ R
            taken += 1
        pose = target
    return taken / 60


def rodrigues(turn):
    angle = np.linalg.norm(turn)
    n = np.array([[0, -turn[2], turn[1]], [turn[2], 0, -turn[0]], [-turn[1], turn[0], 0]]) / max(angle, 1e-300)
    return np.eye(3) + np.sin(angle) * n + (1 - np.cos(angle)) * n @ n
