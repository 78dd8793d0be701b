"""Starting a process that hears signals, whoever started the tests."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence


def with_usual_signals(command: Sequence[object], ignored: Sequence[int] = ()) -> list[str]:
    """The command, started by a program that sets the signals: a job in the background and its children ignore SIGINT.

    Not by `preexec_fn`, which forks this process: other tests may have given it the threads of JAX.
    """
    code = f"""
        import os, signal, sys
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number in {tuple(map(int, ignored))} else signal.SIG_DFL)
        os.execv(sys.argv[1], sys.argv[1:])
    """
    return [sys.executable, "-c", textwrap.dedent(code), *map(str, command)]
