// Forces over time, for the actuators that share a unit, with a cursor at the present time.
const LEFT = 46;
const RIGHT = 10;
const TOP = 6;
const BOTTOM = 20;

// Round numbers within a range, a few of them.
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = decade * [1, 2, 5, 10].find((k) => k * decade >= rough);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    found.push([k * step, minus((k * step).toFixed(decimals))]);
  }
  return found;
}

function minus(text) {
  return /^-[0.]*$/.test(text) ? text.slice(1) : text.replace("-", "\u2212");
}

class Chart {
  constructor(canvas, actuators) {
    this.canvas = canvas;
    this.actuators = actuators;
    this.context = canvas.getContext("2d");
    this.still = document.createElement("canvas");
    const { values, width } = arrays.force;
    const finite = [];
    for (let k = 0; k < data.count; k += 1) {
      for (const j of actuators) if (Number.isFinite(values[k * width + j])) finite.push(values[k * width + j]);
    }
    this.low = finite.reduce((least, value) => Math.min(least, value), 0);
    this.high = finite.reduce((most, value) => Math.max(most, value), 0);
    if (this.low === this.high) this.high = this.low + 1;
    const room = 0.06 * (this.high - this.low);
    if (this.low < 0) this.low -= room;
    this.high += room;
  }

  x(frame) {
    return LEFT + (data.count > 1 ? frame / (data.count - 1) : 0) * (this.width - LEFT - RIGHT);
  }

  y(force) {
    return TOP + ((this.high - force) / (this.high - this.low)) * (this.height - TOP - BOTTOM);
  }

  frameAt(x) {
    const share = (x - LEFT) / (this.width - LEFT - RIGHT);
    return Math.round(Math.min(Math.max(share, 0), 1) * (data.count - 1));
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.dense = window.devicePixelRatio || 1;
    [this.width, this.height] = [box.width, box.height];
    for (const canvas of [this.canvas, this.still]) {
      canvas.width = Math.max(Math.round(box.width * this.dense), 1);
      canvas.height = Math.max(Math.round(box.height * this.dense), 1);
    }
    this.drawStill();
  }

  drawStill() {
    this.ink = style("ink");
    this.colours = this.actuators.map(forceColour);
    const context = this.still.getContext("2d");
    context.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = `11px ${TEXT}`;
    context.fillStyle = style("soft");
    const rule = (x0, y0, x1, y1, colour) => {
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
    };
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const [value, text] of ticks(this.low, this.high, 5)) {
      const y = Math.round(this.y(value)) + 0.5;
      rule(LEFT, y, this.width - RIGHT, y, value === 0 ? style("soft") : style("rule"));
      context.fillText(text, LEFT - 6, y);
    }
    context.textBaseline = "alphabetic";
    for (const [value, text] of data.duration ? ticks(data.start, data.start + data.duration, 5) : []) {
      const x = this.x(((value - data.start) / data.duration) * (data.count - 1));
      context.textAlign = x > this.width - RIGHT - 8 ? "right" : "center";
      context.fillText(text, Math.min(x, this.width - 2), this.height - 5);
    }
    const { values, width } = arrays.force;
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    this.actuators.forEach((j, place) => {
      context.strokeStyle = this.colours[place];
      context.beginPath();
      let drawing = false;
      for (let k = 0; k < data.count; k += 1) {
        const force = values[k * width + j];
        const finite = Number.isFinite(force);
        if (finite && drawing) context.lineTo(this.x(k), this.y(force));
        else if (finite) context.moveTo(this.x(k), this.y(force));
        drawing = finite;
      }
      context.stroke();
    });
  }

  draw(frame, force) {
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.still, 0, 0);
    context.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    const x = this.x(frame);
    context.strokeStyle = this.ink;
    context.lineWidth = 1.25;
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, this.height - BOTTOM);
    context.stroke();
    this.actuators.forEach((j, place) => {
      if (!Number.isFinite(force[j])) return;
      context.fillStyle = this.colours[place];
      context.beginPath();
      context.arc(x, this.y(force[j]), 3, 0, 2 * Math.PI);
      context.fill();
    });
  }
}
