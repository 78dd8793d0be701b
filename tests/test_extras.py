"""What messages tell to install: a command that works for the way in which this tauforge was installed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tauforge import extras

ROOT = Path(__file__).parents[1]
ALONE = {**os.environ, "TAUFORGE_KERNELS": "0"}
SPELLED = re.compile(r"pip install[^\n]*tauforge\[")  # from an index, in which the name may be a stranger's


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A function that installs a copy of `extras` as pip would, and returns its `how_to_install`."""

    def install(direct_url=None, metadata=True):
        site = tmp_path / "site"
        (site / "tauforge").mkdir(parents=True)
        copy = shutil.copy(extras.__file__, site / "tauforge")
        if metadata:
            info = site / "tauforge-0.1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tauforge\nVersion: 0.1.0\n")
            if direct_url is not None:
                (info / "direct_url.json").write_text(json.dumps(direct_url))
        elsewhere = [path for path in sys.path if not list(Path(path or ".").glob("*tauforge*"))]
        monkeypatch.setattr(sys, "path", [str(site), *elsewhere])
        spec = importlib.util.spec_from_file_location("copied_extras", copy)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.how_to_install

    return install


def test_a_source_tree_keeps_its_editable_installation(tmp_path, monkeypatch):
    """As in these tests, and with PYTHONPATH."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert extras.how_to_install("viewer") == f"Run pip install -e '.[viewer]' in {ROOT}"


def test_from_a_folder(installed, tmp_path):
    checkout = tmp_path / "my checkout"
    checkout.mkdir()
    told = installed({"url": checkout.as_uri(), "dir_info": {}})
    assert told("viewer") == f"Run pip install '.[viewer]' in {checkout}"


def test_the_home_folder_is_not_told(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "checkout").mkdir()
    told = installed({"url": (tmp_path / "checkout").as_uri(), "dir_info": {}})
    assert told("plots") == f"Run pip install '.[plots]' in {Path('~', 'checkout')}"


def test_from_a_folder_that_is_gone(installed, tmp_path):
    told = installed({"url": (tmp_path / "gone").as_uri(), "dir_info": {}})
    assert told("viewer") == "Run pip install '.[viewer]' in a checkout of tauforge"


def test_from_a_repository_or_an_archive(installed, tmp_path):
    url = "https://example.org/tauforge.git"
    told = installed({"url": url, "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": "c0ffee"}})
    assert told("viewer") == f"Run pip install 'tauforge[viewer] @ git+{url}@c0ffee'"
    shutil.rmtree(tmp_path / "site")
    told = installed({"url": "https://example.org/tauforge.whl", "archive_info": {}})
    assert told("viewer") == "Run pip install 'tauforge[viewer] @ https://example.org/tauforge.whl'"


def test_from_an_index(installed):
    assert installed()("viewer") == "Run pip install 'tauforge[viewer]'"


def test_a_copy_that_is_not_installed(installed):
    assert installed(metadata=False)("viewer") == "Run pip install '.[viewer]' in a checkout of tauforge"


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"url": 3}'])
def test_a_broken_record_counts_as_none(installed, tmp_path, broken):
    told = installed({})
    (tmp_path / "site" / "tauforge-0.1.0.dist-info" / "direct_url.json").write_text(broken)
    assert told("viewer") == "Run pip install '.[viewer]' in a checkout of tauforge"


def test_every_message_and_page_leaves_the_command_to_it():
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.py"), ROOT / "README.md"]
    assert len(files) > 300
    spelled = [path.name for path in files if SPELLED.search(path.read_text(encoding="utf-8"))]
    assert spelled == [Path(extras.__file__).name]


LIBRARIES = ("matplotlib", "plotly", "viser", "imageio", "trimesh", "zarr", "xarray", "dask", "distributed", "pymoo")
LIBRARIES += ("casadi", "sympy", "jax", "torch", "cupy")
WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({LIBRARIES}, None))  # an import of any of them fails
import numpy as np
import tauforge as tf
from tauforge import designs, sweeps, workspace
from tauforge_papers.reproduce import reproduce

arm, rig, rest = tf.load("planar-2r"), tf.load("motion-rig"), np.zeros(2)
run = tf.simulate(arm, tf.control.ComputedTorque(arm), tf.motion.JointMove(rest, rest + 0.1, 0.01))
tf.animate(arm, run, "page.html")
study = sweeps.ready_study("workspace", rig, [sweeps.Axis.from_text("x=-0.1:0.1:3")])
CALLS = {{
    "plot": lambda: tf.plot(arm, rest),
    "plot of a run": run.plot,
    "film": lambda: tf.animate(arm, run, "film.gif"),
    "map": workspace.map(rig, "condition", {{"x": (-0.1, 0.1, 2)}}).plot,
    "papers": lambda: reproduce(["turney1980"], "reports"),
    "view": lambda: tf.view(arm),
    "sweep": lambda: sweeps.run(study, "store.zarr"),
    "workers": lambda: sweeps.local_workers(2).__enter__(),
    "design": lambda: designs.pareto(rig, {{"base_radius": (0.3, 0.8)}}, ("condition", "force")),
    "casadi": lambda: tf.symbolic.casadi_function(arm, "mass_matrix"),
    "sympy": lambda: tf.symbolic.sympy_expressions(arm, "mass_matrix"),
}}
for name, call in CALLS.items():
    try:
        call()
    except tf.errors.TauforgeError as error:
        print(f"{{name}}: {{error.remedy}}")
"""
EXTRAS = dict.fromkeys(("plot", "plot of a run", "film", "map", "papers"), "plots") | {"view": "viewer"}
EXTRAS |= dict.fromkeys(("sweep", "workers"), "sweeps") | {"design": "design"}
EXTRAS |= dict.fromkeys(("casadi", "sympy"), "symbolic")


def test_whatever_needs_an_extra_says_which_and_the_rest_works_without(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, cwd=tmp_path, env=ALONE
    )
    told = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert told == {name: extras.how_to_install(extra) for name, extra in EXTRAS.items()}
