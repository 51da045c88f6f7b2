// Kaplan and Meier's curves: the share of samples without the event over time, in each cell of a tuple.

function drawSurvival(width, tuple, own) {
  const { cells, members, levels } = cellsOf(tuple, own);
  const where = ({ level }) => level.map((l, m) => `${cut(names[members[m]], 24)} ${cut(levels[m][l], 16)}`).join(", ");
  const last = Math.max(...tuple.curves.map(({ time }) => time[time.length - 1]));
  const chart = frame(width, 300, { low: 0, high: last || 1, label: "time" }, { low: 0, high: 1, label: "share without the event" },
    `Kaplan–Meier curves of ${tuple.curves.length} cells`);
  const keys = tuple.curves.map(({ cell, n, events, time, survival }, i) => {
    const steps = time.map((t, j) => (j ? `H${chart.x(t).toFixed(1)}V${chart.y(survival[j]).toFixed(1)}` : `M${chart.x(t).toFixed(1)},${chart.y(survival[j]).toFixed(1)}`)).join("");
    const line = svg("path", { class: `class-${i % 8}`, d: steps, fill: "none", "stroke-width": 1.8, "stroke-dasharray": i < 8 ? false : "5 3" });
    line.style.stroke = "var(--swatch)";
    chart.inside.append(line);
    return el("span", { class: `key class class-${i % 8}` }, `${where(cells[cell])}: ${events} of ${n}`);
  });
  return el("div", {}, el("div", { class: "legend" }, keys), chart.root);
}
