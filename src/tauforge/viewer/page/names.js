// The name of the part under the mouse. The panel has the parts as data, where they are now; viser's page lends its
// camera, its root and the canvas, whose cursor says whether the mouse is on a body.
(() => {
  const AGAIN = 100; // ms: the robot may move while the mouse rests
  let mouse = null;
  let read = { text: "", parts: [] };

  const label = document.createElement("div");
  label.id = "part-name";
  label.style.cssText =
    "position:fixed;z-index:10;pointer-events:none;padding:2px 6px;border-radius:3px;white-space:nowrap;" +
    "font:12px sans-serif;color:#fff;background:rgba(30,34,40,.88);display:none";

  function parts() {
    const text = document.querySelector("[data-parts]")?.dataset.parts ?? "[]";
    if (text !== read.text) read = { text, parts: JSON.parse(text) };
    return read.parts;
  }

  // From the eye through the mouse, in the axes of the robot's world.
  function ray({ camera, canvas, nodeRefFromName }) {
    const box = canvas.getBoundingClientRect();
    const toWorld = nodeRefFromName[""].matrixWorld.clone().invert();
    const eye = camera.position.clone();
    const way = eye.clone();
    way.set((2 * (mouse.x - box.x)) / box.width - 1, 1 - (2 * (mouse.y - box.y)) / box.height, 0.5);
    way.unproject(camera).sub(eye).normalize().transformDirection(toWorld);
    return { eye: eye.applyMatrix4(toWorld).toArray(), way: way.toArray() };
  }

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

  // How far a part's surface is from the ray (at most 0 where the ray hits it), and how far away it is.
  function seen([name, ...numbers], { eye, way }) {
    const [start, end, radius] = [numbers.slice(0, 3), numbers.slice(3, 6), numbers[6]];
    const from = minus(start, eye);
    const along = minus(end, start);
    const cosine = dot(along, way);
    const square = dot(along, along) - cosine * cosine;
    const nearest = square > 1e-12 ? (cosine * dot(from, way) - dot(from, along)) / square : 0;
    const share = Math.min(Math.max(nearest, 0), 1);
    const axis = from.map((x, k) => x + share * along[k]);
    const depth = dot(axis, way);
    const off = Math.sqrt(Math.max(dot(axis, axis) - depth * depth, 0));
    const inside = Math.sqrt(Math.max(radius * radius - off * off, 0));
    return { name, gap: Math.max(off - radius, 0), depth: depth - inside };
  }

  // The first part that the mouse's ray hits, or else the nearest to it: a mesh may be larger than the part inside it.
  function named(viewer) {
    const line = ray(viewer);
    const ahead = parts().map((part) => seen(part, line)).filter(({ depth }) => depth > 0);
    return ahead.sort((a, b) => a.gap - b.gap || a.depth - b.depth)[0]?.name;
  }

  function show() {
    const viewer = window.__viserMutable;
    const isOnBody = mouse && viewer?.camera && viewer.nodeRefFromName[""] && viewer.canvas?.style.cursor === "pointer";
    const name = isOnBody ? named(viewer) : undefined;
    label.style.display = name ? "block" : "none";
    if (!name) return;
    if (!label.isConnected) document.body.append(label);
    label.textContent = name;
    const left = Math.min(mouse.x + 14, window.innerWidth - label.offsetWidth - 4);
    label.style.left = `${left}px`;
    label.style.top = `${mouse.y + 14}px`;
  }

  function moved(event) {
    const onScene = event.target instanceof HTMLCanvasElement && event.pointerType !== "touch" && !event.buttons;
    mouse = onScene ? { x: event.clientX, y: event.clientY } : null;
    show();
  }

  document.addEventListener("pointermove", moved);
  document.addEventListener("pointerdown", moved);
  document.addEventListener("pointerleave", moved);
  setInterval(show, AGAIN);
})();
