"""Mesh files of robots: what is read, what is refused, and that nothing is opened outside the model's folder."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.cpu_time import quickest
from support.tolerances import ROUNDING, SINGLE
from support.urdf_texts import changed
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.pictures import solids
from tauforge.pictures.solids import parsed_mesh, read_mesh
from tauforge.robots.drawing import MeshFile

trimesh = pytest.importorskip("trimesh")

SOAK = int(os.environ.get("TAUFORGE_SOAK", "1"))  # multiplies random counts
SIDES = (0.2, 0.3, 0.5)
BOX = trimesh.creation.box(extents=SIDES, transform=trimesh.transformations.translation_matrix((1.0, 2.0, 3.0)))
SECONDS = 1.0  # for a small hostile file


def content(kind: str) -> bytes:
    """The box as a file of this kind; "stl_ascii" and "ply_ascii" are texts."""
    if kind == "glb":
        found = trimesh.Scene(BOX).export(file_type="glb")
    elif kind == "dae":
        pytest.importorskip("collada")
        found = BOX.export(file_type="dae")
    elif kind == "ply_ascii":
        found = BOX.export(file_type="ply", encoding="ascii")
    else:
        found = BOX.export(file_type=kind)
    return found if isinstance(found, bytes) else found.encode()


def volume(mesh: Any) -> float:
    corners = mesh.vertices[mesh.faces] - mesh.vertices.mean(axis=0)
    return float(np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


KINDS = ["stl", "stl_ascii", "obj", "ply", "ply_ascii", "glb", "dae"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, -1.0, 0.001)], ids=["as it is", "mirrored"])
def test_every_kind_is_read(tmp_path: Path, kind: str, scale: tuple[float, ...]) -> None:
    """The corners are those of the box, and the surface still faces outwards where the scale mirrors it."""
    name = f"box.{kind[:3].upper()}"
    (tmp_path / name).write_bytes(content(kind))
    mesh = read_mesh(MeshFile(str(tmp_path), name, scale))
    assert len(mesh.faces) == 12
    middle, half = np.array([1.0, 2.0, 3.0]) * scale, np.array(SIDES) / 2 * np.abs(scale)
    np.testing.assert_allclose(mesh.vertices.min(axis=0), middle - half, rtol=SINGLE)
    np.testing.assert_allclose(mesh.vertices.max(axis=0), middle + half, rtol=SINGLE)
    assert volume(mesh) == pytest.approx(np.prod(2 * half), rel=SINGLE)


def test_collada_files_have_a_unit() -> None:
    text = content("dae").decode()
    assert text.count("<up_axis>") == 1
    text = text.replace("<up_axis>", '<unit name="millimeter" meter="0.001"/><up_axis>')
    mesh = parsed_mesh(text.encode(), "dae")
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), 1e-3 * np.array(SIDES), rtol=SINGLE)


def test_an_obj_file_with_groups_normals_and_longer_faces() -> None:
    text = b"mtllib a.mtl\no one\nv 0 0 0 1 0 0\nv 1 0 0\\\n\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
    text += b"usemtl red\nf 1/1/1 2//1 3/1 4\ng two\nf -1 -2 -3\n"
    mesh = parsed_mesh(text, "obj")
    assert len(mesh.faces) == 3
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [1, 1, 0])


def test_bad_triangles_are_dropped(tmp_path: Path) -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [np.nan, 0, 0]])
    mesh = trimesh.Trimesh(corners, [[0, 1, 2], [0, 1, 3], [0, 0, 1]], process=False)
    (tmp_path / "a.stl").write_bytes(mesh.export(file_type="stl"))
    read = read_mesh(MeshFile(str(tmp_path), "a.stl", (1e300, 1.0, 1e-6)))
    assert len(read.faces) == 0
    read = read_mesh(MeshFile(str(tmp_path), "a.stl"))
    np.testing.assert_array_equal(read.vertices[read.faces], [corners[:3]])
    assert len(read.vertices) == 3


# ------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.stl", None, "a.stl: the mesh cannot be read: No such file or directory"),
        ("a.stl", b"", "a.stl: the mesh has no triangles"),
        ("a.ply", b"", "a.ply: trimesh cannot read the mesh: ValueError"),
        ("a.stl", b"solid nothing\nendsolid", "a.stl: the mesh has no triangles"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9", "a.obj: trimesh cannot read the mesh: IndexError"),
        ("a.obj", b"v 0 0 0\nv 1e9 0 0\nv 0 1 0\nf 1 2 3", "a.obj: expected corners within 1e+06 m"),
        ("a.blend", b"", "meshes of this kind are not read: 'a.blend'. Known: stl, obj, ply, glb, dae"),
        ("passwd", b"", "meshes of this kind are not read: 'passwd'"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, data: bytes | None, says: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ModelError) as caught:
        read_mesh(MeshFile(str(tmp_path), name))
    assert says in str(caught.value)


def test_a_mesh_without_a_folder() -> None:
    with pytest.raises(ModelError, match=r"'package://a/b\.stl' has no folder: .* Load the robot from its file"):
        read_mesh(MeshFile(None, "a/b.stl", given="package://a/b.stl"))


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.stl")
    with pytest.raises(ModelError, match=r"a\.stl: expected a regular file"):
        read_mesh(MeshFile(str(tmp_path), "a.stl"))


def test_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.stl").write_bytes(content("stl"))
    monkeypatch.setattr(solids, "MOST_BYTES", 600)
    with pytest.raises(ModelError, match=r"a\.stl: the mesh is larger than 0 MB\. Give it fewer triangles"):
        read_mesh(MeshFile(str(tmp_path), "a.stl"))


@pytest.mark.parametrize("kind", ["stl", "obj"])
def test_many_triangles(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solids, "MOST_MESH_FACES", 11)
    with pytest.raises(ModelError, match="the mesh has more than 1,000,000 triangles"):
        parsed_mesh(content(kind), kind)


@pytest.mark.parametrize(
    ("missing", "kind", "says"),
    [
        ("trimesh", "stl", r"meshes need trimesh\. Run pip install .*\[viewer\]"),
        ("collada", "dae", r"COLLADA meshes \(\.dae\) need pycollada\. Run pip install pycollada"),
    ],
)
def test_libraries_that_are_missing(missing: str, kind: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModelError, match=says):
        parsed_mesh(b"<COLLADA/>", kind)


# ------------------------------------------------------------------------------------------------ hostile

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + np.array([0, 1, 2], "<u4").tobytes()


def glb(**changes: Any) -> bytes:
    """One triangle, with changes of the JSON."""
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 12},
        ],
        "buffers": [{"byteLength": 48}],
    } | changes
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(TRIANGLE), 0x004E4942) + TRIANGLE
    return struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body


PROMISE = [{"componentType": 5126, "count": 10**9, "type": "VEC3"}] * 2
PRIMITIVE = {"attributes": {"POSITION": 0}}
PLY = "ply\nformat {} 1.0\nelement vertex 999999999999\n"
PLY += "property float x\nproperty float y\nproperty float z\nend_header\n"
HOSTILE = {
    "glb-promise": ("glb", glb(accessors=PROMISE), "more than 1,000,000 triangles"),
    "glb-negative": ("glb", glb(accessors=[{**PROMISE[0], "count": -(10**9)}] * 2), "more than 1,000,000 triangles"),
    "glb-shared": (
        "glb",
        glb(accessors=[{**PROMISE[0], "count": 10**6}], meshes=[{"primitives": [PRIMITIVE] * 1000}]),
        "more than 1,000,000 triangles",
    ),
    "glb-wide": ("glb", glb(nodes=[{"mesh": 0}] * 10**5), "more than 2,000 parts"),
    "glb-surfaces": ("glb", glb(meshes=[{"primitives": [PRIMITIVE] * 10**4}]), "more than 2,000 parts"),
    "glb-cycle": (
        "glb",
        glb(nodes=[{"mesh": 0, "children": [1]}, {"mesh": 0, "children": [0]}]),
        "cannot read the mesh",
    ),
    "glb-other-file": ("glb", glb(buffers=[{"byteLength": 48, "uri": "../a.bin"}]), "in another file"),
    "glb-address": ("glb", glb(buffers=[{"byteLength": 48, "uri": "http://127.0.0.1:9/a"}]), "in another file"),
    "stl-promise": ("stl", b"\0" * 80 + struct.pack("<I", 2**32 - 1) + b"\0" * 100, "the mesh"),
    "ply-promise": ("ply", PLY.format("binary_little_endian").encode() + TRIANGLE, "cannot read the mesh"),
    "ply-promise-ascii": ("ply", PLY.format("ascii").encode() + b"0 0 0\n", "the mesh has no triangles"),
    "obj-groups": (
        "obj",
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\n" + b"".join(b"usemtl %d\ng %d\nf 1 2 3\n" % (k, k) for k in range(20_000)),
        None,
    ),
    "dae-doctype": ("dae", b'<!DOCTYPE a [<!ENTITY x "y">]><COLLADA>&x;</COLLADA>', "DOCTYPE"),
    "dae-archive": ("dae", b"PK\3\4" + b"\0" * 100, "the text of a COLLADA file"),
    "dae-instances": (
        "dae",
        b"<COLLADA>" + b'<instance_node url="#a"/>' * 100 + b"</COLLADA>",
        "20 instances of nodes",
    ),
}


@pytest.mark.fault(2)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_mesh_is_cheap(name: str) -> None:
    kind, data, says = HOSTILE[name]
    if kind == "dae":
        pytest.importorskip("collada")

    def read() -> None:
        if says is None:
            assert len(parsed_mesh(data, kind).faces) == 20_000
        else:
            with pytest.raises(ModelError) as caught:
                parsed_mesh(data, kind)
            assert says in str(caught.value)
            assert len(str(caught.value)) < 300

    assert quickest(read, SECONDS)[0] < SECONDS


def dae(nodes: str, surfaces: int = 1, library: str = "") -> bytes:
    """A COLLADA file with one geometry, `g`."""
    triangle = '<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>'
    text = f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
      <asset><unit meter="1" name="meter"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>
      <source id="s"><float_array id="a" count="9">0 0 0 1 0 0 1 1 0</float_array><technique_common>
      <accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
      <param name="Z" type="float"/></accessor></technique_common></source>
      <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>{triangle * surfaces}</mesh></geometry>
      </library_geometries>{library}<library_visual_scenes><visual_scene id="V">{nodes}</visual_scene>
      </library_visual_scenes><scene><instance_visual_scene url="#V"/></scene></COLLADA>"""
    return text.encode()


