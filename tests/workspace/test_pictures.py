"""Pictures of workspaces show what the results say."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from tauforge.workspace import map as mapped
from tauforge.workspace import polar, reach, surface
from tauforge.workspace.pictures import HOLDS_COLOUR, LIMIT_COLOURS, NAMED, legend, limit_colours

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.usefixtures("as_installed")  # many positions: kernels are quicker


@pytest.fixture(scope="module")
def rig():
    return tf.load("motion-rig")


def names_in(figure):
    return [text.get_text() for made in figure.legends for text in made.get_texts()]


def saved(figure, folder):
    figure.savefig(folder / "out.png", dpi=40)
    return (folder / "out.png").stat().st_size > 1000


def test_slice_of_limits_names_those_that_occur(rig, tmp_path):
    found = mapped(rig, "limit", {"x": (-0.7, 0.7, 29), "z": (0.7, 1.4, 15)})
    figure = found.plot()
    assert names_in(figure) == list(found.shares())
    colours = np.asarray(figure.axes[0].collections[0].get_array()).reshape(15, 29, 3)
    free = np.array([int(HOLDS_COLOUR[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    drawn = (np.abs(colours - free) < 1e-6).all(axis=-1)  # a level of 255 is 4e-3
    assert (drawn == (found.values.T == 0)).all()
    assert saved(figure, tmp_path)


def test_slice_of_numbers_has_a_colour_bar(rig, tmp_path):
    found = mapped(rig, "capacity", {"x": (-0.5, 0.5, 9), "theta_y": (-0.2, 0.2, 5)})
    figure = found.plot()
    assert figure.axes[-1].get_ylabel() == "largest mass that can be held (kg)"
    assert figure.axes[0].get_ylabel() == "theta_y (rad)"
    assert (figure.axes[0].collections[0].get_array().reshape(5, 9) == found.values.T).all()
    assert saved(figure, tmp_path)


def test_three_axes_are_slices(rig, tmp_path):
    figure = mapped(rig, "condition", {"x": (-0.5, 0.5, 5), "y": (-0.5, 0.5, 5), "z": (0.9, 1.2, 4)}).plot()
    assert [axes.get_title() for axes in figure.axes[:4]] == ["z = 0.9 m", "z = 1 m", "z = 1.1 m", "z = 1.2 m"]
    assert saved(figure, tmp_path)


def test_one_axis_is_a_curve(rig, tmp_path):
    found = mapped(rig, "condition", {"theta_z": (-1.0, 1.0, 9)})
    line = found.plot().axes[0].lines[0]
    assert (line.get_ydata() == found.values).all()
    assert names_in(mapped(rig, "limit", {"x": (-1.0, 1.0, 9)}).plot())


def test_values_that_are_missing_are_left_out(rig):
    """At a quarter turn the legs hold nothing, so there is no largest mass and no colour; the others keep theirs."""
    axes = {"x": (-0.5, 0.5, 5), "theta_z": np.array([0.0, np.pi / 4, np.pi / 2])}
    found = mapped(rig, "capacity", axes)
    assert np.isnan(found.values).tolist() == [[False, False, True]] * 5
    mesh = found.plot().axes[0].collections[0]
    drawn = mesh.get_array().reshape(3, 5)
    assert (np.ma.getmaskarray(drawn) == np.isnan(found.values.T)).all()
    assert (drawn[:2] == found.values.T[:2]).all()
    assert mesh.get_clim() == (np.nanmin(found.values), np.nanmax(found.values))


def test_reach_and_polar(rig, tmp_path):
    found = reach(rig)
    assert names_in(found.plot()) == list(dict.fromkeys(end.limit for end in found.ends))
    around = polar(rig, ("x", "z"), rays=16)
    figure = around.plot()
    assert sorted(names_in(figure)) == sorted(set(around.limits))
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights == around.distance.tolist()
    assert saved(figure, tmp_path)
    with pytest.raises(tf.ShapeError, match="projection='polar'"):
        around.plot(figure.add_subplot())


def test_surface(rig, tmp_path):
    found = surface(rig, latitudes=6)
    figure = found.plot()
    assert sorted(names_in(figure)) == sorted(set(found.limits.ravel()))
    assert saved(figure, tmp_path)


def test_joints_without_limits_have_bars(tmp_path):
    panda = tf.load("scara")
    figure = reach(panda).plot()
    assert "no limit" in names_in(figure)
    assert len(figure.axes) == 2  # m and rad


def test_names_of_joints_are_no_formulas(tmp_path):
    hinges = [
        tf.Joint(name=name, mass=1.0, inertia=(0.1, 0.1, 0.1), limits=(-1, 1))
        for name in (r"$\input{x}$", r"$\input{y}$")
    ]
    arm = tf.SerialArm(joints=hinges, name=r"$\input{z}$")
    assert saved(reach(arm).plot(), tmp_path)
    assert saved(polar(arm, [joint.name for joint in hinges], rays=4).plot(), tmp_path)
    axes = {joint.name: (-1, 1, 3) for joint in hinges}
    assert saved(mapped(arm, "limit", axes).plot(), tmp_path)


def test_many_limits_share_the_last_colour():
    names = [f"limit {k}" for k in range(30)]
    colours = limit_colours(["all limits hold", *names])
    assert colours["all limits hold"] == HOLDS_COLOUR
    assert colours["limit 0"] == LIMIT_COLOURS[0]
    assert colours["limit 29"] == LIMIT_COLOURS[-1]
    assert len(LIMIT_COLOURS) == NAMED


def test_a_legend_has_room_for_some_and_counts_the_others():
    from matplotlib.figure import Figure

    names = [f"limit {k}" for k in range(30)]
    for count in (NAMED, 30):
        figure = Figure(layout="constrained")
        legend(figure, limit_colours(names[:count]))
        shown = names_in(figure)
        assert len(shown) == NAMED
        if count > NAMED:
            assert shown == [*names[: NAMED - 1], f"{count - (NAMED - 1)} more"]
