"""Solids of drawings as triangles, and pictures of robots that look like something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import SINGLE
from support.urdf_visuals import meshed_arm
from tauforge.errors import TauforgeWarning
from tauforge.pictures.solids import UNSAID, bodies_of, corners_at, extent_with, mesh_of
from tauforge.pictures.triangles import Mesh, ball, box, sound, thinned
from tauforge.robots.drawing import Box, CylinderShape, MeshFile, Solid, Sphere

pytest.importorskip("trimesh")

MOST = 100_000


@pytest.fixture
def arm(tmp_path: Path) -> Any:
    return tf.load(meshed_arm(tmp_path))


def volume(mesh: Mesh) -> float:
    corners = mesh.vertices[mesh.faces]
    return float(np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


@pytest.mark.parametrize(
    ("shape", "sides", "ideal"),
    [
        (Box((0.1, 0.2, 0.3)), (0.1, 0.2, 0.3), 0.006),
        (CylinderShape(0.1, 0.4), (0.2, 0.2, 0.4), np.pi * 0.004),
        (Sphere(0.1), (0.2, 0.2, 0.2), 4 / 3 * np.pi * 0.001),
    ],
)
def test_simple_bodies(shape: Any, sides: tuple[float, ...], ideal: float) -> None:
    """Their extent, centred; their volume, less what the edges of a round body cut off."""
    mesh = mesh_of(shape)
    for sign, ends in ((-1, mesh.vertices.min(axis=0)), (1, mesh.vertices.max(axis=0))):
        np.testing.assert_allclose(ends, sign * np.array(sides) / 2, rtol=SINGLE)
    assert 0.9 * ideal < volume(mesh) < (1 + SINGLE) * ideal


def test_flat_and_vanishing_bodies_have_no_degenerate_triangles() -> None:
    assert len(mesh_of(Box((0.1, 0.2, 0.0))).faces) == 4
    assert len(mesh_of(Sphere(0.0)).faces) == 0
    assert len(sound(Mesh(np.array([[0.0, 0, 0], [np.inf, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))).faces) == 0


def test_thinning_keeps_the_shape() -> None:
    import trimesh

    fine = trimesh.creation.icosphere(subdivisions=5)
    mesh = Mesh(np.asarray(fine.vertices), np.asarray(fine.faces))
    assert len(mesh.faces) > 20_000
    thin = thinned(mesh, 1_500)
    assert 300 < len(thin.faces) <= 1_500
    assert volume(thin) == pytest.approx(volume(mesh), rel=0.1)  # the grid has a tenth of the radius
    assert thinned(thin, 1_500) is thin
    assert len(thinned(mesh, 5).faces) <= 5


def test_bodies_are_placed_by_the_drawing(arm: Any) -> None:
    """The corners of the mesh, 400 mm long, along the upper link."""
    positions = np.array([[0.3, 0.0], [np.pi / 2, 0.5]])
    drawing = arm.drawing(positions)
    bodies = bodies_of(arm.name, drawing.solids, MOST)
    assert [body.solid for body in bodies] == [0, 1, 2, 3]
    assert [body.is_round for body in bodies] == [True, False, True, True]
    assert bodies[0].rgba == UNSAID
    bar = corners_at(bodies, drawing, 1)[1].reshape(-1, 3)
    np.testing.assert_allclose(bar.min(axis=0), [0.0, -0.05, 0.06], atol=SINGLE)
    np.testing.assert_allclose(bar.max(axis=0), [0.4, 0.05, 0.14], atol=SINGLE)
    low, high = extent_with(bodies, drawing)
    assert (low <= drawing.extent[0]).all()
    assert (high >= drawing.extent[1]).all()
    assert low[1] == pytest.approx(-0.1, rel=SINGLE)


def test_what_cannot_be_seen_is_not_read(tmp_path: Path) -> None:
    ghost = Solid("ghost", np.eye(4), MeshFile(str(tmp_path), "nowhere.stl"), (1.0, 1.0, 1.0, 0.0))
    assert bodies_of("robot", [ghost, Solid("dot", np.eye(4), Sphere(0.0))], MOST) == []


def test_one_warning_names_files_that_cannot_be_read(tmp_path: Path) -> None:
    solids = [Solid("part", np.eye(4), MeshFile(str(tmp_path), f"{k}.stl")) for k in (0, 1, 2, 3, 4, 4)]
    with pytest.warns(TauforgeWarning) as caught:
        assert len(bodies_of("my arm", [*solids, Solid("ball", np.eye(4), Sphere(1.0))], MOST)) == 1
    (message,) = [str(warning.message) for warning in caught]
    assert message.startswith(
        f"my arm is drawn without some of its meshes: {tmp_path / '0.stl'}: the mesh cannot be read"
    )
    assert message.endswith("No such file or directory and 2 more")


def surfaces(figure: Any) -> list[Any]:
    return [one for one in figure.axes[0].collections if type(one).__name__ == "Poly3DCollection"]


def test_a_plot_has_translucent_bodies(arm: Any) -> None:
    (surface,) = surfaces(tf.plot(arm))
    colours = surface.get_facecolor()
    faces = sum(len(body.mesh.faces) for body in bodies_of(arm.name, arm.drawing([0.0, 0.0]).solids, 1_500))
    assert len(colours) == faces
    np.testing.assert_allclose(np.unique(colours[:, 3]), [0.2, 0.4])  # half of it for the blue link
    assert len(surfaces(tf.plot(arm, [[0.0, 0.0], [0.5, 0.5]]))) == 2
    assert surfaces(tf.plot(arm, shapes=False)) == []
    assert surfaces(tf.plot(arm.replace(visuals=()))) == []


def test_the_plot_shows_all_of_the_bodies(arm: Any) -> None:
    axes = tf.plot(arm, [0.0, 0.0]).axes[0]
    low, high = axes.get_zlim()
    assert low < 0.0
    assert high > 0.5 + 0.32 + 0.05
    assert axes.get_xlim()[0] < -0.1


def test_plots_and_films_are_drawn(arm: Any, tmp_path: Path) -> None:
    tf.plot(arm, [[0.0, 0.1], [0.5, 0.5]], forces=[1.0, 2.0]).savefig(tmp_path / "arm.png")
    tf.plot(arm, schematic=True).savefig(tmp_path / "arm.svg")
    move = tf.motion.JointMove([0, 0], [1, 1], duration=0.2)
    with_bodies = tf.animate(arm, move, tmp_path / "arm.gif", frames_per_second=10, size=(240, 160))
    without = tf.animate(arm.replace(visuals=()), move, tmp_path / "bare.gif", frames_per_second=10, size=(240, 160))
    assert with_bodies.read_bytes() != without.read_bytes()


@pytest.mark.parametrize("mesh", [box(), ball()])
def test_unit_bodies_face_outwards(mesh: Mesh) -> None:
    assert volume(mesh) > 0.9
