"""The analysis of a mechanism with many loops: how its work grows, and that its short cuts are right."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.random_mechanisms import LOOP_KINDS, TREE_KINDS, random_mechanism
from support.tolerances import ROUNDING
from tauforge.algebra.scalars import Column
from tauforge.formulations.mechanism.cuts import loop_gaps, loop_rows
from tauforge.formulations.mechanism.dynamics import posed_at
from tauforge.formulations.mechanism.kinematics import PosedInWorld
from tauforge.robots.mechanism import mobility, reductions, structure

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


def operations(monkeypatch: pytest.MonkeyPatch, m: tf.Mechanism) -> int:
    """How many one evaluation of the loop matrix takes."""
    count, before = 0, Column._binary

    def counted(self: Column, name: str, a: object, b: object) -> Column:
        nonlocal count
        count += 1
        return before(self, name, a, b)

    with monkeypatch.context() as patch:
        patch.setattr(Column, "_binary", counted)
        reductions.matrix_and_gaps(m._made.parameters, m.home[None])
    return count


def test_work_grows_with_loops_times_their_length(monkeypatch):
    """Twice the length is twice the work, not four times."""
    short, long = (operations(monkeypatch, tf.loads(chain(n, 3))) for n in (16, 32))
    assert 1.5 < long / short < 2.5


def test_no_sample_is_searched_by_singular_values(monkeypatch):
    """Seventy steps of 48 samples had a decomposition each; now the samples that were found have a few."""
    counted = []
    whole = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *given, **more: counted.append(given[0].size) or whole(*given, **more))
    m = tf.loads(chain(20, 3))
    J = m._made.mobility.matrices
    assert 0 < sum(counted) <= 5 * J.size


def test_reactions_of_all_samples_are_one_evaluation(monkeypatch):
    m, calls = tf.load("four-bar"), []
    whole = structure.wrenches_of_multipliers
    monkeypatch.setattr(structure, "wrenches_of_multipliers", lambda *given: calls.append(1) or whole(*given))
    assert m.replace(name="another").open_reactions
    assert len(calls) <= 2  # in the base's axes and in the joints' own


@pytest.mark.parametrize("seed", range(12))
def test_loops_in_the_worlds_axes(seed):
    """J and gaps are those of the text that kernels are made of, for joints of all kinds."""
    rng = np.random.default_rng(seed)
    plain = [kind for kind in TREE_KINDS if kind is not tf.Free]
    kinds = [plain[k] for k in rng.integers(0, len(plain), 5)]
    loops = [LOOP_KINDS[k] for k in rng.integers(0, len(LOOP_KINDS), 2)]
    p = random_mechanism(rng, [tf.Free, tf.Hinge, *kinds], loops)._made.parameters
    x = rng.uniform(-0.5, 0.5, max(p.reads) + 1 + 6 * len(p.cuts)).tolist()
    near, world = posed_at(p, x), PosedInWorld(*posed_at(p, x))
    q = [x[k] for k in p.reads]
    assert loop_gaps(p, world, q) == pytest.approx(loop_gaps(p, near, q), abs=100 * ROUNDING)
    for a, b in zip(loop_rows(p, world), loop_rows(p, near), strict=True):
        keys = sorted({*a, *b})
        assert [a.get(j, 0.0) for j in keys] == pytest.approx([b.get(j, 0.0) for j in keys], abs=100 * ROUNDING)


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
