"""The candidates of the benchmark: every library's own way to evaluate a batch of states of the same arm."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tauforge as tf

HERE = Path(__file__).parent
CACHE = HERE / "cache"
FLAGS = [
    "-O3",
    "-march=native",
    "-std=c++17",
    "-DNDEBUG",
    "-DEIGEN_NO_DEBUG",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    "-shared",
    "-fPIC",
]
OUTPUTS = {  # result arrays of each function, as core shapes
    "inverse_dynamics": lambda n: [(n,)],
    "forward_dynamics": lambda n: [(n,)],
    "mass_matrix": lambda n: [(n, n)],
    "inverse_dynamics_derivatives": lambda n: [(n, n)] * 3,
    "forward_dynamics_derivatives": lambda n: [(n, n)] * 3,
}


class Candidate(NamedTuple):
    """call(*arguments) evaluates the whole batch and returns the results."""

    name: str
    call: Callable[..., Any]


def tauforge_method(arm: tf.SerialArm, function: str) -> Candidate:
    """As a user calls it: the public method, which allocates its results."""
    return Candidate("tauforge", getattr(arm, function))


def joint_numbers(arm: tf.SerialArm) -> np.ndarray:
    """39 numbers a joint, as pinocchio_core.cpp reads them."""
    rows = []
    placement = np.array(arm.base)
    for joint in arm.joints:
        offset = np.eye(4)
        if joint.kind == "R":
            c, s = np.cos(joint.offset), np.sin(joint.offset)
            offset[:2, :2] = [[c, -s], [s, c]]
        else:
            offset[2, 3] = joint.offset
        place, after = placement @ np.array(joint.before) @ offset, np.array(joint.after)
        numbers = [*place[:3, :3].ravel(), *place[:3, 3], *after[:3, :3].ravel(), *after[:3, 3], joint.mass, *joint.com]
        numbers += [*np.ravel(joint.inertia), joint.motor_inertia * joint.gear_ratio**2, float(joint.kind == "R")]
        rows.append(numbers)
        placement = after
    return np.array(rows)


def pinocchio_library() -> ctypes.CDLL | None:
    """Pinocchio's C++ core, built once for this source and kept; None without g++, Eigen or the wheel's headers."""
    if importlib.util.find_spec("pinocchio") is None or shutil.which("g++") is None:
        return None
    prefix = Path(importlib.util.find_spec("pinocchio").origin).parents[4]  # .../cmeel.prefix
    eigen = Path("/usr/include/eigen3")
    if not eigen.exists() or not (prefix / "include" / "pinocchio").exists():
        return None
    source = HERE / "pinocchio_core.cpp"
    digest = hashlib.sha256(source.read_bytes() + " ".join(FLAGS).encode() + str(prefix).encode()).hexdigest()[:16]
    library = CACHE / f"pinocchio_core-{digest}.so"
    if not library.exists():
        CACHE.mkdir(exist_ok=True)
        print("building Pinocchio's C++ core, about five minutes, once", flush=True)
        link = [f"-L{prefix}/lib", "-lpinocchio_default", f"-Wl,-rpath,{prefix}/lib"]
        include = [f"-I{prefix}/include", f"-I{eigen}"]
        subprocess.run(["g++", *FLAGS, *include, str(source), "-o", str(library), *link], check=True)
    return ctypes.CDLL(str(library))


def pinocchio_cpp(arm: tf.SerialArm, function: str) -> Candidate | None:
    library = pinocchio_library()
    if library is None:
        return None
    library.make_arm.restype = ctypes.c_void_p
    library.make_arm.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    numbers, gravity = joint_numbers(arm), np.array(arm.gravity)
    handle = library.make_arm(arm.n, numbers.ctypes.data, gravity.ctypes.data)
    routine = getattr(library, function)
    routine.restype = None

    def call(*arguments: np.ndarray) -> Any:
        count = len(arguments[0])
        results = [np.empty((count, *core)) for core in OUTPUTS[function](arm.n)]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arguments, *results)]
        routine(ctypes.c_void_p(handle), ctypes.c_long(count), *pointers)
        return tuple(results) if len(results) > 1 else results[0]

    return Candidate("Pinocchio C++", call)


def pinocchio_model(arm: tf.SerialArm) -> Any:
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(arm.gravity)
    parent = 0
    for joint, numbers in zip(arm.joints, joint_numbers(arm), strict=True):
        kind = pin.JointModelRZ() if joint.kind == "R" else pin.JointModelPZ()
        place = pin.SE3(numbers[:9].reshape(3, 3), numbers[9:12])
        parent = model.addJoint(parent, kind, place, joint.name)
        body = pin.Inertia(joint.mass, np.array(joint.com), np.array(joint.inertia))
        model.appendBodyToJoint(parent, body, pin.SE3(numbers[12:21].reshape(3, 3), numbers[21:24]))
    model.armature = np.array([numbers[37] for numbers in joint_numbers(arm)])
    return model


def pinocchio_python(arm: tf.SerialArm) -> Candidate | None:
    """One inverse dynamics call from Python."""
    if importlib.util.find_spec("pinocchio") is None:
        return None
    import pinocchio as pin

    model = pinocchio_model(arm)
    data = model.createData()
    return Candidate("Pinocchio from Python", lambda q, qd, qdd: pin.rnea(model, data, q, qd, qdd))


def casadi_c(arm: tf.SerialArm) -> Candidate | None:
    """C that CasADi generates from the same arm, in a loop over the states: the best a user gets today by hand."""
    if importlib.util.find_spec("casadi") is None or shutil.which("gcc") is None:
        return None
    import casadi

    from tauforge.algebra.scalars import Column
    from tauforge.robots.serial_formulas import inverse_dynamics

    symbols = [casadi.SX.sym(name, arm.n) for name in ("q", "qd", "qdd")]
    torque = inverse_dynamics(arm.model, *([Column(s[k]) for k in range(arm.n)] for s in symbols))
    f = casadi.Function("torque", symbols, [casadi.vertcat(*(t.value for t in torque))])
    CACHE.mkdir(exist_ok=True)
    code = casadi.CodeGenerator("torque.c", {"with_header": False})
    code.add(f)
    text = code.dump() + (
        "\nvoid batch(long count, const double *q, const double *qd, const double *qdd, double *out) {\n"
        f"  for (long k = 0; k < count; ++k) {{\n    const double *in[3] = {{q + {arm.n} * k, qd + {arm.n} * k, "
        f"qdd + {arm.n} * k}};\n    double *res[1] = {{out + {arm.n} * k}};\n    torque(in, res, 0, 0, 0);\n  }}\n}}\n"
    )
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    library = CACHE / f"casadi-{digest}.so"
    if not library.exists():
        source = library.with_suffix(".c")
        source.write_text(text)
        command = [
            "gcc",
            "-O3",
            "-march=native",
            "-ffp-contract=fast",
            "-shared",
            "-fPIC",
            str(source),
            "-o",
            str(library),
            "-lm",
        ]
        subprocess.run(command, check=True)
    routine = ctypes.CDLL(str(library)).batch

    def call(*arguments: np.ndarray) -> np.ndarray:
        out = np.empty_like(arguments[0])
        routine(ctypes.c_long(len(out)), *(ctypes.c_void_p(a.ctypes.data) for a in (*arguments, out)))
        return out

    return Candidate("CasADi C", call)
