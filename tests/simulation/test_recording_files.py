"""Files of recordings that are none: too large, of other types and shapes, damaged, or no files at all."""

from __future__ import annotations

import io
import itertools
import os
import tracemalloc
import zipfile
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from tauforge.errors import TauforgeWarning
from tauforge.simulation import Recording

K, N = 5, 2
ARRAYS = ("position", "velocity", "acceleration", "force", "target_position", "target_velocity")


def recording(**changes):
    rng = np.random.default_rng(0)
    rows = {name: rng.normal(size=(K, N)) for name in ARRAYS}
    names = {"names": ("a", "b"), "force_names": ("a", "b"), "units": ("rad", "m"), "force_units": ("N m", "N")}
    return Recording(np.arange(K) * 0.1, **(rows | names | {"robot": "made up"} | changes))


def one_event(**changes):
    text = {"event_what": np.array(["limit"]), "event_which": np.array(["a"])}
    return {"event_time": np.zeros(1), "event_count": np.ones(1), "event_last": np.zeros(1)} | text | changes


def saved_arrays(tmp_path):
    recording().save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as data:
        return dict(data)


def test_what_is_saved_is_loaded(tmp_path):
    none = np.full((K, N), np.nan)
    event = tf.simulation.Event(0.2, "limit", "a")
    happened = recording().with_event(event)
    chatter = happened.with_event(tf.simulation.Event(0.1, "limit", "b", 30, 0.25))
    for one in (recording(), recording(target_position=none, target_velocity=none), happened, chatter):
        one.save(tmp_path / "run.npz")
        assert Recording.load(tmp_path / "run.npz") == one
    bare = Recording(*[np.ones((1, 1))[:, 0], *[np.ones((1, 1))] * 6])  # no names at all
    bare.save(tmp_path / "run.npz")
    assert Recording.load(tmp_path / "run.npz") == bare


def test_files_of_older_versions(tmp_path):
    """They have neither `columns` nor `wrapped`: an arm's columns are numbered, a platform's angles wrap. Their events
    are not counted.
    """
    platform = tf.load("motion-rig")
    start = (np.array([0, 0, 1.0, 0.1, 0, 3.1]), np.zeros(6))
    run = tf.simulate(platform, lambda *_: np.zeros(6), initial=start, duration=0.01)
    run = replace(run, target_position=run.position + [0, 0, 0, 0, 0, 6.2], target_velocity=run.velocity)
    happened = recording(events=(tf.simulation.Event(0.2, "limit", "a"),))
    for one in (recording(), run, happened):
        one.save(tmp_path / "run.npz")
        with np.load(tmp_path / "run.npz") as data:
            new = ("columns", "wrapped", "event_count", "event_last")
            kept = {name: value for name, value in data.items() if name not in new}
        np.savez(tmp_path / "old.npz", **kept)
        old = Recording.load(tmp_path / "old.npz")
        assert old == replace(one, columns=(), wrapped=())
        assert np.array_equal(old.error, one.error)
        for name, each in (("old.csv", old), ("new.csv", one)):
            replace(each, events=()).save(tmp_path / name)
        assert (tmp_path / "old.csv").read_text() == (tmp_path / "new.csv").read_text()
    assert np.abs(run.error).max() < 0.1


def test_a_csv_file_has_no_events_and_saving_one_says_so(tmp_path):
    run = recording(events=(tf.simulation.Event(0.2, "limit", "a"), tf.simulation.Event(0.3, "limit", "b", 4, 0.4)))
    with pytest.warns(TauforgeWarning, match=r"run\.csv: a CSV file does not hold the 2 events\. A \.npz file holds"):
        run.save(tmp_path / "run.csv")
    assert Recording.load(tmp_path / "run.csv").events == ()


