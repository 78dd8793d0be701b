"""Numbers that users give: masked, object, text, complex and decimal ones, in every public argument."""

import contextlib
import dataclasses
from decimal import Decimal

import numpy as np
import pytest

import tauforge as tf
from tauforge.arrays import is_real, real_number, real_numbers

pytestmark = pytest.mark.filterwarnings("ignore:Warning. converting a masked element:UserWarning")  # NumPy's, of lists
JUNK = 1e6  # below the mask
ARM, BAR, HEXAPOD = tf.load("planar-2r"), tf.load("five-bar"), tf.load("dasgupta1998")
HOME = HEXAPOD.positions.default
ZERO, MOVE = np.zeros(2), tf.motion.JointMove([0.1, 0.2], [0.3, 0.1], 0.01)
LAW = tf.control.PD(ARM, 1.0, 1.0)
BARE = tf.load("planar-2r").joints[0]
STATE, POSED = ([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]), (HOME, np.zeros(6), np.zeros(6))
EYE = np.eye(4)


def bar(x=None, qd=None, qdd=None, **loads):
    home = BAR.home if x is None else x
    return BAR.inverse_dynamics(home, ZERO if qd is None else qd, ZERO if qdd is None else qdd, **loads)


def body(**given):
    return dataclasses.astuple(tf.Body("link", **{"mass": 1.0, **given}))


def hinge(**given):
    return dataclasses.astuple(tf.Hinge("pin", "ground", "link", **given))


def from_dh(**given):
    lengths = {"alpha": [0.0, 0.0], "a": [1.0, 1.0], "d": [0.0, 0.0], "mass": [1.0, 1.0], "com": np.zeros((2, 3))}
    return tf.SerialArm.from_dh(joints="RR", **{**lengths, **given})


def rollout(**given):
    return tf.rollout(ARM, LAW, MOVE, **{"control_period": 1e-3, **given}).position


def simulated(**given):
    return tf.simulate(ARM, LAW, MOVE, **given).position


def simulated_under(load):
    return tf.simulate(ARM, LAW, MOVE, disturbance=lambda t: load).position


def sized(**given):
    known = {"time": [0.0, 1.0], **dict.fromkeys(("pose", "twist", "acceleration"), np.zeros((2, 6)))}
    known["pose"] = np.tile(HOME, (2, 1))
    return tf.analysis.size_actuators(HEXAPOD, **{**known, **given}).forces


def urdf(**given):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in "abc")
    moving = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/></joint>'
        for name, parent, child in (("one", "a", "b"), ("two", "b", "c"))
    )
    return tf.loads(f'<robot name="r">{links}{moving}</robot>', **given)


