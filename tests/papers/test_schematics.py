"""The papers' schematics, drawn from our models: what is drawn is where an independent calculation has it."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tauforge as tf
from tauforge.charts.figure import PALETTE, window
from tauforge.charts.with_matplotlib import drawn
from tauforge.pictures.schematic import View
from tauforge_papers.report.with_plotly import panels
from tauforge_papers.sketch import Arrows, Plane, Sketch

NAMES = {
    "dasgupta1998": ["fig-1", "fig-2"],
    "pedrammehr2012": ["fig-1", "fig-2", "fig-3", "fig-4"],
    "turney1980": ["fig-1", "fig-2", "fig-3", "fig-4"],
    "lee1982": ["fig-1", "fig-2"],
    "angeles": ["fig-7-2", "fig-7-3", "fig-7-4", "fig-7-5"],
}
SAME = 1e-12  # m, of drawings within two metres
SCALED = 0.01  # captions give scales to three digits
DIFFERENCE = 1e-4  # s, step of differences: their error is 1e-8 of the third derivative


@pytest.fixture(scope="module")
def drawings():
    return {paper: import_module(f"tauforge_papers.{paper}.schematics") for paper in NAMES}


def figure(drawings, paper, name):
    (found,) = [one for one in drawings[paper].schematics() if one.name == name]
    return found


def seen(points, azimuth, elevation):
    """Points (..., 3) as seen from this direction, by a frame of unit vectors."""
    a, e = np.radians([azimuth, elevation])
    towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.cross([0.0, 0.0, 1.0], towards)
    right /= np.linalg.norm(right)
    return np.stack([np.asarray(points) @ right, np.asarray(points) @ np.cross(towards, right)], axis=-1)


def pieces(panel, label):
    return [np.stack([line.x, line.y], axis=-1) for line in panel.lines if line.label == label]


def at(panel, text):
    (found,) = {(note.x, note.y) for note in panel.notes if note.text == text}
    return np.array(found)


def has(pieces_, wanted):
    """Whether a piece is drawn through exactly these points."""
    assert any(one.shape == wanted.shape and np.abs(one - wanted).max() < SAME for one in pieces_), wanted


# --- everything -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", NAMES)
def test_every_schematic_is_there_and_says_where_it_comes_from(drawings, paper):
    made = drawings[paper].schematics()
    assert [one.name for one in made] == NAMES[paper]
    for one in made:
        number = one.name.removeprefix("fig-").replace("-", ".")
        assert one.title.startswith(f"Fig. {number}: ")
        assert "not copied" in one.caption
        assert re.search(r"[Dd]rawn from (our model of|its steps)", one.caption)
        assert one.caption.endswith(".")
        assert len({line.label for panel in one.panels for line in panel.lines}) <= len(PALETTE)


@pytest.mark.parametrize("paper", NAMES)
def test_both_drawers_draw_every_line_and_every_word(drawings, paper):
    import plotly.graph_objects as go

    for one in drawings[paper].schematics():
        canvas = drawn(one)
        for axes, panel, plotted in zip(canvas.axes, one.panels, panels(one), strict=True):
            shown = go.Figure(plotted)  # checks every name and value
            assert panel.sketch
            assert len(shown.data) == len(panel.lines)
            areas = sum(line.style == "area" for line in panel.lines)
            assert len(axes.patches) == areas == sum(trace.fill == "toself" for trace in shown.data)
            assert len(axes.lines) == len(panel.lines) - areas
            heads = [trace for trace in shown.data if trace.marker.symbol == "arrow"]
            assert len(heads) == sum(line.style == "arrow" for line in panel.lines)
            assert all(trace.marker.size[-1] > 0 and not any(trace.marker.size[:-1]) for trace in heads)
            words = [text.get_text() for text in axes.texts if text.get_text()]
            assert len(words) == len(shown.layout.annotations) == len(panel.notes)
            assert axes.get_aspect() == 1
            assert shown.layout.yaxis.scaleanchor == "x"
            across, up = window(panel)
            for line in panel.lines:
                assert across[0] < line.x.min() <= line.x.max() < across[1]
                assert up[0] < line.y.min() <= line.y.max() < up[1]


def test_words_of_a_sketch_do_not_cover_each_other(drawings):
    """As matplotlib sets them; boxes may touch, but no word lies on another."""
    for module in drawings.values():
        for one in module.schematics():
            canvas = drawn(one)
            canvas.draw_without_rendering()
            for axes in canvas.axes:
                boxes = [(t.get_text(), t.get_window_extent()) for t in axes.texts if t.get_text()]
                for k, (text, box) in enumerate(boxes):
                    for other, second in boxes[k + 1 :]:
                        wide = min(box.x1, second.x1) - max(box.x0, second.x0)
                        high = min(box.y1, second.y1) - max(box.y0, second.y0)
                        assert min(wide, high) < 3, f"{one.title}: {text} on {other}"


def test_a_sketch_sees_what_a_camera_sees():
    random = np.random.default_rng(0)
    points = random.normal(size=(20, 3))
    for azimuth, elevation in random.uniform(-80, 80, (10, 2)):
        assert np.abs(View(azimuth, elevation)(points) - seen(points, azimuth, elevation)).max() < SAME
    assert np.array_equal(Plane()(points[:, :2]), points[:, :2])


def test_arcs_turn_about_their_axis():
    sketch = Sketch(View(0.0, 90.0))  # from above: y to the right, x down
    sketch.arc("turn", [1.0, 0.0, 0.0], [2.0, 0.0, 0.5], [0.0, 0.0, 1.0], np.pi / 2)
    (arc,) = pieces(sketch.panel(), "turn")
    assert np.abs(arc[0] - [0.0, -3.0]).max() < SAME
    assert np.abs(arc[-1] - [2.0, -1.0]).max() < SAME
    assert np.abs(np.linalg.norm(arc - [0.0, -1.0], axis=1) - 2.0).max() < SAME


def test_arrows_keep_one_scale():
    sketch = Sketch(View(0.0, 0.0))  # along -x: y to the right, z up
    arrows = Arrows("force", "N", ([0.0, 30.0, 40.0], [0.0, 0.0, 10.0]), 0.5)
    arrows.draw(sketch, 0, [0.0, 1.0, 1.0], "f")
    arrows.draw(sketch, 1, [0.0, 1.0, 1.0], "g", pushing=True)
    first, second = pieces(sketch.panel(), "force")
    assert np.abs(first - [[1.0, 1.0], [1.3, 1.4]]).max() < SAME
    assert np.abs(second - [[1.0, 0.9], [1.0, 1.0]]).max() < SAME
    assert arrows.scale == "10 N"


# --- platforms ------------------------------------------------------------------------------------------------------


def placed(robot, pose):
    """Base joints, platform joints and mass centre of the platform, by scipy's rotations."""
    b, p = np.array(robot.base_points), np.array(robot.platform_points)
    R = Rotation.from_euler("xyz", pose[3:]).as_matrix()  # extrinsic: Rz Ry Rx
    return b, p @ R.T + pose[:3], R @ np.array(robot.platform_com) + pose[:3], R


