"""Robots by name or from a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from tauforge.errors import ModelError, in_file
from tauforge.formats.model_files import parse, read_toml
from tauforge.formats.toml_schema import TomlFormat
from tauforge.robots.robot import Robot
from tauforge.validation import did_you_mean, shown

if TYPE_CHECKING:
    from tauforge.formats.xml_reader import Element
    from tauforge.robots.mechanism.mechanism import Mechanism
    from tauforge.robots.serial.serial_arm import SerialArm
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

CATALOGUE_FOLDER = Path(__file__).with_name("catalogue")
# Names of the catalogue by what they are, so that type checkers know what `load` gives.
ArmName = Literal["panda", "planar-2r", "puma560", "puma560-armstrong", "scara", "stanford"]
PlatformName = Literal["box", "dasgupta1998", "dietmaier", "mathworks-hexapod", "motion-rig", "pedrammehr2012"]
MechanismName = Literal[
    "3-rps",
    "andrews",
    "bricard",
    "delta",
    "delta-parallelograms",
    "five-bar",
    "flyball-governor",
    "four-bar",
    "gripper",
    "hexapod-6rus",
    "palletiser",
    "planar-3rrr",
    "slider-crank",
]
DEFAULT_FORMAT = "tauforge-arm-1"  # that of files which name none
TEXT_SOURCE = "<text>"  # what messages call a text that comes from no file


class Options(TypedDict, total=False):
    """Keyword arguments of `load` and `loads`; None for what is not given."""

    tip: str | None
    lock: Mapping[str, float] | None
    loops: Sequence[Any] | None
    home: Mapping[str, float] | None
    tool: str | None
    actuated: Sequence[str] | None


def catalogue() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(path.stem for path in CATALOGUE_FOLDER.glob("*.toml"))


@overload
def load(name_or_path: ArmName) -> SerialArm: ...
@overload
def load(name_or_path: PlatformName) -> StewartPlatform: ...
@overload
def load(name_or_path: MechanismName) -> Mechanism: ...
@overload
def load(name_or_path: str | os.PathLike[str], **options: Unpack[Options]) -> Robot: ...
def load(
    name_or_path: str | os.PathLike[str],
    *,
    tip: str | None = None,
    lock: Mapping[str, float] | None = None,
    loops: Sequence[Any] | None = None,
    home: Mapping[str, float] | None = None,
    tool: str | None = None,
    actuated: Sequence[str] | None = None,
) -> Robot:
    """A robot of the catalogue by its name, or one from a .toml, .urdf or .xml (MJCF) file.

    A SerialArm, a StewartPlatform or a Mechanism. A URDF whose moving joints are one chain is an arm; one with
    branches, mimics, floating or planar joints, or loops is a mechanism.

    tip:   of a URDF, the link whose frame is the tool frame; the chain that leads to it is the robot. By default an
           arm's is the only link that ends the chain, or the link of the last moving joint if there are several, and a
           mechanism's tool is the last link; `sources` says which.
    lock:  of a URDF, joint names and the coordinates (rad or m) they are held at; joints that mimic them are held too
    loops: of a URDF, joints such as `Spherical` or `Hinge` between two links that close loops. Their points and axes
           are in the world frame where every joint is at 0. (joint, point) if the point on the child is elsewhere then,
           (joint, point, axis) for a hinge whose axis is, too: the loops are then closed by Newton's method.
    home:  of a URDF, joint names and coordinates from which loops are closed; the home position is where that leads
    tool:  of a URDF or MJCF, the link whose frame is the tool frame; unlike with `tip`, all branches stay
    actuated: of a URDF with branches or loops, names of the joints that have actuators; by default all that are neither
           fixed nor follow others
    `loads` reads the text of such a file.
    """
    options = Options(tip=tip, lock=lock, loops=loops, home=home, tool=tool, actuated=actuated)
    if not isinstance(name_or_path, str | os.PathLike):
        raise ModelError(f"expected a catalogue name or a path, got {name_or_path!r}", field="load")
    if isinstance(name_or_path, str) and _is_text(name_or_path):
        problem = f"expected a catalogue name or a path, got a string of {len(name_or_path)} characters"
        raise ModelError(problem, field="load", remedy="tauforge.loads(text) reads the text of a model file")
    path = Path(name_or_path)
    suffix = path.suffix.lower()
    if suffix in XML_SUFFIXES:
        from tauforge.formats.xml_reader import read_xml  # few robots need it

        return _xml_robot(read_xml(path), options)
    _refuse_urdf_options(repr(str(name_or_path)), options)
    if suffix == ".toml":
        return read_robot(path)
    if suffix == "" and isinstance(name_or_path, str) and path.name == name_or_path:
        return read_robot(_catalogue_file(name_or_path))
    if suffix == ".xacro":
        expanded = path.with_suffix("") if path.stem.endswith(XML_SUFFIXES) else path.with_suffix(".urdf")
        remedy = f"Run `xacro {path.name} > {expanded.name}` and load {expanded.name}"
        raise ModelError("the file is a template of xacro, which must be expanded first", file=path, remedy=remedy)
    if os.path.isdir(path):  # as Path.is_dir, which raises OSError for a name too long for any file
        raise ModelError("expected a file, got a folder", file=path)
    remedy = f"Give a file that ends in .toml, .urdf or .xml, or one of {', '.join(catalogue())}"
    raise ModelError(f"unknown suffix {path.suffix!r}", file=path, remedy=remedy)


def loads(
    text: str,
    *,
    tip: str | None = None,
    lock: Mapping[str, float] | None = None,
    loops: Sequence[Any] | None = None,
    home: Mapping[str, float] | None = None,
    tool: str | None = None,
    actuated: Sequence[str] | None = None,
) -> Robot:
    """A robot from the text of a model file: URDF or MJCF if it begins with `<`, TOML otherwise; see `load`.

    For descriptions that are not files, such as the `robot_description` of ROS.
    """
    options = Options(tip=tip, lock=lock, loops=loops, home=home, tool=tool, actuated=actuated)
    if not isinstance(text, str):
        raise ModelError(
            f"expected the text of a model file, got {shown(text)}",
            field="loads",
            remedy="Decode it first: text.decode()" if isinstance(text, bytes) else None,
        )
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise ModelError("the text contains an unpaired surrogate", file=TEXT_SOURCE, line=line) from None
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        from tauforge.formats.xml_reader import parse_xml

        return _xml_robot(parse_xml(data.lstrip(), TEXT_SOURCE), options)  # nothing may stand before <?xml
    if text.strip() and not _is_text(text) and "=" not in text:
        remedy = "tauforge.load(name_or_path) reads files and the catalogue"
        raise ModelError(f"expected the text of a model file, got {shown(text)}", field="loads", remedy=remedy)
    _refuse_urdf_options("the text", options)
    with in_file(TEXT_SOURCE):
        return robot_of(parse(data))


XML_SUFFIXES = (".urdf", ".xml")


def _xml_robot(root: Element, options: Options) -> Robot:
    module = "mjcf" if root.tag == "mujoco" else "urdf"  # slow to import, and few robots need them
    robot: Robot = import_module(f"tauforge.formats.{module}").robot_of(root, **options)
    return robot


def _is_text(name: str) -> bool:
    """True for the content of a file: no name begins with < or has several lines."""
    return "\n" in name or name.lstrip("\ufeff \t\r").startswith("<")


URDF_REMEDIES = {
    "tool": "A mechanism's tool is chosen by replace(tool=...)",
    "loops": 'A TOML file of a mechanism has its loops as [[joint]], also on top of a URDF: urdf = "robot.urdf"',
}


def _refuse_urdf_options(what: str, options: Options) -> None:
    for argument, value in options.items():
        if value is not None:
            formats = "URDF and MJCF" if argument == "tool" else "URDF"
            problem = f"{argument} applies to {formats} files only, and {what} is not one"
            remedy = URDF_REMEDIES.get(argument, "Leave it out, or load a path that ends in .urdf")
            raise ModelError(problem, field=argument, remedy=remedy)


# formats of TOML files by name, or the module that has one called `toml_format`: robots of other kinds are not imported
FORMATS: dict[str, TomlFormat | str] = {
    DEFAULT_FORMAT: "tauforge.formats.arm_toml",
    "tauforge-platform-1": "tauforge.formats.platform_toml",
    "tauforge-mechanism-1": "tauforge.formats.mechanism_toml",
}


def register_format(name: str, read: Callable[[dict[str, Any]], Robot]) -> None:
    """From now on, in this process, TOML files with this `format` are read by this function.

    name: such as "my-robot-1"
    read: the robot of a file's values, a dict; it raises ModelError where they are wrong

    For kinds of robot that the package does not know: `load`, `loads` and the command line read their files then.
    """
    if not isinstance(name, str) or not name:
        raise ModelError(f"expected a string, got {shown(name)}", field="format")
    if not callable(read):
        raise ModelError(f"expected a function that reads a file's values, got {shown(read)}", field="read")
    if name in FORMATS:
        problem = f"the format {shown(name)} is already registered"
        raise ModelError(problem, field="format", remedy="Choose another name")
    FORMATS[name] = TomlFormat(read)


def format_of(values: Mapping[str, Any]) -> TomlFormat:
    """The format of a TOML file's values."""
    name = values.get("format", DEFAULT_FORMAT)
    if not isinstance(name, str) or name not in FORMATS:
        *most, last = (f'"{known}"' for known in FORMATS)
        remedy = f"This version reads {', '.join(most)} and {last}"
        raise ModelError(f"unknown format {shown(name)}", field="format", remedy=remedy)
    found = FORMATS[name]
    if isinstance(found, str):
        found = FORMATS[name] = import_module(found).toml_format
    return found


