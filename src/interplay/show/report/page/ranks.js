// Variables by rank: gains, and p-values before and after adjustment. Point at a dot to read it, click to open it.

function pointable({ root, inside }, points, open) {
  const mark = svg("circle", { class: "pointed", r: 7, visibility: "hidden" });
  inside.append(mark);
  let nearest = null;
  const place = (event) => {
    const box = root.getBoundingClientRect();
    const ratio = root.viewBox.baseVal.width / box.width;
    const [px, py] = [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    nearest = null;
    let best = 24 ** 2;
    for (const point of points) {
      const distance = (point.x - px) ** 2 + (point.y - py) ** 2;
      if (distance < best) [best, nearest] = [distance, point];
    }
    mark.setAttribute("visibility", nearest ? "visible" : "hidden");
    root.classList.toggle("clickable", nearest !== null);
    if (!nearest) return hideTooltip();
    mark.setAttribute("cx", nearest.x);
    mark.setAttribute("cy", nearest.y);
    showTooltip(event, describeRow(nearest.row));
  };
  root.addEventListener("pointermove", place);
  root.addEventListener("pointerleave", () => { mark.setAttribute("visibility", "hidden"); hideTooltip(); });
  root.addEventListener("click", (event) => { place(event); if (nearest) { hideTooltip(); open(nearest.row); } });
}

const rankAxis = (n) => (n > 50 ? { low: 0.85, high: n * 1.15, log: true, label: "rank" } : { low: 0, high: n + 1, label: "rank" });

function drawGains(width, open) {
  const order = [...rows.gain.keys()].filter((row) => rows.gain[row] !== null).sort((a, b) => rows.gain[b] - rows.gain[a]);
  const gains = order.map((row) => rows.gain[row]);
  if (!order.length) return el("p", {}, "No variable has a gain.");
  const all = [...gains, ...data.contrast.gain];
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  const log = low > 0 && high > 50 * gains[Math.floor(gains.length / 2)];
  const chart = frame(width, 320, rankAxis(data.nVariables), { low: log ? low * 0.9 : Math.min(0, low), high: high * (log ? 1.1 : 1.05) || 1, log, label: "gain (bits × samples)" },
    `Gains of ${nRows} variables by rank; the table has the same numbers`);
  const points = order.map((row, i) => ({ row, x: chart.x(i + 1), y: chart.y(rows.gain[row]) }));
  const dots = (wanted) => dotsAt(points.filter(({ row }) => rows.relevant[row] === wanted).map(({ x, y }) => [x, y]));
  chart.inside.append(
    svg("path", { class: "dots irrelevant", d: dots(0) }),
    svg("path", { class: "contrast-line", d: lineThrough(data.contrast.rank.map((r) => chart.x(Math.max(r, 1))), data.contrast.gain.map(chart.y)) }),
    svg("path", { class: "ring", d: data.dimensions > 1 ? ringsAt(points.filter(({ row }) => rows.relevant[row]).map(({ row, x }) => [x, chart.y(log ? Math.max(rows.alone[row], low * 0.9) : rows.alone[row])])) : "" }),
    svg("path", { class: "dots relevant", d: dots(1) }),
  );
  pointable(chart, points, open);
  return chart.root;
}

// Of several sizes of tuples, gains are not comparable, and some tests have none: p-values beside those of chance.
function drawEvidence(width, open) {
  const order = [...rows.log10p.keys()].filter((row) => rows.log10p[row] !== null).sort((a, b) => rows.log10p[a] - rows.log10p[b]);
  if (!order.length) return el("p", {}, "No variable could be tested.");
  const values = order.map((row) => -Math.max(rows.log10p[row], -300));
  const n = data.nVariables;
  const chance = [...new Set(Array.from({ length: Math.min(n, 400) }, (_, i) => Math.round(n ** (i / Math.max(Math.min(n, 400) - 1, 1)))))];
  const expected = chance.map((rank) => -Math.log10((rank - 0.5) / n));
  const chart = frame(width, 320, rankAxis(n), { low: 0, high: 1.05 * Math.max(values[0], expected[0]), label: "−log₁₀ p over all tests" },
    "p-values by rank beside those of chance; the table has the same numbers");
  const points = order.map((row, i) => ({ row, x: chart.x(i + 1), y: chart.y(values[i]) }));
  const dots = (wanted) => dotsAt(points.filter(({ row }) => rows.relevant[row] === wanted).map(({ x, y }) => [x, y]));
  chart.inside.append(
    svg("path", { class: "dots irrelevant", d: dots(0) }),
    svg("path", { class: "contrast-line", d: lineThrough(chance.map(chart.x), expected.map(chart.y)) }),
    svg("path", { class: "dots relevant", d: dots(1) }),
  );
  pointable(chart, points, open);
  return chart.root;
}

function drawPValues(width, open) {
  const lowest = -300; // adjusted p-values below this no longer fit a number
  const order = [...rows.log10p.keys()].filter((row) => rows.log10p[row] !== null && rows.pAdjusted[row] !== null);
  order.sort((a, b) => rows.log10p[a] - rows.log10p[b]);
  if (!order.length) return el("p", {}, "No variable could be tested.");
  const raw = order.map((row) => -Math.max(rows.log10p[row], lowest));
  const adjusted = order.map((row) => -Math.max(log10Of(rows.pAdjusted[row]), lowest));
  const level = -Math.log10(data.level);
  const high = 1.05 * Math.max(level, raw[0]);
  const chart = frame(width, 320, rankAxis(data.nVariables), { low: 0, high, label: "−log₁₀ p" },
    "p-values by rank, before and after adjustment; the table has the same numbers");
  const points = order.map((row, i) => ({ row, x: chart.x(i + 1), y: chart.y(adjusted[i]), raw: chart.y(raw[i]) }));
  const dots = (wanted) => dotsAt(points.filter(({ row }) => rows.relevant[row] === wanted).map(({ x, y }) => [x, y]));
  chart.inside.append(
    svg("path", { class: "ring", d: ringsAt(points.map(({ x, raw: y }) => [x, y])) }),
    svg("path", { class: "dots dark", d: dots(0) }),
    svg("path", { class: "contrast-line", d: `M${chart.x(1)},${chart.y(level)}H${chart.x(data.nVariables + 0.5)}` }),
    svg("path", { class: "dots relevant", d: dots(1) }),
  );
  pointable(chart, points, open);
  return chart.root;
}
