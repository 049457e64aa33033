// The theme, before anything is drawn: system, light or dark, as the person chose in this browser. The
// admin keeps its choice under the same name, so that one choice is for both.
(() => {
  const root = document.documentElement;
  const chosen = () => localStorage.getItem("theme") ?? "auto";
  const apply = () => {
    const theme = chosen();
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
    const meta = document.querySelector("meta[name=color-scheme]");
    if (meta) meta.content = root.dataset.theme ?? "light dark";
    for (const colour of document.querySelectorAll("meta[name=theme-color]")) {
      colour.dataset.of ??= colour.media.includes("dark") ? "dark" : "light";
      colour.media = root.dataset.theme ? (colour.dataset.of === theme ? "all" : "not all") : `(prefers-color-scheme: ${colour.dataset.of})`;
    }
  };
  apply();
  document.addEventListener("DOMContentLoaded", () => {
    const choice = document.getElementById("theme");
    if (!choice) return;
    choice.value = root.dataset.theme ?? "auto";
    choice.closest("[hidden]")?.removeAttribute("hidden");
    choice.addEventListener("change", () => {
      localStorage.setItem("theme", choice.value);
      apply();
    });
  });
  addEventListener("storage", (event) => { // chosen in another tab
    if (event.key !== "theme") return;
    apply();
    const choice = document.getElementById("theme");
    if (choice) choice.value = root.dataset.theme ?? "auto";
  });
})();
