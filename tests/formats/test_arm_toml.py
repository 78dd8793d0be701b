"""Model files: what is read, what is refused and how it is said, and that saved arms load equal."""

from __future__ import annotations

import math
import os
import random
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from support.five_bar_texts import FIVE_BAR
from support.mjcf_texts import FOUR_BAR
from support.model_texts import IGNORE_UNPHYSICAL, VALID, mutant, refused_at_once, written
from support.urdf_texts import VALID as URDF
from tauforge.errors import ModelError
from tauforge.formats.loading import load, loads, read_robot
from tauforge.formats.model_files import STRING_OR_COMMENT
from tauforge.formats.toml_schema import MULTIPLE_OF_PI
from tauforge.robots.records import Source
from tauforge.robots.serial.serial_arm import SerialArm

SOAK = int(os.environ.get("TAUFORGE_SOAK", "1"))  # multiplies random counts
DOCUMENT = Path(__file__).parents[2] / "docs" / "model-file.md"

GENERAL = """format = "tauforge-arm-1"
name = "arm"
convention = "general"

[[joint]]
kind = "R"
before = { translation = [0.0, 0.1, 0.0], rpy = ["pi/2", 0.0, 0.0] }
offset = "pi/4"
mass = 1.0
com = [0.0, 0.0, 0.1]
inertia = [0.01, 0.01, 0.01]
"""


def changed(old: str, new: str, text: str = VALID) -> str:
    assert old in text
    return text.replace(old, new, 1)


def without(line: str, text: str = VALID) -> str:
    return re.sub(rf"(?m)^{line}.*\n", "", text, count=1)


def test_documented_example_loads_and_survives_saving(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    arm = load(written(tmp_path, example))
    assert (arm.name, arm.kinds, arm.convention, arm.coulomb_speed) == ("elbow arm", "RPR", "standard", 0.01)
    assert arm.joints[0].limits == (-160 * math.pi / 180, 8 * math.pi / 9)
    assert arm.joints[0].coulomb == (0.4, 0.45)
    assert arm.joints[1].inertia[0] == (0.04, 0.001, 0.0)
    assert arm.joints[2].offset == math.pi / 4
    assert arm.joints[2].dh is None
    assert arm.sources == (
        Source(("mass", "com", "inertia"), "weighed and swung in the workshop, 2024", "the flap only to one digit"),
    )
    arm.save(tmp_path / "again.toml")
    again = load(tmp_path / "again.toml")
    assert again == arm
    assert again.sources == arm.sources


def test_documented_messages_are_the_messages(tmp_path: Path) -> None:
    texts = [
        changed("translation", "translatoin"),
        changed("mass = 2\n", "mass = -1\n"),
        changed("com = [0.0, 0.0, 0.1]", "com = [0.0, 0.0, 0.1"),
    ]
    for text in texts[:2]:
        with pytest.raises(ModelError) as caught:
            read_robot(written(tmp_path, text))
        assert str(caught.value).replace(f"{tmp_path}{os.sep}", "") in DOCUMENT.read_text(encoding="utf-8")
    with pytest.raises(ModelError, match=r"arm\.toml:1\d: not valid TOML: Unclosed array"):
        read_robot(written(tmp_path, texts[2]))


def test_absent_keys_take_the_documented_values(tmp_path: Path) -> None:
    arm = read_robot(written(tmp_path, GENERAL))
    assert arm.joints[0].name == "joint1"
    assert arm.gravity == (0.0, 0.0, -9.81)
    assert arm.coulomb_speed == 0
    assert np.array_equal(arm.base, np.eye(4))
    assert np.array_equal(arm.joints[0].after, np.eye(4))
    assert (arm.joints[0].gear_ratio, arm.joints[0].limits, arm.joints[0].max_force) == (1.0, None, None)


def test_dh_rows_mean_what_from_dh_means(tmp_path: Path) -> None:
    for convention in ("standard", "modified"):
        arm = read_robot(written(tmp_path, changed('"standard"', f'"{convention}"')))
        same = SerialArm.from_dh(
            joints="RP",
            alpha=[math.pi / 2, 0],
            a=[0.1, 0],
            d=[0.2, 0],
            theta=[0.3, 0],
            convention=convention,
            mass=[1.5, 2],
            com=[[0, 0, 0.1], [0, 0, 0.2]],
            inertia=[np.diag([0.01, 0.01, 0.015]), [[0.01, 0.001, 0], [0.001, 0.01, 0], [0, 0, 0.01]]],
            coulomb=[(0.4, 0.5), (0, 0)],
            gear_ratio=[-60, 1],
            limits=[(-math.pi / 2, 1.5), (0, 0.4)],
            names=["turn", "slide"],
            tool=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]],
            coulomb_speed=0.01,
        )
        assert arm == same


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pi", math.pi),
        ("+pi", math.pi),
        ("-pi/2", -math.pi / 2),
        ("2*pi/3", 2 * math.pi / 3),
        (" - 0.5 * pi ", -0.5 * math.pi),
        ("160*pi/180", 160 * math.pi / 180),
    ],
)
def test_angles_with_pi_are_exact(tmp_path: Path, text: str, value: float) -> None:
    assert read_robot(written(tmp_path, changed("theta = 0.3", f'theta = "{text}"'))).joints[0].dh.theta == value