def read_robot(path: Path) -> Robot:
    """The robot of a TOML file; a ModelError names the file."""
    with in_file(path):
        values = read_toml(path)
        return robot_of(format_of(values).with_paths(values, path))


def robot_of(values: dict[str, Any]) -> Robot:
    """The robot of a TOML file's values, of the kind that its format names."""
    name = values.get("format", DEFAULT_FORMAT)  # before it is read: the values are the reader's
    robot: object = format_of(values).read(values)
    if not isinstance(robot, Robot):
        raise ModelError(f"the function that reads {shown(name)} returned {shown(robot)}, not a Robot", field="format")
    return robot


def _catalogue_file(name: str) -> Path:
    names = catalogue()
    if name not in names:
        remedy = f"{did_you_mean(name, names)}Known: {', '.join(names)}; files end in .toml, .urdf or .xml"
        raise ModelError(f"no robot named {shown(name)} in the catalogue", remedy=remedy)
    return CATALOGUE_FOLDER / f"{name}.toml"


# ------------------------------------------------------------------------------------------------- everything wrong

MAX_FAULTS = 50  # that are looked for behind the first
Values = dict[str, Any]  # of a table, by key
LISTS = ("body", "joint", "spring", "known_exception", "source")  # keys that hold tables


def further_faults(path: Path, first: ModelError) -> list[ModelError]:
    """Further faults of a TOML file. A reader stops at the first fault.

    So the value at fault is replaced by one that is known to be good, and the file is read again, until nothing new is
    found.
    """
    try:
        values = read_toml(path)
        form = format_of(values)
    except ModelError:
        return []  # no TOML, or of an unknown format
    good = {**({} if form.example is None else read_toml(_catalogue_file(form.example))), **form.suitable}
    nowhere = path / "nowhere"  # no file is in a file: reading ends there, after all that needs no other file
    missing: set[str | None] = set()
    try:
        values = form.with_paths(values, path)
    except ModelError as fault:
        missing = {fault.field}
        values |= {key: nowhere for key in form.files if isinstance(values.get(key), str)}
    error, found = first, dict[tuple[str | None, str], ModelError]()
    while len(found) <= MAX_FAULTS and error.file != nowhere and (error.field, error.reason) not in found:
        found[error.field, error.reason] = error
        if error.field not in missing and not _repaired(values, error, good):
            break
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                form.read(values)
            break
        except ModelError as following:
            error = following
    return list(found.values())[1:]


