"""Paths end at singular positions and at jumps. The oracle is where bars are in line or on top of each other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tauforge as tf
from tauforge.workspace import explain, reach
from tauforge.workspace import map as mapped
from tauforge.workspace.maps import BEYOND_SINGULAR
from tauforge.workspace.singular_crossings import JUMPS, SINGULAR_POSITION

EXACT = 1e-8  # m and rad: ends are known to 1e-9
FLAT = 1e-6  # rad: nearer to a flat linkage the root of a rounding error hides it
UP = (0, -1, 0)
pytestmark = pytest.mark.usefixtures("as_installed")


def bar(name: str, a: tuple[float, ...], b: tuple[float, ...]) -> tf.Body:
    return tf.Body(name, 1.0, com=tuple(np.add(a, b) / 2), inertia=(0.01, 0.01, 0.01))


def two_bars(**options: object) -> tf.Mechanism:
    """Bars of length 1 from a foot to a slider through it: where the slider passes, the bars lie on each other."""
    foot, apex, end = (0, 0, 0), (0.4, 0, 0.84**0.5), (0.8, 0, 0)
    return tf.Mechanism(
        name="two bars",
        bodies=[bar("crank", foot, apex), bar("rod", apex, end), tf.Body("shoe", 1.0, com=end)],
        joints=[
            tf.Hinge("foot", "ground", "crank", at=foot, axis=UP),
            tf.Hinge("apex", "crank", "rod", at=apex, axis=UP),
            tf.Hinge("pin", "rod", "shoe", at=end, axis=UP),
            tf.Slider("drive", "ground", "shoe", at=end, axis=(1, 0, 0), actuated=True, home=0.8, **options),
        ],
    )


def four_bar(crank: float, coupler: float, rocker: float, ground: float, angle: float, driven: str) -> tf.Mechanism:
    """The crank's angle is the coordinate, 0 at home; `driven` has the motor."""
    A, D = np.zeros(2), np.array([ground, 0.0])
    B = crank * np.array([np.cos(angle), np.sin(angle)])
    d = np.linalg.norm(D - B)
    along = (D - B) / d
    s = (coupler**2 - rocker**2 + d**2) / (2 * d)
    C = B + s * along + np.sqrt(coupler**2 - s**2) * np.array([-along[1], along[0]])
    a, b, c, e = ((float(x), 0.0, float(z)) for x, z in (A, B, C, D))
    return tf.Mechanism(
        name="four-bar",
        bodies=[bar("crank", a, b), bar("coupler", b, c), bar("rocker", c, e)],
        joints=[
            tf.Hinge("crank pivot", "ground", "crank", at=a, axis=UP, actuated=driven == "crank"),
            tf.Hinge("b", "crank", "coupler", at=b, axis=UP),
            tf.Hinge("c", "coupler", "rocker", at=c, axis=UP),
            tf.Hinge("rocker pivot", "ground", "rocker", at=e, axis=UP, actuated=driven == "rocker"),
        ],
        independent=["crank pivot"],
    )


@pytest.mark.parametrize("options", [{}, {"limits": (-0.9, 0.95)}])
def test_bars_that_lie_on_each_other_end_a_way(options: dict[str, object]) -> None:
    m = two_bars(**options)
    jumped = np.abs(m.configuration([1e-6]) - m.configuration([-1e-6]))
    assert jumped.max() == pytest.approx(np.pi, abs=1e-5)  # beyond, both bars point the other way
    end = reach(m).end("drive", -1)
    assert end.distance == pytest.approx(0.8, abs=EXACT)
    assert (end.limit, end.kind) == (SINGULAR_POSITION, "singularity")
    other = reach(m).end("drive", 1)
    assert other.limit == ("drive is above its range" if options else "the loops do not close")


def test_what_lies_beyond_a_singular_position_is_explained() -> None:
    m = two_bars(limits=(-0.9, 0.95))
    beyond = explain(m, [-0.5])
    assert not beyond.holds
    assert [f.name for f in beyond.exceeded] == ["a singular position is on the straight way from home"]
    assert str(beyond).startswith("two bars: a singular position is on the straight way from home\n")
    assert explain(m, m.configuration([-0.5])).holds  # the position itself says how it is assembled
    assert explain(m, [0.1]).holds
    for where in (0.0, 1e-9):
        assert [f.name for f in explain(m, [where]).exceeded] == [SINGULAR_POSITION]


