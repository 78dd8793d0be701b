"""The solids of a drawing as triangles, in their own frames: made once, placed by the drawing of any position."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import struct
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, TauforgeWarning
from tauforge.extras import extra_for
from tauforge.formats.model_files import MANIFEST, PACKAGE
from tauforge.pictures import triangles
from tauforge.pictures.triangles import Mesh, sound, stretched, thinned
from tauforge.robots.drawing import LARGEST_SIZE, Box, CylinderShape, Drawing, MeshFile, Shape, Solid, Sphere
from tauforge.robots.plausibility import levels_to_the_caller
from tauforge.validation import listed

MESH_KINDS = ("stl", "obj", "ply", "glb", "dae")
MOST_BYTES = 50_000_000
MOST_MESH_FACES = 1_000_000
MOST_CORNERS = 3 * MOST_MESH_FACES
MOST_NUMBERS = 30_000_000  # that the tables of a GLB file promise, and no more than:
FEW_NUMBERS, NUMBERS_PER_BYTE = 1_000_000, 4  # tables may be shared, but a small file has small ones
NUMBERS_PER_ROW = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}  # of a GLB table
MOST_PARTS = 2_000  # nodes and surfaces of a GLB or COLLADA file: trimesh handles each by itself
SURFACES = ("triangles", "polylist", "polygons", "tristrips", "trifans", "lines", "linestrips")  # of COLLADA
MOST_INSTANCES = 20  # nodes that stand for others in a COLLADA file
TOO_MANY = f"the mesh has more than {MOST_MESH_FACES:,} triangles"
FEWER = "Give it fewer triangles"
MOST_LETTERS = 100  # of a message of trimesh's, which may quote the file


def read_mesh(file: MeshFile) -> Mesh:
    """The triangles of a file, scaled, in m. Shapes (v, 3) and (f, 3).

    ModelError for a file that lies outside the model's folder (links are followed to their ends first), is missing, too
    large, of another kind or broken, or where trimesh is not installed. The first two are never opened.
    """
    path, kind = _place(file)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            mesh = sound(stretched(parsed_mesh(_content(path, file.given), kind), np.array(file.scale)))
        if not np.abs(mesh.vertices).max(initial=0.0) <= LARGEST_SIZE:
            raise ModelError(f"expected corners within {LARGEST_SIZE:g} m")
        return mesh
    except ModelError as error:
        raise error.located(path) from None


def _place(file: MeshFile) -> tuple[Path, str]:
    """The path without links, and which kind of file it is."""
    kind = file.name.rpartition(".")[2].lower()
    if kind not in MESH_KINDS:
        problem = f"meshes of this kind are not read: {file.given or file.name!r}"
        raise ModelError(problem, remedy=f"Known: {', '.join(MESH_KINDS)}")
    if file.folder is None:
        problem = f"the mesh {file.given or file.name!r} has no folder: the robot was read from a text"
        raise ModelError(problem, remedy="Load the robot from its file")
    given = Path(file.folder, *file.name.split("/"))
    root, path = Path(os.path.realpath(file.folder)), Path(os.path.realpath(given))
    if root not in path.parents:
        raise ModelError("the file is a link out of the model's folder, and is not opened", file=given)
    if path.suffix.lower() != f".{kind}":
        raise ModelError("the file is a link to one of another kind, and is not opened", file=given)
    return path, kind


def _content(path: Path, given: str) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would block, a device never end
            raise ModelError("expected a regular file")
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        package = given.removeprefix(PACKAGE).partition("/")[0] if given.startswith(PACKAGE) else None
        where = f"the nearest folder {package} around the URDF with a {MANIFEST}, or a folder beside the URDF"
        remedy = None if package is None else f"{PACKAGE}{package} is {where}"
        raise ModelError(f"the mesh cannot be read: {error.strerror}", remedy=remedy) from None
    if len(data) > MOST_BYTES:
        raise ModelError(f"the mesh is larger than {MOST_BYTES // 10**6} MB", remedy=FEWER)
    return data


def parsed_mesh(data: bytes, kind: str) -> Mesh:
    """The triangles of a file's content, in m, shapes (v, 3) and (f, 3).

    kind: "stl", "obj", "ply", "glb" or "dae"
    ModelError for a broken file, one with more than a million triangles, or where trimesh or pycollada is missing.
    """
    with extra_for("meshes need", "viewer"):
        import trimesh
    options: dict[str, Any] = {"file_type": kind, "resolver": NoOtherFiles(), "process": False}
    if kind != "dae":
        options["skip_materials"] = True
    try:
        with _silence():
            return _whole(trimesh.load_scene(io.BytesIO(_modest(data, kind)), **options), trimesh.Trimesh)
    except ModelError:
        raise
    except Exception as error:  # whatever parsers meet in a broken file
        reason = shorten(str(error), MOST_LETTERS, placeholder="...")
        raise ModelError(f"trimesh cannot read the mesh: {type(error).__name__}: {reason}") from None


def _modest(data: bytes, kind: str) -> bytes:
    """The content, if it costs no more than its size suggests."""
    match kind:
        case "obj":
            return _corners_and_faces(data)
        case "glb":
            _check_glb(data)
        case "dae":
            _check_collada(data)
    return data


def _corners_and_faces(data: bytes) -> bytes:
    """An OBJ file without groups and materials, which trimesh would go through one by one, nor normals and textures."""
    lines = re.sub(rb"\\\r?\n", b" ", data).splitlines()
    faces = [line for line in lines if line.startswith((b"f ", b"f\t"))]
    corners = [line for line in lines if line.startswith((b"v ", b"v\t"))]
    if len(corners) > MOST_CORNERS or sum(max(1, len(line.split()) - 3) for line in faces) > MOST_MESH_FACES:
        raise ModelError(TOO_MANY, remedy=FEWER)
    triangles: list[bytes] = []  # trimesh handles faces of each number of corners by themselves
    for line in faces:
        own = re.sub(rb"/[-+0-9]*", b"", line).split()[1:]
        triangles += (b"f %b %b %b" % (own[0], b, c) for b, c in pairwise(own[1:]))
    return b"\n".join([*(b" ".join(line.split()[:4]) for line in corners), *triangles])


def _check_glb(data: bytes) -> None:
    """A few letters may promise tables of any length, and repeat a surface any number of times."""
    length, chunk = struct.unpack_from("<I4s", data, 12)
    if chunk != b"JSON":
        raise ModelError("expected a GLB file that begins with its JSON")
    tree = json.loads(data[20 : 20 + length])
    if any("uri" in buffer for buffer in tree.get("buffers", [])):
        raise ModelError("the mesh has its numbers in another file, which is not opened")
    surfaces = [surface for mesh in tree.get("meshes", []) for surface in mesh["primitives"]]
    if len(tree.get("nodes", [])) > MOST_PARTS or len(surfaces) > MOST_PARTS:
        raise ModelError(f"the mesh has more than {MOST_PARTS:,} parts", remedy="Join them")
    sizes = [abs(table["count"]) * NUMBERS_PER_ROW[table["type"]] for table in tree.get("accessors", [])]
    tables = [[*surface["attributes"].values(), surface.get("indices")] for surface in surfaces]
    used = [sizes[k] for own in tables for k in own if k is not None]  # one table may be that of many surfaces
    if max(sum(sizes), sum(used)) > min(MOST_NUMBERS, FEW_NUMBERS + NUMBERS_PER_BYTE * len(data)):
        raise ModelError(TOO_MANY, remedy=FEWER)


def _check_collada(data: bytes) -> None:
    """pycollada would unpack archives and expand entities without bound, and trimesh nodes in nodes in nodes."""
    if find_spec("collada") is None:
        raise ModelError("COLLADA meshes (.dae) need pycollada", remedy="Run pip install pycollada")
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise ModelError("expected the text of a COLLADA file")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\0" in data:
        raise ModelError("a DOCTYPE is not accepted: it could define entities")
    if data.count(b"instance_node") > 2 * MOST_INSTANCES:  # with names at both ends
        raise ModelError(f"the mesh has more than {MOST_INSTANCES} instances of nodes")
    if _collada_parts(ElementTree.fromstring(data)) > MOST_PARTS:
        raise ModelError(f"the mesh has more than {MOST_PARTS:,} parts", remedy="Join them")


def _collada_parts(root: ElementTree.Element) -> int:
    """Nodes and surfaces of the scenes, as often as instances repeat them."""

    def name(element: ElementTree.Element) -> str:
        return str(element.tag).rpartition("}")[2]

    every = list(root.iter())
    surfaces = {
        f"#{one.get('id')}": max(1, sum(name(part) in SURFACES for part in one.iter()))
        for one in every
        if name(one) == "geometry"
    }
    nodes = {f"#{one.get('id')}": one for one in every if name(one) == "node"}
    known: dict[ElementTree.Element, int] = {}

    def parts(element: ElementTree.Element) -> int:
        match name(element):
            case "instance_geometry":
                return surfaces.get(element.get("url", ""), 0)
            case "instance_node":
                return parts(nodes[element.get("url", "")])
            case "node" | "visual_scene":
                if element not in known:
                    known[element] = 1 + sum(parts(inner) for inner in element)
                return known[element]
        return 0

    return sum(parts(one) for one in every if name(one) == "visual_scene")


@contextmanager
def _silence() -> Iterator[None]:
    """Without what the library says by itself, which quotes the file; we say what matters."""
    log = logging.getLogger("trimesh")
    before, log.disabled = log.disabled, True
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        log.disabled = before


def _whole(scene: Any, surface: type) -> Mesh:
    """All surfaces of a scene as one, each where it is placed. Points and lines are left out."""
    placed = [scene.graph[node] for node in scene.graph.nodes_geometry]
    parts = [(np.asarray(pose, float), scene.geometry[name]) for pose, name in placed]
    parts = [(pose, part) for pose, part in parts if isinstance(part, surface)]
    count = sum(len(part.faces) for _, part in parts)
    corners = sum(len(part.vertices) for _, part in parts)
    if not count:
        raise ModelError("the mesh has no triangles")
    if count > MOST_MESH_FACES or corners > MOST_CORNERS:
        raise ModelError(TOO_MANY, remedy=FEWER)
    vertices, faces, before = [], [], 0
    for pose, part in parts:
        own = np.asarray(part.faces, np.int64)
        if len(own) and not 0 <= own.min() <= own.max() < len(part.vertices):
            raise ModelError("a triangle of the mesh has a corner that is not there")
        # COLLADA files say what their unit is; trimesh passes it on as "0.001 * meters"
        factor, metres, _ = str(part.metadata.get("units") or "").partition(" * meters")
        unit = float(factor) if metres else 1.0
        vertices.append(unit * (np.asarray(part.vertices, float) @ pose[:3, :3].T + pose[:3, 3]))
        faces.append(own + before)
        before += len(part.vertices)
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


class NoOtherFiles:
    """In place of trimesh's resolvers: nothing that a mesh refers to is looked for."""

    def get(self, name: str) -> NoReturn:
        raise FileNotFoundError(f"{name!r} is another file, and is not opened")

    __getitem__ = get

    def namespaced(self, namespace: str) -> NoOtherFiles:
        return self