def test_roll_pitch_yaw_is_z_y_x(tmp_path: Path) -> None:
    arm = read_robot(written(tmp_path, changed("[tool]", "[tool]\nrpy = [0.3, -0.4, 0.5]")))

    def about(axis: int, angle: float) -> np.ndarray:
        i, j = (axis + 1) % 3, (axis + 2) % 3
        R = np.eye(3)
        R[[i, j, i, j], [i, j, j, i]] = np.cos(angle), np.cos(angle), -np.sin(angle), np.sin(angle)
        return R

    expected = about(2, 0.5) @ about(1, -0.4) @ about(0, 0.3)
    np.testing.assert_allclose(np.array(arm.tool)[:3, :3], expected, atol=1e-15)


@pytest.mark.parametrize("encode", [lambda t: b"\xef\xbb\xbf" + t.encode(), lambda t: t.replace("\n", "\r\n").encode()])
def test_files_of_other_editors_load(tmp_path: Path, encode: object) -> None:
    expected = read_robot(written(tmp_path, VALID))
    assert read_robot(written(tmp_path, encode(VALID))) == expected  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"""elbow"""', "elbow"),
        ('"""\nelbow\narm"""', "elbow\narm"),
        ('"""a "quoted" ""arm\\""""', 'a "quoted" ""arm"'),
        ('"""arm"""""', 'arm""'),
        ("'''it''s an arm'''", "it''s an arm"),
        ("'''elbow\narm'''", "elbow\narm"),
    ],
)
def test_multi_line_strings(tmp_path: Path, text: str, name: str) -> None:
    assert read_robot(written(tmp_path, changed('name = "arm"', f"name = {text}"))).name == name


@pytest.mark.parametrize("pattern", [STRING_OR_COMMENT, MULTIPLE_OF_PI], ids=["string", "multiple-of-pi"])
def test_no_pattern_needs_possessive_groups(pattern: re.Pattern[str]) -> None:
    """Python 3.11.2, Debian 12's own, does not match them: it refused every multi-line string."""
    parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    assert "MAX_REPEAT" in str(parsed)
    assert "POSSESSIVE" not in str(parsed)


# ------------------------------------------------------------------------------------------------- what is refused

