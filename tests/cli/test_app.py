"""The command `tauforge` among others: help, completion, pipes, errors, Ctrl-C, JSON."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tauforge as tf
from support.command_line import error_of, parsed, run, shell
from support.usual_signals import with_usual_signals
from tauforge.cli import bench, output
from tauforge.cli.app import app

COMMANDS = ("reproduce", "robots", "show", "check", "inverse-dynamics", "forward-kinematics", "simulate", "sizing") + (
    "compare",
    "complexity",
    "bench",
)


def test_help_names_every_command_and_loads_nothing_heavy():
    text = run("--help").stdout
    assert all(f" {name} " in text for name in COMMANDS)
    code = (
        "import sys\nfrom tauforge.cli.app import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'llvmlite', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command):
    text = run(command, "--help").stdout
    assert "--json" in text
    assert text.count("Usage: tauforge" if "Usage: tauforge" in text else "Usage:") == 1


def test_version_and_bare_call():
    assert run("--version").stdout == f"tauforge {tf.__version__}\n"
    bare = run(code=2)
    assert bare.stdout == run("--help").stdout
    assert bare.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "No such command 'nothing'"),
        (["show"], "Missing argument 'ROBOT'"),
        (["show", "puma560", "--bright"], "No such option: --bright"),
        (["show", "puma"], "no robot named 'puma' in the catalogue\n  Did you mean puma560?"),
        (["show", "robot.xyz"], "unknown suffix '.xyz'"),
        (["show", "puma560", "--tip", "tool0"], "tip applies to URDF files only"),
        (["show", "arm.urdf", "--lock", "finger"], "expected JOINT=VALUE, got 'finger'"),
        (["check", "puma560"], "expected a name that ends in .toml, .urdf or .xml, got 'puma560'"),
        (["check", "none.toml"], "none.toml is not a file"),
        (["compare", "puma560", "--states", "0"], "--states"),
        (["reproduce", "newton1687"], "no study is called 'newton1687'"),
    ],
)
def test_bad_use(arguments, message):
    assert message in error_of(*arguments)


def test_debug_shows_the_traceback():
    done = CliRunner().invoke(app, ["show", "puma", "--debug"])
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert "ModelError: no robot named 'puma'" in done.stderr
    assert "Traceback" not in run("show", "--debug", code=2).stderr  # of typer: how it is used, not where


def test_flags_have_no_type_in_the_help():
    for command in ([], *([name] for name in COMMANDS)):
        assert "<bool>" not in run(*command, "--help").stdout


def by_bash(line, **env):
    """A line of the shell with the command in it as $TAUFORGE."""
    environment = {**os.environ, "PYTHON": sys.executable, "TAUFORGE_KERNELS": "0", **env}
    command = line.replace("$TAUFORGE", '"$PYTHON" -m tauforge')  # whose path may have blanks in it
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("unbuffered", ["", "1"])  # an empty one is as none
def test_a_closed_or_full_stdout_is_told(unbuffered):
    closed = by_bash("$TAUFORGE robots >&-", PYTHONUNBUFFERED=unbuffered)
    assert (closed.returncode, closed.stderr) == (1, "error: stdout is closed, the result went nowhere\n")
    assert by_bash("$TAUFORGE robots >&- 2>&-", PYTHONUNBUFFERED=unbuffered).returncode == 1
    for what in ("robots", "robots --json", "--help", "--version"):
        full = by_bash(f"$TAUFORGE {what} >/dev/full", PYTHONUNBUFFERED=unbuffered)
        assert (full.returncode, full.stderr) == (1, "error: stdout: No space left on device\n")
    nobody = by_bash("$TAUFORGE show puma >/dev/full 2>/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert nobody.returncode == 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", ["--help", "--version", "robots", "robots --json", "complexity --papers"])
def test_a_pipe_that_is_closed_ends_the_command_quietly(arguments, unbuffered):
    """As the shell tells it of cat and grep: 128 + SIGPIPE."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tauforge", *arguments.split()],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "TAUFORGE_KERNELS": "0", "PYTHONUNBUFFERED": unbuffered},
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_headers_break_between_words_alone():
    narrow = shell("complexity", "planar-2r", env={"COLUMNS": "30"}).stdout.split("Traced")[0]
    assert all(word in narrow.split() for word in ("formulation", "planar-2r", "written", "general"))


def test_a_fault_of_ours_says_so(monkeypatch):
    def broken(*_):
        raise RuntimeError("loose screw")

    monkeypatch.setattr("tauforge.cli.show.headline", broken)
    text = error_of("show", "puma560", code=1)
    assert "RuntimeError: loose screw" in text
    assert "--debug" in text