UNSAID = (0.62, 0.66, 0.71, 1.0)  # of solids without a colour
MOST_TOLD = 3  # files that the warning names


class SolidMesh(NamedTuple):
    """One solid as triangles.

    solid:    which of the drawing's solids it is
    mesh:     m, in its own frame
    rgba:     (4,) 0 to 1
    is_round: whether its corners have the normals of a smooth surface
    """

    solid: int
    mesh: Mesh
    rgba: tuple[float, ...]
    is_round: bool


def bodies_of(robot: str, solids: Sequence[Solid], most: int) -> list[SolidMesh]:
    """Every solid that can be seen. Mesh files are read here; one warning names those that cannot be.

    robot: its name, for the warning
    most:  triangles of one body; finer ones are thinned out
    """
    found: list[SolidMesh] = []
    read: dict[Shape, Mesh | None] = {}  # many robots use one file several times
    faults: list[str] = []
    for index, solid in enumerate(solids):
        rgba = UNSAID if solid.rgba is None else solid.rgba
        if rgba[3] == 0:
            continue
        if solid.shape not in read:
            try:
                read[solid.shape] = thinned(mesh_of(solid.shape), most)
            except ModelError as error:
                read[solid.shape] = None
                faults.append(str(error))
        if (mesh := read[solid.shape]) is not None and len(mesh.faces):
            found.append(SolidMesh(index, mesh, rgba, not isinstance(solid.shape, MeshFile)))
    if faults:
        text = f"{robot} is drawn without some of its meshes: {listed(faults, MOST_TOLD, '; ')}"
        warnings.warn(text, TauforgeWarning, stacklevel=levels_to_the_caller())
    return found


