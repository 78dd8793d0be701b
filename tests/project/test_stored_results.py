"""Results in benchmarks/results, and what the pages say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import generated_docs

ROOT = Path(__file__).parents[2]


def test_instructions_are_as_few_as_promised():
    """The same for a million states; a third of Pinocchio's, and fewer than those of CasADi's C with the same flags.

    Only where all angles are exactly 0 do glibc's sines cost CasADi's C less than any other state.
    """
    found = generated_docs.newest("instructions")["found"]
    ours, casadi = ({one["flags"]: one for one in found if one["code"] == code} for code in ("ours", "casadi"))
    assert ours.keys() == casadi.keys()
    (pinocchio,) = (one for one in found if one["code"] == "pinocchio")
    for flags, own in ours.items():
        assert own["always_the_same"]
        assert own["states"] >= 1_000_000
        assert own["least"] == own["most"]
        assert 3 * own["most"] < pinocchio["least"]
        others = casadi[flags]["mean_by_scale_of_angles"]
        assert all(own["most"] < mean for scale, mean in others.items() if float(scale) > 0)
    plain = ours["gcc -std=c99 -O2"]["most"]
    assert f"takes {plain} instructions" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3.46, "3.5 s"),
        (0.221, "0.22 s"),
        (0.0999, "100 ms"),
        (0.0186, "19 ms"),
        (1.07e-4, "0.11 ms"),
        (3.2e-5, "32 µs"),
    ],
)
def test_durations(seconds, text):
    assert generated_docs.duration(seconds) == text


def test_a_library_that_was_not_measured_has_an_empty_column(monkeypatch, tmp_path):
    report = {"date": "2026-01-01", "commit": "c", "cpu": "lake", "cores": 2, "versions": {"jax": "0.9"}}
    folder = tmp_path / "benchmarks" / "results" / "differentiable"
    folder.mkdir(parents=True)
    (folder / "day.json").write_text(json.dumps({**report, "seconds": {"jax": {"one state": 0.5}}}))
    monkeypatch.setattr(generated_docs, "ROOT", tmp_path)
    title, _, *table = generated_docs.differentiable_table().splitlines()
    assert title == "The PUMA on 2 cores of lake, 2026-01-01, commit c; JAX 0.9:"
    assert table == ["|  | JAX | torch |", "| --- | --- | --- |", "| one state | 0.5 s |  |"]
