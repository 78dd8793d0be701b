"""Default methods of a robot of the user's own: options, formulations, guards, and arguments by name."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support import cart_pendulum
from support.cart_pendulum import CartPendulum, pairs
from support.command_line import error_of, parsed, saved
from support.tolerances import FORMULATIONS, ROUNDING, SAME_STEPS, error
from tauforge.algebra.scalars import absolute, cos
from tauforge.analysis.comparison import compare
from tauforge.analysis.complexity import operation_count
from tauforge.class_tools import computed_once
from tauforge.evaluation.derivatives import with_derivatives
from tauforge.evaluation.functions import Argument, Doubtful, Function, Guard, Verdict
from tauforge.formats import loading
from tauforge.robots.formulations import Formulations
from tauforge.tables.reading import read_csv
from tauforge.tables.robot_columns import TIME, columns_of

SINGULAR = 1e10  # of one over the determinant of the mass matrix
LAGRANGE, BY_COLUMNS = "lagrange", "by-columns"
STILL = [0.0, 0.0]


def determinant(p, q):
    moment = p["mass"] * p["length"]
    return moment * moment * ((p["cart_mass"] + p["mass"]) / p["mass"] - cos(q[1]) * cos(q[1]))


def doubt(p, q):
    """Rounding may make a determinant of 0 a negative one, or -0, and a doubt is never negative."""
    return 1.0 / absolute(determinant(p, q))


def inverse_dynamics(p, q, qd, qdd, push=None, *, method):
    """The equations as in the textbook, or the mass matrix by its columns."""
    found = cart_pendulum.inverse_dynamics(p, q, qd, qdd)
    if method == BY_COLUMNS:
        rest, weight = (cart_pendulum.inverse_dynamics(p, q, rate, STILL) for rate in (qd, STILL))
        columns = [cart_pendulum.inverse_dynamics(p, q, STILL, unit) for unit in ([1.0, 0.0], [0.0, 1.0])]
        found = [
            rest[i] + sum(a * (column[i] - weight[i]) for a, column in zip(qdd, columns, strict=True)) for i in (0, 1)
        ]
    return Doubtful(found if push is None else [found[0] - push[0], found[1]], lambda: doubt(p, q))


def forward_dynamics(p, q, qd, forces):
    return Doubtful(cart_pendulum.forward_dynamics(p, q, qd, forces), lambda: doubt(p, q))


def judge(robot, arguments, results, options):
    q = arguments["q"]
    found = determinant(robot.parameters, q.T)
    return Verdict(found < 1 / SINGULAR, ["the rod hangs down"] * len(q), q, 1 / np.maximum(found, 1e-300))


GUARD = Guard(SINGULAR, judge)


class Methods(Formulations):
    names = (LAGRANGE, BY_COLUMNS)
    option = "method"


class ChoosingCart(CartPendulum):
    """Computed in two ways. If the cart has no mass, its mass matrix is singular where the rod hangs down."""

    formulations = computed_once(Methods)
    functions = with_derivatives(
        {
            "inverse_dynamics": Function(
                inverse_dynamics,
                pairs("q", "qd", "qdd"),
                ((2,),),
                (Argument("push", (1,), "a force on the cart"),),
                {"method": LAGRANGE},
                GUARD,
            ),
            "forward_dynamics": Function(forward_dynamics, pairs("q", "qd", "forces"), ((2,),), guard=GUARD),
            "energy": CartPendulum.functions["energy"],
        }
    )


PLAIN = CartPendulum()
Q, QD, QDD = np.random.default_rng(0).normal(size=(3, 5, 2))
WEIGHTLESS = {"cart_mass": 0.0, "friction": 0.0}


@pytest.fixture(params=["1", "0"], ids=["kernels", "reference"])
def cart(request, monkeypatch, switch):
    monkeypatch.setenv("TAUFORGE_KERNELS", min(request.param, switch))
    return ChoosingCart()


def test_formulations(cart):
    expected = PLAIN.inverse_dynamics(Q, QD, QDD)
    for _ in range(2):  # the method, and then its shortcut
        for chosen in ({}, {"method": None}, {"method": LAGRANGE}, {"method": BY_COLUMNS}, {"formulation": BY_COLUMNS}):
            assert error(cart.inverse_dynamics(Q, QD, QDD, **chosen), expected) < FORMULATIONS
    costs = [operation_count(cart, name).as_written for name in (None, *cart.formulations)]
    assert costs[0] == costs[1] != costs[2]
    found = compare(cart, Q, QD, QDD)
    assert tuple(found.torques) == cart.formulations.names
    assert found.largest < FORMULATIONS
    slopes = [cart.inverse_dynamics_derivatives(Q, QD, QDD, method=name)[2] for name in cart.formulations]
    assert error(*slopes, core=2) < FORMULATIONS
    for ask in (cart.inverse_dynamics, lambda *x, **more: operation_count(cart, more["method"])):
        with pytest.raises(
            tf.UnsupportedFeatureError, match=r"unknown method 'newton'\. Use one of lagrange, by-columns"
        ):
            ask(Q, QD, QDD, method="newton")


def test_kernels_of_formulations(kernels_on):
    cart = ChoosingCart()
    for name in cart.formulations:
        kernel = cart.kernel("inverse_dynamics", method=name)
        assert np.array_equal(kernel(Q, QD, QDD), cart.inverse_dynamics(Q, QD, QDD, method=name))
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown method 'newton'"):
        cart.kernel("inverse_dynamics", method="newton")


def test_loads_beside_options(cart):
    expected = PLAIN.inverse_dynamics(Q, QD, QDD)
    for chosen in ({}, {"method": BY_COLUMNS}):
        assert error(cart.inverse_dynamics(Q, QD, QDD, push=[3.0], **chosen), expected - [3.0, 0.0]) < FORMULATIONS
        assert error(cart.inverse_dynamics(Q, QD, QDD, push=None, **chosen), expected) < FORMULATIONS


def test_arguments_by_name(cart):
    expected = PLAIN.inverse_dynamics(Q, QD, QDD)
    for _ in range(2):
        assert error(cart.inverse_dynamics(qdd=QDD, q=Q, qd=QD), expected) < FORMULATIONS
        assert error(cart.inverse_dynamics(Q, QD, qdd=QDD, method=BY_COLUMNS), expected) < FORMULATIONS
    assert error(cart.forward_dynamics(Q, QD, forces=expected), QDD) < FORMULATIONS
    kinetic, potential = cart.energy(q=Q, qd=QD)
    assert error(np.stack([kinetic, potential]), np.stack(PLAIN.energy(Q, QD))) < ROUNDING


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((Q, QD), {}, r"takes 3 arguments \(q, qd, qdd\), got 2: qdd is missing"),
        ((), {"qd": QD}, "got 1: q is missing"),
        ((Q, QD, QDD, QDD), {}, "got 4"),
        ((Q, QD, QDD), {"qd": QD}, "got qd twice"),
    ],
)
def test_arguments_that_do_not_fit(cart, given, named, message):
    with pytest.raises(TypeError, match=message):
        cart.inverse_dynamics(*given, **named)


def test_keywords_that_there_are_not(cart):
    with pytest.raises(tf.UnsupportedFeatureError, match=r"inverse_dynamics of cart takes no solver=") as caught:
        cart.inverse_dynamics(Q, QD, QDD, solver=LAGRANGE)
    assert caught.value.remedy == "Known: push, method, on_singular"
    with pytest.raises(tf.UnsupportedFeatureError, match=r"energy of cart takes no on_singular=.*Known: none"):
        cart.energy(Q, QD, on_singular="nan")
    with pytest.raises(tf.ShapeError, match="on_singular: expected 'raise' or 'nan', got 'ignore'"):
        cart.forward_dynamics(Q, QD, QDD, on_singular="ignore")

    class WithoutDerivatives(CartPendulum):
        functions = {name: CartPendulum.functions[name] for name in ("inverse_dynamics", "forward_dynamics", "energy")}  # noqa: RUF012

    with pytest.raises(tf.UnsupportedFeatureError, match="cart has no inverse_dynamics_derivatives"):
        WithoutDerivatives().inverse_dynamics_derivatives(Q, QD, QDD)


def test_singular_rows(cart):
    light, q = cart.replace(**WEIGHTLESS), Q.copy()
    q[2] = 0.0
    for method in (light.inverse_dynamics, light.forward_dynamics):
        with pytest.raises(tf.SingularityError, match="cart: the rod hangs down") as caught:
            method(q, QD, QDD)
        assert caught.value.row == 2
        got = method(q, QD, QDD, on_singular="nan")
        assert np.isnan(got).all(axis=-1).tolist() == [False, False, True, False, False]
    rest = np.arange(5) != 2
    expected = PLAIN.replace(**WEIGHTLESS).forward_dynamics(q[rest], QD[rest], QDD[rest])
    assert error(light.forward_dynamics(q, QD, QDD, on_singular="nan")[rest], expected) < FORMULATIONS


def test_a_singular_row_under_a_law_stops_no_other(cart):
    """Both the law's model and the plant have no answer for the first row."""

    class OwnLaw(tf.control.ComputedTorque):
        """Never compiled."""

    light, move = cart.replace(**WEIGHTLESS), tf.motion.JointMove([0.0, 0.8], [0.1, 1.0], 0.05)
    starts, options = np.array([[0.0, 0.0], [0.0, 0.8]]), {"step": 5e-3, "control_period": 5e-3}
    got = tf.rollout(light, OwnLaw(light), move, initial=(starts, np.zeros(2)), **options)
    assert got.finite.tolist() == [False, True]
    one = tf.simulate(light, OwnLaw(light), move, initial=(starts[1], np.zeros(2)), **options)
    assert np.abs(got.position[1] - one.position).max() < SAME_STEPS


