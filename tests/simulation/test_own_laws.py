"""Laws and robots of the user's own: the one that was given runs, never another that was compiled before."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from support.platforms import random_platform
from support.strategies import random_arm
from tauforge.class_tools import computed_once
from tauforge.control import PD, ComputedTorque, FeedforwardPD, GravityPD
from tauforge.kernels.cpu import numpy_binding
from tauforge.robots.state_space import NO_FIELDS, PlainState
from tauforge.simulation import rollouts

SAME = 1e-12  # the same steps by another order of operations
STEP, PERIOD = 0.01, 0.02
ARM = random_arm(np.random.default_rng(0), "RP")
MOVE = tf.motion.JointMove([0, 0], [0.5, -0.2], 0.1)
START = (np.array([[0.1, 0.0], [-0.1, 0.05], [0.02, -0.03]]), np.zeros(2))
RIG = random_platform(np.random.default_rng(1), friction=(0, 0, 0))
RIG_START = np.array([0.0, 0.0, 1.1, 0.0, 0.1, 0.0])
RIG_MOVE = tf.motion.PoseMotion(tf.motion.JointMove(RIG_START, RIG_START + 0.01, 0.1))

pytestmark = [pytest.mark.usefixtures("kernels_on"), pytest.mark.fault(28)]


def rollout(law, arm=ARM, **options):
    return tf.rollout(arm, law, MOVE, initial=START, step=STEP, control_period=PERIOD, **options)


def assert_is_simulated(law, arm=ARM, **options):
    """Without kernels `simulate` asks the law itself at every step, so it is the oracle."""
    got, times = rollout(law, arm, **options), {"step": STEP, "control_period": PERIOD}
    for k in range(len(START[0])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TAUFORGE_KERNELS", "off")
            one = tf.simulate(arm, law, MOVE, initial=(START[0][k], START[1]), **times, **options)
        assert np.abs(got.position[k] - one.position[::2]).max() < SAME
        assert np.abs(got.force[k] - one.force[::2]).max() < SAME * (1 + np.abs(one.force).max())
    return got


class Spring(tf.control.Controller):
    """A law without a model: it has no attribute robot."""

    def force(self, t, position, velocity, target):
        return 20.0 * (target.position - position) - 2.0 * velocity


def test_a_law_needs_no_model():
    got = assert_is_simulated(Spring())
    want = tf.simulate(
        ARM,
        lambda t, q, qd: 20.0 * (MOVE.sample(t).position - q) - 2.0 * qd,
        initial=(START[0][1], START[1]),
        duration=MOVE.duration,
        step=STEP,
        control_period=PERIOD,
    )
    assert np.abs(got.position[1] - want.position[::2]).max() < SAME
    with pytest.raises(tf.ModelError, match="motion: a controller needs a motion to follow"):
        tf.simulate(ARM, Spring(), initial=(START[0][0], START[1]), duration=0.1)


class Share(ComputedTorque):
    """Gives a share of the forces, which is found from an attribute of any kind."""

    def __init__(self, robot, share):
        super().__init__(robot)
        self.share = share

    def force(self, t, position, velocity, target):
        return super().force(t, position, velocity, target) * number(self.share)


def number(share):
    match share:
        case np.ndarray():
            return share
        case None | "none":
            return 0.0
        case "half":
            return 0.5
        case dict():
            return share["share"]
        case tuple() | list():
            return share[0]
        case _ if callable(share):
            return share()
        case _:
            return share


@pytest.mark.parametrize(
    "shares",
    [
        (1.0, 0.0),
        (2, 1),
        (True, False),
        ("half", "none"),
        (0.5, None),
        ((0.5, 0), (0.25, 0)),
        ([0.5], [0.25]),
        ({"share": 0.5}, {"share": 0.25}),
        (np.float32(0.5), np.float32(0.25)),
        (np.array([0.5, 1.0]), np.array([1.0, 0.5])),
        (np.array([1, 2]), np.array([2, 1])),
        (lambda: 0.5, lambda: 0.25),
    ],
    ids=lambda pair: type(pair[0]).__name__,
)
def test_attributes_of_every_kind(shares):
    runs = [assert_is_simulated(Share(ARM, share)) for share in shares]
    assert np.abs(runs[0].position - runs[1].position).max() > 1e-4


def weaker(factor, base=ComputedTorque):
    """Classes with one name and one set of attributes, and another force each."""

    class Law(base):
        def force(self, t, position, velocity, target):
            return factor * super().force(t, position, velocity, target)

    return Law(ARM) if base is ComputedTorque else Law(ARM, 100.0, 20.0)


@pytest.mark.parametrize("base", [ComputedTorque, PD, GravityPD, FeedforwardPD])
def test_classes_of_the_same_name(base):
    runs = [assert_is_simulated(weaker(factor, base)) for factor in (1.0, 0.3)]
    assert np.abs(runs[0].position - runs[1].position).max() > 1e-4


def test_laws_that_look_at_the_time():
    class Fading(ComputedTorque):
        def force(self, t, position, velocity, target):
            return np.exp(-30 * t) * super().force(t, position, velocity, target)

    assert_is_simulated(Fading(ARM))


def pushing(self, t, position, velocity, target):
    return np.full(2, 3.0) - velocity


@pytest.mark.parametrize("owner", [ComputedTorque, PD])
def test_methods_replaced_on_a_class(monkeypatch, owner):
    """PD's own and that which GravityPD inherits; put back, the compiled law runs again."""
    law = ComputedTorque(ARM) if owner is ComputedTorque else GravityPD(ARM, 100.0, 20.0)
    before = assert_is_simulated(law)
    with monkeypatch.context() as patch:
        patch.setattr(owner, "force", pushing)
        during = assert_is_simulated(law)
    assert np.abs(during.position - before.position).max() > 1e-4
    assert np.array_equal(rollout(law).position, before.position)


