"""The robots that a report is about: pictures at the beginning of its page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from tauforge_papers.report.study import Study
from tauforge_papers.report.texts import anchor, escaped, short


@dataclass(frozen=True)
class Portrait:
    """A robot.

    name:    as in the catalogue
    words:   what the picture shows, for readers who cannot see it
    image:   an SVG file
    studies: names of the studies that compute with it
    """

    name: str
    words: str
    image: bytes
    studies: tuple[str, ...]


def portraits_html(portraits: Sequence[Portrait], studies: Sequence[Study]) -> str:
    """A list of pictures, each with links to its studies; nothing where there are none."""
    if not portraits:
        return ""
    items = "\n".join(_item(portrait, studies) for portrait in portraits)
    return f'<ul class="robots" aria-label="The robots of this report">\n{items}\n</ul>'


def _item(portrait: Portrait, studies: Sequence[Study]) -> str:
    image = base64.b64encode(portrait.image).decode()
    links = ", ".join(
        f'<a href="#{anchor(study.name)}">{escaped(short(study))}</a>'
        for study in studies
        if study.name in portrait.studies
    )
    return (
        f'<li><figure><img alt="{escaped(portrait.words)}" src="data:image/svg+xml;base64,{image}">'
        f"<figcaption><strong>{escaped(portrait.name)}</strong> {links}</figcaption></figure></li>"
    )