@pytest.fixture
def choosing_file(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "FORMATS", dict(loading.FORMATS))
    loading.register_format("choosing-cart-1", lambda values: ChoosingCart())
    path = tmp_path / "cart.toml"
    path.write_text('format = "choosing-cart-1"\n')
    return path


def test_a_comparison_on_the_command_line(choosing_file):
    found = parsed("compare", choosing_file, "--states", "20")
    assert tuple(found["disagreement"]) == Methods.names
    assert found["largest"] < FORMULATIONS


def test_formulations_on_the_command_line(choosing_file):
    """The option is one, whatever the kind calls its keyword."""
    own, motion = columns_of(ChoosingCart()), choosing_file.with_name("motion.csv")
    header = [TIME, *own.position, *own.velocity, *own.acceleration]
    saved(motion, header, np.column_stack([np.arange(5.0), Q, QD, QDD]))
    expected, out = PLAIN.inverse_dynamics(Q, QD, QDD), choosing_file.with_name("forces.csv")
    for option in ("--formulation", "--model"):
        found = parsed("inverse-dynamics", choosing_file, motion, "-o", out, option, BY_COLUMNS)
        assert found["formulation"] == BY_COLUMNS
        assert error(read_csv(out).take(own.force), expected) < FORMULATIONS
        message = error_of("inverse-dynamics", choosing_file, motion, option, "newton")
        assert "unknown method 'newton'\n  Use one of lagrange, by-columns" in message
    assert parsed("inverse-dynamics", choosing_file, motion)["formulation"] == LAGRANGE
