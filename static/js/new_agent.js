// The form of a new agent: blocks are added and left out, and numbered as Django's formset wants them.
(() => {
  const blocks = document.getElementById("new-blocks");
  const add = document.getElementById("add-block");
  const total = document.getElementById("id_blocks-TOTAL_FORMS");
  if (!blocks || !add || !total) return;
  const MOST = 50;
  const NUMBER = /(blocks-)\d+(-)/;

  const number = () => {
    [...blocks.children].forEach((block, i) => {
      block.setAttribute("aria-label", `Block ${i + 1}`);
      block.querySelector(".ordinal").textContent = i + 1;
      for (const name of ["name", "id", "for", "aria-describedby"]) {
        for (const part of block.querySelectorAll(`[${name}*="blocks-"]`)) {
          part.setAttribute(name, part.getAttribute(name).replace(NUMBER, `$1${i}$2`));
        }
      }
    });
    total.value = blocks.children.length;
    add.setAttribute("hx-get", add.getAttribute("hx-get").replace(/n=\d+/, `n=${total.value}`));
    add.disabled = blocks.children.length >= MOST;
  };

  new MutationObserver((records) => {
    number();
    const added = records.flatMap((record) => [...record.addedNodes]).find((node) => node.matches?.(".new-block"));
    added?.querySelector("input")?.focus();
  }).observe(blocks, { childList: true });
  blocks.addEventListener("click", (event) => {
    if (!event.target.closest("[data-remove-block]")) return;
    event.target.closest(".new-block").remove();
    add.focus();
  });
})();
