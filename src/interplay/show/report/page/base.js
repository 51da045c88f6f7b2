// What all parts share: the data, writing numbers, the tooltip, downloads.

const data = JSON.parse(document.getElementById("data").textContent);
const { names, rows } = data;
const nRows = rows.gain.length;
const several = data.comparisons > 1;

function gainText(value) {
  if (value === null) return "–";
  const size = Math.abs(value);
  const text = size >= 1e5 ? size.toExponential(2) : size >= 100 ? size.toFixed(0) : size < 0.001 ? "0" : String(Number(size.toPrecision(3)));
  return value < 0 && text !== "0" ? `−${text}` : text;
}

// p from its logarithm, which also knows those below 1e-308.
function pText(log10) {
  if (log10 === null) return "–";
  if (log10 > -3) return String(Number((10 ** log10).toPrecision(2)));
  let exponent = Math.floor(log10);
  let mantissa = (10 ** (log10 - exponent)).toFixed(1);
  if (mantissa === "10.0") [mantissa, exponent] = ["1.0", exponent + 1];
  return `${mantissa}e${exponent}`;
}
const log10Of = (p) => (p === null ? null : p > 0 ? Math.log10(p) : -Infinity);
const adjustedText = (p) => (p === 0 ? "< 1e-300" : pText(log10Of(p)));

const synergyOf = (row) => (rows.gain[row] === null || rows.alone[row] === null ? null : rows.gain[row] - rows.alone[row]);

// The main effect of a variable with its interval, without its kind.
const boundText = (value) => (value === null ? "–" : String(Number(value.toPrecision(3))).replace("-", "−"));
function effectText(row) {
  if (!rows.effect || rows.effect[row] === null) return "–";
  const [low, high] = [rows.effectLow[row], rows.effectHigh[row]];
  return boundText(rows.effect[row]) + (low === null ? "" : ` (${boundText(low)} to ${boundText(high)})`);
}

// What the partners are. Of a variable that is no part of the interaction in its tuple, the partners alone interact.
const togetherText = (row) => (rows.among[row] ? "partners interact" : rows.verdict[row]);

const tooltip = byId("tooltip");
function showTooltip(event, text) {
  tooltip.textContent = text;
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  const left = Math.min(Math.max(event.clientX - width / 2, 6), window.innerWidth - width - 6);
  const above = event.clientY - height - 14;
  tooltip.style.left = `${left}px`;
  tooltip.style.top = `${above > 4 ? above : event.clientY + 20}px`;
}
const hideTooltip = () => { tooltip.hidden = true; };

function describeRow(row) {
  const lines = [cut(names[row], 80), `adjusted p ${adjustedText(rows.pAdjusted[row])}, gain ${gainText(rows.gain[row])}`];
  if (rows.direction?.[row]) lines.push(cut(rows.direction[row], 80));
  if (rows.partners[row].length) lines.push(`with ${rows.partners[row].map((u) => cut(names[u], 40)).join(", ")}`);
  return lines.join("\n");
}

function download(fileName, text, kind) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = el("a", { href: address, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const csvField = (value) => (/[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
const csvText = (lines) => "\ufeff" + lines.map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n";
