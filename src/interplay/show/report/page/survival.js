// Kaplan and Meier's curves: the share of samples without the event over time, in each cell of a tuple.

// Bands of more curves would cover each other.
const MOST_BANDS = 4;

// Thin lines need darker colours than areas do; after eight of them, dashed lines.
const lineColour = (i) => `var(--line-${i % 8})`;

// `where` says in words which cell a curve is of.
function drawSurvival(width, curves, where, time = data.time) {
  const first = Math.min(...curves.map(({ time }) => time[0]));
  const last = Math.max(...curves.map(({ time }) => time[time.length - 1]));
  const chart = frame(width, 300, { low: first, high: last > first ? last : first + 1, label: cut(time || "time", 40) },
    { low: 0, high: 1, label: "share without the event" }, `Kaplan–Meier curves of ${curves.length} cells`);
  const at = (t, share) => `${chart.x(t).toFixed(1)},${chart.y(share).toFixed(1)}`;
  const steps = (time, shares) => time.map((t, j) => (j ? `H${chart.x(t).toFixed(1)}V${chart.y(shares[j]).toFixed(1)}` : `M${at(t, shares[j])}`)).join("");
  // The way back along the upper end: a step goes up before it goes left.
  const back = (time, shares) => time.map((t, j) => [t, shares[j]]).reverse().map(([t, share], j, all) => (j ? `V${chart.y(share).toFixed(1)}H${chart.x(t).toFixed(1)}` : `L${at(t, share)}`)).join("");
  if (curves.length <= MOST_BANDS) {
    curves.forEach(({ time, low, high }, i) => {
      const band = svg("path", { class: "interval", d: `${steps(time, low)}${back(time, high)}Z`, stroke: "none" });
      band.style.fill = lineColour(i);
      chart.inside.append(band);
    });
  }
  const keys = curves.map((curve, i) => {
    const { n, events, time, survival } = curve;
    const line = svg("path", { class: "curve", d: steps(time, survival), fill: "none", "stroke-width": 2, "stroke-dasharray": i < 8 ? false : "5 3" });
    line.style.stroke = lineColour(i);
    chart.inside.append(line);
    const key = el("span", { class: i < 8 ? "key line" : "key line dashed" }, `${where(curve)}: ${events} event${events === 1 ? "" : "s"}, n = ${n}`);
    key.style.setProperty("--swatch", lineColour(i));
    return key;
  });
  return el("div", {}, el("div", { class: "legend" }, keys), chart.root);
}
