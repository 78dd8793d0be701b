"""Studies to sweep: cheap, exact, and importable by other processes."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tauforge.sweeps import Axis, Result, Study

BASE = 1000  # above every index on an axis
AXES = {"a": 7, "b": 5, "c": 11}


@dataclass(frozen=True)
class Encoded:
    """A number that says at which indices of the axes it was computed; the axes hold their own indices."""

    names: tuple[str, ...]
    scale: int = 1

    def __call__(self, block):
        code = np.zeros(len(block[self.names[0]]), dtype=np.int64)
        for name in self.names:
            code = code * BASE + block[name].astype(np.int64)
        return {
            "code": code * self.scale,
            "half": (code / 2).astype(np.float32),
            "small": (code % 200).astype(np.uint8),
            "pair": np.stack([code, -code], axis=-1).astype(float),
        }


@dataclass(frozen=True)
class Logged:
    """The same, slower; every block that begins leaves a line in a file."""

    inner: Encoded
    log: str
    seconds: float = 0.0

    def __call__(self, block):
        first = " ".join(str(int(values[0])) for values in block.values())
        with open(self.log, "a", encoding="ascii") as file:
            file.write(f"{first}\n")
        time.sleep(self.seconds)
        return self.inner(block)


@dataclass(frozen=True)
class Deadly:
    """Ends its process."""

    def __call__(self, block):
        os._exit(1)


RESULTS = (
    Result("code", "int64", meaning="indices of the axes"),
    Result("half", "float32", "m", "half of it"),
    Result("small", "uint8", codes={0: "holds", 1: "too long"}),
    Result("pair", "float64", core={"sign": 2}),
)


def axes_of(sizes):
    return tuple(Axis(name, np.arange(size), "m" if name == "a" else "") for name, size in sizes.items())


def encoded(sizes=None, block_points=20, **changes):
    sizes = sizes or AXES
    return Study("encoded", axes_of(sizes), RESULTS, Encoded(tuple(sizes), **changes), block_points=block_points)


def logged(log, seconds=0.0, sizes=None, block_points=20):
    plain = encoded(sizes, block_points)
    compute = Logged(plain.compute, str(log), seconds)
    # the log and the pause are no part of what is asked
    return Study("encoded", plain.axes, RESULTS, compute, plain.fingerprint, block_points=block_points)


def expected(sizes):
    """What `code` must be, from the indices themselves."""
    code = np.zeros((), dtype=np.int64)
    for size in sizes.values():
        code = code[..., None] * BASE + np.arange(size)
    return code


def data_bytes(store):
    """The contents of every file but the group's metadata, which has the date of the store."""
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(Path(store).rglob("*"))
        if path.is_file() and path != Path(store) / "zarr.json"
    }


def main(store, log, seconds, threads):
    """What a process that sweeps does; it says "ready" first."""
    from tauforge.sweeps import run

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
    study = logged(log, float(seconds))
    print("ready", flush=True)
    run(study, store, threads=int(threads))
