"""A figure of a study in HTML: drawn by plotly on the screen, an image in print and without scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tauforge.charts.figure import (
    Figure,
    Line,
    aspect,
    colours,
    description,
    has_one_legend,
    key,
    legend_lines,
    panel_description,
)
from tauforge_papers.report.files import DATA, FIGURES, panel_stems, stem
from tauforge_papers.report.study import Study
from tauforge_papers.report.texts import escaped
from tauforge_papers.report.with_plotly import panels


def figure_html(study: Study, figure: Figure) -> str:
    """Its image is a file beside the page."""
    name = stem(study, figure)
    words = escaped(description(figure))
    everywhere = range(len(figure.panels))
    shared = has_one_legend(figure)
    legend = _legend(figure, everywhere) if shared else ""
    drawn = "\n".join(_panel(figure, k, with_legend=not shared) for k in everywhere)
    data = json.dumps(panels(figure), separators=(",", ":")).replace("<", "\\u003c")
    return f"""<figure class="figure" id="{name}" aria-labelledby="{name}-title">
<h4 id="{name}-title">{escaped(figure.title)}</h4>
<img class="static" alt="{words}" src="{FIGURES}/{name}.svg">
<div class="drawing" hidden>
{legend}
<div class="panels" style="--columns: {min(figure.columns, len(figure.panels))}">
{drawn}
</div>
</div>
<script type="application/json" class="figure-data">{data}</script>
<figcaption>
<p class="caption">{escaped(figure.caption)}</p>
<p class="files">{_links(study, figure)}</p>
</figcaption>
</figure>"""


def _panel(figure: Figure, k: int, *, with_legend: bool) -> str:
    panel = figure.panels[k]
    legend = _legend(figure, [k]) if with_legend else ""
    words = escaped(f"{panel.title or figure.title}: {panel_description(panel)}")
    kind = f'plot sketch" style="--aspect: {aspect(panel):.3f}' if panel.sketch else "plot"
    # Three parts in every panel, if empty: the page lines them up with those of the panels beside it.
    head = f'<p class="panel-title">{escaped(panel.title)}</p><div>{legend}</div>'
    return f'<div class="panel">{head}<div class="{kind}" role="img" aria-label="{words}"></div></div>'


def _legend(figure: Figure, where: Sequence[int]) -> str:
    """Buttons that show and hide their lines in these panels."""
    colour = {one: shade for k in where for one, shade in colours(figure)[k].items()}
    buttons = [
        f'<button type="button" aria-pressed="true" data-traces="{_traces(figure, where, line)}">'
        f'<span class="swatch {line.style}" style="--colour: {colour[key(line)]}"></span>{escaped(line.label)}</button>'
        for line in legend_lines(figure, where)
    ]
    return f'<div class="legend" role="group" aria-label="Lines to show">{"".join(buttons)}</div>' if buttons else ""


def _traces(figure: Figure, where: Sequence[int], wanted: Line) -> str:
    """ChartPanel and place in it of the lines with the same key, as JSON."""
    return json.dumps(
        [[k, i] for k in where for i, line in enumerate(figure.panels[k].lines) if key(line) == key(wanted)]
    )


def _links(study: Study, figure: Figure) -> str:
    """The files beside the page."""
    name, data = stem(study, figure), panel_stems(study, figure)
    texts = [panel.title or f"panel {k}" for k, panel in enumerate(figure.panels, 1)] if len(data) > 1 else ["CSV"]
    links = ", ".join(f'<a href="{DATA}/{one}.csv">{escaped(text)}</a>' for one, text in zip(data, texts, strict=True))
    images = ", ".join(f'<a href="{FIGURES}/{name}.{end}">{end.upper()}</a>' for end in ("png", "svg"))
    return f"Image: {images}. Data{' as CSV' if len(data) > 1 else ''}: {links}"