# what is called, with a value that it takes
CASES = {
    "q": (lambda x: ARM.inverse_dynamics(x, *STATE[1:]), STATE[0]),
    "qdd rows": (lambda x: ARM.inverse_dynamics(*STATE[:2], x), np.ones((3, 2))),
    "tip_wrench": (lambda x: ARM.inverse_dynamics(*STATE, tip_wrench=x), np.ones(6)),
    "tau": (lambda x: ARM.forward_dynamics(*STATE[:2], x), STATE[2]),
    "jacobian": (ARM.jacobian, STATE[0]),
    "limit_margins": (BAR.bounds.margins, BAR.home),
    "payload mass": (lambda x: ARM.inverse_dynamics(*STATE, payload=tf.Payload(x)), 2.0),
    "payload masses": (lambda x: ARM.inverse_dynamics(*STATE, payload=tf.Payload(x)), [1.0, 2.0]),
    "payload com": (lambda x: ARM.inverse_dynamics(*STATE, payload=tf.Payload(1.0, x)), [0.1, 0.0, 0.0]),
    "payload inertia": (lambda x: ARM.inverse_dynamics(*STATE, payload=tf.Payload(1.0, inertia=x)), np.eye(3)),
    "carrying": (lambda x: ARM.carrying(tf.Payload(x)).inverse_dynamics(*STATE), 2.0),
    "base angular_velocity": (lambda x: ARM.inverse_dynamics(*STATE, base_motion=tf.BaseMotion(x)), [0.1, 0, 0]),
    "base angular_acceleration": (lambda x: bar(base_motion=tf.BaseMotion(angular_acceleration=x)), [0.1, 0, 0]),
    "base linear_acceleration": (
        lambda x: HEXAPOD.inverse_dynamics(*POSED, base_motion=tf.BaseMotion(linear_acceleration=x)),
        [0.1, 0.0, 0.0],
    ),
    "pose of inverse_kinematics": (lambda x: tf.load("puma560").inverse_kinematics(x, on_failure="nan"), EYE),
    "guess of inverse_kinematics": (
        lambda x: ARM.inverse_kinematics(ARM.forward_kinematics(STATE[0]), x, on_failure="nan"),
        STATE[0],
    ),
    "mask of inverse_kinematics": (
        lambda x: ARM.inverse_kinematics(ARM.forward_kinematics(STATE[0]), STATE[0], mask=x),
        [1, 1, 0, 0, 0, 0],
    ),
    "tolerance of inverse_kinematics": (
        lambda x: ARM.inverse_kinematics(ARM.forward_kinematics(STATE[0]), STATE[0], tolerance=x),
        1e-9,
    ),
    "Joint.mass": (lambda x: tf.Joint(mass=x).mass, 1.0),
    "Joint.com": (lambda x: tf.Joint(com=x).com, [0.1, 0.0, 0.0]),
    "Joint.inertia": (lambda x: tf.Joint(inertia=x).inertia, np.eye(3)),
    "Joint.inertia, principal": (lambda x: tf.Joint(inertia=x).inertia, [1.0, 1.0, 1.0]),
    "Joint.before": (lambda x: tf.Joint(before=x).before, EYE),
    "Joint.limits": (lambda x: tf.Joint(limits=x).limits, [-1.0, 1.0]),
    "Joint.coulomb": (lambda x: tf.Joint(coulomb=x).coulomb, [1.0, 1.0]),
    "Joint.gear_ratio": (lambda x: tf.Joint(gear_ratio=x).gear_ratio, 2.0),
    "SerialArm.gravity": (lambda x: tf.SerialArm(joints=(BARE,), gravity=x).gravity, [0.0, 0.0, -9.81]),
    "SerialArm.base": (lambda x: tf.SerialArm(joints=(BARE,), base=x).base, EYE),
    "SerialArm.coulomb_speed": (lambda x: tf.SerialArm(joints=(BARE,), coulomb_speed=x).coulomb_speed, 0.1),
    "dissipation.smoothed": (lambda x: ARM.dissipation.smoothed(x).coulomb_speed, 0.1),
    "from_dh a": (lambda x: from_dh(a=x).own_values(["a"])["a"], [1.0, 2.0]),
    "from_dh theta": (lambda x: from_dh(theta=x).joints[0].offset, [1.0, 2.0]),
    "from_dh mass": (lambda x: from_dh(mass=x).own_values(["mass"])["mass"], [1.0, 2.0]),
    "from_dh com": (lambda x: from_dh(com=x).own_values(["com"])["com"], np.ones((2, 3))),
    "from_dh tool": (lambda x: from_dh(tool=x).tool, EYE),
    "arm.replace mass": (lambda x: ARM.replace(mass=x).own_values(["mass"])["mass"], [1.0, 2.0]),
    "arm.replace com": (lambda x: ARM.replace(com=x).own_values(["com"])["com"], np.ones((2, 3))),
    "arm.replace gravity": (lambda x: ARM.replace(gravity=x).gravity, [0.0, 0.0, -9.81]),
    "arm.designs.redesign": (lambda x: ARM.designs.redesign(a1=x).own_values(["a"])["a"], 1.0),
    "arm.designs.fields": (lambda x: list(ARM.designs.fields({"a1": x}).values()), [1.0, 2.0]),
    "platform.base_points": (lambda x: HEXAPOD.replace(base_points=x).base_points, HEXAPOD.base_points),
    "platform.lower_mass": (lambda x: HEXAPOD.replace(lower_mass=x).lower_mass, HEXAPOD.lower_mass),
    "platform.platform_mass": (lambda x: HEXAPOD.replace(platform_mass=x).platform_mass, HEXAPOD.platform_mass),
    "platform.platform_inertia": (lambda x: HEXAPOD.replace(platform_inertia=x).platform_inertia, np.eye(3)),
    "platform.stroke": (lambda x: HEXAPOD.replace(stroke=x).stroke, np.tile([0.1, 9.0], (6, 1))),
    "platform.force_limit": (lambda x: HEXAPOD.replace(force_limit=x).force_limit, np.ones(6)),
    "platform.leg_radius": (lambda x: HEXAPOD.replace(leg_radius=x).leg_radius, 0.01),
    "lengths": (
        lambda x: HEXAPOD.forward_kinematics(x, HOME, on_failure="nan"),
        HEXAPOD.inverse_kinematics(HOME).tolist(),
    ),
    "lengths without a guess": (
        lambda x: HEXAPOD.forward_kinematics(x, on_failure="nan"),
        HEXAPOD.inverse_kinematics(HOME).tolist(),
    ),
    "track": (lambda x: HEXAPOD.track(x, HOME), np.tile(HEXAPOD.inverse_kinematics(HOME), (2, 1))),
    "guess of track": (lambda x: HEXAPOD.track(np.tile(HEXAPOD.inverse_kinematics(HOME), (2, 1)), x), HOME),
    "assembly_modes": (lambda x: HEXAPOD.assembly_modes(x, starts=2).poses, HEXAPOD.inverse_kinematics(HOME)),
    "rates": (lambda x: HEXAPOD.forward_rates(HOME, x), np.ones(6)),
    "accelerations of legs": (lambda x: HEXAPOD.forward_rates(HOME, np.ones(6), x), np.ones(6)),
    "characteristic_length": (lambda x: HEXAPOD.condition_number(HOME, x), 0.5),
    "forces of within_limits": (
        lambda x: HEXAPOD.replace(force_limit=np.ones(6)).within_limits(HOME, x).force,
        np.ones(6),
    ),
    "Body.mass": (lambda x: body(mass=x), 1.0),
    "Body.com": (lambda x: body(com=x), [0.1, 0.0, 0.0]),
    "Body.inertia": (lambda x: body(inertia=x), np.eye(3)),
    "Body.origin": (lambda x: body(origin=x), [0.1, 0.0, 0.0]),
    "Body.frame": (lambda x: body(frame=x), EYE),
    "Hinge.at": (lambda x: hinge(at=x), [0.1, 0.0, 0.0]),
    "Hinge.axis": (lambda x: hinge(axis=x), [1.0, 0.0, 0.0]),
    "Hinge.home": (lambda x: hinge(home=x), 0.5),
    "Hinge.limits": (lambda x: hinge(limits=x), [-1.0, 1.0]),
    "Hinge.coulomb": (lambda x: hinge(coulomb=x), [1.0, 1.0]),
    "Hinge.mimic": (lambda x: hinge(mimic=("other", x, 0.0)), 2.0),
    "Universal.axes": (
        lambda x: dataclasses.astuple(tf.Universal("u", "ground", "link", axes=x)),
        np.eye(3)[:2],
    ),
    "Planar.along": (
        lambda x: dataclasses.astuple(tf.Planar("p", "ground", "link", along=x)),
        [1.0, 0.0, 0.0],
    ),
    "Spring.point_a": (lambda x: dataclasses.astuple(tf.Spring("ground", x, "link", (1, 0, 0), 1.0)), [0.1, 0.0, 0.0]),
    "Spring.stiffness": (lambda x: dataclasses.astuple(tf.Spring("ground", (0, 0, 0), "link", (1, 0, 0), x)), 1.0),
    "mechanism.replace mass": (lambda x: BAR.replace(mass=x).own_values(["mass"])["mass"], np.ones(4)),
    "mechanism.replace gravity": (lambda x: BAR.replace(gravity=x).gravity, [0.0, 0.0, -9.81]),
    "x": (lambda x: bar(x), BAR.home),
    "external_wrench": (lambda x: bar(external_wrench=x), np.ones(6)),
    "configuration": (lambda x: BAR.configuration(x, on_failure="nan"), BAR.positions.coordinates(BAR.home)),
    "near": (
        lambda x: BAR.configuration(BAR.positions.coordinates(BAR.home), near=x, on_failure="nan"),
        BAR.home,
    ),
    "point": (lambda x: BAR.jacobian(BAR.home, "left rod", x), [0.1, 0.0, 0.0]),
    "lock=": (lambda x: urdf(lock={"one": x}), 0.5),
    "home=": (lambda x: urdf(home={"one": x}), 0.5),
    "JointMove.start": (lambda x: tf.motion.JointMove(x, ZERO, 1.0).sample(0.0).position, [1.0, 2.0]),
    "JointMove.duration": (lambda x: tf.motion.JointMove(ZERO, ZERO, x).sample(0.0).position, 1.0),
    "Sine.amplitude": (lambda x: tf.motion.Sine(ZERO, x, 1.0, 1.0).sample(0.1).position, [1.0, 2.0]),
    "Sine.frequency": (lambda x: tf.motion.Sine(ZERO, 1.0, x, 1.0).sample(0.1).position, 1.0),
    "Chirp.first": (lambda x: tf.motion.Chirp(ZERO, 1.0, x, 2.0, 1.0).sample(0.1).position, 1.0),
    "Circle.centre": (lambda x: tf.motion.Circle(x, 0.1, 1.0).sample(0.1).position, HOME),
    "Circle.turns": (lambda x: tf.motion.Circle(HOME, 0.1, 1.0, x).sample(0.1).position, 2.0),
    "Waypoints.times": (lambda x: tf.motion.Waypoints(x, np.ones((3, 2))).sample(0.1).position, [0.0, 1.0, 2.0]),
    "Waypoints.points": (lambda x: tf.motion.Waypoints([0, 1, 2], x).sample(0.1).position, np.ones((3, 2))),
    "Sampled.positions": (lambda x: tf.motion.Sampled([0, 1, 2], x).sample(0.1).position, np.ones((3, 2))),
    "Sampled.smooth": (
        lambda x: tf.motion.Sampled(np.arange(50) * 0.1, np.ones((50, 2)), smooth=x).sample(0.1).position,
        1.0,
    ),
    "StraightLine.end": (lambda x: tf.motion.StraightLine(HOME, x, 1.0, 9.0, 9.0).sample(0.1).position, HOME),
    "StraightLine.max_speed": (lambda x: tf.motion.StraightLine(HOME, HOME, 1.0, x, 9.0).sample(0.1).position, 1.0),
    "WellConditionedPath.room": (
        lambda x: tf.motion.WellConditionedPath(HEXAPOD, HOME, HOME, 1.0, via=1, room=x).sample(0.1).position,
        np.full(6, 0.1),
    ),
    "WellConditionedPath.characteristic_length": (
        lambda x: tf.motion.WellConditionedPath(HEXAPOD, HOME, HOME, 1.0, via=1, characteristic_length=x).duration,
        0.5,
    ),
    "times of sample": (lambda x: MOVE.sample(x).position, [0.0, 0.005]),
    "twists": (lambda x: tf.motion.twists(HOME, x), np.ones(6)),
    "pose of twists": (lambda x: tf.motion.twists(x, np.ones((2, 6))), np.tile(HOME, (2, 1))),
    "pose_rates": (lambda x: tf.motion.pose_rates(HOME, x), np.ones(6)),
    "PD.kp": (lambda x: tf.control.PD(ARM, x, 1.0), [1.0, 2.0]),
    "ComputedTorque.kp": (lambda x: tf.control.ComputedTorque(ARM, x, 20.0), 100.0),
    "ComputedTorque.kv": (lambda x: tf.control.ComputedTorque(ARM, 100.0, x), 20.0 * np.eye(2)),
    "LegSpaceComputedTorque.resolution": (
        lambda x: tf.control.LegSpaceComputedTorque(HEXAPOD, resolution=x),
        0.001,
    ),
    "ResolvedRate.gain": (lambda x: tf.control.ResolvedRate(tf.load("puma560"), x), 10.0),
    "ResolvedRate.damping": (lambda x: tf.control.ResolvedRate(tf.load("puma560"), damping=x), 0.1),
    "AdaptiveComputedTorque.rate": (lambda x: tf.control.AdaptiveComputedTorque(ARM, x, period=0.001), 10.0),
    "AdaptiveComputedTorque.learning": (
        lambda x: tf.control.AdaptiveComputedTorque(ARM, learning=x, period=0.001),
        0.01,
    ),
    "Sensors.span": (lambda x: tf.Sensors(12, span=x), 6.0),
    "Sensors.position_noise": (lambda x: tf.Sensors(position_noise=x), 0.1),
    "simulate initial": (lambda x: simulated(initial=(x, ZERO)), [0.1, 0.2]),
    "simulate initial velocity": (lambda x: simulated(initial=(ZERO, x)), [0.1, 0.2]),
    "simulate duration": (lambda x: simulated(duration=x), 0.01),
    "simulate step": (lambda x: simulated(step=x), 0.001),
    "simulate control_period": (lambda x: simulated(control_period=x), 0.002),
    "simulate force_limits": (lambda x: simulated(force_limits=x), [10.0, 10.0]),
    "simulate disturbance": (simulated_under, np.ones(6)),
    "a law of one's own": (
        lambda x: tf.simulate(ARM, lambda t, q, qd: x, initial=(ZERO, ZERO), duration=0.002).position,
        [0.1, 0.2],
    ),
    "rollout initial": (lambda x: rollout(initial=(x, ZERO)), np.ones((2, 2))),
    "rollout varying": (lambda x: rollout(varying={"mass": x}), np.ones((2, 2))),
    "rollout forces": (lambda x: rollout(forces=x), np.ones((10, 2))),
    "rollout payload": (lambda x: rollout(payload=tf.Payload(x)), [1.0, 2.0]),
    "designs.evaluate": (
        lambda x: list(tf.designs.evaluate(HEXAPOD, {"base_radius": x}, ["condition"], states=2).values()),
        [1.0, 2.0],
    ),
    "designs.evaluate stiffness": (
        lambda x: list(
            tf.designs.evaluate(HEXAPOD, {"base_radius": 1.0}, ["stiffness"], states=2, stiffness=x).values()
        ),
        2.0,
    ),
    "designs.evaluate characteristic_length": (
        lambda x: list(
            tf.designs.evaluate(
                HEXAPOD, {"base_radius": 1.0}, ["condition"], states=2, characteristic_length=x
            ).values()
        ),
        2.0,
    ),
    "states_around distance": (lambda x: tf.designs.states_around(HEXAPOD, 2, distance=x).offsets, 0.1),
    "states_around at": (lambda x: tf.designs.states_around(HEXAPOD, 2, at={"z": x}).home, 1.0),
    "pareto": (
        lambda x: (
            tf.designs.pareto(HEXAPOD, {"base_radius": x}, ["condition", "base_radius"], states=2, evaluations=4)
            and None
        ),
        [1.0, 2.0],
    ),
    "non_dominated": (tf.designs.non_dominated, np.ones((2, 2))),
    "workspace.map axis": (lambda x: tf.workspace.map(HEXAPOD, "condition", {"x": x}).values, [0.0, 0.1]),
    "workspace.map bound": (lambda x: tf.workspace.map(HEXAPOD, "condition", {"x": (x, 1.0, 2)}).values, 0.0),
    "workspace.map home": (lambda x: tf.workspace.map(HEXAPOD, "condition", {"x": [0.0]}, home=x).values, HOME),
    "workspace.map largest_condition": (
        lambda x: tf.workspace.map(HEXAPOD, "limit", {"x": [0.0]}, largest_condition=x).values,
        100.0,
    ),
    "workspace.explain": (lambda x: tf.workspace.explain(HEXAPOD, x).position, HOME),
    "workspace.volume orientation": (
        lambda x: (
            tf.workspace.volume(
                HEXAPOD.replace(stroke=np.tile([0.1, 9.0], (6, 1))), HOME, orientation=x, points=8
            ).volume
        ),
        [0.0, 0.0, 0.0],
    ),
    "Axis": (lambda x: tf.sweeps.Axis("mass", x).values, [1.0, 2.0]),
    "ready_study at": (
        lambda x: tf.sweeps.ready_study("workspace", HEXAPOD, [tf.sweeps.Axis("x", [0.0, 0.1])], at={"y": x}),
        0.1,
    ),
    "linearise": (lambda x: tf.analysis.linearise(ARM, x, ZERO, ZERO), STATE[0]),
    "power_balance forces": (lambda x: tf.analysis.power_balance(HEXAPOD, *POSED, x).actuators, np.ones(6)),
    "power_balance external_wrench": (
        lambda x: tf.analysis.power_balance(HEXAPOD, HOME, np.ones(6), np.zeros(6), np.ones(6), x).external,
        np.ones(6),
    ),
    "size_actuators time": (lambda x: sized(time=x), [0.0, 1.0]),
    "size_actuators twist": (lambda x: sized(twist=x), np.zeros((2, 6))),
    "worst_leg_forces": (lambda x: tf.analysis.worst_leg_forces(HEXAPOD, x).per_force, HOME),
    "best_characteristic_length": (lambda x: tf.analysis.best_characteristic_length(HEXAPOD, x), HOME),
    "assess": (lambda x: [found.largest for found in tf.analysis.assess(HEXAPOD, x, *POSED[1:])], HOME[None]),
    "compare": (lambda x: list(tf.analysis.compare(ARM, x, *STATE[1:]).torques.values()), STATE[0]),
    "row_errors": (lambda x: tf.analysis.row_errors(x, np.ones((2, 2))), np.ones((2, 2))),
    "plot position": (lambda x: tf.plot(ARM, x) and None, STATE[0]),
    "plot forces": (lambda x: tf.plot(ARM, STATE[0], forces=x) and None, STATE[0]),
}

