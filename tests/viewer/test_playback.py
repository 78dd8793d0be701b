"""Clips, the clock, charts, sliders and files: what is played, without a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from tauforge.motion.csv_motion import CsvMotion
from tauforge.viewer import panel
from tauforge.viewer.playback import Clock, clip_of
from tauforge.viewer.playback_panel import charts_of, csv_of, file_name, time_html, with_peaks
from tauforge_papers.presets import PRESETS, presets
from tauforge_papers.stewart_paths import SINGULAR


def recorded(arm: tf.SerialArm) -> tf.Recording:
    move = tf.motion.JointMove(np.zeros(arm.n), np.ones(arm.n), duration=0.5)
    return tf.simulate(arm, tf.control.ComputedTorque(arm), move, step=0.01, control_period=0.01)


class TestClock:
    def test_it_plays_at_its_speed_and_begins_again(self) -> None:
        clock = Clock(1.0, 3.0)
        clock.advance(1.0)
        assert clock.time == 1.0  # it does not play yet
        clock.play()
        clock.speed = 0.5
        clock.advance(1.0)
        assert clock.time == 1.5
        clock.advance(4.0)
        assert clock.time == pytest.approx(1.5)
        clock.advance(10.0)
        assert clock.time == pytest.approx(2.5)
        assert clock.playing

    def test_it_stops_at_the_end_if_it_should(self) -> None:
        clock = Clock(0.0, 1.0)
        clock.begins_again = False
        clock.play()
        clock.advance(2.0)
        assert (clock.time, clock.playing) == (1.0, False)
        clock.play()
        assert (clock.time, clock.playing) == (0.0, True)

    def test_it_goes_nowhere_outside(self) -> None:
        clock = Clock(0.0, 1.0)
        clock.go(5.0)
        assert clock.time == 1.0
        clock.go(-5.0)
        assert clock.time == 0.0
        empty = Clock(0.0, 0.0)
        empty.play()
        assert not empty.playing


class TestClips:
    def test_a_motion_has_the_states_and_the_way_of_the_tool(self) -> None:
        arm = tf.load("planar-2r")
        move = tf.motion.JointMove([0, 0], [1, 1], duration=1.0)
        clip = clip_of(arm, "move", move)
        k = clip.frame_at(0.5)
        sample = move.sample(clip.frames.times[k])
        np.testing.assert_allclose(clip.frames.velocity[k], sample.velocity)
        np.testing.assert_allclose(clip.frames.acceleration[k], sample.acceleration)
        np.testing.assert_allclose(clip.path[k], arm.forward_kinematics(sample.position)[:3, 3], atol=1e-12)
        assert not clip.is_recorded
        assert not len(clip.singular)
        assert "singular" not in time_html(0.0, clip)
        assert [clip.frame_at(t) for t in (-1.0, 9.0)] == [0, len(clip.frames.times) - 1]

    def test_dasguptas_third_path_is_marked_where_it_is_singular(self) -> None:
        platform = tf.load("dasgupta1998")
        clip = clip_of(platform, "III", SINGULAR)
        (exact,) = tf.analysis.crossings(platform, lambda t: SINGULAR.sample(t).position, 0.0, 6.0)
        assert clip.singular_times.words == "singular"
        assert clip.singular_times.times == pytest.approx([exact.time], abs=1e-4)
        np.testing.assert_allclose(clip.singular, [exact.pose[:3]], atol=1e-4)
        assert "singular at 3.67 s" in time_html(1.0, clip)

    def test_arms_are_marked_where_their_condition_number_is_red(self) -> None:
        """The wrist of a PUMA is singular where its fifth joint is 0, here between two frames."""
        arm = tf.load("puma560")
        bent = np.array([0.3, -0.7, 0.4, 0.2, -0.5, 0.1])
        straight = bent * (1, 1, 1, 1, -1.3, 1)
        move = tf.motion.JointMove(bent, straight, duration=0.37)
        clip = clip_of(arm, "through", move)
        assert np.abs(clip.frames.position[:, 4]).min() > 1e-3
        (when,) = clip.singular_times.times
        assert move.sample(when).position[4] == pytest.approx(0.0, abs=2e-3)
        np.testing.assert_allclose(
            clip.singular, arm.forward_kinematics(move.sample([when]).position)[:, :3, 3], atol=1e-3
        )
        assert f"near a singularity at {when:.2f} s" in time_html(0.0, clip)
        assert "singular at" not in time_html(0.0, clip)

    def test_an_arm_that_stays_singular_is_marked_once(self) -> None:
        arm = tf.load("puma560")
        clip = clip_of(arm, "turn", tf.motion.JointMove([0.0] * 6, [1.0, 0, 0, 0, 0, 0], duration=1.0))
        assert len(clip.singular_times.times) == 1

    def test_the_extent_is_that_of_the_whole_way(self) -> None:
        arm = tf.load("planar-2r")
        clip = clip_of(arm, "move", tf.motion.JointMove([0, 0], [np.pi, 0], duration=1.0))
        reach = np.linalg.norm(arm.forward_kinematics([0, 0])[:3, 3])
        low, high = clip.extent
        np.testing.assert_allclose([low[0], high[0], high[1]], [-reach, reach, reach], atol=1e-2 * reach)

    def test_long_runs_say_that_they_are_thinned(self) -> None:
        arm = tf.load("planar-2r")
        short, long = (
            clip_of(arm, "move", tf.motion.JointMove([0, 0], [1, 1], duration=seconds)) for seconds in (24.0, 60.0)
        )
        assert "data-thinned" not in time_html(0.0, short)
        assert "a long run: 3,000 pictures of it, one every 20 ms" in time_html(0.0, long)

    def test_recordings_of_other_robots_are_refused(self) -> None:
        run = recorded(tf.load("planar-2r"))
        with pytest.raises(tf.ModelError, match=r"^recording: the recording is of planar-2r, not of scara"):
            clip_of(tf.load("scara"), "run", run)
        with pytest.raises(tf.ShapeError, match=r"^recording\.position: .* 4 coordinates, as scara has"):
            clip_of(tf.load("scara"), "run", replace(run, robot=""))

    def test_every_preset_fits_its_robot(self) -> None:
        for name, motions in PRESETS.items():
            for label, motion in motions.items():
                assert len(clip_of(tf.load(name), label, motion).frames.times) > 10
        assert presets("puma560") == {}


class TestCharts:
    def test_a_recording_has_forces_and_errors(self) -> None:
        arm = tf.load("scara")
        clip = clip_of(arm, "run", recorded(arm))
        charts = charts_of(arm, clip)
        assert [chart.title for chart in charts] == ["force (N m)", "force (N)", "error (rad)", "error (m)"]
        assert [len(chart.names) for chart in charts] == [3, 1, 3, 1]

    def test_the_cursor_is_at_the_time(self) -> None:
        arm = tf.load("planar-2r")
        chart = charts_of(arm, clip_of(arm, "move", tf.motion.JointMove([0, 0], [1, 1], duration=30.0)))[0]
        assert len(chart.times) <= 400
        for time in (0.0, 12.3, 30.0):
            *_, cursor = chart.data(time)
            (marked,) = np.flatnonzero(cursor > cursor.min())
            assert chart.times[marked] == pytest.approx(time, abs=2 * 30.0 / len(chart.times))
        assert len(chart.series()) == len(chart.data(0.0))

    @pytest.mark.parametrize("row", [0, 1, 4_321, 19_998, 19_999])
    def test_a_peak_of_one_sample_stays(self, row: int) -> None:
        """A recording of 20 s at 1 kHz, which has 2,400 pictures and 400 points."""
        arm = tf.load("planar-2r")
        times = np.arange(20_000) / 1e3
        still = np.zeros((len(times), 2))
        force, target = np.tile([1.0, -2.0], (len(times), 1)), still.copy()
        force[row, 0], force[row, 1], target[row, 0] = 77.0, -88.0, 0.5
        clip = clip_of(arm, "run", tf.Recording(times, still, still, still, force, target, still))
        forces, errors = charts_of(arm, clip)
        for chart, values in ((forces, (77.0, -88.0)), (errors, (0.5, 0.0))):
            assert len(chart.times) <= 400
            assert (np.diff(chart.times) > 0).all()
            assert (chart.times[0], chart.times[-1]) == (times[0], times[-1])
            for curve, value in zip(chart.curves, values, strict=True):
                k = np.abs(curve).argmax()
                assert curve[k] == value
                assert value == 0.0 or abs(chart.times[k] - times[row]) <= 20.0 / 200

    def test_a_curve_without_peaks_stays_where_it_is(self) -> None:
        times = np.linspace(0.0, 3.0, 1234)
        kept, (rising, falling) = with_peaks(times, np.array([np.exp(times), -(times**2)]), 400)
        np.testing.assert_allclose(rising, np.exp(kept))
        np.testing.assert_allclose(falling, -(kept**2))

    def test_few_points_stay_as_they_are(self) -> None:
        times, curves = np.arange(5.0), np.arange(10.0).reshape(2, 5)
        same = with_peaks(times, curves, 5)
        assert same[0] is times
        assert same[1] is curves

    def test_forces_that_are_missing_are_bridged(self) -> None:
        rig = tf.load("motion-rig")
        turn = tf.motion.PoseMotion(tf.motion.JointMove([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, np.pi], duration=1.0))
        clip = clip_of(rig, "turn", turn)
        assert np.isnan(clip.frames.force).any()
        assert np.isfinite(charts_of(rig, clip)[0].data(0.5)).all()

    def test_one_instant_has_no_charts(self) -> None:
        arm = tf.load("planar-2r")
        run = recorded(arm)
        names = ("time", "position", "velocity", "acceleration", "force", "target_position", "target_velocity")
        one = tf.Recording(*(getattr(run, name)[:1] for name in names))
        clip = clip_of(arm, "one", one)
        assert charts_of(arm, clip) == []
        assert clip.frame_at(3.0) == 0


class TestRanges:
    def test_sliders_keep_to_the_limits(self) -> None:
        arm = tf.load("puma560")
        for found, coordinate in zip(panel.position_ranges(arm, []), arm.coordinates, strict=True):
            assert (found.lower, found.upper) == pytest.approx((coordinate.lower, coordinate.upper), abs=found.step)
            assert found.stepped(9.0) == found.upper

    @pytest.mark.parametrize("name", tf.catalogue())
    def test_home_and_motions_are_within(self, name: str) -> None:
        robot = tf.load(name)
        states = robot.random_states(5)[0] + 0.5
        visited, at_home = robot.positions.coordinates(states), robot.positions.coordinates(robot.positions.default)
        for k, found in enumerate(panel.position_ranges(robot, [states])):
            assert found.lower - found.step <= visited[:, k].min()
            assert visited[:, k].max() <= found.upper + found.step
            home = at_home[k]
            assert found.stepped(home) == pytest.approx(home, abs=found.step)
        assert all(r.lower < 0 < r.upper for r in panel.velocity_ranges(robot) + panel.acceleration_ranges(robot))

    def test_masses_suit_the_robot(self) -> None:
        assert panel.payload_range(np.array([30.0, np.nan])).upper == 5.0
        assert panel.payload_range(np.array([0.0])).upper == 10.0
        assert panel.payload_range(np.array([9e3])).upper == 1000.0
        assert panel.gravity_range(9.81).upper == 25.0


class TestFiles:
    def test_a_motion_is_saved_as_a_motion(self, tmp_path: Path) -> None:
        arm = tf.load("planar-2r")
        move = tf.motion.JointMove([0, 0], [1, 1], duration=1.0)
        path = tmp_path / "move.csv"
        path.write_bytes(csv_of(arm, clip_of(arm, "move", move)))
        again = CsvMotion(path, arm)
        np.testing.assert_allclose(again.sample(0.5).position, move.sample(0.5).position, atol=1e-9)

    def test_a_recording_is_saved_as_it_saves_itself(self, tmp_path: Path) -> None:
        arm = tf.load("planar-2r")
        run = recorded(arm)
        path = tmp_path / "run.csv"
        path.write_bytes(csv_of(arm, clip_of(arm, "run", run)))
        np.testing.assert_array_equal(tf.Recording.load(path).position, run.position)

    def test_names_of_files_are_harmless(self) -> None:
        arm = tf.load("planar-2r")
        assert file_name(arm.replace(name="../a b/c")) == ".._a_b_c"
        assert file_name(arm.replace(name="")) == "robot"
