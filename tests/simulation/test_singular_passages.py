"""Mechanisms at positions where the loops leave another freedom: passed if the motion goes on, else a clear end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tauforge as tf
from support.mechanisms import bar, four_bars
from support.tolerances import INTEGRATED, SAME_STEPS, error_beside

pytestmark = pytest.mark.usefixtures("kernels_on")  # the reference takes minutes for thousands of steps
GAP = 1e-12  # of the mechanism's size, at every recorded step
RK4_TRUNCATION = 1e-8  # of angle and energy, by steps of 5e-4 s: a few times h^4 w^4 / 120 at w = 20 rad/s
METHODS = ("rk4", "dormand-prince")
CRANK, G = 0.2, 9.81  # m, m/s^2


def slider_crank(crank: float, rod: float, masses: tuple[float, float, float], angle: float) -> tf.Mechanism:
    """A piston along x; crank and rod of these lengths, and masses of crank, rod and piston."""
    A, B = (0.0, 0.0, 0.0), (crank * math.cos(angle), crank * math.sin(angle), 0.0)
    C = (B[0] + math.sqrt(rod**2 - B[1] ** 2), 0.0, 0.0)

    def body(name: str, a: Any, b: Any, mass: float) -> tf.Body:
        return bar(name, a, b, mass, radius=0.0) if mass else tf.Body(name, 0.0, a)

    return tf.Mechanism(
        name="slider-crank",
        bodies=[body("crank", A, B, masses[0]), body("rod", B, C, masses[1]), tf.Body("piston", masses[2], C)],
        joints=[
            tf.Hinge("crank", "ground", "crank", at=A, home=angle),
            tf.Hinge("knee", "crank", "rod", at=B),
            tf.Hinge("wrist", "rod", "piston", at=C),
            tf.Slider("slide", "ground", "piston", at=C, axis=(1.0, 0.0, 0.0)),
        ],
        independent=("crank",),
        gravity=(0.0, -G, 0.0),
    )


def equal_lengths_swing(angle: float, speed: float, time: float) -> float:
    """The crank's angle where crank and rod are equally long and the rod mirrors the crank: one scalar equation.

    The rod's middle is at (3 cos, sin) r / 2, the piston at 2 r cos: M(a) a'' = -M'(a) a'^2 / 2 - V'(a), all masses 1.
    """
    r = CRANK

    def rates(_: float, y: Any) -> list[float]:
        a, w = y
        M = r * r * (1 / 3 + 1 / 12 + (9 * math.sin(a) ** 2 + math.cos(a) ** 2) / 4 + 4 * math.sin(a) ** 2)
        slope = r * r * 12 * math.sin(a) * math.cos(a)  # of M
        weight = G * r * math.cos(a)  # of V = g (r / 2 + r / 2) sin
        return [w, (-slope * w * w / 2 - weight) / M]

    start = [angle, speed]
    return float(solve_ivp(rates, (0.0, time), start, method="DOP853", rtol=1e-13, atol=1e-14).y[0, -1])


@pytest.mark.parametrize(("method", "step", "bound"), [("rk4", 5e-4, RK4_TRUNCATION), (METHODS[1], 1e-2, INTEGRATED)])
def test_a_slider_crank_of_equal_lengths_goes_on_as_it_came(method: str, step: float, bound: float) -> None:
    """Upright the piston is at the crank's pivot, and the rod could turn with the crank from there on. It does not."""
    m = slider_crank(CRANK, CRANK, (1.0, 1.0, 1.0), 0.3)
    run = tf.simulate(m, initial=(m.home, [12.0]), duration=1.0, step=step, method=method)
    end = equal_lengths_swing(0.3, 12.0, 1.0)
    assert end > 2 * np.pi  # through both singular positions
    assert abs(run.position[-1, 0] - end) < bound * end
    assert np.abs(run.position[:, 3] - 2 * CRANK * (np.cos(run.position[:, 0]) - np.cos(0.3))).max() < INTEGRATED
    assert float(m.loop_gap(run.position).max()) < GAP * m._analysis.size
    energy = np.add(*m.energy(run.position, run.velocity, on_singular="nan"))
    kinetic = 0.5 * np.nanmax(m.mass_matrix(run.position, on_singular="nan")[:, 0, 0] * run.velocity[:, 0] ** 2)
    assert np.nanmax(np.abs(energy - energy[0])) < bound * kinetic
    assert np.isfinite(run.acceleration).all()


def test_rows_of_a_rollout_pass_at_their_own_times() -> None:
    m = slider_crank(CRANK, CRANK, (1.0, 1.0, 1.0), 0.3)
    speeds, options = np.array([[11.0], [12.0], [13.0]]), {"duration": 0.3, "step": 5e-4}
    runs = tf.rollout(m, initial=(np.tile(m.home, (3, 1)), speeds), control_period=5e-4, **options)
    assert runs.finite.all()
    assert (runs.position[:, -1, 0] > np.pi / 2).all()
    for row, speed in zip(runs.position, speeds, strict=True):
        one = tf.simulate(m, initial=(m.home, speed), **options)
        assert error_beside(row, one.position, one.position) < 10 * SAME_STEPS  # passed by what rounding leaves


