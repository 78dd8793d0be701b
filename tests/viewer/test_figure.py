"""A robot as cylinders, balls, plates and arrows: arrays without a browser."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import ROUNDING
from tauforge.pictures import triangles
from tauforge.pictures.animation_frames import outlines
from tauforge.pictures.triangles import Mesh, sound
from tauforge.robots.drawing import Drawing, Reaction
from tauforge.viewer import colours, figure
from tauforge.viewer.scene import BALL_SIDES, BAR_SIDES, HEAD_SIDES
from tauforge.viewer.surroundings import surroundings

NAMES = tf.catalogue()


@pytest.mark.parametrize(
    "mesh",
    [
        triangles.cylinder(),
        triangles.cylinder(BAR_SIDES),
        triangles.cone(),
        triangles.cone(HEAD_SIDES),
        triangles.ball(),
        triangles.ball(*BALL_SIDES),
        triangles.box(),
    ],
)
def test_unit_bodies_are_closed_and_face_outwards(mesh: Mesh) -> None:
    """And have no triangles without area, which cost a browser as much as others."""
    corners = mesh.vertices[mesh.faces]
    assert len(sound(mesh).faces) == len(mesh.faces)
    volume = np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume > 0.9
    assert np.abs(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)).max() < 1e-4


@pytest.mark.parametrize("turn", [1, -1])
def test_plates_face_outwards_whatever_way_their_corners_go(turn: int) -> None:
    corners = np.array([[0, 0, 1], [2, 0, 1], [2, 1, 1], [0, 1, 1]], float)[::turn]
    mesh = figure.plate(corners, 0.1)
    at = mesh.vertices[mesh.faces] - mesh.vertices.mean(axis=0)
    assert np.einsum("fi,fi->", at[:, 0], np.cross(at[:, 1], at[:, 2])) / 6 == pytest.approx(0.2, rel=1e-4)


def test_bodies_lie_along_their_lines() -> None:
    ways = np.array([[0, 0, 1], [0, 0, -2], [1, 2, 3], [-1, 0, 0], [0, 0, 0]], float)
    placed = figure.along(np.ones((5, 3)), np.ones((5, 3)) + ways, 0.1)
    for way, turn, scale in zip(ways, placed.wxyzs, placed.scales, strict=True):
        np.testing.assert_allclose(figure.rotation(turn) @ [0, 0, scale[2]], way, atol=1e-12)
    assert placed.scales[4].tolist() == [0, 0, 0]


def test_the_corners_of_a_path_are_enough() -> None:
    """Every point is as near to the lines between the corners as was asked, and few are kept."""
    turned = 4.0  # rad
    angle = np.linspace(0.0, turned, 400)
    path = np.column_stack([np.cos(angle), np.sin(angle), 0.1 * angle])
    tolerance = 1e-3
    kept = figure.corners(path, tolerance)
    np.testing.assert_array_equal(kept[[0, -1]], path[[0, -1]])
    starts, ways = kept[:-1], np.diff(kept, axis=0)
    from_starts = path[:, None] - starts
    shares = np.clip((from_starts * ways).sum(-1) / (ways**2).sum(-1), 0.0, 1.0)
    off = np.linalg.norm(from_starts - shares[..., None] * ways, axis=-1).min(axis=1)
    assert off.max() <= tolerance
    longest = np.sqrt(8 * tolerance)  # rad: the arc of a circle of radius 1 that is so far from its chord
    assert len(kept) <= 2 * np.ceil(turned / longest) + 1  # halving an arc that is a little too long gives two


def test_the_corners_of_straight_ways_and_of_ways_back() -> None:
    line = np.linspace([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 100)
    np.testing.assert_array_equal(figure.corners(line, 1e-6), line[[0, -1]])
    there_and_back = np.concatenate([line, line[-2::-1]])
    np.testing.assert_array_equal(figure.corners(there_and_back, 1e-6), [line[0], line[-1], line[0]])
    still = np.tile(line[:1], (5, 1))
    np.testing.assert_array_equal(figure.corners(still, 1e-6), still[[0, -1]])
    np.testing.assert_array_equal(figure.corners(line[:2], 1e-6), line[:2])


def test_quaternions_are_those_of_rotations() -> None:
    random = np.random.default_rng(0)
    Q = np.linalg.qr(random.normal(size=(20, 3, 3)))[0]
    Q *= np.linalg.det(Q)[:, None, None]
    for R, q in zip(Q, figure.quaternions(Q), strict=True):
        np.testing.assert_allclose(figure.rotation(q), R, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_bars_are_the_segments(name: str) -> None:
    robot = tf.load(name)
    drawing = robot.drawing(robot.positions.default)
    bars = figure.bars(drawing, 1.0)
    assert len(bars.names) == len(bars.placed.places) == len(bars.rgb)
    assert np.isfinite(np.concatenate(bars.placed, axis=1)).all()
    lengths = [np.linalg.norm(s.end - s.start) for s in drawing.segments]
    drums = figure.DRUM_LENGTH * sum(action.turns for action in drawing.actions)
    assert bars.placed.scales[:, 2].sum() == pytest.approx(sum(lengths) + drums)
    plates = figure.plates(drawing, 1.0)
    if isinstance(robot, tf.Mechanism):  # bodies with three joints and more, and the ground
        assert len(plates) == len(outlines(drawing.segments))
    else:
        assert len(plates) == (2 if robot.positions.pose else 0)


def test_a_leg_shorter_than_its_sleeve_has_no_rod() -> None:
    rig = tf.load("motion-rig")
    drawing = rig.drawing([0, 0, 0.05, 0, 0, 0])
    short = [s for s in drawing.segments if s.sleeve is not None and np.linalg.norm(s.end - s.start) < s.sleeve]
    assert short
    assert np.isfinite(figure.bars(drawing, 1.0).placed.scales).all()
    for leg in short:
        sleeve, rod = (piece for piece in figure.bars_of(drawing, 1.0) if piece.name == leg.name)
        np.testing.assert_allclose([sleeve.start, sleeve.end], [leg.start, leg.end], atol=ROUNDING)
        np.testing.assert_allclose([rod.start, rod.end], [leg.end, leg.end], atol=ROUNDING)


def test_arrows_point_where_forces_push() -> None:
    rig = tf.load("motion-rig")
    drawing = rig.drawing(rig.positions.default)
    rgb = colours.rgb_rows([colours.LOW] * 6)
    arrows = figure.force_arrows(drawing, np.array([1, -1, 0.5, 0, np.nan, 0]), rgb, 1.0)
    ways = arrows.lines[:, 1] - arrows.lines[:, 0]
    along = np.einsum("ki,ki->k", ways, [action.axis for action in drawing.actions])
    np.testing.assert_allclose(along, 0.22 * np.array([1, -1, 0.5, 0, 0, 0]), atol=1e-6)
    assert arrows.heads.scales[3:, 2].tolist() == [0, 0, 0]


def test_reactions_are_in_proportion() -> None:
    one = Reaction("a", np.zeros(3), np.array([0, 0, 2.0]), np.zeros(3))
    other = Reaction("b", np.ones(3), np.array([1.0, 0, 0]), np.array([0, 3.0, 0]))
    arrows = figure.reaction_arrows([one, other], 1.0)
    lengths = np.linalg.norm(arrows.lines[:, 1] - arrows.lines[:, 0], axis=1)
    np.testing.assert_allclose(lengths, np.array([1, 0.5, 0, 1]) * figure.REACTION_LENGTH, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_ground_is_below(name: str) -> None:
    robot = tf.load(name)
    around = surroundings(robot)
    assert around.size > 0
    np.testing.assert_allclose(around.up @ np.array(robot.gravity), -np.linalg.norm(robot.gravity))
    assert np.isfinite(np.concatenate([around.middle, around.ground])).all()


def test_a_robot_without_a_drawing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.SerialArm, "drawing", lambda self, position: Drawing())
    with pytest.raises(tf.UnsupportedFeatureError, match="planar-2r has no drawing"):
        surroundings(tf.load("planar-2r"))
