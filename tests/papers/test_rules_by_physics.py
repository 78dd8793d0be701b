"""Rules on leg forces and condition numbers: other robots and other paths give each outcome that a rule names."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import tauforge as tf
from tauforge_papers.dasgupta1998 import judged_forces, judged_model, judged_singular, leg_forces
from tauforge_papers.dasgupta1998.leg_forces import rank_correlation
from tauforge_papers.dasgupta1998.measured import Measured, isotropic_matrix
from tauforge_papers.stewart_paths import FAST, SINGULAR, SLOW

FEW = 4001  # samples of a path with steps, instead of 60 001
ROBOT = tf.load("dasgupta1998")
WIDE = ROBOT.replace(  # legs that lean inwards by the same angle
    base_points=[(np.cos(a), np.sin(a), 0.0) for a in np.radians([20, 100, 140, 220, 260, 340])],
    platform_points=[(0.3 * np.cos(a), 0.3 * np.sin(a), 0.0) for a in np.radians([50, 70, 170, 190, 290, 310])],
    universal_axes=None,
    platform_com=(0.0, 0.0, 0.0),
)


def times(speed):
    """Path I at so many times its speed."""
    return tf.motion.StraightLine(SLOW.start, SLOW.end, 6 / speed, 0.08 * speed, 0.08 * speed, orientation="angles")


OTHERS = {
    "the paper's": {},
    "paths II and faster": {"slow": FAST, "fast": times(12)},
    "far faster": {"slow": FAST, "fast": times(20)},
    "no faster": {"fast": SLOW},
    "slower, and a heavy platform": {"slow": FAST, "fast": SLOW, "light": 400.0},
    "4 kg": {"platform": ROBOT.replace(platform_mass=4.0)},
    "300 kg": {"platform": ROBOT.replace(platform_mass=300.0)},
    "path III": {"slow": SINGULAR},
    "turning about two axes": {
        "slow": tf.motion.StraightLine(SLOW.start, [0.3, 0, 0.6, 0.3, 0.3, 0.2], 6, 0.08, 0.12, orientation="angles")
    },
    "wide, upwards": {
        "platform": WIDE,
        "slow": tf.motion.StraightLine(
            [0, 0, 0.5, 0, 0, 0], [0, 0, 0.6, 0, 0, 0.1], 6, 0.03, 0.03, orientation="angles"
        ),
    },
}
FORCES = {
    "trajectory": {"holds": "the paper's", "does not hold": "turning about two axes"},
    "moderate": {"holds": "wide, upwards", "mixed": "the paper's", "does not hold": "path III"},
    "smooth": {"holds": "the paper's", "does not hold": "far faster"},
    "well-conditioned": {"holds": "the paper's", "does not hold": "path III"},
    "legs-share": {"holds": "the paper's", "mixed": "300 kg", "does not hold": "4 kg"},
    "inertia-or-weight": {"holds": "far faster", "mixed": "the paper's", "does not hold": "no faster"},
    "crossing": {"holds": "the paper's", "does not hold": "4 kg"},
    "light-platform": {"holds": "the paper's", "does not hold": "slower, and a heavy platform"},
    "speed-raises": {"holds": "the paper's", "mixed": "4 kg", "does not hold": "no faster"},
    "steep-changes": {"holds": "the paper's", "does not hold": "no faster"},
    "usual-share": {"holds": "paths II and faster", "mixed": "the paper's", "does not hold": "4 kg"},
    "share-increases": {"holds": "the paper's", "mixed": "4 kg", "does not hold": "slower, and a heavy platform"},
}
PARTS = {
    judged_forces._trajectory: ("trajectory",),
    judged_forces._path_one: ("moderate", "smooth", "well-conditioned"),
    judged_forces._fractions: ("legs-share", "inertia-or-weight", "crossing", "light-platform"),
    judged_forces._fast: ("speed-raises", "steep-changes", "usual-share", "share-increases"),
}


@cache
def measured(other):
    return Measured(**OTHERS[other])


@cache
def claims(part, other):
    found = part(measured(other))
    return {claim.name: claim for claim in (found if isinstance(found, tuple) else (found,))}


@pytest.mark.parametrize("name", FORCES)
def test_other_robots_and_paths_give_each_verdict(name, monkeypatch):
    monkeypatch.setattr(leg_forces, "FINE", FEW)
    (part,) = [part for part, names in PARTS.items() if name in names]
    found = {verdict: claims(part, other)[name].verdict for verdict, other in FORCES[name].items()}
    assert found == {verdict: verdict for verdict in found}
    assert set(found) == set(claims(part, "the paper's")[name].rule.outcomes)


def along(line, samples):
    """Condition number and largest leg force along a line, its determinants, and the times."""
    t = np.linspace(0.0, line.duration, samples)
    states = line.sample(t)
    H = ROBOT.force_matrix(states.position)
    return np.linalg.cond(H), np.abs(ROBOT.inverse_dynamics(*states)).max(axis=1), np.linalg.det(H), t


def test_a_clear_singularity():
    """Path III in other steps misses the singular pose by more; path I has none."""

    def verdict(line, samples):
        _, force, determinant, _ = along(line, samples)
        peaks = ((force[1:-1] > force[:-2]) & (force[1:-1] > force[2:])).sum()
        crossings = (np.diff(np.sign(determinant)) != 0).sum()
        return judged_singular.CLEAR.decide(crossings=crossings, peaks=peaks, largest=force.max())

    assert verdict(SINGULAR, 61) == "mixed"
    assert verdict(SINGULAR, 12) == "holds"
    assert verdict(SLOW, 61) == "does not hold"


def test_the_condition_number_is_highest_where_the_forces_are():
    def verdict(line):
        condition, force, _, t = along(line, 61)
        place = {"force_time": t[force.argmax()], "condition_time": t[condition.argmax()]}
        return judged_singular.SAME_PLACE.decide(**place, singular_time=3.67, step=t[1])

    assert verdict(SINGULAR) == "holds"
    assert verdict(SLOW) == "does not hold"


def test_higher_condition_numbers_mean_higher_forces():
    near = [rank_correlation(*along(SINGULAR, 61)[:2])]
    away = [rank_correlation(*along(line, 61)[:2]) for line in (SLOW, FAST)]
    decide = judged_singular.DIRECT.decide
    assert (decide(ranks=near), decide(ranks=near + away), decide(ranks=away)) == ("holds", "mixed", "does not hold")


def test_whether_the_condition_number_orders_poses_as_that_without_dimensions():
    """Divided by a tenth of a metre, moments outweigh forces; near the singular pose the length does not matter."""
    away, near = (
        np.concatenate([line.sample(np.linspace(0, line.duration, 41)).position for line in lines])
        for lines in ((SLOW,), (SINGULAR,))
    )

    def verdict(length, *poses):
        pairs = [(ROBOT.condition_number(pose), ROBOT.condition_number(pose, length)) for pose in poses]
        return judged_singular.RELIABLE.decide(ranks=[rank_correlation(*pair) for pair in pairs])

    assert verdict(1.1, away, near) == "holds"
    assert verdict(0.1, away, near) == "mixed"
    assert verdict(0.1, away) == "does not hold"


def test_what_a_singular_pose_cannot_carry_and_a_regular_one_can():
    m = measured("the paper's")
    for pose, verdict in (
        (SINGULAR.sample(np.array([m.singular_time])).position[0], "holds"),
        (SLOW.start, "does not hold"),
    ):
        H, weight = ROBOT.force_matrix(pose), np.array([0, 0, -1.0, 0, 0, 0])
        values = np.linalg.svd(H, compute_uv=False)
        left_over = np.linalg.norm(weight - H @ np.linalg.pinv(H, rcond=1e-9) @ weight)
        assert judged_singular.NO_SUPPORT.decide(singular_values=values, left_over=left_over) == verdict


def test_limits_of_the_condition_number():
    def shares(*matrices):
        values = [np.linalg.svd(H, compute_uv=False) for H in matrices]
        return dict(zip(("singular", "isotropic"), (x[-1] / x[0] for x in values), strict=True))

    m = measured("the paper's")
    singular = ROBOT.force_matrix(SINGULAR.sample(np.array([m.singular_time])).position[0])
    regular, isotropic = ROBOT.force_matrix(SLOW.start), isotropic_matrix()
    decide = judged_singular.LIMITS.decide
    assert decide(**shares(singular, isotropic)) == "holds"
    assert decide(**shares(regular, isotropic)) == "mixed"
    assert decide(**shares(regular, regular)) == "does not hold"


def test_legs_that_do_not_turn_about_themselves():
    """Fixed axes normal to the planes in which the legs move: the paper's assumptions then hold."""
    across = np.array(ROBOT.platform_points) - ROBOT.base_points
    plane = ROBOT.replace(universal_axes=np.cross([0.0, 0.0, 1.0], across + [0.1, 0.0, 0.0]))
    up = tf.motion.StraightLine([0.1, 0, 0.4, 0, 0, 0], [0.1, 0, 0.6, 0, 0, 0], 0.6, 0.5, 0.5)
    m = Measured(platform=plane, fast=up)
    spins = [float(np.abs(plane.leg_motion(*m.paths["II"].states).spins).max())]
    assert judged_model.NO_SPIN.decide(spins=spins) == "holds"
    assert judged_model.NO_SPIN.decide(spins=np.abs(ROBOT.leg_motion(*m.paths["II"].states).spins).max(axis=0)) == (
        "does not hold"
    )
    assert judged_model.DERIVATIVES.decide(errors=[m.leg_errors.angular_velocity]) == "holds"
    assert judged_model.DERIVATIVES.decide(errors=[measured("the paper's").leg_errors.angular_velocity]) == (
        "does not hold"
    )
    moments = [one.constraint_errors.moments for one in (m, measured("the paper's"))]
    assert [judged_model.REACTION_MOMENT.decide(moments=x) for x in moments] == ["holds", "does not hold"]


def test_inertias_of_boxes_are_realistic():
    def verdict(*tensors):
        moments = [np.linalg.eigvalsh(tensor) for tensor in tensors]
        return judged_model.REALISTIC.decide(
            least=[x[0] for x in moments], triangle=[x[0] + x[1] - x[2] for x in moments]
        )

    a, b, c = 0.1, 0.2, 0.6
    box = np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) / 12
    printed = np.array(measured("the paper's").inertias["I_d0"])
    assert (verdict(box, box), verdict(box, printed), verdict(printed)) == ("holds", "mixed", "does not hold")


def test_massless_legs():
    states = FAST.sample(np.linspace(0.0, FAST.duration, 7))
    bare = ROBOT.without_friction().replace(
        **{
            f"{part}_{kind}": x
            for part in ("lower", "upper")
            for kind, x in (("mass", 0.0), ("inertia", np.zeros((3, 3))))
        }
    )
    found = ROBOT.inverse_dynamics(*states, model="massless-legs")
    errors = [np.abs(found - one.inverse_dynamics(*states)).max() / np.abs(found).max() for one in (bare, ROBOT)]
    assert [judged_model.MASSLESS.decide(error=x) for x in errors] == ["holds", "does not hold"]
