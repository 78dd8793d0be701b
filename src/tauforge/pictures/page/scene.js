// The robot at one frame: what is drawn where, and how thick.
const LINK = 0.017; // radii and lengths, of the robot's size
const ARROW = 0.26;
const ARC = 0.1;
const SWEEP = 5; // rad, of the arc of the largest torque
const LEAST_SHARE = 0.012; // of the largest force, that still has an arrow
const LAYERS = { forces: "Forces", masses: "Centres of mass", frames: "Frames", names: "Names", target: "Target" };

class Scene {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.camera = new Camera();
    this.shown = { forces: true, masses: true, frames: true, names: false, target: true };
    this.measure();
    this.colours();
  }

  // Sizes that hold for the whole run.
  measure() {
    const stride = Math.max(1, Math.floor(data.count / 150));
    const looks = Array.from({ length: Math.ceil(data.count / stride) }, (_, k) => k * stride);
    const vectors = (name, frame) => {
      const row = rowAt(name, frame);
      return Array.from({ length: row.length / 3 }, (_, k) => vector(row, k));
    };
    const places = looks.map((frame) => [...vectors("points", frame), ...vectors("segments", frame)]);
    this.size = norm([0, 1, 2].map((k) => rangeOf(places[0].map((place) => place[k]))).map(([a, b]) => b - a)) || 1;
    this.ground = rangeOf(places.flat().map((place) => dot(place, up)))[0];
    const legs = data.segments.map((_, k) => k).filter((k) => data.segments[k].part === "leg");
    const lengths = looks.flatMap((frame) => {
      const ends = vectors("segments", frame);
      return legs.map((k) => norm(add(ends[2 * k + 1], ends[2 * k], -1)));
    });
    this.tube = 0.62 * rangeOf(lengths)[0];
    this.inOutline = new Set(data.outlines.flat());
    const actions = looks.map((frame) => vectors("actions", frame));
    // Where actuators act at one place, their arcs have different radii.
    this.radii = data.actions.map((_, k) => {
      const same = (j) => norm(add(actions[0][2 * j], actions[0][2 * k], -1)) < 0.05 * this.size;
      const inside = Array.from({ length: k }, (__, j) => j).filter(same).length;
      return ARC * this.size * (1 + 0.28 * inside);
    });
    this.begins = data.actions.map((_, k) => farthestAxis(actions.map((row) => row[2 * k + 1])));
    this.places = [...places.flat(), ...looks.flatMap((frame, k) => this.tips(actions[k], rowAt("force", frame)))];
  }

  // Where the arrows of the forces end.
  tips(actions, force) {
    return data.actions.flatMap((action, k) => {
      const [place, axis] = [actions[2 * k], actions[2 * k + 1]];
      const share = force[k] / data.actuators[k].scale;
      if (!action.turns) return Number.isFinite(share) ? [add(place, axis, share * ARROW * this.size)] : [];
      const [first, second] = across(axis, this.begins[k]);
      return [first, second].flatMap((side) => [-1, 1].map((sign) => add(place, side, sign * this.radii[k])));
    });
  }

  colours() {
    const names = ["link", "base", "joint", "tube", "rod", "body", "ghost", "shadow", "low", "near", "over"];
    names.push("axis-x", "axis-y", "axis-z", "grid", "ink", "soft", "paper", "stage");
    this.colour = Object.fromEntries(names.map((name) => [name, style(name)]));
    this.forceColours = data.actuators.map((_, k) => forceColour(k));
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const dense = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(Math.round(box.width * dense), 1);
    this.canvas.height = Math.max(Math.round(box.height * dense), 1);
    this.context.setTransform(dense, 0, 0, dense, 0, 0);
    this.camera.width = box.width;
    this.camera.height = box.height;
    if (this.camera.moved) this.camera.update();
    else this.reset();
  }

  reset() {
    this.camera.yaw = -0.95;
    this.camera.pitch = 0.36;
    this.fitted = this.camera.fit(this.places, this.size);
  }

  draw(frame) {
    const { context, camera } = this;
    context.clearRect(0, 0, camera.width, camera.height);
    this.grid();
    const segments = rowAt("segments", frame);
    this.shadows(segments);
    if (this.shown.target && arrays.target) this.target(rowAt("target", frame));
    const shapes = new Shapes(context, camera, this.size);
    this.bodies(shapes, segments);
    this.marks(shapes, rowAt("points", frame));
    this.axes(shapes, rowAt("frames", frame));
    if (this.shown.forces) this.forces(shapes, rowAt("actions", frame), rowAt("force", frame));
    if (this.shown.names) this.names(shapes, rowAt("actions", frame), rowAt("frames", frame));
    shapes.paint();
  }

  // The actuators, and the tool or the platform. Names that would cover another stand above it.
  names(shapes, actions, frames) {
    const taken = [];
    const covers = (x, y) => taken.some((other) => Math.abs(other[0] - x) < 40 && Math.abs(other[1] - y) < 13);
    const put = (place, text, shift) => {
      const seen = this.camera.project(place);
      if (!seen) return;
      let down = shift;
      while (covers(seen[0], seen[1] + down)) down -= 14;
      taken.push([seen[0], seen[1] + down]);
      shapes.words(place, text, this.colour.ink, this.colour.stage, [0, down]);
    };
    data.actions.forEach((_, k) => put(vector(actions, 2 * k), data.actuators[k].name, -18));
    const last = data.frames.length - 1;
    if (last >= 0) put(vector(frames, 4 * last + 3), data.frames[last], 18);
  }

  onGround(place) {
    return add(place, up, this.ground - dot(place, up));
  }

  grid() {
    const { camera, context } = this;
    const middle = this.onGround(camera.target);
    const rough = this.size / 6;
    const decade = 10 ** Math.floor(Math.log10(rough));
    const step = decade * [1, 2, 5, 10].find((k) => k * decade >= rough);
    const reach = Math.ceil((1.5 * this.size) / step);
    const [x0, y0] = [Math.round(dot(middle, east) / step), Math.round(dot(middle, north) / step)];
    const at = (x, y) => add(add(scaled(up, this.ground), east, x * step), north, y * step);
    const part = (a, b, x, y) => {
      const [from, to] = [camera.project(a), camera.project(b)];
      const share = 1 - Math.hypot(x - x0, y - y0) / reach;
      if (!from || !to || share <= 0) return;
      context.globalAlpha = Math.min(1, 1.3 * share);
      context.beginPath();
      context.moveTo(from[0], from[1]);
      context.lineTo(to[0], to[1]);
      context.stroke();
    };
    context.strokeStyle = this.colour.grid;
    context.lineWidth = 1;
    context.lineCap = "butt";
    for (let x = x0 - reach; x <= x0 + reach; x += 1) {
      for (let y = y0 - reach; y <= y0 + reach; y += 1) {
        part(at(x, y), at(x + 1, y), x + 0.5, y);
        part(at(x, y), at(x, y + 1), x, y + 0.5);
      }
    }
    context.globalAlpha = 1;
  }

  // All segments as one path, so that a translucent stroke has no darker crossings.
  trace(segments, moved) {
    const { camera, context } = this;
    context.lineCap = context.lineJoin = "round";
    context.beginPath();
    data.segments.forEach((_, k) => {
      const ends = [0, 1].map((end) => camera.project(moved(vector(segments, 2 * k + end))));
      if (!ends.every(Boolean)) return;
      context.moveTo(ends[0][0], ends[0][1]);
      context.lineTo(ends[1][0], ends[1][1]);
    });
    context.stroke();
  }

  shadows(segments) {
    const { camera, context } = this;
    if (camera.pitch < 0.02) return;
    context.strokeStyle = faded(this.colour.shadow, 0.13);
    context.lineWidth = (2.4 * LINK * this.size * camera.focal) / camera.distance;
    this.trace(segments, (place) => this.onGround(place));
  }

  target(segments) {
    const { camera, context } = this;
    context.strokeStyle = faded(this.colour.ghost, 0.45);
    context.lineWidth = (1.7 * LINK * this.size * camera.focal) / camera.distance;
    this.trace(segments, (place) => place);
  }

  bodies(shapes, segments) {
    const thick = LINK * this.size;
    data.segments.forEach((segment, k) => {
      const [start, end] = [vector(segments, 2 * k), vector(segments, 2 * k + 1)];
      if (segment.part === "leg") {
        const along = unit(add(end, start, -1));
        shapes.bar(add(start, along, this.tube), end, 0.55 * thick, this.colour.rod);
        shapes.bar(start, add(start, along, this.tube), 1.05 * thick, this.colour.tube);
      } else if (segment.part === "spring") {
        shapes.bar(start, end, 0.3 * thick, this.colour.rod);
      } else if (segment.part === "rod") {
        shapes.bar(start, end, 0.6 * thick, this.colour.link);
      } else if (this.inOutline.has(k)) {
        shapes.bar(start, end, 0.5 * thick, segment.part === "base" ? this.colour.base : this.colour.body);
      } else {
        const base = segment.part === "base";
        shapes.bar(start, end, base ? 1.3 * thick : thick, base ? this.colour.base : this.colour.link);
      }
    });
    for (const outline of data.outlines) {
      const own = data.segments[outline[0]].part === "base" ? this.colour.base : this.colour.body;
      shapes.polygon(outline.map((k) => vector(segments, 2 * k)), faded(own, 0.3), faded(own, 0.6));
    }
  }

  marks(shapes, points) {
    const thick = LINK * this.size;
    const legs = data.segments.some((segment) => segment.part === "leg");
    data.points.forEach((point, k) => {
      const place = vector(points, k);
      if (point.part === "joint") shapes.ball(place, legs ? 0.95 * thick : 1.45 * thick, this.colour.joint);
      else if (this.shown.masses) shapes.centre(place, 0.6 * thick, "#1d2026", "#ffd54a", this.colour.ink);
    });
  }

  axes(shapes, frames) {
    if (!this.shown.frames) return;
    const triad = (origin, axes, long, pixels, words) => {
      ["x", "y", "z"].forEach((name, k) => {
        const tip = add(origin, axes[k], long);
        const colour = this.colour[`axis-${name}`];
        shapes.line(origin, tip, pixels, colour, { nearer: 0.03 * this.size });
        if (words) shapes.words(add(origin, axes[k], 1.22 * long), name, colour, this.colour.stage);
      });
    };
    const world = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    triad([0, 0, 0], world, 0.16 * this.size, 2, true);
    const last = data.frames.length - 1; // the tool or the platform
    if (last < 0) return;
    const origin = vector(frames, 4 * last + 3);
    triad(origin, [0, 1, 2].map((k) => vector(frames, 4 * last + k)), 0.11 * this.size, 3, false);
  }

  forceColour(k, force) {
    const { limit } = data.actuators[k];
    if (limit === null) return this.forceColours[k];
    const share = Math.abs(force) / limit;
    if (share > 1) return this.colour.over;
    return share > 0.8 ? this.colour.near : this.colour.low;
  }

  forces(shapes, actions, force) {
    data.actions.forEach((action, k) => {
      const [place, axis] = [vector(actions, 2 * k), vector(actions, 2 * k + 1)];
      const colour = this.forceColour(k, force[k]);
      const share = force[k] / data.actuators[k].scale;
      if (action.turns) this.torque(shapes, k, place, axis, share, colour);
      else if (Math.abs(share) >= LEAST_SHARE) this.push(shapes, place, axis, share, colour);
    });
  }

  push(shapes, place, axis, share, colour) {
    const long = share * ARROW * this.size;
    const along = scaled(axis, Math.sign(share));
    const head = Math.min(0.05 * this.size, Math.abs(long));
    const neck = add(place, along, Math.abs(long) - head);
    const pixels = Math.max(0.016 * this.size * this.camera.focal / this.camera.distance, 3);
    shapes.line(place, neck, pixels, colour, { nearer: 0.04 * this.size });
    shapes.head(neck, along, head, 0.45 * head, colour);
  }

  torque(shapes, k, place, axis, share, colour) {
    const [first, second] = across(axis, this.begins[k]);
    const radius = this.radii[k];
    shapes.ring(place, first, second, radius, faded(colour, 0.35));
    if (!(Math.abs(share) >= LEAST_SHARE)) return; // NaN at a singular pose
    const sweep = share * SWEEP;
    const at = (angle) => add(add(place, first, radius * Math.cos(angle)), second, radius * Math.sin(angle));
    const head = Math.min(0.045 * this.size, Math.abs(sweep) * radius);
    const end = sweep - (Math.sign(sweep) * head) / radius;
    const count = Math.max(Math.ceil(Math.abs(end) / 0.12), 1);
    const pixels = Math.max(0.014 * this.size * this.camera.focal / this.camera.distance, 2.5);
    for (let j = 0; j < count; j += 1) {
      shapes.line(at((end * j) / count), at((end * (j + 1)) / count), pixels, colour);
    }
    const along = scaled(cross(axis, unit(add(at(end), place, -1))), Math.sign(sweep));
    shapes.head(at(end), along, head, 0.5 * head, colour);
  }
}
