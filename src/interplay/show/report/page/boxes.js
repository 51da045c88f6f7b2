// Why a tuple matters for a number outcome: its distribution, as a box, in each cell.

// Per cell: lower whisker, lower quartile, median, upper quartile, upper whisker, mean.
function numberScale(cells) {
  const seen = cells.filter(({ n }) => n > 0);
  const total = seen.reduce((sum, { n }) => sum + n, 0) || 1;
  const mean = seen.reduce((sum, { n, numbers }) => sum + n * numbers[5], 0) / total;
  const [low, high] = [Math.min(...seen.map(({ numbers }) => numbers[0])), Math.max(...seen.map(({ numbers }) => numbers[4]))];
  const furthest = Math.max(...seen.map(({ numbers }) => Math.abs(numbers[5] - mean))) || 1;
  return { mean, low, span: high - low || 1, furthest };
}

function drawBox(group, x, y, size, { n, numbers }, { mean, low, span, furthest }) {
  const face = svg("rect", { class: "cell", x, y, width: size, height: size });
  face.style.fill = diverging((numbers[5] - mean) / furthest);
  const written = size >= 44;
  const [foot, height] = [written ? 18 : 3, size - (written ? 24 : 6)];
  const at = (value) => y + size - foot - (height * (value - low)) / span;
  const [left, width, middle] = [x + 0.32 * size, 0.36 * size, x + size / 2];
  const line = (d, name) => svg("path", { class: name, d });
  group.append(
    face, line(`M${x},${at(mean).toFixed(1)}h${size}`, "all-mean"),
    line(`M${middle},${at(numbers[0]).toFixed(1)}V${at(numbers[4]).toFixed(1)}`, "whisker"),
    svg("rect", { class: "box", x: left, y: at(numbers[3]), width, height: Math.max(0.5, at(numbers[1]) - at(numbers[3])) },
      svg("title", {}, `median ${numberText(numbers[2])}, quartiles ${numberText(numbers[1])} to ${numberText(numbers[3])}, mean ${numberText(numbers[5])}`)),
    line(`M${left},${at(numbers[2]).toFixed(1)}h${width}`, "median"),
  );
  if (written) group.append(svg("text", { class: "count", x: middle, y: y + size - 5, "text-anchor": "middle" }, `n = ${n}`));
}

// Rounding errors of a mean of residuals are 0.
const numberText = (value) => String(Math.abs(value) < 1e-5 ? 0 : Number(value.toPrecision(3)));

function boxLegend({ mean, furthest }) {
  return el("div", { class: "legend" }, el("span", {}, data.meanOf), el("span", { class: "between" }, numberText(mean - furthest), el("span", { class: "scale" }), numberText(mean + furthest)), el("span", {}, `(middle: ${numberText(mean)}, as in all samples)`), el("span", {}, "boxes: quartiles and median"));
}

function boxWords(cells, where) {
  const seen = cells.filter(({ n }) => n > 0).sort((a, b) => a.numbers[5] - b.numbers[5]);
  const part = (cell) => `${numberText(cell.numbers[5])} where ${where(cell)}`;
  return `${data.meanOf[0].toUpperCase()}${data.meanOf.slice(1)}: ${numberText(numberScale(cells).mean)} in all samples, from ${part(seen[0])} to ${part(seen[seen.length - 1])}.`;
}
