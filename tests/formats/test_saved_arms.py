"""Arms that are saved load equal; what cannot be written or read is said."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.model_texts import IGNORE_UNPHYSICAL, VALID, written
from tauforge.errors import ModelError
from tauforge.formats.arm_toml import MAX_JOINTS
from tauforge.formats.loading import load, read_robot
from tauforge.robots.records import KnownException, Source
from tauforge.robots.serial.joint import Joint
from tauforge.robots.serial.serial_arm import SerialArm

numbers = st.floats(-1e6, 1e6)
lengths = st.tuples(numbers, numbers, numbers)
magnitudes = st.floats(0, 1e6)
texts = st.text(max_size=12) | st.sampled_from(
    ['"', "\\", "a\nb", "\r\n", "\x00\x7f\u2028", "Gelenk ä 関節 🦾", '"""', "# x"]
)


@st.composite
def tensors(draw: st.DrawFn) -> list[list[float]]:
    xx, yy, zz, xy, xz, yz = (draw(numbers) for _ in range(6))
    if draw(st.booleans()):
        xy = xz = yz = 0.0
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


@st.composite
def displacements(draw: st.DrawFn) -> np.ndarray:
    quaternion = np.array([1.0, *draw(st.tuples(*[st.floats(-3, 3)] * 3))])
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    T = np.eye(4)
    T[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    T[:3, 3] = draw(lengths)
    return T


@st.composite
def joints(draw: st.DrawFn, convention: str) -> Joint:
    kind = draw(st.sampled_from("RP"))
    rest = {
        "mass": draw(magnitudes),
        "com": draw(lengths),
        "inertia": draw(tensors()),
        "viscous": draw(magnitudes),
        "coulomb": draw(st.tuples(magnitudes, magnitudes)),
        "motor_inertia": draw(magnitudes),
        "gear_ratio": draw(numbers.filter(bool)),
        "limits": draw(st.none() | st.tuples(numbers, numbers).map(sorted)),
        "max_speed": draw(st.none() | magnitudes),
        "max_force": draw(st.none() | magnitudes),
    }
    if convention == "general" or draw(st.integers(0, 4)) == 0:
        before, after = draw(displacements()), draw(displacements())
        return Joint(kind=kind, before=before, after=after, offset=draw(numbers), **rest)
    row = {key: draw(numbers) for key in ("alpha", "a", "d", "theta")}
    return Joint.from_dh(kind, convention=convention, **row, **rest)


@st.composite
def arms(draw: st.DrawFn) -> SerialArm:
    convention = draw(st.sampled_from(["standard", "modified", "general"]))
    parts = draw(st.lists(joints(convention), min_size=1, max_size=4))
    names = draw(st.lists(texts.filter(bool), min_size=len(parts), max_size=len(parts), unique=True))
    exceptions = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    return SerialArm(
        joints=tuple(dataclasses.replace(joint, name=name) for joint, name in zip(parts, names, strict=True)),
        base=draw(displacements()),
        tool=draw(displacements()),
        gravity=draw(lengths),
        coulomb_speed=draw(magnitudes.filter(lambda x: x == 0 or x >= 1e-9)),
        name=draw(texts),
        convention=convention,
        known_exceptions=tuple(KnownException(f"link of {name}", draw(texts)) for name in exceptions),
        sources=tuple(Source(tuple(names), *draw(st.tuples(texts, texts))) for _ in range(draw(st.integers(0, 2)))),
    )


@pytest.mark.filterwarnings("ignore:(?s).*few links are that long")
@IGNORE_UNPHYSICAL
@given(arm=arms())
def test_saved_arms_load_equal(tmp_path_factory: pytest.TempPathFactory, arm: SerialArm) -> None:
    path = tmp_path_factory.getbasetemp() / "saved.toml"
    arm.save(path)
    again = load(path)
    assert again == arm
    assert again.sources == arm.sources
    assert repr(again) == repr(arm)  # signs of zeros too


def test_joint_whose_dh_row_is_of_another_convention_is_saved_by_its_transforms(tmp_path: Path) -> None:
    row = Joint.from_dh("R", alpha=0.1, a=0.2, d=0.3, theta=0.4, convention="modified")
    for convention in ("standard", "general"):
        arm = SerialArm(joints=(row,), convention=convention)
        arm.save(tmp_path / "arm.toml")
        again = load(tmp_path / "arm.toml")
        assert again == arm.replace(joints=[dataclasses.replace(arm.joints[0], dh=None)])


def test_save_replaces_the_file_whole_and_leaves_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = read_robot(written(tmp_path, VALID))
    other = arm.replace(name="other")
    path = tmp_path / "arm.toml"
    arm.save(str(path))
    before = path.read_bytes()

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(ModelError, match=r"arm\.toml: the file cannot be written: No space left"):
            other.save(path)
    assert path.read_bytes() == before
    other.save(path)
    assert load(path) == other
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.toml"]


def test_save_refuses_what_it_cannot_write(tmp_path: Path) -> None:
    arm = read_robot(written(tmp_path, VALID))
    (tmp_path / "folder.toml").mkdir()
    for path, message in {
        tmp_path / "missing" / "arm.toml": "folder does not exist",
        tmp_path / "arm.toml" / "arm.toml": "cannot be written",
        tmp_path / "folder.toml": "cannot be written",
        tmp_path / ("a" * 300 + ".toml"): "cannot be written",
        tmp_path / "arm.json": r"ends in \.toml",
        tmp_path / "arm": r"ends in \.toml",
    }.items():
        with pytest.raises(ModelError, match=message) as caught:
            arm.save(path)
        assert str(path) in str(caught.value)
    for name, message in {"\ud800": "surrogate", "a" * 300_000: "256 KiB", "\n" * 16_000: "15000"}.items():
        with pytest.raises(ModelError, match=message):
            arm.replace(name=name).save(tmp_path / "arm.toml")
    long = SerialArm(joints=(Joint(),) * (MAX_JOINTS + 1))
    with pytest.raises(ModelError, match="65 joints"):
        long.save(tmp_path / "arm.toml")
    assert load(tmp_path / "arm.toml") == arm
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["arm.toml", "folder.toml"]


def test_largest_arm_that_is_saved_loads(tmp_path: Path) -> None:
    tilt = [[0.6, -0.8, 0.0, 1 / 3], [0.8, 0.6, 0.0, 1 / 7], [0.0, 0.0, 1.0, 1 / 9], [0.0, 0.0, 0.0, 1.0]]
    inertia = [[1 / 3, 1 / 70, 1 / 90], [1 / 70, 1 / 3, 1 / 110], [1 / 90, 1 / 110, 1 / 3]]
    joint = Joint(
        before=tilt, after=tilt, offset=1 / 3, mass=1 / 3, inertia=inertia, limits=(-1 / 3, 1 / 3), max_speed=1
    )
    arm = SerialArm(joints=(joint,) * MAX_JOINTS)
    arm.save(tmp_path / "arm.toml")
    assert load(tmp_path / "arm.toml") == arm


# ------------------------------------------------------------------------------------------------- by name or path


def test_load_refuses_what_is_no_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "arm.yaml").write_text(VALID)
    os.mkfifo(tmp_path / "pipe.toml")
    for path, message in {
        tmp_path / "missing.toml": "no such file",
        tmp_path / "folder.toml": "expected a file, got a folder",
        tmp_path: "expected a file, got a folder",
        tmp_path / "arm.yaml": r"unknown suffix '\.yaml'.*\.toml, \.urdf or \.xml.*puma560",
        tmp_path / "arm": "unknown suffix ''",
        tmp_path / "pipe.toml": "expected a regular file",
        tmp_path / ("a" * 300 + ".toml"): "cannot be read",
        Path("a\x00b.toml"): "no such file",
        Path("puma560"): "unknown suffix",
    }.items():
        with pytest.raises(ModelError, match=message) as caught:
            load(path)
        assert str(path).replace("\x00", r"\x00") in str(caught.value)
    with pytest.raises(ModelError, match=r"expected a catalogue name or a path, got 7"):
        load(7)  # type: ignore[arg-type]
    path = written(tmp_path, VALID)

    def locked(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(ModelError, match=r"arm\.toml: the file cannot be read: Permission denied"):
        load(path)


def test_tip_and_lock_are_for_urdf(tmp_path: Path) -> None:
    path = written(tmp_path, VALID)
    with pytest.raises(ModelError, match=r"tip: tip applies to URDF files only, .*arm\.toml.*\.urdf"):
        load(path, tip="hand")
    with pytest.raises(ModelError, match=r"lock: lock applies to URDF files only, and 'puma560' is not one"):
        load("puma560", lock={"joint1": 0.0})
    with pytest.raises(TypeError, match=r"load\(\) got an unexpected keyword argument 'tipp'"):
        load(path, tipp="hand")  # type: ignore[call-overload]


def test_suffix_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "ARM.TOML"
    path.write_text(VALID)
    assert load(str(path)).n == 2
