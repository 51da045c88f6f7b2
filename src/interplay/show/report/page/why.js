// Why a tuple matters: the share of each class in each of its cells. The variable itself runs to the right, its first
// partner upwards, and the levels of the others number the panels.

const tupleKey = (members, run, discretization) => `${[...members].sort((a, b) => a - b).join(",")};${run};${discretization}`;
const tupleOf = new Map(data.tuples.map((tuple) => [tupleKey(tuple.members, tuple.run, tuple.discretization), tuple]));
const bestTuple = (row) => tupleOf.get(tupleKey([row, ...rows.partners[row]], rows.run[row], rows.discretization[row]));

// The cells of a tuple, with their samples by class, members in the order wanted.
function cellsOf(tuple, own) {
  const sizes = tuple.levels.map((levels) => levels.length);
  const nClasses = data.runs[tuple.run].labels.length || 1;  // numbers have no classes
  const order = [tuple.members.indexOf(own), ...tuple.members.keys()].filter((m, i, all) => all.indexOf(m) === i);
  const cells = [];
  for (let cell = 0; cell * nClasses < tuple.counts.length; cell++) {
    let rest = cell;
    const level = [];
    for (let m = sizes.length - 1; m >= 0; m--) [level[m], rest] = [rest % sizes[m], Math.floor(rest / sizes[m])];
    const counts = tuple.counts.slice(cell * nClasses, (cell + 1) * nClasses);
    const numbers = tuple.numbers?.slice(6 * cell, 6 * cell + 6);
    cells.push({ level: order.map((m) => level[m]), counts, numbers, n: counts.reduce((a, b) => a + b, 0) });
  }
  return { cells, members: order.map((m) => tuple.members[m]), levels: order.map((m) => tuple.levels[m]) };
}

function overallShares(cells) {
  const total = cells.reduce((sum, { n }) => sum + n, 0) || 1;
  return cells[0].counts.map((_, q) => cells.reduce((sum, { counts }) => sum + counts[q], 0) / total);
}

const percent = (share) => `${(100 * share).toFixed(0)} %`;
const around = (share, overall) => (share >= overall ? (share - overall) / (1 - overall || 1) : (share - overall) / (overall || 1));

function drawShare(group, x, y, size, { counts, n }, overall) {
  const face = svg("rect", { class: "cell", x, y, width: size, height: size });
  face.style.fill = diverging(around(counts[1] / n, overall[1]));
  group.append(face);
  if (size < 44) return;
  group.append(
    svg("text", { class: "share", x: x + size / 2, y: y + size / 2 - 1, "text-anchor": "middle" }, percent(counts[1] / n)),
    svg("text", { class: "count", x: x + size / 2, y: y + size / 2 + 15, "text-anchor": "middle" }, `n = ${n}`),
  );
}

// Several classes: a bar that they share, with its number of samples below, where no colour is.
function drawClasses(group, x, y, size, { counts, n }, { labels, ordered }) {
  const written = size >= 44;
  const height = size - (written ? 18 : 0);
  let left = x;
  counts.forEach((count, q) => {
    if (!count) return;
    const part = svg("rect", { class: "class-part", x: left, y, width: (size * count) / n, height }, svg("title", {}, `${labels[q]}: ${percent(count / n)} of ${n}`));
    part.style.fill = classColour(q, counts.length, ordered);
    left += (size * count) / n;
    group.append(part);
  });
  group.append(svg("rect", { class: "cell", x, y, width: size, height: size, fill: "none" }));
  if (written) group.append(svg("text", { class: "count", x: x + size / 2, y: y + size - 5, "text-anchor": "middle" }, `n = ${n}`));
}

function drawCell(group, x, y, size, cell, overall, run) {
  if (!cell.n) group.append(svg("rect", { class: "none", x, y, width: size, height: size }));
  else if (cell.numbers) drawBox(group, x, y, size, cell, run.scale);
  else if (cell.counts.length === 2) drawShare(group, x, y, size, cell, overall);
  else drawClasses(group, x, y, size, cell, run);
}

function classKey(label, q, { labels, ordered }) {
  const key = el("span", { class: "key class" }, cut(label, 30));
  key.style.setProperty("--swatch", classColour(q, labels.length, ordered));
  return key;
}