BAD: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "empty": ("", ("empty",)),
    "blank": (" \n\t\n", ("empty",)),
    "not UTF-8": (changed('"arm"', '"arm é"').encode("latin-1"), (":2", "UTF-8", "0xe9")),
    "UTF-16": (VALID.encode("utf-16"), ("UTF-8",)),
    "NUL": (changed("mass = 1.5", "mass = \x00"), (":16", "not valid TOML")),
    "syntax": (changed("mass = 1.5", "mass == 1.5"), (":16", "not valid TOML")),
    "comma decimal": (changed("mass = 1.5", "mass = 1,5"), (":16", "not valid TOML")),
    "unit": (changed("mass = 1.5", "mass = 1.5kg"), (":16", "not valid TOML")),
    "open string": (changed('"turn"', '"turn'), (":10", "not valid TOML")),
    "open array": (VALID + "com = [0.0", ("not valid TOML",)),
    "repeated key": (changed("mass = 1.5", "mass = 1.5\nmass = 1.5"), (":17", "not valid TOML")),
    "XML": ("<robot name='arm'/>", (":1", "not valid TOML")),
    "other format": (changed("tauforge-arm-1", "tauforge-arm-9"), ("format", "tauforge-arm-9", "tauforge-arm-1")),
    "format a number": (changed('"tauforge-arm-1"', "1"), ("format", "unknown format 1")),
    "no format": (without("format"), ("format: the key is missing", 'format = "tauforge-arm-1"')),
    "no name": (without("name"), ("name: the key is missing",)),
    "name a number": (changed('"arm"', "7"), ("name: expected a string",)),
    "no convention": (without("convention"), ("convention: the key is missing", "standard")),
    "unknown convention": (changed('"standard"', '"Denavit"'), ("convention", "'Denavit'", "modified")),
    "no joints": (VALID.partition("[[joint]]")[0], ("joint", "at least one")),
    "one joint table": (changed("[[joint]]", "[joint]", GENERAL), ("joint", "[[joint]]")),
    "joint a number": (VALID.partition("[tool]")[0] + "joint = [1, 2]", ("joint[1]", "expected a table")),
    "misspelt arm key": (changed("coulomb_speed", "coulombspeed"), ("'coulombspeed'", "Did you mean coulomb_speed?")),
    "misspelt joint key": (changed("mass = 2", "Mass = 2"), ("joint[2]", "'Mass'", "Did you mean mass?")),
    "rotor": (changed("mass = 2", "mass = 2\nrotor_inertia = 3"), ("joint[2]", "Did you mean motor_inertia?")),
    "force limit": (changed("mass = 2", "mass = 2\nforce_limit = 3"), ("joint[2]", "Did you mean max_force?")),
    "unknown key": (changed("mass = 2", "mass = 2\npaint_job = 3"), ("joint[2]", "'paint_job'", "Known:", "max_force")),
    "key below its table": (VALID + "gravity = [0, 0, -9.81]", ("joint[2]", "'gravity'", "top of the file")),
    "mixed conventions": (VALID + 'convention = "modified"', ("joint[2]", "'convention'", "top of the file")),
    "dotted key": (changed("mass = 2", "mass.value = 2"), ("joint[2].mass", "expected a number", "{'value': 2}")),
    "no mass": (without("mass"), ("joint[1].mass: the key is missing", "mass = 2.5")),
    "no com": (without("com"), ("joint[1].com: the key is missing",)),
    "no inertia": (without("inertia"), ("joint[1].inertia: the key is missing",)),
    "no kind": (without("kind"), ("joint[1].kind: the key is missing", '"P"')),
    "no theta": (without("theta"), ("joint[1].theta: the key is missing",)),
    "mass nan": (changed("mass = 2", "mass = nan"), ("joint[2].mass", "finite", "nan")),
    "mass -inf": (changed("mass = 2", "mass = -inf"), ("joint[2].mass", "finite", "-inf")),
    "mass overflows": (changed("mass = 2", "mass = 1e999"), ("joint[2].mass", "finite", "inf")),
    "mass of 150 digits": (changed("mass = 2", f"mass = {10**150}"), ("joint[2].mass", "at most 1e+100")),
    "mass text": (changed("mass = 2", 'mass = "1kg"'), ("joint[2].mass", "expected a number", "'1kg'")),
    "mass pi": (changed("mass = 2", 'mass = "pi"'), ("joint[2].mass", "expected a number", "'pi'")),
    "mass true": (changed("mass = 2", "mass = true"), ("joint[2].mass", "expected a number", "True")),
    "mass a date": (changed("mass = 2", "mass = 1979-05-27"), ("joint[2].mass", "expected a number")),
    "mass a list": (changed("mass = 2", "mass = [2]"), ("joint[2].mass", "expected a number")),
    "negative mass": (changed("mass = 2", "mass = -2"), ("joint[2].mass", ">= 0", "-2")),
    "short com": (changed("[0, 0, 0.2]", "[0, 0]"), ("joint[2].com", "expected 3 numbers")),
    "com true": (changed("[0, 0, 0.2]", "[0, 0, true]"), ("joint[2].com", "expected a number", "True")),
    "com inf": (changed("[0, 0, 0.2]", "[0, 0, inf]"), ("joint[2].com", "finite")),
    "com nested": (changed("[0, 0, 0.2]", "[[0, 0, 0.2]]"), ("joint[2].com", "expected 3 numbers")),
    "two moments": (changed("[0.01, 0.01, 0.015]", "[0.01, 0.01]"), ("joint[1].inertia", "expected 3 numbers")),
    "asymmetric inertia": (changed("[[0.01, 0.001", "[[0.01, 0.002"), ("joint[2].inertia", "not symmetric", "Ixy")),
    "ragged inertia": (changed("[[0.01, 0.001, 0.0]", "[[0.01, 0.001]"), ("joint[2].inertia", "expected 3 numbers")),
    "inertia nan": (changed("[0.01, 0.01, 0.015]", "[0.01, nan, 0.015]"), ("joint[1].inertia", "finite")),
    "inertia text": (changed("[0.01, 0.01, 0.015]", '"0.01"'), ("joint[1].inertia", "expected 3 numbers")),
    "negative friction": (changed("[0.4, 0.5]", "[0.4, -0.5]"), ("joint[1].coulomb", ">= 0", "magnitudes")),
    "one friction": (changed("[0.4, 0.5]", "0.4"), ("joint[1].coulomb", "expected 2 numbers")),
    "no gear": (changed("-60.0", "0"), ("joint[1].gear_ratio", "other than 0", "Write for example")),
    "limits crossed": (changed("[0.0, 0.4]", "[0.5, 0.4]"), ("joint[2].limits", "lower limit 0.5", "lower first")),
    "limit unlimited": (changed("[0.0, 0.4]", "[0.0, inf]"), ("joint[2].limits", "finite")),
    "limit in pi metres": (changed("[0.0, 0.4]", '[0.0, "pi"]'), ("joint[2].limits", "expected a number")),
    "limit in degrees": (changed('"-pi/2"', '"-90 deg"'), ("joint[1].limits", "multiple of pi", "'-90 deg'")),
    "pi over nothing": (changed('"-pi/2"', '"pi/0"'), ("joint[1].limits", "multiple of pi")),
    "code for an angle": (changed('"pi/2"', "\"__import__('os')\""), ("joint[1].alpha", "multiple of pi")),
    "kind": (changed('"P"', '"prismatic"'), ("joint[2].kind", "'prismatic'", "P for prismatic")),
    "kind a number": (changed('"P"', "1"), ("joint[2].kind", "expected a string")),
    "repeated name": (changed('"slide"', '"turn"'), ("names must differ", "turn")),
    "DH in general": (changed("offset", 'alpha = "pi"\noffset', GENERAL), ("joint[1].alpha", "general", "standard")),
    "DH and transforms": (changed("theta = 0.3", "offset = 0.3"), ("joint[1].offset", "alpha", "before")),
    "gravity a number": (changed("coulomb_speed = 0.01", "gravity = 9.81"), ("gravity", "3 numbers", "[0.0, 0.0")),
    "negative smoothing": (changed("coulomb_speed = 0.01", "coulomb_speed = -1"), ("coulomb_speed", ">= 0")),
    "tool a list": (changed("[tool]\ntranslation", "tool"), ("tool", "expected a table")),
    "tool key": (changed("translation", "position"), ("tool", "'position'", "Known: translation")),
    "rpy length": (changed("[tool]", "[tool]\nrpy = [0.0]"), ("tool.rpy", "expected 3 numbers")),
    "rpy and rotation": (
        changed("[tool]", "[tool]\nrpy = [0, 0, 0]\nrotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]"),
        ("tool", "both rpy and rotation"),
    ),
    "reflection": (
        changed('rpy = ["pi/2", 0.0, 0.0]', "rotation = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]", GENERAL),
        ("joint[1].before.rotation", "not a rotation", "det = -1"),
    ),
    "huge rotation": (
        changed("[tool]", "[tool]\nrotation = [[1e99, 0, 0], [0, 1e99, 0], [0, 0, 1e99]]"),
        ("tool.rotation", "not a rotation"),
    ),
    "rotation of two rows": (
        changed("[tool]", "[tool]\nrotation = [[1, 0, 0], [0, 1, 0]]"),
        ("tool.rotation", "3 rows of 3 numbers"),
    ),
    "exception of nobody": (
        VALID + '[[known_exception]]\nbody = "link of turnip"\nreason = "none"\n',
        ("there is no body named", "link of turnip"),
    ),
    "exception without reason": (
        VALID + '[[known_exception]]\nbody = "link of turn"\n',
        ("known_exception[1].reason: the key is missing",),
    ),
    "source of one field": (
        VALID + '[[source]]\nfields = "mass"\nsource = "scales"\n',
        ("source[1].fields", "list of strings"),
    ),
    "too many joints": (VALID + "[[joint]]\n" * 63, ("65 joints", "at most 64")),
}


