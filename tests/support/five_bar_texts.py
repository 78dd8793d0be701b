"""A five-bar as a URDF of two open arms, and the TOML file that closes its loop on top of it."""

from __future__ import annotations

from pathlib import Path

LINK = '<link name="{0}"><inertial><origin xyz="0 0.15 0"/><mass value="1.3"/><inertia ixx="0.01" ixy="0.001" ixz="0" '
LINK += 'iyy="0.02" iyz="0.002" izz="0.015"/></inertial></link>'
TURN = (
    '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="{4}"/><axis xyz="0 0 1"/></joint>'
)
BARS = (("a1", "base", "0 0 0"), ("a2", "a1", "0 0.3 0"), ("b1", "base", "0.2 0 0"), ("b2", "b1", "0 0.3 0"))
FIVE_BAR = "<robot name='five bar'><link name='base'/>"
for _name, _parent, _at in BARS:
    FIVE_BAR += LINK.format(_name) + TURN.format(f"j{_name}", "continuous", _parent, _name, _at)
FIVE_BAR += '<link name="flange"/>' + TURN.format("bolt", "fixed", "a2", "flange", "0 0.3 0") + "</robot>"
ON_URDF = """
format = "tauforge-mechanism-1"
urdf = "five.urdf"
gravity = [0.0, -9.81, 0.0]
actuated = ["ja1", "jb1"]
tool = "a2"
[start]
ja1 = 0.5
ja2 = -1.0
jb1 = -0.5
jb2 = 1.0
[[joint]]
name = "end"
kind = "hinge"
parent = "a2"
child = "b2"
at = [0.0, 0.6, 0.0]
child_at = [0.2, 0.6, 0.0]
[[source]]
fields = ["end"]
source = "drawing 12"
"""


def written(folder: Path, text: str = ON_URDF) -> Path:
    """five.urdf and five.toml in the folder; the path of the latter."""
    (folder / "five.urdf").write_text(FIVE_BAR)
    (folder / "five.toml").write_text(text)
    return folder / "five.toml"