function drawWhy(width, tuple, own) {
  const { cells, members, levels } = cellsOf(tuple, own);
  const overall = overallShares(cells);
  const run = tuple.numbers ? { ...data.runs[tuple.run], scale: numberScale(cells) } : data.runs[tuple.run];
  const { labels } = run;
  const [nX, nY] = [levels[0].length, levels.length > 1 ? levels[1].length : 1];
  const margin = levels.length > 1 ? 26 + 6.5 * Math.min(12, Math.max(...levels[1].map((name) => name.length))) : 4;
  const many = cells.length > nX * nY;
  const room = width - margin - 4;
  // Panels that belong together stand side by side where there is room.
  const together = many ? Math.min(levels[2].length, Math.max(1, Math.floor(room / (nX * 44 + 16)))) : 1;
  const size = Math.max(14, Math.min(many ? 70 : 96, room / together / nX - (many ? 16 / nX : 0)));
  const [panelWidth, panelHeight] = [nX * size + 16, nY * size + (many ? 74 : 44)];
  const panels = new Map();
  for (const cell of cells) {
    const key = cell.level.slice(2).join(",");
    if (!panels.has(key)) panels.set(key, []);
    panels.get(key).push(cell);
  }
  // As many side by side as there is room for, and all rows equally long.
  let across = Math.min(Math.max(1, Math.floor(room / panelWidth)), panels.size);
  while (panels.size % across) across--;
  const total = { width: Math.max(margin + across * panelWidth, Math.min(width, 200)), height: Math.ceil(panels.size / across) * panelHeight };
  const root = svg("svg", { viewBox: `0 0 ${total.width} ${total.height}`, width: total.width, height: total.height, role: "img", "aria-label": whyWords(tuple, own) });
  [...panels.values()].forEach((panel, i) => {
    const [left, top] = [margin + (i % across) * panelWidth, Math.floor(i / across) * panelHeight + (many ? 30 : 2)];
    const group = svg("g");
    if (many) {
      const heading = panel[0].level.slice(2).map((level, m) => {
        const name = cut(levels[m + 2][level], 12);
        return `${cut(names[members[m + 2]], Math.max(3, Math.floor((nX * size + 10) / 6.3) - name.length - 1))} ${name}`;
      });
      heading.forEach((text, line) => group.append(svg("text", { class: "tick", x: left + (nX * size) / 2, y: top - 8 - 13 * (heading.length - 1 - line), "text-anchor": "middle" }, text)));
    }
    for (const cell of panel) drawCell(group, left + cell.level[0] * size, top + (nY - 1 - (cell.level[1] ?? 0)) * size, size, cell, overall, run);
    levels[0].forEach((name, level) => {
      if (size >= 30) group.append(svg("text", { class: "tick", x: left + (level + 0.5) * size, y: top + nY * size + 15, "text-anchor": "middle" }, cut(name, Math.floor((size - 6) / 6.3))));
    });
    group.append(svg("text", { class: "member", x: left + (nX * size) / 2, y: top + nY * size + 33, "text-anchor": "middle" }, cut(names[members[0]], Math.max(6, Math.floor((nX * size) / 7.5)))));
    if (levels.length > 1 && i % across === 0) {
      levels[1].forEach((name, level) => group.append(svg("text", { class: "tick", x: margin - 6, y: top + (nY - level - 0.5) * size + 4, "text-anchor": "end" }, cut(name, 12))));
      group.append(svg("text", { class: "member", transform: `translate(12 ${top + (nY * size) / 2}) rotate(-90)`, "text-anchor": "middle" }, cut(names[members[1]], Math.max(6, Math.floor((nY * size) / 7.5)))));
    }
    root.append(group);
  });
  const legend = run.scale ? boxLegend(run.scale) : labels.length === 2
    ? el("div", { class: "legend" }, el("span", {}, `share of class ${cut(labels[1], 30)}`), el("span", { class: "between" }, "0 %", el("span", { class: "scale" }), "100 %"), el("span", {}, `(middle: ${percent(overall[1])}, as in all samples)`))
    : el("div", { class: "legend" }, labels.map((label, q) => classKey(label, q, run)));
  return el("div", {}, legend, root);
}

// The extreme cells in words.
function whyWords(tuple, own) {
  const { cells, members, levels } = cellsOf(tuple, own);
  const labels = data.runs[tuple.run].labels;
  const where = ({ level }) => level.map((l, m) => `${cut(names[members[m]], 30)} ${cut(levels[m][l], 20)}`).join(", ");
  if (tuple.numbers) return boxWords(cells, where);
  const overall = overallShares(cells);
  const filled = cells.filter(({ n }) => n > 0);
  const spread = labels.map((_, q) => Math.max(...filled.map(({ counts, n }) => counts[q] / n)) - Math.min(...filled.map(({ counts, n }) => counts[q] / n)));
  // Of several classes, the one whose share differs most.
  const q = labels.length === 2 ? 1 : spread.indexOf(Math.max(...spread));
  const seen = filled.sort((a, b) => a.counts[q] / a.n - b.counts[q] / b.n);
  const part = (cell) => `${percent(cell.counts[q] / cell.n)} where ${where(cell)}`;
  return `Share of class ${cut(labels[q], 30)}: ${percent(overall[q])} of all samples, from ${part(seen[0])} to ${part(seen[seen.length - 1])}.`;
}
