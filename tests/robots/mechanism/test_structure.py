"""The analysis of a mechanism with many loops: how its work grows, and that its short cuts are right."""

from __future__ import annotations

import copy
import pickle
import sys
from types import FrameType

import numpy as np
import pytest

import tauforge as tf
from support.random_mechanisms import LOOP_KINDS, TREE_KINDS, random_mechanism
from support.tolerances import ROUNDING
from tauforge.algebra.scalars import ArrayScalar
from tauforge.formulations.mechanism.cuts import loop_gaps, loop_rows, posed_at
from tauforge.robots.mechanism import description, loop_matrices, mobility, structure
from tauforge.robots.mechanism.loop_matrices import LoopEquations

SHORTEST = 1e-9  # steps by normal equations: eps times the square of a condition of some hundred
BODY = '<body name="b{0}" pos="0.1 0.0{1} 0.2"><joint name="j{0}" axis="{2} 1 {3}"/><geom size="0.1" mass="1"/>'


def chain(bodies: int, loops: int) -> str:
    """MJCF of a chain of hinges, pairs of whose bodies are tied at points."""
    tree = "".join(BODY.format(i, i % 7, i % 3, i % 2) for i in range(1, bodies + 1)) + "</body>" * bodies
    ties = "".join(
        f'<connect body1="b{1 + 7 * i % bodies}" body2="b{1 + (7 * i + bodies // 2) % bodies}" anchor="0.1 0 0"/>'
        for i in range(loops)
    )
    return f"<mujoco><worldbody>{tree}</worldbody><equality>{ties}</equality></mujoco>"


def operations(monkeypatch: pytest.MonkeyPatch, text: str) -> int:
    """How many operations of scalars the analysis of an MJCF takes, each with its calls of Python."""
    count, before = 0, ArrayScalar._binary

    def counted(self: ArrayScalar, name: str, a: object, b: object) -> ArrayScalar:
        nonlocal count
        count += 1
        return before(self, name, a, b)

    with monkeypatch.context() as patch:
        patch.setattr(ArrayScalar, "_binary", counted)
        tf.loads(text)
    return count


def lines(m: tf.Mechanism) -> int:
    """How many lines of Python one evaluation of the loop matrix and the gaps takes."""
    loops, count, before = LoopEquations(m._analysis.parameters), 0, sys.gettrace()

    def counted(frame: FrameType, event: str, _: object) -> object:
        nonlocal count
        count += event == "line"
        return counted

    sys.settrace(counted)
    try:
        loops.matrix_and_gaps(m.home[None])
    finally:
        sys.settrace(before)
    return count


def test_samples_are_searched_without_scalars(monkeypatch):
    """A step costs one operation for each hinge, and loops none: they are evaluated in arrays."""
    bodies, steps = 24, mobility.NEARBY.steps + mobility.ELSEWHERE.steps + 2  # and where the two searches start
    for loops in (2, 6):
        assert operations(monkeypatch, chain(bodies, loops)) <= bodies * steps


def test_work_grows_with_joints_and_not_with_loops():
    short, long, more = (lines(tf.loads(chain(*size))) for size in ((16, 2), (32, 2), (32, 6)))
    assert long < 2 * short
    assert more < 1.1 * long


def test_many_positions_are_evaluated_as_one_is(monkeypatch):
    """In blocks; a position that is not finite spoils its own row alone."""
    m = tf.load("five-bar")
    x = m.home + np.random.default_rng(0).uniform(-1.0, 1.0, (7, len(m.home)))
    x[3, 0] = np.inf
    monkeypatch.setattr(loop_matrices, "POSITIONS_AT_ONCE", 3)
    J, gaps = LoopEquations(m._analysis.parameters).matrix_and_gaps(x)
    assert np.isnan(J[3]).all()
    assert np.isnan(gaps[3]).all()
    for own, *wanted in zip(x, J, gaps, strict=True):
        for whole, one in zip(wanted, LoopEquations(m._analysis.parameters).matrix_and_gaps(own[None]), strict=True):
            np.testing.assert_allclose(whole, one[0], atol=100 * ROUNDING)