@pytest.mark.fault(1)
@pytest.mark.parametrize("case", BAD)
def test_bad_file_is_refused(tmp_path: Path, case: str) -> None:
    text, fragments = BAD[case]
    path = written(tmp_path, text)
    with pytest.raises(ModelError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert len(message) < len(str(path)) + 500
    for fragment in fragments:
        assert fragment in message


HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "dotted keys": (".".join(["a"] * 20_000) + " = 1", "dotted key"),
    "spaced dotted keys": (" . ".join(["a"] * 20_000) + " = 1", "dotted key"),
    "quoted dotted keys": (".".join(['"a"'] * 20_000) + " = 1", "dotted key"),
    "dotted header": ("[" + ".".join(["a"] * 20_000) + "]", "dotted key"),
    "key after escaped quotes": ('x = "\\"" # "\n' + ".".join("a" * 20_000) + " = 1", ":2: a dotted key"),
    "key after a multi-line string": (
        'x = """a\n\\""" ""\n""""\n' + ".".join("a" * 20_000) + " = 1",
        ":4: a dotted key",
    ),
    "deep arrays": ("a = " + "[" * 100_000, "nested"),
    "deep arrays, balanced": ("a = " + "[" * 20_000 + "]" * 20_000, "nested"),
    "deep inline tables": ("a = " + "{a = " * 20_000 + "1" + "}" * 20_000, "nested"),
    "deep dotted inline tables": ("a = " + "{a.a.a.a.a.a.a = " * 10_000, "nested"),
    "deep arrays beside empty ones": ("a = " + "[[]," * 4_000, "nested"),
    "large": ("#" * 10**6, "256 KiB"),
    "long array": ("a = [" + "1," * 120_000 + "]", "15000"),
    "many lines": ("\n" * 200_000, "empty"),
    "many comments": ("#\n" * 100_000, "15000"),
    "many keys": ("\n".join(f"a{i} = 1" for i in range(20_000)), "15000"),
    "many long keys": ("\n".join(f"a.b.c.d.e.f.g.h{i} = 1" for i in range(10_000)), "15000"),
    "as many long keys as fit": ("\n".join(f"a.b.c.d.e.f.g.h{i} = 1" for i in range(660)), "unknown key 'a'"),
    "as many keys as fit": ("\n".join(f"a{i} = 1" for i in range(3_700)), "unknown key 'a0'"),
    "as many values as fit": ("a = [" + "1," * 7_400 + "]", "unknown key 'a'"),
    "many joints": ("[[joint]]\n" * 2_400, "format: the key is missing"),
    "many joints of an arm": (VALID + "[[joint]]\n" * 2_000, "2002 joints"),
    "long integer": ("a = " + "1" * 200_000, "200 characters"),
    "long fraction": ("a = 0." + "1" * 200_000, "200 characters"),
    "long hexadecimal": ("a = 0x" + "f" * 200_000, "200 characters"),
    "long quoted key": ('"' + "a" * 200_000 + '" = 1', "unknown key 'aaa"),
    "long quoted key, twice": ('"' + "a" * 100_000 + '" = 1\n"' + "a" * 100_000 + '" = 1', ":2: not valid TOML"),
    "long string": (changed('"arm"', '"' + "a" * 200_000 + '"') + "[[joint]]", "joint[3].kind"),
    "many escapes": ('a = "' + "\\t" * 100_000 + '"', "15000"),
    "many line ends in a string": ('a = """' + "\\\n" * 100_000 + '"""', "15000"),
    "open string": ('a = "' + "\\t" * 100_000, "not valid TOML"),
    "open multi-line string": ('a = """' + '""\n' * 60_000, "not valid TOML"),
    "open literal string": ("a = '''" + "''\n" * 60_000, "not valid TOML"),
    "quotes": ('"' * 200_000, "15000"),
    "apostrophes": ("'" * 200_000, "15000"),
    "strings": ("a = [" + '"",' * 60_000 + "]", "15000"),
    "blanks": ("a =" + " " * 200_000 + "1", "unknown key 'a'"),
    "zeros": (b"\x00" * 200_000, "not valid TOML"),
    "words": ("a " * 100_000, "15000"),
    "closing brackets": ("]" * 200_000, "not valid TOML"),
    "long angle": (changed('"pi/2"', '"' + "9" * 200_000 + '*pi"'), "multiple of pi"),
    "blank angle": (changed('"pi/2"', '"' + " " * 200_000 + 'x"'), "multiple of pi"),
}


