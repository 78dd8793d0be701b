"""Platform files: what is read, what is refused and how it is said."""

from __future__ import annotations

import math
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.model_texts import IGNORE_UNPHYSICAL, mutant, refused_at_once
from tauforge.formats.loading import load, read_robot

DOCUMENT = Path(__file__).parents[2] / "docs" / "model-file.md"
AXES = "[[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]]"
VALID = f"""format = "tauforge-platform-1"
name = "rig"
gravity = [0.0, 0.0, -9.81]
friction = [0.1, 20.0, 0.2]
base_points = [
  [0.5, -0.1, 0.0],
  [0.5, 0.1, 0.0],
  [-0.2, 0.5, 0.0],
  [-0.4, 0.4, 0.0],
  [-0.4, -0.4, 0.0],
  [-0.2, -0.5, 0.0],
]
platform_points = [[0.2, -0.3, 0], [0.2, 0.3, 0], [0.1, 0.3, 0], [-0.3, 0.1, 0], [-0.3, -0.1, 0], [0.1, -0.3, 0]]
universal_axes = [[0.1, 0.5, 0], [-0.1, 0.5, 0], [-0.5, -0.2, 0], [-0.4, -0.4, 0], [0.4, -0.4, 0.1], [0.5, -0.2, 0]]
lower_mass = 2.5
upper_mass = [0.8, 0.8, 0.8, 0.8, 0.8, 0.9]
lower_com = [0.15, 0.0, 0.01]
upper_com = [[-0.1, 0, 0], [-0.1, 0, 0], [-0.1, 0, 0], [-0.1, 0, 0], [-0.1, 0, 0], [-0.2, 0, 0]]
lower_inertia = [[0.02, 0.0, 0.004], [0.0, 0.03, 0.0], [0.004, 0.0, 0.03]]
upper_inertia = [0.001, 0.01, 0.01]
platform_mass = 12
platform_com = [0.0, 0.0, 0.05]
platform_inertia = [0.4, 0.4, 0.7]
reflected_mass = 3.5
stroke = [0.4, 0.75]
force_limit = 800.0
base_joint_axes = {AXES}
platform_joint_axes = {AXES}
cone_angles = ["pi/4", 0.9]
leg_radius = 0.02
base_joint = "universal"
"""
GEOMETRY = VALID.partition("universal_axes")[0]


def changed(old, new, text=VALID):
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


def put(key, value, text=VALID):
    """The line of this key with another value."""
    assert re.search(rf"(?m)^{key} = .*\n", text)
    return re.sub(rf"(?m)^{key} = .*", lambda _: f"{key} = {value}", text, count=1)


def without(key, text=VALID):
    assert re.search(rf"(?m)^{key} = .*\n", text)
    return re.sub(rf"(?m)^{key} = .*\n", "", text, count=1)


def written(folder, text):
    path = folder / "rig.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# ------------------------------------------------------------------------------------------------- what is read


def documented_section():
    """What the page says of platforms."""
    return DOCUMENT.read_text(encoding="utf-8").partition("## Stewart platforms")[2].partition("\n## ")[0]


def test_documented_example_loads_and_survives_saving(tmp_path):
    (example,) = re.findall(r"~~~toml\n(.*?)~~~", documented_section(), re.DOTALL)
    platform = load(written(tmp_path, example))
    assert isinstance(platform, tf.StewartPlatform)
    assert (platform.name, platform.lower_mass) == ("small hexapod", (2.0,) * 6)
    assert platform.upper_mass == (0.8,) * 5 + (0.9,)
    assert platform.cone_angles == (math.pi / 4, 0.9)
    assert platform.upper_inertia[5] == ((0.0004, 0, 0), (0, 0.01, 0), (0, 0, 0.01))
    assert platform.within_limits([0, 0, 0.5, 0, 0, 0]).hold
    platform.save(tmp_path / "again.toml")
    again = load(tmp_path / "again.toml")
    assert (again, again.sources) == (platform, platform.sources)


