"""`map` against the robot's own methods, position by position."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.shells import inside, stroke_platform
from tauforge.robots.poses import pose_error, transforms, turned
from tauforge.workspace import map as mapped

AXES = {"x": (-0.5, 0.5, 11), "z": (0.8, 1.4, 7)}
ROUNDING = 1e-12  # relative, of forces
pytestmark = pytest.mark.usefixtures("as_installed")  # many positions: kernels are quicker


@pytest.fixture(scope="module")
def rig():
    return tf.load("motion-rig")


def positions(found):
    """(..., n) of a map's grid."""
    grid = np.meshgrid(*found.axes.values(), indexing="ij")
    made = np.broadcast_to(found.home, (*found.values.shape, len(found.home))).copy()
    names = ["x", "y", "z", "theta_x", "theta_y", "theta_z"]
    for name, values in zip(found.axes, grid, strict=True):
        made[..., names.index(name)] = values
    return made


def test_limit_is_inside_the_shells():
    shells, angles = stroke_platform(), [0.1, 0.0, 0.2]
    found = mapped(shells, "limit", AXES, home=[0, 0.1, 1.0, *angles])
    assert found.values.dtype == np.uint8
    assert ((found.values == 0) == inside(shells, positions(found)[..., :3], angles)).all()
    assert set(found.shares()) > {"all limits hold"}


def test_limit_names_the_first_that_is_exceeded(rig):
    found = mapped(rig, "limit", AXES, forces=False)
    margins = rig.bounds.margins(positions(found))
    beyond = margins < 0
    assert (found.values == np.where(beyond.any(-1), 1 + beyond.argmax(-1), 0)).all()
    assert found.codes[1:] == tuple(limit.name for limit in rig.bounds.limits)


def test_chosen_kinds_are_judged_alone(rig):
    found = mapped(rig, "limit", {"x": (-1.0, 1.0, 9), "y": (-1.0, 1.0, 9)}, limits=["base cone"], forces=False)
    base_cones = np.array([limit.kind == "base cone" for limit in rig.bounds.limits])
    beyond = (rig.bounds.margins(positions(found)) < 0)[..., base_cones]
    assert ((found.values == 0) == ~beyond.any(-1)).all()
    assert beyond.any()
    assert all("base joint" in name for name in found.codes[1:])


def test_condition_and_forces(rig):
    load = tf.Payload(150.0, [0.1, 0.0, 0.3])
    where = positions(mapped(rig, "condition", AXES))
    condition = mapped(rig, "condition", AXES).values
    assert condition == pytest.approx(np.linalg.cond(rig.force_matrix(where)), rel=1e-9)  # an SVD's own error
    forces = np.abs(rig.inverse_dynamics(where, np.zeros(6), np.zeros(6), payload=load))
    found = mapped(rig, "force", AXES, payload=load)
    assert found.unit == "N"
    assert found.values == pytest.approx(forces.max(-1), rel=ROUNDING)
    shares = mapped(rig, "force_share", AXES, payload=load).values
    assert shares == pytest.approx((forces / rig.max_forces).max(-1), rel=ROUNDING)


def test_capacity_is_the_mass_that_uses_a_limit_up(rig):
    com = [0.1, 0.05, 0.3]
    found = mapped(rig, "capacity", AXES, payload=tf.Payload(1.0, com))
    assert found.unit == "kg"
    where = positions(found)
    for index in np.ndindex(found.values.shape):
        load = tf.Payload(found.values[index], com)
        force = np.abs(rig.inverse_dynamics(where[index], np.zeros(6), np.zeros(6), payload=load))
        assert (force / rig.max_forces).max() == pytest.approx(1.0, rel=1e-9)  # of a sum of opposite forces


def test_a_robot_that_cannot_hold_itself_carries_nothing(rig):
    weak = rig.replace(force_limit=100.0)
    assert (mapped(weak, "capacity", AXES).values == 0).all()


def test_capacity_of_an_arm():
    panda = tf.load("panda")
    found = mapped(panda, "capacity", {"joint2": (-1.5, 1.5, 5), "joint4": (-2.8, -0.2, 5)})
    assert (found.values > 3.0).all()  # its maker says 3 kg anywhere
    heavy = mapped(panda, "force_share", {"joint2": (-1.5, 1.5, 5)}, payload=tf.Payload(5.0))
    assert heavy.values.shape == (5,)


