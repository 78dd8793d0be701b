// Vectors, and a perspective camera that orbits about a point.
const add = (a, b, by = 1) => [a[0] + by * b[0], a[1] + by * b[1], a[2] + by * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scaled = (a, by) => [by * a[0], by * a[1], by * a[2]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scaled(a, 1 / (norm(a) || 1));
const between = (a, b, share) => add(scaled(a, 1 - share), b, share);

// The least and the largest of some numbers, however many.
function rangeOf(values) {
  return values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
}

// The world axis that these vectors keep away from.
function farthestAxis(vectors) {
  const nearness = [0, 1, 2].map((k) => vectors.reduce((most, one) => Math.max(most, Math.abs(one[k])), 0));
  return nearness.reduce((best, near, k) => (near < nearness[best] - 1e-9 ? k : best), 0);
}

// Two unit vectors that make a right-handed frame with a third; the first lies nearest to a world axis.
function across(axis, near) {
  const first = unit(add([0, 1, 2].map((k) => (k === near ? 1 : 0)), axis, -axis[near]));
  return [first, cross(axis, first)];
}

const up = unit(data.up);
const [east, north] = across(up, farthestAxis([up]));
const FIELD = 0.5; // rad, of view over the shorter side
const MARGIN = 0.86; // of the picture, that the robot may fill
const HIGHEST = 1.5; // rad

class Camera {
  constructor() {
    this.width = this.height = 1;
    this.yaw = -0.95;
    this.pitch = 0.36;
    this.distance = 1;
    this.target = [0, 0, 0];
    this.moved = false;
    this.update();
  }

  update() {
    const level = add(scaled(east, Math.cos(this.yaw)), north, Math.sin(this.yaw));
    const back = add(scaled(level, Math.cos(this.pitch)), up, Math.sin(this.pitch));
    this.forward = scaled(back, -1);
    this.right = unit(cross(this.forward, up));
    this.top = cross(this.right, this.forward);
    this.eye = add(this.target, back, this.distance);
    this.focal = Math.min(this.width, this.height) / (2 * Math.tan(FIELD / 2));
  }

  // Pixels right and down, the depth, and pixels for a metre there; null behind the eye.
  project(place) {
    const from = add(place, this.eye, -1);
    const depth = dot(from, this.forward);
    if (depth < 0.02 * this.distance) return null;
    const scale = this.focal / depth;
    return [this.width / 2 + scale * dot(from, this.right), this.height / 2 - scale * dot(from, this.top), depth, scale];
  }

  orbit(right, down) {
    this.yaw -= right;
    this.pitch = Math.min(Math.max(this.pitch + down, -HIGHEST), HIGHEST);
    this.moved = true;
    this.update();
  }

  zoom(factor, fitted) {
    this.distance = Math.min(Math.max(this.distance * factor, 0.15 * fitted), 8 * fitted);
    this.moved = true;
    this.update();
  }

  // Looks so that all places are just in the picture.
  fit(places, size) {
    this.distance = 4 * size;
    for (let round = 0; round < 12; round += 1) {
      this.update();
      const seen = places.map((place) => this.project(place)).filter(Boolean);
      const [left, right] = rangeOf(seen.map((place) => place[0]));
      const [high, low] = rangeOf(seen.map((place) => place[1]));
      const metre = this.distance / this.focal;
      this.target = add(this.target, this.right, ((left + right - this.width) / 2) * metre);
      this.target = add(this.target, this.top, -((high + low - this.height) / 2) * metre);
      const filled = Math.max((right - left) / this.width, (low - high) / this.height, 1e-3);
      this.distance *= Math.min(Math.max(filled / MARGIN, 0.3), 3);
    }
    this.moved = false;
    this.update();
    return this.distance;
  }
}