def leg_axes(robot, leg, b, a):
    s = (a - b) / np.linalg.norm(a - b)
    u = np.array(robot.universal_axes[leg])
    v = np.cross(u, s)
    v /= np.linalg.norm(v)
    return s, u, v, np.cross(u, v)


@pytest.mark.parametrize("paper", ["dasgupta1998", "pedrammehr2012"])
def test_joints_of_the_platforms(drawings, paper):
    b, a, *_ = placed(tf.load(paper), np.array([0.2, 0.0, 0.5, 0.0, 0.0, 0.0]))  # halfway along path I
    (panel,) = figure(drawings, paper, "fig-1").panels
    has(pieces(panel, "base"), seen(np.concatenate([b, b[:1]]), -58, 20))
    has(pieces(panel, "platform"), seen(np.concatenate([a, a[:1]]), -58, 20))
    lower, upper = pieces(panel, "lower part of a leg"), pieces(panel, "upper part of a leg")
    assert len(lower) == len(upper) == 6
    for k in range(6):
        has([one[:1] for one in lower], seen(b[k : k + 1], -58, 20))
        has([one[-1:] for one in upper], seen(a[k : k + 1], -58, 20))


def test_the_leg_of_dasguptas_figure_2(drawings):
    robot, pose = tf.load("dasgupta1998"), np.array([0.4, 1.4, 1.2, 0.1, 0.2, 0.0])  # start of path III
    b, a, _, R = (x[1] if x.ndim == 2 and len(x) == 6 else x for x in placed(robot, pose))
    s, u, v, _ = leg_axes(robot, 1, b, a)
    T = np.stack([s, v, np.cross(s, v)], axis=1)
    (panel,) = figure(drawings, "dasgupta1998", "fig-2").panels
    vectors = pieces(panel, "vectors")
    for ends in ([0 * b, b], [0 * b, pose[:3]], [pose[:3], a]):
        has(vectors, seen(ends, 20, 20))
    for origin, axes in ((0 * b, np.eye(3)), (pose[:3], R), (b, T), (a, T)):
        for axis in axes.T:
            has(pieces(panel, "frames"), seen([origin, origin + 0.2 * axis], 20, 20))
    centres = [b + T @ robot.lower_com[1], a + T @ robot.upper_com[1]]
    for name, centre in zip(("r_d", "r_u"), centres, strict=True):
        assert np.abs(at(panel, name) - seen(centre, 20, 20)).max() < SAME
        has(pieces(panel, "mass centres"), seen([centre], 20, 20))
    has(pieces(panel, "fixed axis of the universal joint"), seen([b - 0.25 * u, b + 0.25 * u], 20, 20))


