"""What a platform and its methods refuse: the field or argument is named, with what was expected."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.platforms import HOME, calls, random_motion, random_platform, with_spherical_legs
from tauforge.robots.records import KnownException

VALID = random_platform(np.random.default_rng(1))
BASE = np.array(VALID.base_points)
REST = np.zeros(6)
PENTAGON = [[np.cos(turn), np.sin(turn), 0.0] for turn in np.arange(5) * 2 * np.pi / 5]


def changed(array, index, value):
    result = np.array(array, dtype=object if isinstance(value, str | bool) else float)
    result[index] = value
    return result.tolist()


# ----------------------------------------------------------------------------------------------------- descriptions

BAD = {
    "five points": ({"base_points": BASE[:5]}, r"base_points: expected 6 x 3 numbers, got shape \(5, 3\)"),
    "seven points": ({"platform_points": np.ones((7, 3))}, r"platform_points: expected 6 x 3 .* \(7, 3\)"),
    "points in a row": ({"base_points": BASE.ravel()}, r"base_points: .* \(18,\)"),
    "ragged points": ({"base_points": [[0, 0], *BASE[1:].tolist()]}, "base_points: expected 6 x 3 numbers"),
    "no points": ({"base_points": None}, "base_points: expected 6 x 3 numbers, got None"),
    "points in words": ({"base_points": "six"}, "base_points: expected 6 x 3 numbers, got 'six'"),
    "a point in words": ({"base_points": changed(BASE, (1, 1), "x")}, "base_points: expected 6 x 3 numbers"),
    "a point true": ({"base_points": changed(BASE, (1, 1), True)}, "base_points: expected 6 x 3 numbers"),
    "complex points": ({"base_points": BASE + 1j}, "base_points: expected 6 x 3 numbers"),
    "point nan": ({"base_points": changed(BASE, (3, 2), np.nan)}, "base_points: expected finite numbers"),
    "point inf": ({"platform_points": changed(BASE, (3, 2), -np.inf)}, "platform_points: expected finite numbers"),
    "coincident": ({"base_points": changed(BASE, 4, BASE[1])}, "base_points: points 2 and 5 coincide"),
    "nearly coincident": ({"base_points": changed(BASE, 4, BASE[1] + 1e-12)}, "base_points: points 2 and 5 coincide"),
    "all one": ({"platform_points": np.ones((6, 3))}, "platform_points: points 1 and 2 coincide"),
    "zero axis": ({"universal_axes": changed(BASE, 2, 0.0)}, "universal_axes: axis 3 is zero"),
    "axis nan": ({"universal_axes": changed(BASE, (2, 0), np.nan)}, "universal_axes: expected finite numbers"),
    "no default axis": (
        {"base_points": [[0, 0, 1], *PENTAGON], "universal_axes": None},
        r"universal_axes: there is no default axis .*Give \(6, 3\) axes",
    ),
    "negative mass": ({"lower_mass": -1.0}, "lower_mass: expected a number >= 0, got -1"),
    "one negative mass": ({"upper_mass": [1, 1, 1, 1, 1, -1]}, "upper_mass: expected a number >= 0, got -1"),
    "mass nan": ({"platform_mass": np.nan}, "platform_mass: expected a finite number"),
    "mass true": ({"platform_mass": True}, "platform_mass: expected a number, got True"),
    "masses ragged": ({"lower_mass": [[1.0], 1, 1, 1, 1, 1]}, "lower_mass: expected 6 numbers"),
    "mass missing": ({"upper_com": None}, "upper_com: masses are given without upper_com. Give all of them, or none"),
    "com inf": ({"lower_com": [0, np.inf, 0]}, "lower_com: expected finite numbers"),
    "four coms": ({"lower_com": np.zeros((4, 3))}, r"lower_com: expected 6 x 3 numbers, got shape \(4, 3\)"),
    "asymmetric": ({"lower_inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "lower_inertia: .* not symmetric"),
    "one asymmetric": ({"upper_inertia": changed([np.eye(3)] * 6, (2, 0, 1), 0.1)}, "upper_inertia: .* not symmetric"),
    "inertia nan": ({"platform_inertia": [1, np.nan, 1]}, "platform_inertia: expected finite numbers"),
    "inertia ragged": ({"lower_inertia": [[1, 0, 0], [0, 1], [0, 0, 1]]}, "lower_inertia: expected"),
    "inertias of five": ({"lower_inertia": np.ones((5, 3))}, r"lower_inertia: expected \(3,\), .* got shape \(5, 3\)"),
    "friction negative": ({"friction": (0, -1, 0)}, "friction: expected a number >= 0, got -1"),
    "friction one": ({"friction": 0.1}, r"friction: expected 3 numbers, got shape \(\)"),
    "gravity nan": ({"gravity": (0, 0, np.nan)}, "gravity: expected finite numbers"),
    "stroke reversed": ({"stroke": (1.5, 0.5)}, "stroke: expected 0 <= shortest < longest"),
    "one stroke reversed": ({"stroke": [(0.5, 1.5)] * 5 + [(1.5, 0.5)]}, "stroke: expected 0 <= shortest < longest"),
    "force negative": ({"force_limit": -1.0}, "force_limit: expected a number >= 0"),
    "cones without axes": ({"base_joint_axes": None}, "cone_angles: the cones have no axes. Give base_joint_axes and"),
    "cone too wide": ({"cone_angles": (0.5, 3.2)}, r"cone_angles: expected angles in \(0, pi\]"),
    "cone closed": ({"cone_angles": (0.0, 1.0)}, r"cone_angles: expected angles in \(0, pi\]"),
    "zero cone axis": ({"platform_joint_axes": changed(BASE, 5, 0.0)}, "platform_joint_axes: axis 6 is zero"),
    "radius negative": ({"leg_radius": -0.01}, "leg_radius: expected a number >= 0"),
    "reflected nan": ({"reflected_mass": [0, 0, 0, 0, 0, np.nan]}, "reflected_mass: expected finite numbers"),
    "name a number": ({"name": 7}, "name: expected a string, got 7"),
    "exceptions in words": ({"known_exceptions": ("platform",)}, "known_exceptions: expected a sequence of Known"),
    "exception of nobody": (
        {"known_exceptions": (KnownException("leg 7", "none"),)},
        "known_exceptions: there is no body named leg 7. Known: platform, lower part of leg 1",
    ),
}


@pytest.mark.fault(1)
@pytest.mark.parametrize("case", BAD)
def test_bad_description_is_refused(case):
    changes, message = BAD[case]
    with pytest.raises(tf.ModelError, match=message):
        VALID.replace(**changes)


SPHERICAL = with_spherical_legs(VALID, np.random.default_rng(2))
TENSORS = np.array(SPHERICAL.upper_inertia)
SPINS = {  # what would spin a leg that has spherical joints at both ends
    "axes": ({"universal_axes": BASE}, "universal_axes: a spherical joint has no fixed axis. Leave it out"),
    "friction": (
        {"friction": (0.1, 0.2, 0.3)},
        r"friction: .* the friction of the platform joint, 0.3 N m s, would turn a leg .* Give 0 as the third",
    ),
    "a mass centre off the axis": (
        {"lower_com": (0.4, 0.14, -0.18)},
        r"lower_com: the mass centre of the lower part of leg 1, .* is off the leg's axis by y = 0.14 m, z = -0.18 m: "
        r"its weight would turn the leg about itself.* Give y = z = 0",
    ),
    "one mass centre": (
        {"upper_com": changed(SPHERICAL.upper_com, (4, 2), 1e-6)},
        r"upper_com: .* upper part of leg 5, .* z = 1e-06 m",
    ),
    "unequal moments": (
        {"lower_inertia": (0.1, 0.2, 0.21)},
        r"lower_inertia: the inertia of the lower part of leg 1, .* not symmetric about the leg's axis: .*"
        r"Give Iyy = Izz and Ixy = Ixz = Iyz = 0, or use base_joint = \"universal\"",
    ),
    "a product": (
        {"upper_inertia": changed(changed(TENSORS, (2, 1, 2), 1e-6), (2, 2, 1), 1e-6)},
        "upper_inertia: .* upper part of leg 3",
    ),
    "products with the axis": (
        {"upper_inertia": changed(changed(TENSORS, (5, 0, 1), 1e-6), (5, 1, 0), 1e-6)},
        "upper_inertia: .* upper part of leg 6",
    ),
}


@pytest.mark.fault(1)
@pytest.mark.parametrize("case", SPINS)
def test_what_would_spin_a_leg_is_refused(case):
    changes, message = SPINS[case]
    with pytest.raises(tf.ModelError, match=message) as caught:
        SPHERICAL.replace(**changes)
    assert caught.value.field == next(iter(changes))
    VALID.replace(**changes)  # between other joints nothing is wrong with it


@pytest.mark.fault(1)
@pytest.mark.parametrize(
    "kind", ["hinge", "Spherical", "", None, 3, ["spherical"], np.array(["spherical", "x"])], ids=repr
)
def test_other_base_joints_are_refused_by_name(kind):
    with pytest.raises(
        tf.UnsupportedFeatureError, match=r"base_joint: unknown kind of base joints .* universal, spherical"
    ):
        VALID.replace(base_joint=kind)


def test_rounding_is_no_asymmetry():
    inertia = np.array(SPHERICAL.lower_inertia)
    inertia[:, 1, 1] *= 1 + 1e-14
    near = SPHERICAL.replace(lower_inertia=inertia, lower_com=np.array(SPHERICAL.lower_com) + [0, 1e-15, 0])
    states = random_motion(np.random.default_rng(0))
    assert np.allclose(near.inverse_dynamics(*states), SPHERICAL.inverse_dynamics(*states), rtol=1e-10)


def test_parts_without_mass_may_be_anywhere():
    light = SPHERICAL.replace(lower_mass=0.0, lower_inertia=np.zeros((3, 3)), lower_com=(0.1, 0.2, 0.3))
    states = random_motion(np.random.default_rng(0))
    exact, vectors = (light.inverse_dynamics(*states, model=model) for model in ("exact", "exact-vectors"))
    assert np.allclose(exact, vectors, rtol=1e-11)


def test_universal_axes_go_with_the_joint():
    """Another kind of joint takes its own axes: none, or the default."""
    assert SPHERICAL.universal_axes is None
    assert not SPHERICAL.axes_are_default
    assert SPHERICAL.replace(base_points=BASE + 0.01).universal_axes is None
    back = SPHERICAL.replace(base_joint="universal")
    assert back.axes_are_default
    assert VALID.replace(base_joint="universal").universal_axes == VALID.universal_axes
    assert back.replace(universal_axes=BASE).replace(base_joint="spherical") == SPHERICAL
    geometry = tf.StewartPlatform(
        base_points=BASE, platform_points=VALID.platform_points, base_joint="spherical", friction=(1, 2, 0)
    )
    assert np.isfinite(geometry.leg_motion(HOME).lengths).all()


def test_points_are_needed_and_given_by_name():
    with pytest.raises(TypeError, match="platform_points"):
        tf.StewartPlatform(base_points=BASE)
    with pytest.raises(TypeError, match="positional"):
        tf.StewartPlatform(BASE, BASE)


def test_none_is_what_the_design_says_it_is():
    """universal_axes, reflected_mass and every limit may be None."""
    empty = ("universal_axes", "stroke", "force_limit", "cone_angles", "leg_radius", "reflected_mass")
    platform = tf.StewartPlatform(base_points=BASE, platform_points=VALID.platform_points, **dict.fromkeys(empty))
    assert platform.reflected_mass == (0.0,) * 6


def test_unphysical_bodies_warn_with_their_names():
    plate = [1.0, 1.0, 3.0]
    with pytest.warns(tf.UnphysicalInertiaWarning, match="random: platform: .*triangle") as caught:
        flat = VALID.replace(platform_inertia=plate)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.isfinite(flat.inverse_dynamics(HOME, REST, REST)).all()
    with pytest.warns(
        tf.UnphysicalInertiaWarning, match="random: lower part: a principal moment of inertia is negative"
    ) as caught:
        VALID.replace(lower_inertia=[-1.0, 1.0, 1.0])
    assert len(caught) == 1  # six alike are one
    tensors = [np.eye(3)] * 6
    tensors[2] = np.diag(plate)
    with pytest.warns(tf.UnphysicalInertiaWarning, match="random: upper part of leg 3: .*triangle"):
        VALID.replace(upper_inertia=tensors)
    VALID.replace(upper_inertia=tensors, known_exceptions=[KnownException("upper part of leg 3", "drawn so")])


# ---------------------------------------------------------------------------------------------------------- methods

MEANINGS = {
    "pose": "x, y, z, theta_x, theta_y, theta_z",
    "twist": "velocity and angular velocity",
    "acceleration": "acceleration and angular acceleration",
}
ARGUMENTS = {
    "inverse_kinematics": ("pose",),
    "leg_motion": ("pose", "twist", "acceleration"),
    "force_matrix": ("pose",),
    "condition_number": ("pose",),
    "within_limits": ("pose",),
    "forward_kinematics": ("lengths", "guess"),
    "forward_rates": ("pose", "rates", "accelerations"),
    "inverse_dynamics": ("pose", "twist", "acceleration"),
    "forward_dynamics": ("pose", "twist", "leg_forces"),
    "joint_reactions": ("pose", "twist", "acceleration"),
    "leg_bodies": ("pose", "twist", "acceleration"),
    "mass_matrix": ("pose",),
    "bias_wrench": ("pose", "twist"),
    "energy": ("pose", "twist"),
}
WRONG = {
    "five": (np.zeros(5), r"\(\.\.\., 6\).*, got \(5,\)"),
    "a number": (3.0, r"\(\.\.\., 6\).*, got \(\)"),
    "a column": (np.zeros((6, 1)), r"\(\.\.\., 6\).*, got \(6, 1\)"),
    "words": ("home", r"real numbers \(\.\.\., 6\), got text"),
    "complex": (np.zeros(6, complex), "real numbers .* complex128 values"),
    "ragged": ([[1.0], [1.0, 2.0]], "a ragged sequence"),
    "objects": ([None] * 6, "got None"),
}


def test_a_pose_has_no_default():
    """Only twist and acceleration may be None."""
    with pytest.raises(tf.ShapeError, match=r"^pose: expected real numbers \(\.\.\., 6\), got None"):
        VALID.leg_motion(None)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("method", ARGUMENTS)
def test_wrong_arguments_are_named(method, wrong):
    value, message = WRONG[wrong]
    good = calls(VALID, np.random.default_rng(2))[method]
    for k, name in enumerate(ARGUMENTS[method]):
        arguments = [*good[:k], value, *good[k + 1 :]]
        with pytest.raises(tf.ShapeError, match=f"^{name}: expected .*{message}") as caught:
            getattr(VALID, method)(*arguments)
        if wrong == "five" and name in MEANINGS:
            assert MEANINGS[name] in str(caught.value)


@pytest.mark.parametrize("method", [name for name, arguments in ARGUMENTS.items() if len(arguments) > 1])
def test_leading_shapes_that_do_not_fit(method):
    good = calls(VALID, np.random.default_rng(3), (4,))[method]
    with pytest.raises(tf.ShapeError, match=r"arguments: .* broadcast together, got .*\(4, 6\), .*\(3, 6\)"):
        getattr(VALID, method)(good[0], good[1][:3], *good[2:])


@pytest.mark.parametrize("method", ["inverse_dynamics", "forward_dynamics", "joint_reactions"])
def test_wrong_wrenches(method):
    good = calls(VALID, np.random.default_rng(4))[method]
    with pytest.raises(tf.ShapeError, match=r"external_wrench: expected .*force and moment.*, got \(3,\)"):
        getattr(VALID, method)(*good, external_wrench=[0, 0, -9.81])


def test_a_spin_that_is_neither_true_nor_false():
    with pytest.raises(tf.ShapeError, match="spin: expected True or False, got 'no'"):
        VALID.leg_motion(np.array([0.1, 0.1, 2, 0, 0, 0]), spin="no")


@pytest.mark.parametrize("name", ["mathworks-hexapod", "dietmaier"])
@pytest.mark.parametrize("method", list(ARGUMENTS)[7:])
def test_forces_of_a_geometry_without_masses(name, method):
    geometry = tf.load(name)
    arguments = (np.array([0.1, 0.1, 2, 0, 0, 0]), REST, REST)[: len(ARGUMENTS[method])]
    with pytest.raises(tf.ModelError, match=f"{method}: {name} has a geometry but no masses. Give lower_mass"):
        getattr(geometry, method)(*arguments)
    assert np.isfinite(geometry.inverse_kinematics(arguments[0])).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lengths": [1.0, 2.0, 3.0]}, r"lengths: expected \(\.\.\., 6\).*got \(3,\)"),
        ({"lengths": np.ones((2, 6))}, "lengths: expected 6 finite numbers > 0"),
        ({"lengths": [1, 1, 1, 1, 1, np.nan]}, "lengths: expected 6 finite numbers > 0, got .*nan"),
        ({"lengths": [1, 1, 1, 1, 1, 0]}, "lengths: expected 6 finite numbers > 0"),
        ({"lengths": np.ones(6), "starts": 0}, "starts: expected a whole number >= 1, got 0"),
        ({"lengths": np.ones(6), "starts": 1.5}, "starts: expected a whole number >= 1, got 1.5"),
        ({"lengths": np.ones(6), "starts": True}, "starts: expected a whole number >= 1, got True"),
    ],
)
def test_wrong_assembly_modes(arguments, message):
    with pytest.raises(tf.ShapeError, match=message):
        VALID.assembly_modes(**arguments)


@pytest.mark.fault(5)
@pytest.mark.parametrize("pose", [[1e160, 0, 0, 0, 0, 0], [0, 0, 1e200, 0, 0, 0], [1e308] * 6], ids=str)
def test_poses_beyond_all_squares(pose):
    """Lengths whose squares overflow: no warning, no wrong number."""
    assert not np.isfinite(VALID.inverse_kinematics(pose)).any()
    for on_singular in ("nan", "raise"):
        try:
            assert np.isnan(VALID.inverse_dynamics(pose, REST, REST, on_singular=on_singular)).all()
        except tf.SingularityError:
            assert on_singular == "raise"


@pytest.mark.fault(5)
@pytest.mark.parametrize("length", [1e200, 1e-200])
def test_lengths_beyond_all_squares(length):
    with pytest.raises(tf.ConvergenceError):
        VALID.forward_kinematics([length] * 6)
    assert len(VALID.assembly_modes([length] * 6, starts=5).poses) == 0
