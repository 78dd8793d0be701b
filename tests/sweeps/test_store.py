"""The store of a sweep: right values in the right places, readable by xarray, one task for every file."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
import xarray
import zarr

import tauforge as tf
from support.sweep_studies import RESULTS, Encoded, axes_of, data_bytes, encoded, expected
from tauforge import sweeps
from tauforge.sweeps import store as store_module
from tauforge.sweeps.store import DONE, MARK, Store
from tauforge.sweeps.study import Study


@pytest.mark.parametrize("block_points", [1, 7, 13, 64, 10**6])
@pytest.mark.parametrize(
    "sizes",
    [
        {"a": 9},
        {"a": 1},
        {"a": 4, "b": 5},
        {"a": 3, "b": 1, "c": 4},
        {"a": 1, "b": 7, "c": 1, "d": 2},
        {"a": 2, "b": 1, "c": 3, "d": 1, "e": 2},
        {"a": 2, "b": 1, "c": 2, "d": 2, "e": 1, "f": 3},
    ],
    ids=lambda sizes: "x".join(map(str, sizes.values())),
)
def test_every_value_is_where_its_coordinates_say(tmp_path, sizes, block_points):
    done = sweeps.run(encoded(sizes, block_points), tmp_path / "s.zarr", threads=2)
    found, wanted = sweeps.open_dataset(tmp_path / "s.zarr").load(), expected(sizes)
    np.testing.assert_array_equal(found.code, wanted)
    np.testing.assert_array_equal(found.half, (wanted / 2).astype(np.float32))
    np.testing.assert_array_equal(found.small, wanted % 200)
    np.testing.assert_array_equal(found.pair, np.stack([wanted, -wanted], axis=-1))
    assert (done.points, done.computed) == (wanted.size, done.blocks)
    for name, size in sizes.items():
        np.testing.assert_array_equal(found[name], np.arange(size))


def test_xarray_reads_it_without_us(tmp_path):
    sweeps.run(encoded(), tmp_path / "s.zarr", command="tauforge sweep")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = xarray.open_zarr(tmp_path / "s.zarr")
    assert dict(found.sizes) == {"a": 7, "b": 5, "c": 11, "sign": 2}
    assert set(found.coords) == {"a", "b", "c"}
    assert set(found.data_vars) == {"code", "half", "small", "pair"}
    assert found.a.attrs == {"units": "m"}
    assert found.half.attrs == {"units": "m", "long_name": "half of it"}
    assert found.small.attrs == {
        "flag_values": [0, 1],
        "flag_meanings": "holds too_long",
        "not_computed": 255,
    }
    assert found.attrs["command"] == "tauforge sweep"
    assert found.attrs["versions"]["tauforge"] == tf.__version__
    assert found.attrs["versions"]["zarr"] == zarr.__version__
    assert found.attrs[MARK]["made_with"]["kernels"] is False  # as the tests run


def test_the_store_is_zarr_3_with_checksums_everywhere(tmp_path):
    sweeps.run(encoded(), tmp_path / "s.zarr")
    group = zarr.open_group(tmp_path / "s.zarr", mode="r")
    names = ["a", "code", "half", "small", "pair", "blocks/status"]
    for name in names:
        array = group[name]
        assert array.metadata.zarr_format == 3
        (*_, last) = array.metadata.codecs
        if array.shards is not None:
            assert type(last.index_codecs[-1]).__name__ == "Crc32cCodec"
            (*_, last) = last.codecs
        assert type(last).__name__ == "Crc32cCodec"
    np.testing.assert_equal(group["half"].fill_value, np.float32(np.nan))
    assert group["small"].fill_value == 255


def test_the_ledger_is_a_zarr_array(tmp_path):
    """What stands in a status file is what Zarr reads as 1."""
    sweeps.run(encoded(), tmp_path / "s.zarr")
    status = zarr.open_group(tmp_path / "s.zarr", mode="r")["blocks/status"]
    assert (status[...] == 1).all()
    assert status.chunks == (1,) * 3
    store = Store(tmp_path / "s.zarr")
    assert {store.status_file(index).read_bytes() for index in store.indices()} == {DONE}


def test_no_two_tasks_write_one_file(tmp_path, monkeypatch):
    """Every file of results and ledger is written by one block alone, and each of them once."""
    writers: dict[str, list[tuple[int, ...]]] = {}
    put, write = zarr.storage.LocalStore.set, Store.write
    current: list[tuple[int, ...]] = []

    async def recorded(self, key, value):
        if current:
            writers.setdefault(key, []).append(current[-1])
        await put(self, key, value)

    def one(self, index, values):
        current.append(index)
        try:
            write(self, index, values)
        finally:
            current.pop()

    monkeypatch.setattr(zarr.storage.LocalStore, "set", recorded)
    monkeypatch.setattr(store_module.Store, "write", one)
    done = sweeps.run(encoded(block_points=13), tmp_path / "s.zarr", threads=1)
    assert len(writers) == done.blocks * (len(RESULTS) + 1)
    assert all(len(blocks) == 1 for blocks in writers.values())
    assert set(Counter(blocks[0] for blocks in writers.values()).values()) == {len(RESULTS) + 1}
    # and these are the files that a block says are its own
    store = Store(tmp_path / "s.zarr")
    own = {str(file.relative_to(store.path)) for index in store.indices() for file in store.shard_files(index)}
    assert own == {key for key in writers if not key.startswith("blocks/")}


def test_threads_give_the_same_bytes(tmp_path):
    stores = {}
    for threads in (1, 2, 5):
        sweeps.run(encoded(block_points=9), tmp_path / f"{threads}.zarr", threads=threads)
        stores[threads] = data_bytes(tmp_path / f"{threads}.zarr")
    assert stores[1] == stores[2] == stores[5]


def test_blocks_of_nothing_but_fill_are_written(tmp_path):
    """A file that is not there is a fault, and not a block of NaN."""

    def nothing(block):
        return {"y": np.full(len(block["a"]), np.nan)}

    study = Study("empty", axes_of({"a": 9}), (sweeps.Result("y"),), nothing, block_points=4)
    sweeps.run(study, tmp_path / "s.zarr")
    store = Store(tmp_path / "s.zarr")
    assert all(file.stat().st_size for index in store.indices() for file in store.shard_files(index))


def test_missing_blocks_are_errors_unless_wanted(tmp_path):
    sweeps.run(encoded(), tmp_path / "s.zarr")
    store = Store(tmp_path / "s.zarr")
    first = next(store.indices())
    store.forget(first)
    with pytest.raises(tf.ModelError, match=r"1 of \d+ blocks are missing. Run the sweep again: it computes them"):
        sweeps.open_dataset(store.path)
    found = sweeps.open_dataset(store.path, partial=True).load()
    hole = store.grid.slices(first)
    assert np.isnan(found.half.values[hole]).all()
    assert (found.small.values[hole] == 255).all()
    assert np.isnan(found.half.values).sum() == np.prod(store.grid.lengths(first))


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("damage", ["missing", "empty", "damaged", "folder missing"])
def test_an_axis_without_values_is_an_error(tmp_path, damage, partial):
    """Zarr reads a chunk that is not there as NaN."""
    sweeps.run(encoded(), tmp_path / "s.zarr")
    chunk = tmp_path / "s.zarr" / "b" / "c" / "0"
    content = chunk.read_bytes()
    chunk.unlink()
    if damage == "folder missing":
        chunk.parent.rmdir()
    elif damage != "missing":
        chunk.write_bytes(b"" if damage == "empty" else content[:-1] + bytes([content[-1] ^ 1]))
    assert sweeps.verify(tmp_path / "s.zarr").axes == ("b",)
    says = r"s\.zarr: the values of axis b are missing or damaged. Run the sweep again: it writes them"
    with pytest.raises(tf.ModelError, match=says):
        sweeps.open_dataset(tmp_path / "s.zarr", partial=partial)
    again = sweeps.run(encoded(), tmp_path / "s.zarr")
    assert again.computed == 0
    assert chunk.read_bytes() == content
    np.testing.assert_array_equal(sweeps.open_dataset(tmp_path / "s.zarr").b, np.arange(5))


def test_kernels_of_a_block_run_on_its_own_thread(tmp_path):
    seen = []

    def compute(block):
        seen.append(tf.get_threads())
        return {"y": block["a"]}

    study = Study("s", axes_of({"a": 3}), (sweeps.Result("y"),), compute)
    sweeps.run(study, tmp_path / "s.zarr", threads=2)
    assert seen == [1]


def test_the_same_study_from_kernels(tmp_path, as_installed):
    """Compiled or not, threads or blocks: float32 results of a robot are those of one call."""
    robot = tf.load("motion-rig")
    axes = [sweeps.Axis.from_text(text) for text in ("x=-0.1:0.1:5", "z=0.95:1.05:7", "theta_y=-5deg:5deg:3")]
    sweeps.run(sweeps.ready_study("holding-forces", robot, axes), tmp_path / "s.zarr")
    found = sweeps.open_dataset(tmp_path / "s.zarr").largest_force.load()
    positions = np.tile(robot.positions.default, (5, 7, 3, 1))
    for k, axis in zip((0, 2, 4), np.meshgrid(*(axis.values for axis in axes), indexing="ij"), strict=True):
        positions[..., k] = axis
    wanted = np.abs(robot.holding_forces(positions)).max(axis=-1)
    np.testing.assert_allclose(found, wanted, rtol=np.finfo(np.float32).eps)
    assert found.attrs["units"] == "N"


def test_bad_numbers_of_threads(tmp_path):
    for threads in (0, -1, 1.5, True):
        with pytest.raises(tf.ModelError, match="threads: expected a whole number >= 1, got"):
            sweeps.run(encoded(), tmp_path / "s.zarr", threads=threads)
    assert not (tmp_path / "s.zarr").exists()


def test_encodings_differ(tmp_path):
    """The studies above would show a transposed axis: no two points have the same code."""
    assert np.unique(expected({"a": 3, "b": 4, "c": 5})).size == 60
    assert Encoded(("a", "b")) != Encoded(("b", "a"))