INSTANCE = '<instance_geometry url="#g"/>'
TWICE = '<library_nodes>{}<node id="n12">{}</node></library_nodes>'.format(
    "".join(f'<node id="n{k}">' + f'<instance_node url="#n{k + 1}"/>' * 2 + "</node>" for k in range(12)), INSTANCE
)
INDICES = {"bufferView": 1, "componentType": 5125, "count": 3, "type": "SCALAR"}
MATRICES = {"componentType": 5126, "count": 9_000_000, "type": "MAT4"}
SHARED = [{"componentType": 5126, "count": 10**5, "type": "VEC3"}]
COSTLY = {
    "glb-matrices": ("glb", glb(accessors=[MATRICES, INDICES]), "more than 1,000,000 triangles"),
    "glb-few-matrices": (
        "glb",
        glb(accessors=[{**MATRICES, "count": 10**5}, INDICES]),
        "more than 1,000,000 triangles",
    ),
    "glb-shared": (
        "glb",
        glb(accessors=SHARED, meshes=[{"primitives": [PRIMITIVE] * 100}]),
        "more than 1,000,000 triangles",
    ),
    "obj-corners": ("obj", b"v 0 0 0\n" * 3 + b"f" + b" 1 2 3" * 400_000, "more than 1,000,000 triangles"),
    "obj-polygons": ("obj", b"v 0 0 0\n" * 3 + (b"f" + b" 1 2 3" * 4 + b"\n") * 110_000, "more than 1,000,000 tri"),
    "dae-nodes": ("dae", dae(f"<node>{INSTANCE}</node>" * 1100), "more than 2,000 parts"),
    "dae-instances": ("dae", dae(f"<node>{INSTANCE * 2100}</node>"), "more than 2,000 parts"),
    "dae-surfaces": ("dae", dae(f"<node>{INSTANCE * 100}</node>", 100), "more than 2,000 parts"),
    "dae-doubled": ("dae", dae('<node><instance_node url="#n0"/></node>', 1, TWICE), "more than 2,000 parts"),
}