def test_a_text_replaced_in_a_method(monkeypatch):
    law = PD(ARM, 100.0, 20.0)
    before = rollout(law)
    monkeypatch.setattr(PD.force, "__code__", pushing.__code__)
    assert np.abs(assert_is_simulated(law).position - before.position).max() > 1e-4


def test_methods_and_attributes_replaced_on_one_law():
    law = ComputedTorque(ARM)
    before = rollout(law)
    law.force = pushing.__get__(law)
    assert np.abs(assert_is_simulated(law).position - before.position).max() > 1e-4
    del law.force
    assert np.array_equal(rollout(law).position, before.position)
    law.kp *= 0.25
    assert np.abs(assert_is_simulated(law).position - before.position).max() > 1e-4
    law.kp = np.float32(4.0) * law.kp
    law.note = "tuned by hand"
    assert np.abs(assert_is_simulated(law).position - before.position).max() < SAME


LAW = """
from tauforge.control import ComputedTorque


class MyLaw(ComputedTorque):
    def force(self, t, position, velocity, target):
        return {factor} * super().force(t, position, velocity, target)
"""
SCRIPT = """
import sys
sys.path[:0] = [*{tests!r}, {folder!r}]
import numpy as np
import tauforge as tf
import users_law
from test_own_laws import ARM, assert_is_simulated
{law}
runs = [assert_is_simulated(law(ARM)).position for law in (MyLaw, users_law.MyLaw)]
print(runs[0][0, -1, 0], runs[1][0, -1, 0])
"""