def _repaired(values: Values, error: ModelError, good: Values) -> bool:
    """Puts a good value where the fault is, or takes away what is unknown; whether there is such a place."""
    owner, key, donor = _place(values, error, good)
    if key in LISTS:  # other bodies or joints would have faults of their own
        return False
    if key in donor and key != error.key:
        owner[key] = donor[key]
        return True
    return owner.pop(key, None) is not None


def _place(values: Values, error: ModelError, good: Values) -> tuple[Values, str, Values]:
    """The table and key of the value that the field of the error names, or of that which holds it; and a good table.

    Where there is no such value, the table is empty.
    """
    tables = {"": (values, good)}
    for name in LISTS:
        given = values.get(name)
        for k, table in enumerate(given if isinstance(given, list) else (), 1):
            if isinstance(table, dict):
                tables[f"{name}[{k}]"] = (table, good.get(name, [{}])[0])
    field = error.field or ""
    if error.key is not None and field in tables:
        return tables[field][0], error.key, tables[field][1]
    for path, (owner, donor) in tables.items():
        for key in {**owner, **donor}:
            name = f"{path}.{key}" if path else key
            inside = (f"{name}.",) if name in LISTS else (f"{name}.", f"{name}[")
            if field == name or field.startswith(inside):
                return owner, key, donor
    return {}, "", {}
