"""Everything that is wrong with a model file, not only the first.

A reader stops at the first fault. Here the value at fault is replaced by one that is known to be good, and the file is
read again, until nothing new is found.
"""

from __future__ import annotations

import tomllib
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from tauforge.cli.arguments import CATALOGUE, bad, load_robot
from tauforge.errors import ModelError

MOST = 50  # problems that are looked for
LISTS = ("joint", "known_exception", "source")  # keys that hold tables
GOOD = {"arm": "puma560", "platform": "motion-rig"}  # files whose values are good
SYMMETRIC = {  # values of a platform that are good with every kind of base joint
    "friction": [0.0, 0.0, 0.0],
    "lower_com": [0.0, 0.0, 0.0],
    "upper_com": [0.0, 0.0, 0.0],
    "lower_inertia": [1.0, 1.0, 1.0],
    "upper_inertia": [1.0, 1.0, 1.0],
}


class Checked(NamedTuple):
    """summary: what the robot is, if the file is good."""

    problems: list[str]
    warnings: list[str]
    summary: str


def checked(path: Path, tip: str | None, lock: list[str] | None) -> Checked:
    if path.suffix.lower() not in (".toml", ".urdf"):
        raise bad("FILE", f"expected a name that ends in .toml or .urdf, got {str(path)!r}")
    if not path.is_file():
        raise bad("FILE", f"{path} is not a file")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            robot = load_robot(str(path), tip, lock)
        except ModelError as error:
            others = _others(path, error) if path.suffix.lower() == ".toml" else []
            return Checked([_text(error), *others], [], "")
    texts = [str(warning.message) for warning in caught]
    return Checked([], texts + _worries(robot), _summary(robot))


def _text(error: ModelError) -> str:
    """Without the file, which stands above all of them."""
    place = [] if error.line is None else [f"line {error.line}"]
    text = ": ".join([*place, *filter(None, [error.field]), error.reason])
    return text if error.remedy is None else f"{text}. {error.remedy}"


def _others(path: Path, first: ModelError) -> list[str]:
    """Faults behind the first."""
    from tauforge.robots.readers import arm_toml, platform_toml
    from tauforge.robots.readers.toml_guard import read_toml

    try:
        values = read_toml(path)
    except ModelError:
        return []  # not even TOML
    if first.field == "format":
        return []  # nobody knows what the rest should be
    platform = values.get("format") == platform_toml.FORMAT
    good = tomllib.loads((CATALOGUE / f"{GOOD['platform' if platform else 'arm']}.toml").read_text(encoding="utf-8"))
    good |= SYMMETRIC if platform else {}
    found: list[str] = []
    error, before = first, set[tuple[str | None, str]]()
    while len(found) < MOST and (error.field, error.reason) not in before:
        before.add((error.field, error.reason))
        if not _repaired(values, error, good):
            break
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (platform_toml.platform_of if platform else arm_toml.arm_of)(values)
            break
        except ModelError as following:
            error = following
            if (error.field, error.reason) not in before:
                found.append(_text(error))
    return found


class Place(NamedTuple):
    """Where a value of the file stands: under `key` in the table `owner`. donor: a good table of the same kind."""

    owner: dict[str, Any]
    key: str
    donor: dict[str, Any]


def _repaired(values: dict[str, Any], error: ModelError, good: dict[str, Any]) -> bool:
    """Puts a good value where the fault is, or takes away what is unknown; whether there is such a place."""
    place = _place(values, error, good)
    if place is None:
        return False
    if place.key in place.donor and place.key != error.key:
        place.owner[place.key] = place.donor[place.key]
        return True
    return place.owner.pop(place.key, None) is not None


def _place(values: dict[str, Any], error: ModelError, good: dict[str, Any]) -> Place | None:
    """The value that the field of the error names, or the value that holds it."""
    tables = {"": (values, good)}
    for name in LISTS:
        given = values.get(name)
        for k, table in enumerate(given if isinstance(given, list) else (), 1):
            if isinstance(table, dict):
                tables[f"{name}[{k}]"] = (table, good.get(name, [{}])[0])
    field = error.field or ""
    if error.key is not None and field in tables:
        return Place(tables[field][0], error.key, tables[field][1])
    for path, (owner, donor) in tables.items():
        for key in {**owner, **donor}:
            name = f"{path}.{key}" if path else key
            inside = (f"{name}.",) if name in LISTS else (f"{name}.", f"{name}[")
            if field == name or field.startswith(inside):
                return Place(owner, key, donor)
    return None


def _summary(robot: Any) -> str:
    from tauforge.cli.describing import headline

    return headline(robot)


def _worries(robot: Any) -> list[str]:
    """What loads, and will disappoint later."""
    import numpy as np

    from tauforge.analysis.comparison import random_states
    from tauforge.robots.serial.functions import SINGULAR
    from tauforge.robots.serial.serial_arm import SerialArm

    if not isinstance(robot, SerialArm):
        masses = [] if robot.has_masses else ["the file gives no masses: kinematics is available, dynamics is not"]
        return masses + _worries_about_limits(robot)
    q, _, _ = random_states(robot, 20)
    if (np.linalg.cond(robot.mass_matrix(q)) > SINGULAR).any():
        return ["the mass matrix has no inverse: a link without mass or inertia moves freely; it cannot be simulated"]
    return []


def _worries_about_limits(platform: Any) -> list[str]:
    from tauforge.analysis.fitting_pose import fitting_pose

    hint = "stroke is the range of a leg's length between its joints, not of its travel"
    if platform.stroke is not None and min(shortest for shortest, _ in platform.stroke) == 0:
        return [f"stroke: the shortest leg has length 0; {hint}"]
    if fitting_pose(platform) is None:
        return ["no pose was found that keeps all limits" + (f"; {hint}" if platform.stroke is not None else "")]
    return []
