"""The directive `robot-catalogue`: every robot of the catalogue with its picture, drawn when the site is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import tauforge as tf
from tauforge.cli.describing import headline
from tauforge.pictures.plot import save_picture

FOLDER = "robots"  # beside the pages; git ignores it


class RobotCatalogue(SphinxDirective):
    """Takes nothing; gives a section for each robot."""

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.srcdir) / FOLDER
        folder.mkdir(exist_ok=True)
        return [self._section(name, folder) for name in tf.catalogue()]

    def _section(self, name: str, folder: Path) -> nodes.Node:
        robot = tf.load(name)
        path = folder / f"{name}.png"
        if not path.exists():
            save_picture(robot, path)
        section = nodes.section(ids=[name])
        section += nodes.title("", name)
        section += nodes.paragraph("", headline(robot))
        section += nodes.image(uri=f"/{FOLDER}/{name}.png", alt=f"{name} in space", width="420px")
        return section


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("robot-catalogue", RobotCatalogue)
    return {"parallel_read_safe": True}
