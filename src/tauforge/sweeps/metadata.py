"""Reads a store's metadata as JSON, without Zarr, and says whether all of it is as it was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tauforge.sweeps.description import DIGEST, consolidated, metadata_digest

FILE = "zarr.json"
LARGEST = 100_000_000  # bytes


def root_metadata(path: Path) -> dict[str, Any]:
    """The metadata of the group at a path; {} where there is none, or none that JSON can read."""
    return _read(path / FILE)


def damaged_metadata(path: Path) -> list[str]:
    """Names of the metadata files that are not as they were written: "" for the group's own, "x" for that of x."""
    root = root_metadata(path)
    members = consolidated(root)
    found = [] if root and root.get("attributes", {}).get(DIGEST) == metadata_digest(root) else [""]
    return found + [name for name, entry in members.items() if not _same(_read(path / name / FILE), entry)]


def _same(own: dict[str, Any], repeated: dict[str, Any]) -> bool:
    """Groups have a place for repeated metadata, which is empty where it is repeated itself."""

    def plain(entry: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in entry.items() if key != "consolidated_metadata"}

    return plain(own) == plain(repeated)


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes()) if file.stat().st_size < LARGEST else None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