def test_rounding_does_not_choose_redundant_rows():
    """Pairs of hinges that hold each other, with arms at 45 degrees: x and y say the same."""
    pairs = [(f"a{i}", f"b{i}", 0.1 + i / 7) for i in range(20)]
    body = '<body name="{0}" pos="{1} {1} 0"><joint name="j{0}" axis="0 0 1"/><geom size="0.1" mass="1"/></body>'
    bodies = "".join(body.format(a, 0) + body.format(b, d) for a, b, d in pairs)
    ties = "".join(f'<connect name="{a}{b}" body1="{a}" body2="{b}" anchor="0 0 0"/>' for a, b, _ in pairs)
    found = tf.loads(f"<mujoco><worldbody>{bodies}</worldbody><equality>{ties}</equality></mujoco>").structure
    assert len(found.redundant) == len(pairs)
    assert {rows for _, rows in found.redundant} == {("y", "z")}


def test_no_sample_is_searched_by_singular_values(monkeypatch):
    """Seventy steps of 48 samples had a decomposition each; now the samples that were found have a few."""
    counted = []
    whole = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *given, **more: counted.append(given[0].size) or whole(*given, **more))
    m = tf.loads(chain(20, 3))
    J = m._analysis.mobility.matrices
    assert 0 < sum(counted) <= 5 * J.size


def test_reactions_of_all_samples_are_one_evaluation(monkeypatch):
    m, calls = tf.load("four-bar"), []
    whole = structure.wrenches_of_multipliers
    monkeypatch.setattr(structure, "wrenches_of_multipliers", lambda *given: calls.append(1) or whole(*given))
    assert m.replace(name="another").open_reactions
    assert len(calls) <= 2  # in the base's axes and in the joints' own


def test_a_mechanism_is_analysed_once(monkeypatch, own_cache):
    """When it is made; the evaluator, which traces its functions, holds a copy with the same analysis."""
    calls, whole = [], description.analyse
    monkeypatch.setattr(description, "analyse", lambda m: calls.append(m.name) or whole(m))
    m = tf.load("five-bar")
    m.forward_dynamics(m.home, np.zeros(m.n), np.zeros(len(m.actuators)))
    assert calls == ["five-bar"]
    assert copy.copy(m)._analysis is m._analysis
    assert pickle.loads(pickle.dumps(m)).structure == m.structure


@pytest.mark.parametrize("seed", range(12))
def test_loops_in_the_worlds_axes(seed):
    """J and gaps are those of the text that kernels are made of, for joints of all kinds."""
    rng = np.random.default_rng(seed)
    plain = [kind for kind in TREE_KINDS if kind is not tf.Free]
    kinds = [plain[k] for k in rng.integers(0, len(plain), 5)]
    loops = [LOOP_KINDS[k] for k in rng.integers(0, len(LOOP_KINDS), 2)]
    p = random_mechanism(rng, [tf.Free, tf.Hinge, *kinds], loops)._analysis.parameters._replace(zeros=frozenset())
    x = rng.uniform(-0.5, 0.5, max(p.reads) + 1 + 6 * len(p.cuts)).tolist()
    x = np.array([x, x]) * [[1.0], [0.5]]
    J, gaps = LoopEquations(p).matrix_and_gaps(x)
    for row, own_gaps, own_J in zip(x.tolist(), gaps, J, strict=True):
        posed = posed_at(p, row)
        assert own_gaps == pytest.approx(loop_gaps(p, posed, [row[k] for k in p.reads]), abs=100 * ROUNDING)
        wanted = [[entries.get(j, 0.0) for j in range(p.n)] for entries in loop_rows(p, posed)]
        np.testing.assert_allclose(own_J, wanted, atol=100 * ROUNDING)


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (5, 5)])
def test_steps_are_the_shortest_that_close(shape):
    """Redundant rows that agree change nothing."""
    rng = np.random.default_rng(0)
    J = rng.normal(size=(4, *shape))
    J = np.concatenate([J, J[:, :1] + J[:, 1:2]], axis=1)
    gaps = np.einsum("kij,kj->ki", J, 1e-3 * rng.normal(size=(4, shape[1])))
    scale = rng.uniform(0.5, 2.0, shape[1])
    wanted = -np.einsum("kij,kj->ki", np.linalg.pinv(J * scale, rcond=1e-10), gaps) * scale
    step = mobility.closing_step(J, gaps, scale)
    np.testing.assert_allclose(step, wanted, atol=SHORTEST)
