// Editors of a block's value: characters are counted, keys save and close, two versions to choose from.
(() => {
  document.addEventListener("click", (event) => {
    const close = event.target.closest("[data-close-editor]");
    if (close) {
      const block = close.closest(".block");
      close.closest("[data-editor]").remove();
      block?.querySelector(".block-notice")?.replaceChildren();
    }
    const fill = event.target.closest("[data-fill]");
    if (fill) {
      const area = document.getElementById(fill.dataset.fill);
      area.value = document.getElementById(fill.dataset.from).value;
      area.dispatchEvent(new Event("input", { bubbles: true }));
      area.focus();
    }
  });
  document.addEventListener("input", (event) => {
    const area = event.target;
    if (!area.dataset.limit) return;
    const limit = Number(area.dataset.limit);
    const used = Array.from(area.value).length;
    const shown = document.querySelector(`[data-count-of="${area.id}"]`);
    if (shown) {
      shown.textContent = `${used.toLocaleString(document.documentElement.lang)} / ${limit.toLocaleString(document.documentElement.lang)}`;
      shown.classList.toggle("over", used > limit);
    }
  });
  document.addEventListener("keydown", (event) => {
    const editor = event.target.closest?.("[data-editor]");
    if (!editor) return;
    if (event.key === "Escape") { event.stopPropagation(); editor.querySelector("[data-close-editor]").click(); }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) editor.requestSubmit?.();
  }, true);
})();