def test_documented_keys_are_the_keys():
    from tauforge.formats.platform_toml import PLATFORM_KEYS

    rows = re.findall(r"(?m)^\| (`.*?) \|", documented_section())
    documented = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert documented == set(PLATFORM_KEYS) - {"known_exception", "source"}


def test_documented_message_is_the_message(tmp_path):
    with pytest.raises(tf.ModelError) as caught:
        load(written(tmp_path, changed("[-0.4, 0.4, 0.0]", "[0.5, 0.1, 0.0]")))
    assert str(caught.value).replace(f"{tmp_path}{os.sep}", "") in DOCUMENT.read_text(encoding="utf-8")


def test_absent_keys_take_the_documented_values(tmp_path):
    platform = read_robot(written(tmp_path, without("gravity", without("friction", GEOMETRY))))
    assert platform.gravity == (0.0, 0.0, -9.81)
    assert (platform.friction, platform.reflected_mass) == ((0.0,) * 3, (0.0,) * 6)
    assert not platform.has_masses
    assert {platform.stroke, platform.force_limit, platform.cone_angles, platform.leg_radius} == {None}
    b = np.array(platform.base_points)
    axes = np.cross([0, 0, 1], b - b.mean(axis=0))
    np.testing.assert_allclose(
        platform.universal_axes, axes / np.linalg.norm(axes, axis=1, keepdims=True), rtol=0, atol=1e-15
    )


def test_values_mean_what_the_constructor_means(tmp_path):
    platform = load(written(tmp_path, VALID))
    same = tf.StewartPlatform(
        name="rig",
        friction=(0.1, 20, 0.2),
        base_points=[[0.5, -0.1, 0], [0.5, 0.1, 0], [-0.2, 0.5, 0], [-0.4, 0.4, 0], [-0.4, -0.4, 0], [-0.2, -0.5, 0]],
        platform_points=[[0.2, -0.3, 0], [0.2, 0.3, 0], [0.1, 0.3, 0], [-0.3, 0.1, 0], [-0.3, -0.1, 0], [0.1, -0.3, 0]],
        universal_axes=[
            [0.1, 0.5, 0],
            [-0.1, 0.5, 0],
            [-0.5, -0.2, 0],
            [-0.4, -0.4, 0],
            [0.4, -0.4, 0.1],
            [0.5, -0.2, 0],
        ],
        lower_mass=[2.5] * 6,
        upper_mass=np.array([0.8] * 5 + [0.9]),
        lower_com=[[0.15, 0, 0.01]] * 6,
        upper_com=[[-0.1, 0, 0]] * 5 + [[-0.2, 0, 0]],
        lower_inertia=[[[0.02, 0, 0.004], [0, 0.03, 0], [0.004, 0, 0.03]]] * 6,
        upper_inertia=[[0.001, 0.01, 0.01]] * 6,
        platform_mass=12,
        platform_com=(0, 0, 0.05),
        platform_inertia=np.diag([0.4, 0.4, 0.7]),
        reflected_mass=3.5,
        stroke=[[0.4, 0.75]] * 6,
        force_limit=[800] * 6,
        base_joint_axes=[[0, 0, 2]] * 6,
        platform_joint_axes=[[0, 0, 1]] * 6,
        cone_angles=[math.pi / 4, 0.9],
        leg_radius=0.02,
    )
    assert platform == same


SPHERICAL = without("universal_axes")
for old, new in {
    '"universal"': '"spherical"',
    "20.0, 0.2]": "20.0, 0.0]",
    "[0.15, 0.0, 0.01]": "[0.15, 0.0, 0.0]",
    "[[0.02, 0.0, 0.004], [0.0, 0.03, 0.0], [0.004, 0.0, 0.03]]": "[0.02, 0.03, 0.03]",
}.items():
    SPHERICAL = changed(old, new, SPHERICAL)


