"""Directives for pictures that are drawn when the site is built.

robot-catalogue: every robot of the catalogue with its picture
robot-schematic: the frames of one robot, named as the argument; with the option `position` not at its pictured position
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import tauforge as tf
from tauforge.cli.output import headline
from tauforge.pictures.plot import save_picture
from tauforge.robots.robot import Robot

FOLDER = "robots"  # beside the pages; git ignores it


class RobotCatalogue(SphinxDirective):
    """Takes nothing; gives a section for each robot."""

    def run(self) -> list[nodes.Node]:
        return [self._section(name) for name in tf.catalogue()]

    def _section(self, name: str) -> nodes.Node:
        robot = tf.load(name)
        section = nodes.section(ids=[name])
        section += nodes.title("", name)
        section += nodes.paragraph("", headline(robot.summary()))
        uri = _drawn(Path(self.env.srcdir), robot, f"{name}.png")
        section += nodes.image(uri=uri, alt=f"{name} in space", width="420px")
        return section


class RobotSchematic(SphinxDirective):
    """Takes the name of a robot of the catalogue; its content is the caption."""

    required_arguments = 1
    option_spec: ClassVar[Any] = {"position": directives.unchanged, "alt": directives.unchanged_required}
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        given = self.options.get("position")
        position = None if given is None else [float(number) for number in given.split()]
        source = Path(self.env.srcdir)
        uri = _drawn(source, tf.load(name), f"{name}-frames.svg", position=position, schematic=True)
        figure = nodes.figure()
        figure += nodes.image(uri=uri, alt=self.options["alt"], width="520px")
        figure += nodes.caption("", "", *self.parse_inline(" ".join(self.content))[0])
        return [figure]


def _drawn(source: Path, robot: Robot, name: str, **options: Any) -> str:
    """The address of a picture, which is drawn where it does not exist yet. source: the folder of the pages."""
    path = source / FOLDER / name
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        save_picture(robot, path, **options)
    return f"/{FOLDER}/{name}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("robot-catalogue", RobotCatalogue)
    app.add_directive("robot-schematic", RobotSchematic)
    return {"parallel_read_safe": True}
