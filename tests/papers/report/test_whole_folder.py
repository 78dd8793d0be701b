"""A report's folder: at every moment it is whole, old or new, with the user's own files; only ours are replaced."""

from __future__ import annotations

import errno
import itertools
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from conftest import SOAK
from support.usual_signals import with_usual_signals
from tauforge.errors import ModelError
from tauforge_papers.report import whole_folder as module
from tauforge_papers.report.files import files_of
from tauforge_papers.report.whole_folder import whole_folder

BESIDE = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([*map(str, Path(__file__).parents[:3]), os.environ.get("PYTHONPATH", "")]),
}  # for processes that import this file
MARK = "<!-- a report -->"
OURS = {
    "old": {"index.html": f'{MARK}<a href="data/both.csv"><a href="data/old.csv">', "data/both.csv": "old"}
    | {"data/old.csv": "old"},
    "new": {"index.html": f'{MARK}<a href="data/both.csv"><a href="figures/new.svg">', "data/both.csv": "new"}
    | {"figures/new.svg": "new"},
}
THEIRS = {"notes.txt": "mine", "data/measured.csv": "mine", "data/deep/er/thesis.txt": "years of work"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def replace(target: Path, version: str = "new") -> None:
    with whole_folder(target, mark=("index.html", MARK), own=files_of) as folder:
        (folder / "data").mkdir()
        (folder / "figures").mkdir()
        write(folder, OURS[version])


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return earlier(tmp_path / "report")


def earlier(target: Path) -> Path:
    """An earlier report, with files of the user's in it."""
    replace(target, "old")
    write(target, THEIRS)
    return target


def is_whole(target: Path) -> bool:
    """Where it is, or aside, from where the next report puts it back."""
    found = texts(target if target.exists() else next(target.parent.glob(f".{target.name}.*.old")))
    assert {name: found.pop(name, None) for name in THEIRS} == THEIRS
    return found in OURS.values()


def test_only_what_we_wrote_is_replaced(report: Path) -> None:
    (report / "data" / "empty").mkdir()
    (report / "link").symlink_to("nowhere")
    (report / "data" / "measured.csv").chmod(0o640)
    (report / "data" / "deep").chmod(0o750)
    report.chmod(0o711)
    before = {name: (report / name).stat() for name in (*THEIRS, "data/deep")}
    replace(report)
    assert texts(report) == OURS["new"] | THEIRS
    assert (report / "data" / "empty").is_dir()
    assert os.readlink(report / "link") == "nowhere"
    for name, status in before.items():
        after = (report / name).stat()
        assert (after.st_mode, after.st_mtime_ns) == (status.st_mode, status.st_mtime_ns)
        assert name == "data/deep" or after.st_ino == status.st_ino
    assert report.stat().st_mode & 0o777 == 0o711
    assert os.listdir(report.parent) == ["report"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    replace(tmp_path)
    assert texts(tmp_path) == OURS["new"]


def test_a_mount_point_is_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as the volume of a container: its folder cannot be renamed."""
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path)
    began = False
    with pytest.raises(ModelError, match=r"is a mount point, which cannot be replaced\. Name a folder inside it"):  # noqa: SIM117
        with whole_folder(tmp_path, mark=("index.html", MARK), own=files_of):
            began = True
    assert not began


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "Make room, or name a folder on another disk"), (errno.EACCES, "Name a folder that you may")],
)
def test_the_remedy_fits_the_refusal(number: int, remedy: str) -> None:
    assert remedy in str(module.not_writable(Path("report"), OSError(number, os.strerror(number))))


def test_a_folder_beside_which_nothing_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(ModelError) as caught:
        replace(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path.parent}: the folder cannot be written: Permission denied")
    assert "The new report is made beside the old one" in str(caught.value)


def test_files_are_copied_where_there_are_no_links(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)
    replace(report)
    assert texts(report) == OURS["new"] | THEIRS
    assert os.listdir(report.parent) == ["report"]


@pytest.mark.parametrize("name", ["figures/new.svg", "figures/new.svg/inside.txt"])
def test_a_name_that_the_user_has_taken_is_refused(report: Path, name: str) -> None:
    write(report, {name: "mine"})
    before = texts(report)
    taken = r"report: the folder holds figures/new\.svg, which no earlier report wrote .*\. Move it away, or name a new"
    with pytest.raises(ModelError, match=taken):
        replace(report)
    assert texts(report) == before
    assert os.listdir(report.parent) == ["report"]


def test_a_rename_that_fails_leaves_the_old_report(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = os.rename

    def refused(source: Path, target: Path) -> None:
        if source.suffix == ".tmp":
            raise OSError(errno.EACCES, "Permission denied")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refused)
    with pytest.raises(ModelError, match="report: the folder cannot be written: Permission denied"):
        replace(report)
    assert texts(report) == OURS["old"] | THEIRS
    assert os.listdir(report.parent) == ["report"]


# --- interrupted at every line ------------------------------------------------------------------------------------


class AtLine:
    """Does something before the nth line of the module that runs."""

    def __init__(self, nth: int, act: Callable[[], None]) -> None:
        self.left, self.act, self.done = nth, act, False

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != module.__file__:
            return None
        if event == "line" and not self.done:
            self.left -= 1
            if self.left < 0:
                self.done = True
                self.act()
        return self


def interrupt() -> None:
    raise KeyboardInterrupt


def interrupted(target: Path, nth: int) -> bool:
    """Whether replacing came to so many lines."""
    at = AtLine(nth, interrupt)
    before = sys.gettrace()
    sys.settrace(at)
    try:
        replace(target)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return at.done


def reports(folder: Path) -> Iterator[tuple[int, Path]]:
    for nth in itertools.count():
        (folder / str(nth)).mkdir()
        yield nth, earlier(folder / str(nth) / "report")


def test_an_interrupt_at_any_line(tmp_path: Path) -> None:
    found = set()
    for nth, target in reports(tmp_path):
        came = interrupted(target, nth)
        assert is_whole(target), nth
        found.add((target / "data" / "both.csv").read_text())
        replace(target)
        assert texts(target) == OURS["new"] | THEIRS, nth
        if not came:
            break
    assert found == {"old", "new"}
    assert nth > 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")
def test_a_kill_at_any_line(tmp_path: Path) -> None:
    code = f"from test_whole_folder import *; killed_at_every_line(Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, env=BESIDE)  # which has no threads, and may fork


def killed_at_every_line(folder: Path) -> None:
    """Nothing is tidied up, but the name leads to a whole report, or the next process puts the old one back."""
    gaps = 0
    for nth, target in reports(folder):
        process = os.fork()
        if not process:
            sys.settrace(AtLine(nth, lambda: os._exit(9)))
            replace(target)
            os._exit(0)
        came = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9
        gaps += not target.exists()
        assert is_whole(target), nth
        replace(target)
        assert texts(target) == OURS["new"] | THEIRS, nth
        if not came:
            break
    assert nth > 50
    assert gaps > 0


def test_an_old_report_that_a_kill_left_aside_is_put_back(report: Path) -> None:
    report.rename(report.with_name(".report.0123456789ab.old"))
    (report.parent / ".report.mine.old").write_text("no report")
    replace(report)
    assert texts(report) == OURS["new"] | THEIRS
    assert sorted(os.listdir(report.parent)) == [".report.mine.old", "report"]


def test_an_old_report_behind_a_link_is_put_back(report: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "latest"
    link.parent.mkdir()
    link.symlink_to(report)
    report.rename(report.with_name(".report.0123456789ab.old"))
    replace(link)
    assert link.is_symlink()
    assert texts(report) == OURS["new"] | THEIRS


# --- in the world -------------------------------------------------------------------------------------------------


def test_a_kill_at_any_time(tmp_path: Path) -> None:
    target = earlier(tmp_path / "report")
    code = f"""
        import itertools, sys
        from pathlib import Path
        import test_whole_folder as tests
        print("ready", flush=True)
        for version in itertools.cycle(["new", "old"]):
            tests.replace(Path({str(target)!r}), version)
    """
    rng = random.Random(7)
    for _ in range(8 * SOAK):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, env=BESIDE
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0, 0.1))
        child.kill()
        child.wait()
        child.stdout.close()
        assert is_whole(target)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_papers_are_computed(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, number: int
) -> None:
    """The command removes its temporary folder and leaves the old report."""
    pytest.importorskip("matplotlib")
    # Matplotlib tells users without a home where it keeps its settings instead
    environment = {**BESIDE, "MPLCONFIGDIR": str(tmp_path_factory.mktemp("matplotlib"))}
    target = tmp_path / "report"
    (tmp_path / "program.py").write_text(
        textwrap.dedent(f"""
            import sys, time
            from tauforge.__main__ import main
            from tauforge_papers import registry
            from tauforge_papers import reproduce
            from support.made_up_studies import study
            def run(name, progress):
                if len(sys.argv) > 1:
                    print("ready", flush=True)
                    time.sleep(60)
                return study(name)
            reproduce.run = run
            registry.STUDIES = {{"turney1980": ""}}
            if len(sys.argv) == 1:
                reproduce.reproduce(None, {str(target)!r})
            else:
                main()
        """)
    )
    subprocess.run([sys.executable, tmp_path / "program.py"], check=True, env=environment)
    before = {path: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    child = subprocess.Popen(
        with_usual_signals([sys.executable, tmp_path / "program.py", "reproduce", "--out", target]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    assert len(os.listdir(tmp_path)) == 3
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (128 + number, "")
    assert err == "turney1980: computing\nerror: interrupted; no file is half written\n"
    assert {path: path.read_bytes() for path in target.rglob("*") if path.is_file()} == before
    assert sorted(os.listdir(tmp_path)) == ["program.py", "report"]
