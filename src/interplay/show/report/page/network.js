// Who is joined to whom: whole lines are interactions, dotted ones are not. The places were worked out when the report was made.

// Names that would lie on another one, or on a circle, are left out, those of the most joined variables last; pointing shows them.
function labelsThatFit(boxes, edges) {
  const degree = boxes.map(() => 0);
  for (const [a, b] of edges) { degree[a]++; degree[b]++; }
  const order = [...boxes.keys()].sort((a, b) => degree[b] - degree[a] || a - b);
  const kept = [];
  for (const i of order) {
    const [own, half] = [boxes[i], boxes[i].width / 2];
    const onName = (j) => Math.abs(own.y - boxes[j].y) < 14 && Math.abs(own.x - boxes[j].x) < half + boxes[j].width / 2;
    const onCircle = ({ x, y }, j) => j !== i && Math.abs(own.y - 4 - (y + 11)) < 10 && Math.abs(own.x - x) < half + 5;
    if (!kept.some(onName) && !boxes.some(onCircle)) kept.push(i);
  }
  return new Set(kept);
}

function drawNetwork(width, open) {
  const { nodes, relevant, x, y, edges, weight, interacts } = data.network;
  if (!nodes.length) return el("p", {}, data.dimensions === 1 ? "Each variable was tested alone, so there are no tuples." : "No relevant variable has a larger gain in a tuple than alone.");
  // Few variables need little room.
  const height = Math.min(nodes.length > 40 ? 620 : 440, width * (nodes.length > 40 ? 1.1 : 0.85), 110 + 26 * nodes.length);
  const above = 26;
  const span = Math.min(width - 112, 150 * Math.sqrt(nodes.length));
  const px = x.map((place) => (width - span) / 2 + place * span);
  const py = y.map((place) => above + place * (height - 2 * above));
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `Network of ${nodes.length} variables; ${interacts.filter(Boolean).length} of ${edges.length} lines are interactions` });
  const most = weight.reduce((a, b) => Math.max(a, b));
  const label = (place) => cut(names[place], nodes.length > 30 ? 10 : 14);
  const written = labelsThatFit(nodes.map((place, i) => ({ x: px[i], y: py[i] - 11, width: 7 * label(place).length })), edges);
  const lines = edges.map(([a, b], i) => svg("line", { class: interacts[i] ? "edge interaction" : "edge", x1: px[a], y1: py[a], x2: px[b], y2: py[b], "stroke-width": 1 + (6 * weight[i]) / most }));
  const circles = nodes.map((place, i) => {
    const mates = edges.flatMap(([a, b], e) => (a === i ? [[b, e]] : b === i ? [[a, e]] : []));
    const text = place < nRows ? describeRow(place) : cut(names[place], 80);
    const node = svg("g", { class: relevant[i] ? "node" : "node open", tabindex: i ? -1 : 0, role: "button", "aria-label": text },
      svg("circle", { cx: px[i], cy: py[i], r: (relevant[i] ? 7 : 6) - (nodes.length > 40 ? 2 : 0) }),
      svg("text", { class: written.has(i) ? "" : "on-pointing", x: px[i], y: py[i] - 11, "text-anchor": "middle", "aria-hidden": "true" }, label(place)));
    const point = (on) => {
      root.classList.toggle("pointing", on);
      node.classList.toggle("near", on);
      for (const [mate, edge] of mates) { circles[mate].classList.toggle("near", on); lines[edge].classList.toggle("near", on); }
    };
    node.addEventListener("pointerenter", (event) => { point(true); showTooltip(event, text); });
    node.addEventListener("pointerleave", () => { point(false); hideTooltip(); });
    node.addEventListener("focus", () => point(true));
    node.addEventListener("blur", () => point(false));
    const choose = () => { hideTooltip(); open(place); };
    node.addEventListener("click", choose);
    // One stop for the tabulator; arrows go from variable to variable.
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    node.addEventListener("keydown", (event) => {
      const next = circles[(i + (step[event.key] ?? 0) + circles.length) % circles.length];
      if (event.key === "Enter" || event.key === " ") choose();
      else if (next !== node) next.focus();
      else return;
      event.preventDefault();
    });
    return node;
  });
  root.append(...lines, ...circles);
  if (data.network.nDrawn === data.network.nRelevant) return root;
  return el("div", {}, root, el("p", { class: "note" }, `The ${data.network.nDrawn} most significant of ${data.network.nRelevant.toLocaleString("en")} relevant variables, with their partners.`));
}
