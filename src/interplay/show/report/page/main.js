// Everything in its place.

setUpTable();
if (data.redundancy !== null) byId("redundancy-words").textContent = ` (association of ${data.redundancy} or more)`;
byId("alone-key").hidden = data.dimensions === 1 || Boolean(rows.found);
byId("contrast-key").hidden = !rows.found && !data.contrast.gain.length;
if (!data.contrast.gain.length) byId("gains-words").textContent = "The maximum gain of each variable, in descending order.";
if (rows.found) {
  byId("gains-title").textContent = "Evidence by rank";
  byId("gains-words").textContent = "The p-value of each variable over all ways in which it can be found, beside the p-values that chance alone would give. The higher a dot is above the line, the clearer.";
  byId("contrast-key").textContent = "by chance";
}
if (!data.network.tested) {
  byId("network-words").textContent = "Relevant variables and the partners of their best tuples. Whether they interact was not tested. Thicker lines mean larger synergy.";
  byId("interaction-key").hidden = true;
  byId("no-interaction-key").textContent = "not tested";
}
drawnToFit(byId("gains"), (width) => (rows.found ? drawEvidence : drawGains)(width, openVariable));
drawnToFit(byId("p-values"), (width) => drawPValues(width, openVariable));
drawnToFit(byId("network"), (width) => drawNetwork(width, openVariable));
drawnToFit(byId("correlation"), (width) => drawCorrelation(width, openVariable));

if (data.variants) {
  for (const id of ["manhattan-card", "genome-qq-card"]) byId(id).hidden = false;
  byId("genome-qq-words").textContent = data.variants.words;
  drawnToFit(byId("manhattan"), (width) => drawManhattan(width, data.variants, openVariable));
  drawnToFit(byId("genome-qq"), (width) => drawGenomeQq(width, data.variants.qq));
}

// Exact tests fit nothing: they are not drawn, unless there is nothing else.
const isDrawn = ({ drawn }) => drawn || !data.nullFits.some((each) => each.drawn);
let fit = data.nullFits.find(isDrawn);
const redrawFit = [drawnToFit(byId("qq"), (width) => drawQq(width, fit)), drawnToFit(byId("histogram"), (width) => drawHistogram(width, fit))];
const choices = [...document.querySelectorAll(".run-choice")];
function chooseFit(number) {
  fit = data.nullFits[number];
  for (const id of ["qq-key", "histogram-key"]) byId(id).textContent = fit.reference;
  // p-values of permutations, and exact ones, have no reference variables: nothing was fitted.
  const isFitted = fit.qq.expected.length > 0;
  byId("qq-card").hidden = !isFitted && fit.drawn;
  byId("histogram-title").textContent = isFitted ? "Null fit: how often each p occurs" : "How often each p occurs";
  byId("histogram-words").textContent = isFitted
    ? "If the null distribution fits, the grey bars have about the same height. Where the blue line rises above them on the left, there is signal."
    : "By chance alone, each p occurs equally often. Where the blue line rises above the orange line on the left, there is signal.";
  byId("histogram-key").hidden = !isFitted;
  byId("fitted-key").textContent = isFitted ? "as fitted" : "by chance";
  for (const choice of choices) choice.querySelector("select").value = String(number);
  for (const redraw of redrawFit) redraw();
}
for (const choice of choices) {
  choice.querySelector(".choice-of").textContent = !rows.found ? "Comparison" : several ? "Test and comparison" : "Test";
  choice.hidden = data.nullFits.filter(isDrawn).length < 2;
  choice.querySelector("select").append(...data.nullFits.flatMap((each, i) => (isDrawn(each) ? [el("option", { value: i }, cut(each.decision, 60))] : [])));
  choice.querySelector("select").addEventListener("change", (event) => chooseFit(Number(event.target.value)));
}
chooseFit(data.nullFits.indexOf(fit));
byId("null-words").textContent = data.nullFits.map(({ decision, words }) => (data.nullFits.length > 1 ? `${decision}\n${words}` : words)).join("\n\n")
  + (several && data.runs.length > data.nullFits.length ? `\n\n(the first ${data.nullFits.length} of ${data.runs.length} comparisons)` : "");

// The clearest case of the summary is shown at once, so that a reader sees what this is about.
const interacts = (row) => Number(rows.verdict[row] === "interaction" && !rows.among[row]);
const first = [...rows.gain.keys()].filter((row) => rows.relevant[row] && bestTuple(row))
  .sort((a, b) => interacts(b) - interacts(a) || (interacts(a) ? rows.pInteraction[a] - rows.pInteraction[b] || synergyOf(b) - synergyOf(a) : 0) || a - b)[0];
if (first !== undefined) {
  const chart = el("div", { class: "chart" });
  const partners = rows.partners[first].map((u) => cut(names[u], 30)).join(", ");
  byId("first-why").append(
    el("figcaption", {}, el("h2", {}, cut(names[first], 30) + (partners ? ` with ${partners}` : "")),
      el("p", {}, rows.direction?.[first] ? cut(rows.direction[first], 80) : "")),
    ...verdictOf(first), chart, el("button", { type: "button", class: "link", onclick: () => openVariable(first) }, "More about this variable"),
  );
  byId("first-why").hidden = false;
  const tuple = bestTuple(first);
  drawnToFit(chart, (width) => (tuple.curves ? drawSurvival(width, tuple.curves, cellInWords(tuple, first)) : drawWhy(width, tuple, first)));
}

// On paper: light, and all relevant variables instead of one page of them.
window.addEventListener("beforeprint", () => { root.dataset.theme = "light"; drawTable(200); });
window.addEventListener("afterprint", () => { setTheme(); drawTable(); });
