"""`export_c`: functions of a robot as C99.

How far a function in single or double precision is from the reference is measured on random states, at export.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.control.controller import Controller
from tauforge.errors import ModelError, ShapeError, UnsupportedFeatureError
from tauforge.export import description
from tauforge.export.functions import Wanted, check_extra, chosen
from tauforge.export.law_steps import NO_LAWS, law_steps
from tauforge.files import written_whole
from tauforge.kernels.c99 import files
from tauforge.kernels.c99.files import TestVectors, self_test
from tauforge.kernels.c99.function import CFunction, check_prefix, prefix_of
from tauforge.kernels.specification import Shape
from tauforge.robots.robot import Robot, check_robot
from tauforge.tracing.graph import Graph

FLOAT_BITS = {"float64": 64, "float32": 32}
TESTED = 4  # states of the self-test
SLACK = 16  # the self-test allows so many times the error that was measured, and a little more
FLOOR = {"float64": 1e-13, "float32": 1e-6}
RESIDUALS = ("gap", "residual")  # results that are rounding themselves, beside others that have a size
STATES = 256


@with_field_docs
class ExportedC(NamedTuple):
    """Files that `export_c` wrote, and their functions.

    header:    PREFIX.h, whose comments explain everything
    source:    PREFIX.c
    test:      PREFIX_test.c, the self-test
    cmake:     CMakeLists.txt
    functions: names in C
    left_out:  functions of the robot that are not there, and why
    """

    header: Path
    source: Path
    test: Path
    cmake: Path
    functions: tuple[str, ...]
    left_out: tuple[str, ...]


def export_c(
    robot: Robot,
    directory: str | os.PathLike[str],
    functions: Sequence[str] | None = None,
    prefix: str | None = None,
    dtype: str = "float64",
    *,
    loads: Sequence[str] = (),
    varying: Sequence[str] = (),
    laws: Mapping[str, Controller] = NO_LAWS,
    gains: Sequence[str] = (),
) -> ExportedC:
    """Write functions of a robot as C99 that needs no allocation, no state and no library but a square root.

    directory: a folder for one robot, made if it does not exist, with those above it. PREFIX.h, PREFIX.c, PREFIX_test.c
               and CMakeLists.txt are written
    functions: names of methods such as "inverse_dynamics", and "computed_torque", one step of that law with its gains
               as arguments; default all that the robot has. The header says which were left out
    prefix:    of files and functions; default the robot's name with underscores
    dtype:     "float64" for double, "float32" for float
    loads:     optional arguments that functions take too, such as "payload" (10 numbers, those of `Payload.numbers()`)
               or "tip_wrench". Each function gets those that its method knows, after the state
    varying:   names of `robot.varying_fields`, such as "mass", that become arguments of the functions that depend on
               them, after the loads
    laws:      laws that can be traced, by the names of the functions that are one step of each: from time, state,
               target, gains and memory to the forces, and to the memory of the next step
    gains:     numbers and arrays of these laws that become arguments; all others are constants

    The functions take one state, in the order of the method. A payload that never changes costs less as a part of the
    robot: export `robot.carrying(payload)`. The header tells the cost of each function and a bound of its stack.
    PREFIX_test.c is a self-test with reference vectors. Existing files are replaced if an export wrote them;
    ModelError otherwise.

    Identity: within 1e-12 of the methods in double precision.
    """
    robot = check_robot("robot", robot)
    prefix = prefix_of(robot.name) if prefix is None else check_prefix(prefix)
    bits, folder = _bits(dtype), _folder(directory)
    dtype = f"float{bits}"
    wanted, left_out = chosen(robot, functions, check_extra(robot, loads, varying), laws=bool(laws))
    wanted |= law_steps(robot, laws, gains)
    made, tests, notes = [], [], {}
    for name, one in wanted.items():
        try:
            function = CFunction(one.specification, one.described, prefix, bits)
            vectors, notes[name] = _measured(function, one, dtype)
        except UnsupportedFeatureError as error:
            if functions is not None or name in laws:
                raise
            left_out.append(f"{name}: {error.reason}.")
            continue
        made.append(function)
        tests.append((function, vectors))
    if not made:
        raise ModelError(f"{robot.name} has no function to write", field="functions")
    about = description.about(robot, [one.specification for one in wanted.values()], left_out)
    texts = {
        f"{prefix}.h": files.header(prefix, about, made, notes),
        f"{prefix}.c": files.source(prefix, made),
        f"{prefix}_test.c": self_test(prefix, tests),
        "CMakeLists.txt": files.cmake(prefix),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise ModelError(f"the folder cannot be made: {getattr(error, 'strerror', error)}", file=folder) from None
    for name in texts:
        _check_replaceable(folder / name, prefix)
    for name, text in texts.items():
        with written_whole(folder / name) as file:
            file.write(text.encode("ascii"))
    header, source, test, cmake = (folder / name for name in texts)
    return ExportedC(header, source, test, cmake, tuple(f.c_name for f in made), tuple(left_out))


def _bits(dtype: object) -> int:
    try:
        name = "none" if dtype is None else np.dtype(dtype).name  # type: ignore[call-overload]
        return FLOAT_BITS[name]
    except (KeyError, TypeError):
        problem = f"dtype {dtype!r} is not supported"
        raise UnsupportedFeatureError(problem, field="dtype", remedy="Use float64 or float32") from None


def _folder(directory: object) -> Path:
    if not isinstance(directory, str | os.PathLike):
        raise ShapeError("directory", expected="a path", got=repr(directory))
    folder = Path(directory)
    there = next((path for path in (folder, *folder.parents) if os.path.exists(path)), None)
    if there is not None and not os.path.isdir(there):
        raise ModelError("expected a folder, got a file", file=there, field="directory", remedy="Name another folder")
    return folder


def _check_replaceable(path: Path, prefix: str) -> None:
    """ModelError where the file is not one of ours."""
    if not path.is_file():  # what else it may be is refused on writing
        return
    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror or error}", file=path) from None
    if files.mark(prefix).encode() not in first:
        problem = f"the file exists, and no export of {prefix} wrote it"
        raise ModelError(problem, file=path, remedy="Choose another folder")


def _measured(function: CFunction, wanted: Wanted, dtype: str) -> tuple[TestVectors, list[str]]:
    """Reference vectors, and what the header says about the error: on random states within the limits.

    The error in single precision shows how much a function magnifies rounding, so it is measured for double as well.
    """
    specification = wanted.specification
    exact = wanted.random_arguments(STATES)
    given = [x.astype("float32").astype(float) for x in exact]
    want: list[Array] = [x.reshape(STATES, -1) for x in wanted.reference(given)]
    named = {name: x for (name, _), x in zip(specification.arguments, given, strict=True)}
    got = evaluated(function.graph, named, specification.results, "float32")
    usable = (*want, *got) if dtype == "float32" else want
    tested = np.flatnonzero(np.all([np.isfinite(x).all(axis=1) for x in usable], axis=0))[:TESTED]
    if not len(tested):
        raise UnsupportedFeatureError(f"{function.name} is not finite at any random state", field="functions")
    unit = np.finfo(dtype).eps / np.finfo("float32").eps
    pairs = [(a, b) for a, b in zip(got, want, strict=True) if b.size]
    states, answers = [x[tested] for x in given], [b[tested] for _, b in pairs]
    if dtype == "float64":  # rounded positions open loops, and forces of redundant ones depend on what closes them
        states = [x[tested] for x in exact]
        answers = [x.reshape(len(tested), -1) for x in wanted.reference(states) if x.size]
    sizes = [np.abs(b).max() for b in answers]
    allowed = []
    for result, (a, b), size in zip(function.results, pairs, sizes, strict=True):
        error = np.nan_to_num(np.abs(a - b)[tested], posinf=0.0).max()
        allowed.append(FLOOR[dtype] * (max(sizes) if result.name in RESIDUALS else size) + SLACK * unit * error)
    vectors = TestVectors([x.tolist() for x in states if x.size], [x.tolist() for x in answers], allowed)
    if dtype == "float64":
        return vectors, []
    errors = rounding(*zip(*pairs, strict=True))
    return vectors, [
        f"Error of float: {max(error.largest for error in errors):.1e} of the largest number of a result at worst,"
        f" {max(error.median for error in errors):.1e} in the median. Measured at export on {STATES} random states"
        " within the limits, each operation rounded, against the formulas in double precision. It is an estimate, no"
        " bound."
    ]


class Rounding(NamedTuple):
    """Errors of a result: largest difference of a state over the largest magnitude in it.

    median, largest: over the states; NaN states, which singular poses give, are left out
    """

    median: float
    largest: float


def evaluated(graph: Graph, arguments: Mapping[str, Array], results: Sequence[Shape], dtype: str) -> list[Array]:
    """The graph in this precision, operation by operation, (states, numbers) for each result."""
    states = len(next(iter(arguments.values())))
    inputs = {f"{name}{k}": x[:, k].astype(dtype) for name, x in arguments.items() for k in range(x.shape[1])}
    with np.errstate(all="ignore"):
        values = iter(graph.evaluate(inputs))
    columns = [[np.broadcast_to(next(values), states) for _ in range(int(np.prod(core)))] for core in results]
    return [np.array(column, float).reshape(-1, states).T for column in columns]


def rounding(got: Sequence[Array], want: Sequence[Array]) -> list[Rounding]:
    """One for each result. got, want: (states, numbers) each"""
    found = []
    for a, b in zip(got, want, strict=True):
        size = np.abs(b).max(axis=1)
        with np.errstate(all="ignore"):
            errors = np.abs(a - b).max(axis=1) / np.where(size > 0, size, 1.0)
        errors = errors[np.isfinite(errors)]
        found.append(Rounding(float(np.median(errors)), float(errors.max())) if len(errors) else Rounding(0.0, 0.0))
    return found
