"""What both pages of a report share: the head, the style, and what the report says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from string import Template

from tauforge_papers.report.texts import escaped


@dataclass(frozen=True)
class Front:
    """What a report says about itself; blank lines part paragraphs.

    title:   its heading
    made_by: the command that writes such reports, "tauforge reproduce"
    sources: what was at hand
    origin:  where the numbers come from
    """

    title: str
    made_by: str
    sources: str
    origin: str

    @property
    def mark(self) -> str:
        """An element near the beginning of the page by which its own command recognises it."""
        return f'<meta name="generator" content="{escaped(self.made_by)}">'


def framed(front: Front, title: str, body: str, scripts: str = "") -> str:
    """A whole page. title: of the window; body: from the heading on, with an element called "main"."""
    return Template(page_file("page.html")).substitute(
        generator=front.mark, title=escaped(title), style=page_file("page.css"), body=body, scripts=scripts
    )


def made() -> str:
    """The line below the heading."""
    when = datetime.now().astimezone().strftime("%d %B %Y, %H:%M %Z").lstrip("0")
    return f'<p class="made">Made by tauforge on {when}</p>'


def page_file(name: str) -> str:
    """A file beside this one."""
    return (files("tauforge_papers.report") / name).read_text(encoding="utf-8")
