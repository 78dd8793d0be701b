"""Where the mesh files that a URDF names may lie: in the folder of the URDF, or in the package that it is in.

Nothing is opened here. A name that leads anywhere else is refused before anybody could open it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tauforge.errors import ModelError
from tauforge.formats.relative_names import relative_parts
from tauforge.formats.xml_lines import Element

PACKAGE = "package://"
MANIFEST = "package.xml"
REMEDY = (
    "Keep meshes in the folder of the URDF, or name them package://FOLDER/... by a folder with a package.xml that the "
    "URDF is in"
)


class MeshPlace(NamedTuple):
    """folder: an absolute path, or None where the description came from no file; name: the file within it"""

    folder: str | None
    name: str


def mesh_place(mesh: Element) -> MeshPlace:
    """The place of the file that a <mesh> names; ModelError where it is outside the model's folder.

    package://NAME/rest is rest in the folder of the URDF if that is called NAME, else in the nearest folder called NAME
    around it that has a package.xml. Where there is none, NAME is a folder beside the URDF. Every other name is
    relative to the URDF.
    """
    given = mesh.text("filename")
    folder = mesh.file.absolute().parent if isinstance(mesh.file, Path) else None
    path = given
    if given.startswith(PACKAGE):
        path = given.removeprefix(PACKAGE)
        package, slash, rest = path.partition("/")
        around = None if folder is None else _package(folder, package)
        if package and slash and around is not None:
            folder, path = around, rest
    try:
        parts = relative_parts(given, path)
    except ModelError as error:
        raise mesh.fault(error.problem, field="mesh filename", remedy=REMEDY) from None
    return MeshPlace(None if folder is None else str(folder), "/".join(parts))


def _package(folder: Path, name: str) -> Path | None:
    """The package of this name that a folder is in. Any other folder around it, such as a home folder, is none."""
    if folder.name == name:
        return folder
    return next((one for one in folder.parents if one.name == name and (one / MANIFEST).is_file()), None)
