"""The <include> elements of MJCF, replaced by what the named files hold."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from tauforge.errors import ModelError
from tauforge.formats.file_names import file_beside
from tauforge.formats.xml_lines import MAX_XML_DEPTH, MAX_XML_ELEMENTS, Element, read_xml, shown

MAX_FILES = 64
INCLUDE_REMEDY = "Keep included files in the folder of the model or below it"


def with_includes(root: Element) -> Element:
    """The root with the children of included files in place of each <include>.

    Names are relative to the first file, as in MuJoCo; no file is included twice, and none outside its folder.
    """
    return _Including(root).spliced(root, 1)


class _Including:
    def __init__(self, root: Element) -> None:
        self.model = root.file
        # realpath, for Path.resolve raises RuntimeError for a link to itself
        self.met = {os.path.realpath(root.file)} if isinstance(root.file, Path) else set[str]()
        self.elements = 0

    def spliced(self, element: Element, depth: int) -> Element:
        self.elements += 1
        if self.elements > MAX_XML_ELEMENTS:
            raise element.fault(f"the files have more than {MAX_XML_ELEMENTS} elements together")
        if depth > MAX_XML_DEPTH:
            raise element.fault(f"elements are nested more than {MAX_XML_DEPTH} deep")
        found: list[Element] = []
        for child in element.children:
            if child.tag == "include":
                found += self.spliced(self._included(child), depth).children
            else:
                found.append(self.spliced(child, depth + 1))
        return replace(element, children=found)

    def _included(self, include: Element) -> Element:
        name = include.text("file")
        if include.children:
            raise include.children[0].fault("an include has no elements inside")
        if not isinstance(self.model, Path):
            raise include.fault(f"a text has no folder in which {shown(name)} could be", field="include file")
        try:
            path = file_beside(self.model, name)
        except ModelError as error:
            raise include.fault(error.problem, field="include file", remedy=INCLUDE_REMEDY) from None
        file = os.path.realpath(path)
        if file in self.met:
            raise include.fault(f"{shown(name)} is included a second time", field="include file")
        self.met.add(file)
        if len(self.met) > MAX_FILES:
            raise include.fault(f"more than {MAX_FILES} files are included", field="include file")
        return read_xml(path)
