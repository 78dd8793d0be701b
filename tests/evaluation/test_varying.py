"""Kernels that take parameters of the robot as arguments equal those of the changed robots."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.catalogue import in_turn
from support.platforms import random_motion, random_platform
from support.strategies import random_arm, random_state
from support.tolerances import ROUNDING, error, solve_tolerance
from tauforge.evaluation.arguments import check_names

ROWS = 9
COMPARED = (0, 4, ROWS - 1) if SOAK == 1 else range(ROWS)  # a robot is made for each of them
BODIES, DRIVES = ("mass", "com", "inertia"), ("viscous", "coulomb", "motor_inertia", "gear_ratio")
GEOMETRY = ("alpha", "a", "d", "theta")
FUNCTIONS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "forward_kinematics",
    "inverse_dynamics_derivatives",
)


pytestmark = pytest.mark.usefixtures("kernels_on")


def several(result):
    return result if isinstance(result, tuple) else (result,)


def own(arm, field):
    if field == "gravity":
        return np.array(arm.gravity)
    return np.array([getattr(joint.dh if field in GEOMETRY else joint, field) for joint in arm.joints])


@pytest.mark.parametrize(
    "fields", [("mass",), BODIES, ("gravity", *DRIVES), GEOMETRY, ("d", *BODIES, "gravity", *DRIVES)]
)
@pytest.mark.parametrize(
    "function",
    ["inverse_dynamics", "forward_dynamics", "mass_matrix", "forward_kinematics", "inverse_dynamics_derivatives"],
)
@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_equals_the_changed_arms(function, fields, convention):
    rng = np.random.default_rng(7)
    arm = random_arm(rng, "RPR", convention, drives=True)
    kernel = arm.kernel(function, varying=fields)
    values = {}
    for field in fields:
        number = own(arm, field)
        values[field] = number * rng.uniform(0.9, 1.1, (ROWS, *(1,) * number.ndim))
    state = random_state(rng, arm.n, ROWS)[: len(kernel.arguments) - len(fields)]
    got = kernel(*state, *values.values())
    for row in COMPARED:
        changed = arm.replace(**{field: value[row] for field, value in values.items()})
        want = getattr(changed, function)(*(x[row] for x in state))
        tolerance = solve_tolerance(changed.mass_matrix(state[0][row])) if function == "forward_dynamics" else ROUNDING
        for a, b in zip(
            got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,), strict=True
        ):
            assert error(a[row], b, core=b.ndim) < max(ROUNDING, tolerance)


def test_offsets_of_general_joints_and_broadcasting():
    rng = np.random.default_rng(8)
    arm = random_arm(rng, "RPR", "general")
    offsets = rng.normal(size=(4, 1, 3))
    state = random_state(rng, 3, 5)
    got = arm.kernel("inverse_dynamics", varying=["offset"])(*state, offsets)
    assert got.shape == (4, 5, 3)
    for k in range(4):
        assert error(got[k], arm.replace(offset=offsets[k, 0]).inverse_dynamics(*state)) < ROUNDING


def test_single_precision():
    rng = np.random.default_rng(9)
    arm = random_arm(rng, "RR")
    state = [x.astype(np.float32) for x in random_state(rng, 2, 3)]
    mass = own(arm, "mass").astype(np.float32)
    kernel = arm.kernel("inverse_dynamics", dtype="float32", varying=("mass",))
    assert kernel(*state, mass).dtype == np.float32


def test_what_cannot_vary_says_so():
    rng = np.random.default_rng(10)
    arm, general = random_arm(rng, "RR"), random_arm(rng, "RR", "general")
    for wanted, fields, match in (
        (arm, ("colour",), r"'colour' cannot vary.*gravity, mass"),
        (arm, ("mass", "mass"), "named twice"),
        (general, ("alpha",), "not described by DH parameters.*from_dh, or use one of gravity, mass"),
        (arm, ("grvity",), r"'grvity' cannot vary\. Did you mean gravity\? Use one of gravity, mass"),
        (arm, ("alpha", "offset"), "'offset' cannot vary together with DH parameters"),
        (arm, "mass", "expected a sequence of names, got 'mass'"),
    ):
        with pytest.raises(tf.UnsupportedFeatureError, match=match):
            wanted.kernel("inverse_dynamics", varying=fields)


ALL_FIELDS = {field for name in ("puma560", "motion-rig", "five-bar") for field in tf.load(name).varying_fields}
CHAIN = """<robot name="chain"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