def test_columns_of_no_known_robot(tmp_path):
    (tmp_path / "run.csv").write_text("time [s],x [m],v [m/s],F [N]\n0,1,2,3\n1,1,2,3\n")
    with pytest.raises(
        tf.ModelError, match="expected as many velocities and accelerations as positions, in their units, got 1, 1, 0"
    ):
        Recording.load(tmp_path / "run.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": np.ones((K, N)) * 1j}, "position: not a valid recording: expected real numbers, got complex128"),
        ({"force": np.full((K, N), "1.0")}, "force: not a valid recording: expected real numbers, got <U3"),
        ({"force": np.ones((K, N), bool)}, "force: not a valid recording: expected real numbers, got bool"),
        (
            {"velocity": np.ones((K, N), "m8[s]")},
            "velocity: not a valid recording: expected real numbers, got timedelta",
        ),
        ({"names": np.ones(N)}, "names: not a valid recording: expected text, got float64"),
        ({"names": np.array([b"a", b"b"])}, "names: not a valid recording: expected text, got |S1"),
        ({"robot": np.array(1.0)}, "robot: not a valid recording: expected text, got float64"),
        ({"robot": np.array(["a", "b"])}, "robot: not a valid recording: expected shape (), got (2,)"),
        ({"velocity": np.ones((K, N + 1))}, "velocity: not a valid recording: expected shape (5, 2), got (5, 3)"),
        ({"velocity": np.ones((K - 1, N))}, "velocity: not a valid recording: expected shape (5, 2), got (4, 2)"),
        ({"time": np.arange(K - 1.0)}, "position: not a valid recording: expected shape (4, 2), got (5, 2)"),
        ({"time": np.ones((K, 1))}, "time: not a valid recording: expected shape (5,), got (5, 1)"),
        ({"time": np.array(0.0)}, "expected rows of coordinates over time, got time ()"),
        ({"time": np.zeros(0)}, "expected rows of coordinates over time, got time (0,)"),
        ({"position": np.ones(K)}, "expected rows of coordinates over time"),
        ({"names": np.array(["a", "b", "c"])}, "names: not a valid recording: expected shape (2,), got (3,)"),
        ({"force_units": np.array(["N"])}, "force_units: not a valid recording: expected shape (2,), got (1,)"),
        ({"columns": np.array(["a", "b"])}, "columns: not a valid recording: expected shape (8,), got (2,)"),
        ({"wrapped": np.array("a")}, "wrapped: not a valid recording: expected shape (0,), got ()"),
        ({"coordinates": np.array("a")}, "coordinates: not a valid recording: expected shape (2,), got ()"),
        ({"coordinates": np.array([["a"]])}, "coordinates: not a valid recording: expected shape (2,), got (1, 1)"),
        ({"coordinates": np.array(["c", "a"])}, "not a valid recording: coordinates must be among the names"),
        ({"coordinates": np.array(["a", "a"])}, "not a valid recording: coordinates must differ"),
        ({"names": np.full(N, "\ud800")}, "names: not a valid recording: the text is not Unicode"),
        ({"robot": np.array([2**32 - 1], np.uint32).view("U1")[0:1].reshape(())}, "robot: not a valid recording: the"),
        ({"names": np.full(N, 2**30, np.uint32).view("<U1")}, "names: not a valid recording: the text is not Unicode"),
        ({"wrapped": np.ones(1)}, "wrapped: not a valid recording: expected text, got float64"),
        ({"event_time": np.ones(2)}, "event_what: not a valid recording: expected shape (2,), got (0,)"),
        ({"event_count": np.ones(1)}, "event_count: not a valid recording: expected shape (0,), got (1,)"),
        (one_event(event_count=np.array([0])), "event_count: not a valid recording: expected whole numbers >= 1"),
        (one_event(event_count=np.array([1.5])), "event_count: not a valid recording: expected whole numbers >= 1"),
        (one_event(event_count=np.array([np.inf])), "event_count: not a valid recording: row 0 is not finite"),
        (one_event(event_last=np.array(["x"])), "event_last: not a valid recording: expected real numbers, got <U1"),
        ({"time": np.arange(K)[::-1] * 1.0}, "time: not a valid recording: times must increase; row 1 is not later"),
        (
            {"time": np.arange(K, dtype=np.uint8)[::-1]},
            "time: not a valid recording: times must increase; row 1 is not later",
        ),
        (
            {"time": np.arange(K, dtype=np.uint64) + 2**63},
            "time: not a valid recording: times must increase; row 1 is not later",
        ),
        ({"time": np.array([0, 1, 1, 2, 3.0])}, "time: not a valid recording: times must increase; row 2 is not later"),
        ({"time": np.array([0, 1, np.nan, 2, 3.0])}, "time: not a valid recording: row 2 is not finite"),
        ({"position": np.full((K, N), np.inf)}, "position: not a valid recording: row 0 is not finite"),
        (
            {"target_position": np.r_[np.full((1, N), np.nan), np.ones((K - 1, N))]},
            "target_position: not a valid recording: row 0 is not finite",
        ),
        ({"position": np.array([[{}] * N] * K)}, "position: expected numbers or text, got object"),
        ({"position": np.zeros((K, N), [("a", "f8")])}, "position: expected numbers or text, got [('a', '<f8')]"),
    ],
)
def test_other_types_and_shapes_are_refused(tmp_path, change, message):
    arrays = saved_arrays(tmp_path) | change
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(tf.ModelError) as caught:
        Recording.load(tmp_path / "bad.npz")
    assert str(caught.value).startswith(f"{tmp_path / 'bad.npz'}: ")
    assert message in str(caught.value)


