// The table of variables: sorted, searched and turned over page by page, so that ten thousand rows stay quick.
// Columns that say the same of all rows, or nothing, are left out: `tells` says whether any of the chosen rows needs it.

const anyOf = (holds) => () => chosen.some(holds);

const columns = [
  { title: "Variable", value: (row) => names[row], text: true, first: true },
  ...(rows.direction ? [{ title: "Direction and size", value: (row) => rows.direction[row], text: true, first: true, tells: anyOf((row) => rows.direction[row]) }] : []),
  { title: "How sure", value: (row) => rows.log10p[row], first: true },
  ...(data.dimensions > 1 ? [{ title: "Works with", value: (row) => rows.worksWith[row], text: true, first: true, tells: anyOf((row) => rows.worksWith[row]) }] : []),
  ...(data.adjusted ? [{ title: "Adjusted p", value: (row) => rows.pAdjusted[row], show: (row) => adjustedText(rows.pAdjusted[row]) }]
    : [{ title: "p", value: (row) => rows.log10p[row], show: (row) => pText(rows.log10p[row]) }]),
  ...(rows.direction ? [
    { title: "Direction", value: (row) => rows.direction[row], text: true, tells: anyOf((row) => rows.direction[row]) },
    { title: "Effect", value: (row) => rows.effect[row], show: effectText, down: true, tells: anyOf((row) => rows.effect[row] !== null) },
  ] : []),
  ...(rows.listed ? [{ title: "Short list", value: (row) => rows.listed[row], down: true, extra: true }] : []),
  ...(rows.found ? [{ title: "Found", value: (row) => rows.found[row], text: true, extra: true }] : []),
  ...(data.dimensions > 1 ? [
    { title: "Partners", value: (row) => rows.partners[row].map((u) => names[u]).join(", "), text: true, tells: anyOf((row) => rows.partners[row].length) },
    { title: "Together", value: togetherText, text: true, tells: anyOf((row) => rows.verdict[row]) },
  ] : []),
  { title: "Gain", value: (row) => rows.gain[row], show: (row) => gainText(rows.gain[row]), down: true, extra: true },
  { title: "Relevant", value: (row) => rows.relevant[row], down: true, extra: true, tells: () => !byId("only-relevant").checked },
  ...(several ? [{ title: "Comparison", value: (row) => data.runs[rows.run[row]].decision, text: true, extra: true }] : []),
  ...(rows.caution ? [{ title: "Caution", value: (row) => rows.caution[row], text: true, caution: true, tells: anyOf((row) => rows.caution[row]) }] : []),
];
const byName = new Intl.Collator(undefined, { numeric: true });
// Among all columns, these are there in parts.
const inParts = ["Direction and size", "How sure", "Works with"];
const state = { column: columns.findIndex(({ title }) => title === "How sure"), descending: false, page: 0 };
let chosen = [];

function compare(a, b) {
  const { value, text } = columns[state.column];
  const [x, y] = [value(a), value(b)];
  if (x === null || y === null) return (x === null) - (y === null); // what has no value comes last, either way
  const order = text ? byName.compare(x, y) : x - y;
  return (state.descending ? -order : order) || a - b; // rows come in order of significance
}

function holdsText(row, wanted) {
  const holds = (place) => names[place].toLocaleLowerCase().includes(wanted) || Boolean(rows.label?.[place]?.toLocaleLowerCase().includes(wanted));
  return holds(row) || rows.partners[row].some(holds);
}

function choose() {
  const wanted = byId("search").value.trim().toLocaleLowerCase();
  const onlyRelevant = byId("only-relevant").checked;
  chosen = [];
  for (let row = 0; row < nRows; row++) {
    if (onlyRelevant && !rows.relevant[row]) continue;
    if (wanted && !holdsText(row, wanted)) continue;
    chosen.push(row);
  }
  chosen.sort(compare);
  state.page = 0;
  drawTable();
}

function cellOf(row, column) {
  const kind = column.extra ? "extra" : "";
  if (column.title === "Variable") return el("td", { class: "names" }, nameButton(row), ...(rows.label?.[row] ? [el("span", { class: "kind" }, cut(rows.label[row], 90))] : []));
  if (column.title === "Direction and size") return el("td", { class: "size" }, cut(rows.direction[row] || "–", 80), ...(rows.size[row] ? [el("span", { class: "kind" }, cut(rows.size[row], 90))] : []));
  if (column.title === "How sure") return el("td", { class: "sure" }, `p ${data.adjusted ? adjustedText(rows.pAdjusted[row]) : pText(rows.log10p[row])}`, ...(rows.stability ? [el("span", { class: "kind" }, `again in ${Math.round(100 * rows.stability[row])} % of halves`)] : []));
  if (column.title === "Works with") return el("td", { class: "names" }, cut(rows.worksWith[row] || "–", 90));
  if (column.title === "Partners") return el("td", { class: "names" }, cut(column.value(row) || "–", 90));
  if (column.title === "Together") return el("td", {}, rows.verdict[row] ? el("span", { class: `badge ${rows.among[row] ? "unclear" : rows.verdict[row]}`, title: rows.said[row] }, togetherText(row)) : "–");
  if (column.title === "Direction") return el("td", { class: "direction" }, cut(rows.direction[row] || "–", 60));
  if (column.title === "Effect") return el("td", { class: "effect" }, el("span", { class: "way" }, rows.direction[row] ? cut(rows.direction[row], 60) : ""), effectText(row), ...(rows.effectKind[row] ? [el("span", { class: "kind" }, cut(rows.effectKind[row], 60))] : []));
  if (column.title === "Short list") return el("td", { class: kind }, rows.listed[row] ? el("span", { class: "badge" }, "yes") : "–");
  if (column.title === "Relevant") return el("td", { class: kind }, el("span", { class: rows.relevant[row] ? "badge" : "badge no" }, rows.relevant[row] ? "yes" : "no"));
  if (column.text) return el("td", { class: kind }, cut(column.value(row) || "–", 60));
  return el("td", { class: `number ${kind}` }, column.show(row));
}