@pytest.mark.fault(2)
@pytest.mark.parametrize("name", COSTLY)
def test_a_costly_mesh_is_refused_before_it_costs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """trimesh is not asked, and the look takes less than 200 MB."""
    kind, data, says = COSTLY[name]
    trimesh = pytest.importorskip("trimesh")
    if kind == "dae":
        pytest.importorskip("collada")
    monkeypatch.setattr(trimesh, "load_scene", lambda *_, **__: pytest.fail("trimesh was asked"))
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as caught:
            parsed_mesh(data, kind)
        assert says in str(caught.value)
        assert tracemalloc.get_traced_memory()[1] < (200e6 if len(data) < 2e6 else 20 * len(data))
    finally:
        tracemalloc.stop()


def test_points_of_many_instances_are_refused_before_they_are_placed() -> None:
    """A surface of many points and one triangle at many nodes."""
    pytest.importorskip("trimesh")
    nodes = [{"mesh": 0}] * 1999
    accessors = [{"componentType": 5126, "count": 2000, "type": "VEC3"}, INDICES]
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match="more than 1,000,000 triangles"):
            parsed_mesh(glb(nodes=nodes, scenes=[{"nodes": list(range(1999))}], accessors=accessors), "glb")
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_points_of_no_face_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solids, "MOST_CORNERS", 10)
    with pytest.raises(ModelError, match="more than 1,000,000 triangles"):
        parsed_mesh(b"v 0 0 0\n" * 11 + b"f 1 2 3\n", "obj")


