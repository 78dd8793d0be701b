// Shapes in space. They are collected with their depths and painted from the far ones to the near ones.
function channels(colour) {
  return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
}

// A colour, towards white (share > 0) or black (share < 0).
function shaded(colour, share) {
  const goal = share > 0 ? 255 : 0;
  const mixed = channels(colour).map((part) => Math.round(part + Math.abs(share) * (goal - part)));
  return `rgb(${mixed.join(" ")})`;
}

const TEXT = style("text");

function faded(colour, alpha) {
  return `rgb(${channels(colour).join(" ")} / ${alpha})`;
}

class Shapes {
  constructor(context, camera, size) {
    this.context = context;
    this.camera = camera;
    this.size = size;
    this.found = [];
  }

  put(depth, paint) {
    this.found.push({ depth, paint });
  }

  paint() {
    this.found.sort((a, b) => b.depth - a.depth);
    for (const shape of this.found) shape.paint(this.context);
    this.found = [];
  }

  // Pieces of a line, short enough to be sorted: pairs of projected ends.
  pieces(start, end, most) {
    const count = Math.min(Math.max(Math.ceil(norm(add(end, start, -1)) / most), 1), 24);
    const seen = Array.from({ length: count + 1 }, (_, k) => this.camera.project(between(start, end, k / count)));
    return seen.slice(1).map((last, k) => [seen[k], last]).filter(([a, b]) => a && b);
  }

  // A round bar, lit from the upper left.
  bar(start, end, radius, colour) {
    if (norm(add(end, start, -1)) < 1e-6 * this.size) return;
    for (const [a, b] of this.pieces(start, end, 0.05 * this.size)) {
      this.put((a[2] + b[2]) / 2, (context) => {
        const width = Math.max(radius * (a[3] + b[3]), 2.5);
        const long = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
        let across = [-(b[1] - a[1]) / long, (b[0] - a[0]) / long];
        if (across[0] + 1.5 * across[1] > 0) across = across.map((part) => -part); // towards the light
        const half = across.map((part) => (part * width) / 2);
        const tint = context.createLinearGradient(a[0] + half[0], a[1] + half[1], a[0] - half[0], a[1] - half[1]);
        tint.addColorStop(0, shaded(colour, -0.12));
        tint.addColorStop(0.3, shaded(colour, 0.42));
        tint.addColorStop(0.62, colour);
        tint.addColorStop(1, shaded(colour, -0.45));
        context.strokeStyle = tint;
        context.lineWidth = width;
        context.lineCap = "round";
        context.beginPath();
        context.moveTo(a[0], a[1]);
        context.lineTo(b[0], b[1]);
        context.stroke();
      });
    }
  }

  ball(place, radius, colour) {
    const seen = this.camera.project(place);
    if (!seen) return;
    this.put(seen[2] - 1.6 * radius, (context) => {
      const r = Math.max(radius * seen[3], 3);
      const tint = context.createRadialGradient(seen[0] - 0.4 * r, seen[1] - 0.4 * r, 0.1 * r, seen[0], seen[1], r);
      tint.addColorStop(0, shaded(colour, 0.55));
      tint.addColorStop(0.55, colour);
      tint.addColorStop(1, shaded(colour, -0.45));
      context.fillStyle = tint;
      context.beginPath();
      context.arc(seen[0], seen[1], r, 0, 2 * Math.PI);
      context.fill();
    });
  }

  // The sign of a centre of mass: a disc in quarters.
  centre(place, radius, dark, light, rim) {
    const seen = this.camera.project(place);
    if (!seen) return;
    this.put(seen[2] - 3 * radius, (context) => {
      const r = Math.max(radius * seen[3], 3.5);
      const disc = (colour, from, to) => {
        context.fillStyle = colour;
        context.beginPath();
        context.moveTo(seen[0], seen[1]);
        context.arc(seen[0], seen[1], r, from, to);
        context.fill();
      };
      disc(light, 0, 2 * Math.PI);
      disc(dark, 0, Math.PI / 2);
      disc(dark, Math.PI, 1.5 * Math.PI);
      context.strokeStyle = rim;
      context.lineWidth = 1;
      context.beginPath();
      context.arc(seen[0], seen[1], r, 0, 2 * Math.PI);
      context.stroke();
    });
  }

  polygon(corners, fill, edge) {
    const seen = corners.map((corner) => this.camera.project(corner));
    if (!seen.every(Boolean)) return;
    this.put(seen.reduce((sum, one) => sum + one[2], 0) / seen.length, (context) => {
      context.fillStyle = fill;
      context.strokeStyle = edge;
      context.lineWidth = 1.5;
      context.lineJoin = "round";
      context.beginPath();
      seen.forEach((one, k) => (k ? context.lineTo(one[0], one[1]) : context.moveTo(one[0], one[1])));
      context.closePath();
      context.fill();
      context.stroke();
    });
  }

  line(start, end, pixels, colour, { nearer = 0, cap = "round" } = {}) {
    for (const [a, b] of this.pieces(start, end, 0.1 * this.size)) {
      this.put((a[2] + b[2]) / 2 - nearer, (context) => {
        context.strokeStyle = colour;
        context.lineWidth = pixels;
        context.lineCap = cap;
        context.beginPath();
        context.moveTo(a[0], a[1]);
        context.lineTo(b[0], b[1]);
        context.stroke();
      });
    }
  }

  // A thin circle about an axis, behind the arrow that follows it.
  ring(place, first, second, radius, colour) {
    const at = (angle) => add(add(place, first, radius * Math.cos(angle)), second, radius * Math.sin(angle));
    for (let k = 0; k < 36; k += 1) {
      this.line(at((k * Math.PI) / 18), at(((k + 1) * Math.PI) / 18), 1.25, colour, { cap: "butt" });
    }
  }

  // The head of an arrow: its tip lies ahead of a place by its length.
  head(place, along, long, wide, colour) {
    const [base, tip] = [this.camera.project(place), this.camera.project(add(place, along, long))];
    if (!base || !tip) return;
    this.put(Math.min(base[2], tip[2]) - 0.02 * this.size, (context) => {
      const reach = Math.hypot(tip[0] - base[0], tip[1] - base[1]) || 1;
      const half = wide * base[3];
      const side = [(-(tip[1] - base[1]) / reach) * half, ((tip[0] - base[0]) / reach) * half];
      context.fillStyle = colour;
      context.beginPath();
      context.moveTo(tip[0], tip[1]);
      context.lineTo(base[0] + side[0], base[1] + side[1]);
      context.lineTo(base[0] - side[0], base[1] - side[1]);
      context.closePath();
      context.fill();
    });
  }

  // Words beside a place, in front of everything.
  words(place, text, colour, around, shift = [0, 0]) {
    const seen = this.camera.project(place);
    if (!seen) return;
    this.put(-Infinity, (context) => {
      context.font = `600 12px ${TEXT}`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.lineJoin = "round";
      context.lineWidth = 3.5;
      context.strokeStyle = around;
      const half = context.measureText(text).width / 2 + 4;
      const x = Math.min(Math.max(seen[0] + shift[0], half), this.camera.width - half);
      const y = Math.min(Math.max(seen[1] + shift[1], 10), this.camera.height - 10);
      context.strokeText(text, x, y);
      context.fillStyle = colour;
      context.fillText(text, x, y);
    });
  }
}
