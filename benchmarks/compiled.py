"""Candidates that are compiled here: Pinocchio's C++ core, and C that CasADi generates."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from arms import joint_numbers
from candidates import Candidate, missing, skip
from wheels import CACHE, unpacked

import tauforge as tf

HERE = Path(__file__).parent
EIGEN = Path("/usr/include/eigen3")
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
C_FLAGS = ["-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC"]
OUTPUTS = {  # result arrays of each function, as core shapes
    "inverse_dynamics": lambda n: [(n,)],
    "forward_dynamics": lambda n: [(n,)],
    "mass_matrix": lambda n: [(n, n)],
    "inverse_dynamics_derivatives": lambda n: [(n, n)] * 3,
    "forward_dynamics_derivatives": lambda n: [(n, n)] * 3,
}


def batch_call(
    routine: Any, first: list[Any], arguments: tuple[np.ndarray, ...], shapes: list[tuple[int, ...]]
) -> Callable[[], Any]:
    """routine(*first, count, pointers to arguments and results), with all that Python adds done beforehand.

    The results are written into the same arrays again and again: a C++ program would not allocate them either.
    """
    count = len(arguments[0])
    results = tuple(np.empty((count, *shape)) for shape in shapes)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arguments, *results)]
    given = (*first, ctypes.c_long(count), *pointers)

    def call() -> Any:
        routine(*given)
        return results

    return call


def eigen() -> Path:
    """Headers of Eigen: the system's, or those of a wheel."""
    if EIGEN.exists():
        return EIGEN
    return unpacked("cmeel-eigen", "*/include/eigen3/*") / "cmeel.prefix" / "include" / "eigen3"


def pinocchio_library(core: str = "pinocchio_core") -> ctypes.CDLL | None:
    """A C++ core over Pinocchio, built once for its source and kept; None without g++ or the wheel's headers."""
    name = "Pinocchio C++"
    if missing(name, "pinocchio"):
        return None
    if shutil.which("g++") is None:
        return skip(name, "no g++")
    prefix = Path(importlib.util.find_spec("pinocchio").origin).parents[4]  # .../cmeel.prefix
    if not (prefix / "include" / "pinocchio").exists():
        return skip(name, "no headers of Pinocchio")
    source = HERE / f"{core}.cpp"
    digest = hashlib.sha256(source.read_bytes() + " ".join(FLAGS).encode() + str(prefix).encode()).hexdigest()[:16]
    library = CACHE / f"{core}-{digest}.so"
    if not library.exists():
        CACHE.mkdir(exist_ok=True)
        print(f"building {source.name}, about five minutes, once", flush=True)
        link = [f"-L{prefix}/lib", "-lpinocchio_default", f"-Wl,-rpath,{prefix}/lib"]
        include = [f"-I{prefix}/include", f"-I{eigen()}"]
        subprocess.run(["g++", *FLAGS, *include, str(source), "-o", str(library), *link], check=True)
    return ctypes.CDLL(str(library))


def pinocchio_cpp(arm: tf.SerialArm, function: str = "inverse_dynamics") -> Candidate | None:
    library = pinocchio_library()
    if library is None:
        return None
    library.make_arm.restype = ctypes.c_void_p
    library.make_arm.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    numbers, gravity = joint_numbers(arm), np.array(arm.gravity)
    handle = ctypes.c_void_p(library.make_arm(arm.n, numbers.ctypes.data, gravity.ctypes.data))
    routine = getattr(library, function)
    routine.restype = None
    shapes = OUTPUTS[function](arm.n)
    return Candidate("Pinocchio C++", lambda *arguments: batch_call(routine, [handle], arguments, shapes))


def casadi_c(arm: tf.SerialArm) -> Candidate | None:
    """C that CasADi generates from the same formula, in a loop over the states: the best a user gets by hand."""
    if missing("CasADi C", "casadi"):
        return None
    if shutil.which("gcc") is None:
        return skip("CasADi C", "no gcc")
    import casadi

    from tauforge.algebra.scalars import ArrayScalar
    from tauforge.robots.serial.formulas import inverse_dynamics

    n = arm.n
    symbols = [casadi.SX.sym(name, n) for name in ("q", "qd", "qdd")]
    torque = inverse_dynamics(arm.model, *([ArrayScalar(s[k]) for k in range(n)] for s in symbols))
    code = casadi.CodeGenerator("torque.c", {"with_header": False})
    code.add(casadi.Function("torque", symbols, [casadi.vertcat(*(t.value for t in torque))]))
    text = code.dump() + (
        "\nvoid batch(long count, const double *q, const double *qd, const double *qdd, double *out) {\n"
        f"  for (long k = 0; k < count; ++k) {{\n    const double *in[3] = {{q + {n} * k, qd + {n} * k, "
        f"qdd + {n} * k}};\n    double *res[1] = {{out + {n} * k}};\n    torque(in, res, 0, 0, 0);\n  }}\n}}\n"
    )
    digest = hashlib.sha256(text.encode() + " ".join(C_FLAGS).encode()).hexdigest()[:16]
    library = CACHE / f"casadi-{digest}.so"
    if not library.exists():
        CACHE.mkdir(exist_ok=True)
        source = library.with_suffix(".c")
        source.write_text(text)
        subprocess.run(["gcc", *C_FLAGS, str(source), "-o", str(library), "-lm"], check=True)
    routine = ctypes.CDLL(str(library)).batch
    routine.restype = None
    return Candidate("CasADi C", lambda *arguments: batch_call(routine, [], arguments, [(n,)]))