SHAPES = [(), (0,), (1,), (K,), (N,), (K, N), (0, N), (K, 0), (1, 1), (K, N, 1), (4 * N,)]
TYPES = ["f8", ">f8", "f2", "longdouble", "?", "c16", "U1", ">U2", "S1", "u1", "M8[s]", "V4"]


@pytest.mark.parametrize("name", [*ARRAYS, "time", "names", "units", "columns", "wrapped", "coordinates", "robot"])
def test_an_array_of_any_shape_and_type_is_read_or_refused(tmp_path, name):
    arrays = saved_arrays(tmp_path)
    for shape, kind in itertools.product(SHAPES, TYPES):
        np.savez(tmp_path / "odd.npz", **(arrays | {name: np.zeros(shape, kind)}))
        with suppress(tf.ModelError):
            found = Recording.load(tmp_path / "odd.npz")
            assert found.error.shape == found.velocity.shape
            str(found.summary())
            found.save(tmp_path / "odd.csv")


def test_a_table_needs_units(tmp_path):
    with pytest.raises(tf.ModelError, match=r"a \.csv file needs the units of the 2 coordinates and 2 forces"):
        recording(units=()).save(tmp_path / "run.csv")


def test_numbers_of_other_widths_are_read(tmp_path):
    arrays = saved_arrays(tmp_path)
    others = {"position": np.asfortranarray(arrays["position"]), "velocity": arrays["velocity"].astype(">f8")}
    np.savez(tmp_path / "run.npz", **(arrays | others | {"force": np.arange(2 * K).reshape(K, N)}))
    found = Recording.load(tmp_path / "run.npz")
    assert found == recording(force=np.arange(2.0 * K).reshape(K, N))
    assert all(getattr(found, name).dtype == float for name in ("position", "velocity", "force"))


