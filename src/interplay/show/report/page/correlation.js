// Correlations between the relevant variables as a heat map.

function drawCorrelation(width, open) {
  const { rows: members, r, spans, nRelevant } = data.correlation;
  const n = members.length;
  if (n < 2) return el("p", {}, nRelevant > 1 ? "Correlations were not stored, because there are too many relevant variables." : "This picture needs at least two relevant variables.");
  const longest = Math.max(...members.map((row) => Math.min(Array.from(names[row]).length, 11)));
  let margin = 12 + 7.8 * longest;
  let size = Math.min(64, (Math.min(width, 520) - margin) / n);
  const named = size >= 9;
  if (!named) [margin, size] = [2, (Math.min(width, 520) - 2) / n];
  const side = margin + size * n + 1;
  const root = svg("svg", { viewBox: `0 0 ${side} ${side}`, width: side, height: side, role: "img", class: "clickable", "aria-label": `Correlations between ${n} relevant variables` });
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const cell = svg("rect", { class: "heat", x: margin + j * size, y: i * size, width: size + 0.3, height: size + 0.3 });
      cell.style.fill = diverging(r[i * n + j]);
      root.append(cell);
    }
    if (!named) continue;
    const middle = (i + 0.5) * size;
    root.append(
      svg("text", { class: "tick", x: margin - 5, y: middle + 4, "text-anchor": "end" }, cut(names[members[i]], 11)),
      svg("text", { class: "tick", transform: `translate(${margin + middle + 4} ${size * n + 6}) rotate(-90)`, "text-anchor": "end" }, cut(names[members[i]], 11)),
    );
  }
  for (const [start, length] of spans) {
    root.append(svg("rect", { class: "frame", x: margin + start * size, y: start * size, width: length * size, height: length * size }));
  }
  const cellAt = (event) => {
    const box = root.getBoundingClientRect();
    const ratio = side / box.width;
    const [j, i] = [Math.floor(((event.clientX - box.left) * ratio - margin) / size), Math.floor(((event.clientY - box.top) * ratio) / size)];
    return i >= 0 && i < n && j >= 0 && j < n ? [i, j] : null;
  };
  root.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    if (!cell) return hideTooltip();
    const [i, j] = cell;
    showTooltip(event, `${cut(names[members[i]], 60)}\n${cut(names[members[j]], 60)}\ncorrelation ${r[i * n + j]}`);
  });
  root.addEventListener("pointerleave", hideTooltip);
  root.addEventListener("click", (event) => { const cell = cellAt(event); if (cell) { hideTooltip(); open(members[cell[0]]); } });
  if (nRelevant <= n) return root;
  return el("div", {}, root, el("p", { class: "note" }, `The ${n} most significant of ${nRelevant} relevant variables.`));
}
