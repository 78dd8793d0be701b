"""Formulas as MathML, which browsers draw by themselves: the pages need no script and no network."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as xml
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

ENTITY = re.compile(r"&(?!lt;|gt;|amp;)[A-Za-z]+;")  # of HTML, which XML does not know
NAMESPACE = "http://www.w3.org/1998/Math/MathML"


def converted(tex: str, *, as_block: bool = False) -> str:
    """MathML of a formula, indices of accented letters beside them: docutils puts them below, as if under a sum."""
    xml.register_namespace("", NAMESPACE)
    text = ENTITY.sub(lambda match: html.unescape(match[0]), tex2mathml(tex, as_block=as_block))
    tree = xml.fromstring(text)
    _put_right(tree)
    return xml.tostring(tree, encoding="unicode")


def _put_right(node: xml.Element) -> None:
    for child in node:
        _put_right(child)
    if _tag(node) == "munderover" and node[2].get("stretchy") == "false":
        base, index, accent = node
        letter = xml.Element(f"{{{NAMESPACE}}}mover", {"accent": "true"})
        letter.extend([base, accent])
        node.tag = f"{{{NAMESPACE}}}msub"
        node[:] = [letter, index]
    elif _tag(node) == "msup" and _tag(node[0]) == "msub":
        node.tag = f"{{{NAMESPACE}}}msubsup"
        node[:] = [*node[0], node[1]]


def _tag(node: xml.Element) -> str:
    return node.tag.rpartition("}")[2]


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(converted(node.astext()))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(converted(node.astext(), as_block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
