"""tf.animate as GIF and MP4: read back, the files last as long as the motion and show the forces of each instant."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from tauforge.charts.figure import PALETTE
from tauforge.pictures.animation import MOST_GIF_FRAMES
from tauforge.pictures.animation_frames import Pace, animation_frames
from tauforge.pictures.film import BAR_THICKNESS, BARS, BEYOND, NEAR, PANEL_LEFT, PANEL_WIDTH, WITHIN, Film

pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")
SMALL = (320, 180)
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg on the PATH")


def move(duration: float = 0.5) -> tf.motion.Motion:
    return tf.motion.JointMove([0.0, 0.5], [1.0, -0.5], duration=duration)


def read_gif(path: Path) -> tuple[np.ndarray, list[int]]:
    """Frames (k, height, width, 3) and how long each is shown, ms."""
    with Image.open(path) as image:
        frames, lasting = [], []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append(np.array(image.convert("RGB")))
            lasting.append(image.info["duration"])
        assert image.info["loop"] == 0
        return np.stack(frames), lasting


def read_mp4(path: Path, size: tuple[int, int]) -> np.ndarray:
    command = ["ffmpeg", "-loglevel", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"]
    whole = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(whole, np.uint8).reshape(-1, size[1], size[0], 3)


def probed(path: Path) -> dict[str, str]:
    entries = "stream=nb_frames,duration,width,height,codec_name,pix_fmt"
    command = ["ffprobe", "-loglevel", "error", "-show_entries", entries, "-of", "default=noprint_wrappers=1"]
    lines = subprocess.run([*command, str(path)], capture_output=True, check=True, text=True).stdout.split()
    return dict(line.split("=") for line in lines)


def like(picture: np.ndarray, colour: str, tolerance: int = 40) -> np.ndarray:
    """Which pixels have about this colour."""
    channels = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return np.abs(picture.astype(int) - channels).max(axis=-1) <= tolerance


def bar_length(picture: np.ndarray, j: int, actuators: int) -> float:
    """Length of the bar of actuator j, as a share of half the room that it has."""
    height, width = picture.shape[:2]
    bottom, high = BARS
    middle = 1 - bottom - high * (1 - (j + 0.62 + BAR_THICKNESS / 2) / actuators)
    row = picture[round(height * middle), round(PANEL_LEFT * width) : round((PANEL_LEFT + PANEL_WIDTH) * width)]
    return float(like(row, PALETTE[j]).sum()) / (PANEL_WIDTH * width / 2)


def still(robot: tf.StewartPlatform, forces: Any) -> tf.Recording:
    """A recording of a platform at rest with these forces (k, 6), a row a tenth of a second."""
    rows = np.tile([0, 0, 1.0, 0, 0, 0], (len(forces), 1))
    none = np.full_like(rows, np.nan)
    return tf.Recording(0.1 * np.arange(len(rows)), rows, 0 * rows, 0 * rows, np.array(forces, float), none, none)


class TestGif:
    def test_lasts_as_long_as_the_motion_and_every_frame_is_another(self, tmp_path: Path) -> None:
        arm = tf.load("planar-2r")
        path = tf.animate(arm, move(), tmp_path / "move.gif", frames_per_second=30, size=SMALL)
        frames, lasting = read_gif(path)
        assert frames.shape == (15, SMALL[1], SMALL[0], 3)
        assert sum(lasting) == 500
        assert set(lasting) == {30, 40}  # hundredths of a second that follow 30 frames a second
        assert all((a != b).any() for a, b in pairwise(frames))
        assert (frames[:, 0, 0] == 255).all()  # white is white

    def test_bars_are_as_long_as_the_forces(self, tmp_path: Path) -> None:
        arm, motion = tf.load("planar-2r"), move()
        path = tf.animate(arm, motion, tmp_path / "move.gif", frames_per_second=10, size=(640, 360))
        frames, _ = read_gif(path)
        force = arm.inverse_dynamics(*motion.sample(np.linspace(0, 0.5, 5)))
        shares = np.abs(force) / np.abs(force).max()
        assert np.ptp(shares[:, 0]) > 0.1
        shown = np.array([[bar_length(picture, j, 2) for j in range(2)] for picture in frames])
        np.testing.assert_allclose(shown, shares, atol=0.03)

    def test_is_small(self, tmp_path: Path) -> None:
        """A second as it comes by default; pages say how much two take."""
        arm = tf.load("puma560")
        turn = tf.motion.JointMove([0, -1, 1, 0, 0, 0], [1.5, -0.3, -0.5, 1, 1, 1.5], duration=1.0)
        assert tf.animate(arm, turn, tmp_path / "move.gif").stat().st_size < 500_000

    def test_long_motions_have_fewer_frames(self) -> None:
        frames = animation_frames(tf.load("planar-2r"), move(100.0), Pace(30, MOST_GIF_FRAMES, film=True))
        assert (len(frames.times), frames.thinned) == (MOST_GIF_FRAMES, True)


class TestMp4:
    @needs_ffmpeg
    def test_lasts_as_long_as_the_motion_and_shows_what_was_drawn(self, tmp_path: Path) -> None:
        arm, motion = tf.load("planar-2r"), move(0.7)
        path = tf.animate(arm, motion, tmp_path / "move.mp4", frames_per_second=24, size=SMALL, title="A film")
        said = probed(path)
        assert (said["width"], said["height"], said["pix_fmt"]) == ("320", "180", "yuv420p")
        assert said["nb_frames"] == "16"  # 24 a second would be 16.8
        assert float(said["duration"]) == pytest.approx(0.7, abs=1e-3)
        frames = read_mp4(path, SMALL)
        film = Film(arm, animation_frames(arm, motion, Pace(24, film=True)), SMALL, "A film")
        pictures = np.stack(list(film)).astype(int)
        own = np.abs(frames - pictures).mean(axis=(1, 2, 3))
        others = np.abs(frames - np.roll(pictures, 3, axis=0)).mean(axis=(1, 2, 3))
        assert own.max() < 2.0  # of 255: what the compression costs
        assert (others > own).all()

    def test_without_ffmpeg(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        words = "an MP4 needs the program ffmpeg, which is not on the PATH. Install ffmpeg, or write a .gif"
        with pytest.raises(tf.ModelError, match=words):
            tf.animate(tf.load("planar-2r"), move(), tmp_path / "move.mp4")
        assert not list(tmp_path.iterdir())

    @pytest.mark.skipif(os.name != "posix", reason="the stand-in is a script")
    def test_an_ffmpeg_that_fails_is_quoted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tools, out = tmp_path / "tools", tmp_path / "out"
        tools.mkdir()
        out.mkdir()
        (tools / "ffmpeg").write_text(f"#!{sys.executable}\nimport sys\nsys.exit('first\\nno encoder today')\n")
        (tools / "ffmpeg").chmod(0o755)
        monkeypatch.setenv("PATH", str(tools))
        with pytest.raises(tf.ModelError, match=r"move.mp4: ffmpeg could not make the film: no encoder today"):
            tf.animate(tf.load("planar-2r"), move(), out / "move.mp4", size=SMALL)
        assert not list(out.iterdir())


class TestForces:
    """A platform at rest: whatever moves in its picture is an arrow."""

    def pictures(self, shares: list[float]) -> list[np.ndarray]:
        rig = tf.load("motion-rig")
        limit = rig.actuators[0].max_force
        run = still(rig, [[share * limit] * 6 for share in shares])
        film = Film(rig, animation_frames(rig, run, Pace(10, film=True)), (480, 270), "rig")
        drawn = int(0.64 * 480)
        return [film.picture(k)[24:, :drawn] for k in range(len(film))]

    def test_arrows_grow_with_the_forces(self) -> None:
        first, *_, last = self.pictures([0.1, 0.3, 0.5, 0.7])
        assert like(last, WITHIN).sum() > 2 * like(first, WITHIN).sum() > 0

    def test_arrows_have_the_colour_of_their_share_of_the_limit(self) -> None:
        pictures = self.pictures([0.5, 0.9, 1.2, 1.2])
        for picture, colour in ((pictures[0], WITHIN), (pictures[-1], BEYOND)):
            present = {one for one in (WITHIN, NEAR, BEYOND) if like(picture, one, 10).any()}
            assert present == {colour}

    def test_no_force_has_no_arrow(self) -> None:
        """None at a singular pose."""
        pictures = self.pictures([np.nan, np.nan, 0.5, 0.5])
        assert not like(pictures[0], WITHIN, 10).any()
        assert like(pictures[-1], WITHIN, 10).any()


def test_a_frame_shows_an_instant_of_the_time_that_it_is_on_the_screen() -> None:
    arm = tf.load("planar-2r")
    for duration in (0.04, 0.5, 1.23):
        times = animation_frames(arm, move(duration), Pace(30, film=True)).times
        ends = np.linspace(0, duration, len(times) + 1)
        assert (times[0], times[-1]) == (0, duration)
        assert (times > ends[:-1] - 1e-12).all()
        assert (times < ends[1:] + 1e-12).all()


def test_the_target_of_a_recording_is_drawn() -> None:
    arm = tf.load("planar-2r")
    law = tf.control.ComputedTorque(arm, 100.0, 20.0)
    run = tf.simulate(arm, law, move(), initial=([0.4, 0.9], [0.0, 0.0]), control_period=0.01, step=0.01)
    film = Film(arm, animation_frames(arm, run, Pace(10, film=True)), SMALL, "arm")
    with_target = film.picture(0)
    film.target = None
    assert (film.picture(0) != with_target).any()


@pytest.mark.parametrize("name", ["move.gif", pytest.param("move.mp4", marks=needs_ffmpeg)])
def test_an_interrupted_film_leaves_the_old_file_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, begun, started = tmp_path / name, [], []
    old.write_text("old")
    drawn, popen = Film.picture, subprocess.Popen

    def interrupted(film: Film, k: int) -> np.ndarray:
        begun.append(k)
        if len(begun) > 12:
            raise KeyboardInterrupt
        return drawn(film, k)

    def watched(*given: Any, **options: Any) -> Any:
        started.append(popen(*given, **options))
        return started[-1]

    monkeypatch.setattr(Film, "picture", interrupted)
    monkeypatch.setattr(subprocess, "Popen", watched)
    with pytest.raises(KeyboardInterrupt):
        tf.animate(tf.load("planar-2r"), move(1.0), old, size=SMALL)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert old.read_text() == "old"
    assert len(started) == name.endswith("mp4")
    assert all(program.returncode is not None for program in started)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("a.gif", {"frames_per_second": 60}, "frames_per_second: expected at most 50 in a GIF, got 60. An .mp4 file"),
        ("a.gif", {"size": (320,)}, r"size: expected \(width, height\) in pixels, whole numbers from 120 to 4096"),
        ("a.gif", {"size": (320, 5000)}, r"got \(320, 5000\)"),
        ("a.gif", {"size": 320}, "got 320"),
        pytest.param("a.mp4", {"size": (321, 180)}, "even whole numbers from 120 to 4096", marks=needs_ffmpeg),
        ("a.html", {"size": (320, 180)}, r"size: expected None, for a page fills its window, got \(320, 180\)"),
    ],
)
def test_what_a_file_cannot_have(name: str, options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(tf.ShapeError, match=words):
        tf.animate(tf.load("planar-2r"), move(), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_a_single_instant_is_no_film(tmp_path: Path) -> None:
    rig = tf.load("motion-rig")
    with pytest.raises(tf.ShapeError, match="expected a motion that lasts, got a single instant"):
        tf.animate(rig, still(rig, [[1.0] * 6]), tmp_path / "a.gif")


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(tf.ModelError, match=r"plots need matplotlib. Run pip install .*\[plots\]"):
        tf.animate(tf.load("planar-2r"), move(), tmp_path / "a.gif")


def test_a_robot_without_motors_fills_the_picture(tmp_path: Path) -> None:
    """The robot is drawn in the middle, where one with motors leaves room for their forces; it moves."""
    robot = tf.load("bricard")
    run = tf.simulate(robot, None, initial=(robot.home, [1.0]), duration=0.3, step=0.01)
    frames, _ = read_gif(tf.animate(robot, run, tmp_path / "free.gif", size=SMALL))
    link = like(frames[0], "#2f5d8a")
    assert link.any()
    assert abs(np.flatnonzero(link.any(axis=0)).mean() - SMALL[0] / 2) < 0.1 * SMALL[0]
    assert (frames[0] != frames[-1]).any()