@pytest.mark.fault(4)
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_file_is_refused_within_a_tenth_of_a_second(tmp_path: Path, case: str) -> None:
    text, fragment = HOSTILE[case]
    refused_at_once(written(tmp_path, text), fragment)


@IGNORE_UNPHYSICAL
def test_mutated_files_give_an_arm_or_a_model_error(tmp_path: Path) -> None:
    generator = random.Random(20240501)
    accepted = 0
    for number in range(1_000 * SOAK):
        path = written(tmp_path, mutant(generator, (VALID if number % 2 else GENERAL).encode()))
        try:
            arm = load(path)
        except ModelError:
            continue
        accepted += 1
        assert np.isfinite(arm.inertial_parameters).all()
        arm.save(path)
        assert load(path) == arm
    assert accepted > 50 * SOAK  # else the mutants were no test of the reader


GOVERNOR = Path(__file__).parents[2] / "src" / "tauforge" / "formats" / "catalogue" / "flyball-governor.toml"
TEXTS = {"arm": VALID, "URDF": URDF, "URDF with loops": FIVE_BAR, "MJCF": FOUR_BAR}
TEXTS["mechanism"] = GOVERNOR.read_text(encoding="utf-8")
NUMBER = re.compile(r"(?<![\w.-])-?\d+\.?\d*(?![\w.])")


@pytest.mark.filterwarnings("ignore::tauforge.errors.TauforgeWarning")
@pytest.mark.parametrize("case", TEXTS)
def test_numbers_near_zero_give_a_robot_or_a_model_error(case: str) -> None:
    """The least double in place of every number: products with it are 0, quotients of them NaN."""
    text = TEXTS[case]
    places = list(NUMBER.finditer(text))
    assert len(places) > 20
    accepted = 0
    for place in places:
        with suppress(ModelError):
            loads(text[: place.start()] + "4e-324" + text[place.end() :])
            accepted += 1
    assert accepted > len(places) / 4


# ------------------------------------------------------------------------------------------------- what is written