def test_axes_of_pedrammehrs_universal_joint(drawings):
    robot = tf.load("pedrammehr2012")
    b, a, *_ = placed(robot, np.array([0.2, 0.0, 0.5, 0.0, 0.0, 0.0]))
    s, u, v, c = leg_axes(robot, 2, b[2], a[2])
    one = figure(drawings, "pedrammehr2012", "fig-2")
    (panel,) = one.panels
    for label, axis in (
        ("axes of the joint, and their normal", u),
        ("axes of the joint, and their normal", v),
        ("axes of the joint, and their normal", c),
        ("frame of the pod", s),
        ("frame of the pod", np.cross(s, v)),
    ):
        has(pieces(panel, label), seen([b[2], b[2] + axis], -112, 14))
    assert f"n·c = {s @ c:.2f}" in one.caption


def scales(caption):
    """What 0.1 m of arrow stand for, in the order of the caption."""
    return [float(x) for x in re.findall(r"(?:for|,|and) ([\d.e+-]+) N", caption.split("An arrow of")[1])]


def unscaled(panel, label, scale):
    """The vectors that arrows stand for, as one sees them."""
    return [(one[-1] - one[0]) * scale / 0.1 for one in pieces(panel, label)]


def test_the_pod_of_figure_3_is_in_equilibrium(drawings):
    """Halfway it hardly accelerates: 0.08 rad/s on centimetres are less than a newton."""
    one = figure(drawings, "pedrammehr2012", "fig-3")
    (panel,) = one.panels
    force, weight, moment = scales(one.caption)
    forces, weights = unscaled(panel, "forces", force), unscaled(panel, "weights", weight)
    assert len(forces) == len(weights) == 2
    assert np.abs(sum(forces) + sum(weights)).max() < SCALED * np.abs(forces).max()
    weights_wanted = seen([[0, 0, -3 * 9.81], [0, 0, -9.81]], -112, 14)
    assert np.abs(weights - weights_wanted).max() < SCALED * 9.81
    robot = tf.load("pedrammehr2012")
    b, a, *_ = placed(robot, np.array([0.2, 0.0, 0.5, 0.0, 0.0, 0.0]))
    *_, c = leg_axes(robot, 2, b[2], a[2])
    (arrow,) = unscaled(panel, "moment", moment)
    c = seen(c, -112, 14)
    assert abs(arrow[0] * c[1] - arrow[1] * c[0]) < SCALED * np.linalg.norm(arrow)


def test_the_platform_of_figure_4_is_in_equilibrium(drawings):
    one = figure(drawings, "pedrammehr2012", "fig-4")
    (panel,) = one.panels
    pod, other, moment = scales(one.caption)
    pods = unscaled(panel, "forces of the pods", pod)
    others = unscaled(panel, "weight and external force", other)
    assert len(pods) == 6
    assert np.abs(others - seen([[0, 0, -40 * 9.81], [0, 0, -200]], -58, 20)).max() < SCALED * 400
    assert np.abs(sum(pods) + sum(others)).max() < SCALED * sum(map(np.linalg.norm, pods))
    (arrow,) = unscaled(panel, "external moment", moment)
    assert np.abs(arrow - seen([0, 0, 30.0], -58, 20)).max() < SCALED * 30


# --- arms -----------------------------------------------------------------------------------------------------------


