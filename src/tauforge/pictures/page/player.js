// Time, and everything that a reader can do.
const by = (name) => document.getElementById(name);
const [picture, play, scrub, time, speed, repeat] = ["picture", "play", "scrub", "time", "speed", "repeat"].map(by);
const last = data.count - 1;
const scene = new Scene(picture);
const panel = new Panel((to) => goTo(to));
let frame = 0; // may lie between frames while it plays
let playing = false;
let before = 0; // ms, of the last tick
let waiting = false;

function draw() {
  waiting = false;
  scene.draw(frame);
  panel.draw(frame);
  const seconds = secondsAt(frame).toFixed(2);
  const end = (data.start + data.duration).toFixed(2);
  scrub.value = String(Math.round(frame));
  scrub.setAttribute("aria-valuetext", `${seconds} s of ${end} s`);
  time.textContent = `${minus(seconds)} / ${minus(end)} s`;
}

function redraw() {
  if (!waiting) requestAnimationFrame(draw);
  waiting = true;
}

function goTo(wanted) {
  frame = Math.min(Math.max(wanted, 0), last);
  redraw();
}

function tick(now) {
  if (!playing) return;
  const passed = (Math.min(Math.max(now - before, 0), 250) / 1000) * Number(speed.value);
  before = now;
  let next = data.duration ? frame + (passed / data.duration) * last : last;
  if (next >= last) {
    next = repeat.checked && last ? next % last : last;
    if (!repeat.checked || !last) setPlaying(false);
  }
  frame = next;
  draw();
  requestAnimationFrame(tick);
}

function setPlaying(wanted) {
  if (wanted === playing) return;
  playing = wanted;
  play.classList.toggle("playing", playing);
  play.setAttribute("aria-label", playing ? "Pause" : "Play");
  if (playing) {
    if (frame >= last) frame = 0;
    before = performance.now();
    requestAnimationFrame(tick);
  } else {
    goTo(Math.round(frame)); // a frame of the library, not one between two
  }
}

function addLayers() {
  const present = { forces: data.actions.length, masses: data.points.some((point) => point.part !== "joint") };
  for (const [name, words] of Object.entries(LAYERS)) {
    if (!(present[name] ?? (name !== "target" || arrays.target))) continue;
    const label = element("label", "", by("layers"));
    const box = element("input", "", label);
    box.type = "checkbox";
    box.checked = scene.shown[name];
    label.append(words);
    box.addEventListener("change", () => {
      scene.shown[name] = box.checked;
      redraw();
    });
  }
}

function reset() {
  scene.reset();
  redraw();
}

const touches = new Map();
picture.addEventListener("pointerdown", (event) => {
  picture.setPointerCapture(event.pointerId);
  touches.set(event.pointerId, [event.clientX, event.clientY]);
});
for (const ended of ["pointerup", "pointercancel"]) {
  picture.addEventListener(ended, (event) => touches.delete(event.pointerId));
}
picture.addEventListener("pointermove", (event) => {
  const was = touches.get(event.pointerId);
  if (!was) return;
  const is = [event.clientX, event.clientY];
  if (touches.size === 1) {
    scene.camera.orbit(0.008 * (is[0] - was[0]), 0.008 * (is[1] - was[1]));
  } else {
    const other = [...touches].find(([id]) => id !== event.pointerId)[1];
    const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
    scene.camera.zoom(apart(was) / apart(is), scene.fitted);
  }
  touches.set(event.pointerId, is);
  redraw();
});
picture.addEventListener("wheel", (event) => {
  event.preventDefault();
  scene.camera.zoom(Math.exp(0.0012 * Math.max(-200, Math.min(200, event.deltaY))), scene.fitted);
  redraw();
}, { passive: false });
picture.addEventListener("dblclick", reset);
by("reset").addEventListener("click", reset);

const KEYS = {
  ArrowLeft: () => scene.camera.orbit(-0.1, 0),
  ArrowRight: () => scene.camera.orbit(0.1, 0),
  ArrowUp: () => scene.camera.orbit(0, -0.1),
  ArrowDown: () => scene.camera.orbit(0, 0.1),
  "+": () => scene.camera.zoom(0.9, scene.fitted),
  "-": () => scene.camera.zoom(1 / 0.9, scene.fitted),
  Home: () => scene.reset(),
};
picture.addEventListener("keydown", (event) => {
  if (!(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
  redraw();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || event.target.closest("button, select, [type=checkbox]")) return;
  event.preventDefault();
  setPlaying(!playing);
});
play.addEventListener("click", () => setPlaying(!playing));
scrub.addEventListener("input", () => {
  setPlaying(false);
  goTo(Number(scrub.value));
});

scrub.max = String(last);
const rate = data.duration ? last / data.duration : 0;
by("about").textContent = [
  document.title === data.robot ? "" : data.robot,
  `${data.duration.toFixed(2)} s`,
  `${data.count} frames`,
  data.thinned ? `thinned to ${rate.toPrecision(3)} a second` : "",
  arrays.target ? "target drawn faintly" : "",
].filter(Boolean).join(" \u00b7 ");
addLayers();
function fill() {
  scene.resize();
  panel.resize();
  draw();
}

fill();
const sizes = new ResizeObserver(fill);
sizes.observe(picture);
for (const chart of panel.charts) sizes.observe(chart.canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  scene.colours();
  panel.colours();
  panel.resize();
  redraw();
});
if (last && !matchMedia("(prefers-reduced-motion: reduce)").matches) setPlaying(true);