COMPILED = {  # the same, of what needs kernels
    "rollout gains": (lambda x: rollout(gains={"kp": x}), np.ones((2, 2, 2))),
    "kernel": (lambda x: ARM.kernel("inverse_dynamics")(x, *STATE[1:]), STATE[0]),
    "kernel rows": (lambda x: ARM.kernel("inverse_dynamics")(x, *STATE[1:]), np.ones((3, 2))),
    "kernel varying": (lambda x: ARM.kernel("inverse_dynamics", varying=["mass"])(*STATE, x), np.ones(2)),
}


def masked_whole(good):
    return np.ma.array(np.full(np.shape(good), JUNK), mask=True)


def masked_part(good):
    """One entry, by itself the most harmless one."""
    mask = np.zeros(np.shape(good), bool)
    mask[(-1,) * mask.ndim] = True
    return np.ma.array(good, mask=mask)


def masked_in_list(good):
    """A sequence whose entries are masked, as rows that were collected one by one."""
    return [masked_whole(entry) for entry in np.asarray(good)] if np.ndim(good) else np.ma.masked


def decimals(good):
    return np.vectorize(lambda x: Decimal(float(x)), otypes=[object])(good).tolist()


def with_none(good):
    """As a database or a table of Python objects hands out a gap."""
    made = np.array(good, object)
    made[(-1,) * made.ndim] = None
    return made