@pytest.mark.parametrize("name", [*tf.catalogue(), "chain"])
def test_what_is_listed_can_vary(name):
    """Every field of `varying_fields` has a value, and every other one is refused with the list."""
    robot = tf.loads(CHAIN) if name == "chain" else tf.load(name)
    known = robot.varying_fields
    values = robot.own_values(tuple(known))
    assert {field: value.shape for field, value in values.items()} == dict(known)
    for field in known:
        assert check_names(robot, [field]) == (field,)
    for field in {*ALL_FIELDS, "colour"} - set(known):
        with pytest.raises(tf.UnsupportedFeatureError, match=f"varying: .*{next(iter(known))}|first, by `replace`"):
            robot.own_values([field])
        with pytest.raises(tf.UnsupportedFeatureError, match="varying: "):
            check_names(robot, [field])


def test_fields_of_an_arm_without_dh_parameters():
    chain = tf.loads(CHAIN)
    assert not {"alpha", "a", "d", "theta"} & set(chain.varying_fields)
    words = r"chain is not described by DH parameters\. Build it with from_dh, or use one of gravity, mass"
    with pytest.raises(tf.UnsupportedFeatureError, match=words):
        chain.own_values(["alpha"])
    with pytest.raises(tf.UnsupportedFeatureError, match="expected a sequence of names, got 'mass'"):
        chain.own_values("mass")


PLATFORM_FIELDS = ("base_points", "platform_points", "lower_mass", "upper_com", "upper_inertia", "reflected_mass")


VARYING = (
    ("platform_mass", "gravity"),
    ("platform_com", "platform_inertia", "friction"),
    PLATFORM_FIELDS,
    ("universal_axes", "base_points"),
)


@pytest.mark.parametrize(
    ("fields", "function"), in_turn([*product(VARYING, ("inverse_dynamics", "forward_dynamics", "mass_matrix"))])
)
@pytest.mark.filterwarnings("ignore::tauforge.errors.UnphysicalInertiaWarning")
def test_equals_the_changed_platforms(function, fields):
    rng = np.random.default_rng(8)
    platform = random_platform(rng)
    kernel = platform.kernel(function, varying=fields)
    values = {}
    for field in fields:
        number = np.array(getattr(platform, field))
        values[field] = number * rng.uniform(0.95, 1.05, (4, *(1,) * number.ndim))
    state = random_motion(rng, (4,))[: len(kernel.arguments) - len(fields)]
    got = kernel(*state, *values.values())
    for row in range(4):
        changes = {field: value[row] for field, value in values.items()}
        changed = platform.replace(**changes)
        want = getattr(changed, function)(*(x[row] for x in state))
        allowed = ROUNDING if function == "mass_matrix" else solve_tolerance(changed.mass_matrix(state[0][row]))
        if function == "inverse_dynamics":
            allowed = solve_tolerance(changed.force_matrix(state[0][row]))
        assert error(got[row], want, core=want.ndim) < allowed


@pytest.mark.parametrize("function", ["inverse_dynamics", "joint_reactions"])
def test_default_axes_follow_base_points_that_vary(function):
    """The motion-rig, whose axes are the default, in a turned pose."""
    rig = tf.load("motion-rig")
    rng = np.random.default_rng(12)
    points = np.array(rig.base_points) + rng.uniform(-0.05, 0.05, (3, 6, 3))
    state = np.array([0.05, -0.02, 1.02, 0.15, -0.1, 0.3]), rng.normal(size=6), rng.normal(size=6)
    got = several(rig.kernel(function, varying=["base_points"])(*state, points))
    for row, moved in enumerate(points):
        changed = rig.replace(base_points=moved)
        allowed = solve_tolerance(changed.force_matrix(state[0]))
        for mine, theirs in zip(got, several(getattr(changed, function)(*state)), strict=True):
            assert error(mine[row], theirs, core=theirs.ndim) < allowed


def test_a_platform_says_what_cannot_vary():
    rig = tf.load("motion-rig")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"'colour' cannot vary.*platform_mass"):
        rig.kernel("inverse_dynamics", varying=["colour"])
    with pytest.raises(tf.UnsupportedFeatureError, match="expected a sequence of names, got 'gravity'"):
        rig.kernel("inverse_dynamics", varying="gravity")
