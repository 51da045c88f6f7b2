// Making elements, and writing names in them.
// Names come from the user's data and may hold anything: they reach the page only as text, never as HTML.

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const cut = (text, length) => {
  const letters = Array.from(text.replace(/\s+/g, " ").trim() || "(no name)");
  return letters.length > length ? letters.slice(0, length - 1).join("") + "…" : letters.join("");
};
