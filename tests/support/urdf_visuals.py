"""URDF robots that look like something: random trees of simple bodies, and an arm with meshes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

BODY = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LIMIT = '<limit lower="-2" upper="2" effort="50" velocity="3"/>'


def numbers(values: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in values)


def origin(draw: np.random.Generator) -> str:
    return f'<origin xyz="{numbers(draw.uniform(-1, 1, 3))}" rpy="{numbers(draw.uniform(-3, 3, 3))}"/>'


def shape(draw: np.random.Generator) -> str:
    a, b, c = draw.uniform(0.01, 0.3, 3)
    return str(
        draw.choice([f'<box size="{a} {b} {c}"/>', f'<cylinder radius="{a}" length="{b}"/>', f'<sphere radius="{a}"/>'])
    )


def link(name: str, draw: np.random.Generator) -> str:
    visuals = "".join(
        f"<visual>{origin(draw)}<geometry>{shape(draw)}</geometry></visual>" for _ in range(draw.integers(0, 4))
    )
    return f'<link name="{name}">{BODY}{visuals}</link>'


def joint(kind: str, name: str, parent: str, draw: np.random.Generator) -> str:
    """The joint that holds the link of its name."""
    axis = "" if kind == "fixed" else f'<axis xyz="{numbers(draw.normal(size=3))}"/>{LIMIT}'
    ends = f'<parent link="{parent}"/><child link="{name}"/>'
    return f'<joint name="to {name}" type="{kind}">{ends}{origin(draw)}{axis}</joint>'


def random_tree(seed: int) -> tuple[str, dict[str, float]]:
    """A chain of moving joints with fixed links in it and beside it, a joint to lock; and what it is locked at."""
    draw = np.random.default_rng(seed)
    parts, last, names = [link("base", draw)], "base", ["base"]
    for k in range(draw.integers(1, 6)):
        moving = str(draw.choice(["revolute", "continuous", "prismatic"]))
        for kind, name in [("fixed", f"plate {k}")] * bool(draw.integers(2)) + [(moving, f"link {k}")]:
            parts += [link(name, draw), joint(kind, name, last, draw)]
            last = name
            names.append(name)
    for k in range(draw.integers(1, 5)):
        parent = names[draw.integers(len(names))]
        parts += [link(f"part {k}", draw), joint("fixed", f"part {k}", parent, draw)]
        names.append(f"part {k}")
    parts += [link("finger", draw), joint("prismatic", "finger", names[draw.integers(len(names))], draw)]
    parts += [link("nail", draw), joint("fixed", "nail", "finger", draw)]
    return f'<robot name="random">{"".join(parts)}</robot>', {"to finger": float(draw.uniform(-1, 1))}


ARM = f"""<robot name="meshed">
  <material name="orange"><color rgba="1 0.5 0 1"/></material>
  <link name="base">
    <visual><origin xyz="0 0 0.05"/><geometry><cylinder radius="0.1" length="0.1"/></geometry></visual>
  </link>
  <link name="upper">{BODY}
    <visual><origin xyz="0 0 0.2"/><geometry><mesh filename="meshes/link.stl" scale="0.001 0.001 0.001"/></geometry>
      <material name="orange"/></visual>
  </link>
  <link name="fore">{BODY}
    <visual><origin xyz="0 0 0.15"/><geometry><box size="0.06 0.08 0.3"/></geometry>
      <material name=""><color rgba="0.2 0.4 0.8 0.5"/></material></visual>
    <visual><origin xyz="0 0 0.32"/><geometry><sphere radius="0.05"/></geometry></visual>
  </link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.1"/>
    <axis xyz="0 1 0"/>{LIMIT}</joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4"/>
    <axis xyz="0 1 0"/>{LIMIT}</joint>
</robot>
"""


def meshed_arm(folder: Path) -> Path:
    """An arm whose upper link is an STL file in mm, made here; the path of its URDF."""
    import trimesh

    (folder / "meshes").mkdir(exist_ok=True)
    bar = trimesh.creation.box(extents=(80.0, 100.0, 400.0))
    bar.export(folder / "meshes" / "link.stl")
    path = folder / "meshed.urdf"
    path.write_text(ARM, encoding="utf-8")
    return path