def test_fresh_processes_share_a_cache_but_no_law(tmp_path):
    """Two scripts with a `__main__.MyLaw` each, and a module that is edited between them."""
    environment = os.environ | {"TAUFORGE_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    printed = []
    for factors in ((1.0, 0.5), (0.7, 0.2)):
        (tmp_path / "users_law.py").write_text(LAW.format(factor=factors[1]))
        script = SCRIPT.format(
            tests=[str(p) for p in Path(__file__).parents[:2]], folder=str(tmp_path), law=LAW.format(factor=factors[0])
        )
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stderr
        printed += done.stdout.split()
    assert len(set(printed)) == 4


def test_a_law_edited_and_loaded_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    source = tmp_path / "edited_law.py"
    source.write_text(LAW.format(factor=1.0))
    module = importlib.import_module("edited_law")
    before = assert_is_simulated(module.MyLaw(ARM))
    source.write_text(LAW.format(factor=0.25))
    importlib.invalidate_caches()
    after = assert_is_simulated(importlib.reload(module).MyLaw(ARM))
    assert np.abs(after.position - before.position).max() > 1e-4


class Damped(tf.SerialArm):
    def forward_dynamics(self, q, qd, tau, **loads):
        return super().forward_dynamics(q, qd, tau, **loads) - 20 * np.asarray(qd)


class BrakedState(PlainState):
    def rates_under(self, y, force, wrench=None, fields=NO_FIELDS):
        rates = super().rates_under(y, force, wrench, fields)
        return rates - 20 * np.concatenate([np.zeros_like(self.velocity(y)), self.velocity(y)], axis=-1)


class Braked(tf.SerialArm):
    """The same by the state of the contract, which calls forward_dynamics."""

    state_space = computed_once(BrakedState)


def damped(kind=Damped):
    return kind(**ARM.__getstate__())


@pytest.mark.parametrize("kind", [Damped, Braked])
@pytest.mark.parametrize(
    "law",
    [ComputedTorque(ARM), FeedforwardPD(ARM, 50.0, 5.0), Share(ARM, 0.5)],
    ids=["compiled", "proportional", "own law"],
)
def test_an_arm_with_dynamics_of_its_own(law, kind):
    plain = rollout(law)
    runs = [assert_is_simulated(law, damped(kind)), assert_is_simulated(law, plant=damped(kind))]
    assert np.array_equal(runs[0].position, runs[1].position)
    assert np.abs(runs[0].position - plain.position).max() > 1e-4


def test_numbers_of_an_arm_with_dynamics_of_its_own_vary():
    law, arm = ComputedTorque(ARM), damped()
    masses = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    got = rollout(law, arm, varying={"mass": masses, "gravity": np.array([0, 0, -3.0])})
    for k in range(3):
        plant = arm.replace(mass=masses[k], gravity=(0, 0, -3.0))
        one = tf.simulate(
            arm, law, MOVE, plant=plant, initial=(START[0][k], START[1]), step=STEP, control_period=PERIOD
        )
        assert np.abs(got.position[k] - one.position[::2]).max() < SAME


def test_dynamics_put_over_one_arm():
    law, arm = ComputedTorque(ARM), ARM.replace()
    plain = rollout(law, arm)
    vars(arm)["forward_dynamics"] = lambda q, qd, tau: ARM.forward_dynamics(q, qd, tau) - 20 * np.asarray(qd)
    assert np.abs(assert_is_simulated(law, arm).position - plain.position).max() > 1e-4
    with pytest.raises(
        tf.UnsupportedFeatureError, match="has methods set on the instance, which its varied copies would lose"
    ):
        rollout(law, arm, varying={"mass": np.ones((3, 2))})


@pytest.mark.parametrize("kind", ["builtin_function_or_method", "Shortcut"])
def test_dynamics_of_another_arm_put_over_one(monkeypatch, kind):
    """They are shortcuts of ours, but not this arm's."""
    if kind == "Shortcut":
        monkeypatch.setattr(numpy_binding, "builtins_supported", lambda: False)
    law, arm, heavy = ComputedTorque(ARM), ARM.replace(), ARM.replace(mass=[9.0, 9.0])
    heavy.forward_dynamics(*np.zeros((3, 2)))
    assert type(heavy.forward_dynamics).__name__ == kind
    vars(arm)["forward_dynamics"] = heavy.forward_dynamics
    assert np.abs(assert_is_simulated(law, arm).position - rollout(law).position).max() > 1e-4
    with pytest.raises(tf.UnsupportedFeatureError, match="has methods set on the instance"):
        rollout(law, arm, varying={"mass": np.ones((3, 2))})


def test_dynamics_replaced_on_the_class(monkeypatch):
    """The arm's method was called before, and so has a shortcut past the class."""
    law, arm = ComputedTorque(ARM), ARM.replace()
    arm.forward_dynamics(*np.zeros((3, 2)))
    plain, own = rollout(law, arm), tf.SerialArm.forward_dynamics

    def replaced(self, q, qd, tau, **loads):
        return own(self, q, qd, tau, **loads) - 20 * np.asarray(qd)

    monkeypatch.setattr(tf.SerialArm, "forward_dynamics", replaced)
    during = assert_is_simulated(law, arm)
    assert np.abs(during.position - plain.position).max() > 1e-4
    q = np.array([0.1, 0.2])
    assert np.array_equal(arm.forward_dynamics(q, q, q), own(arm, q, q, q) - 20 * q)


def test_a_model_with_dynamics_of_its_own():
    class Lighter(tf.SerialArm):
        def inverse_dynamics(self, q, qd, qdd, **options):
            return 0.5 * super().inverse_dynamics(q, qd, qdd, **options)

    law = ComputedTorque(Lighter(**ARM.__getstate__()))
    assert np.abs(assert_is_simulated(law).position - rollout(ComputedTorque(ARM)).position).max() > 1e-4


def test_a_platform_with_dynamics_of_its_own():
    class Damped(tf.StewartPlatform):
        def forward_dynamics(self, pose, twist, leg_forces, **options):
            return super().forward_dynamics(pose, twist, leg_forces, **options) - 20 * np.asarray(twist)

    law, rig = ComputedTorque(RIG), Damped(**RIG.__getstate__())
    got, plain = (tf.rollout(robot, law, RIG_MOVE, step=STEP, control_period=PERIOD) for robot in (rig, RIG))
    one = tf.simulate(rig, law, RIG_MOVE, step=STEP, control_period=PERIOD)
    assert np.abs(got.position[0] - one.position[::2]).max() < SAME
    assert np.abs(got.position - plain.position).max() > 1e-5


def test_a_row_without_an_answer_stops_no_other():
    class Stuck(tf.SerialArm):
        def forward_dynamics(self, q, qd, tau, **loads):
            if np.asarray(q)[0] > 0.09:
                raise tf.SingularityError("stuck", pose=q, condition_number=np.inf)
            return super().forward_dynamics(q, qd, tau, **loads)

    got = rollout(PD(ARM, 0.0, 0.0), Stuck(**ARM.replace(gravity=(0, 0, 0)).__getstate__()))
    assert got.finite.tolist() == [False, True, True]


@pytest.mark.parametrize("law", [ComputedTorque(ARM), PD(ARM, 9.0, 1.0), GravityPD(ARM, 9.0, 1.0)])
def test_our_own_run_compiled(monkeypatch, law):
    """Also after copies, calls, pickles and questions about the classes, which leave marks on them."""
    import copy
    import inspect
    import pickle

    for x in (law, ARM):
        copy.copy(x), copy.deepcopy(x), inspect.signature(type(x)), inspect.get_annotations(type(x))
    again = pickle.loads(pickle.dumps(law))
    ARM.forward_dynamics(*np.zeros((3, 2)))
    monkeypatch.delattr(rollouts, "MethodLoop")
    for one in (law, again):
        assert rollout(one).finite.all()
