// What Python wrote: names, limits, and arrays with one row for each frame.
const data = JSON.parse(document.getElementById("data").textContent);

function floats(text) {
  return new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

const arrays = {};
for (const [name, text] of Object.entries(data.arrays)) {
  const values = floats(text);
  arrays[name] = { values, width: values.length / data.count };
}

// The row of an array at a frame number, on a straight line between frames where the number is not whole.
function rowAt(name, frame) {
  const { values, width } = arrays[name];
  const before = Math.min(Math.max(Math.floor(frame), 0), data.count - 1);
  const share = frame - before;
  const row = values.subarray(before * width, (before + 1) * width);
  if (share === 0 || before + 1 >= data.count) return row;
  return row.map((value, k) => value + share * (values[(before + 1) * width + k] - value));
}

const vector = (row, place) => [row[3 * place], row[3 * place + 1], row[3 * place + 2]];
const secondsAt = (frame) => data.start + (data.count > 1 ? (frame / (data.count - 1)) * data.duration : 0);
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const forceColour = (k) => style(`force-${k % 7}`);
