"""Mesh files that robots name: opened inside the model's folder alone, and only up to a size."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from tauforge.errors import ModelError
from tauforge.formats.file_names import MANIFEST, PACKAGE
from tauforge.pictures.mesh_parsing import parsed_mesh
from tauforge.pictures.triangles import Mesh, sound, stretched
from tauforge.robots.visuals import LARGEST_SIZE, MeshFile

KINDS = ("stl", "obj", "ply", "glb", "dae")
MOST_BYTES = 50_000_000


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
        raise ModelError(f"the mesh is larger than {MOST_BYTES // 10**6} MB", remedy="Give it fewer triangles")
    return data
