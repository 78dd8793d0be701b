"""Films as files: GIF by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

import numpy as np

from tauforge.errors import ModelError
from tauforge.pictures.film import Film
from tauforge.pictures.gif_colours import GifColours

FFMPEG = "ffmpeg"
TICK = 0.01  # s, the unit of time in a GIF
SAMPLES = 8  # frames that the colours of a GIF are chosen from
MICRO = 1_000_000


def write_gif(film: Film, file: BinaryIO) -> None:
    """Plays for ever. Pillow writes it, which comes with matplotlib: ffmpeg is not everywhere, and would dither."""
    chosen = np.unique(np.linspace(0, len(film) - 1, SAMPLES).round().astype(int))
    colours = GifColours([film.picture(int(k)) for k in chosen])
    images = map(colours.image, film)
    ends = np.rint(np.linspace(0.0, film.frames.duration / TICK, len(film) + 1))
    lasting = [int(ticks * 1000 * TICK) for ticks in np.diff(ends)]  # ms; never more than a tick behind
    next(images).save(file, "GIF", save_all=True, append_images=images, duration=lasting, loop=0)


def write_mp4(film: Film, file: BinaryIO) -> None:
    """Frames go to ffmpeg through a pipe. It writes into the file itself, for an MP4 is not written front to back."""
    width, height = film.size
    rate = Fraction(len(film) / film.frames.duration).limit_denominator(MICRO)
    command = [FFMPEG, "-loglevel", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-video_size", f"{width}x{height}", "-framerate", str(rate), "-i", "pipe:0"]
    command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", "-y", f"file:{file.name}"]
    with TemporaryFile() as complaints, _running(command, complaints) as program:
        try:
            for picture in film:
                program.stdin.write(picture.tobytes())
            program.stdin.close()
        except BrokenPipeError:  # it has ended, and says why
            pass
        if program.wait():
            complaints.seek(0)
            words = complaints.read().decode(errors="replace").strip() or f"exit code {program.returncode}"
            raise ModelError(f"ffmpeg could not make the film: {words.splitlines()[-1]}")


@contextmanager
def _running(command: list[str], complaints: IO[bytes]) -> Iterator[Any]:
    """The program, which does not outlive the block: an interrupted film leaves nobody who writes into its file."""
    program: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=complaints)
    try:
        yield program
    finally:
        program.kill()
        program.wait()
        with suppress(BrokenPipeError):  # a frame that it has not read
            program.stdin.close()