MASKED = {"masked": masked_whole, "masked entry": masked_part, "masked rows": masked_in_list}
ODD = {
    "object": with_none,
    "text": lambda good: np.asarray(good).astype(str).tolist(),
    "complex": lambda good: (np.asarray(good) + 0j).tolist(),
    "complex array": lambda good: np.asarray(good) + (0j if np.ndim(good) else np.complex128(0)),
    "decimal": decimals,
}


def values_of(found):
    """All numbers of nested results."""
    if isinstance(found, (tuple, list)):
        return [x for part in found for x in values_of(part)]
    return np.ravel(found).tolist() if isinstance(found, (np.ndarray, float)) else []


@pytest.mark.parametrize("name", CASES)
def test_masked_numbers_are_gaps(name):
    check_gaps(*CASES[name])


@pytest.mark.parametrize("name", COMPILED)
def test_masked_numbers_are_gaps_for_kernels(name, kernels_on):
    check_gaps(*COMPILED[name])


def check_gaps(call, good):
    """NaN or a refusal, never an answer from the number below the mask."""
    call(good)
    for masked in MASKED.values():
        with contextlib.suppress(tf.TauforgeError):
            assert np.isnan(values_of(call(masked(good)))).any()


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", CASES)
def test_what_is_no_real_number_is_refused(name, odd):
    check_refusal(CASES[name], odd)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", COMPILED)
