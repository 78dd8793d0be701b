"""A NaN or an infinity in any input of a row makes every output of that row NaN, and leaves the other rows alone.

In kernels of every vector width, of which the narrower ones take turns, in the builtin for one state and in the
reference; without warnings and without floating-point flags. The oracle for the other rows is the same call without
the bad number.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.catalogue import in_turn
from support.kernel_checks import several, traced_kernel
from support.platforms import HOME, random_motion, random_platform, similar_platform
from support.strategies import random_arm, random_payload, random_state
from tauforge.algebra.scalars import absolute, arctangent, cos, select, sign, sin, sqrt, tanh
from tauforge.kernels.cpu import kernel, llvm_body
from tauforge.kernels.cpu.engine import VECTOR_BITS, host
from tauforge.kernels.scheduling import nan_probes
from tauforge.robots.serial.functions import function_table
from tauforge.robots.stewart.functions import PLATFORM_FUNCTIONS
from tauforge.tracing.graph import trace

BAD = (np.nan, np.inf, -np.inf)
ROWS = 19  # several blocks of every width, and a tail
WIDTHS = [str(bits) for bits in (128, 256, 512) if bits <= host().vector_bits]
WAYS = ["reference", *in_turn(WIDTHS[:-1]), WIDTHS[-1]]
FLAGS = 0x01 | 0x04 | 0x08  # invalid, divided by zero, overflow

pytestmark = pytest.mark.fault(5)
ARM_FUNCTIONS = [name for name, function in function_table(3).items() if function.public]


@pytest.fixture(params=WAYS)
def way(request, kernels_on, monkeypatch):
    if request.param == "reference":
        monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    else:
        monkeypatch.setenv(VECTOR_BITS, request.param)
    return request.param


@contextmanager
def in_silence():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def spoils_its_row(call, arguments, batch=(ROWS,)):
    """Every number of the arguments in turn, in another row each time."""
    clean = several(call(*arguments))
    rng, count = np.random.default_rng(0), int(np.prod(batch))
    for a, argument in enumerate(arguments):
        core = argument.shape[len(batch) :]
        for place, index in enumerate(np.ndindex(*core)):
            for bad in BAD if SOAK > 1 else [BAD[place % 3]]:
                row = np.unravel_index(rng.integers(count), batch)
                spoilt = [x.copy() for x in arguments]
                spoilt[a][(*row, *index)] = bad
                with in_silence():
                    got = several(call(*spoilt))
                others = np.ones(batch, bool)
                others[row] = False
                for new, old in zip(got, clean, strict=True):
                    assert np.isnan(new[row]).all(), (a, index, bad)
                    assert new[others].tobytes() == old[others].tobytes(), (a, index, bad)


def arm_arguments(name, n, rows=ROWS):
    count = len(function_table(n)[name].arguments)
    return [x.copy() for x in random_state(np.random.default_rng(3), n, rows)[:count]]


def platform_arguments(name, platform, rows=ROWS):
    rng = np.random.default_rng(4)
    state = dict(zip(("pose", "twist", "acceleration"), random_motion(rng, (rows,)), strict=True))
    state |= {"guess": state["pose"] + 1e-3, "lengths": platform.inverse_kinematics(state["pose"])}
    state |= {"state": np.concatenate([state["pose"][:, :3], [[1.0, 0.0, 0.0, 0.0]] * rows], axis=1)}
    wanted = [argument.name for argument in PLATFORM_FUNCTIONS[name].arguments]
    return [state[key] if key in state else rng.normal(size=(rows, 6)) for key in wanted]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", ARM_FUNCTIONS)
def test_every_function_of_an_arm(way, name, kind):
    """A vertical first axis and no spin about the tool: many inputs that much does not depend on."""
    arm = random_arm(np.random.default_rng(5), "RPR", drives=True).replace(gravity=(0, 0, -9.81), base=None)
    arguments = [x.astype(kind) for x in arm_arguments(name, 3)]
    spoils_its_row(getattr(arm, name), arguments)


@pytest.mark.parametrize("name", [name for name in function_table(3) if name not in ARM_FUNCTIONS])
def test_every_inner_function_of_an_arm(way, name):
    """What serves derivatives in parts and inverse kinematics."""
    arm = random_arm(np.random.default_rng(5), "RPR")
    rng, function = np.random.default_rng(6), function_table(3)[name]
    arguments = [rng.uniform(0.5, 1.0, (ROWS, *argument.core)) for argument in function.arguments]
    names = [argument.name for argument in function.arguments]
    spoils_its_row(lambda *given: arm._answer(name, dict(zip(names, given, strict=True))), arguments)


@pytest.mark.parametrize("name", ARM_FUNCTIONS)
def test_every_function_of_the_puma(kernels_on, name):
    spoils_its_row(getattr(tf.load("puma560"), name), arm_arguments(name, 6))


@pytest.mark.parametrize("name", PLATFORM_FUNCTIONS)
def test_every_function_of_a_platform(way, name):
    """In float64, and with the widest vectors in float32 too: these are the largest kernels."""
    platform = random_platform(np.random.default_rng(6))
    arguments = platform_arguments(name, platform)
    if way == "reference":
        names = [argument.name for argument in PLATFORM_FUNCTIONS[name].arguments]
        call = lambda *given: platform._answer(name, dict(zip(names, given, strict=True)))  # noqa: E731
    else:
        call = platform.kernel(name)
    spoils_its_row(call, arguments)
    if way == WAYS[-1]:
        spoils_its_row(call, [x.astype(np.float32) for x in arguments])


@pytest.mark.parametrize("model", tf.STEWART_MODELS)
def test_every_model_of_a_platform(kernels_on, model):
    platform = random_platform(np.random.default_rng(6))
    arguments = platform_arguments("inverse_dynamics", platform)
    wrench = np.random.default_rng(7).normal(size=(ROWS, 6))
    spoils_its_row(
        lambda *given: platform.inverse_dynamics(*given[:3], external_wrench=given[3], model=model),
        [*arguments, wrench],
    )


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "joint_wrenches"])
def test_loads_of_an_arm(way, name):
    arm = random_arm(np.random.default_rng(5), "RR")
    rng = np.random.default_rng(8)
    one = random_payload(rng)
    mass, com = np.full(ROWS, float(one.mass)), np.tile(one.com, (ROWS, 1))
    wrench, motion = rng.normal(size=(ROWS, 6)), rng.normal(size=(3, ROWS, 3))

    def call(q, qd, qdd, wrench, mass, com, *motion):
        payload = tf.Payload(mass, com, one.inertia)
        return getattr(arm, name)(q, qd, qdd, tip_wrench=wrench, payload=payload, base_motion=tf.BaseMotion(*motion))

    spoils_its_row(call, [*arm_arguments(name, 2), wrench, mass, com, *motion])


def test_numbers_that_vary(kernels_on):
    arm = random_arm(np.random.default_rng(5), "RR", drives=True)
    fields = {"mass": (2,), "com": (2, 3), "inertia": (2, 3, 3), "gravity": (3,), "gear_ratio": (2,)}
    rng = np.random.default_rng(9)
    given = [rng.uniform(0.5, 1.5, (ROWS, *shape)) for shape in fields.values()]
    call = arm.kernel("inverse_dynamics", varying=tuple(fields))
    spoils_its_row(call, [*arm_arguments("inverse_dynamics", 2), *given])


def flags_raised(call):
    """The floating-point flags that a call leaves behind; None where they cannot be read."""
    library = ctypes.util.find_library("m")
    if library is None:
        return None
    mathematics = ctypes.CDLL(library)
    mathematics.feclearexcept(FLAGS)
    call()
    return mathematics.fetestexcept(FLAGS)


@pytest.mark.parametrize("name", ARM_FUNCTIONS)
def test_one_state(way, name):
    """By the builtin, from the second call on, where there are kernels."""
    arm = random_arm(np.random.default_rng(5), "RPR", drives=True)
    arguments = [x[0] for x in arm_arguments(name, 3)]
    method = getattr(arm, name)
    spoils_its_row(method, arguments, ())
    again = getattr(arm, name)
    quick = way != "reference" and arm.functions[name].quick  # a result with names is made in Python
    assert (type(again).__name__ == "builtin_function_or_method") == quick
    spoils_its_row(again, arguments, ())
    arguments[0][1] = np.nan
    assert not flags_raised(lambda: again(*arguments))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_kinematics"])
def test_one_pose(way, name):
    platform = random_platform(np.random.default_rng(6))
    arguments = [x[0] for x in platform_arguments(name, platform)]
    for _ in range(2):
        spoils_its_row(getattr(platform, name), arguments, ())
    arguments[0][2] = np.inf
    assert not flags_raised(lambda: getattr(platform, name)(*arguments))


def test_layouts(kernels_on):
    """Rows apart, backwards and of a wider array; an argument that stands still spoils all rows."""
    arm = tf.load("puma560")
    rng = np.random.default_rng(10)
    whole = rng.normal(size=(2 * ROWS, 18))
    for view in (whole[::2], whole[::-2], np.asfortranarray(whole[::2])):
        state = np.split(view, 3, axis=1)
        clean = arm.inverse_dynamics(*state)
        for row, column in ((0, 0), (7, 0), (ROWS - 1, 0), (9, 11)):
            kept = view[row, column]
            view[row, column] = np.nan
            got = arm.inverse_dynamics(*state)
            view[row, column] = kept
            assert np.isnan(got[row]).all()
            assert np.array_equal(np.delete(got, row, axis=0), np.delete(clean, row, axis=0))
    still = np.zeros(6)
    still[0] = np.inf
    assert np.isnan(arm.inverse_dynamics(still, *np.split(whole, 3, axis=1)[1:])).all()
    assert np.isnan(arm.mass_matrix(np.broadcast_to(still, (ROWS, 6)))).all()


def test_every_row_of_a_batch(way):
    arm = tf.load("puma560")
    q = np.zeros((ROWS, 6))
    for rows in (1, 2, 8, ROWS):
        for row in range(rows):
            spoilt = q[:rows].copy()
            spoilt[row, 0] = np.nan
            got = arm.gravity_forces(spoilt)
            assert np.array_equal(np.isnan(got).all(axis=1), np.arange(rows) == row)
            assert np.array_equal(np.isnan(got).any(axis=1), np.arange(rows) == row)


@pytest.mark.parametrize("part_nodes", [12, 40, 3000])
def test_parts_and_operations_that_lose_it(kernels_on, monkeypatch, part_nodes):
    """Quotients, comparisons and bounded functions; inputs that nothing uses; outputs in many parts."""
    monkeypatch.setattr(llvm_body, "PART_NODES", part_nodes)

    def formula(x):
        a, b, c, d, e, _ = x
        swallowed = [1.0 / (a * a + 1.0), select(b, c, 1.0, 2.0), sign(d), tanh(b), arctangent(c, d)]
        passed = [sin(a) * cos(b) + sqrt(c * c + 1.0), absolute(d) - a, a / (b * b + 1.0)]
        return [*swallowed, *passed, *(s * p for s in swallowed for p in passed), 3.0, e]

    graph = trace(formula, {"x": 6})
    lost = traced_kernel("lost", graph, [("x", (6,))], [(25,)], f"lost {part_nodes}")
    spoils_its_row(lost, [np.random.default_rng(1).normal(size=(ROWS, 6))])


@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_derivatives_from_several_kernels(kernels_on, monkeypatch, name):
    """M depends on q alone, and is NaN all the same."""
    arm = random_arm(np.random.default_rng(13), "RPR", drives=True)
    monkeypatch.setattr(kernel, "MAX_NODES", 600)
    with pytest.raises(tf.UnsupportedFeatureError, match="operations"):
        arm.kernel(name)
    spoils_its_row(getattr(arm, name), arm_arguments(name, 3))


def test_nan_probes():
    def formula(x):
        a, b, c, d, e, f = x
        return [a * b - sin(c), 1.0 / d, d / e, 2.0, tanh(f)]

    names = [f"x{k}" for k in range(6)]
    found = nan_probes(trace(formula, {"x": 6}), names)
    assert found.outputs == (0,)  # of a, b and c
    assert found.inputs == ("x3", "x4", "x5")  # d comes from one output alone, e from a denominator, f from a bound
    assert nan_probes(trace(lambda x: [x[0], 1.0], {"x": 1}), ["x0"]).inputs == ("x0",)


def test_sums_that_overflow_spoil_nothing(kernels_on):
    """The look at a block adds numbers up; finite ones that are too large for that are no reason to spoil a row."""
    identity = traced_kernel("same", trace(list, {"x": 6}), [("x", (6,))], [(6,)], "same")
    x = np.full((ROWS, 6), 1e308)
    with in_silence():
        assert np.array_equal(identity(x), x)


def test_angles_too_large_are_another_matter(kernels_on):
    """They give NaN in what depends on them, here not the moment about the first axis alone."""
    arm = tf.load("puma560")
    q = np.zeros(6)
    q[0] = 1e10
    assert np.isfinite(arm.inverse_dynamics(q, np.zeros(6), np.zeros(6))).all()
    assert np.isnan(arm.forward_kinematics(q)[:3, :2]).any()


def test_a_nan_is_not_a_singularity(way):
    """Also where the mass matrix, or the force matrix, has no inverse."""
    arm = tf.load("planar-2r").replace(mass=[1.0, 0.0], inertia=np.zeros((2, 3, 3)))
    nan, zero = np.full(2, np.nan), np.zeros(2)
    with pytest.raises(tf.SingularityError):
        arm.forward_dynamics(zero, zero, zero)
    for _ in range(2):
        assert np.isnan(arm.forward_dynamics(zero, nan, zero)).all()
        assert np.isnan(arm.forward_dynamics(zero, zero, nan)).all()
        assert all(np.isnan(x).all() for x in arm.forward_dynamics_derivatives(zero, nan, zero))
    platform, zero = similar_platform(), np.zeros(6)
    with pytest.raises(tf.SingularityError):
        platform.inverse_dynamics(HOME, zero, zero)
    assert np.isnan(platform.inverse_dynamics(HOME, np.full(6, np.nan), zero)).all()


def test_methods_of_a_platform_that_go_on_from_there(way):
    platform = random_platform(np.random.default_rng(6))
    pose, twist, acceleration = random_motion(np.random.default_rng(11), (ROWS,))
    legs = platform.leg_motion(pose, twist, acceleration)
    spoils_its_row(platform.leg_motion, [pose, twist, acceleration])
    spoils_its_row(platform.forward_rates, [pose, legs.rates, legs.accelerations])
    spoils_its_row(platform.joint_reactions, [pose, twist, acceleration])
    spoils_its_row(platform.condition_number, [pose])
    spoils_its_row(lambda lengths: platform.forward_kinematics(lengths, HOME), [legs.lengths])


def test_what_is_masked_spoils_its_row(way):
    """Whatever number lies under the mask."""
    platform = random_platform(np.random.default_rng(6))
    arguments = [*random_motion(np.random.default_rng(12), (3,)), platform.inverse_kinematics(np.tile(HOME, (3, 1)))]
    pose, twist, acceleration, lengths = (np.ma.masked_array(x, mask=np.zeros((3, 6), bool)) for x in arguments)
    for x in (pose, lengths):
        x.mask[1, 0] = True
    for result in (
        platform.inverse_dynamics(pose, twist, acceleration),
        platform.forward_dynamics(pose, twist, acceleration),
        platform.forward_kinematics(lengths, HOME),
        *platform.joint_reactions(pose, twist, acceleration),
        *platform.leg_motion(pose),
        *platform.forward_rates(HOME, np.zeros(6), pose),
    ):
        assert np.isnan(result[1]).all()
        assert np.isfinite(result[[0, 2]]).all()
    assert not platform.within_limits(pose).hold[1]


def test_limits_of_a_pose_that_is_none(way):
    platform = random_platform(np.random.default_rng(6))
    bare = platform.replace(**dict.fromkeys(("stroke", "force_limit", "cone_angles", "leg_radius")))
    poses, forces = np.tile(HOME, (3, 1)), np.ones((3, 6))
    poses[1, 4], forces[2, 3] = np.inf, np.nan
    assert bare.within_limits(poses, forces).hold.tolist() == [True, False, False]
    with in_silence():
        found = platform.within_limits(poses, forces)
    for margin in (found.stroke, found.base_cone, found.platform_cone, found.clearance):
        assert np.isnan(margin[1]).all()
        assert np.isfinite(margin[[0, 2]]).all()
    assert found.nearest_legs[1].tolist() == [0, 0]
    assert np.isnan(found.force[2]).all()
    assert not found.hold[1:].any()


@pytest.mark.parametrize("law", ["gravity", "computed torque"])
def test_a_broken_encoder_ends_a_simulation(kernels_on, law):
    """Nothing that holds the arm up depends on its first angle: its sensor must not fail unnoticed."""
    arm = tf.load("puma560").without_friction()

    class Broken(tf.Sensors):
        def read(self, position, velocity):
            return np.where(np.arange(6) == 0, np.nan, position), velocity

    motion = tf.motion.JointMove(np.zeros(6), np.zeros(6), 0.1)
    if law == "gravity":
        controller = lambda t, q, qd: arm.gravity_forces(q)  # noqa: E731
    else:
        controller = tf.control.ComputedTorque(arm)
    given = {"motion": motion, "duration": 0.1, "control_period": 0.01}
    with pytest.raises(tf.DivergenceError, match="the controller returned non-finite forces at t = 0 s"):
        tf.simulate(arm, controller, sensors=Broken(), **given)
    if law != "gravity":
        runs = tf.rollout(arm, controller, sensors=Broken(), **given)
        assert not runs.finite.any()
        assert runs.stepped_by == "methods: the sensors have a method read of their own"


def test_a_bad_row_of_a_rollout(kernels_on):
    arm = tf.load("puma560").replace(coulomb_speed=0.01)
    motion = tf.motion.JointMove(np.zeros(6), np.full(6, 0.3), 0.1)
    start = np.zeros((5, 6))
    clean = tf.rollout(arm, tf.control.ComputedTorque(arm), motion, initial=(start, start), control_period=0.01)
    start[2, 0] = np.nan
    with in_silence():
        run = tf.rollout(arm, tf.control.ComputedTorque(arm), motion, initial=(start, start * 0), control_period=0.01)
    assert run.finite.tolist() == [True, True, False, True, True]
    assert np.isnan(run.force[2]).all()
    assert np.isnan(run.position[2, 1:]).all()
    assert np.array_equal(run.position[[0, 1, 3, 4]], clean.position[[0, 1, 3, 4]])
