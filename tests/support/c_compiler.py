"""gcc for generated C: compile strictly, load, call."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-pedantic", "-Werror"]
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind")
needs_rust = pytest.mark.skipif(None in map(shutil.which, ("bindgen", "rustc")), reason="there is no bindgen or rustc")
needs_cppcheck = pytest.mark.skipif(shutil.which("cppcheck") is None, reason="there is no cppcheck")


def run(*command, cwd, code=0):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def compiled(made, *flags):
    """The object of the source, of strict C99, which both a library and the self-test are linked from."""
    target = made.source.with_suffix(".o")
    run("gcc", *STRICT, "-fPIC", *flags, "-c", made.source.name, "-o", target.name, cwd=made.source.parent)
    return target


def self_test(made, target, *flags, code=0):
    """What the self-test prints."""
    folder = made.source.parent
    run("gcc", *STRICT, *flags, made.test.name, target.name, "-lm", "-o", "self-test", cwd=folder)
    return run("./self-test", cwd=folder, code=code)


class Library:
    """Exported functions that take and return arrays."""

    def __init__(self, made, target, dtype="float64"):
        folder = made.source.parent
        run("gcc", "-shared", target.name, "-lm", "-o", "functions.so", cwd=folder)
        self._library, self._prefix, self._dtype = ctypes.CDLL(folder / "functions.so"), made.source.stem, dtype

    def __call__(self, name, arguments, results):
        """Row after row. arguments: (states, numbers) each; results: core shapes"""
        function = getattr(self._library, f"{self._prefix}_{name}")
        function.restype = None
        states = len(arguments[0])
        given = [np.ascontiguousarray(x, self._dtype).reshape(states, -1) for x in arguments]
        outs = [np.full((states, math.prod(core)), 777.0, self._dtype) for core in results]
        for k in range(states):
            function(*(ctypes.c_void_p(x[k].ctypes.data) for x in (*given, *outs) if x.size))
        return [x.astype(float) for x in outs]