def mesh_of(shape: Shape) -> Mesh:
    """The triangles of a shape, m, in its own frame; ModelError for a file that is not read."""
    match shape:
        case Box(size):
            return sound(stretched(triangles.box(), np.array(size)))
        case CylinderShape(radius, length):
            vertices, faces = triangles.cylinder()
            centred = Mesh(vertices - (0.0, 0.0, 0.5), faces)
            return sound(stretched(centred, np.array([radius, radius, length])))
        case Sphere(radius):
            return sound(stretched(triangles.ball(), np.full(3, radius)))
        case MeshFile():
            return read_mesh(shape)


def corners_at(bodies: Sequence[SolidMesh], drawing: Drawing, k: int) -> list[Array]:
    """The triangles (f, 3, 3) m of every body in position k of the drawing, world."""
    return [_placed(body, drawing.solids[body.solid].transform[k])[body.mesh.faces] for body in bodies]


def extent_with(bodies: Sequence[SolidMesh], drawing: Drawing) -> tuple[Array, Array]:
    """(3,) the smallest and the largest coordinates in all positions of the drawing, m, bodies included."""
    lows, highs = ([each] for each in drawing.extent)
    for body in bodies:
        for pose in drawing.solids[body.solid].transform.reshape(-1, 4, 4):
            vertices = _placed(body, pose)
            lows.append(vertices.min(axis=0))
            highs.append(vertices.max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _placed(body: SolidMesh, pose: Array) -> Array:
    return np.asarray(body.mesh.vertices @ pose[:3, :3].T + pose[:3, 3])
