// Light or dark, and buttons that copy: the same on all pages.

const byId = (id) => document.getElementById(id);

const root = document.documentElement;
const darkWanted = window.matchMedia("(prefers-color-scheme: dark)");
let theme = null; // until someone chooses, the system decides
try { theme = localStorage.getItem("interplay-theme"); } catch { /* storage may be closed to files: then nothing is kept */ }

function setTheme() {
  const now = theme ?? (darkWanted.matches ? "dark" : "light");
  root.dataset.theme = now;
  byId("theme").textContent = now === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Switch to the ${now === "dark" ? "light" : "dark"} theme`);
}
byId("theme").addEventListener("click", () => {
  theme = root.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("interplay-theme", theme); } catch { /* as above */ }
  setTheme();
});
darkWanted.addEventListener("change", setTheme);
setTheme();

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const text = byId(button.dataset.copies).innerText.trim();
    try {
      await navigator.clipboard.writeText(text);
    } catch { // no permission: the older way, by selecting
      getSelection().selectAllChildren(byId(button.dataset.copies));
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