def test_what_is_no_real_number_is_refused_by_kernels(name, odd, kernels_on):
    check_refusal(COMPILED[name], odd)


def check_refusal(case, odd):
    call, good = case
    with pytest.raises(tf.TauforgeError, match=r"expected") as caught:
        call(ODD[odd](good))
    assert not isinstance(caught.value, tf.UnsupportedFeatureError)


def test_rows_beside_a_gap_keep_their_answers(kernels_on):
    """Rows of payloads, and rows of a kernel that is called by itself."""
    rows, gap = np.ones((3, 2)), np.ma.array([1.0, JUNK, 2.0], mask=[0, 1, 0])
    plain = ARM.inverse_dynamics(*STATE, payload=tf.Payload([1.0, 3.0, 2.0]))
    found = ARM.inverse_dynamics(*STATE, payload=tf.Payload(gap))
    assert np.isnan(found[1]).all()
    assert np.array_equal(found[[0, 2]], plain[[0, 2]])
    kernel = ARM.kernel("inverse_dynamics")
    found = kernel(np.ma.array(rows, mask=[[0, 0], [0, 1], [0, 0]]), rows, rows)
    assert type(found) is np.ndarray
    assert np.isnan(found[1]).any()
    assert np.array_equal(found[[0, 2]], kernel(rows, rows, rows)[[0, 2]])


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ([[1.0], [1.0, 2.0]], "a ragged sequence"),
        (["1.0"], "text"),
        ([1j], "complex128 values"),
        ([1.0, None], "None"),
        ([Decimal(1)], "a Decimal"),
        ({"q": 1.0}, "a dict"),
        ([10**400], "an integer of more than 64 bits"),
        (np.array([1.0, 2.0], object), r"numbers as Python objects \(dtype object\)"),
        (np.array([1.0, None], object), "None"),
        (np.array([], object), "nothing"),
    ],
)
def test_messages_say_what_came(given, what):
    with pytest.raises(ValueError, match=f"^{what}$"):
        real_numbers(given)
    with pytest.raises(tf.ShapeError, match=rf"payload mass: expected numbers, got {what}$"):
        tf.Payload(given)


def test_exact_arrays_are_taken_as_they_are():
    for kind in (np.float64, np.float32, np.int64):
        given = np.ones(3, kind)
        assert real_numbers(given) is given


def test_single_numbers():
    assert [real_number(x) for x in (1, 2.5, np.float32(0.5), np.int8(3), 10**400)] == [1, 2.5, 0.5, 3, np.inf]
    for odd in (True, None, "1", 1j, np.complex128(1), Decimal(1), np.array(1.0), np.ma.masked):
        assert np.isnan(real_number(odd))
        assert not is_real(odd)