def test_robots_complete_in_the_shell():
    environment = {"_TAUFORGE_COMPLETE": "complete_bash", "COMP_WORDS": "tauforge show pu", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", "from tauforge.cli.app import app; app(prog_name='tauforge')"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.stdout.split() == ["puma560", "puma560-armstrong"]


def test_options_complete():
    from tauforge.cli.options import complete_formulation, complete_platform
    from tauforge.cli.simulate import complete_controller, complete_method
    from tauforge_papers.commands import complete_paper

    assert complete_formulation("new") == ["newton-euler", "newton-euler-base"]
    assert complete_platform("p") == ["pedrammehr2012"]  # and neither of the arms
    assert complete_formulation("mass") == ["massless-legs"]
    assert complete_paper("das") == ["dasgupta1998"]
    assert complete_controller("g") == ["gravity-pd"]
    assert complete_method("") == ["rk4", "dormand-prince", "symplectic"]


def test_pipes_get_no_colours_and_lines_as_long_as_they_are():
    done = shell("robots", env={"TERM": "xterm-256color"})
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    forced = shell("robots", env={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert "\x1b[3" not in forced.stdout
    narrow = shell("show", "puma560", env={"COLUMNS": "30"})
    assert narrow.returncode == 0
    for number in ("0.4318", "-0.3638", "107.8", "1.5e-4"):
        assert number in narrow.stdout


def test_characters_that_a_terminal_lacks_are_escaped():
    """Latin-1 has no ellipsis, with which narrow tables are cut."""
    told = shell("show", "puma560", env={"COLUMNS": "30", "PYTHONIOENCODING": "latin-1"})
    assert (told.returncode, told.stderr) == (0, "")
    assert "\\u2026" in told.stdout
    failed = shell("show", "pum\u00e4", env={"PYTHONIOENCODING": "ascii"})
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("error: no robot named 'pum\\xe4' in the catalogue")


def test_a_reader_that_has_enough_is_no_error():
    line = f"'{sys.executable}' -m tauforge complexity --papers | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.split()[-1] in ("0", "141")


def test_errors_go_to_stderr_alone():
    done = shell("show", "puma")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no robot named 'puma' in the catalogue\n  Did you mean puma560?")


def test_ctrl_c_says_so_and_leaves_no_file(tmp_path):
    move = "joint-move:0,0,0,0,0,0:1,1,1,1,1,1:1000"
    command = [sys.executable, "-m", "tauforge", "simulate", "puma560", "--motion", move, "-o", "run.csv"]
    child = subprocess.Popen(
        with_usual_signals(command),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TAUFORGE_KERNELS": "0"},
    )
    try:
        assert child.stderr is not None
        assert "Coulomb" in child.stderr.readline()  # at work
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (child.returncode, out) == (130, "")
    assert err == "error: interrupted; no file is half written\n"
    assert list(tmp_path.iterdir()) == []


def test_reproduce_hands_over_and_says_where(monkeypatch, tmp_path):
    asked = []

    def reproduce(papers, out, progress):
        asked.append((papers, out))
        progress("angeles: computing")
        return out / "index.html"

    monkeypatch.setattr("tauforge_papers.reproduce.reproduce", reproduce)
    done = run("reproduce", "angeles", "--out", tmp_path)
    assert asked == [(["angeles"], tmp_path)]
    assert str(tmp_path / "index.html") in done.stdout
    assert "angeles: computing" in done.stderr
    found = parsed("reproduce", "--out", tmp_path)
    assert found == {"papers": asked[1][0], "report": str(tmp_path / "index.html")}
    assert len(found["papers"]) == 5


def test_bench_needs_a_checkout(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "CHECKOUT", tmp_path)
    assert "part of the repository" in error_of("bench", code=1)
    (tmp_path / "benchmarks").mkdir()
    script = tmp_path / "benchmarks" / "run.py"
    script.write_text("import sys; print('results/today.json'); sys.exit('--quick' in sys.argv)")
    assert parsed("bench") == {"results": "results/today.json"}
    assert "ended with exit code 1" in error_of("bench", "--quick", code=1)


def test_bench_of_a_robot_of_ones_own(tmp_path):
    tf.load("planar-2r").replace(name="mine").save(file := tmp_path / "mine.toml")
    found = parsed("bench", file, "--quick")
    assert found["robot"] == "mine"
    assert found["seconds"].keys() == set(tf.FORMULATIONS)
    assert all(0 < t["batch"] < 1 and t["states"] == 1024 for t in found["seconds"].values())
    assert "joint-frames" in run("bench", file, "--quick").stdout


def test_json_has_no_numbers_that_are_none():
    found = output.plain({"a": np.array([1.0, np.nan]), "b": (np.inf, Path("x"), True, None), 3: tf.Payload})
    assert found == {"a": [1.0, None], "b": [None, "x", True, None], "3": str(tf.Payload)}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1234.5678, "1235"), (0.00123456, "0.001235"), (3e-4, "3e-4"), (-2.5e7, "-2.5e7"), (100.0, "100"),
     (float("nan"), "-"), (float("-inf"), "-inf"), (0.5, "0.5")],
)  # fmt: skip
def test_numbers_for_people(value, text):
    assert output.number(value) == text


def test_terminals_get_colours_and_wrapped_errors(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    output.error("a message that is much too long for one line of forty", "a remedy")
    text = capsys.readouterr().err
    assert text.startswith("\x1b[1;31merror:\x1b[0m a message")
    assert all(len(line) <= 52 for line in text.splitlines())  # forty, and the codes
    assert text.endswith("\n  a remedy\n")
    monkeypatch.setenv("TERM", "dumb")
    output.error("plain")
    assert capsys.readouterr().err == "error: plain\n"


ROOT = Path(__file__).parents[2]


def test_the_page_names_every_unit_and_command():
    from tauforge.units import UNITS

    page = (ROOT / "docs" / "command-line.md").read_text()
    assert all(f"`{unit}`" in page for unit, (_, factor) in UNITS.items() if factor != 1)
    assert all(f"`{command}" in page for command in COMMANDS)