def test_spherical_joints_at_both_ends(tmp_path):
    platform, universal = load(written(tmp_path, SPHERICAL)), load(written(tmp_path, VALID))
    symmetric = {"lower_com": (0.15, 0, 0), "lower_inertia": (0.02, 0.03, 0.03), "friction": (0.1, 20, 0)}
    assert platform == universal.replace(base_joint="spherical", **symmetric)
    assert platform.universal_axes is None


# ------------------------------------------------------------------------------------------------- what is refused

BAD = {
    "empty": ("", ("empty",)),
    "not UTF-8": (changed('"rig"', '"rig é"').encode("latin-1"), (":2", "UTF-8", "0xe9")),
    "syntax": (changed("lower_mass = 2.5", "lower_mass == 2.5"), (":15", "not valid TOML")),
    "comma decimal": (put("lower_mass", "2,5"), (":15", "not valid TOML")),
    "unit": (put("lower_mass", "2.5kg"), (":15", "not valid TOML")),
    "repeated key": (VALID + "leg_radius = 0.02", ("not valid TOML",)),
    "other format": (changed("platform-1", "platform-2"), ("format", "tauforge-platform-2", "tauforge-platform-1")),
    "format a list": (changed('"tauforge-platform-1"', "[1]"), ("format", "unknown format [1]")),
    "format of an arm": (changed("platform-1", "arm-1"), ("unknown key 'friction'",)),
    "no format": (without("format"), ("unknown key",)),
    "no name": (without("name"), ("name: the key is missing", 'name = "my hexapod"')),
    "name a number": (changed('"rig"', "7"), ("name: expected a string", "7")),
    "no base points": (
        re.sub(r"(?s)base_points = .*?\n\]\n", "", VALID, count=1),
        ("base_points: the key is missing", "six of"),
    ),
    "no platform points": (without("platform_points"), ("platform_points: the key is missing",)),
    "five points": (changed("  [0.5, 0.1, 0.0],\n", ""), ("base_points", "6 x 3", "(5, 3)")),
    "seven points": (changed("  [0.5, 0.1, 0.0],\n", "  [1, 1, 1],\n  [0.5, 0.1, 0.0],\n"), ("base_points", "(7, 3)")),
    "points in a plane": (changed("[[0.2, -0.3, 0]", "[[0.2, -0.3]"), ("platform_points", "6 x 3")),
    "points a number": (
        put("platform_points", "3"),
        ("platform_points", "6 x 3", "()"),
    ),
    "points a table": (
        put("platform_points", "{}"),
        ("platform_points", "6 x 3", "{}"),
    ),
    "coincident points": (changed("[-0.4, 0.4, 0.0]", "[0.5, -0.1, 0]"), ("base_points", "points 1 and 4 coincide")),
    "all points one": (
        put("platform_points", AXES),
        ("platform_points", "coincid"),
    ),
    "point nan": (changed("[0.2, 0.3, 0]", "[0.2, nan, 0]"), ("platform_points", "finite", "nan")),
    "point inf": (changed("[0.2, 0.3, 0]", "[0.2, -inf, 0]"), ("platform_points", "finite", "inf")),
    "point text": (changed("[0.2, 0.3, 0]", '[0.2, "0.3", 0]'), ("platform_points", "6 x 3 numbers")),
    "point true": (changed("[0.2, 0.3, 0]", "[0.2, true, 0]"), ("platform_points", "6 x 3 numbers")),
    "point too far": (changed("[0.2, 0.3, 0]", "[0.2, 1e101, 0]"), ("platform_points", "at most 1e+100")),
    "point of 180 digits": (changed("[0.2, 0.3, 0]", f"[0.2, {10**180}, 0]"), ("platform_points", "expected")),
    "zero axis": (changed("[-0.5, -0.2, 0]", "[0, 0, 0]"), ("universal_axes", "axis 3 is zero")),
    "axis nan": (changed("[-0.5, -0.2, 0]", "[nan, 0, 0]"), ("universal_axes", "finite")),
    "five axes": (changed("[[0.1, 0.5, 0], ", "["), ("universal_axes", "6 x 3", "(5, 3)")),
    "no default axis": (
        changed("[0.5, -0.1, 0.0]", "[-0.14, 0.02, 0.0]", without("universal_axes")),
        ("universal_axes", "no default", "Give (6, 3) axes"),
    ),
    "negative mass": (put("lower_mass", "-2.5"), ("lower_mass", ">= 0", "-2.5")),
    "one negative mass": (changed("0.8, 0.9]", "0.8, -0.9]"), ("upper_mass", ">= 0", "-0.9")),
    "mass nan": (put("platform_mass", "nan"), ("platform_mass", "finite", "nan")),
    "mass inf": (put("lower_mass", "inf"), ("lower_mass", "finite", "inf")),
    "mass overflows": (put("lower_mass", "1e999"), ("lower_mass", "finite")),
    "mass text": (put("lower_mass", '"2.5"'), ("lower_mass", "numbers", "'2.5'")),
    "mass true": (put("lower_mass", "true"), ("lower_mass", "expected a number", "True")),
    "mass a date": (put("lower_mass", "1979-05-27"), ("lower_mass", "expected a number")),
    "mass a table": (changed("lower_mass = 2.5", "lower_mass.value = 2"), ("lower_mass", "expected", "{'value': 2}")),
    "five masses": (changed("[0.8, 0.8, 0.8", "[0.8, 0.8"), ("upper_mass", "6 numbers", "(5,)")),
    "masses true": (changed("[0.8, 0.8, 0.8", "[0.8, true, 0.8"), ("upper_mass", "6 numbers")),
    "ragged masses": (changed("[0.8, 0.8, 0.8", "[[0.8], 0.8, 0.8"), ("upper_mass", "6 numbers")),
    "platform masses": (put("platform_mass", "[12]"), ("platform_mass", "a number", "[12]")),
    "partial masses": (without("upper_com"), ("upper_com", "masses are given without upper_com", "or none")),
    "no platform mass": (
        without("platform_mass", without("platform_inertia")),
        ("without platform_mass, platform_inertia", "Give all of them"),
    ),
    "one mass alone": (GEOMETRY + "lower_mass = 1.0\n", ("masses are given without upper_mass, lower_com",)),
    "short com": (changed("[0.15, 0.0, 0.01]", "[0.15, 0.0]"), ("lower_com", "6 x 3 numbers")),
    "com text": (changed("[0.15, 0.0, 0.01]", '"middle"'), ("lower_com", "6 x 3 numbers", "'middle'")),
    "com true": (changed("[0.15, 0.0, 0.01]", "[0.15, 0.0, true]"), ("lower_com", "3 numbers")),
    "com inf": (changed("[0.15, 0.0, 0.01]", "[0.15, 0.0, inf]"), ("lower_com", "finite")),
    "two moments": (changed("[0.001, 0.01, 0.01]", "[0.001, 0.01]"), ("upper_inertia", "(3,)", "(2,)")),
    "ragged inertia": (changed("[[0.02, 0.0, 0.004]", "[[0.02, 0.004]"), ("lower_inertia", "(3, 3)")),
    "asymmetric inertia": (changed("[[0.02, 0.0, 0.004]", "[[0.02, 0.0, 0.005]"), ("lower_inertia", "not symmetric")),
    "asymmetric platform": (
        changed("[0.4, 0.4, 0.7]", "[[0.4, 0.1, 0], [0, 0.4, 0], [0, 0, 0.7]]"),
        ("platform_inertia", "not symmetric", "Ixy"),
    ),
    "inertia nan": (changed("[0.001, 0.01, 0.01]", "[0.001, nan, 0.01]"), ("upper_inertia", "finite")),
    "inertia text": (changed("[0.001, 0.01, 0.01]", '"0.001"'), ("upper_inertia", "expected")),
    "inertia true": (changed("[0.001, 0.01, 0.01]", "[true, 1, 1]"), ("upper_inertia", "numbers")),
    "negative friction": (changed("[0.1, 20.0, 0.2]", "[0.1, -20.0, 0.2]"), ("friction", ">= 0", "-20")),
    "one friction": (changed("[0.1, 20.0, 0.2]", "20.0"), ("friction", "3 numbers", "base, prismatic and")),
    "gravity a number": (changed("[0.0, 0.0, -9.81]", "-9.81"), ("gravity", "3 numbers", "[0.0, 0.0, -9.81]")),
    "negative reflected mass": (put("reflected_mass", "-1"), ("reflected_mass", ">= 0")),
    "stroke reversed": (changed("[0.4, 0.75]", "[0.75, 0.4]"), ("stroke", "shortest < longest", "[0.75, 0.4]")),
    "stroke of nothing": (changed("[0.4, 0.75]", "[0.4, 0.4]"), ("stroke", "shortest < longest")),
    "stroke below zero": (changed("[0.4, 0.75]", "[-0.4, 0.75]"), ("stroke", "0 <= shortest")),
    "stroke a number": (changed("[0.4, 0.75]", "0.75"), ("stroke", "6 x 2 numbers")),
    "stroke unlimited": (changed("[0.4, 0.75]", "[0.4, inf]"), ("stroke", "finite")),
    "force negative": (put("force_limit", "-800"), ("force_limit", ">= 0")),
    "cones without axes": (
        without("platform_joint_axes"),
        ("cone_angles", "the cones have no axes", "platform_joint_axes"),
    ),
    "zero cone axis": (changed("[[0, 0, 1]", "[[0, 0, 0]"), ("base_joint_axes", "axis 1 is zero")),
    "closed cone": (changed("0.9]\nleg", "0.0]\nleg"), ("cone_angles", "(0, pi]")),
    "cone of 360 degrees": (changed('"pi/4"', '"2*pi"'), ("cone_angles", "(0, pi]")),
    "cone in degrees": (changed('"pi/4"', '"45 deg"'), ("cone_angles", "multiple of pi", "'45 deg'")),
    "one cone": (changed('["pi/4", 0.9]', "0.9"), ("cone_angles", "2 numbers", "base's and the platform's")),
    "negative radius": (put("leg_radius", "-0.02"), ("leg_radius", ">= 0")),
    "radius a list": (put("leg_radius", "[0.02]"), ("leg_radius", "expected a number")),
    "hinges at the base": (
        changed('"universal"', '"hinge"'),
        ("base_joint: unknown kind of base joints 'hinge'", "Use one of universal, spherical"),
    ),
    "axes of spherical joints": (
        changed('"universal"', '"spherical"'),
        ("universal_axes: a spherical joint has no fixed axis", 'Leave it out, or use base_joint = "universal"'),
    ),
    "friction spins a leg": (
        changed("20.0, 0.0]", "20.0, 0.2]", SPHERICAL),
        ("friction: between two spherical joints", "0.2 N m s", "Give 0 as the third coefficient"),
    ),
    "weight spins a leg": (
        changed("[0.15, 0.0, 0.0]", "[0.15, 0.0, 0.01]", SPHERICAL),
        ("lower_com: the mass centre of the lower part of leg 1", "z = 0.01 m", "nothing holds its spin", "y = z = 0"),
    ),
    "inertia spins a leg": (
        changed("[0.02, 0.03, 0.03]", "[0.02, 0.03, 0.04]", SPHERICAL),
        ("lower_inertia: the inertia of the lower part of leg 1", "not symmetric about the leg's axis", "Iyy = Izz"),
    ),
    "base joint a number": (changed('"universal"', "3"), ("base_joint: expected a string",)),
    "misspelt key": (changed("base_points", "base_point"), ("'base_point'", "Did you mean base_points?")),
    "capital key": (changed("lower_mass", "Lower_mass"), ("'Lower_mass'", "Did you mean lower_mass?")),
    "unknown key": (VALID + "paint_job = 3", ("unknown key 'paint_job'", "Known:", "leg_radius")),
    "rotors of an arm": (VALID + "rotor_inertia = 3", ("unknown key 'rotor_inertia'. Did you mean reflected_mass?",)),
    "key of an arm": (VALID + 'convention = "standard"', ("unknown key 'convention'", "Known:")),
    "key below a table": (
        VALID + '[[source]]\nfields = ["gravity"]\nsource = "x"\nlower_mass = 3',
        ("source[1]", "'lower_mass'", "top of the file"),
    ),
    "deep nesting": (
        put("platform_points", "[" * 17),
        (":13", "nested more than"),
    ),
    "exception of nobody": (
        VALID + '[[known_exception]]\nbody = "lower part of leg 1"\nreason = "none"\n',
        ("known_exceptions", "there is no body named lower part of leg 1", "Known: platform, lower part, upper part"),
    ),
    "exception of a geometry": (
        GEOMETRY + '[[known_exception]]\nbody = "platform"\nreason = "none"\n',
        ("known_exceptions", "there is no body named platform", "no masses"),
    ),
    "source of one field": (
        VALID + '[[source]]\nfields = "stroke"\nsource = "tape"\n',
        ("source[1].fields", "list of strings"),
    ),
}


