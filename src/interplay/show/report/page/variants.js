// Variants by their place in the genome, and their tests per allele against those without effects.

function drawManhattan(width, { place, height, relevant, odd, chromosomes, threshold, row }, open) {
  const most = Math.max(threshold, ...height) * 1.08;
  const shown = chromosomes.filter((_, i) => chromosomes.length <= 12 || i % 2 === 0);
  const chart = frame(width, 300, { low: 0, high: 1, marks: shown.map(([name, middle]) => [middle, name]), label: "chromosome" },
    { low: 0, high: most, label: "−log₁₀ p" }, "p-values of the variants by their place in the genome");
  const dots = (which) => dotsAt([...place.keys()].filter(which).map((i) => [chart.x(place[i]), chart.y(height[i])]));
  chart.inside.append(
    svg("path", { class: "dots irrelevant", "stroke-width": 3, d: dots((i) => !relevant[i] && !odd[i]) }),
    svg("path", { class: "dots dark", "stroke-width": 3, d: dots((i) => !relevant[i] && odd[i]) }),
    svg("path", { class: "contrast-line", d: `M${chart.x(0)},${chart.y(threshold)}H${chart.x(1)}` }),
    svg("path", { class: "dots relevant", "stroke-width": 6, d: dots((i) => relevant[i]) }),
  );
  chart.root.addEventListener("click", (event) => {
    const box = chart.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const far = (i) => Math.hypot(chart.x(place[i]) - x, chart.y(height[i]) - y);
    const near = [...place.keys()].filter((i) => row[i] >= 0).sort((a, b) => far(a) - far(b))[0];
    if (near !== undefined && far(near) < 12) open(row[near]);
  });
  return chart.root;
}

function drawGenomeQq(width, { expected, observed, low, high }) {
  const axis = (values, label) => ({ low: 0, high: Math.max(...values) * 1.05, label });
  const chart = frame(width, 320, axis(expected, "expected −log₁₀ p"), axis([...observed, ...low], "−log₁₀ p per allele"), "p-values per allele against those of tests without effects");
  const xs = expected.map(chart.x);
  const band = lineThrough([...xs, ...[...xs].reverse()], [...low.map(chart.y), ...[...high].reverse().map(chart.y)]);
  const end = expected[0];
  chart.inside.append(
    svg("path", { class: "band", d: `${band}Z` }),
    svg("line", { class: "diagonal", x1: chart.x(0), y1: chart.y(0), x2: chart.x(end), y2: chart.y(end) }),
    svg("path", { class: "dots relevant", "stroke-width": 5, d: dotsAt(xs.map((x, i) => [x, chart.y(observed[i])])) }),
  );
  return chart.root;
}
