// The page of interactions of times: curves of the cells of each tuple that is shown.

const curvesOf = JSON.parse(byId("curves").textContent);
for (const chart of document.querySelectorAll(".chart[data-tuple]")) {
  drawnToFit(chart, (width) => drawSurvival(width, curvesOf[Number(chart.dataset.tuple)], ({ where }) => where, chart.dataset.time ?? ""));
}