// What hides the variables that a reader may be looking for.
function whyEmpty() {
  const wanted = byId("search").value.trim();
  if (!wanted) return "There is no variable to show.";
  const hidden = byId("only-relevant").checked ? rows.gain.filter((_, row) => !rows.relevant[row] && holdsText(row, wanted.toLocaleLowerCase())).length : 0;
  if (!hidden) return "No name of a variable or partner contains this text.";
  return `No name of a relevant variable contains this text. Untick “relevant only” to see ${hidden === 1 ? "one that is not relevant" : `${hidden.toLocaleString("en")} that are not relevant`}.`;
}

function drawTable(size = Number(byId("page-size").value)) {
  const nPages = Math.max(1, Math.ceil(chosen.length / size));
  state.page = Math.min(state.page, nPages - 1);
  const first = state.page * size;
  const shown = chosen.slice(first, first + size);
  const all = byId("all-columns").checked;
  const telling = columns.filter(({ title, first, caution, tells }) => (all ? !inParts.includes(title) : first || caution) && (!tells || tells()));
  byId("table").tHead.replaceChildren(el("tr", {}, telling.map((column) => el("th", {
    scope: "col",
    class: `${column.text || column.first || ["Relevant", "Effect", "Short list"].includes(column.title) ? "" : "number"} ${column.extra ? "extra" : ""} ${column.title === "Direction" ? "direction" : ""}`,
    "aria-sort": column === columns[state.column] ? (state.descending ? "descending" : "ascending") : "none",
  }, el("button", { type: "button", onclick: () => sortBy(column) }, column.title)))));
  byId("table").tBodies[0].replaceChildren(...(shown.length
    ? shown.map((row) => el("tr", {}, telling.map((column) => cellOf(row, column))))
    : [el("tr", { class: "empty" }, el("td", { colspan: telling.length }, whyEmpty()))]));
  byId("page-status").textContent = chosen.length ? `${first + 1}–${first + shown.length} of ${chosen.length.toLocaleString("en")}` : "0 of 0";
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page >= nPages - 1;
}

function sortBy(column) {
  const place = columns.indexOf(column);
  state.descending = place === state.column ? !state.descending : Boolean(column.down);
  state.column = place;
  choose();
  byId("table").tHead.querySelector("th:not([aria-sort=none]) button").focus();
}

function variablesCsv() {
  const header = ["variable", "gain", "p_value", "p_adjusted", "relevant", "partners", "discretization", "gain_alone", "synergy", ...(rows.direction ? ["direction", "effect", "effect_low", "effect_high", "effect_kind"] : []), ...(rows.listed ? ["short_list"] : []), "verdict", "p_interaction", ...(several ? ["decision"] : []), ...(rows.caution ? ["caution"] : []), ...(rows.found ? ["found"] : [])];
  const exactP = (log10) => (log10 === null ? "" : log10 > -300 ? 10 ** log10 : pText(log10));
  const lines = [...rows.number.keys()].sort((a, b) => rows.number[a] - rows.number[b]).map((row) => [
    names[row], rows.gain[row] ?? "", exactP(rows.log10p[row]), rows.pAdjusted[row] ?? "", rows.relevant[row] ? "True" : "False",
    rows.partners[row].map((u) => names[u]).join("; "), rows.discretization[row], rows.alone[row] ?? "", synergyOf(row) ?? "",
    ...(rows.direction ? [rows.direction[row], rows.effect[row] ?? "", rows.effectLow[row] ?? "", rows.effectHigh[row] ?? "", rows.effectKind[row]] : []),
    ...(rows.listed ? [rows.listed[row] ? "True" : "False"] : []),
    rows.verdict[row], rows.pInteraction[row] ?? "",
    ...(several ? [data.runs[rows.run[row]].decision] : []),
    ...(rows.caution ? [rows.caution[row]] : []),
    ...(rows.found ? [rows.found[row]] : []),
  ]);
  return csvText([header, ...lines]);
}

function setUpTable() {
  const anyRelevant = rows.relevant.includes(1);
  byId("only-relevant").checked = anyRelevant;
  byId("only-relevant").disabled = !anyRelevant;
  byId("search").addEventListener("input", choose);
  byId("only-relevant").addEventListener("change", choose);
  byId("page-size").addEventListener("change", () => drawTable());
  byId("all-columns").addEventListener("change", () => {
    byId("about-all").hidden = !byId("all-columns").checked;
    drawTable();
  });
  byId("previous").addEventListener("click", () => { state.page--; drawTable(); });
  byId("next").addEventListener("click", () => { state.page++; drawTable(); });
  byId("download-variables").addEventListener("click", () => download("variables.csv", variablesCsv(), "text/csv"));
  if (nRows < data.nVariables) {
    byId("cut-note").textContent = `The ${nRows.toLocaleString("en")} most significant of ${data.nVariables.toLocaleString("en")} variables are in this file. The saved result and the exported table contain all of them.`;
    byId("cut-note").hidden = false;
  }
  choose();
}