@pytest.mark.filterwarnings("ignore:the energy of slider-crank drifts")  # of Runge-Kutta, on its way to the end
@pytest.mark.parametrize("method", METHODS)
def test_a_dead_end_ends_with_its_reason_and_all_that_was_before(method: str) -> None:
    """Only the piston has mass, and no force acts along its way: it arrives at the dead centre with all its speed."""
    m = slider_crank(0.1, 0.3, (0.0, 0.0, 1.0), 0.6)
    step, speed = 1e-3, 0.5
    reach = 0.4 - (0.1 * math.cos(0.6) + math.sqrt(0.09 - 0.01 * math.sin(0.6) ** 2))
    jacobian = m._evaluator("coordinate_rates", {"x": m.home, "qd": np.array([1.0])})[0][3]
    initial = (m.home, [speed / jacobian])
    words = {
        "rk4": "the loops cannot be closed after this step",
        METHODS[1]: "the integrator stopped: no step is short",
    }
    with pytest.raises(tf.DivergenceError, match=words[method]) as caught:
        tf.simulate(m, initial=initial, duration=1.0, step=step, method=method)
    kept = caught.value.recording
    assert isinstance(kept, tf.Recording)
    last = reach / speed
    assert last - 4 * step < kept.time[-1] <= last + step * (method == "rk4")  # which only looks at ends of steps
    assert np.array_equal(kept.time, step * np.arange(len(kept.time)))
    (event,) = [event for event in kept.events if event.what == "stopped"]
    assert event.time == kept.time[-1]
    assert words[method] in event.which
    straight = speed * kept.time  # Runge-Kutta's steps are too long for the last one before the end
    assert np.abs(kept.position[:-2, 3] - straight[:-2]).max() < (1e-3 if method == "rk4" else INTEGRATED) * reach
    short = tf.simulate(m, initial=initial, duration=step * (len(kept.time) - 3), step=step, method=method)
    assert np.abs(short.position - kept.position[:-2]).max() < INTEGRATED


def test_a_start_where_no_rates_determine_the_motion_is_refused() -> None:
    bars = four_bars(1)
    flat = bars.configuration([-np.pi / 2 + 1e-3])
    flat = np.where(np.isclose(flat, 0.0), 0.0, flat + np.sign(flat) * 1e-3)  # all bars on one line
    assert bars.loop_gap(flat) < GAP
    with pytest.raises(tf.SingularityError, match="four-bars: the mechanism gains a freedom here"):
        tf.simulate(bars, initial=(flat, [1.0]), duration=0.1)


def nearly_parallel(more: float) -> tf.Mechanism:
    """A parallelogram whose rocker is longer by a little: it comes near flat positions, and turns sharply there."""
    angle = 1.0
    A, B, D = (0.0, 0.0, 0.0), (0.5 * math.cos(angle), 0.5 * math.sin(angle), 0.0), (1.0, 0.0, 0.0)
    way = np.subtract(D, B)
    distance = float(np.linalg.norm(way))
    along = (1.0 - (0.5 + more) ** 2 + distance**2) / (2 * distance)
    across = math.sqrt(1.0 - along**2)
    e = way / distance
    C = tuple(np.add(B, along * e + across * np.array([-e[1], e[0], 0.0])))
    return tf.Mechanism(
        bodies=[bar("crank", A, B, 1.0), bar("coupler", B, C, 1.5), bar("rocker", D, C, 1.2)],
        joints=[
            tf.Hinge("crank", "ground", "crank", at=A),
            tf.Hinge("pin 1", "crank", "coupler", at=B),
            tf.Hinge("rocker", "ground", "rocker", at=D),
            tf.Hinge("pin 2", "coupler", "rocker", at=C),
        ],
        gravity=(0.0, 0.0, 0.0),
        independent=("crank",),
    )


@pytest.mark.parametrize("more", [1e-6, 1e-7, 1e-8])
def test_a_linkage_that_is_only_nearly_a_parallelogram_turns_where_it_must(more):
    """Rates from before and behind its sharp turn are those of another motion, and its energy would tell."""
    linkage = nearly_parallel(more)
    run = tf.simulate(linkage, initial=(linkage.home, [3.0]), duration=2.2, step=1e-3, method="dormand-prince")
    energy = np.add(*linkage.energy(run.position, run.velocity))
    assert np.ptp(energy) < INTEGRATED * energy[0]
    assert run.position[-1, 0] > 2 * math.pi  # the crank goes round
    assert np.abs(run.position[:, 2]).max() < math.pi  # the rocker swings
    assert (linkage.loop_gap(run.position) < GAP).all()