def test_what_expands_too_far_is_refused_before_it_does(tmp_path):
    arrays = saved_arrays(tmp_path)
    large = 2**22
    many = {"time": np.arange(large // 8.0)}
    many |= {name: np.zeros((large // 8, N)) for name in arrays if name in ARRAYS}
    np.savez_compressed(tmp_path / "bomb.npz", **(arrays | many))
    assert (tmp_path / "bomb.npz").stat().st_size < large // 4
    tracemalloc.start()
    try:
        with pytest.raises(tf.ModelError, match=r"holds 52 MiB, more than 1 MiB\. load takes max_bytes=") as e:
            Recording.load(tmp_path / "bomb.npz", max_bytes=2**20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "if you trust the file" in str(e.value)
    assert peak < 2**20
    assert len(Recording.load(tmp_path / "bomb.npz", max_bytes=2**28).time) == large // 8


def test_a_header_that_promises_more_than_there_is(tmp_path):
    """Neither room for what it promises, nor more data than it says."""
    arrays = saved_arrays(tmp_path)
    for shape in ((10**12, N), (K, N + 1), (K, 10**9)):
        with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
            for name, values in arrays.items():
                data = io.BytesIO()
                np.save(data, values)
                content = data.getvalue()
                if name == "position":
                    header = io.BytesIO()
                    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_1_0(header, described)
                    content = header.getvalue() + values.tobytes()
                archive.writestr(f"{name}.npy", content)
        with pytest.raises(tf.ModelError, match="position: the length of the data differs from the one in the header"):
            Recording.load(tmp_path / "bad.npz")


def test_members_that_lie_about_their_size(tmp_path):
    """The directory of the zip file says less than what the data expand to."""
    recording(**{name: np.zeros((K, N)) for name in ARRAYS}).save(tmp_path / "run.npz")
    data = bytearray((tmp_path / "run.npz").read_bytes())
    with zipfile.ZipFile(tmp_path / "run.npz") as archive:
        true = next(info.file_size for info in archive.infolist() if info.filename == "position.npy")
    place = data.rfind(b"position.npy", 0, data.rfind(b"target_position.npy")) - 46  # of its entry in the directory
    assert data[place : place + 4] == b"PK\x01\x02"
    assert int.from_bytes(data[place + 24 : place + 28], "little") == true
    data[place + 24 : place + 28] = (true - 8).to_bytes(4, "little")
    (tmp_path / "bad.npz").write_bytes(data)
    with pytest.raises(tf.ModelError, match=r"not a valid recording: Bad CRC-32 for file 'position\.npy'"):
        Recording.load(tmp_path / "bad.npz")


def test_missing_and_doubled_members(tmp_path):
    arrays = saved_arrays(tmp_path)
    np.savez(tmp_path / "bad.npz", **{name: values for name, values in arrays.items() if name != "force"})
    with pytest.raises(tf.ModelError, match="force: not a valid recording: the array is missing"):
        Recording.load(tmp_path / "bad.npz")
    np.savez(tmp_path / "bad.npz", **arrays)
    with zipfile.ZipFile(tmp_path / "bad.npz", "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("force.npy", b"")
    with pytest.raises(tf.ModelError, match="force: not a valid recording: the array is there twice"):
        Recording.load(tmp_path / "bad.npz")
    with zipfile.ZipFile(tmp_path / "bad.npz", "w", zipfile.ZIP_LZMA) as archive:
        for name in arrays:
            archive.writestr(f"{name}.npy", b"")
    with pytest.raises(tf.ModelError, match="time: not a valid recording: the array is neither stored nor deflated"):
        Recording.load(tmp_path / "bad.npz")
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        for k in range(2000):
            archive.writestr(f"{k}.npy", b"")
    with pytest.raises(tf.ModelError, match="not a valid recording: the archive has too many members"):
        Recording.load(tmp_path / "bad.npz")


@pytest.mark.parametrize("name", ["run.npz", "run.csv"])
def test_what_is_no_file(tmp_path, name):
    with pytest.raises(tf.ModelError, match="no such file"):
        Recording.load(tmp_path / name)
    os.mkfifo(tmp_path / name)  # would block whoever opens it
    with pytest.raises(tf.ModelError, match=f"{name}: expected a regular file"):
        Recording.load(tmp_path / name)
    with pytest.raises(tf.ModelError, match="got a folder"):
        Recording.load(tmp_path)
    with pytest.raises(tf.ModelError, match="expected a regular file"):
        Recording.load("/dev/zero")


@given(st.data())
def test_damaged_files_are_refused_or_whole(tmp_path_factory, data):
    """Bytes changed, cut out or cut off: what loads is what was saved."""
    path = tmp_path_factory.mktemp("damaged") / "run.npz"
    recording().save(path)
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, max(0, len(whole) - 1)))
        kind = data.draw(st.sampled_from(["change", "cut", "end"]))
        if kind == "change" and whole:
            whole[place] ^= data.draw(st.integers(1, 255))
        elif kind == "cut":
            del whole[place : place + data.draw(st.integers(1, 40))]
        elif place > 0:
            del whole[place:]
    path.write_bytes(whole)
    found, reason = None, ""
    try:
        found = Recording.load(path)
    except tf.ModelError as error:
        reason = str(error)
    assert found == recording() if found is not None else reason.startswith(str(path))
