// The table of tuples: search, significant ones only, download. All rows are in the page, also without this script.

const table = byId("tuple-table");
if (table) {
  const lines = [...table.tBodies[0].rows];
  const search = byId("search"), only = byId("only-significant"), status = byId("row-status");
  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const line of lines) {
      const has = line.cells[0].textContent.toLowerCase().includes(wanted);
      line.hidden = !has || (only.checked && line.dataset.significant !== "true");
      shown += Number(!line.hidden);
    }
    const all = `${lines.length} tuple${lines.length === 1 ? "" : "s"}`;
    status.textContent = shown === lines.length ? all : `${shown} of ${all}`;
    byId("no-rows").hidden = shown > 0;
  };
  search.addEventListener("input", show);
  only.addEventListener("change", show);
  byId("tuple-controls").hidden = false;
  show();

  const cellText = (cell) => {
    const text = cell.textContent.trim();
    return /[",\n]/.test(text) || /^[=+@\t\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  byId("download-tuples").addEventListener("click", () => {
    const csv = [table.tHead.rows[0], ...lines].map((line) => [...line.cells].map(cellText).join(",")).join("\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv, "\r\n"], { type: "text/csv" }));
    link.download = "tuples.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  window.addEventListener("beforeprint", () => { root.dataset.theme = "light"; for (const line of lines) line.hidden = false; });
  window.addEventListener("afterprint", () => { setTheme(); show(); });
}
