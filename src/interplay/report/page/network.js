// Who needs whom. The places were worked out when the report was made.

function drawNetwork(width, open) {
  const { nodes, relevant, x, y, edges, weight } = data.network;
  if (!nodes.length) return el("p", {}, data.dimensions === 1 ? "Each variable was looked at alone: there are no tuples." : "No relevant variable gains more in a tuple than alone.");
  // Few variables need little room.
  const height = Math.min(440, width * 0.85, 110 + 26 * nodes.length);
  const above = 26;
  const span = Math.min(width - 88, 150 * Math.sqrt(nodes.length));
  const px = x.map((place) => (width - span) / 2 + place * span);
  const py = y.map((place) => above + place * (height - 2 * above));
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `Network of ${nodes.length} variables and ${edges.length} synergies` });
  const most = weight.reduce((a, b) => Math.max(a, b));
  const lines = edges.map(([a, b], i) => svg("line", { class: "edge", x1: px[a], y1: py[a], x2: px[b], y2: py[b], "stroke-width": 1 + (6 * weight[i]) / most }));
  const circles = nodes.map((place, i) => {
    const mates = edges.flatMap(([a, b], e) => (a === i ? [[b, e]] : b === i ? [[a, e]] : []));
    const text = place < nRows ? describeRow(place) : cut(names[place], 80);
    const node = svg("g", { class: relevant[i] ? "node" : "node open", tabindex: i ? -1 : 0, role: "button", "aria-label": text },
      svg("circle", { cx: px[i], cy: py[i], r: relevant[i] ? 7 : 6 }),
      svg("text", { x: px[i], y: py[i] - 11, "text-anchor": "middle", "aria-hidden": "true" }, cut(names[place], nodes.length > 30 ? 8 : 14)));
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
  return root;
}