@pytest.mark.parametrize("values", [np.linspace(-1.9, 1.9, 39), np.linspace(-1.9, 1.9, 40)])
def test_a_map_tells_what_lies_beyond_a_singular_position(values: np.ndarray) -> None:
    """With 39 values one of them is the singular position itself, where the loops have no single answer."""
    found = mapped(two_bars(), "limit", {"drive": values})
    expected = np.where(values > 1e-9, "all limits hold", BEYOND_SINGULAR)
    assert [found.name(int(code)) for code in found.values] == expected.tolist()
    limited = mapped(two_bars(limits=(-0.9, 0.95)), "limit", {"drive": values})
    expected = np.where(values > 0.95, "drive is above its range", expected)
    expected = np.where(values < -0.9, "drive is below its range", expected)
    assert [limited.name(int(code)) for code in limited.values] == expected.tolist()


def test_a_map_that_lies_beyond_as_a_whole() -> None:
    assert mapped(two_bars(), "limit", {"drive": (-1.9, -0.5, 9)}).shares() == {BEYOND_SINGULAR: 1.0}
    assert mapped(two_bars(), "limit", {"drive": (0.1, 1.9, 9)}).shares() == {"all limits hold": 1.0}


def test_a_map_of_two_axes_is_divided_by_a_line() -> None:
    """The crank of a parallelogram on a turntable: it is flat at the same angle wherever the table is."""
    flat = four_bar(1.0, 2.0, 1.0, 2.0, 1.0, "crank")
    bodies = [tf.Body("table", 1.0), *flat.bodies]
    joints = [
        tf.Hinge("turn", "ground", "table", at=(0, 0, 0), axis=(0, 0, 1), actuated=True),
        *(dataclasses.replace(j, parent="table") if j.parent == "ground" else j for j in flat.joints),
    ]
    m = flat.replace(bodies=bodies, joints=joints, independent=["turn", "crank pivot"])
    crank = np.linspace(-2.5, 2.5, 21)
    found = mapped(m, "limit", {"turn": (-0.5, 0.5, 3), "crank pivot": crank})
    expected = np.where((crank > -1.0) & (crank < np.pi - 1.0), "all limits hold", BEYOND_SINGULAR)
    for row in found.values:
        assert [found.name(int(code)) for code in row] == expected.tolist()


def test_a_way_that_goes_on_smoothly_ends_there_as_well() -> None:
    """A parallelogram that is flat may go on as one, or crossed: its crank does not say."""
    m = four_bar(1.0, 2.0, 1.0, 2.0, 1.0, "crank")
    found = reach(m)
    for sense, distance in ((1, np.pi - 1.0), (-1, 1.0)):
        end = found.end("crank pivot", sense)
        assert end.distance == pytest.approx(distance, abs=FLAT)
        assert end.limit == SINGULAR_POSITION


def test_a_nearly_singular_position_is_passed() -> None:
    """The crank is a little shorter than the rocker, so it goes round."""
    m = four_bar(1.0 - 1e-4, 2.0, 1.0, 2.0, 1.0, "crank")
    found = reach(m)
    assert [end.limit for end in found.ends] == ["", ""]


def test_actuators_that_lose_control_end_a_way() -> None:
    """A motor at the rocker cannot move the crank where crank and coupler are in line: the law of cosines."""
    crank, coupler, rocker, ground, angle = 0.3, 1.0, 0.7, 0.9, 1.2
    found = reach(four_bar(crank, coupler, rocker, ground, angle, "rocker"))
    stretched, folded = (
        float(np.arccos((length**2 + ground**2 - rocker**2) / (2 * length * ground)))
        for length in (coupler + crank, coupler - crank)
    )
    ends = {1: np.pi + folded - angle, -1: angle - stretched}
    for sense, distance in ends.items():
        end = found.end("crank pivot", sense)
        assert end.distance == pytest.approx(distance, abs=EXACT)
        assert end.limit == SINGULAR_POSITION
    free = reach(four_bar(crank, coupler, rocker, ground, angle, "crank"))
    assert [end.limit for end in free.ends] == ["", ""]


def test_a_jump_ends_a_way_where_no_condition_number_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.Mechanism, "loop_condition", lambda self, position: np.ones(position.shape[:-1]))
    end = reach(two_bars()).end("drive", -1)
    assert end.distance == pytest.approx(0.8, abs=EXACT)
    assert (end.limit, end.kind) == (JUMPS, "assembly")


def test_angles_that_change_their_names_are_no_jump() -> None:
    """A base that turns by more than half a turn, and joints that follow it."""
    m = tf.load("palletiser")
    joints = [dataclasses.replace(joint, limits=None) if joint.name == "base" else joint for joint in m.joints]
    assert reach(m.replace(joints=joints)).end("base").limit == ""
