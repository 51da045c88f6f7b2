// How well the null distribution fits: expected against fitted p, and how often each p occurs.

function drawQq(width, fit) {
  const { qq, reference } = fit;
  const n = qq.expected.length;
  if (!fit.drawn) return el("p", {}, "p-values are exact: no null distribution was fitted.");
  if (!n) return el("p", {}, "There are no reference variables, so no null distribution was fitted.");
  const low = 10 ** Math.floor(Math.log10(Math.min(qq.expected[0], qq.observed[0])));
  const axis = (label) => ({ low, high: 1, log: true, label });
  const chart = frame(width, 320, axis("expected p"), { ...axis("fitted p"), wide: true }, `Fitted against expected p-values of the ${reference}`);
  const xs = qq.expected.map(chart.x);
  const inRange = (p) => chart.y(Math.max(p, low));
  const band = lineThrough([...xs, ...[...xs].reverse()], [...qq.low.map(inRange), ...[...qq.high].reverse().map(inRange)]);
  chart.inside.append(
    svg("path", { class: "band", d: `${band}Z` }),
    svg("line", { class: "diagonal", x1: chart.x(low), y1: chart.y(low), x2: chart.x(1), y2: chart.y(1) }),
    svg("path", { class: "dots relevant", "stroke-width": 5, d: dotsAt(xs.map((x, i) => [x, inRange(qq.observed[i])])) }),
  );
  return chart.root;
}

function drawHistogram(width, { histogram, reference }) {
  const n = histogram.reference.length;
  const most = Math.max(...histogram.reference, ...histogram.all.slice(1), 1) * 1.15;
  const chart = frame(width, 320, { low: 0, high: 1, label: "p-value (not adjusted)" }, { low: 0, high: most, label: "density" },
    `Histogram of the p-values of the ${reference} and of all variables`);
  const y = (value) => chart.y(Math.min(value, most));
  histogram.reference.forEach((value, i) => {
    const left = chart.x(i / n);
    chart.inside.append(svg("rect", { class: "bar", x: left, y: y(value), width: chart.x((i + 1) / n) - left, height: chart.y(0) - y(value) }));
  });
  const steps = histogram.all.map((value, i) => `${i ? "L" : "M"}${chart.x(i / n)},${y(value)}H${chart.x((i + 1) / n)}`).join("");
  chart.inside.append(
    svg("path", { class: "relevant-line", d: steps }),
    svg("path", { class: "contrast-line", d: `M${chart.x(0)},${chart.y(1)}H${chart.x(1)}` }),
  );
  // One bar full of signal is cut, so that the others can be seen, and says its height.
  if (histogram.all[0] > most) chart.inside.append(svg("text", { x: chart.x(1 / n) + 5, y: chart.y(most) + 12 }, `↑ ${gainText(histogram.all[0])}`));
  return chart.root;
}
