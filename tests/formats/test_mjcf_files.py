"""MJCF files that include others, and what of them is drawn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import tauforge as tf
from support.mjcf_texts import TREE
from support.tolerances import FORMULATIONS, PLACED, error
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.robots.drawing import Box, CylinderShape, MeshFile, Sphere

ARM = """<mujoco model="arm">
  <compiler angle="radian" meshdir="assets"/>
  <default><default class="arm"><joint damping="0.3" armature="0.1"/>
    <default class="visual"><geom type="mesh" group="2" material="grey" contype="0" conaffinity="0"/></default>
  </default></default>
  <asset><mesh file="link.stl" scale="0.001 0.001 0.001"/><material name="grey" rgba="0.5 0.5 0.5 1"/></asset>
  <worldbody>
    <body name="base" childclass="arm"><geom class="visual" mesh="link"/>
      <body name="upper" pos="0 0 0.3"><joint name="lift" axis="0 1 0"/>
        <inertial pos="0 0 0.2" mass="2" fullinertia="0.02 0.025 0.01 0.001 0 0"/>
        <geom class="visual" mesh="link" pos="0 0 0.1" rgba="1 0 0 0.5"/>
        <geom type="capsule" fromto="0 0 0 0 0.1 0.4" size="0.05" group="3"/></body></body>
  </worldbody>
  <actuator><motor joint="lift"/></actuator>
</mujoco>
"""
SCENE = """<mujoco model="scene">
  <include file="parts/arm.xml"/>
  <option gravity="0 0 -3.7"/>
  <worldbody><light pos="0 0 1"/><geom size="0 0 0.05" type="plane"/><include file="weight.xml"/></worldbody>
