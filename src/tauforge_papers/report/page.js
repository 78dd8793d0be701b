"use strict";
// Figures are drawn by plotly as they come near the window, the rest when there is nothing else to do; until then, and
// on paper, their images stand there. Colours of axes and text follow the page's scheme.
(() => {
  const coarse = matchMedia("(pointer: coarse)").matches; // a finger scrolls the page and must not zoom the figure
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
  if (coarse) config.displayModeBar = false; // without a pointer that hovers it would stay over the curves
  const figures = [...document.querySelectorAll(".figure")];
  const waiting = new Set(figures);

  function theme() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const look = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" };
    look["font.color"] = colour("--ink");
    look["font.family"] = colour("--text");
    look["font.size"] = 13;
    look["hoverlabel.bgcolor"] = colour("--raised");
    look["hoverlabel.bordercolor"] = colour("--rule");
    for (const axis of ["xaxis", "yaxis"]) {
      look[axis + ".gridcolor"] = colour("--grid");
      look[axis + ".linecolor"] = colour("--soft");
      look[axis + ".tickcolor"] = colour("--soft");
    }
    return look;
  }

  function put(layout, look) {
    for (const [path, value] of Object.entries(look)) {
      const keys = path.split(".");
      const last = keys.pop();
      keys.reduce((at, key) => (at[key] ??= {}), layout)[last] = value;
    }
    return layout;
  }

  // plotly is 5 MB of text and a third of that compressed.
  async function unpacked() {
    const bytes = Uint8Array.from(atob(document.getElementById("plotly").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }
  let library;

  async function draw(figure) {
    if (!waiting.delete(figure)) return;
    await (library ??= unpacked());
    const panels = JSON.parse(figure.querySelector(".figure-data").textContent);
    const plots = [...figure.querySelectorAll(".plot")];
    figure.querySelector(".drawing").hidden = false;
    figure.querySelector(".static").hidden = true;
    const look = theme();
    for (const [k, { data, layout }] of panels.entries()) {
      await Plotly.newPlot(plots[k], data, put({ ...layout, dragmode: coarse ? false : "zoom" }, look), config);
    }
    for (const button of figure.querySelectorAll(".legend button")) {
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        for (const [panel, trace] of JSON.parse(button.dataset.traces)) {
          Plotly.restyle(plots[panel], { visible: shown }, [trace]);
        }
      });
    }
    figure.dataset.drawn = "true";
  }

  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "600px 0px" },
  );
  figures.forEach((figure) => near.observe(figure));

  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  async function drawTheRest() {
    const next = waiting.values().next().value;
    if (next === undefined) return;
    await draw(next);
    idle(drawTheRest);
  }
  idle(drawTheRest);

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    const look = theme();
    document.querySelectorAll(".plot.js-plotly-plot").forEach((plot) => Plotly.relayout(plot, look));
  });

  // The contents show what is inside the paper that is being read.
  const reading = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        const entry = document.querySelector(`nav details[data-of="${target.id}"]`);
        if (entry) entry.open = isIntersecting;
      }
    },
    { rootMargin: "-45% 0px -45% 0px" },
  );
  document.querySelectorAll(".study").forEach((study) => reading.observe(study));

  if (matchMedia("(max-width: 62rem)").matches) document.querySelector("nav details").open = false;
})();