def test_ordinary_collada_and_polygons_are_read() -> None:
    pytest.importorskip("collada")
    assert len(parsed_mesh(dae(f"<node>{INSTANCE}</node>" * 500, 2), "dae").faces) == 1000
    corners = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv -1 0.5 0\n"
    mesh = parsed_mesh(corners + b"f 1/1/1 2//2 3\nf 1 2 3 4\nf\t1 2 3 4 5\n", "obj")
    a, b, c = mesh.vertices[mesh.faces].swapaxes(0, 1)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=-1).sum() / 2
    assert area == pytest.approx(0.5 + 1.0 + 1.5, rel=ROUNDING)


WORDS = [b"nan", b"-1", b"999999999999", b"1e999", b"\0", b"\xff\xff\xff\x7f", b"0", b"{", b"[", b"<"]


@pytest.mark.fault(2)
@pytest.mark.parametrize("kind", KINDS)
def test_mutants_give_triangles_or_a_model_error(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    valid, draw = content(kind), random.Random(kind)
    outcomes = set()
    for _ in range(150 * SOAK):
        data = bytearray(valid)
        at, length = draw.randrange(len(data)), draw.randint(1, 40)
        match draw.randrange(4):
            case 0:
                data[at] ^= 1 << draw.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at : at + draw.randrange(4)] = draw.choice(WORDS)
            case _:
                data[at:at] = data[at : at + length]
        try:
            mesh = parsed_mesh(bytes(data), kind[:3])
        except ModelError:
            outcomes.add("refused")
        else:
            outcomes.add("read")
            assert mesh.vertices.shape[1] == mesh.faces.shape[1] == 3
            assert 0 <= mesh.faces.min() <= mesh.faces.max() < len(mesh.vertices)
    assert outcomes == {"read", "refused"}
    assert capfd.readouterr().err == ""  # the library's log quotes the file


# ------------------------------------------------------------------------------------------------ nothing outside

