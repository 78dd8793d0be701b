"""What a URDF says its links look like: where it is, against Pinocchio, and that it is never physics."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import tauforge as tf
from support.engines import configuration
from support.tolerances import PLACED, error
from support.urdf_texts import TREE, VALID, changed
from support.urdf_visuals import meshed_arm, random_tree
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.pictures.solids import read_mesh
from tauforge.robots.drawing import Box, CylinderShape, MeshFile, Sphere, Visual

TREES = 30
VISUAL = "<visual>{}<geometry>{}</geometry>{}</visual>"
SPHERE = '<sphere radius="0.1"/>'


def looking(geometry: str, origin: str = "", material: str = "", robot: str = "") -> str:
    """VALID with one visual, on line 3, and further elements of the robot."""
    visual = VISUAL.format(origin, geometry, material)
    return changed('<link name="base"/>', f'{robot}<link name="base">{visual}</link>')


def numbered(names: list[str]) -> list[str]:
    """As Pinocchio names the visuals of links: base_0, base_1."""
    return [f"{name}_{names[:k].count(name)}" for k, name in enumerate(names)]


def shape_in_pinocchio(geometry: Any) -> Any:
    kind = type(geometry).__name__
    if kind == "Box":
        return Box(tuple(2 * geometry.halfSide))
    return Sphere(geometry.radius) if kind == "Sphere" else CylinderShape(geometry.radius, 2 * geometry.halfLength)


@pytest.mark.parametrize("seed", range(TREES))
def test_visuals_are_where_pinocchio_has_them(seed: int) -> None:
    """Random chains with fixed links, turned origins and a locked joint, at random positions."""
    text, lock = random_tree(seed)
    arm = tf.loads(text, lock=lock)
    model = pin.buildModelFromXML(text)
    geometry = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.VISUAL)
    data, placed = model.createData(), pin.GeometryData(geometry)
    positions = np.random.default_rng(seed).uniform(-2, 2, (3, arm.n))
    drawing = arm.drawing(positions)
    own = dict(zip(numbered([solid.name for solid in drawing.solids]), drawing.solids, strict=True))
    assert sorted(own) == sorted(body.name for body in geometry.geometryObjects)
    for k, position in enumerate(positions):
        names = [joint.name for joint in arm.joints]
        q = configuration(model, dict(zip(names, position, strict=True)) | lock)
        pin.updateGeometryPlacements(model, data, geometry, placed, q)
        for body, pose in zip(geometry.geometryObjects, placed.oMg, strict=True):
            assert error(own[body.name].transform[k], pose.homogeneous, core=2) < PLACED
            np.testing.assert_allclose(own[body.name].shape[0], shape_in_pinocchio(body.geometry)[0], rtol=PLACED)


def test_the_trees_have_what_the_test_is_about() -> None:
    arms = [tf.loads(text, lock=lock) for text, lock in map(random_tree, range(TREES))]
    assert sum(len(arm.visuals) for arm in arms) > 10 * TREES
    assert {type(visual.shape) for arm in arms for visual in arm.visuals} == {Box, CylinderShape, Sphere}
    assert max(visual.link for arm in arms for visual in arm.visuals) == 5


def test_branches_that_are_left_out_take_their_visuals_along() -> None:
    text = TREE.replace('<link name="eye"/>', f'<link name="eye">{VISUAL.format("", SPHERE, "")}</link>')
    text = text.replace('<link name="world"/>', f'<link name="world">{VISUAL.format("", SPHERE, "")}</link>')
    assert [(v.name, v.link) for v in tf.loads(text, tip="flange", lock={"grip": 0.0}).visuals] == [("world", 0)]
    held = tf.loads(text, lock={"grip": 0.0, "pan": 0.3})
    assert [(v.name, v.link) for v in held.visuals] == [("world", 0), ("eye", 0)]


# ------------------------------------------------------------------------------------------------ what is read


def test_shapes_colours_and_files(tmp_path: Path) -> None:
    arm = tf.load(meshed_arm(tmp_path))
    base, upper, fore, tip = arm.visuals
    assert (base.link, upper.link, fore.link, tip.link) == (0, 1, 2, 2)
    assert base.shape == CylinderShape(0.1, 0.1)
    assert upper.shape == MeshFile(str(tmp_path), "meshes/link.stl", (0.001, 0.001, 0.001), "meshes/link.stl")
    assert fore.shape == Box((0.06, 0.08, 0.3))
    assert tip.shape == Sphere(0.05)
    assert [visual.rgba for visual in arm.visuals] == [None, (1, 0.5, 0, 1), (0.2, 0.4, 0.8, 0.5), None]


@pytest.mark.parametrize(
    ("material", "robot", "rgba"),
    [
        ("", "", None),
        ('<material name="red"/>', '<material name="red"><color rgba="1 0 0 1"/></material>', (1, 0, 0, 1)),
        ('<material name="red"><color rgba="1 0 0 0.5"/></material>', "", (1, 0, 0, 0.5)),
        ('<material name="red"/>', "", None),
        ('<material name="red"><texture filename="../red.png"/></material>', "", None),
    ],
)
def test_materials(material: str, robot: str, rgba: Any) -> None:
    assert tf.loads(looking(SPHERE, material=material, robot=robot)).visuals[0].rgba == rgba


def test_a_material_may_be_defined_by_another_visual() -> None:
    red = VISUAL.format("", SPHERE, '<material name="red"><color rgba="1 0 0 1"/></material>')
    text = looking(SPHERE, material='<material name="red"/>').replace(
        '<link name="lower">', f'<link name="lower">{red}'
    )
    assert [visual.rgba for visual in tf.loads(text).visuals] == [(1, 0, 0, 1)] * 2


# ------------------------------------------------------------------------------------------------ what is left out

MESH = '<mesh filename="{}"/>'
BAD = {
    "size-nan": (looking('<box size="nan 1 1"/>'), "box size: expected a finite number, got 'nan'"),
    "size-two": (looking('<box size="1 1"/>'), "box size: expected 3 numbers separated by blanks, got '1 1'"),
    "size-missing": (looking("<box/>"), "box size: the attribute 'size' is missing"),
    "radius-negative": (
        looking('<sphere radius="-0.1"/>'),
        "sphere radius: expected lengths from 0 to 1e+06 m, got '-0.1'",
    ),
    "length-infinite": (looking('<cylinder radius="1" length="inf"/>'), "cylinder length: expected a finite number"),
    "length-absurd": (
        looking('<cylinder radius="1" length="1e9"/>'),
        "cylinder length: expected lengths from 0 to 1e+06",
    ),
    "unknown-geometry": (
        looking('<capsule radius="1"/>'),
        "geometry: expected one of box, cylinder, sphere, mesh, got <capsule>",
    ),
    "two-geometries": (
        looking(SPHERE * 2),
        "geometry: expected one of box, cylinder, sphere, mesh, got <sphere>, <sphere>",
    ),
    "no-shape": (looking(""), "geometry: expected one of box, cylinder, sphere, mesh, got nothing"),
    "no-geometry": (looking("").replace("<geometry></geometry>", ""), "geometry: <visual> has no <geometry>"),
    "rgba-three": (
        looking(SPHERE, material='<material name="a"><color rgba="1 0 0"/></material>'),
        "color rgba: expected 4 numbers separated by blanks, got '1 0 0'",
    ),
    "rgba-beyond": (
        looking(SPHERE, material='<material name="a"><color rgba="255 0 0 1"/></material>'),
        "color rgba: expected numbers from 0 to 1, got '255 0 0 1'",
    ),
    "rgba-of-the-robot": (
        looking(
            SPHERE, material='<material name="a"/>', robot='<material name="a"><color rgba="1 0 nan 1"/></material>'
        ),
        "color rgba: expected a finite number, got 'nan'",
    ),
    "origin-text": (looking(SPHERE, '<origin xyz="a b c"/>'), "origin xyz: expected a finite number, got 'a'"),
    "origin-far": (looking(SPHERE, '<origin xyz="0 0 1e99"/>'), "origin xyz: expected at most 1e+06 m, got '0 0 1e99'"),
    "origin-twice": (
        looking(SPHERE, "<origin/><origin/>"),
        "link 'base': there is a second <origin> in the same <visual>",
    ),
    "scale-zero": (
        looking('<mesh filename="a.stl" scale="1 0 1"/>'),
        "mesh scale: expected three factors other than 0",
    ),
    "scale-one": (looking('<mesh filename="a.stl" scale="0.001"/>'), "mesh scale: expected 3 numbers"),
    "no-name": (looking("<mesh/>"), "mesh filename: the attribute 'filename' is missing"),
    "folder": (looking(MESH.format("meshes/")), "mesh filename: 'meshes/' names no file"),
    "upwards": (looking(MESH.format("../secret.stl")), "'../secret.stl' leads out of the model's folder"),
    "upwards-within": (looking(MESH.format("a/../../b.stl")), "'a/../../b.stl' leads out of the model's folder"),
    "upwards-in-package": (looking(MESH.format("package://two/../../b.stl")), "leads out of the model's folder"),
    "absolute": (looking(MESH.format("/etc/hostname")), "'/etc/hostname' is not a relative path with slashes"),
    "absolute-in-package": (looking(MESH.format("package:///etc/a.stl")), "is not a relative path with slashes"),
    "file": (looking(MESH.format("file:///etc/a.stl")), "'file:///etc/a.stl' is an address, and only files are read"),
    "file-relative": (looking(MESH.format("file:a.stl")), "'file:a.stl' is an address, and only files are read"),
    "http": (looking(MESH.format("http://127.0.0.1:9/a.stl")), "is an address, and only files are read"),
    "http-in-package": (looking(MESH.format("package://http://a/b.stl")), "is an address, and only files are read"),
    "share": (looking(MESH.format(r"\\host\share\a.stl")), "is not a relative path with slashes"),
    "drive": (looking(MESH.format("C:a.stl")), "'C:a.stl' is not a relative path with slashes"),
    "control": (looking(MESH.format("a&#9;.stl")), "is not a relative path with slashes"),
}


@pytest.mark.fault(1)
@pytest.mark.fault(3)
@pytest.mark.parametrize("name", BAD)
def test_a_bad_visual_is_left_out_with_a_warning(written: Any, name: str) -> None:
    text, says = BAD[name]
    path = written(text)
    with pytest.warns(TauforgeWarning) as caught:
        arm = tf.load(path)
    (message,) = [str(warning.message) for warning in caught]
    assert message.startswith(f"{path}: visuals are left out: line 3, link 'base': ")
    assert says in message
    assert arm.visuals == ()
    assert arm == tf.loads(VALID)


@pytest.mark.parametrize("given", ["../a.stl", "/a.stl", "http://host/a.stl"])
def test_the_warning_about_a_mesh_has_a_remedy(written: Any, given: str) -> None:
    with pytest.warns(TauforgeWarning, match="Keep meshes in the folder of the URDF, or name them package://FOLDER/"):
        tf.load(written(looking(MESH.format(given))))


def test_one_warning_for_many_bad_visuals_and_the_good_ones_stay(written: Any) -> None:
    bad = VISUAL.format("", '<sphere radius="-1"/>', "") * 8
    text = looking(SPHERE).replace("</visual></link>", f"</visual>{bad}</link>")
    with pytest.warns(TauforgeWarning, match=r"'-1'; line 3, .* and 3 more$") as caught:
        arm = tf.load(written(text))
    assert len(caught) == 1
    assert len(arm.visuals) == 1


def test_too_many_visuals(written: Any) -> None:
    text = looking(SPHERE).replace("</visual></link>", f"</visual>{VISUAL.format('', SPHERE, '') * 1000}</link>")
    with pytest.warns(TauforgeWarning, match="line 3, link 'base': visual: the robot has more than 1000 visuals$"):
        arm = tf.load(written(text))
    assert len(arm.visuals) == 1000


@pytest.mark.parametrize(
    ("given", "folder", "name"),
    [
        ("a.stl", "urdf", "a.stl"),
        ("./meshes//a.stl", "urdf", "meshes/a.stl"),
        ("meshes/../a.stl", "urdf", "a.stl"),
        ("package://my_robot/meshes/a.stl", ".", "meshes/a.stl"),
        ("package://my_robot/urdf/../meshes/a.stl", ".", "meshes/a.stl"),
        ("package://urdf/a.stl", "urdf", "a.stl"),
        ("package://other/a.stl", "urdf", "other/a.stl"),
        ("package://home/a.stl", "urdf", "home/a.stl"),
    ],
)
def test_where_mesh_files_lie(tmp_path: Path, given: str, folder: str, name: str) -> None:
    """A folder around that of the model counts only if it is a package; `home` is none."""
    package = tmp_path / "home" / "my_robot"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package/>")
    path = package / "urdf" / "robot.urdf"
    path.write_text(looking(MESH.format(given)), encoding="utf-8")
    shape = tf.load(path).visuals[0].shape
    assert shape[:2] == (str(package / folder), name)


def test_the_nearest_package_of_a_name_is_taken(tmp_path: Path) -> None:
    inner = tmp_path / "two" / "src" / "two"
    (inner / "urdf").mkdir(parents=True)
    (inner / "urdf" / "robot.urdf").write_text(looking(MESH.format("package://two/a.stl")), encoding="utf-8")
    (tmp_path / "two" / "package.xml").write_text("<package/>")
    assert tf.load(inner / "urdf" / "robot.urdf").visuals[0].shape[:2] == (str(tmp_path / "two"), "a.stl")
    (inner / "package.xml").write_text("<package/>")
    assert tf.load(inner / "urdf" / "robot.urdf").visuals[0].shape[:2] == (str(inner), "a.stl")


def test_a_file_of_a_folder_that_is_no_package_is_not_found(tmp_path: Path) -> None:
    """Such as a home folder above the URDF. The message says what to do."""
    home = tmp_path / "me"
    (home / "robot").mkdir(parents=True)
    (home / "secret.stl").write_bytes(b"solid")
    (home / "robot" / "robot.urdf").write_text(looking(MESH.format("package://me/secret.stl")), encoding="utf-8")
    mesh = tf.load(home / "robot" / "robot.urdf").visuals[0].shape
    with pytest.raises(ModelError) as caught:
        read_mesh(mesh)
    assert "robot/me/secret.stl: the mesh cannot be read: No such file" in str(caught.value)
    assert "package://me is the nearest folder me around the URDF with a package.xml, or" in str(caught.value)
    (home / "package.xml").write_text("<package/>")
    assert tf.load(home / "robot" / "robot.urdf").visuals[0].shape[:2] == (str(home), "secret.stl")


def test_a_relative_path_of_the_robot_holds_wherever_the_program_goes(
    written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(looking(MESH.format("a.stl")))
    monkeypatch.chdir(tmp_path)
    assert tf.load("robot.urdf").visuals[0].shape[:2] == (str(tmp_path), "a.stl")


def test_a_text_has_no_folder() -> None:
    assert tf.loads(looking(MESH.format("package://a/b.stl"))).visuals[0].shape[:2] == (None, "a/b.stl")


# ------------------------------------------------------------------------------------------------ never physics


def test_visuals_change_neither_equality_nor_kernels() -> None:
    plain, looks = tf.loads(VALID), tf.loads(looking(SPHERE))
    assert len(looks.visuals) == 1
    assert plain == looks
    assert hash(plain) == hash(looks)
    assert plain.identity == looks.identity
    assert repr(plain) == repr(looks)
    assert plain.data() == looks.data()
    assert plain.drawing([0.1, 0.2]).solids == ()


def test_changed_arms_keep_their_looks_and_saved_ones_do_not(tmp_path: Path) -> None:
    arm = tf.loads(looking(SPHERE))
    for other in (
        arm.replace(gravity=(0, 0, 0)),
        arm.replace(mass=[1.0, 2.0]),
        arm.without_friction(),
        arm.carrying(tf.Payload(1.0)),
        pickle.loads(pickle.dumps(arm)),
    ):
        assert other.visuals == arm.visuals
    assert arm.replace(visuals=()).visuals == ()
    assert arm.replace(joints=arm.joints[:1]).visuals == ()
    arm.save(tmp_path / "arm.toml")
    again = tf.load(tmp_path / "arm.toml")
    assert again == arm
    assert again.visuals == ()


def test_visuals_of_ones_own() -> None:
    arm = tf.load("planar-2r")
    ball = Visual(name="ball", link=2, shape=Sphere(0.1))
    looks = arm.replace(visuals=[ball])
    (solid,) = looks.drawing([[0.1, 0.2], [0.3, 0.4]]).solids
    np.testing.assert_array_equal(solid.transform, arm.link_frames([[0.1, 0.2], [0.3, 0.4]])[:, 2])
    with pytest.raises(ModelError, match="visuals: ball belongs to link 3, and there are 2"):
        arm.replace(visuals=[Visual(name="ball", link=3, shape=Sphere(0.1))])
    with pytest.raises(ModelError, match="visuals: expected a sequence of Visual, got 'ball'"):
        arm.replace(visuals="ball")
    with pytest.raises(ModelError, match="visual shape: expected a shape, got 'ball'"):
        Visual(name="ball", link=0, shape="ball")  # type: ignore[arg-type]


def test_robots_of_the_catalogue_have_no_visuals() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in tf.catalogue():
            robot = tf.load(name)
            assert robot.drawing(robot.positions.default).solids == ()
