"""Ctrl-C, SIGTERM and SIGHUP: whatever the command is doing, it cleans up, says so and exits with 128 + the signal.

Python raises KeyboardInterrupt at whatever line runs when the signal comes. That alone is not enough:

- Inside an import it is unsafe. Compiled modules turn the exception into an ImportError or drop it, and leave a module
  half made. So an interrupt that comes during an import waits for the import to end.
- In a destructor or a weak reference's callback, Python prints the exception and drops it; other code may catch and
  forget it. So it is raised again until the command ends.
- If it passes through `exec` of a text, as in making a dataclass, Python marks the process, and `python -m` dies by
  SIGINT whatever exit code the program chooses. So the mark is removed at the end.
"""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
TIMED = hasattr(signal, "setitimer")  # not on Windows, where an interrupt is raised at once, and once
SOON = 0.02  # s, until an interrupt that waits, or was dropped, is tried again
AGAIN = 1.0  # s, until one that was raised and forgotten is raised again; time enough to clean up
PATIENCE = 10.0  # s, that an interrupt waits for an import
IMPORTING = "<frozen importlib._bootstrap"
EXIT_BASE = 128

_came: int | None = None  # the first signal
_since = 0.0  # when it came
_raised: float | None = None  # when its exception was raised last
_over = False


def install() -> None:
    """Takes the signals over. One that is ignored stays so: jobs in the background, and what runs under nohup."""
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _arrived)
    if TIMED:
        signal.signal(signal.SIGALRM, _arrived)
    sys.unraisablehook = _dropped


def came() -> bool:
    """Whether an interrupt has come, even if its exception was turned into another one on its way."""
    return _came is not None


def end() -> int:
    """Called when the command ends: from now on interrupts are ignored. Returns the exit code of an interrupted one."""
    global _over
    _over = True
    if TIMED:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    for number in (*SIGNALS, *([signal.SIGALRM] if TIMED else [])):
        if signal.getsignal(number) is _arrived:  # Python gives it back its default, to kill, before all is taken down
            signal.signal(number, signal.SIG_IGN)
    exec("")  # removes the mark to die by SIGINT
    return EXIT_BASE + (signal.SIGINT if _came is None else _came)


def _arrived(number: int, frame: FrameType | None) -> None:
    global _came, _since, _raised
    now = time.monotonic()
    if _over:
        return
    if _came is None:
        _came, _since = number, now
    if TIMED:
        if _raised is not None and number != signal.SIGALRM and now < _raised + AGAIN:
            return  # pressed again: what cleans up is left to do so
        waits = _importing(frame) and now < _since + PATIENCE
        signal.setitimer(signal.ITIMER_REAL, SOON if waits else AGAIN)
        if waits:
            return
    _raised = now
    raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(IMPORTING):
            return True
        frame = frame.f_back
    return False


def _dropped(unraisable: Any) -> None:
    """An exception that Python cannot raise: ours comes again soon, others are printed as ever."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt) and came():
        if TIMED and not _over:
            signal.setitimer(signal.ITIMER_REAL, SOON)
    else:
        sys.__unraisablehook__(unraisable)
