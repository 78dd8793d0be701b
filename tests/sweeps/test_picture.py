"""Pictures of stores: what they draw, how they are labelled, and what they read."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

import tauforge as tf
from support.sweep_studies import encoded
from tauforge.sweeps import Axis, Result, Study, open_dataset, plot, ready_study, run
from tauforge.sweeps.picture import DRAWN_VALUES
from tauforge.workspace.pictures import HOLDS_COLOUR

CODES = {0: "holds", 1: "leg too long", 2: "leg too short"}


def measured(block):
    """Results that are easy to find again in a picture."""
    points = len(next(iter(block.values())))
    x, y = (np.asarray(block.get(name, np.zeros(points)), float) for name in "xy")
    return {
        "force": 10 * x + y,
        "limit": np.where(x > 0, 2, 0).astype(np.uint8),
        "each": np.stack([x, 2 * x, y], axis=-1),
        "condition": 10.0 ** (4 * x),
        "hole": np.where(x > 0, np.nan, x),
    }


RESULTS = (
    Result("force", "float32", "N", "largest force"),
    Result("limit", "uint8", "", "first limit", codes=CODES),
    Result("each", "float32", "N", "force of each leg", core={"leg": 3}),
    Result("condition", "float64"),
    Result("hole", "float32", "m"),
)
X = Axis("x", np.linspace(-1, 1, 5), "m")
Y = Axis("y", np.linspace(0, 3, 4), "rad")
Z = Axis("z", np.arange(9), "")
W = Axis("w", [1.0, 2.0], "kg")


@pytest.fixture
def store(tmp_path):
    def made(*axes):
        attributes = {"leg": ["left", "right", "top"]}
        run(Study("s", axes, RESULTS, measured, title="A study", attributes=attributes), tmp_path / "s.zarr")
        return tmp_path / "s.zarr"

    return made


def panels(figure):
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def bar(figure):
    (axes,) = (axes for axes in figure.axes if axes.get_label() == "<colorbar>")
    return axes


def legend(figure):
    return [text.get_text() for one in figure.legends for text in one.get_texts()]


def colours(axes):
    """(x, y) values of a map."""
    (mesh,) = axes.collections
    return np.ma.filled(mesh.get_array().astype(float), np.nan).T


def test_one_axis_is_a_line(store):
    figure = plot(store(X))
    (axes,) = panels(figure)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (m)", "largest force (N)")
    (line,) = axes.lines
    np.testing.assert_allclose(line.get_xydata(), np.column_stack([X.values, 10 * X.values]))
    assert figure.get_suptitle() == "A study"


def test_one_axis_and_actuators_are_lines_with_names(store):
    (axes,) = panels(plot(store(X), "each"))
    assert [text.get_text() for text in plot(store(X), "each").legends[0].get_texts()] == ["left", "right", "top"]
    np.testing.assert_allclose(axes.lines[1].get_ydata(), 2 * X.values)


def test_codes_over_one_axis(store):
    figure = plot(store(X), "limit")
    assert legend(figure) == ["holds", "leg too short"]


def test_two_axes_are_a_map_with_units(store):
    figure = plot(store(X, Y))
    (axes,) = panels(figure)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (m)", "y (rad)")
    assert bar(figure).get_ylabel() == "largest force (N)"
    np.testing.assert_allclose(colours(axes), 10 * X.values[:, None] + Y.values)


def test_the_legend_has_the_codes_that_occur(store):
    figure = plot(store(X, Y), "limit")
    (axes,) = panels(figure)
    assert legend(figure) == ["holds", "leg too short"]
    assert len(figure.axes) == 1, "no colour bar"
    assert np.unique(colours(axes)).tolist() == [0, 2]
    assert {patch.get_facecolor() for patch in figure.legends[0].get_patches()} == {
        tuple(axes.collections[0].cmap(axes.collections[0].norm(code))) for code in (0, 2)
    }


def test_values_that_span_decades_have_a_logarithmic_bar(store):
    figure = plot(store(X, Y), "condition")
    assert bar(figure).get_yscale() == "log"
    assert bar(figure).get_ylabel() == "condition"


def test_places_without_a_value_are_named(store):
    figure = plot(store(X, Y), "hole")
    assert legend(figure) == ["not computed"]
    assert np.isnan(colours(panels(figure)[0])[3:]).all()


def test_three_axes_are_panels(store):
    figure = plot(store(X, Y, Z))
    assert [axes.get_title("left") for axes in panels(figure)] == [f"z = {k}" for k in (0, 2, 3, 5, 6, 8)]
    assert panels(figure)[5].get_xlabel() == "x (m)"
    assert panels(figure)[3].get_ylabel() == "y (rad)"


def test_two_axes_and_actuators_are_panels_of_one_scale(store):
    figure = plot(store(X, Y), "each")
    assert [axes.get_title("left") for axes in panels(figure)] == ["left", "right", "top"]
    assert {axes.collections[0].get_clim() for axes in panels(figure)} == {(-2.0, 3.0)}


def test_axes_that_are_held(store):
    figure = plot(store(X, Y, Z, W), "each", at={"z": 3.2, "w": 2.0, "leg": "right"})
    assert figure.get_suptitle() == "A study, z = 3, w = 2 kg, right"
    np.testing.assert_allclose(colours(panels(figure)[0]), np.repeat(2 * X.values[:, None], 4, axis=1))
    (axes,) = panels(plot(store(X, Y, Z, W), "each", at={"z": 0, "w": 1, "leg": 2, "x": 0}))
    np.testing.assert_allclose(axes.lines[0].get_ydata(), Y.values)


def test_axes_of_one_value_are_held(store):
    figure = plot(store(X, Axis("w", [2.0], "kg")))
    assert figure.get_suptitle() == "A study, w = 2 kg"


def test_values_out_of_order_are_drawn_in_order(store):
    (axes,) = panels(plot(store(Axis("x", [3.0, 1.0, 2.0]))))
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [1, 2, 3])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [10, 20, 30])


def test_long_axes_are_thinned_as_they_are_read(tmp_path):
    study = encoded({"a": 2000, "b": 3000}, block_points=10**6)
    run(study, tmp_path / "s.zarr")
    (axes,) = panels(plot(tmp_path / "s.zarr", "code"))
    drawn = colours(axes)
    assert drawn.shape == DRAWN_VALUES[:2]
    assert (drawn[0, 0], drawn[-1, -1]) == (0, 1999 * 1000 + 2999)


def test_datasets_and_parts_of_them(store):
    data = open_dataset(store(X, Y))
    (axes,) = panels(plot(data.isel(x=slice(0, 3))))
    assert colours(axes).shape == (3, 4)


def test_missing_blocks_are_named(tmp_path):
    from tauforge.sweeps.store import Store

    run(encoded(), tmp_path / "s.zarr")
    made = Store(tmp_path / "s.zarr")
    made.forget(next(made.indices()))
    with pytest.raises(tf.ModelError, match=r"blocks are missing"):
        plot(made.path, "small", at={"c": 0})
    figure = plot(made.path, "small", at={"c": 0}, partial=True)
    assert "not computed" in legend(figure)


@pytest.mark.parametrize(
    ("result", "at", "message"),
    [
        ("power", {}, "result: there is no result 'power'. The results are "),
        (None, {"q": 1.0}, "at: force has no dimension 'q'. They are x, y, z, w"),
        (None, {"x": 7.0}, "at x: expected a value from -1 to 1, got 7"),
        (None, {"x": "left"}, "at: x has no 'left'. Give a number"),
        ("each", {"leg": "tail"}, "at: leg has no 'tail'. They are left, right, top"),
        ("each", {"leg": 3}, "at leg: expected a whole number from 0 to 2, got 3"),
        ("force", {}, "at: force has the dimensions x, y, z, w, more than 3. Choose values for some of them"),
        ("force", {"x": 0, "y": 0, "z": 0, "w": 1}, "at: there is one number"),
    ],
)
def test_what_is_refused(store, result, at, message):
    path = store(X, Y, Z, W)
    with pytest.raises(tf.ModelError) as caught:
        plot(path, result or "force", at=at)
    assert str(caught.value).startswith(message)


def test_what_is_no_store(tmp_path):
    with pytest.raises(tf.ModelError, match=r"there is no sweep"):
        plot(tmp_path)
    with pytest.raises(tf.ModelError, match=r"store: expected the path of a store or a Dataset, got 3"):
        plot(3)


def test_what_holds_is_pale_as_in_pictures_of_workspaces(tmp_path):
    rig = tf.load("motion-rig")
    axes = [Axis("x", np.linspace(-0.7, 0.7, 15)), Axis("z", np.linspace(0.8, 1.3, 6))]
    run(ready_study("workspace", rig, axes), tmp_path / "s.zarr")
    figure = plot(tmp_path / "s.zarr", "limit")
    patches = dict(zip(legend(figure), figure.legends[0].get_patches(), strict=True))
    assert to_hex(patches["all limits hold"].get_facecolor()).upper() == HOLDS_COLOUR
    assert len({to_hex(patch.get_facecolor()) for patch in patches.values()}) == len(patches) > 2


def test_the_middle_of_an_axis_is_zero(tmp_path):
    """Evenly spaced values miss it by a rounding error, which no title shows."""
    middle = Axis("x", np.linspace(-0.7, 0.7, 281), "m")
    assert 0 < abs(middle.values[140]) < 1e-15
    run(Study("s", (middle, Y), RESULTS, measured, title="A study"), tmp_path / "s.zarr")
    assert plot(tmp_path / "s.zarr", at={"x": 0}).get_suptitle() == "A study, x = 0 m"
