"""Mesh files that robots name, read by trimesh: from inside the model's folder alone, and with bounds on their size.

Files come from anyone. What a mesh refers to itself, such as materials and textures, is never opened.
"""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tauforge.errors import ModelError
from tauforge.pictures.triangles import Mesh, sound, stretched
from tauforge.robots.visuals import LARGEST_SIZE, MeshFile

KINDS = ("stl", "obj", "ply", "glb", "dae")
MOST_BYTES = 50_000_000
MOST_FACES = 1_000_000


def read_mesh(file: MeshFile) -> Mesh:
    """The triangles of a file, scaled, in m. Shapes (v, 3) and (f, 3).

    ModelError for a file that lies outside the model's folder (links are followed to their ends first), is missing, too
    large, of another kind or broken, or where trimesh is not installed. The first two are never opened.
    """
    path, kind = _place(file)
    try:
        mesh = stretched(_triangles(_content(path), kind), np.array(file.scale))
        if not np.abs(mesh.vertices).max(initial=0.0) <= LARGEST_SIZE:
            raise ModelError(f"expected corners within {LARGEST_SIZE:g} m")
        return sound(mesh)
    except ModelError as error:
        raise error.located(path) from None


def _place(file: MeshFile) -> tuple[Path, str]:
    """The path without links, and which kind of file it is."""
    kind = file.name.rpartition(".")[2].lower()
    if kind not in KINDS:
        raise ModelError(
            f"meshes of this kind are not read: {file.given or file.name!r}", remedy=f"Known: {', '.join(KINDS)}"
        )
    if file.folder is None:
        raise ModelError(
            f"the mesh {file.given or file.name!r} has no folder: the robot was read from a text",
            remedy="Load the robot from its file",
        )
    given = Path(file.folder, *file.name.split("/"))
    root, path = Path(os.path.realpath(file.folder)), Path(os.path.realpath(given))
    if root not in path.parents:
        raise ModelError("the file is a link out of the model's folder, and is not opened", file=given)
    if path.suffix.lower() != f".{kind}":
        raise ModelError("the file is a link to one of another kind, and is not opened", file=given)
    return path, kind


def _content(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would block, a device never end
            raise ModelError("expected a regular file")
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise ModelError(f"the mesh cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise ModelError(f"the mesh is larger than {MOST_BYTES // 10**6} MB", remedy="Give it fewer triangles")
    return data


def _triangles(data: bytes, kind: str) -> Mesh:
    try:
        import trimesh
    except ImportError:
        raise ModelError("meshes need trimesh", remedy="Run pip install tauforge[viewer]") from None
    if kind == "dae":
        _check_collada(data)
    options: dict[str, Any] = {"file_type": kind, "resolver": NoOtherFiles(), "process": False}
    if kind != "dae":
        options["skip_materials"] = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library's own, about files that it reads none the less
            return _whole(trimesh.load_scene(io.BytesIO(data), **options), trimesh.Trimesh)
    except ModelError:
        raise
    except Exception as error:  # whatever its parsers meet in a broken file
        reason = " ".join(str(error).split())[:100]
        raise ModelError(f"trimesh cannot read the mesh: {type(error).__name__}: {reason}") from None


def _whole(scene: Any, surface: type) -> Mesh:
    """All surfaces of a scene as one, each where it is placed. Points and lines are left out."""
    placed = [scene.graph[node] for node in scene.graph.nodes_geometry]
    parts = [(np.asarray(pose, float), scene.geometry[name]) for pose, name in placed]
    parts = [(pose, part) for pose, part in parts if isinstance(part, surface)]
    count = sum(len(part.faces) for _, part in parts)
    if not count:
        raise ModelError("the mesh has no triangles")
    if count > MOST_FACES:
        raise ModelError(f"the mesh has more than {MOST_FACES:,} triangles", remedy="Give it fewer triangles")
    vertices, faces, before = [], [], 0
    for pose, part in parts:
        own = np.asarray(part.faces, np.int64)
        if len(own) and not 0 <= own.min() <= own.max() < len(part.vertices):
            raise ModelError("a triangle of the mesh has a corner that is not there")
        unit = _metres(part.metadata.get("units"))
        vertices.append(unit * (np.asarray(part.vertices, float) @ pose[:3, :3].T + pose[:3, 3]))
        faces.append(own + before)
        before += len(part.vertices)
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


def _metres(unit: object) -> float:
    """COLLADA files say what their unit is; trimesh passes it on as "0.001 * meters"."""
    factor = str(unit or "").partition(" * meters")
    return float(factor[0]) if factor[1] else 1.0


def _check_collada(data: bytes) -> None:
    """pycollada would unpack archives and expand entities, both without bound."""
    try:
        import collada  # noqa: F401
    except ImportError:
        raise ModelError("COLLADA meshes (.dae) need pycollada", remedy="Run pip install pycollada") from None
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise ModelError("expected the text of a COLLADA file")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\0" in data[:4]:
        raise ModelError("a DOCTYPE is not accepted: it could define entities")


class NoOtherFiles:
    """In place of trimesh's resolvers: nothing that a mesh refers to is looked for."""

    def get(self, name: str) -> NoReturn:
        raise FileNotFoundError(f"{name!r} is another file, and is not opened")

    __getitem__ = get

    def namespaced(self, namespace: str) -> NoOtherFiles:
        return self