@pytest.mark.fault(1)
@pytest.mark.parametrize("case", BAD)
def test_bad_file_is_refused(tmp_path, case):
    text, fragments = BAD[case]
    path = written(tmp_path, text)
    with pytest.raises(tf.ModelError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert len(message) < len(str(path)) + 700
    for fragment in fragments:
        assert fragment in message


LONG = "9" * 190
HOSTILE = {
    "deep arrays": (VALID + "x = " + "[" * 20_000 + "]" * 20_000, "nested"),
    "dotted keys": (VALID + ".".join(["a"] * 20_000) + " = 1", "dotted key"),
    "many points": (put("platform_points", "[" + "[1,2,3]," * 1_500 + "]"), "(1500, 3)"),
    "many masses": (changed("[0.8, 0.8,", f"[{'0.8, ' * 6_000}0.8,"), "upper_mass: expected 6 numbers"),
    "long text": (put("lower_mass", f'"{"9" * 200_000}"'), "lower_mass: expected"),
    "long texts": (put("platform_points", "[" + '["a"],' * 2_000 + "]"), "platform_points"),
    "long numbers": (changed("[0.8, 0.8, 0.8,", f"[{f'{LONG}, ' * 1_000}"), "upper_mass: expected"),
    "long kind": (changed('"universal"', f'"{"u" * 200_000}"'), "base_joint"),
    "many exceptions": (VALID + "[[known_exception]]\n" * 2_000, "known_exception[1].body: the key is missing"),
}


@pytest.mark.fault(4)
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_file_is_refused_within_a_tenth_of_a_second(tmp_path, case):
    text, fragment = HOSTILE[case]
    refused_at_once(written(tmp_path, text), fragment)


@IGNORE_UNPHYSICAL
@pytest.mark.fault(1)
def test_mutated_files_give_a_platform_or_a_model_error(tmp_path):
    generator = random.Random(20240607)
    accepted = 0
    for number in range(200 * SOAK):
        path = written(tmp_path, mutant(generator, (VALID if number % 4 else GEOMETRY).encode()))
        try:
            platform = load(path)
        except tf.ModelError:
            continue
        accepted += 1
        assert np.isfinite(platform.inverse_kinematics([0, 0, 1, 0.1, 0.1, 0.1])).all()
    assert accepted > 10 * SOAK  # else the mutants were no test of the reader
