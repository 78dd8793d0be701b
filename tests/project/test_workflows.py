"""The workflows for GitHub: they can be read, and call what is there. Nothing of them runs in these tests."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]


def commands(job):
    return " ".join(step["run"] for step in JOBS[job]["steps"] if "run" in step)


def test_a_clean_clone_is_tried_on_both_processors():
    assert JOBS["clean-clone"]["strategy"]["matrix"]["runner"] == ["ubuntu-24.04", "ubuntu-24.04-arm"]
    assert commands("clean-clone").endswith(".ci/run")
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_the_suite_is_tried_on_every_python_and_system_that_is_named():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    versions = [text.rpartition(" ")[2] for text in classifiers if re.fullmatch(r"Programming .* 3\.\d+", text)]
    tried = JOBS["suite"]["strategy"]["matrix"]
    assert tried["python"] == versions
    assert [runner.partition("-")[0] for runner in tried["runner"]] == ["ubuntu", "macos", "windows"]


def test_the_files_of_tests_exist():
    named = re.findall(r"tests/\S+", " ".join(map(commands, JOBS)))
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]
    assert all(step["uses"].count("@") == 1 for job in JOBS.values() for step in job["steps"] if "uses" in step)
