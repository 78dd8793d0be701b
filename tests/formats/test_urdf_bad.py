"""URDF files that are wrong, hostile or broken: refused with file, line and reason, cheaply; nothing else is opened."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tauforge as tf
from support.cpu_time import quickest
from support.urdf_texts import TREE, VALID, changed
from tauforge.errors import ModelError, UnphysicalInertiaWarning, UnsupportedFeatureError
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.robot import Robot
from tauforge.robots.serial.serial_arm import SerialArm

SOAK = int(os.environ.get("TAUFORGE_SOAK", "1"))  # multiplies random counts
SECONDS, BYTES = 1.0, 200e6  # for a hostile file of 1 MB


class Bad(NamedTuple):
    """One change of VALID, the line that must be named and what must be said."""

    name: str
    old: str
    new: str
    line: int
    says: tuple[str, ...]
    error: type[ModelError] = ModelError


JOINT = '<joint name="more" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'
END = "</robot>"
FREE = '<link name="end"/>'
NUMBER = ("mass value", "expected a finite number")
BAD = [
    Bad("mass-nan", '"2.5"', '"nan"', 7, (*NUMBER, "'nan'")),
    Bad("mass-inf", '"2.5"', '"inf"', 7, NUMBER),
    Bad("mass-unit", '"2.5"', '"2.5kg"', 7, (*NUMBER, "'2.5kg'")),
    Bad("mass-comma", '"2.5"', '"2,5"', 7, (*NUMBER, "decimal point")),
    Bad("mass-underscore", '"2.5"', '"1_000"', 7, NUMBER),
    Bad("mass-hexadecimal", '"2.5"', '"0x10"', 7, NUMBER),
    Bad("mass-xacro", '"2.5"', '"${mass}"', 7, (*NUMBER, "xacro")),
    Bad("mass-overflow", '"2.5"', '"1e400"', 7, NUMBER),
    Bad("mass-other-digits", '"2.5"', '"\u0662"', 7, NUMBER),
    Bad("mass-absurd", '"2.5"', '"1e101"', 7, ("mass value", "at most 1e+100")),
    Bad("mass-negative", '"2.5"', '"-2.5"', 7, ("mass value", ">= 0", "-2.5")),
    Bad("mass-empty", '"2.5"', '""', 7, ("mass value", "empty")),
    Bad("mass-two-numbers", '"2.5"', '"2 5"', 7, ("mass value", "expected 1 number")),
    Bad("mass-no-value", '<mass value="2.5"/>', "<mass/>", 7, ("mass value", "missing")),
    Bad("mass-missing", '<mass value="2.5"/>', "", 5, ("<inertial> has no <mass>",)),
    Bad("inertia-missing", "<inertia ixx", "<other ixx", 5, ("<inertial> has no <inertia>",)),
    Bad("inertia-five", 'iyz="0" ', "", 8, ("inertia iyz", "missing")),
    Bad("inertia-nan", 'izz="0.15"', 'izz="NaN"', 8, ("inertia izz", "finite")),
    Bad("inertial-twice", "</inertial>", "</inertial><inertial/>", 9, ("second <inertial>",)),
    Bad("xyz-two", 'xyz="0 0 0.1"', 'xyz="0 0"', 6, ("origin xyz", "3 numbers", "'0 0'")),
    Bad("xyz-commas", 'xyz="0 0 0.1"', 'xyz="0,0,0.1"', 6, ("origin xyz", "3 numbers")),
    Bad("xyz-four", 'xyz="0 0 0.3"', 'xyz="0 0 0.3 1"', 20, ("origin xyz", "3 numbers")),
    Bad("rpy-text", 'rpy="0 0 0"', 'rpy="0 0 pi"', 20, ("origin rpy", "'pi'")),
    Bad("rpy-infinite", 'rpy="0 0 0"', 'rpy="0 0 -1e999"', 20, ("origin rpy", "finite")),
    Bad("axis-zero", 'xyz="0 0 1"', 'xyz="0 0 -0.0"', 21, ("axis xyz", "zero", "0 0 1")),
    Bad("axis-one-number", 'xyz="0 0 1"', 'xyz="1"', 21, ("axis xyz", "3 numbers")),
    Bad("axis-no-xyz", '<axis xyz="0 0 1"/>', "<axis/>", 21, ("axis xyz", "missing")),
    Bad("limit-missing", '<limit lower="0" upper="1"/>', "", 25, ("limit", "prismatic joint needs a <limit>")),
    Bad("limit-crossed", 'lower="-2"', 'lower="3"', 22, ("limit", "the lower limit 3.0 is above the upper limit 2.0")),
    Bad("limit-text", 'upper="2"', 'upper="2rad"', 22, ("limit upper", "finite")),
    Bad("limit-nan", 'lower="-2"', 'lower="nan"', 22, ("limit lower", "finite")),
    Bad("effort-negative", 'effort="50"', 'effort="-50"', 22, ("limit effort", ">= 0")),
    Bad("velocity-nan", 'velocity="3"', 'velocity="nan"', 22, ("limit velocity", "finite")),
    Bad("damping-negative", 'damping="0.1"', 'damping="-0.1"', 23, ("dynamics damping", ">= 0")),
    Bad("friction-text", 'friction="0.2"', 'friction="low"', 23, ("dynamics friction", "finite")),
    Bad("joint-no-name", 'name="slide" ', "", 25, ("joint name", "missing")),
    Bad("joint-no-type", ' type="prismatic"', "", 25, ("joint type", "missing")),
    Bad("joint-no-parent", '<parent link="upper"/>', "", 25, ("<joint> has no <parent>",)),
    Bad("joint-no-child", '<child link="lower"/>', "", 25, ("<joint> has no <child>",)),
    Bad("parent-no-link", '<parent link="upper"/>', "<parent/>", 26, ("parent link", "missing")),
    Bad("parent-unknown", '<parent link="upper"/>', '<parent link="uper"/>', 26, ("'uper'", "'slide' parent")),
    Bad("child-unknown", '<child link="lower"/>', '<child link="x"/>', 27, ("no link named 'x'", "'slide' child")),
    Bad("joint-twice", 'name="slide"', 'name="shoulder"', 25, ("second joint", "'shoulder'", "line 17")),
    Bad("link-twice", 'name="lower"', 'name="upper"', 11, ("second link", "'upper'", "line 4")),
    Bad("link-no-name", '<link name="base"/>', "<link/>", 3, ("link name", "missing")),
    Bad("two-parents", END, JOINT.format("fixed", "base", "lower", "") + END, 31, ("two parents", "'more'")),
    Bad("two-roots", END, FREE + END, 31, ("several root links", "'base', 'end'")),
    Bad("loop", '<parent link="base"/>', '<parent link="lower"/>', 17, ("loop", "'upper', 'lower'")),
    Bad("loop-everywhere", END, JOINT.format("fixed", "lower", "base", "") + END, 31, ("loop", "'base'")),
    Bad("self-loop", '<parent link="upper"/>', '<parent link="lower"/>', 25, ("loop", "'lower'")),
    Bad("no-robot", VALID, "\n<arm/>", 2, ("'robot'", "'arm'")),
    Bad("robot-no-name", '<robot name="two">', "<robot>", 2, ("robot name", "missing")),
    Bad("mistyped-end", END, "</robt>", 31, ("not well-formed", "mismatched tag")),
    Bad("cut-short", '<joint name="slide"', "<!--", 25, ("not well-formed",)),
    Bad("unknown-entity", '"2.5"', '"&mass;"', 7, ("not well-formed", "undefined entity")),
    Bad("not-utf-8", '"upper"', '"\udcff"', 4, ("UTF-8",)),
    Bad("xacro", "<link", "<xacro:include/><link", 3, ("xacro:include", "Expand"), UnsupportedFeatureError),
    Bad("type-unknown", '"revolute"', '"hinge"', 17, ("shoulder", "'hinge'", "revolute"), UnsupportedFeatureError),
    Bad(
        "mimic-of-nothing",
        '<limit lower="0" upper="1"/>',
        '<limit lower="0" upper="1"/><mimic joint="elbow"/>',
        25,
        ("'slide' mimic", "no joint named 'elbow'", "'shoulder'"),
    ),
]


@pytest.mark.fault(1)
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_bad_file_is_refused_by_file_line_and_reason(written: Any, bad: Bad) -> None:
    text = changed(bad.old, bad.new).encode("utf-8", "surrogateescape")
    with pytest.raises(ModelError) as caught:
        tf.load(written(text, "bad.urdf"))
    message = str(caught.value)
    assert type(caught.value) is bad.error
    for part in (f"bad.urdf:{bad.line}: ", *bad.says):
        assert part in message


def test_robot_without_links_or_joints(written: Any) -> None:
    with pytest.raises(ModelError, match=r"robot\.urdf:1: the robot has no link"):
        tf.load(written('<robot name="r"/>'))
    with pytest.raises(ModelError, match=r"robot\.urdf:1: the robot has no joint"):
        tf.load(written('<robot name="r"><link name="a"/></robot>'))
    fixed = '<robot name="r"><link name="base"/><link name="end"/>' + JOINT.format("fixed", "base", "end", "") + END
    with pytest.raises(ModelError, match=r"robot\.urdf:1: there is no moving joint"):
        tf.load(written(fixed))


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.urdf: no such file"):
        tf.load(tmp_path / "nowhere.urdf")
    with pytest.raises(ModelError, match="expected a file, got a folder"):
        tf.load(tmp_path)


# ------------------------------------------------------------------------------------------------ tip and lock


@pytest.mark.parametrize(
    ("tip", "lock", "expected", "says"),
    [
        ("flang", {}, ModelError, ("tip: ", "no link named 'flang'", "'flange'")),
        ("zzz", {}, ModelError, ("no link named 'zzz'", "'world'")),
        ("pedestal", {"grip": 0}, ModelError, ("tip: ", "no moving joint between 'world' and 'pedestal'")),
        (None, {"grap": 0.0}, ModelError, ("lock: ", "no joint named 'grap'", "'grip'")),
        (None, {"bolt": 0.0}, ModelError, ("lock: ", "'bolt' is fixed")),
        (None, {"grip": float("nan")}, ModelError, ("lock['grip']", "finite")),
        (None, {"grip": "0"}, ModelError, ("lock['grip']", "number")),
        (None, {"grip": -1e200}, ModelError, ("lock['grip']", "at most 1e+100")),
        ("flange", {}, UnsupportedFeatureError, ("mimic joint 'grip'", "lock={'grip': 0.0}")),
        ("b", {"grip": 0.0}, UnsupportedFeatureError, ("branch off: 'spin'", "lock={'spin': 0.0}", "tip=")),
    ],
)
def test_tip_and_lock_are_checked(
    written: Any, tip: str | None, lock: dict[str, Any], expected: type[ModelError], says: tuple[str, ...]
) -> None:
    with pytest.raises(ModelError) as caught:
        tf.load(written(TREE), tip=tip, lock=lock)
    assert type(caught.value) is expected
    for part in ("robot.urdf:", *says):
        assert part in str(caught.value)


def test_joint_that_one_number_cannot_lock(written: Any) -> None:
    with pytest.raises(UnsupportedFeatureError, match="floating joint cannot be locked"):
        tf.load(written(changed('"prismatic"', '"floating"')), lock={"slide": 0.0})


# ------------------------------------------------------------------------------------------------ hostile files


def chain_of(n: int, kind: str, name: str = "j") -> str:
    """n joints in a row, the first of them revolute."""
    limit = '<limit lower="0" upper="1"/>'
    mass = (
        '<inertial><origin rpy="1 2 3"/><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    joints = [
        f'<link name="{name}{i + 1}">{mass}</link><joint name="{name}{i}" type="{"revolute" if i == 0 else kind}">'
        f'<parent link="{name}{i}"/><child link="{name}{i + 1}"/><origin rpy="3 2 1"/>{limit}</joint>'
        for i in range(n)
    ]
    return f'<robot name="r"><link name="{name}0"/>{"".join(joints)}</robot>'


def laughs() -> str:
    entities = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
    return f'<!DOCTYPE robot [<!ENTITY l0 "ha">{entities}]><robot name="&l9;"/>'


MEGABYTE = 10**6
VISUAL = '<visual><origin rpy="1 2 3"/><geometry><mesh filename="../a.stl"/></geometry></visual>'
HOSTILE = {
    "billion-laughs": (laughs(), "DOCTYPE"),
    "external-entity": ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>', "DOCTYPE"),
    "external-dtd": ('<!DOCTYPE robot SYSTEM "http://localhost/robot.dtd"><robot name="r"/>', "DOCTYPE"),
    "parameter-entity": ('<!DOCTYPE r [<!ENTITY % x SYSTEM "x.dtd"> %x;]><robot name="r"/>', "DOCTYPE"),
    "unclosed-doctype": ("<!DOCTYPE r [" + "<!ENTITY a 'b'>" * 60_000, "DOCTYPE"),
    "unknown-encoding": ('<?xml version="1.0" encoding="zlib_codec"?><robot/>', "no link"),
    "deep": ("<a>" * 100_000 + "</a>" * 100_000, "nested"),
    "deep-in-robot": ('<robot name="r">' + "<link>" * 100_000, "nested"),
    "many-elements": ('<robot name="r">' + "<a/>" * 250_000 + END, "elements"),
    "many-attributes": ("<robot " + " ".join(f'a{i}=""' for i in range(100_000)) + "/>", "no link"),
    "long-attribute": (f'<robot name="{"x" * MEGABYTE}"/>', "no link"),
    "long-tag": (f"<{'x' * MEGABYTE}/>", "root element"),
    "long-comment": (f"<robot><!--{'-x' * (MEGABYTE // 2)}--></robot>", "no link"),
    "long-text": (f'<robot name="r">{"&amp;" * (MEGABYTE // 5)}</robot>', "no link"),
    "long-number": (changed('"2.5"', f'"{"1" * MEGABYTE}"'), "mass value"),
    "long-bad-number": (changed('"2.5"', f'"{"1" * MEGABYTE}x"'), "mass value"),
    "long-fraction": (changed('"2.5"', f'"0.{"0" * MEGABYTE}1"'), "mass value"),
    "many-numbers": (changed('xyz="0 0 0.1"', f'xyz="{"0 " * (MEGABYTE // 2)}"'), "3 numbers"),
    "unknown-tags": (changed("</joint>", "".join(f"<cimymnad_{i}/>" for i in range(49_000)) + "</joint>"), None),
    "near-tags": (changed("</joint>", "<Limit/>" * 49_000 + "</joint>"), None),
    "unknown-attributes": (changed("<axis", "<axis " + " ".join(f'xyz{i}=""' for i in range(80_000))), None),
    "many-visuals": (changed('<link name="base"/>', f'<link name="base">{VISUAL * 10_000}</link>'), None),
    "many-links": ("<robot>" + "".join(f'<link name="{i}"/>' for i in range(40_000)) + END, "more than 500 links"),
    "long-names": (chain_of(400, "fixed", "n" * 400), None),
    "long-fixed-chain": (chain_of(499, "fixed"), None),
    "long-moving-chain": (chain_of(499, "revolute"), None),
    "over-the-cap": ("<robot>" + "<a></a>" * 700_000, "larger than 4 MiB"),
    "bytes": ("\x00\x01" * (MEGABYTE // 2), "not well-formed"),
    "nothing": ("", "not well-formed"),
}


def read_or_refuse(path: Path) -> Robot | ModelError:
    try:
        return tf.load(path)
    except ModelError as refusal:
        return refusal


@pytest.mark.fault(2)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("ignore:.*unknown names are ignored")
@pytest.mark.filterwarnings("ignore:.*visuals are left out")
def test_hostile_file_is_cheap(written: Any, name: str) -> None:
    text, says = HOSTILE[name]
    read_or_refuse(written(chain_of(2, "revolute")))  # modules that are imported with the first file are not its cost
    path = written(text)
    seconds, result = quickest(lambda: read_or_refuse(path), SECONDS)
    assert seconds < SECONDS
    tracemalloc.start()  # sees the parser's memory too, and is slow: hence apart from the timing
    try:
        read_or_refuse(path)
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()
    if says is None:
        assert isinstance(result, SerialArm)
    else:
        assert isinstance(result, ModelError)
        assert says in str(result)
        assert "robot.urdf" in str(result)
        assert len(str(result)) < 2_000 + len(str(path))


VALUES = [b"nan", b"-", b"1e999", b"1e308", b"-1e99", b"1e99", b"1e-320", b"0", b"-0.0", b" ", b"9" * 20, b"-5"]
VALUES += [b"0 0 1e99", b"1e-9 0 -1", b"1e99 1e99 1e-200", b"upper", b"base", b"fixed", b"revolute", b"planar", b"&lt;"]
WORDS = [b"<", b">", b"<!--", b"]]>", b"</link>", b"<mimic/>", b"<a>", b"&#0;", b"\xff", b"\xc2\xa0", b"\x00", b'"']
WORDS += VALUES


def mutant(valid: bytes, draw: random.Random) -> bytes:
    """One to three random changes, of bytes or of attributes: most files stay XML, and many a URDF."""
    data = bytearray(valid)
    for _ in range(draw.randint(1, 3)):
        at, length = draw.randrange(len(data)), draw.randint(1, 40)
        values = [match.span() for match in re.finditer(rb'(?<==")[^"]*', data)]
        match draw.randrange(8):
            case 0:
                data[at] ^= 1 << draw.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length]
            case 3:
                data[at : at + draw.randrange(4)] = draw.choice(WORDS)
            case 4 if values:
                start, end = draw.choice(values)
                data[start:end] = data[slice(*draw.choice(values))]
            case _ if values:
                start, end = draw.choice(values)
                data[start:end] = draw.choice(VALUES)
    return bytes(data)


ONE_CHAIN = re.sub("<mimic[^>]*>", "", TREE).replace('"pan" type="continuous"', '"pan" type="fixed"')


LOOKING = VALID.replace(
    '<link name="base"/>',
    '<link name="base"><visual><origin xyz="0 0 0.05" rpy="0 0 1"/><geometry><box size="0.1 0.2 0.3"/></geometry>'
    '<material name="a"><color rgba="1 0 0 1"/></material></visual><visual><geometry>'
    '<mesh filename="package://two/a.stl" scale="1 1 2"/></geometry></visual></link>',
)


@pytest.mark.fault(2)
@pytest.mark.parametrize("valid", [VALID, ONE_CHAIN, LOOKING], ids=["two", "tree", "looking"])
def test_mutants_give_a_robot_or_a_model_error(written: Any, valid: str) -> None:
    draw = random.Random(20)
    arms = 0
    for _ in range(1000 * SOAK):
        path = written(mutant(valid.encode(), draw))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UnphysicalInertiaWarning)
            warnings.filterwarnings("ignore", ".*no moving link has mass", UserWarning)
            warnings.filterwarnings("ignore", ".*unknown names are ignored", UserWarning)
            warnings.filterwarnings("ignore", ".*visuals are left out", UserWarning)
            warnings.filterwarnings("ignore", ".*few links are that long", UserWarning)
            result = read_or_refuse(path)
        if isinstance(result, SerialArm):
            arms += 1
            numbers = [result.tool, *(joint.before for joint in result.joints), result.inertial_parameters]
            numbers += [visual.placement for visual in result.visuals]
            assert all(np.isfinite(number).all() for number in numbers)
        elif isinstance(result, Mechanism):
            numbers = [result.home, *(body.inertia for body in result.bodies), *(body.com for body in result.bodies)]
            assert all(np.isfinite(number).all() for number in numbers)
        else:
            assert "robot.urdf" in str(result)
    assert 0 < arms < 1000 * SOAK  # both outcomes were met


# ------------------------------------------------------------------------------------------------ nothing else opened

WATCHER = """
import json, sys, warnings
from pathlib import Path
from tauforge.formats.urdf import robot_of
from tauforge.formats.xml_reader import read_xml

