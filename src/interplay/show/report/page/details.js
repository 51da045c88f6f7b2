// One variable: its numbers, why its best tuple matters, and the tuples it takes part in.

const dialog = byId("details");
let opener = null;

const groupOf = new Map(data.groups.flatMap((group) => group.map((row) => [row, group])));
const takesPart = new Map();
for (let row = 0; row < nRows; row++) {
  for (const partner of rows.partners[row]) {
    if (!takesPart.has(partner)) takesPart.set(partner, []);
    takesPart.get(partner).push(row);
  }
}

const nameButton = (place) => (place < nRows
  ? el("button", { type: "button", class: "link", onclick: () => openVariable(place) }, cut(names[place], 60))
  : el("span", {}, cut(names[place], 60)));
const joined = (nodes) => nodes.flatMap((node, i) => (i ? [", ", node] : [node]));

function numbersOf(row) {
  const entries = [
    ["p", pText(rows.log10p[row])],
    ...(data.adjusted ? [["adjusted p", adjustedText(rows.pAdjusted[row])]] : []),
    ["relevant", rows.relevant[row] ? "yes" : "no"],
  ];
  if (data.pModel && data.pModel[row] !== null) entries.push(["p, full model", pText(log10Of(data.pModel[row]))]);
  entries.push(["gain", gainText(rows.gain[row])]);
  if (rows.partners[row].length) entries.push(["gain alone", gainText(rows.alone[row])], ["synergy", gainText(synergyOf(row))]);
  if (rows.label?.[row]) entries.push(["label", cut(rows.label[row], 200)]);
  if (rows.stability) entries.push(["found again in halves", `${Math.round(100 * rows.stability[row])} %`]);
  if (rows.found) entries.push(["found", rows.found[row]]);
  if (several) entries.push(["comparison", cut(data.runs[rows.run[row]].decision, 60)]);
  if (rows.caution?.[row]) entries.push(["caution", rows.caution[row]]);
  return el("dl", { class: "numbers" }, entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

const verdictOf = (row) => (data.dimensions > 1 && rows.said[row] ? [el("p", { class: `verdict ${rows.verdict[row]}` }, rows.said[row])] : []);

function whySection(row) {
  const tuple = bestTuple(row);
  if (!tuple) {
    const reason = rows.relevant[row] ? "This result does not contain the counts of the tuple." : "Results contain counts for relevant variables only.";
    return [el("p", { class: "note" }, reason)];
  }
  const chart = el("div", { class: "chart", id: "why" });
  const curves = tuple.curves ? [el("h3", {}, "Survival in its cells"), el("div", { class: "chart", id: "survival" })] : [];
  return [
    el("h3", {}, rows.partners[row].length ? "Why this tuple" : "Why this variable"), ...verdictOf(row), chart,
    el("p", { class: "why-words" }, whyWords(tuple, row)), ...curves,
  ];
}

// Curves of a tuple → the levels of each one's cell in words.
function cellInWords(tuple, own) {
  const { cells, members, levels } = cellsOf(tuple, own);
  return ({ cell }) => cells[cell].level.map((l, m) => `${cut(names[members[m]], 24)} ${cut(levels[m][l], 16)}`).join(", ");
}

// Which way, and how much: the first effect is that of the table.
function effectSection(row) {
  if (!rows.effects?.[row].length) return [];
  return [
    el("h3", {}, "Direction and size"),
    el("p", { id: "direction" }, rows.direction[row]),
    el("ul", { class: "plain", id: "effects" }, rows.effects[row].map((text) => el("li", {}, text))),
  ];
}

function tuplesSection(row) {
  if (data.dimensions === 1) return [];
  const others = (takesPart.get(row) ?? []).slice().sort((a, b) => rows.gain[b] - rows.gain[a]);
  const line = (of) => el("li", {}, el("span", { class: "inline-names" }, joined([of, ...rows.partners[of]].map((place) => (place === row ? el("strong", {}, cut(names[place], 60)) : nameButton(place))))), el("span", {}, `gain of ${cut(names[of], 24)} ${gainText(rows.gain[of])}`));
  const shown = others.slice(0, 12);
  return [
    ...(rows.partners[row].length ? [el("h3", {}, "Its best tuple"), el("ul", { class: "plain", id: "own-tuple" }, line(row))] : []),
    ...(shown.length ? [el("h3", {}, "Best tuples of other variables that contain it"), el("ul", { class: "plain" }, shown.map(line))] : []),
    ...(others.length > shown.length ? [el("p", { class: "note" }, `… and ${others.length - shown.length} more.`)] : []),
  ];
}

function openVariable(row) {
  if (row >= nRows) return;
  byId("details-title").textContent = names[row].trim() ? names[row] : "(no name)";
  const same = (groupOf.get(row) ?? []).filter((other) => other !== row);
  byId("details-body").replaceChildren(
    numbersOf(row), ...effectSection(row), ...whySection(row), ...tuplesSection(row),
    ...(same.length ? [el("h3", {}, "Redundant with"), el("p", { class: "inline-names" }, joined(same.slice(0, 40).map(nameButton)))] : []),
  );
  if (!dialog.open) {
    opener = document.activeElement;
    dialog.showModal();
  }
  dialog.scrollTop = 0;
  byId("details-close").focus();
  const chart = byId("why");
  if (chart) drawnToFit(chart, (width) => drawWhy(width, bestTuple(row), row));
  const curves = byId("survival");
  if (curves) drawnToFit(curves, (width) => drawSurvival(width, bestTuple(row).curves, cellInWords(bestTuple(row), row)));
}

byId("details-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
dialog.addEventListener("close", () => opener?.focus?.());
