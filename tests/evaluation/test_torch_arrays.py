"""Torch tensors: the methods on them, autograd, `torch.func`, and errors for what does not fit together."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import in_turn
from support.platforms import quarter_turned
from support.robot_functions import called, cases, largest_error, named, robots, state_of
from support.tolerances import FORMULATIONS, OUTSIDE, SINGLE, error

torch = pytest.importorskip("torch")
# torch itself imports what it has deprecated, when it first differentiates forward
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated:DeprecationWarning")
ROWS = 3
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
SMALL = tf.load("planar-2r")


def tensors(arrays, **more):
    return [torch.tensor(x, dtype=torch.float64, **more) for x in arrays]


@pytest.mark.parametrize(("robot", "name"), in_turn(cases()), ids=named)
def test_every_function_takes_tensors(robot, name):
    given, expected, _ = state_of(robot, name, ROWS)
    count = len(expected)
    outs = called(robot, name, tensors(given))[:count]
    assert all(isinstance(out, torch.Tensor) and out.dtype == torch.float64 for out in outs)
    assert largest_error(outs, expected) < FORMULATIONS
    mapped = torch.func.vmap(lambda *x: called(robot, name, x)[:count])(*tensors(given))
    assert largest_error(mapped, expected) < FORMULATIONS


@pytest.mark.parametrize("name", DYNAMICS)
@pytest.mark.parametrize("robot", ["puma560", "panda", "dasgupta1998"])
def test_derivatives_equal_our_kernels(robot, name, as_installed):
    robot = robots()[robot]
    given, _, _ = state_of(robot, name, ROWS)
    method, expected = getattr(robot, name), getattr(robot, f"{name}_derivatives")(*given)
    for transformed in (torch.func.jacrev, torch.func.jacfwd):
        slopes = torch.func.vmap(transformed(method, argnums=(0, 1, 2)))(*tensors(given))
        for got, wanted in zip(slopes, expected, strict=True):
            assert error(got, wanted, core=2) < OUTSIDE
    state = tensors(given, requires_grad=True)
    method(*state).sum().backward()
    for got, wanted in zip(state, expected, strict=True):
        assert error(got.grad, wanted.sum(axis=-2)) < OUTSIDE


@pytest.mark.parametrize("name", ["mass_matrix", "energy", "jacobian", "coriolis_matrix", "inverse_dynamics"])
@pytest.mark.parametrize("kernels", [True, False], ids=["kernels", "graph"])
def test_first_and_second_derivatives(name, kernels, request):
    if kernels:
        request.getfixturevalue("as_installed")
    state = tensors(state_of(SMALL, name, 2)[0], requires_grad=True)
    assert torch.autograd.gradcheck(getattr(SMALL, name), state, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(getattr(SMALL, name), state)


@pytest.mark.parametrize("name", DYNAMICS)
def test_loads_of_torch(name, as_installed):
    rng = np.random.default_rng(7)
    state, x = rng.normal(size=(3, ROWS, 2)), np.abs(rng.normal(size=18))

    def forces(x, q=state[0]):
        return getattr(SMALL, name)(
            q,
            *state[1:],
            payload=tf.Payload(x[0], x[1:4]),
            tip_wrench=x[4:10],
            base_motion=tf.BaseMotion(x[10:13], x[13:16], x[15:18]),
        )

    given = torch.tensor(x, requires_grad=True)
    assert error(forces(given).detach(), forces(x)) < FORMULATIONS
    assert torch.autograd.gradcheck(forces, given)
    assert torch.autograd.gradcheck(forces, (given, torch.tensor(state[0], requires_grad=True)))


def test_a_payload_for_each_row_under_vmap():
    state, masses = np.random.default_rng(8).normal(size=(3, ROWS, 2)), [0.5, 1.0, 2.0]
    got = torch.func.vmap(lambda q, qd, qdd, m: SMALL.inverse_dynamics(q, qd, qdd, payload=tf.Payload(m)))(
        *tensors(state), *tensors([masses])
    )
    assert error(got, SMALL.inverse_dynamics(*state, payload=tf.Payload(masses))) < FORMULATIONS


def test_a_gradient_through_a_rollout(as_installed):
    """By autograd, by torch.func, and by differences."""
    arm, h = robots()["puma560"], 2e-3

    def last(gain, start):
        q, qd = start, start * 0.0
        for _ in range(10):
            qd = qd + h * arm.forward_dynamics(q, qd, -gain * q - 2.0 * qd)
            q = q + h * qd
        return (q * q).sum()

    gain, start = (
        torch.tensor(30.0, dtype=torch.float64, requires_grad=True),
        torch.full((6,), 0.3, dtype=torch.float64),
    )
    last(gain, start).backward()
    by_gain = torch.func.grad(last)(gain.detach(), start)
    assert float(gain.grad) == pytest.approx(float(by_gain), rel=OUTSIDE)
    step = 1e-3
    ahead, behind = (float(last(30.0 + s, start)) for s in (step, -step))
    assert float(by_gain) == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


def test_single_precision_stays(as_installed):
    state = np.random.default_rng(10).normal(size=(3, ROWS, 2)).astype(np.float32)
    q, qd, qdd = (torch.tensor(x, requires_grad=True) for x in state)
    got = SMALL.inverse_dynamics(q, qd, qdd)
    got.sum().backward()
    assert got.dtype == q.grad.dtype == torch.float32
    assert error(got.detach(), SMALL.inverse_dynamics(*state.astype(float))) < SINGLE


def test_any_layout_of_memory_and_numbers_beside_tensors():
    state = np.random.default_rng(11).normal(size=(3, ROWS, 2))
    odd = [torch.tensor(x.T.copy()).T for x in state]
    assert not odd[0].is_contiguous()
    expected = SMALL.inverse_dynamics(*state)
    assert error(SMALL.inverse_dynamics(*odd), expected) < FORMULATIONS
    assert error(SMALL.inverse_dynamics(odd[0], state[1], state[2].tolist()), expected) < FORMULATIONS
    flipped = SMALL.inverse_dynamics(*(x.flip(0)[::2] for x in odd))
    assert error(flipped, expected[::-1][::2]) < FORMULATIONS
    assert SMALL.inverse_dynamics(*torch.zeros(3, 0, 2)).shape == (0, 2)


def test_what_does_not_fit_together():
    two = torch.ones(2)
    with pytest.raises(tf.ShapeError, match=r"one dtype, got torch\.float32 and torch\.float64"):
        SMALL.inverse_dynamics(two, two.double(), two)
    with pytest.raises(tf.ShapeError, match="float32 or float64"):
        SMALL.inverse_dynamics(two.half(), two.half(), two.half())
    with pytest.raises(tf.ShapeError, match="float32 or float64"):
        SMALL.inverse_dynamics(two.int(), two.int(), two.int())
    with pytest.raises(tf.ShapeError, match="one device, got cpu and meta"):
        SMALL.inverse_dynamics(two, two.to("meta"), two)
    elsewhere = two.to("meta")
    with pytest.raises(tf.UnsupportedFeatureError, match="tensors on meta are not supported"):
        SMALL.inverse_dynamics(elsewhere, elsewhere, elsewhere)
    with pytest.raises(tf.ShapeError, match="qd, qdd: expected a tensor on meta"):
        SMALL.inverse_dynamics(elsewhere, [0.0, 0.0], np.zeros(2))
    with pytest.raises(tf.ShapeError, match=r"q: expected \(\.\.\., 2\)"):
        SMALL.inverse_dynamics(torch.ones(3), two, two)
    with pytest.raises(tf.ShapeError, match="broadcast together"):
        SMALL.inverse_dynamics(torch.ones(3, 2), torch.ones(4, 2), two)
    with pytest.raises(tf.ShapeError, match="a ragged sequence"):
        SMALL.inverse_dynamics(two, [[0.0], [0.0, 1.0]], two)
    with pytest.raises(tf.ShapeError, match="payload com"):
        tf.Payload(two[0], two)


def test_singular_rows(as_installed):
    platform = robots()["motion-rig"]
    pose = torch.tensor(np.stack([np.eye(6)[2], quarter_turned()]), requires_grad=True)
    rest = torch.zeros(6, dtype=torch.float64)
    with pytest.raises(tf.SingularityError) as told:
        platform.inverse_dynamics(pose, rest, rest)
    assert told.value.row == 1
    got = platform.inverse_dynamics(pose, rest, rest, on_singular="nan")
    assert torch.isnan(got[1]).all()
    got[0].sum().backward()
    assert torch.isfinite(pose.grad[0]).all()


def test_searches_hand_back_tensors_and_refuse_gradients():
    platform = robots()["dasgupta1998"]
    pose = torch.tensor(state_of(platform, "inverse_kinematics")[0][0])
    lengths = platform.inverse_kinematics(pose)
    found = platform.forward_kinematics(lengths, guess=pose)
    assert isinstance(found, torch.Tensor)
    assert error(platform.inverse_kinematics(found), lengths) < OUTSIDE
    assert platform.within_limits(pose).hold.dtype == torch.bool
    with pytest.raises(tf.UnsupportedFeatureError, match=r"\.detach\(\)"):
        platform.forward_kinematics(lengths.requires_grad_())
    with pytest.raises(tf.UnsupportedFeatureError, match=r"\.detach\(\)"):
        torch.func.vmap(platform.forward_kinematics)(lengths.detach()[None])


def test_leg_motion_and_condition_number_are_differentiable():
    platform = robots()["dasgupta1998"]
    pose, twist, acceleration = tensors(state_of(platform, "inverse_dynamics")[0])
    pose.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: platform.leg_motion(x, twist, acceleration)[8:], pose)
    assert torch.autograd.gradcheck(platform.condition_number, pose, rtol=1e-2)
