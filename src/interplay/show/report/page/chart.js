// A frame with two axes, drawn at the width there is and drawn again when that changes.

function drawnToFit(container, draw) {
  let width = 0;
  const redraw = () => {
    const now = Math.floor(container.clientWidth);
    if (now < 40 || Math.abs(now - width) < 2) return;
    width = now;
    container.replaceChildren(draw(width));
  };
  redraw();
  new ResizeObserver(redraw).observe(container);
  return () => { width = 0; redraw(); };
}

function linearTicks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) ticks.push(i * step);
  return ticks;
}

function logTicks(low, high, wanted) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 1) {
    return [1, 2, 5].flatMap((factor) => [first - 1, first, last].map((e) => factor * 10 ** e))
      .filter((tick, i, all) => tick >= low * 0.999 && tick <= high * 1.001 && all.indexOf(tick) === i);
  }
  const every = Math.max(1, Math.ceil((last - first + 1) / wanted));
  const ticks = [];
  for (let e = first; e <= last; e += every) ticks.push(10 ** e);
  return ticks;
}

const tickText = (value) => {
  const size = Math.abs(value);
  if (size >= 1e5 || (size > 0 && size < 1e-3)) return value.toExponential(0).replace("e+", "e").replace("e-", "e−");
  return String(Number(value.toPrecision(3)));
};

function scale({ low, high, log }, start, end) {
  const at = log ? Math.log10 : (value) => value;
  const from = at(low);
  const span = at(high) - from || 1;
  return (value) => start + ((at(value) - from) / span) * (end - start);
}

// Values and texts of the ticks of an axis: its own marks, or even ones.
const marksOf = (axis, wanted) => axis.marks ?? (axis.log ? logTicks : linearTicks)(axis.low, axis.high, wanted).map((tick) => [tick, tickText(tick)]);

// Axes: {low, high, log, label}, and marks where ticks are no numbers. Returns the picture, the part to draw in, and both scales.
function frame(width, height, xAxis, yAxis, description) {
  const [left, right, top, bottom] = [yAxis.wide ? 66 : 52, 16, 8, 42];
  const x = scale(xAxis, left, width - right);
  const y = scale(yAxis, height - bottom, top);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": description });
  const grid = svg("g");
  const nWanted = Math.max(3, Math.floor(width / 95));
  for (const [tick, text] of marksOf(xAxis, nWanted)) {
    grid.append(
      svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: height - bottom }),
      svg("text", { class: "tick", x: x(tick), y: height - bottom + 16, "text-anchor": "middle" }, text),
    );
  }
  for (const [tick, text] of marksOf(yAxis, 5)) {
    grid.append(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick", x: left - 7, y: y(tick) + 4, "text-anchor": "end" }, text),
    );
  }
  grid.append(
    svg("path", { class: "axis", d: `M${left},${top}V${height - bottom}H${width - right}` }),
    svg("text", { class: "label", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, xAxis.label),
    svg("text", { class: "label", transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, yAxis.label),
  );
  const inside = svg("g");
  root.append(grid, inside);
  return { root, inside, x, y };
}

const lineThrough = (xs, ys) => xs.map((x, i) => `${i ? "L" : "M"}${x.toFixed(1)},${ys[i].toFixed(1)}`).join("");
// Lines without length and with round ends: thousands of dots in one element.
const dotsAt = (points) => points.map(([x, y]) => `M${x.toFixed(1)},${y.toFixed(1)}h0`).join("");
const ringsAt = (points) => points.map(([x, y]) => `M${(x - 3).toFixed(1)},${y.toFixed(1)}a3,3 0 1 0 6,0a3,3 0 1 0 -6,0`).join("");
const mixed = (colour, share, other) => `color-mix(in srgb, var(${colour}) ${(100 * share).toFixed(1)}%, var(${other}))`;

// Classes without an order have one colour each: eight that the colour-blind tell apart, then more hues, in two shades.
// Classes with an order run from a light colour to a dark one.
function classColour(q, nClasses, ordered) {
  if (ordered) return mixed("--relevant", 0.12 + (0.88 * q) / Math.max(1, nClasses - 1), "--card");
  if (q < 8) return `var(--class-${q})`;
  const hue = (360 * ((q - 8) * 0.618034)) % 360;
  return `hsl(${hue.toFixed(0)} 45% ${q % 2 ? 42 : 68}%)`;
}
// From −1 (low) over 0 (middle) to 1 (high).
const diverging = (t) => (t < 0 ? mixed("--low", -t, "--mid") : mixed("--high", t, "--mid"));
