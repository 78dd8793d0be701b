"""Pareto fronts: against domination by brute force, a front that is known, and what is refused."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import ROUNDING
from tauforge.designs import non_dominated, pareto, states_around
from tauforge.extras import how_to_install

RIG = tf.load("motion-rig")
BOUNDS = {"base_radius": (0.6, 1.2), "platform_radius": (0.3, 0.9), "z": (0.8, 1.2)}
SHORT = {"evaluations": 120, "population": 20, "states": states_around(RIG, 4)}


def surpassed(objectives, larger):
    """By the definition, pair by pair."""
    costs = [[-x if more else x for x, more in zip(row, larger, strict=True)] for row in objectives.tolist()]
    return np.array(
        [any(other != row and all(a <= b for a, b in zip(other, row, strict=True)) for other in costs) for row in costs]
    )


@pytest.mark.parametrize("m", [1, 2, 4])
def test_domination_is_that_of_its_definition(m):
    rng = np.random.default_rng(m)
    points = rng.integers(0, 12, (150, m)).astype(float)  # many are equal in one or all
    larger = rng.random(m) < 0.5
    assert np.array_equal(non_dominated(points, larger), ~surpassed(points, larger))
    assert np.array_equal(non_dominated(points), ~surpassed(points, [False] * m))


@pytest.fixture(scope="module")
def front():
    pytest.importorskip("pymoo", reason="no pymoo: pip install tauforge[design]")
    return pareto(RIG, BOUNDS, ("condition", "force", "stiffness"), **SHORT)


def test_nothing_that_was_tried_surpasses_the_front(front):
    together = np.concatenate([front.objectives, front.tried])
    assert not surpassed(together, front.larger)[: len(front)].any()
    best = front.tried[~surpassed(front.tried, front.larger)]
    assert {tuple(row) for row in best} == {tuple(row) for row in front.objectives}
    assert front.evaluations == SHORT["evaluations"]
    assert len(front) >= 3
    assert (np.diff(front.objectives[:, 0]) >= 0).all()


def test_the_front_is_of_robots_that_have_what_it_says(front):
    for i in (0, len(front) - 1):
        poses = front.states.home + front.states.offsets
        poses[:, 2] += front.design(i)["z"] - front.states.home[2]
        robot = front.robot(i)
        assert abs(robot.condition_number(poses).max() / front.judged(i)["condition"] - 1) < ROUNDING
        assert (robot.bounds.margins(poses) >= 0).all()
        low, high = np.array(list(BOUNDS.values())).T
        assert ((low <= front.designs[i]) & (front.designs[i] <= high)).all()


def test_a_seed_makes_it_the_same(front):
    again = pareto(RIG, BOUNDS, ("condition", "force", "stiffness"), **SHORT)
    assert np.array_equal(again.designs, front.designs)
    assert np.array_equal(again.objectives, front.objectives)
    other = pareto(RIG, BOUNDS, ("condition", "force", "stiffness"), seed=1, **SHORT)
    assert not np.array_equal(other.designs, front.designs)


def test_a_front_that_is_known():
    """A lighter platform needs less force: of a mass that is to be small and a force that is, one design is best."""
    pytest.importorskip("pymoo", reason="no pymoo: pip install tauforge[design]")
    found = pareto(RIG, {"platform_mass": (100.0, 300.0)}, ("platform_mass", "force"), **SHORT)
    assert len(found) == 1
    assert found.objectives[0, 0] == found.tried[:, 0].min()


def test_limits_are_kept_or_not(front):
    free = pareto(RIG, BOUNDS, ("condition", "force"), limits=False, **SHORT)
    assert len(free.tried) == free.evaluations
    assert len(front.tried) < front.evaluations
    share = pareto(RIG, BOUNDS, ("condition", "within_limits"), **SHORT)  # an objective is no condition
    assert share.larger == (False, True)
    assert len(share.tried) == share.evaluations
    with pytest.raises(tf.ConvergenceError, match="none of 120 designs is within limits at every state"):
        pareto(RIG, {"z": (2.0, 3.0)}, **SHORT)


def test_files(front, tmp_path, monkeypatch):
    front.save(tmp_path / "front.csv")
    with (tmp_path / "front.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["base_radius [m]", "platform_radius [m]", "z [m]", "condition", "force [N]", "stiffness [N/m]"]
    assert np.array_equal(np.array(lines, float), np.hstack([front.designs, front.objectives]))
    pytest.importorskip("matplotlib", reason="no matplotlib: pip install tauforge[plots]")
    made = front.plot(tmp_path / "front.png")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
    assert len(made.axes) == 3
    with pytest.raises(tf.ModelError, match=r"unknown suffix .\.txt.\. Use \.csv"):
        front.save(tmp_path / "front.txt")
    monkeypatch.setattr(type(front), "figure", lambda self: pytest.fail("drawn"))
    with pytest.raises(tf.ModelError, match=r"ends in \.png, \.svg, \.pdf, got .front\.gif."):
        front.plot(tmp_path / "front.gif")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": {}}, "a search needs a parameter"),
        ({"parameters": {"base_width": (1.0, 2.0)}}, "'base_width' is no design parameter"),
        ({"parameters": {"z": (1.2, 0.8)}}, "z: the bounds are reversed: 1.2 and 0.8"),
        ({"parameters": {"z": (1.0, 1.0)}}, "z: the bounds are equal"),
        ({"parameters": {"z": 1.0}}, "z: expected a lowest and a highest value"),
        ({"parameters": {"z": (0.0, np.inf)}}, "z: expected a lowest and a highest value"),
        ({"parameters": {"base_radius": (0.0, 1.0)}}, "base_radius: expected numbers > 0, got 0"),
        ({"objectives": ("condition", "beauty")}, "'beauty' is no measure of a design"),
        ({"objectives": ("condition", "platform_mass")}, "'platform_mass' is no measure of a design"),
        ({"objectives": "condition"}, "two or more different objectives"),
        ({"objectives": ("force", "force")}, "two or more different objectives"),
        ({"evaluations": 0}, "evaluations: expected a whole number >= 1, got 0"),
        ({"population": 2}, "population: expected a whole number >= 4, got 2"),
        ({"robot": "motion-rig"}, "expected a robot"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(tf.TauforgeError, match=message):
        pareto(**({"robot": RIG, "parameters": BOUNDS} | change))


def test_without_pymoo(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pymoo"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pymoo", None)
    with pytest.raises(tf.ModelError, match=r"the search needs pymoo") as caught:
        pareto(RIG, BOUNDS, **SHORT)
    assert how_to_install("design") in str(caught.value)