WATCHER = """
import json, sys, warnings
from pathlib import Path
import tauforge as tf
from tauforge.pictures.solids import bodies_of

warnings.simplefilter("ignore")  # to print one, Python looks for the line of code
inside = Path(sys.argv[1])
def drawn():
    arm = tf.load(inside / "robot.urdf")
    loaded = len(events)
    return len(arm.visuals), len(bodies_of(arm.name, arm.drawing([0.1, 0.2]).solids, 100)), loaded
events = []
drawn()  # modules and libraries are imported
def watch(event, arguments):
    if event.startswith(("open", "socket", "subprocess", "urllib", "os.system", "shutil")):
        events.append([event, str(arguments[0]) if arguments else ""])
sys.addaudithook(watch)
visuals, bodies, loaded = drawn()
print(json.dumps([visuals, bodies, events[:loaded], events[loaded:]]))
"""
MESHES = ["../secret.stl", "{outside}/secret.stl", "file://{outside}/secret.stl", "http://127.0.0.1:9/a.stl"]
MESHES += ["package://model/../secret.stl", "package://{outside}/secret.stl", r"\\host\share\a.stl"]
LINKED = ["meshes/link.stl", "linked/secret.stl", "meshes/chain.stl", "meshes/hidden.stl"]  # found out when drawn


@pytest.mark.fault(3)
def test_nothing_outside_the_models_folder_is_opened(tmp_path: Path) -> None:
    """By any name, by links of files and of folders, by what a mesh refers to; nor is the network asked."""
    outside, inside = tmp_path / "outside", tmp_path / "model"
    (inside / "meshes").mkdir(parents=True)
    outside.mkdir()
    for folder in (outside, tmp_path):
        (folder / "secret.stl").write_bytes(content("stl"))
    (inside / "meshes" / "link.stl").symlink_to(outside / "secret.stl")
    (inside / "linked").symlink_to(outside, target_is_directory=True)
    (inside / "meshes" / "chain.stl").symlink_to(inside / "meshes" / "link.stl")
    (inside / "meshes" / "notes.txt").write_bytes(b"private")
    (inside / "meshes" / "hidden.stl").symlink_to(inside / "meshes" / "notes.txt")
    good = f"mtllib {outside}/secret.mtl\nusemtl a\n".encode() + content("obj")
    (inside / "meshes" / "good.obj").write_bytes(good)
    (inside / "meshes" / "same.obj").symlink_to("good.obj")
    names = [*MESHES, *LINKED, "meshes/good.obj", "package://model/meshes/same.obj"]
    shapes = "".join(
        f'<visual><geometry><mesh filename="{name.format(outside=outside)}"/></geometry></visual>' for name in names
    )
    text = changed('<link name="base"/>', f'<link name="base">{shapes}</link>')
    (inside / "robot.urdf").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", WATCHER, str(inside)], capture_output=True, text=True, check=True)
    visuals, bodies, loaded, drawn = json.loads(done.stdout)
    assert (visuals, bodies) == (len(LINKED) + 2, 2)
    assert loaded == [["open", str(inside / "robot.urdf")]]
    assert drawn == [["open", str(inside / "meshes" / "good.obj")]] * 2


@pytest.mark.parametrize("name", LINKED)
def test_links_out_of_the_folder_are_named(tmp_path: Path, name: str) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "model"
    (inside / "meshes").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.stl").write_bytes(content("stl"))
    (inside / "linked").symlink_to(outside, target_is_directory=True)
    if name.startswith("meshes"):
        (inside / name).symlink_to(outside / ("notes.txt" if "hidden" in name else "secret.stl"))
    with pytest.raises(ModelError, match=r"\.stl: the file is a link out of the model's folder, and is not opened"):
        read_mesh(MeshFile(str(inside), name))


def test_a_model_behind_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.stl").write_bytes(content("stl"))
    (tmp_path / "robot").symlink_to(tmp_path / "model", target_is_directory=True)
    assert len(read_mesh(MeshFile(str(tmp_path / "robot"), "a.stl")).faces) == 12


def test_loading_a_robot_needs_no_mesh_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trimesh", None)
    visual = '<visual><geometry><mesh filename="a.stl"/></geometry></visual>'
    path = tmp_path / "robot.urdf"
    path.write_text(changed('<link name="base"/>', f'<link name="base">{visual}</link>'), encoding="utf-8")
    (tmp_path / "a.stl").write_bytes(content("stl"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm = tf.load(path)
        assert len(arm.drawing([0.0, 0.0]).solids) == 1
    with pytest.warns(TauforgeWarning, match=r"two is drawn without some of its meshes: .*a\.stl: meshes need trimesh"):
        tf.plot(arm)