warnings.simplefilter("ignore")  # to print one, Python looks for the line of code

events = []
watched = ("open", "socket", "os.", "subprocess", "urllib", "shutil", "pathlib", "glob", "ctypes", "import")
def watch(event, arguments):
    if event.startswith(watched):
        events.append([event, str(arguments[0]) if arguments else ""])
sys.addaudithook(watch)
arm = robot_of(read_xml(Path(sys.argv[1])))
found = list(events)
print(json.dumps([arm.n, found]))
"""
MESHES = ["../../secret.stl", "/etc/hostname", "file:///etc/hostname", "http://127.0.0.1:9/a.stl", "inside/link.stl"]
MESHES += ["package://two/../../secret.stl", "\\\\host\\share\\a.stl"]


@pytest.mark.fault(3)
def test_meshes_are_never_opened(written: Any, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link.stl").symlink_to("/etc/hostname")
    shapes = "".join(
        f'<{tag}><geometry><mesh filename="{mesh}"/></geometry>'
        f'<material><texture filename="{mesh}"/></material></{tag}>'
        for mesh in MESHES
        for tag in ("visual", "collision")
    )
    path = written(changed('<link name="base"/>', f'<link name="base">{shapes}</link>'))
    done = subprocess.run([sys.executable, "-c", WATCHER, str(path)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [2, [["open", str(path)]]]
