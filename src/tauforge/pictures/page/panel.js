// The list of actuators with their forces, and a chart for each unit.
function element(name, className, parent, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  parent.append(made);
  return made;
}

const LIMITED =
  "Marks on a bar are the limits. Arrows are green up to 80\u00a0% of the limit, amber up to it and red beyond.";
const UNLIMITED = "Arrows have the colours of this list. The longest is the largest force of the run.";

class Panel {
  constructor(scrubTo) {
    this.rows = data.actuators.map((actuator) => this.row(actuator));
    const units = [...new Set(data.actuators.map((actuator) => actuator.unit))];
    this.charts = units.map((unit) => this.chart(unit, scrubTo));
    const limited = data.actuators.some((actuator) => actuator.limit !== null);
    if (!data.actuators.length) {
      document.querySelector(".panel").remove();
      document.querySelector("main").classList.add("alone");
    }
    if (data.actions.length) document.getElementById("key").textContent = limited ? LIMITED : UNLIMITED;
    this.colours();
  }

  row(actuator) {
    const row = element("li", "actuator", document.getElementById("actuators"));
    const swatch = element("span", "swatch", row);
    element("span", "name", row, actuator.name);
    const value = element("span", "value", row);
    const number = element("span", "number", value);
    element("span", "unit", value, ` ${actuator.unit}`);
    const bar = element("div", "bar", row);
    const full = (actuator.limit === null ? actuator.scale : Math.max(actuator.limit, actuator.largest)) || 1;
    const fill = element("i", "fill", bar);
    element("i", "zero", bar);
    if (actuator.limit !== null) {
      row.title = `Limit ${actuator.limit} ${actuator.unit}`;
      for (const sign of [-1, 1]) {
        const place = 50 + (sign * 50 * actuator.limit) / full;
        element("i", "mark", bar).style.left = `clamp(1px, ${place}%, calc(100% - 1px))`;
      }
    }
    return { actuator, row, swatch, number, fill, full };
  }

  chart(unit, scrubTo) {
    const own = data.actuators.map((_, k) => k).filter((k) => data.actuators[k].unit === unit);
    const figure = element("figure", "", document.getElementById("charts"));
    const quantity = unit === "N" ? "Force" : "Torque";
    element("figcaption", "", figure, `${quantity} (${unit}) over time (s)`);
    const canvas = element("canvas", "chart", figure);
    canvas.setAttribute("role", "img");
    const names = own.map((k) => data.actuators[k].name).join(", ");
    canvas.setAttribute("aria-label", `${quantity} in ${unit} over time of ${names}`);
    const chart = new Chart(canvas, own);
    const scrub = (event) => scrubTo(chart.frameAt(event.clientX - canvas.getBoundingClientRect().left));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      scrub(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons && scrub(event));
    return chart;
  }

  colours() {
    this.rows.forEach(({ swatch, fill }, k) => {
      swatch.style.background = fill.style.background = forceColour(k);
    });
  }

  resize() {
    for (const chart of this.charts) chart.resize();
  }

  draw(frame) {
    const force = rowAt("force", frame);
    this.rows.forEach(({ actuator, row, number, fill, full }, k) => {
      const value = force[k];
      number.textContent = Number.isFinite(value) ? minus(value.toFixed(actuator.decimals)) : "none";
      const share = Number.isFinite(value) ? (50 * value) / full : 0;
      fill.style.left = `${50 + Math.min(share, 0)}%`;
      fill.style.width = `${Math.abs(share)}%`;
      row.classList.toggle("beyond", actuator.limit !== null && Math.abs(value) > actuator.limit);
    });
    for (const chart of this.charts) chart.draw(frame, force);
  }
}