</mujoco>
"""
WEIGHT = '<mujocoinclude><body name="weight"><joint type="slide"/><geom size="0.1" mass="2"/></body></mujocoinclude>'


def scene(folder: Path, text: str = SCENE) -> Path:
    (folder / "parts").mkdir()
    (folder / "parts" / "arm.xml").write_text(ARM)
    (folder / "weight.xml").write_text(WEIGHT)
    (folder / "scene.xml").write_text(text)
    return folder / "scene.xml"


@pytest.mark.filterwarnings("ignore:.*the mass of 'base', which does not move")
def test_included_files_stand_where_they_are_included(tmp_path: Path) -> None:
    both = tf.load(scene(tmp_path))
    assert isinstance(both, tf.Mechanism)
    assert [body.name for body in both.bodies] == ["base", "upper", "weight"]
    assert both.gravity == (0.0, 0.0, -3.7)
    assert both.joints[1].viscous == 0.3
    arm = tf.loads(ARM).replace(gravity=both.gravity)
    q = np.array([0.4])
    x = both.configuration([*q, 0.1])
    assert error(both.mass_matrix(x)[:1, :1], arm.mass_matrix(q), core=2) < FORMULATIONS


@pytest.mark.fault(3)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("parts/leg.xml", "there is no file 'parts/leg.xml' beside it"),
        ("../scene.xml", "leads out of the model's folder"),
        ("/etc/hostname", "not a relative path"),
        ("http://host/a.xml", "is an address"),
        ("link.xml", "is a link out of the model's folder"),
        ("scene.xml", "'scene.xml' is included a second time"),
        ("parts/../weight.xml", "'weight.xml' is included a second time"),
    ],
)
def test_a_bad_include_is_refused(name: str, says: str, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "far.xml").write_text(WEIGHT)
    os.symlink(tmp_path / "far.xml", inner / "link.xml")
    text = SCENE.replace("parts/arm.xml", name)
    with pytest.raises(ModelError) as caught:
        tf.load(scene(inner, text))
    assert says in str(caught.value)
    assert ": include file: " in str(caught.value)


@pytest.mark.fault(3)
def test_an_included_link_to_itself_is_refused(tmp_path: Path) -> None:
    path = scene(tmp_path)
    (tmp_path / "weight.xml").unlink()
    os.symlink("weight.xml", tmp_path / "weight.xml")
    with pytest.raises(ModelError, match=r"weight\.xml: the file cannot be read: Too many levels of symbolic links"):
        tf.load(path)


def test_a_text_includes_nothing() -> None:
    with pytest.raises(ModelError, match=r"include file: a text has no folder in which .parts/arm\.xml. could be"):
        tf.loads(SCENE)


def test_a_fault_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    path = scene(tmp_path)
    (tmp_path / "parts" / "arm.xml").write_text(ARM.replace('mass="2"', 'mass="-2"'))
    with pytest.raises(ModelError, match=r"arm\.xml:10: inertial mass: expected a mass >= 0"):
        tf.load(path)


def is_geom(shape: Any, T: np.ndarray, model: Any, data: Any, g: int) -> bool:
    """Whether a shape at a place of the world is the geom as MuJoCo shows it."""
    size, R = model.geom_size[g], data.geom_xmat[g].reshape(3, 3)
    turn = np.abs(T[:3, :3].T @ R)
    match shape:
        case Box(full):
            same = np.abs(np.array(full) - 2 * size).max() < PLACED
            same = same and np.abs(turn - np.eye(3)).max() < PLACED  # half turns leave a box as it is
        case Sphere(radius):
            same = abs(radius - size[0]) < PLACED
        case CylinderShape(radius, length):
            same = np.abs(np.array([radius, length]) - [size[0], 2 * size[1]]).max() < PLACED
            same = same and abs(turn[2, 2] - 1) < PLACED  # either end may be the first
    return bool(same and np.abs(T[:3, 3] - data.geom_xpos[g]).max() < PLACED)


def test_geoms_are_drawn_where_mujoco_shows_them() -> None:
    robot = tf.loads(TREE)
    assert isinstance(robot, tf.Mechanism)
    model = mujoco.MjModel.from_xml_string(TREE.replace('<geom type="mesh" mesh="nowhere" group="3"/>', ""))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    frames = robot.body_frames(robot.home)
    assert all(robot.bodies[visual.link - 1].name == visual.name for visual in robot.visuals)
    ours = [(visual.shape, frames[visual.link - 1] @ np.array(visual.placement)) for visual in robot.visuals]
    kinds = mujoco.mjtGeom
    shapes = {int(kinds.mjGEOM_BOX): Box, int(kinds.mjGEOM_SPHERE): Sphere}
    shapes |= dict.fromkeys((int(kinds.mjGEOM_CYLINDER), int(kinds.mjGEOM_CAPSULE)), CylinderShape)
    drawn = [(g, shapes[int(kind)]) for g, kind in enumerate(model.geom_type) if int(kind) in shapes]
    assert len(drawn) == 8
    for g, kind in drawn:
        assert any(is_geom(shape, T, model, data, g) for shape, T in ours if isinstance(shape, kind)), g
    assert len(ours) == 8 + 2  # the two ends of the capsule


def test_meshes_are_named_by_their_files_and_not_opened(tmp_path: Path) -> None:
    path = scene(tmp_path)
    with pytest.warns(TauforgeWarning, match="left out: the mass of 'base', which does not move"):
        robot = tf.load(path)
    assert isinstance(robot, tf.Mechanism)
    on_base, on_upper, weight = robot.visuals
    mesh = MeshFile(str(tmp_path), "assets/link.stl", (0.001, 0.001, 0.001), "link.stl")
    assert (on_base.shape, on_upper.shape, weight.shape) == (mesh, mesh, Sphere(0.1))
    assert (on_base.rgba, on_upper.rgba, weight.rgba) == ((0.5, 0.5, 0.5, 1.0), (1.0, 0.0, 0.0, 0.5), None)


@pytest.mark.filterwarnings("ignore:.*the mass of 'base', which does not move")
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('pos="0 0 0.1" rgba="1 0 0 0.5"', 'rgba="2 0 0 1"', "line 11: expected numbers from 0 to 1"),
        ('class="visual" mesh="link" pos', 'class="visual" mesh="rod" pos', "line 11: there is no mesh named 'rod'"),
        ('meshdir="assets"', 'meshdir="../assets"', "leads out of the model's folder"),
    ],
)
def test_a_bad_picture_is_left_out_with_a_warning(old: str, new: str, says: str) -> None:
    assert old in ARM
    with pytest.warns(TauforgeWarning, match=says):
        robot = tf.loads(ARM.replace(old, new))
    assert len(robot.visuals) < 2  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*the mass of 'base', which does not move")
def test_tool_names_a_body(tmp_path: Path) -> None:
    path = scene(tmp_path)
    robot = tf.load(path, tool="upper")
    assert isinstance(robot, tf.Mechanism)
    assert robot.tool_body == "upper"
    with pytest.raises(
        ModelError, match=r"scene\.xml: tool: there is no body named 'hand'\. Known: 'base', 'upper', 'weight'"
    ):
        tf.load(path, tool="hand")
