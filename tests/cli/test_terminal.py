"""Names and texts of model files cannot command the terminal: whatever they hold, it is printed escaped."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import tauforge as tf
from support.urdf_texts import VALID
from tauforge.cli.app import app
from tauforge.errors import printable

CATALOGUE = Path(tf.__file__).parent / "formats" / "catalogue"
CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"]
TURNS = [*"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
FORGED = "error: forged"
HOSTILE = f"\x1b[31m\x1b]0;owned\x07[red]x[/red]\n{FORGED}" + "".join((*CONTROLS, *TURNS))
IN_TOML = "".join(f"\\u{ord(c):04x}" for c in HOSTILE)
IN_XML = "".join(f"&#{ord(c)};" for c in HOSTILE if c >= " " and c != "\ufffe")  # others are no XML
UNPHYSICAL = "inertia = [0.1, 0.1, 0.5]"


def dangerous(text: str) -> list[str]:
    return sorted({c for c in text if c in CONTROLS or c in TURNS or "\ud800" <= c <= "\udfff"})


@pytest.fixture
def arm_file(tmp_path: Path) -> Path:
    """The PUMA with hostile texts wherever a file may have one, and something to warn of."""
    text = (CATALOGUE / "puma560.toml").read_text(encoding="utf-8")
    for key in ("name", "source", "note", "body", "reason"):
        text = re.sub(rf'(?m)^({key} = ".*)"$', lambda found: f'{found[1]}{IN_TOML}"', text)
    text = re.sub(r'(?m)^fields = \["', lambda found: found[0] + IN_TOML, text)
    text = re.sub(r"(?m)^max_force = .*", "max_force = 1e-9", text)
    text = re.sub(r"(?m)^inertia = .*", UNPHYSICAL, text)
    assert text.count(IN_TOML) > 10
    return saved(tmp_path / "arm.toml", text)


@pytest.fixture
def platform_file(tmp_path: Path) -> Path:
    text = (CATALOGUE / "motion-rig.toml").read_text(encoding="utf-8")
    for key in ("name", "source", "note"):
        text = re.sub(rf'(?m)^({key} = ".*)"$', lambda found: f'{found[1]}{IN_TOML}"', text)
    text = re.sub(r"(?m)^platform_inertia = .*", "platform_inertia = [1.0, 1.0, 9.0]", text)
    text = re.sub(r"(?m)^force_limit = .*", "force_limit = 1e-9", text)
    return saved(tmp_path / "rig.toml", text)


def saved(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


MOVE = ["--motion", "joint-move:0,0,0,0,0,0:0.1,0.1,0.1,0.1,0.1,0.1:0.2", "--step", "0.01"]
POSES = ["--motion", "pose-move:0,0,1,0,0,0:0,0,1.01,0,0,0:0.2", "--step", "0.01"]
ARM = [
    ["show"],
    ["check"],
    ["check", "--strict"],
    ["compare", "--states", "3"],
    ["complexity"],
    ["inverse-dynamics", "arm.csv"],
    ["forward-kinematics", "arm.csv"],
    ["simulate", *MOVE],
    ["sizing", "arm.csv"],
]
PLATFORM = [
    ["show"],
    ["check"],
    ["compare", "--states", "3"],
    ["complexity"],
    ["inverse-dynamics", "rig.csv"],
    ["forward-kinematics", "rig.csv"],
    ["simulate", *POSES],
    ["sizing", "rig.csv"],
    ["sizing", "rig.csv", "--check"],
]


def assert_harmless(*arguments: object, mentions: bool = True) -> None:
    """mentions: whether the hostile text is part of what is printed"""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    both = done.stdout + done.stderr
    assert dangerous(both) == []
    assert not any(line.startswith(FORGED) for line in both.splitlines())  # names and texts begin no line of their own
    if mentions:
        assert r"\x1b[31m\x1b]0;owned\x07[red]x[/red]" in both


@pytest.mark.parametrize("command", ARM, ids=" ".join)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["plain", "json"])
def test_every_command_on_a_hostile_arm(arm_file: Path, arm_csv: Path, command: list[str], more: list[str]) -> None:
    name, *rest = (str(arm_csv) if word == "arm.csv" else word for word in command)
    assert_harmless(name, arm_file, *rest, *more, mentions=not more)


@pytest.mark.parametrize("command", PLATFORM, ids=" ".join)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["plain", "json"])
def test_every_command_on_a_hostile_platform(
    platform_file: Path, rig_csv: Path, command: list[str], more: list[str]
) -> None:
    name, *rest = (str(rig_csv) if word == "rig.csv" else word for word in command)
    assert_harmless(name, platform_file, *rest, *more, mentions=not more)


@pytest.mark.parametrize("command", ["show", "check"])
@pytest.mark.parametrize("debug", [[], ["--debug"]], ids=["plain", "debug"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('format = "tauforge-arm-1"', f'format = "{IN_TOML}"'),
        ('name = "', f'"{IN_TOML}" = 1\nname = "'),
        ('kind = "R"', f'kind = "{IN_TOML}"'),
        ("mass = ", f'"{IN_TOML}" = 1\nmass = '),
        ("mass = ", f'a."{IN_TOML}" = 1\na."{IN_TOML}" = 2\nmass = '),
        ('name = "', 'name = "\x1b[31m\x9b\x7f'),
        ("inertia = ", f'after.translation = [0.0, 0.0, "{IN_TOML}"]\ninertia = '),
        ('convention = "', f'convention = "{IN_TOML}'),
    ],
    ids=["format", "key", "kind", "key-of-a-joint", "twice", "raw", "number", "convention"],
)
def test_what_is_wrong_with_a_hostile_arm(arm_file: Path, command: str, debug: list[str], old: str, new: str) -> None:
    text = arm_file.read_text(encoding="utf-8")
    assert old in text
    assert_harmless(command, saved(arm_file, text.replace(old, new, 1)), *debug, mentions=False)


@pytest.mark.parametrize(
    "command", [["show"], ["check"], ["show", "--tip", HOSTILE], ["show", "--lock", f"{HOSTILE}=1"]]
)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ('"revolute"', '"floating"'),
        ('"revolute"', f'"{IN_XML}"'),
        ('"2.5"', f'"{IN_XML}"'),
        ('<limit lower="0" upper="1"/>', '<limit lower="0" upper="1"/><mimic joint="shoulder"/>'),
        ('<parent link="base"/>', f'<parent link="{IN_XML}"/>'),
        ('xyz="0 0 1"', f'xyz="0 0 1" \u202e\u009b="{IN_XML}"'),
    ],
    ids=["good", "type", "unknown-type", "number", "mimic", "no-such-link", "attribute"],
)
def test_a_hostile_urdf(tmp_path: Path, command: list[str], old: str, new: str) -> None:
    text = VALID.replace(old, new, 1)
    text = re.sub(r'((?:robot|joint|link) name|child link|mimic joint)="(?!base)', rf'\1="{IN_XML}', text)
    path = saved(tmp_path / "robot.urdf", text.replace('<parent link="upper"/>', f'<parent link="{IN_XML}upper"/>'))
    assert_harmless(command[0], path, *command[1:], mentions=False)


# ----------------------------------------------------------------------------------------------------- in Python


def test_errors_and_warnings_are_harmless(arm_file: Path, platform_file: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arm, rig = tf.load(arm_file), tf.load(platform_file)
    assert HOSTILE in arm.name
    assert HOSTILE in rig.name  # kept as given, escaped only where they are shown
    flat = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    texts = [str(warning.message) for warning in caught]
    assert len(texts) > 2
    for call in (
        lambda: rig.forward_kinematics([1e3] * 3 + [1.0] * 3),
        lambda: rig.replace(upper_mass=None),
        lambda: rig.inverse_dynamics(flat, flat, flat),
        lambda: tf.simulate(arm, None, duration=0.1),
        lambda: tf.load(HOSTILE),
        lambda: tf.load(f"{HOSTILE}/robot.urdf"),
        lambda: arm.kernel(HOSTILE),
    ):
        with pytest.raises(tf.TauforgeError) as raised:
            call()
        texts.append(str(raised.value))
    assert [dangerous(text) for text in texts] == [[]] * len(texts)


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "L", "P"], exclude_characters="\\")))
def test_printable_text_is_harmless_and_otherwise_the_same(text: str) -> None:
    shown = printable(text)
    assert dangerous(shown) == []
    assert printable(shown) == shown
    kept = "".join(c for c in text if not dangerous(c))
    assert re.sub(r"\\x[0-9a-f]{2}|\\u[0-9a-f]{4}", "", shown) == kept
    assert str(tf.ModelError(text, field=text, remedy=text)) == printable(f"{text}: {text}. {text}")


def test_what_is_escaped() -> None:
    assert printable("a\x1b[31m\tb\n\x7f\x9b\u202ec\udc80") == "a\\x1b[31m\tb\n\\x7f\\x9b\\u202ec\\udc80"
    assert printable("Gelenk f\u00fcr \u89d2\u5ea6 \u03b8") == "Gelenk f\u00fcr \u89d2\u5ea6 \u03b8"