def frames(arm, q):
    """By Denavit and Hartenberg's four steps, from the table of the arm."""
    found = [np.eye(4)]
    for joint, x in zip(arm.joints, q, strict=True):
        row = joint.dh
        theta, d = (x + row.theta, row.d) if joint.kind == "R" else (row.theta, x + row.d)
        along, about = np.eye(4), np.eye(4)
        along[:3, :3], along[2, 3] = Rotation.from_euler("z", theta).as_matrix(), d
        about[:3, :3], about[0, 3] = Rotation.from_euler("x", row.alpha).as_matrix(), row.a
        found.append(found[-1] @ along @ about)
    return np.array(found)


def centre(arm, link, q):
    return (frames(arm, q)[link] @ [*arm.joints[link - 1].com, 1.0])[:3]


def acceleration(arm, link, q, qd, qdd):
    """Acceleration of a mass centre, by a second difference along the motion."""
    q, qd, qdd = (np.array(x) for x in (q, qd, qdd))
    there = [centre(arm, link, q + t * qd + t * t / 2 * qdd) for t in (-DIFFERENCE, 0.0, DIFFERENCE)]
    return (there[0] - 2 * there[1] + there[2]) / DIFFERENCE**2


def test_frames_and_displacements_of_turneys_arm(drawings):
    module, arm = drawings["turney1980"], tf.load("puma560")
    T = frames(arm, module.PUMA_POSE)
    origins = T[:, :3, 3]
    first, joint = figure(drawings, "turney1980", "fig-1").panels
    for k in range(5):
        for axis in T[k, :3, :3].T:
            has(pieces(first, "frames"), seen([origins[k], origins[k] + 0.13 * axis], -100, 20))
    for axis in T[1, :3, :3].T:
        has(pieces(joint, "frame 1"), seen([0 * axis, axis], -35, 25))
    x_0, x_1 = seen(T[0, :3, 0], -35, 25), seen(T[1, :3, 0], -35, 25)
    assert np.abs(pieces(joint, "angles")[0][[0, -1]] - 0.7 * np.array([x_0, x_1])).max() < SAME
    z_0, z_1 = seen(T[0, :3, 2], -35, 25), seen(T[1, :3, 2], -35, 25)
    assert np.abs(pieces(joint, "angles")[1][[0, -1]] - 0.5 * np.array([z_0, z_1])).max() < SAME
    (chain,) = figure(drawings, "turney1980", "fig-2").panels
    for k in (2, 3, 4):
        has(pieces(chain, "displacements between origins"), seen(origins[k - 1 : k + 1], -100, 20))
    has(pieces(chain, "position of origin 4"), seen(origins[[0, 4]], -100, 20))
    ends = [origins[3], centre(arm, 3, module.PUMA_POSE)]
    has(pieces(chain, "from an origin to the mass centre"), seen(ends, -100, 20))


def test_the_piece_of_turneys_link(drawings):
    module, arm = drawings["turney1980"], tf.load("puma560")
    T = frames(arm, module.PUMA_POSE)
    origin, piece = T[2, :3, 3], (T[2] @ [*module.PIECE, 1.0])[:3]
    (panel,) = figure(drawings, "turney1980", "fig-3").panels
    vectors = pieces(panel, "vectors")
    for ends in (
        [0 * origin, origin],
        [0 * origin, piece],
        [origin, piece],
        [origin, centre(arm, 2, module.PUMA_POSE)],
    ):
        has(vectors, seen(ends, -100, 20))


def assert_newton(panel, caption, azimuth, mass, wanted):
    """The forces drawn, and the weight, give the mass centre its acceleration."""
    force, weight, _ = scales(caption)
    forces, weights = unscaled(panel, "forces", force), unscaled(panel, "weight", weight)
    assert np.abs(weights[0] - seen([0, 0, -9.81 * mass], azimuth, 20)).max() < SCALED * 9.81 * mass
    size = sum(map(np.linalg.norm, forces))
    assert np.abs(sum(forces) + sum(weights) - seen(mass * wanted, azimuth, 20)).max() < SCALED * size


def test_forces_on_turneys_link_obey_newton(drawings):
    module, arm = drawings["turney1980"], tf.load("puma560")
    one = figure(drawings, "turney1980", "fig-4")
    wanted = acceleration(arm, 2, module.PUMA_POSE, module.RATES, module.ACCELERATIONS)
    assert_newton(one.panels[0], one.caption, -100, arm.joints[1].mass, wanted)


