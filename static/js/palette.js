// The dialogs that every page has: search over everything (Ctrl+K, or Cmd+K) and the list of
// shortcuts (?). Arrow keys go through what was found, Enter opens it, Escape leads back.
(() => {
  const palette = document.getElementById("palette");
  const shortcuts = document.getElementById("shortcuts");
  if (!palette) return;
  const query = document.getElementById("palette-query");
  const list = document.getElementById("palette-options");
  const count = document.getElementById("palette-count");
  const WAIT = 120;
  const apple = /Mac|iPhone|iPad/.test(navigator.platform);
  if (apple) for (const key of document.querySelectorAll("[data-command]")) key.textContent = "⌘";
  let timer = null, asking = null;

  const options = () => [...list.querySelectorAll("[role=option]")];
  const active = () => list.querySelector("[aria-selected=true]");
  const activate = (option) => {
    active()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) query.setAttribute("aria-activedescendant", option.id);
    else query.removeAttribute("aria-activedescendant");
  };
  const sayFailed = () => {
    const words = document.createElement("p");
    words.className = "refusal";
    words.textContent = gettext("The server is not answering; search again when it is back.");
    list.replaceChildren(words);
    activate(null);
  };
  const search = async () => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const answer = await fetch(`${palette.dataset.address}?${new URLSearchParams({ q: query.value })}`, { signal, headers: { "HX-Request": "true" } });
      if (answer.redirected) return location.reload();
      if (!answer.ok) throw new Error(answer.statusText);
      list.innerHTML = await answer.text();
      activate(options()[0]);
      count.textContent = query.value.trim() ? interpolate(ngettext("%s found", "%s found", options().length), [options().length]) : "";
    } catch {
      if (!signal.aborted) sayFailed();
    }
  };
  const open = () => {
    if (palette.open) return query.select();
    shortcuts.close();
    palette.showModal();
    query.select();
    search();
  };

  query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, WAIT); });
  query.addEventListener("keydown", (event) => {
    const all = options(), at = all.indexOf(active());
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 6, all.length - 1), PageUp: Math.max(at - 6, 0) }[event.key];
    if (to !== undefined && all.length) { event.preventDefault(); activate(all.at(to % all.length)); }
    if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); active()?.click(); }
  });
  list.addEventListener("pointermove", (event) => {
    const option = event.target.closest("[role=option]");
    if (option && option !== active()) activate(option);
  });
  list.addEventListener("click", (event) => event.target.closest("[role=option]") && !event.ctrlKey && !event.metaKey && palette.close());

  for (const dialog of [palette, shortcuts]) {
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation(); // it stops no agent
      event.preventDefault(); // nor does it clear the field first
      dialog.close();
    });
    dialog.addEventListener("click", (event) => (event.target === dialog || event.target.closest("[data-close]")) && dialog.close());
  }
  const isTyping = (element) => element.matches("input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    if ((apple ? event.metaKey : event.ctrlKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
    if (event.key === "?" && !event.ctrlKey && !event.metaKey && !palette.open && !isTyping(event.target)) {
      event.preventDefault();
      if (!shortcuts.open) shortcuts.showModal();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-open-palette]")) open();
    if (event.target.closest("[data-open-shortcuts]")) shortcuts.showModal();
    if (event.target.closest("[data-print]")) print();
  });
})();
