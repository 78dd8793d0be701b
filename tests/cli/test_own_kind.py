"""The command line with a kind of robot that the package does not know, read from a file of its own format."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.command_line import error_of, parsed, run, saved
from tauforge.formats import loading
from tauforge.tables.reading import read_csv
from tauforge.tables.robot_columns import TIME, columns_of

FORMAT = "cart-pendulum-1"
T = np.linspace(0, 1, 41)
EXACT = 1e-14  # relative: the same function called twice


def cart_of(values):
    given = {name: value for name, value in values.items() if name != "format"}
    if given.get("mass", 1.0) < 0:
        raise tf.ModelError("expected a number >= 0", field="mass")
    return CartPendulum().replace(**given)


@pytest.fixture
def cart_file(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "FORMATS", dict(loading.FORMATS))
    loading.register_format(FORMAT, cart_of)
    path = tmp_path / "cart.toml"
    path.write_text(f'format = "{FORMAT}"\nmass = 0.7\n')
    return path


def test_the_file_is_loaded(cart_file):
    assert tf.load(cart_file).parameters["mass"] == 0.7
    assert tf.loads(cart_file.read_text()).parameters == tf.load(cart_file).parameters


def test_show_and_check(cart_file):
    cart = tf.load(cart_file)
    text = run("show", cart_file).stdout
    assert text.startswith("cart: cart with 2 coordinates")
    rows = [line.split() for line in text.splitlines()]
    assert ["cart", "m", "-0.5", "0.5", "-"] in rows
    assert ["motor", "N", "50"] in rows
    found = parsed("show", cart_file)
    assert found["kind"] == "cart"
    assert [c["name"] for c in found["coordinates"]] == [c.name for c in cart.coordinates]
    assert parsed("check", cart_file)["good"]
    cart_file.write_text(f'format = "{FORMAT}"\nmass = -1\n')
    assert parsed("check", cart_file, code=1)["problems"] == ["mass: expected a number >= 0"]


def test_inverse_dynamics_of_a_motion(cart_file, tmp_path):
    cart, own = tf.load(cart_file), columns_of(tf.load(cart_file))
    state = np.random.default_rng(0).normal(size=(3, len(T), 2))
    header = [TIME, *own.position, *own.velocity, *own.acceleration]
    motion, out = saved(tmp_path / "m.csv", header, np.column_stack([T, *state])), tmp_path / "forces.csv"
    found = parsed("inverse-dynamics", cart_file, motion, "-o", out)
    expected = cart.inverse_dynamics(*state)
    assert np.abs(read_csv(out).take(own.force) - expected).max() <= EXACT * np.abs(expected).max()
    assert [row["actuator"] for row in found["forces"]] == [actuator.name for actuator in cart.actuators]
    assert found["formulation"] is None
    for option, value in (("--model", "exact"), ("--formulation", "newton-euler")):
        assert "cart is a cart; it has a single formulation" in error_of(
            "inverse-dynamics", cart_file, motion, option, value
        )
    assert "takes no external wrench" in error_of("inverse-dynamics", cart_file, motion, "--wrench", "1,0,0,0,0,0")
    assert "cannot carry a payload" in error_of("inverse-dynamics", cart_file, motion, "--payload", "1")


def test_simulate(cart_file):
    found = parsed("simulate", cart_file, "--motion", "joint-move:0,0:0.3,0.8:0.4", "--step", "0.01")
    assert max(abs(row["largest_error"]) for row in found["coordinates"]) < 1e-6
    assert "needs joint-move" in error_of("simulate", cart_file, "--motion", "pose-move:0,0:1,1:1")
    assert "no Coulomb friction to smooth" in error_of(
        "simulate", cart_file, "--motion", "joint-move:0,0:1,1:1", "--coulomb-speed", "1"
    )


def test_costs_and_comparisons(cart_file):
    (cost,) = parsed("complexity", cart_file)["operations"].values()
    assert 0 < cost["multiplications"] <= cost["as_written"]["multiplications"]
    assert "inverse-dynamics" in run("complexity", cart_file).stdout
    assert "nothing to compare" in error_of("compare", cart_file)
    assert "sizing needs a robot with legs; cart is a cart" in error_of("sizing", cart_file, cart_file)
    guess = ("forward-kinematics", cart_file, positions(cart_file), "--guess", "0,0,0,0,0,0")
    assert "cart is a cart; what its sensors measure needs no guess" in error_of(*guess)
    assert "has no forward kinematics" in error_of("forward-kinematics", cart_file, positions(cart_file))


def positions(cart_file):
    own = columns_of(tf.load(cart_file))
    return saved(cart_file.with_name("q.csv"), own.position, np.zeros((3, 2)))


def test_names_of_formats(cart_file):
    with pytest.raises(tf.ModelError, match="is already registered"):
        loading.register_format(FORMAT, cart_of)
    for none in (None, "cart_of", 5):
        with pytest.raises(tf.ModelError, match="read: expected a function that reads a file's values, got"):
            loading.register_format("cart-pendulum-2", none)
    assert "cart-pendulum-2" not in loading.FORMATS
    with pytest.raises(tf.ModelError, match=r'"tauforge-arm-1", .*, "tauforge-mechanism-1" and "cart-pendulum-1"'):
        tf.loads('format = "other-1"')


@pytest.mark.parametrize("returned", [5, None, CartPendulum])
def test_readers_that_return_no_robot(cart_file, returned):
    loading.register_format("no-robot-1", lambda values: values.clear() or returned)
    text = 'format = "no-robot-1"\n'
    with pytest.raises(tf.ModelError, match=r"format: the function that reads 'no-robot-1' returned .*, not a Robot"):
        tf.loads(text)
    cart_file.write_text(text)
    with pytest.raises(tf.ModelError, match=r"cart\.toml: format: the function that reads"):
        tf.load(cart_file)
    (problem,) = parsed("check", cart_file, code=1)["problems"]
    assert "not a Robot" in problem