def test_lees_parameters(drawings):
    arm, module = tf.load("puma560"), drawings["lee1982"]
    row = arm.joints[2].dh
    (panel,) = figure(drawings, "lee1982", "fig-1").panels
    turn = np.array([np.cos(module.ANGLE), np.sin(module.ANGLE), 0.0])
    foot = np.array([0.0, 0.0, row.d])
    end = foot + row.a * turn
    (lengths,) = pieces(panel, "lengths")
    assert np.abs(lengths[1:] - seen([foot, end], -25, 20)).max() < SAME
    z = Rotation.from_rotvec(row.alpha * turn).apply([0.0, 0.0, 1.0])
    axis = module.AXIS
    has(pieces(panel, "frame i"), seen([end, end + axis * turn], -25, 20))
    has(pieces(panel, "frame i"), seen([end, end + axis * z], -25, 20))
    theta, alpha = pieces(panel, "angles")
    assert np.abs(theta[-1] - seen(0.8 * axis * turn, -25, 20)).max() < SAME
    assert np.abs(alpha[-1] - seen(end + 0.8 * axis * z, -25, 20)).max() < SAME


def test_lees_flow_chart_is_one_way_with_one_loop(drawings):
    (panel,) = figure(drawings, "lee1982", "fig-2").panels
    boxes = pieces(panel, "steps")
    middles = [(box[:-1].min(axis=0) + box[:-1].max(axis=0)) / 2 for box in boxes]
    for middle in middles:
        assert sum(np.allclose([note.x, note.y], middle) for note in panel.notes) == 1
    *down, back = pieces(panel, "order")
    assert len(down) == len(boxes) - 1
    for arrow, upper, lower in zip(down, boxes, boxes[1:], strict=False):
        assert np.isclose(arrow[0, 1], upper[:, 1].min())
        assert np.isclose(arrow[-1, 1], lower[:, 1].max())
    assert np.isclose(back[0, 1], middles[-2][1])
    assert np.isclose(back[-1, 1], middles[1][1])


def test_angeles_joints(drawings):
    module = drawings["angeles"]
    arm = module.random_arm(np.random.default_rng(module.SEED), module.KINDS)
    T, q = frames(arm, module.POSE), module.POSE
    O, C = T[:, :3, 3], [None, *(centre(arm, k, q) for k in range(1, 5))]
    (panel,) = figure(drawings, "angeles", "fig-7-2").panels
    for ends in ([O[0], C[1]], [C[1], O[1]], [O[1], C[2]]):  # rho, delta = a - rho, rho
        has(pieces(panel, "vectors"), seen(ends, -60, 20))
    (panel,) = figure(drawings, "angeles", "fig-7-3").panels
    slid = O[2] + (q[2] + arm.joints[2].dh.d) * T[2, :3, 2]
    for ends in ([O[1], C[2]], [C[2], O[2]], [O[2], slid], [slid, C[3]]):
        has(pieces(panel, "vectors"), seen(ends, -60, 20))
    total = sum(one[-1] - one[0] for one in pieces(panel, "vectors")[1:])
    assert np.abs(total - seen(C[3] - C[2], -60, 20)).max() < SAME  # A7.32d


def test_forces_on_angeles_links_obey_newton(drawings):
    module = drawings["angeles"]
    arm = module.random_arm(np.random.default_rng(module.SEED), module.KINDS)
    state = module.POSE, module.RATES, module.ACCELERATIONS
    one = figure(drawings, "angeles", "fig-7-4")
    assert_newton(one.panels[0], one.caption, -60, arm.joints[1].mass, acceleration(arm, 2, *state))
    one = figure(drawings, "angeles", "fig-7-5")
    (panel,) = one.panels
    force, moment = scales(one.caption)
    forces = unscaled(panel, "forces", force)
    assert np.abs(forces[1] - seen(module.FORCE, -60, 20)).max() < SCALED * 25
    wanted = arm.joints[3].mass * acceleration(arm, 4, *state)
    assert np.abs(sum(forces) - seen(wanted, -60, 20)).max() < SCALED * sum(map(np.linalg.norm, forces))
    assert np.abs(unscaled(panel, "moments", moment)[1] - seen(module.MOMENT, -60, 20)).max() < SCALED * 2
