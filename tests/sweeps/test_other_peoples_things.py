"""What a sweep must not touch, and what it must notice: changed code, things of others beside and in a store."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass

import numpy as np
import pytest

import tauforge as tf
from tauforge.sweeps import Axis, Result, Study, run

AXES, RESULTS = (Axis("x", np.arange(4)),), (Result("y", "float64"),)
FACTOR = 2.0


@dataclass(frozen=True)
class Twice:
    offset: float = 0.0

    def __call__(self, block):
        return {"y": 2.0 * block["x"] + self.offset}


def by_factor(block):
    return {"y": FACTOR * block["x"]}


def study(compute):
    return Study("s", AXES, RESULTS, compute, block_points=2)


def test_another_class_of_the_same_name_is_another_study(tmp_path):
    run(study(Twice()), tmp_path / "s.zarr", progress=False)
    assert run(study(Twice()), tmp_path / "s.zarr", progress=False).computed == 0

    def __call__(self, block):
        return {"y": 3.0 * block["x"] + self.offset}

    other = dataclass(frozen=True)(
        type("Twice", (), {"__call__": __call__, "__annotations__": {"offset": float}, "offset": 0.0})
    )
    other.__module__, other.__qualname__ = Twice.__module__, Twice.__qualname__
    with pytest.raises(tf.ModelError, match="the store is of another sweep"):
        run(study(other()), tmp_path / "s.zarr", progress=False)


def test_another_global_is_another_study(tmp_path, monkeypatch):
    run(study(by_factor), tmp_path / "s.zarr", progress=False)
    monkeypatch.setitem(by_factor.__globals__, "FACTOR", 3.0)
    with pytest.raises(tf.ModelError, match="the store is of another sweep"):
        run(study(by_factor), tmp_path / "s.zarr", progress=False)


def test_folders_and_files_of_others_stay(tmp_path):
    mine = [tmp_path / ".s.zarr.mine.tmp" / "data", tmp_path / ".s.zarr.zarr.0123456789ab.tmp" / "data"]
    for file in mine:
        file.parent.mkdir()
        file.write_text("mine")
    left = tmp_path / ".s.zarr.0123456789ab.tmp"
    left.mkdir()
    run(study(Twice()), tmp_path / "s.zarr", progress=False)
    half = tmp_path / "s.zarr" / "y" / ("0" * 32)
    half.with_suffix(f".{'a' * 32}.partial").write_text("half")
    thesis = tmp_path / "s.zarr" / "thesis.partial"
    thesis.write_text("mine")
    run(study(Twice()), tmp_path / "s.zarr", progress=False)
    assert not left.exists()
    assert not list((tmp_path / "s.zarr" / "y").glob("*.partial"))
    assert all(file.read_text() == "mine" for file in (*mine, thesis))


def test_a_restart_removes_nothing_of_others(tmp_path):
    run(study(Twice()), tmp_path / "s.zarr", progress=False)
    notes = tmp_path / "s.zarr" / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(tf.ModelError, match=r"beside the sweep the folder holds notes.txt. Move it elsewhere first"):
        run(study(Twice(1.0)), tmp_path / "s.zarr", progress=False, restart=True)
    assert notes.read_text() == "mine"
    notes.unlink()
    assert run(study(Twice(1.0)), tmp_path / "s.zarr", progress=False, restart=True).computed == 2


def test_a_store_without_its_ledger_is_told_and_can_be_restarted(tmp_path):
    run(study(Twice()), tmp_path / "s.zarr", progress=False)
    shutil.rmtree(tmp_path / "s.zarr" / "blocks")
    with pytest.raises(tf.ModelError, match="the metadata is damaged: blocks"):
        run(study(Twice()), tmp_path / "s.zarr", progress=False)
    assert run(study(Twice()), tmp_path / "s.zarr", progress=False, restart=True).computed == 2


def test_a_group_without_attributes_is_no_sweep(tmp_path):
    (tmp_path / "s.zarr").mkdir()
    (tmp_path / "s.zarr" / "zarr.json").write_text(json.dumps({"attributes": None}))
    with pytest.raises(tf.ModelError, match="no sweep"):
        run(study(Twice()), tmp_path / "s.zarr", progress=False)
