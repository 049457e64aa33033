// The form of a new agent: blocks are added and left out, and numbered as Django's formset wants them.
// Another template brings its own first blocks; what somebody typed stays.
(() => {
  const blocks = document.getElementById("new-blocks");
  const add = document.getElementById("add-block");
  const total = document.getElementById("id_blocks-TOTAL_FORMS");
  if (!blocks || !add || !total) return;
  const MOST = 50;
  const NUMBER = /(blocks-)\d+(-)/;

  const number = () => {
    [...blocks.children].forEach((block, i) => {
      block.setAttribute("aria-label", interpolate(gettext("Block %(number)s"), { number: i + 1 }, true));
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
    const added = records.flatMap((record) => [...record.addedNodes]).find((node) => node.matches?.(".new-block:not([data-fresh])"));
    if (added) added.open = true; // which closes the one that was
    added?.querySelector("input")?.focus();
  }).observe(blocks, { childList: true });
  blocks.addEventListener("click", (event) => {
    if (!event.target.closest("[data-remove-block]")) return;
    event.target.closest(".new-block").remove();
    add.focus();
  });

  blocks.addEventListener("input", ({ target }) => {
    if (!target.name.endsWith("-label")) return;
    target.closest(".new-block").querySelector(".title").textContent = target.value.trim() || gettext("New block");
  });

  const choice = document.getElementById("id_template");
  const failed = document.getElementById("first-blocks-failed");
  const changed = (field) =>
    field.type === "checkbox" ? field.checked !== field.defaultChecked
    : field.options ? [...field.options].some((option, i) => option.selected !== (field.querySelector("[selected]") ? option.defaultSelected : i === 0))
    : field.value !== field.defaultValue;
  const touched = (block) => !block.hasAttribute("data-fresh") || [...block.querySelectorAll("input, select, textarea")].some(changed);
  const label = (block) => block.querySelector("[name$='-label']").value.trim();
  let asked = 0;
  choice?.addEventListener("change", async ({ target }) => {
    const mine = ++asked;
    let first;
    try {
      const response = await fetch(`${blocks.dataset.firstBlocks}?${new URLSearchParams({ template: target.value })}`);
      if (!response.ok || response.redirected) throw new Error(response.statusText);
      const parsed = document.createElement("template");
      parsed.innerHTML = await response.text();
      first = [...parsed.content.children];
    } catch {
      if (mine === asked) failed.hidden = false;
      return;
    }
    if (mine !== asked) return; // another one was chosen meanwhile
    failed.hidden = true;
    const kept = [...blocks.children].filter(touched);
    const ordered = first.map((block) => kept.find((one) => label(one) === label(block)) ?? block);
    blocks.replaceChildren(...ordered, ...kept.filter((block) => !ordered.includes(block)));
  });
})();
