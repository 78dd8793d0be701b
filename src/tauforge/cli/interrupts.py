"""Ctrl-C, SIGTERM and SIGHUP: whatever the command is doing, it cleans up, says so and exits with 128 + the signal.

The signal becomes a KeyboardInterrupt at whatever line runs, and so do later ones, each a second after the one before:
time enough to clean up, and a way on where other code has caught the first and forgotten it.

Inside an import the exception is unsafe: compiled modules turn it into an ImportError or drop it, and leave a module
half made. So a signal that comes during an import waits for its end.
"""

from __future__ import annotations

import math
import signal
import time
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
TIMED = hasattr(signal, "setitimer")  # not on Windows, where an interrupt does not wait
SOON = 0.02  # s, until a signal that waits is looked at again
AGAIN = 1.0  # s, during which later signals change nothing
IMPORTING = "<frozen importlib._bootstrap"
EXIT_BASE = 128

_came: int | None = None  # the first signal
_raised = -math.inf  # when an exception was raised last


def install() -> None:
    """Takes the signals over. One that is ignored stays so: jobs in the background, and what runs under nohup."""
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _arrived)
    if TIMED:
        signal.signal(signal.SIGALRM, _arrived)


def came() -> bool:
    """True if an interrupt has come, even if its exception was turned into another one on its way."""
    return _came is not None


def end() -> int:
    """Called when the command ends: from now on interrupts are ignored. Returns the exit code of an interrupted one."""
    for number in (*SIGNALS, *([signal.SIGALRM] if TIMED else [])):
        if signal.getsignal(number) is _arrived:  # Python gives it back its default, to kill, before all is taken down
            signal.signal(number, signal.SIG_IGN)
    exec("")  # Python marks a process to die by SIGINT if the exception passes through `exec`; this removes the mark
    return EXIT_BASE + (signal.SIGINT if _came is None else _came)


def _arrived(number: int, frame: FrameType | None) -> None:
    global _came, _raised
    _came = number if _came is None else _came
    if TIMED and _importing(frame):
        signal.setitimer(signal.ITIMER_REAL, SOON)
    elif time.monotonic() >= _raised + AGAIN:
        _raised = time.monotonic()
        raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(IMPORTING):
            return True
        frame = frame.f_back
    return False
