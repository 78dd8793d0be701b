"""The robots that come with the package: their numbers, where these come from, and that they behave."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tauforge.errors import ModelError, UnphysicalInertiaWarning
from tauforge.formats.loading import CATALOGUE_FOLDER, catalogue, load
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.robots.stewart.stewart_platform import StewartPlatform

KINDS = {
    "panda": "RRRRRRR",
    "planar-2r": "RR",
    "puma560": "RRRRRR",
    "puma560-armstrong": "RRRRRR",
    "scara": "RRPR",
    "stanford": "RRPRRR",
}
WITH_MASSES = ["box", "dasgupta1998", "motion-rig", "pedrammehr2012"]
PLATFORMS = sorted([*WITH_MASSES, "dietmaier", "mathworks-hexapod"])
MECHANISMS = [  # robots/mechanism/test_library.py is about them
    "3-rps",
    "andrews",
    "bricard",
    "delta",
    "delta-parallelograms",
    "five-bar",
    "flyball-governor",
    "four-bar",
    "gripper",
    "hexapod-6rus",
    "palletiser",
    "planar-3rrr",
    "slider-crank",
]
PUMA_EXCEPTIONS = ["link of joint1", "link of joint3"]
HEXAPOD_EXCEPTIONS = ["lower part", "upper part", "platform"]  # as both papers print them
EXCEPTIONS = {"puma560": PUMA_EXCEPTIONS, "puma560-armstrong": PUMA_EXCEPTIONS}
EXCEPTIONS |= {"dasgupta1998": HEXAPOD_EXCEPTIONS, "pedrammehr2012": HEXAPOD_EXCEPTIONS}
each = pytest.mark.parametrize("name", sorted(KINDS))
each_robot = pytest.mark.parametrize("name", sorted([*KINDS, *PLATFORMS]))
each_entry = pytest.mark.parametrize("name", sorted([*KINDS, *PLATFORMS, *MECHANISMS]))
HEIGHTS = {"box": 0.0, "dasgupta1998": 1.0, "motion-rig": 1.0, "pedrammehr2012": 1.0, "mathworks-hexapod": 2.0}


def raw(name: str) -> dict[str, Any]:
    return tomllib.loads((CATALOGUE_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def states(arm: SerialArm, count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-math.pi, math.pi, (count, arm.n))


def test_names() -> None:
    assert catalogue() == sorted([*KINDS, *PLATFORMS, *MECHANISMS])


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ModelError, match=r"no robot named 'Puma56' .* Did you mean puma560\?") as caught:
        load("Puma56")
    assert all(name in str(caught.value) for name in [*KINDS, *PLATFORMS, *MECHANISMS])
    with pytest.raises(ModelError, match=r"Did you mean motion-rig\?"):
        load("motion_rig")
    for name in ("", "../robots", "zzzzzz"):
        with pytest.raises(ModelError):
            load(name)


@each
def test_loads_silently_under_its_own_name(name: str) -> None:
    arm = load(name)  # a warning would be an error here
    assert (arm.name, arm.kinds) == (name, KINDS[name])


@pytest.mark.parametrize("name", PLATFORMS)
def test_platform_loads_silently_under_its_own_name(name: str) -> None:
    platform = load(name)
    assert isinstance(platform, StewartPlatform)
    assert (platform.name, platform.has_masses) == (name, name in WITH_MASSES)


@each_robot
def test_every_number_has_a_source(name: str) -> None:
    values = raw(name)
    used = set(values) - {"format", "name", "joint", "known_exception", "source"}
    used |= {key for joint in values.get("joint", []) for key in joint} - {"name"}
    covered = [field for source in values["source"] for field in source["fields"]]
    assert set(covered) == used
    assert len(covered) == len(set(covered))  # one source for a field, with its conflicts in the note
    assert all(len(source["source"]) >= 9 for source in values["source"])


@each_entry
def test_declared_exceptions_are_exactly_the_unphysical_bodies(name: str) -> None:
    arm = load(name)
    declared = EXCEPTIONS.get(name, [])
    assert [exception.body for exception in arm.known_exceptions] == declared
    if not declared:
        return
    with pytest.warns(UnphysicalInertiaWarning) as caught:
        arm.replace(known_exceptions=())
    assert len(caught) == len(declared)
    messages = [str(warning.message) for warning in caught]
    assert all(any(f"{name}: {body}: " in message for message in messages) for body in declared)


@each_entry
def test_saved_entry_loads_equal(name: str, tmp_path: Path) -> None:
    arm = load(name)
    arm.save(tmp_path / "again.toml")
    again = load(tmp_path / "again.toml")
    assert again == arm
    assert again.sources == arm.sources


@each
def test_mass_matrix_is_symmetric_and_positive(name: str) -> None:
    arm = load(name)
    M = arm.mass_matrix(states(arm, 200, 1))
    assert np.abs(M - np.swapaxes(M, -1, -2)).max() <= 1e-13 * np.abs(M).max()
    assert np.linalg.eigvalsh(M).min() > 0


@each
def test_gravity_and_links_fit_an_arm_of_human_size(name: str) -> None:
    arm = load(name)
    assert np.linalg.norm(arm.gravity) == 9.81
    q = np.where(np.array(list(arm.kinds)) == "P", 0.2, states(arm, 200, 2))
    frames = arm.link_frames(q)
    R = frames[..., :3, :3]
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-14)
    com = np.array([joint.com for joint in arm.joints])
    centres = (R[:, 1:] @ com[..., None])[..., 0] + frames[:, 1:, :3, 3]
    assert np.linalg.norm(centres, axis=-1).max() < 1.5


@pytest.mark.parametrize("name", HEIGHTS)
def test_platform_is_well_held_where_it_works(name: str) -> None:
    platform = load(name)
    home = np.array([0.0, 0.0, HEIGHTS[name], 0.0, 0.0, 0.0])
    pose = home + np.random.default_rng(5).uniform(-0.05, 0.05, (200, 6))
    assert platform.condition_number(pose).max() < 100
    if platform.has_masses:
        M = platform.mass_matrix(pose)
        assert np.array_equal(M, np.swapaxes(M, -1, -2))
        assert np.linalg.eigvalsh(M).min() > 0
        assert np.linalg.norm(platform.gravity) == 9.81


# ------------------------------------------------------------------------------------------------- one by one


def test_planar_2r_has_the_closed_form() -> None:
    """Spong, Hutchinson & Vidyasagar 2006, ch. 7, planar elbow manipulator."""
    arm = load("planar-2r")
    l1, lc1, lc2, m1, m2, I1, I2, g = 0.6, 0.3, 0.2, 2.0, 1.5, 0.06, 0.02, 9.81
    generator = np.random.default_rng(3)
    for q, qd, qdd in generator.uniform(-3, 3, (100, 3, 2)):
        d12 = m2 * (lc2**2 + l1 * lc2 * np.cos(q[1])) + I2
        d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * np.cos(q[1])) + I1 + I2
        D = np.array([[d11, d12], [d12, m2 * lc2**2 + I2]])
        h = -m2 * l1 * lc2 * np.sin(q[1])
        C = np.array([[h * qd[1], h * qd[1] + h * qd[0]], [-h * qd[0], 0.0]])
        g2 = m2 * lc2 * g * np.cos(q[0] + q[1])
        G = np.array([(m1 * lc1 + m2 * l1) * g * np.cos(q[0]) + g2, g2])
        np.testing.assert_allclose(arm.mass_matrix(q), D, rtol=0, atol=1e-13 * np.abs(D).max())
        np.testing.assert_allclose(arm.coriolis_matrix(q, qd), C, rtol=0, atol=1e-13 * np.abs(C).max())
        np.testing.assert_allclose(arm.gravity_forces(q), G, rtol=0, atol=1e-13 * np.abs(G).max())
        tau = D @ qdd + C @ qd + G
        np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), tau, rtol=0, atol=1e-13 * np.abs(tau).max())


def test_puma560_is_the_reference_table() -> None:
    """Against the table of the reference data, written out here."""
    arm = load("puma560")
    assert [joint.dh.alpha for joint in arm.joints] == [math.pi / 2, 0, -math.pi / 2, math.pi / 2, -math.pi / 2, 0]
    assert [joint.dh.a for joint in arm.joints] == [0, 0.4318, 0.0203, 0, 0, 0]
    assert [joint.dh.d for joint in arm.joints] == [0, 0, 0.15005, 0.4318, 0, 0]
    assert [joint.mass for joint in arm.joints] == [0, 17.4, 4.8, 0.82, 0.34, 0.09]
    assert arm.joints[0].coulomb == (0.395, 0.435)
    assert arm.limits[:, 1].tolist() == [degrees * math.pi / 180 for degrees in (160, 110, 135, 266, 100, 266)]
    assert np.array_equal(arm.limits[:, 0], -arm.limits[:, 1])
    reflected = [joint.motor_inertia * joint.gear_ratio**2 for joint in arm.joints]
    assert reflected[1] == pytest.approx(2.325, abs=5e-4)  # the conflict its note names
    # the outstretched arm holds its links by moment arms that can be read off the table
    zero = arm.gravity_forces(np.zeros(6))
    lever = 17.4 * (0.4318 - 0.3638) + 4.8 * 0.4318 + (0.82 + 0.34 + 0.09) * (0.4318 + 0.0203)
    assert zero[1] == pytest.approx(9.81 * lever, rel=1e-14)
    assert zero[0] == pytest.approx(0, abs=1e-14)


def test_puma560_armstrong_reproduces_the_gravity_constants_of_its_paper() -> None:
    """Armstrong, Khatib & Burdick 1986: g1 to g5 with their printed digits, at joints 2, 3 and 5."""
    arm = load("puma560-armstrong")
    q = states(arm, 200, 4)
    S2, C2 = np.sin(q[:, 1]), np.cos(q[:, 1])
    S23, C23 = np.sin(q[:, 1] + q[:, 2]), np.cos(q[:, 1] + q[:, 2])
    C4, S5, C5 = np.cos(q[:, 3]), np.sin(q[:, 4]), np.cos(q[:, 4])
    third = -8.44 * S23 + 0.249 * C23 - 0.0282 * (S23 * C5 + C23 * C4 * S5)
    g = arm.gravity_forces(q)
    np.testing.assert_allclose(g[:, 1], -37.2 * C2 + 1.02 * S2 + third, atol=0.06)
    np.testing.assert_allclose(g[:, 2], third, atol=0.02)
    np.testing.assert_allclose(g[:, 4], -0.0282 * (C23 * S5 + S23 * C4 * C5), atol=1e-4)


def test_puma560_armstrong_at_zero_has_its_forearm_up() -> None:
    frames = load("puma560-armstrong").link_frames(np.zeros(6))
    np.testing.assert_allclose(frames[-1, :3, 3], [0.4318 - 0.0203, 0.2435 - 0.0934, 0.4331], atol=1e-15)


def test_stanford_centres_are_a_tenth_of_the_printed_ones() -> None:
    arm = load("stanford")
    printed = np.array([[0, -1.054, 0], [0, 0, -6.447], [0, 0.092, -0.054], [0, 0, 0.566], [0, 0, 1.554]])
    np.testing.assert_allclose([joint.com for joint in arm.joints[1:]], printed / 10, rtol=1e-15)
    assert arm.joints[2].dh.theta == -math.pi / 2
    assert all(str(abs(number)) in arm.sources[2].note for number in printed[printed != 0])
    assert {joint.limits for joint in arm.joints} == {None}


def test_panda_frames_and_flange() -> None:
    arm = load("panda")
    np.testing.assert_allclose(
        arm.forward_kinematics(np.zeros(7)),
        [[1, 0, 0, 0.088], [0, -1, 0, 0], [0, 0, -1, 0.333 + 0.316 + 0.384 - 0.107], [0, 0, 0, 1]],
        atol=1e-15,
    )
    assert sum(joint.mass for joint in arm.joints) == pytest.approx(16.062132, abs=1e-12)
    assert arm.limits[3].tolist() == [-3.0718, -0.0698]
    assert [joint.max_force for joint in arm.joints] == [87.0] * 4 + [12.0] * 3


def test_scara_bodies_are_the_stated_solids() -> None:
    arm = load("scara")

    def box(m: float, x: float, y: float, z: float) -> list[float]:
        return [m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12]

    def cylinder(m: float, r: float, length: float) -> list[float]:
        across = m * (3 * r * r + length * length) / 12
        return [across, across, m * r * r / 2]

    solids = [box(12, 0.325, 0.12, 0.1), box(6, 0.275, 0.1, 0.08), cylinder(1.2, 0.01, 0.3), cylinder(0.4, 0.03, 0.03)]
    np.testing.assert_allclose([np.diag(joint.inertia) for joint in arm.joints], solids, rtol=1e-14)
    tool = arm.forward_kinematics([0.0, 0.0, 0.2, 0.0])
    np.testing.assert_allclose(tool[:3, 3], [0.6, 0, 0.387 - 0.2], atol=1e-15)
    assert arm.gravity_forces(np.zeros(4)).tolist() == pytest.approx([0, 0, -9.81 * 1.6, 0], abs=1e-12)


# ------------------------------------------------------------------------------------------------------- platforms


def test_the_papers_test_manipulators_differ_in_one_sign() -> None:
    first, second = load("dasgupta1998"), load("pedrammehr2012")
    assert {com[2] for com in first.upper_com} == {0.08}
    assert {com[2] for com in second.upper_com} == {-0.08}
    assert second.replace(upper_com=first.upper_com, name=first.name, known_exceptions=first.known_exceptions) == first


def test_motion_rig_at_home_keeps_its_limits_and_carries_its_weight() -> None:
    rig = load("motion-rig")
    home, rest, g = np.array([0.0, 0, 1, 0, 0, 0]), np.zeros(6), 9.81
    limits = rig.within_limits(home)
    assert limits.hold
    np.testing.assert_allclose(limits.base_cone, 0.7, atol=1e-6)  # cones are about the legs at home
    np.testing.assert_allclose(limits.platform_cone, 0.7, atol=1e-6)
    assert limits.clearance > 0.1
    vertical = rig.force_matrix(home)[2]
    light = rig.inverse_dynamics(home, rest, rest, model="massless-legs")
    np.testing.assert_allclose(light, light.mean(), rtol=1e-9)
    assert vertical @ light == pytest.approx(235 * g, rel=1e-12)
    # with their masses off their axes the legs of a pair differ, and a third of a turn changes nothing
    forces = rig.inverse_dynamics(home, rest, rest)
    np.testing.assert_allclose(forces.reshape(3, 2), np.tile(forces[:2], (3, 1)), rtol=1e-9)
    assert (forces > light).all()
    assert forces.max() < np.min(rig.force_limit)
    reactions = rig.joint_reactions(home, rest, rest)
    assert reactions.universal[:, 2].sum() == pytest.approx((235 + 6 * 17) * g, rel=1e-12)
    assert reactions.spherical[:, 2].sum() == pytest.approx(-235 * g, rel=1e-12)  # of the platform on the legs


def test_box_at_rest_has_zeros_in_its_matrix_and_forces_by_hand() -> None:
    """30 kg in the middle: legs 2 and 3 hold half each, leg 1 none; the parts of the level legs hang on their ends."""
    box = load("box")
    H = box.force_matrix(np.zeros(6))
    expected = np.zeros((6, 6))
    ends = np.array(box.platform_points)
    expected[:3] = (ends - np.array(box.base_points)).T
    expected[3:] = np.cross(ends, expected[:3].T).T
    assert np.array_equal(H, expected)
    assert np.count_nonzero(H) == 13
    light = box.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6), model="massless-legs")
    np.testing.assert_allclose(light, [0, 15 * 9.81, 15 * 9.81, 0, 0, 0], atol=1e-12)
    # a standing leg's upper part adds its weight (1 kg); a lying one lays 2 kg * 0.3 + 1 kg * 0.7 of 1 m on its end
    end = 1.3 * 9.81
    weights = {(0.5, 0.5): 30 * 9.81, (0, 0): 9.81 + end, (1, 0): 9.81 + end, (0, 1): 9.81 + end}
    down = sum(weights.values())
    about_x, about_y = (sum(w * place[axis] for place, w in weights.items()) for axis in (1, 0))
    forces = box.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(forces, [down - about_x - about_y, about_y, about_x, 0, 0, 0], atol=1e-12)


def test_mathworks_hexapod_is_built_as_its_source_says() -> None:
    rig = load("mathworks-hexapod")
    for points, radius, first, offset in ((rig.base_points, 3.0, 0, 2.5), (rig.platform_points, 1.0, 60, 10.0)):
        x, y, z = np.array(points).T
        np.testing.assert_allclose(np.hypot(x, y), radius, rtol=1e-14)
        assert not z.any()
        aside = (np.degrees(np.arctan2(y, x)) - first + 60) % 120 - 60  # from the nearest of the three directions
        np.testing.assert_allclose(np.abs(aside), offset, atol=1e-9)
    lengths = rig.inverse_kinematics([0, 0, 2, 0, 0, 0])
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-14)


def test_dietmaier_has_the_forty_poses_of_its_comment() -> None:
    stewart = load("dietmaier")
    comment = (CATALOGUE_FOLDER / "dietmaier.toml").read_text(encoding="utf-8").partition("format")[0]
    lengths = [float(number) for number in re.findall(r"\d+\.\d+|(?<= )1(?=,)", comment)]
    assert len(lengths) == 6
    assert len(stewart.assembly_modes(lengths, starts=4000).poses) == 40
