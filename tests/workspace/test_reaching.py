"""`reach` against closed forms and against independent bisections."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.cart_pendulum import CartPendulum
from support.shells import first_ends, sphere, stroke_platform
from tauforge.workspace import polar, reach, surface
from tauforge.workspace.reaching import STRETCHED
from tauforge.workspace.singular_crossings import EXACT, LOSES_CONTROL

HOME = np.array([0.03, -0.02, 1.07, 0.05, -0.04, 0.1])
CLOSE = 10 * EXACT  # m, rad: bisection ends at EXACT of a size of about 2 m
AXES = np.concatenate([np.eye(3), -np.eye(3)])
pytestmark = pytest.mark.usefixtures("as_installed")  # many positions: kernels are quicker


@pytest.fixture(scope="module")
def shells():
    return stroke_platform()


@pytest.fixture(scope="module")
def rig():
    return tf.load("motion-rig")


def test_straight_ways_end_where_shells_do(shells):
    found = reach(shells, HOME, directions=["x", "y", "z"])
    ends = [found.end(axis, sense).distance for sense in (1, -1) for axis in "xyz"]
    assert np.abs(ends - first_ends(shells, HOME, AXES)).max() < CLOSE


def test_surface_ends_where_shells_do(shells):
    found = surface(shells, HOME, latitudes=12)
    exact = first_ends(shells, HOME, found.directions.reshape(-1, 3))
    assert np.abs(found.distance.ravel() - exact).max() < CLOSE
    lengths = shells.inverse_kinematics(np.concatenate([found.places, np.broadcast_to(HOME[3:], (12, 24, 3))], axis=-1))
    for name, row in zip(found.limits.ravel(), lengths.reshape(-1, 6), strict=True):
        bound = 1.45 if "long" in name else 0.95
        assert abs(row[int(name.split()[1]) - 1] - bound) < CLOSE


def test_turns_end_where_an_independent_bisection_ends(rig):
    """Turning about an axis of the base frame: R = exp(s e) R_home, margins of `within_limits`."""
    found = reach(rig, HOME, directions=["about x", "about y", "about z"], forces=False)
    start = Rotation.from_euler("xyz", HOME[3:])
    for axis, vector in zip("xyz", np.eye(3), strict=True):
        for sense in (1, -1):

            def margin(s, vector=sense * vector):
                angles = (Rotation.from_rotvec(s * vector) * start).as_euler("xyz")
                return rig.within_limits([*HOME[:3], *angles]).margins(1.0).min()

            samples = np.linspace(0, 1.5, 301)
            first = next(k for k, s in enumerate(samples) if margin(s) < 0)
            exact = brentq(margin, samples[first - 1], samples[first], xtol=1e-13)
            assert abs(found.end(f"about {axis}", sense).distance - exact) < 1e-6  # the issue asks for that


@pytest.mark.parametrize("depth", [1e-4, 1e-6, 1e-8])
def test_no_thin_zone_is_jumped_over(shells, depth):
    """One leg gets too short by `depth` alone, over 2 sqrt(2 r depth) of the way: from 28 mm to 0.28 mm."""
    home, way = np.array([-0.3, 0.0, 1.0, 0, 0, 0]), np.array([1.0, 0, 0])
    centre = np.array(shells.base_points)[0] - np.array(shells.platform_points)[0]
    across = (home[:3] - centre) - ((home[:3] - centre) @ way) * way
    low = np.array(shells.stroke)
    low[:, 0], low[:, 1] = 0.5, 3.0
    low[0, 0] = np.linalg.norm(across) + depth
    thin = stroke_platform(low)
    found = reach(thin, home, directions="x").end("x")
    assert found.limit == "leg 1 is too short"
    assert abs(found.distance - first_ends(thin, home, way[None])[0]) < 1e-6
    beyond = stroke_platform(np.where(low == low[0, 0], low[0, 0] - 2 * depth, low))  # just not too short
    assert reach(beyond, home, directions="x").end("x").distance > found.distance + 0.1


def test_a_symmetric_platform_has_symmetric_reach(shells):
    found = reach(shells, [0, 0, 1.07, 0, 0, 0])
    for direction in ("y", "about x", "about z"):
        there, back = found.end(direction, 1), found.end(direction, -1)
        assert abs(there.distance - back.distance) < CLOSE
    up = found.end("z", 1)
    assert up.limit == "leg 1 is too long"  # whichever rounding puts first
    assert up.also == tuple(f"leg {i} is too long" for i in range(2, 7))
    thirds = surface(shells, [0, 0, 1.07, 0, 0, 0], latitudes=6).distance  # 12 longitudes: 4 are 120 degrees
    assert np.abs(thirds - np.roll(thirds, 4, axis=1)).max() < CLOSE


def test_ends_hold_and_no_place_beyond_does(rig):
    load = tf.Payload(900.0)
    found = reach(rig, HOME, payload=load, largest_condition=3.4)
    kinds = {end.kind for end in found.ends}
    assert {"stroke", "force", "condition"} <= kinds
    for end in found.ends:
        if end.unit == "m":
            way = end.sense * np.eye(6)["xyz".index(end.direction)]
            inside, outside = (HOME + (end.distance + d) * way for d in (-1e-7, 1e-7))
            assert tf.workspace.explain(rig, inside, payload=load, largest_condition=3.4).holds
            beyond = tf.workspace.explain(rig, outside, payload=load, largest_condition=3.4)
            assert end.limit in [f.name for f in beyond.exceeded]


def test_a_singular_pose_ends_a_way():
    """With long strokes the platform goes down to the plane of its base, where all legs lie in that plane."""
    low = stroke_platform((0.05, 3.0))
    home = np.array([0, 0, 1.0, 0, 0, 0])
    found = reach(low, home, directions="z").end("z", -1)
    assert found.limit == LOSES_CONTROL
    assert abs(found.distance - 1.0) < CLOSE


def test_joints_of_an_arm_end_at_their_limits():
    arm = tf.load("puma560")
    home = np.array(arm.positions.default)
    found = reach(arm, home)
    for place, joint in enumerate(arm.coordinates):
        for sense, bound in ((1, joint.upper), (-1, joint.lower)):
            end = found.end(joint.name, sense)
            assert abs(end.distance - abs(bound - home[place])) < CLOSE
            assert end.limit == f"{joint.name} is {'above' if sense > 0 else 'below'} its range"


def test_torques_of_an_arm_end_its_reach():
    arm = tf.load("puma560-armstrong")  # torques have limits, joints have none
    heavy = tf.Payload(30.0)
    home = [0, -np.pi / 2, np.pi / 2, 0, 0, 0]  # upright
    found = reach(arm, home, payload=heavy, directions=[arm.coordinates[1].name])
    for end in found.ends:
        assert end.kind == "force"
        q = np.array(home)
        q[1] += end.sense * end.distance
        loaded = np.abs(arm.inverse_dynamics(q, np.zeros(6), np.zeros(6), payload=heavy)) / arm.max_forces
        assert abs(loaded.max() - 1) < 1e-7  # of a torque whose slope is of the order of itself
        assert (np.abs(arm.gravity_forces(q)) < arm.max_forces).all()


def gantry():
    """Three slides at right angles: z of frames 0, 1 and 2 are z, -y and x of the world."""
    return tf.SerialArm.from_dh(
        joints="PPP",
        alpha=[np.pi / 2, np.pi / 2, 0],
        a=np.zeros(3),
        d=np.zeros(3),
        theta=[0, np.pi / 2, 0],
        mass=np.ones(3),
        com=np.zeros((3, 3)),
        inertia=np.ones((3, 3)),
        limits=[(0.0, 0.5), (-0.2, 0.9), (-0.4, 0.7)],
        name="gantry",
    )


def test_the_tool_of_a_gantry_goes_as_far_as_its_slides():
    slides, home = gantry(), np.array([0.2, 0.3, 0.1])
    found = reach(slides, home, directions="tool")
    axes = slides.jacobian(home)[:3].round(12)  # column k: where slide k takes the tool
    assert {end.direction for end in found.ends} == {
        f"tool {way} {axis}" for way in ("along", "about") for axis in "xyz"
    }
    for end in found.ends[:6]:
        way = axes["xyz".index(end.direction[-1])] * end.sense
        slide = int(np.abs(way).argmax())
        coordinate = slides.coordinates[slide]
        bound = coordinate.upper if way[slide] > 0 else coordinate.lower
        assert abs(end.distance - abs(bound - home[slide])) < 1e-5  # of inverse kinematics: ARRIVED of its size
        assert end.kind == coordinate.name
    for end in found.ends[6:]:  # it cannot turn
        assert (end.limit, end.unit) == (STRETCHED, "rad")
        assert end.distance < 1e-5


def test_a_kind_of_robot_that_the_package_does_not_know():
    found = reach(CartPendulum(), [0.2, 0.0], forces=False)
    assert abs(found.end("cart", 1).distance - 0.3) < CLOSE
    assert abs(found.end("cart", -1).distance - 0.7) < CLOSE
    assert found.end("rod").distance == np.inf
    assert found.end("rod").limit == ""
    with pytest.raises(tf.UnsupportedFeatureError, match="has no inverse kinematics"):
        reach(CartPendulum(), [0.2, 0.0], directions="tool", forces=False)


def test_polar_meets_reach_on_the_axes(rig):
    for plane in (("x", "z"), ("about x", "about y")):
        found, straight = polar(rig, plane, HOME, rays=8), reach(rig, HOME)
        ends = [straight.end(plane[k % 2], 1 if k < 2 else -1).distance for k in range(4)]
        assert np.abs(found.distance[::2] - ends).max() < CLOSE


def test_volume_that_is_seen(shells):
    directions, weights = sphere(60)
    exact = (weights * first_ends(shells, HOME, directions) ** 3).sum() / 3
    assert surface(shells, HOME, latitudes=30).volume == pytest.approx(exact, rel=5e-3)  # of a rule with 1800 nodes


def test_pieces_are_as_good_as_the_whole(rig, monkeypatch):
    whole = surface(rig, HOME, latitudes=6).distance
    monkeypatch.setattr("tauforge.workspace.rays.BLOCK_POSITIONS", 300)
    monkeypatch.setattr("tauforge.workspace.criteria.BLOCK_POSITIONS", 100)
    assert (surface(rig, HOME, latitudes=6).distance == whole).all()


def test_reports(rig):
    found = reach(rig, HOME)
    assert "Steps of the search: 0.00" in str(found)
    assert "<table>" in found._repr_html_()
    assert len(found.data()["ends"]) == 12
    assert "Straight ways from home reach" in str(surface(rig, HOME, latitudes=4))
    assert "in the plane of x and y" in str(polar(rig, home=HOME, rays=8))


def test_bad_input(rig):
    with pytest.raises(tf.ModelError, match=r"box has no limits, so nothing ends its workspace.*Give it limits"):
        reach(tf.load("box"))
    with pytest.raises(tf.ModelError, match=r"home: the limits do not hold there: leg . is too long"):
        reach(rig, [0, 0, 2, 0, 0, 0])
    with pytest.raises(tf.ShapeError, match="directions: expected some of x, y, z, about x"):
        reach(rig, directions=["w"])
    with pytest.raises(tf.ShapeError, match="or 'tool'"):
        reach(tf.load("puma560"), directions=["z"])
    with pytest.raises(tf.ShapeError, match="direction: expected one of x, y"):
        reach(rig).end("w")
    with pytest.raises(tf.ShapeError, match=r"home: expected \(\.\.\., 6\)"):
        reach(rig, [0, 0, 1])
    with pytest.raises(tf.ShapeError, match="axes: expected two axes with the same unit, got x and about x"):
        polar(rig, ("x", "about x"))
    with pytest.raises(tf.ShapeError, match="axes: expected two of x, y, z"):
        polar(rig, ("x", "x"))
    with pytest.raises(tf.ShapeError, match="rays: expected a whole number of at least 4, got 0"):
        polar(rig, rays=0)
    with pytest.raises(tf.UnsupportedFeatureError, match="positions of puma560 are not poses"):
        surface(tf.load("puma560"))


@pytest.mark.parametrize("before", [1e-4, 5e-4, 1e-3, 3e-3])
def test_a_thin_zone_right_beside_home(before):
    """Legs that touch on a millimetre of the way, less than a step from home."""
    wide = np.pi - 1e-4
    rig = tf.load("motion-rig").replace(stroke=(0.05, 9.0), cone_angles=(wide, wide), force_limit=None, leg_radius=5e-5)
    x, finest = np.linspace(-0.02, 0.01, 15_001, retstep=True)
    ways = np.tile([-0.4978099, 0.5924649, 0.9770011, 0.1607469, 1.0105912, -0.7061399], (len(x), 1))
    ways[:, 0] += x
    touching = np.asarray(rig.within_limits(ways).clearance) < 0
    first = touching.argmax()
    assert 0 < touching.sum() * finest < 3e-3
    home = ways[first].copy()
    home[0] -= before
    end = reach(rig, home, directions="x").end("x")
    assert "touch" in end.limit
    assert abs(end.distance - before) < 2 * finest