def test_axes_may_be_values(rig):
    values = np.array([0.9, 1.0, 1.2])
    found = mapped(rig, "force", {"z": values, "theta_z": [0.0, 0.3]})
    assert found.values.shape == (3, 2)
    assert (found.axes["z"] == values).all()
    assert found.units == {"z": "m", "theta_z": "rad"}


def test_a_kind_of_robot_that_the_package_does_not_know():
    found = mapped(CartPendulum(), "limit", {"cart": (-1.0, 1.0, 21)}, forces=False)
    assert ((found.values == 0) == (np.abs(found.axes["cart"]) <= 0.5)).all()
    forces = mapped(CartPendulum(), "force", {"rod": (-1.0, 1.0, 5)})
    assert forces.unit == "N or N m"
    with pytest.raises(tf.UnsupportedFeatureError, match="has no condition number"):
        mapped(CartPendulum(), "condition", {"rod": (-1.0, 1.0, 5)})


def test_pieces_are_as_good_as_the_whole(rig, monkeypatch):
    whole = mapped(rig, "force", AXES).values
    monkeypatch.setattr("tauforge.workspace.criteria.BLOCK_POSITIONS", 10)
    assert mapped(rig, "force", AXES).values == pytest.approx(whole, rel=ROUNDING)


def test_xarray(rig):
    xarray = pytest.importorskip("xarray")
    found = mapped(rig, "limit", AXES)
    made = found.to_xarray()
    assert isinstance(made, xarray.DataArray)
    assert made.dims == ("x", "z")
    assert made.coords["z"].attrs["units"] == "m"
    assert made.attrs["flag_meanings"][0] == "all limits hold"
    assert float(made.sel(x=0.0, z=1.1)) == 0.0


def test_reports(rig):
    assert "Share of the positions" in str(mapped(rig, "limit", AXES))
    found = mapped(rig, "condition", AXES)
    assert "half of them below" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.data()["quantity"] == "condition"


@pytest.mark.parametrize(
    ("quantity", "axes", "message"),
    [
        (
            "speed",
            AXES,
            "unknown quantity 'speed'. Use one of limit, condition, stiffness, force, force_share, capacity",
        ),
        ("limit", {}, "axes: expected one to 3 axes by name, among x, y, z"),
        ("limit", {"w": (0, 1, 2)}, "axes: expected names among x, y, z, theta_x, theta_y, theta_z, got 'w'"),
        ("limit", {"x": (0, 1, 0)}, "axis x: expected at least one point, got 0"),
        ("limit", {"x": (1, 0, 5)}, "axis x: expected a lower bound below the upper one, got 1 to 0"),
        ("limit", {"x": (0, np.nan, 5)}, "axis x: expected finite numbers"),
        ("limit", {"x": []}, "axis x: expected \\(k,\\) at least one value"),
        ("limit", {"x": [1.0, 0.0]}, "axis x: expected strictly increasing values"),
        ("limit", {"x": "abc"}, "axis x: expected \\(from, to, points\\), or numbers"),
        ("limit", dict.fromkeys(("x", "y", "z", "theta_x"), (0, 1, 2)), "axes: expected one to 3 axes"),
    ],
)
def test_bad_input(rig, quantity, axes, message):
    with pytest.raises(tf.TauforgeError, match=message):
        mapped(rig, quantity, axes)


def test_robots_that_lack_what_is_asked():
    with pytest.raises(tf.ModelError, match="dietmaier has no limits"):
        mapped(tf.load("dietmaier"), "limit", AXES)
    with pytest.raises(tf.ModelError, match="mathworks-hexapod has a geometry but no masses"):
        mapped(tf.load("mathworks-hexapod"), "capacity", AXES)
    with pytest.raises(tf.ModelError, match="no actuator of dasgupta1998 has a force limit"):
        mapped(tf.load("dasgupta1998"), "capacity", AXES)


def test_turned_poses_differ_by_the_vector():
    rng = np.random.default_rng(3)
    pose, vectors = rng.normal(size=6), rng.normal(size=(50, 3))
    vectors *= 3.0 / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1.0)  # less than half a turn
    error = pose_error(transforms(turned(pose, vectors)), transforms(pose))
    assert np.abs(error[:, 3:] - vectors).max() < 1e-11  # of a logarithm near half a turn
    assert (error[:, :3] == 0).all()
    assert turned(pose, np.zeros(3))[:3].tolist() == pose[:3].tolist()
