"""Signals: whatever the command is doing, it ends, says so once, leaves no file and exits with 128 + the signal."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from conftest import SOAK
from support.usual_signals import with_usual_signals

MOVE = "joint-move:0,0,0,0,0,0:1,1,1,1,1,1:1000"
SAID = "error: interrupted; no file is half written\n"


@pytest.fixture
def here(tmp_path):
    """An empty folder to run in, beside the program."""
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def child(code, folder, ignored=()):
    """A process that runs the code, as `python -m` does, and prints "ready" when it may be signalled."""
    (folder.parent / "program.py").write_text(textwrap.dedent(code))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}

    found = subprocess.Popen(
        with_usual_signals([sys.executable, "-m", "program"], ignored),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "TAUFORGE_KERNELS": "0", "PYTHONPATH": str(folder.parent), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert found.stdout is not None
    assert found.stdout.readline() == "ready\n"
    return found


def ended(process, number, after):
    """Exit code and what was said, by a process that gets the signal after so many seconds."""
    try:
        time.sleep(after)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, out, err


COMMAND = f"""
    import sys
    from tauforge.__main__ import main
    from tauforge.cli import interrupts
    install = interrupts.install
    def told():
        install()
        print("ready", flush=True)
    interrupts.install = told
    sys.argv[1:] = ["simulate", "puma560", "--motion", {MOVE!r}, "-o", "run.csv"]
    main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_moment(here, number):
    """From the first import on: whether modules are loaded, the command has notes to print or is at work."""
    rng = random.Random(number)
    for _ in range(4 * SOAK):
        code, out, err = ended(child(COMMAND, here), number, rng.uniform(0, 1.5))
        *notes, last = err.splitlines(keepends=True)
        assert (code, out, last) == (128 + number, "", SAID)
        assert all(line.startswith("note: ") for line in notes)
        assert list(here.iterdir()) == []


def test_a_signal_that_is_ignored_stays_so(here):
    code = COMMAND.replace('-o", "run.csv"', '--duration", "0.01", "--json"')
    found = ended(child(code, here, ignored=[signal.SIGHUP]), signal.SIGHUP, 0.1)
    assert found[0] == 0
    assert '"duration": 0.01' in found[1]


LOOP = "while True: time.sleep(0.01)"
# What a program may do to a KeyboardInterrupt, each with the lines that the interrupt must get through.
LOSSES = {
    "waits for an import": f"import slow\n{LOOP}",
    "through the text of a program": "exec('while True: pass')",
}


def child_that_runs(here, lines):
    """A command of these lines."""
    code = textwrap.dedent("""
        import sys, time
        import tauforge.cli.app as app
        from tauforge.__main__ import main
        def command(**_):
            print("ready", flush=True)
            LINES
        app.app = command
        main()
    """)
    return child(code.replace("LINES", textwrap.indent(lines, "    ").strip()), here)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_interrupt_is_not_lost(here, loss):
    (here.parent / "slow.py").write_text(
        "import time\ntry:\n    end = time.monotonic() + 1.0\n    while time.monotonic() < end: time.sleep(0.01)\n"
        "except KeyboardInterrupt:\n    raise ImportError('numpy._core.multiarray failed to import') from None\n"
    )
    assert ended(child_that_runs(here, LOSSES[loss]), signal.SIGINT, 0.2) == (130, "", SAID)


def test_one_that_is_caught_and_forgotten_is_followed_by_the_next(here):
    process = child_that_runs(here, f"try: time.sleep(60)\nexcept KeyboardInterrupt: pass\n{LOOP}")
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert ended(process, signal.SIGINT, 1.2) == (130, "", SAID)


def test_impatience_does_no_harm(here):
    """Ctrl-C again and again, as people press it."""
    process = child(COMMAND, here)
    time.sleep(1.0)
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    code, out, err = ended(process, signal.SIGINT, 0.0)
    assert (code, out) == (130, "")
    assert err.endswith(SAID)
    assert err.count("interrupted") == 1
    assert "Traceback" not in err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_the_end_changes_nothing(here, number):
    """While Python takes itself down, it gives signals back their default, which is to kill."""
    code = f"""
        import os, sys
        from tauforge.__main__ import main
        class Late:
            def __del__(self, kill=os.kill, process=os.getpid()):
                kill(process, {int(number)})
        late = Late()
        print("ready", flush=True)
        sys.argv[1:] = ["--version"]
        main()
    """
    process = child(code, here)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("tauforge ")
